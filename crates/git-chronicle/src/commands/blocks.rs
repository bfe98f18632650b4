use std::{io::Read, path::PathBuf};

use chronicle::Chronicle;
use chronicle_memory::blocks::{DEFAULT_LIMIT, ShownBlock};
use chronicle_render as render;
use clap::Subcommand;
use snafu::ResultExt;

use crate::{
    editor,
    error::{CommandError, StdinSnafu},
    ui::Ui,
};

/// Show or change blocks of memory: short texts about you and your work
///
/// Rules keep them up to date in the background. Your own lines stay, and lines that you remove
/// stay removed. Each change is a version.
#[derive(Debug, clap::Args)]
pub(crate) struct BlocksArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List all blocks
    List,
    /// Show a block, or all of them
    Show {
        /// Its label
        label: Option<String>,
        /// As it was in this version
        #[arg(long, value_name = "N", requires = "label")]
        at: Option<u64>,
        /// Name the sessions that support each line, and the lines that you removed
        #[arg(long)]
        verbose: bool,
        /// Render threads and sessions of this project
        #[arg(long)]
        project: Option<String>,
        /// Render threads and sessions of every project
        #[arg(long, conflicts_with = "project")]
        all: bool,
    },
    /// Change a block in your editor, the one that git opens
    Edit {
        /// Its label
        label: String,
    },
    /// Replace the whole text of a block
    ///
    /// Lines that rules wrote are removed, too, for good: to add a line of yours, use `edit`. A text over the limit is
    /// refused and kept; the next `edit` opens it.
    Set {
        /// Its label
        label: String,
        /// The text; without it, standard input
        text: Option<String>,
    },
    /// Restore an earlier version of a block
    Revert {
        /// Its label
        label: String,
        /// The version
        version: u64,
    },
    /// List the versions of a block, the newest first, with what changed and why
    History {
        /// Its label
        label: String,
    },
    /// Find lines with all of these words, removed lines included
    Find {
        /// The words
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Make a block of your own, which only you write
    Create {
        /// Its label: letters, digits, `_` and `-`
        label: String,
        /// The most characters it can have
        #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
        limit: usize,
        /// Its subject
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
    },
    /// Remove a block of your own, with all its versions
    Remove {
        /// Its label
        label: String,
    },
}

/// More text than any block can have.
const MAX_BYTES: u64 = 1 << 20;

pub(crate) fn run(args: BlocksArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let shown = match args.what {
        What::List => {
            return ui.answer(&render::block_list(
                &chronicle.memory().blocks().list()?,
                ui.format(),
                &ui.view(false),
            ));
        }
        What::Show { label: None, verbose, project, all, .. } => {
            let mut out = String::new();
            for listed in chronicle.memory().blocks().list()?.blocks {
                let block = chronicle.memory().blocks().show(&listed.label, None, project.as_deref(), all)?;
                if !out.is_empty() && ui.format() != render::Format::Json {
                    out.push('\n');
                }
                out.push_str(&render::block(&block, ui.format(), &ui.view(verbose)));
            }
            return ui.answer(&out);
        }
        What::Show { label: Some(label), at, verbose, project, all } => {
            let block = chronicle.memory().blocks().show(&label, at, project.as_deref(), all)?;
            return ui.answer(&render::block(&block, ui.format(), &ui.view(verbose)));
        }
        What::Edit { label } => edit(&label, chronicle, ui)?,
        What::Set { label, text } => {
            let text = match text.filter(|text| text != "-") {
                Some(text) => text,
                None => {
                    let mut text = String::new();
                    std::io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text).context(StdinSnafu)?;
                    text
                }
            };
            set(&label, &text, chronicle)?
        }
        What::Revert { label, version } => chronicle.memory().blocks().revert(&label, version)?,
        What::History { label } => {
            let history = chronicle.memory().blocks().history(&label)?;
            return ui.answer(&render::block_history(&history, ui.format(), &ui.view(false)));
        }
        What::Find { words } => {
            let found = chronicle.memory().blocks().find(&words.join(" "))?;
            return ui.answer(&render::block_lines(&found, ui.format(), &ui.view(false)));
        }
        What::Create { label, limit, description } => {
            chronicle.memory().blocks().create(&label, limit, &description)?
        }
        What::Remove { label } => {
            let removed = chronicle.memory().blocks().remove(&label)?;
            ui.answer(&render::block(&removed, ui.format(), &ui.view(false)))?;
            ui.tell(&format!("`{label}` is removed, with all its versions"));
            return Ok(());
        }
    };
    if !shown.redacted.is_empty() {
        ui.warn(&format!("secrets were replaced before storing: {}", shown.redacted.join(", ")));
    }
    ui.answer(&render::block(&shown, ui.format(), &ui.view(false)))
}

/// Gives a block a text. One that is refused for what it says is kept for the editor.
fn set(label: &str, text: &str, chronicle: &Chronicle) -> Result<ShownBlock, CommandError> {
    let path = kept_text(label, chronicle)?;
    match chronicle.memory().blocks().set(label, text, None) {
        Ok(shown) => {
            let _removed = std::fs::remove_file(&path);
            Ok(shown)
        }
        Err(source @ chronicle_workplace::Error::BlockTooLong { .. }) => {
            editor::write_private(&path, text)
                .map_err(|source| chronicle_workplace::Error::WriteOutput { path: path.clone(), source })?;
            Err(CommandError::KeptText { path, source })
        }
        Err(error) => Err(error.into()),
    }
}

/// Where a text for a block is kept while it is edited, and when it is refused.
fn kept_text(label: &str, chronicle: &Chronicle) -> Result<PathBuf, CommandError> {
    Ok(chronicle.workplace().memory_home()?.join("edited").join(format!("{label}.md")))
}

/// Lets the user change a block in an editor. A text that is refused is kept, and opened again the next time.
fn edit(label: &str, chronicle: &Chronicle, ui: &mut Ui) -> Result<ShownBlock, CommandError> {
    let block = chronicle.memory().blocks().show(label, None, None, false)?;
    if block.listed.is_rendering {
        return Ok(chronicle.memory().blocks().set(label, "", None)?);
    }
    let path = kept_text(label, chronicle)?;
    editor::edit(&path, &format!("{}\n", block.value), ui, |text| {
        chronicle.memory().blocks().set(label, text, Some(block.listed.version.unwrap_or(0)))
    })
}
