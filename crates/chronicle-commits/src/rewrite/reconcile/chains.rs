//! Commits that were squashed: what several made together, one commit makes now.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_git::ObjectId;

use super::{
    lost::Lost,
    matches::{Evidence, Match, Search},
};
use crate::{error::Result, note::change};

/// Commits of a chain that are looked at.
const MAX_CHAIN: usize = 200;
/// In a chain of more commits, only the whole of it is compared.
const MAX_PIECES: usize = 12;

/// Commits of a branch that took in others that are looked at.
const MAX_BRANCH: usize = 2_000;
/// States of such a branch that are compared.
const MAX_STATES: usize = 32;

/// Commits that follow one on another, newest first, and the tree that the oldest was made on.
struct Chain {
    commits: Vec<(ObjectId, ObjectId)>,
    base: Option<ObjectId>,
}

/// Commits that may have become one, and the trees between which they made their change.
struct Span {
    commits: BTreeSet<ObjectId>,
    base: Option<ObjectId>,
    tree: ObjectId,
    /// What it was made on; what came before cannot have taken its place.
    made_on: Option<ObjectId>,
}

/// The commits that make the change which several lost ones made together.
///
/// Also those of branches that HEAD does not reach: a branch whose whole change is in HEAD was squashed,
/// whether it was deleted or not.
pub(super) fn together(search: &Search<'_>, open: &[&Lost]) -> Result<Vec<Match>> {
    let by_key: BTreeMap<ObjectId, &Lost> = open.iter().map(|one| (one.key, *one)).collect();
    let mut matches = Vec::new();
    let mut matched = BTreeSet::new();
    for span in spans(search, open)? {
        let inside: Vec<&Lost> = span
            .commits
            .iter()
            .filter_map(|id| by_key.get(id).copied())
            .filter(|one| !matched.contains(&one.key))
            .collect();
        if inside.is_empty() {
            continue;
        }
        let Ok(changes) = search.repository.plain_changes(span.base, span.tree) else { continue };
        let Some(print) =
            change::print(search.repository, &changes, |_| {})?.filter(|print| !print.is_empty())
        else {
            continue;
        };
        let patch = print.finish();
        let is_all_lost = inside.iter().all(|one| one.is_orphan);
        let mut fitting = search.targets.with_patch(&patch).filter(|target| {
            !span.commits.contains(target)
                && (is_all_lost || search.reach.has_here(*target))
                && !span.made_on.is_some_and(|base| search.reach.is_before(*target, base))
        });
        let Some(target) = fitting.next() else { continue };
        let evidence = Evidence::SameTogether { n_commits: span.commits.len() };
        for one in inside {
            matched.insert(one.key);
            matches.push(Match { source: one.key, target, evidence, part: None });
        }
    }
    Ok(matches)
}

/// What is compared, the longest of each chain first.
fn spans(search: &Search<'_>, open: &[&Lost]) -> Result<Vec<Span>> {
    let mut spans = Vec::new();
    for chain in chains(search, open) {
        for (newest, oldest) in pieces(chain.commits.len()) {
            let piece = &chain.commits[newest..=oldest];
            let base = chain.commits.get(oldest + 1).map(|(_, tree)| *tree).or(chain.base);
            let commits = piece.iter().map(|(id, _)| *id).collect();
            spans.push(Span { commits, base, tree: piece[0].1, made_on: None });
        }
    }
    // A branch that took in what came on the one that it was made on, once or several times: what is its own
    // is what differs from the newest commit that it took in.
    let orphans = open.iter().filter(|one| one.is_orphan).map(|one| one.key);
    for tip in orphans {
        spans.extend(own(search, tip, |id| search.reach.has(id))?);
    }
    let keys: BTreeSet<ObjectId> = open.iter().map(|one| one.key).collect();
    for tip in search.reach.branches.iter().filter(|tip| !search.reach.has_here(**tip)) {
        let of_branch = own(search, *tip, |id| search.reach.has_here(id))?;
        spans.extend(of_branch.into_iter().filter(|span| !span.commits.is_disjoint(&keys)));
    }
    Ok(spans)
}

/// What the branch with this `tip` has of its own, now and at each commit before; nothing where it took in no
/// other branch, as its pieces say the same then.
fn own(search: &Search<'_>, tip: ObjectId, is_end: impl Fn(ObjectId) -> bool) -> Result<Vec<Span>> {
    if !search.repository.has_object(tip) {
        return Ok(Vec::new());
    }
    let Some(branch) = search.repository.history_until(&[tip], is_end, MAX_BRANCH)? else {
        return Ok(Vec::new());
    };
    let history = &branch.history;
    let has_merge = branch.fresh().any(|(_, node)| 1 < node.parents.len());
    let mut spans = Vec::new();
    let mut at = history.place(tip).filter(|_| has_merge);
    while let Some(place) = at.filter(|place| !branch.is_edge[*place as usize] && spans.len() < MAX_STATES) {
        let (mut commits, mut ends) = (BTreeSet::new(), BTreeSet::new());
        let (mut pending, mut seen) = (vec![place], BTreeSet::from([place]));
        while let Some(place) = pending.pop() {
            let node = history.node(place);
            if branch.is_edge[place as usize] {
                ends.insert(node.id);
                continue;
            }
            commits.insert(node.id);
            pending.extend(node.parents.iter().copied().filter(|parent| seen.insert(*parent)));
        }
        let made_on = ends.iter().copied().min_by_key(|end| search.reach.all.place(*end));
        if made_on.is_none_or(|made_on| ends.iter().all(|end| search.reach.is_before(*end, made_on))) {
            let base = made_on.map(|id| search.repository.commit_tree(id)).transpose()?;
            spans.push(Span { commits, base, tree: history.node(place).tree, made_on });
        }
        at = history.node(place).parents.first().copied();
    }
    Ok(spans)
}

/// The pieces of a chain, as the places of their newest and oldest commit, longest first.
fn pieces(n: usize) -> Vec<(usize, usize)> {
    if n < 2 {
        return Vec::new();
    }
    if MAX_PIECES < n {
        return vec![(0, n - 1)];
    }
    let mut pieces: Vec<(usize, usize)> =
        (0..n).flat_map(|newest| (newest + 1..n).map(move |oldest| (newest, oldest))).collect();
    pieces.sort_by_key(|(newest, oldest)| (std::cmp::Reverse(oldest - newest), *newest));
    pieces
}

/// The chains that hold lost commits whose objects are still here.
fn chains(search: &Search<'_>, open: &[&Lost]) -> Vec<Chain> {
    let orphans = open.iter().filter(|one| one.is_orphan).map(|one| one.key);
    let mut chains: Vec<Chain> =
        orphans.filter_map(|tip| chain(search, tip, |id| search.reach.has(id))).collect();
    // A chain that is the older part of another says nothing new.
    let inner: BTreeSet<ObjectId> =
        chains.iter().flat_map(|chain| chain.commits.iter().skip(1).map(|(id, _)| *id)).collect();
    chains.retain(|chain| !inner.contains(&chain.commits[0].0));
    let away = search.reach.branches.iter().filter(|tip| !search.reach.has_here(**tip));
    let of_branches = away.filter_map(|tip| chain(search, *tip, |id| search.reach.has_here(id)));
    chains.extend(
        of_branches.filter(|chain| chain.commits.iter().any(|(id, _)| open.iter().any(|one| one.key == *id))),
    );
    chains
}

/// The commits from `tip` down to one for which `is_end` holds, along first parents.
fn chain(search: &Search<'_>, tip: ObjectId, is_end: impl Fn(ObjectId) -> bool) -> Option<Chain> {
    let mut commits = Vec::new();
    let mut at = Some(tip);
    while let Some(id) = at.filter(|id| !is_end(*id)) {
        // Of a chain that is not all here, the whole change is not known.
        let commit = search.repository.commit(id).ok()?;
        if commits.len() == MAX_CHAIN {
            return None;
        }
        commits.push((id, commit.tree));
        at = commit.parents.first().copied();
    }
    let base = at.map(|id| search.repository.commit_tree(id)).transpose().ok()?;
    (!commits.is_empty()).then_some(Chain { commits, base })
}
