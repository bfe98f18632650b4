//! Lost commits that are known by their lines alone: squashed, split, or edited on the way.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::{Entry, Lines, Sketch};
use chronicle_git::{BStr, ObjectId};

use super::{
    lost::Lost,
    matches::{Evidence, Match, Search},
};
use crate::{error::Result, place::introduced, rewrite::carry::Part};

/// Fewer words than this stand somewhere by chance.
const LEAST_WORDS: usize = 3;

/// The commits that wrote the lines of a lost one, if they wrote most of them.
pub(super) fn same_lines(search: &Search<'_>, lost: &Lost) -> Result<Vec<Match>> {
    let parts = covering(search, lost);
    let n_known = lost.wrote.len();
    let n_found: usize = parts.iter().map(|(_, n)| n).sum();
    let is_proof = match n_known {
        0 => false,
        few if few < LEAST_WORDS => n_found == few && parts.len() == 1 && lost.base.is_some(),
        many => many <= 2 * n_found,
    };
    if !is_proof {
        return Ok(Vec::new());
    }
    let takes = match (&parts[..], n_found == n_known) {
        ([(only, _)], true) => vec![(*only, None)],
        (_, is_whole) => {
            let split = split(search, lost, &parts, is_whole)?;
            split.into_iter().map(|(target, part)| (target, Some(part))).collect()
        }
    };
    let counts: BTreeMap<ObjectId, usize> = parts.into_iter().collect();
    let matches = takes.into_iter().map(|(target, part)| {
        let evidence = Evidence::SameLines { n_found: counts[&target], n_known };
        Match { part, ..Match::whole(lost, target, evidence) }
    });
    Ok(matches.collect())
}

/// The fewest commits that wrote the known lines between them, with how many each wrote; most first.
fn covering(search: &Search<'_>, lost: &Lost) -> Vec<(ObjectId, usize)> {
    let mut left: BTreeSet<u32> = lost.wrote.clone();
    let writers: BTreeSet<ObjectId> =
        left.iter().flat_map(|word| search.targets.with_word(*word)).copied().collect();
    let before: BTreeSet<ObjectId> =
        writers.into_iter().filter(|target| search.came_before(*target, lost)).collect();
    let mut parts = Vec::new();
    loop {
        let mut counts: BTreeMap<ObjectId, usize> = BTreeMap::new();
        let writers = left.iter().flat_map(|word| search.targets.with_word(*word));
        for id in writers.filter(|id| !before.contains(*id)) {
            *counts.entry(*id).or_default() += 1;
        }
        // Of equals the oldest: who wrote a line first is who took it in.
        let best = counts.into_iter().max_by_key(|(id, n)| (*n, search.targets.age(*id), *id));
        let Some((id, n)) = best else { return parts };
        left.retain(|word| !search.targets.with_word(*word).contains(&id));
        parts.push((id, n));
    }
}

/// What each part of a split commit takes: the lessons on the lines that it wrote.
///
/// Unless the parts make the whole, lessons on what is in none of them are left: more parts may follow.
fn split(
    search: &Search<'_>,
    lost: &Lost,
    parts: &[(ObjectId, usize)],
    is_whole: bool,
) -> Result<Vec<(ObjectId, Part)>> {
    let mut taken: BTreeMap<ObjectId, Part> = BTreeMap::new();
    let main = parts[0].0;
    taken.insert(main, Part { is_main: true, ..Part::default() });
    for (_, entry) in lost.note.entries() {
        let mut best = (0, main);
        let mut is_there = is_whole || entry.file.is_none();
        for (target, _) in parts {
            let fit = fit(search, *target, entry)?;
            is_there = is_there || is_in(search, *target, entry)?;
            if best.0 < fit {
                best = (fit, *target);
            }
        }
        if !is_there {
            continue;
        }
        taken.entry(best.1).or_default().entries.insert(entry.id.clone());
    }
    Ok(taken.into_iter().collect())
}

/// Whether what `entry` speaks of is in the files of the commit.
pub(super) fn is_in(search: &Search<'_>, target: ObjectId, entry: &Entry) -> Result<bool> {
    let Some(file) = &entry.file else { return Ok(true) };
    let tree = search.repository.commit_tree(target)?;
    let Some(blob) = search.repository.blob_at(tree, BStr::new(file.as_bytes()))? else { return Ok(false) };
    let Some(content) = search.repository.blob_if_here(blob)? else { return Ok(true) };
    let lines = Lines::new(&content);
    let mut sketches = sketches(entry).into_iter().peekable();
    Ok(sketches.peek().is_none() || sketches.any(|sketch| sketch.likeliest(&lines).is_some()))
}

pub(super) fn sketches(entry: &Entry) -> Vec<&Sketch> {
    match &entry.places {
        Some(places) => places.iter().filter_map(|place| place.sketch.as_ref()).collect(),
        None => entry.sketch.iter().collect(),
    }
}

/// How well `entry` fits the commit: 3 for lines that it wrote, 2 for a file that it added, 1 for one that
/// it changed.
fn fit(search: &Search<'_>, target: ObjectId, entry: &Entry) -> Result<u8> {
    let Some(file) = &entry.file else { return Ok(0) };
    let repository = search.repository;
    let commit = repository.commit(target)?;
    let mut parents = Vec::new();
    for parent in &commit.parents {
        parents.push(repository.commit_tree(*parent)?);
    }
    let path = BStr::new(file.as_bytes());
    let Some(new) = repository.blob_at(commit.tree, path)? else { return Ok(0) };
    let old = parents.first().map(|tree| repository.blob_at(*tree, path)).transpose()?.flatten();
    if old == Some(new) {
        return Ok(0);
    }
    let sketches = sketches(entry);
    let touched = if old.is_none() { 2 } else { 1 };
    if sketches.is_empty() {
        return Ok(touched);
    }
    let Some(written) = introduced::by(repository, &parents, path, None, new, repository)? else {
        return Ok(touched);
    };
    let Some(content) = repository.blob_if_here(new)? else { return Ok(touched) };
    let lines = Lines::new(&content);
    let is_written = sketches
        .into_iter()
        .filter_map(|sketch| sketch.likeliest(&lines))
        .any(|found| written.hunks.iter().any(|hunk| hunk.overlaps(found)));
    Ok(if is_written { 3 } else { touched })
}
