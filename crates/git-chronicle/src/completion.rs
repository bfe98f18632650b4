//! Completion in a shell: commands and options as they are defined, and values from the repository and session memory.
//!
//! The scripts that `completion` prints ask this program at each TAB, by the variable [`ASKED`]. A shell puts an offered
//! value on the command line as it is, so a value that a shell would not take literally is not offered.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::Path,
    process::ExitCode,
};

use chronicle::{Chronicle, ReadCommand};
use chronicle_memory::threads::PendingCommand;
use chronicle_workplace::Workplace;
use clap::ValueHint;
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter},
};

use crate::{cli, surroundings};

/// The variable that names the shell which asks.
pub(crate) const ASKED: &str = "CHRONICLE_COMPLETE";

/// Files, sessions and threads that are looked at.
const MOST: usize = 200;
/// The newest lessons, each of which is placed.
const MOST_LESSONS: usize = 20;
/// Files with lessons that are offered at once by their whole path; of more, the next folder is.
const MOST_FILES: usize = 40;

/// What the values of an argument are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Files, first those with lessons.
    Files,
    /// Items of the file that was named before.
    Items,
    Lessons,
    Sessions,
    Threads,
    Blocks,
    Commands,
}

/// Arguments by their command and name, and what their values are. Files are known by their type.
const ARGUMENTS: [(&str, &str, Values); 38] = [
    ("why", "place", Values::Items),
    ("why", "anchor", Values::Items),
    ("read", "anchor", Values::Items),
    ("deps", "item", Values::Items),
    ("deps", "anchor", Values::Items),
    ("history", "item", Values::Items),
    ("history", "anchor", Values::Items),
    ("summary", "item", Values::Items),
    ("summary", "anchor", Values::Items),
    ("flag", "anchor", Values::Items),
    ("correct", "region", Values::Items),
    ("correct", "target", Values::Lessons),
    ("correct", "superseded_by", Values::Lessons),
    ("supersede", "old", Values::Lessons),
    ("supersede", "new", Values::Lessons),
    ("expire", "id", Values::Lessons),
    ("purge", "target", Values::Lessons),
    ("annotate", "replace", Values::Lessons),
    ("resume", "id", Values::Sessions),
    ("injected", "session", Values::Sessions),
    ("session show", "id", Values::Sessions),
    ("session forget", "ids", Values::Sessions),
    ("session word", "ids", Values::Sessions),
    ("resolve", "ids", Values::Threads),
    ("thread show", "id", Values::Threads),
    ("thread resolve", "ids", Values::Threads),
    ("thread defer", "ids", Values::Threads),
    ("thread drop", "ids", Values::Threads),
    ("thread link", "id", Values::Threads),
    ("thread link", "other", Values::Threads),
    ("thread block", "id", Values::Threads),
    ("thread block", "by", Values::Threads),
    ("thread unblock", "id", Values::Threads),
    ("thread priority", "id", Values::Threads),
    ("blocks show", "label", Values::Blocks),
    ("blocks edit", "label", Values::Blocks),
    ("blocks history", "label", Values::Blocks),
    ("help", "command", Values::Commands),
];

/// Answers a shell that asks for completions; none if this is a usual run.
pub(crate) fn answered() -> Option<ExitCode> {
    let shell = surroundings::environment(ASKED)?;
    if shell.is_empty() {
        return None;
    }
    let env =
        CompleteEnv::with_factory(definition).var(ASKED).bin("git-chronicle").completer("git-chronicle");
    let folder = std::env::current_dir().ok();
    match env.try_complete(std::env::args_os(), folder.as_deref()) {
        Ok(true) => Some(ExitCode::SUCCESS),
        Ok(false) => None,
        Err(error) => Some(crate::error::usage(&error)),
    }
}

/// The commands, with what the values of their arguments are.
fn definition() -> clap::Command {
    with_values(cli::all(), "", asked_word().as_encoded_bytes().starts_with(b"-"))
}

/// The word that is to be completed. All shells but bash and zsh ask for the last one.
fn asked_word() -> OsString {
    let words = || std::env::args_os().skip_while(|word| word != "--").skip(1);
    let number = surroundings::environment("_CLAP_COMPLETE_INDEX");
    let number = number.and_then(|number| number.to_str()?.parse::<usize>().ok());
    number.map_or_else(|| words().last(), |number| words().nth(number)).unwrap_or_default()
}

/// Options are offered only to who begins one: next to values there are too many of them.
fn with_values(command: clap::Command, path: &str, wants_options: bool) -> clap::Command {
    let of_argument = |argument: clap::Arg| {
        let name = argument.get_id().as_str();
        let named = ARGUMENTS.iter().find(|(command, id, _)| *command == path && *id == name);
        let is_path = matches!(
            argument.get_value_hint(),
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
        );
        match named.map(|(_, _, values)| *values).or(is_path.then_some(Values::Files)) {
            Some(values) => argument.add(ArgValueCompleter::new(values)),
            None => argument,
        }
    };
    let of_argument = |argument: clap::Arg| {
        let is_hidden = argument.is_hide_set() || !wants_options && !argument.is_positional();
        of_argument(argument).hide(is_hidden)
    };
    command.disable_help_flag(!wants_options).mut_args(of_argument).mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        with_values(below, path.trim(), wants_options)
    })
}

impl ValueCompleter for Values {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let Some(begun) = current.to_str() else { return Vec::new() };
        let mut found = match self {
            Self::Files => files(begun),
            Self::Commands => commands(),
            _ => self.known().unwrap_or_default(),
        };
        found.retain(|candidate| {
            candidate.get_value().to_str().is_some_and(|value| value.starts_with(begun) && is_literal(value))
        });
        found
    }
}

impl Values {
    fn known(self) -> Option<Vec<CompletionCandidate>> {
        let folder = std::env::current_dir().ok()?;
        let chronicle = chronicle(&folder);
        let memory = chronicle.memory();
        Some(match self {
            Self::Files | Self::Commands => Vec::new(),
            Self::Items => {
                let outline = chronicle.outline(Path::new(&named_file()?), None).ok()?;
                outline.items.into_iter().map(|item| offered(&item.name, &item.signature)).collect()
            }
            Self::Lessons => {
                let newest = ReadCommand { max_regions: Some(MOST_LESSONS), ..ReadCommand::default() };
                let lessons = chronicle.read_recent(&newest).ok()?.wisdom;
                lessons.iter().map(|one| offered(&one.standing.id.to_string(), &one.content)).collect()
            }
            Self::Sessions => {
                let list = memory.sessions(None, false, None, MOST).ok()?;
                list.sessions.iter().map(|session| offered(session.short(), &session.title)).collect()
            }
            Self::Threads => {
                let open = PendingCommand { project: None, all: false, archived: false, limit: MOST };
                let pending = memory.threads().pending(&open).ok()?;
                pending.items.iter().map(|one| offered(&one.id, &one.summary)).collect()
            }
            Self::Blocks => {
                let list = memory.blocks().list().ok()?;
                list.blocks.iter().map(|block| offered(&block.label, &block.description)).collect()
            }
        })
    }
}

/// The use cases, as for a hook: nothing is fetched, filled or waited for.
fn chronicle(folder: &Path) -> Chronicle {
    let workplace = Workplace::new(folder, surroundings::now(), surroundings::may_keep_facts(folder))
        .with_patience(chronicle::Patience::of_hooks())
        .with_environment(surroundings::environment);
    Chronicle::new(workplace)
}

/// Files with lessons; if there is none, files.
fn files(begun: &str) -> Vec<CompletionCandidate> {
    let folder = std::env::current_dir().ok();
    let known = folder.and_then(|folder| chronicle(&folder).files_with_lessons(begun, MOST).ok());
    let known: BTreeSet<String> = known.into_iter().flatten().collect();
    let offered: BTreeSet<String> = match known.len() {
        ..=MOST_FILES => known,
        _ => known.iter().map(|file| next_folder(file, begun.len()).to_owned()).collect(),
    };
    if offered.is_empty() {
        return PathCompleter::any().complete(OsStr::new(begun));
    }
    offered.into_iter().map(CompletionCandidate::new).collect()
}

/// A path up to the first `/` after so many bytes.
fn next_folder(path: &str, n_begun: usize) -> &str {
    let end = path.get(n_begun..).and_then(|rest| rest.find('/'));
    end.map_or(path, |end| &path[..=n_begun + end])
}

fn commands() -> Vec<CompletionCandidate> {
    let all = cli::all();
    let visible = all.get_subcommands().filter(|one| !one.is_hide_set());
    visible.map(|one| CompletionCandidate::new(one.get_name()).help(one.get_about().cloned())).collect()
}

/// The file on the command line: the first word after the command that is no option.
fn named_file() -> Option<OsString> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let mut words = words.skip(1).filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    words.nth(1)
}

fn offered(value: &str, about: &str) -> CompletionCandidate {
    let line: String = about.lines().next().unwrap_or_default().chars().take(70).collect();
    CompletionCandidate::new(value).help(Some(chronicle::plain(&line).into_owned().into()))
}

/// Whether every shell takes a word as it is written.
fn is_literal(word: &str) -> bool {
    word.chars().all(|letter| letter.is_alphanumeric() || "/._-+@:,=%".contains(letter))
        && !word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_of_the_table_is_there() {
        for (command, name, _) in ARGUMENTS {
            let all = cli::all();
            let found = command.split(' ').try_fold(&all, |all, word| all.find_subcommand(word));
            let found = found.unwrap_or_else(|| panic!("no command `{command}`"));
            assert!(found.get_arguments().any(|argument| argument.get_id() == name), "{command}: {name}");
        }
    }

    #[test]
    fn a_word_that_a_shell_would_run_or_take_apart_is_not_offered() {
        for word in ["src/pool.rs", "Pool::take", "größe.rs", "a-b_c+d@e,f=g%h", "01M80H3ZFCEK1GJ6CS1P8FV5ZS"]
        {
            assert!(is_literal(word), "{word}");
        }
        for word in
            ["$(touch x)", "a b", "a;b", "`x`", "a\nb", "\u{1b}[31m", "a|b", "~x", "a*", "-rf", "a\u{202e}b"]
        {
            assert!(!is_literal(word), "{word}");
        }
    }

    #[test]
    fn a_folder_is_offered_up_to_its_end() {
        assert_eq!(next_folder("src/pool/take.rs", 0), "src/");
        assert_eq!(next_folder("src/pool/take.rs", 4), "src/pool/");
        assert_eq!(next_folder("src/pool/take.rs", 9), "src/pool/take.rs");
    }
}
