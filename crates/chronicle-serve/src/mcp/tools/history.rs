//! How code came to be as it is.

use std::path::PathBuf;

use chronicle::{Chronicle, WhyScope};
use chronicle_render::{self as render, Format, View};
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{
    budget::{DEFAULT_TOKENS, fit},
    refusal::Refusal,
    reply::{Ask, Reply, lines},
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhyArgs {
    path: PathBuf,
    /// 12 or 12:20
    lines: Option<String>,
    /// Item of the file, instead of lines
    anchor: Option<String>,
    #[schemars(skip)]
    max_tokens: Option<usize>,
}

impl Ask for WhyArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let (path, scope) = match (lines(self.lines.as_deref())?, self.anchor) {
            (Some(lines), None) => (self.path, WhyScope::Lines(lines)),
            (None, Some(anchor)) => (self.path, WhyScope::Anchor(anchor)),
            (None, None) => match WhyScope::behind_colon(&self.path) {
                Some(place) => place.map_err(|error| Refusal::Arguments(format!("`path`: {error}")))?,
                None => {
                    let path = self.path.to_string_lossy().escape_debug().to_string();
                    return Err(Error::LineMissing { path }.into());
                }
            },
            _ => return Err(Refusal::Arguments("`lines` and `anchor` do not go together".to_owned())),
        };
        let why = chronicle.why(path, scope)?;
        let max_tokens = self.max_tokens.unwrap_or(DEFAULT_TOKENS);
        let why = fit(why, max_tokens, view);
        let markdown = render::why(&why, Format::Markdown, view);
        Ok(Reply::new(&why, &markdown, view, "nothing is known", &why.warnings))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SummaryArgs {
    /// File or directory
    path: PathBuf,
    /// Item of the file
    anchor: Option<String>,
    max_tokens: Option<usize>,
}

impl Ask for SummaryArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let summary = chronicle.summary(self.path, self.anchor.as_deref())?;
        let max_tokens = self.max_tokens.unwrap_or(DEFAULT_TOKENS);
        let summary = fit(summary, max_tokens, view);
        let markdown = render::summary(&summary, Format::Markdown, view);
        Ok(Reply::new(&summary, &markdown, view, "nothing is known about it", &summary.warnings))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryArgs {
    /// File or directory
    path: PathBuf,
    /// Item of the file
    anchor: Option<String>,
    /// Newest commits to show
    limit: Option<usize>,
    max_tokens: Option<usize>,
}

impl Ask for HistoryArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let timeline = chronicle.history(self.path, self.anchor.as_deref(), self.limit)?;
        let max_tokens = self.max_tokens.unwrap_or(DEFAULT_TOKENS);
        let timeline = fit(timeline, max_tokens, view);
        let markdown = render::timeline(&timeline, Format::Markdown, view);
        Ok(Reply::new(&timeline, &markdown, view, "nothing is known about it", &timeline.warnings))
    }
}
