//! Sessions with their results, open work, and what agents were shown.

use chronicle_core::counted;
use chronicle_memory::{
    injected::{InjectedItem, InjectedText},
    sessions::{ShownSession, short_session},
    threads::OpenItem,
};
use maud::{Markup, html};

use crate::{Material, material::Remembered, words};

/// The newest sessions, which are unfolded.
const UNFOLDED: usize = 5;
/// What is listed of one kind in a session.
const MOST_EACH: usize = 12;
const LONGEST: usize = 1_200;

/// The sessions, the latest first.
pub(super) fn sessions(memory: &Remembered, material: &Material) -> Markup {
    if memory.sessions.is_empty() {
        return html! {};
    }
    let n_more = memory.all.len().saturating_sub(memory.sessions.len());
    html! {
        section id="sessions" aria-labelledby="sessions-title" {
            h2 id="sessions-title" { "Sessions" }
            ol class="timeline" {
                @for (at, session) in memory.sessions.iter().enumerate() {
                    li { (session_of(session, at < UNFOLDED, material)) }
                }
            }
            @if 0 < n_more { p class="dim" { (counted(n_more, "older session")) " not shown" } }
        }
    }
}

fn session_of(session: &ShownSession, is_open: bool, material: &Material) -> Markup {
    let listed = &session.listed;
    let mut about = vec![words::line(&listed.agent, 40)];
    about.extend(listed.branch.as_deref().map(|branch| words::line(branch, 80)));
    about.extend(words::moment(listed.ended.as_deref()).map(|at| words::ago(at, material.now)));
    about.push(counted(listed.prompts, "prompt"));
    about.push(words::line(short_session(&listed.session), 40));
    html! {
        article class="item session" data-kind="session" id=(anchor("session", &listed.session)) {
            details open[is_open] {
                summary {
                    @if let Some(at) = words::moment(listed.ended.as_deref()) { time datetime=(at) { (words::day(at)) } " " }
                    h3 { (words::line(&listed.title, 200)) }
                }
                p class="dim about" { (about.join(" · ")) }
                (results(session))
            }
        }
    }
}

/// What came of a session.
fn results(session: &ShownSession) -> Markup {
    let Some(digest) = &session.digest else {
        return html! { p class="dim" { "It is not summarised yet." } };
    };
    html! {
        @if !digest.summary.trim().is_empty() { p { (words::shown(&digest.summary, LONGEST)) } }
        (list("Done", &digest.key_actions))
        (list("Decided", &digest.decisions))
        @if !digest.commits.is_empty() {
            h4 { "Commits" }
            ul {
                @for commit in digest.commits.iter().take(MOST_EACH) {
                    li { code { (words::commit(&commit.id)) } " " (words::line(&commit.subject, 200)) }
                }
            }
        }
        @if !digest.checks.is_empty() {
            h4 { "Checks" }
            ul {
                @for check in digest.checks.iter().take(MOST_EACH) {
                    li {
                        @match check.is_passed {
                            Some(true) => span class="passed" { "✓ passed" },
                            Some(false) => span class="failed" { "✗ failed" },
                            None => span class="dim" { "? unknown" },
                        }
                        " " code { (words::line(&check.command, 160)) }
                    }
                }
            }
        }
        @if !session.threads.is_empty() {
            h4 { "Threads" }
            ul {
                @for thread in session.threads.iter().take(MOST_EACH) {
                    li { (words::line(&thread.status.replace('_', " "), 40)) ": " (words::line(&thread.summary, 300)) }
                }
            }
        }
        (list("Open questions", &digest.open_questions))
        @if !session.files.is_empty() {
            p class="dim" {
                "Files: "
                @for (at, (file, n_changes)) in session.files.iter().take(MOST_EACH).enumerate() {
                    @if 0 < at { ", " }
                    code { (words::path(file)) } @if 1 < *n_changes { " ×" (n_changes) }
                }
                @if MOST_EACH < session.files.len() { " and " (session.files.len() - MOST_EACH) " more" }
            }
        }
    }
}

fn list(title: &str, texts: &[String]) -> Markup {
    html! {
        @if !texts.is_empty() {
            h4 { (title) }
            ul { @for text in texts.iter().take(MOST_EACH) { li { (words::shown(text, LONGEST)) } } }
        }
    }
}

/// What is open: threads, and lessons that say what is left to do.
pub(super) fn open(memory: &Remembered, material: &Material) -> Markup {
    if memory.open.is_empty() {
        return html! {};
    }
    html! {
        section id="open" aria-labelledby="open-title" {
            h2 id="open-title" { "Open" }
            @for item in &memory.open { (open_item(item, memory, material)) }
            @if 0 < memory.n_more_open { p class="dim" { (memory.n_more_open) " more: " code { "git chronicle pending --limit 1000" } } }
        }
    }
}

fn open_item(item: &OpenItem, memory: &Remembered, material: &Material) -> Markup {
    let mut about = vec![words::word(&item.kind), format!("{} priority", words::word(&item.priority))];
    about.push(words::word(&item.status));
    about.extend(item.branch.as_deref().map(|branch| words::line(branch, 80)));
    about.extend(item.file.as_deref().map(|file| words::path(file).into_owned()));
    about.extend(words::moment(item.last_mentioned.as_deref()).map(|at| words::ago(at, material.now)));
    about.push(words::line(&item.short, 40));
    about.extend(item.said_by().map(|said| words::line(&said, 120)));
    let session = item.session.as_deref();
    // A link leads somewhere.
    let is_shown = |id: &&str| memory.sessions.iter().any(|session| session.listed.session == **id);
    html! {
        article class="item" data-kind="thread" {
            p { span class="words" { (words::shown(&item.summary, LONGEST)) } }
            @if !item.context.trim().is_empty() { p { (words::shown(&item.context, LONGEST)) } }
            @if let Some(doubt) = &item.doubt { p class="doubt" { "Doubted: " (words::line(doubt, 300)) } }
            @for other in item.waits_for.iter().take(5) { p { "Waits for: " (words::line(&other.summary, 200)) } }
            p class="dim about" {
                (about.join(" · "))
                @if let Some(id) = session.filter(is_shown) {
                    " · " a href=(format!("#{}", anchor("session", id))) { "session " (words::line(short_session(id), 40)) }
                }
            }
        }
    }
}

/// What agents were shown, the last first.
pub(super) fn shown(memory: &Remembered, material: &Material) -> Markup {
    if memory.injected.told.is_empty() {
        return html! {};
    }
    let total = &memory.by_week.total;
    html! {
        section id="shown" aria-labelledby="shown-title" {
            h2 id="shown-title" { "Shown to agents" }
            p class="dim" {
                (counted(total.shown, "item")) " in " (counted(total.sessions, "session")) ", about " (total.tokens) " tokens."
                @if 0 < total.known { " Of " (total.known) " that can be judged, " (total.used) " were used." }
            }
            details class="group" open {
                summary { h3 { "Occasions" } " " span class="dim" { "the last " (memory.injected.told.len()) } }
                @for told in &memory.injected.told { (occasion(told, material)) }
                @if 0 < memory.injected.n_more { p class="dim" { (memory.injected.n_more) " older ones not shown" } }
            }
        }
    }
}

fn occasion(told: &InjectedText, material: &Material) -> Markup {
    let mut about = vec![words::line(&told.host, 40), words::line(&told.event.replace('-', " "), 60)];
    about.extend(words::moment(Some(&told.at)).map(|at| words::ago(at, material.now)));
    about.push(format!("session {}", words::line(short_session(&told.session), 40)));
    html! {
        article class="item" data-kind="shown" {
            @if !told.why.trim().is_empty() { p { (words::line(&told.why, 300)) } }
            @if told.items.is_empty() { p { (words::shown(&told.text, 300)) } }
            ul { @for item in told.items.iter().take(40) { li { (told_item(item)) } } }
            p class="dim about" { (about.join(" · ")) }
        }
    }
}

fn told_item(item: &InjectedItem) -> Markup {
    html! {
        @match item.used {
            Some(true) => span class="passed" { "✓ used" },
            Some(false) => span class="dim" { "– not used" },
            None => span class="dim" { "? unknown" },
        }
        " " (words::line(&item.words, 200))
        @if let Some(file) = &item.file { " " code { (words::path(file)) } }
    }
}

/// What names a place within the page: letters, digits and hyphens alone.
fn anchor(kind: &str, id: &str) -> String {
    let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    format!("{kind}-{id}")
}
