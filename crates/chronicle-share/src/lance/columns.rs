//! Rows as columns, and columns as rows.

use std::{collections::HashMap, sync::Arc};

use arrow_array::{Array, ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray, cast::AsArray};
use arrow_schema::{DataType, Field, Schema};

use crate::{Role, SharedRow};

pub(super) const ID: &str = "id";
pub(super) const HASH: &str = "hash";
pub(super) const PROJECT: &str = "project";
pub(super) const MACHINE_ID: &str = "machine_id";
pub(super) const TERMS: &str = "terms";
const AT: &str = "at";
/// Where a search says how well a row answers.
const SCORE: &str = "_score";

/// A column of text: its name, and where a row has it.
type TextColumn = (&'static str, fn(&SharedRow) -> &str, fn(&mut SharedRow) -> &mut String);

/// The columns of text; the last is for copies only.
const TEXTS: [TextColumn; 14] = [
    (ID, |row| &row.id, |row| &mut row.id),
    (HASH, |row| &row.hash, |row| &mut row.hash),
    ("kind", |row| &row.kind, |row| &mut row.kind),
    ("name", |row| &row.name, |row| &mut row.name),
    (PROJECT, |row| &row.project, |row| &mut row.project),
    ("about", |row| &row.about, |row| &mut row.about),
    ("title", |row| &row.title, |row| &mut row.title),
    ("text", |row| &row.text, |row| &mut row.text),
    ("files", |row| &row.files, |row| &mut row.files),
    ("commit", |row| &row.commit, |row| &mut row.commit),
    ("author", |row| &row.author, |row| &mut row.author),
    ("machine", |row| &row.machine, |row| &mut row.machine),
    (MACHINE_ID, |row| &row.machine_id, |row| &mut row.machine_id),
    (TERMS, |row| &row.terms, |row| &mut row.terms),
];

fn texts(role: Role) -> &'static [TextColumn] {
    match role {
        Role::Shared => &TEXTS[..TEXTS.len() - 1],
        Role::Copy => &TEXTS,
    }
}

/// The names of all columns.
pub(super) fn names(role: Role) -> Vec<&'static str> {
    texts(role).iter().map(|(name, ..)| *name).chain([AT]).collect()
}

pub(super) fn schema(role: Role, metadata: impl IntoIterator<Item = (String, String)>) -> Schema {
    let texts = texts(role).iter().map(|(name, ..)| Field::new(*name, DataType::Utf8, false));
    let fields: Vec<Field> = texts.chain([Field::new(AT, DataType::Int64, false)]).collect();
    Schema::new_with_metadata(fields, metadata.into_iter().collect::<HashMap<_, _>>())
}

/// Rows as columns.
pub(super) fn batch(role: Role, rows: &[SharedRow]) -> Result<RecordBatch, String> {
    let texts = texts(role).iter().map(|(_, get, _)| {
        let column: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(get)));
        column
    });
    let at: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.at)));
    let columns = texts.chain([at]).collect();
    RecordBatch::try_new(Arc::new(schema(role, [])), columns).map_err(|error| error.to_string())
}

/// Columns as rows. A column that is missing, or of another type, says nothing.
pub(super) fn rows(batch: &RecordBatch) -> Vec<SharedRow> {
    let mut rows = vec![SharedRow::default(); batch.num_rows()];
    for (name, _, field) in TEXTS {
        let Some(column) = batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>()) else {
            continue;
        };
        for (row, value) in rows.iter_mut().zip(column.iter()) {
            field(row).push_str(value.unwrap_or_default());
        }
    }
    let at = batch.column_by_name(AT).and_then(|column| column.as_any().downcast_ref::<Int64Array>());
    for (row, value) in rows.iter_mut().zip(at.into_iter().flatten()) {
        row.at = value.unwrap_or_default();
    }
    rows
}

/// How well each row answers.
pub(super) fn scores(batch: &RecordBatch) -> Vec<f64> {
    let column =
        batch.column_by_name(SCORE).and_then(|column| column.as_any().downcast_ref::<Float32Array>());
    let score = |row| column.map_or(0.0, |column| f64::from(column.value(row)));
    (0..batch.num_rows()).map(score).collect()
}
