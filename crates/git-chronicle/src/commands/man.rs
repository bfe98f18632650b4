use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use clap_mangen::Man;
use snafu::ResultExt;

use crate::{
    cli,
    error::{CommandError, ManualSnafu, UsageSnafu},
    surroundings,
    ui::Ui,
};

/// Print or install the manual pages
///
/// With them, `git help chronicle` and `git chronicle --help` work. There is a page for each command, a tutorial
/// (`gitchronicle-tutorial`), and one on notes (`gitchronicle-notes`).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  git chronicle man --install
  git chronicle man gitchronicle-tutorial | man -l -", help_template = crate::help!())]
pub(crate) struct ManArgs {
    /// The page to print, such as `git-chronicle-read`
    #[arg(value_name = "PAGE", required_unless_present_any = ["install", "remove"])]
    page: Option<String>,

    /// Write all pages into `man1` and `man7` of this folder, by default that of your own manual pages
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["page", "remove"])]
    install: Option<OsString>,

    /// Remove the pages that `--install` wrote there
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "", conflicts_with = "page")]
    remove: Option<OsString>,
}

/// Pages about more than one command.
const CONCEPTS: [(&str, &str); 2] = [
    ("gitchronicle-notes.7", include_str!("../../man/gitchronicle-notes.7")),
    ("gitchronicle-tutorial.7", include_str!("../../man/gitchronicle-tutorial.7")),
];

pub(crate) fn run(args: &ManArgs, ui: &mut Ui) -> Result<(), CommandError> {
    let pages = pages();
    if let Some(name) = &args.page {
        let found =
            pages.iter().find(|(file, _)| file.rsplit_once('.').is_some_and(|(page, _)| page == name));
        let Some((_, text)) = found else {
            return UsageSnafu { reason: format!("there is no manual page `{}`", chronicle::plain(name)) }
                .fail();
        };
        return ui.raw(text);
    }
    let named = args.install.as_ref().or(args.remove.as_ref());
    let folder = match named.filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => own_pages()?,
    };
    let mut n = 0;
    for (name, text) in &pages {
        let section = Path::new(name).extension().unwrap_or(OsStr::new("1"));
        let folder = folder.join(format!("man{}", section.to_string_lossy()));
        let file = folder.join(name);
        let done = match args.remove {
            None => fs::create_dir_all(&folder).and_then(|()| fs::write(&file, text)),
            Some(_) if !file.exists() => continue,
            Some(_) => fs::remove_file(&file),
        };
        done.context(ManualSnafu { path: &file })?;
        n += 1;
    }
    let done = if args.remove.is_some() { "Removed" } else { "Wrote" };
    ui.answer(&format!("{done} {n} manual pages in `{}`\n", chronicle::plain(&folder.to_string_lossy())))
}

/// The folder in which `man` looks for the user's own pages.
fn own_pages() -> Result<PathBuf, CommandError> {
    let folder =
        |name: &str| surroundings::environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    let reason = "there is no home folder: name the folder with `--install=DIR`";
    Ok(data.ok_or_else(|| UsageSnafu { reason }.build())?.join("man"))
}

/// All pages by the name of their file.
fn pages() -> BTreeMap<String, String> {
    let mut pages: BTreeMap<String, String> =
        CONCEPTS.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    add(&cli::all(), "git-chronicle", "git chronicle", &mut pages);
    pages
}

fn add(command: &clap::Command, name: &str, typed: &str, pages: &mut BTreeMap<String, String>) {
    for below in command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help") {
        let word = below.get_name();
        add(below, &format!("{name}-{word}"), &format!("{typed} {word}"), pages);
    }
    let command = command.clone().name(name.to_owned()).bin_name(typed).disable_help_subcommand(true);
    let mut text = Vec::new();
    Man::new(command).manual("Chronicle").render(&mut text).expect("memory takes it");
    pages.insert(format!("{name}.1"), String::from_utf8(text).expect("a page is text"));
}
