//! Why there is no reply.

use snafu::Snafu;

/// Why there is no reply.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum ModelError {
    /// The call was called off.
    #[snafu(display("called off"))]
    Cancelled,
    /// What was set for the model cannot be: its address, its key, its proxy.
    #[snafu(display("{model} cannot be used: {reason}"))]
    Unusable {
        /// The model.
        model: String,
        /// What is wrong with it, without keys.
        reason: String,
    },
    /// The service cannot be reached. Nothing was asked.
    #[snafu(display("{model} cannot be reached: {reason}"))]
    Unreachable {
        /// The model.
        model: String,
        /// What went wrong, without keys.
        reason: String,
    },
    /// The service was asked, and no whole reply came.
    #[snafu(display("{model} gave no complete reply: {reason}"))]
    BrokenOff {
        /// The model.
        model: String,
        /// What went wrong, without keys.
        reason: String,
    },
    /// The service was asked, and the time was over before the reply was whole.
    #[snafu(display("{model} gave no complete reply within {limit:?}"))]
    TooSlow {
        /// The model.
        model: String,
        /// The time that was set.
        limit: std::time::Duration,
    },
    /// The service said no, after the retries that the answer allows.
    #[snafu(display("{model} refused the request ({status}): {reason}"))]
    Refused {
        /// The model.
        model: String,
        /// The HTTP status.
        status: u16,
        /// The service's words, without keys and with nothing that acts on a terminal.
        reason: String,
    },
    /// The reply is none that this service gives.
    #[snafu(display("the answer of {model} cannot be read: {reason}"))]
    Unreadable {
        /// The model.
        model: String,
        /// What was expected.
        reason: String,
    },
    /// The call would go beyond what may be spent.
    #[snafu(display("not asked: {reason}"))]
    TooDear {
        /// Which limit, and what is spent already.
        reason: String,
    },
    /// The piece of work at hand has used what it may.
    #[snafu(display("not asked: the limit of {reason} for one commit is reached"))]
    Exhausted {
        /// Which limit.
        reason: String,
    },
    /// What was spent cannot be kept account of, so nothing was asked.
    #[snafu(display("not asked: cannot keep account of spending in {file}"))]
    NoAccount {
        /// The ledger.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
}

impl ModelError {
    /// Whether the service may charge for the call although there is no reply.
    #[must_use]
    pub fn may_cost(&self) -> bool {
        matches!(
            self,
            Self::BrokenOff { .. } | Self::TooSlow { .. } | Self::Unreadable { .. } | Self::Cancelled
        )
    }
}
