//! The registry as its clients see it: "Registry" under "Responsibilities", "Registry Validation" and "Migration Path".

use std::time::Duration;

use hashline_package::{Auth, Fetcher, Hasher, Limits, Registry, RegistryLimits, SqliteStore};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::sync::oneshot;

use crate::fetch::local;
use crate::file_server::{Answer, FileServer};
use crate::hashes::{hash, sources};

/// How long is waited for what happens at once unless the machine is busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// A registry that runs, its files, and a client.
pub struct Running {
    pub files: FileServer,
    pub address: String,
    pub client: Client,
    stop: Option<oneshot::Sender<()>>,
    serving: tokio::task::JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Running {
    pub async fn open() -> Self {
        Self::start(Auth::None, local()).await
    }

    async fn start(auth: Auth, limits: Limits) -> Self {
        Self::start_with(auth, limits, RegistryLimits { request: PATIENCE, answer: PATIENCE }).await
    }

    async fn start_with(auth: Auth, fetched: Limits, limits: RegistryLimits) -> Self {
        let files = FileServer::start().await;
        let folder = tempfile::tempdir().unwrap();
        let hasher = Hasher::new(Fetcher::new(fetched).unwrap(), sources(&files));
        let store = SqliteStore::open(folder.path()).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let registry = Registry::new(store, hasher, auth, limits);
        let serving = tokio::spawn(registry.serve(listener, async {
            let _ = stopped.await;
        }));
        Self { files, address, client: Client::new(), stop: Some(stop), serving, _folder: folder }
    }

    pub async fn ask(&self, method: Method, path: &str, body: &str) -> (StatusCode, Value) {
        self.ask_as(None, method, path, body).await
    }

    async fn ask_as(
        &self,
        token: Option<&str>,
        method: Method,
        path: &str,
        body: &str,
    ) -> (StatusCode, Value) {
        let mut request =
            self.client.request(method, format!("{}{path}", self.address)).body(body.to_owned());
        request = request.header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
    }

    pub async fn publish(&self, server: &Value) -> (StatusCode, Value) {
        self.ask(Method::POST, "/v0/publish", &server.to_string()).await
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.ask(Method::GET, path, "").await
    }

    /// A server with one file, which is there.
    pub fn server(&self, name: &str, version: &str) -> Value {
        self.files.file("/file", "bytes");
        let file = self.files.url("/file");
        json!({
            "name": name, "version": version, "description": "d",
            "package_location": {"type": "url", "url": file},
            "file_hashes": {file.as_str(): hash(b"bytes")},
        })
    }
}

/// "Validates provided hashes against actual files", "Stores validated hashes in server.json".
#[tokio::test]
async fn spec_registry_validates_and_stores() {
    let registry = Running::open().await;
    let server = registry.server("a/b", "1.0.0");
    let (status, answer) = registry.publish(&server).await;
    assert_eq!((status, &answer["server"]), (StatusCode::OK, &server));
    assert_eq!(answer["_meta"]["hashline/hashes"], json!({"verified": true}));
    let official = &answer["_meta"]["io.modelcontextprotocol.registry/official"];
    assert_eq!((&official["status"], &official["isLatest"]), (&json!("active"), &json!(true)));
    assert_eq!(registry.files.asked("/file"), 1);
    for prefix in ["/v0", "/v0.1"] {
        for version in ["1.0.0", "latest"] {
            let found = registry.get(&format!("{prefix}/servers/a%2Fb/versions/{version}")).await;
            assert_eq!(found, (StatusCode::OK, answer.clone()));
        }
        let list = registry.get(&format!("{prefix}/servers")).await;
        assert_eq!(list, (StatusCode::OK, json!({"servers": [answer], "metadata": {"count": 1}})));
    }
}

/// "Accepts submissions without hashes (optional field)"; "Phase 1: Deploy Optional Field" and "Phase 2: Enable Validation", whose entries
/// go on as they are.
#[tokio::test]
async fn spec_registry_accepts_submissions_without_hashes() {
    let registry = Running::open().await;
    let mut server = registry.server("a/b", "1.0.0");
    server.as_object_mut().unwrap().remove("file_hashes");
    let (status, answer) = registry.publish(&server).await;
    assert_eq!((status, &answer["server"]), (StatusCode::OK, &server));
    // "Phase 4: Adoption Push": "Consider making required for verified badges"; without hashes there is none.
    assert_eq!(answer["_meta"]["hashline/hashes"], json!({"verified": false}));
    assert_eq!(registry.files.requests(), 0);
    // Nor is there one for a release of which only one file has a hash.
    registry.files.pypi("p", "1.0", &[("p-1.0.tar.gz", b"source"), ("p-1.0-py3-none-any.whl", b"wheel")]);
    let mut partly = json!({"name": "a/partly", "version": "1.0.0", "package_location": {"type": "pypi", "package_name": "p==1.0"}});
    partly["file_hashes"] = json!({"pypi:p==1.0/p-1.0.tar.gz": hash(b"source")});
    let (status, answer) = registry.publish(&partly).await;
    assert_eq!((status, &answer["_meta"]["hashline/hashes"]), (StatusCode::OK, &json!({"verified": false})));
    partly["version"] = json!("1.0.1");
    partly["file_hashes"]["pypi:p==1.0/p-1.0-py3-none-any.whl"] = json!(hash(b"wheel"));
    let (status, answer) = registry.publish(&partly).await;
    assert_eq!((status, &answer["_meta"]["hashline/hashes"]), (StatusCode::OK, &json!({"verified": true})));
    let remote =
        json!({"name": "a/remote", "version": "1.0.0", "remotes": [{"type": "sse", "url": "https://a.b"}]});
    assert_eq!(registry.publish(&remote).await.0, StatusCode::OK);
}

/// "Rejects submissions with invalid hashes", with the document of "Error Responses"; "Monitor validation failures".
#[tokio::test]
async fn spec_registry_rejects_submissions_with_invalid_hashes() {
    let registry = Running::open().await;
    let mut server = registry.server("a/b", "1.0.0");
    let key = registry.files.url("/file").to_string();
    server["file_hashes"] = json!({&key: hash(b"other")});
    let (status, document) = registry.publish(&server).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let expected = json!({
        "error": "Hash validation failed",
        "details": {&key: {"expected": hash(b"other"), "actual": hash(b"bytes"), "status": "mismatch"}}
    });
    assert_eq!(document, expected);
    assert_eq!(registry.get("/v0/servers/a%2Fb/versions/latest").await.0, StatusCode::NOT_FOUND);
    let metrics = registry
        .client
        .get(format!("{}/metrics", registry.address))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(metrics.contains("versions_total{result=\"rejected\"} 1\n"), "{metrics}");
    assert!(metrics.contains("hash_failures_total{status=\"mismatch\"} 1\n"), "{metrics}");
    // Put right, it is published: nothing of the failure is left.
    server["file_hashes"] = json!({&key: hash(b"bytes")});
    assert_eq!(registry.publish(&server).await.0, StatusCode::OK);
}

/// "Can I update just the hashes?": no.
#[tokio::test]
async fn spec_can_i_update_just_the_hashes() {
    let registry = Running::open().await;
    let server = registry.server("a/b", "1.0.0");
    assert_eq!(registry.publish(&server).await.0, StatusCode::OK);
    let asked = registry.files.requests();
    let mut changed = server.clone();
    changed.as_object_mut().unwrap().remove("file_hashes");
    for (again, path, status) in [
        (&changed, "/v0/publish", StatusCode::CONFLICT),
        (&server, "/v0/publish", StatusCode::CONFLICT),
        (&changed, "/v0/publish?idempotent=true", StatusCode::CONFLICT),
        (&server, "/v0/publish?idempotent=true", StatusCode::OK),
    ] {
        let (answered, document) = registry.ask(Method::POST, path, &again.to_string()).await;
        assert_eq!(answered, status, "{path}");
        if status == StatusCode::CONFLICT {
            assert!(
                document["error"].as_str().unwrap().contains("publish what has changed as a new version"),
                "{document}"
            );
        }
    }
    // Nothing is fetched for what is there.
    assert_eq!(registry.files.requests(), asked);
    assert_eq!(registry.get("/v0/servers/a%2Fb/versions/latest").await.1["server"], server);
    // "Updates require new version publication": that goes.
    assert_eq!(registry.publish(&registry.server("a/b", "1.0.1")).await.0, StatusCode::OK);
}

/// "What about private packages?": what the registry cannot reach it cannot validate.
#[tokio::test]
async fn spec_what_about_private_packages() {
    let registry = Running::open().await;
    registry.files.on("/private", [Answer::Status(401, "")]);
    let key = registry.files.url("/private").to_string();
    let mut server = registry.server("a/b", "1.0.0");
    server["package_location"] = json!({"type": "url", "url": key});
    server["file_hashes"] = json!({&key: hash(b"bytes")});
    let (status, document) = registry.publish(&server).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        document["details"][&key],
        json!({"expected": hash(b"bytes"), "actual": null, "status": "unreachable"})
    );
    // Accessible while it is validated, it is published.
    registry.files.file("/private", "bytes");
    assert_eq!(registry.publish(&server).await.0, StatusCode::OK);
}

/// "Registry validation prevents tampered submissions", also where the submission leads into the registry's own network.
#[tokio::test]
async fn spec_trust_boundaries_of_the_registry() {
    let registry =
        Running::start(Auth::None, Limits { allow_private: false, https_only: true, ..local() }).await;
    registry.files.file("/file", "secret");
    for url in [
        registry.files.url("/file").to_string(),
        "https://169.254.169.254/latest/meta-data".into(),
        "https://localhost/".into(),
        "https://[::ffff:10.0.0.1]/".into(),
    ] {
        let server = json!({
            "name": "a/b", "version": "1.0.0", "description": "d",
            "package_location": {"type": "url", "url": url}, "file_hashes": {&url: hash(b"secret")}
        });
        let (status, document) = registry.publish(&server).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(document["details"][&url]["status"], "refused", "{document}");
    }
    assert_eq!(registry.files.requests(), 0);
}

#[tokio::test]
async fn without_the_token_nothing_is_fetched_or_changed() {
    let registry = Running::start(Auth::token("right"), local()).await;
    let server = registry.server("a/b", "1.0.0").to_string();
    for token in [None, Some("Bearer wrong"), Some("Bearer "), Some("right"), Some("Basic right")] {
        for (method, path) in [
            (Method::POST, "/v0/publish"),
            (Method::POST, "/v0.1/publish"),
            (Method::PATCH, "/v0/servers/a%2Fb/status"),
            (Method::PATCH, "/v0/servers/a%2Fb/versions/1.0.0/status"),
        ] {
            let (status, document) = registry.ask_as(token, method, path, &server).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{token:?} {path}");
            assert!(document["error"].as_str().unwrap().contains("log"), "{document}");
        }
    }
    assert_eq!(registry.files.requests(), 0);
    assert_eq!(
        registry.ask_as(Some("bearer right"), Method::POST, "/v0/publish", &server).await.0,
        StatusCode::OK
    );
    assert_eq!(registry.get("/v0/servers/a%2Fb/versions/1.0.0").await.0, StatusCode::OK);
}

/// Whoever says nothing, or something very slowly, holds neither a connection nor a place.
#[tokio::test]
async fn a_request_that_does_not_arrive_is_given_up() {
    let limits = RegistryLimits { request: Duration::from_millis(500), answer: PATIENCE };
    let registry = Running::start_with(Auth::token("right"), local(), limits).await;
    let address = registry.address.strip_prefix("http://").unwrap();
    let head = "POST /v0/publish HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n";
    for (sent, answer) in [
        (String::new(), ""),
        (head.to_owned(), ""),
        // It is not let through, and what it brings is not waited for.
        (format!("{head}\r\n{{"), "HTTP/1.1 401 "),
        (format!("{head}authorization: bearer right\r\n\r\n{{"), "HTTP/1.1 408 "),
        (format!("{}\r\n{{", head.replace("publish", "validate")), "HTTP/1.1 408 "),
    ] {
        let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
        connection.write_all(sent.as_bytes()).await.unwrap();
        let mut answered = String::new();
        let ended = tokio::time::timeout(Duration::from_secs(10), connection.read_to_string(&mut answered));
        ended.await.expect("an end").unwrap();
        assert!(
            answered.starts_with(answer) && answered.is_empty() == answer.is_empty(),
            "{sent:?}: {answered:?}"
        );
    }
    assert_eq!(registry.get("/health").await.0, StatusCode::OK);
}

#[tokio::test]
async fn what_is_no_server_is_refused_with_every_mistake() {
    let registry = Running::open().await;
    let (status, document) = registry.publish(&json!({"name": "a", "version": "latest"})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        (document["status"].clone(), document["title"].clone()),
        (json!(422), json!("Unprocessable Entity"))
    );
    assert_eq!(document["detail"], document["error"]);
    let places: Vec<&str> = document["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["location"].as_str().unwrap())
        .collect();
    assert!(places.contains(&"body.name") && places.contains(&"body.version"), "{places:?}");
    for body in ["", "[]", "{", "\u{1}"] {
        assert_eq!(
            registry.ask(Method::POST, "/v0/publish", body).await.0,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{body:?}"
        );
    }
    let large = format!("{{\"name\": \"{}\"}}", "a".repeat(2 << 20));
    assert_eq!(registry.ask(Method::POST, "/v0/publish", &large).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let (status, document) = registry.ask(Method::POST, "/v0/validate", "{").await;
    assert_eq!(
        (status, &document["valid"], &document["issues"][0]["type"]),
        (StatusCode::OK, &json!(false), &json!("json"))
    );
    let (_, document) =
        registry.ask(Method::POST, "/v0.1/validate", &registry.server("a/b", "1.0.0").to_string()).await;
    assert_eq!(document, json!({"valid": true, "issues": []}));
}

/// Whichever form a server has, and whichever prefix it comes by, it is there as it was published by both.
#[tokio::test]
async fn both_forms_are_served_by_both_prefixes() {
    let registry = Running::open().await;
    registry.files.file("/file", "bytes");
    let file = registry.files.url("/file").to_string();
    let location = json!({"type": "url", "url": file});
    let package = json!({"registryType": "mcpb", "identifier": file, "fileSha256": &hash(b"bytes")[7..]});
    let older = json!({"registry_type": "mcpb", "identifier": file, "file_sha256": &hash(b"bytes")[7..]});
    for (at, form) in [
        json!({"package_location": location, "file_hashes": {&file: hash(b"bytes")}}),
        json!({"packages": [package]}),
        json!({"packages": [package], "file_hashes": {&file: hash(b"bytes")}}),
        json!({"packages": [older]}),
    ]
    .into_iter()
    .enumerate()
    {
        for (which, prefix) in ["/v0", "/v0.1"].into_iter().enumerate() {
            let mut server = form.clone();
            server["name"] = json!("a/b");
            server["version"] = json!(format!("1.{at}.{which}"));
            server["description"] = json!("d");
            let (status, answer) =
                registry.ask(Method::POST, &format!("{prefix}/publish"), &server.to_string()).await;
            assert_eq!((status, &answer["server"]), (StatusCode::OK, &server), "{prefix}");
            assert_eq!(answer["_meta"]["hashline/hashes"], json!({"verified": true}));
            for prefix in ["/v0", "/v0.1"] {
                let path = format!("{prefix}/servers/a%2Fb/versions/1.{at}.{which}");
                assert_eq!(registry.get(&path).await, (StatusCode::OK, answer.clone()), "{path}");
                let (_, page) = registry.get(&format!("{prefix}/servers/a%2Fb/versions?limit=1")).await;
                assert_eq!(page["servers"][0], answer, "{prefix}");
            }
        }
    }
}

/// The registry that everybody uses, and the one that is used here, may be named; any other is refused before anything is fetched.
#[tokio::test]
async fn a_package_names_no_registry_but_its_own() {
    let registry = Running::open().await;
    registry.files.npm("a", "1.0.0", b"bytes");
    registry.files.pypi("a", "1.0.0", &[("a-1.0.0.tar.gz", b"bytes")]);
    let here = registry.files.url("").to_string();
    let server = |kind: &str, base: &str| {
        json!({
            "name": "a/b", "version": "1.0.0", "description": "d",
            "packages": [{
                "registryType": kind, "identifier": "a", "version": "1.0.0", "registryBaseUrl": base, "fileSha256": &hash(b"bytes")[7..]
            }]
        })
    };
    for (kind, public) in [("npm", "https://registry.npmjs.org"), ("pypi", "https://pypi.org")] {
        let (status, document) = registry.publish(&server(kind, "https://registry.example")).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        let error = document["error"].as_str().unwrap();
        assert!(error.contains(&format!("that is {public} or the mirror that is used here;")), "{error}");
        // Its address is nothing for strangers.
        assert!(!document.to_string().contains(&here), "{document}");
    }
    assert_eq!(registry.files.requests(), 0);
    for (at, kind, base) in [
        (1, "npm", here.as_str()),
        (2, "npm", "https://registry.npmjs.org"),
        (3, "pypi", &here),
        (4, "pypi", "https://pypi.org"),
    ] {
        let mut server = server(kind, base);
        server["version"] = json!(format!("{at}.0.0"));
        let (status, answer) = registry.publish(&server).await;
        assert_eq!((status, &answer["server"]), (StatusCode::OK, &server), "{answer}");
    }
}

/// Whoever takes an answer very slowly, or not at all, is cut off: a connection is not theirs for ever.
#[tokio::test]
async fn an_answer_that_is_not_taken_is_given_up() {
    for (answer, whole) in [(PATIENCE, true), (Duration::from_secs(1), false)] {
        let limits = RegistryLimits { request: PATIENCE, answer };
        let registry = Running::start_with(Auth::None, local(), limits).await;
        // More than the system takes off the registry's hands.
        for at in 0..16 {
            let server = json!({"name": format!("a/s{at}"), "version": "1.0.0", "description": "d", "more": "x".repeat(1_000_000)});
            let request = registry.client.post(format!("{}/v0/publish", registry.address));
            // It is kept even where its own answer is not taken in time.
            let _ = request.body(server.to_string()).send().await;
        }
        if whole {
            assert_eq!(registry.get("/v0/servers").await.1["metadata"]["count"], 16);
            continue;
        }
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let address = registry.address.strip_prefix("http://").unwrap().parse().unwrap();
        let mut connection = socket.connect(address).await.unwrap();
        let request = "GET /v0/servers HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        connection.write_all(request.as_bytes()).await.unwrap();
        // A byte now and then counts for nothing.
        let mut taken = vec![0; 1];
        connection.read_exact(&mut taken).await.unwrap();
        tokio::time::timeout(PATIENCE, connection.ready(Interest::ERROR)).await.unwrap().unwrap();
        // What is under way already may still be there.
        let _ = connection.read_to_end(&mut taken).await;
        assert!(taken.len() < 16_000_000, "{} bytes", taken.len());
        assert_eq!(registry.get("/health").await.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_version_can_be_deprecated_and_deleted_and_made_active_again() {
    let registry = Running::open().await;
    for version in ["1.0.0", "1.1.0"] {
        registry.publish(&registry.server("a/b", version)).await;
    }
    let path = "/v0/servers/a%2Fb/versions/1.1.0/status";
    let (status, answer) =
        registry.ask(Method::PATCH, path, r#"{"status":"deleted","statusMessage":"broken"}"#).await;
    assert_eq!(status, StatusCode::OK);
    let official = &answer["_meta"]["io.modelcontextprotocol.registry/official"];
    assert_eq!((&official["status"], &official["statusMessage"]), (&json!("deleted"), &json!("broken")));
    assert_eq!(registry.get("/v0/servers/a%2Fb/versions/1.1.0").await.0, StatusCode::NOT_FOUND);
    assert_eq!(registry.get("/v0/servers/a%2Fb/versions/1.1.0?include_deleted=true").await.0, StatusCode::OK);
    assert_eq!(registry.get("/v0/servers/a%2Fb/versions/latest").await.1["server"]["version"], "1.0.0");
    // A deleted version is not free for another one.
    assert_eq!(registry.publish(&registry.server("a/b", "1.1.0")).await.0, StatusCode::CONFLICT);
    let all = registry.ask(Method::PATCH, "/v0.1/servers/a%2Fb/status", r#"{"status":"deprecated"}"#).await;
    assert_eq!(all, (StatusCode::OK, json!({"updatedCount": 2})));
    assert_eq!(
        registry.ask(Method::PATCH, path, r#"{"status":"gone"}"#).await.0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert_eq!(
        registry.ask(Method::PATCH, "/v0/servers/x%2Fy/status", r#"{"status":"active"}"#).await.0,
        StatusCode::NOT_FOUND
    );
}

/// "Concurrent validations": they are bounded, those beyond are told to come again, and readers wait for none of them.
#[tokio::test(flavor = "multi_thread")]
async fn spec_concurrent_validations() {
    let registry = Running::open().await;
    registry.files.on("/silence", [Answer::Silence(Vec::new())]);
    let url = registry.files.url("/silence").to_string();
    let mut publishing: tokio::task::JoinSet<_> = (0..80)
        .map(|at| {
            let server = json!({
                "name": format!("a/s{at}"), "version": "1.0.0", "description": "d",
                "package_location": {"type": "url", "url": url}, "file_hashes": {&url: hash(b"")}
            });
            let request =
                registry.client.post(format!("{}/v0/publish", registry.address)).body(server.to_string());
            async move {
                let response = request.send().await.unwrap();
                (response.status(), response.headers().contains_key("retry-after"))
            }
        })
        .collect();
    // Eight are looked at and 56 wait for it; the others are told so at once.
    for _ in 0..16 {
        assert_eq!(publishing.join_next().await.unwrap().unwrap(), (StatusCode::TOO_MANY_REQUESTS, true));
    }
    assert_eq!(registry.get("/health").await, (StatusCode::OK, json!({"status": "ok"})));
    assert_eq!(registry.get("/v0/servers").await.1["metadata"]["count"], 0);
    assert!(registry.files.asked("/silence") <= 8);
    // Whoever hangs up makes room.
    drop(publishing);
    let begun = std::time::Instant::now();
    while registry.publish(&registry.server("a/b", "1.0.0")).await.0 != StatusCode::OK {
        assert!(begun.elapsed() < Duration::from_secs(4), "it waits for the files of those who are gone");
    }
}

#[tokio::test]
async fn a_registry_ends_when_what_has_begun_is_answered() {
    let mut registry = Running::open().await;
    let server = registry.server("a/b", "1.0.0");
    registry.files.on("/file", [Answer::Status(503, "Retry-After: 1\r\n"), Answer::File(b"bytes".to_vec())]);
    let request = registry.client.post(format!("{}/v0/publish", registry.address)).body(server.to_string());
    let publishing = tokio::spawn(async move { request.send().await.unwrap().status() });
    let begun = std::time::Instant::now();
    while registry.files.asked("/file") == 0 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::task::yield_now().await;
    }
    registry.stop.take().unwrap().send(()).unwrap();
    assert_eq!(publishing.await.unwrap(), StatusCode::OK);
    registry.serving.await.unwrap();
}
