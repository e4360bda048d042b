//! Making runs anew around lines whose fate is known: which stay as they are, which the person removed, changed or typed.

use std::ops::Range;

use hashline_text::{LineRef, OwnedLine};

use crate::model::line::{IdRange, LineId, push_range};
use crate::model::run::{Held, Run};
use crate::model::state::Model;

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// As it is, hidden.
    Hidden {
        /// The person removed it.
        gone: bool,
    },
    /// Shown, with this of the new lines as its content.
    Shows(usize),
    /// Removed by the person now.
    Removed,
    /// Removed by the person before, and there again, with this of the new lines as its content.
    Regained(usize),
}

/// What is to become of some runs.
pub(crate) struct Fates<'a> {
    pub runs: Range<usize>,
    /// The line of the buffer with which they begin.
    pub line: usize,
    /// Line by line.
    pub fates: &'a [Fate],
    /// Before which of the lines lines are put in that the person typed, and how many.
    pub typed: Vec<(usize, usize)>,
    /// The new lines.
    pub contents: &'a [LineRef<'a>],
}

/// What became of lines.
#[derive(Debug, Default)]
pub(crate) struct Rebuilt {
    /// Runs of which lines came to be shown, as they were.
    pub shown: Vec<(IdRange, Held)>,
    pub removed: Vec<IdRange>,
    pub regained: Vec<IdRange>,
    pub typed: Vec<IdRange>,
}

impl Model {
    /// Makes runs show the new lines as their fates say.
    pub(crate) fn rebuild(&mut self, to: Fates<'_>) -> Rebuilt {
        let Fates { runs, mut line, fates, typed: inserts, contents } = to;
        let mut inserts = inserts.into_iter().peekable();
        let mut build = Build::default();
        let mut done = Rebuilt::default();
        let mut index = 0;
        for run in runs.clone() {
            let run = &self.runs[run];
            let start = line;
            line += if run.shown { run.len() } else { 0 };
            let rope = if run.shown { Some(start) } else { None };
            let comes = |fate: &Fate| matches!(fate, Fate::Shows(_) | Fate::Regained(_));
            if let (false, Some(was)) = (run.shown, &run.held)
                && fates[index..index + run.len()].iter().any(comes)
            {
                done.shown.push((run.ids, was.clone()));
            }
            for at in 0..run.len() {
                while let Some((_, len)) = inserts.next_if(|(before, _)| *before == index) {
                    let ids = IdRange { first: LineId(self.next_line), len };
                    self.next_line += len as u64;
                    push_range(&mut done.typed, ids);
                    build.typed(ids);
                }
                let id = IdRange { first: run.ids.at(at), len: 1 };
                let (gone, content) = match fates[index] {
                    Fate::Hidden { gone } => (gone, None),
                    Fate::Removed => {
                        push_range(&mut done.removed, id);
                        (true, None)
                    }
                    Fate::Shows(line) => (false, Some(contents[line])),
                    Fate::Regained(line) => {
                        push_range(&mut done.regained, id);
                        (false, Some(contents[line]))
                    }
                };
                // What is hidden now is kept as the rope has it, endings included.
                build.line(run, id, gone, || match (content, rope) {
                    // A last line without an ending keeps the one that it would have.
                    (Some(content), _) => {
                        let own = run.lines().get(at).map_or(self.ending, |line| line.ending);
                        content.to_owned_line(own)
                    }
                    (None, Some(start)) => self.buffer_lines(start + at, 1).pop().unwrap_or_default(),
                    (None, None) => run.lines()[at].clone(),
                });
                index += 1;
            }
        }
        for (_, len) in inserts {
            let ids = self.fresh(len);
            push_range(&mut done.typed, ids);
            build.typed(ids);
        }
        self.runs.splice(runs, build.finish());
        done
    }
}

/// Puts lines together to runs again.
#[derive(Default)]
struct Build {
    runs: Vec<Run>,
    held: Vec<OwnedLine>,
}

impl Build {
    fn line(&mut self, of: &Run, id: IdRange, gone: bool, content: impl FnOnce() -> OwnedLine) {
        let plain = of.is_nobodys() && !gone;
        let fits = |last: &Run| {
            last.ids.end() == id.first.0
                && last.maker == of.maker
                && last.gone == gone
                && last.shown == of.shown
                && last.removers == of.removers
        };
        if !self.runs.last().is_some_and(fits) {
            self.close();
            self.runs.push(Run { ids: IdRange { len: 0, ..id }, gone, held: None, ..of.clone() });
        }
        if let Some(last) = self.runs.last_mut() {
            last.ids.len += 1;
        }
        if !plain {
            self.held.push(content());
        }
    }

    fn typed(&mut self, ids: IdRange) {
        self.close();
        self.runs.push(Run::plain(ids.first, ids.len));
    }

    /// Gives the last run the content that was collected for it.
    fn close(&mut self) {
        if let Some(last) = self.runs.last_mut()
            && !self.held.is_empty()
        {
            last.held = Some(Held::new(std::mem::take(&mut self.held)));
        }
    }

    fn finish(mut self) -> Vec<Run> {
        self.close();
        self.runs
    }
}
