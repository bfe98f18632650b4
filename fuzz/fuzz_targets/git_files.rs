//! The small files of a git directory, written by anyone: what is seen of a repository without opening it and what is
//! found when it is opened agree.

#![no_main]

use std::{fs, path::Path};

use chronicle_fuzz::{all_pieces, now, on_ground};
use chronicle_git::{Glance, Repository, files, frame_stamp, tips_stamp};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 10] = [
    "HEAD",
    "packed-refs",
    "shallow",
    "info/grafts",
    "commondir",
    "refs/heads/main",
    "refs/notes/chronicle",
    "refs/notes/remotes/origin/chronicle",
    "index",
    "logs/HEAD",
];

// Each piece is a digit, the number of a file, and what is in it.
fuzz_target!(|input: &[u8]| on_ground(|repo| {
    let git_dir = repo.join(".git");
    let mut before = Vec::new();
    for piece in all_pieces(input) {
        let Some((digit, content)) = piece.split_first() else { continue };
        let path = git_dir.join(NAMES[usize::from(digit.wrapping_sub(b'0')) % NAMES.len()]);
        before.push((path.clone(), fs::read(&path).ok()));
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        fs::write(&path, content).expect("it can be written");
        assert_eq!(files::read(&path, content.len() as u64).ok().as_deref(), Some(content));
        assert!(content.is_empty() || files::read(&path, content.len() as u64 - 1).is_err());
    }
    check(repo, &git_dir);
    for (path, content) in before.into_iter().rev() {
        match content {
            Some(content) => fs::write(path, content).expect("it can be written"),
            None => fs::remove_file(path).expect("it can be removed"),
        }
    }
}));

fn check(repo: &Path, git_dir: &Path) {
    assert_eq!(frame_stamp(git_dir), frame_stamp(git_dir));
    let glance = Glance::at(repo);
    let Ok(opened) = Repository::discover(repo, now()) else { return };
    let (head, tips) = (opened.head(), opened.memory_tips());
    for name in opened.annotation_refs().into_iter().flatten() {
        let _notes = opened.notes(&name);
    }
    if let Ok(Some(head)) = head {
        let _before = opened.head_before_commit(head);
    }
    let Some(glance) = glance else { return };
    let common_dir = glance.common_dir.canonicalize().expect("it is there");
    assert_eq!(common_dir, opened.common_dir().canonicalize().expect("it is there"));
    if let Ok(head) = head {
        assert_eq!(Some(glance.head), head);
    }
    if let Ok(tips) = tips {
        assert_eq!(glance.notes, tips);
    }
    assert_eq!(glance.tips_stamp(), tips_stamp(&glance.common_dir));
}
