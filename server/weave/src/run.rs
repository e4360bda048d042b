//! Runs: lines that share who made them, who removed them and what the person did.

use std::sync::Arc;

use hashline_text::OwnedLine;

use crate::hunk::HunkId;
use crate::line::{IdRange, LineId};

/// Lines with ids that follow one another and a common fate.
///
/// A *plain* run was made by nobody (it was there, or the person typed it) and removed by nobody; it is visible in
/// every view, so its content lies in the views' ropes alone. Every other run holds its content itself.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub ids: IdRange,
    pub maker: Option<HunkId>,
    pub removers: Vec<HunkId>,
    /// The person removed these lines.
    pub gone: bool,
    /// The content, for all but plain runs.
    pub held: Option<Arc<[OwnedLine]>>,
    /// Whether the lines stand in the buffer's rope at this moment.
    pub shown: bool,
}

impl Run {
    /// Lines that are visible in every view.
    pub(crate) fn plain(first: LineId, len: usize) -> Self {
        let ids = IdRange { first, len };
        Self { ids, maker: None, removers: Vec::new(), gone: false, held: None, shown: true }
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.maker.is_none() && self.removers.is_empty() && !self.gone
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len
    }

    /// Whether the lines are visible when the hunks that `on` names are on.
    pub(crate) fn visible(&self, on: impl Fn(HunkId) -> bool) -> bool {
        !self.gone && self.maker.is_none_or(&on) && !self.removers.iter().any(|remover| on(*remover))
    }

    /// Whether this hunk made or removed these lines.
    pub(crate) fn belongs_to(&self, hunk: HunkId) -> bool {
        self.maker == Some(hunk) || self.removers.contains(&hunk)
    }

    /// Cuts the run before its line `at` (0 < at < len) and returns the second part.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let tail = Self {
            ids: IdRange { first: self.ids.at(at), len: self.ids.len - at },
            maker: self.maker,
            removers: self.removers.clone(),
            gone: self.gone,
            held: self.held.as_ref().map(|held| held[at..].into()),
            shown: self.shown,
        };
        self.ids.len = at;
        if let Some(held) = &mut self.held {
            *held = held[..at].into();
        }
        tail
    }

    /// Whether `next` could be the rest of this run.
    pub(crate) fn continues_in(&self, next: &Self) -> bool {
        self.ids.first.0 + self.ids.len as u64 == next.ids.first.0
            && self.maker == next.maker
            && self.gone == next.gone
            && self.shown == next.shown
            && self.removers == next.removers
    }
}
