use std::fmt::Write;

use chronicle::{Chronicle, render::Format};
use chronicle_serve::timer::{TimerError, TimerKind, TimerStatus, Timers};
use clap::{Subcommand, ValueEnum};
use snafu::ResultExt;

use crate::{
    error::{CommandError, DirectorySnafu},
    ui::Ui,
};

/// Let the system consolidate session memory at night
///
/// Nobody has to: what is due is done behind the first session after it fell due.
#[derive(Debug, clap::Args)]
pub(crate) struct SleepArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Install a timer: of systemd, of launchd, or in the crontab, whichever this system has
    Install(TimerArgs),
    /// Show whether there is one, and what is due
    Status(TimerArgs),
    /// Take it away
    Uninstall(TimerArgs),
}

#[derive(Debug, clap::Args)]
struct TimerArgs {
    /// This kind of timer
    #[arg(long, value_name = "KIND")]
    with: Option<Kind>,

    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Systemd,
    Launchd,
    Cron,
}

impl TimerArgs {
    fn kind(&self) -> Option<TimerKind> {
        self.with.map(|kind| match kind {
            Kind::Systemd => TimerKind::Systemd,
            Kind::Launchd => TimerKind::Launchd,
            Kind::Cron => TimerKind::Cron,
        })
    }
}

pub(crate) fn run(args: &SleepArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let program = std::env::current_exe().context(DirectorySnafu { path: "." })?;
    let timers = Timers::new(super::environment, program);
    let status = match &args.what {
        What::Install(args) => timers.install(args.kind(), args.dry_run)?,
        What::Uninstall(args) => timers.uninstall(args.kind(), args.dry_run)?,
        What::Status(args) => match timers.status(args.kind()) {
            Err(error @ TimerError::NoTimer) if ui.format() != Format::Json => {
                ui.tell(&error.to_string());
                return ui.answer(&jobs(chronicle)?);
            }
            status => status?,
        },
    };
    for failed in &status.failed {
        ui.warn(failed);
    }
    if ui.format() == Format::Json {
        let text = serde_json::to_string(&status).unwrap_or_default();
        return ui.answer(&format!("{text}\n"));
    }
    let mut out = told(&status, !matches!(args.what, What::Status(_)));
    if matches!(args.what, What::Status(_)) {
        for job in chronicle.memory_status()?.jobs {
            let due = if job.is_due { "due" } else { "not due" };
            let last =
                job.last.map_or_else(|| "never done".to_owned(), |last| format!("done last at {last}"));
            let _ = writeln!(out, "- {} job: {due}, {last}", job.job);
        }
    }
    ui.answer(&chronicle::plain(&out))
}

/// When each job was done last, and whether it is due.
fn jobs(chronicle: &Chronicle) -> Result<String, CommandError> {
    let mut out = String::new();
    for job in chronicle.memory_status()?.jobs {
        let due = if job.is_due { "due" } else { "not due" };
        let last = job.last.map_or_else(|| "never done".to_owned(), |last| format!("done last at {last}"));
        let _ = writeln!(out, "- {} job: {due}, {last}", job.job);
    }
    Ok(out)
}

fn told(status: &TimerStatus, with_files: bool) -> String {
    let kind = match status.kind {
        TimerKind::Systemd => "systemd",
        TimerKind::Launchd => "launchd",
        TimerKind::Cron => "cron",
    };
    let is = match (status.is_installed, status.is_current) {
        (true, true) => "installed",
        (true, false) => "installed, but not as this version would; `git chronicle sleep install` renews it",
        (false, _) => "not installed",
    };
    let mut out = format!("timer of {kind}: {is}\n");
    if with_files && (status.dry_run || status.is_installed) {
        for file in &status.files {
            let _ = writeln!(out, "\n## {}\n\n{}", file.path.display(), file.content.trim_end());
        }
    }
    if !status.commands.is_empty() {
        let _ = writeln!(out, "\n{}:", if status.dry_run { "would run" } else { "ran" });
        for command in &status.commands {
            let _ = writeln!(out, "- {command}");
        }
    }
    out
}
