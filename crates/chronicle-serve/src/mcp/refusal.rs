//! Calls that get no answer: wrong arguments are an error of the protocol, everything else is for the model to
//! read and to act upon.

use std::borrow::Cow;

use chronicle::plain;
use chronicle_render as render;
use chronicle_workplace::Code;
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};

use crate::mcp::host::Host;

/// Why a call gets no answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Arguments that are not what the schema says.
    Arguments(String),
    /// The application says no.
    Cannot(chronicle_workplace::Error),
}

impl From<chronicle_workplace::Error> for Refusal {
    fn from(error: chronicle_workplace::Error) -> Self {
        Self::Cannot(error)
    }
}

/// Hints that name an option of the command line, in the words of a caller.
fn hint(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NotARepository => "set `directory` to a folder inside a repository",
        Code::NotFetched => "read the file with `git show HEAD:PATH` first, which fetches it",
        Code::NoWorkTree => "name two commits with `diff`: A..B",
        Code::NoSummary => "add `summary`, or set `auto`",
        Code::LinesNeedOneFile => "name one file together with `lines`",
        Code::LineMissing => "set `lines`, such as 12 or 12:20, or `anchor`",
        Code::InvalidInput | Code::InvalidJson => "nothing was stored; the tool's schema shows the form",
        Code::NotYourSummary => "leave out `replace_summary`: yours is stored next to it",
        Code::BudgetTooSmall => "ask for more `max_tokens`, or for more `budget`",
        _ => return None,
    })
}

impl Refusal {
    /// The error of the protocol, where it is one.
    pub(super) fn into_error(self, host: &Host) -> ErrorData {
        match self {
            Self::Arguments(reason) => ErrorData::invalid_params(one_line(&reason), None),
            other => {
                let (text, _) = other.rendered(host);
                ErrorData::internal_error(text, None)
            }
        }
    }

    /// What a model gets to read.
    pub(super) fn into_result(self, host: &Host) -> Result<CallToolResult, ErrorData> {
        if matches!(self, Self::Arguments(_)) {
            return Err(self.into_error(host));
        }
        let (text, json) = self.rendered(host);
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = serde_json::from_str(&json).ok();
        Ok(result)
    }

    /// In words, and in JSON.
    fn rendered(self, host: &Host) -> (String, String) {
        let (code, message, hint) = match self {
            Self::Arguments(reason) => (Code::Usage, reason, None),
            Self::Cannot(error) => {
                let explained = (host.explain)(error);
                (
                    explained.code,
                    explained.message,
                    hint(explained.code).map(Cow::Borrowed).or(explained.hint),
                )
            }
        };
        let message = one_line(&message);
        let hinted = hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        (format!("error: {message}{hinted}"), render::json_error(code, &message, hint.as_deref()))
    }
}

fn one_line(text: &str) -> String {
    plain(text).replace(['\n', '\t'], " ")
}
