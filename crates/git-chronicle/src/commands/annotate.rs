use std::{io::Read, path::PathBuf};

use chronicle::{
    AnnotateCommand, AnnotateReply, Cancel, Chronicle, Given, Model, Purpose, Said, Sources, WrittenOutcome,
    counted,
};
use chronicle_annotator::{Annotator, Which, WriteCommand, WrittenReply};
use chronicle_render as render;
use chronicle_workplace::RunLimits;
use snafu::ResultExt;

use crate::{
    background,
    commands::said::LessonArgs,
    editor,
    error::{CommandError, NothingWrittenSnafu, StdinSnafu, UnwrittenSnafu, UsageSnafu},
    interrupt,
    ui::Ui,
};

/// Record why a commit is the way it is
///
/// Give a summary (why this approach, not what changed) and lessons: dead ends (tried and failed),
/// gotchas (traps the code does not show), insights, unfinished work. Name the file and the lines,
/// or only the file: the lines are then found in the commit's own changes. Secrets are replaced
/// before anything is stored. The answer shows what was stored.
///
/// Annotating a commit again adds to its annotation; the same content adds nothing.
///
/// Without any of these, at a terminal, your editor opens with a form. A form that cannot be read is kept, and opened
/// again the next time.
///
/// Programs give JSON (`git chronicle schema annotate-input`). Text with quotes is easier as JSON,
/// too: write it to a file, and name that file with --file.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("given"))]
#[command(
    override_usage = "git chronicle annotate [COMMIT] [--edit]
       git chronicle annotate [COMMIT] --summary <WHY> [--gotcha|--dead-end|--insight|--unfinished <[PLACE ]WHAT>]...
       git chronicle annotate [COMMIT] --file <FILE>|--live|--json <JSON>|--auto|--from-session|--agent",
    help_template = concat!(crate::help!(), r#"

Examples:
  git chronicle annotate --summary 'Linear retries kept the broker down'
  git chronicle annotate HEAD~1 -m 'Linear retries kept the broker down' \
    --gotcha 'src/reconnect.rs:55 max_backoff is in seconds, sleep() takes milliseconds' \
    --dead-end 'src/reconnect.rs: A fixed delay: all clients came back at once'"#)
)]
pub(crate) struct AnnotateArgs {
    /// The commit to annotate, any revision; HEAD by default. With --agent also a range A..B, newest first
    #[arg(value_name = "COMMIT", conflicts_with = "commit")]
    positional: Option<String>,

    /// Why this approach, not what changed
    #[arg(
        short = 'm',
        long,
        visible_alias = "why",
        value_name = "WHY",
        group = "given",
        allow_hyphen_values = true
    )]
    summary: Option<String>,

    /// Write the annotation in your editor
    #[arg(short, long, group = "given")]
    edit: bool,

    #[command(flatten)]
    lessons: LessonArgs,

    /// The task that the change was made for
    #[arg(long, value_name = "TEXT", requires = "summary", allow_hyphen_values = true)]
    task: Option<String>,

    /// Labels of the lessons
    #[arg(long, value_name = "TAG,…", requires = "summary", allow_hyphen_values = true)]
    tags: Vec<String>,

    /// Read the annotation as JSON from a file
    #[arg(long, value_name = "FILE", group = "given")]
    file: Option<PathBuf>,

    /// Read the annotation as JSON from standard input
    #[arg(long, group = "given")]
    live: bool,

    /// The annotation as JSON
    #[arg(long, value_name = "JSON", group = "given", allow_hyphen_values = true)]
    json: Option<String>,

    /// Take the commit's message as the summary; adds nothing to an annotated commit
    #[arg(long, group = "given")]
    auto: bool,

    /// Propose lessons from the session that made the commit, to be confirmed; stores nothing
    #[arg(long, group = "given")]
    from_session: bool,

    /// Let a model annotate the commit, or those of a range, from their changes and sessions
    #[arg(long, group = "given")]
    agent: bool,

    /// Let a model retry the commits that failed
    #[arg(long, group = "given", conflicts_with_all = ["commit", "positional"])]
    retry_failed: bool,

    /// With --agent: wait for the result (the default)
    #[arg(long, requires = "agent", conflicts_with = "detach")]
    sync: bool,

    /// With --agent: work in the background, without output; failures are recorded
    #[arg(long = "async", requires = "agent", conflicts_with_all = ["dry_run", "sync"])]
    detach: bool,

    /// The commit was made by the session that runs this (for hooks)
    #[arg(long, requires = "agent", hide = true)]
    by_session: bool,

    /// With --agent: only show the request
    #[arg(long, requires = "agent")]
    dry_run: bool,

    /// Copy the annotation of this commit, which the commit replaced
    #[arg(long, value_name = "OLD", group = "given", allow_hyphen_values = true)]
    amend_source: Option<String>,

    /// Copy the annotations of squashed commits: revisions, or a range A..B
    #[arg(long, value_name = "REVS", group = "given", value_delimiter = ',', allow_hyphen_values = true)]
    squash_sources: Vec<String>,

    /// The commit to annotate, as an option
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    commit: Option<String>,

    /// Replace the lesson with this id by the one given
    #[arg(long, value_name = "ID")]
    replace: Vec<String>,

    /// Replace your own earlier summary, which is kept next to the new one
    #[arg(long)]
    replace_summary: bool,
}

pub(crate) fn run(mut args: AnnotateArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if let Some(option) = args.lessons.first().filter(|_| args.summary.is_none()) {
        let reason = match args.file.is_some() || args.live || args.json.is_some() {
            true => format!("`{option}` and JSON exclude each other: give all of it in one of the two"),
            false => format!("`{option}` needs `--summary 'WHY'`, the reason for the change"),
        };
        return UsageSnafu { reason }.fail();
    }
    let is_range = args.positional.as_ref().is_some_and(|revision| revision.contains(".."));
    if !is_range {
        args.commit = args.positional.take().or(args.commit);
    }
    if args.agent || args.retry_failed {
        return by_agent(args, chronicle, ui);
    }
    if let Some(range) = args.positional {
        let reason = format!("`{range}` is a range, which is for `--agent`; name one commit");
        return UsageSnafu { reason }.fail();
    }
    if args.from_session {
        let candidates = Annotator::new(chronicle).candidates(args.commit.as_deref())?;
        return ui.answer(&render::candidates(&candidates, ui.format(), &ui.view(false)));
    }
    if args.edit {
        return by_hand(args.commit.as_deref().unwrap_or("HEAD"), chronicle, ui);
    }
    let from = match args.amend_source {
        Some(old) => Some(Sources::Amended(old)),
        None if args.squash_sources.is_empty() => None,
        None => Some(Sources::Squashed(args.squash_sources)),
    };
    let given = match (args.live, args.json, args.file, args.summary, from) {
        (true, ..) => Given::Json(limited(std::io::stdin().lock()).context(StdinSnafu)?),
        (_, Some(json), ..) => Given::Json(json.into_bytes()),
        (_, _, Some(path), ..) => {
            let read = chronicle::files::open(&path).and_then(limited);
            Given::Json(read.map_err(|source| chronicle_workplace::Error::ReadInput { path, source })?)
        }
        (_, _, _, Some(summary), _) => {
            Given::Said(Said { task: args.task, tags: args.tags, ..args.lessons.with_summary(Some(summary)) })
        }
        (.., Some(from)) => Given::From(from),
        _ if args.auto => Given::Message,
        _ if can_edit(ui) => return by_hand(args.commit.as_deref().unwrap_or("HEAD"), chronicle, ui),
        _ => {
            let reason = "say why the commit is as it is: `git chronicle annotate --summary 'WHY'`, or as JSON with `--file`, `--live` or `--json`";
            return UsageSnafu { reason }.fail();
        }
    };
    let command = AnnotateCommand {
        given,
        commit: args.commit,
        replace: args.replace,
        replace_summary: args.replace_summary,
    };
    shown(&chronicle.annotate(command)?, ui)
}

/// Shows what was stored, and what its author should know of it.
fn shown(reply: &AnnotateReply, ui: &mut Ui) -> Result<(), CommandError> {
    ui.answer(&render::stored(reply, ui.format(), &ui.view(false)))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    if !reply.redacted.is_empty() {
        ui.warn(&format!("secrets were replaced before storing: {}", reply.redacted.join(", ")));
    }
    Ok(())
}

/// Whether a person is there who can write in an editor.
pub(crate) fn can_edit(ui: &Ui) -> bool {
    ui.can_ask() && !background::is_of_agent()
}

/// Lets the user write the annotation of a commit in an editor.
pub(crate) fn by_hand(revision: &str, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if !can_edit(ui) {
        let reason = "an editor needs a terminal; give the reason with `--summary 'WHY'` instead";
        return UsageSnafu { reason }.fail();
    }
    let form = chronicle.annotation_form(revision)?;
    let path = chronicle.workplace().memory_home()?.join("edited").join(format!("{}.txt", form.commit));
    let stored = editor::edit(&path, &form.text, ui, |text| chronicle.annotate_by_form(&form.commit, text))?;
    match stored {
        Some(reply) => shown(&reply, ui),
        None => NothingWrittenSnafu.fail(),
    }
}

/// Lets a model write.
fn by_agent(args: AnnotateArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let which = match args.positional {
        _ if args.retry_failed => Which::Failed,
        Some(range) => Which::Range(range),
        None => Which::Commit(args.commit.unwrap_or_else(|| "HEAD".to_owned())),
    };
    let command = WriteCommand { which, is_dry_run: args.dry_run, by_session: args.by_session };
    // Whoever only wants an estimate needs no model.
    let model = match chronicle.workplace().model(Purpose::Annotate, &RunLimits::default()) {
        Ok(model) => Some(model),
        Err(_) if args.dry_run => None,
        Err(error) => {
            // Nobody reads what is said behind a hook.
            if args.by_session {
                Annotator::new(chronicle).note_unwritten(&command.which, &error)?;
            }
            return Err(error.into());
        }
    };
    if args.detach && !args.sync {
        let n_commits = Annotator::new(chronicle).commits_to_write(&command.which)?.len();
        match &command.which {
            Which::Range(range) => background::start(&["annotate", "--agent", "--", range]),
            Which::Commit(commit) => background::start(&["annotate", "--agent", "--commit", commit]),
            Which::Failed => background::start(&["annotate", "--retry-failed"]),
        }
        ui.tell(&format!(
            "at work on {}; `git chronicle annotate --retry-failed` tries again what fails",
            counted(n_commits, "commit")
        ));
        return Ok(());
    }
    interrupt::advise("stopped: what was annotated is stored; the same command continues with the rest");
    let reply = Annotator::new(chronicle).write_annotations(
        &command,
        model.as_ref().map(|model| model as &dyn Model),
        &Cancel::default(),
        &mut |_, done, all| {
            if 1 < all {
                ui.progress("commits", done, all);
            }
        },
    )?;
    ui.answer(&render::written(&reply, ui.format(), &ui.view(false)))?;
    warn_of(&reply, ui)
}

/// Tells what is to be known of what a model wrote; commits that could not be done make the command fail.
pub(crate) fn warn_of(reply: &WrittenReply, ui: &mut Ui) -> Result<(), CommandError> {
    for commit in &reply.commits {
        let short = &commit.commit[..commit.commit.len().min(8)];
        for warning in &commit.warnings {
            ui.warn(&format!("{short}: {warning}"));
        }
        if !commit.redacted.is_empty() {
            ui.warn(&format!("{short}: secrets were left out: {}", commit.redacted.join(", ")));
        }
    }
    for warning in reply.warnings.iter().chain(&reply.stopped) {
        ui.warn(warning);
    }
    match reply.count(WrittenOutcome::Failed) {
        0 => Ok(()),
        n_failed => UnwrittenSnafu { n_failed }.fail(),
    }
}

/// Reads a little more than is ever accepted, so that endless input ends.
fn limited(input: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = chronicle::MAX_INPUT_BYTES as u64 + 1;
    input.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
