//! The commits that can be reached from some tips, newest first.

use std::collections::BinaryHeap;

use gix::{
    ObjectId,
    hashtable::HashMap,
    objs::{CommitRefIter, commit::ref_iter::Token},
};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{ObjectSnafu, Result},
};

/// One commit of a [`History`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The commit.
    pub id: ObjectId,
    /// Its tree.
    pub tree: ObjectId,
    /// Its parents, as places in the history; parents that are not here (shallow clones) are left out.
    pub parents: Vec<u32>,
    /// When it was committed, in seconds since the epoch.
    pub time: i64,
}

/// Commits with every child before its parents, otherwise newest first.
#[derive(Debug, Clone, Default)]
pub struct History {
    nodes: Vec<Node>,
    places: HashMap<ObjectId, u32>,
}

impl History {
    /// The commits, children before parents.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The place of a commit.
    #[must_use]
    pub fn place(&self, id: ObjectId) -> Option<u32> {
        self.places.get(&id).copied()
    }

    /// The commit at a place.
    #[must_use]
    pub fn node(&self, place: u32) -> &Node {
        &self.nodes[place as usize]
    }
}

/// The part of a history that lies before commits that are known already.
#[derive(Debug, Clone, Default)]
pub struct Partial {
    /// The new commits, and the known ones that they build on.
    pub history: History,
    /// For each place, whether the commit there is a known one, whose parents are left out.
    pub is_edge: Vec<bool>,
}

impl Partial {
    /// The commits that are not known yet.
    pub fn fresh(&self) -> impl Iterator<Item = (u32, &Node)> {
        (0..)
            .zip(&self.history.nodes)
            .zip(&self.is_edge)
            .filter(|(_, is_edge)| !**is_edge)
            .map(|(node, _)| node)
    }

    /// The known commits that the others build on.
    pub fn edge(&self) -> impl Iterator<Item = (u32, &Node)> {
        (0..)
            .zip(&self.history.nodes)
            .zip(&self.is_edge)
            .filter(|(_, is_edge)| **is_edge)
            .map(|(node, _)| node)
    }
}

/// A commit as it is stored, before it has a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its tree.
    pub tree: ObjectId,
    /// Its parents; none where a shallow clone ends.
    pub parents: Vec<ObjectId>,
    /// When it was committed, in seconds since the epoch.
    pub time: i64,
}

impl Repository {
    /// The commits that can be reached from `tips`.
    ///
    /// # Errors
    /// When a tip is missing; a missing ancestor only ends the history there.
    pub fn history(&self, tips: &[ObjectId]) -> Result<History> {
        let mut commits = self.commits();
        let mut found: HashMap<ObjectId, Found> = HashMap::default();
        let mut pending = tips.to_vec();
        while let Some(id) = pending.pop() {
            if found.contains_key(&id) {
                continue;
            }
            let commit = match commits.find(id) {
                Ok(commit) => commit,
                Err(error) if tips.contains(&id) => return Err(error),
                Err(_) => continue,
            };
            pending.extend(commit.parents.iter().filter(|parent| !found.contains_key(*parent)));
            found.insert(id, commit);
        }
        Ok(sort(found))
    }

    /// The commits that can be reached from `tips` without passing one for which `is_known` holds; those are
    /// the edge, which has no parents here. `None` when there are more than `limit` others.
    ///
    /// # Errors
    /// When a tip is missing.
    pub fn history_until(
        &self,
        tips: &[ObjectId],
        is_known: impl Fn(ObjectId) -> bool,
        limit: usize,
    ) -> Result<Option<Partial>> {
        let mut commits = self.commits();
        let mut found: HashMap<ObjectId, Found> = HashMap::default();
        let mut pending = tips.to_vec();
        let mut n_new = 0;
        while let Some(id) = pending.pop() {
            if found.contains_key(&id) {
                continue;
            }
            let mut commit = match commits.find(id) {
                Ok(commit) => commit,
                Err(error) if tips.contains(&id) => return Err(error),
                Err(_) => continue,
            };
            if is_known(id) || commits.is_cut(id) {
                commit.parents.clear();
            } else {
                n_new += 1;
            }
            if limit < n_new {
                return Ok(None);
            }
            pending.extend(commit.parents.iter().filter(|parent| !found.contains_key(*parent)));
            found.insert(id, commit);
        }
        let history = sort(found);
        let is_edge = history.nodes.iter().map(|node| is_known(node.id)).collect();
        Ok(Some(Partial { history, is_edge }))
    }

    /// Where commits are looked up one by one.
    #[must_use]
    pub fn commits(&self) -> Commits<'_> {
        Commits {
            repository: self,
            graph: self.commit_graph(),
            shallow: self.inner.shallow_commits().ok().flatten(),
            buffer: Vec::new(),
        }
    }
}

/// Where commits are looked up one by one.
pub struct Commits<'r> {
    repository: &'r Repository,
    graph: Option<&'r gix::commitgraph::Graph>,
    shallow: Option<gix::shallow::Commits>,
    buffer: Vec<u8>,
}

impl Commits<'_> {
    /// A commit, by the commit-graph where it has it; without parents where a shallow clone ends.
    ///
    /// # Errors
    /// When it is missing or broken.
    pub fn find(&mut self, id: ObjectId) -> Result<Found> {
        let known = self.graph.and_then(|graph| Some((graph, graph.lookup(id)?)));
        let mut commit = match known {
            Some((graph, position)) => {
                let known = graph.commit_at(position);
                let parents = known.iter_parents().filter_map(std::result::Result::ok);
                Found {
                    tree: known.root_tree_id().to_owned(),
                    parents: parents.map(|parent| graph.id_at(parent).to_owned()).collect(),
                    time: i64::try_from(known.committer_timestamp()).unwrap_or(i64::MAX),
                }
            }
            None => self.read(id)?,
        };
        if self.is_cut(id) {
            commit.parents.clear();
        }
        Ok(commit)
    }

    /// Whether a shallow clone ends with this commit.
    #[must_use]
    pub fn is_cut(&self, id: ObjectId) -> bool {
        self.shallow.as_ref().is_some_and(|edge| edge.iter().any(|commit| *commit == id))
    }

    fn read(&mut self, id: ObjectId) -> Result<Found> {
        use gix::prelude::Find;
        let missing = || gix::Error::from(gix::error::message("the commit is missing"));
        let data = self
            .repository
            .inner
            .objects
            .try_find(&id, &mut self.buffer)
            .and_then(|found| found.ok_or_else(missing))
            .context(ObjectSnafu { id })?;
        let mut tree = None;
        let mut parents = Vec::new();
        let mut time = 0;
        for token in CommitRefIter::from_bytes(data.data, id.kind()) {
            let token = match token {
                Ok(token) => token,
                // Git reads authors and times that are no such; what is needed of them comes before.
                Err(_) if tree.is_some() => break,
                Err(error) => return Err(error).context(ObjectSnafu { id }),
            };
            match token {
                Token::Tree { id } => tree = Some(id),
                Token::Parent { id } => parents.push(id),
                Token::Committer { signature } => {
                    time = signature.time().map_or(0, |time| time.seconds);
                    break;
                }
                _ => {}
            }
        }
        let tree = tree.ok_or_else(missing).context(ObjectSnafu { id })?;
        Ok(Found { tree, parents, time })
    }
}

/// Puts children before parents, and of those that are free the newest first.
fn sort(mut found: HashMap<ObjectId, Found>) -> History {
    let mut n_children: HashMap<ObjectId, u32> = HashMap::default();
    for parent in found.values().flat_map(|commit| &commit.parents) {
        *n_children.entry(*parent).or_default() += 1;
    }
    let mut free: BinaryHeap<(i64, ObjectId)> = found
        .iter()
        .filter(|(id, _)| !n_children.contains_key(*id))
        .map(|(id, commit)| (commit.time, *id))
        .collect();
    let mut order = Vec::with_capacity(found.len());
    while let Some((_, id)) = free.pop() {
        order.push(id);
        for parent in found.get(&id).into_iter().flat_map(|commit| &commit.parents) {
            let left = n_children.get_mut(parent).expect("counted above");
            *left -= 1;
            if let (0, Some(commit)) = (*left, found.get(parent)) {
                free.push((commit.time, *parent));
            }
        }
    }
    let place = |n: usize| u32::try_from(n).expect("no repository has 2^32 commits");
    let places: HashMap<ObjectId, u32> = order.iter().enumerate().map(|(n, id)| (*id, place(n))).collect();
    let nodes = order
        .into_iter()
        .filter_map(|id| found.remove(&id).map(|commit| (id, commit)))
        .map(|(id, Found { tree, parents, time })| Node {
            id,
            tree,
            parents: parents.iter().filter_map(|parent| places.get(parent).copied()).collect(),
            time,
        })
        .collect();
    History { nodes, places }
}
