//! Work that goes on while nobody waits for it.

use std::process::{Command, Stdio};

/// Whether such work is to be over before the command is: tests look at what it did.
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
pub(crate) fn is_foreground() -> bool {
    std::env::var_os("CHRONICLE_FOREGROUND").is_some()
}

/// Lets the binary run itself with `arguments`, apart from whoever called it. It says nothing.
#[expect(clippy::disallowed_methods, reason = "the binary starts itself again, behind a hook")]
pub(crate) fn start(arguments: &[&str]) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Nobody is there who could be asked for a password.
    command.env("GIT_TERMINAL_PROMPT", "0").env("SSH_ASKPASS_REQUIRE", "force").env("SSH_ASKPASS", "false");
    // Of its own group, so that an interrupt at the terminal does not reach it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    if is_foreground() {
        let _status = command.status();
        return;
    }
    // What cannot be started now is done behind the next hook.
    let _started = command.spawn();
}
