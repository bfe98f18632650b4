//! What a human says of what was shown: right, or wrong.

use std::collections::BTreeMap;

use chronicle_core::redaction::{Removed, for_storage};
use chronicle_search::{Connection, Feedback, SqlResult};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PatternsCommand, PreferencesCommand};
use crate::{Chronicle, Error, error::UnknownSubjectSnafu};

/// The longest remark.
const LONGEST_NOTE: usize = 500;

/// A judgement on something that was shown.
#[derive(Debug, Clone, Default)]
pub struct FeedbackCommand {
    /// The id of a preference, a pattern, a thread or a lesson, or that of a session for its title.
    pub id: String,
    /// Whether it is right.
    pub is_right: bool,
    /// What there is to say besides.
    pub note: Option<String>,
}

/// What was said so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeedbackReply {
    /// Always `chronicle-feedback/v1`.
    pub schema: &'static str,
    /// In the order in which it was said.
    pub feedback: Vec<GivenFeedback>,
}

/// One judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenFeedback {
    /// `preference`, `pattern`, `title`, `thread` or `lesson`.
    pub what: String,
    /// The id of it.
    pub id: String,
    /// Whether it is right.
    pub is_right: bool,
    /// When it was said.
    pub at: String,
    /// What was said besides.
    #[serde(default)]
    pub note: String,
}

impl GivenFeedback {
    pub(crate) fn of(feedback: Feedback) -> Self {
        Self {
            what: feedback.what,
            id: feedback.subject,
            is_right: feedback.is_right,
            at: feedback.at.to_string(),
            note: feedback.note,
        }
    }

    /// The same as it is stored; none without a time that can be read, or of no known kind.
    pub(crate) fn stored(self) -> Option<Feedback> {
        let is_known = ["preference", "pattern", "title", "thread", "lesson"].contains(&self.what.as_str());
        let at = self.at.parse().ok().filter(|_| is_known)?;
        Some(Feedback { what: self.what, subject: self.id, at, is_right: self.is_right, note: self.note })
    }
}

/// The last word on a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) is_right: bool,
    pub(super) at: Timestamp,
}

/// The last word on each subject of a kind.
pub(super) fn verdicts(connection: &Connection, what: &str) -> SqlResult<BTreeMap<String, Verdict>> {
    let all = Feedback::all(connection, Some(what))?;
    Ok(all.into_iter().map(|said| (said.subject, Verdict { is_right: said.is_right, at: said.at })).collect())
}

impl Chronicle {
    /// Remembers whether something that was shown is right.
    ///
    /// # Errors
    /// When nothing has that id, or it cannot be stored.
    pub fn feedback(&self, command: &FeedbackCommand) -> Result<FeedbackReply, Error> {
        let (what, id) = self.subject(command.id.trim())?;
        let note = command.note.as_deref().unwrap_or_default();
        let note = for_storage(note, &mut Removed::default()).into_owned();
        let feedback = Feedback {
            what: what.to_owned(),
            subject: id,
            at: self.now,
            is_right: command.is_right,
            note: note[..note.floor_char_boundary(LONGEST_NOTE)].to_owned(),
        };
        let mut memory = self.memory_to_write()?;
        memory.store.write(|tx| feedback.put(tx))?;
        Ok(FeedbackReply { schema: "chronicle-feedback/v1", feedback: vec![GivenFeedback::of(feedback)] })
    }

    /// What was said so far.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn given_feedback(&self) -> Result<FeedbackReply, Error> {
        let said = match self.memory()? {
            Some(memory) => memory.store.read(|connection| Feedback::all(connection, None))?,
            None => Vec::new(),
        };
        let feedback = said.into_iter().map(GivenFeedback::of).collect();
        Ok(FeedbackReply { schema: "chronicle-feedback/v1", feedback })
    }

    /// What an id names, and the whole of it.
    fn subject(&self, id: &str) -> Result<(&'static str, String), Error> {
        let unknown = || {
            let reason = format!("nothing that is shown has the id `{}`", id.escape_debug());
            UnknownSubjectSnafu { reason }.build()
        };
        if id.starts_with("p-") {
            let all =
                self.preferences(&PreferencesCommand { is_whole: true, ..PreferencesCommand::default() })?;
            let ids = all.preferences.into_iter().map(|preference| preference.id);
            return Ok(("preference", only(id, ids)?));
        }
        if id.starts_with("w-") {
            let all = self.patterns(&PatternsCommand { is_whole: true, ..PatternsCommand::default() })?;
            return Ok(("pattern", only(id, all.patterns.into_iter().map(|pattern| pattern.id))?));
        }
        if id.starts_with("t-") {
            return Ok(("thread", self.show_thread(id)?.thread.id));
        }
        if let Some(memory) = self.memory()?
            && let Ok(session) = memory.session(id)
        {
            return Ok(("title", session.record.name));
        }
        if let Ok(repository) = self.repository()
            && let [claim] = chronicle_commits::claims_called(repository, id)?.as_slice()
        {
            return Ok(("lesson", claim.id.0.clone()));
        }
        Err(unknown())
    }
}

/// The only one of `ids` that begins with `start`.
pub(super) fn only(start: &str, ids: impl Iterator<Item = String>) -> Result<String, Error> {
    let mut found: Vec<String> = ids.filter(|id| id.starts_with(start)).collect();
    found.dedup();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            let reason = format!("nothing that was learned has the id `{}`", start.escape_debug());
            UnknownSubjectSnafu { reason }.fail()
        }
        _ => {
            let reason = format!("several begin with `{}`: {}", start.escape_debug(), found.join(", "));
            UnknownSubjectSnafu { reason }.fail()
        }
    }
}
