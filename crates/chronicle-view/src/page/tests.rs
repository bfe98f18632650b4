//! Pages of real repositories: what they show, and what can't act in them.

use chronicle::{AnnotateCommand, Chronicle, Given};
use serde_json::{Value, json};
use testkit::TestRepo;

use super::*;

const HOSTILE: &str =
    "</style></script><script>alert(1)</script><img src=x onerror=alert(2)>\u{1b}[2J\u{202e}\"'&";

fn chronicle(repo: &TestRepo) -> Chronicle {
    Chronicle::isolated(repo.path(), "2026-03-10T12:00:00Z".parse().expect("a time"))
}

/// A repository whose one commit is annotated with `annotation`.
fn repository(annotation: &Value) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", "fn acquire() {\n    wait_for_a_slot(<T>);\n}\n");
    repo.commit("pool: begin");
    annotate(&repo, annotation);
    repo
}

fn annotate(repo: &TestRepo, annotation: &Value) {
    let given = Given::Json(annotation.to_string().into_bytes());
    let command = AnnotateCommand { given, commit: None, replace: Vec::new(), replace_summary: false };
    chronicle(repo).annotate(command).expect("it is stored");
}

fn shown(repo: &TestRepo) -> String {
    page(&Material::gather(&chronicle(repo), true).expect("something is known"))
}

fn lesson(content: &str) -> Value {
    json!({ "category": "gotcha", "content": content, "file": "src/pool.rs", "lines": { "start": 2, "end": 2 } })
}

#[test]
fn a_lesson_is_shown_with_its_code_and_its_reason() {
    let page = shown(&repository(
        &json!({ "summary": "A full pool waits", "wisdom": [lesson("never block the loop")] }),
    ));
    for part in [
        "<h3><code>src/pool.rs</code></h3>",
        r#"<span class="kind gotcha">▲ gotcha</span> <span class="words">never block the loop</span>"#,
        r#"<pre><code><span class="dim">2 </span>    wait_for_a_slot(&lt;T&gt;);</code></pre>"#,
        r#"<span class="words">A full pool waits</span>"#,
        "1 lesson · 1 reason",
        r#"role="img""#,
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    // Session memory has no place in a public page.
    for part in ["id=\"sessions\"", "id=\"open\"", "id=\"shown\""] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn a_commit_without_lessons_shows_its_reason() {
    let page = shown(&repository(&json!({ "summary": "A full pool waits" })));
    assert!(page.contains(r#"<span class="words">A full pool waits</span>"#), "{page}");
}

#[test]
fn hostile_notes_are_text() {
    let annotation = json!({ "summary": HOSTILE, "wisdom": [lesson(HOSTILE), lesson(&"<b>".repeat(300_000))], "task": HOSTILE });
    let repo = repository(&annotation);
    let page = shown(&repo);
    assert!(page.contains("&lt;img src=x onerror=alert(2)&gt;"), "{page}");
    for part in ["<img", "<b>", "\u{1b}", "\u{202e}"] {
        assert!(!page.contains(part), "{part:?}");
    }
    // One style and one script: ours, whose hashes the policy names.
    assert_eq!((page.matches("<script").count(), page.matches("</style").count()), (1, 1));
    assert!(page.len() < 100_000, "{}", page.len());
}

#[test]
fn a_page_loads_nothing() {
    let page =
        shown(&repository(&json!({ "summary": "why", "wisdom": [lesson("see https://example.com/x")] })));
    let policy = policy(Some(FILTER));
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(
        page.contains(&format!(r#"<meta http-equiv="Content-Security-Policy" content="{policy}">"#)),
        "{page}"
    );
    for part in ["src=\"", "href=\"http", "@import", "url(", "style=\"", " onclick"] {
        assert!(!page.contains(part), "{part}");
    }
    let shell = served_shell();
    assert!(!shell.contains("example.com") && shell.contains("Loading"), "{shell}");
    // Both policies of a served page count, that in it and that in the header: each lets it ask its server.
    assert!(
        shell.contains("; connect-src 'self'\">") && served_policy().contains("; connect-src 'self';"),
        "{shell}"
    );
    assert!(!page.contains("connect-src"), "{page}");
}

#[test]
fn many_lessons_take_little_room_each() {
    let lessons: Vec<Value> = (0..1_500)
        .map(|n| lesson(&format!("lesson {n}: {}", "the loop must never wait here. ".repeat(6))))
        .collect();
    let repo = repository(&json!({ "summary": "why", "wisdom": lessons }));
    let page = shown(&repo);
    assert!(page.contains("lesson 1499"), "all are shown");
    let each = (page.len() - served_shell().len()) / 1_500;
    assert!(each < 1_000, "{each} bytes for each lesson");
    // So many are folded by file.
    assert!(page.contains(r#"<details class="group"><summary><h3><code>src/pool.rs</code>"#));
}

#[test]
fn nothing_to_show_is_said() {
    let repo = TestRepo::new();
    repo.write("a", "a");
    repo.commit("begin");
    let error = Material::gather(&chronicle(&repo), true).expect_err("nothing is known");
    assert_eq!(error.to_string(), "nothing is annotated here that could be published");
}
