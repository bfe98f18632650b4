use std::path::PathBuf;

use chronicle::{Budget, Category, Chronicle, ContextLevel, LineRange, ReadCommand, Reading, are, counted};
use chronicle_render::{self as render, Format, View};
use clap::ValueEnum;

use crate::{
    error::{CommandError, UsageSnafu},
    ui::Ui,
};

/// Show what is known about some code, before changing it
///
/// Answers with the lessons recorded for a file, a directory or a range of lines. Each one shows where
/// it is in the file now (with edits that are not committed), what became of its code, and how far it
/// can be trusted.
#[derive(Debug, clap::Args)]
#[command(override_usage = "git chronicle read [OPTIONS] PATH... [ANCHOR]")]
pub(crate) struct ReadArgs {
    /// Files or directories, from the current directory or the root; last, an item of the one file,
    /// such as `Pool::acquire`
    #[arg(required_unless_present = "recent", value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Item of the one file, where its name could be a path too
    #[arg(long, value_name = "ANCHOR", allow_hyphen_values = true, conflicts_with = "lines")]
    anchor: Option<String>,

    /// Only lessons on these lines of the file as it is now
    #[arg(long, value_name = "START:END")]
    lines: Option<LineRange>,

    /// Show the newest lessons of the whole repository instead
    #[arg(long, conflicts_with_all = ["paths", "lines", "anchor"])]
    recent: bool,

    /// With --recent, how many
    #[arg(long, value_name = "N", requires = "recent")]
    limit: Option<usize>,

    /// Only lessons written after this date or commit
    #[arg(long, value_name = "DATE|REV")]
    since: Option<String>,

    /// Only items with one of these labels
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    tags: Vec<String>,

    /// Only lessons of this kind: dead_end, gotcha, insight or unfinished_thread
    #[arg(long, value_name = "CATEGORY")]
    category: Option<Category>,

    /// Only testimony (enhanced) or inference (inferred)
    #[arg(long, value_name = "LEVEL", default_value = "all", hide_default_value = true)]
    context_level: Level,

    /// Only items with at least this confidence, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, hide_default_value = true, value_parser = share)]
    min_confidence: f64,

    /// Show at most this many items; 20 unless `defaultMaxRegions` is set
    #[arg(long, value_name = "N")]
    max_regions: Option<usize>,

    /// Follow this many hops of related annotations
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: u32,

    /// The longest answer, in tokens of about four bytes
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,

    /// Let `git blame` say which commits wrote the lines, instead of mapping them
    #[arg(long, conflicts_with = "recent")]
    blame: bool,

    /// Include commits of other branches, labelled
    #[arg(long)]
    all: bool,

    /// Show every field, even empty ones
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    All,
    Enhanced,
    Inferred,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("expected a number from 0 to 1".to_owned()) }
}

/// Lessons that `--recent` shows unless told otherwise.
const RECENT_LIMIT: usize = 10;

pub(crate) fn run(args: ReadArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.limit == Some(0) || args.max_regions == Some(0) {
        return UsageSnafu { reason: "a limit of 0 leaves nothing to show" }.fail();
    }
    let view = View { verbose: args.verbose, ..View::plain(chronicle.workplace().now()) };
    let measure = |reading: &Reading| render::reading(reading, ui.format(), &view).len();
    let command = ReadCommand {
        is_brief: false,
        with_replaced: false,
        paths: args.paths,
        anchor: args.anchor,
        lines: args.lines,
        since: args.since,
        tags: args.tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect(),
        category: args.category,
        context_level: match args.context_level {
            Level::All => None,
            Level::Enhanced => Some(ContextLevel::Enhanced),
            Level::Inferred => Some(ContextLevel::Inferred),
        },
        min_confidence: args.min_confidence,
        max_regions: if args.recent { args.limit.or(Some(RECENT_LIMIT)) } else { args.max_regions },
        depth: args.depth,
        budget: args.max_tokens.map(|max_tokens| match ui.format() {
            Format::Json => Budget::Json(max_tokens),
            Format::Markdown | Format::Pretty => Budget::Text { max_tokens, measure: &measure },
        }),
        all: args.all,
        verbose: args.verbose,
    };
    let reading = match (args.recent, args.blame) {
        (true, _) => chronicle.read_recent(&command)?,
        (false, true) => chronicle.read_blamed(&command)?,
        (false, false) => chronicle.read(&command)?,
    };
    let view = ui.view(args.verbose);
    let code = chronicle.present_code();
    let answer = match ui.format() {
        Format::Pretty => render::reading_with_code(&reading, &view, &|file, lines| code.line(file, lines)),
        format => render::reading(&reading, format, &view),
    };
    ui.answer(&answer)?;
    for warning in &reading.warnings {
        ui.warn(warning);
    }
    // Where there are no annotations at all, or no such file, a warning has said so.
    if answer.is_empty() && (0 < reading.stats.commits_examined || reading.warnings.is_empty()) {
        ui.tell(&nothing(&reading));
    }
    Ok(())
}

/// What to say when nothing is known: how much could be.
fn nothing(reading: &Reading) -> String {
    let stats = &reading.stats;
    let about = match (&reading.query.file, &reading.query.files[..]) {
        (Some(file), _) => format!("`{file}`"),
        (None, []) => "the repository".to_owned(),
        (None, files) => format!("{} paths", files.len()),
    };
    let part = if reading.query.lines.is_some() { "these lines of " } else { "" };
    if stats.commits_examined == 0 {
        return format!(
            "nothing that fits is known about {part}{about}: no commit changed it, no annotation names it"
        );
    }
    format!(
        "nothing that fits is known about {part}{about}: of {} that changed it and others that name it, {} annotated",
        counted(stats.commits_examined, "commit"),
        are(stats.annotations_found)
    )
}
