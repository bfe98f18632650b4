//! Pages, shared sessions, and the browser in the terminal: the wiring.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    process::Stdio,
};

use crate::desk::Desk;

const SESSION: &str = "5e551011-aaaa-4aaa-8aaa-000000000001";

/// A desk with a lesson, a session and a thread.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.run(&["annotate", "-m", "A full pool waits", "--gotcha", "src/pool.rs:1 never block the loop"])
        .success();
    let talk = desk.talk(SESSION).prompt("Let a full pool wait").todos(&[("Test the timeout", "pending")]);
    desk.leave(&talk.command("cargo test", "ok").said("It waits now."));
    desk.ingest();
    desk
}

#[test]
fn a_page_shows_both_memories_and_a_public_one_only_the_repository() {
    let desk = desk();
    let wrote = desk.run(&["view"]).success();
    assert_eq!(wrote.stdout, "");
    assert!(wrote.stderr.starts_with("wrote chronicle.html ("), "{wrote:?}");
    let path = desk.repo.path().join("chronicle.html");
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
    let page = fs::read_to_string(&path).expect("it is text");
    for part in ["never block the loop", "A full pool waits", "Let a full pool wait", "Test the timeout"] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    desk.run(&["view", "--public", "--out", "public.html"]).success();
    let public = fs::read_to_string(desk.repo.path().join("public.html")).expect("it is text");
    assert!(public.contains("never block the loop") && public.contains("A full pool waits"), "{public}");
    assert!(!public.contains("Let a full pool wait") && !public.contains("Test the timeout"), "{public}");
    desk.repo.write("mine.html", "my own page");
    desk.run(&["view", "--out", "mine.html"]).refused(1, &["`mine.html` is there already"]);
    let empty = Desk::new();
    empty.run(&["view"]).refused(1, &["there are no lessons and no sessions to show"]);
    empty.run(&["view", "--serve"]).refused(1, &["there are no lessons and no sessions to show"]);
}

#[test]
fn a_page_is_served_to_who_has_the_token() {
    let desk = desk();
    let mut command = desk.command_in(desk.repo.path(), &["view", "--serve"]);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut url = String::new();
    BufReader::new(server.stdout.take().expect("it is piped")).read_line(&mut url).expect("it says where");
    let (address, token) =
        url.trim().strip_prefix("http://").and_then(|url| url.split_once("/#")).expect("a URL");
    let ask = |more: &str| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        write!(stream, "GET /page HTTP/1.1\r\nHost: {address}\r\n{more}\r\n").expect("it reads");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("it answers");
        reply
    };
    let page = ask(&format!("Authorization: Bearer {token}\r\n"));
    let refused = ask("");
    // What is known later is shown later.
    desk.run(&["annotate", "-m", "Slots have a count", "--insight", "src/pool.rs:1 slots are counted twice"]);
    let later = ask(&format!("Authorization: Bearer {token}\r\n"));
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("never block the loop"), "{page}");
    assert!(
        !page.contains("slots are counted twice") && later.contains("slots are counted twice"),
        "{later}"
    );
    assert!(refused.starts_with("HTTP/1.1 401") && !refused.contains("never block"), "{refused}");
}

#[test]
fn a_session_is_shared_after_its_contents_were_shown() {
    let desk = desk();
    let share = |args: &[&str]| desk.run(&[&["share", "5e55"], args].concat());
    let refused = share(&[]).failed(2);
    assert!(refused.stderr.contains("turns: 1 prompt"), "{refused:?}");
    assert!(refused.stderr.contains("`share` asks before it writes"), "{refused:?}");
    assert!(!desk.repo.path().join("session-5e551011.html").exists());
    share(&["--yes"]).success();
    share(&["--yes", "--format", "markdown"]).success();
    for name in ["session-5e551011.html", "session-5e551011.md"] {
        let path = desk.repo.path().join(name);
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&path).expect("it is text");
        assert!(text.contains("Let a full pool wait") && text.contains("It waits now"), "{text}");
        assert!(!text.contains(&*desk.repo.path().to_string_lossy()), "{text}");
    }
    share(&["--format", "json"]).failed(2);
    desk.run(&["status", "--format", "html"]).refused(2, &["only `share` writes the format `html`"]);
    if let Some(asked) = desk.at_terminal("share 5e55 --out asked.html", "n", &[]) {
        assert!(asked.success().stdout.contains("nothing was written"));
        assert!(!desk.repo.path().join("asked.html").exists());
    }
}

#[test]
fn the_browser_needs_a_terminal_and_gives_it_back() {
    let desk = desk();
    let refused = desk.run(&["browse"]).refused(2, &["`browse` needs a terminal"]);
    assert_eq!(refused.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1);
    let agent = [("CLAUDECODE", "1"), ("TERM", "xterm")];
    let Some(outcome) = desk.at_terminal("browse", "q", &agent) else { return };
    outcome.failed(1);
    let terminal = [("TERM", "xterm"), ("LINES", "24"), ("COLUMNS", "80")];
    let shown = desk.at_terminal("browse", "q", &terminal).expect("there is one").success().stdout;
    for part in ["\u{1b}[?1049h", "never block the loop", "\u{1b}[?1049l"] {
        assert!(shown.contains(part), "{part:?} is not in {shown:?}");
    }
    let missing = desk.at_terminal("browse none.rs", "q", &terminal).expect("there is one").failed(1).stdout;
    assert!(missing.contains("none.rs") && !missing.contains("\u{1b}[?1049h"), "{missing:?}");
}
