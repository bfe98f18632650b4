use crate::{error::CommandError, surroundings, tour::tour, ui::Ui};

/// See the main steps in a minute, on a throw-away repository
#[derive(Debug, clap::Args)]
pub(crate) struct TourArgs {}

pub(crate) fn run(_args: &TourArgs, ui: &mut Ui) -> Result<(), CommandError> {
    let mut answer = Ok(());
    tour(surroundings::now(), &mut |text| {
        if answer.is_ok() {
            answer = ui.answer(text);
        }
    })?;
    answer
}
