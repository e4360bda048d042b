//! What has happened to a weave since an earlier state of it, so that it can be written down and done again (rule W15).
//!
//! A delta holds what became of the lines, not what was done: the runs as they are, the contents that the reader cannot know, the
//! hunks that are new with all that was found out about them, and what was switched. So doing it again guesses nothing: whatever
//! was recognised, aligned or placed when it happened is in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hashline_text::{Ending, OwnedLine, Text};

use crate::model::comparison::{Alike, Lines, Place};
use crate::model::error::WeaveError;
use crate::model::hunk::{Hunk, HunkId, Removed};
use crate::model::line::{IdRange, LineId};
use crate::model::run::{Held, Removers, Run};
use crate::model::state::{Model, Newline};
use crate::model::view::{LineChange, apply};

/// The difference between two states of one weave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// The hunks that are new, in the order of record; the first has the number of hunks that there were.
    pub hunks: Vec<NewHunk>,
    /// Hunks that came into the buffer (true) or left it. A new one is out of it unless it is named here.
    pub switched: Vec<(HunkId, bool)>,
    /// Hunks that were marked as rejected or withdrawn (true), or are no longer.
    pub refused: Vec<(HunkId, bool)>,
    /// Hunks whose place in the text is no longer certain (true), or is again (rule W17).
    pub lost: Vec<(HunkId, bool)>,
    /// Lines of the person's that came to be part of a hunk (rule W12).
    pub own: Vec<(HunkId, IdRange)>,
    /// All runs of lines in order, if anything about them has changed.
    pub runs: Option<Vec<RunState>>,
    /// Lines that are new, or read otherwise than before.
    pub contents: Vec<(LineId, Vec<OwnedLine>)>,
    /// The id that the next new line gets.
    pub next_line: LineId,
    /// Lines from this one on came after the latest change that nobody watched (rule W17).
    pub watched_from: LineId,
    /// What the person says of the newline at the end, and how many hunks were recorded before that (rule W1).
    pub newline: (bool, usize),
    /// The ending that the last line has or would have.
    pub ending: Ending,
}

/// Lines that share who made them, who removed them and whether the person did (rule W2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunState {
    /// The lines.
    pub ids: IdRange,
    /// The hunk that made them; none for the person, or nobody.
    pub maker: Option<HunkId>,
    /// The hunks that remove them.
    pub removers: Removers,
    /// The person removed them.
    pub gone: bool,
}

/// A hunk, with what was found out about it when it was recorded. The lines that it takes away and makes are told by the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHunk {
    /// The lines that it takes away, as they were then.
    pub removed: Vec<(LineId, OwnedLine)>,
    /// The id of the first line that it makes.
    pub made: LineId,
    /// The lines that it makes, as they were then.
    pub proposed: Vec<OwnedLine>,
    /// The lines on both sides of it, as agents saw them.
    pub around: (Option<LineId>, Option<LineId>),
    /// The hunks that have to be on for this one to be on (rule W4).
    pub depends: Vec<HunkId>,
    /// The earlier hunks that must not be on together with it (rule W4).
    pub collides: Vec<HunkId>,
    /// Whether the text ends with a newline once it is on, where it says so (rule W1).
    pub newline: Option<bool>,
}

/// What a delta tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// What will be missed of what is new.
    New,
    All,
    /// All, but how the lines of the buffer read.
    Hidden,
}

impl Model {
    /// What has happened since `earlier`, which is an earlier state of this weave, or an empty one to tell everything. None if
    /// nothing has.
    ///
    /// Of the lines that the person removed, those are left out that `earlier` does not know: nobody will miss them.
    ///
    /// ```
    /// use hashline_text::Text;
    /// use hashline_weave::Weave;
    /// let earlier = Weave::new(Text::default());
    /// let mut weave = Weave::new(Text::from("one\n"));
    /// let all = weave.delta_since(&earlier).unwrap();
    /// let mut copy = earlier.clone();
    /// copy.apply_delta(&all)?;
    /// assert_eq!(copy.buffer().to_string(), "one\n");
    /// assert_eq!(weave.delta_since(&copy), None);
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    #[must_use]
    pub fn delta_since(&self, earlier: &Self) -> Option<Delta> {
        self.delta(earlier, Told::New)
    }

    /// All of this weave, also the lines that nobody will miss: for what takes the place of this state where deltas follow it that
    /// speak of them.
    #[must_use]
    pub fn whole(&self) -> Option<Delta> {
        self.delta(&Self::new(Text::default()), Told::All)
    }

    /// The same without the contents of the lines that are in the buffer: for whoever keeps that beside it.
    #[must_use]
    pub fn whole_but_text(&self) -> Option<Delta> {
        self.delta(&Self::new(Text::default()), Told::Hidden)
    }

    /// All runs of lines in order, as a delta has them.
    #[must_use]
    pub fn run_states(&self) -> Vec<RunState> {
        let mut states = Vec::with_capacity(self.runs.len());
        self.runs.iter().for_each(|run| push_state(&mut states, run, run.ids));
        states
    }

    fn delta(&self, earlier: &Self, told: Told) -> Option<Delta> {
        let (then, now) = (Lines::of(earlier), Lines::of(self));
        let known = |run: &Run| then.parts(run.ids);
        let alike = Alike::of(&self.buffer, &earlier.buffer);
        let mut states: Vec<RunState> = Vec::with_capacity(self.runs.len());
        let mut contents: Vec<(LineId, Vec<OwnedLine>)> = Vec::new();
        let mut line = 0;
        for (index, run) in self.runs.iter().enumerate() {
            let start = run.shown.then_some(line);
            line += if run.shown { run.len() } else { 0 };
            for (ids, was) in known(run) {
                if told == Told::New && was.is_none() && run.gone && run.is_nobodys() {
                    continue;
                }
                push_state(&mut states, run, ids);
                if told == Told::Hidden && run.shown {
                    continue;
                }
                let at = (ids.first.0 - run.ids.first.0) as usize;
                let place = Place { run: index, at, line: start.map(|line| line + at) };
                for range in self.changed(place, &then, was, ids.len, alike) {
                    let first = ids.at(range.start);
                    let moved = |line: usize| line + range.start;
                    let place = Place { at: moved(place.at), line: place.line.map(moved), ..place };
                    push_contents(&mut contents, first, now.lines(place, range.len()));
                }
            }
        }
        let before = earlier.run_states();
        let since = earlier.hunks.len();
        let was = |list: &[bool], at: usize| list.get(at).copied().unwrap_or(false);
        let changes = |now: &[bool], then: &[bool]| -> Vec<(HunkId, bool)> {
            let changed = now.iter().enumerate().filter(|(at, is)| was(then, *at) != **is);
            changed.map(|(at, is)| (HunkId(at as u32), *is)).collect()
        };
        let delta = Delta {
            hunks: self.hunks[since.min(self.hunks.len())..]
                .iter()
                .zip(since..)
                .map(|(hunk, at)| NewHunk::of(hunk, HunkId(at as u32)))
                .collect(),
            switched: changes(&self.on, &earlier.on),
            refused: changes(&self.refused, &earlier.refused),
            lost: changes(&self.lost, &earlier.lost),
            own: self.owned_since(earlier),
            runs: (states != before).then_some(states),
            contents,
            next_line: LineId(self.next_line),
            watched_from: self.watched_from,
            newline: (self.newline.there, self.newline.since),
            ending: self.ending,
        };
        let idle = delta.hunks.is_empty()
            && delta.switched.is_empty()
            && delta.refused.is_empty()
            && delta.lost.is_empty()
            && delta.own.is_empty()
            && delta.runs.is_none()
            && delta.contents.is_empty()
            && self.next_line == earlier.next_line
            && self.watched_from == earlier.watched_from
            && self.newline == earlier.newline
            && self.ending == earlier.ending;
        (!idle).then_some(delta)
    }

    /// The hunks that came to have other lines of the person's since.
    pub(super) fn owned_since(&self, earlier: &Self) -> Vec<(HunkId, IdRange)> {
        let was = |id: HunkId| earlier.hunks.get(id.index()).and_then(|hunk| hunk.own);
        let own = self.hunks().filter_map(|id| Some((id, self.hunk(id).own?)));
        own.filter(|(id, own)| was(*id) != Some(*own)).collect()
    }

    /// This state as whoever was told all up to `earlier`, and then [what has happened since](Self::delta_since), knows it.
    pub(crate) fn as_told(&self, earlier: &Self) -> Self {
        let mut told = self.clone();
        let nobodys = |run: &Run| run.gone && run.is_nobodys();
        if told.runs.iter().any(nobodys) {
            let then = Lines::of(earlier);
            for mut rest in std::mem::take(&mut *told.runs) {
                if !nobodys(&rest) {
                    told.runs.push(rest);
                    continue;
                }
                for (ids, was) in then.parts(rest.ids) {
                    let next = if ids.len < rest.len() { Some(rest.split_off(ids.len)) } else { None };
                    if was.is_some() {
                        told.runs.push(rest);
                    }
                    let Some(next) = next else { break };
                    rest = next;
                }
            }
        }
        told.forget_past();
        told
    }

    /// Does again what a delta tells. Where it does not fit nothing has changed.
    pub(crate) fn apply_delta(&mut self, delta: &Delta) -> Result<(), WeaveError> {
        let mut next = self.clone();
        next.apply_to_copy(delta)?;
        *self = next;
        Ok(())
    }

    fn apply_to_copy(&mut self, delta: &Delta) -> Result<(), WeaveError> {
        for new in &delta.hunks {
            self.install(new)?;
        }
        let set = |list: &mut Vec<bool>, to: &[(HunkId, bool)]| {
            for (id, is) in to {
                *list
                    .get_mut(id.index())
                    .ok_or(WeaveError::BadDelta("it names a hunk that there is not"))? = *is;
            }
            Ok(())
        };
        set(&mut self.on, &delta.switched)?;
        set(&mut self.refused, &delta.refused)?;
        set(&mut self.lost, &delta.lost)?;
        for (id, own) in &delta.own {
            let hunk = self.hunks.get_mut(id.index()).filter(|_| own.end() <= delta.next_line.0);
            let hunk = hunk.ok_or(WeaveError::BadDelta("it names a hunk or a line that there is not"))?;
            Arc::make_mut(hunk).own = Some(*own);
        }
        self.newline = Newline { there: delta.newline.0, since: delta.newline.1.min(self.hunks.len()) };
        let before = self.clone();
        let then = Lines::of(&before);
        let mut fresh: BTreeMap<u64, &OwnedLine> = BTreeMap::new();
        for (first, lines) in &delta.contents {
            fresh.extend((first.0..).zip(lines));
        }
        let states: Vec<RunState> = match &delta.runs {
            Some(states) => states.clone(),
            None => before.run_states(),
        };
        let mut build = Rebuild::default();
        for state in &states {
            if state.maker.iter().chain(&state.removers).any(|hunk| hunk.index() >= self.hunks.len()) {
                return Err(WeaveError::BadDelta("it names a hunk that there is not"));
            }
            let on = |hunk: HunkId| self.on[hunk.index()];
            let shown = Run {
                maker: state.maker,
                removers: state.removers.clone(),
                gone: state.gone,
                ..Run::plain(state.ids.first, state.ids.len)
            };
            let shown = shown.visible(on);
            for (ids, was) in then.parts(state.ids) {
                build.part(state, ids, was, shown, &then, &fresh)?;
            }
        }
        let (runs, mut changes) = build.finish(before.buffer.line_count());
        self.runs = runs.into();
        self.check_runs(delta.next_line)?;
        // A last line that has had no ending and needs one now takes what it would have had.
        self.close(&before.buffer, &mut changes, self.newline_under(|hunk| self.on[hunk.index()]));
        self.buffer = apply(&before.buffer, &changes, before.ending)
            .map_err(|_| WeaveError::BadDelta("its lines do not make a text"))?;
        self.ending = delta.ending;
        let shown: usize = self.runs.iter().filter(|run| run.shown).map(Run::len).sum();
        if shown != self.buffer.line_count() {
            return Err(WeaveError::BadDelta("its lines do not make a text"));
        }
        self.next_line = delta.next_line.0;
        self.watched_from = delta.watched_from;
        self.forget_past();
        self.reshape();
        self.join_runs();
        Ok(())
    }

    /// Whether the runs hold what everything else takes for granted: a hunk makes the lines that it says, and removes exactly those that it
    /// says, in their order.
    fn check_runs(&self, next_line: LineId) -> Result<(), WeaveError> {
        let mut removed: Vec<_> = self.hunks.iter().map(|hunk| hunk.removed.iter()).collect();
        for run in self.runs.iter() {
            if run.ids.end() > next_line.0 {
                return Err(WeaveError::BadDelta("a new line would have the id of another"));
            }
            if let Some(maker) = run.maker {
                let made = self.hunk(maker).made;
                if run.ids.first < made.first || run.ids.end() > made.end() {
                    return Err(WeaveError::BadDelta("a hunk has made lines that are not its own"));
                }
            }
            for remover in &run.removers {
                let mut named = removed[remover.index()].by_ref().take(run.len()).map(|removed| removed.id);
                if !(0..run.len()).all(|at| named.next() == Some(run.ids.at(at))) {
                    return Err(WeaveError::BadDelta("a hunk removes other lines than it says"));
                }
            }
        }
        match removed.iter().all(|rest| rest.len() == 0) {
            true => Ok(()),
            false => Err(WeaveError::BadDelta("a hunk removes lines that there are not")),
        }
    }

    /// Adds a hunk as it was recorded.
    fn install(&mut self, new: &NewHunk) -> Result<(), WeaveError> {
        let id = HunkId(self.hunks.len() as u32);
        if new.depends.iter().chain(&new.collides).any(|other| *other >= id) {
            return Err(WeaveError::BadDelta("a hunk rests on a later one"));
        }
        for other in &new.depends {
            Arc::make_mut(&mut self.hunks[other.index()]).dependents.push(id);
        }
        for other in &new.collides {
            Arc::make_mut(&mut self.hunks[other.index()]).collides.push(id);
        }
        let removed = new.removed.iter().map(|(id, line)| Removed { id: *id, line: line.clone() });
        let hunk = Hunk {
            removed: removed.collect(),
            made: IdRange { first: new.made, len: new.proposed.len() },
            proposed: new.proposed.clone(),
            before: new.around.0,
            after: new.around.1,
            depends: new.depends.clone(),
            dependents: Vec::new(),
            collides: new.collides.clone(),
            newline: new.newline,
            own: None,
        };
        self.hunks.push(Arc::new(hunk));
        self.on.push(false);
        self.refused.push(false);
        self.lost.push(false);
        Ok(())
    }
}

impl NewHunk {
    pub(super) fn of(hunk: &Hunk, id: HunkId) -> Self {
        Self {
            removed: hunk.removed.iter().map(|removed| (removed.id, removed.line.clone())).collect(),
            made: hunk.made.first,
            proposed: hunk.proposed.clone(),
            around: (hunk.before, hunk.after),
            depends: hunk.depends.clone(),
            // Later ones name it.
            collides: hunk.collides.iter().copied().filter(|other| *other < id).collect(),
            newline: hunk.newline,
        }
    }
}

/// Adds lines of a run to a list, joining those that share their fate and follow one another.
pub(super) fn push_state(states: &mut Vec<RunState>, run: &Run, ids: IdRange) {
    match states.last_mut() {
        Some(last)
            if last.ids.end() == ids.first.0
                && last.maker == run.maker
                && last.gone == run.gone
                && last.removers == run.removers =>
        {
            last.ids.len += ids.len;
        }
        _ => states.push(RunState { ids, maker: run.maker, removers: run.removers.clone(), gone: run.gone }),
    }
}

/// Adds lines to a list, joining those that follow one another.
fn push_contents(contents: &mut Vec<(LineId, Vec<OwnedLine>)>, first: LineId, lines: Vec<OwnedLine>) {
    match contents.last_mut() {
        Some((start, last)) if start.0 + last.len() as u64 == first.0 => last.extend(lines),
        _ => contents.push((first, lines)),
    }
}

/// The runs and the buffer that a delta leads to, put together in order.
#[derive(Default)]
struct Rebuild {
    runs: Vec<Run>,
    changes: Vec<LineChange>,
    /// The first line of the buffer as it was that has not been met.
    next: usize,
    /// Lines that come before it.
    pending: Vec<OwnedLine>,
}

impl Rebuild {
    /// Adds lines of one run, which were in one place or were not known.
    fn part(
        &mut self,
        state: &RunState,
        ids: IdRange,
        was: Option<Place>,
        shown: bool,
        then: &Lines<'_>,
        fresh: &BTreeMap<u64, &OwnedLine>,
    ) -> Result<(), WeaveError> {
        let mut run = Run {
            maker: state.maker,
            removers: state.removers.clone(),
            gone: state.gone,
            shown,
            ..Run::plain(ids.first, ids.len)
        };
        let kept = was.and_then(|place| place.line).filter(|_| shown);
        if let Some(line) = kept.filter(|_| run.is_plain()) {
            // Its lines lie in the rope alone.
            let mut at = 0;
            for (id, new) in fresh.range(ids.first.0..ids.end()) {
                let changed = (id - ids.first.0) as usize;
                self.keep(line + at..line + changed)?;
                self.pending.push((*new).clone());
                at = changed + 1;
            }
            self.keep(line + at..line + ids.len)?;
            self.runs.push(run);
            return Ok(());
        }
        let mut contents = was.map_or_else(Vec::new, |place| then.lines(place, ids.len));
        for at in 0..ids.len {
            let new = fresh.get(&ids.at(at).0).copied();
            match (new, contents.get_mut(at)) {
                (Some(new), Some(own)) => new.clone_into(own),
                (Some(new), None) => contents.push(new.clone()),
                (None, Some(_)) => {}
                (None, None) => return Err(WeaveError::BadDelta("the content of a line is missing")),
            }
            match kept {
                Some(line) if new.is_none() => self.keep(line + at..line + at + 1)?,
                _ if shown => self.pending.push(contents[at].clone()),
                _ => {}
            }
        }
        run.held = Some(Held::new(contents));
        self.runs.push(run);
        Ok(())
    }

    /// Lines of the buffer stay.
    fn keep(&mut self, lines: Range<usize>) -> Result<(), WeaveError> {
        if lines.is_empty() {
            return Ok(());
        }
        if lines.start < self.next {
            return Err(WeaveError::BadDelta("lines have changed their order"));
        }
        self.change_to(lines.start);
        self.next = lines.end;
        Ok(())
    }

    /// What has been met takes the place of the lines up to this one.
    fn change_to(&mut self, line: usize) {
        let old = self.next..line;
        if !old.is_empty() || !self.pending.is_empty() {
            let new = std::mem::take(&mut self.pending);
            self.changes.push(LineChange { old, new, newline: true });
        }
    }

    fn finish(mut self, lines: usize) -> (Vec<Run>, Vec<LineChange>) {
        self.change_to(lines);
        (self.runs, self.changes)
    }
}
