//! Words of annotations that may name code, by the key of what they say.
//!
//! Which file or item a word means depends on all files that there are, so it is judged when it is
//! asked for: the table only says where a key was spoken.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Seek, Write},
};

use serde::{Deserialize, Serialize};

use crate::{
    index::{
        key,
        stored::{load_passage, store_passage},
        table::{Part, Table, TableWriter},
    },
    prose::{Passage, Said, said_in},
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

/// Writes what `passages` say, and what the table `older` says, if one is given.
pub(super) fn write<W: Write + Seek>(
    writer: &mut TableWriter<W>,
    older: Option<&Table>,
    passages: impl IntoIterator<Item = Passage>,
) -> io::Result<()> {
    let mut by_key = match older {
        Some(older) => carried(writer, older)?.ok_or_else(|| io::Error::other("an index is damaged"))?,
        None => BTreeMap::new(),
    };
    for passage in passages {
        let all_said = said_in(&passage.text);
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

/// What `older` says by key, with its passages in the table that is being written; `None` when it is damaged.
fn carried<W: Write + Seek>(
    writer: &mut TableWriter<W>,
    older: &Table,
) -> io::Result<Option<BTreeMap<Vec<u8>, Vec<Spoken>>>> {
    let Some(values) = older.values(KIND) else { return Ok(None) };
    let mut by_key = BTreeMap::new();
    let mut parts: HashMap<u64, Part> = HashMap::new();
    for (key, bytes) in values {
        let Ok(mut all) = postcard::from_bytes::<Vec<Spoken>>(&bytes) else { return Ok(None) };
        for spoken in &mut all {
            spoken.passage = match parts.get(&spoken.passage.offset()) {
                Some(known) => *known,
                None => {
                    let Some(passage) = older.part(spoken.passage) else { return Ok(None) };
                    let part = writer.part(&passage)?;
                    parts.insert(spoken.passage.offset(), part);
                    part
                }
            };
        }
        by_key.insert(key, all);
    }
    Ok(Some(by_key))
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
