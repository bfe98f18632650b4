//! What a session may teach about the commit that it made: proposals, for somebody to confirm.
//!
//! Nothing is stored. Every proposal is quoted from the session and says where it is from.

use std::{collections::BTreeSet, fmt::Write};

use chronicle_commits::{LESSON_OPTIONS, input::SUMMARY_PLACEHOLDER};
use chronicle_core::Category;
use chronicle_memory::OpenMemory;
use chronicle_search::{NamedSession, StoredTurn, TurnKind};
use chronicle_sessions::shortened;
use chronicle_workplace::{Error, error::UnknownSessionSnafu};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Annotator;

/// Proposals of one kind at most.
const MOST_EACH: usize = 4;

/// A proposal is a sentence or two.
const LONGEST: usize = 400;

/// Words of an agent that tell of an attempt that came to nothing.
pub(crate) const FAILED: [&str; 12] = [
    "didn't work",
    "doesn't work",
    "did not work",
    "does not work",
    "won't work",
    "reverted",
    "reverting",
    "revert that",
    "undo that",
    "that approach",
    "turns out",
    "turned out",
];

/// Words that tell of a trap.
pub(crate) const TRAP: [&str; 8] =
    ["careful", "beware", "must not", "never ", "gotcha", "watch out", "silently", "otherwise it"];

/// Words that tell of a reason.
pub(crate) const REASON: [&str; 5] = ["because ", "the reason", "so that ", "in order to", "instead of "];

/// What a session may teach about a commit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Candidates {
    /// Always `chronicle-candidates/v1`.
    pub schema: &'static str,
    /// The commit.
    pub commit: String,
    /// The session that made it.
    pub session: String,
    /// What was asked for, to be made a summary of.
    pub request: Option<String>,
    /// What the lessons may be.
    pub wisdom: Vec<Candidate>,
}

/// One proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Candidate {
    /// The kind of lesson it may be.
    pub category: Category,
    /// The words, quoted.
    pub content: String,
    /// The file of the commit that they name.
    pub file: Option<String>,
    /// Why it is proposed.
    pub because: &'static str,
    /// The id of the turn it is from.
    pub turn: String,
}

impl Annotator<'_> {
    /// What the session that made a commit may teach about it; nothing is stored.
    ///
    /// # Errors
    /// When session memory has no session that made the commit.
    pub fn candidates(&self, revision: Option<&str>) -> Result<Candidates, Error> {
        let repository = self.workplace().repository()?;
        let id = repository.resolve(revision.unwrap_or("HEAD"))?;
        let commit = repository.commit(id)?;
        let parent = commit.parents.first().map(|parent| repository.commit(*parent)).transpose()?;
        let changes = repository.plain_changes(parent.map(|parent| parent.tree), commit.tree)?;
        let files: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
        let name = id.to_string();
        let unknown = || {
            let reason = format!(
                "session memory has no session that made commit {}; `git chronicle session ingest` reads sessions",
                &name[..12]
            );
            UnknownSessionSnafu { reason }.build()
        };
        let (memory, session) = self.maker_of(&name)?.ok_or_else(unknown)?;
        candidates_in(&memory, &session, &name, &files)
    }
}

fn candidates_in(
    memory: &OpenMemory,
    session: &NamedSession,
    commit: &str,
    files: &[String],
) -> Result<Candidates, Error> {
    let turns = memory.store.read(|connection| StoredTurn::of_session(connection, session.id))?;
    let turns = turns_behind(&turns, commit);
    let request = turns.iter().find(|turn| turn.kind == TurnKind::Prompt);
    let mut wisdom = Vec::new();
    let mut propose = |category, because, turn: &StoredTurn, content: &str| {
        let is_known = |known: &Candidate| known.content == content;
        let n_alike = wisdom.iter().filter(|known: &&Candidate| known.category == category).count();
        if n_alike < MOST_EACH && !wisdom.iter().any(is_known) {
            let file = named_in(content, files);
            let content = content.to_owned();
            wisdom.push(Candidate { category, content, file, because, turn: turn.name.clone() });
        }
    };
    for turn in turns.iter().filter(|turn| turn.kind == TurnKind::Said) {
        for sentence in sentences(&turn.text) {
            let small = sentence.to_lowercase();
            let says = |words: &[&str]| words.iter().any(|word| small.contains(word));
            if says(&FAILED) {
                propose(Category::DeadEnd, "the agent says that it came to nothing", turn, sentence);
            } else if says(&TRAP) {
                propose(Category::Gotcha, "the agent warns of it", turn, sentence);
            } else if says(&REASON) {
                propose(Category::Insight, "the agent gives a reason", turn, sentence);
            }
        }
    }
    // What was changed on the way, and is not in the commit, was taken back.
    let mut taken_back = BTreeSet::new();
    for turn in turns.iter().filter(|turn| turn.kind == TurnKind::Edit && turn.is_ok != Some(false)) {
        let is_in = |file: &String| *file == turn.text || turn.text.ends_with(&format!("/{file}"));
        if !files.iter().any(is_in) && taken_back.insert(turn.text.as_str()) {
            let content = format!("`{}` was changed on the way, and is not in the commit", turn.text);
            propose(Category::DeadEnd, "an edit that did not stay", turn, &content);
        }
    }
    Ok(Candidates {
        schema: "chronicle-candidates/v1",
        commit: commit.to_owned(),
        session: session.record.name.clone(),
        request: request.map(|turn| shortened(turn.text.trim(), LONGEST)),
        wisdom,
    })
}

/// What happened before `commit` was made, and after the commit before it.
pub(crate) fn turns_behind<'t>(turns: &'t [StoredTurn], commit: &str) -> &'t [StoredTurn] {
    let is_commit = |turn: &StoredTurn| turn.kind == TurnKind::Commit;
    let names_it = |turn: &StoredTurn| {
        turn.text.split(' ').next().is_some_and(|id| 7 <= id.len() && commit.starts_with(id))
    };
    let end = turns.iter().position(|turn| is_commit(turn) && names_it(turn)).unwrap_or(turns.len());
    let start = turns[..end].iter().rposition(is_commit).map_or(0, |before| before + 1);
    &turns[start..end]
}

/// The sentences of a text that are no code, and neither too short nor too long to be a lesson.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let lines = text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines
        .flat_map(|line| line.split_inclusive(". "))
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '#', ' ']))
        .filter(|sentence| (30..=LONGEST).contains(&sentence.len()))
}

/// The file whose name stands in a text.
fn named_in(text: &str, files: &[String]) -> Option<String> {
    let base = |file: &String| file.rsplit('/').next().unwrap_or(file).to_owned();
    files.iter().find(|file| text.contains(file.as_str()) || text.contains(&base(file))).cloned()
}

impl Candidates {
    /// The command that stores them; its summary is left to who confirms it.
    #[must_use]
    pub fn as_command(&self) -> String {
        let mut command = format!(
            "git chronicle annotate --commit {} --summary {}",
            &self.commit[..12],
            quoted(SUMMARY_PLACEHOLDER)
        );
        for one in &self.wisdom {
            let option = LESSON_OPTIONS.iter().find(|(_, category)| *category == one.category);
            let option = option.map_or("insight", |(name, _)| name);
            let place = one.file.as_deref().filter(|file| !file.contains(char::is_whitespace));
            let place = place.map(|file| format!("{file}: ")).unwrap_or_default();
            let content = chronicle_core::plain(&one.content).replace('\n', " ");
            let _ = write!(command, " \\\n  --{option} {}", quoted(&format!("{place}{content}")));
        }
        command
    }
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
