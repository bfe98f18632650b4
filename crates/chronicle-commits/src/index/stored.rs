//! The form in which records lie in a table.
//!
//! The parts that questions are matched by come first and are small; what a claim says lies apart
//! and is only read when it is shown.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    io::{Seek, Write},
};

use chronicle_core::{
    ContextLevel, CrossCuttingMember, EntryId, GoneBecause, Hint, LineRange, Source,
    correction::Tier,
    line_hash,
    mentions::segments,
    reading::{CrossCuttingItem, Match, State},
    score::Tie,
};
use chronicle_git::ObjectId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    index::{
        Told, Wanted,
        body::{self, Beside, Kind},
        table::{Part, Table, TableWriter},
    },
    lost::{Lost, LostLines},
    placing::{Placement, Reach},
    prose::{Kind as Words, Passage},
    record::{Body, Claim, Concern, FileRecord, Heading, Other, Reliance, Relied, Relying, Spoken, Step},
    rows::{Rows, RowsWriter},
    trust::Voice,
};

/// A record, as it is stored.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredRecord<'a> {
    /// XXH3-64 of the bytes that the claims were placed in; `None` when the file was not there.
    pub(super) content: Option<u64>,
    /// Whether the lines of the file mean nothing: binary, or replaced by a filter's pointer.
    pub(super) is_opaque: bool,
    /// Names that the file had before, when it had others than its path.
    pub(super) names: Vec<String>,
    /// Where in the history the newest commit is that calls it otherwise than one of its parents does; only a table says.
    pub(super) renamed_at: Option<u32>,
    /// Other files that code in it may have come from.
    pub(super) sources: Vec<String>,
    #[serde(borrow)]
    steps: StoredSteps<'a>,
    /// [`StoredCommits`], which few questions need.
    commits: &'a [u8],
    /// [`StoredHeading`]s, few of which most questions need.
    #[serde(borrow)]
    headings: Rows<'a>,
    /// Those that headings have for an author: mostly a few who wrote many.
    #[serde(borrow)]
    authors: Vec<&'a str>,
    /// [`StoredClaims`], apart since some questions do not ask for them: there may be thousands.
    claims: Option<Part>,
    /// [`StoredRelations`], which many questions do not ask for.
    relations: Option<Part>,
    warnings: Vec<String>,
    lost: &'a [u8],
    /// [`FileRecord::has_lost`].
    pub(super) has_lost: bool,
}

/// The commits that have to do with a file.
#[derive(Serialize, Deserialize)]
struct StoredCommits {
    /// Where in the history those are that changed it.
    places: Vec<u32>,
    annotated: Vec<Object>,
}

/// An object's id, without a place of its own in memory: records hold thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id {
    len: u8,
    bytes: [u8; MAX_ID_LEN],
}

/// The length of a SHA-256.
const MAX_ID_LEN: usize = 32;

impl Id {
    fn from_bytes(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_ID_LEN];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        Some(Self { len: u8::try_from(id.len()).ok()?, bytes })
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    pub(super) fn get(&self) -> Option<ObjectId> {
        ObjectId::try_from(self.as_bytes()).ok()
    }
}

impl From<ObjectId> for Id {
    fn from(id: ObjectId) -> Self {
        Self::from_bytes(id.as_slice()).expect("no id is longer than a SHA-256")
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.as_bytes())
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        Self::from_bytes(bytes).ok_or_else(|| serde::de::Error::custom("an id is too long"))
    }
}

/// The steps of a file, to be read one by one: most questions need none of them.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct StoredSteps<'a> {
    id_len: u8,
    /// A commit and a blob each; zeros for a blob that is not there.
    bytes: &'a [u8],
    /// For each of them the blob before it: [`NO_OLD`], how many steps further down it was made, or [`UNKNOWN_OLD`].
    olds: &'a [u8],
}

/// The one parent has no such file.
const NO_OLD: u8 = 0;
const UNKNOWN_OLD: u8 = u8::MAX;

/// What [`StoredSteps::olds`] says of the first of `steps`.
fn stored_old(steps: &[Step]) -> u8 {
    let Some(old) = steps.first().and_then(|step| step.old) else { return UNKNOWN_OLD };
    let Some(old) = old else { return NO_OLD };
    let made = (1..UNKNOWN_OLD).zip(&steps[1..]).find(|(_, step)| step.blob == Some(old));
    made.map_or(UNKNOWN_OLD, |(further_down, _)| further_down)
}

/// A commit or a blob: that of a step, or any.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Object {
    Of(u32),
    Other(Id),
}

impl StoredSteps<'_> {
    fn ids(&self, step: usize) -> Option<(ObjectId, ObjectId)> {
        let id_len = usize::from(self.id_len);
        let ids = self.bytes.get(2 * id_len * step..)?.get(..2 * id_len)?;
        let (commit, blob) = ids.split_at(id_len);
        Some((ObjectId::try_from(commit).ok()?, ObjectId::try_from(blob).ok()?))
    }

    fn get(&self, number: usize) -> Option<Step> {
        let blob = |number: usize| Some(self.ids(number)?.1).filter(|blob| !blob.is_null());
        let old = match *self.olds.get(number)? {
            UNKNOWN_OLD => None,
            NO_OLD => Some(None),
            further_down => Some(Some(blob(number + usize::from(further_down))?)),
        };
        Some(Step { commit: self.ids(number)?.0, blob: blob(number), old })
    }

    fn len(&self) -> usize {
        self.bytes.len().checked_div(2 * usize::from(self.id_len)).unwrap_or_default()
    }

    fn commit(&self, object: Object) -> Option<ObjectId> {
        match object {
            Object::Of(step) => self.ids(step as usize).map(|(commit, _)| commit),
            Object::Other(id) => id.get(),
        }
    }

    fn blob(&self, object: Object) -> Option<ObjectId> {
        match object {
            Object::Of(step) => self.ids(step as usize).map(|(_, blob)| blob),
            Object::Other(id) => id.get(),
        }
    }
}

/// The numbers of steps, while a record is written.
struct Numbers {
    commits: HashMap<ObjectId, u32>,
    blobs: HashMap<ObjectId, u32>,
}

impl Numbers {
    fn of(steps: &[Step]) -> Self {
        let commits = steps.iter().zip(0..).map(|(step, number)| (step.commit, number)).collect();
        let blobs = steps.iter().zip(0..).filter_map(|(step, number)| Some((step.blob?, number))).collect();
        Self { commits, blobs }
    }

    fn commit(&self, id: ObjectId) -> Object {
        self.commits.get(&id).map_or_else(|| Object::Other(id.into()), |number| Object::Of(*number))
    }

    fn blob(&self, id: ObjectId) -> Object {
        self.blobs.get(&id).map_or_else(|| Object::Other(id.into()), |number| Object::Of(*number))
    }
}

pub(super) type Range = (u32, u32);

pub(super) fn pair(range: LineRange) -> Range {
    (range.start, range.end)
}

pub(super) fn range((start, end): Range) -> Option<LineRange> {
    LineRange::new(start, end).ok()
}

#[derive(Serialize, Deserialize)]
struct StoredHeading<'a> {
    /// First, since many questions need no more.
    #[serde(borrow)]
    spoken: StoredSpoken<'a>,
    foreign_commit: Option<&'a str>,
    /// Its number among the authors that are stored beside.
    author: Option<u32>,
    task: Option<&'a str>,
}

/// [`Spoken`].
#[derive(Serialize, Deserialize)]
struct StoredSpoken<'a> {
    commit: Object,
    elsewhere: Option<&'a str>,
    /// `None` where it is `at` as we write it.
    timestamp: Option<&'a str>,
    /// Nanoseconds since the epoch.
    at: i128,
    source: u8,
    is_enhanced: bool,
    /// Who it is from, if the user did not write it.
    #[serde(borrow)]
    other: Option<StoredOther<'a>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct StoredOther<'a> {
    is_team: bool,
    origin: Option<&'a str>,
    author: Option<&'a str>,
}

/// The claims about a file: what questions are matched by, [`StoredKey`]s, and where the rest lies.
#[derive(Default, Serialize, Deserialize)]
struct StoredClaims<'a> {
    keys: &'a [u8],
    /// [`Rows`] of [`StoredWords`], [`TOGETHER`] in each part but the last.
    words: Vec<Part>,
}

/// How many claims are read together, when one of them may be asked for.
const TOGETHER: usize = 64;

/// What a claim is looked for by.
struct StoredKey {
    /// No lines outside concern it, unless it is asked for by name; `None` where none do.
    reach: Option<Reach>,
    /// A [`name_hash`] of the code it is about.
    name: Option<u32>,
    /// Whether that is gone, and nothing may bring it back.
    is_gone: bool,
    /// Whether it is the summary of a commit, and no lesson.
    is_summary: bool,
}

/// A hash of the last segment of a name of code: names that agree have the same.
fn name_hash(name: &str) -> Option<u32> {
    Some(line_hash(segments(name).last()?.as_bytes()))
}

/// What claims are asked for by: some lines, and some names.
pub(super) struct Asked<'q> {
    lines: &'q [LineRange],
    names: Vec<u32>,
    without_gone: bool,
}

impl<'q> Asked<'q> {
    /// `None` where the scope is the whole file, or no lines: then the claims about the whole file are to be told apart.
    pub(super) fn of(Wanted { scope, without_gone, .. }: Wanted<'q>) -> Option<Self> {
        let lines = scope.lines.as_deref().filter(|lines| !lines.is_empty())?;
        let names = scope.names.iter().filter_map(|name| name_hash(name)).collect();
        Some(Self { lines, names, without_gone })
    }
}

/// A claim without its body.
#[derive(Serialize, Deserialize)]
struct StoredWords<'a> {
    heading: u32,
    id: &'a str,
    /// `None` where it is the file's present path.
    name: Option<&'a str>,
    /// The name of the code it is about.
    anchor: Option<&'a str>,
    placement: StoredPlacement,
    commits_since: Option<u32>,
    n_newer: Option<u32>,
    kind: Kind,
    body: Part,
}

#[derive(Serialize, Deserialize)]
struct StoredPlacement {
    lines: Option<Range>,
    near: Vec<Range>,
    state: State,
    tie: Tie,
    matched: Match,
    gap: Option<Range>,
    recorded_in: Option<(Object, Range)>,
    lost: Option<Lost>,
    because: Option<GoneBecause>,
    hint: Option<Hint>,
    is_unsketched: bool,
}

/// Who relies on the file, and what spans it.
#[derive(Default, Serialize, Deserialize)]
struct StoredRelations<'a> {
    /// [`StoredReliance`]s.
    #[serde(borrow)]
    reliances: Rows<'a>,
    concerns: Vec<StoredConcern>,
}

#[derive(Serialize, Deserialize)]
struct StoredReliance<'a> {
    heading: u32,
    id: &'a str,
    from_file: Option<&'a str>,
    from_anchor: Option<&'a str>,
    /// `None` where it is the file's present path.
    on_file: Option<&'a str>,
    on_anchor: Option<&'a str>,
    nature: &'a str,
    expires: Option<i128>,
    had_name: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredConcern {
    heading: u32,
    description: String,
    /// Files and items.
    members: Vec<(String, Option<String>)>,
    here: Vec<u32>,
    had_name: bool,
    tags: Vec<String>,
    commit: String,
    at: i128,
    /// As JSON.
    extra: String,
}

#[derive(Serialize, Deserialize)]
struct StoredPassage<'a> {
    #[serde(borrow)]
    heading: StoredHeading<'a>,
    author: Option<&'a str>,
    kind: Words,
    claim: String,
    from_file: Option<String>,
    from_anchor: Option<String>,
    text: String,
    expires: Option<i128>,
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Stores the record of the file at `path`.
pub(super) fn store<W: Write + Seek>(
    writer: &mut TableWriter<W>,
    key: &[u8],
    path: &str,
    record: &FileRecord,
    (content, is_opaque): (Option<u64>, bool),
    renamed_at: Option<u32>,
) -> std::io::Result<()> {
    let numbers = Numbers::of(&record.steps);
    let (mut keys, mut words) = (Vec::new(), Vec::new());
    for claims in record.claims.chunks(TOGETHER) {
        let mut rows = RowsWriter::default();
        for claim in claims {
            let (kind, bytes) = body::store(&claim.body, &claim.name)?;
            let Placement { lines, near, state, tie, matched, gap, recorded_in, .. } = &claim.placement;
            let stored = StoredWords {
                heading: count(claim.heading),
                id: &claim.id.0,
                name: (claim.name != path).then_some(claim.name.as_str()),
                anchor: claim.body.anchor().map(|anchor| anchor.name.as_str()),
                placement: StoredPlacement {
                    lines: lines.map(pair),
                    near: near.iter().copied().map(pair).collect(),
                    state: *state,
                    tie: *tie,
                    matched: *matched,
                    gap: gap.map(pair),
                    recorded_in: recorded_in.map(|(blob, range)| (numbers.blob(blob), pair(range))),
                    lost: claim.placement.lost,
                    because: claim.placement.because,
                    hint: claim.placement.hint,
                    is_unsketched: claim.placement.is_unsketched,
                },
                commits_since: claim.commits_since,
                n_newer: claim.n_newer,
                kind,
                body: writer.part(&bytes)?,
            };
            let key = StoredKey {
                reach: claim.placement.reach(stored.anchor.is_some()),
                name: stored.anchor.and_then(name_hash),
                is_gone: claim.placement.is_gone_for_good(stored.anchor.is_some()),
                is_summary: matches!(claim.body, Body::Summary(_)),
            };
            keys.extend(key.to_bytes());
            rows.add(&stored).map_err(std::io::Error::other)?;
        }
        words.push(writer.part(&packed(&rows.rows())?)?);
    }
    let claims = StoredClaims { keys: &keys, words };
    let mut headings = RowsWriter::default();
    let (mut authors, mut author_numbers) = (Vec::new(), HashMap::new());
    for heading in &record.headings {
        let mut number = |author| {
            *author_numbers.entry(author).or_insert_with(|| {
                authors.push(author);
                count(authors.len() - 1)
            })
        };
        let author = heading.author.as_deref().map(&mut number);
        let stored = stored_heading(heading, numbers.commit(heading.commit), author);
        headings.add(&stored).map_err(std::io::Error::other)?;
    }
    let null = |commit: ObjectId| commit.kind().null();
    let ids = |step: &Step| [step.commit, step.blob.unwrap_or_else(|| null(step.commit))];
    let steps: Vec<u8> = record.steps.iter().flat_map(ids).flat_map(|id| id.as_slice().to_vec()).collect();
    let olds: Vec<u8> = (0..record.steps.len()).map(|number| stored_old(&record.steps[number..])).collect();
    let id_len = record.steps.first().map_or(0, |step| step.commit.as_slice().len());
    let mut reliances = RowsWriter::default();
    for reliance in &record.reliances {
        let stored = StoredReliance {
            heading: count(reliance.heading),
            id: &reliance.id.0,
            from_file: reliance.from_file.as_deref(),
            from_anchor: reliance.from_anchor.as_deref(),
            on_file: (reliance.on_file != path).then_some(&reliance.on_file),
            on_anchor: reliance.on_anchor.as_deref(),
            nature: &reliance.nature,
            expires: reliance.expires.map(Timestamp::as_nanosecond),
            had_name: reliance.had_name,
        };
        reliances.add(&stored).map_err(std::io::Error::other)?;
    }
    let relations = StoredRelations {
        reliances: reliances.rows(),
        concerns: record.concerns.iter().map(stored_concern).collect(),
    };
    let mut part = |is_empty: bool, bytes: std::io::Result<Vec<u8>>| -> std::io::Result<Option<Part>> {
        if is_empty { Ok(None) } else { writer.part(&bytes?).map(Some) }
    };
    let commits = StoredCommits {
        places: record.places.clone(),
        annotated: record.annotated.iter().map(|id| numbers.commit(*id)).collect(),
    };
    let stored = StoredRecord {
        content,
        is_opaque,
        names: record.names.clone(),
        renamed_at,
        sources: record.sources.clone(),
        steps: StoredSteps { id_len: u8::try_from(id_len).unwrap_or_default(), bytes: &steps, olds: &olds },
        commits: &packed(&commits)?,
        headings: headings.rows(),
        authors,
        claims: part(record.claims.is_empty(), packed(&claims))?,
        relations: part(record.reliances.is_empty() && record.concerns.is_empty(), packed(&relations))?,
        warnings: record.warnings.clone(),
        lost: &record.lost.0,
        has_lost: record.has_lost,
    };
    writer.value(key, &packed(&stored)?)
}

fn packed(value: &impl Serialize) -> std::io::Result<Vec<u8>> {
    postcard::to_allocvec(value).map_err(std::io::Error::other)
}

fn stored_heading(heading: &Heading, commit: Object, author: Option<u32>) -> StoredHeading<'_> {
    let spoken = StoredSpoken {
        commit,
        elsewhere: heading.elsewhere.as_deref(),
        timestamp: Some(heading.timestamp.as_str()).filter(|said| *said != heading.at.to_string()),
        at: heading.at.as_nanosecond(),
        source: source_number(heading.source),
        is_enhanced: heading.level == ContextLevel::Enhanced,
        other: heading.other().map(|Other { tier, origin, author }| StoredOther {
            is_team: tier == Tier::Team,
            origin,
            author,
        }),
    };
    StoredHeading {
        spoken,
        foreign_commit: heading.foreign_commit.as_deref(),
        author,
        task: heading.task.as_deref(),
    }
}

fn stored_concern(concern: &Concern) -> StoredConcern {
    let members = concern.members.iter();
    StoredConcern {
        heading: count(concern.heading),
        description: concern.item.description.clone(),
        members: members.map(|member| (member.file.clone(), member.anchor.clone())).collect(),
        here: concern.here.iter().copied().map(count).collect(),
        had_name: concern.had_name,
        tags: concern.item.tags.clone(),
        commit: concern.item.commit.clone(),
        at: concern.item.at.as_nanosecond(),
        extra: Value::Object(concern.item.extra.clone()).to_string(),
    }
}

/// Stores words that may name code, as a part for values to refer to.
pub(super) fn store_passage<W: Write + Seek>(
    writer: &mut TableWriter<W>,
    passage: Passage,
) -> std::io::Result<Part> {
    let stored = StoredPassage {
        heading: stored_heading(
            &passage.heading,
            Object::Other(passage.heading.commit.into()),
            passage.heading.author.as_ref().map(|_| 0),
        ),
        author: passage.heading.author.as_deref(),
        kind: passage.kind,
        claim: passage.claim.0,
        from_file: passage.from_file,
        from_anchor: passage.from_anchor,
        text: passage.text,
        expires: passage.expires.map(Timestamp::as_nanosecond),
    };
    writer.part(&packed(&stored)?)
}

/// Reads words that may name code.
pub(super) fn load_passage(table: &Table, part: Part) -> Option<Passage> {
    parse_passage(&table.part(part)?)
}

/// The same, when its bytes are read.
pub(super) fn parse_passage(bytes: &[u8]) -> Option<Passage> {
    let stored: StoredPassage<'_> = postcard::from_bytes(bytes).ok()?;
    Some(Passage {
        heading: heading(&stored.heading, StoredSteps::default(), stored.author.as_slice())?,
        kind: stored.kind,
        claim: EntryId(stored.claim),
        from_file: stored.from_file,
        from_anchor: stored.from_anchor,
        text: stored.text,
        expires: stored.expires.and_then(|end| Timestamp::from_nanosecond(end).ok()),
    })
}

/// Reads a stored record.
pub(super) fn parse(bytes: &[u8]) -> Option<StoredRecord<'_>> {
    postcard::from_bytes(bytes).ok()
}

impl StoredRecord<'_> {
    /// Whether anything is claimed about the file.
    pub(super) fn has_claims(&self) -> bool {
        self.claims.is_some()
    }

    /// Whether `commit` is the oldest that changed the file.
    pub(super) fn begins_with(&self, commit: ObjectId) -> bool {
        let first = self.steps.len().checked_sub(1).and_then(|last| self.steps.ids(last));
        first.is_some_and(|(first, _)| first == commit)
    }

    /// The commits that changed the file, newest first, each with the blob that it left, zeros for none.
    pub(super) fn steps(&self) -> Vec<(ObjectId, ObjectId)> {
        (0..self.steps.len()).filter_map(|step| self.steps.ids(step)).collect()
    }

    /// The commits whose notes say something about the file; `None` where that is damaged.
    pub(super) fn commits(&self) -> Option<impl Iterator<Item = ObjectId>> {
        let of_headings = (0..self.headings.len()).filter_map(|number| commit_of(self.headings, number));
        let all = self.stored_commits()?.annotated.into_iter().chain(of_headings);
        Some(all.filter_map(|commit| self.steps.commit(commit)))
    }

    /// Where in the history the commits are that changed the file; `None` where that is damaged.
    pub(super) fn places(&self) -> Option<Vec<u32>> {
        Some(self.stored_commits()?.places)
    }

    fn stored_commits(&self) -> Option<StoredCommits> {
        postcard::from_bytes(self.commits).ok()
    }

    /// The numbers of the claims that may be `asked` for, and the part of the table that those lie in.
    fn claims_asked(
        &self,
        table: &Table,
        asked: Option<&Asked<'_>>,
        with_summaries: bool,
    ) -> Option<Vec<(Vec<usize>, Part)>> {
        let Some(claims) = self.claims else { return Some(Vec::new()) };
        table.with_part(claims, |claims| {
            let claims: StoredClaims<'_> = postcard::from_bytes(claims).ok()?;
            let may_be_asked = |(number, key): (usize, &[u8; KEY])| {
                let key = StoredKey::from_bytes(key);
                let is_told = with_summaries || !key.is_summary;
                (is_told && asked.is_none_or(|asked| key.may_meet(asked))).then_some(number)
            };
            let numbers = claims.keys.as_chunks().0.iter().enumerate().filter_map(may_be_asked);
            let mut found: Vec<(Vec<usize>, Part)> = Vec::new();
            let mut last = None;
            for number in numbers {
                let together = number / TOGETHER;
                if last.replace(together) != Some(together) {
                    found.push((Vec::new(), *claims.words.get(together)?));
                }
                found.last_mut()?.0.push(number);
            }
            Some(found)
        })
    }

    /// The record of the file at `path`, with those of its claims that `concern`, told the file that they name and the code,
    /// lets through after it has said where they are. What is certainly not `asked` for is left out without being taken apart,
    /// and so is what is not to be told.
    pub(super) fn load(
        self,
        table: &Table,
        path: &str,
        asked: Option<&Asked<'_>>,
        told: Told,
        mut concern: impl FnMut(&mut Placement, &str, Option<&str>) -> bool,
    ) -> Option<FileRecord> {
        let relations = part(table, self.relations.filter(|_| told.relations))?;
        let relations: StoredRelations<'_> = parsed(&relations)?;
        let mut headings = Headings::new(self.headings, self.steps, &self.authors);
        let mut claims = Vec::new();
        let mut load = |numbers: &[usize], rows: &[u8]| {
            let rows: Rows<'_> = postcard::from_bytes(rows).ok()?;
            for number in numbers {
                let claim: StoredWords<'_> = rows.parsed(number % TOGETHER)?;
                let mut placement = placement(claim.placement, self.steps)?;
                let name = claim.name.unwrap_or(path);
                if !concern(&mut placement, name, claim.anchor) {
                    continue;
                }
                let beside = Beside { id: claim.id, name, anchor: claim.anchor };
                claims.push(Claim {
                    heading: headings.number(claim.heading)?,
                    body: body::load(claim.kind, beside, &table.part(claim.body)?)?,
                    id: EntryId(claim.id.to_owned()),
                    name: name.to_owned(),
                    placement,
                    commits_since: claim.commits_since,
                    n_newer: claim.n_newer,
                });
            }
            Some(())
        };
        for (numbers, rows) in self.claims_asked(table, asked, told.summaries)? {
            table.with_part(rows, |rows| load(&numbers, rows))?;
        }
        // Asked for some of the claims, only what is gone is followed through them.
        let is_followed = asked.is_none() || claims.iter().any(|claim| claim.placement.state == State::Gone);
        let n_steps = if is_followed { self.steps.len() } else { 0 };
        let (places, annotated) = if told.commits {
            let StoredCommits { places, annotated } = self.stored_commits()?;
            let commits = annotated.into_iter().map(|commit| self.steps.commit(commit));
            (places, commits.collect::<Option<_>>()?)
        } else {
            (Vec::new(), Vec::new())
        };
        Some(FileRecord {
            names: self.names,
            sources: self.sources,
            places,
            steps: (0..n_steps).map(|number| self.steps.get(number)).collect::<Option<_>>()?,
            annotated,
            claims,
            reliances: reliances(relations.reliances, path, &mut headings)?,
            concerns: concerns(relations.concerns, &mut headings)?,
            warnings: self.warnings,
            lost: LostLines(self.lost.to_vec()),
            has_lost: self.has_lost,
            headings: headings.loaded,
        })
    }

    /// What `look` makes of who relies on the file at `path`, where that lies; `None` where it is damaged. What is claimed
    /// about the file comes only `with_claims`.
    pub(super) fn with_relied<T>(
        &self,
        table: &Table,
        path: &str,
        with_claims: bool,
        look: impl FnOnce(Relied<'_>) -> T,
    ) -> Option<T> {
        let claims = if with_claims { self.claims_asked(table, None, true)? } else { Vec::new() };
        let claims: Vec<Vec<u8>> =
            claims.into_iter().map(|(_, rows)| table.part(rows)).collect::<Option<_>>()?;
        let look = |relations: &[u8]| Some(look(self.relied(path, &claims, relations)?));
        match self.relations {
            Some(relations) => table.with_part(relations, look),
            None => look(&[]),
        }
    }

    /// Who relies on the file at `path`, from rows of [`StoredWords`] and [`StoredRelations`].
    fn relied<'r>(&'r self, path: &'r str, claims: &'r [Vec<u8>], relations: &'r [u8]) -> Option<Relied<'r>> {
        let (steps, headings) = (self.steps, self.headings);
        let heading = move |number| spoken(&postcard::take_from_bytes(headings.get(number)?).ok()?.0, steps);
        let mut claimed = HashSet::new();
        for rows in claims {
            let rows: Rows<'_> = postcard::from_bytes(rows).ok()?;
            for number in 0..rows.len() {
                let claim: StoredWords<'_> = rows.parsed(number)?;
                claimed.insert((claim.id, steps.commit(commit_of(headings, claim.heading as usize)?)?));
            }
        }
        let relations: StoredRelations<'_> = parsed(relations)?;
        let mut reliances = Vec::with_capacity(relations.reliances.len());
        for number in 0..relations.reliances.len() {
            let stored: StoredReliance<'_> = relations.reliances.parsed(number)?;
            reliances.push(Relying {
                heading: stored.heading as usize,
                id: stored.id,
                from_file: stored.from_file,
                from_anchor: stored.from_anchor,
                on_file: stored.on_file.unwrap_or(path),
                on_anchor: stored.on_anchor,
                nature: stored.nature,
                expires: stored.expires.and_then(|end| Timestamp::from_nanosecond(end).ok()),
            });
        }
        let concern = |stored: StoredConcern| {
            let number = stored.heading as usize;
            Some((heading(number)?, Cow::Owned(concern(stored, number)?)))
        };
        Some(Relied {
            claimed,
            reliances,
            concerns: relations.concerns.into_iter().map(concern).collect::<Option<_>>()?,
            names: self.names.clone(),
            sources: self.sources.clone(),
            warnings: self.warnings.clone(),
            headings: Box::new(heading),
        })
    }
}

/// The bytes of `part`; none where there is no such part, `None` where it is damaged.
fn part(table: &Table, part: Option<Part>) -> Option<Vec<u8>> {
    part.map_or_else(|| Some(Vec::new()), |part| table.part(part))
}

/// What a part holds; nothing where there is none.
fn parsed<'a, T: Default + Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    if bytes.is_empty() { Some(T::default()) } else { postcard::from_bytes(bytes).ok() }
}

/// The headings of a record, of which mostly few are needed.
struct Headings<'a> {
    /// [`StoredHeading`]s.
    stored: Rows<'a>,
    steps: StoredSteps<'a>,
    authors: &'a [&'a str],
    /// For each stored one, its number among the loaded ones.
    numbers: Vec<Option<usize>>,
    loaded: Vec<Heading>,
}

impl<'a> Headings<'a> {
    fn new(stored: Rows<'a>, steps: StoredSteps<'a>, authors: &'a [&'a str]) -> Self {
        Self { numbers: vec![None; stored.len()], stored, steps, authors, loaded: Vec::new() }
    }

    /// The number among the loaded ones of the stored one with this number.
    fn number(&mut self, stored: u32) -> Option<usize> {
        let stored = stored as usize;
        if let Some(known) = *self.numbers.get(stored)? {
            return Some(known);
        }
        self.loaded.push(heading(&self.stored.parsed(stored)?, self.steps, self.authors)?);
        self.numbers[stored] = Some(self.loaded.len() - 1);
        self.numbers[stored]
    }
}

/// The sources, in the order of their numbers.
const SOURCES: [Source; 7] = [
    Source::Live,
    Source::Batch,
    Source::Backfill,
    Source::Squash,
    Source::Amend,
    Source::MigratedV1,
    Source::MigratedV2,
];

fn source_number(source: Source) -> u8 {
    let number = SOURCES.iter().position(|known| *known == source).expect("all sources are there");
    u8::try_from(number).expect("there are few")
}

/// The length of a [`StoredKey`]: what there is of them, two lines, a hash, and parts of the lines.
const KEY: usize = 15;
const HAS_NAME: u8 = 1;
const IS_GONE: u8 = 2;
const IS_SUMMARY: u8 = 4;

impl StoredKey {
    fn to_bytes(&self) -> [u8; KEY] {
        // No line has the number zero.
        let (start, end, parts) =
            self.reach.map_or((0, 0, 0), |Reach { within, parts }| (within.start, within.end, parts));
        let has_name = if self.name.is_some() { HAS_NAME } else { 0 };
        let is_gone = if self.is_gone { IS_GONE } else { 0 };
        let is_summary = if self.is_summary { IS_SUMMARY } else { 0 };
        let mut bytes = [has_name | is_gone | is_summary; KEY];
        bytes[1..5].copy_from_slice(&start.to_le_bytes());
        bytes[5..9].copy_from_slice(&end.to_le_bytes());
        bytes[9..13].copy_from_slice(&self.name.unwrap_or_default().to_le_bytes());
        bytes[13..].copy_from_slice(&parts.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; KEY]) -> Self {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let parts = u16::from_le_bytes([bytes[13], bytes[14]]);
        Self {
            reach: range((number(1), number(5))).map(|within| Reach { within, parts }),
            name: Some(number(9)).filter(|_| bytes[0] & HAS_NAME != 0),
            is_gone: bytes[0] & IS_GONE != 0,
            is_summary: bytes[0] & IS_SUMMARY != 0,
        }
    }

    /// Whether it may be one of those that are asked for.
    fn may_meet(&self, asked: &Asked<'_>) -> bool {
        // What has a name may have been formatted, and be there after all.
        if asked.without_gone && self.is_gone && self.name.is_none() {
            return false;
        }
        let is_named = self.name.is_some_and(|name| asked.names.contains(&name));
        is_named || self.reach.is_some_and(|reach| asked.lines.iter().any(|lines| reach.may_meet(*lines)))
    }
}

/// The commit of the heading number `number`.
fn commit_of(headings: Rows<'_>, number: usize) -> Option<Object> {
    postcard::take_from_bytes(headings.get(number)?).ok().map(|(commit, _)| commit)
}

fn spoken<'a>(stored: &StoredSpoken<'a>, steps: StoredSteps<'_>) -> Option<Spoken<'a>> {
    Some(Spoken {
        commit: steps.commit(stored.commit)?,
        elsewhere: stored.elsewhere,
        timestamp: stored.timestamp,
        at: Timestamp::from_nanosecond(stored.at).ok()?,
        source: *SOURCES.get(usize::from(stored.source))?,
        level: if stored.is_enhanced { ContextLevel::Enhanced } else { ContextLevel::Inferred },
        other: stored.other.map(|StoredOther { is_team, origin, author }| Other {
            tier: if is_team { Tier::Team } else { Tier::Unknown },
            origin,
            author,
        }),
    })
}

fn heading(stored: &StoredHeading<'_>, steps: StoredSteps<'_>, authors: &[&str]) -> Option<Heading> {
    let spoken = spoken(&stored.spoken, steps)?;
    let author = match stored.author {
        Some(number) => Some((*authors.get(number as usize)?).to_owned()),
        None => None,
    };
    let Spoken { commit, elsewhere, at, source, level, .. } = spoken;
    Some(Heading {
        commit,
        elsewhere: elsewhere.map(str::to_owned),
        foreign_commit: stored.foreign_commit.map(str::to_owned),
        timestamp: spoken.timestamp(),
        at,
        author,
        voice: spoken
            .other
            .map_or(Voice::OWN, |other| Voice { tier: other.tier, origin: other.origin.map(str::to_owned) }),
        source,
        level,
        task: stored.task.map(str::to_owned),
    })
}

fn placement(stored: StoredPlacement, steps: StoredSteps<'_>) -> Option<Placement> {
    let recorded_in = match stored.recorded_in {
        Some((blob, lines)) => Some((steps.blob(blob)?, range(lines)?)),
        None => None,
    };
    Some(Placement {
        lines: stored.lines.and_then(range),
        near: stored.near.into_iter().filter_map(range).collect(),
        state: stored.state,
        tie: stored.tie,
        matched: stored.matched,
        gap: stored.gap.and_then(range),
        recorded_in,
        lost: stored.lost,
        because: stored.because,
        hint: stored.hint,
        is_unsketched: stored.is_unsketched,
        item: None,
    })
}

fn reliances(stored: Rows<'_>, path: &str, headings: &mut Headings<'_>) -> Option<Vec<Reliance>> {
    let reliance = |number| {
        let stored: StoredReliance<'_> = stored.parsed(number)?;
        Some(Reliance {
            heading: headings.number(stored.heading)?,
            id: EntryId(stored.id.to_owned()),
            from_file: stored.from_file.map(str::to_owned),
            from_anchor: stored.from_anchor.map(str::to_owned),
            on_file: stored.on_file.unwrap_or(path).to_owned(),
            on_anchor: stored.on_anchor.map(str::to_owned),
            nature: stored.nature.to_owned(),
            expires: stored.expires.and_then(|end| Timestamp::from_nanosecond(end).ok()),
            had_name: stored.had_name,
        })
    };
    (0..stored.len()).map(reliance).collect()
}

fn concerns(stored: Vec<StoredConcern>, headings: &mut Headings<'_>) -> Option<Vec<Concern>> {
    let concern = |stored: StoredConcern| {
        let heading = headings.number(stored.heading)?;
        concern(stored, heading)
    };
    stored.into_iter().map(concern).collect()
}

/// The concern whose heading is now the number `heading`.
fn concern(stored: StoredConcern, heading: usize) -> Option<Concern> {
    let members = stored.members.into_iter();
    let members: Vec<_> = members.map(|(file, anchor)| CrossCuttingMember { file, anchor }).collect();
    let here: Vec<usize> = stored.here.into_iter().map(|number| number as usize).collect();
    let is_whole = here.iter().all(|number| *number < members.len());
    let item = CrossCuttingItem {
        description: stored.description,
        regions: members.iter().map(ToString::to_string).collect(),
        tags: stored.tags,
        commit: stored.commit,
        author: None,
        tier: Tier::Unknown,
        origin: None,
        at: Timestamp::from_nanosecond(stored.at).ok()?,
        extra: serde_json::from_str::<Map<String, Value>>(&stored.extra).ok()?,
    };
    is_whole.then_some(Concern { heading, item, members, here, had_name: stored.had_name })
}
