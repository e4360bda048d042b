//! Putting hunks in as the person has rewritten them (rule W12): they are in the text, and what differs from their proposal is the
//! person's typing. Those lines are part of the hunks all the same: their agent hears of them, and taking a hunk out takes them.

use hashline_text::OwnedLine;

use crate::align::align_lines;
use crate::model::hunk::HunkId;
use crate::model::line::{IdRange, LineId, push_range};
use crate::model::plan::Plan;
use crate::model::run::{Held, Run};
use crate::model::state::Model;

/// A line between the first and the last of some hunks.
struct ShownLine {
    id: LineId,
    content: String,
    /// It is of another held hunk, and stays held.
    waits: bool,
}

/// The lines that `own` has left as they were, in pairs of places. Those of the hunks go before those that wait beside them: equal
/// ones, as blank lines are, must not stand for each other.
fn same_lines(shown: &[ShownLine], own: &[OwnedLine]) -> Vec<(usize, usize)> {
    let own: Vec<&str> = own.iter().map(|line| line.content.as_str()).collect();
    let same = |lines: Vec<usize>, from: usize, to: usize| -> Vec<(usize, usize)> {
        let contents: Vec<&str> = lines.iter().map(|at| shown[*at].content.as_str()).collect();
        align_lines(&contents, &own[from..to]).into_iter().map(|(o, n)| (lines[o], from + n)).collect()
    };
    let waits = |at: &usize| shown[*at].waits;
    let all = same((0..shown.len()).collect(), 0, own.len());
    let mut of_hunks = same((0..shown.len()).filter(|at| !waits(at)).collect(), 0, own.len());
    if all.iter().filter(|(at, _)| !waits(at)).count() >= of_hunks.len() {
        return all;
    }
    of_hunks.push((shown.len(), own.len()));
    let (mut pairs, mut o, mut n) = (Vec::new(), 0, 0);
    for (old_at, new_at) in of_hunks {
        pairs.extend(same((o..old_at).filter(waits).collect(), n, new_at));
        pairs.push((old_at, new_at));
        (o, n) = (old_at + 1, new_at + 1);
    }
    pairs.pop();
    pairs
}

impl Model {
    /// The plan that brings hunks that are one to the person into the text, with what they rest on, but reading as `own` says.
    pub(crate) fn plan_put_in_revised(&mut self, hunks: &[HunkId], own: &[OwnedLine]) -> Plan {
        let mut plan = Plan { on: self.with_prerequisites_of(hunks), ..Plan::default() };
        let would_show = self.shown_of(hunks, &plan.on);
        // An id is left out on both sides, so that the lines are never joined with others that are typed beside them.
        self.fresh(1);
        let first = LineId(self.next_line);
        let (mut o, mut n) = (0, 0);
        let mut pairs = same_lines(&would_show, own);
        pairs.push((would_show.len(), own.len()));
        for (old_at, new_at) in pairs {
            for line in would_show[o..old_at].iter().filter(|line| !line.waits) {
                push_range(&mut plan.drop, IdRange { first: line.id, len: 1 });
            }
            if n < new_at {
                // In the place of a line that goes, where one does.
                let goes = would_show[o..old_at].iter().find(|line| !line.waits);
                let before = goes.or(would_show.get(o)).map(|line| line.id);
                plan.revive.extend(self.spare_before(before, hunks, &own[n..new_at]));
            }
            (o, n) = (old_at + 1, new_at + 1);
        }
        let len = plan.revive.iter().map(|ids| ids.len).sum();
        if len > 0 {
            plan.own.extend(hunks.iter().map(|id| (*id, IdRange { first, len })));
        }
        self.fresh(1);
        plan
    }

    /// The lines from the first to the last that some hunks have made, as far as they would be visible if others came into the text,
    /// and what the agent view has between them.
    fn shown_of(&mut self, hunks: &[HunkId], with: &[HunkId]) -> Vec<ShownLine> {
        self.refresh();
        let on = |hunk: HunkId| self.in_buffer(hunk) || with.contains(&hunk);
        let in_agent_view = |hunk: HunkId| self.agent.on[hunk.index()];
        let made = |run: &Run| run.maker.is_some_and(|maker| hunks.contains(&maker)) && run.visible(on);
        let Some(first) = self.runs.iter().position(made) else { return Vec::new() };
        let last = self.runs.iter().rposition(made).unwrap_or(first);
        let mut line = self.runs[..first].iter().filter(|run| run.shown).map(Run::len).sum();
        let mut shown = Vec::new();
        for run in &self.runs[first..=last] {
            let start = line;
            line += if run.shown { run.len() } else { 0 };
            let waits = !run.visible(on);
            if !waits || run.visible(in_agent_view) {
                let lines =
                    if run.shown { self.buffer_lines(start, run.len()) } else { run.lines().to_vec() };
                let lines = lines.into_iter().enumerate();
                shown.extend(lines.map(|(at, line)| ShownLine {
                    id: run.ids.at(at),
                    content: line.content,
                    waits,
                }));
            }
        }
        shown
    }

    /// Puts hidden lines before a line, or behind all that some hunks made or removed, ready to be shown.
    fn spare_before(
        &mut self,
        line: Option<LineId>,
        hunks: &[HunkId],
        lines: &[OwnedLine],
    ) -> Option<IdRange> {
        let index = match line {
            Some(line) => {
                let index = self.runs.iter().position(|run| run.ids.contains(line))?;
                let cut = (line.0 - self.runs[index].ids.first.0) as usize;
                if cut > 0 {
                    let tail = self.runs[index].split_off(cut);
                    self.runs.insert(index + 1, tail);
                }
                index + usize::from(cut > 0)
            }
            None => self.runs.iter().rposition(|run| hunks.iter().any(|id| run.belongs_to(*id)))? + 1,
        };
        let ids = self.fresh(lines.len());
        let held = Some(Held::new(lines.to_vec()));
        self.runs.insert(index, Run { gone: true, shown: false, held, ..Run::plain(ids.first, ids.len) });
        self.keep_spare(ids);
        Some(ids)
    }
}
