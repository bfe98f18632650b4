//! What is known about a topic: sessions, decisions, files, commits and threads.

use std::collections::BTreeMap;

use chronicle_core::thread::Thread;
use chronicle_search::{Hit, NamedSession, Question, Scope as SearchScope, SessionId};
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Elsewhere, FoundTurn, asked};
use crate::{
    Memory,
    memory::{OpenMemory, Scope},
    sessions::look::Digested,
};

/// How many turns are looked at.
const LOOKED_AT: usize = 100;

/// How many there are at most of everything but sessions.
const MOST_LISTED: usize = 8;

/// Words that a decision is told with.
const DECIDING: [&str; 14] = [
    "decid",
    "instead of",
    "rather than",
    "because",
    "chose",
    "choose",
    "agreed",
    "settled",
    "never ",
    "always ",
    "must ",
    "go with",
    "let's ",
    "trade-off",
];

/// A topic, and where to look.
#[derive(Debug, Clone, Default)]
pub struct AboutCommand {
    /// The topic, in the user's words.
    pub topic: String,
    /// In this project instead of the current one.
    pub project: Option<String>,
    /// In every project.
    pub is_all: bool,
    /// At most so many sessions.
    pub limit: usize,
}

/// What is known about a topic.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct About {
    /// Always `chronicle-about/v1`.
    pub schema: &'static str,
    /// The topic.
    pub topic: String,
    /// The project that was searched; null when all were.
    pub project: Option<String>,
    /// The sessions that it was about most.
    pub sessions: Vec<AboutSession>,
    /// What these sessions decided in words of the topic, as their digests have it; the latest first.
    pub decided: Vec<AboutDecision>,
    /// Plans, and what reads like a decision.
    pub decisions: Vec<FoundTurn>,
    /// Files that these sessions changed: those named after the topic first.
    pub files: Vec<AboutFile>,
    /// Commits that they made.
    pub commits: Vec<AboutCommit>,
    /// Threads whose words are those of the topic.
    pub threads: Vec<AboutThread>,
    /// What other projects have, where this one has nothing.
    pub elsewhere: Elsewhere,
}

/// A session about a topic.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AboutSession {
    /// Its id.
    pub session: String,
    /// What it was about.
    pub title: String,
    /// Its project.
    pub project: String,
    /// The branch it worked on last.
    pub branch: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
    /// What was asked and what came of it.
    pub summary: String,
    /// How many of the best turns are its own.
    pub hits: usize,
}

/// What a session about a topic decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AboutDecision {
    /// The decision, in the words of the session.
    pub decision: String,
    /// The session.
    pub session: String,
    /// When it ended.
    pub ended: Option<String>,
}

/// A file that sessions about a topic changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AboutFile {
    /// Its path.
    pub path: String,
    /// How many of the sessions changed it.
    pub sessions: usize,
    /// How often they did.
    pub changes: u64,
}

/// A commit that a session about a topic made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AboutCommit {
    /// Its id, as short as git printed it.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// The session.
    pub session: String,
}

/// A thread about a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AboutThread {
    /// Its id.
    pub thread: String,
    /// Where in its life it is.
    pub status: String,
    /// What is to be done.
    pub summary: String,
    /// The session that told of it first.
    pub session: Option<String>,
}

impl Memory<'_> {
    /// Gathers what is known about a topic.
    ///
    /// # Errors
    /// When the topic has no words to look for, the project is not known, or the store cannot be read.
    pub fn about(&self, command: &AboutCommand) -> Result<About, Error> {
        let mut question = asked(&command.topic)?;
        let mut about = About {
            schema: "chronicle-about/v1",
            topic: command.topic.clone(),
            project: None,
            sessions: Vec::new(),
            decided: Vec::new(),
            decisions: Vec::new(),
            files: Vec::new(),
            commits: Vec::new(),
            threads: Vec::new(),
            elsewhere: Elsewhere::default(),
        };
        let Some(memory) = self.open()? else { return Ok(about) };
        let place = self.memory_scope(&memory, command.project.as_deref(), command.is_all)?;
        if let Scope::One(project) = &place {
            about.project = Some(project.name.clone());
        }
        let scope = SearchScope { project: place.project(), ..SearchScope::default() };
        if place != Scope::Unknown {
            let hits = memory.found(&question, &scope, LOOKED_AT)?;
            let sessions = memory.best_sessions(&hits, command.limit)?;
            about.files = files(&memory, &sessions, &mut question)?;
            about.commits = commits(&sessions, &mut question);
            about.decided = decided(&sessions, &mut question);
            about.sessions = about_sessions(&memory, &sessions)?;
            about.decisions = decisions(memory.told(&mut question, hits, LOOKED_AT)?);
            about.threads = threads(memory.store.threads(scope.project, false)?, &mut question);
        }
        if about.sessions.is_empty() && 0 < command.limit && place != Scope::All {
            about.elsewhere = memory.elsewhere(&question, &SearchScope::default())?;
        }
        Ok(about)
    }
}

/// A session, and how many of the best turns are its own.
pub(super) struct BestSession {
    pub(super) session: NamedSession,
    pub(super) n_hits: usize,
    /// Where its best turn is.
    pub(super) position: i64,
}

impl OpenMemory {
    /// The sessions of the best turns, that with the best of all first.
    pub(super) fn best_sessions(&self, hits: &[Hit], limit: usize) -> Result<Vec<BestSession>, Error> {
        let mut counted: Vec<(SessionId, usize, i64)> = Vec::new();
        for hit in hits {
            match counted.iter_mut().find(|(session, ..)| *session == hit.turn.session) {
                Some((_, n_hits, _)) => *n_hits += 1,
                None => counted.push((hit.turn.session, 1, hit.turn.position)),
            }
        }
        let mut best = Vec::new();
        for (session, n_hits, position) in counted.into_iter().take(limit) {
            let session = self.store.read(|connection| NamedSession::by_id(connection, session))?;
            best.extend(session.map(|session| BestSession { session, n_hits, position }));
        }
        Ok(best)
    }
}

fn about_sessions(memory: &OpenMemory, sessions: &[BestSession]) -> Result<Vec<AboutSession>, Error> {
    let about = |best: &BestSession| {
        let record = &best.session.record;
        Ok(AboutSession {
            session: record.name.clone(),
            title: record.title.clone(),
            project: memory.project_name(&best.session)?,
            branch: record.branch.clone(),
            ended: record.last.map(|at| at.to_string()),
            summary: best.session.digest().map(|digest| digest.summary).unwrap_or_default(),
            hits: best.n_hits,
        })
    };
    sessions.iter().map(about).collect()
}

fn files(
    memory: &OpenMemory,
    sessions: &[BestSession],
    question: &mut Question,
) -> Result<Vec<AboutFile>, Error> {
    let mut by_path: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for best in sessions {
        for (path, n_changes) in memory.store.read(|connection| best.session.files(connection))? {
            let known = by_path.entry(path).or_default();
            known.0 += 1;
            known.1 += n_changes;
        }
    }
    let mut files: Vec<(usize, AboutFile)> = by_path
        .into_iter()
        .map(|(path, (sessions, changes))| (n_words(question, &path), AboutFile { path, sessions, changes }))
        .collect();
    files.sort_by_key(|(n_words, file)| std::cmp::Reverse((*n_words, file.sessions, file.changes)));
    Ok(files.into_iter().map(|(_, file)| file).take(MOST_LISTED).collect())
}

/// The commits of the sessions: those whose subjects name the topic, if any do.
fn commits(sessions: &[BestSession], question: &mut Question) -> Vec<AboutCommit> {
    let mut commits = Vec::new();
    for best in sessions {
        for commit in best.session.digest().map(|digest| digest.commits).unwrap_or_default() {
            let n_words = n_words(question, &commit.subject);
            let session = best.session.record.name.clone();
            commits.push((n_words, AboutCommit { commit: commit.id, subject: commit.subject, session }));
        }
    }
    if commits.iter().any(|(n_words, _)| 0 < *n_words) {
        commits.retain(|(n_words, _)| 0 < *n_words);
    }
    commits.sort_by_key(|(n_words, _)| std::cmp::Reverse(*n_words));
    commits.into_iter().map(|(_, commit)| commit).take(MOST_LISTED).collect()
}

/// What sessions decided in words of the topic: all of one or two, half of more.
fn decided(sessions: &[BestSession], question: &mut Question) -> Vec<AboutDecision> {
    let least = question.n_words().div_ceil(2).max(question.n_words().min(2));
    let mut decided = Vec::new();
    for best in sessions {
        let record = &best.session.record;
        for decision in best.session.digest().map(|digest| digest.decisions).unwrap_or_default() {
            if least <= n_words(question, &decision) {
                let ended = record.last.map(|at| at.to_string());
                decided.push(AboutDecision { decision, session: record.name.clone(), ended });
            }
        }
    }
    decided.sort_by(|left, right| right.ended.cmp(&left.ended));
    decided.truncate(MOST_LISTED);
    decided
}

/// Of the turns that were found, those that decide something.
fn decisions(found: Vec<FoundTurn>) -> Vec<FoundTurn> {
    let decides = |turn: &FoundTurn| {
        let words = turn.snippet.text.to_lowercase();
        let is_told = DECIDING.iter().any(|word| words.contains(word));
        turn.kind == "plan" || (is_told && ["prompt", "said", "summary"].contains(&turn.kind))
    };
    let about = |turn: &FoundTurn| !turn.snippet.marks.is_empty();
    found.into_iter().filter(|turn| about(turn) && decides(turn)).take(MOST_LISTED).collect()
}

/// The threads that have half of the words at least, the open ones first.
fn threads(threads: Vec<Thread>, question: &mut Question) -> Vec<AboutThread> {
    let least = question.n_words().div_ceil(2);
    let mut about: Vec<(usize, Thread)> = threads
        .into_iter()
        .map(|thread| {
            (n_words(question, &[&thread.summary, thread.told(), &thread.context].join("\n")), thread)
        })
        .filter(|(n_words, _)| least <= *n_words)
        .collect();
    about.sort_by_key(|(n_words, thread)| {
        std::cmp::Reverse((thread.is_open(), *n_words, thread.last_mentioned))
    });
    let told = |(_, thread): (usize, Thread)| AboutThread {
        status: serde_json::to_value(thread.status)
            .ok()
            .and_then(|status| Some(status.as_str()?.to_owned()))
            .unwrap_or_default(),
        summary: thread.told().to_owned(),
        thread: thread.id.0,
        session: thread.session,
    };
    about.into_iter().take(MOST_LISTED).map(told).collect()
}

/// How many of the words of the question `text` has.
pub(crate) fn n_words(question: &mut Question, text: &str) -> usize {
    let mut found: Vec<usize> = question.places(text).into_iter().map(|(word, _)| word).collect();
    found.sort_unstable();
    found.dedup();
    found.len()
}
