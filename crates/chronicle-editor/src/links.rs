//! Ids in a text that lead to what they name.

use gen_lsp_types::DocumentLink;
use serde_json::json;

use crate::{
    documents::Document,
    text::{Encoding, TextLines},
};

/// More links in one text help nobody.
const MOST: usize = 500;

/// What an id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Lesson,
    Thread,
    Session,
}

impl Kind {
    /// What a word would name, if it names anything.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let base32 = |text: &str| text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
        let crockford = |byte: u8| {
            byte.is_ascii_digit() || byte.is_ascii_uppercase() && !matches!(byte, b'I' | b'L' | b'O' | b'U')
        };
        match word {
            _ if word.strip_prefix("h-").is_some_and(|rest| rest.len() == 26 && base32(rest)) => {
                Some(Self::Lesson)
            }
            _ if word.strip_prefix("t-").is_some_and(|rest| rest.len() == 16 && base32(rest)) => {
                Some(Self::Thread)
            }
            _ if word.len() == 26 && word.starts_with('0') && word.bytes().all(crockford) => {
                Some(Self::Lesson)
            }
            _ if is_uuid(word) => Some(Self::Session),
            _ => None,
        }
    }
}

fn is_uuid(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let is_hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(is_hex)
}

/// The ids in a text, with where they begin.
pub(crate) fn ids(text: &str) -> impl Iterator<Item = (usize, &str, Kind)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let words = text.split(move |c| !is_part(c)).filter(|word| 18 <= word.len());
    words.filter_map(move |word| {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        Some((at, word, Kind::of(word)?))
    })
}

/// The links of a text. What they lead to is looked up when one is followed.
pub(crate) fn links(document: &Document, encoding: Encoding) -> Vec<DocumentLink> {
    let lines: TextLines<'_> = document.lines(encoding);
    let link = |(at, id, kind): (usize, &str, Kind)| DocumentLink {
        range: gen_lsp_types::Range { start: lines.position(at), end: lines.position(at + id.len()) },
        target: None,
        tooltip: Some(match kind {
            Kind::Lesson => "Show the lesson".to_owned(),
            Kind::Thread => "Show the thread".to_owned(),
            Kind::Session => "Show the session".to_owned(),
        }),
        data: Some(json!({ "uri": document.uri, "id": id })),
    };
    ids(&document.text).take(MOST).map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_known_by_their_shape() {
        let check = |text: &str, expected: &[(usize, Kind)]| {
            let found: Vec<_> = ids(text).map(|(at, _, kind)| (at, kind)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("see 01K00000000000000000000000.", &[(4, Kind::Lesson)]);
        check("(h-abcdefghijklmnopqrstuvwxyz)", &[(1, Kind::Lesson)]);
        check("`t-abcdefgh23456777`", &[(1, Kind::Thread)]);
        check("5e551011-aaaa-4aaa-8aaa-000000000001", &[(0, Kind::Session)]);
        check("\u{e9} t-abcdefgh23456777", &[(3, Kind::Thread)]);
        check("01K0000000000000000000000U x01K00000000000000000000000 t-abc h-1", &[]);
        check("5e551011-aaaa-4aaa-8aaa-00000000000g ABCDEFGHJKMNPQRSTVWXYZ0123", &[]);
    }
}
