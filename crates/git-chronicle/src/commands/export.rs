use std::path::PathBuf;

use crate::{arguments::OutputFormat, error::CommandError, ui::Ui};
use chronicle::{Chronicle, ExportForm, ExportReply, counted, counted_are};

/// Write all notes as JSON Lines
///
/// `import` makes the same notes of them, byte for byte, even of notes that cannot be parsed. With
/// `--format agent-trace`, writes Agent Trace records instead, for tools that read those.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ExportArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let form = match ui.wanted() {
        OutputFormat::AgentTrace => ExportForm::AgentTrace,
        OutputFormat::Answer(_) | OutputFormat::Html | OutputFormat::JsonLines => ExportForm::Notes,
    };
    let reply = match &args.output {
        Some(path) => Some(chronicle.export_to(form, path)?),
        None => ui.stream(|out| chronicle.export(form, out))?,
    };
    let Some(ExportReply { notes, missing }) = reply else { return Ok(()) };
    if 0 < missing {
        ui.warn(&format!("{} missing: not all objects are in this repository", counted_are(missing, "note")));
    }
    if args.output.is_some() || notes == 0 {
        ui.tell(&format!("exported: {}", counted(notes, "note")));
    }
    Ok(())
}
