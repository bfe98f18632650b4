//! Amounts of money, and the list prices of models.

use std::{collections::BTreeMap, fmt, iter, ops, sync::OnceLock};

use serde::{Deserialize, Serialize};

use crate::Usage;

/// An amount of money, in billionths of a US dollar: a token costs some thousand of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(u64);

impl Money {
    /// So many US dollars, rounded up; nothing for what is no amount.
    #[must_use]
    pub fn dollars(dollars: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "floats beyond the range end at its ends, and NaN at 0"
        )]
        Self((dollars * 1e9).ceil() as u64)
    }

    /// In US dollars.
    #[must_use]
    pub fn as_dollars(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "millions of dollars are exact to the cent")]
        let billionths = self.0 as f64;
        billionths / 1e9
    }
}

impl ops::Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl iter::Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), ops::Add::add)
    }
}

impl fmt::Display for Money {
    /// `$1.25`, and as many further digits as small amounts need.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.as_dollars();
        let digits = if self.0 == 0 || 0.1 <= dollars {
            2
        } else if 0.001 <= dollars {
            4
        } else {
            6
        };
        write!(formatter, "${dollars:.digits$}")
    }
}

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Prices {
    /// Tokens that are read.
    pub input: f64,
    /// Tokens that are written.
    pub output: f64,
    /// Tokens that come from the cache; as those that are read, unless it says otherwise.
    #[serde(default)]
    pub cache_read: Option<f64>,
    /// Tokens that go into the cache.
    #[serde(default)]
    pub cache_written: Option<f64>,
}

#[derive(Deserialize)]
struct Table {
    as_of: String,
    models: BTreeMap<String, Prices>,
}

impl Prices {
    /// A model of one's own.
    pub const FREE: Self = Self { input: 0.0, output: 0.0, cache_read: None, cache_written: None };

    /// The list price of `model`, if it is known: of exactly this one or a dated version of it, since a longer name may
    /// be a model of ten times the price.
    #[must_use]
    pub fn of(model: &str) -> Option<Self> {
        let is_version = |rest: &str| {
            let is_date = |c: char| c.is_ascii_digit() || matches!(c, '-' | '@');
            rest.is_empty() || rest == "-latest" || (6 < rest.len() && rest.chars().all(is_date))
        };
        let known = table().models.iter();
        let known = known.filter(|(name, _)| model.strip_prefix(name.as_str()).is_some_and(is_version));
        known.max_by_key(|(name, _)| name.len()).map(|(_, prices)| *prices)
    }

    /// The month that the list prices are of.
    #[must_use]
    pub fn as_of() -> &'static str {
        &table().as_of
    }

    /// What `usage` costs.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Money {
        let cost = |tokens: u64, price: f64| {
            #[expect(clippy::cast_precision_loss, reason = "no call has 2^52 tokens")]
            let tokens = tokens as f64;
            tokens * price
        };
        let millionths = cost(usage.input, self.input)
            + cost(usage.output, self.output)
            + cost(usage.cache_read, self.cache_read.unwrap_or(self.input))
            + cost(usage.cache_written, self.cache_written.unwrap_or(self.input));
        Money::dollars(millionths / 1e6)
    }

    /// The most that so many tokens can cost.
    pub(crate) fn most(&self, input: u64, output: u64) -> Money {
        let dearest = self.input.max(self.cache_written.unwrap_or(0.0));
        Self { input: dearest, ..*self }.cost(&Usage { input, output, ..Usage::default() })
    }
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        serde_json::from_str(include_str!("prices.json")).expect("a test reads what is built in")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dated_version_costs_what_the_model_costs_and_a_longer_name_does_not() {
        let check = |model: &str, input: Option<f64>| {
            assert_eq!(Prices::of(model).map(|prices| prices.input), input, "{model}");
        };
        check("claude-sonnet-4-5", Some(3.0));
        check("claude-sonnet-4-5-20250929", Some(3.0));
        check("claude-opus-4-20250514", Some(15.0));
        check("claude-opus-4-9", None);
        check("gpt-5-2025-08-07", Some(1.25));
        check("gpt-5-mini", Some(0.25));
        check("gpt-5-pro", None);
        check("anthropic/claude-sonnet-4-5", None);
        assert_eq!(Prices::as_of().len(), "2025-12".len());
    }

    #[test]
    fn tokens_cost_what_the_list_says() {
        let prices = Prices::of("claude-sonnet-4-5").unwrap();
        let usage =
            Usage { input: 1_000_000, output: 100_000, cache_read: 1_000_000, cache_written: 1_000_000 };
        assert_eq!(prices.cost(&usage).to_string(), "$8.55");
        assert_eq!(prices.most(2_000, 0).to_string(), "$0.0075");
        assert_eq!(Prices::FREE.cost(&usage), Money::default());
        assert_eq!(Money::dollars(f64::NAN), Money::default());
        assert_eq!(Money::dollars(-1.0), Money::default());
    }
}
