use std::path::PathBuf;

use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Merge exported notes into those of this repository
///
/// Reads what `export` of this program or of a released one wrote. Existing notes stay: notes on
/// one commit are merged. If one line is wrong, nothing is stored.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The file; standard input if it is missing or `-`
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
