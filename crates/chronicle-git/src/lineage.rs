//! Which commit left a file as it is in another one.

use crate::{FileHistory, History};

/// The first parents of a history's commits, by place: what most commits have from their parents they have from these.
pub struct FirstParents(Vec<u32>);

/// Stands where nothing is.
const NONE: u32 = u32::MAX;

impl FirstParents {
    /// Those of `history`.
    #[must_use]
    pub fn of(history: &History) -> Self {
        Self(history.nodes().iter().map(|node| node.parents.first().copied().unwrap_or(NONE)).collect())
    }
}

/// For each place of a history, the touch that left a file as it is there.
pub struct Lineage(Vec<u32>);

impl Lineage {
    /// The number of the touch that left the file as the commit at `place` has it; `None` when that has no such file,
    /// nor any commit before it.
    #[must_use]
    pub fn touch_at(&self, place: u32) -> Option<usize> {
        Some(*self.0.get(place as usize)?).filter(|touch| *touch != NONE).map(|touch| touch as usize)
    }
}

impl FileHistory {
    /// Which commits left the file as others have it.
    #[must_use]
    pub fn lineage(&self, FirstParents(first_parents): &FirstParents) -> Lineage {
        let mut touches = self.touches.iter().enumerate().rev().peekable();
        let mut sides = self.sides.iter().rev().peekable();
        let mut from = vec![NONE; first_parents.len()];
        for (place, parent) in first_parents.iter().enumerate().rev() {
            // A file may go by two names in one commit, and has a touch by each of them.
            let mut touched = None;
            while let Some((number, _)) = touches.next_if(|(_, touch)| touch.place as usize == place) {
                touched = u32::try_from(number).ok();
            }
            let mut parent = *parent;
            while let Some((_, side)) = sides.next_if(|(merge, _)| *merge as usize == place) {
                parent = *side;
            }
            let inherited = from.get(parent as usize).copied().unwrap_or(NONE);
            from[place] = touched.unwrap_or(inherited);
        }
        Lineage(from)
    }
}
