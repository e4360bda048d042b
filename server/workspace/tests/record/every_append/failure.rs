//! The ways in which an append fails.

/// How an append fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing is written.
    Refused,
    /// Nothing is written, and nothing by the next ones.
    Full,
    /// Half of the line is written.
    Half,
    /// The line is written, and may not be durable: it is taken back.
    Unsynced,
    /// The line is written, and may be neither durable nor taken back.
    Torn,
    /// It only takes as long as what comes meanwhile.
    Slow,
}

impl Failure {
    pub const ALL: [Self; 6] =
        [Self::Refused, Self::Full, Self::Half, Self::Unsynced, Self::Torn, Self::Slow];
}
