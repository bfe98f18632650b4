//! What waits for commits that are still to be made, as text.

use std::fmt::Write;

use chronicle::AuthorContext;
use chronicle_core::{Age, parse_time};

use super::{View, words};

pub(super) fn markdown(contexts: &[AuthorContext], view: &View) -> String {
    let mut out = String::new();
    for context in contexts {
        let on = context
            .head
            .as_deref()
            .map_or("the first commit".to_owned(), |head| format!("the commit after {}", words::short(head)));
        let age =
            parse_time(&context.timestamp).map(|at| format!(", said {} ago", Age::between(at, view.now)));
        let _ = writeln!(out, "For {on}{}:", age.unwrap_or_default());
        let tags = context.tags.join(", ");
        let sources = context.squash_sources.join(", ");
        for (label, text) in [
            ("task", context.task.as_deref()),
            ("reasoning", context.reasoning.as_deref()),
            ("dependencies", context.dependencies.as_deref()),
            ("tags", Some(tags.as_str())),
            ("unites", Some(sources.as_str())),
        ] {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                let _ = writeln!(out, "- {label}: {}", words::indented(text, "  "));
            }
        }
    }
    out
}
