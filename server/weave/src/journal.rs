//! The journal (rule W7): what the latest changes of the buffer did to the structure, so that a change which exactly takes one back
//! takes back identities and presence as well.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use hashline_text::{Ending, LineRef, Text};

use crate::hunk::HunkId;
use crate::line::IdRange;
use crate::run::Held;
use crate::shared::Shared;

/// How many changes are kept, and how many bytes they may keep from being dropped.
const KEPT: usize = 1000;
const BYTES: usize = 8 << 20;
/// What an entry takes besides: itself, and the parts of its text that no other shares.
const OWN_BYTES: usize = 4096;
/// How many changes one step of the editor's undo may take back at once.
const DEPTH: usize = 256;

/// A change in the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JournalId(u64);

/// What a text looks like from afar, against the text that the weave began with: a sum over pairs of neighbouring lines, which a
/// change keeps up to date at the cost of the lines that it touches, and their number. Texts of one weave with different prints
/// differ; those with one print may be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Print {
    sum: u64,
    lines: usize,
    pub newline: bool,
}

impl Print {
    /// The print of the text that a weave begins with.
    pub(crate) fn first(text: &Text) -> Self {
        Self { sum: 0, lines: text.line_count(), newline: text.ends_with_newline() }
    }

    /// The print after lines of `old` have become lines of `new`.
    pub(crate) fn after(
        self,
        old: &Text,
        new: &Text,
        regions: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    ) -> Self {
        let sum = regions.fold(self.sum, |total, (left, right)| {
            total.wrapping_sub(pairs(old, left)).wrapping_add(pairs(new, right))
        });
        Self { sum, lines: new.line_count(), newline: new.ends_with_newline() }
    }
}

/// The sum over the pairs of which one line or both lie in the range, and over the pair around an empty range.
fn pairs(text: &Text, lines: Range<usize>) -> u64 {
    let mut around =
        text.lines(lines.start.saturating_sub(1)..lines.end + 1).map(|line| hash(&line.content()));
    let mut last = if lines.start == 0 { 1 } else { around.next().unwrap_or(1) };
    around.fold(0, |total, this| {
        let pair = mix(last.rotate_left(23) ^ mix(this));
        last = this;
        total.wrapping_add(pair)
    })
}

fn hash(content: &str) -> u64 {
    let mut bytes = content.as_bytes().chunks_exact(8);
    let mut sum = content.len() as u64;
    for eight in &mut bytes {
        let eight = eight.try_into().map_or(0, u64::from_le_bytes);
        sum = mix(sum ^ eight);
    }
    bytes.remainder().iter().fold(sum, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Spreads the bits of a number (the end of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Whether two texts differ in nothing but the endings of their lines.
pub(crate) fn same_lines(left: &Text, right: &Text) -> bool {
    let same = |(l, r): (LineRef<'_>, LineRef<'_>)| match l.as_str() {
        Some(content) => r.content_eq(content),
        None => l.content() == r.content(),
    };
    let sizes = |text: &Text| (text.line_count(), text.ends_with_newline());
    left == right || (sizes(left) == sizes(right) && left.all_lines().zip(right.all_lines()).all(same))
}

/// One thing that a change did. The contents of lines that stay shown are not among them: a line that returns to an earlier
/// content is as it was.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Typed(IdRange),
    Removed(IdRange),
    Regained(IdRange),
    Switched {
        hunk: HunkId,
        on: bool,
        turned: Option<Turned>,
    },
    /// Lines were hidden and came to be shown, and this is how they were. Once hidden again they are so again, whatever
    /// became of them meanwhile.
    Shown {
        ids: IdRange,
        was: Held,
    },
    /// The same taken back.
    Hidden {
        ids: IdRange,
        was: Held,
    },
    /// The ending that the last line has or would have.
    Ending {
        was: Ending,
        is: Ending,
    },
    /// What the person said about the newline at the end, before and after.
    Newline {
        was: Newline,
        is: Newline,
    },
}

/// Which switch a switch took back, or made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turned {
    pub origin: JournalId,
    pub undone: bool,
}

impl Step {
    /// What takes this step of an entry back.
    pub(crate) fn inverse(&self, entry: JournalId) -> Self {
        match self {
            Self::Typed(ids) | Self::Regained(ids) => Self::Removed(*ids),
            Self::Removed(ids) => Self::Regained(*ids),
            Self::Switched { hunk, on, turned } => {
                let undone = !turned.is_some_and(|turned| turned.undone);
                let origin = turned.map_or(entry, |turned| turned.origin);
                Self::Switched { hunk: *hunk, on: !on, turned: Some(Turned { origin, undone }) }
            }
            Self::Shown { ids, was } => Self::Hidden { ids: *ids, was: was.clone() },
            Self::Hidden { ids, was } => Self::Shown { ids: *ids, was: was.clone() },
            Self::Ending { was, is } => Self::Ending { was: *is, is: *was },
            Self::Newline { was, is } => Self::Newline { was: *is, is: *was },
        }
    }
}

/// The person's word on the newline at the end, and how many hunks were recorded before it (rule W1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Newline {
    pub there: bool,
    pub since: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub id: JournalId,
    pub steps: Vec<Step>,
    /// The text before, which shares with the others what is equal, and what it looks like from afar.
    text: Text,
    before: Print,
    /// About how many bytes the entry keeps in memory, removed lines included.
    bytes: usize,
    switches: bool,
}

/// What has happened, the latest last. To take something back is a change like any other: so whatever text comes, if it is one
/// of those before, all that was done since can be taken back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    entries: Shared<VecDeque<Arc<Entry>>>,
    next: u64,
    bytes: usize,
    /// The print of the buffer.
    pub print: Print,
}

impl Journal {
    pub(crate) fn new(text: &Text) -> Self {
        Self { print: Print::first(text), ..Self::default() }
    }

    /// Adds an entry for a change of a text; `pinned` is how many bytes of lines it keeps in memory.
    pub(crate) fn push(&mut self, steps: Vec<Step>, text: Text, before: Print, pinned: usize) -> JournalId {
        let id = JournalId(self.next);
        self.next += 1;
        let bytes = pinned + OWN_BYTES + steps.len() * size_of::<Step>();
        let switches = steps.iter().any(|step| matches!(step, Step::Switched { .. }));
        let entry = Entry { id, steps, text, before, bytes, switches };
        self.entries.push_back(Arc::new(entry));
        self.bytes += bytes;
        while self.entries.len() > KEPT || (self.bytes > BYTES && self.entries.len() > 1) {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.bytes);
        }
        id
    }

    /// Adds changes of contents alone. They need no steps; but a text that is as before them is to be known again. Those that
    /// follow one another are one entry.
    pub(crate) fn push_contents(&mut self, text: Text, before: Print) {
        if self.entries.back().is_none_or(|last| !last.steps.is_empty()) {
            self.push(Vec::new(), text, before, 0);
        }
    }

    /// Goes on with the numbers where another journal is, so that none is given twice.
    pub(crate) fn number_from(&mut self, other: &Self) {
        self.next = self.next.max(other.next);
    }

    /// The hunks whose switches are in the journal, with what it is to take back the newest of each: newest first.
    pub(crate) fn switches(&self) -> Vec<(HunkId, Turned)> {
        let mut known: Vec<bool> = Vec::new();
        let mut found = Vec::new();
        for entry in self.entries.iter().rev().filter(|entry| entry.switches) {
            for step in &entry.steps {
                let Step::Switched { hunk, .. } = step else { continue };
                if known.len() <= hunk.index() {
                    known.resize(hunk.index() + 1, false);
                }
                if !std::mem::replace(&mut known[hunk.index()], true)
                    && let Step::Switched { turned: Some(turned), .. } = step.inverse(entry.id)
                {
                    found.push((*hunk, turned));
                }
            }
        }
        found
    }

    /// Whether a switch of this hunk or a later one is in the journal.
    pub(crate) fn names_from(&self, hunk: HunkId) -> bool {
        self.switches().iter().any(|(named, ..)| *named >= hunk)
    }

    /// The ids of all lines that the entries speak of, in no order.
    pub(crate) fn ids(&self) -> Vec<IdRange> {
        let ids = |step: &Step| match step {
            Step::Typed(ids) | Step::Removed(ids) | Step::Regained(ids) => Some(*ids),
            Step::Shown { ids, .. } | Step::Hidden { ids, .. } => Some(*ids),
            Step::Switched { .. } | Step::Ending { .. } | Step::Newline { .. } => None,
        };
        self.entries.iter().flat_map(|entry| &entry.steps).filter_map(ids).collect()
    }

    /// What takes everything back that was done since the text was this one: the newest entry first.
    pub(crate) fn back_to(&self, text: &Text, print: Print) -> Option<Vec<Vec<Step>>> {
        let newest = || self.entries.iter().rev();
        let is_it = |entry: &Arc<Entry>| entry.before == print && same_lines(&entry.text, text);
        let depth = newest().take(DEPTH).position(is_it)? + 1;
        let inverse = |entry: &Arc<Entry>| entry.steps.iter().map(|step| step.inverse(entry.id)).collect();
        Some(newest().take(depth).map(inverse).collect())
    }
}
