//! Who relies on some code, as text.

use std::fmt::Write;

use chronicle::Deps;
use chronicle_core::{
    Age,
    dependent::{Dependent, Strength},
    plain,
};

use super::{View, correct, markdown::named, words};

pub(super) fn markdown(deps: &Deps, view: &View) -> String {
    let mut out = String::new();
    if deps.dependents.is_empty() {
        return out;
    }
    let _ = writeln!(out, "## {}", named(&deps.file, deps.anchor.as_deref()));
    for strength in [Strength::Declared, Strength::Group, Strength::Mention] {
        let is_there = |dependent: &&Dependent| dependent.strength == strength && !dependent.from_is_deleted;
        let mut of_strength = deps.dependents.iter().filter(is_there).peekable();
        if of_strength.peek().is_some() {
            let _ = writeln!(out, "**{}:**", title(strength));
        }
        for dependent in of_strength {
            item(&mut out, dependent, view);
        }
    }
    let mut deleted = deps.dependents.iter().filter(|dependent| dependent.from_is_deleted).peekable();
    if deleted.peek().is_some() {
        out.push_str("**In files that were deleted:**\n");
    }
    deleted.for_each(|dependent| item(&mut out, dependent, view));
    out
}

fn title(strength: Strength) -> &'static str {
    match strength {
        Strength::Declared => "Declared to rely on it",
        Strength::Group => "Must change together with it",
        Strength::Mention => "Name it (weaker)",
    }
}

/// One dependent, as a list item.
pub(super) fn item(out: &mut String, dependent: &Dependent, view: &View) {
    words::said_as(out, dependent.tier, |out| {
        out.push_str("- ");
        write(out, dependent, view);
        out.push('\n');
    });
}

/// One dependent, as the content of a list item.
fn write(out: &mut String, dependent: &Dependent, view: &View) {
    let _ = match &dependent.from_file {
        Some(file) => write!(out, "`{}`", named(file, dependent.from_anchor.as_deref())),
        None => write!(out, "the commit"),
    };
    if dependent.from_is_deleted {
        out.push_str(" (deleted)");
    }
    if let Some(anchor) = &dependent.on_anchor {
        let _ = write!(out, " on {}", words::path(anchor));
    }
    if !plain(&dependent.nature).trim().is_empty() {
        out.push_str(": ");
        words::write_indented(out, &dependent.nature, "  ");
    }
    let age = Age::between(dependent.at, view.now);
    let _ = write!(out, " ({:.2}, {}, {age}", dependent.confidence, words::short(&dependent.commit));
    if let Some(said_by) = dependent.said_by() {
        let _ = write!(out, ", {said_by}");
    }
    if let Some(place) = &dependent.elsewhere {
        let _ = write!(out, ", on {}", words::path(place));
    }
    if let Some(id) = &dependent.superseded_by {
        let _ = write!(out, ", superseded by {}", words::id(id));
    }
    out.push(')');
    for correction in &dependent.corrections {
        let _ = write!(out, "\n{}  - {}", correct::quote(correction), correct::words(correction, view));
    }
}
