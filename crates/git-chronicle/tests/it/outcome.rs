//! Runs the binary and holds what came of it.

use std::{
    ffi::OsStr,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    sync::LazyLock,
};

use serde_json::Value;
use testkit::TestRepo;

/// What came of one run of the binary.
#[derive(Debug)]
pub(crate) struct Outcome {
    #[expect(dead_code, reason = "told when a test fails")]
    args: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) is_utf8: bool,
}

/// The binary that is tried: that of this build, or the one that `CHRONICLE_TEST_BINARY` names, which has to be called
/// `git-chronicle`.
pub(crate) fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        #[expect(clippy::disallowed_methods, reason = "tests may be told what to try")]
        let named = std::env::var("CHRONICLE_TEST_BINARY");
        named.unwrap_or_else(|_| env!("CARGO_BIN_EXE_git-chronicle").to_owned())
    });
    &PROGRAM
}

/// The binary with `args`, in `directory`, apart from the user's settings.
pub(crate) fn binary(directory: &Path, args: &[impl AsRef<OsStr>]) -> Command {
    let mut command = testkit::command(program(), directory);
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs `git chronicle ARGS`.
pub(crate) fn chronicle(directory: &Path, args: &[impl AsRef<OsStr>]) -> Outcome {
    run(&mut binary(directory, args))
}

/// Runs `git chronicle ARGS` with `input` on standard input.
pub(crate) fn chronicle_reading(directory: &Path, args: &[impl AsRef<OsStr>], input: &[u8]) -> Outcome {
    run_with_input(&mut binary(directory, args), input)
}

/// Runs a command that must never panic, whatever becomes of it.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let output = command.output().expect("the program starts");
    Outcome::of(command, &output)
}

/// [`run`] with `input` on standard input.
pub(crate) fn run_with_input(command: &mut Command, input: &[u8]) -> Outcome {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // Who has read enough closes its end.
    let _written = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().expect("a child can be waited for");
    Outcome::of(command, &output)
}

impl Outcome {
    pub(crate) fn of(command: &Command, output: &Output) -> Self {
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let outcome = Self {
            args: args.join(" "),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            is_utf8: std::str::from_utf8(&output.stdout).is_ok(),
        };
        assert!(!outcome.stderr.contains("panicked"), "{outcome:#?}");
        assert!(matches!(outcome.code, Some(0..=2)), "{outcome:#?}");
        outcome
    }

    /// It did what it was asked to.
    #[track_caller]
    pub(crate) fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// It refused with this exit code.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// It refused with this exit code and one error that says all of `words`.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert_eq!(self.stdout, "", "{self:#?}");
        let mut errors = self.stderr.lines().filter(|line| line.starts_with("error: "));
        let (Some(error), None) = (errors.next(), errors.next()) else { panic!("not one error: {self:#?}") };
        for word in words {
            assert!(error.contains(word), "`{word}` is not in the error: {self:#?}");
        }
        self
    }

    /// The same words are among the warnings.
    #[track_caller]
    pub(crate) fn warns(self, words: &str) -> Self {
        let warned = self.stderr.lines().any(|line| line.starts_with("warning: ") && line.contains(words));
        assert!(warned, "no warning says `{words}`: {self:#?}");
        self
    }

    /// The answer, which is one JSON object on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.trim_end().lines().count(), 1, "not one line: {self:#?}");
        let value: Value = serde_json::from_str(&self.stdout).expect("stdout is JSON");
        assert!(value.is_object(), "{self:#?}");
        value
    }

    /// The code of an error reported in JSON, which leaves nothing else behind.
    #[track_caller]
    pub(crate) fn json_error(&self) -> String {
        let answer = self.json();
        assert_eq!(self.stderr, "", "{self:#?}");
        assert!(answer["schema"].is_string(), "{self:#?}");
        assert!(!answer["error"]["message"].as_str().expect("it has a message").is_empty(), "{self:#?}");
        answer["error"]["code"].as_str().expect("it has a code").to_owned()
    }
}

/// Where every ref of a repository points.
pub(crate) fn refs(repo: &TestRepo) -> String {
    repo.git(&["for-each-ref"])
}

/// The note of `object`: one JSON object on one line.
#[track_caller]
pub(crate) fn note(repo: &TestRepo, object: &str) -> Value {
    let text = repo.note("chronicle", object);
    assert_eq!(text.lines().count(), 1, "more than one line: {text}");
    let note: Value = serde_json::from_str(&text).expect("a note is one JSON document");
    assert!(note.is_object(), "not an object: {text}");
    note
}

/// The `content` of every entry of a note or a reading, sorted.
pub(crate) fn contents(value: &Value) -> Vec<String> {
    let entries = value["wisdom"].as_array().into_iter().flatten();
    let mut contents: Vec<String> =
        entries.map(|entry| entry["content"].as_str().expect("an entry has content").to_owned()).collect();
    contents.sort_unstable();
    contents
}

/// The entry of a note or a reading that says `content`.
#[track_caller]
pub(crate) fn entry<'a>(value: &'a Value, content: &str) -> &'a Value {
    let mut entries = value["wisdom"].as_array().into_iter().flatten();
    let found = entries.find(|entry| entry["content"].as_str().is_some_and(|text| text.contains(content)));
    found.unwrap_or_else(|| panic!("no entry says `{content}`: {value:#}"))
}

/// Says why a test proves nothing here.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
pub(crate) fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}
