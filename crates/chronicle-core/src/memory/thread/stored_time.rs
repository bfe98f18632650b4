//! Times as threads store them: text, or nothing.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

pub(super) fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(|at| at.to_string()).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}
