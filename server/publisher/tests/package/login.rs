//! Tokens: who may publish, and where a token goes.

use serde_json::json;

use crate::file_server::FileServer;
use crate::program::{Person, Registry, run};
use crate::pty::typed_into;

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_enough_to_publish() {
    let files = FileServer::start().await;
    let person = Person::of(&files);
    let mut command = person.publisher(&[]);
    command.env("HASHLINE_REGISTRY_PUBLISH_TOKEN", "right").env("HASHLINE_REGISTRY_AUTH", "token");
    let registry = Registry::start(command, &person.folder.path().join("data"));
    person.write(
        &json!({"name": "a/b", "version": "1.0.0", "description": "d", "remotes": [{"url": "https://a.b"}]}),
    );

    let refused = run(person.publisher(&["publish", "--registry", &registry.url])).await;
    assert!(
        refused.code == 1 && refused.json()["status"] == 401 && refused.err.contains("login"),
        "{refused:?}"
    );
    let wrong =
        run(person.publisher(&["login", "token", "--token", "wrong", "--registry", &registry.url])).await;
    assert!(wrong.code == 0 && wrong.out.is_empty() && wrong.err.contains("logout"), "{wrong:?}");
    assert_eq!(run(person.publisher(&["publish"])).await.json()["status"], 401);
    // As somebody types it.
    let login = person.publisher(&["login", "token", "--registry", &registry.url]);
    let typed = tokio::task::spawn_blocking(move || typed_into(&login, &["right\n"])).await.unwrap();
    assert!(
        typed.status.success()
            && String::from_utf8_lossy(&typed.stdout).contains("The token for http://127.0.0.1"),
        "{typed:?}"
    );
    let published = run(person.publisher(&["publish"])).await;
    assert_eq!(published.code, 0, "{published:?}");

    for (arguments, code) in [
        (&["status", "--status", "deprecated", "--message", "old", "a/b", "1.0.0"][..], 0),
        (&["status", "-s", "deleted", "--all-versions", "--yes", "a/b"][..], 0),
        (&["status", "--status=active", "a/b", "1.0.0"][..], 0),
        (&["status", "--status", "active", "a/b", "9.9.9"][..], 1),
        (&["status", "--status", "gone", "a/b", "1.0.0"][..], 2),
        (&["status", "--status", "active", "a/b"][..], 2),
        (&["status", "--status", "deleted", "--all-versions", "a/b"][..], 2),
    ] {
        let ran = run(person.publisher(arguments)).await;
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
    }

    let logout = run(person.publisher(&["logout"])).await;
    assert!(logout.code == 0 && logout.err.contains("forgotten"), "{logout:?}");
    assert_eq!(run(person.publisher(&["publish"])).await.code, 2);
    let mut with = person.publisher(&["publish", "--idempotent", "--registry", &registry.url]);
    with.env("HASHLINE_REGISTRY_TOKEN", "right");
    assert_eq!(run(with).await.code, 0);
}

/// A token that was kept for one registry is not told to another.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_for_its_registry_alone() {
    let files = FileServer::start().await;
    files.file("/v0.1/publish", "{}");
    let person = Person::of(&files);
    person.write(&json!({"name": "a/b", "version": "1.0.0", "description": "d"}));
    let here = files.url("/");
    for (registry, sent) in [("https://registry.example", false), (here.as_str(), true)] {
        run(person.publisher(&["login", "token", "--token", "secret", "--registry", registry])).await;
        assert_eq!(run(person.publisher(&["publish", "--registry", here.as_str()])).await.code, 0);
        let headers = files.headers_of("/v0.1/publish");
        assert_eq!(headers.contains("authorization: bearer secret"), sent, "{headers}");
    }
    // Nor is it sent where others can read it.
    let mut command = person.publisher(&["publish", "--registry", "http://registry.example"]);
    command.env("HASHLINE_FETCH_HTTPS_ONLY", "true");
    let insecure = run(command).await;
    assert!(insecure.code == 2 && insecure.err.contains("use https"), "{insecure:?}");
}

/// A variable that somebody forgot to fill is not taken for a token, nor for none.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_empty_is_told() {
    let files = FileServer::start().await;
    let person = Person::of(&files);
    person.write(&json!({"name": "a/b", "version": "1.0.0", "description": "d"}));
    let here = files.url("/").to_string();
    for (arguments, token, words) in [
        (&["publish", "--registry", &here][..], "", "the token is empty"),
        (&["publish", "--registry", &here], " \t ", "the token is empty"),
        (&["publish", "--registry", &here], "a\nb", "a line's end"),
        (&["status", "-s", "active", "a/b", "1.0.0", "--registry", &here], "", "the token is empty"),
        (&["login", "token", "--registry", &here], " ", "or it is empty"),
    ] {
        let mut command = person.publisher(arguments);
        command.env("HASHLINE_REGISTRY_TOKEN", token);
        let ran = run(command).await;
        assert!(ran.code == 2 && ran.err.contains(words), "{arguments:?} {token:?}: {ran:?}");
    }
    assert_eq!(files.requests(), 0);
    // A space too many, as in a file, is none of it.
    files.file("/v0.1/publish", "{}");
    let mut command = person.publisher(&["publish", "--registry", &here]);
    command.env("HASHLINE_REGISTRY_TOKEN", "secret\n");
    assert_eq!(run(command).await.code, 0);
    assert!(files.headers_of("/v0.1/publish").contains("authorization: bearer secret\r\n"));
}

/// Beyond this machine a registry that everybody could publish to has to be meant.
#[tokio::test(flavor = "multi_thread")]
async fn a_registry_for_everybody_has_to_be_meant() {
    let files = FileServer::start().await;
    let person = Person::of(&files);
    for (listen, auth, token, words) in [
        ("0.0.0.0:0", None, None, "everybody who reaches it could publish"),
        ("0.0.0.0:0", None, Some(""), "the token to ask for is empty"),
        ("127.0.0.1:0", None, Some(""), "the token to ask for is empty"),
        ("127.0.0.1:0", Some("token"), Some(""), "the token to ask for is empty"),
        ("127.0.0.1:0", Some("token"), Some(" \t"), "the token to ask for is empty"),
        ("127.0.0.1:0", Some("token"), None, "set HASHLINE_REGISTRY_PUBLISH_TOKEN"),
        ("127.0.0.1:0", Some("perhaps"), None, "invalid value"),
        ("nowhere", Some("none"), None, "give another --listen"),
    ] {
        let mut command = person.publisher(&["registry", "--listen", listen, "--data-dir", "data"]);
        command.envs(auth.map(|auth| ("HASHLINE_REGISTRY_AUTH", auth)));
        command.envs(token.map(|token| ("HASHLINE_REGISTRY_PUBLISH_TOKEN", token)));
        let refused = run(command).await;
        assert!(
            refused.code != 0 && refused.out.is_empty() && refused.err.contains(words),
            "{listen} {auth:?}: {refused:?}"
        );
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_registry_ends_in_good_order() {
    let files = FileServer::start().await;
    let person = Person::of(&files);
    let mut registry = Registry::start(person.publisher(&[]), &person.folder.path().join("data"));
    let killed = std::process::Command::new("kill").arg(registry.child.id().to_string()).status().unwrap();
    assert!(killed.success());
    let ended = tokio::task::spawn_blocking(move || registry.child.wait().unwrap()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
}
