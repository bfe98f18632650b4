//! Lessons of commits that another branch keeps, on lines that the history of HEAD has by now.
//!
//! A branch that was squashed is often still there, and so are the commits on it. Where no whole change of
//! the branch is found again, because it was edited on the way, lines decide: those that identify code. What
//! a branch alone has stays there.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::{Entry, LineRange};
use chronicle_git::ObjectId;

use super::{
    lost::{Lost, WrittenLine},
    matches::{Evidence, Match, Search},
    parts::is_in,
};
use crate::{error::Result, rewrite::carry::Part};

/// The commits of the history of HEAD that wrote what identifies the change of `lost`, or some lessons of it.
pub(super) fn taken_in(search: &Search<'_>, lost: &Lost) -> Result<Vec<Match>> {
    let all: Vec<&WrittenLine> = lost.lines.iter().collect();
    let told: Vec<&WrittenLine> = all.iter().copied().filter(|line| line.is_telling).collect();
    let n_known = lost.lines.len();
    if let Some(target) = writer(search, lost, &told) {
        let n_found = lost.lines.iter().filter(|line| wrote(search, target, line)).count();
        return Ok(vec![Match::whole(lost, target, Evidence::SameLines { n_found, n_known })]);
    }
    let name = lost.key.to_string();
    let mut found: BTreeMap<ObjectId, (Part, BTreeSet<u32>)> = BTreeMap::new();
    for (document, entry) in lost.note.entries() {
        if !document.commit.eq_ignore_ascii_case(&name)
            || !lost.news.iter().any(|(name, _)| *name == entry.id.0)
        {
            continue;
        }
        let lines: Vec<&WrittenLine> = all.iter().copied().filter(|line| is_about(entry, line)).collect();
        let Some(target) = writer(search, lost, &lines) else { continue };
        if is_in(search, target, entry)? {
            let (part, words) = found.entry(target).or_default();
            part.entries.insert(entry.id.clone());
            words.extend(lines.iter().map(|line| line.word));
        }
    }
    let matches = found.into_iter().map(|(target, (part, words))| {
        let evidence = Evidence::SameLines { n_found: words.len(), n_known };
        Match { part: Some(part), ..Match::whole(lost, target, evidence) }
    });
    Ok(matches.collect())
}

/// Whether `entry` is about `line` and others.
fn is_about(entry: &Entry, line: &WrittenLine) -> bool {
    let Some(file) = &entry.file else { return false };
    let places = entry.places.iter().flatten();
    let mut ranges =
        places.filter_map(|place| LineRange::new(place.start, place.end).ok()).chain(entry.lines);
    file.trim_start_matches("./").as_bytes() == line.path
        && ranges.any(|range| (range.start..=range.end).contains(&line.number))
}

/// The first commit of the history of HEAD, not older than `lost`, that wrote all of `lines`, if one of them
/// identifies code.
fn writer(search: &Search<'_>, lost: &Lost, lines: &[&WrittenLine]) -> Option<ObjectId> {
    let telling = lines.iter().find(|line| line.is_telling)?;
    let writers = search.targets.with_word(telling.word).iter().copied();
    let fitting = writers.filter(|target| {
        search.reach.has_here(*target)
            && lines.iter().all(|line| wrote(search, *target, line))
            && !search.came_before(*target, lost)
    });
    fitting.max_by_key(|target| search.targets.age(*target))
}

fn wrote(search: &Search<'_>, target: ObjectId, line: &WrittenLine) -> bool {
    search.targets.with_word(line.word).contains(&target)
}
