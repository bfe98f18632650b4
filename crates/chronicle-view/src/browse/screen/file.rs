//! A file with a gutter: its line numbers, a symbol where a lesson is, and who wrote the line.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{BOLD, DIM, SELECTED, scrolled, short, style_of};
use crate::browse::state::{Browser, Code, Row};

/// Room for who wrote a line.
const AUTHOR: usize = 18;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, browser: &mut Browser) {
    let Some(code) = &mut browser.code else { return };
    let heading = format!("{} · line {} of {}", code.file, code.line, code.n_lines());
    let heading = Line::styled(short(&heading, usize::from(area.width)), BOLD);
    let height = usize::from(area.height).saturating_sub(1);
    code.top = scrolled(code.top, (code.line as usize).saturating_sub(1), height, code.lines.len());
    browser.rows_at.0 = area.y + 1;
    let mut lines = vec![heading];
    if code.lines.is_empty() {
        lines.push(Line::styled("The file is empty, gone, or no text.", DIM));
    }
    let marks = Marks::of(code);
    let numbers = code.lines.len().to_string().len();
    for (at, text) in code.lines.iter().enumerate().skip(code.top).take(height) {
        lines.push(line(code, &marks, at, text, numbers, usize::from(area.width)));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn line(
    code: &Code,
    marks: &Marks<'_>,
    at: usize,
    text: &str,
    numbers: usize,
    width: usize,
) -> Line<'static> {
    let number = at + 1;
    let mut spans = Vec::new();
    let mut room = width.saturating_sub(numbers + 4);
    // A narrow screen has room for the code alone.
    if code.is_blame_shown && AUTHOR * 2 < room {
        let who = code.written.get(at).and_then(Option::as_ref);
        let who = who.map(|who| short(&format!("{} {}", who.age, who.author), AUTHOR)).unwrap_or_default();
        spans.push(Span::styled(format!("{who:AUTHOR$} "), DIM));
        room = room.saturating_sub(AUTHOR + 1);
    }
    spans.push(Span::styled(format!("{number:numbers$} "), DIM));
    match marks.at(number) {
        Some((row, is_first)) => {
            spans.push(Span::styled(if is_first { row.mark } else { "┆" }, style_of(row.kind)));
        }
        None => spans.push(Span::raw(" ")),
    }
    spans.push(Span::styled("│ ", DIM));
    spans.push(Span::raw(short(text, room)));
    let line = Line::from(spans);
    if number == code.line as usize { line.style(SELECTED) } else { line }
}

/// Which lesson marks a line: the one that begins there, else one that goes on there.
struct Marks<'c> {
    lessons: &'c [Row],
}

impl<'c> Marks<'c> {
    fn of(code: &'c Code) -> Self {
        Self { lessons: &code.lessons }
    }

    fn at(&self, line: usize) -> Option<(&'c Row, bool)> {
        let line = u32::try_from(line).ok()?;
        let begins = self.lessons.iter().find(|lesson| lesson.lines.is_some_and(|(start, _)| start == line));
        begins
            .map(|row| (row, true))
            .or_else(|| self.lessons.iter().find(|row| row.is_on(line)).map(|row| (row, false)))
    }
}
