//! Arguments that several commands take.

use std::str::FromStr;

use chronicle_render::Format;
use clap::{Args, ValueEnum, builder::RangedU64ValueParser};

/// The heading of options that every command takes: they come last.
pub(crate) const GLOBAL: &str = "Global options";

/// How answers are written.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct OutputArgs {
    /// How to write the answer: pretty for people, markdown for models, json for programs [default: pretty at a
    /// terminal, else markdown]
    #[arg(long, value_name = "FORMAT", global = true, help_heading = GLOBAL, value_parser = clap::builder::ValueParser::new(|text: &str| text.parse::<OutputFormat>()))]
    pub(crate) format: Option<OutputFormat>,

    /// When to use colour in pretty answers
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", help_heading = GLOBAL)]
    pub(crate) color: ColorWhen,

    /// Write straight to the terminal, without a pager
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_pager: bool,
}

/// A form of answers, or one that a single command has: `export`, `share` and `session export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Answer(Format),
    AgentTrace,
    Html,
    JsonLines,
}

impl FromStr for OutputFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "agent-trace" => Ok(Self::AgentTrace),
            "html" => Ok(Self::Html),
            "jsonl" => Ok(Self::JsonLines),
            other => other.parse().map(Self::Answer),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

/// How many of something are wanted: none would be an answer that says that there are none.
pub(crate) fn at_least_one() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}
