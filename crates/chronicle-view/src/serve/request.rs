//! What a request asks for, and whether it may.

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// The page that sends the token; it holds nothing that is known.
    Shell,
    /// What is known.
    Page,
}

/// Why nothing is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) reason: &'static str,
}

const MAX_HEADERS: usize = 64;

/// What the request with this `head` asks for of the server at `port`.
pub(super) fn asked(head: &[u8], port: u16, token: &str) -> Result<Asked, Refusal> {
    let refused = |status, reason| Err(Refusal { status, reason });
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    if !matches!(request.parse(head), Ok(httparse::Status::Complete(_))) {
        return refused(400, "this isn't a request\n");
    }
    // Each of these comes once: of two, another program may believe the other.
    let header = |name: &str| {
        let mut values = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(header), None) => Ok(Some(header.value)),
            (Some(_), Some(_)) => Err(Refusal { status: 400, reason: "a header comes twice\n" }),
        }
    };
    let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    let is_own = |host: &[u8]| names.iter().any(|name| host.eq_ignore_ascii_case(name.as_bytes()));
    if !header("Host")?.is_some_and(is_own) {
        return refused(421, "the request names another host\n");
    }
    let is_own_origin = |origin: &[u8]| origin.strip_prefix(b"http://").is_some_and(is_own);
    if header("Origin")?.is_some_and(|origin| !is_own_origin(origin)) {
        return refused(403, "another page asks\n");
    }
    let is_own_site = |site: &[u8]| matches!(site, b"same-origin" | b"none");
    let is_page = request.path == Some("/page");
    // A link in another page may lead to the shell, which holds nothing.
    if is_page && header("Sec-Fetch-Site")?.is_some_and(|site| !is_own_site(site)) {
        return refused(403, "another page asks\n");
    }
    if !matches!(request.method, Some("GET" | "HEAD")) {
        return refused(405, "only GET: nothing can be written here\n");
    }
    match request.path {
        Some("/") => Ok(Asked::Shell),
        Some("/page") => {
            let given = header("Authorization")?.unwrap_or_default();
            match is_same(given, format!("Bearer {token}").as_bytes()) {
                true => Ok(Asked::Page),
                false => refused(401, "the token is missing or wrong\n"),
            }
        }
        _ => refused(404, "there is nothing here\n"),
    }
}

/// Compares in a time that is the same however much is right.
fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let differences = given.iter().zip(expected).fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == expected.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "00112233445566778899aabbccddeeff0011223344556677";

    fn check(lines: &[&str], expected: Result<Asked, u16>) {
        let head = format!("{}\r\n\r\n", lines.join("\r\n"));
        assert_eq!(
            asked(head.as_bytes(), 8123, TOKEN).map_err(|refusal| refusal.status),
            expected,
            "{lines:?}"
        );
    }

    #[test]
    fn the_page_is_given_to_who_has_the_token_and_to_no_other_page() {
        let host = "Host: 127.0.0.1:8123";
        let token = format!("Authorization: Bearer {TOKEN}");
        let page = "GET /page HTTP/1.1";
        check(&[page, host, &token], Ok(Asked::Page));
        check(&[page, "host: LOCALHOST:8123", &token, "Origin: http://localhost:8123"], Ok(Asked::Page));
        check(&["HEAD /page HTTP/1.1", host, &token, "Sec-Fetch-Site: same-origin"], Ok(Asked::Page));
        check(&["GET / HTTP/1.1", host], Ok(Asked::Shell));
        check(&["GET / HTTP/1.1", host, "Sec-Fetch-Site: cross-site"], Ok(Asked::Shell));
        // The token: missing, wrong, cut, in a query.
        check(&[page, host], Err(401));
        check(&[page, host, "Authorization: Bearer 00"], Err(401));
        check(&[page, host, &token[..token.len() - 1]], Err(401));
        check(&[page, host, &format!("{token}0")], Err(401));
        check(&[&format!("GET /page?token={TOKEN} HTTP/1.1"), host], Err(404));
        check(&[&format!("GET /?{TOKEN} HTTP/1.1"), host, &token], Err(404));
        // The host: of a rebinding name, another port, missing, twice.
        check(&[page, "Host: evil.example:8123", &token], Err(421));
        check(&[page, "Host: 127.0.0.1:80", &token], Err(421));
        check(&[page, "Host: 127.0.0.1", &token], Err(421));
        check(&[page, &token], Err(421));
        check(&[page, host, "Host: evil.example", &token], Err(400));
        // The origin.
        check(&[page, host, &token, "Origin: http://evil.example"], Err(403));
        check(&[page, host, &token, "Origin: null"], Err(403));
        check(&[page, host, &token, "Origin: https://127.0.0.1:8123"], Err(403));
        check(&[page, host, &token, "Sec-Fetch-Site: cross-site"], Err(403));
        check(&[page, host, &token, &token], Err(400));
        // Nothing is written.
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT"] {
            check(&[&format!("{method} /page HTTP/1.1"), host, &token], Err(405));
        }
        check(&["GET /etc/passwd HTTP/1.1", host, &token], Err(404));
        check(&["GET http://127.0.0.1:8123/page HTTP/1.1", host, &token], Err(404));
        check(&["nonsense"], Err(400));
    }
}
