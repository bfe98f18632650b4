//! The templates for CI: they are YAML, their scripts are shell, and what they ask of us exists.
//!
//! Whether they do what they should is tried by `tests/acceptance/requests`, with a server in the place of the host.

use std::{fs, path::PathBuf};

use testkit::TestRepo;
use yaml_rust2::{Yaml, YamlLoader};

use crate::outcome::{chronicle, run};

/// The folder of this repository with that name.
fn top(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The scripts of the templates and of the action, and those that they run, with the file that each is in.
fn scripts() -> Vec<(String, String)> {
    let read = |name: &str| fs::read_to_string(top(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut found = Vec::new();
    for (name, n_scripts) in
        [("docs/ci/github.yml", 0), ("docs/ci/gitlab.yml", 8), ("ci/github/action.yml", 3)]
    {
        let documents =
            YamlLoader::load_from_str(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let before = found.len();
        documents.iter().for_each(|document| collect(document, name, &mut found));
        assert_eq!(found.len() - before, n_scripts, "{name}");
    }
    found.extend(["ci/check", "ci/carry"].map(|name| (name.to_owned(), read(name))));
    found
}

/// Takes the scripts out of `run:`, `script:` and `before_script:`, however deep they stand.
fn collect(yaml: &Yaml, file: &str, found: &mut Vec<(String, String)>) {
    match yaml {
        Yaml::Hash(map) => {
            for (key, value) in map {
                if ["run", "script", "before_script"].contains(&key.as_str().unwrap_or_default()) {
                    let lines = value.as_vec().map_or_else(|| vec![value.clone()], Clone::clone);
                    let texts = lines.iter().map(|line| line.as_str().expect("a script is text").to_owned());
                    found.extend(texts.map(|text| (file.to_owned(), text)));
                } else {
                    collect(value, file, found);
                }
            }
        }
        Yaml::Array(values) => values.iter().for_each(|value| collect(value, file, found)),
        _ => {}
    }
}

#[test]
fn scripts_of_templates_are_shell() {
    for (file, script) in scripts() {
        let mut shell = testkit::command("sh", TestRepo::new().path());
        shell.current_dir("/").args(["-n", "-c", &script]);
        assert_eq!(run(&mut shell).code, Some(0), "{file}: {script}");
    }
}

#[test]
fn commands_of_templates_exist() {
    let repo = TestRepo::new();
    let mut n_commands = 0;
    for (file, script) in scripts() {
        for line in script.lines() {
            let Some((_, asked)) = line.split_once("git chronicle ") else { continue };
            n_commands += 1;
            let words: Vec<&str> = asked.split_whitespace().collect();
            let n_named = if words[0] == "sync" { 2 } else { 1 };
            let help = chronicle(repo.path(), &[&words[..n_named], &["--help"]].concat()).success().stdout;
            for option in words.iter().filter(|word| word.starts_with("--")) {
                let name = option.split('=').next().unwrap_or(option);
                assert!(
                    help.contains(&format!("{name} ")) || help.contains(&format!("{name}\n")),
                    "{file}: {line}"
                );
            }
        }
    }
    assert!(6 < n_commands, "{n_commands}");
}
