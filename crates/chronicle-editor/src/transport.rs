//! Messages as they come over a pipe. Nothing that a client sends ends the conversation but the end of the pipe.
//!
//! `lsp-server` reads messages, too, but makes room for as many bytes as a header names, and stops at the first message
//! that is none.

use std::io::{self, BufRead, Read, Write};

use lsp_server::Message;

/// A longer message is passed over: it would hold a text that nobody looks at anyway.
const MAX_BYTES: u64 = 64 << 20;

/// A header with more bytes is none.
const MAX_HEADER: u64 = 4096;

/// What was heard.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A message of the client.
    Message(Message),
    /// Bytes that are no message, and why.
    Broken(&'static str),
    /// Nothing more comes.
    End,
}

/// Reads the next message.
pub(crate) fn read(input: &mut impl BufRead) -> Heard {
    let length = match header(input) {
        Ok(Some(Ok(length))) => length,
        Ok(Some(Err(reason))) => return Heard::Broken(reason),
        Ok(None) | Err(_) => return Heard::End,
    };
    if MAX_BYTES < length {
        let skipped = io::copy(&mut input.by_ref().take(length), &mut io::sink());
        return match skipped {
            Ok(skipped) if skipped == length => Heard::Broken("the message is too long"),
            _ => Heard::End,
        };
    }
    // Room is made as bytes come, not as the header says.
    let mut body = Vec::new();
    match input.by_ref().take(length).read_to_end(&mut body) {
        Ok(n_bytes) if n_bytes as u64 == length => {}
        _ => return Heard::End,
    }
    serde_json::from_slice(&body).map_or(Heard::Broken("the message is not JSON-RPC"), Heard::Message)
}

/// The length that a header names; `None` at the end.
fn header(input: &mut impl BufRead) -> io::Result<Option<Result<u64, &'static str>>> {
    let mut length = None;
    let mut n_bytes = 0;
    loop {
        let mut line = Vec::new();
        let n_read = input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if n_read == 0 {
            return Ok(None);
        }
        n_bytes += n_read as u64;
        let line = line.trim_ascii();
        match (line.is_empty(), length) {
            // Blank lines before a header say nothing.
            (true, None) => {}
            (true, Some(length)) => return Ok(Some(Ok(length))),
            (false, _) => {
                let named = line.iter().position(|byte| *byte == b':').map(|at| line.split_at(at));
                let Some((name, value)) = named else { return Ok(Some(Err("a header has no name"))) };
                if name.eq_ignore_ascii_case(b"content-length") {
                    let value = std::str::from_utf8(value[1..].trim_ascii()).ok();
                    let Some(value) = value.and_then(|value| value.parse().ok()) else {
                        return Ok(Some(Err("the length of a message isn't a number")));
                    };
                    length = Some(value);
                }
            }
        }
        if MAX_HEADER < n_bytes {
            return Ok(Some(Err("a header is too long")));
        }
    }
}

/// Writes a message.
///
/// # Errors
/// When the client is gone.
pub(crate) fn write(output: &mut impl Write, message: &Message) -> io::Result<()> {
    message.write(output)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn heard(bytes: &[u8]) -> Vec<String> {
        let mut input = Cursor::new(bytes);
        let mut all = Vec::new();
        loop {
            match read(&mut input) {
                Heard::Message(Message::Request(request)) => all.push(request.method),
                Heard::Message(Message::Notification(notification)) => all.push(notification.method),
                Heard::Message(Message::Response(_)) => all.push("a response".to_owned()),
                Heard::Broken(reason) => all.push(format!("broken: {reason}")),
                Heard::End => return all,
            }
        }
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let check = |text: &str, expected: &[&str]| assert_eq!(heard(text.as_bytes()), expected, "{text}");
        let exit = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        check(&exit, &["exit"]);
        check(&exit.replace("Content-Length", "content-length"), &["exit"]);
        check(&exit.replace("\r\n", "\n"), &["exit"]);
        check(&format!("Content-Type: x\r\n{exit}"), &["exit"]);
        check(&format!("{}{exit}", framed("{")), &["broken: the message is not JSON-RPC", "exit"]);
        check(&format!("{}{exit}", framed("[]")), &["broken: the message is not JSON-RPC", "exit"]);
        check(&format!("hello\r\n{exit}"), &["broken: a header has no name", "exit"]);
        check(
            &format!("Content-Length: x\n{exit}"),
            &["broken: the length of a message isn't a number", "exit"],
        );
        check(
            &format!("Content-Length: -1\n{exit}"),
            &["broken: the length of a message isn't a number", "exit"],
        );
        check("", &[]);
        check("Content-Length: 5\r\n\r\n{", &[]);
        check(&exit[..exit.len() - 1], &[]);
        // Nobody has so much memory.
        check("Content-Length: 18446744073709551615\r\n\r\n{", &[]);
        check("Content-Length: 60000000\r\n\r\n{", &[]);
    }

    #[test]
    fn long_headers_and_deep_json_end_nothing() {
        let exit = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        let all = heard(format!("{}{exit}", "x".repeat(10_000)).as_bytes());
        assert_eq!(all.last().map(String::as_str), Some("broken: a header has no name"));
        let deep = framed(&"[".repeat(100_000));
        assert_eq!(
            heard(format!("{deep}{exit}").as_bytes()),
            ["broken: the message is not JSON-RPC", "exit"]
        );
    }
}
