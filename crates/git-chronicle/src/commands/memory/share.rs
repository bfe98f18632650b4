use chronicle::Chronicle;
use chronicle_memory::share::{SHARED_KINDS, ShareInit, ShareWhat};
use chronicle_render as render;
use clap::Subcommand;

use crate::{error::CommandError, ui::Ui};

/// Share digests and lessons with other machines, through a folder or an object storage
///
/// Only what `add` names is sent, and never a secret or a private span. `pull` makes a copy on this machine, which
/// `git chronicle find --shared` searches without a network.
#[derive(Debug, clap::Args)]
pub(super) struct ShareArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Start to share through a store, which is made if it does not exist
    Init {
        /// A folder that all machines can reach, or `s3://BUCKET/PREFIX`, with the variables of AWS: `AWS_ENDPOINT`,
        /// `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_PROFILE`
        url: String,

        /// The name of this machine; by default the system's
        #[arg(long, value_name = "NAME")]
        machine: Option<String>,

        /// Your name; by default the one that git knows
        #[arg(long, value_name = "NAME")]
        author: Option<String>,
    },
    /// Send sessions, lessons or all of a project with the next push
    Add(WhatArgs),
    /// Stop sending sessions, lessons or a project, and remove them with the next push
    Remove(WhatArgs),
    /// Send what is new, and remove what must not be shared any more
    Push {
        /// Only show what would be sent
        #[arg(long)]
        dry_run: bool,
    },
    /// Update the copy on this machine
    Pull {
        /// Even from a store that is older than the last one seen
        #[arg(long)]
        accept_older: bool,

        /// Make the whole copy again
        #[arg(long)]
        anew: bool,
    },
    /// Show what is shared, without contacting the store
    Status,
}

#[derive(Debug, clap::Args)]
struct WhatArgs {
    /// Ids of sessions, and of lessons of this repository
    #[arg(required_unless_present = "project", conflicts_with = "project")]
    ids: Vec<String>,

    /// All of a project: the current one, or the named one
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
        What::Init { url, machine, author } => {
            chronicle.memory().shared().init(&ShareInit { url, machine, author })?
        }
        What::Add(args) => chronicle.memory().shared().add(&args.what())?,
        What::Remove(args) => chronicle.memory().shared().remove(&args.what())?,
        What::Status => chronicle.memory().shared().status()?,
        What::Push { dry_run } => {
            let pushed = chronicle.memory().shared().push(dry_run)?;
            for warning in &pushed.warnings {
                ui.warn(warning);
            }
            return ui.answer(&render::share_pushed(&pushed, ui.format(), &ui.view(false)));
        }
        What::Pull { accept_older, anew } => {
            let pulled = chronicle.memory().shared().pull(accept_older, anew)?;
            return ui.answer(&render::share_pulled(&pulled, ui.format(), &ui.view(false)));
        }
    };
    for warning in &status.warnings {
        ui.warn(warning);
    }
    ui.answer(&render::share_status(&status, ui.format(), &ui.view(false)))
}
