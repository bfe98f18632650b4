//! Whether session memory is in order.

use std::{fs, path::Path};

use chronicle_core::{counted, counted_are, plain};
use chronicle_search::Source;
use chronicle_workplace::{Error, Finding};

use super::{kept::is_there, queue::waiting};
use crate::{Memory, memory::OpenMemory};

/// What was looked at, as findings name it.
const SESSIONS: &str = "sessions";

impl Memory<'_> {
    /// Whether the store is whole and private, and whether transcripts wait to be taken in.
    pub fn memory_health(&self, fix: bool) -> Vec<Finding> {
        let mut memory = match self.open() {
            Ok(Some(memory)) => memory,
            Ok(None) => return vec![Finding::ok(SESSIONS, "no sessions are remembered yet")],
            Err(Error::NoHome) => {
                return vec![Finding::note(
                    SESSIONS,
                    Error::NoHome.to_string(),
                    "set HOME or CHRONICLE_HOME",
                )];
            }
            Err(error) => return vec![Finding::problem(SESSIONS, error.to_string(), ANEW)],
        };
        let mut findings = Vec::new();
        match memory.store.damages() {
            Ok(damages) if damages.is_empty() => {}
            Ok(damages) => {
                let seen = format!("`{}` is damaged: {}", memory.store.path().display(), damages.join("; "));
                findings.push(Finding::problem(SESSIONS, seen, ANEW));
            }
            Err(error) => findings.push(Finding::problem(SESSIONS, error.to_string(), ANEW)),
        }
        if findings.is_empty() {
            findings.extend(index_health(&mut memory, fix));
        }
        let home = memory.store.path().parent().unwrap_or(memory.store.path());
        findings.extend(others_can_read(memory.store.path(), fix));
        let waiting = waiting(home);
        if 0 < waiting.n_transcripts {
            let seen = format!("{} waiting to be read", counted_are(waiting.n_transcripts, "transcript"));
            findings.push(Finding::note(SESSIONS, seen, "`git chronicle session ingest --queued`"));
        }
        if let Some(first) = waiting.unusable.first() {
            let entry = first.to_string_lossy();
            let entry = plain(&entry);
            let n_more = waiting.unusable.len() - 1;
            let more = if n_more == 0 { String::new() } else { format!(" (and {n_more} more)") };
            let seen = format!("`{entry}`{more} isn't a transcript, so nothing will be read");
            findings.push(Finding::note(SESSIONS, seen, "remove it; a sweep finds every transcript anyway"));
        }
        findings.extend(unknown_files(&memory));
        if findings.is_empty() {
            let seen = match memory.store.totals() {
                Ok(totals) => format!(
                    "{} of {} remembered, {} open",
                    counted(totals.sessions, "session"),
                    counted_are(totals.projects, "project"),
                    counted_are(totals.open_threads, "thread")
                ),
                Err(error) => error.to_string(),
            };
            findings.push(Finding::ok(SESSIONS, seen));
        }
        findings
    }
}

/// The files that were looked at and are in no form that is known, as long as they are there.
fn unknown_files(memory: &OpenMemory) -> Option<Finding> {
    let mut paths = memory.store.read(Source::unknown).unwrap_or_default();
    paths.retain(|path| is_there(Path::new(path)));
    let first = paths.first()?;
    let n_more = paths.len() - 1;
    let more = if n_more == 0 { String::new() } else { format!(" (and {n_more} more)") };
    let seen = format!("`{}`{more} has a form that isn't known, so it isn't read", plain(first));
    Some(Finding::note(SESSIONS, seen, "a newer version may read it; docs/transcripts.md lists what is read"))
}

/// Whether the search index has the turns that there are.
fn index_health(memory: &mut OpenMemory, fix: bool) -> Option<Finding> {
    let sessions = match memory.store.misindexed() {
        Ok(sessions) if sessions.is_empty() => return None,
        Ok(sessions) => sessions,
        Err(error) => return Some(Finding::problem(SESSIONS, error.to_string(), ANEW)),
    };
    let seen =
        format!("the search index differs from what is stored of {}", counted(sessions.len(), "session"));
    let finding = Finding::problem(SESSIONS, seen, "`git chronicle doctor --fix` indexes them again");
    Some(finding.mendable(fix, || Ok(memory.store.reindex(&sessions)?)))
}

/// How to mend a store that cannot be used.
const ANEW: &str =
    "move it away, then `git chronicle session ingest --sweep` makes it again from the transcripts";

#[cfg(unix)]
fn others_can_read(store: &Path, fix: bool) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(store).ok()?.permissions().mode();
    if mode & 0o077 == 0 {
        return None;
    }
    let seen = format!("others can read `{}`", store.display());
    let mend = || {
        fs::set_permissions(store, fs::Permissions::from_mode(0o600))
            .map_err(|source| Error::WriteOutput { path: store.to_owned(), source })
    };
    let mended = Finding::problem(SESSIONS, seen, format!("`chmod 600 '{}'`", store.display()));
    Some(mended.mendable(fix, mend))
}

#[cfg(not(unix))]
fn others_can_read(_store: &Path, _fix: bool) -> Option<Finding> {
    None
}
