//! Files that use each other in a circle can only be read together, so circles stay small.
//!
//! A file uses another when a path in it leads into that one's module: in a `use` or anywhere in the code, by `crate::`,
//! `super::`, `self::` or the name of a module that the file declares. What a crate's root exports again counts for the
//! module that it comes from; the root itself only lists modules, and is left out. To declare a module is no use of it,
//! and tests are not counted.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// More files than this in one circle nobody keeps in mind.
const MOST_FILES: usize = 5;

/// The files that each file uses, all of them by the paths of their modules.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Crates that have larger circles still, and how large: their circles may shrink, and not grow.
///
/// In `chronicle-sessions`, what reads a format uses what formats share, in the file that lists those that read them.
const CEILINGS: [(&str, usize); 1] = [("chronicle-sessions", 8)];

#[test]
fn no_circle_of_files_is_large() {
    let mut wrong = Vec::new();
    let mut n_crates = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned();
        let mut sources = Vec::new();
        add_sources(&path.join("src"), "", &mut sources);
        assert!(sources.iter().any(|(module, _)| module.is_empty()), "the root of {name} is found");
        n_crates += 1;
        let ceiling = CEILINGS.iter().find(|(known, _)| *known == name).map(|(_, ceiling)| *ceiling);
        let circles = circles(&uses(&sources));
        let largest = circles.iter().map(BTreeSet::len).max().unwrap_or_default();
        match ceiling {
            Some(ceiling) if largest < ceiling => {
                wrong.push(format!("{name}: the largest circle has {largest} files now; lower its ceiling"));
            }
            ceiling => wrong.extend(
                circles
                    .iter()
                    .filter(|circle| ceiling.unwrap_or(MOST_FILES) < circle.len())
                    .map(|circle| format!("{name}: {} files: {circle:?}", circle.len())),
            ),
        }
    }
    assert!(15 < n_crates, "the crates are found: {n_crates}");
    assert_eq!(wrong, Vec::<String>::new());
}

fn check(sources: &[(&str, &str)], expected: &[&[&str]]) {
    let sources: Vec<(String, String)> =
        sources.iter().map(|(module, source)| ((*module).to_owned(), (*source).to_owned())).collect();
    let found = circles(&uses(&sources));
    let found: Vec<Vec<&str>> =
        found.iter().map(|circle| circle.iter().map(String::as_str).collect()).collect();
    assert_eq!(found, expected, "{sources:?}");
}

#[test]
fn circles_are_found() {
    check(&[("a", "use crate::b::B;"), ("b", "")], &[]);
    check(&[("a", "use crate::b::B;"), ("b", "fn f() { crate::a::g() }")], &[&["a", "b"]]);
    let from_b = "use crate::{error::Result, c::{self, C}};";
    check(&[("a", "use crate::b::B;"), ("b", from_b), ("c", "use super::a::A;")], &[&["a", "b", "c"]]);
    check(&[("a", "mod b; use b::B;"), ("a::b", "use super::A;")], &[&["a", "a::b"]]);
    check(&[("a", "mod b;"), ("a::b", "use super::A;")], &[]);
    check(&[("", "pub use b::B;"), ("a", "use crate::B;"), ("b", "use crate::a;")], &[&["a", "b"]]);
    check(&[("a", "use crate::b; // a"), ("b", "// crate::a\nconst A: &str = \"crate::a\";")], &[]);
    check(&[("a", "use crate::b;"), ("b", "#[cfg(test)]\nmod tests { use crate::a; }")], &[]);
}

/// Adds the source of each file in `directory`, which has those of the module `parent`.
fn add_sources(directory: &Path, parent: &str, sources: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(directory).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a plain name");
        let module = match (parent, name) {
            ("", "lib" | "main") => String::new(),
            ("", name) => name.to_owned(),
            (parent, name) => format!("{parent}::{name}"),
        };
        if path.is_dir() {
            add_sources(&path, &module, sources);
        } else {
            sources.push((module, std::fs::read_to_string(&path).expect("it can be read")));
        }
    }
}

fn uses(sources: &[(String, String)]) -> Uses {
    let modules: BTreeSet<&str> = sources.iter().map(|(module, _)| module.as_str()).collect();
    let paths: Vec<(&str, Vec<String>)> =
        sources.iter().map(|(module, source)| (module.as_str(), paths_in(source))).collect();
    let root = paths.iter().filter(|(module, _)| module.is_empty()).flat_map(|(_, paths)| paths);
    let exported: BTreeMap<&str, String> =
        root.filter_map(|path| Some((path.rsplit("::").next()?, module_of(path, "", &modules)?))).collect();
    let mut uses = Uses::new();
    for (module, paths) in paths.iter().filter(|(module, _)| !module.is_empty()) {
        let used = paths.iter().filter_map(|path| {
            let used = module_of(path, module, &modules)?;
            if used.is_empty() { exported.get(path.split("::").nth(1)?).cloned() } else { Some(used) }
        });
        uses.insert((*module).to_owned(), used.filter(|used| used != module).collect());
    }
    uses
}

/// The module that `path` leads into from the module `from`; empty for the root, `None` for another crate's.
fn module_of(path: &str, from: &str, modules: &BTreeSet<&str>) -> Option<String> {
    let mut parts: Vec<&str> = from.split("::").filter(|part| !part.is_empty()).collect();
    for (number, part) in path.split("::").enumerate() {
        match part {
            "crate" => parts.clear(),
            "self" => {}
            "super" => drop(parts.pop()),
            _ if number == 0 && !modules.contains([&parts[..], &[part]].concat().join("::").as_str()) => {
                return None;
            }
            _ => parts.push(part),
        }
    }
    while !parts.is_empty() && !modules.contains(parts.join("::").as_str()) {
        parts.pop();
    }
    Some(parts.join("::"))
}

/// The paths in a source, those in braces each by itself.
fn paths_in(source: &str) -> Vec<String> {
    let tokens = tokens(source.split("#[cfg(test)]").next().unwrap_or_default());
    let mut paths = Vec::new();
    for at in 0..tokens.len() {
        let is_first = at == 0 || tokens[at - 1] != "::";
        if is_first && is_name(tokens[at]) && tokens.get(at + 1) == Some(&"::") {
            add_paths(&tokens, at, "", &mut paths);
        }
    }
    paths
}

/// Adds the paths that begin with `before` and go on at the token number `at`; returns where they end.
fn add_paths(tokens: &[&str], mut at: usize, before: &str, paths: &mut Vec<String>) -> usize {
    let mut path = before.to_owned();
    while let Some(token) = tokens.get(at).filter(|token| is_name(token)) {
        path = if path.is_empty() { (*token).to_owned() } else { format!("{path}::{token}") };
        if tokens.get(at + 1) != Some(&"::") {
            break;
        }
        at += 2;
    }
    if tokens.get(at) != Some(&"{") {
        paths.push(path);
        // A new name may be given to it.
        return at + if tokens.get(at + 1) == Some(&"as") { 3 } else { 1 };
    }
    while tokens.get(at).is_some_and(|token| ["{", ","].contains(token)) {
        at += 1;
        if tokens.get(at) != Some(&"}") {
            at = add_paths(tokens, at, &path, paths);
        }
    }
    at + 1
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The names and signs of a source, without comments and texts.
fn tokens(source: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let name = rest.find(|part: char| !part.is_alphanumeric() && part != '_').unwrap_or(rest.len());
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => text_length(rest),
            '\'' if rest.starts_with("'\"'") => 3,
            ':' if rest.starts_with("::") => 2,
            _ if 0 < name => name,
            other => other.len_utf8(),
        };
        let (token, others) = rest.split_at(length);
        if !token.trim().is_empty() && !token.starts_with(['/', '"', '\'']) {
            tokens.push(token);
        }
        rest = others;
    }
    tokens
}

/// How long the text is that `source` begins with.
fn text_length(source: &str) -> usize {
    let mut is_escaped = false;
    let end = source.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(source.len(), |end| end + 2)
}

/// The files that use each other, directly or through others, in groups of two and more.
fn circles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|file| (file.as_str(), reached_from(file, uses))).collect();
    let circles: BTreeSet<BTreeSet<String>> = reached
        .iter()
        .map(|(file, used)| {
            let used = used.iter().filter(|other| reached[*other].contains(file));
            used.map(|other| (*other).to_owned()).collect()
        })
        .collect();
    circles.into_iter().filter(|circle: &BTreeSet<String>| !circle.is_empty()).collect()
}

/// The files that `file` uses, directly or through others.
fn reached_from<'u>(file: &'u str, uses: &'u Uses) -> BTreeSet<&'u str> {
    let mut reached = BTreeSet::new();
    let mut pending = vec![file];
    while let Some(file) = pending.pop() {
        pending.extend(uses[file].iter().map(String::as_str).filter(|other| reached.insert(*other)));
    }
    reached
}
