//! What the process is surrounded by: the clock and the environment.

use std::{ffi::OsString, path::Path};

use crate::background;

/// The time; tests pin it with `CHRONICLE_NOW`.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the clock and the environment are looked up"
)]
pub(crate) fn now() -> jiff::Timestamp {
    let pinned = std::env::var("CHRONICLE_NOW").ok().and_then(|text| text.parse().ok());
    let now = jiff::Timestamp::now();
    // Whoever sets variables for an agent must not let what the user prefers grow old.
    let latest = now.saturating_add(jiff::SignedDuration::from_hours(24)).unwrap_or(now);
    pinned.map_or(now, |pinned: jiff::Timestamp| pinned.min(latest))
}

/// Whether facts about the repository are kept: not where git's environment says to look elsewhere, nor where
/// `CHRONICLE_NO_CACHE` asks for answers from the repository alone (`CHRONICLE_NO_INDEX` in earlier versions).
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
pub(crate) fn may_keep_facts(directory: &Path) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    // In its hooks git names the repository that they run in.
    let is_named = |name: &str| matches!(name, "GIT_DIR" | "GIT_WORK_TREE");
    !is_set("CHRONICLE_NO_CACHE")
        && !is_set("CHRONICLE_NO_INDEX")
        && !chronicle::GLANCE_ENVIRONMENT.into_iter().any(|name| !is_named(name) && is_set(name))
        && !chronicle::is_named_elsewhere(directory)
}

/// Whether git may fetch what a partial clone lacks.
pub(crate) fn may_fetch() -> bool {
    environment("GIT_NO_LAZY_FETCH")
        .is_none_or(|value| matches!(value.as_encoded_bytes(), b"" | b"0" | b"false"))
}

/// A variable of the environment; [`chronicle_workplace::UNATTENDED`] is there also where only this process knows of it,
/// [`chronicle_workplace::OF_AGENT`] where an agent's variables are, and [`chronicle_workplace::ACCOUNT_HOME`] is what the
/// system says.
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
pub(crate) fn environment(name: &str) -> Option<OsString> {
    if name == chronicle_workplace::UNATTENDED && background::is_unattended() {
        return Some("1".into());
    }
    if name == chronicle_workplace::OF_AGENT {
        return background::has_variables_of_agent().then(|| "1".into());
    }
    if name == chronicle_workplace::ACCOUNT_HOME {
        let user = nix::unistd::User::from_uid(nix::unistd::Uid::current()).ok().flatten();
        return user.map(|user| user.dir.into_os_string());
    }
    std::env::var_os(name)
}
