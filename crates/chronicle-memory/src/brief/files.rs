//! The files of a briefing: those that were edited most.

use chronicle_search::NamedSession;
use chronicle_sessions::DigestOfSession;
use schemars::JsonSchema;
use serde::Serialize;

/// Files that are listed.
const MOST_FILES: usize = 5;

/// A file that the last sessions edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EditedFile {
    /// The file, from the folder of its session.
    pub path: String,
    /// How often the last sessions changed it, together.
    pub n_changes: usize,
    /// The session that changed it last.
    pub session: String,
}

/// The files that sessions edited most; `sessions` come the nearest first, and each counts half as much as the one before.
pub(super) fn most_edited(sessions: &[&(NamedSession, DigestOfSession)]) -> Vec<EditedFile> {
    let mut found: Vec<(f64, EditedFile)> = Vec::new();
    let mut counts = 1.0;
    for (session, digest) in sessions {
        for file in &digest.files {
            let known = found.iter().position(|(_, known)| known.path == file.path);
            let at = known.unwrap_or_else(|| {
                let (path, session) = (file.path.clone(), session.record.name.clone());
                found.push((0.0, EditedFile { path, n_changes: 0, session }));
                found.len() - 1
            });
            found[at].0 += counts * file.n_changes as f64;
            found[at].1.n_changes += file.n_changes;
        }
        counts /= 2.0;
    }
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().map(|(_, file)| file).take(MOST_FILES).collect()
}
