//! Tables whose head names a secret: each row holds one in the same column.

use std::ops::Range;

use super::bytes::{run, run_back};
use super::context::find_value;
use super::names::{self, Name};
use super::passphrase::is_grouped;
use super::secret::{Kind, Secret, has_digits};
use super::table_head::{head, is_head, is_rule, n_of};
use super::value::Writing;

/// How long a row may be.
const LONGEST_ROW: usize = 512;

/// How far above a row the head may be.
const FARTHEST: usize = 8192;

/// What separates the cells of tables that have no rule under their head.
const COMMAS: &[u8] = b",;\t";

/// A column of passwords. It walks down its table once, so that long tables take no longer for each row.
pub(super) struct Column {
    separator: u8,
    n_before: usize,
    name: Name,
    /// Where the next row begins.
    row: Option<usize>,
}

impl Column {
    /// The column below the name in the head of a table that ends at `end`.
    pub(super) fn below(text: &[u8], floor: usize, end: usize, name: Name) -> Option<Self> {
        let start = end - run_back(text, floor, end, LONGEST_ROW, |byte| *byte != b'\n');
        let after = end + run(text, end, 64, |byte| b" `*\"".contains(byte));
        let next = text.get(after).copied().unwrap_or(b'\n');
        let first_row = row_after(text, end)?;
        if matches!(next, b'|' | b'\n' | b'\r') && is_rule(text, first_row) {
            return Some(Self {
                separator: b'|',
                n_before: n_of(&text[start..end], b'|'),
                name,
                row: row_after(text, first_row),
            });
        }
        // Before the last name is a comma, too.
        let is_last = matches!(next, b'\n' | b'\r');
        let separator = COMMAS
            .iter()
            .copied()
            .find(|comma| *comma == next || is_last && text[start..end].contains(comma))?;
        let head = &text[start..first_row];
        (is_head(head, separator) && has_cells(text, first_row, separator, n_of(head, separator))).then(
            || Self { separator, n_before: n_of(&text[start..end], separator), name, row: Some(first_row) },
        )
    }

    /// The column that `secret` is in.
    pub(super) fn of(text: &[u8], secret: &Secret) -> Option<Self> {
        (secret.kind == Kind::Password).then_some(())?;
        let start = secret.range.start;
        let row = start - run_back(text, 0, start, LONGEST_ROW, |byte| *byte != b'\n');
        let head = head(&text[row.saturating_sub(FARTHEST)..row], &text[row..start])?;
        let name = names::find(head.cell).filter(|name| name.kind == Kind::Password && !name.is_vague)?;
        Some(Self {
            separator: head.separator,
            n_before: n_of(&text[row..start], head.separator),
            name,
            row: row_after(text, secret.range.end),
        })
    }

    /// The next value of the column.
    pub(super) fn next(&mut self, text: &[u8]) -> Option<Secret> {
        loop {
            let row = self.row?;
            let end = row + run(text, row, LONGEST_ROW, |byte| *byte != b'\n');
            self.row = row_after(text, end);
            let cell = self.cell(text, row..end).filter(|_| !is_rule(text, row));
            // The head of the next table has the name again.
            let Some(cell) = cell.filter(|cell| names::find(text[cell.clone()].trim_ascii_end()).is_none())
            else {
                self.row = None;
                return None;
            };
            let secret = find_value(text, cell.start, self.name, Writing::Told).filter(|secret| {
                secret.range.end <= cell.end
                    && (has_digits(text, secret) || is_grouped(&text[secret.range.clone()]))
            });
            if secret.is_some() {
                return secret;
            }
        }
    }

    fn cell(&self, text: &[u8], row: Range<usize>) -> Option<Range<usize>> {
        let mut start = row.start;
        text[row.clone()].contains(&self.separator).then_some(())?;
        for _ in 0..self.n_before {
            start += 1 + memchr::memchr(self.separator, &text[start..row.end])?;
        }
        start += run(text, start, 64, |byte| *byte == b' ');
        let end = start + run(text, start, LONGEST_ROW, |byte| *byte != self.separator && *byte != b'\n');
        Some(start..end.min(row.end))
    }
}

fn has_cells(text: &[u8], row: usize, separator: u8, n: usize) -> bool {
    let row = &text[row..row + run(text, row, LONGEST_ROW, |byte| *byte != b'\n')];
    n_of(row, separator) == n
}

/// Where the row below the one that `at` is in begins.
fn row_after(text: &[u8], at: usize) -> Option<usize> {
    let end = at + run(text, at, LONGEST_ROW, |byte| *byte != b'\n');
    (text.get(end) == Some(&b'\n')).then_some(end + 1)
}
