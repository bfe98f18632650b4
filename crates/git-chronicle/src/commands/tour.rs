use crate::{error::CommandError, tour::tour, ui::Ui};

/// See the main steps in a minute, on a throw-away repository
#[derive(Debug, clap::Args)]
pub(crate) struct TourArgs {}

pub(crate) fn run(_args: &TourArgs, ui: &mut Ui) -> Result<(), CommandError> {
    let mut shown = String::new();
    let toured = tour(ui.format(), ui.view(false), &mut |text| shown.push_str(text));
    // What was reached is shown, whatever came then.
    ui.answer(&shown)?;
    Ok(toured?)
}
