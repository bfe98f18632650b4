//! Answers for people: colour, wrapped to the terminal.

use std::fmt::Write;

use chronicle_core::reading::Reading;

use super::{View, markdown};

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const CYAN: &str = "\x1b[36m";
const YELLOW: &str = "\x1b[33m";
const RESET: &str = "\x1b[0m";

pub(super) fn reading(reading: &Reading, view: &View) -> String {
    painted(&markdown::reading(reading, view), view)
}

/// The markdown with its marks turned into type: its structure is what people want to see, too.
///
/// The text is plain already; the only escapes in the result are those put in here.
pub(super) fn painted(text: &str, view: &View) -> String {
    let paint = Paint { on: view.colour };
    let mut out = String::new();
    for line in text.lines() {
        // Quotes stay quotes; what is quoted is painted like the rest.
        let (quote, line) = line.strip_prefix("> ").map_or(("", line), |line| ("> ", line));
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        let (mark, hang, styled) = match rest {
            heading if heading.starts_with('#') => {
                ("", "  ", paint.with(BOLD, heading.trim_start_matches('#').trim_start()))
            }
            item if item.starts_with("- ") => ("• ", "  ", paint.item(&item[2..])),
            other => ("", "  ", paint.labels(other)),
        };
        let first = format!("{quote}{indent}{mark}");
        let later = format!("{quote}{indent}{hang}");
        let options = textwrap::Options::new(view.width.max(20))
            .initial_indent(&first)
            .subsequent_indent(&later)
            .break_words(false);
        if styled.is_empty() {
            out.push('\n');
            continue;
        }
        for wrapped in textwrap::wrap(&styled, options) {
            let _ = writeln!(out, "{wrapped}");
        }
    }
    out
}

#[derive(Clone, Copy)]
struct Paint {
    on: bool,
}

impl Paint {
    fn with(self, style: &str, text: &str) -> String {
        if self.on { format!("{style}{text}{RESET}") } else { text.to_owned() }
    }

    /// A list item: its category, then where it stands in brackets, then the text.
    fn item(self, text: &str) -> String {
        let is_word = |word: &str| {
            !word.is_empty()
                && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
        };
        match text.split_once(" (").and_then(|(word, rest)| Some((word, rest.split_once("): ")?))) {
            Some((word, (about, text))) if is_word(word) => {
                format!("{} {} {text}", self.with(CYAN, word), self.with(DIM, &format!("({about})")))
            }
            _ => self.labels(text),
        }
    }

    /// Text with `**Label:**` marks.
    fn labels(self, text: &str) -> String {
        let parts: Vec<&str> = text.split("**").collect();
        let mut out = String::new();
        for (number, part) in parts.iter().enumerate() {
            // Marks come in pairs; what stands between them is a label only if it reads like one.
            let is_between = number % 2 == 1 && number + 1 < parts.len();
            match (is_between && part.ends_with(':'), number % 2) {
                (true, _) => out.push_str(&self.with(YELLOW, part)),
                (false, 1) if is_between => drop(write!(out, "**{part}**")),
                (false, 1) => drop(write!(out, "**{part}")),
                (false, _) => out.push_str(part),
            }
        }
        out
    }
}
