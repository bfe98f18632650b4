//! Sets of commits, as runs of row numbers.
//!
//! Rows are given in the order of a walk that finishes one parent before it begins the next, so that what a commit
//! reaches is a few runs.

/// The rows of the commits that a commit reaches, itself included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach(Vec<(u32, u32)>);

impl Reach {
    /// Whether it holds `row`.
    #[must_use]
    pub fn has(&self, row: u32) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= row);
        after.checked_sub(1).is_some_and(|run| row <= self.0[run].1)
    }

    /// The runs of rows, first and last, in order.
    #[must_use]
    pub fn runs(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// How many rows it holds.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|(first, last)| (last - first) as usize + 1).sum()
    }

    /// The same with `row`, which is higher than all others.
    pub(crate) fn with(mut self, row: u32) -> Self {
        match self.0.last_mut() {
            Some((_, last)) if *last + 1 == row => *last = row,
            Some((_, last)) if row <= *last => return self.union(&Self(vec![(row, row)])),
            _ => self.0.push((row, row)),
        }
        self
    }

    /// The rows of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all: Vec<(u32, u32)> = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let Some(next) = match (ours.peek(), theirs.peek()) {
            (Some(our), Some(their)) if our <= their => ours.next(),
            (Some(_), None) => ours.next(),
            _ => theirs.next(),
        } {
            match all.last_mut() {
                Some((_, last)) if next.0 <= last.saturating_add(1) => *last = next.1.max(*last),
                _ => all.push(*next),
            }
        }
        Self(all)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(first, last)| [first.to_le_bytes(), last.to_le_bytes()]).flatten().collect()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let (numbers, _) = bytes.as_chunks::<4>();
        let numbers: Vec<u32> = numbers.iter().map(|number| u32::from_le_bytes(*number)).collect();
        let (runs, _) = numbers.as_chunks::<2>();
        Self(runs.iter().map(|[first, last]| (*first, *last)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(rows: &BTreeSet<u32>) -> Reach {
        rows.iter().fold(Reach::default(), |reach, row| reach.with(*row))
    }

    proptest! {
        #[test]
        fn it_holds_what_a_set_holds(
            ours in prop::collection::btree_set(0u32..60, 0..40),
            theirs in prop::collection::btree_set(0u32..60, 0..40),
        ) {
            let both: BTreeSet<u32> = ours.union(&theirs).copied().collect();
            let reach = of(&ours).union(&of(&theirs));
            prop_assert_eq!(&reach, &of(&both));
            prop_assert_eq!(&Reach::from_bytes(&reach.to_bytes()), &reach);
            prop_assert_eq!(reach.count(), both.len());
            for row in 0..60 {
                prop_assert_eq!(reach.has(row), both.contains(&row));
            }
        }

        #[test]
        fn bytes_of_anybody_are_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _any = Reach::from_bytes(&bytes).has(7);
        }
    }
}
