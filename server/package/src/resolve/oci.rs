//! Images: a registry has a manifest for each, and says who has to be asked for a token first. Everybody gets one for what is public.

use reqwest::StatusCode;
use serde::Deserialize;
use url::Url;

use super::{Indexed, below};
use crate::fetch::{Budget, FetchError, Fetcher, Request};
use crate::hash::IndexHash;
use crate::image::{Image, Reference};

/// The manifest of an image for several platforms before that for one: it is what the tag names.
const MANIFESTS: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json";

/// What stands for a token has two names, and may be given by both.
#[derive(Deserialize)]
struct Pass {
    token: Option<String>,
    access_token: Option<String>,
}

/// How the manifest is asked for, and its hash where that is what the image is called by.
pub async fn manifest(
    docker: &Url,
    fetcher: &Fetcher,
    budget: &Budget,
    image: &Image,
) -> Result<(Request, Option<Indexed>), FetchError> {
    let registry = image.address.as_ref().unwrap_or(docker);
    let reference = image.reference.text();
    let path = ["v2"].into_iter().chain(image.repository.split('/')).chain(["manifests", &reference]);
    let request = Request { accept: MANIFESTS, ..below(registry, path).into() };
    let token = match fetcher.text(&request, budget).await {
        Ok(_) => None,
        Err(FetchError::Status { url, status: StatusCode::UNAUTHORIZED, retry_after, challenge }) => {
            // The token will be sent to the registry: nobody that it redirected to says where to get one.
            let challenge_of_registry = challenge.as_deref().filter(|_| url.origin() == request.url.origin());
            let asked = challenge_of_registry.and_then(|challenge| token_address(challenge, image));
            let Some(asked) = asked else {
                let status = StatusCode::UNAUTHORIZED;
                return Err(FetchError::Status { url, status, retry_after, challenge });
            };
            let Pass { token, access_token } = fetcher.json(&asked.clone().into(), budget).await?;
            let reason = "it gives no token".to_owned();
            Some(token.or(access_token).ok_or(FetchError::Index { url: asked, reason })?)
        }
        Err(error) => return Err(error),
    };
    let indexed = match &image.reference {
        Reference::Digest(digest) => {
            Some(Indexed { hash: IndexHash::Sha256(*digest), by: format!("the name {image}") })
        }
        Reference::Tag(_) => None,
    };
    Ok((Request { token, ..request }, indexed))
}

/// Who gives a token for reading the image.
fn token_address(challenge: &str, image: &Image) -> Option<Url> {
    let challenges = http_auth::parse_challenges(challenge).ok()?;
    let bearer = challenges.into_iter().find(|challenge| challenge.scheme.eq_ignore_ascii_case("bearer"))?;
    let text = |name: &str| {
        let (_, value) = bearer.params.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(value.to_unescaped())
    };
    let mut url = Url::parse(&text("realm")?).ok()?;
    if let Some(service) = text("service") {
        url.query_pairs_mut().append_pair("service", &service);
    }
    url.query_pairs_mut().append_pair("scope", &format!("repository:{}:pull", image.repository));
    Some(url)
}
