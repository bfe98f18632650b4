//! What a model emits, taken in only where it holds: of the right form, about files and lines that the commit has,
//! quoting what the session said, and saying more than the diff.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use chronicle_commits::{Notebook, Outlines};
use chronicle_core::{
    Category, LineRange,
    outline::{Resolution, resolve},
    plain,
    restating::{Words, alike, restates},
};
use chronicle_git::{BString, ByteSlice, ObjectId};
use chronicle_workplace::Error;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{gather::Gathered, shown_hunks::CONTEXT, tools::UNITS};

/// A lesson that is longer is none.
const LONGEST: usize = 2_000;
const SHORTEST: usize = 15;
/// Entries of each kind that a commit may have.
const MOST_ENTRIES: usize = 60;
/// Changed lines whose words are looked at.
const MOST_CHANGED: u32 = 400;
/// Labels and links of one entry.
const MOST_LINKS: usize = 8;

/// What was taken in, and what was not.
pub(crate) struct Collector<'g, 'r> {
    gathered: &'g Gathered<'r>,
    pub(crate) wisdom: Vec<Value>,
    pub(crate) regions: Vec<Value>,
    pub(crate) cross_cutting: Vec<Value>,
    pub(crate) warnings: Vec<String>,
    /// What went back to the model, with the reason; what comes again as bad is dropped.
    returned: BTreeMap<String, String>,
    pub(crate) n_dropped: usize,
    message: Words,
    notes: OnceCell<Option<Notebook<'r>>>,
    outlines: Outlines,
}

#[derive(Deserialize)]
struct LinesArgument {
    start: u32,
    end: u32,
}

#[derive(Deserialize)]
struct AnchorArgument {
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default)]
    signature: Option<String>,
}

#[derive(Deserialize)]
struct ConstraintArgument {
    text: String,
    source: String,
}

#[derive(Deserialize)]
struct DependencyArgument {
    file: String,
    anchor: String,
    nature: String,
}

#[derive(Deserialize)]
struct RelatedArgument {
    commit: String,
    anchor: String,
    relationship: String,
}

#[derive(Deserialize)]
struct WisdomArgument {
    category: String,
    content: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    lines: Option<LinesArgument>,
    #[serde(default)]
    anchor: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    turn: Option<usize>,
    #[serde(default)]
    quote: Option<String>,
    #[serde(default)]
    semantic_dependencies: Vec<DependencyArgument>,
    #[serde(default)]
    related_annotations: Vec<RelatedArgument>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct AnnotationArgument {
    file: String,
    ast_anchor: AnchorArgument,
    lines: LinesArgument,
    intent: String,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    constraints: Vec<ConstraintArgument>,
    #[serde(default)]
    semantic_dependencies: Vec<DependencyArgument>,
    #[serde(default)]
    related_annotations: Vec<RelatedArgument>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    risk_notes: Option<String>,
}

#[derive(Deserialize)]
struct CrossCuttingArgument {
    description: String,
    regions: Vec<String>,
    nature: String,
}

/// Why something is not taken in, for the model.
type Refused = String;

impl<'g, 'r> Collector<'g, 'r> {
    pub(crate) fn new(gathered: &'g Gathered<'r>) -> Self {
        Self {
            gathered,
            wisdom: Vec::new(),
            regions: Vec::new(),
            cross_cutting: Vec::new(),
            warnings: Vec::new(),
            returned: BTreeMap::new(),
            n_dropped: 0,
            message: Words::of(&gathered.commit.message),
            notes: OnceCell::new(),
            outlines: Outlines::new(None),
        }
    }

    /// How much was taken in.
    pub(crate) fn n_entries(&self) -> usize {
        self.wisdom.len() + self.regions.len() + self.cross_cutting.len()
    }

    /// Whether nothing was taken in.
    pub(crate) fn is_empty(&self) -> bool {
        self.n_entries() == 0
    }

    /// Takes in what a model emits; the answer for the model, and whether it is an error.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub(crate) fn take(&mut self, tool: &str, input: &Value) -> Result<(String, bool), Error> {
        let input = without_nulls(input.clone());
        let key = key_of(tool, &input);
        let taken = match tool {
            "emit_wisdom" => self.take_wisdom(input)?,
            "emit_annotation" => self.take_annotation(input)?,
            _ => self.take_cross_cutting(input)?,
        };
        Ok(match taken {
            Ok(confirmed) => {
                self.returned.remove(&key);
                (confirmed, false)
            }
            Err(reason) if self.returned.remove(&key).is_some() => {
                self.drop_for(tool, &reason);
                (format!("Dropped: {reason}. Go on with what is next."), true)
            }
            Err(reason) => {
                self.returned.insert(key, format!("{tool}: {reason}"));
                (format!("Not taken: {reason}. Correct it and emit it once more, or leave it."), true)
            }
        })
    }

    /// Takes in what cannot go back to its model: what does not hold is dropped.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub(crate) fn take_once(&mut self, tool: &str, input: &Value) -> Result<(), Error> {
        self.take(tool, input)?;
        self.give_up();
        Ok(())
    }

    /// Drops what went back to the model and never came again.
    pub(crate) fn give_up(&mut self) {
        for reason in std::mem::take(&mut self.returned).into_values() {
            self.n_dropped += 1;
            self.warnings.push(format!("dropped what the model emitted, {reason}"));
        }
    }

    /// What a model may judge, in words: lessons first, then annotations. What the author or the session said is not.
    pub(crate) fn judged(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let lesson = |lesson: &Value| {
            let lines = match lesson["lines"]["start"].as_u64().zip(lesson["lines"]["end"].as_u64()) {
                Some((start, end)) => format!(":{start}-{end}"),
                None => String::new(),
            };
            format!(
                "{} {}{lines}: {}",
                text(&lesson["category"]),
                text(&lesson["file"]),
                text(&lesson["content"])
            )
        };
        let region = |region: &Value| {
            let words = [&region["intent"], &region["reasoning"], &region["risk_notes"]].map(text);
            let constraints =
                region["constraints"].as_array().into_iter().flatten().map(|one| text(&one["text"]));
            let words: Vec<String> =
                words.into_iter().chain(constraints).filter(|words| !words.is_empty()).collect();
            format!("{}:{}: {}", text(&region["file"]), text(&region["ast_anchor"]["name"]), words.join(" "))
        };
        let lessons = self.wisdom.iter().filter(|lesson| may_be_judged(lesson)).map(lesson);
        lessons.chain(self.regions.iter().filter(|region| may_be_judged(region)).map(region)).collect()
    }

    /// Drops what was judged to restate, by its place in [`Collector::judged`].
    pub(crate) fn drop_judged(&mut self, restating: &BTreeSet<usize>) {
        let mut place = 0;
        let (n_dropped, warnings) = (&mut self.n_dropped, &mut self.warnings);
        let mut stays = |entry: &Value, words: &str| {
            if !may_be_judged(entry) {
                return true;
            }
            let is_dropped = restating.contains(&place);
            place += 1;
            if is_dropped {
                *n_dropped += 1;
                warnings.push(format!(
                    "dropped, as the model judged that it restates the change: {}",
                    short(words)
                ));
            }
            !is_dropped
        };
        self.wisdom.retain(|lesson| stays(lesson, lesson["content"].as_str().unwrap_or_default()));
        self.regions.retain(|region| stays(region, region["intent"].as_str().unwrap_or_default()));
    }

    fn drop_for(&mut self, tool: &str, reason: &str) {
        self.n_dropped += 1;
        self.warnings.push(format!("dropped what the model emitted, {tool}: {reason}"));
    }

    fn take_wisdom(&mut self, input: Value) -> Result<Result<String, Refused>, Error> {
        let given: WisdomArgument = match read(input) {
            Ok(given) => given,
            Err(reason) => return Ok(Err(reason)),
        };
        if let Err(reason) = given.category.parse::<Category>() {
            return Ok(Err(reason.to_string()));
        }
        if let Err(reason) = fit("content", &given.content) {
            return Ok(Err(reason));
        }
        if MOST_ENTRIES <= self.wisdom.len() {
            return Ok(Err(format!("there are {MOST_ENTRIES} lessons already")));
        }
        let lines = match range(given.lines.as_ref()) {
            Ok(lines) => lines,
            Err(reason) => return Ok(Err(reason)),
        };
        let file = match &given.file {
            None if lines.is_some() => return Ok(Err("`lines` need a `file`".to_owned())),
            None => None,
            Some(file) => match self.grounded(file, lines)? {
                Ok((file, blob)) => {
                    if let Some(anchor) = &given.anchor
                        && let Err(reason) = self.named(&file, blob, anchor)?
                    {
                        return Ok(Err(reason));
                    }
                    Some(file)
                }
                Err(reason) => return Ok(Err(reason)),
            },
        };
        let is_quoted = match self.quoted(given.turn, given.quote.as_deref()) {
            Ok(is_quoted) => is_quoted,
            Err(reason) => return Ok(Err(reason)),
        };
        if let Err(reason) = self.says_more(&given.content, file.as_deref(), lines)? {
            return Ok(Err(reason));
        }
        let is_known = |known: &Value| {
            known["category"] == given.category.as_str()
                && known["file"].as_str() == file.as_deref()
                && alike(known["content"].as_str().unwrap_or_default(), &given.content)
        };
        if self.wisdom.iter().any(is_known) {
            return Ok(Ok("Emitted already; nothing was added.".to_owned()));
        }
        let mut remarks = Vec::new();
        let mut entry = Map::new();
        entry.insert("category".to_owned(), given.category.clone().into());
        entry.insert("content".to_owned(), given.content.trim().into());
        entry.insert("origin".to_owned(), self.source(given.source.as_deref(), is_quoted).into());
        if let Some(file) = &file {
            entry.insert("file".to_owned(), file.as_str().into());
            if let Some(lines) = lines {
                entry.insert("lines".to_owned(), json!({"start": lines.start, "end": lines.end}));
            }
            if let Some(anchor) = &given.anchor {
                entry.insert("anchor".to_owned(), anchor.as_str().into());
            }
        }
        put(&mut entry, "depends_on", self.dependencies(&given.semantic_dependencies, &mut remarks)?);
        put(&mut entry, "related", self.related(&given.related_annotations, &mut remarks)?);
        put(&mut entry, "tags", labels(&given.tags));
        self.wisdom.push(Value::Object(entry));
        let about = file.as_deref().unwrap_or("the commit");
        Ok(Ok(confirmed(&format!("Lesson emitted for {about}"), &remarks)))
    }

    fn take_annotation(&mut self, input: Value) -> Result<Result<String, Refused>, Error> {
        let given: AnnotationArgument = match read(input) {
            Ok(given) => given,
            Err(reason) => return Ok(Err(reason)),
        };
        let name = given.ast_anchor.name.trim().to_owned();
        if name.is_empty() || !UNITS.contains(&given.ast_anchor.kind.as_str()) {
            return Ok(Err(format!("`ast_anchor` needs a name, and one of the types {}", UNITS.join(", "))));
        }
        let texts = [given.reasoning.as_ref(), given.risk_notes.as_ref()];
        let texts = texts.into_iter().flatten().chain(given.constraints.iter().map(|one| &one.text));
        for (place, text) in
            std::iter::once(("intent", &given.intent)).chain(texts.map(|text| ("a text", text)))
        {
            if let Err(reason) = fit(place, text) {
                return Ok(Err(reason));
            }
        }
        if let Some(bad) = given.constraints.iter().find(|one| !is_source(&one.source)) {
            return Ok(Err(format!("unknown source `{}`; use author or inferred", plain(&bad.source))));
        }
        if MOST_ENTRIES <= self.regions.len() {
            return Ok(Err(format!("there are {MOST_ENTRIES} annotations already")));
        }
        let lines = match range(Some(&given.lines)) {
            Ok(lines) => lines,
            Err(reason) => return Ok(Err(reason)),
        };
        let (file, blob) = match self.grounded(&given.file, lines)? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        if !self.gathered.files.iter().any(|changed| changed.path == file) {
            return Ok(Err(format!("the commit does not change `{file}`")));
        }
        if let Err(reason) = self.named(&file, blob, &name)? {
            return Ok(Err(reason));
        }
        let said: Vec<&str> =
            [Some(given.intent.as_str()), given.reasoning.as_deref(), given.risk_notes.as_deref()]
                .into_iter()
                .flatten()
                .chain(given.constraints.iter().map(|one| one.text.as_str()))
                .collect();
        if let Err(reason) = self.says_more(&said.join("\n"), Some(&file), lines)? {
            return Ok(Err(reason));
        }
        let is_known = |known: &Value| {
            known["file"] == file.as_str() && known["ast_anchor"]["name"].as_str() == Some(name.as_str())
        };
        if self.regions.iter().any(is_known) {
            return Ok(Ok(format!("`{file}:{name}` has an annotation already; nothing was added.")));
        }
        let mut remarks = Vec::new();
        let mut anchor = json!({"type": given.ast_anchor.kind, "name": name});
        if let Some(signature) = given.ast_anchor.signature.filter(|signature| signature.len() <= LONGEST) {
            anchor["signature"] = signature.into();
        }
        let mut region = Map::new();
        region.insert("file".to_owned(), file.as_str().into());
        region.insert("ast_anchor".to_owned(), anchor);
        if let Some(lines) = lines {
            region.insert("lines".to_owned(), json!({"start": lines.start, "end": lines.end}));
        }
        region.insert("intent".to_owned(), given.intent.trim().into());
        if let Some(reasoning) = given.reasoning {
            region.insert("reasoning".to_owned(), reasoning.into());
        }
        let constraints = given
            .constraints
            .iter()
            .map(|one| json!({"text": one.text, "source": self.source(Some(&one.source), false)}));
        put(&mut region, "constraints", constraints.collect());
        let depends = self.dependencies(&given.semantic_dependencies, &mut remarks)?;
        put(&mut region, "semantic_dependencies", depends);
        put(&mut region, "related_annotations", self.related(&given.related_annotations, &mut remarks)?);
        put(&mut region, "tags", labels(&given.tags));
        if let Some(risk) = given.risk_notes {
            region.insert("risk_notes".to_owned(), risk.into());
        }
        self.regions.push(Value::Object(region));
        Ok(Ok(confirmed(&format!("Annotation emitted for {file}:{name}"), &remarks)))
    }

    fn take_cross_cutting(&mut self, input: Value) -> Result<Result<String, Refused>, Error> {
        let given: CrossCuttingArgument = match read(input) {
            Ok(given) => given,
            Err(reason) => return Ok(Err(reason)),
        };
        for (place, text) in [("description", &given.description), ("nature", &given.nature)] {
            if text.trim().is_empty() || LONGEST < text.len() {
                return Ok(Err(format!("`{place}` is empty or longer than {LONGEST} bytes")));
            }
        }
        if MOST_ENTRIES <= self.cross_cutting.len() {
            return Ok(Err(format!("there are {MOST_ENTRIES} concerns already")));
        }
        let mut regions = Vec::new();
        for region in &given.regions {
            let (file, anchor) = match region.split_once(':') {
                Some((file, anchor)) => (file, Some(anchor)),
                None => (region.as_str(), None),
            };
            let (file, blob) = match self.grounded(file, None)? {
                Ok(found) => found,
                Err(reason) => return Ok(Err(reason)),
            };
            let mut place = json!({"file": file});
            if let Some(anchor) = anchor.filter(|anchor| !anchor.is_empty()) {
                if let Err(reason) = self.named(&file, blob, anchor)? {
                    return Ok(Err(reason));
                }
                place["anchor"] = anchor.into();
            }
            if !regions.contains(&place) {
                regions.push(place);
            }
        }
        if regions.len() < 2 {
            return Ok(Err("a cross-cutting concern needs two places, as file:anchor".to_owned()));
        }
        let is_known =
            |known: &Value| alike(known["description"].as_str().unwrap_or_default(), &given.description);
        if self.cross_cutting.iter().any(is_known) {
            return Ok(Ok("Emitted already; nothing was added.".to_owned()));
        }
        let nature = given.nature.trim();
        self.cross_cutting
            .push(json!({"description": given.description.trim(), "regions": regions, "nature": nature}));
        Ok(Ok("Cross-cutting concern emitted.".to_owned()))
    }

    /// A file of the commit, as git spells it, that has these lines.
    fn grounded(
        &self,
        file: &str,
        lines: Option<LineRange>,
    ) -> Result<Result<(String, ObjectId), Refused>, Error> {
        let Gathered { repository, commit, texts, .. } = self.gathered;
        let bare = file.trim().trim_start_matches("./");
        let spellings = [Some(bare), bare.strip_prefix("a/"), bare.strip_prefix("b/")];
        let mut found = None;
        for path in spellings.into_iter().flatten().filter(|path| !path.is_empty() && !path.contains('\0')) {
            if let Some(blob) = repository.blob_at(commit.tree, BString::from(path).as_bstr())? {
                found = Some((path.to_owned(), blob));
                break;
            }
        }
        if found.is_none()
            && let Some((path, old)) = self.deleted(spellings.into_iter().flatten())
        {
            return Ok(match lines {
                None => Ok((path, old)),
                Some(_) => Err(format!("`{path}` is deleted by this commit: leave its lines out")),
            });
        }
        let Some((path, blob)) = found else {
            return Ok(Err(format!("there is no file `{}` at this commit", short(file))));
        };
        if let Some(lines) = lines {
            let n_lines = texts.of(blob)?.map_or(0, |text| text.count());
            if n_lines < lines.end {
                return Ok(Err(format!("`{path}` has {n_lines} lines at this commit, not {lines}")));
            }
        }
        Ok(Ok((path, blob)))
    }

    /// The file that the commit deletes and that one of `paths` names, with its last content.
    fn deleted<'p>(&self, mut paths: impl Iterator<Item = &'p str>) -> Option<(String, ObjectId)> {
        let files = &self.gathered.files;
        paths.find_map(|path| {
            let file = files.iter().find(|file| file.path == path && file.new.is_none())?;
            Some((file.path.clone(), file.old?))
        })
    }

    /// Whether the outline of a file, if there is one, has such an item.
    fn named(&self, file: &str, blob: ObjectId, anchor: &str) -> Result<Result<(), Refused>, Error> {
        let content = self.gathered.repository.blob(blob)?;
        let outline = self.outlines.items(file, &content);
        let Ok(items) = &*outline else { return Ok(Ok(())) };
        let closest: Vec<String> = match resolve(items, anchor) {
            Resolution::Qualified(_) | Resolution::Unqualified(_) => return Ok(Ok(())),
            Resolution::Fuzzy(near) => near.iter().map(|item| item.qualified.clone()).collect(),
            Resolution::Unknown(closest) => closest.iter().map(ToString::to_string).collect(),
        };
        let offer =
            if closest.is_empty() { String::new() } else { format!("; closest are {}", closest.join(", ")) };
        Ok(Err(format!("`{}` names nothing in `{file}`{}", short(anchor), short(&offer))))
    }

    /// Whether the session says what is quoted of it.
    fn quoted(&self, turn: Option<usize>, quote: Option<&str>) -> Result<bool, Refused> {
        let Some(turn) = turn else {
            return match quote {
                Some(quote) if !quote.trim().is_empty() => Err("a `quote` needs its `turn`".to_owned()),
                _ => Ok(false),
            };
        };
        let Some(session) = &self.gathered.session else { return Err("no session is known".to_owned()) };
        if turn == 0 || session.n_turns() < turn {
            return Err(format!("the session has {} turns, not {turn}", session.n_turns()));
        }
        let quote = quote.unwrap_or_default();
        if !session.says(turn, quote) {
            return Err(format!("turn {turn} of the session does not say that"));
        }
        Ok(!quote.trim().is_empty())
    }

    /// Testimony is only what the author said, or what the session is quoted with.
    fn source(&self, given: Option<&str>, is_quoted: bool) -> &'static str {
        let may_be_author = !self.gathered.said.is_empty() || is_quoted;
        if may_be_author && (given == Some("author") || (given.is_none() && is_quoted)) {
            "author"
        } else {
            "inferred"
        }
    }

    fn says_more(
        &self,
        text: &str,
        file: Option<&str>,
        lines: Option<LineRange>,
    ) -> Result<Result<(), Refused>, Error> {
        let mut known = self.message.clone();
        if restates(text, &known) {
            return Ok(Err("it only restates the commit message".to_owned()));
        }
        if let Some(file) = file {
            self.add_changed(&mut known, file, lines)?;
            if restates(text, &known) {
                return Ok(Err("it only restates the diff; say why, or what follows from it".to_owned()));
            }
        }
        Ok(Ok(()))
    }

    /// The words of the changed lines that something is about.
    fn add_changed(&self, words: &mut Words, file: &str, lines: Option<LineRange>) -> Result<(), Error> {
        words.add(file);
        let Some(changed) = self.gathered.file(file) else { return Ok(()) };
        let is_near = |range: LineRange, hunk: &chronicle_core::Hunk| {
            let start = hunk.new.start.saturating_sub(1).max(1);
            LineRange { start, end: hunk.new.start + hunk.new.len }.overlaps(range)
        };
        let hunks: Vec<_> =
            changed.hunks.iter().filter(|hunk| lines.is_none_or(|range| is_near(range, hunk))).collect();
        // The words of a long change are those of the language: then they tell nothing.
        if MOST_CHANGED < hunks.iter().map(|hunk| hunk.old.len + hunk.new.len).sum() {
            return Ok(());
        }
        let texts = &self.gathered.texts;
        let (old, new) = (texts.version(changed.old)?, texts.version(changed.new)?);
        for hunk in hunks {
            (hunk.old.start..hunk.old.start + hunk.old.len).for_each(|line| words.add(old.line(line)));
            // With the lines around it, which the diff shows too.
            let first = hunk.new.start.saturating_sub(CONTEXT).max(1);
            (first..hunk.new.start + hunk.new.len + CONTEXT).for_each(|line| words.add(new.line(line)));
        }
        Ok(())
    }

    fn dependencies(
        &self,
        given: &[DependencyArgument],
        remarks: &mut Vec<String>,
    ) -> Result<Vec<Value>, Error> {
        let mut kept = Vec::new();
        for one in given.iter().take(MOST_LINKS) {
            match self.grounded(&one.file, None)? {
                Ok((file, _)) if LONGEST < one.nature.len() + one.anchor.len() => {
                    remarks.push(format!("the dependency on {file} is too long"));
                }
                Ok((file, _)) => {
                    let mut value = json!({"file": file, "nature": one.nature});
                    if !one.anchor.trim().is_empty() {
                        value["anchor"] = one.anchor.trim().into();
                    }
                    kept.push(value);
                }
                Err(reason) => remarks.push(reason),
            }
        }
        Ok(kept)
    }

    /// Links to annotations that there are.
    fn related(&self, given: &[RelatedArgument], remarks: &mut Vec<String>) -> Result<Vec<Value>, Error> {
        let mut kept = Vec::new();
        if given.is_empty() {
            return Ok(kept);
        }
        let repository = self.gathered.repository;
        let notes = self.notes.get_or_init(|| Notebook::open(repository, &mut Vec::new()).ok());
        for one in given.iter().take(MOST_LINKS) {
            let found = notes.as_ref().and_then(|notes| notes.find_key(one.commit.trim()));
            match found.filter(|key| *key != self.gathered.commit.id) {
                Some(key) => {
                    let mut value =
                        json!({"commit": key.to_string(), "relationship": short(&one.relationship)});
                    if !one.anchor.trim().is_empty() {
                        value["anchor"] = short(one.anchor.trim()).into();
                    }
                    kept.push(value);
                }
                None => remarks.push(format!("no annotation on commit `{}`", short(&one.commit))),
            }
        }
        Ok(kept)
    }
}

/// Whether an entry is the model's own: testimony is not judged.
fn may_be_judged(entry: &Value) -> bool {
    let is_said = |one: &Value| one["source"] == "author";
    entry["origin"] != "author" && !entry["constraints"].as_array().is_some_and(|all| all.iter().any(is_said))
}

fn read<T: DeserializeOwned>(input: Value) -> Result<T, Refused> {
    match input {
        Value::Object(_) => serde_json::from_value(input).map_err(|error| short(&error.to_string())),
        Value::String(_) => Err("the arguments are not JSON".to_owned()),
        _ => Err("the arguments are not a JSON object".to_owned()),
    }
}

/// Names what is emitted, so that it is known when it comes again.
fn key_of(tool: &str, input: &Value) -> String {
    let text = |value: &Value| {
        value.as_str().map(|text| text.chars().take(60).collect::<String>()).unwrap_or_default()
    };
    let about = match tool {
        "emit_annotation" => [text(&input["file"]), text(&input["ast_anchor"]["name"])].join(":"),
        "emit_wisdom" => text(&input["content"]),
        _ => text(&input["description"]),
    };
    format!("{tool} {about}")
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(values) => values.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

fn fit(place: &str, text: &str) -> Result<(), Refused> {
    match text.trim().chars().count() {
        0..SHORTEST => Err(format!("`{place}` is too short to help anyone")),
        _ if LONGEST < text.len() => Err(format!("`{place}` is longer than {LONGEST} bytes")),
        _ => Ok(()),
    }
}

fn range(lines: Option<&LinesArgument>) -> Result<Option<LineRange>, Refused> {
    lines.map(|lines| LineRange::new(lines.start, lines.end).map_err(|error| error.to_string())).transpose()
}

fn is_source(word: &str) -> bool {
    ["author", "inferred"].contains(&word)
}

fn labels(tags: &[String]) -> Vec<Value> {
    tags.iter()
        .filter(|tag| !tag.trim().is_empty() && tag.len() <= 60)
        .take(MOST_LINKS)
        .map(|tag| tag.trim().into())
        .collect()
}

fn put(map: &mut Map<String, Value>, key: &str, values: Vec<Value>) {
    if !values.is_empty() {
        map.insert(key.to_owned(), values.into());
    }
}

fn confirmed(text: &str, remarks: &[String]) -> String {
    if remarks.is_empty() { text.to_owned() } else { format!("{text}. Left out: {}", remarks.join("; ")) }
}

/// A text of a model or a repository, fit for a message.
fn short(text: &str) -> String {
    chronicle_sessions::shortened(&plain(text), 200)
}
