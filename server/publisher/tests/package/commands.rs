//! "CLI Commands": what each prints, where, and how it ends.

use serde_json::json;

use crate::file_server::{Answer, FileServer};
use crate::program::{Person, hash, run};
use crate::pty::typed_into;

/// "Generate hashes and output to stdout (dry run)", "Verify existing hashes without publishing"; and of "Consumers": "Verify downloaded
/// files match provided hashes", "Decide trust policy when hashes are absent", as nothing was decided for them.
#[tokio::test(flavor = "multi_thread")]
async fn spec_cli_commands() {
    let files = FileServer::start().await;
    files.npm("@modelcontextprotocol/server-postgres", "0.6.2", b"bytes");
    let person = Person::of(&files);
    let mut server = json!({"package_location": {"type": "npm", "package_name": "@modelcontextprotocol/server-postgres@0.6.2"}});
    person.write(&server);
    let made = run(person.publisher(&["hash-gen", "server.json"])).await;
    let hashes = json!({"file_hashes": {"npm:@modelcontextprotocol/server-postgres@0.6.2": hash(b"bytes")}});
    assert_eq!((made.code, made.json()), (0, hashes.clone()), "{made:?}");
    // Without a terminal it is lines that tell how far it is.
    assert_eq!(
        made.err,
        format!("hashed npm:@modelcontextprotocol/server-postgres@0.6.2 {}\n", hash(b"bytes"))
    );

    let none = run(person.publisher(&["verify", "server.json"])).await;
    assert_eq!((none.code, none.json()), (0, json!({"file_hashes": {}})));
    assert!(none.err.contains("nothing was compared"), "{none:?}");
    server["file_hashes"] = hashes["file_hashes"].clone();
    person.write(&server);
    let verified = run(person.publisher(&["verify"])).await;
    assert_eq!((verified.code, verified.json()), (0, hashes));
    assert!(verified.err.contains("1 file is the one that was hashed"), "{verified:?}");
}

/// A hash of one file says nothing of the others of its release.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_hash_is_told() {
    let files = FileServer::start().await;
    files.pypi("a", "1.0", &[("a-1.0.tar.gz", b"source"), ("a-1.0-py3-none-any.whl", b"wheel")]);
    let person = Person::of(&files);
    let mut server = json!({"package_location": {"type": "pypi", "package_name": "a==1.0"}});
    server["file_hashes"] = json!({"pypi:a==1.0/a-1.0.tar.gz": hash(b"source")});
    person.write(&server);
    let partly = run(person.publisher(&["verify"])).await;
    assert_eq!(
        (partly.code, partly.json()),
        (0, json!({"file_hashes": server["file_hashes"]})),
        "{partly:?}"
    );
    assert!(partly.err.contains("not every file has a hash"), "{partly:?}");
}

/// "Use temporary directory for downloads": nothing of them stays there, and a folder that cannot be used is told.
#[tokio::test(flavor = "multi_thread")]
async fn spec_use_temporary_directory_for_downloads() {
    let files = FileServer::start().await;
    files.file("/a", vec![0; 1 << 20]);
    let person = Person::of(&files);
    person.write(&json!({"package_location": {"type": "url", "url": files.url("/a")}}));
    let folder = tempfile::tempdir().unwrap();
    for (temporary, code) in [(folder.path().to_owned(), 0), (folder.path().join("missing"), 3)] {
        let mut command = person.publisher(&["hash-gen"]);
        command.env("TMPDIR", &temporary);
        let ran = run(command).await;
        assert_eq!((ran.code, ran.err.contains("set TMPDIR")), (code, code == 3), "{ran:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_end_has_its_code() {
    let files = FileServer::start().await;
    files.on("/gone", [Answer::Status(410, "")]);
    files.file("/a", "a");
    files.npm_with("lied", "1.0.0", b"bytes", "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    let person = Person::of(&files);
    let [gone, a] = ["/gone", "/a"].map(|path| files.url(path).to_string());
    let url = |url: &str| json!({"package_location": {"type": "url", "url": url}});
    for (command, server, code, words) in [
        ("hash-gen", url(&gone), 3, "answered 410"),
        (
            "hash-gen",
            json!({"package_location": {"type": "npm", "package_name": "lied@1.0.0"}}),
            1,
            "do not use it",
        ),
        ("hash-gen", json!({"package_location": {"type": "npm"}}), 1, "package_name"),
        ("hash-gen", json!({}), 0, "nothing to hash"),
        ("hash-gen", json!([]), 1, "no JSON object"),
        ("verify", json!({"file_hashes": []}), 1, "file_hashes"),
        ("validate", json!({"name": "a/b"}), 1, "version: it is missing"),
        ("validate", json!({"name": "a/b", "version": "1.0.0"}), 0, "warning: "),
        ("publish", json!({"name": "a/b"}), 1, "version: it is missing"),
        ("publish", json!({"name": "a/b", "version": "1.0.0"}), 2, "give --registry URL"),
    ] {
        person.write(&server);
        let ran = run(person.publisher(&[command])).await;
        assert!(ran.code == code && ran.err.contains(words), "{command} {server}: {ran:?}");
        assert!(ran.out.is_empty() || ran.json().is_object(), "{ran:?}");
    }
    for (wrong, code) in [(hash(b"b"), 1), (hash(b"a"), 0)] {
        let mut server = url(&a);
        server["file_hashes"] = json!({&a: wrong});
        person.write(&server);
        assert_eq!(run(person.publisher(&["verify"])).await.code, code);
    }
    let mut server = url(&gone);
    server["file_hashes"] = json!({&gone: hash(b"a")});
    person.write(&server);
    let unfetched = run(person.publisher(&["verify"])).await;
    assert_eq!((unfetched.code, &unfetched.json()["details"][&gone]["status"]), (3, &json!("unreachable")));
    for (arguments, words) in [
        (&["verify", "missing.json"][..], "mcp-publisher init"),
        (&["verify", "--no-such"], "--help"),
        (&["publish", "--registry", "registry.example"], "write one as in https://registry.example"),
        (&["hash-gen", "--npm-registry", "nonsense"], "write one as in https://"),
        (&["frobnicate"], "--help"),
        (&[], "Usage"),
    ] {
        let ran = run(person.publisher(arguments)).await;
        assert!(ran.code == 2 && ran.err.contains(words), "{arguments:?}: {ran:?}");
    }
}

/// The limits of downloads come from the environment, and a flag goes before it.
#[tokio::test(flavor = "multi_thread")]
async fn downloads_are_limited_from_outside() {
    let files = FileServer::start().await;
    files.file("/a", vec![0; 2000]);
    files.on("/503", [Answer::Status(503, "")]);
    files.on("/drip", [Answer::Drip]);
    let person = Person::of(&files);
    for (path, variable, value, code, words) in [
        ("/a", "HASHLINE_FETCH_MAX_BYTES", "1000", 3, "more than 1000 bytes"),
        ("/a", "HASHLINE_FETCH_MAX_BYTES", "2000", 0, "hashed"),
        ("/a", "HASHLINE_FETCH_ALLOW_PRIVATE", "false", 3, "HASHLINE_FETCH_ALLOW_PRIVATE=true"),
        ("/a", "HASHLINE_FETCH_HTTPS_ONLY", "1", 3, "HASHLINE_FETCH_HTTPS_ONLY=false"),
        ("/503", "HASHLINE_FETCH_RETRIES", "2", 3, "answered 503"),
        ("/drip", "HASHLINE_FETCH_TIMEOUT_S", "1", 3, "longer than 1 s"),
        ("/a", "HASHLINE_FETCH_RETRIES", "many", 2, "invalid value"),
    ] {
        person.write(&json!({"package_location": {"type": "url", "url": files.url(path)}}));
        let mut command = person.publisher(&["hash-gen"]);
        command.env(variable, value);
        let ran = run(command).await;
        assert!(ran.code == code && ran.err.contains(words), "{variable}={value}: {ran:?}");
    }
    assert_eq!(files.asked("/503"), 3);
    person.write(&json!({"package_location": {"type": "url", "url": files.url("/a")}}));
    let mut command = person.publisher(&["hash-gen", "--fetch-max-bytes", "2000"]);
    command.env("HASHLINE_FETCH_MAX_BYTES", "1000");
    assert_eq!(run(command).await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_shown_how_far_it_is() {
    let files = FileServer::start().await;
    files.on("/a", [Answer::Large(1 << 20)]);
    let person = Person::of(&files);
    person.write(&json!({"package_location": {"type": "url", "url": files.url("/a")}}));
    let mut command = person.publisher(&["hash-gen"]);
    command.env("TERM", "xterm");
    let shown = tokio::task::spawn_blocking(move || typed_into(&command, &[])).await.unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("1.00 MiB") && shown.contains("█"), "{shown:?}");
    assert!(!shown.contains("hashed "), "{shown:?}");
    // The bars make room for what is printed, wherever that comes from.
    let mut server = json!({"package_location": {"type": "url", "urls": [files.url("/a"), files.url("/b")]}});
    files.file("/b", "b");
    server["file_hashes"] = json!({files.url("/b").as_str(): hash(b"b")});
    let mut wrong = server.clone();
    wrong["file_hashes"] = json!({files.url("/b").as_str(): hash(b"a")});
    let mut missing = server.clone();
    missing["package_location"]["urls"][1] = json!(files.url("/missing"));
    for (arguments, server, last) in [
        ("hash-gen", &server, "{\r\n  \"file_hashes\""),
        ("verify", &server, "{\r\n  \"file_hashes\""),
        ("verify", &wrong, "{\r\n  \"details\""),
        ("hash-gen", &missing, "mcp-publisher: http"),
    ] {
        person.write(server);
        let mut command = person.publisher(&[arguments]);
        command.env("TERM", "xterm").env("HASHLINE_FETCH_RETRIES", "0");
        let shown = tokio::task::spawn_blocking(move || typed_into(&command, &[])).await.unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        let (bars, _) = shown.split_once(last).unwrap_or_else(|| panic!("{arguments} {shown:?}"));
        // Behind a line that was emptied, or above one.
        let is_empty = ["\u{1b}[2K", "\u{1b}[1A"].iter().any(|end| bars.ends_with(end));
        assert!(is_empty, "{arguments} {shown:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_begun_from_what_the_folder_tells() {
    let files = FileServer::start().await;
    let person = Person::of(&files);
    let there = |name: &str| person.folder.path().join(name);
    let begun = run(person.publisher(&["init"])).await;
    assert!(
        begun.code == 0 && begun.out.is_empty() && begun.err.contains("mcp-publisher validate"),
        "{begun:?}"
    );
    // Nobody publishes it as it is.
    let unchanged = run(person.publisher(&["validate"])).await;
    assert!(unchanged.code == 1 && unchanged.err.contains("in the place of YOUR-NAME"), "{unchanged:?}");
    let first = std::fs::read(there("server.json")).unwrap();
    let again = run(person.publisher(&["init"])).await;
    assert!(again.code == 1 && again.err.contains("stays as it is"), "{again:?}");
    assert_eq!(std::fs::read(there("server.json")).unwrap(), first);

    std::fs::write(
        there("pyproject.toml"),
        "[project]\nname = \"foo\"\nversion = \"2.0\"\ndescription = \"Does foo\"\n",
    )
    .unwrap();
    assert_eq!(run(person.publisher(&["init", "python.json"])).await.code, 0);
    std::fs::write(there("package.json"), r#"{"name":"@a/b","version":"3.0.0","description":"Does b"}"#)
        .unwrap();
    assert_eq!(run(person.publisher(&["init", "npm.json"])).await.code, 0);
    for (file, kind, package, version, description) in [
        ("python.json", "pypi", "foo==2.0", "2.0", "Does foo"),
        ("npm.json", "npm", "@a/b@3.0.0", "3.0.0", "Does b"),
    ] {
        let written: serde_json::Value =
            serde_json::from_slice(&std::fs::read(there(file)).unwrap()).unwrap();
        assert_eq!(written["package_location"], json!({"type": kind, "package_name": package}));
        assert_eq!((&written["version"], &written["description"]), (&json!(version), &json!(description)));
        let named = written.to_string().replace("YOUR-NAME", "somebody");
        std::fs::write(there(file), named).unwrap();
        assert_eq!(run(person.publisher(&["validate", file])).await.code, 0, "{file}");
    }
}
