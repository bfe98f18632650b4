//! Where a value without quotes ends.
//!
//! A password may hold any sign, so signs end nothing by themselves. A value ends at white space, at
//! what was open before it (a quote, a bracket), or where the next pair of its list begins.

use super::bytes::{is_word, n_breaks, run, run_back};
use super::value::Writing;

/// How much of the line before a value is looked at for what is open.
const LOOK_BACK: usize = 256;

/// How deep quotes and brackets are counted.
const DEEPEST: usize = 16;

/// What is open before a value.
#[derive(Default)]
struct Open {
    /// The quotes and brackets, the outermost first.
    signs: [u8; DEEPEST],
    n: usize,
}

impl Open {
    fn before(text: &[u8], start: usize) -> Self {
        let line = &text[start - run_back(text, 0, start, LOOK_BACK, |byte| *byte != b'\n')..start];
        let mut open = Self::default();
        for (at, &byte) in line.iter().enumerate() {
            let is_apostrophe = byte == b'\'' && 0 < at && is_word(&line[at - 1]);
            match byte {
                b'"' | b'\'' | b'`' if !open.close(byte) && !is_apostrophe => open.push(byte),
                b'(' | b'[' | b'{' => open.push(byte),
                b')' => _ = open.close(b'('),
                b']' => _ = open.close(b'['),
                b'}' => _ = open.close(b'{'),
                _ => {}
            }
        }
        open
    }

    fn push(&mut self, sign: u8) {
        if self.n < DEEPEST {
            self.signs[self.n] = sign;
            self.n += 1;
        }
    }

    /// Closes the last `sign` and what was opened after it.
    fn close(&mut self, sign: u8) -> bool {
        let last = self.signs[..self.n].iter().rposition(|open| *open == sign);
        self.n = last.unwrap_or(self.n);
        last.is_some()
    }

    fn has(&self, quote: u8) -> bool {
        self.signs[..self.n].contains(&quote)
    }

    fn has_quote(&self) -> bool {
        [b'"', b'\'', b'`'].iter().any(|quote| self.has(*quote))
    }

    /// What closes the innermost bracket, if no quote was opened within it.
    fn bracket(&self) -> Option<u8> {
        match self.signs[..self.n].last()? {
            b'(' => Some(b')'),
            b'[' => Some(b']'),
            b'{' => Some(b'}'),
            _ => None,
        }
    }
}

/// Where a value without quotes ends, or `limit` if it is longer.
pub(super) fn bare_end(text: &[u8], start: usize, limit: usize, writing: Writing) -> usize {
    let longest = start + run(text, start, limit, |byte| !byte.is_ascii_whitespace());
    let open = Open::before(text, start);
    let end = (start..longest).find(|&at| ends_at(text, at, writing, &open)).unwrap_or(longest);
    // The marks that end a clause or the emphasis stay, and brackets that were opened before the line.
    match text.get(end) {
        Some(next) if !next.is_ascii_whitespace() => end,
        next => end - n_marks(&text[start..end], writing, next == Some(&b' ')),
    }
}

fn ends_at(text: &[u8], at: usize, writing: Writing, open: &Open) -> bool {
    let next = text.get(at + 1);
    let is_last = next.is_none_or(u8::is_ascii_whitespace);
    match text[at] {
        byte @ (b'"' | b'\'' | b'`') => open.has(byte) || is_last || closes_all(&text[at + 1..]),
        b'\\' => match next {
            Some(quote @ (b'"' | b'\'')) => open.has(*quote) || closes_all(&text[at + 2..]),
            // A shell goes on in the next line.
            Some(b'\n') => true,
            Some(b'n' | b'r' | b't') => {
                open.has_quote() || text[at + 2..].first().is_none_or(|next| next == &b'\\')
            }
            _ => false,
        },
        byte @ (b')' | b']' | b'}') => open.bracket() == Some(byte) && !next.is_some_and(is_word),
        byte @ (b'&' | b';' | b',' | b'|') => {
            writing == Writing::Part(byte) || writing != Writing::Loose && begins_pair(&text[at + 1..])
        }
        b'<' => text[at + 1..].starts_with(b"/"),
        // The marks of East Asian scripts, which set no blank before them.
        0xe3 => next == Some(&0x80),
        0xef => next == Some(&0xbc),
        0xc2 | 0xe2 => ["»", "”", "“"].iter().any(|quote| text[at..].starts_with(quote.as_bytes())),
        _ => false,
    }
}

/// Whether nothing but signs that close and separate stands before the next white space.
fn closes_all(rest: &[u8]) -> bool {
    let n_signs = run(rest, 0, 4, |byte| b")]},;:.\"'`\\".contains(byte));
    rest.get(n_signs).is_none_or(u8::is_ascii_whitespace)
}

/// Whether `rest` begins with the name of the next pair of a list: `Port=`, `user=`.
fn begins_pair(rest: &[u8]) -> bool {
    let n_name = run(rest, 0, 32, is_word);
    let name = &rest[..n_name];
    3 <= n_name
        && rest.get(n_name) == Some(&b'=')
        && name[0].is_ascii_alphabetic()
        && name.split(|byte| *byte == b'_').all(|word| word.len() > n_breaks(word) * 3)
}

/// How many bytes at the end of `value` are marks of the sentence or the code around it.
fn n_marks(value: &[u8], writing: Writing, in_line: bool) -> usize {
    if matches!(writing, Writing::Setting | Writing::Part(_)) {
        return usize::from(in_line && value.last().is_some_and(|last| b",;.".contains(last)));
    }
    let is_unbalanced = |open: u8, close: u8| {
        let count = |sign: u8| value.iter().filter(|byte| **byte == sign).count();
        count(open) < count(close)
    };
    run_back(value, 0, value.len(), 3, |byte| match byte {
        b'.' | b'?' | b':' | b'*' | b',' | b';' => true,
        b')' => is_unbalanced(b'(', b')'),
        b']' => is_unbalanced(b'[', b']'),
        b'}' => is_unbalanced(b'{', b'}'),
        b'>' => is_unbalanced(b'<', b'>'),
        b'|' => true,
        _ => false,
    })
}
