use std::path::PathBuf;

use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// List the named items of a file: the names that anchors can use
///
/// Functions, types, headings and keys with their lines, comments and attributes included. A
/// language without a grammar has no items; the answer mentions that, and it is not an error.
#[derive(Debug, clap::Args)]
pub(crate) struct OutlineArgs {
    /// The file
    path: PathBuf,

    /// The file as it was in this commit, any revision, instead of as it is now
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    at: Option<String>,
}

pub(crate) fn run(args: &OutlineArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let outline = chronicle.outline(&args.path, args.at.as_deref())?;
    ui.answer(&render::outline(&outline, ui.format(), &ui.view(false)))?;
    for warning in &outline.warnings {
        ui.warn(warning);
    }
    if outline.items.is_empty() && outline.warnings.is_empty() {
        ui.tell("the file has no named items");
    }
    Ok(())
}
