//! Folders and files of one name: a folder in the place of a file, and a file in the place of a folder. Real agents, decided about by the command.
#![cfg(unix)]

use crate::reused_names::{holds, scene};

/// A folder that a conversation has put in the place of a file goes with it, and what a person has in it is in the way.
#[test]
fn a_conversation_that_puts_a_folder_in_place_of_a_file_goes_and_comes() {
    let (project, mut agent) = scene(&[("a", "a\n")]);
    let at = |name: &str| project.folder.join(name);
    let (moved, conversation) = agent.rename(&at("a"), &at("b"), None);
    agent.make(&at("a/x/y"), "new\n", Some(&conversation));
    for _ in 0..2 {
        project.must(0, &["reject", "-c", &conversation]);
        holds(&project, &[("a", "a\n")]);
        project.must(0, &["accept", "-c", &conversation]);
        holds(&project, &[("b", "a\n")]);
        assert_eq!(project.text("a/x/y"), "new\n");
    }
    project.write("a/x/z", "mine\n");
    for named in [&["-c", &conversation][..], &[&moved]] {
        let refused = project.must(4, &[&["reject"], named].concat());
        assert!(refused.err.contains("is a folder now"), "{}", refused.err);
        assert_eq!([project.text("a/x/y"), project.text("a/x/z")], ["new\n", "mine\n"]);
    }
    std::fs::remove_file(at("a/x/z")).unwrap();
    project.must(0, &["reject", "-c", &conversation]);
    holds(&project, &[("a", "a\n")]);
    project.assert_whole();
}

/// A file goes into a folder of its own name and comes out again, alone and with others.
#[test]
fn a_file_moves_into_a_folder_of_its_own_name_and_back() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("b", "b\n")]);
    let at = |name: &str| project.folder.join(name);
    let (first, conversation) = agent.rename(&at("a"), &at("t"), None);
    let (second, _) = agent.rename(&at("t"), &at("a/x"), Some(&conversation));
    agent.put(&at("b"), "b\n", "B\n", Some(&conversation));
    let named = [&["-c", &conversation][..], &[&first, "--with-others"], &[&second, "--with-others"]];
    for (out, back) in [(named[0], named[0]), (named[1], named[2])] {
        project.must(0, &[&["reject"], out].concat());
        assert_eq!(project.text("a"), "a\n");
        project.must(0, &[&["accept"], back].concat());
        assert_eq!(project.text("a/x"), "a\n");
    }
    project.assert_whole();
}

/// A file that goes needs no folder for the name that it had, where a file has the name of that by now.
#[test]
fn a_file_goes_whatever_stands_where_its_folder_was() {
    let (project, mut agent) = scene(&[("a", "a\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, one) = agent.rename(&at("a"), &at("b"), None);
    let (_, other) = agent.make(&at("a/x"), "new\n", None);
    agent.rename(&at("a/x"), &at("c"), Some(&other));
    project.must(0, &["reject", "-c", &one]);
    holds(&project, &[("a", "a\n"), ("c", "new\n")]);
    project.must(0, &["reject", "-c", &other]);
    holds(&project, &[("a", "a\n")]);
    project.must(0, &["accept", "-c", &other, "-c", &one]);
    holds(&project, &[("b", "a\n"), ("c", "new\n")]);
    project.assert_whole();
}

/// A name in a folder that is a file by now, and one of a file that is a folder by now.
#[test]
fn a_folder_and_a_file_of_one_name_are_told_apart() {
    let (project, mut agent) = scene(&[("q", "q\n")]);
    let at = |name: &str| project.folder.join(name);
    project.write("src/deep/a", "a\n");
    let (removed, _) = agent.remove(&at("src/deep/a"), None);
    std::fs::remove_dir(at("src/deep")).unwrap();
    std::fs::remove_dir(at("src")).unwrap();
    let (moved, _) = agent.rename(&at("q"), &at("src"), None);
    let refused = project.must(4, &["reject", &removed]);
    assert!(refused.err.contains("is a file now") && refused.err.contains(&moved[..8]), "{}", refused.err);
    holds(&project, &[("src", "q\n")]);
    project.must(0, &["reject", &moved]);
    project.must(0, &["reject", &removed]);
    assert_eq!(project.text("src/deep/a"), "a\n");
    let refused = project.must(4, &["accept", &moved]);
    assert!(refused.err.contains("is a folder now"), "{}", refused.err);
    assert_eq!(project.text("src/deep/a"), "a\n");
    // A folder in which there is nothing is in nobody's way.
    project.must(0, &["accept", &removed]);
    assert!(at("src/deep").is_dir());
    project.must(0, &["accept", &moved]);
    holds(&project, &[("src", "q\n")]);
    project.assert_whole();
}
