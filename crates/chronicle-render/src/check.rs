//! What a diff touches, as text and as the remarks of code hosts.

use std::fmt::Write;

use chronicle::{Check, CheckedFile, Touch, TouchedDependent, TouchedLesson};
use chronicle_core::{Age, Category, LineRange, reading::json_line};
use serde_json::json;

use super::{Code, View, correct, deps, markdown::gap, pretty, words};

/// The form in which a code host takes remarks on lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Workflow commands of GitHub, one a line.
    GitHub,
    /// A code quality report of GitLab, one JSON array.
    GitLab,
}

/// So many of those who rely on a file are told, the plainest first; more hide the lessons.
pub const MAX_DEPENDENTS: usize = 12;

pub(super) fn markdown(check: &Check, view: &View) -> String {
    let mut out = String::new();
    for file in &check.files {
        gap(&mut out);
        heading(&mut out, file);
        for lesson in &file.lessons {
            item(&mut out, lesson, view);
        }
        dependents(&mut out, file, view);
    }
    out
}

/// For people: each lesson with the line of code that it is about.
pub(super) fn pretty(check: &Check, view: &View, code: Code<'_>) -> String {
    let mut out = String::new();
    let painted = |write: &dyn Fn(&mut String)| {
        let mut text = String::new();
        write(&mut text);
        pretty::painted(&text, view)
    };
    for file in &check.files {
        gap(&mut out);
        out.push_str(&painted(&|out| heading(out, file)));
        for lesson in &file.lessons {
            out.push_str(&painted(&|out| item(out, lesson, view)));
            let line =
                shown_line(lesson).filter(|_| !file.is_removed).and_then(|lines| code(&file.file, lines));
            pretty::code_line(&mut out, pretty::quote_of(&lesson.lesson.standing), line, view);
        }
        out.push_str(&painted(&|out| dependents(out, file, view)));
    }
    out
}

/// The line that the diff changes within the lesson; where it is removed or none is, the lines of the lesson.
fn shown_line(lesson: &TouchedLesson) -> Option<LineRange> {
    let is_changed = matches!(lesson.touch, Touch::Lines | Touch::Near | Touch::Item);
    let changed = || LineRange::new(lesson.at_line, lesson.at_line).ok();
    if is_changed && lesson.at_line_before.is_none() { changed() } else { lesson.lines_now }
}

fn heading(out: &mut String, file: &CheckedFile) {
    let _ = write!(out, "## {}", words::path(&file.file));
    if let Some(old) = &file.renamed_from {
        let _ = write!(out, " (renamed from {})", words::path(old));
    }
    if file.is_removed {
        out.push_str(" (removed)");
    }
    out.push('\n');
}

fn item(out: &mut String, lesson: &TouchedLesson, view: &View) {
    words::said_as(out, lesson.lesson.standing.tier, |out| {
        out.push_str("- ");
        write_lesson(out, lesson, view);
        out.push('\n');
    });
}

fn dependents(out: &mut String, file: &CheckedFile, view: &View) {
    if file.dependents.is_empty() {
        return;
    }
    out.push_str("**Rely on what is changed:**\n");
    for TouchedDependent { dependent, .. } in file.dependents.iter().take(MAX_DEPENDENTS) {
        deps::item(out, dependent, view);
    }
    let n_more = file.dependents.len().saturating_sub(MAX_DEPENDENTS) + file.n_more_dependents;
    if 0 < n_more {
        let old = words::path(file.renamed_from.as_ref().unwrap_or(&file.file));
        let _ = writeln!(out, "- and {n_more} more: `git chronicle deps {old}`");
    }
}

/// `gotcha (lines 3-5, line 4 changes, 5083cd1, 2 days): never block`.
fn write_lesson(out: &mut String, touched: &TouchedLesson, view: &View) {
    let standing = &touched.lesson.standing;
    let now = words::some_lines(touched.lines_now, &touched.near_now);
    let before = || words::lines(standing).map(|lines| format!("{lines} before the change"));
    let mut about = vec![words::placed(standing, now.or_else(before))];
    about.extend(touched.lesson.anchor.as_ref().map(|anchor| words::anchor(&anchor.name)));
    about.push(match touched.touch {
        Touch::Lines => format!("touched at {}", at(touched)),
        Touch::Near => format!("perhaps touched at {}", at(touched)),
        Touch::Item => format!("its item is touched at {}", at(touched)),
        Touch::Commit | Touch::File => "about more than the changed lines".to_owned(),
    });
    about.push(words::short(&standing.commit));
    about.push(Age::between(standing.at, view.now).to_string());
    about.extend(words::doubts(standing));
    if touched.fails {
        about.push("fails the check".to_owned());
    }
    let _ = write!(out, "{} ({}): ", touched.lesson.category, about.join(", "));
    words::write_indented(out, &touched.lesson.content, "  ");
    for correction in &standing.corrections {
        let _ = write!(out, "\n{}  - {}", correct::quote(correction), correct::words(correction, view));
    }
}

/// `line 4`, as the diff leaves the file; of a line that it removes, `line 4 before the change`.
fn at(touched: &TouchedLesson) -> String {
    match touched.at_line_before {
        Some(line) => before(line),
        None => format!("line {}", touched.at_line),
    }
}

fn before(line: u32) -> String {
    format!("line {line} before the change")
}

/// What a remark says; with the line that it is about, where that is removed: a host shows it at another one.
fn remark_text(text: &str, line_before: Option<u32>) -> String {
    let text = chronicle_core::plain(text.trim());
    match line_before {
        Some(line) => format!("{text} ({})", before(line)),
        None => text.into_owned(),
    }
}

/// What a diff touches, in the form that a code host takes.
#[must_use]
pub fn annotations(check: &Check, host: Host) -> String {
    match host {
        Host::GitHub => github(check),
        Host::GitLab => gitlab(check),
    }
}

/// One remark on one line.
struct Remark<'c> {
    file: &'c str,
    line: u32,
    title: String,
    text: String,
    fingerprint: String,
    weight: Weight,
}

#[derive(Clone, Copy)]
enum Weight {
    Fails,
    Warns,
    Tells,
}

fn remarks(check: &Check) -> Vec<Remark<'_>> {
    let mut remarks = Vec::new();
    for file in &check.files {
        for touched in &file.lessons {
            let lesson = &touched.lesson;
            let warns = matches!(lesson.category, Category::Gotcha | Category::DeadEnd)
                && matches!(touched.touch, Touch::Lines | Touch::Near | Touch::Item);
            remarks.push(Remark {
                file: &file.file,
                line: touched.at_line,
                title: title(lesson.category.name(), &lesson.standing.commit, lesson.standing.said_by()),
                text: remark_text(&lesson.content, touched.at_line_before),
                fingerprint: format!("{}:{}", lesson.standing.id, file.file),
                weight: match (touched.fails, warns) {
                    (true, _) => Weight::Fails,
                    (false, true) => Weight::Warns,
                    (false, false) => Weight::Tells,
                },
            });
        }
        for TouchedDependent { dependent, at_line, at_line_before } in &file.dependents {
            let mut from = dependent.from_file.as_deref().map_or_else(|| "a commit".to_owned(), words::path);
            if dependent.from_is_deleted {
                from.push_str(" (deleted)");
            }
            let on = dependent.on_anchor.as_deref().map_or_else(|| words::path(&file.file), words::path);
            remarks.push(Remark {
                file: &file.file,
                line: *at_line,
                title: title(&format!("{from} relies on {on}"), &dependent.commit, dependent.said_by()),
                text: remark_text(&dependent.nature, *at_line_before),
                fingerprint: format!("{}:{from}:{on}:{}", dependent.commit, dependent.nature),
                weight: Weight::Warns,
            });
        }
    }
    remarks
}

/// `gotcha (5083cd1, from Bob)`.
fn title(what: &str, commit: &str, said_by: Option<String>) -> String {
    let said_by = said_by.map(|said_by| format!(", {said_by}")).unwrap_or_default();
    format!("{what} ({}{said_by})", words::short(commit))
}

fn github(check: &Check) -> String {
    let mut out = String::new();
    for remark in remarks(check) {
        let level = match remark.weight {
            Weight::Fails => "error",
            Weight::Warns => "warning",
            Weight::Tells => "notice",
        };
        let _ = writeln!(
            out,
            "::{level} file={},line={},title={}::{}",
            property(remark.file),
            remark.line,
            property(&remark.title),
            escaped(&remark.text)
        );
    }
    out
}

/// Text that cannot end a workflow command, so that no lesson can give one.
fn escaped(text: &str) -> String {
    let text = chronicle_core::without_commands(text);
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    escaped(&chronicle_core::plain(text)).replace(':', "%3A").replace(',', "%2C")
}

fn gitlab(check: &Check) -> String {
    let report: Vec<_> = remarks(check)
        .into_iter()
        .map(|remark| {
            json!({
                "description": format!("{}: {}", remark.title, remark.text),
                "check_name": "chronicle",
                "fingerprint": remark.fingerprint,
                "severity": match remark.weight {
                    Weight::Fails => "major",
                    Weight::Warns => "minor",
                    Weight::Tells => "info",
                },
                "location": { "path": remark.file, "lines": { "begin": remark.line } },
            })
        })
        .collect();
    json_line(&report)
}
