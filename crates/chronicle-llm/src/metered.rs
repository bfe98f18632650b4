//! A model whose every call is recorded in the ledger and kept under the caps.

use std::sync::Arc;

use crate::{
    Account, Cancel, Caps, Embedder, Embedding, Ledger, Model, ModelError, Money, Prices, Progress, Reply,
    Request, Usage,
    error::{NoAccountSnafu, TooDearSnafu},
    ledger::{Refusal, Reservation},
};

/// A model that spends nothing without account of it, and nothing beyond the caps.
#[derive(Debug)]
pub struct Metered<M> {
    model: M,
    meter: Meter,
}

/// The account that calls are booked on, what they cost, and what may be spent.
#[derive(Debug, Clone)]
pub struct Meter {
    /// Where it is written down.
    pub ledger: Arc<Ledger>,
    /// What calls are booked on.
    pub account: Account,
    /// What tokens cost, where that is known.
    pub prices: Option<Prices>,
    /// What may be spent.
    pub caps: Caps,
}

/// What a program that is a model adds to a request by itself.
const ADDED_TOKENS: u64 = 4_000;

impl<M> Metered<M> {
    /// `model`, on the account of `meter`.
    #[must_use]
    pub fn new(model: M, meter: Meter) -> Self {
        Self { model, meter }
    }

    /// The account.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
}

impl Meter {
    fn reserve(&self, input: u64, output: u64) -> Result<Reservation, ModelError> {
        let cost = self.prices.map(|prices| prices.most(input, output));
        let reserved = self.ledger.reserve(&self.account, cost, input.saturating_add(output), &self.caps);
        reserved.map_err(|refusal| match refusal {
            Refusal::Cap(reason) => TooDearSnafu { reason }.build(),
            Refusal::Io(source) => {
                let file = self.ledger.path().to_string_lossy();
                snafu::IntoError::into_error(NoAccountSnafu { file }, source)
            }
        })
    }

    /// Settles what a call cost. What nobody could count stays reserved.
    fn settle<T>(
        &self,
        reservation: Reservation,
        result: &Result<T, ModelError>,
        usage: impl Fn(&T) -> Usage,
    ) {
        let used = match result {
            Ok(reply) => Some(usage(reply)).filter(|usage| *usage != Usage::default()),
            Err(error) => (!error.may_cost()).then(Usage::default),
        };
        let Some(used) = used else { return };
        let cost = self.prices.map(|prices| prices.cost(&used));
        // A settlement that cannot be written leaves the reservation, which is more.
        let _is_settled = self.ledger.settle(reservation, cost.or(is_free(used)), used);
    }
}

/// What was not used costs nothing, at whatever price.
fn is_free(used: Usage) -> Option<Money> {
    (used == Usage::default()).then(Money::default)
}

impl<M: Model> Model for Metered<M> {
    fn complete(&self, request: &Request, cancel: &Cancel) -> Result<Reply, ModelError> {
        self.complete_streamed(request, cancel, &|_| ())
    }

    /// A reply that broke off is asked for once more, on an account of its own.
    fn complete_streamed(
        &self,
        request: &Request,
        cancel: &Cancel,
        progress: Progress<'_>,
    ) -> Result<Reply, ModelError> {
        let added = if self.model.calls_tools() { 0 } else { ADDED_TOKENS };
        let once = || {
            let reservation =
                self.meter.reserve(request.most_input_tokens() + added, u64::from(request.max_tokens))?;
            let result = self.model.complete_streamed(request, cancel, progress);
            self.meter.settle(reservation, &result, |reply| reply.usage);
            result
        };
        match once() {
            Err(ModelError::BrokenOff { .. }) if !cancel.is_cancelled() => once(),
            result => result,
        }
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

impl<M: Embedder> Embedder for Metered<M> {
    fn embed(&self, texts: &[String], cancel: &Cancel) -> Result<Embedding, ModelError> {
        let n_bytes: usize = texts.iter().map(String::len).sum();
        let reservation = self.meter.reserve(crate::exchange::most_tokens(n_bytes), 0)?;
        let result = self.model.embed(texts, cancel);
        self.meter.settle(reservation, &result, |embedding| embedding.usage);
        result
    }

    fn name(&self) -> &str {
        self.model.name()
    }
}
