//! The newest word on each code unit, as text.

use std::fmt::Write;

use chronicle::{Summary, UnitSummary};
use chronicle_core::{Age, correction::Tier};

use super::{View, markdown::gap, words};

pub(super) fn markdown(summary: &Summary, view: &View) -> String {
    let mut out = String::new();
    for file in &summary.files {
        gap(&mut out);
        let name = if file.file.is_empty() { "The commits".to_owned() } else { words::path(&file.file) };
        let _ = writeln!(out, "## {name}");
        for item in &file.units {
            unit(&mut out, item, file.file.is_empty(), view);
        }
        match (file.n_gone, file.units.is_empty()) {
            (0, _) => {}
            (_, true) => out.push_str("- All its lessons are about code that is gone; `read` shows them\n"),
            (n_gone, false) => {
                let _ = writeln!(out, "- {n_gone} more of code that is gone in `read`");
            }
        }
    }
    out
}

fn unit(out: &mut String, unit: &UnitSummary, is_of_commit: bool, view: &View) {
    let name = match (&unit.anchor, unit.lines) {
        (Some(anchor), Some(lines)) => {
            format!("{} (lines {}-{})", words::anchor(anchor), lines.start, lines.end)
        }
        (Some(anchor), None) => words::anchor(anchor),
        (None, Some(lines)) => format!("Lines {}-{}", lines.start, lines.end),
        (None, None) if is_of_commit => "Several files".to_owned(),
        (None, None) => "Whole file".to_owned(),
    };
    let age = Age::between(unit.at, view.now);
    let by = unit.said_by.as_ref().map(|by| format!(", {by}")).unwrap_or_default();
    // What the user or the team says comes first.
    let whose = |number: usize, n_trusted: usize| if number < n_trusted { Tier::Own } else { Tier::Unknown };
    let mut head = String::new();
    let _ = write!(head, "- {name} [{}, {age}, {:.2}{by}]", words::short(&unit.commit), unit.confidence);
    if let Some(intent) = &unit.intent {
        let _ = write!(head, ": {}", words::indented(intent, "  "));
    }
    words::said_as(out, whose(0, usize::from(unit.tier != Tier::Unknown)), |out| {
        let _ = writeln!(out, "{head}");
    });
    for kind in unit.kinds() {
        for (number, text) in kind.texts.iter().enumerate() {
            words::said_as(out, whose(number, kind.n_trusted), |out| {
                let _ = writeln!(out, "  - {}: {}", kind.label, words::indented(text, "    "));
            });
        }
    }
    if 0 < unit.n_more {
        let _ = writeln!(out, "  - {} more in `read`", unit.n_more);
    }
}
