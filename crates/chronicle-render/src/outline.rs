//! Outlines as text.

use std::fmt::Write;

use super::words;
use chronicle::OutlineAnswer;

pub(super) fn markdown(answer: &OutlineAnswer) -> String {
    let mut out = String::new();
    if answer.items.is_empty() {
        return out;
    }
    let commit = answer.commit.as_deref().map(|commit| format!(" at {}", words::short(commit)));
    let _ = writeln!(out, "## {}{}", words::path(&answer.file), commit.unwrap_or_default());
    for item in &answer.items {
        let name = words::path(&item.name);
        let _ = write!(out, "- {} {name} (lines {}-{})", item.kind, item.lines.start, item.lines.end);
        let signature = words::path(&item.signature);
        if !signature.is_empty() && signature != name {
            let _ = write!(out, ": `{signature}`");
        }
        out.push('\n');
    }
    out
}
