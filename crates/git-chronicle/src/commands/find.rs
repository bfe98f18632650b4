use chronicle::Chronicle;
use chronicle_memory::{
    find::{FindCommand, TURN_KINDS},
    share::FindSharedCommand,
};
use chronicle_render as render;
use clap::builder::PossibleValuesParser;

use crate::{arguments::at_least_one, error::CommandError, ui::Ui};

/// Find lessons, and what was said and done in sessions with coding agents
///
/// Ask in plain words: all forms of the important words are searched. Up to five lessons of this
/// repository come first, each with its code as it is now. Then come the best turns, with their
/// sessions and the commits that followed, of the current project with all its worktrees. With
/// `--shared`, everything that this machine and others share is searched, in all projects. Lessons
/// have no branch, kind or other project: these options search sessions alone.
#[derive(Debug, clap::Args)]
pub(crate) struct FindArgs {
    /// The question
    #[arg(required = true)]
    query: Vec<String>,

    /// In this project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// In every project
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// In sessions that worked on this branch last
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Since this date, or since this long ago, such as `2 weeks`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// In sessions that changed this file, or files in this folder
    #[arg(long, value_name = "PATH")]
    file: Option<String>,

    /// Turns of this kind
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(TURN_KINDS))]
    kinds: Vec<String>,

    /// In the memory that machines share, as of the last `memory share pull`
    #[arg(long, conflicts_with_all = ["all", "branch", "file", "kinds"])]
    shared: bool,

    /// Show at most this many hits
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one())]
    limit: usize,
}

pub(crate) fn run(args: FindArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.shared {
        return find_shared(args, chronicle, ui);
    }
    let found = chronicle.find(&FindCommand {
        query: args.query.join(" "),
        project: args.project,
        is_all: args.all,
        branch: args.branch,
        since: args.since,
        file: args.file,
        kinds: args.kinds,
        limit: args.limit,
    })?;
    for warning in &found.finding.warnings {
        ui.warn(warning);
    }
    ui.answer(&render::found(&found, ui.format(), &ui.view(false)))?;
    if found.is_empty() {
        ui.tell("nothing was found");
    }
    Ok(())
}

fn find_shared(args: FindArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let finding = chronicle.memory().shared().find(&FindSharedCommand {
        query: args.query.join(" "),
        project: args.project,
        since: args.since,
        limit: args.limit,
    })?;
    ui.answer(&render::found_shared(&finding, ui.format(), &ui.view(false)))?;
    if finding.hits.is_empty() {
        ui.tell("nothing was found");
    }
    Ok(())
}
