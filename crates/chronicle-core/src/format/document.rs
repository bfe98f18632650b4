//! Reads the bytes of a note, whoever wrote them.
//!
//! Reading is lenient (DESIGN section 3): several documents in one note, raw
//! control characters inside strings, every released schema and its documented
//! variants. What can't be read is reported and kept byte for byte.

pub(crate) mod stream;
mod v1;
mod v2;
pub(crate) mod v3;

use std::fmt;

use data_encoding::BASE64;
use serde_json::{Map, Value};

use crate::{Annotation, CrossCutting, KNOWLEDGE_SCHEMA, Knowledge, Note, Region, UNREAD_SCHEMA};

/// What the bytes of one note hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadNote {
    /// The annotation documents, folded.
    pub note: Note,
    /// The repository's knowledge, when the note holds it.
    pub knowledge: Option<Knowledge>,
    /// What a reader should be told about the bytes.
    pub remarks: Vec<Remark>,
}

/// Something noteworthy about the bytes of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// A part that is no JSON object.
    Malformed(String),
    /// A document of a schema that this version does not know.
    UnknownSchema(String),
    /// A key stood twice in an object; the last one was read.
    DuplicateKey(String),
}

/// Whether a stranger's text can be the name of a schema, such as `chronicle/v4`, and nothing else.
fn is_name_of_schema(text: &str) -> bool {
    text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte))
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) => write!(f, "not readable as JSON: {reason}"),
            Self::UnknownSchema(schema) if is_name_of_schema(schema) => {
                write!(f, "schema `{schema}` is not known to this version")
            }
            Self::UnknownSchema(_) => f.write_str("its schema is not known to this version"),
            Self::DuplicateKey(key) => {
                write!(f, "key `{key}` occurs twice in one object; the last one counts")
            }
        }
    }
}

/// The longest note that is taken apart; a longer one is kept as it is, and not read.
pub const MAX_NOTE_BYTES: usize = 8 << 20;

/// What stands for the bytes of a larger note where notes are kept: [`read_note`] says the same of it.
pub const LARGER_NOTE: &[u8] = b"\0larger";

/// Reads the bytes of one note.
#[must_use]
pub fn read_note(bytes: &[u8]) -> ReadNote {
    let mut read = ReadNote::default();
    if MAX_NOTE_BYTES < bytes.len() || bytes == LARGER_NOTE {
        read.remarks.push(Remark::Malformed(format!("it has more than {} MB", MAX_NOTE_BYTES >> 20)));
        read.keep_unread(bytes);
        return read;
    }
    for part in stream::split(bytes) {
        match part {
            stream::Part::Object { map, duplicate_key, raw } => {
                if let Some(key) = duplicate_key {
                    read.remarks.push(Remark::DuplicateKey(key));
                    read.keep_unread(raw);
                }
                read.add(map, raw);
            }
            stream::Part::Unreadable { raw, reason } => {
                read.remarks.push(Remark::Malformed(reason));
                read.keep_unread(raw);
            }
        }
    }
    read
}

/// Reads the bytes of one note, each document by itself, in the order in which they stand.
#[must_use]
pub fn read_parts(bytes: &[u8]) -> Vec<ReadNote> {
    let read = |part: stream::Part<'_>| match part {
        stream::Part::Object { raw, .. } | stream::Part::Unreadable { raw, .. } => read_note(raw),
    };
    stream::split(bytes).into_iter().map(read).collect()
}

impl ReadNote {
    fn add(&mut self, map: Map<String, Value>, raw: &[u8]) {
        match Schema::of(&map) {
            Schema::V1 => self.add_document(v1::read(map)),
            Schema::V2 => self.add_document(v2::read(map)),
            Schema::V3 => self.add_document(v3::read(map)),
            Schema::Knowledge => {
                let knowledge = Knowledge::read(map);
                self.knowledge = Some(match self.knowledge.take() {
                    Some(known) => known.fold(knowledge),
                    None => knowledge,
                });
            }
            Schema::Unread => {
                self.remarks.push(Remark::Malformed("it was put aside when notes were united".to_owned()));
                let parts = map.get("unread").and_then(Value::as_array).into_iter().flatten();
                for part in parts.filter_map(Value::as_str) {
                    self.keep_unread(&BASE64.decode(part.as_bytes()).expect("it was decoded before"));
                }
            }
            Schema::Unknown(schema) => {
                self.remarks.push(Remark::UnknownSchema(schema));
                self.keep_unread(raw);
            }
        }
    }

    fn add_document(&mut self, document: Annotation) {
        self.note = std::mem::take(&mut self.note).fold(Note::of(document));
    }

    fn keep_unread(&mut self, raw: &[u8]) {
        self.note = std::mem::take(&mut self.note).fold(Note::of_unread(raw));
    }
}

enum Schema {
    V1,
    V2,
    V3,
    Knowledge,
    Unread,
    Unknown(String),
}

impl Schema {
    /// The schema a document names, or the one its keys speak for when it names none.
    fn of(map: &Map<String, Value>) -> Self {
        let named = map.get("schema").or_else(|| map.get("$schema"));
        match named.and_then(Value::as_str) {
            Some("chronicle/v1" | "ultragit/v1") => Self::V1,
            Some("chronicle/v2") => Self::V2,
            Some(crate::SCHEMA) => Self::V3,
            Some(KNOWLEDGE_SCHEMA) => Self::Knowledge,
            Some(UNREAD_SCHEMA) if is_container(map) => Self::Unread,
            Some(other) => Self::Unknown(other.to_owned()),
            None if map.contains_key("narrative") => Self::V2,
            None if map.contains_key("wisdom") => Self::V3,
            None if map.contains_key("regions") => Self::V1,
            None => Self::Unknown("none".to_owned()),
        }
    }
}

/// Whether a document holds nothing but parts that could not be read.
fn is_container(map: &Map<String, Value>) -> bool {
    let is_encoded = |part: &Value| part.as_str().is_some_and(|part| BASE64.decode(part.as_bytes()).is_ok());
    map.len() == 2
        && map.get("unread").and_then(Value::as_array).is_some_and(|parts| parts.iter().all(is_encoded))
}

/// Reads one lesson as we write it; `None` when it is none.
#[must_use]
pub fn read_entry(value: Value) -> Option<crate::Entry> {
    crate::Entry::read(crate::SCHEMA, value).ok()
}

/// Reads one code unit's annotation as we write it; `None` when it is none.
#[must_use]
pub fn read_region(value: Value) -> Option<Region> {
    Region::read(crate::SCHEMA, value).ok()
}

/// Reads regions as an author gives them, in the form of a note.
///
/// # Errors
/// The number of the region and the key that does not fit.
pub fn read_regions(values: Vec<Value>) -> Result<Vec<Region>, (usize, String)> {
    let read = |(number, value)| {
        let region = Region::read(crate::SCHEMA, value).map_err(|_| (number, "file".to_owned()))?;
        unfit_key(&region.extra).map_or(Ok(region), |key| Err((number, key)))
    };
    values.into_iter().enumerate().map(read).collect()
}

/// Reads cross-cutting concerns as an author gives them, in the form of a note.
///
/// # Errors
/// The number of the concern and the key that does not fit.
pub fn read_cross_cutting(values: Vec<Value>) -> Result<Vec<CrossCutting>, (usize, String)> {
    let read = |(number, value)| {
        let concern = CrossCutting::read(value).map_err(|_| (number, "description".to_owned()))?;
        unfit_key(&concern.extra).map_or(Ok(concern), |key| Err((number, key)))
    };
    values.into_iter().enumerate().map(read).collect()
}

/// The first key that occurs twice in one object of `json`, if there is one; JSON says that only the last one counts.
#[must_use]
pub fn duplicate_key(json: &[u8]) -> Option<String> {
    stream::split(json).into_iter().find_map(|part| match part {
        stream::Part::Object { duplicate_key, .. } => duplicate_key,
        stream::Part::Unreadable { .. } => None,
    })
}

/// The key of a value that had the wrong shape: reading keeps it under another name.
fn unfit_key(extra: &Map<String, Value>) -> Option<String> {
    extra.keys().find_map(|key| key.strip_suffix("_as_written")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;
    use crate::{Entry, Provenance};

    #[test]
    fn the_lists_of_keys_name_every_key_that_is_written() {
        let written = |schema: schemars::Schema| -> Vec<String> {
            let properties = schema.get("properties").and_then(Value::as_object).unwrap();
            properties.keys().cloned().collect()
        };
        assert_eq!(written(schema_for!(Annotation)), Annotation::KEYS);
        assert_eq!(written(schema_for!(Entry)), Entry::KEYS);
        assert_eq!(written(schema_for!(Provenance)), Provenance::KEYS);
    }

    #[test]
    fn keys_of_an_older_schema_never_stand_twice() {
        let read = read_note(
            br#"{"schema":"chronicle/v2","summary":"s","narrative":{"summary":"n"},"decisions":[{"what":"w","id":"D1"}],
                "markers":[{"file":"a.rs","marker":1,"kind":{"type":"hazard","content":"c"}}],"provenance":{"source":"live"}}"#,
        );
        let line = read.note.to_line("c").unwrap();
        assert_eq!(read_note(line.as_bytes()).remarks, []);
        for kept in [
            r#""summary_as_written":"s""#,
            r#""id_as_written":"D1""#,
            r#""marker_as_written":"hazard""#,
            r#""content_as_written":"c""#,
        ] {
            assert!(line.contains(kept), "{kept} {line}");
        }
    }

    #[test]
    fn numbers_survive_storage() {
        let line = |bytes: &[u8]| read_note(bytes).note.to_line("c").unwrap();
        let stored = line(br#"{"schema":"chronicle/v3","summary":"s","provenance":{"source":"live"},"x":1.2408479512040665e+277}"#);
        assert_eq!(line(stored.as_bytes()), stored);
        assert!(stored.contains("1.2408479512040665e+277"), "{stored}");
    }
}
