//! Lessons that an agent was shown, and the lessons that it leaves on the same files.

use chronicle_commits::input::AnnotateInput;
use chronicle_core::Related;

use super::{AgentSession, ShownItem};
use crate::Agents;

/// Variables by which commands that an agent runs know its session.
const SESSIONS: [(&str, &str); 3] = [
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("CHRONICLE_SESSION_ID", "opencode"),
];

/// Links of one lesson at most.
const MOST_LINKS: usize = 3;

/// How the two belong together.
const RELATIONSHIP: &str = "shown to the session that wrote this";

impl Agents<'_> {
    /// The session of an agent that this command runs in.
    pub fn running_session(&self) -> Option<AgentSession> {
        SESSIONS.iter().find_map(|(name, host)| {
            let id = self.workplace().variable(name).filter(|id| !id.is_empty())?;
            Some(AgentSession { host, id })
        })
    }

    /// Links each lesson to the annotations that the session was shown of the same file. What cannot be looked up is
    /// left out: it is worth no failure.
    pub(crate) fn relate_to_shown(&self, input: &mut AnnotateInput, commit: &str) {
        let Some(session) = self.running_session() else { return };
        if input.wisdom.iter().all(|entry| entry.file.is_none())
            || !self.chronicle.memory().was_told(&session)
        {
            return;
        }
        let Ok(log) = self.chronicle.memory().session_log(&session) else { return };
        let shown: Vec<&ShownItem> = log.records.iter().flat_map(|record| &record.items).collect();
        for entry in &mut input.wisdom {
            let Some(file) = entry.file.as_deref() else { continue };
            for item in shown.iter().filter(|item| item.file.as_deref() == Some(file)) {
                let Some(other) = item.commit.as_deref().filter(|other| *other != commit) else { continue };
                let is_linked = entry.related.iter().any(|related| other.starts_with(&related.commit));
                if !is_linked && entry.related.len() < MOST_LINKS {
                    entry.related.push(Related {
                        commit: other.to_owned(),
                        anchor: None,
                        relationship: RELATIONSHIP.to_owned(),
                        extra: serde_json::Map::default(),
                    });
                }
            }
        }
    }
}
