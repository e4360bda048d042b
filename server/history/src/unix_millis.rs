//! Moments as programs exchange them: numbers, which need no parsing.

use jiff::Timestamp;

/// A moment, in milliseconds since 1970 (UTC).
///
/// The record writes its times as text in RFC 3339; what has no time there that can be read has the first moment.
///
/// ```
/// use hashline_history::UnixMillis;
///
/// assert_eq!(UnixMillis::of_record("2026-11-29T12:00:00.5Z"), UnixMillis(1_795_953_600_500));
/// assert_eq!(UnixMillis::of_record("yesterday"), UnixMillis(0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// This moment.
    #[must_use]
    pub fn now() -> Self {
        Self::of(Timestamp::now())
    }

    /// A time as the record writes it.
    #[must_use]
    pub fn of_record(time: &str) -> Self {
        time.parse().map_or(Self(0), Self::of)
    }

    fn of(moment: Timestamp) -> Self {
        Self(u64::try_from(moment.as_millisecond()).unwrap_or(0))
    }
}
