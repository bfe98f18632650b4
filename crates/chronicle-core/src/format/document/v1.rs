//! `chronicle/v1` (and `ultragit/v1`): one region for each code unit.
//!
//! Regions stay regions: they say more than wisdom entries could hold.

use serde_json::{Map, Value};

use super::v3::summary;
use crate::{Annotation, CrossCutting, Provenance, Region, SCHEMA, Source, format::fields::Fields};

const V1: &str = "chronicle/v1";

pub(super) fn read(map: Map<String, Value>) -> Annotation {
    let mut fields = Fields::new(map);
    fields.take_schema();
    let commit: String = fields.take("commit").unwrap_or_default();
    let timestamp: String = fields.take("timestamp").unwrap_or_default();
    let summary = summary(fields.take("summary"));
    let provenance = provenance(&mut fields);
    Annotation {
        task: fields.take("task"),
        context_level: fields.take("context_level"),
        regions: fields.take_each("regions", |value| Region::read(V1, value)),
        cross_cutting: fields.take_each("cross_cutting", CrossCutting::read),
        migrated_from: Some(V1.to_owned()),
        extra: fields.rest_beside(&Annotation::KEYS),
        schema: SCHEMA.to_owned(),
        ..Annotation::new(&commit, &timestamp, &summary, provenance)
    }
}

/// `operation` initial, squash or amend becomes a source; the rest keeps its words.
fn provenance(fields: &mut Fields) -> Provenance {
    let mut inner = Fields::new(fields.take("provenance").unwrap_or_default());
    let source = match inner.take::<String>("operation").as_deref() {
        Some("squash") => Source::Squash,
        Some("amend") => Source::Amend,
        Some("initial") | None => Source::Batch,
        Some(other) => {
            inner.misfit("operation", other.into());
            Source::Batch
        }
    };
    Provenance {
        source,
        author: inner.take("author"),
        derived_from: inner.take_list("derived_from"),
        notes: inner.take("synthesis_notes"),
        extra: inner.rest_beside(&Provenance::KEYS),
    }
}
