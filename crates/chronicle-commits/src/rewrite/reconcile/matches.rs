//! What is searched for commits that took the place of others, and what is found.

use std::collections::BTreeSet;

use chronicle_git::{ObjectId, Repository};

use super::{lost::Lost, reach::Reach, targets::Targets};
use crate::rewrite::carry::Part;

/// Why a commit is taken for one that took the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// It makes the same change.
    SameChange,
    /// It makes the change that so many commits made together.
    SameTogether {
        /// How many.
        n_commits: usize,
    },
    /// It has the same files, and wrote the lines that are known of the other.
    SameFiles,
    /// It wrote so many of the lines that are known of the other.
    SameLines {
        /// How many it wrote.
        n_found: usize,
        /// How many are known.
        n_known: usize,
    },
}

/// A commit that took the place of another, or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The annotated commit.
    pub source: ObjectId,
    /// The commit that replaced it.
    pub target: ObjectId,
    /// Why it is taken for that.
    pub evidence: Evidence,
    /// Of a commit that was split, what this part of it takes.
    pub part: Option<Part>,
}

impl Match {
    /// `target` took the place of all of `lost`.
    pub(super) fn whole(lost: &Lost, target: ObjectId, evidence: Evidence) -> Self {
        Self { source: lost.key, target, evidence, part: None }
    }
}

/// What matches are looked for in.
pub(super) struct Search<'s> {
    pub(super) repository: &'s Repository,
    pub(super) reach: &'s Reach,
    pub(super) targets: &'s Targets,
}

/// A change that stands in more commits than this says nothing about any of them.
const MAX_SAME: usize = 16;

impl Search<'_> {
    /// The commits that make the same change.
    pub(super) fn same_change(&self, lost: &Lost) -> Vec<Match> {
        let found = lost.patches.iter().flat_map(|patch| self.targets.with_patch(patch));
        let fitting = found.filter(|target| {
            *target != lost.key
                && (lost.is_orphan || self.reach.has_here(*target))
                && !self.came_before(*target, lost)
        });
        let fitting: BTreeSet<ObjectId> = fitting.collect();
        if MAX_SAME < fitting.len() {
            return Vec::new();
        }
        fitting.into_iter().map(|target| Match::whole(lost, target, Evidence::SameChange)).collect()
    }

    /// The commit that has the same files, if it wrote all the lines that are known of the other.
    pub(super) fn same_files(&self, lost: &Lost) -> Vec<Match> {
        let mut found = Vec::new();
        for tree in &lost.trees {
            for target in self.targets.with_tree(*tree) {
                let n_words = self.targets.n_words(target, &lost.wrote);
                // The last part of a split commit has the same files, too, and wrote only some of the lines.
                let is_like = match lost.wrote.len() {
                    0 => lost.base.is_some(),
                    n_known => n_known == n_words,
                };
                if is_like && !self.came_before(target, lost) {
                    found.push((n_words, target));
                }
            }
        }
        // Of several, as where a change was taken back and made again, the one that wrote most of it.
        let best = found.into_iter().max();
        best.into_iter().map(|(_, target)| Match::whole(lost, target, Evidence::SameFiles)).collect()
    }

    /// Whether `target` is known to have been there when the lost commit was made.
    pub(super) fn came_before(&self, target: ObjectId, lost: &Lost) -> bool {
        lost.base.is_some_and(|base| self.reach.is_before(target, base))
    }
}
