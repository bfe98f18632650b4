use std::path::PathBuf;

use chronicle::{Chronicle, CorrectCommand};

use super::flag::tell;
use crate::{error::CommandError, ui::Ui};

/// Arguments that say which value of a lesson is wrong.
const OF_VALUES: [&str; 4] = ["field", "region", "path", "reason"];

/// Remove a wrong value from a lesson, or replace it with the right one
///
/// Name the lesson by its id, or by its commit together with its subject. Readers see the
/// correction; the removed value is hidden unless they ask with --verbose. If several lessons hold
/// the value, they are listed and nothing is changed.
///
/// A replaced or expired lesson is still shown, marked and after everything else. `annotate --replace` replaces one while the newer one is written.
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
    /// semantic_dependencies of a code unit; summary of a commit; tags, depends_on. By default content,
    /// intent or summary
    #[arg(long)]
    field: Option<String>,

    /// The value to remove, or a unique part of it
    #[arg(long, value_name = "TEXT", group = "change", allow_hyphen_values = true)]
    remove: Option<String>,

    /// The value to replace, and the new one
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], group = "change", allow_hyphen_values = true)]
    amend: Option<Vec<String>>,

    /// Id of the newer lesson that replaces this one, wherever the newer one is in the history
    #[arg(long, value_name = "ID", group = "change", conflicts_with_all = OF_VALUES)]
    superseded_by: Option<String>,

    /// The lesson ends: now, or with `--expire=TIME` then, a date or an RFC 3339 time. An earlier
    /// end stays
    #[arg(
        long, value_name = "TIME", group = "change", num_args = 0..=1, require_equals = true,
        default_missing_value = "", conflicts_with_all = OF_VALUES
    )]
    expire: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
}

pub(crate) fn run(args: CorrectArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let CorrectArgs { target, region, path, field, remove, amend, superseded_by, expire, reason } = args;
    if let Some(newer) = superseded_by {
        return tell(&chronicle.supersede(&target, &newer)?, ui);
    }
    if let Some(at) = expire {
        let at = Some(at.as_str()).filter(|at| !at.is_empty());
        return tell(&chronicle.expire(&target, at)?, ui);
    }
    let mut amend = amend.unwrap_or_default().into_iter();
    let value = remove.or_else(|| amend.next()).unwrap_or_default();
    let replacement = amend.next();
    let command = CorrectCommand { target, region, path, field, value, replacement, reason };
    tell(&chronicle.correct(&command)?, ui)
}
