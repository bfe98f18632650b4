//! Titles: what a session may be called, and those that a human rejected, which it does not get however often it is read
//! again.

use std::collections::BTreeSet;

use chronicle_core::thread::key;
use chronicle_search::{Connection, Feedback, SessionRecord, SqlResult, Transaction, fingerprint};

use crate::{
    digest::{DigestOfSession, LONGEST_TITLE},
    words::shortened,
};

mod candidates;

pub(crate) use candidates::candidates;

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

    /// The record of a session with the first title that was not rejected; with its day where no other is left.
    ///
    /// # Errors
    /// When what was said cannot be read.
    pub fn applied_to(tx: &Transaction<'_>, mut record: SessionRecord) -> SqlResult<SessionRecord> {
        let rejected = Self::rejected(tx, &record.name)?;
        let is_rejected = |title: &str| rejected.contains(&Self::subject(&record.name, title));
        if rejected.is_empty() || !is_rejected(&record.title) {
            return Ok(record);
        }
        let Ok(mut digest) = serde_json::from_str::<DigestOfSession>(&record.digest) else {
            return Ok(record);
        };
        let dated = || Some(format!("Session of {}", record.last?.strftime("%Y-%m-%d")));
        if let Some(title) = digest.title_without(is_rejected).or_else(dated) {
            digest.title.clone_from(&title);
            record.digest = serde_json::to_value(&digest).unwrap_or_default().to_string();
            record.title = title;
        }
        Ok(record)
    }
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
