use chronicle::{Chronicle, ask::AskCommand};
use chronicle_render::{self as render, Format};

use crate::{background, error::CommandError, ui::Ui};

/// Answer a question in plain words
///
/// Rules choose the command that answers it (`what was I doing?`, `what do I know about X?`, `how
/// do I usually Y?`, `which PRs did I open in March?`, `how many sessions touched Z?`, `how did I
/// fix "ERROR"?`, `why is FILE:LINE so?`). The answer names that command and cites its sources. If a model is set up, it only words the findings.
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    /// The question
    #[arg(required = true)]
    question: Vec<String>,

    /// About this project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// About every project
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// Use no model
    #[arg(long)]
    no_model: bool,
}

pub(crate) fn run(args: AskArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let command = AskCommand {
        question: args.question.join(" "),
        project: args.project,
        is_all: args.all,
        is_plain: args.no_model,
    };
    let measure = render::characters_of_brief(Format::Markdown, chronicle.workplace().now());
    let asked = chronicle.answer(&command, &measure)?;
    ui.answer(&render::asked(&asked, ui.format(), &ui.view(false)))?;
    for warning in &asked.warnings {
        ui.warn(warning);
    }
    // Only some answers rest on it.
    match asked.route {
        "preferences" | "patterns" | "skills" | "problems" | "projects" => background::learn(chronicle, ui),
        _ => Ok(()),
    }
}
