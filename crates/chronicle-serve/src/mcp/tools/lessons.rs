//! What to know before code is changed.

use std::path::PathBuf;

use chronicle::{Budget, Category, CheckScope, Chronicle, ContextLevel, ReadCommand, are, counted};
use chronicle_render::{self as render, Format, View};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{
    budget::{DEFAULT_TOKENS, fit},
    refusal::Refusal,
    reply::{Ask, Reply, lines},
};

/// Lessons that `recent` shows unless told otherwise.
const RECENT_LIMIT: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadArgs {
    /// File or directory
    pub(crate) path: Option<PathBuf>,
    /// Several at once
    #[serde(default)]
    #[schemars(skip)]
    paths: Vec<PathBuf>,
    /// Item of the file, such as Pool::acquire
    pub(crate) anchor: Option<String>,
    /// START:END, as the file is now
    lines: Option<String>,
    /// Newest lessons of the repository instead of a path
    #[serde(default)]
    #[schemars(skip)]
    recent: bool,
    #[schemars(skip)]
    limit: Option<usize>,
    /// Date or revision
    since: Option<String>,
    #[serde(default)]
    #[schemars(skip)]
    tags: Vec<String>,
    #[schemars(skip)]
    category: Option<Category>,
    #[schemars(skip)]
    context_level: Option<ContextLevel>,
    #[serde(default)]
    #[schemars(skip)]
    min_confidence: f64,
    #[schemars(skip)]
    max_regions: Option<usize>,
    /// Hops of related annotations
    #[schemars(skip)]
    depth: Option<u32>,
    max_tokens: Option<usize>,
    /// Let git blame say who wrote the lines
    #[serde(default)]
    #[schemars(skip)]
    blame: bool,
    /// Other branches, too
    #[serde(default)]
    #[schemars(skip)]
    all: bool,
    #[serde(default)]
    #[schemars(skip)]
    verbose: bool,
}

impl ReadArgs {
    fn command(self) -> Result<(ReadCommand<'static>, bool, bool), Refusal> {
        let refuse = |reason: &str| Err(Refusal::Arguments(reason.to_owned()));
        let lines = lines(self.lines.as_deref())?;
        let paths: Vec<_> = self.path.into_iter().chain(self.paths).collect();
        if !(0.0..=1.0).contains(&self.min_confidence) {
            return refuse("`min_confidence` is a number from 0 to 1");
        }
        if self.limit == Some(0) || self.max_regions == Some(0) {
            return refuse("a limit of 0 leaves nothing to show");
        }
        if self.recent {
            if !paths.is_empty() || lines.is_some() || self.anchor.is_some() || self.blame {
                return refuse("`recent` goes with no path, lines, anchor or blame");
            }
        } else if paths.is_empty() {
            return refuse("`path` is missing");
        } else if self.limit.is_some() {
            return refuse("`limit` goes with `recent`; `max_regions` limits what a path shows");
        } else if self.anchor.is_some() && lines.is_some() {
            return refuse("`anchor` and `lines` do not go together");
        }
        let command = ReadCommand {
            is_brief: false,
            with_replaced: false,
            paths,
            anchor: self.anchor,
            lines,
            since: self.since,
            tags: self.tags,
            category: self.category,
            context_level: self.context_level,
            min_confidence: self.min_confidence,
            max_regions: if self.recent { self.limit.or(Some(RECENT_LIMIT)) } else { self.max_regions },
            depth: self.depth.unwrap_or(1),
            budget: Some(Budget::Json(self.max_tokens.unwrap_or(DEFAULT_TOKENS))),
            all: self.all,
            verbose: self.verbose,
        };
        Ok((command, self.recent, self.blame))
    }
}

impl Ask for ReadArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let (command, is_recent, is_blamed) = self.command()?;
        let reading = match (is_recent, is_blamed) {
            (true, _) => chronicle.read_recent(&command)?,
            (false, true) => chronicle.read_blamed(&command)?,
            (false, false) => chronicle.read(&command)?,
        };
        let nothing = format!(
            "nothing that fits is known; {} concern it, {} annotated",
            counted(reading.stats.commits_examined, "commit"),
            are(reading.stats.annotations_found)
        );
        let view = View { verbose: command.verbose, ..*view };
        let markdown = render::reading(&reading, Format::Markdown, &view);
        Ok(Reply::new(&reading, &markdown, &view, &nothing, &reading.warnings))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DepsArgs {
    path: PathBuf,
    /// Item of the file
    anchor: Option<String>,
    /// Other branches, too
    #[serde(default)]
    all: bool,
    max_tokens: Option<usize>,
}

impl Ask for DepsArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let deps = chronicle.deps(&self.path, self.anchor.as_deref(), self.all)?;
        let nothing = format!(
            "nothing declares to rely on it (looked at: {})",
            counted(deps.annotations_examined, "annotation")
        );
        let max_tokens = self.max_tokens.unwrap_or(DEFAULT_TOKENS);
        let deps = fit(deps, max_tokens, view);
        let markdown = render::deps(&deps, Format::Markdown, view);
        Ok(Reply::new(&deps, &markdown, view, &nothing, &deps.warnings))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckArgs {
    /// A..B, A...B, or A against the working tree
    diff: Option<String>,
    #[serde(default)]
    staged: bool,
    /// A unified diff against HEAD instead
    #[schemars(skip)]
    patch: Option<String>,
    /// Kinds of lessons to count as failing
    #[serde(default)]
    #[schemars(skip)]
    fail_on: Vec<Category>,
    #[schemars(skip)]
    max_tokens: Option<usize>,
}

impl Ask for CheckArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let scope = match (self.diff, self.staged, self.patch) {
            (None, false, None) => CheckScope::WorkTree,
            (Some(range), false, None) => CheckScope::Range(range),
            (None, true, None) => CheckScope::Staged,
            (None, false, Some(patch)) => CheckScope::Diff(patch.into_bytes()),
            _ => return Err(Refusal::Arguments("only one of `diff`, `staged` and `patch`".to_owned())),
        };
        let check = chronicle.check(&scope, &self.fail_on, usize::MAX)?;
        let nothing = format!("no lessons are touched; files changed: {}", check.n_files);
        let max_tokens = self.max_tokens.unwrap_or(DEFAULT_TOKENS);
        let check = fit(check, max_tokens, view);
        let markdown = render::check(&check, Format::Markdown, view);
        Ok(Reply::new(&check, &markdown, view, &nothing, &check.warnings))
    }
}
