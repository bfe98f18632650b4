//! What refs reach.

use std::collections::BTreeSet;

use chronicle_git::{History, ObjectId, Repository};

use crate::error::Result;

/// What the refs reach.
pub(super) struct Reach {
    /// Everything that one of the tips reaches.
    pub(super) all: History,
    /// What HEAD reaches.
    pub(super) here: History,
    /// The tips of branches, here and fetched.
    pub(super) branches: Vec<ObjectId>,
    pub(super) is_shallow: bool,
}

impl Reach {
    pub(super) fn of(repository: &Repository) -> Result<Self> {
        let (mut branches, mut tips) = (Vec::new(), Vec::new());
        for (name, id) in repository.tips()? {
            if repository.commit_tree(id).is_err() {
                continue;
            }
            if ["refs/heads/", "refs/remotes/"].iter().any(|refs| name.starts_with(refs)) {
                branches.push(id);
            }
            tips.push(id);
        }
        for ids in [&mut branches, &mut tips] {
            ids.sort_unstable();
            ids.dedup();
        }
        let all = repository.history(&tips)?;
        let here: Vec<ObjectId> =
            repository.head()?.into_iter().filter(|id| repository.commit_tree(*id).is_ok()).collect();
        let is_shallow = repository.is_shallow();
        Ok(Self { all, here: repository.history(&here)?, branches, is_shallow })
    }

    pub(super) fn has(&self, id: ObjectId) -> bool {
        self.all.place(id).is_some()
    }

    /// Whether `id` is `newer` or one of its ancestors; both are in reach.
    pub(super) fn is_before(&self, id: ObjectId, newer: ObjectId) -> bool {
        let (Some(goal), Some(from)) = (self.all.place(id), self.all.place(newer)) else { return false };
        let mut seen = BTreeSet::from([from]);
        let mut pending = vec![from];
        while let Some(place) = pending.pop() {
            if place == goal {
                return true;
            }
            // Ancestors have greater places.
            let parents = self.all.node(place).parents.iter().copied();
            pending.extend(parents.filter(|parent| *parent <= goal && seen.insert(*parent)));
        }
        false
    }

    pub(super) fn has_here(&self, id: ObjectId) -> bool {
        self.here.place(id).is_some()
    }
}
