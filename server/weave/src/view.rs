//! Views (W3): which hunks are in the agent view, and the difference between what a view shows and what it should.

use std::ops::Range;

use hashline_text::{Line, OwnedLine, Text};

use crate::error::WeaveError;
use crate::hunk::HunkId;
use crate::run::Run;
use crate::weave::{AgentView, View, Weave};

/// Lines of a text that other lines take the place of. Changes of one list are in text order, apart from each other, and all
/// count lines in the text before the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    /// 0-based lines of the old text; empty for a pure insert before its start.
    pub old: Range<usize>,
    /// What stands there afterwards.
    pub new: Vec<OwnedLine>,
}

/// The difference between two views as changes of the first: walks the runs and joins what touches (W13).
fn difference(runs: &[Run], before: impl Fn(&Run) -> bool, after: impl Fn(&Run) -> bool) -> Vec<LineChange> {
    let mut changes: Vec<LineChange> = Vec::new();
    let mut open = false;
    let mut line = 0;
    for run in runs {
        match (before(run), after(run)) {
            (false, false) => {}
            (true, true) => {
                open = false;
                line += run.len();
            }
            (was, _) => {
                if !open {
                    changes.push(LineChange { old: line..line, new: Vec::new() });
                    open = true;
                }
                let Some(change) = changes.last_mut() else { continue };
                if was {
                    line += run.len();
                    change.old.end = line;
                } else if let Some(held) = &run.held {
                    change.new.extend(held.iter().cloned());
                }
            }
        }
    }
    changes
}

/// Applies changes to a text, last first.
fn apply(text: &mut Text, changes: &[LineChange], newline: impl Fn(bool) -> bool) -> Result<(), WeaveError> {
    let lines = text.line_count();
    let expected = changes.iter().fold(lines, |count, change| count + change.new.len() - change.old.len());
    let mut result = text.clone();
    for change in changes.iter().rev() {
        let to_end = change.old.end == result.line_count();
        let last_is_empty = if to_end && change.new.is_empty() {
            let last = change.old.start.checked_sub(1).and_then(|line| result.line(Line(line)));
            last.is_some_and(|line| line.content_eq(""))
        } else if to_end {
            change.new.last().is_some_and(|line| line.content.is_empty())
        } else {
            let last = result.line_count().checked_sub(1).and_then(|line| result.line(Line(line)));
            last.is_some_and(|line| line.content_eq(""))
        };
        result
            .replace_lines(Line(change.old.start)..Line(change.old.end), &change.new, newline(last_is_empty))
            .map_err(|_| WeaveError::EndingsWouldJoin)?;
    }
    if result.line_count() != expected {
        return Err(WeaveError::EndingsWouldJoin);
    }
    *text = result;
    Ok(())
}

impl Weave {
    /// The text that agents read: the buffer with the held hunks in it.
    pub fn agent(&mut self) -> &Text {
        self.refresh();
        &self.agent.text
    }

    /// The text of a view.
    pub fn view(&mut self, view: View) -> &Text {
        match view {
            View::Buffer => &self.buffer,
            View::Agent => self.agent(),
        }
    }

    /// Whether the hunk is in the agent view.
    pub fn in_agent_view(&mut self, id: HunkId) -> bool {
        self.refresh();
        self.agent.on[id.index()]
    }

    /// Brings the buffer to the hunks that are on. Returns what that changes in the text.
    pub(crate) fn settle_buffer(&mut self) -> Result<Vec<LineChange>, WeaveError> {
        let hunks = &self.hunks;
        let on = |hunk: HunkId| hunks[hunk.index()].in_buffer;
        let changes = difference(&self.runs, |run| run.shown, |run| run.visible(on));
        let mut text = self.buffer.clone();
        apply(&mut text, &changes, |last_is_empty| self.newline_for(last_is_empty))?;
        self.buffer = text;
        for run in &mut self.runs {
            run.shown = run.visible(|hunk| hunks[hunk.index()].in_buffer);
        }
        self.journal.print = None;
        self.touch();
        Ok(changes)
    }

    /// Computes the agent view anew if the weave has changed since.
    pub(crate) fn refresh(&mut self) {
        if self.agent.revision == self.revision && self.agent.on.len() == self.hunks.len() {
            return;
        }
        self.agent = self.agent_view();
    }

    fn agent_view(&self) -> AgentView {
        let mut on: Vec<bool> = self.hunks.iter().map(|hunk| hunk.in_buffer).collect();
        let mut blocked = vec![None; self.hunks.len()];
        let waiting: Vec<usize> =
            (0..on.len()).filter(|index| !on[*index] && !self.hunks[*index].refused).collect();
        if waiting.is_empty() {
            return AgentView { revision: self.revision, text: self.buffer.clone(), on, blocked };
        }
        let disturbed = self.disturbances();
        for index in &waiting {
            let hunk = &self.hunks[*index];
            if disturbed[*index].is_some() || !hunk.depends.iter().all(|needed| on[needed.index()]) {
                continue;
            }
            match hunk.collides.iter().find(|other| on[other.index()]) {
                Some(other) => blocked[*index] = Some(*other),
                None => on[*index] = true,
            }
        }
        let text = match self.text_with(&on) {
            Ok(text) => text,
            // Some hunk would join two endings: find it by adding one hunk after the other (rare).
            Err(_) => {
                let mut some: Vec<bool> = self.hunks.iter().map(|hunk| hunk.in_buffer).collect();
                let mut text = self.buffer.clone();
                for index in waiting.into_iter().filter(|index| on[*index]) {
                    let needed = &self.hunks[index].depends;
                    if !needed.iter().all(|needed| some[needed.index()]) {
                        continue;
                    }
                    some[index] = true;
                    match self.text_with(&some) {
                        Ok(with) => text = with,
                        Err(_) => some[index] = false,
                    }
                }
                on = some;
                text
            }
        };
        AgentView { revision: self.revision, text, on, blocked }
    }

    /// The text with just these hunks on.
    fn text_with(&self, on: &[bool]) -> Result<Text, WeaveError> {
        let changes = difference(&self.runs, |run| run.shown, |run| run.visible(|hunk| on[hunk.index()]));
        let mut text = self.buffer.clone();
        apply(&mut text, &changes, |last_is_empty| self.newline_for(last_is_empty))?;
        Ok(text)
    }
}
