//! What happens between a decision and the moment at which the editor carries it out: the person types on, decides otherwise, or the
//! editor is late. Each of these was found by the simulation.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_history::{ConversationId, Decision, EditId, HunkRef};
use hashline_text::{DocVersion, Encoding, HashPrefix, Line, Position, Span, Text};
use hashline_weave::{Conflict, TakeOut, UndoMark, View};
use hashline_workspace::document::{
    Choice, ContentChange, Delivery, Document, HunkState, Millis, Mode, Proposal, Proposed, Request, Target,
    Why,
};

/// A document and its editor, which does nothing by itself.
struct Desk {
    document: Document,
    now: Millis,
    version: i32,
    edits: u32,
}

impl Desk {
    fn new(text: &str) -> Self {
        let document = Document::open("untitled:1", "text", DocVersion(1), Encoding::Utf16, Text::from(text));
        Self { document, now: Millis(0), version: 1, edits: 0 }
    }

    /// An agent puts lines in the place of one line of the agent view, 0-based. Each such edit is a turn of its own.
    fn replace(&mut self, line: usize, content: &str, mode: Mode) -> HunkRef {
        let turn = format!("conv_{}", self.edits + 1);
        self.replace_each(&[(line, content)], mode, &turn)
    }

    /// The same for several lines, in one edit of a turn. The name is that of the first hunk.
    fn replace_each(&mut self, lines: &[(usize, &str)], mode: Mode, turn: &str) -> HunkRef {
        let lines: Vec<_> = lines.iter().map(|(line, content)| (*line, Some(*content))).collect();
        self.publish(&lines, mode, turn)
    }

    /// An agent deletes a line.
    fn delete(&mut self, line: usize, mode: Mode) -> HunkRef {
        let turn = format!("conv_{}", self.edits + 1);
        self.publish(&[(line, None)], mode, &turn)
    }

    fn publish(&mut self, lines: &[(usize, Option<&str>)], mode: Mode, turn: &str) -> HunkRef {
        let (mut proposed, proposal) = self.propose(lines, mode, turn);
        self.document.publish(&mut proposed, &proposal);
        HunkRef { edit: proposal.id, number: 1 }
    }

    /// Lines that are replaced by some content or, without one, deleted.
    fn propose(&mut self, lines: &[(usize, Option<&str>)], mode: Mode, turn: &str) -> (Proposed, Proposal) {
        let mut served = self.document.serve(View::Agent).unwrap();
        let hash = served.hash();
        let operation = |(at, (line, content)): (usize, &(usize, Option<&str>))| {
            let anchor = line_hash(&served.text().line(Line(*line)).unwrap().content());
            let anchor = format!("{}:{anchor}", line + 1);
            let raw = match content {
                Some(content) => RawOperation::new("replace", anchor).content(*content),
                None => RawOperation::new("delete", anchor),
            };
            Operation::parse(at, raw).unwrap()
        };
        let operations: Vec<Operation> = lines.iter().enumerate().map(operation).collect();
        let located = self.document.locate(&HashPrefix::from(hash), &served, hash).unwrap();
        let resolved = located.resolve(&operations).unwrap();
        self.edits += 1;
        let proposal = Proposal { id: EditId::from(format!("{:08}", self.edits)), ..proposal(turn, mode) };
        (self.document.propose(&located, &resolved, &proposal).unwrap(), proposal)
    }

    fn decide(&mut self, hunk: &HunkRef, choice: Choice, edited: Option<TakeOut>) -> Result<(), Why> {
        let target = Target::Hunk(hunk.clone());
        let request = Request { choice, target, reason: None, edited, with_others: false };
        let decided = self.document.decide(&request, self.now);
        decided.refused.first().map_or(Ok(()), |undecided| Err(undecided.why))
    }

    fn change(&mut self, span: Span, text: &str) {
        self.notify(&[ContentChange { span: Some(span), text: text.into() }]);
    }

    /// One notification of the editor.
    fn notify(&mut self, changes: &[ContentChange]) {
        self.version += 1;
        self.document.change(DocVersion(self.version), changes, None, self.now).unwrap();
    }

    /// The person types at the beginning of a line.
    fn types(&mut self, line: u32, text: &str) {
        let at = Position::new(line, 0);
        self.change(Span::new(at, at), text);
    }

    /// The editor carries out a delivery, and the person's text shows it.
    fn applies(&mut self, delivery: &Delivery) {
        for edit in delivery.edits.iter().rev() {
            self.change(edit.span, &edit.new);
        }
    }

    /// Everything that is under way is carried out.
    fn settle(&mut self) {
        for _ in 0..20 {
            self.now = self.document.next_poll().unwrap_or(self.now).max(self.now);
            let Some(delivery) = self.document.poll(self.now) else { continue };
            self.applies(&delivery);
            self.document.answered(delivery.number, true, self.now);
        }
    }

    fn poll(&mut self) -> Option<Delivery> {
        self.document.poll(self.now)
    }

    fn text(&self) -> String {
        self.document.text().to_string()
    }

    fn decision(&self, hunk: &HunkRef) -> Decision {
        let edit = self.document.edits().iter().find(|edit| edit.id == hunk.edit).unwrap();
        edit.hunks[0].decision
    }

    fn state(&mut self, hunk: &HunkRef) -> HunkState {
        let edit = self.document.edits().iter().find(|edit| edit.id == hunk.edit).unwrap();
        let id = edit.hunks[0].id;
        self.document.state_of(id)
    }
}

fn proposal(turn: &str, mode: Mode) -> Proposal {
    Proposal {
        id: EditId::from("00000000"),
        conversation: ConversationId::from(turn),
        opens_conversation: false,
        agent: "agent".into(),
        connection: turn.to_owned(),
        tool: "edit_text_file".into(),
        mode,
        strict: false,
    }
}

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

/// The changes that carry a delivery out, in one notification.
fn made(delivery: &Delivery) -> Vec<ContentChange> {
    let edits = delivery.edits.iter().rev();
    edits.map(|edit| ContentChange { span: Some(edit.span), text: edit.new.clone() }).collect()
}

fn at(line: u32, character: u32, to: (u32, u32), text: &str) -> ContentChange {
    let span = Span::new(Position::new(line, character), Position::new(to.0, to.1));
    ContentChange { span: Some(span), text: text.into() }
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
fn the_editors_mark_of_an_undo_counts_directly_after_its_change_too() {
    let undone = |when: &str| {
        let mut desk = Desk::new("one\ntwo\nthree\n");
        let hunk = desk.replace(1, "2", Mode::Propose);
        desk.decide(&hunk, Choice::Accept, None).unwrap();
        desk.settle();
        // An undo, and typing in the line that has come back.
        let change = at(1, 0, (1, 1), "two!");
        desk.version += 1;
        let mark = (when == "before").then_some(UndoMark::Undo);
        desk.document.change(DocVersion(desk.version), &[change], mark, desk.now).unwrap();
        if when == "after" {
            desk.document.mark_last(UndoMark::Undo, desk.now);
        }
        assert_eq!(desk.text(), "one\ntwo!\nthree\n");
        (desk.state(&hunk), desk.decision(&hunk))
    };
    assert_eq!(undone("before"), (HunkState::Conflicted(Conflict::LineChanged), Decision::Undecided));
    assert_eq!(undone("after"), undone("before"));
    assert!(matches!(undone("never"), (HunkState::Edited(_), Decision::Accepted)));
}

#[test]
fn an_own_version_of_an_edit_that_is_in_the_text_is_refused_with_the_next_step() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Apply);
    desk.settle();
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    let decided = desk.document.accept_revised(&hunk, &["II".to_owned()], None);
    assert_eq!(decided.queued, []);
    assert_eq!(decided.refused[0].why, Why::Gone);
    assert!(decided.refused[0].message.contains("change its lines there"), "{}", decided.refused[0].message);
    // A refused decision changes nothing: the rejection goes on.
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\ntwo\nthree\n", Decision::Rejected));
}

#[test]
fn an_own_version_of_a_rejected_edit_does_not_go_over_what_the_person_typed_since() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.types(1, "my ");
    let decided = desk.document.accept_revised(&hunk, &["II".to_owned()], None);
    assert_eq!(decided.refused.first().map(|undecided| undecided.why), Some(Why::Conflicted));
    assert_eq!(desk.decision(&hunk), Decision::Rejected, "a refused decision changes nothing");
    desk.settle();
    assert_eq!(desk.text(), "one\nmy two\nthree\n");
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
    let request = Request { choice: Choice::Accept, target, reason: None, edited: None, with_others: false };
    let refused = desk.document.decide(&request, desk.now).refused;
    assert_eq!(refused[0].why, Why::Conflicted);
    assert!(refused[0].message.contains("Type something into the empty line"), "{}", refused[0].message);
    desk.types(2, "III");
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    desk.settle();
    assert_eq!(desk.text(), "one\rIII\n");
}

#[test]
fn a_delivery_that_comes_after_it_was_given_up_does_not_overrule_the_person() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let late = desk.poll().unwrap();
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.now = Millis(5000);
    assert_eq!(desk.poll(), None);
    assert_eq!(desk.decision(&hunk), Decision::Rejected);
    desk.applies(&late);
    assert_eq!(desk.text(), "one\n2\nthree\n");
    assert_ne!(desk.decision(&hunk), Decision::Rejected, "it is in the text");
    desk.settle();
    assert_eq!((desk.text().as_str(), desk.decision(&hunk)), ("one\ntwo\nthree\n", Decision::Rejected));
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
fn a_file_that_shows_a_rejected_edit_decides() {
    let mut desk = Desk::new("one\ntwo\nthree\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Reject, None).unwrap();
    desk.document.close();
    desk.document.take_over(&Text::from("one\n2\nthree\nfour\n"), desk.now);
    assert_eq!((desk.state(&hunk), desk.decision(&hunk)), (HunkState::InText, Decision::Undecided));
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
    desk.document.close();
    desk.document.take_over(&saved, desk.now);
    assert_eq!((desk.state(&hunk), desk.decision(&hunk)), (HunkState::InText, Decision::Accepted));
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
    let resolved = located.resolve(&[Operation::parse(0, raw).unwrap()]).unwrap();
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
    let request = Request { choice: Choice::Accept, target, reason: None, edited: None, with_others: true };
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
    let accept = Request { choice: Choice::Accept, target, reason: None, edited: None, with_others: false };
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
    desk.document.close();
    desk.document.take_over(&saved, desk.now);
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
