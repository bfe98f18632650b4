//! Words of annotations that may name code, by the key of what they say.
//!
//! Which file or item a word means depends on all files that there are, so it is judged when it is
//! asked for: the table only says where a key was spoken.

use std::{
    collections::BTreeMap,
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

fn spoken_key(word: &str) -> Vec<u8> {
    key(b'T', word.into())
}

/// Writes what `passages` say.
pub(super) fn write<W: Write + Seek>(
    writer: &mut TableWriter<W>,
    passages: impl IntoIterator<Item = Passage>,
) -> io::Result<()> {
    let mut by_key: BTreeMap<String, Vec<Spoken>> = BTreeMap::new();
    for passage in passages {
        let all_said = said_in(&passage.text);
        if all_said.is_empty() {
            continue;
        }
        let passage = store_passage(writer, passage)?;
        for (key, said) in all_said {
            by_key.entry(key).or_default().push(Spoken { said, passage });
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
    let Some(bytes) = table.get(&spoken_key(key)) else { return Some(Vec::new()) };
    let spoken: Vec<Spoken> = postcard::from_bytes(&bytes).ok()?;
    let meant = spoken.into_iter().filter(|spoken| spoken.said.iter().any(&mut *is_meant));
    meant.map(|spoken| load_passage(table, spoken.passage)).collect()
}
