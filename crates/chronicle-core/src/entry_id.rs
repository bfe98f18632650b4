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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct EntryId(pub String);

impl Borrow<str> for EntryId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl EntryId {
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
