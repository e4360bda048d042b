//! npm: one archive for each version, and the registry knows its hash.

use serde::Deserialize;
use url::Url;

use super::{Indexed, NPM, below};
use crate::fetch::{Budget, FetchError, Fetcher};
use crate::hash::IndexHash;
use crate::identifier::Named;

#[derive(Deserialize)]
struct Version {
    dist: Dist,
}

#[derive(Deserialize)]
struct Dist {
    tarball: Url,
    integrity: Option<String>,
}

/// Where the archive is, and its hash.
pub async fn tarball(
    registry: &Url,
    fetcher: &Fetcher,
    budget: &Budget,
    package: &Named,
) -> Result<(Url, Option<Indexed>), FetchError> {
    let index = below(registry, package.name.split('/').chain([package.version.as_str()]));
    let Version { dist } = fetcher.json(&index.clone().into(), budget).await?;
    let hash = match dist.integrity.as_deref() {
        None => None,
        Some(text) => match IndexHash::from_integrity(text) {
            Some(hash) => Some(Indexed { hash, by: index.into() }),
            None => {
                let reason = format!("its integrity {text:?} is no hash that is known here");
                return Err(FetchError::Index { url: index, reason });
            }
        },
    };
    Ok((at_registry(dist.tarball, registry), hash))
}

/// A mirror may pass on what the usual registry says about itself: the archive then is where the mirror has it, as it is for npm.
fn at_registry(tarball: Url, registry: &Url) -> Url {
    let usual = Url::parse(NPM).ok().map(|url| url.origin());
    if Some(tarball.origin()) != usual || Some(registry.origin()) == usual {
        return tarball;
    }
    let path: Vec<&str> = tarball.path_segments().into_iter().flatten().collect();
    let mut url = registry.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty();
    }
    // It is encoded already.
    url.set_path(&format!("{}/{}", url.path().trim_end_matches('/'), path.join("/")));
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_where_the_registry_has_it() {
        for (tarball, registry, expected) in [
            ("https://registry.npmjs.org/@a/b/-/b-1.tgz", NPM, "https://registry.npmjs.org/@a/b/-/b-1.tgz"),
            (
                "https://registry.npmjs.org/@a%2fb/-/b-1.tgz",
                "https://m.example/npm/",
                "https://m.example/npm/@a%2fb/-/b-1.tgz",
            ),
            ("https://registry.npmjs.org/b/-/b-1.tgz", "https://m.example", "https://m.example/b/-/b-1.tgz"),
            ("https://cdn.example/b-1.tgz", "https://m.example/npm", "https://cdn.example/b-1.tgz"),
            ("https://cdn.example/b-1.tgz", NPM, "https://cdn.example/b-1.tgz"),
        ] {
            let [tarball, registry] = [tarball, registry].map(|text| Url::parse(text).unwrap());
            assert_eq!(at_registry(tarball, &registry).as_str(), expected);
        }
    }
}
