use std::ffi::OsString;

use chronicle::Chronicle;

use crate::{
    commands::{annotate, context::SaidArgs, said::LessonArgs},
    error::{CommandError, GitSnafu, UsageSnafu},
    ui::Ui,
};

/// Run `git commit` and record why the commit is made
///
/// All arguments except the options below go to `git commit` unchanged. Without --why, the commit's
/// subject is the summary until the commit is annotated. If git makes no commit, the task, the
/// reasoning, the dependencies and the tags wait for the next one. --why and lessons, which name
/// lines of this commit, have to be given again.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "git chronicle commit [-e] [--why WHY] [--gotcha|--dead-end|--insight|--unfinished '[PLACE ]WHAT']... [--task TEXT] [--tags TAG,…] [ARGUMENT OF GIT COMMIT]...",
    help_template = concat!(crate::help!(), r#"

Examples:
  git chronicle commit -am 'reconnect: back off' --why 'Linear retries kept the broker down' \
    --gotcha 'src/reconnect.rs:55 max_backoff is in seconds, sleep() takes milliseconds'"#)
)]
pub(crate) struct CommitArgs {
    /// Why this approach, not what changed
    #[arg(long, alias = "summary", value_name = "WHY", allow_hyphen_values = true)]
    why: Option<String>,

    /// Write the reason and the lessons in your editor, once the commit is made (git's own `-e` is `--edit` here)
    #[arg(short = 'e')]
    by_hand: bool,

    #[command(flatten)]
    lessons: LessonArgs,

    #[command(flatten)]
    said: SaidArgs,

    /// Arguments for `git commit`
    #[arg(last = true, value_name = "ARGUMENT OF GIT COMMIT")]
    arguments: Vec<OsString>,
}

pub(crate) fn run(args: CommitArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.by_hand && !annotate::can_edit(ui) {
        let reason =
            "`-e` opens an editor, which needs a terminal; give the reason with `--why 'WHY'` instead";
        return UsageSnafu { reason }.fail();
    }
    let said = args.lessons.with_summary(args.why);
    let committed = chronicle.commit(args.said.into(), said, &args.arguments)?;
    if !committed.redacted.is_empty() {
        ui.warn(&format!("secrets were replaced before storing: {}", committed.redacted.join(", ")));
    }
    for warning in &committed.warnings {
        ui.warn(warning);
    }
    if let Some(commit) = &committed.stored_on {
        ui.tell(&format!("what was said is stored on {}", commit.chars().take(7).collect::<String>()));
    }
    if committed.waits {
        ui.tell("what was said waits for the next commit; `git chronicle context clear` drops it");
    }
    if committed.is_unsaid {
        ui.tell("there is no commit to store the reason and the lessons on; give them with the next one");
    }
    match committed.code {
        0 if args.by_hand => annotate::by_hand("HEAD", chronicle, ui),
        0 => Ok(()),
        code => GitSnafu { code }.fail(),
    }
}

/// Our own options of `commit`, each of which takes a value.
const OWN: [&str; 11] = [
    "--why",
    "--summary",
    "--gotcha",
    "--dead-end",
    "--insight",
    "--unfinished",
    "--depends-on",
    "--task",
    "--reasoning",
    "--dependencies",
    "--tags",
];
/// Options of `git commit` whose value is the next argument, and must not be taken for an option.
const WITH_VALUE: [&str; 12] = [
    "--message",
    "--file",
    "--author",
    "--date",
    "--template",
    "--reuse-message",
    "--reedit-message",
    "--fixup",
    "--squash",
    "--trailer",
    "--cleanup",
    "--pathspec-from-file",
];
/// Options of ours that stand before the command and take the next argument.
const BEFORE: [&str; 3] = ["-C", "--format", "--color"];

/// Puts our own options of `commit` first and everything that git is to get behind `--`.
///
/// The arguments of other commands come back as they are.
pub(crate) fn separated(arguments: Vec<OsString>) -> Vec<OsString> {
    let text = |at: usize| arguments.get(at).and_then(|argument| argument.to_str());
    let mut start = 1;
    while let Some(argument) = text(start).filter(|argument| argument.starts_with('-')) {
        start += if BEFORE.contains(&argument) { 2 } else { 1 };
    }
    if text(start) != Some("commit") || matches!(text(start + 1), Some("-h" | "--help")) {
        return arguments;
    }
    let (before, given) = arguments.split_at(start + 1);
    let mut own = before.to_vec();
    let mut rest = Vec::new();
    let mut given = given.iter();
    while let Some(argument) = given.next() {
        let text = argument.to_str().unwrap_or_default();
        let is_own = |text: &str| OWN.contains(&text);
        if text == "--" {
            rest.push(argument.clone());
            rest.extend(given.by_ref().cloned());
        } else if text == "-e" {
            own.push(argument.clone());
        } else if is_own(text) {
            let Some(value) = given.next() else {
                // What is missing is said of this option; nothing else may be taken for it.
                own.push(argument.clone());
                return own;
            };
            let mut whole = argument.clone();
            whole.push("=");
            whole.push(value);
            own.push(whole);
        } else if text.split_once('=').is_some_and(|(name, _)| is_own(name)) {
            own.push(argument.clone());
        } else {
            let has_value = WITH_VALUE.contains(&text) || is_cluster_with_value(text);
            rest.push(argument.clone());
            rest.extend(given.by_ref().take(usize::from(has_value)).cloned());
        }
    }
    own.push("--".into());
    own.extend(rest);
    own
}

/// Whether short options such as `-am` end in one that takes the next argument.
fn is_cluster_with_value(text: &str) -> bool {
    let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
        return false;
    };
    // The first that takes a value takes the rest of the cluster, if there is one.
    letters.find(['m', 'F', 'c', 'C', 't']).is_some_and(|at| at + 1 == letters.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: &str) {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(separated(words(given)), words(expected), "{given}");
    }

    #[test]
    fn our_options_are_told_from_those_of_git() {
        check("x commit -m a", "x commit -- -m a");
        check("x commit -m --task --tags a -C HEAD", "x commit --tags=a -- -m --task -C HEAD");
        check("x commit -am --task --task=b", "x commit --task=b -- -am --task");
        check("x commit -mc --task b", "x commit --task=b -- -mc");
        check("x commit --why a --gotcha b -q --gotcha=c", "x commit --why=a --gotcha=b --gotcha=c -- -q");
        check("x commit -m a --task", "x commit --task");
        check("x commit --amend -- --task", "x commit -- --amend -- --task");
        check(
            "x -C d --format json commit -a --reasoning r",
            "x -C d --format json commit --reasoning=r -- -a",
        );
        check("x commit --help", "x commit --help");
        check("x read commit -m", "x read commit -m");
    }
}
