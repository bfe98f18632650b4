//! The documents hold together: links lead somewhere, and every page is found from the README.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Component, Path, PathBuf},
};

fn top() -> PathBuf {
    normal(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

/// Every page, with its text outside of blocks of code.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut waiting = vec![top().join("docs")];
    let mut files: Vec<PathBuf> =
        fs::read_dir(top()).expect("it is there").map(|entry| entry.expect("it is listed").path()).collect();
    files.push(top().join("benches/README.md"));
    files.push(top().join("tests/acceptance/README.md"));
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).expect("it is there") {
            let path = entry.expect("it is listed").path();
            if path.is_dir() { waiting.push(path) } else { files.push(path) }
        }
    }
    files.retain(|path| path.extension().is_some_and(|end| end == "md"));
    files
        .into_iter()
        .map(|path| (path.clone(), prose(&fs::read_to_string(&path).expect("it is text"))))
        .collect()
}

fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// The links of a page to files: the file, and the anchor.
fn links(page: &Path, text: &str) -> Vec<(PathBuf, Option<String>)> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let targets = targets.filter(|target| !target.contains("://") && !target.contains(' '));
    let folder = page.parent().expect("a page is in a folder");
    targets
        .map(|target| {
            let (file, anchor) =
                target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
            let file = if file.is_empty() { page.to_owned() } else { normal(&folder.join(file)) };
            (file, anchor.map(str::to_owned))
        })
        .collect()
}

/// The anchors that hosts give to the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            let kept = words.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
            kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
        })
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    let mut broken = Vec::new();
    for (page, text) in &pages {
        for (file, anchor) in links(page, text) {
            let has_anchor =
                |anchor: &String| pages.get(&file).is_some_and(|text| anchors(text).contains(anchor));
            if !file.exists() {
                broken.push(format!("{}: {}", page.display(), file.display()));
            } else if let Some(anchor) = anchor.filter(|anchor| !has_anchor(anchor)) {
                broken.push(format!("{}: {}#{anchor}", page.display(), file.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
    assert!(40 < pages.len(), "{}", pages.len());
}

#[test]
fn every_page_is_two_clicks_from_the_readme_and_listed_once() {
    let pages = pages();
    let next = |from: &BTreeSet<PathBuf>| -> BTreeSet<PathBuf> {
        let known = from.iter().filter_map(|page| Some((page, pages.get(page)?)));
        known.flat_map(|(page, text)| links(page, text)).map(|(file, _)| file).collect()
    };
    let first = next(&BTreeSet::from([top().join("README.md")]));
    let reached: BTreeSet<PathBuf> = first.union(&next(&first)).cloned().collect();
    let lists = [top().join("docs/README.md"), top().join("docs/design/README.md")];
    let listed: Vec<PathBuf> =
        lists.iter().flat_map(|list| links(list, &pages[list])).map(|(file, _)| file).collect();
    for page in pages.keys().filter(|page| page.starts_with(top().join("docs"))) {
        assert!(reached.contains(page), "{} is more than two clicks away", page.display());
        let n = listed.iter().filter(|file| *file == page).count();
        assert_eq!(n, usize::from(*page != lists[0]), "{} in the lists", page.display());
    }
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(top().join("README.md")).expect("it is text");
    assert!(readme.lines().count() <= 120);
}
