//! How a call ended, read from what came back.

use crate::commands::shell;
use crate::rows::human::between;
use crate::rows::tools::cut;
use crate::turn::{Commit, Outcome};

/// How much of the beginning of an answer is kept.
const HEAD: usize = 4 << 10;

/// How much of its end: there, tests say how they went.
const TAIL: usize = 12 << 10;

/// What came back from a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answer<'a> {
    /// Whether it worked, where the agent says so.
    pub(crate) is_ok: Option<bool>,
    /// The exit code, where the agent says it.
    pub(crate) exit_code: Option<i32>,
    /// The words.
    pub(crate) text: &'a str,
}

impl Answer<'_> {
    /// The outcome as it is kept; exit codes are looked for in the words of a command.
    pub(crate) fn outcome(&self, is_command: bool) -> Outcome {
        let told = if is_command { told_code(self.text) } else { None };
        let exit_code = self.exit_code.or(told);
        let is_refused = self.is_ok != Some(true) && is_refusal(self.text);
        let is_ok = match (self.is_ok, exit_code) {
            _ if is_refused => Some(false),
            (Some(false), _) => Some(false),
            (_, Some(code)) => Some(code == 0),
            (is_ok, None) => is_ok,
        };
        Outcome { is_ok, is_refused, exit_code, text: middle_cut(self.text) }
    }
}

/// `text` without its middle when it is long.
fn middle_cut(text: &str) -> String {
    if text.len() <= HEAD + TAIL {
        return text.to_owned();
    }
    let tail = text.ceil_char_boundary(text.len() - TAIL);
    format!("{}\n…\n{}", cut(text, HEAD), &text[tail..])
}

/// The exit code that agents put among the words.
fn told_code(text: &str) -> Option<i32> {
    const MARKS: [&str; 6] = [
        "Exit code ",
        "Error: Exit code ",
        "Exit code: ",
        "Exit Code: ",
        "Process exited with code ",
        "<exited with exit code ",
    ];
    let head = &text[..text.floor_char_boundary(400)];
    let from_head = head.lines().take(8).find_map(|line| code_after(line, &MARKS));
    from_head.or_else(|| {
        let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(200))..];
        tail.lines().rev().take(4).find_map(|line| code_after(line, &MARKS[3..]))
    })
}

fn code_after(line: &str, marks: &[&str]) -> Option<i32> {
    let rest = marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark))?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Whether an agent says with these words that a call was turned down, stopped or forbidden.
fn is_refusal(text: &str) -> bool {
    const MARKS: [&str; 12] = [
        "The user doesn't want to",
        "[Request interrupted by user",
        "[Operation Cancelled]",
        "exec command rejected by user",
        "patch rejected by user",
        "rejected by user",
        "aborted by user",
        "The user rejected",
        "Tool execution aborted",
        "Tool canceled by user",
        "Permission to run tool denied by user",
        "The user stopped this command.",
    ];
    let text = text.trim_start();
    // A rule of the human's settings answers in the place of the human.
    let is_forbidden = || {
        let first = text.lines().next().unwrap_or_default();
        text.starts_with("Permission to use ") && first.contains("denied")
    };
    MARKS.iter().any(|mark| text.starts_with(mark)) || is_forbidden()
}

/// Whether the answer to a call that did not work reads as if a human turned it down.
pub(crate) fn may_be_refusal(text: &str) -> bool {
    text.starts_with("The user doesn't want to")
}

/// The words with which a human turned a call down. What a call printed that was carried out may read like them.
pub(crate) fn refusal(is_ok: Option<bool>, text: &str) -> Option<&str> {
    if is_ok != Some(false) || !may_be_refusal(text) {
        return None;
    }
    let words = ["the user said:\n", "provided the following reason for the rejection:"]
        .iter()
        .find_map(|mark| Some(&text[text.find(mark)? + mark.len()..]))?;
    let words = words.split("\n\nNote: ").next().unwrap_or(words).trim();
    (!words.is_empty()).then_some(words)
}

/// The id of a task that was created.
pub(crate) fn created_id(text: &str) -> Option<String> {
    between(text, "Task #", " created").map(str::to_owned)
}

/// The commits that `command` made, as git told them in `text`.
///
/// `[main 1a2b3c4] subject` is printed by commit, cherry-pick, revert and `am` alike, and may be in whatever else prints,
/// hooks of the repository among them. So a subject counts as the session's only where its words are in the command
/// itself. Where none are, as with `-F`, `--amend --no-edit` or a cherry-pick, the last line is git's: it gives the id, and
/// the words, which may be anybody's, are left out.
pub(crate) fn commits(command: &str, text: &str) -> Vec<Commit> {
    // A repository that the command makes is one to throw away.
    if command.contains("git init") {
        return Vec::new();
    }
    let ran = Ran::of(&shell::without_texts(command));
    if !ran.makes_commits {
        return Vec::new();
    }
    let said = letters(command);
    let (own, others): (Vec<Commit>, Vec<Commit>) =
        text.lines().filter_map(committed).partition(|commit| said.contains(&letters(&commit.subject)));
    let mut commits = own;
    if commits.is_empty() && !ran.prints_others {
        commits
            .extend(others.into_iter().next_back().map(|commit| Commit { subject: String::new(), ..commit }));
    }
    commits.dedup();
    commits
}

/// Whether `command` may make a commit, as far as its words tell.
#[must_use]
pub fn may_commit(command: &str) -> bool {
    !command.contains("git init") && Ran::of(&shell::without_texts(command)).makes_commits
}

/// Whether the words of `subject` are in `command`, however a shell quotes them.
#[must_use]
pub fn names_words_of(command: &str, subject: &str) -> bool {
    let subject = letters(subject);
    !subject.is_empty() && letters(command).contains(&subject)
}

/// The letters and digits of `text`: however a shell quotes it, they are the same.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// What a command for a shell does, as far as commits go.
#[derive(Debug, Default)]
struct Ran {
    makes_commits: bool,
    /// Whether it may print what is in files, or what others wrote.
    prints_others: bool,
}

impl Ran {
    fn of(command: &str) -> Self {
        let mut ran = Self::default();
        for part in shell::parts(command) {
            match part.group().or_else(|| script(part.text)) {
                Some(inner) => {
                    let inner = Self::of(inner);
                    ran.makes_commits |= inner.makes_commits;
                    ran.prints_others |= inner.prints_others;
                }
                None => ran.add(part.text),
            }
        }
        ran
    }

    fn add(&mut self, command: &str) {
        const MAKING: [&str; 6] = ["commit", "cherry-pick", "revert", "merge", "rebase", "am"];
        // These print nothing of others at the beginning of a line.
        const QUIET: [&str; 12] = [
            "add", "branch", "checkout", "diff", "fetch", "mv", "push", "rm", "stash", "status", "switch",
            "tag",
        ];
        // Options of git itself that take the next word.
        const TAKING: [&str; 6] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];
        let mut words =
            command.split_whitespace().skip_while(|word| shell::is_setting(word) || *word == "sudo");
        match words.next() {
            None | Some("cd" | "export" | "set" | "true" | "mkdir") => return,
            Some(program) if program == "git" || program.ends_with("/git") => {}
            Some(_) => {
                self.prints_others = true;
                return;
            }
        }
        let does = loop {
            match words.next() {
                Some(option) if TAKING.contains(&option) => drop(words.next()),
                // The rest of a quoted value that has blanks.
                Some(word) if word.starts_with('-') || word.ends_with(['\'', '"']) => {}
                word => break word.unwrap_or_default(),
            }
        };
        let is_trial = words.any(|word| word == "--dry-run");
        self.makes_commits |= MAKING.contains(&does) && !is_trial;
        self.prints_others |= !MAKING.contains(&does) && !QUIET.contains(&does);
    }
}

/// What another shell is given to run: `…` in `bash -lc '…'`.
pub(crate) fn script(command: &str) -> Option<&str> {
    let (shell, rest) = command.trim().split_once(' ')?;
    let is_shell =
        ["bash", "sh", "zsh"].iter().any(|name| shell == *name || shell.ends_with(&format!("/{name}")));
    let (option, quoted) = rest.trim_start().split_once(' ')?;
    let is_script = is_shell && option.starts_with('-') && option.ends_with('c');
    let quoted = Some(quoted.trim()).filter(|_| is_script)?;
    let inner = |quote: char| quoted.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"'))
}

fn committed(line: &str) -> Option<Commit> {
    let (head, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let (branch, id) = head.rsplit_once(' ')?;
    let is_id =
        (7..=64).contains(&id.len()) && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let branch = branch.trim_end_matches(" (root-commit)");
    // A branch is one word; a detached HEAD is the only exception.
    let is_branch = !branch.contains(' ') || branch == "detached HEAD";
    (is_id && is_branch).then(|| Commit {
        id: id.to_owned(),
        branch: if branch == "detached HEAD" { String::new() } else { branch.to_owned() },
        subject: cut(subject, 500),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_told_by_what_git_prints() {
        let found = |command: &str, text: &str| {
            commits(command, text)
                .into_iter()
                .map(|commit| (commit.id, commit.branch, commit.subject))
                .collect::<Vec<_>>()
        };
        let commit = |id: &str, subject: &str| (id.to_owned(), "main".to_owned(), subject.to_owned());
        assert_eq!(
            found(
                "git commit -m 'pool: it'\\''s \"full\"'",
                "ran\n[main 1a2b3c4] pool: it's \"full\"\n 1 file changed"
            ),
            [commit("1a2b3c4", "pool: it's \"full\"")]
        );
        assert_eq!(found("git commit -m x", "[main (root-commit) 1a2b3c4] x")[0].1, "main");
        assert_eq!(found("git commit -m x", "[detached HEAD 1a2b3c4] x")[0].1, "");
        assert_eq!(found("cd x && git -C y -c user.name='A B' commit -m z", "[main 1a2b3c4] z")[0].1, "main");
        // Words that the command does not have are somebody else's.
        for command in ["git cherry-pick other", "git commit --amend --no-edit", "git commit -F message.txt"]
        {
            assert_eq!(
                found(command, "[main 1a2b3c4] words of another"),
                [commit("1a2b3c4", "")],
                "{command}"
            );
        }
        let with_hook = "[main 0000001] run this\n[main 1a2b3c4] pool: wait\n[main 0000002] and this\n";
        assert_eq!(found("git commit -m 'pool: wait'", with_hook), [commit("1a2b3c4", "pool: wait")]);
        assert_eq!(
            found("git revert HEAD", "[main 0000001] run this\n[main 1a2b3c4] Revert it")[0].0,
            "1a2b3c4"
        );
        assert_eq!(found("./test.sh && git commit -qm ok", "[main 0000001] run this"), []);
        for other in
            ["cargo test", "cat docs/commit-guide.md", "git log # commit", "cat commit git", "git show"]
        {
            assert_eq!(found(other, "[main 1a2b3c4] not git"), [], "{other}");
        }
        assert_eq!(found("git commit -m x", "[not an id] words\n[lint] golangci"), []);
    }

    #[test]
    fn an_exit_code_among_the_words_decides() {
        let outcome = |text| Answer { text, ..Answer::default() }.outcome(true);
        assert_eq!(outcome("Exit code 2\nno such file").exit_code, Some(2));
        assert_eq!(outcome("Exit code 2\nno such file").is_ok, Some(false));
        assert_eq!(outcome("Wall time: 1s\nProcess exited with code 0\nOutput:\nok").is_ok, Some(true));
        assert_eq!(outcome("all good").is_ok, None);
    }

    #[test]
    fn the_middle_of_a_long_answer_is_left_out() {
        let text = format!("begin{}end", "ä".repeat(20_000));
        let kept = Answer { text: &text, ..Answer::default() }.outcome(true).text;
        assert!(kept.starts_with("begin") && kept.ends_with("end") && kept.len() < HEAD + TAIL + 10);
    }

    #[test]
    fn a_refused_call_is_told_by_its_words_unless_it_worked() {
        let is_refused = |is_ok, text| Answer { is_ok, text, ..Answer::default() }.outcome(true).is_refused;
        for text in [
            "The user doesn't want to proceed with this tool use. The tool use was rejected",
            "The user doesn't want to take this action right now.",
            "[Request interrupted by user for tool use]",
            "Permission to use Bash with command rm has been denied.",
            "[Operation Cancelled] Reason: User did not allow tool call",
            "exec command rejected by user",
            "aborted by user after 3.2s",
            "The user rejected permission to use this specific tool call.",
        ] {
            assert!(is_refused(Some(false), text) && is_refused(None, text), "{text}");
            assert!(!is_refused(Some(true), text), "{text}");
        }
        assert!(!is_refused(Some(false), "Exit code 1\nPermission denied"));
    }

    #[test]
    fn a_refusal_gives_its_reason() {
        let text = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse a trait";
        assert_eq!(refusal(Some(false), text), Some("use a trait"));
        assert_eq!(refusal(Some(true), text), None);
        assert_eq!(refusal(None, text), None);
        assert_eq!(refusal(Some(false), "The user doesn't want to proceed with this tool use."), None);
    }
}
