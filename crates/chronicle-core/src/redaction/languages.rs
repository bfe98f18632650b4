//! The word for a password in languages whose letters are not all ASCII.
//!
//! `names` reads ASCII alone, and in most of these languages a full-width colon or a verb without
//! a blank ties the value to its name.

use super::bytes::{is_blank, run};
use super::names::Name;
use super::told::{find_in_sentence, find_told};
use super::{Kind, Secret};

/// A word, and where in it the two bytes stand by which it is looked for.
pub(super) struct Word {
    pub(super) word: &'static str,
    pub(super) near: usize,
}

pub(super) const WORDS: &[Word] = &[
    Word { word: "contraseña", near: 8 },
    Word { word: "пароль", near: 10 },
    Word { word: "密码", near: 4 },
    Word { word: "密碼", near: 4 },
    Word { word: "パスワード", near: 13 },
    Word { word: "비밀번호", near: 10 },
    Word { word: "hasło", near: 3 },
    Word { word: "şifre", near: 0 },
    Word { word: "Şifre", near: 0 },
    Word { word: "lösenord", near: 2 },
    Word { word: "jelszó", near: 4 },
    Word { word: "senha", near: 2 },
    Word { word: "mot de passe", near: 0 },
];

/// Words for keys, tokens and secrets, which name what is drawn in the same sentence.
pub(super) const NOUNS: &[(&str, Kind)] = &[
    ("Schlüssel", Kind::ApiKey),
    ("schlüssel", Kind::ApiKey),
    ("clé", Kind::ApiKey),
    ("clave", Kind::ApiKey),
    ("chave", Kind::ApiKey),
    ("chiave", Kind::ApiKey),
    ("klucz", Kind::ApiKey),
    ("Klucz", Kind::ApiKey),
    ("klíč", Kind::ApiKey),
    ("nyckel", Kind::ApiKey),
    ("anahtar", Kind::ApiKey),
    ("ключ", Kind::ApiKey),
    ("Ключ", Kind::ApiKey),
    ("密钥", Kind::ApiKey),
    ("密鑰", Kind::ApiKey),
    ("金鑰", Kind::ApiKey),
    ("キー", Kind::ApiKey),
    ("鍵", Kind::ApiKey),
    ("키", Kind::ApiKey),
    ("jeton", Kind::Token),
    ("Jeton", Kind::Token),
    ("Zugriffstoken", Kind::Token),
    ("токен", Kind::Token),
    ("Токен", Kind::Token),
    ("令牌", Kind::Token),
    ("トークン", Kind::Token),
    ("토큰", Kind::Token),
    ("segredo", Kind::Secret),
    ("Segredo", Kind::Secret),
    ("secreto", Kind::Secret),
    ("segreto", Kind::Secret),
    ("Geheimnis", Kind::Secret),
    ("sekret", Kind::Secret),
    ("секрет", Kind::Secret),
    ("Секрет", Kind::Secret),
    ("シークレット", Kind::Secret),
    ("秘密", Kind::Secret),
    ("시크릿", Kind::Secret),
];

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
