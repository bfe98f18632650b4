//! Why one attempt failed, and whether another is worth while.

use std::{error::Error, time::Duration};

use genai::webc;
use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

use crate::{ModelError, access::Access};

/// Why one attempt failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    reason: String,
    /// How long the service wants to be left alone.
    pub(crate) retry_after: Option<Duration>,
    /// The service itself says that another attempt is of no use.
    is_final: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No connection; nothing was asked.
    Connection,
    /// The service answered with this status.
    Status(u16),
    /// The service broke its reply off and said that it is to blame.
    Service,
    /// The reply broke off.
    Cut,
    /// The reply is none.
    Unreadable,
    /// The request was never sent.
    Request,
}

/// Statuses that may be gone in a moment; 529 says that Anthropic is overloaded.
const PASSING: [u16; 9] = [408, 409, 425, 429, 500, 502, 503, 504, 529];
/// What services call errors of their own in the middle of a reply.
const SERVICES_OWN: [&str; 6] =
    ["overloaded_error", "api_error", "rate_limit_error", "server_error", "UNAVAILABLE", "INTERNAL"];

impl Failure {
    fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), retry_after: None, is_final: false }
    }

    pub(crate) fn cut(reason: &str) -> Self {
        Self::new(Kind::Cut, reason)
    }

    pub(crate) fn unreadable(reason: &str) -> Self {
        Self::new(Kind::Unreadable, reason)
    }

    fn status(status: StatusCode, headers: &HeaderMap, body: &str) -> Self {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let number = |name: &str| header(name).and_then(|value| value.parse::<f64>().ok());
        let millis = number("retry-after-ms").map(|millis| millis / 1000.0);
        let seconds = millis.or_else(|| number("retry-after"));
        // A redirect is not followed: the key would go along.
        let elsewhere = status.is_redirection().then(|| header("location")).flatten();
        let reason = elsewhere.map_or_else(|| words(body), |place| format!("it redirects to {place}"));
        Self {
            kind: Kind::Status(status.as_u16()),
            reason,
            retry_after: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            // A quota that is used up is no rush that passes.
            is_final: header("x-should-retry") == Some("false") || body.contains("insufficient_quota"),
        }
    }

    fn transport(error: &reqwest::Error) -> Self {
        let reason = deepest(error);
        match () {
            () if error.is_connect() => Self::new(Kind::Connection, reason),
            () if error.is_builder() => Self::new(Kind::Request, reason),
            () => Self::new(Kind::Cut, reason),
        }
    }

    /// Whether another attempt may go better, and is not charged twice.
    pub(crate) fn is_passing(&self) -> bool {
        let is_passing = match self.kind {
            Kind::Connection | Kind::Service => true,
            Kind::Status(status) => PASSING.contains(&status),
            Kind::Cut | Kind::Unreadable | Kind::Request => false,
        };
        is_passing && !self.is_final
    }

    pub(crate) fn into_error(self, access: &Access) -> ModelError {
        let (model, reason) = (access.model.clone(), access.shown(&self.reason));
        match self.kind {
            Kind::Connection => ModelError::Unreachable { model, reason },
            Kind::Request => ModelError::Unusable { model, reason },
            Kind::Status(status) => ModelError::Refused { model, status, reason },
            Kind::Cut | Kind::Service => ModelError::BrokenOff { model, reason },
            Kind::Unreadable => ModelError::Unreadable { model, reason },
        }
    }
}

impl From<genai::Error> for Failure {
    fn from(error: genai::Error) -> Self {
        use genai::Error as E;
        match error {
            E::HttpError { status, body, headers, .. } => Self::status(status, &headers, &body),
            E::WebModelCall { webc_error, .. } | E::WebAdapterCall { webc_error, .. } => webc_error.into(),
            E::WebStream { error, cause, .. } => match error.downcast::<E>() {
                Ok(error) => (*error).into(),
                Err(error) => error
                    .downcast::<reqwest::Error>()
                    .map_or_else(|_| Self::new(Kind::Cut, cause), |error| Self::transport(&error)),
            },
            E::ChatResponse { body, .. } => {
                let text = body.to_string();
                let is_own = SERVICES_OWN.iter().any(|name| text.contains(name));
                Self::new(if is_own { Kind::Service } else { Kind::Cut }, words(&text))
            }
            E::StreamParse { serde_error, .. } => Self::new(Kind::Unreadable, serde_error.to_string()),
            E::JsonValueExt(error) => Self::new(Kind::Unreadable, error.to_string()),
            E::SerdeJson(error) => Self::new(Kind::Unreadable, error.to_string()),
            error => Self::new(Kind::Request, error.to_string()),
        }
    }
}

impl From<webc::Error> for Failure {
    fn from(error: webc::Error) -> Self {
        match error {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                Self::status(status, &headers, &body)
            }
            webc::Error::Reqwest(error) => Self::transport(&error),
            webc::Error::ResponseFailedNotJson { content_type, .. } => {
                Self::new(Kind::Unreadable, format!("it is `{content_type}`, not JSON"))
            }
            error => Self::new(Kind::Unreadable, error.to_string()),
        }
    }
}

/// What an answer says in words, wherever services put them.
fn words(body: &str) -> String {
    let parsed = serde_json::from_str::<Value>(body).unwrap_or_default();
    // Gemini wraps its errors in a list.
    let places = ["/error/message", "/0/error/message", "/message", "/error", "/detail"];
    let found = places.iter().find_map(|place| parsed.pointer(place)?.as_str().map(str::to_owned));
    found
        .unwrap_or_else(|| if body.trim().is_empty() { "without a word".to_owned() } else { body.to_owned() })
}

/// What lies at the bottom of an error: `Connection refused`, where the top repeats the address.
fn deepest(error: &dyn Error) -> String {
    let mut bottom = error;
    while let Some(source) = bottom.source() {
        bottom = source;
    }
    bottom.to_string()
}
