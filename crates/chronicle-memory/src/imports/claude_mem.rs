//! What claude-mem's model wrote, a session for each session.
//!
//! Nothing of it counts as the user's words. Its prompts neither: whatever its hook passes on becomes one, be it typed or
//! put in by the agent, and so does what its HTTP service and other devices send (`saveUserPrompt` and `importUserPrompt`
//! of its `SessionStore.ts`, `SyncApply.ts`).

use std::path::Path;

use chronicle_core::{
    plain,
    redaction::{Removed, for_storage},
};
use chronicle_git::{Checkout, files};
use chronicle_search::{
    ClaudeMem, ClaudeMemItem, ClaudeMemKind, ClaudeMemSession, Connection, NamedSession, Project, SqlError,
    SqlResult, StoreError, StoredTurn, Transaction,
};
use chronicle_sessions::{Agent, LONGEST_TITLE, shortened};
use chronicle_workplace::{Error, error::ReadInputSnafu};
use jiff::Timestamp;
use snafu::ResultExt;

use super::{Document, ImportMemory, ImportState, ImportedItem, ImportedMemory, Section, version};
use crate::{Memory, memory::OpenMemory, sessions::UnreadFile};

const AGENT: &str = "claude-mem";
const FILE: &str = "claude-mem.db";

/// So many sessions are stored together.
const TOGETHER: usize = 100;

/// The most files of an observation that are named.
const MOST_FILES: usize = 20;

/// Why reading stops.
enum Stop {
    /// The database cannot be read, here or at all.
    Data(SqlError),
    /// The store does not work.
    Store(Error),
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Self {
        Self::Data(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

/// A session that is to be stored.
struct Taken {
    document: Document,
    project: String,
    /// The same session as it was read from its transcript.
    known: Option<NamedSession>,
}

impl Memory<'_> {
    pub(super) fn take_claude_mem(
        &self,
        command: &ImportMemory,
        reply: &mut ImportedMemory,
    ) -> Result<(), Error> {
        let path = match &command.path {
            Some(path) => self.workplace.directory().join(path),
            None => match self.folder_of_agent("CLAUDE_MEM_DATA_DIR", ".claude-mem") {
                Some(folder) if folder.join(FILE).is_file() => folder,
                _ => return Ok(()),
            },
        };
        let path = if path.is_dir() { path.join(FILE) } else { path };
        if self.workplace.is_unattended() && self.workplace.is_in_repository(&path) {
            reply.unread.push(UnreadFile::of_repository(&path));
            return Ok(());
        }
        files::open(&path).context(ReadInputSnafu { path: &path })?;
        let mut memory = self.open_to_write()?;
        if !command.is_dry_run && Checkout::of(self.workplace.directory()).is_some() {
            // The repository at hand has its name, whether or not it has sessions yet.
            self.project_to_write(&mut memory)?;
        }
        match take(&mut memory, &path, command.is_dry_run, reply) {
            Ok(()) => Ok(()),
            Err(Stop::Store(error)) => Err(error),
            Err(Stop::Data(error)) => {
                let path = plain(&path.to_string_lossy()).into_owned();
                reply.unread.push(UnreadFile { path, reason: error.to_string() });
                Ok(())
            }
        }
    }
}

fn take(
    memory: &mut OpenMemory,
    path: &Path,
    is_dry_run: bool,
    reply: &mut ImportedMemory,
) -> Result<(), Stop> {
    let file = plain(&path.to_string_lossy()).into_owned();
    let mut waiting: Vec<Taken> = Vec::new();
    let database = ClaudeMem::open(path)?;
    let read = database.each(&mut |session| {
        let project = project_name(&session.project);
        let seen = memory.store.read(|connection| Seen::of(connection, &session, &project))?;
        let Some(document) = document(&session, seen.has_transcript) else { return Ok(()) };
        let state = match seen.is_left_out {
            true => ImportState::LeftOut,
            false => memory.store.read(|connection| {
                let state = document.state(connection, AGENT)?;
                let is_elsewhere = seen.is_elsewhere(connection, &document.name, &project)?;
                Ok(if is_elsewhere && state == ImportState::Unchanged { ImportState::Changed } else { state })
            })?,
        };
        reply.items.push(ImportedItem { title: document.title.clone(), file: file.clone(), state });
        if !is_dry_run && matches!(state, ImportState::New | ImportState::Changed) {
            waiting.push(Taken { document, project, known: seen.known });
            if TOGETHER <= waiting.len() {
                store(memory, &mut waiting)?;
            }
        }
        Ok(())
    });
    // What was read before an error is kept.
    store(memory, &mut waiting)?;
    read
}

fn store(memory: &mut OpenMemory, waiting: &mut Vec<Taken>) -> Result<(), StoreError> {
    let taken = std::mem::take(waiting);
    memory.store.write(|tx| taken.iter().try_for_each(|one| one.put(tx)))
}

impl Taken {
    fn put(&self, tx: &Transaction<'_>) -> SqlResult<()> {
        let project = match known_project(tx, self.known.as_ref(), &self.project)? {
            Some(known) => known,
            // The name alone is left to the repository that may come with it.
            None => {
                let name = format!("{}@{AGENT}", self.project);
                Project::obtain(tx, &format!("name:{name}"), &name, "")?
            }
        };
        self.document.put(tx, AGENT, &project)
    }
}

/// The project of a session that is known, or the one of that name: claude-mem names no folder.
fn known_project(
    connection: &Connection,
    session: Option<&NamedSession>,
    name: &str,
) -> SqlResult<Option<Project>> {
    match session {
        Some(session) => Project::by_id(connection, session.record.project),
        None => Project::by_name(connection, name),
    }
}

/// What session memory has of a session of claude-mem.
struct Seen {
    known: Option<NamedSession>,
    /// Whether its prompts are here already.
    has_transcript: bool,
    /// Whether the user forgot it, or excluded its project.
    is_left_out: bool,
}

impl Seen {
    /// Whether the session was stored in another project than the one that is known by now.
    fn is_elsewhere(&self, connection: &Connection, document: &str, project: &str) -> SqlResult<bool> {
        let stored = NamedSession::by_name(connection, AGENT, document)?;
        let project = known_project(connection, self.known.as_ref(), project)?;
        Ok(stored.zip(project).is_some_and(|(stored, project)| stored.record.project != project.id))
    }

    fn of(connection: &Connection, session: &ClaudeMemSession, project: &str) -> SqlResult<Self> {
        let mut seen = Self { known: None, has_transcript: false, is_left_out: false };
        for agent in Agent::ALL.map(Agent::name) {
            seen.is_left_out |= NamedSession::is_forgotten(connection, agent, &session.id)?;
            if seen.known.is_none() {
                seen.known = NamedSession::by_name(connection, agent, &session.id)?;
            }
        }
        if let Some(known) = &seen.known {
            seen.has_transcript = StoredTurn::has_any(connection, known.id)?;
        }
        let excluded = Project::excluded(connection)?;
        if !excluded.is_empty() {
            let is_out = |folder: &str| excluded.iter().any(|out| Path::new(folder).starts_with(out));
            let folders = match (&seen.known, Project::by_name(connection, project)?) {
                (Some(known), _) => vec![known.record.folder.clone()],
                (None, Some(project)) => project.folders(connection)?,
                (None, None) => Vec::new(),
            };
            let is_named =
                excluded.iter().any(|out| Path::new(out).file_name().is_some_and(|n| n == project));
            seen.is_left_out |= folders.iter().any(|folder| is_out(folder)) || folders.is_empty() && is_named;
        }
        Ok(seen)
    }
}

/// The name of the repository: claude-mem puts that of a worktree behind it.
fn project_name(told: &str) -> String {
    let name = for_storage(told, &mut Removed::default());
    shortened(name.split('/').next().unwrap_or_default(), 100)
}

fn document(session: &ClaudeMemSession, has_transcript: bool) -> Option<Document> {
    let is_wanted = |item: &&ClaudeMemItem| !(has_transcript && item.kind == ClaudeMemKind::Prompt);
    let sections: Vec<Section> = session.items.iter().filter(is_wanted).filter_map(section).collect();
    let named = |kind, index: usize| {
        let first = session.items.iter().find(|item| item.kind == kind && item.texts[index].is_some());
        first.and_then(|item| item.texts[index].as_deref())
    };
    let title = session.title.as_deref();
    let title = title.or_else(|| named(ClaudeMemKind::Summary, 0));
    let title = title.or_else(|| named(ClaudeMemKind::Observation, 1)).unwrap_or("A session of claude-mem");
    let title = for_storage(title, &mut Removed::default());
    let id = match &*session.agent {
        "claude" => session.id.clone(),
        // The ids of different agents may be alike.
        agent => format!("{}-{agent}", session.id),
    };
    (!sections.is_empty()).then(|| Document {
        name: format!("mem_{}", shortened(&plain(&id), 100)),
        title: shortened(&title, LONGEST_TITLE),
        summary: "Imported from claude-mem: what its model wrote about a session.".to_owned(),
        folder: std::path::PathBuf::new(),
        version: version(&sections),
        sections,
    })
}

/// An item as text; none of one without words.
fn section(item: &ClaudeMemItem) -> Option<Section> {
    let labels: [&str; 6] = match item.kind {
        ClaudeMemKind::Prompt => ["Asked, as claude-mem recorded it: ", "", "", "", "", ""],
        ClaudeMemKind::Observation => ["", "", "", "", "- ", "Files: "],
        ClaudeMemKind::Summary => {
            ["Asked: ", "Investigated: ", "Learned: ", "Completed: ", "Next steps: ", "Notes: "]
        }
    };
    let is_observation = item.kind == ClaudeMemKind::Observation;
    let mut lines: Vec<String> = Vec::new();
    for (index, text) in item.texts.iter().enumerate() {
        let Some(text) = text else { continue };
        match index {
            4 if is_observation => lines.extend(list(text).iter().map(|fact| format!("- {fact}"))),
            5 if is_observation => {
                let files = list(text);
                let named = files.iter().take(MOST_FILES).map(String::as_str).collect::<Vec<_>>();
                lines.extend((!named.is_empty()).then(|| format!("Files: {}", named.join(", "))));
            }
            _ => lines.push(format!("{}{text}", labels[index])),
        }
    }
    // The type of an observation stands before its title.
    if is_observation && 1 < lines.len() && item.texts[0].is_some() {
        let kind = lines.remove(0);
        lines[0] = format!("{kind}: {}", lines[0]);
    }
    Section::of(&lines.join("\n"), item.at.and_then(|at| Timestamp::from_millisecond(at).ok()))
}

/// The texts of a JSON list; any other text stands for itself.
fn list(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_else(|_| vec![text.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: ClaudeMemKind, texts: [&str; 6]) -> ClaudeMemItem {
        let texts = texts.map(|text| (!text.is_empty()).then(|| text.to_owned()));
        ClaudeMemItem { kind, at: Some(1_772_366_400_000), texts }
    }

    #[test]
    fn an_item_is_one_text_without_secrets() {
        let check = |kind, texts, expected: &str| {
            let told = section(&item(kind, texts)).map(|section| section.text);
            assert_eq!(told.unwrap_or_default(), expected);
        };
        check(
            ClaudeMemKind::Observation,
            [
                "bugfix",
                "It waited",
                "Not any more",
                "Two locks.",
                "[\"one\", \"two\"]",
                "[\"a.rs\", \"b.rs\"]",
            ],
            "bugfix: It waited\nNot any more\nTwo locks.\n- one\n- two\nFiles: a.rs, b.rs",
        );
        check(
            ClaudeMemKind::Observation,
            ["change", "", "", "Words.", "no list", "[]"],
            "change: Words.\n- no list",
        );
        check(ClaudeMemKind::Observation, ["change", "", "", "", "", ""], "change");
        check(
            ClaudeMemKind::Summary,
            ["Bound it", "", "Locks", "", "Test", ""],
            "Asked: Bound it\nLearned: Locks\nNext steps: Test",
        );
        check(
            ClaudeMemKind::Prompt,
            ["log in with password=hunter2hunter2", "", "", "", "", ""],
            "Asked, as claude-mem recorded it: log in with password=[redacted:password]",
        );
        check(ClaudeMemKind::Summary, [""; 6], "");
    }

    #[test]
    fn a_worktree_belongs_to_its_repository() {
        assert_eq!(project_name("shop"), "shop");
        assert_eq!(project_name("shop/fix-the-pool"), "shop");
    }

    #[test]
    fn prompts_that_the_transcript_has_are_left_out() {
        let session = |agent: &str, items| ClaudeMemSession {
            id: "c-1".to_owned(),
            agent: agent.to_owned(),
            project: "shop".to_owned(),
            title: None,
            items,
        };
        let prompt = item(ClaudeMemKind::Prompt, ["bound it", "", "", "", "", ""]);
        let summary = item(ClaudeMemKind::Summary, ["Bound the pool", "", "", "", "", ""]);
        let told = |session: &ClaudeMemSession, has_transcript| {
            document(session, has_transcript).map(|one| (one.name, one.title, one.sections.len()))
        };
        let both = session("claude", vec![prompt.clone(), summary]);
        let named = |n| Some(("mem_c-1".to_owned(), "Bound the pool".to_owned(), n));
        assert_eq!((told(&both, false), told(&both, true)), (named(2), named(1)));
        let only = session("codex", vec![prompt]);
        let other = Some(("mem_c-1-codex".to_owned(), "A session of claude-mem".to_owned(), 1));
        assert_eq!((told(&only, false), told(&only, true)), (other, None));
    }
}
