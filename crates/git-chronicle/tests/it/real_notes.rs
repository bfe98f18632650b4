//! Real notes in a repository made around them: whatever they say is in the answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::{Map, Value};
use testkit::TestRepo;

use crate::outcome::chronicle;

const NOTES: &str = "refs/notes/chronicle";
/// The object that the repository's knowledge is on.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf899d15f13160d28";
/// Keys whose values migration renames or replaces by the note's key, at any depth.
const RENAMED: [&str; 2] = ["schema", "operation"];
/// Keys whose values markdown shortens or leaves to JSON.
const NO_PROSE: [&str; 7] =
    ["commit", "decided_in", "derived_from", "unit_type", "signature", "timestamp", "context_level"];

#[test]
fn every_text_of_real_notes_is_in_the_answers() {
    let Some(notes) = notes() else { return };
    let repo = TestRepo::new();
    let mut present = BTreeMap::new();
    let mut keys = Vec::new();
    for (name, raw, note) in &notes {
        let key = if name == EMPTY_TREE {
            repo.git(&["hash-object", "-t", "tree", "-w", "/dev/null"])
        } else {
            for (file, n_lines) in files(note) {
                touch(&repo, &mut present, &file, n_lines);
            }
            repo.commit(&format!("stands for {name}"))
        };
        repo.put_note(NOTES, &key, raw);
        keys.push(key);
    }

    let mut answers = String::new();
    for (key, (name, _, note)) in keys.iter().zip(&notes) {
        let shown = said_in_json(repo.path(), &["show", "--format", "json", key]);
        assert_has(&shown, &texts(note, &RENAMED), &format!("show {name}"));
        answers.push_str(&shown);
        let markdown = chronicle(repo.path(), &["show", key]);
        assert_eq!((markdown.code, markdown.stderr.as_str()), (Some(0), ""), "{name}");
        let no_prose = [&RENAMED[..], &NO_PROSE].concat();
        // All of it is quoted: none of these notes is the user's own.
        let unquoted: Vec<&str> =
            markdown.stdout.lines().map(|line| line.strip_prefix('>').unwrap_or(line)).collect();
        assert_has(&normal(&unquoted.join("\n")), &texts(note, &no_prose), &format!("markdown of {name}"));
    }
    let mut read = String::new();
    for file in present.keys() {
        let args = ["read", "--format", "json", "--verbose", "--max-regions", "1000", file];
        read.push_str(&said_in_json(repo.path(), &args));
        assert_in_place(&chronicle(repo.path(), &args).json());
    }
    for (name, _, note) in &notes {
        assert_has(&(answers.clone() + &read), &texts(note, &RENAMED), name);
        assert_has(&read, &lessons(note), &format!("read, for {name}"));
    }
}

/// The files only grew: every recorded range is where it was.
fn assert_in_place(reading: &Value) {
    let items = ["regions", "wisdom"].map(|list| reading[list].as_array().into_iter().flatten());
    for item in items.into_iter().flatten().filter(|item| !item["lines_recorded"].is_null()) {
        assert_eq!((&item["state"], &item["lines"]), (&"intact".into(), &item["lines_recorded"]), "{item}");
    }
}

/// Name, bytes and meaning of each real note, or nothing where they are absent.
fn notes() -> Option<Vec<(String, Vec<u8>, Value)>> {
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
            let raw = fs::read(&path).expect("a note can be read");
            let note = serde_json::from_str(&escaped(&String::from_utf8_lossy(&raw))).expect("it is JSON");
            (path.file_stem().expect("files have names").to_string_lossy().into_owned(), raw, note)
        })
        .collect();
    notes.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(notes.len(), 33);
    Some(notes)
}

/// JSON with the raw line ends and tabs inside its strings escaped, by an eye of our own.
fn escaped(raw: &str) -> String {
    let (mut out, mut in_string, mut after_backslash) = (String::new(), false, false);
    for character in raw.chars() {
        match character {
            '\n' if in_string => out.push_str("\\n"),
            '\r' if in_string => out.push_str("\\r"),
            '\t' if in_string => out.push_str("\\t"),
            other => out.push(other),
        }
        in_string ^= character == '"' && !after_backslash;
        after_backslash = character == '\\' && !after_backslash;
    }
    out
}

/// The files that a note is about, and how many lines each must have had.
fn files(note: &Value) -> BTreeMap<String, u64> {
    let mut files = BTreeMap::new();
    for list in ["regions", "wisdom", "markers"] {
        for item in note[list].as_array().into_iter().flatten() {
            let Some(file) = item["file"].as_str() else { continue };
            let n_lines = files.entry(file.to_owned()).or_insert(1);
            *n_lines = (*n_lines).max(item["lines"]["end"].as_u64().unwrap_or(1));
        }
    }
    for decision in note["decisions"].as_array().into_iter().flatten() {
        let scope = decision["scope"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for file in
            scope.map(|scope| scope.split(':').next().unwrap_or(scope)).filter(|file| !file.is_empty())
        {
            files.entry(file.to_owned()).or_insert(1);
        }
    }
    files
}

/// Makes the file, or lets it grow: no line that is there is touched again.
fn touch(repo: &TestRepo, present: &mut BTreeMap<String, u64>, file: &str, n_lines: u64) {
    let n_present = present.entry(file.to_owned()).or_default();
    *n_present = n_lines.max(*n_present + 1);
    let content: String = (1..=*n_present).map(|number| format!("line {number} of {file}\n")).collect();
    repo.write(file, content);
}

/// The string values below `value`, but for those under `skipped` keys and the document's own commit.
fn texts(note: &Value, skipped: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let top: Map<_, _> = note
        .as_object()
        .expect("a note is an object")
        .clone()
        .into_iter()
        .filter(|(key, _)| key != "commit")
        .collect();
    collect(&Value::Object(top), skipped, &mut found);
    assert!(!found.is_empty());
    found
}

fn collect(value: &Value, skipped: &[&str], into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(into.insert(normal(text))),
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, skipped, into)),
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !skipped.contains(&key.as_str()));
            kept.for_each(|(_, value)| collect(value, skipped, into));
        }
        _ => {}
    }
}

/// What a reader of the files must be told: everything said of code, and what the repository knows.
fn lessons(note: &Value) -> BTreeSet<String> {
    const OF_CODE: [&str; 7] =
        ["regions", "wisdom", "markers", "decisions", "conventions", "boundaries", "anti_patterns"];
    let mut found = BTreeSet::new();
    for key in OF_CODE {
        collect(&note[key], &RENAMED, &mut found);
    }
    found
}

fn said_in_json(directory: &Path, args: &[&str]) -> String {
    let outcome = chronicle(directory, args);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{args:?}");
    let answer = outcome.json();
    let mut strings = BTreeSet::new();
    collect(&answer, &[], &mut strings);
    strings.into_iter().collect::<Vec<_>>().join("\n") + "\n"
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_has(said: &str, texts: &BTreeSet<String>, place: &str) {
    let missing: Vec<_> = texts.iter().filter(|text| !said.contains(text.as_str())).collect();
    assert!(missing.is_empty(), "{place} lacks {missing:#?}");
}
