//! Files that an editor has open are renamed and removed by it, also where a conversation is decided about from a terminal: all of it, or
//! nothing and why.
#![cfg(unix)]

use std::path::PathBuf;

use serde_json::json;

use crate::agent::Agent;
use crate::plain_editor::{Editor, until};
use crate::project::Project;

/// A folder with files, of which an editor has some open, and an agent that has found it.
struct Scene {
    project: Project,
    editor: Editor,
    agent: Agent,
    conversation: Option<String>,
}

type Files<'a> = &'a [(&'a str, &'a str)];

fn owned(files: Files<'_>) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

impl Scene {
    fn new(files: Files<'_>, open: &[&str]) -> Self {
        let project = Project::new();
        for (name, text) in files {
            project.write(name, text);
        }
        let editor = Editor::start_with(&project, &["rename", "delete"]);
        let agent = Agent::start(&project, &[]);
        let mut scene = Self { project, editor, agent, conversation: None };
        open.iter().for_each(|name| scene.open(name));
        scene
    }

    fn at(&self, name: &str) -> PathBuf {
        self.project.folder.join(name)
    }

    fn open(&mut self, name: &str) {
        let path = self.at(name);
        self.editor.open(&path, &self.project.text(name));
        let agent = std::cell::RefCell::new(&mut self.agent);
        until("the agent's way to the editor", || agent.borrow_mut().read(&path).contains(" Open in "));
    }

    fn close(&mut self, name: &str) {
        let path = self.at(name);
        self.editor.close(&path);
        let agent = std::cell::RefCell::new(&mut self.agent);
        until("the agent's way to the disk", || !agent.borrow_mut().read(&path).contains(" Open in "));
    }

    /// What an agent does, in the conversation of the scene.
    fn notes(&mut self, (edit, conversation): (String, String)) -> String {
        self.conversation.get_or_insert(conversation);
        edit
    }

    fn moves(&mut self, from: &str, to: &str) -> String {
        let (from, to) = (self.at(from), self.at(to));
        let made = self.agent.rename(&from, &to, self.conversation.as_deref());
        self.notes(made)
    }

    fn makes(&mut self, name: &str, text: &str) -> String {
        let path = self.at(name);
        let made = self.agent.make(&path, text, self.conversation.as_deref());
        self.notes(made)
    }

    fn removes(&mut self, name: &str) -> String {
        let path = self.at(name);
        let made = self.agent.remove(&path, self.conversation.as_deref());
        self.notes(made)
    }

    fn accept(&self, edit: &str) {
        self.project.must(0, &["accept", edit]);
        until(edit, || self.project.status_of(edit) == "accepted");
    }

    /// Decides about the conversation. Gives back what was said.
    fn all(&self, code: i32, verb: &str) -> String {
        let ran = self.project.must(code, &[verb, "-c", self.conversation.as_deref().unwrap()]);
        ran.out + &ran.err
    }

    /// The folder holds just these files, and the editor just these texts.
    fn holds(&self, files: Files<'_>, texts: Files<'_>) {
        until(&format!("{texts:?} in place of {:?}", self.editor.texts()), || {
            self.editor.texts() == owned(texts)
        });
        let mut found: Vec<(String, String)> = Vec::new();
        for entry in std::fs::read_dir(&self.project.folder).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_file() {
                let name = entry.file_name().into_string().unwrap();
                found.push((name.clone(), self.project.text(&name)));
            }
        }
        found.sort();
        assert_eq!(found, owned(files));
    }

    fn is_over(&self) {
        let (_, json) = self.project.json(&["status", "--json", "-n", "0"]);
        let edits = json["edits"].as_array().unwrap();
        assert!(edits.iter().all(|edit| edit["status"] != "pending"), "{json}");
    }
}

#[test]
fn a_swap_of_which_a_file_is_open_goes_and_comes_as_one() {
    let mut scene = Scene::new(&[("a", "a\n"), ("b", "b\n")], &["a"]);
    let edit = scene.moves("a", "t");
    scene.holds(&[("a", "a\n"), ("b", "b\n")], &[("a", "a\n")]);
    scene.accept(&edit);
    scene.holds(&[("b", "b\n"), ("t", "a\n")], &[("t", "a\n")]);
    scene.moves("b", "a");
    let edit = scene.moves("t", "b");
    scene.accept(&edit);
    for _ in 0..2 {
        scene.all(0, "accept");
        scene.holds(&[("a", "b\n"), ("b", "a\n")], &[("b", "a\n")]);
        scene.is_over();
        scene.all(0, "reject");
        scene.holds(&[("a", "a\n"), ("b", "b\n")], &[("a", "a\n")]);
        scene.is_over();
    }
}

/// Where an editor does not do its part after all, of each file it is said whether it is decided.
#[test]
fn what_comes_after_a_renaming_that_an_editor_does_not_do_is_told() {
    let mut scene = Scene::new(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")], &["a", "b"]);
    for (from, to) in [("a", "t"), ("b", "u")] {
        let edit = scene.moves(from, to);
        scene.accept(&edit);
    }
    scene.moves("c", "d");
    scene.holds(&[("d", "c\n"), ("t", "a\n"), ("u", "b\n")], &[("t", "a\n"), ("u", "b\n")]);
    scene.editor.is_busy(Some("it is busy"));
    let said = scene.all(1, "reject");
    assert!(said.contains("it is busy"), "{said}");
    assert!(said.contains(" in t was not rejected. It comes after what was not decided."), "{said}");
    scene.holds(&[("c", "c\n"), ("t", "a\n"), ("u", "b\n")], &[("t", "a\n"), ("u", "b\n")]);
    scene.editor.is_busy(None);
    scene.all(0, "reject");
    scene.holds(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")], &[("a", "a\n"), ("b", "b\n")]);
    scene.is_over();
}

/// What an editor has open is decided about between what is done on the disk before and behind it: names are shared on one side of that alone.
#[test]
fn a_swap_on_the_disk_goes_back_beside_a_file_that_is_open() {
    let mut scene = Scene::new(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n"), ("e", "e\n")], &["e"]);
    scene.moves("a", "t");
    scene.moves("b", "a");
    let moved = scene.moves("e", "f");
    scene.accept(&moved);
    scene.moves("t", "b");
    let taken = scene.project.must(0, &["accept", "-c", scene.conversation.as_deref().unwrap()]);
    assert_eq!(taken.err, "");
    scene.agent.rename(&scene.at("c"), &scene.at("t"), None);
    let after = [("a", "b\n"), ("b", "a\n"), ("f", "e\n"), ("t", "c\n")];
    for _ in 0..2 {
        scene.holds(&after, &[("f", "e\n")]);
        scene.all(0, "reject");
        scene.holds(&[("a", "a\n"), ("b", "b\n"), ("e", "e\n"), ("t", "c\n")], &[("e", "e\n")]);
        scene.all(0, "accept");
    }
    scene.holds(&after, &[("f", "e\n")]);
}

/// An editor renames one file after the other, so each of its names has to be free.
#[test]
fn a_swap_of_which_a_file_is_open_needs_the_name_in_between() {
    let mut scene = Scene::new(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")], &[]);
    scene.moves("a", "t");
    scene.moves("b", "a");
    scene.moves("t", "b");
    let (third, _) = scene.agent.rename(&scene.at("c"), &scene.at("t"), None);
    scene.open("a");
    scene.open("b");
    let (files, texts) = ([("a", "b\n"), ("b", "a\n"), ("t", "c\n")], [("a", "b\n"), ("b", "a\n")]);
    scene.holds(&files, &texts);
    let said = scene.all(4, "reject");
    assert!(said.contains(&third[..8]) && !said.contains("Rejected"), "{said}");
    scene.holds(&files, &texts);
    scene.project.must(0, &["reject", &third]);
    scene.all(0, "reject");
    scene.holds(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")], &[("a", "a\n"), ("b", "b\n")]);
}

#[test]
fn a_file_that_is_open_goes_for_the_one_that_had_its_name() {
    let mut scene = Scene::new(&[("a", "a\n")], &[]);
    scene.moves("a", "a.bak");
    scene.makes("a", "new\n");
    scene.open("a");
    scene.all(0, "reject");
    scene.holds(&[("a", "a\n")], &[]);
    scene.is_over();
    scene.all(0, "accept");
    scene.holds(&[("a", "new\n"), ("a.bak", "a\n")], &[]);
    scene.is_over();
}

/// Nothing of it is done where the editor has unsaved work in a file that would be renamed, or would get some.
#[test]
fn a_conversation_stays_where_a_file_is_not_saved() {
    let mut scene = Scene::new(&[("a", "a\n"), ("c", "c\n")], &["a"]);
    let moved = scene.moves("a", "b");
    scene.moves("c", "d");
    scene.accept(&moved);
    let files = [("b", "a\n"), ("d", "c\n")];
    scene.editor.types(&scene.at("b"), "a", "mine");
    let said = scene.all(1, "reject");
    assert!(said.contains("not saved") && !said.contains("Rejected"), "{said}");
    scene.holds(&files, &[("b", "mine\n")]);
    assert_eq!(scene.project.status_of(&moved), "accepted");

    let mut scene = Scene::new(&[("p", "one\ntwo\n"), ("q", "q\n")], &["p"]);
    let path = scene.at("p");
    let edited = scene.agent.put(&path, "two\n", "2\n", None);
    let edited = scene.notes(edited);
    let removed = scene.removes("p");
    scene.moves("q", "r");
    let said = scene.all(1, "accept");
    assert!(said.contains("save the file") && !said.contains("Accepted"), "{said}");
    scene.holds(&[("p", "one\ntwo\n"), ("r", "q\n")], &[("p", "one\ntwo\n")]);
    for edit in [edited, removed] {
        assert_eq!(scene.project.status_of(&edit), "pending");
    }
}

/// What an editor does not do is not said to be done.
#[test]
fn a_removal_that_the_editor_does_not_do_is_refused_for_its_reason() {
    let mut scene = Scene::new(&[("p", "p\n")], &["p"]);
    let removed = scene.removes("p");
    scene.editor.is_busy(Some("you are typing in it"));
    let refused = scene.project.must(1, &["accept", &removed]);
    assert!(refused.err.contains("you are typing in it") && refused.out.is_empty(), "{}", refused.err);
    scene.holds(&[("p", "p\n")], &[("p", "p\n")]);
    assert_eq!(scene.project.status_of(&removed), "pending");
    scene.editor.is_busy(None);
    scene.accept(&removed);
    scene.holds(&[], &[]);
}

/// An editor that has closed a file knows its edits, and does not stand against another one with that name.
#[test]
fn a_name_is_free_of_which_an_editor_only_knows() {
    let mut scene = Scene::new(&[("a", "a\n")], &[]);
    let moved = scene.moves("a", "b");
    scene.accept(&moved);
    scene.makes("a", "new\n");
    scene.open("a");
    scene.close("a");
    scene.removes("a");
    scene.project.must(0, &["reject", &moved]);
    scene.holds(&[("a", "a\n")], &[]);
}

/// A file that has the name which a move would give it is not in its own way: what has to be done before is named.
#[test]
fn a_file_is_not_in_its_own_way() {
    let mut scene = Scene::new(&[("a", "a\n")], &[]);
    let first = scene.moves("a", "b");
    scene.open("b");
    let second = scene.moves("b", "a");
    scene.project.must(0, &["reject", &first]);
    scene.holds(&[("a", "a\n")], &[("a", "a\n")]);
    let refused = scene.project.must(4, &["accept", &second]);
    assert!(
        refused.err.contains(&format!("{}:1 removed, made or renamed the file before it", &first[..8])),
        "{}",
        refused.err
    );
    scene.holds(&[("a", "a\n")], &[("a", "a\n")]);
}

/// What somebody made where a file was stands against that one as on the disk, though an editor knows of its removal.
#[test]
fn a_folder_has_the_name_of_a_file_that_an_editor_knows() {
    let mut scene = Scene::new(&[("a", "a\n"), ("c", "c\n")], &["c"]);
    let removed = scene.removes("a");
    let inside = scene.makes("a/x", "x\n");
    let refused = scene.project.must(4, &["reject", &removed]);
    assert!(refused.err.contains(&format!("`mcpdiff reject {}:1`", &inside[..8])), "{}", refused.err);
    scene.all(0, "reject");
    scene.holds(&[("a", "a\n"), ("c", "c\n")], &[("c", "c\n")]);
    // Lines that wait in it are decided about as well.
    scene.open("a");
    let (path, conversation) = (scene.at("a"), scene.conversation.clone());
    let (waits, _) = scene.agent.put(&path, "a\n", "1\n", conversation.as_deref());
    let removed = scene.removes("a");
    scene.accept(&removed);
    scene.makes("a/x", "x\n");
    scene.project.must(0, &["reject", &waits]);
}

/// In an editor, too, a removal is decided about whose file's name a folder has by now: by itself, and with its conversation.
#[test]
fn a_removal_is_decided_in_an_editor_though_a_folder_has_the_name() {
    for was_open in [true, false] {
        let mut scene = Scene::new(&[("a", "a\n"), ("c", "c\n")], &["c"]);
        if was_open {
            scene.open("a");
            scene.close("a");
        }
        let removed = scene.removes("a");
        let inside = scene.makes("a/x", "x\n");
        let decides = |verb: &str, what: &serde_json::Value| {
            let command = json!({"command": format!("hashline.{verb}"), "arguments": [what]});
            scene.editor.ask("workspace/executeCommand", &command);
        };
        decides("reject", &json!({"edit": removed}));
        until("the reason", || scene.editor.told().iter().any(|told| told.contains("is a folder now")));
        assert_eq!(scene.project.status_of(&removed), "pending");
        decides("accept", &json!({"conversation": scene.conversation}));
        for edit in [&inside, &removed] {
            until(edit, || scene.project.status_of(edit) == "accepted");
        }
    }
}

/// The same of a file that an editor had under that name: what stands against its return is said once, with the way out.
#[test]
fn a_folder_has_the_name_that_an_editor_knows_a_file_by() {
    let mut scene = Scene::new(&[("a", "a\n")], &["a"]);
    let moved = scene.moves("a", "b");
    scene.close("a");
    scene.project.must(0, &["reject", &moved]);
    scene.accept(&moved);
    scene.open("b");
    let inside = scene.makes("a/x", "x\n");
    scene.close("b");
    let path = scene.at("b");
    scene.agent.put(&path, "a\n", "1\n", None);
    let refused = scene.project.must(4, &["reject", &moved]);
    assert!(refused.err.contains(&format!("`mcpdiff reject {}:1`", &inside[..8])), "{}", refused.err);
    assert_eq!(refused.err.matches("was not rejected").count(), 1, "{}", refused.err);
}

/// What was decided and not saved is asked again, also where what was rejected and saved before was accepted after all.
#[test]
fn what_was_accepted_after_all_and_not_saved_is_asked_again() {
    let mut scene = Scene::new(&[("a", "1\n2\n3\n4\n5\n")], &[]);
    let path = scene.at("a");
    let (first, _) = scene.agent.put(&path, "5\n", "five\n", None);
    let (edit, _) = scene.agent.put(&path, "3\n", "three\n", None);
    scene.open("a");
    scene.project.must(0, &["reject", &edit]);
    until("the rejection", || scene.editor.text(&path).contains("\n3\n"));
    scene.editor.save(&path);
    // Its editor is gone before that is recorded.
    scene.editor.kill();
    scene.editor = Editor::start_with(&scene.project, &["rename", "delete"]);
    scene.open("a");
    scene.project.must(0, &["reject", &first]);
    scene.project.must(0, &["accept", &edit]);
    until("the acceptance", || scene.editor.text(&path).contains("\nthree\n"));
    scene.close("a");
    let statuses = || (scene.project.status_of(&first), scene.project.status_of(&edit));
    until(&format!("{:?}, another than", statuses()), || {
        statuses() == ("pending".to_owned(), "pending".to_owned())
    });
}

/// What was accepted and given up with the text waits again, and what was proposed later for its place waits for the decision about it.
#[test]
fn what_was_accepted_and_not_saved_comes_before_what_was_proposed_later() {
    let mut scene = Scene::new(&[("a", "1\n2\n3\n")], &[]);
    let path = scene.at("a");
    let (first, _) = scene.agent.put(&path, "2\n", "two\n", None);
    scene.open("a");
    scene.project.must(0, &["reject", &first]);
    until("the rejection", || scene.editor.text(&path).contains("\n2\n"));
    scene.editor.save(&path);
    let (second, _) = scene.agent.put(&path, "2\n", "deux\n", None);
    scene.project.must(0, &["accept", &first]);
    until("the acceptance", || scene.editor.text(&path).contains("\ntwo\n"));
    scene.close("a");
    let statuses = || (scene.project.status_of(&first), scene.project.status_of(&second));
    until(&format!("{:?}, another than", statuses()), || {
        statuses() == ("pending".to_owned(), "pending".to_owned())
    });
    let words = scene.project.must(4, &["accept", &second]).err;
    let offer = format!("mcpdiff reject {}:1", &first[..8]);
    assert!(words.contains("only one of the two can be in the text") && words.contains(&offer), "{words}");
    scene.project.must(0, &["reject", &first]);
    scene.project.must(0, &["accept", &second]);
    assert_eq!(scene.project.text("a"), "1\ndeux\n3\n");
}

/// A file was to have a name, and is gone with the folder that it was made in, as a file has the name of that one again.
#[test]
fn the_name_that_a_file_was_to_have_is_free_once_that_is_rejected() {
    let mut scene = Scene::new(&[("a", "a\n"), ("c", "c\n")], &["c"]);
    let (_, turn) = scene.agent.remove(&scene.at("a"), None);
    scene.agent.make(&scene.at("a/x"), "x\n", Some(&turn));
    scene.open("a/x");
    let (moved, _) = scene.agent.rename(&scene.at("a/x"), &scene.at("b"), None);
    scene.project.must(0, &["reject", "-c", &turn]);
    assert_eq!(scene.project.text("a"), "a\n");
    scene.project.must(0, &["reject", &moved]);
    scene.agent.make(&scene.at("b"), "new\n", None);
    assert_eq!(scene.project.text("b"), "new\n");
}

/// What an editor has closed is nobody's soon, also where it was opened anew in between and nothing was left to decide.
#[test]
fn a_claim_is_given_back_by_whoever_closes_the_file() {
    let mut scene = Scene::new(&[("a", "a\n"), ("c", "c\n")], &["a", "c"]);
    let path = scene.at("a");
    let (edit, _) = scene.agent.put(&path, "a\n", "1\n", None);
    scene.accept(&edit);
    scene.editor.save(&path);
    let store = scene.project.store();
    let is_owned = || store.documents().unwrap().iter().any(|document| document.owner.is_some());
    until("the claim", is_owned);
    scene.close("a");
    scene.open("a");
    scene.close("a");
    until("the end of the claim", || !is_owned());
}

/// The same where its editor has removed it, and has another one open that has its name.
#[test]
fn a_claim_is_given_back_of_a_file_that_its_editor_removed() {
    let mut scene = Scene::new(&[("c", "c\n")], &[]);
    let made = scene.makes("a", "new\n");
    scene.open("a");
    let store = scene.project.store();
    let owned = || store.documents().unwrap().iter().filter(|document| document.owner.is_some()).count();
    until("the claim", || owned() == 1);
    scene.project.must(0, &["reject", &made]);
    scene.holds(&[("c", "c\n")], &[]);
    scene.moves("c", "a");
    scene.open("a");
    until("the claim to the other", || owned() == 2);
    until("the end of the claim", || owned() == 1);
    scene.holds(&[("a", "c\n")], &[("a", "c\n")]);
}

/// The same where the file has another name by then.
#[test]
fn a_claim_is_given_back_of_a_file_that_moves_as_soon_as_it_is_closed() {
    let mut scene = Scene::new(&[("a", "a\n"), ("c", "c\n")], &["a", "c"]);
    let moved = scene.moves("a", "b");
    let store = scene.project.store();
    let is_owned = || store.documents().unwrap().iter().any(|document| document.owner.is_some());
    until("the claim", is_owned);
    scene.close("a");
    scene.accept(&moved);
    scene.holds(&[("b", "a\n"), ("c", "c\n")], &[("c", "c\n")]);
    until("the end of the claim", || !is_owned());
}

/// A folder without files is no more in the way of an editor than on the disk.
#[test]
fn a_folder_without_files_goes_for_a_file_that_is_open() {
    let mut scene = Scene::new(&[("a", "a\n")], &[]);
    let moved = scene.moves("a", "b");
    scene.accept(&moved);
    scene.open("b");
    std::fs::create_dir_all(scene.at("a/x")).unwrap();
    scene.project.must(0, &["reject", &moved]);
    scene.holds(&[("a", "a\n")], &[("a", "a\n")]);
}

/// A file that is made where somebody has removed one that nothing is recorded of has nothing of that one.
#[test]
fn a_new_file_has_nothing_of_one_that_somebody_removed() {
    let mut scene = Scene::new(&[("a", "a\n"), ("c", "c\n")], &["c"]);
    let path = scene.at("a");
    assert!(scene.agent.read(&path).contains("|a"));
    std::fs::remove_file(&path).unwrap();
    let made = scene.makes("a", "new\n");
    scene.project.must(0, &["reject", &format!("{made}:2")]);
    assert_eq!(scene.project.text("a"), "");
}

/// An editor that has removed a file has closed it: what was made there is decided about by whoever comes, at once.
#[test]
fn a_file_that_its_editor_removed_is_nobodys() {
    let mut scene = Scene::new(&[], &[]);
    let made = scene.makes("n", "n\n");
    scene.open("n");
    let moved = scene.moves("n", "m");
    scene.accept(&moved);
    scene.all(0, "reject");
    scene.holds(&[], &[]);
    for edit in [&made, &moved] {
        scene.project.must(0, &["accept", edit]);
    }
    scene.holds(&[("m", "n\n")], &[]);
    scene.all(0, "reject");
    scene.holds(&[], &[]);
    scene.all(0, "accept");
    scene.holds(&[("m", "n\n")], &[]);
    scene.is_over();
    scene.open("m");
    scene.removes("m");
    for _ in 0..2 {
        scene.all(0, "accept");
        scene.holds(&[], &[]);
        scene.is_over();
        scene.all(0, "reject");
        scene.holds(&[], &[]);
        scene.is_over();
    }
}
