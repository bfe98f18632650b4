//! Blocks as files, with their history.

use chronicle_core::block::{Author, BlockLine, BlockText};
use chronicle_search::{BlockVersion, OwnBlock, SqlResult, Transaction};
use chronicle_workplace::Error;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CORE, CoreKind, DEFAULT_LIMIT, LONGEST_LIMIT, ListedBlock, name};
use crate::{Blocks, memory::OpenMemory};

/// The form of such a file.
pub(crate) const BLOCK: &str = "chronicle-block/v1";

/// One block in a file; without history, of an older kind of session memory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockFile {
    #[serde(default)]
    schema: String,
    pub(crate) label: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    updated_at: Option<String>,
    #[serde(default)]
    version: u64,
    #[serde(default)]
    history: Vec<FiledVersion>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FiledVersion {
    at: Timestamp,
    author: Author,
    reason: String,
    #[serde(flatten)]
    text: BlockText,
}

impl Blocks<'_> {
    /// The blocks that have versions, as they are written into files.
    pub(crate) fn block_files(&self, memory: &OpenMemory) -> Result<Vec<BlockFile>, Error> {
        let mut files = Vec::new();
        for listed in self.list()?.blocks.into_iter().filter(|block| !block.is_rendering) {
            let versions = memory.store.read(|connection| BlockVersion::all(connection, &listed.label))?;
            if listed.is_own || !versions.is_empty() {
                files.push(BlockFile::of(listed, versions));
            }
        }
        Ok(files)
    }
}

impl BlockFile {
    fn of(listed: ListedBlock, versions: Vec<BlockVersion>) -> Self {
        let latest = versions.last();
        Self {
            schema: BLOCK.to_owned(),
            value: latest.map(|latest| latest.text.value()).unwrap_or_default(),
            updated_at: latest.map(|latest| latest.at.to_string()),
            version: latest.map_or(0, |latest| latest.number),
            label: listed.label,
            description: listed.description,
            limit: Some(listed.limit),
            history: versions.into_iter().map(FiledVersion::of).collect(),
        }
    }

    /// How many versions it has.
    pub(crate) fn n_versions(&self) -> usize {
        self.history.len()
    }

    /// Takes the block in: versions that are not there yet, at their places in time. What the user wrote on either side
    /// stays, as far as there is room. How many versions are new comes back.
    pub(crate) fn put(&self, tx: &Transaction<'_>, now: Timestamp) -> SqlResult<usize> {
        let Some(limit) = self.limit_here(tx)? else { return Ok(0) };
        let before = BlockVersion::latest(tx, &self.label)?;
        let mut n_new = 0;
        for version in self.versions(now) {
            n_new += usize::from(version.take_in(tx, &self.label)?);
        }
        let after = BlockVersion::latest(tx, &self.label)?;
        if let (Some(before), Some(after)) = (before, after)
            && 0 < n_new
        {
            let mut united = after.text.clone();
            let of_before: Vec<&BlockLine> =
                before.text.of_user().filter(|line| !united.lines.contains(line)).collect();
            for line in of_before.into_iter().rev() {
                united.lines.insert(0, line.clone());
                if limit < united.n_characters() {
                    united.lines.remove(0);
                }
            }
            united.dismissed.extend(before.text.dismissed.iter().cloned());
            united.dismissed.sort_unstable();
            united.dismissed.dedup();
            if united != after.text {
                let by = (name(Author::User), "united with what was imported");
                n_new += usize::from(BlockVersion::add(tx, &self.label, now, by, &united)?);
            }
        }
        Ok(n_new)
    }

    /// The limit of the block here, where it is one that has versions; one of the user's own is made.
    fn limit_here(&self, tx: &Transaction<'_>) -> SqlResult<Option<usize>> {
        if let Some(core) = CORE.iter().find(|block| block.label == self.label) {
            return Ok((core.kind == CoreKind::Kept).then_some(core.limit));
        }
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, LONGEST_LIMIT);
        let own = OwnBlock { label: self.label.clone(), description: self.description.clone(), limit };
        own.add(tx)?;
        let here = OwnBlock::all(tx)?.into_iter().find(|known| known.label == self.label);
        Ok(here.map(|known| known.limit))
    }

    fn versions(&self, now: Timestamp) -> Vec<BlockVersion> {
        let version = |at, author: Author, reason: &str, text| BlockVersion {
            number: 0,
            at,
            author: name(author).to_owned(),
            reason: reason.to_owned(),
            text,
        };
        if self.history.is_empty() && !self.value.trim().is_empty() {
            let at = self.updated_at.as_deref().and_then(|at| at.parse().ok()).unwrap_or(now);
            return vec![version(at, Author::User, "imported", BlockText::default().edited(&self.value))];
        }
        let filed = self.history.iter();
        filed.map(|filed| version(filed.at, filed.author, &filed.reason, filed.text.clone())).collect()
    }
}

impl FiledVersion {
    fn of(version: BlockVersion) -> Self {
        let authors = [Author::User, Author::Rule, Author::Model];
        let author = authors.into_iter().find(|author| name(*author) == version.author);
        Self {
            at: version.at,
            author: author.unwrap_or(Author::Rule),
            reason: version.reason,
            text: version.text,
        }
    }
}
