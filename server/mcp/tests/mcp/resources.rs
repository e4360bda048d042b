//! Resources as MCP clients read, list and complete them, in the protocol with a handshake and in the one without.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::ServiceError;
use rmcp::model::{
    CompletionInfo, ErrorCode, ErrorData, ReadResourceRequestParams, ReadResourceResult, ResourceContents,
};
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};

use crate::desk::uri;
use crate::place::Place;
use crate::protocol::{Agent, Connection, call, connect, modern, server};

const TESTER: Agent = Agent { name: "tester", roots: None };

impl Place {
    /// An agent of each era.
    async fn agents(&self) -> Vec<Connection> {
        let mut agents = Vec::new();
        for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
            let server = server(&[&self.root], true, &self.temp.path().join("state"));
            agents.push(connect(server, TESTER, lifecycle).await);
        }
        agents
    }
}

async fn result(agent: &Connection, uri: &str) -> ReadResourceResult {
    let params = ReadResourceRequestParams::new(uri);
    agent.read_resource(params).await.unwrap_or_else(|error| panic!("{uri}: {error}"))
}

/// The text of a resource, its kind and its hash.
async fn text(agent: &Connection, asked: &str) -> (String, String, Option<String>) {
    let read = result(agent, asked).await;
    let [ResourceContents::TextResourceContents { uri, mime_type, text, meta, .. }] =
        read.contents.as_slice()
    else {
        panic!("{asked}: not one text: {read:?}")
    };
    assert_eq!(uri, asked, "spelled as it was asked for");
    let hash = meta.as_ref().map(|meta| meta.0["file_hash"].as_str().unwrap().to_owned());
    (text.clone(), mime_type.clone().unwrap(), hash)
}

async fn json(agent: &Connection, uri: &str) -> Value {
    let (text, mime, _) = text(agent, uri).await;
    assert_eq!(mime, "application/json");
    serde_json::from_str(&text).unwrap()
}

/// The names that a folder has, `/` behind those of folders.
async fn names(agent: &Connection, uri: &str) -> Vec<String> {
    let Value::Array(entries) = json(agent, uri).await else { panic!("{uri}: no array") };
    let name = |entry: &Value| {
        let name = entry["name"].as_str().unwrap();
        match entry["type"].as_str().unwrap() {
            "directory" => format!("{name}/"),
            "file" => name.to_owned(),
            other => format!("{name} ({other})"),
        }
    };
    entries.iter().map(name).collect()
}

async fn refusal(agent: &Connection, uri: &str) -> ErrorData {
    match agent.read_resource(ReadResourceRequestParams::new(uri)).await {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("{uri}: {other:?}"),
    }
}

/// What does not exist has a code of its own in the protocol with a handshake.
fn not_found(agent: &Connection) -> ErrorCode {
    let modern = agent.peer_info().is_some_and(|info| info.protocol_version.as_str() >= "2026");
    if modern { ErrorCode::INVALID_PARAMS } else { ErrorCode::RESOURCE_NOT_FOUND }
}

#[tokio::test]
async fn mcp_020_a_list_has_the_immediate_children_of_a_folder() {
    let place = Place::new();
    for file in ["b.txt", "a.txt", "src/main.rs", "src/deep/er.rs", "docs/x.md"] {
        place.write(file, "");
    }
    std::fs::create_dir(place.root.join("empty")).unwrap();
    for agent in place.agents().await {
        assert_eq!(names(&agent, "list://").await, ["docs/", "empty/", "src/", "a.txt", "b.txt"]);
        assert_eq!(names(&agent, "list://src").await, ["deep/", "main.rs"]);
        assert_eq!(json(&agent, "list://empty").await, json!([]));
        let (raw, ..) = text(&agent, "list://docs").await;
        assert_eq!(raw, r#"[{"name":"x.md","type":"file"}]"#);
    }
}

#[tokio::test]
async fn mcp_021_a_list_includes_dotfiles_and_names_the_store_without_entering_it() {
    let place = Place::new();
    for file in [".env", ".config/x", ".mcp/edit_history/logs/x.log", "a.txt"] {
        place.write(file, "");
    }
    for agent in place.agents().await {
        assert_eq!(names(&agent, "list://").await, [".config/", ".mcp/", ".env", "a.txt"]);
        assert_eq!(names(&agent, "list://.config").await, ["x"]);
        for closed in ["list://.mcp", "list:///.mcp/edit_history", "list://a/../.MCP/", "list://%2emcp"] {
            let refused = refusal(&agent, closed).await;
            assert!(refused.message.contains("lies in .mcp"), "{closed}: {}", refused.message);
        }
    }
}

#[tokio::test]
async fn mcp_025_a_leading_slash_is_the_root_and_not_the_top_of_the_disk() {
    let place = Place::new();
    place.write("src/main.rs", "");
    for agent in place.agents().await {
        for uri in ["list:///src", "list://src", "list:///src/"] {
            assert_eq!(names(&agent, uri).await, ["main.rs"], "{uri}");
        }
        assert_eq!(names(&agent, "list:///").await, ["src/"]);
        assert_eq!(refusal(&agent, "list:///etc").await.code, not_found(&agent));
        let absolute = format!("list://{}", place.root.display());
        assert_eq!(refusal(&agent, &absolute).await.code, not_found(&agent), "{absolute}");
    }
}

#[tokio::test]
async fn mcp_026_paths_are_decoded_and_normalised_before_the_disk_is_looked_at() {
    let place = Place::new();
    place.write("src/with space/100%.rs", "");
    let agents = place.agents().await;
    for uri in [
        "list://src//with space",
        "list:////src/./with%20space/",
        "list://missing/../src/with%20space",
        "list://src/with%20space/deeper/..",
        "list://%2Fsrc%2Fwith%20space",
    ] {
        assert_eq!(names(&agents[0], uri).await, ["100%.rs"], "{uri}");
    }
    assert_eq!(names(&agents[1], "list://src/..").await, ["src/"]);
}

#[tokio::test]
async fn mcp_027_what_would_leave_the_root_is_refused() {
    let place = Place::new();
    place.write("src/main.rs", "");
    std::fs::write(place.temp.path().join("secret.txt"), "secret\n").unwrap();
    std::os::unix::fs::symlink("../..", place.root.join("src/out")).unwrap();
    let outside = place.temp.path().canonicalize().unwrap().join("secret.txt");
    let file = uri(&outside);
    for agent in place.agents().await {
        for escape in [
            "list://..",
            "list:///..",
            "list://src/../..",
            "list://%2e%2e",
            "list://..%2f..",
            "list://src/out",
            "file://../secret.txt",
            "file://src/out/secret.txt",
            "file://%2e%2e/secret.txt",
            "review://../secret.txt",
            &file,
            &file.replace("file", "review"),
        ] {
            let refused = refusal(&agent, escape).await;
            assert_eq!(refused.code, ErrorCode::INVALID_PARAMS, "{escape}: {}", refused.message);
            assert!(refused.message.contains("root"), "{escape}: {}", refused.message);
            let is_told = refused.message.contains(place.root.to_str().unwrap());
            assert!(!is_told || !escape.starts_with("list"), "{escape}: {}", refused.message);
        }
    }
}

#[tokio::test]
async fn mcp_028_paths_of_other_platforms_are_refused() {
    let place = Place::new();
    for agent in place.agents().await {
        for foreign in
            ["list://C:\\Users", "list://C:/Users", "list://C%3A%5CUsers", "list://%5C%5Cserver\\share"]
        {
            let refused = refusal(&agent, foreign).await;
            assert_eq!(refused.code, ErrorCode::INVALID_PARAMS, "{foreign}");
            assert!(refused.message.contains("Windows path"), "{foreign}: {}", refused.message);
        }
    }
}

#[tokio::test]
async fn mcp_050_what_does_not_exist_is_not_found() {
    let place = Place::new();
    place.write("a.txt", "a\n");
    for agent in place.agents().await {
        for (missing, word) in [
            ("list://missing", "does not exist"),
            ("list://a.txt", "not a folder"),
            ("list://a.txt/", "not a folder"),
            ("list://a.txt/below", "not a folder"),
            ("file://missing.txt", "does not exist"),
            ("file://a.txt/below", "not a folder"),
            ("file://missing/a.txt", "does not exist"),
            ("review://missing.txt", "does not exist"),
            ("untitled:1", "no open document has this URI"),
        ] {
            let refused = refusal(&agent, missing).await;
            assert_eq!(refused.code, not_found(&agent), "{missing}: {}", refused.message);
            assert!(refused.message.contains(word), "{missing}: {}", refused.message);
            assert_eq!(refused.data, Some(json!({ "uri": missing })));
            let is_told = refused.message.contains(place.root.to_str().unwrap());
            assert!(!is_told || !missing.starts_with("list"), "{missing}: {}", refused.message);
        }
    }
}

#[tokio::test]
async fn several_roots_are_told_apart_by_their_names() {
    let place = Place::new();
    let (one, two) = (place.root.join("one/src"), place.root.join("two/src"));
    place.write("one/src/a.rs", "");
    place.write("two/src/b.rs", "");
    let server = server(&[&one, &two], true, &place.state);
    let agent = connect(server, TESTER, ClientLifecycleMode::Initialize).await;
    assert_eq!(names(&agent, "list://").await, ["src/", "src-2/"]);
    assert_eq!(names(&agent, "list://src-2").await, ["b.rs"]);
    assert!(refusal(&agent, "list://a.rs").await.message.contains("src, src-2"));
    assert_eq!(completed(&agent, "list://{+path}", "").await.values, ["src/", "src-2/"]);
}

#[tokio::test]
async fn a_document_is_read_as_the_editor_has_it_else_from_the_disk() {
    let place = Place::new();
    let path = place.write("a b.txt", "on the disk\n");
    let agents = place.agents().await;
    let spelled = [uri(&path), format!("file://{}", path.display()), "file://a%20b.txt".to_owned()];
    for agent in &agents {
        for uri in &spelled {
            let (read, mime, hash) = text(agent, uri).await;
            assert_eq!((read.as_str(), mime.as_str()), ("on the disk\n", "text/plain"), "{uri}");
            assert_eq!(hash.unwrap().len(), 64);
        }
    }
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&path, "unsaved\n");
    for (agent, edited) in agents.iter().zip(["unsaved and held\n", "held twice\n"]) {
        // The hash that is told is one to edit by.
        let (read, _, hash) = text(agent, &spelled[0]).await;
        let edits = json!([{ "old": read.trim_end(), "new": edited.trim_end() }]);
        let given = json!({ "path": path, "edits": edits, "file_hash": hash });
        let held = call(agent, "edit_file_diff", given).await;
        assert!(held.text.contains("held"), "{}", held.text);
        assert_eq!(text(agent, &spelled[2]).await.0, edited);
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"on the disk\n");
    editor.sidecar.quit().await;
}

#[tokio::test]
async fn bytes_that_are_no_text_come_as_base64() {
    let place = Place::new();
    let bytes = [0x89, b'P', b'N', b'G', 0, 0xff];
    std::fs::write(place.root.join("a.png"), bytes).unwrap();
    for agent in place.agents().await {
        let read = result(&agent, "file://a.png").await;
        let [ResourceContents::BlobResourceContents { mime_type, blob, .. }] = read.contents.as_slice()
        else {
            panic!("{read:?}")
        };
        assert_eq!(mime_type.as_deref(), Some("image/png"));
        assert_eq!(BASE64_STANDARD.decode(blob).unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_resource_gives_nothing_that_the_tools_refuse() {
    let place = Place::new();
    place.write(".mcp/edit_history/logs/x.log", "secret\n");
    std::fs::write(place.root.join("large.txt"), vec![b'x'; (8 << 20) + 1]).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place.root.join("fifo")).status().unwrap();
    assert!(made.success());
    let editor = place.editor("nvim", &[&place.root]);
    for agent in place.agents().await {
        for (asked, word) in [
            ("file://.mcp/edit_history/logs/x.log", "lies in .mcp"),
            ("review://.mcp/edit_history/logs/x.log", "lies in .mcp"),
            ("file://fifo", "FIFO"),
            ("file://large.txt", "more than 8388608"),
            ("file://other.example/a.txt", "does not exist"),
            ("file:///etc/passwd", "outside the roots"),
            ("file://C:/x", "Windows path"),
            ("file://", "path is empty"),
        ] {
            let refused = refusal(&agent, asked).await;
            assert!(refused.message.contains(word), "{asked}: {}", refused.message);
        }
    }
    editor.sidecar.quit().await;
}

#[tokio::test]
async fn a_review_has_the_edits_and_how_they_stand() {
    let place = Place::new();
    let (live, closed) = (place.write("live.txt", "one\ntwo\n"), place.write("closed.txt", "a\n"));
    let agent = place.agent().await;
    for (path, old) in [("closed.txt", "a"), ("closed.txt", "b")] {
        let edits = json!([{ "old": old, "new": "b" }]);
        call(&agent, "edit_file_diff", json!({ "path": path, "edits": edits })).await;
    }
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&live, "one\ntwo\n");
    let edits = json!([{ "old": "two", "new": "2" }]);
    let held = call(&agent, "edit_file_diff", json!({ "path": "live.txt", "edits": edits })).await;
    for uri in [uri(&live).replace("file", "review"), "review://live.txt".to_owned()] {
        let told = json(&agent, &uri).await;
        assert_eq!(told["total"], 1);
        let edit = &told["edits"][0];
        assert_eq!(edit["edit"], held.edit_id());
        assert_eq!((&edit["path"], &edit["status"]), (&json!(live), &json!("pending")));
        assert_eq!((&edit["agent"], &edit["own"]), (&json!("tester"), &json!(true)));
        let hunk = json!({
            "hunk": 1, "state": "held", "decision": "undecided",
            "lines": { "first": 2, "last": 2 }, "removed": ["two"], "proposed": ["2"],
        });
        assert_eq!(edit["hunks"], json!([hunk]));
    }
    editor.reject(&held.edit_id(), "Keep the word.").await;
    let all = json(&agent, "review://").await;
    assert_eq!(all["total"], 2, "{all}");
    let (of_closed, of_live) = (&all["edits"][0], &all["edits"][1]);
    assert_eq!((&of_closed["path"], &of_closed["hunks"][0]["state"]), (&json!(closed), &json!("in_text")));
    assert_eq!(of_live["hunks"][0]["decision"], "rejected");
    assert_eq!(of_live["hunks"][0]["reason"], "Keep the word.");
    // Whoever reads it may be a program: its agent still hears of the decision.
    let told = call(&agent, "await_review", json!({ "timeout_s": 0 })).await;
    assert!(told.text.contains("Keep the word."), "{}", told.text);
    editor.sidecar.quit().await;
}

#[tokio::test]
async fn a_review_too_long_to_be_given_at_once_says_where_else_it_is() {
    let place = Place::new();
    place.write("a.txt", "");
    let agent = place.agent().await;
    let content = "a line of some length\n".repeat(400_000);
    let done = call(&agent, "write_file", json!({ "path": "a.txt", "content": content })).await;
    assert!(!done.failed, "{}", done.text);
    let refused = refusal(&agent, "review://a.txt").await;
    assert!(refused.message.contains("list_edits"), "{}", refused.message);
    let all = json(&agent, "review://").await;
    assert!(all["not_asked"][0].as_str().unwrap().contains("list_edits"), "{all}");
}

#[tokio::test]
async fn the_templates_and_the_open_documents_are_listed() {
    let place = Place::new();
    let path = place.write("a b.txt", "a\n");
    for agent in place.agents().await {
        let info = agent.peer_info().unwrap();
        let resources = info.capabilities.resources.clone().unwrap();
        assert_eq!((resources.subscribe, resources.list_changed), (Some(true), Some(true)));
        assert!(info.capabilities.completions.is_some());
        let templates = agent.list_all_resource_templates().await.unwrap();
        let uris: Vec<_> = templates.iter().map(|template| template.uri_template.as_str()).collect();
        assert_eq!(uris, ["list://{+path}", "file://{+path}", "review://{+path}"]);

        assert_eq!(agent.list_all_resources().await.unwrap(), []);
        let (one, two) = (place.editor("nvim", &[&place.root]), place.editor("code", &[&place.root]));
        one.open(&path, "a\n");
        two.open(&path, "a\n");
        let listed = agent.list_all_resources().await.unwrap();
        assert_eq!(listed.len(), 1, "a document that two editors have is one: {listed:?}");
        assert_eq!(listed[0].uri, uri(&path));
        assert_eq!(listed[0].name, path.display().to_string());
        assert_eq!(text(&agent, &listed[0].uri).await.0, "a\n");
        one.sidecar.quit().await;
        two.sidecar.quit().await;
    }
}

async fn completed(agent: &Connection, template: &str, given: &str) -> CompletionInfo {
    agent.complete_resource_argument(template, "path", given, None).await.unwrap()
}

#[tokio::test]
async fn paths_are_completed_within_the_roots() {
    let place = Place::new();
    for file in ["src/main.rs", "src/map/x.rs", "setup.py", ".mcp/edit_history/x", ".env"] {
        place.write(file, "");
    }
    // What cannot be read.
    #[cfg(unix)]
    for (target, link) in
        [("none", "src/main.link"), ("/etc/passwd", "secret"), ("/dev/null", "src/map.null")]
    {
        std::os::unix::fs::symlink(target, place.root.join(link)).unwrap();
    }
    let root = place.root.display().to_string();
    for agent in place.agents().await {
        for (template, given, expected) in [
            ("list://{+path}", "", vec!["src/"]),
            ("list://{+path}", "/s", vec!["/src/"]),
            ("list://{+path}", "src/m", vec!["src/map/"]),
            ("file://{+path}", "s", vec!["src/", "setup.py"]),
            ("file://{+path}", ".", vec![".env"]),
            ("review://{+path}", "src/ma", vec!["src/map/", "src/main.rs"]),
            ("file://{+path}", "../", vec![]),
            ("list://{+path}", "../", vec![]),
            ("list://{+path}", ".mcp/", vec![]),
            ("file://{+path}", "/et", vec![]),
            ("file://{+path}", "missing/", vec![]),
            ("other://{+path}", "s", vec![]),
        ] {
            assert_eq!(completed(&agent, template, given).await.values, expected, "{template} {given}");
        }
        let absolute = completed(&agent, "file://{+path}", &format!("{root}/se")).await;
        assert_eq!(absolute.values, [format!("{root}/setup.py")]);
        let other = agent.complete_resource_argument("list://{+path}", "name", "s", None).await.unwrap();
        assert_eq!(other.values, [""; 0]);
    }
    many(&place.root.join("many"));
    let agent = place.agent().await;
    let bounded = completed(&agent, "file://{+path}", "many/").await;
    assert_eq!((bounded.values.len(), bounded.total, bounded.has_more), (100, Some(120), Some(true)));
}

#[cfg(unix)]
#[tokio::test]
async fn a_completed_path_stands_in_the_uri_as_it_is() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    for file in ["100%.txt", "a%20b.txt", "what?#1.txt", "odd\n\u{202e}.txt", "50% off/x.txt"] {
        place.write(file, file);
    }
    let bytes = place.root.join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt"));
    std::fs::write(bytes, "no text").unwrap();
    let root = place.root.display().to_string();
    let agent = place.agent().await;
    for (given, value, holds) in [
        ("100", "100%25.txt", "100%.txt"),
        ("100%", "100%25.txt", "100%.txt"),
        ("100%25.", "100%25.txt", "100%.txt"),
        ("a", "a%2520b.txt", "a%20b.txt"),
        ("what?", "what?#1.txt", "what?#1.txt"),
        ("odd", "odd%0A%E2%80%AE.txt", "odd\n\u{202e}.txt"),
        ("50%25 off/", "50%25 off/x.txt", "50% off/x.txt"),
        (&format!("{root}/50%25 off/x"), &format!("{root}/50%25 off/x.txt"), "50% off/x.txt"),
        (&format!("{root}/caf"), &format!("{root}/caf%E9.txt"), "no text"),
    ] {
        assert_eq!(completed(&agent, "file://{+path}", given).await.values, [value], "{given}");
        assert_eq!(text(&agent, &format!("file://{value}")).await.0, holds, "{given}");
    }
    assert_eq!(completed(&agent, "list://{+path}", "5").await.values, ["50%25 off/"]);
    // A relative path that is no text is no path.
    assert_eq!(completed(&agent, "file://{+path}", "caf").await.values, [""; 0]);
}

fn many(folder: &Path) {
    std::fs::create_dir(folder).unwrap();
    for number in 0..120 {
        std::fs::write(folder.join(format!("{number}.txt")), "").unwrap();
    }
}
