//! Which lines of claims are gone, kept so that a later version can be asked whether any came back.
//!
//! Code that is gone, or changed, is looked for anew only where a later version gained a line that might be
//! part of it. Both answers here may say yes too often, never too seldom.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// The lines of one claim that are gone: a bit for each hash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lost(u64);

impl Lost {
    pub(crate) fn add(&mut self, hash: u32) {
        self.0 |= 1 << (hash % 64);
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The lines of all claims about a file that are gone.
#[derive(Debug, Clone, Default)]
pub(crate) struct LostLines(pub(crate) Vec<u8>);

/// One hash in twelve or so looks like one of them.
const BITS_PER_LINE: usize = 12;

impl LostLines {
    pub(crate) fn of(hashes: &HashSet<u32>) -> Self {
        let mut bits = vec![0; (hashes.len() * BITS_PER_LINE).div_ceil(8)];
        for hash in hashes {
            let (byte, bit) = place(*hash, bits.len());
            bits[byte] |= bit;
        }
        Self(bits)
    }

    pub(crate) fn may_hold(&self, hash: u32) -> bool {
        !self.0.is_empty() && {
            let (byte, bit) = place(hash, self.0.len());
            self.0[byte] & bit != 0
        }
    }
}

/// The byte and the bit of a hash among so many bytes.
fn place(hash: u32, n_bytes: usize) -> (usize, u8) {
    let at = (u64::from(hash) * (n_bytes as u64 * 8)) >> 32;
    (usize::try_from(at / 8).expect("it is less than the number of bytes"), 1 << (at % 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_found_and_little_else() {
        let hash = |n: u32| n.wrapping_mul(0x9e37_79b9);
        let lost = LostLines::of(&(0..1000).map(hash).collect());
        assert!((0..1000).map(hash).all(|hash| lost.may_hold(hash)));
        let n_wrong = (1000..11_000).map(hash).filter(|hash| lost.may_hold(*hash)).count();
        assert!(n_wrong < 2000, "{n_wrong} of 10,000");
        assert!(!LostLines::default().may_hold(7));
    }
}
