//! Schemas, slimmed: a model pays for every word of its tools' inputs, and some hosts refuse what `schemars` says
//! more precisely than they can read (`"type": ["string", "null"]`, `"format": "uint32"`).

use rmcp::model::JsonObject;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// Where to work; every tool takes it, and the server's instructions say what it is for.
pub(super) const DIRECTORY: &str = "directory";

/// Keys of schemas that tell a caller nothing.
const IDLE: [&str; 7] =
    ["$schema", "title", "format", "minimum", "default", "additionalProperties", "deprecated"];

/// What a tool takes. Everything stands where it is used, and `null` is not spelled out: an option is left out.
pub(super) fn input<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = object(settings.into_generator().into_root_schema_for::<T>().into());
    schema.shift_remove("description");
    slim(&mut schema, Some(&IDLE));
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(DIRECTORY.to_owned(), json!({ "type": "string" }));
    }
    schema
}

/// What a tool answers. Nothing is required: answers leave out what is empty. `git chronicle schema` has the words.
pub(super) fn output<T: JsonSchema>() -> JsonObject {
    const WORDS: [&str; 7] = ["$schema", "title", "format", "minimum", "default", "description", "required"];
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = object(generator.into_root_schema_for::<T>().into());
    slim(&mut schema, None);
    strip(&mut schema, &WORDS);
    schema
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Merges constants into one `enum` and gives each schema one `type`; for inputs, takes away `idle` keys and `null`.
fn slim(schema: &mut JsonObject, idle: Option<&[&str]>) {
    if schema.get("items") == Some(&Value::Bool(true)) {
        schema.shift_remove("items");
    }
    if let Some(idle) = idle {
        schema.retain(|key, _| !idle.contains(&key.as_str()));
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [kind] = &types[..] {
                let kind = kind.clone();
                schema.insert("type".to_owned(), kind);
            }
        }
        if let Some(Value::Array(constants)) = schema.get_mut("enum") {
            constants.retain(|constant| !constant.is_null());
        }
        // What is said of a list is enough.
        if let Some(Value::Object(items)) = schema.get_mut("items") {
            items.shift_remove("description");
        }
        if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
            choices.retain(|choice| choice["type"] != "null");
            if let [Value::Object(only)] = &choices[..] {
                let mut only = only.clone();
                schema.shift_remove("anyOf");
                // What is said of the type is not about this option.
                only.retain(|key, _| key != "description");
                schema.extend(only);
            }
        }
    }
    if let Some(Value::Array(choices)) = schema.get("oneOf") {
        let constants: Option<Vec<_>> = choices.iter().map(|choice| choice.get("const").cloned()).collect();
        if let Some(constants) = constants {
            schema.shift_remove("oneOf");
            schema.insert("type".to_owned(), "string".into());
            schema.insert("enum".to_owned(), constants.into());
        }
    }
    if let Some(Value::Array(types)) = schema.get("type") {
        let mut choices: Vec<_> = types.iter().map(|kind| json!({ "type": kind })).collect();
        schema.shift_remove("type");
        if let Some(Value::Object(first)) = choices.first_mut() {
            first.append(schema);
        }
        schema.insert("anyOf".to_owned(), choices.into());
    }
    each_inner(schema, &mut |inner| slim(inner, idle));
}

fn strip(schema: &mut JsonObject, words: &[&str]) {
    schema.retain(|key, _| !words.contains(&key.as_str()));
    each_inner(schema, &mut |inner| strip(inner, words));
}

/// The schemas within a schema. Names of properties are no keywords.
fn each_inner(schema: &mut JsonObject, visit: &mut dyn FnMut(&mut JsonObject)) {
    for (key, value) in schema.iter_mut() {
        let inner: Vec<&mut Value> = match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => named.values_mut().collect(),
            ("items" | "additionalProperties", value @ Value::Object(_)) => vec![value],
            ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => choices.iter_mut().collect(),
            _ => continue,
        };
        inner.into_iter().filter_map(Value::as_object_mut).for_each(&mut *visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    enum Word {
        One,
        Other,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Args {
        /// The file
        path: String,
        /// How many
        limit: Option<usize>,
        category: Option<chronicle::Category>,
        how: Option<Word>,
        #[serde(default)]
        categories: Vec<chronicle::Category>,
        #[serde(default)]
        format: bool,
    }

    #[test]
    fn inputs_hold_what_a_caller_needs_and_no_more() {
        let expected = json!({
            "type": "object",
            "properties": {
                "path": { "description": "The file", "type": "string" },
                "limit": { "description": "How many", "type": "integer" },
                "category": {
                    "type": "string",
                    "enum": ["dead_end", "gotcha", "insight", "unfinished_thread"],
                },
                "how": { "type": "string", "enum": ["One", "Other"] },
                "categories": {
                    "type": "array",
                    "items": { "type": "string", "enum": ["dead_end", "gotcha", "insight", "unfinished_thread"] },
                },
                "format": { "type": "boolean" },
                "directory": { "type": "string" },
            },
            "required": ["path"],
        });
        assert_eq!(Value::Object(input::<Args>()), expected);
    }

    #[test]
    fn outputs_keep_their_structure() {
        let schema = Value::Object(output::<chronicle::Deps>());
        assert_eq!(
            schema["properties"]["warnings"],
            json!({ "type": "array", "items": { "type": "string" } })
        );
        assert_eq!(
            schema["properties"]["anchor"],
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })
        );
        assert!(schema.get("required").is_none() && schema["$defs"]["Dependent"]["properties"].is_object());
    }
}
