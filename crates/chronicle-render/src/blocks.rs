//! Blocks of memory as text.

use std::fmt::Write;

use chronicle_core::{block::Author, counted};
use chronicle_memory::blocks::{BlockHistory, BlockList, FoundLines, ListedBlock, ShownBlock};

use super::{View, words, words::one_line};

pub(super) fn list(list: &BlockList, view: &View) -> String {
    let mut out = String::from("# Blocks\n\n");
    for block in &list.blocks {
        let description = match block.description.is_empty() {
            true => String::new(),
            false => format!(": {}", one_line(&block.description)),
        };
        let _ = writeln!(out, "- {}{description} ({})", one_line(&block.label), facts(block, view));
    }
    out
}

/// How full it is, and who changed it last.
fn facts(block: &ListedBlock, view: &View) -> String {
    let mut facts = vec![format!("{} of {} characters", block.characters, block.limit)];
    if block.is_rendering {
        facts.push("rendered when it is shown".to_owned());
    }
    if let (Some(version), Some(author)) = (block.version, &block.author) {
        let ago = words::ago(block.updated.as_deref(), view.now).map(|ago| format!(" {ago}"));
        facts.push(format!("version {version} by {}{}", one_line(author), ago.unwrap_or_default()));
    }
    facts.join(", ")
}

pub(super) fn shown(block: &ShownBlock, view: &View) -> String {
    let mut out = format!("# {}\n", one_line(&block.listed.label));
    if !block.listed.description.is_empty() {
        let _ = writeln!(out, "> {}", one_line(&block.listed.description));
    }
    let _ = writeln!(out, "> {}", facts(&block.listed, view));
    if !block.lines.is_empty() {
        out.push('\n');
    }
    for line in &block.lines {
        let text = chronicle_core::plain(&line.text);
        let evidence: Vec<String> = line
            .evidence
            .iter()
            .take(if view.verbose { usize::MAX } else { 0 })
            .map(|session| one_line(chronicle_memory::sessions::short_session(session)))
            .collect();
        let shown_by =
            if evidence.is_empty() { String::new() } else { format!(" ({})", evidence.join(", ")) };
        let yours = if view.verbose && line.by == Author::User { " (yours)" } else { "" };
        let _ = writeln!(out, "{}{yours}{shown_by}", text.trim_end());
    }
    if !block.dismissed.is_empty() && view.verbose {
        let subjects: Vec<String> = block.dismissed.iter().map(|key| one_line(key)).collect();
        let _ = writeln!(out, "\n> removed by you, and left out since: {}", subjects.join(", "));
    }
    out
}

pub(super) fn history(history: &BlockHistory) -> String {
    let mut out = format!("# Versions of {}\n", one_line(&history.label));
    for version in history.versions.iter().rev() {
        let _ = writeln!(
            out,
            "\n## {} ({}, {}, {}): {}",
            version.version,
            version.at.get(..16).unwrap_or(&version.at).replace('T', " "),
            one_line(&version.author),
            counted(version.characters, "character"),
            one_line(&version.reason)
        );
        for (mark, lines) in [('-', &version.removed), ('+', &version.added)] {
            for line in lines {
                let _ = writeln!(out, "{mark} {}", one_line(line));
            }
        }
    }
    if history.versions.is_empty() {
        out.push_str("\nno versions yet\n");
    }
    out
}

pub(super) fn found(found: &FoundLines) -> String {
    let mut out = String::new();
    for line in &found.lines {
        let versions = match line.is_there {
            true => format!("since version {}", line.first),
            false => format!("gone since version {}", line.last + 1),
        };
        let _ = writeln!(out, "- {} ({}, {versions})", one_line(&line.text), one_line(&line.label));
    }
    out
}
