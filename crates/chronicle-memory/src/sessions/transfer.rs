//! Session memory as files that people can read, and back.
//!
//! The layout is `episodic/YYYY-MM/DATE-session-ID.json`, one file for each session,
//! `threads/ID.json`, one for each thread, `blocks/LABEL.json`, one for each block with its
//! history, and `digests/` as they are. An import reads that, and an
//! older layout with other keys: `docs/sessions.md` describes both.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use chronicle_core::{
    redaction::Removed,
    thread::{Change, ThreadEvent, ThreadId},
};
use chronicle_git::files;
use chronicle_search::{
    NamedSession, Project, SessionRecord, Source, SqlResult, StoredTurn, Transaction, TurnKind, TurnRecord,
    Written, add_events, events_with_agents,
};
use chronicle_sessions::{DigestOfSession, clean};
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{agents, ingest::UnreadFile};
use crate::{
    Memory,
    blocks::{BLOCK, BlockFile, is_label, no_label},
    learning::{GivenFeedback, PreferencesCommand},
    memory::OpenMemory,
};

mod lines;
mod older;

use older::{OlderDigest, OlderThread};

/// Larger files are no session of anybody.
const LARGEST_FILE: u64 = 1 << 30;

/// What was written, or read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryTransfer {
    /// Sessions.
    pub sessions: usize,
    /// Turns; of an import, those that were new.
    pub turns: usize,
    /// Threads; of an import, events of threads that were new.
    pub threads: usize,
    /// Versions of blocks; of an import, those that were new.
    pub block_versions: usize,
    /// Judgements on what was learned; of an import, those that were new.
    #[serde(default)]
    pub feedback: usize,
    /// Files that could not be taken, and why.
    pub unread: Vec<UnreadFile>,
}

/// One session, with its turns: a file of an export, or a line of one in JSON Lines.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Episode {
    /// Always `chronicle-episode/v1`.
    schema: String,
    /// The agent, such as `claude` or `codex`; of what `import --from` took in, the name of the program.
    agent: String,
    /// The id that the agent gave the session.
    session: String,
    /// The project that it belongs to.
    project: ProjectName,
    /// The session that sent this sub-agent, or that this one was forked from.
    #[serde(default)]
    parent: Option<String>,
    /// Whether another session sent it.
    #[serde(default)]
    is_sub_agent: bool,
    /// The folder that it worked in; empty if that is not known.
    #[serde(default)]
    folder: String,
    /// The branch that it worked on last.
    branch: Option<String>,
    /// The model that answered last.
    model: Option<String>,
    /// When it began (RFC 3339).
    began: Option<String>,
    /// When it ended (RFC 3339).
    ended: Option<String>,
    /// What it was about, in at most 60 characters.
    title: String,
    /// From 1 (trivial) to 5 (a major piece of work).
    importance: u8,
    /// How often a human spoke.
    prompts: u64,
    /// What was counted and quoted; `null` if it has none.
    #[schemars(with = "Option<DigestOfSession>")]
    digest: Value,
    /// The paths of changed files, each with the number of changes.
    files: Vec<(String, u64)>,
    /// What was said and done, in order.
    turns: Vec<Turn>,
}

/// One turn of a session.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Turn {
    /// Names the turn in every export: a hash of the id that the agent gave it.
    key: i64,
    /// Orders the turns of a session.
    position: i64,
    /// The line of the transcript on which it begins.
    line: u64,
    /// The id that the agent gave it; empty if it gave none.
    #[serde(default)]
    id: String,
    /// `prompt` (a human typed it), `said` (the agent said it), `command`, `edit`, `tool`, `commit`, `todo`, `plan`, `error`,
    /// `interruption`, `pull-request`, `summary` (of what came before, or by another program) or `synthetic` (a program wrote it
    /// in the place of a human).
    kind: String,
    /// When it happened (RFC 3339).
    at: Option<String>,
    /// The sub-agent that did it.
    sub_agent: Option<String>,
    /// The name of the speaker, if the transcript has one.
    speaker: Option<String>,
    /// Whether a call worked, if that is known.
    ok: Option<bool>,
    /// The words, the command, or the path of the edited file; at most 64 KiB.
    text: String,
    /// The output of a call that failed: its beginning, the lines with errors, its end.
    answer: Option<String>,
}

/// The project of a session or thread.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ProjectName {
    /// Names the project for good: `id:` and the id of its repository, or `path:` and its folder.
    key: String,
    /// Its name in answers.
    name: String,
    /// Folders that it was seen in.
    #[serde(default)]
    folders: Vec<String>,
}

/// One thread in a file.
#[derive(Debug, Serialize, Deserialize)]
struct ThreadFile {
    schema: String,
    project: ProjectName,
    events: Vec<FiledEvent>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FiledEvent {
    agent: Option<String>,
    event: ThreadEvent,
}

const EPISODE: &str = "chronicle-episode/v1";
const THREAD: &str = "chronicle-thread-events/v1";
const FEEDBACK: &str = "chronicle-feedback/v1";

/// What was said of what was learned, in an export.
const FEEDBACK_FILE: &str = "feedback.json";

/// What was learned, in an export: to be read only, as it is learned again of the sessions.
const PREFERENCES_FILE: &str = "preferences.json";

impl Memory<'_> {
    /// Writes all of session memory as files into a folder that is not there yet.
    ///
    /// # Errors
    /// When the folder is there and not empty, or cannot be written; then nothing is left of it.
    pub fn export_memory(&self, folder: &Path) -> Result<MemoryTransfer, Error> {
        let target = self.workplace.directory().join(folder);
        let fails = |source| Error::WriteOutput { path: target.clone(), source };
        let is_taken = fs::read_dir(&target).is_ok_and(|mut entries| entries.next().is_some());
        if is_taken || target.is_file() {
            return Err(fails(std::io::Error::new(std::io::ErrorKind::AlreadyExists, "it is not empty")));
        }
        let Some(memory) = self.open()? else { return Ok(MemoryTransfer::default()) };
        let parent = target.parent().unwrap_or(&target);
        fs::create_dir_all(parent).map_err(fails)?;
        let unfinished = tempfile::Builder::new().prefix(".chronicle-").tempdir_in(parent).map_err(fails)?;
        let mut done = memory.export_to(unfinished.path(), &fails)?;
        for block in self.blocks().block_files(&memory)? {
            done.block_versions += block.n_versions();
            let name = format!("{}.json", file_name(&block.label, 0));
            write(&unfinished.path().join("blocks").join(name), &block).map_err(fails)?;
        }
        copy_digests(&self.workplace.memory_home()?, unfinished.path()).map_err(fails)?;
        self.export_learned(unfinished.path(), &mut done, &fails)?;
        let _empty = fs::remove_dir(&target);
        fs::rename(unfinished.path(), &target).map_err(fails)?;
        // It is not there under its old name any more.
        let _moved = unfinished.keep();
        Ok(done)
    }

    /// Takes in what an export wrote, a folder or JSON Lines, or what an older kind of session memory kept; what is known
    /// already stays.
    ///
    /// # Errors
    /// When the folder or file cannot be read or the store cannot be written.
    pub fn import_memory(&self, folder: &Path) -> Result<MemoryTransfer, Error> {
        let root = self.workplace.directory().join(folder);
        if self.workplace.is_unattended() && self.workplace.is_in_repository(&root) {
            let unread = vec![UnreadFile::of_repository(&root)];
            return Ok(MemoryTransfer { unread, ..MemoryTransfer::default() });
        }
        let mut files = Vec::new();
        if root.is_file() {
            // One JSON value may have several lines.
            if root.extension().is_none_or(|extension| extension != "json") {
                return self.import_lines(&root);
            }
            files.push(root.clone());
        }
        // Links could lead anywhere.
        let is_folder = |part: &&str| !root.join(part).is_symlink();
        for part in ["blocks", "episodic", "threads"].into_iter().filter(is_folder) {
            agents::walk(&root.join(part), 3, &agents::is_json, &mut files);
        }
        files.extend(Some(root.join(FEEDBACK_FILE)).filter(|file| file.is_file()));
        if files.is_empty() {
            fs::read_dir(&root).map_err(|source| Error::ReadInput { path: root.clone(), source })?;
        }
        files.sort();
        let mut memory = self.open_to_write()?;
        let mut done = MemoryTransfer::default();
        for file in files {
            let taken = read(&file).and_then(|values| {
                values
                    .into_iter()
                    .try_for_each(|value| take(&mut memory, value, (&file, self.workplace.now()), &mut done))
            });
            match taken {
                Ok(()) => {}
                Err(Refused::Store(error)) => return Err(error),
                Err(Refused::File(reason)) => {
                    done.unread.push(UnreadFile { path: file.to_string_lossy().into_owned(), reason });
                }
            }
        }
        self.learning().apply_feedback(&mut memory)?;
        Ok(done)
    }

    fn export_learned(
        &self,
        folder: &Path,
        done: &mut MemoryTransfer,
        fails: &impl Fn(std::io::Error) -> Error,
    ) -> Result<(), Error> {
        let said = self.learning().given_feedback()?;
        done.feedback = said.feedback.len();
        if !said.feedback.is_empty() {
            write(&folder.join(FEEDBACK_FILE), &said).map_err(fails)?;
        }
        let learned = self
            .learning()
            .preferences(&PreferencesCommand { is_whole: true, ..PreferencesCommand::default() })?;
        if learned.preferences.is_empty() {
            Ok(())
        } else {
            write(&folder.join(PREFERENCES_FILE), &learned).map_err(fails)
        }
    }

    /// The folder of an older kind of session memory, the first time that it is found.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn older_memory(&self) -> Result<Option<PathBuf>, Error> {
        let home = self.workplace.variable("HOME").map(PathBuf::from);
        let Some(folder) = home.map(|home| home.join(".claude/chronicle")).filter(|folder| folder.is_dir())
        else {
            return Ok(None);
        };
        let mut memory = self.open_to_write()?;
        let is_first = memory.store.write(|tx| chronicle_search::tell_once(tx, "older-memory"))?;
        Ok(is_first.then_some(folder))
    }
}

impl OpenMemory {
    fn export_to(
        &self,
        folder: &Path,
        fails: &impl Fn(std::io::Error) -> Error,
    ) -> Result<MemoryTransfer, Error> {
        let mut done = MemoryTransfer::default();
        let mut after = None;
        while let Some(session) = self.store.read(|connection| NamedSession::next(connection, after))? {
            after = Some(session.id);
            let episode = self.episode(&session)?;
            done.sessions += 1;
            done.turns += episode.turns.len();
            let day =
                session.record.first.or(session.record.last).map(|at| at.strftime("%Y-%m-%d").to_string());
            let day = day.unwrap_or_else(|| "0000-00-00".to_owned());
            let name = format!("{day}-session-{}.json", file_name(&session.record.name, session.id.0));
            write(&folder.join("episodic").join(&day[..7]).join(name), &episode).map_err(fails)?;
        }
        for (thread, project) in self.store.read(chronicle_search::thread_ids)? {
            let filed = ThreadFile {
                schema: THREAD.to_owned(),
                project: self.project_file(project)?,
                events: self.filed_events(&thread)?,
            };
            done.threads += 1;
            write(&folder.join("threads").join(format!("{}.json", file_name(&thread, 0))), &filed)
                .map_err(fails)?;
        }
        Ok(done)
    }

    fn episode(&self, session: &NamedSession) -> Result<Episode, Error> {
        let record = &session.record;
        let turns = self.store.read(|connection| StoredTurn::of_session(connection, session.id))?;
        Ok(Episode {
            schema: EPISODE.to_owned(),
            agent: record.agent.clone(),
            session: record.name.clone(),
            project: self.project_file(record.project)?,
            parent: record.parent.clone(),
            is_sub_agent: record.is_sub_agent,
            folder: record.folder.clone(),
            branch: record.branch.clone(),
            model: record.model.clone(),
            began: told(record.first),
            ended: told(record.last),
            title: record.title.clone(),
            importance: record.importance,
            prompts: record.n_prompts,
            digest: serde_json::from_str(&record.digest).unwrap_or_default(),
            files: self.store.read(|connection| session.own_files(connection))?,
            turns: turns.into_iter().map(Turn::of).collect(),
        })
    }

    fn project_file(&self, id: chronicle_search::ProjectId) -> Result<ProjectName, Error> {
        Ok(self.store.read(|connection| {
            let project = Project::by_id(connection, id)?;
            let folders = project.as_ref().map(|project| project.folders(connection)).transpose()?;
            Ok(ProjectName {
                key: project.as_ref().map(|project| project.key.clone()).unwrap_or_default(),
                name: project.map(|project| project.name).unwrap_or_default(),
                folders: folders.unwrap_or_default(),
            })
        })?)
    }

    fn filed_events(&self, thread: &str) -> Result<Vec<FiledEvent>, Error> {
        let events = self.store.read(|connection| events_with_agents(connection, thread))?;
        Ok(events.into_iter().map(|(agent, event)| FiledEvent { agent, event }).collect())
    }
}

impl Turn {
    fn of(turn: StoredTurn) -> Self {
        Self {
            key: turn.key,
            position: turn.position,
            line: turn.line,
            id: turn.name,
            kind: turn.kind.name().to_owned(),
            at: told(turn.at),
            sub_agent: turn.sub_agent,
            speaker: turn.speaker,
            ok: turn.is_ok,
            text: turn.text,
            answer: turn.answer,
        }
    }
}

/// Why something was not taken.
enum Refused {
    /// The file is not as it should be.
    File(String),
    /// The store does not work, and so will not for any other.
    Store(Error),
}

impl From<serde_json::Error> for Refused {
    fn from(error: serde_json::Error) -> Self {
        Self::File(error.to_string())
    }
}

/// The JSON values of a file: one, or one in each line.
fn read(path: &Path) -> Result<Vec<Value>, Refused> {
    let told = |error: std::io::Error| Refused::File(error.to_string());
    let bytes = files::read(path, LARGEST_FILE).map_err(told)?;
    let values = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
    Ok(values.collect::<Result<_, _>>()?)
}

/// Takes in one value of a file, whatever kind it is.
fn take(
    memory: &mut OpenMemory,
    mut value: Value,
    (file, now): (&Path, Timestamp),
    done: &mut MemoryTransfer,
) -> Result<(), Refused> {
    clean(&mut value, &mut Removed::default());
    let schema = value["schema"].as_str().unwrap_or_default().to_owned();
    let store = |error: chronicle_search::StoreError| Refused::Store(error.into());
    if schema == EPISODE {
        let episode: Episode = serde_json::from_value(value)?;
        let written = memory.store.write(|tx| episode.put(tx)).map_err(store)?;
        done.sessions += 1;
        done.turns += written.n_new;
    } else if schema == THREAD {
        let filed: ThreadFile = serde_json::from_value(value)?;
        done.threads += memory.store.write(|tx| filed.put(tx)).map_err(store)?;
    } else if schema == BLOCK || schema.is_empty() && value.get("label").is_some() {
        let block: BlockFile = serde_json::from_value(value)?;
        if !is_label(&block.label) {
            return Err(Refused::File(no_label(&block.label)));
        }
        done.block_versions += memory.store.write(|tx| block.put(tx, now)).map_err(store)?;
    } else if schema == FEEDBACK {
        let said: Vec<GivenFeedback> = serde_json::from_value(value["feedback"].take())?;
        let said: Vec<_> = said.into_iter().filter_map(GivenFeedback::stored).collect();
        let put = |tx: &Transaction<'_>| {
            said.iter().try_fold(0, |n_new, said| Ok(n_new + usize::from(said.put(tx)?)))
        };
        done.feedback += memory.store.write(put).map_err(store)?;
    } else if !schema.is_empty() {
        return Err(Refused::File(format!("it has another form: {}", schema.escape_debug())));
    } else if value.get("sessionId").is_some() && value.get("status").is_none() {
        let older: OlderDigest = serde_json::from_value(value)?;
        memory.store.write(|tx| older.put(tx, file)).map_err(store)?;
        done.sessions += 1;
    } else if value.get("status").is_some() {
        let older: OlderThread = serde_json::from_value(value)?;
        done.threads += memory.store.write(|tx| older.put(tx, file)).map_err(store)?;
    } else {
        return Err(Refused::File("it is neither a session, nor a thread, nor a block".to_owned()));
    }
    Ok(())
}

impl ProjectName {
    fn obtain(&self, tx: &Transaction<'_>) -> SqlResult<Project> {
        let parent =
            self.folders.first().and_then(|folder| Path::new(folder).parent()?.file_name()?.to_str());
        let project = Project::obtain(tx, &self.key, &self.name, parent.unwrap_or_default())?;
        for folder in &self.folders {
            if Project::by_folder(tx, folder)?.is_none() {
                project.take_folder(tx, folder)?;
            }
        }
        Ok(project)
    }
}

impl Episode {
    fn put(&self, tx: &Transaction<'_>) -> SqlResult<Written> {
        let mut written = Written::default();
        if NamedSession::is_forgotten(tx, &self.agent, &self.session)? {
            return Ok(written);
        }
        let project = self.project.obtain(tx)?;
        let known = NamedSession::by_name(tx, &self.agent, &self.session)?;
        // A session whose transcript was read on this machine is known better than from a file that anybody may have
        // edited.
        let sources = known.as_ref().map(|known| Source::of_session(tx, known.id)).transpose()?;
        if sources.is_some_and(|sources| !sources.is_empty()) {
            return Ok(written);
        }
        let is_older = known
            .as_ref()
            .is_some_and(|known| !known.record.digest.is_empty() && self.ended() <= known.record.last);
        let id = match known {
            Some(known) if is_older => known.id,
            _ => {
                let id = self.record(&project).put(tx)?;
                let files = self.files.iter();
                let files =
                    files.map(|(path, count)| (path.clone(), usize::try_from(*count).unwrap_or_default()));
                NamedSession::put_files(tx, id, files)?;
                let commits = self.digest["commits"].as_array().into_iter().flatten();
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let commits = commits
                    .map(|commit| [text(&commit["id"]), text(&commit["branch"]), text(&commit["subject"])]);
                NamedSession::put_commits(tx, id, commits)?;
                id
            }
        };
        for turn in &self.turns {
            let Some(kind) = TurnKind::of(&turn.kind) else { continue };
            let record = TurnRecord {
                key: turn.key,
                position: turn.position,
                line: turn.line,
                name: &turn.id,
                kind,
                at: turn.at.as_deref().and_then(moment),
                sub_agent: turn.sub_agent.as_deref(),
                speaker: turn.speaker.as_deref(),
                is_ok: turn.ok,
                text: &turn.text,
                answer: turn.answer.as_deref(),
            };
            record.put(tx, id, &mut written)?;
        }
        Ok(written)
    }

    fn ended(&self) -> Option<Timestamp> {
        self.ended.as_deref().and_then(moment)
    }

    fn record(&self, project: &Project) -> SessionRecord {
        SessionRecord {
            agent: self.agent.clone(),
            name: self.session.clone(),
            parent: self.parent.clone(),
            is_sub_agent: self.is_sub_agent,
            project: project.id,
            folder: self.folder.clone(),
            branch: self.branch.clone(),
            model: self.model.clone(),
            first: self.began.as_deref().and_then(moment),
            last: self.ended(),
            title: self.title.clone(),
            importance: self.importance.clamp(1, 5),
            n_prompts: self.prompts,
            digest: if self.digest.is_null() { String::new() } else { self.digest.to_string() },
        }
    }
}

impl ThreadFile {
    fn put(&self, tx: &Transaction<'_>) -> SqlResult<usize> {
        let project = self.project.obtain(tx)?;
        let mut n_new = 0;
        let mut known: BTreeMap<ThreadId, BTreeSet<(String, String)>> = BTreeMap::new();
        for thread in self.events.iter().map(|filed| &filed.event.thread) {
            if known.contains_key(thread) {
                continue;
            }
            let events = events_with_agents(tx, &thread.0)?;
            if !events.is_empty() {
                let words = events.iter().filter_map(|(_, event)| words_of(&event.change));
                known.insert(thread.clone(), words.collect());
            }
        }
        for filed in &self.events {
            // What only a forgotten session told of stays gone, whatever was exported before.
            if let (Some(agent), Some(name)) = (&filed.agent, &filed.event.session)
                && NamedSession::is_forgotten(tx, agent, name)?
            {
                continue;
            }
            let session = match (&filed.agent, &filed.event.session) {
                (Some(agent), Some(name)) => NamedSession::by_name(tx, agent, name)?,
                _ => None,
            };
            let session = session.map(|session| session.id);
            // What is known here keeps its words: a file may have been edited by anybody.
            if let Some(known) = known.get(&filed.event.thread)
                && words_of(&filed.event.change).is_some_and(|words| !known.contains(&words))
            {
                continue;
            }
            n_new += add_events(tx, &project, session, std::slice::from_ref(&filed.event))?;
        }
        Ok(n_new)
    }
}

/// What an event says is to be done, and why; none of events that say nothing of it.
fn words_of(change: &Change) -> Option<(String, String)> {
    match change {
        Change::Opened(opening) => Some((opening.summary.clone(), opening.context.clone())),
        Change::Worded(worded) => Some((worded.summary.clone(), String::new())),
        _ => None,
    }
}

fn told(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| day(text.get(..10)?))
}

fn day(text: &str) -> Option<Timestamp> {
    let day: jiff::civil::Date = text.parse().ok()?;
    day.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// A name that is one file wherever it is written; `number` tells apart what is alike otherwise.
fn file_name(name: &str, number: i64) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let safe: String = name.chars().map(|c| if is_safe(c) { c } else { '_' }).take(100).collect();
    if safe == name { safe } else { format!("{safe}-{number}") }
}

/// Puts the digests of days, weeks and months beside the rest; an import makes them anew.
fn copy_digests(home: &Path, folder: &Path) -> std::io::Result<()> {
    for span in ["daily", "weekly", "monthly"] {
        let Ok(entries) = fs::read_dir(home.join("digests").join(span)) else { continue };
        let target = folder.join("digests").join(span);
        fs::create_dir_all(&target)?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with('.') {
                fs::copy(entry.path(), target.join(name))?;
            }
        }
    }
    Ok(())
}

fn write(path: &Path, value: &impl Serialize) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = std::io::BufWriter::new(options.open(path)?);
    serde_json::to_writer_pretty(&mut file, value)?;
    file.write_all(b"\n")?;
    file.flush()
}
