//! The form in which what a claim says lies in a table.
//!
//! Nearly all claims hold a few common fields, which lie one after the other without names. The few that
//! hold more lie as JSON, as in their notes.

use chronicle_core::{
    Anchor, Category, Constraint, DependsOn, Entry, EntryId, Origin, Places, Region, Sketch, read_entry,
    read_region,
};
use serde::{Deserialize, Serialize};

use crate::{
    index::stored::{Range, pair, range},
    record::Body,
};

/// How the bytes of a body are read.
#[derive(Serialize, Deserialize, Clone, Copy)]
pub(super) enum Kind {
    Summary,
    Region,
    RegionAsJson,
    Wisdom,
    WisdomAsJson,
}

/// The part of a claim that stands beside its body.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub(super) id: &'a str,
    /// The file as the claim calls it.
    pub(super) name: &'a str,
    /// The name of the code it is about.
    pub(super) anchor: Option<&'a str>,
}

/// Kind and signature; the name stands beside the body.
type StoredAnchor<'a> = (Option<&'a str>, Option<&'a str>);

/// File, item and nature.
type StoredDependency<'a> = (&'a str, Option<&'a str>, &'a str);

#[derive(Serialize, Deserialize)]
struct StoredEntry<'a> {
    category: Category,
    content: &'a str,
    /// The inner one is `None` where the file is called as it stands beside the body.
    #[serde(borrow)]
    file: Option<Option<&'a str>>,
    lines: Option<Range>,
    places: Option<Vec<(Range, Option<&'a str>)>>,
    anchor: Option<StoredAnchor<'a>>,
    depends_on: Vec<StoredDependency<'a>>,
    tags: Vec<&'a str>,
    origin: Option<Origin>,
    sketch: Option<&'a str>,
    around: Option<&'a str>,
}

#[derive(Serialize, Deserialize)]
struct StoredRegion<'a> {
    /// `None` where the file is called as it stands beside the body.
    #[serde(borrow)]
    file: Option<&'a str>,
    anchor: Option<StoredAnchor<'a>>,
    lines: Option<Range>,
    intent: Option<&'a str>,
    reasoning: Option<&'a str>,
    constraints: Vec<(&'a str, Option<Origin>)>,
    depends_on: Vec<StoredDependency<'a>>,
    tags: Vec<&'a str>,
    risk_notes: Option<&'a str>,
    sketch: Option<&'a str>,
}

/// The stored form of `body`, whose claim calls its file `name`.
pub(super) fn store(body: &Body, name: &str) -> std::io::Result<(Kind, Vec<u8>)> {
    let packed = |bytes: postcard::Result<Vec<u8>>| bytes.map_err(std::io::Error::other);
    Ok(match body {
        Body::Summary(summary) => (Kind::Summary, summary.clone().into_bytes()),
        Body::Region(region) if is_common_region(region) => {
            (Kind::Region, packed(postcard::to_allocvec(&stored_region(region, name)))?)
        }
        Body::Wisdom(entry) if is_common_entry(entry) => {
            (Kind::Wisdom, packed(postcard::to_allocvec(&stored_entry(entry, name)))?)
        }
        // The id stands beside the body already.
        Body::Region(region) => {
            let region = Region { id: EntryId(String::new()), ..(**region).clone() };
            (Kind::RegionAsJson, serde_json::to_vec(&region)?)
        }
        Body::Wisdom(entry) => {
            let entry = Entry { id: EntryId(String::new()), ..(**entry).clone() };
            (Kind::WisdomAsJson, serde_json::to_vec(&entry)?)
        }
    })
}

/// Reads what [`store`] wrote; `None` when it is damaged.
pub(super) fn load(kind: Kind, beside: Beside<'_>, bytes: &[u8]) -> Option<Body> {
    let id = EntryId(beside.id.to_owned());
    Some(match kind {
        Kind::Summary => Body::Summary(std::str::from_utf8(bytes).ok()?.to_owned()),
        Kind::Region => Body::Region(Box::new(region(postcard::from_bytes(bytes).ok()?, id, beside)?)),
        Kind::Wisdom => Body::Wisdom(Box::new(entry(postcard::from_bytes(bytes).ok()?, id, beside)?)),
        Kind::RegionAsJson => {
            Body::Region(Box::new(Region { id, ..read_region(serde_json::from_slice(bytes).ok()?)? }))
        }
        Kind::WisdomAsJson => {
            Body::Wisdom(Box::new(Entry { id, ..read_entry(serde_json::from_slice(bytes).ok()?)? }))
        }
    })
}

fn is_common_anchor(anchor: Option<&Anchor>) -> bool {
    anchor.is_none_or(|anchor| anchor.extra.is_empty())
}

fn are_common(dependencies: &[DependsOn]) -> bool {
    dependencies.iter().all(|dependency| dependency.extra.is_empty())
}

fn is_common_entry(entry: &Entry) -> bool {
    entry.extra.is_empty()
        && entry.related.is_empty()
        && entry.supersedes.is_empty()
        && entry.expires.is_none()
        && entry.recorded.is_none()
        && is_common_anchor(entry.anchor.as_ref())
        && are_common(&entry.depends_on)
        && entry.places.iter().flatten().all(|place| place.extra.is_empty())
}

fn is_common_region(region: &Region) -> bool {
    region.extra.is_empty()
        && region.related_annotations.is_empty()
        && region.corrections.is_empty()
        && is_common_anchor(region.ast_anchor.as_ref())
        && are_common(&region.semantic_dependencies)
}

fn stored_anchor(anchor: &Anchor) -> StoredAnchor<'_> {
    (anchor.kind.as_deref(), anchor.signature.as_deref())
}

fn stored_dependencies(all: &[DependsOn]) -> Vec<StoredDependency<'_>> {
    all.iter().map(|on| (on.file.as_str(), on.anchor.as_deref(), on.nature.as_str())).collect()
}

fn stored_entry<'a>(entry: &'a Entry, name: &str) -> StoredEntry<'a> {
    let place = |place: &'a Places| ((place.start, place.end), sketch_text(place.sketch.as_ref()));
    StoredEntry {
        category: entry.category,
        content: &entry.content,
        file: entry.file.as_ref().map(|file| Some(file.as_str()).filter(|file| *file != name)),
        lines: entry.lines.map(pair),
        places: entry.places.as_ref().map(|places| places.iter().map(place).collect()),
        anchor: entry.anchor.as_ref().map(stored_anchor),
        depends_on: stored_dependencies(&entry.depends_on),
        tags: entry.tags.iter().map(String::as_str).collect(),
        origin: entry.origin,
        sketch: sketch_text(entry.sketch.as_ref()),
        around: sketch_text(entry.around.as_ref()),
    }
}

fn stored_region<'a>(region: &'a Region, name: &str) -> StoredRegion<'a> {
    StoredRegion {
        file: Some(region.file.as_str()).filter(|file| *file != name),
        anchor: region.ast_anchor.as_ref().map(stored_anchor),
        lines: region.lines.map(pair),
        intent: region.intent.as_deref(),
        reasoning: region.reasoning.as_deref(),
        constraints: region.constraints.iter().map(|said| (said.text.as_str(), said.origin)).collect(),
        depends_on: stored_dependencies(&region.semantic_dependencies),
        tags: region.tags.iter().map(String::as_str).collect(),
        risk_notes: region.risk_notes.as_deref(),
        sketch: sketch_text(region.sketch.as_ref()),
    }
}

fn sketch_text(sketch: Option<&Sketch>) -> Option<&str> {
    sketch.map(|sketch| sketch.0.as_str())
}

fn sketch(text: &str) -> Sketch {
    Sketch(text.to_owned())
}

/// The anchor whose name stands beside the body; `None` when that is missing.
fn anchor(stored: Option<StoredAnchor<'_>>, beside: Beside<'_>) -> Option<Option<Anchor>> {
    let Some((kind, signature)) = stored else { return Some(None) };
    Some(Some(Anchor {
        kind: kind.map(str::to_owned),
        name: beside.anchor?.to_owned(),
        signature: signature.map(str::to_owned),
        extra: serde_json::Map::new(),
    }))
}

fn dependencies(stored: &[StoredDependency<'_>]) -> Vec<DependsOn> {
    let dependency = |(file, anchor, nature): &StoredDependency<'_>| DependsOn {
        file: (*file).to_owned(),
        anchor: anchor.map(str::to_owned),
        nature: (*nature).to_owned(),
        sketch: None,
        extra: serde_json::Map::new(),
    };
    stored.iter().map(dependency).collect()
}

fn strings(stored: &[&str]) -> Vec<String> {
    stored.iter().map(|text| (*text).to_owned()).collect()
}

fn entry(stored: StoredEntry<'_>, id: EntryId, beside: Beside<'_>) -> Option<Entry> {
    let place = |((start, end), text): (Range, Option<&str>)| Places {
        start,
        end,
        sketch: text.map(sketch),
        extra: serde_json::Map::new(),
    };
    Some(Entry {
        file: stored.file.map(|file| file.unwrap_or(beside.name).to_owned()),
        lines: stored.lines.and_then(range),
        places: stored.places.map(|places| places.into_iter().map(place).collect()),
        anchor: anchor(stored.anchor, beside)?,
        depends_on: dependencies(&stored.depends_on),
        tags: strings(&stored.tags),
        origin: stored.origin,
        sketch: stored.sketch.map(sketch),
        around: stored.around.map(sketch),
        ..Entry::new(id, stored.category, stored.content)
    })
}

fn region(stored: StoredRegion<'_>, id: EntryId, beside: Beside<'_>) -> Option<Region> {
    let constraint = |(text, origin): (&str, Option<Origin>)| Constraint { text: text.to_owned(), origin };
    Some(Region {
        id,
        file: stored.file.unwrap_or(beside.name).to_owned(),
        ast_anchor: anchor(stored.anchor, beside)?,
        lines: stored.lines.and_then(range),
        intent: stored.intent.map(str::to_owned),
        reasoning: stored.reasoning.map(str::to_owned),
        constraints: stored.constraints.into_iter().map(constraint).collect(),
        semantic_dependencies: dependencies(&stored.depends_on),
        related_annotations: Vec::new(),
        tags: strings(&stored.tags),
        risk_notes: stored.risk_notes.map(str::to_owned),
        corrections: Vec::new(),
        sketch: stored.sketch.map(sketch),
        extra: serde_json::Map::new(),
    })
}
