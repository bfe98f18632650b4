//! Takes along what is known when commits are rewritten.

use chronicle_commits::{
    Notebook,
    carry::{Carried, CarryRequest, Rewrite, carry},
    dropped::bring_back,
    reconcile::{Effort, Evidence, Match, Reconciled, reconcile},
    write::{Stamp, bind_overdue},
};
use chronicle_core::redaction::gated;
use chronicle_git::{GitError, ObjectId, Repository};
use chronicle_workplace::Error;
use serde::Serialize;

use crate::{AnnotateReply, Chronicle, annotate::others_on};

/// What was taken along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CarryReply {
    /// The commits whose notes were changed.
    pub targets: Vec<String>,
    /// How many lessons are new there.
    pub n_added: usize,
    /// What could not be done.
    pub warnings: Vec<String>,
}

/// The commits whose annotations another commit takes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sources {
    /// The one commit that was amended, rebased or picked.
    Amended(String),
    /// Commits and ranges (`A..B`) that were squashed.
    Squashed(Vec<String>),
}

impl Chronicle {
    /// Takes along what is known about rewritten commits: pairs of the old and the new commit, as git
    /// hands them to its `post-rewrite` hook. Several old ones with one new one were squashed.
    ///
    /// What cannot be read is passed over with a warning.
    ///
    /// # Errors
    /// When the notes cannot be read or written.
    pub fn carry(&self, pairs: &[(String, String)]) -> Result<CarryReply, Error> {
        let repository = self.workplace.repository()?;
        let mut reply = CarryReply::default();
        let mut sources: Vec<(ObjectId, Vec<ObjectId>)> = Vec::new();
        for (old, new) in pairs {
            let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).ok();
            let (Some(old_id), Some(new_id)) = (id(old), id(new)) else {
                reply.warnings.push(format!("`{old} {new}` isn't a pair of commits"));
                continue;
            };
            if repository.commit(new_id).is_err() {
                reply.warnings.push(format!("{new} cannot be read, so no lessons were carried over to it"));
                continue;
            }
            match sources.iter_mut().find(|(target, _)| *target == new_id) {
                Some((_, olds)) => olds.push(old_id),
                None => sources.push((new_id, vec![old_id])),
            }
        }
        let request = |(target, olds): (ObjectId, Vec<ObjectId>)| {
            let how = Rewrite::of(olds.len());
            CarryRequest::all(target, olds, how)
        };
        let requests: Vec<CarryRequest> = sources.into_iter().map(request).collect();
        let (carried, recovered) = carry(repository, &requests)?;
        reply.warnings.extend(recovered.iter().map(|file| removed(file)));
        for one in carried.iter().filter(|one| one.is_changed) {
            reply.targets.push(one.target.to_string());
            reply.n_added += one.added.len();
        }
        Ok(reply)
    }

    /// Stores on `revision` what is known about `sources`.
    ///
    /// # Errors
    /// When a commit is unknown, or the notes cannot be written.
    pub(crate) fn annotate_from(&self, sources: &Sources, revision: &str) -> Result<AnnotateReply, Error> {
        let repository = self.workplace.repository()?;
        let target = repository.resolve(revision)?;
        let (sources, how) = match sources {
            Sources::Amended(old) => (vec![source(repository, old)?], Rewrite::Amend),
            Sources::Squashed(named) => {
                let mut ids = Vec::new();
                for text in named.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
                    match text.split_once("..") {
                        Some((from, to)) => ids.extend(range(repository, from, to)?),
                        None => ids.push(source(repository, text)?),
                    }
                }
                (ids, Rewrite::Squash)
            }
        };
        let mut sources: Vec<ObjectId> = sources.into_iter().filter(|id| *id != target).collect();
        sources.sort_unstable();
        sources.dedup();
        let (carried, recovered) = carry(repository, &[CarryRequest::all(target, sources, how)])?;
        let carried = carried.into_iter().next();
        let unchanged = match &carried {
            None => Some("none of the sources is annotated".to_owned()),
            Some(carried) if !carried.is_changed => {
                Some("all of this is stored on the commit already".to_owned())
            }
            Some(_) => None,
        };
        let (added, n_known, stored) = match carried {
            Some(Carried { added, n_known, stored, .. }) => (added, n_known, stored),
            None => (Vec::new(), 0, None),
        };
        Ok(AnnotateReply {
            schema: "chronicle-annotate/v1",
            success: true,
            commit: target.to_string(),
            subject: gated(&repository.commit(target)?.subject()),
            wisdom_written: added.len(),
            added,
            already_known: n_known,
            consumed: Vec::new(),
            knowledge: Vec::new(),
            unchanged,
            warnings: recovered.iter().map(|file| removed(file)).collect(),
            redacted: Vec::new(),
            others: others_on(repository, target),
            stored,
        })
    }
}

pub(crate) fn removed(file: &std::path::Path) -> String {
    format!("removed `{}`, left by a dead process", file.display())
}

/// The commit that `text` names; one that is gone is known by its note.
fn source(repository: &Repository, text: &str) -> Result<ObjectId, Error> {
    match repository.resolve(text) {
        Err(GitError::UnknownRevision { revision }) => {
            let annotated = Notebook::open(repository, &mut Vec::new())?.find_key(text);
            Ok(annotated.ok_or(GitError::UnknownRevision { revision })?)
        }
        found => Ok(found?),
    }
}

/// The commits that `to` reaches and `from` does not; either side is HEAD where it is left out.
fn range(repository: &Repository, from: &str, to: &str) -> Result<Vec<ObjectId>, Error> {
    let named = |text: &str| repository.resolve(if text.is_empty() { "HEAD" } else { text });
    let (from, to) = (named(from)?, named(to.trim_start_matches('.'))?);
    let known = repository.history(&[from])?;
    let commits = repository.history(&[to])?;
    let news = commits.nodes().iter().map(|node| node.id).filter(|id| known.place(*id).is_none());
    Ok(news.collect())
}

/// The commits of `A..B`, newest first; of one revision alone, it and all before it.
pub fn commits_between(repository: &Repository, text: &str) -> Result<Vec<ObjectId>, Error> {
    match text.split_once("..") {
        Some((from, to)) => range(repository, from, to),
        None => {
            let history = repository.history(&[repository.resolve(text)?])?;
            Ok(history.nodes().iter().map(|node| node.id).collect())
        }
    }
}

/// The pairs that git hands to `post-rewrite`: in each line an old and a new commit, and perhaps more.
#[must_use]
pub fn rewritten_pairs(input: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    input.lines().filter_map(pair).collect()
}

/// A commit that took the place of another, as it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Succession {
    /// The annotated commit.
    pub from: String,
    /// The commit that replaced it.
    pub to: String,
    /// Its subject.
    pub subject: String,
    /// Why it is taken for that.
    pub because: String,
    /// How many lessons it takes, where the other was split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
}

/// What reconciling came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReconcileReply {
    /// Always `chronicle-reconcile/v1`.
    pub schema: &'static str,
    /// Whether nothing was stored on purpose.
    pub dry_run: bool,
    /// The commits that took the place of annotated ones.
    pub matches: Vec<Succession>,
    /// How many lessons were carried.
    pub carried: usize,
    /// Annotated commits that nothing reaches and that have no successor.
    pub left: Vec<String>,
    /// What the user should be told.
    pub warnings: Vec<String>,
}

impl Chronicle {
    /// Finds commits that took the place of annotated ones where no hook saw it, and takes along what is known.
    ///
    /// # Errors
    /// When the repository cannot be read, or the notes cannot be written.
    pub fn reconcile(&self, effort: Effort, is_dry: bool) -> Result<ReconcileReply, Error> {
        let repository = self.workplace.repository()?;
        if !is_dry {
            let author = repository.author_name();
            let stamp = Stamp { now: self.workplace.now(), author, new_id: &mut chronicle_workplace::new_id };
            bind_overdue(repository, &stamp)?;
        }
        let dropped = match is_dry {
            true => crate::status::n_dropped(repository)?,
            false => bring_back(repository)?,
        };
        let Reconciled { matches, carried, left, mut warnings, recovered } =
            reconcile(repository, effort, is_dry)?;
        if 0 < dropped {
            let what = if is_dry { "would be brought back" } else { "were brought back" };
            warnings.push(format!("notes that another program had dropped {what}: {dropped}"));
        }
        warnings.extend(recovered.iter().map(|file| removed(file)));
        let succession = |one: Match| Succession {
            from: one.source.to_string(),
            to: one.target.to_string(),
            subject: repository.commit(one.target).map(|commit| gated(&commit.subject())).unwrap_or_default(),
            because: because(one.evidence),
            part: one.part.map(|part| part.entries.len()),
        };
        Ok(ReconcileReply {
            schema: "chronicle-reconcile/v1",
            dry_run: is_dry,
            matches: matches.into_iter().map(succession).collect(),
            carried: carried.iter().map(|one| one.added.len()).sum(),
            left: left.into_iter().map(|id| id.to_string()).collect(),
            warnings,
        })
    }
}

fn because(evidence: Evidence) -> String {
    match evidence {
        Evidence::SameChange => "it makes the same change".to_owned(),
        Evidence::SameTogether { n_commits } => {
            format!("it makes the change of {n_commits} commits together")
        }
        Evidence::SameFiles => "it has the same files, and wrote its lines".to_owned(),
        Evidence::SameLines { n_found, n_known } => {
            format!("it wrote {n_found} of {n_known} of its known lines")
        }
    }
}
