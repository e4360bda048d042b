//! Downloads, and every way in which they go wrong. "Network Security": over HTTPS, with certificates checked, within limits.

use std::io::Read;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hashline_package::{FetchError, Fetcher, Limits, MAX_REDIRECTIONS, Refusal};
use url::Url;

use crate::file_server::{Answer, FileServer};

/// Limits under which the server of files can be reached, and nothing takes long.
pub fn local() -> Limits {
    Limits {
        https_only: false,
        allow_private: true,
        backoff: Duration::from_millis(1),
        total: Duration::from_secs(20),
        ..Limits::default()
    }
}

async fn fetched(limits: Limits, url: &Url) -> Result<Vec<u8>, FetchError> {
    let fetcher = Fetcher::new(limits).unwrap();
    let mut download = fetcher.download(&url.clone().into(), &fetcher.budget(), &|_, _| {}).await?;
    let mut bytes = Vec::new();
    download.file.read_to_end(&mut bytes).unwrap();
    assert_eq!(download.size, bytes.len() as u64);
    Ok(bytes)
}

#[tokio::test]
async fn a_file_comes_byte_for_byte_and_nothing_is_decoded() {
    let server = FileServer::start().await;
    let bytes: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    server.file("/a", bytes.clone());
    assert_eq!(fetched(local(), &server.url("/a")).await.unwrap(), bytes);
    let headers = server.headers_of("/a");
    assert!(
        headers.contains("accept-encoding: identity\r\n") && headers.contains("user-agent: hashline/"),
        "{headers}"
    );
    server.on("/b", [Answer::Unsaid(b"unsaid".to_vec())]);
    assert_eq!(fetched(local(), &server.url("/b")).await.unwrap(), b"unsaid");
    // A file ends where its server says; whether that is all of it only a hash can tell.
    server.on("/said-less", [Answer::CutOff(2, b"bytes".to_vec())]);
    assert_eq!(fetched(local(), &server.url("/said-less")).await.unwrap(), b"by");
    server.file("/empty", "");
    assert_eq!(fetched(local(), &server.url("/empty")).await.unwrap(), b"");
}

/// What unpacks into more than there is room for stays packed: limits and hash are those of the bytes that come.
#[tokio::test]
async fn what_is_packed_stays_packed() {
    let server = FileServer::start().await;
    // What gzip makes of a million zeros.
    let mut packed = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xed\xc1\x01\x0d".to_vec();
    packed.resize(1000, 0);
    for encoding in ["gzip", "br", "zstd", "deflate", "gzip, gzip"] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
            packed.len()
        );
        server.on("/bomb", [Answer::Raw([head.as_bytes(), &packed].concat())]);
        let limits = Limits { max_bytes: 1000, ..local() };
        assert_eq!(fetched(limits, &server.url("/bomb")).await.unwrap(), packed, "{encoding}");
    }
}

/// A server that contradicts itself about the length of a file has sent none.
#[tokio::test]
async fn a_length_that_cannot_be_is_no_file() {
    let server = FileServer::start().await;
    for head in [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 6",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: chunked",
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\nbytes");
        server.on("/a", [Answer::Raw(answer.into_bytes())]);
        let fetched = fetched(Limits { retries: 0, ..local() }, &server.url("/a")).await;
        assert!(matches!(fetched, Err(FetchError::Unreachable { .. })), "{head}: {fetched:?}");
    }
    // Nor is one whose head has no end.
    let endless = format!("HTTP/1.1 200 OK\r\nX-Long: {}", "x".repeat(4 << 20));
    server.on("/endless", [Answer::Raw(endless.into_bytes())]);
    let error = fetched(Limits { retries: 0, ..local() }, &server.url("/endless")).await.unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { .. }), "{error}");
}

/// "Implement retry logic for network failures", "Network failure handling".
#[tokio::test]
async fn what_may_go_better_is_tried_again() {
    let server = FileServer::start().await;
    let good = Answer::File(b"good".to_vec());
    for (path, bad) in [
        ("/503", Answer::Status(503, "")),
        ("/500", Answer::Status(500, "")),
        ("/429", Answer::Status(429, "Retry-After: 0\r\n")),
        ("/408", Answer::Status(408, "")),
        ("/cut-off", Answer::CutOff(100, b"go".to_vec())),
        ("/hang-up", Answer::HangUp),
    ] {
        server.on(path, [bad.clone(), bad, good.clone()]);
        assert_eq!(fetched(local(), &server.url(path)).await.unwrap(), b"good", "{path}");
        assert_eq!(server.asked(path), 3, "{path}");
    }
}

#[tokio::test]
async fn what_stays_so_is_not_tried_again_and_the_rest_not_forever() {
    let server = FileServer::start().await;
    for (path, answer, times) in [
        ("/404", Answer::Status(404, ""), 1),
        ("/403", Answer::Status(403, ""), 1),
        ("/304", Answer::Status(304, ""), 1),
        // None of these is the file.
        ("/202", Answer::Status(202, ""), 1),
        ("/204", Answer::Status(204, ""), 1),
        ("/206", Answer::Status(206, "Content-Range: bytes 0-0/2\r\n"), 1),
        ("/503", Answer::Status(503, ""), 5),
        ("/cut-off", Answer::CutOff(10, b"short".to_vec()), 5),
    ] {
        server.on(path, [answer]);
        let error = fetched(local(), &server.url(path)).await.unwrap_err().to_string();
        assert!(error.contains(path) && error.contains("try again"), "{error}");
        assert_eq!(server.asked(path), times, "{path}");
    }
    let none = Limits { retries: 0, ..local() };
    server.on("/once", [Answer::Status(503, "")]);
    assert!(matches!(fetched(none, &server.url("/once")).await, Err(FetchError::Status { .. })));
    assert_eq!(server.asked("/once"), 1);
}

#[tokio::test]
async fn a_server_that_wants_to_be_left_alone_is_left_alone() {
    let server = FileServer::start().await;
    server.on("/soon", [Answer::Status(429, "Retry-After: 1\r\n"), Answer::File(b"good".to_vec())]);
    let begun = Instant::now();
    assert_eq!(fetched(local(), &server.url("/soon")).await.unwrap(), b"good");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    // For longer than there is time: then it is no use to wait.
    server.on("/late", [Answer::Status(503, "Retry-After: 3600\r\n")]);
    let begun = Instant::now();
    assert!(matches!(fetched(local(), &server.url("/late")).await, Err(FetchError::Status { .. })));
    assert!(begun.elapsed() < Duration::from_secs(10) && server.asked("/late") == 1);
    server.on(
        "/past",
        [
            Answer::Status(503, "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"),
            Answer::File(b"good".to_vec()),
        ],
    );
    assert_eq!(fetched(local(), &server.url("/past")).await.unwrap(), b"good");
}

#[tokio::test]
async fn a_server_that_says_nothing_more_is_given_up() {
    let server = FileServer::start().await;
    let limits = Limits { idle: Duration::from_millis(100), ..local() };
    server.on("/silence", [Answer::Silence(b"some".to_vec()), Answer::File(b"good".to_vec())]);
    assert_eq!(fetched(limits, &server.url("/silence")).await.unwrap(), b"good");
    server.on("/drip", [Answer::Drip]);
    server.on("/drip-head", [Answer::DripHead]);
    for path in ["/drip", "/drip-head"] {
        let limits = Limits { total: Duration::from_millis(300), ..local() };
        let error = fetched(limits, &server.url(path)).await.unwrap_err().to_string();
        assert!(error.contains("longer than 0.3 s, which HASHLINE_FETCH_TIMEOUT_S allows"), "{error}");
    }
}

/// "Implement download size limits": by what the server says, and by what it sends.
#[tokio::test]
async fn spec_implement_download_size_limits() {
    let server = FileServer::start().await;
    let limits = Limits { max_bytes: 1000, ..local() };
    server.file("/fits", vec![0; 1000]);
    assert_eq!(fetched(limits.clone(), &server.url("/fits")).await.unwrap().len(), 1000);
    server.on("/said", [Answer::CutOff(1001, Vec::new())]);
    server.on("/unsaid", [Answer::Unsaid(vec![0; 1001])]);
    server.on("/endless", [Answer::Drip]);
    for path in ["/said", "/unsaid", "/endless"] {
        let limits = if path == "/endless" { Limits { max_bytes: 3, ..local() } } else { limits.clone() };
        let error = fetched(limits, &server.url(path)).await.unwrap_err();
        assert!(matches!(error, FetchError::TooLarge { .. }), "{path}: {error}");
        assert!(error.to_string().contains("HASHLINE_FETCH_MAX_BYTES"));
        assert_eq!(server.asked(path), 1, "{path}");
    }
    for (max_bytes, words) in [(0, "more than 0 bytes;"), (1, "more than 1 byte;"), (2, "more than 2 bytes;")]
    {
        let error =
            fetched(Limits { max_bytes, ..local() }, &server.url("/fits")).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // All together, whatever became of them.
    let fetcher = Fetcher::new(limits).unwrap();
    let budget = fetcher.budget();
    for _ in 0..4 {
        assert!(fetcher.download(&server.url("/fits").into(), &budget, &|_, _| {}).await.is_ok());
    }
    let error = fetcher.download(&server.url("/fits").into(), &budget, &|_, _| {}).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLargeTogether { limit: 4000, .. }), "{error}");
    assert!(error.to_string().contains("4 times what HASHLINE_FETCH_MAX_BYTES allows"), "{error}");
}

/// "Always download over HTTPS": at every redirection, too.
#[tokio::test]
async fn spec_always_download_over_https() {
    let server = FileServer::start().await;
    server.file("/a", "a");
    let limits = Limits { https_only: true, ..local() };
    for url in
        [server.url("/a").as_str(), "http://example.com/a", "ftp://example.com/a", "file:///etc/passwd"]
    {
        let error = fetched(limits.clone(), &Url::parse(url).unwrap()).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused { .. }), "{url}: {error}");
    }
    assert_eq!(server.requests(), 0);
    for to in ["ftp://127.0.0.1/a", "file:///etc/passwd", "data:,a"] {
        server.on("/elsewhere", [Answer::Redirect(to.into())]);
        let error = fetched(local(), &server.url("/elsewhere")).await.unwrap_err();
        assert!(matches!(&error, FetchError::Refused { reason: Refusal::Scheme(_), .. }), "{to}: {error}");
    }
}

#[tokio::test]
async fn redirections_are_followed_ten_times_and_no_further() {
    let server = FileServer::start().await;
    server.file("/0", "there");
    for at in 1..=11 {
        server.on(&format!("/{at}"), [Answer::Redirect(format!("/{}", at - 1))]);
    }
    assert_eq!(fetched(local(), &server.url(&format!("/{MAX_REDIRECTIONS}"))).await.unwrap(), b"there");
    for far in ["/11", "/loop"] {
        server.on("/loop", [Answer::Redirect("/loop".into())]);
        let error = fetched(local(), &server.url(far)).await.unwrap_err();
        assert!(error.to_string().contains("more than 10 redirections"), "{error}");
    }
    assert_eq!(server.asked("/loop"), 11);
    server.on("/nowhere", [Answer::Redirect("http://".into())]);
    let error = fetched(local(), &server.url("/nowhere")).await.unwrap_err();
    assert!(matches!(error, FetchError::Refused { reason: Refusal::Nowhere, .. }), "{error}");
}

/// What a stranger names must lead to nothing of this network's: by its address, its name, or a redirection.
#[tokio::test]
async fn addresses_that_are_not_public_are_never_connected_to() {
    let server = FileServer::start().await;
    server.file("/a", "secret");
    let public = Limits { allow_private: false, retries: 0, ..local() };
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::]",
        "localhost",
        "LOCALHOST",
        "127.0.0.1.",
        "0177.0.0.1",
        "0x7f000001",
        "017700000001",
        "127.0.1",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "ⓛocalhost",
        "0.0.0.0",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::127.0.0.1]",
    ] {
        let url = Url::parse(&format!("http://{host}:{}/a", server.port)).unwrap();
        let error = fetched(public.clone(), &url).await.unwrap_err();
        assert!(
            matches!(error, FetchError::Refused { reason: Refusal::NotPublic(_), .. }),
            "{host}: {error}"
        );
        assert!(error.to_string().contains("HASHLINE_FETCH_ALLOW_PRIVATE"), "{error}");
    }
    for host in [
        "10.0.0.1",
        "167772161",
        "169.254.169.254",
        "0xa9fea9fe",
        "[::ffff:169.254.169.254]",
        "192.168.0.1",
        "100.64.0.1",
        "[fd00::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        // Each of these leads to an IPv4 address: by a translator, by 6to4, by Teredo.
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::169.254.169.254]",
        "[64:ff9b:1::8.8.8.8]",
        "[2002:7f00:1::]",
        "[2002:a9fe:a9fe::]",
        "[2001:0:7f00:1::]",
        "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    ] {
        let url = Url::parse(&format!("http://{host}/latest/meta-data")).unwrap();
        let error = fetched(public.clone(), &url).await.unwrap_err();
        assert!(
            matches!(error, FetchError::Refused { reason: Refusal::NotPublic(_), .. }),
            "{host}: {error}"
        );
    }
    assert_eq!(server.requests(), 0);
    for named in
        ["http://user:secret@example.com/a", "http://example.com@127.0.0.1/a", "http://:p@example.com/"]
    {
        let error = fetched(public.clone(), &Url::parse(named).unwrap()).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused { reason: Refusal::Credentials, .. }), "{error}");
        // What is told may be read by others.
        assert!(!error.to_string().contains("secret") && !error.to_string().contains('@'), "{error}");
    }
    // Nor are such addresses followed to.
    server.on("/named", [Answer::Redirect("http://user:secret@127.0.0.1/a".into())]);
    let error = fetched(local(), &server.url("/named")).await.unwrap_err();
    assert!(matches!(error, FetchError::Refused { reason: Refusal::Credentials, .. }), "{error}");
}

#[tokio::test]
async fn what_is_fetched_is_told_as_it_comes() {
    let server = FileServer::start().await;
    server.on("/a", [Answer::Large(1 << 20)]);
    let told = Mutex::new(Vec::new());
    let fetcher = Fetcher::new(local()).unwrap();
    let progress = |bytes, of| told.lock().unwrap().push((bytes, of));
    fetcher.download(&server.url("/a").into(), &fetcher.budget(), &progress).await.unwrap();
    let told = told.into_inner().unwrap();
    assert_eq!((told[0], told[told.len() - 1]), ((0, Some(1 << 20)), (1 << 20, Some(1 << 20))));
    assert!(told.windows(2).all(|pair| pair[0].0 <= pair[1].0));
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_unreachable() {
    let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let url = Url::parse(&format!("http://127.0.0.1:{port}/a")).unwrap();
    let error = fetched(local(), &url).await.unwrap_err();
    assert!(
        matches!(error, FetchError::Unreachable { .. }) && error.to_string().contains("check the connection"),
        "{error}"
    );
}
