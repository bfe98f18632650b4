use std::io::Read;

use chronicle::{Category, CheckScope, Chronicle};
use chronicle_render::{self as render, Format, Host};
use clap::ValueEnum;
use snafu::ResultExt;

use crate::{
    error::{CommandError, StdinSnafu, TouchedSnafu, UsageSnafu},
    ui::Ui,
};

/// Show which lessons a change touches, before it is committed or merged
///
/// Compares the working tree with HEAD by default. Lessons are looked up in the version before the
/// change: those on changed or removed lines, those about a whole changed file, and code elsewhere
/// that declares to rely on the changed items. Made for pre-commit hooks and CI.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 done; 1 lessons of --fail-on are touched; 2 the check cannot run; 70 a bug in Chronicle."
)]
pub(crate) struct CheckArgs {
    /// `-` reads a unified diff, starting from HEAD, from standard input
    #[arg(value_name = "-", value_parser = ["-"], conflicts_with_all = ["diff", "staged"])]
    input: Option<String>,

    /// The changes between two commits: A..B, A...B, or A alone against the working tree
    #[arg(long, value_name = "RANGE", conflicts_with = "staged", allow_hyphen_values = true)]
    diff: Option<String>,

    /// The staged changes, against HEAD
    #[arg(long)]
    staged: bool,

    /// Exit with 1 if the change touches lines of lessons of these kinds
    #[arg(long, value_name = "CATEGORY,…", value_delimiter = ',')]
    fail_on: Vec<Category>,

    /// Write the answer as remarks for a code host
    #[arg(long, value_name = "HOST")]
    annotations: Option<HostName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HostName {
    Github,
    Gitlab,
}

/// The largest diff that is read.
const MAX_DIFF_BYTES: u64 = 512 << 20;

pub(crate) fn run(args: &CheckArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let scope = match (&args.input, &args.diff) {
        (Some(_), _) => CheckScope::Diff(diff()?),
        (None, Some(range)) => CheckScope::Range(range.clone()),
        (None, None) if args.staged => CheckScope::Staged,
        (None, None) => CheckScope::WorkTree,
    };
    // What is not shown need not be made.
    let is_text = args.annotations.is_none() && ui.format() != Format::Json;
    let most_dependents = if is_text { render::MAX_DEPENDENTS } else { usize::MAX };
    let check = chronicle
        .check(&scope, &args.fail_on, most_dependents)
        .map_err(|source| CommandError::Check { source })?;
    let answer = match args.annotations {
        Some(HostName::Github) => render::annotations(&check, Host::GitHub),
        Some(HostName::Gitlab) => render::annotations(&check, Host::GitLab),
        // The files here are as the diff leaves them only where it is that of the working tree.
        None if ui.format() == Format::Pretty && matches!(scope, CheckScope::WorkTree) => {
            let code = chronicle.present_code();
            render::check_with_code(&check, &ui.view(false), &|file, lines| code.line(file, lines))
        }
        None => render::check(&check, ui.format(), &ui.view(false)),
    };
    match args.annotations {
        Some(_) => ui.raw(&chronicle::shown_json(&answer))?,
        None => ui.answer(&answer)?,
    }
    for warning in &check.warnings {
        ui.warn(warning);
    }
    if check.files.is_empty() {
        ui.tell(&format!("no lessons are touched; files changed: {}", check.n_files));
    }
    let n_lessons = check.n_failing;
    // The process ends: thousands of dependents need not be taken down one by one.
    std::mem::forget(check);
    snafu::ensure!(n_lessons == 0, TouchedSnafu { n_lessons });
    Ok(())
}

fn diff() -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_DIFF_BYTES + 1).read_to_end(&mut bytes).context(StdinSnafu)?;
    if MAX_DIFF_BYTES < bytes.len() as u64 {
        return UsageSnafu { reason: "the diff is too large to be checked" }.fail();
    }
    Ok(bytes)
}
