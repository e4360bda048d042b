//! What an editor is asked to do with a file that it has open, and why it is not.

use std::collections::BTreeSet;

use super::decision::{Against, Reason};
use super::oracle::{Now, Op, Part, is_beside};
use super::trial::{Trial, Tried};

impl Trial<'_> {
    /// Why nothing is decided yet about a file that an editor has open: two others have one name, and it does one thing after the other.
    pub fn shared_before(&mut self, run: &[usize]) -> Option<Reason> {
        let edit = *run.first()?;
        if !self.then.is_open(self.then.edits[edit].file) || self.then.clashes() == 0 {
            return None;
        }
        self.clashing.push(self.then.clone());
        Some(reason((edit, 1), Against::Name))
    }

    /// Why a file does not come to a name that a file has which an editor has open: that one keeps it meanwhile.
    pub fn shared_with_open(&mut self, run: &[usize]) -> Option<Reason> {
        let edit = *run.first()?;
        let file = self.then.edits[edit].file;
        let name = self.then.file(file).filter(|now| now.exists)?.name;
        let keeps = |(other, now): &(usize, Now)| {
            *other != file && self.then.is_open(*other) && is_beside(&now.name, &name)
        };
        self.then.living().iter().find(|other| keeps(other))?;
        self.clashing.push(self.then.clone());
        Some(reason((edit, 1), Against::Name))
    }

    /// Whether an editor is to remove a file that was made, with all that has come into it.
    pub fn unmakes_open(&self, file: &[Part]) -> bool {
        let makes = |part: &Part| matches!(self.then.edits[part.0].op, Op::Make(_)) && self.then.is_in(*part);
        file.iter().any(|part| makes(part) && self.then.is_open(self.then.edits[part.0].file))
    }

    pub fn unmake_open(&mut self, file: &[Part], lines: &[Part]) -> Vec<Reason> {
        let made = file.iter().filter(|part| matches!(self.then.edits[part.0].op, Op::Make(_)));
        let since: Vec<Reason> = made.filter_map(|part| self.lines_since(*part).err()).collect();
        if !since.is_empty() {
            return since;
        }
        let refused: Vec<Reason> = file.iter().filter_map(|part| self.reject_file(*part).err()).collect();
        if !refused.is_empty() {
            return refused;
        }
        lines.iter().filter_map(|part| self.reject_lines(*part).err()).collect()
    }

    /// Lets the editor that has a file open do with it what is decided, if it can.
    pub fn ask_editor(&mut self, part: Part) -> Tried {
        let edit = &self.then.edits[part.0];
        let (file, moves) = (edit.file, matches!(edit.op, Op::Move(..)));
        if !self.then.is_open(file) {
            return Ok(());
        }
        if let Some(first) = self.told_first(part) {
            return Err(first);
        }
        if self.then.is_unsaved(file) {
            return Err(reason(part, Against::NotSaved));
        }
        if !moves {
            self.then.open.remove(&file);
        }
        Ok(())
    }

    /// What an editor's side may say as well of a file hunk that is not decided.
    pub fn told_beside(&mut self, part: Part) -> Vec<Reason> {
        let file = self.then.edits[part.0].file;
        let wants = self.then.is_in(part) == (self.decision.status == super::Status::Rejected);
        let unsaved = (wants && self.then.is_unsaved(file)).then(|| reason(part, Against::NotSaved));
        self.told_first(part).into_iter().chain(unsaved).collect()
    }

    /// What an editor's side says before anything else: lines of the file would be changed right before, or another has the name.
    pub fn told_first(&mut self, part: Part) -> Option<Reason> {
        let file = self.then.edits[part.0].file;
        let is_in = self.decision.status != super::Status::Rejected;
        if !self.then.is_open(file) || self.then.is_in(part) == is_in {
            return None;
        }
        if self.switched.contains(&file) {
            return Some(reason(part, Against::LinesFirst));
        }
        let Op::Move(from, to) = &self.then.edits[part.0].op else { return None };
        let name = if is_in { to } else { from };
        let is_there = |other: &&(usize, Now)| {
            let is_itself = other.0 == file && other.1.name == *name;
            !is_itself && is_beside(&other.1.name, name)
        };
        self.then.living().iter().find(is_there)?;
        let clashing = self.then.with(&[part], self.decision.status);
        self.clashing.push(clashing);
        Some(reason(part, Against::Name))
    }

    /// An editor that has a file open is asked for one thing at a time.
    pub fn check_closed(&self, part: Part) -> Tried {
        match self.then.is_open(self.then.edits[part.0].file) {
            true => Err(reason(part, Against::Open)),
            false => Ok(()),
        }
    }
}

fn reason(part: Part, against: Against) -> Reason {
    Reason { part, against, others: BTreeSet::new() }
}
