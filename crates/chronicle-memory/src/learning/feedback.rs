//! What a human says of what was shown: right, or wrong.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use chronicle_core::{
    correction::Tier,
    redaction::{Removed, for_storage},
    thread::{Change, Resolution, ThreadId},
};
use chronicle_search::{Connection, Feedback, NamedSession, Project, SqlResult, add_events};
use chronicle_sessions::TitleVerdict;
use chronicle_workplace::{Error, error::UnknownSubjectSnafu, owned};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{experience::Learning, patterns::PatternsCommand, preferences::PreferencesCommand};
use crate::memory::OpenMemory;

/// Where hooks find which lessons were rejected, in the home of session memory.
const REJECTED_LESSONS: &str = "rejected-lessons";

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
    /// What to know about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
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

/// Marks the id of a lesson that was rejected where only strangers have it: anyone can use the id of a lesson of the user
/// again, in a fork too.
const OF_OTHERS: &str = "/others";

/// The lessons that the user rejected.
#[derive(Debug, Default)]
pub struct RejectedLessons(BTreeSet<String>);

impl RejectedLessons {
    /// Whether the lesson with this id was rejected, as somebody says it who is trusted so far.
    #[must_use]
    pub fn has(&self, id: &str, tier: Tier) -> bool {
        self.0.contains(id) || tier == Tier::Unknown && self.0.contains(&format!("{id}{OF_OTHERS}"))
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

impl Learning<'_> {
    /// Remembers whether something that was shown is right.
    ///
    /// # Errors
    /// When nothing has that id, or it cannot be stored.
    pub fn feedback(&self, command: &FeedbackCommand) -> Result<FeedbackReply, Error> {
        let mut warnings = Vec::new();
        let (what, mut id) = self.subject(command.id.trim(), &mut warnings)?;
        if what == "title" {
            let session = self.memory().open_to_write()?.session(&id)?;
            id = TitleVerdict::subject(&session.record.name, &session.record.title);
        }
        let note = command.note.as_deref().unwrap_or_default();
        let note = for_storage(note, &mut Removed::default()).into_owned();
        let feedback = Feedback {
            what: what.to_owned(),
            subject: id,
            at: self.workplace.now(),
            is_right: command.is_right,
            note: note[..note.floor_char_boundary(LONGEST_NOTE)].to_owned(),
        };
        let mut memory = self.memory().open_to_write()?;
        memory.store.write(|tx| feedback.put(tx))?;
        match what {
            "title" => self.retitle(&mut memory, &feedback.subject)?,
            "thread" => self.judge_thread(&mut memory, &feedback)?,
            "lesson" => self.note_rejected_lessons(&memory)?,
            _ => {}
        }
        Ok(FeedbackReply {
            schema: "chronicle-feedback/v1",
            feedback: vec![GivenFeedback::of(feedback)],
            warnings,
        })
    }

    /// What was said so far.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn given_feedback(&self) -> Result<FeedbackReply, Error> {
        let said = match self.memory().open()? {
            Some(memory) => memory.store.read(|connection| Feedback::all(connection, None))?,
            None => Vec::new(),
        };
        let feedback = said.into_iter().map(GivenFeedback::of).collect();
        Ok(FeedbackReply { schema: "chronicle-feedback/v1", feedback, warnings: Vec::new() })
    }

    /// Lets everything that was said so far count, where it came from elsewhere.
    pub(crate) fn apply_feedback(&self, memory: &mut OpenMemory) -> Result<(), Error> {
        for said in memory.store.read(|connection| Feedback::all(connection, Some("title")))? {
            // The session may be unknown here, or forgotten.
            let _unknown = self.retitle(memory, &said.subject);
        }
        self.note_rejected_lessons(memory)
    }

    /// Forgets the remarks on what nothing that is left tells of. The judgements stay: they hold no words.
    pub(crate) fn forget_remarks(&self, memory: &mut OpenMemory) -> Result<(), Error> {
        memory.learn(None)?;
        for said in memory.store.read(|connection| Feedback::all(connection, None))? {
            let is_of_sessions = matches!(&*said.what, "preference" | "pattern" | "thread");
            if said.note.is_empty() || !is_of_sessions {
                continue;
            }
            match self.subject(&said.subject, &mut Vec::new()) {
                Ok(_) => {}
                Err(Error::UnknownSubject { .. } | Error::UnknownThread { .. }) => {
                    memory.store.write(|tx| said.forget_note(tx))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Gives a session the first title that was not rejected.
    fn retitle(&self, memory: &mut OpenMemory, subject: &str) -> Result<(), Error> {
        let name = TitleVerdict::session(subject);
        let session = memory.session(name)?;
        memory.store.write(|tx| {
            let Some(session) = NamedSession::by_id(tx, session.id)? else { return Ok(()) };
            TitleVerdict::applied_to(tx, session.record)?.put(tx).map(drop)
        })?;
        Ok(())
    }

    /// Dismisses a thread that is none, or opens one again that was taken for none.
    fn judge_thread(&self, memory: &mut OpenMemory, said: &Feedback) -> Result<(), Error> {
        let id = ThreadId(said.subject.clone());
        let Some(listed) = memory.store.thread(&id)? else { return Ok(()) };
        let change = match (said.is_right, listed.thread.is_rejected()) {
            (false, _) => Change::Dropped(Resolution::rejected(&said.note, said.at)),
            (true, true) => Change::Reopened,
            (true, false) => return Ok(()),
        };
        let events = self.memory().threads().events(&memory.store, &id, vec![change])?;
        memory.store.write(|tx| {
            let Some(project) = Project::by_key(tx, &listed.thread.project)? else { return Ok(0) };
            add_events(tx, &project, None, &events)
        })?;
        Ok(())
    }

    /// Writes down which lessons were rejected, where hooks look without opening session memory.
    pub(crate) fn note_rejected_lessons(&self, memory: &OpenMemory) -> Result<(), Error> {
        let verdicts = memory.store.read(|connection| verdicts(connection, "lesson"))?;
        let rejected = verdicts.into_iter().filter(|(_, verdict)| !verdict.is_right);
        let text: String = rejected.map(|(id, _)| format!("{id}\n")).collect();
        let path = self.workplace.memory_home()?.join(REJECTED_LESSONS);
        let is_known = fs::read_to_string(&path).is_ok_and(|known| known == text);
        if is_known || text.is_empty() && !path.exists() {
            return Ok(());
        }
        if text.is_empty() { owned::remove(&path) } else { owned::replace(&path, &text) }
    }

    /// The lessons that were rejected on this machine. Their notes are shared, and stay as they are.
    pub fn rejected_lessons(&self) -> RejectedLessons {
        let read = |home: PathBuf| fs::read_to_string(home.join(REJECTED_LESSONS)).ok();
        let text = self.workplace.memory_home().ok().and_then(read).unwrap_or_default();
        RejectedLessons(text.lines().map(str::to_owned).collect())
    }

    /// What an id names, and the whole of it.
    fn subject(&self, id: &str, warnings: &mut Vec<String>) -> Result<(&'static str, String), Error> {
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
            return Ok(("thread", self.memory().threads().show(id)?.thread.id));
        }
        if let Some(memory) = self.memory().open()?
            && let Ok(session) = memory.session(id)
        {
            return Ok(("title", session.record.name));
        }
        if let Ok(repository) = self.workplace.repository()
            && let [claim] = chronicle_commits::claims_called(repository, id)?.as_slice()
        {
            warnings.extend(claim.is_disputed.then(|| chronicle_commits::disputed(&claim.id.0)));
            let of_others = if claim.tier() == Tier::Unknown { OF_OTHERS } else { "" };
            return Ok(("lesson", format!("{}{of_others}", claim.id.0)));
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
