//! The editor shows what came of a decision: late, in parts, changed, together with its undo, or in a file that is found.

use hashline_history::{Decision, HunkRef, Location};
use hashline_text::{DocVersion, Encoding, Position, Span, Text};
use hashline_weave::{TakeOut, Turn, View};
use hashline_workspace::document::{Cause, Choice, ContentChange, Earlier, HunkState, Millis, Mode, Reports};

use crate::desk::{Desk, at, made};

#[test]
fn keeping_an_edit_that_is_on_its_way_in_is_not_lost_when_the_editor_is_late_or_drops_it() {
    // What the editor says of the delivery, and when its text shows it.
    for (answer, shown) in [(true, false), (false, false), (true, true), (false, true)] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", Mode::Apply);
        let delivery = desk.poll().unwrap();
        desk.decide(&hunk, Choice::Accept, None).unwrap();
        desk.document.answered(delivery.number, answer, desk.now);
        match shown {
            true => desk.applies(&delivery),
            false => desk.types(0, "zero "),
        }
        desk.settle();
        assert!(desk.text().ends_with("one\n2\nthree\n"), "{}", desk.text());
        assert_eq!(desk.decision(&hunk), Decision::Accepted, "{answer} {shown}");
    }
}

#[test]
fn a_delivery_that_the_editor_tells_of_with_its_undo_is_held_again() {
    let undo = || vec![at(1, 0, (2, 0), "two\n")];
    for (mode, typing) in [(Mode::Propose, false), (Mode::Apply, false), (Mode::Propose, true)] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", mode);
        if mode == Mode::Propose {
            desk.decide(&hunk, Choice::Accept, None).unwrap();
        }
        let delivery = desk.poll().unwrap();
        // Editors that collect their changes answer first.
        desk.document.answered(delivery.number, true, desk.now);
        let typed = typing.then(|| at(0, 0, (0, 0), "zero "));
        desk.notify(&[made(&delivery), undo(), typed.into_iter().collect()].concat());
        desk.settle();
        assert_eq!(desk.text(), if typing { "zero one\ntwo\nthree\n" } else { "one\ntwo\nthree\n" });
        assert_eq!((desk.state(&hunk), desk.decision(&hunk)), (HunkState::Held, Decision::Undecided));
        // It can be accepted again.
        desk.decide(&hunk, Choice::Accept, None).unwrap();
        desk.settle();
        assert!(desk.text().ends_with("one\n2\nthree\n"), "{}", desk.text());
        assert_eq!(desk.decision(&hunk), Decision::Accepted);
    }
}

#[test]
fn a_delivery_in_parts_of_which_the_last_comes_with_the_undo_is_held_again() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\nfive\n");
    let hunks = [(0, "1"), (4, "5")].map(|(line, content)| desk.replace(line, content, Mode::Propose));
    for hunk in &hunks {
        desk.decide(hunk, Choice::Accept, None).unwrap();
    }
    let delivery = desk.poll().unwrap();
    let [last, first] = made(&delivery).try_into().unwrap();
    desk.notify(&[last]);
    desk.document.answered(delivery.number, true, desk.now);
    desk.notify(&[first, at(0, 0, (1, 0), "one\n"), at(4, 0, (5, 0), "five\n")]);
    desk.settle();
    assert_eq!(desk.text(), "one\ntwo\nthree\nfour\nfive\n");
    for hunk in &hunks {
        assert_eq!((desk.state(hunk), desk.decision(hunk)), (HunkState::Held, Decision::Undecided));
    }
}

#[test]
fn a_delivery_and_its_undo_that_were_joined_to_no_change_are_told_from_a_delivery_that_was_dropped() {
    let same = || vec![at(1, 0, (1, 3), "two")];
    let typed_and_erased = || vec![at(0, 0, (0, 0), "x"), at(0, 0, (0, 1), "")];
    for (answer, changes, held) in [
        (true, same(), true),
        (false, same(), false),
        (true, typed_and_erased(), false),
        (true, Vec::new(), false),
    ] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", Mode::Propose);
        desk.decide(&hunk, Choice::Accept, None).unwrap();
        let delivery = desk.poll().unwrap();
        desk.document.answered(delivery.number, answer, desk.now);
        desk.notify(&changes);
        desk.settle();
        let (text, decision) = match held {
            true => ("one\ntwo\nthree\n", Decision::Undecided),
            false => ("one\n2\nthree\n", Decision::Accepted),
        };
        assert_eq!((desk.text().as_str(), desk.decision(&hunk)), (text, decision));
    }
}

#[test]
fn a_rejection_that_is_undone_before_the_editor_tells_of_it_stands_as_it_was_before() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Apply);
    desk.settle();
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    let delivery = desk.poll().unwrap();
    desk.notify(&[made(&delivery), vec![at(1, 0, (2, 0), "2\n")]].concat());
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\n2\nthree\n", Decision::Accepted));
}

#[test]
fn a_delivery_that_comes_late_does_not_overrule_the_person() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let late = desk.poll().unwrap();
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.now = Millis(5000);
    assert_eq!(desk.poll(), None, "it is not answered yet");
    desk.applies(&late);
    assert_eq!(desk.text(), "one\n2\nthree\n");
    assert_ne!(desk.decision(&hunk), Decision::Rejected, "it is in the text");
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\ntwo\nthree\n", Decision::Rejected));
}

#[test]
fn typing_right_after_a_delivery_of_several_edits_does_not_take_one_back() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\nfive\nsix\n");
    let hunks: Vec<HunkRef> = [(0, "1"), (2, "3"), (4, "5")]
        .map(|(line, content)| desk.replace(line, content, Mode::Propose))
        .into();
    for hunk in &hunks {
        desk.decide(hunk, Choice::Accept, None).unwrap();
    }
    let delivery = desk.poll().unwrap();
    // In two parts, as Neovim does, and the person types in one of the lines at once.
    for edit in delivery.edits.iter().rev() {
        desk.change(edit.span, &edit.new);
    }
    desk.types(0, "my ");
    assert_eq!(desk.text(), "my 1\ntwo\n3\nfour\n5\nsix\n");
    for hunk in &hunks {
        assert_eq!(desk.decision(hunk), Decision::Accepted);
    }
    assert!(matches!(desk.state(&hunks[0]), HunkState::Edited(_)));
}

#[test]
fn typing_into_an_edit_that_ends_as_what_it_replaced_does_not_take_it_back() {
    let mut desk = Desk::new("one\n\ntwo\n\nthree\n\nfour\n");
    desk.document.set_reports(Reports::Versions);
    let edit = [(1, Some("let a = b();\n\n")), (3, Some("let c = d();\n\n")), (5, None)];
    let hunk = desk.publish(&edit, Mode::Apply, "turn");
    let delivery = desk.poll().unwrap();
    // The editor cuts what is delivered to what differs.
    let parts =
        [at(5, 0, (6, 0), ""), at(3, 0, (3, 0), "let c = d();\n"), at(1, 0, (1, 0), "let a = b();\n")];
    desk.notify(&parts);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.change(Span::new(Position::new(1, 10), Position::new(1, 10)), "x");
    assert_eq!(desk.text(), "one\nlet a = b(x);\n\ntwo\nlet c = d();\n\nthree\nfour\n");
    assert!(matches!(desk.state(&hunk), HunkState::Edited(_)), "{:?}", desk.state(&hunk));
    desk.document.answered(delivery.number, true, desk.now);
    assert_eq!(desk.decision(&hunk), Decision::Accepted);
}

#[test]
fn a_file_that_reads_like_a_rejected_edit_is_no_edit() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.document.close(desk.now);
    desk.document.found(&Text::from("one\n2\nthree\nfour\n"), &Earlier::default(), Location::Disk, desk.now);
    assert_eq!((desk.state(&hunk), desk.decision(&hunk)), (HunkState::Held, Decision::Rejected));
    assert_eq!(desk.text(), "one\n2\nthree\nfour\n");
}

#[test]
fn a_rejection_that_was_not_saved_is_taken_back_by_the_file() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.settle();
    let saved = Text::from(desk.text().as_str());
    desk.types(0, "zero\n");
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.settle();
    assert_eq!(desk.decision(&hunk), Decision::Rejected);
    desk.document.close(desk.now);
    desk.document.found(&saved, &Earlier::default(), Location::Disk, desk.now);
    assert_eq!((desk.state(&hunk), desk.decision(&hunk)), (HunkState::InText, Decision::Accepted));
}

#[test]
fn what_is_not_recorded_yet_is_neither_served_nor_recognised() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let (mut proposed, proposal) = desk.propose(&[(1, Some("2"))], Mode::Propose, "conv");
    assert_eq!(proposed.after.text().to_string(), "one\n2\nthree\n", "its agent will see it in the reply");
    let served = desk.document.serve(View::Agent).unwrap();
    assert_eq!((served.text().to_string().as_str(), served.held), ("one\ntwo\nthree\n", 0));
    // The person happens to type the very same.
    desk.change(Span::new(Position::new(1, 0), Position::new(1, 3)), "2");
    desk.document.publish(&mut proposed, &proposal);
    let hunk = HunkRef { edit: proposal.id, number: 1 };
    assert!(matches!(desk.state(&hunk), HunkState::Conflicted(_)));
    let (proposed, _) = desk.propose(&[(2, Some("3"))], Mode::Propose, "conv");
    desk.document.withdraw_provisional(&proposed);
    assert_eq!(desk.document.serve(View::Agent).unwrap().text().to_string(), "one\n2\nthree\n");
}

#[test]
fn a_file_that_shows_a_rejected_edit_brings_it_back_though_the_person_had_typed_in_it() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "a whole line of it", Mode::Apply);
    desk.settle();
    let saved = desk.document.text().clone();
    desk.types(1, "my ");
    desk.decide(&hunk, Choice::Reject, Some(TakeOut::WithMyChanges)).unwrap();
    desk.settle();
    assert_eq!(desk.text(), "one\ntwo\nthree\n");
    desk.types(0, "unsaved ");
    desk.document.close(desk.now);
    desk.document.found(&saved, &Earlier::default(), Location::Disk, desk.now);
    assert_eq!(desk.state(&hunk), HunkState::InText);
    assert_eq!(desk.decision(&hunk), Decision::Undecided);
    desk.document.settle_on_disk(desk.now);
    assert_eq!(desk.document.text(), &saved, "the rejection was not saved, and is not made up for");
}

#[test]
fn an_editor_that_gives_a_delivery_its_own_endings_has_delivered_it() {
    let mut desk = Desk::new("one\r\ntwo\n}\nthree\n");
    let hunk = desk.replace(3, "3", Mode::Propose);
    desk.change(Span::new(Position::new(1, 0), Position::new(3, 0)), "");
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let delivery = desk.poll().unwrap();
    desk.change(Span::new(Position::new(1, 0), Position::new(2, 0)), "3\r\n");
    desk.document.answered(delivery.number, true, desk.now);
    assert_eq!(desk.state(&hunk), HunkState::InText);
    assert_eq!(desk.decision(&hunk), Decision::Accepted);
}

#[test]
fn a_formatter_that_runs_over_a_delivery_does_not_hide_it() {
    let mut desk = Desk::new("one {\ntwo\n}\n");
    let hunk = desk.replace(1, "let value = two(one);", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let delivery = desk.poll().unwrap();
    // One notification for the delivery and for the formatting of all lines on save.
    let all = Span::new(Position::new(0, 0), Position::new(3, 0));
    desk.change(all, "one  {\n        let value = two(one);\n } // end\n");
    desk.document.answered(delivery.number, true, desk.now);
    assert!(matches!(desk.state(&hunk), HunkState::Edited(_)), "{:?}", desk.state(&hunk));
    assert_eq!(desk.decision(&hunk), Decision::Accepted);
}

#[test]
fn a_reload_does_not_find_an_edit_that_is_still_being_recorded() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let (proposed, _) = desk.propose(&[(1, Some("2"))], Mode::Propose, "conv_1");
    // The file is opened anew meanwhile, and reads by chance as the edit would have it.
    let text = Text::from("one\n2\nthree\n");
    desk.document.reopen("untitled:1", "text", DocVersion(2), Encoding::Utf16, &text, desk.now);
    desk.document.withdraw_provisional(&proposed);
    assert_eq!(desk.text(), "one\n2\nthree\n");
    // The next edit is its own.
    desk.version = 2;
    let hunk = desk.replace(2, "3", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.state(&hunk)), ("one\n2\n3\n", HunkState::InText));
}

#[test]
fn what_was_served_of_another_document_is_not_served_as_this_one() {
    // A document is made anew of its record between the look at its text and the note that an agent has seen it.
    let (mut before, mut after) = (Desk::new("one\n"), Desk::new("two\n"));
    let mut served = before.document.serve(View::Agent).unwrap();
    let hash = served.hash();
    after.document.served(&served, hash, 0..1, after.now);
    assert_eq!(after.document.serve(View::Agent).unwrap().text().to_string(), "two\n");
}

#[test]
fn an_undo_between_changes_that_came_together_finds_the_lines_as_they_were() {
    for whole in [false, true] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        desk.document.set_reports(Reports::Causes);
        let hunk = desk.replace(1, "2", Mode::Apply);
        let delivery = desk.poll().unwrap();
        desk.document.say_cause(DocVersion(2), Cause::Delivery(delivery.number), desk.now);
        desk.notify(&made(&delivery));
        assert_eq!(desk.state(&hunk), HunkState::InText);
        // Lines come, some of them go with the agent's, and the second is undone.
        let mut changes = vec![at(1, 0, (1, 0), "a\nb\nc\n"), at(2, 0, (5, 0), "")];
        if whole {
            changes[0] = ContentChange { span: None, text: "one\na\nb\nc\n2\nthree\n".into() };
            changes[1] = ContentChange { span: None, text: "one\na\nthree\n".into() };
        }
        desk.notify(&changes);
        desk.document.say_cause(DocVersion(4), Cause::Turn(Turn::Undo), desk.now);
        desk.notify(&[ContentChange { span: None, text: "one\na\nb\nc\n2\nthree\n".into() }]);
        assert_eq!(
            (desk.state(&hunk), desk.text().as_str()),
            (HunkState::InText, "one\na\nb\nc\n2\nthree\n")
        );
        assert_eq!((desk.document.guesses(), desk.document.disagreements()), (0, 0));
    }
}

#[test]
fn a_delivery_is_found_though_something_else_seemed_to_be_half_there_before_it_was_sent() {
    let mut desk = Desk::new("one\ntwo\nlet vierX = proposed();\nlet achtX = proposed();\nfive\nsix\n");
    let half = desk.replace(1, "let eins = proposed();\nlet drei = proposed();", Mode::Apply);
    desk.settle();
    let hunk = desk.replace(5, "let vier = proposed();\nlet acht = proposed();", Mode::Propose);
    // A line of the first goes with others, which may be the first part of its undo.
    desk.notify(&[at(2, 0, (5, 0), "")]);
    assert_eq!(desk.text(), "one\nlet eins = proposed();\nfive\nsix\n");
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let delivery = desk.poll().unwrap();
    let edit = &delivery.edits[0];
    let typed = edit.new.replacen("let", "mine let", 1);
    desk.notify(&[ContentChange { span: Some(edit.span), text: typed }]);
    assert!(matches!(desk.state(&hunk), HunkState::Edited(_)), "{:?}", desk.state(&hunk));
    assert!(matches!(desk.state(&half), HunkState::Edited(_)), "{:?}", desk.state(&half));
}

/// The changes of one notification are a delivery as a whole, or typing.
#[test]
fn typing_into_an_edit_that_is_to_be_taken_out_is_not_taken_for_its_delivery() {
    let mut desk = Desk::new("one\n\nthree\n");
    desk.document.set_reports(Reports::Versions);
    let hunk = desk.replace(1, "2a\n2b;", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.settle();
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    let delivery = desk.poll().unwrap();
    // A blank line, as the edit had taken out.
    desk.notify(&[at(2, 2, (2, 3), ""), at(2, 2, (2, 2), "\n")]);
    assert_eq!(desk.text(), "one\n2a\n2b\n\nthree\n");
    assert!(matches!(desk.state(&hunk), HunkState::Edited(_)), "{:?}", desk.state(&hunk));
    desk.document.answered(delivery.number, false, desk.now);
    assert_eq!(desk.decision(&hunk), Decision::Accepted);
}

/// Such an editor tells of each change by itself.
#[test]
fn a_delivery_that_comes_late_and_in_parts_is_known_by_each() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\n");
    desk.document.set_reports(Reports::Versions);
    let below = desk.replace_each(&[(0, "1"), (3, "4")], Mode::Apply, "conv");
    let delivery = desk.poll().unwrap();
    desk.document.withdraw(&below.edit);
    desk.document.answered(delivery.number, true, desk.now);
    desk.now = Millis(2500);
    assert_eq!(desk.poll(), None);
    desk.applies(&delivery);
    assert_eq!(desk.text(), "1\ntwo\nthree\n4\n");
    assert_eq!(desk.state(&below), HunkState::InText);
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.state(&below)), ("one\ntwo\nthree\nfour\n", HunkState::Withdrawn));
}

#[test]
fn a_delivery_in_parts_that_is_undone_and_done_again_is_decided_as_it_was() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\n");
    desk.document.set_reports(Reports::Versions);
    let hunks = [(0, "1"), (3, "4")].map(|(line, content)| desk.replace(line, content, Mode::Propose));
    for hunk in &hunks {
        desk.decide(hunk, Choice::Accept, None).unwrap();
    }
    let delivery = desk.poll().unwrap();
    desk.applies(&delivery);
    desk.document.answered(delivery.number, true, desk.now);
    let decided = |desk: &Desk| hunks.each_ref().map(|hunk| desk.decision(hunk));
    assert_eq!((desk.text().as_str(), decided(&desk)), ("1\ntwo\nthree\n4\n", [Decision::Accepted; 2]));
    desk.now = Millis(5000);
    desk.notify(&[at(3, 0, (3, 1), "four"), at(0, 0, (0, 1), "one")]);
    assert_eq!(decided(&desk), [Decision::Undecided; 2]);
    desk.notify(&[at(3, 0, (3, 4), "4"), at(0, 0, (0, 3), "1")]);
    assert_eq!(decided(&desk), [Decision::Accepted; 2]);
}

#[test]
fn a_delivery_in_parts_is_not_sent_again_where_the_first_part_alone_reads_like_typing() {
    let mut desk = Desk::new("one\n\n\nfour\nfive\n");
    desk.document.set_reports(Reports::Versions);
    // One is accepted in other words, the other beside what the person has made of its place.
    let own = desk.replace(3, "four\n4", Mode::Propose);
    let other = desk.replace_each(&[(1, "2a\n\n2b"), (2, "")], Mode::Apply, "other");
    desk.types(1, "mine");
    assert_eq!(desk.accepts_as(&own, "own").refused, []);
    desk.decide(&other, Choice::KeepBoth, Some(TakeOut::KeepMyLines)).unwrap();
    let delivery = desk.poll().unwrap();
    assert!(delivery.edits.len() > 1, "{:?}", delivery.edits);
    desk.applies(&delivery);
    let text = desk.text();
    desk.document.answered(delivery.number, true, desk.now);
    desk.settle();
    assert_eq!(desk.text(), text, "it is not made again");
    assert_eq!([desk.decision(&own), desk.decision(&other)], [Decision::Accepted; 2]);
}

#[test]
fn a_delivery_that_is_refused_says_nothing_of_the_one_before() {
    let mut desk = Desk::new("zero\none\ntwo\n\n    four\nfive\n");
    let hunk = desk.replace(1, "proposed\n\n", Mode::Apply);
    let other = desk.replace(6, "5", Mode::Propose);
    let first = desk.poll().unwrap();
    desk.change(Span::new(Position::new(1, 0), Position::new(4, 1)), "proposed\nmine\ntwo\n\n");
    assert!(matches!(desk.state(&hunk), HunkState::Edited(_)));
    desk.decide(&other, Choice::Accept, None).unwrap();
    let second = desk.poll().unwrap();
    desk.document.answered(first.number, true, desk.now);
    desk.document.answered(second.number, false, desk.now);
    desk.change(Span::new(Position::new(2, 4), Position::new(2, 4)), "x");
    assert!(matches!(desk.state(&hunk), HunkState::Edited(_)), "{:?}", desk.state(&hunk));
}

#[test]
fn an_undo_leads_to_a_text_between_two_changes_that_were_told_of_together() {
    let mut desk = Desk::new("zero\none\ntwo\n");
    let hunk = desk.replace(2, "2", Mode::Apply);
    desk.settle();
    // Nothing of before is to be undone.
    let text = desk.document.text().clone();
    desk.document.reopen("untitled:1", "text", DocVersion(1), Encoding::Utf16, &text, desk.now);
    desk.version = 1;
    let all = [at(3, 0, (3, 0), "x"), at(1, 0, (2, 0), ""), at(0, 0, (0, 0), "y"), at(0, 0, (2, 0), "")];
    desk.notify(&all);
    assert_eq!(desk.text(), "x");
    desk.change(Span::new(Position::new(0, 0), Position::new(0, 0)), "yzero\n2\n");
    assert_eq!((desk.text().as_str(), desk.state(&hunk)), ("yzero\n2\nx", HunkState::InText));
}

/// A delivery seems to be under way there: its line is gone.
#[test]
fn what_is_typed_into_another_edit_beside_a_delivery_under_way_does_not_take_that_out() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\nfive\n");
    desk.document.set_reports(Reports::Nothing);
    let hunk = desk.insert_after(0, "  let seven = proposed();", Mode::Apply);
    desk.settle();
    let other = desk.replace(4, "IIII\n4", Mode::Propose);
    desk.decide(&other, Choice::Accept, None).unwrap();
    assert!(desk.poll().is_some());
    desk.change(Span::new(Position::new(2, 0), Position::new(5, 0)), "");
    desk.change(Span::new(Position::new(1, 20), Position::new(1, 20)), "x");
    assert!(matches!(desk.state(&hunk), HunkState::Edited(_)), "{:?}", desk.state(&hunk));
}

#[test]
fn a_delivery_that_was_given_up_is_known_when_it_comes_with_words_in_it() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "zwei\ndeux\ndue", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let delivery = desk.poll().unwrap();
    desk.document.answered(delivery.number, true, desk.now);
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.now = desk.document.next_poll().unwrap();
    assert_eq!(desk.poll(), None);
    desk.change(Span::new(Position::new(1, 0), Position::new(2, 0)), "zwei\nmy deux\ndue\n");
    assert!(matches!(desk.state(&hunk), HunkState::Edited(_)), "{:?}", desk.state(&hunk));
}

/// Which of two lines is the moved one is open, so the text may be explained in two ways.
#[test]
fn a_delivery_is_known_beside_lines_that_the_person_moved() {
    for moved in [
        "move\ntwo more\nthree\n",
        "three\nmove\ntwo more\n",
        "move\nthree\ntwo\n",
        "two more\nmove\nthree\n",
    ] {
        let mut desk = Desk::new("one\ntwo\nthree\nmove\nfive\n");
        let hunk = desk.insert_after(0, "proposed 1\nproposed 2\nproposed 3", Mode::Propose);
        desk.decide(&hunk, Choice::Accept, None).unwrap();
        assert!(desk.poll().is_some());
        let text = format!("proposed 1\nproposed 2\nproposed 3, mine\n{moved}");
        desk.change(Span::new(Position::new(1, 0), Position::new(4, 0)), &text);
        assert!(matches!(desk.state(&hunk), HunkState::Edited(_)), "{moved:?}: {:?}", desk.state(&hunk));
    }
}

#[test]
fn a_held_deletion_is_not_accepted_where_its_line_still_stands() {
    let mut desk = Desk::new("one\n\n\nlast\n");
    let hunk = desk.delete(3, Mode::Propose);
    desk.change(Span::new(Position::new(1, 0), Position::new(4, 0)), "mine\nmore\nlast\n\nmost");
    assert_eq!(desk.text(), "one\nmine\nmore\nlast\n\nmost");
    assert_eq!(desk.decision(&hunk), Decision::Undecided);
}
