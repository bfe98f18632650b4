use std::path::PathBuf;

use chronicle::{Chronicle, CorrectReply, FlagCommand};
use chronicle_render as render;

use crate::{
    error::{CommandError, SeveralSnafu},
    ui::Ui,
};

/// Cast doubt on a lesson
///
/// Every reader of the lesson then sees the reason next to it, and its confidence is halved.
/// Nothing is overwritten. If several lessons match, they are listed and nothing is changed: name
/// one by its id.
#[derive(Debug, clap::Args)]
pub(crate) struct FlagArgs {
    /// The file, or the id of one lesson
    path: PathBuf,

    /// Item of the file, such as `Pool::acquire`
    anchor: Option<String>,

    /// What is wrong
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,

    /// Flag all lessons that match
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: FlagArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let FlagArgs { path, anchor, reason, all } = args;
    let reply = chronicle.flag(&FlagCommand { path, anchor, reason, all })?;
    tell(&reply, ui)
}

/// Writes what was corrected; several that match are an error.
pub(crate) fn tell(reply: &CorrectReply, ui: &mut Ui) -> Result<(), CommandError> {
    ui.answer(&render::corrected(reply, ui.format(), &ui.view(false)))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    if !reply.redacted.is_empty() {
        ui.warn(&format!("secrets were replaced before storing: {}", reply.redacted.join(", ")));
    }
    if reply.changed { Ok(()) } else { SeveralSnafu { n_claims: reply.claims.len() }.fail() }
}
