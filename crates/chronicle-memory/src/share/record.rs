//! What may go out, and where to: one file in the home of session memory.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use chronicle_git::FileLock;
use chronicle_search::{Project, fingerprint};
use chronicle_workplace::{Error, error::DamagedShareRecordSnafu, owned::replace};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::sessions::named::short_session;

/// The file, and the lock of those who change it.
const RECORD_FILE: &str = "share.json";
const LOCK_FILE: &str = "share.lock";

/// The form of the file.
const SCHEMA: &str = "chronicle-sharing/v1";

/// What may go out, and where to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Sharing {
    pub(super) schema: String,
    /// Where the store is.
    pub(super) url: String,
    /// What tells the store from all others.
    pub(super) identity: String,
    /// What tells this machine from all others.
    pub(super) machine_id: String,
    /// How this machine is called.
    pub(super) machine: String,
    /// Who shares.
    pub(super) author: String,
    /// Projects of which all may go out.
    pub(super) projects: Vec<Rule>,
    /// What was marked by hand.
    pub(super) marked: Vec<Marked>,
    /// The names of what is held back, whatever a rule says.
    pub(super) held_back: BTreeSet<String>,
    /// The names of sessions that were forgotten here since the last push.
    pub(super) forgotten: BTreeSet<String>,
    /// When something was taken back whose bytes may still be in the store.
    pub(super) taken_back_at: Option<Timestamp>,
    /// The newest version of the store that was seen.
    pub(super) seen_version: u64,
    /// When what may go out went out last.
    pub(super) pushed_at: Option<String>,
    /// When what others share came in last.
    pub(super) pulled_at: Option<String>,
}

/// That all of a project may go out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rule {
    /// What the project is known by.
    pub(super) key: String,
    /// How it is called.
    pub(super) name: String,
    /// `digest`, `lesson` or both.
    pub(super) kinds: Vec<String>,
}

/// Something that was marked by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum Marked {
    /// A session.
    Session {
        /// Its agent, and the id that the agent gave it.
        name: String,
    },
    /// A lesson.
    Lesson {
        /// Its id.
        name: String,
        /// What the project is known by whose repository holds it.
        key: String,
    },
}

impl Marked {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Session { name } | Self::Lesson { name, .. } => name,
        }
    }

    /// The name that a user knows it by.
    pub(super) fn shown(&self) -> String {
        shown(self.name())
    }
}

/// The name that a user knows something by: a session without its agent.
pub(super) fn shown(name: &str) -> String {
    name.split_once('/').map_or_else(|| name.to_owned(), |(_, session)| short_session(session).to_owned())
}

/// The name of a session: two agents may give two sessions one id.
pub(super) fn session_name(agent: &str, name: &str) -> String {
    format!("{agent}/{name}")
}

/// Takes the lock of those who change the record, or what is out or in.
pub(super) fn lock(home: &Path) -> Result<FileLock, Error> {
    Ok(FileLock::acquire(&home.join(LOCK_FILE))?)
}

impl Sharing {
    /// The record, if anything was ever shared.
    pub(super) fn load(home: &Path) -> Result<Option<Self>, Error> {
        let path = home.join(RECORD_FILE);
        let damaged = |reason: String| DamagedShareRecordSnafu { path: PathBuf::from(&path), reason }.fail();
        match fs::read_to_string(&path) {
            Ok(text) => match serde_json::from_str::<Self>(&text) {
                Ok(sharing) if sharing.schema == SCHEMA => Ok(Some(sharing)),
                Ok(_) => damaged(format!("it isn't {SCHEMA}")),
                Err(error) => damaged(error.to_string()),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::ReadInput { path, source }),
        }
    }

    /// Puts the record in the place of the one before.
    pub(super) fn store(&self, home: &Path) -> Result<(), Error> {
        let record = Self { schema: SCHEMA.to_owned(), ..self.clone() };
        let mut text = serde_json::to_string_pretty(&record).expect("it has names for keys");
        text.push('\n');
        replace(&home.join(RECORD_FILE), &text)
    }

    /// The rule about a project.
    pub(super) fn rule(&self, key: &str) -> Option<&Rule> {
        self.projects.iter().find(|rule| rule.key == key)
    }

    /// Whether something may go out: it is marked, or a rule allows it, and nobody holds it back.
    pub(super) fn allows(&self, kind: &str, key: &str, name: &str) -> bool {
        let by_rule = || {
            let allows = |rule: &Rule| rule.kinds.iter().any(|allowed| allowed == kind);
            self.rule(key).is_some_and(allows) && !self.held_back.contains(name)
        };
        self.marked.iter().any(|marked| marked.name() == name) || by_rule()
    }

    /// The name for good of something that this machine shares: it tells the kind and the project, and not where the
    /// project lies here.
    pub(super) fn row_id(&self, kind: &str, key: &str, name: &str) -> String {
        format!("{kind}:{}:{}:{name}", self.machine_id, project_mark(key))
    }

    /// Whether what lies in the store under an id, and may not go out, is to be taken back. What this machine merely
    /// knows nothing of stays: its store may have been lost, and a disk may not be there just now.
    pub(super) fn is_to_go(&self, id: &str, reachable: &Reachable) -> bool {
        let mut parts = id.splitn(4, ':');
        let (Some(kind), Some(_machine), Some(project), Some(name)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        let has_rule = self.projects.iter().any(|rule| {
            project_mark(&rule.key) == project && rule.kinds.iter().any(|allowed| allowed == kind)
        });
        let is_marked = self.marked.iter().any(|marked| marked.name() == name);
        if self.held_back.contains(name) || self.forgotten.contains(name) || !(has_rule || is_marked) {
            return true;
        }
        match kind {
            "lesson" => reachable.projects.contains(project),
            _ => reachable.sessions.contains(name),
        }
    }
}

/// What this machine can look at, so that what is not among it is gone.
#[derive(Debug, Default)]
pub(super) struct Reachable {
    /// Projects whose repository could be read, by their marks.
    pub(super) projects: BTreeSet<String>,
    /// Sessions that session memory knows.
    pub(super) sessions: BTreeSet<String>,
}

impl Reachable {
    pub(super) fn see_project(&mut self, project: &Project) {
        self.projects.insert(project_mark(&project.key));
    }
}

/// A project in an id: its key may be a folder of this machine.
fn project_mark(key: &str) -> String {
    fingerprint(key.as_bytes())[..12].to_owned()
}
