//! Work that goes on while nobody waits for it.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use chronicle::{Chronicle, counted_are};
use snafu::ensure;

use crate::{
    error::{CommandError, NoPersonSnafu},
    ui::Ui,
};

/// Whether such work is to be over before the command is: tests look at what it did.
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
pub(crate) fn is_foreground() -> bool {
    std::env::var_os("CHRONICLE_FOREGROUND").is_some()
}

/// Whether a hook, or a server for agents, is what runs.
static NOBODY_ATTENDS: AtomicBool = AtomicBool::new(false);

/// From now on this process is one that nobody runs by hand, and so is what it starts.
pub(crate) fn nobody_attends() {
    NOBODY_ATTENDS.store(true, Ordering::Relaxed);
}

/// Whether a remark has no reader: in a hook, and in what goes on in the background.
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
pub(crate) fn nobody_hears() -> bool {
    NOBODY_ATTENDS.load(Ordering::Relaxed) || std::env::var_os(chronicle_workplace::UNATTENDED).is_some()
}

/// Whether a hook, an agent or the work that they start runs this: a repository may have had the environment set.
pub(crate) fn is_unattended() -> bool {
    NOBODY_ATTENDS.load(Ordering::Relaxed) || is_of_agent()
}

/// Whether the environment is that of an agent, or of work that a hook or an agent started.
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
pub(crate) fn is_of_agent() -> bool {
    std::env::var_os(chronicle_workplace::UNATTENDED).is_some() || has_variables_of_agent()
}

/// Whether an agent has set variables of its own.
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
pub(crate) fn has_variables_of_agent() -> bool {
    // Each look at the environment copies all of it, and this process doesn't change it.
    static HAS_ANY: OnceLock<bool> = OnceLock::new();
    let is_one = |name: &str| chronicle_workplace::is_of_agent(name);
    *HAS_ANY.get_or_init(|| std::env::vars_os().any(|(name, _)| name.to_str().is_some_and(is_one)))
}

/// Lets what was not learned from sessions yet be learned behind the command, and says so.
pub(crate) fn learn(chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let n_left = chronicle.memory().learning().n_unlearned()?;
    if 0 < n_left {
        start(&["session", "ingest", "--queued"]);
        let sessions = counted_are(n_left, "session");
        ui.warn(&format!(
            "{sessions} not learned from yet: this continues in the background; ask again later"
        ));
    }
    Ok(())
}

/// Lets the binary run itself with `arguments`, apart from whoever called it. It says nothing.
pub(crate) fn start(arguments: &[&str]) {
    start_in(Path::new("."), arguments);
}

/// The same, in `directory`.
#[expect(clippy::disallowed_methods, reason = "the binary starts itself again, after a hook or a read")]
pub(crate) fn start_in(directory: &Path, arguments: &[&str]) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command
        .current_dir(directory)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Nobody is there who could be asked for a password.
    command.env("GIT_TERMINAL_PROMPT", "0").env("SSH_ASKPASS_REQUIRE", "force").env("SSH_ASKPASS", "false");
    if is_unattended() {
        command.env(chronicle_workplace::UNATTENDED, "1");
    }
    if std::env::var_os("GIT_ASKPASS").is_none() {
        // Nor does a repository's `core.askPass` run.
        command.env("GIT_ASKPASS", "false");
    }
    // Of its own group, so that an interrupt at the terminal does not reach it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    if is_foreground() {
        let _status = command.status();
        return;
    }
    // What cannot be started now is done behind the next hook or read.
    let Ok(mut child) = command.spawn() else { return };
    // A server outlives it, and is to leave no dead child around.
    let _reaped = thread::Builder::new().spawn(move || child.wait());
}

/// Makes sure that no agent runs this.
///
/// # Errors
/// When the environment shows one.
pub(crate) fn ensure_person() -> Result<(), CommandError> {
    let reason = "variables of the environment show that an agent runs it";
    ensure!(!is_of_agent(), NoPersonSnafu { reason });
    Ok(())
}
