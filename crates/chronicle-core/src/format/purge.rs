//! What was purged: ids that must not come back, and notes without them.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{EntryId, Knowledge, Note, format::correction::Correction, read_note};

/// One purge: a line of `refs/notes/chronicle-purged`. It says what is gone, never what it said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "chronicle tombstone")]
pub struct Tombstone {
    /// Names the purge.
    pub id: EntryId,
    /// The claims, corrections and items of knowledge that are gone.
    pub purged: Vec<EntryId>,
    /// Notes that could not be read and are gone as a whole, by the object id of their bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<String>,
    /// Who purged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When, RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// Keys that we do not know.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// Everything that was ever purged.
#[derive(Debug, Clone, Default)]
pub struct Purged {
    ids: HashSet<EntryId>,
    blobs: HashSet<String>,
}

/// What stands where a text was.
const MARK: &str = "[purged]";

/// The tombstones in the bytes of a note; lines that are none are passed over.
#[must_use]
pub fn read_tombstones(bytes: &[u8]) -> Vec<Tombstone> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

impl Purged {
    /// Adds what the tombstones in `bytes` say.
    pub fn read(&mut self, bytes: &[u8]) {
        read_tombstones(bytes).iter().for_each(|tombstone| self.add(tombstone));
    }

    /// Adds claims, corrections and items of knowledge.
    pub fn add_ids(&mut self, ids: impl IntoIterator<Item = EntryId>) {
        self.ids.extend(ids);
    }

    /// Adds notes that cannot be read.
    pub fn add_blobs(&mut self, blobs: impl IntoIterator<Item = String>) {
        self.blobs.extend(blobs);
    }

    /// Adds one purge.
    pub fn add(&mut self, tombstone: &Tombstone) {
        self.ids.extend(tombstone.purged.iter().cloned());
        self.blobs.extend(tombstone.blobs.iter().cloned());
    }

    /// Whether nothing was ever purged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.blobs.is_empty()
    }

    /// Whether the claim, correction or item of knowledge with this id is gone.
    #[must_use]
    pub fn has(&self, id: &EntryId) -> bool {
        self.ids.contains(id)
    }

    /// Whether the note with the object id `blob`, in hex, is gone as a whole.
    #[must_use]
    pub fn has_blob(&self, blob: &str) -> bool {
        self.blobs.contains(blob)
    }

    /// Whether a line of the corrections ref may stay.
    #[must_use]
    pub fn keeps(&self, correction: &Correction) -> bool {
        !self.has(&correction.id) && !self.has(&correction.entry)
    }

    /// The note without what is gone.
    #[must_use]
    pub fn cleanse(&self, note: Note) -> Note {
        if self.ids.is_empty() { note } else { note.without(&|id| self.has(id), MARK) }
    }

    /// The repository's knowledge without what is gone.
    #[must_use]
    pub fn cleanse_knowledge(&self, knowledge: Knowledge) -> Knowledge {
        knowledge.retain(|item| !self.has(&EntryId(item.id().to_owned())))
    }
}

/// Texts that must be nowhere any more.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    texts: Vec<String>,
}

/// A shorter text may stand anywhere by chance: it is only looked for as a whole.
const LEAST_TO_FIND: usize = 12;

impl Texts {
    /// Adds a text, if it says anything.
    pub fn add(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() && text != MARK && !self.texts.iter().any(|known| known == text) {
            self.texts.push(text.to_owned());
            // The longest first, so that a text inside another one does not break it up.
            self.texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        }
    }

    /// Adds every text that `value` says, but for its names and numbers.
    pub fn add_all(&mut self, value: &Value, keys: &[&str]) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(elements) => elements.iter().for_each(|element| self.add_all(element, keys)),
            Value::Object(map) => {
                for (_, value) in map.iter().filter(|(key, _)| keys.contains(&key.as_str())) {
                    self.add_all(value, keys);
                }
            }
            _ => {}
        }
    }

    /// Leaves out the texts that `value` says; whether there were any.
    pub fn leave(&mut self, value: &Value) -> bool {
        let n_before = self.texts.len();
        self.texts.retain(|text| !Self { texts: vec![text.clone()] }.are_in_value(value));
        self.texts.len() < n_before
    }

    /// Whether bytes that may be JSON say any of the texts.
    #[must_use]
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        let contains = |needle: &str| memchr::memmem::find(bytes, needle.as_bytes()).is_some();
        self.texts.iter().filter(|text| LEAST_TO_FIND <= text.len()).any(|text| {
            let escaped = Value::from(text.as_str()).to_string();
            contains(text) || contains(&escaped[1..escaped.len() - 1])
        })
    }

    /// Whether `text` says any of the texts.
    #[must_use]
    pub fn are_said(&self, text: &str) -> bool {
        self.texts.iter().any(|gone| is_said(gone, text))
    }

    /// Whether any string of `value` says any of the texts.
    #[must_use]
    pub fn are_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.are_said(text),
            Value::Array(elements) => elements.iter().any(|element| self.are_in_value(element)),
            Value::Object(map) => {
                map.iter().any(|(key, value)| self.are_said(key) || self.are_in_value(value))
            }
            _ => false,
        }
    }

    /// Takes the texts out of every string of `value`; whether any was there.
    pub fn scrub(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let mut found = false;
                for gone in &self.texts {
                    if is_said(gone, text) {
                        *text = text.replace(gone.as_str(), MARK);
                        found = true;
                    }
                }
                found
            }
            Value::Array(elements) => {
                elements.iter_mut().fold(false, |found, element| self.scrub(element) | found)
            }
            Value::Object(map) => {
                let mut found = map.values_mut().fold(false, |found, value| self.scrub(value) | found);
                for key in map.keys().filter(|key| self.are_said(key)).cloned().collect::<Vec<_>>() {
                    map.shift_remove(&key);
                    found = true;
                }
                found
            }
            _ => false,
        }
    }
}

fn is_said(gone: &str, text: &str) -> bool {
    if gone.len() < LEAST_TO_FIND { text.trim() == gone } else { text.contains(gone) }
}

/// What is left of the bytes of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// All of it.
    All,
    /// These bytes.
    Some(Vec<u8>),
    /// Nothing.
    Nothing,
}

/// The bytes of a note, or of a note of corrections, without what was purged and without `texts`.
#[must_use]
pub fn clean(bytes: &[u8], purged: &Purged, texts: &Texts) -> Left {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_correction = |line: &&str| serde_json::from_str::<Correction>(line).is_ok();
    if lines.iter().any(is_correction) {
        return clean_corrections(&lines, purged, texts);
    }
    let read = read_note(bytes);
    let mut values = Vec::new();
    let unread = read.note.unread().filter(|part| texts.are_in(part)).count();
    let note = purged.cleanse(read.note.clone()).without_unread(|part| texts.are_in(part));
    let commit = read.note.documents().first().map(|document| document.commit.clone()).unwrap_or_default();
    if let Some(annotation) = note.to_annotation(&commit) {
        values.push(serde_json::to_value(&annotation).expect("an annotation is plain data"));
    }
    let knowledge = read.knowledge.clone().map(|knowledge| purged.cleanse_knowledge(knowledge));
    values
        .extend(knowledge.iter().map(|known| serde_json::to_value(known).expect("knowledge is plain data")));
    let said = values.iter_mut().fold(false, |found, value| texts.scrub(value) | found);
    let is_touched = said || 0 < unread || note != read.note || knowledge != read.knowledge;
    if !is_touched && !texts.are_in(bytes) {
        return Left::All;
    }
    if values.is_empty() {
        return Left::Nothing;
    }
    let mut left = Vec::new();
    for value in values {
        left.extend(value.to_string().into_bytes());
        left.push(b'\n');
    }
    Left::Some(left)
}

fn clean_corrections(lines: &[&str], purged: &Purged, texts: &Texts) -> Left {
    let is_kept = |line: &&&str| {
        let is_purged = serde_json::from_str::<Correction>(line).is_ok_and(|correction| {
            let mut value = serde_json::to_value(&correction).expect("a correction is plain data");
            !purged.keeps(&correction) || texts.scrub(&mut value)
        });
        // The bytes may say more than what is read of them: members that a correction does not have.
        !is_purged && !texts.are_in(line.as_bytes())
    };
    let kept: Vec<&&str> = lines.iter().filter(is_kept).collect();
    match kept.len() {
        0 => Left::Nothing,
        n if n == lines.len() => Left::All,
        _ => Left::Some(kept.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purged(ids: &[&str]) -> Purged {
        let ids = ids.iter().map(|id| EntryId((*id).to_owned()));
        Purged { ids: ids.collect(), blobs: HashSet::new() }
    }

    fn texts(all: &[&str]) -> Texts {
        let mut texts = Texts::default();
        all.iter().for_each(|text| texts.add(text));
        texts
    }

    #[test]
    fn a_note_loses_what_is_gone_and_nothing_else() {
        let note = br#"{"schema":"chronicle/v3","commit":"c","timestamp":"t","summary":"Because of the flux capacitor","wisdom":[{"id":"A","category":"gotcha","content":"the flux capacitor"},{"id":"B","category":"insight","content":"stays"}],"provenance":{"source":"live","notes":"x: the flux capacitor"},"x_unknown":1}"#;
        let Left::Some(left) = clean(note, &purged(&["A"]), &texts(&["the flux capacitor"])) else {
            panic!()
        };
        let left = String::from_utf8(left).unwrap();
        assert!(!left.contains("flux") && left.contains("stays") && left.contains("x_unknown"), "{left}");
        assert!(left.contains("Because of [purged]"), "{left}");
        assert_eq!(clean(left.as_bytes(), &purged(&["A"]), &texts(&["the flux capacitor"])), Left::All);
        assert_eq!(clean(note, &purged(&["Z"]), &texts(&["something else entirely"])), Left::All);
    }

    #[test]
    fn what_cannot_be_read_goes_when_it_says_the_text() {
        let gone = texts(&["a \"quoted\" secret"]);
        assert_eq!(clean(br#"words: a \"quoted\" secret"#, &purged(&[]), &gone), Left::Nothing);
        assert_eq!(clean(b"just words", &purged(&[]), &gone), Left::All);
    }

    #[test]
    fn corrections_of_what_is_gone_go_too() {
        let lines = b"{\"id\":\"1\",\"entry\":\"A\",\"kind\":\"flag\"}\n{\"id\":\"2\",\"entry\":\"B\",\"kind\":\"flag\",\"reason\":\"the flux capacitor!\"}\n{\"id\":\"3\",\"entry\":\"B\",\"kind\":\"flag\"}\n";
        let Left::Some(left) = clean(lines, &purged(&["A"]), &texts(&["the flux capacitor"])) else {
            panic!()
        };
        assert_eq!(String::from_utf8(left).unwrap().lines().count(), 1);
        assert_eq!(clean(lines, &purged(&["A", "B"]), &texts(&[])), Left::Nothing);
    }

    #[test]
    fn a_correction_goes_when_a_member_that_it_should_not_have_says_the_text() {
        let lines = b"{\"id\":\"1\",\"entry\":\"A\",\"kind\":\"flag\",\"odd\":\"the flux capacitor\"}\n{\"id\":\"2\",\"entry\":\"A\",\"kind\":\"flag\"}\n";
        let left = clean(lines, &purged(&[]), &texts(&["the flux capacitor"]));
        assert_eq!(left, Left::Some(b"{\"id\":\"2\",\"entry\":\"A\",\"kind\":\"flag\"}\n".to_vec()));
    }

    #[test]
    fn a_short_text_is_only_found_as_a_whole() {
        let mut value = serde_json::json!(["pool", "the pool"]);
        assert!(texts(&["pool"]).scrub(&mut value));
        assert_eq!(value, serde_json::json!([MARK, "the pool"]));
    }
}
