//! Commits that a session made though its transcript does not name them: quietly (`git commit -q`), by a script, through
//! a forge, or by hand on the files that it had just edited.
//!
//! What HEAD was moved to, and when, is in git's own log. A move counts where the session ran a command that may commit
//! at that time, or where the commit changes nothing but files that it edited since the commit before.

use std::{collections::BTreeMap, path::Path};

use chronicle_git::{HeadMove, ObjectId, Repository};
use chronicle_search::{NamedSession, SessionId, StoredTurn, TurnKind};
use chronicle_sessions::{may_commit, names_words_of};
use chronicle_workplace::{Error, Workplace};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::memory::OpenMemory;

/// How far the clocks of an agent and of git are apart at most: git's log knows only seconds.
const DRIFT: SignedDuration = SignedDuration::from_secs(2);
/// A command that runs longer than this is not waited for.
const LONGEST_COMMAND: SignedDuration = SignedDuration::from_mins(10);
/// How long after the end of a session its work may be committed by hand.
const AFTERWARDS: SignedDuration = SignedDuration::from_mins(10);
/// More files are changed by no commit that is made by hand of what a session edited.
const MOST_FILES: usize = 200;

/// The moves of HEAD in the folders of sessions, each read once.
#[derive(Default)]
pub(super) struct Moves(BTreeMap<String, Option<InFolder>>);

struct InFolder {
    workplace: Workplace,
    moves: Vec<HeadMove>,
}

impl Moves {
    fn of(&mut self, workplace: &Workplace, folder: &str) -> Option<&InFolder> {
        let read = || {
            let path = Path::new(folder);
            let here = workplace.at(path);
            if !path.is_dir() || here.is_distrusted() {
                return None;
            }
            let moves = here.repository().ok()?.head_moves();
            Some(InFolder { workplace: here, moves })
        };
        self.0.entry(folder.to_owned()).or_insert_with(read).as_ref()
    }
}

/// Adds to a session the commits that it made without a word.
pub(super) fn add_commits(
    workplace: &Workplace,
    memory: &mut OpenMemory,
    moves: &mut Moves,
    id: SessionId,
) -> Result<(), Error> {
    let Some(session) = memory.store.read(|connection| NamedSession::by_id(connection, id))? else {
        return Ok(());
    };
    let record = &session.record;
    let (Some(first), Some(last)) = (record.first, record.last) else { return Ok(()) };
    let Some(there) = moves.of(workplace, &record.folder) else { return Ok(()) };
    let until = last.checked_add(AFTERWARDS).unwrap_or(last);
    let known: Vec<String> = memory.store.read(|connection| session.commits(connection))?;
    let is_known = |commit: &str| known.iter().any(|known| commit.starts_with(known.as_str()));
    let in_time = there.moves.iter().filter(|one| (first..=until).contains(&one.at));
    let unknown: Vec<&HeadMove> = in_time.filter(|one| !is_known(&one.to.to_string())).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let turns = memory.store.read(|connection| StoredTurn::of_session(connection, id))?;
    let Ok(repository) = there.workplace.repository() else { return Ok(()) };
    let made = Made { turns: &turns, moves: &there.moves, repository };
    let mut commits: Vec<[String; 3]> = Vec::new();
    let mut found: Vec<&HeadMove> = Vec::new();
    for one in unknown {
        let command = made.by_command(one);
        if command.is_none() && !made.of_edits(one) {
            continue;
        }
        // The words of a message count as the session's where it said them itself.
        let subject =
            Some(&one.subject).filter(|words| command.is_some_and(|said| names_words_of(said, words)));
        commits.push([one.to.to_string(), String::new(), subject.cloned().unwrap_or_default()]);
        found.push(one);
    }
    if commits.is_empty() {
        return Ok(());
    }
    memory.store.write(|tx| {
        session.add_commits(tx, &commits)?;
        let mut record = session.record.clone();
        let mut digest: Value = serde_json::from_str(&record.digest).unwrap_or_default();
        if let Some(list) = digest["commits"].as_array_mut() {
            list.extend(commits.iter().map(|[id, branch, subject]| {
                json!({ "id": id.get(..12).unwrap_or(id), "branch": branch, "subject": subject })
            }));
            if let Some(paths) = digest.get_mut("uncommitted").and_then(Value::as_array_mut) {
                paths.retain(|path| {
                    let path = path.as_str().unwrap_or_default();
                    !found.iter().any(|one| made.holds(one, path))
                });
            }
            record.digest = digest.to_string();
            record.put(tx)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// What tells whether a session made a commit.
struct Made<'a> {
    turns: &'a [StoredTurn],
    moves: &'a [HeadMove],
    repository: &'a Repository,
}

impl<'a> Made<'a> {
    /// The command that ran when HEAD moved, if it may commit.
    fn by_command(&self, one: &HeadMove) -> Option<&'a str> {
        if one.is_fetched {
            return self.on_a_forge(one.to);
        }
        if !one.makes_commit {
            return None;
        }
        self.running_at(one.at, may_commit)
    }

    /// The command that ran at `at`, from when it was called to the next turn, if that `is_it`. Where none ran, clocks may
    /// be apart.
    fn running_at(&self, at: Timestamp, is_it: impl Fn(&str) -> bool) -> Option<&'a str> {
        let ran = |drift: SignedDuration| {
            let commands = self.turns.iter().filter(|turn| turn.kind == TurnKind::Command);
            commands.rev().filter(move |command| {
                let Some(begun) = command.at else { return false };
                let next = self.turns.iter().filter_map(|turn| turn.at).filter(|next| begun < *next).min();
                let longest = begun.saturating_add(LONGEST_COMMAND).unwrap_or(begun);
                let ended = next.map_or(longest, |next| next.min(longest));
                // Git's log leaves out what is less than a second.
                let begun = begun.as_second() - drift.as_secs();
                (begun..ended.as_second().max(begun + 1) + drift.as_secs()).contains(&at.as_second())
            })
        };
        let mut at_once = ran(SignedDuration::ZERO).peekable();
        if at_once.peek().is_some() {
            return at_once.find(|command| is_it(&command.text)).map(|command| command.text.as_str());
        }
        ran(DRIFT).find(|command| is_it(&command.text)).map(|command| command.text.as_str())
    }

    /// The command that merged on the forge what was fetched later.
    fn on_a_forge(&self, commit: ObjectId) -> Option<&'a str> {
        let committed = self.repository.commit(commit).ok()?.time;
        self.running_at(committed, |command| command.contains("pr merge"))
    }

    /// Whether the commit changes nothing but files that the session edited since the commit before.
    fn of_edits(&self, one: &HeadMove) -> bool {
        if !one.makes_commit {
            return false;
        }
        let commits = self.moves.iter().filter(|other| other.makes_commit && other.at < one.at);
        let since = commits.map(|other| other.at).max();
        let is_between = |at: Timestamp| at <= one.at && since.is_none_or(|since| since <= at);
        let edits =
            self.turns.iter().filter(|turn| turn.kind == TurnKind::Edit && turn.at.is_some_and(is_between));
        let edited: Vec<String> = edits.map(|turn| turn.text.replace('\\', "/")).collect();
        if edited.is_empty() {
            return false;
        }
        let Some(changed) = self.changed(one) else { return false };
        let is_edited = |path: &String| edited.iter().any(|edit| is_same_file(edit, path));
        !changed.is_empty() && changed.len() <= MOST_FILES && changed.iter().all(is_edited)
    }

    /// Whether a commit holds an edited file as its last edit left it.
    fn holds(&self, one: &HeadMove, edited: &str) -> bool {
        let is_later = |turn: &StoredTurn| {
            turn.kind == TurnKind::Edit && turn.text == edited && turn.at.is_some_and(|at| one.at < at)
        };
        let changed = self.changed(one).unwrap_or_default();
        changed.iter().any(|path| is_same_file(edited, path)) && !self.turns.iter().any(is_later)
    }

    /// The files that a commit changes.
    fn changed(&self, one: &HeadMove) -> Option<Vec<String>> {
        let commit = self.repository.commit(one.to).ok()?;
        let parent = commit.parents.first().and_then(|parent| self.repository.commit_tree(*parent).ok());
        let changes = self.repository.plain_changes(parent, commit.tree).ok()?;
        Some(changes.iter().map(|change| change.path.to_string()).collect())
    }
}

/// Whether an edit was of a file of the repository: it may name the file by its whole path.
fn is_same_file(edit: &str, path: &str) -> bool {
    edit == path || edit.strip_suffix(path).is_some_and(|rest| rest.ends_with('/'))
}
