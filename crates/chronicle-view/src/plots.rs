//! Plots as SVG within a page: drawn with classes alone, so that the page's style gives them their colours.
//!
//! Each plot is an image with a text that says the same, and a table of its numbers.

mod time;
mod treemap;

use maud::{Markup, html};

pub(crate) use time::over_time;
pub(crate) use treemap::{Tile, treemap};

/// Numbers of one bar, with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// One for each series.
    pub(crate) counts: Vec<u64>,
}

/// A plot with its heading, and its numbers as a table.
pub(crate) struct Plot<'p> {
    pub(crate) title: &'p str,
    /// What the rows are, such as `week`.
    pub(crate) rows_are: &'p str,
    /// What each count of a row is.
    pub(crate) series: &'p [&'p str],
    pub(crate) rows: &'p [Row],
}

const WIDTH: usize = 480;
const HEIGHT: usize = 150;
/// Room for the names of rows.
const NAMES: usize = 150;
/// Room for a number at the end of a bar.
const NUMBER: usize = 60;

impl Plot<'_> {
    /// Bars next to each other, one group for each row: for rows in an order, such as weeks.
    pub(crate) fn upright(&self) -> Markup {
        let n_bars = (self.rows.len() * self.series.len()).max(1);
        let room = WIDTH / self.rows.len().max(1);
        let thick = (WIDTH.saturating_sub(2 * self.rows.len()) / n_bars).clamp(2, 28);
        let most = self.most();
        // So many names fit next to each other.
        let every = self.rows.len().div_ceil(6).max(1);
        self.figure(&html! {
            svg viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + 20)) role="img" aria-label=(self.in_words()) {
                line class="axis" x1="0" y1=(HEIGHT) x2=(WIDTH) y2=(HEIGHT) {}
                @for (at, row) in self.rows.iter().enumerate() {
                    @for (series, count) in row.counts.iter().enumerate() {
                        @let tall = scaled(*count, most, HEIGHT - 14);
                        @let left = at * room + series * thick + (room.saturating_sub(thick * self.series.len())) / 2;
                        rect class=(format!("s{series}")) x=(left) y=(HEIGHT - tall) width=(thick.saturating_sub(1)) height=(tall) {
                            title { (row.name) ": " (count) " " (self.series[series]) }
                        }
                    }
                    @if at % every == 0 {
                        text x=(at * room + room / 2) y=(HEIGHT + 15) text-anchor="middle" { (row.name) }
                    }
                }
            }
        })
    }

    /// Bars below each other, the first series of each row: for rows with names.
    pub(crate) fn flat(&self) -> Markup {
        const THICK: usize = 22;
        let most = self.most();
        self.figure(&html! {
            svg viewBox=(format!("0 0 {WIDTH} {}", THICK * self.rows.len().max(1))) role="img" aria-label=(self.in_words()) {
                @for (at, row) in self.rows.iter().enumerate() {
                    @let count = row.counts.first().copied().unwrap_or_default();
                    @let wide = scaled(count, most, WIDTH - NAMES - NUMBER);
                    text x="0" y=(at * THICK + 15) { (short(&row.name, 19)) }
                    rect class="s0" x=(NAMES) y=(at * THICK + 3) width=(wide) height=(THICK - 6) {}
                    text x=(NAMES + wide + 6) y=(at * THICK + 15) { (count) }
                }
            }
        })
    }

    fn most(&self) -> u64 {
        self.rows.iter().flat_map(|row| &row.counts).copied().max().unwrap_or_default().max(1)
    }

    /// What the plot shows, in words.
    fn in_words(&self) -> String {
        let sums: Vec<String> = self
            .series
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let sum: u64 = self.rows.iter().filter_map(|row| row.counts.get(at)).sum();
                format!("{sum} {name}")
            })
            .collect();
        format!(
            "{}: {} in {} rows; the table below has the numbers",
            self.title,
            sums.join(", "),
            self.rows.len()
        )
    }

    fn figure(&self, svg: &Markup) -> Markup {
        html! {
            figure {
                figcaption {
                    (self.title)
                    @if 1 < self.series.len() {
                        @for (at, name) in self.series.iter().enumerate() {
                            " " span class=(format!("key k{at}")) { (name) }
                        }
                    }
                }
                (svg)
                details {
                    summary { "Numbers" }
                    table {
                        thead { tr { th scope="col" { (self.rows_are) } @for name in self.series { th scope="col" { (name) } } } }
                        tbody {
                            @for row in self.rows {
                                tr { th scope="row" { (row.name) } @for count in &row.counts { td { (count) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `count` of `most` as a length; what is there is seen.
fn scaled(count: u64, most: u64, length: usize) -> usize {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    let scaled = count.saturating_mul(length) / most.max(1);
    usize::try_from(scaled.max(u64::from(0 < count))).unwrap_or(usize::MAX)
}

/// The beginning of a name that is too long for its place.
pub(crate) fn short(name: &str, longest: usize) -> String {
    if name.chars().count() <= longest {
        return name.to_owned();
    }
    let begin: String = name.chars().take(longest.saturating_sub(1)).collect();
    format!("{begin}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(rows: &[Row]) -> String {
        let plot = Plot { title: "T", rows_are: "week", series: &["sessions", "lessons"], rows };
        plot.upright().into_string()
    }

    #[test]
    fn a_plot_says_its_numbers_in_words_and_in_a_table() {
        let rows = [Row { name: "2026-W10".into(), counts: vec![1, 200] }];
        let text = plot(&rows);
        assert!(
            text.contains(
                r#"aria-label="T: 1 sessions, 200 lessons in 1 rows; the table below has the numbers""#
            ),
            "{text}"
        );
        assert!(text.contains("<td>1</td><td>200</td>"), "{text}");
        // What is there is seen, and nothing sets a style of its own.
        assert!(text.contains(r#"height="1""#), "{text}");
        assert!(!text.contains("style="), "{text}");
    }

    #[test]
    fn no_number_is_too_large_or_small_to_be_drawn() {
        assert_eq!(scaled(0, 0, 100), 0);
        assert_eq!(scaled(1, 1_000_000, 100), 1);
        assert_eq!(scaled(u64::MAX, u64::MAX, 100), 1);
        assert_eq!(scaled(5, 10, 100), 50);
        assert!(plot(&[]).contains("<svg"));
    }

    #[test]
    fn names_of_rows_are_text() {
        let text = plot(&[Row { name: "<b>\"x".into(), counts: vec![1, 1] }]);
        assert!(text.contains("&lt;b&gt;&quot;x") && !text.contains("<b>"), "{text}");
    }
}
