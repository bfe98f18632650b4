//! An annotation as people write it in an editor: the reason first, then a line for each lesson.
//!
//! ```text
//! Linear retries kept the broker down
//! gotcha src/reconnect.rs:55: max_backoff is in seconds, sleep() takes milliseconds
//! dead-end: A fixed delay: all clients came back at once
//! # Lines like this one are left out.
//! ```

use std::fmt::Write;

use chronicle_core::{Category, LineRange, Lines, distance, plain};
use chronicle_git::{ByteSlice, ObjectId, Repository};

use crate::{
    error::Result,
    write::{
        derive::Facts,
        input::{InputError, NoWordsSnafu, ShapeSnafu},
        said::{LESSON_OPTIONS, Said},
    },
};

/// Lines of one file's changes that are quoted at most.
const MAX_QUOTED_LINES: usize = 40;
/// The same of all files.
const MAX_QUOTED: usize = 200;
/// A longer line is cut.
const MAX_WIDTH: usize = 160;

/// What the form of a commit needs to know of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The lines that it wrote, as comments of a form: a heading for each file, then its runs of lines.
    pub quoted: String,
    /// The one file that it changed, if there is but one: lessons need not name it.
    pub only_file: Option<String>,
}

/// What `commit` changed.
///
/// # Errors
/// When the commit cannot be read.
pub fn changes_of(repository: &Repository, commit: ObjectId) -> Result<Changes> {
    let mut facts = Facts::of(repository, commit)?;
    let files: Vec<String> = facts.changes.iter().map(|change| change.path.to_string()).collect();
    let mut quoted = String::new();
    let mut room = MAX_QUOTED;
    for (number, file) in files.iter().enumerate() {
        if room == 0 {
            let _written = writeln!(quoted, "#\n# … and {} more files", files.len() - number);
            break;
        }
        let _written = writeln!(quoted, "#\n# {}", plain(file));
        let hunks = facts.hunks(file)?;
        let content = facts.content(file)?.unwrap_or_default();
        let lines = Lines::new(content);
        if lines.is_binary() {
            continue;
        }
        room -= quote(&mut quoted, &lines, &hunks, room.min(MAX_QUOTED_LINES));
    }
    let only_file = if let [only] = &files[..] { Some(only.clone()) } else { None };
    Ok(Changes { quoted, only_file })
}

/// Quotes the lines of `hunks`, with their numbers; how many it were.
fn quote(out: &mut String, lines: &Lines<'_>, hunks: &[LineRange], most: usize) -> usize {
    let numbers = hunks.iter().flat_map(|hunk| hunk.start..=hunk.end);
    let mut n_quoted = 0;
    for number in numbers {
        if n_quoted == most {
            out.push_str("#        …\n");
            break;
        }
        let Some(line) = lines.all().get(number as usize - 1) else { continue };
        let line = plain(&line.to_str_lossy()).replace('\t', "    ");
        let shown: String = line.trim_end().chars().take(MAX_WIDTH).collect();
        let _written = writeln!(out, "# {number:6} │ {shown}");
        n_quoted += 1;
    }
    n_quoted
}

/// A lesson of a form that is not finished.
struct Lesson {
    category: Category,
    name: &'static str,
    line: usize,
    text: String,
}

/// Reads what an editor left of a form; `None` where nothing is said.
///
/// Lines that begin with `#` are comments. Text up to the first lesson is the reason. A lesson goes on until the next one.
/// A line that begins with a space begins no lesson.
///
/// # Errors
/// When a lesson says nothing, names lines of no file, or comes before the reason, or a line seems to be a lesson of an
/// unknown kind. The error names the line.
pub fn read_form(text: &str, only_file: Option<&str>) -> Result<Option<Said>, InputError> {
    let mut summary: Vec<&str> = Vec::new();
    let mut lessons: Vec<Lesson> = Vec::new();
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_end);
    for (number, line) in (1..).zip(lines).filter(|(_, line)| !line.starts_with('#')) {
        if let Some((word, meant)) = misspelt(line) {
            let reason = format!(
                "unknown kind `{}`; did you mean `{meant}`? A space before it makes it text",
                plain(word)
            );
            return ShapeSnafu { place: format!("line {number}"), reason }.fail();
        }
        match (lesson(line), lessons.last_mut()) {
            (Some((name, category, text)), _) => {
                lessons.push(Lesson { category, name, line: number, text: text.to_owned() });
            }
            (None, Some(lesson)) => {
                lesson.text.push('\n');
                lesson.text.push_str(line.trim_start());
            }
            (None, None) => summary.push(line),
        }
    }
    let summary = summary.join("\n").trim().to_owned();
    if summary.is_empty() && lessons.is_empty() {
        return Ok(None);
    }
    if let Some(first) = lessons.first().filter(|_| summary.is_empty()) {
        let reason = "this lesson needs the reason for the change above it, in the first line";
        return ShapeSnafu { place: place_of(first), reason }.fail();
    }
    let lessons = lessons.iter().map(|lesson| finished(lesson, only_file));
    Ok(Some(Said { summary: Some(summary), lessons: lessons.collect::<Result<_, _>>()?, ..Said::default() }))
}

fn place_of(lesson: &Lesson) -> String {
    format!("line {} ({})", lesson.line, lesson.name)
}

/// The category that a line begins with, and what follows it.
fn lesson(line: &str) -> Option<(&'static str, Category, &str)> {
    LESSON_OPTIONS.into_iter().find_map(|(name, category)| {
        let begins = |name: &str| {
            let head = line.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name))?;
            let rest = &line[head.len()..];
            (rest.is_empty() || rest.starts_with([' ', '\t', ':'])).then_some(rest)
        };
        let rest = begins(name).or_else(|| begins(&name.replace('-', " ")));
        let rest = rest.or_else(|| begins(category.name()))?;
        Some((name, category, rest.trim_start_matches([' ', '\t', ':'])))
    })
}

/// The word that a line begins with in the place of a kind, and the kind that it is a typo of.
///
/// Only what looks like a lesson counts: the word, perhaps a place, and a colon. Two typos are too many: `insist` and
/// `finished` are words of their own.
fn misspelt(line: &str) -> Option<(&str, &'static str)> {
    let at = line.find([' ', '\t', ':']).filter(|_| lesson(line).is_none())?;
    let (word, rest) = line.split_at(at);
    let is_marked = match rest.strip_prefix(':') {
        Some(words) => !words.starts_with(':'),
        None => is_place(rest.split_whitespace().next()?),
    };
    let bare = |word: &str| word.to_lowercase().replace(['-', '_'], "");
    let written = bare(word);
    let is_near = |name: &str| !distance::within(&written, [bare(name).as_str()], 1).is_empty();
    let mut kinds = LESSON_OPTIONS.into_iter().filter(|_| is_marked);
    kinds.find(|(name, category)| is_near(name) || is_near(category.name())).map(|(name, _)| (word, name))
}

/// Whether a word is `FILE:`, `FILE:LINES`, `FILE:ITEM` or `LINES:`, and no word of a sentence.
fn is_place(word: &str) -> bool {
    let named = word.strip_suffix(':').unwrap_or(word);
    let is_file = named.split(':').next().is_some_and(|file| file.contains(['/', '.']));
    word.contains(':') && (is_file || named.parse::<LineRange>().is_ok())
}

/// A lesson as an option says it, `[PLACE ]WHAT`.
fn finished(lesson: &Lesson, only_file: Option<&str>) -> Result<(Category, String), InputError> {
    let text = lesson.text.trim();
    let lines = text.split_once(": ").filter(|(lines, _)| lines.parse::<LineRange>().is_ok());
    let text = match (lines, only_file) {
        (Some((lines, words)), Some(file)) => format!("{file}:{lines} {}", words.trim_start()),
        (Some((lines, _)), None) => {
            let reason =
                format!("`{lines}` needs its file, as in `FILE:{lines}`: the commit changes several");
            return ShapeSnafu { place: place_of(lesson), reason }.fail();
        }
        (None, _) => text.to_owned(),
    };
    snafu::ensure!(!text.is_empty(), NoWordsSnafu { place: place_of(lesson) });
    Ok((lesson.category, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a form says: the reason, then each lesson.
    #[track_caller]
    fn check(text: &str, only_file: Option<&str>, expected: &[&str]) {
        let read = read_form(text, only_file);
        let found: Vec<String> = match read {
            Ok(None) => Vec::new(),
            Ok(Some(said)) => {
                let lessons =
                    said.lessons.iter().map(|(category, text)| format!("{}|{text}", category.name()));
                said.summary.clone().into_iter().chain(lessons).collect()
            }
            Err(error) => vec![format!("error: {error}")],
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_form_has_a_reason_and_lessons() {
        check(
            "Give up after 64 attempts\nbecause a peer made us spin\n\n# a comment\ngotcha 53-57: it panics\n\
             Dead End: a sleep\n  made it slow\ninsight src/a.rs:5 see there\nunfinished: limits: none\n# end\n",
            Some("lock.rs"),
            &[
                "Give up after 64 attempts\nbecause a peer made us spin",
                "gotcha|lock.rs:53-57 it panics",
                "dead_end|a sleep\nmade it slow",
                "insight|src/a.rs:5 see there",
                "unfinished_thread|limits: none",
            ],
        );
        check("Only a reason", None, &["Only a reason"]);
        // Words that begin as a category does are words.
        check("gotchas are\ndead-ends too", None, &["gotchas are\ndead-ends too"]);
        check("why\ngotcha 3 tries are too few", None, &["why", "gotcha|3 tries are too few"]);
        check(
            "why\ndead_end: a sleep\nUnfinished_thread: limits",
            None,
            &["why", "dead_end|a sleep", "unfinished_thread|limits"],
        );
    }

    #[test]
    fn a_lesson_of_an_unknown_kind_is_refused_with_the_kind_that_was_meant() {
        for (line, word, meant) in [
            ("gotca core/src/lib.rs:3: it panics", "gotca", "gotcha"),
            ("gotcah src/lib.rs:3 it panics", "gotcah", "gotcha"),
            ("Gotchas 3-5: it panics", "Gotchas", "gotcha"),
            ("deadend: wrong word", "deadend", "dead-end"),
            ("dead-ends:a sleep", "dead-ends", "dead-end"),
            ("insigth lib.rs:Pool::take: it waits", "insigth", "insight"),
            ("unfinshed:", "unfinshed", "unfinished"),
            ("unfinished_threads: limits", "unfinished_threads", "unfinished"),
        ] {
            let error = format!(
                "error: line 2: unknown kind `{word}`; did you mean `{meant}`? A space before it makes it text"
            );
            check(&format!("why\n{line}\ngotcha: one"), None, &[&error]);
        }
        check(
            "why\ngotcha: one\ndeadend: wrong",
            None,
            &[
                "error: line 3: unknown kind `deadend`; did you mean `dead-end`? A space before it makes it text",
            ],
        );
        check("why\n deadend: words", None, &["why\n deadend: words"]);
    }

    #[test]
    fn prose_with_a_colon_is_text() {
        for prose in [
            "Note: see below",
            "Problem: it waits",
            "Finished: all of it",
            "Insist: no",
            "Inside: a lock",
            "gotchas are many: src/a.rs:3",
            "insights gained: none",
            "Dead code: gone",
            "insights::of is slow",
            "https://example.org/insights: see there",
        ] {
            check(prose, None, &[prose]);
            check(&format!("why\ngotcha: one\n{prose}"), None, &["why", &format!("gotcha|one\n{prose}")]);
        }
    }

    #[test]
    fn a_form_without_words_says_nothing() {
        check("", None, &[]);
        check("\u{feff}\n\n# gotcha: no\n#\n  \n", None, &[]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_line() {
        check(
            "# form\ngotcha: it panics",
            None,
            &[
                "error: line 2 (gotcha): this lesson needs the reason for the change above it, in the first line",
            ],
        );
        check("why\n\ninsight:\n\n", None, &["error: line 3 (insight): this lesson says nothing"]);
        check(
            "why\ngotcha 5: it panics",
            None,
            &["error: line 2 (gotcha): `5` needs its file, as in `FILE:5`: the commit changes several"],
        );
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "(gotcha|dead-end|#|:|[0-9é\u{202e}\n -]|why|src/a.rs){0,40}") {
            let _read = read_form(&text, Some("src/a.rs"));
            let _read = read_form(&text, None);
        }
    }
}
