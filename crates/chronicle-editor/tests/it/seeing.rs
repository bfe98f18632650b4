//! What a person sees without doing anything: hovers, hints, counts, links.

use serde_json::{Value, json};

use crate::editor::{Editor, annotate, repository, settled};

const POOL: &str = "struct Pool;\n\nimpl Pool {\n    fn acquire(&self) -> Slot {\n        let deadline = Instant::now() + PATIENCE;\n        self.wait_until(deadline)\n    }\n\n    fn release(&self, slot: Slot) {\n        self.free.push(slot);\n    }\n}\n";

fn lessons() -> Value {
    json!([
        { "category": "gotcha", "content": "The UI thread calls this; never block.", "file": "pool.rs",
          "lines": { "start": 5, "end": 5 } },
        { "category": "dead_end", "content": "A condition variable; it lost wake-ups.", "file": "pool.rs",
          "anchor": "Pool::acquire" },
        { "category": "insight", "content": "Slots are never freed.", "file": "pool.rs" },
    ])
}

#[test]
fn a_hover_on_a_text_that_is_not_saved_shows_the_lessons_of_line_and_item() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &lessons());
    let mut editor = Editor::at(repo.path());
    editor.open("pool.rs", &format!("// One.\n// Two.\n{POOL}"));
    insta::assert_snapshot!(settled(&repo, &editor.hover("pool.rs", 6)), @"
    gotcha (line 7, intact, Pool::acquire, 1.00, COMMIT, moments)
    The UI thread calls this; never block.

    dead end (lines 6-9, intact, Pool::acquire, 1.00, COMMIT, moments)
    A condition variable; it lost wake-ups.
    ---
    The commit that wrote this line is being looked up. Look again in a moment.
    ");
    // Another item has other lessons.
    insta::assert_snapshot!(settled(&repo, &editor.hover("pool.rs", 11)), @"
    Written by COMMIT pool: begin (Ada, 2 days ago)

    commit (lines 3-14, intact, 0.88, COMMIT, moments)
    Why the pool is as it is
    ");
}

#[test]
fn who_wrote_a_line_comes_once_it_is_looked_up() {
    let repo = repository("pool.rs", POOL);
    annotate(
        &repo,
        &json!([{ "category": "gotcha", "content": "Never block.", "file": "pool.rs",
        "lines": { "start": 5, "end": 5 } }]),
    );
    let mut editor = Editor::at(repo.path());
    editor.open("pool.rs", POOL);
    // With nothing else to show, the answer waits for it.
    insta::assert_snapshot!(settled(&repo, &editor.hover("pool.rs", 9)), @"
    Written by COMMIT pool: begin (Ada, 2 days ago)

    commit (lines 1-12, intact, 0.88, COMMIT, moments)
    Why the pool is as it is
    ");
    let mut hover = editor.hover("pool.rs", 4);
    while hover.contains("being looked up") {
        hover = editor.hover("pool.rs", 4);
    }
    insta::assert_snapshot!(settled(&repo, &hover), @"
    gotcha (line 5, intact, Pool::acquire, 1.00, COMMIT, moments)
    Never block.
    ---
    Written by COMMIT pool: begin (Ada, 2 days ago)

    commit (lines 1-12, intact, 0.88, COMMIT, moments)
    Why the pool is as it is
    ");
    editor.change("pool.rs", 2, &json!([{ "range": {
        "start": { "line": 9, "character": 0 }, "end": { "line": 9, "character": 0 } }, "text": "    // New.\n" }]));
    assert_eq!(editor.hover("pool.rs", 9), "Not committed yet");
}

#[test]
fn hints_and_counts_show_where_lessons_are() {
    let repo = repository("pool.rs", &POOL.replace("deadline = ", "deadline\u{1f980} = "));
    annotate(&repo, &lessons());
    let text = POOL.replace("deadline = ", "deadline\u{1f980} = ");
    let whole =
        json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } } });
    let seen = |encodings: &Value| {
        let capabilities = json!({ "general": { "positionEncodings": encodings } });
        let mut editor = Editor::with(repo.path(), &capabilities, &Value::Null);
        editor.open("pool.rs", &text);
        let hints = editor.about("inlayHint", "pool.rs", &whole);
        let hints = hints.as_array().expect("a list").iter().map(|hint| {
            format!("{}:{} {}", hint["position"]["line"], hint["position"]["character"], hint["label"])
        });
        let hints = hints.collect::<Vec<_>>().join("\n");
        let lenses = editor.about("codeLens", "pool.rs", &json!({}));
        let lenses = lenses.as_array().expect("a list").iter();
        let lenses =
            lenses.map(|lens| format!("{} {}", lens["range"]["start"]["line"], lens["command"]["title"]));
        format!("{hints}\n{}", lenses.collect::<Vec<_>>().join("\n"))
    };
    insta::assert_snapshot!(seen(&json!(["utf-16"])), @r#"
    0:12 "1 lesson"
    3:31 "1 lesson"
    4:51 "1 lesson"
    0 "1 insight"
    3 "1 gotcha, 1 dead end"
    "#);
    insta::assert_snapshot!(seen(&json!(["utf-8", "utf-16"])), @r#"
    0:12 "1 lesson"
    3:31 "1 lesson"
    4:53 "1 lesson"
    0 "1 insight"
    3 "1 gotcha, 1 dead end"
    "#);
}

#[test]
fn what_is_switched_off_is_not_shown() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &lessons());
    let off = json!({ "chronicle": { "inlayHints": false, "codeLens": false } });
    let mut editor = Editor::with(repo.path(), &json!({}), &off);
    editor.open("pool.rs", POOL);
    let whole =
        json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } } });
    assert_eq!(editor.about("inlayHint", "pool.rs", &whole), json!([]));
    assert_eq!(editor.about("codeLens", "pool.rs", &json!({})), json!([]));
    let on = json!({ "settings": { "chronicle": { "inlayHints": true } } });
    editor.notify("workspace/didChangeConfiguration", &on);
    assert_ne!(editor.about("inlayHint", "pool.rs", &whole), json!([]));
}

#[test]
fn hostile_lessons_are_shown_as_text() {
    let repo = repository("pool.rs", POOL);
    let hostile = "[click](command:workbench.action.terminal.new) <img src=x> \u{1b}]8;;x\u{7} # heading";
    annotate(
        &repo,
        &json!([{ "category": "gotcha", "content": hostile, "file": "pool.rs",
        "lines": { "start": 5, "end": 5 } }]),
    );
    let markdown = json!({ "textDocument": { "hover": { "contentFormat": ["markdown"] } } });
    let mut editor = Editor::with(repo.path(), &markdown, &Value::Null);
    editor.open("pool.rs", POOL);
    insta::assert_snapshot!(settled(&repo, &editor.hover("pool.rs", 4)), @r"
    **gotcha (line 5, intact, Pool::acquire, 1.00, COMMIT, moments)**

    \[click\](command:workbench.action.terminal.new) \<img src=x\>  \# heading

    ---

    The commit that wrote this line is being looked up. Look again in a moment.
    ");
}

#[test]
fn ids_in_a_text_lead_to_what_they_name() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &lessons());
    let mut editor = Editor::at(repo.path());
    editor.open("pool.rs", POOL);
    let listed = editor.order("chronicle.lessons", &json!({ "uri": editor.uri("pool.rs") })).expect("a list");
    let id = listed[0]["id"].as_str().expect("an id").to_owned();
    editor.open("NOTES.md", &format!("See {id} and t-abcdefgh23456777.\n"));
    let links = editor.about("documentLink", "NOTES.md", &json!({}));
    let places: Vec<_> =
        links.as_array().expect("a list").iter().map(|link| &link["range"]["start"]).collect();
    assert_eq!(places, [&json!({ "line": 0, "character": 4 }), &json!({ "line": 0, "character": 35 })]);
    let followed = editor.answer("documentLink/resolve", &links[0]);
    let target = followed["target"].as_str().and_then(|uri| uri.strip_prefix("file://")).expect("a file");
    let page = std::fs::read_to_string(target).expect("it can be read");
    assert!(page.contains("The UI thread calls this"), "{page}");
    let (code, words) = editor.refusal("documentLink/resolve", &links[1]);
    assert_eq!((code, words.contains("t-abcdefgh23456777")), (-32803, true), "{words}");
    assert_eq!(editor.leave(), chronicle_editor::Ended::Properly);
    assert!(!std::path::Path::new(target).exists(), "pages go with the server");
}

#[test]
fn unfinished_work_is_among_the_symbols() {
    let repo = repository("pool.rs", POOL);
    annotate(
        &repo,
        &json!([
            { "category": "unfinished_thread", "content": "Bound the queue of waiters.", "file": "pool.rs" },
            { "category": "unfinished_thread", "content": "Name the slots.", "file": "../../etc/passwd" },
        ]),
    );
    let mut editor = Editor::at(repo.path());
    let mut found = |query: &str| {
        let symbols = editor.answer("workspace/symbol", &json!({ "query": query }));
        let symbols = symbols.as_array().expect("a list").iter();
        symbols.map(|symbol| symbol["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("QUEUE"), ["Bound the queue of waiters."]);
    assert_eq!(found("no such work"), [""; 0]);
}

#[test]
fn nothing_is_known_of_files_without_a_repository_or_outside_of_the_folders() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &lessons());
    let folder = repo.path().join("docs");
    std::fs::create_dir(&folder).expect("there is none yet");
    let mut editor = Editor::at(&folder);
    editor.open("../pool.rs", POOL);
    editor.open("new.rs", POOL);
    let outside = json!({ "textDocument": { "uri": format!("file://{}/pool.rs", repo.path().display()) },
        "position": { "line": 4, "character": 0 } });
    assert_eq!(editor.answer("textDocument/hover", &outside), Value::Null);
    assert_eq!(editor.hover("new.rs", 4), "");
    let elsewhere = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-repository");
    std::fs::create_dir_all(&elsewhere).expect("it can be made");
    let mut editor = Editor::at(&elsewhere);
    editor.open("a.rs", POOL);
    assert_eq!(editor.hover("a.rs", 4), "");
}
