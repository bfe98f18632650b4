//! All sessions as JSON Lines, for other programs and for another machine.
//!
//! Only one session is in memory at a time, whichever way it goes.

use std::{
    fs::{self, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::Path,
};

use chronicle_git::files;
use chronicle_search::NamedSession;
use chronicle_workplace::{
    Error,
    error::{ReadInputSnafu, WriteOutputSnafu},
};
use snafu::ResultExt;

use super::{LARGEST_FILE, MemoryTransfer, Refused, UnreadFile, take};
use crate::Memory;

impl Memory<'_> {
    /// Writes all sessions, each on a line of its own, in the order in which they were stored.
    ///
    /// # Errors
    /// When the store cannot be read, or `out` cannot be written.
    pub fn export_lines(&self, out: &mut dyn Write) -> Result<MemoryTransfer, Error> {
        let mut done = MemoryTransfer::default();
        let Some(memory) = self.open()? else { return Ok(done) };
        let mut after = None;
        while let Some(session) = memory.store.read(|connection| NamedSession::next(connection, after))? {
            after = Some(session.id);
            let episode = memory.episode(&session)?;
            done.sessions += 1;
            done.turns += episode.turns.len();
            serde_json::to_writer(&mut *out, &episode)
                .map_err(io::Error::from)
                .and_then(|()| out.write_all(b"\n"))
                .context(WriteOutputSnafu { path: "standard output" })?;
        }
        out.flush().context(WriteOutputSnafu { path: "standard output" })?;
        Ok(done)
    }

    /// The same into the file at `path`, which is there whole or not at all; a pipe or a device gets the lines as they come.
    ///
    /// # Errors
    /// When the store cannot be read, or the file cannot be written.
    pub fn export_lines_to(&self, path: &Path) -> Result<MemoryTransfer, Error> {
        let path = &self.workplace.directory().join(path);
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let file = OpenOptions::new().write(true).open(path).context(WriteOutputSnafu { path })?;
            return self.export_lines(&mut BufWriter::new(file));
        }
        let directory = path.parent().unwrap_or(path);
        // Only its owner can read it, as the store.
        let file = tempfile::Builder::new().prefix(".chronicle-export").tempfile_in(directory);
        let mut file = BufWriter::new(file.context(WriteOutputSnafu { path })?);
        let done = self.export_lines(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        let file = file.context(WriteOutputSnafu { path })?;
        file.as_file().sync_all().context(WriteOutputSnafu { path })?;
        file.persist(path).map_err(|error| error.error).context(WriteOutputSnafu { path })?;
        Ok(done)
    }

    /// Takes in a file of JSON Lines; a line that cannot be taken is named, and the others are none the worse.
    pub(super) fn import_lines(&self, path: &Path) -> Result<MemoryTransfer, Error> {
        let mut file = BufReader::new(files::open(path).context(ReadInputSnafu { path })?);
        let mut memory = self.open_to_write()?;
        let mut done = MemoryTransfer::default();
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            let n_read = (&mut file).take(LARGEST_FILE).read_until(b'\n', &mut line);
            if n_read.context(ReadInputSnafu { path })? == 0 {
                break;
            }
            let taken = if line.len() as u64 == LARGEST_FILE {
                Err(Refused::File("it is too long, so nothing after it is read".to_owned()))
            } else if line.trim_ascii().is_empty() {
                Ok(())
            } else {
                let value = serde_json::from_slice(&line).map_err(Refused::from);
                value.and_then(|value| take(&mut memory, value, (path, self.workplace.now()), &mut done))
            };
            match taken {
                Ok(()) => {}
                Err(Refused::Store(error)) => return Err(error),
                Err(Refused::File(reason)) => done.unread.push(UnreadFile {
                    path: path.to_string_lossy().into_owned(),
                    reason: format!("line {number}: {reason}"),
                }),
            }
            if line.len() as u64 == LARGEST_FILE {
                break;
            }
        }
        self.learning().apply_feedback(&mut memory)?;
        Ok(done)
    }
}
