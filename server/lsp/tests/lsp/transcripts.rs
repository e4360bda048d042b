//! The golden transcripts are what the sidecar says: each is a scene that is played here, and compared with its file in
//! `editors/transcripts`. The plugins' tests replay the files.
//!
//! With `HASHLINE_UPDATE_TRANSCRIPTS=1` the files are written anew: look at them before committing.

use std::path::{Path, PathBuf};

use hashline_workspace::Caller;
use hashline_workspace::agent::{FileAction, FileRequest};
use serde_json::{Value, json};

use crate::editor::{Editor, Manners, SILENCE};

const GREET: &str = "function greet() {\n  return \"world\";\n}\n";
const LONG: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";
const CONVERSATION: &str = "conv_1763661600000_9f3c";
const ANOTHER: &str = "conv_1763661600500_04d1";

/// When all edits were made.
const MADE: u64 = 1_763_661_612_345;

/// Ids are other ones each time: these stand for them, in the order in which they come up.
const IDS: [&str; 3] = [
    "3f2a9c1b-52f6-4d0e-9b1f-0a6d2f7c8e11",
    "b81d04e7-0c35-4a92-8f6e-5d2b7a90c3f4",
    "5e67f2a8-d1b4-47c9-a3e0-91c8b6d52f07",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/transcripts")
}

/// A conversation that is being recorded, about one document.
struct Scene {
    editor: Editor,
    uri: String,
    said: Vec<Value>,
    ids: Vec<String>,
}

impl Scene {
    async fn start(settings: Value, text: &str) -> Self {
        let changes = json!({"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]});
        let manners = Manners::plugin()
            .with("/capabilities/workspace/workspaceEdit", changes)
            .with("/initializationOptions/hashline", settings);
        let mut editor = Editor::start(manners).await;
        editor.in_folder().await;
        std::fs::write(editor.path("greet.js"), text).unwrap();
        let uri = editor.open_at("greet.js", 7, text).await;
        editor.in_step(&uri).await;
        Self { editor, uri, said: Vec::new(), ids: Vec::new() }
    }

    /// Held until accepted.
    async fn propose(text: &str) -> Self {
        Self::start(json!({"diagnostics": false}), text).await
    }

    /// In the text at once.
    async fn apply(text: &str) -> Self {
        Self::start(json!({"mode": {"open": "apply"}, "diagnostics": false}), text).await
    }

    async fn edit(&mut self, conversation: &str, operations: &[(&str, usize, Option<&str>)]) {
        let reply = self.editor.operate("greet.js", Some(conversation), operations).await;
        self.ids.push(reply.edit.to_string());
    }

    async fn change_file(&mut self, change: FileAction, tool: &str) {
        let request = FileRequest {
            path: self.editor.path("greet.js").display().to_string(),
            change,
            conversation: Some(CONVERSATION.to_owned()),
            tool: tool.to_owned(),
            reason: None,
        };
        let reply = self.editor.workspace.change_file(&Caller::anywhere("claude-code", "1"), request).await;
        self.ids.push(reply.unwrap().edit.to_string());
    }

    /// The plugin says what brings about the next change.
    async fn cause(&mut self, cause: &str) {
        let uri = self.uri.clone();
        let said = self.editor.cause(&uri, cause, None).await;
        self.say("plugin", &json!("hashline/cause"), &said);
    }

    async fn type_over(&mut self, old: &str, new: &str) {
        let uri = self.uri.clone();
        self.editor.replace(&uri, old, new).await;
    }

    /// Waits until the list of the document, for its newest version, has these hunks: "1 held", "2 inText accepted", … Lists
    /// before it are left out, as several may come as one.
    async fn lists(&mut self, hunks: &[&str]) {
        let (uri, version) = (self.uri.clone(), Some(self.editor.texts[&self.uri].0));
        self.lists_of(&uri, version, hunks).await;
    }

    async fn lists_of(&mut self, uri: &str, version: Option<i64>, hunks: &[&str]) {
        let is_of = |said: &Value| said["method"] == "hashline/pendingEdits" && said["params"]["uri"] == uri;
        let list = loop {
            let list = self.editor.wait_for(is_of, &format!("a list of {hunks:?}")).await;
            let params = &list["params"];
            if params["version"].as_i64() == version && in_words(&params["edits"]) == hunks {
                break list;
            }
        };
        self.say("sidecar", &list["method"], &list["params"]);
    }

    fn say(&mut self, from: &str, method: &Value, params: &Value) {
        self.said.push(json!({"from": from, "method": method, "params": params}));
    }

    /// What the plugin asks, and the answer.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.editor.request(method, params.clone()).await;
        if let Some(queued) = answer.pointer_mut("/result/queued").and_then(Value::as_array_mut) {
            queued.sort_by_key(|name| self.ids.iter().position(|id| name.as_str().unwrap().starts_with(id)));
        }
        self.say("plugin", &json!(method), &params);
        self.said.push(json!({"from": "sidecar", "to": method, "result": answer["result"]}));
        answer["result"].clone()
    }

    /// A decision, with every field of the page.
    async fn decide(&mut self, decision: &str, said: Value) -> Value {
        let mut params = json!({"decision": decision, "uri": self.uri, "edit": null, "hunk": null,
            "conversation": null, "lines": null, "reason": null, "text": null, "edited": null, "withOthers": false});
        for (field, value) in said.as_object().unwrap() {
            params[field] = value.clone();
        }
        self.ask("hashline/decide", params).await
    }

    /// A decision about one hunk of the edit that was made so many edits before the last.
    async fn decide_hunk(&mut self, decision: &str, edit: usize, hunk: u32, more: Value) -> Value {
        let mut said = json!({"edit": self.ids[edit], "hunk": hunk});
        for (field, value) in more.as_object().unwrap() {
            said[field] = value.clone();
        }
        self.decide(decision, said).await
    }

    async fn deliver(&mut self) {
        self.editor.deliver().await;
    }

    /// Compares what was said with the transcript of this name.
    async fn is(mut self, name: &str) {
        self.editor.heard("hashline/pendingEdits", SILENCE).await;
        let root = self.editor.folder.path().canonicalize().unwrap();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let now = u64::try_from(since.as_millis()).unwrap();
        let settled = |message: &Value| {
            let mut text = message.to_string();
            for path in [root.as_path(), self.editor.folder.path()] {
                text = text.replace(path.to_str().unwrap(), "/project");
            }
            for (id, stands_for_it) in self.ids.iter().zip(IDS) {
                text = text.replace(id, stands_for_it).replace(&id[..8], &stands_for_it[..8]);
            }
            let mut message = serde_json::from_str::<Value>(&text).unwrap();
            for list in ["/params/edits", "/result/edits"] {
                let edits = message.pointer_mut(list).and_then(Value::as_array_mut);
                for edit in edits.into_iter().flatten() {
                    let age = edit["made"].as_u64().and_then(|made| now.checked_sub(made));
                    assert!(age.is_some_and(|age| age < 600_000), "{edit}");
                    edit["made"] = json!(MADE);
                }
            }
            message
        };
        let said: Vec<Value> = self.said.iter().map(settled).collect();
        self.editor.quit().await;
        let path = folder().join(format!("{name}.jsonl"));
        if std::env::var_os("HASHLINE_UPDATE_TRANSCRIPTS").is_some() {
            let lines: String = said.iter().map(|message| format!("{message}\n")).collect();
            std::fs::write(&path, lines).unwrap();
        }
        let recorded = std::fs::read_to_string(&path).unwrap_or_default();
        let recorded: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (line, (now, then)) in (1..).zip(said.iter().zip(&recorded)) {
            assert_eq!(now, then, "{name}, line {line}: HASHLINE_UPDATE_TRANSCRIPTS=1 writes it anew");
        }
        assert_eq!(said.len(), recorded.len(), "{name} has other lines");
    }
}

/// Hunks as tests name them.
fn in_words(edits: &Value) -> Vec<String> {
    let hunks = edits.as_array().unwrap().iter().flat_map(|edit| edit["hunks"].as_array().unwrap());
    let words = hunks.map(|hunk| {
        let mut words = format!("{} {}", hunk["number"], hunk["state"].as_str().unwrap());
        if hunk["deciding"] == true {
            words += " deciding";
        } else if hunk["decision"] != "undecided" {
            words = format!("{words} {}", hunk["decision"].as_str().unwrap());
        }
        words
    });
    words.collect()
}

#[tokio::test]
async fn accept_one() {
    let mut scene = Scene::propose(GREET).await;
    scene
        .edit(
            CONVERSATION,
            &[("replace", 2, Some("  return \"hello\";")), ("insert_after", 3, Some("greet();"))],
        )
        .await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.decide_hunk("accept", 0, 1, json!({})).await;
    scene.lists(&["1 held deciding", "2 held"]).await;
    scene.deliver().await;
    scene.lists(&["1 inText accepted", "2 held"]).await;
    scene.decide_hunk("reject", 0, 2, json!({"reason": "the caller greets"})).await;
    scene.lists(&[]).await;
    scene.is("accept_one").await;
}

#[tokio::test]
async fn accept_changed() {
    let mut scene = Scene::propose(GREET).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("  return \"hello\";"))]).await;
    scene.lists(&["1 held"]).await;
    let own = json!({"text": ["  // to be translated", "  return \"hello\";"]});
    scene.decide_hunk("accept", 0, 1, own).await;
    scene.lists(&["1 held deciding"]).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.is("accept_changed").await;
}

#[tokio::test]
async fn many_at_once() {
    let mut scene = Scene::propose(LONG).await;
    scene
        .edit(CONVERSATION, &[("replace", 1, Some("1")), ("replace", 3, Some("3")), ("delete", 5, None)])
        .await;
    scene.edit(ANOTHER, &[("insert_after", 5, Some("seven"))]).await;
    scene.lists(&["1 held", "2 held", "3 held", "1 held"]).await;
    scene.decide("accept", json!({"lines": {"start": 0, "end": 3}})).await;
    scene.deliver().await;
    scene.lists(&["1 inText accepted", "2 inText accepted", "3 held", "1 held"]).await;
    scene.decide("reject", json!({"uri": null, "conversation": ANOTHER, "reason": "six are enough"})).await;
    scene.lists(&["1 inText accepted", "2 inText accepted", "3 held"]).await;
    scene.decide("accept", json!({})).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.is("many_at_once").await;
}

#[tokio::test]
async fn keep_and_undo() {
    let mut scene = Scene::apply(LONG).await;
    scene
        .edit(CONVERSATION, &[("replace", 2, Some("2")), ("delete", 4, None), ("insert_after", 6, Some("7"))])
        .await;
    scene.deliver().await;
    scene.lists(&["1 inText", "2 inText", "3 inText"]).await;
    scene.decide_hunk("accept", 0, 1, json!({})).await;
    scene.lists(&["1 inText accepted", "2 inText", "3 inText"]).await;
    scene.decide_hunk("reject", 0, 3, json!({"reason": "there is no seventh"})).await;
    scene.deliver().await;
    scene.lists(&["1 inText accepted", "2 inText", "3 held rejected"]).await;
    scene.decide("reject", json!({})).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.is("keep_and_undo").await;
}

#[tokio::test]
async fn changed_by_the_person() {
    let mut scene = Scene::apply(LONG).await;
    scene
        .edit(
            CONVERSATION,
            &[("replace", 2, Some("2a\n2b")), ("replace", 4, Some("4a\n4b")), ("delete", 6, None)],
        )
        .await;
    scene.deliver().await;
    scene.type_over("2b", "2b, and mine").await;
    scene.type_over("4b", "4b, and mine").await;
    scene.lists(&["1 edited", "2 edited", "3 inText"]).await;
    scene.decide_hunk("reject", 0, 1, json!({"edited": "undo"})).await;
    scene.deliver().await;
    scene.lists(&["1 held rejected", "2 edited", "3 inText"]).await;
    scene.decide_hunk("reject", 0, 2, json!({"edited": "keep", "reason": "mine says more"})).await;
    scene.deliver().await;
    scene.lists(&["1 held rejected", "2 held rejected", "3 inText"]).await;
    scene.is("changed_by_the_person").await;
}

#[tokio::test]
async fn conflicts() {
    let mut scene = Scene::propose(LONG).await;
    scene
        .edit(
            CONVERSATION,
            &[
                ("replace", 1, Some("1")),
                ("replace", 3, Some("3")),
                ("replace", 5, Some("5")),
                ("delete", 6, None),
            ],
        )
        .await;
    // What touches is one hunk: the fifth and the sixth line.
    scene.lists(&["1 held", "2 held", "3 held"]).await;
    for (old, new) in [("one", "ONE"), ("three", "THREE"), ("five", "FIVE")] {
        scene.type_over(old, new).await;
    }
    scene.lists(&["1 conflicted", "2 conflicted", "3 conflicted"]).await;
    scene.decide_hunk("keepMine", 0, 1, json!({})).await;
    scene.lists(&["1 held rejected", "2 conflicted", "3 conflicted"]).await;
    scene.decide_hunk("takeTheirs", 0, 2, json!({})).await;
    scene.deliver().await;
    scene.lists(&["1 held rejected", "2 inText accepted", "3 conflicted"]).await;
    scene.decide_hunk("keepBoth", 0, 3, json!({})).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.is("conflicts").await;
}

#[tokio::test]
async fn conflict_that_ends() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2")), ("replace", 4, Some("4"))]).await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.type_over("two", "TWO").await;
    scene.lists(&["1 conflicted", "2 held"]).await;
    scene.cause("undo").await;
    scene.type_over("TWO", "two").await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.is("conflict_that_ends").await;
}

#[tokio::test]
async fn refused_for_a_conflict() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2")), ("replace", 4, Some("4"))]).await;
    scene.type_over("two", "TWO").await;
    scene.lists(&["1 conflicted", "2 held"]).await;
    scene.decide("accept", json!({})).await;
    scene.decide_hunk("accept", 0, 2, json!({})).await;
    scene.deliver().await;
    scene.lists(&["1 conflicted", "2 inText accepted"]).await;
    scene.is("refused_for_a_conflict").await;
}

#[tokio::test]
async fn one_needs_the_other() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2\n2b"))]).await;
    scene.edit(ANOTHER, &[("replace", 3, Some("2c"))]).await;
    scene.lists(&["1 held", "1 held"]).await;
    scene.ask("hashline/proposedText", json!({"uri": scene.uri})).await;
    scene.decide_hunk("accept", 1, 1, json!({})).await;
    scene.decide_hunk("accept", 1, 1, json!({"withOthers": true})).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.is("one_needs_the_other").await;
}

#[tokio::test]
async fn one_stands_against_the_other() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2"))]).await;
    scene.type_over("two", "TWO").await;
    scene.lists(&["1 conflicted"]).await;
    scene.edit(ANOTHER, &[("replace", 2, Some("zwei"))]).await;
    scene.lists(&["1 conflicted", "1 held"]).await;
    scene.decide_hunk("accept", 1, 1, json!({})).await;
    scene.deliver().await;
    scene.lists(&["1 conflicted"]).await;
    let refused = scene.decide_hunk("takeTheirs", 0, 1, json!({})).await;
    assert_eq!(refused["refused"][0]["why"], "collides", "{refused}");
    scene.is("one_stands_against_the_other").await;
}

#[tokio::test]
async fn joined() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2\n2b"))]).await;
    scene.edit(CONVERSATION, &[("replace", 3, Some("2c"))]).await;
    scene.lists(&["1 held", "1 held"]).await;
    scene.decide_hunk("accept", 0, 1, json!({})).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.is("joined").await;
}

#[tokio::test]
async fn undone_and_done_again() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2")), ("replace", 4, Some("4"))]).await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.decide_hunk("accept", 0, 1, json!({})).await;
    scene.deliver().await;
    scene.lists(&["1 inText accepted", "2 held"]).await;
    for (kind, old, new, hunks) in [
        ("undo", "2\n", "two\n", ["1 held", "2 held"]),
        ("redo", "two\n", "2\n", ["1 inText accepted", "2 held"]),
    ] {
        scene.cause(kind).await;
        scene.type_over(old, new).await;
        scene.lists(&hunks).await;
    }
    scene.is("undone_and_done_again").await;
}

#[tokio::test]
async fn reopened() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2")), ("replace", 4, Some("4"))]).await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.decide_hunk("reject", 0, 1, json!({"reason": "by mistake"})).await;
    scene.lists(&["1 held rejected", "2 held"]).await;
    scene.decide_hunk("reopen", 0, 1, json!({"uri": null})).await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.is("reopened").await;
}

#[tokio::test]
async fn commented() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2")), ("replace", 4, Some("4"))]).await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.decide_hunk("comment", 0, 1, json!({"reason": "is it used?"})).await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.decide("comment", json!({"lines": {"start": 1, "end": 4}, "reason": "both of them?"})).await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.decide_hunk("accept", 0, 1, json!({})).await;
    scene.deliver().await;
    scene.lists(&["1 inText accepted", "2 held"]).await;
    scene.is("commented").await;
}

#[tokio::test]
async fn withdrawn() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2"))]).await;
    scene.edit(ANOTHER, &[("replace", 4, Some("4"))]).await;
    scene.lists(&["1 held", "1 held"]).await;
    let caller = Caller::anywhere("claude-code", "1");
    scene.editor.workspace.withdraw(&caller, &scene.ids[0]).await.unwrap();
    // The person was about to decide when it went.
    let refused = scene.decide_hunk("accept", 0, 1, json!({})).await;
    assert_eq!(refused["refused"][0]["why"], "gone");
    scene.lists(&["1 held"]).await;
    scene.is("withdrawn").await;
}

#[tokio::test]
async fn file_removed() {
    let mut scene = Scene::propose(LONG).await;
    scene.change_file(FileAction::Delete, "delete_file").await;
    scene.lists(&["1 held"]).await;
    scene.decide_hunk("reject", 0, 1, json!({"reason": "it is still read"})).await;
    scene.lists(&[]).await;
    scene.is("file_removed").await;
}

#[tokio::test]
async fn file_renamed() {
    let mut scene = Scene::propose(LONG).await;
    scene.change_file(FileAction::Move("greeting.js".to_owned()), "move_file").await;
    scene.lists(&["1 held"]).await;
    scene.type_over("one", "1").await;
    // What is not saved would be lost.
    scene.decide_hunk("accept", 0, 1, json!({})).await;
    scene.is("file_renamed").await;
}

#[tokio::test]
async fn not_open() {
    let mut scene = Scene::start(json!({"mode": {"disk": "propose"}, "diagnostics": false}), GREET).await;
    std::fs::write(scene.editor.path("other.js"), LONG).unwrap();
    let other = scene.editor.uri("other.js");
    for (name, conversation) in
        [("greet.js", CONVERSATION), ("other.js", CONVERSATION), ("other.js", ANOTHER)]
    {
        let line = if conversation == ANOTHER { 5 } else { 2 };
        let reply = scene.editor.operate(name, Some(conversation), &[("replace", line, Some("  x"))]).await;
        scene.ids.push(reply.edit.to_string());
    }
    scene.lists(&["1 held"]).await;
    scene.lists_of(&other, None, &["1 held", "1 held"]).await;
    scene.decide("accept", json!({"uri": null, "conversation": CONVERSATION})).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.lists_of(&other, None, &["1 held"]).await;
    scene.decide_hunk("reject", 2, 1, json!({"uri": other})).await;
    scene.lists_of(&other, None, &[]).await;
    scene.is("not_open").await;
}

/// What the owner has is the same but for two fields (`server/cli/tests/diff` has two true editors).
#[tokio::test]
async fn decided_in_another_editor() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2")), ("replace", 4, Some("4"))]).await;
    scene.lists(&["1 held", "2 held"]).await;
    scene.decide("accept", json!({})).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.said.retain(|message| message["method"] == "hashline/pendingEdits");
    scene.said[0]["params"]["owner"] = json!("VS Code 1.139");
    scene.said[0]["params"]["readOnly"] = json!(true);
    scene.is("decided_in_another_editor").await;
}

#[tokio::test]
async fn compared() {
    let mut scene = Scene::propose(GREET).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("  return \"hello\";"))]).await;
    scene.lists(&["1 held"]).await;
    scene.ask("hashline/proposedText", json!({"uri": scene.uri})).await;
    scene.ask("hashline/status", Value::Null).await;
    scene.is("compared").await;
}

#[tokio::test]
async fn history() {
    let mut scene = Scene::propose(LONG).await;
    scene.edit(CONVERSATION, &[("replace", 2, Some("2")), ("replace", 4, Some("4"))]).await;
    scene.edit(ANOTHER, &[("replace", 6, Some("6"))]).await;
    scene.edit(CONVERSATION, &[("insert_after", 6, Some("7"))]).await;
    scene.lists(&["1 held", "2 held", "1 held", "1 held"]).await;
    scene.decide_hunk("accept", 0, 1, json!({})).await;
    scene.deliver().await;
    scene.decide_hunk("reject", 0, 2, json!({})).await;
    scene.decide_hunk("reject", 1, 1, json!({"reason": "six is a word"})).await;
    let caller = Caller::anywhere("claude-code", "1");
    scene.editor.workspace.withdraw(&caller, &scene.ids[2]).await.unwrap();
    scene.lists(&[]).await;
    scene.ask("hashline/history", json!({"uri": scene.uri})).await;
    // What was decided goes the other way. Each change is told once, and asked for then.
    scene.decide_hunk("accept", 1, 1, json!({})).await;
    scene.lists(&["1 held deciding"]).await;
    scene.ask("hashline/history", json!({"uri": scene.uri})).await;
    scene.deliver().await;
    scene.lists(&[]).await;
    scene.ask("hashline/history", json!({"uri": scene.uri})).await;
    scene.is("history").await;
}
