//! The person decides, and then decides otherwise or types on.

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_history::{Decision, EditId, HunkRef};
use hashline_text::{HashPrefix, Line, Position, Span};
use hashline_weave::{Conflict, TakeOut, View};
use hashline_workspace::document::{
    Along, Change, Choice, Delivery, HunkState, Millis, Mode, Proposal, Reports, Request, Target, Why,
};

use crate::desk::{Desk, at, proposal};

#[test]
fn what_the_person_types_into_the_lines_of_an_accepted_edit_is_not_taken_out() {
    for mode in [Mode::Propose, Mode::Apply] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", mode);
        if mode == Mode::Propose {
            desk.decide(&hunk, Choice::Accept, None).unwrap();
        }
        let delivery = desk.poll().unwrap();
        desk.types(1, "my ");
        desk.document.answered(delivery.number, false, desk.now);
        desk.settle();
        assert_eq!(desk.text(), "one\nmy two\nthree\n");
        assert!(matches!(desk.state(&hunk), HunkState::Conflicted(_)));
        assert_eq!(desk.decision(&hunk), Decision::Undecided);
        assert_eq!(
            desk.document.take_notices().is_empty(),
            mode == Mode::Apply,
            "an acceptance is not lost in silence"
        );
    }
}

#[test]
fn what_the_editor_does_not_take_is_offered_again() {
    for leaves in [true, false] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", Mode::Propose);
        desk.decide(&hunk, Choice::Accept, None).unwrap();
        assert!(desk.is_deciding(&hunk));
        let first = desk.now;
        for _ in 0..3 {
            desk.now = desk.document.next_poll().unwrap_or(desk.now).max(desk.now);
            let delivery = desk.poll().unwrap();
            desk.document.answered(delivery.number, false, desk.now);
        }
        assert!(!desk.is_deciding(&hunk), "it waits for the person");
        assert_eq!(desk.document.take_notices().len(), 1);
        assert!(desk.now > first && desk.poll().is_none(), "there are pauses");

        if leaves {
            desk.decide(&hunk, Choice::Reject, None).unwrap();
            desk.settle();
            assert_eq!(
                (desk.text().as_str(), desk.decision(&hunk)),
                ("one\ntwo\nthree\n", Decision::Rejected)
            );
        } else {
            desk.decide(&hunk, Choice::Accept, None).unwrap();
            assert!(desk.is_deciding(&hunk));
            let delivery = desk.poll().expect("it is tried at once");
            desk.applies(&delivery);
            desk.document.answered(delivery.number, true, desk.now);
            assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\n2\nthree\n", Decision::Accepted));
        }
    }
}

#[test]
fn a_rejection_that_waits_asks_again_when_the_person_types_into_the_edit() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Apply);
    desk.settle();
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    let delivery = desk.poll().unwrap();
    desk.types(1, "my ");
    desk.document.answered(delivery.number, false, desk.now);
    desk.settle();
    assert_eq!(desk.text(), "one\nmy 2\nthree\n");
    assert_eq!(desk.document.take_notices().len(), 1);

    desk.decide(&hunk, Choice::Reject, Some(TakeOut::KeepMyLines)).unwrap();
    desk.settle();
    assert!(desk.text().contains("my 2\n") && desk.text().contains("two\n"), "{}", desk.text());
    assert_eq!(desk.decision(&hunk), Decision::Rejected);
}

#[test]
fn an_edit_that_is_rejected_on_its_way_into_the_text_is_out_of_it_at_the_end() {
    for arrives in [true, false] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", Mode::Propose);
        desk.decide(&hunk, Choice::Accept, None).unwrap();
        let delivery = desk.poll().unwrap();
        desk.decide(&hunk, Choice::Reject, None).unwrap();
        if arrives {
            desk.applies(&delivery);
        }
        desk.document.answered(delivery.number, arrives, desk.now);
        desk.settle();
        assert_eq!(desk.text(), "one\ntwo\nthree\n");
        assert_eq!(desk.decision(&hunk), Decision::Rejected);
    }
}

#[test]
fn a_rejection_waits_for_the_record_of_another_that_takes_out_what_builds_on_both() {
    let mut desk = Desk::with_plugin("one\ntwo\nthree\n");
    let below = [desk.replace(0, "1", Mode::Apply), desk.replace(1, "2", Mode::Apply)];
    desk.carries_out();
    let above = desk.replace_two(0, "both", Mode::Apply);
    desk.carries_out();
    assert_eq!(desk.text(), "both\nthree\n");
    desk.document.record_before_delivery();
    for hunk in &below {
        let request =
            Request { along: Along::All, ..Request::of(Choice::Reject, Target::Hunk(hunk.clone())) };
        assert_eq!(desk.document.decide(&request, desk.now).refused, []);
        if hunk == &below[0] {
            desk.record();
        }
    }
    assert_eq!(desk.poll(), None, "the first needs what the second takes out");
    desk.record();
    desk.carries_out();
    desk.record();
    assert_eq!(desk.text(), "one\ntwo\nthree\n");
    assert_eq!([&below[0], &below[1], &above].map(|hunk| desk.decision(hunk)), [Decision::Rejected; 3]);
}

#[test]
fn a_decision_that_was_not_sent_yet_is_called_off() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    assert_eq!(desk.decision(&hunk), Decision::Rejected);
    assert_eq!(desk.poll(), None);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\n2\nthree\n", Decision::Accepted));
}

#[test]
fn keeping_an_edit_that_is_on_its_way_in_counts_when_it_is_there() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Apply);
    let delivery = desk.poll().unwrap();
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    assert_eq!(desk.decision(&hunk), Decision::Undecided);
    desk.applies(&delivery);
    assert_eq!(desk.decision(&hunk), Decision::Accepted);
}

#[test]
fn endings_that_would_join_are_a_conflict_of_their_own() {
    let mut desk = Desk::new("one\rtwo\nthree\n");
    let hunk = desk.delete(1, Mode::Propose);
    // Without `two` the \r behind `one` would come before an empty line.
    desk.notify(&[at(2, 0, (2, 5), "")]);
    assert_eq!(desk.state(&hunk), HunkState::Conflicted(Conflict::EndingsWouldJoin));
    let review = desk.document.review();
    let sentence = review.edits[0].hunks[0].conflict.clone().unwrap();
    assert!(sentence.contains("read as one"), "{sentence}");
    let target = Target::Hunk(hunk.clone());
    let request = Request::of(Choice::Accept, target);
    let refused = desk.document.decide(&request, desk.now).refused;
    assert_eq!(refused[0].why, Why::Conflicted);
    assert!(refused[0].message.contains("Type something into the empty line"), "{}", refused[0].message);
    desk.types(2, "III");
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.settle();
    assert_eq!(desk.text(), "one\rIII\n");
}

#[test]
fn a_rejected_edit_is_not_accepted_over_what_the_person_typed_since() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.types(1, "my ");
    assert_eq!(desk.decide(&hunk, Choice::Accept, None), Err(Why::Conflicted));
    assert_eq!(desk.decision(&hunk), Decision::Rejected, "a refused decision changes nothing");
}

#[test]
fn keeping_mine_asks_for_what_was_built_on_the_edit() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let below = desk.replace(1, "2", Mode::Propose);
    desk.replace(1, "II", Mode::Propose);
    assert_eq!(desk.decide(&below, Choice::KeepMine, None), Err(Why::NeedsOthers));
}

#[test]
fn a_way_out_of_a_conflict_that_is_over_keeps_the_edit() {
    for choice in [Choice::TakeTheirs, Choice::KeepBoth] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", Mode::Apply);
        desk.settle();
        desk.decide(&hunk, choice, None).unwrap();
        assert_eq!(desk.decision(&hunk), Decision::Accepted);
    }
}

#[test]
fn an_edit_that_is_withdrawn_on_its_way_into_the_text_is_out_of_it_at_the_end() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Apply);
    let delivery = desk.poll().unwrap();
    desk.document.withdraw(&hunk.edit);
    desk.applies(&delivery);
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\ntwo\nthree\n", Decision::Withdrawn));
}

#[test]
fn withdrawing_leaves_what_the_person_typed_inside() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Apply);
    desk.settle();
    desk.types(1, "my ");
    desk.document.withdraw(&hunk.edit);
    desk.settle();
    assert!(desk.text().contains("my 2\n") && desk.text().contains("two\n"), "{}", desk.text());
    assert_eq!(desk.decision(&hunk), Decision::Withdrawn);
}

#[test]
fn a_withdrawal_does_not_take_out_what_another_agent_has_built_meanwhile() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let below = desk.replace(1, "2", Mode::Apply);
    desk.settle();
    let above = desk.replace(1, "II", Mode::Apply);
    let delivery = desk.poll().unwrap();
    desk.document.withdraw(&below.edit);
    desk.applies(&delivery);
    desk.settle();
    assert_eq!(desk.text(), "one\nII\nthree\n");
    assert_eq!((desk.decision(&below), desk.decision(&above)), (Decision::Undecided, Decision::Undecided));
}

#[test]
fn deciding_again_later_does_not_call_off_what_is_under_way() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.decide(&hunk, Choice::Reopen, None).unwrap();
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\n2\nthree\n", Decision::Undecided));
}

#[test]
fn a_rejection_that_is_refused_forgets_nothing_that_waits() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let below = desk.replace(1, "2", Mode::Apply);
    desk.settle();
    let above = desk.replace(2, "3", Mode::Apply);
    let delivery = desk.poll().unwrap();
    desk.decide(&above, Choice::Accept, None).unwrap();
    desk.types(1, "my ");
    assert_eq!(desk.decide(&below, Choice::Reject, None), Err(Why::Edited));
    desk.document.answered(delivery.number, false, desk.now);
    desk.settle();
    assert_eq!(desk.text(), "one\nmy 2\n3\n");
    assert_eq!((desk.decision(&below), desk.decision(&above)), (Decision::Undecided, Decision::Accepted));
}

#[test]
fn a_rejection_that_waits_is_about_what_was_shown_as_one_when_it_was_made() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\n");
    let first = desk.replace_each(&[(0, "1")], Mode::Propose, "conv");
    let other = desk.replace_each(&[(2, "3")], Mode::Propose, "conv");
    desk.decide(&first, Choice::Accept, None).unwrap();
    let delivery = desk.poll().unwrap();
    desk.decide(&first, Choice::Reject, None).unwrap();
    // Now the agent builds on both.
    let mut served = desk.document.serve(View::Agent).unwrap();
    let hash = served.hash();
    let located = desk.document.locate(&HashPrefix::from(hash), &served, hash).unwrap();
    let anchor = |line: usize| {
        format!("{}:{}", line + 1, line_hash(&served.text().line(Line(line)).unwrap().content()))
    };
    let raw = RawOperation::new("replace_range", anchor(0)).end(anchor(2)).content("all");
    let resolved =
        located.resolve(&Change::Operations(vec![Operation::parse(0, raw).unwrap()]), &served).unwrap();
    let proposal = Proposal { id: EditId::from("on-both"), ..proposal("conv", Mode::Propose) };
    let mut proposed = desk.document.propose(&located, &resolved, &proposal).unwrap();
    desk.document.publish(&mut proposed, &proposal);
    desk.document.answered(delivery.number, false, desk.now);
    desk.settle();
    assert_eq!(desk.decision(&first), Decision::Rejected);
    assert_eq!(desk.decision(&HunkRef { edit: EditId::from("on-both"), number: 1 }), Decision::Rejected);
    assert_eq!(desk.decision(&other), Decision::Undecided, "nobody rejected that");
}

#[test]
fn an_edit_with_a_conflicted_hunk_is_accepted_as_a_whole_or_not_at_all() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\nfive\n");
    let first = desk.replace_each(&[(0, "1"), (2, "3"), (4, "5")], Mode::Propose, "conv");
    desk.types(0, "my ");
    let target = Target::Edit(first.edit.to_string());
    let request = Request { along: Along::All, ..Request::of(Choice::Accept, target) };
    let decided = desk.document.decide(&request, desk.now);
    assert!(decided.queued.is_empty());
    let [refused] = decided.refused.as_slice() else { panic!("one refusal: {decided:?}") };
    assert_eq!(refused.why, Why::Conflicted);
    assert!(refused.message.contains("Accept the 2 others"), "{}", refused.message);
    assert_eq!(refused.others.iter().map(|hunk| hunk.number).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(desk.poll(), None, "nothing is under way");
}

#[test]
fn deciding_about_an_edit_leaves_what_was_decided_before() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let first = desk.replace_each(&[(0, "1"), (2, "3")], Mode::Propose, "conv");
    desk.decide(&first, Choice::Reject, None).unwrap();
    let target = Target::Edit(first.edit.to_string());
    let accept = Request::of(Choice::Accept, target);
    desk.document.decide(&accept, desk.now);
    desk.settle();
    assert_eq!(desk.text(), "one\ntwo\n3\n", "the rejected hunk was not named");
    // Nothing is left to decide: now the edit as a whole is meant.
    let reject = Request { choice: Choice::Reject, ..accept };
    desk.document.decide(&reject, desk.now);
    desk.settle();
    assert_eq!(desk.text(), "one\ntwo\nthree\n");
}

#[test]
fn an_agent_does_not_take_back_what_an_acceptance_that_waits_builds_on() {
    let mut desk = Desk::new("one\ntwo\nthree\nfour\n");
    let below = desk.replace(1, "2\nzwei", Mode::Apply);
    desk.settle();
    let above = desk.replace(2, "deux", Mode::Propose);
    desk.types(2, "my ");
    desk.decide(&above, Choice::KeepBoth, None).unwrap();
    desk.document.withdraw(&below.edit);
    desk.settle();
    assert_eq!(desk.text(), "one\n2\nmy zwei\ndeux\nthree\nfour\n");
    assert_eq!([desk.decision(&below), desk.decision(&above)], [Decision::Undecided, Decision::Accepted]);
}

/// The person's words are newer than their leave to replace what they had there.
#[test]
fn taking_an_edit_over_own_lines_does_not_take_the_words_that_were_written_since() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let below = desk.replace(1, "2a\n2b", Mode::Propose);
    let above = desk.replace_each(&[(1, "zwei"), (2, "drei")], Mode::Propose, "other");
    desk.types(1, "my ");
    let with = Request { along: Along::All, ..Request::of(Choice::TakeTheirs, Target::Hunk(above.clone())) };
    assert_eq!(desk.document.decide(&with, desk.now).refused, []);
    desk.change(Span::new(Position::new(1, 0), Position::new(1, 3)), "");
    assert_eq!(desk.accepts_as(&below, "mine\n2b").refused, []);
    desk.settle();
    assert_eq!(desk.text(), "one\nmine\n2b\nthree\n");
    assert_eq!([desk.decision(&below), desk.decision(&above)], [Decision::Accepted, Decision::Undecided]);
    let notices = desk.document.take_notices();
    assert!(notices.iter().any(|words| words.contains("written yourself")), "{notices:?}");
}

#[test]
fn at_a_line_the_edits_are_decided_that_are_shown_there() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let first = desk.replace_each(&[(1, "2")], Mode::Propose, "conv");
    let second = desk.publish(&[(1, None)], Mode::Propose, "conv");
    // Both are shown as one, in the place of the second line: not beside it.
    let shown = desk.document.review_where(|edit| edit.id == first.edit).edits[0].hunks[0].lines.clone();
    assert_eq!(shown, Some(1..2));
    for (line, decided) in [(2..2, 0), (1..1, 1)] {
        let request = Request::of(Choice::Accept, Target::Lines(line));
        let queued = desk.document.decide(&request, desk.now).queued;
        assert_eq!(queued.contains(&first), decided > 0, "{queued:?}");
    }
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&second)), ("one\nthree\n", Decision::Accepted));
}

/// A deletion that is on its way into the text when the person changes the line and rejects it.
fn rejected_on_its_way(reports: Reports) -> (Desk, HunkRef, Delivery) {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    desk.document.set_reports(reports);
    let hunk = desk.delete(1, Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let delivery = desk.poll().unwrap();
    desk.types(1, "my ");
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    (desk, hunk, delivery)
}

/// It is gone as the edit would have it, but by hand and after the edit was rejected.
#[test]
fn a_line_that_the_person_deleted_does_not_come_back() {
    let answers = [(true, true), (true, false), (false, true), (false, false)];
    let ways = answers.map(|answer| [(Reports::Causes, answer), (Reports::Versions, answer)]).concat();
    // A client that may carry out a delivery for another text has to say that it did not.
    for (reports, (applied, before)) in ways.into_iter().chain([(Reports::Nothing, (false, true))]) {
        let (mut desk, hunk, delivery) = rejected_on_its_way(reports);
        if before {
            desk.document.answered(delivery.number, applied, desk.now);
        }
        // What was typed was no first part of it.
        desk.now = Millis(1500);
        desk.notify(&[at(1, 0, (2, 0), "")]);
        if !before {
            desk.document.answered(delivery.number, applied, desk.now);
        }
        desk.settle();
        let case = format!("{reports:?}, {applied}, {before}");
        assert_eq!(
            (desk.text().as_str(), desk.decision(&hunk)),
            ("one\nthree\n", Decision::Rejected),
            "{case}"
        );
        assert!(reports != Reports::Causes || desk.document.guesses() == 0);
    }
}

/// Whether it was the person or the editor, late, cannot be told there: so nothing of the person's is lost.
#[test]
fn a_line_comes_back_where_a_rejected_edit_may_have_taken_it_late() {
    for before in [true, false] {
        let (mut desk, hunk, delivery) = rejected_on_its_way(Reports::Nothing);
        if before {
            desk.document.answered(delivery.number, true, desk.now);
        }
        desk.notify(&[at(1, 0, (2, 0), "")]);
        desk.document.answered(delivery.number, true, desk.now);
        desk.settle();
        assert_eq!(
            (desk.text().as_str(), desk.decision(&hunk)),
            ("one\nmy two\nthree\n", Decision::Rejected)
        );
    }
}

#[test]
fn rejecting_a_later_edit_does_not_take_back_the_acceptance_of_an_earlier_one_that_waits() {
    // Whether it builds on the earlier one or stands beside it, whether it was accepted first, what was sent by then, and whether the
    // editor does that.
    for case in 0..24 {
        let (line, accepted, sent, done) = (1 + case % 2, case / 2 % 2 == 0, case / 4 % 3, case / 12 == 0);
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let earlier = desk.replace(1, "2", Mode::Propose);
        let later = desk.replace(line, "new", Mode::Propose);
        desk.decide(&earlier, Choice::Accept, None).unwrap();
        let mut delivery = if sent == 1 { desk.poll() } else { None };
        if accepted {
            let target = Target::Hunk(later.clone());
            let with = Request { along: Along::All, ..Request::of(Choice::Accept, target) };
            assert_eq!(desk.document.decide(&with, desk.now).refused, []);
        }
        delivery = if sent == 2 { desk.poll() } else { delivery };
        desk.decide(&later, Choice::Reject, None).unwrap();
        if let Some(delivery) = delivery {
            if done {
                desk.applies(&delivery);
            }
            desk.document.answered(delivery.number, done, desk.now);
        }
        desk.settle();
        let case = format!("line {line}, accepted {accepted}, sent {sent}, done {done}");
        assert_eq!(desk.text(), "one\n2\nthree\n", "{case}");
        assert_eq!(
            [desk.decision(&earlier), desk.decision(&later)],
            [Decision::Accepted, Decision::Rejected],
            "{case}"
        );
    }
}

/// The two hunks together would delete the line; but that was done by hand, to a line that was the person's by then.
#[test]
fn a_line_that_the_person_changed_and_deleted_is_not_taken_for_edits_that_nobody_decided() {
    for mode in [Mode::Propose, Mode::Apply] {
        let mut desk = Desk::new("one\ntwo\nthree\nfour\n");
        let first = desk.replace(1, "2", Mode::Propose);
        let second = desk.publish(&[(1, None)], mode, "other");
        desk.types(1, "my ");
        desk.notify(&[at(1, 0, (3, 0), "")]);
        assert_eq!(desk.text(), "one\nfour\n");
        for hunk in [&first, &second] {
            assert_eq!(desk.decision(hunk), Decision::Undecided);
            assert_ne!(desk.state(hunk), HunkState::InText, "{mode:?}");
        }
    }
}

/// They agreed to lose what they had written there, not what they write while the editor is busy.
#[test]
fn lines_that_are_written_after_leave_was_given_are_asked_about_again() {
    for since in [false, true] {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2a\n2b", Mode::Apply);
        desk.settle();
        desk.types(1, "my ");
        desk.decide(&hunk, Choice::Reject, Some(TakeOut::WithMyChanges)).unwrap();
        let delivery = desk.poll().unwrap();
        if since {
            desk.types(2, "later ");
        }
        desk.document.answered(delivery.number, false, desk.now);
        desk.settle();
        let (text, notices) =
            if since { ("one\nmy 2a\nlater 2b\nthree\n", 1) } else { ("one\ntwo\nthree\n", 0) };
        assert_eq!((desk.text().as_str(), desk.document.take_notices().len()), (text, notices));

        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", Mode::Propose);
        desk.types(1, "my ");
        desk.decide(&hunk, Choice::TakeTheirs, None).unwrap();
        let delivery = desk.poll().unwrap();
        if since {
            desk.types(1, "later ");
        }
        desk.document.answered(delivery.number, false, desk.now);
        desk.settle();
        let (text, notices) = if since { ("one\nlater my two\nthree\n", 1) } else { ("one\n2\nthree\n", 0) };
        assert_eq!((desk.text().as_str(), desk.document.take_notices().len()), (text, notices));
    }
}

#[test]
fn what_builds_on_a_withdrawn_edit_is_not_withdrawn_when_it_brings_that_back() {
    let mut desk = Desk::with_plugin("one\ntwo\nthree\nfour\n");
    let below = desk.replace(1, "2\nzwei", Mode::Apply);
    desk.carries_out();
    let above = desk.replace(2, "deux", Mode::Propose);
    desk.types(2, "my ");
    desk.decide(&above, Choice::KeepBoth, None).unwrap();
    let delivery = desk.poll().unwrap();
    desk.decide(&above, Choice::Reopen, None).unwrap();
    desk.document.withdraw(&below.edit);
    desk.document.answered(delivery.number, false, desk.now);
    desk.carries_out();
    assert_eq!(desk.text(), "one\n2\nmy zwei\ndeux\nthree\nfour\n");
    assert_eq!([desk.decision(&below), desk.decision(&above)], [Decision::Undecided; 2]);
}

#[test]
fn a_decision_is_not_made_where_a_save_before_it_cannot_be_recorded() {
    let mut desk = Desk::with_plugin("one\ntwo\n");
    desk.document.record_before_delivery();
    let hunk = desk.replace(1, "2", Mode::Propose);
    let state = desk.document.to_record(&[]);
    desk.document.was_recorded(&state, state.text_hash());
    desk.document.was_saved();
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    assert!(desk.is_deciding(&hunk));
    // What is recorded next is the save.
    assert!(desk.document.to_record(&[]).is_saved());
    assert!(desk.document.was_not_recorded());
    assert_eq!(desk.document.take_dropped(), std::slice::from_ref(&hunk));
    assert!(!desk.is_deciding(&hunk));
    // Once there is room the save is recorded, and nothing is sent.
    desk.record();
    assert_eq!(desk.poll(), None);
    assert_eq!(desk.decision(&hunk), Decision::Undecided);
}
