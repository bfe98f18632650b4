//! The bytes of a file that is asked about, read when they are needed: mostly what is known of them will do.

use std::{cell::OnceCell, rc::Rc};

use chronicle_git::{LazyRepository, ObjectId};
use twox_hash::XxHash3_128;

/// The bytes of a file in the version that is asked about.
#[derive(Debug, Clone)]
pub struct Content(Source);

#[derive(Debug, Clone)]
enum Source {
    Absent,
    /// There is such a file, but this partial clone lacks it.
    Promised,
    /// These, and their hash once it was asked for.
    Bytes(Rc<(Vec<u8>, OnceCell<u128>)>),
    /// Those of a blob, once they were read.
    Committed(ObjectId, Rc<OnceCell<Option<Vec<u8>>>>),
}

impl Content {
    /// The bytes of `blob`, which the commit has that is asked about.
    #[must_use]
    pub fn committed(blob: ObjectId) -> Self {
        Self(Source::Committed(blob, Rc::default()))
    }

    /// The bytes of a file that this partial clone lacks.
    pub(crate) fn promised() -> Self {
        Self(Source::Promised)
    }

    /// Whether there is such a file, but not here.
    pub(crate) fn is_promised(&self) -> bool {
        matches!(self.0, Source::Promised)
    }

    /// The blob whose bytes they are, where they are as committed.
    pub(crate) fn blob(&self) -> Option<ObjectId> {
        match &self.0 {
            Source::Committed(blob, _) => Some(*blob),
            _ => None,
        }
    }

    /// A hash that other bytes do not have; `None` when there is no such file. Two versions with the same bytes may have
    /// different ones.
    pub(crate) fn hash(&self) -> Option<u128> {
        match &self.0 {
            Source::Absent | Source::Promised => None,
            Source::Bytes(held) => {
                let (bytes, hash) = &**held;
                Some(*hash.get_or_init(|| XxHash3_128::oneshot(bytes)))
            }
            Source::Committed(blob, _) => Some(XxHash3_128::oneshot(blob.as_slice())),
        }
    }

    /// The bytes; `None` when there is no such file, or when they are not here, as in partial clones.
    #[must_use]
    pub fn bytes(&self, repository: &LazyRepository) -> Option<&[u8]> {
        match &self.0 {
            Source::Absent | Source::Promised => None,
            Source::Bytes(held) => Some(&held.0),
            Source::Committed(blob, read) => {
                // What is here but broken is as good as absent.
                read.get_or_init(|| repository.get().ok()?.blob_if_here(*blob).ok()?).as_deref()
            }
        }
    }
}

impl From<Option<Vec<u8>>> for Content {
    fn from(bytes: Option<Vec<u8>>) -> Self {
        Self(bytes.map_or(Source::Absent, |bytes| Source::Bytes(Rc::new((bytes, OnceCell::new())))))
    }
}
