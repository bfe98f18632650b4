//! Notes as JSON Lines, out of a repository and into one, without losing a byte.
//!
//! Each line holds `commit_sha`, `timestamp` and `annotation`, as released tools write them. A note that
//! is one JSON object on one line is its `annotation`, byte for byte; of any other the bytes are in `raw`, as base64.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{BufRead, Read, Write},
};

use chronicle_core::{
    plain,
    purge::{Left, Texts, clean, read_tombstones},
    redact_note,
    redaction::Kind,
    unite_lines,
};
use chronicle_git::{CORRECTIONS_REF, GitError, NOTES_REF, NotesEdit, ObjectId, PURGED_REF, Repository};
use data_encoding::BASE64;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use snafu::{ResultExt, ensure};

use crate::{
    error::{BadLineSnafu, CommitsError, ReadLinesSnafu, Result, WriteLinesSnafu, if_notes},
    note::{
        tombstones::purged,
        trust::{Trust, keep_own_bytes, mark_of_tombstone},
    },
    share::{
        merging::{MAX_NOTE_BYTES, too_large},
        sync::{Added, SHARED_REFS, add},
    },
};

/// A line may hold a note once as it is and once as base64.
const MAX_LINE_BYTES: u64 = 3 * MAX_NOTE_BYTES;

/// Stands for the ref of notes that came in a file.
const IMPORTED: &str = "refs/notes/imported";

/// What was exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Notes that were written.
    pub n_notes: usize,
    /// Notes whose bytes are not here.
    pub n_missing: usize,
}

/// What was imported.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// Lines that were read.
    pub n_lines: usize,
    /// Notes that are new or know more than before.
    pub n_changed: usize,
    /// Notes on commits that are not here.
    pub n_elsewhere: usize,
    /// Secrets that were replaced, with the number of their line.
    pub redacted: Vec<(usize, Vec<Kind>)>,
    /// What was not taken, and why.
    pub warnings: Vec<String>,
}

/// Makes a line of the bytes of a note and the object that carries it; `None` where there is nothing to write.
pub type MakeLine<'m> = dyn Fn(&str, ObjectId, &[u8]) -> Option<Vec<u8>> + Sync + 'm;

/// Writes every note of our refs as a line that `make` makes, in the order in which they are packed.
///
/// # Errors
/// When the notes cannot be listed, or `out` cannot be written.
pub fn export(repository: &Repository, make: &MakeLine<'_>, out: &mut dyn Write) -> Result<Exported> {
    let mut exported = Exported::default();
    for name in SHARED_REFS {
        let mut keys: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
        // `doctor` reports a ref that holds no notes.
        for note in if_notes(repository.notes(name), &mut Vec::new())?.into_iter().flatten() {
            keys.entry(note.blob).or_default().push(note.key);
        }
        let n_blobs = keys.len();
        let mut n_read = 0;
        let written = repository.stream_many(
            keys.keys().copied().collect(),
            |blob, content| {
                Some(keys[&blob].iter().filter_map(|key| make(name, *key, content)).collect::<Vec<_>>())
            },
            |_, lines| {
                n_read += 1;
                exported.n_notes += lines.len();
                out.write_all(&lines.concat())
            },
        );
        written.context(WriteLinesSnafu)?;
        exported.n_missing += n_blobs - n_read;
    }
    out.flush().context(WriteLinesSnafu)?;
    Ok(exported)
}

/// The line of a note, from which [`import`] makes the same bytes again.
#[must_use]
pub fn line(name: &str, key: ObjectId, content: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        timestamp: Option<Cow<'a, str>>,
    }
    let text = std::str::from_utf8(content).ok();
    let body = text.and_then(|text| text.strip_suffix('\n')).filter(|body| {
        let is_one_line = body.starts_with('{') && body.ends_with('}') && !body.contains('\n');
        is_one_line && matches!(plain(body), Cow::Borrowed(_))
    });
    let head: Option<Head<'_>> = text.and_then(|text| serde_json::from_str(text).ok());
    let mut line = format!("{{\"commit_sha\":\"{key}\",\"timestamp\":").into_bytes();
    let timestamp = head.as_ref().and_then(|head| head.timestamp.as_deref());
    line.extend(escaped(&Value::from(timestamp)));
    if name != NOTES_REF {
        line.extend(format!(",\"ref\":\"{name}\"").as_bytes());
    }
    match (body, &head) {
        (Some(body), Some(_)) => {
            line.extend_from_slice(b",\"annotation\":");
            line.extend_from_slice(body.as_bytes());
        }
        _ => {
            line.extend(format!(",\"raw\":\"{}\",\"annotation\":", BASE64.encode(content)).as_bytes());
            let value: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            line.extend(escaped(&value));
        }
    }
    line.extend_from_slice(b"}\n");
    Some(line)
}

/// JSON on one line, without characters that act on a terminal.
fn escaped(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    for character in value.to_string().chars() {
        match plain(character.encode_utf8(&mut [0; 4])).is_empty() {
            true => character
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
            false => out.push(character),
        }
    }
    out.into_bytes()
}

/// Unites the notes in `lines` with ours: all of them, or none when a line is wrong.
///
/// # Errors
/// When `lines` cannot be read or one of them is no exported note, or when our notes cannot be written.
pub fn import(repository: &Repository, lines: &mut dyn BufRead) -> Result<Imported> {
    let mut imported = Imported::default();
    let mut notes: BTreeMap<&str, Vec<(ObjectId, Vec<u8>)>> = BTreeMap::new();
    let mut line = Vec::new();
    let trust = Trust::of(repository);
    for number in 1.. {
        line.clear();
        let n_read =
            (&mut *lines).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line).context(ReadLinesSnafu)?;
        if n_read == 0 {
            break;
        }
        let too_long = MAX_LINE_BYTES < line.len() as u64;
        ensure!(!too_long, BadLineSnafu { number, reason: "it is too long for any note" });
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read = read_line(repository, line.trim_ascii());
        let Given { name, key, mut content } =
            read.map_err(|reason| CommitsError::BadLine { number, reason })?;
        if let Some((redacted, kinds)) = redact_note(&content) {
            keep_own_bytes(&trust, &content, &redacted)?;
            content = redacted;
            imported.redacted.push((number, kinds));
        }
        imported.n_lines += 1;
        imported.n_elsewhere += usize::from(!repository.has_object(key));
        notes.entry(name).or_default().push((key, content));
    }
    let mut purged = purged(repository)?;
    // A stranger's marks come along, and count as they did.
    for tombstone in notes.get(PURGED_REF).into_iter().flatten().flat_map(|(_, bytes)| read_tombstones(bytes))
    {
        if trust.is_own(&mark_of_tombstone(&tombstone)) {
            purged.add(&tombstone);
        }
    }
    for (name, mut notes) in notes {
        if name != PURGED_REF && !purged.is_empty() {
            notes.retain_mut(|(_, content)| match clean(content, &purged, &Texts::default()) {
                Left::All => true,
                Left::Some(left) => {
                    *content = left;
                    true
                }
                Left::Nothing => false,
            });
        }
        let message = format!("chronicle: import {} notes", notes.len());
        let ((n_changed, large), _) = repository.edit_notes(name, &message, |edit: &mut NotesEdit<'_>| {
            let (mut n_changed, mut large) = (0, Vec::new());
            for (key, content) in &notes {
                let added = match name {
                    CORRECTIONS_REF | PURGED_REF => add_lines(edit, *key, content)?,
                    // A file is named by the user, and may be the only copy.
                    _ => add(edit, *key, content, IMPORTED, &trust, MAX_NOTE_BYTES)?,
                };
                n_changed += usize::from(added == Added::News);
                if added == Added::TooLarge {
                    large.push(*key);
                }
            }
            Ok::<_, GitError>((n_changed, large))
        })?;
        imported.warnings.extend(large.into_iter().map(too_large));
        imported.n_changed += n_changed;
    }
    Ok(imported)
}

fn add_lines(notes: &mut NotesEdit<'_>, key: ObjectId, content: &[u8]) -> Result<Added, GitError> {
    let present = notes.get(key)?;
    let united = match &present {
        Some(present) => unite_lines(&[&present[..], content]),
        None => content.to_vec(),
    };
    let is_news = present
        .as_ref()
        .is_none_or(|present| united != unite_lines(&[&present[..], b""]) && united != *present);
    if !is_news {
        return Ok(Added::Known);
    }
    notes.set(key, united);
    Ok(Added::News)
}

/// One note that a line holds.
struct Given {
    name: &'static str,
    key: ObjectId,
    content: Vec<u8>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    commit_sha: Cow<'a, str>,
    #[serde(rename = "ref", borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    raw: Option<Cow<'a, str>>,
}

fn read_line(repository: &Repository, line: &[u8]) -> Result<Given, String> {
    if let Some(given) = verbatim(repository, line) {
        return Ok(given);
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("it isn't JSON: {error}"))?;
    let annotation = value.get("annotation").filter(|annotation| annotation.is_object());
    let body = annotation.map(|annotation| annotation.to_string().into_bytes());
    given(repository, line, body.as_deref())
}

const MARK: &[u8] = b",\"annotation\":{";

/// The note of a line whose annotation comes last, as we write it: it keeps its bytes.
fn verbatim(repository: &Repository, line: &[u8]) -> Option<Given> {
    let at = memchr::memmem::find(line, MARK)?;
    let head = [&line[..at], b"}"].concat();
    let body = line[at + MARK.len() - 1..].strip_suffix(b"}")?;
    serde_json::from_slice::<IgnoredAny>(body).ok()?;
    given(repository, &head, Some(body)).ok()
}

fn given(repository: &Repository, head: &[u8], body: Option<&[u8]>) -> Result<Given, String> {
    let head: Line<'_> =
        serde_json::from_slice(head).map_err(|error| format!("it isn't an exported note: {error}"))?;
    let name = head.name.as_deref().unwrap_or(NOTES_REF);
    let name = SHARED_REFS.into_iter().find(|known| *known == name);
    let name = name.ok_or("its `ref` isn't one of Chronicle's")?;
    let key = ObjectId::from_hex(head.commit_sha.as_bytes()).ok();
    let key = key.filter(|key| key.kind() == repository.empty_tree().kind());
    let key = key.ok_or("its `commit_sha` isn't the full id of a commit")?;
    let content = match (&head.raw, body) {
        (Some(raw), _) => BASE64.decode(raw.as_bytes()).map_err(|_| "its `raw` isn't base64".to_owned())?,
        (None, Some(body)) => [body, b"\n"].concat(),
        (None, None) => return Err("it has neither `annotation` nor `raw`".to_owned()),
    };
    if MAX_NOTE_BYTES < content.len() as u64 {
        return Err(format!("its note has more than {} MB", MAX_NOTE_BYTES >> 20));
    }
    Ok(Given { name, key, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(note: &str, expected: &str) {
        let key = ObjectId::null(ObjectId::from_hex(&[b'1'; 40]).unwrap().kind());
        let told = String::from_utf8(line(NOTES_REF, key, note.as_bytes()).unwrap()).unwrap();
        assert_eq!(told.split_once(r#""timestamp":null,"#).unwrap().1, expected);
    }

    #[test]
    fn a_line_holds_no_control_character() {
        check("{\"a\":\"x y\"}\n", "\"annotation\":{\"a\":\"x y\"}}\n");
        let raw = BASE64.encode(b"{\"a\":\"x\x7fy\"}\n");
        let expected = format!("\"raw\":\"{raw}\",\"annotation\":{{\"a\":\"x\\u007fy\"}}}}\n");
        check("{\"a\":\"x\u{7f}y\"}\n", &expected);
    }
}
