use std::path::PathBuf;

use chronicle::Chronicle;
use chronicle_render::Format;
use chronicle_view::{self as view, ShareForm, SharedSession};
use snafu::ensure;

use crate::{
    arguments::OutputFormat,
    error::{CommandError, UsageSnafu},
    surroundings::environment,
    ui::Ui,
};

/// Write one session as a file to hand on, without secrets and local folders
///
/// Shows what is in the file and asks before it is written: a page (`--format html`, the default) or
/// Markdown (`--format markdown`). The page loads nothing. Only you can read the file, until you
/// hand it on.
#[derive(Debug, clap::Args)]
pub(crate) struct ShareArgs {
    /// The id of the session, or the beginning of it
    id: String,

    /// The file to write [default: `session-ID.html` or `.md`]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Leave the turns out: only the summary, decisions, commits and open questions
    #[arg(long)]
    summary: bool,

    /// Write without asking
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(args: &ShareArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let form = match ui.named_format() {
        None | Some(OutputFormat::Html) => ShareForm::Html,
        Some(OutputFormat::Answer(Format::Markdown)) => ShareForm::Markdown,
        Some(_) => return UsageSnafu { reason: "`share` writes the formats `html` and `markdown`" }.fail(),
    };
    let session = chronicle.memory().session(&args.id, !args.summary)?;
    let home = environment("HOME").map(|home| home.to_string_lossy().into_owned());
    let shared = SharedSession::new(session, home.as_deref(), chronicle.workplace().now());
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from(shared.file_name(form)));
    let contents = shared.contents(form);
    ui.tell(&format!("{}: {}", path.display(), contents.title));
    for line in &contents.lines {
        ui.tell(&format!("  {line}"));
    }
    if !args.yes {
        ensure!(
            ui.can_ask(),
            UsageSnafu { reason: "`share` asks before it writes; without a terminal, add --yes" }
        );
        if !ui.agrees("write it?") {
            ui.tell("nothing was written");
            return Ok(());
        }
    }
    view::write(&path, &shared.file(form))?;
    ui.tell(&format!("wrote {}", path.display()));
    Ok(())
}
