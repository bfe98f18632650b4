//! Why a request gets no answer.

use lsp_server::{ErrorCode, RequestId, Response};

use crate::host::Host;

/// Why a request gets no answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    code: ErrorCode,
    words: String,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode, words: &str) -> Self {
        Self { code, words: words.to_owned() }
    }

    /// Parameters that are not what the protocol or the command says.
    pub(crate) fn arguments(words: String) -> Self {
        Self { code: ErrorCode::InvalidParams, words }
    }

    /// What cannot be done.
    pub(crate) fn failed(words: String) -> Self {
        Self { code: ErrorCode::RequestFailed, words }
    }

    /// As a client gets it.
    pub(crate) fn response(self, id: RequestId) -> Response {
        let words = chronicle::plain(&self.words).replace('\t', " ");
        Response::new_err(id, self.code as i32, words)
    }
}

impl Host {
    /// An error of the application, in the words of the command line.
    pub(crate) fn refuse(&self, error: chronicle_workplace::Error) -> Refusal {
        Refusal::failed((self.explain)(error))
    }
}
