//! The lines of one version of a file.

use std::borrow::Cow;

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

/// Finds lines of a content without splitting all of it. Ranges that come in order are found in one pass.
pub struct LineFinder<'a> {
    content: &'a [u8],
    /// How many lines lie before `at`.
    n_before: usize,
    at: usize,
}

/// Bytes whose line ends are counted together.
const BLOCK: usize = 512;

impl<'a> LineFinder<'a> {
    /// Prepares to find lines of `content`.
    #[must_use]
    pub fn new(content: &'a [u8]) -> Self {
        Self { content, n_before: 0, at: 0 }
    }

    /// The lines of `range` as far as they exist, as [`Lines::of`] has them.
    #[must_use]
    pub fn of(&mut self, range: LineRange) -> Vec<&'a [u8]> {
        let first = range.start as usize - 1;
        // Who looked behind the end may be behind the beginning of the last line.
        if first < self.n_before || self.at == self.content.len() {
            (self.n_before, self.at) = (0, 0);
        }
        while self.n_before < first && self.at < self.content.len() {
            let block = &self.content[self.at..self.content.len().min(self.at + BLOCK)];
            let n_ends = memchr::memchr_iter(b'\n', block).count();
            if self.n_before + n_ends < first {
                (self.n_before, self.at) = (self.n_before + n_ends, self.at + block.len());
            } else {
                let end = memchr::memchr_iter(b'\n', block).nth(first - self.n_before - 1);
                (self.n_before, self.at) = (first, self.at + end.map_or(block.len(), |end| end + 1));
            }
        }
        // What ends with a line end has no line behind it.
        split(&self.content[self.at..]).take(range.len() as usize).collect()
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

/// How many lines `content` has, as [`Lines::count`] says it.
#[must_use]
pub fn count_lines(content: &[u8]) -> u32 {
    let body = content.strip_suffix(b"\n").unwrap_or(content);
    let n_lines = memchr::memchr_iter(b'\n', body).count() + usize::from(!content.is_empty());
    u32::try_from(n_lines).unwrap_or(u32::MAX)
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

/// How many lines of another version are looked at to find where the two go on together.
const LOOK_AHEAD: usize = 64;

/// `word` of each line of `content`, where `known` is a content with those of its lines: lines that both have in the
/// same order are mostly not looked at again.
#[must_use]
pub fn line_words_beside(
    content: &[u8],
    (other, known): (&[u8], &[u32]),
    mut word: impl FnMut(&[u8]) -> u32,
) -> Vec<u32> {
    let n_equal = common_start(content, other);
    let first = memchr::memrchr(b'\n', &content[..n_equal]).map_or(0, |end| end + 1);
    let (rest, other_rest) = (&content[first..], &other[first..]);
    let ending = &rest[rest.len() - common_end(rest, other_rest)..];
    // The line that the common end begins in may begin otherwise.
    let last = memchr::memchr(b'\n', ending).map_or(&[][..], |end| &ending[end + 1..]);
    let n_first = memchr::memchr_iter(b'\n', &content[..first]).count();
    let n_last = memchr::memchr_iter(b'\n', last).count()
        + usize::from(last.last().is_some_and(|byte| *byte != b'\n'));
    let middle = &rest[..rest.len() - last.len()];
    let mut words = Vec::with_capacity(n_first + n_last + middle.len() / USUAL_LINE);
    words.extend_from_slice(&known[..n_first]);
    let mut theirs = split(&other_rest[..other_rest.len() - last.len()]);
    let mut known_left = &known[n_first..known.len() - n_last];
    let mut next = theirs.next();
    for line in split(middle) {
        let is_same = next == Some(line) && !known_left.is_empty();
        let word = if is_same { known_left[0] } else { word(line) };
        words.push(word);
        if let Some(ahead) = known_left.iter().take(LOOK_AHEAD).position(|known| *known == word) {
            known_left = &known_left[ahead + 1..];
            next = theirs.nth(ahead);
        }
    }
    words.extend_from_slice(&known[known.len() - n_last..]);
    words
}

/// How many bytes both begin with.
fn common_start(left: &[u8], right: &[u8]) -> usize {
    let mut n = n_equal_chunks::<1024>(left, right);
    n += n_equal_chunks::<32>(&left[n..], &right[n..]);
    n + left[n..].iter().zip(&right[n..]).take_while(|(left, right)| left == right).count()
}

/// How many bytes both begin with, as far as `N` of them at once are equal.
fn n_equal_chunks<const N: usize>(left: &[u8], right: &[u8]) -> usize {
    let chunks = left.as_chunks::<N>().0.iter().zip(right.as_chunks::<N>().0);
    N * chunks.take_while(|(left, right)| left == right).count()
}

/// How many bytes both end with.
fn common_end(left: &[u8], right: &[u8]) -> usize {
    let mut n = n_equal_last_chunks::<1024>(left, right);
    n += n_equal_last_chunks::<32>(&left[..left.len() - n], &right[..right.len() - n]);
    let (left, right) = (&left[..left.len() - n], &right[..right.len() - n]);
    n + left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count()
}

/// How many bytes both end with, as far as `N` of them at once are equal.
fn n_equal_last_chunks<const N: usize>(left: &[u8], right: &[u8]) -> usize {
    let chunks = left.as_rchunks::<N>().1.iter().rev().zip(right.as_rchunks::<N>().1.iter().rev());
    N * chunks.take_while(|(left, right)| left == right).count()
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

/// The first `longest` bytes of a line that is too long to be shown whole, and how many follow.
#[must_use]
pub fn clipped(line: &str, longest: usize) -> Cow<'_, str> {
    if line.len() <= longest {
        return line.into();
    }
    let end = line.floor_char_boundary(longest);
    format!("{}… ({} bytes more)", &line[..end], line.len() - end).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts of few bytes, so that they have much in common.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop::sample::select(&b"ab\r\n\n"[..]);
        prop::collection::vec(byte, 0..300)
    }

    proptest! {
        #[test]
        fn words_beside_others_are_the_same(old in text(), new in text(), at in 0usize..300, cut in 0usize..300) {
            // One edit of a text, and two texts that only look alike.
            let at = at.min(old.len());
            let edited = [&old[..at], &new[..], &old[at.max(cut.min(old.len()))..]].concat();
            for content in [&edited, &new] {
                let words = line_words_beside(content, (&old, &line_words(&old)), line_word);
                prop_assert_eq!(words, line_words(content));
            }
        }

        #[test]
        fn a_line_is_found_where_it_is(
            content in text(),
            repeat in 1usize..8,
            ranges in prop::collection::vec((1u32..400, 0u32..5), 1..6),
        ) {
            let content = content.repeat(repeat);
            let lines = Lines::new(&content);
            prop_assert_eq!(count_lines(&content), lines.count());
            let mut finder = LineFinder::new(&content);
            for (start, more) in ranges {
                let range = LineRange::new(start, start + more).unwrap();
                prop_assert_eq!(finder.of(range), lines.of(range));
            }
        }
    }

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
