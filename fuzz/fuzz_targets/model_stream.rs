//! What a model's service streams: a reply within its limits or an error without anything hidden, however it is cut into
//! pieces.

#![no_main]

use std::{
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use chronicle_fuzz::assert_shown;
use chronicle_llm::{Access, Cancel, Model, Pace, Proxies, Reply, Request, Service, Stop, Turn, Wire};
use libfuzzer_sys::fuzz_target;
use testkit::{Answer, ScriptedService};

const WIRES: [(Wire, &str); 3] = [(Wire::Anthropic, "/v1"), (Wire::OpenAi, "/v1"), (Wire::Gemini, "/v1beta")];

static NEXT: LazyLock<Arc<Mutex<Vec<Vec<u8>>>>> = LazyLock::new(Arc::default);

static SERVICES: LazyLock<[Service; 3]> = LazyLock::new(|| {
    let next = Arc::clone(&NEXT);
    let server =
        ScriptedService::answering(move |_, _| Answer::raw(next.lock().expect("nobody panicked").clone()));
    let url = server.url();
    // It serves until the process ends.
    std::mem::forget(server);
    WIRES.map(|(wire, path)| {
        let access = Access {
            wire,
            model: "m".to_owned(),
            base_url: Some(format!("{url}{path}")),
            key: None,
            proxies: Proxies::default(),
        };
        let pace = Pace { n_attempts: 1, ..Pace::within(Duration::from_secs(5)) };
        Service::new(access, pace, 100_000).expect("this machine may be asked")
    })
});

// The first byte is the interface, the second how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let [wire, length, stream @ ..] = input else { return };
    let service = &SERVICES[usize::from(*wire) % WIRES.len()];
    let whole = said(service, vec![stream.to_vec()]);
    if length % 4 == 0 {
        let cut = said(service, stream.chunks(usize::from(*length).max(1)).map(<[u8]>::to_vec).collect());
        // Of several faults, the client library names the one that it comes upon first.
        assert_eq!(cut.as_ref().ok(), whole.as_ref().ok());
    }
    match whole {
        Ok(reply) => {
            assert!(reply.blocks.len() <= 256);
            if let Stop::Other(why) = reply.stop {
                assert_shown(&why);
            }
        }
        Err(words) => assert_shown(&words),
    }
});

fn said(service: &Service, pieces: Vec<Vec<u8>>) -> Result<Reply, String> {
    *NEXT.lock().expect("nobody panicked") = pieces;
    let request =
        Request { turns: vec![Turn::User("Why?".to_owned())], max_tokens: 10, ..Request::default() };
    service.complete(&request, &Cancel::default()).map_err(|error| error.to_string())
}
