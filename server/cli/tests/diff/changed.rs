//! Files that something else has changed since their last edit (section 9, rule 2, and sections 7 and 8): the difference is shown, and the
//! person stops there, keeps the change or gives it up.

use std::path::PathBuf;

use crate::agent::{Agent, Edited, twenty};
use crate::project::{Project, Ran};

/// A file with an edit in two places, and a person who changed it afterwards.
fn changed(from: &str, to: &str) -> (Project, Edited) {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let edit = agent.edit(&path, &[("replace", "line 3", "third"), ("replace", "line 13", "thirteenth")]);
    let text = project.text("a.txt");
    assert!(text.contains(from));
    std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    (project, edit)
}

/// The copy that a run says it has kept.
fn kept(ran: &Ran) -> PathBuf {
    let line =
        ran.out.lines().find(|line| line.contains("is kept in ")).unwrap_or_else(|| panic!("{}", ran.out));
    PathBuf::from(line.split("is kept in ").nth(1).unwrap().trim_end_matches('.'))
}

#[test]
fn the_difference_is_shown_and_nothing_is_done() {
    let (project, edit) = changed("line 8\n", "line 8, mine\nand another\n");
    let text = project.text("a.txt");
    // As often as it is tried, and whatever of it is named.
    for name in [edit.id.clone(), format!("{}:2", edit.id), edit.conversation.clone()] {
        for verb in ["reject", "accept"] {
            let ran = project.must(3, &[verb, &name]);
            for line in ["-line 8", "+line 8, mine", "+and another", " line 9"] {
                assert!(ran.err.lines().any(|other| other == line), "{line:?} is not in {}", ran.err);
            }
            assert!(
                ran.err.contains("--keep") && ran.err.contains("--force") && ran.out.is_empty(),
                "{}",
                ran.err
            );
            assert_eq!(
                (project.text("a.txt"), project.status_of(&edit.id)),
                (text.clone(), "pending".into())
            );
        }
    }
    let (code, json) = project.json(&["reject", &edit.id, "--json"]);
    assert_eq!((code, &json["refused"][0]["why"]), (3, &"changed".into()));
}

#[test]
fn a_change_elsewhere_is_kept() {
    let (project, edit) = changed("line 8\n", "line 8, mine\nand another\n");
    let mine = project.text("a.txt");
    project.must(0, &["reject", &format!("{}:2", edit.id), "--keep"]);
    assert_eq!(project.text("a.txt"), mine.replace("thirteenth", "line 13"));
    // It is known from now on.
    project.must(0, &["reject", &format!("{}:1", edit.id)]);
    let without = twenty().replace("line 8\n", "line 8, mine\nand another\n");
    assert_eq!(project.text("a.txt"), without);
    project.must(0, &["accept", &edit.id]);
    assert_eq!(project.text("a.txt"), mine);
}

#[test]
fn a_change_in_the_same_place_is_a_conflict() {
    for (from, to) in [("third\n", "third, mine\n"), ("line 4\n", ""), ("line 2\n", "line 2\nmine\n")] {
        let (project, edit) = changed(from, to);
        let mine = project.text("a.txt");
        let hunk = format!("{}:1", edit.id);
        // The other hunk is where it was.
        project.must(0, &["reject", &format!("{}:2", edit.id), "--keep"]);
        let text = mine.replace("thirteenth", "line 13");
        assert_eq!(project.text("a.txt"), text);
        for flags in [&["reject", &hunk][..], &["reject", &hunk, "--force"]] {
            let ran = project.must(4, flags);
            assert!(ran.err.contains("no longer certain") && ran.err.contains("by hand"), "{}", ran.err);
            assert!(ran.err.contains("--keep") && !ran.err.contains("--force"), "{}", ran.err);
            assert_eq!(
                (project.text("a.txt"), project.status_of(&edit.id)),
                (text.clone(), "pending".into())
            );
        }
        // As the sentence says: taken out by hand, and that is counted as rejected, with the change that does it.
        let by_hand = text.replace("third", "3");
        std::fs::write(project.folder.join("a.txt"), &by_hand).unwrap();
        project.must(3, &["reject", &hunk]);
        let ran = project.must(0, &["reject", &hunk, "--keep", "--reason", "not so"]);
        assert!(ran.err.contains("text was left as it is"), "{}", ran.err);
        assert_eq!(
            (project.text("a.txt"), project.status_of(&edit.id)),
            (by_hand.clone(), "rejected".into())
        );
        // And the mind can be changed, which leaves the text alone as well.
        project.must(0, &["accept", &hunk]);
        project.must(0, &["reject", &hunk, "--keep"]);
        assert_eq!((project.text("a.txt"), project.status_of(&edit.id)), (by_hand, "rejected".into()));
    }
}

#[test]
fn a_change_is_given_up_and_a_copy_kept() {
    for (from, to) in [("third\n", "third, mine\n"), ("line 8\n", "line 8, mine\n"), ("line 20\n", "")] {
        let (project, edit) = changed(from, to);
        let mine = project.text("a.txt");
        let ran = project.must(0, &["reject", &format!("{}:1", edit.id), "--force"]);
        assert_eq!(project.text("a.txt"), twenty().replace("line 13", "thirteenth"));
        let copy = kept(&ran);
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), mine);
        assert!(copy.starts_with(project.folder.join(".mcp/edit_history")), "{}", copy.display());
        project.must(0, &["accept", &format!("{}:1", edit.id)]);
        assert_eq!(
            project.text("a.txt"),
            twenty().replace("line 3\n", "third\n").replace("line 13", "thirteenth")
        );
    }
}

/// Section 9, rule 2: what was changed since is given up for an acceptance too, though the file shows the edit; a copy is kept, as was said.
#[test]
fn accepting_gives_up_what_was_changed_since_where_that_is_wanted() {
    let (project, edit) = changed("line 8\n", "line 8, mine\n");
    let mine = project.text("a.txt");
    let refused = project.must(3, &["accept", &edit.id]);
    assert!(refused.err.contains("a copy is saved first"), "{}", refused.err);
    assert_eq!(project.text("a.txt"), mine);
    let ran = project.must(0, &["accept", &edit.id, "--force"]);
    assert_eq!(project.text("a.txt"), mine.replace("line 8, mine\n", "line 8\n"));
    assert_eq!(project.status_of(&edit.id), "accepted");
    let copy = ran.out.split_once("is kept in ").unwrap_or_else(|| panic!("{}", ran.out)).1;
    assert_eq!(std::fs::read_to_string(copy.trim_end().trim_end_matches('.')).unwrap(), mine);
    // Nothing is left to give up.
    project.must(0, &["reject", &edit.id]);
    project.must(0, &["accept", &edit.id]);
}

/// Nothing is given up for a decision that is not made.
#[test]
fn a_change_is_not_given_up_for_nothing() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let below = agent.edit(&path, &[("replace", "line 5", "fifth")]);
    Agent::start(&project, &[]).edit(&path, &[("replace", "fifth", "5th")]);
    std::fs::write(&path, project.text("a.txt") + "mine\n").unwrap();
    let mine = project.text("a.txt");
    let ran = project.must(4, &["reject", &below.id, "--force"]);
    assert!(!ran.out.contains("is kept in"), "{}", ran.out);
    assert_eq!(project.text("a.txt"), mine);
    project.must(3, &["reject", &below.id]);
    project.must(0, &["reject", &below.id, "--force", "--with-others"]);
    assert_eq!(project.text("a.txt"), twenty());
}

/// A line that was changed inside an edit, and that is known by now: keeping it keeps the line, giving it up keeps a copy.
#[test]
fn lines_inside_an_edit_are_asked_about() {
    for (flag, text) in [("--keep", "line 8, mine\n"), ("--force", "line 8, mine\n")] {
        let (project, edit) = changed("line 8\n", "line 8, mine\n");
        project.must(0, &["accept", &format!("{}:1", edit.id), "--keep"]);
        let ran = project.must(0, &["reject", &edit.id, flag]);
        assert!(
            project.text("a.txt").contains(text) && !ran.out.contains("is kept in"),
            "{flag}: {}",
            ran.out
        );
    }
}

/// A checkout brings back a text that was recorded: that is no change by somebody else.
#[test]
fn a_return_to_a_recorded_text_is_none() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let one = agent.edit(&path, &[("replace", "line 3", "third")]);
    let between = project.text("a.txt");
    let two = agent.edit(&path, &[("replace", "line 13", "thirteenth")]);
    std::fs::write(&path, &between).unwrap();
    project.must(0, &["reject", &one.id]);
    assert_eq!(project.text("a.txt"), twenty());
    project.must(0, &["accept", &two.id]);
    assert_eq!(project.text("a.txt"), twenty().replace("line 13", "thirteenth"));
}

/// A file that is gone, or is no text any more, is left alone.
#[test]
fn what_cannot_be_read_is_told() {
    let (project, edit) = changed("line 8\n", "line 8\n");
    let path = project.folder.join("a.txt");
    std::fs::write(&path, b"\xff\xfe\x00").unwrap();
    let ran = project.run(&["reject", &edit.id]);
    assert!(ran.code == 1 && ran.err.contains("a.txt"), "{}: {}", ran.code, ran.err);
    assert_eq!(std::fs::read(&path).unwrap(), b"\xff\xfe\x00");
    assert_eq!(project.status_of(&edit.id), "pending");
}

/// A file that something has removed was changed by that: nothing is decided, or it is written again as it was recorded.
#[test]
fn a_file_that_is_gone_comes_back_where_that_is_wanted() {
    for (verb, text) in [
        ("accept", twenty().replace("line 3\n", "third\n").replace("line 13", "thirteenth")),
        ("reject", twenty()),
    ] {
        let (project, edit) = changed("line 8\n", "line 8\n");
        let path = project.folder.join("a.txt");
        std::fs::remove_file(&path).unwrap();
        let ran = project.must(3, &[verb, &edit.id]);
        assert!(ran.err.contains("a.txt was removed") && ran.err.contains("--force"), "{}", ran.err);
        assert!(!ran.err.contains("file:///") && !ran.err.contains("--keep"), "{}", ran.err);
        let (code, json) = project.json(&[verb, &edit.id, "--json"]);
        assert_eq!((code, &json["refused"][0]["why"]), (3, &"removed".into()));
        assert_eq!((path.exists(), project.status_of(&edit.id)), (false, "pending".into()));
        if verb == "reject" {
            // There is nothing to keep it in.
            let ran = project.must(3, &[verb, &edit.id, "--keep"]);
            assert!(ran.err.contains("no text to decide about"), "{}", ran.err);
        }
        project.must(0, &[verb, &edit.id, "--force"]);
        assert_eq!((project.text("a.txt"), project.status_of(&edit.id)), (text, format!("{verb}ed")));
        let original = project.must(0, &[if verb == "accept" { "reject" } else { "accept" }, &edit.id]);
        assert!(original.err.is_empty(), "{}", original.err);
    }
}

/// Of a conversation over several files it is said which of them stands against it, and nothing of it is decided.
#[test]
fn a_refusal_names_the_file() {
    let project = Project::new();
    let (a, b) = (project.write("a.txt", &twenty()), project.write("src/b.txt", &twenty()));
    let mut agent = Agent::start(&project, &[]);
    let edit = agent.edit(&a, &[("replace", "line 3", "third")]);
    agent.edit_in(&b, Some(&edit.conversation), &[("replace", "line 3", "third")]);
    std::fs::write(&b, project.text("src/b.txt") + "mine\n").unwrap();
    let texts = |project: &Project| (project.text("a.txt"), project.text("src/b.txt"));
    let before = texts(&project);
    let name = b.display().to_string();
    let (code, json) = project.json(&["reject", "-c", &edit.conversation, "--json"]);
    assert_eq!((code, &json["refused"][0]["file_path"]), (3, &name.as_str().into()));
    let ran = project.must(3, &["reject", "-c", &edit.conversation]);
    let short = &edit.conversation[edit.conversation.len() - 8..];
    for words in [
        format!("{short} in src/b.txt was not rejected."),
        "nothing in this file was decided".to_owned(),
        format!("--- {name}, as recorded"),
        format!("+++ {name}, as it is"),
    ] {
        assert!(ran.err.contains(&words), "{words} is not in {}", ran.err);
    }
    assert_eq!((texts(&project), project.status_of(&edit.id)), (before, "pending".into()));
    project.must(0, &["reject", "-c", &edit.conversation, "--keep"]);
    assert_eq!(texts(&project), (twenty(), twenty() + "mine\n"));
}
