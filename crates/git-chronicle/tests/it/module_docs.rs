//! Each source file begins with a comment on its purpose: these comments are the reference of the modules.

use std::{fs, path::Path};

/// Their documentation is the help of the command, and the name of the module that is tested.
const EXEMPT: [&str; 2] = ["/commands/", "/tests.rs"];

#[test]
fn each_file_says_what_it_is_for() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut n_files, mut lacking) = (0, Vec::new());
    for entry in fs::read_dir(&crates).expect("it is there") {
        let source = entry.expect("it can be listed").path().join("src");
        if source.is_dir() {
            add_lacking(&source, &mut n_files, &mut lacking);
        }
    }
    assert_eq!(lacking, Vec::<String>::new());
    assert!(400 < n_files, "{n_files}");
}

/// Adds the files below `folder` that lack the comment, and counts those that need one.
fn add_lacking(folder: &Path, n_files: &mut usize, lacking: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        let name = path.to_string_lossy().replace('\\', "/");
        if path.is_dir() {
            add_lacking(&path, n_files, lacking);
        } else if name.ends_with(".rs") && !EXEMPT.iter().any(|exempt| name.contains(exempt)) {
            *n_files += 1;
            let text = fs::read_to_string(&path).expect("it is text");
            if !text.starts_with("//! ") {
                lacking.push(name);
            }
        }
    }
}
