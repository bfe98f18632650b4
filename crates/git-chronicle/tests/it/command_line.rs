//! The whole command line, as its help shows it: `docs/reference/commands.md` is made of it.

use std::{env, fs, path::Path};

use crate::{
    outcome::chronicle,
    plain_english::{complaints, sentences},
};

/// The reference, which this test writes where the variable [`WRITE`] is set.
const REFERENCE: &str = "docs/reference/commands.md";
pub(crate) const WRITE: &str = "CHRONICLE_WRITE_DOCS";

/// What precedes the options.
const OPTIONS: &str = "Options:";
/// What precedes the options of every command.
const OF_ALL: &str = "Global options:";
/// What precedes the arguments.
const ARGUMENTS: &str = "Arguments:";

const HEAD: &str = "# Commands\n\n\
    All commands with their arguments, as `git chronicle COMMAND --help` shows them. The options under \
    [git chronicle](#git-chronicle) apply to every command.\n";

/// Help of a command, taken apart.
struct Help {
    /// Its words, as `read` or `session ingest`.
    command: String,
    /// What it does.
    about: String,
    /// Usage, arguments and options.
    rest: Vec<String>,
    /// The commands below it.
    below: Vec<String>,
}

impl Help {
    fn of(command: &str) -> Self {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let printed = chronicle(Path::new("/"), &args).success().stdout;
        let (about, rest) = printed.split_once("\n\nUsage: ").expect("each help has both");
        let rest = format!("Usage: {rest}");
        let rest: Vec<String> = blocks(&rest);
        let of_all = chronicle(Path::new("/"), &["help", "--all"]).success().stdout;
        let list = match command {
            "" => Some(of_all.as_str()),
            _ => rest.iter().find_map(|block| Some(block.split_once("Commands:\n")?.1)),
        };
        let names = list.into_iter().flat_map(str::lines).filter(|line| line.starts_with("  "));
        let names = names.filter_map(|line| line.get(2..)).filter(|line| !line.starts_with(' '));
        let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        let below = names.map(|name| format!("{command} {name}").trim().to_owned()).collect();
        Self { command: command.to_owned(), about: about.to_owned(), rest, below }
    }
}

/// The parts of help: what precedes the options, and each option with what is said of it.
fn blocks(help: &str) -> Vec<String> {
    let mut blocks: Vec<String> = vec![String::new()];
    let mut is_list = false;
    for line in help.lines().map(str::trim_end) {
        let starts = ["  -", "      -", "  <", "  ["];
        let is_entry = starts.into_iter().any(|start| line.starts_with(start));
        let is_new = is_list && (is_entry || !line.is_empty() && !line.starts_with(' '));
        is_list |= [ARGUMENTS, OPTIONS].contains(&line);
        match blocks.last_mut() {
            Some(last) if !is_new && line != OPTIONS => {
                last.push_str(line);
                last.push('\n');
            }
            _ => blocks.push(format!("{line}\n")),
        }
    }
    blocks
}

/// Whether it is an option of every command.
fn is_of_all(block: &str) -> bool {
    let ours = ["-C <DIR>", "--color <WHEN>", "--no-pager", "-h, --help", "-V, --version"];
    let option = block.trim_start();
    block.trim_end() == OF_ALL
        || ours.into_iter().any(|start| option.starts_with(start))
        || option.starts_with("--format <FORMAT>") && option.contains("markdown for models")
}

/// What is said of an option.
fn description(block: &str) -> String {
    let option = block.trim_start();
    if !option.starts_with(['-', '<', '[']) {
        return String::new();
    }
    let text = option.find("  ").or_else(|| option.find('\n')).map_or("", |end| &option[end..]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every command's help, in the order in which commands are listed.
fn all() -> Vec<Help> {
    let mut waiting = vec![String::new()];
    let mut found = Vec::new();
    while let Some(command) = waiting.pop() {
        let help = Help::of(&command);
        waiting.extend(help.below.iter().rev().cloned());
        found.push(help);
    }
    found
}

#[test]
fn the_reference_is_what_help_shows() {
    let all = all();
    assert!(100 < all.len(), "{}", all.len());
    let of_all = chronicle(Path::new("/"), &["help", "--all"]).success().stdout;
    let mut reference = format!("{HEAD}\n```text\n{of_all}```\n");
    for help in &all {
        let is_kept = |block: &&String| help.command.is_empty() || !is_of_all(block);
        let mut kept: Vec<&str> = help.rest.iter().filter(is_kept).map(String::as_str).collect();
        // Of a list of options that apply everywhere, nothing is left.
        let _none = kept.pop_if(|block| block.trim_end() == OPTIONS);
        let title = format!("git chronicle {}", help.command);
        let about = help.about.replace('<', "\\<");
        let rest = kept.concat();
        reference += &format!("\n## {}\n\n{about}\n\n```text\n{}\n```\n", title.trim_end(), rest.trim_end());
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(REFERENCE);
    #[expect(clippy::disallowed_methods, reason = "whoever changes help sets it")]
    if env::var_os(WRITE).is_some() {
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("it can be made");
        fs::write(&file, &reference).expect("it can be written");
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    let differs = written.lines().zip(reference.lines()).find(|(written, shown)| written != shown);
    assert!(
        written == reference,
        "{REFERENCE} is not what help shows: set {WRITE}=1 and run this test again; first difference: {differs:?}"
    );
}

#[test]
fn help_is_in_plain_english() {
    let mut found = Vec::new();
    for help in all() {
        let texts = help.rest.iter().map(|block| description(block)).chain([help.about.clone()]);
        let all: Vec<String> = texts.flat_map(|text| sentences(&text)).collect();
        found.extend(
            all.iter()
                .flat_map(|sentence| complaints(sentence))
                .map(|complaint| format!("git chronicle {}: {complaint}", help.command)),
        );
    }
    assert_eq!(found, Vec::<String>::new());
}
