//! What machines share, as text.

use std::fmt::Write;

use chronicle_core::counted;
use chronicle_memory::{
    sessions::short_session,
    share::{FoundShared, SharePulled, SharePushed, ShareStatus, SharedFinding},
};

use super::{View, find::marked, markdown::gap, words};

/// How much of what goes out is named.
const MOST_NAMED: usize = 20;

pub(super) fn status(status: &ShareStatus, view: &View) -> String {
    let Some(url) = &status.url else {
        return "nothing is shared: `git chronicle memory share init FOLDER|s3://BUCKET/PREFIX`\n".to_owned();
    };
    let mut out = String::new();
    let one_line = |text: &Option<String>| words::one_line(text.as_deref().unwrap_or_default());
    let _ = writeln!(out, "# Shared at {}\n", words::one_line(url));
    let _ = writeln!(out, "- from here: as {} on {}", one_line(&status.author), one_line(&status.machine));
    for rule in &status.projects {
        let kinds: Vec<String> = rule.kinds.iter().map(|kind| format!("{kind}s")).collect();
        let _ = writeln!(out, "- rule: {} of {}", kinds.join(" and "), words::one_line(&rule.project));
    }
    for (what, names) in [("marked", &status.marked), ("held back", &status.held_back)] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| words::one_line(name)).collect();
            let _ = writeln!(out, "- {what}: {}", names.join(", "));
        }
    }
    let pushed = words::ago(status.pushed_at.as_deref(), view.now).unwrap_or_else(|| "never".to_owned());
    let _ = writeln!(
        out,
        "- may go out: {}, {}; pushed {pushed}",
        counted(status.digests, "digest"),
        counted(status.lessons, "lesson")
    );
    let pulled = words::ago(status.pulled_at.as_deref(), view.now).unwrap_or_else(|| "never".to_owned());
    let _ = writeln!(out, "- copy on this machine: {}; pulled {pulled}", counted(status.in_copy, "item"));
    if status.projects.is_empty() && status.marked.is_empty() {
        out.push_str("- nothing goes out yet: `git chronicle memory share add --project`, or `add ID`\n");
    }
    out
}

pub(super) fn pushed(pushed: &SharePushed) -> String {
    let mut out = String::new();
    let would = if pushed.dry_run { "would be " } else { "" };
    for item in pushed.sent.iter().take(MOST_NAMED) {
        let name = match item.kind.as_str() {
            "digest" => short_session(&item.name),
            _ => &item.name,
        };
        let _ = writeln!(
            out,
            "- {would}sent: {} {} {} ({})",
            item.kind,
            words::one_line(name),
            words::one_line(&item.title),
            words::one_line(&item.project)
        );
    }
    if MOST_NAMED < pushed.sent.len() {
        let _ = writeln!(out, "- and {} more", pushed.sent.len() - MOST_NAMED);
    }
    let _ = writeln!(
        out,
        "{would}sent {}, taken back {}; {} unchanged at {}",
        pushed.sent.len(),
        pushed.taken_back,
        pushed.unchanged,
        words::one_line(&pushed.url)
    );
    if 0 < pushed.unknown {
        let _ = writeln!(
            out,
            "{} of this machine are still there that it has no record of (`memory share remove ID` removes one)",
            counted(pushed.unknown, "item")
        );
    }
    if 0 < pushed.redacted {
        let _ = writeln!(out, "{} replaced on the way", counted(pushed.redacted, "secret"));
    }
    out
}

pub(super) fn pulled(pulled: &SharePulled) -> String {
    format!(
        "{} received from {}, {} gone; {} in the copy on this machine\n",
        pulled.taken,
        words::one_line(&pulled.url),
        pulled.gone,
        pulled.in_copy
    )
}

pub(super) fn found(finding: &SharedFinding, view: &View, is_marked: bool) -> String {
    let mut out = String::new();
    for hit in &finding.hits {
        gap(&mut out);
        one(&mut out, hit, view, is_marked);
    }
    out
}

fn one(out: &mut String, hit: &FoundShared, view: &View, is_marked: bool) {
    let mut facts: Vec<String> = words::ago(hit.at.as_deref(), view.now).into_iter().collect();
    let told = [&hit.project, &hit.about].into_iter().filter(|text| !text.is_empty());
    facts.extend(told.map(|text| words::one_line(text)));
    let machine = words::one_line(&hit.machine);
    facts.push(match (words::one_line(&hit.author), machine.is_empty()) {
        (author, true) if author.is_empty() => "from here".to_owned(),
        (author, true) => format!("{author}, from here"),
        (author, false) if author.is_empty() => machine,
        (author, false) => format!("{author} on {machine}"),
    });
    let name = if hit.kind == "digest" { short_session(&hit.name) } else { &hit.name };
    let heading = if hit.kind == "digest" { words::one_line(&hit.title) } else { String::new() };
    let heading = [hit.kind.as_str(), name, &heading].map(words::one_line).join(" ");
    let _ = writeln!(out, "## {} ({})", heading.trim_end(), facts.join(", "));
    let text = if is_marked { marked(&hit.snippet) } else { hit.snippet.text.clone() };
    let _ = writeln!(out, "- {text}");
    if let Some(commit) = &hit.commit {
        let _ = writeln!(out, "- commit {}", words::short(commit));
    }
    if !hit.files.is_empty() {
        let files: Vec<String> = hit.files.iter().take(5).map(|file| words::path(file)).collect();
        let more = hit.files.len().saturating_sub(5);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let _ = writeln!(out, "- files: {}{more}", files.join(", "));
    }
}
