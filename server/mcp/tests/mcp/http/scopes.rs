//! What a token gives, and that nothing else is touched or heard of.

use std::os::unix::fs::symlink;

use hashline_mcp::ToolName;
use hashline_workspace::{Access, Caller, Depth, Grant, Grants};
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::http::client::{Client, Http};
use crate::place::Place;

/// A project: docs, docs-old and private, and links between them.
async fn project() -> Http {
    let http = Http::start().await;
    for name in ["docs/a.txt", "docs/deep/b.txt", "docs-old/a.txt", "private/a.txt"] {
        http.place.write(name, "text\n");
    }
    let root = &http.place.root;
    symlink("../private/a.txt", root.join("docs/out.txt")).unwrap();
    symlink("../private", root.join("docs/outside")).unwrap();
    symlink("../docs/a.txt", root.join("private/in.txt")).unwrap();
    symlink("docs", root.join("alias")).unwrap();
    // What is said of these tells nothing of what is there.
    symlink("a.txt", root.join("private/link")).unwrap();
    for (name, target) in [
        ("to_link", "../private/link"),
        ("to_nothing", "../private/none"),
        ("beyond_file", "../private/a.txt/x"),
        ("beyond_nothing", "../private/none/../x"),
        ("by_root", &format!("{}/private/./link/../link", root.display())),
    ] {
        symlink(target, root.join("docs").join(name)).unwrap();
    }
    http
}

/// Calls a tool on a path; the status, and what the server says is lacking.
async fn status(client: &Client, tool: &str, path: &str) -> (u16, String) {
    let answer = client.call(tool, json!({ "path": path, "content": "new\n" })).await;
    (answer.status, answer.challenge().to_owned())
}

#[tokio::test]
async fn mcp_051_what_the_token_does_not_give_is_403() {
    let http = project().await;
    let root = http.place.root.display().to_string();
    let lacks = |scope: &str| format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
    for (scopes, tool, path, lacking) in [
        (&["read:/docs/"][..], "read_text_file", "docs/a.txt", None),
        (&["read:/docs"], "read_text_file", "docs/deep/b.txt", None),
        (&["read:/docs/"], "read_text_file", "docs-old/a.txt", Some("read:/docs-old/a.txt")),
        (&["read:/docs"], "read_text_file", "docs-old/a.txt", Some("read:/docs-old/a.txt")),
        (&["read:/Docs"], "read_text_file", "docs/a.txt", Some("read:/docs/a.txt")),
        (&["read:/docs/*"], "read_text_file", "docs/a.txt", None),
        (&["read:/docs/*"], "read_text_file", "docs/deep/b.txt", Some("read:/docs/deep/b.txt")),
        (&["read:/docs/a.txt"], "read_text_file", "docs/a.txt", None),
        (&["write:/docs/"], "read_text_file", "docs/a.txt", None),
        (&["read:/docs/"], "write_file", "docs/a.txt", Some("write:/docs/a.txt")),
        (&["read:/docs/"], "delete.file", "docs/a.txt", Some("write:/docs/a.txt")),
        (&["read:/", "write:/docs/deep"], "write_file", "docs/deep/b.txt", None),
        (&["read:/", "write:/docs/deep"], "write_file", "docs/new.txt", Some("write:/docs/new.txt")),
        (&["write:/*"], "write_file", "new.txt", None),
        (&["write:/*"], "write_file", "docs/a.txt", Some("write:/docs/a.txt")),
        (&[], "read_text_file", "docs/a.txt", Some("read:/docs/a.txt")),
        (&[], "read_text_file", "/etc/passwd", Some("read:/")),
        // However it is spelled.
        (&["read:/docs"], "read.text.file", "private/a.txt", Some("read:/private/a.txt")),
        (&["read:/docs"], "read_text_file", "docs/../private//./a.txt", Some("read:/private/a.txt")),
        (&["read:/docs"], "read_text_file", &format!("{root}/private/a.txt"), Some("read:/private/a.txt")),
        (
            &["read:/docs"],
            "read_text_file",
            &format!("file://{root}/privat%65/a.txt"),
            Some("read:/private/a.txt"),
        ),
        (&["read:/docs"], "read_text_file", "private/no such file", Some("read:/private/no%20such%20file")),
        (&["read:/docs"], "list_edits", "private/a.txt", Some("read:/private/a.txt")),
        (&["read:/docs"], "read_text_file", "untitled:Untitled-1", Some("read:/")),
        // No link widens a scope, nor leads around one.
        (&["read:/docs"], "read_text_file", "docs/out.txt", Some("read:/private/a.txt")),
        (&["read:/docs"], "read_text_file", "docs/outside/a.txt", Some("read:/private/a.txt")),
        (&["read:/docs"], "read_text_file", "docs/to_link", Some("read:/private/link")),
        (&["read:/docs"], "read_text_file", "docs/to_nothing", Some("read:/private/none")),
        (&["read:/docs"], "read_text_file", "docs/beyond_file", Some("read:/private/a.txt/x")),
        (&["read:/docs"], "read_text_file", "docs/beyond_nothing", Some("read:/private/x")),
        (&["read:/docs"], "read_text_file", "docs/by_root", Some("read:/private/link")),
        (&["write:/docs"], "write_file", "docs/outside/new.txt", Some("write:/private/new.txt")),
        (&["read:/docs"], "read_text_file", "private/in.txt", Some("read:/private/in.txt")),
        (&["read:/docs"], "read_text_file", "alias/a.txt", Some("read:/alias/a.txt")),
        (&["read:/alias"], "read_text_file", "alias/a.txt", Some("read:/docs/a.txt")),
        (&["read:/docs", "read:/alias"], "read_text_file", "alias/a.txt", None),
    ] {
        for client in http.both(scopes).await {
            let (status, challenge) = status(&client, tool, path).await;
            match lacking {
                None => assert_eq!(status, 200, "{scopes:?} {tool} {path}: {challenge}"),
                Some(scope) => {
                    assert_eq!((status, challenge), (403, lacks(scope)), "{scopes:?} {tool} {path}");
                }
            }
        }
    }
    for name in ["docs/a.txt", "docs-old/a.txt", "private/a.txt"] {
        let text = std::fs::read_to_string(http.place.root.join(name)).unwrap();
        assert_eq!(text, "text\n", "{name} was written");
    }
}

#[tokio::test]
async fn a_move_takes_writing_at_both_ends() {
    let http = project().await;
    let moves = json!({ "source": "docs/a.txt", "destination": "private/b.txt" });
    for (scopes, status) in [
        (&["write:/docs", "read:/private"][..], 403),
        (&["read:/docs", "write:/private"], 403),
        (&["write:/docs", "write:/private"], 200),
    ] {
        assert_eq!(http.modern(scopes).call("move_file", moves.clone()).await.status, status, "{scopes:?}");
    }
    assert!(http.place.root.join("private/b.txt").exists());
}

#[tokio::test]
async fn what_is_refused_says_what_it_takes_and_to_whom_to_turn() {
    let http = project().await;
    let answer =
        http.modern(&["read:/docs"]).call("write_file", json!({ "path": "docs/a b", "content": "" })).await;
    let message = answer.message();
    assert_eq!(message["id"], 1);
    let words = message["error"]["message"].as_str().unwrap();
    assert!(words.contains("hashline token --scope write:/docs/a%20b"), "{words}");
}

#[tokio::test]
async fn every_tool_is_refused_where_nothing_is_given() {
    let http = project().await;
    for client in http.both(&[]).await {
        assert_eq!(client.ask("tools/list", json!({})).await.status, 200, "names are no secret");
        for tool in ToolName::ALL {
            let given = json!({ "path": "docs/a.txt", "source": "docs/a.txt", "destination": "docs/b.txt" });
            for arguments in [given, json!({})] {
                assert_eq!(client.call(tool.as_str(), arguments).await.status, 403, "{tool}");
            }
        }
    }
    // One that only reads changes nothing by tools that name no path.
    let reader = http.modern(&["read:/"]);
    assert_eq!(reader.call("withdraw_edit", json!({ "edit_id": "12345678" })).await.status, 403);
}

#[tokio::test]
async fn several_roots_are_told_apart_by_their_names() {
    let place = Place::new();
    let roots = ["one", "two"].map(|name| place.temp.path().join(name));
    for root in &roots {
        std::fs::create_dir(root).unwrap();
        std::fs::write(root.join("a.txt"), "a\n").unwrap();
    }
    let http = Http::over(place, &roots).await;
    let client = http.modern(&["read:/two"]);
    let path = |root: usize| roots[root].join("a.txt").display().to_string();
    assert_eq!(status(&client, "read_text_file", &path(1)).await.0, 200);
    let (status, challenge) = status(&client, "read_text_file", &path(0)).await;
    assert_eq!(status, 403);
    assert!(challenge.contains("read:/one/a.txt"), "{challenge}");
}

/// Edits in two folders, made by one who may write both.
async fn edits(http: &Http) -> [String; 2] {
    let writer = http.modern(&["write:/"]);
    let mut ids = Vec::new();
    for path in ["docs/a.txt", "private/a.txt"] {
        let done = writer.tool("write_file", json!({ "path": path, "content": "new\n" })).await;
        assert!(!done.failed, "{}", done.text);
        ids.push(done.edit_id());
    }
    ids.try_into().unwrap()
}

#[tokio::test]
async fn lists_and_waits_leave_out_what_is_not_given() {
    let http = project().await;
    let [docs, private] = edits(&http).await;
    let editor = http.place.editor("nvim", &[&http.place.root]);
    for name in ["docs/deep/b.txt", "docs-old/a.txt"] {
        editor.open(&http.place.root.join(name), "text\n");
    }
    editor.workspace.did_open(
        "untitled:secret",
        "text",
        hashline_text::DocVersion(1),
        hashline_text::Encoding::Utf16,
        "x",
    );
    // The same name of the token: the edits count as its own.
    for client in [http.modern(&["write:/docs"]), http.legacy(&["read:/docs"]).await] {
        let listed = client.tool("list_edits", json!({})).await;
        assert!(listed.text.contains("docs/a.txt") && !listed.text.contains("private"), "{}", listed.text);
        let opened = client.tool("list_documents", json!({})).await;
        assert!(opened.text.contains("deep/b.txt"), "{}", opened.text);
        assert!(!opened.text.contains("docs-old") && !opened.text.contains("untitled"), "{}", opened.text);
        let found = client.tool("search_text", json!({ "pattern": "^(new|text)$" })).await;
        assert!(found.text.contains("docs/deep/b.txt") && !found.text.contains("private"), "{}", found.text);
        assert!(!found.text.contains("docs-old") && !found.text.contains("3 files"), "{}", found.text);
        let waited = client.tool("await_review", json!({ "timeout_s": 0 })).await;
        assert!(!waited.text.contains("private"), "{}", waited.text);
        for tool in ["await_review", "withdraw_edit"] {
            let given = json!({ "edit_id": private, "edit_ids": [private], "timeout_s": 0 });
            let answer = client.call(tool, only(&given, tool)).await;
            if answer.status == 200 {
                let told = answer.tool();
                assert!(told.failed && !told.text.contains("private/"), "{tool}: {}", told.text);
            }
        }
    }
    let whole = http.modern(&["write:/"]);
    let listed = whole.tool("list_documents", json!({})).await;
    assert!(listed.text.contains("untitled:secret"), "{}", listed.text);
    let undone = http.modern(&["write:/docs"]).tool("withdraw_edit", json!({ "edit_id": docs })).await;
    assert!(!undone.failed, "{}", undone.text);
    let kept = std::fs::read_to_string(http.place.root.join("private/a.txt")).unwrap();
    assert_eq!(kept, "new\n");
}

#[tokio::test]
async fn resources_give_what_the_token_gives() {
    let http = project().await;
    let root = http.place.root.display().to_string();
    edits(&http).await;
    let editor = http.place.editor("nvim", &[&http.place.root]);
    for name in ["docs/deep/b.txt", "docs-old/a.txt"] {
        editor.open(&http.place.root.join(name), "text\n");
    }
    for client in http.both(&["read:/docs"]).await {
        for (uri, status) in [
            ("list://docs".to_owned(), 200),
            ("list://docs/deep".to_owned(), 200),
            ("list://".to_owned(), 403),
            ("list://docs-old".to_owned(), 403),
            ("list://docs/outside".to_owned(), 403),
            ("list://docs/%2e%2e/private".to_owned(), 403),
            (format!("file://{root}/docs/a.txt"), 200),
            (format!("file://{root}/docs/out.txt"), 403),
            (format!("file://{root}/docs-old/a.txt"), 403),
            ("review://docs/a.txt".to_owned(), 200),
            ("review://private/a.txt".to_owned(), 403),
        ] {
            let answer = client.ask("resources/read", json!({ "uri": uri })).await;
            assert_eq!(answer.status, status, "{uri}: {}", answer.body);
        }
        let names = client.ask("resources/read", json!({ "uri": "list://docs" })).await.message();
        let text = names["result"]["contents"][0]["text"].as_str().unwrap();
        let names: Vec<Value> = serde_json::from_str(text).unwrap();
        for link in ["out.txt", "outside", "to_link", "to_nothing", "beyond_file"] {
            assert!(names.contains(&json!({ "name": link, "type": "symlink" })), "{link}: {text}");
        }
        let listed = client.ask("resources/list", json!({})).await.body;
        assert!(listed.contains("deep/b.txt") && !listed.contains("docs-old"), "{listed}");
        let all = client.ask("resources/read", json!({ "uri": "review://" })).await.body;
        assert!(all.contains("docs/a.txt") && !all.contains("private/"), "{all}");
        let completing = json!({
            "ref": { "type": "ref/resource", "uri": "file://{+path}" },
            "argument": { "name": "path", "value": "" },
        });
        let completed = client.ask("completion/complete", completing).await.body;
        assert!(completed.contains("docs/") && !completed.contains("private/"), "{completed}");
        assert!(!completed.contains("docs-old"), "{completed}");
    }
}

/// The arguments that a tool takes.
fn only(given: &Value, tool: &str) -> Value {
    match tool {
        "withdraw_edit" => json!({ "edit_id": given["edit_id"] }),
        _ => json!({ "edit_ids": given["edit_ids"], "timeout_s": given["timeout_s"] }),
    }
}

#[tokio::test]
async fn an_edit_that_may_only_be_read_is_not_taken_back() {
    let http = project().await;
    let [docs, _] = edits(&http).await;
    let told = http
        .modern(&["read:/docs", "write:/private"])
        .tool("withdraw_edit", json!({ "edit_id": docs }))
        .await;
    assert!(told.failed && told.text.contains("write"), "{}", told.text);
    assert_eq!(std::fs::read_to_string(http.place.root.join("docs/a.txt")).unwrap(), "new\n");
}

/// What the guard lets through is looked at again where the path is opened: a link may have been moved in between.
#[tokio::test]
async fn the_workspace_keeps_every_tool_to_the_grants() {
    let desk = Desk::new();
    for folder in ["docs", "private"] {
        std::fs::create_dir(desk.folder.join(folder)).unwrap();
        desk.write(&format!("{folder}/a.txt"), "secret\n");
    }
    symlink("../private", desk.folder.join("docs/moved")).unwrap();
    let grant =
        |access, folder: &str| Grant { access, folder: desk.folder.join(folder), depth: Depth::Below };
    let caller =
        |grants: &[Grant]| Caller { grants: Some(Grants::from_iter(grants.to_vec())), ..desk.caller.clone() };
    let writer = caller(&[grant(Access::Write, "docs")]);
    let reader = caller(&[grant(Access::Read, "docs"), grant(Access::Write, "none")]);
    for (tool, arguments) in [
        ("read_text_file", json!({})),
        (
            "edit_text_file",
            json!({ "file_hash": "12345678", "operations": [{ "op": "delete", "anchor": "1:00" }] }),
        ),
        ("write_file", json!({ "content": "" })),
        ("edit_file_diff", json!({ "edits": [{ "old": "secret", "new": "" }] })),
        ("delete_file", json!({})),
        ("list_edits", json!({})),
    ] {
        let mut arguments = arguments;
        for path in ["private/a.txt", "docs/moved/a.txt"] {
            arguments["path"] = path.into();
            let told = desk.call_as(&writer, tool, arguments.clone()).await;
            assert!(told.failed && told.text.contains("the token"), "{tool} {path}: {}", told.text);
            assert!(!told.text.contains("secret"), "{tool} {path}: {}", told.text);
        }
        if !ToolName::parse(tool).unwrap().is_read_only() {
            arguments["path"] = "docs/a.txt".into();
            let told = desk.call_as(&reader, tool, arguments).await;
            assert!(told.failed && told.text.contains("write"), "{tool}: {}", told.text);
        }
    }
    for (source, destination) in [("docs/a.txt", "docs/moved/b.txt"), ("docs/moved/a.txt", "docs/b.txt")] {
        let told =
            desk.call_as(&writer, "move_file", json!({ "source": source, "destination": destination })).await;
        assert!(told.failed && told.text.contains("the token"), "{}", told.text);
    }
    assert_eq!(desk.bytes("private/a.txt"), b"secret\n");
    assert_eq!(desk.bytes("docs/a.txt"), b"secret\n");
}
