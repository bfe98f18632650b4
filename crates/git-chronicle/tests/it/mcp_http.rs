//! The MCP server over HTTP.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
};

use crate::{
    asking::pool,
    outcome::{binary, run},
};

/// A server, with what it told of itself.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

impl Server {
    fn start(repo: &testkit::TestRepo, token: Option<&str>) -> Self {
        let mut command = binary(repo.path(), &["mcp", "--http", "127.0.0.1:0"]);
        command.env_remove("CLAUDE_PROJECT_DIR").envs(token.map(|token| ("CHRONICLE_MCP_TOKEN", token)));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut told = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let mut next = || told.next().expect("it tells").expect("in UTF-8");
        let url = next();
        let address = url.trim_start_matches("serving at http://").trim_end_matches("/mcp").to_owned();
        let token = token.map_or_else(|| next().trim_start_matches("token: ").to_owned(), str::to_owned);
        Self { child, address, token }
    }

    /// Begins a conversation with these headers; the status, and the whole reply.
    fn begin(&self, headers: &[(&str, &str)]) -> (u16, String) {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
        self.post("/mcp", headers, body)
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut all = vec![
            ("Host", self.address.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
        ];
        all.retain(|(name, _)| headers.iter().all(|(given, _)| given != name));
        all.extend(headers);
        let head: String = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = format!("POST {path} HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        // Who has heard enough answers before the end.
        let _written = stream.write_all(request.as_bytes());
        let mut reply = String::new();
        let _read = stream.read_to_string(&mut reply);
        let status = reply.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("no status: {reply:?}")), reply)
    }
}

#[test]
fn only_who_knows_the_token_and_is_no_web_page_is_served() {
    let repo = pool();
    let server = Server::start(&repo, None);
    assert_eq!(server.token.len(), 48, "{}", server.token);
    let bearer = format!("Bearer {}", server.token);
    let (status, reply) = server.begin(&[("Authorization", &bearer)]);
    assert!(status == 200 && reply.contains(r#""name":"chronicle""#), "{reply}");
    let status = |headers: &[(&str, &str)]| server.begin(headers).0;
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("Authorization", "Bearer")]), 401);
    assert_eq!(status(&[("Authorization", &format!("{bearer}0"))]), 401);
    let known = ("Authorization", bearer.as_str());
    assert_eq!(status(&[known, ("Host", "evil.example")]), 403);
    assert_eq!(status(&[known, ("Origin", "https://evil.example")]), 403);
    assert_eq!(status(&[known, ("Origin", "http://localhost:6274")]), 200);
    assert_eq!(server.post("/", &[known], "{}").0, 404);
    // What is too long is not held, and the next one is served.
    let long = server.post("/mcp", &[known], &"x".repeat(50 << 20));
    assert!(400 <= long.0, "{}", long.1);
    assert_eq!(status(&[known]), 200);
}

#[test]
fn a_token_of_the_environment_is_not_printed() {
    let repo = pool();
    let server = Server::start(&repo, Some("of-my-own"));
    assert_eq!(server.begin(&[("Authorization", "Bearer of-my-own")]).0, 200);
    assert_eq!(server.begin(&[("Authorization", "Bearer of-yours")]).0, 401);
}

#[test]
fn nobody_else_can_reach_it() {
    let repo = pool();
    for address in ["0.0.0.0:0", "192.0.2.1:80"] {
        let outcome = run(&mut binary(repo.path(), &["mcp", "--http", address]));
        outcome.refused(2, &["loopback"]);
    }
}
