//! Takes words out of every version of the notes.

use std::{io::Read, path::PathBuf};

use chronicle_commits::{
    claims_called,
    purge::{PurgePlan, PurgeReport, PurgeTarget, purge, would_purge},
};
use chronicle_core::{EntryId, clipped, correction::Tier, counted, one_line, plain};
use chronicle_git::{FETCHED_NOTES, GitError, ObjectId, PURGED_REF};
use chronicle_search::NamedSession;
use chronicle_workplace::{Error, error::quoted};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, MAX_INPUT_BYTES, files, gc, status::ensure_nothing_dropped, writer_log::WriterLog};

/// How many bytes of each claim a trial shows.
const MAX_WORDS: usize = 160;

/// What was purged, and what is left to do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PurgeReply {
    /// Always `chronicle-purge/v1`.
    pub schema: &'static str,
    /// Whether it was done, not only looked at.
    pub done: bool,
    /// What is gone: claims, corrections, items of knowledge.
    pub ids: Vec<EntryId>,
    /// What would go, with its first words; empty once it is gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub would_remove: Vec<WouldRemove>,
    /// The refs whose history was rewritten.
    pub refs: Vec<RewrittenRef>,
    /// Staged remarks that were dropped.
    pub n_remarks: usize,
    /// The commands that take the words out of remotes.
    pub push: Vec<String>,
    /// Where the words may still be, and what to do about it.
    pub still_held: Vec<String>,
    /// The refs that still hold it.
    pub left: Vec<String>,
    /// Remarks.
    pub warnings: Vec<String>,
}

/// What a purge would remove.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WouldRemove {
    /// The id of a claim; `None` for staged remarks and contexts.
    pub id: Option<EntryId>,
    /// Its first words, cut; empty if it cannot be read.
    pub words: String,
}

/// A ref whose history was rewritten.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RewrittenRef {
    /// Its name.
    pub name: String,
    /// What it pointed at.
    pub old: String,
    /// What it points at now.
    pub new: String,
}

impl Chronicle {
    /// Takes a claim, or all that is said on a commit, out of every version of every ref of ours.
    ///
    /// # Errors
    /// When nothing of that name ever was, several things are meant, or a ref cannot be written.
    pub fn purge(&self, target: &str, is_trial: bool) -> Result<PurgeReply, Error> {
        let repository = self.workplace.repository()?;
        let target = match repository.resolve(target) {
            Ok(commit) => PurgeTarget::Commit(commit),
            // A note outlives its commit.
            Err(GitError::UnknownRevision { .. }) => match ObjectId::from_hex(target.as_bytes()) {
                Ok(commit) => PurgeTarget::Commit(commit),
                Err(_) => PurgeTarget::Id(target.to_owned()),
            },
            Err(other) => return Err(other.into()),
        };
        if is_trial {
            return Ok(planned(would_purge(repository, &target)?));
        }
        self.ensure_purge_is_meant(&target)?;
        // What a remote is known to have is what its push is held against.
        let before = repository.chronicle_refs()?;
        let (author, timestamp) = (repository.author_name(), self.workplace.now().to_string());
        let mut report = purge(repository, &target, chronicle_workplace::new_id(), author, timestamp)?;
        let sessions = match self.memory().open() {
            Ok(Some(memory)) => memory
                .store
                .read(|connection| NamedSession::with_words(connection, |text| report.texts.are_in(text)))?,
            // Where there is no session memory, nothing is in it.
            Ok(None) | Err(Error::NoHome) => Vec::new(),
            Err(other) => return Err(other),
        };
        let waiting = self.texts_that_wait(|text| report.texts.are_in(text))?;
        let quoted_by = std::mem::take(&mut report.quoted_by);
        let n_quoting_staged = report.n_quoting_staged;
        let mut reply = PurgeReply { done: true, ..reply(report) };
        self.forget_purged_words()?;
        reply.still_held.extend(
            quoted_by
                .into_iter()
                .map(|id| format!("your own lesson, until `git chronicle purge {}`", plain(&id.0))),
        );
        if 0 < n_quoting_staged {
            reply.still_held.push(format!(
                "{} of yours for the next commit (`git chronicle note --list`)",
                counted(n_quoting_staged, "staged remark")
            ));
        }
        // A ref of which only the fetched copy was rewritten is pushed, too: ours was clean already.
        let is_rewritten = |name: &String| {
            let short = name.trim_start_matches("refs/notes/");
            let is_it = |rewritten: &RewrittenRef| {
                rewritten.name == *name
                    || (is_fetched(&rewritten.name) && rewritten.name.ends_with(&format!("/{short}")))
            };
            // Who purges once more may not have pushed yet.
            reply.refs.iter().any(is_it) || reply.refs.is_empty() && *name != PURGED_REF
        };
        let names = before.iter().map(|(name, _)| name.clone());
        let own: Vec<String> = names.filter(|name| !is_fetched(name)).filter(is_rewritten).collect();
        let remotes = repository.remote_names();
        reply.push = remotes.iter().filter_map(|remote| push(remote, &own, &reply, &before)).collect();
        let held = self.still_held(&reply)?;
        reply.still_held.extend(held);
        reply.still_held.extend(sessions.into_iter().map(|session| {
            format!("session {session} on this machine, until `git chronicle session forget {session}`")
        }));
        reply.still_held.extend(
            waiting
                .into_iter()
                .map(|path| format!("`{path}`, a text of yours, until it is stored or deleted")),
        );
        Ok(reply)
    }

    /// Makes sure that ids mean what they meant: where somebody else uses them now, a note of the user's must not be missing.
    fn ensure_purge_is_meant(&self, target: &PurgeTarget) -> Result<(), Error> {
        let repository = self.workplace.repository()?;
        let Err(dropped) = ensure_nothing_dropped(repository) else { return Ok(()) };
        for (id, _) in would_purge(repository, target)?.claims {
            let called = claims_called(repository, &id.0)?;
            if called.iter().any(|claim| claim.id == id && claim.tier() == Tier::Unknown) {
                return Err(dropped);
            }
        }
        Ok(())
    }

    /// The texts that an editor left and that could not be stored, as far as `has_words` finds something in them.
    fn texts_that_wait(&self, has_words: impl Fn(&[u8]) -> bool) -> Result<Vec<String>, Error> {
        let folder = match self.workplace.memory_home() {
            Ok(home) => home.join("edited"),
            Err(Error::NoHome) => return Ok(Vec::new()),
            Err(other) => return Err(other),
        };
        let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
        let has_words = |path: &PathBuf| {
            let mut text = Vec::new();
            let most = MAX_INPUT_BYTES as u64;
            let read = files::open(path).and_then(|file| file.take(most).read_to_end(&mut text));
            read.is_ok() && has_words(&text)
        };
        Ok(paths.filter(has_words).map(|path| plain(&path.to_string_lossy()).into_owned()).collect())
    }

    /// Empties what may quote words that were purged, here or by a pull: logs, and the bundles of `gc`, all of whose
    /// lessons are on other commits.
    pub(crate) fn forget_purged_words(&self) -> Result<(), Error> {
        let repository = self.workplace.repository()?;
        self.memory().forget_words_shown()?;
        WriterLog::of(repository)?.strike_reasons()?;
        gc::remove_backups(repository)
    }

    fn still_held(&self, reply: &PurgeReply) -> Result<Vec<String>, Error> {
        let repository = self.workplace.repository()?;
        let mut held = Vec::new();
        let has_log = |name: &&RewrittenRef| repository.common_dir().join("logs").join(&name.name).exists();
        let logged: Vec<String> = reply.refs.iter().filter(has_log).map(|name| quoted(&name.name)).collect();
        if !logged.is_empty() {
            held.push(format!(
                "the reflogs of this clone, until `git reflog expire --expire=now {}`",
                logged.join(" ")
            ));
        }
        if !reply.refs.is_empty() {
            held.push("unreachable objects of this clone, until `git gc --prune=now`".to_owned());
        }
        let remotes = repository.remote_names();
        if !remotes.is_empty() {
            held.push(format!(
                "the remotes {}, until the push above; their reflogs and unreachable objects after it",
                remotes.join(", ")
            ));
            held.push(
                "every clone that fetched the notes, until it is purged there or its notes are fetched again"
                    .to_owned(),
            );
        }
        Ok(held)
    }
}

fn planned(plan: PurgePlan) -> PurgeReply {
    let words = |text: &str| clipped(&one_line(text), MAX_WORDS).into_owned();
    let n_remarks = plan.staged.len();
    let ids = plan.claims.iter().map(|(id, _)| id.clone()).collect();
    let claims = plan.claims.into_iter().map(|(id, text)| WouldRemove { id: Some(id), words: words(&text) });
    let staged = plan.staged.into_iter().map(|text| WouldRemove { id: None, words: words(&text) });
    PurgeReply {
        would_remove: claims.chain(staged).collect(),
        n_remarks,
        ..reply(PurgeReport { ids, ..PurgeReport::default() })
    }
}

fn reply(report: PurgeReport) -> PurgeReply {
    let left = report.left;
    PurgeReply {
        schema: "chronicle-purge/v1",
        done: false,
        ids: report.ids,
        would_remove: Vec::new(),
        refs: report
            .rewritten
            .into_iter()
            .map(|rewritten| RewrittenRef {
                name: rewritten.name,
                old: rewritten.old.to_string(),
                new: rewritten.new.to_string(),
            })
            .collect(),
        n_remarks: report.n_remarks,
        push: Vec::new(),
        still_held: Vec::new(),
        warnings: left.iter().map(|name| format!("`{name}` still says it; purge again")).collect(),
        left,
    }
}

fn is_fetched(name: &str) -> bool {
    name.starts_with(FETCHED_NOTES)
}

/// The push that takes the words out of `remote`; `None` when there is nothing to push.
fn push(remote: &str, own: &[String], reply: &PurgeReply, before: &[(String, ObjectId)]) -> Option<String> {
    if own.is_empty() {
        return None;
    }
    let mut command = String::from("git push");
    let mut refspecs = String::new();
    for name in own {
        let short = name.strip_prefix("refs/notes/").unwrap_or(name);
        let fetched = format!("{FETCHED_NOTES}{remote}/{short}");
        let tip =
            reply.refs.iter().find(|rewritten| rewritten.name == fetched).map(|rewritten| &rewritten.old);
        let known = before.iter().find(|(name, _)| *name == fetched).map(|(_, tip)| tip.to_string());
        match tip.cloned().or(known) {
            Some(tip) => {
                command.push_str(&format!(" --force-with-lease={name}:{tip}"));
                refspecs.push_str(&format!(" {name}:{name}"));
            }
            None => refspecs.push_str(&format!(" +{name}:{name}")),
        }
    }
    // A remote may be called like an option.
    let end_of_options = if remote.starts_with('-') { " --" } else { "" };
    Some(format!("{command}{end_of_options} {}{refspecs} {PURGED_REF}:{PURGED_REF}", quoted(remote)))
}
