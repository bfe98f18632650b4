use chronicle::{
    Chronicle, render,
    share::{SHARED_KINDS, ShareInit, ShareWhat},
};
use clap::Subcommand;

use crate::{error::CommandError, ui::Ui};

/// Share digests and lessons with other machines, by way of a folder or an object storage
///
/// Nothing goes out but what `add` names, and never a secret or a private span. `pull` makes a copy here, in which
/// `git chronicle find --shared` looks without a network.
#[derive(Debug, clap::Args)]
pub(super) struct ShareArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Share by way of a store from now on; makes it where there is none
    Init {
        /// A folder that the machines see, or `s3://BUCKET/PREFIX`, with the variables that AWS names: `AWS_ENDPOINT`,
        /// `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_PROFILE`
        url: String,

        /// What to call this machine; the system's name without
        #[arg(long, value_name = "NAME")]
        machine: Option<String>,

        /// What to call you; the name that git knows without
        #[arg(long, value_name = "NAME")]
        author: Option<String>,
    },
    /// Let sessions, lessons or all of a project out with the next push
    Add(WhatArgs),
    /// Hold sessions, lessons or a project back, and take them back with the next push
    Remove(WhatArgs),
    /// Send what may go out and is new, and take back what may no longer be there
    Push {
        /// Only show what would go out
        #[arg(long)]
        dry_run: bool,
    },
    /// Bring the copy on this machine up to date
    Pull {
        /// Also from a store that is older than what was seen before
        #[arg(long)]
        accept_older: bool,

        /// Make the copy again from nothing
        #[arg(long)]
        anew: bool,
    },
    /// Show what is shared, without asking the store
    Status,
}

#[derive(Debug, clap::Args)]
struct WhatArgs {
    /// Ids of sessions, and of lessons of this repository
    #[arg(required_unless_present = "project", conflicts_with = "project")]
    ids: Vec<String>,

    /// All of a project: the current one, or the one named
    #[expect(clippy::option_option, reason = "not given, given without a name, given with one")]
    #[arg(long, value_name = "PROJECT", num_args = 0..=1)]
    project: Option<Option<String>>,

    /// Only these of the project
    #[arg(long, value_name = "KIND", value_delimiter = ',', requires = "project", value_parser = SHARED_KINDS)]
    only: Vec<String>,
}

impl WhatArgs {
    fn what(self) -> ShareWhat {
        let Some(name) = self.project else { return ShareWhat::Ids(self.ids) };
        let is_meant = |kind: &&str| self.only.is_empty() || self.only.iter().any(|only| only == kind);
        ShareWhat::Project { name, kinds: SHARED_KINDS.into_iter().filter(is_meant).collect() }
    }
}

pub(super) fn run(args: ShareArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let status = match args.what {
        What::Init { url, machine, author } => chronicle.share_init(&ShareInit { url, machine, author })?,
        What::Add(args) => chronicle.share_add(&args.what())?,
        What::Remove(args) => chronicle.share_remove(&args.what())?,
        What::Status => chronicle.share_status()?,
        What::Push { dry_run } => {
            let pushed = chronicle.share_push(dry_run)?;
            for warning in &pushed.warnings {
                ui.warn(warning);
            }
            return ui.answer(&render::share_pushed(&pushed, ui.format(), &ui.view(false)));
        }
        What::Pull { accept_older, anew } => {
            let pulled = chronicle.share_pull(accept_older, anew)?;
            return ui.answer(&render::share_pulled(&pulled, ui.format(), &ui.view(false)));
        }
    };
    for warning in &status.warnings {
        ui.warn(warning);
    }
    ui.answer(&render::share_status(&status, ui.format(), &ui.view(false)))
}
