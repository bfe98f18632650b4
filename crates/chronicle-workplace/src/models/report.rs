//! What is told about models and their costs.

use std::collections::BTreeMap;

use chronicle_llm::{Prices, Purpose, Reply, Request, Spending, Stop, Turn, Usage};
use schemars::JsonSchema;
use serde::Serialize;

use super::choice::{Choice, PricesBy, Provider};

/// Tokens that a model read and wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WrittenTokens {
    /// Read, the cache's included.
    pub input: u64,
    /// Written.
    pub output: u64,
}

/// Which models would be asked, and at what price.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LlmCheck {
    /// Always `chronicle-llm/v1`.
    pub schema: &'static str,
    /// One for each purpose.
    pub models: Vec<ModelNow>,
    /// US dollars that all calls of a day may cost, if anybody set that.
    pub max_cost_per_day: Option<f64>,
    /// US dollars that are spent or reserved today.
    pub spent_today: f64,
    /// The call that was made, if it was asked for.
    pub call: Option<CallReport>,
    /// Remarks.
    pub warnings: Vec<String>,
}

/// The model for one purpose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ModelNow {
    /// `annotate`, `digest`, `patterns`, `ask` or `embed`.
    pub purpose: &'static str,
    /// Why there is none.
    pub missing: Option<String>,
    /// `anthropic`, `openai`, `gemini` or `claude`.
    pub provider: Option<&'static str>,
    /// The model's name.
    pub model: Option<String>,
    /// The address of the service; of the installed Claude Code, none.
    pub base_url: Option<String>,
    /// The variable of the environment that holds the key.
    pub key_variable: Option<String>,
    /// US dollars for a million tokens that are read.
    pub price_input: Option<f64>,
    /// US dollars for a million tokens that are written.
    pub price_output: Option<f64>,
    /// Who says so: `settings`, `list`, `this machine`; none where nobody knows.
    pub price_from: Option<&'static str>,
    /// Tokens that a request and its reply may have together.
    pub context_tokens: u64,
    /// Seconds that a call may take.
    pub timeout: u64,
}

impl ModelNow {
    pub(super) fn of(purpose: Purpose, choice: &Choice) -> Self {
        let own_address = (choice.provider != Provider::Claude).then(|| choice.provider.wire().address());
        Self {
            purpose: purpose.name(),
            missing: None,
            provider: Some(choice.provider.name()),
            model: Some(choice.model.clone()),
            base_url: choice.base_url.clone().or(own_address.map(str::to_owned)),
            key_variable: choice.key_variable.clone(),
            price_input: choice.prices.map(|prices| prices.input),
            price_output: choice.prices.map(|prices| prices.output),
            price_from: match choice.prices_by {
                PricesBy::Settings => Some("settings"),
                PricesBy::List => Some("list"),
                PricesBy::ThisMachine => Some("this machine"),
                PricesBy::Nobody => None,
            },
            context_tokens: choice.context_tokens,
            timeout: choice.timeout.as_secs(),
        }
    }

    pub(super) fn missing(purpose: Purpose, reason: String) -> Self {
        Self { purpose: purpose.name(), missing: Some(reason), ..Self::default() }
    }
}

/// A short call, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallReport {
    /// What the model answered.
    pub answer: String,
    /// Whether it was cut at the most tokens that it was given.
    pub is_cut: bool,
    /// Tokens that were read, those of a cache included.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// US dollars, where the price is known.
    pub cost: Option<f64>,
}

impl CallReport {
    pub(super) fn of(reply: &Reply, prices: Option<Prices>) -> Self {
        let Usage { input, output, cache_read, cache_written } = reply.usage;
        Self {
            answer: reply.text().trim().chars().take(200).collect(),
            is_cut: reply.stop == Stop::MaxTokens,
            input_tokens: input + cache_read + cache_written,
            output_tokens: output,
            cost: prices.map(|prices| prices.cost(&reply.usage).as_dollars()),
        }
    }
}

/// Something that costs next to nothing. Models that think need some room before they answer.
pub(super) fn short_request() -> Request {
    Request {
        turns: vec![Turn::User("Answer with the single word ok.".to_owned())],
        max_tokens: 256,
        ..Request::default()
    }
}

/// What models cost, by day, model and purpose.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CostReport {
    /// Always `chronicle-cost/v1`.
    pub schema: &'static str,
    /// The first day that counts, in universal time.
    pub since: String,
    /// The newest day first.
    pub rows: Vec<CostRow>,
    /// US dollars, of all rows together.
    pub cost: f64,
    /// Remarks.
    pub warnings: Vec<String>,
}

/// What one model cost on one day for one purpose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct CostRow {
    /// The day, in universal time.
    pub day: String,
    /// The model.
    pub model: String,
    /// What it was asked for.
    pub purpose: &'static str,
    /// How often it was asked.
    pub calls: u64,
    /// Calls whose end nobody wrote down; they count as the most that they can have cost.
    pub unsettled: u64,
    /// Tokens that were read, without those of a cache.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Tokens that were read from a cache.
    pub cache_read_tokens: u64,
    /// Tokens that were put into a cache.
    pub cache_written_tokens: u64,
    /// US dollars; none where the price of a call was not known.
    pub cost: Option<f64>,
}

impl CostReport {
    pub(super) fn of(spending: &Spending, first_day: &str) -> Self {
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for entry in spending.entries.iter().filter(|entry| first_day <= entry.account.day.as_str()) {
            let account = &entry.account;
            let key = (std::cmp::Reverse(&account.day), &account.model, account.purpose);
            groups.entry(key).or_default().push(entry);
        }
        let rows = groups.into_iter().map(|((day, model, purpose), entries)| {
            let sum = |tokens: fn(&Usage) -> u64| entries.iter().map(|entry| tokens(&entry.usage)).sum();
            let costs: Option<Vec<_>> = entries.iter().map(|entry| entry.cost).collect();
            CostRow {
                day: day.0.clone(),
                model: model.clone(),
                purpose: purpose.name(),
                calls: entries.len() as u64,
                unsettled: entries.iter().filter(|entry| !entry.is_settled).count() as u64,
                input_tokens: sum(|usage| usage.input),
                output_tokens: sum(|usage| usage.output),
                cache_read_tokens: sum(|usage| usage.cache_read),
                cache_written_tokens: sum(|usage| usage.cache_written),
                cost: costs.map(|costs| costs.into_iter().sum::<chronicle_llm::Money>().as_dollars()),
            }
        });
        Self {
            schema: "chronicle-cost/v1",
            since: first_day.to_owned(),
            rows: rows.collect(),
            cost: spending.cost(|account| first_day <= account.day.as_str()).as_dollars(),
            warnings: warnings(Vec::new(), spending.n_damaged),
        }
    }
}

/// Remarks, and one about lines of the ledger that say nothing.
pub(super) fn warnings(mut warnings: Vec<String>, n_damaged: usize) -> Vec<String> {
    warnings.retain(|warning| warning.contains("llm."));
    if 0 < n_damaged {
        warnings.push(format!("damaged lines in the ledger of spending, which do not count: {n_damaged}"));
    }
    warnings
}
