//! Items of files: listed, and found for lessons when they are written.

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    asking::{POOL, annotate, annotate_commit, ask, ask_both, pool},
    outcome::note,
};

#[test]
fn an_outline() {
    let repo = pool();
    insta::assert_snapshot!(ask(&repo, &["outline", "src/pool.rs"]), @"
    ## src/pool.rs
    - struct Pool (lines 3-5): `pub struct Pool`
    - impl Pool (lines 7-18): `impl Pool`
    - method Pool::acquire (lines 8-13): `pub fn acquire(&mut self) -> Option<u32>`
    - method Pool::release (lines 15-17): `pub fn release(&mut self, id: u32)`
    ");
    repo.write("src/pool.rs", "fn other() {}\n");
    insta::assert_snapshot!(ask(&repo, &["outline", "src/pool.rs"]), @"
    ## src/pool.rs
    - function other (lines 1-1): `fn other()`
    ");
    insta::assert_snapshot!(ask(&repo, &["outline", "src/pool.rs", "--at", "HEAD", "--format", "json"]), @r#"{"schema":"chronicle-outline/v1","file":"src/pool.rs","commit":"fef35540fcc7ada9701a137c7141130d18752df8","items":[{"kind":"struct","name":"Pool","lines":{"start":3,"end":5},"signature":"pub struct Pool"},{"kind":"impl","name":"Pool","lines":{"start":7,"end":18},"signature":"impl Pool"},{"kind":"method","name":"Pool::acquire","lines":{"start":8,"end":13},"signature":"pub fn acquire(&mut self) -> Option<u32>"},{"kind":"method","name":"Pool::release","lines":{"start":15,"end":17},"signature":"pub fn release(&mut self, id: u32)"}],"warnings":[]}"#);
}

#[test]
fn an_outline_of_what_has_none() {
    let repo = TestRepo::new();
    repo.write("notes.xyz", "words\n");
    repo.write("empty.rs", "");
    repo.write("logo.rs", b"\0\x01\x02fn x() {}");
    repo.write("broken.rs", "fn whole() {}\nfn half( {\n");
    repo.commit("start");
    insta::assert_snapshot!(ask(&repo, &["outline", "notes.xyz"]), @"warning: No tree-sitter grammar for xyz. Anchor resolution unavailable.");
    insta::assert_snapshot!(ask(&repo, &["outline", "empty.rs"]), @"the file has no named items");
    insta::assert_snapshot!(ask(&repo, &["outline", "broken.rs"]), @"
    ## broken.rs
    - function whole (lines 1-1): `fn whole()`
    ");
    ask(&repo, &["outline", "logo.rs"]);
    insta::assert_snapshot!(ask(&repo, &["outline", "."]), @"
    error: `.` is a directory; name one file
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["outline", "never.rs"]), @"
    error: File not found: never.rs. Does it exist at HEAD?
    hint: paths are taken from the current directory, then from the root
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&repo, &["outline", "broken.rs", "--at", "--output=x"]), @"
    error: unknown revision `--output=x`: it names no commit
    hint: name a commit, branch or tag; `git log` lists commits
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&repo, &["outline", "broken.rs", "--at", "nope", "--format", "json"]), @r#"
    {"schema":"chronicle-error/v1","error":{"code":"unknown_revision","message":"unknown revision `nope`: it names no commit","hint":"name a commit, branch or tag; `git log` lists commits"}}
    [exit 1]
    "#);
}

#[test]
fn an_item_that_is_named_gives_its_lines() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.write("notes.xyz", "words\n");
    repo.commit("pool: start");
    insta::assert_snapshot!(annotate(&repo, &json!({ "summary": "The pool is small on purpose, see the benchmark", "wisdom": [
        { "category": "gotcha", "content": "A bare name is enough where it is the only one.", "file": "pool.rs", "anchor": "acquire" },
        { "category": "gotcha", "content": "A slip is not guessed at, but the name is offered.", "file": "pool.rs", "anchor": "Pool.aquire" },
        { "category": "gotcha", "content": "What is not there at all is stored without lines.", "file": "pool.rs", "anchor": "Stack::push\u{1b}[31m" },
        { "category": "gotcha", "content": "Here no item is known, and the name stays as it is.", "file": "notes.xyz", "anchor": "chapter" },
    ], "regions": [{ "file": "pool.rs", "anchor": { "unit_type": "method", "name": "Pool::release" }, "intent": "Gives an id back" }]})), @"
    Stored on 5f20200 pool: start
    **Summary:** The pool is small on purpose, see the benchmark
    - gotcha (pool.rs, lines 8-13, Pool::acquire): A bare name is enough where it is the only one.
    - gotcha (pool.rs, Pool.aquire): A slip is not guessed at, but the name is offered.
    - gotcha (pool.rs, Stack::push): What is not there at all is stored without lines.
    - gotcha (notes.xyz, chapter): Here no item is known, and the name stays as it is.

    ### pool.rs — Pool::release (lines 15-17)
    `pub fn release(&mut self, id: u32)`
    **Intent:** Gives an id back
    warning: control characters were removed from 1 texts
    warning: `Pool.aquire` names nothing in `pool.rs`, so the lesson was stored without lines; closest are `Pool::acquire`
    warning: `Stack::push` names nothing in `pool.rs`, so the lesson was stored without lines; closest are `Pool`, `Pool::acquire`, `Pool::release`
    warning: No tree-sitter grammar for xyz. Anchor resolution unavailable.
    ");
    let stored = note(&repo, "HEAD");
    let sketches: Vec<bool> = stored["wisdom"]
        .as_array()
        .expect("there are lessons")
        .iter()
        .map(|entry| entry["sketch"].is_string())
        .collect();
    assert_eq!(sketches, [true, false, false, false]);
    assert_eq!(stored["wisdom"][0]["anchor"]["signature"], "pub fn acquire(&mut self) -> Option<u32>");
}

#[test]
fn the_words_of_a_note_of_unknown_origin_become_the_users_when_said_again() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    let commit = repo.commit("pool: start");
    let lesson = json!({ "category": "gotcha", "content": "Never block in here, the UI waits.", "file": "pool.rs", "lines": { "start": 10, "end": 11 } });
    let stored = json!({ "schema": "chronicle/v3", "commit": commit, "timestamp": testkit::DATE, "summary": "As an older release stored it, without names",
        "wisdom": [lesson], "provenance": { "source": "live", "author": "Ada" } });
    repo.put_note("chronicle", "HEAD", stored.to_string().as_bytes());
    annotate(
        &repo,
        &json!({ "summary": "As an older release stored it, without names", "wisdom": [lesson] }),
    );
    let own = |again: &str| {
        let read = ask(&repo, &["read", "pool.rs", "--format=json"]);
        let read: Value = serde_json::from_str(&read).expect("it is JSON");
        let tiers = read["wisdom"].as_array().expect("a list").iter().map(|item| item["tier"].clone());
        assert_eq!(tiers.collect::<Vec<_>>(), ["own", "unknown"], "{again}");
    };
    own("once");
    // What is the user's already is known, though its item was found only when it was stored.
    annotate(
        &repo,
        &json!({ "summary": "As an older release stored it, without names", "wisdom": [lesson] }),
    );
    own("again");
}

#[test]
fn a_staged_remark_gets_its_item_when_it_is_bound() {
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn first() {}\n");
    repo.commit("pool: start");
    repo.write("pool.rs", POOL);
    ask(&repo, &["note", "Never block in here, the UI waits.", "--file", "pool.rs", "--lines", "10:11"]);
    repo.commit("pool: grow");
    annotate(&repo, &json!({ "summary": "The pool is a type of its own now, with methods" }));
    let stored = note(&repo, "HEAD");
    assert_eq!(stored["wisdom"][0]["anchor"]["name"], "Pool::acquire");
}

#[test]
fn history_of_one_item() {
    let repo = pool();
    let commit = repo.git(&["rev-parse", "HEAD"]);
    repo.write("src/pool.rs", POOL.replace("self.free.push(id);", "self.free.insert(0, id);"));
    repo.commit("pool: give back at the front");
    annotate(
        &repo,
        &json!({ "summary": "First in, first out: ids rest before they are used again",
        "wisdom": [{ "category": "gotcha", "content": "Inserting at the front moves all ids; fine below a thousand.", "file": "src/pool.rs",
            "related": [{ "commit": commit, "anchor": "Pool::acquire", "relationship": "takes from the other end" }] }] }),
    );
    insta::assert_snapshot!(ask(&repo, &["history", "src/pool.rs", "Pool::release"]), @"
    ## fef3554 pool: hand out ids (2 days ago)
    Ids are reused last in, first out: the newest is warm in the cache
    - dead_end (lines 16-16, changed, Pool::release, 1.00, fef3554, 2 days, 1 commit since): A lock-free stack was slower below eight threads.

    ## 3fa1632 pool: give back at the front (2 days ago)
    First in, first out: ids rest before they are used again
    - gotcha (lines 16-16, intact, Pool::release, 1.00, 3fa1632, 2 days): Inserting at the front moves all ids; fine below a thousand.
      - related: fef3554 Pool::acquire (takes from the other end): The UI thread calls this; it must never block.
    ");
    insta::assert_snapshot!(ask(&repo, &["history", "src/pool.rs", "--anchor", "acquire"]), @"
    ## fef3554 pool: hand out ids (2 days ago)
    Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 8-13, intact, Pool::acquire, 1.00, fef3554, 2 days, 1 commit since): The UI thread calls this; it must never block.
    ");
    insta::assert_snapshot!(ask(&repo, &["history", "src/pool.rs", "--limit", "1"]), @"
    ## 3fa1632 pool: give back at the front (2 days ago)
    First in, first out: ids rest before they are used again
    - gotcha (lines 16-16, intact, Pool::release, 1.00, 3fa1632, 2 days): Inserting at the front moves all ids; fine below a thousand.
      - related: fef3554 Pool::acquire (takes from the other end): The UI thread calls this; it must never block.
    1 older annotated commits left out; raise --limit
    ");
    insta::assert_snapshot!(ask(&repo, &["history", "src/pool.rs", "nothing"]), @"
    error: `nothing` names nothing in `src/pool.rs`; closest are `Pool`, `Pool::acquire`, `Pool::release`
    hint: `git chronicle outline FILE` lists what the file has
    [exit 1]
    ");
}

#[test]
fn schemas_of_the_answers() {
    let repo = TestRepo::new();
    for name in ["deps-output", "summary-output", "why-output", "check-output", "outline-output"] {
        let schema: Value = serde_json::from_str(&ask(&repo, &["schema", name])).expect("a schema is JSON");
        assert!(schema["properties"]["schema"].is_object(), "{name}");
    }
}

#[test]
fn a_reading_of_one_item() {
    let repo = pool();
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "Pool::acquire"]), @"
    ## src/pool.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 8-13, intact, Pool::acquire, 1.00, fef3554, 2 days): The UI thread calls this; it must never block.
    - insight (whole file, 0.88, fef3554, 2 days): One pool for each process is enough.

    **Dependencies on this:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554)
    ");
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "release"]), @"
    ## src/pool.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - dead_end (lines 16-16, intact, Pool::release, 1.00, fef3554, 2 days): A lock-free stack was slower below eight threads.
    - insight (whole file, 0.88, fef3554, 2 days): One pool for each process is enough.

    **Cross-cutting:**
    - Ids are never zero (`src/pool.rs:Pool::release`, `src/ui.rs:draw`; fef3554)
    ");
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "aquire"]), @"
    ## src/pool.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 8-13, intact, Pool::acquire, 1.00, fef3554, 2 days): The UI thread calls this; it must never block.
    - insight (whole file, 0.88, fef3554, 2 days): One pool for each process is enough.

    **Dependencies on this:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554)
    warning: `aquire` is not in `src/pool.rs`; taken as `Pool::acquire`
    ");
    // The same with another signature, then under another name.
    repo.write("src/pool.rs", POOL.replace("fn acquire(&mut self)", "fn acquire(&mut self, n: u32)"));
    repo.commit("pool: count");
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "acquire"]), @"
    ## src/pool.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 8-13, changed, Pool::acquire, 0.94, fef3554, 2 days, 1 commit since): The UI thread calls this; it must never block.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.

    **Dependencies on this:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554)
    ");
    repo.write("src/pool.rs", POOL.replace("fn acquire(&mut self)", "fn take(&mut self)"));
    repo.commit("pool: rename");
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "take"]), @"
    ## src/pool.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago, 2 commits since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 8-13, changed, Pool::acquire, 0.94, fef3554, 2 days, 2 commits since): The UI thread calls this; it must never block.
    - insight (whole file, 0.88, fef3554, 2 days, 2 commits since): One pool for each process is enough.

    **Dependencies on this:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554)
    ");
}

#[test]
fn an_item_that_cannot_be_asked_for() {
    let repo = pool();
    let answers = [
        &["read", "src/pool.rs", "zzz"][..],
        &["read", "src/pool.rs", "--anchor", "src/ui.rs"],
        &["read", "src/pool.rs", "acquire", "--lines", "1:2"],
        &["read", "src/pool.rs", "src/ui.rs", "acquire"],
        &["read", "src", "acquire"],
        &["read", "zzz", "acquire"],
        &["read", "src/pool.rs", "$(rm -rf /); `x` \u{1b}[31m"],
    ]
    .map(|args| format!("$ {}\n{}", args.join(" ").escape_debug(), ask(&repo, args)));
    insta::assert_snapshot!(answers.join(""), @r#"
    $ read src/pool.rs zzz
    error: `zzz` names nothing in `src/pool.rs`; closest are `Pool`, `Pool::acquire`, `Pool::release`
    hint: `git chronicle outline FILE` lists what the file has
    [exit 1]
    $ read src/pool.rs --anchor src/ui.rs
    error: `src/ui.rs` names nothing in `src/pool.rs`; closest are `Pool`, `Pool::acquire`, `Pool::release`
    hint: `git chronicle outline FILE` lists what the file has
    [exit 1]
    $ read src/pool.rs acquire --lines 1:2
    error: --lines and an anchor exclude each other
    [exit 2]
    $ read src/pool.rs src/ui.rs acquire
    error: `acquire` isn't a file; to name an item of code, put its file before it
    hint: paths are taken from the current directory, then from the root
    [exit 2]
    $ read src acquire
    error: `acquire` isn't a file; to name an item of code, put its file before it
    hint: paths are taken from the current directory, then from the root
    [exit 2]
    $ read zzz acquire
    error: File not found: zzz. Does it exist at HEAD?
    hint: paths are taken from the current directory, then from the root
    [exit 1]
    $ read src/pool.rs $(rm -rf /); `x` \u{1b}[31m
    error: File not found: $(rm -rf /); `x` \u{1b}[31m. Does it exist at HEAD?
    hint: paths are taken from the current directory, then from the root
    [exit 1]
    "#);
}

const CLIENT: &str = "class Client:
    def connect(self, host):
        self.link = dial(host)
        self.link.greet(\"hello\")

    def shutdown(self):
        self.link.hang_up()
";

#[test]
fn a_name_that_only_notes_know() {
    let repo = TestRepo::new();
    repo.write("a.py", CLIENT);
    repo.write("ui.py", "def draw():\n    client.connect(BROKER)\n");
    repo.commit("client: connect");
    annotate(
        &repo,
        &json!({ "summary": "The broker wants to be greeted before anything else", "wisdom": [
            { "category": "dead_end", "content": "Greeting later was tried; the broker hangs up.", "file": "a.py", "anchor": "connect" },
            { "category": "insight", "content": "One link for each process is enough.", "file": "a.py" },
            { "category": "gotcha", "content": "Drawing waits for the greeting.", "file": "ui.py", "anchor": "draw",
              "depends_on": [{ "file": "a.py", "anchor": "Client.greet", "nature": "says hello once" }] },
        ]}),
    );
    repo.write("a.py", "class Client:\n    def shutdown(self):\n        self.link.hang_up()\n");
    let uncommitted = ask_both(&repo, &["read", "a.py", "connect"]);
    insta::assert_snapshot!(uncommitted, @"
    ## a.py
    - insight (whole file, 0.88, bfb7408, 2 days): One link for each process is enough.
    - dead_end (gone, deleted, Client.connect, 0.86, bfb7408, 2 days): Greeting later was tried; the broker hangs up.
    warning: `connect` names nothing in `a.py`; closest are `Client`, `Client.shutdown`
    ");
    repo.commit("client: the pool connects");
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.py", "connect"]), @"
    ## a.py
    - insight (whole file, 0.88, bfb7408, 2 days, 1 commit since): One link for each process is enough.
    - dead_end (gone since 503bde7, deleted, Client.connect, 0.86, bfb7408, 2 days, 1 commit since): Greeting later was tried; the broker hangs up.
    warning: `connect` names nothing in `a.py`; closest are `Client`, `Client.shutdown`
    ");
    insta::assert_snapshot!(ask_both(&repo, &["summary", "a.py", "Client.connect"]), @"
    ## a.py
    - Client.connect [bfb7408, 2 days, 0.86]
      - dead end: Greeting later was tried; the broker hangs up.
    warning: `Client.connect` names nothing in `a.py`; closest are `Client`, `Client.shutdown`
    ");
    insta::assert_snapshot!(ask_both(&repo, &["history", "a.py", "connect"]), @"
    ## bfb7408 client: connect (2 days ago)
    - dead_end (gone since 503bde7, deleted, Client.connect, 0.86, bfb7408, 2 days, 1 commit since): Greeting later was tried; the broker hangs up.
    warning: `connect` names nothing in `a.py`; closest are `Client`, `Client.shutdown`
    ");
    // Somebody relies on it, and nobody says more.
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.py", "greet", "--category", "gotcha"]), @"
    warning: `greet` names nothing in `a.py`; closest are `Client`, `Client.shutdown`
    nothing that fits is known about `a.py`: of 2 commits that changed it and others that name it, 1 is annotated
    ");
    insta::assert_snapshot!(ask_both(&repo, &["deps", "a.py", "greet"]), @"
    ## a.py — greet
    **Declared to rely on it:**
    - `ui.py — draw` on Client.greet: says hello once (0.86, bfb7408, 2 days)
    warning: `greet` names nothing in `a.py`; closest are `Client`, `Client.shutdown`
    ");
    let unknown = "closest are";
    for command in ["read", "summary", "history", "deps"] {
        for name in ["CONNECT", "Other::connect", "zzzzzz"] {
            let answer = ask_both(&repo, &[command, "a.py", name]);
            assert!(answer.starts_with("error: ") && answer.contains(unknown), "{command} {name}: {answer}");
            assert!(answer.ends_with("[exit 1]\n"), "{command} {name}: {answer}");
        }
    }
    // A guess does not hide what is known of the very name.
    repo.write("a.py", "class Client:\n    def reconnect(self):\n        self.link.hang_up()\n");
    repo.commit("client: reconnect");
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.py", "connect"]), @"
    ## a.py (lines 1-3)
    **Commit:** bfb7408 (2 days ago, 2 commits since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** The broker wants to be greeted before anything else
    - insight (whole file, 0.88, bfb7408, 2 days, 2 commits since): One link for each process is enough.
    - dead_end (gone since 503bde7, rewritten, Client.connect, 0.86, bfb7408, 2 days, 2 commits since): Greeting later was tried; the broker hangs up.

    **Dependencies on this:**
    - `ui.py — draw` on Client.greet: says hello once (0.86, bfb7408)
    warning: `connect` is not in `a.py`; taken as `Client.reconnect`
    ");
}

#[test]
fn what_was_said_of_code_comes_with_it_to_another_file() {
    let repo = TestRepo::new();
    let connect = "    def connect(self, host):\n        self.link = dial(host)\n        self.link.greet(\"hello\")\n        return self.link\n";
    let shutdown = "    def shutdown(self):\n        self.link.hang_up()\n";
    let rest = "class Client:\n    name = 'client'\n    port = 1883\n    link = None\n    retries = 3\n\n";
    repo.write("a.py", [rest, connect, "\n", shutdown].concat());
    repo.write("ui.py", "def draw():\n    client.connect(BROKER)\n");
    repo.commit("client: connect");
    annotate(
        &repo,
        &json!({ "summary": "The broker wants to be greeted before anything else", "wisdom": [
            { "category": "dead_end", "content": "Greeting later was tried; the broker hangs up.", "file": "a.py", "anchor": "Client.connect" },
            { "category": "gotcha", "content": "The name is not resolved here.", "file": "a.py", "lines": { "start": 9, "end": 9 } },
            { "category": "gotcha", "content": "Nobody waits for this.", "file": "a.py", "anchor": "shutdown" },
            { "category": "insight", "content": "Drawing waits for the greeting.", "file": "ui.py", "anchor": "draw",
              "depends_on": [{ "file": "a.py", "anchor": "Client.connect", "nature": "says hello once" }] },
        ]}),
    );
    assert!(ask(&repo, &["read", "a.py"]).contains("Greeting later"));
    repo.write("a.py", [rest, shutdown].concat());
    let moved =
        |name: &str| format!("import net\n\n\nclass {name}:\n{}", connect.replace("\"hello\"", "'hello'"));
    repo.write("net/b.py", moved("Client"));
    insta::assert_snapshot!(ask_both(&repo, &["read", "net/b.py", "connect"]), @"
    ## net/b.py
    - dead_end (lines 5-8, changed, Client.connect, 1.00, d6b67e1, 2 days): Greeting later was tried; the broker hangs up.
    - gotcha (lines 7-7, changed, Client.connect, 1.00, d6b67e1, 2 days): The name is not resolved here.
    warning: this code moved here from `a.py`; its lessons are included
    ");
    repo.commit("client: connect elsewhere");
    insta::assert_snapshot!(ask_both(&repo, &["read", "net/b.py", "connect"]), @"
    ## net/b.py
    - dead_end (lines 5-8, changed, Client.connect, 1.00, d6b67e1, 2 days, 1 commit since): Greeting later was tried; the broker hangs up.
    - gotcha (lines 7-7, changed, Client.connect, 1.00, d6b67e1, 2 days, 1 commit since): The name is not resolved here.
    warning: this code moved here from `a.py`; its lessons are included
    ");
    insta::assert_snapshot!(ask_both(&repo, &["deps", "net/b.py", "connect"]), @"
    ## net/b.py — connect
    **Declared to rely on it:**
    - `ui.py — draw` on Client.connect: says hello once (0.86, d6b67e1, 2 days)
    warning: this code moved here from `a.py`; its lessons are included
    ");
    // Once there is a table of it, too.
    std::fs::remove_dir_all(repo.path().join(".git/chronicle/facts")).unwrap();
    assert!(ask_both(&repo, &["read", "net/b.py", "connect"]).contains("Greeting later"));
    assert!(ask_both(&repo, &["read", "net/b.py", "--lines", "6:7"]).contains("Greeting later"));
    assert!(!ask_both(&repo, &["read", "net/b.py", "Client"]).contains("Nobody waits"));
    repo.git(&["rm", "--quiet", "a.py"]);
    repo.commit("client: all of it elsewhere");
    assert!(ask_both(&repo, &["read", "net/b.py", "connect"]).contains("Greeting later"));
    assert!(ask_both(&repo, &["deps", "net/b.py", "connect"]).contains("says hello once"));
    // Two of one name are two.
    repo.write("a.py", [rest, connect].concat());
    repo.commit("client: as it was");
    assert!(!ask_both(&repo, &["read", "net/b.py", "connect"]).contains("Greeting later"));
    repo.git(&["rm", "--quiet", "a.py"]);
    repo.write("net/b.py", "class Client:\n    def connect(self, tries):\n        for n in range(tries):\n            sleep(n)\n        raise Unreachable\n");
    repo.commit("client: something else of that name");
    assert!(!ask_both(&repo, &["read", "net/b.py", "connect"]).contains("Greeting later"));
}

#[test]
fn an_answer_counts_names_and_leaves_out_what_says_nothing() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.write("b.rs", "fn b() {}\n");
    let first = repo.commit("a and b");
    let lesson = |content: &str, tags: &[&str]| {
        json!({ "category": "insight", "file": "a.rs", "anchor": { "unit_type": "function", "name": "a" },
            "content": content, "tags": tags, "related": [{ "commit": first, "anchor": "a", "relationship": "see" }] })
    };
    annotate_commit(
        &repo,
        &first,
        &json!({ "summary": "Two", "wisdom": [lesson("a is one", &["one"]), lesson("a is two", &["two"])] }),
    );
    repo.write("a.rs", "fn a() {}\n\nfn c() {}\n");
    repo.commit("c");
    // A note that only names the file is no annotation of a commit that changed it.
    repo.write("b.rs", "fn b() {}\n\nfn d() {}\n");
    let third = repo.commit("d");
    annotate_commit(&repo, &third, &json!({ "summary": "d", "wisdom": [lesson("told later", &[])] }));

    let read = |args: &[&str]| {
        let asked = ask_both(&repo, &[&["read", "a.rs", "--format", "json"], args].concat());
        serde_json::from_str::<Value>(&asked).unwrap()
    };
    let all = read(&[]);
    assert_eq!(
        (&all["stats"]["commits_examined"], &all["stats"]["annotations_found"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(all["query"]["lines"], Value::Null);
    assert_eq!(all["wisdom"].as_array().unwrap().len(), 3);
    let of_first =
        all["wisdom"].as_array().unwrap().iter().find(|item| item["content"] == "a is one").unwrap();
    assert_eq!(of_first["related"], Value::Null, "it points to itself: {of_first}");
    let later =
        all["wisdom"].as_array().unwrap().iter().find(|item| item["content"] == "told later").unwrap();
    assert_eq!(later["related"][0]["intent"], "a is one");
    assert_eq!(read(&["c"])["query"]["lines"], json!([3, 3]));
    assert_eq!(read(&["--tags", "one, two"])["wisdom"].as_array().unwrap().len(), 2);
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.rs", "missing.rs"]), @"
    error: File not found: missing.rs. Does it exist at HEAD?
    hint: paths are taken from the current directory, then from the root
    [exit 1]
    ");
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.rs", "src/missing"]), @"
    error: File not found: src/missing. Does it exist at HEAD?
    hint: paths are taken from the current directory, then from the root
    [exit 1]
    ");

    let v1 = json!({ "schema": "chronicle/v1", "commit": third, "timestamp": testkit::DATE, "summary": " ",
        "context_level": "enhanced", "regions": [], "cross_cutting": [],
        "provenance": { "operation": "initial", "derived_from": [], "original_annotations_preserved": false } });
    let before = ask(&repo, &["read", "b.rs"]);
    assert_eq!(before.matches("**Intent:**").count(), 2, "{before}");
    repo.put_note("chronicle", &third, v1.to_string().as_bytes());
    let after = ask_both(&repo, &["read", "b.rs"]);
    assert_eq!(after.matches("**Intent:**").count(), 1, "{after}");
}
