use std::io::Read;

use chronicle::Chronicle;
use chronicle_memory::find::FixCommand;
use chronicle_render as render;
use snafu::ResultExt;

use crate::{
    arguments::at_least_one,
    error::{CommandError, StdinSnafu},
    ui::Ui,
};

/// More of an output is not read.
const MAX_BYTES: u64 = 1 << 20;

/// Show what was done about an error before
///
/// For each session in which the error came up: what was changed and run after it came up last, the
/// call that worked then, and whether it came up again. Solutions that held come first.
#[derive(Debug, clap::Args)]
pub(crate) struct FixArgs {
    /// The error as it was printed, after `--` if it begins with a hyphen; `-` reads it from stdin
    #[arg(required = true)]
    error: Vec<String>,

    /// In this project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// In every project
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// Show at most this many sessions
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one())]
    limit: usize,
}

pub(crate) fn run(args: FixArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let error = match args.error.as_slice() {
        [only] if only == "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().take(MAX_BYTES).read_to_end(&mut bytes).context(StdinSnafu)?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        words => words.join(" "),
    };
    let fix = chronicle.memory().fix(&FixCommand {
        error,
        project: args.project,
        is_all: args.all,
        limit: args.limit,
    })?;
    let text = render::fix(&fix, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing was found");
    }
    ui.answer(&text)
}
