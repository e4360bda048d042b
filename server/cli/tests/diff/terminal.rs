//! `mcpdiff` on a terminal: colours, the width, and the review.

use crate::project::{Project, Ran, sample};
use crate::pty::typed_into;

/// Runs it in a terminal, and types lines into it.
pub fn in_terminal(project: &Project, arguments: &[&str], env: &[(&str, &str)], lines: &[&str]) -> Ran {
    let mut program = project.command(arguments);
    program.envs(env.iter().copied());
    let output = typed_into(&program, lines);
    let out = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
    Ran { code: output.status.code().unwrap(), out, err: String::from_utf8(output.stderr).unwrap() }
}

#[test]
fn colours_go_to_a_terminal_that_wants_them() {
    let project = sample();
    let colourful = in_terminal(&project, &["show", "aaaaaaaa"], &[], &[]);
    assert!(colourful.out.contains("\x1b[32m+second\x1b[0m"), "{:?}", colourful.out);
    let plain = in_terminal(&project, &["show", "aaaaaaaa"], &[("NO_COLOR", "1")], &[]);
    assert!(!plain.out.contains('\x1b') && plain.out.contains("\n+second\n"), "{:?}", plain.out);
    for arguments in [&["show", "aaaaaaaa"][..], &["status"]] {
        assert!(!project.run(arguments).out.contains('\x1b'));
    }
}

#[test]
fn a_table_fits_the_terminal() {
    let project = sample();
    let table = in_terminal(&project, &["status"], &[("NO_COLOR", "1")], &[]);
    assert_eq!(table.code, 0);
    assert!(
        table.out.lines().count() == 5 && table.out.lines().all(|line| line.chars().count() <= 80),
        "{}",
        table.out
    );
}

#[test]
fn a_review_asks_about_each_edit() {
    let project = sample();
    let plain = &[("NO_COLOR", "1")];
    let review = in_terminal(&project, &["review"], plain, &["x\n", "s\n", "s\n", "q\n"]);
    assert_eq!(review.code, 0, "{}", review.out);
    for words in [
        "edit aaaaaaaa-1  pending",
        "Edit 1 of 3: [a]ccept, [r]eject, [h]unk by hunk, [s]kip, [q]uit?",
        "a  accept the edit",
        "Edit 2 of 3: [a]ccept, [r]eject, [s]kip, [q]uit?",
        "rename to new/name.txt",
        "0 hunks accepted, 0 rejected, 4 skipped. 3 edits are left undecided.",
    ] {
        assert!(review.out.contains(words), "{words:?} is not in\n{}", review.out);
    }
    let hunks = in_terminal(&project, &["v", "-c", "1111"], plain, &["h\n", "s\n", "s\n", "s\n", "q\n"]);
    for words in ["Hunk 1 of 3: [a]ccept", "Hunk 3 of 3", "+twenty-first", "Edit 2 of 3"] {
        assert!(hunks.out.contains(words), "{words:?} is not in\n{}", hunks.out);
    }
    let none = in_terminal(&project, &["review", "-c", "2222"], plain, &[]);
    assert!(none.code == 1 && none.out.contains("Nothing is undecided"), "{}", none.out);
    // The end of the input is the end of the review.
    let end = in_terminal(&project, &["review"], plain, &["\u{4}"]);
    assert!(end.code == 0 && end.out.contains("3 edits are left"), "{}", end.out);
}
