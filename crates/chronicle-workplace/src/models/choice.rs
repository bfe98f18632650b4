//! Which model is asked for a purpose, at which address and with which key.

use std::time::Duration;

use chronicle_llm::{EMBEDDING_MODEL, Key, Prices, Purpose, Reach, Wire};

use super::DEFAULT_TIMEOUT;
use crate::{Settings, Workplace};

/// Who serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Provider {
    Anthropic,
    OpenAi,
    Gemini,
    Claude,
}

/// A model, as it would be asked.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) provider: Provider,
    pub(super) model: String,
    /// The address, if it is not the provider's own.
    pub(super) base_url: Option<String>,
    pub(super) key: Option<Key>,
    /// The variable that holds the key.
    pub(super) key_variable: Option<String>,
    pub(super) prices: Option<Prices>,
    /// Who says so.
    pub(super) prices_by: PricesBy,
    pub(super) context_tokens: u64,
    /// Whether it may call tools.
    pub(super) calls_tools: bool,
    pub(super) timeout: Duration,
    /// The proxy, where a setting names one.
    pub(super) proxy: Option<String>,
}

/// Who says what a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PricesBy {
    Settings,
    List,
    /// It runs on this machine.
    ThisMachine,
    Nobody,
}

/// Keys that are looked for, in this order, where nobody says who serves models.
const KEYS: [(&str, Provider); 4] = [
    ("ANTHROPIC_API_KEY", Provider::Anthropic),
    ("OPENAI_API_KEY", Provider::OpenAi),
    ("GEMINI_API_KEY", Provider::Gemini),
    ("GOOGLE_API_KEY", Provider::Gemini),
];
const OPENROUTER_KEY: &str = "OPENROUTER_API_KEY";
const OPENROUTER: &str = "https://openrouter.ai/api/v1";
/// What to do where there is no model, after why.
const WHAT_TO_SET: &str = "set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY, \
    `git config --global chronicle.llm.provider claude` for the installed Claude Code, \
    or chronicle.llm.baseUrl and chronicle.llm.model for a server of your own";

impl Provider {
    fn of(name: &str) -> Option<Self> {
        [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Claude]
            .into_iter()
            .find(|provider| provider.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Claude => "claude",
        }
    }

    pub(super) fn wire(self) -> Wire {
        match self {
            Self::Anthropic | Self::Claude => Wire::Anthropic,
            Self::OpenAi => Wire::OpenAi,
            Self::Gemini => Wire::Gemini,
        }
    }

    /// The model that is asked where nobody names one: a careful one for commits, a quick one for the rest.
    fn model_for(self, purpose: Purpose) -> &'static str {
        match (self, purpose == Purpose::Annotate) {
            (Self::Anthropic, true) => "claude-sonnet-4-5",
            (Self::Anthropic, false) => "claude-haiku-4-5",
            (Self::OpenAi, true) => "gpt-5",
            (Self::OpenAi, false) => "gpt-5-mini",
            (Self::Gemini, true) => "gemini-2.5-pro",
            (Self::Gemini, false) => "gemini-2.5-flash",
            (Self::Claude, true) => "sonnet",
            (Self::Claude, false) => "haiku",
        }
    }

    fn context_tokens(self) -> u64 {
        match self {
            Self::Anthropic | Self::Claude => 200_000,
            Self::OpenAi => 128_000,
            Self::Gemini => 1_000_000,
        }
    }
}

/// The room that a server of one's own is sure to have; many are started with little more.
const CONTEXT_OF_ONES_OWN: u64 = 16_384;

impl Choice {
    /// The model for `purpose`.
    ///
    /// # Errors
    /// In words for the user, when there is none.
    pub(super) fn of(workplace: &Workplace, settings: &Settings, purpose: Purpose) -> Result<Self, String> {
        let said = |name: &str| Some(settings.value(name).to_owned()).filter(|value| !value.is_empty());
        let key_in = |variable: &str| {
            let key = workplace.variable(variable).map(|key| Key::new(&key));
            key.filter(|key| !key.is_empty())
        };
        let mut base_url = said("llm.baseUrl");
        let provider = match said("llm.provider").as_deref() {
            Some("none") => return Err("models are turned off by chronicle.llm.provider".to_owned()),
            Some(name) => Provider::of(name),
            None if base_url.is_some() => Some(Provider::OpenAi),
            // A key that happens to be there is no word of the user's.
            None if workplace.is_unattended() => {
                return Err(
                    "where a hook or an agent runs this, a file of yours has to say who serves models, \
                    such as `git config --global chronicle.llm.provider anthropic`"
                        .to_owned(),
                );
            }
            None => {
                KEYS.iter().find(|(variable, _)| key_in(variable).is_some()).map(|(_, provider)| *provider)
            }
        };
        let provider = match provider {
            Some(provider) => provider,
            None if key_in(OPENROUTER_KEY).is_some() => {
                base_url = Some(OPENROUTER.to_owned());
                Provider::OpenAi
            }
            None => return Err(format!("there is no model to ask: {WHAT_TO_SET}")),
        };
        let base_url = base_url.filter(|_| provider != Provider::Claude);
        let model = model(settings, provider, base_url.as_deref(), purpose)?;
        let key_variable = match said("llm.keyVariable") {
            _ if provider == Provider::Claude => None,
            Some(variable) if key_in(&variable).is_some() => Some(variable),
            Some(variable) => {
                return Err(format!("there is no key in {variable}, which chronicle.llm.keyVariable names"));
            }
            None => own_variables(provider, base_url.as_deref())
                .into_iter()
                .find(|variable| key_in(variable).is_some())
                .map(str::to_owned),
        };
        let reach = base_url.as_deref().map(Reach::of);
        if let (Some(Reach::Open), Some(address)) = (reach, &base_url)
            && address.to_ascii_lowercase().starts_with("http:")
            && settings.value("llm.allowHttp") != "true"
        {
            return Err(format!(
                "{address} is not encrypted, so anyone on the way can read it; \
                 `git config --global chronicle.llm.allowHttp true` allows it"
            ));
        }
        let is_here = reach == Some(Reach::Here);
        if key_variable.is_none() && base_url.is_none() && provider != Provider::Claude {
            let names = own_variables(provider, None).join(" or ");
            return Err(format!("there is no key for {}: set {names}", provider.name()));
        }
        let (prices, prices_by) = prices(settings, &model, is_here);
        let number = |name: &str| settings.value(name).parse::<u64>().ok();
        let room = if base_url.is_some() { CONTEXT_OF_ONES_OWN } else { provider.context_tokens() };
        Ok(Self {
            key: key_variable.as_deref().and_then(key_in),
            context_tokens: number("llm.contextTokens").unwrap_or(room),
            calls_tools: settings.value("llm.tools") != "false",
            timeout: number("llm.timeout").map_or(DEFAULT_TIMEOUT, Duration::from_secs),
            proxy: said("llm.proxy"),
            provider,
            model,
            base_url,
            key_variable,
            prices,
            prices_by,
        })
    }
}

impl Choice {
    /// Where the key goes.
    pub(super) fn address(&self) -> &str {
        self.base_url.as_deref().unwrap_or(self.provider.wire().address())
    }
}

/// The name of the model for `purpose`.
fn model(
    settings: &Settings,
    provider: Provider,
    base_url: Option<&str>,
    purpose: Purpose,
) -> Result<String, String> {
    let own = format!("llm.model.{}", purpose.name());
    let named = [own.as_str(), "llm.model"];
    // A model that talks makes no vectors.
    let named = if purpose == Purpose::Embed { &named[..1] } else { &named[..] };
    if let Some(name) = named.iter().map(|name| settings.value(name)).find(|name| !name.is_empty()) {
        return Ok(name.to_owned());
    }
    match (purpose, provider) {
        (Purpose::Embed, Provider::OpenAi) => Ok(EMBEDDING_MODEL.to_owned()),
        (Purpose::Embed, _) => Err(format!("{} has no model that can be asked for vectors", provider.name())),
        _ if base_url.is_some() => {
            Err("which model is to be asked there? Set chronicle.llm.model".to_owned())
        }
        _ => Ok(provider.model_for(purpose).to_owned()),
    }
}

/// Whether the service of these settings was named for vectors, and nobody said which model it has for `purpose`.
pub(super) fn is_for_vectors_alone(settings: &Settings, purpose: Purpose) -> bool {
    let is_said = |name: &str| !settings.value(name).is_empty();
    purpose != Purpose::Embed
        && is_said("llm.baseUrl")
        && settings.value("llm.provider") != Provider::Claude.name()
        && ![&*format!("llm.model.{}", purpose.name()), "llm.model"].into_iter().any(is_said)
        && (is_said("llm.model.embed") || settings.value("searchVectors") == "true")
}

/// The variables that hold the keys of the service at `base_url`: at another address than the provider's own, none of
/// its keys is for that.
fn own_variables(provider: Provider, base_url: Option<&str>) -> Vec<&'static str> {
    match base_url {
        Some(address) if address.starts_with("https://openrouter.ai/") => vec![OPENROUTER_KEY],
        Some(_) => Vec::new(),
        None => KEYS.iter().filter(|(_, other)| *other == provider).map(|(variable, _)| *variable).collect(),
    }
}

fn prices(settings: &Settings, model: &str, is_here: bool) -> (Option<Prices>, PricesBy) {
    let price = |name: &str| settings.value(name).parse::<f64>().ok();
    let list = Prices::of(model);
    match (price("llm.price.input"), price("llm.price.output"), list) {
        (Some(input), Some(output), _) => {
            // Writing into a cache costs a quarter more where it costs anything.
            let set = Prices { input, output, cache_read: None, cache_written: Some(1.25 * input) };
            (Some(set), PricesBy::Settings)
        }
        (input, output, Some(list)) if input.is_some() || output.is_some() => {
            let (input, output) = (input.unwrap_or(list.input), output.unwrap_or(list.output));
            let set = Prices { input, output, cache_read: None, cache_written: Some(1.25 * input) };
            (Some(set), PricesBy::Settings)
        }
        (.., Some(list)) if !is_here => (Some(list), PricesBy::List),
        _ if is_here => (Some(Prices::FREE), PricesBy::ThisMachine),
        _ => (None, PricesBy::Nobody),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_that_is_asked_by_default_has_a_price_but_those_of_a_subscription() {
        for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Gemini] {
            for purpose in Purpose::ALL {
                let model = provider.model_for(purpose);
                assert!(Prices::of(model).is_some(), "{model}");
            }
        }
        assert!(Prices::of(EMBEDDING_MODEL).is_some());
    }
}
