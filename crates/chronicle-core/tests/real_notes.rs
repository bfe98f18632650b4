//! Every word of 33 real notes is in what is read from them.

use std::{fs, path::Path};

use chronicle_core::{
    ReadNote, read_note,
    restating::{Words, restates},
};
use serde_json::Value;

#[test]
fn nothing_that_real_notes_say_is_lost() {
    let Some(notes) = notes() else { return };
    for (key, raw) in &notes {
        let read = read_note(raw);
        assert_eq!(read.remarks, [], "{key}");
        assert_eq!(read.note.unread().count(), 0, "{key}");
        let said = said(key, &read);
        for text in texts(raw) {
            assert!(said.contains(&normal(&text)), "{key}: {text:?} is lost in {said}");
        }
    }
}

#[test]
fn real_notes_are_stable_once_they_are_rewritten() {
    let Some(notes) = notes() else { return };
    for (key, raw) in &notes {
        let read = read_note(raw);
        let Some(line) = read.note.to_line(key) else {
            assert!(read.knowledge.is_some(), "{key}");
            continue;
        };
        let back = read_note(line.as_bytes());
        assert_eq!(back.note.to_line(key).as_deref(), Some(line.as_str()), "{key}");
        let folded = read.note.clone().fold(back.note);
        assert_eq!(folded.to_line(key).as_deref(), Some(line.as_str()), "{key}");
    }
}

#[test]
fn regions_of_real_notes_stay_regions() {
    let Some(notes) = notes() else { return };
    let mut n_with_regions = 0;
    for (key, raw) in &notes {
        let n_written = raw.windows(b"\"ast_anchor\"".len()).filter(|at| at == b"\"ast_anchor\"").count();
        let read = read_note(raw);
        let n_read: usize = read.note.documents().iter().map(|document| document.regions.len()).sum();
        assert_eq!(n_read, n_written, "{key}");
        n_with_regions += usize::from(0 < n_written);
        for region in read.note.documents().iter().flat_map(|document| &document.regions) {
            assert!(region.ast_anchor.is_some() && region.intent.is_some(), "{key}");
            // One region gives its lines as 0 to 0, which is no place.
            let no_place = region.extra.get("lines_as_written");
            assert_eq!(region.lines.is_none(), no_place.is_some_and(|lines| lines["end"] == 0), "{key}");
            assert_eq!(region.extra.len(), usize::from(no_place.is_some()), "{key}: {:?}", region.extra);
        }
    }
    assert!(0 < n_with_regions);
}

/// Name and bytes of each real note, or nothing where they are absent.
fn notes() -> Option<Vec<(String, Vec<u8>)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/notes");
    let Ok(files) = fs::read_dir(&folder) else {
        #[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
        {
            eprintln!("skipped: no real notes at {}", folder.display());
        }
        return None;
    };
    let mut notes: Vec<_> = files
        .map(|file| file.expect("a folder can be listed").path())
        .map(|path| {
            let name = path.file_stem().expect("files have names").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("a note can be read"))
        })
        .collect();
    notes.sort();
    assert_eq!(notes.len(), 33);
    Some(notes)
}

/// All strings of what was read, a space between them, with white space normalised.
fn said(key: &str, read: &ReadNote) -> String {
    let mut strings = Vec::new();
    for value in [
        serde_json::to_value(read.note.to_annotation(key)).expect("plain data"),
        serde_json::to_value(&read.knowledge).expect("plain data"),
    ] {
        collect(&value, &mut strings);
    }
    normal(&strings.join(" "))
}

fn collect(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, into)),
        Value::Object(map) => map.values().for_each(|value| collect(value, into)),
        _ => {}
    }
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The string values of JSON, by an eye of our own that forgives raw control characters; without those that
/// migration renames (`schema`, `operation`) or that the note's key replaces (`commit` of the document).
fn texts(raw: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(raw).expect("notes are UTF-8");
    let mut found = Vec::new();
    let (mut last_key, mut depth) = (String::new(), 0);
    let mut rest = text.char_indices();
    while let Some((at, character)) = rest.next() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            '"' => {
                let mut escaped = false;
                let (end, _) = rest
                    .find(|(_, c)| {
                        let ends = *c == '"' && !escaped;
                        escaped = *c == '\\' && !escaped;
                        ends
                    })
                    .expect("strings end");
                let body = text[at + 1..end].replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
                let string: String = serde_json::from_str(&format!("\"{body}\"")).expect("a string");
                if text[end + 1..].trim_start().starts_with(':') {
                    last_key = string;
                } else if !matches!(last_key.as_str(), "schema" | "operation")
                    && (last_key != "commit" || depth != 1)
                {
                    found.push(string);
                }
            }
            _ => {}
        }
    }
    assert!(!found.is_empty());
    found
}

/// The agent that writes annotations drops what only restates; people and agents who know would be insulted by that.
#[test]
fn no_real_lesson_restates_its_change() {
    let Some(notes) = notes() else { return };
    let (mut n_lessons, mut restating) = (0, Vec::new());
    for (name, bytes) in &notes {
        let read = read_note(bytes);
        // What the message said is not kept; the first sentence of the summary is as near as the notes come.
        for document in read.note.documents() {
            let subject = document.summary.split(['.', '\n']).next().unwrap_or_default();
            let regions = document.regions.iter().map(|region| {
                let texts = [&region.intent, &region.reasoning, &region.risk_notes];
                let texts = texts.into_iter().flatten().map(String::as_str);
                let texts: Vec<&str> = texts
                    .chain(region.constraints.iter().map(|constraint| constraint.text.as_str()))
                    .collect();
                let anchor = region.ast_anchor.as_ref();
                let signature = anchor.and_then(|anchor| anchor.signature.clone()).unwrap_or_default();
                let anchor = anchor.map(|anchor| anchor.name.clone()).unwrap_or_default();
                (texts.join("\n"), format!("{} {anchor} {signature}", region.file))
            });
            let entries = document
                .wisdom
                .iter()
                .map(|entry| (entry.content.clone(), entry.file.clone().unwrap_or_default()));
            for (text, place) in regions.chain(entries) {
                let mut known = Words::of(subject);
                known.add(&place);
                n_lessons += 1;
                if restates(&text, &known) {
                    restating.push(format!("{name}: {text}"));
                }
            }
        }
    }
    assert!(100 < n_lessons, "{n_lessons}");
    assert_eq!(restating, Vec::<String>::new());
}
