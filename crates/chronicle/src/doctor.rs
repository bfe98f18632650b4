//! Looks for what is wrong, and says how to mend it.

use std::{fs, path::PathBuf, time::SystemTime};

use chronicle_commits::{mend, merging::MAX_NOTE_BYTES, sync::SHARED_REFS};
use chronicle_core::{counted, counted_are, read_note};
use chronicle_git::{GitError, NOTES_REF, Repository, Setting, notes_refspec};
use chronicle_workplace::{Error, Finding, Health, error::quoted};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Chronicle;

/// What was looked at, and what is wrong.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// Always `chronicle-doctor/v1`.
    pub schema: &'static str,
    /// Each finding, in the order of looking.
    pub findings: Vec<Finding>,
    /// How many problems are left.
    pub problems: usize,
}

/// A lock that nobody touched for so long has no living owner.
const STALE_SECONDS: u64 = 60;
/// The oldest git that has every option that is used.
const OLDEST_GIT: (u32, u32) = (2, 30);

impl Diagnosis {
    /// The same, with what was found elsewhere.
    #[must_use]
    pub fn and(mut self, findings: Vec<Finding>) -> Self {
        self.problems += findings.iter().filter(|finding| finding.health == Health::Problem).count();
        self.findings.extend(findings);
        self
    }
}

impl Chronicle {
    /// Looks for what is wrong; with `fix`, mends what can be mended without losing anything.
    ///
    /// Outside a repository, session memory alone is looked at.
    ///
    /// # Errors
    /// When the repository cannot be opened.
    pub fn doctor(&self, fix: bool) -> Result<Diagnosis, Error> {
        let mut findings = match self.workplace.repository() {
            Ok(repository) => self.repository_health(repository, fix),
            Err(Error::Git { source: GitError::NotARepository { .. } }) => {
                let hint = "run it in a repository to look at its notes and hooks, too";
                vec![Finding::note(
                    "repository",
                    "not in a git repository: only session memory is looked at",
                    hint,
                )]
            }
            Err(error) => return Err(error),
        };
        findings.extend(self.memory().memory_health(fix));
        findings.extend(self.memory().handoff_health());
        let problems = findings.iter().filter(|finding| finding.health == Health::Problem).count();
        Ok(Diagnosis { schema: "chronicle-doctor/v1", findings, problems })
    }

    fn repository_health(&self, repository: &Repository, fix: bool) -> Vec<Finding> {
        let mut findings = vec![git(repository), state_directory(repository)];
        findings.extend(notes(repository, fix));
        findings.extend(fingerprints(repository, fix));
        findings.extend(dropped(repository, fix));
        findings.extend(self.locks(repository, fix));
        findings.extend(self.hooks_health(repository, fix));
        findings.extend(rewriting(repository));
        findings.extend(self.remotes_health(repository, fix));
        findings.extend(self.staged_health());
        findings
    }

    fn locks(&self, repository: &Repository, fix: bool) -> Vec<Finding> {
        let names = SHARED_REFS.iter().map(|name| repository.common_dir().join(format!("{name}.lock")));
        let now = SystemTime::from(self.workplace.now());
        let is_stale = |path: &PathBuf| {
            let changed = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
            changed.is_ok_and(|changed| {
                now.duration_since(changed).is_ok_and(|age| STALE_SECONDS < age.as_secs())
            })
        };
        let stale: Vec<PathBuf> = names.filter(is_stale).collect();
        if stale.is_empty() {
            return vec![Finding::ok("locks", "nothing is locked by a dead process")];
        }
        let found = |path: PathBuf| {
            let seen = format!("`{}` was left by a dead process", path.display());
            Finding::problem("locks", seen, "`git chronicle doctor --fix` removes it; so does the next write")
                .mendable(fix, || {
                    fs::remove_file(&path)
                        .map_err(|source| GitError::Io { path: path.clone(), source }.into())
                })
        };
        stale.into_iter().map(found).collect()
    }

    /// Whether git runs our hooks, all of them and as they are now.
    fn hooks_health(&self, repository: &Repository, fix: bool) -> Vec<Finding> {
        // A bare repository runs none of them.
        if repository.work_dir().is_none() {
            return Vec::new();
        }
        let (missing, present) = match (self.init(false, true), self.uninstall(true)) {
            (Ok(init), Ok(uninstall)) => (init.changes, uninstall.changes),
            (Err(error), _) | (_, Err(error)) => {
                return vec![Finding::problem(
                    "hooks",
                    error.to_string(),
                    "fix what it names, then `git chronicle init`",
                )];
            }
        };
        if present.is_empty() {
            let seen = "no hooks are set up, so rewritten commits are only found by `reconcile`";
            return vec![Finding::note("hooks", seen, "`git chronicle init`")];
        }
        let mut findings = Vec::new();
        if !missing.is_empty() {
            let paths: Vec<&str> = missing.iter().map(|change| change.path.as_str()).collect();
            let seen = format!("hooks are missing or not as they should be: {}", paths.join(", "));
            let set_up = || self.init(false, false).map(drop);
            findings.push(Finding::problem("hooks", seen, "`git chronicle init`").mendable(fix, set_up));
        }
        let path = self.workplace.variable("PATH").unwrap_or_default();
        if !std::env::split_paths(&path).any(|directory| directory.join("git-chronicle").is_file()) {
            let seen = "git-chronicle is not on the PATH, so the hooks do nothing";
            findings.push(Finding::problem("hooks", seen, "put the directory of git-chronicle on the PATH"));
        }
        if findings.is_empty() {
            findings.push(Finding::ok("hooks", "git runs our hooks"));
        }
        findings
    }

    fn remotes_health(&self, repository: &Repository, fix: bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        let remotes = repository.remotes();
        for remote in &remotes {
            let fetched = repository.settings(&format!("remote.{remote}.fetch"));
            for refspec in fetched.iter().filter(|refspec| refspec.contains("refs/notes/")) {
                let setting = Setting {
                    section: "remote",
                    subsection: remote.clone(),
                    key: "fetch",
                    value: refspec.clone(),
                };
                let (from, to) = refspec.split_once(':').unwrap_or((refspec, ""));
                let what = if !from.contains('*') {
                    format!(
                        "`git fetch {remote}` fails when the remote lacks `{}`",
                        from.trim_start_matches('+')
                    )
                } else if to.starts_with("refs/notes/") && !to.starts_with("refs/notes/remotes/") {
                    format!("`git fetch {remote}` overwrites notes of yours with its own")
                } else {
                    continue;
                };
                let mend = format!(
                    "`git config --unset-all --fixed-value {} {}`, then `git chronicle sync enable {}`",
                    quoted(&format!("remote.{remote}.fetch")),
                    quoted(refspec),
                    quoted(remote)
                );
                findings.push(
                    Finding::problem("fetch", format!("{what}: `{refspec}` is set"), mend).mendable(
                        fix,
                        || {
                            repository.unset(&[setting])?;
                            // Whom to trust is for the user to say.
                            Ok(repository.add_settings(&[crate::sync::fetch_setting(remote)])?)
                        },
                    ),
                );
            }
            let pushed = repository.settings(&format!("remote.{remote}.push"));
            for refspec in pushed.iter().filter(|refspec| refspec.contains("refs/notes/")) {
                let seen =
                    format!("`git push {remote}` pushes notes instead of branches: `{refspec}` is set");
                let key = quoted(&format!("remote.{remote}.push"));
                let mend = format!("`git config --unset-all {key}`, and `git chronicle sync push`");
                findings.push(Finding::problem("push", seen, mend));
            }
        }
        let enabled = repository.enabled_remotes();
        for remote in crate::sync::configured_remotes(repository) {
            if remotes.contains(&remote) && !enabled.contains(&remote) {
                // Nothing mends that unasked: the repository would say itself whom to trust.
                let seen =
                    format!("this repository names `{remote}` to exchange notes with, which has no effect");
                let name = quoted(&remote);
                let mend =
                    format!("`git chronicle sync enable {name}`, if you trust its notes as your team's");
                findings.push(Finding::note("sync", seen, &mend));
            }
            if !remotes.contains(&remote) {
                let seen = format!("notes are exchanged with `{remote}`, but there is no such remote");
                let mend = format!("`git chronicle sync disable {}`", quoted(&remote));
                let forget = || self.remotes().disable(Some(&remote)).map(drop);
                findings.push(Finding::problem("sync", seen, mend).mendable(fix, forget));
            }
        }
        for remote in &enabled {
            let fetched = repository.settings(&format!("remote.{remote}.fetch"));
            if !fetched.is_empty() && !fetched.contains(&notes_refspec(remote)) {
                let seen = format!("`git fetch {remote}` does not bring its notes");
                let mend = format!("`git chronicle sync enable {}`", quoted(remote));
                let enable = || self.remotes().enable(Some(remote)).map(drop);
                findings.push(Finding::problem("sync", seen, mend).mendable(fix, enable));
            }
        }
        match (remotes.is_empty(), enabled.is_empty()) {
            (true, _) => findings.push(Finding::ok("sync", "there is no remote to exchange notes with")),
            (false, true) => {
                let seen = "notes are exchanged with no remote";
                findings.push(Finding::note(
                    "sync",
                    seen,
                    "`git chronicle sync enable`, if others should see them",
                ));
            }
            (false, false) => findings.push(match self.unpushed() {
                Ok(0) => Finding::ok("sync", format!("notes are exchanged with {}", enabled.join(", "))),
                Ok(n) => Finding::note(
                    "sync",
                    format!("{} not pushed", counted_are(n, "note")),
                    "`git chronicle sync push`",
                ),
                Err(error) => Finding::problem("sync", error.to_string(), "see the check of the notes"),
            }),
        }
        findings
    }

    fn unpushed(&self) -> Result<usize, Error> {
        let remotes = self.remotes().status()?.remotes;
        let enabled = remotes.iter().filter(|remote| remote.enabled);
        Ok(enabled.flat_map(|remote| &remote.refs).map(|of_ref| of_ref.unpushed).sum())
    }

    fn staged_health(&self) -> Vec<Finding> {
        match self.staged() {
            Ok(remarks) if remarks.is_empty() => Vec::new(),
            Ok(remarks) => {
                let seen = format!("{} waiting for their commit", counted_are(remarks.len(), "remark"));
                vec![Finding::note(
                    "staging",
                    seen,
                    "`git chronicle annotate` stores them; `note --clear` drops them",
                )]
            }
            Err(error) => {
                vec![Finding::problem(
                    "staging",
                    error.to_string(),
                    "repair or remove the file; it is not overwritten",
                )]
            }
        }
    }
}

fn git(repository: &Repository) -> Finding {
    let Some(version) = repository.git_version() else {
        return Finding::problem("git", "`git` cannot be run", "install git and put it on the PATH");
    };
    let numbers: Vec<u32> = version.split(['.', ' ']).filter_map(|part| part.parse().ok()).collect();
    let is_old = matches!(numbers[..], [major, minor, ..] if (major, minor) < OLDEST_GIT);
    match is_old {
        true => Finding::problem(
            "git",
            format!("git {version} is too old for `sync`"),
            "install git 2.30 or newer",
        ),
        false => Finding::ok("git", format!("git {version}")),
    }
}

fn state_directory(repository: &Repository) -> Finding {
    let directory = repository.shared_state_dir();
    let write = || {
        repository.make_state_dir(&directory)?;
        tempfile::Builder::new().prefix("doctor-").tempfile_in(&directory).map(drop)
    };
    let path = directory.display();
    match write() {
        Ok(()) => Finding::ok("directory", format!("`{path}` can be written")),
        Err(error) => Finding::problem(
            "directory",
            format!("`{path}` cannot be written: {error}"),
            "give yourself the right to write there; until then notes can only be read",
        ),
    }
}

/// Whether another program dropped notes of ours.
fn dropped(repository: &Repository, fix: bool) -> Vec<Finding> {
    let n_dropped = match crate::status::n_dropped(repository) {
        Ok(0) => return Vec::new(),
        Ok(n_dropped) => n_dropped,
        // A ref that cannot be read is reported with the notes.
        Err(_) => return Vec::new(),
    };
    let seen =
        format!("{} dropped by another program, such as `git notes edit`", counted_are(n_dropped, "note"));
    let mend = "`git chronicle reconcile` brings them back, and so does `git chronicle doctor --fix`";
    let bring_back = || Ok(chronicle_commits::dropped::bring_back(repository).map(drop)?);
    vec![Finding::problem("dropped notes", seen, mend).mendable(fix, bring_back)]
}

fn notes(repository: &Repository, fix: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in SHARED_REFS {
        let notes = match repository.notes(name) {
            Ok(notes) => notes,
            Err(error) => {
                let finding = match repository.last_readable_notes(name) {
                    Some(version) => {
                        let mend = format!(
                            "`git chronicle doctor --fix` goes back to {version}, the last version that can be read"
                        );
                        Finding::problem("notes", error.to_string(), mend)
                            .mendable(fix, || Ok(repository.go_back(name, version)?))
                    }
                    None => Finding::problem(
                        "notes",
                        error.to_string(),
                        format!(
                            "`git log {name}` shows what it holds; keep that elsewhere, then `git update-ref -d {name}`"
                        ),
                    ),
                };
                findings.push(finding);
                continue;
            }
        };
        if name != NOTES_REF {
            continue;
        }
        let (mut too_large, mut missing, mut to_read) = (Vec::new(), Vec::new(), Vec::new());
        for note in &notes {
            match repository.blob_size(note.blob) {
                Ok(size) if MAX_NOTE_BYTES < size => too_large.push(note.key),
                Ok(_) => to_read.push(note.blob),
                Err(_) => missing.push(note.key),
            }
        }
        let is_unreadable = |_, content: &[u8]| (!read_note(content).remarks.is_empty()).then_some(());
        let unreadable: std::collections::HashSet<_> =
            repository.read_many(to_read, is_unreadable).into_iter().map(|(blob, ())| blob).collect();
        let unreadable: Vec<_> =
            notes.iter().filter(|note| unreadable.contains(&note.blob)).map(|note| note.key).collect();
        let mut report = |keys: &[chronicle_git::ObjectId], what: &str, is_problem: bool, mend: &str| {
            let Some(first) = keys.first() else { return };
            let seen = format!("{} {what}, the first on {first}", counted_are(keys.len(), "note"));
            findings.push(match is_problem {
                true => Finding::problem("notes", seen, mend),
                false => Finding::note("notes", seen, mend),
            });
        };
        report(&missing, "missing", true, "`git chronicle sync pull` fetches them, if a remote has them");
        report(
            &too_large,
            "too large to be read",
            true,
            "`git notes --ref=chronicle remove COMMIT`, if no one needs it",
        );
        report(
            &unreadable,
            "only readable in part",
            false,
            "`git chronicle show COMMIT` shows why; they are kept as they are",
        );
        if findings.is_empty() {
            findings.push(Finding::ok("notes", format!("{}, all readable", counted(notes.len(), "note"))));
        }
    }
    findings
}

/// Whether fingerprints were taken for secrets: until they are made anew, lessons are not found after a rewrite.
fn fingerprints(repository: &Repository, fix: bool) -> Option<Finding> {
    let damaged = mend::damaged(repository).ok()?;
    let first = damaged.first()?;
    let seen = format!(
        "{} of an earlier version without fingerprints, the first on {first}",
        counted_are(damaged.len(), "note")
    );
    let problem = Finding::problem(
        "fingerprints",
        seen,
        "`git chronicle doctor --fix` makes them again from their commits",
    );
    let mut n_left = 0;
    let finding = problem.mendable(fix, || {
        n_left = mend::mend(repository)?.n_left;
        Ok(())
    });
    let seen =
        format!("{} still without fingerprints: their commits are not here", counted_are(n_left, "note"));
    Some(match n_left {
        0 => finding,
        _ => Finding::note("fingerprints", seen, "fetch the commits, then `git chronicle doctor --fix`"),
    })
}

/// Whether git copies our notes itself when it rewrites commits.
fn rewriting(repository: &Repository) -> Vec<Finding> {
    let copied = repository.settings("notes.rewriteRef");
    let is_ours = |pattern: &&String| {
        let pattern = pattern.trim_start_matches("refs/notes/");
        pattern == "chronicle" || pattern.starts_with('*') || pattern == "chronicle*"
    };
    match copied.iter().find(is_ours) {
        Some(pattern) => vec![Finding::note(
            "rewriting",
            format!("git copies notes of rewritten commits, too: notes.rewriteRef is `{pattern}`"),
            "it does no harm, as notes are united by their ids; `git config --unset-all notes.rewriteRef` leaves it to Chronicle",
        )],
        None => Vec::new(),
    }
}
