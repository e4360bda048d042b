//! Runs: lines that share who made them, who removed them and what the person did.

use std::sync::Arc;

use hashline_text::OwnedLine;
use smallvec::SmallVec;

use crate::model::hunk::HunkId;
use crate::model::line::{IdRange, LineId};

/// About how many bytes a piece of memory takes besides what is in it.
const HEAP: usize = 16;

/// Runs that hold their lines are joined up to this length, as joining copies them.
const JOINED: usize = 64;

/// The hunks that remove some lines: hardly ever more than a few, and copied with every run.
pub type Removers = SmallVec<[HunkId; 4]>;

/// Lines with ids that follow one another and a common fate.
///
/// A *plain* run was made by nobody (it was there, or the person typed it) and removed by nobody; it is visible in
/// every view, so its content lies in the views' ropes alone. Every other run holds its content itself.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(super) ids: IdRange,
    pub(super) maker: Option<HunkId>,
    pub(super) removers: Removers,
    /// The person removed these lines.
    pub(super) gone: bool,
    /// The content, for all but plain runs. While the run is shown, the endings in it may be out of date.
    pub(super) held: Option<Held>,
    /// Whether the lines stand in the buffer's rope at this moment.
    pub(super) shown: bool,
}

/// The lines that a run holds: a part of a shared list, so that cutting a run copies nothing.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    lines: Arc<[OwnedLine]>,
    from: usize,
}

impl Held {
    pub(super) fn new(lines: impl Into<Arc<[OwnedLine]>>) -> Self {
        Self { lines: lines.into(), from: 0 }
    }

    /// Some of the lines.
    pub(crate) fn part(&self, lines: std::ops::Range<usize>) -> &[OwnedLine] {
        &self.lines[self.from + lines.start..self.from + lines.end]
    }
}

/// About how many bytes lines take that are held.
pub(crate) fn bytes_of_lines(lines: &[OwnedLine]) -> usize {
    lines.iter().map(|line| size_of::<OwnedLine>() + HEAP + line.content.len()).sum()
}

impl Run {
    /// Lines that are visible in every view.
    pub(super) fn plain(first: LineId, len: usize) -> Self {
        let ids = IdRange { first, len };
        Self { ids, maker: None, removers: Removers::new(), gone: false, held: None, shown: true }
    }

    /// The identities of the lines.
    pub(crate) fn ids(&self) -> IdRange {
        self.ids
    }

    /// Whether the person removed the lines.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether the lines stand in the buffer at this moment.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown
    }

    /// The content, for all but plain runs.
    pub(crate) fn held(&self) -> Option<&Held> {
        self.held.as_ref()
    }

    pub(super) fn is_plain(&self) -> bool {
        self.is_nobodys() && !self.gone
    }

    /// Whether no hunk has anything to do with these lines.
    pub(super) fn is_nobodys(&self) -> bool {
        self.maker.is_none() && self.removers.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len
    }

    /// The lines that the run holds; none where they lie in the rope alone.
    pub(crate) fn lines(&self) -> &[OwnedLine] {
        self.held.as_ref().map_or(&[], |held| held.part(0..self.ids.len))
    }

    /// Whether the lines are visible when the hunks that `on` names are on.
    pub(crate) fn visible(&self, on: impl Fn(HunkId) -> bool) -> bool {
        !self.gone && self.allowed(on)
    }

    /// Whether the hunks allow the lines to be visible, whatever the person did.
    pub(crate) fn allowed(&self, on: impl Fn(HunkId) -> bool) -> bool {
        self.maker.is_none_or(&on) && !self.removers.iter().any(|remover| on(*remover))
    }

    /// Whether this hunk made or removed these lines.
    pub(super) fn belongs_to(&self, hunk: HunkId) -> bool {
        self.maker == Some(hunk) || self.removers.contains(&hunk)
    }

    /// Cuts the run before its line `at` (0 < at < len) and returns the second part.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        let held = self.held.as_ref();
        let tail = Self {
            ids: IdRange { first: self.ids.at(at), len: self.ids.len - at },
            held: held.map(|held| Held { lines: Arc::clone(&held.lines), from: held.from + at }),
            removers: self.removers.clone(),
            ..*self
        };
        self.ids.len = at;
        tail
    }

    /// Whether `next` could be the rest of this run.
    fn continues_in(&self, next: &Self) -> bool {
        self.ids.first.0 + self.ids.len as u64 == next.ids.first.0
            && self.maker == next.maker
            && self.gone == next.gone
            && self.shown == next.shown
            && self.removers == next.removers
    }

    /// Takes `next` in as the rest of this run, where that is possible and cheap.
    pub(super) fn join(&mut self, next: &Self) -> bool {
        if !self.continues_in(next) {
            return false;
        }
        let len = self.ids.len + next.ids.len;
        match (&self.held, &next.held) {
            (None, None) => {}
            (Some(head), Some(tail)) => {
                let one = Arc::ptr_eq(&head.lines, &tail.lines) && head.from + self.ids.len == tail.from;
                if !one && len > JOINED {
                    return false;
                }
                if !one {
                    let lines: Vec<OwnedLine> = self.lines().iter().chain(next.lines()).cloned().collect();
                    self.held = Some(Held::new(lines));
                }
            }
            _ => return false,
        }
        self.ids.len = len;
        true
    }
}
