mod machines;
mod share;

use chronicle::Chronicle;
use chronicle_render::{self as render, Format};
use clap::Subcommand;

use crate::{error::CommandError, ui::Ui};

/// Show the tiers of session memory; share it with other machines
#[derive(Debug, clap::Args)]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the tiers (at hand, searched, compressed, faded), or one session or thread
    ///
    /// For one session or thread, it shows where it comes from, its state, how important it is and
    /// why, who was shown it, and how to remove it.
    Status {
        /// The id of a session or thread, or the beginning of it
        id: Option<String>,
    },
    /// Print the kept transcript of a session: without secrets, even if the agent's own is deleted
    Transcript {
        /// The id of the session, or the beginning of it
        id: String,
    },
    Sync(machines::SyncArgs),
    Pair(machines::PairArgs),
    /// Share digests and lessons with other machines, through a folder or an object storage
    Share(share::ShareArgs),
}

pub(crate) fn run(args: MemoryArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    match args.what {
        What::Status { id: Some(id) } => {
            let item = chronicle.memory().memory_item(&id)?;
            ui.answer(&render::memory_item(&item, ui.format(), &ui.view(false)))
        }
        What::Status { id: None } => {
            let measure = render::characters_of_brief(Format::Markdown, chronicle.workplace().now());
            let status = chronicle.memory().memory_status(&measure)?;
            ui.answer(&render::memory_status(&status, ui.format(), &ui.view(false)))
        }
        What::Transcript { id } => {
            ui.stream(|out| chronicle.memory().kept_transcript(&id, &mut { out }))?;
            Ok(())
        }
        What::Sync(args) => machines::sync(&args, chronicle, ui),
        What::Pair(args) => machines::pair(&args, chronicle, ui),
        What::Share(args) => share::run(args, chronicle, ui),
    }
}
