use std::{ffi::OsString, process::ExitCode};

use chronicle::Chronicle;

use crate::{error::CommandError, ui::Ui};

/// Do what is to be done in one of git's hooks
///
/// Hooks that `git chronicle init` sets up run this. It never fails: git must not be stopped by it.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The hook, as git names it
    name: String,

    /// What git gives the hook
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// A hook answers nothing. What goes wrong is a remark.
pub(crate) fn run(args: &HookArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let done = match (args.name.as_str(), &args.arguments[..]) {
        ("post-commit" | "post-rewrite", _) => chronicle.after_commit().map(drop),
        // A hook of another version of ours.
        _ => Ok(()),
    };
    if let Err(error) = done {
        let _code: ExitCode = crate::error::report(&error.into(), ui);
    }
    Ok(())
}
