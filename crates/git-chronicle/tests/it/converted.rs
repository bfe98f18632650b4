//! Files of which git stores other bytes than the working tree has.

use std::fs;

use serde_json::json;
use testkit::TestRepo;

use crate::asking::{annotate_commit, ask, ask_with};

const FILES: [&str; 4] = ["a.rot", "b.id", "c.txt", "d.crlf"];

/// Files with each kind of conversion, a lesson on two lines of each, and a working tree that git wrote.
fn converted() -> TestRepo {
    let repo = TestRepo::new();
    let rot = "tr a-z n-za-m; touch RAN";
    for setting in ["clean", "smudge"] {
        repo.git(&["config", &format!("filter.rot.{setting}"), rot]);
    }
    repo.write(
        ".gitattributes",
        "*.rot filter=rot\n*.id ident\n*.txt working-tree-encoding=UTF-16\n*.crlf text eol=crlf\n",
    );
    repo.write(".gitignore", "RAN\n");
    repo.write("a.rot", "one alpha\ntwo beta\nthree gamma\n");
    repo.write("b.id", "// $Id$\none alpha\ntwo beta\n");
    let utf16 = "\u{feff}one\ntwö\nthree\n".encode_utf16().flat_map(u16::to_le_bytes);
    repo.write("c.txt", utf16.collect::<Vec<u8>>());
    repo.write("d.crlf", "one\ntwo\nthree\n");
    let commit = repo.commit("base");
    for file in FILES {
        fs::remove_file(repo.path().join(file)).expect("it is there");
    }
    repo.git(&["checkout", "--", "."]);
    let wisdom = FILES.map(|file| {
        json!({
            "category": "gotcha", "file": file, "lines": { "start": 1, "end": 2 },
            "content": format!("The order of these lines of {file} matters."),
        })
    });
    annotate_commit(&repo, &commit, &json!({ "summary": "Order is all there is", "wisdom": wisdom }));
    assert!(repo.path().join("RAN").exists(), "git ran the filter");
    fs::remove_file(repo.path().join("RAN")).expect("it is there");
    repo
}

fn later(repo: &TestRepo, file: &str) {
    let file = fs::File::options().write(true).open(repo.path().join(file)).expect("it is there");
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_800_000_000))
        .expect("it is there");
}

#[test]
fn nothing_is_changed_in_a_clean_tree_whatever_git_converts() {
    let repo = converted();
    let nothing = "no lessons are touched; files changed: 0\n";
    assert_eq!(ask(&repo, &["check", "--fail-on", "gotcha"]), nothing);
    // What git no longer knows to be unchanged is converted, but no filter runs.
    for file in &FILES[1..] {
        later(&repo, file);
    }
    assert_eq!(ask(&repo, &["check", "--fail-on", "gotcha"]), nothing);
    later(&repo, "a.rot");
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "gotcha"]), @"
    ## a.rot
    - gotcha (whole file, perhaps touched at line 1, b6f9514, 2 days): The order of these lines of a.rot matters.
    warning: `a.rot` may have changed: it is under a filter, which Chronicle does not run; `git status` looks closer, then check again
    warning: `a.rot` is binary or filtered; lessons are matched to the file, not to lines
    ");
    assert!(!repo.path().join("RAN").exists(), "no filter ran");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    fs::remove_file(repo.path().join("RAN")).expect("it is there");
    assert_eq!(ask(&repo, &["check", "--fail-on", "gotcha"]), nothing);
}

#[test]
fn what_changed_is_found_in_files_that_git_converts() {
    let repo = converted();
    for file in ["b.id", "d.crlf"] {
        let content = fs::read_to_string(repo.path().join(file)).expect("it is there");
        repo.write(file, content.replace("two", "TWO"));
    }
    let utf16 = "\u{feff}one\ntwö\nTHREE\n".encode_utf16().flat_map(u16::to_le_bytes);
    repo.write("c.txt", utf16.collect::<Vec<u8>>());
    repo.write("a.rot", "one alpha\ntwo beta\nthree gamma\nfour delta\n");
    let checked = ask(&repo, &["check", "--fail-on", "gotcha"]);
    assert!(!repo.path().join("RAN").exists(), "no filter ran");
    insta::assert_snapshot!(checked, @"
    ## a.rot
    - gotcha (whole file, touched at line 1, b6f9514, 2 days, fails the check): The order of these lines of a.rot matters.

    ## d.crlf
    - gotcha (lines 1-2, intact, touched at line 2, b6f9514, 2 days, fails the check): The order of these lines of d.crlf matters.
    warning: `a.rot` changed, but it is under a filter, which Chronicle does not run: the whole file counts as changed
    error: the change touches lessons of the kinds that --fail-on names: 2
    hint: read them above; `git chronicle read` says more
    [exit 1]
    ");
    fs::write(repo.path().join("a.rot"), "one alpha\ntwo beta\nthree gamma\n").expect("it is there");
    let diff = repo.try_git(&["diff"]).stdout;
    insta::assert_snapshot!(ask_with(&repo, &["check", "-"], &diff), @"
    ## d.crlf
    - gotcha (lines 1-2, intact, touched at line 2, b6f9514, 2 days): The order of these lines of d.crlf matters.
    ");
}

#[test]
fn a_file_of_git_lfs_is_what_its_pointer_says() {
    let repo = TestRepo::new();
    repo.git(&["config", "filter.lfs.smudge", "printf abc"]);
    repo.git(&["config", "filter.lfs.clean", "touch RAN; cat"]);
    repo.write(".gitattributes", "*.bin filter=lfs\n");
    let pointer = "version https://git-lfs.github.com/spec/v1\n\
                   oid sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\nsize 3\n";
    repo.write("big.bin", pointer);
    let commit = repo.commit("base");
    fs::remove_file(repo.path().join("RAN")).expect("it is there");
    annotate_commit(
        &repo,
        &commit,
        &json!({ "summary": "Measured", "wisdom": [
            { "category": "gotcha", "file": "big.bin", "content": "Regenerate it with the schema." },
        ]}),
    );
    for content in ["abc", pointer] {
        repo.write("big.bin", content);
        later(&repo, "big.bin");
        let checked = ask(&repo, &["check"]);
        assert_eq!(checked, "no lessons are touched; files changed: 0\n", "{content}");
    }
    repo.write("big.bin", "abcd");
    assert!(!repo.path().join("RAN").exists(), "no filter ran");
    insta::assert_snapshot!(ask(&repo, &["check"]), @"
    ## big.bin
    - gotcha (whole file, touched at line 1, c96caf4, 2 days): Regenerate it with the schema.
    warning: `big.bin` changed, but it is under a filter, which Chronicle does not run: the whole file counts as changed
    warning: `big.bin` is binary or filtered; lessons are matched to the file, not to lines
    ");
}
