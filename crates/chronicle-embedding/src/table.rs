//! The table of words and their near words, read in place from the binary.

use crate::Near;

/// What the file begins with.
const MAGIC: &[u8] = b"nearwrd1";

/// How many near words there is room for beside each.
const N_NEAR: usize = 4;

/// The bytes of a near word: its number, and the cosine.
const ENTRY: usize = 3;

/// The file, as `words/make.py` describes it; nothing is parsed ahead of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    /// Where each stem begins, and where the last one ends.
    places: &'static [u8],
    near: &'static [u8],
    stems: &'static [u8],
    n_stems: usize,
}

impl Table {
    /// The table in `bytes`; nothing where they are something else, or cut.
    pub(crate) fn of(bytes: &'static [u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(MAGIC)?;
        let n_stems = number(bytes, 0)?;
        let n_bytes = number(bytes, 1)?;
        let (places, rest) = bytes.get(8..)?.split_at_checked(4 * n_stems.checked_add(1)?)?;
        let (near, stems) = rest.split_at_checked(N_NEAR * ENTRY * n_stems)?;
        (stems.len() == n_bytes).then_some(Self { places, near, stems, n_stems })
    }

    /// The number of a stem.
    pub(crate) fn number(&self, stem: &str) -> Option<usize> {
        let (mut start, mut end) = (0, self.n_stems);
        while start < end {
            let middle = start.midpoint(end);
            match self.stem(middle)?.cmp(stem.as_bytes()) {
                std::cmp::Ordering::Less => start = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => end = middle,
            }
        }
        None
    }

    /// What is near to the stem with this number, the nearest first.
    pub(crate) fn near(self, of: usize) -> impl Iterator<Item = Near> {
        let size = N_NEAR * ENTRY;
        let entries = self.near.get(of * size..(of + 1) * size).unwrap_or_default();
        entries.chunks_exact(ENTRY).filter(|entry| entry[2] != 0).filter_map(move |entry| {
            let stem = self.stem(usize::from(u16::from_le_bytes([entry[0], entry[1]])))?;
            Some(Near { stem: std::str::from_utf8(stem).ok()?, cosine: f32::from(entry[2]) / 255.0 })
        })
    }

    #[cfg(test)]
    pub(crate) fn n_stems(&self) -> usize {
        self.n_stems
    }

    fn stem(&self, at: usize) -> Option<&'static [u8]> {
        self.stems.get(number(self.places, at)?..number(self.places, at + 1)?)
    }
}

/// The number with four bytes at this place, counted in such numbers.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(4 * at..4 * (at + 1))?;
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `aa` and `bb`, near to each other.
    fn small() -> Vec<u8> {
        let numbers: Vec<u8> = [2_u32, 4, 0, 2, 4].iter().flat_map(|number| number.to_le_bytes()).collect();
        let near = |other: u8| [&[other, 0, 255][..], &[0; 9]].concat();
        [MAGIC, &numbers, &near(1), &near(0), b"aabb"].concat()
    }

    fn table(bytes: Vec<u8>) -> Option<Table> {
        Table::of(bytes.leak())
    }

    #[test]
    fn a_stem_is_found_with_what_is_near() {
        let table = table(small()).unwrap();
        let near = |stem| table.near(table.number(stem).unwrap()).map(|near| near.stem).collect::<Vec<_>>();
        assert_eq!((near("aa"), near("bb")), (vec!["bb"], vec!["aa"]));
        assert_eq!(table.number("ab"), None);
    }

    #[test]
    fn what_is_cut_or_something_else_is_no_table() {
        for length in 0..small().len() {
            assert!(table(small()[..length].to_vec()).is_none(), "{length}");
        }
        assert!(table(b"something else entirely".to_vec()).is_none());
    }

    #[test]
    fn what_is_damaged_tells_nothing_wrong_and_breaks_nothing() {
        for at in 0..small().len() {
            let mut damaged = small();
            damaged[at] = 0xfe;
            let Some(table) = table(damaged) else { continue };
            for number in [table.number("aa"), table.number("bb")].into_iter().flatten() {
                assert!(table.near(number).count() <= N_NEAR);
            }
        }
    }
}
