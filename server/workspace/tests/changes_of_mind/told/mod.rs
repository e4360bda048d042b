//! An editor whose plugin says what brings its changes about: before the change, after it, wrongly, or not at all (rule W9). Nothing is
//! guessed of it in any of these.

mod deliveries;

use hashline_history::{Decision, HunkRef};
use hashline_text::DocVersion;
use hashline_weave::{Conflict, Turn};
use hashline_workspace::document::{
    Along, Cause, Choice, ContentChange, Delivery, HunkState, Mode, Refused, Request, Target,
};

use crate::desk::{Desk, at, made};

const TEXT: &str = "one\ntwo\nthree\n";
const EDITED: &str = "one\n2\nthree\n";
const UNDO: Cause = Cause::Turn(Turn::Undo);
const REDO: Cause = Cause::Turn(Turn::Redo);

/// When the editor says the cause of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Before,
    After,
    Never,
}

/// A change, and its cause if the editor says that.
fn changes(desk: &mut Desk, says: Says, cause: Cause, changes: &[ContentChange]) {
    if says == Says::Before {
        desk.says(1, cause);
    }
    desk.notify(changes);
    if says == Says::After {
        desk.says(0, cause);
    }
}

/// An accepted edit on its way to an editor with a plugin.
fn on_its_way() -> (Desk, HunkRef, Delivery) {
    let mut desk = Desk::with_plugin(TEXT);
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let delivery = desk.poll().unwrap();
    (desk, hunk, delivery)
}

/// An accepted edit that is in the text of an editor with a plugin.
fn delivered() -> (Desk, HunkRef) {
    let (mut desk, hunk, delivery) = on_its_way();
    desk.caused(Cause::Delivery(delivery.number), &made(&delivery));
    desk.document.answered(delivery.number, true, desk.now);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED));
    (desk, hunk)
}

type How = (HunkState, Decision);
const ACCEPTED: How = (HunkState::InText, Decision::Accepted);
const HELD: How = (HunkState::Held, Decision::Undecided);
const TYPED_OVER: How = (HunkState::Conflicted(Conflict::LineChanged), Decision::Undecided);

fn how(desk: &mut Desk, hunk: &HunkRef) -> How {
    (desk.state(hunk), desk.decision(hunk))
}

/// The change of the undo, and that of the redo.
fn back() -> ContentChange {
    at(1, 0, (1, 1), "two")
}

fn forth() -> ContentChange {
    at(1, 0, (1, 3), "2")
}

fn whole(text: &str) -> ContentChange {
    ContentChange { span: None, text: text.into() }
}

/// The person undoes the edit that was delivered, which is held again.
fn is_undone(desk: &mut Desk, hunk: &HunkRef) {
    desk.caused(UNDO, &[back()]);
    assert_eq!((desk.text().as_str(), how(desk, hunk)), (TEXT, HELD));
}

/// Nothing was guessed, and so often it was not as the editor said.
fn is_told(desk: &Desk, disagreements: u64) {
    assert_eq!((desk.document.guesses(), desk.document.disagreements()), (0, disagreements));
}

#[test]
fn what_the_editor_says_before_its_changes_counts() {
    let (mut desk, hunk) = delivered();
    is_undone(&mut desk, &hunk);
    desk.caused(REDO, &[forth()]);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED));
    desk.caused(UNDO, &[back()]);
    desk.caused(Cause::Reload, &[whole(EDITED)]);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED));
    is_told(&desk, 0);
}

#[test]
fn the_same_changes_without_a_word_are_typed_by_hand() {
    let mut desk = Desk::with_plugin(TEXT);
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.notify(&[forth()]);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, TYPED_OVER));
    is_told(&desk, 0);

    let (mut desk, hunk) = delivered();
    desk.notify(&[back()]);
    assert_eq!(desk.text(), TEXT);
    assert!(matches!(how(&mut desk, &hunk), (HunkState::Edited(_), Decision::Accepted)));
    desk.notify(&[whole(EDITED)]);
    assert_eq!(how(&mut desk, &hunk), ACCEPTED, "typing that is taken back leaves no trace");
    is_told(&desk, 0);
}

#[test]
fn of_a_plain_client_it_is_guessed() {
    let mut desk = Desk::new(TEXT);
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.says(1, UNDO);
    desk.notify(&[forth()]);
    assert_eq!(how(&mut desk, &hunk), ACCEPTED);
    assert!(desk.document.guesses() > 0);
    assert_eq!(desk.document.disagreements(), 0, "what it says is not listened to");
}

#[test]
fn the_editors_mark_of_an_undo_counts_directly_after_its_change_too() {
    for says in [Says::Before, Says::After, Says::Never] {
        let (mut desk, hunk) = delivered();
        changes(&mut desk, says, UNDO, &[back()]);
        assert_eq!(desk.text(), TEXT);
        match says {
            Says::Never => assert!(matches!(how(&mut desk, &hunk), (HunkState::Edited(_), _))),
            Says::Before | Says::After => assert_eq!(how(&mut desk, &hunk), HELD, "{says:?}"),
        }
        is_told(&desk, 0);
    }
}

#[test]
fn an_undo_to_a_text_that_was_never_here_is_to_be_said_before_its_change() {
    // With the undo comes what was typed in the next line, as one change.
    let both = at(1, 0, (2, 5), "two\nthree!");
    for says in [Says::Before, Says::After] {
        let (mut desk, hunk) = delivered();
        changes(&mut desk, says, UNDO, std::slice::from_ref(&both));
        assert_eq!(desk.text(), "one\ntwo\nthree!\n");
        match says {
            Says::Before => assert_eq!(how(&mut desk, &hunk), HELD),
            Says::After | Says::Never => assert!(matches!(how(&mut desk, &hunk), (HunkState::Edited(_), _))),
        }
        is_told(&desk, u64::from(says == Says::After));
    }
}

#[test]
fn the_editors_mark_of_a_redo_counts_directly_after_its_change_too() {
    let (mut desk, hunk) = delivered();
    desk.caused(UNDO, &[back()]);
    changes(&mut desk, Says::After, REDO, &[forth()]);
    assert_eq!(how(&mut desk, &hunk), ACCEPTED);
    is_told(&desk, 0);
}

#[test]
fn that_a_text_was_read_again_is_to_be_said_before_its_change() {
    let (mut desk, hunk) = delivered();
    desk.caused(UNDO, &[back()]);
    changes(&mut desk, Says::After, Cause::Reload, &[whole(EDITED)]);
    assert_eq!(how(&mut desk, &hunk), TYPED_OVER);
    is_told(&desk, 1);
}

#[test]
fn a_save_that_is_recorded_late_says_nothing_of_what_has_left_the_text_since() {
    // Once more without the hunk, before the first is recorded.
    for saves_again in [false, true] {
        let (mut desk, hunk) = delivered();
        desk.document.was_saved();
        desk.caused(Cause::Reload, &[whole(TEXT)]);
        if saves_again {
            desk.document.was_saved();
        }
        desk.caused(UNDO, &[whole(EDITED)]);
        desk.record();
        assert_eq!(how(&mut desk, &hunk), ACCEPTED);
        // The file was found without it, and was not saved with it since.
        desk.caused(Cause::Reload, &[whole(TEXT)]);
        assert_eq!(how(&mut desk, &hunk), HELD, "{saves_again}");
    }
}

#[test]
fn a_settled_difference_with_the_file_is_typing_whenever_it_is_told() {
    for says in [Says::Before, Says::After] {
        let (mut desk, hunk) = delivered();
        changes(&mut desk, says, Cause::SaveConflict, &[back()]);
        assert!(matches!(how(&mut desk, &hunk), (HunkState::Edited(_), Decision::Accepted)), "{says:?}");
        is_told(&desk, 0);
    }
}

#[test]
fn what_the_editor_says_of_a_change_before_the_last_does_not_count() {
    let (mut desk, hunk) = delivered();
    desk.notify(&[back()]);
    desk.types(0, "zero ");
    desk.says(-1, UNDO);
    assert_eq!(desk.text(), "zero one\ntwo\nthree\n");
    assert!(matches!(how(&mut desk, &hunk), (HunkState::Edited(_), Decision::Accepted)));
    is_told(&desk, 1);
}

#[test]
fn what_was_said_of_a_version_long_past_changes_nothing() {
    let (mut desk, hunk) = delivered();
    desk.types(0, "zero ");
    desk.types(0, "below ");
    for cause in [UNDO, REDO, Cause::Delivery(1), Cause::Reload] {
        desk.says(-2, cause);
    }
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("below zero one\n2\nthree\n", ACCEPTED));
    is_told(&desk, 4);
    // What comes now is judged by what is said of it.
    desk.caused(UNDO, &[at(0, 0, (0, 11), "")]);
    is_undone(&mut desk, &hunk);
    is_told(&desk, 4);
}

#[test]
fn what_does_not_go_with_the_text_is_typing() {
    let typed = || at(1, 0, (1, 3), "mine");
    // Another text than the delivery makes, and a number that is not under way with either text: that of the delivery needs no word.
    for (number, change, is) in [(0, typed(), TYPED_OVER), (7, forth(), ACCEPTED), (7, typed(), TYPED_OVER)] {
        let (mut desk, hunk, delivery) = on_its_way();
        desk.caused(Cause::Delivery(delivery.number + number), &[change]);
        assert_eq!(how(&mut desk, &hunk), is);
        is_told(&desk, 1);
    }
    // The person has typed before the delivery, and says that it is the delivery.
    let (mut desk, hunk, delivery) = on_its_way();
    desk.caused(
        Cause::Delivery(delivery.number),
        &[&[at(0, 0, (0, 0), "zero ")], &made(&delivery)[..]].concat(),
    );
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("zero one\n2\nthree\n", TYPED_OVER));
    is_told(&desk, 1);
}

#[test]
fn an_undo_to_a_text_that_nobody_knows_is_typing() {
    let (mut desk, hunk) = delivered();
    desk.caused(UNDO, &[at(1, 0, (1, 1), "2, as it never was")]);
    assert!(matches!(how(&mut desk, &hunk), (HunkState::Edited(_), Decision::Accepted)));
    assert_eq!(desk.document.guesses(), 0);
}

#[test]
fn what_was_typed_behind_a_caused_change_in_one_notification_is_typing() {
    let zero = || at(0, 0, (0, 0), "zero ");
    let (mut desk, hunk, delivery) = on_its_way();
    desk.caused(Cause::Delivery(delivery.number), &[&made(&delivery)[..], &[zero()]].concat());
    desk.document.answered(delivery.number, true, desk.now);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("zero one\n2\nthree\n", ACCEPTED));
    desk.caused(UNDO, &[at(0, 0, (0, 5), ""), back(), zero()]);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("zero one\ntwo\nthree\n", HELD));
    desk.caused(REDO, &[at(0, 0, (0, 5), ""), forth(), at(1, 1, (1, 1), "!")]);
    assert_eq!(desk.text(), "one\n2!\nthree\n");
    assert!(matches!(how(&mut desk, &hunk), (HunkState::Edited(_), Decision::Accepted)));
    is_told(&desk, 0);
}

#[test]
fn two_causes_of_one_notification_are_taken_in_their_order() {
    let (mut desk, hunk, delivery) = on_its_way();
    desk.says(1, Cause::Delivery(delivery.number));
    desk.says(2, UNDO);
    // The editor joins both changes to one notification.
    desk.version += 1;
    desk.notify(&[made(&delivery), vec![back()]].concat());
    desk.document.answered(delivery.number, true, desk.now);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (TEXT, HELD));
    assert_eq!(desk.poll(), None, "it is not sent again");
    is_told(&desk, 0);
}

#[test]
fn turns_of_one_notification_that_lead_nowhere_change_nothing_whichever_of_them_is_said() {
    for said in [&[(1, UNDO)][..], &[(2, REDO)], &[(1, UNDO), (2, REDO)]] {
        let (mut desk, hunk) = delivered();
        said.iter().for_each(|(ahead, cause)| desk.says(*ahead, *cause));
        desk.version += 1;
        desk.notify(&[back(), forth()]);
        assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED), "{said:?}");
        is_told(&desk, 0);
    }
}

#[test]
fn causes_that_come_out_of_order_go_with_their_versions() {
    let (mut desk, hunk, delivery) = on_its_way();
    desk.says(2, UNDO);
    desk.says(1, Cause::Delivery(delivery.number));
    desk.notify(&made(&delivery));
    assert_eq!(how(&mut desk, &hunk), ACCEPTED);
    desk.document.answered(delivery.number, true, desk.now);
    desk.notify(&[back()]);
    assert_eq!(how(&mut desk, &hunk), HELD);
    is_told(&desk, 0);

    // And so do those of two versions that are told of as one.
    let (mut desk, hunk, delivery) = on_its_way();
    desk.says(2, UNDO);
    desk.says(1, Cause::Delivery(delivery.number));
    desk.version += 1;
    desk.notify(&[made(&delivery), vec![back()]].concat());
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (TEXT, HELD));
    is_told(&desk, 0);
}

#[test]
fn causes_of_versions_that_never_come_are_let_go_and_hold_up_no_others() {
    let (mut desk, hunk, delivery) = on_its_way();
    for ahead in 0..1000 {
        desk.says(1_000_000 - ahead, UNDO);
    }
    let let_go = desk.document.disagreements();
    assert!((900..1000).contains(&let_go), "{let_go}");
    desk.caused(Cause::Delivery(delivery.number), &made(&delivery));
    assert_eq!(how(&mut desk, &hunk), ACCEPTED, "the newest is kept, and is the first whose version comes");
    is_told(&desk, let_go + 1);
}

#[test]
fn an_undo_between_two_reports_takes_back_no_delivery_before_them() {
    let mut desk = Desk::with_plugin(TEXT);
    let hunk = desk.insert_after(0, "new", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.carries_out();
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("one\nnew\ntwo\nthree\n", ACCEPTED));
    // The line is deleted, and another one begun in its place: between the two the editor tells of nothing.
    let (x, y) = (at(0, 0, (0, 0), "x\n"), at(1, 0, (1, 0), "y\n"));
    desk.notify(&[x, y, at(3, 0, (4, 0), ""), at(3, 0, (3, 0), "\n"), at(0, 1, (0, 1), "!")]);
    assert_eq!(desk.text(), "x!\ny\none\n\ntwo\nthree\n");
    desk.caused(UNDO, &[at(3, 0, (4, 0), ""), at(0, 1, (0, 2), "")]);
    assert_eq!(desk.text(), "x\ny\none\ntwo\nthree\n");
    let now = how(&mut desk, &hunk);
    assert!(matches!(now, (HunkState::Edited(_), Decision::Accepted)), "{now:?}");
    is_told(&desk, 0);
}

#[test]
fn an_undo_leads_between_a_deletion_and_what_is_put_in_its_place() {
    let mut desk = Desk::with_plugin("one\n");
    desk.notify(&[at(0, 0, (1, 0), "")]);
    desk.notify(&[at(0, 0, (0, 0), "typed")]);
    let hunk = desk.replace(0, "new", Mode::Apply);
    let delivery = desk.poll().unwrap();
    desk.caused(Cause::Delivery(delivery.number), &made(&delivery));
    desk.document.answered(delivery.number, true, desk.now);
    // The text was empty before, too, and the edit was not in it then.
    desk.notify(&[at(0, 0, (0, 3), ""), at(0, 0, (0, 0), "mine")]);
    desk.caused(UNDO, &[at(0, 0, (0, 4), "")]);
    assert_eq!(desk.text(), "");
    let now = desk.state(&hunk);
    assert!(matches!(now, HunkState::Edited(_)), "{now:?}");
    desk.caused(UNDO, &[at(0, 0, (0, 0), "new")]);
    assert_eq!((desk.text().as_str(), desk.state(&hunk)), ("new", HunkState::InText));
    is_told(&desk, 0);
}

#[test]
fn an_undo_is_known_after_a_document_was_out_of_step() {
    let (mut desk, hunk) = delivered();
    // A word was typed and undone, and the two arrived in the wrong order.
    let version = DocVersion(desk.version + 2);
    desk.document.say_cause(version, UNDO, desk.now);
    desk.document.change(version, &[at(2, 5, (2, 9), "")], desk.now).unwrap();
    let late = desk.document.change(DocVersion(desk.version + 1), &[at(2, 5, (2, 5), "word")], desk.now);
    assert!(late.is_err());
    desk.version += 2;
    desk.notify(&[whole(EDITED)]);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED));
    is_undone(&mut desk, &hunk);
    is_told(&desk, 0);
}

#[test]
fn an_undo_is_known_though_a_change_before_it_was_cut_short() {
    let (mut desk, hunk) = delivered();
    let version = DocVersion(desk.version + 2);
    desk.document.say_cause(version, UNDO, desk.now);
    // The place that is taken out ends behind the line, as the word that is undone has not been told of.
    desk.document.change(version, &[at(2, 2, (2, 9), "")], desk.now).unwrap();
    assert!(
        desk.document.change(DocVersion(desk.version + 1), &[at(2, 2, (2, 2), "word")], desk.now).is_err()
    );
    desk.version += 2;
    desk.notify(&[whole(EDITED)]);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED));
    is_undone(&mut desk, &hunk);
}

#[test]
fn nothing_is_on_its_way_to_a_text_that_was_read_again_while_the_document_was_out_of_step() {
    let mut desk = Desk::with_plugin(TEXT);
    let (mut proposed, proposal) = desk.propose(&[(1, Some("2"))], Mode::Apply, "conv_1");
    let version = desk.version;
    desk.document.change(DocVersion(version + 2), &[at(2, 5, (2, 5), "word")], desk.now).unwrap();
    assert!(desk.document.change(DocVersion(version + 1), &[at(2, 5, (2, 5), "a ")], desk.now).is_err());
    desk.version += 2;
    desk.document.publish(&mut proposed, &proposal);
    desk.says(1, Cause::Reload);
    desk.notify(&[at(0, 0, (2, 11), TEXT)]);
    desk.notify(&[whole(TEXT)]);
    let hunk = HunkRef { edit: proposal.id, number: 1 };
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (TEXT, HELD));
    assert!(desk.poll().is_none(), "it waits for the person");
}

/// The undo and the redo of the withdrawal are no word about what was accepted since.
#[test]
fn an_accepted_edit_stays_in_the_text_with_the_withdrawn_one_that_it_builds_on() {
    let mut desk = Desk::with_plugin(TEXT);
    let below = desk.replace(1, "2", Mode::Apply);
    desk.carries_out();
    let above = desk.replace(1, "zwei", Mode::Propose);
    desk.document.withdraw(&below.edit);
    desk.carries_out();
    assert_eq!((desk.text().as_str(), desk.decision(&below)), (TEXT, Decision::Withdrawn));
    let own = Some(vec!["deux".to_owned()]);
    let accept = Request::of(Choice::Accept, Target::Hunk(above.clone()));
    let accept = Request { own, along: Along::All, ..accept };
    assert_eq!(desk.document.decide(&accept, desk.now).refused, []);
    let delivery = desk.poll().unwrap();
    desk.caused(UNDO, &[forth()]);
    desk.caused(REDO, &[back()]);
    desk.document.answered(delivery.number, false, desk.now);
    desk.carries_out();
    assert_eq!(desk.text(), "one\ndeux\nthree\n");
    assert_eq!([desk.decision(&below), desk.decision(&above)], [Decision::Accepted; 2]);
    is_told(&desk, 0);
}
