//! Which settings there are.

use chronicle_core::distance;
use snafu::OptionExt;

use crate::{Error, error::UnknownSettingSnafu};

/// A setting that there is.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, after `chronicle.` in git's configuration.
    pub name: &'static str,
    /// Its table and key in the team's file; none for what a repository must not decide for its clones.
    pub(super) team: Option<(&'static str, &'static str)>,
    /// Who may set it.
    pub rule: Rule,
    pub(super) kind: Kind,
    /// The value where nobody says otherwise; empty for none.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// Who may set a setting: only the user, or also a project, as far as it narrows what the user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The user alone: where data, keys and money go, and what runs. A project's value counts once the user allowed it.
    User,
    /// Anybody: it sends and costs nothing.
    Free,
    /// A project may lower what the user set; where the user set nothing, it may set anything.
    Lower,
    /// A project may lower what the user set, or else the default.
    Capped,
    /// A project may only turn it off.
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A positive number, not necessarily whole.
    Days,
    /// A positive whole number.
    Count,
    /// `true` or `false`.
    Switch,
    /// Several words, each a value of its own.
    Words,
    /// One word.
    Text,
    /// A number that is not below 0.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// What `llm.provider` may be.
const PROVIDERS: [&str; 5] = ["anthropic", "openai", "gemini", "claude", "none"];

/// Settings of earlier versions that do nothing any more, as in git's configuration and in the team's file.
pub(super) const RETIRED: [(&str, Option<(&str, &str)>); 2] =
    [("depsScanLimit", Some(("read", "deps_scan_limit"))), ("searchModel", None)];

/// What to say of a retired setting.
pub(super) fn retired(name: &str, place: &str) -> String {
    format!("`{name}` in {place} is deprecated and has no effect; remove it")
}

/// All settings, by name.
///
/// No tracked file decides about models: code, keys and money go where those settings say.
pub const SETTINGS: [Setting; 39] = [
    Setting {
        name: "annotateCommits",
        team: None,
        rule: Rule::User,
        kind: Kind::Switch,
        default: "false",
        meaning: "whether a model annotates each commit, in the background, once `init` has set up its hook",
    },
    Setting {
        name: "brief",
        team: Some(("agent", "brief")),
        rule: Rule::Off,
        kind: Kind::Switch,
        default: "true",
        meaning: "whether agents get a briefing when a session begins",
    },
    Setting {
        name: "chunkSize",
        team: Some(("agent", "chunk_size")),
        rule: Rule::Lower,
        kind: Kind::Count,
        default: "5",
        meaning: "files that the writing agent takes at once from a large commit",
    },
    Setting {
        name: "defaultMaxRegions",
        team: Some(("read", "default_max_regions")),
        rule: Rule::Lower,
        kind: Kind::Count,
        default: "20",
        meaning: "items that a read shows unless --max-regions says otherwise",
    },
    Setting {
        name: "format",
        team: None,
        rule: Rule::Free,
        kind: Kind::Choice(&["pretty", "markdown", "json"]),
        default: "pretty",
        meaning: "how answers are written at a terminal; elsewhere they are markdown unless --format says otherwise",
    },
    Setting {
        name: "guard",
        team: None,
        rule: Rule::User,
        kind: Kind::Choice(&["off", "ask"]),
        default: "off",
        meaning: "`ask`: an agent's edit of lines that a gotcha covers asks you first, with the lesson as the reason",
    },
    Setting {
        name: "judgeEntries",
        team: None,
        rule: Rule::User,
        kind: Kind::Switch,
        default: "false",
        meaning: "whether a model judges what it wrote of a commit, in one call more",
    },
    Setting {
        name: "llm.allowHttp",
        team: None,
        rule: Rule::User,
        kind: Kind::Switch,
        default: "false",
        meaning: "whether another machine may be asked without encryption, over `http://`",
    },
    Setting {
        name: "llm.baseUrl",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "address of the model service, where it is not the provider's own",
    },
    Setting {
        name: "llm.contextTokens",
        team: None,
        rule: Rule::User,
        kind: Kind::Count,
        default: "",
        meaning: "tokens that a request and its reply may have together",
    },
    Setting {
        name: "llm.keyVariable",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "variable of the environment that holds the key",
    },
    Setting {
        name: "llm.maxCostPerDay",
        team: None,
        rule: Rule::Capped,
        kind: Kind::Number,
        default: "",
        meaning: "US dollars that models may cost in a day, for everything of this user",
    },
    Setting {
        name: "llm.maxRequestsPerCommit",
        team: None,
        rule: Rule::Capped,
        kind: Kind::Count,
        default: "100",
        meaning: "requests that models may be sent about one commit",
    },
    Setting {
        name: "llm.maxRequestsPerDay",
        team: None,
        rule: Rule::Capped,
        kind: Kind::Count,
        default: "5000",
        meaning: "requests that models may be sent in a day, for everything of this user",
    },
    Setting {
        name: "llm.maxTokensPerCommit",
        team: None,
        rule: Rule::Capped,
        kind: Kind::Count,
        default: "2000000",
        meaning: "tokens that models may read and write about one commit",
    },
    Setting {
        name: "llm.maxTokensPerDay",
        team: None,
        rule: Rule::Capped,
        kind: Kind::Count,
        default: "50000000",
        meaning: "tokens that models may read and write in a day, for everything of this user",
    },
    Setting {
        name: "llm.model",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "model that is asked",
    },
    Setting {
        name: "llm.model.annotate",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "model that is asked to annotate commits",
    },
    Setting {
        name: "llm.model.ask",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "model that is asked to answer questions",
    },
    Setting {
        name: "llm.model.digest",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "model that is asked to word digests and threads of sessions",
    },
    Setting {
        name: "llm.model.embed",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "model that is asked to turn texts into vectors",
    },
    Setting {
        name: "llm.model.patterns",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "model that is asked to word patterns",
    },
    Setting {
        name: "llm.price.input",
        team: None,
        rule: Rule::User,
        kind: Kind::Number,
        default: "",
        meaning: "US dollars for a million tokens that a model reads",
    },
    Setting {
        name: "llm.price.output",
        team: None,
        rule: Rule::User,
        kind: Kind::Number,
        default: "",
        meaning: "US dollars for a million tokens that a model writes",
    },
    Setting {
        name: "llm.provider",
        team: None,
        rule: Rule::User,
        kind: Kind::Choice(&PROVIDERS),
        default: "",
        meaning: "who serves the model; by default, a provider whose key is in the environment",
    },
    Setting {
        name: "llm.proxy",
        team: None,
        rule: Rule::User,
        kind: Kind::Text,
        default: "",
        meaning: "proxy to the model service, in place of the environment's",
    },
    Setting {
        name: "llm.timeout",
        team: None,
        rule: Rule::User,
        kind: Kind::Count,
        default: "120",
        meaning: "seconds that a call of a model may take",
    },
    Setting {
        name: "llm.tools",
        team: None,
        rule: Rule::User,
        kind: Kind::Switch,
        default: "true",
        meaning: "whether the model calls tools; without, it is asked once for each part of a commit",
    },
    Setting {
        name: "maxAgentTurns",
        team: Some(("agent", "max_agent_turns")),
        rule: Rule::Capped,
        kind: Kind::Count,
        default: "20",
        meaning: "turns of a conversation of the writing agent",
    },
    Setting {
        name: "maxDiffLines",
        team: Some(("agent", "max_diff_lines")),
        rule: Rule::Capped,
        kind: Kind::Count,
        default: "2000",
        meaning: "changed lines beyond which the writing agent takes a commit in chunks",
    },
    Setting {
        name: "maxTokensPerResponse",
        team: Some(("agent", "max_tokens_per_response")),
        rule: Rule::Capped,
        kind: Kind::Count,
        default: "4096",
        meaning: "tokens of one reply to the writing agent",
    },
    Setting {
        name: "memory.coldMegabytes",
        team: None,
        rule: Rule::User,
        kind: Kind::Count,
        default: "500",
        meaning: "megabytes that compressed transcripts of sessions may take",
    },
    Setting {
        name: "recall",
        team: Some(("agent", "recall")),
        rule: Rule::Off,
        kind: Kind::Switch,
        default: "true",
        meaning: "whether agents are shown lessons about the files, names and errors in a prompt",
    },
    Setting {
        name: "recencyHalfLife",
        team: Some(("read", "recency_half_life")),
        rule: Rule::Free,
        kind: Kind::Days,
        default: "180",
        meaning: "days after which an entry counts half as recent",
    },
    Setting {
        name: "recentAnnotationsLimit",
        team: Some(("agent", "recent_annotations_limit")),
        rule: Rule::Capped,
        kind: Kind::Count,
        default: "5",
        meaning: "older annotations of a file that the writing agent is shown",
    },
    Setting {
        name: "remind",
        team: Some(("agent", "remind")),
        rule: Rule::Off,
        kind: Kind::Switch,
        default: "true",
        meaning: "whether agents are reminded after a commit that carries no annotation",
    },
    Setting {
        name: "searchVectors",
        team: None,
        rule: Rule::User,
        kind: Kind::Switch,
        default: "false",
        meaning: "whether `find` also compares vectors of `llm.model.embed`; what was said is sent there",
    },
    Setting {
        name: "showOnRead",
        team: Some(("agent", "show_on_read")),
        rule: Rule::Off,
        kind: Kind::Switch,
        default: "true",
        meaning: "whether agents are shown the lessons on code when they read it",
    },
    Setting {
        name: "sync.remotes",
        team: None,
        rule: Rule::User,
        kind: Kind::Words,
        default: "",
        meaning: "remotes that notes are shared with",
    },
];

impl Setting {
    /// The setting called `name`, in letters of any size, with `chronicle.` before it or without.
    ///
    /// # Errors
    /// When there is none; the error names the nearest.
    pub fn find(name: &str) -> Result<&'static Self, Error> {
        let wanted = name.strip_prefix("chronicle.").unwrap_or(name);
        let found = SETTINGS.iter().find(|setting| setting.name.eq_ignore_ascii_case(wanted));
        found.with_context(|| {
            let nearest = distance::nearest(wanted, &SETTINGS, |setting| setting.name);
            UnknownSettingSnafu { name, nearest: nearest.map_or(SETTINGS[0].name, |setting| setting.name) }
        })
    }

    /// The variable of the environment that overrules everything else: `CHRONICLE_RECENCY_HALF_LIFE`.
    #[must_use]
    pub fn variable(&self) -> String {
        let mut variable = String::from("CHRONICLE_");
        for letter in self.name.chars() {
            match letter {
                '.' => variable.push('_'),
                letter if letter.is_ascii_uppercase() => variable.extend(['_', letter]),
                letter => variable.push(letter.to_ascii_uppercase()),
            }
        }
        variable
    }

    /// Why `value` cannot be a value of this setting.
    pub(super) fn objection(&self, value: &str) -> Option<&'static str> {
        let is_fit = match self.kind {
            Kind::Days => value.parse().is_ok_and(|days: f64| 0.0 < days && days.is_finite()),
            Kind::Count => value.parse().is_ok_and(|count: u32| 0 < count),
            Kind::Switch => value.parse::<bool>().is_ok(),
            Kind::Words => {
                !value.is_empty() && !value.starts_with('-') && !value.contains(char::is_whitespace)
            }
            Kind::Text => {
                let is_odd = |c: char| c.is_whitespace() || c.is_control();
                !value.is_empty() && !value.starts_with('-') && !value.contains(is_odd)
            }
            Kind::Number => value.parse().is_ok_and(|number: f64| 0.0 <= number && number.is_finite()),
            Kind::Choice(words) => words.contains(&value),
        };
        (!is_fit).then_some(match self.kind {
            Kind::Days => "a number of days above 0",
            Kind::Count => "a whole number above 0",
            Kind::Switch => "`true` or `false`",
            Kind::Words | Kind::Text => "one word",
            Kind::Number => "a number that is not below 0",
            // There is one such setting.
            Kind::Choice(_) => "`anthropic`, `openai`, `gemini`, `claude` or `none`",
        })
    }
}
