//! Edits that the person accepts in words of their own, and what becomes of these when they decide again.

use hashline_history::Decision;
use hashline_text::DocVersion;
use hashline_weave::TakeOut;
use hashline_workspace::document::{Along, Choice, ContentChange, HunkState, Mode, Request, Target, Why};

use crate::desk::{Desk, at};

/// What it was to come in with is still wanted.
#[test]
fn a_decision_about_an_edit_with_own_text_is_called_off_for_that_edit_alone() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let lower = desk.replace(1, "2", Mode::Propose);
    let upper = desk.replace(1, "zwei", Mode::Propose);
    let own = Some(vec!["II".to_owned()]);
    let with = Request { own, along: Along::All, ..Request::of(Choice::Accept, Target::Hunk(upper.clone())) };
    assert_eq!(desk.document.decide(&with, desk.now).refused, []);
    let delivery = desk.poll().unwrap();
    desk.document.answered(delivery.number, false, desk.now);
    desk.decide(&upper, Choice::Reject, None).unwrap();
    desk.settle();
    assert_eq!([desk.decision(&lower), desk.decision(&upper)], [Decision::Accepted, Decision::Rejected]);
    assert_eq!(desk.text(), "one\n2\nthree\n");
}

#[test]
fn what_builds_on_an_edit_is_accepted_still_where_that_one_is_accepted_once_more_with_own_text() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let lower = desk.replace(1, "2a\n2b", Mode::Propose);
    let upper = desk.replace(1, "zwei", Mode::Propose);
    let with = Request { along: Along::All, ..Request::of(Choice::Accept, Target::Hunk(upper.clone())) };
    assert_eq!(desk.document.decide(&with, desk.now).refused, []);
    assert_eq!(desk.accepts_as(&lower, "2a\nmine").refused, []);
    desk.settle();
    assert_eq!([desk.decision(&lower), desk.decision(&upper)], [Decision::Accepted; 2]);
    assert_eq!(desk.text(), "one\nzwei\nmine\nthree\n");
}

#[test]
fn own_text_of_what_builds_on_an_edit_is_wanted_still_where_that_one_is_accepted_with_own_text() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let lower = desk.replace(1, "2a\n2b", Mode::Propose);
    let upper = desk.replace(1, "zwei", Mode::Propose);
    let own = Some(vec!["ZWEI".to_owned()]);
    let with = Request { own, along: Along::All, ..Request::of(Choice::Accept, Target::Hunk(upper.clone())) };
    assert_eq!(desk.document.decide(&with, desk.now).refused, []);
    assert_eq!(desk.accepts_as(&lower, "2a\nmine").refused, []);
    desk.settle();
    assert_eq!([desk.decision(&lower), desk.decision(&upper)], [Decision::Accepted; 2]);
    assert_eq!(desk.text(), "one\nZWEI\nmine\nthree\n");
}

/// The first hunk of what builds on it is older than it.
#[test]
fn own_text_of_an_edit_comes_before_that_of_hunks_that_are_one_and_build_on_it() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let first = desk.replace_each(&[(0, "1")], Mode::Propose, "turn");
    let lower = desk.replace(1, "2a\n2b", Mode::Propose);
    let upper = desk.replace_each(&[(0, "I"), (1, "II")], Mode::Propose, "turn");
    let own = Some(vec!["EINS".to_owned()]);
    let with = Request { own, along: Along::All, ..Request::of(Choice::Accept, Target::Hunk(first.clone())) };
    assert_eq!(desk.document.decide(&with, desk.now).refused, []);
    assert_eq!(desk.accepts_as(&lower, "2a\nmine").refused, []);
    desk.settle();
    assert_eq!([&first, &lower, &upper].map(|hunk| desk.decision(hunk)), [Decision::Accepted; 3]);
    assert_eq!(desk.text(), "EINS\nmine\nthree\n");
}

#[test]
fn own_text_that_is_not_recorded_yet_is_not_overtaken_by_what_builds_on_its_edit() {
    for choice in [Choice::Accept, Choice::KeepBoth] {
        let mut desk = Desk::with_plugin("one\ntwo\nthree\n");
        desk.document.record_before_delivery();
        let lower = desk.insert_after(0, "2a", Mode::Propose);
        let upper = desk.replace(1, "zwei", Mode::Propose);
        let with = Request { along: Along::All, ..Request::of(choice, Target::Hunk(upper.clone())) };
        assert_eq!(desk.document.decide(&with, desk.now).refused, []);
        desk.record();
        assert_eq!(desk.accepts_as(&lower, "2a\nmine").refused, []);
        assert_eq!(desk.poll(), None, "what takes the hunk along waits for the record of its decision, too");
        desk.record();
        desk.carries_out();
        desk.record();
        assert_eq!([desk.decision(&lower), desk.decision(&upper)], [Decision::Accepted; 2], "{choice:?}");
        assert!(desk.text().contains("mine\n"), "{choice:?}: {}", desk.text());
    }
}

#[test]
fn own_texts_of_two_edits_on_one_are_both_wanted() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let lower = desk.replace(1, "2a\n2b", Mode::Propose);
    let (first, second) = (desk.replace(1, "zwei", Mode::Propose), desk.replace(2, "drei", Mode::Propose));
    for (hunk, own) in [(&first, "ZWEI"), (&second, "DREI")] {
        let own = Some(vec![own.to_owned()]);
        let target = Target::Hunk(hunk.clone());
        let with = Request { own, along: Along::All, ..Request::of(Choice::Accept, target) };
        assert_eq!(desk.document.decide(&with, desk.now).refused, []);
    }
    desk.settle();
    assert_eq!([&lower, &first, &second].map(|hunk| desk.decision(hunk)), [Decision::Accepted; 3]);
    assert_eq!(desk.text(), "one\nZWEI\nDREI\nthree\n");
}

#[test]
fn an_own_version_of_an_edit_that_is_in_the_text_is_refused_with_the_next_step() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Apply);
    desk.settle();
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    let decided = desk.accepts_as(&hunk, "II");
    assert_eq!(decided.queued, []);
    assert_eq!(decided.refused[0].why, Why::Gone);
    assert!(decided.refused[0].message.contains("change its lines there"), "{}", decided.refused[0].message);
    // A refused decision changes nothing: the rejection goes on.
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\ntwo\nthree\n", Decision::Rejected));
}

#[test]
fn an_own_version_of_an_edit_that_builds_on_another_is_accepted_with_that_one_where_it_is_wanted() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let lower = desk.replace(1, "2", Mode::Propose);
    let upper = desk.replace(1, "zwei", Mode::Propose);
    let proposed = desk.document.proposed_text();
    assert_eq!(proposed.text.to_string(), "one\nzwei\nthree\n");
    let placed: Vec<_> = proposed.places.iter().map(|place| &place.hunk).collect();
    assert_eq!(placed, [&lower, &upper]);
    let decided = desk.accepts_as(&upper, "II");
    assert_eq!(
        (decided.refused[0].why, &decided.refused[0].others),
        (Why::NeedsOthers, &vec![lower.clone()])
    );
    let own = Some(vec!["II".to_owned()]);
    let with = Request { own, along: Along::All, ..Request::of(Choice::Accept, Target::Hunk(upper.clone())) };
    let decided = desk.document.decide(&with, desk.now);
    assert_eq!(decided.queued, [upper.clone(), lower.clone()]);
    desk.settle();
    assert_eq!(desk.text(), "one\nII\nthree\n");
    assert_eq!([desk.decision(&lower), desk.decision(&upper)], [Decision::Accepted, Decision::Accepted]);
}

#[test]
fn an_own_version_of_hunks_that_are_one_is_of_all_of_them() {
    let original = "one\ntwo\nthree\n";
    for upper in [Some("2B\n2BB"), None] {
        for own in ["2a\nmine\n2c", "2a\n2B\n2BB\n2c\nmine", "mine\n2a\n2c", "2a\n2b\n2c", "mine", "2B"] {
            for named in [0, 1] {
                let mut desk = Desk::new(original);
                let lower = desk.replace_each(&[(1, "2a\n2b\n2c")], Mode::Propose, "conv");
                let upper = desk.publish(&[(2, upper)], Mode::Propose, "conv");
                let decided = desk.accepts_as([&lower, &upper][named], own);
                assert_eq!((decided.refused, decided.queued.len()), (Vec::new(), 2), "{own:?}");
                desk.settle();
                let text = format!("one\n{own}\nthree\n");
                assert_eq!(desk.text(), text);
                for hunk in [&lower, &upper] {
                    assert_eq!(desk.decision(hunk), Decision::Accepted, "{own:?}");
                    assert!(matches!(desk.state(hunk), HunkState::InText | HunkState::Edited(_)), "{own:?}");
                }
                // An undo takes all of it back, and it can be accepted again as it was proposed.
                desk.notify(&[ContentChange { span: None, text: original.into() }]);
                for hunk in [&lower, &upper] {
                    assert_eq!(
                        (desk.state(hunk), desk.decision(hunk)),
                        (HunkState::Held, Decision::Undecided),
                        "{own:?}"
                    );
                }
                assert_eq!(desk.accepts_as(&lower, own).refused, []);
                desk.settle();
                assert_eq!(desk.text(), text);
                desk.decide(&lower, Choice::Reject, Some(TakeOut::WithMyChanges)).unwrap();
                desk.settle();
                assert_eq!(desk.text(), original);
            }
        }
    }
}

#[test]
fn an_own_version_of_hunks_that_are_one_does_not_come_in_by_halves() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\n");
    let lower = desk.replace_each(&[(1, "2a\n2b")], Mode::Propose, "conv");
    let upper = desk.replace_each(&[(2, "2B"), (3, "3")], Mode::Propose, "conv");
    assert_eq!(desk.accepts_as(&lower, "2a\nmine\n3").refused, []);
    let delivery = desk.poll().unwrap();
    // Before the editor is at it, the person changes a line that only the upper one takes away.
    desk.types(2, "my ");
    desk.document.answered(delivery.number, false, desk.now);
    desk.settle();
    assert_eq!(desk.text(), "one\ntwo\nmy three\nfour\n");
    assert_eq!([desk.decision(&lower), desk.decision(&upper)], [Decision::Undecided, Decision::Undecided]);
    let told = desk.document.take_notices().join(" ");
    assert!(told.contains("was not put into the text"), "{told}");
}

#[test]
fn an_own_version_of_a_rejected_edit_does_not_go_over_what_the_person_typed_since() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.types(1, "my ");
    let decided = desk.accepts_as(&hunk, "II");
    assert_eq!(decided.refused.first().map(|undecided| undecided.why), Some(Why::Conflicted));
    assert_eq!(desk.decision(&hunk), Decision::Rejected, "a refused decision changes nothing");
    desk.settle();
    assert_eq!(desk.text(), "one\nmy two\nthree\n");
}

#[test]
fn an_own_version_is_no_way_around_a_document_that_is_out_of_step() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.document.change(DocVersion(1), &[at(0, 0, (0, 0), "?")], desk.now).unwrap_err();
    let decided = desk.accepts_as(&hunk, "II");
    assert_eq!(decided.queued, []);
    assert!(decided.refused[0].message.contains("Close and open it again"), "{decided:?}");
    let whole = ContentChange { span: None, text: "one\ntwo\nthree\n".into() };
    desk.notify(&[whole]);
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\ntwo\nthree\n", Decision::Undecided));
    assert_eq!(desk.accepts_as(&hunk, "II").refused, []);
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\nII\nthree\n", Decision::Accepted));
}
