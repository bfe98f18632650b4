//! Markdown as plain lines: headings, items and text, without code, quotes and tables.

/// A line of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Heading(String),
    /// A line that announces the items below it.
    Label(String),
    Item {
        /// What is set apart at its beginning, in bold or before a dash.
        head: Option<String>,
        rest: String,
        is_nested: bool,
    },
    Text(String),
}

/// The lines of `text` that say something.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                continue;
            }
            (None, Some(mark)) => {
                fence = Some(mark);
                continue;
            }
            _ => {}
        }
        let is_skipped = fence.is_some() || trimmed.starts_with(['>', '|', '<']);
        if is_skipped || !trimmed.chars().any(char::is_alphanumeric) {
            continue;
        }
        found.push(line_of(line, trimmed));
    }
    found
}

fn line_of(line: &str, trimmed: &str) -> Line {
    let indent = line.len() - line.trim_start().len();
    if let Some(heading) = trimmed.strip_prefix('#') {
        return Line::Heading(unmarked(heading.trim_start_matches('#')));
    }
    if let Some(item) = item_of(trimmed) {
        let (head, rest) = parted(item);
        return Line::Item { head, rest, is_nested: 2 <= indent };
    }
    let is_bold = trimmed.starts_with("**") && trimmed.trim_end_matches([':', '.']).ends_with("**");
    let words = unmarked(trimmed);
    if words.ends_with(':') && (is_bold || words.split_whitespace().count() <= 9) {
        return Line::Label(words.trim_end_matches(':').to_owned());
    }
    if is_bold && words.split_whitespace().count() <= 14 && !words.ends_with('.') {
        return Line::Heading(words);
    }
    Line::Text(words)
}

/// What follows the mark of an item.
fn item_of(line: &str) -> Option<&str> {
    const TICKS: [char; 3] = ['✅', '✓', '✔'];
    let bullet = line.strip_prefix(['-', '*', '•']).filter(|rest| rest.starts_with(' '));
    let rest = bullet.or_else(|| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(['.', ')']).filter(|after| rest.len() < line.len() && after.starts_with(' '))
    });
    let rest = rest.or_else(|| line.strip_prefix(TICKS))?.trim();
    Some(rest.trim_start_matches(TICKS).trim_start_matches("[x]").trim())
}

/// The head of an item and what follows: `**head**: rest`, `head — rest`.
fn parted(item: &str) -> (Option<String>, String) {
    if let Some(bold) = item.strip_prefix("**")
        && let Some((head, rest)) = bold.split_once("**")
    {
        let rest = without_place(rest.trim_start_matches([':', ' ']));
        return (Some(unmarked(head.trim_end_matches(':'))), unmarked(rest));
    }
    if let Some((head, rest)) = [" — ", " – ", " - "].iter().find_map(|dash| item.split_once(dash)) {
        return (Some(unmarked(head)), unmarked(rest));
    }
    (None, unmarked(item))
}

/// What follows `(pool.rs:12)`.
fn without_place(words: &str) -> &str {
    let after = words.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(_, rest)| rest);
    after.unwrap_or(words).trim_start_matches([':', ' '])
}

/// Words without the marks of bold and of pictures; those of code are kept.
pub(crate) fn unmarked(words: &str) -> String {
    let words = words.replace("**", "").replace("__", "_");
    let is_picture = |c: char| {
        matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}')
            && !matches!(c, '→' | '←')
    };
    let kept: String = words.chars().filter(|c| !is_picture(*c)).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}
