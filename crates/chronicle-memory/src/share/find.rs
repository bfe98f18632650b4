//! Finds what machines share, in the copy on this one.

use std::collections::BTreeSet;

use chronicle_search::{Question, terms};
use chronicle_share::{ShareError, SharedRow};
use chronicle_workplace::{
    Error,
    error::{EmptyQuestionSnafu, NotSharingSnafu, NothingPulledSnafu},
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use snafu::{OptionExt, ensure};

use super::record::Sharing;
use crate::{
    Shared,
    find::{Snippet, snippet},
};

/// How many rows more are looked at than are shown: copies of one thing come once.
const MORE: usize = 20;

/// What to find.
#[derive(Debug, Clone, Default)]
pub struct FindSharedCommand {
    /// The question, in the user's words.
    pub query: String,
    /// Of the project that is called so, wherever it is shared from.
    pub project: Option<String>,
    /// Since this date, or for so long.
    pub since: Option<String>,
    /// At most so many hits.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SharedFinding {
    /// Always `chronicle-find-shared/v1`.
    pub schema: &'static str,
    /// The question.
    pub query: String,
    /// The name of the project that was searched; null for all.
    pub project: Option<String>,
    /// When what others share came in last.
    pub pulled_at: Option<String>,
    /// What answers best, the best first.
    pub hits: Vec<FoundShared>,
}

/// Something that somebody shares.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FoundShared {
    /// `digest` or `lesson`.
    pub kind: String,
    /// The session on that machine, or the id of the lesson.
    pub name: String,
    /// What it says, in one line.
    pub title: String,
    /// How the project is called there.
    pub project: String,
    /// The branch of a session, the category of a lesson.
    pub about: String,
    /// When it happened.
    pub at: Option<String>,
    /// Who shares it.
    pub author: String,
    /// From which machine; empty for this one.
    pub machine: String,
    /// The commit it belongs to.
    pub commit: Option<String>,
    /// The files it is about.
    pub files: Vec<String>,
    /// How well it answers: to be compared within one answer only.
    pub score: f64,
    /// The part of it that answers.
    pub snippet: Snippet,
}

impl Shared<'_> {
    /// Finds what machines share, as it was when the copy here was made.
    ///
    /// # Errors
    /// When nothing is shared, nothing was pulled yet, or the question has no words to look for.
    pub fn find(&self, command: &FindSharedCommand) -> Result<SharedFinding, Error> {
        let mut question = Question::new(&command.query);
        let mut words: Vec<u64> = terms(&command.query);
        words.sort_unstable();
        words.dedup();
        let reason = "the question has no words to look for";
        ensure!(!words.is_empty(), EmptyQuestionSnafu { reason });
        let sharing = Sharing::load(&self.workplace.memory_home()?)?.context(NotSharingSnafu)?;
        let since = command.since.as_deref().map(|text| self.memory().moment_before(text)).transpose()?;
        ensure!(sharing.pulled_at.is_some(), NothingPulledSnafu);
        let copy = match self.share_copy(&sharing) {
            Err(Error::Share { source: ShareError::NoStore { .. } }) => return NothingPulledSnafu.fail(),
            copy => copy.map_err(damaged)?,
        };
        let words: Vec<String> = words.into_iter().map(|term| format!("{term:x}")).collect();
        let since = since.map(Timestamp::as_millisecond);
        let limit = command.limit.saturating_add(MORE);
        let found = if command.limit == 0 {
            Vec::new()
        } else {
            let found = copy.search(&words.join(" "), command.project.as_deref(), since, limit);
            found.map_err(|source| damaged(source.into()))?
        };
        let mut seen = BTreeSet::new();
        let hits = found
            .into_iter()
            // Two machines may have one session, and share it both.
            .filter(|(row, _)| seen.insert((row.kind.clone(), row.name.clone())))
            .take(command.limit)
            .map(|(row, score)| told(&mut question, row, score, &sharing.machine_id))
            .collect();
        Ok(SharedFinding {
            schema: "chronicle-find-shared/v1",
            query: command.query.clone(),
            project: command.project.clone(),
            pulled_at: sharing.pulled_at,
            hits,
        })
    }
}

/// A copy lies on this machine: what cannot be read of it is damaged.
fn damaged(error: Error) -> Error {
    match error {
        Error::Share {
            source: ShareError::Unreachable { reason, .. } | ShareError::Damaged { reason, .. },
        } => Error::DamagedShareCopy { reason },
        error => error,
    }
}

fn told(question: &mut Question, row: SharedRow, score: f64, own: &str) -> FoundShared {
    let text = if row.text.is_empty() { &row.title } else { &row.text };
    FoundShared {
        snippet: snippet(question, text),
        kind: row.kind,
        name: row.name,
        title: row.title,
        project: row.project,
        about: row.about,
        at: Timestamp::from_millisecond(row.at).ok().filter(|_| row.at != 0).map(|at| at.to_string()),
        author: row.author,
        machine: if row.machine_id == own { String::new() } else { row.machine },
        commit: Some(row.commit).filter(|commit| !commit.is_empty()),
        files: row.files.lines().map(str::to_owned).collect(),
        score: (score * 1e4).round() / 1e4,
    }
}
