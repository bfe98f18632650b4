//! Tables whose head names a secret: each row holds one in the same column.

use super::bytes::{run, run_back};
use super::context::find_value;
use super::names::{self, Name};
use super::told::has_digits;
use super::value::Writing;
use super::{Kind, Secret};

/// How long a row may be.
const LONGEST_ROW: usize = 512;

/// How far above a row the head may be.
const FARTHEST: usize = 8192;

/// Finds the first value below the name in the head of a table that ends at `end`.
pub(super) fn find_below(text: &[u8], floor: usize, end: usize, name: Name) -> Option<Secret> {
    let start = end - run_back(text, floor, end, LONGEST_ROW, |byte| *byte != b'\n');
    let column = n_columns(&text[start..end]);
    let after = end + run(text, end, 64, |byte| b" `*".contains(byte));
    text.get(after).is_none_or(|next| matches!(next, b'|' | b'\n' | b'\r')).then_some(())?;
    let rule = row_after(text, end)?;
    is_rule(text, rule).then_some(())?;
    find_in_rows(text, row_after(text, rule)?, column, name)
}

/// Finds the value of the next row in the same column as `secret`, if the head of the table names it.
pub(super) fn find_next(text: &[u8], secret: &Secret) -> Option<Secret> {
    (secret.kind == Kind::Password).then_some(())?;
    let start = secret.range.start;
    let row = start - run_back(text, 0, start, LONGEST_ROW, |byte| *byte != b'\n');
    let next = row_after(text, secret.range.end)?;
    let column = n_columns(&text[row..start]);
    (0 < column
        && text[next..]
            .iter()
            .take(LONGEST_ROW)
            .take_while(|byte| **byte != b'\n')
            .any(|byte| *byte == b'|'))
    .then_some(())?;
    let above = &text[row.saturating_sub(FARTHEST)..row];
    let mut lines = above
        .split(|byte| *byte == b'\n')
        .rev()
        .skip(1)
        .take_while(|line| line.contains(&b'|') || line.contains(&b'+'));
    lines.find(|line| is_rule(line, 0))?;
    let cell = lines.next()?.split(|byte| *byte == b'|').nth(column)?.trim_ascii_end();
    let name = names::find(cell).filter(|name| name.kind == Kind::Password && !name.is_vague)?;
    find_in_rows(text, next, column, name)
}

/// Finds the first value of a column in the rows from `row` on.
fn find_in_rows(text: &[u8], mut row: usize, column: usize, name: Name) -> Option<Secret> {
    loop {
        let end = row + run(text, row, LONGEST_ROW, |byte| *byte != b'\n');
        let is_row = text[row..end].contains(&b'|');
        is_row.then_some(())?;
        if let Some(secret) = find_in_cell(text, row..end, column, name) {
            return Some(secret);
        }
        row = row_after(text, end)?;
    }
}

fn find_in_cell(text: &[u8], row: std::ops::Range<usize>, column: usize, name: Name) -> Option<Secret> {
    let mut start = row.start;
    for _ in 0..column {
        start += 1 + memchr::memchr(b'|', &text[start..row.end])?;
    }
    start += run(text, start, 64, |byte| *byte == b' ');
    let end = start + run(text, start, LONGEST_ROW, |byte| !matches!(byte, b'|' | b'\n'));
    find_value(text, start, name, Writing::Told)
        .filter(|secret| secret.range.end <= end && has_digits(text, secret))
}

fn n_columns(row: &[u8]) -> usize {
    row.iter().filter(|byte| **byte == b'|').count()
}

/// Where the row below the one that `at` is in begins.
fn row_after(text: &[u8], at: usize) -> Option<usize> {
    let end = at + run(text, at, LONGEST_ROW, |byte| *byte != b'\n');
    (text.get(end) == Some(&b'\n')).then_some(end + 1)
}

/// Whether the line at `at` is the rule under the head of a table.
fn is_rule(text: &[u8], at: usize) -> bool {
    let n = run(text, at, LONGEST_ROW, |byte| b"|-+: ".contains(byte));
    let rule = &text[at..at + n];
    3 <= n
        && rule.contains(&b'-')
        && rule.iter().any(|byte| matches!(byte, b'|' | b'+'))
        && text.get(at + n).is_none_or(|next| matches!(next, b'\n' | b'\r'))
}
