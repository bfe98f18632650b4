//! How much a model may be given and may answer.

use chronicle_llm::Model;

use crate::{Error, Workplace};

/// Tokens of a context where no model is known.
const USUAL_CONTEXT: u64 = 200_000;

/// What the settings and the model allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Tokens of a request and its reply.
    pub context: u64,
    /// Whether the model calls tools.
    pub calls_tools: bool,
    /// Tokens of one reply.
    pub max_tokens: u32,
    /// Turns of a conversation.
    pub max_turns: u32,
    /// Changed lines beyond which a commit is taken in chunks.
    pub max_diff_lines: u64,
    /// Files of a chunk.
    pub chunk_files: usize,
    /// Annotations of a file that are shown.
    pub n_recent: usize,
}

impl Workplace {
    /// What the settings, and `model` if there is one, allow.
    pub fn bounds(&self, model: Option<&dyn Model>) -> Result<Bounds, Error> {
        let settings = self.model_settings()?;
        let number = |name: &str, usual: u32| settings.value(name).parse().unwrap_or(usual);
        Ok(Bounds {
            context: model.map_or(USUAL_CONTEXT, Model::context_tokens),
            calls_tools: model.is_none_or(Model::calls_tools),
            max_tokens: number("maxTokensPerResponse", 4096),
            max_turns: number("maxAgentTurns", 20),
            max_diff_lines: u64::from(number("maxDiffLines", 2000)),
            chunk_files: number("chunkSize", 5) as usize,
            n_recent: number("recentAnnotationsLimit", 5) as usize,
        })
    }
}

impl Bounds {
    /// Tokens of a reply, of which the context must leave most to the request.
    pub fn reply_tokens(&self) -> u32 {
        self.max_tokens.min(u32::try_from(self.context / 4).unwrap_or(u32::MAX))
    }

    /// Tokens of a request.
    pub fn request_tokens(&self) -> u64 {
        self.context - u64::from(self.reply_tokens())
    }
}
