//! Secrets go out of the notes of others, and what programs made stays: ids, hashes and sketches.

#![no_main]

use chronicle_core::{
    EntryId, LineRange, Lines, Sketch, is_session_id, redact_note,
    redaction::{Removed, named_for_storage},
};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    if let Some((redacted, found)) = redact_note(bytes) {
        assert!(!found.is_empty());
        assert_eq!(redact_note(&redacted), None, "{}", String::from_utf8_lossy(&redacted));
    }

    let text = String::from_utf8_lossy(bytes);
    let lines = Lines::new(bytes);
    let Ok(range) = LineRange::new(1, lines.count().max(1)) else { return };
    let sketch = Sketch::of(&lines, range);
    assert!(sketch.hashes().is_some_and(|hashes| hashes.len() <= 64) && !sketch.is_damaged());
    let id = EntryId::derived("chronicle/v3", "gotcha", &text, None, Some(range));
    assert!(is_session_id(&id.0));
    let made = |content: &str| json!({ "id": id, "content": content, "sketch": sketch, "around": sketch });
    let note = json!({ "schema": "chronicle/v3", "wisdom": [made(&text)] });
    let mut removed = Removed::default();
    let kept = named_for_storage("content", &text, &mut removed);
    let expected = json!({ "schema": "chronicle/v3", "wisdom": [made(&kept)] });
    match redact_note(note.to_string().as_bytes()) {
        Some((redacted, found)) => {
            assert_eq!(found, removed.kinds());
            assert_eq!(serde_json::from_slice::<Value>(&redacted).ok(), Some(expected));
        }
        None => assert_eq!(removed, Removed::default()),
    }
});
