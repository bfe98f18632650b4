//! What history says about the files in scope: which commits changed them, and what they were called.

pub(crate) mod fill;
pub(crate) mod known;
pub(crate) mod line;
pub(crate) mod placements;

use chronicle_git::{BString, ObjectId};

/// A commit of the history that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastCommit {
    pub(crate) id: ObjectId,
    pub(crate) tree: ObjectId,
    /// When it was committed, in seconds since 1970.
    pub(crate) time: i64,
    /// The trees of its parents, as far as these are here.
    pub(crate) parents: Vec<ObjectId>,
}

/// One commit that changed a file in scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touch {
    /// Where the commit is in the history.
    pub(crate) place: u32,
    /// The file's name in that commit.
    pub(crate) name: BString,
    /// The file's blob before; `None` when the commit added or renamed it.
    pub(crate) old: Option<ObjectId>,
    /// The file's blob after; `None` when the commit took it away.
    pub(crate) new: Option<ObjectId>,
    /// The file's name before, when the commit renamed it.
    pub(crate) renamed_from: Option<BString>,
}

/// The commits that changed one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileHistory {
    /// The changes, newest first.
    pub(crate) touches: Vec<Touch>,
}

impl FileHistory {
    /// The names that the file ever had.
    pub(crate) fn names(&self) -> impl Iterator<Item = &BString> {
        self.touches.iter().flat_map(|touch| [Some(&touch.name), touch.renamed_from.as_ref()]).flatten()
    }
}

/// What became of a path that is not in the newest commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whereabouts {
    /// It is called otherwise now.
    Renamed {
        /// Its name in the newest commit.
        to: BString,
        /// The commit that renamed it first.
        by: ObjectId,
    },
    /// It was deleted.
    Deleted {
        /// The commit that deleted it.
        by: ObjectId,
    },
    /// No commit ever had it.
    Never,
}
