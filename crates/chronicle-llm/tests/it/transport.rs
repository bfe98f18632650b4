use std::{
    io::{Read, Write},
    net::TcpListener,
    time::{Duration, Instant},
};

use chronicle_llm::{Access, ModelError, Pace, Proxies, Service, Wire};
use testkit::{Answer, ScriptedService};

use crate::support::{KEY, WIRES, access, ask, model, pace, request};

#[test]
fn a_service_that_is_not_there_is_said_to_be_out_of_reach() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = Service::new(access(Wire::Anthropic, &format!("http://{gone}")), pace(), 1).unwrap();
    let error = ask(&model, &request()).unwrap_err();
    assert!(
        matches!(&error, ModelError::Unreachable { reason, .. } if reason.contains("refused")),
        "{error}"
    );
    assert!(!error.may_cost());
}

#[test]
fn a_redirect_is_not_followed_with_the_key() {
    for wire in WIRES {
        let thief = ScriptedService::playing([Answer::text("thanks")]);
        let away = Answer::status(307, "moved").with_header("location", &thief.url());
        let service = ScriptedService::playing([away]);
        let error = ask(&model(wire, &service), &request()).unwrap_err();
        assert!(matches!(error, ModelError::Refused { status: 307, .. }), "{error}");
        assert!(thief.asked().is_empty());
    }
}

#[test]
fn a_proxy_is_used_for_other_machines_and_not_for_this_one() {
    let proxy = ScriptedService::playing([Answer::text("through the proxy")]);
    let through = |url: &str| {
        let proxies = Proxies { http: Some(proxy.url()), ..Proxies::default() };
        let access = Access { proxies, ..access(Wire::Anthropic, url) };
        ask(&Service::new(access, pace(), 1).unwrap(), &request())
    };
    assert_eq!(through("http://model.example").unwrap().text(), "through the proxy");
    assert_eq!(proxy.asked()[0].path, "http://model.example/v1/messages");
    let here = ScriptedService::playing([Answer::text("straight")]);
    assert_eq!(through(&here.url()).unwrap().text(), "straight");
    let excepted =
        Proxies { http: Some(proxy.url()), except: Some("model.invalid".to_owned()), ..Proxies::default() };
    let access = Access { proxies: excepted, ..access(Wire::Anthropic, "http://model.invalid") };
    let error = ask(&Service::new(access, pace(), 1).unwrap(), &request()).unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error}");
    assert_eq!(proxy.asked().len(), 1);
}

#[test]
fn a_proxy_that_refuses_and_one_that_is_none_are_told() {
    let proxy = ScriptedService::answering(|_, _| Answer::status(407, "who are you?"));
    let check = |proxies: Proxies, url: &str| {
        let access = Access { proxies, ..access(Wire::Anthropic, url) };
        ask(&Service::new(access, pace(), 1).unwrap(), &request()).unwrap_err()
    };
    let refusing = || Proxies { http: Some(proxy.url()), https: Some(proxy.url()), ..Proxies::default() };
    let error = check(refusing(), "http://model.example");
    assert!(matches!(error, ModelError::Refused { status: 407, .. }), "{error}");
    let error = check(refusing(), "https://model.example");
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error}");
    let none = Proxies { http: Some("http://pass:word@[".to_owned()), ..Proxies::default() };
    let error = check(none, "http://model.example");
    assert_eq!(error.to_string(), "scripted cannot be used: the address of its http proxy isn't valid");
}

#[test]
fn many_calls_at_once_share_one_model_also_from_within_a_runtime() {
    let service = ScriptedService::answering(|_, asked| {
        let words = asked.json()["messages"][1]["content"].as_str().unwrap_or_default().to_owned();
        Answer::text(words)
    });
    let model = model(Wire::OpenAi, &service);
    let ask_number = |number: usize| {
        let mut request = request();
        request.turns = vec![chronicle_llm::Turn::User(format!("number {number}"))];
        assert_eq!(ask(&model, &request).unwrap().text(), format!("number {number}"));
    };
    let began = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || ask_number(number));
        }
    });
    assert!(began.elapsed().as_secs() < 10);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // An agent's server has one of its own.
    runtime.block_on(async { ask_number(16) });
    assert_eq!(service.asked().len(), 17);
    runtime.block_on(async { drop(model) });
    assert!(service.asked().iter().all(|asked| asked.header("authorization").unwrap().contains(KEY)));
}

/// Sends `head`, and `piece` again and again until the other side hangs up; for each connection.
fn endless(head: &'static str, piece: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("it connects");
            std::thread::spawn(move || {
                let pieces = piece.repeat(1 + (64 << 10) / piece.len());
                let _is_read = stream.read(&mut [0; 64 << 10]);
                let mut sent = stream.write_all(head.as_bytes());
                while sent.is_ok() {
                    sent = stream.write_all(pieces.as_bytes());
                }
            });
        }
    });
    url
}

#[test]
fn a_reply_without_an_end_ends_in_time_and_the_next_call_is_made() {
    const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    const REFUSAL: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\r\n";
    for (head, piece) in [(STREAM, "A"), (STREAM, "\n"), (STREAM, ": ping\n\n"), (REFUSAL, "A")] {
        let pace = Pace { timeout: Duration::from_secs(1), ..pace() };
        let model = Service::new(access(Wire::Anthropic, &endless(head, piece)), pace, 1).unwrap();
        for _ in 0..2 {
            let error = ask(&model, &request()).unwrap_err();
            // A fast machine gets more than it takes before the second is over.
            let is_ended = matches!(error, ModelError::TooSlow { .. } | ModelError::Unreadable { .. });
            assert!(is_ended, "{head}{piece}: {error}");
        }
    }
}

#[test]
fn compressed_replies_are_not_asked_for() {
    let service = ScriptedService::playing([Answer::text("plain")]);
    assert_eq!(ask(&model(Wire::Anthropic, &service), &request()).unwrap().text(), "plain");
    assert_eq!(service.asked()[0].header("accept-encoding"), None);
}

#[test]
fn a_reply_with_too_many_calls_of_tools_is_refused() {
    let calls = |n| Answer::calls(std::iter::repeat_n(("get_diff", serde_json::json!({"path": "a"})), n));
    for wire in WIRES {
        let service = ScriptedService::playing([calls(3), calls(1000)]);
        let model = model(wire, &service);
        assert_eq!(ask(&model, &request()).unwrap().blocks.len(), 3);
        let error = ask(&model, &request()).map(|reply| reply.blocks.len()).unwrap_err();
        assert!(matches!(error, ModelError::Unreadable { .. }), "{wire:?}: {error}");
    }
}
