//! From what went wrong to what to do next, and to an exit code.

use std::{borrow::Cow, error::Error, path::PathBuf, process::ExitCode};

use chronicle_render::{self as render, Format};
use chronicle_serve::mcp::Explained;
use chronicle_workplace::{CANNOT, Code, WRONG_ARGUMENTS};
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
    #[snafu(display("sessions that the model failed on: {n_failed}; their rule-based digests were kept"))]
    Unworded { n_failed: usize },
    /// An edited text that was refused, and where it is kept.
    #[snafu(display("{source}"))]
    KeptText { path: PathBuf, source: chronicle_workplace::Error },
    /// An editor that left nothing.
    #[snafu(display("the text is empty; nothing was stored"))]
    NothingWritten,
    /// An editor that failed.
    #[snafu(display("the editor `{editor}` failed; nothing was changed"))]
    Editor { editor: String },
    /// A program that could not be started.
    #[snafu(display("cannot start `{program}`"))]
    Program { program: String, source: std::io::Error },
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
    /// A manual page that cannot be written or removed.
    #[snafu(display("cannot change `{}`", path.display()))]
    Manual { path: PathBuf, source: std::io::Error },
    /// A page or a browser that cannot be made.
    #[snafu(transparent)]
    View { source: chronicle_view::ViewError },
    /// An editor that said `exit` before `shutdown`; the protocol wants it to be an error.
    #[snafu(display("the editor left before it said `shutdown`"))]
    LeftEarly,
    /// A directory that is not there.
    #[snafu(display("cannot work in `{}`", path.display()))]
    Directory { path: PathBuf, source: std::io::Error },
}

const BUG: i32 = 70;

impl CommandError {
    fn code(&self) -> Code {
        match self {
            Self::Chronicle { source } | Self::Check { source } | Self::KeptText { source, .. } => {
                source.code()
            }
            Self::Touched { .. } => Code::LessonsTouched,
            Self::Unwell { .. } => Code::ProblemsFound,
            Self::Several { .. } => Code::SeveralClaims,
            Self::LeftAlone { .. } => Code::FilesLeftAlone,
            Self::Unwritten { .. } => Code::CommitsFailed,
            Self::Unworded { .. } => Code::SessionsFailed,
            Self::NotPurged { .. } => Code::NotPurged,
            Self::Usage { .. } => Code::Usage,
            Self::NoPerson { .. } => Code::NoPerson,
            Self::Git { .. } => Code::Git,
            Self::Editor { .. } => Code::EditorFailed,
            Self::NothingWritten => Code::NothingWritten,
            Self::Serve { source } => source.code(),
            Self::View { source } => source.code(),
            Self::Stdout { .. }
            | Self::Stdin { .. }
            | Self::Directory { .. }
            | Self::Manual { .. }
            | Self::LeftEarly
            | Self::Program { .. } => Code::Io,
        }
    }

    fn exit_code(&self) -> u8 {
        if matches!(self, Self::Check { .. }) {
            return WRONG_ARGUMENTS;
        }
        self.code().exit_code()
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        let advice = match self {
            // Most hints of codes are for JSON and options, and not for a text in an editor.
            Self::KeptText { path, source } => {
                let next = match source.code() {
                    Code::BlockTooLong => source.code().hint(),
                    _ => Some("run the same command again to go on with it"),
                };
                Some(format!("what you wrote is kept in `{}`; {}", path.display(), next.unwrap_or_default()))
            }
            Self::Chronicle { source } | Self::Check { source } => source.advice(),
            Self::View { source: chronicle_view::ViewError::Chronicle { source } } => source.advice(),
            _ => None,
        };
        advice.map(Cow::Owned).or_else(|| self.code().hint().map(Cow::Borrowed))
    }
}

/// What went wrong, in the words of [`report`].
pub(crate) fn explain(source: chronicle_workplace::Error) -> Explained {
    let error = CommandError::Chronicle { source };
    Explained { code: error.code(), message: with_causes(&error, ": "), hint: error.hint() }
}

/// What went wrong with a page, in the same words.
pub(crate) fn explain_view(source: chronicle_view::ViewError) -> String {
    with_causes(&CommandError::View { source }, ": ")
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
            Code::Usage,
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
