//! Folding survives everything that happens to notes: any order, any repetition, storage in between,
//! documents of every schema, keys from elsewhere.

use std::collections::BTreeMap;

use chronicle_core::{Note, read_note, unite_notes};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The key that notes are stored under here.
const KEY: &str = "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e";

fn note(bytes: &[u8]) -> Note {
    read_note(bytes).note
}

/// The note as it is stored; what could not be read at all is never rewritten, so it stands for itself.
fn stored(note: &Note) -> String {
    note.to_line(KEY).unwrap_or_else(|| {
        note.unread().map(|part| part.escape_ascii().to_string()).collect::<Vec<_>>().join("\n")
    })
}

fn fold(left: &Note, right: &Note) -> Note {
    left.clone().fold(right.clone())
}

/// What the released reader accepts (reference: wire formats); serde refuses a known key that stands twice.
#[derive(Debug, Deserialize)]
struct Released {
    schema: String,
    commit: String,
    #[serde(rename = "timestamp")]
    _timestamp: String,
    summary: String,
    #[serde(default, rename = "wisdom")]
    _wisdom: Vec<ReleasedEntry>,
    #[serde(rename = "provenance")]
    _provenance: ReleasedProvenance,
}

#[derive(Debug, Deserialize)]
struct ReleasedEntry {
    #[serde(rename = "category")]
    _category: ReleasedCategory,
    #[serde(rename = "content")]
    _content: String,
    #[serde(rename = "file")]
    _file: Option<String>,
    #[serde(rename = "lines")]
    _lines: Option<ReleasedLines>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReleasedCategory {
    DeadEnd,
    Gotcha,
    Insight,
    UnfinishedThread,
}

#[derive(Debug, Deserialize)]
struct ReleasedLines {
    #[serde(rename = "start")]
    _start: u32,
    #[serde(rename = "end")]
    _end: u32,
}

#[derive(Debug, Deserialize)]
struct ReleasedProvenance {
    #[serde(rename = "source")]
    _source: ReleasedSource,
    #[serde(rename = "author")]
    _author: Option<String>,
    #[serde(default, rename = "derived_from")]
    _derived_from: Vec<String>,
    #[serde(rename = "notes")]
    _notes: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReleasedSource {
    Live,
    Batch,
    Backfill,
    Squash,
    Amend,
    MigratedV1,
    MigratedV2,
}

/// Bytes that a failing test shows as text.
#[derive(Clone)]
struct Raw(Vec<u8>);

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// Every string value in `value`, wherever it is.
fn texts<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(elements) => elements.iter().for_each(|element| texts(element, into)),
        Value::Object(map) => map.values().for_each(|value| texts(value, into)),
        _ => {}
    }
}

/// The same value with the keys of every object in the opposite order.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(key, value)| (key.clone(), turned(value))).collect())
        }
        Value::Array(elements) => elements.iter().map(turned).collect(),
        other => other.clone(),
    }
}

mod any {
    use super::*;

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => select(vec!["one", "two", "a longer text", "Ü\u{7}\n\u{2028}\"\\", ""]).prop_map(str::to_owned),
            1 => "\\PC{0,12}",
        ]
    }

    fn id() -> impl Strategy<Value = Value> {
        select(vec!["A", "B", "C", "D", "h-2"]).prop_map(Value::from)
    }

    fn lines() -> impl Strategy<Value = Value> {
        prop_oneof![
            4 => (1u32..5, 0u32..5).prop_map(|(start, more)| json!({"start": start, "end": start + more})),
            1 => odd_keys().prop_map(|odd| {
                let odd = odd.into_iter().filter(|(key, _)| *key != "sketch");
                let pairs = odd.map(|(key, value)| (key.to_owned(), value));
                Value::Object(pairs.chain([("end".to_owned(), json!(3)), ("start".to_owned(), json!(2))]).collect())
            }),
            1 => select(vec![json!([1, 2]), json!("3:4"), json!([2, 1]), json!({"start": 0, "end": 1}), json!(7), Value::Null]),
        ]
    }

    /// Values that fit nowhere in particular.
    fn odd() -> BoxedStrategy<Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text().prop_map(Value::from),
        ];
        let odd = leaf.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(Value::from),
                vec((select(vec!["b", "a", "content", "id"]), inner), 0..3)
                    .prop_map(|pairs| pairs.into_iter().collect::<Value>()),
            ]
        });
        odd.boxed()
    }

    /// Words that mean something at one place or another of one schema or another.
    const WORDS: &[&str] = &[
        "zz",
        "aa",
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
        "schema",
        "$schema",
        "commit",
        "timestamp",
        "summary",
        "wisdom",
        "provenance",
        "task",
        "context_level",
        "session",
        "change",
        "consumed",
        "regions",
        "cross_cutting",
        "replaces",
        "migrated_from",
        "legacy",
        "entry_ids",
        "also",
        "unread",
        "source",
        "author",
        "derived_from",
        "notes",
        "operation",
        "synthesis_notes",
        "marker",
        "type",
        "text",
        "category_as_written",
        "summary_as_written",
        "wisdom_as_written",
        "intent",
        "constraints",
        "narrative",
        "decisions",
        "markers",
        "effort",
        "kind",
        "description",
    ];

    fn odd_keys() -> impl Strategy<Value = BTreeMap<&'static str, Value>> {
        proptest::collection::btree_map(select(WORDS), odd(), 0..3)
    }

    /// Adds keys that are not there yet; now and then one that is there gets a value that does not fit.
    /// Boxed: the names of nested strategies' types would otherwise fill hundreds of megabytes.
    fn strewn(base: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
        let strategy =
            (base, odd_keys(), 0..8u8, any::<bool>()).prop_map(|(mut base, odd, overwrite, turn)| {
                let map = base.as_object_mut().expect("an object was made");
                for (key, value) in odd {
                    if !map.contains_key(key) || (overwrite == 0 && !key.contains("schema")) {
                        map.insert(key.to_owned(), value);
                    }
                }
                if turn { turned(&base) } else { base }
            });
        strategy.boxed()
    }

    /// An object of the fields that are there.
    fn object(fields: Vec<(&str, Option<Value>)>) -> Value {
        let given = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Value::Object(given.collect::<Map<_, _>>())
    }

    fn category() -> impl Strategy<Value = Value> {
        prop_oneof![
            6 => select(vec!["dead_end", "gotcha", "insight", "unfinished_thread"]).prop_map(Value::from),
            1 => select(vec![json!("Dead-End"), json!("todo"), json!(1)]),
        ]
    }

    fn texts(most: usize) -> impl Strategy<Value = Value> {
        vec(text(), 0..most).prop_map(Value::from)
    }

    fn anchor() -> impl Strategy<Value = Value> {
        let named = select(vec![
            json!({"unit_type": "fn", "name": "f"}),
            json!({"type": "fn", "name": "f", "signature": "fn f()"}),
        ]);
        prop_oneof![3 => strewn(named), 1 => Just(json!("f"))]
    }

    /// Where an entry belongs, and what it belongs to.
    fn ties() -> impl Strategy<Value = [Option<Value>; 6]> {
        let recorded =
            strewn((1u32..9).prop_map(|line| json!({"commit": "c0", "file": "z.rs", "lines": [line, line]})));
        let depends_on =
            strewn(text().prop_map(|text| json!({"file": "b.rs", "anchor": "g", "nature": text})));
        let related = strewn(text().prop_map(|text| json!({"commit": "c0", "relationship": text})));
        let list = |items: Vec<Value>| Value::from(items);
        let ties = (
            option::of(lines()),
            option::weighted(0.3, recorded),
            option::weighted(0.3, vec(lines(), 0..2).prop_map(list)),
            option::weighted(0.3, anchor()),
            option::weighted(0.3, vec(depends_on, 0..3).prop_map(list)),
            option::weighted(0.3, vec(related, 0..3).prop_map(list)),
        );
        ties.prop_map(|(lines, recorded, places, anchor, depends_on, related)| {
            [lines, recorded, places, anchor, depends_on, related]
        })
    }

    pub(super) fn entry() -> impl Strategy<Value = Value> {
        let fields = (
            option::of(id()),
            category(),
            text(),
            option::of(select(vec!["a.rs", "b.rs"]).prop_map(Value::from)),
            option::of(texts(3)),
            option::of(vec(id(), 0..2).prop_map(Value::from)),
            ties(),
        );
        strewn(fields.prop_map(|(id, category, content, file, tags, supersedes, ties)| {
            let [lines, recorded, places, anchor, depends_on, related] = ties;
            object(vec![
                ("id", id),
                ("category", Some(category)),
                ("content", Some(content.into())),
                ("file", file),
                ("lines", lines),
                ("tags", tags),
                ("supersedes", supersedes),
                ("recorded", recorded),
                ("places", places),
                ("anchor", anchor),
                ("depends_on", depends_on),
                ("related", related),
            ])
        }))
    }

    fn region() -> impl Strategy<Value = Value> {
        let constraint = prop_oneof![
            text().prop_map(Value::from),
            text().prop_map(|text| json!({"text": text, "source": "author"})),
            text().prop_map(|text| json!({"text": text, "source": "hearsay"})),
        ];
        let fields = (
            option::of(id()),
            option::of(anchor()),
            option::of(lines()),
            text(),
            vec(constraint, 0..3),
            texts(2),
        );
        strewn(fields.prop_map(|(id, anchor, lines, intent, constraints, tags)| {
            object(vec![
                ("id", id),
                ("file", Some("a.rs".into())),
                ("ast_anchor", anchor),
                ("lines", lines),
                ("intent", Some(intent.into())),
                ("constraints", Some(constraints.into())),
                ("tags", Some(tags)),
            ])
        }))
    }

    fn cross_cutting() -> impl Strategy<Value = Value> {
        let member = select(vec![
            json!("a.rs:f"),
            json!("b.rs"),
            json!({"file": "a.rs", "anchor": "f"}),
            json!({"file": 1}),
        ]);
        strewn(
            (text(), vec(member, 0..3))
                .prop_map(|(description, regions)| json!({"description": description, "regions": regions})),
        )
    }

    fn timestamp() -> impl Strategy<Value = Value> {
        select(vec!["2026-01-02T00:00:00Z", "2026-01-02T01:00:00+01:00", "2025-12-31T00:00:00Z", "lately"])
            .prop_map(Value::from)
    }

    fn commit() -> impl Strategy<Value = Value> {
        select(vec!["c1", "c2", KEY]).prop_map(Value::from)
    }

    fn provenance() -> impl Strategy<Value = Value> {
        let source = select(vec!["live", "batch", "squash", "amend", "rumour"]);
        let author = option::of(select(vec!["Ada", "Grace"]).prop_map(Value::from));
        strewn((source, author, texts(2)).prop_map(|(source, author, derived_from)| {
            object(vec![
                ("source", Some(source.into())),
                ("author", author),
                ("derived_from", Some(derived_from)),
            ])
        }))
    }

    fn v3_with(also: impl Strategy<Value = Vec<Value>> + 'static) -> impl Strategy<Value = Value> {
        let fields = (
            (commit(), timestamp(), text(), vec(entry(), 0..4), provenance()),
            option::weighted(0.2, vec(region(), 0..2).prop_map(Value::from)),
            option::weighted(0.2, vec(cross_cutting(), 0..2).prop_map(Value::from)),
            option::weighted(0.3, vec(id(), 0..4).prop_map(Value::from)),
            option::weighted(0.3, also.prop_map(Value::from)),
            option::weighted(0.1, select(vec![json!(["YWJj"]), json!(["no base64!"])])),
        );
        let document = fields.prop_map(|(core, regions, cross_cutting, entry_ids, also, unread)| {
            let (commit, timestamp, summary, wisdom, provenance) = core;
            object(vec![
                ("schema", Some("chronicle/v3".into())),
                ("commit", Some(commit)),
                ("timestamp", Some(timestamp)),
                ("summary", Some(summary.into())),
                ("wisdom", Some(wisdom.into())),
                ("provenance", Some(provenance)),
                ("regions", regions),
                ("cross_cutting", cross_cutting),
                ("entry_ids", entry_ids),
                ("also", also),
                ("unread", unread),
            ])
        });
        strewn(document)
    }

    fn v3() -> impl Strategy<Value = Value> {
        v3_with(vec(v3_with(vec(v3_with(Just(Vec::new())), 0..2)), 0..3))
    }

    fn v2() -> impl Strategy<Value = Value> {
        let alternative = prop_oneof![
            strewn(
                (text(), text())
                    .prop_map(|(approach, reason)| json!({"approach": approach, "reason": reason}))
            ),
            text().prop_map(Value::from),
        ];
        let sentiment = strewn(
            (select(vec!["worry", "doubt", "joy"]), text())
                .prop_map(|(feeling, detail)| json!({"feeling": feeling, "detail": detail})),
        );
        let decision = strewn((text(), text()).prop_map(
            |(what, why)| json!({"what": what, "why": why, "stability": "permanent", "scope": ["src/a.rs:f"]}),
        ));
        let kind = prop_oneof![
            text().prop_map(|text| json!({"type": "hazard", "description": text})),
            text().prop_map(|text| json!({"type": "contract", "description": text, "source": "author"})),
            text().prop_map(|text| json!({"type": "dependency", "target_file": "b.rs", "target_anchor": "g", "assumption": text})),
            text().prop_map(|text| json!({"type": "novel", "description": text, "replacement": "x"})),
        ];
        let marker = strewn(
            (strewn(kind), lines())
                .prop_map(|(kind, lines)| json!({"file": "a.rs", "lines": lines, "kind": kind})),
        );
        let narrative = strewn((text(), text(), vec(alternative, 0..3), vec(sentiment, 0..2)).prop_map(
            |(summary, motivation, rejected, sentiments)| {
                json!({"summary": summary, "motivation": motivation, "rejected_alternatives": rejected,
                       "files_changed": ["a.rs"], "sentiments": sentiments})
            },
        ));
        let fields = (commit(), timestamp(), narrative, vec(decision, 0..3), vec(marker, 0..3), provenance());
        strewn(fields.prop_map(|(commit, timestamp, narrative, decisions, markers, provenance)| {
            json!({"schema": "chronicle/v2", "commit": commit, "timestamp": timestamp, "narrative": narrative,
                   "decisions": decisions, "markers": markers, "provenance": provenance,
                   "effort": {"id": "1", "description": "x"}})
        }))
    }

    fn v1() -> impl Strategy<Value = Value> {
        let provenance = strewn(select(vec!["initial", "squash", "amend", "guess"]).prop_map(
            |operation| json!({"operation": operation, "derived_from": [], "synthesis_notes": "merged"}),
        ));
        let fields = (
            (select(vec!["schema", "$schema"]), select(vec!["chronicle/v1", "ultragit/v1"])),
            (commit(), timestamp(), text()),
            vec(region(), 0..3),
            vec(cross_cutting(), 0..2),
            provenance,
        );
        strewn(fields.prop_map(|((key, schema), (commit, timestamp, summary), regions, cross_cutting, provenance)| {
            json!({key: schema, "commit": commit, "timestamp": timestamp, "summary": summary, "task": "T-1",
                   "context_level": "enhanced", "regions": regions, "cross_cutting": cross_cutting,
                   "provenance": provenance})
        }))
    }

    /// A document of an older schema.
    pub(super) fn older() -> impl Strategy<Value = Value> {
        prop_oneof![v1(), v2()]
    }

    pub(super) fn document() -> impl Strategy<Value = Value> {
        prop_oneof![4 => v3(), 1 => v2(), 1 => v1()]
    }

    fn junk() -> impl Strategy<Value = Vec<u8>> {
        select(vec![
            &b"<<<<<<< ours"[..],
            b"{\"schema\":",
            b"[1]",
            b"\xff\xfe",
            b"{\"schema\":\"chronicle/v9\",\"x\":1}",
            b"{\"schema\":\"chronicle/v3\",\"summary\":\"a\",\"summary\":\"raw\nline\"}",
        ])
        .prop_map(<[u8]>::to_vec)
    }

    /// The bytes of a note: documents and junk, on lines of their own.
    pub(super) fn bytes() -> impl Strategy<Value = Raw> {
        let part = prop_oneof![
            5 => document().prop_map(|document| document.to_string().into_bytes()),
            1 => document().prop_map(|document| serde_json::to_vec_pretty(&document).expect("plain data")),
            1 => junk(),
        ];
        vec(part, 0..4).prop_map(|parts| Raw(parts.join(&b'\n')))
    }

    /// Three notes, some documents of which replace others by name.
    pub(super) fn notes() -> impl Strategy<Value = [Note; 3]> {
        let links = vec((0..8usize, 0..8usize), 0..4);
        ([bytes(), bytes(), bytes()], links).prop_map(|(bytes, links)| {
            let mut notes = bytes.map(|bytes| note(&bytes.0));
            let names: Vec<String> = notes
                .iter()
                .flat_map(|note| note.documents().into_iter().map(chronicle_core::Annotation::fingerprint))
                .collect();
            for (number, (from, to)) in links.into_iter().enumerate() {
                let Some(replaced) = names.get(to) else { continue };
                let target = &mut notes[from % 3];
                let Some(mut document) = target.to_annotation(KEY) else { continue };
                document.also.clear();
                document.replaces = vec![replaced.clone()];
                document.summary = format!("{number} takes the place of another");
                *target = std::mem::take(target).fold(Note::of(document));
            }
            notes
        })
    }
}

#[test]
fn a_claim_said_twice_keeps_what_stands_beside_either() {
    let decision =
        |more: &str| json!({"what": "w", "why": "y", "stability": "permanent", "scope": [], "more": more});
    let document = json!({"schema": "chronicle/v2", "commit": "c1", "timestamp": "2026-01-02T00:00:00Z",
        "narrative": {"summary": "s"}, "decisions": [decision("one"), decision("two"), decision("one")],
        "provenance": {"source": "live"}});
    let note = note(document.to_string().as_bytes());
    let line = note.to_line(KEY).expect("it was read");
    assert_eq!((line.matches("\"one\"").count(), line.matches("\"two\"").count()), (1, 1), "{line}");
    assert_eq!(line.matches("\"category\"").count(), 2, "{line}");
    // Purged, neither is left.
    let gone = note.without(&|id| id.0.starts_with("h-"), "[purged]").to_line(KEY).unwrap_or_default();
    assert!(!gone.contains("two") && !gone.contains("one"), "{gone}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_folding_does_not_matter([a, b, c] in any::notes()) {
        prop_assert_eq!(stored(&fold(&a, &b)), stored(&fold(&b, &a)));
        prop_assert_eq!(stored(&fold(&fold(&a, &b), &c)), stored(&fold(&a, &fold(&b, &c))));
        prop_assert_eq!(stored(&fold(&a, &a)), stored(&a));
        let ab = fold(&a, &b);
        prop_assert_eq!(stored(&fold(&ab, &a)), stored(&ab));
        prop_assert_eq!(stored(&fold(&a, &Note::default())), stored(&a));
    }

    #[test]
    fn a_note_comes_back_from_storage_as_it_was([a, b, _] in any::notes()) {
        let Some(line) = a.to_line(KEY) else { return Ok(()) };
        let back = note(line.as_bytes());
        prop_assert_eq!(&stored(&back), &line);
        prop_assert_eq!(back.to_annotation(KEY), a.to_annotation(KEY));
        // Whether a note was stored in between is no matter for whatever is folded into it.
        prop_assert_eq!(stored(&fold(&back, &b)), stored(&fold(&a, &b)));
        prop_assert_eq!(stored(&fold(&back, &a)), line);
    }

    #[test]
    fn what_is_written_is_what_released_readers_accept(bytes in any::bytes()) {
        let Some(line) = note(&bytes.0).to_line(KEY) else { return Ok(()) };
        prop_assert_eq!(line.trim_end_matches('\n').chars().filter(|c| c.is_control()).count(), 0);
        prop_assert!(line.ends_with('\n'));
        let read: Result<Released, _> = serde_json::from_str(&line);
        prop_assert!(read.is_ok(), "{:?} in {}", read, line);
        let read = read.unwrap();
        prop_assert_eq!((read.schema.as_str(), read.commit.as_str()), ("chronicle/v3", KEY));
        prop_assert!(!read.summary.trim().is_empty());
        prop_assert_eq!(read_note(line.as_bytes()).remarks, vec![]);
    }

    #[test]
    fn no_text_of_a_document_is_lost(mut document in any::document()) {
        // Entries with one id are one claim, of which one copy stays; documents of their own keep theirs.
        let map = document.as_object_mut().unwrap();
        map.remove("also");
        // The key says which commit it is, whatever the document says.
        if map.get("commit").is_some_and(Value::is_string) {
            map.insert("commit".to_owned(), KEY.into());
        }
        let one_entry = map.get_mut("wisdom").and_then(Value::as_array_mut).map(|wisdom| wisdom.truncate(1));
        prop_assume!(one_entry.is_some() || !map.contains_key("wisdom"));
        let note = note(document.to_string().as_bytes());
        let mut kept = serde_json::to_value(note.to_annotation(KEY)).unwrap().to_string();
        for part in note.unread() {
            // As it was given: with escapes if it was given with some.
            kept.push_str(&String::from_utf8_lossy(part));
        }
        let mut said = Vec::new();
        texts(&document, &mut said);
        const RENAMED: [&str; 14] = [
            "chronicle/v3", "chronicle/v2", "chronicle/v1", "ultragit/v1", "c1", "c2", "Dead-End", "initial",
            "amend", "squash", "YWJj", "no base64!", "3:4", "a.rs:f",
        ];
        for text in said.into_iter().filter(|text| !text.trim().is_empty() && !RENAMED.contains(text)) {
            let quoted = Value::from(text).to_string();
            let is_kept = kept.contains(quoted.trim_matches('"')) || kept.contains(text);
            prop_assert!(is_kept, "{} is lost in {}", text, kept);
        }
    }

    #[test]
    fn two_documents_in_one_note_read_as_their_fold([a, b, _] in any::notes()) {
        let (Some(left), Some(right)) = (a.to_line(KEY), b.to_line(KEY)) else { return Ok(()) };
        prop_assert_eq!(stored(&note([left, right].concat().as_bytes())), stored(&fold(&a, &b)));
    }

    #[test]
    fn bytes_united_in_any_order_are_equal([a, b, c] in [any::bytes(), any::bytes(), any::bytes()]) {
        let [a, b, c] = [a.0, b.0, c.0];
        let unite = |sides: &[&Vec<u8>]| unite_notes(KEY, sides);
        let united = unite(&[&a, &b, &c]);
        prop_assert_eq!(&unite(&[&c, &b, &a]), &united);
        prop_assert_eq!(&unite(&[&unite(&[&a, &b]), &c]), &united);
        prop_assert_eq!(&unite(&[&a, &unite(&[&c, &b])]), &united);
        prop_assert_eq!(&unite(&[&united, &b]), &united);
        let parts = |bytes: &[u8]| note(bytes).unread().map(<[u8]>::to_vec).collect::<Vec<_>>();
        let kept = parts(&united);
        prop_assert!(parts(&a).iter().all(|part| kept.contains(part)));
    }

    #[test]
    fn a_note_of_an_older_schema_and_its_rewrite_are_one(document in any::older()) {
        let raw = note(document.to_string().as_bytes());
        // A schema that nobody knows is kept, not rewritten.
        prop_assume!(!raw.documents().is_empty());
        let line = stored(&raw);
        let rewritten = note(line.as_bytes());
        prop_assert_eq!(raw.documents()[0].fingerprint(), rewritten.documents()[0].fingerprint());
        prop_assert_eq!(&stored(&fold(&raw, &rewritten)), &line);
        prop_assert_eq!(stored(&note(format!("{line}{document}").as_bytes())), line);
    }

    #[test]
    fn a_raw_entry_and_its_rewrite_are_one(entry in any::entry()) {
        let document = json!({"schema": "chronicle/v3", "commit": KEY, "timestamp": "2026-01-02T00:00:00Z",
                              "summary": "s", "wisdom": [entry], "provenance": {"source": "live"}});
        let raw = note(document.to_string().as_bytes());
        prop_assert_eq!(stored(&fold(&raw, &note(stored(&raw).as_bytes()))), stored(&raw));
    }
}
