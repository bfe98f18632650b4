//! Titles: what a session may be called, and those that a human rejected, which it does not get however often it is read
//! again.

use std::collections::BTreeSet;

use chronicle_core::thread::key;
use chronicle_search::{Connection, Feedback, SessionRecord, SqlResult, Transaction, fingerprint};

use crate::{digest::DigestOfSession, words::shortened};

pub(crate) mod candidates;

pub use crate::words::LONGEST_TITLE;

/// What a human said of titles of sessions.
pub struct TitleVerdict;

impl TitleVerdict {
    /// What is kept of a title that was judged: whose it is, and which.
    #[must_use]
    pub fn subject(session: &str, title: &str) -> String {
        format!("{session} {}", &fingerprint(key(title).as_bytes())[..12])
    }

    /// The session whose title was judged.
    #[must_use]
    pub fn session(subject: &str) -> &str {
        subject.rsplit_once(' ').map_or(subject, |(session, _)| session)
    }

    /// The titles of a session that were rejected, and not taken back.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn rejected(connection: &Connection, session: &str) -> SqlResult<BTreeSet<String>> {
        let mut rejected = BTreeSet::new();
        for said in Feedback::all(connection, Some("title"))? {
            if Self::session(&said.subject) == session {
                if said.is_right {
                    rejected.remove(&said.subject)
                } else {
                    rejected.insert(said.subject)
                };
            }
        }
        Ok(rejected)
    }

    /// Stores the record of a session, and tells those apart that began later and had its title. So it does not matter
    /// which of them was read first.
    ///
    /// # Errors
    /// When what was said, or what others are called, cannot be read, or it cannot be written.
    pub fn put(tx: &Transaction<'_>, record: SessionRecord) -> SqlResult<()> {
        const MOST_TOLD_APART: usize = 16;
        let mut next = Some(record);
        for _ in 0..MOST_TOLD_APART {
            let Some(record) = next.take() else { break };
            let record = Self::applied_to(tx, record)?;
            record.put(tx)?;
            if !record.title.is_empty() && !record.is_sub_agent {
                next = record.later_namesake(tx)?.map(|later| later.record);
            }
        }
        Ok(())
    }

    /// The record of a session with the first title that was not rejected; with its day where no other is left. A title
    /// that another session of the project has says what makes the difference.
    ///
    /// # Errors
    /// When what was said, or what others are called, cannot be read.
    pub fn applied_to(tx: &Transaction<'_>, mut record: SessionRecord) -> SqlResult<SessionRecord> {
        let rejected = Self::rejected(tx, &record.name)?;
        let is_rejected = |title: &str| rejected.contains(&Self::subject(&record.name, title));
        let is_shared =
            !record.is_sub_agent && !record.title.is_empty() && record.shares(tx, &record.title)?;
        if !is_shared && (rejected.is_empty() || !is_rejected(&record.title)) {
            return Ok(record);
        }
        let Ok(mut digest) = serde_json::from_str::<DigestOfSession>(&record.digest) else {
            return Ok(record);
        };
        let day = record.last.map(|last| last.strftime("%Y-%m-%d").to_string());
        let dated = || Some(format!("Session of {}", day.as_ref()?));
        let first = if is_rejected(&record.title) { None } else { Some(record.title.clone()) };
        let Some(title) = first.or_else(|| digest.title_without(is_rejected)).or_else(dated) else {
            return Ok(record);
        };
        let mut told = title.clone();
        if record.shares(tx, &title)? {
            let file = digest.files.first().and_then(|file| file.path.rsplit(['/', '\\']).next());
            let id = record.name.split(['-', '/']).next();
            for mark in [file, day.as_deref(), id].into_iter().flatten().chain(Some(&*record.name)) {
                told = marked(&title, mark);
                if !is_rejected(&told) && !record.shares(tx, &told)? {
                    break;
                }
            }
        }
        digest.title.clone_from(&told);
        record.digest = serde_json::to_value(&digest).unwrap_or_default().to_string();
        record.title = told;
        Ok(record)
    }
}

/// A title with what makes the difference to another session.
fn marked(title: &str, mark: &str) -> String {
    let mark = shortened(mark, LONGEST_TITLE / 2);
    let room = LONGEST_TITLE.saturating_sub(mark.chars().count() + 3);
    format!("{} ({mark})", shortened(title, room))
}

impl DigestOfSession {
    /// The first title that is not rejected, of those that rules know.
    #[must_use]
    pub fn title_without(&self, is_rejected: impl Fn(&str) -> bool) -> Option<String> {
        let commits = self.commits.iter().map(|commit| shortened(&commit.subject, LONGEST_TITLE));
        let changes =
            self.files.first().map(|file| shortened(&format!("Change {}", file.path), LONGEST_TITLE));
        let known = self
            .titles
            .iter()
            .cloned()
            .chain(commits)
            .chain(self.key_actions.iter().map(|action| shortened(action, LONGEST_TITLE)));
        known.chain(changes).find(|title| !title.is_empty() && !is_rejected(title))
    }
}
