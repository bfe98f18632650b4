use std::sync::Mutex;

use chronicle_llm::{
    Block, Call, Cancel, Embedder, Form, Model, Request, Stop, ToolChoice, ToolResult, Turn, Usage, Wire,
};
use serde_json::{Value, json};
use testkit::{Answer, ScriptedService};

use crate::support::{KEY, WIRES, ask, model, request};

#[test]
fn words_and_calls_come_over_every_wire() {
    for wire in WIRES {
        let input = json!({ "path": "src/pöol.rs" });
        let answer = Answer::calls([("get_diff", input.clone()), ("get_diff", json!({}))])
            .saying("I look at it – first.")
            .costing(100, 20)
            .cached(700, 0);
        let service = ScriptedService::playing([answer]);
        let reply = ask(&model(wire, &service), &request()).unwrap();
        assert_eq!(reply.text(), "I look at it – first.", "{wire:?}");
        assert_eq!(reply.stop, Stop::Tools, "{wire:?}");
        assert_eq!(
            reply.usage,
            Usage { input: 100, output: 20, cache_read: 700, cache_written: 0 },
            "{wire:?}"
        );
        let calls: Vec<&Call> = reply.calls().collect();
        assert_eq!([&calls[0].tool, &calls[1].tool], ["get_diff"; 2], "{wire:?}");
        assert_eq!([&calls[0].input, &calls[1].input], [&input, &json!({})], "{wire:?}");
        assert_ne!(calls[0].id, calls[1].id, "{wire:?}");
    }
}

#[test]
fn anthropic_is_asked_in_its_own_words() {
    let service = ScriptedService::playing([Answer::text("ok")]);
    ask(&model(Wire::Anthropic, &service), &request()).unwrap();
    let asked = &service.asked()[0];
    assert_eq!(asked.path, "/v1/messages");
    assert_eq!(asked.header("x-api-key"), Some(KEY));
    let body = asked.json();
    assert_eq!(body["model"], "scripted");
    assert_eq!(body["max_tokens"], 500);
    assert_eq!(body["stream"], true);
    assert_eq!(body["tool_choice"], json!({ "type": "any" }));
    let ephemeral = json!({ "type": "ephemeral" });
    assert_eq!(body["system"][0]["text"], "You say why code is as it is.");
    assert_eq!(body["system"][0]["cache_control"], ephemeral);
    assert_eq!(body["tools"][0]["cache_control"], Value::Null);
    assert_eq!(body["tools"][1]["cache_control"], ephemeral);
    assert_eq!(body["tools"][1]["input_schema"], request().tools[1].input);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], ephemeral);
}

#[test]
fn openai_is_asked_in_its_own_words() {
    let service = ScriptedService::playing([Answer::text("ok")]);
    ask(&model(Wire::OpenAi, &service), &request()).unwrap();
    let asked = &service.asked()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let body = asked.json();
    assert_eq!(body["model"], "scripted");
    assert_eq!(body["max_tokens"], 500);
    assert_eq!(body["tool_choice"], "required");
    assert_eq!(body["stream_options"], json!({ "include_usage": true }));
    assert_eq!(body["messages"][0], json!({ "role": "system", "content": "You say why code is as it is." }));
    assert_eq!(body["messages"][1], json!({ "role": "user", "content": "Why is the pool so small?" }));
    assert_eq!(body["tools"][0]["function"]["parameters"], request().tools[0].input);
}

#[test]
fn gemini_is_asked_in_its_own_words() {
    let service = ScriptedService::playing([Answer::text("ok")]);
    ask(&model(Wire::Gemini, &service), &request()).unwrap();
    let asked = &service.asked()[0];
    assert_eq!(asked.path, "/v1beta/models/scripted:streamGenerateContent?alt=sse");
    assert_eq!(asked.header("x-goog-api-key"), Some(KEY));
    let body = asked.json();
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 500);
    assert_eq!(body["toolConfig"]["functionCallingConfig"]["mode"], "ANY");
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], "You say why code is as it is.");
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["name"], "get_diff");
}

#[test]
fn a_models_name_is_sent_as_it_is() {
    for (wire, name) in
        [(Wire::OpenAi, "qwen-max"), (Wire::OpenAi, "gpt-high"), (Wire::Anthropic, "claude-sonnet-4-5")]
    {
        let service = ScriptedService::playing([Answer::text("ok")]);
        let access =
            chronicle_llm::Access { model: name.to_owned(), ..crate::support::access(wire, &service.url()) };
        let model = chronicle_llm::Service::new(access, crate::support::pace(), 1).unwrap();
        ask(&model, &request()).unwrap();
        let body = service.asked()[0].json();
        assert_eq!(body["model"], name);
        assert_eq!(body["reasoning_effort"], Value::Null, "{name}");
    }
}

/// A conversation of two turns: the first is the real reply, calls and all.
fn second_turn(wire: Wire) -> Value {
    let first = Answer::calls([("get_diff", json!({ "path": "a" })), ("get_diff", json!({ "path": "b" }))]);
    let service = ScriptedService::playing([first.saying("I look."), Answer::text("done")]);
    let model = model(wire, &service);
    let mut request = request();
    let reply = ask(&model, &request).expect("the service plays its script");
    let results = reply.calls().enumerate().map(|(index, call)| ToolResult {
        id: call.id.clone(),
        tool: call.tool.clone(),
        text: format!("result {index}"),
        is_error: index == 1,
    });
    let results = Turn::Results(results.collect());
    request.turns.extend([Turn::Model(reply.blocks.clone()), results]);
    request.tool_choice = ToolChoice::Auto;
    assert_eq!(ask(&model, &request).expect("the service plays its script").text(), "done");
    service.asked()[1].json()
}

#[test]
fn anthropic_gets_back_what_it_said_and_which_call_failed() {
    let body = second_turn(Wire::Anthropic);
    let content = &body["messages"][1]["content"];
    assert_eq!(content[0], json!({ "type": "text", "text": "I look." }));
    assert_eq!(content[1]["type"], "tool_use");
    assert_eq!(content[1]["input"], json!({ "path": "a" }));
    let results = &body["messages"][2]["content"];
    assert_eq!(results[0]["tool_use_id"], content[1]["id"]);
    assert_eq!(results[0]["content"], "result 0");
    assert_eq!(results[0]["is_error"], Value::Null);
    assert_eq!(results[1]["tool_use_id"], content[2]["id"]);
    assert_eq!(results[1]["is_error"], true);
    assert_eq!(results[1]["cache_control"], json!({ "type": "ephemeral" }));
}

#[test]
fn openai_gets_back_what_it_said() {
    let body = second_turn(Wire::OpenAi);
    let said = &body["messages"][2];
    assert_eq!(said["content"], "I look.");
    assert_eq!(said["tool_calls"][0]["function"]["arguments"], r#"{"path":"a"}"#);
    assert_eq!(body["messages"][3]["tool_call_id"], said["tool_calls"][0]["id"]);
    assert_eq!(body["messages"][4]["content"], "result 1");
    assert_eq!(body["tool_choice"], "auto");
}

#[test]
fn gemini_gets_back_its_signatures() {
    let body = second_turn(Wire::Gemini);
    let parts = &body["contents"][1]["parts"];
    assert_eq!(parts[1]["functionCall"]["name"], "get_diff");
    assert_eq!(parts[1]["thoughtSignature"], "signature-1");
    assert_eq!(parts[2]["thoughtSignature"], "signature-2");
    let result = &body["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(result["name"], "get_diff");
    assert_eq!(result["response"]["content"], "result 0");
}

#[test]
fn the_form_of_an_answer_is_asked_for_over_every_wire() {
    let schema = json!({
        "type": "object", "properties": { "reason": { "type": "string" } },
        "required": ["reason"], "additionalProperties": false,
    });
    for wire in WIRES {
        let service = ScriptedService::playing([Answer::text(r#"{"reason":"it is enough"}"#)]);
        let request = Request {
            form: Some(Form { name: "answer".to_owned(), schema: schema.clone() }),
            tools: Vec::new(),
            ..request()
        };
        let reply = ask(&model(wire, &service), &request).unwrap();
        assert_eq!((reply.text().as_str(), reply.stop), (r#"{"reason":"it is enough"}"#, Stop::End));
        let body = service.asked()[0].json();
        let sent = match wire {
            Wire::Anthropic => &body["output_config"]["format"]["schema"],
            Wire::OpenAi => &body["response_format"]["json_schema"]["schema"],
            Wire::Gemini => &body["generationConfig"]["responseJsonSchema"],
        };
        assert_eq!(*sent, schema, "{wire:?}: {body}");
        assert_eq!(body["tools"], Value::Null);
    }
}

#[test]
fn the_words_come_piece_by_piece() {
    for wire in WIRES {
        let service = ScriptedService::playing([Answer::text("one two")]);
        let pieces = Mutex::new(Vec::new());
        let take = |piece: &str| pieces.lock().unwrap().push(piece.to_owned());
        let reply = model(wire, &service).complete_streamed(&request(), &Cancel::default(), &take).unwrap();
        assert_eq!(reply.blocks, [Block::Text("one two".to_owned())]);
        assert_eq!(pieces.into_inner().unwrap(), ["one", " two"], "{wire:?}");
    }
}

#[test]
fn texts_become_vectors_in_their_order() {
    let service = ScriptedService::playing([Answer::text("").costing(7, 0)]);
    let texts = ["one".to_owned(), "two words".to_owned(), String::new()];
    let embedding = Embedder::embed(&model(Wire::OpenAi, &service), &texts, &Cancel::default()).unwrap();
    assert_eq!(embedding.vectors, [[3.0, 1.0], [9.0, 2.0], [0.0, 0.0]]);
    assert_eq!(embedding.usage, Usage { input: 7, ..Usage::default() });
    let asked = &service.asked()[0];
    assert_eq!(asked.path, "/v1/embeddings");
    assert_eq!(asked.json()["input"], json!(texts));
}
