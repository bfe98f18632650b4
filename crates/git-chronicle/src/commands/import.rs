use std::path::PathBuf;

use chronicle::{Chronicle, render};

use crate::{error::CommandError, ui::Ui};

/// Unite exported notes with those of this repository
///
/// Takes what `export` wrote, of this tool or of released ones. What is here stays: notes on one
/// commit are united. One wrong line, and nothing is stored.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The file; standard input when it is left out or `-`
    file: Option<PathBuf>,
}

pub(crate) fn run(args: &ImportArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
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
