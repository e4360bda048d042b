//! A switch of several files: what is to become of them is recorded at once, and then done, step by step. Whoever finds it half done
//! finishes it.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use hashline_text::FileHash;

use crate::append::{Appended, Entry};
use crate::document::Content;
use crate::error::{Result, StoreError};
use crate::files::{Change, FilesNow, Held};
use crate::folder;
use crate::id::FileId;
use crate::ledger::Line;
use crate::name::DocumentName;
use crate::path::to_text;
use crate::record::Sequence;
use crate::record_lines::read_line;
use crate::recover_interrupted::Before;
use crate::session::Session;
use crate::steps::{Net, Part, Progress, Step, around, names, plan, progress};
use crate::transaction::{Draft, Effect, Subject, Together, Transaction};

/// What became of a switch that was recorded.
#[derive(Debug)]
pub enum Switched {
    /// All of it is done.
    Done(Vec<Appended>),
    /// A file could not be changed. All of them are as they were, and so is what is recorded of them.
    TakenBack(io::Error),
    /// A file could not be changed, and neither could others be changed back. The next session finishes it.
    Unfinished(io::Error),
}

/// A file that a switch is about.
struct Switching {
    file: FileId,
    /// What it is called then.
    name: DocumentName,
    effects: Vec<Effect>,
}

/// A step that was made, and what the file held that it changed.
struct Made<'a>(&'a Step, Option<Held>);

/// What is to be done to files, as far as there is something to be done.
struct Plan {
    files: Vec<Switching>,
    parts: Vec<Part>,
    steps: Vec<Step>,
}

impl Plan {
    /// None if it makes no sense.
    fn of(files: Vec<Switching>, salt: Sequence) -> Option<Self> {
        let parts: Vec<Part> = files.iter().map(|one| Part::of(&one.effects)).collect::<Option<_>>()?;
        let steps = plan(&parts, salt)?;
        Some(Self { files, parts, steps })
    }

    /// The files that are out of the way for a while: what each is called before and then, and what it holds.
    fn aside(&self) -> impl Iterator<Item = (&Path, &Path, FileHash)> {
        self.steps.iter().filter_map(|step| {
            let ((from, _), (to, hash)) = (step.from.as_ref()?, step.to.as_ref()?);
            let is_own = |part: &Part| part.to.as_ref().is_none_or(|(last, _)| last != to);
            (from != to && self.parts.get(step.part).is_some_and(is_own)).then_some((&**from, &**to, *hash))
        })
    }

    /// What its names hold.
    fn look(&self, files: &dyn FilesNow) -> std::result::Result<HashMap<PathBuf, Option<FileHash>>, Unknown> {
        let look = |path: PathBuf| match files.hash(&path) {
            Ok(hash) => Ok((path, hash)),
            Err(error) => Err(Unknown(path, error)),
        };
        names(&self.parts, &self.steps).into_iter().map(look).collect()
    }
}

/// A file of which it is not known what it holds.
struct Unknown(PathBuf, io::Error);

impl Session {
    /// Records what is to become of several files, all at once, and does it. When this returns all of it is done, or none: what is
    /// recorded is finished by the next session where this one cannot. Each draft is about another file; its intent says what is to be done to
    /// that.
    ///
    /// # Errors
    ///
    /// Nothing was recorded, and nothing done.
    pub fn switch(&mut self, drafts: &[Draft<'_>], files: &dyn FilesNow) -> Result<Switched> {
        let check = drafts.iter().filter(|draft| !draft.intent.is_empty());
        let parts: Option<Vec<Part>> = check.map(|draft| Part::of(&draft.intent)).collect();
        if parts.and_then(|parts| plan(&parts, Sequence(0))).is_none() {
            return Err(StoreError::BadDraft("its files would have one name"));
        }
        let is_switch = drafts.iter().any(|draft| !draft.intent.is_empty());
        let appended = self.append_all(drafts.iter().cloned().map(Entry::from).collect(), is_switch)?;
        let switching = drafts.iter().zip(&appended).filter(|(draft, _)| !draft.intent.is_empty());
        let switching = switching.map(|(draft, one)| Switching {
            file: one.file,
            name: draft.document.clone(),
            effects: draft.intent.clone(),
        });
        let salt = appended.first().map_or(Sequence(0), |one| one.sequence);
        let Some(plan) = Plan::of(switching.collect(), salt).filter(|plan| !plan.files.is_empty()) else {
            return Ok(Switched::Done(appended));
        };
        let mut made = Vec::new();
        if let Err(error) = self.carry_out(&plan, &plan.steps, files, Some(&mut made)) {
            return Ok(match self.undo(made, files).and_then(|()| self.withdraw(&appended)) {
                Ok(()) => Switched::TakenBack(error),
                Err(_) => Switched::Unfinished(error),
            });
        }
        // What cannot be told now is told by whoever writes next, by what the disk has.
        let ends = self.end_as_done(&plan).unwrap_or_default();
        let last = |one: Appended| ends.iter().find(|end| end.file == one.file).copied().unwrap_or(one);
        Ok(Switched::Done(appended.into_iter().map(last).collect()))
    }

    /// Makes steps; what each has changed goes to `made`.
    fn carry_out<'a>(
        &mut self,
        plan: &Plan,
        steps: &'a [Step],
        files: &dyn FilesNow,
        mut made: Option<&mut Vec<Made<'a>>>,
    ) -> io::Result<()> {
        for step in steps {
            let held = match (&step.from, &step.to) {
                (None, None) => None,
                (Some((from, was)), Some((to, _))) if from != to => {
                    self.change(files, &Change::Rename { from, to, was: *was })?
                }
                (Some((path, was)), None) => self.change(files, &Change::Remove { path, was: *was })?,
                (from, Some((path, hash))) => {
                    let (bytes, mode) = self.content(plan.files[step.part].file, *hash)?;
                    self.change(
                        files,
                        &match from {
                            Some((_, was)) => Change::Write { path, was: *was, bytes: &bytes },
                            None => Change::Make { path, bytes: &bytes, mode },
                        },
                    )?
                }
            };
            if let Some(made) = &mut made {
                made.push(Made(step, held));
            }
        }
        Ok(())
    }

    /// Undoes steps that were made, the last one first.
    fn undo(&mut self, made: Vec<Made<'_>>, files: &dyn FilesNow) -> Result<()> {
        for Made(step, held) in made.into_iter().rev() {
            let held = held.as_ref();
            let change = match (&step.from, &step.to, held) {
                (Some((path, _)), None, Some(held)) => {
                    Change::Make { path, bytes: &held.bytes, mode: held.mode }
                }
                (None, Some((path, hash)), _) => Change::Remove { path, was: *hash },
                (Some((from, _)), Some((to, hash)), _) if from != to => {
                    Change::Rename { from: to, to: from, was: *hash }
                }
                (Some(_), Some((path, hash)), Some(held)) => {
                    Change::Write { path, was: *hash, bytes: &held.bytes }
                }
                _ => continue,
            };
            let failed = |error: io::Error| StoreError::io(change.path(), "written", &error);
            self.change(files, &change).map_err(failed)?;
        }
        Ok(())
    }

    fn change(&mut self, files: &dyn FilesNow, change: &Change<'_>) -> io::Result<Option<Held>> {
        let step = match change {
            Change::Make { .. } => folder::Step::Create,
            Change::Write { bytes, .. } => folder::Step::Write(bytes.len()),
            Change::Remove { .. } => folder::Step::Remove,
            Change::Rename { .. } => folder::Step::Rename,
        };
        self.folder.ask(step, &change.path().to_string_lossy())?;
        files.change(change)
    }

    /// What a file is to hold, and its mode bits.
    fn content(&mut self, file: FileId, hash: FileHash) -> io::Result<(Vec<u8>, Option<u32>)> {
        let mut known = self.store.known();
        let document = known.document(&self.folder, &mut self.log, file);
        let document = document.map_err(io::Error::other)?;
        let bytes = match document.content {
            Content::Text { weave, form, .. } => form.to_bytes(weave.buffer()),
            Content::Bytes { bytes, .. } => bytes,
            Content::None => Vec::new(),
        };
        if FileHash::of(&bytes) != hash {
            return Err(io::Error::other("it is recorded with another text than it was to hold"));
        }
        Ok((bytes, document.registers.mode))
    }

    /// Records that all of a plan is done.
    fn end_as_done(&mut self, plan: &Plan) -> Result<Vec<Appended>> {
        let ends = plan.files.iter().zip(&plan.parts).map(|(one, part)| {
            let saved = part.to.as_ref().map(|(_, hash)| *hash);
            let file = Subject::File(one.file);
            Draft { file, saved, done: true, ..Draft::about(one.name.clone()) }.into()
        });
        self.append_all(ends.collect(), false)
    }

    /// Records that nothing is done of what was just recorded.
    fn withdraw(&mut self, appended: &[Appended]) -> Result<()> {
        let mut before = Vec::new();
        for one in appended {
            before.extend(self.before(one.file, one.sequence)?);
        }
        self.append_all(before.iter().map(Before::entry).collect(), false).map(drop)
    }

    /// Finishes a switch that a process has left half done. Where its lines do not make one its files are looked at one by one.
    pub(crate) fn finish_switch(&mut self, group: Together, files: &dyn FilesNow) -> Result<()> {
        let (lines, open, were_all_there): (Vec<Line>, Vec<FileId>, bool) = {
            let known = self.store.known();
            // What a cleanup has removed since meant to do nothing to the disk.
            let were_all_there = group.last() <= known.ledger.header.given;
            let lines = &known.ledger.lines;
            let first = lines.partition_point(|line| line.sequence < group.from);
            let lines = lines[first..].iter().take_while(|line| line.sequence <= group.last());
            let lines: Vec<Line> = lines.filter(|line| line.together == Some(group)).cloned().collect();
            let is_open = |line: &&Line| {
                let tracked = known.ledger.files.get(&line.file);
                tracked.is_some_and(|tracked| tracked.intent == Some(line.sequence))
            };
            let open = lines.iter().filter(is_open).map(|line| line.file).collect();
            (lines, open, were_all_there)
        };
        let mut switching = Vec::new();
        for line in &lines {
            let known = self.store.known();
            let one: Transaction<serde::de::IgnoredAny> = read_line(&known.ledger, &mut self.log, line)?;
            if !one.intent.is_empty() {
                switching.push(Switching { file: line.file, name: one.document, effects: one.intent });
            }
        }
        let net = Net::of(switching.iter().flat_map(|one| &one.effects));
        let is_whole = (were_all_there || lines.len() as u64 == group.of) && open.len() == switching.len();
        match Plan::of(switching, group.from).filter(|_| is_whole) {
            Some(plan) => self.finish_plan(&plan, group.of, &net, files),
            None => open.into_iter().try_for_each(|file| self.end_intent(file, &net, files)),
        }
    }

    fn finish_plan(&mut self, plan: &Plan, of: u64, net: &Net, files: &dyn FilesNow) -> Result<()> {
        let about = count(of);
        let now = match plan.look(files) {
            Ok(now) => now,
            Err(Unknown(path, error)) => {
                self.repaired(format!(
                    "It is not known how far a decision about {about} was written before its process ended: {} cannot be read ({error}).",
                    to_text(&path)
                ));
                return Ok(());
            }
        };
        let Some(Progress { made, foreign }) = progress(&plan.parts, &plan.steps, &now) else {
            self.repaired(format!(
                "A decision about {about} was not finished before its process ended, and something else has changed them since; each of them \
                 stays as it is."
            ));
            self.tell_aside(plan, &BTreeSet::new(), files);
            return plan.files.iter().try_for_each(|one| self.end_intent(one.file, net, files));
        };
        let left = around(&plan.steps[made..], &foreign);
        if let Err(error) = self.carry_out(plan, &left, files, None) {
            self.repaired(format!(
                "A decision about {about} was not finished before its process ended, and it cannot be now: {error}. The next command tries it \
                 again; until then these files cannot be edited."
            ));
            return Ok(());
        }
        if foreign.is_empty() {
            self.end_as_done(plan)?;
            self.repaired(match left.is_empty() {
                true => format!(
                    "A decision about {about} was written, though its process ended before it could say so."
                ),
                false => format!(
                    "A decision about {about} was not finished before its process ended; it is finished now."
                ),
            });
            return Ok(());
        }
        self.repaired(format!(
            "A decision about {about} was not finished before its process ended; it is finished now, but for what something else has changed \
             since."
        ));
        self.tell_aside(plan, &foreign, files);
        plan.files.iter().try_for_each(|one| self.end_intent(one.file, net, files))
    }

    /// Puts files back that were out of the way and cannot come to their names, or tells where they are.
    fn tell_aside(&mut self, plan: &Plan, foreign: &BTreeSet<PathBuf>, files: &dyn FilesNow) {
        for (from, aside, hash) in plan.aside() {
            if foreign.contains(aside) || !files.hash(aside).is_ok_and(|there| there == Some(hash)) {
                continue;
            }
            let is_free = files.hash(from).is_ok_and(|there| there.is_none());
            let back = Change::Rename { from: aside, to: from, was: hash };
            if !is_free || self.change(files, &back).is_err() {
                self.repaired(format!("What was {} is {} now.", to_text(from), to_text(aside)));
            }
        }
    }
}

/// So many files.
pub(crate) fn count(files: u64) -> String {
    if files == 1 { "a file".to_owned() } else { format!("{files} files") }
}
