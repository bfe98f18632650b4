//! What a session was about, by rules.
//!
//! Everything in a digest is counted or quoted: what was asked, what was
//! changed, which commands ran and how they ended. Nothing is guessed.

use std::collections::BTreeMap;

use chronicle_core::thread::{ThreadKind, likeness};
use serde::{Deserialize, Serialize};

use crate::account;
use crate::decisions::told;
use crate::endings::endings;
use crate::journal::{ChangedFile, Check, Journal};
use crate::session::Session;
use crate::titles::{candidates, is_question};
use crate::turn::{Commit, Usage};
use crate::words::{first_sentence, imperative, shortened};

/// How many commits are told among the key actions.
const MOST_COMMITS: usize = 4;

/// How many key actions and technologies are told.
const MOST_TOLD: usize = 8;

/// The digest of one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DigestOfSession {
    /// At most 60 characters.
    pub title: String,
    /// What it may be called, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<String>,
    /// What was asked and what was achieved, in one or two sentences.
    pub summary: String,
    /// What was done, the weightiest first.
    pub key_actions: Vec<String>,
    /// Files that were changed, the most changed first.
    pub files: Vec<ChangedFile>,
    /// Tests, builds and lints, with how they went the last time.
    pub checks: Vec<Check>,
    /// Commits that were made, in order.
    pub commits: Vec<Commit>,
    /// Pull requests that belong to the session.
    pub pull_requests: Vec<String>,
    /// Languages and tools, the most used first.
    pub technologies: Vec<String>,
    /// Libraries that edits imported or wrote into manifests, the most named first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<String>,
    /// Questions that nobody answered.
    pub open_questions: Vec<String>,
    /// What humans decided, in their words.
    #[serde(default)]
    pub decisions: Vec<String>,
    /// From 1 (trivial) to 5 (a major piece of work).
    pub importance: u8,
    /// Tokens, each reply counted once.
    pub usage: Usage,
    /// How often a human spoke.
    pub n_prompts: usize,
    /// Whether a program ran the session and nobody typed in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_headless: bool,
    /// The model whose words the title, the summary and the key actions are; none where they are the rules'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worded_by: Option<String>,
}

impl DigestOfSession {
    /// Adds the commits of a sub-agent: they belong to the session that sent it.
    pub(crate) fn add_commits(&mut self, commits: &[Commit]) {
        for commit in commits {
            if !self.commits.iter().any(|known| known.id == commit.id) {
                self.commits.push(commit.clone());
            }
        }
    }

    /// The checks that failed, and after which none of their kind passed.
    pub fn still_failing(&self) -> impl Iterator<Item = &Check> {
        let passed_after = |index: usize| {
            let kind = self.checks[index].kind;
            self.checks[index..].iter().any(|check| check.kind == kind && check.is_passed == Some(true))
        };
        let is_failing =
            move |(index, check): &(usize, &Check)| check.is_passed == Some(false) && !passed_after(*index);
        self.checks.iter().enumerate().filter(is_failing).map(|(_, check)| check)
    }
}

/// The digest of the session that `journal` was kept of.
#[must_use]
pub fn digest(journal: &Journal, session: &Session) -> DigestOfSession {
    let mut files = journal.files.clone();
    for file in &mut files {
        file.path = within(&file.path, &session.folders).to_owned();
    }
    files
        .sort_by(|left, right| right.n_changes.cmp(&left.n_changes).then_with(|| left.path.cmp(&right.path)));
    let open_questions = endings(journal)
        .into_iter()
        .filter(|ending| ending.kind == ThreadKind::Question)
        .map(|ending| ending.summary)
        .collect();
    let titles = candidates(journal, session);
    DigestOfSession {
        title: titles.first().cloned().unwrap_or_default(),
        titles,
        summary: summary(journal),
        key_actions: key_actions(journal),
        technologies: technologies(journal),
        libraries: libraries(journal),
        importance: importance(journal),
        checks: journal.checks.clone(),
        commits: journal.commits.iter().map(|(commit, _)| commit.clone()).collect(),
        pull_requests: journal.pull_requests.clone(),
        open_questions,
        decisions: told(&journal.decisions),
        files,
        usage: session.usage,
        n_prompts: journal.n_prompts,
        is_headless: session.is_headless,
        worded_by: None,
    }
}

/// `path` without the folder that it lies in.
fn within<'a>(path: &'a str, folders: &[String]) -> &'a str {
    let rest = |folder: &String| path.strip_prefix(folder.as_str())?.strip_prefix('/');
    folders.iter().filter_map(rest).min_by_key(|rest| rest.len()).unwrap_or(path)
}

/// What came of it, as the agent accounts for it; without an account, what was asked and what was counted.
fn summary(journal: &Journal) -> String {
    if let Some(summary) = account::summary(journal) {
        return summary;
    }
    let asked = |words: &str| imperative(first_sentence(words), 120);
    let first =
        journal.plan_title.clone().or_else(|| journal.first_wish.as_ref().map(|wish| asked(&wish.words)));
    let last = journal.wishes.iter().rev().find(|wish| !is_question(wish)).map(|wish| asked(&wish.words));
    let mut asked = match (first, last) {
        (Some(first), Some(last)) if first != last => format!("Asked for “{first}” and in the end “{last}”."),
        (Some(first), _) => format!("Asked for “{first}”."),
        (None, Some(last)) => format!("Asked for “{last}”."),
        (None, None) => String::new(),
    };
    let commits: Vec<Commit> = journal.told_commits().into_iter().cloned().collect();
    let achieved = achieved(&commits, journal.files.len(), &journal.checks);
    if !achieved.is_empty() {
        if !asked.is_empty() {
            asked.push(' ');
        }
        asked.push_str(&achieved);
    }
    asked
}

/// What came of it, in one sentence.
pub(crate) fn achieved(commits: &[Commit], n_files: usize, checks: &[Check]) -> String {
    let mut parts = Vec::new();
    match commits {
        [] => {}
        [commit] if commit.subject.is_empty() => parts.push(format!("committed {}", commit.id)),
        [commit] => parts.push(format!("committed {} “{}”", commit.id, shortened(&commit.subject, 72))),
        [.., last] => {
            let of_last =
                commits.iter().rev().map(|commit| &commit.subject).find(|subject| !subject.is_empty());
            parts.push(match of_last {
                Some(subject) => format!("made {} commits, last “{}”", commits.len(), shortened(subject, 72)),
                None => format!("made {} commits, last {}", commits.len(), last.id),
            });
        }
    }
    match n_files {
        0 => {}
        1 => parts.push("changed 1 file".to_owned()),
        n_files => parts.push(format!("changed {n_files} files")),
    }
    if let Some(check) = checks.iter().rev().find(|check| check.is_passed.is_some()) {
        let word = if check.is_passed == Some(true) { "passed" } else { "failed" };
        parts.push(format!("`{}` {word} last", shortened(&check.command, 60)));
    }
    let sentence = parts.join(", ");
    let mut letters = sentence.chars();
    letters.next().map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}

/// What was done: commits, what the agent's accounts say, and what it ticked off. Never what was asked for.
fn key_actions(journal: &Journal) -> Vec<String> {
    let mut actions = Vec::new();
    let commit = |commit: &Commit| match commit.subject.is_empty() {
        true => format!("Committed {}", commit.id),
        false => format!("Committed {}: {}", commit.id, shortened(&commit.subject, 100)),
    };
    let commits = journal.told_commits();
    actions.extend(commits.into_iter().rev().take(MOST_COMMITS).rev().map(commit));
    actions.extend(journal.pull_requests.iter().map(|url| format!("Opened {url}")));
    let check =
        failed_last(&journal.checks).map(|check| format!("`{}` failed last", shortened(&check.command, 80)));
    let n_left = MOST_TOLD.saturating_sub(actions.len() + usize::from(check.is_some()));
    let accounted = account::deeds(journal, n_left);
    let done = journal.todos.items().iter().filter(|item| item.state == crate::turn::TodoState::Completed);
    let ticked = done.map(|item| shortened(&item.text, 100));
    let is_new = |text: &String| accounted.iter().all(|known| likeness(known, text) < 0.5);
    let ticked: Vec<String> = ticked.filter(is_new).take(4.min(n_left - accounted.len())).collect();
    actions.extend(accounted.into_iter().chain(ticked));
    if actions.is_empty() && !journal.files.is_empty() {
        let files: Vec<&str> = journal.files.iter().take(4).map(|file| name_of(&file.path)).collect();
        actions.push(format!("Changed {}", files.join(", ")));
    }
    actions.extend(check);
    actions.truncate(MOST_TOLD);
    actions
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The last check that failed, if none of its kind passed later; they come in the order in which they ran last.
fn failed_last(checks: &[Check]) -> Option<&Check> {
    let at = checks.iter().rposition(|check| check.is_passed == Some(false))?;
    let failed = &checks[at];
    let is_mended = |later: &Check| later.kind == failed.kind && later.is_passed == Some(true);
    (!checks[at..].iter().any(is_mended)).then_some(failed)
}

/// What a file of that ending is written in.
pub(crate) const LANGUAGES: [(&str, &str); 34] = [
    ("rs", "Rust"),
    ("go", "Go"),
    ("py", "Python"),
    ("ts", "TypeScript"),
    ("tsx", "TypeScript"),
    ("js", "JavaScript"),
    ("jsx", "JavaScript"),
    ("mjs", "JavaScript"),
    ("rb", "Ruby"),
    ("java", "Java"),
    ("kt", "Kotlin"),
    ("swift", "Swift"),
    ("c", "C"),
    ("h", "C"),
    ("cc", "C++"),
    ("cpp", "C++"),
    ("hpp", "C++"),
    ("cs", "C#"),
    ("php", "PHP"),
    ("sh", "Shell"),
    ("bash", "Shell"),
    ("fish", "Shell"),
    ("sql", "SQL"),
    ("html", "HTML"),
    ("css", "CSS"),
    ("scss", "CSS"),
    ("vue", "Vue"),
    ("svelte", "Svelte"),
    ("ex", "Elixir"),
    ("hs", "Haskell"),
    ("lua", "Lua"),
    ("zig", "Zig"),
    ("tf", "Terraform"),
    ("proto", "Protocol Buffers"),
];

/// What a command belongs to.
pub(crate) const TOOLS: [(&str, &str); 30] = [
    ("cargo", "Rust"),
    ("go", "Go"),
    ("npm", "npm"),
    ("pnpm", "pnpm"),
    ("yarn", "Yarn"),
    ("bun", "Bun"),
    ("deno", "Deno"),
    ("node", "Node.js"),
    ("pytest", "pytest"),
    ("python", "Python"),
    ("python3", "Python"),
    ("uv", "uv"),
    ("pip", "pip"),
    ("docker", "Docker"),
    ("kubectl", "Kubernetes"),
    ("terraform", "Terraform"),
    ("gh", "GitHub CLI"),
    ("mise", "mise"),
    ("make", "Make"),
    ("cmake", "CMake"),
    ("golangci-lint", "golangci-lint"),
    ("eslint", "ESLint"),
    ("vitest", "Vitest"),
    ("jest", "Jest"),
    ("psql", "PostgreSQL"),
    ("sqlite3", "SQLite"),
    ("redis-cli", "Redis"),
    ("wrangler", "Cloudflare Workers"),
    ("ruff", "Ruff"),
    ("aws", "AWS"),
];

fn technologies(journal: &Journal) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &journal.files {
        let ending = file.path.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
        if let Some((_, name)) = LANGUAGES.iter().find(|(known, _)| *known == ending) {
            // Writing in a language says more than calling a tool.
            *counts.entry(name).or_default() += 3 * file.n_changes;
        }
    }
    for (program, count) in &journal.commands {
        if let Some((_, name)) = TOOLS.iter().find(|(known, _)| known == program) {
            *counts.entry(name).or_default() += count;
        }
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    names.into_iter().take(MOST_TOLD).map(|(name, _)| name.to_owned()).collect()
}

/// The libraries that were named most.
fn libraries(journal: &Journal) -> Vec<String> {
    const MOST: usize = 40;
    let mut named: Vec<_> = journal.libraries.iter().collect();
    named.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    named.into_iter().take(MOST).map(|(name, _)| name.clone()).collect()
}

/// One point to begin with; more for commits, for many files, for a long conversation and for a pull request.
fn importance(journal: &Journal) -> u8 {
    let points = [
        !journal.commits.is_empty(),
        3 <= journal.files.len(),
        10 <= journal.files.len() || 4 <= journal.commits.len(),
        8 <= journal.n_prompts,
        !journal.pull_requests.is_empty(),
    ];
    let n_points = points.iter().filter(|point| **point).count();
    u8::try_from((1 + n_points).min(5)).unwrap_or(5)
}
