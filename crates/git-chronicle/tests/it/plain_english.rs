//! Documents are in plain English: no phrasing that makes readers stop, and no endless sentence.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Phrasings to avoid, in lower case. They are looked for as whole words.
///
/// Most are fine in some English sentence. The usual words ("shows", "is stored in", "in the background", "next to",
/// "users") are always finer.
pub(crate) const BANNED: [&str; 46] = [
    "anew",
    "are no longer",
    "are none",
    "behind",
    "beside",
    "besides",
    "go along",
    "goes along",
    "goes by",
    "gone along",
    "is no longer",
    "is none",
    "is said",
    "know no",
    "known of",
    "knows no",
    "lie",
    "lies",
    "mend",
    "mended",
    "mends",
    "nobody",
    "of ours",
    "of theirs",
    "pass over",
    "passed over",
    "passes over",
    "said of",
    "said so",
    "says so",
    "somebody",
    "speak of",
    "speaks of",
    "stand",
    "stands",
    "stood",
    "take along",
    "taken along",
    "taken in",
    "takes along",
    "takes in",
    "tell",
    "telling",
    "tells",
    "told",
    "whoever",
];

/// How a sentence begins whose subject is a clause: "What is kept of a turn is text."
const CLAUSES: [&str; 4] = ["what", "whatever", "who", "whoever"];

/// No sentence has more words.
const MOST_WORDS: usize = 40;

#[test]
fn documents_are_in_plain_english() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "benches/README.md",
        "tests/acceptance/README.md",
    ];
    let mut paths: Vec<PathBuf> = names.iter().map(|name| top.join(name)).collect();
    add_documents(&top.join("docs"), &mut paths);
    assert!(paths.contains(&top.join("docs/design/README.md")), "{paths:?}");
    let mut found = Vec::new();
    let mut n_sentences = 0;
    for path in &paths {
        let text = fs::read_to_string(path).expect("it is text");
        let sentences = sentences(&text);
        n_sentences += sentences.len();
        let name = path.strip_prefix(&top).expect("it is below").display();
        let complaints = sentences.iter().flat_map(|sentence| complaints(sentence));
        found.extend(complaints.map(|complaint| format!("{name}: {complaint}")));
    }
    assert_eq!(found, Vec::<String>::new());
    assert!(2_000 < n_sentences, "{n_sentences}");
}

#[test]
fn other_english_is_found() {
    let check = |text: &str, expected: &[&str]| {
        let found: Vec<String> = sentences(text).iter().flat_map(|sentence| complaints(sentence)).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("It shows the lesson. What a story!", &[]);
    check("It tells the lesson.", &["`tells` in: It tells the lesson."]);
    check(
        "# Who is told\n\n- Understood. [It\n  lies](behind.md) here",
        &["`told` in: Who is told", "`lies` in: It lies here"],
    );
    check("| a | `told` b |\n|---|---|\n| stands | ``c`told`` |", &["`stands` in: stands"]);
    check("```sh\ngit tells\n```\n\nA stand-in (nobody's).", &[]);
    check("There is no file. It is no file.", &["`no` in place of `not`: It is no file."]);
    check("What it is, is clear. What is it?", &["a clause as its subject: What it is, is clear."]);
    let long = "word ".repeat(MOST_WORDS);
    check(&format!("{long}."), &[]);
    check(&format!("1. {long}more."), &[&format!("41 words: {long}more.")]);
}

/// Adds the documents in `folder` and below.
fn add_documents(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            add_documents(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

/// What is wrong with a sentence.
pub(crate) fn complaints(sentence: &str) -> Vec<String> {
    let separates = |part: char| !part.is_alphanumeric() && part != '\'' && part != '-';
    let words: Vec<String> =
        sentence.split(separates).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let plain = format!(" {} ", words.join(" "));
    let banned = BANNED.iter().filter(|banned| plain.contains(&format!(" {banned} ")));
    let mut found: Vec<String> = banned.map(|banned| format!("`{banned}` in: {sentence}")).collect();
    if words
        .windows(3)
        .any(|part| part[0] != "there" && ["are", "is"].contains(&part[1].as_str()) && part[2] == "no")
    {
        found.push(format!("`no` in place of `not`: {sentence}"));
    }
    let first = words.first().map_or("", String::as_str);
    if CLAUSES.contains(&first) && sentence.ends_with('.') {
        found.push(format!("a clause as its subject: {sentence}"));
    }
    let n_words = sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    if MOST_WORDS < n_words {
        found.push(format!("{n_words} words: {sentence}"));
    }
    found
}

/// The sentences of a document in Markdown, without blocks of code; code in a line is one word.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for unit in units(text) {
        let mut sentence: Vec<&str> = Vec::new();
        for word in unit.split_whitespace() {
            sentence.push(word);
            if word.trim_end_matches([')', '"', '”', '’']).ends_with(['.', '!', '?']) {
                sentences.push(sentence.join(" "));
                sentence.clear();
            }
        }
        if !sentence.is_empty() {
            sentences.push(sentence.join(" "));
        }
    }
    sentences
}

/// The headings, paragraphs, items of lists and cells of tables.
fn units(text: &str) -> Vec<String> {
    let mut units = Vec::new();
    let mut unit = String::new();
    let mut is_code = false;
    for line in text.lines().map(str::trim) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let item = item(line);
        if is_code || is_fence || line.is_empty() || line.starts_with(['#', '|']) || item.is_some() {
            units.push(std::mem::take(&mut unit));
        }
        if is_code || is_fence {
            continue;
        }
        if line.starts_with('|') {
            units.extend(prose(line).split('|').map(str::to_owned));
        } else if line.starts_with('#') {
            units.push(prose(line.trim_start_matches('#')));
        } else {
            unit.push_str(item.unwrap_or(line));
            unit.push(' ');
        }
    }
    units.push(unit);
    units.iter().map(|unit| prose(unit)).filter(|unit| unit.contains(char::is_alphanumeric)).collect()
}

/// The text of an item of a list, if the line begins one.
fn item(line: &str) -> Option<&str> {
    let after_number = line.trim_start_matches(|part: char| part.is_ascii_digit());
    let numbered = after_number.strip_prefix(". ").filter(|_| after_number.len() < line.len());
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or(numbered)
}

/// The words of a text as they are read: code as one word, links without their targets, no marks of emphasis.
fn prose(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        let n_ticks = from.len() - from.trim_start_matches('`').len();
        let (ticks, inside) = from.split_at(n_ticks);
        let Some(end) = inside.find(ticks) else { break };
        plain.push_str(before);
        plain.push_str("code");
        rest = &inside[end + n_ticks..];
    }
    plain.push_str(rest);
    while let Some(start) = plain.find("](") {
        let end = plain[start..].find(')').map_or(plain.len(), |length| start + length + 1);
        plain.replace_range(start..end, "");
    }
    plain.replace(['[', ']', '*'], "").trim().to_owned()
}
