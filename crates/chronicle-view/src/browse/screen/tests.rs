//! What is on the screen.

use ratatui::{Terminal, backend::TestBackend};

use super::*;
use crate::browse::state::{Code, Detail, Key, Written};

fn lesson(id: &str, lines: Option<(u32, u32)>, title: &str) -> Row {
    Row {
        id: id.into(),
        target: Target::Lesson,
        mark: "▲",
        kind: "gotcha",
        title: title.into(),
        about: "src/pool.rs line 2".into(),
        file: Some("src/pool.rs".into()),
        lines,
        session: None,
        detail: Detail {
            heading: "gotcha".into(),
            lines: vec![title.into(), String::new(), "src/pool.rs · line 2".into()],
        },
        by: None,
        words: title.into(),
    }
}

fn listed() -> Browser {
    let mut browser = Browser::new("pool".into());
    let rows = vec![
        lesson("a", Some((2, 2)), "never block the loop"),
        lesson("b", None, "retries are counted elsewhere"),
    ];
    browser.set_rows(Tab::Lessons, rows);
    browser
}

fn opened() -> Browser {
    let mut browser = listed();
    let lines = ["fn acquire() {", "    wait();", "    retry();", "}"].map(str::to_owned).into();
    browser.code = Some(Code::new(
        "src/pool.rs".into(),
        lines,
        vec![lesson("a", Some((2, 3)), "never block the loop")],
        2,
    ));
    browser
}

/// The screen as text, without spaces at the ends of lines.
fn drawn(browser: &mut Browser, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, browser)).unwrap();
    let buffer = terminal.backend().buffer();
    let mut out = String::new();
    for row in 0..height {
        let line: String = (0..width).map(|column| buffer[(column, row)].symbol()).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[track_caller]
fn check(browser: &mut Browser, width: u16, height: u16, expected: &str) {
    assert_eq!(drawn(browser, width, height), expected.trim_start_matches('\n'), "{width} x {height}");
}

#[test]
fn a_list_shows_what_lessons_say_and_the_selected_one_whole() {
    check(
        &mut listed(),
        64,
        9,
        "
 1 Lessons 2   2 Sessions   3 Open   4 Shown  pool
▲ never block the loop  src/pool.rs line 2
▲ retries are counted elsewhere  src/pool.rs line 2


▲ gotcha
never block the loop

Enter open · / find · f flag · c confirm · ? keys · q quit
",
    );
}

#[test]
fn a_file_has_its_lessons_in_the_gutter() {
    check(
        &mut opened(),
        100,
        8,
        "
 1 Lessons 2   2 Sessions   3 Open   4 Shown  pool
src/pool.rs · line 2 of 4                                  ▲ gotcha
1  │ fn acquire() {                                        never block the loop
2 ▲│     wait();
3 ┆│     retry();                                          src/pool.rs · line 2
4  │ }

n p lesson · w who wrote it · / find · y copy · ? keys · Esc back
",
    );
}

#[test]
fn who_wrote_a_line_is_shown_before_it() {
    let mut browser = opened();
    let code = browser.code.as_mut().expect("it is open");
    code.is_blame_shown = true;
    let uma = Some(Written { author: "Uma".into(), age: "2 days".into() });
    code.written = vec![uma.clone(), None, uma, None];
    check(
        &mut browser,
        60,
        8,
        "
 1 Lessons 2   2 Sessions   3 Open   4 Shown  pool
src/pool.rs · line 2 of 4
2 days Uma         1  │ fn acquire() {
                   2 ▲│     wait();
▲ gotcha
never block the loop

n p lesson · w who wrote it · / find · ? keys · Esc back
",
    );
}

#[test]
fn a_narrow_screen_shows_less_and_nothing_breaks() {
    check(
        &mut opened(),
        20,
        8,
        "
 1 Lessons 2   2 Ses
src/pool.rs · line …
1  │ fn acquire() {
2 ▲│     wait();
▲ gotcha
never block the loop

? keys · Esc back
",
    );
    for mut browser in [listed(), opened(), Browser::new(String::new())] {
        for (width, height) in [(1, 1), (2, 3), (3, 2), (20, 2), (1, 50), (300, 1), (300, 100)] {
            drawn(&mut browser, width, height);
            browser.press(Key::Letter('?'));
            drawn(&mut browser, width, height);
            browser.press(Key::Letter('?'));
            browser.press(Key::Letter('/'));
            browser.press(Key::Pasted("x".repeat(3_000)));
            drawn(&mut browser, width, height);
            browser.press(Key::Escape);
        }
    }
}

#[test]
fn the_keys_that_show_the_others_and_lead_back_are_cut_last() {
    let footer = |browser: &mut Browser, width| {
        let screen = drawn(browser, width, 20);
        screen.trim_end().lines().last().unwrap_or_default().to_owned()
    };
    let mut browser = listed();
    let all = "Enter open · / find · f flag · c confirm · x reject · y copy · ? keys · q quit";
    assert_eq!(footer(&mut browser, 100), all);
    assert_eq!(footer(&mut browser, 60), "Enter open · / find · f flag · c confirm · ? keys · q quit");
    assert_eq!(footer(&mut browser, 15), "? keys · q quit");
    browser.filter = "block".into();
    let found = "found by “block” · Esc shows all · Enter open · / find";
    assert_eq!(footer(&mut browser, 100), format!("{found} · f flag · c confirm · ? keys · q quit"));
    assert_eq!(footer(&mut browser, 60), "found by “block” · Esc shows all · ? keys · q quit");
    browser.filter = "x".repeat(300);
    assert_eq!(footer(&mut browser, 60), "found by “xxxxxxxxxxxxxxxxxxx…” · ? keys · q quit");
}

#[test]
fn a_rejected_lesson_has_a_mark_and_the_way_back() {
    let mut browser = listed();
    let rows = vec![lesson("a", Some((2, 2)), "never block the loop").rejected()];
    browser.set_rows(Tab::Lessons, rows);
    let screen = drawn(&mut browser, 80, 12);
    assert!(screen.contains("▲ (rejected) never block the loop"), "{screen}");
    assert!(screen.contains("leave it out; c takes it back"), "{screen}");
}

#[test]
fn nothing_in_a_text_acts_on_the_terminal() {
    let hostile = "a\u{1b}[31mred\u{7}\tb\u{202e}c";
    let mut browser = listed();
    browser.set_rows(Tab::Lessons, vec![lesson("a", None, hostile)]);
    browser.message = hostile.to_owned();
    let screen = drawn(&mut browser, 80, 8);
    assert!(!screen.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{screen:?}");
}

#[test]
fn an_empty_list_says_what_fills_it() {
    let mut browser = Browser::new("pool".into());
    browser.set_rows(Tab::Lessons, Vec::new());
    assert!(drawn(&mut browser, 80, 8).contains("`git chronicle annotate` writes the first one."));
    browser.press(Key::Letter('/'));
    browser.press(Key::Letter('x'));
    assert!(drawn(&mut browser, 80, 8).contains("Nothing has these words."));
}

#[test]
fn a_long_list_scrolls_to_the_selected_row() {
    let check = |top, at, height, n_rows, expected| {
        assert_eq!(scrolled(top, at, height, n_rows), expected, "{top} {at} {height} {n_rows}");
    };
    check(0, 0, 5, 20, 0);
    check(0, 5, 5, 20, 1);
    check(3, 4, 5, 20, 3);
    check(10, 4, 5, 20, 4);
    check(19, 19, 5, 20, 15);
    check(9, 0, 5, 1, 0);
    check(0, 7, 0, 20, 8);
}
