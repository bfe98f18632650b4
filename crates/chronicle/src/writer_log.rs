//! Commits that could not be done, and those about which a model had nothing to say: a file of JSON lines in the git
//! directory, of which the last line on a commit counts.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use chronicle_git::{FileLock, Repository, files, replace_file};
use chronicle_workplace::{Error, error::WriteOutputSnafu};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use snafu::ResultExt;

/// Beyond this the file is written anew, without what no longer counts.
const MOST_BYTES: u64 = 1 << 20;
/// Commits that it holds then, the newest words first.
const MOST_COMMITS: usize = 2_000;
/// A reason is a sentence.
const LONGEST_REASON: usize = 300;

/// What became of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WrittenOutcome {
    /// It is annotated now.
    Stored,
    /// A model would be asked.
    Planned,
    /// Nobody had to be asked: it teaches nothing.
    Trivial,
    /// Somebody annotated it before.
    Annotated,
    /// The model found nothing that is worth being kept.
    Nothing,
    /// It could not be done.
    Failed,
}

impl WrittenOutcome {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Planned => "planned",
            Self::Trivial => "trivial",
            Self::Annotated => "annotated",
            Self::Nothing => "nothing",
            Self::Failed => "failed",
        }
    }
}

/// What became of one commit.
pub struct Became<'b> {
    /// The commit.
    pub commit: &'b str,
    /// What became of it.
    pub outcome: WrittenOutcome,
    /// Why.
    pub reason: Option<&'b str>,
}

/// The file.
pub struct WriterLog<'r> {
    repository: &'r Repository,
    path: PathBuf,
}

/// A line of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    at: String,
    /// The commit.
    pub commit: String,
    outcome: String,
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

impl Logged {
    /// Whether it could not be done.
    pub fn has_failed(&self) -> bool {
        self.outcome == WrittenOutcome::Failed.name()
    }

    /// Whether this model found nothing.
    pub fn found_nothing(&self, model: Option<&str>) -> bool {
        self.outcome == WrittenOutcome::Nothing.name() && (model.is_none() || self.model.as_deref() == model)
    }
}

impl<'r> WriterLog<'r> {
    /// The file of a repository, which may not be there yet.
    ///
    /// # Errors
    /// When the git directory does not let it.
    pub fn of(repository: &'r Repository) -> Result<Self, Error> {
        Ok(Self { repository, path: repository.shared_state("agent.jsonl")? })
    }

    fn lock(&self) -> Result<FileLock, Error> {
        Ok(self.repository.lock(&self.path.with_extension("lock"))?)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last word on each commit; lines that cannot be read say nothing.
    pub fn read(&self) -> BTreeMap<String, Logged> {
        let Ok(text) = files::read(&self.path, files::MAX_BYTES) else { return BTreeMap::new() };
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Logged>(line).ok());
        lines.map(|line| (line.commit.clone(), line)).collect()
    }

    /// Writes down what became of a commit, where that is to be known later. `known` is the last word on it.
    pub fn note(
        &self,
        written: &Became<'_>,
        known: Option<&Logged>,
        model: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let is_bad = matches!(written.outcome, WrittenOutcome::Failed | WrittenOutcome::Nothing);
        if !is_bad && known.is_none_or(|known| known.outcome == written.outcome.name()) {
            return Ok(());
        }
        let reason = written.reason.unwrap_or_default();
        let line = Logged {
            at: now.to_string(),
            commit: written.commit.to_owned(),
            outcome: written.outcome.name().to_owned(),
            reason: chronicle_sessions::shortened(
                &chronicle_core::redaction::cleaned(reason).0,
                LONGEST_REASON,
            ),
            model: model.map(str::to_owned),
        };
        let mut text = serde_json::to_string(&line).expect("a line is plain data");
        text.push('\n');
        let _lock = self.lock()?;
        let path = self.path.clone();
        let size = fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        if MOST_BYTES < size {
            self.shorten().context(WriteOutputSnafu { path: &path })?;
        }
        // A line that was cut by a crash must not swallow this one.
        if 0 < size && !fs::read(&self.path).is_ok_and(|bytes| bytes.ends_with(b"\n")) {
            text.insert(0, '\n');
        }
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).context(WriteOutputSnafu { path })
    }

    /// Takes out what models said, which may quote what was purged.
    pub fn strike_reasons(&self) -> Result<(), Error> {
        if !self.path.exists() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let mut lines: Vec<Logged> = self.read().into_values().collect();
        lines.iter_mut().for_each(|line| line.reason.clear());
        self.replace(lines).context(WriteOutputSnafu { path: &self.path })
    }

    fn shorten(&self) -> std::io::Result<()> {
        self.replace(self.read().into_values().collect())
    }

    /// Writes the file anew, with these lines as far as they still count.
    fn replace(&self, mut lines: Vec<Logged>) -> std::io::Result<()> {
        lines.retain(|line| line.has_failed() || line.found_nothing(None));
        lines.sort_by(|one, other| other.at.cmp(&one.at));
        lines.truncate(MOST_COMMITS);
        let mut content = Vec::new();
        for line in lines.iter().rev() {
            serde_json::to_writer(&mut content, line)?;
            content.push(b'\n');
        }
        replace_file(&self.path, &content)
    }
}
