//! A request to a model, and its reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a model is asked. It knows nothing but this: the conversation so far is in `turns`.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Who the model is to be, and what it is to do.
    pub system: String,
    /// The conversation, a user's turn first.
    pub turns: Vec<Turn>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// Whether it must.
    pub tool_choice: ToolChoice,
    /// The form that the answer must have, instead of free words.
    pub form: Option<Form>,
    /// The most tokens of the reply.
    pub max_tokens: u32,
}

impl Request {
    /// More tokens than it is likely to have: two bytes are rarely one, but in what is no language at all.
    #[must_use]
    pub fn most_input_tokens(&self) -> u64 {
        let of_block = |block: &Block| match block {
            Block::Text(text) => text.len(),
            Block::Call(call) => call.tool.len() + call.input.to_string().len(),
        };
        let of_turn = |turn: &Turn| match turn {
            Turn::User(words) => words.len(),
            Turn::Model(blocks) => blocks.iter().map(of_block).sum(),
            Turn::Results(results) => {
                results.iter().map(|result| result.tool.len() + result.text.len()).sum()
            }
        };
        let of_tool = |tool: &Tool| tool.name.len() + tool.description.len() + tool.input.to_string().len();
        let n_bytes = self.system.len()
            + self.turns.iter().map(of_turn).sum::<usize>()
            + self.tools.iter().map(of_tool).sum::<usize>()
            + self.form.iter().map(|form| form.schema.to_string().len()).sum::<usize>();
        // What services put around turns and tools.
        most_tokens(n_bytes) + 500 + 20 * (self.turns.len() + self.tools.len()) as u64
    }
}

pub(crate) fn most_tokens(n_bytes: usize) -> u64 {
    n_bytes.div_ceil(2) as u64
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Words of the user.
    User(String),
    /// A reply of the model, as it came.
    Model(Vec<Block>),
    /// What the tools gave that the turn before called, in its order.
    Results(Vec<ToolResult>),
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Words.
    Text(String),
    /// A call of a tool.
    Call(Call),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Names the call in this conversation.
    pub id: String,
    /// The tool, which need not be one of the request's.
    pub tool: String,
    /// Its arguments; a string where they were no JSON.
    pub input: Value,
    /// What the service wants back with the call, unread.
    pub signature: Option<String>,
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Text for the model.
    pub text: String,
    /// Whether the call failed, and `text` says why.
    pub is_error: bool,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name: letters, digits and `_`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub input: Value,
}

/// Whether a model must call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// One at least.
    Required,
}

/// The form of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Its name: letters, digits and `_`.
    pub name: String,
    /// Its JSON Schema.
    pub schema: Value,
}

/// What a model answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its parts, in order.
    pub blocks: Vec<Block>,
    /// Why it ends.
    pub stop: Stop,
    /// What it cost.
    pub usage: Usage,
}

impl Reply {
    /// All its words.
    #[must_use]
    pub fn text(&self) -> String {
        let words = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Call(_) => None,
        });
        words.collect::<Vec<_>>().join("\n")
    }

    /// The tools it calls.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) => None,
        })
    }
}

/// Why a reply ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The model is done.
    End,
    /// It waits for the results of the tools that it called.
    Tools,
    /// It was cut at the most tokens of a reply.
    MaxTokens,
    /// It does not want to answer.
    Refusal,
    /// For another reason, in the service's words.
    Other(String),
}

/// The tokens of an exchange.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that were read, without those of the cache.
    pub input: u64,
    /// Tokens that were written.
    pub output: u64,
    /// Tokens that were read from the service's cache.
    pub cache_read: u64,
    /// Tokens that were put into it.
    pub cache_written: u64,
}
