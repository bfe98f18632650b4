use std::path::PathBuf;

use crate::{error::CommandError, ui::Ui};
use chronicle::{Chronicle, counted};
use chronicle_render as render;

/// Show who relies on some code, before changing or removing it
///
/// Answers with the assumptions that annotations anywhere declare about it, with groups of places
/// that must change together, and, marked as weaker, with words that only name it. Every annotation
/// is searched. The file is found under its earlier names, too.
#[derive(Debug, clap::Args)]
pub(crate) struct DepsArgs {
    /// The file
    path: PathBuf,

    /// Item of the file, such as `Pool::acquire`
    #[arg(value_name = "ANCHOR", conflicts_with = "anchor")]
    item: Option<String>,

    /// The same, for a name that begins with a dash
    #[arg(long, value_name = "ANCHOR", allow_hyphen_values = true)]
    anchor: Option<String>,

    /// Include commits of other branches, labelled
    #[arg(long)]
    all: bool,

    /// Has no effect: every annotation is searched
    #[arg(long, value_name = "N", hide = true)]
    scan_limit: Option<u64>,
}

pub(crate) fn run(args: &DepsArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let anchor = args.item.as_deref().or(args.anchor.as_deref());
    let deps = chronicle.deps(&args.path, anchor, args.all)?;
    ui.answer(&render::deps(&deps, ui.format(), &ui.view(false)))?;
    if args.scan_limit.is_some() {
        ui.warn("--scan-limit is deprecated and has no effect: every annotation is looked at");
    }
    for warning in &deps.warnings {
        ui.warn(warning);
    }
    if deps.dependents.is_empty() {
        ui.tell(&format!(
            "nothing declares to rely on it (looked at: {})",
            counted(deps.annotations_examined, "annotation")
        ));
    }
    Ok(())
}
