//! The templates for CI: they are YAML, their scripts are shell, and what they ask of us exists.

use std::{fs, path::PathBuf};

use testkit::TestRepo;
use yaml_rust2::{Yaml, YamlLoader};

use crate::outcome::{chronicle, run};

/// The scripts of every template, with the file that each stands in.
fn scripts() -> Vec<(String, String)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci");
    let mut found = Vec::new();
    for file in
        fs::read_dir(directory).expect("there are templates").map(|file| file.expect("it can be listed"))
    {
        let name = file.file_name().to_string_lossy().into_owned();
        let text = fs::read_to_string(file.path()).expect("a template is text");
        let documents = YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let before = found.len();
        documents.iter().for_each(|document| collect(document, &name, &mut found));
        assert!(before < found.len(), "{name} has no scripts");
    }
    assert!(!found.is_empty());
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
