//! Ranges of lines, counted from 1, both ends included, as git prints them.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use snafu::Snafu;

/// Lines `start` to `end` of a file: from 1, both included, never inverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct LineRange {
    /// First line, at least 1.
    pub start: u32,
    /// Last line, at least `start`.
    pub end: u32,
}

/// Why two numbers are no range of lines.
#[derive(Debug, Clone, PartialEq, Eq, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum InvalidRange {
    /// The text is not `START:END`.
    #[snafu(display("`{text}` is not a line range; write it as START:END, such as 10:20"))]
    Syntax {
        /// What was given.
        text: String,
    },
    /// Line 0.
    #[snafu(display("line range {start}:{end} begins at line 0; lines count from 1"))]
    Zero {
        /// First line.
        start: u32,
        /// Last line.
        end: u32,
    },
    /// The end comes before the start.
    #[snafu(display("line range {start}:{end} ends before it begins"))]
    Inverted {
        /// First line.
        start: u32,
        /// Last line.
        end: u32,
    },
}

impl LineRange {
    /// The range from `start` to `end`, both included.
    ///
    /// # Errors
    /// When `start` is 0 or `end` comes before it.
    pub fn new(start: u32, end: u32) -> Result<Self, InvalidRange> {
        if start == 0 {
            return Err(InvalidRange::Zero { start, end });
        }
        if end < start {
            return Err(InvalidRange::Inverted { start, end });
        }
        Ok(Self { start, end })
    }

    /// The range that covers zero-based lines `first..first + count`; `count` is at least 1.
    #[must_use]
    pub fn from_zero_based(first: usize, count: usize) -> Self {
        let line = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { start: line(first + 1), end: line(first + count.max(1)) }
    }

    /// How many lines the range has.
    #[must_use]
    pub fn len(self) -> u32 {
        self.end - self.start + 1
    }

    /// Always false: a range has at least one line.
    #[must_use]
    pub fn is_empty(self) -> bool {
        false
    }

    /// Whether all lines of `other` are among these.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The range without its blank lines at either end, of which it has the lines `lines`; all of it where all are blank.
    #[must_use]
    pub fn without_blanks(self, lines: &[&[u8]]) -> Self {
        let says = |line: &&[u8]| !line.trim_ascii().is_empty();
        let first = lines.iter().position(says);
        let last = lines.iter().rposition(says);
        match first.zip(last) {
            Some((first, last)) => Self {
                start: Self::from_zero_based(self.start as usize - 1 + first, 1).start,
                end: Self::from_zero_based(self.start as usize - 1 + last, 1).start,
            },
            None => self,
        }
    }

    /// Whether the two share a line.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// The range in a sentence: `line 4`, `lines 4-9`.
    #[must_use]
    pub fn in_words(self) -> String {
        match self.start == self.end {
            true => format!("line {}", self.start),
            false => format!("lines {}-{}", self.start, self.end),
        }
    }

    /// The smallest range that covers both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.start, self.end)
    }
}

impl FromStr for LineRange {
    type Err = InvalidRange;

    /// Reads `START:END`; also `START-END`, `START,END` (as `git blame -L`) and one line alone.
    fn from_str(text: &str) -> Result<Self, InvalidRange> {
        let syntax = || InvalidRange::Syntax { text: text.to_owned() };
        let (start, end) = text.split_once([':', ',', '-']).unwrap_or((text, text));
        let number = |digits: &str| digits.trim().parse::<u32>().map_err(|_| syntax());
        Self::new(number(start)?, number(end)?)
    }
}

impl<'de> Deserialize<'de> for LineRange {
    /// Notes hold `{"start":1,"end":2}`, rarely `[1,2]`; people also write `"1:2"`. Formats that don't say what comes
    /// next hold the two numbers.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        if !deserializer.is_human_readable() {
            let (start, end) = Deserialize::deserialize(deserializer)?;
            return Self::new(start, end).map_err(Error::custom);
        }
        let written = serde_json::Value::deserialize(deserializer)?;
        let line =
            |value: Option<&serde_json::Value>| value?.as_u64().and_then(|line| u32::try_from(line).ok());
        let ends = match &written {
            serde_json::Value::String(text) => return text.parse().map_err(Error::custom),
            serde_json::Value::Array(pair) if pair.len() == 2 => (line(pair.first()), line(pair.get(1))),
            object => (line(object.get("start")), line(object.get("end"))),
        };
        match ends {
            (Some(start), Some(end)) => Self::new(start, end).map_err(Error::custom),
            _ => Err(Error::custom(format!(
                r#"`{written}` is not a line range; write it as {{"start":10,"end":20}}"#
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_people_write_them() {
        for text in ["3:9", "3-9", "3,9", " 3 : 9"] {
            assert_eq!(text.parse(), LineRange::new(3, 9), "{text}");
        }
        assert_eq!("7".parse(), LineRange::new(7, 7));
        assert!(matches!("0:3".parse::<LineRange>(), Err(InvalidRange::Zero { .. })));
        assert!(matches!("5:3".parse::<LineRange>(), Err(InvalidRange::Inverted { .. })));
        for text in ["", ":", "a:b", "1:", "99999999999:1", "-1:3"] {
            assert!(matches!(text.parse::<LineRange>(), Err(InvalidRange::Syntax { .. })), "{text}");
        }
    }

    #[test]
    fn both_written_forms_are_read() {
        let read = |json| serde_json::from_str::<LineRange>(json).ok();
        assert_eq!(read(r#"{"start":1,"end":2}"#), LineRange::new(1, 2).ok());
        assert_eq!(read("[1,2]"), LineRange::new(1, 2).ok());
        assert_eq!(read("[2,1]"), None);
    }
}
