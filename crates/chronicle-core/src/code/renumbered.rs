//! Lines that take part in one comparison, numbered as they come: what a comparison costs depends on the largest number.

use gix_imara_diff::Token;

/// The numbers of lines in one comparison.
#[derive(Debug, Default)]
pub(crate) struct Renumbered {
    /// The numbers that [`crate::Differ::number_line`] gave them.
    numbers: Vec<u32>,
    /// For each of those, the one here, where `numbers` agrees.
    known: Vec<u32>,
}

impl Renumbered {
    /// Begins another comparison.
    pub(crate) fn forget(&mut self) {
        self.numbers.clear();
    }

    /// How many different lines there are.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.numbers.len()).unwrap_or(u32::MAX)
    }

    /// The line with this number, as it is called here.
    pub(crate) fn token(&mut self, number: u32) -> Token {
        let at = number as usize >> 1;
        if self.known.len() <= at {
            self.known.resize(at + 1, 0);
        }
        if self.numbers.get(self.known[at] as usize) != Some(&number) {
            self.known[at] = self.len();
            self.numbers.push(number);
        }
        Token(self.known[at])
    }
}
