//! Lengths of time, as people write them.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// Reads a length of time such as `90s`, `5m`, `1h 30min`, `2d` or `3 months`. A day has 24 hours; a month and a year are
/// as long as the next one is.
///
/// # Errors
///
/// A sentence that says what to write instead.
pub fn duration(text: &str) -> Result<Duration, String> {
    let now = Timestamp::now().to_zoned(TimeZone::UTC);
    let span = text.parse().and_then(|span: Span| span.to_duration(&now));
    span.ok()
        .and_then(|duration| duration.try_into().ok())
        .ok_or_else(|| "give a number and a unit, such as 30s, 5m, 8h or 2d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_them_in_many_ways() {
        for (text, seconds) in [
            ("0s", 0),
            ("30s", 30),
            ("5m", 300),
            ("30min", 1_800),
            ("1h 30min", 5_400),
            ("8h", 28_800),
            ("2d", 172_800),
            ("30days", 2_592_000),
            ("1 week", 604_800),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert!(duration("3 months").unwrap() > duration("12 weeks").unwrap());
        for wrong in ["", "5", "h", "-5m", "5m ago", "1 fortnight", "999999999999d"] {
            assert!(duration(wrong).unwrap_err().starts_with("give a number and a unit"), "{wrong}");
        }
    }
}
