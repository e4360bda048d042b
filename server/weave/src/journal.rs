//! The journal (W7): what the latest changes of the buffer did to the structure, so that a change which exactly takes one back
//! takes back identities and presence as well.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use hashline_text::Text;

use crate::hunk::HunkId;
use crate::line::IdRange;
use crate::weave::Weave;

/// How many changes are kept.
const KEPT: usize = 1000;
/// How many changes one step of the editor's undo may take back at once.
const DEPTH: usize = 64;

/// A change in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JournalId(u64);

/// What a text looks like from afar: a sum over its lines, which a change can keep up to date, and their number. Two texts
/// with one print are most likely equal; what is done on its word is checked against the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Print {
    sum: u64,
    lines: usize,
    pub newline: bool,
}

impl Print {
    pub(crate) fn of(text: &Text) -> Self {
        let sum = sum(text, 0..text.line_count());
        Self { sum, lines: text.line_count(), newline: text.ends_with_newline() }
    }

    /// The print after lines of `old` have become lines of `new`.
    pub(crate) fn after(
        self,
        old: &Text,
        new: &Text,
        regions: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    ) -> Self {
        let sum = regions.fold(self.sum, |total, (left, right)| {
            total.wrapping_sub(sum(old, left)).wrapping_add(sum(new, right))
        });
        Self { sum, lines: new.line_count(), newline: new.ends_with_newline() }
    }
}

fn sum(text: &Text, lines: Range<usize>) -> u64 {
    text.lines(lines).fold(0, |total, line| {
        let mut hasher = DefaultHasher::new();
        hasher.write(line.content().as_bytes());
        total.wrapping_add(hasher.finish())
    })
}

/// One thing that a change did. Contents are not among them: a line that returns to an earlier content is as it was.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Typed(IdRange),
    Removed(IdRange),
    Regained(IdRange),
    Switched { hunk: HunkId, on: bool },
    Newline { was: bool },
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub id: JournalId,
    pub steps: Vec<Step>,
    pub before: Print,
    pub after: Print,
}

impl Entry {
    fn switches(&self) -> impl Iterator<Item = (HunkId, bool)> {
        self.steps.iter().filter_map(|step| match step {
            Step::Switched { hunk, on } => Some((*hunk, *on)),
            _ => None,
        })
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    entries: Vec<Entry>,
    undone: Vec<Entry>,
    next: u64,
    /// The print of the buffer, once it was needed.
    pub print: Option<Print>,
}

/// The entries that a new text takes back or brings back, newest first.
pub(crate) struct Match {
    pub entries: Vec<Entry>,
    pub redo: bool,
}

impl Journal {
    pub(crate) fn push(&mut self, steps: Vec<Step>, before: Print, after: Print) -> JournalId {
        let id = JournalId(self.next);
        self.next += 1;
        self.undone.clear();
        if self.entries.len() == KEPT {
            self.entries.remove(0);
        }
        self.entries.push(Entry { id, steps, before, after });
        id
    }

    /// The switches of the journal with the entry that made each, newest first; for a hunk only the newest.
    pub(crate) fn switches(&self) -> Vec<(HunkId, bool, JournalId)> {
        let mut found: Vec<(HunkId, bool, JournalId)> = Vec::new();
        for entry in self.undone.iter().rev().chain(self.entries.iter().rev()) {
            for (hunk, on) in entry.switches() {
                if !found.iter().any(|(known, ..)| *known == hunk) {
                    found.push((hunk, on, entry.id));
                }
            }
        }
        found
    }

    /// Which entries a text with this print takes back (or brings back).
    pub(crate) fn find(&self, print: Print, prefer_redo: bool) -> Option<Match> {
        let undo = || {
            let depth = self.entries.iter().rev().take(DEPTH).position(|entry| entry.before == print)? + 1;
            let entries = self.entries.iter().rev().take(depth).cloned().collect();
            Some(Match { entries, redo: false })
        };
        let redo = || {
            let depth = self.undone.iter().rev().take(DEPTH).position(|entry| entry.after == print)? + 1;
            let entries = self.undone.iter().rev().take(depth).cloned().collect();
            Some(Match { entries, redo: true })
        };
        if prefer_redo { redo().or_else(undo) } else { undo().or_else(redo) }
    }

    /// Moves the entries of a match to the other side.
    pub(crate) fn turn(&mut self, found: &Match) {
        for _ in &found.entries {
            if found.redo {
                self.entries.extend(self.undone.pop());
            } else {
                self.undone.extend(self.entries.pop());
            }
        }
    }
}

impl Weave {
    /// Does a step again, or takes it back.
    pub(crate) fn replay(&mut self, step: &Step, back: bool) {
        match step {
            Step::Typed(ids) | Step::Regained(ids) => self.set_gone(*ids, back),
            Step::Removed(ids) => self.set_gone(*ids, !back),
            Step::Switched { hunk, on } => self.hunks[hunk.index()].in_buffer = *on != back,
            Step::Newline { was } => self.newline = *was == back,
        }
    }
}
