//! Which agent calls, and how it wants to be answered.

use std::{ffi::OsString, path::PathBuf};

use chronicle_memory::sessions::opencode_session;
use serde_json::{Value, json};

use super::{AgentEvent, Said, payload::Payload};

/// An agent that calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// `OpenCode`, through a plugin of ours.
    OpenCode,
    /// Cursor.
    Cursor,
}

impl Host {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Copilot, Self::OpenCode, Self::Cursor];

    /// The name that hooks are called by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Cursor => "cursor",
        }
    }

    /// The agent of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }

    /// Who really calls the hook that `named` was set up for: several agents run the hooks of others. What the payload
    /// says counts more than variables, which a shell hands on to agents that are started from it.
    pub(super) fn of(named: Self, payload: &Payload<'_>, environment: fn(&str) -> Option<OsString>) -> Self {
        let transcript = payload.text(&["transcript_path", "transcriptPath"]).unwrap_or_default();
        let transcript = transcript.replace('\\', "/");
        if payload.has("cursor_version") || payload.has("conversation_id") {
            return Self::Cursor;
        }
        if transcript.contains("/sessions/") && transcript.contains("/rollout-") {
            return Self::Codex;
        }
        if transcript.ends_with("/events.jsonl") || payload.has("sessionId") {
            return Self::Copilot;
        }
        if transcript.contains("/chats/session-") {
            return Self::Gemini;
        }
        if transcript.contains("/projects/") {
            return Self::Claude;
        }
        let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
        match named {
            _ if is_set("COPILOT_CLI") => Self::Copilot,
            Self::Claude if is_set("CURSOR_VERSION") => Self::Cursor,
            Self::Claude if is_set("GEMINI_SESSION_ID") => Self::Gemini,
            named => named,
        }
    }

    /// Whether what is told before a tool is used reaches the model; where it does not, it is told afterwards.
    pub(super) fn hears_before_tools(self) -> bool {
        matches!(self, Self::Claude | Self::Codex)
    }

    /// What to print for `event`; with nothing to tell, what the agent takes for nothing.
    pub(super) fn reply(self, event: AgentEvent, said: &Said) -> String {
        let plain = |text: &Option<String>| text.as_ref().map(|text| chronicle::plain(text).into_owned());
        if let (Self::Claude, Some(reason)) = (self, plain(&said.asks)) {
            let name = self.event_name(event);
            let mut output = json!({
                "hookEventName": name, "permissionDecision": "ask", "permissionDecisionReason": &reason,
            });
            if let Some(text) = plain(&said.text) {
                output["additionalContext"] = text.into();
            }
            // Its question about an edit shows no reason, so the human reads it above.
            return format!("{}\n", json!({ "systemMessage": reason, "hookSpecificOutput": output }));
        }
        let Some(text) = plain(&said.text) else {
            return match self {
                Self::Gemini | Self::Cursor | Self::OpenCode => "{}\n".to_owned(),
                Self::Claude | Self::Codex | Self::Copilot => String::new(),
            };
        };
        let envelope = |text: &str| {
            let name = self.event_name(event);
            let mut reply = json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}});
            if let (Self::Claude | Self::Gemini, Some(line)) = (self, plain(&said.line)) {
                reply["systemMessage"] = line.into();
            }
            reply
        };
        let reply: Value = match self {
            Self::Claude | Self::Codex | Self::Gemini => envelope(&text),
            // It runs the hooks of Claude's settings too, and reads either form.
            Self::Copilot => json!({ "additionalContext": text }),
            Self::OpenCode => json!({ "additionalContext": text }),
            Self::Cursor => json!({ "additional_context": text }),
        };
        format!("{reply}\n")
    }

    /// The agent's own word for an event.
    fn event_name(self, event: AgentEvent) -> &'static str {
        match (self, event) {
            (_, AgentEvent::SessionStart) => "SessionStart",
            (_, AgentEvent::SessionEnd) => "SessionEnd",
            (Self::Gemini, AgentEvent::UserPromptSubmit) => "BeforeAgent",
            (Self::Gemini, AgentEvent::PreToolUse) => "BeforeTool",
            (Self::Gemini, AgentEvent::PostToolUse) => "AfterTool",
            (Self::Gemini, AgentEvent::Stop | AgentEvent::SubagentStop) => "AfterAgent",
            (Self::Gemini, AgentEvent::PreCompact) => "PreCompress",
            (_, AgentEvent::UserPromptSubmit) => "UserPromptSubmit",
            (_, AgentEvent::PreToolUse) => "PreToolUse",
            (_, AgentEvent::PostToolUse) => "PostToolUse",
            (_, AgentEvent::Stop) => "Stop",
            (_, AgentEvent::SubagentStop) => "SubagentStop",
            (_, AgentEvent::PreCompact) => "PreCompact",
            (_, AgentEvent::PermissionRequest) => "PermissionRequest",
        }
    }

    /// Where the agent writes a session to, when its hook does not say.
    pub(super) fn transcript(self, id: &str, environment: fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let is_name = id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !is_name || id.is_empty() {
            return None;
        }
        let folder = |own: &str, below_home: &str| {
            let own = environment(own).filter(|value| !value.is_empty()).map(PathBuf::from);
            own.or_else(|| Some(PathBuf::from(environment("HOME")?).join(below_home)))
        };
        match self {
            Self::Copilot => {
                let state = folder("COPILOT_HOME", ".copilot")?.join("session-state");
                Some(state.join(id).join("events.jsonl"))
            }
            Self::OpenCode => {
                Some(opencode_session(&folder("XDG_DATA_HOME", ".local/share")?.join("opencode"), id))
            }
            Self::Claude | Self::Codex | Self::Gemini | Self::Cursor => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_calls_is_told_by_the_payload_first() {
        let nothing: fn(&str) -> Option<OsString> = |_| None;
        let of = |named, text: &str, environment| Host::of(named, &Payload::read(text), environment);
        assert_eq!(of(Host::Claude, "{}", nothing), Host::Claude);
        assert_eq!(of(Host::Claude, r#"{"conversation_id":"x"}"#, nothing), Host::Cursor);
        assert_eq!(
            of(
                Host::Claude,
                r#"{"transcript_path":"/h/.codex/sessions/2026/01/02/rollout-x.jsonl"}"#,
                nothing
            ),
            Host::Codex
        );
        let copilot: fn(&str) -> Option<OsString> = |name| (name == "COPILOT_CLI").then(|| "1".into());
        assert_eq!(of(Host::Claude, r#"{"session_id":"x","source":"new"}"#, copilot), Host::Copilot);
        // Started from a shell of Copilot, it is still Claude.
        assert_eq!(
            of(Host::Claude, r#"{"transcript_path":"/h/.claude/projects/-w/x.jsonl"}"#, copilot),
            Host::Claude
        );
    }

    #[test]
    fn every_reply_is_json_or_nothing() {
        for host in Host::ALL {
            for (_, event) in AgentEvent::ALL {
                let nothing = host.reply(event, &Said::default());
                assert!(nothing.is_empty() || serde_json::from_str::<Value>(&nothing).is_ok());
                let told = host.reply(event, &Some("a \"b\"\n</x>".to_owned()).into());
                assert!(serde_json::from_str::<Value>(&told).unwrap().to_string().contains("a \\\"b\\\""));
            }
        }
    }
}
