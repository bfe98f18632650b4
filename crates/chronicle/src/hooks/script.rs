//! Our part of a hook script: a block between two marks, put in and taken out again without a trace.
//!
//! The block comes first, behind the interpreter: hooks that others generate end with `exec` or
//! `exit`, and what stands behind that never runs. It leaves options, arguments and standard input
//! as it found them, and succeeds whatever happens.

/// A hook that we need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hook {
    /// As git names it.
    pub(super) name: &'static str,
    /// When it leaves at once: a condition in shell, before any process is started.
    leaves: &'static str,
    /// Whether git says something on standard input that we listen to.
    listens: bool,
}

/// A rebase or an `am` makes many commits, and tells of all of them at its end.
const IS_REWRITING: &str =
    r#"test -d "${GIT_DIR:-.git}/rebase-merge" || test -d "${GIT_DIR:-.git}/rebase-apply""#;

/// The hooks that we need.
pub(super) const HOOKS: [Hook; 5] = [
    Hook { name: "post-checkout", leaves: IS_REWRITING, listens: false },
    Hook { name: "post-commit", leaves: IS_REWRITING, listens: false },
    Hook { name: "post-merge", leaves: IS_REWRITING, listens: false },
    Hook {
        name: "post-rewrite",
        leaves: r#"test "$1" = amend && { test -d "${GIT_DIR:-.git}/rebase-merge" || test -d "${GIT_DIR:-.git}/rebase-apply"; }"#,
        listens: true,
    },
    // Only a squash has something to say before it is made.
    Hook {
        name: "prepare-commit-msg",
        leaves: r#"! test -f "${GIT_DIR:-.git}/SQUASH_MSG" && ! test -f "${GIT_DIR:-.git}/chronicle/squashed""#,
        listens: false,
    },
];

/// The hook that is only set up where it is asked for: it gives notes to a remote along with a push.
pub(super) const PRE_PUSH: Hook = Hook { name: "pre-push", leaves: "false", listens: false };

const START: &str = "# >>> chronicle >>>";
const END: &str = "# <<< chronicle <<<";
/// Says that the whole file is ours.
const WHOLE: &str = "# This file was made by `git chronicle init`.";
/// Says that the line before the block had no end.
const OPEN_LINE: &str = "# The line before this block had no end.";
/// What an original is called beside the script that runs it.
pub(super) const ORIGINAL: &str = ".before-chronicle";

impl Hook {
    /// The command of the hook where git itself runs several: git adds the arguments.
    pub(super) fn command(self) -> String {
        let Self { name, leaves, .. } = self;
        format!(
            "chronicle_hook() {{ {leaves} || ! command -v git-chronicle >/dev/null 2>&1 || git-chronicle hook {name} \"$@\" >/dev/null || :; }}; chronicle_hook"
        )
    }

    /// The block; `shares` when others in the same file run behind it.
    fn block(self, shares: bool, remarks: &[&str]) -> String {
        let Self { name, leaves, listens } = self;
        let mut lines =
            vec![START.to_owned(), "# `git chronicle uninstall` takes this out again.".to_owned()];
        lines.extend(remarks.iter().map(|remark| (*remark).to_owned()));
        lines.push(format!("if {leaves}; then :; elif command -v git-chronicle >/dev/null 2>&1; then"));
        match (listens, shares) {
            (false, _) => {
                lines.push(format!("    git-chronicle hook {name} \"$@\" </dev/null >/dev/null || :"));
            }
            (true, false) => lines.push(format!("    git-chronicle hook {name} \"$@\" >/dev/null || :")),
            (true, true) => lines.extend([
                // What git says is read once, and said again to whoever comes next.
                "    chronicle_input=$(cat)".to_owned(),
                format!(
                    "    printf '%s\\n' \"$chronicle_input\" | git-chronicle hook {name} \"$@\" >/dev/null || :"
                ),
                "    if test -n \"$chronicle_input\"; then exec <<CHRONICLE_INPUT".to_owned(),
                "$chronicle_input".to_owned(),
                "CHRONICLE_INPUT".to_owned(),
                "    else exec </dev/null; fi".to_owned(),
                "    unset chronicle_input".to_owned(),
            ]),
        }
        lines.extend(["fi".to_owned(), END.to_owned(), String::new()]);
        lines.join("\n")
    }

    /// A file with nothing but our block; `with_interpreter` unless it is only ever given to a shell.
    pub(super) fn whole(self, with_interpreter: bool) -> Vec<u8> {
        let interpreter = if with_interpreter { "#!/bin/sh\n" } else { "" };
        format!("{interpreter}{}", self.block(false, &[WHOLE])).into_bytes()
    }

    /// A script that runs our block, and then the original beside it as if it had been called itself.
    pub(super) fn before_original(self) -> Vec<u8> {
        let Self { name, .. } = self;
        let block = self.block(true, &[WHOLE]);
        let original = format!("${{0%/*}}/{name}{ORIGINAL}");
        format!("#!/bin/sh\n{block}if test -x \"{original}\"; then exec \"{original}\" \"$@\"; fi\n")
            .into_bytes()
    }

    /// The script with our block in it.
    pub(super) fn inserted(self, script: &[u8]) -> Vec<u8> {
        let start = interpreter_end(script);
        let (before, after) = script.split_at(start);
        let is_open = !before.is_empty() && !before.ends_with(b"\n");
        let remarks: &[&str] = if is_open { &[OPEN_LINE] } else { &[] };
        let newline: &[u8] = if is_open { b"\n" } else { b"" };
        [before, newline, self.block(true, remarks).as_bytes(), after].concat()
    }
}

/// Where the line that names the interpreter ends; 0 where there is none.
fn interpreter_end(script: &[u8]) -> usize {
    if !script.starts_with(b"#!") {
        return 0;
    }
    script.iter().position(|byte| *byte == b'\n').map_or(script.len(), |at| at + 1)
}

/// Whether our block can stand in `script`: it is one for a shell, with the lines that a shell knows.
pub(super) fn is_for_a_shell(script: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(script) else { return false };
    if text.contains(['\0', '\r']) {
        return false;
    }
    let Some(line) = text.strip_prefix("#!").map(|rest| rest.lines().next().unwrap_or_default()) else {
        // The system gives a file that names no interpreter to the shell.
        return true;
    };
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut words = line.split_whitespace().map(name);
    let mut interpreter = words.next();
    if interpreter.as_deref() == Some("env") {
        interpreter = words.find(|word| !word.starts_with('-') && !word.contains('='));
    }
    interpreter.is_some_and(|name| ["sh", "bash", "dash", "ash", "ksh", "zsh"].contains(&name.as_str()))
}

/// Whether the file holds our block.
pub(super) fn has_block(script: &[u8]) -> bool {
    block_range(script).is_some()
}

/// Whether the file is ours, from the first byte to the last.
pub(super) fn is_whole(script: &[u8]) -> bool {
    block_range(script).is_some_and(|range| contains(&script[range], WHOLE))
}

/// The script without our block.
pub(super) fn removed(script: &[u8]) -> Vec<u8> {
    let Some(range) = block_range(script) else { return script.to_vec() };
    let is_open = contains(&script[range.clone()], OPEN_LINE);
    let before = &script[..range.start];
    let before = if is_open { before.strip_suffix(b"\n").unwrap_or(before) } else { before };
    [before, &script[range.end..]].concat()
}

/// Our block, from the start of its first line to the end of its last.
fn block_range(script: &[u8]) -> Option<std::ops::Range<usize>> {
    let at_line = |from: usize, mark: &str| {
        let mut at = from;
        script[from..].split_inclusive(|byte| *byte == b'\n').find_map(|line| {
            let here = at;
            at += line.len();
            (line.trim_ascii_end() == mark.as_bytes()).then_some(here..at)
        })
    };
    let start = at_line(0, START)?.start;
    Some(start..at_line(start, END)?.end)
}

fn contains(text: &[u8], line: &str) -> bool {
    text.split(|byte| *byte == b'\n').any(|found| found == line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_comes_out_without_a_trace() {
        for script in [
            "",
            "#!/bin/sh\n",
            "#!/bin/sh",
            "#!/bin/sh\necho hi",
            "#!/bin/bash\nexec true\n",
            "echo no interpreter\n",
            "\n\n",
        ] {
            for hook in HOOKS {
                let with_block = hook.inserted(script.as_bytes());
                assert!(has_block(&with_block) && !is_whole(&with_block), "{script:?}");
                assert_eq!(removed(&with_block), script.as_bytes(), "{script:?}");
            }
        }
        for hook in HOOKS {
            assert!(is_whole(&hook.whole(true)) && is_whole(&hook.before_original()));
        }
    }

    #[test]
    fn shells_are_told_from_other_languages() {
        for line in
            ["#!/bin/sh", "#!/usr/bin/env bash", "#! /bin/zsh -e", "#!/usr/bin/env -S dash -e", "echo", ""]
        {
            assert!(is_for_a_shell(format!("{line}\n").as_bytes()), "{line}");
        }
        for line in
            ["#!/usr/bin/python3", "#!/usr/bin/env node", "#!/bin/sh\r", "#!", "\0ELF", "#!/usr/bin/fish"]
        {
            assert!(!is_for_a_shell(format!("{line}\n").as_bytes()), "{line}");
        }
        assert!(!is_for_a_shell(b"\xff\xfe"));
    }
}
