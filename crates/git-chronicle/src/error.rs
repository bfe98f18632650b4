//! From what went wrong to what to do next, and to an exit code.

use std::{borrow::Cow, error::Error, path::PathBuf, process::ExitCode};

use chronicle_render::{self as render, Format};
use chronicle_serve::mcp::Explained;
use snafu::Snafu;

use crate::ui::Ui;

/// What can go wrong with a command.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub(crate) enum CommandError {
    /// The application says no.
    #[snafu(transparent)]
    Chronicle { source: chronicle_workplace::Error },
    /// A check that cannot run.
    #[snafu(display("{source}"))]
    Check { source: chronicle_workplace::Error },
    /// A check that found what it was to look for.
    #[snafu(display("the change touches lessons of the kinds that --fail-on names: {n_lessons}"))]
    Touched { n_lessons: usize },
    /// A `git` that ran for the user failed, and said why itself.
    #[snafu(display("git failed"))]
    Git { code: i32 },
    /// Several claims where one was to be changed.
    #[snafu(display("{n_claims} lessons match, so nothing was changed"))]
    Several { n_claims: usize },
    /// A repository with problems.
    #[snafu(display("problems were found: {n_problems}"))]
    Unwell { n_problems: usize },
    /// Settings that could not be changed, among others that were.
    #[snafu(display("files were left alone: {n_files}"))]
    LeftAlone { n_files: usize },
    /// Commits that could not be annotated, among others.
    #[snafu(display("commits could not be annotated: {n_failed}"))]
    Unwritten { n_failed: usize },
    /// Words that are still there after a purge.
    #[snafu(display("the words are still in {refs}"))]
    NotPurged { refs: String },
    /// Sessions that a model said nothing of that holds.
    #[snafu(display("sessions that the model could not do: {n_failed}; what rules found of them stands"))]
    Unworded { n_failed: usize },
    /// An edited text that was refused, and where it is kept.
    #[snafu(display("what you wrote is kept in `{}`, for {source}", path.display()))]
    KeptText { path: PathBuf, source: chronicle_workplace::Error },
    /// An editor that failed.
    #[snafu(display("the editor `{editor}` failed; nothing was changed"))]
    Editor { editor: String },
    /// Arguments that do not go together.
    #[snafu(display("{reason}"))]
    Usage { reason: String },
    /// A question that only a person may answer.
    #[snafu(display("only a person at a terminal can allow this: {reason}"))]
    NoPerson { reason: &'static str },
    /// Standard output that cannot be written.
    #[snafu(display("cannot write the answer"))]
    Stdout { source: std::io::Error },
    /// Standard input that cannot be read.
    #[snafu(display("cannot read standard input"))]
    Stdin { source: std::io::Error },
    /// A server that stopped before its client wanted it to.
    #[snafu(transparent)]
    Serve { source: chronicle_serve::mcp::ServeError },
    /// A directory that is not there.
    #[snafu(display("cannot work in `{}`", path.display()))]
    Directory { path: PathBuf, source: std::io::Error },
}

const CANNOT: u8 = 1;
const WRONG_ARGUMENTS: u8 = 2;
const BUG: i32 = 70;

impl CommandError {
    fn code(&self) -> &'static str {
        match self {
            Self::Chronicle { source } | Self::Check { source } | Self::KeptText { source, .. } => {
                source.code()
            }
            Self::Touched { .. } => "lessons_touched",
            Self::Unwell { .. } => "problems_found",
            Self::Several { .. } => "several_claims",
            Self::LeftAlone { .. } => "files_left_alone",
            Self::Unwritten { .. } => "commits_failed",
            Self::Unworded { .. } => "sessions_failed",
            Self::NotPurged { .. } => "not_purged",
            Self::Usage { .. } => "usage",
            Self::NoPerson { .. } => "no_person",
            Self::Git { .. } => "git",
            Self::Editor { .. } => "editor_failed",
            Self::Serve { source } => source.code(),
            Self::Stdout { .. } | Self::Stdin { .. } | Self::Directory { .. } => "io",
        }
    }

    fn exit_code(&self) -> u8 {
        if matches!(self, Self::Check { .. }) {
            return WRONG_ARGUMENTS;
        }
        match self.code() {
            "usage"
            | "lines_need_one_file"
            | "line_missing"
            | "not_one_file"
            | "anchor_needs_one_file"
            | "budget_too_small"
            | "unknown_schema"
            | "unknown_setting"
            | "invalid_setting"
            | "empty_context"
            | "empty_question"
            | "empty_value"
            | "invalid_period"
            | "invalid_time"
            | "invalid_share"
            | "invalid_since" => WRONG_ARGUMENTS,
            _ => CANNOT,
        }
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        let advice = match self {
            Self::Chronicle { source } | Self::Check { source } | Self::KeptText { source, .. } => {
                source.advice()
            }
            _ => None,
        };
        advice.map(Cow::Owned).or_else(|| self.fixed_hint().map(Cow::Borrowed))
    }

    fn fixed_hint(&self) -> Option<&'static str> {
        Some(match self.code() {
            "untrusted_repository" => "name it with GIT_DIR or `git --git-dir`, if you trust it",
            "not_a_repository" => "run this inside a repository, or name one with -C",
            "broken_repository" => {
                "`git fsck` says what else is; a file of git's is restored or removed by hand"
            }
            "linked" => "look where it leads with `ls -l`; git and Chronicle make none there, so remove it",
            "no_commits" => "commit something first; Chronicle reads committed code",
            "unknown_revision" => "name a commit, branch or tag; `git log` lists commits",
            "file_not_found" => "paths are taken from the current directory, then from the root",
            "in_submodule" => "ask there: `git -C DIRECTORY chronicle …`, with the path from its root",
            "anchor_needs_one_file" => "paths are taken from the current directory, then from the root",
            "unknown_anchor" => "`git chronicle outline FILE` lists what the file has",
            "line_missing" => "lines are given as FILE:5-7 or FILE 5:7, an item as FILE Pool::acquire",
            "not_tracked" => "commit it first",
            "file_gone" => "`git chronicle history FILE` tells what was thought of it",
            "not_fetched" => {
                "only remotes that `git chronicle sync enable` named are asked; if that one is, see whether it answers: `git fetch`"
            }
            "no_work_tree" => "name two commits with --diff A..B",
            "lessons_touched" => "read them above; `git chronicle read` says more",
            "no_knowledge" => "`git chronicle knowledge list` lists what there is",
            "remote_holds_purged" => {
                "`git fetch` it, then `git chronicle purge ID` again: it prints the push that cleans the remote"
            }
            "unvouched" => {
                "read them first (`git chronicle show COMMIT`); `git chronicle sync push --vouch` publishes them as yours"
            }
            "wanted_gone" => "`git chronicle sync pull --accept-purge` removes it here as well",
            "files_left_alone" => "each says why; mend it, then run this again: what is done stays as it is",
            "several_claims" => "name one by its id",
            "commits_failed" => {
                "`git chronicle annotate --agent COMMIT..` tries those again that are not annotated"
            }
            "context_too_small" => {
                "use a model that takes at least 8,000 tokens at once, or set chronicle.llm.tools to false for a small one"
            }
            "no_claim" => "`git chronicle show` lists what a commit's annotation says",
            "invalid_time" => "such as 2026-12-31 or 2026-12-31T12:00:00Z",
            "lines_need_one_file" => "name one file together with --lines",
            "invalid_json" | "input_empty" => "`git chronicle schema annotate-input` shows the form",
            "invalid_input" => "`git chronicle schema annotate-input` shows the form; nothing was stored",
            "not_your_commit" | "not_your_words" => {
                "say in your own words why it is so, with --summary or --json"
            }
            "no_summary" => "add \"summary\" to the JSON, or use --summary or --auto",
            "unknown_entry" => "`git chronicle show` lists the ids of a commit's entries",
            "not_your_summary" => "leave out --replace-summary: yours is stored beside it",
            "empty_question" => "such as `git chronicle find why the pool waits`",
            "empty_context" => "use --task, --reasoning, --dependencies or --tags",
            "hook_not_written" => {
                "is the disk full or the repository read-only? `--dry-run` shows what would be changed"
            }
            "unknown_setting" => "`git chronicle config list` lists the settings",
            "contended" => "try again; another process was writing at the same time",
            "locked" => "try again; if that process hangs, stop it: the lock goes with it",
            "locked_by_git" => {
                "try again; if no git runs here any more, a dead one left that file: remove it"
            }
            "not_purged" => "run the same purge again, when nobody else writes notes",
            "write_failed" => "the last change was not stored; is the disk full or the repository read-only?",
            "not_a_notes_ref" => "`git log refs/notes/chronicle` shows what the ref holds",
            "problems_found" => "each says how to mend it; --fix does what can be done without a loss",
            "invalid_line" => "nothing was stored; each line is a note as `git chronicle export` writes it",
            "pushed_elsewhere" => {
                "`git remote get-url --push NAME` shows it; `git chronicle sync enable NAME` says that it is right"
            }
            "no_remote" | "unknown_remote" => "`git remote -v` lists the remotes",
            "forged_object" => {
                "clone it anew; `git replace --list` shows whether another object stands in for it"
            }
            "other_address" => {
                "variables such as GIT_CONFIG_PARAMETERS say so; unset them, or give the remote that address"
            }
            "fetch_failed" => "`git ls-remote REMOTE` shows whether it can be reached",
            "push_rejected" => {
                "what was merged stays here; ask who runs the remote to allow refs/notes/chronicle*"
            }
            "model_refused" => {
                "is the key right, and the model one of theirs? `git chronicle llm check` shows what is asked"
            }
            "model_unreachable" => {
                "`git chronicle llm check` shows the address; proxies are those of https_proxy and http_proxy"
            }
            "model_unusable" => "`git chronicle llm check` shows what is set",
            "no_reply" => "try again; chronicle.llm.timeout gives slow models more time",
            "too_dear" => {
                "`git chronicle cost` shows what was spent; chronicle.llm.maxCostPerDay, maxTokensPerDay and maxRequestsPerDay limit a day"
            }
            "limit_of_commit" => {
                "chronicle.llm.maxRequestsPerCommit and chronicle.llm.maxTokensPerCommit are the limits"
            }
            "no_account" => "nothing was asked; is the folder read-only? CHRONICLE_HOME names another one",
            "home_in_repository" => {
                "unset it, or set it to the whole path of a folder outside of repositories"
            }
            "note_too_large" => {
                "nothing was stored; say it on another commit, or take lessons out with `git chronicle purge`"
            }
            "home_of_another" => "take it over with chown, or name a folder of yours in CHRONICLE_HOME",
            "damaged_record" => "repair or remove the file; what it allowed is asked again",
            "no_person" => {
                "run it yourself, in a terminal of your own; `git chronicle config list` shows what is ignored"
            }
            "no_home" => "set HOME, or CHRONICLE_HOME to the folder that is to hold it",
            "unknown_project" | "several_projects" => "`git chronicle projects` names them and their folders",
            "unknown_session" => "`git chronicle session list` lists sessions",
            "unknown_thread" => "`git chronicle pending --all` lists open threads",
            "no_block" => "`git chronicle blocks list` lists the blocks",
            "block_too_long" => {
                "`git chronicle blocks edit` opens it again, to be shortened; the block is as it was"
            }
            "block_changed" => "`git chronicle blocks show` shows it as it is now; nothing was stored",
            "editor_failed" => "GIT_EDITOR, core.editor, VISUAL or EDITOR names the editor",
            "unknown_subject" => {
                "`git chronicle preferences --all` and `patterns --all` list what was learned"
            }
            "share_not_built" => {
                "build it with `--features lance` (it takes `protoc`); docs/sharing.md says how"
            }
            "not_sharing" => "`git chronicle memory share init FOLDER|s3://BUCKET/PREFIX` begins",
            "nothing_pulled" => "`git chronicle memory share pull` makes it",
            "no_shared_store" | "other_shared_store" => {
                "is the place right? `git chronicle memory share init` makes a store there, or goes over to it"
            }
            "share_unreachable" => {
                "try again; what is on this machine stays. Keys and addresses are AWS_ACCESS_KEY_ID, AWS_ENDPOINT and the like"
            }
            "share_refused" => {
                "may you write there, and is there room? Nothing was lost: the next push goes on"
            }
            "share_busy" => "try again; what went out stays, and nothing is doubled",
            "shared_store_older" => {
                "ask who keeps it whether an older one was put back; `pull --accept-older` takes it as it is"
            }
            "share_too_new" => "update Chronicle; nothing was changed",
            "share_damaged" => "ask who keeps it; nothing was changed",
            "share_copy_damaged" => "`git chronicle memory share pull --anew` makes it again",
            "share_record_damaged" => {
                "repair or remove the file, and say again what may go out; nothing went out"
            }
            "store_folder" | "store_read_only" => "is the folder read-only? CHRONICLE_HOME names another one",
            "store_too_new" => "update Chronicle; nothing was changed",
            "store_damaged" => {
                "move it away and run `git chronicle session ingest`: it is made again from the transcripts"
            }
            "store_full" => "make room and try again; nothing was lost",
            "store_busy" => "try again; another process was writing at the same time",
            "unreadable_staging" => {
                "repair or remove the file; it is never overwritten while it cannot be read"
            }
            _ => return None,
        })
    }
}

/// What went wrong, in the words of [`report`].
pub(crate) fn explain(source: chronicle_workplace::Error) -> Explained {
    let error = CommandError::Chronicle { source };
    Explained { code: error.code(), message: with_causes(&error, ": "), hint: error.hint() }
}

/// Reports an error, in JSON where answers are JSON, and returns the exit code.
pub(crate) fn report(error: &CommandError, ui: &mut Ui) -> ExitCode {
    if let CommandError::Git { code } = error {
        return ExitCode::from(u8::try_from(*code).unwrap_or(CANNOT));
    }
    // The answer is written already and must stay one object.
    let is_answered = matches!(
        error,
        CommandError::Touched { .. }
            | CommandError::Several { .. }
            | CommandError::Unwell { .. }
            | CommandError::LeftAlone { .. }
            | CommandError::Unwritten { .. }
            | CommandError::Unworded { .. }
    );
    if is_answered && ui.format() == Format::Json {
        return ExitCode::from(error.exit_code());
    }
    if ui.format() == Format::Json {
        let text = render::json_error(error.code(), &with_causes(error, ": "), error.hint().as_deref());
        if ui.answer(&text).is_err() {
            ui.stderr(text.trim_end());
        }
    } else {
        let mut text = String::from("error: ");
        text.push_str(&plain(&error.to_string()));
        let mut cause = first_cause(error);
        while let Some(source) = cause {
            let line = format!("\ncaused by: {}", plain(&source.to_string()));
            // Some errors wrap another one without a word of their own.
            if !text.ends_with(&line) {
                text.push_str(&line);
            }
            cause = source.source();
        }
        if let Some(hint) = error.hint() {
            text.push_str("\nhint: ");
            text.push_str(&hint);
        }
        ui.stderr(&text);
    }
    ExitCode::from(error.exit_code())
}

/// The cause behind what the error says itself; transparent layers say the same as their source.
fn first_cause(error: &CommandError) -> Option<&(dyn Error + 'static)> {
    let mut at: &(dyn Error + 'static) = error;
    let said = error.to_string();
    while let Some(source) = at.source() {
        // A message that already quotes its cause needs no second line for it.
        if said != source.to_string() && !said.ends_with(&source.to_string()) {
            return Some(source);
        }
        at = source;
    }
    None
}

fn with_causes(error: &CommandError, between: &str) -> String {
    let mut text = error.to_string();
    let mut cause = first_cause(error);
    while let Some(source) = cause {
        text.push_str(between);
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}

fn plain(text: &str) -> String {
    chronicle::plain(text).replace(['\n', '\t'], " ")
}

/// Makes a panic end as what it is, a bug of ours: one line, and an exit code of its own.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        // The words of a panic may hold text of the user: a piece of a file, say.
        let text = format!(
            "error: a bug in Chronicle{place}\nhint: please report it with the command that led here\n"
        );
        // Nobody to tell is no reason to do more.
        let _written = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
        std::process::exit(BUG);
    }));
}

/// Reports wrong arguments; help and version are answers, not errors.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && asks_for_json() {
        let message = error.to_string();
        let said = message
            .lines()
            .take_while(|line| !line.starts_with("Usage:"))
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let said = said.collect::<Vec<_>>().join(" ");
        let text = render::json_error(
            "usage",
            said.trim_start_matches("error: "),
            Some("--help lists the arguments"),
        );
        let _written = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
        return ExitCode::from(WRONG_ARGUMENTS);
    }
    let _printed = error.print();
    ExitCode::from(if error.use_stderr() { WRONG_ARGUMENTS } else { 0 })
}

/// Whether the arguments, wrong as they are, ask for JSON.
fn asks_for_json() -> bool {
    let arguments: Vec<_> = std::env::args_os().collect();
    arguments.iter().any(|argument| argument == "--format=json")
        || arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}
