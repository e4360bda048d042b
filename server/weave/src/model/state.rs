//! The state itself: runs in order, hunks, and the two views.

use std::collections::VecDeque;
use std::sync::Arc;

use hashline_text::{Ending, Line, OwnedLine, Text};

use crate::model::base::Base;
use crate::model::hunk::{Conflict, Hunk, HunkId};
use crate::model::ids::Ids;
use crate::model::line::{IdRange, LineId, push_range};
use crate::model::run::{Held, Run};
use crate::model::runs::Runs;
use crate::model::spans::{Cover, Spans, spans_in};
use crate::shared::Shared;

/// Runs up to this number are never looked through for lines that can be dropped.
const FEW_RUNS: usize = 1024;

/// The lines of a document, each with the hunk that made it and the hunks that removed it, and what its views show.
///
/// It says what is and carries out what it is told, exactly; what a change of the editor's text was is for a [`Weave`](crate::Weave) to judge,
/// which can be asked for all that can be read here.
///
/// Clones share what they can until one of them is changed; a clone is how a switch is tried before it is made.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) runs: Runs,
    pub(super) hunks: Shared<Vec<Arc<Hunk>>>,
    /// Per hunk: whether it is in the buffer.
    pub(super) on: Vec<bool>,
    /// Per hunk: rejected or withdrawn, in no view until that is taken back.
    pub(super) refused: Vec<bool>,
    /// Per hunk: whether its place in the text is no longer certain (rule W17).
    pub(super) lost: Vec<bool>,
    /// Lines from this one on came after the latest change that nobody watched (rule W17).
    pub(super) watched_from: LineId,
    pub(super) next_line: u64,
    pub(super) buffer: Text,
    /// What the person says of the newline at the end (rule W1). A text without lines says nothing about it; an *empty* last
    /// line always has its ending, as it would not be a line otherwise.
    pub(super) newline: Newline,
    /// The ending that the buffer's last line has, or would have if lines followed it.
    pub(super) ending: Ending,
    /// Counts what changes a view.
    pub(super) revision: u64,
    /// Counts what may change how hunks stand.
    pub(super) standing: u64,
    /// Counts the changes of the lines themselves: while it stays, the agent view differs from what it was by hunks alone.
    pub(super) shape: u64,
    pub(super) agent: AgentView,
    /// What is hidden until it is recorded elsewhere.
    pub(super) concealed: Option<Concealed>,
    /// Hidden lines that stand ready for plans, oldest first.
    pub(super) spares: VecDeque<IdRange>,
    /// How many runs there were after they were last looked through for lines that can be dropped.
    pub(super) kept_runs: usize,
    /// The identities of the latest snapshot, for the next to share.
    pub(super) served_ids: Ids,
    /// What the file has, where that is known by its lines.
    pub(super) base: Option<Base>,
}

/// The agent view, as of a revision of the weave.
#[derive(Clone, Debug)]
pub(super) struct AgentView {
    pub revision: u64,
    /// The shape of the weave then.
    pub shape: u64,
    pub text: Text,
    /// Per hunk: whether it is in the view.
    pub on: Vec<bool>,
    /// Per hunk that is held: what keeps it out of the view.
    pub conflicts: Vec<Option<Conflict>>,
}

/// The agent view as it was with hunks that have been concealed since.
#[derive(Clone, Debug)]
pub(super) struct Concealed {
    /// Of the weave, when they were.
    pub revision: u64,
    pub view: AgentView,
}

impl AgentView {
    fn of_buffer(text: &Text) -> Self {
        Self { revision: 0, shape: 0, text: text.clone(), on: Vec::new(), conflicts: Vec::new() }
    }
}

/// The person's word on the newline at the end, and how many hunks were recorded before it (rule W1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Newline {
    pub(super) there: bool,
    pub(super) since: usize,
}

/// One of the two texts of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// What the editor has.
    Buffer,
    /// What agents read: the buffer with the held hunks in it.
    Agent,
}

impl Model {
    /// A model without hunks over a text.
    pub(crate) fn new(text: Text) -> Self {
        let lines = text.line_count();
        let runs = if lines == 0 { Vec::new() } else { vec![Run::plain(LineId(0), lines)] };
        Self {
            runs: runs.into(),
            hunks: Vec::new().into(),
            on: Vec::new(),
            refused: Vec::new(),
            lost: Vec::new(),
            watched_from: LineId(0),
            next_line: lines as u64,
            newline: Newline { there: text.is_empty() || text.ends_with_newline(), since: 0 },
            ending: text.ending_for_insert(Line(lines)),
            revision: 0,
            standing: 0,
            shape: 0,
            agent: AgentView::of_buffer(&text),
            concealed: None,
            spares: VecDeque::new(),
            kept_runs: 0,
            served_ids: Ids::default(),
            base: None,
            buffer: text,
        }
    }

    /// The text that the editor has.
    #[must_use]
    pub fn buffer(&self) -> &Text {
        &self.buffer
    }

    /// A number that grows with every change of a view.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// A number that grows when hunks may have come or gone, or may be in conflict or no longer. It stays while lines are typed where no
    /// held hunk is near.
    #[must_use]
    pub fn standing(&self) -> u64 {
        self.standing
    }

    /// The hunks, in the order of record.
    pub fn hunks(&self) -> impl Iterator<Item = HunkId> + use<> {
        (0..self.hunks.len() as u32).map(HunkId)
    }

    /// The runs in order.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Per hunk: whether it is in the buffer.
    pub(crate) fn on(&self) -> &[bool] {
        &self.on
    }

    pub(super) fn hunk(&self, id: HunkId) -> &Hunk {
        &self.hunks[id.index()]
    }

    /// Whether the hunk is in the editor's text.
    #[must_use]
    pub fn in_buffer(&self, id: HunkId) -> bool {
        self.on[id.index()]
    }

    /// The lines that the hunk takes away, as they were when it was recorded.
    pub fn removed(&self, id: HunkId) -> impl Iterator<Item = &OwnedLine> {
        self.hunk(id).removed.iter().map(|removed| &removed.line)
    }

    /// The lines that the hunk puts there, as it was recorded.
    #[must_use]
    pub fn proposed(&self, id: HunkId) -> &[OwnedLine] {
        &self.hunk(id).proposed
    }

    /// Ids for new lines.
    pub(super) fn fresh(&mut self, len: usize) -> IdRange {
        let first = LineId(self.next_line);
        self.next_line += len as u64;
        IdRange { first, len }
    }

    /// Notes that a view may show something else.
    pub(super) fn touch(&mut self) {
        self.revision += 1;
        self.standing += 1;
        self.runs.forget_places();
    }

    /// Notes that the lines are others, or read otherwise: what the agent view was says nothing about what it is.
    pub(crate) fn reshape(&mut self) {
        self.shape += 1;
        self.touch();
    }

    /// Whether a text ends with a newline when the hunks that `on` names are on: the latest word on it counts (rule W1).
    pub(super) fn newline_under(&self, on: impl Fn(HunkId) -> bool) -> bool {
        let later = self.hunks.iter().enumerate().skip(self.newline.since).rev();
        let mut words =
            later.filter(|(index, _)| on(HunkId(*index as u32))).filter_map(|(_, hunk)| hunk.newline);
        words.next().unwrap_or(self.newline.there)
    }

    /// Cuts runs so that visible line `line` starts a run, and returns that run's index; where the view ends before, the
    /// index behind the last visible run. Runs that are not visible and lie between come before it.
    pub(super) fn cut_at(&mut self, line: usize, visible: impl Fn(&Run) -> bool) -> usize {
        let mut at = 0;
        let mut behind_last = 0;
        for index in 0..self.runs.len() {
            if !visible(&self.runs[index]) {
                continue;
            }
            if at == line {
                return index;
            }
            let len = self.runs[index].len();
            if line < at + len {
                let mut head = self.runs[index].clone();
                let tail = head.split_off(line - at);
                self.runs.put(index..index + 1, [head, tail]);
                return index + 1;
            }
            at += len;
            behind_last = index + 1;
        }
        behind_last
    }

    /// Gives a run that lies in the buffer's rope its own copy of its content.
    pub(super) fn hold(&mut self, index: usize) {
        if self.runs[index].held.is_none() {
            let start = self.runs[..index].iter().filter(|run| run.shown).map(Run::len).sum();
            let lines = self.buffer_lines(start, self.runs[index].len());
            self.runs[index].held = Some(Held::new(lines));
        }
    }

    /// Lines of the buffer.
    pub(super) fn buffer_lines(&self, start: usize, len: usize) -> Vec<OwnedLine> {
        self.buffer.lines(start..start + len).map(|line| line.to_owned_line(self.ending)).collect()
    }

    /// Joins neighbouring runs that need not be apart, and drops the copies that plain runs do not need.
    pub(crate) fn join_runs(&mut self) {
        for run in self.runs.iter_mut().filter(|run| run.is_plain() && run.shown) {
            run.held = None;
        }
        self.runs.dedup_by(|next, last| last.join(next));
    }

    /// Whether there are so many more runs that it is time to look for lines that can be [dropped](Self::drop_forgotten).
    pub(crate) fn has_many_runs(&self) -> bool {
        self.runs.len() > FEW_RUNS.max(2 * self.kept_runs)
    }

    /// Drops lines that the person removed and that neither a hunk nor a plan nor the file speaks of, nor `known` (rule W2).
    pub(crate) fn drop_forgotten(&mut self, mut known: Vec<IdRange>) {
        known.extend(&self.spares);
        known.extend(self.base.iter().flat_map(Base::lines));
        known.sort_unstable_by_key(|range| range.first);
        // Ranges may overlap: what counts is how far those that begin before a line reach.
        let mut reach = 0;
        let reaches: Vec<(u64, u64)> = known
            .iter()
            .map(|range| {
                reach = range.end().max(reach);
                (range.first.0, reach)
            })
            .collect();
        self.runs.retain(|run| {
            let at = reaches.partition_point(|(first, _)| *first < run.ids.end());
            let known = at > 0 && reaches[at - 1].1 > run.ids.first.0;
            known || !run.gone || !run.is_nobodys()
        });
        self.kept_runs = self.runs.len();
    }

    /// Forgets what is kept for the case that the latest things are taken back: lines that stand ready, and a view.
    pub(crate) fn forget_past(&mut self) {
        self.spares.clear();
        self.concealed = None;
    }

    /// Notes that the lines which come from now on came after something that nobody watched (rule W17).
    pub(crate) fn cross(&mut self) {
        // An id that no line has: the next one of a state before is below it, that of a state after is not.
        self.next_line += 1;
        self.watched_from = LineId(self.next_line);
    }

    /// Goes on with the numbers where a later state is, so that none is given twice.
    pub(crate) fn number_from(&mut self, later: &Self) {
        self.revision = later.revision;
        self.standing = later.standing + 1;
        self.next_line = later.next_line;
    }

    /// Refuses the hunks that are refused in another state with the same hunks, and no others.
    pub(crate) fn refuse_as(&mut self, other: &Self) {
        self.refused.clone_from(&other.refused);
    }

    /// The ids of the lines of a view, in order.
    pub(crate) fn ids(&self, visible: impl Fn(&Run) -> bool) -> Vec<IdRange> {
        let mut ids = Vec::new();
        for run in self.runs.iter().filter(|run| visible(run)) {
            push_range(&mut ids, run.ids);
        }
        ids
    }

    /// The first and last run of each hunk: its span (rule W4). None for a hunk that neither made nor removed a line that is
    /// still known.
    pub(crate) fn spans(&self) -> Spans {
        spans_in(&self.runs, self.hunks.len())
    }

    /// How many spans each place among the runs lies inside.
    pub(crate) fn cover(&self) -> Cover {
        Cover::of(&self.spans(), self.runs.len())
    }

    /// How far each hunk reaches: its span, and the person's own lines that came with it, as far as they are there.
    pub(super) fn extents(&self) -> Spans {
        let mut extents = self.spans();
        for (hunk, extent) in self.hunks.iter().zip(&mut extents) {
            let Some(own) = hunk.own else { continue };
            let is_own = |run: &Run| !run.gone && own.contains(run.ids.first);
            for index in (0..self.runs.len()).filter(|index| is_own(&self.runs[*index])) {
                *extent =
                    Some(extent.map_or((index, index), |(first, last)| (first.min(index), last.max(index))));
            }
        }
        extents
    }
}
