//! Moments, as a person in their time zone reads them.

use std::time::Duration;

use hashline_terminal::inert;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::{Timestamp, Zoned};

/// Reads the moments of a history.
#[derive(Debug)]
pub struct Clock {
    now: Zoned,
}

impl Clock {
    /// The clock of this machine.
    pub fn of_this_machine() -> Self {
        Self { now: Zoned::now() }
    }

    #[cfg(test)]
    pub fn at(now: &str) -> Self {
        let now: Timestamp = now.parse().unwrap();
        Self { now: now.to_zoned(jiff::tz::TimeZone::UTC) }
    }

    fn zoned(&self, moment: &str) -> Option<Zoned> {
        moment.parse::<Timestamp>().ok().map(|moment| moment.to_zoned(self.now.time_zone().clone()))
    }

    /// A moment in few columns: of today the time, of the last half year the day and the time, else the date.
    pub fn short(&self, moment: &str) -> String {
        let Some(then) = self.zoned(moment) else { return inert(moment) };
        let days = self.now.date().since(then.date()).map_or(i32::MAX, |span| span.get_days());
        let form = match days {
            0 => "%H:%M:%S",
            1..=180 => "%b %d %H:%M",
            _ => "%Y-%m-%d",
        };
        then.strftime(form).to_string()
    }

    /// A moment to the second.
    pub fn long(&self, moment: &str) -> String {
        self.zoned(moment)
            .map_or_else(|| inert(moment), |then| then.strftime("%Y-%m-%d %H:%M:%S").to_string())
    }
}

/// The moment so long ago, as the logs write it: moments in this form are ordered as texts are.
pub fn ago(age: Duration) -> String {
    let then = Timestamp::now().checked_sub(age).unwrap_or(Timestamp::UNIX_EPOCH).max(Timestamp::UNIX_EPOCH);
    DateTimePrinter::new().precision(Some(6)).timestamp_to_string(&then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_further_away_the_coarser() {
        let clock = Clock::at("2026-11-21T20:15:03Z");
        for (moment, short) in [
            ("2026-11-21T00:00:00.123456Z", "00:00:00"),
            ("2026-11-20T23:59:59Z", "Nov 20 23:59"),
            ("2026-06-01T08:00:00Z", "Jun 01 08:00"),
            ("2026-01-01T08:00:00Z", "2026-01-01"),
            // Somebody's clock is ahead.
            ("2027-01-01T08:00:00Z", "2027-01-01"),
            ("yesterday\x1b[31m", "yesterday\\x1b[31m"),
        ] {
            assert_eq!(clock.short(moment), short, "{moment}");
        }
        assert_eq!(clock.long("2026-11-20T23:59:59.5Z"), "2026-11-20 23:59:59");
    }

    #[test]
    fn ages_beyond_all_time_reach_back_to_the_beginning() {
        assert_eq!(ago(Duration::from_secs(u64::MAX)), "1970-01-01T00:00:00.000000Z");
        assert!(ago(Duration::from_secs(60)) < ago(Duration::ZERO));
    }
}
