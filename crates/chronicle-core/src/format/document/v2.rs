//! `chronicle/v2`: narrative, decisions and markers become wisdom.
//!
//! The table is in the wire formats; what `v3` has no place for (`effort`,
//! `files_changed`, unknown parts of the narrative, a claim said twice with
//! different keys beside it) stays under `legacy`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::v3::{provenance, summary};
use crate::{Annotation, Category, DependsOn, Entry, EntryId, SCHEMA, format::fields::Fields};

const V2: &str = "chronicle/v2";

pub(super) fn read(map: Map<String, Value>) -> Annotation {
    let mut fields = Fields::new(map);
    fields.take_schema();
    let commit: String = fields.take("commit").unwrap_or_default();
    let timestamp: String = fields.take("timestamp").unwrap_or_default();
    let provenance = provenance(&mut fields);

    let mut narrative = Fields::new(fields.take("narrative").unwrap_or_default());
    let summary = summary(narrative.take("summary"));
    let mut wisdom: Vec<Entry> = narrative.take_each("rejected_alternatives", rejected_alternative);
    wisdom.extend(narrative.take::<String>("motivation").map(|text| entry(Category::Insight, text)));
    wisdom.extend(narrative.take::<String>("follow_up").map(|text| entry(Category::UnfinishedThread, text)));
    wisdom.extend(narrative.take_each("sentiments", sentiment));
    wisdom.extend(fields.take_each("decisions", decision));
    wisdom.extend(fields.take_each("markers", marker));

    let (wisdom, copies) = each_once(wisdom);

    let mut legacy = Map::new();
    if !copies.is_empty() {
        legacy.insert("copies".to_owned(), Value::Array(copies));
    }
    if let Some(files) = narrative.take::<Value>("files_changed") {
        legacy.insert("files_changed".to_owned(), files);
    }
    let rest = narrative.rest();
    if !rest.is_empty() {
        legacy.insert("narrative".to_owned(), Value::Object(rest));
    }
    if let Some(effort) = fields.take::<Value>("effort") {
        legacy.insert("effort".to_owned(), effort);
    }
    Annotation {
        wisdom,
        migrated_from: Some(V2.to_owned()),
        legacy,
        extra: fields.rest_beside(&Annotation::KEYS),
        schema: SCHEMA.to_owned(),
        ..Annotation::new(&commit, &timestamp, &summary, provenance)
    }
}

/// Each claim once, and the other copies of those that stand there again with something else beside them.
fn each_once(wisdom: Vec<Entry>) -> (Vec<Entry>, Vec<Value>) {
    let mut first: BTreeMap<EntryId, Entry> = BTreeMap::new();
    let (mut once, mut copies) = (Vec::new(), Vec::new());
    for entry in wisdom {
        match first.get(&entry.id) {
            Some(known) if *known == entry => {}
            Some(_) => copies.push(serde_json::to_value(&entry).expect("an entry is plain data")),
            None => {
                first.insert(entry.id.clone(), entry.clone());
                once.push(entry);
            }
        }
    }
    (once, copies)
}

/// An entry whose id follows from its claim, once file and lines are set: see [`identified`].
fn entry(category: Category, content: impl Into<String>) -> Entry {
    identified(Entry::new(EntryId(String::new()), category, content))
}

fn identified(mut entry: Entry) -> Entry {
    entry.id =
        EntryId::derived(V2, entry.category.name(), &entry.content, entry.file.as_deref(), entry.lines);
    entry
}

/// The object's fields, if it has all of `required` as strings.
fn object(value: Value, required: &[&str]) -> Result<Fields, Value> {
    match value {
        Value::Object(map) if required.iter().all(|key| map.get(*key).is_some_and(Value::is_string)) => {
            Ok(Fields::new(map))
        }
        other => Err(other),
    }
}

fn text(fields: &mut Fields, key: &str) -> String {
    fields.take(key).unwrap_or_default()
}

fn rejected_alternative(value: Value) -> Result<Entry, Value> {
    if let Value::String(approach) = value {
        return Ok(entry(Category::DeadEnd, approach));
    }
    let mut fields = object(value, &["approach"])?;
    let content = joined(&text(&mut fields, "approach"), ": ", &text(&mut fields, "reason"));
    Ok(Entry { extra: fields.rest_beside(&Entry::KEYS), ..entry(Category::DeadEnd, content) })
}

fn sentiment(value: Value) -> Result<Entry, Value> {
    let mut fields = object(value, &["feeling"])?;
    let feeling = text(&mut fields, "feeling");
    let says = |words: &[&str]| words.iter().any(|word| feeling.to_lowercase().contains(word));
    let category = if says(&["worry", "unease", "concern"]) {
        Category::Gotcha
    } else if says(&["uncertain", "doubt"]) {
        Category::UnfinishedThread
    } else {
        Category::Insight
    };
    let content = joined(&feeling, ": ", &text(&mut fields, "detail"));
    Ok(Entry { extra: fields.rest_beside(&Entry::KEYS), ..entry(category, content) })
}

/// The path of the first scope element becomes the file; the scope itself, like `stability`, stays as it is.
fn decision(value: Value) -> Result<Entry, Value> {
    let mut fields = object(value, &["what"])?;
    let content = joined(&text(&mut fields, "what"), ": ", &text(&mut fields, "why"));
    let extra = fields.rest_beside(&Entry::KEYS);
    let scope = match extra.get("scope") {
        Some(Value::Array(scope)) => scope.first().and_then(Value::as_str),
        Some(Value::String(scope)) => Some(scope.as_str()),
        _ => None,
    };
    let file = scope
        .map(|scope| scope.split(':').next().unwrap_or(scope).to_owned())
        .filter(|file| !file.is_empty());
    Ok(identified(Entry { file, extra, ..entry(Category::Insight, content) }))
}

fn marker(value: Value) -> Result<Entry, Value> {
    let mut fields = object(value, &["file"])?;
    let file = text(&mut fields, "file");
    let lines = fields.take_lines("lines");
    let anchor = fields.take("anchor");
    let mut kind = match fields.take::<Value>("kind") {
        Some(Value::Object(kind)) => Fields::new(kind),
        Some(Value::String(word)) => Fields::new(Map::from_iter([("type".to_owned(), word.into())])),
        other => {
            other.into_iter().for_each(|kind| fields.misfit("kind", kind));
            Fields::new(Map::new())
        }
    };
    let word = text(&mut kind, "type");
    let mut depends_on = Vec::new();
    let mut content = text(&mut kind, "description");
    if word == "dependency" {
        let target = text(&mut kind, "target_file");
        let anchor: Option<String> = kind.take("target_anchor");
        let assumption = text(&mut kind, "assumption");
        let place = anchor.as_ref().map_or_else(|| target.clone(), |anchor| format!("{target}:{anchor}"));
        content = joined(&content, " ", &format!("Depends on {place} — {assumption}"));
        depends_on.push(DependsOn {
            file: target,
            anchor,
            nature: assumption,
            sketch: None,
            extra: Map::new(),
        });
    }
    if let Some(replacement) = kind.take::<String>("replacement") {
        content = joined(&content, " ", &format!("Replacement: {replacement}"));
    }
    let category = match word.as_str() {
        "contract" | "hazard" | "security" | "performance" => Category::Gotcha,
        "unstable" | "deprecated" | "tech_debt" => Category::UnfinishedThread,
        _ => Category::Insight,
    };
    let origin = kind.take("source");
    fields.keep("marker".to_owned(), word.into());
    kind.rest().into_iter().for_each(|(key, value)| fields.keep(key, value));
    let extra = fields.rest_beside(&Entry::KEYS);
    Ok(identified(Entry {
        file: Some(file),
        lines,
        anchor,
        depends_on,
        origin,
        extra,
        ..entry(category, content)
    }))
}

/// Both texts with `between` in the middle, or the one that is not empty.
fn joined(left: &str, between: &str, right: &str) -> String {
    match (left.is_empty(), right.is_empty()) {
        (false, false) => format!("{left}{between}{right}"),
        _ => format!("{left}{right}"),
    }
}
