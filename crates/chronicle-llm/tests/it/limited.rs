//! One piece of work takes so many requests and tokens, and no more.

use chronicle_llm::{Cancel, Limited, Model, ModelError, Progress, Reply, Request, Stop, Turn, Usage};

/// Answers whatever it is asked, for this many tokens.
struct Costing(u64);

impl Model for Costing {
    fn complete(&self, request: &Request, cancel: &Cancel) -> Result<Reply, ModelError> {
        self.complete_streamed(request, cancel, &|_| ())
    }

    fn complete_streamed(&self, _: &Request, _: &Cancel, _: Progress<'_>) -> Result<Reply, ModelError> {
        let usage = Usage { input: self.0, ..Usage::default() };
        Ok(Reply { blocks: Vec::new(), stop: Stop::End, usage })
    }

    fn calls_tools(&self) -> bool {
        true
    }

    fn context_tokens(&self) -> u64 {
        1_000
    }

    fn name(&self) -> &str {
        "costing"
    }
}

fn request() -> Request {
    Request { turns: vec![Turn::User("What is it for?".to_owned())], max_tokens: 100, ..Request::default() }
}

/// How many requests are answered, and why the next one is not.
fn answered(costing: u64, max_requests: u64, max_tokens: u64) -> (usize, String) {
    let (model, cancel) = (Costing(costing), Cancel::default());
    let limited = Limited::new(&model, max_requests, max_tokens);
    for n_answered in 0..1_000 {
        if let Err(error) = limited.complete(&request(), &cancel) {
            assert!(matches!(error, ModelError::Exhausted { .. }), "{error}");
            return (n_answered, error.to_string());
        }
    }
    panic!("there is no limit");
}

#[test]
fn requests_and_tokens_end() {
    let limit = |of: &str| format!("not asked: the limit of {of} for one commit is reached");
    assert_eq!(answered(10, 3, 1_000_000), (3, limit("3 requests")));
    assert_eq!(answered(10, 0, 1_000_000), (0, limit("0 requests")));
    // What is used counts, and before that the most that may be.
    let most = request().most_input_tokens() + 100;
    let tokens = format!("{} tokens", 4 * most);
    assert_eq!(answered(most, 1_000, 4 * most), (4, limit(&tokens)));
    assert_eq!(answered(2 * most, 1_000, 4 * most), (2, limit(&tokens)));
    assert_eq!(answered(1, 1_000, most - 1).0, 0);
}
