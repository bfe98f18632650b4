//! What an agent may run unasked, once the user agreed: to read and write lessons, and nothing that gives away, removes
//! or decides anything.

use serde_json::{Value, json};

use super::{
    SERVER_NAME,
    json::{Entry, EntryKind},
    skills::SKILLS,
};

/// The commands, as they follow `git chronicle`.
pub(super) const COMMANDS: [&str; 17] = [
    "about", "annotate", "ask", "brief", "check", "deps", "find", "history", "how", "note", "outline",
    "pending", "read", "resolve", "show", "summary", "why",
];

/// Options of these commands about which the user is asked all the same: they ask a model, open an editor, or look into
/// other projects.
const ASKED: [&str; 4] = ["--agent", "--all", "--retry-failed", "-e"];

/// The rules of Claude Code: those for what may run, and those for what is asked about in spite of them.
fn rules() -> [(&'static str, Vec<String>); 2] {
    let commands = COMMANDS.iter().flat_map(|command| {
        [format!("Bash(git chronicle {command})"), format!("Bash(git chronicle {command} *)")]
    });
    let skills = SKILLS.iter().map(|(name, _)| format!("Skill({name})"));
    let allowed = commands.chain([format!("mcp__{SERVER_NAME}")]).chain(skills).collect();
    let asked = ASKED.iter().flat_map(|option| {
        [format!("Bash(git chronicle * {option})"), format!("Bash(git chronicle * {option} *)")]
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
        for command in
            ["allow", "purge", "gc", "forget", "setup", "config", "sync", "share", "session", "resume"]
        {
            assert!(!allowed.iter().any(|rule| rule.contains(&format!("chronicle {command}"))), "{command}");
        }
        assert!(!allowed.iter().any(|rule| rule == "Bash(git chronicle *)" || rule == "Bash"));
        assert!(asked.contains(&"Bash(git chronicle * --agent *)".to_owned()));
        assert!(COMMANDS.is_sorted());
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
