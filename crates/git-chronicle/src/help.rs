//! The help of the whole program: commands in groups, by what a person wants.
//!
//! `-h` shows the few commands that one begins with, `help --all` all of them. Commands that only agents, hooks and
//! editors call are in neither; their own help is there as that of any other.

use std::fmt::Write as _;

use clap::builder::{Styles, styling::Style};

/// The commands by what a person wants, in the order in which they are shown; `*` marks those that one begins with.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Set up", &["*setup", "*init", "uninstall", "config", "allow", "doctor", "status", "tour"]),
    ("Read", &["*read", "*why", "*check", "history", "summary", "deps", "show", "outline", "browse", "view"]),
    ("Write", &["*annotate", "note", "commit", "context", "knowledge", "backfill"]),
    ("Correct", &["*flag", "correct", "purge"]),
    ("Share", &["*sync", "reconcile", "export", "import", "gc"]),
    (
        "Sessions",
        &[
            "*brief", "*find", "*resume", "handoff", "share", "ask", "pending", "resolve", "thread",
            "catch-up", "digest", "session", "about", "how", "fix",
        ],
    ),
    (
        "Learned",
        &[
            "*preferences",
            "patterns",
            "skills",
            "projects",
            "problems",
            "feedback",
            "blocks",
            "memory",
            "consolidate",
            "injected",
        ],
    ),
    ("Help and models", &["help", "man", "completion", "llm"]),
];

/// What marks a command that one begins with.
const FIRST: char = '*';

const NEXT: &str = "\
See all commands with `git chronicle help --all`, one with `git chronicle help COMMAND`,
and the main steps on a throw-away repository with `git chronicle tour`.";

/// The template of clap for the help of the whole program, with the commands that one begins with.
pub(crate) fn short(all: &clap::Command) -> String {
    let groups = listed(all, *Styles::default().get_header(), |name| name.starts_with(FIRST));
    format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\n{NEXT}\n\nOptions:\n{{options}}{{after-help}}"
    )
}

/// All commands that people call, in their groups.
pub(crate) fn long(all: &clap::Command, is_coloured: bool) -> String {
    let header = if is_coloured { *Styles::default().get_header() } else { Style::new() };
    listed(all, header, |_| true)
}

/// The names of the commands of a group.
#[cfg(test)]
fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.iter().map(|name| name.trim_start_matches(FIRST)))
}

fn listed(all: &clap::Command, header: Style, is_shown: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let names: Vec<&str> = names.iter().copied().filter(|name| is_shown(name)).collect();
        if names.is_empty() {
            continue;
        }
        let _infallible = writeln!(text, "{header}{heading}{header:#}");
        for name in names.into_iter().map(|name| name.trim_start_matches(FIRST)) {
            let about = all.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _infallible = writeln!(text, "  {name:<12} {about}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli;

    #[test]
    fn every_command_that_people_call_is_in_one_group() {
        let all = cli::all();
        let visible: BTreeSet<&str> =
            all.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name).collect();
        assert_eq!(names().collect::<BTreeSet<_>>(), visible);
        assert_eq!(names().count(), visible.len(), "none twice");
        let first = GROUPS.iter().flat_map(|(_, names)| names.iter()).filter(|name| name.starts_with(FIRST));
        assert_eq!(first.count(), 12);
    }

    #[test]
    fn the_lines_of_the_list_fit_into_a_terminal() {
        let long: Vec<String> = long(&cli::all(), false)
            .lines()
            .filter(|line| 100 < line.chars().count())
            .map(str::to_owned)
            .collect();
        assert_eq!(long, Vec::<String>::new());
    }
}
