//! Compares outlines with what universal-ctags finds in the same files.
//!
//! Reads the crate's own corpus, and the folder that `CHRONICLE_CORPUS` names: real code of
//! many languages, where the bar is meant. Run with `--nocapture` for the table.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use chronicle_core::outline::Item;
use chronicle_outline::{MAX_BYTES, language_of, outline};

/// Of what ctags finds, so many percent must be found here too.
const BAR: f64 = 95.0;
/// What both call an item; ctags lists locals and enumerators as well.
const KINDS: [&str; 18] = [
    "function",
    "method",
    "class",
    "struct",
    "interface",
    "trait",
    "enum",
    "union",
    "generator",
    "getter",
    "setter",
    "singletonMethod",
    "subroutine",
    "record",
    "object",
    "annotation",
    "func",
    "methodSpec",
];
/// Languages that ctags knows under these names.
const KNOWN: [(&str, &str); 14] = [
    ("Bash", "Sh"),
    ("C", "C"),
    ("C++", "C++"),
    ("C#", "C#"),
    ("Go", "Go"),
    ("Java", "Java"),
    ("JavaScript", "JavaScript"),
    ("Kotlin", "Kotlin"),
    ("PHP", "PHP"),
    ("Python", "Python"),
    ("Ruby", "Ruby"),
    ("Rust", "Rust"),
    ("TSX", "TypeScript"),
    ("TypeScript", "TypeScript"),
];

/// How many items of a language both found, and which ctags alone did.
#[derive(Default)]
struct Tally {
    n_files: usize,
    n_partial: usize,
    n_theirs: usize,
    n_ours: usize,
    missed: Vec<String>,
}

#[test]
fn what_ctags_finds_is_found() {
    if ctags(&["--version"]).is_none_or(|version| !version.contains("Universal Ctags")) {
        return note("skipped: universal-ctags is not installed");
    }
    let own = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus"));
    compare("own corpus", &own, BAR);
    #[expect(clippy::disallowed_methods, reason = "only whoever runs the test knows where real code is")]
    match std::env::var_os("CHRONICLE_CORPUS") {
        Some(folder) => compare("real code", Path::new(&folder), BAR),
        None => note("skipped: CHRONICLE_CORPUS names no folder with real code"),
    }
}

/// Prints the table for `folder`, and fails where a language stays below `bar`.
fn compare(title: &str, folder: &Path, bar: f64) {
    let mut by_language: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if let Some(text) = path.to_str()
                && let Some(language) = language_of(text, b"")
            {
                by_language.entry(language.name()).or_default().push(text.to_owned());
            }
        }
    }
    let mut below = Vec::new();
    note(&format!("{title}: language, files (partial), ctags' items, found, ours"));
    for (language, theirs) in KNOWN {
        let Some(files) = by_language.get(language) else { continue };
        let tally = tally(theirs, files);
        let n_found = tally.n_theirs - tally.missed.len();
        #[expect(clippy::cast_precision_loss, reason = "a percentage")]
        let share = 100.0 * n_found as f64 / tally.n_theirs.max(1) as f64;
        note(&format!(
            "{language:<11} {:>5} ({:>3}) {:>6} {share:>6.2} % {:>6}",
            tally.n_files, tally.n_partial, tally.n_theirs, tally.n_ours
        ));
        for missed in tally.missed.iter().take(15) {
            note(&format!("    {missed}"));
        }
        if 0 < tally.n_theirs && share < bar {
            below.push(language);
        }
    }
    assert_eq!(below, Vec::<&str>::new(), "less than {bar} % in {title}");
}

fn tally(language: &str, files: &[String]) -> Tally {
    let mut tally = Tally::default();
    for files in files.chunks(100) {
        let forced = format!("--language-force={language}");
        let mut arguments = vec!["-x", "--_xformat=%F\t%n\t%K\t%N", "--kinds-all=*", &forced];
        arguments.extend(files.iter().map(String::as_str));
        let tags = ctags(&arguments).unwrap_or_default();
        for file in files {
            let Ok(bytes) = std::fs::read(file) else { continue };
            let Ok(outline) = outline(file, &bytes[..bytes.len().min(MAX_BYTES)]) else { continue };
            tally.n_files += 1;
            tally.n_partial += usize::from(outline.is_partial);
            tally.n_ours += outline.items.len();
            let text = String::from_utf8_lossy(&bytes);
            let source: Vec<&str> = text.lines().collect();
            let mut ours: HashMap<u32, Vec<&Item>> = HashMap::new();
            for item in &outline.items {
                ours.entry(item.name_line).or_default().push(item);
            }
            for line in tags.lines() {
                let mut fields = line.split('\t');
                let (Some(path), Some(line), Some(kind), Some(name)) =
                    (fields.next(), fields.next(), fields.next(), fields.next())
                else {
                    continue;
                };
                let name = name.rsplit([':', '.', '\\']).next().unwrap_or(name);
                let Ok(number) = line.parse::<u32>() else { continue };
                let written = source.get(number as usize - 1).copied().unwrap_or_default();
                if path != file || !KINDS.contains(&kind) || is_mistaken(language, kind, name, written) {
                    continue;
                }
                tally.n_theirs += 1;
                // `hide: function onHide()` is `hide` here.
                let is_named = |item: &&Item| item.name == name || item.signature.contains(name);
                if !ours.get(&number).is_some_and(|items| items.iter().any(is_named)) {
                    tally.missed.push(format!("{path}:{line} {kind} {name}"));
                }
            }
        }
    }
    tally
}

/// Whether ctags took something else for an item: a keyword, a call, a name that is not there.
fn is_mistaken(language: &str, kind: &str, name: &str, line: &str) -> bool {
    let is_keyword =
        ["if", "try", "for", "while", "switch", "new", "as", "extends", "lock", "self"].contains(&name);
    let is_made_up = name.contains(['=', '<', '[']) || !line.contains(name) || name.contains("nonymous");
    // Where JavaScript says `x = new X`, ctags makes a class of `x`.
    let is_value =
        kind == "class" && line.contains('=') && !line.contains("class") && !line.contains("function");
    // Of Kotlin it takes the arguments of lambdas for methods.
    let is_argument = language == "Kotlin" && kind == "method" && !line.contains("fun ");
    is_keyword
        || is_argument
        || is_made_up
        || is_value
        || name.contains("operator")
        || line.contains(&format!("new {name}("))
}

fn ctags(arguments: &[&str]) -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = testkit::command("ctags", here).args(arguments).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[expect(clippy::print_stderr, reason = "a test that was skipped says so; the table is for whoever measures")]
fn note(text: &str) {
    eprintln!("{text}");
}
