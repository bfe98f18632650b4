//! Letters that look like Latin ones: who writes a word with some of them writes the same word.

use std::borrow::Cow;

/// Cyrillic, Greek and other letters, each with the Latin one that it looks like.
const LIKE: [(char, char); 68] = [
    ('а', 'a'),
    ('в', 'b'),
    ('с', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ј', 'j'),
    ('к', 'k'),
    ('ӏ', 'l'),
    ('м', 'm'),
    ('п', 'n'),
    ('о', 'o'),
    ('р', 'p'),
    ('ԛ', 'q'),
    ('г', 'r'),
    ('ѕ', 's'),
    ('т', 't'),
    ('ц', 'u'),
    ('ѵ', 'v'),
    ('ԝ', 'w'),
    ('х', 'x'),
    ('у', 'y'),
    ('А', 'A'),
    ('В', 'B'),
    ('С', 'C'),
    ('Е', 'E'),
    ('Н', 'H'),
    ('І', 'I'),
    ('Ј', 'J'),
    ('К', 'K'),
    ('М', 'M'),
    ('О', 'O'),
    ('Р', 'P'),
    ('Ѕ', 'S'),
    ('Т', 'T'),
    ('Х', 'X'),
    ('У', 'Y'),
    ('α', 'a'),
    ('ε', 'e'),
    ('η', 'n'),
    ('ι', 'i'),
    ('κ', 'k'),
    ('ν', 'v'),
    ('ο', 'o'),
    ('ρ', 'p'),
    ('τ', 't'),
    ('υ', 'u'),
    ('χ', 'x'),
    ('Α', 'A'),
    ('Β', 'B'),
    ('Ε', 'E'),
    ('Ζ', 'Z'),
    ('Η', 'H'),
    ('Ι', 'I'),
    ('Κ', 'K'),
    ('Μ', 'M'),
    ('Ν', 'N'),
    ('Ο', 'O'),
    ('Ρ', 'P'),
    ('Τ', 'T'),
    ('Υ', 'Y'),
    ('Χ', 'X'),
    ('ı', 'i'),
    ('ɑ', 'a'),
    ('ɡ', 'g'),
    ('օ', 'o'),
    ('ս', 'u'),
];

/// `text` with Latin letters in the place of those that look like them, in words that have Latin ones too, and without
/// wide and mathematical forms. Words of other scripts stay.
pub(crate) fn plain_letters(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let narrow: String = text.chars().filter(|letter| !is_unseen(*letter)).map(narrow).collect();
    let mut out = String::with_capacity(narrow.len());
    for word in narrow.split_inclusive(|letter: char| !letter.is_alphanumeric()) {
        let is_mixed = word.chars().any(|letter| letter.is_ascii_alphabetic());
        out.extend(word.chars().map(|letter| if is_mixed { latin(letter) } else { letter }));
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

fn latin(letter: char) -> char {
    LIKE.iter().find(|(like, _)| *like == letter).map_or(letter, |(_, latin)| *latin)
}

/// What nobody sees, and what only asks for room.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// The usual form of a letter: `Ａ` and `𝐀` are `A`.
fn narrow(letter: char) -> char {
    match u32::from(letter) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xff01 + 0x21).unwrap_or(letter),
        0xa0 | 0x2000..=0x200a | 0x202f | 0x3000 => ' ',
        // Each alphabet of mathematics has both cases, one after the other.
        code @ 0x1d400..=0x1d6a3 => {
            let at = (code - 0x1d400) % 52;
            let first = if at < 26 { u32::from('A') + at } else { u32::from('a') + at - 26 };
            char::from_u32(first).unwrap_or(letter)
        }
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_letters_that_look_alike_is_the_same_word() {
        let check = |text: &str, expected: &str| assert_eq!(plain_letters(text), expected, "{text}");
        check("I prefer \u{440}n\u{440}m", "I prefer pnpm");
        check("p\u{200b}n\u{2060}pm", "pnpm");
        check("ｐｎｐｍ", "pnpm");
        check("𝐩𝐧𝐩𝐦 and 𝘗npm", "pnpm and Pnpm");
        check("a\u{a0}b", "a b");
        // Words of other scripts are what they are.
        check("сосна и рупор", "сосна и рупор");
        check("größer, naïve, 日本", "größer, naïve, 日本");
        check("plain", "plain");
    }
}
