//! Any text is redacted, and once is enough.

#![no_main]

use chronicle_core::redaction::redact;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let once = redact(text);
    assert_eq!(once.found.is_empty(), once.text == text);
    let twice = redact(&once.text);
    assert_eq!(twice.text, once.text);
    assert!(twice.found.is_empty());
});
