//! Notes as JSON Lines, out of a repository and into one.

use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, BufWriter, Write},
    path::Path,
};

use chronicle_commits::{agent_trace, transfer};
use chronicle_git::files;
use chronicle_workplace::{
    Error,
    error::{ReadInputSnafu, WriteOutputSnafu},
};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::ResultExt;

use crate::Chronicle;

/// What an export writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportForm {
    /// Notes, from which an import makes the same again.
    Notes,
    /// Agent Trace records, for tools that read those.
    AgentTrace,
}

/// What was exported.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ExportReply {
    /// Notes that were written.
    pub notes: usize,
    /// Notes whose bytes are not here.
    pub missing: usize,
}

/// What was imported.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportReply {
    /// Always `chronicle-import/v1`.
    pub schema: &'static str,
    /// Lines that were read.
    pub lines: usize,
    /// Notes that are new or know more than before.
    pub changed: usize,
    /// Notes on commits that are not here.
    pub elsewhere: usize,
    /// What was replaced.
    pub warnings: Vec<String>,
}

impl Chronicle {
    /// Writes all notes to `out`, one on each line.
    ///
    /// # Errors
    /// When the notes cannot be read, or `out` cannot be written.
    pub fn export(&self, form: ExportForm, out: &mut dyn Write) -> Result<ExportReply, Error> {
        let version = env!("CARGO_PKG_VERSION");
        let exported = match form {
            ExportForm::Notes => transfer::export(self.workplace.repository()?, &transfer::line, out),
            ExportForm::AgentTrace => {
                let voices = agent_trace::Voices::of(self.workplace.repository()?)?;
                let lines = |name: &str, key, content: &[u8]| {
                    agent_trace::lines(version, &voices, name, key, content)
                };
                transfer::export(self.workplace.repository()?, &lines, out)
            }
        }?;
        Ok(ExportReply { notes: exported.n_notes, missing: exported.n_missing })
    }

    /// Writes all notes to the file at `path`, which is there whole or not at all; a pipe or a device gets them as they
    /// come.
    ///
    /// # Errors
    /// When the notes cannot be read, or the file cannot be written.
    pub fn export_to(&self, form: ExportForm, path: &Path) -> Result<ExportReply, Error> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let file = OpenOptions::new().write(true).open(path).context(WriteOutputSnafu { path })?;
            let mut file = BufWriter::new(file);
            let reply = self.export(form, &mut file)?;
            file.flush().context(WriteOutputSnafu { path })?;
            return Ok(reply);
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".chronicle-export").tempfile_in(directory);
        let mut file = BufWriter::new(file.context(WriteOutputSnafu { path })?);
        let reply = self.export(form, &mut file)?;
        let file = file.into_inner().map_err(std::io::IntoInnerError::into_error);
        let file = file.context(WriteOutputSnafu { path })?;
        file.as_file().sync_all().context(WriteOutputSnafu { path })?;
        file.persist(path).map_err(|error| error.error).context(WriteOutputSnafu { path })?;
        Ok(reply)
    }

    /// Unites the notes in `lines`, as an export writes them, with ours.
    ///
    /// # Errors
    /// When a line is no exported note, or our notes cannot be written. Nothing is stored then.
    pub fn import(&self, lines: &mut dyn BufRead) -> Result<ImportReply, Error> {
        let imported = transfer::import(self.workplace.repository()?, lines)?;
        let warning = |(number, kinds): &(usize, Vec<_>)| {
            let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
            format!("secrets in line {number} were replaced before storing: {}", kinds.join(", "))
        };
        Ok(ImportReply {
            schema: "chronicle-import/v1",
            lines: imported.n_lines,
            changed: imported.n_changed,
            elsewhere: imported.n_elsewhere,
            warnings: imported.redacted.iter().map(warning).chain(imported.warnings).collect(),
        })
    }

    /// [`Chronicle::import`] from a file.
    ///
    /// # Errors
    /// The same, and when the file cannot be read.
    pub fn import_from(&self, path: &Path) -> Result<ImportReply, Error> {
        let file = files::open(path).context(ReadInputSnafu { path })?;
        self.import(&mut BufReader::new(file))
    }
}
