//! Unfinished work as text: one line for each thread, whatever its words hold.

use std::fmt::Write;

use chronicle_core::thread::{Origin, Status};
use chronicle_memory::{
    sessions::short_session,
    threads::{Closing, OpenItem, Pending, ShownThread, ThreadReply},
};

use super::{View, words, words::one_line};

pub(super) fn pending(pending: &Pending, view: &View) -> String {
    let mut out = String::new();
    for item in &pending.items {
        open_item(&mut out, item, pending.project.is_none(), view);
    }
    let mut left = Vec::new();
    if 0 < pending.n_more {
        left.push(format!("{} more, --limit shows them", pending.n_more));
    }
    if 0 < pending.n_archived && !pending.items.is_empty() {
        left.push(format!("{} archived, --archived shows them", pending.n_archived));
    }
    if !left.is_empty() {
        let _ = writeln!(out, "\n> {}", left.join("; "));
    }
    out
}

/// One line for the item, and one below it for each thing that it waits for or that speaks for its end.
fn open_item(out: &mut String, item: &OpenItem, with_project: bool, view: &View) {
    words::said_as(out, item.whose(), |out| item_words(out, item, with_project, view));
}

fn item_words(out: &mut String, item: &OpenItem, with_project: bool, view: &View) {
    let _ = writeln!(out, "- {}", line(item, with_project, view));
    for other in &item.waits_for {
        let _ = writeln!(out, "  - waits for {}: {}", other.short, one_line(&other.summary));
    }
    if let Some(proposal) = &item.proposal {
        let short = &item.short;
        let _ = writeln!(
            out,
            "  - proposed: {}, as {}; `git chronicle resolve {short}` confirms it",
            proposal.how.name(),
            shown_by(proposal)
        );
    }
    if let Some(note) = item.resolution.as_ref().and_then(|closing| closing.note.as_ref()) {
        let _ = writeln!(out, "  - {}", one_line(note));
    }
    if let Some(doubt) = &item.doubt {
        let _ = writeln!(out, "  - doubted: {}", one_line(doubt));
    }
}

/// `high (t-k3f2, main, 2 days ago, failed check, session 1a2b3c4d): Get the tests to pass`.
pub(super) fn line(item: &OpenItem, with_project: bool, view: &View) -> String {
    let mut about = vec![one_line(&item.short)];
    if with_project && !item.project.is_empty() {
        about.push(words::path(&item.project));
    }
    about.extend(item.branch.as_deref().map(words::path));
    about.extend(words::ago(item.created.as_deref(), view.now));
    match item.status {
        Status::Pending => {}
        Status::InProgress => about.push("begun".to_owned()),
        Status::Resolved | Status::Abandoned => {
            about.push(item.resolution.as_ref().map_or("closed", |closing| closing.how.name()).to_owned());
        }
    }
    if item.is_archived {
        about.push("archived".to_owned());
    }
    if item.waits() && item.waits_for.is_empty() {
        about.push("waits".to_owned());
    }
    if 1 < item.n_mentions {
        about.push(format!("{} sessions", item.n_mentions));
    }
    about.push(match (item.origin, &item.session) {
        // Anyone who can write to the tracker's file may have written it.
        (Origin::Issue, None) => "imported".to_owned(),
        (of, _) => origin(of).to_owned(),
    });
    if let Some(commit) = &item.commit {
        let by = item.said_by().map(|said_by| format!(" {said_by}"));
        about.push(format!("commit {}{}", words::short(commit), by.unwrap_or_default()));
    }
    about.extend(item.file.as_deref().map(words::path));
    about.extend(item.session.as_deref().map(|name| format!("session {}", one_line(short_session(name)))));
    format!("{} ({}): {}", item.priority.name(), about.join(", "), one_line(&item.summary))
}

pub(super) fn reply(reply: &ThreadReply, view: &View) -> String {
    let mut out = String::new();
    for item in &reply.threads {
        open_item(&mut out, item, false, view);
    }
    out
}

pub(super) fn shown(shown: &ShownThread, view: &View) -> String {
    let item = &shown.thread;
    let mut out = String::new();
    let _ = writeln!(out, "## {}", one_line(&item.summary));
    let _ = writeln!(
        out,
        "**Id:** {} | **Priority:** {} | **Status:** {} | **Kind:** {}",
        one_line(&item.id),
        item.priority.name(),
        item.status.name(),
        item.kind.name()
    );
    let branch = item.branch.as_deref().map(|branch| format!(" | **Branch:** {}", words::path(branch)));
    let _ = writeln!(out, "**Project:** {}{}", words::path(&item.project), branch.unwrap_or_default());
    if !item.context.is_empty() {
        let _ = writeln!(out, "**Context:** {}", one_line(&item.context));
    }
    for other in &item.waits_for {
        let _ = writeln!(out, "- waits for {}: {}", other.short, one_line(&other.summary));
    }
    for other in &item.links {
        let _ = writeln!(out, "- see also {}", one_line(other));
    }
    let _ = writeln!(out, "**History:**");
    for event in &shown.history {
        let mut about: Vec<String> = words::ago(event.time.as_deref(), view.now).into_iter().collect();
        about.extend(
            event.session.as_deref().map(|name| format!("session {}", one_line(short_session(name)))),
        );
        if event.session.is_none() || event.line.is_none() {
            about.extend(Some(one_line(&event.source)).filter(|source| !source.is_empty()));
        }
        let words =
            if event.words.is_empty() { String::new() } else { format!(": {}", one_line(&event.words)) };
        let _ = writeln!(out, "- {} ({}){words}", one_line(&event.what), about.join(", "));
        if let Some(transcript) = &event.transcript {
            let line = event.line.map(|line| format!(":{line}")).unwrap_or_default();
            let _ = writeln!(out, "  - {}{line}", words::path(transcript));
        }
    }
    out
}

/// What shows that a thread is closed.
fn shown_by(closing: &Closing) -> String {
    let shows = closing.evidence.first();
    shows.map(|shows| one_line(&shows.words)).unwrap_or_default()
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Todo => "agent's list",
        Origin::Issue => "filed",
        Origin::Request => "request",
        Origin::Question => "question",
        Origin::Check => "failed check",
        Origin::Plan => "plan",
        Origin::Statement => "said",
        Origin::Model => "by a model",
        Origin::Hand => "by hand",
        Origin::Lesson => "lesson",
    }
}
