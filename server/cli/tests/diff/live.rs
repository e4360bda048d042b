//! Files that a real editor has open (`hashline lsp` with a plain LSP client), with work in them that is not saved: what is decided from a
//! terminal happens in the editor's text, and never on the disk under it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::agent::{Agent, twenty};
use crate::plain_editor::{Editor, until};
use crate::project::Project;

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
    scene.editor.locks_first(Some(lock));
    std::thread::scope(|threads| {
        let (ended, end) = channel();
        let (project, id) = (&scene.project, &edit.id);
        threads.spawn(move || ended.send(project.run(&["accept", id])));
        scene.assert_text(&(UNSAVED.to_owned() + &twenty().replace("line 3\n", "third\n")));
        let early = end.recv_timeout(Duration::from_millis(500));
        scene.editor.locks_first(None);
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
