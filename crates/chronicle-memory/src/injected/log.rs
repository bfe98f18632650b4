//! What was told to a session: one file for each, which only grows.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use chronicle_core::{correction::Tier, redaction};
use chronicle_workplace::Error;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::AgentSession;

/// The event of a session that begins, as it is written down.
pub(crate) const START: &str = "session-start";

/// So much of the end of a file is read at most.
const MOST_READ: u64 = 4 << 20;

/// How often, and for how long, another hook of the same session is waited for.
const PAUSE: Duration = Duration::from_millis(1);
const PAUSES: u32 = 300;

/// The same beginning of a session, told by two hooks, comes within this time.
const SAME_START: jiff::SignedDuration = jiff::SignedDuration::from_secs(10);

/// What was told on one occasion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub(crate) at: Timestamp,
    pub(crate) event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(default)]
    pub(crate) folder: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) why: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    /// What it was about.
    pub items: Vec<ShownItem>,
    /// The words, as the agent got them; empty where it got none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// One thing that was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownItem {
    /// What names it: the id of an entry, a thread, a commit.
    pub id: String,
    /// The commit that it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The file that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The beginning of its words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// How far whoever says it was trusted.
    #[serde(default = "own", skip_serializing_if = "is_own")]
    pub tier: Tier,
}

fn own() -> Tier {
    Tier::Own
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_own(tier: &Tier) -> bool {
    *tier == Tier::Own
}

impl ShownItem {
    /// The item, with words that may be stored.
    pub(crate) fn cleaned(self) -> Self {
        let cleaned = |text: &str| redaction::cleaned(text).0.into_owned();
        Self { words: cleaned(&self.words), file: self.file.as_deref().map(cleaned), ..self }
    }
}

impl Record {
    /// That something happened at which nothing was told.
    pub fn event(at: Timestamp, event: &str, folder: &Path) -> Self {
        Self {
            at,
            event: event.to_owned(),
            key: None,
            folder: folder.to_string_lossy().into_owned(),
            why: String::new(),
            items: Vec::new(),
            text: String::new(),
        }
    }

    /// The same, which `key` names.
    #[must_use]
    pub fn with_key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }

    /// Whether what was told before is gone from what the agent sees.
    fn is_new_context(&self) -> bool {
        self.event == START && matches!(self.key.as_deref(), Some("compact" | "clear"))
    }
}

/// What a session was told, and of whom.
#[derive(Debug, Default)]
pub struct Shown<'r>(HashMap<&'r str, Tier>);

impl Shown<'_> {
    /// Whether it was told this, of somebody who is trusted at least as far: anyone can use the id of a lesson again.
    #[must_use]
    pub fn has(&self, id: &str, tier: Tier) -> bool {
        self.0.get(id).is_some_and(|known| tier <= *known)
    }
}

/// The file of one session, held until it is dropped.
pub struct SessionLog {
    file: File,
    /// What was told so far, the oldest first.
    pub records: Vec<Record>,
    ends_in_line: bool,
}

impl SessionLog {
    /// Opens the file of `session`, which is made where there is none.
    pub(crate) fn open(folder: &Path, session: &AgentSession) -> io::Result<Self> {
        let path = folder.join(name(session));
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(&path)
        };
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut builder = fs::DirBuilder::new();
                builder.recursive(true);
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(folder)?;
                open()?
            }
            opened => opened?,
        };
        wait_for_turn(&file);
        let (records, ends_in_line) = read(&file)?;
        Ok(Self { file, records, ends_in_line })
    }

    /// Adds a record. One that a crash cut off stands on a line of its own.
    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = if self.ends_in_line { Vec::new() } else { vec![b'\n'] };
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// What the agent was told and still sees.
    pub fn shown(&self) -> Shown<'_> {
        let mut shown = Shown::default();
        for item in self.of_context().flat_map(|record| &record.items) {
            let tier = shown.0.entry(item.id.as_str()).or_insert(item.tier);
            *tier = item.tier.max(*tier);
        }
        shown
    }

    /// How many lines it was told at `event`, and still sees.
    pub fn n_lines(&self, event: &str) -> usize {
        let told = self.of_context().filter(|record| record.event == event);
        told.map(|record| record.text.lines().count()).sum()
    }

    fn of_context(&self) -> impl Iterator<Item = &Record> {
        let since = self.records.iter().rposition(Record::is_new_context).unwrap_or(0);
        self.records[since..].iter()
    }

    /// Whether this very occasion was met before: a second host, or a second set of hooks, tells of it again.
    pub fn has(&self, event: &str, key: Option<&str>) -> bool {
        key.is_some()
            && self.records.iter().any(|record| record.event == event && record.key.as_deref() == key)
    }

    /// Whether the session was told to have begun in this way just now.
    pub fn has_just_begun(&self, event: &str, key: Option<&str>, now: Timestamp) -> bool {
        let is_same = |record: &Record| record.event == event && record.key.as_deref() == key;
        let last = self.records.iter().rfind(|record| is_same(record));
        last.is_some_and(|record| record.at <= now && now.duration_since(record.at) < SAME_START)
    }
}

/// The records of a file, and whether its last line has an end. What cannot be read is passed over.
fn read(mut file: &File) -> io::Result<(Vec<Record>, bool)> {
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(MOST_READ)))?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes)?;
    let records = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    Ok((records.collect(), bytes.last().is_none_or(|byte| *byte == b'\n')))
}

/// Removes the files of `session` and of its sub-agents.
pub(crate) fn forget(folder: &Path, session: &AgentSession) -> io::Result<()> {
    let whole = name(session);
    let stem = whole.with_extension("");
    let of_sub_agents = format!("{}-", stem.to_string_lossy());
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let found = entry.file_name();
        if found == whole.as_os_str() || found.to_string_lossy().starts_with(&of_sub_agents) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Takes the words out of every record of every file: what a briefing said of a session that is forgotten now, or of a
/// lesson that is purged, can't be separated from the rest. When it was shown and its ids stay.
pub(crate) fn strike_words(folder: &Path) -> Result<(), Error> {
    let fails = |source| Error::WriteOutput { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(fails)?,
    };
    for entry in entries {
        let path = entry.map_err(fails)?.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        strike(&path).map_err(|source| Error::WriteOutput { path: path.clone(), source })?;
    }
    Ok(())
}

/// In place, as a hook that waits for its turn has the file open and goes on in it.
fn strike(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    wait_for_turn(&file);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let mut struck = Vec::with_capacity(bytes.len());
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(mut record) = serde_json::from_slice::<Record>(line) else { continue };
        record.why.clear();
        record.text.clear();
        record.items.iter_mut().for_each(|item| item.words.clear());
        serde_json::to_writer(&mut struck, &record)?;
        struck.push(b'\n');
    }
    file.rewind()?;
    file.write_all(&struck)?;
    file.set_len(struck.len() as u64)
}

/// Waits for other hooks of the same session; not for ever, as the log is no reason to keep an agent waiting.
fn wait_for_turn(file: &File) {
    for _ in 0..PAUSES {
        if file.try_lock().is_ok() {
            break;
        }
        thread::sleep(PAUSE);
    }
}

/// Whether there is a file of `session`.
pub(crate) fn exists(folder: &Path, session: &AgentSession) -> bool {
    folder.join(name(session)).exists()
}

/// What the file of a session is called, whatever its id holds.
fn name(session: &AgentSession) -> PathBuf {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let id = match session.id.as_str() {
        id if id.chars().all(is_plain) && (1..=100).contains(&id.len()) => id.to_owned(),
        id => chronicle_search::fingerprint(id.as_bytes()),
    };
    PathBuf::from(format!("{}-{id}.jsonl", session.host))
}

/// Every file of what was told in `folder`, with its name and its records, the one that was written last first.
pub(crate) fn all(folder: &Path) -> Vec<(String, Vec<Record>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_stem()?.to_str()?.to_owned();
            let modified = entry.metadata().and_then(|meta| meta.modified()).ok()?;
            (path.extension()? == "jsonl").then_some((modified, name, path))
        })
        .collect();
    files.sort_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
    let read_all = |path: &Path| Some(read(&File::open(path).ok()?).ok()?.0);
    files.into_iter().filter_map(|(_, name, path)| Some((name, read_all(&path)?))).collect()
}

/// Removes the files that nobody wrote to for so long.
pub fn tidy(folder: &Path, now: std::time::SystemTime, age: Duration) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|meta| meta.modified());
        if modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|since| age < since)) {
            let _removed = fs::remove_file(entry.path());
        }
    }
}
