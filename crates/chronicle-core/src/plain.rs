//! Text from outside without anything that acts on a terminal.

use std::borrow::Cow;

const PIECE: usize = 64;

/// `text` without control characters (line ends and tabs stay) and without marks that turn the
/// direction of writing, by which a text can show other words than it holds.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    let is_plain = |character: char| match character {
        '\n' | '\t' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        other => !other.is_control(),
    };
    let is_printed = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    // Whole pieces are looked at in a few steps where none of their bytes ends the search.
    let is_printed_piece = |piece: &[u8]| piece.iter().fold(true, |all, byte| all & is_printed(*byte));
    if text.as_bytes().chunks(PIECE).all(is_printed_piece) || text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().filter(|c| is_plain(*c)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_stays() {
        assert_eq!(plain("a\u{1b}[31mred\u{7}\u{9b}0m\r\nb\tc\u{0}"), "a[31mred0m\nb\tc");
        assert_eq!(plain("admin\u{202e}nimda"), "adminnimda");
        assert!(matches!(plain("größe → ok"), Cow::Borrowed(_)));
    }
}
