//! The buffer of an earlier state among all that was recorded since: which runs there are, and in which order.

use hashline_text::OwnedLine;

use crate::model::comparison::Lines;
use crate::model::delta::{Delta, NewHunk, RunState, push_state};
use crate::model::hunk::HunkId;
use crate::model::line::LineId;
use crate::model::run::Run;
use crate::model::spans::{Cover, spans_in};
use crate::model::state::Model;

impl Model {
    /// This state with all its hunks, but with the buffer as it was in `earlier`, an earlier state: the hunks that it has are on or off, and lost
    /// or not, as they were in it; those that were recorded since are off, and lost as they are here. None where that is no earlier state.
    pub(crate) fn with_buffer_of(&self, earlier: &Self) -> Option<Self> {
        let since = earlier.hunks.len();
        let made = |state: &Self| state.hunks.iter().take(since).map(|hunk| hunk.made).collect::<Vec<_>>();
        if made(self) != made(earlier) || earlier.next_line > self.next_line {
            return None;
        }
        let newer = || (since..self.hunks.len()).map(|at| HunkId(at as u32));
        let mut next_line = self.next_line;
        let mut contents = Vec::new();
        let runs = self.runs_with(earlier, |len, lines| {
            let first = LineId(next_line);
            next_line += len as u64;
            contents.push((first, lines));
            first
        })?;
        let (then, now) = (Lines::of(earlier), Lines::of(self));
        for run in &runs {
            for (ids, place) in then.parts(run.ids) {
                if place.is_some() {
                    continue;
                }
                // Lines that come back as new ones are told already. All others came since, so they are hidden.
                match run.maker.filter(|maker| maker.index() >= since) {
                    Some(maker) => {
                        let hunk = self.hunk(maker);
                        let from = (ids.first.0 - hunk.made.first.0) as usize;
                        contents.push((ids.first, hunk.proposed[from..from + ids.len].to_vec()));
                    }
                    None => {
                        let parts = now.parts(ids).into_iter();
                        contents.extend(
                            parts.filter_map(|(ids, place)| Some((ids.first, now.lines(place?, ids.len)))),
                        );
                    }
                }
            }
        }
        let delta = Delta {
            hunks: newer().map(|id| NewHunk::of(self.hunk(id), id)).collect(),
            switched: Vec::new(),
            refused: self.hunks().map(|id| (id, self.is_refused(id))).collect(),
            lost: newer().map(|id| (id, self.is_lost(id))).collect(),
            own: self.owned_since(earlier),
            runs: Some(runs),
            contents,
            next_line: LineId(next_line),
            watched_from: self.watched_from,
            newline: (earlier.newline.there, earlier.newline.since),
            ending: earlier.ending,
        };
        let mut back = earlier.clone();
        back.apply_delta(&delta).ok()?;
        if back.buffer != earlier.buffer {
            return None;
        }
        back.buffer = earlier.buffer.clone();
        back.revision = self.revision.max(back.revision) + 1;
        Some(back)
    }

    /// Whether a change that nobody watched lies between an earlier state and this one (rule W17).
    pub(crate) fn is_across(&self, earlier: &Self) -> bool {
        earlier.next_line < self.watched_from.0
    }

    /// This state with the hunks off that were recorded since an earlier one. None where the text cannot be without them.
    pub(crate) fn without_newer_than(&self, earlier: &Self) -> Option<Self> {
        let mut without = self.clone();
        without.on[earlier.hunks.len()..].fill(false);
        without.settle_buffer().ok()?;
        Some(without)
    }

    /// The runs of this weave in their order, as far as they are needed, and among them those that only the earlier state knows: of
    /// lines that the person removed since and that were forgotten. The person removed what they had removed then.
    ///
    /// A forgotten line is the same line again where its place among the others is beyond doubt. Between lines that came since it is
    /// not, and as lines never change their order it comes back as a new one there: `renewed` is told how it reads.
    fn runs_with(
        &self,
        earlier: &Self,
        mut renewed: impl FnMut(usize, Vec<OwnedLine>) -> LineId,
    ) -> Option<Vec<RunState>> {
        let pieces = self.pieces_of(earlier);
        let runs: Vec<Run> = pieces.iter().map(|(_, run)| run.clone()).collect();
        let known: Vec<(usize, usize)> =
            pieces.iter().zip(0..).filter_map(|((place, _), at)| Some(((*place)?, at))).collect();
        if !known.is_sorted() {
            return None;
        }
        let cover = Cover::of(&spans_in(&runs, self.hunks.len()), runs.len());
        let mut before: Vec<Vec<Run>> = vec![Vec::new(); runs.len() + 1];
        for (place, mut run, lines) in self.forgotten_since(earlier)? {
            let next = known.partition_point(|(other, _)| *other < place);
            let first = next.checked_sub(1).map_or(0, |last| known[last].1 + 1);
            let last = known.get(next).map_or(runs.len(), |(_, at)| *at);
            if first < last {
                run.ids.first = renewed(run.ids.len, lines);
            }
            // As where a new line goes (rule W5).
            let best = (first..=last).min_by_key(|at| cover.before(*at)).unwrap_or(first);
            before[best].push(run);
        }
        let mut states = Vec::new();
        let mut runs = runs.iter();
        for forgotten in &before {
            forgotten.iter().chain(runs.next()).for_each(|run| push_state(&mut states, run, run.ids));
        }
        Some(states)
    }

    /// The runs of this weave, cut as an earlier state knows them, each with its place among all lines of that one. Lines that it does
    /// not know came since, or were removed before; nobody's lines are left out then, unless a hunk speaks of them.
    fn pieces_of(&self, earlier: &Self) -> Vec<(Option<usize>, Run)> {
        let then = Lines::of(earlier);
        let starts = starts(&earlier.runs);
        let mut pieces = Vec::new();
        for run in self.runs.iter() {
            let mut rest = run.clone();
            for (ids, was) in then.parts(run.ids) {
                let next = (ids.len < rest.len()).then(|| rest.split_off(ids.len));
                rest.gone = was.map_or(run.maker.is_none(), |place| earlier.runs[place.run].gone);
                if was.is_some() || !rest.is_nobodys() {
                    pieces.push((was.map(|place| starts[place.run] + place.at), rest));
                }
                let Some(next) = next else { break };
                rest = next;
            }
        }
        pieces
    }

    /// The lines of an earlier state that are no longer known and were shown, with their places among all its lines, and as they read.
    /// None where they are not all nobody's.
    fn forgotten_since(&self, earlier: &Self) -> Option<Vec<(usize, Run, Vec<OwnedLine>)>> {
        let (then, now) = (Lines::of(earlier), Lines::of(self));
        let mut forgotten = Vec::new();
        for (run, start) in earlier.runs.iter().zip(starts(&earlier.runs)) {
            for (ids, _) in now.parts(run.ids).into_iter().filter(|(_, is)| is.is_none()) {
                if !run.is_nobodys() {
                    return None;
                }
                if run.gone {
                    continue;
                }
                for (ids, place) in then.parts(ids) {
                    let at = start + (ids.first.0 - run.ids.first.0) as usize;
                    forgotten.push((at, Run::plain(ids.first, ids.len), then.lines(place?, ids.len)));
                }
            }
        }
        Some(forgotten)
    }
}

/// The number of lines before each run, shown or not.
fn starts(runs: &[Run]) -> Vec<usize> {
    let mut line = 0;
    let start = |run: &Run| {
        line += run.len();
        line - run.len()
    };
    runs.iter().map(start).collect()
}
