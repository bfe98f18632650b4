//! How many secrets of a set that somebody else made are replaced, and how many words of texts without any.
//!
//! `cargo run -p chronicle-core --example secret_sets -- SET.jsonl` prints the shares by kind and context;
//! `--missed` prints what was left. `--texts FILE...` counts the words replaced in files (all strings
//! of those in JSON lines), with `--shown` as lines; `--speed FILE...` measures the time that takes.
//! `--growth` shows the pieces, or those given, whose repetition takes more than three times as long when there are twice as many.
//!
//! Each line of a set holds `kind`, `context`, `text`, `secret` (or its `pieces`, where it has several
//! lines) and `form`, which is false for what only a name can give away.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::time::Instant;

use chronicle_core::redaction::{cleaned, redact};
use serde_json::Value;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let files: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    if has("--speed") {
        speed(&files);
    } else if has("--growth") {
        growth(&files);
    } else if has("--texts") {
        false_alarms(&files, has("--shown"));
    } else {
        files.iter().for_each(|file| recall(file, has("--missed")));
    }
}

fn read(file: &str) -> String {
    std::fs::read_to_string(file).expect("the file can be read")
}

/// How many there are, and how many of them are gone.
type Shares = BTreeMap<String, (usize, usize)>;

fn recall(file: &str, shows_missed: bool) {
    let (mut totals, mut kinds, mut contexts) = (Shares::new(), Shares::new(), Shares::new());
    for line in read(file).lines() {
        let sample: Value = serde_json::from_str(line).expect("a sample is JSON");
        let word = |field: &str| sample[field].as_str().expect("a sample has its fields");
        let has_form = sample["form"].as_bool().expect("a sample says whether its kind has a form");
        let redacted = redact(word("text")).text;
        let pieces = sample["pieces"]
            .as_array()
            .map_or_else(|| vec![word("secret")], |pieces| pieces.iter().filter_map(Value::as_str).collect());
        let is_gone = pieces.iter().all(|piece| is_gone(piece, word("text"), &redacted));
        let form = if has_form { "with a form" } else { "without" };
        count(&mut totals, "all", is_gone);
        count(&mut totals, form, is_gone);
        count(&mut kinds, &format!("{} ({form})", word("kind")), is_gone);
        count(&mut contexts, &format!("{} ({form})", word("context")), is_gone);
        if shows_missed && !is_gone {
            println!(
                "missed {} in {}: {redacted:?} still holds {}",
                word("kind"),
                word("context"),
                word("secret")
            );
        }
    }
    println!("{file}: {} kinds", kinds.len());
    kinds.retain(|_, (n, n_gone)| n != n_gone);
    for (name, (n, n_gone)) in totals.iter().chain(&contexts).chain(&kinds) {
        println!("  {name:45} {:6.2} % of {n}", 100.0 * *n_gone as f64 / *n as f64);
    }
}

fn count(shares: &mut Shares, name: &str, is_gone: bool) {
    let (n, n_gone) = shares.entry(name.to_owned()).or_default();
    *n += 1;
    *n_gone += usize::from(is_gone);
}

/// Whether no part of `secret` that would be worth having is left of `text`: no 8 bytes in a row that stand nowhere else.
fn is_gone(secret: &str, text: &str, redacted: &str) -> bool {
    let elsewhere = text.replace(secret, " ");
    // The address of a host is no secret.
    let secret = secret.strip_prefix("https://").unwrap_or(secret);
    let holds = |text: &str, part: &[u8]| memchr::memmem::find(text.as_bytes(), part).is_some();
    let mut parts = secret.as_bytes().windows(secret.len().min(8));
    parts.all(|part| !holds(redacted, part) || holds(&elsewhere, part))
}

/// The strings of a file in JSON lines, or all of another.
fn texts(files: &[&String]) -> Vec<String> {
    let mut texts = Vec::new();
    for file in files {
        let content = read(file);
        if file.ends_with(".jsonl") {
            content
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .for_each(|row: Value| add_strings(&row, &mut texts));
        } else {
            texts.push(content);
        }
    }
    texts
}

fn add_strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| add_strings(value, texts)),
        Value::Object(map) => {
            map.iter()
                .filter(|(key, _)| *key != "signature")
                .for_each(|(_, value)| add_strings(value, texts));
        }
        _ => {}
    }
}

fn false_alarms(files: &[&String], shows: bool) {
    let (mut n_words, mut n_replaced) = (0, 0);
    for text in texts(files) {
        n_words += text.split_whitespace().count();
        let redacted = redact(&text);
        if redacted.found.is_empty() {
            continue;
        }
        // A word that stands in the text no more often than before was not touched.
        let mut left = BTreeMap::<_, i64>::new();
        text.split_whitespace().for_each(|word| *left.entry(word).or_default() += 1);
        redacted.text.split_whitespace().for_each(|word| *left.entry(word).or_default() -= 1);
        n_replaced += left.values().filter(|&&n| 0 < n).sum::<i64>();
        if shows {
            for line in redacted.text.lines().filter(|line| line.contains("[redacted:")) {
                let line: String = line.chars().take(300).collect();
                println!("  {line}");
            }
            println!(
                "  = {:?}",
                left.iter()
                    .filter(|(_, n)| 0 < **n)
                    .map(|(word, _)| word.chars().take(120).collect())
                    .collect::<Vec<String>>()
            );
        }
    }
    println!(
        "{n_replaced} of {n_words} words replaced, {:.4} %",
        100.0 * n_replaced as f64 / n_words.max(1) as f64
    );
}

fn speed(files: &[&String]) {
    let texts = texts(files);
    let n_bytes: usize = texts.iter().map(String::len).sum();
    let rounds: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            let n_found: usize = texts.iter().map(|text| redact(text).found.len()).sum();
            assert!(n_found < usize::MAX);
            start.elapsed().as_secs_f64()
        })
        .collect();
    let best = rounds.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{:.0} MB/s in the best of {} rounds over {n_bytes} bytes",
        n_bytes as f64 / best / 1e6,
        rounds.len()
    );
}

/// What texts are repeated from: names, values, signs and the beginnings of what goes on over lines.
const PIECES: &[&str] = &[
    "password",
    "pw",
    "passwd ",
    "secret ",
    "token",
    "api key ",
    "key",
    "phrase ",
    "mnemonic ",
    "cookie",
    "auth ",
    "mot de passe ",
    "пароль ",
    "密码",
    "senha ",
    "Bearer ",
    "Basic ",
    "hunter22",
    "Zq7xA1b2C3d4E5f6",
    "Sommer#2024",
    "a!",
    "&",
    "login ",
    " | sudo -S ",
    "abc ",
    "x",
    "0",
    "12345 ",
    ":",
    ": ",
    "=",
    " = ",
    "=\n",
    "\\\n",
    " \\\n",
    "\\n",
    "\n",
    "\r\n",
    " ",
    "\t",
    "\"",
    "'",
    "`",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "</",
    "|",
    " | ",
    "|\n",
    ",",
    ";",
    ";\n",
    "|---|\n",
    "---+---\n",
    "-",
    "--",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END ",
    "> ",
    "│ ",
    "12 | ",
    "+",
    "/",
    "://",
    "https://a",
    "@",
    "%3D",
    "%40",
    "%2F",
    "&",
    "?sig=",
    "ghp_",
    "ghp_a1B2\n",
    "sk-",
    "eyJ",
    ".eyJ",
    "eyJhbGciOi\n",
    ".",
    "Q~",
    ".atlasv1.",
    "_mmk",
    "AA",
    ":AA",
    "-p",
    " -p ",
    "-u ",
    "-u a:",
    "mysql ",
    "curl ",
    "echo ",
    "--password ",
    "--password-stdin",
    "--data-file=-",
    "/user:",
    "net use ",
    "[redacted:password]",
    "[redacted:",
    "[private]",
    "<private>",
    "</private>",
    "<private a=\"",
    "value:",
    "is ",
    " is now ",
    " for ",
    "?\n",
    "```\n",
    "$ ",
    "IDENTIFIED BY '",
    "pass: ",
    "\u{200b}",
    "\x1b[",
    "é",
    "“",
    "»",
];

fn growth(given: &[&String]) {
    let mut texts: Vec<String> = given.iter().map(|text| text.replace("\\n", "\n")).collect();
    let n_bytes = if given.is_empty() { 20_000 } else { 400_000 };
    let pieces = if given.is_empty() { PIECES } else { &[] };
    texts.extend(pieces.iter().map(|piece| (*piece).to_owned()));
    for first in pieces {
        texts.extend(pieces.iter().map(|second| format!("{first}{second}")));
    }
    let tables = [
        "|a|password|\n|---|---|\n|x|y|\n".to_owned(),
        "a,password,b\nx,hunter22,c\n".to_owned(),
        "password: |\n  a1B2c3D4\n".to_owned(),
        "token\n4fKq9ZtLw2XvB7nRj8Md\n".to_owned(),
    ];
    texts.extend(tables.into_iter().filter(|_| given.is_empty()));
    let heads = [
        "",
        "|a|password|\n|---|---|\n",
        "password,b\n",
        "<private>",
        "password: \"",
        "-----BEGIN PRIVATE KEY-----\n",
    ];
    for head in heads {
        for text in texts.iter().filter(|text| head.is_empty() || text.len() < 12) {
            let time = |n: usize| {
                let text = format!("{head}{}", text.repeat(n));
                let start = Instant::now();
                assert!(cleaned(&text).0.len() < usize::MAX);
                start.elapsed().as_secs_f64()
            };
            let least = |n: usize| (0..2).map(|_| time(n)).fold(f64::INFINITY, f64::min);
            let n = n_bytes / text.len();
            if time(2 * n) > 0.02 && least(2 * n) > 3.0 * least(n) {
                println!(
                    "{:6.1} times for {head:?} and {text:?}, {:.0} ms",
                    least(2 * n) / least(n),
                    least(2 * n) * 1e3
                );
            }
        }
    }
}
