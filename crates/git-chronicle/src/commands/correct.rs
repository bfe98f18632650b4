use std::path::PathBuf;

use chronicle::{Chronicle, CorrectCommand};

use super::flag::tell;
use crate::{error::CommandError, ui::Ui};

/// Remove a wrong value from a lesson, or replace it with the right one
///
/// Name the lesson by its id, or by its commit together with its subject. Readers see the
/// correction; the removed value is hidden unless they ask with --verbose. If several lessons hold
/// the value, they are listed and nothing is changed.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("change").required(true))]
pub(crate) struct CorrectArgs {
    /// Id of a lesson, or a commit
    #[arg(value_name = "ID|COMMIT", allow_hyphen_values = true)]
    target: String,

    /// Only lessons about this item of code
    #[arg(long, value_name = "ANCHOR", allow_hyphen_values = true)]
    region: Option<String>,

    /// Only lessons about this file
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,

    /// The field that is wrong: content of a lesson; intent, reasoning, constraints, risk_notes,
    /// semantic_dependencies of a code unit; summary of a commit; tags, depends_on
    #[arg(long)]
    field: String,

    /// The value to remove, or a unique part of it
    #[arg(long, value_name = "TEXT", group = "change", allow_hyphen_values = true)]
    remove: Option<String>,

    /// The value to replace, and the new one
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], group = "change", allow_hyphen_values = true)]
    amend: Option<Vec<String>>,

    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
}

pub(crate) fn run(args: CorrectArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let CorrectArgs { target, region, path, field, remove, amend, reason } = args;
    let mut amend = amend.unwrap_or_default().into_iter();
    let value = remove.or_else(|| amend.next()).unwrap_or_default();
    let replacement = amend.next();
    let command = CorrectCommand { target, region, path, field, value, replacement, reason };
    tell(&chronicle.correct(&command)?, ui)
}
