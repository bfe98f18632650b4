use chronicle::Chronicle;
use chronicle_render as render;
use chronicle_workplace::Settings;

use crate::{error::CommandError, ui::Ui};

/// Show or change settings
///
/// The environment counts most (`CHRONICLE_RECENCY_HALF_LIFE`), then git's own configuration (`git
/// config chronicle.recencyHalfLife 90`), then the team's file `.chronicle.toml` at the root
/// (`[chronicle.read]` with `recency_half_life = 90`), then the default. A repository does not
/// decide where code, keys and money go, and can only lower limits. `list` shows ignored settings,
/// `git chronicle allow` accepts them.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List every setting with its value and its source
    List,
    /// Print the value of one setting
    Get {
        /// Its name, such as `recencyHalfLife`
        key: String,
    },
    /// Set one setting in the configuration of the repository, or of the user if only a user may set it
    Set {
        /// Its name, such as `recencyHalfLife`
        key: String,
        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// For all your repositories, not only for this one
        #[arg(long)]
        global: bool,
    },
}

pub(crate) fn run(args: ConfigArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    match args.action {
        Action::List => tell(&chronicle.workplace().settings()?, ui),
        Action::Get { key } => {
            let settings = chronicle.workplace().setting(&key)?;
            if ui.format() == render::Format::Json {
                return tell(&settings, ui);
            }
            let values = settings.settings.iter().map(|now| format!("{}\n", now.value));
            ui.answer(chronicle::plain(&values.collect::<String>()).trim_start())?;
            remark(&settings, ui);
            Ok(())
        }
        Action::Set { key, value, global } => {
            tell(&chronicle.workplace().set_setting(&key, &value, global)?, ui)
        }
    }
}

fn tell(settings: &Settings, ui: &mut Ui) -> Result<(), CommandError> {
    ui.answer(&render::settings(settings, ui.format(), &ui.view(false)))?;
    remark(settings, ui);
    Ok(())
}

fn remark(settings: &Settings, ui: &mut Ui) {
    for warning in &settings.warnings {
        ui.warn(warning);
    }
}
