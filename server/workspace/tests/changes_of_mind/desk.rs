//! A document and an editor that does what a test says.

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_history::{ConversationId, Decision, EditId, HunkRef};
use hashline_text::{DocVersion, Encoding, HashPrefix, Line, Position, Span, Text};
use hashline_weave::{TakeOut, View};
use hashline_workspace::document::{
    Cause, Change, Choice, ContentChange, Decided, Delivery, Document, HunkState, Millis, Mode, Proposal,
    Proposed, Refused, Reports, Request, Target, Why,
};

/// A document and its editor, which does nothing by itself.
pub struct Desk {
    pub document: Document,
    pub now: Millis,
    pub version: i32,
    pub edits: u32,
}

impl Desk {
    pub fn new(text: &str) -> Self {
        let document = Document::open("untitled:1", "text", DocVersion(1), Encoding::Utf16, Text::from(text));
        Self { document, now: Millis(0), version: 1, edits: 0 }
    }

    /// The same with an editor whose plugin says what brings its changes about.
    pub fn with_plugin(text: &str) -> Self {
        let mut desk = Self::new(text);
        desk.document.set_reports(Reports::Causes);
        desk
    }

    /// An agent puts lines in the place of one line of the agent view, 0-based. Each such edit is a turn of its own.
    pub fn replace(&mut self, line: usize, content: &str, mode: Mode) -> HunkRef {
        let turn = format!("conv_{}", self.edits + 1);
        self.replace_each(&[(line, content)], mode, &turn)
    }

    /// The same for several lines, in one edit of a turn. The name is that of the first hunk.
    pub fn replace_each(&mut self, lines: &[(usize, &str)], mode: Mode, turn: &str) -> HunkRef {
        let lines: Vec<_> = lines.iter().map(|(line, content)| (*line, Some(*content))).collect();
        self.publish(&lines, mode, turn)
    }

    /// An agent deletes a line.
    pub fn delete(&mut self, line: usize, mode: Mode) -> HunkRef {
        let turn = format!("conv_{}", self.edits + 1);
        self.publish(&[(line, None)], mode, &turn)
    }

    pub fn publish(&mut self, lines: &[(usize, Option<&str>)], mode: Mode, turn: &str) -> HunkRef {
        let (mut proposed, proposal) = self.propose(lines, mode, turn);
        self.document.publish(&mut proposed, &proposal);
        HunkRef { edit: proposal.id, number: 1 }
    }

    /// Lines that are replaced by some content or, without one, deleted.
    pub fn propose(
        &mut self,
        lines: &[(usize, Option<&str>)],
        mode: Mode,
        turn: &str,
    ) -> (Proposed, Proposal) {
        let operation = |(line, content): &(usize, Option<&str>)| match content {
            Some(content) => (*line, RawOperation::new("replace", "").content(*content)),
            None => (*line, RawOperation::new("delete", "")),
        };
        self.propose_as(lines.iter().map(operation).collect(), mode, turn)
    }

    /// An agent puts lines behind a line.
    pub fn insert_after(&mut self, line: usize, content: &str, mode: Mode) -> HunkRef {
        let turn = format!("conv_{}", self.edits + 1);
        let operations = vec![(line, RawOperation::new("insert_after", "").content(content))];
        let (mut proposed, proposal) = self.propose_as(operations, mode, &turn);
        self.document.publish(&mut proposed, &proposal);
        HunkRef { edit: proposal.id, number: 1 }
    }

    /// An agent puts a line in the place of this one and the next.
    pub fn replace_two(&mut self, line: usize, content: &str, mode: Mode) -> HunkRef {
        let turn = format!("conv_{}", self.edits + 1);
        let next = self.document.serve(View::Agent).unwrap();
        let next = line_hash(&next.text().line(Line(line + 1)).unwrap().content());
        let operation = RawOperation::new("replace", "").end(format!("{}:{next}", line + 2)).content(content);
        let (mut proposed, proposal) = self.propose_as(vec![(line, operation)], mode, &turn);
        self.document.publish(&mut proposed, &proposal);
        HunkRef { edit: proposal.id, number: 1 }
    }

    /// Operations at lines, which give them their anchors.
    fn propose_as(
        &mut self,
        operations: Vec<(usize, RawOperation)>,
        mode: Mode,
        turn: &str,
    ) -> (Proposed, Proposal) {
        self.try_to_propose(operations, mode, turn).unwrap()
    }

    /// An agent wants to replace a line.
    pub fn tries(&mut self, line: usize, content: &str) -> Result<(), Refused> {
        let operations = vec![(line, RawOperation::new("replace", "").content(content))];
        self.try_to_propose(operations, Mode::Propose, "conv_tried").map(|_| ())
    }

    fn try_to_propose(
        &mut self,
        operations: Vec<(usize, RawOperation)>,
        mode: Mode,
        turn: &str,
    ) -> Result<(Proposed, Proposal), Refused> {
        let mut served = self.document.serve(View::Agent).unwrap();
        let hash = served.hash();
        let operation = |(at, (line, raw)): (usize, (usize, RawOperation))| {
            let anchor = line_hash(&served.text().line(Line(line)).unwrap().content());
            let anchor = Some(format!("{}:{anchor}", line + 1));
            Operation::parse(at, RawOperation { anchor, ..raw }).unwrap()
        };
        let operations: Vec<Operation> = operations.into_iter().enumerate().map(operation).collect();
        let located = self.document.locate(&HashPrefix::from(hash), &served, hash).unwrap();
        let resolved = located.resolve(&Change::Operations(operations), &served).unwrap();
        self.edits += 1;
        let proposal = Proposal { id: EditId::from(format!("{:08}", self.edits)), ..proposal(turn, mode) };
        Ok((self.document.propose(&located, &resolved, &proposal)?, proposal))
    }

    pub fn decide(&mut self, hunk: &HunkRef, choice: Choice, edited: Option<TakeOut>) -> Result<(), Why> {
        let target = Target::Hunk(hunk.clone());
        let request = Request { edited, ..Request::of(choice, target) };
        let decided = self.document.decide(&request, self.now);
        decided.refused.first().map_or(Ok(()), |undecided| Err(undecided.why))
    }

    /// The person accepts a hunk with lines of their own in the place of its lines.
    pub fn accepts_as(&mut self, hunk: &HunkRef, lines: &str) -> Decided {
        let own = Some(lines.split('\n').map(str::to_owned).collect());
        let request = Request { own, ..Request::of(Choice::Accept, Target::Hunk(hunk.clone())) };
        self.document.decide(&request, self.now)
    }

    pub fn change(&mut self, span: Span, text: &str) {
        self.notify(&[ContentChange { span: Some(span), text: text.into() }]);
    }

    /// One notification of the editor.
    pub fn notify(&mut self, changes: &[ContentChange]) {
        self.version += 1;
        self.document.change(DocVersion(self.version), changes, self.now).unwrap();
    }

    /// One notification of which the editor says before what brings it about.
    pub fn caused(&mut self, cause: Cause, changes: &[ContentChange]) {
        self.says(1, cause);
        self.notify(changes);
    }

    /// The editor says what the cause of a version is, so many behind the last.
    pub fn says(&mut self, ahead: i32, cause: Cause) {
        self.document.say_cause(DocVersion(self.version + ahead), cause, self.now);
    }

    /// The person types at the beginning of a line.
    pub fn types(&mut self, line: u32, text: &str) {
        let at = Position::new(line, 0);
        self.change(Span::new(at, at), text);
    }

    /// The editor carries out a delivery, and the person's text shows it.
    pub fn applies(&mut self, delivery: &Delivery) {
        for edit in delivery.edits.iter().rev() {
            self.change(edit.span, &edit.new);
        }
    }

    /// Everything that is under way is carried out.
    pub fn settle(&mut self) {
        for _ in 0..20 {
            self.now = self.document.next_poll().unwrap_or(self.now).max(self.now);
            let Some(delivery) = self.document.poll(self.now) else { continue };
            self.applies(&delivery);
            self.document.answered(delivery.number, true, self.now);
        }
    }

    /// The same by an editor with a plugin.
    pub fn carries_out(&mut self) {
        for _ in 0..20 {
            self.now = self.document.next_poll().unwrap_or(self.now).max(self.now);
            let Some(delivery) = self.document.poll(self.now) else { continue };
            self.caused(Cause::Delivery(delivery.number), &made(&delivery));
            self.document.answered(delivery.number, true, self.now);
        }
    }

    /// All that has happened is recorded.
    pub fn record(&mut self) {
        while self.document.has_unrecorded() {
            let state = self.document.to_record(&[]);
            self.document.was_recorded(&state, state.text_hash());
        }
    }

    pub fn poll(&mut self) -> Option<Delivery> {
        self.document.poll(self.now)
    }

    pub fn text(&self) -> String {
        self.document.text().to_string()
    }

    pub fn decision(&self, hunk: &HunkRef) -> Decision {
        let edit = self.document.edits().iter().find(|edit| edit.id == hunk.edit).unwrap();
        edit.hunks[0].decision
    }

    /// Whether the person is shown that their decision is under way.
    pub fn is_deciding(&mut self, hunk: &HunkRef) -> bool {
        let review = self.document.review_where(|edit| edit.id == hunk.edit);
        review.edits[0].hunks[0].deciding
    }

    pub fn state(&mut self, hunk: &HunkRef) -> HunkState {
        let edit = self.document.edits().iter().find(|edit| edit.id == hunk.edit).unwrap();
        let id = edit.hunks[0].id;
        self.document.state_of(id)
    }
}

pub fn proposal(turn: &str, mode: Mode) -> Proposal {
    Proposal {
        id: EditId::from("00000000"),
        made: None,
        conversation: ConversationId::from(turn),
        opens_conversation: false,
        agent: "agent".into(),
        connection: turn.into(),
        tool: "edit_text_file".into(),
        reason: None,
        mode,
        strict: false,
    }
}

/// The changes that carry a delivery out, in one notification.
pub fn made(delivery: &Delivery) -> Vec<ContentChange> {
    let edits = delivery.edits.iter().rev();
    edits.map(|edit| ContentChange { span: Some(edit.span), text: edit.new.clone() }).collect()
}

/// A change of a place of the text.
pub fn at(line: u32, character: u32, to: (u32, u32), text: &str) -> ContentChange {
    let span = Span::new(Position::new(line, character), Position::new(to.0, to.1));
    ContentChange { span: Some(span), text: text.into() }
}
