//! A large transcript that goes on: what is added to it is read alone.
//!
//! Agents tell of every turn, and a session may have hundreds of megabytes. So what is known of the beginning of such a
//! file is kept, as a checkpoint, and the next reading begins there. It does so only where the file is still the same
//! one, has grown, and begins as it did; otherwise it is read from its beginning.

use std::{
    fs::File,
    io::{self, Read, Seek},
};

use chronicle_git::files;
use chronicle_search::{Source, SqlResult, StoredCheckpoint, Transaction};
use chronicle_sessions::{Checkpoint, Placing, Resumed, print};

use super::{
    changed::ChangedFile,
    kept::{file_of, look},
};

/// How many bytes are rather read again than remembered.
const LEAST: u64 = 1 << 20;

/// A file that may go on from a checkpoint, and get a new one.
pub(super) struct GoesOn<'f> {
    changed: &'f ChangedFile<'f>,
    file: File,
}

impl<'f> GoesOn<'f> {
    /// The file, where it is one, is not packed, and is large enough.
    pub(super) fn of(changed: &'f ChangedFile<'f>) -> Option<Self> {
        if changed.size < LEAST {
            return None;
        }
        let file = files::open(file_of(changed.path)?).ok()?;
        Some(Self { changed, file })
    }

    /// The reading that goes on from the checkpoint, if there is one that is of this file, and from which byte another
    /// one is worth its place.
    pub(super) fn resume(
        &mut self,
        tx: &Transaction<'_>,
        name: &str,
        placing: &mut Placing<'_>,
    ) -> SqlResult<(Option<Resumed>, Option<u64>)> {
        let from_beginning = (None, Some(LEAST));
        let Some(kept) = StoredCheckpoint::of(tx, name, Checkpoint::BUILD)? else {
            return Ok(from_beginning);
        };
        let resumed = match Source::by_path(tx, name)? {
            Some(known) if self.is_as_kept(&kept, &known) => self.resumed(kept.end, kept.state),
            _ => None,
        };
        match resumed {
            Some(resumed) if resumed.is_of(tx, placing)? => Ok((Some(resumed), Some(kept.end + LEAST))),
            _ => {
                StoredCheckpoint::remove(tx, name)?;
                Ok(from_beginning)
            }
        }
    }

    /// The file itself, from where it is resumed or from its beginning.
    pub(super) fn open(&mut self, is_resumed: bool) -> io::Result<Box<dyn Read>> {
        if !is_resumed {
            self.file.rewind()?;
        }
        Ok(Box::new(self.file.try_clone()?))
    }

    /// Whether the file is the one of the checkpoint, has grown since it was read, and begins as it did.
    fn is_as_kept(&mut self, kept: &StoredCheckpoint, known: &Source) -> bool {
        let has_grown = 0 <= known.modified && known.size < self.changed.size && kept.end <= known.size;
        has_grown
            && kept.file == number(&self.file)
            && print(&mut self.file, kept.end).is_ok_and(|print| print == kept.print)
    }

    fn resumed(&mut self, end: u64, state: Vec<u8>) -> Option<Resumed> {
        Checkpoint { end, state: state.into() }.resume(&mut self.file).ok().flatten()
    }

    /// Keeps a checkpoint, unless the file changed while it was read: then nobody knows what it is about.
    pub(super) fn keep(mut self, tx: &Transaction<'_>, name: &str, checkpoint: &Checkpoint) -> SqlResult<()> {
        let Ok(print) = print(&mut self.file, checkpoint.end) else { return Ok(()) };
        let is_quiet =
            look(self.changed.path).is_ok_and(|looked| looked == (self.changed.size, self.changed.modified));
        if !is_quiet {
            return Ok(());
        }
        let (end, state) = (checkpoint.end, checkpoint.state.to_vec());
        StoredCheckpoint { end, print, file: number(&self.file), state }.put(tx, name, Checkpoint::BUILD)
    }
}

/// A number that another file on the same disk doesn't have; 0 where the system has none.
fn number(file: &File) -> i64 {
    #[cfg(unix)]
    {
        let meta = file.metadata();
        meta.map_or(0, |meta| std::os::unix::fs::MetadataExt::ino(&meta).cast_signed())
    }
    #[cfg(not(unix))]
    {
        let _has_none = file;
        0
    }
}
