//! The heads of tables.

use super::bytes::{is_base64url, run};

/// How long a rule under a head may be.
const LONGEST_ROW: usize = 512;

/// The cell of a head, and what separates it from the next.
pub(super) struct Head<'a> {
    pub(super) cell: &'a [u8],
    pub(super) separator: u8,
}

/// The head of the column of a cell that `row` ends before, the lines of whose table are the last of `above`.
pub(super) fn head<'a>(above: &'a [u8], row: &[u8]) -> Option<Head<'a>> {
    let lines = above.split(|byte| *byte == b'\n').rev().skip(1);
    // The first cell of a row has none before it.
    let is_in = |separator: &&u8| {
        row.contains(separator) || lines.clone().next().is_some_and(|near| near.contains(separator))
    };
    let separator = *b"|,;\t".iter().find(is_in)?;
    let mut rows = lines.take_while(|line| line.contains(&separator) || line.contains(&b'+'));
    let head = match separator {
        b'|' => rows.find(|line| is_rule(line, 0)).and_then(|_| rows.next()),
        _ => rows.last().filter(|head| is_head(head, separator)),
    };
    let cell = head?.split(|byte| *byte == separator).nth(n_of(row, separator))?.trim_ascii();
    let cell = cell.strip_suffix(b"\"").unwrap_or(cell);
    Some(Head { cell, separator })
}

/// Whether all cells of a line are names.
pub(super) fn is_head(line: &[u8], separator: u8) -> bool {
    line.trim_ascii_end().split(|byte| *byte == separator).all(|cell| {
        let cell = cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell);
        (1..=48).contains(&cell.len()) && cell.iter().all(is_base64url) && cell[0].is_ascii_alphabetic()
    })
}

pub(super) fn n_of(row: &[u8], separator: u8) -> usize {
    row.iter().filter(|byte| **byte == separator).count()
}

/// Whether the line at `at` is the rule under the head of a table.
pub(super) fn is_rule(text: &[u8], at: usize) -> bool {
    let n = run(text, at, LONGEST_ROW, |byte| b"|-+: ".contains(byte));
    let rule = &text[at..at + n];
    3 <= n
        && rule.contains(&b'-')
        && rule.iter().any(|byte| matches!(byte, b'|' | b'+'))
        && text.get(at + n).is_none_or(|next| matches!(next, b'\n' | b'\r'))
}
