//! Where lessons are shown after an edit, and what proves it.

use serde_json::json;
use testkit::TestRepo;

use crate::asking::{annotate, ask, ask_both};

/// A lesson on `lines` of the file that a commit with `content` begins with.
fn lesson_on(file: &str, content: &str, (start, end): (u32, u32)) -> TestRepo {
    let repo = TestRepo::new();
    repo.write(file, content);
    repo.commit("begin");
    let lesson = json!({ "category": "gotcha", "content": "Links break on the build server.", "file": file,
                         "lines": { "start": start, "end": end } });
    annotate(&repo, &json!({ "summary": "Why links are tested in this way", "wisdom": [lesson] }));
    repo
}

const FIRST: &str = "import os\n\n\ndef test_first():\n    assert 1 + 1 == 2\n\n\n";
const LINKS: &str = "@pytest.mark.parametrize(\n    \"link\",\n    [\n        1,\n    ],\n)\ndef test_links(tmp, link):\n    real = os.path.join(tmp, link)\n    try:\n        os.symlink(real, tmp)\n    finally:\n        os.close(real)\n\n\n";
const THIRD: &str = "@pytest.mark.parametrize(\n    \"value\",\n    [\n        2,\n    ],\n)\ndef test_third(value):\n    try:\n        assert value\n    finally:\n        print(value)\n";

#[test]
fn a_lesson_on_a_deleted_function_is_not_shown_in_another() {
    let repo = lesson_on("t.py", &[FIRST, LINKS].concat(), (8, 19));
    repo.write("t.py", [FIRST, THIRD].concat());
    insta::assert_snapshot!(ask_both(&repo, &["read", "t.py"]), @"
    ## t.py (lines 1-17)
    **Commit:** 76c6772 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Why links are tested in this way
    - gotcha (gone, rewritten, test_links, 0.86, 76c6772, 2 days): Links break on the build server.
    ");
    repo.commit("drop the links");
    insta::assert_snapshot!(ask_both(&repo, &["read", "t.py"]), @"
    ## t.py (lines 1-17)
    **Commit:** 76c6772 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Why links are tested in this way
    - gotcha (gone since 8464202, rewritten, test_links, 0.86, 76c6772, 2 days, 1 commit since): Links break on the build server.
    ");
    insta::assert_snapshot!(ask_both(&repo, &["read", "t.py", "test_third"]), @"
    ## t.py (lines 1-17)
    **Commit:** 76c6772 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Why links are tested in this way
    - gotcha (gone since 8464202, rewritten, test_links, 0.86, 76c6772, 2 days, 1 commit since): Links break on the build server.
    ");
    repo.write("t.py", FIRST);
    repo.commit("drop the rest");
    insta::assert_snapshot!(ask_both(&repo, &["read", "t.py"]), @"
    ## t.py (lines 1-7)
    **Commit:** 76c6772 (2 days ago, 2 commits since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Why links are tested in this way
    - gotcha (gone since 8464202, deleted, test_links, 0.86, 76c6772, 2 days, 2 commits since): Links break on the build server.
    ");
}

const FUNCTIONS: &str = "fn one(x: u32) -> u32 {\n    let first = x + 1;\n    first * 9\n}\n\nfn two(x: u32) -> u32 {\n    let second = x + 2;\n    second * 9\n}\n";

#[test]
fn a_lesson_on_a_rewritten_body_is_about_its_function() {
    let repo = lesson_on("a.rs", FUNCTIONS, (6, 8));
    let body = "    let second = x + 2;\n    second * 9\n";
    repo.write(
        "a.rs",
        FUNCTIONS.replace(body, "    match x {\n        0 => 1,\n        n => n << 1,\n    }\n"),
    );
    repo.commit("another body");
    for lines in ["7:7", "9:9"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(ask_both(&repo, &["read", "a.rs", "--lines", lines]), @"
            ## a.rs
            - gotcha (lines 6-6, changed, about this item, two, 0.88, 3aa5567, 2 days, 1 commit since): Links break on the build server.
            ");
        }
    }
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.rs", "--lines", "2:2"]), @"
    ## a.rs (lines 1-6)
    **Commit:** 3aa5567 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Why links are tested in this way
    ");
}

#[test]
fn a_foreign_note_whose_lines_are_elsewhere_goes_by_its_anchor() {
    let repo = TestRepo::new();
    repo.write("a.rs", FUNCTIONS);
    let commit = repo.commit("begin");
    let lesson = json!({ "category": "gotcha", "content": "Counted in another version.", "file": "a.rs",
                         "lines": { "start": 1, "end": 3 }, "anchor": { "type": "function", "name": "two" } });
    let note = json!({ "schema": "chronicle/v3", "commit": commit, "timestamp": testkit::DATE,
                       "summary": "Why it is done in this way", "wisdom": [lesson],
                       "provenance": { "source": "live" } });
    repo.git(&["notes", "--ref", "chronicle", "add", "-m", &note.to_string(), &commit]);
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.rs", "--lines", "7:7"]), @"
    > ## a.rs (lines 1-9)
    > **Commit:** 3aa5567 (2 days ago) | **Confidence:** 0.44 (enhanced, commit) | from someone unnamed, not yours: in refs/notes/chronicle
    > **Intent:** Why it is done in this way
    > - gotcha (lines 6-9, changed, two, 0.44, 3aa5567, 2 days, from someone unnamed, not yours: in refs/notes/chronicle, its recorded lines were not in this item): Counted in another version.
    ");
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.rs", "--lines", "2:2"]), @"
    > ## a.rs (lines 1-9)
    > **Commit:** 3aa5567 (2 days ago) | **Confidence:** 0.44 (enhanced, commit) | from someone unnamed, not yours: in refs/notes/chronicle
    > **Intent:** Why it is done in this way
    ");
}

#[test]
fn the_item_that_a_hunk_adds_is_found_though_a_blank_line_ends_it() {
    let repo = TestRepo::new();
    let pool = "impl Pool {\n    pub fn first(&self) -> usize {\n        self.size\n    }\n\n    pub fn last(&self) -> usize {\n        self.size + 1\n    }\n}\n";
    repo.write("c.rs", pool);
    repo.commit("begin");
    let added = "    pub fn parse(&self, text: &str) -> usize {\n        text.len() + self.size\n    }\n\n";
    repo.write("c.rs", pool.replace("    pub fn last", &format!("{added}    pub fn last")));
    repo.commit("parse");
    let lesson =
        json!({ "category": "gotcha", "file": "c.rs", "content": "An empty text must never fail here." });
    annotate(&repo, &json!({ "summary": "Why parse takes a text and no bytes", "wisdom": [lesson] }));
    insta::assert_snapshot!(ask(&repo, &["read", "c.rs", "parse"]), @"
    ## c.rs (lines 6-9)
    **Commit:** 19c3a23 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Why parse takes a text and no bytes
    - gotcha (lines 6-8, intact, Pool::parse, 1.00, 19c3a23, 2 days): An empty text must never fail here.
    ");
}
