//! Where answers and remarks go: stdout carries the answer, stderr the remarks.

use std::borrow::Cow;
use std::io::{BufWriter, IsTerminal, Write};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use chronicle::Work;
use chronicle_render::{DEFAULT_WIDTH, Format, View};

use crate::{
    arguments::{ColorWhen, OutputArgs, OutputFormat},
    background,
    error::CommandError,
    pager, surroundings,
};

/// The user at the other end.
pub(crate) struct Ui {
    output: OutputArgs,
    /// The form of the answer.
    wanted: OutputFormat,
    /// Whether the reader of stdout has gone away: then there is nobody to tell.
    is_closed: bool,
}

impl Ui {
    pub(crate) fn new(output: OutputArgs) -> Self {
        let wanted = output.format.unwrap_or(OutputFormat::Answer(Format::Markdown));
        Self { output, wanted, is_closed: false }
    }

    /// Whether the form of the answer is up to the user's settings: at a terminal where no agent looks at it, and where
    /// no argument names one.
    pub(crate) fn is_format_open(&self) -> bool {
        self.output.format.is_none() && std::io::stdout().is_terminal() && !background::is_of_agent()
    }

    /// Decides on the form of the answer.
    pub(crate) fn set_format(&mut self, format: Format) {
        self.wanted = OutputFormat::Answer(format);
    }

    pub(crate) fn format(&self) -> Format {
        match self.wanted {
            OutputFormat::Answer(format) => format,
            OutputFormat::AgentTrace | OutputFormat::Html | OutputFormat::JsonLines => Format::Markdown,
        }
    }

    /// The form that an argument names, where one does.
    pub(crate) fn named_format(&self) -> Option<OutputFormat> {
        self.output.format
    }

    pub(crate) fn wanted(&self) -> OutputFormat {
        self.wanted
    }

    pub(crate) fn view(&self, verbose: bool) -> View {
        let width = terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        View { now: surroundings::now(), colour: self.colour(), width, verbose }
    }

    #[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
    pub(crate) fn colour(&self) -> bool {
        match self.output.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
            }
        }
    }

    /// Writes the answer; pretty ones go through the pager when there is a terminal.
    ///
    /// Whatever a text from outside holds, nothing in it acts on the terminal or on the host of a build.
    pub(crate) fn answer(&mut self, text: &str) -> Result<(), CommandError> {
        let shown = match self.format() {
            Format::Json => chronicle::shown_json(text),
            _ if self.colour() => Cow::Borrowed(text),
            _ => chronicle::plain(text),
        };
        match self.format() {
            Format::Json => self.raw(&shown),
            _ => self.raw(&chronicle::without_commands(&shown)),
        }
    }

    /// Writes an answer as it is: one that is meant for the host of a build.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), CommandError> {
        if text.is_empty() || self.is_closed {
            return Ok(());
        }
        let wants_pager =
            self.format() == Format::Pretty && !self.output.no_pager && std::io::stdout().is_terminal();
        if wants_pager && pager::show(text) {
            return Ok(());
        }
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            // `| head` has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            Err(source) => Err(CommandError::Stdout { source }),
            Ok(()) => Ok(()),
        }
    }

    /// Writes a short answer at once, while the command goes on.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), CommandError> {
        let mut stdout = std::io::stdout().lock();
        let written = writeln!(stdout, "{}", one_line(text)).and_then(|()| stdout.flush());
        written.map_err(|source| CommandError::Stdout { source })
    }

    /// Writes an answer that is too long to be held; `None` when its reader has seen enough.
    pub(crate) fn stream<T>(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> Result<T, chronicle_workplace::Error>,
    ) -> Result<Option<T>, CommandError> {
        let mut stdout = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        match write(&mut stdout) {
            Err(error) if is_broken_pipe(&error) => {
                self.is_closed = true;
                // What is left in the buffer has no reader either.
                let _unread = stdout.into_parts();
                Ok(None)
            }
            written => Ok(Some(written?)),
        }
    }

    /// Writes a remark. In JSON mode remarks are part of the answer instead.
    pub(crate) fn warn(&mut self, text: &str) {
        if self.format() != Format::Json {
            self.stderr(&format!("warning: {}", one_line(text)));
        }
    }

    /// Tells something that is neither answer nor warning.
    pub(crate) fn tell(&mut self, text: &str) {
        if self.format() != Format::Json {
            self.stderr(&one_line(text));
        }
    }

    /// Whether somebody is there to be asked.
    pub(crate) fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && self.format() != Format::Json
    }

    /// Asks a question at the terminal; where there is none, and without an answer, the answer is no.
    pub(crate) fn agrees(&mut self, question: &str) -> bool {
        self.ask(&format!("{question} [y/N]")).is_some_and(|answer| is_yes(&answer))
    }

    /// The same, where an empty line means yes. Where nobody can be asked, the answer is no.
    pub(crate) fn agrees_by_default(&mut self, question: &str) -> bool {
        self.ask(&format!("{question} [Y/n]")).is_some_and(|answer| answer.is_empty() || is_yes(&answer))
    }

    /// What somebody types at the terminal after `question`; none where nobody can be asked, or the input ends.
    pub(crate) fn ask(&mut self, question: &str) -> Option<String> {
        if !self.can_ask() {
            return None;
        }
        let _written = write!(std::io::stderr().lock(), "{} ", one_line(question));
        let mut answer = String::new();
        match std::io::stdin().read_line(&mut answer) {
            Ok(n_bytes) if 0 < n_bytes => Some(answer.trim().to_owned()),
            _ => None,
        }
    }

    /// Shows how much of `what` is done, on a line that goes away at the end; only to who looks at a terminal.
    pub(crate) fn progress(&mut self, what: &str, n_done: usize, n_all: usize) {
        if self.format() != Format::Json {
            show_progress(what, n_done, n_all);
        }
    }

    pub(crate) fn stderr(&mut self, text: &str) {
        // Nobody to tell is no reason to fail.
        let text = chronicle::without_commands(text);
        let _written = writeln!(std::io::stderr().lock(), "{text}");
    }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.to_lowercase().as_str(), "y" | "yes")
}

/// When the command began.
static BEGUN: OnceLock<Instant> = OnceLock::new();

/// Says that the command begins.
pub(crate) fn begin() {
    BEGUN.get_or_init(Instant::now);
}

/// Shows how far a look at history or at many files is, where the command takes more than half a second.
pub(crate) fn reading_progress(work: Work, n_done: usize, n_all: usize) {
    let is_long = BEGUN.get_or_init(Instant::now).elapsed() > Duration::from_millis(500);
    if is_long {
        let what = match work {
            Work::Commits => "commits read",
            Work::Files => "files read",
        };
        show_progress(what, n_done, n_all);
    }
}

fn show_progress(what: &str, n_done: usize, n_all: usize) {
    const WIDTH: usize = 30;
    let mut stderr = std::io::stderr().lock();
    if !stderr.is_terminal() {
        return;
    }
    let n_marks = WIDTH * n_done.min(n_all) / n_all.max(1);
    let line = if n_done < n_all {
        format!("\r[{}{}] {n_done} of {n_all} {what}", "#".repeat(n_marks), " ".repeat(WIDTH - n_marks))
    } else {
        "\r\u{1b}[K".to_owned()
    };
    // Nobody to tell is no reason to fail.
    let _written = stderr.write_all(line.as_bytes()).and_then(|()| stderr.flush());
}

/// Whether what went wrong is only that nobody reads any more.
fn is_broken_pipe(error: &chronicle_workplace::Error) -> bool {
    let mut at: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = at {
        if error.downcast_ref().is_some_and(|io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe)
        {
            return true;
        }
        at = error.source();
    }
    false
}

/// Names and messages from outside, on one line and without anything that acts on a terminal.
fn one_line(text: &str) -> String {
    chronicle::plain(text).replace(['\n', '\t'], " ")
}

/// Says on standard error whom the command waits for.
pub(crate) fn tell_of_wait(lock: &std::path::Path, holder: Option<u32>) {
    let holder = holder.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"));
    let line = format!("waiting for {holder}, which holds `{}`", one_line(&lock.display().to_string()));
    // A closed stderr is no reason to fail.
    let _written = writeln!(std::io::stderr().lock(), "{line}");
}
