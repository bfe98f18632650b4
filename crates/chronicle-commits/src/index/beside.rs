//! Annotated commits that HEAD does not reach, and whether another branch does.
//!
//! What another branch reaches is its own affair and not told; what none reaches is. Branches come, go and
//! move without HEAD, so each state of the index looks again. Where many branches lie far from HEAD it would
//! take long to walk them all each time: mostly one tip came, and the others are where they were.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use chronicle_git::{ObjectId, Repository};
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    index::{ancestry::Ancestry, stored::Id},
};

/// Annotated commits that HEAD does not reach.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Beside {
    /// What branches and HEADs pointed at when the commits were looked for, enough of them to reach those that are reached;
    /// nothing when there are none.
    tips: BTreeSet<Id>,
    /// The commits, and whether one of the tips reaches them.
    commits: BTreeMap<Id, bool>,
}

/// What is asked about commits now, and was known of them before.
#[derive(Clone, Copy)]
pub(super) struct Grounds<'a> {
    pub(super) repository: &'a Repository,
    pub(super) ancestry: &'a Ancestry,
    /// Whether HEAD reaches a commit.
    pub(super) is_here: &'a dyn Fn(ObjectId) -> bool,
    /// What HEAD was when the tips were looked at before, and whether it reached a commit.
    pub(super) head_then: ObjectId,
    pub(super) was_here: &'a dyn Fn(ObjectId) -> bool,
}

impl Beside {
    /// Those of `commits`, which `tips` do or do not reach.
    pub(super) fn new(
        tips: impl IntoIterator<Item = ObjectId>,
        commits: impl IntoIterator<Item = (ObjectId, bool)>,
    ) -> Self {
        let commits: BTreeMap<Id, bool> =
            commits.into_iter().map(|(commit, is_reached)| (commit.into(), is_reached)).collect();
        let tips = tips.into_iter().filter(|_| !commits.is_empty()).map(Id::from).collect();
        Self { tips, commits }
    }

    /// The commits.
    pub(super) fn commits(&self) -> impl Iterator<Item = ObjectId> {
        self.commits.keys().filter_map(Id::get)
    }

    /// Whether one of the tips reaches `commit`; `None` where that is none of the commits.
    pub(super) fn is_reached(&self, commit: ObjectId) -> Option<bool> {
        self.commits.get(&commit.into()).copied()
    }

    /// The same of `commits` as the branches are now.
    pub(super) fn at_present(&self, grounds: Grounds<'_>, commits: &BTreeSet<ObjectId>) -> Result<Self> {
        if commits.is_empty() {
            return Ok(Self::default());
        }
        let bare =
            |tips: Vec<(String, ObjectId)>| tips.into_iter().map(|(_, tip)| tip).collect::<BTreeSet<_>>();
        // Mostly HEAD went back, and the branch that it was on reaches all that it left. No commit is read for that, nor
        // what else points at some.
        let branches = bare(grounds.repository.branch_tips()?);
        let is_as_before =
            branches.contains(&grounds.head_then) && commits.iter().all(|commit| (grounds.was_here)(*commit));
        let reach_all = || {
            let within = Walked::within(grounds, &branches);
            commits.iter().all(|commit| within.reaches(grounds, *commit))
        };
        if is_as_before || reach_all() {
            return Ok(Self::new(branches, commits.iter().map(|commit| (*commit, true))));
        }
        let tips = bare(grounds.repository.tips()?);
        let old: BTreeSet<ObjectId> = self.tips.iter().filter_map(Id::get).collect();
        let (kept, came) = tips.iter().partition::<Vec<ObjectId>, _>(|tip| old.contains(*tip));
        let mut kept: HashSet<ObjectId> = kept.into_iter().collect();
        if !old.contains(&grounds.head_then) {
            kept.clear();
        }
        let came = if kept.is_empty() { tips.iter().copied().collect() } else { came };
        let mut walked = Walked::from(grounds, &came, |id| kept.contains(&id))?;
        // What an old tip reached is reached still where another tip reaches the old one.
        let is_covered =
            |tip: &ObjectId| kept.contains(tip) || (grounds.is_here)(*tip) || walked.reaches(grounds, *tip);
        // Nor is anything known of a commit that was not asked about then.
        let is_known = |commit: &ObjectId| self.is_reached(*commit).is_some() || (grounds.was_here)(*commit);
        let goes_on = !kept.is_empty() && old.iter().all(is_covered) && commits.iter().all(is_known);
        if !goes_on && !kept.is_empty() {
            let tips: Vec<ObjectId> = tips.iter().copied().collect();
            walked = Walked::from(grounds, &tips, |_| false)?;
        }
        let was_reached = |commit| self.is_reached(commit).unwrap_or_else(|| (grounds.was_here)(commit));
        let is_reached = |commit| walked.reaches(grounds, commit) || goes_on && was_reached(commit);
        let commits = commits.iter().map(|commit| (*commit, is_reached(*commit)));
        Ok(Self::new(tips, commits))
    }
}

/// What some tips reach.
struct Walked {
    /// Commits that are not in the table's history.
    met: HashSet<ObjectId>,
    /// For each place of the table's history, whether they reach it.
    reached: Vec<bool>,
}

impl Walked {
    /// What those of `tips` reach that are in the table's history.
    fn within(grounds: Grounds<'_>, tips: &BTreeSet<ObjectId>) -> Self {
        let places = tips.iter().filter_map(|tip| grounds.ancestry.place(*tip));
        Self { met: HashSet::new(), reached: grounds.ancestry.reach(places).unwrap_or_default() }
    }

    /// What `tips` reach without passing a commit for which `is_known` holds.
    fn from(grounds: Grounds<'_>, tips: &[ObjectId], is_known: impl Fn(ObjectId) -> bool) -> Result<Self> {
        let Grounds { repository, ancestry, .. } = grounds;
        let is_beyond =
            |tip: &ObjectId| ancestry.place(*tip).is_none() && repository.commit_tree(*tip).is_ok();
        let beyond: Vec<ObjectId> = tips.iter().copied().filter(is_beyond).collect();
        let stop = |id| ancestry.place(id).is_some() || is_known(id);
        let walk = repository.history_until(&beyond, stop, usize::MAX)?.unwrap_or_default();
        let met: HashSet<ObjectId> = walk.history.nodes().iter().map(|node| node.id).collect();
        let places = met.iter().chain(tips).filter_map(|id| ancestry.place(*id));
        let reached = ancestry.reach(places).unwrap_or_default();
        Ok(Self { met, reached })
    }

    fn reaches(&self, grounds: Grounds<'_>, id: ObjectId) -> bool {
        let place = grounds.ancestry.place(id);
        let is_reached = |place: u32| self.reached.get(place as usize).copied().unwrap_or_default();
        self.met.contains(&id) || place.is_some_and(is_reached)
    }
}
