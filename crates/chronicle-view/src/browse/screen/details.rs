//! What is known of the selected row, or what was opened in its place.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::{Paragraph, Wrap},
};

use super::{BOLD, DIM, style_of, target_word};
use crate::browse::state::{Browser, Detail, Row};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, browser: &mut Browser) {
    let mut lines = Vec::new();
    match (&browser.detail, browser.selected()) {
        (Some(detail), row) => {
            // The lesson stays next to the session that wrote its line.
            if let Some(row) = row.filter(|_| browser.is_in_file()) {
                head(&mut lines, row);
                lines.extend(
                    row.detail
                        .lines
                        .iter()
                        .take_while(|line| !line.is_empty())
                        .map(|line| Line::raw(line.clone())),
                );
                lines.push(Line::raw(""));
            }
            add(&mut lines, detail);
        }
        (None, Some(row)) => {
            head(&mut lines, row);
            lines.extend(row.detail.lines.iter().map(|line| Line::raw(line.clone())));
            let n_here = browser
                .code
                .as_ref()
                .filter(|_| browser.is_in_file())
                .map_or(0, |code| code.lessons_here().len());
            if 1 < n_here {
                lines.push(Line::styled(format!("{n_here} lessons on this line: n and p"), DIM));
            }
        }
        (None, None) if browser.is_in_file() => {
            let n = browser.code.as_ref().map_or(0, |code| code.lessons.len());
            let words = match n {
                0 => "No lessons are known for this file.".to_owned(),
                n => format!("No lesson on this line. The file has {n}: n and p go to them."),
            };
            lines.push(Line::styled(words, DIM));
            lines.push(Line::styled("w shows who wrote the line, and in which session.", DIM));
        }
        (None, None) => {}
    }
    // What is scrolled past the end cannot be seen.
    browser.scroll = browser.scroll.min(n_rows(&lines, area.width).saturating_sub(1));
    let scroll = u16::try_from(browser.scroll).unwrap_or(u16::MAX);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }).scroll((scroll, 0)), area);
}

/// About how many rows of a screen the lines take.
fn n_rows(lines: &[Line<'_>], width: u16) -> usize {
    lines.iter().map(|line| line.width().div_ceil(usize::from(width.max(1))).max(1)).sum()
}

fn head(lines: &mut Vec<Line<'static>>, row: &Row) {
    lines.push(Line::from(vec![
        Span::styled(row.mark, style_of(row.kind)),
        Span::raw(" "),
        Span::styled(target_word(row), style_of(row.kind).patch(BOLD)),
    ]));
}

fn add(lines: &mut Vec<Line<'static>>, detail: &Detail) {
    lines.push(Line::styled(detail.heading.clone(), BOLD));
    lines.extend(detail.lines.iter().map(|line| match line.strip_prefix("── ") {
        Some(_) => Line::styled(line.clone(), DIM),
        None => Line::raw(line.clone()),
    }));
}
