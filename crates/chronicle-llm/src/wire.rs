//! Our requests and replies as the client library knows them.
//!
//! What the library leaves out of a stream is read from the service's own frames beside it ([`Aside`]):
//! a refusal of OpenAI, a prompt that Gemini blocks.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use chronicle_core::plain;
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ContentPart, FnSink, JsonSpec, MessageContent,
    RawFrameRef, ReasoningEffort, StopReason, StreamEnd, Tool, ToolCall, ToolChoice, ToolResponse,
};
use serde_json::{Value, json};

use crate::{Block, Call, Reply, Request, Stop, ToolResult, Turn, Usage, access::Wire};

/// What the library passes over in a service's frames.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    refusal: String,
    is_blocked: bool,
}

pub(crate) type SharedAside = Arc<Mutex<Aside>>;

impl Aside {
    fn look(&mut self, frame: &str) {
        // Most frames are neither, and need no second parsing.
        if !frame.contains("refusal") && !frame.contains("blockReason") {
            return;
        }
        let Ok(frame) = serde_json::from_str::<Value>(frame) else { return };
        if let Some(words) = frame.pointer("/choices/0/delta/refusal").and_then(Value::as_str) {
            self.refusal.push_str(words);
        }
        self.is_blocked |= frame.pointer("/promptFeedback/blockReason").is_some_and(Value::is_string);
    }

    /// The reply of a service that refuses with words of its own, or without any.
    pub(crate) fn refusal(&self, usage: Usage) -> Option<Reply> {
        let is_refused = self.is_blocked || !self.refusal.is_empty();
        let words = (!self.refusal.is_empty()).then(|| Block::Text(self.refusal.clone()));
        is_refused.then(|| Reply { blocks: words.into_iter().collect(), stop: Stop::Refusal, usage })
    }
}

/// The options of `request`; what the library passes over goes to `aside`.
pub(crate) fn options(wire: Wire, request: &Request, aside: &SharedAside) -> ChatOptions {
    let aside = Arc::clone(aside);
    let look = FnSink::new(move |_, frame: RawFrameRef<'_>| {
        aside.lock().unwrap_or_else(PoisonError::into_inner).look(frame.data);
    });
    let mut options = ChatOptions::default()
        .with_max_tokens(request.max_tokens)
        .with_capture_usage(true)
        .with_capture_content(true)
        .with_capture_tool_calls(true)
        .with_capture_reasoning_content(wire == Wire::Anthropic)
        .with_raw_frame_sink(look);
    if wire == Wire::OpenAi {
        // Without an effort of ours, the library takes `-max` off the name of the model and sends it as one.
        // A budget it does not send at all.
        options = options.with_reasoning_effort(ReasoningEffort::Budget(0));
    }
    if !request.tools.is_empty() {
        options = options.with_tool_choice(match request.tool_choice {
            crate::ToolChoice::Auto => ToolChoice::Auto,
            crate::ToolChoice::Required => ToolChoice::Required,
        });
    }
    if let Some(form) = &request.form {
        options = options.with_response_format(JsonSpec::new(&form.name, form.schema.clone()));
    }
    options
}

/// The conversation of `request`: what stays the same from turn to turn is marked for the service's cache, and so is
/// the last turn, since the next request begins with it.
pub(crate) fn conversation(wire: Wire, request: &Request) -> ChatRequest {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(ChatMessage::system(request.system.as_str()).with_options(CacheControl::Ephemeral));
    }
    messages.extend(request.turns.iter().filter_map(|turn| message(wire, turn)));
    if let Some(last) = messages.pop() {
        messages.push(last.with_options(CacheControl::Ephemeral));
    }
    let mut tools: Vec<Tool> = request.tools.iter().map(tool).collect();
    if let Some(last) = tools.pop() {
        tools.push(last.with_cache_control(CacheControl::Ephemeral));
    }
    let chat = ChatRequest::from_messages(messages);
    if tools.is_empty() { chat } else { chat.with_tools(tools) }
}

fn tool(tool: &crate::Tool) -> Tool {
    Tool::new(tool.name.as_str()).with_description(&tool.description).with_schema(tool.input.clone())
}

/// One turn; none for one that says nothing, which no service takes.
fn message(wire: Wire, turn: &Turn) -> Option<ChatMessage> {
    match turn {
        Turn::User(words) => Some(ChatMessage::user(words.as_str())),
        Turn::Model(blocks) => {
            let parts: Vec<ContentPart> = blocks.iter().filter_map(part).collect();
            (!parts.is_empty()).then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
        }
        Turn::Results(results) => {
            let parts: Vec<ContentPart> = results.iter().map(|result| answer(wire, result)).collect();
            (!parts.is_empty()).then(|| ChatMessage::tool(MessageContent::from_parts(parts)))
        }
    }
}

fn part(block: &Block) -> Option<ContentPart> {
    match block {
        Block::Text(text) if text.trim().is_empty() => None,
        Block::Text(text) => Some(ContentPart::from_text(text.as_str())),
        Block::Call(call) => Some(ContentPart::ToolCall(ToolCall {
            call_id: call.id.clone(),
            fn_name: call.tool.clone(),
            // Services take back objects only, also for a call whose arguments were none.
            fn_arguments: if call.input.is_object() { call.input.clone() } else { json!({}) },
            thought_signatures: call.signature.clone().map(|signature| vec![signature]),
        })),
    }
}

fn answer(wire: Wire, result: &ToolResult) -> ContentPart {
    if wire == Wire::Anthropic && result.is_error {
        // The library has no word for a call that failed.
        let failed = json!({
            "type": "tool_result", "tool_use_id": result.id, "content": result.text, "is_error": true,
        });
        return ContentPart::from_custom(failed, None);
    }
    let response = ToolResponse::new(result.id.as_str(), result.text.as_str());
    ContentPart::ToolResponse(response.with_fn_name(result.tool.as_str()))
}

/// The reply that a stream ends with; none if it ends without saying why, as one does that is cut.
pub(crate) fn reply(end: StreamEnd) -> Option<Reply> {
    let stop = end.captured_stop_reason?;
    let usage = end.captured_usage.map(|counted| usage(&counted)).unwrap_or_default();
    let parts = end.captured_content.map(MessageContent::into_parts).unwrap_or_default();
    let mut blocks: Vec<Block> = parts.into_iter().filter_map(block).collect();
    tell_calls_apart(&mut blocks);
    let calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
    let stop = match stop {
        StopReason::MaxTokens(_) => Stop::MaxTokens,
        StopReason::ContentFilter(_) => Stop::Refusal,
        // Some say `stop` where they call a tool.
        StopReason::ToolCall(_) | StopReason::Completed(_) if calls => Stop::Tools,
        StopReason::Completed(_) | StopReason::StopSequence(_) | StopReason::ToolCall(_) => Stop::End,
        StopReason::Other(reason) => Stop::Other(plain(&reason).into_owned()),
    };
    Some(Reply { blocks, stop, usage })
}

fn block(part: ContentPart) -> Option<Block> {
    match part {
        ContentPart::Text(text) => (!text.is_empty()).then_some(Block::Text(text)),
        ContentPart::ToolCall(call) => Some(Block::Call(Call {
            id: call.call_id,
            tool: call.fn_name,
            input: if call.fn_arguments.is_null() { json!({}) } else { call.fn_arguments },
            signature: call.thought_signatures.and_then(|signatures| signatures.into_iter().next()),
        })),
        _ => None,
    }
}

/// Gives calls ids of their own where Gemini gave none: the library counts them anew in each piece of a stream.
/// What it makes, it does not send back.
fn tell_calls_apart(blocks: &mut [Block]) {
    let mut known = HashSet::new();
    let calls = blocks.iter_mut().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        Block::Text(_) => None,
    });
    for (index, call) in calls.enumerate() {
        if !known.insert(call.id.clone()) {
            call.id = format!("call#{}#{}", call.tool, 1000 + index);
        }
    }
}

/// The library counts what comes from the cache as read.
pub(crate) fn usage(counted: &genai::chat::Usage) -> Usage {
    let tokens = |count: Option<i32>| u64::try_from(count.unwrap_or(0)).unwrap_or(0);
    let details = counted.prompt_tokens_details.as_ref();
    let cache_read = tokens(details.and_then(|details| details.cached_tokens));
    let cache_written = tokens(details.and_then(|details| details.cache_creation_tokens));
    Usage {
        input: tokens(counted.prompt_tokens).saturating_sub(cache_read + cache_written),
        output: tokens(counted.completion_tokens),
        cache_read,
        cache_written,
    }
}
