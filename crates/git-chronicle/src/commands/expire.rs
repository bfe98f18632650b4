use chronicle::Chronicle;

use super::flag::tell;
use crate::{error::CommandError, ui::Ui};

/// Mark a lesson as no longer valid
///
/// It is still shown, marked as expired, after everything else. An earlier end stays; it can only
/// be brought forward.
#[derive(Debug, clap::Args)]
pub(crate) struct ExpireArgs {
    /// Id of the lesson
    id: String,

    /// When it ends: a date or an RFC 3339 time; now by default
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn run(args: &ExpireArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    tell(&chronicle.expire(&args.id, args.at.as_deref())?, ui)
}
