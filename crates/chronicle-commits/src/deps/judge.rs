//! Judges who relies on the code that is asked about, from what is known of its files.

use std::{
    cell::{OnceCell, RefCell},
    cmp::{Ordering, Reverse},
    collections::{BTreeSet, HashMap, HashSet},
};

use chronicle_core::{
    Age, CodeWords, CrossCuttingMember, EntryId, LEAST_ALIKE, LineFinder, LineMap, LineRange, Lines, Locator,
    correction::CorrectionItem,
    dependent::{Dependent, Strength},
    mentions::{agree, segments},
    outline::{Item, resolve},
    reading::State,
    score::{self, Tie},
};
use chronicle_git::{BString, ByteSlice, LazyRepository, ObjectId};
use jiff::Timestamp;

use crate::{
    answer::stands,
    corrections,
    deps::{Dependents, DepsRequest, Target, Words},
    error::Result,
    moved,
    prose::{Kind, Passage, Said},
    record::{Relied, Spoken},
};

/// Who relies on a target.
struct Finding<'j> {
    /// The number of the target, and that of its file.
    target: usize,
    file: usize,
    from: Speaker<'j>,
    /// The item relied upon, as the note calls it.
    on_anchor: Option<&'j str>,
    nature: &'j str,
    group: &'j [String],
    confidence: f64,
    superseded_by: Option<EntryId>,
    corrections: Vec<CorrectionItem>,
}

/// What decides mostly which of two comes first: the plainest, then the most trusted, then the newest.
///
/// Numbers, since there may be thousands to compare.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    strength: u8,
    is_unsure: u8,
    /// The bits of the confidence, which is not negative: they are in its order.
    confidence: Reverse<u64>,
    /// Nanoseconds since the epoch.
    at: Reverse<i128>,
}

impl Rank {
    fn of(finding: &Finding<'_>) -> Self {
        let Finding { from, superseded_by, confidence, .. } = finding;
        Self {
            strength: from.strength as u8,
            is_unsure: 2 * u8::from(from.spoken.elsewhere.is_some()) + u8::from(superseded_by.is_some()),
            confidence: Reverse(confidence.to_bits()),
            at: Reverse(from.spoken.at.as_nanosecond()),
        }
    }
}

/// The numbers of `found` in order; what is said twice shows once.
fn ranked(found: &[Finding<'_>]) -> Vec<usize> {
    let mut order: Vec<(Rank, usize)> = found.iter().map(Rank::of).zip(0..).collect();
    let as_found =
        |left: &usize, right: &usize| by_words(&found[*left], &found[*right]).then(left.cmp(right));
    order.sort_unstable_by(|left, right| left.0.cmp(&right.0).then_with(|| as_found(&left.1, &right.1)));
    let mut seen = HashSet::with_capacity(found.len());
    let is_news = |number: &usize| {
        let Finding { file, from, on_anchor, nature, .. } = &found[*number];
        seen.insert((nature, from.file, from.anchor, file, on_anchor))
    };
    order.into_iter().map(|(_, number)| number).filter(is_news).collect()
}

fn by_words(left: &Finding<'_>, right: &Finding<'_>) -> Ordering {
    (left.from.file.cmp(&right.from.file))
        .then_with(|| left.from.anchor.cmp(&right.from.anchor))
        .then_with(|| left.nature.cmp(right.nature))
        .then_with(|| left.on_anchor.cmp(&right.on_anchor))
        .then_with(|| (left.from.spoken.commit, left.from.id).cmp(&(right.from.spoken.commit, right.from.id)))
}

/// Words that name a target.
struct Mentioned<'j> {
    target: usize,
    anchor: Option<&'j str>,
    passage: Passage,
}

/// One question, and what is known about the files that it is about.
pub(super) struct Judge<'a> {
    lazy: &'a LazyRepository,
    request: &'a DepsRequest,
    head_time: Timestamp,
    /// What is known of each file.
    relied: Vec<Relied<'a>>,
    /// The file of each target.
    file_of: Vec<usize>,
    /// The items of each file as it is now, when they are needed.
    items: Vec<OnceCell<Vec<Item>>>,
    /// What was said of claims after they were made.
    said: &'a dyn corrections::Said,
    /// Other files that code came from which something found relies on.
    sources: RefCell<BTreeSet<String>>,
}

/// Who says something, and how plainly.
struct Speaker<'s> {
    strength: Strength,
    spoken: &'s Spoken<'s>,
    id: Option<&'s str>,
    file: Option<&'s str>,
    anchor: Option<&'s str>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        lazy: &'a LazyRepository,
        request: &'a DepsRequest,
        head_time: Timestamp,
        relied: Vec<Relied<'a>>,
        said: &'a dyn corrections::Said,
    ) -> Self {
        let numbers: HashMap<&BString, usize> =
            request.files().into_iter().enumerate().map(|(number, file)| (&file.path, number)).collect();
        let file_of = request.targets.iter().map(|target| numbers[&target.file.path]).collect();
        let items = relied.iter().map(|_| OnceCell::new()).collect();
        Self { lazy, request, head_time, relied, file_of, items, said, sources: RefCell::default() }
    }

    /// Everyone who relies on the targets; `None` when words cannot be looked up.
    pub(super) fn answer(
        &self,
        words: &dyn Words,
        n_annotations: usize,
        mut warnings: Vec<String>,
    ) -> Result<Option<Dependents>> {
        let (mut found, mut mentioned) = (Vec::new(), Vec::new());
        // What relies on a file as a whole relies on each target in it.
        let mut is_found: Vec<Vec<bool>> =
            self.relied.iter().map(|relied| vec![false; relied.reliances.len()]).collect();
        for number in 0..self.request.targets.len() {
            let is_found = &mut is_found[self.file_of[number]];
            let declared_by = self.declared(number, is_found, &mut found)?;
            self.grouped(number, &mut found)?;
            if self.request.with_mentions
                && self.mentioned(number, words, &declared_by, &mut mentioned)?.is_none()
            {
                return Ok(None);
            }
        }
        let spoken: Vec<Spoken<'_>> = mentioned.iter().map(|by| by.passage.heading.spoken()).collect();
        found.extend(mentioned.iter().zip(&spoken).map(|(Mentioned { target, anchor, passage }, spoken)| {
            let from = Speaker {
                strength: Strength::Mention,
                spoken,
                id: (passage.kind != Kind::Summary).then_some(&passage.claim.0),
                file: passage.from_file.as_deref(),
                anchor: passage.from_anchor.as_deref(),
            };
            self.finding(*target, from, *anchor, passage.text.trim())
        }));
        let order = ranked(&found);
        let mut found: Vec<Option<Finding<'_>>> = found.into_iter().map(Some).collect();
        let mut answer = Dependents { n_annotations, ..Dependents::default() };
        let mut n_told = vec![0; self.relied.len()];
        for finding in order.into_iter().filter_map(|number| found[number].take()) {
            let n_told = &mut n_told[finding.file];
            if self.request.most_of_file <= *n_told {
                answer.left_out.push(finding.target);
                continue;
            }
            *n_told += 1;
            answer.targets.push(finding.target);
            answer.dependents.push(self.dependent(finding));
        }
        warnings.extend(self.sources.borrow().iter().map(|source| moved::remark(source)));
        warnings.extend(self.relied.iter().flat_map(|relied| relied.warnings.iter().cloned()));
        let mut seen = HashSet::new();
        warnings.retain(|warning| seen.insert(warning.clone()));
        Ok(Some(Dependents { warnings, ..answer }))
    }

    fn relied(&self, number: usize) -> &Relied<'a> {
        &self.relied[self.file_of[number]]
    }

    /// Adds what is declared about a target, and says which claims do. Whether a reliance on its file was found before,
    /// `is_found` tells for each of them.
    fn declared<'j>(
        &'j self,
        number: usize,
        is_found: &mut [bool],
        found: &mut Vec<Finding<'j>>,
    ) -> Result<HashSet<(&'j str, ObjectId)>> {
        let relied = self.relied(number);
        let mut declared_by = HashSet::new();
        for (reliance, is_found) in relied.reliances.iter().zip(is_found) {
            let by = || (reliance.id, reliance.spoken.commit);
            if *is_found {
                declared_by.extend(self.request.with_mentions.then(by));
                continue;
            }
            let commit = reliance.spoken.commit;
            let anchor = reliance.on_anchor.filter(|anchor| !anchor.trim().is_empty());
            let claim = (reliance.id, reliance.nature);
            if !stands(claim, reliance.expires, self.said, self.request.now) {
                continue;
            }
            let is_target = if relied.is_elsewhere(reliance.on_file) {
                self.came_from(number, commit, reliance.on_file, anchor)?
            } else {
                self.is_target(number, commit, reliance.on_file, anchor)?
            };
            if is_target {
                *is_found = true;
                declared_by.extend(self.request.with_mentions.then(by));
                let from = Speaker {
                    strength: Strength::Declared,
                    spoken: &reliance.spoken,
                    id: Some(reliance.id),
                    file: reliance.from_file,
                    anchor: reliance.from_anchor,
                };
                found.push(self.finding(number, from, anchor, reliance.nature));
            }
        }
        Ok(declared_by)
    }

    /// Adds the other members of each group that a target is in.
    fn grouped<'j>(&'j self, number: usize, found: &mut Vec<Finding<'j>>) -> Result<()> {
        let relied = self.relied(number);
        for (spoken, concern) in &relied.concerns {
            for at in &concern.here {
                let member = &concern.members[*at];
                if !self.is_target(number, spoken.commit, &member.file, member.anchor.as_deref())? {
                    continue;
                }
                let is_other = |(other, _): &(usize, &CrossCuttingMember)| other != at;
                for (_, other) in concern.members.iter().enumerate().filter(is_other) {
                    let from = Speaker {
                        strength: Strength::Group,
                        spoken,
                        id: None,
                        file: Some(&other.file),
                        anchor: other.anchor.as_deref(),
                    };
                    let (anchor, nature) = (member.anchor.as_deref(), &concern.item.description);
                    let group = &concern.item.regions;
                    found.push(Finding { group, ..self.finding(number, from, anchor, nature) });
                }
            }
        }
        Ok(())
    }

    /// Adds words elsewhere that name a target; what is said at the target itself is no news.
    fn mentioned<'j>(
        &'j self,
        number: usize,
        words: &dyn Words,
        declared_by: &HashSet<(&str, ObjectId)>,
        mentioned: &mut Vec<Mentioned<'j>>,
    ) -> Result<Option<()>> {
        let target = &self.request.targets[number];
        let mut met = HashSet::new();
        let mut add = |passages: Vec<Passage>, anchor: Option<&'j str>| {
            for passage in passages {
                let by = (passage.claim.0.as_str(), passage.heading.commit);
                let is_at_home = self.relied(number).claimed.contains(&by);
                // Older forms spell the declaration out in the words as well.
                let is_declared = passage.kind == Kind::Entry && declared_by.contains(&by);
                let is_expired = passage.expires.is_some_and(|end| end <= self.request.now);
                if is_at_home
                    || is_declared
                    || is_expired
                    || !met.insert((passage.claim.clone(), by.1, passage.text.clone()))
                {
                    continue;
                }
                mentioned.push(Mentioned { target: number, anchor, passage });
            }
        };
        for anchor in &target.anchors {
            let parts = segments(anchor);
            let Some(key) = parts.last() else { continue };
            let passages = words.naming(key, &mut |said| said.mention().names(&parts));
            let Some(passages) = passages else { return Ok(None) };
            add(passages, Some(anchor));
        }
        let names = self.names(number);
        let keys: BTreeSet<&str> = names.iter().map(|name| last_component(name)).collect();
        for key in keys {
            let Some(files) = words.files_called(key)? else { return Ok(None) };
            let others: Vec<String> = files
                .iter()
                .filter(|file| **file != target.file.at_head)
                .map(|file| file.to_str_lossy().into_owned())
                .collect();
            let mut is_meant = |said: &Said| is_file(said, &names, &others);
            let Some(passages) = words.naming(key, &mut is_meant) else { return Ok(None) };
            add(passages, None);
        }
        Ok(Some(()))
    }

    /// Every name that the file of a target ever had.
    fn names(&self, number: usize) -> BTreeSet<String> {
        let file = &self.request.targets[number].file;
        let now = [&file.path, &file.at_head].map(|path| path.to_str_lossy().into_owned());
        self.relied(number).names.iter().cloned().chain(now).collect()
    }

    /// Whether `anchor` of a file that is the target's means the target.
    fn is_target(&self, number: usize, commit: ObjectId, file: &str, anchor: Option<&str>) -> Result<bool> {
        let target = &self.request.targets[number];
        let Some(anchor) = anchor.filter(|_| !target.anchors.is_empty()) else { return Ok(true) };
        let parts = segments(anchor);
        if target.anchors.iter().any(|name| name == anchor || agree(&segments(name), &parts)) {
            return Ok(true);
        }
        self.was_target(number, commit, file, anchor)
    }

    /// Whether what was called `anchor` then is the target now, under another name.
    fn was_target(&self, number: usize, commit: ObjectId, file: &str, anchor: &str) -> Result<bool> {
        let target = &self.request.targets[number];
        if target.lines.is_empty() {
            return Ok(false);
        }
        let Some(content) = target.content.bytes(self.lazy) else { return Ok(false) };
        let path = target.file.path.to_str_lossy();
        // A guess must not hide what was declared.
        let now = self.items[self.file_of[number]].get_or_init(|| items(&path, content));
        if !resolve(now, anchor).exact().is_empty() {
            return Ok(false);
        }
        let Some(old) = self.version(commit, file)? else { return Ok(false) };
        let then = items(file, &old);
        let (old, new) = (Lines::new(&old), Lines::new(content));
        let map = LineMap::between(&old, &new);
        let locator = Locator::new(new);
        // Code that was there before, under the name it has now, is no other code with a new name.
        let is_new_name = || target.anchors.iter().all(|name| resolve(&then, name).exact().is_empty());
        let has_words_of = |item: &Item| {
            let words = CodeWords::of(old.of(item.lines));
            let mut of_target = target.lines.iter().map(|lines| CodeWords::of(locator.lines().of(*lines)));
            of_target.any(|now| LEAST_ALIKE <= words.likeness(&now))
        };
        let is_target = |item: &&Item| {
            let place = locator.locate(&old, item.lines, &map);
            let lies_in_target = |place: LineRange| target.lines.iter().any(|lines| lies_in(place, *lines));
            let is_proof = LEAST_ALIKE <= place.share;
            place.lines.is_some_and(lies_in_target) || (!is_proof && is_new_name() && has_words_of(item))
        };
        Ok(resolve(&then, anchor).exact().iter().any(is_target))
    }

    /// The bytes that `file` had in `commit`, if they are here.
    fn version(&self, commit: ObjectId, file: &str) -> Result<Option<Vec<u8>>> {
        let repository = self.lazy.get()?;
        let Ok(commit) = repository.commit(commit) else { return Ok(None) };
        let blob = repository.blob_at(commit.tree, plain_path(file).as_bytes().as_bstr())?;
        Ok(blob.map(|blob| repository.blob_if_here(blob)).transpose()?.flatten())
    }

    /// The bytes of `file` in the version of the repository in which `target` is asked about.
    fn file_beside(&self, target: &Target, file: &str) -> Result<Option<Vec<u8>>> {
        let repository = self.lazy.get()?;
        let path = plain_path(file).as_bytes().as_bstr();
        if target.content.blob().is_none() {
            let present = repository.present_file(Some(self.request.at), path)?;
            return Ok(present.map(|present| present.content));
        }
        let blob = repository.blob_at(repository.commit_tree(self.request.at)?, path)?;
        Ok(blob.map(|blob| repository.blob_if_here(blob)).transpose()?.flatten())
    }

    /// Whether what was called `anchor` in another file then is the target now, and no more in that file.
    fn came_from(&self, number: usize, commit: ObjectId, file: &str, anchor: Option<&str>) -> Result<bool> {
        let target = &self.request.targets[number];
        let (Some(anchor), Some(content)) = (anchor, target.content.bytes(self.lazy)) else {
            return Ok(false);
        };
        let Some(old) = self.version(commit, file)? else { return Ok(false) };
        let path = target.file.path.to_str_lossy();
        let now = self.items[self.file_of[number]].get_or_init(|| items(&path, content));
        let is_asked = |item: &&Item| {
            target.lines.is_empty() || target.lines.iter().any(|lines| lies_in(item.lines, *lines))
        };
        let is_like = |items: &[&Item], content: &[u8], item: &Item| {
            let words = CodeWords::of(&LineFinder::new(&old).of(item.lines));
            items.iter().any(|other| {
                let other = CodeWords::of(&LineFinder::new(content).of(other.lines));
                LEAST_ALIKE <= words.likeness(&other)
            })
        };
        let then = items(file, &old);
        let then = resolve(&then, anchor);
        let asked: Vec<&Item> = now.iter().filter(is_asked).collect();
        if !then.exact().iter().any(|item| is_like(&asked, content, item)) {
            return Ok(false);
        }
        // Where it still stands in that file, it is a copy that is asked about.
        let is_there = self.file_beside(target, file)?.is_some_and(|there| {
            let items = items(file, &there);
            let named = resolve(&items, anchor);
            then.exact().iter().any(|item| is_like(named.exact(), &there, item))
        });
        if !is_there {
            self.sources.borrow_mut().insert(plain_path(file).to_owned());
        }
        Ok(!is_there)
    }

    /// Who relies on the target number `target`, and how far that can be trusted.
    fn finding<'j>(
        &'j self,
        target: usize,
        from: Speaker<'j>,
        on_anchor: Option<&'j str>,
        nature: &'j str,
    ) -> Finding<'j> {
        let spoken = from.spoken;
        // Whether the dependent code is still as it was is not looked up: it lies in another file.
        let tie = Tie::Lines(State::Changed, 0.0);
        let age = Age::between(spoken.at.min(self.head_time), self.head_time);
        let half_life_days = self.request.half_life_days;
        let confidence = score::of(spoken.source, spoken.level, None, age, half_life_days, tie);
        let mut corrections = from.id.map(|id| self.said.corrections(id)).unwrap_or_default();
        corrections.iter_mut().for_each(CorrectionItem::hide);
        Finding {
            target,
            file: self.file_of[target],
            on_anchor,
            nature,
            group: &[],
            confidence: if corrections.is_empty() { confidence } else { score::doubted(confidence) },
            superseded_by: from.id.and_then(|id| self.said.superseded_by(id)),
            corrections,
            from,
        }
    }

    fn dependent(&self, finding: Finding<'_>) -> Dependent {
        let Speaker { strength, spoken, id, file, anchor } = finding.from;
        Dependent {
            strength,
            from_file: file.map(str::to_owned),
            from_anchor: anchor.map(str::to_owned),
            on_file: self.request.targets[finding.target].file.path.to_str_lossy().into_owned(),
            on_anchor: finding.on_anchor.map(str::to_owned),
            nature: finding.nature.to_owned(),
            group: finding.group.to_vec(),
            id: id.map(|id| EntryId(id.to_owned())),
            commit: spoken.commit.to_string(),
            timestamp: spoken.timestamp.to_owned(),
            at: spoken.at,
            confidence: finding.confidence,
            elsewhere: spoken.elsewhere.map(str::to_owned),
            superseded_by: finding.superseded_by,
            corrections: finding.corrections,
        }
    }
}

/// Whether a path in some words means the file with these names and none of the others.
fn is_file(said: &Said, names: &BTreeSet<String>, others: &[String]) -> bool {
    let Said::Path(path) = said else { return false };
    let mention = said.mention();
    let is_shared = || others.iter().any(|file| mention.may_mean_file(file));
    names.contains(path) || (names.iter().any(|name| mention.may_mean_file(name)) && !is_shared())
}

/// The path that a note means when it says `file`.
fn plain_path(file: &str) -> &str {
    file.trim_start_matches("./")
}

fn last_component(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether most of `place` lies in `lines`: two items that touch are not one.
fn lies_in(place: LineRange, lines: LineRange) -> bool {
    let shared = (place.end.min(lines.end) + 1).saturating_sub(place.start.max(lines.start));
    place.len() <= 2 * shared
}

fn items(path: &str, content: &[u8]) -> Vec<Item> {
    chronicle_outline::outline(path, content).map(|outline| outline.items).unwrap_or_default()
}
