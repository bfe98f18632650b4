//! A transcript that is kept for good holds nothing that must not be stored, and keeping it again changes no word.

#![no_main]

use chronicle_core::redaction::{Removed, for_storage};
use chronicle_sessions::{keep, unpack};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|file: &[u8]| {
    let once = kept(file);
    let mut words = words(&once);
    for text in &words {
        let mut removed = Removed::default();
        assert_eq!(for_storage(text, &mut removed), **text);
        assert_eq!(removed, Removed::default(), "{text:?}");
    }
    words.retain(|text| !text.trim().is_empty());
    let mut again = self::words(&kept(&once));
    again.retain(|text| !text.trim().is_empty());
    assert_eq!(again, words);
});

fn kept(mut file: &[u8]) -> Vec<u8> {
    let (mut packed, mut text) = (Vec::new(), Vec::new());
    let length = keep(&mut file, &mut packed).expect("bytes can be read and written");
    assert_eq!(unpack(&mut &packed[..], &mut text).ok(), Some(length));
    text
}

/// All texts of rows, with the names of members, and lines that are no rows.
fn words(kept: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    for line in kept.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(value) => gather(&value, &mut words),
            Err(_) => words.push(String::from_utf8(line.to_vec()).expect("text is kept")),
        }
    }
    words
}

fn gather(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) => words.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| gather(value, words)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            words.push(name.clone());
            gather(value, words);
        }),
        _ => {}
    }
}
