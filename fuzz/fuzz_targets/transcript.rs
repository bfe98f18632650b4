//! Transcripts of every form, however broken: each row is accounted for, and what is made of the turns holds its limits.

#![no_main]

use chronicle_sessions::{Format, Journal, digest, read, thread_events};
use libfuzzer_sys::fuzz_target;

const FORMATS: [Format; 17] = [
    Format::Claude,
    Format::GeminiDocument,
    Format::GeminiRows,
    Format::Codex,
    Format::Copilot,
    Format::OpenCode,
    Format::Generic,
    Format::CursorRows,
    Format::CursorDatabase,
    Format::Qwen,
    Format::Kimi,
    Format::Droid,
    Format::GooseRows,
    Format::GooseDatabase,
    Format::Cline,
    Format::Amp,
    Format::Zed,
];

fuzz_target!(|file: &[u8]| {
    let forms = FORMATS.map(Some).into_iter().chain([None]);
    for format in forms {
        let mut journal = Journal::new(Some("session"));
        let mut check = |turn: &chronicle_sessions::Turn<'_>, _: &chronicle_sessions::Session| {
            assert!(turn.place.bytes.start <= turn.place.bytes.end);
            assert!(turn.place.bytes.end <= file.len() as u64);
            journal.take(turn);
        };
        let Some(reading) = read(file, format, &mut check).expect("bytes can be read") else { continue };
        let tally = &reading.tally;
        assert_eq!(tally.n_rows, tally.n_kept + tally.n_skipped() + tally.n_unreadable);
        assert!(reading.end.bytes.start <= file.len() as u64);
        let digest = digest(&journal, &reading.session);
        assert!(digest.title.chars().count() <= 60);
        let _ = thread_events(&journal, &reading.session, "project", &[]);
    }
});
