//! The derived index: records of all files at one HEAD, kept so that a read touches no object.
//!
//! One table for each state of the repository (HEAD and the notes refs) under
//! `chronicle/index` of the common git directory. A table is written aside and renamed into place,
//! then never changed, so readers need no lock and a crash leaves nothing half. Whatever is missing,
//! damaged, of another version or of another user is as if it were not there: the answer is then
//! made without the index, and the table is made anew. DESIGN section 4.

mod build;
mod drift;
mod stored;
mod table;

use std::path::{Path, PathBuf};

use chronicle_core::{EntryId, LineRange};
use chronicle_git::{BStr, BString, Glance, ObjectId, Repository};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use twox_hash::{XxHash3_64, XxHash3_128};

pub use build::refresh;

use crate::{
    error::Result,
    index::{drift::Drift, table::Table},
    present::is_opaque,
    record::FileRecord,
};

/// Tables that are kept: worktrees and branches that take turns each have their own.
const MAX_TABLES: usize = 16;

/// What a table is made from: another HEAD or other notes make another state.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    common_dir: PathBuf,
    head: ObjectId,
    name: String,
}

impl State {
    fn new(common_dir: &Path, head: ObjectId, notes: &[(BString, ObjectId)]) -> Self {
        let mut key = head.as_slice().to_vec();
        for (name, id) in notes {
            key.extend_from_slice(name);
            key.push(0);
            key.extend_from_slice(id.as_slice());
        }
        // Where a shallow clone ends belongs to its history.
        key.extend(std::fs::read(common_dir.join("shallow")).unwrap_or_default());
        let name = format!("{:032x}", XxHash3_128::oneshot(&key));
        Self { common_dir: common_dir.to_owned(), head, name }
    }

    fn of(repository: &Repository) -> Result<Option<Self>> {
        let Some(head) = repository.head()? else { return Ok(None) };
        let notes = repository.annotation_tips()?;
        Ok(Some(Self::new(repository.common_dir(), head, &notes)))
    }

    fn directory(&self) -> PathBuf {
        self.common_dir.join("chronicle").join("index")
    }

    fn table(&self) -> PathBuf {
        self.directory().join(format!("{}.idx", self.name))
    }
}

/// What a table says about all files together.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Meta {
    /// Seconds since the epoch at which HEAD was committed.
    head_time: i64,
    /// Whether anything was ever annotated.
    has_any: bool,
    /// Claims that a visible claim supersedes, with that claim.
    superseded: Vec<(String, String)>,
    /// The repository's knowledge as a document, if there is any.
    knowledge: Option<String>,
    warnings: Vec<String>,
}

/// A directory's entry in a table: its name, and whether it is a directory itself.
type Listing = Vec<(Vec<u8>, bool)>;

const META: &[u8] = b"M";

fn key(kind: u8, path: &BStr) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + path.len());
    key.push(kind);
    key.extend_from_slice(path);
    key
}

fn record_key(path: &BStr) -> Vec<u8> {
    key(b'P', path)
}

fn words_key(path: &BStr) -> Vec<u8> {
    key(b'L', path)
}

fn listing_key(directory: &BStr) -> Vec<u8> {
    key(b'D', directory)
}

/// The hash by which a file is known to be as it was at HEAD.
fn content_hash(content: &[u8]) -> u64 {
    XxHash3_64::oneshot(content)
}

/// The index of the repository's present state.
pub struct Index {
    table: Table,
    meta: Meta,
}

impl Index {
    /// The index of the state that `glance` saw, if there is one.
    #[must_use]
    pub fn open(glance: &Glance) -> Option<Self> {
        let state = State::new(&glance.common_dir, glance.head, &glance.notes);
        let table = Table::open(&state.table())?;
        let meta = postcard::from_bytes(&table.get(META)?).ok()?;
        Some(Self { table, meta })
    }

    pub(crate) fn has_any(&self) -> bool {
        self.meta.has_any
    }

    pub(crate) fn head_time(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.meta.head_time).ok()
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.meta.warnings
    }

    pub(crate) fn superseded(&self) -> impl Iterator<Item = (EntryId, EntryId)> {
        self.meta.superseded.iter().map(|(old, new)| (EntryId(old.clone()), EntryId(new.clone())))
    }

    pub(crate) fn knowledge(&self) -> Option<&str> {
        self.meta.knowledge.as_deref()
    }

    /// The files under the directory `path` at HEAD; `None` when it is no directory there.
    #[must_use]
    pub fn files_under(&self, path: &BStr) -> Option<Vec<BString>> {
        let mut files = Vec::new();
        let mut pending = vec![path.to_owned()];
        while let Some(directory) = pending.pop() {
            let key = listing_key(directory.as_ref());
            let listing: Listing = postcard::from_bytes(&self.table.get(&key)?).ok()?;
            for (name, is_directory) in listing {
                let mut path = directory.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(&name);
                if is_directory { pending.push(path) } else { files.push(path) }
            }
        }
        files.sort_unstable();
        Some(files)
    }

    /// Whether HEAD has the file `path`.
    #[must_use]
    pub fn has_file(&self, path: &BStr) -> bool {
        self.table.get(&record_key(path)).is_some()
    }

    /// What is known about `path`, whose bytes are now `content`, as far as it concerns `lines`.
    ///
    /// `None` when HEAD has no such file, or when it takes more than the index to say.
    pub(crate) fn record(
        &self,
        repository: &chronicle_git::LazyRepository,
        path: &BStr,
        content: Option<&[u8]>,
        lines: Option<LineRange>,
    ) -> Option<FileRecord> {
        let stored = stored::parse(&self.table.get(&record_key(path))?)?;
        let name = path.to_string();
        if stored.claims.is_empty() {
            return stored.load(&self.table, &name, |_| true);
        }
        let mut drift = match (content, stored.content) {
            (Some(content), Some(hash)) if content_hash(content) == hash => None,
            (None, None) => None,
            (Some(content), Some(_)) if is_opaque(content) == stored.is_opaque => {
                let words = self.table.get(&words_key(path))?;
                Some(Drift::new(repository, path, &words, content, stored.is_opaque)?)
            }
            _ => return None,
        };
        let mut is_known = true;
        let record = stored.load(&self.table, &name, |placement| {
            if let Some(drift) = &mut drift {
                is_known &= drift.carry(placement).is_some();
            }
            placement.concerns(lines)
        })?;
        is_known.then_some(record)
    }
}
