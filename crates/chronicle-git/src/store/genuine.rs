//! Objects of notes, which are believed only where their bytes are those that their ids name.
//!
//! Git believes what lies under an id, and what stands in for it. An archive of a repository can hold other bytes there,
//! and its notes would pass for those of a remote that the user trusts, or hide the user's own.

use gix::{
    ObjectId,
    objs::{Data, Find, Kind, TreeRefIter},
};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{ForgedSnafu, GitError, ObjectSnafu, Result},
    open::repository::{for_bulk, without_replacements},
};

/// The objects of a repository, each checked when it is read.
pub(crate) struct Genuine<'r>(pub(crate) &'r gix::Repository);

impl Find for Genuine<'_> {
    fn try_find<'a>(&self, id: &gix::oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<Data<'a>>> {
        let Some(found) = self.0.objects.try_find(id, buffer)? else { return Ok(None) };
        match is_genuine(id, found.kind, found.data) {
            true => Ok(Some(found)),
            false => Err(gix::Error::from_error(GitError::Forged { id: id.to_owned() })),
        }
    }
}

fn tree_of(commit: ObjectId, data: &[u8]) -> Option<ObjectId> {
    gix::objs::CommitRefIter::from_bytes(data, commit.kind()).tree_id().ok()
}

/// Whether the object that is kept as `id` is the one of that id.
pub(crate) fn is_genuine(id: &gix::oid, kind: Kind, data: &[u8]) -> bool {
    gix::objs::compute_hash(id.kind(), kind, data).is_ok_and(|found| found == id)
}

impl Repository {
    /// The repository, where no object stands in for another.
    pub(crate) fn plain(&self) -> &gix::Repository {
        self.plain.get_or_init(|| without_replacements(for_bulk(self.inner.clone())))
    }

    /// The bytes of an object of notes, and what it is.
    fn genuine(&self, id: ObjectId) -> Result<(Kind, Vec<u8>)> {
        let object = self.plain().find_object(id).context(ObjectSnafu { id })?;
        snafu::ensure!(is_genuine(&id, object.kind, &object.data), ForgedSnafu { id });
        Ok((object.kind, object.detach().data))
    }

    /// The bytes of a note.
    ///
    /// # Errors
    /// When the object is missing, or is another one than its id says.
    pub fn note_blob(&self, id: ObjectId) -> Result<Vec<u8>> {
        Ok(self.genuine(id)?.1)
    }

    /// The tree of a commit of notes, or of what leads to one; `None` where there is none.
    pub(crate) fn genuine_tree_of(&self, tip: ObjectId) -> Result<Option<ObjectId>> {
        let mut id = tip;
        // A tag of a tag of a tag is no ref of notes.
        for _ in 0..8 {
            let (kind, data) = self.genuine(id)?;
            match kind {
                Kind::Tree => return Ok(Some(id)),
                Kind::Commit => return Ok(tree_of(id, &data)),
                Kind::Blob => return Ok(None),
                Kind::Tag => {}
            }
            let Ok(target) = gix::objs::TagRefIter::from_bytes(&data, id.kind()).target_id() else {
                return Ok(None);
            };
            id = target;
        }
        Ok(None)
    }

    /// The tree of a commit of the notes ref `name`.
    ///
    /// # Errors
    /// When there is none, or it is another object than its id says.
    pub(crate) fn tree_of_notes(&self, name: &str, tip: ObjectId) -> Result<ObjectId> {
        let is_none = || GitError::NotANotesRef { name: name.to_owned() };
        match self.genuine(tip) {
            Ok((Kind::Commit, data)) => tree_of(tip, &data).ok_or_else(is_none),
            Err(error @ GitError::Forged { .. }) => Err(error),
            Ok(_) | Err(_) => Err(is_none()),
        }
    }

    /// What `look` makes of the entries of a tree of notes.
    pub(crate) fn in_genuine_tree<T>(
        &self,
        id: ObjectId,
        look: impl FnOnce(TreeRefIter<'_>) -> T,
    ) -> Result<T> {
        let (_, data) = self.genuine(id)?;
        Ok(look(TreeRefIter::from_bytes(&data, id.kind())))
    }
}
