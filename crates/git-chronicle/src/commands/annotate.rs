use std::{io::Read, path::PathBuf};

use chronicle::{AnnotateCommand, Chronicle, Given, Sources, render};
use snafu::ResultExt;

use crate::{
    error::{CommandError, StdinSnafu},
    ui::Ui,
};

/// Record why a commit is the way it is
///
/// Give a summary (why this approach, not what changed) and lessons: dead_end (tried and
/// failed), gotcha (a trap the code does not show), insight, unfinished_thread. Name the file
/// and the lines, or only the file: lines are found in the commit's own changes. Secrets are
/// replaced before anything is stored. What was stored is shown.
///
/// Annotating a commit again adds to what is there; the same content adds nothing.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("given").required(true))]
#[command(after_help = r#"Example:
  git chronicle annotate --live <<'EOF'
  {"summary": "Back off exponentially: linear retries kept the broker down",
   "wisdom": [{"category": "gotcha", "content": "max_backoff is in seconds, sleep() takes milliseconds",
               "file": "src/reconnect.rs", "lines": {"start": 55, "end": 55}}]}
  EOF"#)]
pub(crate) struct AnnotateArgs {
    /// Read the annotation as JSON from standard input
    #[arg(long, group = "given")]
    live: bool,

    /// The annotation as JSON
    #[arg(long, value_name = "JSON", group = "given", allow_hyphen_values = true)]
    json: Option<String>,

    /// Read the annotation as JSON from a file
    #[arg(long, value_name = "FILE", group = "given")]
    file: Option<PathBuf>,

    /// A summary alone
    #[arg(long, value_name = "TEXT", group = "given", allow_hyphen_values = true)]
    summary: Option<String>,

    /// Take the commit's message as the summary; adds nothing to an annotated commit
    #[arg(long, group = "given")]
    auto: bool,

    /// Propose lessons from the session that made the commit, to be confirmed; stores nothing
    #[arg(long, group = "given")]
    from_session: bool,

    /// Take over what is known about this commit, which the commit took the place of
    #[arg(long, value_name = "OLD", group = "given", allow_hyphen_values = true)]
    amend_source: Option<String>,

    /// Take over what is known about commits that were squashed: revisions, or a range A..B
    #[arg(long, value_name = "REVS", group = "given", value_delimiter = ',', allow_hyphen_values = true)]
    squash_sources: Vec<String>,

    /// The commit to annotate, any revision; HEAD by default
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    commit: Option<String>,

    /// Let the one lesson given replace the entry with this id
    #[arg(long, value_name = "ID")]
    replace: Vec<String>,

    /// Let the summary take the place of your own earlier one, which is kept beside it
    #[arg(long)]
    replace_summary: bool,
}

pub(crate) fn run(args: AnnotateArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.from_session {
        let candidates = chronicle.candidates(args.commit.as_deref())?;
        return ui.answer(&render::candidates(&candidates, ui.format(), &ui.view(false)));
    }
    let from = match args.amend_source {
        Some(old) => Some(Sources::Amended(old)),
        None if args.squash_sources.is_empty() => None,
        None => Some(Sources::Squashed(args.squash_sources)),
    };
    let given = match (args.live, args.json, args.file, args.summary) {
        (true, ..) => Given::Json(limited(std::io::stdin().lock()).context(StdinSnafu)?),
        (_, Some(json), ..) => Given::Json(json.into_bytes()),
        (_, _, Some(path), _) => {
            let read = std::fs::File::open(&path).and_then(limited);
            Given::Json(read.map_err(|source| chronicle::Error::ReadInput { path, source })?)
        }
        (_, _, _, Some(summary)) => Given::Summary(summary),
        _ => from.map_or(Given::Message, Given::From),
    };
    let command = AnnotateCommand {
        given,
        commit: args.commit,
        replace: args.replace,
        replace_summary: args.replace_summary,
    };
    let reply = chronicle.annotate(command)?;
    ui.answer(&render::stored(&reply, ui.format(), &ui.view(false)))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    if !reply.redacted.is_empty() {
        ui.warn(&format!("secrets were replaced before storing: {}", reply.redacted.join(", ")));
    }
    Ok(())
}

/// Reads a little more than is ever accepted, so that endless input ends.
fn limited(input: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = chronicle::MAX_INPUT_BYTES as u64 + 1;
    input.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
