//! `chronicle/v3`, with or without our additional keys.

use serde_json::{Map, Value};

use crate::{
    Annotation, CrossCutting, Entry, NO_SUMMARY, Provenance, Region, SCHEMA, Source, format::fields::Fields,
};

pub(crate) fn read(map: Map<String, Value>) -> Annotation {
    let mut fields = Fields::new(map);
    fields.take_schema();
    Annotation {
        schema: SCHEMA.to_owned(),
        commit: fields.take("commit").unwrap_or_default(),
        timestamp: fields.take("timestamp").unwrap_or_default(),
        summary: summary(fields.take("summary")),
        wisdom: fields.take_each("wisdom", |value| Entry::read(SCHEMA, value)),
        provenance: provenance(&mut fields),
        task: fields.take("task"),
        context_level: fields.take("context_level"),
        session: fields.take("session"),
        change: fields.take("change"),
        consumed: fields.take_list("consumed"),
        regions: fields.take_each("regions", |value| Region::read(SCHEMA, value)),
        cross_cutting: fields.take_each("cross_cutting", CrossCutting::read),
        replaces: fields.take_list("replaces"),
        migrated_from: fields.take("migrated_from"),
        legacy: fields.take("legacy").unwrap_or_default(),
        entry_ids: fields.take_list("entry_ids"),
        also: fields.take_each("also", |value| match value {
            Value::Object(map) => Ok(read(map)),
            other => Err(other),
        }),
        unread: fields.take_list("unread"),
        extra: fields.rest(),
    }
}

/// The format asks for a summary; a document without one is still worth reading.
pub(super) fn summary(written: Option<String>) -> String {
    written.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| NO_SUMMARY.to_owned())
}

/// Reads `provenance` as `chronicle/v2` and `v3` write it; a source outside the vocabulary counts as `batch`.
pub(super) fn provenance(fields: &mut Fields) -> Provenance {
    let mut inner = Fields::new(fields.take("provenance").unwrap_or_default());
    Provenance {
        source: inner.take("source").unwrap_or(Source::Batch),
        author: inner.take("author"),
        derived_from: inner.take_list("derived_from"),
        notes: inner.take("notes"),
        extra: inner.rest(),
    }
}
