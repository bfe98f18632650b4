//! Transcripts that are damaged, hostile, or not there yet.

use std::io::{self, Read};

use chronicle_sessions::{FaultKind, Format, LONGEST_ROW, Place, read, read_from};
use proptest::prelude::*;

use crate::support::{all_words, told, told_as};

const PROMPT: &str =
    r#"{"type":"user","uuid":"u1","timestamp":"2026-03-01T12:00:00Z","message":{"content":"hello"}}"#;

fn check_tally(file: &[u8], n_kept: u64, kinds: &[FaultKind]) {
    let (reading, _) = told_as(file, Some(Format::Claude));
    let tally = reading.tally;
    assert_eq!(tally.n_kept, n_kept, "{tally:?}");
    assert_eq!(tally.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), kinds);
    assert_eq!(tally.n_rows, tally.n_kept + tally.n_skipped() + tally.n_unreadable);
}

#[test]
fn garbage_between_rows_is_counted() {
    check_tally(
        format!("\u{0}\u{1}garbage\n{PROMPT}\n[1,2]\n\"word\"\n").as_bytes(),
        1,
        &[FaultKind::NotJson; 3],
    );
    check_tally(&[b"\xff\xfe\x00", PROMPT.as_bytes()].concat(), 0, &[FaultKind::NotJson]);
    check_tally(format!("{PROMPT}{PROMPT}\r\n\r\n\n").as_bytes(), 1, &[]);
    check_tally(format!("{PROMPT}}}\n").as_bytes(), 1, &[FaultKind::NotJson]);
    check_tally(b"", 0, &[]);
}

#[test]
fn a_line_may_hold_very_many_rows() {
    // Each one is read once: looking at all that follows for each would take hours.
    let n_rows = 100_000;
    for row in [PROMPT, r#"{"type":"progress"}"#] {
        for damage in [&b""[..], b"\xff"] {
            let file = [row.repeat(n_rows).as_bytes(), damage].concat();
            let (reading, _) = told_as(&file[..], Some(Format::Claude));
            assert_eq!(reading.tally.n_rows, (n_rows + damage.len()) as u64);
        }
    }
}

#[test]
fn bytes_that_are_no_utf_8_are_replaced_and_reported() {
    let (before, after) = PROMPT.split_at(PROMPT.find("llo").unwrap());
    let file = [before.as_bytes(), b"\xff\xfe", after.as_bytes(), b"\n"].concat();
    let (reading, turns) = told(&file);
    assert!(turns[0].words.contains('\u{fffd}'), "{}", turns[0].words);
    assert_eq!((reading.tally.n_repaired, reading.tally.n_kept, reading.tally.n_unreadable), (1, 1, 0));
}

#[test]
fn a_repaired_message_of_a_document_is_where_the_file_has_it() {
    let start = b"{\"sessionId\":\"s\",\"messages\":[{\"id\":\"0\",\"type\":\"user\",\"content\":\"";
    let file = [&start[..], &[0xff; 60], b"why?\"}]}"].concat();
    let (_, turns) = told_as(&file[..], Some(Format::GeminiDocument));
    assert!(turns[0].words.contains("why?"), "{}", turns[0].words);
    assert!(turns[0].place.bytes.end <= file.len() as u64, "{:?}", turns[0].place);
}

#[test]
fn half_an_emoji_does_not_cost_the_words() {
    let (_, turns) = told(br#"{"type":"user","uuid":"u","message":{"content":"cut \ud83d"}}"#);
    assert!(turns[0].words.starts_with("prompt: cut "), "{}", turns[0].words);
}

#[test]
fn a_row_that_is_being_written_is_left_for_later() {
    let whole = format!("{PROMPT}\n");
    let second = PROMPT.replace("u1", "u2").replace("hello", "bye");
    for n_written in 1..second.len() {
        let file = format!("{whole}{}", &second[..n_written]);
        let (reading, turns) = told(file.as_bytes());
        assert_eq!(all_words(&turns), ["prompt: hello"]);
        assert_eq!(reading.end, Place { line: 2, bytes: whole.len() as u64..whole.len() as u64 });
    }
    let file = format!("{whole}{second}");
    let mut words = Vec::new();
    let start = Place { line: 2, bytes: whole.len() as u64..whole.len() as u64 };
    let rest = &file.as_bytes()[whole.len()..];
    let reading =
        read_from(rest, &start, None, &mut |turn, _| words.push((turn.place.clone(), turn.id.to_string())));
    let reading = reading.expect("bytes can be read").expect("an agent wrote it");
    assert_eq!(words.len(), 1);
    assert_eq!((words[0].0.line, words[0].1.as_str()), (2, "u2"));
    assert_eq!(reading.end.bytes.start, file.len() as u64);
    assert_eq!(&file[usize::try_from(words[0].0.bytes.start).unwrap()..][..5], "\"bye\"");
}

#[test]
fn times_may_lie_anywhere_or_nowhere() {
    let at = |uuid: &str, time: &str| PROMPT.replace("u1", uuid).replace("2026-03-01T12:00:00Z", time);
    let file = [
        at("1", "1970-01-01T00:00:00Z"),
        at("2", "9999-12-31T00:00:00Z"),
        at("3", "2026-03-02T00:00:00Z"),
        at("4", "2026-03-01T00:00:00Z"),
        at("5", "yesterday"),
    ]
    .join("\n");
    let (reading, turns) = told(file.as_bytes());
    assert_eq!(turns.len(), 5);
    assert_eq!(reading.session.first.unwrap().to_string(), "2026-03-01T00:00:00Z");
    assert_eq!(reading.session.last.unwrap().to_string(), "2026-03-02T00:00:00Z");
}

#[test]
fn what_no_agent_wrote_is_no_transcript() {
    for file in [&b""[..], b"words\n", b"{\"a\":1}\n", b"[1,2,3]", b"\x00\xff\x12"] {
        assert!(
            read(file, None, &mut |_, _| panic!("nothing is told")).expect("bytes can be read").is_none()
        );
    }
}

#[test]
fn a_session_without_prompts_has_no_turns() {
    let (reading, turns) = told(br#"{"type":"summary","summary":"Nothing","leafUuid":"x"}"#);
    assert_eq!((turns.len(), reading.tally.n_kept), (0, 1));
}

/// A file of `before`, `n_bytes` of one letter and `after`.
struct Huge<'a> {
    before: &'a [u8],
    n_bytes: usize,
    after: &'a [u8],
}

impl Read for Huge<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.before.is_empty() {
            return self.before.read(buffer);
        }
        if self.n_bytes == 0 {
            return self.after.read(buffer);
        }
        let n_bytes = buffer.len().min(self.n_bytes);
        buffer[..n_bytes].fill(b'x');
        self.n_bytes -= n_bytes;
        Ok(n_bytes)
    }
}

#[test]
fn a_line_beyond_all_measure_is_passed_over() {
    // No text in it could be cut.
    let before = format!("{PROMPT}\n{{\"type\":");
    let after = format!("}}\n{}\n", PROMPT.replace("u1", "u3"));
    let huge = Huge { before: before.as_bytes(), n_bytes: 3 * LONGEST_ROW, after: after.as_bytes() };
    let (reading, turns) = told_as(huge, None);
    assert_eq!(all_words(&turns), ["prompt: hello", "prompt: hello"]);
    let fault = &reading.tally.faults[0];
    assert_eq!((fault.kind, fault.place.line), (FaultKind::TooLong, 2));
    assert_eq!(reading.tally.n_unreadable_bytes, fault.place.bytes.end - fault.place.bytes.start);
    assert_eq!(turns[1].place.line, 3);
}

#[test]
fn an_image_beyond_all_measure_takes_no_words_with_it() {
    let row = PROMPT.replace("u1", "u2").replace(
        "\"hello\"",
        r#"[{"type":"image","source":{"data":"DATA"}},{"type":"text","text":"why is it blank"}]"#,
    );
    let (before, after) = row.split_once("DATA").expect("it has data");
    let before = format!("\u{feff}{PROMPT}\n{before}");
    let after = format!("{after}\n{}\n", PROMPT.replace("u1", "u3"));
    let huge = Huge { before: before.as_bytes(), n_bytes: 2 * LONGEST_ROW, after: after.as_bytes() };
    let (reading, turns) = told_as(huge, None);
    assert_eq!(all_words(&turns), ["prompt: hello", "prompt: why is it blank", "prompt: hello"]);
    assert_eq!((reading.tally.faults.len(), turns[2].place.line), (0, 3));
}

#[test]
fn a_message_beyond_all_measure_is_passed_over() {
    let before = r#"{"sessionId":"g","projectHash":"h","messages":[{"id":"1","type":"user","content":""#;
    let after = r#""},{"id":"2","type":"user","content":"hello"}]}"#;
    let huge = Huge { before: before.as_bytes(), n_bytes: 2 * LONGEST_ROW, after: after.as_bytes() };
    let (reading, turns) = told_as(huge, None);
    assert_eq!(all_words(&turns), ["prompt: hello"]);
    assert_eq!(reading.tally.faults[0].kind, FaultKind::TooLong);
}

#[test]
fn a_document_that_ends_early_keeps_its_messages() {
    let file = r#"{"sessionId":"g","projectHash":"h","messages":[{"id":"1","type":"user","content":"hello"},{"id":"2","ty"#;
    let (reading, turns) = told(file.as_bytes());
    assert_eq!(all_words(&turns), ["prompt: hello"]);
    assert_eq!(reading.tally.faults[0].kind, FaultKind::Unfinished);
    let (reading, _) = told(b"{\"sessionId\":\"g\",\"projectHash\":\"h\",\"messages\":[]} and more");
    assert_eq!(reading.tally.faults[0].kind, FaultKind::NotJson);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_never_fatal_and_always_accounted_for(
        cut_at in 0_usize..2_000,
        damage in proptest::collection::vec((0_usize..2_000, any::<u8>()), 0..12),
        form in 0_usize..5,
    ) {
        let mut file = match form {
            0 => format!("{PROMPT}\n{PROMPT}{PROMPT}\n").repeat(5),
            1 => format!("{{\"sessionId\":\"g\",\"projectHash\":\"h\",\"messages\":[{}]}}", "{\"id\":\"1\",\"type\":\"user\",\"content\":\"x\"},".repeat(20)),
            2 => "{\"type\":\"response_item\",\"timestamp\":\"\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"text\":\"a\"}]}}\n".repeat(9),
            3 => format!("{{\"zed\":{{\"id\":\"z\"}},\"messages\":[{}]}}", "{\"User\":{\"id\":\"1\",\"content\":[{\"Text\":\"x\"}]}},\"Resume\",".repeat(20)),
            _ => "{\"session\":\"a\",\"role\":\"user\",\"text\":\"b\"}\n".repeat(20),
        }.into_bytes();
        for (at, byte) in damage {
            let at = at % file.len();
            file[at] = byte;
        }
        file.truncate(cut_at.max(1));
        for format in [Format::Claude, Format::GeminiDocument, Format::GeminiRows, Format::Codex, Format::Copilot, Format::OpenCode, Format::CursorRows, Format::CursorDatabase, Format::Qwen, Format::Kimi, Format::Droid, Format::GooseRows, Format::GooseDatabase, Format::Cline, Format::Amp, Format::Zed, Format::Generic] {
            let (reading, _) = told_as(&file[..], Some(format));
            let tally = reading.tally;
            prop_assert_eq!(tally.n_rows, tally.n_kept + tally.n_skipped() + tally.n_unreadable);
        }
    }
}
