//! The tools that a model may call, as it is told of them.

use chronicle_llm::Tool;
use serde_json::{Value, json};

/// Kinds of code units that an annotation may name.
pub(crate) const UNITS: [&str; 9] =
    ["function", "method", "struct", "class", "impl", "module", "const", "type", "config"];

/// All tools; that for the session only where one is known.
pub(crate) fn tools(has_session: bool) -> Vec<Tool> {
    let mut tools = vec![
        tool(
            "get_diff",
            "Returns the unified diff that this conversation is about, organized by file with line numbers; of a long \
             one a summary by file.",
            &json!({}),
            &[],
        ),
        tool(
            "get_diff_for_file",
            "Returns the diff of one file of the commit with line numbers.",
            &json!({"path": path(), "from_line": {"type": "integer", "description": "Show changes from this line on. Default: 1."}}),
            &["path"],
        ),
        tool(
            "get_file_content",
            "Returns the content of a file at the commit being annotated, with line numbers.",
            &json!({"path": path()}),
            &["path"],
        ),
        tool(
            "get_ast_outline",
            "Returns the structural outline of a file: functions, types, methods, impl blocks with names, signatures, \
             and line ranges.",
            &json!({"path": path()}),
            &["path"],
        ),
        tool(
            "get_surrounding_context",
            "Returns lines around a specific point in a file. Useful for understanding the neighborhood of a change \
             without reading the entire file.",
            &json!({
                "path": path(),
                "line": {"type": "integer", "description": "Center line number."},
                "radius": {"type": "integer", "description": "Number of lines above and below to include. Default: 20."},
            }),
            &["path", "line"],
        ),
        tool(
            "get_commit_info",
            "Returns the commit message, author, timestamp, parents, files, and any context provided by the author (task, \
             reasoning, dependencies, tags).",
            &json!({}),
            &[],
        ),
        tool(
            "get_recent_annotations",
            "Returns annotations of the most recent N commits that touched the given file. Use this to discover existing \
             annotations and create related_annotations links.",
            &json!({
                "file": {"type": "string", "description": "Relative file path."},
                "n": {"type": "integer", "description": "Maximum number of recent annotations to return. Default: 5."},
            }),
            &["file"],
        ),
    ];
    if has_session {
        tools.push(tool(
            "get_session_excerpt",
            "Returns what was asked, tried, said and failed in the agent session that made the commit, turn by turn.",
            &json!({
                "file": {"type": "string", "description": "Only turns that name this file."},
                "from_turn": {"type": "integer", "description": "Only turns from this number on. Default: 1."},
            }),
            &[],
        ));
    }
    tools.extend([
        Tool {
            name: "emit_annotation".to_owned(),
            description: "Emit a structured annotation for one semantic code unit. Call this for each function, type, or \
                          code region affected by the commit that warrants annotation. Skip trivial changes."
                .to_owned(),
            input: annotation(),
        },
        Tool {
            name: "emit_wisdom".to_owned(),
            description: "Emit one lesson: what failed, what bites, why it is so, what is left to do.".to_owned(),
            input: wisdom(),
        },
        Tool {
            name: "emit_cross_cutting".to_owned(),
            description: "Emit a cross-cutting concern that spans multiple code regions. These are groups of code that \
                          must be updated together."
                .to_owned(),
            input: cross_cutting(),
        },
    ]);
    tools
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Tool {
    let input = json!({"type": "object", "properties": properties, "required": required});
    Tool { name: name.to_owned(), description: description.to_owned(), input }
}

fn path() -> Value {
    json!({"type": "string", "description": "Relative file path from repository root."})
}

fn lines() -> Value {
    json!({
        "type": "object",
        "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}},
        "required": ["start", "end"],
    })
}

fn source() -> Value {
    json!({"type": "string", "enum": ["author", "inferred"]})
}

fn list(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "array", "items": {"type": "object", "properties": properties, "required": required}})
}

fn dependencies() -> Value {
    let text = json!({"type": "string"});
    list(&json!({"file": text, "anchor": text, "nature": text}), &["file", "anchor", "nature"])
}

fn related() -> Value {
    let text = json!({"type": "string"});
    list(
        &json!({"commit": text, "anchor": text, "relationship": text}),
        &["commit", "anchor", "relationship"],
    )
}

fn annotation() -> Value {
    json!({
        "type": "object",
        "properties": {
            "file": {"type": "string"},
            "ast_anchor": {
                "type": "object",
                "properties": {
                    "type": {"type": "string", "enum": UNITS},
                    "name": {"type": "string"},
                    "signature": {"type": "string"},
                },
                "required": ["type", "name"],
            },
            "lines": lines(),
            "intent": {"type": "string"},
            "reasoning": {"type": "string"},
            "constraints": list(&json!({"text": {"type": "string"}, "source": source()}), &["text", "source"]),
            "semantic_dependencies": dependencies(),
            "related_annotations": related(),
            "tags": {"type": "array", "items": {"type": "string"}},
            "risk_notes": {"type": "string"},
        },
        "required": ["file", "ast_anchor", "lines", "intent"],
    })
}

fn wisdom() -> Value {
    json!({
        "type": "object",
        "properties": {
            "category": {"type": "string", "enum": ["dead_end", "gotcha", "insight", "unfinished_thread"]},
            "content": {"type": "string", "description": "The lesson, in one to three sentences."},
            "file": {"type": "string", "description": "The file it is about; leave it out for the commit as a whole."},
            "lines": lines(),
            "anchor": {"type": "string", "description": "The item of code it is about, such as Pool::acquire."},
            "source": source(),
            "turn": {"type": "integer", "description": "The turn of the session that shows it."},
            "quote": {"type": "string", "description": "Words of that turn, exactly as they are."},
            "semantic_dependencies": dependencies(),
            "related_annotations": related(),
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["category", "content"],
    })
}

fn cross_cutting() -> Value {
    json!({
        "type": "object",
        "properties": {
            "description": {"type": "string"},
            "regions": {"type": "array", "items": {"type": "string"}, "description": "Places as file:anchor."},
            "nature": {"type": "string"},
        },
        "required": ["description", "regions", "nature"],
    })
}

#[cfg(test)]
mod tests {
    use chronicle_core::tokens;

    use super::*;

    #[test]
    fn all_tools_are_told_within_what_is_set_aside_for_them() {
        let told: u64 = tools(true)
            .iter()
            .map(|tool| tokens::at_most(&format!("{}{}{}", tool.name, tool.description, tool.input)))
            .sum();
        assert!(told < 5_000, "{told}");
        assert_eq!((tools(true).len(), tools(false).len()), (11, 10));
    }
}
