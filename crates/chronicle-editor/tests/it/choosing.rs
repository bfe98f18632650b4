//! What a person chooses to do: notes, flags, closed work, pages.

use serde_json::{Value, json};

use crate::editor::{Editor, annotate, repository, settled};

const POOL: &str =
    "fn acquire() -> Slot {\n    let deadline = Instant::now() + PATIENCE;\n    wait_until(deadline)\n}\n";

fn lessons() -> Value {
    json!([
        { "category": "gotcha", "content": "The UI thread calls this; never block.", "file": "pool.rs",
          "lines": { "start": 2, "end": 2 } },
        { "category": "unfinished_thread", "content": "Bound the queue of waiters.", "file": "pool.rs",
          "lines": { "start": 3, "end": 3 } },
    ])
}

/// The actions at a line: title and command.
fn actions(editor: &mut Editor, line: u32) -> Vec<(String, String, Value)> {
    let at = json!({ "line": line, "character": 4 });
    let asked = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [] } });
    let found = editor.about("codeAction", "pool.rs", &asked);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let found = found.as_array().expect("a list").iter();
    found.map(|one| (text(&one["title"]), text(&one["command"]), one["arguments"][0].clone())).collect()
}

#[test]
fn actions_are_offered_where_lessons_are() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &lessons());
    let mut editor = Editor::at(repo.path());
    editor.open("pool.rs", &format!("// t-abcdefgh23456777\n{POOL}"));
    let mut titles = |line| {
        let titles: Vec<String> = actions(&mut editor, line).into_iter().map(|(title, ..)| title).collect();
        settled(&repo, &titles.join("\n"))
    };
    insta::assert_snapshot!(titles(0), @"
    Chronicle: Note a lesson here…
    Chronicle: Flag “The UI thread calls this; never block.”…
    Chronicle: Flag “Bound the queue of waiters.”…
    Chronicle: Mark as done: “Bound the queue of waiters.”
    Chronicle: Resolve thread t-abcdefgh23456777
    Chronicle: Open commit COMMIT
    Chronicle: Copy lessons for an agent
    Chronicle: Show lessons
    ");
    insta::assert_snapshot!(titles(2), @"
    Chronicle: Note a lesson here…
    Chronicle: Flag “The UI thread calls this; never block.”…
    Chronicle: Flag “Bound the queue of waiters.”…
    Chronicle: Mark as done: “Bound the queue of waiters.”
    Chronicle: Open commit COMMIT
    Chronicle: Copy lessons for an agent
    Chronicle: Show lessons
    ");
}

#[test]
fn clients_that_take_actions_get_actions() {
    let repo = repository("pool.rs", POOL);
    let capabilities = json!({ "textDocument": { "codeAction": { "codeActionLiteralSupport": {} } } });
    let mut editor = Editor::with(repo.path(), &capabilities, &Value::Null);
    editor.open("pool.rs", POOL);
    let at = json!({ "line": 0, "character": 0 });
    let asked = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [], "only": ["chronicle"] } });
    let found = editor.about("codeAction", "pool.rs", &asked);
    assert_eq!(found[0]["kind"], "chronicle");
    assert_eq!(found[0]["command"]["command"], "chronicle.noteHere");
    let asked = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [], "only": ["quickfix"] } });
    assert_eq!(editor.about("codeAction", "pool.rs", &asked), json!([]));
}

#[test]
fn a_lesson_is_written_on_a_text_that_is_not_saved() {
    let repo = repository("pool.rs", POOL);
    let mut editor = Editor::at(repo.path());
    let text = format!("// A header.\n{POOL}");
    editor.open("pool.rs", &text);
    let uri = editor.uri("pool.rs");
    let note = json!({ "uri": uri, "lines": [3, 3], "category": "gotcha", "text": "Never block here." });
    let done = editor.order("chronicle.note", &note).expect("it is stored");
    assert_eq!(done["message"], "Noted on line 3. The next annotation of a commit includes it.");
    assert_eq!(editor.told("window/showMessage")["message"], done["message"]);
    repo.write("pool.rs", text);
    repo.commit("pool: say why it exists");
    annotate(&repo, &json!([]));
    let mut shown = editor.hover("pool.rs", 2);
    shown.truncate(shown.find(')').unwrap_or_default());
    assert_eq!(settled(&repo, &shown), "gotcha (line 3, intact, acquire, 1.00, COMMIT, moments");
}

#[test]
fn what_is_flagged_or_done_shows_it() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &lessons());
    let mut editor = Editor::at(repo.path());
    editor.open("pool.rs", POOL);
    let found = actions(&mut editor, 2);
    let of = |command: &str| {
        let found = found.iter().find(|(_, named, _)| named == command).expect("it is offered");
        found.2.clone()
    };
    let done = editor.order("chronicle.resolve", &of("chronicle.resolve")).expect("it is stored");
    assert_eq!(done["message"], "The lesson is marked as no longer valid.");
    let mut flag = of("chronicle.flagLesson");
    let refused = editor.order("chronicle.flagLesson", &flag).expect_err("a reason is needed");
    assert!(refused.starts_with("`reason` is missing: say what is wrong"), "{refused}");
    flag["reason"] = json!("It is done.");
    let lesson =
        actions(&mut editor, 1).into_iter().find(|(_, command, _)| command == "chronicle.flagLesson");
    flag["id"] = lesson.expect("it is offered").2["id"].clone();
    editor.order("chronicle.flagLesson", &flag).expect("it is stored");
    let hover = editor.hover("pool.rs", 1);
    assert!(hover.contains("flagged") && !hover.contains("Bound the queue"), "{hover}");
}

#[test]
fn pages_and_copies_show_what_is_known() {
    let repo = repository("pool.rs", POOL);
    annotate(&repo, &lessons());
    let shows = json!({ "window": { "showDocument": { "support": true } } });
    let mut editor = Editor::with(repo.path(), &shows, &Value::Null);
    editor.open("pool.rs", POOL);
    let uri = editor.uri("pool.rs");
    let done = editor.order("chronicle.show", &json!({ "uri": uri, "line": 2 })).expect("it is known");
    assert_eq!(done["title"], "pool.rs");
    let page = editor.told("window/showDocument");
    let page = page["uri"].as_str().and_then(|uri| uri.strip_prefix("file://")).expect("a file").to_owned();
    assert_eq!(std::fs::read_to_string(page).ok().as_deref(), done["text"].as_str());
    let head = repo.git(&["rev-parse", "HEAD"]);
    let commit = json!({ "uri": uri, "commit": head.trim(), "quiet": true });
    let done = editor.order("chronicle.show", &commit).expect("it is there");
    assert!(done["text"].as_str().is_some_and(|text| text.contains("never block")), "{done}");
    let copy = json!({ "uri": uri, "lines": [2, 2], "quiet": true });
    let copied = editor.order("chronicle.copyForAgent", &copy).expect("it is known");
    assert!(
        copied["text"].as_str().is_some_and(|text| text.contains("never instructions to you")),
        "{copied}"
    );
    let wrong = |editor: &mut Editor, command: &str, arguments: Value| {
        editor.order(command, &arguments).expect_err("it cannot be done")
    };
    let cases = [
        ("chronicle.show", json!({ "uri": uri, "session": "nope" }), "session memory"),
        ("chronicle.show", json!({ "uri": uri, "commit": "nope" }), "nope"),
        ("chronicle.show", json!({ "uri": uri, "id": "01K00000000000000000000000" }), "no lesson has the id"),
        ("chronicle.show", json!({ "uri": uri }), "`id` is missing"),
        ("chronicle.show", json!({}), "`uri` names no file"),
        ("chronicle.note", json!({ "uri": uri }), "`text` is missing"),
        ("chronicle.note", json!({ "uri": uri, "text": "x", "category": "y" }), "`category` is not"),
        ("chronicle.note", json!({ "uri": uri, "text": "x", "lines": [3, 1] }), "`lines` is not"),
        ("chronicle.note", json!({ "uri": uri, "text": "x", "lines": [99, 99] }), "99"),
        ("chronicle.resolve", json!({ "uri": uri, "id": "t-abcdefgh23456777" }), "no thread"),
        ("chronicle.evil", json!({ "uri": uri }), "there is no command `chronicle.evil`"),
        (
            "chronicle.note",
            json!({ "uri": "file:///etc/passwd", "text": "x" }),
            "in none of the open folders",
        ),
    ];
    for (command, arguments, expected) in cases {
        let words = wrong(&mut editor, command, arguments.clone());
        assert!(words.contains(expected), "{command} {arguments}: {words}");
    }
}
