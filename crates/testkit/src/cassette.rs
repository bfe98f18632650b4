//! Records the answers of a real service, and plays them back.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::http::{Asked, Ending, Sent, Server};

/// What a service answered once, in a file, and a server that answers the same again.
///
/// No header of a request is kept, of an answer only its type and when to come back, and wherever a key of the
/// request turns up in bodies and addresses, it is replaced. Only within one event of a stream, though: let no model say a key.
#[derive(Debug)]
pub struct Cassette {
    server: Server,
    tape: Arc<Mutex<Tape>>,
}

#[derive(Debug)]
struct Tape {
    file: PathBuf,
    /// What was recorded, and whether it was played.
    exchanges: Vec<(Value, bool)>,
    missing: Vec<String>,
}

/// Headers of an answer that a client acts on.
const KEPT_HEADERS: [&str; 4] = ["content-type", "retry-after", "retry-after-ms", "x-should-retry"];
/// Headers of a request that carry keys.
const KEY_HEADERS: [&str; 5] =
    ["authorization", "x-api-key", "x-goog-api-key", "api-key", "proxy-authorization"];
const REPLACEMENT: &str = "REDACTED";

impl Cassette {
    /// Sends what comes on to the service at `upstream` and keeps it in `file`, which is written anew.
    ///
    /// # Panics
    /// When the file cannot be written.
    #[must_use]
    pub fn record(file: &Path, upstream: &str) -> Self {
        let upstream = upstream.trim_end_matches('/').to_owned();
        let tape = Tape { file: file.to_owned(), exchanges: Vec::new(), missing: Vec::new() };
        tape.store();
        Self::start(tape, move |tape, asked| {
            let (status, headers, body) = forward(&upstream, &asked);
            let request = request(&asked);
            let response = json!({
                "status": status,
                "headers": headers.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                "body": without_keys(&String::from_utf8_lossy(&body), &keys(&asked)),
            });
            let mut tape = lock(tape);
            tape.exchanges.push((json!({ "request": request, "response": response }), true));
            tape.store();
            Sent { status, headers, pieces: vec![body], ending: Ending::Whole, pause: Duration::ZERO }
        })
    }

    /// Answers as `file` says. A request that is not in it is refused, and fails the test when this is dropped.
    ///
    /// # Panics
    /// When the file is no recording.
    #[must_use]
    pub fn replay(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_else(|error| {
            panic!("there is no recording {}: {error}; make one with Cassette::record", file.display())
        });
        let exchanges: Vec<Value> = serde_json::from_str(&text).expect("a recording is a list of exchanges");
        let exchanges = exchanges.into_iter().map(|exchange| (exchange, false)).collect();
        let tape = Tape { file: file.to_owned(), exchanges, missing: Vec::new() };
        Self::start(tape, |tape, asked| lock(tape).play(&asked))
    }

    fn start(tape: Tape, answer: impl Fn(&Mutex<Tape>, Asked) -> Sent + Send + Sync + 'static) -> Self {
        let tape = Arc::new(Mutex::new(tape));
        let shared = Arc::clone(&tape);
        Self { server: Server::start(move |asked| answer(&shared, asked)), tape }
    }

    /// The address that stands for the service's own.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// The requests that were not in the file.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.tape).missing)
    }
}

impl Drop for Cassette {
    fn drop(&mut self) {
        let missing = self.missing();
        assert!(thread::panicking() || missing.is_empty(), "not recorded:\n{}", missing.join("\n"));
    }
}

impl Tape {
    fn play(&mut self, asked: &Asked) -> Sent {
        let wanted = request(asked);
        let found =
            self.exchanges.iter_mut().find(|(known, is_played)| !is_played && known["request"] == wanted);
        let (status, headers, body) = if let Some((exchange, is_played)) = found {
            *is_played = true;
            let response = &exchange["response"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let kept = response["headers"].as_object().into_iter().flatten();
            let headers = kept.map(|(name, value)| (name.clone(), text(value))).collect();
            let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok());
            (status.unwrap_or(500), headers, text(&response["body"]).into_bytes())
        } else {
            let complaint = format!("{} has no recording of {wanted}", self.file.display());
            self.missing.push(complaint.clone());
            (418, Vec::new(), complaint.into_bytes())
        };
        Sent { status, headers, pieces: vec![body], ending: Ending::Whole, pause: Duration::ZERO }
    }

    fn store(&self) {
        let exchanges: Vec<&Value> = self.exchanges.iter().map(|(exchange, _)| exchange).collect();
        let text = serde_json::to_string_pretty(&exchanges).expect("JSON is made of JSON");
        fs::write(&self.file, text + "\n").expect("the recording can be written");
    }
}

fn lock(tape: &Mutex<Tape>) -> MutexGuard<'_, Tape> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request as it is kept and compared.
fn request(asked: &Asked) -> Value {
    let keys = keys(asked);
    let body = without_keys(&String::from_utf8_lossy(&asked.body), &keys);
    json!({
        "method": asked.method,
        "path": without_keys(&asked.path, &keys),
        "body": serde_json::from_str::<Value>(&body).unwrap_or(Value::String(body)),
    })
}

/// The secrets that a request carries.
fn keys(asked: &Asked) -> Vec<String> {
    let in_headers = KEY_HEADERS.iter().filter_map(|name| asked.header(name));
    let in_headers = in_headers.map(|value| value.rsplit(' ').next().unwrap_or(value));
    let query = asked.path.split_once('?').map_or("", |(_, query)| query);
    let in_query = query.split('&').filter_map(|pair| pair.strip_prefix("key="));
    in_headers.chain(in_query).filter(|key| 3 < key.len()).map(str::to_owned).collect()
}

fn without_keys(text: &str, keys: &[String]) -> String {
    keys.iter().fold(text.to_owned(), |text, key| text.replace(key, REPLACEMENT))
}

/// Asks the real service: its status, the headers that are kept, and its body.
fn forward(upstream: &str, asked: &Asked) -> (u16, Vec<(String, String)>, Vec<u8>) {
    // Somebody else may have installed it.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let method = reqwest::Method::from_bytes(asked.method.as_bytes()).expect("a server asked with it");
    let mut request = reqwest::Client::new().request(method, format!("{upstream}{}", asked.path));
    let hops = ["host", "connection", "content-length", "accept-encoding", "transfer-encoding"];
    for (name, value) in asked.headers.iter().filter(|(name, _)| !hops.contains(&name.as_str())) {
        request = request.header(name, value);
    }
    let answer = runtime.block_on(async {
        let response = request.body(asked.body.clone()).send().await?;
        let kept = KEPT_HEADERS.iter().filter_map(|name| {
            let value = response.headers().get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), value.to_owned()))
        });
        let (status, headers) = (response.status().as_u16(), kept.collect());
        Ok::<_, reqwest::Error>((status, headers, response.bytes().await?.to_vec()))
    });
    answer.unwrap_or_else(|error| (502, Vec::new(), error.to_string().into_bytes()))
}
