//! Times as notes hold them, and ages as people say them.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

/// Reads an RFC 3339 time, also without an offset (taken as UTC) or as a plain date.
#[must_use]
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>().ok().or_else(|| {
        text.parse::<jiff::civil::DateTime>()
            .ok()?
            .to_zoned(jiff::tz::TimeZone::UTC)
            .ok()
            .map(|at| at.timestamp())
    })
}

/// A span of time, shown in its largest whole unit: `4 months`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age(pub SignedDuration);

impl Age {
    /// The time from `then` to `now`; nothing lies in the future.
    #[must_use]
    pub fn between(then: Timestamp, now: Timestamp) -> Self {
        Self(now.duration_since(then).max(SignedDuration::ZERO))
    }

    /// The age in days and fractions of a day.
    #[must_use]
    pub fn days(self) -> f64 {
        self.0.as_secs_f64() / 86_400.0
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let units = [
            (31_557_600, "year"),
            (2_629_800, "month"),
            (604_800, "week"),
            (86_400, "day"),
            (3_600, "hour"),
            (60, "minute"),
        ];
        for (length, unit) in units {
            // Two weeks are said in days, as git does: a week is coarse.
            if unit == "week" && seconds < 3 * length {
                continue;
            }
            let count = seconds / length;
            if 0 < count {
                return write!(f, "{count} {unit}{}", if count == 1 { "" } else { "s" });
            }
        }
        f.write_str("moments")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_said_in_its_largest_unit() {
        let said = |seconds| Age(SignedDuration::from_secs(seconds)).to_string();
        assert_eq!(said(5), "moments");
        assert_eq!(said(60), "1 minute");
        assert_eq!(said(2 * 86_400), "2 days");
        assert_eq!(said(13 * 86_400), "13 days");
        assert_eq!(said(22 * 86_400), "3 weeks");
        assert_eq!(said(125 * 86_400), "4 months");
        assert_eq!(said(800 * 86_400), "2 years");
    }

    #[test]
    fn times_in_every_form_that_notes_hold_are_read() {
        for text in [
            "2026-02-06T19:30:00Z",
            "2026-02-06T19:30:00+00:00",
            "2026-02-06T11:30:00-08:00",
            "2026-02-06T19:30:00",
        ] {
            assert_eq!(parse_time(text).map(Timestamp::as_second), Some(1_770_406_200), "{text}");
        }
        assert_eq!(parse_time("2026-02-06").map(Timestamp::as_second), Some(1_770_336_000));
        assert_eq!(parse_time("yesterday"), None);
    }
}
