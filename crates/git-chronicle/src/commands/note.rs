use std::path::PathBuf;

use chronicle::{Category, Chronicle, LineRange, NoteCommand};
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Keep a remark while working; the next annotation includes it
///
/// A remark belongs to the first commit made after it. It becomes a lesson of that commit when HEAD
/// is annotated, exactly once.
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArgs {
    /// The remark
    #[arg(required_unless_present_any = ["list", "clear"])]
    text: Option<String>,

    /// The kind of lesson: dead_end, gotcha, insight (the default) or unfinished_thread
    #[arg(long, value_name = "CATEGORY", requires = "text")]
    category: Option<Category>,

    /// The file it is about
    #[arg(long, value_name = "PATH", requires = "text")]
    file: Option<PathBuf>,

    /// The lines of the file as it is now
    #[arg(long, value_name = "START:END", requires = "file")]
    lines: Option<LineRange>,

    /// List the remarks that wait for their commit
    #[arg(long, conflicts_with = "text")]
    list: bool,

    /// Drop the remarks that wait for their commit
    #[arg(long, conflicts_with_all = ["text", "list"])]
    clear: bool,
}

pub(crate) fn run(args: NoteArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.clear {
        let n_remarks = chronicle.clear_staged()?;
        ui.tell(&format!("{n_remarks} staged remarks were dropped"));
        return Ok(());
    }
    let Some(text) = args.text else {
        let answer = render::staged(&chronicle.staged()?, ui.format(), &ui.view(false));
        if answer.is_empty() {
            ui.tell("no remarks are staged");
        }
        return ui.answer(&answer);
    };
    let command = NoteCommand { text, category: args.category, file: args.file, lines: args.lines };
    let (remark, redacted) = chronicle.note(&command)?;
    ui.answer(&render::staged(&[remark], ui.format(), &ui.view(false)))?;
    if !redacted.is_empty() {
        ui.warn(&format!("secrets were replaced before storing: {}", redacted.join(", ")));
    }
    Ok(())
}
