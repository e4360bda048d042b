//! Files that a real editor has open (`hashline lsp` with a plain LSP client), with work in them that is not saved: what is decided from a
//! terminal happens in the editor's text, and never on the disk under it.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hashline_history::path::to_text;
use serde_json::{Value, json};

use crate::agent::{Agent, twenty};
use crate::project::Project;

/// An editor with some documents, that carries out what its server asks for. ASCII only.
pub struct Editor {
    child: Child,
    shared: Arc<Shared>,
}

struct Shared {
    stdin: Mutex<ChildStdin>,
    state: Mutex<State>,
    /// How many questions were asked after the first.
    asked: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Per document its URI, version and text.
    documents: Vec<(String, i64, String)>,
    answered: Vec<Value>,
    /// What the person was told.
    told: Vec<String>,
    /// What is locked when a delivery comes, and until it is taken away from here.
    lock: Option<File>,
    /// Why files are not renamed or removed now.
    busy: Option<&'static str>,
}

pub fn uri(path: &Path) -> String {
    let text = to_text(path);
    if text.starts_with("file://") { text.into_owned() } else { format!("file://{text}") }
}

impl Editor {
    pub fn start(project: &Project) -> Self {
        Self::start_with(project, &[])
    }

    /// One that does these operations on files when it is asked.
    pub fn start_with(project: &Project, operations: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
        command.args(["lsp", "--editor", "an-editor", "--state-dir"]).arg(project.temp.path().join("state"));
        command.current_dir(&project.folder).env_remove("HASHLINE_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = Mutex::new(child.stdin.take().unwrap());
        let shared = Arc::new(Shared { stdin, state: Mutex::default(), asked: AtomicU64::new(0) });
        let (stdout, hears) = (BufReader::new(child.stdout.take().unwrap()), shared.clone());
        std::thread::spawn(move || hears.listen(stdout));
        let editor = Self { child, shared };
        let edits = json!({"documentChanges": true, "resourceOperations": operations});
        let capabilities = json!({"workspace": {"applyEdit": true, "workspaceEdit": edits}});
        let folder = json!({"uri": uri(&project.folder), "name": "project"});
        editor.shared.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "processId": null, "rootUri": uri(&project.folder), "workspaceFolders": [folder],
            "capabilities": capabilities, "clientInfo": {"name": "an-editor", "version": "1"},
            "initializationOptions": {"hashline": {"diagnostics": false}}
        }}));
        until("the handshake", || {
            editor.shared.state.lock().unwrap().answered.iter().any(|one| one["id"] == 1)
        });
        editor.shared.tell("initialized", &json!({}));
        editor
    }

    /// Opens a file, with a text that may not be the one on the disk.
    pub fn open(&self, path: &Path, text: &str) {
        self.shared.state.lock().unwrap().documents.push((uri(path), 1, text.to_owned()));
        let document = json!({"uri": uri(path), "languageId": "text", "version": 1, "text": text});
        self.shared.tell("textDocument/didOpen", &json!({"textDocument": document}));
    }

    pub fn text(&self, path: &Path) -> String {
        let state = self.shared.state.lock().unwrap();
        state.documents.iter().find(|(name, ..)| *name == uri(path)).unwrap().2.clone()
    }

    /// Asks the server for something.
    pub fn ask(&self, method: &str, params: &Value) -> Value {
        let id = self.shared.asked.fetch_add(1, Ordering::Relaxed) + 2;
        self.shared.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer =
            || self.shared.state.lock().unwrap().answered.iter().find(|one| one["id"] == id).cloned();
        until(method, || answer().is_some());
        answer().unwrap()["result"].clone()
    }

    /// What the person was told so far.
    pub fn told(&self) -> Vec<String> {
        self.shared.state.lock().unwrap().told.clone()
    }

    /// The names and texts of what is open.
    pub fn texts(&self) -> Vec<(String, String)> {
        let state = self.shared.state.lock().unwrap();
        let name = |uri: &String| uri.rsplit('/').next().unwrap_or_default().to_owned();
        let mut texts: Vec<_> =
            state.documents.iter().map(|(uri, _, text)| (name(uri), text.clone())).collect();
        texts.sort();
        texts
    }

    /// From now on files are not renamed or removed, for this reason.
    pub fn is_busy(&self, why: Option<&'static str>) {
        self.shared.state.lock().unwrap().busy = why;
    }

    /// Ends the server as a crash does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The person replaces the first place where something stands.
    pub fn types(&self, path: &Path, old: &str, new: &str) {
        let mut state = self.shared.state.lock().unwrap();
        let text = &state.documents.iter().find(|(name, ..)| *name == uri(path)).unwrap().2;
        let from = text.find(old).unwrap_or_else(|| panic!("{old:?} is not in {text}"));
        let edit = json!({"range": {"start": place(text, from), "end": place(text, from + old.len())}, "newText": new});
        self.shared.change(&mut state, &uri(path), &[edit]);
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn place(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    json!({"line": before.matches('\n').count(), "character": at - start})
}

fn offset(text: &str, place: &Value) -> usize {
    let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    start + usize::try_from(place["character"].as_u64().unwrap()).unwrap()
}

impl Shared {
    fn say(&self, message: &Value) {
        let body = message.to_string();
        // It may have ended.
        let _ = write!(self.stdin.lock().unwrap(), "Content-Length: {}\r\n\r\n{body}", body.len());
    }

    fn tell(&self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn change(&self, state: &mut State, uri: &str, edits: &[Value]) {
        let (_, version, text) = state.documents.iter_mut().find(|(name, ..)| name == uri).unwrap();
        let mut changes = Vec::new();
        // From the last to the first, so that the places of the others stay true.
        for edit in edits.iter().rev() {
            let (start, end) = (offset(text, &edit["range"]["start"]), offset(text, &edit["range"]["end"]));
            text.replace_range(start..end, edit["newText"].as_str().unwrap());
            changes.push(json!({"range": edit["range"], "text": edit["newText"]}));
        }
        *version += 1;
        let document = json!({"uri": uri, "version": version});
        self.tell("textDocument/didChange", &json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Renames or removes the file of a document.
    fn operate(&self, state: &mut State, operation: &Value) {
        let path = |uri: &Value| PathBuf::from(uri.as_str().unwrap().strip_prefix("file://").unwrap());
        let new = operation.get("newUri");
        let old = if new.is_some() { &operation["oldUri"] } else { &operation["uri"] };
        match new {
            Some(new) => std::fs::rename(path(old), path(new)).unwrap(),
            None => std::fs::remove_file(path(old)).unwrap(),
        }
        let at = state.documents.iter().position(|(uri, ..)| old == uri).unwrap();
        let (_, _, text) = state.documents.remove(at);
        self.tell("textDocument/didClose", &json!({"textDocument": {"uri": old}}));
        if let Some(new) = new {
            let document = json!({"uri": new, "languageId": "text", "version": 1, "text": text});
            state.documents.push((new.as_str().unwrap().to_owned(), 1, text));
            self.tell("textDocument/didOpen", &json!({"textDocument": document}));
        }
    }

    fn listen(&self, mut stdout: impl BufRead) {
        loop {
            let (mut length, mut line) = (0, String::new());
            while stdout.read_line(&mut line).is_ok_and(|read| read > 2) {
                if let Some(value) = line.trim().strip_prefix("Content-Length: ") {
                    length = value.parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            if length == 0 || stdout.read_exact(&mut body).is_err() {
                return;
            }
            let message: Value = serde_json::from_slice(&body).unwrap();
            let mut state = self.state.lock().unwrap();
            let result = match message["method"].as_str() {
                None => {
                    state.answered.push(message);
                    continue;
                }
                Some("workspace/applyEdit") => {
                    let changes = message["params"]["edit"]["documentChanges"].as_array().unwrap();
                    let change = &changes[0];
                    let (uri, version) = (&change["textDocument"]["uri"], &change["textDocument"]["version"]);
                    let fits = state.documents.iter().any(|(name, now, _)| uri == name && version == now);
                    let busy = state.busy.filter(|_| changes.len() > 1);
                    if let Some(operation) = changes.get(1).filter(|_| fits && busy.is_none()) {
                        self.operate(&mut state, operation);
                    } else if fits && busy.is_none() {
                        if let Some(file) = &state.lock {
                            file.lock().unwrap();
                        }
                        self.change(&mut state, uri.as_str().unwrap(), change["edits"].as_array().unwrap());
                    }
                    json!({"applied": fits && busy.is_none(), "failureReason": busy})
                }
                Some("window/showMessage") => {
                    state.told.push(message["params"]["message"].as_str().unwrap().to_owned());
                    Value::Null
                }
                Some("workspace/configuration") => json!([null]),
                Some(_) => Value::Null,
            };
            if let Some(id) = message.get("id") {
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
        }
    }
}

pub fn until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(15), "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A folder with two files that an editor has open, one of them with work that is not saved, and an agent that has found it.
struct Scene {
    project: Project,
    editor: Editor,
    agent: Agent,
    a: PathBuf,
    b: PathBuf,
}

const UNSAVED: &str = "not saved\n";

impl Scene {
    fn new() -> Self {
        let project = Project::new();
        let (a, b) = (project.write("a.txt", &twenty()), project.write("b.txt", &twenty()));
        let editor = Editor::start(&project);
        editor.open(&a, &(UNSAVED.to_owned() + &twenty()));
        editor.open(&b, &twenty());
        let mut agent = Agent::start(&project, &[]);
        let begun = Instant::now();
        while !agent.read(&a).contains("|not saved") {
            assert!(begun.elapsed() < Duration::from_secs(15), "the agent does not find the editor");
        }
        Self { project, editor, agent, a, b }
    }

    /// The disk is as it was before anything happened.
    fn assert_disk_untouched(&self) {
        assert_eq!((self.project.text("a.txt"), self.project.text("b.txt")), (twenty(), twenty()));
    }

    fn assert_text(&self, expected: &str) {
        until(&format!("{expected:?} in place of {:?}", self.editor.text(&self.a)), || {
            self.editor.text(&self.a) == expected
        });
    }

    /// Waits until the record has what the editor showed.
    fn settled(&self, edit: &str, status: &str) {
        until(&format!("{edit} {status}"), || self.project.status_of(edit) == status);
    }
}

/// Section 9, rule 1, in an editor: in and out again, as often as one likes, with the unsaved text as it is.
#[test]
fn decisions_change_the_buffer_and_not_the_disk() {
    let mut scene = Scene::new();
    let edit =
        scene.agent.edit(&scene.a, &[("replace", "line 3", "third"), ("replace", "line 12", "twelfth")]);
    let original = UNSAVED.to_owned() + &twenty();
    scene.assert_text(&original);
    let ran = scene.project.must(0, &["accept", &format!("{}:1", edit.id)]);
    assert_eq!(
        ran.out,
        format!("Accepted {}, hunk 1.\n", &edit.id[..8]),
        "the editor shows it before the command ends"
    );
    let one = original.replace("line 3\n", "third\n");
    scene.assert_text(&one);
    for _ in 0..3 {
        scene.project.must(0, &["reject", &format!("{}:1", edit.id)]);
        scene.assert_text(&original);
        scene.project.must(0, &["accept", &format!("{}:1", edit.id)]);
        scene.assert_text(&one);
    }
    scene.project.must(0, &["reject", &edit.id, "--reason", "no"]);
    scene.settled(&edit.id, "accepted");
    scene.assert_text(&one);
    scene.project.must(0, &["reject", &edit.id]);
    scene.assert_text(&original);
    scene.settled(&edit.id, "rejected");
    scene.assert_disk_untouched();
    scene.project.assert_whole();
}

/// A command that says that something is decided has it in the record: the next one builds on it.
#[test]
fn what_is_said_to_be_decided_is_recorded() {
    let mut scene = Scene::new();
    let edit = scene.agent.edit(&scene.a, &[("replace", "line 3", "third")]);
    let lock = File::open(scene.project.folder.join(".mcp/edit_history/lock")).unwrap();
    scene.editor.shared.state.lock().unwrap().lock = Some(lock);
    std::thread::scope(|threads| {
        let (ended, end) = channel();
        let (project, id) = (&scene.project, &edit.id);
        threads.spawn(move || ended.send(project.run(&["accept", id])));
        scene.assert_text(&(UNSAVED.to_owned() + &twenty().replace("line 3\n", "third\n")));
        let early = end.recv_timeout(Duration::from_millis(500));
        drop(scene.editor.shared.state.lock().unwrap().lock.take());
        assert!(early.is_err(), "it was said before it could be recorded: {}", early.unwrap().out);
        let ran = end.recv().unwrap();
        assert_eq!(ran.code, 0, "{}", ran.err);
    });
    assert_eq!(scene.project.status_of(&edit.id), "accepted");
}

/// Section 5: a conversation at once, in one call for each document, in the order that its edits need.
#[test]
fn a_conversation_in_open_and_closed_files() {
    let mut scene = Scene::new();
    let closed = scene.project.write("closed.txt", &twenty());
    let first = scene.agent.edit(&scene.a, &[("replace", "line 3", "third\nthird and a half")]);
    let conversation = first.conversation.clone();
    let mut more = |path: &Path, line: &str, content: &str| {
        let edited = scene.agent.edit_in(path, Some(&conversation), &[("replace", line, content)]);
        assert!(!edited.refused, "{}", edited.text);
        edited.id
    };
    let ids = [
        first.id.clone(),
        more(&scene.a, "third and a half", "3.5"),
        more(&scene.b, "line 5", "fifth"),
        more(&closed, "line 7", "seventh"),
    ];
    assert!(scene.project.text("closed.txt").contains("seventh"));
    scene.project.must(0, &["accept", "-c", &conversation]);
    let with = UNSAVED.to_owned() + &twenty().replace("line 3\n", "third\n3.5\n");
    scene.assert_text(&with);
    until("b", || scene.editor.text(&scene.b) == twenty().replace("line 5", "fifth"));
    for id in &ids {
        scene.settled(id, "accepted");
    }
    scene.project.must(0, &["reject", "-c", &conversation]);
    scene.assert_text(&(UNSAVED.to_owned() + &twenty()));
    until("b", || scene.editor.text(&scene.b) == twenty());
    assert_eq!(scene.project.text("closed.txt"), twenty());
    // All of it comes back, too.
    scene.project.must(0, &["accept", "-c", &conversation]);
    scene.assert_text(&with);
    until("b", || scene.editor.text(&scene.b) == twenty().replace("line 5", "fifth"));
    assert!(scene.project.text("closed.txt").contains("seventh"));
    scene.assert_disk_untouched();
}

/// Lines that the person changed inside an edit are asked about here as on the disk, and a copy is kept of those that are given up.
#[test]
fn typing_inside_an_edit_is_kept_or_given_up() {
    for (flag, left) in [("--keep", "third, mine\n"), ("--force", "line 3\n")] {
        let mut scene = Scene::new();
        let edit = scene.agent.edit(&scene.a, &[("replace", "line 3", "third\nand more")]);
        scene.project.must(0, &["accept", &edit.id]);
        let original = UNSAVED.to_owned() + &twenty();
        scene.assert_text(&original.replace("line 3\n", "third\nand more\n"));
        scene.editor.types(&scene.a, "third", "third, mine");
        let mine = scene.editor.text(&scene.a);
        let ran = scene.project.must(4, &["reject", &edit.id]);
        assert!(ran.err.contains("You changed lines") && ran.err.contains("--keep"), "{}", ran.err);
        assert_eq!(scene.editor.text(&scene.a), mine);
        let ran = scene.project.must(0, &["reject", &edit.id, flag]);
        until(flag, || {
            scene.editor.text(&scene.a).contains(left) && !scene.editor.text(&scene.a).contains("and more")
        });
        let copy = ran.out.lines().find_map(|line| line.split("is kept in ").nth(1));
        assert_eq!(copy.is_some(), flag == "--force", "{}", ran.out);
        if let Some(copy) = copy {
            assert_eq!(std::fs::read_to_string(copy.trim_end_matches('.')).unwrap(), mine);
        }
        scene.assert_disk_untouched();
    }
}

/// A conflict is solved from the terminal, too: both, the agent's, or mine.
#[test]
fn a_conflict_is_solved_in_the_buffer() {
    for (arguments, lines) in [
        (&["accept", "--keep"][..], "line 3, mine\nthird\n"),
        (&["accept", "--force"], "third\n"),
        (&["reject"], "line 3, mine\n"),
    ] {
        let mut scene = Scene::new();
        let edit = scene.agent.edit(&scene.a, &[("replace", "line 3", "third")]);
        scene.editor.types(&scene.a, "line 3\n", "line 3, mine\n");
        let mine = scene.editor.text(&scene.a);
        let ran = scene.project.must(4, &["accept", &edit.id]);
        assert!(ran.err.contains("You changed a line") && ran.err.contains("--force"), "{}", ran.err);
        let ran = scene.project.must(0, &[arguments, &[edit.id.as_str()]].concat());
        scene.assert_text(&mine.replace("line 3, mine\n", lines));
        assert_eq!(ran.out.contains("is kept in"), arguments.contains(&"--force"), "{}", ran.out);
        scene.assert_disk_untouched();
    }
}

/// What another conversation built on it needs a word, which reaches the editor.
#[test]
fn what_is_built_on_it_is_decided_with_it() {
    let mut scene = Scene::new();
    let below = scene.agent.edit(&scene.a, &[("replace", "line 3", "third\nthird and a half")]);
    let mut other = Agent::start(&scene.project, &[]);
    let begun = Instant::now();
    while !other.read(&scene.a).contains("|third and a half") {
        assert!(begun.elapsed() < Duration::from_secs(15));
    }
    let above = other.edit(&scene.a, &[("replace", "third and a half", "3.5")]);
    let ran = scene.project.must(4, &["accept", &above.id]);
    assert!(ran.err.contains(&below.id[..8]) && ran.err.contains("--with-others"), "{}", ran.err);
    scene.project.must(0, &["accept", &above.id, "--with-others"]);
    scene.assert_text(&(UNSAVED.to_owned() + &twenty().replace("line 3\n", "third\n3.5\n")));
    scene.project.must(4, &["reject", &below.id]);
    scene.project.must(0, &["reject", &below.id, &above.id]);
    scene.assert_text(&(UNSAVED.to_owned() + &twenty()));
    scene.assert_disk_untouched();
}

/// Held edits of one turn that build on each other are one decision (rule W11), and what goes along is named.
#[test]
fn what_is_held_together_is_named_together() {
    let mut scene = Scene::new();
    let one = scene.agent.edit(&scene.a, &[("replace", "line 3", "third")]);
    let two = scene.agent.edit(&scene.a, &[("replace", "third", "3rd")]);
    let refused = scene.project.must(4, &["accept", &format!("{}:1", two.id)]);
    assert!(refused.err.contains(&format!("It builds on {}:1. To decide", &one.id[..8])), "{}", refused.err);
    let ran = scene.project.must(0, &["accept", &format!("{}:1", two.id), "--with-others"]);
    scene.assert_text(&(UNSAVED.to_owned() + &twenty().replace("line 3\n", "3rd\n")));
    assert_eq!(
        ran.out,
        format!(
            "Accepted {}, hunk 1.\nAccepted {}, hunk 1, which goes with it.\n",
            &two.id[..8],
            &one.id[..8]
        )
    );
    scene.settled(&two.id, "accepted");
    scene.assert_disk_untouched();
}

/// One of them alone comes in alone, where it can.
#[test]
fn what_is_named_comes_in_alone() {
    let mut scene = Scene::new();
    let one = scene.agent.edit(&scene.a, &[("replace", "line 3", "third")]);
    let two = scene.agent.edit(&scene.a, &[("replace", "third", "3rd")]);
    let ran = scene.project.must(0, &["accept", &one.id]);
    assert_eq!(ran.out, format!("Accepted {}, hunk 1.\n", &one.id[..8]));
    scene.assert_text(&(UNSAVED.to_owned() + &twenty().replace("line 3\n", "third\n")));
    scene.settled(&one.id, "accepted");
    assert_eq!(scene.project.status_of(&two.id), "pending");
    scene.assert_disk_untouched();
}

/// An editor that is gone leaves its undecided edits behind: they are decided on the disk then.
#[test]
fn edits_outlive_their_editor() {
    let mut scene = Scene::new();
    let edit = scene.agent.edit(&scene.b, &[("replace", "line 5", "fifth")]);
    drop(scene.editor);
    scene.project.must(0, &["accept", &edit.id]);
    assert_eq!(scene.project.text("b.txt"), twenty().replace("line 5", "fifth"));
}

/// A document that has no file yet is not given another one's.
#[test]
fn no_file_takes_a_name_that_an_editor_has_open() {
    let project = Project::new();
    let at = |name: &str| project.folder.join(name);
    for name in ["a", "p", "q"] {
        project.write(name, &format!("{name}\n"));
    }
    let mut agent = Agent::start(&project, &[]);
    let (removed, _) = agent.remove(&at("p"), None);
    agent.rename(&at("q"), &at("p"), None);
    agent.remove(&at("p"), None);
    let (moved, _) = agent.rename(&at("a"), &at("b"), None);
    drop(agent);

    let editor = Editor::start(&project);
    editor.open(&at("p"), "mine\n");
    editor.open(&at("a"), "mine, too\n");
    for (edit, name) in [(&removed, "p"), (&moved, "a")] {
        let refused = project.must(4, &["reject", edit]);
        assert!(refused.err.contains("is open in"), "{}", refused.err);
        assert!(!at(name).exists() && project.status_of(edit) == "pending");
    }
    assert_eq!(project.text("b"), "a\n");
    drop(editor);
    project.must(0, &["reject", &moved]);
    assert_eq!(project.text("a"), "a\n");
}

/// Where what is open cannot go, what is closed stays.
#[test]
fn a_conversation_goes_in_closed_files_only_if_it_goes_in_open_ones() {
    let mut scene = Scene::new();
    let closed = scene.project.write("closed.txt", &twenty());
    let moved = scene.project.folder.join("moved.txt");
    let edit = scene.agent.edit(&scene.a, &[("replace", "line 3", "third\nand more")]);
    let (rename, _) = scene.agent.rename(&closed, &moved, Some(&edit.conversation));
    scene.project.must(0, &["accept", "-c", &edit.conversation]);
    until("a", || scene.editor.text(&scene.a).contains("third\nand more"));
    scene.editor.types(&scene.a, "third", "third, mine");
    let mine = scene.editor.text(&scene.a);

    let refused = scene.project.must(4, &["reject", "-c", &edit.conversation]);
    assert!(
        refused.err.contains("You changed lines") && refused.out.is_empty(),
        "{}{}",
        refused.out,
        refused.err
    );
    assert!(moved.exists() && !closed.exists() && scene.editor.text(&scene.a) == mine);
    scene.settled(&rename, "accepted");
    scene.project.must(0, &["reject", "-c", &edit.conversation, "--keep"]);
    until("the move", || closed.exists() && !moved.exists());
    until("a", || {
        scene.editor.text(&scene.a).contains("third, mine")
            && !scene.editor.text(&scene.a).contains("and more")
    });
}
