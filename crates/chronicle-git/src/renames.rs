//! What a file was called before, and what became of one that is gone.

use std::collections::{HashMap, hash_map::Entry};

use gix::{ObjectId, bstr::BString};

use crate::{FileHistory, History, Repository, error::Result};

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

    /// What became of each of `paths`, which the newest commit of `history` lacks.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn whereabouts(&self, history: &History, paths: &[BString]) -> Result<Vec<Whereabouts>> {
        let mut found = vec![Whereabouts::Never; paths.len()];
        let searched = paths.iter().enumerate();
        let mut pending: Vec<Search> =
            searched.map(|(number, path)| Search { number, names: vec![path.clone()], by: None }).collect();
        // A file may be renamed several times; each round finds the next, and a circle ends the search.
        while !pending.is_empty() {
            let names: Vec<BString> = pending.iter().map(|search| search.name().clone()).collect();
            let ends = self.ends_of(history, &names)?;
            for (mut search, end) in std::mem::take(&mut pending).into_iter().zip(ends) {
                let Some(End { by, renamed_to }) = end else {
                    found[search.number] = Whereabouts::Never;
                    continue;
                };
                let Some(to) = renamed_to.filter(|to| !search.names.contains(to)) else {
                    found[search.number] = Whereabouts::Deleted { by };
                    continue;
                };
                let by = *search.by.get_or_insert(by);
                if self.blob_at(history.nodes()[0].tree, to.as_ref())?.is_some() {
                    found[search.number] = Whereabouts::Renamed { to, by };
                    continue;
                }
                search.names.push(to);
                pending.push(search);
            }
        }
        Ok(found)
    }

    /// How each of `paths` ended.
    fn ends_of(&self, history: &History, paths: &[BString]) -> Result<Vec<Option<End>>> {
        let followed = self.follow(history, paths)?;
        let mut renames: HashMap<u32, HashMap<BString, BString>> = HashMap::new();
        let end_of = |(path, file): (&BString, &FileHistory)| {
            let Some(end) = file.touches.iter().find(|touch| touch.new.is_none()) else { return Ok(None) };
            let node = history.node(end.place);
            let Some(parent) = node.parents.first().map(|parent| history.node(*parent).tree) else {
                return Ok(None);
            };
            let renames = match renames.entry(end.place) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let by_new = self.renames(parent, node.tree)?.into_iter();
                    new.insert(by_new.map(|(to, from)| (from, to)).collect())
                }
            };
            Ok(Some(End { by: node.id, renamed_to: renames.get(path).cloned() }))
        };
        paths.iter().zip(&followed.files).map(end_of).collect()
    }
}

/// How a path ended.
struct End {
    /// The newest commit that took it away.
    by: ObjectId,
    /// Its name from then on, if that was a rename.
    renamed_to: Option<BString>,
}

/// The search for a file that was renamed, perhaps more than once.
struct Search {
    number: usize,
    /// The names that it had, newest last.
    names: Vec<BString>,
    /// The commit that renamed it first.
    by: Option<ObjectId>,
}

impl Search {
    fn name(&self) -> &BString {
        &self.names[self.names.len() - 1]
    }
}
