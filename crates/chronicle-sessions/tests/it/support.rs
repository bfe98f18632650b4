//! Transcripts for tests, and their turns in a form that can be kept.

use std::io::Read;
use std::path::{Path, PathBuf};

use chronicle_sessions::{Event, Format, Place, Reading, Todo, TodoItem, Turn, read};

/// A turn without borrowed parts.
pub(crate) struct Told {
    pub(crate) place: Place,
    pub(crate) id: String,
    pub(crate) sub_agent: Option<String>,
    pub(crate) words: String,
}

impl Told {
    fn of(turn: &Turn<'_>) -> Self {
        Self {
            place: turn.place.clone(),
            id: turn.id.to_string(),
            sub_agent: turn.sub_agent.as_ref().map(ToString::to_string),
            words: words(&turn.event),
        }
    }
}

/// What a turn is, in few words.
fn words(event: &Event<'_>) -> String {
    match event {
        Event::Prompt(text) => format!("prompt: {text}"),
        Event::Synthetic(kind, text) => format!("{kind:?}: {text}"),
        Event::Said(text) => format!("said: {text}"),
        Event::Tool(tool, outcome) => format!("tool: {} {} {:?}", tool.name, tool.about, outcome.is_ok),
        Event::Edit(edit, outcome) => format!("edit: {} {:?} {:?}", edit.path, edit.replaced, outcome.is_ok),
        Event::Command(command, outcome) => {
            format!("command: {command} {:?} {}", outcome.is_ok, outcome.text)
        }
        Event::Commit(commit) => format!("commit: {} {} {}", commit.id, commit.branch, commit.subject),
        Event::Todo(todo, outcome) => format!("todo: {} {:?}", todo_words(todo), outcome.is_ok),
        Event::Plan(text, outcome) => format!("plan: {text} {:?}", outcome.is_ok),
        Event::Error(text) => format!("error: {text}"),
        Event::Interruption(text) => format!("interruption: {text}"),
        Event::PullRequest(url) => format!("pull request: {url}"),
    }
}

fn todo_words(todo: &Todo) -> String {
    let item =
        |item: &TodoItem| format!("{}{} {:?}", item.id.as_deref().unwrap_or_default(), item.text, item.state);
    match todo {
        Todo::List(items) => items.iter().map(item).collect::<Vec<_>>().join(", "),
        Todo::Added(added) => item(added),
        Todo::Changed { id, state, .. } => format!("{id} {state:?}"),
    }
}

/// Reads a transcript that somebody wrote.
pub(crate) fn told(file: &[u8]) -> (Reading, Vec<Told>) {
    told_as(file, None)
}

/// Reads a transcript in the form of `format`.
pub(crate) fn told_as(file: impl Read, format: Option<Format>) -> (Reading, Vec<Told>) {
    let mut turns = Vec::new();
    let reading = read(file, format, &mut |turn, _| turns.push(Told::of(turn))).expect("bytes can be read");
    (reading.expect("an agent wrote it"), turns)
}

/// The words of all turns.
pub(crate) fn all_words(turns: &[Told]) -> Vec<&str> {
    turns.iter().map(|turn| turn.words.as_str()).collect()
}

/// The real transcripts, unpacked: name without `.gz`, and bytes. None when they are not there.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
pub(crate) fn corpus() -> Option<Vec<(String, Vec<u8>)>> {
    let folder = data("transcripts");
    let Ok(listing) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} is not there", folder.display());
        return None;
    };
    let mut paths: Vec<PathBuf> = listing.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    paths.sort();
    Some(paths.iter().map(|path| unpacked(path)).collect())
}

fn unpacked(path: &Path) -> (String, Vec<u8>) {
    let file = std::fs::File::open(path).expect("it is listed");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).expect("it is packed");
    let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
    (name, bytes)
}

/// A folder of the real data that lies beside the clone.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name)
}

/// A file of labels, which hold references only.
pub(crate) fn labels(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labels").join(name);
    let text = std::fs::read_to_string(path).expect("labels are part of the project");
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}
