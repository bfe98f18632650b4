//! A timer of the system that consolidates session memory at night, for who asks for one: without it, the same is done
//! behind the first session of a day.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use schemars::JsonSchema;
use serde::Serialize;
use snafu::Snafu;
use tempfile::NamedTempFile;

/// Looks up a variable of the environment.
type Environment = fn(&str) -> Option<OsString>;

/// What starts things at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimerKind {
    /// A user timer of systemd.
    Systemd,
    /// An agent of launchd.
    Launchd,
    /// A line in the crontab.
    Cron,
}

/// A timer, as it is or is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TimerStatus {
    /// Always `chronicle-sleep/v1`.
    pub schema: &'static str,
    /// What starts it.
    pub kind: TimerKind,
    /// Whether it is there.
    pub is_installed: bool,
    /// Whether it is as this version would make it.
    pub is_current: bool,
    /// Files, and what they hold; of cron, the lines.
    pub files: Vec<TimerFile>,
    /// Commands that are run for it.
    pub commands: Vec<String>,
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// What a command said that failed.
    pub failed: Vec<String>,
}

/// A file of a timer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TimerFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub content: String,
}

/// Why there is no timer.
#[derive(Debug, Snafu)]
pub enum TimerError {
    /// Nothing that starts things at a time.
    #[snafu(display(
        "neither systemd for users nor launchd nor cron was found; consolidation goes on behind sessions"
    ))]
    NoTimer,
    /// No home.
    #[snafu(display("there is no home directory to install a timer in"))]
    NoHome,
    /// A file that cannot be written.
    #[snafu(display("cannot write `{}`", path.display()))]
    WriteTimer {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A path that would be more than one line.
    #[snafu(display("`{}` has a line break or the like in it, which no timer can hold", path.display().to_string().escape_debug()))]
    OddPath {
        /// The path.
        path: PathBuf,
    },
    /// A program that cannot be run.
    #[snafu(display("cannot run `{command}`: {reason}"))]
    RunTimer {
        /// The program with its arguments.
        command: String,
        /// Why not.
        reason: String,
    },
}

impl TimerError {
    /// A short name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoTimer => "no_timer",
            Self::NoHome => "no_home",
            Self::WriteTimer { .. } => "io",
            Self::OddPath { .. } => "odd_path",
            Self::RunTimer { .. } => "timer_failed",
        }
    }
}

/// Where a timer is made, and what it runs.
pub struct Timers {
    environment: Environment,
    program: PathBuf,
}

const UNIT: &str = "git-chronicle-sleep";
const AGENT: &str = "git-chronicle.sleep";
/// Says in a crontab which line is ours: the one behind it.
const MARK: &str = "# git-chronicle sleep";

/// A timer as it is to be.
struct Plan {
    kind: TimerKind,
    files: Vec<TimerFile>,
    begin: Vec<Vec<String>>,
    end: Vec<Vec<String>>,
}

impl Timers {
    /// Timers that run `program`.
    #[must_use]
    pub fn new(environment: Environment, program: PathBuf) -> Self {
        Self { environment, program }
    }

    /// How it is; of the kind named, or of the one that this system has.
    ///
    /// # Errors
    /// When the system has none.
    pub fn status(&self, kind: Option<TimerKind>) -> Result<TimerStatus, TimerError> {
        let plan = self.plan(kind)?;
        Ok(self.told(&plan, true, &[]))
    }

    /// Makes it, or only shows what would be made.
    ///
    /// # Errors
    /// When the system has none, or it cannot be made.
    pub fn install(&self, kind: Option<TimerKind>, is_dry_run: bool) -> Result<TimerStatus, TimerError> {
        let plan = self.plan(kind)?;
        if is_dry_run {
            return Ok(self.told(&plan, true, &plan.begin));
        }
        if plan.kind == TimerKind::Cron {
            let mut lines = without_ours(&crontab()?);
            plan.files.iter().for_each(|file| lines.push_str(&file.content));
            set_crontab(&lines)?;
        } else {
            for file in &plan.files {
                let path = file.path.clone();
                replace(&path, &file.content).map_err(|source| TimerError::WriteTimer { path, source })?;
            }
        }
        let failed = run_all(&plan.begin);
        Ok(TimerStatus { dry_run: false, failed, ..self.told(&plan, false, &plan.begin) })
    }

    /// Takes it away.
    ///
    /// # Errors
    /// When the system has none, or it cannot be taken away.
    pub fn uninstall(&self, kind: Option<TimerKind>, is_dry_run: bool) -> Result<TimerStatus, TimerError> {
        let plan = self.plan(kind)?;
        if is_dry_run || !self.is_installed(&plan) {
            return Ok(self.told(&plan, is_dry_run, &plan.end));
        }
        let failed = run_all(&plan.end);
        if plan.kind == TimerKind::Cron {
            set_crontab(&without_ours(&crontab()?))?;
        }
        for file in plan.files.iter().filter(|_| plan.kind != TimerKind::Cron) {
            match fs::remove_file(&file.path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(TimerError::WriteTimer { path: file.path.clone(), source });
                }
                _ => {}
            }
        }
        Ok(TimerStatus { dry_run: false, failed, ..self.told(&plan, false, &plan.end) })
    }

    fn told(&self, plan: &Plan, dry_run: bool, commands: &[Vec<String>]) -> TimerStatus {
        TimerStatus {
            schema: "chronicle-sleep/v1",
            kind: plan.kind,
            is_installed: self.is_installed(plan),
            is_current: self.is_current(plan),
            files: plan.files.clone(),
            commands: commands.iter().map(|command| command.join(" ")).collect(),
            dry_run,
            failed: Vec::new(),
        }
    }

    #[expect(clippy::unused_self, reason = "what is there is asked of the one who knows where")]
    fn is_installed(&self, plan: &Plan) -> bool {
        match plan.kind {
            TimerKind::Cron => crontab().is_ok_and(|lines| lines.lines().any(|line| line == MARK)),
            _ => plan.files.iter().all(|file| file.path.is_file()),
        }
    }

    #[expect(clippy::unused_self, reason = "what is there is asked of the one who knows where")]
    fn is_current(&self, plan: &Plan) -> bool {
        match plan.kind {
            TimerKind::Cron => {
                crontab().is_ok_and(|lines| plan.files.iter().all(|file| lines.contains(&file.content)))
            }
            _ => plan
                .files
                .iter()
                .all(|file| fs::read_to_string(&file.path).is_ok_and(|content| content == file.content)),
        }
    }

    fn plan(&self, kind: Option<TimerKind>) -> Result<Plan, TimerError> {
        let memory = self.memory().map(PathBuf::from);
        let is_odd = |path: &&PathBuf| path.to_string_lossy().contains(char::is_control);
        if let Some(path) = memory.iter().chain([&self.program]).find(is_odd) {
            return OddPathSnafu { path }.fail();
        }
        let home = || self.path("HOME").ok_or(TimerError::NoHome);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        Ok(match kind.or_else(|| self.found()).ok_or(TimerError::NoTimer)? {
            TimerKind::Systemd => {
                let config = self.path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
                let folder = match config {
                    Some(config) => config,
                    None => home()?.join(".config"),
                };
                let folder = folder.join("systemd/user");
                let timer = format!("{UNIT}.timer");
                Plan {
                    kind: TimerKind::Systemd,
                    files: vec![
                        TimerFile { path: folder.join(format!("{UNIT}.service")), content: self.service() },
                        TimerFile { path: folder.join(&timer), content: TIMER.to_owned() },
                    ],
                    begin: vec![
                        words("systemctl --user daemon-reload"),
                        words(&format!("systemctl --user enable --now {timer}")),
                    ],
                    end: vec![words(&format!("systemctl --user disable --now {timer}"))],
                }
            }
            TimerKind::Launchd => {
                let path = home()?.join(format!("Library/LaunchAgents/{AGENT}.plist"));
                let shown = path.to_string_lossy().into_owned();
                let command = |verb: &str| {
                    vec!["launchctl".to_owned(), verb.to_owned(), "-w".to_owned(), shown.clone()]
                };
                Plan {
                    kind: TimerKind::Launchd,
                    begin: vec![command("load")],
                    end: vec![command("unload")],
                    files: vec![TimerFile { path, content: self.agent() }],
                }
            }
            TimerKind::Cron => Plan {
                kind: TimerKind::Cron,
                files: vec![TimerFile { path: PathBuf::from("crontab"), content: self.cron_lines() }],
                begin: Vec::new(),
                end: Vec::new(),
            },
        })
    }

    /// What this system has.
    fn found(&self) -> Option<TimerKind> {
        if cfg!(target_os = "macos") {
            return Some(TimerKind::Launchd);
        }
        let runtime = self.path("XDG_RUNTIME_DIR");
        if self.has("systemctl") && runtime.is_some_and(|runtime| runtime.join("systemd").is_dir()) {
            return Some(TimerKind::Systemd);
        }
        self.has("crontab").then_some(TimerKind::Cron)
    }

    fn has(&self, program: &str) -> bool {
        let path = (self.environment)("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        (self.environment)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The variable that says where session memory is, if it is set.
    fn memory(&self) -> Option<String> {
        self.path("CHRONICLE_HOME")
            .filter(|home| home.is_absolute())
            .map(|home| home.to_string_lossy().into_owned())
    }

    fn service(&self) -> String {
        let quoted = |text: &str| {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
        };
        // Only what is run has variables taken out of it.
        let program = quoted(&self.program.to_string_lossy()).replace('$', "$$");
        let memory =
            self.memory().map(|home| format!("Environment={}\n", quoted(&format!("CHRONICLE_HOME={home}"))));
        format!(
            "[Unit]\nDescription=Consolidate session memory (git-chronicle)\n\n[Service]\nType=oneshot\nNice=10\n{}\
             ExecStart={program} consolidate --due\n",
            memory.unwrap_or_default()
        )
    }

    fn agent(&self) -> String {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let memory = self.memory().map(|home| {
            format!(
                "  <key>EnvironmentVariables</key>\n  <dict><key>CHRONICLE_HOME</key><string>{}</string></dict>\n",
                escaped(&home)
            )
        });
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
             \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n  \
             <key>Label</key><string>{AGENT}</string>\n  <key>ProgramArguments</key>\n  <array>\n    \
             <string>{}</string>\n    <string>consolidate</string>\n    <string>--due</string>\n  </array>\n{}  \
             <key>StartCalendarInterval</key>\n  <dict><key>Hour</key><integer>3</integer>\
             <key>Minute</key><integer>0</integer></dict>\n  <key>ProcessType</key><string>Background</string>\n\
             </dict>\n</plist>\n",
            escaped(&self.program.to_string_lossy()),
            memory.unwrap_or_default()
        )
    }

    fn cron_lines(&self) -> String {
        // A percent sign ends the command of a crontab.
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''").replace('%', "\\%"));
        let memory = self.memory().map(|home| format!("CHRONICLE_HOME={} ", quoted(&home)));
        let program = quoted(&self.program.to_string_lossy());
        format!("{MARK}\n0 3 * * * {}{program} consolidate --due\n", memory.unwrap_or_default())
    }
}

/// A night that the machine was off is made up for.
const TIMER: &str = "[Unit]\nDescription=Consolidate session memory at night (git-chronicle)\n\n[Timer]\n\
OnCalendar=*-*-* 03:00:00\nRandomizedDelaySec=15min\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n";

/// The lines of a crontab that are not ours.
fn without_ours(lines: &str) -> String {
    let mut kept = String::new();
    let mut lines = lines.lines();
    while let Some(line) = lines.next() {
        if line == MARK {
            lines.next();
            continue;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

/// Runs a program that changes timers.
#[expect(
    clippy::disallowed_methods,
    reason = "timers are changed by programs of the system, when the user asks"
)]
fn program(command: &[String]) -> Option<Command> {
    let (name, arguments) = command.split_first()?;
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

/// Runs commands one after the other; those that fail are told.
fn run_all(commands: &[Vec<String>]) -> Vec<String> {
    let mut failed = Vec::new();
    for command in commands {
        let shown = command.join(" ");
        match program(command).map(|mut program| program.output()) {
            Some(Ok(done)) if done.status.success() => {}
            Some(Ok(done)) => {
                failed.push(format!("{shown}: {}", String::from_utf8_lossy(&done.stderr).trim()));
            }
            Some(Err(error)) => failed.push(format!("{shown}: {error}")),
            None => {}
        }
    }
    failed
}

/// The user's crontab; a user without one has an empty one.
fn crontab() -> Result<String, TimerError> {
    let fails = |reason: String| TimerError::RunTimer { command: "crontab -l".to_owned(), reason };
    let command = ["crontab".to_owned(), "-l".to_owned()];
    let mut program = program(&command).expect("it has a name");
    let done = program.output().map_err(|error| fails(error.to_string()))?;
    let said = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() && !said.contains("no crontab") {
        return Err(fails(said.trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn set_crontab(lines: &str) -> Result<(), TimerError> {
    let fails = |reason: String| TimerError::RunTimer { command: "crontab -".to_owned(), reason };
    let command = ["crontab".to_owned(), "-".to_owned()];
    let mut program = program(&command).expect("it has a name");
    let mut child = program.stdin(Stdio::piped()).spawn().map_err(|error| fails(error.to_string()))?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let written = io::Write::write_all(&mut stdin, lines.as_bytes());
    drop(stdin);
    let done = child.wait_with_output().map_err(|error| fails(error.to_string()))?;
    if !done.status.success() || written.is_err() {
        return Err(fails(String::from_utf8_lossy(&done.stderr).trim().to_owned()));
    }
    Ok(())
}

fn replace(path: &Path, content: &str) -> io::Result<()> {
    let folder = path.parent().expect("it lies in a folder");
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::with_prefix_in(".", folder)?;
    io::Write::write_all(&mut file, content.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timers() -> Timers {
        let environment: Environment = |name| match name {
            "CHRONICLE_HOME" => Some("/m/50% \"a\"".into()),
            "HOME" => Some("/home/ada".into()),
            _ => None,
        };
        Timers::new(environment, PathBuf::from("/opt/it's $5/git-chronicle"))
    }

    #[test]
    fn odd_names_are_quoted_for_who_reads_them() {
        let service = timers().service();
        assert!(service.contains("Environment=\"CHRONICLE_HOME=/m/50%% \\\"a\\\"\"\n"), "{service}");
        assert!(
            service.contains("ExecStart=\"/opt/it's $$5/git-chronicle\" consolidate --due\n"),
            "{service}"
        );
        let lines = timers().cron_lines();
        assert!(
            lines.contains("0 3 * * * CHRONICLE_HOME='/m/50\\% \"a\"' '/opt/it'\\''s $5/git-chronicle' "),
            "{lines}"
        );
        assert!(timers().agent().contains("<string>/m/50% \"a\"</string>"));
    }

    #[test]
    fn a_path_cannot_bring_lines_of_its_own() {
        let odd = Timers::new(|_| None, PathBuf::from("/x\n* * * * * touch /tmp/evil"));
        for kind in [TimerKind::Systemd, TimerKind::Launchd, TimerKind::Cron] {
            assert!(matches!(odd.status(Some(kind)), Err(TimerError::OddPath { .. })), "{kind:?}");
        }
    }

    #[test]
    fn the_lines_of_others_stay_in_a_crontab() {
        let lines = format!("MAILTO=ada\n{}* * * * * true\n", timers().cron_lines());
        assert_eq!(without_ours(&lines), "MAILTO=ada\n* * * * * true\n");
        assert_eq!(without_ours(""), "");
    }
}
