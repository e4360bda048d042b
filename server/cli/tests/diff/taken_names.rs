//! Names that another file has, or would have: who is said to have given it away, and what goes first.
#![cfg(unix)]

use crate::reused_names::{holds, scene};

/// The name is given to another file by what is left when all of the decision is made, and not by what it takes along.
#[test]
fn a_name_that_is_taken_in_the_end_is_said_to_be_given_by_what_stays() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("c", "c\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, conversation) = agent.rename(&at("c"), &at("d"), None);
    let (stays, _) = agent.rename(&at("a"), &at("c"), None);
    agent.rename(&at("c"), &at("b"), Some(&conversation));
    let (along, _) = agent.rename(&at("b"), &at("c"), None);
    let refused = project.must(4, &["reject", "-c", &conversation, "--with-others"]);
    assert!(refused.err.contains(&stays[..8]) && !refused.err.contains(&along[..8]), "{}", refused.err);
    holds(&project, &[("c", "a\n"), ("d", "c\n")]);
}

/// Of what goes together that is named which gives the file the name, and not what goes last.
#[test]
fn a_name_of_two_files_is_said_to_be_given_by_what_gives_it() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("p", "p\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, conversation) = agent.remove(&at("a"), None);
    let (_, other) = agent.rename(&at("p"), &at("a"), None);
    let (gives, _) = agent.rename(&at("a"), &at("b"), Some(&conversation));
    let (along, _) = agent.rename(&at("b"), &at("c"), Some(&other));
    let refused = project.must(4, &["reject", "-c", &conversation, "--with-others"]);
    assert!(refused.err.contains("would be the name of two files"), "{}", refused.err);
    assert!(refused.err.contains(&gives[..8]) && !refused.err.contains(&along[..8]), "{}", refused.err);
    holds(&project, &[("c", "p\n")]);
}

/// The same of a file that comes back: what was changed in it before it was removed gives it no name.
#[test]
fn a_name_of_two_files_is_said_to_be_given_by_the_removal_that_is_undone() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("p", "p\n")]);
    let at = |name: &str| project.folder.join(name);
    let (_, conversation) = agent.rename(&at("p"), &at("q"), None);
    agent.rename(&at("a"), &at("p"), None);
    let (changes, _) = agent.put(&at("p"), "a\n", "b\n", Some(&conversation));
    let (removes, _) = agent.remove(&at("p"), Some(&conversation));
    let refused = project.must(4, &["reject", "-c", &conversation]);
    assert!(refused.err.contains("would be the name of two files"), "{}", refused.err);
    assert!(refused.err.contains(&removes[..8]) && !refused.err.contains(&changes[..8]), "{}", refused.err);
}

/// What is said is true, and what is offered can be done.
#[test]
fn a_refusal_names_who_takes_the_name_and_what_goes_first() {
    let (project, mut agent) = scene(&[("a", "a\n"), ("b", "b\n")]);
    let at = |name: &str| project.folder.join(name);
    let (first, conversation) = agent.rename(&at("a"), &at("n"), None);
    project.must(0, &["reject", &first]);
    let (second, _) = agent.rename(&at("b"), &at("n"), Some(&conversation));
    project.must(0, &["reject", &second]);
    let refused = project.must(4, &["accept", "-c", &conversation]);
    assert!(
        refused.err.contains("would be the name of two files") && refused.err.contains(&first[..8]),
        "{}",
        refused.err
    );
    assert!(!refused.err.contains("mcpdiff reject"), "{}", refused.err);
    holds(&project, &[("a", "a\n"), ("b", "b\n")]);

    let (third, _) = agent.rename(&at("a"), &at("c"), Some(&conversation));
    let (fourth, _) = agent.rename(&at("c"), &at("d"), Some(&conversation));
    let refused = project.must(4, &["accept", &first]);
    assert!(refused.err.contains(&format!("`mcpdiff reject {}", &fourth[..8])), "{}", refused.err);
    for edit in [fourth, third] {
        project.must(0, &["reject", &edit]);
    }
    project.must(0, &["accept", &first]);
    holds(&project, &[("n", "a\n"), ("b", "b\n")]);
}
