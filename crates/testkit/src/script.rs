//! A model service that plays a script over real sockets, with every fault.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    http::{Asked, Ending, Sent, Server},
    wires,
};

/// A model service on this machine that plays a script, in the words of whoever asks: Anthropic Messages, OpenAI chat
/// completions and embeddings, Gemini `streamGenerateContent`. Replies are streamed.
#[derive(Debug)]
pub struct ScriptedService {
    server: Server,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl ScriptedService {
    /// Gives one answer after the other. A request beyond them is refused with status 418.
    #[must_use]
    pub fn playing(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: Vec<Answer> = answers.into_iter().collect();
        Self::answering(move |n_before, _| {
            answers.get(n_before).cloned().unwrap_or_else(|| Answer::status(418, "the script is over"))
        })
    }

    /// Gives the answer that `answer` makes of the number of requests before, and the request.
    #[must_use]
    pub fn answering(answer: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let server = Server::start(move |request| {
            let n_before = {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push(request.clone());
                log.len() - 1
            };
            answer(n_before, &request).sent(&request)
        });
        Self { server, asked }
    }

    /// Its address, without a path: `/v1` is Anthropic's and OpenAI's, `/v1beta` Gemini's.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// What it was asked so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What a [`ScriptedService`] answers.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(crate) said: Said,
    pub(crate) stop: Option<&'static str>,
    pub(crate) usage: ScriptedUsage,
    headers: Vec<(String, String)>,
    n_pieces: Option<usize>,
    ending: Ending,
    pause: Duration,
}

/// What is said; the wire decides how.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    Parts(Vec<Part>),
    Refusal(String),
    Status(u16, String),
    Raw(Vec<Vec<u8>>),
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(String),
    /// A tool and its arguments, as they go over the wire.
    Call(String, String),
}

/// The tokens that an answer says it cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScriptedUsage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_written: u64,
}

impl Answer {
    fn new(said: Said) -> Self {
        Self {
            said,
            stop: None,
            usage: ScriptedUsage { input: 100, output: 20, cache_read: 0, cache_written: 0 },
            headers: Vec::new(),
            n_pieces: None,
            ending: Ending::Whole,
            pause: Duration::ZERO,
        }
    }

    /// Words.
    #[must_use]
    pub fn text(words: impl Into<String>) -> Self {
        Self::new(Said::Parts(vec![Part::Text(words.into())]))
    }

    /// Calls of tools, each with its arguments.
    #[must_use]
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let call = |(tool, input): (&str, Value)| Part::Call(tool.to_owned(), input.to_string());
        Self::new(Said::Parts(calls.into_iter().map(call).collect()))
    }

    /// A call whose arguments are `arguments`, JSON or not. Gemini's wire has no place for what is none.
    #[must_use]
    pub fn malformed_call(tool: &str, arguments: &str) -> Self {
        Self::new(Said::Parts(vec![Part::Call(tool.to_owned(), arguments.to_owned())]))
    }

    /// The refusal to answer.
    #[must_use]
    pub fn refusal(words: impl Into<String>) -> Self {
        Self::new(Said::Refusal(words.into()))
    }

    /// A status instead of an answer, with an error as the services word it.
    #[must_use]
    pub fn status(status: u16, words: &str) -> Self {
        Self::new(Said::Status(status, words.to_owned()))
    }

    /// Bytes as they are, piece by piece, said to be an event stream.
    #[must_use]
    pub fn raw<T: Into<Vec<u8>>>(pieces: impl IntoIterator<Item = T>) -> Self {
        Self::new(Said::Raw(pieces.into_iter().map(Into::into).collect()))
    }

    /// Words before the calls.
    #[must_use]
    pub fn saying(mut self, words: impl Into<String>) -> Self {
        if let Said::Parts(parts) = &mut self.said {
            parts.insert(0, Part::Text(words.into()));
        }
        self
    }

    /// Ends because the most tokens are written.
    #[must_use]
    pub fn at_max_tokens(self) -> Self {
        Self { stop: Some("max_tokens"), ..self }
    }

    /// Says that it cost so many tokens, read and written.
    #[must_use]
    pub fn costing(mut self, input: u64, output: u64) -> Self {
        (self.usage.input, self.usage.output) = (input, output);
        self
    }

    /// Says that so many further tokens came from the cache, and went into it.
    #[must_use]
    pub fn cached(mut self, read: u64, written: u64) -> Self {
        (self.usage.cache_read, self.usage.cache_written) = (read, written);
        self
    }

    /// With one header more.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Breaks the connection after so many events.
    #[must_use]
    pub fn cut_after(self, n_events: usize) -> Self {
        Self { n_pieces: Some(n_events), ending: Ending::Cut, ..self }
    }

    /// Ends after so many events as if that was all.
    #[must_use]
    pub fn ending_after(self, n_events: usize) -> Self {
        Self { n_pieces: Some(n_events), ..self }
    }

    /// Says no more after so many events, until the other side hangs up.
    #[must_use]
    pub fn hanging_after(self, n_events: usize) -> Self {
        Self { n_pieces: Some(n_events), ending: Ending::Hang, ..self }
    }

    /// Waits before every further event.
    #[must_use]
    pub fn slow(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    fn sent(&self, asked: &Asked) -> Sent {
        let (status, kind, mut pieces) = match &self.said {
            Said::Status(status, words) => {
                let error =
                    json!({ "type": "error", "error": { "type": "scripted_error", "message": words } });
                (*status, "application/json", vec![error.to_string().into_bytes()])
            }
            Said::Raw(pieces) => (200, "text/event-stream", pieces.clone()),
            Said::Parts(_) | Said::Refusal(_) => match wires::pieces(self, asked) {
                Some((kind, pieces)) => (200, kind, pieces),
                None => (404, "application/json", vec![b"{\"error\":\"no such interface\"}".to_vec()]),
            },
        };
        pieces.truncate(self.n_pieces.unwrap_or(usize::MAX));
        let mut headers = self.headers.clone();
        headers.push(("content-type".to_owned(), kind.to_owned()));
        Sent { status, headers, pieces, ending: self.ending, pause: self.pause }
    }
}
