//! Whether and when an attempt is repeated.

use std::time::Duration;

use crate::failure::Failure;

/// How long a call may take, and how it is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// The most time for a call, with all its attempts.
    pub timeout: Duration,
    /// The most attempts.
    pub n_attempts: u32,
    /// The pause before the second attempt; each further one is twice as long, and up to half of it less.
    pub first_pause: Duration,
    /// The longest pause that is not the service's own wish.
    pub longest_pause: Duration,
}

impl Pace {
    /// Five attempts within `timeout`.
    #[must_use]
    pub const fn within(timeout: Duration) -> Self {
        Self {
            timeout,
            n_attempts: 5,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(20),
        }
    }

    /// How long to wait after attempt number `attempt` failed; none when that was the last, for any reason.
    pub(crate) fn pause(&self, failure: &Failure, attempt: u32, left: Duration) -> Option<Duration> {
        if self.n_attempts <= attempt || !failure.is_passing() {
            return None;
        }
        let doubled = self.first_pause.saturating_mul(1 << (attempt - 1).min(16));
        let ours = doubled.min(self.longest_pause).mul_f64(1.0 - chance() / 2.0);
        // Waiting as long as the service says is not enough when everyone does: some come a little later.
        let theirs = failure.retry_after.map(|wish| wish + self.first_pause.mul_f64(chance()));
        Some(theirs.unwrap_or(ours)).filter(|pause| *pause < left)
    }
}

/// A number from 0 to 1, so that callers that failed together do not come back together.
fn chance() -> f64 {
    let mut byte = [0_u8];
    // Without randomness all wait the same time, which is no error.
    let _is_random = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 255.0
}
