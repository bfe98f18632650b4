//! The texts that are given to agents; they lie in `assets/`.

use serde_json::{Value, json};

use super::permissions::{ASKED, COMMANDS};

/// The mark of the lines that are ours in a file of others.
pub(super) const BLOCK_BEGIN: &str = "<!-- git-chronicle begin -->";
/// Where they end.
pub(super) const BLOCK_END: &str = "<!-- git-chronicle end -->";

/// The skills, by name.
pub(super) const SKILLS: [(&str, &str); 4] = [
    ("chronicle", include_str!("../../assets/skills/chronicle/SKILL.md")),
    ("chronicle-annotate", include_str!("../../assets/skills/chronicle-annotate/SKILL.md")),
    ("chronicle-context", include_str!("../../assets/skills/chronicle-context/SKILL.md")),
    ("chronicle-resume", include_str!("../../assets/skills/chronicle-resume/SKILL.md")),
];

/// What `AGENTS.md` says of us.
pub(super) const AGENTS_MD: &str = include_str!("../../assets/agents.md");

/// The plugin of `OpenCode`, which runs `program`, and lets what reads and writes lessons run unasked if it `permits` that.
pub(super) fn opencode_plugin(program: &str, permits: bool) -> String {
    let program = Value::from(program).to_string();
    let commands = if permits { json!(COMMANDS) } else { json!([]) };
    let skills: Vec<&str> = SKILLS.iter().map(|(name, _)| *name).collect();
    include_str!("../../assets/opencode.js")
        .replace("\"@PROGRAM@\"", &program)
        .replace("\"@PERMITTED@\"", &commands.to_string())
        .replace("\"@ASKED@\"", &json!(ASKED).to_string())
        .replace("\"@SKILLS@\"", &json!(skills).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_keep_to_the_standard() {
        const KNOWN: [&str; 5] = ["name", "description", "license", "compatibility", "metadata"];
        for (name, text) in SKILLS {
            let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
            let (head, body) = head.expect("a skill begins with its description");
            let keys =
                head.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split_once(':'));
            for (key, value) in keys {
                assert!(KNOWN.contains(&key), "{name}: {key}");
                match key {
                    "name" => assert_eq!(value.trim(), name),
                    "description" => assert!(value.len() <= 1024, "{name}"),
                    _ => {}
                }
            }
            assert!(body.lines().count() < 100, "{name} is too long");
        }
    }

    #[test]
    fn a_block_is_short() {
        assert!(AGENTS_MD.lines().count() + 2 <= 10, "{AGENTS_MD}");
    }
}
