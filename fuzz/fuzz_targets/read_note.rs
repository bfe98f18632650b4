//! Any bytes are read as a note; what is read survives storage.

#![no_main]

use chronicle_core::read_note;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = read_note(bytes);
    let Some(line) = read.note.to_line("c0ffee") else { return };
    assert_eq!(line.matches('\n').count(), 1);
    let back = read_note(line.as_bytes());
    assert_eq!(back.remarks, []);
    assert_eq!(back.note.to_line("c0ffee").as_deref(), Some(line.as_str()));
    let both = read.note.clone().fold(back.note);
    assert_eq!(both.to_line("c0ffee"), Some(line));
});
