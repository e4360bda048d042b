//! "Flow": from the publisher's command to what the registry has stored.

use serde_json::json;

use crate::file_server::FileServer;
use crate::program::{Person, Registry, get, hash, run};

/// "Flow", steps 1 to 6; "Include in Publish", "End-to-end publish with hashes"; "Generates hashes for package files", "Includes hashes in publish payload"; "Phase 3: CLI Tool Support".
#[tokio::test(flavor = "multi_thread")]
async fn spec_flow() {
    let files = FileServer::start().await;
    files.npm("@a/b", "1.0.0", b"npm");
    files.pypi("c", "2.0", &[("c-2.0.tar.gz", b"sdist"), ("c-2.0.whl", b"wheel")]);
    let person = Person::of(&files);
    let registry = Registry::start(person.publisher(&[]), &person.folder.path().join("data"));
    let server = json!({
        "name": "io.github.a/b", "description": "Does it", "version": "1.0.0", "kept": {"x": 1},
        "package_location": {"type": "npm", "package_name": "@a/b@1.0.0"},
        "packages": [{"registryType": "pypi", "identifier": "c", "version": "2.0"}],
    });
    let file = person.write(&server);
    let published = run(person.publisher(&["publish", "server.json", "--registry", &registry.url])).await;
    assert_eq!(published.code, 0, "{published:?}");
    assert!(
        published.err.contains("hashed npm:@a/b@1.0.0 sha256:") && published.err.contains("is published at"),
        "{published:?}"
    );
    let mut expected = server.clone();
    expected["file_hashes"] = json!({
        "npm:@a/b@1.0.0": hash(b"npm"),
        "pypi:c==2.0/c-2.0.tar.gz": hash(b"sdist"),
        "pypi:c==2.0/c-2.0.whl": hash(b"wheel"),
    });
    let answer = published.json();
    assert_eq!(
        (&answer["server"], &answer["_meta"]["hashline/hashes"]["verified"]),
        (&expected, &json!(true))
    );
    // The registry has looked at the files by itself, and the person's file is as it was.
    assert_eq!(files.asked("/@a/b/-/archive-1.0.0.tgz"), 2);
    assert_eq!(std::fs::read_to_string(file).unwrap(), server.to_string());

    let again = run(person.publisher(&["publish", "--registry", &registry.url])).await;
    assert!(again.code == 1 && again.err.contains("publish what has changed as a new version"), "{again:?}");
    let again = run(person.publisher(&["publish", "--idempotent", "--registry", &registry.url])).await;
    assert!(again.code == 0 && again.json() == answer, "{again:?}");
}

/// "Skip hash generation": nothing is fetched, by nobody.
#[tokio::test(flavor = "multi_thread")]
async fn spec_skip_hash_generation() {
    let files = FileServer::start().await;
    let person = Person::of(&files);
    let registry = Registry::start(person.publisher(&[]), &person.folder.path().join("data"));
    let server = json!({
        "name": "a/b", "description": "d", "version": "1.0.0", "package_location": {"type": "npm", "package_name": "missing"}
    });
    person.write(&server);
    let with = run(person.publisher(&["publish", "server.json", "--registry", &registry.url])).await;
    assert!(
        with.code == 3 && with.out.is_empty() && with.err.contains("/missing/1.0.0 answered 404"),
        "{with:?}"
    );
    let asked = files.requests();
    let without =
        run(person.publisher(&["publish", "server.json", "--no-hash", "--registry", &registry.url])).await;
    assert_eq!((without.code, &without.json()["server"]), (0, &server), "{without:?}");
    assert_eq!(files.requests(), asked);
}

/// "Validation failure scenarios": what the registry says is printed as it says it, and explained.
#[tokio::test(flavor = "multi_thread")]
async fn spec_validation_failure_scenarios() {
    let files = FileServer::start().await;
    files.file("/a", "now");
    let person = Person::of(&files);
    let registry = Registry::start(person.publisher(&[]), &person.folder.path().join("data"));
    let url = files.url("/a").to_string();
    person.write(&json!({
        "name": "a/b", "description": "d", "version": "1.0.0",
        "package_location": {"type": "url", "url": url}, "file_hashes": {&url: hash(b"then")}
    }));
    let document = json!({
        "error": "Hash validation failed",
        "details": {&url: {"expected": hash(b"then"), "actual": hash(b"now"), "status": "mismatch"}}
    });
    for arguments in [
        // The publisher sees it by itself, or the registry does.
        &["publish", "--registry", &registry.url][..],
        &["publish", "--no-hash", "--registry", &registry.url],
        &["verify"],
    ] {
        let refused = run(person.publisher(arguments)).await;
        assert_eq!((refused.code, refused.json()), (1, document.clone()), "{refused:?}");
        assert!(refused.err.contains(&url) && refused.err.contains(&hash(b"now")), "{refused:?}");
    }
}

/// "Trust Boundaries": "Consumers should verify independently", with what the registry has and no word of it besides.
#[tokio::test(flavor = "multi_thread")]
async fn spec_consumers_should_verify_independently() {
    let files = FileServer::start().await;
    files.npm("a", "1.0.0", b"published");
    let person = Person::of(&files);
    let registry = Registry::start(person.publisher(&[]), &person.folder.path().join("data"));
    let location = json!({"type": "npm", "package_name": "a@1.0.0"});
    person
        .write(&json!({"name": "a/b", "description": "d", "version": "1.0.0", "package_location": location}));
    let published = run(person.publisher(&["publish", "--registry", &registry.url])).await;
    let consumer = Person::of(&files);
    consumer.write(&published.json()["server"]);
    drop(registry);
    assert_eq!(run(consumer.publisher(&["verify"])).await.code, 0);
    // Index and file agree with each other, and with nobody else.
    files.npm("a", "1.0.0", b"tampered");
    let tampered = run(consumer.publisher(&["verify"])).await;
    assert_eq!(
        (tampered.code, &tampered.json()["details"]["npm:a@1.0.0"]["status"]),
        (1, &json!("mismatch"))
    );
}

/// "Concurrent validations": of sixteen publishers of one version one wins, and the others are told.
#[tokio::test(flavor = "multi_thread")]
async fn sixteen_publishers_of_one_version() {
    let files = FileServer::start().await;
    files.file("/a", vec![7; 1 << 20]);
    let person = Person::of(&files);
    let registry = Registry::start(person.publisher(&[]), &person.folder.path().join("data"));
    let url = files.url("/a").to_string();
    let mut publishing = tokio::task::JoinSet::new();
    for at in 0..16 {
        let file = format!("{at}.json");
        let server = json!({
            "name": "a/b", "description": format!("by {at}"), "version": "1.0.0", "package_location": {"type": "url", "url": url}
        });
        std::fs::write(person.folder.path().join(&file), server.to_string()).unwrap();
        publishing.spawn(run(person.publisher(&["publish", &file, "--registry", &registry.url])));
    }
    let ran = publishing.join_all().await;
    let won: Vec<_> = ran.iter().filter(|ran| ran.code == 0).collect();
    assert_eq!(won.len(), 1, "{ran:#?}");
    for lost in ran.iter().filter(|ran| ran.code != 0) {
        assert!(lost.code == 1 && lost.json()["status"] == 409, "{lost:?}");
    }
    let kept = get(&format!("{}/v0/servers/a%2Fb/versions/latest", registry.url)).await;
    assert_eq!(kept, won[0].json());
}
