use chronicle::{Chronicle, How, Priority, ThreadKind};
use chronicle_memory::threads::{AddThread, ClosedCommand, Status, ThreadAct, ThreadReply};
use chronicle_render as render;
use clap::Subcommand;

use crate::{arguments::at_least_one, error::CommandError, ui::Ui};

/// Show, add or change threads: unfinished work that is carried between sessions
///
/// Name a thread by its id or the beginning of it, as `pending` shows it. Nothing is overwritten:
/// your changes are kept next to what sessions say, and a later session may open a thread again.
#[derive(Debug, clap::Args)]
pub(crate) struct ThreadArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show a thread, its history, and the sources
    Show {
        /// Its id
        id: String,
    },
    /// List the threads that were closed as done, put off or made pointless, the last closed first
    Resolved(ClosedArgs),
    /// List the threads that were dropped, the last dropped first
    Abandoned(ClosedArgs),
    /// Add a thread, unless there is one like it
    Add(AddArgs),
    /// Close threads; the same as `git chronicle resolve`
    Resolve(ResolveArgs),
    /// Close threads: not for now
    Defer(CloseArgs),
    /// Close threads: they will not be done
    Drop(CloseArgs),
    /// Open threads again, or refuse proposals about them
    Reopen {
        /// Their ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Link two related threads, in any projects
    Link {
        /// The id of one
        id: String,
        /// The id of the other
        other: String,
    },
    /// Mark a thread as waiting for another one
    Block {
        /// Its id
        id: String,
        /// The id of the thread that it waits for
        #[arg(long, value_name = "ID")]
        by: String,
    },
    /// Mark a thread as no longer waiting
    Unblock {
        /// Its id
        id: String,
        /// The id of the thread that it waited for; all, if none is named
        #[arg(long, value_name = "ID")]
        from: Option<String>,
    },
    /// Set the urgency of a thread; rules then leave it
    Priority {
        /// Its id
        id: String,
        /// The urgency
        #[arg(value_parser = Priority::NAMES)]
        priority: String,
    },
}

#[derive(Debug, clap::Args)]
struct ClosedArgs {
    /// Another project, by its name or folder
    project: Option<String>,

    /// List those of all projects
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one())]
    limit: usize,
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The work, in the imperative
    #[arg(allow_hyphen_values = true)]
    summary: String,

    /// Why it matters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    context: Option<String>,

    /// What kind of work it is
    #[arg(long, default_value = "todo", value_parser = ThreadKind::NAMES)]
    kind: String,

    /// How urgent it is; rules say it otherwise
    #[arg(long, value_parser = Priority::NAMES)]
    priority: Option<String>,

    /// Another project, by its name or folder
    #[arg(long)]
    project: Option<String>,
}

/// Close threads: say how unfinished work ended
///
/// Also confirms what `pending` shows as proposed.
#[derive(Debug, clap::Args)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    close: CloseArgs,

    /// How it ended
    #[arg(long, default_value = "completed", value_parser = How::NAMES)]
    how: String,
}

#[derive(Debug, clap::Args)]
struct CloseArgs {
    /// Their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    /// Why, or what came of it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    note: Option<String>,
}

pub(crate) fn run(args: ThreadArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    match args.what {
        What::Show { id } => {
            let shown = chronicle.memory().threads().show(&id)?;
            ui.answer(&render::shown_thread(&shown, ui.format(), &ui.view(false)))
        }
        What::Resolved(args) => closed(args, Status::Resolved, chronicle, ui),
        What::Abandoned(args) => closed(args, Status::Abandoned, chronicle, ui),
        What::Add(args) => {
            let reply = chronicle.memory().threads().add(&args.command())?;
            answer(&reply, ui)?;
            if !reply.changed {
                ui.tell("this is open already");
            }
            Ok(())
        }
        What::Resolve(args) => resolve(args, chronicle, ui),
        What::Defer(args) => close(args, How::Deferred, chronicle, ui),
        What::Drop(args) => close(args, How::WontDo, chronicle, ui),
        What::Reopen { ids } => answer(&chronicle.memory().threads().change(&ids, &ThreadAct::Reopen)?, ui),
        What::Link { id, other } => {
            answer(&chronicle.memory().threads().change(&[id], &ThreadAct::Link(other))?, ui)
        }
        What::Block { id, by } => {
            answer(&chronicle.memory().threads().change(&[id], &ThreadAct::Block(by))?, ui)
        }
        What::Unblock { id, from } => {
            answer(&chronicle.memory().threads().change(&[id], &ThreadAct::Unblock(from))?, ui)
        }
        What::Priority { id, priority } => {
            let priority = Priority::named(&priority).unwrap_or(Priority::Low);
            answer(&chronicle.memory().threads().change(&[id], &ThreadAct::Prioritise(priority))?, ui)
        }
    }
}

fn closed(args: ClosedArgs, status: Status, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let ClosedArgs { project, all, limit } = args;
    let closed = chronicle.memory().threads().closed(&ClosedCommand { project, all, status, limit })?;
    ui.answer(&render::pending(&closed, ui.format(), &ui.view(false)))?;
    if closed.items.is_empty() {
        ui.tell("no thread was closed that way");
    }
    Ok(())
}

pub(crate) fn resolve(args: ResolveArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let how = How::named(&args.how).unwrap_or(How::Completed);
    close(args.close, how, chronicle, ui)
}

fn close(args: CloseArgs, how: How, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let act = ThreadAct::Close { how, note: args.note };
    answer(&chronicle.memory().threads().change(&args.ids, &act)?, ui)
}

impl AddArgs {
    fn command(self) -> AddThread {
        let Self { summary, context, kind, priority, project } = self;
        let kind = ThreadKind::named(&kind).unwrap_or(ThreadKind::Todo);
        let priority = priority.as_deref().and_then(Priority::named);
        AddThread { summary, context, kind, priority, project }
    }
}

fn answer(reply: &ThreadReply, ui: &mut Ui) -> Result<(), CommandError> {
    ui.answer(&render::threads(reply, ui.format(), &ui.view(false)))?;
    if !reply.redacted.is_empty() {
        ui.warn(&format!("secrets were replaced before storing: {}", reply.redacted.join(", ")));
    }
    Ok(())
}
