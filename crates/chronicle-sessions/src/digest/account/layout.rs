//! Markdown as plain lines: headings, items and text, without code, quotes and tables.

/// A line of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Heading {
        words: String,
        is_numbered: bool,
    },
    Item {
        words: String,
        is_nested: bool,
        /// What is set apart in bold at the head of a numbered item.
        head: Option<String>,
    },
    /// Text; that ends in a colon where it announces what follows.
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
        let heading = heading.trim_start_matches('#').trim();
        let is_numbered = heading.starts_with(|c: char| c.is_ascii_digit()) && item_of(heading).is_some();
        return Line::Heading { words: unmarked(item_of(heading).unwrap_or(heading)), is_numbered };
    }
    let numbered = bold_number(trimmed);
    let trimmed = numbered.as_deref().unwrap_or(trimmed);
    if let Some(item) = item_of(trimmed) {
        let is_numbered = indent == 0 && trimmed.starts_with(|c: char| c.is_ascii_digit());
        let head = item.strip_prefix("**").and_then(|bold| bold.split_once("**")).filter(|_| is_numbered);
        let head = head.map(|(head, _)| unmarked(head.trim_end_matches([':', '.', ' '])));
        return Line::Item { words: unmarked(&with_colon(item)), is_nested: 2 <= indent, head };
    }
    let words = unmarked(trimmed);
    let is_bold = trimmed.starts_with("**") && trimmed.ends_with("**");
    if is_bold && words.split_whitespace().count() <= 14 && !words.ends_with(['.', ':']) {
        return Line::Heading { words, is_numbered: false };
    }
    Line::Text(words)
}

/// `**2. Wait for it** - later` with its number in front of what is bold.
fn bold_number(line: &str) -> Option<String> {
    let rest = line.strip_prefix("**")?;
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &rest[..rest.len() - after.len()];
    let words = after.strip_prefix(". ").or_else(|| after.strip_prefix(") "))?;
    (!number.is_empty() && words.contains("**")).then(|| format!("{number}. **{words}"))
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

/// An item whose head in bold is set apart by a colon: `**head** (pool.rs:12): rest`, `**head** — rest`.
fn with_colon(item: &str) -> String {
    let Some((head, rest)) = item.strip_prefix("**").and_then(|bold| bold.split_once("**")) else {
        return item.to_owned();
    };
    let after = without_place(rest.trim_start());
    let apart = after.trim_start_matches(['—', '–', '-', ':', ' ']);
    let is_apart =
        after.len() != apart.len() || head.ends_with(':') || after.len() != rest.trim_start().len();
    if is_apart && !apart.is_empty() {
        format!("{}: {apart}", head.trim_end_matches(':'))
    } else {
        format!("{head}{}", if apart.is_empty() { "" } else { rest })
    }
}

/// What follows `(pool.rs:12)`.
fn without_place(words: &str) -> &str {
    let after = words.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let is_place = |place: &str| place.contains(['.', '/', '`']) && !place.contains(". ");
    match after {
        Some((place, rest)) if is_place(place) => rest.trim_start(),
        _ => words,
    }
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
