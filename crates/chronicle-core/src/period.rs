//! Days, weeks, months and spans of days, as people name them.

use jiff::civil::{Date, ISOWeekDate, Weekday};

/// A span of whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Period {
    /// One day.
    Day(Date),
    /// The week that begins on this Monday.
    Week(Date),
    /// The month that begins on this day.
    Month(Date),
    /// From one day to another, both included.
    Range(Date, Date),
}

/// The kinds of periods that digests are made of by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Span {
    /// A day.
    Day,
    /// A week, from Monday on.
    Week,
    /// A month.
    Month,
}

impl Period {
    /// The period of this kind that `date` is in.
    #[must_use]
    pub fn of(span: Span, date: Date) -> Self {
        match span {
            Span::Day => Self::Day(date),
            Span::Week => Self::Week(monday(date)),
            Span::Month => Self::Month(date.first_of_month()),
        }
    }

    /// The period that `text` names, seen from `today`: `day`, `today`, `yesterday`, `week`, `last week`, `month`,
    /// `last month`, `2026-03-09`, `2026-W11`, `2026-03` or `2026-03-01..2026-03-09`.
    #[must_use]
    pub fn named(text: &str, today: Date) -> Option<Self> {
        let text = text.trim();
        Some(match text.to_ascii_lowercase().replace(['-', '_'], " ").as_str() {
            "day" | "daily" | "today" => Self::Day(today),
            "yesterday" | "last day" => Self::Day(today.yesterday().ok()?),
            "week" | "weekly" | "this week" => Self::of(Span::Week, today),
            "last week" => Self::of(Span::Week, monday(today).yesterday().ok()?),
            "month" | "monthly" | "this month" => Self::of(Span::Month, today),
            "last month" => Self::of(Span::Month, today.first_of_month().yesterday().ok()?),
            _ => return Self::dated(text),
        })
    }

    fn dated(text: &str) -> Option<Self> {
        if let Some((first, last)) = text.split_once("..") {
            let (first, last) = (Self::dated(first.trim())?.first(), Self::dated(last.trim())?.last());
            return (first <= last).then_some(Self::Range(first, last));
        }
        if let Some((year, week)) = text.split_once("-W").or_else(|| text.split_once("-w")) {
            let week = ISOWeekDate::new(year.parse().ok()?, week.parse().ok()?, Weekday::Monday).ok()?;
            return Some(Self::Week(week.date()));
        }
        if text.len() == "2026-03".len() {
            return format!("{text}-01").parse().ok().map(Self::Month);
        }
        // Nothing but a date: the library would take a time of day too.
        (text.len() == "2026-03-09".len()).then(|| text.parse().ok().map(Self::Day)).flatten()
    }

    /// Its first day.
    #[must_use]
    pub fn first(self) -> Date {
        match self {
            Self::Day(day) | Self::Week(day) | Self::Month(day) | Self::Range(day, _) => day,
        }
    }

    /// Its last day.
    #[must_use]
    pub fn last(self) -> Date {
        match self {
            Self::Day(day) | Self::Range(_, day) => day,
            Self::Week(monday) => monday.checked_add(jiff::Span::new().days(6)).unwrap_or(Date::MAX),
            Self::Month(first) => first.last_of_month(),
        }
    }

    /// What it is called: `2026-03-09`, `2026-W11`, `2026-03`, `2026-03-01..2026-03-09`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Day(day) => day.to_string(),
            Self::Week(monday) => {
                let week = monday.iso_week_date();
                format!("{:04}-W{:02}", week.year(), week.week())
            }
            Self::Month(first) => first.strftime("%Y-%m").to_string(),
            Self::Range(first, last) => format!("{first}..{last}"),
        }
    }
}

impl Span {
    /// All kinds, the shortest first.
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// What happens once in such a period.
    #[must_use]
    pub fn adverb(self) -> &'static str {
        match self {
            Self::Day => "daily",
            Self::Week => "weekly",
            Self::Month => "monthly",
        }
    }
}

/// The Monday of the week that `date` is in.
fn monday(date: Date) -> Date {
    let back = date.weekday().since(Weekday::Monday);
    date.checked_sub(jiff::Span::new().days(back)).unwrap_or(Date::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let today = "2026-01-01".parse().expect("a day");
        let found = Period::named(text, today)
            .map(|period| format!("{}: {} to {}", period.name(), period.first(), period.last()));
        assert_eq!(found.unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn periods_have_names() {
        check("day", "2026-01-01: 2026-01-01 to 2026-01-01");
        check("yesterday", "2025-12-31: 2025-12-31 to 2025-12-31");
        // The first of January 2026 is a Thursday.
        check("week", "2026-W01: 2025-12-29 to 2026-01-04");
        check("last-week", "2025-W52: 2025-12-22 to 2025-12-28");
        check("last month", "2025-12: 2025-12-01 to 2025-12-31");
        check("2024-02", "2024-02: 2024-02-01 to 2024-02-29");
        check("2020-W53", "2020-W53: 2020-12-28 to 2021-01-03");
        check("2026-03-01..2026-03-09", "2026-03-01..2026-03-09: 2026-03-01 to 2026-03-09");
        check("2026-01..2026-W11", "2026-01-01..2026-03-15: 2026-01-01 to 2026-03-15");
        for wrong in [
            "",
            "someday",
            "2026-02-30",
            "2026-W54",
            "2026-13",
            "2026-03-09..2026-03-01",
            "..",
            "2026-03-09T10:00",
        ] {
            check(wrong, "");
        }
    }

    #[test]
    fn the_ends_of_time_are_periods_too() {
        for date in [Date::MIN, Date::MAX] {
            for span in Span::ALL {
                let period = Period::of(span, date);
                assert!(period.first() <= date && date <= period.last() && !period.name().is_empty());
            }
        }
    }
}
