//! Remarks made while working, and what authors say ahead, kept until the commit they belong to is annotated.
//!
//! They lie in the git directory of the worktree, with the HEAD they were made on.
//! They belong to the first commit made on that HEAD, however many follow.
//!
//! An archive may bring such files. So the user's data folder records what this user staged; anything else
//! stays where it is and becomes nobody's lesson.

use std::path::{Path, PathBuf};

use chronicle_core::{Category, EntryId, LineRange, Sketch, counted};
use chronicle_git::{FileLock, ObjectId, Repository, TrustRecords, files, replace_file, state_path};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use snafu::ResultExt;

use crate::{
    error::{Result, UnreadableStagingSnafu, WriteStagingSnafu},
    note::trust::{Mark, Trust, mark_of_words},
    write::context::AuthorContext,
};

/// A remark that waits for its commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedRemark {
    /// When it was made, RFC 3339.
    pub timestamp: String,
    /// The remark.
    pub text: String,
    /// Becomes the id of its wisdom entry; released tools stage without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<EntryId>,
    /// HEAD when it was made; none on an unborn branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// What kind of lesson it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// The file it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Lines of the file as it was when the remark was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// Those lines' hashes, to find them in the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Sketch>,
}

/// What is staged in one worktree, locked.
pub struct Staging {
    records: Option<TrustRecords>,
    directory: PathBuf,
    remarks: Vec<StagedRemark>,
    contexts: Vec<AuthorContext>,
    /// What the user did not stage.
    strange_remarks: Vec<StagedRemark>,
    strange_contexts: Vec<AuthorContext>,
    _lock: FileLock,
}

/// The commit that a staged remark belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staged {
    /// This one.
    To(ObjectId),
    /// None on the way to this HEAD: it was made on another branch.
    Elsewhere,
    /// One that is still to be made.
    NotYet,
}

/// A remark further back than this many commits is not looked for.
const MAX_STEPS_BACK: usize = 1_000;

impl Staging {
    /// Opens the staged remarks and keeps other processes from changing them meanwhile.
    ///
    /// # Errors
    /// When the file cannot be read; it is never overwritten then.
    pub fn open(repository: &Repository) -> Result<Self> {
        Self::open_in(repository, &repository.worktree_state_dir())
    }

    /// [`Staging::open`] for the state directory of any worktree.
    fn open_in(repository: &Repository, directory: &Path) -> Result<Self> {
        let lock = repository.lock(&directory.join("staging.lock"))?;
        remove_leftovers(directory);
        let (remarks, strange_remarks) = by_user(repository, read(&directory.join(REMARKS))?);
        let (contexts, strange_contexts) = by_user(repository, read_contexts(&directory.join(CONTEXTS))?);
        Ok(Self {
            records: repository.trust_records().cloned(),
            directory: directory.to_owned(),
            remarks,
            contexts,
            strange_remarks,
            strange_contexts,
            _lock: lock,
        })
    }

    /// A word on what is in the files and was not staged by the user, if anything is.
    #[must_use]
    pub fn strange(&self) -> Option<String> {
        let n = self.strange_remarks.len() + self.strange_contexts.len();
        (0 < n).then(|| {
            format!(
                "{} in `{}` not staged by you, and left there; `git chronicle note --clear` and `git chronicle context clear` remove it",
                counted(n, "item"),
                self.directory.display()
            )
        })
    }

    /// The staged remarks as they are at this moment, without keeping anyone from changing them.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn peek(repository: &Repository) -> Result<Vec<StagedRemark>> {
        Ok(by_user(repository, read(&repository.worktree_state(REMARKS)?)?).0)
    }

    /// What authors said ahead, in the same way.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn peek_contexts(repository: &Repository) -> Result<Vec<AuthorContext>> {
        Ok(by_user(repository, read_contexts(&repository.worktree_state(CONTEXTS)?)?).0)
    }

    /// Whether anything is staged in the git directory of a worktree.
    #[must_use]
    pub fn has_any(git_dir: &Path) -> bool {
        [REMARKS, CONTEXTS].iter().any(|name| state_path(git_dir, name).is_ok_and(|path| path.exists()))
    }

    /// The remarks, oldest first.
    #[must_use]
    pub fn remarks(&self) -> &[StagedRemark] {
        &self.remarks
    }

    /// Adds a remark.
    ///
    /// # Errors
    /// When the file cannot be written; it stays as it was then.
    pub fn add(&mut self, remark: StagedRemark) -> Result<()> {
        self.record(&remark)?;
        let mut remarks = self.remarks.clone();
        remarks.push(remark);
        self.replace(remarks)
    }

    /// Records that the user staged it, before it is.
    fn record(&self, staged: &impl Serialize) -> Result<()> {
        match &self.records {
            Some(records) => Ok(records.record(chronicle_git::Whom::User, &[mark(staged)])?),
            None => Ok(()),
        }
    }

    /// Keeps only the remarks that `keep` wants.
    ///
    /// # Errors
    /// When the file cannot be written; it stays as it was then.
    pub fn retain(&mut self, keep: impl FnMut(&&StagedRemark) -> bool) -> Result<()> {
        let kept: Vec<_> = self.remarks.iter().filter(keep).cloned().collect();
        if kept.len() == self.remarks.len() { Ok(()) } else { self.replace(kept) }
    }

    /// Keeps only what `keep` wants of the remarks that the user did not stage; returns how many went.
    ///
    /// # Errors
    /// When the file cannot be written; it stays as it was then.
    pub fn retain_strange(&mut self, mut keep: impl FnMut(&StagedRemark) -> bool) -> Result<usize> {
        let before = self.strange_remarks.len();
        self.strange_remarks.retain(|remark| keep(remark));
        if self.strange_remarks.len() < before {
            self.replace(self.remarks.clone())?;
        }
        Ok(before - self.strange_remarks.len())
    }

    /// The same of what the user did not say ahead.
    ///
    /// # Errors
    /// As there.
    pub fn retain_strange_contexts(&mut self, mut keep: impl FnMut(&AuthorContext) -> bool) -> Result<usize> {
        let before = self.strange_contexts.len();
        self.strange_contexts.retain(|context| keep(context));
        if self.strange_contexts.len() < before {
            self.replace_contexts(self.contexts.clone())?;
        }
        Ok(before - self.strange_contexts.len())
    }

    fn replace(&mut self, remarks: Vec<StagedRemark>) -> Result<()> {
        let all: Vec<&StagedRemark> = self.strange_remarks.iter().chain(&remarks).collect();
        self.write(REMARKS, &all)?;
        self.remarks = remarks;
        Ok(())
    }

    /// What authors said ahead, oldest first.
    #[must_use]
    pub fn contexts(&self) -> &[AuthorContext] {
        &self.contexts
    }

    /// Adds what an author says of the next commit to what was said of it already; returns all of it.
    ///
    /// # Errors
    /// When the file cannot be written; it stays as it was then.
    pub fn add_context(&mut self, context: AuthorContext) -> Result<AuthorContext> {
        let mut contexts = self.contexts.clone();
        let same = contexts.iter_mut().find(|known| known.head == context.head && known.id.is_some());
        let whole = match same {
            Some(known) => {
                known.update(context);
                known.clone()
            }
            None => {
                contexts.push(context.clone());
                context
            }
        };
        self.record(&whole)?;
        self.replace_contexts(contexts)?;
        Ok(whole)
    }

    /// Keeps only what `keep` wants of what authors said ahead.
    ///
    /// # Errors
    /// When the file cannot be written; it stays as it was then.
    pub fn retain_contexts(&mut self, keep: impl FnMut(&&AuthorContext) -> bool) -> Result<()> {
        let kept: Vec<_> = self.contexts.iter().filter(keep).cloned().collect();
        if kept.len() == self.contexts.len() { Ok(()) } else { self.replace_contexts(kept) }
    }

    fn replace_contexts(&mut self, contexts: Vec<AuthorContext>) -> Result<()> {
        // Other tools know a file with one object.
        let all: Vec<&AuthorContext> = self.strange_contexts.iter().chain(&contexts).collect();
        match &all[..] {
            [only] => self.write(CONTEXTS, only)?,
            several => self.write(CONTEXTS, &several)?,
        }
        self.contexts = contexts;
        Ok(())
    }

    /// Writes a file; an empty list leaves none behind, so that one look tells that nothing is staged.
    fn write(&self, name: &str, content: &impl Serialize) -> Result<()> {
        let path = self.directory.join(name);
        let json = serde_json::to_vec_pretty(content).expect("what is staged is plain data");
        let written = match json == b"[]" {
            true => std::fs::remove_file(&path).or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            }),
            // Readers see the old or the new, never a half.
            false => replace_file(&path, &json),
        };
        written.context(WriteStagingSnafu { path })
    }
}

impl StagedRemark {
    /// Whether the remark was made when `head` was HEAD, or by a tool that does not say when.
    ///
    /// # Errors
    /// When a commit on the way cannot be read.
    pub fn waits(&self, repository: &Repository, head: ObjectId) -> Result<bool> {
        let is_known = self.head.is_some() || self.id.is_some();
        Ok(!is_known || owner(repository, self.head.as_deref(), self.id.is_some(), head)? == Staged::NotYet)
    }

    /// The commit that the remark belongs to when `target` is HEAD.
    ///
    /// # Errors
    /// When a commit on the way cannot be read.
    pub fn belongs_to(&self, repository: &Repository, target: ObjectId) -> Result<Staged> {
        match owner(repository, self.head.as_deref(), self.id.is_some(), target)? {
            // Made after the commit, about the commit.
            Staged::NotYet => Ok(Staged::To(target)),
            found => Ok(found),
        }
    }
}

impl AuthorContext {
    /// The commit that this was said of when `target` is HEAD.
    ///
    /// # Errors
    /// When a commit on the way cannot be read.
    pub fn belongs_to(&self, repository: &Repository, target: ObjectId) -> Result<Staged> {
        owner(repository, self.head.as_deref(), self.id.is_some(), target)
    }
}

/// The commit that something belongs to that was staged on `head`; tools that give no id do not say where.
fn owner(repository: &Repository, head: Option<&str>, has_id: bool, target: ObjectId) -> Result<Staged> {
    let made_on = match (head, has_id) {
        (Some(head), _) => ObjectId::from_hex(head.as_bytes()).ok(),
        // Made before there was any commit, it belongs to the very first.
        (None, true) => return Ok(Staged::To(first_commit(repository, target)?)),
        (None, false) => None,
    };
    let Some(made_on) = made_on else { return Ok(Staged::To(target)) };
    if made_on == target {
        return Ok(Staged::NotYet);
    }
    // What HEAD was is certain, also where the commit took the place of one that others still have.
    if repository.head_before_commit(target) == Some(made_on) {
        return Ok(Staged::To(target));
    }
    // The commit that an amended one took the place of is on no branch any more.
    let amended_from = match repository.has_object(made_on) && !repository.is_reached(made_on)? {
        true => Some(repository.commit(made_on)?.parents.first().copied()),
        false => None,
    };
    let mut at = target;
    let mut path = Vec::new();
    for _ in 0..MAX_STEPS_BACK {
        let parent = repository.commit(at)?.parents.first().copied();
        path.push(at);
        if parent == Some(made_on) || amended_from == Some(parent) {
            // What was pulled meanwhile is of others.
            let Some(made_here) = repository.made_here() else { return Ok(Staged::To(at)) };
            let first = path.iter().rev().find(|id| made_here.contains(*id));
            return Ok(first.map_or(Staged::NotYet, |id| Staged::To(*id)));
        }
        match parent {
            Some(parent) => at = parent,
            None => break,
        }
    }
    Ok(Staged::Elsewhere)
}

/// Drops what waits in the state directory of a worktree and is gone by its id or its words; says how much it was.
///
/// # Errors
/// When what is staged cannot be read or written.
pub(crate) fn drop_staged(
    repository: &Repository,
    directory: &Path,
    is_gone: impl Fn(Option<&EntryId>, &str) -> bool,
) -> Result<usize> {
    if ![REMARKS, CONTEXTS].iter().any(|name| directory.join(name).exists()) {
        return Ok(0);
    }
    let mut staging = Staging::open_in(repository, directory)?;
    let before = staging.remarks.len() + staging.contexts.len();
    staging.retain(|remark| !is_gone(remark.id.as_ref(), &remark.text))?;
    staging.retain_contexts(|context| !is_context_gone(context, &is_gone))?;
    let n_strange = staging.retain_strange(|remark| !is_gone(remark.id.as_ref(), &remark.text))?
        + staging.retain_strange_contexts(|context| !is_context_gone(context, &is_gone))?;
    Ok(before + n_strange - staging.remarks.len() - staging.contexts.len())
}

/// The words of what [`drop_staged`] would drop.
///
/// # Errors
/// When what is staged cannot be read.
pub(crate) fn staged_to_drop(
    directory: &Path,
    is_gone: impl Fn(Option<&EntryId>, &str) -> bool,
) -> Result<Vec<String>> {
    let mut words = Vec::new();
    for remark in read::<Vec<StagedRemark>>(&directory.join(REMARKS))? {
        if is_gone(remark.id.as_ref(), &remark.text) {
            words.push(remark.text);
        }
    }
    for context in read_contexts(&directory.join(CONTEXTS))? {
        if is_context_gone(&context, &is_gone) {
            let said = context.task.or(context.reasoning).or(context.dependencies);
            words.push(said.unwrap_or_default());
        }
    }
    Ok(words)
}

/// What the user staged in the state directory of a worktree.
///
/// # Errors
/// When what is staged cannot be read.
pub(crate) fn own_staged(repository: &Repository, directory: &Path) -> Result<Vec<Value>> {
    let remarks = by_user(repository, read::<Vec<StagedRemark>>(&directory.join(REMARKS))?).0;
    let contexts = by_user(repository, read_contexts(&directory.join(CONTEXTS))?).0;
    let all = remarks.iter().map(serde_json::to_value).chain(contexts.iter().map(serde_json::to_value));
    Ok(all.map(|said| said.expect("what is staged is plain data")).collect())
}

fn is_context_gone(context: &AuthorContext, is_gone: &impl Fn(Option<&EntryId>, &str) -> bool) -> bool {
    let said = serde_json::to_value(context).expect("what is staged is plain data");
    is_gone(context.id.as_ref(), "") || says(&said, is_gone)
}

/// What marks something staged as the user's.
fn mark(staged: &impl Serialize) -> Mark {
    mark_of_words("staged", staged)
}

/// What of `staged` the user staged, and what not. Where nothing is recorded, all of it counts: it becomes a lesson of
/// nobody known.
fn by_user<T: Serialize>(repository: &Repository, staged: Vec<T>) -> (Vec<T>, Vec<T>) {
    if staged.is_empty() || repository.trust_records().is_none() {
        return (staged, Vec::new());
    }
    let trust = Trust::of(repository);
    staged.into_iter().partition(|staged| trust.is_own(&mark(staged)))
}

fn says(value: &Value, is_gone: &impl Fn(Option<&EntryId>, &str) -> bool) -> bool {
    match value {
        Value::String(text) => is_gone(None, text),
        Value::Array(elements) => elements.iter().any(|element| says(element, is_gone)),
        Value::Object(map) => map.values().any(|value| says(value, is_gone)),
        _ => false,
    }
}

/// The oldest commit on the way of first parents from `target`, as far as is looked.
fn first_commit(repository: &Repository, target: ObjectId) -> Result<ObjectId> {
    let mut at = target;
    for _ in 0..MAX_STEPS_BACK {
        match repository.commit(at)?.parents.first() {
            Some(parent) => at = *parent,
            None => break,
        }
    }
    Ok(at)
}

/// The names of the files, which released tools use too.
const REMARKS: &str = "staged-notes.json";
const CONTEXTS: &str = "pending-context.json";

/// One object, or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(Box<AuthorContext>),
    More(Vec<AuthorContext>),
}

fn read_contexts(path: &Path) -> Result<Vec<AuthorContext>> {
    let found: Option<OneOrMore> = read(path)?;
    Ok(match found {
        None => Vec::new(),
        Some(OneOrMore::One(one)) => vec![*one],
        Some(OneOrMore::More(more)) => more,
    })
}

fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T> {
    if path.is_symlink() {
        return Err(chronicle_git::GitError::Linked { path: path.to_owned() }.into());
    }
    match files::read(path, files::MAX_BYTES) {
        Ok(content) => serde_json::from_slice(&content).context(UnreadableStagingSnafu { path }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
        Err(source) => Err(chronicle_git::GitError::Io { path: path.to_owned(), source }.into()),
    }
}

/// How names of temporary files of released versions start.
const TEMPORARY: &str = "staged-notes.tmp";

/// Removes temporary files of processes that died; whoever writes one holds the lock that we hold now.
fn remove_leftovers(directory: &Path) {
    let files = std::fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    for file in files.filter(|file| file.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes())) {
        // Failing to tidy up is no reason to fail.
        let _removed = std::fs::remove_file(file.path());
    }
}
