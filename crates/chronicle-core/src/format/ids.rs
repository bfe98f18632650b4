//! The shapes of what programs name things by.

/// The longest id that an agent may give a session.
const LONGEST_SESSION_ID: usize = 128;

/// Whether `text` may name a session: 1 to 128 letters, digits, dots, colons, dashes and underscores, as agents write
/// them. Anything else could be a path, an option or a text.
#[must_use]
pub fn is_session_id(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b':');
    (1..=LONGEST_SESSION_ID).contains(&text.len())
        && text.bytes().all(is_allowed)
        && !text.starts_with(['.', '-'])
}

/// Whether `text` is the id of a git object, perhaps abbreviated, or a hash of ours.
#[must_use]
pub fn is_hash(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether `text` names a claim as we do: a ULID, or a letter and 26 characters of a hash.
#[must_use]
pub(crate) fn is_claim_id(text: &str) -> bool {
    let is_ulid = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !b"ILOU".contains(&byte);
    let is_hashed = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    match text.split_once('-') {
        None => text.len() == 26 && text.bytes().all(is_ulid),
        Some(("h" | "c" | "s", hash)) => hash.len() == 26 && hash.bytes().all(is_hashed),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_shapes() {
        for id in ["6f2b8c1e-40a7-4be0-9a11-0c7f5f1d2e3a", "ses_4fKq9", "rollout-2026.1", "s1", "at-12:00"] {
            assert!(is_session_id(id), "{id}");
        }
        for text in ["", "a b", "../x", "-x", ".x", "a/b", "a\nb", "é", &"a".repeat(129)] {
            assert!(!is_session_id(text), "{text}");
        }
        assert!(is_claim_id("01M80H3ZFCEK1GJ6CS1P8FV5ZS") && is_claim_id("h-abcdefghijklmnopqrstuvwxyz"));
        assert!(!is_claim_id("01M80H3ZFCEK1GJ6CS1P8FV5Z") && !is_claim_id("k-abcdefghijklmnopqrstuvwxyz"));
        assert!(
            is_hash("5ca1ab1e") && !is_hash("5ca1ab1e ") && !is_hash("5CA1AB1E") && !is_hash(&"a".repeat(65))
        );
    }
}
