//! Finds what was said and done in sessions.

mod about;
mod differing;
mod fix;
mod how;
mod snippet;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

pub(crate) use about::n_words;
pub use about::{About, AboutCommand, AboutCommit, AboutDecision, AboutFile, AboutSession, AboutThread};
use chronicle_search::{
    Hit, NamedSession, Question, Scope as SearchScope, SessionRecord, StoredTurn, TurnKind, search,
};
use chronicle_sessions::shortened;
use chronicle_workplace::{Error, error::EmptyQuestionSnafu};
pub use differing::{Differing, Statement};
pub use fix::{Fix, FixCommand, FixOutcome, Fixed, Worked};
pub use how::{How, HowCommand, Invocation, Procedure, Step};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::ensure;
pub use snippet::Snippet;
pub(crate) use snippet::snippet;

use crate::{
    Memory,
    memory::{OpenMemory, Scope},
    sessions::{
        ChangedSince,
        files_since::{changed_since, own_commit},
        look::Digested,
    },
};

/// How many hits of other projects are counted.
const MOST_COUNTED: usize = 100;

/// How many turns are looked at for sessions that decided something later.
const LOOKED_AT: usize = 30;

/// How many sessions are compared with the present files.
const MOST_COMPARED: usize = 3;

/// The longest account of what came of a session.
const LONGEST_RESULT: usize = 160;

/// The kinds of turns, as they are called in questions and answers.
pub const TURN_KINDS: [&str; 13] = {
    let mut names = [""; 13];
    let mut at = 0;
    while at < names.len() {
        names[at] = TurnKind::ALL[at].name();
        at += 1;
    }
    names
};

/// What to find, and where.
#[derive(Debug, Clone, Default)]
pub struct FindCommand {
    /// The question, in the user's words.
    pub query: String,
    /// In this project instead of the current one.
    pub project: Option<String>,
    /// In every project.
    pub is_all: bool,
    /// On this branch.
    pub branch: Option<String>,
    /// Since this date, or for so long.
    pub since: Option<String>,
    /// In sessions that changed this file.
    pub file: Option<String>,
    /// Of these kinds; all where none is named.
    pub kinds: Vec<String>,
    /// At most so many hits.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Always `chronicle-find/v1`.
    pub schema: &'static str,
    /// The question.
    pub query: String,
    /// The project that was searched; null when all were.
    pub project: Option<String>,
    /// What humans said in different ways among these hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differing: Option<Differing>,
    /// The best turns, the best first.
    pub hits: Vec<FoundTurn>,
    /// What other projects have, where this one has nothing.
    pub elsewhere: Elsewhere,
    /// What could not be taken into account, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What other projects have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Elsewhere {
    /// How many hits; 100 where there are more.
    pub hits: usize,
    /// In how many projects.
    pub projects: usize,
}

/// A turn that was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FoundTurn {
    /// The id of its session.
    pub session: String,
    /// What the session was about.
    pub title: String,
    /// The project of the session.
    pub project: String,
    /// The branch that the session worked on last.
    pub branch: Option<String>,
    /// The id that the agent gave the turn; empty for none.
    pub turn: String,
    /// The line of the transcript on which it begins.
    pub line: u64,
    /// When it happened.
    pub at: Option<String>,
    /// What kind it is.
    pub kind: &'static str,
    /// Who spoke, where that is told.
    pub speaker: Option<String>,
    /// The sub-agent that did it.
    pub sub_agent: Option<String>,
    /// Whether a call worked, if that is known.
    pub ok: Option<bool>,
    /// How well it answers: to be compared within one answer only.
    pub score: f64,
    /// The part of it that answers.
    pub snippet: Snippet,
    /// The commit that the session made next.
    pub commit: Option<String>,
    /// What came of the session.
    pub result: Option<String>,
    /// Which files of the session are not as it left them; in the first hit of each of the first sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_since: Option<ChangedSince>,
    /// What a later session of the project decided in these words.
    pub decided_later: Option<LaterDecision>,
}

/// What a later session decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LaterDecision {
    /// The id of that session.
    pub session: String,
    /// When it ended.
    pub at: Option<String>,
    /// The decision, in the words of the session.
    pub decision: String,
}

impl Memory<'_> {
    /// Finds the turns that answer a question best.
    ///
    /// # Errors
    /// When the question has no words to look for, the project is not known, or the store cannot be read.
    pub fn find(&self, command: &FindCommand) -> Result<Finding, Error> {
        let mut question = asked(&command.query)?;
        let mut finding = Finding {
            schema: "chronicle-find/v1",
            query: command.query.clone(),
            project: None,
            differing: None,
            hits: Vec::new(),
            elsewhere: Elsewhere::default(),
            warnings: Vec::new(),
        };
        let scope = self.search_scope(command)?;
        let Some(memory) = self.open()? else { return Ok(finding) };
        let place = self.memory_scope(&memory, command.project.as_deref(), command.is_all)?;
        if let Scope::One(project) = &place {
            finding.project = Some(project.name.clone());
        }
        if place != Scope::Unknown {
            let scope = SearchScope { project: place.project(), ..scope.clone() };
            let found = self.best_turns(&memory, (command, &scope), &mut question, &mut finding.warnings)?;
            finding.hits = memory.told(&mut question, found, command.limit)?;
            finding.differing = differing::differing(&command.query, &mut question, &finding.hits);
            self.compare_files(&memory, &mut finding.hits)?;
        }
        if finding.hits.is_empty() && 0 < command.limit && place != Scope::All {
            finding.elsewhere = memory.elsewhere(&question, &scope)?;
        }
        Ok(finding)
    }

    /// The turns that answer a question best: by words, and by the vectors of a model where the user chose one.
    fn best_turns(
        &self,
        memory: &OpenMemory,
        (command, scope): (&FindCommand, &SearchScope),
        question: &mut Question,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Hit>, Error> {
        match self.question_vector(memory, &command.query) {
            Ok(Some((embedder, vector))) => question.compare_with(&embedder, vector),
            Ok(None) => {}
            Err(error) => warnings.push(format!("found by words alone: {error}")),
        }
        let limit = if command.limit == 0 { 0 } else { command.limit.max(LOOKED_AT) };
        memory.found(question, scope, limit)
    }

    /// Says of the first sessions of the current project which of their files are not as their last commit has them. What a
    /// session without one left would be found by reading thousands of commits.
    fn compare_files(&self, memory: &OpenMemory, hits: &mut [FoundTurn]) -> Result<(), Error> {
        // An answer without it is better than none.
        let Ok(repository) = self.workplace.repository() else { return Ok(()) };
        let Some(here) = memory.project_of(self.workplace.directory())? else { return Ok(()) };
        let mut compared: Vec<String> = Vec::new();
        for hit in hits {
            if compared.len() == MOST_COMPARED {
                break;
            }
            if compared.contains(&hit.session) {
                continue;
            }
            compared.push(hit.session.clone());
            let session = memory.session(&hit.session)?;
            if session.record.project == here.id
                && let Some(digest) = session.digest().filter(|digest| !digest.files.is_empty())
                && let Some(commit) = own_commit(repository, &digest)
            {
                hit.changed_since = changed_since(repository, &session, &digest, commit);
            }
        }
        Ok(())
    }

    /// Where to look, but for the project.
    fn search_scope(&self, command: &FindCommand) -> Result<SearchScope, Error> {
        Ok(SearchScope {
            project: None,
            branch: command.branch.clone(),
            file: command.file.as_deref().map(|path| path.trim_start_matches("./").to_owned()),
            since: command.since.as_deref().map(|text| self.moment_before(text)).transpose()?,
            kinds: command.kinds.iter().filter_map(|name| TurnKind::of(name)).collect(),
        })
    }
}

impl OpenMemory {
    pub(crate) fn found(
        &self,
        question: &Question,
        scope: &SearchScope,
        limit: usize,
    ) -> Result<Vec<Hit>, Error> {
        Ok(self.store.read(|connection| search(connection, question, scope, limit))?)
    }

    /// What other projects have.
    fn elsewhere(&self, question: &Question, scope: &SearchScope) -> Result<Elsewhere, Error> {
        let found = self.found(question, scope, MOST_COUNTED)?;
        let sessions: BTreeSet<_> = found.iter().map(|hit| hit.turn.session).collect();
        let mut projects = BTreeSet::new();
        for session in sessions {
            let session = self.store.read(|connection| NamedSession::by_id(connection, session))?;
            projects.extend(session.map(|session| session.record.project));
        }
        Ok(Elsewhere { hits: found.len(), projects: projects.len() })
    }

    /// What is told of the first `limit` of the turns that were found. Decisions of the sessions of all of them are looked
    /// at; one counts as on the same matter where it has at least two words of the question, and half of them.
    fn told(&self, question: &mut Question, found: Vec<Hit>, limit: usize) -> Result<Vec<FoundTurn>, Error> {
        let mut sessions = BTreeMap::new();
        let mut told = Vec::new();
        for Hit { turn, .. } in &found {
            if let std::collections::btree_map::Entry::Vacant(vacant) = sessions.entry(turn.session) {
                let session = self.store.read(|connection| NamedSession::by_id(connection, turn.session))?;
                let Some(session) = session else { continue };
                let commits = self.store.read(|connection| session.commit_turns(connection))?;
                let project = self.project_name(&session)?;
                let digest = session.digest();
                let result = digest.as_ref().map(|digest| shortened(&digest.summary, LONGEST_RESULT));
                let decisions = digest.map(|digest| digest.decisions).unwrap_or_default();
                let decisions = decisions.into_iter().filter(|words| is_on(question, words)).collect();
                let result = result.filter(|result| !result.is_empty());
                vacant.insert(FoundSession { record: session.record, project, commits, result, decisions });
            }
        }
        for Hit { turn, score } in found.into_iter().take(limit) {
            let Some(of) = sessions.get(&turn.session) else { continue };
            let FoundSession { record: session, project, commits, .. } = of;
            let next = commits.iter().find(|(position, _)| turn.position <= *position);
            let snippet = snippet(question, &told_text(&turn));
            told.push(FoundTurn {
                session: session.name.clone(),
                title: session.title.clone(),
                project: project.clone(),
                branch: session.branch.clone(),
                turn: turn.name,
                line: turn.line,
                at: turn.at.map(|at| at.to_string()),
                kind: turn.kind.name(),
                speaker: turn.speaker,
                sub_agent: turn.sub_agent,
                ok: turn.is_ok,
                score: (score * 1e4).round() / 1e4,
                snippet,
                commit: next.map(|(_, commit)| commit.clone()),
                result: of.result.clone(),
                changed_since: None,
                decided_later: of.decided_later(sessions.values()),
            });
        }
        Ok(told)
    }
}

/// What is known of a session that has a hit.
struct FoundSession {
    record: SessionRecord,
    project: String,
    commits: Vec<(i64, String)>,
    result: Option<String>,
    /// What it decided in the words of the question.
    decisions: Vec<String>,
}

impl FoundSession {
    /// The latest decision of those sessions of its project that ended after it.
    fn decided_later<'s>(&self, sessions: impl Iterator<Item = &'s Self>) -> Option<LaterDecision> {
        let is_later = |other: &&Self| {
            other.record.project == self.record.project && self.record.last < other.record.last
        };
        let with_decision = sessions.filter(is_later).filter(|other| !other.decisions.is_empty());
        let later = with_decision.max_by_key(|other| other.record.last)?;
        Some(LaterDecision {
            session: later.record.name.clone(),
            at: later.record.last.map(|at| at.to_string()),
            decision: later.decisions.last()?.clone(),
        })
    }
}

/// Whether a decision is on the matter of a question.
fn is_on(question: &mut Question, decision: &str) -> bool {
    let n_words = n_words(question, decision);
    2 <= n_words && question.n_words() <= 2 * n_words
}

/// What is told of a turn: its text, and what came back.
pub(crate) fn told_text(turn: &StoredTurn) -> Cow<'_, str> {
    match &turn.answer {
        Some(answer) => Cow::Owned(format!("{} → {answer}", turn.text)),
        None => Cow::Borrowed(&turn.text),
    }
}

/// The words of a question, of which there must be some.
fn asked(query: &str) -> Result<Question, Error> {
    let question = Question::new(query);
    ensure!(!question.is_empty(), EmptyQuestionSnafu { reason: reason_of(query) });
    Ok(question)
}

/// Why there is nothing to look for in a question.
fn reason_of(query: &str) -> &'static str {
    if query.chars().any(char::is_alphanumeric) {
        "the question has only words that say nothing by themselves"
    } else {
        "the question is empty"
    }
}
