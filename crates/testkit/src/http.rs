//! A small HTTP server that can do what servers should not: be slow, hang, and break off.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `POST`, mostly.
    pub method: String,
    /// The path, with its query; the whole address where a proxy is asked.
    pub path: String,
    /// Names in small letters, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Asked {
    /// The value of a header, if it is there.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What is sent, and how.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The body, piece by piece.
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) ending: Ending,
    /// Between two pieces.
    pub(crate) pause: Duration,
}

/// What follows the last piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The end of the body.
    Whole,
    /// The connection breaks in the middle of the body.
    Cut,
    /// Nothing more, until the other side hangs up.
    Hang,
}

/// A server on this machine, until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Answers each request with what `answer` makes of it, each connection on a thread of its own.
    pub(crate) fn start(answer: impl Fn(Asked) -> Sent + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("this machine has a loopback interface");
        let address = listener.local_addr().expect("it is bound");
        let is_over = Arc::new(AtomicBool::new(false));
        let (answer, is_done) = (Arc::new(answer), Arc::clone(&is_over));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if is_done.load(Ordering::SeqCst) {
                    break;
                }
                let (Ok(stream), answer) = (stream, Arc::clone(&answer)) else { continue };
                // A client that hangs up is no fault of the server.
                thread::spawn(move || talk(stream, &*answer).unwrap_or_default());
            }
        });
        Self { address, is_over }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        let _woken = TcpStream::connect(self.address);
    }
}

/// One request and its answer.
fn talk(stream: TcpStream, answer: &(dyn Fn(Asked) -> Sent + Send + Sync)) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let Some(asked) = read(&mut reader)? else { return Ok(()) };
    let sent = answer(asked);
    let mut stream = stream;
    stream.set_nodelay(true)?;
    write!(
        stream,
        "HTTP/1.1 {} Scripted\r\nconnection: close\r\ntransfer-encoding: chunked\r\n",
        sent.status
    )?;
    for (name, value) in &sent.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    for (index, piece) in sent.pieces.iter().enumerate().filter(|(_, piece)| !piece.is_empty()) {
        if 0 < index && !sent.pause.is_zero() {
            thread::sleep(sent.pause);
        }
        write!(stream, "{:x}\r\n", piece.len())?;
        stream.write_all(piece)?;
        stream.write_all(b"\r\n")?;
        stream.flush()?;
    }
    match sent.ending {
        Ending::Whole => stream.write_all(b"0\r\n\r\n"),
        Ending::Cut => Ok(()),
        Ending::Hang => reader.read(&mut [0]).map(drop),
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut asked = Asked { method, path, headers, body: Vec::new() };
    let length = asked.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    asked.body.resize(length, 0);
    reader.read_exact(&mut asked.body)?;
    Ok(Some(asked))
}
