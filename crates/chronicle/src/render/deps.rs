//! Who relies on some code, as text.

use std::fmt::Write;

use chronicle_core::{
    Age,
    dependent::{Dependent, Strength},
    plain,
};

use super::{View, correct, markdown::named, words};
use crate::Deps;

pub(super) fn markdown(deps: &Deps, view: &View) -> String {
    let mut out = String::new();
    if deps.dependents.is_empty() {
        return out;
    }
    let _ = writeln!(out, "## {}", named(&deps.file, deps.anchor.as_deref()));
    for strength in [Strength::Declared, Strength::Group, Strength::Mention] {
        let mut of_strength =
            deps.dependents.iter().filter(|dependent| dependent.strength == strength).peekable();
        if of_strength.peek().is_some() {
            let _ = writeln!(out, "**{}:**", title(strength));
        }
        for dependent in of_strength {
            let _ = writeln!(out, "- {}", words(dependent, view));
        }
    }
    out
}

fn title(strength: Strength) -> &'static str {
    match strength {
        Strength::Declared => "Declared to rely on it",
        Strength::Group => "Must change together with it",
        Strength::Mention => "Name it (weaker)",
    }
}

/// One dependent, as the content of a list item.
pub(super) fn words(dependent: &Dependent, view: &View) -> String {
    let from = match &dependent.from_file {
        Some(file) => format!("`{}`", named(file, dependent.from_anchor.as_deref())),
        None => "the commit".to_owned(),
    };
    let on = dependent.on_anchor.as_deref().map(|anchor| format!(" on {}", words::path(anchor)));
    let age = Age::between(dependent.at, view.now);
    let elsewhere = dependent
        .elsewhere
        .as_deref()
        .map(|place| format!(", on {}", words::path(place)))
        .unwrap_or_default();
    let over = dependent.superseded_by.as_ref();
    let over = over.map(|id| format!(", superseded by {}", plain(&id.0))).unwrap_or_default();
    let nature = words::indented(&dependent.nature, "  ");
    let mut text = format!(
        "{from}{}{}{nature} ({:.2}, {}, {age}{elsewhere}{over})",
        on.unwrap_or_default(),
        if nature.is_empty() { "" } else { ": " },
        dependent.confidence,
        words::short(&dependent.commit),
    );
    for correction in &dependent.corrections {
        text.push_str("\n  - ");
        text.push_str(&correct::words(correction, view));
    }
    text
}
