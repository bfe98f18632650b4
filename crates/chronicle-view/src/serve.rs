//! The page from a server, as it is now: on the loopback interface only, for those who know the token, never for another
//! web page.
//!
//! Whatever runs on this machine can connect, a browser with any page in it included. So `Host` must name this server
//! (another name that resolves to it is an attack), an `Origin` that is not the server's own is refused, and what is known
//! needs the token in a header, which no other page can send. Requests are read by threads of their own, because browsers
//! open connections before they need them; pages are made one at a time.

mod request;

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use snafu::ResultExt;

use self::request::{Asked, Refusal, asked};
use crate::{
    ViewError,
    error::{ListenSnafu, TerminalSnafu},
    page::{served_policy, served_shell},
};

/// The largest head of a request.
const MAX_HEAD: usize = 16 << 10;
/// Requests that are read at the same time.
const MAX_READERS: usize = 64;
/// Nobody who means it needs longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A token that nobody guesses.
///
/// # Errors
/// When the system has no randomness to give.
pub fn new_token() -> Result<String, ViewError> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other).context(TerminalSnafu)?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

/// A server that listens, and serves nobody yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
}

/// The wish for a page, and where it goes.
type Wish = mpsc::Sender<Result<String, String>>;

impl Server {
    /// Listens at `port` of the loopback interface; 0 stands for any that is free.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn listen(port: u16, token: String) -> Result<Self, ViewError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).context(ListenSnafu { address })?;
        let address = listener.local_addr().context(ListenSnafu { address })?;
        Ok(Self { listener, address, token })
    }

    /// The address to open: the token is in its fragment, which no browser sends.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/#{}", self.address, self.token)
    }

    /// Serves pages that `make` makes, until the process ends. What it says of a failure is shown in place of the page.
    pub fn serve(self, mut make: impl FnMut() -> Result<String, String>) {
        let (wish, wishes) = mpsc::channel::<Wish>();
        let accepting = thread::Builder::new().spawn(move || self.accept(&wish));
        if accepting.is_ok() {
            for wish in wishes {
                // A browser that has gone away needs no page.
                let _gone = wish.send(make());
            }
        }
    }

    fn accept(self, wish: &mpsc::Sender<Wish>) {
        let token: Arc<str> = self.token.into();
        let n_readers = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else { continue };
            if MAX_READERS <= n_readers.fetch_add(1, Ordering::AcqRel) {
                n_readers.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let (token, wish, n_readers, port) =
                (token.clone(), wish.clone(), n_readers.clone(), self.address.port());
            let started = thread::Builder::new().spawn({
                let n_readers = n_readers.clone();
                move || {
                    answer(stream, port, &token, &wish);
                    n_readers.fetch_sub(1, Ordering::AcqRel);
                }
            });
            if started.is_err() {
                n_readers.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }
}

/// Reads one request and answers it. A client that breaks off has nothing to be told.
fn answer(mut stream: TcpStream, port: u16, token: &str, wish: &mpsc::Sender<Wish>) {
    let _set =
        stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
    let Some(head) = read_head(&mut stream) else { return };
    let reply = match asked(&head, port, token) {
        Ok(Asked::Shell) => Reply::html(served_shell()),
        Ok(Asked::Page) => match made(wish) {
            Ok(page) => Reply::html(page),
            Err(reason) => Reply::plain(500, reason),
        },
        Err(Refusal { status, reason }) => Reply::plain(status, reason.to_owned()),
    };
    let is_head = head.starts_with(b"HEAD ");
    let _gone = stream.write_all(&reply.bytes(is_head)).and_then(|()| stream.flush());
}

fn made(wish: &mpsc::Sender<Wish>) -> Result<String, String> {
    let (reply, page) = mpsc::channel();
    let gone = |()| "the server ends".to_owned();
    wish.send(reply).map_err(|_| gone(()))?;
    page.recv().map_err(|_| gone(()))?
}

/// The head of a request, as far as its empty line; none where it is too long or never ends.
fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0_u8; 4 << 10];
    let begun = std::time::Instant::now();
    loop {
        let n_read = stream.read(&mut piece).ok().filter(|n_read| 0 < *n_read)?;
        head.extend_from_slice(&piece[..n_read]);
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Some(head);
        }
        if MAX_HEAD < head.len() || PATIENCE < begun.elapsed() {
            return None;
        }
    }
}

struct Reply {
    status: u16,
    kind: &'static str,
    body: String,
}

impl Reply {
    fn html(body: String) -> Self {
        Self { status: 200, kind: "text/html; charset=utf-8", body }
    }

    fn plain(status: u16, body: String) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body }
    }

    fn bytes(&self, is_head: bool) -> Vec<u8> {
        let words = match self.status {
            200 => "OK",
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            421 => "Misdirected Request",
            _ => "Internal Server Error",
        };
        let more = match self.status {
            401 => "WWW-Authenticate: Bearer\r\n",
            405 => "Allow: GET, HEAD\r\n",
            _ => "",
        };
        let head = format!(
            "HTTP/1.1 {} {words}\r\nContent-Type: {}\r\nContent-Length: {}\r\nContent-Security-Policy: {}\r\n\
             X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
             Cache-Control: no-store\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\nConnection: close\r\n{more}\r\n",
            self.status,
            self.kind,
            self.body.len(),
            served_policy(),
        );
        let mut bytes = head.into_bytes();
        if !is_head {
            bytes.extend_from_slice(self.body.as_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests;
