//! The server over a real socket.

use super::*;

const TOKEN: &str = "00112233445566778899aabbccddeeff0011223344556677";

/// A server that answers with a page, and its address.
fn server() -> SocketAddr {
    let server = Server::listen(0, TOKEN.to_owned()).unwrap();
    let address = server.address;
    assert_eq!(server.url(), format!("http://{address}/#{TOKEN}"));
    thread::spawn(|| server.serve(|| Ok("<p>known</p>".to_owned())));
    address
}

fn reply(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn what_is_known_needs_the_token() {
    let address = server();
    let ask = |path: &str, more: &str| {
        let text = reply(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{more}\r\n"));
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), head.to_owned(), body.to_owned())
    };
    let (status, head, body) = ask("/page", &format!("Authorization: Bearer {TOKEN}\r\n"));
    assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 OK", "<p>known</p>"));
    for header in ["frame-ancestors 'none'", "X-Content-Type-Options: nosniff", "Cache-Control: no-store"] {
        assert!(head.contains(header), "{head}");
    }
    let (status, head, body) = ask("/page", "");
    assert_eq!(
        (status.as_str(), body.as_str()),
        ("HTTP/1.1 401 Unauthorized", "the token is missing or wrong\n")
    );
    assert!(head.contains("WWW-Authenticate: Bearer"), "{head}");
    let (status, _, shell) = ask("/", "");
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(!shell.contains("known") || !shell.contains(TOKEN), "{shell}");
}

#[test]
fn a_client_that_says_nothing_holds_nobody_up() {
    let address = server();
    let _silent: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(address).unwrap()).collect();
    let text = reply(address, &format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    let endless = format!("GET / HTTP/1.1\r\nHost: {address}\r\nX: {}", "x".repeat(MAX_HEAD));
    let mut stream = TcpStream::connect(address).unwrap();
    let _refused = stream.write_all(endless.as_bytes());
    let mut left = Vec::new();
    let _reset = stream.read_to_end(&mut left);
    assert_eq!(left, b"");
}

#[test]
fn a_second_server_at_the_same_port_is_refused() {
    let first = Server::listen(0, TOKEN.to_owned()).unwrap();
    let port = first.address.port();
    let Err(error) = Server::listen(port, TOKEN.to_owned()) else { panic!("two servers at one port") };
    assert_eq!(error.to_string(), format!("cannot serve at 127.0.0.1:{port}"));
    assert!(Server::listen(0, TOKEN.to_owned()).is_ok());
}
