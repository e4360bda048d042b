//! Recording what an agent changes (rules W5, W10), and taking back what could not be recorded elsewhere.

use std::sync::Arc;

use hashline_text::Ending;

use crate::model::error::WeaveError;
use crate::model::hunk::{Change, Hunk, HunkId, Removed};
use crate::model::line::{IdRange, LineId};
use crate::model::run::{Held, Removers, Run};
use crate::model::spans::Spans;
use crate::model::state::{AgentView, Concealed, Model};

impl Model {
    /// Records changes of the agent view as hunks, in text order. They are held: in the agent view, not in the buffer. The last of them may say
    /// whether the text ends with a newline afterwards (rule W1). Nothing is recorded where that is refused.
    pub(crate) fn record(
        &mut self,
        changes: &[Change],
        newline: Option<bool>,
    ) -> Result<Vec<HunkId>, WeaveError> {
        self.refresh();
        Self::check_changes(changes, self.agent.text.line_count())?;
        let on = self.agent.on.clone();
        let in_view = |run: &Run| run.visible(|hunk| on.get(hunk.index()).copied().unwrap_or(false));
        let ids = self.weave_all(changes, newline, &on, in_view);
        self.touch();
        self.refresh();
        if ids.iter().any(|id| !self.agent.on[id.index()]) {
            self.unrecord(&ids);
            return Err(WeaveError::EndingsWouldJoin);
        }
        Ok(ids)
    }

    /// Weaves hunks in that change a text of which these hunks are part, and whose lines are in these runs.
    pub(super) fn weave_all(
        &mut self,
        changes: &[Change],
        newline: Option<bool>,
        on: &[bool],
        in_text: impl Fn(&Run) -> bool + Copy,
    ) -> Vec<HunkId> {
        let first = self.hunks.len();
        let ids: Vec<HunkId> = (first..first + changes.len()).map(|index| HunkId(index as u32)).collect();
        // Placeholders first: runs name hunks of this call before all of them are complete.
        for (index, change) in changes.iter().enumerate() {
            let hunk = Hunk {
                removed: Vec::new(),
                made: self.fresh(change.new.len()),
                proposed: change.new.clone(),
                before: None,
                after: None,
                depends: Vec::new(),
                dependents: Vec::new(),
                collides: Vec::new(),
                newline: newline.filter(|_| index + 1 == changes.len()),
                own: None,
            };
            self.hunks.push(Arc::new(hunk));
            self.on.push(false);
            self.refused.push(false);
            self.lost.push(false);
        }
        // From the last to the first, so that line numbers stay true.
        for (change, id) in changes.iter().zip(&ids).rev() {
            self.weave_in(change, *id, in_text);
        }
        let spans = self.spans();
        for id in &ids {
            self.relate(*id, &spans, on);
        }
        ids
    }

    /// Whether changes can be those of a text of so many lines.
    pub(super) fn check_changes(changes: &[Change], lines: usize) -> Result<(), WeaveError> {
        let mut free = 0;
        for (index, change) in changes.iter().enumerate() {
            let idle = change.lines.is_empty() && change.new.is_empty();
            let touches = index > 0 && change.lines.start <= free;
            if change.lines.start > change.lines.end || change.lines.end > lines || touches || idle {
                return Err(WeaveError::BadChange { index, lines });
            }
            if change.new.iter().any(|line| Ending::find(line.content.as_bytes()).is_some()) {
                return Err(WeaveError::ContentHoldsEnding { index });
            }
            free = change.lines.end;
        }
        Ok(())
    }

    /// Keeps hunks that were recorded last out of both views, until they are [revealed](Self::reveal) or
    /// [taken back](Self::unrecord).
    pub(crate) fn conceal(&mut self, ids: &[HunkId]) {
        self.refresh();
        let view = self.agent.clone();
        ids.iter().for_each(|id| self.refused[id.index()] = true);
        self.touch();
        self.concealed = Some(Concealed { revision: self.revision, view });
    }

    /// Shows hunks that were concealed; others it does not know. Where nothing has changed since, the agent view is the very one that it was before.
    pub(crate) fn reveal(&mut self, ids: &[HunkId]) {
        let concealed = self.concealed.take().filter(|concealed| concealed.revision == self.revision);
        for id in ids {
            if let Some(refused) = self.refused.get_mut(id.index()) {
                *refused = false;
            }
        }
        self.touch();
        if let Some(Concealed { view, .. }) = concealed {
            self.agent = AgentView { revision: self.revision, ..view };
            self.runs.forget_places();
        }
    }

    /// Takes back the hunks that were recorded last, as if they had never been. Where there is a later one, or one of these is on, nothing
    /// happens, and the answer is false.
    pub(crate) fn unrecord(&mut self, ids: &[HunkId]) -> bool {
        let kept = self.hunks.len() - ids.len().min(self.hunks.len());
        let first = HunkId(kept as u32);
        let last = ids.iter().all(|id| *id >= first && id.index() < self.hunks.len());
        if !last || self.on[kept..].contains(&true) {
            return false;
        }
        self.hunks.truncate(kept);
        self.on.truncate(kept);
        self.refused.truncate(kept);
        self.lost.truncate(kept);
        self.newline.since = self.newline.since.min(kept);
        self.runs.retain(|run| run.maker.is_none_or(|maker| maker < first));
        for run in self.runs.iter_mut() {
            run.removers.retain(|remover| *remover < first);
        }
        for hunk in self.hunks.iter_mut() {
            if hunk.dependents.iter().chain(&hunk.collides).any(|other| *other >= first) {
                let hunk = Arc::make_mut(hunk);
                hunk.dependents.retain(|other| *other < first);
                hunk.collides.retain(|other| *other < first);
            }
        }
        self.concealed = None;
        self.reshape();
        self.join_runs();
        true
    }

    fn weave_in(&mut self, change: &Change, id: HunkId, in_view: impl Fn(&Run) -> bool + Copy) {
        let before = change.lines.start.checked_sub(1).and_then(|line| self.id_at(line, in_view));
        let after = self.id_at(change.lines.end, in_view);
        let mut removed = Vec::with_capacity(change.lines.len());
        let at = if change.lines.is_empty() {
            self.place(change.lines.start, in_view)
        } else {
            let mut index = self.cut_at(change.lines.start, in_view);
            self.cut_at(change.lines.end, in_view);
            while removed.len() < change.lines.len() {
                if in_view(&self.runs[index]) {
                    self.hold(index);
                    let run = &mut self.runs[index];
                    run.removers.push(id);
                    let lines = run.lines().iter().enumerate();
                    removed.extend(lines.map(|(n, line)| Removed { id: run.ids.at(n), line: line.clone() }));
                }
                index += 1;
            }
            index
        };
        let hunk = Arc::make_mut(&mut self.hunks[id.index()]);
        hunk.removed = removed;
        hunk.before = before;
        hunk.after = after;
        if hunk.made.len > 0 {
            let held = Some(Held::new(hunk.proposed.as_slice()));
            let run = Run {
                ids: hunk.made,
                maker: Some(id),
                removers: Removers::new(),
                gone: false,
                held,
                shown: false,
            };
            self.runs.insert(at, run);
        }
    }

    /// The id of a line of a view.
    fn id_at(&self, line: usize, visible: impl Fn(&Run) -> bool) -> Option<LineId> {
        let mut at = 0;
        for run in self.runs.iter().filter(|run| visible(run)) {
            if line < at + run.len() {
                return Some(run.ids.at(line - at));
            }
            at += run.len();
        }
        None
    }

    /// Where among the runs new lines before visible line `line` go (rule W5): the position inside the fewest spans; of equals the
    /// first.
    fn place(&mut self, line: usize, visible: impl Fn(&Run) -> bool + Copy) -> usize {
        let next = self.cut_at(line, visible);
        let mut first = next;
        while first > 0 && !visible(&self.runs[first - 1]) {
            first -= 1;
        }
        // Behind the last visible line there may be hidden runs, too.
        let mut last = next;
        while last < self.runs.len() && !visible(&self.runs[last]) {
            last += 1;
        }
        if first == last {
            return first;
        }
        let cover = self.cover();
        (first..=last).min_by_key(|at| cover.before(*at)).unwrap_or(first)
    }

    /// What the hunk rests on and what it collides with (rule W4).
    fn relate(&mut self, id: HunkId, spans: &Spans, on: &[bool]) {
        let is_on = |hunk: HunkId| on.get(hunk.index()).copied().unwrap_or(false);
        let Some((first, last)) = spans[id.index()] else { return };
        let mut depends = Vec::new();
        let mut collides = Vec::new();
        for run in &self.runs[first..=last] {
            let removes = run.removers.contains(&id);
            for maker in run.maker.iter().filter(|maker| **maker < id) {
                match is_on(*maker) {
                    true if removes => depends.push(*maker),
                    true => {}
                    false => collides.push(*maker),
                }
            }
            for remover in run.removers.iter().filter(|remover| **remover < id) {
                match is_on(*remover) {
                    true => depends.push(*remover),
                    false if removes => collides.push(*remover),
                    false => {}
                }
            }
        }
        for (index, span) in spans.iter().enumerate().take(on.len()) {
            let other = HunkId(index as u32);
            let Some((from, to)) = *span else { continue };
            let has_a_line = (from.max(first)..=to.min(last)).any(|at| self.runs[at].belongs_to(id));
            if has_a_line {
                if is_on(other) { &mut depends } else { &mut collides }.push(other);
            }
        }
        for list in [&mut depends, &mut collides] {
            list.sort_unstable();
            list.dedup();
        }
        for other in &collides {
            Arc::make_mut(&mut self.hunks[other.index()]).collides.push(id);
        }
        for other in &depends {
            Arc::make_mut(&mut self.hunks[other.index()]).dependents.push(id);
        }
        let hunk = Arc::make_mut(&mut self.hunks[id.index()]);
        hunk.depends = depends;
        hunk.collides = collides;
    }

    /// The lines of a view as runs of ids.
    pub(super) fn agent_ids(&mut self) -> Vec<IdRange> {
        self.refresh();
        let on = &self.agent.on;
        self.ids(|run| run.visible(|hunk| on[hunk.index()]))
    }
}
