//! Hashes are made from the files themselves, and compared with them: "Hash Generation Process" and "Validation Process".

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hashline_package::{
    Agreement, CRATES, CRATES_INDEX, FileHash, GO, HashError, HashFailures, HashStatus, Hasher, Identifier,
    Limits, NUGET, ServerJson, Sources, Watch,
};
use serde_json::{Value, json};
use url::Url;

use crate::fetch::local;
use crate::file_server::{Answer, FileServer};

/// Everything is where the server of files has it.
pub fn sources(server: &FileServer) -> Sources {
    let [crates_index, crates, nuget, go] =
        [CRATES_INDEX, CRATES, NUGET, GO].map(|text| Url::parse(text).unwrap());
    assert!([&crates_index, &crates, &nuget, &go].iter().all(|url| url.scheme() == "https"));
    Sources {
        npm: server.url(""),
        pypi: server.url(""),
        github: server.url("/github"),
        crates_index: server.url("/index"),
        crates: server.url("/crates"),
        nuget: server.url("/nuget"),
        go: server.url("/go"),
        docker: server.url("/docker"),
    }
}

fn hasher(server: &FileServer) -> Hasher {
    hasher_within(server, Limits { retries: 1, ..local() })
}

fn hasher_within(server: &FileServer, limits: Limits) -> Hasher {
    Hasher::new(hashline_package::Fetcher::new(limits).unwrap(), sources(server))
}

fn parsed(value: &Value) -> ServerJson {
    ServerJson::parse(value.to_string().as_bytes()).unwrap()
}

pub async fn made(server: &FileServer, value: Value) -> Result<BTreeMap<String, String>, HashError> {
    let (packages, issues) = parsed(&value).packages(&sources(server));
    assert_eq!(issues, []);
    let hashes = hasher(server).hash_all(&packages, &()).await?;
    Ok(hashes.iter().map(|(file, hash)| (file.to_string(), hash.to_string())).collect())
}

pub async fn verified(server: &FileServer, value: &Value) -> Result<Agreement, HashFailures> {
    let value = parsed(value);
    hasher(server).verify(&value, &value.packages(&sources(server)).0, &()).await
}

pub fn hash(bytes: &[u8]) -> String {
    FileHash::of(bytes).unwrap().to_string()
}

/// "Identify Package Files", "Compute Hashes" and "Various package types".
#[tokio::test]
async fn spec_identify_package_files() {
    let server = FileServer::start().await;
    server.npm("@a/b", "1.0.0", b"npm");
    server.pypi("foo-bar", "1.0", &[("foo_bar-1.0.tar.gz", b"pypi")]);
    server.file("/github/o/r/releases/download/v1/f.zip", "github");
    server.file("/docker/v2/library/demo/manifests/1.0.0", "manifest");
    server.on("/plain", [Answer::Redirect("/moved".into())]);
    server.file("/moved", "url");
    let line = json!({"name": "Demo", "vers": "1.0.0", "cksum": FileHash::of(&b"crate"[..]).unwrap().hex()});
    server.file(
        "/index/de/mo/demo",
        format!("{{\"name\":\"Demo\",\"vers\":\"0.9.0\",\"cksum\":\"\"}}\n{line}\n"),
    );
    server.file("/crates/Demo/Demo-1.0.0.crate", "crate");
    server.file("/nuget/demo/1.0.0/demo.1.0.0.nupkg", "nuget");
    server.file("/go/example.com/!demo/@v/v1.0.0.zip", "go");
    let plain = server.url("/plain");
    for (value, file, bytes) in [
        (json!({"package_location": {"type": "npm", "package_name": "@a/b@1.0.0"}}), "npm:@a/b@1.0.0", "npm"),
        (
            json!({"package_location": {"type": "pypi", "package_name": "Foo.Bar==1.0"}}),
            "pypi:Foo.Bar==1.0",
            "pypi",
        ),
        (
            json!({"package_location": {"type": "github", "package_name": "o/r/v1/f.zip"}}),
            "github:o/r/v1/f.zip",
            "github",
        ),
        // The key is the address as it was given, wherever that leads.
        (json!({"package_location": {"type": "url", "url": plain}}), plain.as_str(), "url"),
        (
            json!({"packages": [{"registryType": "cargo", "identifier": "Demo", "version": "1.0.0"}]}),
            "cargo:Demo@1.0.0",
            "crate",
        ),
        (
            json!({"packages": [{"registryType": "nuget", "identifier": "Demo", "version": "1.0.0"}]}),
            "nuget:Demo@1.0.0",
            "nuget",
        ),
        (
            json!({"packages": [{"registryType": "go", "identifier": "example.com/Demo", "version": "1.0.0"}]}),
            "go:example.com/Demo@v1.0.0",
            "go",
        ),
        (
            json!({"packages": [{"registryType": "oci", "identifier": "demo", "version": "1.0.0"}]}),
            "oci:docker.io/library/demo:1.0.0",
            "manifest",
        ),
    ] {
        let expected = BTreeMap::from([(file.to_owned(), hash(bytes.as_bytes()))]);
        assert_eq!(made(&server, value.clone()).await.unwrap(), expected, "{value}");
    }
}

/// "What about multiple files per package?", "Handle multiple files if needed (e.g., wheels for different platforms)": each file has an entry of its own.
#[tokio::test]
async fn spec_what_about_multiple_files_per_package() {
    let server = FileServer::start().await;
    server.pypi(
        "foo",
        "1.0",
        &[
            ("foo-1.0.tar.gz", b"sdist"),
            ("foo-1.0-cp313-linux.whl", b"linux"),
            ("foo-1.0-cp313-mac.whl", b"mac"),
        ],
    );
    let value = json!({"package_location": {"type": "pypi", "package_name": "foo==1.0"}});
    let expected = json!({
        "pypi:foo==1.0/foo-1.0-cp313-linux.whl": hash(b"linux"),
        "pypi:foo==1.0/foo-1.0-cp313-mac.whl": hash(b"mac"),
        "pypi:foo==1.0/foo-1.0.tar.gz": hash(b"sdist"),
    });
    assert_eq!(json!(made(&server, value.clone()).await.unwrap()), expected);
    let mut with = value.clone();
    with["file_hashes"] = expected;
    let asked = server.requests();
    let agreement = verified(&server, &with).await.unwrap();
    assert_eq!((agreement.hashes.len(), agreement.of_all_files), (3, true));
    // What the release has is asked for once.
    assert_eq!(server.requests() - asked, 1 + 3);
    // A hash of one file says nothing of the others.
    with["file_hashes"] = json!({"pypi:foo==1.0/foo-1.0.tar.gz": hash(b"sdist")});
    let agreement = verified(&server, &with).await.unwrap();
    assert_eq!((agreement.hashes.len(), agreement.of_all_files), (1, false));
    with["file_hashes"] = json!({"pypi:foo==1.0/another.tar.gz": hash(b"sdist")});
    let failures = verified(&server, &with).await.unwrap_err();
    let failure = &failures.0["pypi:foo==1.0/another.tar.gz"];
    assert_eq!(failure.status, HashStatus::UnknownIdentifier);
    assert!(failure.words.contains("no file that is called"), "{}", failure.words);
    // Which of the three is meant cannot be told.
    with["file_hashes"] = json!({"pypi:foo==1.0": hash(b"sdist")});
    let failures = verified(&server, &with).await.unwrap_err();
    let failure = &failures.0["pypi:foo==1.0"];
    assert_eq!(failure.status, HashStatus::UnknownIdentifier);
    assert!(
        failure.words.contains("has 3 files; name one of them, as in pypi:foo==1.0/foo-1.0"),
        "{}",
        failure.words
    );

    server.file("/a", "a");
    server.file("/b", "b");
    let urls = json!({"package_location": {"type": "url", "urls": [server.url("/a"), server.url("/b")]}});
    assert_eq!(made(&server, urls).await.unwrap().len(), 2);
}

/// "Error Responses": the document, to the letter, with the files that fail and no others.
#[tokio::test]
async fn spec_error_responses() {
    let server = FileServer::start().await;
    server.npm("@example/server", "1.0.0", b"new");
    server.file("/good", "good");
    let good = server.url("/good");
    let value = json!({
        "version": "1.0.0",
        "package_location": {"type": "npm", "package_name": "@example/server"},
        "packages": [{"registryType": "mcpb", "identifier": good}],
        "file_hashes": {"npm:@example/server@1.0.0": hash(b"old"), good.as_str(): hash(b"good")},
    });
    let failures = verified(&server, &value).await.unwrap_err();
    assert_eq!(
        json!(failures),
        json!({
            "error": "Hash validation failed",
            "details": {
                "npm:@example/server@1.0.0": {
                    "expected": hash(b"old"),
                    "actual": hash(b"new"),
                    "status": "mismatch"
                }
            }
        })
    );
    assert!(!failures.only_unfetched());
    assert!(failures.0["npm:@example/server@1.0.0"].words.contains("published as a new version"));
}

/// "Error handling", where files are compared.
#[tokio::test]
async fn each_way_to_fail_has_a_status() {
    let server = FileServer::start().await;
    server.file("/a", "a");
    server.file("/large", vec![0; 2000]);
    server.npm_with(
        "lied",
        "1.0.0",
        b"bytes",
        "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==",
    );
    server.file("/broken/1.0.0", "{}");
    server.on("/inside", [Answer::Redirect("ftp://127.0.0.1/a".into())]);
    let a = server.url("/a").to_string();
    for (key, declared, expected, status, actual) in [
        (a.clone(), &a, hash(b"b"), "mismatch", Some(hash(b"a"))),
        (server.url("/gone").to_string(), &server.url("/gone").to_string(), hash(b"a"), "unreachable", None),
        (server.url("/large").to_string(), &server.url("/large").to_string(), hash(b"a"), "too_large", None),
        (server.url("/inside").to_string(), &server.url("/inside").to_string(), hash(b"a"), "refused", None),
        (a.clone(), &a, "sha256:abc".into(), "invalid_hash", None),
        (a.clone(), &a, "sha512:00".into(), "invalid_hash", None),
        (a.clone(), &a, hash(b"a").to_uppercase(), "invalid_hash", None),
        (server.url("/b").to_string(), &a, hash(b"a"), "unknown_identifier", None),
        ("npm:left-pad@1.0.0".into(), &a, hash(b"a"), "unknown_identifier", None),
        ("nonsense".into(), &a, hash(b"a"), "unknown_identifier", None),
    ] {
        let value =
            json!({"package_location": {"type": "url", "url": declared}, "file_hashes": {&key: expected}});
        let value = parsed(&value);
        let hasher = hasher_within(&server, Limits { max_bytes: 1000, retries: 0, ..local() });
        let failures = hasher.verify(&value, &value.packages(&sources(&server)).0, &()).await.unwrap_err();
        assert_eq!(
            json!(failures)["details"],
            json!({&key: {"expected": expected, "actual": actual, "status": status}})
        );
        assert_eq!(
            failures.only_unfetched(),
            matches!(status, "unreachable" | "too_large" | "refused"),
            "{status}"
        );
    }
    for (name, status) in [("lied", "index_mismatch"), ("broken", "unreachable"), ("missing", "unreachable")]
    {
        let key = format!("npm:{name}@1.0.0");
        let value = json!({
            "package_location": {"type": "npm", "package_name": format!("{name}@1.0.0")}, "file_hashes": {&key: hash(b"bytes")}
        });
        assert_eq!(
            json!(verified(&server, &value).await.unwrap_err())["details"][&key]["status"],
            status,
            "{name}"
        );
    }
}

/// Nothing is vouched for that its own index disowns.
#[tokio::test]
async fn a_file_that_its_index_disowns_is_not_hashed() {
    let server = FileServer::start().await;
    server.npm_with(
        "npm",
        "1.0.0",
        b"tampered",
        "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==",
    );
    server.pypi("pypi", "1.0", &[("pypi-1.0.tar.gz", b"published")]);
    server.file("/files/pypi-1.0.tar.gz", "tampered");
    let line =
        json!({"name": "demo", "vers": "1.0.0", "cksum": FileHash::of(&b"published"[..]).unwrap().hex()});
    server.file("/index/de/mo/demo", line.to_string());
    server.file("/crates/demo/demo-1.0.0.crate", "tampered");
    for value in [
        json!({"package_location": {"type": "npm", "package_name": "npm@1.0.0"}}),
        json!({"package_location": {"type": "pypi", "package_name": "pypi==1.0"}}),
        json!({"packages": [{"registryType": "cargo", "identifier": "demo", "version": "1.0.0"}]}),
    ] {
        let error = made(&server, value.clone()).await.unwrap_err();
        assert!(
            matches!(error, HashError::IndexMismatch { .. }) && error.to_string().contains("do not use it"),
            "{value}: {error}"
        );
    }
}

/// Where two hashes differ, people are told both, and where each is from.
#[tokio::test]
async fn hashes_that_differ_are_told_with_their_sources() {
    let server = FileServer::start().await;
    server.file("/a", "now");
    let url = server.url("/a").to_string();
    let hex = |bytes: &[u8]| FileHash::of(bytes).unwrap().hex();
    let by_location =
        json!({"package_location": {"type": "url", "url": &url}, "file_hashes": {&url: hash(b"then")}});
    let by_package =
        json!({"packages": [{"registryType": "mcpb", "identifier": &url, "fileSha256": hex(b"then")}]});
    let by_both = json!({
        "packages": [{"registryType": "mcpb", "identifier": &url, "fileSha256": hex(b"then")}], "file_hashes": {&url: hash(b"now")}
    });
    for (value, expected, actual) in [
        (&by_location, format!("{} (file_hashes)", hash(b"then")), format!("{} ({url})", hash(b"now"))),
        (
            &by_package,
            format!("{} (packages[0].fileSha256)", hash(b"then")),
            format!("{} ({url})", hash(b"now")),
        ),
        (
            &by_both,
            format!("{} (packages[0].fileSha256)", hash(b"then")),
            format!("{} (file_hashes)", hash(b"now")),
        ),
    ] {
        let parsed = parsed(value);
        let (packages, _) = parsed.packages(&sources(&server));
        let hashes = hasher(&server).hash_all(&packages, &()).await.unwrap();
        for failures in
            [verified(&server, value).await.unwrap_err(), hashes.agree_with(&parsed, &packages).unwrap_err()]
        {
            let words = &failures.0[&url].words;
            assert!(words.contains(&expected) && words.contains(&actual), "{words}");
        }
    }
    // An index has hashes of its own kind.
    let integrity =
        "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==";
    server.npm_with("npm", "1.0.0", b"tampered", integrity);
    server.pypi("pypi", "1.0", &[("pypi-1.0.tar.gz", b"published")]);
    server.file("/files/pypi-1.0.tar.gz", "tampered");
    let tarball = server.url("/npm/-/archive-1.0.0.tgz");
    let tampered =
        "sha512-cuAwXT/PythKA+fBkD6RIWKVBJHm0MfQ4jagTBgAgVVCy3Y8miUa0BwcTXLWq6npJgXi7Ze0Y/a5CNpY2Mt4cA==";
    for (value, expected, actual) in [
        (
            json!({"package_location": {"type": "npm", "package_name": "npm@1.0.0"}}),
            format!("{integrity} ({})", server.url("/npm/1.0.0")),
            format!("{tampered} ({tarball})"),
        ),
        (
            json!({"package_location": {"type": "pypi", "package_name": "pypi==1.0"}}),
            format!("{} ({})", hash(b"published"), server.url("/pypi/pypi/1.0/json")),
            format!("{} ({})", hash(b"tampered"), server.url("/files/pypi-1.0.tar.gz")),
        ),
    ] {
        let error = made(&server, value).await.unwrap_err().to_string();
        assert!(error.contains(&expected) && error.contains(&actual), "{error}");
    }
}

#[tokio::test]
async fn both_forms_of_hashes_have_to_agree() {
    let server = FileServer::start().await;
    server.npm("a", "1.0.0", b"a");
    let hex = |bytes: &[u8]| FileHash::of(bytes).unwrap().hex();
    let value = |sha256: String, hashes: Value| {
        json!({
            "packages": [{"registryType": "npm", "identifier": "a", "version": "1.0.0", "fileSha256": sha256}],
            "file_hashes": hashes
        })
    };
    let key = "npm:a@1.0.0";
    for hashes in [json!({}), json!({key: hash(b"a")})] {
        assert_eq!(verified(&server, &value(hex(b"a"), hashes)).await.unwrap().hashes.len(), 1);
    }
    for (sha256, hashes, status) in [
        (hex(b"b"), json!({}), HashStatus::Mismatch),
        ("ABC".into(), json!({}), HashStatus::InvalidHash),
        (hex(b"b"), json!({key: hash(b"a")}), HashStatus::InvalidHash),
        (hex(b"a"), json!({key: hash(b"b")}), HashStatus::InvalidHash),
    ] {
        let failures = verified(&server, &value(sha256, hashes)).await.unwrap_err();
        assert_eq!(failures.0[key].status, status, "{failures:?}");
    }
}

/// The limits are those of all that is fetched for one server: of several files, of indexes, of attempts that failed.
#[tokio::test]
async fn limits_hold_for_a_server_as_a_whole() {
    let server = FileServer::start().await;
    let urls: Vec<Url> = (0..6).map(|at| server.url(&format!("/{at}"))).collect();
    let value = parsed(&json!({"package_location": {"type": "url", "urls": urls}}));
    let (packages, _) = value.packages(&sources(&server));
    let error =
        async |limits| hasher_within(&server, limits).hash_all(&packages, &()).await.unwrap_err().to_string();
    let large = Limits { max_bytes: 1000, retries: 9, ..local() };
    for url in &urls {
        server.file(url.path(), vec![0; 900]);
    }
    assert!(error(large.clone()).await.contains("more than 4000 bytes together"));
    // Attempts that broke off have brought bytes, too.
    for url in &urls {
        server.on(url.path(), [Answer::CutOff(900, vec![0; 800])]);
    }
    assert!(error(large.clone()).await.contains("4 times what HASHLINE_FETCH_MAX_BYTES allows"));
    for url in &urls {
        server.on(url.path(), [Answer::Drip]);
    }
    // Four at once, and then the others.
    let slow = Limits { total: Duration::from_secs(1), ..local() };
    let begun = Instant::now();
    assert!(error(slow).await.contains("HASHLINE_FETCH_TIMEOUT_S allows"));
    assert!(begun.elapsed() < Duration::from_secs(30));

    // What indexes say counts as well. They are asked one after the other, and none of them takes nearly as long as one file may.
    let packages: Vec<Value> = (0..9)
        .map(|at| json!({"registryType": "npm", "identifier": format!("slow{at}"), "version": "1.0.0"}))
        .collect();
    for at in 0..9 {
        let dist = json!({"dist": {"tarball": server.url("/file")}}).to_string();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{dist}", dist.len());
        server.on(&format!("/slow{at}/1.0.0"), [Answer::Late(Duration::from_millis(900), head.into_bytes())]);
    }
    let value = parsed(&json!({"packages": packages}));
    let begun = Instant::now();
    let error = hasher_within(&server, Limits { total: Duration::from_secs(3), ..local() })
        .hash_all(&value.packages(&sources(&server)).0, &())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("longer than 6 s together, 2 times what HASHLINE_FETCH_TIMEOUT_S allows"),
        "{error}"
    );
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// "What if package files are updated after publishing?": the hash stays that of the file as it was published.
#[tokio::test]
async fn spec_what_if_package_files_are_updated_after_publishing() {
    let server = FileServer::start().await;
    server.on("/a", [Answer::File(b"first".to_vec()), Answer::File(b"second".to_vec())]);
    let mut value = json!({"package_location": {"type": "url", "url": server.url("/a")}});
    value["file_hashes"] = json!(made(&server, value.clone()).await.unwrap());
    let failures = verified(&server, &value).await.unwrap_err();
    let failure = &failures.0[server.url("/a").as_str()];
    assert_eq!((failure.status, failure.actual.clone()), (HashStatus::Mismatch, Some(hash(b"second"))));
}

#[tokio::test]
async fn files_are_told_of_as_they_come_and_named_in_order() {
    struct Told(Mutex<Vec<String>>);
    impl Watch for Told {
        fn fetched(&self, _: &Identifier, _: u64, _: Option<u64>) {}
        fn hashed(&self, file: &Identifier, _: &FileHash) {
            self.0.lock().unwrap().push(file.to_string());
        }
    }
    let server = FileServer::start().await;
    let urls: Vec<Url> = (0..10).map(|at| server.url(&format!("/{at}"))).collect();
    for (at, url) in urls.iter().enumerate() {
        // The first ones take longest.
        server.on(url.path(), [Answer::Status(503, ""), Answer::Large((10 - at as u64) << 16)]);
    }
    let value = parsed(&json!({"package_location": {"type": "url", "urls": urls}}));
    let told = Told(Mutex::default());
    let hashes = hasher(&server).hash_all(&value.packages(&sources(&server)).0, &told).await.unwrap();
    let names = |files: Vec<String>| files.into_iter().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(
        hashes.iter().map(|(file, _)| file.to_string()).collect::<Vec<_>>(),
        urls.iter().map(Url::to_string).collect::<Vec<_>>()
    );
    assert_eq!(names(told.0.into_inner().unwrap()), names(urls.iter().map(Url::to_string).collect()));
}
