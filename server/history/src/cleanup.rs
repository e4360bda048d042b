//! Cleanup (W18): what may be forgotten of each document, and forgetting it.
//!
//! Only a prefix of a document's transactions goes, and only if every edit in it is decided and has been left alone for long enough. A
//! base of the state behind it takes its place, so that whatever stays can be replayed as before.
//!
//! Where only so much is to go that the history is small enough, it is the oldest: what nobody has said a word about since the end of a
//! decided conversation, the earliest end that does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use jiff::Timestamp;
use serde::de::IgnoredAny;

use crate::derive::Render;
use crate::document::{Content, Document};
use crate::error::{Result, StoreError};
use crate::folder::Open;
use crate::id::{ConversationId, EditId, FileId};
use crate::json_format::{WireDelta, without_text};
use crate::layout;
use crate::ledger::{Header, Ledger};
use crate::name::DocumentName;
use crate::record::{Sequence, Status};
use crate::record_lines::{read_document, read_line};
use crate::session::Session;
use crate::transaction::{Base, OwnerChange, Transaction};

/// Why something of a document stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// This edit is not decided.
    Undecided(EditId),
    /// This is not old enough yet.
    Young(LastWord),
    /// This could go, but the history is small enough with it.
    Spared(LastWord),
    /// It is not known whether the last change was written.
    Unfinished,
    /// A sidecar has it.
    Owned(String),
    /// It cannot be replayed, so no state can take its place.
    Broken(Sequence),
}

impl std::fmt::Display for Pin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pin::Undecided(edit) => write!(f, "edit {} is not decided", edit.short()),
            Pin::Young(last) => write!(f, "{last} is not old enough"),
            Pin::Spared(last) => write!(f, "the history is small enough with {last}"),
            Pin::Unfinished => f.write_str("its last change may not have been written"),
            Pin::Owned(owner) => write!(f, "{owner} has it open"),
            Pin::Broken(sequence) => write!(f, "record {sequence} cannot be replayed"),
        }
    }
}

/// What may be forgotten of what is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forget {
    /// Only what was left alone for so long.
    pub older_than: Duration,
    /// Only as much, the oldest first, as has to go for the history to have no more bytes than this; none for all.
    pub down_to: Option<u64>,
}

/// What a cleanup does to one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// The file.
    pub file: FileId,
    /// What it is called.
    pub document: DocumentName,
    /// The edits that go, in order.
    pub gone: Vec<EditId>,
    /// How many edits stay.
    pub kept: usize,
    /// What keeps them, or the next of them.
    pub pin: Option<Pin>,
    /// How many bytes of the history are free without them.
    pub freed: u64,
    /// How many of its transactions go.
    cut: usize,
}

/// The shortest time between two words of the record.
const TICK: Duration = Duration::from_micros(1);

/// What a checkpoint is called, and its bytes.
type Checkpoint = (String, Vec<u8>);

/// What takes the place of lines of the record.
#[derive(Default)]
struct Bases {
    /// The line, or none.
    lines: BTreeMap<Sequence, Option<Vec<u8>>>,
    checkpoints: Vec<Checkpoint>,
}

/// What is old enough to go, and how much of that is to.
#[derive(Clone, Copy, Debug)]
struct Moments {
    /// What is older goes.
    gone: Timestamp,
    /// What is older could go.
    old: Timestamp,
}

/// How old something is, by the last word about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    Gone,
    Spared,
    Young,
}

impl Moments {
    fn age(self, time: &str) -> Age {
        match time.parse::<Timestamp>() {
            Ok(time) if time < self.gone => Age::Gone,
            Ok(time) if time < self.old => Age::Spared,
            _ => Age::Young,
        }
    }
}

/// What was recorded last of an edit, or of a text where no edit came with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWord {
    edit: Option<EditId>,
    /// As the record writes it.
    time: String,
}

impl std::fmt::Display for LastWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let day = self.time.get(..10).unwrap_or(&self.time);
        match &self.edit {
            Some(edit) => write!(f, "edit {} (last made or decided on {day})", edit.short()),
            None => write!(f, "what was recorded on {day}"),
        }
    }
}

/// One transaction, as far as cleaning up is concerned.
#[derive(Clone, Debug)]
struct Step {
    last: LastWord,
    age: Age,
    /// The person's decision about its edit.
    status: Option<Status>,
}

/// How many transactions of a document may go, and what keeps the next.
fn plan(steps: &[Step], pinned: Option<Pin>) -> (usize, Option<Pin>) {
    if pinned.is_some() {
        return (0, pinned);
    }
    let mut pin = None;
    let cut = steps.iter().position(|step| {
        let pending = step.last.edit.as_ref().filter(|_| step.status == Some(Status::Pending));
        pin = match (pending, step.age) {
            (Some(edit), _) => Some(Pin::Undecided(edit.clone())),
            (_, Age::Young) => Some(Pin::Young(step.last.clone())),
            (_, Age::Spared) => Some(Pin::Spared(step.last.clone())),
            (_, Age::Gone) => None,
        };
        pin.is_some()
    });
    let cut = cut.unwrap_or(steps.len());
    let worth = cut == steps.len() || steps[..cut].iter().any(|step| step.last.edit.is_some());
    (if worth { cut } else { 0 }, pin)
}

/// The time of the last word about each edit: it is as old as that.
fn last_words(ledger: &Ledger) -> HashMap<&EditId, &str> {
    let mut last = HashMap::new();
    for line in &ledger.lines {
        last.extend(line.edit.iter().chain(&line.about).map(|edit| (edit, line.time.as_str())));
    }
    last
}

/// When conversations that are decided came to their ends, in order.
fn ends(ledger: &Ledger) -> Vec<Timestamp> {
    let last = last_words(ledger);
    let end = |conversation: &ConversationId| -> Option<Timestamp> {
        let decided = |edit| ledger.edits.get(edit).is_some_and(|known| known.status() != Status::Pending);
        if !ledger.edits_of(conversation).all(decided) {
            return None;
        }
        ledger.edits_of(conversation).filter_map(|edit| last.get(edit)?.parse().ok()).max()
    };
    let mut ends: Vec<Timestamp> = ledger.conversations.keys().filter_map(end).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Whether a process that has claimed edits still runs.
type Runs<'a> = &'a dyn Fn(&str) -> bool;

/// What would go of every document.
fn plan_all(ledger: &Ledger, moments: Moments, runs: Runs<'_>) -> Vec<Cleaned> {
    let latest = last_words(ledger);
    let mut all = Vec::new();
    for (file, tracked) in &ledger.files {
        let lines = tracked.lines.iter().filter_map(|at| ledger.lines.get(*at));
        let steps: Vec<Step> = lines
            .map(|line| {
                let edit = line.edit.clone();
                let time = edit.as_ref().and_then(|edit| latest.get(edit).copied()).unwrap_or(&line.time);
                let status = edit.as_ref().and_then(|edit| Some(ledger.edits.get(edit)?.status()));
                Step { age: moments.age(time), status, last: LastWord { time: time.to_owned(), edit } }
            })
            .collect();
        // A claim ends with its process.
        let owned = tracked.owner.clone().filter(|owner| runs(owner)).map(Pin::Owned);
        let (cut, pin) = plan(&steps, tracked.intent.map(|_| Pin::Unfinished).or(owned));
        let edits = |steps: &[Step]| -> Vec<EditId> {
            steps.iter().filter_map(|step| step.last.edit.clone()).collect()
        };
        let (gone, kept) = (edits(&steps[..cut]), edits(&steps[cut..]).len());
        all.push(Cleaned { file: *file, document: tracked.name.clone(), gone, kept, pin, freed: 0, cut });
    }
    all
}

impl Session {
    /// Forgets what is decided, as far as it may. Returns what goes of each document and what keeps the rest; with `dry_run` nothing else
    /// happens. `runs` says of the processes that have claimed edits whether they still run.
    ///
    /// # Errors
    ///
    /// The disk refuses. The record is whole then: as it was, or cleaned.
    pub fn cleanup(
        &mut self,
        forget: &Forget,
        dry_run: bool,
        runs: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Cleaned>> {
        // What goes is not to be written afterwards. If this fails, so will the rest.
        self.derive();
        let store = self.store().clone();
        let mut known = store.known();
        let moments = self.moments(&known.ledger, forget, runs)?;
        let mut plans = plan_all(&known.ledger, moments, runs);
        let bases = self.bases(&known.ledger, &mut plans)?;
        if dry_run || bases.lines.is_empty() {
            return Ok(plans);
        }
        let files: BTreeSet<FileId> =
            plans.iter().filter(|plan| plan.cut > 0).map(|plan| plan.file).collect();
        let of_file = |known: &&crate::ledger::Known| files.contains(&known.file);
        let touched: BTreeSet<ConversationId> =
            known.ledger.edits.values().filter(of_file).map(|known| known.conversation.clone()).collect();

        // Whoever comes after a crash from here on compares everything.
        self.folder.remove(layout::DERIVED)?;
        for (way, bytes) in bases.checkpoints {
            self.folder.write_whole(&way, &bytes, true)?;
        }
        let record = self.without(&known.ledger, &bases.lines)?;
        self.folder.write_whole(layout::RECORD, &record, true)?;
        if let Some(log) = self.folder.file(layout::RECORD, Open::Append)? {
            self.log = log;
        }
        known.refresh(&store, &mut self.log)?;
        let mut render = Render { folder: &self.folder, log: &mut self.log, ledger: &known.ledger };
        for conversation in touched.iter().filter(|id| known.ledger.conversations.contains_key(*id)) {
            render.write_log(conversation)?;
        }
        render.sweep()?;
        render.note_derived()?;
        Ok(plans)
    }

    /// How many bytes the history has.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn size(&self) -> Result<u64> {
        self.folder.size()
    }

    /// How old something has to be to go.
    fn moments(&mut self, ledger: &Ledger, forget: &Forget, runs: Runs<'_>) -> Result<Moments> {
        let old = Timestamp::now().checked_sub(forget.older_than).unwrap_or(Timestamp::UNIX_EPOCH);
        let Some(most) = forget.down_to else { return Ok(Moments { gone: old, old }) };
        let size = self.size()?;
        let mut weights = HashMap::new();
        // The later the moment, the more goes. What ended at it goes with it.
        let mut moments = vec![Timestamp::UNIX_EPOCH];
        moments.extend(
            ends(ledger)
                .into_iter()
                .filter_map(|end| end.checked_add(TICK).ok())
                .take_while(|end| *end <= old),
        );
        let (mut least, mut end) = (0, moments.len());
        while least < end {
            let middle = least.midpoint(end);
            let mut freed = 0;
            for mut plan in plan_all(ledger, Moments { gone: moments[middle], old }, runs) {
                let key = (plan.file, plan.cut);
                freed += match weights.get(&key) {
                    Some(freed) => *freed,
                    None => {
                        self.bases(ledger, std::slice::from_mut(&mut plan))?;
                        weights.insert(key, plan.freed);
                        plan.freed
                    }
                };
            }
            match size.saturating_sub(freed) <= most {
                true => end = middle,
                false => least = middle + 1,
            }
        }
        // Where nothing suffices, all goes that may.
        Ok(Moments { gone: moments.get(least).copied().unwrap_or(old), old })
    }

    /// What takes the place of what goes, and how many bytes are free then. What cannot be replayed stays.
    fn bases(&mut self, ledger: &Ledger, plans: &mut [Cleaned]) -> Result<Bases> {
        let mut bases = Bases::default();
        for plan in plans.iter_mut().filter(|plan| plan.cut > 0) {
            let at = |index: usize| ledger.files.get(&plan.file)?.lines.get(index).copied();
            let sequences: Vec<Sequence> =
                (0..plan.cut).filter_map(|index| Some(ledger.lines.get(at(index)?)?.sequence)).collect();
            plan.freed = self.weight(ledger, plan)?;
            let (Some(last), true) = (sequences.last().copied(), at(plan.cut).is_some()) else {
                // All of it goes.
                bases.lines.extend(sequences.into_iter().map(|sequence| (sequence, None)));
                continue;
            };
            let document = match read_document(ledger, &self.folder, &mut self.log, plan.file, Some(last)) {
                Ok(document) => document,
                Err(StoreError::Broken { sequence, .. }) => {
                    plan.kept += plan.gone.len();
                    plan.gone.clear();
                    (plan.cut, plan.freed, plan.pin) = (0, 0, Some(Pin::Broken(sequence)));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let (line, bytes) = self.base(ledger, document, &plan.gone)?;
            let new = line.len() + bytes.as_ref().map_or(0, |(_, bytes)| bytes.len());
            plan.freed = plan.freed.saturating_sub(new as u64);
            bases.checkpoints.extend(bytes);
            bases.lines.extend(sequences.into_iter().map(|sequence| (sequence, None)));
            bases.lines.insert(last, Some(line));
        }
        Ok(bases)
    }

    /// How many bytes there are of what goes.
    fn weight(&mut self, ledger: &Ledger, plan: &Cleaned) -> Result<u64> {
        let Some(tracked) = ledger.files.get(&plan.file) else { return Ok(0) };
        let mut bytes = 0;
        for line in tracked.lines[..plan.cut].iter().filter_map(|at| ledger.lines.get(*at)) {
            bytes += line.len;
            if let Some(Some(checkpoint)) = &line.base {
                bytes += self.folder.length(checkpoint)?.unwrap_or_default();
            }
        }
        let mut render = Render { folder: &self.folder, log: &mut self.log, ledger };
        for edit in &plan.gone {
            bytes += render.log_line(edit)?.len() as u64;
            if let Some(known) = ledger.edits.get(edit) {
                bytes += self.folder.length(&layout::diff(&known.conversation, edit))?.unwrap_or_default();
            }
        }
        Ok(bytes)
    }

    /// The line that takes the place of all that led to a state, and its checkpoint.
    fn base(
        &mut self,
        ledger: &Ledger,
        document: Document,
        gone: &[EditId],
    ) -> Result<(Vec<u8>, Option<Checkpoint>)> {
        let at = ledger.lines.partition_point(|line| line.sequence < document.sequence);
        let Some(line) = ledger.lines.get(at) else {
            return Err(StoreError::BadDraft("there is no such record"));
        };
        let last: Transaction<IgnoredAny> = read_line(ledger, &mut self.log, line)?;
        let root = self.store().folder();
        let outside = |name: DocumentName| StoreError::Outside { name, folder: root.to_path_buf() };
        let name = document.name.relative_to(root).ok_or_else(|| outside(document.name.clone()))?;
        let way = layout::checkpoint(None, &name, document.sequence);
        let mut hunks = document.hunks;
        hunks.iter_mut().for_each(|name| *name = name.take().filter(|name| !gone.contains(&name.edit)));
        let mut form = None;
        let (bytes, weave, binary, text) = match &document.content {
            Content::None => (None, None, false, None),
            Content::Bytes { bytes, hash } => (Some(bytes.clone()), None, true, Some(*hash)),
            Content::Text { weave, form: stored, hash } => {
                let plain = hashline_text::DiskForm { ending: None, ..*stored };
                form = Some((*stored).into());
                (Some(plain.to_bytes(weave.buffer())), without_text(weave), false, Some(*hash))
            }
        };
        let base = bytes.as_ref().map(|bytes| Base {
            checkpoint: Some(way.clone()),
            hash: Some(hashline_text::FileHash::of(bytes)),
            binary,
            weave,
            hunks,
        });
        let transaction: Transaction<WireDelta> = Transaction {
            sequence: last.sequence,
            time: last.time,
            process: last.process,
            document: name,
            file: document.file,
            after: None,
            edit: None,
            index: None,
            base,
            delta: None,
            form,
            text,
            registers: Some(document.registers),
            decisions: Vec::new(),
            wanted: Vec::new(),
            locations: Vec::new(),
            saved: document.saved,
            owner: document.owner.map(OwnerChange::Claimed),
            intent: Vec::new(),
            ended: None,
            together: None,
        };
        Ok((ledger.line_of(&transaction)?, bytes.map(|bytes| (way, bytes))))
    }

    /// The record with lines replaced or left out. Lines that cannot be read stay as they are: somebody may mend them.
    fn without(&mut self, ledger: &Ledger, lines: &BTreeMap<Sequence, Option<Vec<u8>>>) -> Result<Vec<u8>> {
        let mut header: Header = ledger.header.clone();
        (header.generation, header.given) = (header.generation + 1, ledger.given());
        let mut record = ledger.header_line(&header)?;
        let mut at = 0;
        let whole = self.log.read_at(0, ledger.end)?;
        let by_offset: HashMap<u64, Sequence> =
            ledger.lines.iter().map(|line| (line.offset, line.sequence)).collect();
        for line in whole.split_inclusive(|byte| *byte == b'\n') {
            let replaced = by_offset.get(&at).and_then(|sequence| lines.get(sequence));
            match replaced {
                Some(other) => record.extend(other.as_deref().unwrap_or_default()),
                None if at > 0 => record.extend(line),
                None => {}
            }
            at += line.len() as u64;
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_decided_and_old_prefix_goes() {
        let age = |old: bool| if old { Age::Gone } else { Age::Young };
        let name = |number: u64| EditId::from(format!("e{number}"));
        let word = |edit| LastWord { edit, time: "2026-01-02T03:04:05.678901Z".to_owned() };
        let step = |edit, status, age| Step { last: word(edit), status, age };
        use Status::{Accepted, Pending, Rejected};
        let typed = |old| step(None, None, age(old));
        let edit = |number, status, old| step(Some(name(number)), Some(status), age(old));
        let undecided = |number| Some(Pin::Undecided(name(number)));
        let young = |edit| Some(Pin::Young(word(edit)));
        let cases = [
            ("nothing", vec![], None, (0, None)),
            ("all of it", vec![edit(1, Accepted, true), edit(2, Rejected, true)], None, (2, None)),
            (
                "up to an undecided one",
                vec![edit(1, Accepted, true), edit(2, Pending, true)],
                None,
                (1, undecided(2)),
            ),
            (
                "none before an undecided one",
                vec![edit(1, Pending, true), edit(2, Accepted, true)],
                None,
                (0, undecided(1)),
            ),
            (
                "decided lately",
                vec![edit(1, Accepted, true), edit(2, Accepted, false)],
                None,
                (1, young(Some(name(2)))),
            ),
            (
                "typing alone is not worth it",
                vec![typed(true), edit(2, Pending, true)],
                None,
                (0, undecided(2)),
            ),
            ("typing lately", vec![edit(1, Accepted, true), typed(false)], None, (1, young(None))),
            (
                "small enough",
                vec![edit(1, Accepted, true), step(Some(name(2)), Some(Rejected), Age::Spared)],
                None,
                (1, Some(Pin::Spared(word(Some(name(2)))))),
            ),
            ("pinned", vec![edit(1, Accepted, true)], Some(Pin::Unfinished), (0, Some(Pin::Unfinished))),
        ];
        for (what, steps, pinned, expected) in cases {
            assert_eq!(plan(&steps, pinned), expected, "{what}");
        }
    }
}
