//! A model with a limit of requests and tokens for one piece of work.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Cancel, Model, ModelError, Progress, Reply, Request, Usage, error::ExhaustedSnafu};

/// A model that takes so many requests and tokens for one piece of work, and no more.
///
/// Unlike the ledger it counts this piece alone: the next one begins anew.
pub struct Limited<'m> {
    model: &'m dyn Model,
    max_requests: u64,
    max_tokens: u64,
    n_requests: AtomicU64,
    n_tokens: AtomicU64,
}

impl<'m> Limited<'m> {
    /// `model`, for at most `max_requests`, which read and write at most `max_tokens` together.
    #[must_use]
    pub fn new(model: &'m dyn Model, max_requests: u64, max_tokens: u64) -> Self {
        let (n_requests, n_tokens) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { model, max_requests, max_tokens, n_requests, n_tokens }
    }
}

impl Model for Limited<'_> {
    fn complete(&self, request: &Request, cancel: &Cancel) -> Result<Reply, ModelError> {
        self.complete_streamed(request, cancel, &|_| ())
    }

    fn complete_streamed(
        &self,
        request: &Request,
        cancel: &Cancel,
        progress: Progress<'_>,
    ) -> Result<Reply, ModelError> {
        let exhausted = |of: &str, limit: u64| ExhaustedSnafu { reason: format!("{limit} {of}") }.fail();
        if self.max_requests < self.n_requests.fetch_add(1, Ordering::Relaxed) + 1 {
            return exhausted("requests", self.max_requests);
        }
        let most = request.most_input_tokens().saturating_add(u64::from(request.max_tokens));
        if self.max_tokens < self.n_tokens.fetch_add(most, Ordering::Relaxed).saturating_add(most) {
            return exhausted("tokens", self.max_tokens);
        }
        let reply = self.model.complete_streamed(request, cancel, progress);
        if let Ok(reply) = &reply {
            let Usage { input, output, cache_read, cache_written } = reply.usage;
            let used = input + output + cache_read + cache_written;
            // A service that does not count has used what it may have.
            if 0 < used {
                self.n_tokens.fetch_sub(most.saturating_sub(used), Ordering::Relaxed);
                self.n_tokens.fetch_add(used.saturating_sub(most), Ordering::Relaxed);
            }
        }
        reply
    }

    fn calls_tools(&self) -> bool {
        self.model.calls_tools()
    }

    fn context_tokens(&self) -> u64 {
        self.model.context_tokens()
    }

    fn name(&self) -> &str {
        self.model.name()
    }
}
