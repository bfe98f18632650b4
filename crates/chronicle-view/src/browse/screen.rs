//! Draws the browser.
//!
//! Colours are red, magenta and green alone, beside bold, dim and reversed: the others are hard to read on a light or on a
//! dark ground. Each kind has a symbol, too, so nothing hangs on a colour.

mod details;
mod file;

use chronicle_core::plain;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};

use super::state::{Browser, Row, Tab, Target};

pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);

/// From this width on, the details are next to the rows and not below them.
const WIDE: u16 = 90;

const HELP: [&str; 20] = [
    "j k, arrows    move               space, PgUp PgDn  page",
    "g G            first, last        n p               next, previous lesson or hit",
    "Tab, 1-4       lists              Enter             open",
    "/              find               Esc               back",
    "[ ]            scroll the details",
    "",
    "w              who wrote the line: commit, session, request",
    "b              who wrote each line of the file",
    "o              open the file in your editor, at the line",
    "y              copy for an agent (clipboard of the terminal)",
    "r              continue the session with its agent",
    "",
    "lessons        f  flag as doubtful    e  edit the words",
    "               c  confirm             x  reject",
    "open work      R  done                x  won't do",
    "sessions       c  title is right      x  title is wrong",
    "",
    "▲ gotcha  ✗ dead end  ● insight  ○ unfinished",
    "",
    "q quits; any key closes this",
];

/// Draws the browser, and notes how much fits.
pub(crate) fn draw(frame: &mut Frame<'_>, browser: &mut Browser) {
    let area = frame.area();
    let [top, body, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    frame.render_widget(tabs(browser), top);
    let (rows, details) = split(body);
    browser.page = usize::from(rows.height);
    browser.rows_at = (rows.y, rows.width);
    if browser.is_in_file() {
        file::draw(frame, rows, browser);
    } else {
        list(frame, rows, browser);
    }
    details::draw(frame, details, browser);
    frame.render_widget(last_line(browser, bottom.width), bottom);
    if browser.is_help {
        help(frame, body);
    }
}

/// The places of the rows and of the details.
fn split(body: Rect) -> (Rect, Rect) {
    let parts = match body.width {
        WIDE.. => Layout::horizontal([Constraint::Percentage(58), Constraint::Min(0)]).spacing(1),
        _ => Layout::vertical([Constraint::Percentage(55), Constraint::Min(0)]),
    };
    let [rows, details] = parts.areas(body);
    (rows, details)
}

fn tabs(browser: &Browser) -> Line<'static> {
    let mut spans = Vec::new();
    for tab in Tab::ALL {
        let style = if tab == browser.tab { SELECTED } else { Style::new() };
        spans.push(Span::styled(browser.tab_label(tab), style));
        spans.push(Span::raw(" "));
    }
    spans.push(Span::styled(browser.project.clone(), DIM));
    Line::from(spans)
}

fn last_line(browser: &Browser, width: u16) -> Line<'static> {
    if let Some(typing) = &browser.typing {
        return Line::from(vec![
            Span::styled(typing.label(), BOLD),
            Span::raw(plain(&typing.text).into_owned()),
            Span::styled(" ", SELECTED),
        ]);
    }
    if !browser.message.is_empty() {
        return Line::styled(plain(&browser.message).into_owned(), BOLD);
    }
    Line::styled(keys(browser, usize::from(width)), DIM)
}

/// The keys that do something here, as many as fit. Those that show the others and lead back are the last to be cut.
fn keys(browser: &Browser, width: usize) -> String {
    use unicode_width::UnicodeWidthStr;
    let words = match browser.tab {
        Tab::Lessons if browser.is_in_file() => {
            "n p lesson · w who wrote it · / find · y copy · ? keys · Esc back"
        }
        Tab::Lessons => "Enter open · / find · f flag · c confirm · x reject · y copy · ? keys · q quit",
        Tab::Sessions => "Enter results and turns · r continue · / find · ? keys · q quit",
        Tab::Open => "R done · x won't do · r continue · / find · ? keys · q quit",
        Tab::Shown => "Enter session · / find · ? keys · q quit",
    };
    let mut first: Vec<String> = words.split(" · ").map(str::to_owned).collect();
    let last = first.split_off(first.len() - 2);
    if !browser.filter.is_empty() {
        let filter = short(&plain(&browser.filter), (width / 3).max(4));
        first.splice(0..0, [format!("found by “{filter}”"), "Esc shows all".to_owned()]);
    }
    loop {
        let words = [&first[..], &last[..]].concat().join(" · ");
        if words.width() <= width || first.pop().is_none() {
            return words;
        }
    }
}

/// The rows of a list.
fn list(frame: &mut Frame<'_>, area: Rect, browser: &mut Browser) {
    let height = usize::from(area.height);
    let (at, n_rows) = (browser.list().at, browser.fitting().len());
    let at = at.min(n_rows.saturating_sub(1));
    let top = scrolled(browser.list().top, at, height, n_rows);
    (browser.list_mut().at, browser.list_mut().top) = (at, top);
    let rows = browser.fitting();
    let lines: Vec<Line<'_>> = rows
        .iter()
        .enumerate()
        .skip(top)
        .take(height)
        .map(|(number, row)| row_line(row, number == at, area.width))
        .collect();
    if rows.is_empty() {
        let words = match (&browser.list().rows, browser.filter.is_empty()) {
            (None, _) => "Reading…",
            (Some(_), false) => "Nothing has these words. Esc shows all.",
            (Some(_), true) => match browser.tab {
                Tab::Lessons => "No lessons yet. `git chronicle annotate` writes the first one.",
                Tab::Sessions => {
                    "No sessions yet. `git chronicle session ingest` reads those of your agents."
                }
                Tab::Open => "Nothing is open.",
                Tab::Shown => "Agents were shown nothing in this repository yet.",
            },
        };
        let words = Paragraph::new(words).style(DIM).wrap(ratatui::widgets::Wrap { trim: true });
        return frame.render_widget(words, area);
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn row_line(row: &Row, is_selected: bool, width: u16) -> Line<'static> {
    // What it says comes first; a long title leaves a little room for the place.
    let room = usize::from(width).saturating_sub(3);
    let about_room = room.saturating_sub(row.title.chars().count()).max(room / 3).saturating_sub(2);
    let title_room = room.saturating_sub(about_room + 2);
    let mut spans = vec![
        Span::styled(row.mark, style_of(row.kind)),
        Span::raw(" "),
        Span::raw(short(&row.title, title_room.max(room.min(12)))),
    ];
    if 8 < about_room {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(short(&row.about, about_room), DIM));
    }
    let line = Line::from(spans);
    if is_selected { line.style(SELECTED) } else { line }
}

/// The colour of a kind.
pub(super) fn style_of(kind: &str) -> Style {
    match kind {
        "gotcha" => Style::new().fg(Color::Red),
        "dead end" => Style::new().fg(Color::Magenta),
        "insight" => Style::new().fg(Color::Green),
        _ => BOLD,
    }
}

/// What a row is about, in a word.
pub(super) fn target_word(row: &Row) -> &'static str {
    match row.target {
        Target::Lesson => row.kind,
        Target::Session => "session",
        Target::Thread => "open",
        Target::Occasion => "shown",
    }
}

/// The first row on the screen, so that row `at` is there.
pub(super) fn scrolled(top: usize, at: usize, height: usize, n_rows: usize) -> usize {
    let last_top = n_rows.saturating_sub(height);
    let least = (at + 1).saturating_sub(height);
    top.clamp(least, at.max(least)).min(last_top.max(least))
}

/// The beginning of a text that is too long for its place.
pub(super) fn short(text: &str, room: usize) -> String {
    use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
    if text.width() <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let mut out = String::new();
    for character in text.chars() {
        used += character.width().unwrap_or_default();
        if room < used {
            break;
        }
        out.push(character);
    }
    if 0 < room {
        out.push('…');
    }
    out
}

fn help(frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(HELP.map(Line::raw).to_vec()), area);
}

#[cfg(test)]
mod tests;
