use std::path::PathBuf;

use chronicle::{Chronicle, Model, Purpose, counted};
use chronicle_memory::sessions::{ForgetCommand, IngestCommand, What, WordCommand, WordedOutcome};
use chronicle_render as render;
use chronicle_workplace::RunLimits;
use clap::Subcommand;
use jiff::{Span, Zoned, tz::TimeZone};

use crate::{
    arguments::at_least_one,
    background,
    error::{CommandError, UnwordedSnafu, UsageSnafu},
    interrupt,
    ui::Ui,
};

/// Days of sessions that are taken in where nothing else is said.
const DAYS: u32 = 30;

/// Import, list, show or forget sessions of coding agents
///
/// Sessions are remembered on this machine only, without secrets. `brief`, `pending` and `find` use
/// them.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    what: SessionCommand,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
    /// Import transcripts: the named ones, or those of the agents on this machine
    ///
    /// Reads the formats of Claude Code, Codex, Gemini CLI, Copilot CLI, OpenCode, Cursor, Qwen Code, Kimi,
    /// Droid, Goose, Cline, Amp and Zed, and a general one for any other agent. Files in another form are named.
    /// You can stop it at any time and start it again: imported turns stay as they are.
    Ingest(IngestArgs),
    /// List sessions of the current project, the latest first
    List(ListArgs),
    /// Show one session
    Show {
        /// Its id, or the beginning of it
        id: String,
        /// List its turns, too
        #[arg(long)]
        turns: bool,
    },
    /// Let a model summarise sessions, and find what they left undone
    ///
    /// One call for each. Counted facts stay: files, commits, checks. If your settings name a model (`llm.provider` or
    /// `llm.baseUrl`), the hooks of agents start this in the background.
    Word(WordArgs),
    /// Forget sessions, for good, with their turns and their threads
    Forget(ForgetArgs),
    /// Write all sessions as readable files, into a new folder
    Export {
        /// The folder
        folder: PathBuf,
    },
    /// Import an export, or the memory of an older version in `~/.claude/chronicle`
    Import {
        /// The folder
        folder: PathBuf,
    },
    /// List folders whose sessions are not remembered, or add one
    Exclude {
        /// The folder, with everything below it
        folder: Option<PathBuf>,
        /// Remove it from the list
        #[arg(long, requires = "folder")]
        off: bool,
    },
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").args(["files", "sweep", "days", "queued"]))]
struct IngestArgs {
    /// Transcripts, or folders of them
    files: Vec<PathBuf>,

    /// Import all transcripts of the agents on this machine, however old
    #[arg(long)]
    sweep: bool,

    /// Import the transcripts of the last N days [default: 30]
    #[arg(long, value_name = "N")]
    days: Option<u32>,

    /// Only queue the files, and import them in the background (for hooks; never fails)
    #[arg(long, requires = "files")]
    later: bool,

    /// Import the queued files
    #[arg(long, hide = true)]
    queued: bool,

    /// The session that is over
    #[arg(long, hide = true, requires = "queued")]
    ended: Option<String>,
}

#[derive(Debug, clap::Args)]
struct WordArgs {
    /// Their ids, or the beginnings of them [default: those of this project that changed since]
    ids: Vec<String>,

    /// At most this many of those
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "ids", value_parser = at_least_one())]
    limit: usize,

    /// Spend at most this many US dollars
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,

    /// Let the model read and write at most this many tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,

    /// Only show the request
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Of this project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Of every project
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one())]
    limit: usize,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
struct ForgetArgs {
    /// The ids of sessions, or the beginnings of them
    #[arg(group = "which")]
    ids: Vec<String>,

    /// All of the current project, or of the named one
    #[arg(long, value_name = "PROJECT", group = "which", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "the option may come without a value")]
    project: Option<Option<String>>,

    /// All that ended longer ago than this, such as `90 days`, in every project
    #[arg(long, value_name = "AGE", group = "which")]
    older_than: Option<String>,

    /// Only show what would be forgotten
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: SessionArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    match args.what {
        SessionCommand::Ingest(args) => ingest(args, chronicle, ui),
        SessionCommand::List(args) => {
            let list = chronicle.memory().sessions(args.project.as_deref(), args.all, None, args.limit)?;
            ui.answer(&render::session_list(&list, ui.format(), &ui.view(false)))
        }
        SessionCommand::Show { id, turns } => {
            let shown = chronicle.memory().session(&id, turns)?;
            ui.answer(&render::session(&shown, ui.format(), &ui.view(false)))
        }
        SessionCommand::Word(args) => word(args, chronicle, ui),
        SessionCommand::Forget(args) => forget(args, chronicle, ui),
        SessionCommand::Export { folder } => {
            let done = chronicle.memory().export_memory(&folder)?;
            ui.answer(&render::memory_transfer(&done, "exported", ui.format()))
        }
        SessionCommand::Import { folder } => {
            let done = chronicle.memory().import_memory(&folder)?;
            ui.answer(&render::memory_transfer(&done, "imported", ui.format()))
        }
        SessionCommand::Exclude { folder, off } => {
            let reply = chronicle.memory().exclude_sessions(folder.as_deref(), off)?;
            ui.answer(&render::sessions_excluded(&reply, ui.format()))
        }
    }
}

fn ingest(args: IngestArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.later {
        match chronicle.memory().queue_transcripts(&args.files) {
            Ok(is_worked_on) => {
                if !is_worked_on {
                    background::start(&["session", "ingest", "--queued"]);
                }
            }
            // An agent must not be held up by it; the next sweep finds what is missing.
            Err(error) => ui.warn(&error.to_string()),
        }
        return Ok(());
    }
    if args.queued {
        let reply = chronicle.memory().work_queue(background::is_foreground())?;
        // None of them has to do with how the others fare.
        let worded = chronicle.memory().word_behind(args.ended.as_deref());
        let embedded = chronicle.memory().embed_behind();
        chronicle.memory().learning().learn()?;
        worded?;
        embedded?;
        return ui.answer(&render::ingested(&reply, ui.format(), &ui.view(false)));
    }
    let what = if !args.files.is_empty() {
        What::Files(args.files)
    } else if args.sweep {
        What::Everything
    } else {
        What::Days(args.days.unwrap_or(DAYS))
    };
    interrupt::advise("stopped: what was imported is stored; the same command continues with the rest");
    let mut progress = |n_done: usize, n_all: usize| ui.progress("transcripts", n_done, n_all);
    let reply = chronicle.memory().ingest(&IngestCommand { what }, &mut progress);
    ui.progress("transcripts", 1, 1);
    let reply = reply?;
    ui.answer(&render::ingested(&reply, ui.format(), &ui.view(false)))?;
    if !reply.unread.is_empty() {
        ui.warn(&format!("could not be read: {}", counted(reply.unread.len(), "file")));
    }
    if 0 < reply.sessions && chronicle.workplace().has_chosen_model(Purpose::Embed) {
        // What a model makes of them takes its time.
        background::start(&["session", "ingest", "--queued"]);
    }
    if let Some(folder) = chronicle.memory().older_memory()? {
        let folder = folder.display();
        ui.tell(&format!("there is older memory: `git chronicle session import {folder}` imports it"));
    }
    Ok(())
}

fn word(args: WordArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let WordArgs { ids, limit, max_cost, max_tokens, dry_run } = args;
    let limits = RunLimits { max_cost, max_tokens, run: None };
    let model = match chronicle.workplace().model(Purpose::Digest, &limits) {
        Ok(model) => Some(model),
        // Whoever only wants to see what would be sent needs none.
        Err(_) if dry_run => None,
        Err(error) => return Err(error.into()),
    };
    let command = WordCommand { ids, limit, is_dry_run: dry_run };
    let model = model.as_ref().map(|model| model as &dyn Model);
    interrupt::advise(
        "stopped: sessions that were summarised stay so; the same command continues with the rest",
    );
    let reply = chronicle
        .memory()
        .word_sessions(&command, model, &mut |done, all| ui.progress("sessions", done, all))?;
    ui.answer(&render::worded(&reply, ui.format(), &ui.view(false)))?;
    if let Some(reason) = &reply.stopped {
        ui.warn(reason);
    }
    let n_failed = reply.sessions.iter().filter(|done| done.outcome == WordedOutcome::Failed).count();
    if 0 < n_failed { UnwordedSnafu { n_failed }.fail() } else { Ok(()) }
}

fn forget(args: ForgetArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let command = match (args.project, args.older_than) {
        (Some(project), _) => ForgetCommand::Project(project),
        (_, Some(age)) => ForgetCommand::Before(before(&age, chronicle)?),
        _ => ForgetCommand::Sessions(args.ids),
    };
    let reply = chronicle.memory().forget_sessions(&command, args.dry_run)?;
    ui.answer(&render::sessions_forgotten(&reply, ui.format(), &ui.view(false)))
}

/// The moment that is as long ago as `age` says.
fn before(age: &str, chronicle: &Chronicle) -> Result<jiff::Timestamp, CommandError> {
    let span: Option<Span> = age.parse().ok().filter(|span: &Span| span.is_positive());
    let now = Zoned::new(chronicle.workplace().now(), TimeZone::UTC);
    let moment = span.and_then(|span| now.checked_sub(span).ok());
    let Some(moment) = moment else {
        return UsageSnafu {
            reason: format!("`{}` isn't a length of time, such as `90 days`", age.escape_debug()),
        }
        .fail();
    };
    Ok(moment.timestamp())
}
