//! Asks the binary at a fixed time, and holds all it says in one text.

use std::process::{Command, Stdio};

use testkit::TestRepo;

use crate::outcome::{binary, run, run_with_input};

/// Two days and a bit after the commits of the test repositories.
const NOW: &str = "2026-03-03T18:00:00Z";

fn command(repo: &TestRepo, args: &[&str]) -> Command {
    let mut command = binary(repo.path(), args);
    command.env("CHRONICLE_NOW", NOW).stdin(Stdio::null());
    command
}

/// What `git chronicle ARGS` says: the answer, the remarks and the exit code when it is not 0.
pub(crate) fn ask(repo: &TestRepo, args: &[&str]) -> String {
    said(&run(&mut command(repo, args)))
}

/// [`ask`], which must say the same with the index and without it.
#[track_caller]
pub(crate) fn ask_both(repo: &TestRepo, args: &[&str]) -> String {
    let directly = said(&run(command(repo, args).env("CHRONICLE_NO_CACHE", "1")));
    assert_eq!(ask(repo, args), directly, "{args:?}");
    directly
}

/// [`ask`] with `input` on standard input.
pub(crate) fn ask_with(repo: &TestRepo, args: &[&str], input: &[u8]) -> String {
    said(&run_with_input(&mut command(repo, args), input))
}

fn said(outcome: &crate::outcome::Outcome) -> String {
    let is_hostile = |character: char| character.is_control() && character != '\n' && character != '\t';
    assert!(!outcome.stdout.contains(is_hostile) && !outcome.stderr.contains(is_hostile), "{outcome:#?}");
    let code = match outcome.code {
        Some(0) => String::new(),
        code => format!("[exit {}]\n", code.unwrap_or(-1)),
    };
    format!("{}{}{code}", outcome.stdout, outcome.stderr)
}

/// Annotates HEAD as if at the time of the commit; says what the reply says.
pub(crate) fn annotate(repo: &TestRepo, annotation: &serde_json::Value) -> String {
    annotate_commit(repo, "HEAD", annotation)
}

/// The same for any commit.
pub(crate) fn annotate_commit(repo: &TestRepo, commit: &str, annotation: &serde_json::Value) -> String {
    let mut command =
        binary(repo.path(), &["annotate", "--commit", commit, "--json", &annotation.to_string()]);
    let outcome = run(command.env("CHRONICLE_NOW", testkit::DATE)).success();
    let is_id = |line: &&str| line.trim_start().starts_with("- id: ");
    let mut text: Vec<&str> = outcome.stdout.lines().filter(|line| !is_id(line)).collect();
    text.extend(outcome.stderr.lines());
    text.join("\n")
}

pub(crate) const POOL: &str = "//! Ids.

pub struct Pool {
    free: Vec<u32>,
}

impl Pool {
    /// Takes an id.
    pub fn acquire(&mut self) -> Option<u32> {
        let id = self.free.pop();
        trace(id);
        id
    }

    pub fn release(&mut self, id: u32) {
        self.free.push(id);
    }
}
";

/// A pool, and what relies on it.
pub(crate) fn pool() -> TestRepo {
    use serde_json::json;
    let repo = TestRepo::new();
    repo.write("src/pool.rs", POOL);
    repo.write("src/ui.rs", "fn draw() {\n    pool.acquire();\n}\n");
    repo.commit("pool: hand out ids\n\nThe newest id is warm in the cache.");
    annotate(
        &repo,
        &json!({
            "summary": "Ids are reused last in, first out: the newest is warm in the cache",
            "wisdom": [
                { "category": "gotcha", "content": "The UI thread calls this; it must never block.", "file": "src/pool.rs", "anchor": "acquire" },
                { "category": "dead_end", "content": "A lock-free stack was slower below eight threads.", "file": "src/pool.rs", "lines": { "start": 16, "end": 16 } },
                { "category": "insight", "content": "One pool for each process is enough.", "file": "src/pool.rs" },
                { "category": "gotcha", "content": "Frames are dropped when this waits for an id.", "file": "src/ui.rs", "anchor": "draw",
                  "depends_on": [{ "file": "src/pool.rs", "anchor": "Pool::acquire", "nature": "never waits" }] },
                { "category": "insight", "content": "Look at `Pool::release` before giving ids back here.", "file": "src/ui.rs", "lines": { "start": 2, "end": 2 } },
            ],
            "cross_cutting": [{ "description": "Ids are never zero", "regions": ["src/pool.rs:Pool::release", "src/ui.rs:draw"] }],
        }),
    );
    repo
}
