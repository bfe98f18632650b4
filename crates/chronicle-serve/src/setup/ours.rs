//! How our entries are known in files that we have no record of: by what they run.

use serde_json::{Value, json};

/// What our server is called, in the settings of every agent.
pub(super) const SERVER_NAME: &str = "chronicle";

/// The name that the binary goes by.
pub(super) const PROGRAM: &str = "git-chronicle";

/// Whether a command line runs our binary with arguments that begin with `what`.
pub(super) fn runs_us(line: &str, what: &str) -> bool {
    line.match_indices(PROGRAM).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let is_program = before.is_none_or(|character| "/\\'\" ;&|(".contains(character));
        let rest = line[at + PROGRAM.len()..].trim_start_matches(['\'', '"']);
        is_program && rest.strip_prefix(' ').is_some_and(|rest| rest.trim_start().starts_with(what))
    })
}

/// The command line of a hook or a server, its arguments included.
pub(super) fn command_line(value: &Value) -> Option<String> {
    let command = ["command", "bash"].iter().find_map(|name| value.get(*name))?;
    let mut words: Vec<&str> = match command {
        Value::String(command) => vec![command],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    words.extend(value.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str));
    Some(words.join(" "))
}

/// The program that a hook runs, if the hook runs it with `arguments` as set-up writes that, and nothing else.
pub(super) fn program_of(hook: &Value, arguments: [&str; 3]) -> Option<String> {
    let command = ["command", "bash"].iter().find_map(|name| hook.get(*name))?.as_str()?;
    if let Some(given) = hook.get("args") {
        return (*given == json!(arguments)).then(|| command.to_owned());
    }
    let line = command.strip_suffix(" || :").unwrap_or(command);
    let word = line.strip_suffix(&arguments.join(" "))?.strip_suffix(' ')?;
    let bare = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
    let program = bare.map_or_else(|| word.to_owned(), |bare| bare.replace(r"'\''", "'"));
    (quoted(&program) == word).then_some(program)
}

pub(super) fn is_our_hook(value: &Value) -> bool {
    command_line(value).is_some_and(|line| runs_us(&line, "hook "))
}

pub(super) fn is_our_server(value: &Value) -> bool {
    command_line(value).is_some_and(|line| runs_us(&line, "mcp"))
}

pub(super) fn is_our_status_line(value: &Value) -> bool {
    command_line(value).is_some_and(|line| runs_us(&line, "statusline"))
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@%:,".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_what_runs_us() {
        assert!(is_our_hook(&json!({"command": "/a b/git-chronicle", "args": ["hook", "claude", "stop"]})));
        assert!(is_our_hook(&json!({"bash": "'/a b/git-chronicle' hook copilot stop"})));
        assert!(is_our_hook(&json!({"command": "git-chronicle hook codex stop || :"})));
        assert!(is_our_server(&json!({"command": ["git-chronicle", "mcp"]})));
        assert!(!is_our_hook(&json!({"command": "/x/not-git-chronicle hook claude stop"})));
        assert!(!is_our_hook(&json!({"command": "echo git-chronicle"})));
        assert!(!is_our_server(&json!({"command": "chronicle", "args": ["mcp"]})));
    }

    #[test]
    fn a_program_is_known_by_the_very_line_that_is_written() {
        let stop = ["hook", "claude", "stop"];
        let program = |hook: Value| program_of(&hook, stop);
        let named = |name: &str| Some(name.to_owned());
        for path in ["git-chronicle", "/usr/bin/git-chronicle", "/a b/it's/git-chronicle"] {
            assert_eq!(program(json!({"command": path, "args": stop})), named(path));
            let line = format!("{} hook claude stop", quoted(path));
            assert_eq!(program(json!({ "command": line })), named(path));
            assert_eq!(program(json!({"bash": format!("{line} || :")})), named(path));
        }
        for line in [
            "touch ran; git-chronicle hook claude stop",
            "git-chronicle hook claude stop; touch ran",
            "git-chronicle hook claude stop || : || :",
            "$(touch ran)git-chronicle hook claude stop",
            "A=b git-chronicle hook claude stop",
            "'git-chronicle' hook claude stop",
            "'a'; touch 'ran/git-chronicle' hook claude stop",
            "git-chronicle hook gemini stop",
            "git-chronicle  hook claude stop",
            "hook claude stop",
        ] {
            assert_eq!(program(json!({ "command": line })), None, "{line}");
        }
        assert_eq!(program(json!({"command": "sh", "args": ["-c", "git-chronicle hook claude stop"]})), None);
        assert_eq!(program(json!({"command": ["git-chronicle", "hook"], "args": stop})), None);
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("/usr/bin/git-chronicle"), "/usr/bin/git-chronicle");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }
}
