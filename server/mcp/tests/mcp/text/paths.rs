//! Paths within the root, and names of tools.

use hashline_mcp::{NameStyle, Router, Server, Toolset};
use hashline_workspace::Settings;
use hashline_workspace::disk::Roots;
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};

use crate::desk::Answer;
use crate::place::Place;
use crate::protocol::{Agent, Connection, call, connect, server};
use crate::text::{Case, hash};

async fn read(agent: &Connection, path: &str) -> Answer {
    call(agent, "text_read", json!({ "path": path })).await
}

#[tokio::test]
async fn mcp_025_026_paths_begin_at_the_root_and_are_normalised() {
    for case in Case::both("a\n").await {
        case.place.write("sub/b.txt", "b\n");
        for (path, content) in [
            ("a.txt", "a\n"),
            ("/a.txt", "a\n"),
            ("//a.txt", "a\n"),
            ("./sub/.././a.txt", "a\n"),
            ("sub//b.txt", "b\n"),
            ("/sub/./b.txt", "b\n"),
            ("none/../sub/b.txt", "b\n"),
        ] {
            let read = read(&case.agent, path).await;
            assert_eq!(read.json["content"], content, "{path}: {}", read.text);
        }
        // What is absolute for the system is below the root here.
        let absolute = case.path.to_str().unwrap();
        let made = case.call("file_create", json!({ "path": "/etc/hosts", "content": "mine" })).await;
        assert!(!made.failed, "{}", made.text);
        assert_eq!(std::fs::read(case.place.root.join("etc/hosts")).unwrap(), b"mine");
        let told = read(&case.agent, absolute).await;
        assert!(
            told.failed && told.text == format!("{absolute} does not exist. Check the name."),
            "{}",
            told.text
        );
    }
}

#[tokio::test]
async fn mcp_027_paths_that_would_leave_the_root_are_refused_by_every_tool() {
    for case in Case::both("a\n").await {
        std::fs::write(case.place.temp.path().join("secret.txt"), "secret\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(case.place.temp.path(), case.place.root.join("out")).unwrap();
        for (path, word) in [
            ("../secret.txt", "leads above the root"),
            ("/../secret.txt", "leads above the root"),
            ("sub/../../secret.txt", "leads above the root"),
            ("out/secret.txt", "leads outside the roots"),
            (".mcp/edit_history/x", "lies in .mcp"),
        ] {
            for (tool, mut given) in [
                ("file_create", json!({ "content": "x" })),
                ("file_remove", json!({ "hash": hash("secret\n") })),
                ("text_read", json!({})),
                (
                    "text_replace",
                    json!({ "hash": hash("secret\n"), "lines": [1, 0], "old": "secret", "new": "x" }),
                ),
                (
                    "text_insert",
                    json!({ "hash": hash("secret\n"), "line": 1, "anchor": "secret", "content": "x" }),
                ),
                ("text_append", json!({ "hash": hash("secret\n"), "content": "x" })),
            ] {
                given["path"] = json!(path);
                let told = case.call(tool, given).await;
                assert!(told.failed && told.text.contains(word), "{tool} {path}: {}", told.text);
                let root = case.place.root.to_str().unwrap();
                assert!(!told.text.contains(root), "{tool} {path}: {}", told.text);
            }
        }
        assert_eq!(std::fs::read(case.place.temp.path().join("secret.txt")).unwrap(), b"secret\n");
    }
}

#[tokio::test]
async fn mcp_028_paths_of_other_platforms_are_refused_in_words() {
    for case in Case::both("a\n").await {
        for (path, word) in [
            ("C:\\Windows\\win.ini", "is a Windows path"),
            ("c:/a.txt", "is a Windows path"),
            ("\\\\server\\share", "is a Windows path"),
            ("sub\\a.txt", "Write it with /"),
            ("file:///a.txt", "takes paths within the root"),
            ("~/a.txt", "starts with ~"),
            (" ", "The path is empty"),
        ] {
            let told = read(&case.agent, path).await;
            assert!(told.failed && told.text.contains(word), "{path}: {}", told.text);
            assert!(!told.text.contains("absolute path"), "there is none to give: {}", told.text);
        }
    }
}

#[tokio::test]
async fn several_roots_are_told_apart_by_their_names() {
    let place = Place::new();
    let (one, two) = (place.write("one/x/a.txt", "1\n"), place.write("two/x/a.txt", "2\n"));
    let roots = [one.parent().unwrap(), two.parent().unwrap()];
    let agent = Agent { name: "tester", roots: None };
    let server = server(&roots, true, &place.state);
    let agent = connect(server, agent, ClientLifecycleMode::Initialize).await;
    let editor = place.editor("nvim", &[roots[1]]);
    editor.open(&two, "two\n");
    assert_eq!(read(&agent, "x/a.txt").await.json["content"], "1\n");
    assert_eq!(
        read(&agent, "/x-2/a.txt").await.json["content"],
        "two\n",
        "in an editor whose roots are others"
    );
    let told = read(&agent, "a.txt").await;
    assert!(told.failed && told.text.contains("start the path with one of: x, x-2"), "{}", told.text);
    let told = read(&agent, "x-2/none.txt").await;
    assert_eq!(told.text, "x-2/none.txt does not exist. Check the name.");
}

#[tokio::test]
async fn names_are_listed_in_one_style_and_taken_in_both() {
    let place = Place::new();
    place.write("a.txt", "a\n");
    let state = place.state();
    let router = Router::new(&Roots::open([&place.root]).unwrap(), true, Settings::default(), state).unwrap();
    let server = Server::new(router.into(), &[Toolset::Text], NameStyle::Dotted);
    let agent = Agent { name: "tester", roots: None };
    let agent = connect(server, agent, ClientLifecycleMode::Initialize).await;
    let tools = agent.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(
        names,
        ["file.create", "file.remove", "text.read", "text.replace", "text.insert", "text.append"]
    );
    let told = agent.peer_info().unwrap().instructions.clone().unwrap();
    assert!(
        told.contains("text.replace") && !told.contains("text_replace") && !told.contains("LINE:HH"),
        "of the tools that there are: {told}"
    );
    for tool in ["text.read", "text_read"] {
        assert_eq!(call(&agent, tool, json!({ "path": "a.txt" })).await.json["content"], "a\n");
    }
    let made: Value = call(&agent, "file.create", json!({ "path": "b", "content": "" })).await.json;
    assert_eq!(made["hash"], hash(""));
}
