//! Addresses, keys and proxies, as they are handed in.

use std::fmt;

use chronicle_core::redaction;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The interface that a service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions, and whatever is compatible: llama.cpp, Ollama, vLLM, OpenRouter.
    OpenAi,
    /// Gemini `generateContent`.
    Gemini,
}

impl Wire {
    /// Where the service is unless somebody says otherwise.
    #[must_use]
    pub const fn address(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
        }
    }

    /// `address` as the requests need it: the vendors' own programs take it without the version, and without `/`.
    pub(crate) fn base(self, address: &str) -> String {
        let bare = address.trim_end_matches('/');
        let is_versioned = |versions: &[&str]| versions.iter().any(|version| bare.ends_with(version));
        match self {
            Self::Anthropic if !is_versioned(&["/v1"]) => format!("{bare}/v1/"),
            Self::Gemini if !is_versioned(&["/v1", "/v1beta"]) => format!("{bare}/v1beta/"),
            _ => format!("{bare}/"),
        }
    }
}

/// Who can read what is sent to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It does not leave this machine.
    Here,
    /// Only the service.
    Encrypted,
    /// Everybody on the way.
    Open,
}

impl Reach {
    /// Who can read what is sent to `address`, taken apart as requests take it apart: words before an `@`, and letters
    /// that only look like the end of a name, are no host. What is no address goes nowhere.
    #[must_use]
    pub fn of(address: &str) -> Self {
        let Ok(url) = reqwest::Url::parse(address) else { return Self::Open };
        let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let is_here = host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        match url.scheme() {
            _ if is_here => Self::Here,
            "https" => Self::Encrypted,
            _ => Self::Open,
        }
    }
}

/// A secret. Nothing shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key as it was found, without the white space around it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Whether it is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What it is recognised by, from which nobody finds it again.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(["chronicle key ", &self.0].concat());
        HEXLOWER.encode(&digest[..16])
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(…)")
    }
}

/// Proxies, as the environment's `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` name them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `https` addresses.
    pub https: Option<String>,
    /// For `http` addresses.
    pub http: Option<String>,
    /// Hosts that are reached without, separated by commas. This machine always is.
    pub except: Option<String>,
}

impl fmt::Debug for Proxies {
    // Their addresses may hold passwords.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_set = |proxy: &Option<String>| proxy.is_some();
        write!(formatter, "Proxies {{ https: {}, http: {} }}", is_set(&self.https), is_set(&self.http))
    }
}

/// How a service is reached.
#[derive(Debug, Clone)]
pub struct Access {
    /// What it speaks.
    pub wire: Wire,
    /// The model's name there.
    pub model: String,
    /// Its address, if it is not [`Wire::address`].
    pub base_url: Option<String>,
    /// The key; a model on this machine needs none.
    pub key: Option<Key>,
    /// The way there.
    pub proxies: Proxies,
}

impl Access {
    /// Words of a service or a library as they may be shown: without keys, and short.
    pub(crate) fn shown(&self, words: &str) -> String {
        const LONGEST: usize = 300;
        let key = self.key.as_ref().map(Key::expose).filter(|key| !key.is_empty());
        let words = key.map_or_else(|| words.to_owned(), |key| words.replace(key, "…"));
        let words = redaction::cleaned(&words).0;
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        match words.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &words[..end]),
            None => words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_with_its_version_and_without() {
        let check = |wire: Wire, address: &str, expected: &str| assert_eq!(wire.base(address), expected);
        check(Wire::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/");
        check(
            Wire::Anthropic,
            "https://gateway.example/anthropic/v1/",
            "https://gateway.example/anthropic/v1/",
        );
        check(Wire::OpenAi, "http://localhost:11434/v1", "http://localhost:11434/v1/");
        check(Wire::Gemini, "http://localhost:1", "http://localhost:1/v1beta/");
        for wire in [Wire::Anthropic, Wire::OpenAi, Wire::Gemini] {
            check(wire, wire.address(), wire.address());
        }
    }

    #[test]
    fn who_can_read_along_is_told_by_the_host_that_is_asked() {
        let check = |address: &str, expected| assert_eq!(Reach::of(address), expected, "{address}");
        check("http://localhost:11434/v1", Reach::Here);
        check("http://127.0.0.1:8080", Reach::Here);
        check("http://[::1]:8080/v1", Reach::Here);
        check("https://localhost.example.com/v1", Reach::Encrypted);
        check("https://127.0.0.1.example.com", Reach::Encrypted);
        check("https://api.openai.com/v1", Reach::Encrypted);
        check("http://192.168.0.7:11434/v1", Reach::Open);
        check("HTTP://model.example/v1", Reach::Open);
        check("http:model.example", Reach::Open);
        check("http://localhost:11434@model.example/v1", Reach::Open);
        check("http://localhost%2f@model.example/v1", Reach::Open);
        check("http://model.example#@localhost/", Reach::Open);
        check("localhost:11434", Reach::Open);
    }

    #[test]
    fn neither_a_key_nor_a_password_of_a_proxy_is_shown() {
        let proxies = Proxies { https: Some("http://ada:secret-word@proxy:1".into()), ..Proxies::default() };
        let access = Access {
            wire: Wire::OpenAi,
            model: "m".into(),
            base_url: None,
            key: Some(Key::new(" secret-word\n")),
            proxies,
        };
        assert!(!format!("{access:?}").contains("secret-word"), "{access:?}");
        assert_eq!(access.shown("wrong key:\u{1b}[31m secret-word!"), "wrong key: …!");
        assert_eq!(access.shown(&"word ".repeat(100)).chars().count(), 301);
    }
}
