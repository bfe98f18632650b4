//! Remarks made while working, kept until the commit they belong to is annotated.
//!
//! They lie in the git directory of the worktree, with the HEAD they were made on.
//! A remark belongs to the first commit made on that HEAD, however many follow.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use chronicle_core::{Category, EntryId, LineRange, Sketch};
use chronicle_git::{FileLock, ObjectId, Repository};
use serde::{Deserialize, Serialize};
use snafu::ResultExt;

use crate::error::{Result, UnreadableStagingSnafu, WriteStagingSnafu};

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

/// The staged remarks of one worktree, locked.
pub struct Staging {
    path: PathBuf,
    remarks: Vec<StagedRemark>,
    _lock: FileLock,
}

/// The commit that a staged remark belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staged {
    /// This one.
    To(ObjectId),
    /// None on the way to this HEAD: it was made on another branch.
    Elsewhere,
}

/// A remark further back than this many commits is not looked for.
const MAX_STEPS_BACK: usize = 1_000;

impl Staging {
    /// Opens the staged remarks and keeps other processes from changing them meanwhile.
    ///
    /// # Errors
    /// When the file cannot be read; it is never overwritten then.
    pub fn open(repository: &Repository) -> Result<Self> {
        let directory = repository.worktree_state_dir();
        let lock = FileLock::acquire(&directory.join("staging.lock"))?;
        remove_leftovers(&directory);
        let path = directory.join(FILE_NAME);
        let remarks = read(&path)?;
        Ok(Self { path, remarks, _lock: lock })
    }

    /// The staged remarks as they are at this moment, without keeping anyone from changing them.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn peek(repository: &Repository) -> Result<Vec<StagedRemark>> {
        read(&repository.worktree_state_dir().join(FILE_NAME))
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
        let mut remarks = self.remarks.clone();
        remarks.push(remark);
        self.replace(remarks)
    }

    /// Keeps only the remarks that `keep` wants.
    ///
    /// # Errors
    /// When the file cannot be written; it stays as it was then.
    pub fn retain(&mut self, keep: impl FnMut(&&StagedRemark) -> bool) -> Result<()> {
        let kept: Vec<_> = self.remarks.iter().filter(keep).cloned().collect();
        if kept.len() == self.remarks.len() { Ok(()) } else { self.replace(kept) }
    }

    fn replace(&mut self, remarks: Vec<StagedRemark>) -> Result<()> {
        let json = serde_json::to_vec_pretty(&remarks).expect("remarks are plain data");
        write_atomically(&self.path, &json).context(WriteStagingSnafu { path: &self.path })?;
        self.remarks = remarks;
        Ok(())
    }
}

impl StagedRemark {
    /// The commit that the remark belongs to when `target` is HEAD.
    ///
    /// # Errors
    /// When a commit on the way cannot be read.
    pub fn belongs_to(&self, repository: &Repository, target: ObjectId) -> Result<Staged> {
        let made_on = match (&self.head, &self.id) {
            (Some(head), _) => ObjectId::from_hex(head.as_bytes()).ok(),
            // Made before there was any commit, it belongs to the very first.
            (None, Some(_)) => return Ok(Staged::To(first_commit(repository, target)?)),
            (None, None) => None,
        };
        // Released tools do not say when a remark was made.
        let Some(made_on) = made_on else { return Ok(Staged::To(target)) };
        // Made after the commit, about the commit.
        if made_on == target {
            return Ok(Staged::To(target));
        }
        let parent_of = |id: ObjectId| -> Result<Option<ObjectId>> {
            Ok(repository.commit(id)?.parents.first().copied())
        };
        // The commit that an amended one took the place of is on no branch any more.
        let amended_from = match repository.has_object(made_on) && !repository.is_on_a_branch(made_on)? {
            true => Some(parent_of(made_on)?),
            false => None,
        };
        let mut at = target;
        for _ in 0..MAX_STEPS_BACK {
            let parent = parent_of(at)?;
            if parent == Some(made_on) || amended_from == Some(parent) {
                return Ok(Staged::To(at));
            }
            match parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        Ok(Staged::Elsewhere)
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

/// The file's name, which released tools use too.
const FILE_NAME: &str = "staged-notes.json";

fn read(path: &Path) -> Result<Vec<StagedRemark>> {
    match std::fs::read(path) {
        Ok(content) => serde_json::from_slice(&content).context(UnreadableStagingSnafu { path }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(chronicle_git::GitError::Io { path: path.to_owned(), source }.into()),
    }
}

/// Writes beside the file, then renames: whoever reads sees the old or the new, never a half.
fn write_atomically(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let directory = path.parent().expect("the file lies in a directory");
    let mut file = tempfile::Builder::new().prefix("staged-notes.tmp").tempfile_in(directory)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Removes temporary files of processes that died; whoever writes one holds the lock that we hold now.
fn remove_leftovers(directory: &Path) {
    let files = std::fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    for file in files.filter(|file| file.file_name().as_encoded_bytes().starts_with(b"staged-notes.tmp")) {
        // Failing to tidy up is no reason to fail.
        let _removed = std::fs::remove_file(file.path());
    }
}
