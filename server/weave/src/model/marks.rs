//! What the person did to lines, as marks on them: setting marks, and going back to how lines were at a moment.

use hashline_text::Ending;

use crate::model::line::IdRange;
use crate::model::run::{Held, Run};
use crate::model::runs::Runs;
use crate::model::state::{Model, Newline};

/// The lines as they were at a moment, with the hunks that were on.
pub(crate) struct Moment {
    runs: Runs,
    on: Vec<bool>,
    newline: Newline,
    ending: Ending,
}

impl Moment {
    /// Per hunk: whether it was in the buffer.
    pub(crate) fn on(&self) -> &[bool] {
        &self.on
    }

    /// What the person said of the newline at the end.
    pub(crate) fn newline(&self) -> Newline {
        self.newline
    }

    /// The ending that the last line had or would have had.
    pub(crate) fn ending(&self) -> Ending {
        self.ending
    }
}

impl Model {
    /// The lines as they are, to be gone back to or compared with.
    pub(crate) fn moment(&self) -> Moment {
        Moment { runs: self.runs.clone(), on: self.on.clone(), newline: self.newline, ending: self.ending }
    }

    /// Goes back to a moment since which the text has not been changed.
    pub(crate) fn return_to(&mut self, moment: Moment) {
        (self.runs, self.on) = (moment.runs, moment.on);
        (self.newline, self.ending) = (moment.newline, moment.ending);
    }

    /// The lines at a moment and now, since which runs were cut but not moved.
    pub(crate) fn pieces_since<'a>(&'a self, moment: &'a Moment) -> impl Iterator<Item = Piece> + 'a {
        pieces(&moment.runs, &self.runs)
    }

    /// What the person says of the newline at the end.
    pub(crate) fn newline(&self) -> Newline {
        self.newline
    }

    /// Sets what the person says of the newline at the end, without a look at the text.
    pub(crate) fn set_newline(&mut self, newline: Newline) {
        self.newline = newline;
    }

    /// The ending that the buffer's last line has, or would have if lines followed it.
    pub(crate) fn ending(&self) -> Ending {
        self.ending
    }

    /// Sets that ending, without a look at the text.
    pub(crate) fn set_ending(&mut self, ending: Ending) {
        self.ending = ending;
    }

    /// Takes the contents of all shown lines that have their own copy from the buffer.
    pub(crate) fn read_contents(&mut self) {
        let mut at = 0;
        for index in 0..self.runs.len() {
            let run = &self.runs[index];
            let len = run.len();
            if run.shown && run.held.is_some() {
                self.runs[index].held = Some(Held::new(self.buffer_lines(at, len)));
            }
            at += if self.runs[index].shown { len } else { 0 };
        }
    }

    /// Gives lines, as far as they are hidden again, the contents that they had when they came to be shown.
    pub(crate) fn restore(&mut self, ids: IdRange, was: &Held) {
        for run in self.runs.iter_mut().filter(|run| !run.shown) {
            let (from, to) = (ids.first.0.max(run.ids.first.0), ids.end().min(run.ids.end()));
            if from >= to {
                continue;
            }
            let then = was.part((from - ids.first.0) as usize..(to - ids.first.0) as usize);
            let now = (from - run.ids.first.0) as usize..(to - run.ids.first.0) as usize;
            if run.lines()[now.clone()] != *then {
                let mut lines = run.lines().to_vec();
                lines[now].clone_from_slice(then);
                run.held = Some(Held::new(lines));
            }
        }
    }

    /// Marks lines as removed by the person, or as there again. Returns the lines whose mark has changed.
    pub(crate) fn set_gone(&mut self, mut marks: Vec<(IdRange, bool)>) -> Vec<(IdRange, bool)> {
        let mut changed: Vec<(IdRange, bool)> = Vec::new();
        if marks.is_empty() {
            return changed;
        }
        marks.sort_unstable_by_key(|(ids, _)| ids.first);
        let mut line = 0;
        let mut runs = Vec::with_capacity(self.runs.len() + 2 * marks.len());
        for mut run in std::mem::take(&mut *self.runs) {
            let mut at = line;
            line += if run.shown { run.len() } else { 0 };
            let end = run.ids.end();
            let first = marks.partition_point(|(ids, _)| ids.end() <= run.ids.first.0);
            for (ids, gone) in marks[first..].iter().take_while(|(ids, _)| ids.first.0 < end) {
                let from = ids.first.0.max(run.ids.first.0);
                let to = ids.end().min(run.ids.end());
                if run.gone == *gone || from >= to {
                    continue;
                }
                if run.held.is_none() {
                    run.held = Some(Held::new(self.buffer_lines(at, run.len())));
                }
                let mut middle = run.clone();
                if from > run.ids.first.0 {
                    middle = run.split_off((from - run.ids.first.0) as usize);
                    at += run.len();
                    runs.push(run);
                }
                let rest =
                    (to < middle.ids.end()).then(|| middle.split_off((to - middle.ids.first.0) as usize));
                at += middle.len();
                middle.gone = *gone;
                changed.push((middle.ids, *gone));
                match rest {
                    Some(rest) => {
                        runs.push(middle);
                        run = rest;
                    }
                    None => run = middle,
                }
            }
            runs.push(run);
        }
        self.runs = runs.into();
        if !changed.is_empty() {
            self.reshape();
        }
        changed
    }
}

/// The same lines before and after.
pub(crate) struct Piece {
    pub then: Run,
    pub now: Run,
}

/// The lines of two lists of runs, which are cut at different places.
fn pieces<'a>(then: &'a [Run], now: &'a [Run]) -> impl Iterator<Item = Piece> + 'a {
    let (mut then, mut now) = (then.iter(), now.iter());
    let (mut then_rest, mut now_rest): (Option<Run>, Option<Run>) = (None, None);
    std::iter::from_fn(move || {
        let mut then_run = then_rest.take().or_else(|| then.next().cloned())?;
        let mut now_run = now_rest.take().or_else(|| now.next().cloned())?;
        let len = then_run.len().min(now_run.len());
        then_rest = (len < then_run.len()).then(|| then_run.split_off(len));
        now_rest = (len < now_run.len()).then(|| now_run.split_off(len));
        Some(Piece { then: then_run, now: now_run })
    })
}
