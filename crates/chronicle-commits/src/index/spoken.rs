//! Words of annotations that may name code, by the key of what they say.
//!
//! Which file or item a word means depends on all files that there are, so it is judged when it is
//! asked for: the table only says where a key was spoken.

use std::{
    collections::{BTreeMap, HashMap, btree_map::Entry},
    io::{self, Seek, Write},
};

use chronicle_git::ObjectId;
use serde::{Deserialize, Serialize};

use crate::{
    index::{
        key,
        stored::{load_passage, parse_passage, store_passage},
        table::{Part, Table, TableWriter},
    },
    prose::{Passage, Said, keys_of},
};

/// What one passage says under one key.
#[derive(Serialize, Deserialize)]
struct Spoken {
    said: Vec<Said>,
    passage: Part,
}

const KIND: u8 = b'T';

fn spoken_key(word: &[u8]) -> Vec<u8> {
    key(KIND, word.into())
}

/// What another table says, with all its passages read: damage shows before anything is made of it.
pub(super) struct Older {
    by_key: BTreeMap<Vec<u8>, Vec<Spoken>>,
    /// Its passages by where they begin.
    passages: BTreeMap<u64, Vec<u8>>,
}

impl Older {
    /// What `table` says; `None` when it is damaged.
    pub(super) fn read(table: &Table) -> Option<Self> {
        let mut older = Self { by_key: BTreeMap::new(), passages: BTreeMap::new() };
        for (key, bytes) in table.values(KIND)? {
            let all: Vec<Spoken> = postcard::from_bytes(&bytes).ok()?;
            for Spoken { passage, .. } in &all {
                if let Entry::Vacant(unread) = older.passages.entry(passage.offset()) {
                    unread.insert(table.part(*passage)?);
                }
            }
            older.by_key.insert(key, all);
        }
        Some(older)
    }

    /// What notes of the commits that are wanted say.
    pub(super) fn of(mut self, is_wanted: impl Fn(ObjectId) -> bool) -> Self {
        self.passages
            .retain(|_, bytes| parse_passage(bytes).is_some_and(|said| is_wanted(said.heading.commit)));
        for spoken in self.by_key.values_mut() {
            spoken.retain(|spoken| self.passages.contains_key(&spoken.passage.offset()));
        }
        self.by_key.retain(|_, spoken| !spoken.is_empty());
        self
    }

    /// What it says by key, with its passages in the table that is being written.
    fn carried<W: Write + Seek>(
        self,
        writer: &mut TableWriter<W>,
    ) -> io::Result<BTreeMap<Vec<u8>, Vec<Spoken>>> {
        let mut parts: HashMap<u64, Part> = HashMap::new();
        for (offset, passage) in &self.passages {
            parts.insert(*offset, writer.part(passage)?);
        }
        let mut by_key = self.by_key;
        for spoken in by_key.values_mut().flatten() {
            spoken.passage = parts[&spoken.passage.offset()];
        }
        Ok(by_key)
    }
}

/// Writes what `passages` say, and what `older` says, if it is given.
pub(super) fn write<W: Write + Seek>(
    writer: &mut TableWriter<W>,
    older: Option<Older>,
    passages: impl IntoIterator<Item = Passage>,
) -> io::Result<()> {
    let mut by_key = match older {
        Some(older) => older.carried(writer)?,
        None => BTreeMap::new(),
    };
    for passage in passages {
        let all_said = keys_of(&passage);
        if all_said.is_empty() {
            continue;
        }
        let passage = store_passage(writer, passage)?;
        for (key, said) in all_said {
            by_key.entry(key.into_bytes()).or_default().push(Spoken { said, passage });
        }
    }
    for (key, spoken) in by_key {
        let bytes = postcard::to_allocvec(&spoken).map_err(io::Error::other)?;
        writer.value(&spoken_key(&key), &bytes)?;
    }
    Ok(())
}

/// The passages in which something with the key `key` is said that `is_meant` accepts; `None` when they
/// cannot be read.
pub(super) fn read(
    table: &Table,
    key: &str,
    is_meant: &mut dyn FnMut(&Said) -> bool,
) -> Option<Vec<Passage>> {
    let Some(bytes) = table.get(&spoken_key(key.as_bytes())) else { return Some(Vec::new()) };
    let spoken: Vec<Spoken> = postcard::from_bytes(&bytes).ok()?;
    let meant = spoken.into_iter().filter(|spoken| spoken.said.iter().any(&mut *is_meant));
    meant.map(|spoken| load_passage(table, spoken.passage)).collect()
}
