//! What writers of notes leave in the file of their lock, as a journal for the next one.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;

/// What writers leave behind.
///
/// `git notes` reads a ref, writes what it read with a note more, and asks nobody whether the ref has
/// moved since. What we wrote in between is then in no history any more. That shows by what we wrote last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LockJournal {
    /// Refs that are about to be swapped, and the commits they will point at; still there when a writer died.
    pub(crate) swapping: BTreeSet<(String, ObjectId)>,
    /// The commit that a ref of ours pointed at when we wrote it last.
    pub(crate) written: BTreeMap<String, ObjectId>,
    /// Commits of ours that a ref has lost, until they are merged again.
    pub(crate) lost: BTreeSet<(String, ObjectId)>,
    /// The commit of a ref up to which no note is missing that another program dropped. Only a hint: without it,
    /// the whole history is checked.
    pub(crate) checked: BTreeMap<String, ObjectId>,
}

impl LockJournal {
    /// Reads what is there; what makes no sense says nothing.
    pub(crate) fn parse(text: &str) -> Self {
        let mut journal = Self::default();
        for line in text.lines() {
            let parts: Vec<&str> = line.split(' ').collect();
            let commit = |hex: &str| ObjectId::from_hex(hex.as_bytes()).ok();
            match parts[..] {
                ["written", name, id] => journal.written.extend(commit(id).map(|id| (name.to_owned(), id))),
                ["lost", name, id] => journal.lost.extend(commit(id).map(|id| (name.to_owned(), id))),
                ["checked", name, id] => journal.checked.extend(commit(id).map(|id| (name.to_owned(), id))),
                [name, id] => journal.swapping.extend(commit(id).map(|id| (name.to_owned(), id))),
                _ => {}
            }
        }
        journal
    }

    pub(crate) fn to_text(&self) -> String {
        let swapping = self.swapping.iter().map(|(name, id)| format!("{name} {id}\n"));
        let written = self.written.iter().map(|(name, id)| format!("written {name} {id}\n"));
        let lost = self.lost.iter().map(|(name, id)| format!("lost {name} {id}\n"));
        let checked = self.checked.iter().map(|(name, id)| format!("checked {name} {id}\n"));
        swapping.chain(written).chain(lost).chain(checked).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_writes_the_next_one_reads() {
        let id = |digit: &str| ObjectId::from_hex(digit.repeat(40).as_bytes()).unwrap();
        let journal = LockJournal {
            swapping: BTreeSet::from([("refs/notes/chronicle".to_owned(), id("a"))]),
            written: BTreeMap::from([("refs/notes/chronicle".to_owned(), id("b"))]),
            lost: BTreeSet::from([("refs/notes/chronicle".to_owned(), id("c"))]),
            checked: BTreeMap::from([("refs/notes/chronicle".to_owned(), id("d"))]),
        };
        assert_eq!(LockJournal::parse(&journal.to_text()), journal);
        assert_eq!(LockJournal::parse("\u{0} written\nwritten x\nlost a zz\n"), LockJournal::default());
    }
}
