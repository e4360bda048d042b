//! What a publisher says to a registry.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode, redirect};
use serde_json::{Value, json};
use url::Url;

use crate::fetch::{chain, is_here, prepare_tls, retry_after};
use crate::server_json::ServerJson;
use crate::store::VersionStatus;

/// How often a registry that is busy is asked again.
const ATTEMPTS: usize = 8;
/// A registry may fetch many files before it answers, and may be busy at first.
const PATIENCE: Duration = Duration::from_secs(1800);
/// What it may answer: the longest server.json, and what it knows of it besides.
const LONGEST_ANSWER: usize = 8 << 20;

/// Speaks with one registry.
#[derive(Debug)]
pub struct Publisher {
    client: Client,
    registry: Url,
    /// What tells it who publishes.
    authorization: Option<HeaderValue>,
}

/// Why a registry did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// What is sent there could be read by others.
    #[error(
        "{0} is no https address, and what is sent there can be read by others; use https, or a registry on this machine"
    )]
    Insecure(Url),
    /// There is a token, and nothing in it.
    #[error("the token is empty; set HASHLINE_REGISTRY_TOKEN or --token to one, or leave both out")]
    EmptyToken,
    /// It cannot be sent.
    #[error("the token holds characters that no token has, a line's end for example; look at it again")]
    UnusableToken,
    /// It could not be reached.
    #[error("the registry {registry} could not be reached: {reason}; check --registry and the connection")]
    Unreachable {
        /// The registry.
        registry: Url,
        /// What happened.
        reason: String,
    },
    /// It says no.
    #[error("the registry says no ({status}): {words}")]
    Refused {
        /// Its answer's status.
        status: StatusCode,
        /// What it says, for people.
        words: String,
        /// Its whole answer, if it is JSON.
        document: Option<Value>,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
}

impl Publisher {
    /// For a registry, which is to be reached by https unless it is on this machine or `https_only` is off.
    pub fn new(registry: Url, token: Option<&str>, https_only: bool) -> Result<Self, PublishError> {
        let here = registry.host().is_some_and(|host| is_here(&host));
        if registry.scheme() != "https" && !(registry.scheme() == "http" && (here || !https_only)) {
            return Err(PublishError::Insecure(registry));
        }
        let authorization = token.map(bearer).transpose()?;
        prepare_tls();
        let mut client = Client::builder()
            .user_agent(concat!("hashline/", env!("CARGO_PKG_VERSION")))
            // The token is for this registry and no other.
            .redirect(redirect::Policy::none())
            .connect_timeout(Duration::from_secs(10));
        if here {
            // A proxy on another machine would look for it there.
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| unreachable(&registry, &error))?;
        Ok(Self { client, registry, authorization })
    }

    /// Publishes a server, and tells what the registry has kept. With `idempotent`, what is there in this very form is no failure.
    pub async fn publish(&self, server: &ServerJson, idempotent: bool) -> Result<Value, PublishError> {
        let mut url = self.address(&["publish"]);
        if idempotent {
            url.set_query(Some("idempotent=true"));
        }
        self.ask(Method::POST, url, server.value()).await
    }

    /// Says something else of one version, or of all.
    pub async fn set_status(
        &self,
        name: &str,
        version: Option<&str>,
        status: VersionStatus,
        message: Option<&str>,
    ) -> Result<Value, PublishError> {
        let url = match version {
            Some(version) => self.address(&["servers", name, "versions", version, "status"]),
            None => self.address(&["servers", name, "status"]),
        };
        let mut wish = json!({"status": status});
        if let Some(message) = message {
            wish["statusMessage"] = json!(message);
        }
        self.ask(Method::PATCH, url, wish).await
    }

    fn address(&self, parts: &[&str]) -> Url {
        let mut url = self.registry.clone();
        // Addresses without a path are none of http's.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("v0.1").extend(parts);
        }
        url
    }

    /// Asks, and again where the registry is busy: then it has done nothing.
    async fn ask(&self, method: Method, url: Url, body: Value) -> Result<Value, PublishError> {
        let pauses = ExponentialBuilder::default().with_max_times(ATTEMPTS).with_jitter();
        let asking = (|| self.ask_once(method.clone(), url.clone(), body.to_string()))
            .retry(pauses)
            .when(|error| {
                matches!(error, PublishError::Refused { status, .. }
                    if matches!(*status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE))
            })
            .adjust(|error, pause| match error {
                PublishError::Refused { retry_after, .. } => pause
                    .map(|pause| pause.max(retry_after.unwrap_or_default()))
                    .filter(|pause| *pause < PATIENCE),
                _ => pause,
            });
        let patiently = tokio::time::timeout(PATIENCE, asking).await;
        patiently
            .unwrap_or_else(|_| Err(self.unusable(format!("it took longer than {} s", PATIENCE.as_secs()))))
    }

    async fn ask_once(&self, method: Method, url: Url, body: String) -> Result<Value, PublishError> {
        let mut request =
            self.client.request(method, url).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let response = request.send().await.map_err(|error| unreachable(&self.registry, &error))?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let text = self.text(response).await?;
        let document: Option<Value> = serde_json::from_str(&text).ok();
        match document {
            Some(document) if status.is_success() => Ok(document),
            document => {
                let words = document.as_ref().map_or_else(|| text.chars().take(1000).collect(), words);
                Err(PublishError::Refused { status, words, document, retry_after })
            }
        }
    }

    /// What a registry answers, if it comes to an end.
    async fn text(&self, mut response: Response) -> Result<String, PublishError> {
        let mut bytes = Vec::new();
        while let Some(more) = response.chunk().await.map_err(|error| unreachable(&self.registry, &error))? {
            bytes.extend_from_slice(&more);
            if bytes.len() > LONGEST_ANSWER {
                return Err(self.unusable(format!("its answer has more than {LONGEST_ANSWER} bytes")));
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn unusable(&self, reason: String) -> PublishError {
        PublishError::Unreachable { registry: self.registry.clone(), reason }
    }
}

fn bearer(token: &str) -> Result<HeaderValue, PublishError> {
    let token = token.trim();
    if token.is_empty() {
        return Err(PublishError::EmptyToken);
    }
    let mut header =
        HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| PublishError::UnusableToken)?;
    header.set_sensitive(true);
    Ok(header)
}

fn unreachable(registry: &Url, error: &reqwest::Error) -> PublishError {
    PublishError::Unreachable { registry: registry.clone(), reason: chain(error) }
}

/// What a document of a registry says to people, of this one or of another.
fn words(document: &Value) -> String {
    let said = ["detail", "error", "title"]
        .iter()
        .find_map(|key| document[*key].as_str())
        .unwrap_or("it does not say why");
    let mut words = said.to_owned();
    for (file, failure) in document["details"].as_object().into_iter().flatten() {
        let text = |key: &str| failure[key].as_str().unwrap_or("unknown").to_owned();
        words.push_str(&format!(
            "\n  {file}: {}, expected {} (as it was sent), actual {} (as the registry fetched it)",
            text("status"),
            text("expected"),
            text("actual")
        ));
    }
    for error in document["errors"].as_array().into_iter().flatten() {
        if let Some(message) = error["message"].as_str().filter(|message| !said.contains(message)) {
            words.push_str(&format!("\n  {}: {message}", error["location"].as_str().unwrap_or_default()));
        }
    }
    words
}
