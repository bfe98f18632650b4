//! Files made to hurt: nothing may panic, overflow the stack or take long.

use std::time::{Duration, Instant};

use chronicle_core::outline::Item;
use chronicle_outline::{Language, MAX_BYTES, MAX_ITEMS, NoOutline, outline};
use proptest::prelude::*;

/// Generous: tests run unoptimised, several at once.
const SOON: Duration = Duration::from_secs(20);

const CORPUS: [(&str, &[u8]); 20] = [
    ("pool.rs", include_bytes!("corpus/pool.rs")),
    ("pool.ts", include_bytes!("corpus/pool.ts")),
    ("view.tsx", include_bytes!("corpus/view.tsx")),
    ("pool.js", include_bytes!("corpus/pool.js")),
    ("pool.py", include_bytes!("corpus/pool.py")),
    ("pool.go", include_bytes!("corpus/pool.go")),
    ("Pool.java", include_bytes!("corpus/Pool.java")),
    ("Pool.kt", include_bytes!("corpus/Pool.kt")),
    ("pool.c", include_bytes!("corpus/pool.c")),
    ("pool.cpp", include_bytes!("corpus/pool.cpp")),
    ("Pool.cs", include_bytes!("corpus/Pool.cs")),
    ("pool.rb", include_bytes!("corpus/pool.rb")),
    ("pool.php", include_bytes!("corpus/pool.php")),
    ("Pool.swift", include_bytes!("corpus/Pool.swift")),
    ("Pool.scala", include_bytes!("corpus/Pool.scala")),
    ("pool.sh", include_bytes!("corpus/pool.sh")),
    ("pool.toml", include_bytes!("corpus/pool.toml")),
    ("pool.yaml", include_bytes!("corpus/pool.yaml")),
    ("pool.json", include_bytes!("corpus/pool.json")),
    ("pool.md", include_bytes!("corpus/pool.md")),
];

/// What opens columns in YAML, and does not, and a block in Python.
const STARTS: [&str; 8] = ["- ", "? ", ": ", "a: ", "{", "a: |\n", "if x:", "&a "];

/// Lines lie in the file, the name among the item's own, owners come first.
fn check_items(path: &str, text: &[u8], items: &[Item]) {
    let n_lines = text.split(|byte| *byte == b'\n').count();
    for item in items {
        assert!(1 <= item.lines.start && item.lines.start <= item.lines.end, "{path} {item:?}");
        assert!(item.lines.end as usize <= n_lines, "{path} {item:?} of {n_lines} lines");
        assert!((item.lines.start..=item.lines.end).contains(&item.name_line), "{path} {item:?}");
        assert!(!item.name.is_empty() && !item.signature.contains('\n'), "{path} {item:?}");
    }
}

fn check_quick(path: &str, text: &[u8]) -> Result<chronicle_outline::Outline, NoOutline> {
    let start = Instant::now();
    let outline = outline(path, text);
    assert!(start.elapsed() < SOON, "{path} took {:?}", start.elapsed());
    if let Ok(outline) = &outline {
        check_items(path, text, &outline.items);
    }
    outline
}

#[test]
fn every_language_has_a_sample() {
    let sampled = CORPUS.map(|(path, text)| outline(path, text).unwrap().language.name());
    for language in Language::all() {
        assert!(sampled.contains(&language.name()), "{language:?}");
    }
}

#[test]
fn truncated_files_give_what_is_there() {
    for (path, text) in CORPUS {
        let whole = check_quick(path, text).unwrap();
        assert!(!whole.items.is_empty(), "{path}");
        for cut in (0..text.len()).step_by(37) {
            check_quick(path, &text[..cut]).unwrap();
        }
    }
}

#[test]
fn line_ends_and_byte_order_marks_change_no_line() {
    let lines =
        |items: &[Item]| items.iter().map(|item| (item.qualified.clone(), item.lines)).collect::<Vec<_>>();
    for (path, text) in CORPUS {
        let text = std::str::from_utf8(text).unwrap();
        let expected = lines(&outline(path, text.as_bytes()).unwrap().items);
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(lines(&outline(path, crlf.as_bytes()).unwrap().items), expected, "{path} with CRLF");
        let with_mark = ["\u{FEFF}", text].concat();
        assert_eq!(lines(&outline(path, with_mark.as_bytes()).unwrap().items), expected, "{path}");
        let utf16: Vec<u8> = with_mark.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(lines(&outline(path, &utf16).unwrap().items), expected, "{path} in UTF-16");
    }
}

#[test]
fn deep_nesting_is_cut() {
    let n = 100_000;
    for (path, text) in [
        ("a.json", "[".repeat(n)),
        ("a.json", "{\"a\":".repeat(n)),
        ("a.rs", "fn f() {".repeat(n)),
        ("a.rs", "(".repeat(n)),
        ("a.js", "function f() {".repeat(n)),
        ("a.py", (0..99).map(|depth| format!("{}def f():\n", " ".repeat(depth))).collect()),
        ("a.c", "{".repeat(n)),
        ("a.cpp", format!("int {}x;", "*".repeat(n))),
        ("a.ts", "[".repeat(n)),
        ("a.yaml", "[".repeat(10_000)),
        ("a.yaml", (0..60).map(|depth| format!("{}a:\n", "  ".repeat(depth))).collect()),
        ("a.md", "> ".repeat(1_000)),
    ] {
        match check_quick(path, text.as_bytes()) {
            Ok(_) | Err(NoOutline::TimedOut { .. }) => {}
            Err(other) => panic!("{path}: {other}"),
        }
    }
}

/// The scanners of languages laid out by indentation end the process when they run out of room.
#[test]
fn more_columns_than_a_scanner_holds_are_not_parsed() {
    let stairs = |n: usize, line: &str| -> String {
        (0..n).map(|depth| format!("{}{line}\n", " ".repeat(depth))).collect()
    };
    let deep_string = format!("{}{}x = 'a'\n", stairs(512, "if x:"), " ".repeat(512));
    for (path, text) in [
        ("a.py", deep_string),
        ("a.yaml", stairs(300, "a:")),
        ("a.yaml", stairs(300, "- a:")),
        ("a.yaml", "- ".repeat(300)),
        ("a.yaml", "? ".repeat(300)),
        ("a.yaml", ": ".repeat(300)),
        ("a.yaml", format!("{}a", "-\t".repeat(300))),
        ("a.yaml", stairs(150, "- - a: |")),
    ] {
        let error = check_quick(path, text.as_bytes()).unwrap_err();
        assert!(matches!(error, NoOutline::TooDeep { .. }), "{path}: {error}");
    }
}

#[test]
fn long_lines_and_large_files_end_soon() {
    let line = "var a=function(){return 1};".repeat(MAX_BYTES / 27);
    let crowded = check_quick("a.js", line.as_bytes());
    assert!(
        crowded.is_err()
            || crowded.is_ok_and(|outline| outline.items.len() <= MAX_ITEMS && outline.is_partial)
    );
    let large = vec![b'a'; 100_000_000];
    let start = Instant::now();
    assert_eq!(outline("a.js", &large), Err(NoOutline::TooLarge { n_bytes: large.len() }));
    assert!(start.elapsed() < Duration::from_millis(100));
}

#[test]
fn unknown_languages_are_named() {
    let error = outline("a/pool.hs", b"x").unwrap_err();
    assert_eq!(error.to_string(), "No tree-sitter grammar for Haskell. Anchor resolution unavailable.");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), at in 0..CORPUS.len()) {
        check_quick(CORPUS[at].0, &bytes).unwrap();
    }

    /// Around what the scanners of languages laid out by indentation hold: either it parses or it is refused.
    #[test]
    fn crooked_indentation_never_aborts(
        lines in proptest::collection::vec((0..3_usize, 0..260_usize, 0..STARTS.len(), 0..4_usize), 1..400),
        path in prop_oneof![Just("a.yaml"), Just("a.py")],
    ) {
        let mut column = 0;
        let mut text = String::new();
        for (step, back, start, n_starts) in lines {
            column = if back < 2 { column / 2 } else { column + step };
            text.push_str(&" ".repeat(column));
            text.push_str(&STARTS[start].repeat(n_starts));
            text.push_str("a: 'b'\n");
        }
        match check_quick(path, text.as_bytes()) {
            Ok(_) | Err(NoOutline::TooDeep { .. } | NoOutline::TimedOut { .. }) => {}
            Err(other) => panic!("{path}: {other}"),
        }
    }

    #[test]
    fn damaged_files_never_panic(at in 0..CORPUS.len(), cuts in proptest::collection::vec((0.0..1.0, 0.0..1.0), 1..4)) {
        let (path, text) = CORPUS[at];
        let mut text = text.to_vec();
        for (from, to) in cuts {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of a small file")]
            let place = |share: f64| (share * text.len() as f64) as usize;
            let (from, to) = (place(f64::min(from, to)), place(f64::max(from, to)));
            text.drain(from..to);
        }
        check_quick(path, &text).unwrap();
    }
}
