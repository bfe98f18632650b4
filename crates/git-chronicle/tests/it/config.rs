//! Settings: where they come from, which one counts, and what they do.

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{Outcome, binary, chronicle, chronicle_reading, run};

fn set(repo: &TestRepo, name: &str, value: &str) {
    repo.git(&["config", name, value]);
}

/// The value of a setting, and where it comes from.
fn setting(repo: &TestRepo, name: &str) -> (String, String) {
    of(&chronicle(repo.path(), &["config", "list", "--format=json"]).success().json(), name)
}

fn of(answer: &Value, name: &str) -> (String, String) {
    let found = answer["settings"].as_array().expect("a list").iter().find(|now| now["name"] == name);
    let now = found.expect("every setting is listed");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&now["value"]), text(&now["origin"]["kind"]))
}

fn said(value: &str, origin: &str) -> (String, String) {
    (value.to_owned(), origin.to_owned())
}

#[test]
fn the_nearest_voice_counts() {
    let repo = TestRepo::new();
    let name = "recencyHalfLife";
    assert_eq!(setting(&repo, name), said("180", "default"));
    repo.write(".ultragit-config.toml", "[ultragit.read]\nrecency_half_life = 10\n");
    assert_eq!(setting(&repo, name), said("10", "team"));
    repo.write(".chronicle-config.toml", "[chronicle.read]\nrecency_half_life = 20\n");
    assert_eq!(setting(&repo, name), said("20", "team"));
    repo.write(".chronicle.toml", "[chronicle.read]\nrecency_half_life = 30.5\n");
    assert_eq!(setting(&repo, name), said("30.5", "team"));
    set(&repo, "ultragit.recencyHalfLife", "40");
    assert_eq!(setting(&repo, name), said("40", "local"));
    set(&repo, "chronicle.recencyhalflife", "50");
    assert_eq!(setting(&repo, name), said("50", "local"));

    let run_with = |variables: &[(&str, &str)]| {
        let mut command = binary(repo.path(), &["config", "list", "--format=json"]);
        command.envs(variables.iter().copied());
        of(&run(&mut command).success().json(), name)
    };
    let by_git = [("GIT_CONFIG_PARAMETERS", "'chronicle.recencyHalfLife'='60'")];
    assert_eq!(run_with(&by_git), said("60", "command"));
    let by_count = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "chronicle.recencyHalfLife"),
        ("GIT_CONFIG_VALUE_0", "61"),
    ];
    assert_eq!(run_with(&by_count), said("61", "command"));
    let by_environment = [by_git[0], ("CHRONICLE_RECENCY_HALF_LIFE", "70")];
    assert_eq!(run_with(&by_environment), said("70", "environment"));
}

#[test]
fn what_makes_no_sense_is_told_and_passed_over() {
    let repo = TestRepo::new();
    repo.write(
        ".chronicle.toml",
        "[chronicle.read]\ndefault_max_regions = 7\nspeed = 3\n[chronicle.sync]\nremotes = ['x']\n",
    );
    set(&repo, "chronicle.defaultMaxRegions", "many");
    set(&repo, "chronicle.colour", "red");
    let outcome = chronicle(repo.path(), &["config", "list"]).success();
    let outcome =
        outcome.warns("`defaultMaxRegions` is `many` in ").warns("unknown setting `chronicle.colour`");
    let outcome = outcome.warns("unknown setting `chronicle.read.speed` in .chronicle.toml");
    outcome.warns("unknown setting `chronicle.sync.remotes` in .chronicle.toml");
    assert_eq!(setting(&repo, "defaultMaxRegions"), said("7", "team"));

    repo.write(".chronicle.toml", "[chronicle.read\n");
    chronicle(repo.path(), &["config", "list"]).success().warns("cannot read .chronicle.toml");
    std::fs::remove_file(repo.path().join(".chronicle.toml")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", repo.path().join(".chronicle.toml")).unwrap();
    chronicle(repo.path(), &["config", "list"])
        .success()
        .warns(".chronicle.toml is a symbolic link, which is not followed");
}

#[test]
fn settings_are_got_and_set_by_name() {
    let repo = TestRepo::new();
    chronicle(repo.path(), &["config", "set", "chronicle.RecencyHalfLife", "33.5"]).success();
    assert_eq!(chronicle(repo.path(), &["config", "get", "recencyhalflife"]).success().stdout, "33.5\n");
    assert_eq!(repo.git(&["config", "--get", "chronicle.recencyHalfLife"]), "33.5");
    for (args, word) in [
        (&["config", "get", "recencyHalf"][..], "did you mean `recencyHalfLife`"),
        (&["config", "set", "recencyHalfLife", "0"], "above 0"),
        (&["config", "set", "recencyHalfLife", "inf"], "above 0"),
        (&["config", "set", "defaultMaxRegions", "-1"], "a whole number"),
        (&["config", "set", "sync.remotes", "origin"], "git chronicle sync"),
    ] {
        chronicle(repo.path(), args).refused(2, &[word]);
    }
    let error = chronicle(repo.path(), &["config", "get", "nope", "--format=json"]).json_error();
    assert_eq!(error, "unknown_setting");
}

#[test]
fn a_value_with_an_escape_sequence_reaches_no_terminal() {
    let repo = TestRepo::new();
    set(&repo, "chronicle.recencyHalfLife", "\u{1b}[31mred");
    let outcome = chronicle(repo.path(), &["config", "list"]).success();
    assert!(!outcome.stderr.contains('\u{1b}'), "{outcome:#?}");
}

/// A file with `count` lessons, recorded long before HEAD.
fn annotated(count: usize) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn take() {}\n");
    repo.commit_at("pool: add it", "2025-03-01T12:00:00Z");
    let wisdom: Vec<Value> = (0..count)
        .map(|n| json!({ "category": "insight", "content": format!("The lesson of number {n}."), "file": "pool.rs" }))
        .collect();
    let input = json!({ "summary": "Callers queue, the server drops more", "wisdom": wisdom });
    chronicle_reading(repo.path(), &["annotate", "--live"], input.to_string().as_bytes()).success();
    // Recency counts up to HEAD, not up to now.
    repo.commit_at("much later", "2090-01-01T12:00:00Z");
    repo
}

fn read(repo: &TestRepo, variables: &[(&str, &str)]) -> Outcome {
    let mut command = binary(repo.path(), &["read", "pool.rs", "--format=json"]);
    command.envs(variables.iter().copied());
    run(&mut command).success()
}

fn recency_and_count(outcome: &Outcome) -> (f64, usize) {
    let answer = outcome.json();
    let items = |key: &str| answer[key].as_array().expect("a list").len();
    let recency = &answer["wisdom"][0]["confidence_factors"]["recency"]["score"];
    (recency.as_f64().expect("a number"), items("wisdom") + items("regions"))
}

/// Settings must count whether the answer comes from the index or from the repository.
#[track_caller]
fn check(repo: &TestRepo, variables: &[(&str, &str)], is_recent: bool, n_items: usize) {
    for no_index in [false, true] {
        let without = if no_index { &[("CHRONICLE_NO_CACHE", "1")][..] } else { &[] };
        let outcome = read(repo, &[variables, without].concat());
        let (recency, n_shown) = recency_and_count(&outcome);
        assert_eq!((0.1 < recency, n_shown), (is_recent, n_items), "{no_index} {variables:?} {outcome:#?}");
    }
}

#[test]
fn reading_follows_the_settings_wherever_they_stand() {
    let repo = annotated(22);
    check(&repo, &[], false, 20);
    check(&repo, &[("CHRONICLE_DEFAULT_MAX_REGIONS", "5")], false, 5);
    check(&repo, &[("GIT_CONFIG_PARAMETERS", "'chronicle.defaultMaxRegions=4'")], false, 4);
    repo.write(".chronicle.toml", "[chronicle.read]\ndefault_max_regions = 21\nrecency_half_life = 1e6\n");
    check(&repo, &[], true, 21);
    set(&repo, "chronicle.defaultMaxRegions", "3");
    check(&repo, &[], true, 3);
    repo.git(&["config", "--unset", "chronicle.defaultMaxRegions"]);
    std::fs::remove_file(repo.path().join(".chronicle.toml")).unwrap();

    // The user's own files, also where they include others.
    let home = repo.beside("home");
    std::fs::create_dir_all(home.join("more")).unwrap();
    let home_text = home.to_str().unwrap();
    let user = |variables: &[(&str, &str)], n_items| {
        for no_index in [false, true] {
            let mut command = binary(repo.path(), &["read", "pool.rs", "--format=json"]);
            command.env_remove("GIT_CONFIG_GLOBAL").env_remove("XDG_CONFIG_HOME").env("HOME", home_text);
            command.envs(variables.iter().copied());
            if no_index {
                command.env("CHRONICLE_NO_CACHE", "1");
            }
            let outcome = run(&mut command).success();
            assert_eq!(recency_and_count(&outcome).1, n_items, "{no_index} {outcome:#?}");
        }
    };
    std::fs::write(home.join(".gitconfig"), "[include]\n\tpath = more/a\n").unwrap();
    std::fs::write(home.join("more/a"), "[includeIf \"gitdir:/nowhere/\"]\n path = ~/more/b\n").unwrap();
    std::fs::write(home.join("more/b"), "[chronicle]\n\tdefaultMaxRegions = 2\n").unwrap();
    user(&[], 20);
    std::fs::write(home.join("more/a"), "[include]\n path = ~/more/b\n").unwrap();
    user(&[], 2);
    std::fs::write(home.join(".gitconfig"), "").unwrap();
    std::fs::create_dir_all(home.join(".config/git")).unwrap();
    std::fs::write(home.join(".config/git/config"), "[Chronicle] DefaultMaxRegions=6").unwrap();
    user(&[], 6);
    // A value that makes no sense is told by the read that it would have changed.
    set(&repo, "chronicle.recencyHalfLife", "old");
    let answer = read(&repo, &[]).json();
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("`recencyHalfLife` is `old`"), "{warnings}");
}

#[test]
fn settings_of_earlier_versions_are_accepted_and_named() {
    let repo = TestRepo::new();
    repo.git(&["config", "chronicle.depsScanLimit", "100"]);
    repo.write(".chronicle.toml", "[chronicle.read]\ndeps_scan_limit = 200\nrecency_half_life = 40\n");
    let listed = chronicle(repo.path(), &["config", "list"]).success();
    assert!(
        !listed.stdout.contains("depsScanLimit") && listed.stdout.contains("recencyHalfLife"),
        "{listed:#?}"
    );
    listed.warns(".git/config is deprecated and has no effect; remove it").warns(
        "`chronicle.read.deps_scan_limit` in .chronicle.toml is deprecated and has no effect; remove it",
    );
}
