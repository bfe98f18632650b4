//! A real model on this machine, where `tests/acceptance/model` started one; without, each test says that it is skipped.

use std::{sync::Mutex, thread, time::Duration};

use chronicle_llm::{
    Access, Cancel, Form, Model, ModelError, Pace, Proxies, Request, Service, Stop, Turn, Wire,
};
use serde_json::{Value, json};

/// The model behind each wire that its server speaks.
fn models(timeout: Duration) -> Vec<Service> {
    #[expect(clippy::disallowed_methods, reason = "the lane says where its model listens")]
    let Ok(url) = std::env::var("CHRONICLE_LOCAL_MODEL") else {
        #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("skipped: CHRONICLE_LOCAL_MODEL names no server");
        }
        return Vec::new();
    };
    let model = |wire: Wire| {
        let base_url = Some(if wire == Wire::OpenAi { format!("{url}/v1") } else { url.clone() });
        let model = "smollm2".to_owned();
        let access = Access { wire, model, base_url, key: None, proxies: Proxies::default() };
        Service::new(access, Pace::within(timeout), 4_096).expect("its address is one")
    };
    [Wire::OpenAi, Wire::Anthropic].map(model).into()
}

fn asking(words: &str, max_tokens: u32) -> Request {
    Request {
        system: "You are a helpful assistant.".to_owned(),
        turns: vec![Turn::User(words.to_owned())],
        max_tokens,
        ..Request::default()
    }
}

const PATIENCE: Duration = Duration::from_secs(180);

#[test]
fn an_answer_has_the_form_that_was_asked_for() {
    // Of the two wires only OpenAI's takes a form from this server.
    for model in models(PATIENCE).into_iter().take(1) {
        let schema = json!({
            "type": "object",
            "properties": {
                "file": { "enum": ["src/pool.rs", "src/backoff.rs"] },
                "reason": { "type": "string", "maxLength": 80 },
            },
            "required": ["file", "reason"],
            "additionalProperties": false,
        });
        let request = Request {
            form: Some(Form { name: "lesson".to_owned(), schema }),
            ..asking(
                "Commit: src/pool.rs now keeps seven connections, because the server drops the eighth.",
                300,
            )
        };
        let reply = model.complete(&request, &Cancel::default()).unwrap();
        assert_eq!(reply.stop, Stop::End, "{reply:?}");
        let answer: Value = serde_json::from_str(&reply.text()).unwrap();
        assert!(["src/pool.rs", "src/backoff.rs"].contains(&answer["file"].as_str().unwrap()), "{answer}");
        assert!(answer["reason"].as_str().unwrap().chars().count() <= 80, "{answer}");
    }
}

#[test]
fn words_come_piece_by_piece_and_are_counted() {
    for model in models(PATIENCE) {
        let pieces = Mutex::new(Vec::new());
        let take = |piece: &str| pieces.lock().unwrap().push(piece.to_owned());
        let request = asking("Say hello to Ada, in one short sentence.", 200);
        let reply = model.complete_streamed(&request, &Cancel::default(), &take).unwrap();
        let pieces = pieces.into_inner().unwrap();
        assert!(1 < pieces.len(), "{pieces:?}");
        assert_eq!(pieces.concat(), reply.text());
        assert!(
            0 < reply.usage.input + reply.usage.cache_read && 0 < reply.usage.output,
            "{:?}",
            reply.usage
        );
    }
}

#[test]
fn a_reply_is_cut_at_its_limit() {
    for model in models(PATIENCE) {
        let reply = model.complete(&asking("Tell a long story.", 8), &Cancel::default()).unwrap();
        assert_eq!((reply.stop, reply.usage.output), (Stop::MaxTokens, 8));
    }
}

/// What the model reads for some time before it can say anything, however short its answer may be; the server remembers
/// how what it has read begins, so `opening` has to be new.
fn reading_long(opening: &str) -> Request {
    asking(&format!("{opening} {}", "word ".repeat(800)), 20)
}

#[test]
fn what_takes_too_long_ends_and_leaves_the_server_free() {
    for (model, opening) in models(Duration::from_millis(100)).into_iter().zip(["One", "Two"]) {
        let error = model.complete(&reading_long(opening), &Cancel::default());
        assert!(matches!(error, Err(ModelError::TooSlow { .. })), "{error:?}");
    }
    for (model, opening) in models(PATIENCE).into_iter().zip(["Three", "Four"]) {
        let cancel = Cancel::default();
        let error = thread::scope(|scope| {
            let call = scope.spawn(|| model.complete(&reading_long(opening), &cancel));
            thread::sleep(Duration::from_millis(100));
            cancel.cancel();
            call.join().unwrap()
        });
        assert!(matches!(error, Err(ModelError::Cancelled)), "{error:?}");
        // It has one place only.
        model.complete(&asking("Say hello.", 5), &Cancel::default()).unwrap();
    }
}

#[test]
fn a_request_that_is_too_long_is_refused_with_the_servers_words() {
    for model in models(PATIENCE) {
        let error = model.complete(&asking(&"word ".repeat(8_000), 5), &Cancel::default()).unwrap_err();
        assert!(
            matches!(&error, ModelError::Refused { status: 400, reason, .. } if reason.contains("context")),
            "{error}"
        );
    }
}
