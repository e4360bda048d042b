//! Taking back what the journal knows (rule W7): identities, presence and switches as they were, where the text is as it was.

use std::collections::BTreeMap;

use hashline_text::Text;

use crate::attribution::fingerprint::Print;
use crate::attribution::interpretation::{How, Judgement, Switched};
use crate::attribution::journal::{Step, Turn, WayBack, pinned_by};
use crate::attribution::region::Regions;
use crate::attribution::weave::Weave;
use crate::model::{HunkId, IdRange, LineId, Moment, Piece, Run, push_range};

/// What going back to an earlier text may take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakesBack {
    /// All that was done since, and the editor says which way it went.
    Said(Turn),
    /// All that was done since.
    All,
    /// Typing: nothing where a hunk would be switched.
    Typing,
}

impl Weave {
    /// Takes back all that was done since the text was as it is now, where the journal reaches so far.
    pub(crate) fn turn_back(
        &mut self,
        new: &Text,
        print: Print,
        regions: &Regions,
        what: TakesBack,
    ) -> Option<Judgement> {
        let turn = match what {
            TakesBack::Said(turn) => Some(turn),
            TakesBack::All | TakesBack::Typing => None,
        };
        let depth = self.journal.depth_of(self.buffer(), new, print, turn)?;
        let WayBack { entries, difference } = self.journal.way_back(self.buffer(), new, depth);
        let before = self.journal.print;
        let then = self.moment();
        self.replay_all(&entries);
        let is_on = |hunk: HunkId| self.in_buffer(hunk);
        let lines: usize = self.runs().iter().filter(|run| run.visible(is_on)).map(Run::len).sum();
        let switches = what == TakesBack::Typing && self.on() != then.on();
        if switches || lines != new.line_count() || self.check(is_on).is_err() {
            self.model.return_to(then);
            return None;
        }
        self.take_text(new.clone(), &difference, regions);
        self.journal.print = print;
        if new.ends_with_newline() {
            // Lines read as they did then, whatever they end with by now.
            self.model.take_ending(false);
        }
        self.model.show();
        self.model.read_contents();
        for step in entries.iter().flatten() {
            if let Step::Hidden { ids, was } = step {
                self.model.restore(*ids, was);
            }
        }

        let mut steps = self.moved_since(&then);
        let mut switched: Vec<Switched> = Vec::new();
        // The oldest entry that switched a hunk says what it is.
        for step in entries.iter().rev().flatten() {
            if let Step::Switched { hunk, turned: Some(turned), .. } = step
                && self.in_buffer(*hunk) != then.on()[hunk.index()]
                && switched.iter().all(|known| known.hunk != *hunk)
            {
                let (hunk, on, origin) = (*hunk, self.in_buffer(*hunk), turned.origin);
                let how = if turned.undone { How::Undone(origin) } else { How::Redone(origin) };
                switched.push(Switched { hunk, on, how });
                steps.push(Step::Switched { hunk, on, turned: Some(*turned) });
            }
        }
        if then.newline() != self.newline() {
            steps.push(Step::Newline { was: then.newline(), is: self.newline() });
        }
        if then.ending() != self.ending() {
            steps.push(Step::Ending { was: then.ending(), is: self.ending() });
        }
        if steps.is_empty() && turn.is_none() {
            self.journal.push_contents(difference, before, new);
        } else {
            let pinned = pinned_by(self, &steps);
            self.journal.push(steps, difference, before, pinned);
        }
        if let Some(turn) = turn {
            // Counted from the end of the entry itself.
            self.journal.note_turn(turn, depth);
        }
        self.tidy();
        self.model.reshape();
        Some(Judgement { switched, ..Judgement::default() })
    }

    /// Does the steps of entries, one entry after the other.
    fn replay_all(&mut self, entries: &[Vec<Step>]) {
        // Of what several say of a line, the earliest counts, by whose word it was so before all of them.
        let mut marks: BTreeMap<u64, (u64, bool)> = BTreeMap::new();
        let mut ending = self.ending();
        for step in entries.iter().rev().flatten() {
            let (ids, gone) = match step {
                Step::Typed(ids) | Step::Regained(ids) => (ids, false),
                Step::Removed(ids) => (ids, true),
                _ => continue,
            };
            for (from, to) in uncovered(&marks, ids.first.number(), ids.end()) {
                marks.insert(from, (to, gone));
            }
        }
        for step in entries.iter().flatten() {
            match step {
                Step::Switched { hunk, on, .. } => self.model.set_on(*hunk, *on),
                Step::Ending { is, .. } => ending = *is,
                Step::Newline { is, .. } => self.model.set_newline(*is),
                _ => {}
            }
        }
        let range =
            |from: u64, to: u64| IdRange { first: LineId::from_number(from), len: (to - from) as usize };
        self.model.set_gone(marks.into_iter().map(|(from, (to, gone))| (range(from, to), gone)).collect());
        self.model.set_ending(ending);
    }

    /// Adds the steps by which lines go (true) or come back (false), after others: for those lines alone that are not so yet.
    pub(crate) fn note_moves(&self, moves: impl Iterator<Item = (IdRange, bool)>, steps: &mut Vec<Step>) {
        for (ids, gone) in moves {
            let said = |id: LineId| {
                steps.iter().rev().find_map(|step| match step {
                    Step::Removed(ids) => ids.contains(id).then_some(true),
                    Step::Regained(ids) => ids.contains(id).then_some(false),
                    _ => None,
                })
            };
            let mut moved = Vec::new();
            for run in self.runs() {
                let both = ids.first.max(run.ids().first).number()..ids.end().min(run.ids().end());
                let lines = both.map(LineId::from_number);
                let lines = lines.filter(|id| said(*id).unwrap_or(run.is_gone()) != gone);
                lines.for_each(|first| push_range(&mut moved, IdRange { first, len: 1 }));
            }
            steps.extend(moved.into_iter().map(|ids| Step::moved(ids, gone)));
        }
    }

    /// What became of lines since a moment.
    fn moved_since(&self, then: &Moment) -> Vec<Step> {
        let mut steps = Vec::new();
        for Piece { then, now } in self.pieces_since(then) {
            let ids = now.ids();
            if then.is_gone() != now.is_gone() {
                steps.push(Step::moved(ids, now.is_gone()));
            }
            match (then.is_shown(), now.is_shown()) {
                (false, true) => steps.extend(then.held().cloned().map(|was| Step::Shown { ids, was })),
                (true, false) => steps.extend(now.held().cloned().map(|was| Step::Hidden { ids, was })),
                _ => {}
            }
        }
        steps
    }
}

/// The parts of a range that no mark is on.
fn uncovered(marks: &BTreeMap<u64, (u64, bool)>, from: u64, to: u64) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    let mut at = marks.range(..from).next_back().map_or(from, |(_, (end, _))| from.max(*end));
    for (start, (end, _)) in marks.range(from..to) {
        if at < *start {
            parts.push((at, *start));
        }
        at = at.max(*end);
    }
    if at < to {
        parts.push((at, to));
    }
    parts
}
