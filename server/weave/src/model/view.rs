//! Views (rule W3): which hunks are in the agent view, and the difference between what a view shows and what it should.

use std::ops::Range;

use hashline_text::{Ending, Line, OwnedLine, Text};

use crate::model::error::WeaveError;
use crate::model::hunk::{Conflict, HunkId};
use crate::model::run::{Held, Run};
use crate::model::state::{AgentView, Model, View};

/// Lines of a text that other lines take the place of. Changes of one list are in text order, apart from each other, and all
/// count lines in the text before the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    /// 0-based lines of the old text; empty for a pure insert before its start.
    pub old: Range<usize>,
    /// What stands there afterwards.
    pub new: Vec<OwnedLine>,
    /// Whether the text ends with a newline afterwards, where the change reaches its end.
    pub(super) newline: bool,
}

/// Applies changes to a text, last first. `ending` is what a last line without an ending takes where it needs one.
pub(super) fn apply(text: &Text, changes: &[LineChange], ending: Ending) -> Result<Text, WeaveError> {
    let mut result = text.clone();
    let mut newline = text.ends_with_newline();
    let mut expected = text.line_count();
    for change in changes.iter().rev() {
        if change.old.end == text.line_count() {
            newline = change.newline;
        }
        let lines = Line(change.old.start)..Line(change.old.end);
        result
            .replace_lines_or(lines, &change.new, newline, ending)
            .map_err(|_| WeaveError::EndingsWouldJoin)?;
        expected = expected + change.new.len() - change.old.len();
        if result.line_count() != expected {
            return Err(WeaveError::EndingsWouldJoin);
        }
    }
    Ok(result)
}

/// The lines that changes replace, and those of the text afterwards that stand there.
pub(crate) fn places(changes: &[LineChange]) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let mut shift = 0isize;
    changes.iter().map(move |change| {
        let start = change.old.start.saturating_add_signed(shift);
        shift += change.new.len() as isize - change.old.len() as isize;
        (change.old.clone(), start..start + change.new.len())
    })
}

impl Model {
    /// The text that agents read: the buffer with the held hunks in it.
    pub(crate) fn agent(&mut self) -> &Text {
        self.refresh();
        &self.agent.text
    }

    /// The text of a view.
    pub(crate) fn view(&mut self, view: View) -> &Text {
        match view {
            View::Buffer => &self.buffer,
            View::Agent => self.agent(),
        }
    }

    /// Whether the hunk is in the agent view.
    pub(crate) fn in_agent_view(&mut self, id: HunkId) -> bool {
        self.refresh();
        self.agent.on[id.index()]
    }

    /// What it would change in the buffer to have these hunks on, and the text that would be.
    pub(crate) fn shift(
        &self,
        on: impl Fn(HunkId) -> bool + Copy,
    ) -> Result<(Text, Vec<LineChange>), WeaveError> {
        self.shift_from(&self.buffer, |run| run.shown, on)
    }

    /// The same from a text that shows other runs.
    fn shift_from(
        &self,
        text: &Text,
        shows: impl Fn(&Run) -> bool,
        on: impl Fn(HunkId) -> bool + Copy,
    ) -> Result<(Text, Vec<LineChange>), WeaveError> {
        let mut changes = self.difference(shows, |run| run.visible(on));
        self.close(text, &mut changes, self.newline_under(on));
        changes.retain(|change| !self.is_idle(text, change));
        Ok((apply(text, &changes, self.ending)?, changes))
    }

    /// The difference between two views as changes of the first: walks the runs and joins what touches (rule W13).
    fn difference(&self, before: impl Fn(&Run) -> bool, after: impl Fn(&Run) -> bool) -> Vec<LineChange> {
        let mut changes: Vec<LineChange> = Vec::new();
        let mut open = false;
        let (mut line, mut in_buffer) = (0, 0);
        for run in self.runs.iter() {
            let start = in_buffer;
            in_buffer += if run.shown { run.len() } else { 0 };
            match (before(run), after(run)) {
                (false, false) => {}
                (true, true) => {
                    open = false;
                    line += run.len();
                }
                (was, _) => {
                    if !open {
                        changes.push(LineChange { old: line..line, new: Vec::new(), newline: true });
                        open = true;
                    }
                    let Some(change) = changes.last_mut() else { continue };
                    if was {
                        line += run.len();
                        change.old.end = line;
                    } else if run.shown {
                        // The rope knows its endings as they are.
                        change.new.extend(self.buffer_lines(start, run.len()));
                    } else {
                        change.new.extend_from_slice(run.lines());
                    }
                }
            }
        }
        changes
    }

    /// Whether a change puts lines in the place of others that read the same.
    fn is_idle(&self, text: &Text, change: &LineChange) -> bool {
        let to_end = change.old.end == text.line_count();
        let newline = !to_end || change.newline == text.ends_with_newline();
        newline
            && change.old.len() == change.new.len()
            && text
                .lines(change.old.clone())
                .map(|line| line.to_owned_line(self.ending))
                .eq(change.new.iter().cloned())
    }

    /// Sees to it that the text ends with a newline or not, as it should after the changes. An empty last line always has its
    /// ending.
    pub(super) fn close(&self, text: &Text, changes: &mut Vec<LineChange>, newline: bool) {
        let lines = text.line_count();
        let is_empty = |line: Option<usize>| {
            line.and_then(|line| text.line(Line(line))).is_some_and(|line| line.content_eq(""))
        };
        if let Some(change) = changes.last_mut().filter(|change| change.old.end == lines) {
            let last_is_empty = match change.new.last() {
                Some(last) => last.content.is_empty(),
                None => is_empty(change.old.start.checked_sub(1)),
            };
            change.newline = newline || last_is_empty;
        } else if let Some(last) = lines.checked_sub(1)
            && newline != text.ends_with_newline()
            && !is_empty(Some(last))
        {
            let new = text.lines(last..lines).map(|line| line.to_owned_line(self.ending));
            match changes.last_mut().filter(|change| change.old.end == last) {
                Some(change) => {
                    change.old.end = lines;
                    change.new.extend(new);
                    change.newline = newline;
                }
                None => changes.push(LineChange { old: last..lines, new: new.collect(), newline }),
            }
        }
    }

    /// Brings the buffer to the hunks that are on. Returns what that changes in the text.
    pub(super) fn settle_buffer(&mut self) -> Result<Vec<LineChange>, WeaveError> {
        let (text, changes) = self.shift(|hunk| self.on[hunk.index()])?;
        let mut ending = self.ending;
        let mut line = 0;
        for index in 0..self.runs.len() {
            let run = &self.runs[index];
            let (shown, len) = (run.shown, run.len());
            let visible = run.visible(|hunk| self.on[hunk.index()]);
            if visible {
                let own = if shown {
                    self.buffer.line(Line(line + len - 1)).and_then(|line| line.ending())
                } else {
                    run.lines().last().map(|line| line.ending)
                };
                ending = own.unwrap_or(self.ending);
            }
            if shown && !visible {
                // The rope knows the lines as they are, endings included.
                self.runs[index].held = Some(Held::new(self.buffer_lines(line, len)));
            }
            if shown != visible {
                self.runs[index].shown = visible;
            }
            line += if shown { len } else { 0 };
        }
        // Where nothing else is held both views are one text from now on, and what was hashed of the one is known of the other.
        let is_agents = self.agent.on == self.on && self.agent.text == text;
        self.buffer = if is_agents { self.agent.text.clone() } else { text };
        self.ending = ending;
        self.touch();
        Ok(changes)
    }

    /// Computes the agent view anew if the weave has changed since.
    pub(super) fn refresh(&mut self) {
        if !self.agent_is_current() || self.agent.on.len() != self.hunks.len() {
            let agent = self.agent_view();
            if agent.on != self.agent.on {
                self.runs.forget_places();
            }
            self.agent = agent;
        }
    }

    /// Brings typed lines into the agent view as it was computed last: lines of it, and the buffer's in their place. `old` was the buffer.
    /// False where that cannot be.
    pub(crate) fn agent_follows(
        &mut self,
        old: &Text,
        changes: impl IntoIterator<Item = (Range<usize>, Range<usize>)>,
    ) -> bool {
        if self.agent.shape != self.shape {
            return false;
        }
        if self.agent.text.is_same_instance(old) {
            // Nothing that is held is in it.
            self.agent.text = self.buffer.clone();
            return true;
        }
        let mut text = self.agent.text.clone();
        // From the last to the first, so that places stay true.
        let changes: Vec<_> = changes.into_iter().collect();
        for (seen, lines) in changes.into_iter().rev() {
            let new = self.buffer_lines(lines.start, lines.len());
            let newline = text.ends_with_newline();
            // What the last line is says whether it has an ending.
            let follows = seen.end < text.line_count();
            if !follows || text.replace_lines(Line(seen.start)..Line(seen.end), &new, newline).is_err() {
                return false;
            }
        }
        self.agent.text = text;
        true
    }

    /// Notes that lines were typed: whether the agent view has followed, and whether hunks may stand otherwise now. The index of the runs
    /// stays.
    pub(crate) fn follow(&mut self, follows: bool, stirs: bool) {
        let is_current = self.agent_is_current();
        self.revision += 1;
        self.standing += u64::from(stirs);
        self.shape += u64::from(!follows);
        if is_current && follows && !stirs {
            self.agent.revision = self.revision;
        }
    }

    /// Whether the agent view shows the weave as it is.
    pub(crate) fn agent_is_current(&self) -> bool {
        self.agent.revision == self.revision
    }

    fn agent_view(&self) -> AgentView {
        let mut on = self.on.clone();
        let waiting: Vec<usize> = (0..on.len()).filter(|at| !on[*at] && !self.refused[*at]).collect();
        if waiting.is_empty() {
            let (text, conflicts) = (self.buffer.clone(), vec![None; on.len()]);
            return AgentView { revision: self.revision, shape: self.shape, text, on, conflicts };
        }
        let mut conflicts = self.disturbances();
        self.admit(&waiting, &mut on, &mut conflicts);
        let text = loop {
            let is_on = |hunk: HunkId| on[hunk.index()];
            if let Some(text) = self.agent_text_from_last(is_on) {
                break text;
            }
            if let Ok((text, _)) = self.shift(is_on) {
                break text;
            }
            // Some hunk would join two endings. The first with which the text cannot be is it: the text is possible
            // without those that are held.
            let with = |count: usize| {
                let mut some = self.on.clone();
                waiting[..count].iter().for_each(|at| some[*at] = on[*at]);
                self.shift(|hunk| some[hunk.index()]).is_ok()
            };
            let (mut good, mut bad) = (0, waiting.len());
            while good + 1 < bad {
                let middle = good.midpoint(bad);
                if with(middle) { good = middle } else { bad = middle }
            }
            conflicts[waiting[good]] = Some(Conflict::EndingsWouldJoin);
            on.clone_from(&self.on);
            self.admit(&waiting, &mut on, &mut conflicts);
        };
        AgentView { revision: self.revision, shape: self.shape, text, on, conflicts }
    }

    /// The agent view with these hunks on, as a change of what it was: what is held and stays so costs nothing then. None where
    /// that is too long ago, or says too little of the end.
    fn agent_text_from_last(&self, on: impl Fn(HunkId) -> bool + Copy) -> Option<Text> {
        let last = &self.agent;
        if last.shape != self.shape {
            return None;
        }
        let was_on = |hunk: HunkId| last.on.get(hunk.index()).copied().unwrap_or(false);
        let (text, changes) = self.shift_from(&last.text, |run| run.visible(was_on), on).ok()?;
        // Which ending a line without one would have, only the buffer knows.
        let to_end = changes.last().is_some_and(|change| change.old.end == last.text.line_count());
        (!to_end || last.text.ends_with_newline()).then_some(text)
    }

    /// Lets in, in the order of record, every hunk that nothing keeps out; notes what it collides with (rule W3).
    fn admit(&self, waiting: &[usize], on: &mut [bool], conflicts: &mut [Option<Conflict>]) {
        for at in waiting {
            if let Some(Conflict::With(_)) = conflicts[*at] {
                conflicts[*at] = None;
            }
            let hunk = &self.hunks[*at];
            if conflicts[*at].is_some() || !hunk.depends.iter().all(|needed| on[needed.index()]) {
                continue;
            }
            match hunk.collides.iter().find(|other| on[other.index()]) {
                Some(other) => conflicts[*at] = Some(Conflict::With(*other)),
                None => on[*at] = true,
            }
        }
    }
}
