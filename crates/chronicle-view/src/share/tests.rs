//! What is in a shared session, and what isn't.

use chronicle_memory::sessions::{ListedSession, ShownSession, ShownTurn};

use super::*;

fn turn(kind: &'static str, text: &str) -> ShownTurn {
    ShownTurn {
        turn: "t".into(),
        line: 1,
        at: Some("2026-03-09T10:00:00Z".into()),
        kind,
        speaker: None,
        sub_agent: None,
        ok: None,
        text: text.into(),
        answer: None,
    }
}

fn session(turns: Vec<ShownTurn>) -> ShownSession {
    ShownSession {
        schema: "chronicle-session/v1",
        listed: ListedSession {
            session: "5e551011-aaaa-4aaa-8aaa-000000000001".into(),
            agent: "claude".into(),
            project: "pool".into(),
            branch: Some("main".into()),
            began: Some("2026-03-09T10:00:00Z".into()),
            ended: Some("2026-03-09T11:00:00Z".into()),
            title: "Let a full pool wait".into(),
            importance: 3,
            prompts: 1,
        },
        parent: None,
        folder: "/home/uma/work/pool".into(),
        model: None,
        digest: None,
        files: Vec::new(),
        threads: Vec::new(),
        sub_agents: Vec::new(),
        turns_stored: 2,
        turns,
        transcripts: vec![("/home/uma/.claude/projects/x.jsonl".into(), true)],
    }
}

fn shared(turns: Vec<ShownTurn>) -> SharedSession {
    SharedSession::new(session(turns), Some("/home/uma"), "2026-03-10T12:00:00Z".parse().expect("a time"))
}

const FORMS: [ShareForm; 2] = [ShareForm::Html, ShareForm::Markdown];

#[test]
fn folders_of_this_machine_and_secrets_stay_here() {
    let secret = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let shared = shared(vec![
        turn("prompt", &format!("Why does /home/uma/work/pool/src/pool.rs block? token {secret}")),
        turn("command", "cat /home/uma/notes.txt"),
    ]);
    for form in FORMS {
        let file = shared.file(form);
        assert!(!file.contains("/home/") && !file.contains(secret), "{file}");
        assert!(file.contains("./src/pool.rs") && file.contains("~/notes.txt"), "{file}");
    }
    assert_eq!(shared.n_secrets, 1);
}

#[test]
fn hostile_turns_are_text() {
    let hostile = "<script>alert(1)</script>\u{1b}[2J\u{202e}]]>&lt;\n```\n<b>";
    let shared =
        shared(vec![turn("prompt", hostile), turn("command", hostile), turn("said", &"x".repeat(1 << 20))]);
    let page = shared.file(ShareForm::Html);
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    let markdown = shared.file(ShareForm::Markdown);
    assert!(markdown.contains("> &lt;script>alert(1)"), "{markdown}");
    for file in [&page, &markdown] {
        assert!(!file.contains(['\u{1b}', '\u{202e}']) && file.len() < 30_000, "{}", file.len());
    }
    assert_eq!(shared.n_cut, 1);
}

#[test]
fn the_contents_are_shown_before_the_file_is_written() {
    let shared =
        shared(vec![turn("prompt", "Let it wait"), turn("command", "cargo test"), turn("command", "ls")]);
    let contents = shared.contents(ShareForm::Markdown);
    assert_eq!(contents.title, "Let a full pool wait");
    let n_bytes = shared.file(ShareForm::Markdown).len();
    assert_eq!(
        contents.lines,
        [
            "claude, pool, main, 2026-03-09 10:00 to 2026-03-09 11:00 UTC".to_owned(),
            "turns: 1 prompt, 2 command".to_owned(),
            "prompt: Let it wait".to_owned(),
            "secrets replaced in it now: none (stored text has none already)".to_owned(),
            format!("{n_bytes} bytes"),
        ]
    );
    assert_eq!(shared.file_name(ShareForm::Html), "session-5e551011.html");
}
