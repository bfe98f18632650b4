use snafu::Snafu;

/// Why there is no reply.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum ModelError {
    /// The call was called off.
    #[snafu(display("called off"))]
    Cancelled,
    /// The service cannot be reached, or broke off.
    #[snafu(display("{model} cannot be reached: {reason}"))]
    Unreachable {
        /// The model.
        model: String,
        /// What went wrong, without keys.
        reason: String,
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
    #[snafu(display("{model} answered what cannot be read: {reason}"))]
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
}
