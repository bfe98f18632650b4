//! One thread with everything that happened to it, and where that can be read.

use chronicle_core::thread::{Change, Evidence, ThreadEvent};
use chronicle_search::{Connection, NamedSession, Source, SqlResult, StoredTurn};
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use super::OpenItem;
use crate::Threads;

/// One thread, and everything that happened to it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShownThread {
    /// Always `chronicle-thread-history/v1`.
    pub schema: &'static str,
    /// The thread.
    pub thread: OpenItem,
    /// What happened, oldest first.
    pub history: Vec<HistoryLine>,
}

/// One thing that happened to a thread.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryLine {
    /// When.
    pub time: Option<String>,
    /// What happened, such as `opened` or `resolved`.
    pub what: String,
    /// What was said or done there.
    pub words: String,
    /// The session; null when it was done by hand.
    pub session: Option<String>,
    /// The turn of the session, a commit, or `by hand`.
    pub source: String,
    /// The transcript.
    pub transcript: Option<String>,
    /// The line of the transcript.
    pub line: Option<u64>,
}

impl Threads<'_> {
    /// The thread that `id` names, with its history.
    ///
    /// # Errors
    /// When it names none or several, or session memory cannot be read.
    pub fn show(&self, id: &str) -> Result<ShownThread, Error> {
        let Some(memory) = self.memory().open()? else { return Err(self.unknown_thread(id)) };
        let listed = self.one_thread(&memory, id)?;
        let events = memory.store.thread_events(&listed.thread.id.0)?;
        let mut history = Vec::new();
        for (number, event) in events.iter().enumerate() {
            for line in lines(event, number == 0) {
                history.push(memory.store.read(|connection| located(connection, line))?);
            }
        }
        Ok(ShownThread {
            schema: "chronicle-thread-history/v1",
            thread: OpenItem::of(&memory.store, &listed, self.workplace.now())?,
            history,
        })
    }
}

/// An event in words, once for each thing that shows it.
fn lines(event: &ThreadEvent, is_first: bool) -> Vec<HistoryLine> {
    let (what, note, evidence): (String, Option<&str>, &[Evidence]) = match &event.change {
        Change::Opened(opening) if is_first => ("opened".into(), None, &opening.evidence),
        Change::Opened(opening) => ("mentioned".into(), None, &opening.evidence),
        Change::Begun => ("begun".into(), None, &[]),
        Change::PutBack => ("put back".into(), None, &[]),
        Change::Resolved(closing) => {
            (format!("resolved, {}", closing.how.name()), closing.note.as_deref(), &closing.evidence)
        }
        Change::Dropped(closing) => ("dropped".into(), closing.note.as_deref(), &closing.evidence),
        Change::Proposed(closing) => {
            (format!("looks {}", closing.how.name()), closing.note.as_deref(), &closing.evidence)
        }
        Change::Reopened => ("open again".into(), None, &[]),
        Change::Prioritised(priority) => (format!("priority {}", priority.name()), None, &[]),
        Change::BlockedBy(other) => (format!("blocked by {}", other.0), None, &[]),
        Change::UnblockedFrom(other) => (format!("no longer blocked by {}", other.0), None, &[]),
        Change::Linked(other) => (format!("linked to {}", other.0), None, &[]),
        Change::Worded(worded) => (format!("worded by {}", worded.by), Some(&worded.summary), &[]),
    };
    let line = |evidence: Option<&Evidence>| HistoryLine {
        time: event.at.map(|at| at.to_string()),
        what: what.clone(),
        words: evidence.map(|evidence| evidence.words.as_str()).or(note).unwrap_or_default().to_owned(),
        session: evidence.and_then(|evidence| evidence.session.clone()).or_else(|| event.session.clone()),
        source: evidence.map_or_else(
            || if event.session.is_none() { "by hand".to_owned() } else { String::new() },
            |evidence| evidence.source.clone(),
        ),
        transcript: None,
        line: None,
    };
    if evidence.is_empty() {
        vec![line(None)]
    } else {
        evidence.iter().map(|shows| line(Some(shows))).collect()
    }
}

/// Finds the transcript, and the line of it, that a line of a history stands in.
fn located(connection: &Connection, mut line: HistoryLine) -> SqlResult<HistoryLine> {
    let Some(name) = &line.session else { return Ok(line) };
    let called = NamedSession::by_start(connection, name, 2)?;
    let Some(session) = called.into_iter().find(|session| session.record.name == *name) else {
        return Ok(line);
    };
    let turn = StoredTurn::by_name(connection, session.id, &line.source)?;
    let told = || line.source.strip_prefix("line ")?.parse().ok();
    line.line = turn.map(|turn| turn.line).or_else(told);
    let sources = Source::of_session(connection, session.id)?;
    line.transcript = sources.into_iter().next().map(|source| source.path);
    Ok(line)
}
