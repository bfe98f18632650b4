//! Whether what was set up works: the entries are there, the binary is, and a hook does its work.
//!
//! Settings may come with a repository, so no command that is found there runs. What is tried is the hook as `setup`
//! has it called, of a program that is this one, that the `PATH` names, or that the user's own record names.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use chronicle::FileLock;
use chronicle_workplace::Finding;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Ground, Wanted,
    agent::Scope,
    files::Read,
    json,
    ours::{PROGRAM, command_line, program_of, runs_us},
    record::Record,
    wanted::Content,
};
use crate::hooks::Host;

/// What was looked at, as findings name it.
const AGENTS: &str = "agents";
/// A hook that takes longer than this is stopped by some agents.
const PATIENCE: Duration = Duration::from_secs(10);
/// The event that leaves word of a transcript.
const STOP: &str = "stop";

impl Ground {
    /// How the agents are doing that are set up; with `fix`, what can be mended without losing anything is.
    #[must_use]
    pub fn health(&self, fix: bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        for scope in [Scope::User, Scope::Project] {
            for host in self.set_up_agents(scope) {
                findings.extend(self.health_of(host, scope, fix));
            }
        }
        let is_any = !findings.is_empty();
        let detected = self.detected();
        if !is_any && !detected.is_empty() {
            let titles: Vec<&str> = detected.iter().map(|host| host.title()).collect();
            let seen = format!("no agent is set up; found on this machine: {}", titles.join(", "));
            findings.push(Finding::note(AGENTS, seen, "`git chronicle setup`"));
        }
        findings.extend(self.another_comes_first());
        findings
    }

    fn health_of(&self, host: Host, scope: Scope, fix: bool) -> Vec<Finding> {
        let (title, name) = (host.title(), host.name());
        let where_ = match scope {
            Scope::User => title.to_owned(),
            Scope::Project => format!("{title}, in this repository"),
        };
        let again = match scope {
            Scope::User => format!("`git chronicle setup {name}`"),
            Scope::Project => format!("`git chronicle setup {name} --scope project`"),
        };
        let mut findings = Vec::new();
        let hook = self.stop_hook(host, scope);
        let wanted = Wanted { only_server: hook.is_none(), ..Wanted::default() };
        match self.set_up(&[host], scope, wanted, true) {
            Ok(outcome) => {
                let paths: Vec<&str> =
                    outcome.setup.changes.iter().map(|change| change.path.as_str()).collect();
                if !paths.is_empty() {
                    let seen = format!("{where_}: missing, or not as it should be now: {}", paths.join(", "));
                    let mend = || self.set_up(&[host], scope, wanted, false).map(drop);
                    findings.push(Finding::problem(AGENTS, seen, again.clone()).mendable(fix, mend));
                }
                for warning in outcome.setup.warnings {
                    let (warning, mend) = match warning.strip_prefix("PROBLEM: ") {
                        Some(skipped) => (skipped, "take that out of the file".to_owned()),
                        None => (&*warning, again.clone()),
                    };
                    findings.push(Finding::problem(AGENTS, format!("{where_}: {warning}"), mend));
                }
            }
            Err(error) => findings.push(Finding::problem(AGENTS, error.to_string(), again.clone())),
        }
        if host == Host::Claude
            && let Some(path) = self.disabled_by()
        {
            let seen = format!("{where_}: no hook runs, as `disableAllHooks` is set in `{}`", path.display());
            findings.push(Finding::problem(AGENTS, seen, "take it out, if Chronicle is to work there"));
        }
        if host == Host::Codex
            && hook.is_some()
            && let Some(untrusted) = self.untrusted(scope)
        {
            let seen = format!(
                "{where_}: Codex SKIPS our hooks without a word, as they are not trusted: {untrusted}"
            );
            findings.push(Finding::problem(AGENTS, seen, "type `/hooks` in Codex, and trust them"));
        }
        match self.hook_after(hook, host, scope, fix) {
            None => {
                findings.push(Finding::note(AGENTS, format!("{where_}: only the server is set up"), &again));
            }
            Some(Ok(Trial::Refused(reason))) => {
                let seen = format!("{where_}: the hook was NOT tried: {reason}");
                findings.push(Finding::problem(AGENTS, seen, again));
            }
            Some(Err(reason)) => {
                let seen = format!("{where_}: the hook does NOT work, so no session is remembered: {reason}");
                findings.push(Finding::problem(AGENTS, seen, again));
            }
            Some(Ok(Trial::Works)) if findings.is_empty() => {
                let last = self.last_call(host).map_or_else(
                    || "it was never called yet".to_owned(),
                    |at| format!("it was called last at {at}"),
                );
                findings.push(Finding::ok(AGENTS, format!("{where_}: the hook works; {last}")));
            }
            Some(Ok(Trial::Works)) => {}
        }
        findings
    }

    /// Tries the hook, as it is now that things were mended.
    fn hook_after(
        &self,
        hook: Option<(PathBuf, Value)>,
        host: Host,
        scope: Scope,
        fix: bool,
    ) -> Option<Result<Trial, String>> {
        let hook = if fix { self.stop_hook(host, scope) } else { hook };
        hook.map(|(path, hook)| self.tried(&path, &hook, host, scope))
    }

    /// Tries a hook, if it is one that set-up writes for a program that may be run.
    fn tried(&self, path: &Path, hook: &Value, host: Host, scope: Scope) -> Result<Trial, String> {
        let refused = |reason: &str| Ok(Trial::Refused(format!("`{}` {reason}", shown(hook))));
        let arguments = ["hook", host.name(), STOP];
        let Some(program) = program_of(hook, arguments) else {
            return refused("is not a command that `setup` writes");
        };
        if program != PROGRAM && !Path::new(&program).is_file() {
            return Err(format!("`{}` is not there", chronicle::plain(&program)));
        }
        // The record of a project is in the repository, which may have come from anywhere.
        let is_recorded = || scope == Scope::User && Record::load(&self.memory).names(path, &program);
        match program == PROGRAM || program == self.program || is_recorded() {
            true => works(&program, arguments).map(|()| Trial::Works),
            false => refused("runs another program than `setup` wrote on this machine"),
        }
    }

    /// The hook for the end of a turn, as it is in the settings, and where.
    fn stop_hook(&self, host: Host, scope: Scope) -> Option<(PathBuf, Value)> {
        for piece in self.pieces(host, scope) {
            let Some(text) = self.reads(scope).of(&piece.path).ok().and_then(|read| read.text) else {
                continue;
            };
            match piece.content {
                Content::Json(_) | Content::Whole(_) => {
                    let value = json::value(&text).ok().flatten().unwrap_or_default();
                    let hooks = json::our_hooks(&value).into_iter().map(|(_, hook)| hook);
                    let mut stops = hooks.filter(|hook| {
                        let line = command_line(hook).unwrap_or_default();
                        runs_us(&line, &format!("hook {} {STOP}", host.name()))
                    });
                    if let Some(stop) = stops.next() {
                        return Some((piece.path, stop));
                    }
                    if host == Host::OpenCode
                        && let Some(program) = plugin_program(&text)
                    {
                        let hook = json!({"command": program, "args": ["hook", host.name(), STOP]});
                        return Some((piece.path, hook));
                    }
                }
                Content::Toml(_) | Content::Block(_) => {}
            }
        }
        None
    }

    /// The settings that turn the hooks of Claude Code off.
    fn disabled_by(&self) -> Option<PathBuf> {
        let own = Host::Claude.folder(self).join("settings.json");
        let root = self.place(Scope::Project).map(|(_, root)| root.join(".claude"));
        let of_project = root
            .into_iter()
            .flat_map(|folder| ["settings.json", "settings.local.json"].map(|name| folder.join(name)));
        [own].into_iter().chain(of_project).find(|path| {
            let text = Read::of(path).ok().and_then(|read| read.text).unwrap_or_default();
            let value = json::value(&text).ok().flatten().unwrap_or_default();
            value["disableAllHooks"] == json!(true)
        })
    }

    /// The events of Codex whose hook of ours is not trusted.
    ///
    /// What is trusted is named by file, event and place; whether it is still the same hook, only Codex knows.
    fn untrusted(&self, scope: Scope) -> Option<String> {
        let (_, root) = self.place(scope)?;
        let folder = match scope {
            Scope::User => Host::Codex.folder(self),
            Scope::Project => root.join(".codex"),
        };
        let path = folder.join("hooks.json");
        let text = Read::of(&path).ok()?.text?;
        let settings =
            Read::of(&Host::Codex.folder(self).join("config.toml")).ok().and_then(|read| read.text);
        let trusted = settings.and_then(|text| super::toml::trusted_hooks(&text)).unwrap_or_default();
        let untrusted: Vec<String> = our_places(&text)
            .into_iter()
            .filter(|(_, key)| !trusted.iter().any(|trusted| is_of(trusted, &path, key)))
            .map(|(event, _)| event)
            .collect();
        (!untrusted.is_empty()).then(|| untrusted.join(", "))
    }

    /// The names under which Codex keeps its trust in hooks of ours.
    pub(super) fn trusted_hooks(&self, scope: Scope) -> Vec<String> {
        let folder = Host::Codex.folder(self);
        let path = folder.join("hooks.json");
        let text =
            |path: &Path| self.reads(scope).of(path).ok().and_then(|read| read.text).unwrap_or_default();
        let places = our_places(&text(&path));
        let mut trusted = super::toml::trusted_hooks(&text(&folder.join("config.toml"))).unwrap_or_default();
        trusted.retain(|trusted| places.iter().any(|(_, key)| is_of(trusted, &path, key)));
        trusted
    }

    /// When a hook of that agent was called last, as the log of what agents are told says.
    fn last_call(&self, host: Host) -> Option<Timestamp> {
        let start = format!("{}-", host.name());
        let entries = fs::read_dir(self.memory.join("injected")).ok()?.flatten();
        let logs = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&start));
        let newest = logs.filter_map(|entry| entry.metadata().and_then(|meta| meta.modified()).ok()).max()?;
        let at = Timestamp::try_from(newest).ok()?;
        Timestamp::from_second(at.as_second()).ok()
    }
}

/// The events of our hooks in a file of Codex's, and how its keys of their places end.
fn our_places(text: &str) -> Vec<(String, String)> {
    let value = json::value(text).ok().flatten().unwrap_or_default();
    let mut places = Vec::new();
    for (event, list) in value["hooks"].as_object().into_iter().flatten() {
        for (group, element) in list.as_array().into_iter().flatten().enumerate() {
            let hooks = element["hooks"].as_array().into_iter().flatten().enumerate();
            for (index, _) in hooks.filter(|(_, hook)| super::ours::is_our_hook(hook)) {
                places.push((event.clone(), format!(":{}:{group}:{index}", snake(event))));
            }
        }
    }
    places
}

/// Whether `trusted` names the hook with this key in the file, by whatever way there.
fn is_of(trusted: &str, path: &Path, key: &str) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    trusted.strip_suffix(key).is_some_and(|file| real(Path::new(file)) == real(path))
}

/// `SessionStart` as `session_start`.
fn snake(event: &str) -> String {
    let mut text = String::new();
    for letter in event.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// The binary that the plugin of `OpenCode` runs.
fn plugin_program(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("const program = "))?;
    serde_json::from_str(line.trim_end_matches(';')).ok()
}

/// What came of looking at a hook that does not fail.
enum Trial {
    /// It did its work.
    Works,
    /// It was not run.
    Refused(String),
}

/// Runs a hook, with a dummy session and a memory of its own.
fn works(program: &str, arguments: [&str; 3]) -> Result<(), String> {
    let shown = || format!("{} {}", chronicle::plain(program), arguments.join(" "));
    let said = |error: std::io::Error| error.to_string();
    let folder = tempfile::Builder::new().prefix("chronicle-doctor-").tempdir().map_err(said)?;
    let memory = folder.path().join("memory");
    let transcript = folder.path().join("projects/self-test.jsonl");
    for name in ["memory", "projects"] {
        fs::create_dir(folder.path().join(name)).map_err(said)?;
    }
    // Somebody is at work on the queue already: so nobody is started who would be.
    let _lock = FileLock::try_acquire(&memory.join("queue.lock")).map_err(|error| error.to_string())?;
    fs::write(&transcript, "{}\n").map_err(said)?;
    let payload = json!({
        "session_id": "self-test", "transcript_path": transcript, "cwd": folder.path().join("projects"),
        "hook_event_name": "Stop",
    });
    #[expect(clippy::disallowed_methods, reason = "only the hook itself shows whether it works")]
    let mut command = Command::new(program);
    let mut child = command
        .args(arguments)
        .current_dir(folder.path().join("projects"))
        .env("CHRONICLE_HOME", &memory)
        .env_remove("CHRONICLE_FOREGROUND")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("`{}` cannot be run: {error}", shown()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // Who does not read it leaves no word either, which is seen below.
        let _written = stdin.write_all(payload.to_string().as_bytes());
    }
    let is_over = wait(&mut child);
    let has_any =
        |name: &str| fs::read_dir(memory.join(name)).is_ok_and(|mut entries| entries.next().is_some());
    match is_over {
        None => Err(format!("`{}` takes longer than {} s", shown(), PATIENCE.as_secs())),
        Some(_) if has_any("queue") => Ok(()),
        Some(false) => Err(format!("`{}` fails", shown())),
        Some(true) => Err(format!("`{}` leaves no word of a session", shown())),
    }
}

fn shown(hook: &Value) -> String {
    chronicle::plain(&command_line(hook).unwrap_or_default()).into_owned()
}

/// Waits for the end, which is a good one or not; without one in time, the process is stopped.
fn wait(child: &mut Child) -> Option<bool> {
    let begun = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.success());
        }
        if PATIENCE < begun.elapsed() {
            let _stopped = child.kill();
            let _waited = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
