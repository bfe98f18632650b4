//! Annotations that people write in their editor.

use std::fs;

use crate::{
    desk::Desk,
    outcome::{Outcome, run},
};

/// A repository whose last commit wrote the lines 2 and 3 of one file.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.repo.write("lock.rs", "fn lock() {\n}\n");
    desk.repo.commit("lock: add it");
    desk.repo.write("lock.rs", "fn lock() {\n    try_often();\n    give_up();\n}\n");
    desk.repo.commit("lock: give up after 64 attempts");
    desk
}

/// Runs `git chronicle ARGS` at a terminal, with an editor that does what a line of shell says to `"$1"`.
fn with_editor(desk: &Desk, args: &str, line: &str) -> Option<Outcome> {
    let editor = desk.editor(line);
    desk.at_terminal(args, "", &[("GIT_EDITOR", editor.to_str().expect("a path of letters"))])
}

fn lessons(desk: &Desk) -> Vec<(String, String)> {
    let shown = desk.ask(&["read", "lock.rs"]);
    let lessons = shown["wisdom"].as_array().expect("a list").iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    lessons.map(|lesson| (text(&lesson["category"]), text(&lesson["content"]))).collect()
}

fn kept(desk: &Desk) -> Vec<String> {
    let files = fs::read_dir(desk.memory().join("edited")).into_iter().flatten();
    files.map(|file| fs::read_to_string(file.expect("it is read").path()).expect("a text")).collect()
}

#[test]
fn without_arguments_a_terminal_gets_a_form_and_what_is_written_there_is_stored() {
    let desk = desk();
    let line = "cp \"$1\" form.txt && { echo 'A peer made us spin'; echo 'gotcha 3: it panics when blocking'; \
        echo 'dead-end: A sleep made it slow'; grep '^#' form.txt; } > \"$1\"";
    let Some(outcome) = with_editor(&desk, "annotate", line) else { return };
    outcome.success();
    let form = fs::read_to_string(desk.repo.path().join("form.txt")).expect("the editor copied it");
    insta::assert_snapshot!(form.replace(&desk.repo.git(&["rev-parse", "--short=8", "HEAD"]), "COMMIT"), @r"


    # Above: the reason for the change (why this way, not what changed), then a line for each lesson:
    #     gotcha|dead-end|insight|unfinished [FILE:][LINES|ITEM]: TEXT
    #     gotcha FILE:55: max_backoff is in seconds, sleep() takes milliseconds
    #     dead-end: A fixed delay: all clients came back at once
    # Lines that begin with # are left out. An empty text stores nothing.
    #
    # COMMIT lock: give up after 64 attempts
    #
    # lock.rs
    #      2 │     try_often();
    #      3 │     give_up();
    #
    #
    #
    #
    #
    #
    #
    #
    ");
    let expected = [("gotcha", "it panics when blocking"), ("dead_end", "A sleep made it slow")];
    assert_eq!(lessons(&desk), expected.map(|(category, text)| (category.to_owned(), text.to_owned())));
    assert_eq!(kept(&desk), [""; 0]);

    // The next form has the reason, and shows the lessons; a reason that is changed takes the place of the other.
    let line = "cp \"$1\" form.txt && sed -i '1s/.*/A peer that unlinks made us spin/' \"$1\"";
    with_editor(&desk, "annotate -e HEAD", line).expect("there is a terminal").success();
    let form = fs::read_to_string(desk.repo.path().join("form.txt")).expect("the editor copied it");
    assert!(form.starts_with("A peer made us spin\n"), "{form}");
    assert!(form.contains("#     gotcha lock.rs:3: it panics when blocking\n"), "{form}");
    let shown = desk.ask(&["show", "HEAD"]);
    assert_eq!(shown["annotation"]["summary"], "A peer that unlinks made us spin");
    assert_eq!(lessons(&desk).len(), 2);
}

#[test]
fn a_form_that_is_left_as_it_was_asks_for_no_lessons_where_there_are_some() {
    let desk = desk();
    for file in ["a.rs", "b.rs", "c.rs", "d.rs"] {
        desk.repo.write(file, "fn wait() {}\n");
    }
    desk.repo.commit("all: wait");
    let why = "echo 'A peer that unlinks made us spin' > \"$1\"";
    let Some(first) = with_editor(&desk, "annotate", why) else { return };
    assert!(first.success().stdout.contains("changes 4 files and no lesson is given"));
    desk.run(&["annotate", "-m", "A peer that unlinks made us spin", "--gotcha", "It panics when blocking"])
        .success();
    let again = with_editor(&desk, "annotate -e", "true").expect("there is a terminal").success();
    assert!(again.stdout.contains("all of this is stored on the commit already"), "{again:#?}");
    assert!(!again.stdout.contains("no lesson is given"), "{again:#?}");
}

#[test]
fn a_form_that_cannot_be_read_is_kept_and_opened_again() {
    let desk = desk();
    let Some(refused) = with_editor(&desk, "annotate", "echo 'gotcha 3: no reason' > \"$1\"") else { return };
    let said = refused.failed(1).stdout;
    assert!(said.contains("error: line 1 (gotcha)"), "{said}");
    assert!(
        said.contains("; run the same command again to go on with it") && !said.contains("schema"),
        "{said}"
    );
    assert_eq!(kept(&desk), ["gotcha 3: no reason\n"]);
    // An editor that fails takes nothing away.
    with_editor(&desk, "annotate", "exit 1").expect("there is a terminal").failed(1);
    assert_eq!(kept(&desk), ["gotcha 3: no reason\n"]);
    // A word that was meant for a kind of lesson is named, and no text.
    let line = "sed -i '1s/gotcha 3/gotca lock.rs:3/; 1i why' \"$1\"";
    let refused = with_editor(&desk, "annotate -e", line).expect("there is a terminal").failed(1).stdout;
    assert!(refused.contains("error: line 2: unknown kind `gotca`; did you mean `gotcha`?"), "{refused}");
    let line = "sed -i '2s/gotca/gotcha/' \"$1\"";
    with_editor(&desk, "annotate", line).expect("there is a terminal").success();
    assert_eq!(lessons(&desk), [("gotcha".to_owned(), "no reason".to_owned())]);
    assert_eq!(kept(&desk), [""; 0]);
}

#[test]
fn an_empty_form_stores_nothing() {
    let desk = desk();
    let Some(outcome) = with_editor(&desk, "annotate", "true") else { return };
    assert!(outcome.failed(1).stdout.contains("the text is empty; nothing was stored"));
    assert_eq!((kept(&desk), lessons(&desk)), (vec![], vec![]));
}

#[test]
fn without_a_terminal_or_for_an_agent_no_editor_opens() {
    let desk = desk();
    let editor = desk.editor("touch opened");
    let quiet = |args: &[&str]| run(desk.command_in(desk.repo.path(), args).env("GIT_EDITOR", &editor));
    assert!(quiet(&["annotate"]).refused(2, &["say why the commit is as it is"]).stdout.is_empty());
    quiet(&["annotate", "--edit"]).refused(2, &["an editor needs a terminal"]);
    quiet(&["commit", "-e", "--allow-empty", "-m", "more"]).refused(2, &["which needs a terminal"]);
    let agent = [("GIT_EDITOR", editor.to_str().expect("a path of letters")), ("CLAUDECODE", "1")];
    let Some(outcome) = desk.at_terminal("annotate", "", &agent) else { return };
    outcome.failed(2);
    assert!(!desk.repo.path().join("opened").exists());
}

#[test]
fn a_commit_can_be_explained_in_the_editor_once_it_is_made() {
    let desk = desk();
    desk.repo.write("lock.rs", "fn lock() {\n    try_twice();\n}\n");
    let line = "echo 'Twice is enough' > \"$1\"";
    let Some(outcome) = with_editor(&desk, "commit -e -qam 'lock: try twice'", line) else { return };
    outcome.success();
    assert_eq!(desk.ask(&["show", "HEAD"])["annotation"]["summary"], "Twice is enough");
    assert_eq!(desk.repo.git(&["log", "-1", "--format=%s"]).trim(), "lock: try twice");
}

#[test]
fn a_purge_names_texts_that_wait_in_the_editor() {
    let desk = desk();
    desk.run(&["annotate", "--summary", "why", "--gotcha", "lock.rs:3 hunter2 is the answer"]).success();
    let line = "echo 'gotcha 3: hunter2 is the answer' > \"$1\"";
    let Some(refused) = with_editor(&desk, "annotate", line) else { return };
    refused.failed(1);
    let held = desk.ask(&["purge", "HEAD"])["still_held"].to_string();
    assert!(held.contains("edited"), "{held}");
}
