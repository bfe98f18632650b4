use std::{ffi::OsString, io::Read, process::ExitCode};

use chronicle::Chronicle;

use crate::{background, error::CommandError, ui::Ui};

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

/// Our own name for what goes on behind a hook.
const DETACHED: &str = "detached";
/// The hook that gives notes to a remote along with a push.
const PRE_PUSH: &str = "pre-push";
/// A rebase of so many commits that its list is longer has not been seen.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// A hook answers nothing. What goes wrong is a remark.
pub(crate) fn run(args: &HookArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let done = match args.name.as_str() {
        "prepare-commit-msg" => chronicle.before_commit(),
        "post-commit" => chronicle.after_commit(),
        "post-rewrite" => {
            let mut input = String::new();
            let _read = std::io::stdin().lock().take(MAX_INPUT_BYTES).read_to_string(&mut input);
            chronicle.after_rewrite(&input).map(|warnings| {
                for warning in &warnings {
                    ui.warn(warning);
                }
            })
        }
        PRE_PUSH => {
            // What goes on behind it asks nothing and is waited for by nobody.
            let remote = args.arguments.first().and_then(|name| name.to_str());
            if let Some(remote) = remote.filter(|remote| chronicle.is_shared_with(remote)) {
                background::start(&["hook", DETACHED, remote]);
            }
            return Ok(());
        }
        DETACHED => match args.arguments.first().and_then(|name| name.to_str()) {
            Some(remote) => chronicle.sync_along(remote),
            None => chronicle.reconcile_lazily(),
        },
        // Only what is done behind it, or a hook of another version of ours.
        _ => Ok(()),
    };
    if args.name == DETACHED {
        return Ok(());
    }
    let is_done = done.is_ok();
    if let Err(error) = done {
        let _code: ExitCode = crate::error::report(&error.into(), ui);
    }
    // After an amend git runs `post-rewrite` too, which knows all that there is to take along: the search for what
    // nobody saw can wait until the next commit.
    let is_amend = match args.name.as_str() {
        "post-commit" => chronicle.is_amended(),
        "post-rewrite" => is_done && args.arguments.first().is_some_and(|how| how == "amend"),
        _ => false,
    };
    if !is_amend && chronicle.has_notes() {
        background::start(&["hook", DETACHED]);
    }
    Ok(())
}
