//! What of a prompt its human typed by hand, as far as that can be told.

use crate::words::{plain, sentences};

/// A prompt beyond this is something pasted.
const LONGEST_TYPED: usize = 1_200;

/// More lines than these are something pasted.
const MOST_LINES: usize = 16;

/// The sentences of a prompt that its human typed, as far as that can be told.
pub(crate) fn typed(prompt: &str) -> Vec<&str> {
    const MACHINES: [&str; 6] = ["You are ", "<", "# ", "---", "{", "["];
    let prompt = prompt.trim_end().trim_start_matches(['\n', '\r']);
    let is_pasted = LONGEST_TYPED < prompt.len()
        || MOST_LINES < prompt.lines().filter(|line| !line.trim().is_empty()).count()
        || MACHINES.iter().any(|mark| prompt.starts_with(mark));
    if is_pasted {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    for line in prompt.lines() {
        let trimmed = line.trim_start();
        match (fence, fence_of(trimmed)) {
            (None, Some((mark, length, _))) => {
                fence = Some((mark, length));
                continue;
            }
            (Some((mark, length)), Some((other, longer, is_bare)))
                if is_bare && mark == other && length <= longer =>
            {
                fence = None;
                continue;
            }
            _ => {}
        }
        let is_layout = line.starts_with("    ")
            || line.starts_with('\t')
            || trimmed.starts_with([
                '>', '|', '<', '$', '#', '+', '{', '[', '@', '/', '%', '⏺', '●', '⎿', '│', '❯',
            ]);
        // Code, logs and pages are no sentences.
        if fence.is_some() || is_layout || looks_pasted(trimmed) {
            continue;
        }
        for sentence in sentences(plain(trimmed)) {
            // Nor does anybody say where the words of others end.
            if is_reported(sentence) {
                return found;
            }
            found.push(sentence);
        }
        if announces(trimmed) {
            // What follows is somebody else's.
            break;
        }
    }
    found
}

/// The mark and the length of the fence that a line is, and whether nothing else is in the line: only then it can end what
/// a fence began that is no longer (CommonMark 4.5).
fn fence_of(line: &str) -> Option<(char, usize, bool)> {
    let mark = line.chars().next().filter(|mark| "`~".contains(*mark))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (3 <= length).then(|| (mark, length, rest.trim().is_empty()))
}

/// Whether a line reads like one of a log, of code or of a page.
fn looks_pasted(line: &str) -> bool {
    let starts_with_time = line.len() > 8
        && line.as_bytes()[..4].iter().all(u8::is_ascii_digit)
        && matches!(line.as_bytes()[4], b'-' | b'/' | b':');
    let n_marks = line.chars().filter(|c| "{};=<>|\\".contains(*c)).count();
    const HEADS: [&str; 14] = [
        "error",
        "warning",
        "fatal",
        "info",
        "debug",
        "note",
        "hint",
        "important",
        "system",
        "assistant",
        "instructions",
        "instruction",
        "tip",
        "attention",
    ];
    // Such a head announces words of a page or a tool.
    let is_headed = line.split_once(':').is_some_and(|(head, _)| {
        HEADS.contains(&head.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().as_str())
    });
    starts_with_time || is_headed || 3 <= n_marks
}

/// Whether a line says that something from elsewhere follows.
fn announces(line: &str) -> bool {
    const SOURCES: [&str; 30] = [
        "error",
        "output",
        "log",
        "logs",
        "says",
        "said",
        "say",
        "message",
        "readme",
        "file",
        "page",
        "following",
        "review",
        "comment",
        "comments",
        "issue",
        "paste",
        "pasted",
        "below",
        "got",
        "get",
        "response",
        "reply",
        "article",
        "docs",
        "text",
        "quote",
        "see",
        "this",
        "feedback",
    ];
    let Some(head) = line.trim_end().strip_suffix(':') else { return false };
    head.split(|c: char| !c.is_alphanumeric()).any(|word| SOURCES.contains(&word.to_lowercase().as_str()))
}

/// Whether it hands on what somebody or something else says.
fn is_reported(sentence: &str) -> bool {
    const REPORTS: [&str; 12] = [
        " says",
        " said",
        " told ",
        "according to",
        "the docs",
        "the readme",
        " reads ",
        " wrote",
        " suggests",
        "recommends",
        "claude.md",
        "agents.md",
    ];
    let lower = sentence.to_lowercase();
    let quotes = sentence.matches('"').count() + sentence.matches(['“', '”']).count();
    let is_quoting = 2 <= quotes
        && sentence.split(['"', '“', '”']).nth(1).is_some_and(|inner| 2 < inner.split_whitespace().count());
    is_quoting
        || REPORTS.iter().any(|report| lower.contains(report))
        || lower.contains("://")
        || lower.contains("ignore previous")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_fences_was_not_typed() {
        let check = |prompt: &str, expected: &[&str]| assert_eq!(typed(prompt), expected, "{prompt}");
        check("look\n```\nalways use x\n```\nfix it", &["look", "fix it"]);
        check("look\n~~~~\n~~~\nalways use x\n~~~~\nfix it", &["look", "fix it"]);
        check("look\n````md\n```\nalways use x\n```\n````\nfix it", &["look", "fix it"]);
        check("look\n```\n```rust\nalways use x\n```\nfix it", &["look", "fix it"]);
        check("look\n```\n~~~\nalways use x\n```\nfix it", &["look", "fix it"]);
        check("look\n```\nalways use x", &["look"]);
    }
}
