//! Names of immutable claims.

use std::{borrow::Borrow, fmt};

use data_encoding::BASE32_NOPAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::LineRange;

/// Names one immutable claim: its category, content and origin.
///
/// A ULID for claims that Chronicle wrote; `h-` and 26 base32 characters for
/// claims found without an id. Copies of a claim on other commits keep its id.
///
/// A note may hold any text for one; what could pass for words is refused when it is read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct EntryId(#[serde(deserialize_with = "well_formed")] pub String);

/// A ULID has 26 characters, a UUID 36, what older tools counted fewer.
const LONGEST: usize = 64;

fn well_formed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    let is_of_ids = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    match id.len() <= LONGEST && id.bytes().all(is_of_ids) {
        true => Ok(id),
        false => Err(serde::de::Error::custom("an id has at most 64 letters, digits, `-`, `_`, `.` and `:`")),
    }
}

impl Borrow<str> for EntryId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The characters of a ULID, and of what follows `h-` and `s-`.
const N_OF_ID: usize = 26;
/// A shorter beginning names no claim.
const LEAST_OF_ID: usize = 6;

impl EntryId {
    /// Whether `text` looks like an id that Chronicle gives or the beginning of a ULID, and not like a file.
    #[must_use]
    pub fn looks_like(text: &str) -> bool {
        match text.split_once('-') {
            Some(("h" | "s", hash)) => {
                hash.len() == N_OF_ID && hash.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
            Some(_) => false,
            None => {
                (LEAST_OF_ID..=N_OF_ID).contains(&text.len())
                    && text.starts_with(|c: char| ('0'..='7').contains(&c))
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
        }
    }

    /// The id of a claim that was stored without one (DESIGN section 3).
    ///
    /// It depends on what was recorded and under which `schema`, never on the
    /// commit that carries the note, so that git's own note copies keep it.
    #[must_use]
    pub fn derived(
        schema: &str,
        category: &str,
        content: &str,
        file: Option<&str>,
        lines: Option<LineRange>,
    ) -> Self {
        let lines = lines.map(|lines| [lines.start, lines.end]);
        Self::hashed("h-", &serde_json::json!([schema, category, content, file, lines]))
    }

    /// `prefix` and a hash of `content`, which must have one order of keys.
    pub(crate) fn hashed(prefix: &str, content: &serde_json::Value) -> Self {
        let encoded = BASE32_NOPAD.encode(&Sha256::digest(content.to_string().as_bytes())).to_lowercase();
        Self(format!("{prefix}{}", &encoded[..26]))
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_by_its_shape() {
        for id in ["01M80H3ZFCEK1GJ6CS1P8FV5ZS", "01m80h3z", "h-abcdefghijklmnopqrstuvwx23"] {
            assert!(EntryId::looks_like(id), "{id}");
        }
        for name in
            ["src/pool.rs", "README", "01.md", "01M80", "h-abc", "01M80H3ZFCEK1GJ6CS1P8FV5ZS2", "a-b", ""]
        {
            assert!(!EntryId::looks_like(name), "{name}");
        }
    }

    #[test]
    fn words_are_no_id() {
        let read = |id: &str| serde_json::from_value::<EntryId>(id.into()).ok();
        for id in ["01J0000000000000000000000A", "h-abc", "conv-1", "", "a.2:b_c"] {
            assert_eq!(read(id), Some(EntryId(id.to_owned())));
        }
        for id in ["a b", "a\nb", "ä", "x`", &"x".repeat(65)] {
            assert_eq!(read(id), None, "{id}");
        }
    }

    #[test]
    fn a_derived_id_depends_on_every_part_of_the_claim() {
        let id =
            |category, content, file, lines| EntryId::derived("chronicle/v3", category, content, file, lines);
        let base = id("gotcha", "text", Some("a.rs"), LineRange::new(1, 2).ok());
        assert_eq!(base.0.len(), 28);
        assert_eq!(base, id("gotcha", "text", Some("a.rs"), LineRange::new(1, 2).ok()));
        assert_ne!(base, id("insight", "text", Some("a.rs"), LineRange::new(1, 2).ok()));
        assert_ne!(base, id("gotcha", "text", Some("a.rs"), None));
        assert_ne!(base, id("gotcha", "text", None, None));
    }
}
