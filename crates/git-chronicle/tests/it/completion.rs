//! Completion as a shell asks for it, and in real shells.

use std::{fs, path::Path};

use testkit::TestRepo;

use crate::{
    desk::Desk,
    outcome::{Outcome, binary, chronicle, run},
};

const SESSION: &str = "5e551011-0000-4000-8000-000000000001";

/// What is offered for the last of these words.
fn offered(command: &mut std::process::Command, words: &[&str]) -> Vec<String> {
    command.env("CHRONICLE_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).args(["--", "git-chronicle"]).args(words);
    run(command).success().stdout.lines().map(str::to_owned).collect()
}

fn offered_in(repo: &TestRepo, words: &[&str]) -> Vec<String> {
    offered(&mut binary(repo.path(), &[""; 0]), words)
}

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", "impl Pool {\n    fn take(&self) {\n        wait();\n    }\n}\n");
    repo.write("src/other.rs", "fn other() {}\n");
    repo.write("notes $(touch x).txt", "x\n");
    repo.commit("one");
    let lesson = "src/pool.rs:3 It waits";
    chronicle(repo.path(), &["annotate", "-m", "Why", "--gotcha", lesson]).success();
    // What is offered comes from facts, which the first read stores.
    chronicle(repo.path(), &["read", "src"]).success();
    repo
}

#[test]
fn manual_pages_are_installed_where_man_looks_for_a_users_own_and_removed() {
    let home = TestRepo::new();
    let own = home.path().join(".local/share/man");
    let named = home.path().join("pages");
    for (folder, option) in [(&own, ""), (&named, "=pages")] {
        let man = |what: &str| {
            let mut command = binary(home.path(), &["man", &format!("--{what}{option}")]);
            run(command.env("HOME", home.path()).env_remove("XDG_DATA_HOME")).success();
        };
        man("install");
        assert!(folder.join("man1/git-chronicle-read.1").is_file(), "{option}");
        assert!(folder.join("man7/gitchronicle-tutorial.7").is_file(), "{option}");
        man("remove");
        assert_eq!(fs::read_dir(folder.join("man1")).unwrap().count(), 0, "{option}");
    }
}

#[test]
fn commands_options_and_values_are_offered() {
    let repo = repository();
    let commands = offered_in(&repo, &["re"]);
    assert_eq!(commands, ["read", "resolve", "resume", "reconcile"].map(str::to_owned).to_vec());
    assert_eq!(offered_in(&repo, &["read", "--cat"]), ["--category"]);
    // Files with lessons come alone, as long as one fits.
    assert_eq!(offered_in(&repo, &["read", ""]), ["src/pool.rs"]);
    assert_eq!(offered_in(&repo, &["read", "src/o"]), ["src/other.rs"]);
    assert_eq!(offered_in(&repo, &["why", "src/pool.rs", "Pool::"]), ["Pool::take"]);
    let id = offered_in(&repo, &["purge", ""]);
    assert_eq!(id.len(), 1);
    assert!(
        chronicle(repo.path(), &["read", "src/pool.rs", "--format=json"]).success().stdout.contains(&id[0])
    );
}

#[test]
fn a_name_that_a_shell_would_run_is_not_offered() {
    let repo = repository();
    assert_eq!(offered_in(&repo, &["read", "notes"]), Vec::<String>::new());
}

#[test]
fn sessions_threads_and_blocks_are_offered() {
    let desk = Desk::new();
    desk.leave(&desk.talk(SESSION).prompt("Make the pool wait").edit("src/pool.rs", "a", "b").said("Done."));
    desk.ingest();
    desk.run(&["thread", "add", "Look at the pool again"]).success();
    let ask = |words: &[&str]| {
        let mut command = desk.command_in(desk.repo.path(), &[]);
        offered(&mut command, words)
    };
    assert!(ask(&["session", "show", ""]).iter().any(|id| SESSION.starts_with(id)));
    let threads = ask(&["resolve", "t-"]);
    assert!(!threads.is_empty() && threads.iter().all(|id| id.starts_with("t-")), "{threads:?}");
    assert!(ask(&["blocks", "show", "dev"]).contains(&"developer_profile".to_owned()));
}

#[test]
fn outside_of_a_repository_and_without_memory_nothing_fails() {
    let dir = tempfile::tempdir().expect("a folder");
    for words in [&["purge", ""][..], &["session", "show", ""], &["why", "a.rs", ""], &["read", "x"]] {
        let found = offered(&mut binary(dir.path(), &[""; 0]), words);
        // A shell is then offered what else may come.
        assert!(found.iter().all(|option| option.starts_with('-')), "{words:?}: {found:?}");
    }
}

/// A program that is on this machine.
fn has(program: &str) -> bool {
    testkit::command("sh", Path::new("/"))
        .args(["-c", &format!("command -v {program}")])
        .output()
        .is_ok_and(|found| found.status.success())
}

/// Writes the script for `shell` to a file, and returns the folder of this program.
fn installed(repo: &TestRepo, shell: &str, file: &Path) -> String {
    let outcome: Outcome = chronicle(repo.path(), &["completion", shell]).success();
    fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
    fs::write(file, outcome.stdout).expect("it can be written");
    let folder = Path::new(env!("CARGO_BIN_EXE_git-chronicle")).parent().expect("a folder");
    folder.display().to_string()
}

/// What a shell prints when it runs a program.
fn printed(command: &mut std::process::Command) -> String {
    let answer = command.output().expect("it runs");
    String::from_utf8_lossy(&answer.stdout).trim().to_owned()
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_fish_completes_through_git_from_its_start() {
    if !has("fish") {
        eprintln!("skipped: there is no fish");
        return;
    }
    let repo = repository();
    let settings = repo.beside("fish-settings");
    let programs = installed(&repo, "fish", &settings.join("fish/conf.d/git-chronicle.fish"));
    let asked = |words: &str| {
        let mut fish = testkit::command("fish", repo.path());
        fish.env("XDG_CONFIG_HOME", &settings).env("XDG_DATA_HOME", &settings);
        printed(fish.args(["-c", &format!("set -x PATH {programs} $PATH; complete -C '{words}'")]))
    };
    assert_eq!(asked("git chronicle why src/p"), "src/pool.rs");
    assert!(asked("git chronicle hist").starts_with("history"));
    assert!(asked("git-chronicle hist").starts_with("history"));
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_zsh_completes_at_the_first_tab() {
    if !has("zsh") {
        eprintln!("skipped: there is no zsh");
        return;
    }
    let repo = repository();
    let folder = repo.beside("zsh-functions");
    let programs = installed(&repo, "zsh", &folder.join("_git-chronicle"));
    // The words as zsh has them when git's completion, or zsh itself, calls the function of a file for the first time.
    let asked = |words: &str| {
        let program = format!(
            "PATH={programs}:$PATH; fpath=({} $fpath); autoload -Uz _git-chronicle; compdef() {{ }}; \
             _describe() {{ print -l -- ${{(P)@[-1]}} }}; \
             words=({words}); CURRENT=$#words; _git-chronicle",
            folder.display()
        );
        printed(testkit::command("zsh", repo.path()).args(["-fc", &program]))
    };
    assert_eq!(asked("chronicle why src/p"), "src/pool.rs");
    assert!(asked("chronicle hist").starts_with("history"));
    assert!(asked("git-chronicle hist").starts_with("history"));
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_bash_completes_through_git_as_well() {
    let git = Path::new("/usr/share/bash-completion/completions/git");
    if !has("bash") || !git.exists() {
        eprintln!("skipped: there is no bash with git's completion");
        return;
    }
    let repo = repository();
    let script = repo.beside("completion.bash");
    let programs = installed(&repo, "bash", &script);
    let asked = |words: &str| {
        let program = format!(
            "PATH={programs}:$PATH; . {}; . {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             COMP_LINE='{words}'; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9; __git_wrap__git_main; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            git.display(),
            script.display()
        );
        printed(testkit::command("bash", repo.path()).args(["-c", &program]))
    };
    assert_eq!(asked("git chronicle why src/p"), "src/pool.rs");
    assert_eq!(asked("git chronicle hist"), "history");
}
