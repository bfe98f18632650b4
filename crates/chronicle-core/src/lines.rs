//! The lines of one version of a file.

use crate::LineRange;

/// The lines of a file, without their ends; one trailing carriage return counts as part of the end,
/// so that a checkout with other line ends is no change.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    lines: Vec<&'a [u8]>,
    is_binary: bool,
}

/// How far git looks for a NUL byte before it calls a file text.
const BINARY_PROBE: usize = 8_000;

/// Bytes of a line of code, roughly.
const USUAL_LINE: usize = 30;

impl<'a> Lines<'a> {
    /// Splits `content`; a missing newline at the end is no different from one that is there.
    #[must_use]
    pub fn new(content: &'a [u8]) -> Self {
        let mut lines = Vec::with_capacity(content.len() / USUAL_LINE);
        lines.extend(split(content));
        Self { lines, is_binary: is_binary(content) }
    }

    /// The first `n` lines of `content`, to look at ranges that end there.
    #[must_use]
    pub fn first(content: &'a [u8], n: usize) -> Self {
        Self { lines: split(content).take(n).collect(), is_binary: is_binary(content) }
    }

    /// How many lines there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// Whether this is not text at all, as git judges it.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// All lines.
    #[must_use]
    pub fn all(&self) -> &[&'a [u8]] {
        &self.lines
    }

    /// The lines of `range` as far as they exist.
    #[must_use]
    pub fn of(&self, range: LineRange) -> &[&'a [u8]] {
        let end = (range.end as usize).min(self.lines.len());
        self.lines.get(range.start as usize - 1..end).unwrap_or_default()
    }

    /// Whether all of `range` exists.
    #[must_use]
    pub fn has(&self, range: LineRange) -> bool {
        range.end <= self.count()
    }
}

/// The lines of `content`, without their ends.
fn split(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = content.strip_suffix(b"\n").unwrap_or(content);
    let last = (!content.is_empty()).then_some(body.len());
    let mut start = 0;
    memchr::memchr_iter(b'\n', body).chain(last).map(move |end| {
        let line = &body[start..end];
        start = end + 1;
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

/// Whether `content` is not text at all, as git judges it.
#[must_use]
pub fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(BINARY_PROBE)].contains(&0)
}

/// One word for each line of `content`, by which two versions can be compared without their text.
#[must_use]
pub fn line_words(content: &[u8]) -> Vec<u32> {
    let mut words = Vec::with_capacity(content.len() / USUAL_LINE);
    words.extend(split(content).map(line_word));
    words
}

/// The word of one line as [`Lines`] sees it: 31 bits of XXH3-64, and whether it says something.
#[must_use]
pub fn line_word(line: &[u8]) -> u32 {
    let hash = twox_hash::XxHash3_64::oneshot(line) & u64::from(u32::MAX - 1);
    u32::try_from(hash).expect("masked to 32 bits") | u32::from(is_substantive(line))
}

/// Whether a line says something: a brace alone re-appears everywhere and proves nothing.
#[must_use]
pub fn is_substantive(line: &[u8]) -> bool {
    line.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_no_part_of_a_line() {
        let lines = |content: &'static [u8]| Lines::new(content).all().to_vec();
        assert_eq!(lines(b"a\nb\n"), lines(b"a\r\nb"));
        assert_eq!(lines(b""), Vec::<&[u8]>::new());
        assert_eq!(lines(b"\n"), [b""]);
        assert_eq!(lines(b"a\n\n"), [&b"a"[..], b""]);
        assert!(Lines::new(b"a\0b").is_binary());
    }
}
