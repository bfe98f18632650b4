//! How much of a history is annotated.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_git::{ByteSlice, ObjectId, Repository};

use crate::error::Result;

/// Commits, and how many of them are annotated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// How many there are.
    pub n_commits: usize,
    /// How many of them carry a note.
    pub n_annotated: usize,
}

/// How much of the newest commits is annotated.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// All commits that were looked at.
    pub all: Share,
    /// The ones that touched each directory at the root; files at the root count as `.`.
    pub by_directory: BTreeMap<String, Share>,
    /// The ones of each author.
    pub by_author: BTreeMap<String, Share>,
    /// Whether there are older commits.
    pub is_cut: bool,
    /// The newest commit that is annotated.
    pub newest: Option<ObjectId>,
}

impl Share {
    fn count(&mut self, is_annotated: bool) {
        self.n_commits += 1;
        self.n_annotated += usize::from(is_annotated);
    }
}

/// Looks at the newest `limit` commits that HEAD reaches; merges have no changes of their own and do not count.
///
/// # Errors
/// When commits or trees cannot be read.
pub fn coverage(repository: &Repository, annotated: &BTreeSet<ObjectId>, limit: usize) -> Result<Coverage> {
    let mut coverage = Coverage::default();
    let Some(head) = repository.head()? else { return Ok(coverage) };
    let history = repository.history(&[head])?;
    for node in history.nodes().iter().filter(|node| node.parents.len() < 2) {
        if coverage.all.n_commits == limit {
            coverage.is_cut = true;
            break;
        }
        let is_annotated = annotated.contains(&node.id);
        coverage.all.count(is_annotated);
        if is_annotated && coverage.newest.is_none() {
            coverage.newest = Some(node.id);
        }
        let author = repository.commit(node.id)?.author;
        coverage.by_author.entry(author).or_default().count(is_annotated);
        let parent = node.parents.first().map(|place| history.node(*place).tree);
        let mut directories = BTreeSet::new();
        for change in repository.plain_changes(parent, node.tree)? {
            let directory = match change.path.split_once_str("/") {
                Some((directory, _)) => directory.to_str_lossy().into_owned(),
                None => ".".to_owned(),
            };
            directories.insert(directory);
        }
        for directory in directories {
            coverage.by_directory.entry(directory).or_default().count(is_annotated);
        }
    }
    Ok(coverage)
}
