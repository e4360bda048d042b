//! An editor with a text: what is done to it, its undo, what it does with a delivery, and what it reports.

use std::collections::VecDeque;
use std::ops::Range;

use hashline_text::{DocVersion, Encoding, Span};
use hashline_weave::Turn;
use hashline_workspace::document::{Cause, ContentChange, Delivery};

use crate::dice::Dice;
use crate::kind::{Check, Kind};
use crate::marks::{Arrival, Mark, Marking};
use crate::page::{self, Patch};
use crate::truth::Truth;

/// What came of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Applied,
    Refused,
    /// Not applied, though the answer says so.
    Dropped,
}

/// A notification on its way to the server.
#[derive(Clone, Debug)]
pub struct Note {
    pub version: DocVersion,
    pub changes: Vec<ContentChange>,
    pub marks: Vec<Mark>,
    /// It holds nothing beside what its mark speaks of, if it has one.
    pub is_alone: bool,
    /// The editor's text that it reports.
    pub after: String,
    /// The texts on the way there, where something is marked.
    pub between: Vec<String>,
    /// The hunks in it.
    pub shows: Truth,
    /// The rest of what happened comes with the next one.
    pub more: bool,
    /// The file that was written then, of which the editor tells next.
    pub saves: Option<String>,
}

impl Note {
    /// Whether the server hears in time that it is an undo or redo.
    pub fn is_said_to_turn(&self) -> bool {
        let is_turn = |mark: &Mark| matches!(mark.cause, Cause::Turn(_)) && mark.arrival == Arrival::Before;
        self.marks.iter().any(is_turn)
    }
}

#[derive(Clone, Debug)]
struct Change {
    change: ContentChange,
    version: i32,
    after: String,
    shows: Truth,
    cause: Option<Cause>,
    /// It follows another one of the same edit in several places.
    follows: bool,
}

/// A step of the undo stack: the text to go back to.
#[derive(Clone, Debug)]
struct Step {
    text: String,
    shows: Truth,
    delivered: bool,
}

#[derive(Clone, Debug)]
pub struct Editor {
    pub kind: Kind,
    pub encoding: Encoding,
    pub text: String,
    /// The hunks in it.
    pub shows: Truth,
    pub version: i32,
    /// The ending that it puts where one is typed.
    pub ending: &'static str,
    /// Where the person types, as a byte.
    pub cursor: usize,
    /// The person is typing: what follows belongs to the same undo step.
    pub inserting: bool,
    undo: Vec<Step>,
    redo: Vec<Step>,
    unsent: Vec<Change>,
    sent: String,
    sent_version: i32,
    pub outbox: VecDeque<Note>,
    pub marking: Marking,
}

impl Editor {
    pub fn open(kind: Kind, text: String, version: i32) -> Self {
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self {
            kind,
            encoding: kind.encoding(),
            sent: text.clone(),
            text,
            shows: Truth::default(),
            version,
            ending,
            cursor: 0,
            inserting: false,
            undo: Vec::new(),
            redo: Vec::new(),
            unsent: Vec::new(),
            sent_version: version,
            outbox: VecDeque::new(),
            marking: Marking::Careful,
        }
    }

    /// Whether something was typed that the server has not been sent.
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Whether everything that happened has reached the server.
    pub fn is_quiet(&self) -> bool {
        self.unsent.is_empty() && self.outbox.is_empty()
    }

    /// Makes a change of the text as part of the undo step that is open.
    fn put(&mut self, bytes: Range<usize>, new: &str, cause: Option<Cause>) {
        let span = page::span_of(&self.text, bytes.clone(), self.encoding);
        self.text.replace_range(bytes.clone(), new);
        self.version += if self.kind == Kind::Neovim && new.len() > 3 { 2 } else { 1 };
        let (before, after) = (bytes.end, bytes.start + new.len());
        if self.cursor >= before {
            self.cursor = self.cursor - before + after;
        } else if self.cursor > bytes.start {
            self.cursor = bytes.start;
        }
        // What has become one ending is not to be typed into.
        if self.text[..self.cursor].ends_with('\r') && self.text[self.cursor..].starts_with('\n') {
            self.cursor += 1;
        }
        let change = ContentChange { span: Some(span), text: new.to_owned() };
        self.note_change(change, cause);
    }

    fn note_change(&mut self, change: ContentChange, cause: Option<Cause>) {
        let (version, after, shows) = (self.version, self.text.clone(), self.shows.clone());
        self.unsent.push(Change { change, version, after, shows, cause, follows: false });
    }

    fn step(&mut self, delivered: bool) {
        self.redo.clear();
        self.undo.push(Step { text: self.text.clone(), shows: self.shows.clone(), delivered });
    }

    /// The person changes the text.
    pub fn type_at(&mut self, bytes: Range<usize>, new: &str, joins: bool) {
        if !(joins && self.inserting && self.kind.joins_typing()) {
            self.step(false);
        }
        self.redo.clear();
        self.inserting = joins;
        self.put(bytes, new, None);
        self.reports_at_once();
    }

    /// The person changes several places, in text order, in one step.
    pub fn type_many(&mut self, patches: &[Patch]) {
        if patches.is_empty() {
            return;
        }
        self.step(false);
        self.inserting = false;
        self.put_all(patches, None);
        self.reports_at_once();
    }

    /// Replaces the text, as a formatter or a paste over everything does.
    pub fn rewrite(&mut self, after: &str, dice: &mut Dice) {
        if self.text == after {
            return;
        }
        self.step(false);
        self.inserting = false;
        let everything = Patch { bytes: 0..self.text.len(), new: after.to_owned() };
        match dice.below(4) {
            0 => self.put(everything.bytes, after, None),
            1 => {
                self.text = after.to_owned();
                self.cursor = 0;
                self.version += 1;
                let change = ContentChange { span: None, text: after.to_owned() };
                self.note_change(change, None);
            }
            _ => self.put_all(&page::by_lines(&self.text, after), None),
        }
        self.reports_at_once();
    }

    /// Reads another text from the file, in one step.
    pub fn reload(&mut self, after: &str, dice: &mut Dice) {
        let cause = self.kind.is_plugin().then_some(Cause::Reload);
        if cause.is_some() {
            self.flush();
        }
        self.step(false);
        self.inserting = false;
        self.cursor = 0;
        let patches = match dice.chance(50) {
            true => page::by_lines(&self.text, after),
            false => vec![Patch { bytes: 0..self.text.len(), new: after.to_owned() }],
        };
        self.put_all(&patches, cause);
        if cause.is_some() {
            self.flush();
        }
        self.forget_truth();
        self.reports_at_once();
    }

    fn put_all(&mut self, patches: &[Patch], cause: Option<Cause>) {
        let before = self.unsent.len();
        self.put_each(patches, cause);
        self.unsent.iter_mut().skip(before + 1).for_each(|change| change.follows = true);
    }

    fn put_each(&mut self, patches: &[Patch], cause: Option<Cause>) {
        if self.kind.is_top_down() {
            let mut shift = 0isize;
            for patch in patches {
                let at = |byte: usize| byte.saturating_add_signed(shift);
                self.put(at(patch.bytes.start)..at(patch.bytes.end), &patch.new, cause);
                shift += patch.new.len() as isize - patch.bytes.len() as isize;
            }
            return;
        }
        for patch in patches.iter().rev() {
            self.put(patch.bytes.clone(), &patch.new, cause);
        }
    }

    /// Undoes or redoes a step. Tells whether there was one, and whether it held a delivery.
    pub fn turn(&mut self, redo: bool) -> Option<bool> {
        self.inserting = false;
        let step = if redo { self.redo.pop() } else { self.undo.pop() }?;
        let here = Step { text: self.text.clone(), shows: self.shows.clone(), delivered: step.delivered };
        if redo {
            self.undo.push(here);
        } else {
            self.redo.push(here);
        };
        let turn = if redo { Turn::Redo } else { Turn::Undo };
        let cause = self.kind.is_plugin().then_some(Cause::Turn(turn));
        if cause.is_some() {
            self.flush();
        }
        let patches = if self.kind.joins_changes() {
            page::single(&self.text, &step.text).into_iter().collect()
        } else {
            page::by_lines(&self.text, &step.text)
        };
        self.shows = step.shows;
        self.put_all(&patches, cause);
        if cause.is_some() {
            self.flush();
        }
        self.reports_at_once();
        Some(step.delivered)
    }

    /// Tries to apply a delivery.
    pub fn deliver(&mut self, delivery: &Delivery, dice: &mut Dice) -> Outcome {
        let version = delivery.version.0;
        if dice.chance(4) {
            // A buffer that cannot be changed now, or a person in a prompt.
            return Outcome::Refused;
        }
        if self.kind.drops() && dice.chance(3) {
            return Outcome::Dropped;
        }
        let is_right = match self.kind.check() {
            Check::Live => version == self.version,
            Check::SentAndQuiet => version == self.sent_version && !self.has_unsent(),
            Check::Sent => version == self.sent_version,
            Check::Nothing => true,
        };
        if !is_right {
            return if self.kind.drops() { Outcome::Dropped } else { Outcome::Refused };
        }
        let Some(patches) = self.patches_of(delivery) else { return Outcome::Refused };
        let joins = self.inserting && self.kind.joins_delivery();
        let cause = self.kind.is_plugin().then_some(Cause::Delivery(delivery.number));
        if cause.is_some() {
            // A step of its own, told of by itself.
            self.inserting = false;
            self.flush();
        }
        match self.undo.last_mut().filter(|_| joins) {
            Some(step) => step.delivered = true,
            None => self.step(true),
        }
        self.redo.clear();
        self.shows = self.shows.with(delivery);
        if self.kind.cuts() {
            let mut after = self.text.clone();
            for patch in patches.iter().rev() {
                after.replace_range(patch.bytes.clone(), &patch.new);
            }
            self.put_all(&page::by_lines(&self.text, &after), cause);
        } else {
            self.put_all(&patches, cause);
        }
        if cause.is_some() {
            self.flush();
        }
        self.reports_at_once();
        Outcome::Applied
    }

    /// What a delivery does to the text as it is; none if its places cannot be there.
    pub fn patches_of(&self, delivery: &Delivery) -> Option<Vec<Patch>> {
        let mut patches: Vec<Patch> = Vec::new();
        for edit in &delivery.edits {
            let bytes = self.bytes_of(edit.span)?;
            if patches.last().is_some_and(|last| last.bytes.end > bytes.start) {
                return None;
            }
            patches.push(Patch { bytes, new: self.endings_of(&edit.new) });
        }
        Some(patches)
    }

    fn bytes_of(&self, span: Span) -> Option<Range<usize>> {
        let start = page::byte_of(&self.text, span.start, self.encoding)?;
        let end = page::byte_of(&self.text, span.end, self.encoding)?;
        (start <= end).then_some(start..end)
    }

    /// Text with the endings that the editor makes of it.
    fn endings_of(&self, new: &str) -> String {
        match self.ending {
            "\r\n" if !self.kind.is_raw() => new.replace("\r\n", "\n").replace('\n', "\r\n"),
            _ => new.to_owned(),
        }
    }

    fn reports_at_once(&mut self) {
        if self.kind.reports_at_once() {
            self.send(None);
        }
    }

    /// Lets what is marked be sent by itself.
    fn flush(&mut self) {
        if self.marking.flushes(self.version) {
            self.send(None);
        }
    }

    /// Sends what has not been sent, as one notification or, with a place to cut, as two.
    pub fn send(&mut self, cut: Option<usize>) {
        if self.unsent.is_empty() {
            return;
        }
        let unsent = std::mem::take(&mut self.unsent);
        let full = unsent.iter().any(|change| change.change.span.is_none());
        if self.kind.joins_changes() && !full {
            if self.sent == self.text {
                // What was done and taken back is not told, and not counted.
                self.version = self.sent_version;
                return;
            }
            if let Some(patch) = page::single(&self.sent, &self.text) {
                let span = page::span_of(&self.sent, patch.bytes, self.encoding);
                let changes = vec![ContentChange { span: Some(span), text: patch.new }];
                self.note(changes, self.version, &[], (self.text.clone(), self.shows.clone()), false);
            }
        } else {
            let each = self.kind.tells_each();
            // Only what is told of change by change is torn apart.
            let cut = cut.map_or(0, |cut| cut % unsent.len());
            let cut = (0..=cut).rev().find(|cut| !unsent[*cut].follows).unwrap_or(0);
            let starts = |at: usize| each || at == cut;
            let mut from = 0;
            for to in (1..=unsent.len()).filter(|to| *to == unsent.len() || starts(*to)) {
                let part = &unsent[std::mem::replace(&mut from, to)..to];
                let Some(last) = part.last() else { continue };
                let changes = match self.kind.sends_whole() {
                    true => vec![ContentChange { span: None, text: last.after.clone() }],
                    false => part.iter().map(|change| change.change.clone()).collect(),
                };
                let after = (last.after.clone(), last.shows.clone());
                self.note(changes, last.version, part, after, to < unsent.len());
            }
        }
        self.sent = self.text.clone();
        self.sent_version = self.version;
    }

    fn note(
        &mut self,
        changes: Vec<ContentChange>,
        version: i32,
        part: &[Change],
        (after, shows): (String, Truth),
        more: bool,
    ) {
        let mut marks: Vec<Mark> = Vec::new();
        for (cause, at) in part.iter().filter_map(|change| Some((change.cause?, change.version))) {
            let version = DocVersion(at);
            match marks.last_mut().filter(|last| last.cause == cause) {
                Some(last) => last.version = version,
                None => marks.push(Mark { version, cause, arrival: self.marking.arrival(at) }),
            }
        }
        let is_alone = part.iter().all(|change| change.cause == part[0].cause);
        let between = match marks.is_empty() {
            true => Vec::new(),
            false => part.iter().map(|change| change.after.clone()).collect(),
        };
        let version = DocVersion(version);
        let note = Note { version, changes, marks, is_alone, after, between, shows, more, saves: None };
        self.outbox.push_back(note);
    }

    /// Writes the file. Returns its text if the server has been told of that already, and is told of the save at once.
    pub fn save(&mut self) -> Option<String> {
        self.send(None);
        let saved = self.text.clone();
        match self.outbox.back_mut() {
            Some(note) => {
                note.saves = Some(saved);
                None
            }
            None => Some(saved),
        }
    }

    /// Other hunks are in the text that was told of last, which reads as it did. What was done to it since may have gone back before that.
    pub fn shows_instead(&mut self, one: &Truth, other: &Truth) {
        if self.is_quiet() {
            self.shows = self.shows.after(one, other);
        } else {
            self.shows = self.shows.open_to(one, other);
        }
        self.earlier_truths().for_each(|shows| *shows = shows.open_to(one, other));
    }

    /// What is known of the texts before this one, and of those that are not told of yet.
    fn earlier_truths(&mut self) -> impl Iterator<Item = &mut Truth> {
        let steps = self.undo.iter_mut().chain(&mut self.redo).map(|step| &mut step.shows);
        let changes = self.unsent.iter_mut().map(|change| &mut change.shows);
        let notes = self.outbox.iter_mut().map(|note| &mut note.shows);
        steps.chain(changes).chain(notes)
    }

    /// Nobody knows which hunks are in the text, nor in those before it.
    pub fn forget_truth(&mut self) {
        self.earlier_truths().for_each(|shows| *shows = Truth::default());
        self.shows = Truth::default();
    }
}

impl Editor {
    /// Sends the whole text.
    pub fn send_all(&mut self) {
        self.version += 1;
        let change = ContentChange { span: None, text: self.text.clone() };
        self.note(vec![change], self.version, &[], (self.text.clone(), self.shows.clone()), false);
        self.sent_version = self.version;
    }
}
