//! Cleanup (W18): what may be forgotten of each document, and forgetting it.
//!
//! Only a prefix of a document's transactions goes, and only if every edit in it is decided and has been left alone for long enough. A
//! base of the state behind it takes its place, so that whatever stays can be replayed as before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, SystemTime};

use serde::de::IgnoredAny;

use crate::derive::Render;
use crate::document::{Content, Document};
use crate::error::StoreError;
use crate::folder::Open;
use crate::id::{ConversationId, DocumentName, EditId, FileId};
use crate::layout;
use crate::ledger::{Header, Ledger};
use crate::record::{Sequence, Status};
use crate::session::{Session, to_line};
use crate::store::{Result, read_document, read_line};
use crate::transaction::{Base, OwnerChange, Transaction};
use crate::wire::{WireDelta, without_text};

/// Why something of a document stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// This edit is not decided.
    Undecided(EditId),
    /// This is not old enough yet.
    Young(Sequence),
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
            Pin::Young(sequence) => write!(f, "record {sequence} is not old enough"),
            Pin::Unfinished => f.write_str("its last change may not have been written"),
            Pin::Owned(owner) => write!(f, "{owner} has it open"),
            Pin::Broken(sequence) => write!(f, "record {sequence} cannot be replayed"),
        }
    }
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

/// What a checkpoint is called, and its bytes.
type Checkpoint = (String, Vec<u8>);

/// One transaction, as far as cleaning up is concerned.
#[derive(Clone, Debug)]
struct Step {
    sequence: Sequence,
    old: bool,
    edit: Option<(EditId, Status, bool)>,
}

/// How many transactions of a document may go, and what keeps the next.
fn plan(steps: &[Step], pinned: Option<Pin>) -> (usize, Option<Pin>) {
    if pinned.is_some() {
        return (0, pinned);
    }
    let mut pin = None;
    let cut = steps.iter().position(|step| {
        pin = match &step.edit {
            Some((edit, Status::Pending, _)) => Some(Pin::Undecided(edit.clone())),
            Some((_, _, old)) if !old => Some(Pin::Young(step.sequence)),
            _ if !step.old => Some(Pin::Young(step.sequence)),
            _ => None,
        };
        pin.is_some()
    });
    let cut = cut.unwrap_or(steps.len());
    let worth = cut == steps.len() || steps[..cut].iter().any(|step| step.edit.is_some());
    (if worth { cut } else { 0 }, pin)
}

/// What would go of every document, if all that is older than a moment may.
fn plan_all(ledger: &Ledger, before: SystemTime) -> Vec<Cleaned> {
    let old = |time: &str| humantime::parse_rfc3339(time).is_ok_and(|time| time < before);
    // An edit is as old as the last word about it.
    let mut latest: HashMap<&EditId, &str> = HashMap::new();
    for line in &ledger.lines {
        for edit in line.edit.iter().chain(&line.about) {
            latest.insert(edit, &line.time);
        }
    }
    let mut all = Vec::new();
    for (file, tracked) in &ledger.files {
        let lines = tracked.lines.iter().filter_map(|at| ledger.lines.get(*at));
        let steps: Vec<Step> = lines
            .map(|line| Step {
                sequence: line.sequence,
                old: old(&line.time),
                edit: line.edit.as_ref().and_then(|edit| {
                    let last = latest.get(edit).is_some_and(|time| old(time));
                    Some((edit.clone(), ledger.edits.get(edit)?.status(), last))
                }),
            })
            .collect();
        let owned = tracked.owner.clone().map(Pin::Owned);
        let (cut, pin) = plan(&steps, tracked.intent.map(|_| Pin::Unfinished).or(owned));
        let edits = |steps: &[Step]| -> Vec<EditId> {
            steps.iter().filter_map(|step| Some(step.edit.as_ref()?.0.clone())).collect()
        };
        let (gone, kept) = (edits(&steps[..cut]), edits(&steps[cut..]).len());
        all.push(Cleaned { file: *file, document: tracked.name.clone(), gone, kept, pin, freed: 0, cut });
    }
    all
}

impl Session<'_> {
    /// Forgets what is decided and older than this. Returns what goes of each document and what keeps the rest; with `dry_run` nothing
    /// else happens.
    ///
    /// # Errors
    ///
    /// The disk refuses. The record is whole then: as it was, or cleaned.
    pub fn cleanup(&mut self, older_than: Duration, dry_run: bool) -> Result<Vec<Cleaned>> {
        // What goes is not to be written afterwards. If this fails, so will the rest.
        self.derive();
        let before = SystemTime::now().checked_sub(older_than).unwrap_or(SystemTime::UNIX_EPOCH);
        let store = self.store();
        let mut known = store.known();
        let mut plans = plan_all(&known.ledger, before);
        let mut bases: BTreeMap<Sequence, Option<Vec<u8>>> = BTreeMap::new();
        let mut checkpoints: Vec<Checkpoint> = Vec::new();
        for plan in plans.iter_mut().filter(|plan| plan.cut > 0) {
            let ledger = &known.ledger;
            let at = |index: usize| ledger.files.get(&plan.file)?.lines.get(index).copied();
            let sequences: Vec<Sequence> =
                (0..plan.cut).filter_map(|index| Some(ledger.lines.get(at(index)?)?.sequence)).collect();
            plan.freed = self.weight(ledger, plan)?;
            let (Some(last), true) = (sequences.last().copied(), at(plan.cut).is_some()) else {
                // All of it goes.
                bases.extend(sequences.into_iter().map(|sequence| (sequence, None)));
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
            checkpoints.extend(bytes);
            bases.extend(sequences.into_iter().map(|sequence| (sequence, None)));
            bases.insert(last, Some(line));
        }
        if dry_run || bases.is_empty() {
            return Ok(plans);
        }
        let files: BTreeSet<FileId> =
            plans.iter().filter(|plan| plan.cut > 0).map(|plan| plan.file).collect();
        let of_file = |known: &&crate::ledger::Known| files.contains(&known.file);
        let touched: BTreeSet<ConversationId> =
            known.ledger.edits.values().filter(of_file).map(|known| known.conversation.clone()).collect();

        // Whoever comes after a crash from here on compares everything.
        self.folder.remove(layout::DERIVED)?;
        for (way, bytes) in checkpoints {
            self.folder.write_whole(&way, &bytes, true)?;
        }
        let record = self.without(&known.ledger, &bases)?;
        self.folder.write_whole(layout::RECORD, &record, true)?;
        if let Some(log) = self.folder.file(layout::RECORD, Open::Append)? {
            self.log = log;
        }
        known.refresh(store.folder(), &mut self.log)?;
        let mut render = Render { folder: &self.folder, log: &mut self.log, ledger: &known.ledger };
        for conversation in touched.iter().filter(|id| known.ledger.conversations.contains_key(*id)) {
            render.write_log(conversation)?;
        }
        render.sweep()?;
        render.note_derived()?;
        Ok(plans)
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
        };
        Ok((to_line(&transaction)?, bytes.map(|bytes| (way, bytes))))
    }

    /// The record with lines replaced or left out. Lines that cannot be read stay as they are: somebody may mend them.
    fn without(&mut self, ledger: &Ledger, lines: &BTreeMap<Sequence, Option<Vec<u8>>>) -> Result<Vec<u8>> {
        let mut header: Header = ledger.header.clone();
        (header.generation, header.given) = (header.generation + 1, ledger.given());
        let mut record = to_line(&header)?;
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
        let step = |sequence: u64, old: bool, edit: Option<(Status, bool)>| Step {
            sequence: Sequence(sequence),
            old,
            edit: edit.map(|(status, old)| (EditId::from(format!("e{sequence}")), status, old)),
        };
        use Status::{Accepted, Pending, Rejected};
        let typed = |sequence, old| step(sequence, old, None);
        let edit = |sequence, status, old| step(sequence, true, Some((status, old)));
        let undecided = |sequence: u64| Some(Pin::Undecided(EditId::from(format!("e{sequence}"))));
        let young = |sequence| Some(Pin::Young(Sequence(sequence)));
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
            ("decided lately", vec![edit(1, Accepted, true), edit(2, Accepted, false)], None, (1, young(2))),
            (
                "typing alone is not worth it",
                vec![typed(1, true), edit(2, Pending, true)],
                None,
                (0, undecided(2)),
            ),
            ("typing lately", vec![edit(1, Accepted, true), typed(2, false)], None, (1, young(2))),
            ("pinned", vec![edit(1, Accepted, true)], Some(Pin::Unfinished), (0, Some(Pin::Unfinished))),
        ];
        for (what, steps, pinned, expected) in cases {
            assert_eq!(plan(&steps, pinned), expected, "{what}");
        }
    }
}
