//! Unites the bytes that several people stored in one place.
//!
//! Equal bytes stay as they are, whoever wrote them; different ones become the union of what they
//! say, in one form. So whoever unites first, and in whatever order, everyone ends with equal
//! bytes (property tests), and a note that only one side has is never rewritten.

use std::{borrow::Cow, collections::BTreeSet};

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

use crate::{Knowledge, Note, read_note};

/// The schema of a note in which nothing could be read on any side.
pub const UNREAD_SCHEMA: &str = "chronicle/unread-v1";

/// Parts that nobody could read, as base64: what two unreadable notes become.
#[derive(Serialize)]
struct Unread {
    schema: &'static str,
    unread: Vec<String>,
}

/// The note on `key` that holds everything that the notes `sides` hold.
#[must_use]
pub fn unite_notes(key: &str, sides: &[impl AsRef<[u8]>]) -> Vec<u8> {
    if let Some(same) = all_equal(sides) {
        return same.to_vec();
    }
    let mut note = Note::default();
    let mut knowledge: Option<Knowledge> = None;
    for side in sides {
        let read = read_note(side.as_ref());
        note = note.fold(read.note);
        if let Some(more) = read.knowledge {
            knowledge = Some(knowledge.take().unwrap_or_default().fold(more));
        }
    }
    note_bytes(key, &note, knowledge)
}

/// The bytes of a note on `key` that holds these documents, and this knowledge.
#[must_use]
pub fn note_bytes(key: &str, note: &Note, knowledge: Option<Knowledge>) -> Vec<u8> {
    let mut united = Vec::new();
    if let Some(knowledge) = knowledge {
        serde_json::to_writer(&mut united, &knowledge.sorted()).expect("knowledge is plain data");
        united.push(b'\n');
    }
    match note.to_line(key) {
        Some(line) => united.extend_from_slice(line.as_bytes()),
        None if note.is_empty() => {}
        None => {
            let unread = note.unread().map(|part| BASE64.encode(part)).collect();
            serde_json::to_writer(&mut united, &Unread { schema: UNREAD_SCHEMA, unread })
                .expect("texts are plain data");
            united.push(b'\n');
        }
    }
    united
}

/// The lines of all `sides`, each once: lines are added and never changed, so of two lines with one id
/// neither may take the place of the other.
///
/// Lines with an id come first, in order of id.
#[must_use]
pub fn unite_lines(sides: &[impl AsRef<[u8]>]) -> Vec<u8> {
    if let Some(same) = all_equal(sides) {
        return same.to_vec();
    }
    let all = sides.iter().flat_map(|side| side.as_ref().split(|byte| *byte == b'\n'));
    let all = all.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let lines: BTreeSet<(bool, Option<String>, &[u8])> = all
        .map(|line| {
            let id = id_of(line);
            (id.is_none(), id, line)
        })
        .collect();
    let mut united = Vec::new();
    for (_, _, line) in lines {
        united.extend_from_slice(line);
        united.push(b'\n');
    }
    united
}

fn id_of(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    serde_json::from_slice::<Named<'_>>(line).ok().map(|named| named.id.into_owned())
}

fn all_equal(sides: &[impl AsRef<[u8]>]) -> Option<&[u8]> {
    let (first, others) = sides.split_first()?;
    others.iter().all(|other| other.as_ref() == first.as_ref()).then_some(first.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_stay_as_they_are() {
        let odd = b"{ \"schema\": \"chronicle/v9\" }  \n\n";
        assert_eq!(unite_notes("c", &[odd, odd]), odd);
        assert_eq!(unite_lines(&[b"b\na", b"b\na"]), b"b\na");
    }

    #[test]
    fn notes_that_nobody_can_read_are_kept_byte_for_byte() {
        let united = unite_notes("c", &[&b"<<<<"[..], b"{\"schema\":\"chronicle/v9\"}", b"\xff"]);
        assert_eq!(united.iter().filter(|byte| **byte == b'\n').count(), 1);
        let back = read_note(&united);
        let parts: Vec<&[u8]> = back.note.unread().collect();
        assert_eq!(parts, [&b"<<<<"[..], b"{\"schema\":\"chronicle/v9\"}", b"\xff"]);
        assert_eq!(unite_notes("c", &[&united[..], b"\xff"]), united);
    }

    #[test]
    fn no_line_takes_the_place_of_another() {
        let long = r#"{"id":"B","reason":"longer"}"#;
        let sides = [format!("{long}\nodd\n"), "{\"id\":\"B\"}\n{\"id\":\"A\"}\nodd".to_owned()];
        let united = unite_lines(&sides);
        let [one, other] = &sides;
        assert_eq!(unite_lines(&[other, one]), united);
        let united = String::from_utf8(united).unwrap();
        assert_eq!(united, format!("{{\"id\":\"A\"}}\n{long}\n{{\"id\":\"B\"}}\nodd\n"));
    }

    #[test]
    fn knowledge_is_united_in_any_order() {
        let knowledge = |id: &str, rule: &str, more: &str| {
            format!(
                r#"{{"schema":"chronicle/knowledge-v1","conventions":[{{"id":"{id}","rule":"{rule}"}}]{more}}}"#
            )
        };
        let sides = [
            knowledge("conv-2", "two", r#","gone":["x"]"#),
            knowledge("conv-1", "one", r#","gone":["y"]"#),
            knowledge("conv-2", "two, changed", ""),
        ];
        let [a, b, c] = &sides;
        let united = unite_notes("t", &[a, b, c]);
        assert_eq!(unite_notes("t", &[c, a, b]), united);
        assert_eq!(unite_notes("t", &[&unite_notes("t", &[b, c])[..], a.as_bytes()]), united);
        assert_eq!(
            String::from_utf8(united).unwrap().trim(),
            r#"{"schema":"chronicle/knowledge-v1","conventions":[{"id":"conv-1","scope":"*","rule":"one"},{"id":"conv-2","scope":"*","rule":"two"},{"id":"conv-2","scope":"*","rule":"two, changed"}],"boundaries":[],"anti_patterns":[],"gone":["x","y"]}"#
        );
    }
}
