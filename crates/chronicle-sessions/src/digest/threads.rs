//! The unfinished work of a session, and what it says of earlier work.
//!
//! Items of the agent's own lists are exact. What rules find in words is added
//! beside them, and what is alike is one thread.

use chronicle_core::thread::{
    Change, Evidence, Gist, How, Opening, Origin, Resolution, Status, Thread, ThreadEvent, ThreadId,
    ThreadKind, is_alike, priority,
};
use jiff::Timestamp;

use crate::digest::endings::endings;
use crate::digest::finished::{Finished, finished};
use crate::digest::implied::implied;
use crate::journal::Journal;
use crate::rows::session::Session;
use crate::turn::TodoState;
use crate::words::imperative;

/// The longest summary of a thread.
const LONGEST_SUMMARY: usize = 140;

/// A thread as one session tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// How it comes up.
    pub opening: Opening,
    /// When it came up.
    pub at: Option<Timestamp>,
    /// How far it is at the end of the session.
    pub status: Status,
    /// How it was closed, if it was.
    pub resolution: Option<Resolution>,
    /// When its state changed last.
    pub changed: Option<Timestamp>,
}

/// The threads that the session of `journal` opened, closed ones included, in the order in which they came up.
#[must_use]
pub fn threads(journal: &Journal, session: &Session, project: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for item in journal.todos().items() {
        found.push(of_item(item, session, project));
    }
    for ending in endings(journal) {
        let is_same = |other: &Found| {
            let (known, new) = (&other.opening.summary, &ending.summary);
            is_alike(known, new) || is_put_off_again(known, new) || is_put_off_again(new, known)
        };
        let is_told = |other: &Found| other.status != Status::Abandoned && is_same(other);
        if found.iter().any(is_told) {
            continue;
        }
        let evidence = ending.evidence(journal.session.as_deref());
        let priority = priority(ending.kind, &evidence.words, ending.is_broken, false);
        let opening = Opening {
            project: project.to_owned(),
            branch: session.branch.clone(),
            kind: ending.kind,
            origin: ending.origin,
            summary: ending.summary,
            context: ending.context,
            priority,
            evidence: vec![evidence],
        };
        let at = ending.noted.at;
        found.push(Found { opening, at, status: Status::Pending, resolution: None, changed: at });
    }
    found
}

/// Whether `later` only puts off what `work` says is to be done.
fn is_put_off_again(later: &str, work: &str) -> bool {
    const DOING: [&str; 7] = ["Add ", "Write ", "Implement ", "Do ", "Handle ", "Finish ", "Finish: "];
    let Some(matter) = later.strip_prefix("Come back to ") else { return false };
    let work = DOING.iter().find_map(|verb| work.strip_prefix(verb)).unwrap_or(work);
    is_alike(matter, work)
}

fn of_item(item: &crate::journal::todos::Item, session: &Session, project: &str) -> Found {
    let summary = imperative(&item.text, LONGEST_SUMMARY);
    let opening = Opening {
        project: project.to_owned(),
        branch: session.branch.clone(),
        kind: ThreadKind::Incomplete,
        origin: Origin::Todo,
        priority: priority(ThreadKind::Incomplete, &item.text, false, true),
        summary,
        context: item.detail.clone(),
        evidence: vec![item.opened_by.clone()],
    };
    let resolution =
        |how| Some(Resolution { how, note: None, at: item.changed, evidence: vec![item.changed_by.clone()] });
    let (status, resolution) = match item.state {
        TodoState::Pending => (Status::Pending, None),
        TodoState::InProgress => (Status::InProgress, None),
        TodoState::Completed => (Status::Resolved, resolution(How::Completed)),
        TodoState::Deleted => (Status::Abandoned, resolution(How::WontDo)),
    };
    Found { opening, at: item.created, status, resolution, changed: item.changed }
}

/// What a session does to the threads of its project.
///
/// `known` are the threads that the project has. What the session says about
/// one of them happens to that one; everything else opens a thread. The events
/// are the same each time: a caller that keeps each once may read a session as
/// often as it likes.
#[must_use]
pub fn events(journal: &Journal, session: &Session, project: &str, known: &[Thread]) -> Vec<ThreadEvent> {
    let gists: Vec<Gist> = known.iter().map(|thread| Gist::of(&thread.summary)).collect();
    let known: Vec<_> = known.iter().zip(&gists).collect();
    events_among(journal, session, project, &known)
}

/// The same, where it is known already what the threads are about.
pub(crate) fn events_among(
    journal: &Journal,
    session: &Session,
    project: &str,
    known: &[(&Thread, &Gist)],
) -> Vec<ThreadEvent> {
    let mut events = Vec::new();
    let mut met = Vec::new();
    let known: Vec<(&Thread, &Gist)> =
        known.iter().filter(|(thread, _)| thread.project == project).copied().collect();
    let of_project = OfProject { project, threads: &known };
    for found in threads(journal, session, project) {
        let thread = of_project.meant(&found.opening.summary);
        met.push(thread.clone());
        tell(found, &thread, journal, &mut events);
    }
    for implied in implied(journal) {
        let summary = imperative(&implied.item.text, LONGEST_SUMMARY);
        let thread = of_project.meant(&summary);
        let evidence = Evidence {
            session: journal.session.clone(),
            source: implied.item.changed_by.source.clone(),
            words: implied.words,
        };
        let at = implied.item.changed;
        let resolution = Resolution { how: How::Completed, note: None, at, evidence: vec![evidence] };
        let change = Change::Proposed(resolution);
        events.push(ThreadEvent { thread, session: journal.session.clone(), at, change });
    }
    let open: Vec<&Thread> =
        known.iter().map(|(thread, _)| *thread).filter(|thread| thread.is_open()).collect();
    for finished in finished(journal, session.branch.as_deref(), &open) {
        events.push(finished.event(journal));
        met.push(finished.thread);
    }
    events.extend(went_on(journal, session, &open, &met));
    events
}

/// The threads of a project, with what they are about.
struct OfProject<'t> {
    project: &'t str,
    threads: &'t [(&'t Thread, &'t Gist)],
}

impl OfProject<'_> {
    /// The thread that a summary means: one that is known, or the one that it names.
    fn meant(&self, summary: &str) -> ThreadId {
        let id = ThreadId::derived(self.project, summary);
        let gist = Gist::of(summary);
        let same = self.threads.iter().find(|(thread, about)| thread.id == id || about.is_alike(&gist));
        same.map_or(id, |(thread, _)| thread.id.clone())
    }
}

fn tell(found: Found, thread: &ThreadId, journal: &Journal, events: &mut Vec<ThreadEvent>) {
    let mut push = |at, change| {
        events.push(ThreadEvent { thread: thread.clone(), session: journal.session.clone(), at, change });
    };
    push(found.at, Change::Opened(found.opening));
    // Who read the session before this change may have seen it closed.
    let is_open_again =
        found.changed != found.at && !matches!(found.status, Status::Resolved | Status::Abandoned);
    if is_open_again {
        push(found.changed, Change::Reopened);
    }
    match (found.status, found.resolution) {
        (Status::InProgress, _) => push(found.changed, Change::Begun),
        (Status::Pending, _) if is_open_again => push(found.changed, Change::PutBack),
        (Status::Resolved, Some(resolution)) => push(found.changed, Change::Resolved(resolution)),
        (Status::Abandoned, Some(resolution)) => push(found.changed, Change::Dropped(resolution)),
        _ => {}
    }
}

/// A session that went on leaves what its earlier end had left open.
///
/// Requests, questions and failing checks are open because nothing came after
/// them. When the same session is read again, longer, and does not end so any
/// more, they are done.
fn went_on(journal: &Journal, session: &Session, open: &[&Thread], met: &[ThreadId]) -> Vec<ThreadEvent> {
    let Some(id) = &journal.session else { return Vec::new() };
    let was_its_end = |thread: &&&Thread| {
        thread.session.as_ref() == Some(id)
            && matches!(thread.origin, Origin::Request | Origin::Question | Origin::Check | Origin::Plan)
            && !met.contains(&thread.id)
    };
    let close = |thread: &Thread| {
        let words = "the session went on and does not end with it any more".to_owned();
        let evidence = vec![Evidence { session: Some(id.clone()), source: "end".to_owned(), words }];
        let resolution = Resolution { how: How::Completed, note: None, at: session.last, evidence };
        let change = Change::Resolved(resolution);
        ThreadEvent { thread: thread.id.clone(), session: Some(id.clone()), at: session.last, change }
    };
    open.iter().filter(was_its_end).map(|thread| close(thread)).collect()
}

impl Finished {
    fn event(&self, journal: &Journal) -> ThreadEvent {
        let evidence = Evidence {
            session: journal.session.clone(),
            source: self.source.clone(),
            words: self.words.clone(),
        };
        let resolution = Resolution { how: self.how, note: None, at: self.at, evidence: vec![evidence] };
        let change = match (self.is_certain, self.how) {
            (false, _) => Change::Proposed(resolution),
            (true, How::WontDo) => Change::Dropped(resolution),
            (true, How::Completed | How::Deferred) => Change::Resolved(resolution),
        };
        ThreadEvent { thread: self.thread.clone(), session: journal.session.clone(), at: self.at, change }
    }
}
