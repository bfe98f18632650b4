//! The store of session memory, and search in it: floor 2.
//!
//! One `SQLite` file holds the sessions, what was said in them, the events of
//! threads and the search index, so that a session and what follows from it are
//! written together or not at all. Nothing here prints, looks up the clock, the
//! environment or the home directory.

mod claude_mem;
mod cursor;
mod document;
mod error;
mod goose;
mod index;
mod opencode;
mod search;
mod store;
mod zed;

pub use claude_mem::{ClaudeMem, ClaudeMemItem, ClaudeMemKind, ClaudeMemSession};
pub use cursor::CursorSessions;
pub use document::SessionDocument;
pub use error::StoreError;
pub use goose::GooseSessions;
pub use opencode::OpenCodeSessions;
pub use rusqlite::{Connection, Error as SqlError, Result as SqlResult, Transaction};
pub use search::{Beginnings, Hit, Question, Scope, search};
pub use store::{
    BlockVersion, Elsewhere, Feedback, Job, KeptTranscript, KnownThread, KnownThreads, Learned, ListedThread,
    NamedSession, OpenThreads, OwnBlock, Pieces, Project, ProjectId, SessionId, SessionRecord, SessionState,
    Source, Store, StoredCheckpoint, StoredEdit, StoredHandoff, StoredTurn, StoredWording, Synced, Totals,
    TurnKind, TurnRecord, Unembedded, Used, Vector, Written, add_events, all_events, events_with_agents,
    forget_events, has_own_turns, remove_event, tell_once, thread_ids, threads,
};
pub use zed::{ZedSessions, ZedThread};

/// A number that stands for a name, and hardly for another.
#[must_use]
pub fn key(name: &str) -> i64 {
    twox_hash::XxHash3_64::oneshot(name.as_bytes()).cast_signed()
}

/// The terms of a text, as the index has them: forms of a word are one, and words that say nothing are none.
#[must_use]
pub fn terms(text: &str) -> Vec<u64> {
    let mut terms = Vec::new();
    index::words::Words::default().each(text, &mut |term| terms.push(term));
    terms
}

/// A short name for some bytes, that other bytes hardly have.
#[must_use]
pub fn fingerprint(bytes: &[u8]) -> String {
    format!("{:032x}", twox_hash::XxHash3_128::oneshot(bytes))
}
