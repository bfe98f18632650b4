use std::{
    fs,
    io::IsTerminal,
    path::{Path, PathBuf},
};

use chronicle::{Chronicle, WhyScope};
use chronicle_view::{Ended, Outside, Start, browse};
use snafu::ensure;

use crate::{
    background,
    commands::resume,
    editor,
    error::{CommandError, UsageSnafu},
    ui::Ui,
};

/// Browse lessons on their code, sessions and open work in the terminal
///
/// Without an argument, lists the newest lessons of the repository. `?` shows the keys: walk from
/// lesson to lesson, see who wrote a line and in which session, correct lessons, close open work,
/// and continue a session. Works over ssh, with or without a mouse.
#[derive(Debug, clap::Args)]
pub(crate) struct BrowseArgs {
    /// A file, also as `FILE:LINE`, or the id of a session or the beginning of it
    #[arg(value_name = "FILE|SESSION")]
    what: Option<PathBuf>,
}

pub(crate) fn run(args: &BrowseArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    ensure!(is_terminal, UsageSnafu { reason: "`browse` needs a terminal; `read` and `session list` don't" });
    background::ensure_person()?;
    let start = args.what.as_deref().map_or(Start::All, start);
    match browse(chronicle, &start, &mut Programs)? {
        Ended::Quit => Ok(()),
        Ended::Resume(id) => resume::start(Some(&id), chronicle, ui),
        Ended::Signal(signal) => std::process::exit(128 + signal),
    }
}

/// What is meant: a file that is there or looks like one, else a session.
fn start(what: &Path) -> Start {
    if !what.exists()
        && let Some(Ok((file, WhyScope::Lines(lines)))) = WhyScope::behind_colon(what)
    {
        return Start::File(file, Some(lines.start));
    }
    let name = what.to_string_lossy();
    let is_id = 4 <= name.len()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_/".contains(letter));
    if !what.exists() && is_id && name.chars().any(|letter| letter.is_ascii_digit()) {
        return Start::Session(name.into_owned());
    }
    Start::File(what.to_owned(), None)
}

/// The programs that the browser starts.
struct Programs;

impl Outside for Programs {
    fn edit(&mut self, text: &str) -> Result<Option<String>, String> {
        let file = tempfile::Builder::new().prefix("chronicle-lesson").suffix(".txt").tempfile();
        let file = file.map_err(|error| error.to_string())?;
        fs::write(file.path(), text).map_err(|error| error.to_string())?;
        editor::open(file.path()).map_err(|error| error.to_string())?;
        let edited = fs::read_to_string(file.path()).map_err(|error| error.to_string())?;
        let edited = edited.trim_end().to_owned();
        Ok(Some(edited).filter(|edited| edited != text.trim_end() && !edited.trim().is_empty()))
    }

    fn open(&mut self, file: &Path, line: u32) -> Result<(), String> {
        editor::open_at(file, line).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_or_a_session_is_meant() {
        let check = |what: &str, expected: Start| assert_eq!(start(Path::new(what)), expected, "{what}");
        check("src/none.rs", Start::File("src/none.rs".into(), None));
        check("src/none.rs:7", Start::File("src/none.rs".into(), Some(7)));
        check("src/none.rs:7-9", Start::File("src/none.rs".into(), Some(7)));
        check("5e551011", Start::Session("5e551011".into()));
        check("ses_7f00", Start::Session("ses_7f00".into()));
        check("README", Start::File("README".into(), None));
        check("Cargo.toml", Start::File("Cargo.toml".into(), None));
    }
}
