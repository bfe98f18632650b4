//! Finds the commits that took the place of annotated ones where no hook saw it, and carries what is
//! known to them.
//!
//! An annotated commit that no ref and no HEAD of a worktree reaches was rewritten, or given up. What its
//! note keeps of the change is enough to find the commit that took its place, even when nothing else is
//! left of it: the fingerprint of the change, the tree, and a few of the lines that it wrote. So every
//! clone that knows the same notes and commits finds the same.

mod chains;
mod here;
mod lost;
mod parts;
mod relocated;
mod targets;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use chronicle_git::{History, ObjectId, Repository};
use twox_hash::XxHash3_128;

use crate::{
    carry::{Carried, CarryRequest, Part, Rewrite, carry},
    error::Result,
    kept::{CachePlace, Kept},
};
use lost::Lost;
use targets::Targets;

/// How far is looked for commits that took the place of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// All commits.
    Whole,
    /// The newest commits only, and not at all when nothing changed since the last time.
    Bounded,
}

/// Commits that a bounded search looks at.
const MAX_BOUNDED: usize = 1_000;

/// Why a commit is taken for one that took the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// It makes the same change.
    SameChange,
    /// It makes the change that so many commits made together.
    SameTogether {
        /// How many.
        n_commits: usize,
    },
    /// It has the same files, and wrote the lines that are known of the other.
    SameFiles,
    /// It wrote so many of the lines that are known of the other.
    SameLines {
        /// How many it wrote.
        n_found: usize,
        /// How many are known.
        n_known: usize,
    },
}

/// A commit that took the place of another, or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The annotated commit.
    pub source: ObjectId,
    /// The commit that took its place.
    pub target: ObjectId,
    /// Why it is taken for that.
    pub evidence: Evidence,
    /// Of a commit that was split, what this part of it takes.
    pub part: Option<Part>,
}

impl Match {
    /// `target` took the place of all of `lost`.
    fn whole(lost: &Lost, target: ObjectId, evidence: Evidence) -> Self {
        Self { source: lost.key, target, evidence, part: None }
    }
}

/// What a search came to.
#[derive(Debug, Clone, Default)]
pub struct Reconciled {
    /// The commits that took the place of others.
    pub matches: Vec<Match>,
    /// What was carried; nothing in a dry run.
    pub carried: Vec<Carried>,
    /// Annotated commits that nothing reaches and that have no successor.
    pub left: Vec<ObjectId>,
    /// What the user should be told.
    pub warnings: Vec<String>,
    /// Left-over files of dead processes that were removed.
    pub recovered: Vec<PathBuf>,
}

/// Finds what was rewritten, and carries it unless `is_dry`.
///
/// # Errors
/// When refs, notes or commits cannot be read, or the notes cannot be written.
pub fn reconcile(repository: &Repository, effort: Effort, is_dry: bool) -> Result<Reconciled> {
    let seen = Kept::new(CachePlace::of(repository).as_ref(), "reconciled");
    let state = match effort {
        Effort::Bounded => Some(state_of(repository)?),
        Effort::Whole => None,
    };
    if state.is_some_and(|state| seen.get(state).is_some()) {
        return Ok(Reconciled::default());
    }
    let mut reconciled = find(repository, effort)?;
    if is_dry {
        return Ok(reconciled);
    }
    let requests = requests(&reconciled.matches);
    (reconciled.carried, reconciled.recovered) = carry(repository, &requests)?;
    reconciled.carried.retain(|carried| carried.is_changed);
    if effort == Effort::Bounded {
        seen.put(state_of(repository)?, b"");
    }
    Ok(reconciled)
}

/// What the search depends on: the refs and HEADs.
fn state_of(repository: &Repository) -> Result<u128> {
    let mut tips = repository.tips()?;
    tips.extend(repository.refs_under("refs/notes/")?);
    tips.sort_unstable();
    let text: String = tips.iter().map(|(name, id)| format!("{name} {id}\n")).collect();
    Ok(XxHash3_128::oneshot(text.as_bytes()))
}

/// What the refs reach.
struct Reach {
    /// Everything that one of the tips reaches.
    all: History,
    /// What HEAD reaches.
    here: History,
    /// The tips of branches, here and fetched.
    branches: Vec<ObjectId>,
    is_shallow: bool,
}

impl Reach {
    fn of(repository: &Repository) -> Result<Self> {
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

    fn has(&self, id: ObjectId) -> bool {
        self.all.place(id).is_some()
    }

    /// Whether `id` is `newer` or one of its ancestors; both are in reach.
    fn is_before(&self, id: ObjectId, newer: ObjectId) -> bool {
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

    fn has_here(&self, id: ObjectId) -> bool {
        self.here.place(id).is_some()
    }
}

fn find(repository: &Repository, effort: Effort) -> Result<Reconciled> {
    let reach = Reach::of(repository)?;
    let mut reconciled = Reconciled::default();
    let lost = lost::find(repository, &reach, &mut reconciled.warnings)?;
    if lost.is_empty() {
        return Ok(reconciled);
    }
    let most = match effort {
        Effort::Whole => usize::MAX,
        Effort::Bounded => MAX_BOUNDED,
    };
    let targets = Targets::of(repository, &reach, &lost, most)?;
    let search = Search { repository, reach: &reach, targets: &targets };
    let mut matches: Vec<Match> = Vec::new();
    let mut open: Vec<&Lost> = Vec::new();
    for one in &lost {
        let same = search.same_change(one);
        if same.is_empty() {
            open.push(one);
        }
        matches.extend(same);
    }
    for matched in chains::together(&search, &open)? {
        open.retain(|one| one.key != matched.source);
        matches.push(matched);
    }
    let (orphans, kept): (Vec<&Lost>, Vec<&Lost>) = open.into_iter().partition(|one| one.is_orphan);
    for one in kept {
        matches.extend(here::taken_in(&search, one)?);
    }
    for one in orphans {
        let mut by_place = search.same_files(one);
        if by_place.is_empty() && (!reach.is_shallow || repository.has_object(one.key)) {
            by_place = parts::same_lines(&search, one)?;
        }
        if by_place.is_empty() {
            reconciled.left.push(one.key);
        }
        matches.extend(by_place);
    }
    let mut seen: BTreeSet<(ObjectId, ObjectId)> = BTreeSet::new();
    matches.retain(|one| seen.insert((one.source, one.target)));
    reconciled.matches = without_stepping_stones(matches, &lost);
    if reach.is_shallow && !reconciled.left.is_empty() {
        let remark =
            "in a shallow clone, annotated commits from beyond its edge cannot be told from lost ones";
        reconciled.warnings.push(remark.to_owned());
    }
    Ok(reconciled)
}

/// What matches are looked for in.
struct Search<'s> {
    repository: &'s Repository,
    reach: &'s Reach,
    targets: &'s Targets,
}

/// A change that stands in more commits than this says nothing about any of them.
const MAX_SAME: usize = 16;

impl Search<'_> {
    /// The commits that make the same change.
    fn same_change(&self, lost: &Lost) -> Vec<Match> {
        let found = lost.patches.iter().flat_map(|patch| self.targets.with_patch(patch));
        let fitting = found.filter(|target| {
            *target != lost.key
                && (lost.is_orphan || self.reach.has_here(*target))
                && !self.came_before(*target, lost)
        });
        let fitting: BTreeSet<ObjectId> = fitting.collect();
        if MAX_SAME < fitting.len() {
            return Vec::new();
        }
        fitting.into_iter().map(|target| Match::whole(lost, target, Evidence::SameChange)).collect()
    }

    /// The commit that has the same files, if it wrote all the lines that are known of the other.
    fn same_files(&self, lost: &Lost) -> Vec<Match> {
        let mut found = Vec::new();
        for tree in &lost.trees {
            for target in self.targets.with_tree(*tree) {
                let n_words = self.targets.n_words(target, &lost.wrote);
                // The last part of a split commit has the same files, too, and wrote only some of the lines.
                let is_like = match lost.wrote.len() {
                    0 => lost.base.is_some(),
                    n_known => n_known == n_words,
                };
                if is_like && !self.came_before(target, lost) {
                    found.push((n_words, target));
                }
            }
        }
        // Of several, as where a change was taken back and made again, the one that wrote most of it.
        let best = found.into_iter().max();
        best.into_iter().map(|(_, target)| Match::whole(lost, target, Evidence::SameFiles)).collect()
    }

    /// Whether `target` is known to have been there when the lost commit was made.
    fn came_before(&self, target: ObjectId, lost: &Lost) -> bool {
        lost.base.is_some_and(|base| self.reach.is_before(target, base))
    }
}

/// Leaves out commits that were rewritten again: what they knew goes with the commit that took their place.
fn without_stepping_stones(mut matches: Vec<Match>, lost: &[Lost]) -> Vec<Match> {
    let by_key: BTreeMap<ObjectId, &Lost> = lost.iter().map(|one| (one.key, one)).collect();
    let mut by_target: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
    for one in &matches {
        by_target.entry(one.target).or_default().push(one.source);
    }
    matches.retain(|one| {
        let Some(lost) = by_key.get(&one.source) else { return true };
        let others = by_target[&one.target].iter().filter(|other| **other != one.source);
        !others.filter_map(|other| by_key.get(other)).any(|other| {
            other.derived_from.contains(&lost.key.to_string()) && lost.claims.is_subset(&other.claims)
        })
    });
    matches
}

/// One request for each commit that took the place of others.
fn requests(matches: &[Match]) -> Vec<CarryRequest> {
    let mut by_target: BTreeMap<ObjectId, Vec<&Match>> = BTreeMap::new();
    for one in matches {
        by_target.entry(one.target).or_default().push(one);
    }
    let mut requests = Vec::with_capacity(by_target.len());
    for (target, matches) in by_target {
        let mut sources: Vec<ObjectId> = matches.iter().map(|one| one.source).collect();
        sources.sort_unstable();
        let how = match matches.iter().any(|one| matches!(one.evidence, Evidence::SameTogether { .. })) {
            true => Rewrite::Squash,
            false => Rewrite::of(sources.len()),
        };
        let parts = matches.iter().filter_map(|one| Some((one.source, one.part.clone()?)));
        requests.push(CarryRequest { target, sources, how, only: parts.collect() });
    }
    requests
}
