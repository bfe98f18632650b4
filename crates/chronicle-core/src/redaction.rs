//! Replaces the secrets in a text, so that they never touch disk.
//!
//! Three layers, each blind to what the one before has taken: the published forms of
//! tokens (`shapes`, `tokens`, `pem`), values that a telling name or program stands before (`names`,
//! `languages`, `context`, `commands`, `url`, `value`), and long runs that no human would have typed (`entropy`). Notes are prose
//! about code, so a word like `token` before a colon proves nothing: the value must look like a
//! secret as well. Where the two mistakes compete, a quoted string is taken for a secret and a
//! bare word for prose.
//!
//! Everything is a scan over bytes with bounded look-around and no regular expression, because
//! transcripts run to megabytes: one pattern of `regex-lite` alone takes several times as
//! long as all the rules here. `triggers` says where a rule may apply at all.
//!
//! Redacting twice must find nothing new, so a rule sees to its left what a second pass
//! would see (nothing before `floor`, the end of the last secret), and to its right it
//! refuses any value that holds a `[redacted:`.

mod above;
mod alphabet;
mod bytes;
mod clause;
mod commands;
mod context;
mod entropy;
mod foreign_words;
mod groups;
mod languages;
mod lines;
mod names;
mod pairs;
mod passphrase;
mod pem;
mod phrase;
mod replace;
mod secret;
mod shapes;
mod sql;
mod storage;
mod surroundings;
mod table;
mod table_head;
mod tokens;
mod told;
mod triggers;
mod typed;
mod url;
mod value;

pub use replace::{Redacted, redact, redact_in_lines};
pub use secret::Kind;
pub use storage::{Removed, cleaned, cleaned_in_lines, for_storage, gated, named_for_storage, seen};

#[cfg(test)]
mod tests;
