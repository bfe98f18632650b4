use super::*;

fn row(name: &str, text: &str) -> SharedRow {
    SharedRow {
        id: format!("digest:M:P:{name}"),
        hash: text.to_owned(),
        kind: "digest".to_owned(),
        name: name.to_owned(),
        machine_id: "M".to_owned(),
        text: text.to_owned(),
        terms: text.replace('\u{0}', ""),
        at: 7,
        ..SharedRow::default()
    }
}

fn all(table: &Table) -> Vec<SharedRow> {
    let mut rows = Vec::new();
    table
        .all_rows(&mut |part| {
            rows.extend(part);
            Ok(())
        })
        .expect("they can be read");
    rows.sort_by(|left, right| left.id.cmp(&right.id));
    rows
}

fn in_folder(name: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("there is room");
    let url = folder.path().join(name).to_string_lossy().into_owned();
    (folder, url)
}

#[test]
fn what_was_put_comes_back_once() {
    let (_folder, url) = in_folder("it's a store");
    let table = Table::create(&url, Role::Copy, "I").expect("it can be made");
    let mut rows = vec![row("it's", "one 'two'"), row("b", "\u{0}日本 \"\\"), row("c", "")];
    table.put(&rows).expect("it can be written");
    table.put(&rows).expect("it can be written");
    assert_eq!(all(&table), [rows[1].clone(), rows[2].clone(), rows[0].clone()]);
    rows[0].hash = "another".to_owned();
    table.put(&rows[..1]).expect("it can be written");
    let marks = table.marks(Some("M")).expect("they can be read");
    assert_eq!(marks.len(), 3);
    assert!(marks.iter().any(|mark| mark.hash == "another"));
    assert_eq!(table.marks(Some("it's")).expect("they can be read"), []);
    table.remove(&[rows[0].id.clone(), "digest:M:P:' OR '1'='1".to_owned()]).expect("it can be written");
    assert_eq!(all(&table), [rows[1].clone(), rows[2].clone()]);
    table.tidy().expect("it can be tidied");
    let found = table.search("日本 nothing", None, None, 5).expect("it can be searched");
    assert_eq!(found.into_iter().map(|(row, _)| row).collect::<Vec<_>>(), [rows[1].clone()]);
    assert_eq!(table.search("日本", Some("P'"), Some(8), 5).expect("it can be searched"), []);
}

/// Whether any file in a folder holds some bytes.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).expect("it can be listed").any(|entry| {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            return holds(&path, bytes);
        }
        let content = std::fs::read(&path).expect("it can be read");
        content.windows(bytes.len()).any(|window| window == bytes)
    })
}

#[test]
fn what_is_removed_leaves_the_files() {
    let (folder, url) = in_folder("store");
    let table = Table::create(&url, Role::Shared, "I").expect("it can be made");
    let rows: Vec<SharedRow> = (0..50).map(|number| row(&format!("n{number}"), "kept")).collect();
    table.put(&rows).expect("it can be written");
    table.put(&[row("secret", "unforgettable-words")]).expect("it can be written");
    assert!(holds(folder.path(), b"unforgettable-words"), "it is stored as it is");
    table.remove(&["digest:M:P:secret".to_owned()]).expect("it can be written");
    table.tidied(0).expect("it can be tidied");
    assert_eq!(all(&table).len(), 50);
    assert!(!holds(folder.path(), b"unforgettable-words"));
}

#[test]
fn a_store_is_made_once() {
    let (_folder, url) = in_folder("store");
    let make = |identity: String| {
        let url = url.clone();
        std::thread::spawn(move || {
            let table = Table::create(&url, Role::Shared, &identity).expect("it can be made");
            table.put(&[row(&identity, "here")]).expect("it can be written");
            table.identity().to_owned()
        })
    };
    let makers: Vec<_> = (0..4).map(|number| make(format!("I{number}"))).collect();
    let mut identities: Vec<String> =
        makers.into_iter().map(|maker| maker.join().expect("it ends")).collect();
    identities.dedup();
    assert_eq!(identities.len(), 1, "{identities:?}");
    let table = Table::open(&url, Role::Shared).expect("it is there");
    assert_eq!(all(&table).len(), 4, "what one put is gone");
}

#[test]
fn what_is_no_store_is_told_apart() {
    let (folder, url) = in_folder("store");
    let missing = Table::open(&url, Role::Shared).expect_err("there is none");
    assert!(matches!(missing, ShareError::NoStore { .. }), "{missing}");
    assert!(!folder.path().join("store").exists(), "looking made it");
    let table = Table::create(&url, Role::Shared, "I").expect("it can be made");
    let asked_for_more = Table::open(&url, Role::Copy).expect_err("it has no terms");
    assert!(matches!(asked_for_more, ShareError::Damaged { .. }), "{asked_for_more}");
    drop(table);
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").expect("there is room");
    let no_folder = Table::open(&file.to_string_lossy(), Role::Shared).expect_err("a file");
    assert!(matches!(no_folder, ShareError::NoStore { .. }), "{no_folder}");
}
