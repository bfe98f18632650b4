//! Shows long answers through the user's pager, as git does.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use crate::background;

/// Shows `text`; false when there is no pager to be had. An agent has none: the variables that name it may be those of a
/// repository's settings, and nobody turns its pages.
#[expect(clippy::disallowed_methods, reason = "the pager is the user's, named by the environment")]
pub(crate) fn show(text: &str) -> bool {
    if background::is_of_agent() {
        return false;
    }
    // As git does, but for what a repository sets: it decides about no program.
    let variable = |name| std::env::var(name).ok();
    let named =
        variable("GIT_PAGER").or_else(chronicle_workplace::pager_of_user).or_else(|| variable("PAGER"));
    let pager = named.unwrap_or_else(|| "less".to_owned());
    if pager.is_empty() || pager == "cat" {
        return false;
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(&pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // A reader who quits early closes the pipe, and has seen enough.
    let _quit = stdin.write_all(text.as_bytes());
    drop(stdin);
    child.wait().is_ok_and(|status| status.success())
}
