//! What files that notes name are called now.

use std::{cell::RefCell, collections::HashMap};

use chronicle_git::{BString, ByteSlice, LazyRepository, ObjectId, Repository};

use crate::{
    caches::Caches,
    error::Result,
    past::{Whereabouts, line::Line},
};

/// What a file that a note names is called now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NameNow {
    /// Its name now, where that is another one.
    pub(crate) renamed_to: Option<String>,
    /// Whether a commit deleted it.
    pub(crate) is_deleted: bool,
}

/// What files are called in one commit, each looked up once.
pub(crate) struct NamesNow<'a> {
    repository: &'a Repository,
    line: &'a Line<'a>,
    tree: ObjectId,
    known: RefCell<HashMap<String, NameNow>>,
}

impl<'a> NamesNow<'a> {
    /// In the commit of `line`, which has the tree `tree`.
    pub(crate) fn new(repository: &'a Repository, line: &'a Line<'a>, tree: ObjectId) -> Self {
        Self { repository, line, tree, known: RefCell::default() }
    }

    /// What `file` is called now. One that cannot be looked up keeps its name.
    pub(crate) fn of(&self, file: &str) -> NameNow {
        if let Some(known) = self.known.borrow().get(file) {
            return known.clone();
        }
        let now = self.look_up(file).unwrap_or_default();
        self.known.borrow_mut().insert(file.to_owned(), now.clone());
        now
    }

    fn look_up(&self, file: &str) -> Result<NameNow> {
        let path = BString::from(file.trim_start_matches("./"));
        if self.repository.blob_at(self.tree, path.as_bstr())?.is_some() {
            return Ok(NameNow::default());
        }
        let now = match self.line.whereabouts(&path)? {
            Whereabouts::Renamed { to, .. } => {
                NameNow { renamed_to: Some(to.to_string()), is_deleted: false }
            }
            // It may be back, and not committed yet.
            Whereabouts::Deleted { .. } if !self.repository.has_present_file(None, path.as_bstr())? => {
                NameNow { renamed_to: None, is_deleted: true }
            }
            Whereabouts::Deleted { .. } | Whereabouts::Never => NameNow::default(),
        };
        Ok(now)
    }
}

/// What became of paths that the commit `head` lacks.
///
/// # Errors
/// When the repository cannot be read.
pub fn whereabouts(
    lazy: &LazyRepository,
    caches: &Caches,
    head: ObjectId,
    paths: &[BString],
) -> Result<Vec<Whereabouts>> {
    let repository = lazy.get()?;
    caches.facts.asked(|| {
        let line = Line::open(repository, &caches.facts, head, &mut Vec::new())?;
        paths.iter().map(|path| line.whereabouts(path)).collect()
    })
}
