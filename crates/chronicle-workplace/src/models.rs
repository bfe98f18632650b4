//! Which model is asked for what, how it is reached, and what it costs.
//!
//! Keys come from the environment, are handed on and are shown nowhere. Where a service is not the provider's own, a key
//! goes there only if a setting names its variable.

mod bounds;
mod choice;
mod report;

use std::{path::PathBuf, sync::Arc, time::Duration};

use chronicle_llm::{
    Access, Account, Cancel, Caps, ClaudeCommand, Ledger, Meter, Metered, Model, Money, Pace, Proxies,
    Purpose, Service,
};
use serde_json::Value;
use snafu::{OptionExt, ensure};

pub use self::bounds::Bounds;
use self::choice::{Choice, Provider};
pub use self::report::{CallReport, CostReport, CostRow, LlmCheck, ModelNow, WrittenTokens};
use crate::{Code, Error, Settings, Workplace, error::NoModelSnafu};

/// A model that spends nothing without account of it.
pub type MeteredModel = Metered<Box<dyn Model>>;

/// What one run may spend, and how it is called in the ledger.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunLimits {
    /// The most that it may cost, in US dollars.
    pub max_cost: Option<f64>,
    /// The most tokens that it may read and write.
    pub max_tokens: Option<u64>,
    /// Its name, where it goes on with what was interrupted; a new one without.
    pub run: Option<String>,
}

/// The ledger within the home of session memory.
const LEDGER_FILE: &str = "spending.jsonl";

impl Workplace {
    /// The model for `purpose`, on account of this day and run.
    ///
    /// # Errors
    /// When there is none; the error says what to set.
    pub fn model(&self, purpose: Purpose, limits: &RunLimits) -> Result<MeteredModel, Error> {
        let settings = self.model_settings()?;
        let choice = self.chosen(&settings, purpose)?;
        Ok(Metered::new(self.reached(&choice)?, self.meter(&settings, &choice, purpose, limits)?))
    }

    /// The model that turns texts into vectors, on account of this day and run.
    ///
    /// # Errors
    /// When there is none; the error says what to set.
    pub fn embedder(&self, limits: &RunLimits) -> Result<Metered<Service>, Error> {
        self.embedder_within(Duration::MAX, limits)
    }

    /// The same, for somebody who waits: no call takes longer than `patience`.
    pub fn embedder_within(&self, patience: Duration, limits: &RunLimits) -> Result<Metered<Service>, Error> {
        let settings = self.model_settings()?;
        let choice = self.chosen(&settings, Purpose::Embed)?;
        let pace = Pace::within(choice.timeout.min(patience));
        let service = Service::new(self.access(&choice), pace, choice.context_tokens)?;
        Ok(Metered::new(service, self.meter(&settings, &choice, Purpose::Embed, limits)?))
    }

    /// Whether somebody said who serves models for `purpose`, rather than a key being there by chance: what nobody asked
    /// for by hand spends nothing otherwise. A service that was named for vectors alone serves no other purpose.
    #[must_use]
    pub fn has_chosen_model(&self, purpose: Purpose) -> bool {
        self.model_settings().is_ok_and(|settings| {
            !matches!(settings.value("llm.provider"), "none")
                && ["llm.provider", "llm.baseUrl"].iter().any(|name| !settings.value(name).is_empty())
                && !choice::is_for_vectors_alone(&settings, purpose)
        })
    }

    /// What would be asked for each purpose; with `calls`, the one for commits is asked something short.
    ///
    /// # Errors
    /// When no model can be asked, or the one that is asked does not answer.
    pub fn check_models(&self, calls: bool) -> Result<LlmCheck, Error> {
        let settings = self.model_settings()?;
        let first = self.chosen(&settings, Purpose::Annotate)?;
        let models = Purpose::ALL.into_iter().map(|purpose| match Choice::of(self, &settings, purpose) {
            Ok(choice) => self.told_of(purpose, &choice),
            Err(reason) => ModelNow::missing(purpose, reason),
        });
        let models = models.collect();
        let spending = self.ledger()?.read().map_err(|source| self.unreadable_ledger(source))?;
        let today = self.today();
        let cap = |text: &str| text.parse::<f64>().ok();
        let call = calls.then(|| self.call(&settings, &first)).transpose()?;
        Ok(LlmCheck {
            schema: "chronicle-llm/v1",
            models,
            max_cost_per_day: cap(settings.value("llm.maxCostPerDay")),
            spent_today: spending.cost(|account| account.day == today).as_dollars(),
            call,
            warnings: report::warnings(settings.warnings, spending.n_damaged),
        })
    }

    /// What models cost on the last `n_days` days, today included.
    ///
    /// # Errors
    /// When the ledger cannot be read, or nothing says where it is.
    pub fn cost(&self, n_days: u32) -> Result<CostReport, Error> {
        let spending = self.ledger()?.read().map_err(|source| self.unreadable_ledger(source))?;
        let back = jiff::SignedDuration::from_hours(24 * i64::from(n_days.saturating_sub(1)));
        let first = self.now().checked_sub(back).map(day).unwrap_or_default();
        Ok(CostReport::of(&spending, &first))
    }

    /// The settings, also where there is no repository: then the user's.
    pub fn model_settings(&self) -> Result<Settings, Error> {
        let settings = self.settings().or_else(|error| match error.code() {
            Code::NotARepository | Code::DubiousOwnership | Code::UntrustedRepository => {
                Ok(self.settings_of_user())
            }
            _ => Err(error),
        })?;
        if let Some(ignored) = settings.ignored_of_repository() {
            let _is_first = self.ignored.set(ignored);
        }
        Ok(settings)
    }

    /// One line about settings that were asked for, which the repository sets and only the user may.
    #[must_use]
    pub fn ignored_settings(&self) -> Option<&str> {
        self.ignored.get().map(String::as_str)
    }

    /// Notes the keys that the user has for the models that are set, where there are any: hooks use no other.
    pub(crate) fn note_own_keys(&self) {
        let Ok(settings) = self.model_settings() else { return };
        for purpose in Purpose::ALL {
            // That there is no model for something is said where one is asked.
            let _choice = self.chosen(&settings, purpose);
        }
    }

    fn chosen(&self, settings: &Settings, purpose: Purpose) -> Result<Choice, Error> {
        let choice = Choice::of(self, settings, purpose).map_err(|reason| {
            // What makes no sense may be why.
            let said = settings.warnings.iter().find(|warning| warning.contains("llm."));
            let said = said.map(|warning| format!("{warning}; ")).unwrap_or_default();
            NoModelSnafu { reason: format!("{said}{reason}") }.build()
        })?;
        self.vouched(settings, &choice)?;
        Ok(choice)
    }

    /// Notes which key the user has and where the user's files send it, and refuses to send one elsewhere because a variable
    /// or an argument says so, or one that the user never had. What a repository says was allowed with its address.
    fn vouched(&self, settings: &Settings, choice: &Choice) -> Result<(), Error> {
        let (Some(variable), Some(key)) = (&choice.key_variable, &choice.key) else { return Ok(()) };
        // An agent's settings may be a repository's, and name a key of somebody who reads along.
        ensure!(
            !self.is_unattended() || self.knows_key(variable, key)?,
            NoModelSnafu {
                reason: format!(
                    "the key in {variable} was never there when you ran a command yourself, and where a hook or an agent \
                     runs this, files of a repository may have set it; if it is yours, run `git chronicle llm check` once \
                     in a terminal"
                )
            }
        );
        self.vouched_address(settings, choice, variable)?;
        if self.is_unattended() { Ok(()) } else { self.note_key(variable, key) }
    }

    fn vouched_address(&self, settings: &Settings, choice: &Choice, variable: &str) -> Result<(), Error> {
        let (address, known) = (choice.address(), self.addresses_of(variable)?);
        if known.contains(address) {
            return Ok(());
        }
        let is_of_this_run = ["llm.provider", "llm.baseUrl", "llm.keyVariable"]
            .iter()
            .any(|name| settings.is_of_this_run(name));
        if !is_of_this_run {
            return self.note_address(variable, address);
        }
        let known: Vec<String> = known.into_iter().collect();
        ensure!(
            known.is_empty(),
            NoModelSnafu {
                reason: format!(
                    "the key in {variable} went to {} so far, and the environment wants it to go to {address}; \
                     if that is meant, `git chronicle config set llm.baseUrl {address}`",
                    known.join(", ")
                )
            }
        );
        Ok(())
    }

    fn reached(&self, choice: &Choice) -> Result<Box<dyn Model>, Error> {
        if choice.provider == Provider::Claude {
            let reason = "`claude` is not on the PATH";
            let program = self.program("claude").context(NoModelSnafu { reason })?;
            return Ok(Box::new(ClaudeCommand {
                program: program.into(),
                model: Some(choice.model.clone()),
                timeout: choice.timeout,
                context_tokens: choice.context_tokens,
                variables: self.plain_variables(),
            }));
        }
        let service = Service::new(self.access(choice), Pace::within(choice.timeout), choice.context_tokens)?;
        Ok(Box::new(service.calling_tools(choice.calls_tools)))
    }

    fn access(&self, choice: &Choice) -> Access {
        Access {
            wire: choice.provider.wire(),
            model: choice.model.clone(),
            base_url: choice.base_url.clone(),
            key: choice.key.clone(),
            proxies: self.proxies(choice),
        }
    }

    /// The proxy that a setting names, or else those that the environment names, the small letters first, as other
    /// programs read them; where a hook or an agent runs this, none of those.
    fn proxies(&self, choice: &Choice) -> Proxies {
        if choice.proxy.is_some() || self.is_unattended() {
            return Proxies { https: choice.proxy.clone(), http: choice.proxy.clone(), except: None };
        }
        let named = |name: &str| {
            let found = self.variable(name).or_else(|| self.variable(&name.to_ascii_uppercase()));
            found.filter(|value| !value.trim().is_empty())
        };
        let of = |name: &str| named(name).or_else(|| named("all_proxy"));
        Proxies { https: of("https_proxy"), http: of("http_proxy"), except: named("no_proxy") }
    }

    fn meter(
        &self,
        settings: &Settings,
        choice: &Choice,
        purpose: Purpose,
        limits: &RunLimits,
    ) -> Result<Meter, Error> {
        let account = Account {
            day: self.today(),
            run: limits.run.clone().unwrap_or_else(|| crate::new_id().0),
            model: choice.model.clone(),
            purpose,
        };
        let caps = Caps {
            cost_of_day: settings.value("llm.maxCostPerDay").parse().ok().map(Money::dollars),
            cost_of_run: limits.max_cost.map(Money::dollars),
            tokens_of_run: limits.max_tokens,
            tokens_of_day: settings.value("llm.maxTokensPerDay").parse().ok(),
            calls_of_day: settings.value("llm.maxRequestsPerDay").parse().ok(),
        };
        Ok(Meter { ledger: Arc::new(self.ledger()?), account, prices: choice.prices, caps })
    }

    fn ledger(&self) -> Result<Ledger, Error> {
        Ok(Ledger::new(self.ledger_file()?))
    }

    fn ledger_file(&self) -> Result<PathBuf, Error> {
        Ok(self.memory_home()?.join(LEDGER_FILE))
    }

    fn unreadable_ledger(&self, source: std::io::Error) -> Error {
        Error::ReadInput { path: self.ledger_file().unwrap_or_default(), source }
    }

    /// The day that calls are booked on, in universal time.
    fn today(&self) -> String {
        day(self.now())
    }

    /// Asks the model something short.
    fn call(&self, settings: &Settings, choice: &Choice) -> Result<CallReport, Error> {
        let limits = RunLimits::default();
        let meter = self.meter(settings, choice, Purpose::Annotate, &limits)?;
        let model = Metered::new(self.reached(choice)?, meter);
        let reply = model.complete(&report::short_request(), &Cancel::default())?;
        Ok(CallReport::of(&reply, choice.prices))
    }

    fn told_of(&self, purpose: Purpose, choice: &Choice) -> ModelNow {
        let is_there = choice.provider != Provider::Claude || self.program("claude").is_some();
        let missing = (!is_there).then(|| "`claude` is not on the PATH".to_owned());
        ModelNow { missing, ..ModelNow::of(purpose, choice) }
    }

    /// Where a program is, if it is on the PATH. None of this repository is run.
    fn program(&self, name: &str) -> Option<PathBuf> {
        let path = (self.environment())("PATH")?;
        let own = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        own.map(|folder| folder.join(name)).find(|file| file.is_file() && !self.is_in_repository(file))
    }
}

/// The JSON object in an answer, which may stand in a code block or between words.
pub fn answer_in(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    let end = text.rfind('}')?;
    let value: Value = serde_json::from_str(text.get(start..=end)?).ok()?;
    value.is_object().then_some(value)
}

/// What is whole of the JSON object in an answer that was cut: all members and elements before the one that it broke
/// off in.
pub fn whole_part_of(text: &str) -> Option<Value> {
    let text = text.get(text.find('{')?..)?;
    let (mut open, mut is_text, mut is_escaped) = (Vec::new(), false, false);
    // Where the last whole element ends, and what is to be closed there.
    let mut end = None;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ if is_text => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                open.pop();
                end = Some((at + 1, open.clone()));
            }
            ',' => end = Some((at, open.clone())),
            _ => {}
        }
    }
    let (at, open) = end?;
    let closed: String = text[..at].chars().chain(open.into_iter().rev()).collect();
    serde_json::from_str(&closed).ok()
}

fn day(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_answer_that_was_cut_the_whole_parts_count() {
        let check = |text: &str, expected: Option<&str>| {
            let expected = expected.map(|json| serde_json::from_str::<Value>(json).unwrap());
            assert_eq!(whole_part_of(text), expected, "{text}");
        };
        check(
            r#"Here: {"a": "so, {it} \"is\"", "b": [{"c": 1}, {"c": 2, "d": "and so o"#,
            Some(r#"{"a": "so, {it} \"is\"", "b": [{"c": 1}, {"c": 2}]}"#),
        );
        check(r#"{"a": "and so on and so"#, None);
        check(r#"{"a": "so", "b": "and"#, Some(r#"{"a": "so"}"#));
        check(r#"{"a": [{"b": 1}"#, Some(r#"{"a": [{"b": 1}]}"#));
        check(r#"{"a": 1}} and more"#, None);
        check("nothing", None);
    }
}
