//! Downloads: from public addresses over https, within limits, begun again where that helps.

mod address;
mod error;
mod limits;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use backon::{ExponentialBuilder, Retryable};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, HeaderMap, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use reqwest::{Client, ClientBuilder, Response, StatusCode, redirect};
use serde::de::DeserializeOwned;
use url::{Host, Url};

pub use address::NotPublic;
pub(crate) use address::is_here;
use address::{Lookup, Names, SystemNames};
pub use error::{FetchError, Refusal};
pub use limits::{Budget, Limits};

/// Redirections that are followed.
pub const MAX_REDIRECTIONS: usize = 10;
/// What an index may say about one package.
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// Fetches files.
#[derive(Debug)]
pub struct Fetcher {
    /// Connects to the addresses that are fetched from.
    direct: Client,
    lookup: Lookup,
    /// Connects to proxies, whose names are looked up by a rule of their own.
    proxied: Client,
    lookup_of_proxies: Lookup,
    proxies: Matcher,
    limits: Limits,
}

/// A file that was fetched, in a temporary folder and without a name: whatever happens, nothing of it is left.
#[derive(Debug)]
pub struct Download {
    /// The file, at its beginning.
    pub file: File,
    /// Its bytes.
    pub size: u64,
}

/// Told how many bytes of a file are there, and how many it will have if its server says so.
pub type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Send + Sync);

/// What a server is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where it is.
    pub url: Url,
    /// The forms of it that are understood.
    pub accept: &'static str,
    /// What the server at this address, and no other, wants to see before it answers.
    pub token: Option<String>,
}

impl From<Url> for Request {
    fn from(url: Url) -> Self {
        Self { url, accept: "*/*", token: None }
    }
}

/// A request, and what its answer may cost.
struct Wanted<'a> {
    request: &'a Request,
    limit: u64,
    budget: &'a Budget,
    progress: Progress<'a>,
}

impl Fetcher {
    /// A fetcher with these limits. It trusts the certificates that the system trusts, or those of `SSL_CERT_FILE`, and goes through
    /// the proxy that the environment names, unless to this machine itself.
    pub fn new(limits: Limits) -> Result<Self, FetchError> {
        Self::with_names(limits, Arc::new(SystemNames))
    }

    fn with_names(limits: Limits, names: Arc<dyn Names>) -> Result<Self, FetchError> {
        prepare_tls();
        let lookup = Lookup::new(names, limits.allow_private);
        let lookup_of_proxies = lookup.of_proxies();
        let client = |lookup: &Lookup| {
            Client::builder()
                .user_agent(concat!("hashline/", env!("CARGO_PKG_VERSION")))
                // Each hop is looked at before it is followed.
                .redirect(redirect::Policy::none())
                .referer(false)
                .retry(reqwest::retry::never())
                .connect_timeout(limits.connect)
                .read_timeout(limits.idle)
                .dns_resolver(lookup.clone())
        };
        let built =
            |client: ClientBuilder| client.build().map_err(|error| FetchError::Connector(chain(&error)));
        let direct = built(client(&lookup).no_proxy())?;
        let proxied = built(client(&lookup_of_proxies))?;
        Ok(Self { direct, lookup, proxied, lookup_of_proxies, proxies: Matcher::from_env(), limits })
    }

    /// What one server may cost, beginning now.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget::of(&self.limits)
    }

    /// Fetches a file, and takes its bytes from a budget.
    pub async fn download(
        &self,
        request: &Request,
        budget: &Budget,
        progress: Progress<'_>,
    ) -> Result<Download, FetchError> {
        self.patiently(&Wanted { request, limit: self.limits.max_bytes, budget, progress }).await
    }

    /// What an index says.
    pub async fn json<T: DeserializeOwned>(
        &self,
        request: &Request,
        budget: &Budget,
    ) -> Result<T, FetchError> {
        let text = self.text(request, budget).await?;
        serde_json::from_str(&text).map_err(|error| unusable(request, &error))
    }

    /// The same where it is no JSON.
    pub async fn text(&self, request: &Request, budget: &Budget) -> Result<String, FetchError> {
        let limit = self.limits.max_bytes.min(MAX_INDEX_BYTES);
        let mut download = self.patiently(&Wanted { request, limit, budget, progress: &|_, _| {} }).await?;
        let mut text = String::new();
        download.file.read_to_string(&mut text).map_err(|error| unusable(request, &error))?;
        Ok(text)
    }

    /// Begins again where that may help, as long as there is time.
    async fn patiently(&self, wanted: &Wanted<'_>) -> Result<Download, FetchError> {
        let limit = self.limits.total;
        let left = wanted.budget.time_left();
        let time = limit.min(left);
        let pauses = ExponentialBuilder::default()
            .with_min_delay(self.limits.backoff)
            .with_max_delay(self.limits.backoff.saturating_mul(60))
            .with_max_times(self.limits.retries)
            .with_jitter();
        let attempts = (|| self.attempt(wanted))
            .retry(pauses)
            .when(FetchError::is_passing)
            .adjust(|error, pause| {
                let wanted = error.retry_after().unwrap_or_default();
                // Whoever wants to be left alone for longer than there is time will not be asked again.
                pause.map(|pause| pause.max(wanted)).filter(|pause| *pause < time)
            })
            .notify(|error, pause| tracing::debug!(%error, ?pause, "tries again"));
        tokio::time::timeout(time, attempts).await.unwrap_or_else(|_| {
            let url = wanted.request.url.clone();
            Err(match left < limit {
                true => FetchError::TooSlowTogether { url, limit: wanted.budget.time() },
                false => FetchError::TooSlow { url, limit },
            })
        })
    }

    async fn attempt(&self, wanted: &Wanted<'_>) -> Result<Download, FetchError> {
        let Wanted { request, limit, budget, progress } = *wanted;
        let mut response = self.follow(request).await?;
        let url = response.url().clone();
        let said = response.headers().get(CONTENT_LENGTH).and_then(|text| text.to_str().ok()?.parse().ok());
        if said.is_some_and(|said: u64| said > limit) {
            return Err(FetchError::TooLarge { url, limit });
        }
        let mut file = tempfile::tempfile()?;
        let mut size: u64 = 0;
        progress(0, said);
        while let Some(bytes) = response.chunk().await.map_err(|error| unreachable(&url, &error))? {
            let more = bytes.len() as u64;
            size = size.saturating_add(more);
            if size > limit {
                return Err(FetchError::TooLarge { url, limit });
            }
            if !budget.take(more) {
                return Err(FetchError::TooLargeTogether { url, limit: budget.bytes() });
            }
            // Into the system's memory: a thread of its own for each piece would take longer than the piece.
            file.write_all(&bytes)?;
            progress(size, said);
        }
        file.rewind()?;
        Ok(Download { file, size })
    }

    /// The answer at the end of all redirections.
    async fn follow(&self, first: &Request) -> Result<Response, FetchError> {
        let mut url = first.url.clone();
        for _ in 0..=MAX_REDIRECTIONS {
            let client = self.client_for(&url).await?;
            let mut request =
                client.get(url.clone()).header(ACCEPT, first.accept).header(ACCEPT_ENCODING, "identity");
            if let Some(token) = first.token.as_ref().filter(|_| url.origin() == first.url.origin()) {
                request = request.bearer_auth(token);
            }
            let response = request.send().await.map_err(|error| unreachable(&url, &error))?;
            let status = response.status();
            // A part of it, or word that there is nothing yet, is no file.
            if status == StatusCode::OK {
                return Ok(response);
            }
            if !(status.is_redirection() && response.headers().contains_key(LOCATION)) {
                let retry_after = retry_after(response.headers());
                let challenge = response.headers().get(WWW_AUTHENTICATE);
                let challenge = challenge.and_then(|text| Some(text.to_str().ok()?.into()));
                return Err(FetchError::Status { url, status, retry_after, challenge });
            }
            let next = response.headers().get(LOCATION).and_then(|text| url.join(text.to_str().ok()?).ok());
            url = next.ok_or(FetchError::Refused { url, reason: Refusal::Nowhere })?;
        }
        Err(FetchError::Refused { url: first.url.clone(), reason: Refusal::Redirections(MAX_REDIRECTIONS) })
    }

    /// What fetches from an address, if that may be. Names are looked at when they are looked up for the connection.
    async fn client_for(&self, url: &Url) -> Result<&Client, FetchError> {
        self.permitted(url).await.map_err(|reason| FetchError::Refused { url: without_user(url), reason })
    }

    async fn permitted(&self, url: &Url) -> Result<&Client, Refusal> {
        match url.scheme() {
            "https" => {}
            "http" if !self.limits.https_only => {}
            "http" => return Err(Refusal::NotHttps),
            other => return Err(Refusal::Scheme(other.to_owned())),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials);
        }
        let host = url.host().ok_or(Refusal::NoHost)?;
        match host {
            Host::Ipv4(address) => self.lookup.check(address.into())?,
            Host::Ipv6(address) => self.lookup.check(address.into())?,
            Host::Domain(_) => {}
        }
        let proxy = match is_here(&host) {
            // A proxy on another machine would look for it there.
            true => None,
            false => url.as_str().parse().ok().and_then(|uri| self.proxies.intercept(&uri)),
        };
        let Some(proxy) = proxy else { return Ok(&self.direct) };
        if let Some(proxy) = proxy.uri().host() {
            self.lookup_of_proxies.trust(proxy);
        }
        // The proxy looks the name up by itself, and may know it where this machine does not. What this machine knows to be private
        // is refused in any case.
        if let Host::Domain(name) = host
            && let Err(error) = self.lookup.addresses(name).await
            && let Ok(refused) = error.downcast::<NotPublic>()
        {
            return Err((*refused).into());
        }
        Ok(&self.proxied)
    }
}

/// An address as others may read it.
fn without_user(url: &Url) -> Url {
    let mut url = url.clone();
    // Addresses that can have neither have none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

/// What an index says, and cannot be used.
fn unusable(request: &Request, error: &dyn std::fmt::Display) -> FetchError {
    FetchError::Index { url: request.url.clone(), reason: error.to_string() }
}

/// Says how connections are made secret. There may have been a word on it already: any will do.
pub(crate) fn prepare_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// How long a server wants to be left alone.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = httpdate::parse_http_date(text).ok()?;
    Some(moment.duration_since(SystemTime::now()).unwrap_or_default())
}

/// What became of a connection. That the address was refused when its name was looked up is told apart: it stays so.
fn unreachable(url: &Url, error: &reqwest::Error) -> FetchError {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(cause) = source {
        if let Some(NotPublic { address }) = cause.downcast_ref() {
            let reason = NotPublic { address: *address }.into();
            return FetchError::Refused { url: url.clone(), reason };
        }
        source = cause.source();
    }
    FetchError::Unreachable { url: url.clone(), reason: chain(error) }
}

/// What happened and why, without the address that is told anyway.
pub(crate) fn chain(error: &reqwest::Error) -> String {
    let mut words = Vec::new();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let text = cause.to_string();
        if words.last() != Some(&text) {
            words.push(text);
        }
        source = cause.source();
    }
    if words.is_empty() { error.to_string() } else { words.join(": ") }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::SocketAddr;
    use std::sync::Mutex;

    use futures::future::BoxFuture;
    use tokio::net::TcpListener;

    use super::*;

    /// Says something else each time.
    #[derive(Debug)]
    struct Changing(Mutex<Vec<Vec<SocketAddr>>>);

    impl Names for Changing {
        fn addresses(&self, _: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
            let mut answers = self.0.lock().unwrap();
            let answer = if answers.is_empty() { Vec::new() } else { answers.remove(0) };
            Box::pin(async move { Ok(answer) })
        }
    }

    /// A name whose meaning changes between a look at it and the connection would lead anywhere. There is one look for each connection,
    /// and what it finds is what is connected to.
    #[tokio::test]
    async fn a_name_means_what_was_looked_at() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let url = Url::parse(&format!("http://rebinding.example:{}/", here.port())).unwrap();
        let public: SocketAddr = "8.8.8.8:0".parse().unwrap();
        for (answers, looks) in [
            (vec![vec![here], vec![public]], 1),
            // One of several is enough.
            (vec![vec![public, here]], 1),
            (vec![vec![here, public]], 1),
            (vec![vec!["[::ffff:127.0.0.1]:0".parse().unwrap()]], 1),
            (vec![vec!["[64:ff9b::7f00:1]:0".parse().unwrap()]], 1),
        ] {
            let names = Arc::new(Changing(Mutex::new(answers.clone())));
            let limits = Limits {
                https_only: false,
                retries: 3,
                backoff: Duration::from_millis(1),
                ..Limits::default()
            };
            let fetcher = Fetcher::with_names(limits, names.clone()).unwrap();
            let error = fetcher.text(&url.clone().into(), &fetcher.budget()).await.unwrap_err();
            let reason = matches!(error, FetchError::Refused { reason: Refusal::NotPublic(_), .. });
            assert!(reason, "{answers:?}: {error}");
            assert_eq!(answers.len() - names.0.lock().unwrap().len(), looks, "{answers:?}");
        }
        // Nobody has been here.
        let nobody = tokio::time::timeout(Duration::from_millis(1), listener.accept()).await;
        assert!(nobody.is_err());
        // Where it may be connected to, too, there is one look.
        let names = Arc::new(Changing(Mutex::new(vec![vec![here], vec![public]])));
        let limits = Limits { https_only: false, allow_private: true, retries: 0, ..Limits::default() };
        let fetcher = Fetcher::with_names(limits, names.clone()).unwrap();
        let fetching = tokio::spawn(async move { fetcher.text(&url.into(), &fetcher.budget()).await });
        let (connection, _) = listener.accept().await.unwrap();
        drop(connection);
        assert!(fetching.await.unwrap().is_err());
        assert_eq!(names.0.lock().unwrap().len(), 1);
    }
}
