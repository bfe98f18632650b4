//! Finds the commits that took the place of annotated ones where no hook saw it, and carries what is
//! known to them.
//!
//! An annotated commit that no ref and no HEAD of a worktree reaches was rewritten, or given up. What its
//! note keeps of the change is enough to find the commit that replaced it, even when nothing else is
//! left of it: the fingerprint of the change, the tree, and a few of the lines that it wrote. So every
//! clone that knows the same notes and commits finds the same.

mod chains;
mod here;
mod lost;
mod matches;
mod parts;
mod reach;
mod relocated;
mod targets;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use chronicle_git::{ObjectId, Repository};
use twox_hash::XxHash3_128;

use crate::{
    disk_cache::{CachePlace, Kept},
    error::Result,
    rewrite::carry::{Carried, CarryRequest, Rewrite, carry},
};
use lost::Lost;
use matches::Search;
pub use matches::{Evidence, Match};
use reach::Reach;
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
        let remark = "in a shallow clone, annotated commits beyond its edge look like lost ones";
        reconciled.warnings.push(remark.to_owned());
    }
    Ok(reconciled)
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
