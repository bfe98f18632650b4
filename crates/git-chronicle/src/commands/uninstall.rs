use chronicle::{Chronicle, Setup};
use chronicle_serve::{hooks::Host, setup::Scope};
use clap::builder::PossibleValuesParser;

use super::{
    init,
    setup::{ground, is_outside, left_alone, named, names},
};
use crate::{error::CommandError, ui::Ui};

/// Remove what `init` and `setup` added; notes and sessions stay
///
/// Without arguments, from this repository: its hooks, and its settings for agents. With --scope
/// user, from your own settings. With agents, from all settings of these agents.
#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    /// Only the settings of these agents
    #[arg(value_name = "AGENT", value_parser = PossibleValuesParser::new(names()))]
    agents: Vec<String>,

    /// Out of your own settings, or out of this repository
    #[arg(long, value_name = "SCOPE", value_parser = PossibleValuesParser::new(Scope::NAMES))]
    scope: Option<String>,

    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &UninstallArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let scope = args.scope.as_deref().and_then(Scope::named);
    let scopes = match (scope, args.agents.is_empty()) {
        (Some(scope), _) => vec![scope],
        (None, true) => vec![Scope::Project],
        (None, false) => vec![Scope::User, Scope::Project],
    };
    if scopes == [Scope::Project]
        && let Err(error) = chronicle.work_dir()
    {
        if is_outside(&error) {
            ui.tell("`git chronicle uninstall --scope user` takes out what was set up for all projects");
        }
        return Err(error.into());
    }
    let is_bare = args.agents.is_empty();
    let mut setup = Setup::begun(args.dry_run);
    let mut n_refused = 0;
    // Without a home there is nothing of the user's; the repository can do without.
    let ground = match ground(chronicle) {
        Ok(ground) => Some(ground),
        Err(_) if scopes == [Scope::Project] && is_bare => None,
        Err(error) => return Err(error),
    };
    let agents = if is_bare { Host::ALL.to_vec() } else { named(&args.agents) };
    for scope in &scopes {
        let Some(ground) = &ground else { continue };
        let outcome = ground.take_out(&agents, *scope, args.dry_run)?;
        setup = setup.and(outcome.setup);
        n_refused += outcome.n_refused;
    }
    if is_bare && scopes == [Scope::Project] {
        setup = setup.and(chronicle.uninstall(args.dry_run)?);
    }
    init::tell(&setup, "nothing is set up", ui)?;
    let left = ground.map(|ground| ground.set_up_agents(Scope::User)).unwrap_or_default();
    if !left.is_empty() && !scopes.contains(&Scope::User) {
        let titles = left.iter().map(|agent| agent.title()).collect::<Vec<_>>().join(", ");
        ui.tell(&format!(
            "still set up for all projects: {titles}; `git chronicle uninstall --scope user` takes that out"
        ));
    }
    left_alone(n_refused)
}
