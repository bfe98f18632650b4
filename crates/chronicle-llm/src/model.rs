//! The trait of everything that answers requests, and how a call is cancelled.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{ModelError, Reply, Request};

/// Somebody who answers requests: a service over HTTP, or an agent's own command.
///
/// A call blocks until the reply is whole. Several threads may call at once.
pub trait Model: Send + Sync {
    /// Answers, within the time that was set for this model; retries are over when it returns.
    ///
    /// # Errors
    /// See [`ModelError`]. A reply that was cut at its limit is none: it says so in `stop`.
    fn complete(&self, request: &Request, cancel: &Cancel) -> Result<Reply, ModelError>;

    /// [`Model::complete`], with the reply's words handed to `progress` as they come, if they come piece by piece.
    ///
    /// # Errors
    /// As there. What was handed over until then is no reply.
    fn complete_streamed(
        &self,
        request: &Request,
        cancel: &Cancel,
        _progress: Progress<'_>,
    ) -> Result<Reply, ModelError> {
        self.complete(request, cancel)
    }

    /// Whether the model calls tools. Without, it is asked once for an answer of a given form.
    fn calls_tools(&self) -> bool;

    /// How many tokens a request and its reply may have together.
    fn context_tokens(&self) -> u64;

    /// Its name, as provenance tells it.
    fn name(&self) -> &str;
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn complete(&self, request: &Request, cancel: &Cancel) -> Result<Reply, ModelError> {
        (**self).complete(request, cancel)
    }

    fn complete_streamed(
        &self,
        request: &Request,
        cancel: &Cancel,
        progress: Progress<'_>,
    ) -> Result<Reply, ModelError> {
        (**self).complete_streamed(request, cancel, progress)
    }

    fn calls_tools(&self) -> bool {
        (**self).calls_tools()
    }

    fn context_tokens(&self) -> u64 {
        (**self).context_tokens()
    }

    fn name(&self) -> &str {
        (**self).name()
    }
}

/// Is told the words of a reply as they come.
pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);

/// Tells a call that nobody waits for its reply any more. Clones belong together.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Calls that were given this or a clone of it end soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was called off.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
