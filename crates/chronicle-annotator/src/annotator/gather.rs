//! Everything that is known of a commit before a model is asked: its changes, what its author said, which session made it.
//!
//! Contents are looked at one file after another and let go again; what stays is where the changes are.

use std::collections::{BTreeMap, BTreeSet};

use chronicle::agent::AgentSession;
use chronicle_commits::{AuthorContext, Staged, Staging, input::wash, stored_on, write::is_annotated};
use chronicle_core::{
    Annotation, Entry, Hunk, Lines, Origin, hunks,
    redaction::cleaned,
    trivial::{Trivial, by_content, by_name},
};
use chronicle_git::{ByteSlice, Commit, FileChange, ObjectId, Repository};
use chronicle_workplace::Error;

use super::{
    session::Session,
    texts::{MOST_BYTES, Texts},
};
use crate::Annotator;

/// A commit, and what is known of it.
pub(crate) struct Gathered<'r> {
    pub(crate) repository: &'r Repository,
    pub(crate) texts: Texts<'r>,
    pub(crate) commit: Commit,
    /// The files to look at.
    pub(crate) files: Vec<ChangedFile>,
    /// Files that teach nothing, with the reason.
    pub(crate) aside: Vec<(String, String)>,
    /// Why nobody has to be asked about the commit.
    pub(crate) trivial: Option<String>,
    /// Whether somebody annotated it.
    pub(crate) is_annotated: bool,
    /// What its author said.
    pub(crate) said: Said,
    /// The session that made it.
    pub(crate) session: Option<Session>,
}

/// A file with lines that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    /// Its path; where it was deleted, the one it had.
    pub(crate) path: String,
    pub(crate) renamed_from: Option<String>,
    pub(crate) old: Option<ObjectId>,
    pub(crate) new: Option<ObjectId>,
    pub(crate) hunks: Vec<Hunk>,
}

/// What the author of a commit said of it, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) task: Option<String>,
    /// Reasons, assumptions and remarks.
    pub(crate) words: Vec<String>,
    pub(crate) tags: Vec<String>,
}

impl Said {
    pub(crate) fn is_empty(&self) -> bool {
        self.task.is_none() && self.words.is_empty() && self.tags.is_empty()
    }

    fn hear(&mut self, context: &AuthorContext) {
        self.task = self.task.take().or_else(|| context.task.clone());
        let words = [context.reasoning.as_ref(), context.dependencies.as_ref()];
        self.words.extend(words.into_iter().flatten().cloned());
        self.tags.extend(context.tags.iter().cloned());
    }

    fn read(&mut self, documents: &[&Annotation], entries: &[(&Annotation, &Entry)]) {
        self.task = self.task.take().or_else(|| documents.iter().find_map(|document| document.task.clone()));
        let by_author = entries.iter().filter(|(_, entry)| entry.origin == Some(Origin::Author));
        self.words.extend(by_author.map(|(_, entry)| entry.content.clone()));
    }
}

impl ChangedFile {
    pub(crate) fn n_added(&self) -> u32 {
        self.hunks.iter().map(|hunk| hunk.new.len).sum()
    }

    pub(crate) fn n_removed(&self) -> u32 {
        self.hunks.iter().map(|hunk| hunk.old.len).sum()
    }
}

impl Gathered<'_> {
    /// How many lines changed in the files to look at.
    pub(crate) fn n_changed(&self) -> u64 {
        self.files.iter().map(|file| u64::from(file.n_added()) + u64::from(file.n_removed())).sum()
    }

    /// The file to look at that is called `path`.
    pub(crate) fn file(&self, path: &str) -> Option<&ChangedFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl Annotator<'_> {
    /// Gathers what is known of a commit, which the session `maker` made if no other is known to have.
    pub(crate) fn gather(&self, id: ObjectId, maker: Option<&AgentSession>) -> Result<Gathered<'_>, Error> {
        let repository = self.workplace().repository()?;
        let commit = repository.commit(id)?;
        let stored = stored_on(repository, id, &mut Vec::new())?.note;
        let subject = commit.subject();
        let mut said = Said::default();
        said.read(&stored.documents(), &stored.entries());
        if repository.head()? == Some(id) {
            for context in Staging::peek_contexts(repository)? {
                if matches!(context.belongs_to(repository, id), Ok(Staged::To(to)) if to == id) {
                    said.hear(&context);
                }
            }
            for remark in Staging::peek(repository)? {
                if matches!(remark.belongs_to(repository, id), Ok(Staged::To(to)) if to == id) {
                    said.words.push(wash(&remark.text).0);
                }
            }
        }
        let mut seen = BTreeSet::new();
        said.words.retain(|words| seen.insert(words.clone()));
        let is_annotated = is_annotated(&stored, &subject);
        let mut gathered = Gathered { is_annotated, said, ..Gathered::new(repository, commit) };
        gathered.look()?;
        if gathered.trivial.is_none() {
            let files: Vec<String> = gathered.files.iter().map(|file| file.path.clone()).collect();
            gathered.session = self.session_behind(&id.to_string(), &files, maker)?;
        }
        Ok(gathered)
    }
}

/// A commit that changes more files is not looked through for one that teaches something.
const MOST_JUDGED: usize = 500;

/// Where a commit changed something of which there may be a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Worth {
    /// The file; `None` where there are too many.
    pub(crate) file: Option<String>,
    /// The first line there that it changed.
    pub(crate) line: Option<u32>,
}

impl Annotator<'_> {
    /// Whether a commit changed anything of which there may be a lesson, and where; a file that `is_wanted` is preferred.
    pub(crate) fn worth_a_lesson(
        &self,
        commit: &Commit,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Worth>, Error> {
        let gathered = Gathered::new(self.workplace().repository()?, commit.clone());
        let parents = gathered.parents();
        let changes = gathered.repository.changes(parents.first().copied(), commit.tree)?;
        let n_changes = changes.len();
        let mut found: Option<Worth> = None;
        for change in changes.into_iter().take(MOST_JUDGED) {
            let path = change.path.to_str_lossy().into_owned();
            let line = match gathered.judge(&path, &change, &parents)? {
                Judged::Changed(hunks) => {
                    hunks.iter().find_map(|hunk| hunk.new.range()).map(|range| range.start)
                }
                Judged::TooLarge(_) => None,
                Judged::Trivial(_) | Judged::Taken => continue,
            };
            let is_best = is_wanted(&path);
            if is_best || found.is_none() {
                found = Some(Worth { file: Some(path), line });
            }
            if is_best {
                break;
            }
        }
        Ok(found.or_else(|| (MOST_JUDGED < n_changes).then_some(Worth { file: None, line: None })))
    }
}

impl<'r> Gathered<'r> {
    /// A commit of which nothing is known yet.
    fn new(repository: &'r Repository, commit: Commit) -> Self {
        Self {
            repository,
            texts: Texts::new(repository),
            files: Vec::new(),
            aside: Vec::new(),
            trivial: None,
            is_annotated: false,
            said: Said::default(),
            session: None,
            commit,
        }
    }

    /// The trees of its parents, as far as they are at hand.
    fn parents(&self) -> Vec<ObjectId> {
        self.commit.parents.iter().filter_map(|parent| self.repository.commit_tree(*parent).ok()).collect()
    }
}

impl Gathered<'_> {
    /// Finds out what the commit changed, and what of it is worth a look.
    fn look(&mut self) -> Result<(), Error> {
        let parents = self.parents();
        let is_merge = 1 < parents.len();
        let changes = self.repository.changes(parents.first().copied(), self.commit.tree)?;
        if changes.is_empty() && !is_merge {
            let is_same =
                parents.first().copied().unwrap_or(self.repository.empty_tree()) == self.commit.tree;
            let reason = if is_same { "it changes nothing" } else { "it only moves submodules" };
            self.trivial = Some(reason.to_owned());
            return Ok(());
        }
        let mut reasons: BTreeMap<Trivial, usize> = BTreeMap::new();
        let mut n_silent = 0;
        for change in changes {
            let path = change.path.to_str_lossy().into_owned();
            match self.judge(&path, &change, &parents)? {
                Judged::Changed(hunks) => self.files.push(ChangedFile {
                    path,
                    renamed_from: change.renamed_from.map(|path| path.to_str_lossy().into_owned()),
                    old: change.old,
                    new: change.new,
                    hunks,
                }),
                Judged::Trivial(reason) => {
                    *reasons.entry(reason).or_default() += 1;
                    self.aside.push((path, reason.words().to_owned()));
                }
                Judged::Taken => n_silent += 1,
                Judged::TooLarge(n_bytes) => {
                    self.aside.push((path, format!("too large to be shown: {n_bytes} bytes")));
                    n_silent += 1;
                }
            }
        }
        if self.files.is_empty() {
            self.trivial = Some(match reasons.is_empty() {
                true if is_merge => "a merge without a resolution of its own".to_owned(),
                true if n_silent == 0 => "it changes no lines".to_owned(),
                true => "its files are too large to be shown".to_owned(),
                false => {
                    let words = reasons.iter().map(|(reason, count)| format!("{reason}: {count}"));
                    format!("nothing but files that teach nothing ({})", words.collect::<Vec<_>>().join(", "))
                }
            });
        }
        Ok(())
    }

    fn judge(&self, path: &str, change: &FileChange, parents: &[ObjectId]) -> Result<Judged, Error> {
        if change.old == change.new {
            let reason = if change.renamed_from.is_some() { Trivial::Renamed } else { Trivial::Mode };
            return Ok(Judged::Trivial(reason));
        }
        let olds = self.olds(change, parents)?;
        if 1 < parents.len() && olds.contains(&change.new) {
            return Ok(Judged::Taken);
        }
        if let Some(reason) = by_name(path) {
            return Ok(Judged::Trivial(reason));
        }
        for blob in [change.old, change.new].into_iter().flatten() {
            match self.repository.size_if_here(blob)? {
                Some(size) if MOST_BYTES < size => return Ok(Judged::TooLarge(size)),
                // A partial clone lacks it.
                None => return Ok(Judged::TooLarge(0)),
                Some(_) => {}
            }
        }
        let read = |blob: Option<ObjectId>| blob.map(|blob| self.repository.blob(blob)).transpose();
        let (old, new) = (read(change.old)?, read(change.new)?);
        if let Some(reason) = by_content(path, old.as_deref(), new.as_deref()) {
            return Ok(Judged::Trivial(reason));
        }
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let (old, new) = (Lines::new(&old), Lines::new(&new));
        let mut found = hunks(&old, &new);
        for other in olds.iter().skip(1) {
            let other = read(*other)?.unwrap_or_default();
            let other = hunks(&Lines::new(&other), &new);
            // A merge made what it has from none of its parents.
            found.retain(|hunk| {
                hunk.new.range().is_some_and(|range| {
                    other.iter().filter_map(|hunk| hunk.new.range()).any(|own| own.overlaps(range))
                })
            });
        }
        match (found.is_empty(), 1 < parents.len()) {
            (true, true) => Ok(Judged::Taken),
            (true, false) => Ok(Judged::Trivial(Trivial::Formatting)),
            (false, _) => Ok(Judged::Changed(found)),
        }
    }

    /// The versions of the file in all parents.
    fn olds(&self, change: &FileChange, parents: &[ObjectId]) -> Result<Vec<Option<ObjectId>>, Error> {
        let previous = change.renamed_from.as_ref().unwrap_or(&change.path);
        let mut olds = vec![change.old];
        for parent in parents.iter().skip(1) {
            let same = self.repository.blob_at(*parent, change.path.as_bstr())?;
            olds.push(match same {
                None => self.repository.blob_at(*parent, previous.as_bstr())?,
                found => found,
            });
        }
        Ok(olds)
    }

    /// The message of the commit, without secrets.
    pub(crate) fn message(&self) -> String {
        cleaned(&self.commit.message).0.into_owned()
    }
}

/// What a change of a file comes to.
enum Judged {
    Changed(Vec<Hunk>),
    Trivial(Trivial),
    /// A merge took it from one of its parents.
    Taken,
    TooLarge(u64),
}
