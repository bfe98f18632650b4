use std::path::PathBuf;

use chronicle::{Chronicle, InvalidRange, LineRange, WhyScope};
use chronicle_render::{self as render, Format};

use crate::{error::CommandError, ui::Ui};

/// Show why a line is as it is: its commit, its session and its lessons
///
/// Shows which commits wrote the lines as they are now, as `git blame` does, with their messages
/// and lessons. If session memory has an edit that wrote them, also the session, the request, and
/// the agent's words around the edit. Uncommitted lines are marked.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "git chronicle why [OPTIONS] FILE:LINE|START-END\n       git chronicle why [OPTIONS] FILE LINE|START:END|ANCHOR"
)]
pub(crate) struct WhyArgs {
    /// The file, with the line or lines after a colon unless they are a separate argument
    #[arg(value_name = "FILE[:LINE]")]
    file: PathBuf,

    /// A line, a range of lines, or an item such as `Pool::acquire`
    #[arg(value_name = "LINE|ANCHOR", conflicts_with = "anchor")]
    place: Option<String>,

    /// Item of the file, when it could be taken for a line
    #[arg(long, value_name = "ANCHOR", allow_hyphen_values = true)]
    anchor: Option<String>,
}

pub(crate) fn run(args: WhyArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let (file, scope) = match (args.place, args.anchor) {
        (_, Some(anchor)) => (args.file, WhyScope::Anchor(anchor)),
        (Some(place), None) => (args.file, scope(place)?),
        (None, None) => match WhyScope::behind_colon(&args.file) {
            Some(place) => place.map_err(|error| invalid(&error))?,
            None => {
                let path = args.file.to_string_lossy().escape_debug().to_string();
                return Err(chronicle_workplace::Error::LineMissing { path }.into());
            }
        },
    };
    let why = chronicle.why(file, scope)?;
    let code = chronicle.present_code();
    let answer = match ui.format() {
        Format::Pretty => render::why_with_code(&why, &ui.view(false), &|file, lines| code.line(file, lines)),
        format => render::why(&why, format, &ui.view(false)),
    };
    ui.answer(&answer)?;
    for warning in &why.warnings {
        ui.warn(warning);
    }
    Ok(())
}

/// Lines, where it reads like lines; else an item.
fn scope(place: String) -> Result<WhyScope, CommandError> {
    let is_lines = place.starts_with(|first: char| first.is_ascii_digit())
        && place.chars().all(|character| character.is_ascii_digit() || ":,-".contains(character));
    if !is_lines {
        return Ok(WhyScope::Anchor(place));
    }
    let lines: LineRange = place.parse().map_err(|error| invalid(&error))?;
    Ok(WhyScope::Lines(lines))
}

fn invalid(error: &InvalidRange) -> CommandError {
    CommandError::Usage { reason: error.to_string() }
}
