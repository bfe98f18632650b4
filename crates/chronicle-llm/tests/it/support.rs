use std::time::Duration;

use chronicle_llm::{
    Access, Cancel, Key, Model, ModelError, Pace, Proxies, Reply, Request, Service, Tool, ToolChoice, Turn,
    Wire,
};
use serde_json::json;
use testkit::ScriptedService;

pub(crate) const WIRES: [Wire; 3] = [Wire::Anthropic, Wire::OpenAi, Wire::Gemini];
/// A key in the shape of the real ones.
pub(crate) const KEY: &str = "sk-proj-T3stT3stT3stT3stT3stT3st";

pub(crate) fn access(wire: Wire, url: &str) -> Access {
    // The OpenAI wire is told the version; the others know it.
    let base_url = Some(if wire == Wire::OpenAi { format!("{url}/v1") } else { url.to_owned() });
    let model = "scripted".to_owned();
    Access { wire, model, base_url, key: Some(Key::new(KEY)), proxies: Proxies::default() }
}

pub(crate) fn pace() -> Pace {
    let first_pause = Duration::from_millis(5);
    Pace { first_pause, ..Pace::within(Duration::from_secs(20)) }
}

pub(crate) fn model(wire: Wire, service: &ScriptedService) -> Service {
    Service::new(access(wire, &service.url()), pace(), 100_000).expect("its address is one")
}

pub(crate) fn ask(model: &dyn Model, request: &Request) -> Result<Reply, ModelError> {
    model.complete(request, &Cancel::default())
}

/// A question with two tools.
pub(crate) fn request() -> Request {
    let tool = |name: &str| Tool {
        name: name.to_owned(),
        description: format!("Does what `{name}` says"),
        input: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
    };
    Request {
        system: "You say why code is as it is.".to_owned(),
        turns: vec![Turn::User("Why is the pool so small?".to_owned())],
        tools: vec![tool("get_diff"), tool("emit_wisdom")],
        tool_choice: ToolChoice::Required,
        form: None,
        max_tokens: 500,
    }
}
