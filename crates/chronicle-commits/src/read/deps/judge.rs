//! Judges who relies on the code that is asked about, from what is known of its files.

use std::{
    cell::{OnceCell, RefCell},
    cmp::{Ordering, Reverse},
    collections::{BTreeSet, HashMap, HashSet, hash_map::Entry},
    hash::{Hash, Hasher},
};

use chronicle_core::{
    Age, CodeWords, CrossCuttingMember, EntryId, LEAST_ALIKE, LineFinder, LineMap, LineRange, Lines, Locator,
    correction::{CorrectionItem, Tier},
    dependent::{Dependent, Strength},
    mentions::{agree, segments},
    outline::{Item, called},
    reading::State,
    room,
    score::{self, Tie},
};
use chronicle_git::{BStr, ByteSlice, LazyRepository, ObjectId};
use foldhash::quality::RandomState;
use jiff::Timestamp;

use crate::{
    error::Result,
    note::{
        corrections::Afterwords,
        note_texts::{Kind, Said, Text},
    },
    outlines::{Items, Outlines},
    past::line::Line,
    read::{
        answer::stands,
        deps::DepsRequest,
        name_now::NamesNow,
        prose::{Passage, Prose},
        record::{Concern, FileRecord, Heading, Reliance},
    },
};

/// Who relies on a target. There may be thousands, of which a dozen is told: it holds what they are chosen by.
struct Finding<'j> {
    rank: Rank,
    /// The number of the target.
    target: usize,
    by: By<'j>,
}

/// Who relies on one file.
pub(super) struct Judged {
    /// Those that are told, in no order.
    pub(super) told: Vec<Ranked>,
    /// The targets of those that are not.
    pub(super) left_out: Vec<usize>,
    /// Other files that code came from which something found relies on.
    pub(super) sources: BTreeSet<String>,
    pub(super) warnings: Vec<String>,
}

/// One who relies on a target, and how far before others to tell it.
pub(super) struct Ranked {
    rank: Rank,
    /// The number of the target.
    pub(super) target: usize,
    /// Apart, since they are sorted.
    pub(super) dependent: Box<Dependent>,
}

impl Ranked {
    /// Which of two comes first.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank).then_with(|| self.words().cmp(&other.words()))
    }

    /// What decides between two of the same rank.
    fn words(&self) -> impl Ord + '_ {
        let Dependent { from_file, from_anchor, nature, on_anchor, commit, id, .. } = &*self.dependent;
        (from_file, from_anchor, nature, on_anchor, commit, id)
    }
}

/// How it is known that something relies on a target, most plainly first.
#[derive(Clone, Copy)]
enum By<'j> {
    Declared(&'j Reliance),
    /// The numbers of the member that is the target, and of another one.
    Group(&'j Concern, u32, u32),
    Mention(&'j Mentioned<'j>),
}

impl<'j> By<'j> {
    fn strength(self) -> Strength {
        match self {
            Self::Declared(_) => Strength::Declared,
            Self::Group(..) => Strength::Group,
            Self::Mention(_) => Strength::Mention,
        }
    }

    /// The claim that says so, if it is one.
    fn id(self) -> Option<&'j EntryId> {
        match self {
            Self::Declared(reliance) => Some(&reliance.id),
            Self::Group(..) => None,
            Self::Mention(Mentioned { passage, .. }) => {
                (passage.text.kind != Kind::Summary).then_some(&passage.text.claim)
            }
        }
    }

    /// The code that relies on the target: its file, and its name.
    fn from(self) -> (Option<&'j str>, Option<&'j str>) {
        match self {
            Self::Declared(reliance) => (reliance.from_file.as_deref(), reliance.from_anchor.as_deref()),
            Self::Group(concern, _, other) => {
                let CrossCuttingMember { file, anchor } = &concern.members[other as usize];
                (Some(file), anchor.as_deref())
            }
            Self::Mention(Mentioned { passage, .. }) => {
                (passage.text.from_file.as_deref(), passage.text.from_anchor.as_deref())
            }
        }
    }

    /// The item relied upon, as the note calls it.
    fn on_anchor(self) -> Option<&'j str> {
        match self {
            Self::Declared(reliance) => {
                reliance.on_anchor.as_deref().filter(|anchor| !anchor.trim().is_empty())
            }
            Self::Group(concern, member, _) => concern.members[member as usize].anchor.as_deref(),
            Self::Mention(mentioned) => mentioned.anchor,
        }
    }

    fn nature(self) -> &'j str {
        match self {
            Self::Declared(reliance) => &reliance.nature,
            Self::Group(concern, ..) => &concern.item.description,
            Self::Mention(mentioned) => mentioned.passage.text.words.trim(),
        }
    }

    fn group(self) -> &'j [String] {
        if let Self::Group(concern, ..) = self { &concern.item.regions } else { &[] }
    }
}

/// What decides mostly which of two comes first: what is there still, what the user or the team says, the plainest, the most trusted, then the newest.
///
/// Numbers, since there may be thousands to compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Whether the file that relies on it is no more.
    is_deleted: bool,
    /// Whether nobody knows who says so.
    is_unknown: bool,
    strength: u8,
    is_unsure: u8,
    /// The bits of the confidence, which is not negative: they are in its order.
    confidence: Reverse<u64>,
    at: Reverse<Timestamp>,
}

impl Rank {
    fn confidence(self) -> f64 {
        f64::from_bits(self.confidence.0)
    }
}

/// What a finding says: two that say the same are one.
struct Statement<'f>(&'f Finding<'f>);

impl Statement<'_> {
    fn parts(&self) -> impl Eq {
        let by = self.0.by;
        (by.nature(), by.from(), by.on_anchor())
    }
}

impl PartialEq for Statement<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Statement<'_> {}

impl Hash for Statement<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // That tells nearly all of them apart.
        let by = self.0.by;
        (by.nature(), by.from().0.unwrap_or_default()).hash(state);
    }
}

/// Words that name a target.
struct Mentioned<'j> {
    target: usize,
    anchor: Option<&'j str>,
    passage: Passage,
}

/// A question, and what its answer depends on beside what is known about the files.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) lazy: &'a LazyRepository,
    pub(super) request: &'a DepsRequest,
    pub(super) head_time: Timestamp,
    /// What was said of claims after they were made.
    pub(super) said: &'a Afterwords,
    pub(super) prose: &'a Prose,
    pub(super) line: &'a Line<'a>,
    pub(super) outlines: &'a Outlines,
    pub(super) names: &'a NamesNow<'a>,
}

/// One question, and what is known about one of the files that it is about.
pub(super) struct Judge<'a> {
    setting: Setting<'a>,
    /// The numbers of the targets in the file.
    targets: &'a [usize],
    record: &'a FileRecord,
    /// What is claimed about the file itself, with the commit that carries it, where words count too.
    claimed: HashSet<(&'a EntryId, ObjectId)>,
    /// The items of the file as it is now, when they are needed.
    items: OnceCell<Items>,
    /// Other files that code came from which something found relies on.
    sources: RefCell<BTreeSet<String>>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(setting: Setting<'a>, targets: &'a [usize], record: &'a FileRecord) -> Self {
        let claims = record.claims.iter().filter(|_| setting.request.with_mentions);
        let claimed = claims.map(|claim| (&claim.id, record.headings[claim.heading].commit)).collect();
        Self { setting, targets, record, claimed, items: OnceCell::new(), sources: RefCell::default() }
    }

    /// Everyone who relies on the targets in the file.
    pub(super) fn judged(&self) -> Result<Judged> {
        // Mostly no more is found: memory that is not used costs nothing, to copy what was found does.
        let n_reliances = self.record.reliances.len();
        let (mut found, mut mentioned) = (Vec::with_capacity(n_reliances), Vec::new());
        // What relies on the file as a whole relies on each target in it.
        let mut is_found = vec![false; n_reliances];
        for number in self.targets.iter().copied() {
            let declared_by = self.declared(number, &mut is_found, &mut found)?;
            self.grouped(number, &mut found)?;
            if self.setting.request.with_mentions {
                self.mentioned(number, &declared_by, &mut mentioned)?;
            }
        }
        found
            .extend(mentioned.iter().map(|mentioned| self.finding(mentioned.target, By::Mention(mentioned))));
        let (told, left_out) = self.chosen(&found);
        let told = told.into_iter().map(|finding| Ranked {
            rank: finding.rank,
            target: finding.target,
            dependent: Box::new(self.dependent(finding)),
        });
        Ok(Judged {
            told: told.collect(),
            left_out: left_out.into_iter().map(|finding| finding.target).collect(),
            sources: self.sources.take(),
            warnings: self.record.warnings.clone(),
        })
    }

    /// Adds what is declared about a target, and says which claims do. Whether a reliance on its file was found before,
    /// `is_found` tells for each of them.
    fn declared<'j>(
        &'j self,
        number: usize,
        is_found: &mut [bool],
        found: &mut Vec<Finding<'j>>,
    ) -> Result<HashSet<(&'j EntryId, ObjectId)>> {
        let mut declared_by = HashSet::new();
        for (reliance, is_found) in self.record.reliances.iter().zip(is_found) {
            let by = By::Declared(reliance);
            let is_news = !*is_found;
            if is_news {
                *is_found = stands(reliance, self.setting.said, self.setting.request.now)
                    && self.is_relied_on(number, reliance, by.on_anchor())?;
            }
            if *is_found && self.setting.request.with_mentions {
                declared_by.insert((&reliance.id, self.heading(by).commit));
            }
            if *is_found && is_news {
                found.push(self.finding(number, by));
            }
        }
        Ok(declared_by)
    }

    /// Adds the other members of each group that a target is in.
    fn grouped<'j>(&'j self, number: usize, found: &mut Vec<Finding<'j>>) -> Result<()> {
        for concern in &self.record.concerns {
            let said_in = self.record.headings[concern.heading].commit;
            for at in concern.here.iter().copied() {
                let member = &concern.members[at];
                if self.is_target(number, said_in, &member.file, member.anchor.as_deref())? {
                    let numbers = (0..).zip(&concern.members).map(|(other, _)| other);
                    let at = u32::try_from(at).unwrap_or(u32::MAX);
                    let others = numbers.filter(|other| *other != at);
                    found.extend(others.map(|other| self.finding(number, By::Group(concern, at, other))));
                }
            }
        }
        Ok(())
    }

    /// Adds words elsewhere that name a target; what is said at the target itself is no news.
    fn mentioned<'j>(
        &'j self,
        number: usize,
        declared_by: &HashSet<(&EntryId, ObjectId)>,
        mentioned: &mut Vec<Mentioned<'j>>,
    ) -> Result<()> {
        let Setting { request, prose, line, .. } = self.setting;
        let target = &request.targets[number];
        let mut naming: Vec<(Option<&'j str>, Vec<Passage>)> = Vec::new();
        for anchor in &target.anchors {
            let parts = segments(anchor);
            let Some(key) = parts.last() else { continue };
            naming.push((Some(anchor), prose.naming(key, |said| said.mention().names(&parts))));
        }
        let names = self.names(number);
        let keys: BTreeSet<&str> = names.iter().map(|name| last_component(name)).collect();
        for key in keys {
            let files = line.files_called(key)?;
            let others: Vec<String> = files
                .iter()
                .filter(|file| **file != target.file.at_head)
                .map(|file| file.to_str_lossy().into_owned())
                .collect();
            naming.push((None, prose.naming(key, |said| is_file(said, &names, &others))));
        }
        let mut met = HashSet::new();
        for (anchor, passages) in naming {
            for passage in passages {
                let Text { kind, claim, words, expires, .. } = &passage.text;
                let by = (claim, passage.heading.commit);
                // Older forms spell the declaration out in the words as well.
                let is_declared = *kind == Kind::Entry && declared_by.contains(&by);
                let is_expired = expires.is_some_and(|end| end <= request.now);
                if !self.claimed.contains(&by)
                    && !is_declared
                    && !is_expired
                    && met.insert((claim.clone(), by.1, words.clone()))
                {
                    mentioned.push(Mentioned { target: number, anchor, passage });
                }
            }
        }
        Ok(())
    }

    /// Every name that the file of a target ever had.
    fn names(&self, number: usize) -> BTreeSet<String> {
        let file = &self.setting.request.targets[number].file;
        let now = [&file.path, &file.at_head].map(|path| path.to_str_lossy().into_owned());
        self.record.names.iter().cloned().chain(now).collect()
    }

    /// Whether what `reliance` relies on, by `anchor`, is the target.
    fn is_relied_on(&self, number: usize, reliance: &Reliance, anchor: Option<&str>) -> Result<bool> {
        let said_in = self.record.headings[reliance.heading].commit;
        if self.record.is_elsewhere(&reliance.on_file) {
            self.came_from(number, said_in, &reliance.on_file, anchor)
        } else {
            self.is_target(number, said_in, &reliance.on_file, anchor)
        }
    }

    /// Whether `anchor` of a file that is the target's, as it was `said_in` a commit, means the target.
    fn is_target(&self, number: usize, said_in: ObjectId, file: &str, anchor: Option<&str>) -> Result<bool> {
        let target = &self.setting.request.targets[number];
        let Some(anchor) = anchor.filter(|_| !target.anchors.is_empty()) else { return Ok(true) };
        let parts = segments(anchor);
        if target.anchors.iter().any(|name| name == anchor || agree(&segments(name), &parts)) {
            return Ok(true);
        }
        self.was_target(number, said_in, file, anchor)
    }

    /// Whether what was called `anchor` then is the target now, under another name.
    fn was_target(&self, number: usize, said_in: ObjectId, file: &str, anchor: &str) -> Result<bool> {
        let target = &self.setting.request.targets[number];
        if target.lines.is_empty() {
            return Ok(false);
        }
        let Some(content) = target.content.bytes(self.setting.lazy) else { return Ok(false) };
        let path = target.file.path.to_str_lossy();
        // A guess must not hide what was declared.
        let now = items_in(self.items.get_or_init(|| self.setting.outlines.items(&path, content)));
        if !called(now, anchor).is_empty() {
            return Ok(false);
        }
        let Some(old) = self.version(said_in, file)? else { return Ok(false) };
        let then = self.setting.outlines.items(file, &old);
        let then = items_in(&then);
        let (old, new) = (Lines::new(&old), Lines::new(content));
        let map = LineMap::between(&old, &new);
        let locator = Locator::new(new);
        for item in called(then, anchor) {
            let place = locator.locate(&old, item.lines, &map);
            if place.lines.is_some_and(|place| target.lines.iter().any(|lines| lies_in(place, *lines))) {
                return Ok(true);
            }
            // Code that was there before, under the name it has now, is no other code with a new name.
            if LEAST_ALIKE <= place.share || target.anchors.iter().any(|name| !called(then, name).is_empty())
            {
                continue;
            }
            let words = CodeWords::of(old.of(item.lines));
            let mut of_target = target.lines.iter().map(|lines| CodeWords::of(locator.lines().of(*lines)));
            if of_target.any(|now| LEAST_ALIKE <= words.likeness(&now)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The bytes that `file` had in `commit`, if they are here.
    fn version(&self, commit: ObjectId, file: &str) -> Result<Option<Vec<u8>>> {
        let repository = self.setting.lazy.get()?;
        let Ok(commit) = repository.commit(commit) else { return Ok(None) };
        let blob = repository.blob_at(commit.tree, plain_path(file).as_bytes().as_bstr())?;
        Ok(blob.map(|blob| repository.blob_if_here(blob)).transpose()?.flatten())
    }

    /// The bytes of the file at `path` in the commit that is asked about, if they are here.
    fn committed(&self, path: &BStr) -> Result<Option<Vec<u8>>> {
        let repository = self.setting.lazy.get()?;
        let blob = repository.blob_at(repository.commit_tree(self.setting.request.at)?, path)?;
        Ok(blob.map(|blob| repository.blob_if_here(blob)).transpose()?.flatten())
    }

    /// Whether what was called `anchor` in another file then is the target now, and no more in that file.
    fn came_from(&self, number: usize, said_in: ObjectId, file: &str, anchor: Option<&str>) -> Result<bool> {
        let target = &self.setting.request.targets[number];
        let (Some(anchor), Some(content)) = (anchor, target.content.bytes(self.setting.lazy)) else {
            return Ok(false);
        };
        let Some(old) = self.version(said_in, file)? else { return Ok(false) };
        let path = target.file.path.to_str_lossy();
        let now = items_in(self.items.get_or_init(|| self.setting.outlines.items(&path, content)));
        let then = self.setting.outlines.items(file, &old);
        let then = Code { items: called(items_in(&then), anchor), content: &old };
        let asked = now.iter().filter(|item| {
            target.lines.is_empty() || target.lines.iter().any(|lines| lies_in(item.lines, *lines))
        });
        if !then.is_in(&Code { items: asked.collect(), content }) {
            return Ok(false);
        }
        // Only for code that an edit brought the other file counts as it is now ([`crate::read::matching::Side`]).
        let mut is_brought = target.content.blob().is_none();
        if is_brought && let Some(committed) = self.committed(target.file.at_head.as_bstr())? {
            let items = self.setting.outlines.items(&path, &committed);
            is_brought = !then.is_in(&Code { items: items_in(&items).iter().collect(), content: &committed });
        }
        let beside = plain_path(file).as_bytes().as_bstr();
        let there = match is_brought {
            true => {
                let present = self.setting.lazy.get()?.present_file(Some(self.setting.request.at), beside)?;
                present.map(|present| present.content)
            }
            false => self.committed(beside)?,
        };
        // Where it still stands in that file, it is a copy that is asked about.
        let is_there = there.is_some_and(|there| {
            let items = self.setting.outlines.items(file, &there);
            then.is_in(&Code { items: called(items_in(&items), anchor), content: &there })
        });
        if !is_there {
            self.sources.borrow_mut().insert(plain_path(file).to_owned());
        }
        Ok(!is_there)
    }

    /// Who relies on the target number `target`, and how far that can be trusted.
    fn finding<'j>(&self, target: usize, by: By<'j>) -> Finding<'j> {
        let Setting { head_time, request, said, names, .. } = self.setting;
        let heading = self.heading(by);
        let tier = heading.voice.tier;
        // Whether the dependent code is still as it was is not looked up: it lies in another file.
        let tie = (Tie::Lines(State::Changed, 0.0), tier);
        let age = Age::between(heading.at.min(head_time), head_time);
        let confidence = score::of(heading.source, heading.level, None, age, request.half_life_days, tie);
        let is_doubted = by.id().is_some_and(|id| said.doubts(id));
        let confidence = if is_doubted { score::doubted(confidence) } else { confidence };
        let is_superseded = by.id().is_some_and(|id| said.superseded.contains_key(id));
        let rank = Rank {
            is_deleted: by.from().0.is_some_and(|file| names.of(file).is_deleted),
            is_unknown: tier == Tier::Unknown,
            strength: by.strength() as u8,
            is_unsure: 2 * u8::from(heading.elsewhere.is_some()) + u8::from(is_superseded),
            confidence: Reverse(confidence.to_bits()),
            at: Reverse(heading.at),
        };
        Finding { rank, target, by }
    }

    /// Who says so.
    fn heading<'j>(&'j self, by: By<'j>) -> &'j Heading {
        match by {
            By::Declared(reliance) => &self.record.headings[reliance.heading],
            By::Group(concern, ..) => &self.record.headings[concern.heading],
            By::Mention(mentioned) => &mentioned.passage.heading,
        }
    }

    /// Which of two comes first.
    fn order<'j>(&'j self, left: &Finding<'j>, right: &Finding<'j>) -> Ordering {
        (left.rank.cmp(&right.rank))
            .then_with(|| left.by.from().cmp(&right.by.from()))
            .then_with(|| left.by.nature().cmp(right.by.nature()))
            .then_with(|| left.by.on_anchor().cmp(&right.by.on_anchor()))
            .then_with(|| self.heading(left.by).commit.cmp(&self.heading(right.by).commit))
            .then_with(|| left.by.id().cmp(&right.by.id()))
    }

    /// What is told of what was found, and what is left out. What is said twice counts once.
    ///
    /// Thousands are not put in order to tell a dozen.
    fn chosen<'f>(&self, found: &'f [Finding<'f>]) -> (Vec<&'f Finding<'f>>, Vec<&'f Finding<'f>>) {
        let most = self.setting.request.most_of_file;
        let mut told: Vec<&Finding<'_>> = Vec::new();
        let mut seen: HashMap<Statement<'_>, usize, RandomState> =
            HashMap::with_capacity_and_hasher(found.len(), RandomState::default());
        for finding in found {
            match seen.entry(Statement(finding)) {
                Entry::Vacant(place) => {
                    place.insert(told.len());
                    told.push(finding);
                }
                Entry::Occupied(place) => {
                    let known = &mut told[*place.get()];
                    if self.order(finding, known).is_lt() {
                        *known = finding;
                    }
                }
            }
        }
        if told.len() <= most {
            return (told, Vec::new());
        }
        told.select_nth_unstable_by(most, |left, right| self.order(left, right));
        let left_out = told.split_off(most);
        (told, left_out)
    }

    /// What is told of a finding.
    fn dependent<'j>(&'j self, finding: &Finding<'j>) -> Dependent {
        let Finding { rank, target, by } = finding;
        let heading = self.heading(*by);
        let (from_file, from_anchor) = by.from();
        let renamed_to = from_file.and_then(|file| self.setting.names.of(file).renamed_to);
        let from_file_recorded = renamed_to.as_ref().and(from_file).map(str::to_owned);
        let mut corrections =
            by.id().map(|id| self.setting.said.corrections_of(id).to_vec()).unwrap_or_default();
        corrections.iter_mut().for_each(CorrectionItem::hide);
        room::cap_remarks(&mut corrections);
        Dependent {
            strength: by.strength(),
            from_file: renamed_to.or_else(|| from_file.map(str::to_owned)),
            from_file_recorded,
            from_is_deleted: rank.is_deleted,
            from_anchor: from_anchor.map(str::to_owned),
            on_file: self.setting.request.targets[*target].file.path.to_str_lossy().into_owned(),
            on_anchor: by.on_anchor().map(str::to_owned),
            nature: by.nature().to_owned(),
            group: by.group().to_vec(),
            id: by.id().cloned(),
            commit: heading.commit.to_string(),
            timestamp: heading.timestamp.clone(),
            at: heading.at,
            author: heading.other_author(),
            tier: heading.voice.tier,
            origin: heading.voice.origin.clone(),
            confidence: rank.confidence(),
            elsewhere: heading.elsewhere.clone(),
            superseded_by: by.id().and_then(|id| self.setting.said.superseded.get(id).cloned()),
            corrections,
        }
    }
}

/// Some items, and the bytes of the file that they are in.
struct Code<'c> {
    items: Vec<&'c Item>,
    content: &'c [u8],
}

impl Code<'_> {
    /// Whether one of the items is mostly the same as one of `other`.
    fn is_in(&self, other: &Self) -> bool {
        self.items.iter().any(|item| {
            let words = CodeWords::of(&LineFinder::new(self.content).of(item.lines));
            other.items.iter().any(|item| {
                let other = CodeWords::of(&LineFinder::new(other.content).of(item.lines));
                LEAST_ALIKE <= words.likeness(&other)
            })
        })
    }
}

/// Whether a path in some words means the file with these names and none of the others.
fn is_file(said: &Said, names: &BTreeSet<String>, others: &[String]) -> bool {
    let Said::Path(path) = said else { return false };
    let mention = said.mention();
    names.contains(path)
        || names.iter().any(|name| mention.may_mean_file(name))
            && !others.iter().any(|file| mention.may_mean_file(file))
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

/// The items of an outline; none where there is none.
fn items_in(items: &Items) -> &[Item] {
    items.as_ref().as_ref().map(Vec::as_slice).unwrap_or_default()
}
