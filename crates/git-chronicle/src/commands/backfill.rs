use std::path::PathBuf;

use crate::{commands::annotate::warn_of, error::CommandError, interrupt, ui::Ui};
use chronicle::{Cancel, Chronicle, Purpose, WrittenOutcome, counted};
use chronicle_annotator::{Annotator, Backfill, Estimate};
use chronicle_render as render;

/// Let a model annotate commits without an annotation, newest first
///
/// The cost is estimated first. You can stop it at any time: finished work is kept, and annotated
/// commits are skipped. --resume continues with the same limits, and earlier costs count. Commits
/// that teach nothing cost nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct BackfillArgs {
    /// Only commits since a date (2026-01-31) or a commit
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Only commits that touched this file or directory
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,

    /// Only commits whose author's name contains this
    #[arg(long, value_name = "NAME")]
    author: Option<String>,

    /// Annotate at most this many commits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,

    /// Send this many requests at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=32))]
    concurrency: u32,

    /// Spend at most this many US dollars
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,

    /// Let the model read and write at most this many tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,

    /// Continue the interrupted run
    #[arg(long, conflicts_with_all = ["since", "path", "author", "limit", "max_cost", "max_tokens"])]
    resume: bool,

    /// Only show the estimate
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: BackfillArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let BackfillArgs { since, path, author, limit, concurrency, max_cost, max_tokens, resume, dry_run } =
        args;
    let run = match resume {
        true => Backfill {
            concurrency: concurrency as usize,
            ..Annotator::new(chronicle).interrupted_backfill()?
        },
        false => Backfill {
            since,
            path,
            author,
            limit: limit.map(|limit| limit as usize),
            concurrency: concurrency as usize,
            max_cost,
            max_tokens,
            ..Backfill::default()
        }
        .named(),
    };
    let model = match chronicle.workplace().model(Purpose::Annotate, &run.limits()) {
        Ok(model) => Some(model),
        // An estimate needs none.
        Err(_) if dry_run => None,
        Err(error) => return Err(error.into()),
    };
    let (commits, planned) =
        Annotator::new(chronicle).estimate_backfill(&run, model.as_ref(), &mut |done, all| {
            ui.progress("commits looked at", done, all);
        })?;
    if let Some(estimate) = &planned.estimate {
        ui.tell(&in_words(estimate));
    }
    let Some(model) = model.filter(|_| !dry_run) else {
        ui.answer(&render::written(&planned, ui.format(), &ui.view(false)))?;
        return warn_of(&planned, ui);
    };
    interrupt::advise("stopped: what was annotated is stored; `git chronicle backfill --resume` continues");
    let mut reply = Annotator::new(chronicle).backfill(
        &run,
        &commits,
        &model,
        &Cancel::default(),
        &mut |commit, done, all| {
            if commit.outcome == WrittenOutcome::Failed {
                let reason = commit.reason.as_deref().unwrap_or_default();
                ui.warn(&format!("{}: {reason}", &commit.commit[..commit.commit.len().min(8)]));
            }
            ui.progress("commits", done, all);
        },
    )?;
    reply.estimate = planned.estimate;
    ui.answer(&render::written(&reply, ui.format(), &ui.view(false)))?;
    warn_of(&reply, ui)
}

/// What a run will come to.
fn in_words(estimate: &Estimate) -> String {
    let Estimate { commits, trivial, annotated, conversations, tokens, largest, cost } = estimate;
    let cost = cost.map(|cost| format!(", about ${cost:.2}")).unwrap_or_default();
    format!(
        "to do: {} in {}, about {} thousand tokens read and {} thousand written{cost} \
         (the largest request has {largest}); skipped: {annotated} annotated, {trivial} that teach nothing",
        counted(*commits, "commit"),
        counted(*conversations, "conversation"),
        tokens.input.div_ceil(1000),
        tokens.output.div_ceil(1000),
    )
}
