//! Counts things by week, month or year.

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};

use super::Row;

/// More groups of bars than this are too thin.
const MOST_ROWS: usize = 53;

/// A span of time that things are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Week,
    Month,
    Year,
}

impl Unit {
    const ALL: [Self; 3] = [Self::Week, Self::Month, Self::Year];

    /// The first day of the unit that `date` is in.
    fn first(self, date: Date) -> Option<Date> {
        match self {
            Self::Week => date.checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days()).ok(),
            Self::Month => Some(date.first_of_month()),
            Self::Year => Some(date.first_of_year()),
        }
    }

    fn next(self, first: Date) -> Option<Date> {
        let step = match self {
            Self::Week => 1.week(),
            Self::Month => 1.month(),
            Self::Year => 1.year(),
        };
        first.checked_add(step).ok()
    }

    fn name(self, first: Date) -> String {
        match self {
            Self::Week => first.strftime("%d %b").to_string(),
            Self::Month => first.strftime("%b %Y").to_string(),
            Self::Year => first.strftime("%Y").to_string(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Week => "week from",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// How many of each of `series` there are in each week, or in longer units where weeks are too many; and the unit's name.
///
/// Units without any are there too, between the first and the last. What says that it is of the future, or from before
/// 1970, is not counted: the authors of notes date them.
pub(crate) fn over_time(series: &[Vec<Timestamp>], now: Timestamp) -> (Vec<Row>, &'static str) {
    let date = |at: &Timestamp| at.to_zoned(TimeZone::UTC).date();
    let is_sound = |at: &&Timestamp| **at <= now && 0 <= at.as_second();
    let dates: Vec<Vec<Date>> =
        series.iter().map(|times| times.iter().filter(is_sound).map(date).collect()).collect();
    let all = || dates.iter().flatten().copied();
    let (Some(first), Some(last)) = (all().min(), all().max()) else { return (Vec::new(), "week from") };
    for unit in Unit::ALL {
        let mut starts = Vec::new();
        let mut at = unit.first(first);
        while let Some(start) = at.filter(|start| *start <= last) {
            starts.push(start);
            at = unit.next(start);
        }
        if MOST_ROWS < starts.len() && unit != Unit::Year {
            continue;
        }
        let mut rows: Vec<Row> = starts
            .iter()
            .map(|start| Row { name: unit.name(*start), counts: vec![0; series.len()] })
            .collect();
        for (number, dates) in dates.iter().enumerate() {
            for date in dates {
                let at = starts.partition_point(|start| start <= date).saturating_sub(1);
                rows[at].counts[number] += 1;
            }
        }
        return (rows, unit.word());
    }
    (Vec::new(), "week from")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(series: &[&[&str]]) -> (Vec<(String, Vec<u64>)>, &'static str) {
        let times = |texts: &&[&str]| texts.iter().map(|text| text.parse().expect("a time")).collect();
        let series: Vec<Vec<Timestamp>> = series.iter().map(times).collect();
        let now = "2026-03-10T12:00:00Z".parse().expect("a time");
        let (rows, unit) = over_time(&series, now);
        (rows.into_iter().map(|row| (row.name, row.counts)).collect(), unit)
    }

    #[test]
    fn weeks_without_anything_are_shown_too() {
        let first = ["2026-02-16T00:00:00Z", "2026-02-22T23:59:59Z"];
        let second = ["2026-03-02T10:00:00Z", "2026-03-11T10:00:00Z", "1960-01-01T00:00:00Z"];
        let expected = [("16 Feb", [2, 0]), ("23 Feb", [0, 0]), ("02 Mar", [0, 1])];
        let expected: Vec<_> =
            expected.into_iter().map(|(name, counts)| (name.to_owned(), counts.to_vec())).collect();
        assert_eq!(rows(&[&first, &second]), (expected, "week from"));
        assert_eq!(rows(&[&[], &[]]), (Vec::new(), "week from"));
    }

    #[test]
    fn long_times_are_counted_by_months_or_years() {
        let (months, unit) = rows(&[&["2024-01-31T00:00:00Z", "2026-03-01T00:00:00Z"]]);
        assert_eq!((months.len(), unit), (27, "month"));
        assert_eq!(months[26], ("Mar 2026".to_owned(), vec![1]));
        let (years, unit) = rows(&[&["1990-06-01T00:00:00Z", "2026-03-01T00:00:00Z"]]);
        assert_eq!((years.len(), unit), (37, "year"));
    }
}
