//! What agents' hooks hand in, and what they get back.
//!
//! Six agents call nearly the same hooks with nearly the same JSON; [`answer`] makes one thing of it.
//! It never fails: an agent must not be held up by its memory. `docs/agents.md` lists who calls what.

mod host;
mod payload;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use chronicle::{
    Chronicle,
    agent::{AgentSession, Begun, Edit, FileRead, Moment, ToolCall, read_by_command, tool_call},
    is_session_id,
};
use chronicle_annotator::Annotator;
use chronicle_render::AGENT_TEXTS;
use chronicle_workplace::Error;
pub use host::Host;
use payload::Payload;

use crate::{mcp::Choice, setup::permissions::may_run};

/// The events that are known, as our own hooks call them, whatever an agent's own word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentEvent {
    /// A session begins, goes on, or lost its context.
    SessionStart,
    /// A human sent a prompt.
    UserPromptSubmit,
    /// A tool is about to be used.
    PreToolUse,
    /// A tool was used.
    PostToolUse,
    /// The agent has answered.
    Stop,
    /// A sub-agent is done.
    SubagentStop,
    /// The context is about to be made smaller.
    PreCompact,
    /// The session is over.
    SessionEnd,
    /// The agent is about to ask its human whether a tool may be used.
    PermissionRequest,
}

impl AgentEvent {
    /// All of them, with the names that hooks are called by.
    pub const ALL: [(&'static str, Self); 9] = [
        ("session-start", Self::SessionStart),
        ("user-prompt-submit", Self::UserPromptSubmit),
        ("pre-tool-use", Self::PreToolUse),
        ("post-tool-use", Self::PostToolUse),
        ("stop", Self::Stop),
        ("subagent-stop", Self::SubagentStop),
        ("pre-compact", Self::PreCompact),
        ("session-end", Self::SessionEnd),
        ("permission-request", Self::PermissionRequest),
    ];

    /// The event of that name, in our own words.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, event)| *event)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, event)| *event == self).map_or("", |(name, _)| name)
    }
}

/// What a hook gets back.
#[derive(Debug, Default)]
pub struct HookAnswer {
    /// What to print; empty for nothing.
    pub stdout: String,
    /// What is to be done when the hook is over.
    pub behind: Option<Behind>,
    /// What went wrong, which stops nobody.
    pub failed: Option<Error>,
}

/// Work for which nobody waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behind {
    /// Taking in the transcripts that wait.
    Queue,
    /// The same, and what the end of this session is an occasion for.
    SessionEnd(String),
    /// What the beginning of a session is an occasion for.
    SessionStart,
}

/// What comes from outside of the payload.
#[derive(Clone, Copy)]
pub struct Surroundings {
    /// Looks up variables of the environment.
    pub environment: fn(&str) -> Option<OsString>,
}

/// Answers a hook that `named` was set up for: `event` happened, as `payload` tells. `chronicle` is that of the folder
/// the hook runs in.
#[must_use]
pub fn answer(
    chronicle: &Chronicle,
    surroundings: Surroundings,
    named: Host,
    event: AgentEvent,
    payload: &[u8],
) -> HookAnswer {
    let text = String::from_utf8_lossy(payload);
    let payload = Payload::read(&text);
    let host = Host::of(named, &payload, surroundings.environment);
    let hook = Hook { chronicle, surroundings, host, event, payload };
    if event == AgentEvent::PermissionRequest {
        let stdout = if hook.is_permitted() { "{\"behavior\":\"allow\"}\n" } else { "" };
        return HookAnswer { stdout: stdout.to_owned(), ..HookAnswer::default() };
    }
    let mut answer = HookAnswer::default();
    match hook.done(&mut answer.behind) {
        Ok(said) => answer.stdout = host.reply(event, &said),
        Err(error) => {
            answer.failed = Some(error);
            answer.stdout = host.reply(event, &Said::default());
        }
    }
    answer
}

/// What a hook says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    /// To the agent.
    text: Option<String>,
    /// To its human, where the agent has a place for it.
    line: Option<String>,
    /// Why the human is to be asked whether the tool may be used, where the agent can ask.
    asks: Option<String>,
}

impl From<Option<String>> for Said {
    fn from(text: Option<String>) -> Self {
        Self { text, ..Self::default() }
    }
}

struct Hook<'p> {
    chronicle: &'p Chronicle,
    surroundings: Surroundings,
    host: Host,
    event: AgentEvent,
    payload: Payload<'p>,
}

impl Hook<'_> {
    /// Whether what the agent asks about is one of our commands or tools that run unasked. `setup` registers the question
    /// only where the user agreed to that.
    fn is_permitted(&self) -> bool {
        #[derive(serde::Deserialize)]
        struct Input {
            command: String,
        }
        let name = self.payload.text(&["toolName", "tool_name"]).unwrap_or_default();
        let input = self.payload.value(&["toolInput", "tool_input", "toolArgs"]);
        match name.strip_prefix("chronicle/") {
            Some(tool) => Choice::names().iter().any(|known| tool.strip_prefix("chronicle_") == Some(known)),
            None => {
                let input = input.and_then(|input| serde_json::from_str::<Input>(input.get()).ok());
                self.host == Host::Copilot
                    && matches!(&*name, "bash" | "Bash")
                    && input.is_some_and(|input| may_run(&input.command))
            }
        }
    }

    /// Does what is to be done; what the agent is to be told comes back.
    fn done(&self, behind: &mut Option<Behind>) -> Result<Said, Error> {
        let Some(session) = self.session() else { return Ok(Said::default()) };
        let folder = self.payload.text(&["cwd"]).or_else(|| self.payload.first_of("workspace_roots"));
        let folder = folder.map(|folder| PathBuf::from(folder.as_ref())).filter(|folder| folder.is_dir());
        let here = folder.as_ref().map(|folder| self.chronicle.at(folder));
        let chronicle = here.as_ref().unwrap_or(self.chronicle);
        if chronicle.workplace().is_distrusted() {
            return Ok(Said::default());
        }
        // A prompt has many calls of tools: its id names none of them.
        let key = match self.event {
            AgentEvent::UserPromptSubmit => self.payload.text(&["prompt_id", "turn_id"]),
            _ => self.payload.text(&["tool_use_id", "toolUseId"]),
        };
        let key = key.as_deref();
        let text = match self.event {
            AgentEvent::UserPromptSubmit | AgentEvent::PreToolUse | AgentEvent::PostToolUse
                if self.is_quiet() =>
            {
                Ok(None)
            }
            AgentEvent::SessionStart if self.is_quiet() => {
                *behind = Some(Behind::SessionStart);
                Ok(None)
            }
            AgentEvent::SessionStart => {
                *behind = Some(Behind::SessionStart);
                let source = self.payload.text(&["source"]).unwrap_or_default();
                let transcripts = self.transcripts();
                let begun = Begun { source: &source, transcript: transcripts.first().map(PathBuf::as_path) };
                let Some(opening) = chronicle.agents().open_session(&session, &begun, &AGENT_TEXTS)? else {
                    return Ok(Said::default());
                };
                return Ok(Said { text: Some(opening.text), line: opening.line, asks: None });
            }
            AgentEvent::UserPromptSubmit => {
                let prompt = self.payload.text(&["prompt"]).unwrap_or_default();
                let handed_over = chronicle.agents().take_over_named(&session, &prompt, key, &AGENT_TEXTS)?;
                if handed_over.is_some() {
                    return Ok(handed_over.into());
                }
                // Agents send news of background work as prompts too.
                if prompt.trim_start().starts_with('<') || !chronicle.workplace().is_ready() {
                    return Ok(Said::default());
                }
                chronicle.agents().recall(&session, &prompt, key, &AGENT_TEXTS)
            }
            // What nobody hears must not count as told.
            AgentEvent::PreToolUse => match self.call() {
                ToolCall::Edits(edits) if self.host.hears_before_tools() => {
                    let asks = if self.may_ask() { guard(chronicle, &edits)? } else { None };
                    let text = warn(chronicle, &session, &edits, Moment::Before, key)?;
                    return Ok(Said { text, line: None, asks });
                }
                ToolCall::Edits(_) | ToolCall::Command(_) | ToolCall::Reads(_) | ToolCall::Other => Ok(None),
            },
            AgentEvent::PostToolUse => match self.call() {
                ToolCall::Edits(edits) if !self.host.hears_before_tools() => {
                    warn(chronicle, &session, &edits, Moment::After, key)
                }
                ToolCall::Command(command) => {
                    // One command may commit, and read as well.
                    let reminded = Annotator::new(chronicle).remind_of_commit(&session, &command)?;
                    let read = tell_of_reads(chronicle, &session, &read_by_command(&command), key)?;
                    let fixed = match self.failure() {
                        Some(output) if chronicle.workplace().is_ready() => {
                            chronicle.agents().recall_fix(&session, &output, key)?
                        }
                        _ => None,
                    };
                    let told = reminded.into_iter().chain(read).chain(fixed);
                    Ok(told.reduce(|one, other| format!("{one}\n{other}")))
                }
                ToolCall::Reads(reads) => tell_of_reads(chronicle, &session, &reads, key),
                ToolCall::Edits(_) | ToolCall::Other => Ok(None),
            },
            AgentEvent::Stop | AgentEvent::SubagentStop | AgentEvent::PreCompact | AgentEvent::SessionEnd => {
                let transcripts = self.transcripts();
                if !transcripts.is_empty() {
                    let is_worked_on = chronicle.memory().queue_transcripts(&transcripts)?;
                    *behind = match self.event {
                        AgentEvent::SessionEnd => Some(Behind::SessionEnd(session.id.clone())),
                        _ => (!is_worked_on).then_some(Behind::Queue),
                    };
                }
                chronicle.memory().note_event(&session, self.event.name());
                Ok(None)
            }
            AgentEvent::PermissionRequest => Ok(None),
        };
        text.map(Said::from)
    }

    /// Whether the agent can ask its human, and one is there: a question that nobody answers is a refusal.
    fn may_ask(&self) -> bool {
        let is_attended =
            || (self.surroundings.environment)("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry == "cli");
        self.host == Host::Claude && is_attended()
    }

    /// Whether the agent is to be told nothing in this session.
    fn is_quiet(&self) -> bool {
        (self.surroundings.environment)("CHRONICLE_QUIET")
            .is_some_and(|value| !value.is_empty() && value != "0")
    }

    /// The session, by the agent's id. A sub-agent sees nothing of what the agent that started it was told.
    fn session(&self) -> Option<AgentSession> {
        let id = self.payload.text(&["session_id", "sessionId", "sessionID", "conversation_id"])?;
        let id = match self.payload.text(&["agent_id"]) {
            Some(sub_agent) if self.event != AgentEvent::SubagentStop => format!("{id}-{sub_agent}"),
            _ => id.into_owned(),
        };
        is_session_id(&id).then(|| AgentSession { host: self.host.name(), id })
    }

    fn call(&self) -> ToolCall {
        let name = self.payload.text(&["tool_name", "toolName", "tool"]);
        let input = self.payload.value(&["tool_input", "toolInput", "toolArgs", "args"]);
        match (name, input) {
            (Some(name), Some(input)) => tool_call(&name, input.get()),
            _ => ToolCall::Other,
        }
    }

    /// What a command printed that failed, where the agent shows that it did.
    fn failure(&self) -> Option<String> {
        let response =
            self.payload.value(&["tool_response", "toolResponse", "tool_output", "toolResult", "result"])?;
        let texts = failed_texts(&serde_json::from_str(response.get()).ok()?);
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// The files that the agent writes the session to; they may not be there yet.
    fn transcripts(&self) -> Vec<PathBuf> {
        let named = ["transcript_path", "transcriptPath", "agent_transcript_path"];
        let mut paths: Vec<PathBuf> = named
            .iter()
            .filter_map(|name| self.payload.text(&[name]))
            .filter(|path| !path.is_empty())
            .map(|path| PathBuf::from(path.as_ref()))
            .filter(|path| may_be_transcript(path))
            .collect();
        if paths.is_empty()
            && let Some(id) = self.payload.text(&["session_id", "sessionId"])
        {
            paths.extend(self.host.transcript(&id, self.surroundings.environment));
        }
        paths.retain(|path| path.is_absolute());
        paths
    }
}

/// The texts of a command's result that shows its failure: by its exit code, or by what the agent says of it.
fn failed_texts(response: &serde_json::Value) -> Vec<String> {
    use serde_json::Value;
    let texts: Vec<String> = match response {
        Value::String(text) => vec![text.clone()],
        Value::Object(members) => ["stdout", "stderr", "output", "error", "content", "llmContent"]
            .iter()
            .filter_map(|name| members.get(*name)?.as_str())
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    let member = |names: [&str; 3]| names.iter().find_map(|name| response.get(name));
    let has_failed = match member(["exit_code", "exitCode", "code"]).and_then(Value::as_i64) {
        Some(code) => code != 0,
        None => {
            member(["is_error", "isError", "failed"]).and_then(Value::as_bool) == Some(true)
                || texts.iter().any(|text| shows_exit_code(text))
        }
    };
    if has_failed { texts } else { Vec::new() }
}

/// Whether a text says that a command ended with another code than 0, as agents do: `Exit code: 101`.
fn shows_exit_code(text: &str) -> bool {
    let small = text.to_lowercase();
    small.match_indices("exit code").any(|(at, mark)| {
        let code = small[at + mark.len()..].trim_start_matches([':', ' ', '=']);
        code.starts_with(|digit: char| digit.is_ascii_digit()) && !code.starts_with('0')
    })
}

/// Whether a payload may name `path` as a transcript: whoever writes payloads must not have any file of the user taken in.
/// Agents write JSON, perhaps compressed, or keep sessions in a database.
fn may_be_transcript(path: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    name(path).is_some_and(|name| name.contains(".json"))
        || path.parent().and_then(name).is_some_and(|name| name.ends_with(".db"))
}

/// Tells of the code that edits change: in the repository of the file, wherever the agent stands.
fn warn(
    chronicle: &Chronicle,
    session: &AgentSession,
    edits: &[Edit],
    moment: Moment,
    key: Option<&str>,
) -> Result<Option<String>, Error> {
    let Some(first) = edits.first() else { return Ok(None) };
    in_repository_of(chronicle, Path::new(&first.path), |there| {
        there.agents().warn_of_edits(session, edits, moment, key, &AGENT_TEXTS)
    })
}

/// Why a human is to be asked before edits are made, likewise.
fn guard(chronicle: &Chronicle, edits: &[Edit]) -> Result<Option<String>, Error> {
    let Some(first) = edits.first() else { return Ok(None) };
    in_repository_of(chronicle, Path::new(&first.path), |there| there.agents().guard(edits, &AGENT_TEXTS))
}

/// Tells of the code that was read, likewise.
fn tell_of_reads(
    chronicle: &Chronicle,
    session: &AgentSession,
    reads: &[FileRead],
    key: Option<&str>,
) -> Result<Option<String>, Error> {
    let Some(first) = reads.first() else { return Ok(None) };
    in_repository_of(chronicle, &first.path, |there| {
        there.agents().tell_of_reads(session, reads, key, &AGENT_TEXTS)
    })
}

/// What `tell` says in the repository of `file`, if that answers at once: hooks never wait for a long history to be read.
fn in_repository_of(
    chronicle: &Chronicle,
    file: &Path,
    tell: impl FnOnce(&Chronicle) -> Result<Option<String>, Error>,
) -> Result<Option<String>, Error> {
    let folder = file.parent().filter(|folder| folder.is_absolute() && folder.is_dir());
    let beside = folder.map(|folder| chronicle.at(folder));
    let there = beside.as_ref().unwrap_or(chronicle);
    if !there.workplace().is_ready() || there.workplace().is_distrusted() {
        return Ok(None);
    }
    match tell(there) {
        // Agents read and change files anywhere.
        Err(error) if error.code() == chronicle_workplace::Code::NotARepository => Ok(None),
        told => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_names_transcripts_and_no_other_files() {
        let check = |path: &str, expected| assert_eq!(may_be_transcript(Path::new(path)), expected, "{path}");
        check("/h/.claude/projects/-w/x.jsonl", true);
        check("/h/.codex/sessions/2026/01/02/rollout-x.jsonl.zst", true);
        check("/h/.gemini/tmp/x/chats/session-1.json", true);
        check("/h/.local/share/opencode/opencode.db/ses_1", true);
        check("/h/.ssh/id_ed25519", false);
        check("/etc/passwd", false);
        check("/dev/zero", false);
    }
}
