//! A shared session as Markdown.
//!
//! Markdown lets HTML through, and text of a session is no markup: what people said is quoted line by line, and calls are
//! in fences that nothing in them can close.

use std::fmt::Write;

use chronicle_memory::sessions::{ShownSession, ShownTurn};
use jiff::Timestamp;

use super::is_speech;
use crate::{page::MARK, words};

const LONGEST: usize = 8_000;

pub(super) fn text(session: &ShownSession, now: Timestamp) -> String {
    let listed = &session.listed;
    let mut out = format!("{MARK}\n# {}\n\n", inline(&listed.title));
    let mut about = vec![inline(&listed.agent), inline(&listed.project)];
    about.extend(listed.branch.as_deref().map(inline));
    about.extend(words::moment(listed.began.as_deref()).map(|at| format!("{} UTC", words::minute(at))));
    let _ = writeln!(out, "{}\n", about.join(" · "));
    if let Some(digest) = &session.digest {
        let _ = writeln!(out, "## Result\n\n{}", quoted(&digest.summary));
        list(&mut out, "Done", &digest.key_actions);
        list(&mut out, "Decided", &digest.decisions);
        let commits: Vec<String> = digest
            .commits
            .iter()
            .map(|commit| format!("{} {}", words::commit(&commit.id), commit.subject))
            .collect();
        list(&mut out, "Commits", &commits);
        list(&mut out, "Open questions", &digest.open_questions);
    }
    if !session.turns.is_empty() {
        out.push_str("## Turns\n\n");
    }
    for turn in &session.turns {
        turn_of(&mut out, turn);
    }
    let _ = writeln!(
        out,
        "Written by git chronicle on {}. Secrets and local folders are replaced.",
        words::day(now)
    );
    out
}

fn turn_of(out: &mut String, turn: &ShownTurn) {
    let at =
        words::moment(turn.at.as_deref()).map(|at| format!(" ({})", words::minute(at))).unwrap_or_default();
    let ok = match turn.ok {
        Some(true) => ", worked",
        Some(false) => ", failed",
        None => "",
    };
    let who = match turn.kind {
        "prompt" => "Human".to_owned(),
        "said" => "Agent".to_owned(),
        other => inline(&other.replace('_', " ")),
    };
    let _ = writeln!(out, "**{who}**{ok}{at}\n");
    let text = if is_speech(turn) { quoted(&turn.text) } else { fenced(&turn.text) };
    out.push_str(&text);
    out.push('\n');
    if let Some(answer) = &turn.answer {
        out.push_str(&fenced(answer));
        out.push('\n');
    }
}

fn list(out: &mut String, title: &str, texts: &[String]) {
    if texts.is_empty() {
        return;
    }
    let _ = writeln!(out, "**{title}**\n");
    for text in texts {
        let _ = writeln!(out, "- {}", inline(text));
    }
    out.push('\n');
}

/// Text on one line, of which nothing is markup.
fn inline(text: &str) -> String {
    escaped(&words::line(text, LONGEST))
}

/// Text of several lines as a quote, of which nothing is markup.
fn quoted(text: &str) -> String {
    let quoted = |line: &str| format!("{}\n", format!("> {}", escaped(line)).trim_end());
    words::shown(text, LONGEST).lines().map(quoted).collect()
}

/// `text` with each character escaped that Markdown or HTML would act on.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '|' | '~' => out.extend(['\\', character]),
            other => out.push(other),
        }
    }
    out
}

/// Text in a fence that is longer than any run of backticks in it.
fn fenced(text: &str) -> String {
    let text = words::shown(text, LONGEST);
    let mut longest = 2;
    let mut run = 0;
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        assert_eq!(inline("<img src=x> [a](b) `c` *d*"), "&lt;img src=x> \\[a\\](b) \\`c\\` \\*d\\*");
        assert_eq!(quoted("one\n\n# two"), "> one\n>\n> \\# two\n");
        assert_eq!(fenced("a ``` b ````"), "`````text\na ``` b ````\n`````\n");
        assert_eq!(fenced("ls"), "```text\nls\n```\n");
    }
}
