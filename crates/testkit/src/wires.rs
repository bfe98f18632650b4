//! What an answer looks like in the words of each service.

use serde_json::{Value, json};

use crate::{
    http::Asked,
    script::{Answer, Part, Said},
};

/// The kind of the body and its pieces, each an event; none where nobody speaks at that path.
pub(crate) fn pieces(answer: &Answer, asked: &Asked) -> Option<(&'static str, Vec<Vec<u8>>)> {
    let path = asked.path.split('?').next().unwrap_or_default();
    let events = match path {
        _ if path.ends_with("/messages") => anthropic(answer),
        _ if path.ends_with("/chat/completions") => openai(answer),
        _ if path.ends_with(":streamGenerateContent") => gemini(answer),
        _ if path.ends_with("/embeddings") => {
            return Some(("application/json", vec![embeddings(answer, asked)]));
        }
        _ => return None,
    };
    Some(("text/event-stream", events.into_iter().map(String::into_bytes).collect()))
}

/// Words in two pieces, so that a stream is one.
fn halves(text: &str) -> [&str; 2] {
    let middle = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (first, second) = text.split_at(middle);
    [first, second]
}

fn anthropic(answer: &Answer) -> Vec<String> {
    let event = |kind: &str, mut data: Value| {
        data["type"] = json!(kind);
        format!("event: {kind}\ndata: {data}\n\n")
    };
    let usage = answer.usage;
    let read = json!({
        "input_tokens": usage.input, "output_tokens": 1,
        "cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": usage.cache_written,
    });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": read,
    });
    let mut events = vec![event("message_start", json!({ "message": message }))];
    let (parts, default_stop) = match &answer.said {
        Said::Parts(parts) => (parts.clone(), "end_turn"),
        Said::Refusal(words) => (vec![Part::Text(words.clone())], "refusal"),
        Said::Status(..) | Said::Raw(_) => (Vec::new(), "end_turn"),
    };
    let calls = parts.iter().any(|part| matches!(part, Part::Call(..)));
    for (index, part) in parts.iter().enumerate() {
        let (block, field, kind, text) = match part {
            Part::Text(text) => (json!({ "type": "text", "text": "" }), "text", "text_delta", text),
            Part::Call(tool, input) => (
                json!({ "type": "tool_use", "id": format!("toolu_{index}"), "name": tool, "input": {} }),
                "partial_json",
                "input_json_delta",
                input,
            ),
        };
        events.push(event("content_block_start", json!({ "index": index, "content_block": block })));
        events.push(event("ping", json!({})));
        for half in halves(text) {
            let delta = json!({ "type": kind, field: half });
            events.push(event("content_block_delta", json!({ "index": index, "delta": delta })));
        }
        events.push(event("content_block_stop", json!({ "index": index })));
    }
    let stop = answer.stop.unwrap_or(if calls { "tool_use" } else { default_stop });
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    events
        .push(event("message_delta", json!({ "delta": delta, "usage": { "output_tokens": usage.output } })));
    events.push(event("message_stop", json!({})));
    events
}

fn openai(answer: &Answer) -> Vec<String> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({ "id": "c1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    let mut n_calls = 0;
    match &answer.said {
        Said::Parts(parts) => {
            for part in parts {
                match part {
                    Part::Text(text) => {
                        events.extend(halves(text).map(|half| chunk(json!({ "content": half }), None)));
                    }
                    Part::Call(tool, input) => {
                        let [first, second] = halves(input);
                        let function = json!({ "name": tool, "arguments": first });
                        let id = format!("call_{n_calls}");
                        let begun =
                            json!({ "index": n_calls, "id": id, "type": "function", "function": function });
                        let rest = json!({ "index": n_calls, "function": { "arguments": second } });
                        events.push(chunk(json!({ "tool_calls": [begun] }), None));
                        events.push(chunk(json!({ "tool_calls": [rest] }), None));
                        n_calls += 1;
                    }
                }
            }
        }
        Said::Refusal(words) => {
            events.extend(halves(words).map(|half| chunk(json!({ "refusal": half }), None)));
        }
        Said::Status(..) | Said::Raw(_) => {}
    }
    let stop = match answer.stop {
        Some("max_tokens") => "length",
        Some(other) => other,
        None if 0 < n_calls => "tool_calls",
        None => "stop",
    };
    events.push(chunk(json!({}), Some(stop)));
    let usage = answer.usage;
    let n_read = usage.input + usage.cache_read;
    let usage = json!({
        "prompt_tokens": n_read, "completion_tokens": usage.output, "total_tokens": n_read + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read },
    });
    events.push(format!("data: {}\n\n", json!({ "id": "c1", "choices": [], "usage": usage })));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn gemini(answer: &Answer) -> Vec<String> {
    let chunk = |body: Value| format!("data: {body}\n\n");
    let usage = answer.usage;
    let usage = json!({
        "promptTokenCount": usage.input + usage.cache_read, "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input + usage.cache_read + usage.output,
        "cachedContentTokenCount": usage.cache_read,
    });
    let Said::Parts(parts) = &answer.said else {
        return vec![chunk(json!({ "promptFeedback": { "blockReason": "SAFETY" }, "usageMetadata": usage }))];
    };
    let candidate = |part: Value| {
        chunk(json!({ "candidates": [{ "content": { "role": "model", "parts": [part] }, "index": 0 }] }))
    };
    let mut events = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text(text) => events.extend(halves(text).map(|half| candidate(json!({ "text": half })))),
            Part::Call(tool, input) => {
                let args: Value = serde_json::from_str(input).unwrap_or_default();
                let call = json!({ "name": tool, "args": args });
                events.push(candidate(json!({
                    "functionCall": call, "thoughtSignature": format!("signature-{index}"),
                })));
            }
        }
    }
    let stop = if answer.stop == Some("max_tokens") { "MAX_TOKENS" } else { "STOP" };
    let last = json!({ "content": { "role": "model", "parts": [{ "text": "" }] }, "finishReason": stop });
    events.push(chunk(json!({ "candidates": [last], "usageMetadata": usage })));
    events
}

/// A vector for each text: how many bytes and words it has, the last text first, as services may answer.
fn embeddings(answer: &Answer, asked: &Asked) -> Vec<u8> {
    let request = asked.json();
    let texts = request["input"].as_array().cloned().unwrap_or_default();
    let vector = |(index, text): (usize, &Value)| {
        let text = text.as_str().unwrap_or_default();
        json!({ "object": "embedding", "index": index, "embedding": [text.len(), text.split_whitespace().count()] })
    };
    let data: Vec<Value> = texts.iter().enumerate().map(vector).rev().collect();
    let n_read = answer.usage.input;
    let usage = json!({ "prompt_tokens": n_read, "total_tokens": n_read });
    json!({ "object": "list", "data": data, "model": request["model"], "usage": usage })
        .to_string()
        .into_bytes()
}
