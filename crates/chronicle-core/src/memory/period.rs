//! Days, weeks, months and spans of days, as people name them.

use jiff::civil::{Date, ISOWeekDate, Weekday};

/// The months by their English names, in small letters.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

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
    /// `last month`, `monday`, `march` (the last ones), `last monday`, `monday last week`, `9 march`, `march 9 2026`, `first week
    /// of march`, `3 days ago`, `last 7 days`, `2026-03-09`, `2026-W11`, `2026-03`, or two of them as in
    /// `2026-03-01..2026-03-09`.
    #[must_use]
    pub fn named(text: &str, today: Date) -> Option<Self> {
        let text = text.trim();
        if let Some((first, last)) = text.split_once("..") {
            // A day of the week is the one before the end.
            let last = Self::named(last, today)?.last();
            let first = Self::named(first, last).filter(|_| !first.contains(".."))?.first();
            return (first <= last).then_some(Self::Range(first, last));
        }
        Some(match text.to_ascii_lowercase().replace(['-', '_'], " ").as_str() {
            "day" | "daily" | "today" => Self::Day(today),
            "yesterday" | "last day" => Self::Day(today.yesterday().ok()?),
            "week" | "weekly" | "this week" => Self::of(Span::Week, today),
            "last week" => Self::of(Span::Week, monday(today).yesterday().ok()?),
            "month" | "monthly" | "this month" => Self::of(Span::Month, today),
            "last month" => Self::of(Span::Month, today.first_of_month().yesterday().ok()?),
            spoken => return Self::counted(spoken, today).or_else(|| Self::dated(text)),
        })
    }

    /// A day or a month by its name, `3 days ago`, `last 7 days`.
    fn counted(text: &str, today: Date) -> Option<Self> {
        const DAYS: [&str; 7] =
            ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
        let place = |names: &[&str]| names.iter().position(|name| *name == text);
        if let Some(day) = place(&DAYS) {
            let back = (usize::try_from(today.weekday().to_monday_zero_offset()).ok()? + 7 - day) % 7;
            return back_from(today, back, "days").map(Self::Day);
        }
        if let Some(month) = place(&MONTHS) {
            let back = (usize::try_from(today.month()).ok()? + 11 - month) % 12;
            return back_from(today.first_of_month(), back, "months").map(Self::Month);
        }
        let day_called = |name: &str| DAYS.iter().position(|known| *known == name);
        let month_called = |name: &str| MONTHS.iter().position(|known| *known == name);
        match text.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["last", day] if day_called(day).is_some() => Self::counted(day, today.yesterday().ok()?),
            [day, "last", "week"] => {
                let day = i64::try_from(day_called(day)?).ok()?;
                let start = monday(monday(today).yesterday().ok()?);
                start.checked_add(jiff::Span::new().days(day)).ok().map(Self::Day)
            }
            [which, "week", "of", month] => {
                let first = back_from(
                    today.first_of_month(),
                    (usize::try_from(today.month()).ok()? + 11 - month_called(month)?) % 12,
                    "months",
                )?;
                Self::week_of(which, first)
            }
            [day, month] if month_called(month).is_some() => Self::day_of(day, month_called(month)?, today),
            [month, day] if month_called(month).is_some() => Self::day_of(day, month_called(month)?, today),
            [day, month, year] | [month, day, year] if month_called(month).is_some() => {
                let month = i8::try_from(month_called(month)? + 1).ok()?;
                Date::new(year.parse().ok()?, month, day.parse().ok()?).ok().map(Self::Day)
            }
            [n, unit, "ago"] => {
                let day = back_from(today, n.parse().ok()?, unit)?;
                Some(match unit.trim_end_matches('s') {
                    "day" => Self::Day(day),
                    "week" => Self::of(Span::Week, day),
                    _ => Self::of(Span::Month, day),
                })
            }
            ["last" | "past", n, unit] => {
                let before = back_from(today, n.parse().ok().filter(|n| 0 < *n)?, unit)?;
                Some(Self::Range(before.tomorrow().ok()?, today))
            }
            _ => None,
        }
    }

    /// The last such day of the month with this place in the year, or the whole month of a year where `day` is one.
    fn day_of(day: &str, month: usize, today: Date) -> Option<Self> {
        let month = i8::try_from(month + 1).ok()?;
        if day.len() == 4 {
            return Date::new(day.parse().ok()?, month, 1).ok().map(Self::Month);
        }
        let day = day.parse().ok()?;
        let dates = (0..4).filter_map(|back| Date::new(today.year() - back, month, day).ok());
        dates.into_iter().find(|date| *date <= today).map(Self::Day)
    }

    /// A week of the month that begins on `first`: seven days from its start on, or the last seven.
    fn week_of(which: &str, first: Date) -> Option<Self> {
        let last = first.last_of_month();
        let days = |date: Date, n: i64| date.checked_add(jiff::Span::new().days(n)).ok();
        let number = match which {
            "first" => 0,
            "second" => 1,
            "third" => 2,
            "fourth" => 3,
            "last" => return Some(Self::Range(days(last, -6)?, last)),
            _ => return None,
        };
        let start = days(first, 7 * number)?;
        Some(Self::Range(start, days(start, 6)?))
    }

    fn dated(text: &str) -> Option<Self> {
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

/// The day so many days, weeks or months before another.
fn back_from(day: Date, n: usize, unit: &str) -> Option<Date> {
    let n = i32::try_from(n).ok().filter(|n| *n < 100_000)?;
    let span = match unit.trim_end_matches('s') {
        "day" => jiff::Span::new().days(n),
        "week" => jiff::Span::new().weeks(n),
        "month" => jiff::Span::new().months(n),
        _ => return None,
    };
    day.checked_sub(span).ok()
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
        check("Thursday", "2026-01-01: 2026-01-01 to 2026-01-01");
        check("friday", "2025-12-26: 2025-12-26 to 2025-12-26");
        check("friday..monday", "2025-12-26..2025-12-29: 2025-12-26 to 2025-12-29");
        check("monday..yesterday", "2025-12-29..2025-12-31: 2025-12-29 to 2025-12-31");
        check("january", "2026-01: 2026-01-01 to 2026-01-31");
        check("march", "2025-03: 2025-03-01 to 2025-03-31");
        check("3 days ago", "2025-12-29: 2025-12-29 to 2025-12-29");
        check("1 week ago", "2025-W52: 2025-12-22 to 2025-12-28");
        check("last 7 days", "2025-12-26..2026-01-01: 2025-12-26 to 2026-01-01");
        check("last thursday", "2025-12-25: 2025-12-25 to 2025-12-25");
        check("wednesday last week", "2025-12-24: 2025-12-24 to 2025-12-24");
        check("16 november", "2025-11-16: 2025-11-16 to 2025-11-16");
        check("November 16", "2025-11-16: 2025-11-16 to 2025-11-16");
        check("november-16-2024", "2024-11-16: 2024-11-16 to 2024-11-16");
        check("29 february", "2024-02-29: 2024-02-29 to 2024-02-29");
        check("november 2024", "2024-11: 2024-11-01 to 2024-11-30");
        check("first week of november", "2025-11-01..2025-11-07: 2025-11-01 to 2025-11-07");
        check("last week of october", "2025-10-25..2025-10-31: 2025-10-25 to 2025-10-31");
        check("20 november..25 november", "2025-11-20..2025-11-25: 2025-11-20 to 2025-11-25");
        check("20 november..today", "2025-11-20..2026-01-01: 2025-11-20 to 2026-01-01");
        for wrong in [
            "",
            "0 fortnights ago",
            "last 0 days",
            "last 99999999999 days",
            "a..b..c",
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
