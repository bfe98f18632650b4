//! What users read, word for word.

use serde_json::json;
use testkit::TestRepo;

use crate::outcome::{binary, contents, run};

/// Two days and a bit after the commits of the test repositories.
const NOW: &str = "2026-03-03T18:00:00Z";

fn chronicle(repo: &TestRepo, args: &[&str]) -> String {
    let mut command = testkit::command(crate::outcome::program(), repo.path());
    let output = command.args(args).env("CHRONICLE_NOW", NOW).output().expect("the binary runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("answers are UTF-8")
}

/// Annotates HEAD as if at the time of the commit.
fn annotate(repo: &TestRepo, annotation: &serde_json::Value) {
    let mut command = testkit::command(crate::outcome::program(), repo.path());
    let output = command
        .args(["annotate", "--json", &annotation.to_string()])
        .env("CHRONICLE_NOW", testkit::DATE)
        .output();
    assert!(output.expect("the binary runs").status.success());
}

const POOL: &str = "use std::sync::Mutex;

pub fn acquire(pool: &Mutex<Vec<u32>>) -> Option<u32> {
    pool.lock().ok()?.pop()
}

pub fn release(pool: &Mutex<Vec<u32>>, id: u32) {
    if let Ok(mut free) = pool.lock() {
        free.push(id);
    }
}
";

/// A pool whose lessons lie on code that has since moved, changed, gone and been renamed.
fn pool() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: hand out ids");
    let lesson = |category: &str, content: &str, start: u32, end: u32| json!({ "category": category, "content": content, "file": "pool.rs", "lines": { "start": start, "end": end } });
    annotate(
        &repo,
        &json!({
            "summary": "Ids are reused last in, first out: the newest is warm in the cache",
            "wisdom": [
                lesson("gotcha", "The UI thread calls this; never block.", 3, 5),
                lesson("dead_end", "A lock-free stack was slower below eight threads.", 8, 10),
                json!({ "category": "insight", "content": "Double release is not detected.", "file": "pool.rs", "tags": ["safety"] }),
            ],
            "regions": [{ "file": "pool.rs", "ast_anchor": { "type": "function", "name": "release" }, "lines": { "start": 7, "end": 11 },
                "intent": "Take an id back", "reasoning": "A poisoned lock means that the process is going down anyway. So it is ignored.",
                "constraints": [{ "text": "Never panics", "source": "author" }, "May be called twice"], "risk_notes": "Leaks ids when poisoned.",
                "semantic_dependencies": [{ "file": "main.rs", "anchor": "main", "nature": "one pool for each process" }], "tags": ["lock"] }],
            "cross_cutting": [{ "description": "Ids are never zero", "regions": ["pool.rs:acquire", "main.rs:main"] }],
            "knowledge": [],
        }),
    );
    repo.write("main.rs", "fn main() {}\n");
    repo.commit_at("main: start", "2026-03-01T13:00:00Z");
    annotate(
        &repo,
        &json!({
            "summary": "The process has one pool, made before any thread",
            "wisdom": [{ "category": "insight", "content": "Threads start after the pool is filled.", "file": "main.rs",
                "depends_on": [{ "file": "pool.rs", "anchor": "acquire", "nature": "assumes that it never waits" }] }],
        }),
    );
    let changed =
        POOL.replace("use std::sync::Mutex;\n", "//! A pool of ids.\n\nuse std::sync::Mutex;\n").replace(
            "    if let Ok(mut free) = pool.lock() {\n        free.push(id);\n    }\n",
            "    pool.lock().map_or((), |mut all| all.push(id));\n",
        );
    repo.git(&["mv", "pool.rs", "id_pool.rs"]);
    repo.write("id_pool.rs", changed);
    repo.commit_at("pool: say what is pooled", "2026-03-02T12:00:00Z");
    repo
}

#[test]
fn a_reading_for_a_model() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "id_pool.rs"]), @"
    ## id_pool.rs — release (lines 9-11)
    **Commit:** 5083cd1 (2 days ago, 1 commit since) | **Confidence:** 1.00 (enhanced, exact anchor)
    **Intent:** Take an id back
    **Reasoning:** A poisoned lock means that the process is going down anyway. So it is ignored.
    **Constraints:**
    - [author] Never panics
    - May be called twice
    **Risk:** Leaks ids when poisoned.
    **Depends on:**
    - `main.rs — main`: one pool for each process
    **Tags:** lock
    - dead_end (gone since 6efd8b2, rewritten, about this item, release, 0.88, 5083cd1, 2 days, 1 commit since): A lock-free stack was slower below eight threads.

    ## id_pool.rs (lines 3-9)
    **Commit:** 5083cd1 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - insight (whole file, 0.88, 5083cd1, 2 days, 1 commit since): Double release is not detected.
      - tags: safety

    **Dependencies on this:**
    - `main.rs` on acquire: assumes that it never waits (0.86, e548c64)

    **Cross-cutting:**
    - Ids are never zero (`pool.rs:acquire`, `main.rs:main`; 5083cd1)
    ");
}

#[test]
fn a_reading_of_some_lines() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "id_pool.rs", "--lines", "5:6"]), @"
    ## id_pool.rs (lines 3-9)
    **Commit:** 5083cd1 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - insight (whole file, 0.88, 5083cd1, 2 days, 1 commit since): Double release is not detected.
      - tags: safety

    **Dependencies on this:**
    - `main.rs` on acquire: assumes that it never waits (0.86, e548c64)

    **Cross-cutting:**
    - Ids are never zero (`pool.rs:acquire`, `main.rs:main`; 5083cd1)
    ");
}

#[test]
fn a_reading_for_a_person() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "id_pool.rs", "--lines", "5:6", "--format", "pretty"]), @"
    id_pool.rs (lines 3-9)
    Commit: 5083cd1 (2 days ago, 1 commit since) | Confidence: 0.88 (enhanced, commit)
    Intent: Ids are reused last in, first out: the newest is warm in the cache
    • gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since) The UI thread calls
      this; never block.
    • insight (whole file, 0.88, 5083cd1, 2 days, 1 commit since) Double release is not detected.
      • tags: safety

    Dependencies on this:
    • `main.rs` on acquire: assumes that it never waits (0.86, e548c64)

    Cross-cutting:
    • Ids are never zero (`pool.rs:acquire`, `main.rs:main`; 5083cd1)
    ");
}

#[test]
fn a_reading_that_is_cut() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "id_pool.rs", "--max-tokens", "120"]), @"
    ## id_pool.rs
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.

    **Cross-cutting:**
    - Ids are never zero (`pool.rs:acquire`, `main.rs:main`; 5083cd1)

    > trimmed to 70 tokens: 4 of 5 items left out, from 5083cd1
    ");
}

#[test]
fn the_lessons_of_one_kind() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", ".", "--category", "gotcha"]), @"
    ## id_pool.rs
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - gotcha (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): Never panics
      - tags: lock
    - gotcha (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): May be called twice
      - tags: lock
    - gotcha (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): Leaks ids when poisoned.
      - tags: lock
    ");
}

#[test]
fn filters_hold_for_concerns_as_for_lessons() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: hand out ids");
    let say = |description: &str, tag: &str, now: &str| {
        let regions = ["pool.rs:acquire", "pool.rs:release"];
        let annotation = json!({ "summary": format!("Said of both sides of the pool, on {now}"),
            "wisdom": [{ "category": "insight", "content": description, "file": "pool.rs", "tags": [tag] }],
            "cross_cutting": [{ "description": description, "regions": regions, "tags": [tag] }] });
        let mut command = binary(repo.path(), &["annotate", "--json", &annotation.to_string()]);
        run(command.env("CHRONICLE_NOW", now)).success();
    };
    say("Ids are never zero", "range", testkit::DATE);
    repo.write("pool.rs", format!("{POOL}\n// The end.\n"));
    repo.commit_at("pool: end it", "2026-03-02T12:00:00Z");
    say("Both sides lock", "lock", "2026-03-02T12:00:00Z");
    let check = |filter: &[&str], expected: &[&str]| {
        for variable in ["CHRONICLE_NOW", "CHRONICLE_NO_CACHE"] {
            let args = [&["read", "pool.rs", "--format=json"][..], filter].concat();
            let mut command = binary(repo.path(), &args);
            let reading = run(command.env("CHRONICLE_NOW", NOW).env(variable, NOW)).success().json();
            let concerns = reading["cross_cutting"].as_array().into_iter().flatten();
            let concerns: Vec<&str> = concerns.filter_map(|item| item["description"].as_str()).collect();
            assert_eq!(concerns, expected, "{filter:?}");
            let mut lessons = contents(&reading);
            lessons.sort_by_key(|lesson| std::cmp::Reverse(lesson == "Both sides lock"));
            assert_eq!(lessons, expected, "{filter:?}");
        }
    };
    check(&[], &["Both sides lock", "Ids are never zero"]);
    check(&["--tags", "lock"], &["Both sides lock"]);
    check(&["--tags", "range,other"], &["Ids are never zero"]);
    check(&["--tags", "other"], &[]);
    check(&["--since", "2026-03-02"], &["Both sides lock"]);
    check(&["--since", "HEAD~1"], &["Both sides lock"]);
    check(&["--since", "2026-03-02", "--tags", "range"], &[]);
}

#[test]
fn the_newest_lessons() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "--recent", "--limit", "3"]), @"
    ## id_pool.rs
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - insight (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): Take an id back
      - tags: lock
    - insight (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): A poisoned lock means that the process is going down anyway. So it is ignored.
      - tags: lock
    ");
}

#[test]
fn the_history_of_a_file() {
    insta::assert_snapshot!(chronicle(&pool(), &["history", "id_pool.rs"]), @"
    ## 5083cd1 pool: hand out ids (2 days ago)
    release: Take an id back
    **Reasoning:** A poisoned lock means that the process is going down anyway. So it is ignored.
    **Constraints:**
    - [author] Never panics
    - May be called twice
    **Risk:** Leaks ids when poisoned.
    Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - dead_end (gone since 6efd8b2, rewritten, about this item, release, 0.88, 5083cd1, 2 days, 1 commit since): A lock-free stack was slower below eight threads.
    - insight (whole file, 0.88, 5083cd1, 2 days, 1 commit since): Double release is not detected.
      - tags: safety
    ");
}

#[test]
fn the_help() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(chronicle(&repo, &["--help"]), @"
    Memory for a codebase and for the agents that work on it

    Records why a change is the way it is, what was tried and failed and what traps lie in the code, and
    shows it to whoever touches that code next, on the lines where it is now.

    Usage: git chronicle [OPTIONS] <COMMAND>

    Commands:
      read         Show what is known about some code, before touching it
      show         Show one commit's annotation, whole
      history      Show how the thinking about a file went, oldest first
      summary      Show the newest word on each code unit of a file or directory
      deps         Show who relies on some code, before changing or removing it
      why          Show why a line is as it is: the commit and the session that wrote it, and its
                   lessons
      check        Show which lessons a change touches, before it is committed or merged
      outline      List the named items of a file: what anchors can name
      annotate     Record why a commit is the way it is
      backfill     Let a model annotate the commits that nobody annotated, newest first
      note         Keep a remark while working; the next annotation takes it in
      flag         Cast doubt on what is said of some code
      correct      Take a wrong value out of a lesson, or put the right one in its place
      supersede    Let one lesson take the place of another
      expire       Let a lesson count no longer
      knowledge    List, add or remove what the repository knows as a whole
      purge        Take words out of every version of the notes, as if they had never been said
      brief        Tell what to know before going on
      catch-up     Tell what was done in the last sessions
      pending      List unfinished work, the most urgent first
      resolve      Close threads: say how unfinished work ended
      thread       Show, add or change threads: unfinished work that is carried between sessions
      commit       Run `git commit` and record why the commit is made
      context      Say ahead of a commit why it is made; the commit takes it in
      session      Take in, list, show or forget sessions of coding agents
      find         Find what was said and done in sessions with coding agents
      about        Gather what sessions tell about a topic
      how          Show how a task was done before
      ask          Answer a question in plain words
      preferences  Show what you prefer, as your sessions tell
      patterns     Show what comes back in how you work
      skills       Show which technologies you use, and where
      projects     Show the projects that session memory knows, and what each is built with
      problems     Show failures that came up in several sessions, and how each was solved
      feedback     Say whether something that was shown is right
      injected     Show what agents were told without asking: when, why, and whether they made use of it
      blocks       Show or change blocks of memory: short texts about you and your work
      digest       Tell what was done in a day, a week, a month or any span of days
      consolidate  Consolidate session memory: digests of what is over, blocks brought up to date,
                   transcripts kept
      memory       Show the tiers of session memory; share what is learned with other machines
      init         Set a repository up: hooks that bind what was said to commits
      setup        Set coding agents up: hooks, MCP server and skills
      uninstall    Take out what `init` and `setup` put in; notes and sessions stay
      config       Show or change settings
      allow        Let this repository set what only you may
      llm          Show which models would be asked for what
      cost         Show what models cost, by day, model and purpose
      sync         Exchange notes with a remote
      reconcile    Find commits that took the place of annotated ones, and take along what is known
      export       Write all notes as JSON Lines
      import       Unite exported notes with those of this repository
      status       Show how much is annotated, and what waits to be done
      doctor       Look for what is wrong, and say how to mend it
      gc           Tidy away notes whose commits were rewritten
      schema       Print the JSON Schema of what is stored, taken or answered
      mcp          Serve what this command line knows to agents, over MCP
      tour         See the main job done in a minute, on a throw-away repository
      help         Print this message or the help of the given subcommand(s)

    Options:
      -C <DIR>
              Run as if started in this directory

          --format <FORMAT>
              How to write the answer: markdown for models, json for programs, pretty for people
              
              [default: markdown]

          --color <WHEN>
              When to use colour in pretty answers
              
              [default: auto]
              [possible values: auto, always, never]

          --no-pager
              Write straight to the terminal, without a pager

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Exit codes: 0 done, also when nothing is known; 1 cannot; 2 wrong arguments; 70 a bug in Chronicle.
    ");
    insta::assert_snapshot!(chronicle(&repo, &["read", "--help"]), @"
    Show what is known about some code, before touching it

    Answers with the lessons recorded for a file, a directory or a range of lines: where each one is in
    the file as it is now (edits that are not committed included), what became of the code it speaks of,
    and how far it can be trusted.

    Usage: git chronicle read [OPTIONS] PATH... [ANCHOR]

    Arguments:
      [PATH]...
              Files or directories, from the current directory or the root; last, an item of the one
              file, such as `Pool::acquire`

    Options:
          --anchor <ANCHOR>
              Item of the one file, where its name could be a path too

      -C <DIR>
              Run as if started in this directory

          --format <FORMAT>
              How to write the answer: markdown for models, json for programs, pretty for people
              
              [default: markdown]

          --lines <START:END>
              Only what concerns these lines of the file as it is now

          --color <WHEN>
              When to use colour in pretty answers
              
              [default: auto]
              [possible values: auto, always, never]

          --recent
              Show the newest lessons of the whole repository instead

          --limit <N>
              With --recent, how many

          --no-pager
              Write straight to the terminal, without a pager

          --since <DATE|REV>
              Only what was written after this date or commit

          --tags <TAG,…>
              Only items with one of these labels

          --category <CATEGORY>
              Only lessons of this kind: dead_end, gotcha, insight or unfinished_thread

          --context-level <LEVEL>
              Only testimony (enhanced) or inference (inferred)
              
              [possible values: all, enhanced, inferred]

          --min-confidence <SHARE>
              Only items trusted at least so far, 0 to 1

          --max-regions <N>
              Most items to show; 20 unless `defaultMaxRegions` is set

          --depth <N>
              How many hops of related annotations to follow
              
              [default: 1]

          --max-tokens <N>
              Longest answer wanted, in tokens of about four bytes

          --blame
              Let `git blame` say which commits wrote the lines, instead of mapping them

          --all
              Include commits of other branches, labelled

      -v, --verbose
              Show every field, also empty ones

      -h, --help
              Print help (see a summary with '-h')
    ");
    insta::assert_snapshot!(chronicle(&repo, &["annotate", "-h"]), @r"
    Record why a commit is the way it is

    Usage: git chronicle annotate [COMMIT] --summary <WHY> [--gotcha|--dead-end|--insight|--unfinished <[PLACE ]WHAT>]...
           git chronicle annotate [COMMIT] --file <FILE>|--live|--json <JSON>|--auto|--from-session|--agent

    Arguments:
      [COMMIT]  The commit to annotate, any revision; HEAD by default. With --agent also a range A..B,
                newest first

    Options:
      -C <DIR>                         Run as if started in this directory
      -m, --summary <WHY>              Why this approach, not what changed [alias: --why]
          --format <FORMAT>            How to write the answer: markdown for models, json for programs,
                                       pretty for people [default: markdown]
          --gotcha <[PLACE ]WHAT>      A trap that the code does not show, at PLACE if that is `FILE:`,
                                       `FILE:LINES` or `FILE:ANCHOR`
          --color <WHEN>               When to use colour in pretty answers [default: auto] [possible
                                       values: auto, always, never]
          --dead-end <[PLACE ]WHAT>    What was tried and failed
          --insight <[PLACE ]WHAT>     What one has to understand first
          --no-pager                   Write straight to the terminal, without a pager
          --unfinished <[PLACE ]WHAT>  What is still to be done
          --depends-on <PLACE NATURE>  Code elsewhere that the change relies on, and what it assumes of
                                       it
          --task <TEXT>                The task that the change was made for
          --tags <TAG,…>               Labels of the lessons
          --file <FILE>                Read the annotation as JSON from a file
          --live                       Read the annotation as JSON from standard input
          --json <JSON>                The annotation as JSON
          --auto                       Take the commit's message as the summary; adds nothing to an
                                       annotated commit
          --from-session               Propose lessons from the session that made the commit, to be
                                       confirmed; stores nothing
          --agent                      Let a model look at the commit, or at those of a range, and at
                                       the session that made it
          --retry-failed               Let a model try the commits again that could not be done
          --sync                       With --agent: wait until it is done, as is the rule
          --async                      With --agent: do it in the background, where nothing is shown;
                                       what fails is written down
          --dry-run                    With --agent: only show what would be asked
          --amend-source <OLD>         Take over what is known about this commit, which the commit took
                                       the place of
          --squash-sources <REVS>      Take over what is known about commits that were squashed:
                                       revisions, or a range A..B
          --commit <REV>               The commit to annotate, as an option
          --replace <ID>               Let the one lesson given replace the entry with this id
          --replace-summary            Let the summary take the place of your own earlier one, which is
                                       kept next to it
      -h, --help                       Print help (see more with '--help')

    Examples:
      git chronicle annotate --summary 'Linear retries kept the broker down'
      git chronicle annotate HEAD~1 -m 'Linear retries kept the broker down' \
        --gotcha 'src/reconnect.rs:55 max_backoff is in seconds, sleep() takes milliseconds' \
        --dead-end 'src/reconnect.rs: A fixed delay: all clients came back at once'
    ");
}

#[test]
fn the_keys_of_a_reading_in_json_are_a_promise() {
    let reading: serde_json::Value =
        serde_json::from_str(&chronicle(&pool(), &["read", "id_pool.rs", "--format", "json", "--verbose"]))
            .expect("it is JSON");
    let keys = |value: &serde_json::Value| {
        value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>().join(" "))
    };
    insta::assert_snapshot!(keys(&reading).unwrap_or_default(), @"schema file query regions wisdom dependencies_on_this cross_cutting knowledge stats trimmed warnings ambiguous_anchor");
    insta::assert_snapshot!(keys(&reading["regions"][0]).unwrap_or_default(), @"
    id commit timestamp author tier origin source context_level confidence confidence_factors commits_since file file_recorded lines lines_recorded near state gone_because gone_since moved_to item_lines lines_disagree match superseded_by expired elsewhere tags task related corrections ast_anchor intent intent_shown_at reasoning constraints risk_notes semantic_dependencies
    ");
    insta::assert_snapshot!(keys(&reading["wisdom"][0]).unwrap_or_default(), @"id commit timestamp author tier origin source context_level confidence confidence_factors commits_since file file_recorded lines lines_recorded near state gone_because gone_since moved_to item_lines lines_disagree match superseded_by expired elsewhere tags task related corrections category content anchor depends_on");
    insta::assert_snapshot!(keys(&reading["dependencies_on_this"][0]).unwrap_or_default(), @"
    from_file from_file_recorded from_is_deleted from_anchor on_anchor nature commit confidence author tier origin
    ");
    insta::assert_snapshot!(keys(&reading["stats"]).unwrap_or_default(), @"commits_examined annotations_found regions_returned regions_matched related_hops");
}

#[test]
fn a_released_reader_and_ours_read_each_other() {
    // The released reader is no dependency: whoever has it names it.
    #[expect(clippy::disallowed_methods, reason = "the lane is switched on from outside")]
    let Some(peer) = std::env::var_os("CHRONICLE_PEER") else {
        return crate::outcome::skip("CHRONICLE_PEER names no released git-chronicle");
    };
    let run = |args: &[&str], repo: &TestRepo| {
        let output = testkit::command(&peer, repo.path()).args(args).output().expect("the peer runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let repo = pool();
    let theirs = run(&["read", "pool.rs"], &repo) + &run(&["read", "main.rs"], &repo);
    assert!(theirs.contains("never block") && theirs.contains("Threads start after"), "{theirs}");
    repo.write("main.rs", "fn main() {\n    start();\n}\n");
    repo.commit_at("main: really start", "2026-03-02T13:00:00Z");
    let input = r#"{"commit":"HEAD","summary":"Written by the released tool itself","wisdom":[{"category":"dead_end","content":"Starting twice deadlocks.","file":"main.rs","lines":{"start":2,"end":2}}]}"#;
    assert!(run(&["annotate", "--json", input], &repo).contains("\"success\": true"));
    annotate(
        &repo,
        &json!({ "summary": "And a second view of the same commit", "wisdom": [{ "category": "insight", "content": "One start is enough.", "file": "main.rs" }] }),
    );
    let ours = chronicle(&repo, &["read", "main.rs", "--lines", "2:2"]);
    assert!(ours.contains("Starting twice deadlocks.") && ours.contains("One start is enough."), "{ours}");
    let theirs = run(&["read", "main.rs"], &repo);
    assert!(
        theirs.contains("Starting twice deadlocks.") && theirs.contains("One start is enough."),
        "{theirs}"
    );
    // What was purged is gone for it, too, and nothing else is.
    let note = crate::outcome::note(&repo, "HEAD");
    let id = crate::outcome::entry(&note, "One start")["id"].as_str().expect("it has an id").to_owned();
    crate::outcome::chronicle(repo.path(), &["purge", &id]).success();
    let theirs = run(&["read", "main.rs"], &repo);
    assert!(
        theirs.contains("Starting twice deadlocks.") && !theirs.contains("One start is enough."),
        "{theirs}"
    );
}

/// Where `git blame` says that the lines of `commit`'s version of `file` are in the newest one: old to new.
fn blame(repo: &TestRepo, commit: &str, file: &str) -> Vec<(u32, u32)> {
    let porcelain = repo.git(&["blame", "--porcelain", &format!("{commit}..HEAD"), "--", file]);
    let mut found = Vec::new();
    let mut boundaries = std::collections::HashSet::new();
    let mut at = String::new();
    for line in porcelain.lines() {
        let mut words = line.split(' ');
        match (words.next(), words.next(), words.next()) {
            (Some(id), Some(old), Some(new)) if id.len() == 40 && old.parse::<u32>().is_ok() => {
                at = id.to_owned();
                found.push((at.clone(), old.parse().expect("a line"), new.parse().expect("a line")));
            }
            (Some("boundary"), ..) => drop(boundaries.insert(at.clone())),
            _ => {}
        }
    }
    found.into_iter().filter(|(id, ..)| boundaries.contains(id)).map(|(_, old, new)| (old, new)).collect()
}

#[test]
fn lessons_are_where_blame_says_their_lines_are() {
    let repo = TestRepo::new();
    let lines = |change: &dyn Fn(u32) -> String| (1..=60).map(change).collect::<String>();
    let unique = |n: u32| format!("    let value_{n} = compute_{n}(value_{});\n", n / 2);
    repo.write("a.rs", lines(&unique));
    let first = repo.commit("a: sixty lines");
    let ranges = [(1, 3), (10, 12), (18, 22), (30, 30), (38, 44), (58, 60)];
    let wisdom: Vec<_> = ranges
        .iter()
        .map(|(start, end)| json!({ "category": "insight", "content": format!("About lines {start} to {end}."), "file": "a.rs", "lines": { "start": start, "end": end } }))
        .collect();
    annotate(&repo, &json!({ "summary": "Every range has a lesson of its own", "wisdom": wisdom }));
    let edits: [&dyn Fn(u32) -> String; 3] = [
        &|n| if n == 5 { format!("    log();\n    trace();\n{}", unique(n)) } else { unique(n) },
        &|n| {
            if (19..=20).contains(&n) {
                String::new()
            } else if n == 5 {
                format!("    log();\n{}", unique(n))
            } else {
                unique(n)
            }
        },
        &|n| match n {
            19..=20 | 30 => String::new(),
            40 => format!("    changed_{n}();\n"),
            59 => format!("{}    inserted();\n", unique(n)),
            _ => unique(n),
        },
    ];
    for (number, edit) in edits.iter().enumerate() {
        repo.write("a.rs", lines(*edit));
        repo.commit(&format!("a: edit {number}"));
        let reading: serde_json::Value =
            serde_json::from_str(&chronicle(&repo, &["read", "a.rs", "--format", "json"]))
                .expect("it is JSON");
        let blamed = blame(&repo, &first, "a.rs");
        for (start, end) in ranges {
            let now: Vec<u32> =
                blamed.iter().filter(|(old, _)| (start..=end).contains(old)).map(|(_, new)| *new).collect();
            let expected = now.iter().min().map(|first| json!({ "start": first, "end": now.iter().max() }));
            let content = format!("About lines {start} to {end}.");
            let items = reading["wisdom"].as_array().expect("a list");
            let item =
                items.iter().find(|item| item["content"] == json!(content)).expect("no lesson is lost");
            assert_eq!(item["lines"], json!(expected), "after edit {number}: {content}");
        }
    }
}

/// In JSON every commit of which something was left out is named, once.
#[test]
fn all_that_is_left_out_is_named() {
    let repo = TestRepo::new();
    let mut commits = Vec::new();
    for number in 0..30 {
        repo.write("a.txt", (0..=number).map(|line| format!("line {line}\n")).collect::<String>());
        commits.push(repo.commit(&format!("line {number}")));
        let lesson = |of: &str| {
            json!({ "category": "gotcha", "content": format!("Mind {of} of line {number}: it is longer than it looks."),
                "file": "a.txt", "lines": { "start": number + 1, "end": number + 1 } })
        };
        annotate(
            &repo,
            &json!({ "summary": format!("Why line {number}"), "wisdom": [lesson("the start"), lesson("the end")] }),
        );
    }
    commits.sort_unstable();
    let check = |args: &[&str], is_within: Option<usize>| {
        let text = chronicle(&repo, &[&["read", "a.txt", "--format", "json"], args].concat());
        let answer: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let of = |list: &serde_json::Value, key: &str| -> Vec<String> {
            let list = list.as_array().expect("it is a list").iter();
            list.filter_map(|item| if key.is_empty() { item.as_str() } else { item[key].as_str() })
                .map(str::to_owned)
                .collect()
        };
        let dropped = of(&answer["trimmed"]["dropped_commits"], "");
        let shown = [of(&answer["wisdom"], "commit"), of(&answer["regions"], "commit")].concat();
        assert!(!shown.is_empty(), "{args:?}");
        // Three items each: two lessons and the summary.
        let mut expected: Vec<String> = commits.clone();
        expected.retain(|commit| shown.iter().filter(|shown| *shown == commit).count() < 3);
        let mut named = dropped.clone();
        named.sort_unstable();
        assert_eq!(named, expected, "{args:?}");
        assert_eq!(answer["trimmed"]["original_regions"], 90, "{args:?}");
        if let Some(budget) = is_within {
            assert!(text.len() <= 4 * budget, "{args:?}: {}", text.len());
        }
    };
    check(&["--max-regions", "90", "--max-tokens", "3000"], Some(3000));
    check(&["--max-regions", "90", "--max-tokens", "1200"], Some(1200));
    check(&["--max-regions", "90", "--max-tokens", "300"], None);
    check(&["--max-regions", "20"], None);
    check(&["--max-regions", "20", "--max-tokens", "4000"], Some(4000));
    check(&["--max-regions", "40", "--blame"], None);
    let whole = chronicle(&repo, &["read", "a.txt", "--format", "json", "--max-regions", "90"]);
    assert!(whole.contains("\"trimmed\":null"), "nothing is left out");
}
