//! Lessons and promises find their code after a formatter has been over it.

use serde_json::json;
use testkit::TestRepo;

use crate::asking::{annotate, ask_both};

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

/// A client with a lesson on all of a function, and one on a line of it.
fn client() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("client.js", CLIENT);
    repo.commit("client: connect");
    annotate(
        &repo,
        &json!({ "summary": "The broker wants to be greeted before anything else", "wisdom": [
            { "category": "gotcha", "content": "The broker closes links that do not greet.", "file": "client.js", "anchor": "connect" },
            { "category": "dead_end", "content": "A version as text was refused.", "file": "client.js", "lines": { "start": 5, "end": 5 } },
        ]}),
    );
    repo
}

#[test]
fn a_reformatted_function_is_found() {
    let repo = client();
    let questions = [
        &["read", "client.js"][..],
        &["read", "client.js", "connect"],
        &["read", "client.js", "--lines", "9:9"],
    ];
    repo.write("client.js", FORMATTED);
    let uncommitted = questions.map(|question| ask_both(&repo, question));
    insta::assert_snapshot!(uncommitted[0], @"
    ## client.js
    **Commit:** 9e90c9e (2 days ago) | **Confidence:** 0.86 (enhanced, gone) | gone, rewritten
    **Intent:** The broker wants to be greeted before anything else
    - gotcha (lines 3-14, changed, connect, 0.94, 9e90c9e, 2 days): The broker closes links that do not greet.
    - dead_end (lines 9-11, changed, connect, 0.94, 9e90c9e, 2 days): A version as text was refused.
    ");
    insta::assert_snapshot!(uncommitted[2], @"
    ## client.js
    - gotcha (lines 3-14, changed, connect, 0.94, 9e90c9e, 2 days): The broker closes links that do not greet.
    - dead_end (lines 9-11, changed, connect, 0.94, 9e90c9e, 2 days): A version as text was refused.
    ");
    repo.commit("format");
    let committed = questions.map(|question| ask_both(&repo, question));
    insta::assert_snapshot!(committed[1], @"
    ## client.js
    - gotcha (lines 3-14, changed, connect, 0.94, 9e90c9e, 2 days, 1 commit since): The broker closes links that do not greet.
    - dead_end (lines 9-11, changed, connect, 0.94, 9e90c9e, 2 days, 1 commit since): A version as text was refused.
    ");
    // It is followed from there, too.
    repo.write("client.js", format!("// The client.\n{FORMATTED}"));
    insta::assert_snapshot!(ask_both(&repo, &["read", "client.js", "connect"]), @"
    ## client.js
    - gotcha (lines 4-15, changed, connect, 0.94, 9e90c9e, 2 days, 1 commit since): The broker closes links that do not greet.
    - dead_end (lines 10-12, changed, connect, 0.94, 9e90c9e, 2 days, 1 commit since): A version as text was refused.
    ");
}

#[test]
fn a_name_alone_brings_nothing_back() {
    let repo = client();
    let rewritten = "export function connect(url) {\n  return pool.take(url, { wait: true })\n}\n";
    repo.write("client.js", rewritten);
    insta::assert_snapshot!(ask_both(&repo, &["read", "client.js", "connect"]), @"
    ## client.js
    - gotcha (gone, rewritten, about this item, connect, 0.88, 9e90c9e, 2 days): The broker closes links that do not greet.
    - dead_end (gone, rewritten, about this item, connect, 0.88, 9e90c9e, 2 days): A version as text was refused.
    ");
    repo.commit("other words");
    insta::assert_snapshot!(ask_both(&repo, &["read", "client.js", "connect"]), @"
    ## client.js
    - gotcha (gone since 8cd96e0, rewritten, about this item, connect, 0.88, 9e90c9e, 2 days, 1 commit since): The broker closes links that do not greet.
    - dead_end (gone since 8cd96e0, rewritten, about this item, connect, 0.88, 9e90c9e, 2 days, 1 commit since): A version as text was refused.
    ");
    // Lines that are nearly as they were are there whatever the name is; the rest of the function is not.
    for (content, why) in [
        (FORMATTED.replace("connect(", "conect("), "nearly that name"),
        (format!("{FORMATTED}\nfunction connect() {{}}\n"), "two of that name"),
    ] {
        repo.write("client.js", content);
        let answer = ask_both(&repo, &["read", "client.js"]);
        assert!(answer.contains("gotcha (lines 8-13, changed"), "{why}: {answer}");
        repo.commit(why);
        let answer = ask_both(&repo, &["read", "client.js"]);
        assert!(answer.contains("gotcha (lines 8-13, changed"), "{why}: {answer}");
    }
}

/// Somebody who relies on `connect`.
fn relied_on(client: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("client.js", client);
    repo.write("ui.js", "function draw() {\n  connect(broker)\n}\n");
    repo.commit("client: connect");
    annotate(
        &repo,
        &json!({ "summary": "The screen is drawn when the broker was greeted", "wisdom": [
            { "category": "gotcha", "content": "Nothing is drawn before the greeting.", "file": "ui.js", "anchor": "draw",
              "depends_on": [{ "file": "client.js", "anchor": "connect", "nature": "greets before it returns" }] },
        ]}),
    );
    repo
}

#[test]
fn who_relied_on_a_function_is_found_under_its_new_name_and_layout() {
    let repo = relied_on(CLIENT);
    for (content, why) in [
        (FORMATTED.replace("connect(", "dial("), "another name and layout"),
        // One line that stands alone elsewhere is no proof that the function went there.
        (
            format!("function other() {{\n  return link }}\n{}", FORMATTED.replace("connect(", "dial(")),
            "a line elsewhere",
        ),
    ] {
        repo.write("client.js", content);
        repo.commit(why);
        let answer = ask_both(&repo, &["deps", "client.js", "dial"]);
        assert!(answer.contains("`ui.js — draw` on connect: greets before it returns"), "{why}: {answer}");
        let answer = ask_both(&repo, &["deps", "client.js", "close"]);
        assert!(answer.starts_with("nothing declares to rely on it"), "{why}: {answer}");
    }
}

#[test]
fn a_function_that_was_there_before_is_not_a_renamed_one() {
    let sibling = FORMATTED.replace("connect(", "dial(").replace("tcp", "udp");
    let repo = relied_on(&format!("{CLIENT}{sibling}"));
    repo.write("client.js", sibling);
    repo.commit("client: datagrams only");
    let answer = ask_both(&repo, &["deps", "client.js", "dial"]);
    assert!(answer.starts_with("nothing declares to rely on it"), "{answer}");
}
