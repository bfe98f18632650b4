//! The form in which records lie in a table.
//!
//! The parts that questions are matched by come first and are small; what a claim says lies apart
//! and is only read when it is shown.

use std::io::{Seek, Write};

use chronicle_core::{
    ContextLevel, Entry, EntryId, LineRange, Region, Source, read_entry, read_region,
    reading::{CrossCuttingItem, Match, State},
    score::Tie,
};
use chronicle_git::ObjectId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    index::table::{Part, Table, TableWriter},
    placing::Placement,
    record::{Body, Claim, FileRecord, Heading, Reliance, Step},
};

/// A record, as it is stored.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredRecord {
    /// XXH3-64 of the bytes that the claims were placed in; `None` when the file was not there.
    pub(super) content: Option<u64>,
    /// Whether the lines of the file mean nothing: binary, or replaced by a filter's pointer.
    pub(super) is_opaque: bool,
    /// Names that the file had before, when it had others than its path.
    pub(super) names: Vec<String>,
    places: Vec<u32>,
    steps: Vec<(Id, Option<Id>)>,
    pub(super) annotated: Vec<Id>,
    headings: Vec<StoredHeading>,
    pub(super) claims: Vec<StoredClaim>,
    reliances: Vec<StoredReliance>,
    concerns: Vec<StoredConcern>,
    warnings: Vec<String>,
}

/// An object's id; bytes, because serde knows no ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Id(Vec<u8>);

impl From<ObjectId> for Id {
    fn from(id: ObjectId) -> Self {
        Self(id.as_slice().to_vec())
    }
}

impl Id {
    pub(super) fn get(&self) -> Option<ObjectId> {
        ObjectId::try_from(&self.0[..]).ok()
    }
}

type Range = (u32, u32);

fn pair(range: LineRange) -> Range {
    (range.start, range.end)
}

fn range((start, end): Range) -> Option<LineRange> {
    LineRange::new(start, end).ok()
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredHeading {
    commit: Id,
    elsewhere: Option<String>,
    foreign_commit: Option<String>,
    timestamp: String,
    /// Nanoseconds since the epoch.
    at: i128,
    author: Option<String>,
    source: Source,
    is_enhanced: bool,
    task: Option<String>,
}

/// A claim without its body.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredClaim {
    heading: u32,
    id: String,
    /// `None` where it is the file's present path.
    name: Option<String>,
    /// The name of the code it is about.
    anchor: Option<String>,
    placement: StoredPlacement,
    commits_since: Option<u32>,
    n_newer: Option<u32>,
    gone_since: Option<Option<Id>>,
    kind: Kind,
    body: Part,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
enum Kind {
    Region,
    Summary,
    Wisdom,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredPlacement {
    lines: Option<Range>,
    near: Vec<Range>,
    state: State,
    tie: Tie,
    matched: Match,
    gap: Option<Range>,
    recorded_in: Option<(Id, Range)>,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredReliance {
    heading: u32,
    from_file: Option<String>,
    from_anchor: Option<String>,
    on_anchor: Option<String>,
    nature: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredConcern {
    description: String,
    regions: Vec<String>,
    tags: Vec<String>,
    commit: String,
    at: i128,
    /// As JSON.
    extra: String,
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
) -> std::io::Result<()> {
    let mut claims = Vec::with_capacity(record.claims.len());
    for claim in &record.claims {
        let (kind, text) = match &claim.body {
            // The id stands beside the body already.
            Body::Region(region) => (
                Kind::Region,
                serde_json::to_vec(&Region { id: EntryId(String::new()), ..(**region).clone() })?,
            ),
            Body::Summary(summary) => (Kind::Summary, summary.clone().into_bytes()),
            Body::Wisdom(entry) => (
                Kind::Wisdom,
                serde_json::to_vec(&Entry { id: EntryId(String::new()), ..(**entry).clone() })?,
            ),
        };
        let Placement { lines, near, state, tie, matched, gap, recorded_in } = &claim.placement;
        claims.push(StoredClaim {
            heading: count(claim.heading),
            id: claim.id.0.clone(),
            name: (claim.name != path).then(|| claim.name.clone()),
            anchor: claim.body.anchor().map(|anchor| anchor.name.clone()),
            placement: StoredPlacement {
                lines: lines.map(pair),
                near: near.iter().copied().map(pair).collect(),
                state: *state,
                tie: *tie,
                matched: *matched,
                gap: gap.map(pair),
                recorded_in: recorded_in.map(|(blob, range)| (blob.into(), pair(range))),
            },
            commits_since: claim.commits_since,
            n_newer: claim.n_newer,
            gone_since: claim.gone_since.map(|known| known.map(Id::from)),
            kind,
            body: writer.part(&text)?,
        });
    }
    let stored = StoredRecord {
        content,
        is_opaque,
        names: record.names.clone(),
        places: record.places.clone(),
        steps: record.steps.iter().map(|step| (step.commit.into(), step.blob.map(Id::from))).collect(),
        annotated: record.annotated.iter().copied().map(Id::from).collect(),
        headings: record.headings.iter().map(stored_heading).collect(),
        claims,
        reliances: record
            .reliances
            .iter()
            .map(|reliance| StoredReliance {
                heading: count(reliance.heading),
                from_file: reliance.from_file.clone(),
                from_anchor: reliance.from_anchor.clone(),
                on_anchor: reliance.on_anchor.clone(),
                nature: reliance.nature.clone(),
            })
            .collect(),
        concerns: record
            .concerns
            .iter()
            .map(|concern| StoredConcern {
                description: concern.description.clone(),
                regions: concern.regions.clone(),
                tags: concern.tags.clone(),
                commit: concern.commit.clone(),
                at: concern.at.as_nanosecond(),
                extra: Value::Object(concern.extra.clone()).to_string(),
            })
            .collect(),
        warnings: record.warnings.clone(),
    };
    writer.value(key, &postcard::to_allocvec(&stored).map_err(std::io::Error::other)?)
}

fn stored_heading(heading: &Heading) -> StoredHeading {
    StoredHeading {
        commit: heading.commit.into(),
        elsewhere: heading.elsewhere.clone(),
        foreign_commit: heading.foreign_commit.clone(),
        timestamp: heading.timestamp.clone(),
        at: heading.at.as_nanosecond(),
        author: heading.author.clone(),
        source: heading.source,
        is_enhanced: heading.level == ContextLevel::Enhanced,
        task: heading.task.clone(),
    }
}

/// Reads a stored record.
pub(super) fn parse(bytes: &[u8]) -> Option<StoredRecord> {
    postcard::from_bytes(bytes).ok()
}

impl StoredRecord {
    /// Whether `commit` is the oldest that changed the file.
    pub(super) fn begins_with(&self, commit: ObjectId) -> bool {
        self.steps.last().is_some_and(|(first, _)| first.get() == Some(commit))
    }

    /// The record of the file at `path`, with those of its claims that `concern` lets through after it has
    /// said where they are.
    pub(super) fn load(
        self,
        table: &Table,
        path: &str,
        mut concern: impl FnMut(&mut Placement, Option<&str>) -> bool,
    ) -> Option<FileRecord> {
        let headings: Vec<Heading> = self.headings.into_iter().map(heading).collect::<Option<_>>()?;
        let mut claims = Vec::new();
        for claim in self.claims {
            let mut placement = placement(claim.placement)?;
            if !concern(&mut placement, claim.anchor.as_deref()) {
                continue;
            }
            let heading = claim.heading as usize;
            if headings.len() <= heading {
                return None;
            }
            claims.push(Claim {
                heading,
                body: body(claim.kind, &claim.id, &table.part(claim.body)?)?,
                id: EntryId(claim.id),
                name: claim.name.unwrap_or_else(|| path.to_owned()),
                placement,
                commits_since: claim.commits_since,
                n_newer: claim.n_newer,
                gone_since: match claim.gone_since {
                    None => None,
                    Some(None) => Some(None),
                    Some(Some(id)) => Some(Some(id.get()?)),
                },
            });
        }
        let reliance = |reliance: StoredReliance| {
            let heading = reliance.heading as usize;
            (heading < headings.len()).then_some(Reliance {
                heading,
                from_file: reliance.from_file,
                from_anchor: reliance.from_anchor,
                on_anchor: reliance.on_anchor,
                nature: reliance.nature,
            })
        };
        let step = |(commit, blob): &(Id, Option<Id>)| {
            let blob = blob.as_ref().map(Id::get);
            Some(Step { commit: commit.get()?, blob: if let Some(blob) = blob { Some(blob?) } else { None } })
        };
        Some(FileRecord {
            names: self.names,
            places: self.places,
            steps: self.steps.iter().map(step).collect::<Option<_>>()?,
            annotated: self.annotated.iter().map(Id::get).collect::<Option<_>>()?,
            claims,
            reliances: self.reliances.into_iter().map(reliance).collect::<Option<_>>()?,
            concerns: self.concerns.into_iter().map(concern_item).collect::<Option<_>>()?,
            warnings: self.warnings,
            headings,
        })
    }
}

fn heading(stored: StoredHeading) -> Option<Heading> {
    Some(Heading {
        commit: stored.commit.get()?,
        elsewhere: stored.elsewhere,
        foreign_commit: stored.foreign_commit,
        timestamp: stored.timestamp,
        at: Timestamp::from_nanosecond(stored.at).ok()?,
        author: stored.author,
        source: stored.source,
        level: if stored.is_enhanced { ContextLevel::Enhanced } else { ContextLevel::Inferred },
        task: stored.task,
    })
}

fn placement(stored: StoredPlacement) -> Option<Placement> {
    let recorded_in = match stored.recorded_in {
        Some((blob, lines)) => Some((blob.get()?, range(lines)?)),
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
    })
}

fn body(kind: Kind, id: &str, bytes: &[u8]) -> Option<Body> {
    let id = EntryId(id.to_owned());
    Some(match kind {
        Kind::Summary => Body::Summary(std::str::from_utf8(bytes).ok()?.to_owned()),
        Kind::Region => {
            Body::Region(Box::new(Region { id, ..read_region(serde_json::from_slice(bytes).ok()?)? }))
        }
        Kind::Wisdom => {
            Body::Wisdom(Box::new(Entry { id, ..read_entry(serde_json::from_slice(bytes).ok()?)? }))
        }
    })
}

fn concern_item(stored: StoredConcern) -> Option<CrossCuttingItem> {
    Some(CrossCuttingItem {
        description: stored.description,
        regions: stored.regions,
        tags: stored.tags,
        commit: stored.commit,
        at: Timestamp::from_nanosecond(stored.at).ok()?,
        extra: serde_json::from_str::<Map<String, Value>>(&stored.extra).ok()?,
    })
}
