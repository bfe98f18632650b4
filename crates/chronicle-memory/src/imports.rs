//! Memory that other programs keep, taken in with where it is from.
//!
//! A text becomes a session of its own, named like the program, with a turn for each section: `find` finds it, and
//! `session forget` forgets it for good. Tasks of a tracker become threads. What was taken in before and is as it was
//! stays as it is. Words of another program never count as the user's, even if it says that they are.

mod claude_mem;
mod entire;

use std::{
    fs,
    path::{Path, PathBuf},
};

use chronicle_core::{
    plain,
    redaction::{Removed, for_storage},
    thread::{
        Change, Evidence, How, Opening, Origin, Priority, Resolution, ThreadEvent, ThreadId, ThreadKind,
    },
};
use chronicle_git::files;
use chronicle_search::{
    Connection, NamedSession, Project, SessionRecord, SqlResult, Transaction, TurnKind, TurnRecord, Written,
    add_events, fingerprint, forget_events,
};
use chronicle_sessions::{DigestOfSession, LONGEST_TITLE, Usage, shortened};
use chronicle_workplace::{Error, error::ReadInputSnafu};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use snafu::ResultExt;

use crate::{
    Memory,
    memory::OpenMemory,
    sessions::{UnreadFile, companions, place},
};

/// Larger files are no memory of anybody.
const LARGEST_FILE: u64 = 4 << 20;

/// The longest section, in bytes, and how many sections of one text are taken.
const LONGEST_SECTION: usize = 64 << 10;
const MOST_SECTIONS: usize = 500;

/// Where memory may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportSource {
    /// What Claude Code notes for itself: `memory/*.md` of each project (code.claude.com/docs/en/memory).
    ClaudeMemory,
    /// What Codex notes for itself: `memories/*.md` in its home (`codex-rs` of github.com/openai/codex).
    CodexMemory,
    /// Architecture decision records of a repository (adr.github.io/madr).
    Adr,
    /// Issues of beads: `.beads/issues.jsonl` (github.com/steveyegge/beads).
    Beads,
    /// What claude-mem's model wrote about sessions: its database (github.com/thedotmack/claude-mem).
    ClaudeMem,
    /// Checkpoints of Entire: a branch of this repository (github.com/entireio/cli).
    Entire,
}

impl ImportSource {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ClaudeMemory, Self::CodexMemory, Self::ClaudeMem, Self::Entire, Self::Adr, Self::Beads];

    /// The name in arguments and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeMemory => "claude-memory",
            Self::CodexMemory => "codex-memory",
            Self::Adr => "adr",
            Self::Beads => "beads",
            Self::ClaudeMem => "claude-mem",
            Self::Entire => "entire",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}

/// A request to take memory in.
#[derive(Debug, Clone)]
pub struct ImportMemory {
    /// Where it is from.
    pub source: ImportSource,
    /// A file or folder, if it isn't the usual one.
    pub path: Option<PathBuf>,
    /// Whether it is only looked at.
    pub is_dry_run: bool,
}

/// What was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedMemory {
    /// Always `chronicle-imported-memory/v1`.
    pub schema: &'static str,
    /// Where it is from.
    pub from: &'static str,
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// What was found.
    pub items: Vec<ImportedItem>,
    /// Files that could not be read.
    pub unread: Vec<UnreadFile>,
}

/// A text or a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedItem {
    /// What it says, in one line.
    pub title: String,
    /// The file that it is in; of checkpoints, the branch and the path in it.
    pub file: String,
    /// What became of it.
    pub state: ImportState,
}

/// What became of something that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportState {
    /// It was not here.
    New,
    /// It says something else than before.
    Changed,
    /// It was here as it is.
    Unchanged,
    /// It was forgotten or rejected here, and stays so.
    LeftOut,
}

/// A text with its sections.
struct Document {
    name: String,
    title: String,
    /// Where it is from, in a sentence.
    summary: String,
    /// The folder that it is about; empty where it names only a project.
    folder: PathBuf,
    sections: Vec<Section>,
    /// A hash of all sections.
    version: String,
}

/// A part of a text, and when it was written.
struct Section {
    text: String,
    at: Option<Timestamp>,
}

impl Section {
    /// A text as it may be stored; none without words.
    fn of(text: &str, at: Option<Timestamp>) -> Option<Self> {
        let mut text = for_storage(text, &mut Removed::default()).trim().to_owned();
        text.truncate(text.floor_char_boundary(LONGEST_SECTION));
        (!text.is_empty()).then_some(Self { text, at })
    }
}

/// One line of beads' file.
#[derive(Debug, Deserialize)]
struct Bead {
    id: String,
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    status: String,
    priority: Option<u8>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    closed_at: Option<Timestamp>,
    #[serde(default)]
    close_reason: Option<String>,
    #[serde(default)]
    dependencies: Vec<BeadLink>,
}

#[derive(Debug, Deserialize)]
struct BeadLink {
    depends_on_id: String,
    #[serde(rename = "type", default)]
    kind: String,
}

impl Memory<'_> {
    /// Takes in memory of another program.
    ///
    /// # Errors
    /// When a path that was named cannot be read, or the store cannot be written.
    pub fn import_from_program(&self, command: &ImportMemory) -> Result<ImportedMemory, Error> {
        let mut reply = ImportedMemory {
            schema: "chronicle-imported-memory/v1",
            from: command.source.name(),
            dry_run: command.is_dry_run,
            items: Vec::new(),
            unread: Vec::new(),
        };
        match command.source {
            ImportSource::ClaudeMem => {
                self.take_claude_mem(command, &mut reply)?;
                return Ok(reply);
            }
            ImportSource::Entire => {
                self.take_entire(command, &mut reply)?;
                return Ok(reply);
            }
            _ => {}
        }
        let files = match &command.path {
            Some(path) => files_at(&self.workplace.directory().join(path), command.source)?,
            None => self.usual_files(command.source),
        };
        let mut memory = self.open_to_write()?;
        let here = self.project_to_write(&mut memory)?;
        for path in files {
            let told = path.to_string_lossy().into_owned();
            let text = match files::read(&path, LARGEST_FILE) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) => {
                    reply.unread.push(UnreadFile { path: told, reason: error.to_string() });
                    continue;
                }
            };
            let taken = match command.source {
                ImportSource::Beads => {
                    beads(&text).map(|beads| memory.take_beads(&beads, &here, command.is_dry_run))
                }
                source => Ok(self.take_document(&mut memory, (&path, &text), source, command.is_dry_run)),
            };
            match taken {
                Ok(items) => {
                    let item = |(title, state)| ImportedItem { title, file: told.clone(), state };
                    reply.items.extend(items?.into_iter().map(item));
                }
                Err(reason) => reply.unread.push(UnreadFile { path: told, reason }),
            }
        }
        Ok(reply)
    }

    /// Where a program keeps its memory.
    fn usual_files(&self, source: ImportSource) -> Vec<PathBuf> {
        let mut found = Vec::new();
        match source {
            ImportSource::ClaudeMemory => {
                let folder = self.folder_of_agent("CLAUDE_CONFIG_DIR", ".claude");
                let projects = folder.map(|folder| folder.join("projects"));
                let entries = projects.and_then(|projects| fs::read_dir(projects).ok());
                for entry in entries.into_iter().flatten().flatten() {
                    found.extend(texts_in(&entry.path().join("memory"), 1));
                }
            }
            ImportSource::CodexMemory => {
                let folder = self.folder_of_agent("CODEX_HOME", ".codex");
                let folder = folder.map(|folder| folder.join("memories"));
                found.extend(folder.iter().flat_map(|folder| texts_in(folder, 1)));
            }
            ImportSource::Adr => {
                for folder in ["docs/decisions", "docs/adr", "doc/adr", "adr", "docs/architecture/decisions"]
                {
                    found.extend(texts_in(&self.workplace.directory().join(folder), 1));
                }
                found.retain(|file| self.is_straight(file));
            }
            ImportSource::Beads => {
                let file = self.workplace.directory().join(".beads/issues.jsonl");
                found.extend(Some(file).filter(|file| file.is_file() && self.is_straight(file)));
            }
            // They keep no files of texts.
            ImportSource::ClaudeMem | ImportSource::Entire => {}
        }
        found.sort();
        found
    }

    /// Whether no link leads to a file below the present folder: a repository can track one that leads out of it.
    fn is_straight(&self, file: &Path) -> bool {
        let folder = self.workplace.directory();
        let below = file.strip_prefix(folder).ok().zip(folder.canonicalize().ok());
        below.is_some_and(|(below, folder)| file.canonicalize().is_ok_and(|real| real == folder.join(below)))
    }

    fn take_document(
        &self,
        memory: &mut OpenMemory,
        (path, text): (&Path, &str),
        source: ImportSource,
        is_dry_run: bool,
    ) -> Result<Vec<(String, ImportState)>, Error> {
        let folder =
            companions::folder_of_memory(path).unwrap_or_else(|| self.workplace.directory().to_owned());
        let agent = source.name();
        let Some(document) = Document::of(path, text, folder, agent) else { return Ok(Vec::new()) };
        let state = memory.store.read(|connection| document.state(connection, agent))?;
        if !is_dry_run && matches!(state, ImportState::New | ImportState::Changed) {
            memory.store.write(|tx| {
                let project = place::project_of_folder(tx, &document.folder.to_string_lossy())?;
                document.put(tx, agent, &project)
            })?;
        }
        Ok(vec![(document.title, state)])
    }
}

impl Document {
    /// The text of a file; none of one without words.
    fn of(path: &Path, text: &str, folder: PathBuf, agent: &str) -> Option<Self> {
        let text = for_storage(text, &mut Removed::default()).into_owned();
        let sections = sections(&text);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let heading = text.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim);
        let title = heading.filter(|heading| !heading.is_empty()).unwrap_or(&stem);
        // Wherever the title is quoted, its source is seen.
        let title = shortened(&format!("{agent}: {}", plain(title)), LONGEST_TITLE);
        let path_mark = fingerprint(path.to_string_lossy().as_bytes());
        let at = fs::metadata(path).and_then(|meta| meta.modified()).ok();
        let at = at.and_then(|at| Timestamp::try_from(at).ok());
        let sections: Vec<Section> = sections.into_iter().map(|text| Section { text, at }).collect();
        (!sections.is_empty()).then(|| Self {
            name: format!("{}-{}", plain(&stem), &path_mark[..8]),
            version: version(&sections),
            title,
            summary: format!("Imported from {agent}."),
            folder,
            sections,
        })
    }

    /// What would become of it.
    fn state(&self, connection: &Connection, agent: &str) -> SqlResult<ImportState> {
        if NamedSession::is_forgotten(connection, agent, &self.name)? {
            return Ok(ImportState::LeftOut);
        }
        let known = NamedSession::by_name(connection, agent, &self.name)?;
        Ok(match known {
            None => ImportState::New,
            Some(known) if known.record.model.as_deref() == Some(&self.version) => ImportState::Unchanged,
            Some(_) => ImportState::Changed,
        })
    }

    fn put(&self, tx: &Transaction<'_>, agent: &str, project: &Project) -> SqlResult<()> {
        if let Some(known) = NamedSession::by_name(tx, agent, &self.name)? {
            known.remove(tx)?;
        }
        let digest = DigestOfSession {
            title: self.title.clone(),
            titles: Vec::new(),
            summary: self.summary.clone(),
            key_actions: Vec::new(),
            files: Vec::new(),
            checks: Vec::new(),
            failures: Vec::new(),
            uncommitted: Vec::new(),
            commits: Vec::new(),
            pull_requests: Vec::new(),
            technologies: Vec::new(),
            libraries: Vec::new(),
            open_questions: Vec::new(),
            decisions: Vec::new(),
            importance: 2,
            usage: Usage::default(),
            n_prompts: 0,
            // Nobody was there: briefings leave it out where there are sessions of humans.
            is_headless: true,
            is_partly_headless: false,
            worded_by: None,
        };
        let record = SessionRecord {
            agent: agent.to_owned(),
            name: self.name.clone(),
            parent: None,
            is_sub_agent: false,
            project: project.id,
            folder: self.folder.to_string_lossy().into_owned(),
            branch: None,
            // It has no model; what it said is known by this.
            model: Some(self.version.clone()),
            first: self.sections.iter().filter_map(|section| section.at).min(),
            last: self.sections.iter().filter_map(|section| section.at).max(),
            title: self.title.clone(),
            importance: 2,
            n_prompts: 0,
            digest: serde_json::to_string(&digest).unwrap_or_default(),
        };
        let id = record.put(tx)?;
        for (number, section) in self.sections.iter().enumerate() {
            let position = i64::try_from(number).unwrap_or(i64::MAX);
            let name = format!("section {}", number + 1);
            let turn = TurnRecord {
                key: chronicle_search::key(&format!("{agent}\n{}\n{number}", self.name)),
                position,
                line: 1,
                name: &name,
                kind: TurnKind::Summary,
                at: section.at,
                sub_agent: None,
                speaker: None,
                is_ok: None,
                text: &section.text,
                answer: None,
            };
            turn.put(tx, id, &mut Written::default())?;
        }
        Ok(())
    }
}

impl OpenMemory {
    /// Takes in issues as threads of a project; what happened to them here since stays.
    fn take_beads(
        &mut self,
        beads: &[Bead],
        project: &Project,
        is_dry_run: bool,
    ) -> Result<Vec<(String, ImportState)>, Error> {
        let mut items = Vec::new();
        for bead in beads.iter().filter(|bead| bead.status != "tombstone") {
            let events = bead.events(project, beads);
            let thread = bead.thread(project);
            // A thread of the user's that has the same words is theirs: the file neither changes nor rejects nor closes it.
            let of_user = self.store.thread(&ThreadId::derived(&project.key, &bead.title()))?;
            if let Some(of_user) = of_user {
                let is_rejected = of_user.thread.is_rejected();
                let state = if is_rejected { ImportState::LeftOut } else { ImportState::Unchanged };
                items.push((bead.title(), state));
                continue;
            }
            let known = self.store.thread(&thread)?;
            let is_rejected = known.as_ref().is_some_and(|known| known.thread.is_rejected());
            let n_known =
                self.store.thread_events(&thread.0)?.iter().filter(|one| events.contains(one)).count();
            let state = match (is_rejected, n_known) {
                (true, _) => ImportState::LeftOut,
                (_, n_known) if n_known == events.len() => ImportState::Unchanged,
                (_, 0) => ImportState::New,
                _ => ImportState::Changed,
            };
            if !is_dry_run && matches!(state, ImportState::New | ImportState::Changed) {
                self.store.write(|tx| {
                    add_events(tx, project, None, &events)?;
                    forget_events(tx, &thread.0)
                })?;
            }
            items.push((bead.title(), state));
        }
        Ok(items)
    }
}

impl Bead {
    fn title(&self) -> String {
        shortened(&for_storage(&self.title, &mut Removed::default()), 200)
    }

    /// What the thread says, wherever it is quoted: whose words they are comes first.
    fn summary(&self) -> String {
        format!("beads {}: {}", shortened(&plain(&self.id), 40), self.title())
    }

    /// The thread of the issue: it goes by the issue's own id, so that no words make it a thread of the user's.
    fn thread(&self, project: &Project) -> ThreadId {
        ThreadId::derived(&project.key, &format!("issue of beads {}", self.id))
    }

    fn events(&self, project: &Project, all: &[Self]) -> Vec<ThreadEvent> {
        let summary = self.summary();
        let thread = self.thread(project);
        let evidence =
            vec![Evidence { session: None, source: format!("beads {}", self.id), words: summary.clone() }];
        let event = |at, change| ThreadEvent { thread: thread.clone(), session: None, at, change };
        let opening = Opening {
            project: project.key.clone(),
            branch: None,
            kind: ThreadKind::Todo,
            origin: Origin::Issue,
            summary,
            context: shortened(&for_storage(&self.description, &mut Removed::default()), 400),
            priority: match self.priority {
                Some(0 | 1) => Priority::High,
                Some(3..) => Priority::Low,
                _ => Priority::Medium,
            },
            evidence: evidence.clone(),
        };
        let mut events = vec![event(self.created_at, Change::Opened(opening))];
        let blockers = self.dependencies.iter().filter(|link| link.kind == "blocks");
        for link in blockers {
            if let Some(other) = all.iter().find(|bead| bead.id == link.depends_on_id) {
                let other = other.thread(project);
                events.push(event(self.created_at, Change::BlockedBy(other)));
            }
        }
        match self.status.as_str() {
            "in_progress" => events.push(event(self.updated_at, Change::Begun)),
            "closed" => {
                let at = self.closed_at.or(self.updated_at);
                let note = self
                    .close_reason
                    .as_deref()
                    .map(|note| for_storage(note, &mut Removed::default()).into_owned());
                let resolution = Resolution { how: How::Completed, note, at, evidence };
                events.push(event(at, Change::Resolved(resolution)));
            }
            _ => {}
        }
        events
    }
}

/// The issues of a file, one in each line.
fn beads(text: &str) -> Result<Vec<Bead>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read =
        |(number, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1));
    lines.map(read).collect()
}

/// A hash of everything that is said.
fn version(sections: &[Section]) -> String {
    let texts: Vec<&str> = sections.iter().map(|section| &*section.text).collect();
    fingerprint(texts.join("\n").as_bytes())
}

/// The sections of a text: each heading begins one.
fn sections(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if found.is_empty() || line.starts_with('#') && !is_code && found.len() < MOST_SECTIONS {
            found.push(String::new());
        }
        if let Some(last) = found.last_mut()
            && last.len() + line.len() < LONGEST_SECTION
        {
            last.push_str(line);
            last.push('\n');
        }
    }
    found.into_iter().map(|section| section.trim().to_owned()).filter(|section| !section.is_empty()).collect()
}

/// The file at `path`, or those in the folder that it is.
fn files_at(path: &Path, source: ImportSource) -> Result<Vec<PathBuf>, Error> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    fs::read_dir(path).context(ReadInputSnafu { path })?;
    let mut found = match source {
        ImportSource::Beads => vec![path.join("issues.jsonl")],
        _ => texts_in(path, 2),
    };
    found.sort();
    Ok(found)
}

/// The texts in a folder. Links could lead anywhere.
fn texts_in(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && 0 < depth {
            found.extend(texts_in(&path, depth - 1));
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart_at_its_headings() {
        let check = |text: &str, expected: &[&str]| assert_eq!(sections(text), expected, "{text}");
        check("a\n\nb\n# One\nc\n## Two\nd\n", &["a\n\nb", "# One\nc", "## Two\nd"]);
        check("# One\n```sh\n# no heading\n```\n", &["# One\n```sh\n# no heading\n```"]);
        check("\n \n", &[]);
    }

    #[test]
    fn an_issue_that_is_none_names_its_line() {
        assert!(
            beads("{\"id\":\"b-1\",\"title\":\"x\"}\n\n{\"id\":1}\n")
                .is_err_and(|told| told.starts_with("line 3: "))
        );
        assert_eq!(
            beads("{\"id\":\"b-1\",\"title\":\"x\",\"later\":true}\n").map(|beads| beads.len()),
            Ok(1)
        );
    }
}
