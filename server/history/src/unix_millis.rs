//! Moments as programs exchange them: numbers, which need no parsing.

use jiff::Timestamp;

/// A moment, in milliseconds since 1970 (UTC).
///
/// The record writes its times as text in RFC 3339.
///
/// ```
/// use hashline_history::UnixMillis;
///
/// assert_eq!(UnixMillis::of_record("2026-11-29T12:00:00.5Z"), Some(UnixMillis(1_795_953_600_500)));
/// assert_eq!(UnixMillis::of_record("yesterday"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// A time as the record writes it; none where it cannot be read.
    #[must_use]
    pub fn of_record(time: &str) -> Option<Self> {
        let moment: Timestamp = time.parse().ok()?;
        u64::try_from(moment.as_millisecond()).ok().map(Self)
    }
}
