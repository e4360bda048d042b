//! What a person and an agent do to one document, told in small scenes.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod revised;

use hashline_text::{Encoding, Ending, OwnedLine, Position, Span, Text};
use hashline_weave::{
    Candidate, Change, Conflict, Cost, How, HunkId, Judgement, Plan, PutIn, Regions, TakeOut, Turn, View,
    Weave,
};

fn lines(text: &str) -> Vec<OwnedLine> {
    text.split_terminator('\n').map(|line| OwnedLine::new(line, Ending::Lf)).collect()
}

fn change(range: std::ops::Range<usize>, new: &str) -> Change {
    Change { lines: range, new: lines(new) }
}

/// From a position to a position, a text.
type Edit<'a> = ((u32, u32), (u32, u32), &'a str);

/// The editor: replaces part of its text, as a change of this weave's buffer.
fn edit(weave: &mut Weave, asked: &[Candidate], edits: &[Edit<'_>]) -> Judgement {
    let mut text = weave.buffer().clone();
    let mut regions = Regions::default();
    for (start, end, new) in edits {
        let span = Span::new(Position::new(start.0, start.1), Position::new(end.0, end.1));
        regions.apply(&mut text, span, Encoding::Utf16, new).unwrap();
    }
    let judgement = weave.recognised(&text, &regions, asked);
    assert_eq!(weave.buffer().to_string(), text.to_string());
    judgement
}

fn weave() -> Weave {
    Weave::new(Text::from("a\nb\nc\nd\ne\n"))
}

fn accept(hunk: HunkId) -> Candidate {
    Candidate { plan: Plan::switch(&[hunk], &[]), how: How::Asked(1) }
}

/// A delivery that is under way takes the same lines away; of its own line there is nothing.
#[test]
fn lines_that_the_person_deletes_are_deleted_whatever_else_they_type() {
    let text = "a\n    return all_that_was_stored;\n    stored(b) and stored(c);\nd\n    stored(e)\nf\n";
    let mut weave = Weave::new(Text::from(text));
    let hunk = weave.record(&[change(1..3, "    let x = proposed();\n")]).unwrap()[0];
    let judgement = edit(&mut weave, &[accept(hunk)], &[((1, 0), (3, 0), ""), ((2, 2), (2, 2), "\n")]);
    assert_eq!(judgement.switched, []);
    assert!(!weave.in_buffer(hunk));
    // In a line that was typed into while it came most of it is there.
    let mut weave = Weave::new(Text::from("a\n    return;\n    stored(b) and c;\nd\n"));
    let hunk = weave.record(&[change(1..3, "    let x = proposed();\n")]).unwrap()[0];
    edit(&mut weave, &[accept(hunk)], &[((1, 0), (3, 0), "    let xyz = proposed();\n")]);
    assert!(weave.in_buffer(hunk));
}

#[test]
fn what_was_served_is_the_buffer_once_all_of_it_is_accepted() {
    let mut weave = weave();
    let first = weave.record(&[change(1..2, "B\n")]).unwrap()[0];
    let second = weave.record(&[change(3..4, "D\n")]).unwrap()[0];
    let served = weave.agent().clone();
    weave.switch(&[first], &[]).unwrap();
    assert!(!weave.buffer().is_same_instance(&served));
    weave.switch(&[second], &[]).unwrap();
    assert!(weave.buffer().is_same_instance(&served), "and need not be hashed again");
    assert!(weave.agent().is_same_instance(&served));
    // What is held stands apart, even where it reads the same.
    weave.switch(&[], &[second]).unwrap();
    let idle = weave.record(&[change(0..1, "a\n")]).unwrap()[0];
    let served = weave.agent().clone();
    weave.switch(&[second], &[]).unwrap();
    assert!(weave.in_agent_view(idle) && !weave.in_buffer(idle) && *weave.buffer() == served);
    assert!(!weave.buffer().is_same_instance(&served));
}

#[test]
fn hunks_move_with_the_typing_above_them() {
    let mut weave = weave();
    let hunk = weave.record(&[change(2..3, "C\n")]).unwrap()[0];
    edit(&mut weave, &[], &[((0, 0), (0, 0), "new\n")]);
    assert_eq!(weave.agent().to_string(), "new\na\nb\nC\nd\ne\n");
    assert_eq!(weave.switch(&[hunk], &[]).unwrap()[0].old, 3..4);
    assert_eq!(weave.buffer().to_string(), "new\na\nb\nC\nd\ne\n");
}

#[test]
fn the_last_line_keeps_its_ending_when_the_line_behind_it_goes_and_comes_back() {
    // The editor carries out that the last line goes, and has no word on how the line before it would end.
    let carried_out: Edit<'_> = ((1, 1), (2, 1), "");
    for (edits, text) in [
        (vec![carried_out], "a\r\nb\nc"),
        // With the person's typing in the same notification.
        (vec![carried_out, ((0, 0), (0, 0), "x")], "xa\r\nb\nc"),
    ] {
        let mut weave = Weave::new(Text::from("a\r\nb\nc"));
        let hunk = weave.record(&[change(2..3, "")]).unwrap()[0];
        let judgement = edit(&mut weave, &[accept(hunk)], &edits);
        assert_eq!(judgement.switched.len(), 1);
        weave.switch(&[], &[hunk]).unwrap();
        assert_eq!(weave.buffer().to_string(), text);
    }
}

#[test]
fn lines_opened_above_another_stay_above_it_when_they_are_typed_in() {
    // One notification: a line is opened above `b`, and typed in until it reads as `b` does.
    let mut weave = Weave::new(Text::from("a\rb\r"));
    let known = weave.snapshot(View::Buffer);
    edit(&mut weave, &[], &[((1, 0), (1, 0), "\r"), ((1, 0), (1, 0), "b")]);
    assert_eq!(weave.carry(&known, 1..2), Ok(2..3));

    // The same between a held insert and the line after it: the insert stays where it was made.
    let mut weave = self::weave();
    weave.record(&[change(1..1, "held\n")]).unwrap();
    edit(&mut weave, &[], &[((1, 0), (1, 0), "\n"), ((1, 0), (1, 0), "typed")]);
    assert_eq!(weave.agent().to_string(), "a\nheld\ntyped\nb\nc\nd\ne\n");
}

#[test]
fn typing_over_a_hunk_is_a_conflict_until_it_is_undone() {
    let mut weave = weave();
    let hunk = weave.record(&[change(2..3, "C\n")]).unwrap()[0];
    edit(&mut weave, &[], &[((2, 1), (2, 1), "!")]);
    assert_eq!(weave.conflict(hunk), Some(Conflict::LineChanged));
    assert_eq!(weave.agent().to_string(), "a\nb\nc!\nd\ne\n");
    edit(&mut weave, &[], &[((2, 1), (2, 2), "")]);
    assert_eq!(weave.conflict(hunk), None);
    edit(&mut weave, &[], &[((2, 0), (3, 0), "")]);
    assert_eq!(weave.conflict(hunk), Some(Conflict::LineRemoved));
    edit(&mut weave, &[], &[((2, 0), (2, 0), "c\n")]);
    assert_eq!(weave.conflict(hunk), None);
    assert_eq!(weave.agent().to_string(), "a\nb\nC\nd\ne\n");
}

#[test]
fn a_delivery_is_recognised_amid_typing_and_its_undo_too() {
    let mut weave = weave();
    let hunk = weave.record(&[change(2..3, "C1\nC2\n")]).unwrap()[0];
    let seen = edit(&mut weave, &[accept(hunk)], &[((2, 0), (3, 0), "C1\nC2\n"), ((0, 0), (0, 1), "A")]);
    assert_eq!(seen.switched.len(), 1);
    assert_eq!(seen.switched[0].how, How::Asked(1));
    assert!(weave.in_buffer(hunk));
    let undone = edit(&mut weave, &[], &[((2, 0), (4, 0), "c\n")]);
    assert_eq!(undone.switched.len(), 1, "{undone:?}");
    assert!(matches!(undone.switched[0].how, How::Undone(_)));
    assert!(!weave.in_buffer(hunk));
    assert_eq!(weave.agent().to_string(), "A\nb\nC1\nC2\nd\ne\n");
    let redone = edit(&mut weave, &[], &[((2, 0), (3, 0), "C1\nC2\n")]);
    assert!(redone.switched[0].on, "{redone:?}");
    assert!(matches!(redone.switched[0].how, How::Redone(_) | How::Undone(_)), "{redone:?}");
}

#[test]
fn a_delivery_that_replaces_a_blank_line_is_seen_though_the_person_makes_another_blank_line_behind_it() {
    let mut weave = Weave::new(Text::from("a\n\nstored(1) and 2;\nb\n"));
    let hunk = weave.record(&[change(1..2, "let new = 1;\n")]).unwrap()[0];
    // A client that joins its changes tells of all as one.
    let judgement =
        edit(&mut weave, &[accept(hunk)], &[((1, 0), (2, 17), "let new = 1;\nstored(1) and 2;xyz\n")]);
    assert!(matches!(judgement.switched[..], [one] if one.hunk == hunk && one.on), "{judgement:?}");
    assert!(!weave.edited(hunk).any());
}

#[test]
fn an_undone_rejection_is_seen_in_the_place_of_a_blank_line() {
    let mut weave = Weave::new(Text::from("a\nb\nc\n"));
    let hunk = weave.record(&[change(1..1, "let new = 1;\n")]).unwrap()[0];
    edit(&mut weave, &[accept(hunk)], &[((1, 0), (1, 0), "let new = 1;\n")]);
    // A blank line is typed below together with something else, so the text between was never reported.
    edit(&mut weave, &[], &[((1, 12), (1, 12), "\n"), ((0, 1), (0, 1), "!")]);
    edit(
        &mut weave,
        &[Candidate { plan: Plan::switch(&[], &[hunk]), how: How::Asked(1) }],
        &[((1, 0), (2, 0), "")],
    );
    assert!(!weave.in_buffer(hunk));
    let undone = edit(&mut weave, &[], &[((1, 0), (1, 0), "let new = 1;")]);
    assert!(matches!(undone.switched[..], [one] if one.hunk == hunk && one.on), "{undone:?}");
}

#[test]
fn a_redo_is_one_though_the_same_was_offered_meanwhile() {
    let mut weave = weave();
    let hunk = weave.record(&[change(2..3, "C\n")]).unwrap()[0];
    edit(&mut weave, &[accept(hunk)], &[((2, 0), (2, 1), "C")]);
    edit(&mut weave, &[], &[((2, 0), (2, 1), "c")]);
    let offered = Candidate { how: How::Seen, ..accept(hunk) };
    let redone = edit(&mut weave, std::slice::from_ref(&offered), &[((2, 0), (2, 1), "C")]);
    assert!(matches!(redone.switched[..], [one] if one.on && one.how != How::Seen), "{redone:?}");

    // What was never in the text is what was offered.
    let mut weave = self::weave();
    let hunk = weave.record(&[change(2..3, "C\n")]).unwrap()[0];
    let taken = edit(&mut weave, &[offered], &[((2, 0), (2, 1), "C")]);
    assert!(matches!(taken.switched[..], [one] if one.hunk == hunk && one.how == How::Seen), "{taken:?}");
}

#[test]
fn an_unasked_delivery_that_is_exact_is_seen() {
    let mut weave = weave();
    let hunk = weave.record(&[change(2..3, "C\n")]).unwrap()[0];
    let seen = edit(&mut weave, &[], &[((2, 0), (2, 1), "C")]);
    assert_eq!(seen.switched[0].how, How::Seen);
    assert!(weave.in_buffer(hunk));
}

#[test]
fn typing_in_the_text_of_a_hunk_marks_it_as_edited() {
    let mut weave = weave();
    let hunk = weave.record(&[change(1..3, "B\nC\n")]).unwrap()[0];
    weave.switch(&[hunk], &[]).unwrap();
    edit(&mut weave, &[], &[((1, 1), (1, 1), "?")]);
    assert!(weave.edited(hunk).asks());
    let mut with = weave.clone();
    let plan = with.plan_take_out(hunk, TakeOut::WithMyChanges);
    with.carry_out(&plan).unwrap();
    assert_eq!(with.buffer().to_string(), "a\nb\nc\nd\ne\n");
    let plan = weave.plan_take_out(hunk, TakeOut::KeepMyLines);
    weave.carry_out(&plan).unwrap();
    assert_eq!(weave.buffer().to_string().matches("B?").count(), 1);
    assert_eq!(weave.buffer().line_count(), 6);
}

#[test]
fn what_the_person_keeps_of_an_edited_hunk_is_no_longer_in_it() {
    let mut weave = weave();
    let hunk = weave.record(&[change(1..3, "B\nC\n")]).unwrap()[0];
    weave.switch(&[hunk], &[]).unwrap();
    edit(&mut weave, &[], &[((1, 1), (1, 1), "?")]);
    let plan = weave.plan_take_out(hunk, TakeOut::KeepMyLines);
    weave.carry_out(&plan).unwrap();
    let kept = weave.buffer().to_string();
    assert_eq!((kept.matches("B?").count(), kept.matches("C\n").count()), (1, 0), "{kept}");
    // Put in again, it is what the agent proposed.
    weave.switch(&[hunk], &[]).unwrap();
    let both = weave.buffer().to_string();
    assert_eq!((both.matches("B?\n").count(), both.matches("B\n").count()), (1, 1), "{both}");
    weave.switch(&[], &[hunk]).unwrap();
    assert_eq!(weave.buffer().to_string(), kept);
}

#[test]
fn a_line_that_was_kept_beside_a_hunk_stands_once_without_it() {
    let mut weave = weave();
    let hunk = weave.record(&[change(1..3, "B\nC\n")]).unwrap()[0];
    edit(&mut weave, &[], &[((1, 1), (1, 1), "!")]);
    let plan = weave.plan_put_in(hunk, PutIn::KeepBoth);
    weave.carry_out(&plan).unwrap();
    let both = weave.buffer().to_string();
    assert_eq!((both.matches("b!\n").count(), both.matches("B\nC\n").count()), (1, 1), "{both}");
    weave.switch(&[], &[hunk]).unwrap();
    assert_eq!(weave.buffer().to_string(), "a\nb!\nc\nd\ne\n");
    weave.switch(&[hunk], &[]).unwrap();
    assert_eq!(weave.buffer().to_string(), both);
}

#[test]
fn a_conflicted_hunk_can_be_put_in() {
    let mut first = weave();
    let hunk = first.record(&[change(1..3, "B\nC\n")]).unwrap()[0];
    edit(&mut first, &[], &[((1, 1), (1, 1), "!\nmine")]);
    assert_eq!(first.conflict(hunk), Some(Conflict::LineChanged));
    let mut theirs = first.clone();
    let plan = theirs.plan_put_in(hunk, PutIn::TakeTheirs);
    theirs.carry_out(&plan).unwrap();
    assert_eq!(theirs.buffer().to_string(), "a\nB\nC\nd\ne\n");
    let plan = first.plan_put_in(hunk, PutIn::KeepBoth);
    first.carry_out(&plan).unwrap();
    assert!(first.buffer().to_string().contains("b!\n"));
    assert!(first.buffer().to_string().contains("mine\n"));
    assert!(first.buffer().to_string().contains("B\nC\n"));
}

#[test]
fn an_edit_below_a_held_one_rests_on_it() {
    let mut weave = weave();
    let below = weave.record(&[change(1..2, "B\nB2\n")]).unwrap()[0];
    let above = weave.record(&[change(2..3, "X\n")]).unwrap()[0];
    assert_eq!(weave.prerequisites(above), [below]);
    assert_eq!(weave.with_prerequisites(above), [below, above]);
    assert!(weave.switch(&[above], &[]).is_err());
    weave.set_refused(below, true);
    assert_eq!(weave.agent().to_string(), "a\nb\nc\nd\ne\n");
    let other = weave.record(&[change(1..2, "BB\n")]).unwrap()[0];
    assert_eq!(weave.collisions(other), [below]);
}

#[test]
fn the_end_of_the_text_keeps_its_missing_newline() {
    let mut weave = Weave::new(Text::from("a\nb"));
    let hunk = weave.record(&[change(1..2, "B\nC\n")]).unwrap()[0];
    assert_eq!(weave.agent().to_string(), "a\nB\nC");
    weave.switch(&[hunk], &[]).unwrap();
    assert_eq!(weave.buffer().to_string(), "a\nB\nC");
    weave.switch(&[], &[hunk]).unwrap();
    assert_eq!(weave.buffer().to_string(), "a\nb");
    weave.set_refused(hunk, true);
    let end = weave.record(&[change(2..2, "end\n")]).unwrap()[0];
    weave.switch(&[end], &[]).unwrap();
    assert_eq!(weave.buffer().to_string(), "a\nb\nend");
}

#[test]
fn a_snapshot_knows_where_its_lines_are() {
    let mut weave = weave();
    let snapshot = weave.snapshot(View::Agent);
    edit(&mut weave, &[], &[((0, 0), (0, 0), "x\ny\n"), ((5, 1), (5, 1), "!")]);
    assert_eq!(weave.carry(&snapshot, 1..3), Ok(3..5));
    assert!(weave.carry(&snapshot, 3..4).is_err());
    edit(&mut weave, &[], &[((4, 0), (4, 0), "between\n")]);
    assert!(weave.carry(&snapshot, 1..3).is_err());
    assert_eq!(weave.carry(&snapshot, 2..3), Ok(5..6));
}

#[test]
fn undoing_all_typing_restores_identity() {
    let mut weave = weave();
    let snapshot = weave.snapshot(View::Agent);
    let hunk = weave.record(&[change(1..4, "X\n")]).unwrap()[0];
    edit(&mut weave, &[], &[((1, 0), (4, 0), "")]);
    edit(&mut weave, &[], &[((1, 0), (1, 0), "q\nr\n")]);
    assert!(weave.conflict(hunk).is_some());
    let mut text = Text::from("a\nb\nc\nd\ne\n");
    let mut regions = Regions::default();
    let mut from = weave.buffer().clone();
    regions.replace_all(&mut from, text.clone());
    weave.turned(&text, &regions, Turn::Undo);
    assert_eq!(weave.conflict(hunk), None);
    weave.set_refused(hunk, true);
    assert_eq!(weave.carry(&snapshot, 0..5), Ok(0..5));
    text = weave.buffer().clone();
    assert_eq!(text.line_count(), 5);
}

#[test]
fn typing_in_a_line_of_a_hunk_is_not_its_undo() {
    let mut weave = weave();
    let hunk = weave.record(&[change(1..1, "agent\n")]).unwrap()[0];
    edit(&mut weave, &[accept(hunk)], &[((1, 0), (1, 0), "agent\n")]);
    let judgement = edit(&mut weave, &[], &[((1, 0), (1, 0), "my ")]);
    assert_eq!(judgement.switched, []);
    assert!(weave.in_buffer(hunk) && weave.edited(hunk).changed);
}

#[test]
fn typing_in_a_line_that_a_held_hunk_removes_is_not_its_acceptance() {
    let mut weave = weave();
    let hunk = weave.record(&[change(1..2, "")]).unwrap()[0];
    let judgement = edit(&mut weave, &[], &[((1, 0), (1, 0), "my ")]);
    assert_eq!(judgement.switched, []);
    assert_eq!(weave.conflict(hunk), Some(Conflict::LineChanged));
}

#[test]
fn a_delivery_in_two_parts_is_judged_as_one() {
    let mut weave = weave();
    let hunk = weave.record(&[change(1..4, "B\nC\nD\n")]).unwrap()[0];
    // An editor that sends the first line's change alone shows a third of it: typing, it seems.
    let first = edit(&mut weave, &[accept(hunk)], &[((1, 0), (2, 0), "")]);
    assert!(first.half_shown, "{first:?}");
    assert!(!weave.in_buffer(hunk));
    let before = weave.before_half_shown().unwrap().clone();
    let apart = weave.left_to_type_since(&before).unwrap();
    assert_eq!(apart, Cost { lines: 1, bytes: 2 });
    let mut text = weave.buffer().clone();
    let mut regions = Regions::default();
    let span = Span::new(Position::new(1, 0), Position::new(3, 0));
    regions.apply(&mut text, span, Encoding::Utf16, "B\nC\nD\n").unwrap();
    let second = weave.recognised_again(&text, &regions, &[accept(hunk)]);
    assert_eq!(second.switched.len(), 1, "{second:?}");
    assert_eq!(second.switched[0].how, How::Asked(1));
    assert_eq!(weave.edited(hunk), hashline_weave::Edited::default());
    assert_eq!(weave.buffer().to_string(), "a\nB\nC\nD\ne\n");
    assert_eq!(weave.left_to_type_since(&before), Some(Cost::default()));
}

#[test]
fn a_delivery_is_seen_that_leaves_fewer_lines_though_the_person_typed_one_like_that_it_took_away() {
    let mut weave = Weave::new(Text::from("import(a)\nb\n"));
    let first = weave.record(&[change(0..0, "x\ny\n")]).unwrap()[0];
    let second = weave.record(&[change(0..3, "z one\nw two\n")]).unwrap()[0];
    let asked = Candidate { plan: Plan::switch(&[first, second], &[]), how: How::Asked(1) };
    edit(&mut weave, &[asked], &[((0, 0), (1, 0), "import(b)\np() z one\nw two\n")]);
    assert!(weave.in_buffer(first) && weave.in_buffer(second));
    assert_eq!(weave.buffer().to_string(), "import(b)\np() z one\nw two\nb\n");
}

#[test]
fn half_an_undo_is_not_an_undo() {
    let mut weave = weave();
    let hunk = weave.record(&[change(1..1, "x\ny\nz\n")]).unwrap()[0];
    edit(&mut weave, &[accept(hunk)], &[((1, 0), (1, 0), "x\ny\nz\n")]);
    let judgement = edit(&mut weave, &[], &[((1, 0), (3, 0), "")]);
    assert_eq!(judgement.switched, []);
    assert!(weave.in_buffer(hunk) && weave.edited(hunk).deleted);
}

#[test]
fn a_delivery_of_which_some_hunks_have_arrived_is_half_shown() {
    let mut weave = weave();
    let hunks = weave.record(&[change(0..1, "A\n"), change(3..4, "D\n")]).unwrap();
    let asked = [Candidate { plan: Plan::switch(&hunks, &[]), how: How::Asked(1) }];
    let first = edit(&mut weave, &asked, &[((0, 0), (1, 0), "A\n")]);
    assert!(first.half_shown && weave.in_buffer(hunks[0]) && !weave.in_buffer(hunks[1]));
    let second = edit(&mut weave, &asked, &[((3, 0), (4, 0), "D\n")]);
    assert!(!second.half_shown && weave.in_buffer(hunks[1]));
}

#[test]
fn of_equal_lines_the_one_that_was_deleted_goes() {
    let mut weave = Weave::new(Text::from("x\nx\nx\n"));
    let hunk = weave.record(&[change(1..2, "y\n")]).unwrap()[0];
    edit(&mut weave, &[], &[((0, 0), (1, 0), "")]);
    assert_eq!(weave.conflict(hunk), None);
    assert_eq!(weave.agent().to_string(), "y\nx\n");
}

#[test]
fn a_record_that_was_switched_cannot_be_taken_back() {
    let mut weave = weave();
    let hunks = weave.record(&[change(1..2, "B\n")]).unwrap();
    weave.switch(&hunks, &[]).unwrap();
    weave.switch(&[], &hunks).unwrap();
    assert!(!weave.unrecord(&hunks));
    let text = weave.buffer().clone();
    edit(&mut weave, &[], &[((1, 0), (2, 0), "B\n")]);
    edit(&mut weave, &[], &[((1, 0), (2, 0), "b\n")]);
    assert_eq!(weave.buffer(), &text);
}

#[test]
fn a_rewrite_says_whether_the_text_ends_with_a_newline() {
    let mut weave = Weave::new(Text::from("a\nb\n"));
    let hunks = weave.record_with_newline(&[change(0..1, "A\n")], false).unwrap();
    assert_eq!(weave.agent().to_string(), "A\nb");
    let changes = weave.preview(&Plan::switch(&hunks, &[])).unwrap();
    let mut text = weave.buffer().clone();
    let edits = weave.text_edits(&changes, Encoding::Utf16);
    hashline_weave::apply_text_edits(&mut text, &edits, Encoding::Utf16).unwrap();
    assert_eq!(text.to_string(), "A\nb");
    weave.switch(&hunks, &[]).unwrap();
    assert_eq!(weave.buffer().to_string(), "A\nb");
    weave.switch(&[], &hunks).unwrap();
    assert_eq!(weave.buffer().to_string(), "a\nb\n");
}

#[test]
fn a_hunk_kept_out_for_its_endings_has_a_conflict() {
    let mut weave = Weave::new(Text::from("a\nb\n\nc\n"));
    let cr = Change { lines: 1..2, new: vec![OwnedLine::new("B", Ending::Cr)] };
    assert_eq!(weave.record(&[cr]), Err(hashline_weave::WeaveError::EndingsWouldJoin));
    let cr = Change { lines: 0..1, new: vec![OwnedLine::new("A", Ending::Cr)] };
    let hunk = weave.record(&[cr]).unwrap()[0];
    edit(&mut weave, &[], &[((1, 0), (2, 0), "")]);
    assert_eq!(weave.conflict(hunk), Some(Conflict::EndingsWouldJoin));
    assert_eq!(weave.agent().to_string(), "a\n\nc\n");
    edit(&mut weave, &[], &[((1, 0), (1, 0), "typed")]);
    assert_eq!(weave.conflict(hunk), None);
}

#[test]
fn a_last_line_that_is_filled_says_that_it_has_its_ending() {
    let mut weave = Weave::new(Text::from("a\nb"));
    let hunk = weave.record(&[change(1..2, "\n")]).unwrap()[0];
    edit(&mut weave, &[], &[((1, 1), (1, 1), "\n\n")]);
    edit(&mut weave, &[], &[((2, 0), (2, 0), "c")]);
    assert_eq!(weave.buffer().to_string(), "a\nb\nc\n");
    weave.switch(&[hunk], &[]).unwrap();
    assert_eq!(weave.buffer().to_string(), "a\n\nc\n");
}

#[test]
fn a_caller_that_names_the_wrong_lines_is_not_believed() {
    let mut weave = weave();
    weave.record(&[change(2..3, "C\n")]).unwrap();
    let text = Text::from("a\nnew\nb\nc\nd\ne\n");
    weave.recognised(&text, &Regions::default(), &[]);
    assert_eq!(weave.buffer(), &text);
    assert_eq!(weave.agent().to_string(), "a\nnew\nb\nC\nd\ne\n");
}

#[test]
fn lines_that_the_person_changed_and_deleted_are_the_persons_though_a_held_hunk_deletes_them() {
    let mut weave = weave();
    let hunk = weave.record(&[change(1..2, "")]).unwrap()[0];
    edit(&mut weave, &[], &[((1, 0), (1, 0), "my ")]);
    assert_eq!(weave.conflict(hunk), Some(Conflict::LineChanged));
    let judgement = edit(&mut weave, &[], &[((1, 0), (2, 0), "")]);
    assert!(judgement.switched.is_empty(), "{judgement:?}");
    assert_eq!(weave.conflict(hunk), Some(Conflict::LineRemoved));
}
