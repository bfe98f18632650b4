//! What came from other machines, and what was taken out here.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::thread::ThreadEvent;
use rusqlite::{Connection, Transaction, params};
use twox_hash::XxHash3_128;

use super::{
    ids::SessionId,
    learned::Feedback,
    sessions::NamedSession,
    threads::{forget_events, json},
};

/// Items that machines exchange, each known by a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    /// The machine that an item came from, and the version that it had.
    pub by_item: BTreeMap<String, (String, String)>,
}

impl Synced {
    /// All that came from other machines.
    pub fn all(connection: &Connection) -> rusqlite::Result<Self> {
        let by_item = connection
            .prepare_cached("SELECT item, machine, version FROM synced ORDER BY machine, item")?
            .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Self { by_item })
    }

    /// Remembers that an item came from a machine.
    pub fn put(tx: &Transaction<'_>, machine: &str, item: &str, version: &str) -> rusqlite::Result<()> {
        tx.prepare_cached("INSERT OR REPLACE INTO synced (machine, item, version) VALUES (?1, ?2, ?3)")?
            .execute([machine, item, version])
            .map(drop)
    }

    /// Forgets that an item came from anywhere: it is gone, or this machine has its own.
    pub fn remove(tx: &Transaction<'_>, item: &str) -> rusqlite::Result<()> {
        tx.prepare_cached("DELETE FROM synced WHERE item = ?1")?.execute([item]).map(drop)
    }

    /// What was here at the last sync.
    pub fn known(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
        set(connection, "sync_known")
    }

    /// What was taken out here.
    pub fn gone(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
        set(connection, "sync_gone")
    }

    /// Says what is here now, and what was taken out.
    pub fn note(
        tx: &Transaction<'_>,
        known: &BTreeSet<String>,
        gone: &BTreeSet<String>,
    ) -> rusqlite::Result<()> {
        for (table, items) in [("sync_known", known), ("sync_gone", gone)] {
            tx.execute(&format!("DELETE FROM {table}"), [])?;
            let mut insert = tx.prepare_cached(&format!("INSERT INTO {table} (item) VALUES (?1)"))?;
            items.iter().try_for_each(|item| insert.execute([item]).map(drop))?;
        }
        Ok(())
    }
}

fn set(connection: &Connection, table: &str) -> rusqlite::Result<BTreeSet<String>> {
    connection.prepare(&format!("SELECT item FROM {table}"))?.query_map([], |row| row.get(0))?.collect()
}

impl NamedSession {
    /// The agents and names of all sessions that are not to come back.
    pub fn all_forgotten(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
        connection
            .prepare("SELECT agent, name FROM forgotten ORDER BY agent, name")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    }
}

/// All events of threads, with the agent of the session that each is of, and the key of the thread's project.
pub fn all_events(
    connection: &Connection,
) -> rusqlite::Result<Vec<(Option<String>, ThreadEvent, super::ids::ProjectId)>> {
    connection
        .prepare(
            "SELECT agent, event, thread.project FROM thread_event JOIN thread ON thread.id = thread_event.thread \
             LEFT JOIN session ON session.id = thread_event.session ORDER BY thread_event.at, thread_event.id",
        )?
        .query_map([], |row| {
            let event: String = row.get(1)?;
            Ok((row.get(0)?, json(&event)?, super::ids::ProjectId(row.get(2)?)))
        })?
        .collect()
}

/// Takes an event back that another machine told of and tells no longer.
pub fn remove_event(tx: &Transaction<'_>, event: &ThreadEvent) -> rusqlite::Result<()> {
    let text = serde_json::to_string(event)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let claim = XxHash3_128::oneshot(text.as_bytes()).to_be_bytes();
    tx.execute("DELETE FROM thread_event WHERE claim = ?1", params![claim])?;
    forget_events(tx, &event.thread.0)
}

impl Feedback {
    /// Takes a judgement back.
    pub fn remove(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.execute(
            "DELETE FROM feedback WHERE what = ?1 AND subject = ?2 AND at = ?3",
            params![self.what, self.subject, self.at.as_millisecond()],
        )
        .map(drop)
    }
}

/// Whether turns of a session were read here, beside the one that stands for its digest.
pub fn has_own_turns(connection: &Connection, session: SessionId, digest_key: i64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM turn WHERE session = ?1 AND key <> ?2")?
        .exists(params![session.0, digest_key])
}
