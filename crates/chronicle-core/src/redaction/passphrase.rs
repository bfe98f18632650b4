//! Passwords that are words, and the words of messages about passwords, which are none.

use super::bytes::{is_blank, run};
use super::value::{Value, is_term};

/// Whether the value is a passphrase of four words and more that signs or capitals join:
/// `harbor-parrot-zipper-puddle`, `HarborParrotZipperPuddle!`.
pub(super) fn is_joined_words(value: &Value<'_>) -> bool {
    let bytes = value.bytes;
    let ends_drawn = bytes.iter().rev().take(3).any(|byte| byte.is_ascii_digit() || b"!#$%&*".contains(byte));
    let Some(&sign) = bytes.iter().find(|byte| !byte.is_ascii_alphanumeric()) else {
        return false;
    };
    let is_plain = |word: &[u8]| {
        let n = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let is_about =
            |words: &[&str]| words.iter().any(|about| word[..n].eq_ignore_ascii_case(about.as_bytes()));
        3 <= n
            && word.len() <= n + 3
            && !is_about(PROSE)
            && !(sign == b'.' && is_about(KEYS))
            && !is_term(word)
    };
    if !matches!(sign, b'-' | b'_' | b'.') {
        let mut humps = bytes.chunk_by(|_, next| !next.is_ascii_uppercase());
        return ends_drawn && 4 <= humps.clone().count() && humps.all(is_plain);
    }
    // A number may be the last of the words.
    let n_number = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let words = bytes[..bytes.len() - n_number].strip_suffix(&[sign]).unwrap_or(bytes);
    let n_words = words.split(|byte| *byte == sign).count();
    let is_made = ends_drawn
        || (value.is_quoted() || value.is_setting()) && (sign != b'.' || value.is_quoted() || ends_drawn)
        || 5 <= n_words;
    // Of three words, a number has to be the end.
    let is_numbered = n_words == 3 && sign == b'-' && bytes.iter().rev().take(2).all(u8::is_ascii_digit);
    is_grouped(bytes)
        || (4 <= n_words || is_numbered) && is_made && words.split(|byte| *byte == sign).all(is_plain)
}

/// Whether `bytes` are four groups of four letters, as the passwords are that Apple and Google make for programs.
pub(super) fn is_grouped(bytes: &[u8]) -> bool {
    let is_group =
        |group: &[u8]| group.len() == 4 && group.iter().all(u8::is_ascii_lowercase) && !is_prose(group);
    bytes.len() == 19 && bytes.split(|byte| *byte == b'-').all(is_group)
}

/// Whether a message about passwords may hold `word`.
pub(super) fn is_prose(word: &[u8]) -> bool {
    PROSE.iter().any(|about| word.eq_ignore_ascii_case(about.as_bytes()))
}

/// Words in the keys of messages and settings and in the names of hosts, which dots join as well.
const KEYS: &[&str] = &[
    "api",
    "app",
    "auth",
    "com",
    "common",
    "config",
    "data",
    "dialog",
    "env",
    "error",
    "errors",
    "field",
    "fields",
    "form",
    "forms",
    "help",
    "input",
    "internal",
    "label",
    "local",
    "login",
    "main",
    "message",
    "messages",
    "name",
    "net",
    "org",
    "page",
    "pages",
    "process",
    "props",
    "security",
    "self",
    "server",
    "settings",
    "spec",
    "state",
    "text",
    "title",
    "validation",
    "values",
];

/// Whether `bytes` are a word, a dot and a number: `autumn.1987`.
pub(super) fn is_word_and_number(bytes: &[u8]) -> bool {
    let n_letters = bytes.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let number = bytes[n_letters..].strip_prefix(b".").unwrap_or_default();
    5 <= n_letters
        && 2 <= number.len()
        && number.iter().all(u8::is_ascii_digit)
        && !is_term(&bytes[..n_letters])
}

/// Words that messages about passwords hold and passphrases do not.
const PROSE: &[&str] = &[
    "a",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "by",
    "can",
    "cannot",
    "change",
    "characters",
    "confirm",
    "current",
    "do",
    "does",
    "empty",
    "enter",
    "failed",
    "for",
    "forgot",
    "from",
    "has",
    "if",
    "in",
    "incorrect",
    "invalid",
    "is",
    "it",
    "key",
    "least",
    "match",
    "missing",
    "must",
    "never",
    "new",
    "no",
    "not",
    "of",
    "old",
    "on",
    "or",
    "passphrase",
    "password",
    "passwords",
    "passwort",
    "please",
    "provided",
    "required",
    "reset",
    "secret",
    "should",
    "strong",
    "that",
    "the",
    "this",
    "to",
    "token",
    "too",
    "update",
    "user",
    "username",
    "was",
    "weak",
    "when",
    "will",
    "with",
    "wrong",
    "you",
    "your",
];

/// Whether words between quotes are a password, and no message about one.
pub(super) fn is_passphrase(value: &Value<'_>) -> bool {
    let bytes = value.bytes;
    let is_about = |word: &[u8]| {
        let word = word.trim_ascii_start();
        let word = &word[..run(word, 0, word.len(), u8::is_ascii_alphabetic)];
        is_prose(word)
    };
    let n_words = bytes.split(is_blank).filter(|word| !word.is_empty()).count();
    let has_signs = bytes.iter().any(|byte| b"{}<>$%\\=/".contains(byte)) && !value.is_setting();
    value.quote != Some(b'`')
        && (3 <= n_words || value.is_setting() || bytes.iter().any(u8::is_ascii_digit))
        && !has_signs
        && !bytes.split(is_blank).any(is_about)
}
