//! Which edited files no commit holds, as far as the commands of a session show it.
//!
//! Only what is certain counts as left out. Where it cannot be told what a commit holds, it holds everything: a file that
//! is called uncommitted wrongly sends somebody to look for nothing.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::commands::shell;
use crate::rows::outcome::script;
use crate::turn::Replaced;

/// How many files are kept.
const MOST: usize = 2_000;

/// How many edits of one file are compared.
const MOST_EDITS: usize = 200;

/// How deep brackets in brackets are looked into.
const MOST_DEEP: usize = 8;

/// A file that was edited, and not committed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Edited {
    path: String,
    /// The turn of its last edit.
    number: usize,
    /// What its edits replaced and wrote since the last commit, as hashes; what is not known undoes nothing.
    edits: Vec<Option<(u64, u64)>>,
    is_staged: bool,
    /// Whether a commit was made after its last edit, and left it out.
    is_left_out: bool,
}

/// What `git commit` takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Scope {
    Everything,
    /// What was staged.
    Staged,
    /// These paths.
    Only(Vec<String>),
}

/// The edited files that no commit holds yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Uncommitted {
    files: Vec<Edited>,
    /// What the last command commits, until it is known that it did.
    at_hand: Option<Scope>,
    /// Whether git itself makes the commits of the last command.
    is_of_git: bool,
}

impl Uncommitted {
    /// Notes that a file was edited.
    ///
    /// One whose edits were all taken back, each by its opposite, is as it was: then it comes back.
    pub(crate) fn edit<'p>(
        &mut self,
        path: &'p str,
        number: usize,
        replaced: &[Replaced],
    ) -> Option<&'p str> {
        let known = self.files.iter().position(|file| file.path == path).map(|at| self.files.remove(at));
        let was_staged = known.as_ref().is_some_and(|file| file.is_staged);
        let mut edits = known.map(|file| file.edits).unwrap_or_default();
        if replaced.is_empty() {
            edits.push(None);
        }
        for one in replaced {
            let (old, new) = (hash(&one.old), hash(&one.new));
            match edits.last() == Some(&Some((new, old))) {
                true => drop(edits.pop()),
                false => edits.push(Some((old, new))),
            }
        }
        let is_as_it_was = edits.is_empty() && !was_staged;
        if self.files.len() < MOST && !is_as_it_was {
            edits.truncate(MOST_EDITS);
            let path = path.to_owned();
            self.files.push(Edited { path, number, edits, is_staged: false, is_left_out: false });
        }
        is_as_it_was.then_some(path)
    }

    /// Notes what a command does to the edited files. `text` is what it printed, where that is known.
    pub(crate) fn run(&mut self, command: &str, is_ok: Option<bool>, text: Option<&str>) {
        (self.at_hand, self.is_of_git) = (None, false);
        // A repository that the command makes is one to throw away.
        if !command.contains("git") && !command.contains("rm ") || command.contains("git init") {
            return;
        }
        self.run_parts(&shell::without_texts(command), MOST_DEEP);
        let n_staged = self.files.iter().filter(|file| file.is_staged).count();
        // Somebody else staged what was committed. Only a merge takes what was staged before the edits.
        let is_by_others = n_staged == 0
            && self.at_hand == Some(Scope::Staged)
            && !text.map_or(command.contains("--no-edit"), is_of_merge);
        if is_by_others {
            self.at_hand = Some(Scope::Everything);
        }
        if is_ok != Some(false)
            && let Some(scope) = self.at_hand.take()
        {
            self.take(&scope);
        }
    }

    /// Notes a commit that the last command made.
    pub(crate) fn commit(&mut self) {
        match self.at_hand.take() {
            Some(scope) => self.take(&scope),
            None if self.is_of_git => {}
            None => self.files.clear(),
        }
    }

    /// The files that were edited after the last commit that could hold them, in the order of their last edits.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// Those of them that a commit after their last edit left out.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|file| file.is_left_out).map(|file| file.path.as_str())
    }

    /// Gives each file its `place`; those without one are not of the repository.
    pub(crate) fn place(&mut self, place: impl Fn(&str) -> Option<String>) {
        self.files.retain_mut(|file| match place(&file.path) {
            Some(path) => {
                file.path = path;
                true
            }
            None => false,
        });
    }

    fn take(&mut self, scope: &Scope) {
        self.files.retain(|file| match scope {
            Scope::Everything => false,
            Scope::Staged => !file.is_staged,
            Scope::Only(specs) => !covers_any(specs, &file.path),
        });
        self.files.iter_mut().for_each(|file| file.is_left_out = true);
    }

    fn run_parts(&mut self, text: &str, depth: usize) {
        for part in shell::parts(text) {
            match part.group().or_else(|| script(part.text)).filter(|_| 0 < depth) {
                Some(inner) => self.run_parts(inner, depth - 1),
                None => self.run_one(&shell::words(part.text)),
            }
        }
    }

    fn run_one(&mut self, words: &[String]) {
        let Some(program) = words.first() else { return };
        if program == "rm" {
            let gone = paths_in(&words[1..]);
            let is_deep = words.iter().any(|word| word.starts_with('-') && word.contains(['r', 'R']));
            // A bare name may be that of a folder somewhere above the file.
            let is_gone =
                |path: &str| gone.iter().any(|spec| covers(spec, path) && (is_deep || ends_with(path, spec)));
            return self.files.retain(|file| !is_gone(&file.path));
        }
        if program != "git" && !program.ends_with("/git") {
            return;
        }
        let Some((does, rest)) = without_options(&words[1..]) else { return };
        let has = |options: &[&str]| rest.iter().any(|word| options.contains(&word.as_str()));
        let specs = paths_in(rest);
        self.is_of_git |= ["commit", "cherry-pick", "revert", "merge", "rebase", "am"].contains(&does);
        match does {
            "add" | "stage" | "rm" if has(&["-A", "--all", "-u", "--update"]) => self.stage(None),
            "add" | "stage" | "rm" => self.stage(Some(&specs)),
            "commit" if has(&["--dry-run", "--allow-empty"]) => {}
            "commit" if has(&["--all"]) || rest.iter().any(|word| is_all(word)) => {
                self.at_hand = Some(Scope::Everything);
            }
            "commit" => {
                let only = rest.iter().position(|word| word == "--").map(|at| rest[at + 1..].to_vec());
                self.at_hand = Some(only.map_or(Scope::Staged, Scope::Only));
            }
            // Without it, they commit what others changed.
            "merge" | "rebase" | "cherry-pick" | "revert" if has(&["--continue"]) => {
                self.at_hand = Some(Scope::Staged);
            }
            "restore" if has(&["--staged", "-S"]) => self.unstage(&specs),
            "reset" if has(&["--hard"]) => self.files.clear(),
            "reset" => self.unstage(&specs),
            "restore" => self.files.retain(|file| !covers_any(&specs, &file.path)),
            "checkout" if has(&["--"]) => self.files.retain(|file| !covers_any(&specs, &file.path)),
            _ => {}
        }
    }

    fn stage(&mut self, specs: Option<&[String]>) {
        let is_meant = |file: &&mut Edited| specs.is_none_or(|specs| covers_any(specs, &file.path));
        self.files.iter_mut().filter(is_meant).for_each(|file| file.is_staged = true);
    }

    fn unstage(&mut self, specs: &[String]) {
        let is_meant = |file: &&mut Edited| specs.is_empty() || covers_any(specs, &file.path);
        self.files.iter_mut().filter(is_meant).for_each(|file| file.is_staged = false);
    }
}

/// What git is to do, and the words behind it.
fn without_options(words: &[String]) -> Option<(&str, &[String])> {
    // Options of git itself that take the next word.
    const TAKING: [&str; 6] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if TAKING.contains(&word.as_str()) { 2 } else { 1 };
    }
    Some((words.get(at)?.as_str(), &words[at + 1..]))
}

/// `-a`, `-am`: everything that git knows is committed.
fn is_all(word: &str) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else { return false };
    letters.chars().take_while(|letter| !"mFCct".contains(*letter)).any(|letter| letter == 'a')
}

fn paths_in(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !word.starts_with(['-', '>', '<']) && *word != "2>&1").cloned().collect()
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn covers_any(specs: &[String], path: &str) -> bool {
    specs.iter().any(|spec| covers(spec, path))
}

/// Whether a path that was typed names a file, or a folder that it is in. One that cannot be told names all.
fn covers(spec: &str, path: &str) -> bool {
    let mut spec = spec.trim_start_matches(":/").trim_end_matches('/');
    while let Some(rest) = spec.strip_prefix("./").or_else(|| spec.strip_prefix("../")) {
        spec = rest;
    }
    if spec.is_empty() || matches!(spec, "." | ".." | "*") || spec.contains(['$', '`', '?', '[', '{']) {
        return true;
    }
    if let Some((before, _)) = spec.split_once('*') {
        let after = spec.rsplit('*').next().unwrap_or_default();
        return path.contains(before) && path.ends_with(after);
    }
    let inside = |rest: &str| rest.is_empty() || rest.starts_with('/');
    path.match_indices(spec).any(|(at, found)| {
        (at == 0 || path[..at].ends_with('/') || spec.starts_with('/')) && inside(&path[at + found.len()..])
    })
}

/// Whether a path that was typed names the file itself.
fn ends_with(path: &str, spec: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    spec.contains('*') || name(path) == name(spec)
}

/// Whether git says that a commit is a merge.
fn is_of_merge(text: &str) -> bool {
    text.lines().any(|line| line.starts_with('[') && line.contains("] Merge "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of edits of `a.rs`, `src/b.rs` and `src/c.rs` after `commands`, and what a commit left out of it.
    fn left(commands: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let mut uncommitted = Uncommitted::default();
        for (number, path) in ["/w/a.rs", "/w/src/b.rs", "/w/src/c.rs"].into_iter().enumerate() {
            uncommitted.edit(path, number, &[]);
        }
        for (command, text) in commands {
            uncommitted.run(command, Some(true), Some(text));
        }
        uncommitted.place(|path| path.strip_prefix("/w/").map(str::to_owned));
        let owned = |path: &str| path.to_owned();
        (uncommitted.paths().map(owned).collect(), uncommitted.left_out().map(owned).collect())
    }

    #[test]
    fn a_commit_holds_what_was_staged() {
        const ONE: &str = "[main 1a2b3c4] pool: wait\n 1 file changed, 2 insertions(+)";
        let check = |commands: &[(&str, &str)], expected: &[&str]| {
            let (paths, left_out) = left(commands);
            assert_eq!(paths, expected, "{commands:?}");
            assert_eq!(left_out, expected, "{commands:?}");
        };
        let all = &["a.rs", "src/b.rs", "src/c.rs"];
        check(&[("git add a.rs && git commit -m 'pool: wait'", ONE)], &all[1..]);
        check(&[("git add src", ""), ("git commit -m 'a -a b'", ONE)], &all[..1]);
        check(&[("git add 'src/*.rs'; git commit -q -m x", "")], &all[..1]);
        check(&[("cd src && git add b.rs ../a.rs && git commit -m x", ONE)], &all[2..]);
        check(&[("git commit -qam x", "")], &[]);
        check(&[("git commit --all -m x | tail -1", "")], &[]);
        check(&[("git add -A && git commit -m x", ONE)], &[]);
        check(&[("git -C /w add . && git -C /w commit -m x", ONE)], &[]);
        check(&[("git add $(git diff --name-only) && git commit -m x", ONE)], &[]);
        check(&[("git commit -m x -- src/b.rs", ONE)], &["a.rs", "src/c.rs"]);
        check(&[("git add . && git reset a.rs && git commit -m x", ONE)], &all[..1]);
        // A merge takes what was staged before, and counts nothing.
        check(&[("git commit --no-edit", "[main 1a2b3c4] Merge branch 'x'")], all);
        // Somebody staged it elsewhere.
        check(&[("git commit -m x", ONE)], &[]);
        check(&[("git commit -m x | head -1", "[main 1a2b3c4] pool: wait")], &[]);
        check(&[("git commit -m \"$(cat <<'EOF'\nwords\nEOF\n)\"", "")], &[]);
        check(&[("bash -lc 'git add a.rs && git commit -m x'", ONE)], &all[1..]);
    }

    #[test]
    fn what_was_taken_back_is_not_left() {
        let check =
            |command: &str, expected: &[&str]| assert_eq!(left(&[(command, "")]).0, expected, "{command}");
        check("git checkout -- src/b.rs", &["a.rs", "src/c.rs"]);
        check("git restore src", &["a.rs"]);
        check("git restore --staged src", &["a.rs", "src/b.rs", "src/c.rs"]);
        check("git reset --hard HEAD", &[]);
        check("rm -f a.rs", &["src/b.rs", "src/c.rs"]);
        check("rm -f src", &["a.rs", "src/b.rs", "src/c.rs"]);
        check("rm -rf src", &["a.rs"]);
        check("cd /tmp/x && git init && git add . && git commit -m x", &["a.rs", "src/b.rs", "src/c.rs"]);
        check("git status && git log | grep commit", &["a.rs", "src/b.rs", "src/c.rs"]);
    }

    #[test]
    fn a_file_whose_edits_were_undone_is_as_it_was() {
        let edit = |old: &str, new: &str| [Replaced { old: old.to_owned(), new: new.to_owned() }];
        let left = |edits: &[[Replaced; 1]]| {
            let mut uncommitted = Uncommitted::default();
            for (number, edit) in edits.iter().enumerate() {
                uncommitted.edit("a.rs", number, edit);
            }
            uncommitted.paths().count()
        };
        assert_eq!(left(&[edit("a", "b"), edit("b", "a")]), 0);
        assert_eq!(left(&[edit("a", "b"), edit("c", "d"), edit("d", "c"), edit("b", "a")]), 0);
        assert_eq!(left(&[edit("a", "b"), edit("c", "d"), edit("b", "a")]), 1);
        assert_eq!(left(&[edit("a", "b"), edit("b", "a"), edit("a", "b")]), 1);
        assert_eq!(left(&[edit("", "b"), edit("b", "")]), 0);
    }

    #[test]
    fn a_commit_that_failed_holds_nothing_and_one_of_elsewhere_everything() {
        let mut uncommitted = Uncommitted::default();
        uncommitted.edit("a.rs", 1, &[]);
        uncommitted.edit("b.rs", 2, &[]);
        uncommitted.run("git add a.rs && git commit -m x", Some(false), Some("hook failed"));
        assert_eq!(uncommitted.paths().collect::<Vec<_>>(), ["a.rs", "b.rs"]);
        uncommitted.commit();
        assert_eq!(uncommitted.paths().collect::<Vec<_>>(), ["b.rs"]);
        uncommitted.run("gt create -m x", Some(true), Some(""));
        uncommitted.commit();
        assert_eq!(uncommitted.paths().count(), 0);
    }
}
