//! What an annotation says of the code: wisdom entries and per-code-unit regions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Category, EntryId, LineRange, Origin, Sketch, format::fields::Fields};

/// One lesson: prose, tied to a file and lines of the note's commit where that makes sense.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    /// Names the claim; given on reading where the note has none.
    pub id: EntryId,
    /// What kind of lesson it is.
    pub category: Category,
    /// The lesson.
    pub content: String,
    /// The file it is about, from the repository root; without one it is about the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The lines of `file` at the note's commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// Ranges of `file` that the commit changed, when no single range says where the lesson belongs.
    /// Empty when the commit only deleted: the lesson is gone from birth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<Places>>,
    /// The named item of code it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// Code elsewhere whose behaviour this code relies on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<DependsOn>,
    /// Annotations of other commits that belong to this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// Free labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether this is testimony or inference; decides before the document's context level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Claims that this one replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<EntryId>,
    /// RFC 3339 time after which the claim no longer counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// Where the claim was first written, when that was another commit, file or range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Hashes of the lines, to find them again without the commit's blobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Sketch>,
    /// The lines together with some around them, where they are too few to be known in another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around: Option<Sketch>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// A range that a lesson may belong to, with its sketch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Places {
    /// First line at the note's commit.
    pub start: u32,
    /// Last line at the note's commit.
    pub end: u32,
    /// Hashes of the lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Sketch>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// A lasting name for code: an item of a file's outline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anchor {
    /// `function`, `method`, `struct` and so on.
    #[serde(rename = "type", alias = "unit_type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Name in the language's habit, such as `Pool::acquire`.
    pub name: String,
    /// Signature at the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// An assumption about code elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DependsOn {
    /// The file relied upon.
    pub file: String,
    /// The item relied upon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// What is assumed of it.
    #[serde(default)]
    pub nature: String,
    /// The item's lines when this was written, by which it is found in another file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Sketch>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// A pointer to the annotation of another commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Related {
    /// The other commit, perhaps abbreviated.
    pub commit: String,
    /// The item there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// How the two belong together.
    #[serde(default)]
    pub relationship: String,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// Where a claim was first written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// The commit it was written for.
    pub commit: String,
    /// The file as it was called there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The lines there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// The annotation of one code unit: the form of `chronicle/v1`, which the writing agent still uses.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Region {
    /// Names the claim; given on reading where the note has none.
    pub id: EntryId,
    /// The file, from the repository root.
    pub file: String,
    /// The code unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ast_anchor: Option<Anchor>,
    /// Its lines at the note's commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// What the change was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Why it was done in this way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What must stay true.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// Code elsewhere whose behaviour this unit relies on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub semantic_dependencies: Vec<DependsOn>,
    /// Annotations of other commits that belong to this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_annotations: Vec<Related>,
    /// Free labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What could go wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_notes: Option<String>,
    /// Corrections as `chronicle/v1` kept them inside the region.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>")]
    pub corrections: Vec<Map<String, Value>>,
    /// Hashes of the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Sketch>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// Something that must stay true, and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Constraint {
    /// The constraint.
    pub text: String,
    /// Testimony or inference.
    #[serde(rename = "source", skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// Places that must change together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CrossCutting {
    /// What ties them together.
    pub description: String,
    /// The places.
    pub regions: Vec<CrossCuttingMember>,
    /// Free labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// One place of a cross-cutting concern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CrossCuttingMember {
    /// The file.
    pub file: String,
    /// The item in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
}

impl Entry {
    /// The keys that an entry is written with.
    pub(crate) const KEYS: [&str; 16] = [
        "id",
        "category",
        "content",
        "file",
        "lines",
        "places",
        "anchor",
        "depends_on",
        "related",
        "tags",
        "origin",
        "supersedes",
        "expires",
        "recorded",
        "sketch",
        "around",
    ];

    /// An entry with nothing but a claim.
    #[must_use]
    pub fn new(id: EntryId, category: Category, content: impl Into<String>) -> Self {
        Self {
            id,
            category,
            content: content.into(),
            file: None,
            lines: None,
            places: None,
            anchor: None,
            depends_on: Vec::new(),
            related: Vec::new(),
            tags: Vec::new(),
            origin: None,
            supersedes: Vec::new(),
            expires: None,
            recorded: None,
            sketch: None,
            around: None,
            extra: Map::new(),
        }
    }

    /// Reads one element of `wisdom`; an element without content comes back as it was.
    ///
    /// A category outside the vocabulary becomes an insight and stays readable as
    /// `category_as_written`: the lesson must not be lost for a word.
    pub(crate) fn read(schema: &str, value: Value) -> Result<Self, Value> {
        let Value::Object(map) = value else { return Err(value) };
        if !map.get("content").is_some_and(Value::is_string) {
            return Err(Value::Object(map));
        }
        let written_category = map.get("category").cloned();
        let mut fields = Fields::new(map);
        let content: String = fields.take("content").expect("checked to be a string above");
        let category = written_category
            .as_ref()
            .and_then(Value::as_str)
            .and_then(|word| word.parse().ok())
            .inspect(|_: &Category| drop(fields.take::<String>("category")))
            .or_else(|| fields.take("category"))
            .unwrap_or(Category::Insight);
        let file: Option<String> = fields.take("file");
        let lines = fields.take_lines("lines");
        let recorded: Option<Recorded> = fields.take("recorded");
        let id = fields.take("id").unwrap_or_else(|| {
            let (file, lines) = recorded
                .as_ref()
                .map_or((file.as_deref(), lines), |recorded| (recorded.file.as_deref(), recorded.lines));
            EntryId::derived(schema, category.name(), &content, file, lines)
        });
        Ok(Self {
            id,
            category,
            file,
            lines,
            places: fields.take("places"),
            anchor: fields.take("anchor"),
            depends_on: fields.take_list("depends_on"),
            related: fields.take_list("related"),
            tags: fields.take_list("tags"),
            origin: fields.take("origin"),
            supersedes: fields.take_list("supersedes"),
            expires: fields.take("expires"),
            recorded,
            sketch: fields.take("sketch"),
            around: fields.take("around"),
            content,
            extra: fields.rest(),
        })
    }
}

impl Region {
    /// Reads one element of `regions`; an element without a file comes back as it was.
    pub(crate) fn read(schema: &str, value: Value) -> Result<Self, Value> {
        let Value::Object(map) = value else { return Err(value) };
        if !map.get("file").is_some_and(Value::is_string) {
            return Err(Value::Object(map));
        }
        let claim = canonical_claim(&map);
        let mut fields = Fields::new(map);
        let file: String = fields.take("file").expect("checked to be a string above");
        let lines = fields.take_lines("lines");
        Ok(Self {
            id: fields
                .take("id")
                .unwrap_or_else(|| EntryId::derived(schema, "region", &claim, Some(&file), lines)),
            file,
            ast_anchor: fields.take("ast_anchor"),
            lines,
            intent: fields.take("intent"),
            reasoning: fields.take("reasoning"),
            constraints: fields.take_each("constraints", Constraint::read),
            semantic_dependencies: fields.take_list("semantic_dependencies"),
            related_annotations: fields.take_list("related_annotations"),
            tags: fields.take_list("tags"),
            risk_notes: fields.take("risk_notes"),
            corrections: fields.take_list("corrections"),
            sketch: fields.take("sketch"),
            extra: fields.rest(),
        })
    }
}

/// What a region claims, without what a copy may change.
fn canonical_claim(region: &Map<String, Value>) -> String {
    ["ast_anchor", "intent", "reasoning", "constraints", "risk_notes"]
        .iter()
        .map(|key| region.get(*key).map_or_else(String::new, Value::to_string))
        .collect::<Vec<_>>()
        .join("\n")
}

impl Constraint {
    /// Constraints are written as objects or as plain strings.
    fn read(value: Value) -> Result<Self, Value> {
        match value {
            Value::String(text) => Ok(Self { text, origin: None }),
            Value::Object(map) if map.keys().all(|key| key == "text" || key == "source") => {
                let read = || -> Option<Self> {
                    let text = map.get("text")?.as_str()?.to_owned();
                    let origin =
                        map.get("source").filter(|source| !source.is_null()).map(Origin::deserialize);
                    Some(Self { text, origin: origin.transpose().ok()? })
                };
                read().ok_or(Value::Object(map))
            }
            other => Err(other),
        }
    }
}

impl CrossCutting {
    /// Reads one element of `cross_cutting`; an element without a description comes back as it was.
    pub(crate) fn read(value: Value) -> Result<Self, Value> {
        let Value::Object(map) = value else { return Err(value) };
        if !map.get("description").is_some_and(Value::is_string) {
            return Err(Value::Object(map));
        }
        let mut fields = Fields::new(map);
        Ok(Self {
            description: fields.take("description").expect("checked to be a string above"),
            regions: fields.take_each("regions", CrossCuttingMember::read),
            tags: fields.take_list("tags"),
            extra: fields.rest(),
        })
    }
}

impl CrossCuttingMember {
    /// Members are written as `{"file","anchor"}` or as `file:anchor`.
    fn read(value: Value) -> Result<Self, Value> {
        match &value {
            Value::String(text) => {
                let (file, anchor) =
                    text.split_once(':').map_or((text.as_str(), None), |(file, anchor)| (file, Some(anchor)));
                Ok(Self { file: file.to_owned(), anchor: anchor.map(str::to_owned) })
            }
            Value::Object(map) if map.keys().all(|key| key == "file" || key == "anchor") => {
                let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
                text("file").map(|file| Self { file, anchor: text("anchor") }).ok_or(value)
            }
            _ => Err(value),
        }
    }
}

impl std::fmt::Display for CrossCuttingMember {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.anchor {
            Some(anchor) => write!(f, "{}:{anchor}", self.file),
            None => f.write_str(&self.file),
        }
    }
}
