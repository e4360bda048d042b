//! What is judged without the ways that spare work, and what the journal knows: for tests.

use hashline_text::Text;

use crate::attribution::interpretation::{Candidate, Judgement};
use crate::attribution::region::Regions;
use crate::attribution::weave::Weave;

impl Weave {
    /// As [`typed`](Self::typed), judged among all runs where any line reads otherwise.
    #[doc(hidden)]
    pub fn typed_among_all(&mut self, new: &Text, regions: &Regions) -> Judgement {
        self.typed_as(new, regions, |weave, arrival| {
            let same = arrival.touched.is_empty();
            same.then(|| weave.typed_in_place(new, regions, arrival)).flatten()
        })
    }

    /// As [`recognised`](Self::recognised), judged among all runs, but for lines that only read otherwise: those are taken over in place.
    #[doc(hidden)]
    pub fn recognised_among_all(&mut self, new: &Text, regions: &Regions, asked: &[Candidate]) -> Judgement {
        self.recognised_as(new, regions, asked, |_, _| None)
    }

    /// What the journal knows of the texts before: the contents of their lines, the latest first.
    #[doc(hidden)]
    #[must_use]
    pub fn texts_before(&self) -> Vec<Vec<String>> {
        self.journal.texts_before(self.buffer())
    }

    /// About how many bytes the journal keeps in memory.
    #[doc(hidden)]
    #[must_use]
    pub fn journal_bytes(&self) -> usize {
        self.journal.bytes()
    }
}
