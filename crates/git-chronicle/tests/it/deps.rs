//! Who relies on some code.

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::asking::{POOL, annotate, ask, ask_both, pool};

#[test]
fn everyone_who_relies_on_a_file() {
    insta::assert_snapshot!(ask(&pool(), &["deps", "src/pool.rs"]), @"
    ## src/pool.rs
    **Declared to rely on it:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    **Must change together with it:**
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    ");
}

#[test]
fn everyone_who_relies_on_an_item() {
    let repo = pool();
    insta::assert_snapshot!(ask(&repo, &["deps", "src/pool.rs", "Pool::release"]), @"
    ## src/pool.rs — Pool::release
    **Must change together with it:**
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    **Name it (weaker):**
    - `src/ui.rs — draw` on Pool::release: Look at `Pool::release` before giving ids back here. (0.86, fef3554, 2 days)
    ");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/pool.rs", "aquire", "--scan-limit", "1"]), @"
    ## src/pool.rs — aquire
    **Declared to rely on it:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    warning: --scan-limit is deprecated and has no effect: every annotation is looked at
    warning: `aquire` is not in `src/pool.rs`; taken as `Pool::acquire`
    ");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/ui.rs"]), @"
    ## src/ui.rs
    **Must change together with it:**
    - `src/pool.rs — Pool::release` on draw: Ids are never zero (0.86, fef3554, 2 days)
    ");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/pool.rs", "--anchor", "zzz"]), @"
    error: `zzz` names nothing in `src/pool.rs`; closest are `Pool`, `Pool::acquire`, `Pool::release`
    hint: `git chronicle outline FILE` lists what the file has
    [exit 1]
    ");
}

#[test]
fn what_relied_on_an_older_name_is_found() {
    let repo = pool();
    repo.write("src/pool.rs", POOL.replace("fn acquire", "fn take"));
    repo.commit("pool: rename acquire");
    repo.git(&["mv", "src/pool.rs", "src/ids.rs"]);
    repo.commit("pool: rename the file");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/ids.rs", "take"]), @"
    ## src/ids.rs — take
    **Declared to rely on it:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    ");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/pool.rs", "acquire"]), @"
    ## src/ids.rs — acquire
    **Declared to rely on it:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    warning: `src/pool.rs` was renamed to `src/ids.rs` by 7bdb6f7
    warning: `acquire` names nothing in `src/ids.rs`; closest are `Pool::take`, `Pool::release`, `Pool`
    ");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/ids.rs", "release"]), @"
    ## src/ids.rs — release
    **Must change together with it:**
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    **Name it (weaker):**
    - `src/ui.rs — draw` on Pool::release: Look at `Pool::release` before giving ids back here. (0.86, fef3554, 2 days)
    ");
}

#[test]
fn what_relied_on_code_that_is_gone_is_found() {
    let repo = pool();
    repo.write("src/pool.rs", "pub fn unrelated() {}\n");
    repo.commit("pool: start over");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/pool.rs", "Pool::acquire"]), @"
    ## src/pool.rs — Pool::acquire
    **Declared to rely on it:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    warning: `Pool::acquire` names nothing in `src/pool.rs`; closest are `unrelated`
    ");
    std::fs::remove_file(repo.path().join("src/pool.rs")).expect("it is there");
    repo.commit("pool: remove");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/pool.rs", "Pool::acquire"]), @"
    ## src/pool.rs — Pool::acquire
    **Declared to rely on it:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    warning: `src/pool.rs` was deleted by fb582c3
    ");
}

#[test]
fn another_file_of_the_same_name_is_not_meant() {
    let repo = TestRepo::new();
    repo.write("a/mod.rs", "fn open() {}\n");
    repo.write("b/mod.rs", "fn shut() {}\n");
    repo.commit("start");
    annotate(
        &repo,
        &json!({ "summary": "Two modules, one for each way of doing it", "wisdom": [
            { "category": "gotcha", "content": "Keep in step with mod.rs, whichever that is.", "file": "b/mod.rs" },
            { "category": "gotcha", "content": "Keep in step with a/mod.rs, or doors stay open.", "file": "b/mod.rs" },
        ]}),
    );
    let answer = ask(&repo, &["deps", "a/mod.rs"]);
    assert!(answer.contains("or doors stay open") && !answer.contains("whichever that is"), "{answer}");
}

#[test]
fn what_has_expired_is_relied_on_no_longer() {
    let repo = pool();
    repo.write("src/ui.rs", "fn draw() {\n    pool.acquire(); // twice\n}\n");
    repo.commit("ui: draw twice");
    let relying = |nature: &str, expires: &str| {
        json!({ "category": "gotcha", "content": format!("Until {expires} the pool.rs beside this {nature}."), "file": "src/ui.rs",
            "anchor": "draw", "expires": expires, "depends_on": [{ "file": "src/pool.rs", "nature": nature }] })
    };
    let wisdom =
        [relying("is for one thread", "2026-03-03T17:00:00Z"), relying("is small", "2026-03-03T19:00:00Z")];
    annotate(&repo, &json!({ "summary": "The pool will be shared in March", "wisdom": wisdom }));
    insta::assert_snapshot!(ask(&repo, &["deps", "src/pool.rs"]), @"
    ## src/pool.rs
    **Declared to rely on it:**
    - `src/ui.rs — draw`: is small (0.86, 0fd8835, 2 days)
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    **Must change together with it:**
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    ");
    for args in [&["check", "HEAD~1..HEAD"][..], &["read", "src/pool.rs"]] {
        let answer = ask(&repo, args);
        assert!(!answer.contains("is for one thread"), "{args:?}: {answer}");
    }
}

#[test]
fn older_forms_declare_too() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.write("ui.rs", "fn draw() {}\n");
    let commit = repo.commit("start");
    let v1 = json!({ "schema": "chronicle/v1", "commit": commit, "timestamp": testkit::DATE, "summary": "old",
        "regions": [{ "file": "ui.rs", "ast_anchor": { "unit_type": "function", "name": "draw" }, "lines": { "start": 1, "end": 1 }, "intent": "Draws",
            "semantic_dependencies": [{ "file": "pool.rs", "anchor": "acquire", "nature": "is quick" }] }] });
    repo.put_note("chronicle", "HEAD", v1.to_string().as_bytes());
    repo.write("ui.rs", "fn draw() { }\n");
    let commit = repo.commit("space");
    let v2 = json!({ "schema": "chronicle/v2", "commit": commit, "timestamp": testkit::DATE, "narrative": { "summary": "old too" },
        "markers": [{ "file": "ui.rs", "kind": { "type": "dependency", "target_file": "pool.rs", "target_anchor": "Pool::acquire", "assumption": "never waits" } }] });
    repo.put_note("chronicle", "HEAD", v2.to_string().as_bytes());
    let answer: Value =
        serde_json::from_str(&ask(&repo, &["deps", "pool.rs", "acquire", "--format", "json"]))
            .expect("it is JSON");
    let said: Vec<_> = answer["dependents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| (&item["strength"], &item["nature"]))
        .collect();
    assert_eq!(said.len(), 2, "{answer:#}");
    assert!(said.iter().all(|(strength, _)| *strength == "declared"), "{answer:#}");
}

#[test]
fn bad_questions() {
    let repo = pool();
    insta::assert_snapshot!(ask(&repo, &["deps", "src"]), @"
    error: `src` is a directory; name one file
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["deps", "../outside.rs"]), @"
    error: `../outside.rs` is outside the repository
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/never\u{1b}[31m.rs"]), @r"
    error: File not found: src/never\u{1b}[31m.rs. Does it exist at HEAD?
    hint: paths are taken from the current directory, then from the root
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&repo, &["deps", "src/pool.rs", "$(reboot)\u{1b}[2J", "--format", "json"]), @r#"
    {"schema":"chronicle-error/v1","error":{"code":"unknown_anchor","message":"`$(reboot)\u001b[2J` names nothing in `src/pool.rs`; closest are `Pool`, `Pool::acquire`, `Pool::release`","hint":"`git chronicle outline FILE` lists what the file has"}}
    [exit 1]
    "#);
    insta::assert_snapshot!(ask(&TestRepo::new(), &["deps", "pool.rs"]), @"
    error: the repository has no commits yet
    hint: commit something first; Chronicle reads committed code
    [exit 1]
    ");
}

#[test]
fn those_who_rely_on_it_have_the_names_that_they_have_now() {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", POOL);
    for name in ["gone", "old", "same"] {
        repo.write(
            format!("src/{name}.rs"),
            format!("fn {name}() {{\n    pool.acquire();\n    use_{name}();\n}}\n"),
        );
    }
    repo.commit("pool: start");
    let lesson = |name: &str| {
        json!({ "category": "gotcha", "content": format!("Frames of {name} are dropped when this waits."), "file": format!("src/{name}.rs"), "anchor": name,
            "depends_on": [{ "file": "src/pool.rs", "anchor": "Pool::acquire", "nature": format!("{name} never waits") }] })
    };
    annotate(
        &repo,
        &json!({ "summary": "A pool", "wisdom": [lesson("gone"), lesson("old"), lesson("same")] }),
    );
    repo.git(&["mv", "src/old.rs", "src/new.rs"]);
    repo.git(&["rm", "--quiet", "src/gone.rs"]);
    repo.commit("pool: fewer users");
    insta::assert_snapshot!(ask_both(&repo, &["deps", "src/pool.rs"]), @"
    ## src/pool.rs
    **Declared to rely on it:**
    - `src/new.rs — old` on Pool::acquire: old never waits (0.86, cea5034, 2 days)
    - `src/same.rs — same` on Pool::acquire: same never waits (0.86, cea5034, 2 days)
    **In files that were deleted:**
    - `src/gone.rs — gone` (deleted) on Pool::acquire: gone never waits (0.86, cea5034, 2 days)
    ");
    let read = ask_both(&repo, &["read", "src/pool.rs", "acquire"]);
    let read = read.split_once("**Dependencies on this:**\n").expect("there are some").1;
    insta::assert_snapshot!(read, @"
    - `src/new.rs — old` on Pool::acquire: old never waits (0.86, cea5034)
    - `src/same.rs — same` on Pool::acquire: same never waits (0.86, cea5034)
    - `src/gone.rs — gone` (deleted) on Pool::acquire: gone never waits (0.86, cea5034)
    ");
    repo.write("src/pool.rs", POOL.replace("trace(id);", "log(id);"));
    let check = ask(&repo, &["check"]);
    insta::assert_snapshot!(check.split_once("**Rely on what is changed:**\n").expect("there are some").1, @"
    - `src/new.rs — old` on Pool::acquire: old never waits (0.86, cea5034, 2 days)
    - `src/same.rs — same` on Pool::acquire: same never waits (0.86, cea5034, 2 days)
    - `src/gone.rs — gone` (deleted) on Pool::acquire: gone never waits (0.86, cea5034, 2 days)
    ");
    let answer: Value =
        serde_json::from_str(&ask(&repo, &["deps", "src/pool.rs", "--format", "json"])).expect("it is JSON");
    let dependents = answer["dependents"].as_array().expect("there are some").iter();
    let names = |dependent: &Value| {
        ["from_file", "from_file_recorded", "from_is_deleted"].map(|key| dependent[key].clone())
    };
    let expected = [
        [json!("src/new.rs"), json!("src/old.rs"), json!(null)],
        [json!("src/same.rs"), json!(null), json!(null)],
        [json!("src/gone.rs"), json!(null), json!(true)],
    ];
    assert_eq!(dependents.map(names).collect::<Vec<_>>(), expected);
}
