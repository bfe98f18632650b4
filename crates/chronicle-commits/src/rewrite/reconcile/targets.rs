//! What the commits in reach changed, looked up by what is known of lost ones.

use std::collections::{BTreeSet, HashMap, HashSet};

use chronicle_core::patch_id::PatchId;
use chronicle_git::{BStr, FileChange, Node, ObjectId, Repository};

use super::{
    lost::Lost,
    reach::Reach,
    relocated::{Relocated, above},
};
use crate::{error::Result, note::change};

/// The changes of the commits in reach.
#[derive(Default)]
pub(super) struct Targets {
    by_patch: HashMap<String, Vec<ObjectId>>,
    by_tree: HashMap<ObjectId, Vec<ObjectId>>,
    /// The commits that wrote a line, by its word; of words that are known of lost commits only. Oldest last.
    by_word: HashMap<u32, Vec<ObjectId>>,
    /// The place of each commit, newest first.
    order: HashMap<ObjectId, usize>,
}

/// Commits whose files are read together.
const BATCH: usize = 200;

impl Targets {
    /// The changes of the newest `most` commits.
    pub(super) fn of(repository: &Repository, reach: &Reach, lost: &[Lost], most: usize) -> Result<Self> {
        let words = lost
            .iter()
            .flat_map(|one| one.wrote.iter().copied().chain(one.lines.iter().map(|line| line.word)));
        let words: HashSet<u32> = words.collect();
        let relocated = Relocated::of(lost);
        let history = &reach.all;
        let mut targets = Self::default();
        let nodes = &history.nodes()[..history.nodes().len().min(most)];
        for batch in nodes.chunks(BATCH) {
            let mut changed: Vec<(&Node, Vec<FileChange>)> = Vec::with_capacity(batch.len());
            for node in batch {
                // What a commit at the edge of a shallow clone changed is not known, nor whether a
                // commit whose parent is missing changed anything.
                let is_cut = node.parents.is_empty() && !repository.commit(node.id)?.parents.is_empty()
                    || repository.is_shallow_edge(node.id);
                if is_cut {
                    continue;
                }
                let parent = node.parents.first().map(|parent| history.node(*parent).tree);
                if parent == Some(node.tree) {
                    continue;
                }
                if let Ok(changes) = repository.plain_changes(parent, node.tree) {
                    changed.push((node, changes));
                }
            }
            let blobs = changed.iter().flat_map(|(_, changes)| changes);
            let blobs = blobs.flat_map(|change| [change.old, change.new]).flatten().collect();
            repository.read_ahead(blobs);
            for (node, changes) in changed {
                let mut wrote = BTreeSet::new();
                let above = above(&changes);
                let print = change::print_moved(repository, &changes, relocated.places(&above), |written| {
                    let word = written.word();
                    if words.contains(&word) {
                        wrote.insert(word);
                    }
                })?;
                for patch in print.iter().filter(|print| !print.is_empty()).flat_map(PatchId::finish_moved) {
                    if relocated.patches.contains(&patch) {
                        targets.by_patch.entry(patch).or_default().push(node.id);
                    }
                }
                for directory in above {
                    let tree = repository.tree_at(node.tree, BStr::new(&directory))?;
                    if let Some(tree) = tree.filter(|tree| relocated.trees.contains(tree)) {
                        targets.by_tree.entry(tree).or_default().push(node.id);
                    }
                }
                targets.add(node, print, wrote);
            }
            repository.forget_read_ahead();
        }
        Ok(targets)
    }

    fn add(&mut self, node: &Node, print: Option<PatchId>, wrote: BTreeSet<u32>) {
        self.order.insert(node.id, self.order.len());
        self.by_tree.entry(node.tree).or_default().push(node.id);
        let Some(print) = print.filter(|print| !print.is_empty()) else { return };
        self.by_patch.entry(print.finish()).or_default().push(node.id);
        if node.parents.len() < 2 {
            for word in wrote {
                self.by_word.entry(word).or_default().push(node.id);
            }
        }
    }

    /// The commits that make the change of this fingerprint.
    pub(super) fn with_patch(&self, patch: &str) -> impl Iterator<Item = ObjectId> {
        self.by_patch.get(patch).into_iter().flatten().copied()
    }

    /// The commits that have these files, and changed some of them.
    pub(super) fn with_tree(&self, tree: ObjectId) -> impl Iterator<Item = ObjectId> {
        self.by_tree.get(&tree).into_iter().flatten().copied()
    }

    /// The commits that wrote the line of this word.
    pub(super) fn with_word(&self, word: u32) -> &[ObjectId] {
        self.by_word.get(&word).map_or(&[], Vec::as_slice)
    }

    /// How many of `words` the commit wrote.
    pub(super) fn n_words(&self, id: ObjectId, words: &BTreeSet<u32>) -> usize {
        words.iter().filter(|word| self.with_word(**word).contains(&id)).count()
    }

    /// How new the commit is: 0 for the newest.
    pub(super) fn age(&self, id: ObjectId) -> usize {
        self.order.get(&id).copied().unwrap_or(usize::MAX)
    }
}
