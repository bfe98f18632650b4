use chronicle::Chronicle;

use super::flag::tell;
use crate::{error::CommandError, ui::Ui};

/// Replace one lesson with another
///
/// Wherever the newer lesson is in the history, the older one is shown as superseded, last.
/// `annotate --replace` does the same while the newer one is written.
#[derive(Debug, clap::Args)]
pub(crate) struct SupersedeArgs {
    /// Id of the older lesson
    old: String,

    /// Id of the newer lesson
    new: String,
}

pub(crate) fn run(args: &SupersedeArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    tell(&chronicle.supersede(&args.old, &args.new)?, ui)
}
