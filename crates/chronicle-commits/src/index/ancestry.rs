//! The commits of a table's history and their parents, in a form that is searched as it lies.

use chronicle_git::{History, ObjectId};

use crate::index::table::Value;

/// A commit's number, as places in a [`History`] are: children come before parents.
type Place = u32;

/// Commits by the first eight bytes of their ids, and the parents of each.
///
/// ```text
/// number of commits: 4 bytes
/// commits in order of id: first 8 bytes of the id, 4 bytes of place
/// for each place, where its parents start: 4 bytes, and one more for the end
/// parents: 4 bytes of place each
/// ```
pub(super) struct Ancestry {
    bytes: Value,
    n_commits: usize,
}

const ID_LEN: usize = 12;

impl Ancestry {
    /// The stored form of `history`.
    pub(super) fn store(history: &History) -> Vec<u8> {
        let nodes = history.nodes();
        let word = |n: usize| u32::try_from(n).expect("no repository has 2^32 commits").to_le_bytes();
        let mut ids: Vec<([u8; 8], usize)> =
            nodes.iter().enumerate().map(|(place, node)| (prefix(node.id), place)).collect();
        ids.sort_unstable();
        let mut bytes = word(nodes.len()).to_vec();
        for (prefix, place) in ids {
            bytes.extend_from_slice(&prefix);
            bytes.extend_from_slice(&word(place));
        }
        let mut start = 0;
        for node in nodes {
            bytes.extend_from_slice(&word(start));
            start += node.parents.len();
        }
        bytes.extend_from_slice(&word(start));
        for parent in nodes.iter().flat_map(|node| &node.parents) {
            bytes.extend_from_slice(&parent.to_le_bytes());
        }
        bytes
    }

    /// Reads the stored form; `None` when it is damaged.
    pub(super) fn parse(bytes: Value) -> Option<Self> {
        let n_commits = word(&bytes, 0)? as usize;
        let ancestry = Self { bytes, n_commits };
        let n_parents = word(&ancestry.bytes, ancestry.starts() + 4 * n_commits)? as usize;
        (ancestry.bytes.len() == ancestry.parents_start() + 4 * n_parents).then_some(ancestry)
    }

    fn starts(&self) -> usize {
        4 + ID_LEN * self.n_commits
    }

    fn parents_start(&self) -> usize {
        self.starts() + 4 * (self.n_commits + 1)
    }

    /// The place of a commit.
    pub(super) fn place(&self, id: ObjectId) -> Option<Place> {
        let wanted = prefix(id);
        let entry = |n: usize| &self.bytes[4 + ID_LEN * n..4 + ID_LEN * (n + 1)];
        let (mut low, mut high) = (0, self.n_commits);
        while low < high {
            let middle = low.midpoint(high);
            match entry(middle)[..8].cmp(&wanted[..]) {
                std::cmp::Ordering::Equal => return word(entry(middle), 8),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// How the ids of the commits at `places`, which are in order, begin.
    pub(super) fn prefixes(&self, places: &[Place]) -> Vec<[u8; 8]> {
        let mut found = vec![[0; 8]; places.len()];
        for entry in self.bytes[4..self.starts()].chunks_exact(ID_LEN) {
            let number = word(entry, 8).and_then(|place| places.binary_search(&place).ok());
            if let (Some(number), Some(first)) = (number, entry.first_chunk()) {
                found[number] = *first;
            }
        }
        found
    }

    /// The commit at place `at` of `history`, if its parents are the same here.
    pub(super) fn place_of(&self, history: &History, at: Place) -> Option<Place> {
        let node = history.node(at);
        let place = self.place(node.id)?;
        let parents = node.parents.iter().map(|parent| self.place(history.node(*parent).id));
        parents.eq(self.parents(place)?.map(Some)).then_some(place)
    }

    /// The parents of the commit at `place`.
    fn parents(&self, place: Place) -> Option<impl Iterator<Item = Place>> {
        let start = |place: usize| word(&self.bytes, self.starts() + 4 * place);
        let (first, end) = (start(place as usize)?, start(place as usize + 1)?);
        let parents =
            (first..end).map_while(|number| word(&self.bytes, self.parents_start() + 4 * number as usize));
        Some(parents)
    }

    /// For each place, whether it can be reached from `tips`; a tip reaches itself.
    pub(super) fn reach(&self, tips: impl IntoIterator<Item = Place>) -> Option<Vec<bool>> {
        let mut reached = vec![false; self.n_commits];
        for tip in tips {
            *reached.get_mut(tip as usize)? = true;
        }
        for place in 0..self.n_commits {
            if !reached[place] {
                continue;
            }
            for parent in self.parents(Place::try_from(place).ok()?)? {
                *reached.get_mut(parent as usize)? = true;
            }
        }
        Some(reached)
    }
}

fn prefix(id: ObjectId) -> [u8; 8] {
    *id.as_slice().first_chunk().expect("an id has at least 20 bytes")
}

/// The number that starts at byte `at`.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
