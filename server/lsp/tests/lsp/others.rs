//! Plugins, other processes, and the end of a session.

use std::sync::Arc;
use std::time::Duration;

use hashline_link::{
    Call, CallerInfo, Client, Decide, DecideResult, Decision, Finder, Holds, Raw, RemoteError, StateDir,
};
use hashline_lsp::Agents;
use hashline_workspace::Caller;
use hashline_workspace::agent::ReviewScope;
use serde_json::{Value, json};

use crate::editor::{Editor, Manners, SILENCE};

const TEXT: &str = "one\ntwo\nthree\n";

#[tokio::test]
async fn who_has_asked_for_a_history_hears_of_the_next_change_and_nobody_else() {
    let mut editor = Editor::start(Manners::plugin()).await;
    let uri = editor.open("a.txt", TEXT).await;
    let reply = editor.agent_in("a.txt", Some("conv_9"), &[(2, "2")]).await;
    editor.hear("hashline/pendingEdits").await;
    let id = reply.edit.to_string();
    let decide = |decision: &str| {
        json!({"decision": decision, "uri": uri, "edit": id, "hunk": 1, "conversation": null,
        "lines": null, "reason": null, "text": null, "edited": null, "withOthers": false})
    };
    editor.request("hashline/decide", decide("reject")).await;
    let list = editor.hear("hashline/pendingEdits").await;
    assert_eq!(list["params"]["edits"], json!([]));

    let all = editor.request("hashline/history", json!({"uri": uri})).await;
    assert_eq!(all["result"]["edits"][0]["hunks"][0]["decision"], "rejected");
    // Other words for the same decision: nothing is pending before or after it.
    let mut reason = decide("reject");
    reason["reason"] = json!("not here");
    editor.request("hashline/decide", reason).await;
    let list = editor.hear("hashline/pendingEdits").await;
    assert_eq!(list["params"]["edits"], json!([]));
    let all = editor.request("hashline/history", json!({"uri": uri})).await;
    assert_eq!(all["result"]["edits"][0]["hunks"][0]["reason"], "not here");

    editor.request("hashline/decide", decide("reject")).await;
    editor.hear("hashline/pendingEdits").await;
    editor.request("hashline/decide", decide("reopen")).await;
    editor.hear("hashline/pendingEdits").await; // as it is pending again
    editor.request("hashline/decide", decide("reject")).await;
    editor.hear("hashline/pendingEdits").await;
    editor.request("hashline/decide", json!({"decision": "reject", "edit": id, "reason": "never"})).await;
    assert!(editor.heard("hashline/pendingEdits", SILENCE).await.is_empty(), "nobody shows the history");
}

#[tokio::test]
async fn a_plugin_is_told_of_every_change_of_the_review() {
    let mut editor = Editor::start(Manners::plugin()).await;
    assert_eq!(
        editor.initialized["capabilities"]["experimental"]["hashline"],
        json!({"protocol": 2, "version": "0.0.1"})
    );
    let uri = editor.open("a.txt", TEXT).await;
    let reply = editor.agent_in("a.txt", Some("conv_9"), &[(2, "2")]).await;
    let list = editor.hear("hashline/pendingEdits").await;
    let id = reply.edit.to_string();
    assert_eq!(
        list["params"],
        json!({"uri": uri, "version": 1, "owner": null, "readOnly": false, "edits": [{
            "id": id, "made": list["params"]["edits"][0]["made"], "agent": "claude-code", "connection": "1", "conversation": "conv_9", "tool": "edit_text_file", "reason": null, "mode": "propose",
            "status": "pending", "hunks": [{"number": 1, "state": "held", "decision": "undecided", "reason": null, "deciding": false,
            "lines": {"start": 1, "end": 2}, "removed": ["two"], "proposed": ["2"], "partOf": null, "dependsOn": [], "conflict": null, "file": null,
            "ways": ["accept", "reject"]}]
        }]})
    );
    let text = editor.request("hashline/proposedText", json!({"uri": uri})).await;
    assert_eq!(
        text["result"],
        json!({"text": "one\n2\nthree\n", "version": 1, "places": [
            {"hunk": format!("{id}:1"), "lines": {"start": 1, "end": 2}, "replaced": {"start": 1, "end": 2}}]})
    );
    for method in ["hashline/proposedText", "hashline/history"] {
        let unknown = editor.request(method, json!({"uri": "file:///else"})).await;
        assert!(unknown["error"]["message"].as_str().unwrap().contains("file:///else"), "{method}");
    }

    let decide = json!({"decision": "accept", "uri": uri, "edit": &id[..8], "hunk": 1, "conversation": null,
        "lines": null, "reason": "good", "text": null, "edited": null, "withOthers": false});
    let decided = editor.request("hashline/decide", decide.clone()).await;
    assert_eq!(decided["result"], json!({"queued": [format!("{id}:1")], "refused": []}));
    let list = editor.hear("hashline/pendingEdits").await;
    assert_eq!(list["params"]["edits"][0]["hunks"][0]["deciding"], true);
    editor.deliver().await;
    let list = editor.hear("hashline/pendingEdits").await;
    assert_eq!(
        list["params"],
        json!({"uri": uri, "version": 2, "owner": null, "readOnly": false, "edits": []})
    );

    let status = editor.request("hashline/status", Value::Null).await;
    let roots = [editor.folder.path().canonicalize().unwrap()];
    assert_eq!(
        status["result"],
        json!({"version": "0.0.1", "roots": roots, "documents": 1, "pending": 0, "conflicted": 0,
            "agents": ["claude-code"], "socket": null})
    );
    // Asked in other ways.
    for (what, part) in [
        (json!({"decision": "accept"}), "nothing is named"),
        (json!({"decision": "perhaps", "uri": uri}), "perhaps"),
        (json!({"decision": "accept", "uri": uri, "text": ["x"]}), "accepting one hunk"),
        (json!({"decision": "reject", "edit": id, "hunk": 1, "text": ["x"]}), "accepting one hunk"),
        (json!({"decision": "accept", "edit": id, "hunk": 1, "text": ["x\ny"]}), "line break"),
    ] {
        let answer = editor.request("hashline/decide", what).await;
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
    }
    let answer = editor.request("hashline/decide", json!({"decision": "accept", "edit": "00000000"})).await;
    assert_eq!(answer["result"]["refused"][0]["why"], "gone");
    editor.quit().await;
}

#[tokio::test]
async fn a_plugin_is_told_which_agents_wait_for_decisions() {
    let mut editor = Editor::start(Manners::plugin()).await;
    let uri = editor.open("a.txt", TEXT).await;
    let reply = editor.agent("a.txt", &[(2, "2")]).await;
    let workspace = editor.workspace.clone();
    let waits = |seconds| {
        let (workspace, caller) = (workspace.clone(), Caller::anywhere("claude-code", "1"));
        let scope = ReviewScope { own: true, ..ReviewScope::default() };
        tokio::spawn(async move {
            workspace.await_review(&caller, &scope, Duration::from_secs(seconds)).await.unwrap()
        })
    };
    let (first, second) = (waits(40), waits(0));
    assert!(second.await.unwrap().timed_out, "it only looks, and does not wait");
    assert_eq!(editor.hear("hashline/waiting").await["params"], json!({"agents": ["claude-code"]}));
    first.abort();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let again = waits(40);
    let unchanged = editor.heard("hashline/waiting", Duration::from_secs(3)).await;
    assert_eq!(unchanged, [Value::Null; 0], "it asks again at once, and goes on waiting");
    let decide = json!({"decision": "reject", "uri": uri, "edit": reply.edit.to_string(), "hunk": 1, "conversation": null,
        "lines": null, "reason": null, "text": null, "edited": null, "withOthers": false});
    editor.request("hashline/decide", decide).await;
    assert!(!again.await.unwrap().timed_out);
    let at_once = editor.heard("hashline/waiting", Duration::from_secs(1)).await;
    assert_eq!(at_once, [Value::Null; 0], "it may ask again");
    assert_eq!(editor.hear("hashline/waiting").await["params"], json!({"agents": []}));
    editor.heard("hashline/pendingEdits", SILENCE).await;
    editor.quit().await;
}

#[tokio::test]
async fn a_hunk_is_accepted_in_the_persons_own_words() {
    for with_uri in [true, false] {
        let mut editor = Editor::start(Manners::plugin()).await;
        let uri = editor.open("a.txt", TEXT).await;
        let reply = editor.agent("a.txt", &[(2, "2\nand more")]).await;
        let given = if with_uri { json!(uri) } else { Value::Null };
        let decide = json!({"decision": "accept", "uri": given, "edit": reply.edit.short(), "hunk": 1,
            "text": ["zwei", "und mehr", "und noch mehr"]});
        let decided = editor.request("hashline/decide", decide).await;
        assert_eq!(decided["result"]["queued"], json!([format!("{}:1", reply.edit)]), "{decided}");
        editor.deliver().await;
        assert_eq!(editor.text(&uri), "one\nzwei\nund mehr\nund noch mehr\nthree\n");
        editor.until("the acceptance", |workspace| workspace.reviews().is_empty()).await;
        editor.heard("hashline/pendingEdits", SILENCE).await;
        assert!(editor.heard("workspace/applyEdit", SILENCE).await.is_empty());
        editor.in_step(&uri).await;
        editor.quit().await;
    }
}

/// Letter by letter, whatever a library would make of it.
#[tokio::test]
async fn a_uri_is_spelled_as_the_client_spells_it() {
    let mut editor =
        Editor::start(Manners::plugin().with("/initializationOptions/hashline/diagnostics", json!(true)))
            .await;
    std::fs::create_dir(editor.path("a b")).unwrap();
    let uri = format!("{}/%61 b/../a%20b/ü|[x].txt", editor.folder_uri()).replacen("file:", "FILE:", 1);
    editor.texts.insert(uri.clone(), (1, TEXT.to_owned()));
    let document = json!({"uri": uri, "languageId": "text", "version": 1, "text": TEXT});
    editor.notify("textDocument/didOpen", json!({"textDocument": document})).await;
    editor.replace(&uri, "three", "3").await;
    editor.in_step(&uri).await;
    editor.agent("a b/ü|[x].txt", &[(2, "2")]).await;
    assert_eq!(editor.hear("hashline/pendingEdits").await["params"]["uri"], uri.as_str());
    assert_eq!(editor.hear("textDocument/publishDiagnostics").await["params"]["uri"], uri.as_str());
    let lenses = editor.request("textDocument/codeLens", json!({"textDocument": {"uri": uri}})).await;
    editor.command(&lenses["result"][0]["command"]).await;
    editor.deliver().await;
    assert_eq!(editor.text(&uri), "one\n2\n3\n");
    editor.until("the acceptance", |workspace| workspace.reviews().is_empty()).await;
    editor.heard("hashline/pendingEdits", SILENCE).await;
    editor.heard("textDocument/publishDiagnostics", SILENCE).await;
    editor.quit().await;
}

#[tokio::test]
async fn a_plugin_gets_diagnostics_only_if_it_asks_for_them() {
    for (options, wanted) in [(Value::Null, 0), (json!({"diagnostics": true}), 1)] {
        let mut editor = Editor::start(Manners::plugin().with("/initializationOptions", options)).await;
        editor.open("a.txt", TEXT).await;
        editor.agent("a.txt", &[(2, "2")]).await;
        editor.hear("hashline/pendingEdits").await;
        assert_eq!(editor.heard("textDocument/publishDiagnostics", SILENCE).await.len(), wanted);
        editor.quit().await;
    }
}

#[tokio::test]
async fn lines_and_short_names_say_which_hunks() {
    let mut editor = Editor::start(Manners::plain()).await;
    let uri = editor.open("a.txt", TEXT).await;
    editor.agent("a.txt", &[(1, "1"), (3, "3")]).await;
    let decide = json!({"decision": "reject", "uri": uri, "lines": {"start": 2, "end": 3}});
    let decided = editor.request("hashline/decide", decide).await;
    assert!(decided["result"]["queued"][0].as_str().unwrap().ends_with(":2"), "{decided}");
    let second = editor.agent("a.txt", &[(2, "2")]).await.edit.to_string();
    // As much of an id as nobody else's begins with; that others are refused is tried beside the code, with ids of choice.
    let decide = json!({"decision": "reject", "edit": &second[..35]});
    let decided = editor.request("hashline/decide", decide).await;
    assert_eq!(decided["result"]["queued"], json!([format!("{second}:1")]));
    let answer = editor.request("hashline/decide", json!({"decision": "accept", "edit": ""})).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("empty"), "{answer}");
    editor.quit().await;
}

#[tokio::test]
async fn a_client_that_did_not_announce_itself_hears_nothing_of_its_own() {
    let mut editor = Editor::start(Manners::plain()).await;
    editor.open("a.txt", TEXT).await;
    editor.agent("a.txt", &[(2, "2")]).await;
    assert!(editor.heard("hashline/pendingEdits", SILENCE).await.is_empty());
    editor.quit().await;
}

#[tokio::test]
async fn edits_of_files_that_are_not_open_are_told_and_decided() {
    let propose = json!({"mode": {"disk": "propose"}, "diagnostics": false});
    let mut editor = Editor::start(Manners::plugin().with("/initializationOptions", propose)).await;
    std::fs::write(editor.path("b.txt"), TEXT).unwrap();
    editor.in_folder().await;
    editor.agent("b.txt", &[(2, "2")]).await;
    let list = editor.hear("hashline/pendingEdits").await;
    assert_eq!(list["params"]["version"], Value::Null);
    let uri = list["params"]["uri"].as_str().unwrap().to_owned();
    let command = json!({"command": "hashline.accept", "arguments": [{"uri": uri}]});
    assert_eq!(editor.command(&command).await["result"], Value::Null);
    let list = editor.hear("hashline/pendingEdits").await;
    assert_eq!(list["params"]["edits"], json!([]));
    assert_eq!(std::fs::read_to_string(editor.path("b.txt")).unwrap(), "one\n2\nthree\n");
    editor.quit().await;
}

#[tokio::test]
async fn other_processes_find_it_ask_it_and_decide() {
    let state = tempfile::tempdir().unwrap();
    let state_dir = StateDir::new(Some(state.path())).unwrap();
    let run_tool: hashline_lsp::RunTool = Arc::new(|editor: &str, call: Call, _| {
        let said = Raw::of(&format!("{} in {editor}", call.tool));
        Box::pin(async move { said.map_err(|error| RemoteError::failed(error.to_string())) })
    });
    let threads = tokio::runtime::Handle::current();
    let agents = Some(Agents { state: state_dir.clone(), run_tool, http: None, claude: None, threads });
    let mut editor = Editor::start(Manners { agents, ..Manners::plain() }).await;
    let finder = Finder::new(state_dir);
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    // As soon as the editor can open a document, before the disk could be written under it.
    let [sidecar] = &*finder.sidecars() else { panic!("it is not announced") };
    let sidecar = sidecar.clone();
    let uri = editor.open("a.txt", TEXT).await;
    let reply = editor.agent("a.txt", &[(2, "2")]).await;
    assert_eq!(sidecar.editor, "Test 1");
    assert_eq!(sidecar.roots, editor.workspace.roots());
    let client = Client::connect(&sidecar).await.unwrap();
    let call = reading();
    assert_eq!(client.call(&call).await.unwrap().as_str(), "\"read_text_file in Test 1\"");
    let path = editor.path("a.txt").canonicalize().unwrap_or_else(|_| editor.path("a.txt"));
    let held = client.holds(&Holds { paths: vec![path, "/else".into()] }.paths).await.unwrap();
    assert!(held[0].open && held[0].dirty && held[0].pending == 1, "{held:?}");
    assert!(!held[1].open);
    let status = client.status().await.unwrap();
    assert_eq!((status.editor.as_str(), status.documents.len()), ("Test 1", 1));
    assert_eq!((status.documents[0].uri.as_str(), status.documents[0].pending), (uri.as_str(), 1));

    let decide =
        |edit: &str, decision| Decide { edit: edit.to_owned(), hunk: Some(1), decision, ..Decide::default() };
    let outcome = client.decide(&decide("nothing", Decision::Accept)).await.unwrap();
    assert_eq!(outcome.result, DecideResult::NotFound);
    let outcome = client.decide(&decide(reply.edit.short(), Decision::Accept)).await.unwrap();
    assert_eq!(outcome.result, DecideResult::Queued, "{outcome:?}");
    editor.deliver().await;
    editor.until("the acceptance", |workspace| workspace.reviews().is_empty()).await;
    let outcome = client.decide(&decide(reply.edit.as_str(), Decision::Accept)).await.unwrap();
    assert_eq!(outcome.result, DecideResult::Done);

    let event = json!({"event": {"added": [{"uri": format!("file://{}", state.path().display()), "name": "s"}], "removed": []}});
    editor.notify("workspace/didChangeWorkspaceFolders", event).await;
    while finder.sidecars().first().is_none_or(|sidecar| sidecar.roots.len() != 2) {
        assert!(std::time::Instant::now() < deadline + Duration::from_secs(5), "its roots are announced");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    editor.quit().await;
    assert!(finder.sidecars().is_empty());
}

/// What an agent asks for that reads.
fn reading() -> Call {
    let caller = CallerInfo {
        agent: "a".into(),
        connection: "1".into(),
        roots: None,
        grants: None,
        reviews: true,
        no_hard_links: false,
    };
    Call { caller, tool: "read_text_file".into(), arguments: Default::default() }
}

/// As a call does that is as large as one may be, for as long as it takes. They have one thread: with more of them, which takes up the
/// next call while another is kept is not certain.
#[tokio::test]
async fn an_editor_is_answered_while_a_call_keeps_the_threads_of_agents_busy() {
    let state = tempfile::tempdir().unwrap();
    let state_dir = StateDir::new(Some(state.path())).unwrap();
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let threads = threads.unwrap();
    let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    let run_tool: hashline_lsp::RunTool = Arc::new(move |_: &str, _: Call, _| {
        let (began, released) = (began.clone(), released.clone());
        Box::pin(async move {
            began.send(()).unwrap();
            let ended = released.lock().unwrap().recv_timeout(Duration::from_secs(10));
            Raw::of(&ended.is_ok()).map_err(|error| RemoteError::failed(error.to_string()))
        })
    });
    let agents = Agents {
        state: state_dir.clone(),
        run_tool,
        http: None,
        claude: None,
        threads: threads.handle().clone(),
    };
    let mut editor = Editor::start(Manners { agents: Some(agents), ..Manners::plain() }).await;
    let [sidecar] = &*Finder::new(state_dir).sidecars() else { panic!("it is not announced") };
    let client = Client::connect(sidecar).await.unwrap();
    let uri = editor.open("a.txt", TEXT).await;
    let call = reading();
    let call = tokio::spawn(async move { client.call(&call).await.unwrap().as_str().to_owned() });
    begun.recv().await.unwrap();
    editor.replace(&uri, "three", "3").await;
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}});
    let hover = editor.request("textDocument/hover", at).await;
    assert!(hover.get("result").is_some(), "{hover}");
    release.send(()).unwrap();
    assert_eq!(call.await.unwrap(), "true", "the editor was answered after it");
    editor.quit().await;
    threads.shutdown_background();
}

#[tokio::test]
async fn the_session_ends_however_the_editor_goes() {
    // By closing its end, even in the middle of a message.
    for last in [&b""[..], b"Content-Length: 100\r\n\r\n{\"json"] {
        let mut editor = Editor::start(Manners::plain()).await;
        editor.open("a.txt", TEXT).await;
        editor.write(last).await;
        editor.hang_up().await;
        editor.ended().await;
    }
    // Without a word of goodbye.
    let mut editor = Editor::start(Manners::plain()).await;
    editor.notify("exit", Value::Null).await;
    editor.ended().await;
    // By a signal to the sidecar.
    let mut editor = Editor::start(Manners::plain()).await;
    editor.stop.cancel();
    editor.ended().await;
    // Before it has said anything, and with a first word that is none.
    let mut editor = Editor::connect(tempfile::tempdir().unwrap(), None, None);
    let answer = editor.request("textDocument/hover", json!({})).await;
    assert_eq!(answer["error"]["code"], -32002);
    editor.notify("textDocument/didOpen", json!({"textDocument": {}})).await;
    editor.hang_up().await;
    editor.ended().await;
}

#[tokio::test]
async fn an_editor_that_dies_with_an_edit_in_flight() {
    let mut editor = Editor::start(Manners::plain()).await;
    let uri = editor.open("a.txt", TEXT).await;
    editor.agent("a.txt", &[(2, "2")]).await;
    let command = json!({"command": "hashline.accept", "arguments": [{"uri": uri}]});
    editor.command(&command).await;
    editor.delivery().await;
    editor.hang_up().await;
    editor.ended().await;
}
