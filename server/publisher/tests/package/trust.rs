//! "Network Security": whom downloads trust, and through whom they go.

use std::sync::Arc;

use serde_json::json;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::file_server::{Answer, FileServer};
use crate::program::{Person, Registry, hash, run};

/// The server of files behind TLS: its port, and the certificate that it shows.
async fn behind_tls(files: &FileServer) -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, behind) = (listener.local_addr().unwrap().port(), files.port);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // Whoever does not trust the certificate goes.
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut files = tokio::net::TcpStream::connect(("127.0.0.1", behind)).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut files).await;
            });
        }
    });
    (port, made.cert.pem())
}

/// "Always download over HTTPS", "Validate SSL certificates".
#[tokio::test(flavor = "multi_thread")]
async fn spec_validate_ssl_certificates() {
    let files = FileServer::start().await;
    let (port, certificate) = behind_tls(&files).await;
    files.file("/a", "bytes");
    files.on("/down", [Answer::Redirect(files.url("/a").to_string())]);
    let person = Person::of(&files);
    let trusted = person.folder.path().join("trusted.pem");
    std::fs::write(&trusted, certificate).unwrap();
    let hash_gen = async |path: &str, trusts: bool| {
        person.write(
            &json!({"package_location": {"type": "url", "url": format!("https://localhost:{port}{path}")}}),
        );
        let mut command = person.publisher(&["hash-gen"]);
        command.env("HASHLINE_FETCH_HTTPS_ONLY", "true");
        if trusts {
            command.env("SSL_CERT_FILE", &trusted).env_remove("SSL_CERT_DIR");
        }
        run(command).await
    };
    let stranger = hash_gen("/a", false).await;
    assert!(stranger.code == 3 && stranger.err.contains("certificate"), "{stranger:?}");
    assert_eq!(files.requests(), 0);
    let known = hash_gen("/a", true).await;
    assert_eq!(
        (known.code, known.json()),
        (0, json!({"file_hashes": {format!("https://localhost:{port}/a"): hash(b"bytes")}}))
    );
    // A redirection to http is not followed.
    let down = hash_gen("/down", true).await;
    assert!(down.code == 3 && down.err.contains("only https is"), "{down:?}");
    assert_eq!(files.asked("/a"), 1);
}

fn local_of(files: &FileServer, host: &str) -> String {
    format!("http://{host}:{}/a", files.port)
}

/// A proxy may be in a private network, and what is fetched through it may not.
#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_of_the_environment_is_used_and_trusted() {
    let files = FileServer::start().await;
    files.file("/a", "bytes");
    // From an address that is public, as the proxy has it, to some that are not.
    for (at, to) in [
        local_of(&files, "127.0.0.1"),
        local_of(&files, "[::ffff:127.0.0.1]"),
        local_of(&files, "2130706433"),
        local_of(&files, "localhost"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        files.on(&format!("/inside/{at}"), [Answer::Redirect(to)]);
    }
    let person = Person::of(&files);
    let proxy = format!("http://localhost:{}", files.port);
    let local = files.url("/a").to_string();
    for (url, no_proxy, code, words) in [
        ("http://files.invalid/a", "", 0, "hashed http://files.invalid/a"),
        ("http://files.invalid/a", "files.invalid", 3, "could not be fetched"),
        ("http://localhost/a", "", 3, "no public address"),
        ("http://169.254.169.254/a", "", 3, "no public address"),
        (local.as_str(), "", 3, "no public address"),
        ("http://files.invalid/inside/0", "", 3, "no public address"),
        ("http://files.invalid/inside/1", "", 3, "no public address"),
        ("http://files.invalid/inside/2", "", 3, "no public address"),
        ("http://files.invalid/inside/3", "", 3, "no public address"),
        ("http://files.invalid/inside/4", "", 3, "no public address"),
    ] {
        person.write(&json!({"package_location": {"type": "url", "url": url}}));
        let mut command = person.publisher(&["hash-gen"]);
        command
            .env("HTTP_PROXY", &proxy)
            .env("HASHLINE_FETCH_ALLOW_PRIVATE", "false")
            .env("HASHLINE_FETCH_RETRIES", "0");
        if !no_proxy.is_empty() {
            command.env("NO_PROXY", no_proxy);
        }
        let ran = run(command).await;
        assert!(ran.code == code && ran.err.contains(words), "{url} {no_proxy}: {ran:?}");
    }
    // The file that is public, and each redirection; nothing that they lead to.
    assert_eq!((files.asked("/a"), files.requests()), (1, 1 + 5));
}

/// A proxy on another machine knows nothing of this one. Files and a registry that are here are reached without it, and nothing else is.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_on_this_machine_is_reached_without_a_proxy() {
    let files = FileServer::start().await;
    files.file("/a", "bytes");
    let proxy = FileServer::start().await;
    let person = Person::of(&files);
    let registry = Registry::start(person.publisher(&[]), &person.folder.path().join("data"));
    for (at, host) in ["127.0.0.1", "localhost", "127.1"].into_iter().enumerate() {
        let url = local_of(&files, host);
        let version = format!("1.0.{at}");
        person.write(&json!({
            "name": "a/b", "version": version, "description": "d", "package_location": {"type": "url", "url": url}
        }));
        let registry = registry.url.replace("127.0.0.1", if at == 1 { "localhost" } else { "127.0.0.1" });
        let mut command = person.publisher(&["publish", "--registry", &registry]);
        for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
            command.env(variable, proxy.url("").as_str());
        }
        let ran = run(command).await;
        assert_eq!(ran.code, 0, "{host}: {ran:?}");
    }
    assert_eq!(proxy.requests(), 0);
    // That there is no proxy for it makes no address of this machine public.
    person.write(&json!({"package_location": {"type": "url", "url": local_of(&files, "localhost")}}));
    let asked = files.requests();
    let mut command = person.publisher(&["hash-gen"]);
    command.env("HTTP_PROXY", proxy.url("").as_str()).env("HASHLINE_FETCH_ALLOW_PRIVATE", "false");
    let refused = run(command).await;
    assert!(refused.code == 3 && refused.err.contains("no public address"), "{refused:?}");
    assert_eq!((files.requests(), proxy.requests()), (asked, 0));
}
