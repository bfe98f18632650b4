//! Whether what stands behind a telling name is a secret.
//!
//! Nearly always it is not: types, variables, calls, templates and prose follow the word
//! `token` far more often than tokens do.

use super::bytes::{contains, is_blank, is_scrambled, is_uuid, n_distinct, starts_with_ignoring_case};
use super::names::Name;
use super::{Kind, REDACTED};

/// How much of a value is judged. A longer one is a secret or not by its beginning.
pub(super) const JUDGED: usize = 256;

const MIN_LEN: usize = 6;

/// A value and how it was written.
pub(super) struct Value<'a> {
    /// The value without its quotes, or its beginning.
    pub(super) bytes: &'a [u8],
    /// The byte after it.
    pub(super) next: Option<u8>,
    pub(super) is_quoted: bool,
    pub(super) writing: Writing,
}

/// How a value is tied to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// `name value`.
    Loose,
    /// `name: value`, `name = value`, or `name is value`.
    Told,
    /// `name=value`, or `--name value`.
    Tight,
    /// `NAME=value` of the environment, or a part of a query or a connection string.
    Setting,
}

/// How templates, look-ups and advice begin.
const NO_VALUE_PREFIXES: &[&str] = &[
    "identifier",
    "placeholder",
    "undefined",
    "your-",
    "your_",
    "<",
    "%",
    "{",
    "$(",
    "${",
    "process.env",
    "import.meta",
    "os.environ",
    "os.getenv",
    "env.",
    "secrets.",
    "vault:",
    "op://",
];

/// Words that stand where a value should, or name a method or a variable. A number after them
/// (`sha256`, `token2`) makes no password of them.
const TERMS: &[&str] = &[
    "aes", "arg", "argon", "base", "bearer", "boolean", "default", "disabled", "ecdsa", "ed", "enabled",
    "example", "expired", "float", "hidden", "hmac", "http", "inherit", "input", "int", "invalid", "ipv",
    "key", "literal", "masked", "md", "missing", "number", "oauth", "object", "optional", "param", "passwd",
    "password", "pbkdf", "private", "public", "pwd", "redacted", "removed", "required", "rsa", "secret",
    "sha", "string", "tls", "token", "uint", "unknown", "utf", "utf-", "value", "x",
];

/// Whether `value` is a secret, going by its `name`.
pub(super) fn is_secret(value: &Value<'_>, name: Name) -> bool {
    let (bytes, kind) = (value.bytes, name.kind);
    if bytes.len() < MIN_LEN || is_placeholder(bytes) || is_code(value) || is_path(bytes) || is_term(bytes) {
        return false;
    }
    let n_digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has_letters = bytes.iter().any(u8::is_ascii_alphabetic);
    // The last byte may be the mark that ends a sentence.
    let has_symbols = bytes[..bytes.len() - 1].iter().any(|byte| b"!@#$%^&*+=~".contains(byte));
    let is_plain = bytes.iter().all(u8::is_ascii_lowercase);
    let is_name = !has_symbols
        && !is_scrambled(bytes)
        && bytes.iter().any(|byte| matches!(byte, b'.' | b'_' | b'-'))
        && !bytes.split(|byte| matches!(byte, b'.' | b'_' | b'-')).any(is_drawn_part);
    if name.is_vague {
        let is_drawn = 16 <= bytes.len() && has_letters && 2 <= n_digits && is_scrambled(bytes);
        let is_password = kind == Kind::Password && value.writing == Writing::Setting && 0 < n_digits;
        return is_drawn && (!matches!(value.writing, Writing::Loose | Writing::Told) || !is_digest(bytes))
            || is_password && has_letters;
    }
    match kind {
        _ if is_uuid(bytes) => true,
        Kind::Password | Kind::Secret if value.is_quoted => has_letters && !is_name || 2 <= n_digits,
        Kind::Password | Kind::Secret => match (has_letters, 0 < n_digits || has_symbols) {
            (true, true) => {
                let is_free = matches!(value.writing, Writing::Loose | Writing::Told);
                let is_told = kind == Kind::Password && value.writing == Writing::Told && is_weak(bytes);
                !is_name && (!is_free || is_told || ends_clause(value) || is_scrambled(bytes))
            }
            (true, false) => {
                let is_word = kind == Kind::Password && bytes.iter().any(u8::is_ascii_lowercase);
                (is_plain || is_word) && !is_name && value.writing == Writing::Setting
            }
            (false, _) => kind == Kind::Password && bytes.iter().all(u8::is_ascii_digit),
        },
        Kind::Authorization => has_letters && 0 < n_digits && !is_name || is_scrambled(bytes),
        // What was drawn without a digit is told by its capitals.
        _ if 20 <= bytes.len() && is_scrambled(bytes) && bytes.iter().all(u8::is_ascii_alphabetic) => true,
        _ if value.is_quoted => {
            has_letters && 8 <= bytes.len() && 0 < n_digits && (!is_name || 16 <= bytes.len())
        }
        _ => {
            let is_type = bytes[0].is_ascii_uppercase() && bytes.iter().all(u8::is_ascii_alphanumeric);
            let is_long = 20 <= bytes.len() && !is_name && !is_type;
            has_letters && 0 < n_digits && !is_number(bytes) && (is_scrambled(bytes) || is_long)
        }
    }
}

/// Whether `bytes` stand for a value without being one: `xxx`, `***`, `${TOKEN}`, `sk-…`.
pub(super) fn is_placeholder(bytes: &[u8]) -> bool {
    let is_variable =
        bytes[0] == b'$' && bytes[1..].iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    n_distinct(bytes) <= 3
        || is_variable
        || NO_VALUE_PREFIXES.iter().any(|prefix| starts_with_ignoring_case(bytes, prefix))
        || [REDACTED, "...", "…", "${", "{{"].iter().any(|part| contains(bytes, part))
}

/// Whether `bytes` are a password as people make them up, and no word that may go on a sentence:
/// `Winter2024`, `P@ssw0rd`.
fn is_weak(bytes: &[u8]) -> bool {
    let word = bytes.iter().rposition(u8::is_ascii_alphanumeric).map_or(bytes, |last| &bytes[..=last]);
    let n_last_digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let n_letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let has_symbols = word.iter().any(|byte| b"!@#$%^&*".contains(byte));
    2 <= n_last_digits && 3 <= n_letters || has_symbols && word.iter().any(u8::is_ascii_digit)
}

/// Whether `bytes` name a password instead of being one: `PASSWORD`, `your_password`, `secret`.
pub(super) fn is_stand_in(bytes: &[u8]) -> bool {
    let is_word = bytes.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'));
    let names_one = bytes.to_ascii_lowercase();
    let names_one = ["password", "passwd", "passphrase"].iter().any(|word| contains(&names_one, word));
    is_term(bytes) || is_word && (names_one || !bytes.iter().any(u8::is_ascii_lowercase))
}

/// Whether the value is an expression, a pattern or prose.
fn is_code(value: &Value<'_>) -> bool {
    let bytes = value.bytes;
    if contains(bytes, "::") || contains(bytes, "->") || contains(bytes, "()") {
        return true;
    }
    if value.is_quoted {
        return bytes.iter().any(|byte| is_blank(byte) || matches!(byte, b'{' | b'[' | b'\\'));
    }
    matches!(
        bytes[0],
        b'$' | b'%' | b'&' | b'*' | b'/' | b'~' | b'?' | b':' | b'@' | b'.' | b'-' | b'=' | b'!'
    ) || matches!(value.next, Some(b'(' | b'[' | b'{' | b'<'))
}

/// Whether a part of a value, such as its digits in base 16, is no word of a name.
fn is_drawn_part(part: &[u8]) -> bool {
    20 <= part.len() && 4 <= part.iter().filter(|byte| byte.is_ascii_digit()).count()
}

/// Digests and UUIDs, which a `key` often is.
fn is_digest(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

fn is_path(bytes: &[u8]) -> bool {
    matches!(bytes, [b'/' | b'~', ..] | [b'.', b'.' | b'/', ..])
        || contains(bytes, "://")
        || bytes.contains(&b'/') && !is_scrambled(bytes)
}

/// Whether `bytes` are a term with or without a number: `required`, `sha256`, `utf-8`.
fn is_term(bytes: &[u8]) -> bool {
    let n_digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let word = &bytes[..bytes.len() - n_digits];
    TERMS.iter().any(|term| word.eq_ignore_ascii_case(term.as_bytes()))
}

/// Whether `bytes` are a number with a base or a unit.
fn is_number(bytes: &[u8]) -> bool {
    starts_with_ignoring_case(bytes, "0x") && bytes.len() <= 18
        || bytes[0].is_ascii_digit() && bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count() <= 2
}

/// Whether no further words of a sentence follow the value.
fn ends_clause(value: &Value<'_>) -> bool {
    value.next.is_none_or(|next| {
        matches!(next, b'\n' | b'\r' | b',' | b';' | b'"' | b'\'' | b'`' | b')' | b'\\' | b'<' | b'|')
            || !next.is_ascii()
    })
}
