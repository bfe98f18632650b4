//! Warnings about traps that a text changes, and what happens when the repository or the file changes meanwhile.

use serde_json::{Value, json};

use crate::editor::{Editor, annotate, repository, settled};

const POOL: &str = "fn acquire() -> Slot {\n    let deadline = Instant::now() + PATIENCE;\n    wait_until(deadline)\n}\n\nfn release(slot: Slot) {\n    free.push(slot);\n}\n";

fn trap() -> Value {
    json!([
        { "category": "gotcha", "content": "The UI thread calls this; never block.", "file": "pool.rs",
          "lines": { "start": 2, "end": 2 } },
        { "category": "insight", "content": "Deadlines are absolute.", "file": "pool.rs",
          "lines": { "start": 2, "end": 2 } },
    ])
}

/// A change of the second line.
fn edit(from: u32, to: u32, text: &str) -> Value {
    json!([{ "range": { "start": { "line": 1, "character": from }, "end": { "line": 1, "character": to } },
        "text": text }])
}

#[test]
fn a_trap_is_told_before_the_text_is_saved() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &trap());
    let mut editor = Editor::at(repo.path());
    editor.open("pool.rs", POOL);
    editor.change("pool.rs", 2, &edit(8, 16, "end"));
    insta::assert_snapshot!(settled(&repo, &editor.warnings().join("\n")), @"1-1 gotcha: The UI thread calls this; never block. (COMMIT, moments)");
    // What is changed back touches nothing.
    editor.change("pool.rs", 3, &edit(8, 11, "deadline"));
    assert_eq!(editor.warnings(), Vec::<String>::new());
    editor.change("pool.rs", 4, &edit(8, 16, "end"));
    assert_eq!(editor.warnings().len(), 1);
    // Who does not want warnings is not shown the last ones.
    let off = json!({ "settings": { "chronicle": { "diagnostics": false } } });
    editor.notify("workspace/didChangeConfiguration", &off);
    assert_eq!(editor.warnings(), Vec::<String>::new());
    let on = json!({ "settings": { "chronicle": { "diagnostics": true } } });
    editor.notify("workspace/didChangeConfiguration", &on);
    assert_eq!(editor.warnings().len(), 1);
    let closed = json!({ "textDocument": { "uri": editor.uri("pool.rs") } });
    editor.notify("textDocument/didClose", &closed);
    assert_eq!(editor.warnings(), Vec::<String>::new());
}

#[test]
fn new_notes_and_commits_are_noticed() {
    let repo = repository("pool.rs", POOL);
    let capabilities = json!({ "workspace": {
        "inlayHint": { "refreshSupport": true }, "codeLens": { "refreshSupport": true } } });
    let mut editor = Editor::with(repo.path(), &capabilities, &Value::Null);
    editor.open("pool.rs", POOL);
    let whole =
        json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } } });
    assert_eq!(editor.about("inlayHint", "pool.rs", &whole), json!([]));
    editor.change("pool.rs", 2, &edit(8, 16, "end"));
    annotate(&repo, &trap());
    editor.told("workspace/inlayHint/refresh");
    assert_eq!(editor.about("inlayHint", "pool.rs", &whole)[0]["label"], "2 lessons");
    assert_eq!(editor.warnings().len(), 1);
    repo.write("pool.rs", POOL.replace("let deadline", "let end"));
    repo.commit("pool: call it an end");
    // Against the new commit nothing is changed.
    assert_eq!(editor.warnings(), Vec::<String>::new());
}

#[test]
fn a_file_may_be_deleted_or_renamed_under_its_text() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &trap());
    let mut editor = Editor::at(repo.path());
    editor.open("pool.rs", POOL);
    std::fs::remove_file(repo.path().join("pool.rs")).expect("it is there");
    assert!(editor.hover("pool.rs", 1).starts_with("gotcha (line 2, intact"), "deleted");
    repo.git(&["checkout", "pool.rs"]);
    repo.git(&["mv", "pool.rs", "stack.rs"]);
    editor.open("stack.rs", &format!("\n{POOL}"));
    assert!(editor.hover("stack.rs", 2).starts_with("gotcha (line 3, intact"), "renamed");
    // In the middle of a rebase, HEAD is no branch.
    repo.git(&["commit", "-qm", "rename"]);
    repo.git(&["checkout", "-q", "--detach"]);
    assert!(editor.hover("stack.rs", 2).starts_with("gotcha (line 3, intact"), "detached");
}

#[test]
fn nothing_that_is_typed_is_kept() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &trap());
    let mut editor = Editor::at(repo.path());
    editor.open("pool.rs", POOL);
    // What is made of the committed version is kept.
    editor.change("pool.rs", 2, &edit(8, 16, "end"));
    editor.warnings();
    editor.hover("pool.rs", 1);
    let kept = || {
        let found = repo.path().join(".git/chronicle");
        let files = walk(&found).into_iter().filter(|file| !file.contains("/blames/"));
        files.map(|file| std::fs::metadata(&file).map(|file| file.len()).unwrap_or_default()).sum::<u64>()
    };
    let before = kept();
    for version in 3..40 {
        editor.change("pool.rs", version, &edit(0, 0, "x"));
        editor.hover("pool.rs", 1);
    }
    assert_eq!(kept(), before);
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let paths = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => walk(&path),
        path => vec![path.to_string_lossy().into_owned()],
    });
    paths.collect()
}
