//! What a client can show or attach without a model that asks for it.

use percent_encoding::percent_decode_str;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::mcp::{
    host::Host,
    refusal::Refusal,
    tools::{BriefArgs, PendingArgs, ReadArgs, asked},
};

const BRIEF: &str = "chronicle://brief";
const THREADS: &str = "chronicle://threads";
const WISDOM: &str = "chronicle://wisdom/";
const MARKDOWN: &str = "text/markdown";

pub(super) fn list() -> Vec<Resource> {
    let resource = |uri, name, title, description| {
        let resource = Resource::new(uri, name).with_title(title);
        resource.with_description(description).with_mime_type(MARKDOWN)
    };
    vec![
        resource(BRIEF, "brief", "Briefing", "What to know before going on"),
        resource(THREADS, "threads", "Unfinished work", "Open threads, the most urgent first"),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let wisdom =
        ResourceTemplate::new(format!("{WISDOM}{{+path}}"), "wisdom").with_title("Lessons about a path");
    vec![wisdom.with_description("What is known about a file or directory").with_mime_type(MARKDOWN)]
}

/// A resource that a client asks for.
pub(super) enum Asked {
    Brief,
    Threads,
    Wisdom(String),
}

impl Asked {
    /// The resource at `uri`, if there is one.
    pub(super) fn find(uri: &str) -> Option<Self> {
        match uri {
            BRIEF => Some(Self::Brief),
            THREADS => Some(Self::Threads),
            _ => {
                let path = percent_decode_str(uri.strip_prefix(WISDOM)?).decode_utf8().ok()?;
                (!path.is_empty()).then(|| Self::Wisdom(path.into_owned()))
            }
        }
    }

    pub(super) fn read(self, host: &Host, uri: &str) -> Result<ReadResourceResult, Refusal> {
        let reply = match self {
            Self::Brief => asked::<BriefArgs>(host, serde_json::Map::new()),
            Self::Threads => asked::<PendingArgs>(host, serde_json::Map::new()),
            Self::Wisdom(path) => {
                let arguments = serde_json::Map::from_iter([("path".to_owned(), json!(path))]);
                asked::<ReadArgs>(host, arguments)
            }
        }?;
        let contents = ResourceContents::text(reply.into_text(), uri).with_mime_type(MARKDOWN);
        Ok(ReadResourceResult::new(vec![contents]))
    }
}
