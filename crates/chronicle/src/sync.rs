//! Exchanges notes with remotes.

use std::collections::BTreeSet;

use chronicle_commits::{
    merging::MergedRef,
    purge,
    sync::{self, SHARED_REFS},
};
use chronicle_core::{EntryId, counted, counted_are, plain};
use chronicle_git::{GitError, Merged, ObjectId, Repository, Setting, TakenOut, notes_refspec, tracking_ref};
use chronicle_workplace::{
    Error, Workplace,
    error::{PushedElsewhereSnafu, SeveralRemotesSnafu},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Chronicle;

/// What was exchanged with remotes, or how far apart we are.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Synced {
    /// Always `chronicle-sync/v1`.
    pub schema: &'static str,
    /// What was asked for: `enable`, `disable`, `status`, `pull`, `push` or `import`.
    pub action: &'static str,
    /// Each remote, in order.
    pub remotes: Vec<SyncedRemote>,
    /// What the user wrote, and others purged: it is kept, and hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<EntryId>,
    /// The same, where the user accepted that it goes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<EntryId>,
    /// What was not done, and why.
    pub warnings: Vec<String>,
}

/// What was exchanged with one remote.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SyncedRemote {
    /// Its name, or the address of a fork.
    pub remote: String,
    /// Whether it is one of those that notes are exchanged with when none is named.
    pub enabled: bool,
    /// Whether `git fetch` brings its notes, too.
    pub fetched_by_git: bool,
    /// The refs that there are.
    pub refs: Vec<SyncedRef>,
}

/// One ref and a remote.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SyncedRef {
    /// The ref.
    pub name: String,
    /// How it stands with the remote now.
    pub standing: Standing,
    /// Notes that only the remote had.
    pub taken: usize,
    /// Notes that were different and are one now.
    pub united: usize,
    /// Notes that were tidied away after a rewrite, on one side and now on both.
    pub settled: usize,
    /// Notes that the remote lacks or has otherwise.
    pub unpushed: usize,
    /// Notes of the remote that were fetched and not merged.
    pub unmerged: usize,
}

/// How a ref stands with a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nothing had to be done.
    UpToDate,
    /// What the remote had is here now.
    Merged,
    /// The remote has what is here now.
    Pushed,
    /// They differ.
    Apart,
}

const SCHEMA: &str = "chronicle-sync/v1";

/// The exchange of notes with remotes.
#[derive(Clone, Copy)]
pub struct Remotes<'c> {
    pub(crate) chronicle: &'c Chronicle,
}

impl<'c> Remotes<'c> {
    fn workplace(&self) -> &'c Workplace {
        self.chronicle.workplace()
    }
}

impl Remotes<'_> {
    /// Makes `git fetch` bring the notes of a remote, and exchanges notes with it when none is named.
    ///
    /// # Errors
    /// When there is no such remote, or the configuration cannot be written.
    pub fn enable(&self, remote: Option<&str>) -> Result<Synced, Error> {
        let repository = self.workplace().repository()?;
        let remote = match remote {
            Some(name) => known(repository, name)?,
            None => default_remote(repository)?,
        };
        let mut synced = Synced::new("enable");
        let fetch = fetch_setting(&remote);
        let mut settings = Vec::new();
        let fetched = repository.settings(&format!("remote.{remote}.fetch"));
        if fetched.is_empty() {
            synced.warnings.push(format!(
                "`git fetch {remote}` has no refspec that could be extended, so it is left alone; `sync pull` fetches the notes"
            ));
        } else if !fetched.contains(&fetch.value) {
            settings.push(fetch);
        }
        if !configured_remotes(repository).contains(&remote) {
            settings.push(sharing_setting(&remote));
        }
        // The configuration says what is fetched; only the user's own record says who is trusted.
        let is_news = record(repository, &remote, true)?;
        if is_news && forget_fetched(repository, &remote)? {
            synced.warnings.push(format!(
                "notes fetched from `{remote}` before are fetched again by the next `git fetch` or `sync pull`: they may have come with the folder"
            ));
        }
        if !is_news && settings.is_empty() {
            synced.warnings.push(format!("notes are exchanged with `{remote}` already"));
        } else {
            repository.add_settings(&settings)?;
        }
        synced.warnings.extend(mixed_up(repository, &remote));
        if let Some(url) = repository.remote_url(&remote).filter(|_| is_news) {
            synced
                .warnings
                .push(format!("notes from {} are trusted as your team's from now on", plain(&url)));
            if let Some(url) = repository.other_push_url(&remote) {
                synced.warnings.push(format!("yours are pushed to {}", plain(&url)));
            }
        }
        let is_fetched = !fetched.is_empty();
        synced.remotes.push(SyncedRemote {
            remote,
            enabled: true,
            fetched_by_git: is_fetched,
            refs: Vec::new(),
        });
        Ok(synced)
    }

    /// The remote that [`Remotes::enable`] would be for, if notes are exchanged with none yet.
    #[must_use]
    pub fn remote_to_enable(&self) -> Option<String> {
        let repository = self.workplace().repository().ok()?;
        if !repository.enabled_remotes().is_empty() {
            return None;
        }
        default_remote(repository).ok()
    }

    /// Gives a remote our notes, if notes are exchanged with it: a push to any other one is left alone.
    ///
    /// # Errors
    /// When the remote cannot be reached or refuses, or when others stay faster.
    pub fn along(&self, remote: &str) -> Result<(), Error> {
        if self.is_shared_with(remote) { self.push(Some(remote), false).map(drop) } else { Ok(()) }
    }

    /// Whether notes are exchanged with this remote when none is named.
    #[must_use]
    pub fn is_shared_with(&self, remote: &str) -> bool {
        self.workplace()
            .repository()
            .is_ok_and(|repository| repository.enabled_remotes().iter().any(|name| name == remote))
    }

    /// Whether a push to `remote`, or to those that are meant where none is named, goes to one that notes are not exchanged
    /// with.
    #[must_use]
    pub fn pushes_elsewhere(&self, remote: Option<&str>) -> bool {
        let partners = self.workplace().repository().and_then(|repository| partners(repository, remote));
        partners.is_ok_and(|partners| partners.iter().any(|name| !self.is_shared_with(name)))
    }

    /// Takes back what [`Remotes::enable`] set: for one remote, or for all of them.
    ///
    /// # Errors
    /// When the configuration cannot be written.
    pub fn disable(&self, remote: Option<&str>) -> Result<Synced, Error> {
        let repository = self.workplace().repository()?;
        let mut enabled = configured_remotes(repository);
        let recorded = repository.enabled_remotes().into_iter();
        enabled.extend(recorded.filter(|name| !enabled.contains(name)).collect::<Vec<_>>());
        let mut synced = Synced::new("disable");
        let remotes: Vec<String> = match remote {
            Some(remote) => vec![remote.to_owned()],
            None => enabled.iter().rev().cloned().collect(),
        };
        for remote in remotes {
            if !enabled.contains(&remote) {
                synced.warnings.push(format!("notes are not exchanged with `{remote}`"));
                continue;
            }
            record(repository, &remote, false)?;
            let (fetch, sharing) = (fetch_setting(&remote), sharing_setting(&remote));
            let both = [fetch.clone(), sharing.clone()];
            if repository.take_out_settings(&both)? != TakenOut::Done {
                // A pattern in another form was there before us.
                if repository.take_out_settings(std::slice::from_ref(&fetch))? == TakenOut::Grown {
                    repository.unset(&[fetch])?;
                }
                if repository.take_out_settings(std::slice::from_ref(&sharing))? != TakenOut::Done {
                    repository.unset(&[sharing])?;
                }
            }
            synced.remotes.push(SyncedRemote {
                remote,
                enabled: false,
                fetched_by_git: false,
                refs: Vec::new(),
            });
        }
        // An address that no remote has any more is not trusted again should one get it.
        if let Some(records) = repository.trust_records() {
            let known = repository.remote_names();
            let known = known.iter().filter(|_| remote.is_some());
            let urls = known.flat_map(|name| [repository.remote_url(name), repository.other_push_url(name)]);
            let urls = urls.flatten();
            records.keep_only(repository.common_dir(), &urls.collect::<Vec<_>>())?;
        }
        if synced.remotes.is_empty() && synced.warnings.is_empty() {
            synced.warnings.push("notes are exchanged with no remote".to_owned());
        }
        Ok(synced)
    }

    /// How far our notes and those of the remotes, as they were last fetched, are apart.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn status(&self) -> Result<Synced, Error> {
        let repository = self.workplace().repository()?;
        let mut synced = Synced::new("status");
        let configured = configured_remotes(repository);
        let trusted = repository.enabled_remotes();
        let unrecorded = configured.iter().filter(|name| !trusted.contains(name));
        let unrecorded = unrecorded.filter(|name| repository.remotes().contains(name));
        synced.warnings.extend(unrecorded.map(|name| {
            mixed_up(repository, name).unwrap_or_else(|| format!("this repository names `{name}` to exchange notes with, which has no effect; `git chronicle sync enable {name}` enables it"))
        }));
        let gone = configured.iter().filter(|name| !repository.remotes().contains(name));
        synced.warnings.extend(gone.map(|name| {
            format!("notes are exchanged with `{name}`, but there is no such remote; `sync disable {name}` forgets it")
        }));
        for remote in repository.remotes() {
            let mut of_remote = SyncedRemote::new(repository, &remote);
            let n_unvouched =
                if of_remote.enabled { sync::unvouched_for(repository, &remote)?.len() } else { 0 };
            if 0 < n_unvouched {
                synced.warnings.push(format!(
                    "{} neither yours nor from a remote you enabled, so nothing is pushed to `{remote}`; `git chronicle sync push --vouch` publishes them as yours",
                    counted_are(n_unvouched, "lesson")
                ));
            }
            for name in SHARED_REFS {
                let apart = sync::apart(repository, &remote, name)?;
                if repository.ref_target(name)?.is_none() && apart == sync::Apart::default() {
                    continue;
                }
                let standing =
                    if apart == sync::Apart::default() { Standing::UpToDate } else { Standing::Apart };
                let (unpushed, unmerged) = (apart.n_unpushed, apart.n_unmerged);
                of_remote.refs.push(SyncedRef { unpushed, unmerged, ..SyncedRef::new(name, standing) });
            }
            synced.remotes.push(of_remote);
        }
        Ok(synced)
    }

    /// Fetches the notes of remotes and merges them into ours. What the user wrote goes only with `accept_purge`.
    ///
    /// # Errors
    /// When a remote cannot be reached, or our notes cannot be read or written.
    pub fn pull(&self, remote: Option<&str>, accept_purge: bool) -> Result<Synced, Error> {
        let repository = self.workplace().repository()?;
        let mut synced = Synced::new("pull");
        let (mut is_purged, mut ignored) = (false, Vec::new());
        for remote in partners(repository, remote)? {
            let mut of_remote = SyncedRemote::new(repository, &remote);
            let report = sync::pull(repository, &remote)?;
            for (name, merged) in report.merged {
                of_remote.refs.push(synced.merged(&name, merged));
            }
            synced.kept.extend(report.kept);
            ignored.extend(report.ignored);
            is_purged |= report.is_purged;
            synced.remotes.push(of_remote);
        }
        synced.kept.sort_unstable();
        synced.kept.dedup();
        if accept_purge && !synced.kept.is_empty() {
            synced.removed = std::mem::take(&mut synced.kept);
            let (author, timestamp) = (repository.author_name(), self.workplace().now().to_string());
            purge::accept(repository, &synced.removed, chronicle_workplace::new_id(), author, timestamp)?;
            purge::enforce(repository)?;
            is_purged = true;
            let ids: Vec<&str> = synced.removed.iter().map(|id| id.0.as_str()).collect();
            synced
                .warnings
                .push(format!("removed, as a purge mark of others says: {}", plain(&ids.join(", "))));
        }
        if !synced.kept.is_empty() {
            let ids: Vec<&str> = synced.kept.iter().map(|id| id.0.as_str()).collect();
            synced.warnings.push(format!(
                "kept, though a purge mark of others names what you wrote: {}; `git chronicle sync pull --accept-purge` removes it",
                plain(&ids.join(", "))
            ));
        }
        ignored.sort_unstable();
        ignored.dedup();
        if !ignored.is_empty() {
            let ids: Vec<&str> = ignored.iter().map(|id| id.0.as_str()).collect();
            synced.warnings.push(format!(
                "kept, though a purge mark of strangers names what you wrote: {}; `git chronicle purge` would remove it",
                plain(&ids.join(", "))
            ));
            synced.kept.append(&mut ignored);
        }
        if is_purged {
            self.chronicle.forget_purged_words()?;
        }
        // Commits may have been squashed on the server, or rewritten where no hook ran.
        self.chronicle.git_hooks().reconcile_lazily()?;
        Ok(synced)
    }

    /// Merges what remotes have, and gives them what we have; what neither the user nor the team wrote only where
    /// the user `vouches` for it.
    ///
    /// # Errors
    /// When a remote cannot be reached or refuses, or when others stay faster.
    pub fn push(&self, remote: Option<&str>, vouches: bool) -> Result<Synced, Error> {
        let repository = self.workplace().repository()?;
        let mut synced = Synced::new("push");
        // What is known of rewritten commits goes along to the others.
        self.chronicle.git_hooks().reconcile_lazily()?;
        for remote in partners(repository, remote)? {
            let mut of_remote = SyncedRemote::new(repository, &remote);
            if let Some(url) =
                repository.other_push_url(&remote).filter(|url| !repository.is_enabled_url(url))
            {
                return PushedElsewhereSnafu { remote, url }.fail();
            }
            let report = sync::push(repository, &remote, vouches)?;
            if report.is_purged {
                self.chronicle.forget_purged_words()?;
            }
            for (name, merged) in report.pulled {
                of_remote.refs.push(synced.merged(&name, merged));
            }
            for name in report.pushed {
                match of_remote.refs.iter_mut().find(|known| known.name == name) {
                    Some(known) => known.standing = Standing::Pushed,
                    None => of_remote.refs.push(SyncedRef::new(&name, Standing::Pushed)),
                }
            }
            if 0 < report.n_withheld {
                synced.warnings.push(format!(
                    "not pushed to `{remote}`: what neither you nor your team said against lessons, and what cannot be read, in {}",
                    counted(report.n_withheld, "note")
                ));
            }
            for (key, kinds) in report.redacted {
                let kinds: BTreeSet<String> = kinds.iter().map(ToString::to_string).collect();
                let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
                synced.warnings.push(format!(
                    "secrets in the note on {key} were replaced before pushing: {kinds}; they may still be in this clone"
                ));
            }
            synced.remotes.push(of_remote);
        }
        Ok(synced)
    }

    /// Takes over the notes that a fork has on the commits of a range, and no others.
    ///
    /// `range` is `A..B`, or one revision that stands for what it has beyond HEAD.
    ///
    /// # Errors
    /// When a revision is unknown, the remote cannot be reached, or our notes cannot be written.
    pub fn import(&self, remote: &str, range: &str) -> Result<Synced, Error> {
        let repository = self.workplace().repository()?;
        let commits = commits_of(repository, range)?;
        let report = sync::import(repository, remote, &commits)?;
        let mut synced = Synced::new("import");
        let mut of_remote = SyncedRemote::new(repository, remote);
        let standing = if report.imported.is_empty() { Standing::UpToDate } else { Standing::Merged };
        let taken = report.imported.len();
        of_remote.refs.push(SyncedRef { taken, ..SyncedRef::new(chronicle_git::NOTES_REF, standing) });
        synced.remotes.push(of_remote);
        synced.warnings = report.warnings;
        if 0 < report.n_outside {
            synced.warnings.push(format!(
                "left where they are: {} on commits outside {range}",
                counted(report.n_outside, "note")
            ));
        }
        Ok(synced)
    }
}

impl Synced {
    fn new(action: &'static str) -> Self {
        let (kept, removed) = (Vec::new(), Vec::new());
        Self { schema: SCHEMA, action, remotes: Vec::new(), kept, removed, warnings: Vec::new() }
    }

    fn merged(&mut self, name: &str, merged: MergedRef) -> SyncedRef {
        self.warnings.extend(merged.warnings);
        let files = merged.recovered.files;
        self.warnings
            .extend(files.iter().map(|file| format!("removed what a dead process left: {}", file.display())));
        let standing = if merged.merged == Merged::UpToDate { Standing::UpToDate } else { Standing::Merged };
        SyncedRef {
            taken: merged.n_taken,
            united: merged.n_united,
            settled: merged.n_settled,
            ..SyncedRef::new(name, standing)
        }
    }
}

impl SyncedRemote {
    fn new(repository: &Repository, remote: &str) -> Self {
        let fetched = repository.settings(&format!("remote.{remote}.fetch"));
        Self {
            remote: remote.to_owned(),
            enabled: repository.enabled_remotes().iter().any(|name| name == remote),
            fetched_by_git: fetched.contains(&notes_refspec(remote)),
            refs: Vec::new(),
        }
    }
}

impl SyncedRef {
    fn new(name: &str, standing: Standing) -> Self {
        let name = name.to_owned();
        Self { name, standing, taken: 0, united: 0, settled: 0, unpushed: 0, unmerged: 0 }
    }
}

pub(crate) fn fetch_setting(remote: &str) -> Setting {
    let (subsection, value) = (remote.to_owned(), notes_refspec(remote));
    Setting { section: "remote", subsection, key: "fetch", value }
}

fn sharing_setting(remote: &str) -> Setting {
    Setting { section: "chronicle", subsection: "sync".to_owned(), key: "remotes", value: remote.to_owned() }
}

/// Drops the notes that were fetched from a remote; returns whether there were any.
///
/// From now on they would count as the team's, and an unpacked archive may have brought them.
fn forget_fetched(repository: &Repository, remote: &str) -> Result<bool, Error> {
    let mut has_any = false;
    for name in SHARED_REFS {
        let fetched = tracking_ref(remote, name);
        if repository.ref_target(&fetched)?.is_some() {
            repository.delete_ref(&fetched)?;
            has_any = true;
        }
    }
    Ok(has_any)
}

/// Records outside the repository whether notes are exchanged with a remote; returns whether that is news.
fn record(repository: &Repository, remote: &str, is_enabled: bool) -> Result<bool, Error> {
    match (repository.trust_records(), repository.remote_url(remote)) {
        (Some(records), Some(url)) => {
            // Git may push to another place than it fetches from.
            let others = repository.other_push_url(remote).into_iter();
            let urls: Vec<String> = others.chain([url]).collect();
            let mut is_news = false;
            for url in &urls {
                is_news |= records.enable(repository.common_dir(), url, is_enabled)?;
            }
            Ok(is_news)
        }
        _ => Ok(false),
    }
}

/// Why the notes of `remote` are nobody's, if git's configuration lets those of another one pass for them.
fn mixed_up(repository: &Repository, remote: &str) -> Option<String> {
    repository.is_fetched_into_by_another(remote).then(|| {
        format!(
            "notes of another remote may be fetched to where those of `{remote}` are kept, so these are not trusted; `git config --show-origin --get-regexp \\.fetch$` shows which setting of this repository does that"
        )
    })
}

/// The remotes that the repository's configuration names.
pub(crate) fn configured_remotes(repository: &Repository) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for value in repository.settings("chronicle.sync.remotes") {
        for name in value.split([',', ' ', '\t']).filter(|name| !name.is_empty()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

fn known(repository: &Repository, name: &str) -> Result<String, Error> {
    match repository.remotes().iter().any(|known| known == name) {
        true => Ok(name.to_owned()),
        false => Err(GitError::UnknownRemote { name: name.to_owned() }.into()),
    }
}

/// `origin`, or the only remote that there is.
fn default_remote(repository: &Repository) -> Result<String, Error> {
    let names = repository.remotes();
    if names.iter().any(|name| name == "origin") {
        return Ok("origin".to_owned());
    }
    match &names[..] {
        [] => Err(Error::NoRemote),
        [only] => Ok(only.clone()),
        _ => SeveralRemotesSnafu { names }.fail(),
    }
}

/// The remotes to exchange notes with: the one that is named, those that are enabled, or the usual one.
fn partners(repository: &Repository, named: Option<&str>) -> Result<Vec<String>, Error> {
    if let Some(name) = named {
        return Ok(vec![known(repository, name)?]);
    }
    let enabled = repository.enabled_remotes();
    if enabled.is_empty() {
        return Ok(vec![default_remote(repository)?]);
    }
    enabled.iter().map(|name| known(repository, name)).collect()
}

/// The commits of `A..B`; of one revision, those that it has beyond HEAD.
fn commits_of(repository: &Repository, range: &str) -> Result<BTreeSet<ObjectId>, Error> {
    let or_head = |revision: &str| if revision.is_empty() { "HEAD".to_owned() } else { revision.to_owned() };
    let (from, to) = match range.split_once("..") {
        Some((from, to)) => (or_head(from), or_head(to.trim_start_matches('.'))),
        None => ("HEAD".to_owned(), range.to_owned()),
    };
    let (from, to) = (repository.resolve(&from)?, repository.resolve(&to)?);
    let known = repository.history(&[from])?;
    let wanted = repository.history(&[to])?;
    Ok(wanted.nodes().iter().map(|node| node.id).filter(|id| known.place(*id).is_none()).collect())
}
