//! What an agent may run unasked, once the user agreed: to read and write lessons, and nothing that gives away, removes
//! or decides anything.

use serde_json::{Value, json};

use super::{
    json::{Entry, EntryKind},
    ours::SERVER_NAME,
    skills::SKILLS,
};

/// The commands, as they follow `git chronicle`.
pub(super) const COMMANDS: [&str; 18] = [
    "about", "annotate", "ask", "brief", "check", "deps", "find", "fix", "history", "how", "note", "outline",
    "pending", "read", "resolve", "show", "summary", "why",
];

/// Options of these commands about which the user is asked all the same: they ask a model, open an editor, or look into
/// other projects.
pub(super) const ASKED: [&str; 6] = ["--agent", "--all", "--project", "--retry-failed", "-C", "-e"];

/// Their names as elements of a list in TOML or Starlark, a few on each line.
fn quoted_commands(before: &str) -> String {
    let quoted: Vec<String> = COMMANDS.iter().map(|command| format!("\"{before}{command}\"")).collect();
    quoted.chunks(4).map(|few| format!("    {},\n", few.join(", "))).collect()
}

/// The rules of Codex, in a file of their own. What they allow runs outside of its sandbox, in which `.git` cannot be
/// written. `git` is the program of that name: rules would hold for any other, such as `./git`, too.
pub(super) fn of_codex(git: &[String]) -> String {
    let commands = quoted_commands("");
    let asked = ASKED.map(|option| format!("\"{option}\"")).join(", ");
    let git = git.iter().map(|path| json!(path).to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "# Written by `git chronicle setup --permissions`; `git chronicle uninstall` removes it.\n\
         # Reading and writing lessons runs unasked.\n\
         prefix_rule(\n  pattern = [\"git\", \"chronicle\", [\n{commands}  ]],\n  decision = \"allow\",\n)\n\
         # Asked about where the option comes first: these ask a model, open an editor, or look into other projects.\n\
         prefix_rule(\n  pattern = [\"git\", \"chronicle\", [\n{commands}  ], [{asked}]],\n  decision = \"prompt\",\n)\n\
         # Without this, the rules would hold for every program called git.\n\
         host_executable(name = \"git\", paths = [{git}])\n"
    )
}

/// The policy of Gemini CLI, in a file of its own.
pub(super) fn of_gemini() -> String {
    let commands = quoted_commands("git chronicle ");
    let asked = ASKED.join("|");
    let skills: Vec<&str> = SKILLS.iter().map(|(name, _)| *name).collect();
    let skills = skills.join("|");
    let rule = |conditions: &str, decision: &str, priority: u32, modes: &str| {
        format!(
            "[[rule]]\n{conditions}decision = \"{decision}\"\npriority = {priority}\nmodes = [{modes}]\n\n"
        )
    };
    let shell = "toolName = \"run_shell_command\"\n";
    let both = "\"default\", \"autoEdit\"";
    [
        "# Written by `git chronicle setup --permissions`; `git chronicle uninstall` removes it.\n\
         # Reading and writing lessons runs unasked.\n"
            .to_owned(),
        rule(&format!("{shell}commandPrefix = [\n{commands}]\n"), "allow", 100, both),
        "# Asked about all the same: these ask a model, open an editor, or look into other projects.\n"
            .to_owned(),
        rule(
            &format!("{shell}commandRegex = '''git chronicle .*(?:(?:{asked})[^-a-z]| -C)'''\n"),
            "ask_user",
            200,
            both,
        ),
        "# In this mode, nothing else asks about redirections.\n".to_owned(),
        rule(&format!("{shell}commandRegex = '''git chronicle .*>'''\n"), "ask_user", 200, "\"autoEdit\""),
        rule(&format!("toolName = \"*\"\nmcpName = \"{SERVER_NAME}\"\n"), "allow", 100, both),
        rule(
            &format!("toolName = \"activate_skill\"\nargsPattern = '''\"name\":\"(?:{skills})\"'''\n"),
            "allow",
            100,
            both,
        ),
    ]
    .concat()
}

/// Whether a line for a shell is one of the commands that run unasked, and nothing else: no second command, no
/// redirection, nothing that a shell puts in.
pub(crate) fn may_run(line: &str) -> bool {
    let Some(words) = words(line.trim_matches(' ')) else { return false };
    let [git, chronicle, command, rest @ ..] = &words[..] else { return false };
    // Short options may stand in one word, with what the last one takes.
    let is_short = |word: &str, option: &str| {
        option.len() == 2 && word.starts_with('-') && !word.starts_with("--") && word.contains(&option[1..])
    };
    let is_asked = |word: &String| {
        let name = word.split('=').next().unwrap_or_default();
        ASKED.iter().any(|option| name == *option || is_short(word, option))
    };
    git == "git"
        && chronicle == "chronicle"
        && COMMANDS.contains(&command.as_str())
        && !rest.iter().any(is_asked)
}

/// The words of a line without anything that a shell would act on; none where there is such a thing.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '$' | '`' | '\\' | '!' if letter == '"' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            '\\' if letters.next() == Some('\'') => word.get_or_insert_default().push('\''),
            _ if letter.is_ascii_alphanumeric() || "_./:=@,+%^-".contains(letter) => {
                word.get_or_insert_default().push(letter);
            }
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

/// The rules of Claude Code: those for what may run, and those for what is asked about in spite of them.
fn rules() -> [(&'static str, Vec<String>); 2] {
    let commands = COMMANDS.iter().flat_map(|command| {
        [format!("Bash(git chronicle {command})"), format!("Bash(git chronicle {command} *)")]
    });
    let skills = SKILLS.iter().map(|(name, _)| format!("Skill({name})"));
    let allowed = commands.chain([format!("mcp__{SERVER_NAME}")]).chain(skills).collect();
    let asked = ASKED.iter().flat_map(|option| {
        let with = if option.starts_with("--") { "=*" } else { "*" };
        ["", " *", with].map(|rest| format!("Bash(git chronicle * {option}{rest})"))
    });
    [("allow", allowed), ("ask", asked.collect())]
}

/// What is to be in the settings of Claude Code.
pub(super) fn of_claude() -> Vec<Entry> {
    let entry = |list: &'static str, rule: String| Entry {
        at: vec![MEMBER, list],
        value: json!(rule),
        kind: EntryKind::ElementIfNone,
    };
    rules()
        .into_iter()
        .flat_map(|(list, rules)| rules.into_iter().map(move |rule| entry(list, rule)))
        .collect()
}

/// The member of the settings that holds rules.
pub(super) const MEMBER: &str = "permissions";

/// Whether a rule of `list` is one of ours.
pub(super) fn is_ours(list: &str, rule: &Value) -> bool {
    rules().iter().any(|(name, rules)| *name == list && rules.iter().any(|ours| rule == ours))
}

/// Whether settings hold our rules. A user may have written some of the same, and another version may have had others: most
/// of them are enough.
pub(super) fn are_in(settings: &Value) -> bool {
    let [(list, ours), _] = rules();
    let there = settings.get(MEMBER).and_then(|rules| rules.get(list)).and_then(Value::as_array);
    let is_there = |rule: &&String| there.is_some_and(|there| there.iter().any(|other| other == *rule));
    ours.len() < 2 * ours.iter().filter(is_there).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_decides_or_gives_away_is_allowed() {
        let [(_, allowed), (_, asked)] = rules();
        for command in [
            "allow", "purge", "gc", "forget", "setup", "config", "sync", "share", "session", "resume",
            "handoff",
        ] {
            assert!(!allowed.iter().any(|rule| rule.contains(&format!("chronicle {command}"))), "{command}");
        }
        assert!(!allowed.iter().any(|rule| rule == "Bash(git chronicle *)" || rule == "Bash"));
        assert!(asked.contains(&"Bash(git chronicle * --agent *)".to_owned()));
        assert!(COMMANDS.is_sorted());
    }

    #[test]
    fn a_line_is_one_command_or_is_asked_about() {
        for line in [
            "git chronicle read src/pool.rs --lines 4:9",
            "git chronicle brief",
            "git chronicle annotate --summary 'Call `x` {a: 1} $X ! \"q\" it'\\''s -> so; and | more\nlines' --gotcha \"a.rs:1 it's\"",
            "git  chronicle find 'a --all b'",
        ] {
            assert!(may_run(line), "{line}");
        }
        for line in [
            "git chronicle",
            "git chronicle purge x",
            "git chronicle readx",
            "git chronicle annotate --agent",
            "git chronicle annotate --commit HEAD --agent=x",
            "git chronicle find x --a''ll",
            "git chronicle annotate -e",
            "git chronicle find --project /home/me/private key",
            "git chronicle brief --project=private",
            "git chronicle find -C /home/me/private key",
            "git chronicle find -C/home/me/private key",
            "git chronicle find key -qC /home/me/private",
            "git chronicle read x; rm -rf y",
            "git chronicle read x | head",
            "git chronicle read x && ls",
            "git chronicle read x\nls",
            "git chronicle read x > y",
            "git chronicle read $(ls)",
            "git chronicle read `ls`",
            "git chronicle read \"$HOME\"",
            "git chronicle read \"!!\"",
            "git chronicle read *",
            "git chronicle read ~",
            "git chronicle read 'x",
            "git chronicle read x\\",
            "X=1 git chronicle read x",
            "./git chronicle read x",
            "",
        ] {
            assert!(!may_run(line), "{line}");
        }
    }

    #[test]
    fn rules_of_other_agents_name_the_same_commands() {
        for text in [of_codex(&["/usr/bin/git".to_owned()]), of_gemini()] {
            for command in COMMANDS {
                assert!(text.contains(&format!("{command}\"")), "{command}: {text}");
            }
            for option in ASKED {
                assert!(text.contains(option), "{option}: {text}");
            }
            assert!(!text.contains("purge") && text.contains("git chronicle setup"), "{text}");
        }
        assert!(of_gemini().parse::<toml_edit::DocumentMut>().is_ok(), "{}", of_gemini());
        assert!(of_codex(&["/a \"b\"/git".to_owned()]).contains(r#"paths = ["/a \"b\"/git"]"#));
    }

    #[test]
    fn our_rules_are_known() {
        let [(_, allowed), _] = rules();
        assert!(are_in(&json!({ "permissions": { "allow": allowed[3..] } })));
        for other in [
            json!({}),
            json!({ "permissions": { "allow": ["Bash(git chronicle *)"], "deny": ["mcp__chronicle"] } }),
            json!({ "permissions": { "allow": ["Bash(git chronicle why *)"] } }),
        ] {
            assert!(!are_in(&other), "{other}");
        }
    }
}
