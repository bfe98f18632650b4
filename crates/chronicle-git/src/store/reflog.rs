//! Git's own logs of what HEAD, and the branches of remotes, were moved to, and when.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice};
use jiff::Timestamp;

use crate::{Repository, disk::files, open::state::leads_elsewhere};

/// Messages of moves that come with a new commit; `merge` and `pull` may move to one that was there.
const MAKING: [&str; 4] = ["commit", "cherry-pick", "revert", "merge"];
/// What a rebase does with a commit, as its messages have it in brackets: each makes another one of it.
const REMAKING: [&str; 5] = ["(pick)", "(reword)", "(edit)", "(squash)", "(fixup)"];
/// Messages of moves to a commit that was there; other programs have words of their own for making one.
const MOVING: [&str; 8] = ["branch", "checkout", "clone", "fetch", "pull", "rebase", "reset", "switch"];
/// Messages of moves to what came from a remote.
const FETCHING: [&str; 3] = ["pull", "fetch", "merge"];
/// More branches of remotes are not looked at.
const MOST_LOGS: usize = 200;

/// A move of HEAD, or of a branch of a remote, to a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadMove {
    /// When, to the second.
    pub at: Timestamp,
    /// The commit.
    pub to: ObjectId,
    /// The first line of the commit's message, as the log has it; empty where it has none.
    pub subject: String,
    /// Whether it was made here by committing.
    pub makes_commit: bool,
    /// Whether it came from a remote.
    pub is_fetched: bool,
}

impl Repository {
    /// Every move of HEAD that its log has, and of the branches of remotes, the oldest of each first; none where logs are
    /// not kept.
    #[must_use]
    pub fn head_moves(&self) -> Vec<HeadMove> {
        let mut logs = Vec::new();
        logs_below(&self.common_dir().join("logs/refs/remotes"), &mut logs);
        let own = log(&self.git_dir().join("logs/HEAD"), false);
        own.into_iter().chain(logs.iter().flat_map(|path| log(path, true))).collect()
    }

    /// What HEAD was before the commit `id` was made on it or in its place; `None` when HEAD is not there
    /// by making a commit, or keeps no log.
    #[must_use]
    pub fn head_before_commit(&self, id: ObjectId) -> Option<ObjectId> {
        let log = files::read(&self.git_dir().join("logs/HEAD"), files::MAX_BYTES).ok()?;
        let (before, moved) = entry(log.lines().next_back()?, false)?;
        (moved.to == id && moved.makes_commit && !before.is_null()).then_some(before)
    }

    /// The commits that were made in this working tree, by committing or rebasing, as the log of HEAD has them; `None` where
    /// it keeps no log.
    #[must_use]
    pub fn made_here(&self) -> Option<HashSet<ObjectId>> {
        let log = files::read(&self.git_dir().join("logs/HEAD"), files::MAX_BYTES).ok()?;
        let moves = log.lines().filter_map(|line| Some((line, entry(line, false)?.1)));
        let is_made = |line: &[u8], one: &HeadMove| {
            let how = how(line);
            let verb = how.split_str(b" ").next().unwrap_or_default();
            let is_moved = one.is_fetched || MOVING.iter().any(|known| known.as_bytes() == verb);
            !is_moved || REMAKING.iter().any(|word| how.contains_str(word))
        };
        Some(moves.filter(|(line, one)| is_made(line, one)).map(|(_, one)| one.to).collect())
    }

    /// Whether `git commit` made `id` in this working tree, as the log of HEAD has it: then the message was given here.
    #[must_use]
    pub fn is_committed_here(&self, id: ObjectId) -> bool {
        let log = files::read(&self.git_dir().join("logs/HEAD"), files::MAX_BYTES).unwrap_or_default();
        let mut lines = log.lines().rev();
        lines.any(|line| {
            matches!(how(line), b"commit" | b"commit (initial)" | b"commit (amend)")
                && entry(line, false).is_some_and(|(_, one)| one.to == id)
        })
    }
}

/// What moved HEAD: `commit (amend)` of a message `commit (amend): subject`.
fn how(line: &[u8]) -> &[u8] {
    let message = line.split_once_str(b"\t").map_or(&b""[..], |(_, message)| message);
    message.split_once_str(b": ").map_or(message, |(how, _)| how)
}

/// The logs of branches of remotes.
fn logs_below(folder: &Path, logs: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && logs.len() < MOST_LOGS => logs_below(&path, logs),
            Ok(kind) if kind.is_file() && logs.len() < MOST_LOGS => logs.push(path),
            _ => {}
        }
    }
}

fn log(path: &Path, is_of_remote: bool) -> Vec<HeadMove> {
    if leads_elsewhere(path) {
        return Vec::new();
    }
    let content = files::read(path, files::MAX_BYTES).unwrap_or_default();
    content.lines().filter_map(|line| Some(entry(line, is_of_remote)?.1)).collect()
}

/// `OLD NEW Name <address> SECONDS ZONE<TAB>commit: subject`, with what was there before.
fn entry(line: &[u8], is_of_remote: bool) -> Option<(ObjectId, HeadMove)> {
    let (about, message) = line.split_once_str(b"\t")?;
    let mut ids = about.split_str(b" ").map_while(|id| ObjectId::from_hex(id).ok());
    let (before, to) = (ids.next()?, ids.next()?);
    let (_, time) = about.rsplit_once_str(b"> ")?;
    let seconds = time.split_str(b" ").next()?.to_str().ok()?.parse().ok()?;
    let message = message.to_str_lossy();
    let (how, subject) = message.split_once(": ").unwrap_or((&message, ""));
    let verb = how.split([' ', ':']).next().unwrap_or_default();
    let is_forward = subject.starts_with("Fast-forward") || subject.starts_with("fast-forward");
    let moved = HeadMove {
        at: Timestamp::from_second(seconds).ok()?,
        to,
        subject: subject.to_owned(),
        makes_commit: !is_of_remote && MAKING.contains(&verb) && !is_forward,
        is_fetched: is_of_remote || FETCHING.contains(&verb) && is_forward,
    };
    Some((before, moved))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_when_a_commit_was_made_or_came() {
        let (old, new) = ("1".repeat(40), "2".repeat(40));
        let check = |message: &str, is_of_remote: bool, expected: Option<(&str, bool, bool)>| {
            let line = format!("{old} {new} Ada L. > <ada@example.com> 1700000000 +0100\t{message}");
            let found = entry(line.as_bytes(), is_of_remote);
            let told = found.as_ref().map(|(before, one)| {
                assert_eq!((before.to_string(), one.to.to_string()), (old.clone(), new.clone()));
                assert_eq!(one.at.as_second(), 1_700_000_000);
                (one.subject.as_str(), one.makes_commit, one.is_fetched)
            });
            assert_eq!(told, expected, "{message}");
        };
        check("commit: pool: wait", false, Some(("pool: wait", true, false)));
        check("commit (amend): pool", false, Some(("pool", true, false)));
        check("commit (initial): first", false, Some(("first", true, false)));
        check("cherry-pick: pool", false, Some(("pool", true, false)));
        check(
            "merge topic: Merge made by the 'ort' strategy.",
            false,
            Some(("Merge made by the 'ort' strategy.", true, false)),
        );
        check("merge topic: Fast-forward", false, Some(("Fast-forward", false, true)));
        check("pull: Fast-forward", false, Some(("Fast-forward", false, true)));
        check("checkout: moving from a to b", false, Some(("moving from a to b", false, false)));
        check("fetch origin: fast-forward", true, Some(("fast-forward", false, true)));
        assert!(entry(b"no line of a log", false).is_none());
        assert!(entry(format!("{old} {new} Ada <a@x> soon +0100\tcommit: x").as_bytes(), false).is_none());
    }

    #[test]
    fn what_was_made_here_is_known_from_what_came() {
        let repo = testkit::TestRepo::new();
        repo.write("a", "1");
        repo.commit("one");
        let opened = Repository::discover(repo.path(), Timestamp::UNIX_EPOCH).unwrap();
        let (old, new) = ("1".repeat(40), "2".repeat(40));
        let check = |message: &str, is_made: bool, is_committed: bool| {
            let line = format!("{old} {new} Ada <ada@example.com> 1700000000 +0100\t{message}\n");
            std::fs::write(repo.path().join(".git/logs/HEAD"), line).unwrap();
            let id = ObjectId::from_hex(new.as_bytes()).unwrap();
            let made = opened.made_here().expect("there is a log").contains(&id);
            assert_eq!((made, opened.is_committed_here(id)), (is_made, is_committed), "{message}");
        };
        check("commit: pool: wait", true, true);
        check("commit (amend): pool", true, true);
        check("commit (merge): Merge branch 'x'", true, false);
        check("cherry-pick: pool", true, false);
        check("am: pool", true, false);
        check("pull --rebase origin (pick): pool", true, false);
        check("rebase (fixup): pool", true, false);
        for message in [
            "pull: Fast-forward",
            "pull --rebase (start): checkout 2222222",
            "rebase (finish): returning to refs/heads/main",
            "merge topic: Fast-forward",
            "checkout: moving from commit to main",
            "clone: from commit: x",
            "reset: moving to HEAD~1",
        ] {
            check(message, false, false);
        }
    }
}
