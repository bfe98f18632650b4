use std::path::PathBuf;

use chronicle::{AddKnowledge, Chronicle, KnowledgeReply, NewKnowledge};
use chronicle_render as render;
use clap::Subcommand;

use crate::{
    error::{CommandError, UsageSnafu},
    ui::Ui,
};

/// List, add or remove knowledge about the repository as a whole
///
/// Conventions, boundaries of modules and anti-patterns belong to no commit. `read` shows those
/// that apply to the requested path.
#[derive(Debug, clap::Args)]
pub(crate) struct KnowledgeArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List all knowledge, or what applies to a path
    List {
        /// A file or directory
        path: Option<PathBuf>,
    },
    /// Add a convention, a boundary or an anti-pattern; existing items stay as they are
    Add(Box<AddArgs>),
    /// Remove one item, for good
    Remove {
        /// Its id
        id: String,
    },
    /// Show one item
    Show {
        /// Its id
        id: String,
    },
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
struct AddArgs {
    /// A rule
    #[arg(long, value_name = "TEXT", group = "what", allow_hyphen_values = true)]
    rule: Option<String>,

    /// Where the rule holds: `*`, a directory or a path
    #[arg(long, requires = "rule", default_value = "*")]
    scope: String,

    /// A module, as its directory or path
    #[arg(long, value_name = "PATH", group = "what")]
    module: Option<String>,

    /// What the module owns
    #[arg(long, value_name = "TEXT", requires = "module", allow_hyphen_values = true)]
    owns: Option<String>,

    /// Where the module ends
    #[arg(long, value_name = "TEXT", requires = "module", allow_hyphen_values = true)]
    boundary: Option<String>,

    /// What not to do
    #[arg(long, value_name = "TEXT", group = "what", allow_hyphen_values = true)]
    pattern: Option<String>,

    /// What to do instead
    #[arg(long, value_name = "TEXT", requires = "pattern", allow_hyphen_values = true)]
    instead: Option<String>,

    /// The commit in which it was decided
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    decided_in: Option<String>,

    /// permanent, provisional or experimental
    #[arg(long, value_parser = ["permanent", "provisional", "experimental"])]
    stability: Option<String>,

    /// Where it was learned
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    learned_from: Option<String>,

    /// convention, boundary or anti-pattern; not needed, as the other arguments show it
    #[arg(long = "type", value_name = "TYPE", hide = true)]
    kind: Option<String>,
}

pub(crate) fn run(args: KnowledgeArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    match args.what {
        What::List { path } => {
            let reply = chronicle.knowledge(path.as_deref())?;
            answer(&reply, ui)?;
            if reply.items.is_empty() {
                ui.tell("the repository has no knowledge yet; `git chronicle knowledge add` adds some");
            }
            Ok(())
        }
        What::Show { id } => answer(&chronicle.show_knowledge(&id)?, ui),
        What::Remove { id } => {
            answer(&chronicle.remove_knowledge(&id)?, ui)?;
            ui.tell("removed");
            Ok(())
        }
        What::Add(args) => {
            let reply = chronicle.add_knowledge(&args.command()?)?;
            answer(&reply, ui)?;
            if !reply.changed {
                ui.tell("this is known already");
            }
            Ok(())
        }
    }
}

impl AddArgs {
    fn command(self) -> Result<AddKnowledge, CommandError> {
        let (kind, what) = match (self.rule, self.module, self.pattern) {
            (Some(rule), ..) => ("convention", NewKnowledge::Convention { scope: self.scope, rule }),
            (_, Some(module), _) => {
                let (owns, boundary) = (self.owns.unwrap_or_default(), self.boundary.unwrap_or_default());
                ("boundary", NewKnowledge::Boundary { module, owns, boundary })
            }
            (.., pattern) => {
                let (pattern, instead) = (pattern.unwrap_or_default(), self.instead.unwrap_or_default());
                ("anti-pattern", NewKnowledge::AntiPattern { pattern, instead })
            }
        };
        if self.kind.as_deref().is_some_and(|given| given.replace('_', "-") != kind) {
            return UsageSnafu { reason: format!("--type does not fit: this is a {kind}") }.fail();
        }
        let Self { decided_in, stability, learned_from, .. } = self;
        Ok(AddKnowledge { what, decided_in, stability, learned_from })
    }
}

fn answer(reply: &KnowledgeReply, ui: &mut Ui) -> Result<(), CommandError> {
    ui.answer(&render::knowledge(reply, ui.format(), &ui.view(false)))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    if !reply.redacted.is_empty() {
        ui.warn(&format!("secrets were replaced before storing: {}", reply.redacted.join(", ")));
    }
    Ok(())
}
