use std::{
    ffi::OsString,
    io::Read,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use chronicle::Chronicle;
use chronicle_annotator::Annotator;
use chronicle_serve::hooks::{self, AgentEvent, Behind, Host, Surroundings};
use chronicle_workplace::Code;

use crate::{background, error::CommandError, limits, surroundings::environment, ui::Ui};

/// Do the work of one of git's hooks, or of an agent's
///
/// The hooks that `git chronicle init` and `git chronicle setup` make run this. It never fails: it
/// must stop neither git nor an agent.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The hook, as git names it, or the agent
    name: String,

    /// What git gives the hook, or the event
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// What a hook left to be done because another process held a lock; like the next one, no remote can have this name.
const AGAIN: &str = "post-commit:again";
/// Our own name for what goes on behind a hook.
const DETACHED: &str = "detached";
/// The hook that gives notes to a remote along with a push.
const PRE_PUSH: &str = "pre-push";
/// Our own name for filling the facts in the background.
const FACTS: &str = chronicle_workplace::FILL[1];
/// What the beginning of a session is an occasion for.
const SESSION: &str = "session:start";
/// Agents hand over whole files with every edit; a payload that is longer is none.
const MAX_PAYLOAD_BYTES: u64 = 16 << 20;
/// An agent's hook that takes longer than this tells nothing.
const LONGEST_HOOK: Duration = Duration::from_secs(4);
/// A rebase of so many commits that its list is longer has not been seen.
const MAX_INPUT_BYTES: u64 = 64 << 20;

impl HookArgs {
    /// Whether nobody waits for it.
    pub(crate) fn is_in_background(&self) -> bool {
        self.name == DETACHED || self.name == FACTS
    }
}

/// Says what a hook returned besides being done.
fn warned(
    done: Result<Vec<String>, chronicle_workplace::Error>,
    ui: &mut Ui,
) -> Result<(), chronicle_workplace::Error> {
    done.map(|warnings| warnings.iter().for_each(|warning| ui.warn(warning)))
}

/// A hook answers nothing. What goes wrong is a remark.
pub(crate) fn run(args: &HookArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if let Some(host) = Host::named(&args.name) {
        return of_agent(host, args, chronicle, ui);
    }
    if args.name == limits::PARSER {
        limits::serve_parser();
        return Ok(());
    }
    let done = match args.name.as_str() {
        "prepare-commit-msg" => chronicle.git_hooks().before_commit(),
        "post-commit" => warned(chronicle.git_hooks().after_commit(), ui),
        "post-rewrite" => {
            let mut input = String::new();
            let _read = std::io::stdin().lock().take(MAX_INPUT_BYTES).read_to_string(&mut input);
            warned(chronicle.git_hooks().after_rewrite(&input), ui)
        }
        PRE_PUSH => {
            // What goes on behind it asks nothing and is waited for by nobody.
            let remote = args.arguments.first().and_then(|name| name.to_str());
            if let Some(remote) = remote.filter(|remote| chronicle.remotes().is_shared_with(remote)) {
                background::start(&["hook", DETACHED, remote]);
            }
            return Ok(());
        }
        FACTS => {
            // Nobody is there to be told what went wrong.
            let _made = chronicle.workplace().fill();
            return Ok(());
        }
        DETACHED => match args.arguments.first().and_then(|name| name.to_str()) {
            Some(SESSION) => chronicle.agents().behind_session_start(),
            Some(AGAIN) => {
                chronicle.git_hooks().after_commit().and_then(|_| chronicle.git_hooks().behind_commit())
            }
            Some(remote) => chronicle.remotes().along(remote),
            None => chronicle.git_hooks().behind_commit(),
        },
        // Only what is done in the background.
        "post-checkout" | "post-merge" => Ok(()),
        // A hook of another version of ours.
        _ => return Ok(()),
    };
    if args.name == DETACHED {
        return Ok(());
    }
    let is_done = done.is_ok();
    // Git waits no longer for another process of ours.
    let is_left =
        args.name == "post-commit" && done.as_ref().is_err_and(chronicle_workplace::Error::is_locked);
    if let Err(error) = done
        && is_told(&error)
    {
        let _code: ExitCode = crate::error::report(&error.into(), ui);
    }
    // After an amend git runs `post-rewrite` too, which knows all that there is to take along: the search for what
    // nobody saw can wait until the next commit.
    let is_amend = match args.name.as_str() {
        "post-commit" => chronicle.git_hooks().is_amended(),
        "post-rewrite" => is_done && args.arguments.first().is_some_and(|how| how == "amend"),
        _ => false,
    };
    if is_left {
        background::start(&["hook", DETACHED, AGAIN]);
    } else if !is_amend && chronicle.git_hooks().has_notes() {
        background::start(&["hook", DETACHED]);
    }
    if args.name == "post-commit"
        && let Some(commit) = Annotator::new(chronicle).commit_behind_hook()
    {
        background::start(&["annotate", "--agent", "--by-session", "--commit", &commit]);
    }
    Ok(())
}

/// Whether a hook says what went wrong. A home of session memory that is not the user's is no mistake of who works there:
/// a file of the repository may have had it set.
fn is_told(error: &chronicle_workplace::Error) -> bool {
    !matches!(error.code(), Code::HomeInRepository | Code::HomeOfAnother | Code::NotARepository)
}

/// Answers one of an agent's hooks. Whatever happens, it ends well and in time, with an answer that the agent takes.
fn of_agent(host: Host, args: &HookArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    static IS_ANSWERED: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|_| std::process::exit(0)));
    thread::spawn(|| {
        thread::sleep(LONGEST_HOOK);
        if !IS_ANSWERED.swap(true, Ordering::SeqCst) {
            std::process::exit(0);
        }
    });
    let event = args.arguments.first().and_then(|name| name.to_str()).and_then(AgentEvent::named);
    let mut payload = Vec::new();
    let _read = std::io::stdin().lock().take(MAX_PAYLOAD_BYTES + 1).read_to_end(&mut payload);
    if MAX_PAYLOAD_BYTES < payload.len() as u64 {
        // The agent still writes, and must not be stopped by a closed pipe: the time limit ends this.
        payload = Vec::new();
        let _dropped = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    }
    // Whoever set up an event that this version does not know gets no answer.
    let Some(event) = event else { return Ok(()) };
    let surroundings = Surroundings { environment };
    let answer = hooks::answer(chronicle, surroundings, host, event, &payload);
    if IS_ANSWERED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    if let Some(error) = answer.failed.filter(is_told) {
        let _code: ExitCode = crate::error::report(&error.into(), ui);
    }
    // The agent may have gone away.
    let _written = ui.answer(&answer.stdout);
    match answer.behind {
        Some(Behind::Queue) => background::start(&["session", "ingest", "--queued"]),
        Some(Behind::SessionEnd(id)) => {
            background::start(&["session", "ingest", "--queued", &format!("--ended={id}")]);
        }
        Some(Behind::SessionStart) => background::start(&["hook", DETACHED, SESSION]),
        None => {}
    }
    Ok(())
}
