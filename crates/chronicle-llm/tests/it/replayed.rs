use chronicle_llm::{Key, Service, Wire};
use testkit::{Answer, Cassette, ScriptedService};

use crate::support::{KEY, WIRES, access, ask, pace, request};

#[test]
fn what_was_recorded_is_answered_again_and_no_key_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    for wire in WIRES {
        let file = dir.path().join("recording.json");
        let service = ScriptedService::playing([
            Answer::status(429, &format!("{KEY} is too fast")).with_header("retry-after-ms", "1"),
            Answer::text("Größe").with_header("set-cookie", "session=4711"),
        ]);
        let said = |url: &str, key: &str| {
            let mut access = access(wire, url);
            access.key = Some(Key::new(key));
            let mut request = request();
            request.system = format!("My key is {key}.");
            ask(&Service::new(access, pace(), 1).unwrap(), &request).unwrap().text()
        };
        let recording = Cassette::record(&file, &service.url());
        assert_eq!(said(&recording.url(), KEY), "Größe", "{wire:?}");
        drop(recording);
        let kept = std::fs::read_to_string(&file).unwrap();
        assert!(!kept.contains(KEY) && !kept.contains("4711") && kept.contains("REDACTED"), "{kept}");
        let replay = Cassette::replay(&file);
        // Another key makes no difference: none is compared.
        assert_eq!(said(&replay.url(), "another-key"), "Größe", "{wire:?}");
        assert_eq!(service.asked().len(), 2);
    }
}

#[test]
fn a_request_that_was_not_recorded_is_told_and_fails_the_test() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("recording.json");
    let service = ScriptedService::playing([Answer::text("ok")]);
    let asked_of = |url: &str, words: &str| {
        let mut request = request();
        request.system = words.to_owned();
        ask(&Service::new(access(Wire::Anthropic, url), pace(), 1).unwrap(), &request)
    };
    asked_of(&Cassette::record(&file, &service.url()).url(), "recorded")
        .unwrap_or_else(|error| panic!("{error}"));
    let replay = Cassette::replay(&file);
    asked_of(&replay.url(), "not recorded").unwrap_err();
    let missing = replay.missing();
    assert!(missing[0].contains("recording.json has no recording of"), "{missing:?}");
    assert!(missing[0].contains("not recorded") && !missing[0].contains(KEY), "{missing:?}");
    asked_of(&replay.url(), "recorded").unwrap();
    // Each is played once.
    asked_of(&replay.url(), "recorded").unwrap_err();
    let fails = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(replay)));
    assert!(fails.is_err());
}
