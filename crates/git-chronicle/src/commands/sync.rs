use chronicle::Chronicle;
use chronicle_render as render;

use crate::{background, error::CommandError, ui::Ui};

/// Exchange notes with a remote
///
/// Notes of both sides are merged, never overwritten, and pushes are never forced. Without a
/// remote, the enabled ones are used, or else `origin`. Your own fetch, pull and push work as
/// before.
#[derive(Debug, clap::Args)]
pub(crate) struct SyncArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Let `git fetch` bring the notes of a remote, and trust them as a team's; agents cannot run it
    Enable {
        /// The remote
        remote: Option<String>,
    },
    /// Undo `enable`, for one remote or for all
    Disable {
        /// The remote
        remote: Option<String>,
    },
    /// Show how far both sides differ, without contacting any remote
    Status,
    /// Fetch the notes of a remote and merge them
    Pull {
        /// The remote
        remote: Option<String>,

        /// Also remove your own words that others purged; without it, they are kept and hidden
        #[arg(long)]
        accept_purge: bool,
    },
    /// Pull, then push what the remote lacks
    Push {
        /// The remote
        remote: Option<String>,

        /// Also push lessons that neither you nor a remote you enabled wrote, and count them as yours; purge marks and
        /// corrections of others are never pushed
        #[arg(long)]
        vouch: bool,
    },
    /// Import the notes of a fork on the commits of a range, and no others
    Import {
        /// The fork: a remote, an address or a path
        remote: String,
        /// `A..B`, or a revision for its commits that HEAD lacks
        range: String,
    },
}

pub(crate) fn run(args: &SyncArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    // These say whose words count, and a repository may tell an agent to run them.
    if matches!(
        args.action,
        Action::Enable { .. } | Action::Push { vouch: true, .. } | Action::Pull { accept_purge: true, .. }
    ) {
        background::ensure_person()?;
    }
    // A repository may have told the agent where a remote is.
    if let Action::Push { remote, .. } = &args.action
        && chronicle.remotes().pushes_elsewhere(remote.as_deref())
    {
        background::ensure_person()?;
    }
    let synced = match &args.action {
        Action::Enable { remote } => chronicle.remotes().enable(remote.as_deref()),
        Action::Disable { remote } => chronicle.remotes().disable(remote.as_deref()),
        Action::Status => chronicle.remotes().status(),
        Action::Pull { remote, accept_purge } => chronicle.remotes().pull(remote.as_deref(), *accept_purge),
        Action::Push { remote, vouch } => chronicle.remotes().push(remote.as_deref(), *vouch),
        Action::Import { remote, range } => chronicle.remotes().import(remote, range),
    }?;
    ui.answer(&render::sync(&synced, ui.format(), &ui.view(false)))?;
    for warning in &synced.warnings {
        ui.warn(warning);
    }
    Ok(())
}
