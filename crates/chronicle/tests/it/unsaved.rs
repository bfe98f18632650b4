//! What is known of a text that an editor holds: the same as if it were saved.

use std::path::PathBuf;

use chronicle::{CheckScope, Chronicle, LineRange, NoteCommand, ReadCommand, WhyScope};
use chronicle_workplace::Error;
use serde_json::json;
use testkit::TestRepo;

use crate::asking::{annotate, ask, in_editor, repository};

const POOL: &str = "fn acquire() -> Slot {\n    let deadline = Instant::now() + PATIENCE;\n    wait_until(deadline)\n}\n\nfn release(slot: Slot) {\n    free.push(slot);\n}\n";

/// A repository with a trap on the second line.
fn pool() -> TestRepo {
    let repo = repository(&[]);
    repo.write("src/pool.rs", POOL);
    repo.commit("pool: begin");
    annotate(
        &repo,
        "HEAD",
        &json!({ "summary": "Why it waits", "wisdom": [
        { "category": "gotcha", "content": "Never block.", "file": "src/pool.rs", "lines": { "start": 2, "end": 2 } }] }),
    );
    repo
}

/// What is known of the file, what it touches, and who wrote its last line but one.
fn known(chronicle: &Chronicle) -> Result<String, Error> {
    let path = PathBuf::from("src/pool.rs");
    let reading = chronicle.read(&ReadCommand { paths: vec![path.clone()], ..ReadCommand::default() })?;
    let lessons = reading.wisdom.iter().map(|item| {
        format!(
            "{} {:?}",
            item.standing.lines.map(|lines| lines.to_string()).unwrap_or_default(),
            item.standing.state
        )
    });
    let check = chronicle.check(&CheckScope::File(path.clone()), &[], 9)?;
    let touched = check.files.iter().flat_map(|file| &file.lessons);
    let touched = touched.map(|touched| format!("{:?} at {}", touched.touch, touched.at_line));
    let items =
        chronicle.outline(&path, None)?.items.into_iter().map(|item| format!("{} {}", item.name, item.lines));
    let last = chronicle.why(path, WhyScope::Lines(LineRange { start: 3, end: 3 }))?;
    Ok(format!(
        "lessons: {}; touched: {}; items: {}; line 3: {} commits",
        lessons.collect::<Vec<_>>().join(", "),
        touched.collect::<Vec<_>>().join(", "),
        items.collect::<Vec<_>>().join(", "),
        last.commits.len(),
    ))
}

#[test]
fn a_text_is_answered_as_if_it_were_saved() {
    let repo = pool();
    let check = |text: &str, expected: &str| {
        assert_eq!(in_editor(&repo, ("src/pool.rs", text), known), expected, "{text}");
        repo.write("src/pool.rs", text);
        assert_eq!(ask(&repo, known), expected, "saved: {text}");
        repo.write("src/pool.rs", POOL);
    };
    check(POOL, "lessons: 2:2 Intact; touched: ; items: acquire 1:4, release 6:8; line 3: 1 commits");
    check(
        &format!("// One.\n\n// Two.\n{POOL}"),
        "lessons: 5:5 Intact; touched: ; items: acquire 3:7, release 9:11; line 3: 0 commits",
    );
    check(
        &POOL.replace("let deadline", "let end"),
        "lessons: 2:2 Changed; touched: Lines at 2; items: acquire 1:4, release 6:8; line 3: 1 commits",
    );
    check(
        &POOL.replace("    wait_until(deadline)\n", "\n    wait()\n"),
        "lessons: 2:2 Intact; touched: Item at 3; items: acquire 1:5, release 7:9; line 3: 0 commits",
    );
    // As git would store it, nothing is changed.
    repo.git(&["config", "core.autocrlf", "true"]);
    let converted = POOL.replace('\n', "\r\n");
    let found = in_editor(&repo, ("src/pool.rs", &converted), known);
    assert!(found.contains("2:2 Intact; touched: ; "), "{found}");
}

#[test]
fn only_the_file_itself_is_another() {
    let repo = pool();
    let elsewhere = in_editor(&repo, ("pool.rs", "// Another file.\n"), known);
    assert_eq!(elsewhere, ask(&repo, known));
    // It need not be on the disk, and the way to it may be a link.
    std::fs::remove_file(repo.path().join("src/pool.rs")).expect("it is there");
    let deleted = in_editor(&repo, ("src/pool.rs", POOL), known);
    assert_eq!(deleted, elsewhere);
    std::os::unix::fs::symlink("src", repo.path().join("link")).expect("it can be made");
    assert_eq!(in_editor(&repo, ("link/pool.rs", POOL), known), elsewhere);
}

#[test]
fn a_remark_is_on_the_lines_of_the_text() {
    let repo = pool();
    let text = format!("// One.\n{POOL}// Last.\n");
    let note = |line: u32| NoteCommand {
        text: "Deadlines are absolute.".to_owned(),
        category: None,
        file: Some(PathBuf::from("src/pool.rs")),
        lines: Some(LineRange { start: line, end: line }),
    };
    let remark = in_editor(&repo, ("src/pool.rs", &text), |chronicle| {
        let (remark, _) = chronicle.note(&note(10))?;
        Ok::<_, Error>((remark.file, remark.lines, remark.sketch.is_some()))
    });
    assert_eq!(remark, (Some("src/pool.rs".to_owned()), Some(LineRange { start: 10, end: 10 }), true));
    let refused = in_editor(&repo, ("src/pool.rs", POOL), |chronicle| {
        Ok::<_, Error>(chronicle.note(&note(10)).map(drop).map_err(|error| error.to_string()))
    });
    assert!(refused.is_err_and(|words| words.contains("10")));
}
