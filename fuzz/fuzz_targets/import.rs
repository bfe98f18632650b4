//! Exported notes of anyone: lines are imported or refused with a reason, and what was imported comes back as it is.

#![no_main]

use std::{fs, path::Path};

use chronicle_commits::transfer::{export, import, line};
use chronicle_fuzz::{assert_shown, now, on_ground};
use chronicle_git::Repository;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|lines: &[u8]| on_ground(|repo| check(repo, lines)));

fn check(repo: &Path, mut lines: &[u8]) {
    let refs = repo.join(".git/refs/notes");
    // Of the run before, nothing counts.
    let _were_there = fs::remove_dir_all(&refs);
    let repository = Repository::discover(repo, now()).expect("git made it");
    let imported = match import(&repository, &mut lines) {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!refs.exists(), "nothing is stored: {error}");
            return assert_shown(&error.to_string());
        }
    };
    assert!(imported.n_changed <= imported.n_lines && imported.n_elsewhere <= imported.n_lines);
    let mut exported = Vec::new();
    let n_exported = export(&repository, &line, &mut exported).expect("they are here");
    assert_eq!(n_exported.n_missing, 0);
    let text = String::from_utf8(exported).expect("lines are text");
    assert_shown(&text);
    assert_eq!(text.lines().count(), n_exported.n_notes);
    let again = import(&repository, &mut text.as_bytes()).expect("what we export, we import");
    assert_eq!((again.n_lines, again.n_changed), (n_exported.n_notes, 0), "{text}");
    assert!(again.redacted.is_empty(), "{text}");
}
