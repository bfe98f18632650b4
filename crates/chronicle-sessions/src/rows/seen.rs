//! Which ids were met before, in memory of bounded size.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

/// How many ids a generation holds.
const GENERATION: usize = 400_000;

/// The last 400,000 ids, and up to as many before them.
///
/// Only hashes are kept; that two ids share one is less likely than a broken disk.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    young: HashSet<u64, BuildHasherDefault<AsItIs>>,
    old: HashSet<u64, BuildHasherDefault<AsItIs>>,
}

/// A hash need not be hashed again.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = XxHash3_64::oneshot(bytes);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Seen {
    /// Whether `id` was noted.
    pub(crate) fn has(&self, id: &str) -> bool {
        let hash = XxHash3_64::oneshot(id.as_bytes());
        self.young.contains(&hash) || self.old.contains(&hash)
    }

    /// Notes `id`, and says whether it is new.
    pub(crate) fn insert(&mut self, id: &str) -> bool {
        let hash = XxHash3_64::oneshot(id.as_bytes());
        if self.old.contains(&hash) {
            return false;
        }
        let is_new = self.young.insert(hash);
        if GENERATION <= self.young.len() {
            self.old = std::mem::take(&mut self.young);
        }
        is_new
    }
}
