//! Every `annotate` and `commit` that the documents and the help show runs as it is printed.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::{
    desk::Desk,
    outcome::Outcome,
    skills::{commands, typed},
};

/// What the examples are about: `Pool::take`, in the lines that they name, and a longer file.
fn pool(n: usize) -> String {
    let head = "// Connections.\n".repeat(11);
    format!(
        "{head}impl Pool {{\n    fn take(&self) -> u32 {{\n        {n}\n    }}\n    fn give_back(&self) {{}}\n}}\n"
    )
}

/// A repository with as much of a past as the examples speak of.
fn desk() -> Desk {
    let desk = Desk::new();
    let reconnect = |n: usize| format!("// attempt {n}\n").repeat(60);
    desk.repo.write("annotation.json", r#"{"summary": "Why this approach"}"#);
    for n in 0..21 {
        desk.repo.write("src/pool.rs", pool(n));
        desk.repo.write("src/reconnect.rs", reconnect(n));
        desk.repo.commit(&format!("pool: step {n}"));
    }
    desk.repo.git(&["tag", "v1.2"]);
    desk.repo.git(&["branch", "-M", "main"]);
    desk.repo.git(&["switch", "-qc", "topic"]);
    desk.repo.write("src/pool.rs", pool(50));
    desk.repo.commit("pool: on a branch");
    desk.run(&["annotate", "--summary", "It was said on the branch"]).success();
    desk.repo.git(&["switch", "-q", "main"]);
    desk.repo.git(&["merge", "-q", "--squash", "topic"]);
    desk.repo.commit("pool: all of the branch");
    desk.run(&["annotate", "--summary", "It was said before the amend"]).success();
    // Git leaves the commit that was amended by that name.
    desk.repo.git(&["update-ref", "ORIG_HEAD", "HEAD"]);
    desk.repo.git(&["commit", "-q", "--amend", "-m", "pool: all of it"]);
    desk
}

/// The examples in `text` that are about writing.
fn examples(text: &str) -> Vec<String> {
    let is_meant = |command: &String| {
        ["git chronicle annotate", "git chronicle commit"].iter().any(|start| command.starts_with(start))
    };
    commands(text).into_iter().filter(is_meant).collect()
}

static N_RUN: AtomicUsize = AtomicUsize::new(0);

fn run(desk: &Desk, command: &str) -> Outcome {
    // There is something to commit, whatever was committed before.
    desk.repo.write("src/pool.rs", pool(100 + N_RUN.fetch_add(1, Ordering::Relaxed)));
    desk.repo.git(&["add", "--all"]);
    typed(desk, desk.repo.path(), command)
}

#[test]
fn what_documents_show_runs_as_it_is_printed() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![top.join("README.md")];
    for folder in ["docs", "docs/guide"] {
        let docs = fs::read_dir(top.join(folder)).expect("there are documents");
        files.extend(docs.filter_map(Result::ok).map(|file| file.path()));
    }
    files.retain(|path| path.extension().is_some_and(|end| end == "md"));
    let desk = desk();
    let mut n_run = 0;
    for path in &files {
        for command in examples(&fs::read_to_string(path).expect("it is text")) {
            let outcome = run(&desk, &command);
            // What needs a model or a session says so here, and nothing else.
            if command.contains("--agent") && !command.contains("--dry-run") {
                outcome.refused(1, &["model"]);
            } else if command.contains("--from-session") {
                outcome.refused(1, &["session memory has no session"]);
            } else {
                outcome.success();
            }
            n_run += 1;
        }
    }
    assert!(14 <= n_run, "{n_run}");
}

#[test]
fn what_help_shows_runs_as_it_is_printed() {
    let desk = desk();
    for (name, n_examples) in [("annotate", 2), ("commit", 1)] {
        for (help, columns) in [("-h", "100"), ("--help", "100"), ("-h", "40")] {
            let mut command = desk.command_in(desk.repo.path(), &[name, help]);
            let text = crate::outcome::run(command.env("COLUMNS", columns)).success().stdout;
            let (_, shown) = text.split_once("\nExamples:\n").expect("there are examples");
            let found = examples(&format!("```sh\n{}\n```\n", shown.replace("\n  ", "\n").trim_start()));
            assert_eq!(found.len(), n_examples, "{shown}");
            for example in found {
                run(&desk, &example).success();
            }
        }
    }
}
