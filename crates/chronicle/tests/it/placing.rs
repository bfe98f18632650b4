//! Where a lesson is after an edit, and what proves it: the same before and after the edit is committed.

use serde_json::{Value, json};

use crate::asking::{annotate, ask, read, repository};

const FIRST: &str = "import os\n\n\ndef test_first():\n    assert 1 + 1 == 2\n\n\n";
const LINKS: &str = "@pytest.mark.parametrize(\n    \"link\",\n    [\n        1,\n    ],\n)\ndef test_links(tmp, link):\n    real = os.path.join(tmp, link)\n    try:\n        os.symlink(real, tmp)\n    finally:\n        os.close(real)\n\n\n";
const THIRD: &str = "@pytest.mark.parametrize(\n    \"value\",\n    [\n        2,\n    ],\n)\ndef test_third(value):\n    try:\n        assert value\n    finally:\n        print(value)\n";
const FUNCTIONS: &str = "fn one(x: u32) -> u32 {\n    let first = x + 1;\n    first * 9\n}\n\nfn two(x: u32) -> u32 {\n    let second = x + 2;\n    second * 9\n}\n";

const CLIENT: &str = "import { open } from './net'

export function connect(host, port, { retries = 3 }) {
  const link = open(host, port, 'tcp')
  link.greet(host, 'hello', { version, retries })
  return link }

export function close(link) { link.end('bye') }
";

/// The same as a formatter writes it.
const FORMATTED: &str = "import { open } from \"./net\";

export function connect(
  host,
  port,
  { retries = 3 },
) {
  const link = open(host, port, \"tcp\");
  link.greet(host, \"hello\", {
    version,
    retries,
  });
  return link;
}

export function close(link) {
  link.end(\"bye\");
}
";

/// A lesson on these lines.
fn on(start: u32, end: u32) -> Value {
    json!({ "lines": { "start": start, "end": end } })
}

/// A lesson on this item.
fn on_item(name: &str) -> Value {
    json!({ "anchor": name })
}

/// Notes a lesson on a file with the content `old`, and edits it to each of `edits`, one commit after the other. What is
/// known of the file, or of the line that is asked about, is what stands next to the edit.
#[track_caller]
fn check(file: &str, old: &str, lesson: &Value, edits: &[(&str, Option<u32>, &str)]) {
    let repo = repository(&[]);
    repo.write(file, old);
    repo.commit("begin");
    let mut noted =
        json!({ "category": "gotcha", "content": "Links break on the build server.", "file": file });
    noted.as_object_mut().expect("an object").extend(lesson.as_object().expect("an object").clone());
    annotate(&repo, "HEAD", &json!({ "summary": "Why links are tested in this way", "wisdom": [noted] }));
    for (number, (new, asked, expected)) in edits.iter().enumerate() {
        repo.write(file, new);
        let known = || {
            let lines = asked.map(|line| chronicle::LineRange { start: line, end: line });
            let wisdom = read(&repo, file, None, lines).wisdom;
            wisdom.iter().map(placed).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(known(), *expected, "edit {number}");
        repo.commit("edit");
        assert_eq!(known(), *expected, "edit {number}, committed");
    }
}

/// Where a lesson is, in words: its lines and state, why it is gone, and the lines of its item where it is about that.
fn placed(item: &chronicle::WisdomItem) -> String {
    let standing = &item.standing;
    let lines = standing.lines.map(|lines| format!("{lines} "));
    let because = standing.gone_because.map(|because| format!(", {because:?}"));
    let of_item = standing.item_lines.map(|lines| format!(", about the item at {lines}"));
    let state = format!("{:?}", standing.state);
    [lines, Some(state), because, of_item].into_iter().flatten().collect::<String>()
}

#[test]
fn a_lesson_on_a_deleted_function_is_not_shown_in_another() {
    let [links, third] = [LINKS, THIRD].map(|test| [FIRST, test].concat());
    check("t.py", &links, &on(8, 19), &[(&third, None, "Gone, Rewritten"), (FIRST, None, "Gone, Deleted")]);
}

#[test]
fn a_common_line_is_found_in_its_own_function_alone() {
    // `finally:` alone: what is next to it is edited.
    let run = [FIRST, &LINKS.replace("os.symlink(real, tmp)", "run()"), THIRD].concat();
    let third = [FIRST, THIRD].concat();
    check(
        "t.py",
        &[FIRST, LINKS].concat(),
        &on(18, 18),
        &[(&run, Some(18), "18:18 Intact"), (&third, None, "Gone, Rewritten")],
    );
}

#[test]
fn a_line_of_a_deleted_function_that_a_new_one_has_too_is_not_its_own() {
    let test = |name: &str, body: &str| {
        format!("{FIRST}def {name}(client):\n{body}    assert response.status_code == EXPECTED\n\n\n")
    };
    let login = test(
        "test_login",
        "    user = create_user(client, admin=True)\n    response = client.post(LOGIN, user.credentials)\n",
    );
    let search = test(
        "test_search",
        "    for word in WORDS:\n        index.add(word)\n    response = index.find(client, WORDS[0])\n",
    );
    // Under another name it is the same function.
    let renamed = login.replace("test_login", "test_admin");
    check("t.py", &login, &on(11, 11), &[(&search, None, "Gone, Deleted"), (&renamed, None, "11:11 Intact")]);
}

#[test]
fn a_lesson_on_a_rewritten_body_is_about_its_function() {
    let body = "    let second = x + 2;\n    second * 9\n";
    let matched = FUNCTIONS.replace(body, "    match x {\n        0 => 1,\n        n => n << 1,\n    }\n");
    let edits = [
        (matched.as_str(), Some(7), "6:6 Changed, about the item at 6:11"),
        (&matched, Some(9), "6:6 Changed, about the item at 6:11"),
        (&matched, Some(2), ""),
    ];
    check("a.rs", FUNCTIONS, &on(6, 8), &edits);
}

#[test]
fn a_reformatted_function_is_found_by_its_name_and_words() {
    let below = format!("// The client.\n{FORMATTED}");
    let whole = [
        (FORMATTED, None, "3:14 Changed"),
        (FORMATTED, Some(9), "3:14 Changed"),
        (&below, None, "4:15 Changed"),
    ];
    check("client.js", CLIENT, &on_item("connect"), &whole);
    let line = [
        (FORMATTED, None, "9:11 Changed"),
        (FORMATTED, Some(9), "9:11 Changed"),
        (&below, None, "10:12 Changed"),
    ];
    check("client.js", CLIENT, &on(5, 5), &line);
}

#[test]
fn a_name_alone_brings_nothing_back() {
    let rewritten = "export function connect(url) {\n  return pool.take(url, { wait: true })\n}\n";
    // Lines that are nearly as they were are there whatever the name is; the rest of the function is not.
    let nearly = FORMATTED.replace("connect(", "conect(");
    let twice = format!("{FORMATTED}\nfunction connect() {{}}\n");
    let edits = [
        (rewritten, None, "Gone, Rewritten, about the item at 1:3"),
        (nearly.as_str(), None, "8:13 Changed"),
        (&twice, None, "8:13 Changed"),
    ];
    check("client.js", CLIENT, &on_item("connect"), &edits);
}

/// Whether `draw`, which relies on `connect`, is found by asking who relies on `asked` in the file as it is now.
#[track_caller]
fn check_dependents(old: &str, new: &str, asked: &str, expected: &[&str]) {
    let repo = repository(&[]);
    repo.write("client.js", old);
    repo.write("ui.js", "function draw() {\n  connect(broker)\n}\n");
    repo.commit("client: connect");
    annotate(
        &repo,
        "HEAD",
        &json!({ "summary": "The screen is drawn when the broker was greeted", "wisdom": [
            { "category": "gotcha", "content": "Nothing is drawn before the greeting.", "file": "ui.js", "anchor": "draw",
              "depends_on": [{ "file": "client.js", "anchor": "connect", "nature": "greets before it returns" }] },
        ]}),
    );
    repo.write("client.js", new);
    repo.commit("client: edit");
    let found = ask(&repo, |chronicle| chronicle.deps("client.js".as_ref(), Some(asked), false));
    let natures: Vec<&str> = found.dependents.iter().map(|dependent| dependent.nature.as_str()).collect();
    assert_eq!(natures, expected, "{asked}: {new}");
}

#[test]
fn who_relied_on_a_function_is_found_under_its_new_name_and_layout() {
    let dial = FORMATTED.replace("connect(", "dial(");
    // One line that is alone elsewhere is no proof that the function went there.
    let elsewhere = format!("function other() {{\n  return link }}\n{dial}");
    for new in [&dial, &elsewhere] {
        check_dependents(CLIENT, new, "dial", &["greets before it returns"]);
        check_dependents(CLIENT, new, "close", &[]);
    }
    // What was there before is not a renamed one.
    let sibling = dial.replace("tcp", "udp");
    check_dependents(&format!("{CLIENT}{sibling}"), &sibling, "dial", &[]);
}
