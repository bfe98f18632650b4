//! What several targets need.

use std::{
    cell::Cell,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use chronicle_core::plain;
use jiff::Timestamp;
use testkit::TestRepo;

/// What parts the pieces of an input: no text of ours holds it, and a seed can.
const PART: u8 = 0x1e;

/// The first `N` pieces of `input`; those that it has not are empty.
#[must_use]
pub fn pieces<const N: usize>(input: &[u8]) -> [&[u8]; N] {
    let mut pieces = all_pieces(input);
    std::array::from_fn(|_| pieces.next().unwrap_or_default())
}

/// All pieces of `input`.
pub fn all_pieces(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    input.split(|byte| *byte == PART)
}

/// Panics where `text` holds what acts on a terminal, turns its direction, or is seen by no reader.
#[track_caller]
pub fn assert_shown(text: &str) {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let hides = |c: char| {
        matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(
                c,
                '\u{ad}' | '\u{61c}' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}'
            )
    };
    assert!(!text.contains(acts) && !text.contains(hides), "{text:?}");
    assert_eq!(plain(text), text);
}

/// The time of everything.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("it is in range")
}

/// A repository with one commit, its user's data next to it, made anew from time to time: what targets store adds up.
pub struct Ground {
    repo: Option<TestRepo>,
    n_uses: Cell<u32>,
}

thread_local! {
    static GROUND: std::cell::RefCell<Ground> = const { std::cell::RefCell::new(Ground { repo: None, n_uses: Cell::new(0) }) };
}

/// How often a repository is used.
const MOST_USES: u32 = 2_000;

/// Calls `work` with a repository in which one commit is.
pub fn on_ground(work: impl FnOnce(&Path)) {
    GROUND.with_borrow_mut(|ground| {
        if ground.n_uses.get() % MOST_USES == 0 {
            let repo = TestRepo::new();
            repo.write("src/pool.rs", "fn acquire() {\n    wait();\n}\n");
            repo.commit("pool: add acquire");
            std::fs::create_dir_all(user_folder()).expect("it can be made");
            ground.repo = Some(repo);
        }
        ground.n_uses.set(ground.n_uses.get() + 1);
        work(ground.repo.as_ref().expect("it was made").path());
    });
}

/// The folder of the user who runs the target.
#[must_use]
pub fn user_folder() -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder can be made")).path().to_owned()
}

/// An environment in which nothing of the real user is found.
#[must_use]
pub fn environment(name: &str) -> Option<OsString> {
    match name {
        "HOME" => Some(user_folder().into()),
        "CHRONICLE_HOME" => Some(user_folder().join("memory").into()),
        "GIT_CONFIG_NOSYSTEM" => Some("1".into()),
        _ => None,
    }
}

/// `input` with the path of the repository for `$REPO`, which no seed can know.
#[must_use]
pub fn placed(input: &[u8], repo: &Path) -> Vec<u8> {
    let text = String::from_utf8_lossy(input);
    match text.contains("$REPO") {
        true => text.replace("$REPO", &repo.to_string_lossy()).into_bytes(),
        false => input.to_vec(),
    }
}
