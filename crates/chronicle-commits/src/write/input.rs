//! What an author hands in to be stored: the JSON of `annotate`; what options say is made the same (`said`).
//!
//! Strict where reading is lenient: a wrong word or type is refused with its place,
//! an unknown key is named. Keys of older input forms are mapped, not dropped.

use chronicle_core::{
    Anchor, AntiPattern, Boundary, Category, ContextLevel, Convention, CrossCutting, DependsOn, Entry,
    EntryId, LineRange, Origin, Region, Related, duplicate_key, plain, read_cross_cutting, read_note,
    read_regions, reading::KnowledgeItem, redaction,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use snafu::{ResultExt, Snafu};

/// The input of `git chronicle annotate --file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(title = "chronicle annotate input")]
pub struct AnnotateInput {
    /// The commit to annotate, any revision; `--commit` wins over it, HEAD is the default.
    #[serde(default)]
    pub commit: Option<String>,
    /// Why this approach, not what changed.
    #[serde(default)]
    pub summary: Option<String>,
    /// The lessons.
    #[serde(default)]
    pub wisdom: Vec<EntryInput>,
    /// The task that the change was made for.
    #[serde(default)]
    pub task: Option<String>,
    /// Whether whoever made the change gives the reasons; `enhanced` unless said otherwise.
    #[serde(default)]
    pub context_level: Option<ContextLevel>,
    /// Per-code-unit annotations.
    #[serde(default)]
    #[schemars(with = "Vec<Region>")]
    pub regions: Vec<Value>,
    /// Places that must change together.
    #[serde(default)]
    #[schemars(with = "Vec<CrossCutting>")]
    pub cross_cutting: Vec<Value>,
    /// What the repository should know as a whole.
    #[serde(default)]
    pub knowledge: Vec<KnowledgeInput>,
    #[serde(flatten)]
    #[schemars(skip)]
    other: Map<String, Value>,
}

/// One lesson.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct EntryInput {
    /// `dead_end`, `gotcha`, `insight` or `unfinished_thread`.
    #[serde(deserialize_with = "category")]
    pub category: Category,
    /// The lesson.
    pub content: String,
    /// The file it is about, from the repository root; leave it out for the commit as a whole.
    #[serde(default)]
    pub file: Option<String>,
    /// The lines of `file` at the commit; found in the commit's changes when left out.
    #[serde(default)]
    pub lines: Option<LineRange>,
    /// The item of code it is about, such as `Pool::acquire`.
    #[serde(default, deserialize_with = "anchor")]
    #[schemars(with = "Option<Anchor>")]
    pub anchor: Option<Anchor>,
    /// Code elsewhere whose behaviour this code relies on.
    #[serde(default)]
    pub depends_on: Vec<DependsOn>,
    /// Annotations of other commits that belong to this one.
    #[serde(default)]
    pub related: Vec<Related>,
    /// Free labels.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Testimony (`author`) or inference (`inferred`).
    #[serde(default)]
    pub origin: Option<Origin>,
    /// Claims that this one replaces.
    #[serde(default)]
    pub supersedes: Vec<EntryId>,
    /// RFC 3339 time after which the claim no longer counts.
    #[serde(default)]
    pub expires: Option<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    other: Map<String, Value>,
}

/// Something the repository should know as a whole: a rule, a boundary, or a pattern to avoid.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KnowledgeInput {
    /// Has a `rule`.
    Convention(Convention),
    /// Has a `module`.
    Boundary(Boundary),
    /// Has a `pattern`.
    AntiPattern(AntiPattern),
}

impl From<KnowledgeInput> for KnowledgeItem {
    fn from(input: KnowledgeInput) -> Self {
        match input {
            KnowledgeInput::Convention(item) => Self::Convention(item),
            KnowledgeInput::Boundary(item) => Self::Boundary(item),
            KnowledgeInput::AntiPattern(item) => Self::AntiPattern(item),
        }
    }
}

impl KnowledgeInput {
    fn id(&self) -> &str {
        match self {
            Self::Convention(item) => &item.id,
            Self::Boundary(item) => &item.id,
            Self::AntiPattern(item) => &item.id,
        }
    }
}

/// Input that cannot be stored.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum InputError {
    /// More than anyone would read.
    #[snafu(display("the input is too large; an annotation may have at most {MAX_BYTES} bytes"))]
    TooLarge,
    /// Nothing.
    #[snafu(display("the input is empty; pass an annotation as JSON"))]
    Empty,
    /// Not UTF-8.
    #[snafu(display("the input is not UTF-8"))]
    NotText {
        /// Where.
        source: std::str::Utf8Error,
    },
    /// Not JSON; the source says where.
    #[snafu(display("the input is not valid JSON: {source}"))]
    Syntax {
        /// Where and why.
        source: serde_json::Error,
    },
    /// JSON, but not of the form that is asked for.
    #[snafu(display("{place}: {reason}"))]
    Shape {
        /// The path of keys to it.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A lesson without words.
    #[snafu(display("{place}: this lesson says nothing"))]
    NoWords {
        /// Where it is.
        place: String,
    },
}

/// The largest input that is taken.
pub const MAX_BYTES: usize = 4 << 20;

/// What stands where a summary belongs in a form that is to be filled in.
pub const SUMMARY_PLACEHOLDER: &str = "WHY THIS WAY";

/// What stands there where the words of a lesson belong.
pub const LESSON_PLACEHOLDER: &str = "WHAT";

/// Input that was read, and what its author should be told.
#[derive(Debug, Clone, Default)]
pub struct ReadInput {
    /// The input.
    pub input: AnnotateInput,
    /// Unknown keys, removed characters and the like.
    pub warnings: Vec<String>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<redaction::Kind>,
}

/// Reads the JSON that an author hands in; secrets are gone from what comes back.
///
/// # Errors
/// When it is too large, no JSON, or not of the right form.
pub fn read_input(bytes: &[u8]) -> Result<ReadInput, InputError> {
    snafu::ensure!(bytes.len() <= MAX_BYTES, TooLargeSnafu);
    let text = std::str::from_utf8(bytes).context(NotTextSnafu)?.trim_start_matches('\u{feff}');
    snafu::ensure!(!text.trim().is_empty(), EmptySnafu);
    let value: Value = serde_json::from_str(text).context(SyntaxSnafu)?;
    snafu::ensure!(value.is_object(), ShapeSnafu { place: "input", reason: "expected a JSON object" });
    if let Some(place) = duplicate_key(text.as_bytes()) {
        return ShapeSnafu { place, reason: "occurs twice in one object" }.fail();
    }
    read_value(value)
}

/// What [`read_input`] does once it is an object of JSON, wherever that comes from.
pub(crate) fn read_value(mut value: Value) -> Result<ReadInput, InputError> {
    let unknown_in_lines = unknown_in_lines(&value);
    let mut washed = Washed::default();
    washed.wash_input(&mut value);
    let input: AnnotateInput = serde_path_to_error::deserialize(value).map_err(|error| {
        InputError::Shape { place: error.path().to_string(), reason: error.inner().to_string() }
    })?;
    let mut read = ReadInput { input, warnings: washed.warnings(), redacted: washed.redacted };
    read.map_older_forms()?;
    read.refuse_empty_lessons()?;
    read.refuse_placeholders()?;
    read.name_unknown_keys();
    read.warnings.extend(unknown_in_lines);
    Ok(read)
}

/// A range of lines has two keys and keeps no others.
fn unknown_in_lines(input: &Value) -> Vec<String> {
    let entries = input.get("wisdom").and_then(Value::as_array).into_iter().flatten();
    let lines =
        entries.enumerate().filter_map(|(number, entry)| Some((number, entry.get("lines")?.as_object()?)));
    let unknown = lines.flat_map(|(number, lines)| {
        let others = lines.keys().filter(|key| !["start", "end"].contains(&key.as_str()));
        others.map(move |key| format!("unknown key `wisdom[{number}].lines.{}` was not stored", plain(key)))
    });
    unknown.collect()
}

/// One text without private spans, secrets and what no reader sees, and the kinds of what was taken out.
#[must_use]
pub fn wash(text: &str) -> (String, Vec<redaction::Kind>) {
    let (text, kinds) = redaction::cleaned(text);
    (text.into_owned(), kinds)
}

#[derive(Default)]
struct Washed {
    redacted: Vec<redaction::Kind>,
    n_stripped: usize,
}

impl Washed {
    fn wash(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let (clean, found) = wash(text);
                if found.is_empty() && clean.len() != text.len() {
                    self.n_stripped += 1;
                }
                self.redacted.extend(found);
                *text = clean;
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.wash(element)),
            Value::Object(map) => map.values_mut().for_each(|value| self.wash(value)),
            _ => {}
        }
    }

    /// [`Washed::wash`] for the whole input, but for what has to be found as it was written: the revision, and the
    /// files of lessons. A file that is not there is washed when it was looked for.
    fn wash_input(&mut self, input: &mut Value) {
        let Value::Object(input) = input else { return };
        for (key, value) in input {
            match (key.as_str(), value) {
                ("commit", Value::String(_)) => {}
                ("wisdom", Value::Array(lessons)) => {
                    for lesson in lessons {
                        match lesson {
                            Value::Object(lesson) => lesson
                                .iter_mut()
                                .filter(|(key, value)| *key != "file" || !value.is_string())
                                .for_each(|(_, value)| self.wash(value)),
                            other => self.wash(other),
                        }
                    }
                }
                (_, value) => self.wash(value),
            }
        }
    }

    fn warnings(&self) -> Vec<String> {
        let stripped = (0 < self.n_stripped)
            .then(|| format!("control characters were removed from {} texts", self.n_stripped));
        stripped.into_iter().collect()
    }
}

/// Keys of the `chronicle/v2` input that hold lessons.
const V2_NARRATIVE: [&str; 4] = ["motivation", "rejected_alternatives", "follow_up", "sentiments"];
const V2_LISTS: [&str; 2] = ["decisions", "markers"];

impl ReadInput {
    /// Turns the keys of older input forms into lessons.
    fn map_older_forms(&mut self) -> Result<(), InputError> {
        let other = &mut self.input.other;
        let mut narrative = match other.shift_remove("narrative") {
            Some(Value::Object(narrative)) => narrative,
            Some(_) => return ShapeSnafu { place: "narrative", reason: "expected an object" }.fail(),
            None => Map::new(),
        };
        narrative.extend(V2_NARRATIVE.iter().filter_map(|key| other.shift_remove_entry(*key)));
        let mut document: Map<String, Value> =
            V2_LISTS.iter().filter_map(|key| other.shift_remove_entry(*key)).collect();
        if narrative.is_empty() && document.is_empty() {
            return Ok(());
        }
        if let (None, Some(Value::String(summary))) = (&self.input.summary, narrative.get("summary")) {
            self.input.summary = Some(summary.clone());
        }
        document.insert("schema".to_owned(), "chronicle/v2".into());
        document.insert("narrative".to_owned(), Value::Object(narrative));
        let read = read_note(Value::Object(document).to_string().as_bytes());
        for document in read.note.documents() {
            if let Some(key) =
                unfit(&document.extra).or_else(|| unfit(document.legacy.get("narrative")?.as_object()?))
            {
                return ShapeSnafu { place: key, reason: "not of the form that chronicle/v2 gives it" }
                    .fail();
            }
        }
        let lessons = read.note.entries().into_iter().map(|(_, entry)| EntryInput::from(entry.clone()));
        self.input.wisdom.extend(lessons);
        self.warnings.push("keys of chronicle/v2 were turned into wisdom".to_owned());
        Ok(())
    }

    /// A lesson without words, or without any that may be stored, helps nobody.
    fn refuse_empty_lessons(&self) -> Result<(), InputError> {
        match self.input.wisdom.iter().position(|entry| entry.content.trim().is_empty()) {
            Some(number) => NoWordsSnafu { place: format!("wisdom[{number}].content") }.fail(),
            None => Ok(()),
        }
    }

    /// A form that was sent back as it came says nothing.
    fn refuse_placeholders(&self) -> Result<(), InputError> {
        let summary =
            self.input.summary.as_deref().map(|summary| ("summary".to_owned(), summary, SUMMARY_PLACEHOLDER));
        let lessons = self.input.wisdom.iter().enumerate();
        let lessons = lessons
            .map(|(n, entry)| (format!("wisdom[{n}].content"), entry.content.as_str(), LESSON_PLACEHOLDER));
        for (place, words, placeholder) in summary.into_iter().chain(lessons) {
            filled_in(&place, words, placeholder)?;
        }
        Ok(())
    }

    fn name_unknown_keys(&mut self) {
        let mut named = unknown_keys("", &self.input.other);
        for (number, item) in self.input.knowledge.iter().enumerate() {
            if !item.id().is_empty() {
                named.push(format!("knowledge[{number}].id was not stored: ids are given out, never chosen"));
            }
        }
        for (number, entry) in self.input.wisdom.iter().enumerate() {
            // What an older form brought along has its own keys, and keeps them.
            if !entry.is_mapped() {
                named.extend(unknown_keys(&format!("wisdom[{number}]."), &entry.other));
            }
        }
        self.warnings.append(&mut named);
    }
}

/// Refuses `words` that are the placeholder of a form.
pub(crate) fn filled_in(place: &str, words: &str, placeholder: &str) -> Result<(), InputError> {
    let reason =
        format!("`{placeholder}` is a placeholder; replace it with your own words, or leave the lesson out");
    snafu::ensure!(words.trim() != placeholder, ShapeSnafu { place, reason });
    Ok(())
}

/// A remark on each key that means nothing to us; those of a stored note are no surprise in an input.
fn unknown_keys(place: &str, other: &Map<String, Value>) -> Vec<String> {
    let of_notes = ["schema", "$schema", "timestamp", "provenance"];
    let unknown = other.keys().filter(|key| !of_notes.contains(&key.as_str()));
    unknown.map(|key| format!("unknown key `{place}{}` was not stored", plain(key))).collect()
}

fn unfit(map: &Map<String, Value>) -> Option<String> {
    map.keys().find_map(|key| key.strip_suffix("_as_written")).map(str::to_owned)
}

/// Marks an entry that an older form was turned into.
const MAPPED: &str = "mapped_from";

impl From<Entry> for EntryInput {
    fn from(entry: Entry) -> Self {
        let mut other = entry.extra;
        other.insert(MAPPED.to_owned(), "chronicle/v2".into());
        Self {
            category: entry.category,
            content: entry.content,
            file: entry.file,
            lines: entry.lines,
            anchor: entry.anchor,
            depends_on: entry.depends_on,
            related: entry.related,
            tags: entry.tags,
            origin: entry.origin,
            supersedes: entry.supersedes,
            expires: entry.expires,
            other,
        }
    }
}

impl EntryInput {
    /// A lesson with nothing but a claim.
    #[must_use]
    pub fn new(category: Category, content: &str) -> Self {
        Self::from(Entry::new(EntryId(String::new()), category, content)).without_mark()
    }

    fn without_mark(mut self) -> Self {
        self.other.shift_remove(MAPPED);
        self
    }

    fn is_mapped(&self) -> bool {
        self.other.contains_key(MAPPED)
    }

    /// The keys that an older form had and this one keeps, such as `stability`.
    pub(crate) fn kept(&self) -> Map<String, Value> {
        if !self.is_mapped() {
            return Map::new();
        }
        let mut kept = self.other.clone();
        kept.shift_remove(MAPPED);
        kept
    }
}

impl AnnotateInput {
    /// The regions, in the form in which they are stored.
    ///
    /// # Errors
    /// When one has no file, or a key of the wrong shape.
    pub fn read_regions(&self) -> Result<Vec<Region>, InputError> {
        let renamed = self.regions.iter().cloned().map(|mut region| {
            // The released input form calls the anchor `anchor`.
            if let Some(map) = region.as_object_mut()
                && let Some(anchor) = map.shift_remove("anchor")
            {
                map.entry("ast_anchor").or_insert(anchor);
            }
            region
        });
        read_regions(renamed.collect()).map_err(|(number, key)| wrong_shape("regions", number, &key))
    }

    /// The cross-cutting concerns, in the form in which they are stored.
    ///
    /// # Errors
    /// When one has no description, or a key of the wrong shape.
    pub fn read_cross_cutting(&self) -> Result<Vec<CrossCutting>, InputError> {
        read_cross_cutting(self.cross_cutting.clone())
            .map_err(|(number, key)| wrong_shape("cross_cutting", number, &key))
    }
}

fn wrong_shape(list: &str, number: usize, key: &str) -> InputError {
    InputError::Shape {
        place: format!("{list}[{number}].{key}"),
        reason: "missing or of the wrong type".to_owned(),
    }
}

fn category<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Category, D::Error> {
    let word = String::deserialize(deserializer)?;
    word.parse().map_err(serde::de::Error::custom)
}

/// An anchor is an object, or just its name.
fn anchor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Anchor>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(name) => Ok(Some(Anchor { kind: None, name, signature: None, extra: Map::new() })),
        object => Anchor::deserialize(object).map(Some).map_err(serde::de::Error::custom),
    }
}
