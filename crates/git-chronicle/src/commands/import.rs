use std::path::PathBuf;

use chronicle::Chronicle;
use chronicle_memory::imports::{ImportMemory, ImportSource};
use chronicle_render as render;
use clap::builder::PossibleValuesParser;

use crate::{error::CommandError, ui::Ui};

/// Merge exported notes, or import the memory of another program
///
/// Without `--from`, reads what `export` of this program or of a released one wrote. Existing notes
/// stay: notes on one commit are merged. If one line is wrong, nothing is stored.
///
/// With `--from`, imports into session memory: texts as sessions that `find` searches, tasks as
/// threads. Each item names its source. None of it counts as your words. Importing again changes only
/// what has changed; what you forgot or rejected stays out. Run it with `--dry-run` first.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The file; standard input if it is missing or `-`. With `--from`, a file or folder instead of
    /// the usual place
    file: Option<PathBuf>,

    /// The program whose memory to import
    #[arg(long, value_name = "PROGRAM", value_parser = PossibleValuesParser::new(ImportSource::ALL.map(ImportSource::name)))]
    from: Option<String>,

    /// Only show what would be imported
    #[arg(long, requires = "from")]
    dry_run: bool,
}

pub(crate) fn run(args: &ImportArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if let Some(source) = args.from.as_deref().and_then(ImportSource::named) {
        let command = ImportMemory { source, path: args.file.clone(), is_dry_run: args.dry_run };
        let reply = chronicle.memory().import_from_program(&command)?;
        return ui.answer(&render::memory_imported(&reply, ui.format()));
    }
    let reply = match args.file.as_ref().filter(|file| file.as_os_str() != "-") {
        Some(file) => chronicle.import_from(file),
        None => chronicle.import(&mut std::io::stdin().lock()),
    }?;
    ui.answer(&render::imported(&reply, ui.format()))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    Ok(())
}
