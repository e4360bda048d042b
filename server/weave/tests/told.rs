//! What the editor says of its changes is believed as far as the text goes with it, and nothing else is guessed (rule W9).
#![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

use hashline_text::{Ending, OwnedLine, Text};
use hashline_weave::{Change, How, HunkId, Judgement, Plan, Regions, TakeOut, Turn, Weave};

fn whole(weave: &Weave, text: &str) -> (Text, Regions) {
    let text = Text::from(text);
    let mut regions = Regions::default();
    regions.replace_all(&mut weave.buffer().clone(), text.clone());
    (text, regions)
}

fn typed(weave: &mut Weave, text: &str) -> Judgement {
    let (text, regions) = whole(weave, text);
    weave.typed(&text, &regions)
}

fn undone(weave: &mut Weave, text: &str) -> Judgement {
    let (text, regions) = whole(weave, text);
    weave.turned(&text, &regions, Turn::Undo)
}

fn redone(weave: &mut Weave, text: &str) -> Judgement {
    let (text, regions) = whole(weave, text);
    weave.turned(&text, &regions, Turn::Redo)
}

fn made(weave: &mut Weave, plan: &Plan, text: &str) -> Option<Judgement> {
    let (text, regions) = whole(weave, text);
    weave.made(&text, &regions, plan, 7)
}

/// A held hunk that puts a line behind the first.
fn with_insert() -> (Weave, HunkId) {
    let mut weave = Weave::new(Text::from("a\nb\nc\n"));
    let hunk =
        weave.record(&[Change { lines: 1..1, new: vec![OwnedLine::new("new", Ending::Lf)] }]).unwrap()[0];
    (weave, hunk)
}

#[test]
fn what_is_typed_as_an_edit_proposes_it_is_typed() {
    let (mut weave, hunk) = with_insert();
    let judgement = typed(&mut weave, "a\nnew\nb\nc\n");
    assert_eq!((judgement.switched, judgement.typed_lines), (Vec::new(), 1));
    assert!(!weave.in_buffer(hunk));
}

#[test]
fn a_delivery_that_the_editor_names_is_made_and_another_text_is_not() {
    let (mut weave, hunk) = with_insert();
    let plan = Plan::switch(&[hunk], &[]);
    assert_eq!(made(&mut weave, &plan, "a\nnew\nb!\nc\n"), None);
    assert_eq!(weave.buffer().to_string(), "a\nb\nc\n");
    let judgement = made(&mut weave, &plan, "a\nnew\nb\nc\n").unwrap();
    assert_eq!(judgement.switched.len(), 1);
    assert_eq!(judgement.switched[0].how, How::Asked(7));
    assert!(weave.in_buffer(hunk));
}

#[test]
fn lines_that_are_deleted_by_hand_are_no_undo() {
    let (mut weave, hunk) = with_insert();
    made(&mut weave, &Plan::switch(&[hunk], &[]), "a\nnew\nb\nc\n").unwrap();
    assert_eq!(typed(&mut weave, "a\nb\nc\n").switched, []);
    assert!(weave.in_buffer(hunk) && weave.edited(hunk).deleted);
    // The same said to be an undo of that deletion, and then of the delivery.
    assert_eq!(undone(&mut weave, "a\nnew\nb\nc\n").switched, []);
    assert!(!weave.edited(hunk).any());
    assert_eq!(undone(&mut weave, "a\nb\nc\n").switched.len(), 1);
    assert!(!weave.in_buffer(hunk));
}

#[test]
fn typing_that_is_taken_back_by_hand_leaves_no_trace() {
    let (mut weave, hunk) = with_insert();
    let states = weave.line_states();
    typed(&mut weave, "a\nc\n");
    typed(&mut weave, "c\n");
    assert!(weave.conflict(hunk).is_some());
    typed(&mut weave, "a\nb\nc\n");
    assert_eq!(weave.conflict(hunk), None);
    assert_eq!(weave.line_states(), states);
}

#[test]
fn an_undo_to_a_text_that_was_never_reported_takes_back_what_came_since() {
    let (mut weave, hunk) = with_insert();
    // Two things were typed and reported as one; then the edit came in; the undo goes back to between the two.
    typed(&mut weave, "a\nb one\nc two\n");
    made(&mut weave, &Plan::switch(&[hunk], &[]), "a\nnew\nb one\nc two\n").unwrap();
    let judgement = undone(&mut weave, "a\nb one\nc\n");
    assert!(matches!(judgement.switched[..], [one] if one.hunk == hunk && !one.on));
    assert!(!weave.in_buffer(hunk));
    // And on again, past it.
    let judgement = redone(&mut weave, "a\nnew\nb one\nc two\n");
    assert!(
        matches!(judgement.switched[..], [one] if one.hunk == hunk && one.on && matches!(one.how, How::Redone(_)))
    );
}

#[test]
fn an_undo_of_typing_beside_an_edit_switches_nothing() {
    let (mut weave, hunk) = with_insert();
    made(&mut weave, &Plan::switch(&[hunk], &[]), "a\nnew\nb\nc\n").unwrap();
    typed(&mut weave, "a\nnew\nb\nc one two\n");
    assert_eq!(undone(&mut weave, "a\nnew\nb\nc one\n").switched, []);
    assert!(weave.in_buffer(hunk));
}

#[test]
fn an_undo_and_a_redo_to_one_text_are_told_apart() {
    let (mut weave, hunk) = with_insert();
    made(&mut weave, &Plan::switch(&[hunk], &[]), "a\nnew\nb\nc\n").unwrap();
    typed(&mut weave, "a\nb\nc\n");
    undone(&mut weave, "a\nnew\nb\nc\n");
    // The line is deleted once more, by a redo: the edit is still in the text, without its line.
    assert_eq!(redone(&mut weave, "a\nb\nc\n").switched, []);
    assert!(weave.in_buffer(hunk) && weave.edited(hunk).deleted);
    undone(&mut weave, "a\nnew\nb\nc\n");
    assert_eq!(undone(&mut weave, "a\nb\nc\n").switched.len(), 1);
    assert_eq!(redone(&mut weave, "a\nnew\nb\nc\n").switched.len(), 1);
    assert_eq!(redone(&mut weave, "a\nb\nc\n").switched, []);
    assert!(weave.in_buffer(hunk) && weave.edited(hunk).deleted);
}

#[test]
fn an_undo_between_two_changes_of_lines_that_stay_finds_the_hunks_as_they_were() {
    for says_redo in [false, true] {
        let (mut weave, hunk) = with_insert();
        typed(&mut weave, "a\nb\nc1\n");
        typed(&mut weave, "a\nb\nc12\n");
        made(&mut weave, &Plan::switch(&[hunk], &[]), "a\nnew\nb\nc12\n").unwrap();
        // A step of the editor's history may be cut where nobody was told of it.
        let back = undone(&mut weave, "a\nb\nc1\n");
        assert_eq!(back.switched.len(), 1, "{back:?}");
        assert!(!weave.in_buffer(hunk));
        // No text stands in the journal that was never reported.
        let before: Vec<String> = weave.texts_before().into_iter().map(|lines| lines.concat()).collect();
        assert_eq!(before, ["anewbc12", "abc12", "abc"]);
        if says_redo {
            assert_eq!(redone(&mut weave, "a\nb\nc12\n").switched, []);
            let forth = redone(&mut weave, "a\nnew\nb\nc12\n");
            assert!(matches!(forth.switched[..], [one] if one.on && one.hunk == hunk), "{forth:?}");
        } else {
            assert_eq!(undone(&mut weave, "a\nb\nc\n").switched, []);
            assert!(!weave.in_buffer(hunk));
        }
    }
}

#[test]
fn an_undo_leads_to_the_nearest_text_that_reads_so_though_it_lies_between_two_changes() {
    let mut weave = Weave::new(Text::from("a\n\nc\n"));
    typed(&mut weave, "a\nb\nc\n");
    let change = Change { lines: 1..2, new: vec![OwnedLine::new("new", Ending::Lf)] };
    let hunk = weave.record(&[change]).unwrap()[0];
    made(&mut weave, &Plan::switch(&[hunk], &[]), "a\nnew\nc\n").unwrap();
    // The person empties the line, and types something else in it.
    typed(&mut weave, "a\n\nc\n");
    typed(&mut weave, "a\nmine\nc\n");
    // The undo takes back the typing alone, though the text read so before the edit came, too.
    assert_eq!(undone(&mut weave, "a\n\nc\n").switched, []);
    assert!(weave.in_buffer(hunk) && weave.edited(hunk).any());
    assert_eq!(undone(&mut weave, "a\nnew\nc\n").switched, []);
    assert!(weave.in_buffer(hunk) && !weave.edited(hunk).any());
    // The same way on again.
    assert_eq!(undone(&mut weave, "a\nb\nc\n").switched.len(), 1);
    assert_eq!(undone(&mut weave, "a\n\nc\n").switched, []);
    assert!(!weave.in_buffer(hunk));
    assert_eq!(redone(&mut weave, "a\nb\nc\n").switched, []);
    assert_eq!(redone(&mut weave, "a\nnew\nc\n").switched.len(), 1);
    assert_eq!(redone(&mut weave, "a\n\nc\n").switched, []);
    assert!(weave.in_buffer(hunk) && weave.edited(hunk).any());
}

#[test]
fn what_was_decided_without_a_change_of_the_text_is_done_again_with_it() {
    let (mut weave, hunk) = with_insert();
    made(&mut weave, &Plan::switch(&[hunk], &[]), "a\nnew\nb\nc\n").unwrap();
    typed(&mut weave, "a\nnewer\nb\nc\n");
    typed(&mut weave, "a\nnewer\nb\nc\nd\n");
    // Rejected, and the line that the person has changed stays.
    let plan = weave.plan_take_out(hunk, TakeOut::KeepMyLines);
    assert_eq!(weave.carry_out(&plan).unwrap(), []);
    assert!(!weave.in_buffer(hunk));
    undone(&mut weave, "a\nnewer\nb\nc\n");
    assert!(weave.in_buffer(hunk));
    redone(&mut weave, "a\nnewer\nb\nc\nd\n");
    assert!(!weave.in_buffer(hunk));
}

#[test]
fn a_hunk_reads_as_it_did_when_keeping_what_was_changed_in_it_is_undone_and_done_again() {
    let (mut weave, hunk) = with_insert();
    made(&mut weave, &Plan::switch(&[hunk], &[]), "a\nnew\nb\nc\n").unwrap();
    typed(&mut weave, "a\nnewer\nb\nc\n");
    typed(&mut weave, "a\nnewer\nb\nc\nd\n");
    let plan = weave.plan_take_out(hunk, TakeOut::KeepMyLines);
    weave.carry_out(&plan).unwrap();
    undone(&mut weave, "a\nnewer\nb\nc\n");
    assert!(weave.edited(hunk).any());
    let mut out = weave.clone();
    out.switch(&[], &[hunk]).unwrap();
    assert_eq!(out.buffer().to_string(), "a\nb\nc\n");
    redone(&mut weave, "a\nnewer\nb\nc\nd\n");
    weave.switch(&[hunk], &[]).unwrap();
    let both = weave.buffer().to_string();
    assert_eq!((both.matches("newer\n").count(), both.matches("new\n").count()), (1, 1), "{both}");
}
