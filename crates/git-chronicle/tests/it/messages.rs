//! Texts in the code are in plain English: errors, hints, warnings, findings, and what is rendered.
//!
//! Each text of the crates' sources is read as a document is, with its placeholders as one word. Three sorts are left
//! out: what models are instructed with, which is measured with them and changes only with a measurement; lists of
//! words that are recognised in what others wrote; and SQL. Tests are left out, too.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::plain_english::{complaints, sentences};

/// Files whose texts instruct a model.
const INSTRUCTIONS: [&str; 6] = [
    "chronicle-annotator/src/annotator/cross_chunk.rs",
    "chronicle-annotator/src/annotator/judge.rs",
    "chronicle-annotator/src/annotator/prompt.rs",
    "chronicle-memory/src/sessions/wording/told.rs",
    "chronicle-memory/src/sleep/wording.rs",
    "chronicle/src/ask/compose.rs",
];

/// Files and folders whose texts are looked for in what others wrote.
const RECOGNISED: [&str; 8] = [
    "chronicle-core/src/code/restating.rs",
    "chronicle-search/src/index/words.rs",
    "chronicle-search/src/search.rs",
    "chronicle-sessions/src/digest/account.rs",
    "chronicle-sessions/src/words/particular.rs",
    "chronicle-sessions/src/signs/statements.rs",
    "chronicle-sessions/src/words/typed.rs",
    "chronicle/src/ask/route/",
];

/// How a statement of SQL begins.
const SQL: [&str; 10] =
    ["ALTER", "ANALYZE", "CREATE", "DELETE", "DROP", "INSERT", "PRAGMA", "SELECT", "UPDATE", "WITH"];

#[test]
fn messages_are_in_plain_english() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    for folder in fs::read_dir(&crates).expect("it is there") {
        let folder = folder.expect("it can be listed").path();
        if !folder.ends_with("testkit") {
            add_sources(&folder.join("src"), &mut sources);
        }
    }
    let mut found = Vec::new();
    let mut n_texts = 0;
    let mut unused: Vec<&str> = INSTRUCTIONS.iter().chain(&RECOGNISED).copied().collect();
    for path in &sources {
        let name = path.strip_prefix(&crates).expect("it is below").display().to_string();
        let n_exceptions = unused.len();
        unused.retain(|exception| !name.starts_with(exception));
        if unused.len() < n_exceptions || RECOGNISED.iter().any(|exception| name.starts_with(exception)) {
            continue;
        }
        let texts = texts(&fs::read_to_string(path).expect("it is text"));
        n_texts += texts.len();
        found.extend(
            texts.iter().flat_map(|text| objections(text)).map(|objection| format!("{name}: {objection}")),
        );
    }
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(unused, Vec::<&str>::new(), "files that are gone");
    assert!(5_000 < n_texts, "{n_texts}");
}

#[test]
fn messages_in_other_english_are_found() {
    let check = |source: &str, expected: &[&str]| {
        let found: Vec<String> = texts(source).iter().flat_map(|text| objections(text)).collect();
        assert_eq!(found, expected, "{source}");
    };
    check(r#"#[snafu(display("it shows `{name}`"))]"#, &[]);
    check(r#"#[snafu(display("it tells `{name}`"))]"#, &["`tells` in: it tells code"]);
    check("warn(\"it \\\n     lies\\nthere\")", &["`lies` in: it lies there"]);
    check(r##"let a = '"'; let b = r#"a "none" is none"#;"##, &["`is none` in: a \"none\" is none"]);
    check(r#"fn f<'a>(a: &'a str) -> char { '\'' } const B: &[u8] = b"told";"#, &["`told` in: told"]);
    check("// It \"tells\".\n/// It \"tells\".\n/* \"told\" */ const A: &str = \"x\";", &[]);
    check(r#"format!("{told} {known:>width$} {{told}}")"#, &["`told` in: code code {told}"]);
    check(r#"execute("INSERT INTO told (what) VALUES (?1)")"#, &[]);
    check("\"Option::is_none\", \"Examples:\\n  git tells\"", &[]);
    check("const A: &str = \"a\";\n\n#[cfg(test)]\nmod tests {\n    const B: &str = \"told\";\n}\n", &[]);
}

/// Adds the files in `folder` and below, but for files of tests.
fn add_sources(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            add_sources(&path, sources);
        } else if !path.ends_with("tests.rs") {
            sources.push(path);
        }
    }
}

/// What is wrong with a text of the code.
fn objections(text: &str) -> Vec<String> {
    let is_path = text.contains("::") && !text.contains(' ');
    if is_path || text.split_whitespace().next().is_some_and(|first| SQL.contains(&first)) {
        return Vec::new();
    }
    // Examples are indented.
    let prose: Vec<&str> = text.lines().filter(|line| !line.starts_with("  ")).collect();
    sentences(&without_placeholders(&prose.join("\n")))
        .iter()
        .flat_map(|sentence| complaints(sentence))
        .collect()
}

/// A text as it may be shown: each placeholder as one word.
fn without_placeholders(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(start);
        plain.push_str(before);
        let end = brace.find('}').filter(|_| !brace.starts_with("{{") && !brace.starts_with("}}"));
        match end {
            Some(end) => {
                plain.push_str("code");
                rest = &brace[end + 1..];
            }
            None => {
                plain.push_str(&brace[..1]);
                rest = brace.get(2..).unwrap_or_default();
            }
        }
    }
    plain + rest
}

/// The texts in a source, as they are at run time, without comments and tests.
fn texts(source: &str) -> Vec<String> {
    let mut rest = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut texts = Vec::new();
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '\'' => character_length(rest),
            'r' if !before.is_alphanumeric() || before == 'b' => raw_text(rest, &mut texts),
            '"' => escaped_text(rest, &mut texts),
            other => other.len_utf8(),
        };
        before = first;
        rest = &rest[length..];
    }
    texts
}

/// How long a character in quotes at the start of `rest` is; 1 for the mark of a lifetime.
fn character_length(rest: &str) -> usize {
    let inside = &rest[1..];
    let of_code = inside.starts_with("\\u") || inside.starts_with("\\x");
    let length = match inside.chars().next() {
        Some('\\') if of_code => inside.find('\'').unwrap_or_default(),
        Some('\\') => 2,
        other => other.map_or(0, char::len_utf8),
    };
    if inside[length..].starts_with('\'') { length + 2 } else { 1 }
}

/// Adds the raw text that `rest` begins with, if it does; returns how much that takes.
fn raw_text(rest: &str, texts: &mut Vec<String>) -> usize {
    let marked = rest[1..].trim_start_matches('#');
    let n_marks = rest.len() - 1 - marked.len();
    let end = format!("\"{}", "#".repeat(n_marks));
    let text = marked.strip_prefix('"').and_then(|text| text.split_once(end.as_str()));
    let Some((text, _)) = text else { return 1 };
    texts.push(text.to_owned());
    1 + n_marks + 1 + text.len() + end.len()
}

/// Adds the text that `rest` begins with; returns how much that takes.
fn escaped_text(rest: &str, texts: &mut Vec<String>) -> usize {
    let mut text = String::new();
    let mut parts = rest.char_indices().skip(1).peekable();
    while let Some((at, part)) = parts.next() {
        match part {
            '"' => {
                texts.push(text);
                return at + 1;
            }
            '\\' => match parts.next().map(|(_, escaped)| escaped) {
                Some('\n') => while parts.next_if(|(_, part)| part.is_whitespace()).is_some() {},
                Some('n') => text.push('\n'),
                Some('t' | 'r' | '0') | None => text.push(' '),
                Some(escaped) => text.push(escaped),
            },
            part => text.push(part),
        }
    }
    texts.push(text);
    rest.len()
}
