//! A document, the editor that has it open, and what is on the way between the two.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;

use hashline_history::{Decision, HunkRef};
use hashline_text::{DiskForm, DocVersion, FileHash, Text};
use hashline_weave::Weave;
use hashline_workspace::document::{Cause, Delivery, Document, Earlier, Millis};

use crate::agent::Flight;
use crate::atom::{Atoms, atoms, readable};
use crate::dice::Dice;
use crate::editor::{Editor, Outcome};
use crate::first;
use crate::kind::KINDS;
use crate::marks::{Arrival, Mark, Marking};
use crate::model::{Fault, Model};
use crate::page;
use crate::tally::Tally;
use crate::trace::Trace;
use crate::truth::Truth;

/// A delivery on its way to the editor.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub delivery: Delivery,
    pub sent: Millis,
    /// The text that it was made for.
    pub text: String,
}

/// What all steps share.
#[derive(Debug)]
pub struct Room {
    pub now: Millis,
    pub tally: Tally,
    pub trace: Trace,
}

pub struct Desk {
    pub uri: String,
    pub document: Document,
    pub editor: Editor,
    pub model: Model,
    pub atoms: Atoms,
    pub parcels: VecDeque<Parcel>,
    /// The deliveries whose answers have not come.
    pub unanswered: Vec<Parcel>,
    pub answers: VecDeque<(u64, bool)>,
    /// By hash, the lines that agents were shown.
    pub shown: HashMap<FileHash, Vec<Range<usize>>>,
    /// The file.
    pub disk: String,
    /// The server has lost step, as it should.
    pub out: bool,
    /// An agent's edit that is under way; one at a time.
    pub flight: Option<Flight>,
    /// When the last notification came, and the texts before those that followed each other quickly.
    recent: (Millis, Vec<String>),
    /// What the person was told.
    pub notices: usize,
    /// The first part of a notification that was split has arrived, the rest has not.
    pub half: bool,
    /// A delivery whose mark slipped has come together with typing: only its answer tells.
    unsaid: bool,
    /// What was recorded of the document, oldest first.
    states: Vec<Recorded>,
    /// What was written, of saves that are not recorded yet.
    saved: VecDeque<String>,
    /// Nothing can be recorded at the moment.
    pub is_full: bool,
    /// The hunks that the document had in its text at the last look.
    pub seen: Truth,
    /// The hunks of which a client that says nothing let another guess be as good as what happened.
    pub otherwise: BTreeSet<HunkRef>,
}

/// A document as it was recorded.
struct Recorded {
    text: String,
    weave: Weave,
    accepted: Vec<HunkRef>,
}

impl Desk {
    pub fn new(number: usize, dice: &mut Dice) -> Self {
        let mut atoms = Atoms::default();
        let kind = dice.weighted(&KINDS);
        let text = first::text(kind, &mut atoms, dice);
        let version = kind.first_version();
        let mut editor = Editor::open(kind, text.clone(), version);
        editor.shows = Truth::of([]);
        if kind.is_plugin() && dice.chance(25) {
            editor.marking = Marking::Careless(dice.below(usize::MAX) as u64);
        }
        let uri = format!("untitled:{number}");
        let mut document =
            Document::open(&uri, "text", DocVersion(version), editor.encoding, Text::from(text.as_str()));
        document.set_reports(editor.kind.reports());
        if dice.chance(50) {
            document.record_before_delivery();
        }
        Self {
            uri,
            document,
            editor,
            model: Model::default(),
            atoms,
            parcels: VecDeque::new(),
            unanswered: Vec::new(),
            answers: VecDeque::new(),
            shown: HashMap::new(),
            disk: text,
            out: false,
            flight: None,
            recent: (Millis(0), Vec::new()),
            notices: 0,
            half: false,
            unsaid: false,
            states: Vec::new(),
            saved: VecDeque::new(),
            is_full: false,
            seen: Truth::of([]),
            otherwise: BTreeSet::new(),
        }
    }

    /// Records what has happened, as the recorder does.
    fn record(&mut self) {
        while self.document.has_unrecorded() {
            if self.is_full {
                self.document.was_not_recorded();
                let dropped = self.document.take_dropped();
                dropped.iter().for_each(|hunk| self.model.is_dropped(hunk));
                return;
            }
            let mut state = self.document.to_record(&[]);
            if state.is_saved()
                && let Some(file) = self.saved.pop_front()
            {
                let form = DiskForm::behind(state.weave.buffer(), file.as_bytes());
                state.is_stored(form, FileHash::of(file.as_bytes()));
            }
            let edits = self.document.edits().iter();
            let hunks = edits.flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
            let accepted = hunks.filter(|(_, hunk)| hunk.decision == Decision::Accepted);
            let accepted = accepted.map(|(edit, hunk)| edit.name_of(hunk)).collect();
            let text = state.weave.buffer().to_string();
            self.document.was_recorded(&state, state.text_hash());
            self.states.push(Recorded { text, weave: state.weave, accepted });
        }
    }

    /// The document's text with all that agents did to it, as it is now, whatever waits to be recorded.
    pub fn weave_now(&mut self) -> Weave {
        if self.saved.is_empty() {
            return self.document.to_record(&[]).weave;
        }
        let mut copy = self.document.clone();
        while copy.has_unrecorded() {
            let state = copy.to_record(&[]);
            copy.was_recorded(&state, state.text_hash());
        }
        copy.to_record(&[]).weave
    }

    /// The server hears that the editor has written the file.
    pub fn was_saved(&mut self, text: String) {
        if self.out || self.document.edits().is_empty() {
            return;
        }
        self.document.was_saved();
        self.model.stored();
        self.saved.push_back(text);
    }

    /// The texts that were recorded, oldest first.
    pub fn texts_recorded(&self) -> impl Iterator<Item = &str> {
        self.states.iter().map(|state| state.text.as_str())
    }

    /// The recorded states that a text may be.
    pub fn earlier(&self, text: &str) -> Earlier {
        let state = |text: &str| self.states.iter().rev().find(|state| state.text == text);
        let same = state(text);
        Earlier {
            edited: None,
            same: same.map(|state| state.weave.clone()),
            accepted: same.map(|state| state.accepted.clone()).unwrap_or_default(),
            saved: state(&self.disk).map(|state| state.weave.clone()),
        }
    }

    /// The next notification reaches the server.
    pub fn receive(&mut self, room: &mut Room) -> Result<bool, Fault> {
        let Some(mut note) = self.editor.outbox.pop_front() else { return Ok(false) };
        if note.more {
            room.tally.splits += 1;
        }
        if note.changes.len() > 1 {
            room.tally.merges += 1;
        }
        let full = note.changes.iter().any(|change| change.span.is_none());
        if note.marks.iter().any(|mark| mark.cause == Cause::Reload && mark.arrival == Arrival::Before) {
            self.model.stop();
        }
        room.trace.say(|| {
            let changes = note.changes.iter().map(|change| match change.span {
                Some(span) => format!("{}-{} {:?}", span.start, span.end, readable(&change.text)),
                None => format!("all {:?}", readable(&change.text)),
            });
            let changes = changes.collect::<Vec<_>>().join(", ");
            let more = if note.more { ", more follows" } else { "" };
            format!("  {} <- version {}{more}: {changes}", self.uri, note.version.0)
        });
        // What comes within a second may be judged together with what was before.
        if room.now.0 > self.recent.0.0 + 1000 {
            self.recent.1.clear();
        }
        self.recent.1.push(self.document.text().to_string());
        self.recent.0 = room.now;
        let recent = self.recent.1.len().saturating_sub(4);
        for before in self.recent.1.iter().take(2).chain(self.recent.1.iter().skip(recent.max(2))) {
            self.model.muddle(before, &note.after);
        }
        let before = self.weave_now();
        for Mark { version, cause, arrival } in note.marks.iter().copied() {
            match arrival {
                Arrival::Before => self.document.say_cause(version, cause, room.now),
                Arrival::Stale => {
                    let had = self.document.version().unwrap_or(version);
                    self.document.say_cause(had, cause, room.now);
                }
                Arrival::Late | Arrival::Never => {}
            }
        }
        let result = self.document.change(note.version, &note.changes, room.now);
        let late = note.marks.iter().filter(|mark| mark.arrival == Arrival::Late);
        late.for_each(|mark| self.document.say_cause(mark.version, mark.cause, room.now));
        let has_slipped = note.marks.iter().any(|mark| mark.arrival != Arrival::Before);
        if has_slipped || !note.is_alone {
            // What was not said in time is typing, or as much of it as the text shows.
            room.tally.slips += 1;
            self.unsaid |= has_slipped && !note.is_alone;
            if note.marks.iter().any(|mark| matches!(mark.cause, Cause::Turn(_))) {
                let known = before.buffer().to_string();
                self.model.muddle_all(&known, &note.after);
                if has_slipped {
                    // An undo that was not said to be one types what a delivery before it in the same notification took out.
                    note.between.iter().for_each(|text| self.model.muddle_all(text, &note.after));
                }
            }
            self.editor.forget_truth();
            note.shows = Truth::default();
        }
        if full && self.out && result.is_ok() {
            self.out = false;
            self.model.look_away();
            self.editor.forget_truth();
            note.shows = Truth::default();
        }
        if self.out {
            return Ok(true);
        }
        if let Err(error) = result {
            return Err(format!("a right change was refused: {error}"));
        }
        let text = self.document.text().to_string();
        if text != note.after {
            return Err(format!(
                "the document has {:?}, the editor {:?}",
                readable(&text),
                readable(&note.after)
            ));
        }
        self.half = note.more;
        self.check_truth(&note, &before, room)?;
        self.observe(true, room)?;
        if let Some(text) = note.saves.take() {
            self.was_saved(text);
        }
        Ok(true)
    }

    /// Checks decisions and, where nothing is half reported, states.
    pub fn observe(&mut self, states: bool, room: &mut Room) -> Result<(), Fault> {
        self.record();
        self.notices += self.document.take_notices().len();
        let news = self.document.take_news();
        if !(news.review || news.moved || news.decided || self.half) {
            // Nothing has happened since the last look.
            return Ok(());
        }
        // Where all lines of a hunk are gone, or are left to the person, a decision about it changes no text.
        let shown = self.hunks_shown();
        if shown != self.seen {
            self.editor.shows_instead(&self.seen, &shown);
            self.seen = shown;
        }
        self.unsaid &= !self.answers.is_empty();
        let states = states && !self.half && !self.out && !self.unsaid;
        self.model.observe(&mut self.document, states, &mut room.tally)
    }

    /// Everything that was sent reaches the server.
    pub fn receive_all(&mut self, room: &mut Room) -> Result<(), Fault> {
        while self.receive(room)? {}
        Ok(())
    }

    /// Sends what the server has to deliver on its way.
    pub fn poll(&mut self, room: &mut Room) -> Result<(), Fault> {
        let Some(delivery) = self.document.poll(room.now) else { return self.observe(true, room) };
        room.tally.deliveries += 1;
        if Some(delivery.version) != self.document.version() {
            return Err("a delivery for another version than the last".to_owned());
        }
        let before = self.document.text().to_string();
        let after = self.text_after(&before, &delivery)?;
        room.trace.say(|| {
            let edits = delivery
                .edits
                .iter()
                .map(|edit| format!("{}-{} {:?}", edit.span.start, edit.span.end, readable(&edit.new)));
            let edits = edits.collect::<Vec<_>>().join(", ");
            format!(
                "  {} -> delivery {} for version {}: {edits}",
                self.uri, delivery.number, delivery.version.0
            )
        });
        self.model.explains(&before, &after)?;
        let parcel = Parcel { delivery, sent: room.now, text: before };
        self.unanswered.push(parcel.clone());
        self.parcels.push_back(parcel);
        self.observe(true, room)
    }

    /// What a text is with a delivery in it.
    pub fn text_after(&self, before: &str, delivery: &Delivery) -> Result<String, Fault> {
        let mut after = before.to_owned();
        let mut end = usize::MAX;
        for edit in delivery.edits.iter().rev() {
            let from = page::byte_of(before, edit.span.start, self.editor.encoding);
            let to = page::byte_of(before, edit.span.end, self.editor.encoding);
            let (Some(from), Some(to)) = (from, to) else {
                return Err(format!("a delivery names a place outside the text: {:?}", edit.span));
            };
            if from > to || to > end {
                return Err("edits of a delivery overlap".to_owned());
            }
            end = from;
            after.replace_range(from..to, &edit.new);
        }
        Ok(after)
    }

    /// The editor gets to the next delivery.
    pub fn deliver(&mut self, dice: &mut Dice, room: &mut Room) -> Result<(), Fault> {
        let Some(parcel) = self.parcels.pop_front() else { return Ok(()) };
        let number = parcel.delivery.number;
        let before = self.editor.text.clone();
        let outcome = self.editor.deliver(&parcel.delivery, dice);
        if outcome == Outcome::Applied && before != parcel.text {
            room.tally.misplaced += 1;
            self.misplaced(&parcel.delivery, &before);
            self.editor.forget_truth();
        }
        room.trace.say(|| format!("  {} editor: delivery {number} {outcome:?}", self.uri));
        match outcome {
            Outcome::Applied => {
                room.tally.applied += 1;
                if room.now.0 >= parcel.sent.0 + 2000 {
                    room.tally.late += 1;
                }
            }
            Outcome::Refused => room.tally.refused += 1,
            Outcome::Dropped => room.tally.dropped += 1,
        }
        self.answers.push_back((number, outcome != Outcome::Refused));
        Ok(())
    }

    /// The editor has put a delivery into a text for which it was not made: what it hit, and what it missed, is anybody's guess.
    fn misplaced(&mut self, delivery: &Delivery, before: &str) {
        self.model.muddle_all(before, &self.editor.text);
        for switched in &delivery.switches {
            if let Some(at) = self.model.find(&switched.hunk) {
                let hunk = &self.model.hunks[at];
                let mut lines: Vec<String> = hunk.removed.iter().chain(&hunk.proposed).cloned().collect();
                // With what the person has made of them.
                let is_own =
                    |line: &&str| hunk.removed.iter().any(|own| atoms(own).any(|atom| line.contains(atom)));
                lines.extend(page::contents(before).into_iter().filter(is_own).map(str::to_owned));
                lines.iter().for_each(|line| self.model.loosen(line));
            }
        }
    }

    /// The next answer reaches the server.
    pub fn answer(&mut self, room: &mut Room) -> Result<bool, Fault> {
        if self.editor.kind.is_plugin() {
            // What it has sent arrives before its answer.
            self.receive_all(room)?;
        }
        let Some((number, applied)) = self.answers.pop_front() else { return Ok(false) };
        room.trace.say(|| format!("  {} answer to {number}: {applied}", self.uri));
        if applied && !self.editor.is_quiet() {
            room.tally.misplaced_answer += 1;
        }
        self.unanswered.retain(|parcel| parcel.delivery.number != number);
        self.document.answered(number, applied, room.now);
        Ok(true)
    }

    /// Lets everything come to rest, with an editor that is quick and a person who waits.
    pub fn settle(&mut self, dice: &mut Dice, room: &mut Room) -> Result<(), Fault> {
        self.finish_flight(room)?;
        for _ in 0..500 {
            self.editor.send(None);
            self.receive_all(room)?;
            self.poll(room)?;
            if self.parcels.is_empty() && self.answers.is_empty() && self.editor.is_quiet() {
                match self.document.next_poll() {
                    None => return self.at_rest(room),
                    Some(_) if self.out => return Ok(()),
                    Some(at) => room.now = room.now.max(at),
                }
                continue;
            }
            self.deliver(dice, room)?;
            self.editor.send(None);
            self.receive_all(room)?;
            self.answer(room)?;
            room.now = Millis(room.now.0 + 50);
        }
        Err("it never comes to rest".to_owned())
    }

    fn at_rest(&mut self, room: &mut Room) -> Result<(), Fault> {
        room.tally.quiet += 1;
        if self.out {
            return Ok(());
        }
        let text = self.document.text().to_string();
        if text != self.editor.text {
            return Err("at rest, and the texts differ".to_owned());
        }
        self.observe(true, room)?;
        self.agent_view()?;
        if self.editor.kind.is_plugin() && self.document.guesses() > 0 {
            return Err("it was guessed what a plugin's change was".to_owned());
        }
        self.model.at_rest(std::mem::take(&mut self.notices))
    }

    /// The agent view is what it should be.
    pub fn agent_view(&mut self) -> Result<(), Fault> {
        if self.out {
            return Ok(());
        }
        let served = self.document.serve(hashline_weave::View::Agent).map_err(|error| error.to_string())?;
        let agent = served.text().to_string();
        self.model.agent_view(&mut self.document, &agent)
    }
}
