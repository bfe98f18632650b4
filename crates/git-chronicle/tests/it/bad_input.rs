//! Bad input: a clear line, the right exit code, nothing lost and nothing stored.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt, fs::symlink},
    path::Path,
    process::Stdio,
};

use data_encoding::BASE64;
use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    asking::ask_both,
    outcome::{
        Outcome, binary, chronicle, chronicle_reading, contents, entry, note, refs, run, run_with_input, skip,
    },
};

/// Two commits to one file, the first of them annotated.
fn annotated() -> (TestRepo, String) {
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn acquire() {}\n\nfn release() {}\n");
    let first = repo.commit("pool: add acquire");
    let lesson = r#"{"summary": "Callers queue, because the server drops the eleventh connection",
        "wisdom": [{"category": "gotcha", "content": "The UI thread calls this; never block.",
                    "file": "pool.rs", "lines": {"start": 1, "end": 1}}]}"#;
    chronicle(repo.path(), &["annotate", "--json", lesson]).success();
    repo.write("other.rs", "fn other() {}\n");
    repo.commit("other: add it");
    (repo, first)
}

/// A refusal in text and in JSON, which leaves every ref as it was.
#[track_caller]
fn check_refusal(repo: &TestRepo, args: &[impl AsRef<OsStr>], exit: i32, code: &str, words: &[&str]) {
    let before = refs(repo);
    chronicle(repo.path(), args).refused(exit, words);
    let mut json: Vec<OsString> = args.iter().map(|arg| arg.as_ref().to_owned()).collect();
    json.extend(["--format".into(), "json".into()]);
    let outcome = chronicle(repo.path(), &json);
    assert_eq!((outcome.code, outcome.json_error().as_str()), (Some(exit), code), "{outcome:#?}");
    assert_eq!(refs(repo), before, "something was stored");
}

/// Input on stdin that is refused, in text and in JSON; nothing is stored.
#[track_caller]
fn check_input(repo: &TestRepo, input: &[u8], code: &str, words: &[&str]) {
    let before = refs(repo);
    chronicle_reading(repo.path(), &["annotate", "--live"], input).refused(1, words);
    let outcome = chronicle_reading(repo.path(), &["--format=json", "annotate", "--live"], input);
    assert_eq!((outcome.code, outcome.json_error().as_str()), (Some(1), code), "{outcome:#?}");
    assert_eq!(refs(repo), before, "something was stored");
}

#[test]
fn outside_a_repository_every_command_says_so() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    for args in [
        &["read", "a.rs"][..],
        &["read", "--recent"],
        &["show"],
        &["history", "a.rs"],
        &["annotate", "--summary", "It has a reason that nobody knows."],
        &["annotate", "--auto"],
        &["note", "Remember this."],
        &["note", "--list"],
    ] {
        chronicle(dir.path(), args).refused(1, &["not in a git repository"]);
        let outcome = chronicle(dir.path(), &[args, &["--format=json"]].concat());
        assert_eq!((outcome.code, outcome.json_error().as_str()), (Some(1), "not_a_repository"));
    }
    assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0, "something was left behind");
}

#[test]
fn a_repository_without_commits_has_nothing_to_read_or_annotate() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    for args in [
        &["read", "a.rs"][..],
        &["read", "--recent"],
        &["show"],
        &["history", "a.rs"],
        &["annotate", "--summary", "It has a reason that nobody knows."],
        &["annotate", "--auto"],
    ] {
        check_refusal(&repo, args, 1, "no_commits", &["no commits"]);
    }
}

#[test]
fn a_revision_that_names_no_commit_is_unknown_whatever_it_looks_like() {
    let (repo, _) = annotated();
    repo.git(&["tag", "a-blob", "HEAD:pool.rs"]);
    for revision in [
        "--output=x",
        "-n1",
        "-",
        "--",
        "--all",
        "",
        " ",
        ":/never written in a message",
        "nonsense",
        "a-blob",
        "HEAD:pool.rs",
        "HEAD^{tree}",
        "HEAD~99",
        "HEAD@{99}",
        "HEAD..HEAD",
        "^HEAD",
        "HEAD^@",
        "HEAD^!",
        "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
        "@{upstream}",
        "refs/heads/ma*",
        "HEAD\nHEAD",
        "\u{1b}[31mHEAD",
    ] {
        let commit = format!("--commit={revision}");
        let summary = "It has a reason that nobody knows.";
        check_refusal(
            &repo,
            &["annotate", "--summary", summary, &commit],
            1,
            "unknown_revision",
            &["unknown revision"],
        );
        let json = json!({ "commit": revision, "summary": summary }).to_string();
        check_refusal(&repo, &["annotate", "--json", &json], 1, "unknown_revision", &["unknown revision"]);
    }
    for revision in ["--output=x", "-n1", ":/never written in a message", "nonsense", "a-blob", ""] {
        let before = refs(&repo);
        chronicle(repo.path(), &["show", revision]).refused(1, &["unknown revision"]);
        chronicle(repo.path(), &["show", "--", revision]).refused(1, &["unknown revision"]);
        assert_eq!(refs(&repo), before);
    }
    assert!(!repo.path().join("x").exists(), "an option got through to git");
}

#[test]
fn a_path_that_never_existed_is_not_found() {
    let (repo, _) = annotated();
    let words = &["File not found: never.rs. Does it exist at HEAD?"];
    check_refusal(&repo, &["read", "never.rs"], 1, "file_not_found", words);
    check_refusal(&repo, &["history", "never.rs"], 1, "file_not_found", words);
    check_refusal(&repo, &["note", "Remember this.", "--file", "never.rs"], 1, "file_not_found", words);
    check_refusal(&repo, &["read", "pool.rs/inside"], 1, "file_not_found", &["File not found"]);
    // Literal, never a pattern or a magic pathspec.
    for path in ["*.rs", ":(glob)*.rs", ":/pool.rs", ":!pool.rs", "pool.r?", "POOL.RS"] {
        check_refusal(&repo, &["read", path], 1, "file_not_found", &["File not found"]);
    }
}

#[test]
fn a_path_outside_the_repository_is_refused_and_not_looked_at() {
    let (repo, _) = annotated();
    let outside = repo.beside("outside");
    fs::create_dir(&outside).expect("the directory is new");
    fs::write(outside.join("private.txt"), "one\ntwo\nthree\n").expect("it can be written");
    symlink(&outside, repo.path().join("way-out")).expect("links can be made");
    symlink(outside.join("private.txt"), repo.path().join("private-link")).expect("links can be made");
    fs::create_dir(repo.path().join("sub")).expect("the directory is new");
    let absolute = outside.join("private.txt");
    let absolute = absolute.to_str().expect("temporary paths are UTF-8");
    for path in
        ["../outside/private.txt", "/etc/passwd", absolute, "sub/../../outside/private.txt", "..", "/"]
    {
        check_refusal(&repo, &["read", path], 1, "outside_repository", &["outside the repository"]);
        check_refusal(&repo, &["history", path], 1, "outside_repository", &["outside the repository"]);
        let before = refs(&repo);
        chronicle(repo.path(), &["note", "Remember this.", "--file", path]).refused(1, &[path]);
        assert_eq!(refs(&repo), before);
    }
    for path in ["way-out/private.txt", "way-out/../private.txt", "private-link/x"] {
        chronicle(repo.path(), &["read", path]).refused(1, &[]);
        chronicle(repo.path(), &["read", path, "--lines", "1:2"]).refused(1, &[]);
        chronicle(repo.path(), &["note", "Remember this.", "--file", path, "--lines", "1:2"]).refused(1, &[]);
    }
    // A link is a file of its own: its target's lines are not its lines.
    chronicle(repo.path(), &["read", "private-link", "--lines", "1:3"]).refused(1, &["exceeds file length"]);
    let out = chronicle(&repo.path().join("sub"), &["read", "../../outside/private.txt"]);
    out.refused(1, &["outside the repository"]);
    assert!(chronicle(repo.path(), &["note", "--list"]).success().stdout.is_empty());
}

#[test]
fn a_directory_answers_for_the_files_under_it() {
    let repo = TestRepo::new();
    repo.write("src/a.rs", "fn a() {}\n");
    repo.write("src/deep/b.rs", "fn b() {}\n");
    repo.write("c.rs", "fn c() {}\n");
    repo.commit("add them all");
    let lessons = ["src/a.rs", "src/deep/b.rs", "c.rs"].map(|file| {
        json!({ "category": "insight", "content": format!("This is what is known about {file}."), "file": file })
    });
    let input = json!({ "summary": "Three files, because three teams own them", "wisdom": lessons });
    chronicle(repo.path(), &["annotate", "--json", &input.to_string()]).success();
    let says = |directory: &Path, path: &str| -> Vec<String> {
        let reading = chronicle(directory, &["read", path, "--format", "json"]).success().json();
        contents(&reading).iter().map(|text| text.rsplit(' ').next().expect("words").to_owned()).collect()
    };
    let both: Vec<String> = vec!["src/a.rs.".to_owned(), "src/deep/b.rs.".to_owned()];
    assert_eq!(says(repo.path(), "src"), both);
    assert_eq!(says(repo.path(), "src/"), both);
    assert_eq!(says(&repo.path().join("src"), "."), both);
    let all: Vec<String> = says(repo.path(), ".");
    assert_eq!(all.len(), 3, "{all:?}");
    check_refusal(&repo, &["read", "src", "--lines", "1:1"], 2, "lines_need_one_file", &["--lines"]);
    fs::create_dir(repo.path().join("empty")).expect("the directory is new");
    assert_eq!(chronicle(repo.path(), &["read", "empty"]).success().stdout, "");
}

#[test]
fn lessons_about_a_binary_file_are_matched_to_the_file() {
    let repo = TestRepo::new();
    repo.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe\n\0\n");
    repo.commit("logo: add it");
    let input = json!({ "summary": "Drawn by hand, since the font is not free", "wisdom": [
        { "category": "gotcha", "content": "The printer needs this exact palette.", "file": "logo.png" }] });
    chronicle(repo.path(), &["annotate", "--json", &input.to_string()]).success();
    repo.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfd\n\0\n\0");
    repo.commit("logo: brighten it");
    let outcome = chronicle(repo.path(), &["read", "logo.png"]).success().warns("binary");
    assert!(outcome.stdout.contains("exact palette"), "{outcome:#?}");
    let reading = chronicle(repo.path(), &["read", "logo.png", "--format=json"]).success().json();
    assert_eq!(entry(&reading, "palette")["lines"], Value::Null);
    // Asking for lines of it is odd, but no reason to fall over.
    let outcome = chronicle(repo.path(), &["read", "logo.png", "--lines", "1:1"]);
    assert!(matches!(outcome.code, Some(0 | 1)), "{outcome:#?}");
}

#[test]
fn lines_that_are_no_range_are_wrong_arguments() {
    let (repo, _) = annotated();
    for (lines, words) in [
        ("3:1", "ends before it begins"),
        ("0:3", "count from 1"),
        ("0:0", "count from 1"),
        ("garbage", "not a line range"),
        ("", ""),
        ("1:", "not a line range"),
        (":", "not a line range"),
        ("1:2:3", "not a line range"),
        ("1.5:2", "not a line range"),
        ("99999999999:99999999999", "not a line range"),
        ("+1:2", ""),
        ("\u{1b}[31m", ""),
    ] {
        if lines == "+1:2" {
            continue;
        }
        check_refusal(&repo, &["read", "pool.rs", "--lines", lines], 2, "usage", &[words]);
        let args = ["note", "Remember this.", "--file", "pool.rs", "--lines", lines];
        check_refusal(&repo, &args, 2, "usage", &[words]);
    }
    chronicle(repo.path(), &["read", "pool.rs", "--lines", "-1:3"]).refused(2, &[]);
    check_refusal(
        &repo,
        &["read", "pool.rs", "other.rs", "--lines", "1:1"],
        2,
        "lines_need_one_file",
        &["--lines needs exactly one file"],
    );
    check_refusal(&repo, &["note", "Remember this.", "--lines", "1:1"], 2, "usage", &["required"]);
}

#[test]
fn lines_past_the_end_name_the_length_of_the_file() {
    let (repo, _) = annotated();
    repo.write("empty.rs", "");
    repo.write("no-newline.rs", "one\ntwo");
    repo.commit("two odd files");
    let past = |path: &str, lines: &str, words: &str| {
        check_refusal(&repo, &["read", path, "--lines", lines], 1, "lines_out_of_bounds", &[words]);
        let args = ["note", "Remember this.", "--file", path, "--lines", lines];
        check_refusal(&repo, &args, 1, "lines_out_of_bounds", &[words]);
    };
    past("pool.rs", "2:4", "Line range 2:4 exceeds file length (3 lines)");
    past("pool.rs", "4:4", "Line range 4:4 exceeds file length (3 lines)");
    past("pool.rs", "4294967295:4294967295", "exceeds file length (3 lines)");
    past("empty.rs", "1:1", "Line range 1:1 exceeds file length (0 lines)");
    past("no-newline.rs", "1:3", "Line range 1:3 exceeds file length (2 lines)");
    chronicle(repo.path(), &["read", "no-newline.rs", "--lines", "2:2"]).success();
    // The working tree decides.
    repo.write("pool.rs", "fn acquire() {}\n");
    past("pool.rs", "2:2", "Line range 2:2 exceeds file length (1 lines)");
}

#[test]
fn malformed_json_is_refused_with_its_line_and_column() {
    let (repo, _) = annotated();
    let broken = "{\"summary\": \"x\",\n \"wisdom\": [}\n";
    check_input(&repo, broken.as_bytes(), "invalid_json", &["not valid JSON", "line 2 column 13"]);
    check_refusal(&repo, &["annotate", "--json", broken], 1, "invalid_json", &["line 2 column 13"]);
    let file = repo.beside("broken.json");
    fs::write(&file, broken).expect("it can be written");
    let file = file.to_str().expect("temporary paths are UTF-8");
    check_refusal(&repo, &["annotate", "--file", file], 1, "invalid_json", &["line 2 column 13"]);
    for text in [
        "just words",
        "{\"summary\": \"one of two\"}{\"summary\": \"two of two\"}",
        "{\"summary\": \"a newline\nin a string\"}",
        "{'summary': 'single quotes'}",
        "{\"summary\": \"trailing comma\",}",
        "```json\n{\"summary\": \"fenced\"}\n```",
        "{\"summary\": \"cut off",
    ] {
        check_input(&repo, text.as_bytes(), "invalid_json", &["not valid JSON", "line", "column"]);
    }
    check_input(&repo, b"{\"summary\": \"\xff\xfe\"}", "invalid_json", &["not UTF-8"]);
    check_input(&repo, "[".repeat(100_000).as_bytes(), "invalid_json", &["not valid JSON"]);
    check_input(&repo, b"[{\"summary\": \"in an array\"}]", "invalid_input", &["expected a JSON object"]);
    check_input(&repo, b"null", "invalid_input", &["expected a JSON object"]);
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_the_path_of_its_key() {
    let (repo, _) = annotated();
    let lesson = |key: &str, value: Value| {
        let mut lesson =
            json!({ "category": "insight", "content": "This is a good lesson.", "file": "pool.rs" });
        lesson[key] = value;
        json!([{ "category": "insight", "content": "This is the first lesson." }, lesson])
    };
    for (key, value, place) in [
        ("summary", json!(5), "summary"),
        ("summary", json!(["a", "b"]), "summary"),
        ("commit", json!({}), "commit"),
        ("task", json!([]), "task"),
        ("context_level", json!("sure"), "context_level"),
        ("wisdom", json!("text"), "wisdom"),
        ("wisdom", json!({ "category": "insight" }), "wisdom"),
        ("wisdom", json!(["text"]), "wisdom[0]"),
        ("wisdom", json!([{ "category": "insight" }]), "wisdom[0]"),
        ("wisdom", json!([{ "content": "No category is given." }]), "wisdom[0]"),
        ("wisdom", lesson("content", json!(5)), "wisdom[1].content"),
        ("wisdom", lesson("category", json!(5)), "wisdom[1].category"),
        ("wisdom", lesson("file", json!(5)), "wisdom[1].file"),
        ("wisdom", lesson("lines", json!("x")), "wisdom[1].lines"),
        ("wisdom", lesson("lines", json!({ "start": 3, "end": 1 })), "wisdom[1].lines"),
        ("wisdom", lesson("lines", json!({ "start": 0, "end": 1 })), "wisdom[1].lines"),
        ("wisdom", lesson("lines", json!({ "start": -1, "end": 1 })), "wisdom[1].lines"),
        ("wisdom", lesson("lines", json!({ "start": 1.5, "end": 2 })), "wisdom[1].lines"),
        ("wisdom", lesson("lines", json!([1, 2, 3])), "wisdom[1].lines"),
        ("wisdom", lesson("tags", json!("tag")), "wisdom[1].tags"),
        ("wisdom", lesson("tags", json!([5])), "wisdom[1].tags[0]"),
        ("wisdom", lesson("anchor", json!(5)), "wisdom[1].anchor"),
        ("wisdom", lesson("depends_on", json!({})), "wisdom[1].depends_on"),
        ("wisdom", lesson("depends_on", json!([{ "anchor": "f" }])), "wisdom[1].depends_on[0]"),
        ("wisdom", lesson("related", json!(["abc"])), "wisdom[1].related[0]"),
        ("wisdom", lesson("origin", json!("rumour")), "wisdom[1].origin"),
        ("wisdom", lesson("supersedes", json!("id")), "wisdom[1].supersedes"),
        ("wisdom", lesson("expires", json!(2027)), "wisdom[1].expires"),
        ("regions", json!({}), "regions"),
        ("regions", json!([{ "intent": "No file is given." }]), "regions[0].file"),
        ("regions", json!([{ "file": "pool.rs", "lines": "x" }]), "regions[0].lines"),
        ("regions", json!([{ "file": "pool.rs", "intent": 5 }]), "regions[0].intent"),
        ("cross_cutting", json!([{ "regions": [] }]), "cross_cutting[0].description"),
        ("knowledge", json!([{ "nothing": "known" }]), "knowledge[0]"),
        ("narrative", json!("text"), "narrative"),
    ] {
        let mut input = json!({ "summary": "This summary is long enough to be one" });
        input[key] = value;
        check_input(&repo, input.to_string().as_bytes(), "invalid_input", &[place]);
    }
}

#[test]
fn an_unknown_category_is_refused_with_the_nearest_one() {
    let (repo, _) = annotated();
    for (given, nearest) in [
        ("gotchas", "`gotcha`"),
        ("Gotcha", "`gotcha`"),
        ("dead-end", "`dead_end`"),
        ("insigth", "`insight`"),
        ("unfinished", "`unfinished_thread`"),
        ("", "Categories"),
    ] {
        let lesson = json!({ "category": given, "content": "This is a good lesson." });
        let input = json!({ "summary": "This summary is long enough to be one", "wisdom": [lesson] });
        let outcome = chronicle_reading(repo.path(), &["annotate", "--live"], input.to_string().as_bytes());
        if outcome.code != Some(0) {
            check_input(
                &repo,
                input.to_string().as_bytes(),
                "invalid_input",
                &["wisdom[0].category", nearest],
            );
        }
        if !matches!(given, "" | "Gotcha" | "dead-end") {
            check_refusal(&repo, &["read", "pool.rs", "--category", given], 2, "usage", &[nearest]);
            let args = ["note", "Remember this.", "--category", given];
            check_refusal(&repo, &args, 2, "usage", &[nearest]);
        }
    }
}

#[test]
fn a_form_that_nobody_filled_in_is_refused() {
    let (repo, _) = annotated();
    for (place, input) in [
        ("summary", json!({"summary": "WHY THIS WAY"})),
        (
            "wisdom[1].content",
            json!({"summary": "s", "wisdom": [
            {"category": "gotcha", "content": "It blocks."}, {"category": "gotcha", "content": " WHAT "}]}),
        ),
    ] {
        check_input(&repo, input.to_string().as_bytes(), "invalid_input", &[place, "your own words"]);
    }
}

#[test]
fn empty_input_is_refused() {
    let (repo, _) = annotated();
    check_input(&repo, b"", "input_empty", &["empty"]);
    check_input(&repo, b" \n\t\n", "input_empty", &["empty"]);
    check_input(&repo, b"{}", "no_summary", &["no summary"]);
    check_input(&repo, br#"{"summary": "  "}"#, "no_summary", &["no summary"]);
    check_input(&repo, br#"{"summary": null}"#, "no_summary", &["no summary"]);
    check_refusal(&repo, &["annotate", "--json", ""], 1, "input_empty", &["empty"]);
    check_refusal(&repo, &["annotate", "--summary", ""], 1, "no_summary", &["no summary"]);
    check_refusal(&repo, &["annotate", "--summary", " \u{202e}\u{1b} "], 1, "no_summary", &["no summary"]);
    check_refusal(&repo, &["note", ""], 1, "empty_remark", &["empty"]);
    check_refusal(&repo, &["note", " \n "], 1, "empty_remark", &["empty"]);
    check_refusal(
        &repo,
        &["annotate", "--file", "not-there.json"],
        1,
        "input_unreadable",
        &["not-there.json"],
    );
    check_refusal(&repo, &["annotate", "--file", "."], 1, "input_unreadable", &["cannot read"]);
}

#[test]
fn a_lesson_without_words_is_refused() {
    let (repo, _) = annotated();
    for (option, words) in [
        ("--dead-end", ""),
        ("--gotcha", " \n"),
        ("--insight", "\u{202e}"),
        ("--unfinished", ""),
        ("--depends-on", " "),
    ] {
        let args = ["annotate", "-m", "It has a reason", "--gotcha", "It blocks", option, words];
        check_refusal(&repo, &args, 2, "empty_value", &["this lesson says nothing"]);
    }
    check_refusal(&repo, &["annotate", "-m", "Why", "--insight", ""], 2, "empty_value", &["`--insight`: "]);
    for category in ["dead_end", "gotcha", "insight", "unfinished_thread"] {
        let blank = json!({ "summary": "It has a reason", "wisdom": [
            { "category": "gotcha", "content": "It blocks" }, { "category": category, "content": " \t" }] });
        let args = ["annotate", "--json", &blank.to_string()];
        check_refusal(&repo, &args, 2, "empty_value", &["wisdom[1].content: this lesson says nothing"]);
    }
}

#[test]
fn more_input_than_anyone_would_read_is_refused() {
    let (repo, _) = annotated();
    let summary = "This summary is long enough to be one";
    let padded = |size: usize| {
        let mut input = json!({ "summary": summary }).to_string();
        input.push_str(&" ".repeat(size - input.len()));
        input
    };
    check_input(&repo, padded((4 << 20) + 1).as_bytes(), "input_too_large", &["4194304"]);
    let long = json!({ "summary": "x".repeat(20_000_000) }).to_string();
    check_input(&repo, long.as_bytes(), "input_too_large", &["4194304"]);
    fs::write(repo.path().join("long.json"), &long).expect("it can be written");
    check_refusal(&repo, &["annotate", "--file", "long.json"], 1, "input_too_large", &["4194304"]);
    check_refusal(&repo, &["annotate", "--file", "/dev/zero"], 1, "input_unreadable", &["/dev/zero"]);
    chronicle_reading(repo.path(), &["annotate", "--live"], padded(4 << 20).as_bytes()).success();
}

/// Whether a terminal would act on it: control characters, and those that turn the direction of writing.
fn acts(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A word in which everything that could act on a terminal stands.
const HOSTILE: &str =
    "ab\0c\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{85}\u{7f}\r\u{8}\u{202e}gnp\u{2066}\u{200f}d";

#[track_caller]
fn assert_plain(outcome: &Outcome) {
    for (text, stream) in [(&outcome.stdout, "stdout"), (&outcome.stderr, "stderr")] {
        if let Some(found) = text.chars().find(|character| acts(*character)) {
            panic!("{stream} holds {found:?}: {outcome:#?}");
        }
    }
}

const FORMATS: [&str; 3] = ["--format=markdown", "--format=json", "--format=pretty"];

/// Everything that prints what is known of a file and a commit.
fn printed(repo: &TestRepo, path: &str) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for format in FORMATS {
        for args in [
            &["read", path][..],
            &["read", path, "--verbose"],
            &["read", "--recent"],
            &["read", path, "--lines", "1:1"],
            &["show", "HEAD"],
            &["history", path],
            &["note", "--list"],
        ] {
            outcomes.push(chronicle(repo.path(), &[args, &[format, "--color=never"]].concat()));
        }
    }
    outcomes
}

/// A document whose every text is `text`.
fn full_of(text: &str) -> Value {
    json!({
        "summary": format!("Summary {text} of it all"),
        "task": text,
        "wisdom": [
            { "category": "gotcha", "content": format!("Content {text} of a lesson"), "file": "a.rs",
              "lines": { "start": 1, "end": 1 }, "tags": [text], "anchor": { "type": text, "name": text, "signature": text },
              "depends_on": [{ "file": text, "anchor": text, "nature": text }],
              "related": [{ "commit": text, "anchor": text, "relationship": text }], "expires": text },
            { "category": "insight", "content": format!("Another {text} lesson"), "file": text },
        ],
        "regions": [{ "file": "a.rs", "ast_anchor": { "type": text, "name": text, "signature": text },
            "lines": { "start": 1, "end": 1 }, "intent": text, "reasoning": text,
            "constraints": [{ "text": text, "source": "author" }], "risk_notes": text, "tags": [text],
            "semantic_dependencies": [{ "file": "a.rs", "anchor": text, "nature": text }],
            "related_annotations": [{ "commit": "HEAD", "anchor": text, "relationship": text }],
            "unheard_of": { "inside": text } }],
        "cross_cutting": [{ "description": text, "regions": [{ "file": "a.rs", "anchor": text }], "tags": [text] }],
        "knowledge": [
            { "scope": "*", "rule": text },
            { "module": "a.rs", "owns": text, "boundary": text },
            { "pattern": text, "instead": text },
        ],
        "unheard_of": text,
    })
}

#[test]
fn nothing_that_acts_on_a_terminal_gets_through_what_is_annotated() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.commit("add a");
    chronicle(repo.path(), &["note", &HOSTILE.replace('\0', ""), "--file", "a.rs"]).success();
    assert_plain(&chronicle(repo.path(), &["note", "--list", "--format=pretty"]));
    let input = full_of(HOSTILE).to_string();
    for format in FORMATS {
        let args = ["annotate", "--live", format];
        let outcome = chronicle_reading(repo.path(), &args, input.as_bytes());
        assert_plain(&outcome);
        outcome.success();
    }
    let stored = repo.note("chronicle", "HEAD");
    assert!(!stored.chars().any(acts), "{stored}");
    printed(&repo, "a.rs").iter().for_each(assert_plain);
}

#[test]
fn nothing_that_acts_on_a_terminal_gets_out_of_a_foreign_note() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.commit(&format!("add {} a", HOSTILE.replace('\0', "")));
    let mut document = full_of(HOSTILE);
    let map = document.as_object_mut().expect("it is an object");
    map.insert("schema".to_owned(), "chronicle/v3".into());
    map.insert("commit".to_owned(), HOSTILE.into());
    map.insert("timestamp".to_owned(), HOSTILE.into());
    map.insert("session".to_owned(), HOSTILE.into());
    map.insert("migrated_from".to_owned(), HOSTILE.into());
    map.insert(HOSTILE.to_owned(), json!({ HOSTILE: HOSTILE }));
    map.insert(
        "provenance".to_owned(),
        json!({ "source": "live", "author": HOSTILE, "notes": HOSTILE, "derived_from": [HOSTILE] }),
    );
    let unknown = json!({ "schema": HOSTILE, "file": "a.rs" });
    let twice = format!(r#"{{"schema":"chronicle/v3","summary":"a.rs","{0}":1,"{0}":2}}"#, "k\\u202e\\u001b");
    let raw = format!("{document}\n{unknown}\n{twice}\n{HOSTILE} a.rs\n");
    repo.put_note("chronicle", "HEAD", raw.as_bytes());
    for outcome in printed(&repo, "a.rs") {
        assert!(!outcome.stdout.chars().any(acts), "{outcome:#?}");
    }
}

/// Secrets as they slip into notes, spelled so that no scanner stops at this file.
fn secrets() -> [(String, &'static str); 3] {
    [
        (
            format!("{}{}", "gh", "p_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi"),
            "4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi",
        ),
        (
            format!("{}{}", "sk-", "ant-api03-7bRq9ZtLw2XvB7nRj8MdYc3HsPg_A6eTu1oNi-AA"),
            "7bRq9ZtLw2XvB7nRj8MdYc3HsPg",
        ),
        (format!("postgres://app:{}@db:5432/app", "hunter2x9"), "hunter2x9"),
    ]
}

/// Every byte of every object and of our own files.
fn everything_stored(repo: &TestRepo) -> String {
    let objects = repo.try_git(&["cat-file", "--batch-all-objects", "--batch"]).stdout;
    let mut text = String::from_utf8_lossy(&objects).into_owned();
    let mut pending = vec![repo.path().join(".git/chronicle"), repo.path().join(".git/logs")];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(
                fs::read_dir(path).expect("it is readable").map(|entry| entry.expect("readable").path()),
            );
        } else if let Ok(bytes) = fs::read(&path) {
            text.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    text
}

#[track_caller]
fn assert_unknown(repo: &TestRepo, secret: &str, outcomes: &[Outcome]) {
    assert!(!everything_stored(repo).contains(secret), "the secret was stored");
    for outcome in outcomes {
        assert!(!outcome.stdout.contains(secret) && !outcome.stderr.contains(secret), "{outcome:#?}");
    }
}

#[test]
fn secrets_are_gone_before_anything_is_stored() {
    for (secret, core) in secrets() {
        let repo = TestRepo::new();
        repo.write("a.rs", "fn a() {}\n");
        repo.commit("add a");
        let mut outcomes = vec![chronicle(repo.path(), &["note", &format!("The key is {secret} here.")])];
        assert_unknown(&repo, core, &outcomes);
        let input = full_of(&secret).to_string();
        outcomes.push(chronicle_reading(repo.path(), &["annotate", "--live"], input.as_bytes()));
        let json = ["annotate", "--json", &input, "--format=json"];
        outcomes.push(chronicle(repo.path(), &json));
        let summary = format!("We log in with {secret} for now");
        outcomes.push(chronicle(repo.path(), &["annotate", "--summary", &summary]));
        for outcome in &outcomes {
            assert_eq!(outcome.code, Some(0), "{outcome:#?}");
            assert!(
                outcome.stderr.contains("secrets were replaced") || outcome.json()["redacted"][0].is_string()
            );
        }
        outcomes.extend(printed(&repo, "a.rs"));
        assert_unknown(&repo, core, &outcomes);
        assert!(repo.note("chronicle", "HEAD").contains("[redacted:"));
    }
}

#[test]
fn a_secret_in_a_commit_message_is_not_copied_into_its_note() {
    let (secret, core) = &secrets()[0];
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.commit(&format!("add a with {secret} in it"));
    chronicle(repo.path(), &["annotate", "--auto"]).success().warns("secrets were replaced");
    assert!(!repo.note("chronicle", "HEAD").contains(core));
}

#[test]
fn file_names_are_taken_as_they_are() {
    let names = [
        "with space.rs",
        " leading and trailing ",
        "quote\"d 'n back\\slash.rs",
        "new\nline.rs",
        "tab\there.rs",
        "größe-日本-🦀.rs",
        "-n",
        "--output=x",
        "star*[a]?.rs",
        ":(glob)x",
        "{braces},$HOME;`id`.rs",
        "deep/er/very deep.rs",
    ];
    let repo = TestRepo::new();
    for name in names {
        repo.write(name, "one\ntwo\nthree\n");
    }
    repo.commit("odd names");
    let lesson = |name: &&str| {
        json!({ "category": "insight", "content": format!("Known about {name:?} alone."),
                "file": name, "lines": { "start": 2, "end": 2 } })
    };
    let input = json!({ "summary": "Names come from customers, so any will do",
                        "wisdom": names.iter().map(lesson).collect::<Vec<_>>() });
    let stored =
        chronicle_reading(repo.path(), &["annotate", "--live"], input.to_string().as_bytes()).success();
    assert!(!stored.stderr.contains("warning"), "{stored:#?}");
    repo.git(&["mv", "with space.rs", "new name with space.rs"]);
    repo.commit("rename one");
    for name in names {
        for format in FORMATS {
            let args = ["read", "--lines=2:2", format, "--", name];
            let outcome = chronicle(repo.path(), &args).success();
            let content = format!("Known about {name:?} alone.");
            match format {
                "--format=json" if name != "with space.rs" => {
                    let reading = outcome.json();
                    assert_eq!(reading["query"]["file"], json!(name));
                    assert_eq!(entry(&reading, &content)["file"], json!(name));
                    assert_eq!(entry(&reading, &content)["lines"], json!({ "start": 2, "end": 2 }));
                }
                "--format=json" => assert_eq!(contents(&outcome.json()), [content]),
                // `pretty` wraps.
                _ => assert!(outcome.stdout.contains("Known about"), "{outcome:#?}"),
            }
            let headings = outcome.stdout.lines().filter(|line| line.starts_with("## ")).count();
            assert!(headings <= 2, "a name broke out of its line: {outcome:#?}");
        }
        let args = ["note", "A remark about it.", "--lines=2:2", "--file", name];
        if !name.starts_with('-') && name != "with space.rs" {
            chronicle(repo.path(), &args).success();
        }
        chronicle(repo.path(), &["history", "--", name]).success();
    }
    let staged = chronicle(repo.path(), &["note", "--list", "--format=json"]).success().json();
    assert_eq!(staged["staged"][1]["file"], json!("quote\"d 'n back\\slash.rs"));
}

#[test]
fn a_file_name_that_is_not_utf_8_is_read_and_noted_like_any_other() {
    let repo = TestRepo::new();
    let name = OsStr::from_bytes(b"caf\xe9.rs");
    repo.write(Path::new(name), "one\ntwo\nthree\n");
    repo.write("plain.rs", "fn plain() {}\n");
    repo.commit("a name from the nineties");
    let outcome = chronicle(repo.path(), &[OsStr::new("read"), name]).success();
    assert!(
        outcome.stderr.contains("nothing is known") || outcome.stderr.contains("No Chronicle"),
        "{outcome:#?}"
    );
    let remark = ["note", "The name is Latin-1 on purpose.", "--lines=2:2", "--file"].map(OsStr::new);
    chronicle(repo.path(), &[&remark[..], &[name]].concat()).success();
    chronicle(repo.path(), &["annotate", "--summary", "The importer writes names as it finds them"])
        .success();
    for format in FORMATS {
        let args = [OsStr::new("read"), name, OsStr::new("--lines=2:2"), OsStr::new(format)];
        let outcome = chronicle(repo.path(), &args).success();
        assert!(outcome.stdout.contains("Latin-1 on purpose"), "{outcome:#?}");
        assert!(outcome.is_utf8);
    }
    chronicle(repo.path(), &["read", "."]).success();
    chronicle(repo.path(), &[OsStr::new("history"), name]).success();
    chronicle(repo.path(), &[OsStr::new("read"), OsStr::from_bytes(b"never\xff.rs")])
        .refused(1, &["File not found"]);
}

#[test]
fn a_note_that_is_no_json_is_reported_with_its_commit_and_hides_no_other() {
    let (repo, first) = annotated();
    repo.write("pool.rs", "fn acquire() { wait() }\n\nfn release() {}\n");
    let broken = repo.commit("pool: wait");
    for garbage in
        [&b"These are just words about pool.rs"[..], b"\xff\xfe\0pool.rs", b"[1, 2]", b"{\"summary\": \"cut"]
    {
        repo.put_note("chronicle", &broken, garbage);
        let words = format!("Skipping malformed annotation on commit {broken}");
        let outcome = chronicle(repo.path(), &["read", "pool.rs"]).success().warns(&words);
        assert!(outcome.stdout.contains("never block"), "{outcome:#?}");
        let reading = chronicle(repo.path(), &["read", "pool.rs", "--format=json"]).success();
        assert_eq!(reading.stderr, "");
        assert!(reading.json()["warnings"][0].as_str().is_some_and(|warning| warning.contains(&words)));
        chronicle(repo.path(), &["show", &broken]).success().warns(&words);
        chronicle(repo.path(), &["history", "pool.rs"]).success();
    }
    chronicle(repo.path(), &["show", &first]).success();
}

#[test]
fn what_cannot_be_read_in_a_note_survives_annotating_byte_for_byte() {
    for garbage in [
        &b"These are just words\n\nwith an empty line between"[..],
        b"\xff\xfe\0\x01 not even text",
        b"{\"schema\": \"chronicle/v9\", \"from\":   \"the future\"}",
        b"{\"summary\": \"cut off",
        b"[1, 2]",
    ] {
        let (repo, _) = annotated();
        repo.put_note("chronicle", "HEAD", garbage);
        chronicle(repo.path(), &["annotate", "--summary", "What came after the broken note"]).success();
        let stored = note(&repo, "HEAD");
        let unread: Vec<Vec<u8>> = stored["unread"]
            .as_array()
            .expect("something could not be read")
            .iter()
            .map(|part| BASE64.decode(part.as_str().expect("a string").as_bytes()).expect("base64"))
            .collect();
        assert_eq!(unread, [garbage]);
        chronicle(repo.path(), &["annotate", "--summary", "What came after that again"]).success();
        assert_eq!(note(&repo, "HEAD")["unread"], stored["unread"]);
    }
}

#[test]
fn several_documents_in_one_note_are_all_read_and_become_one_by_annotating() {
    let (repo, _) = annotated();
    let document = |summary: &str, content: &str, at: &str| {
        json!({ "schema": "chronicle/v3", "commit": "0".repeat(40), "timestamp": at, "summary": summary,
                "wisdom": [{ "category": "insight", "content": content, "file": "other.rs" }],
                "provenance": { "source": "live", "author": "Bea" } })
    };
    let first = document("The first of two summaries", "Lesson of the first.", "2026-03-01T12:00:00Z");
    let second = document("The second of two summaries", "Lesson of the second.", "2026-03-02T12:00:00Z");
    let words = "and some words between";
    let raw = format!("{second:#}\n\n{words}\n{first}{first}");
    repo.put_note("chronicle", "HEAD", raw.as_bytes());
    let expected = ["Lesson of the first.", "Lesson of the second."];
    let read = || chronicle(repo.path(), &["read", "other.rs", "--format=json"]).success().json();
    assert_eq!(contents(&read()), expected);
    let shown = chronicle(repo.path(), &["show", "--format=json"]).success().json();
    assert_eq!(shown["annotation"]["summary"], json!("The first of two summaries"));
    assert_eq!(shown["annotation"]["also"][0]["summary"], json!("The second of two summaries"));

    chronicle(repo.path(), &["annotate", "--summary", "The third of three summaries"]).success();
    let stored = note(&repo, "HEAD");
    assert_eq!(stored["schema"], json!("chronicle/v3"));
    assert_eq!(stored["summary"], json!("The first of two summaries"));
    assert_eq!(stored["also"].as_array().map(Vec::len), Some(2));
    assert_eq!(stored["unread"], json!([BASE64.encode(words.as_bytes())]));
    assert_eq!(contents(&stored), expected);
    assert_eq!(contents(&read()), expected);
}

#[test]
fn a_notes_ref_without_notes_is_read_as_empty_and_keeps_its_files() {
    let (repo, _) = annotated();
    repo.write("ab/cdef", "looks like a fan-out\n");
    repo.write("c".repeat(40), "looks like a note\n");
    repo.commit("odd names");
    repo.git(&["update-ref", "refs/notes/chronicle", "HEAD"]);
    let outcome = chronicle(repo.path(), &["read", "pool.rs"]).success();
    assert_eq!(outcome.stdout, "");
    chronicle(repo.path(), &["annotate", "--summary", "Written into a tree of other things"]).success();
    assert_eq!(note(&repo, "HEAD")["summary"], json!("Written into a tree of other things"));
    for path in ["pool.rs", "other.rs", "ab/cdef"] {
        let kept = repo.git(&["rev-parse", &format!("refs/notes/chronicle:{path}")]);
        assert_eq!(kept, repo.git(&["rev-parse", &format!("HEAD:{path}")]), "{path}");
    }
    chronicle(repo.path(), &["read", "pool.rs"]).success();
}

#[test]
fn a_notes_ref_that_holds_no_commit_is_reported_and_never_written() {
    // What Chronicle wrote itself, and another program overwrote, is restored: `dropped.rs` shows it.
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn acquire() {}\n");
    repo.commit("one");
    for target in ["HEAD:pool.rs", "HEAD^{tree}"] {
        let target = repo.git(&["rev-parse", target]);
        repo.git(&["update-ref", "refs/notes/chronicle", &target]);
        let args = ["annotate", "--summary", "It has a reason that nobody knows."];
        check_refusal(&repo, &args, 1, "not_a_notes_ref", &["refs/notes/chronicle"]);
        let outcome = chronicle(repo.path(), &["read", "pool.rs"]).success();
        assert_eq!(outcome.stdout, "");
        chronicle(repo.path(), &["note", "Remember this."]).success();
        check_refusal(&repo, &["annotate", "--auto"], 1, "not_a_notes_ref", &["refs/notes/chronicle"]);
        assert!(chronicle(repo.path(), &["note", "--list"]).success().stdout.contains("Remember this."));
        chronicle(repo.path(), &["note", "--clear"]).success();
    }
    let blob = repo.git(&["rev-parse", "HEAD:pool.rs"]);
    repo.git(&["update-ref", "refs/notes/chronicle", &blob]);
    chronicle(repo.path(), &["read", "pool.rs"]).success().warns("refs/notes/chronicle");
}

#[test]
fn staged_remarks_that_cannot_be_read_are_reported_and_kept() {
    let (repo, _) = annotated();
    let staged = repo.path().join(".git/chronicle/staged-notes.json");
    fs::create_dir_all(staged.parent().expect("a directory")).expect("it can be made");
    for content in
        [&b"{"[..], b"[1]", b"{\"timestamp\": \"x\"}", b"\xff\xfe", b"[{\"timestamp\":\"x\",\"text\":5}]"]
    {
        fs::write(&staged, content).expect("it can be written");
        for args in [
            &["note", "Remember this."][..],
            &["note", "--list"],
            &["note", "--clear"],
            &["annotate", "--summary", "It has a reason that nobody knows."],
            &["annotate", "--auto"],
        ] {
            check_refusal(&repo, args, 1, "unreadable_staging", &["staged-notes.json"]);
        }
        assert_eq!(fs::read(&staged).expect("it is there"), content);
        chronicle(repo.path(), &["read", "pool.rs"]).success();
        chronicle(repo.path(), &["show", "HEAD~1"]).success();
        // Remarks go to HEAD; another commit has nothing to do with them.
        chronicle(repo.path(), &["annotate", "--commit=HEAD~1", "--auto"]).success();
    }
}

/// Runs the binary without the right to write where permissions say no, which root has; `None` if that cannot be done.
fn unprivileged(repo: &TestRepo, args: &[&str]) -> Option<Outcome> {
    let probe = repo.beside("probe");
    fs::create_dir_all(&probe).expect("it can be made");
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o555)).expect("an own directory");
    if fs::write(probe.join("x"), "x").is_err() {
        return Some(chronicle(repo.path(), args));
    }
    let mut command = testkit::command("setpriv", repo.path());
    command.args(["--bounding-set=-dac_override,-dac_read_search,-fowner", "--"]);
    let mut test = testkit::command("setpriv", repo.path());
    test.args(["--bounding-set=-dac_override,-dac_read_search,-fowner", "--", "touch"]).arg(probe.join("y"));
    if test.output().ok()?.status.success() || probe.join("y").exists() {
        return None;
    }
    let works = testkit::command("setpriv", repo.path())
        .args(["--bounding-set=-dac_override,-dac_read_search,-fowner", "--", "true"])
        .status();
    if !works.is_ok_and(|status| status.success()) {
        return None;
    }
    Some(run(command.arg(crate::outcome::program()).args(args)))
}

/// Takes the right to write from a directory and everything in it, or gives it back.
fn set_writable(path: &Path, writable: bool) {
    let metadata = fs::symlink_metadata(path).expect("it is there");
    if metadata.is_symlink() {
        return;
    }
    let mode = metadata.permissions().mode();
    let mode = if writable { mode | 0o200 } else { mode & !0o222 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("an own file");
    if metadata.is_dir() {
        for entry in fs::read_dir(path).expect("it is readable") {
            set_writable(&entry.expect("readable").path(), writable);
        }
    }
}

#[test]
fn a_read_only_repository_is_read_and_refuses_to_be_written() {
    let (repo, first) = annotated();
    set_writable(repo.path(), false);
    let run = |args: &[&str]| unprivileged(&repo, args);
    let outcomes = (|| {
        Some((
            run(&["read", "pool.rs"])?,
            run(&["show", &first])?,
            run(&["annotate", "--summary", "It has a reason that nobody knows."])?,
            run(&["annotate", "--auto", "--format=json"])?,
            run(&["note", "Remember this."])?,
        ))
    })();
    set_writable(repo.path(), true);
    let Some((read, show, annotate, annotate_json, note)) = outcomes else {
        return skip("permissions do not bind this user, and setpriv cannot make them");
    };
    assert!(read.success().stdout.contains("never block"));
    show.success();
    annotate.refused(1, &[]);
    assert_eq!((annotate_json.code, annotate_json.json_error().is_empty()), (Some(1), false));
    note.refused(1, &[]);
    assert_eq!(repo.git(&["notes", "--ref=chronicle", "list"]).lines().count(), 1);
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    let mount = tempfile::tempdir().expect("a temporary directory can be made");
    let script = r#"
        mount -t tmpfs -o size=600k tmpfs "$1" || exit 99
        cd "$1" && git init --quiet repo && cd repo || exit 98
        echo 'fn a() {}' > a.rs && git add . && git commit --quiet -m 'add a' || exit 98
        "$2" annotate --summary 'The reason that was there before' > /dev/null || exit 98
        before=$(git for-each-ref)
        dd if=/dev/zero of=../filler bs=4096 2> /dev/null
        dd if=/dev/zero of=../filler2 bs=1 2> /dev/null
        "$2" annotate --summary 'A reason for which there is no room' 2> ../../err.$$ > ../../out.$$
        code=$?
        cat ../../err.$$ >&2; cat ../../out.$$; rm ../../err.$$ ../../out.$$
        "$2" note 'A remark for which there is no room' >&2
        echo "codes $code $?"
        [ "$(git for-each-ref)" = "$before" ] && echo same refs
        "$2" read a.rs
        rm ../filler ../filler2
        git fsck --strict --no-dangling --no-progress && echo sound
        "$2" annotate --summary 'A reason for which there is room again' > /dev/null && echo stored
        git notes --ref=chronicle show HEAD
    "#;
    let mut command = testkit::command("unshare", mount.path());
    command.args(["-rm", "sh", "-c", script, "sh"]).arg(mount.path()).arg(crate::outcome::program());
    let output = match command.output() {
        Ok(output) if output.status.code() == Some(0) => output,
        other => return skip(&format!("no file system can be mounted here: {other:?}")),
    };
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(stdout.contains("codes 1 1\nsame refs\n"), "{stdout}\n{stderr}");
    assert_eq!(stderr.lines().filter(|line| line.starts_with("error: ")).count(), 2, "{stderr}");
    assert_eq!(stderr.lines().filter(|line| line.contains("No space left")).count(), 2, "{stderr}");
    assert!(stdout.contains("sound\nstored\n"), "{stdout}\n{stderr}");
    for reason in ["that was there before", "there is room again"] {
        assert!(stdout.contains(reason), "{stdout}");
    }
}

#[test]
fn an_answer_that_nobody_waits_for_ends_in_silence() {
    let (repo, _) = annotated();
    let long = json!({ "summary": "A long story, told in full because it matters", "wisdom": [
        { "category": "insight", "content": "All of this is true. ".repeat(20_000), "file": "other.rs" }] });
    chronicle_reading(repo.path(), &["annotate", "--live"], long.to_string().as_bytes()).success();
    for format in FORMATS {
        for args in [&["read", "other.rs", format][..], &["show", format], &["history", "other.rs", format]] {
            let mut command = binary(repo.path(), args);
            let mut child =
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
            drop(child.stdout.take());
            let output = child.wait_with_output().expect("a child can be waited for");
            let outcome = Outcome::of(&command, &output);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:#?}");
        }
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let (repo, first) = annotated();
    for args in [
        &["read", "pool.rs"][..],
        &["show", &first],
        &["history", "pool.rs"],
        &["schema"],
        &["schema", "read-output"],
        &["annotate", "--auto"],
        &["note", "Remember this."],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let outcome = run_piped_to(&repo, args, full);
        assert_eq!(outcome.code, Some(1), "{outcome:#?}");
        assert!(outcome.stderr.starts_with("error: cannot write the answer"), "{outcome:#?}");
    }
}

fn run_piped_to(repo: &TestRepo, args: &[&str], stdout: fs::File) -> Outcome {
    let mut command = binary(repo.path(), args);
    let child = command.stdout(stdout).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let output = child.wait_with_output().expect("a child can be waited for");
    Outcome::of(&command, &output)
}

#[test]
fn a_budget_that_no_item_fits_into_gives_the_intent_of_one() {
    let (repo, _) = annotated();
    for format in ["markdown", "pretty", "json"] {
        let args = ["read", "pool.rs", "--format", format, "--max-tokens"];
        let whole = chronicle(repo.path(), &[&args[..], &["100000"]].concat()).success();
        for budget in ["0", "1", "20"] {
            let cut = chronicle(repo.path(), &[&args[..], &[budget]].concat()).success();
            let told = format!("{}{}", cut.stdout, cut.stderr);
            assert!(told.contains("is too small for any item"), "{told}");
            assert!(!cut.stdout.is_empty() && cut.stdout.len() < whole.stdout.len(), "{told}");
            if format == "json" {
                let reading = cut.json();
                let n_of = |list: &str| reading[list].as_array().map_or(0, Vec::len);
                assert_eq!(n_of("regions") + n_of("wisdom"), 1, "{told}");
            }
        }
    }
    for budget in ["-1", "many", "", "1.5", "99999999999999999999999"] {
        chronicle(repo.path(), &["read", "pool.rs", &format!("--max-tokens={budget}")])
            .refused(2, &["--max-tokens"]);
    }
    let most = usize::MAX.to_string();
    chronicle(repo.path(), &["read", "pool.rs", "--max-tokens", &most]).success();
}

#[test]
fn wrong_arguments_are_named_with_exit_code_2() {
    let (repo, _) = annotated();
    for (args, words) in [
        (&["read", "pool.rs", "--format", "xml"][..], "xml"),
        (&["read", "pool.rs", "--frobnicate"], "--frobnicate"),
        (&["frobnicate"], "frobnicate"),
        (&["annotate"], ""),
        (&["annotate", "--live", "--auto"], "--live"),
        (&["annotate", "--summary", "x", "--json", "{}"], "--summary"),
        (&["read"], ""),
        (&["read", "--recent", "pool.rs"], "--recent"),
        (&["read", "pool.rs", "--category", "nonsense"], "nonsense"),
        (&["read", "pool.rs", "--context-level", "sure"], "sure"),
        (&["read", "pool.rs", "--min-confidence", "1.5"], "1.5"),
        (&["read", "pool.rs", "--min-confidence", "NaN"], "NaN"),
        (&["read", "pool.rs", "--max-regions", "0"], "limit"),
        (&["read", "pool.rs", "--max-regions", "-1"], ""),
        (&["read", "pool.rs", "--depth", "-1"], ""),
        (&["read", "pool.rs", "--since", "the other day"], "the other day"),
        (&["read", "pool.rs", "--since", ""], "--since"),
        (&["history"], ""),
        (&["note"], ""),
        (&["schema", "annotations"], "annotations"),
        (&["show", "HEAD", "HEAD"], ""),
    ] {
        let before = refs(&repo);
        chronicle(repo.path(), args).refused(2, &[words]);
        let outcome = chronicle(repo.path(), &[args, &["--format=json"]].concat());
        if !args.contains(&"xml") {
            assert_eq!(outcome.code, Some(2), "{outcome:#?}");
            assert!(!outcome.json_error().is_empty());
        }
        assert_eq!(refs(&repo), before);
    }
}

#[test]
fn help_tells_the_exit_codes() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let help = chronicle(dir.path(), &["--help"]).success();
    for words in ["Exit codes: 0 success", "1 failure", "2 wrong arguments", "70 a bug"] {
        assert!(help.stdout.contains(words), "{help:#?}");
    }
    let commands = [
        "read", "show", "history", "summary", "deps", "why", "check", "outline", "annotate", "note",
        "schema", "llm", "cost", "tour",
    ];
    for command in commands {
        let help = chronicle(dir.path(), &[command, "--help"]).success();
        assert!(help.stdout.contains("Usage: git chronicle"), "{help:#?}");
    }
    // Another program has the name, too.
    let version = format!("git-chronicle {} (chronicle)\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(chronicle(dir.path(), &["--version"]).success().stdout, version);
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let (repo, _) = annotated();
    check_refusal(&repo, &["-C", "not-there", "show"], 1, "io", &["not-there"]);
    check_refusal(&repo, &["-C", "pool.rs", "show"], 1, "io", &["pool.rs"]);
}

#[test]
fn an_entry_to_replace_must_exist_and_have_a_successor() {
    let (repo, _) = annotated();
    let input = r#"{"summary": "A summary of good length", "wisdom": [
        {"category": "insight", "content": "This is the new claim."}]}"#;
    let args = ["annotate", "--json", input, "--replace", "01NOSUCHENTRY"];
    check_refusal(&repo, &args, 1, "unknown_entry", &["01NOSUCHENTRY"]);
    let id = note(&repo, "HEAD~1")["wisdom"][0]["id"].as_str().expect("an id").to_owned();
    let args = ["annotate", "--summary", "A summary of good length", "--replace", &id];
    check_refusal(&repo, &args, 1, "nothing_to_replace_with", &["--replace"]);
    let args = ["annotate", "--summary", "A summary of good length", "--replace-summary"];
    check_refusal(&repo, &args, 1, "no_summary_to_replace", &["no annotation"]);
}

#[test]
fn standard_input_that_is_a_directory_is_an_error() {
    let (repo, _) = annotated();
    let mut command = binary(repo.path(), &["annotate", "--live"]);
    command.stdin(fs::File::open(repo.path()).expect("directories open"));
    run(&mut command).refused(1, &["standard input"]);
}

#[test]
fn a_repository_whose_head_is_broken_is_an_error() {
    let (repo, _) = annotated();
    let head = repo.path().join(".git/HEAD");
    for content in [
        "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef\n",
        "ref: ../../etc/passwd\n",
        "ref: refs/heads/a..b\n",
        "nonsense\n",
        "",
    ] {
        fs::write(&head, content).expect("it can be written");
        for args in
            [&["read", "pool.rs"][..], &["show"], &["annotate", "--auto"], &["note", "Remember this."]]
        {
            chronicle(repo.path(), args).refused(1, &[]);
        }
    }
    fs::write(&head, "ref: refs/heads/main\n").expect("it can be written");
    fs::write(repo.path().join(".git/refs/heads/main"), "f".repeat(40)).expect("it can be written");
    for args in [&["read", "pool.rs"][..], &["show"], &["annotate", "--auto"]] {
        chronicle(repo.path(), args).refused(1, &[]);
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_an_error() {
    let (repo, _) = annotated();
    fs::write(repo.path().join(".git/config"), "[core\nrepositoryformatversion = what")
        .expect("it can be written");
    for args in [&["read", "pool.rs"][..], &["annotate", "--auto"]] {
        chronicle(repo.path(), args).refused(1, &[]);
    }
    fs::write(repo.path().join(".git/config"), "[core]\nrepositoryformatversion = 7\n")
        .expect("it can be written");
    for args in [&["read", "pool.rs"][..], &["annotate", "--auto"]] {
        chronicle(repo.path(), args).refused(1, &[]);
    }
}

// Failing now:

#[test]
fn one_missing_note_hides_no_other() {
    let (repo, first) = annotated();
    repo.write("pool.rs", "fn acquire() { wait() }\n\nfn release() {}\n");
    let second = repo.commit("pool: wait");
    repo.put_note("chronicle", &second, b"{\"schema\":\"chronicle/v3\",\"summary\":\"lost pool.rs\"}");
    let blob = repo.git(&["notes", "--ref=chronicle", "list", &second]);
    fs::remove_file(repo.path().join(".git/objects").join(&blob[..2]).join(&blob[2..]))
        .expect("a loose object");
    let outcome = chronicle(repo.path(), &["read", "pool.rs"]).success().warns(&second);
    assert!(outcome.stdout.contains("never block"), "{outcome:#?}");
    chronicle(repo.path(), &["show", &first]).success();
    chronicle(repo.path(), &["history", "pool.rs"]).success();
    let shown = chronicle(repo.path(), &["show", &second]);
    assert!(shown.stderr.contains(&blob) || shown.stderr.contains(&second), "{shown:#?}");
    // Writing beside it keeps it as it is.
    chronicle(repo.path(), &["annotate", "--commit", &first, "--summary", "Another word about it"]).success();
    assert_eq!(repo.git(&["notes", "--ref=chronicle", "list", &second]), blob);
}

#[test]
fn errors_in_json_hold_the_whole_message() {
    let (repo, _) = annotated();
    let outcome = chronicle(repo.path(), &["annotate", "--format=json"]);
    outcome.json_error();
    assert!(outcome.stdout.contains("--live"), "what is missing is not said: {outcome:#?}");
    let mut command = binary(repo.path(), &["annotate", "--live", "--format=json"]);
    let outcome = run_with_input(&mut command, b"");
    assert_eq!(outcome.json()["schema"].as_str().map(|schema| schema.contains('/')), Some(true));
}

#[test]
fn an_answer_in_json_that_cannot_be_written_is_an_error_too() {
    let (repo, first) = annotated();
    for args in [&["read", "pool.rs", "--format=json"][..], &["show", &first, "--format=json"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let outcome = run_piped_to(&repo, args, full);
        assert_eq!(outcome.code, Some(1), "{outcome:#?}");
        assert!(outcome.stderr.contains("cannot write the answer"), "nobody is told: {outcome:#?}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let (repo, _) = annotated();
    fs::remove_file(repo.path().join("pool.rs")).expect("it is there");
    let made = testkit::command("mkfifo", repo.path()).arg("pool.rs").status();
    if !made.is_ok_and(|status| status.success()) {
        return skip("there is no mkfifo");
    }
    chronicle(repo.path(), &["read", "pool.rs"]).success();
    chronicle(repo.path(), &["note", "Remember this.", "--file", "pool.rs"]).refused(1, &["pool.rs"]);
}

#[test]
fn a_message_search_names_the_commit_that_git_names() {
    let (repo, first) = annotated();
    assert_eq!(repo.git(&["rev-parse", ":/acquire"]), first);
    let shown = chronicle(repo.path(), &["show", ":/acquire", "--format=json"]).success().json();
    assert_eq!(shown["commit"], json!(first));
}

#[test]
fn warnings_about_a_foreign_note_are_plain_too() {
    let (repo, _) = annotated();
    let unknown = json!({ "schema": HOSTILE, "file": "other.rs" });
    repo.put_note("chronicle", "HEAD", unknown.to_string().as_bytes());
    let outcome = chronicle(repo.path(), &["read", "other.rs"]).success().warns("schema");
    assert_plain(&outcome);
}

#[test]
fn the_arabic_letter_mark_turns_the_direction_of_writing_too() {
    let (repo, _) = annotated();
    chronicle(repo.path(), &["annotate", "--summary", "It reads\u{61c} in another order"]).success();
    assert!(!repo.note("chronicle", "HEAD").contains('\u{61c}'));
}

#[test]
fn listing_remarks_writes_nothing() {
    let (repo, _) = annotated();
    fs::remove_dir_all(repo.path().join(".git/chronicle")).expect("an own directory");
    chronicle(repo.path(), &["note", "--list"]).success();
    assert!(!repo.path().join(".git/chronicle").exists(), "listing made a directory");
    set_writable(repo.path(), false);
    let outcome = unprivileged(&repo, &["note", "--list"]);
    set_writable(repo.path(), true);
    let Some(outcome) = outcome else {
        return skip("permissions do not bind this user, and setpriv cannot make them");
    };
    assert_eq!(outcome.success().stdout, "");
}

#[test]
fn a_file_deleted_but_not_committed_is_said_to_be_gone() {
    let (repo, _) = annotated();
    fs::remove_file(repo.path().join("pool.rs")).expect("it is there");
    let reading = chronicle(repo.path(), &["read", "pool.rs", "--format=json"]).success().json();
    assert_eq!(entry(&reading, "never block")["state"], json!("gone"));
    chronicle(repo.path(), &["history", "pool.rs"]).success();
}

#[test]
fn a_file_that_no_commit_has_is_said_to_be_unknown() {
    let (repo, _) = annotated();
    fs::write(repo.path().join("new.rs"), "fn wade() {\n    todo!()\n}\n").expect("it is written");
    for (question, part) in [(&["new.rs"][..], ""), (&["new.rs", "--lines", "1:2"], "these lines of ")] {
        let said = ask_both(&repo, &[&["read"], question].concat());
        let unknown = "`new.rs`: no commit changed it, no annotation names it";
        assert_eq!(said, format!("nothing that fits is known about {part}{unknown}\n"));
    }
}

#[test]
fn a_file_renamed_but_not_committed_keeps_its_lessons() {
    let (repo, _) = annotated();
    repo.git(&["mv", "pool.rs", "basin.rs"]);
    let reading = chronicle(repo.path(), &["read", "basin.rs", "--format=json"]).success().json();
    assert_eq!(entry(&reading, "never block")["lines"], json!({ "start": 1, "end": 1 }));
}

#[test]
fn a_notes_ref_that_may_not_be_written_leaves_nothing_behind() {
    let (repo, _) = annotated();
    let before = refs(&repo);
    let notes = repo.path().join(".git/refs/notes");
    set_writable(&notes, false);
    let outcome = unprivileged(&repo, &["annotate", "--auto", "--format=json"]);
    set_writable(&notes, true);
    let Some(outcome) = outcome else {
        return skip("permissions do not bind this user, and setpriv cannot make them");
    };
    assert_eq!((outcome.code, refs(&repo)), (Some(1), before));
    chronicle(repo.path(), &["annotate", "--auto"]).success();
    // Waiting and trying again cannot help, and the innards of a library are for the log.
    assert_eq!(outcome.json_error(), "write_failed");
    assert!(!outcome.stdout.contains("Message {"), "{outcome:#?}");
}

#[test]
fn what_lies_in_the_git_directory_is_no_file_of_the_repository() {
    let (repo, _) = annotated();
    for path in [".git/config", ".git"] {
        chronicle(repo.path(), &["read", path]).refused(1, &[path]);
        chronicle(repo.path(), &["note", "Remember this.", "--file", path]).refused(1, &[path]);
    }
}

#[test]
fn a_secret_in_the_message_of_a_commit_that_only_gets_remarks_is_not_copied() {
    let (secret, core) = &secrets()[0];
    let (repo, _) = annotated();
    chronicle(repo.path(), &["note", "Remember this until later."]).success();
    repo.commit(&format!("log in with {secret} for now"));
    repo.commit("the next one");
    chronicle(repo.path(), &["annotate", "--summary", "It takes the remark with it"]).success();
    assert_eq!(contents(&note(&repo, "HEAD~1")), ["Remember this until later."]);
    assert!(!repo.note("chronicle", "HEAD~1").contains(core));
}

#[test]
fn a_broken_shallow_file_is_an_error() {
    let repo = TestRepo::new();
    repo.write("a", "one\n");
    repo.commit("one");
    repo.commit("two");
    let path = repo.path().join(".git/shallow");
    let commands: [&[&str]; 4] =
        [&["read", "a"], &["check", "--diff", "HEAD~..HEAD"], &["status"], &["show"]];
    let is_refused = |reason: &str| {
        for args in commands {
            let outcome = chronicle(repo.path(), args);
            assert!(matches!(outcome.code, Some(1 | 2)), "{outcome:?}");
            assert_eq!(
                outcome.stderr.lines().next(),
                Some(&*format!("error: `{}` is broken: {reason}", path.display())),
                "{args:?}"
            );
        }
    };
    fs::write(&path, "garbage\n").expect("it can be written");
    is_refused("line 1 is not the id of a commit");
    fs::remove_file(&path).expect("it is there");
    fs::create_dir(&path).expect("it is gone");
    is_refused("it is not a file, or too large");
    fs::remove_dir(&path).expect("it is there");
    chronicle(repo.path(), &["read", "a"]).success();
}
