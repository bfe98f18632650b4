//! The word for a password in languages whose letters are not all ASCII.
//!
//! `names` reads ASCII alone, and in most of these languages a full-width colon or a verb without
//! a blank ties the value to its name.

use super::bytes::{is_blank, run};
use super::foreign_words::{WORDS, Word};
use super::names::Name;
use super::secret::{Kind, Secret};
use super::told::{find_in_sentence, find_told};

/// What stands between the word and its value, the longer first.
const TIES: &[&str] = &[
    "：", ":", "=", "＝", "は", "是", "为", "為", "는", "é ", "es ", "est ", "is ", "to ", "är ", "— ", "- ",
    "→",
];

/// What ties a value to words about what the password is for, which are between.
const TIES_OF_OWNER: &[&str] = &[": ", "：", " est ", " es ", " é ", " è ", " jest ", " är "];

/// How long such words may be.
const OWNER_LIMIT: usize = 64;

/// The quotes of other languages.
const QUOTES: &[&str] = &["«\u{a0}", "«\u{202f}", "« ", "«", "“", "„", "「", "『"];

/// Finds the value behind the word whose two telling bytes stand at `near`.
pub(super) fn find(text: &[u8], floor: usize, near: usize) -> Option<Secret> {
    let is_near = |word: &&Word| word.word.as_bytes()[word.near..word.near + 2] == text[near..near + 2];
    let end = WORDS.iter().filter(is_near).find_map(|word| {
        let start = near.checked_sub(word.near).filter(|&start| floor <= start)?;
        let end = start + word.word.len();
        is_word(text.get(start..end)?, word.word).then_some(end)
    })?;
    let at = end + run(text, end, 3, |byte| is_blank(byte) || matches!(byte, b'*' | b'"' | b'\'' | b'`'));
    let tie = TIES.iter().find(|tie| text[at..].starts_with(tie.as_bytes())).map(|tie| at + tie.len());
    tie.or_else(|| after_owner(text, end))
        .and_then(|start| {
            let start = start + run(text, start, 4, |byte| is_blank(byte) || *byte == b'*');
            let quote = QUOTES.iter().find(|quote| text[start..].starts_with(quote.as_bytes()));
            find_told(text, start + quote.map_or(0, |quote| quote.len()))
        })
        .or_else(|| find_in_sentence(text, end, Name { kind: Kind::Password, is_vague: false }))
}

/// Where the value begins after what the password is for, whose name ends at `end`.
fn after_owner(text: &[u8], end: usize) -> Option<usize> {
    let owner = &text[end..end + run(text, end, OWNER_LIMIT, |byte| !b"\n.,;!?".contains(byte))];
    let ties = TIES_OF_OWNER.iter();
    ties.filter_map(|tie| Some(memchr::memmem::find(owner, tie.as_bytes())? + tie.len()))
        .min()
        .map(|at| end + at)
}

/// Whether `bytes` are `word`, whose first letter may be a capital: `Contraseña`, `Пароль`.
fn is_word(bytes: &[u8], word: &str) -> bool {
    let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
    bytes.ends_with(rest.as_bytes())
        && (bytes.starts_with(first.as_bytes()) || bytes.starts_with(first.to_uppercase().as_bytes()))
}
