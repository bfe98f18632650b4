//! What a file was called before, and what became of one that is gone.

use std::collections::HashMap;

use gix::{
    ObjectId,
    bstr::{BStr, BString},
};

use crate::{History, Repository, error::Result};

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

impl Repository {
    /// The files of `new` that were called otherwise in `old`, with their names there.
    pub(crate) fn renames(&self, old: ObjectId, new: ObjectId) -> Result<HashMap<BString, BString>> {
        let changes = self.changes(Some(old), new)?;
        Ok(changes.into_iter().filter_map(|change| Some((change.path, change.renamed_from?))).collect())
    }

    /// What became of `path`, which the newest commit of `history` lacks.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn whereabouts(&self, history: &History, path: &BStr) -> Result<Whereabouts> {
        let mut name = path.to_owned();
        let mut first_rename = None;
        // A file may be renamed several times; each round finds the next, and a circle ends the search.
        let mut names = vec![name.clone()];
        loop {
            let Some((by, renamed_to)) = self.end_of(history, name.as_ref())? else {
                return Ok(Whereabouts::Never);
            };
            let Some(to) = renamed_to.filter(|to| !names.contains(to)) else {
                return Ok(Whereabouts::Deleted { by });
            };
            let by = *first_rename.get_or_insert(by);
            if self.blob_at(history.nodes()[0].tree, to.as_ref())?.is_some() {
                return Ok(Whereabouts::Renamed { to, by });
            }
            names.push(to.clone());
            name = to;
        }
    }

    /// The newest commit that took `path` away, and its name from then on if it was a rename.
    fn end_of(&self, history: &History, path: &BStr) -> Result<Option<(ObjectId, Option<BString>)>> {
        let followed = self.follow(history, &[path.to_owned()])?;
        let Some(end) = followed.files[0].touches.iter().find(|touch| touch.new.is_none()) else {
            return Ok(None);
        };
        let node = history.node(end.place);
        let Some(parent) = node.parents.first().map(|parent| history.node(*parent).tree) else {
            return Ok(None);
        };
        let changes = self.changes(Some(parent), node.tree)?;
        let to =
            changes.into_iter().find(|change| change.renamed_from.as_ref().is_some_and(|from| from == path));
        Ok(Some((node.id, to.map(|change| change.path))))
    }
}
