//! Private keys in PEM, whole or cut off, whatever stands in front of their lines.

use super::alphabet::base64;
use super::bytes::{contains, is_blank, run};
use super::secret::{Kind, REDACTED, Secret};
use super::shapes::ANY;

/// How far behind its beginning a key may end. Those of 16,384 bits take 13,000 bytes.
const LONGEST: usize = 32 << 10;

/// Finds the private key whose `-----BEGIN` stands at `at`.
///
/// The marker alone stays, since code that reads keys mentions it.
pub(super) fn find_at(text: &[u8], at: usize) -> Option<Secret> {
    // Those of ssh.com have four dashes and a blank.
    let label =
        ["-----BEGIN ", "---- BEGIN "].iter().find_map(|begin| text[at..].strip_prefix(begin.as_bytes()))?;
    let label_len = run(label, 0, 40, |byte| byte.is_ascii_alphanumeric() || *byte == b' ');
    let (label, after) = label.split_at(label_len);
    let is_private = ["PRIVATE KEY", "PRIVATE KEY BLOCK", "Static key V1"]
        .iter()
        .any(|name| label.trim_ascii_end().ends_with(name.as_bytes()));
    if !after.starts_with(b"----") || !is_private {
        return None;
    }
    let start = text.len() - after.len() + run(after, 0, 5, |byte| *byte == b'-');
    let end = end_of_whole(text, start).or_else(|| end_of_lines(text, start))?;
    Some(Secret { range: at..end, kind: Kind::PrivateKey })
}

/// Where the marker ends that closes the key, if most of what lies before it is one.
fn end_of_whole(text: &[u8], start: usize) -> Option<usize> {
    let near = &text[start..text.len().min(start + LONGEST)];
    let end =
        memchr::memmem::find(near, b"-----END ").or_else(|| memchr::memmem::find(near, b"---- END "))?;
    let body = &near[..end];
    if contains(body, REDACTED) || memchr::memmem::find(body, b"-----BEGIN ").is_some() {
        return None;
    }
    let n_visible = body.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    let in_lines: usize =
        body.split(|byte| !base64(byte)).map(<[u8]>::len).filter(|&length| 30 <= length).sum();
    (0 < in_lines && n_visible <= in_lines * 2).then(|| end_of_marker(text, start + body.len()))
}

/// Where the lines of a key end that begin at `start`, as far as they go.
fn end_of_lines(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    let (mut n_headers, mut has_body) = (0, false);
    loop {
        let start = end + run(text, end, 32, is_line_break);
        // An escaped line break (`\n` in JSON) leaves a letter at the front of the line.
        let start = start
            + usize::from(text[..start].ends_with(b"\\") && matches!(text.get(start), Some(b'n' | b'r')));
        let start = start + number_len(&text[start..]);
        let n_body = run(text, start, ANY, base64);
        if text[start..].starts_with(b"-----END ") || text[start..].starts_with(b"---- END ") {
            end = end_of_marker(text, start);
            break;
        } else if text[start..].starts_with(b"\\") {
            end = start + 1;
        } else if is_header(&text[start..]) && n_headers < 8 {
            n_headers += 1;
            end = start + run(text, start, 80, |byte| !matches!(byte, b'\n' | b'\\'));
        } else if 16 <= n_body || has_body && 0 < n_body && ends_line(text, start + n_body) {
            has_body = true;
            end = start + n_body;
        } else {
            break;
        }
    }
    has_body.then_some(end)
}

fn end_of_marker(text: &[u8], start: usize) -> usize {
    start + run(text, start, 60, |byte| *byte == b'-' || *byte == b' ' || byte.is_ascii_alphanumeric())
}

/// How many bytes at the start of `line` number it, as tools that show files and changes do: `12→`, `12:`, `7 | `,
/// `41 42 | `.
pub(super) fn number_len(line: &[u8]) -> usize {
    let n_digits = run(line, 0, 6, u8::is_ascii_digit);
    match &line[n_digits..] {
        _ if n_digits == 0 => 0,
        [b'\t' | b':', ..] => n_digits + 1,
        rest if rest.starts_with("→".as_bytes()) => n_digits + "→".len(),
        rest => {
            let n_more = run(rest, 0, 12, |byte| *byte == b' ' || byte.is_ascii_digit());
            let n_blanks = run(rest, n_more + 1, 1, is_blank);
            let is_column = rest.first() == Some(&b' ') && rest.get(n_more) == Some(&b'|');
            if is_column { n_digits + n_more + 1 + n_blanks } else { 0 }
        }
    }
}

fn is_header(line: &[u8]) -> bool {
    ["Proc-Type:", "DEK-Info:", "Version:", "Comment:"].iter().any(|name| line.starts_with(name.as_bytes()))
}

fn ends_line(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`'))
}

/// Line breaks, and what quoting, comments and diffs put around them.
fn is_line_break(byte: &u8) -> bool {
    is_blank(byte) || matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b',' | b'#' | b'*' | b'>' | b'|')
}
