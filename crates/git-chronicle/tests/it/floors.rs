//! The manifests keep the house's floors: a crate imports lower floors, and on some floors what is drawn below it.

use std::path::Path;

use serde_json::Value;

/// The floor of each crate, from the top as ARCHITECTURE.md draws it: a crate imports only what comes after it here.
const FLOORS: [(&str, u8); 18] = [
    ("git-chronicle", 6),
    ("chronicle-serve", 5),
    ("chronicle-render", 5),
    ("chronicle-annotator", 4),
    ("chronicle", 4),
    ("chronicle-memory", 4),
    ("chronicle-workplace", 4),
    ("chronicle-commits", 3),
    ("chronicle-sessions", 3),
    ("chronicle-git", 2),
    ("chronicle-facts", 2),
    ("chronicle-outline", 2),
    ("chronicle-llm", 2),
    ("chronicle-search", 2),
    ("chronicle-share", 2),
    ("chronicle-core", 1),
    ("chronicle-embedding", 1),
    ("testkit", 0),
];

/// Floors whose crates may import those below them in the drawing; on the others they stand apart.
const STAIRS: [u8; 2] = [4, 5];

/// Families of dependencies that only these may have: `gix` stands for `gix-hash` too, `tree` for `tree-sitter-rust`.
/// What is for tests may have what talks to services, to record them.
const KEPT_BY: [(&str, &[&str]); 12] = [
    ("arrow", &["chronicle-share"]),
    ("genai", &["chronicle-llm"]),
    ("gix", &["chronicle-git"]),
    ("lance", &["chronicle-share"]),
    ("lancedb", &["chronicle-share"]),
    ("object_store", &["chronicle-share"]),
    ("reqwest", &["chronicle-llm", "testkit"]),
    ("rmcp", &["chronicle-serve"]),
    ("rusqlite", &["chronicle-facts", "chronicle-search"]),
    ("rustls", &["chronicle-llm", "testkit"]),
    ("tokio", &["chronicle-llm", "chronicle-serve", "chronicle-share", "testkit"]),
    ("tree", &["chronicle-outline"]),
];

/// What is called like one of a family and is none: this one compares lines and knows nothing of git.
const NO_FAMILY: [&str; 1] = ["gix-imara-diff"];

/// One crate that names another in its manifest.
struct Edge {
    from: String,
    to: String,
    is_dev: bool,
}

#[test]
fn every_crate_imports_lower_floors_only() {
    assert_eq!(wrong_edges(&manifests()), Vec::<String>::new());
}

#[test]
fn wrong_edges_are_found() {
    let check = |from: &str, to: &str, is_dev, is_wrong| {
        let edge = Edge { from: from.into(), to: to.into(), is_dev };
        assert_eq!(!wrong_edges(&[edge]).is_empty(), is_wrong, "{from} -> {to}");
    };
    check("chronicle", "chronicle-core", false, false);
    check("chronicle-core", "serde", false, false);
    check("chronicle-core", "chronicle-git", false, true);
    check("chronicle-core", "chronicle-git", true, true);
    check("chronicle-git", "chronicle-git", false, true);
    check("chronicle-serve", "chronicle-render", false, false);
    check("chronicle-render", "chronicle-serve", false, true);
    check("chronicle", "chronicle-memory", false, false);
    check("chronicle-memory", "chronicle", false, true);
    check("chronicle-git", "chronicle-outline", false, true);
    check("chronicle-git", "testkit", true, false);
    check("chronicle-git", "testkit", false, true);
    check("chronicle-git", "gix", false, false);
    check("chronicle", "gix", true, true);
    check("chronicle-llm", "tokio", false, false);
    check("chronicle-serve", "tokio", false, false);
    check("chronicle-serve", "reqwest", false, true);
    check("chronicle", "tokio-util", false, true);
    check("chronicle-outline", "tree-sitter-go", false, false);
    check("chronicle-core", "tree-sitter", false, true);
    check("chronicle-core", "gix-hash", false, true);
    check("chronicle-core", "gix-imara-diff", false, false);
    check("chronicle-attic", "chronicle-core", false, true);
}

/// What is wrong with the edges, in words; nothing when the house stands.
fn wrong_edges(edges: &[Edge]) -> Vec<String> {
    let floor = |name: &str| {
        FLOORS
            .iter()
            .enumerate()
            .find(|(_, (member, _))| *member == name)
            .map(|(at, (_, floor))| (*floor, at))
    };
    let complaint = |edge: &Edge| match (floor(&edge.from), floor(&edge.to)) {
        (None, _) => Some("has no floor"),
        (Some(_), Some((0, _))) if !edge.is_dev => Some("is for tests only"),
        (Some(from), Some(to)) if from.0 == to.0 && STAIRS.contains(&to.0) && from.1 < to.1 => None,
        (Some(from), Some(to)) if from.0 <= to.0 => Some("is not a lower floor"),
        (Some(_), None) if is_kept_by_another(edge) => Some("is kept by another crate"),
        _ => None,
    };
    edges
        .iter()
        .filter_map(|edge| Some(format!("{} -> {}: {}", edge.from, edge.to, complaint(edge)?)))
        .collect()
}

fn is_kept_by_another(edge: &Edge) -> bool {
    let family = edge.to.split('-').next().filter(|_| !NO_FAMILY.contains(&edge.to.as_str()));
    KEPT_BY.iter().any(|(kept, by)| Some(*kept) == family && !by.contains(&edge.from.as_str()))
}

/// The dependencies that the workspace's manifests name.
fn manifests() -> Vec<Edge> {
    let mut cargo = testkit::command(env!("CARGO"), Path::new(env!("CARGO_MANIFEST_DIR")));
    let output = cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1"]).output();
    let output = output.expect("cargo runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let name = |value: &Value| value["name"].as_str().expect("it has a name").to_owned();
    let list = |value: &Value| value.as_array().expect("it is a list").clone();
    let mut edges = Vec::new();
    for package in list(&metadata["packages"]) {
        edges.extend(list(&package["dependencies"]).iter().map(|dependency| Edge {
            from: name(&package),
            to: name(dependency),
            is_dev: dependency["kind"] == "dev",
        }));
    }
    edges
}
