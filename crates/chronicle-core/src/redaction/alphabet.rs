//! What the bodies of tokens are made of.

use super::bytes::{is_base64url, is_lower_hex, is_word};

pub(super) fn alphanumeric(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric()
}

pub(super) fn upper(byte: &u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

/// Capitals in groups: `A3-…-…`, `pk_…_…`.
pub(super) fn upper_groups(byte: &u8) -> bool {
    upper(byte) || matches!(byte, b'-' | b'_')
}

pub(super) fn lower(byte: &u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

pub(super) fn hex(byte: &u8) -> bool {
    is_lower_hex(byte)
}

/// Digits in groups: UUIDs, `…-…`, `…_…`.
pub(super) fn hex_groups(byte: &u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'_' | b'.')
}

pub(super) fn word(byte: &u8) -> bool {
    is_word(byte)
}

pub(super) fn url(byte: &u8) -> bool {
    is_base64url(byte)
}

pub(super) fn dotted(byte: &u8) -> bool {
    is_base64url(byte) || *byte == b'.'
}

pub(super) fn base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Both kinds of base64, and the groups of tokens that are several joined.
pub(super) fn any_base64(byte: &u8) -> bool {
    base64(byte) || matches!(byte, b'-' | b'_' | b'.' | b',')
}

pub(super) fn slack(byte: &u8) -> bool {
    is_base64url(byte) || matches!(byte, b'%' | b'+' | b'/' | b'=')
}

pub(super) fn path(byte: &u8) -> bool {
    is_base64url(byte) || matches!(byte, b'/' | b'@' | b'.')
}

/// A path in a query.
pub(super) fn escaped(byte: &u8) -> bool {
    is_base64url(byte) || *byte == b'%'
}

/// Hashes of passwords: `$2b$10$…`.
pub(super) fn crypt(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'+' | b'=' | b',' | b'$')
}

pub(super) fn salesforce(byte: &u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'!')
}

pub(super) fn credential(byte: &u8) -> bool {
    is_base64url(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=' | b'%')
}

/// What the ids of applications in Azure stand between.
pub(super) fn azure(byte: &u8) -> bool {
    is_base64url(byte) || matches!(byte, b'.' | b'~')
}

/// Groups that colons join: `token-…:…`, `K10…::server:…`.
pub(super) fn colons(byte: &u8) -> bool {
    is_base64url(byte) || *byte == b':'
}

/// Groups that dollar signs join: hashes of passwords with their salt.
pub(super) fn dollars(byte: &u8) -> bool {
    crypt(byte) || matches!(byte, b'_' | b'-')
}

/// All signs that need no quotes.
pub(super) fn signs(byte: &u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',')
}

/// A path and a query.
pub(super) fn query(byte: &u8) -> bool {
    path(byte) || matches!(byte, b'?' | b'&' | b'=' | b'%' | b':')
}
