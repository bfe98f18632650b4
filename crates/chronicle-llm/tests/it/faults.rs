use std::{
    thread,
    time::{Duration, Instant},
};

use chronicle_llm::{Access, Block, Cancel, Model, ModelError, Pace, Service, Stop, ToolResult, Turn, Wire};
use serde_json::json;
use testkit::{Answer, ScriptedService};

use crate::support::{KEY, WIRES, access, ask, model, pace, request};

#[test]
fn what_passes_is_asked_again() {
    for wire in WIRES {
        for status in [429, 500, 502, 503, 529] {
            let service = ScriptedService::playing([
                Answer::status(status, "busy"),
                Answer::status(status, "busy"),
                Answer::text("at last"),
            ]);
            let reply = ask(&model(wire, &service), &request()).unwrap();
            assert_eq!(reply.text(), "at last", "{wire:?} {status}");
            assert_eq!(service.asked().len(), 3);
        }
    }
}

#[test]
fn what_does_not_pass_is_not_asked_again() {
    for status in [400, 401, 403, 404, 413, 422] {
        let service = ScriptedService::playing([Answer::status(status, "no"), Answer::text("late")]);
        let error = ask(&model(Wire::Anthropic, &service), &request()).unwrap_err();
        assert!(
            matches!(&error, ModelError::Refused { status: told, reason, .. }
            if *told == status && reason == "no"),
            "{error}"
        );
        assert!(!error.may_cost());
        assert_eq!(service.asked().len(), 1);
    }
    let quota = Answer::status(429, "You exceeded your current quota: insufficient_quota");
    let service = ScriptedService::playing([quota, Answer::text("late")]);
    ask(&model(Wire::OpenAi, &service), &request()).unwrap_err();
    assert_eq!(service.asked().len(), 1);
}

#[test]
fn attempts_are_bounded() {
    let service = ScriptedService::answering(|_, _| Answer::status(503, "still busy"));
    let error = ask(&model(Wire::OpenAi, &service), &request()).unwrap_err();
    assert!(matches!(error, ModelError::Refused { status: 503, .. }), "{error}");
    assert_eq!(service.asked().len(), 5);
}

#[test]
fn the_wish_of_a_service_to_wait_is_granted() {
    for (name, value) in [("retry-after", "1"), ("retry-after-ms", "1000")] {
        let busy = Answer::status(429, "slow down").with_header(name, value);
        let service = ScriptedService::playing([busy, Answer::text("at last")]);
        let began = Instant::now();
        assert_eq!(ask(&model(Wire::Anthropic, &service), &request()).unwrap().text(), "at last");
        assert!(Duration::from_secs(1) <= began.elapsed(), "{name}");
    }
}

#[test]
fn a_wish_beyond_the_time_that_is_left_ends_the_call_at_once() {
    let busy = Answer::status(429, "slow down").with_header("retry-after", "3600");
    let service = ScriptedService::playing([busy]);
    let began = Instant::now();
    let error = ask(&model(Wire::Anthropic, &service), &request()).unwrap_err();
    assert!(matches!(error, ModelError::Refused { status: 429, .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_overload_in_the_middle_of_a_reply_is_asked_again() {
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let service = ScriptedService::playing([Answer::raw([error]), Answer::text("at last")]);
    assert_eq!(ask(&model(Wire::Anthropic, &service), &request()).unwrap().text(), "at last");
}

#[test]
fn a_reply_that_breaks_off_is_none_and_is_not_asked_again() {
    for wire in WIRES {
        for answer in [
            Answer::text("the first half of it").cut_after(2),
            Answer::text("the first half of it").ending_after(2),
            Answer::raw(["<html>Sign in to the network</html>"]),
            Answer::raw([""]),
        ] {
            let service = ScriptedService::playing([answer.clone(), Answer::text("late")]);
            let error = ask(&model(wire, &service), &request()).unwrap_err();
            assert!(matches!(error, ModelError::BrokenOff { .. }), "{wire:?} {answer:?}: {error}");
            assert!(error.may_cost());
            assert_eq!(service.asked().len(), 1, "{wire:?}");
        }
    }
}

#[test]
fn what_is_no_json_is_said_to_be_none() {
    for wire in WIRES {
        let event = "event: content_block_delta\ndata: {\"choices\": [{\"delta\": \n\n";
        let service = ScriptedService::playing([Answer::raw([event])]);
        let error = ask(&model(wire, &service), &request()).unwrap_err();
        assert!(matches!(error, ModelError::Unreadable { .. }), "{wire:?}: {error}");
    }
}

#[test]
fn a_slow_reply_ends_at_the_timeout() {
    for wire in WIRES {
        let service = ScriptedService::playing([Answer::text("the first half of it").hanging_after(1)]);
        let pace = Pace { timeout: Duration::from_millis(300), ..pace() };
        let model = Service::new(access(wire, &service.url()), pace, 1).unwrap();
        let began = Instant::now();
        let error = ask(&model, &request()).unwrap_err();
        assert_eq!(error.to_string(), "scripted gave no complete reply within 300ms", "{wire:?}");
        assert!(began.elapsed() < Duration::from_secs(3), "{wire:?}");
    }
}

#[test]
fn a_call_ends_soon_when_it_is_called_off() {
    for answer in [
        Answer::text("the first half of it").hanging_after(0),
        Answer::text("the first half of it").hanging_after(2),
        Answer::status(429, "slow down").with_header("retry-after", "10"),
    ] {
        let service = ScriptedService::playing([answer]);
        let model = model(Wire::OpenAi, &service);
        let cancel = Cancel::default();
        let called_off = thread::scope(|scope| {
            let call = scope.spawn(|| {
                let result = model.complete(&request(), &cancel);
                (result, Instant::now())
            });
            // Not before the service has heard of it.
            while service.asked().is_empty() {
                thread::yield_now();
            }
            let called_off = Instant::now();
            cancel.cancel();
            let (result, ended) = call.join().unwrap();
            assert!(matches!(result, Err(ModelError::Cancelled)), "{result:?}");
            ended.duration_since(called_off)
        });
        assert!(called_off < Duration::from_millis(100), "{called_off:?}");
    }
    let service = ScriptedService::playing([]);
    let cancel = Cancel::default();
    cancel.cancel();
    model(Wire::OpenAi, &service).complete(&request(), &cancel).unwrap_err();
    assert!(service.asked().is_empty());
}

#[test]
fn arguments_that_are_no_json_come_as_a_string_and_do_not_spoil_the_next_turn() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let bad = Answer::malformed_call("get_diff", r#"{"path": "src/po"#);
        let service = ScriptedService::playing([bad.saying("I look."), Answer::text("done")]);
        let model = model(wire, &service);
        let mut request = request();
        let reply = ask(&model, &request).unwrap();
        let call = reply.calls().next().unwrap().clone();
        assert_eq!(call.input, json!(r#"{"path": "src/po"#), "{wire:?}");
        let text = "these are no arguments".to_owned();
        let failed = ToolResult { id: call.id, tool: call.tool, text, is_error: true };
        request.turns.extend([Turn::Model(reply.blocks), Turn::Results(vec![failed])]);
        assert_eq!(ask(&model, &request).unwrap().text(), "done");
        let body = service.asked()[1].json();
        let sent = match wire {
            Wire::Anthropic => body["messages"][1]["content"][1]["input"] == json!({}),
            _ => body["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}",
        };
        assert!(sent, "{wire:?}: {body}");
    }
}

#[test]
fn a_tool_that_nobody_offered_is_told_as_it_came() {
    for wire in WIRES {
        let service = ScriptedService::playing([Answer::calls([("rm_rf", json!({ "path": 7 }))])]);
        let reply = ask(&model(wire, &service), &request()).unwrap();
        let call = reply.calls().next().unwrap();
        assert_eq!((call.tool.as_str(), &call.input), ("rm_rf", &json!({ "path": 7 })), "{wire:?}");
    }
}

#[test]
fn a_long_answer_comes_whole() {
    let words = "Größe und Länge. ".repeat(12_000);
    for wire in WIRES {
        let long = Answer::calls([("emit_wisdom", json!({ "content": words }))]).saying(words.as_str());
        let service = ScriptedService::playing([long]);
        let reply = ask(&model(wire, &service), &request()).unwrap();
        assert!(reply.text() == words && reply.calls().next().unwrap().input["content"] == words, "{wire:?}");
    }
}

#[test]
fn a_reply_that_does_not_end_is_given_up() {
    let piece =
        format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": "x".repeat(1 << 20) } }] }));
    let service = ScriptedService::playing([Answer::raw(vec![piece; 20])]);
    let error = ask(&model(Wire::OpenAi, &service), &request()).unwrap_err();
    assert!(matches!(error, ModelError::Unreadable { .. }), "{error}");
}

#[test]
fn a_refusal_is_told_with_its_words() {
    for wire in WIRES {
        let service = ScriptedService::playing([Answer::refusal("I won't write that.")]);
        let reply = ask(&model(wire, &service), &request()).unwrap();
        assert_eq!(reply.stop, Stop::Refusal, "{wire:?}");
        // Gemini gives none.
        let expected = if wire == Wire::Gemini { "" } else { "I won't write that." };
        assert_eq!(reply.text(), expected, "{wire:?}");
        assert_eq!(service.asked().len(), 1);
    }
}

#[test]
fn a_reply_that_was_cut_at_its_limit_says_so() {
    for wire in WIRES {
        let service = ScriptedService::playing([Answer::text("and then the").at_max_tokens()]);
        let reply = ask(&model(wire, &service), &request()).unwrap();
        assert_eq!(reply.stop, Stop::MaxTokens, "{wire:?}");
        assert_eq!(reply.blocks, [Block::Text("and then the".to_owned())], "{wire:?}");
    }
}

#[test]
fn vectors_that_are_too_few_are_none() {
    let answer = r#"{"data":[{"index":0,"embedding":[1.0]}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}"#;
    let service =
        ScriptedService::playing([Answer::raw([answer]).with_header("content-type", "application/json")]);
    let texts = ["one".to_owned(), "two".to_owned()];
    let model = model(Wire::OpenAi, &service);
    let error = chronicle_llm::Embedder::embed(&model, &texts, &Cancel::default()).unwrap_err();
    assert!(matches!(error, ModelError::Unreadable { .. }), "{error}");
}

#[test]
fn no_key_is_in_any_error() {
    for wire in WIRES {
        let words =
            format!("Incorrect API key provided: {KEY}; also\u{1b}[2J sk-ant-api03-{}", "Ab1-".repeat(20));
        for answer in
            [Answer::status(401, &words), Answer::raw([format!("data: {{\"error\":\"{KEY}\"}}\n\n")])]
        {
            let service = ScriptedService::playing([answer]);
            let model = model(wire, &service);
            let error = ask(&model, &request()).unwrap_err();
            let told = format!("{error} {error:?} {model:?}");
            assert!(!told.contains(KEY) && !told.contains("Ab1-Ab1-"), "{wire:?}: {told}");
            assert!(!error.to_string().contains('\u{1b}'), "{wire:?}");
        }
    }
}

#[test]
fn an_address_that_keys_must_not_go_to_is_refused() {
    let check = |address: &str| {
        let access = Access { base_url: Some(address.to_owned()), ..access(Wire::OpenAi, "") };
        let error = Service::new(access, pace(), 1).unwrap_err();
        assert!(matches!(error, ModelError::Unusable { .. }), "{address}: {error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    };
    check("");
    check("localhost");
    check("file:///etc/passwd");
    check("https://ada:hunter2@example.com/v1");
    check("https://example.com/v1?key=hunter2");
}
