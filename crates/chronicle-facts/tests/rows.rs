//! What is stored is found again, and nothing else.

use chronicle_facts::{Facts, FactsError, Key, NewCommit, NewText, NewTouch};

fn commit(id: &str, parents: &[&str], time: i64) -> NewCommit {
    let bytes = |id: &&str| id.as_bytes().to_vec();
    NewCommit { id: bytes(&id), tree: b"tree".to_vec(), parents: parents.iter().map(bytes).collect(), time }
}

fn reached(facts: &Facts, id: &str) -> String {
    let row = facts.row_of(id.as_bytes()).expect("it is read").expect("it is stored");
    let reach = facts.reach(row).expect("it is read");
    let all = "abcdefm".chars().filter(|other| {
        facts.row_of(other.to_string().as_bytes()).expect("it is read").is_some_and(|row| reach.has(row))
    });
    all.collect()
}

#[test]
fn a_commit_reaches_its_ancestors_and_comes_after_them_whatever_its_clock_says() {
    let facts = Facts::in_memory().unwrap();
    facts.add_commits(&[commit("a", &[], 50), commit("b", &["a"], 10), commit("c", &["a"], 60)]).unwrap();
    facts
        .add_commits(&[commit("m", &["b", "c"], 20), commit("a", &[], 50), commit("d", &["b"], 70)])
        .unwrap();
    for (id, expected) in [("a", "a"), ("b", "ab"), ("c", "ac"), ("m", "abcm"), ("d", "abd")] {
        assert_eq!(reached(&facts, id), expected, "{id}");
    }
    let at = |id: &str| facts.commit(facts.row_of(id.as_bytes()).unwrap().unwrap()).unwrap().at;
    assert_eq!(["a", "b", "c", "m", "d"].map(at), [50, 51, 60, 61, 70]);
    let orphan = facts.add_commits(&[commit("f", &["e"], 80)]);
    assert!(matches!(orphan, Err(FactsError::MissingParent)), "{orphan:?}");
    assert_eq!(facts.row_of(b"f").unwrap(), None);
}

#[test]
fn a_file_with_other_tables_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    let store = |facts: &Facts| facts.add_commits(&[commit("a", &[], 50)]).unwrap();
    store(&Facts::open(&path).unwrap());
    assert!(Facts::open(&path).unwrap().row_of(b"a").unwrap().is_some(), "it is kept");
    for change in [
        "DROP TABLE touches",
        "ALTER TABLE commits RENAME COLUMN tree TO wood",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER INSERT ON commits BEGIN DELETE FROM commits; END",
    ] {
        rusqlite::Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let facts = Facts::open(&path).unwrap();
        assert!(facts.row_of(b"a").unwrap().is_none(), "{change}");
        store(&facts);
        drop(facts);
        assert!(Facts::open(&path).unwrap().row_of(b"a").unwrap().is_some(), "{change}");
    }
}

#[test]
fn what_commits_did_is_found_by_path_the_newest_first() {
    let facts = Facts::in_memory().unwrap();
    facts.add_commits(&[commit("a", &[], 1), commit("b", &["a"], 2)]).unwrap();
    let [a, b] = ["a", "b"].map(|id| facts.row_of(id.as_bytes()).unwrap().unwrap());
    let reach = facts.reach(b).unwrap();
    assert_eq!(facts.unwalked(&reach, 9).unwrap().len(), 2);
    let touch = |path: &str, from: Option<&str>| NewTouch {
        path: path.into(),
        old: None,
        new: Some(b"blob".to_vec()),
        renamed_from: from.map(Into::into),
    };
    facts
        .add_touches(&[(a, vec![touch("x/f", None)]), (b, vec![touch("x/f", None), touch("g", Some("x/f"))])])
        .unwrap();
    assert!(facts.unwalked(&reach, 9).unwrap().is_empty());
    let rows = |path: &str| {
        facts.touches(path.as_bytes()).unwrap().iter().map(|touch| touch.row).collect::<Vec<_>>()
    };
    assert_eq!((rows("x/f"), rows("g"), rows("f")), (vec![b, a], vec![b], vec![]));
    assert_eq!(facts.renames_of(b"x/f").unwrap(), [(b, b"g".to_vec())]);
    assert_eq!(facts.paths_called(b"f").unwrap(), [b"x/f".to_vec()]);
}

#[test]
fn notes_follow_their_ref_and_those_that_are_not_here_are_known() {
    let facts = Facts::in_memory().unwrap();
    let text = |blob: &str, keys: Vec<Key<'static>>| NewText { blob: blob.into(), bytes: blob.into(), keys };
    let objects = |key: Key<'_>| facts.objects_with(&key).unwrap();
    facts.add_texts(&[text("one", vec![Key::File(b"f")]), text("two", vec![Key::Line(7)])]).unwrap();
    let change = |object: &str, blobs: &[&str]| {
        (object.as_bytes().to_vec(), blobs.iter().map(|blob| blob.as_bytes().to_vec()).collect::<Vec<_>>())
    };
    let (first, second) = (Some(&b"1"[..]), Some(&b"2"[..]));
    assert!(facts.move_ref("r", (None, first), &[change("x", &["one"]), change("y", &["away"])]).unwrap());
    assert_eq!((objects(Key::File(b"f")), objects(Key::Line(7))), (vec![b"x".to_vec()], vec![]));
    assert_eq!(facts.unread().unwrap(), [(b"y".to_vec(), b"away".to_vec())]);
    assert!(!facts.move_ref("r", (second, first), &[]).unwrap(), "another process moved it first");
    assert!(facts.move_ref("r", (first, second), &[change("x", &["two"])]).unwrap());
    assert_eq!((objects(Key::File(b"f")), objects(Key::Line(7))), (vec![], vec![b"x".to_vec()]));
    facts.add_texts(&[text("away", vec![Key::Odd])]).unwrap();
    facts.set_read().unwrap();
    assert_eq!((objects(Key::Odd), facts.unread().unwrap()), (vec![b"y".to_vec()], vec![]));
    assert_eq!((facts.n_annotated().unwrap(), facts.tip("r").unwrap().as_deref()), (2, second));
}

#[test]
fn what_was_made_long_ago_goes() {
    let facts = Facts::in_memory().unwrap();
    facts.keep_made(&[(1, b"old".to_vec())], 100).unwrap();
    facts.keep_made(&[(2, b"young".to_vec())], 131).unwrap();
    assert_eq!([1, 2].map(|key| facts.made(key).unwrap().is_some()), [true, true]);
    facts.keep_made(&[(64, b"newest".to_vec())], 131).unwrap();
    assert_eq!([1, 2, 64].map(|key| facts.made(key).unwrap().is_some()), [false, true, true]);
}
