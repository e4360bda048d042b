//! What indexes of packages and registries of images say, and how much of it is believed.

use std::collections::BTreeMap;

use hashline_package::{FetchError, FileHash, HashError, HashStatus};
use serde_json::{Value, json};

use crate::file_server::{Answer, FileServer};
use crate::hashes::{hash, made, verified};

/// Mirrors often know no more than all files of a project: those of the release are found by their names.
#[tokio::test]
async fn an_index_of_whole_projects_is_enough() {
    let server = FileServer::start().await;
    let file = |name: &str, bytes: &[u8], yanked: Value| {
        server.file(&format!("/files/{name}"), bytes);
        let hashes = json!({"sha256": FileHash::of(bytes).unwrap().hex()});
        json!({"filename": name, "url": format!("../../files/{name}"), "hashes": hashes, "yanked": yanked})
    };
    let files = [
        file("foo_bar-1.0.tar.gz", b"sdist", json!(false)),
        file("foo_bar-1.0-py3-none-any.whl", b"wheel", json!("a mistake")),
        file("foo_bar-1.1-py3-none-any.whl", b"later", json!(false)),
    ];
    server.file("/simple/foo-bar/", json!({"meta": {"api-version": "1.1"}, "files": files}).to_string());
    let value = |name: &str| json!({"package_location": {"type": "pypi", "package_name": name}});
    let expected = BTreeMap::from([
        ("pypi:Foo.Bar==1.0/foo_bar-1.0-py3-none-any.whl".to_owned(), hash(b"wheel")),
        ("pypi:Foo.Bar==1.0/foo_bar-1.0.tar.gz".to_owned(), hash(b"sdist")),
    ]);
    assert_eq!(made(&server, value("Foo.Bar==1.0")).await.unwrap(), expected);
    let expected = BTreeMap::from([("pypi:foo-bar==1.1".to_owned(), hash(b"later"))]);
    assert_eq!(made(&server, value("foo-bar==1.1")).await.unwrap(), expected);
    assert!(
        server.headers_of("/simple/foo-bar/").contains("accept: application/vnd.pypi.simple.v1+json\r\n")
    );
    for (name, words) in
        [("foo-bar==2.0", "has no files of 2.0"), ("missing==1.0", "/pypi/missing/1.0/json answered 404")]
    {
        let error = made(&server, value(name)).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // What its index disowns is not hashed, whichever index it is.
    server.file("/files/foo_bar-1.1-py3-none-any.whl", "tampered");
    let error = made(&server, value("foo-bar==1.1")).await.unwrap_err();
    assert!(matches!(error, HashError::IndexMismatch { .. }), "{error}");
    // An index that fails otherwise is not passed over.
    server.on("/pypi/foo-bar/1.0/json", [Answer::Status(403, "")]);
    let error = made(&server, value("foo-bar==1.0")).await.unwrap_err().to_string();
    assert!(error.contains("answered 403"), "{error}");
}

/// An index may know no hash of a file, or only such as are not read here: then its bytes alone tell.
#[tokio::test]
async fn an_index_without_hashes_is_enough() {
    let server = FileServer::start().await;
    server.file("/files/a-1.0.tar.gz", "a");
    server.file("/files/b-1.0.tar.gz", "b");
    let url = |name: &str| server.url(&format!("/files/{name}-1.0.tar.gz"));
    let of =
        |name: &str| json!({"package_location": {"type": "pypi", "package_name": format!("{name}==1.0")}});
    let release = json!({"urls": [{"filename": "a-1.0.tar.gz", "url": url("a"), "digests": {"md5": "x", "sha256": null}}]});
    server.file("/pypi/a/1.0/json", release.to_string());
    for hashes in [json!({}), json!({"blake2b_256": "x"}), Value::Null] {
        let mut file = json!({"filename": "b-1.0.tar.gz", "url": url("b"), "hashes": hashes});
        if hashes.is_null() {
            file.as_object_mut().unwrap().remove("hashes");
        }
        server.file("/simple/b/", json!({"files": [file]}).to_string());
        for (name, bytes) in [("a", b"a"), ("b", b"b")] {
            let key = format!("pypi:{name}==1.0");
            assert_eq!(made(&server, of(name)).await.unwrap(), BTreeMap::from([(key.clone(), hash(bytes))]));
            let mut with = of(name);
            with["file_hashes"] = json!({&key: hash(bytes)});
            assert!(verified(&server, &with).await.is_ok());
            with["file_hashes"] = json!({&key: hash(b"other")});
            let failures = verified(&server, &with).await.unwrap_err();
            assert_eq!(failures.0[&key].status, HashStatus::Mismatch);
        }
    }
}

/// An index that names a file as no file can be called is not believed.
#[tokio::test]
async fn an_index_cannot_name_a_file_as_it_likes() {
    let server = FileServer::start().await;
    for file in ["../a-1.0.tar.gz", "a-1.0.tar.gz\u{1b}[2J", "a\\b-1.0.tar.gz", "a%2fb-1.0.tar.gz"] {
        let file = json!({"filename": file, "url": server.url("/file"), "digests": {}});
        server.file("/pypi/a/1.0/json", json!({"urls": [file]}).to_string());
        let error =
            made(&server, json!({"package_location": {"type": "pypi", "package_name": "a==1.0"}})).await;
        assert!(matches!(error, Err(HashError::Fetch(FetchError::Index { .. }))), "{file}: {error:?}");
    }
    assert_eq!(server.asked("/file"), 0);
}

/// An image is its manifest. Registries give everybody a token for reading what is public, and want to see it.
#[tokio::test]
async fn an_image_is_called_by_the_hash_of_its_manifest() {
    let server = FileServer::start().await;
    let path = "/docker/v2/a/b/manifests/1.0.0";
    let realm = server.url("/token");
    server.guarded(
        path,
        &format!("Bearer realm=\"{realm}\",service=\"registry\",scope=\"x\""),
        "secret",
        "manifest",
    );
    server.file("/token", r#"{"token": "secret"}"#);
    let value = |identifier: &str| json!({"packages": [{"registryType": "oci", "identifier": identifier}]});
    let expected = BTreeMap::from([("oci:docker.io/a/b:1.0.0".to_owned(), hash(b"manifest"))]);
    assert_eq!(made(&server, value("a/b:1.0.0")).await.unwrap(), expected);
    let headers = server.headers_of(path);
    assert!(headers.contains("accept: application/vnd.oci.image.index.v1+json, "), "{headers}");
    assert_eq!(server.query_of("/token"), "service=registry&scope=repository%3Aa%2Fb%3Apull");
    // A token is for its registry alone.
    assert!(!server.headers_of("/token").contains("authorization"));

    // A digest in the name is what the manifest has to have.
    let digest = hash(b"manifest");
    let named = format!("/docker/v2/a/b/manifests/{digest}");
    server.file(&named, "manifest");
    let expected = BTreeMap::from([(format!("oci:docker.io/a/b@{digest}"), digest.clone())]);
    assert_eq!(made(&server, value(&format!("docker.io/a/b:1.0.0@{digest}"))).await.unwrap(), expected);
    server.file(&named, "another");
    let error = made(&server, value(&format!("a/b@{digest}"))).await.unwrap_err();
    assert!(matches!(error, HashError::IndexMismatch { .. }), "{error}");

    // A tag that was given to another image is a mismatch.
    let mut with = value("a/b:1.0.0");
    with["file_hashes"] = json!({"oci:docker.io/a/b:1.0.0": hash(b"another")});
    let failures = verified(&server, &with).await.unwrap_err();
    assert_eq!(failures.0["oci:docker.io/a/b:1.0.0"].status, HashStatus::Mismatch);

    // Whoever asks for something else than a token, or gives none, is told of.
    for (challenge, words) in [
        ("Basic realm=\"x\"", "answered 401"),
        ("Bearer realm=\"nonsense\"", "answered 401"),
        ("Bearer realm=\"ftp://127.0.0.1/token\"", "no way to fetch a file"),
        (&format!("Bearer realm=\"{}\"", server.url("/nobody")), "answered 404"),
    ] {
        server.guarded(path, challenge, "other", "manifest");
        let error = made(&server, value("a/b:1.0.0")).await.unwrap_err().to_string();
        assert!(error.contains(words), "{challenge}: {error}");
    }
}

/// Where a registry passes a request on, a token that somebody else asks for on the way is not sent to the registry, nor is the
/// registry's own sent to anybody else.
#[tokio::test]
async fn a_token_is_for_the_registry_that_asked_for_it() {
    let [server, elsewhere] = [FileServer::start().await, FileServer::start().await];
    let path = "/docker/v2/a/b/manifests/1.0.0";
    let value = json!({"packages": [{"registryType": "oci", "identifier": "a/b:1.0.0"}]});
    let challenge = |of: &FileServer| format!("Bearer realm=\"{}\"", of.url("/token"));
    elsewhere.file("/token", r#"{"token": "of-elsewhere"}"#);
    elsewhere.guarded("/manifest", &challenge(&elsewhere), "of-elsewhere", "manifest");
    server.on(path, [Answer::Redirect(elsewhere.url("/manifest").into())]);
    let error = made(&server, value.clone()).await.unwrap_err().to_string();
    assert!(error.contains("/manifest answered 401"), "{error}");
    assert_eq!((server.asked(path), elsewhere.asked("/token")), (1, 0));

    elsewhere.file("/manifest", "manifest");
    server.file("/token", r#"{"token": "secret"}"#);
    let guarded =
        Answer::Guarded { challenge: challenge(&server), token: "secret".into(), bytes: Vec::new() };
    server.on(path, [guarded, Answer::Redirect(elsewhere.url("/manifest").into())]);
    assert_eq!(made(&server, value).await.unwrap()["oci:docker.io/a/b:1.0.0"], hash(b"manifest"));
    assert!(server.headers_of(path).contains("authorization: bearer secret\r\n"));
    assert!(!elsewhere.headers_of("/manifest").contains("authorization"));
}

/// The address of tokens is one that a stranger names: it is fetched by the rules of all others, and so is what it redirects to.
#[tokio::test]
async fn a_token_is_fetched_by_the_rules_of_all_files() {
    let server = FileServer::start().await;
    let path = "/docker/v2/a/b/manifests/1.0.0";
    let value = json!({"packages": [{"registryType": "oci", "identifier": "a/b:1.0.0"}]});
    for (realm, words) in [
        ("http://user:secret@127.0.0.1/token".to_owned(), "user's name or password"),
        ("file:///etc/passwd".to_owned(), "no way to fetch a file"),
        (server.url("/elsewhere").to_string(), "no way to fetch a file"),
    ] {
        server.on("/elsewhere", [Answer::Redirect("ftp://127.0.0.1/token".into())]);
        server.guarded(path, &format!("Bearer realm=\"{realm}\""), "secret", "manifest");
        let error = made(&server, value.clone()).await.unwrap_err().to_string();
        assert!(error.contains(words), "{realm}: {error}");
    }
    // Some give it twice, for older clients and for newer ones.
    server.guarded(path, &format!("Bearer realm=\"{}\"", server.url("/token")), "secret", "manifest");
    server.file("/token", r#"{"token": "secret", "access_token": "secret", "expires_in": 300}"#);
    assert_eq!(made(&server, value.clone()).await.unwrap()["oci:docker.io/a/b:1.0.0"], hash(b"manifest"));
    server.file("/token", r#"{"access_token": "secret"}"#);
    assert!(made(&server, value.clone()).await.is_ok());
    server.file("/token", "{}");
    let error = made(&server, value).await.unwrap_err().to_string();
    assert!(error.contains("gives no token"), "{error}");
}
