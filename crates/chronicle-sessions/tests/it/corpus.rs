//! What real transcripts say, against counts made another way.

#![expect(clippy::print_stdout, reason = "the figures are for whoever measures")]

use std::collections::{HashMap, HashSet};

use chronicle_core::redaction::redact;
use serde_json::Value;

use crate::support::{Told, corpus, labels, told};

/// The JSON values of a file, read by serde_json alone.
fn values(bytes: &[u8]) -> Vec<Value> {
    serde_json::Deserializer::from_slice(bytes)
        .into_iter()
        .map(|value| value.expect("the corpus is JSON"))
        .collect()
}

#[test]
fn every_line_is_accounted_for() {
    let Some(corpus) = corpus() else { return };
    let mut skipped: HashMap<String, u64> = HashMap::new();
    let (mut n_rows, mut n_kept, mut n_lines) = (0, 0, 0);
    for (name, bytes) in &corpus {
        let (reading, _) = told(bytes);
        let tally = &reading.tally;
        let lines = bytes.split(|byte| *byte == b'\n').count() - usize::from(bytes.ends_with(b"\n"));
        assert_eq!(tally.n_lines, lines as u64, "{name}");
        assert_eq!(tally.n_rows, tally.n_kept + tally.n_skipped() + tally.n_unreadable, "{name}");
        let values = values(bytes);
        let expected = match &values[0]["messages"] {
            Value::Array(messages) => messages.len(),
            _ => values.len(),
        };
        assert_eq!(tally.n_rows, expected as u64, "{name}");
        assert_eq!((tally.n_unreadable, tally.n_repaired, tally.n_blank), (0, 0, 0), "{name}");
        assert!(!tally.skipped.keys().any(|kind| kind.starts_with("unknown")), "{name}: {:?}", tally.skipped);
        for (kind, count) in &tally.skipped {
            *skipped.entry(kind.clone()).or_default() += count;
        }
        n_rows += tally.n_rows;
        n_kept += tally.n_kept;
        n_lines += tally.n_lines;
    }
    let mut skipped: Vec<_> = skipped.into_iter().collect();
    skipped.sort_by_key(|(kind, count)| (u64::MAX - count, kind.clone()));
    println!("{n_lines} lines, {n_rows} rows: {n_kept} kept, skipped {skipped:?}");
}

#[test]
fn hardly_a_word_is_taken_for_a_secret() {
    let Some(corpus) = corpus() else { return };
    let (mut n_words, mut n_found) = (0, 0);
    for (_, bytes) in &corpus {
        for turn in told(bytes).1 {
            n_words += turn.words.split_whitespace().count();
            n_found += redact(&turn.words).found.len();
        }
    }
    println!("{n_found} of {n_words} words taken for secrets");
    assert!(n_found * 1000 < n_words, "{n_found} of {n_words}");
}

#[test]
fn human_prompts_are_told_from_others() {
    let Some(corpus) = corpus() else { return };
    let turns: HashMap<&str, Vec<Told>> =
        corpus.iter().map(|(name, bytes)| (name.as_str(), told(bytes).1)).collect();
    let (mut right, mut wrong, mut missed) = (0, Vec::new(), Vec::new());
    for label in labels("prompts.tsv") {
        let [file, line, author] = label.as_slice() else { panic!("three columns") };
        let line: u64 = line.parse().expect("a number");
        let here = || turns[file.as_str()].iter().filter(|turn| turn.place.line == line);
        assert!(here().next().is_some(), "nothing is told of {file} line {line}");
        let is_prompt = here().any(|turn| turn.words.starts_with("prompt: "));
        match (author == "human", is_prompt) {
            (true, true) => right += 1,
            (false, true) => wrong.push(format!("{file}:{line} {author}")),
            (true, false) => missed.push(format!("{file}:{line}")),
            (false, false) => {}
        }
    }
    println!("{right} prompts right, taken for prompts: {wrong:?}, missed: {missed:?}");
    let right = f64::from(right);
    assert!(0.99 <= right / (right + wrong.len() as f64), "precision: {wrong:?}");
    assert!(0.98 <= right / (right + missed.len() as f64), "recall: {missed:?}");
}

#[test]
fn usage_is_that_of_each_reply_once() {
    let Some(corpus) = corpus() else { return };
    for (name, bytes) in &corpus {
        let mut replies: HashMap<String, [u64; 4]> = HashMap::new();
        for value in values(bytes) {
            for message in value["messages"].as_array().unwrap_or(&Vec::new()) {
                let number = |key: &str| message["tokens"][key].as_u64().unwrap_or_default();
                if message["tokens"].is_object() {
                    let id = message["id"].as_str().expect("it has an id").to_owned();
                    replies.insert(
                        id,
                        [
                            number("input") - number("cached"),
                            number("output") + number("thoughts"),
                            0,
                            number("cached"),
                        ],
                    );
                }
            }
            let row = if value["type"] == "progress" { &value["data"]["message"] } else { &value };
            let message = &row["message"];
            if row["type"] != "assistant"
                || message["model"] == "<synthetic>"
                || !message["usage"].is_object()
            {
                continue;
            }
            let number = |key: &str| message["usage"][key].as_u64().unwrap_or_default();
            let usage =
                ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
            replies.insert(message["id"].as_str().expect("it has an id").to_owned(), usage.map(number));
        }
        let sum = |index: usize| replies.values().map(|usage| usage[index]).sum::<u64>();
        let usage = told(bytes).0.session.usage;
        let told = [usage.input, usage.output, usage.cache_write, usage.cache_read, usage.replies];
        assert_eq!(told, [sum(0), sum(1), sum(2), sum(3), replies.len() as u64], "{name}");
    }
}

#[test]
fn every_place_holds_a_value_and_every_id_names_one_turn() {
    let Some(corpus) = corpus() else { return };
    for (name, bytes) in &corpus {
        let (_, turns) = told(bytes);
        let mut ids = HashSet::new();
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).collect();
        for turn in &turns {
            let range = usize::try_from(turn.place.bytes.start).expect("small")
                ..usize::try_from(turn.place.bytes.end).expect("small");
            let value = serde_json::from_slice::<Value>(&bytes[range.clone()]);
            assert!(value.is_ok(), "{name}: {:?} {}", turn.place, turn.words);
            let line = 1 + ends.partition_point(|end| *end < range.start) as u64;
            assert!(
                turn.place.line <= line && line <= turn.place.line + 60,
                "{name}: {:?} on {line}",
                turn.place
            );
            assert!(!turn.id.is_empty() && ids.insert(&turn.id), "{name}: {} {}", turn.id, turn.words);
        }
    }
}

#[test]
fn every_call_and_result_is_told_once() {
    let Some(corpus) = corpus() else { return };
    let mut n_calls = 0;
    for (name, bytes) in &corpus {
        let mut called = HashSet::new();
        for value in values(bytes) {
            let row = if value["type"] == "progress" { &value["data"]["message"] } else { &value };
            for block in row["message"]["content"].as_array().unwrap_or(&Vec::new()) {
                if block["type"] == "tool_use" {
                    called.insert(block["id"].as_str().expect("it has an id").to_owned());
                }
            }
        }
        let (_, turns) = told(bytes);
        for id in &called {
            assert!(turns.iter().any(|turn| turn.id == *id), "{name}: {id}");
        }
        n_calls += called.len();
    }
    println!("{n_calls} calls");
}
