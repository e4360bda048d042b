//! Files that programs act on by themselves, and git repositories of any name, for every tool that writes: on the disk, in an editor whose
//! mode lets edits go in at once, and over HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use hashline_mcp::{NameStyle, ToolName, Toolset, list};
use hashline_workspace::document::{Choice, Mode, Request, Target};
use hashline_workspace::{Hold, Rule, Settings};
use rmcp::model::Tool;
use serde_json::{Value, json};

use crate::attacks::{SECRET, path_fields, walk, worst};
use crate::desk::Answer;
use crate::http::client::{Client, Http};
use crate::place::{Editor, Place};
use crate::protocol::{Connection, call};

/// A file of each kind, by its way from a folder.
const OBEYED: [&str; 10] = [
    ".vscode/tasks.json",
    ".VSCode/Settings.json",
    ".envrc",
    ".husky/pre-commit",
    ".nvim.lua",
    ".mcp.json",
    ".claude/settings.json",
    ".cursor/rules/a.mdc",
    "CLAUDE.md",
    ".gitattributes",
];

/// How agents reach the folder.
enum Face {
    Stdio(Connection),
    Http(Box<(Http, Client)>),
}

impl Face {
    async fn call(&self, tool: &str, given: Value) -> Answer {
        match self {
            Face::Stdio(connection) => call(connection, tool, given).await,
            Face::Http(http) => http.1.tool(tool, given).await,
        }
    }

    async fn http() -> (Self, PathBuf) {
        let http = Http::start().await;
        let (client, root) = (http.legacy(&["write:/"]).await, http.place.root.clone());
        (Face::Http(Box::new((http, client))), root)
    }
}

fn put(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// All that is in a folder but hashline's record, which is written at any time.
fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap());
    for entry in entries.filter(|entry| entry.file_name() != ".mcp") {
        walk(&entry.path(), &mut found);
    }
    found
}

/// Each tool that writes, with each of its arguments that is a path.
fn writing() -> Vec<(Tool, String)> {
    let tools = list(&BTreeSet::from(Toolset::ALL), NameStyle::Plain);
    let writes = |tool: &Tool| ToolName::ALL.iter().any(|n| n.as_str() == tool.name && !n.is_read_only());
    let fields = |tool: Tool| path_fields(&tool).into_iter().map(move |field| (tool.clone(), field));
    let writing: Vec<_> = tools.into_iter().filter(writes).flat_map(fields).collect();
    assert!(writing.len() >= 11, "{writing:?}");
    writing
}

/// Everything that an agent can do with one path, each in a folder of its own, so that none is in the way of another: with a file
/// that is there, and with one that is not; plainly, around a corner, and through a link.
async fn everything(face: &Face, root: &Path, mut opened: impl FnMut(&Path)) {
    put(&root.join("a.txt"), SECRET);
    let mut held = BTreeMap::new();
    for (at, name) in OBEYED.into_iter().enumerate() {
        for (tool, field) in writing() {
            let folder = format!("{at}-{}-{field}", tool.name);
            let there = root.join(&folder).join(name);
            put(&there, SECRET);
            symlink(&there, root.join(&folder).join("link.txt")).unwrap();
            opened(&there);
            let spellings = match field == "destination" {
                true => vec![format!("{folder}/new/{name}")],
                false => vec![
                    [
                        format!("{folder}/{name}"),
                        format!("{folder}/x/../{name}"),
                        format!("{folder}/link.txt"),
                    ][at % 3]
                        .clone(),
                    format!("{folder}/new/{name}"),
                ],
            };
            for path in spellings {
                let before = tree(root);
                let given = Value::Object(worst(&tool, &field, &path));
                let said = face.call(&tool.name, given).await;
                let what = format!("{} with {field} {path}: {}", tool.name, said.text);
                assert_eq!(tree(root), before, "{what}");
                if !said.failed {
                    assert!(said.text.contains("held in every mode, as "), "{what}");
                    *held.entry((tool.name.clone(), field.clone())).or_insert(0) += 1;
                }
            }
        }
        // What a move would take is where it was; the next is one of another file.
        std::fs::remove_file(root.join("a.txt")).unwrap();
        put(&root.join("a.txt"), SECRET);
    }
    let each: BTreeSet<_> = writing().into_iter().map(|(tool, field)| (tool.name, field)).collect();
    assert_eq!(held.keys().cloned().collect::<BTreeSet<_>>(), each, "every tool fell for it: {held:?}");
}

fn applies() -> Settings {
    let all = Rule::new(None, Some("**"), Mode::Apply).unwrap();
    Settings { open: Mode::Apply, disk: Mode::Apply, rules: vec![all], ..Settings::default() }
}

fn hasty(place: &Place) -> Editor {
    let editor = place.editor("nvim", &[&place.root]);
    editor.workspace.set_settings(applies());
    editor
}

#[tokio::test]
async fn what_programs_obey_is_held_on_the_disk() {
    let place = Place::new();
    everything(&Face::Stdio(place.agent().await), &place.root, |_| {}).await;
}

#[tokio::test]
async fn what_programs_obey_is_held_over_http() {
    let (face, root) = Face::http().await;
    everything(&face, &root, |_| {}).await;
}

#[tokio::test]
async fn what_programs_obey_is_held_in_an_editor_that_does_not_have_it_open() {
    let place = Place::new();
    let _editor = hasty(&place);
    everything(&Face::Stdio(place.agent().await), &place.root, |_| {}).await;
}

#[tokio::test]
async fn what_programs_obey_is_held_in_an_editor_that_has_it_open() {
    let place = Place::new();
    let editor = hasty(&place);
    everything(&Face::Stdio(place.agent().await), &place.root, |file| editor.open(file, SECRET)).await;
    assert!(editor.workspace.reviews().len() > 50);
    for review in editor.workspace.reviews() {
        assert_eq!(editor.workspace.poll(&review.uri).0, None, "{}: nothing goes into the text", review.uri);
    }
}

/// Also by a link of such a name to a file of another one, and by a name that the file is to have.
#[tokio::test]
async fn a_name_that_leads_to_a_file_counts_as_much_as_its_own() {
    let place = Place::new();
    let agent = place.agent().await;
    for (file, link, target) in [("env.sh", ".envrc", "env.sh"), ("cfg/tasks.json", ".vscode", "cfg")] {
        place.write(file, "one\n");
        symlink(target, place.root.join(link)).unwrap();
    }
    symlink(".envrc", place.root.join("innocent.txt")).unwrap();
    for path in [".envrc", "innocent.txt", ".vscode/tasks.json"] {
        let said = call(&agent, "write_file", json!({ "path": path, "content": format!("{path}\n") })).await;
        assert!(said.text.contains("held in every mode"), "{path}: {}", said.text);
    }
    assert_eq!(std::fs::read_to_string(place.root.join("env.sh")).unwrap(), "one\n");

    place.write("notes.txt", "one\ntwo\n");
    let given = json!({ "path": "notes.txt", "content": "one\n2\n" });
    let made = call(&agent, "write_file", given).await;
    assert!(!made.failed && !made.text.contains("held"), "{}", made.text);
    let moved = json!({ "source": "notes.txt", "destination": "sub/.envrc" });
    assert!(call(&agent, "move_file", moved).await.text.contains("held in every mode"));
    let said = call(&agent, "write_file", json!({ "path": "notes.txt", "content": "mine\n" })).await;
    assert!(said.text.contains("held in every mode, as shells do"), "{}", said.text);
    let said = call(&agent, "withdraw_edit", json!({ "edit_id": made.edit_id() })).await;
    assert!(said.failed && said.text.contains("so the person decides about it"), "{}", said.text);
    assert_eq!(std::fs::read_to_string(place.root.join("notes.txt")).unwrap(), "one\n2\n");
}

#[tokio::test]
async fn the_person_decides_about_it_as_about_any_other_edit() {
    let place = Place::new();
    let editor = hasty(&place);
    let agent = place.agent().await;
    let open = place.write(".envrc", "one\n");
    editor.open(&open, "one\n");
    place.write(".vscode/tasks.json", "{}\n");
    let mut made = Vec::new();
    for path in [".envrc", ".vscode/tasks.json", ".husky/pre-push"] {
        let said = call(&agent, "write_file", json!({ "path": path, "content": "mine\n" })).await;
        assert!(said.text.contains("Held for the person to accept in nvim"), "{}", said.text);
        made.push(said.edit_id());
    }
    // What is held is taken back as ever.
    let said = call(&agent, "write_file", json!({ "path": ".npmrc", "content": "mine\n" })).await;
    let back = call(&agent, "withdraw_edit", json!({ "edit_id": said.edit_id() })).await;
    assert!(!back.failed, "{}", back.text);
    for edit in made {
        let decided = editor.workspace.decide(None, &Request::of(Choice::Accept, Target::Edit(edit))).await;
        assert!(!decided.queued.is_empty() && decided.refused.is_empty(), "{decided:?}");
    }
    let (delivery, _) = editor.workspace.poll(&crate::desk::uri(&open));
    assert_eq!(delivery.unwrap().edits.len(), 1, "an open one goes into the text");
    for (file, content) in
        [(".vscode/tasks.json", "mine\n"), (".husky/pre-push", "mine\n"), (".envrc", "one\n")]
    {
        assert_eq!(std::fs::read_to_string(place.root.join(file)).unwrap(), content, "{file}");
    }
}

#[tokio::test]
async fn the_settings_name_more_files() {
    let place = Place::new();
    let editor = hasty(&place);
    let hold = ["deploy/**", "Makefile"].map(|glob| Hold::new(glob).unwrap()).to_vec();
    editor.workspace.set_settings(Settings { hold, ..applies() });
    let agent = place.agent().await;
    for (path, is_held) in
        [("deploy/a/b.sh", true), ("MAKEFILE", true), ("src/../Makefile", true), ("src/Makefile", false)]
    {
        let said = call(&agent, "write_file", json!({ "path": path, "content": "mine\n" })).await;
        assert!(!said.failed, "{path}: {}", said.text);
        assert_eq!(said.text.contains("settings say so of this file (mode.hold)"), is_held, "{}", said.text);
        assert_eq!(place.root.join(path).exists(), !is_held, "{path}");
    }
}

/// A bare repository, and all pieces of another one but the last, for every tool that writes.
async fn repositories(face: &Face, root: &Path) {
    put(&root.join("a.txt"), SECRET);
    for file in ["HEAD", "config", "objects/info/packs", "refs/heads/main", "hooks/pre-commit"] {
        put(&root.join("sub/bare.git").join(file), SECRET);
    }
    put(&root.join("half/objects/x"), SECRET);
    put(&root.join("half/refs/x"), SECRET);
    symlink("sub/bare.git/hooks", root.join("hooks")).unwrap();
    let before = tree(root);
    for (tool, field) in writing() {
        for path in [
            "sub/bare.git/hooks/pre-commit",
            "sub/bare.git/hooks/post-checkout",
            "sub/bare.git/config",
            "sub/bare.git/new/x",
            "hooks/pre-commit",
            "hooks/new",
            "half/HEAD",
        ] {
            let said = face.call(&tool.name, Value::Object(worst(&tool, &field, path))).await;
            let what = format!("{} with {field} {path}: {}", tool.name, said.text);
            assert!(said.failed && said.text.contains("Use git itself"), "{what}");
            assert_eq!(tree(root), before, "{what}");
        }
    }
}

#[tokio::test]
async fn no_repository_is_written_or_made_on_the_disk() {
    let place = Place::new();
    repositories(&Face::Stdio(place.agent().await), &place.root).await;
}

#[tokio::test]
async fn no_repository_is_written_or_made_in_an_editor() {
    let place = Place::new();
    let editor = hasty(&place);
    let config = place.write("sub/bare.git/config", SECRET);
    editor.open(&config, SECRET);
    repositories(&Face::Stdio(place.agent().await), &place.root).await;
}

#[tokio::test]
async fn no_repository_is_written_or_made_over_http() {
    let (face, root) = Face::http().await;
    repositories(&face, &root).await;
}
