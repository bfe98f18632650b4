use std::{io::Read, path::PathBuf};

use chronicle::Chronicle;

use crate::{error::CommandError, ui::Ui};

/// Print one line for an agent's status line: open threads, and whether HEAD is annotated
///
/// Reads the agent's JSON on standard input. Prints nothing if there is nothing to show, or on any
/// error: an agent's status line is no place for errors.
#[derive(Debug, clap::Args)]
pub(crate) struct StatuslineArgs {}

/// What an agent tells of itself is much shorter.
const MAX_BYTES: u64 = 1 << 20;

pub(crate) fn run(_args: &StatuslineArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let mut input = Vec::new();
    let _read = std::io::stdin().lock().take(MAX_BYTES).read_to_end(&mut input);
    let here = folder(&input).map(|folder| chronicle.at(&folder));
    let line = here.as_ref().unwrap_or(chronicle).status_line().text();
    if !line.is_empty() {
        // Nobody reads it: then nobody misses it.
        let _answered = ui.answer(&format!("{line}\n"));
    }
    Ok(())
}

/// The folder that the agent works in.
fn folder(input: &[u8]) -> Option<PathBuf> {
    let payload: serde_json::Value = serde_json::from_slice(input).ok()?;
    let named = payload["workspace"]["current_dir"].as_str().or_else(|| payload["cwd"].as_str());
    named.map(PathBuf::from).filter(|folder| folder.is_absolute() && folder.is_dir())
}
