//! Every text passes the gate before it is stored, shown or sent: nothing hidden is left of it, and once is enough.

#![no_main]

use chronicle_core::{
    redaction::{Removed, cleaned_in_lines, for_storage, named_for_storage},
    shown_json, shown_path, without_commands,
};
use chronicle_fuzz::assert_shown;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let mut removed = Removed::default();
    let once = for_storage(text, &mut removed);
    assert_shown(&once);
    let mut more = Removed::default();
    assert_eq!(for_storage(&once, &mut more), once);
    assert_eq!(more, Removed::default(), "{once:?}");
    for name in ["content", "password", "api_key"] {
        let named = named_for_storage(name, text, &mut removed).into_owned();
        assert_shown(&named);
        assert_eq!(named_for_storage(name, &named, &mut more), named);
    }
    let lines = cleaned_in_lines(text);
    assert_shown(&lines);
    assert_eq!(lines.matches('\n').count(), text.matches('\n').count());
    let path = shown_path(text);
    assert_shown(&path);
    assert!(!path.contains(['\n', '\t']));
    assert_eq!(shown_path(&path), path);
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        assert_eq!(serde_json::from_str::<Value>(&shown_json(text)).ok(), Some(value));
    }
    let safe = without_commands(text);
    assert_eq!(without_commands(&safe), safe);
});
