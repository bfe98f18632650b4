//! Passwords in SQL, which may be weak: `IDENTIFIED BY 'x'`, `PASSWORD 'x'`, `SET PASSWORD FOR a = 'x'`.

use super::bytes::{ends_with_ignoring_case, is_blank, is_word, run, run_back, starts_with_ignoring_case};
use super::commands::given;
use super::secret::Secret;

/// How much of a statement is looked at.
const LONGEST: usize = 256;

/// What statements that set a password begin with.
const VERBS: &[&[u8]] = &[b"create", b"alter", b"grant", b"set"];

/// What may be between a name and its value, the longer first.
const TIES: &[&str] = &["password ", "password", "values ", "as ", "by ", "using ", "(", "= ", "="];

/// Finds the password after the `BY` at `at`: `IDENTIFIED BY 'x'`, `IDENTIFIED WITH plugin BY 'x'`.
pub(super) fn find_identified(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let before = text[floor..at].trim_ascii_end();
    let start = value_after(text, at);
    // Nearly all are words of a sentence, or within one.
    (floor + before.len() < at && at + 2 < start).then_some(())?;
    let is_with = || {
        let n_plugin = run_back(before, 0, before.len(), 64, |byte| is_word(byte) || b"\"'`".contains(byte));
        ends_with_ignoring_case(before[..before.len() - n_plugin].trim_ascii_end(), "identified with")
    };
    (ends_with_ignoring_case(before, "identified") || is_with()).then_some(())?;
    let is_quoted = matches!(text.get(start), Some(b'\'' | b'"'));
    (is_quoted || statement(text, floor, at)).then(|| given(text, start))?
}

/// Finds the password after the name that ends at `end`, if it is in a statement that sets one.
pub(super) fn find_set(text: &[u8], floor: usize, end: usize) -> Option<Secret> {
    let end = end + run(text, end, 1, |byte| b"\"'`".contains(byte));
    let start = value_after(text, end);
    let is_quoted = |at: usize| matches!(text.get(at), Some(b'\'' | b'"'));
    let start = if is_quoted(start) {
        start
    } else {
        // `SET PASSWORD FOR 'a'@'b' = 'x'`
        starts_with_ignoring_case(&text[end..], " for ").then_some(())?;
        let n_user = run(text, end, LONGEST, |byte| !b"=;\n".contains(byte));
        value_after(text, Some(end + n_user).filter(|at| text.get(*at) == Some(&b'='))?)
    };
    (end < start && is_quoted(start) && statement(text, floor, end)).then(|| given(text, start))?
}

/// Where the value begins after a name or a word that ends or begins at `at`.
fn value_after(text: &[u8], at: usize) -> usize {
    let (first, mut at) = (at, at);
    while at - first < LONGEST {
        at += run(text, at, 4, |byte| is_blank(byte) || *byte == b'\n');
        let Some(tie) = TIES.iter().find(|tie| starts_with_ignoring_case(&text[at..], tie)) else { break };
        at += tie.len();
    }
    // Strings of Unicode.
    at + usize::from(text[at..].starts_with(b"N'"))
}

/// Whether what `at` is in begins with the verb of a statement that sets passwords.
fn statement(text: &[u8], floor: usize, at: usize) -> bool {
    let before = &text[floor.max(at.saturating_sub(LONGEST))..at];
    let start = memchr::memrchr(b';', before).map_or(0, |at| at + 1);
    let mut words = before[start..].split(|byte| !is_word(byte));
    words.any(|word| VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_not_looked_for_without_an_end() {
        assert_eq!(value_after(b"password = 'x'", 8), 11);
        let endless = b"password=".repeat(1_000);
        assert!(value_after(&endless, 0) <= LONGEST + 16);
    }
}
