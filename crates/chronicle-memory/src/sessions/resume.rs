//! How a session is gone on with, by the agent that led it.

use std::path::Path;

use chronicle_core::{is_session_id, plain};
use chronicle_search::NamedSession;
use chronicle_workplace::{
    Error,
    error::{NotResumableSnafu, UnknownSessionSnafu},
};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::{OptionExt, ensure};

use crate::Memory;

/// What goes on with a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resumption {
    /// Always `chronicle-resume/v1`.
    pub schema: &'static str,
    /// The session's id.
    pub session: String,
    /// The agent it was led with.
    pub agent: String,
    /// What it was about.
    pub title: String,
    /// When it ended.
    pub ended: Option<String>,
    /// The folder to run the command in.
    pub folder: String,
    /// The agent's own command, word by word.
    pub command: Vec<String>,
    /// Why it may fail: what is gone.
    pub warnings: Vec<String>,
}

/// The command of an agent that goes on with the session `id`; none for an agent without one.
fn command_of(agent: &str, id: &str) -> Option<Vec<String>> {
    let words: &[&str] = match agent {
        "claude" => &["claude", "--resume", id],
        "codex" => &["codex", "resume", id],
        "gemini" => &["gemini", "--resume", id],
        "copilot" => &["copilot", "--resume", id],
        "opencode" => &["opencode", "--session", id],
        _ => return None,
    };
    Some(words.iter().map(|word| (*word).to_owned()).collect())
}

impl Memory<'_> {
    /// What goes on with a session: the one that `named` begins the id of, or in which the thread came up that it names.
    /// Without a name, the latest one of the current project.
    ///
    /// # Errors
    /// When there is no such session or thread, or its agent has no command that goes on with it.
    pub fn resumption(&self, named: Option<&str>) -> Result<Resumption, Error> {
        let shown = self.session(&self.session_to_go_on_with(named)?, false)?;
        let (id, agent) = (&shown.listed.session, &shown.listed.agent);
        // The id is an agent's word, and becomes an argument of a program.
        ensure!(is_session_id(id), NotResumableSnafu { reason: "its id isn't one that an agent gives" });
        let reason = format!("Chronicle has no command for continuing a session of `{agent}`");
        let mut warnings = Vec::new();
        if !Path::new(&shown.folder).is_dir() {
            warnings.push(format!("its folder is gone: {}", plain(&shown.folder)));
        }
        if !shown.transcripts.iter().any(|(_, is_there)| *is_there) {
            warnings
                .push(format!("its transcript is gone; {} may not know the session any more", plain(agent)));
        }
        Ok(Resumption {
            schema: "chronicle-resume/v1",
            command: command_of(agent, id).context(NotResumableSnafu { reason })?,
            session: id.clone(),
            agent: agent.clone(),
            title: shown.listed.title.clone(),
            ended: shown.listed.ended.clone(),
            folder: shown.folder,
            warnings,
        })
    }

    /// The id, or its beginning, of the session that `named` means: see [`Memory::resumption`].
    pub(crate) fn session_to_go_on_with(&self, named: Option<&str>) -> Result<String, Error> {
        let start = match named {
            Some(named) => self.session_or_thread(named)?,
            None => {
                let reason = "session memory has no session of this project";
                let list = self.sessions(None, false, None, 1)?;
                list.sessions.into_iter().next().context(UnknownSessionSnafu { reason })?.session
            }
        };
        // What a sub-agent did goes on in the session that started it.
        Ok(start.split('/').next().unwrap_or_default().to_owned())
    }

    /// The id, or its beginning, of the session that is named itself or by one of its threads.
    fn session_or_thread(&self, named: &str) -> Result<String, Error> {
        let Some(memory) = self.open()? else { return Ok(named.to_owned()) };
        let sessions = memory.store.read(|connection| NamedSession::by_start(connection, named, 1))?;
        if !sessions.is_empty() || named.is_empty() {
            return Ok(named.to_owned());
        }
        match self.threads().show(named) {
            Ok(shown) => {
                let reason = format!("no session is known for the thread `{}`", named.escape_debug());
                shown.thread.session.context(UnknownSessionSnafu { reason })
            }
            // It is about a session, most likely.
            Err(Error::UnknownThread { .. }) => Ok(named.to_owned()),
            Err(other) => Err(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use chronicle_sessions::Agent;

    use super::*;

    #[test]
    fn each_agent_has_its_command() {
        let of = |agent: Agent| command_of(agent.name(), "5e5510").map(|words| words.join(" "));
        let expected = [
            Some("claude --resume 5e5510"),
            Some("gemini --resume 5e5510"),
            Some("codex resume 5e5510"),
            Some("copilot --resume 5e5510"),
            Some("opencode --session 5e5510"),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
        ];
        assert_eq!(Agent::ALL.map(of).each_ref().map(Option::as_deref), expected);
    }
}
