//! How far hunks reach among runs (rule W4), and how many reach over a place (rule W5).

use crate::model::run::Run;

/// Per hunk the first and the last run that it made or removed (rule W4).
pub(crate) type Spans = Vec<Option<(usize, usize)>>;

/// The spans of so many hunks in a list of runs.
pub(super) fn spans_in(runs: &[Run], hunks: usize) -> Spans {
    let mut spans: Spans = vec![None; hunks];
    for (index, run) in runs.iter().enumerate() {
        for hunk in run.maker.iter().chain(&run.removers) {
            let span = &mut spans[hunk.index()];
            *span = Some(span.map_or((index, index), |(first, _)| (first, index)));
        }
    }
    spans
}

/// How many spans each place among the runs lies inside.
pub(crate) struct Cover {
    /// Spans that a run is part of.
    runs: Vec<usize>,
    /// Spans that begin at a run.
    begin: Vec<usize>,
}

impl Cover {
    pub(super) fn of(spans: &Spans, runs: usize) -> Self {
        let mut begin = vec![0; runs + 1];
        let mut end = vec![0; runs + 1];
        for (first, last) in spans.iter().flatten() {
            begin[*first] += 1;
            end[*last + 1] += 1;
        }
        Self::between((begin, end), 0)
    }

    /// By how many spans begin with each run, and how many end before it; so many reach over the beginning.
    pub(super) fn between((begin, end): (Vec<usize>, Vec<usize>), mut open: usize) -> Self {
        let both = begin.iter().zip(&end);
        let count = |(begin, end): (&usize, &usize)| {
            open = open + begin - end;
            open
        };
        let runs = both.map(count).collect();
        Self { runs, begin }
    }

    /// Around the place before a run.
    pub(crate) fn before(&self, run: usize) -> usize {
        self.runs[run] - self.begin[run]
    }

    /// Around a place inside a run.
    pub(crate) fn inside(&self, run: usize) -> usize {
        self.runs[run]
    }
}
