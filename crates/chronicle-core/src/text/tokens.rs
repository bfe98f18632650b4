//! How many tokens a text has at most, for whichever model.
//!
//! No tokenizer is asked: every model has its own. What counts is never to say too little, so a run of letters of one
//! size is a token for each four of them, and digits, signs and bytes beyond ASCII are tokens by themselves.

/// Letters of a word that make a token, at the worst.
const LETTERS: usize = 4;

/// The most tokens that `text` may have.
#[must_use]
pub fn at_most(text: &str) -> u64 {
    let mut tokens = 0_usize;
    let mut run = 0_usize;
    let mut last = Class::Sign;
    for byte in text.bytes() {
        let class = Class::of(byte);
        let goes_on = match class {
            // A word may begin with one large letter; after several, another word begins.
            Class::Small => last == Class::Small || (last == Class::Large && run == 1),
            Class::Large | Class::Space | Class::Tab => class == last,
            Class::Sign => false,
        };
        run = if goes_on { run + 1 } else { 1 };
        let begins = match class {
            Class::Small | Class::Large => run % LETTERS == 1,
            // A single space belongs to the word behind it.
            Class::Space => run % LETTERS == 2,
            Class::Tab => run % LETTERS == 1,
            Class::Sign => true,
        };
        tokens += usize::from(begins);
        last = class;
    }
    tokens as u64
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Small,
    Large,
    Space,
    Tab,
    Sign,
}

impl Class {
    fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Small,
            b'A'..=b'Z' => Self::Large,
            b' ' => Self::Space,
            b'\t' => Self::Tab,
            _ => Self::Sign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::at_most;

    fn check(text: &str, expected: u64) {
        assert_eq!(at_most(text), expected, "{text:?}");
    }

    #[test]
    fn words_spaces_and_signs_are_counted_from_above() {
        check("", 0);
        check("the pool waits", 4);
        check("    indented", 3);
        check("12345", 5);
        check("a.b();", 6);
        check("größe", 6);
        check("aGVsbG8gd29ybGQ", 10);
    }

    #[test]
    fn no_text_has_more_tokens_than_bytes() {
        for text in ["日本語", "\u{0}\u{1}", "x", "  ", "Az09 _-+"] {
            assert!(at_most(text) <= text.len() as u64, "{text:?}");
        }
    }
}
