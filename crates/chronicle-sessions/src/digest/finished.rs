//! What shows that earlier work is done.
//!
//! A human who says so closes it, and so does a check that passes again. A commit
//! that names it, with a check that passed afterwards, only proposes to.

use std::collections::BTreeSet;

use chronicle_core::thread::{How, Origin, Thread, ThreadId, key, likeness};
use jiff::Timestamp;

use crate::commands::checks::check_kind;
use crate::digest::account::deeds;
use crate::digest::endings::{checked, get_to_pass};
use crate::journal::{Check, Journal};
use crate::words::{sentences, shortened};

/// How alike a commit and a thread have to be.
const NAMED: f64 = 0.5;

/// How many deeds of an account are compared with threads.
const MOST_DEEDS: usize = 12;

/// A thread that is done, or looks so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finished {
    pub(crate) thread: ThreadId,
    pub(crate) how: How,
    pub(crate) is_certain: bool,
    pub(crate) source: String,
    pub(crate) words: String,
    pub(crate) at: Option<Timestamp>,
}

/// Those of the `open` threads that the session finished.
pub(crate) fn finished(journal: &Journal, branch: Option<&str>, open: &[&Thread]) -> Vec<Finished> {
    let mut found: Vec<Finished> = said(journal, open);
    for finished in passed(journal, branch, open) {
        if !found.iter().any(|other| other.thread == finished.thread) {
            found.push(finished);
        }
    }
    for finished in committed(journal, open).into_iter().chain(accounted(journal, open)) {
        if !found.iter().any(|other| other.thread == finished.thread) {
            found.push(finished);
        }
    }
    found
}

/// Checks that failed in an earlier session and passed at the end of this one.
///
/// The very command that failed closes the thread. Another check of its kind may leave out what
/// failed, and on another branch the code is another one, so those only propose to.
fn passed(journal: &Journal, branch: Option<&str>, open: &[&Thread]) -> Vec<Finished> {
    let mut found = Vec::new();
    for thread in open.iter().filter(|thread| thread.origin == Origin::Check) {
        let Some(command) = checked(&thread.summary) else { continue };
        let is_same = |check: &&Check| get_to_pass(&check.command) == thread.summary;
        let is_like = |check: &&Check| check_kind(command) == Some(check.kind);
        let later = || journal.checks.iter().rev().filter(|check| thread.last_mentioned < check.noted.at);
        let Some(check) = later().find(is_same).or_else(|| later().find(is_like)) else { continue };
        if check.is_passed == Some(true) {
            found.push(Finished {
                thread: thread.id.clone(),
                how: How::Completed,
                is_certain: is_same(&check)
                    && (thread.branch.is_none() || thread.branch.as_deref() == branch),
                source: check.noted.source.clone(),
                words: format!("`{}` passed", shortened(&check.command, 200)),
                at: check.noted.at,
            });
        }
    }
    found
}

/// What a human said is done, where it can mean one thread only.
fn said(journal: &Journal, open: &[&Thread]) -> Vec<Finished> {
    let mut found = Vec::new();
    for prompt in journal.prompts.iter().filter(|prompt| prompt.words.len() < 1_200) {
        for sentence in prompt.words.lines().flat_map(sentences) {
            let Some((what, how)) = done(sentence) else { continue };
            let meant: Vec<&&Thread> = open
                .iter()
                .filter(|thread| thread.created <= prompt.at && is_about(&what, &thread.summary))
                .collect();
            if let [thread] = meant.as_slice() {
                found.push(Finished {
                    thread: thread.id.clone(),
                    how,
                    is_certain: true,
                    source: prompt.source.clone(),
                    words: shortened(sentence, 300),
                    at: prompt.at,
                });
            }
        }
    }
    found
}

/// What a sentence says is over, and how.
fn done(sentence: &str) -> Option<(String, How)> {
    const BEFORE: [(&str, How); 8] = [
        ("done with ", How::Completed),
        ("finished with ", How::Completed),
        ("i finished ", How::Completed),
        ("i've finished ", How::Completed),
        ("i fixed ", How::Completed),
        ("already did ", How::Completed),
        ("forget about ", How::WontDo),
        ("we won't do ", How::WontDo),
    ];
    const AFTER: [(&str, How); 9] = [
        (" is done", How::Completed),
        (" are done", How::Completed),
        (" is finished", How::Completed),
        (" is fixed", How::Completed),
        (" are fixed", How::Completed),
        (" is merged", How::Completed),
        (" is postponed", How::Deferred),
        (" can wait", How::Deferred),
        (" is not needed anymore", How::WontDo),
    ];
    let lower = sentence.to_lowercase();
    let is_doubtful = lower.ends_with('?')
        || [" if ", " not ", "n't ", " when ", " once "].iter().any(|word| lower.contains(word));
    let sentence = lower.trim_end_matches(['.', '!', ' ']);
    let before =
        BEFORE.iter().find_map(|(mark, how)| Some((&sentence[sentence.find(mark)? + mark.len()..], *how)));
    let after = || AFTER.iter().find_map(|(mark, how)| Some((sentence.strip_suffix(mark)?, *how)));
    let (what, how) = before.or_else(after)?;
    (!is_doubtful || how == How::WontDo).then(|| (what.to_owned(), how))
}

/// Whether every word that matters in `what` is in the summary.
fn is_about(what: &str, summary: &str) -> bool {
    let key_of_what = key(what);
    let key_of_summary = key(summary);
    let wanted: BTreeSet<&str> = key_of_what.split(' ').filter(|word| !word.is_empty()).collect();
    let there: BTreeSet<&str> = key_of_summary.split(' ').collect();
    !wanted.is_empty() && wanted.is_subset(&there)
}

/// Threads that the agent's account says are done, when files were changed and every check after that passed.
fn accounted(journal: &Journal, open: &[&Thread]) -> Vec<Finished> {
    let last_edit = Journal::number(journal.last_edit.as_ref());
    let Some(said) = journal.last_said.as_ref().filter(|_| last_edit != 0 && journal.passed_after(last_edit))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for deed in deeds(journal, MOST_DEEDS) {
        let is_meant =
            |thread: &&&Thread| thread.created < said.at && NAMED <= likeness(&deed, &thread.summary);
        found.extend(open.iter().filter(is_meant).map(|thread| Finished {
            thread: thread.id.clone(),
            how: How::Completed,
            is_certain: false,
            source: said.source.clone(),
            words: deed.clone(),
            at: said.at,
        }));
    }
    found
}

/// Threads that a commit names, when a check passed after it or right before.
fn committed(journal: &Journal, open: &[&Thread]) -> Vec<Finished> {
    let mut found = Vec::new();
    for (commit, noted) in &journal.commits {
        let is_checked = journal.checks.iter().any(|check| check.is_passed == Some(true))
            && !journal
                .checks
                .iter()
                .any(|check| check.is_passed == Some(false) && noted.number < check.noted.number);
        let subject = commit.subject.split_once(": ").map_or(commit.subject.as_str(), |(_, subject)| subject);
        for thread in open {
            if is_checked && thread.created <= noted.at && NAMED <= likeness(subject, &thread.summary) {
                found.push(Finished {
                    thread: thread.id.clone(),
                    how: How::Completed,
                    is_certain: false,
                    source: commit.id.clone(),
                    words: format!("committed {}: {}", commit.id, shortened(&commit.subject, 200)),
                    at: noted.at,
                });
            }
        }
    }
    found
}
