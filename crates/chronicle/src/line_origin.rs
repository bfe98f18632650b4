//! From lines of code to the sessions that wrote them.
//!
//! An edit is recognised by the text that it wrote, by its file and by the commit that its session made; never by time
//! alone. Where two sessions may have written a line, it is said to be likely at most.

use std::collections::BTreeMap;

use chronicle_commits::Written;
use chronicle_core::{LineRange, parse_time};
use chronicle_memory::{OpenMemory, Scope};
use chronicle_search::{NamedSession, SessionId, StoredEdit, StoredTurn, TurnKind};
use chronicle_sessions::{Edited, FileLines, Likeness, shortened};
use chronicle_workplace::Error;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, why::runs};

/// Letters of a line and its neighbours below which an edit explains nothing.
const LEAST_LETTERS: usize = 6;

/// Letters from which an edit can be told for certain.
const CERTAIN_LETTERS: usize = 12;

/// Letters from which it is certain though another session made the commit.
const DISTINCT_LETTERS: usize = 24;

/// How far the clocks of an agent and of git may be apart.
const CLOCK_DRIFT: SignedDuration = SignedDuration::from_mins(2);

/// How much of a request, and of each word on the way to the edit, is quoted.
const LONGEST_REQUEST: usize = 600;
const LONGEST_WORD: usize = 600;

/// Words of the agent around the edit that are quoted.
const MOST_WORDS: usize = 2;

/// A session that wrote some of the lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    /// The lines, as they are now.
    pub lines: Vec<LineRange>,
    /// How sure that is.
    pub certainty: Certainty,
    /// What shows it.
    pub evidence: String,
    /// The session.
    pub session: String,
    /// The agent.
    pub agent: String,
    /// What the session was about.
    pub title: String,
    /// The id that the agent gave the turn of the edit; none where only the commit is known.
    pub turn: Option<String>,
    /// The line of the transcript on which it begins.
    pub transcript_line: Option<u64>,
    /// When it was made.
    pub at: Option<String>,
    /// The sub-agent that made it.
    pub sub_agent: Option<String>,
    /// What the human had asked for, quoted.
    pub request: Option<String>,
    /// What the agent said around the edit, quoted.
    pub reasoning: Vec<String>,
}

/// How sure it is that a session wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// There is hardly a doubt.
    Certain,
    /// Another one may have.
    Likely,
}

/// An edit of the file, read.
struct FileEdit {
    turn: StoredTurn,
    edited: Edited,
    /// The session of the human, also where a sub-agent made it.
    root: String,
}

/// An edit that explains a line.
#[derive(Clone, Copy)]
struct Candidate<'e> {
    edit: &'e FileEdit,
    likeness: Likeness,
}

/// Which session wrote a line, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// This edit.
    Edit { turn: i64, is_contested: bool, made_commit: bool },
    /// The session made the commit, and no edit of anyone has the line.
    Maker { session: SessionId },
}

impl Chronicle {
    /// The sessions that wrote lines of a file, each with its lines. `names` are those the file had.
    pub(crate) fn origins(
        &self,
        names: &[&str],
        content: &[u8],
        written: &[Written],
    ) -> Result<Vec<Origin>, Error> {
        let memory = match self.memory().open() {
            Err(Error::NoHome) => None,
            opened => opened?,
        };
        let Some(memory) = memory else { return Ok(Vec::new()) };
        let Scope::One(project) = self.memory().memory_scope(&memory, None, false)? else {
            return Ok(Vec::new());
        };
        let edits = edits_of(&memory, project.id, names)?;
        let lines = FileLines::of(content);
        let mut makers: BTreeMap<String, Vec<NamedSession>> = BTreeMap::new();
        let mut since: BTreeMap<String, Option<Timestamp>> = BTreeMap::new();
        let mut found: BTreeMap<Found, (Vec<u32>, bool)> = BTreeMap::new();
        let mut above: Option<(u32, &str, Found)> = None;
        for (line, blamed) in written {
            let commit = blamed.as_ref().map(|blamed| blamed.commit.as_str()).unwrap_or_default();
            if !makers.contains_key(commit) {
                let made = |connection: &_| NamedSession::that_committed(connection, project.id, commit);
                makers.insert(commit.to_owned(), memory.store.read(made)?);
            }
            let made = &makers[commit];
            let roots: Vec<&str> = made.iter().map(root).collect();
            let date =
                blamed.as_ref().and_then(|blamed| parse_time(&blamed.date)).unwrap_or(self.workplace.now());
            let until = date.checked_add(CLOCK_DRIFT).unwrap_or(Timestamp::MAX);
            let at = *line as usize - 1;
            let mut candidates: Vec<Candidate<'_>> = edits
                .iter()
                .filter(|edit| edit.turn.at.is_none_or(|at| at <= until))
                .filter_map(|edit| Some(Candidate { likeness: edit.edited.likeness(&lines, at)?, edit }))
                .collect();
            // What was committed before this commit is not what it brought, unless it waited to be committed.
            let since = match commit {
                "" => None,
                _ if candidates.is_empty() => None,
                commit => *since.entry(commit.to_owned()).or_insert_with(|| self.parent_time(commit)),
            };
            let is_new =
                |one: &Candidate<'_>| since.is_none_or(|since| one.edit.turn.at.is_none_or(|at| since < at));
            let mut alike = candidates.clone();
            keep_likely(&mut alike, 5);
            if candidates.iter().any(is_new) {
                candidates.retain(is_new);
            }
            let is_old = !candidates.iter().any(is_new);
            let is_contested = is_old || several_sessions(&candidates) || several_sessions(&alike);
            keep_likely(&mut candidates, 2);
            let one = decided(&candidates, &roots, is_contested).or_else(|| match &made[..] {
                [only] => Some((Found::Maker { session: only.id }, false)),
                _ => None,
            });
            // A brace belongs to the line above it.
            let one = match &above {
                Some((before, same, above))
                    if before + 1 == *line && *same == commit && !lines.has_letters(at) =>
                {
                    Some((above.clone(), false))
                }
                _ => one,
            };
            above = one.as_ref().map(|(found, _)| (*line, commit, found.clone()));
            if let Some((one, is_sure)) = one {
                let (lines, any_is_sure) = found.entry(one).or_default();
                lines.push(*line);
                *any_is_sure |= is_sure;
            }
        }
        let mut origins: Vec<Origin> = found
            .into_iter()
            .map(|(found, (lines, is_certain))| origin(&memory, &found, &lines, is_certain, &edits))
            .collect::<Result<_, _>>()?;
        origins.sort_by_key(|origin| origin.lines.first().map(|lines| lines.start));
        Ok(origins)
    }

    /// When the commit before `commit` was made.
    fn parent_time(&self, commit: &str) -> Option<Timestamp> {
        let repository = self.workplace.repository().ok()?;
        let commit = repository.commit(repository.resolve(commit).ok()?).ok()?;
        Some(repository.commit(*commit.parents.first()?).ok()?.time)
    }
}

/// The edits of a project that worked on a file with any of these names.
fn edits_of(
    memory: &OpenMemory,
    project: chronicle_search::ProjectId,
    names: &[&str],
) -> Result<Vec<FileEdit>, Error> {
    let mut edits: Vec<FileEdit> = Vec::new();
    for name in names {
        let stored = memory.store.read(|connection| StoredEdit::of_file(connection, Some(project), name))?;
        for StoredEdit { turn, lines } in stored {
            if !is_same_file(&turn.text, name) || edits.iter().any(|known| known.turn.id == turn.id) {
                continue;
            }
            let Some(edited) = Edited::from_bytes(&lines) else { continue };
            let session = session_of(memory, turn.session)?;
            let Some(session) = session else { continue };
            edits.push(FileEdit { root: root(&session).to_owned(), turn, edited });
        }
    }
    Ok(edits)
}

fn session_of(memory: &OpenMemory, id: SessionId) -> Result<Option<NamedSession>, Error> {
    Ok(memory.store.read(|connection| NamedSession::by_id(connection, id))?)
}

/// What there is to tell of a session that wrote lines.
fn origin(
    memory: &OpenMemory,
    found: &Found,
    lines: &[u32],
    is_certain: bool,
    edits: &[FileEdit],
) -> Result<Origin, Error> {
    let (session, edit, evidence) = match found {
        Found::Maker { session } => (*session, None, "it made the commit; none of its edits has these words"),
        Found::Edit { turn, is_contested, made_commit } => {
            let edit = edits.iter().find(|edit| edit.turn.id == *turn).map(|edit| &edit.turn);
            let evidence = match (made_commit, is_contested) {
                (true, false) => "its edit wrote these words, and it made the commit",
                (true, true) => {
                    "its edit wrote these words, and it made the commit; another edit wrote them, too"
                }
                (false, false) => "its edit wrote these words, and no other session's did",
                (false, true) => "its edit wrote such words; another session may have, too",
            };
            (edit.map_or(SessionId(0), |turn| turn.session), edit, evidence)
        }
    };
    let made_by = session_of(memory, session)?;
    // A human talks to the agent, not to its sub-agents.
    let parent = match &made_by {
        Some(own) if own.record.is_sub_agent => {
            let named = own.record.parent.clone().unwrap_or_default();
            memory.store.read(|connection| NamedSession::by_name(connection, &own.record.agent, &named))?
        }
        _ => None,
    };
    let sub_agent = edit.and_then(|turn| turn.sub_agent.clone()).or_else(|| {
        let own = made_by.as_ref().filter(|own| own.record.is_sub_agent)?;
        Some(own.record.name.rsplit('/').next().unwrap_or_default().to_owned())
    });
    let (mut request, mut reasoning) = (None, Vec::new());
    if let Some(turn) = edit {
        let spoken = |session: SessionId, kinds: &[TurnKind], limit: usize| {
            let before = (turn.at, (session == turn.session).then_some(turn.position));
            memory.store.read(|connection| StoredTurn::before(connection, session, before, kinds, limit))
        };
        let prompts = [TurnKind::Prompt];
        let asked = match &parent {
            Some(parent) => spoken(parent.id, &prompts, 1)?,
            None => spoken(turn.session, &prompts, 1)?,
        };
        let asked_at =
            asked.first().filter(|asked| asked.session == turn.session).map(|asked| asked.position);
        request = asked.first().map(|turn| shortened(turn.text.trim(), LONGEST_REQUEST));
        let words = spoken(turn.session, &[TurnKind::Said], MOST_WORDS)?;
        reasoning = words
            .iter()
            .rev()
            .filter(|said| asked_at.is_none_or(|asked_at| asked_at < said.position))
            .map(|said| shortened(said.text.trim(), LONGEST_WORD))
            .collect();
    }
    let told = parent.or(made_by);
    Ok(Origin {
        lines: runs(lines),
        certainty: if is_certain { Certainty::Certain } else { Certainty::Likely },
        evidence: evidence.to_owned(),
        session: told.as_ref().map(|told| told.record.name.clone()).unwrap_or_default(),
        agent: told.as_ref().map(|told| told.record.agent.clone()).unwrap_or_default(),
        title: told.map(|told| told.record.title).unwrap_or_default(),
        turn: edit.map(|turn| turn.name.clone()).filter(|name| !name.is_empty()),
        transcript_line: edit.map(|turn| turn.line),
        at: edit.and_then(|turn| turn.at).map(|at| at.to_string()),
        sub_agent,
        request,
        reasoning,
    })
}

/// The name of the session that a human leads.
fn root(session: &NamedSession) -> &str {
    match &session.record.parent {
        Some(parent) if session.record.is_sub_agent => parent,
        _ => &session.record.name,
    }
}

/// Whether a path as a session names it means the file with this name in the repository.
fn is_same_file(path: &str, name: &str) -> bool {
    let path = path.replace('\\', "/");
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends_with(&path, name) || ends_with(name, path.trim_start_matches("./"))
}

/// Leaves the edits that explain a line with at least one letter where the best one has `most`.
fn keep_likely(candidates: &mut Vec<Candidate<'_>>, most: usize) {
    let best = candidates.iter().map(|one| one.likeness.letters).max().unwrap_or_default();
    candidates.retain(|one| LEAST_LETTERS.max(best.div_ceil(most)) <= one.likeness.letters);
}

fn several_sessions(candidates: &[Candidate<'_>]) -> bool {
    candidates.windows(2).any(|pair| pair[0].edit.root != pair[1].edit.root)
}

/// The edit that wrote the line, if one did, and whether that is sure; `makers` made the commit. A line is contested
/// that several sessions wrote in whatever surroundings, or that nobody wrote since the commit before.
fn decided(candidates: &[Candidate<'_>], makers: &[&str], is_contested: bool) -> Option<(Found, bool)> {
    let is_maker = |one: &&Candidate<'_>| makers.contains(&one.edit.root.as_str());
    let by_makers: Vec<&Candidate<'_>> = candidates.iter().filter(is_maker).collect();
    let pool = if by_makers.is_empty() { candidates.iter().collect() } else { by_makers };
    // Who writes a file whole writes again what was there: then the first one wrote it. Else it is the last one.
    let wrote = pool.iter().rfind(|one| !one.edit.edited.is_whole).or_else(|| pool.first())?;
    let made_commit = is_maker(wrote);
    let letters = wrote.likeness.letters;
    let is_sure = !is_contested
        && CERTAIN_LETTERS <= letters
        && (made_commit || makers.is_empty() || DISTINCT_LETTERS <= letters);
    Some((Found::Edit { turn: wrote.edit.turn.id, is_contested, made_commit }, is_sure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_however_a_session_names_it() {
        for path in
            ["src/pool.rs", "pool.rs", "/home/me/repo/src/pool.rs", "./src/pool.rs", "C:\\repo\\src\\pool.rs"]
        {
            assert!(is_same_file(path, "src/pool.rs"), "{path}");
        }
        for path in ["src/whirlpool.rs", "/x/other/pool.rs", "lib/pool.rs"] {
            assert!(!is_same_file(path, "src/pool.rs"), "{path}");
        }
    }
}
