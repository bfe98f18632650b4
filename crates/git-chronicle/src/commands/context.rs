use crate::{error::CommandError, ui::Ui};
use chronicle::{Chronicle, ContextCommand, counted};
use chronicle_render as render;

/// State why the next commit is made, before you make it
///
/// The statement is added to the first commit made after it, and is used once. Another statement
/// adds to it.
#[derive(Debug, clap::Args)]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add to the statement about the next commit
    Set(SaidArgs),
    /// Show the statement about the next commit
    Show,
    /// Drop the statement about the next commit
    Clear,
}

/// What is said of a commit.
#[derive(Debug, clap::Args)]
pub(crate) struct SaidArgs {
    /// The task that the change is made for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    task: Option<String>,

    /// Why this approach, and what else was considered
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reasoning: Option<String>,

    /// Assumptions about code elsewhere, one on each line
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    dependencies: Vec<String>,

    /// Labels
    #[arg(long, value_name = "TAG,…", allow_hyphen_values = true)]
    tags: Vec<String>,
}

impl From<SaidArgs> for ContextCommand {
    fn from(args: SaidArgs) -> Self {
        let SaidArgs { task, reasoning, dependencies, tags } = args;
        Self { task, reasoning, dependencies, tags }
    }
}

pub(crate) fn run(args: ContextArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    match args.action {
        Action::Set(said) => {
            let (context, redacted) = chronicle.set_context(&said.into())?;
            ui.answer(&render::contexts(&[context], ui.format(), &ui.view(false)))?;
            if !redacted.is_empty() {
                ui.warn(&format!("secrets were replaced before storing: {}", redacted.join(", ")));
            }
        }
        Action::Show => {
            let answer = render::contexts(&chronicle.contexts()?, ui.format(), &ui.view(false));
            if answer.is_empty() {
                ui.tell("there is no context for the next commit");
            }
            ui.answer(&answer)?;
        }
        Action::Clear => {
            let n_contexts = chronicle.clear_contexts()?;
            ui.tell(&format!("the context of {} was dropped", counted(n_contexts, "commit")));
        }
    }
    Ok(())
}
