//! The installed Claude Code as a model.

use std::{
    ffi::OsString,
    io::{Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    Access, Block, Cancel, Model, ModelError, Proxies, Reply, Request, Stop, Turn, Usage, Wire,
    error::{BrokenOffSnafu, CancelledSnafu, RefusedSnafu, TooSlowSnafu, UnreadableSnafu, UnusableSnafu},
};

/// The installed Claude Code, with the login that its user gave it.
///
/// It is asked once, without tools, hooks, plugins, memory files or MCP servers, in an empty directory, and keeps no
/// session. What it adds by itself, some thousand tokens, is in the usage that it tells.
#[derive(Debug, Clone)]
pub struct ClaudeCommand {
    /// The program.
    pub program: OsString,
    /// The model, as `--model` takes it; the program's own choice without.
    pub model: Option<String>,
    /// The most time for a call.
    pub timeout: Duration,
    /// The room that the model has.
    pub context_tokens: u64,
    /// All variables that it is given; those of this process without.
    pub variables: Option<Vec<(&'static str, OsString)>>,
}

/// Asks once and says nothing to anybody else. An older version that lacks one says so, and is not used.
const ARGUMENTS: [&str; 12] = [
    "--print",
    "--output-format",
    "json",
    "--no-session-persistence",
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--setting-sources",
    "",
    "--tools",
    "",
    "--permission-mode",
    "manual",
];
/// Hooks, plugins and memory files are off, but the login counts, which `--bare` would pass over. A version that does not
/// know it still has no settings to find any hooks in.
const SAFE_MODE: &str = "CLAUDE_CODE_SAFE_MODE";
const MOST_TOKENS: &str = "CLAUDE_CODE_MAX_OUTPUT_TOKENS";
/// Where we run for an agent, this would have it think that it is inside itself.
const OF_A_SESSION: [&str; 3] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"];
const LOOK: Duration = Duration::from_millis(25);
/// A reply is some kilobytes long.
const MAX_OUTPUT_BYTES: u64 = 8 << 20;

impl Model for ClaudeCommand {
    fn complete(&self, request: &Request, cancel: &Cancel) -> Result<Reply, ModelError> {
        let model = self.name();
        let began = Instant::now();
        let Ok(nowhere) = tempfile::tempdir() else {
            return UnusableSnafu { model, reason: "there is no temporary directory" }.fail();
        };
        let mut command = self.command(request);
        command.current_dir(nowhere.path());
        let mut child = command.spawn().map_err(|error| {
            let reason = format!("`{}` cannot be run: {error}", self.program.to_string_lossy());
            UnusableSnafu { model, reason }.build()
        })?;
        tell(child.stdin.take(), prompt(request));
        let output = heard(child.stdout.take());
        let complaint = heard(child.stderr.take());
        let failure = loop {
            if cancel.is_cancelled() {
                break CancelledSnafu.build();
            }
            if self.timeout <= began.elapsed() {
                break TooSlowSnafu { model, limit: self.timeout }.build();
            }
            match child.try_wait() {
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(_)) => {
                    return self.reply(request, &gathered(&output), &gathered(&complaint));
                }
                Err(error) => break BrokenOffSnafu { model, reason: error.to_string() }.build(),
            }
        };
        end(&mut child);
        Err(failure)
    }

    fn calls_tools(&self) -> bool {
        false
    }

    fn context_tokens(&self) -> u64 {
        self.context_tokens
    }

    fn name(&self) -> &str {
        self.model.as_deref().unwrap_or("claude")
    }
}

impl ClaudeCommand {
    fn command(&self, request: &Request) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the one program that is a model")]
        let mut command = Command::new(&self.program);
        command.args(ARGUMENTS);
        // With `=`, no value is taken for a flag.
        if let Some(model) = &self.model {
            command.arg(format!("--model={model}"));
        }
        if is_argument(&request.system) {
            command.arg(format!("--system-prompt={}", request.system));
        }
        if let Some(form) = &request.form {
            command.arg(format!("--json-schema={}", form.schema));
        }
        if let Some(variables) = &self.variables {
            command.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        }
        for variable in OF_A_SESSION {
            command.env_remove(variable);
        }
        command.env(SAFE_MODE, "1").env(MOST_TOKENS, request.max_tokens.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What the program printed, read as a reply.
    fn reply(&self, request: &Request, output: &str, complaint: &str) -> Result<Reply, ModelError> {
        let model = self.name();
        let shown = |words: &str| self.access().shown(words);
        let Ok(mut answer) = serde_json::from_str::<Value>(output.trim()) else {
            let words = if complaint.trim().is_empty() { output } else { complaint };
            let reason = if words.trim().is_empty() { "it says nothing".to_owned() } else { shown(words) };
            return UnusableSnafu { model, reason }.fail();
        };
        let text = |answer: &Value, key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        if answer["is_error"] == true {
            let reason = shown(&text(&answer, "result"));
            let status = answer["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
            return match status {
                Some(status) => RefusedSnafu { model, status, reason }.fail(),
                None => UnusableSnafu { model, reason }.fail(),
            };
        }
        let words = match answer["structured_output"].take() {
            Value::Null if request.form.is_some() => {
                let reason = format!("nothing of the form asked for ({})", shown(&text(&answer, "subtype")));
                return UnreadableSnafu { model, reason }.fail();
            }
            Value::Null => text(&answer, "result"),
            structured => structured.to_string(),
        };
        let stop = match answer["stop_reason"].as_str() {
            Some("max_tokens") => Stop::MaxTokens,
            Some("refusal") => Stop::Refusal,
            _ => Stop::End,
        };
        let blocks = if words.is_empty() { Vec::new() } else { vec![Block::Text(words)] };
        Ok(Reply { blocks, stop, usage: usage(&answer["usage"]) })
    }

    /// For the words that are safe to show; there is no key of ours.
    fn access(&self) -> Access {
        let model = self.name().to_owned();
        Access { wire: Wire::Anthropic, model, base_url: None, key: None, proxies: Proxies::default() }
    }
}

fn usage(counted: &Value) -> Usage {
    let tokens = |key: &str| counted[key].as_u64().unwrap_or(0);
    Usage {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cache_read: tokens("cache_read_input_tokens"),
        cache_written: tokens("cache_creation_input_tokens"),
    }
}

/// Systems take no argument that is longer.
fn is_argument(words: &str) -> bool {
    const LONGEST: usize = 100_000;
    !words.is_empty() && words.len() < LONGEST && !words.contains('\0')
}

/// The conversation as one text: the program takes no turns of others.
fn prompt(request: &Request) -> String {
    let system =
        (!request.system.is_empty() && !is_argument(&request.system)).then(|| request.system.clone());
    let told = |turn: &Turn| match turn {
        Turn::User(words) => words.clone(),
        Turn::Model(blocks) => {
            let reply = Reply { blocks: blocks.clone(), stop: Stop::End, usage: Usage::default() };
            format!("You answered:\n{}", reply.text())
        }
        Turn::Results(results) => {
            results.iter().map(|result| result.text.as_str()).collect::<Vec<_>>().join("\n\n")
        }
    };
    system.into_iter().chain(request.turns.iter().map(told)).collect::<Vec<_>>().join("\n\n")
}

fn tell(stdin: Option<ChildStdin>, words: String) {
    thread::spawn(move || {
        // A program that does not listen says why by itself.
        let _is_told = stdin.map(|mut stdin| stdin.write_all(words.as_bytes()));
    });
}

/// What comes out, once it is all there.
fn heard(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is what was said.
        let _is_whole = pipe.map(|pipe| pipe.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes));
        let _is_awaited = sender.send(bytes);
    });
    receiver
}

/// What a program that has ended printed. One of its own children may hold the pipe still; nobody waits for that.
fn gathered(output: &Receiver<Vec<u8>>) -> String {
    let bytes = output.recv_timeout(Duration::from_secs(2)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn end(child: &mut Child) {
    // It may have ended by itself in between.
    let _is_killed = child.kill();
    let _status = child.wait();
}
