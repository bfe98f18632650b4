//! Whether what stands behind a telling name is a secret.
//!
//! Nearly always it is not: types, variables, calls, templates and prose follow the word
//! `token` far more often than tokens do.

use std::ops::Range;

use super::bytes::{
    contains, is_base64url, is_blank, is_coded, is_drawn, is_drawn_of_letters, is_scrambled, is_uuid,
    is_word, n_breaks, n_distinct, run, starts_with_ignoring_case,
};
use super::names::Name;
use super::passphrase::{is_joined_words, is_passphrase, is_word_and_number};
use super::secret::{Kind, REDACTED};

/// How much of a value is judged. A longer one is a secret or not by its beginning.
pub(super) const JUDGED: usize = 256;

const MIN_LEN: usize = 6;

/// How much of the line after a value is looked at.
const AFTER: usize = 128;

/// A value and how it was written.
pub(super) struct Value<'a> {
    /// The value without its quotes, or its beginning.
    pub(super) bytes: &'a [u8],
    /// What follows it in its line.
    after: &'a [u8],
    pub(super) quote: Option<u8>,
    writing: Writing,
}

impl<'a> Value<'a> {
    pub(super) fn new(text: &'a [u8], range: Range<usize>, quote: Option<u8>, writing: Writing) -> Self {
        let after = range.end + run(text, range.end, AFTER, |byte| *byte != b'\n');
        Self { bytes: &text[range.clone()], after: &text[range.end..after], quote, writing }
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.quote.is_some()
    }

    fn is_free(&self) -> bool {
        matches!(self.writing, Writing::Loose | Writing::Told)
    }

    /// Whether signs do not end it, so that what looks like a password is one: a line of an environment file, a query.
    pub(super) fn is_setting(&self) -> bool {
        matches!(self.writing, Writing::Setting | Writing::Part(_))
    }
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
    /// `NAME=value` of the environment.
    Setting,
    /// A part of a query or a connection string, which this sign ends.
    Part(u8),
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
    if bytes.len() < MIN_LEN
        || is_placeholder(bytes)
        || is_code(value, kind)
        || is_path(bytes)
        || is_term(bytes)
    {
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
        && !bytes.split(|byte| matches!(byte, b'.' | b'_' | b'-')).any(is_drawn_part)
        && (kind != Kind::Password || !is_word_and_number(bytes) && !is_joined_words(value));
    if name.is_vague {
        let is_drawn = 16 <= bytes.len() && has_letters && 2 <= n_digits && is_scrambled(bytes);
        let is_password = kind == Kind::Password && value.is_setting() && 0 < n_digits;
        let is_odd = kind == Kind::Password && 10 <= bytes.len() && has_all_classes(bytes);
        let is_made =
            kind == Kind::Password && has_letters && is_weak(bytes) && !is_name && ends_clause(value);
        return is_made
            || is_odd
            || is_drawn && (!value.is_free() || !is_digest(bytes))
            || is_password && has_letters;
    }
    match kind {
        _ if is_uuid(bytes) => true,
        Kind::Password
            if !value.is_quoted()
                && is_drawn_of_letters(bytes)
                && bytes.iter().all(u8::is_ascii_alphabetic) =>
        {
            true
        }
        Kind::Password if is_joined_words(value) => true,
        Kind::Password | Kind::Secret if value.is_quoted() => has_letters && !is_name || 2 <= n_digits,
        Kind::Password | Kind::Secret => match (has_letters, 0 < n_digits || has_symbols) {
            (true, true) => {
                let is_told = kind == Kind::Password && value.writing == Writing::Told && is_weak(bytes);
                let is_odd = kind == Kind::Password
                    && 2 <= n_digits
                    && bytes.iter().any(|byte| b"$#@%^&*".contains(byte));
                !is_name
                    && (!value.is_free() || is_odd || is_told || ends_clause(value) || is_scrambled(bytes))
            }
            (true, false) => {
                let is_word = kind == Kind::Password && bytes.iter().any(u8::is_ascii_lowercase);
                (is_plain || is_word) && !is_name && value.is_setting()
            }
            (false, _) => kind == Kind::Password && bytes.iter().all(u8::is_ascii_digit),
        },
        Kind::Authorization => has_letters && 0 < n_digits && !is_name || is_scrambled(bytes),
        // What was drawn without a digit is told by its capitals.
        _ if 20 <= bytes.len() && is_scrambled(bytes) && bytes.iter().all(is_base64url) => true,
        _ if is_drawn_of_letters(bytes) && bytes.iter().all(u8::is_ascii_alphabetic) => true,
        _ if 12 <= bytes.len() && bytes.ends_with(b"=") && is_scrambled(bytes) => true,
        _ if value.is_quoted() => {
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

/// Whether a value without quotes holds all that stands before the next white space. In code and prose only
/// what looks drawn does, and a password that ends its line.
pub(super) fn is_whole(value: &Value<'_>, name: Name) -> bool {
    let bytes = value.bytes;
    let ends_line = value.after.first().is_none_or(|next| *next == b'\r');
    let is_password = name.kind == Kind::Password && ends_line && !name.is_vague;
    value.is_setting()
        || is_drawn(bytes)
        || is_noisy(bytes)
        || name.kind == Kind::Password && (is_mixed(bytes) || has_all_classes(bytes) && ends_line)
        || is_password
            && bytes.iter().any(u8::is_ascii_digit)
            && !matches!(bytes[..], [b'(' | b'[' | b'{' | b'<' | b'$', ..])
}

/// Whether `bytes` are letters, digits and so many different signs that they are no code.
pub(super) fn is_mixed(bytes: &[u8]) -> bool {
    let signs: Vec<u8> = bytes.iter().copied().filter(u8::is_ascii_punctuation).collect();
    let is_rare = bytes.iter().any(|byte| b"!#$%&*~^?".contains(byte));
    let (has_lower, has_upper) =
        (bytes.iter().any(u8::is_ascii_lowercase), bytes.iter().any(u8::is_ascii_uppercase));
    4 <= n_distinct(&signs) && is_rare && has_lower && has_upper && bytes.iter().any(u8::is_ascii_digit)
}

/// Whether `bytes` hold small letters, capitals, digits and several signs, one of them rare in code.
fn has_all_classes(bytes: &[u8]) -> bool {
    let signs: Vec<u8> = bytes.iter().copied().filter(u8::is_ascii_punctuation).collect();
    2 <= n_distinct(&signs)
        && signs.iter().any(|sign| b"!#$%&*~^?+<>@\"".contains(sign))
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_lowercase)
        && bytes.iter().any(u8::is_ascii_uppercase)
}

/// Whether `bytes` are long, and letters, digits and several signs in turn, as the keys of frameworks are.
pub(super) fn is_noisy(bytes: &[u8]) -> bool {
    let signs: Vec<u8> = bytes.iter().copied().filter(u8::is_ascii_punctuation).collect();
    24 <= bytes.len()
        && 5 <= n_distinct(&signs)
        && 12 <= n_distinct(bytes)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_alphabetic)
        && !contains(bytes, "://")
}

/// Whether the value is an expression, a pattern or prose.
fn is_code(value: &Value<'_>, kind: Kind) -> bool {
    let bytes = value.bytes;
    if value.quote.is_none() {
        return is_call(value) || begins_code(value);
    }
    if is_drawn(bytes) && value.quote != Some(b'`') {
        return false;
    }
    if bytes.iter().any(is_blank) {
        let may_have_words = kind == Kind::Password || kind == Kind::Secret && value.is_setting();
        return !may_have_words || !is_passphrase(value);
    }
    let is_closed = |open: u8, close: u8| {
        bytes.iter().position(|byte| *byte == open).is_some_and(|at| bytes[at..].contains(&close))
    };
    // `\d`, and its like with the backslash escaped.
    let has_pattern = bytes.windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_alphabetic());
    let is_rule = bytes.contains(&b'|') && bytes.split(|byte| *byte == b'|').next().is_some_and(is_term);
    is_rule || is_closed(b'{', b'}') || is_closed(b'[', b']') || has_pattern || is_call(value)
}

/// Whether a name and what it is called, indexed or made with makes up the value: `get()`, `tokens[0]`, `a::b`, `Vec<u8>`.
fn is_call(value: &Value<'_>) -> bool {
    let bytes = value.bytes;
    let n_path = run(bytes, 0, JUDGED, |byte| {
        is_word(byte) || matches!(byte, b'.' | b':' | b'!' | b'-' | b'>' | b'?')
    });
    let path = &bytes[..n_path];
    if path.is_empty() || is_drawn(path) || 4 <= path.len() && path.len() <= n_breaks(path) * 2 {
        return false;
    }
    if contains(path, "::") || contains(path, "->") {
        return true;
    }
    let next = bytes.get(n_path).or(value.after.first().filter(|_| value.quote.is_none()));
    let (open, close) = match next {
        Some(b'(') => (b'(', b')'),
        Some(b'[') => (b'[', b']'),
        Some(b'{') => (b'{', b'}'),
        Some(b'<') => (b'<', b'>'),
        _ => return false,
    };
    let is_free_end = n_path == bytes.len() && !value.is_setting();
    let after = if value.quote.is_none() { value.after } else { &[] };
    let rest = bytes[n_path..].iter().chain(after).skip_while(|byte| **byte != open);
    is_free_end || rest.skip(1).any(|byte| *byte == close)
}

/// Whether a value without quotes begins like a variable, a path, an option or an anchor.
fn begins_code(value: &Value<'_>) -> bool {
    let (first, rest) = (value.bytes[0], &value.bytes[1..]);
    if first.is_ascii_alphanumeric() || !first.is_ascii() || first == b'_' {
        return false;
    }
    if is_drawn(rest) {
        return first == b'$' && rest.iter().all(is_word) && !is_scrambled(rest);
    }
    let is_made =
        value.is_setting() && rest.iter().any(u8::is_ascii_digit) && b"!@#^+,;|)]}>=".contains(&first);
    !is_made
}

/// Whether a part of a value, such as its digits in base 16, is no word of a name.
fn is_drawn_part(part: &[u8]) -> bool {
    20 <= part.len() && 4 <= part.iter().filter(|byte| byte.is_ascii_digit()).count() || is_coded(part)
}

/// Digests and UUIDs, which a `key` often is.
fn is_digest(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

fn is_path(bytes: &[u8]) -> bool {
    matches!(bytes, [b'/' | b'~', ..] | [b'.', b'.' | b'/', ..])
        || contains(bytes, "://")
        || bytes.contains(&b'/')
            && !is_scrambled(bytes)
            && bytes.iter().all(|byte| is_word(byte) || b"/.-~@+:".contains(byte))
}

/// Whether `bytes` are a term with or without a number: `required`, `sha256`, `utf-8`.
pub(super) fn is_term(bytes: &[u8]) -> bool {
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
    value.after.first().is_none_or(|next| {
        matches!(next, b'\n' | b'\r' | b',' | b';' | b'"' | b'\'' | b'`' | b')' | b'\\' | b'<' | b'|')
            || !next.is_ascii()
    })
}
