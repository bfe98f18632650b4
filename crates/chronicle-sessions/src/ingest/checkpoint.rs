//! How far a transcript was read, so that what is added to it can be read alone.
//!
//! A checkpoint holds what a reading knows of the file up to a byte: what the reader, the stream and the journal of the
//! session hold there. It follows from these bytes, and holds nothing that may not be stored. It can be thrown away at
//! any time: the file is then read from its beginning. Its form is no promise: another build doesn't look at it.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use twox_hash::XxHash3_64;

use crate::reading::Pause;
use crate::rows::stream::Waiting;

/// How many blocks of a file stand for all of it, and how long each is.
const BLOCKS: u64 = 64;
const BLOCK: u64 = 4 << 10;

/// How much of the end stands for it, too: whatever moves it was changed before it.
const TAIL: u64 = 64 << 10;

/// What is known of a transcript up to a byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The first byte that was not read.
    pub end: u64,
    /// What is known, packed.
    pub state: Box<[u8]>,
}

/// What a checkpoint holds.
#[derive(Serialize, Deserialize)]
struct State {
    pause: Pause,
    sessions: Value,
}

/// A reading that can go on where an earlier one ended.
pub struct Resumed {
    pub(crate) pause: Pause,
    pub(crate) sessions: Value,
    /// The calls that wait for their outcome.
    pub(crate) waiting: VecDeque<Waiting>,
}

impl Checkpoint {
    /// The build whose checkpoints can be read.
    pub const BUILD: &'static str =
        concat!(env!("CARGO_PKG_VERSION"), "-", env!("CHRONICLE_SESSIONS_SOURCES"));

    /// None where something in it may not be stored: what transcripts call ids can be any text.
    pub(crate) fn new(
        pause: Pause,
        sessions: Value,
        may_be_stored: impl FnOnce(&Value) -> bool,
    ) -> Option<Self> {
        let end = pause.end.bytes.start;
        let state = serde_json::to_value(State { pause, sessions }).ok().filter(may_be_stored)?;
        let json = serde_json::to_vec(&state).ok()?;
        Some(Self { end, state: zstd::encode_all(&json[..], 1).ok()?.into() })
    }

    /// The reading that goes on from here in `file`, which then stands at its end; none where it can't.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn resume(&self, file: &mut (impl Read + Seek)) -> io::Result<Option<Resumed>> {
        let Ok(json) = zstd::decode_all(&self.state[..]) else { return Ok(None) };
        let Ok(State { pause, sessions }) = serde_json::from_slice(&json) else { return Ok(None) };
        let mut rows = Vec::new();
        for place in pause.waiting_rows() {
            let mut bytes = vec![0; usize::try_from(place.bytes.end - place.bytes.start).unwrap_or_default()];
            file.seek(SeekFrom::Start(place.bytes.start))?;
            file.read_exact(&mut bytes)?;
            rows.push((place, bytes));
        }
        file.seek(SeekFrom::Start(self.end))?;
        Ok(pause.waiting(&rows).map(|waiting| Resumed { pause, sessions, waiting }))
    }
}

/// A number that stands for the first `end` bytes of a file, of which a bounded number is looked at.
///
/// Agents add to their transcripts, or write them anew. What is written anew differs at its beginning, its end or in
/// between, by whole rows; that a single row is changed to another one of the same length, in the file itself, is not
/// seen where no block is.
///
/// # Errors
/// When the file cannot be read, or is shorter.
pub fn print(file: &mut (impl Read + Seek), end: u64) -> io::Result<i64> {
    let mut bytes = Vec::new();
    let mut take = |start: u64, length: u64| {
        file.seek(SeekFrom::Start(start))?;
        let n_before = bytes.len() as u64;
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        let is_all = bytes.len() as u64 - n_before == length;
        if is_all { Ok(()) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof)) }
    };
    if end <= BLOCKS * BLOCK + TAIL {
        take(0, end)?;
    } else {
        for block in 0..BLOCKS {
            take((end - BLOCK) / BLOCKS * block, BLOCK)?;
        }
        take(end - TAIL, TAIL)?;
    }
    Ok(XxHash3_64::oneshot_with_seed(end, &bytes).cast_signed())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn what_was_written_anew_has_another_print() {
        let rows = |n_rows: usize| -> Vec<u8> {
            (0..n_rows).flat_map(|row| format!("{{\"uuid\":\"{row:08}\"}}\n").into_bytes()).collect()
        };
        for n_rows in [0, 10, 5_000, 100_000] {
            let file = rows(n_rows);
            let end = file.len() as u64;
            let print_of = |file: &[u8]| print(&mut Cursor::new(file), end).ok();
            let known = print_of(&file);
            assert!(known.is_some());
            assert_eq!(print_of(&[&file[..], b"more\n"].concat()), known, "what is added changes nothing");
            if n_rows == 0 {
                continue;
            }
            assert_eq!(print_of(&file[1..]), None, "it is shorter");
            for place in [0, file.len() / 3, file.len() - 21] {
                let row = place / 21 * 21;
                let without_row = [&file[..row], &file[row + 21..], b"{\"uuid\":\"another1\"}\n\n"].concat();
                assert_ne!(print_of(&without_row), known, "{n_rows} rows, without that at {row}");
            }
        }
    }
}
