//! A model that a service answers for over HTTP: attempts, timeouts, streams.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use futures_util::StreamExt;
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatStreamEvent, StreamEnd},
    embed::{EmbedOptions, EmbedRequest},
    resolver::{AuthData, Endpoint},
};
use snafu::ensure;
use tokio::time;

use crate::{
    Access, Cancel, Embedder, Embedding, Model, ModelError, Pace, Progress, Reply, Request, Wire,
    error::{CancelledSnafu, TooSlowSnafu, UnreadableSnafu, UnusableSnafu},
    failure::Failure,
    transport::{Ended, Transport},
    wire::{self, SharedAside},
};

/// A reply is some thousand tokens long; a service that never ends shall not fill the memory.
const MAX_REPLY_BYTES: usize = 8 << 20;
/// Each event holds at least one token.
const MAX_EVENTS: usize = 1 << 20;
/// A model calls a few tools at once.
const MAX_BLOCKS: usize = 256;

/// A model that a service answers for over HTTP.
///
/// Replies are streamed, so that a slow one can be called off and a cut one be told from a short one.
#[derive(Debug)]
pub struct Service {
    access: Access,
    pace: Pace,
    context_tokens: u64,
    calls_tools: bool,
    target: ServiceTarget,
    transport: Mutex<Option<Arc<(Transport, Client)>>>,
}

impl Service {
    /// A model with room for `context_tokens`. Nothing is started or looked up before the first call.
    ///
    /// # Errors
    /// When the address is none that keys and code may be sent to.
    pub fn new(access: Access, pace: Pace, context_tokens: u64) -> Result<Self, ModelError> {
        let address = access.base_url.as_deref().unwrap_or(access.wire.address());
        if let Some(reason) = objection(address) {
            return UnusableSnafu { model: &access.model, reason }.fail();
        }
        let kind = match access.wire {
            Wire::Anthropic => AdapterKind::Anthropic,
            Wire::OpenAi => AdapterKind::OpenAI,
            Wire::Gemini => AdapterKind::Gemini,
        };
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(access.wire.base(address)),
            // Models on one's own machine take any key.
            auth: AuthData::from_single(access.key.as_ref().map_or("none", |key| key.expose())),
            model: ModelIden::new(kind, access.model.as_str()),
        };
        Ok(Self { access, pace, context_tokens, calls_tools: true, target, transport: Mutex::default() })
    }

    /// The same, for a model that may call no tools.
    #[must_use]
    pub fn calling_tools(self, calls_tools: bool) -> Self {
        Self { calls_tools, ..self }
    }

    fn transport(&self) -> Result<Arc<(Transport, Client)>, ModelError> {
        let mut slot = self.transport.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(transport) = slot.as_ref().filter(|transport| !transport.0.is_halted()) {
            return Ok(Arc::clone(transport));
        }
        let make = || {
            let transport = Transport::new(&self.access.proxies)?;
            let client = Client::builder().with_reqwest(transport.client.clone()).build();
            Ok((transport, client.map_err(|error| error.to_string())?))
        };
        let made = make().map_err(|reason: String| {
            UnusableSnafu { model: &self.access.model, reason: self.access.shown(&reason) }.build()
        })?;
        Ok(Arc::clone(slot.insert(Arc::new(made))))
    }

    /// Makes attempts with `once` until one is well, no further one is worth while, or time is up.
    fn call<T: Send, F: Future<Output = Result<T, Failure>> + Send>(
        &self,
        cancel: &Cancel,
        once: impl Fn(Client) -> F + Sync,
    ) -> Result<T, ModelError> {
        ensure!(!cancel.is_cancelled(), CancelledSnafu);
        let (transport, client) = &*self.transport()?;
        let began = Instant::now();
        let attempts = async {
            let mut attempt = 1;
            loop {
                let failure = match once(client.clone()).await {
                    Ok(reply) => return Ok(reply),
                    Err(failure) => failure,
                };
                let left = self.pace.timeout.saturating_sub(began.elapsed());
                let Some(pause) = self.pace.pause(&failure, attempt, left) else { return Err(failure) };
                time::sleep(pause).await;
                attempt += 1;
            }
        };
        let model = &self.access.model;
        match transport.wait(attempts, cancel, self.pace.timeout) {
            Ended::Done(result) => result.map_err(|failure| failure.into_error(&self.access)),
            Ended::CalledOff => CancelledSnafu.fail(),
            Ended::TooSlow => TooSlowSnafu { model, limit: self.pace.timeout }.fail(),
            Ended::TooLarge => UnreadableSnafu { model, reason: "it is too large" }.fail(),
        }
    }

    async fn once(
        &self,
        client: Client,
        request: &Request,
        progress: Progress<'_>,
    ) -> Result<Reply, Failure> {
        let aside = SharedAside::default();
        let options = wire::options(self.access.wire, request, &aside);
        let chat = wire::conversation(self.access.wire, request);
        let end = match client.exec_chat_stream(self.target.clone(), chat, Some(&options)).await {
            Ok(response) => ended(response.stream, progress).await,
            Err(error) => Err(error.into()),
        };
        let usage = end.as_ref().ok().and_then(|end| end.captured_usage.as_ref()).map(wire::usage);
        let refusal = aside.lock().unwrap_or_else(PoisonError::into_inner).refusal(usage.unwrap_or_default());
        if let Some(refusal) = refusal {
            return Ok(refusal);
        }
        let reply = wire::reply(end?).ok_or_else(|| Failure::cut("it broke off"))?;
        if MAX_BLOCKS < reply.blocks.len() {
            return Err(Failure::unreadable("it has more parts than any reply"));
        }
        Ok(reply)
    }

    async fn embed_once(&self, client: Client, texts: Vec<String>) -> Result<Embedding, Failure> {
        let n_texts = texts.len();
        let options = EmbedOptions::new().with_encoding_format("float");
        let request = EmbedRequest::new_batch(texts);
        let mut response = client.exec_embed(self.target.clone(), request, Some(&options)).await?;
        let usage = wire::usage(&response.usage);
        response.embeddings.sort_by_key(genai::embed::Embedding::index);
        let vectors: Vec<Vec<f32>> = response.into_vectors();
        let is_whole = vectors.len() == n_texts && vectors.iter().all(|vector| !vector.is_empty());
        is_whole
            .then_some(Embedding { vectors, usage })
            .ok_or_else(|| Failure::unreadable("not one vector for each text"))
    }
}

impl Model for Service {
    fn complete(&self, request: &Request, cancel: &Cancel) -> Result<Reply, ModelError> {
        self.complete_streamed(request, cancel, &|_| ())
    }

    fn complete_streamed(
        &self,
        request: &Request,
        cancel: &Cancel,
        progress: Progress<'_>,
    ) -> Result<Reply, ModelError> {
        self.call(cancel, |client| self.once(client, request, progress))
    }

    fn calls_tools(&self) -> bool {
        self.calls_tools
    }

    fn context_tokens(&self) -> u64 {
        self.context_tokens
    }

    fn name(&self) -> &str {
        &self.access.model
    }
}

impl Embedder for Service {
    fn embed(&self, texts: &[String], cancel: &Cancel) -> Result<Embedding, ModelError> {
        self.call(cancel, |client| self.embed_once(client, texts.to_vec()))
    }

    fn name(&self) -> &str {
        &self.access.model
    }
}

/// What the stream ends with.
async fn ended(mut stream: genai::chat::ChatStream, progress: Progress<'_>) -> Result<StreamEnd, Failure> {
    let (mut n_bytes, mut n_events) = (0, 0);
    // What is known of a call is in each of its events, from its start.
    let (mut call, mut call_bytes) = (String::new(), 0);
    while let Some(event) = stream.next().await {
        match event? {
            ChatStreamEvent::Chunk(chunk) => {
                progress(&chunk.content);
                n_bytes += chunk.content.len();
            }
            ChatStreamEvent::ReasoningChunk(chunk) => n_bytes += chunk.content.len(),
            ChatStreamEvent::ToolCallChunk(chunk) => {
                if chunk.tool_call.call_id != call {
                    n_bytes += std::mem::take(&mut call_bytes);
                    call = chunk.tool_call.call_id;
                }
                call_bytes = call_bytes.max(chunk.tool_call.fn_arguments.as_str().map_or(0, str::len));
            }
            ChatStreamEvent::End(end) => return Ok(end),
            _ => {}
        }
        n_events += 1;
        if MAX_EVENTS < n_events {
            return Err(Failure::unreadable("it has more parts than any reply"));
        }
        if MAX_REPLY_BYTES < n_bytes + call_bytes {
            return Err(Failure::unreadable(&format!("it is longer than {MAX_REPLY_BYTES} bytes")));
        }
    }
    Err(Failure::cut("it broke off"))
}

/// Why code and keys are not sent to `address`.
fn objection(address: &str) -> Option<&'static str> {
    let Ok(url) = reqwest::Url::parse(address) else { return Some("its address isn't valid") };
    match () {
        () if !matches!(url.scheme(), "http" | "https") => Some("its address is neither http nor https"),
        () if !url.username().is_empty() || url.password().is_some() => {
            Some("its address holds a name or a password; keys belong into a variable")
        }
        () if url.query().is_some() || url.fragment().is_some() => Some("its address holds more than a path"),
        () => None,
    }
}
