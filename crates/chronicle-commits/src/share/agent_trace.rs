//! Annotations in the form of Agent Trace 0.1.0, a format in which tools tell who wrote which lines.
//!
//! We know the lines and the session, not the model. A commit made in an agent's session counts as
//! written by one; of all others it is not known.

use std::collections::BTreeMap;

use chronicle_core::{Annotation, LineRange, Note, plain, read_note};
use chronicle_git::{NOTES_REF, ObjectId, Repository};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::{
    error::Result,
    note::{claim_id::summary_id, notebook::Notebook, stored::SaidBy},
};

/// The version of the format that is written.
const VERSION: &str = "0.1.0";

/// Who says what is traced: the claims that the user did not make, by the commit whose note holds them.
#[derive(Debug, Default)]
pub struct Voices(BTreeMap<ObjectId, Vec<SaidBy>>);

impl Voices {
    /// Those of all notes.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn of(repository: &Repository) -> Result<Self> {
        let notebook = Notebook::open(repository, &mut Vec::new())?;
        let notes = notebook.scan(&mut Vec::new(), |_, _| true);
        let others = notes.into_iter().map(|(key, raw)| (key, notebook.parse(&raw).said_by_others()));
        Ok(Self(others.filter(|(_, others)| !others.is_empty()).collect()))
    }

    /// Who says the summary of `document`, unless the user does.
    fn of_document(&self, key: ObjectId, document: &Annotation) -> Option<&SaidBy> {
        let id = summary_id(document);
        self.0.get(&key)?.iter().find(|said| said.id == id)
    }
}

/// The traces of one note, one line for each document; `None` for what says nothing about a commit.
#[must_use]
pub fn lines(
    tool_version: &str,
    voices: &Voices,
    name: &str,
    key: ObjectId,
    content: &[u8],
) -> Option<Vec<u8>> {
    if name != NOTES_REF {
        return None;
    }
    let note = read_note(content).note;
    let mut lines = Vec::new();
    for document in note.documents() {
        if chronicle_core::parse_time(&document.timestamp).is_some() {
            let said_by = voices.of_document(key, document);
            lines.extend(trace(tool_version, &note, document, said_by, key).to_string().into_bytes());
            lines.push(b'\n');
        }
    }
    (!lines.is_empty()).then_some(lines)
}

fn trace(
    tool_version: &str,
    note: &Note,
    document: &Annotation,
    said_by: Option<&SaidBy>,
    key: ObjectId,
) -> Value {
    let contributor = json!({ "type": if document.session.is_some() { "ai" } else { "unknown" } });
    let mut files: BTreeMap<&str, Vec<LineRange>> = BTreeMap::new();
    let entries = note.entries_of(document).filter_map(|entry| Some((entry.file.as_deref()?, entry.lines)));
    let regions = document.regions.iter().map(|region| (region.file.as_str(), region.lines));
    for (file, lines) in entries.chain(regions).filter(|(file, _)| is_inside(file)) {
        let ranges = files.entry(file).or_default();
        ranges.extend(lines.filter(|lines| !ranges.contains(lines)));
    }
    let files = files.into_iter().map(|(path, mut ranges)| {
        ranges.sort_unstable_by_key(|lines| (lines.start, lines.end));
        let ranges: Vec<Value> =
            ranges.iter().map(|lines| json!({ "start_line": lines.start, "end_line": lines.end })).collect();
        json!({ "path": plain(path), "conversations": [{ "contributor": contributor, "ranges": ranges }] })
    });
    let mut about = Map::new();
    about.insert("summary".to_owned(), plain(&document.summary).into());
    about.insert("source".to_owned(), document.provenance.source.name().into());
    about.extend(document.provenance.author.iter().map(|author| ("author".to_owned(), plain(author).into())));
    if let Some(said_by) = said_by {
        about.insert("tier".to_owned(), said_by.tier.to_string().into());
        about.extend(said_by.origin.iter().map(|origin| ("origin".to_owned(), plain(origin).into())));
    }
    about.extend(document.session.iter().map(|session| ("session".to_owned(), plain(session).into())));
    json!({
        "version": VERSION,
        "id": uuid(key, &document.fingerprint()),
        "timestamp": document.timestamp,
        "vcs": { "type": "git", "revision": key.to_string() },
        "tool": { "name": "git-chronicle", "version": tool_version },
        "files": files.collect::<Vec<_>>(),
        "metadata": { "chronicle": about },
    })
}

/// Whether `path` is one from the root of a repository.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && !path.split(['/', '\\']).any(|part| part == "..")
}

/// The same for the same document, in every export: a UUID of version 8.
fn uuid(key: ObjectId, fingerprint: &str) -> String {
    let digest = Sha256::digest(format!("{key} {fingerprint}").as_bytes());
    let mut bytes: [u8; 16] = digest[..16].try_into().expect("a digest is longer");
    bytes[6] = 0x80 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
