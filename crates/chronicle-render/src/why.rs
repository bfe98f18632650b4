//! Why lines are as they are, as text.

use std::fmt::Write;

use chronicle::{Certainty, ChangedItem, ItemChanges, Origin, Why, Wrote};
use chronicle_core::{
    Age, LineRange,
    correction::Tier,
    counted,
    reading::{Query, Reading},
};
use chronicle_memory::sessions::short_session;

use super::{Code, View, markdown, pretty, words};

pub(super) fn markdown(why: &Why, view: &View) -> String {
    let mut out = written(why, view);
    let known = markdown::reading(&known(why), view);
    if !known.is_empty() {
        out.push('\n');
        out.push_str(&known);
    }
    out
}

/// For people: what is known of the lines comes first, with the code; then who wrote them.
pub(super) fn pretty(why: &Why, view: &View, code: Code<'_>) -> String {
    let mut out = pretty::reading(&known(why), view, code);
    markdown::gap(&mut out);
    out.push_str(&pretty::painted(&written(why, view), view));
    out
}

/// What is known of the lines.
fn known(why: &Why) -> Reading {
    let mut reading = Reading::empty(Query::default());
    reading.regions.clone_from(&why.regions);
    reading.wisdom.clone_from(&why.wisdom);
    reading
}

/// Who wrote the lines: commits and sessions.
fn written(why: &Why, view: &View) -> String {
    let mut out = String::new();
    let _ = write!(out, "# {} {}", words::path(&why.file), lines(&[why.lines]));
    if let Some(anchor) = &why.anchor {
        let _ = write!(out, " — {}", words::path(anchor));
    }
    if let Some(text) = why.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        let _ = write!(out, ": `{}`", words::path(text));
    }
    out.push('\n');
    for wrote in &why.commits {
        commit(&mut out, wrote, why, view);
    }
    for origin in &why.sessions {
        session(&mut out, origin, why, view);
    }
    if !why.uncommitted.is_empty() {
        let _ = writeln!(out, "**Not committed yet:** {}", lines(&why.uncommitted));
    }
    if let Some(item) = &why.item {
        changes(&mut out, item, why, view);
    }
    out
}

fn commit(out: &mut String, wrote: &Wrote, why: &Why, view: &View) {
    let at = chronicle_core::parse_time(&wrote.date);
    let age = at.map(|at| format!(", {} ago", Age::between(at, view.now))).unwrap_or_default();
    let _ = write!(
        out,
        "**Written by:** {} {} ({}{age})",
        words::short(&wrote.commit),
        words::path(&wrote.subject),
        words::path(&wrote.author),
    );
    if wrote.lines != [why.lines] {
        let _ = write!(out, ", {}", lines(&wrote.lines));
    }
    if wrote.file_then != why.file {
        let _ = write!(out, ", then line {} of {}", wrote.line_then, words::path(&wrote.file_then));
    }
    if wrote.or_before {
        out.push_str(", or before: the history of this shallow clone ends there");
    }
    out.push('\n');
    if !wrote.body.trim().is_empty() {
        words::said_as(out, Tier::Unknown, |out| out.push_str(&words::indented(&wrote.body, "")));
    }
}

/// The commits that changed the item that holds the lines, but for those that wrote the lines.
fn changes(out: &mut String, item: &ItemChanges, why: &Why, view: &View) {
    let is_told = |changed: &&ChangedItem| why.commits.iter().any(|wrote| wrote.commit == changed.commit);
    let others: Vec<&ChangedItem> = item.commits.iter().filter(|changed| !is_told(changed)).collect();
    if others.is_empty() {
        return;
    }
    let _ = writeln!(out, "**Also changed {} ({}):**", words::anchor(&item.anchor), lines(&[item.lines]));
    for changed in others {
        let mut about = vec![words::path(&changed.author)];
        let at = chronicle_core::parse_time(&changed.date);
        about.extend(at.map(|at| format!("{} ago", Age::between(at, view.now))));
        about.extend(changed.n_lessons.map(|n_lessons| match n_lessons {
            0 => "annotated".to_owned(),
            _ => counted(n_lessons, "lesson"),
        }));
        let (commit, subject) = (words::short(&changed.commit), words::path(&changed.subject));
        let _ = writeln!(out, "- {commit} {subject} ({})", about.join(", "));
    }
    if item.has_more {
        out.push_str("- and older ones\n");
    }
}

fn session(out: &mut String, origin: &Origin, why: &Why, view: &View) {
    let label = match origin.certainty {
        Certainty::Certain => "In session",
        Certainty::Likely => "Probably in session",
    };
    let title = words::one_line(&origin.title);
    let short = words::one_line(short_session(&origin.session));
    let _ = write!(out, "**{label}:** {short}");
    if !title.is_empty() {
        let _ = write!(out, " \u{201c}{title}\u{201d}");
    }
    let mut about = vec![words::one_line(&origin.agent)];
    about.extend(words::ago(origin.at.as_deref(), view.now));
    about.extend(origin.sub_agent.as_deref().map(|name| format!("sub-agent {}", words::one_line(name))));
    about.extend(origin.transcript_line.map(|line| format!("line {line} of the transcript")));
    let _ = write!(out, " ({})", about.join(", "));
    if origin.lines != [why.lines] {
        let _ = write!(out, ", {}", lines(&origin.lines));
    }
    let _ = writeln!(out, ": {}", origin.evidence);
    if let Some(request) = &origin.request {
        let _ = writeln!(out, "> asked: {}", words::one_line(request));
    }
    for said in &origin.reasoning {
        let _ = writeln!(out, "> said: {}", words::one_line(said));
    }
}

/// `line 3`, or `lines 3-5, 9-9`.
fn lines(ranges: &[LineRange]) -> String {
    match ranges {
        [only] if only.len() == 1 => format!("line {}", only.start),
        several => {
            let ranges: Vec<_> = several.iter().map(|range| one(*range)).collect();
            format!("lines {}", ranges.join(", "))
        }
    }
}

fn one(range: LineRange) -> String {
    if range.len() == 1 { range.start.to_string() } else { format!("{}-{}", range.start, range.end) }
}
