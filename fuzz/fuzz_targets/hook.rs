//! Payloads of agents' hooks, whatever they are: the answer is JSON or nothing, and hides nothing.

#![no_main]

use std::{ffi::OsString, path::Path};

use chronicle::Chronicle;
use chronicle_fuzz::{assert_shown, environment, now, on_ground, placed};
use chronicle_serve::hooks::{AgentEvent, Behind, Host, Surroundings, answer};
use chronicle_workplace::Workplace;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const UNATTENDED: &str = chronicle_workplace::UNATTENDED;

// The first byte is the agent and the event.
fuzz_target!(|input: &[u8]| {
    let Some((first, payload)) = input.split_first() else { return };
    let host = Host::ALL[usize::from(*first) / AgentEvent::ALL.len() % Host::ALL.len()];
    let (_, event) = AgentEvent::ALL[usize::from(*first) % AgentEvent::ALL.len()];
    on_ground(|repo| check(repo, host, event, &placed(payload, repo)));
});

fn check(repo: &Path, host: Host, event: AgentEvent, payload: &[u8]) {
    let chronicle = Chronicle::new(Workplace::new(repo, now(), true).with_environment(in_hook));
    let given = answer(&chronicle, Surroundings { environment: in_hook }, host, event, payload);
    assert!(
        given.stdout.is_empty() || serde_json::from_str::<Value>(&given.stdout).is_ok(),
        "{}",
        given.stdout
    );
    assert_shown(&given.stdout);
    match given.behind {
        Some(Behind::SessionEnd(id)) => assert!(chronicle::is_session_id(&id)),
        Some(Behind::SessionStart) => assert_eq!(event, AgentEvent::SessionStart),
        Some(Behind::Queue) | None => {}
    }
}

fn in_hook(name: &str) -> Option<OsString> {
    if name == UNATTENDED { Some("1".into()) } else { environment(name) }
}
