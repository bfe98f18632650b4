//! Languages, tools and libraries: by the files that were changed, the commands that ran, and what edits imported
//! or wrote into manifests. Words in prose count for nothing.

use std::collections::BTreeMap;

use chronicle_search::{StoredTurn, TurnKind};

use super::{
    commands::{Typed, program},
    habits::Seen,
    steps::is_done,
};
use crate::commands::known_tools::{LANGUAGES, TOOLS};

/// How many libraries of a session are kept.
const MOST_LIBRARIES: usize = 60;

/// How each technology was used: `edits`, `commands`, `imports`.
pub(super) fn technologies(
    turns: &[&StoredTurn],
    libraries: &[String],
) -> BTreeMap<String, BTreeMap<String, Seen>> {
    let mut found: BTreeMap<String, BTreeMap<String, Seen>> = BTreeMap::new();
    let mut count = |name: &str, how: &str, turn: &StoredTurn| {
        let ways = found.entry(name.to_owned()).or_default();
        ways.entry(how.to_owned()).or_insert_with(|| Seen::at(turn)).times += 1;
    };
    let mut first_edit = None;
    for turn in turns {
        if is_done(turn, TurnKind::Edit) {
            first_edit = first_edit.or(Some(*turn));
            if let Some(name) = language(&turn.text) {
                count(name, "edits", turn);
            }
        }
        if is_done(turn, TurnKind::Command) {
            for words in Typed::of(&turn.text).commands() {
                if let Some(name) = tool(&words) {
                    count(name, "commands", turn);
                }
            }
        }
    }
    if let Some(turn) = first_edit {
        for library in libraries.iter().take(MOST_LIBRARIES) {
            count(library, "imports", turn);
        }
    }
    found
}

/// What a file is written in.
pub(super) fn language(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (_, ending) = name.rsplit_once('.')?;
    LANGUAGES.iter().find(|(known, _)| *known == ending).map(|(_, name)| *name)
}

/// What a command belongs to.
fn tool(words: &[&str]) -> Option<&'static str> {
    let mut program = program(words);
    // The program that another one runs says more.
    if matches!(program, "npx" | "bunx" | "pnpx" | "uvx") {
        program = words.get(1).copied().unwrap_or(program);
    }
    TOOLS.iter().find(|(known, _)| *known == program).map(|(_, name)| *name)
}

/// A technology as it is compared: `Node.js` and `nodejs` are one, and so are `@hono/zod` and `hono`.
#[must_use]
pub fn canonical(name: &str) -> Vec<String> {
    let lower = name.trim().to_lowercase();
    let plain = |text: &str| {
        text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '+' | '#')).collect::<String>()
    };
    let alias = match lower.as_str() {
        "node" => "nodejs",
        "golang" => "go",
        "postgres" | "psql" => "postgresql",
        "k8s" => "kubernetes",
        "ts" => "typescript",
        "js" => "javascript",
        "py" => "python",
        "gh" => "githubcli",
        other => other,
    };
    let mut all = vec![plain(alias)];
    if lower.contains('/') {
        let is_version =
            |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
        let is_telling = |part: &&str| !part.contains('.') && !is_version(part);
        all.extend(lower.split('/').filter(is_telling).map(plain));
    }
    all.retain(|name| !name.is_empty());
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_however_they_are_written() {
        assert_eq!(canonical("Node.js"), canonical("node"));
        assert!(canonical("github.com/labstack/echo/v4").contains(&"echo".to_owned()));
        assert!(canonical("@hono/zod-validator").contains(&"hono".to_owned()));
        assert_eq!(canonical("C++"), ["c++"]);
        assert_ne!(canonical("C#"), canonical("C"));
    }
}
