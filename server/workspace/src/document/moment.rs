//! Moments, as whoever owns a document counts them: the document has no clock.

/// A moment, in milliseconds of a clock that only goes forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    pub(crate) fn after(self, millis: u64) -> Self {
        Self(self.0 + millis)
    }

    pub(crate) fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
