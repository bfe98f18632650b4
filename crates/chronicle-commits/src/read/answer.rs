//! Answers a question from the records of the files in scope.

use std::{
    cell::{Cell, LazyCell},
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
};

use chronicle_core::{
    Age, ContextLevel, DependsOn, EntryId, GoneBecause, LineFinder, LineRange, NO_SUMMARY, Origin,
    correction::{self, CorrectionItem, CorrectionKind, Tier},
    mentions::{agree, segments},
    outline::may_mean,
    reading::{
        BeyondLimit, CrossCuttingItem, Dependency, Match, MovedTo, Reading, RegionItem, Standing, State,
        Stats, WisdomItem,
    },
    room,
    score::{self, Tie},
};
use chronicle_git::{BString, ByteSlice, LazyRepository, ObjectId};
use jiff::Timestamp;

use crate::{
    Content,
    caches::Caches,
    error::Result,
    note::corrections::Afterwords,
    outlines::Items,
    place::{by_item::placed_again, departures::Left, moved, placing::Placement},
    read::{
        gather::located,
        question::{Limits, ReadRequest, Scope},
        record::{Body, Claim, FileRecord, Heading, Reliance},
        region_lessons,
        related::Follower,
        removal::Newer,
    },
};

/// One file in scope.
pub(crate) struct Scoped {
    /// Its path now.
    pub(crate) path: BString,
    /// Its bytes, if it is there.
    pub(crate) content: Content,
    /// What is known of it.
    pub(crate) record: FileRecord,
}

/// What answers depend on beside the question and the records.
pub(crate) struct Setting<'a> {
    /// Opened only when an item needs more than the records hold.
    pub(crate) repository: &'a LazyRepository,
    pub(crate) caches: &'a Caches,
    /// When the commit that is asked about was committed, and its tree.
    pub(crate) head_time: Timestamp,
    pub(crate) head_tree: ObjectId,
    /// What was said of claims after they were made.
    pub(crate) said: &'a Afterwords,
}

impl Setting<'_> {
    /// The items of a file as it is now; `None` when it is gone.
    pub(crate) fn items(&self, file: &Scoped) -> Option<Items> {
        self.caches.outlines.items_of(self.repository, &file.path.to_string(), &file.content)
    }
}

/// A claim that fits the question.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) body: Body,
    /// Apart, since items are sorted.
    pub(crate) standing: Box<Standing>,
    /// Number of the file, when it belongs to one.
    pub(crate) file: Option<usize>,
    claim: usize,
}

/// Answers everything but what the repository knows as a whole.
pub(crate) fn answer(request: &ReadRequest, files: &[Scoped], setting: &Setting<'_>) -> Result<Reading> {
    let mut reading = Reading::empty(request.query.clone());
    let items = keep_best_copies(items(request, files, setting)?, files);
    let n_matched = items.len();
    reading.knows_anchor = items.iter().any(|item| item.standing.matched == Match::Anchor)
        || files.iter().enumerate().any(|(number, file)| is_relied_on(&file.record, request.scope(number)));
    let mut items = filtered(items, &request.limits);
    rank(&mut items);
    let n_wanted = items.len();
    let most = request.limits.max_regions;
    let n_of_strangers = match most {
        // Whoever wants all of it gets all of it.
        usize::MAX => 0,
        _ => room::cap(&mut items, |item| (item.standing.commit.clone(), item.standing.tier)),
    };
    reading.beyond_limit = beyond_limit(&mut items, most);
    reading.warnings = files.iter().flat_map(|file| file.record.warnings.iter().cloned()).collect();
    reading.warnings.dedup();
    let n_more = n_wanted - n_of_strangers - items.len();
    if 0 < n_more {
        reading.warnings.push(format!("{n_more} more items match; raise --max-regions to see them"));
    }
    reading.warnings.extend(left_out(n_of_strangers, "item"));
    let sources: BTreeSet<&str> = items.iter().filter_map(|item| item.source(files)).collect();
    reading.warnings.extend(sources.into_iter().map(moved::remark));
    let mut follower = Follower {
        repository: setting.repository,
        head_time: setting.head_time,
        half_life_days: request.half_life_days,
        depth: request.limits.depth,
        farthest: 0,
        notebook: None,
        read: HashMap::new(),
    };
    let n_lessons = items.iter().filter(|item| matches!(item.body, Body::Wisdom(_))).count();
    reading.wisdom.reserve_exact(n_lessons);
    reading.regions.reserve_exact(items.len() - n_lessons);
    for mut item in items {
        if !request.limits.is_brief {
            let by = gone_since(&item, files, setting)?;
            item.standing.gone_since = by.map(|id| id.to_string());
            item.standing.moved_to = by.map(|by| moved_to(&item, files, setting, by)).transpose()?.flatten();
            if item.standing.moved_to.is_some() {
                item.standing.gone_because = Some(GoneBecause::Moved);
            }
        }
        let own = item.body.anchor().map(|anchor| anchor.name.as_str());
        item.standing.related = follower.follow(&item.standing.commit, own, item.body.related())?;
        match item.finish() {
            Finished::Region(region) => reading.regions.push(region),
            Finished::Wisdom(entry) => reading.wisdom.push(entry),
        }
    }
    if !request.limits.lessons_only {
        reading.dependencies_on_this = dependencies(request, files, setting);
        let dependents = &mut reading.dependencies_on_this;
        let n_left_out = room::cap(dependents, |item| (item.commit.clone(), item.tier));
        reading.warnings.extend(left_out(n_left_out, "dependent"));
        reading.cross_cutting = concerns(request, files, setting);
        let n_left_out = room::cap(&mut reading.cross_cutting, |item| (item.commit.clone(), item.tier));
        reading.warnings.extend(left_out(n_left_out, "concern"));
    }
    let counted = if request.limits.without_stats { &[][..] } else { files };
    reading.stats = Stats {
        commits_examined: count(distinct(counted, |record| &record.places)),
        annotations_found: count(distinct(counted, |record| &record.annotated)),
        regions_returned: count(reading.n_items()),
        regions_matched: count(n_matched),
        related_hops: follower.farthest,
    };
    Ok(reading)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Cuts `items` to `most`, and says which are left out.
fn beyond_limit(items: &mut Vec<Item>, most: usize) -> Vec<BeyondLimit> {
    if items.len() <= most {
        return Vec::new();
    }
    let tiers: Vec<Tier> = items.iter().map(|item| item.standing.tier).collect();
    let mut stays = room::kept(&tiers, most).into_iter();
    let (kept, others) = std::mem::take(items).into_iter().partition(|_| stays.next().unwrap_or_default());
    *items = kept;
    let others: Vec<Item> = others;
    others
        .into_iter()
        .map(|item| BeyondLimit { commit: item.standing.commit, at: item.standing.at })
        .collect()
}

/// What is said of notes of strangers that say more than there is room for.
fn left_out(n_left_out: usize, what: &str) -> Option<String> {
    let plural = if n_left_out == 1 { "" } else { "s" };
    let hint = "`show COMMIT` shows them all";
    (0 < n_left_out)
        .then(|| format!("{n_left_out} more {what}{plural} from notes that aren't yours left out; {hint}"))
}

fn distinct<T: Ord + Copy>(files: &[Scoped], commits: impl Fn(&FileRecord) -> &[T]) -> usize {
    if let [only] = files {
        return commits(&only.record).len();
    }
    let mut all: Vec<T> = files.iter().flat_map(|file| commits(&file.record)).copied().collect();
    // Each file's come in order already, which a stable sort makes use of.
    all.sort();
    all.dedup();
    all.len()
}

fn items(request: &ReadRequest, files: &[Scoped], setting: &Setting<'_>) -> Result<Vec<Item>> {
    let mut items = Vec::with_capacity(files.iter().map(|file| file.record.claims.len()).sum());
    for (number, file) in files.iter().enumerate() {
        let aim = Aim { scope: request.scope(number), items: LazyCell::new(|| setting.items(file)) };
        for (claim_number, claim) in file.record.claims.iter().enumerate() {
            let is_empty =
                matches!(&claim.body, Body::Summary(intent) if ["", NO_SUMMARY].contains(&intent.trim()));
            if is_empty || request.limits.lessons_only && matches!(claim.body, Body::Summary(_)) {
                continue;
            }
            if !aim.may_concern(claim) {
                continue;
            }
            let again = placed_again(setting, file, claim)?;
            let placement = again.as_ref().unwrap_or(&claim.placement);
            let is_named = aim.names(claim);
            let is_missing = request.limits.without_gone && placement.state == State::Gone;
            if aim.concerns(claim, placement) && (!is_missing || is_named) {
                let (body, mut standing) = standing(request, setting, file, claim, placement);
                if is_named {
                    standing.matched = Match::Anchor;
                }
                items.push(Item { body, standing, file: Some(number), claim: claim_number });
            }
        }
    }
    Ok(if request.limits.per_file { items } else { merge_commit_wide(items) })
}

/// What is asked about in one file, and the items that the file has now.
struct Aim<'a, F> {
    scope: &'a Scope,
    items: LazyCell<Option<Items>, F>,
}

impl<F: FnOnce() -> Option<Items>> Aim<'_, F> {
    /// Whether `claim`, which is at `placement`, is about what is asked about.
    fn concerns(&self, claim: &Claim, placement: &Placement) -> bool {
        self.scope.lines.is_none()
            || self.names(claim)
            // A claim without lines is about the file, unless it names a part of it.
            || placement.concerns(self.scope, None)
                && (placement.matched != Match::File || self.may_mean(anchor_of(claim)))
            || matches!(claim.body, Body::Region(_)) && self.is_in_unit(placement)
    }

    /// Whether `placement` is in the very item that has lines that are asked about: what is said of a code unit holds for
    /// all its lines.
    fn is_in_unit(&self, placement: &Placement) -> bool {
        let (Some(lines), Some(ranges)) = (placement.lines, &self.scope.lines) else { return false };
        let Some(Ok(items)) = self.items.as_deref() else { return false };
        let holding = items.iter().map(|item| item.lines).filter(|item| item.holds(lines));
        let Some(unit) = holding.min_by_key(|item| item.len()) else { return false };
        ranges.iter().filter(|range| range.overlaps(unit)).any(|range| {
            let asked = LineRange { start: range.start.max(unit.start), end: range.end.min(unit.end) };
            let mut inner =
                items.iter().map(|item| item.lines).filter(|item| *item != unit && unit.holds(*item));
            !inner.any(|item| item.holds(asked))
        })
    }

    /// Whether the file has an item that is called `name`.
    fn has_item(&self, name: &str) -> bool {
        let name = segments(name);
        let mut items = self.items.as_deref().into_iter().flatten().flatten();
        items.any(|item| agree(&segments(&item.qualified), &name))
    }

    /// Whether `claim` may be about what is asked about, once its item has been looked at.
    fn may_concern(&self, claim: &Claim) -> bool {
        let placement = &claim.placement;
        self.concerns(claim, placement) || placement.may_concern(self.scope, anchor_of(claim))
    }

    /// Whether `claim` is about an item that is asked for by name.
    fn names(&self, claim: &Claim) -> bool {
        let anchor = anchor_of(claim);
        self.scope.names(anchor) && self.may_mean(anchor)
    }

    /// Whether what is said of the code `anchor`, or of the whole file, concerns what is asked about.
    fn is_about(&self, anchor: Option<&str>) -> bool {
        let Some(anchor) = anchor else { return true };
        let is_called_so = self.scope.names.is_empty() || self.scope.names(Some(anchor));
        is_called_so && self.may_mean(Some(anchor))
    }

    /// Whether `anchor` may mean what is asked about.
    fn may_mean(&self, anchor: Option<&str>) -> bool {
        let (Some(anchor), Some(ranges)) = (anchor, &self.scope.lines) else { return true };
        match self.items.as_deref() {
            Some(Ok(items)) => may_mean(items, anchor, ranges),
            _ => true,
        }
    }
}

fn anchor_of(claim: &Claim) -> Option<&str> {
    claim.body.anchor().map(|anchor| anchor.name.as_str())
}

/// A claim about a commit as a whole belongs to no file when it concerns several in scope.
fn merge_commit_wide(items: Vec<Item>) -> Vec<Item> {
    let mut merged: Vec<Item> = Vec::with_capacity(items.len());
    let mut seen: BTreeMap<(EntryId, String), usize> = BTreeMap::new();
    for item in items {
        if item.standing.matched == Match::Commit {
            let key = (item.standing.id.clone(), item.standing.commit.clone());
            if let Some(first) = seen.get(&key) {
                let first: &mut Item = &mut merged[*first];
                // Of a commit whose lines are still in one of the files, they are still there.
                if item.standing.state < first.standing.state {
                    *first = item;
                }
                first.file = None;
                let standing = &mut first.standing;
                (standing.file, standing.file_recorded, standing.lines) = (None, None, None);
                standing.commits_since = None;
                standing.near.clear();
                continue;
            }
            seen.insert(key, merged.len());
        }
        merged.push(item);
    }
    merged
}

/// What `claim`, which is at `placement`, says, and how far it counts.
fn standing(
    request: &ReadRequest,
    setting: &Setting<'_>,
    file: &Scoped,
    claim: &Claim,
    placement: &Placement,
) -> (Body, Box<Standing>) {
    let body = &claim.body;
    let heading = &file.record.headings[claim.heading];
    let tie = match (body.anchor(), placement.tie) {
        (Some(anchor), tie @ Tie::Lines(..)) => match setting.items(file).as_deref() {
            Some(Ok(items)) => tie.with_anchor(trimmed(setting, file, placement.lines), anchor, items),
            _ => tie,
        },
        (_, tie) => tie,
    };
    let factors = factors(heading, body.origin(), tie, request, setting);
    let present_name = file.path.to_string();
    let (body, corrections) = corrected(claim, heading.voice.tier, setting.said, &request.limits);
    let is_doubted = corrections.iter().any(|item| !item.is_remark);
    let confidence = score::confidence(&factors);
    let standing = Box::new(Standing {
        superseded_by: setting.said.superseded.get(&claim.id).cloned(),
        expired: body.expires().is_some_and(|end| end <= request.now),
        expires: body.expires(),
        id: claim.id.clone(),
        commit: heading.commit.to_string(),
        timestamp: heading.timestamp.clone(),
        at: heading.at,
        author: heading.author.clone(),
        tier: heading.voice.tier,
        origin: heading.voice.origin.clone(),
        source: heading.source,
        context_level: heading.level,
        confidence: if is_doubted { score::doubted(confidence) } else { confidence },
        confidence_factors: factors,
        commits_since: claim.commits_since,
        file_recorded: (claim.name != present_name).then(|| claim.name.clone()),
        file: Some(present_name),
        lines: placement.lines,
        lines_recorded: body.lines(),
        near: placement.near.clone(),
        state: placement.state,
        gone_because: placement.because,
        gone_since: None,
        moved_to: None,
        item_lines: placement.item,
        lines_disagree: placement.tie == Tie::ByName,
        matched: placement.matched,
        elsewhere: heading.elsewhere.clone(),
        tags: body.tags().to_vec(),
        task: heading.task.clone(),
        related: Vec::new(),
        corrections,
        extra: match &body {
            Body::Region(region) => unknown_keys(&region.extra),
            Body::Summary(_) => serde_json::Map::new(),
            Body::Wisdom(entry) => unknown_keys(&entry.extra),
        },
    });
    (body, standing)
}

/// `lines` of the file without blank ones at either end.
fn trimmed(setting: &Setting<'_>, file: &Scoped, lines: Option<LineRange>) -> Option<LineRange> {
    let lines = lines?;
    let Some(content) = file.content.bytes(setting.repository) else { return Some(lines) };
    Some(lines.without_blanks(&LineFinder::new(content).of(lines)))
}

/// Keys by which an answer says how far its words can be trusted: a note must not say that of itself.
const JUDGED: [&str; 18] = [
    "tier",
    "origin",
    "author",
    "source",
    "confidence",
    "confidence_factors",
    "context_level",
    "timestamp",
    "commit",
    "state",
    "gone_because",
    "item_lines",
    "lines_disagree",
    "match",
    "expired",
    "superseded_by",
    "corrections",
    "elsewhere",
];

fn unknown_keys(
    extra: &serde_json::Map<String, serde_json::Value>,
) -> serde_json::Map<String, serde_json::Value> {
    let others = extra.iter().filter(|(key, _)| !JUDGED.contains(&key.as_str()));
    others.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What is left of a claim of this `tier` after it was corrected, and by what; where it is wanted as it was written,
/// nothing is hidden.
fn corrected(claim: &Claim, tier: Tier, said: &Afterwords, limits: &Limits) -> (Body, Vec<CorrectionItem>) {
    let mut body = claim.body.clone();
    let mut corrections = match &body {
        Body::Region(region) => correction::in_region(region),
        Body::Summary(_) | Body::Wisdom(_) => Vec::new(),
    };
    for correction in &mut corrections {
        // They are part of the claim.
        correction.trust = tier;
    }
    corrections.extend_from_slice(said.corrections_of(&claim.id));
    if corrections.is_empty() || limits.as_written {
        return (body, corrections);
    }
    match &mut body {
        Body::Region(region) => correction::Claim::Region(region),
        Body::Summary(summary) => correction::Claim::Summary(summary),
        Body::Wisdom(entry) => correction::Claim::Entry(entry),
    }
    .apply(&corrections);
    for correction in &mut corrections {
        match limits.with_replaced {
            true => correction.hide_removed(),
            false => correction.hide(),
        }
    }
    room::cap_remarks(&mut corrections);
    (body, corrections)
}

fn factors(
    heading: &Heading,
    origin: Option<Origin>,
    tie: Tie,
    request: &ReadRequest,
    setting: &Setting<'_>,
) -> score::Factors {
    let age = Age::between(heading.at, setting.head_time);
    let tie = (tie, heading.voice.tier);
    score::factors(heading.source, heading.level, origin, age, request.half_life_days, tie)
}

/// The commit that took an item's lines away; `None` when only the working tree lacks them.
fn gone_since(item: &Item, files: &[Scoped], setting: &Setting<'_>) -> Result<Option<ObjectId>> {
    let Some(Scoped { path, record, .. }) = item.file.map(|number| &files[number]) else { return Ok(None) };
    if item.standing.state != State::Gone || item.standing.lines.is_some() {
        return Ok(None);
    }
    let claim = &record.claims[item.claim];
    if claim.placement.state != State::Gone {
        return Ok(None);
    }
    match (claim.n_newer, claim.placement.recorded_in) {
        (Some(n_newer), Some((blob, range))) => {
            let newer = Newer { path: path.as_bstr(), steps: &record.steps, n_newer };
            setting.caches.removals.gone_since(setting.repository, newer, blob, range)
        }
        _ => Ok(None),
    }
}

/// Where the lines of an item went that `by` took away.
fn moved_to(item: &Item, files: &[Scoped], setting: &Setting<'_>, by: ObjectId) -> Result<Option<MovedTo>> {
    let Some(Scoped { path, record, .. }) = item.file.map(|number| &files[number]) else { return Ok(None) };
    let claim = &record.claims[item.claim];
    let Some(recorded) = claim.placement.recorded_in else { return Ok(None) };
    let heading = &record.headings[claim.heading];
    let located = located(claim, heading);
    let left = Left { by, path, located, noted: heading.commit, recorded, lacks: Cell::new(false) };
    let repository = setting.repository.get()?;
    let now = setting.caches.departures.now(repository, setting.head_tree, &left)?;
    Ok(now.map(|(file, lines)| MovedTo { file: file.to_string(), lines }))
}

/// Copies of one claim on several commits show once, where they are best placed; what is shown in the file that its code
/// went to is not shown as gone from the other one.
fn keep_best_copies(mut items: Vec<Item>, files: &[Scoped]) -> Vec<Item> {
    items.sort_by(|left, right| {
        let (left, right) = (&left.standing, &right.standing);
        (right.tier.cmp(&left.tier))
            .then_with(|| left.elsewhere.is_some().cmp(&right.elsewhere.is_some()))
            .then_with(|| left.state.cmp(&right.state))
            .then_with(|| right.confidence.total_cmp(&left.confidence))
            // Whichever it is, it has to be the same one each time.
            .then_with(|| (right.at, &left.commit).cmp(&(left.at, &right.commit)))
    });
    let mut seen = HashSet::with_capacity(items.len());
    let is_first: Vec<bool> = items.iter().map(|item| seen.insert((&item.standing.id, item.file))).collect();
    let mut is_first = is_first.into_iter();
    items.retain(|_| is_first.next().unwrap_or_default());
    // What is said of a whole commit is said of each of its files.
    let there: HashSet<(EntryId, &str)> = items
        .iter()
        .filter(|item| item.standing.state != State::Gone)
        .filter_map(|item| Some((item.standing.id.clone(), item.name(files)?)))
        .collect();
    items.retain(|item| {
        item.standing.state != State::Gone
            || !item.name(files).is_some_and(|name| there.contains(&(item.standing.id.clone(), name)))
    });
    items
}

fn filtered(items: Vec<Item>, limits: &Limits) -> Vec<Item> {
    let as_asked: Vec<Item> = if limits.lessons_only {
        let lessons = items.into_iter().flat_map(|item| match item.body {
            Body::Region(_) => region_lessons::lessons(&item),
            // Left out before.
            Body::Summary(_) => Vec::new(),
            Body::Wisdom(_) => vec![item],
        });
        lessons.filter(|item| limits.category.is_none() || limits.category == item.body.category()).collect()
    } else {
        items
    };
    as_asked
        .into_iter()
        .filter(|item| limits.admit(item.standing.at, &item.standing.tags))
        .filter(|item| limits.context_level.is_none_or(|wanted| item.level() == wanted))
        .filter(|item| limits.min_confidence <= item.standing.confidence)
        .collect()
}

/// Most trusted first; what is over last, and before it what unknown authors say; then newest first.
fn rank(items: &mut [Item]) {
    items.sort_by(|left, right| {
        let (left, right) = (&left.standing, &right.standing);
        left.is_over()
            .cmp(&right.is_over())
            .then_with(|| (left.tier == Tier::Unknown).cmp(&(right.tier == Tier::Unknown)))
            .then_with(|| right.confidence.total_cmp(&left.confidence))
            .then_with(|| right.at.cmp(&left.at))
            .then_with(|| (left.matched, left.lines).cmp(&(right.matched, right.lines)))
            .then_with(|| (&left.id, &left.file).cmp(&(&right.id, &right.file)))
    });
}

/// Whether an assumption is still made at `now`: its claim is neither replaced nor out of date, and the assumption not
/// taken back.
pub(crate) fn stands(reliance: &Reliance, said: &Afterwords, now: Timestamp) -> bool {
    if reliance.expires.is_some_and(|end| end <= now) || said.superseded.contains_key(&reliance.id) {
        return false;
    }
    let corrections = said.corrections_of(&reliance.id).iter();
    let removals = corrections.filter(|item| item.kind == CorrectionKind::Remove);
    let mut values =
        removals.filter(|item| matches!(item.field.as_deref(), Some("depends_on" | "semantic_dependencies")));
    !values.any(|item| item.target_value.as_deref() == Some(reliance.nature.as_str()))
}

/// Whether anybody says by its name that something relies on the code in `scope`.
fn is_relied_on(record: &FileRecord, scope: &Scope) -> bool {
    let mut reliances = record.reliances.iter().filter(|reliance| reliance.had_name);
    let concerns = record.concerns.iter().filter(|concern| concern.had_name);
    let mut members = concerns.flat_map(|concern| concern.here.iter().map(|at| &concern.members[*at]));
    reliances.any(|reliance| scope.names(reliance.on_anchor.as_deref()))
        || members.any(|member| scope.names(member.anchor.as_deref()))
}

/// What relies on the files in scope, most trusted first.
fn dependencies(request: &ReadRequest, files: &[Scoped], setting: &Setting<'_>) -> Vec<Dependency> {
    // Whether the dependent code is still as it was is not looked up: it lies in another file.
    let tie = Tie::Lines(State::Changed, 0.0);
    let mut dependencies: Vec<Dependency> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let (record, scope) = (&file.record, request.scope(number));
        let aim = Aim { scope, items: LazyCell::new(|| setting.items(file)) };
        // What stands beside the item that was asked for is another matter; what is called otherwise
        // by now may be that item, if it is there.
        let is_there = scope.lines.as_ref().is_none_or(|lines| !lines.is_empty());
        for reliance in record.reliances.iter().filter(|reliance| reliance.had_name) {
            let on = reliance.on_anchor.as_deref();
            let is_asked = if scope.names.is_empty() { aim.is_about(on) } else { scope.names(on) };
            if !is_asked && on.is_some_and(|on| !is_there || aim.has_item(on))
                || !request.limits.as_written && !stands(reliance, setting.said, request.now)
            {
                continue;
            }
            let heading = &record.headings[reliance.heading];
            let confidence = score::confidence(&factors(heading, None, tie, request, setting));
            let is_doubted = setting.said.doubts(&reliance.id);
            dependencies.push(Dependency {
                from_file: reliance.from_file.clone(),
                from_file_recorded: None,
                from_is_deleted: false,
                from_anchor: reliance.from_anchor.clone(),
                on_anchor: reliance.on_anchor.clone(),
                nature: reliance.nature.clone(),
                commit: heading.commit.to_string(),
                at: heading.at,
                confidence: if is_doubted { score::doubted(confidence) } else { confidence },
                author: heading.other_author(),
                tier: heading.voice.tier,
                origin: heading.voice.origin.clone(),
            });
        }
    }
    dependencies.sort_by(|left, right| {
        (left.tier == Tier::Unknown)
            .cmp(&(right.tier == Tier::Unknown))
            .then(right.confidence.total_cmp(&left.confidence))
            .then((right.at, &left.commit).cmp(&(left.at, &right.commit)))
    });
    let mut seen = HashSet::new();
    dependencies.retain(|dependency| {
        seen.insert((
            dependency.from_file.clone(),
            dependency.from_anchor.clone(),
            dependency.on_anchor.clone(),
            dependency.nature.clone(),
        ))
    });
    dependencies
}

/// What spans the files in scope and other places, most trusted first.
fn concerns(request: &ReadRequest, files: &[Scoped], setting: &Setting<'_>) -> Vec<CrossCuttingItem> {
    let mut concerns: Vec<CrossCuttingItem> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let aim = Aim { scope: request.scope(number), items: LazyCell::new(|| setting.items(file)) };
        for concern in &file.record.concerns {
            let mut here = concern.here.iter().map(|at| concern.members[*at].anchor.as_deref());
            if concern.had_name
                && here.any(|anchor| aim.is_about(anchor))
                && request.limits.admit(concern.item.at, &concern.item.tags)
            {
                let heading = &file.record.headings[concern.heading];
                concerns.push(CrossCuttingItem {
                    author: heading.other_author(),
                    tier: heading.voice.tier,
                    origin: heading.voice.origin.clone(),
                    ..concern.item.clone()
                });
            }
        }
    }
    concerns.sort_by(|left, right| {
        (left.tier == Tier::Unknown)
            .cmp(&(right.tier == Tier::Unknown))
            .then_with(|| (right.at, &left.commit).cmp(&(left.at, &right.commit)))
    });
    concerns.dedup();
    concerns
}

impl Item {
    /// The file as its claim calls it, when it belongs to one.
    fn name<'f>(&self, files: &'f [Scoped]) -> Option<&'f str> {
        Some(&files[self.file?].record.claims[self.claim].name)
    }

    /// The other file that its code came from.
    fn source<'f>(&self, files: &'f [Scoped]) -> Option<&'f str> {
        let name = self.name(files)?;
        files[self.file?].record.is_elsewhere(name).then(|| name.trim_start_matches("./"))
    }

    fn level(&self) -> ContextLevel {
        match self.body.origin() {
            Some(Origin::Author) => ContextLevel::Enhanced,
            Some(Origin::Inferred) => ContextLevel::Inferred,
            None => self.standing.context_level,
        }
    }

    /// The shape in which the item is answered.
    fn finish(self) -> Finished {
        let standing = *self.standing;
        match self.body {
            Body::Summary(intent) => Finished::Region(RegionItem {
                standing,
                ast_anchor: None,
                intent,
                intent_shown_at: None,
                reasoning: None,
                constraints: Vec::new(),
                risk_notes: None,
                semantic_dependencies: Vec::new(),
            }),
            Body::Region(region) => Finished::Region(RegionItem {
                standing,
                ast_anchor: region.ast_anchor,
                intent: region.intent.unwrap_or_default(),
                intent_shown_at: None,
                reasoning: region.reasoning,
                constraints: region.constraints,
                risk_notes: region.risk_notes,
                semantic_dependencies: unsketched(region.semantic_dependencies),
            }),
            Body::Wisdom(entry) => Finished::Wisdom(WisdomItem {
                standing,
                category: entry.category,
                content: entry.content,
                anchor: entry.anchor,
                depends_on: unsketched(entry.depends_on),
            }),
        }
    }
}

/// Sketches are for us to find code by, and say nothing to a reader.
fn unsketched(mut dependencies: Vec<DependsOn>) -> Vec<DependsOn> {
    dependencies.iter_mut().for_each(|dependency| dependency.sketch = None);
    dependencies
}

/// An item in the shape of the answer.
enum Finished {
    Region(RegionItem),
    Wisdom(WisdomItem),
}
