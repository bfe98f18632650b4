//! How many made secrets are replaced, how many words of real transcripts are, and how fast that is.
//!
//! The secrets are drawn with a fixed seed in the forms that `synthetic` takes from
//! somebody else's rules, each in many surroundings. The transcripts are those that lie beside
//! the clone; all their words are looked at, and none is printed.
//!
//! `--seed N` draws others, `--missed` prints what was not replaced, `--words` the lines of
//! transcripts in which something was, as kinds and hashes.

#![expect(clippy::print_stdout, reason = "the figures are what a bench is for")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Instant;

use chronicle_core::redaction::{Removed, for_storage, redact};
use chronicle_sessions::{Event, Todo, Turn, read};

mod synthetic;

/// How many secrets of each kind are drawn for each context.
const N_EACH: usize = 20;

/// How much text the speed is measured on, at least.
const ENOUGH: usize = 256 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == "--seed");
    let seed = at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(5);
    recall(seed, arguments.iter().any(|argument| argument == "--missed"));
    match transcripts() {
        Some(texts) => {
            false_alarms(&texts);
            speed(&texts);
        }
        None => println!("no transcripts beside the clone: false alarms and speed are not measured"),
    }
}

#[derive(Default)]
struct Share {
    n: usize,
    n_all: usize,
}

impl Share {
    fn count(&mut self, is_one: bool) {
        self.n += usize::from(is_one);
        self.n_all += 1;
    }

    fn percent(&self) -> f64 {
        100.0 * self.n as f64 / self.n_all.max(1) as f64
    }
}

fn recall(seed: u64, shows_missed: bool) {
    let (mut by_kind, mut by_context) = (BTreeMap::<_, Share>::new(), BTreeMap::<_, Share>::new());
    let mut all = Share::default();
    for sample in synthetic::samples(seed, N_EACH) {
        let redacted = redact(&sample.text);
        let is_gone = sample.is_gone(&redacted.text);
        by_kind.entry(sample.kind).or_default().count(is_gone);
        by_context.entry(sample.context).or_default().count(is_gone);
        all.count(is_gone);
        if shows_missed && !is_gone {
            println!("missed {} in {}: {:?}", sample.kind, sample.context, redacted.text);
        }
    }
    println!(
        "{} kinds, {} contexts, {} secrets: {:.2} % replaced (bar 99)",
        by_kind.len(),
        by_context.len(),
        all.n_all,
        all.percent()
    );
    let worst = by_kind.values().map(Share::percent).fold(100.0, f64::min);
    println!("worst kind: {worst:.2} %");
    for (kind, share) in by_kind.iter().filter(|(_, share)| share.n < share.n_all) {
        println!("  {kind:22} {:6.2} % of {}", share.percent(), share.n_all);
    }
    for (context, share) in &by_context {
        println!("  {context:18} {:6.2} % of {}", share.percent(), share.n_all);
    }
    let mut control = Share::default();
    for sample in synthetic::controls(seed, N_EACH) {
        let redacted = redact(&sample.text);
        control.count(redacted.found.is_empty());
        if shows_missed && !redacted.found.is_empty() {
            println!("replaced {} in {}: {:?}", sample.kind, sample.context, redacted.text);
        }
    }
    println!("control: {} of {} texts without secrets stay as they are", control.n, control.n_all);
}

/// All texts of the transcripts that a session store would keep.
fn transcripts() -> Option<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/transcripts");
    let mut texts = Vec::new();
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    paths.sort();
    for path in paths {
        let file = flate2::read::GzDecoder::new(File::open(path).ok()?);
        read(file, None, &mut |turn, _| texts_of(turn, &mut texts)).ok()?;
    }
    (!texts.is_empty()).then_some(texts)
}

fn texts_of(turn: &Turn<'_>, texts: &mut Vec<String>) {
    let mut add = |text: &str| texts.push(text.to_owned());
    add(&turn.id);
    match &turn.event {
        Event::Prompt(text)
        | Event::Synthetic(_, text)
        | Event::Said(text)
        | Event::Error(text)
        | Event::Interruption(text)
        | Event::PullRequest(text) => add(text),
        Event::Tool(tool, outcome) => {
            [&tool.name, &tool.about, &outcome.text].into_iter().for_each(|text| add(text));
        }
        Event::Edit(edit, outcome) => {
            add(&edit.path);
            edit.replaced
                .iter()
                .for_each(|piece| [&piece.old, &piece.new].into_iter().for_each(|text| add(text)));
            add(&outcome.text);
        }
        Event::Command(text, outcome) | Event::Plan(text, outcome) => {
            [text, &outcome.text].into_iter().for_each(|text| add(text));
        }
        Event::Commit(commit) => [&commit.id, &commit.subject].into_iter().for_each(|text| add(text)),
        Event::Todo(todo, outcome) => {
            match todo {
                Todo::List(items) => items.iter().for_each(|item| add(&item.text)),
                Todo::Added(item) => add(&item.text),
                Todo::Changed { text, .. } => text.iter().for_each(|text| add(text)),
            }
            add(&outcome.text);
        }
    }
}

fn false_alarms(texts: &[String]) {
    let (mut by_kind, mut n_words, mut n_replaced) = (BTreeMap::<_, usize>::new(), 0_usize, 0_usize);
    for text in texts {
        n_words += text.split_whitespace().count();
        let redacted = redact(text);
        if redacted.found.is_empty() {
            continue;
        }
        // A word that stands in the text no more often than before was not touched.
        let mut left = BTreeMap::<_, i64>::new();
        text.split_whitespace().for_each(|word| *left.entry(word).or_default() += 1);
        redacted.text.split_whitespace().for_each(|word| *left.entry(word).or_default() -= 1);
        n_replaced +=
            left.values().filter(|&&n| 0 < n).map(|&n| usize::try_from(n).expect("above 0")).sum::<usize>();
        redacted.found.iter().for_each(|kind| *by_kind.entry(kind.name()).or_default() += 1);
    }
    let percent = 100.0 * n_replaced as f64 / n_words as f64;
    println!("transcripts: {n_replaced} of {n_words} words replaced, {percent:.4} % (bar 0.1)");
    println!("  {by_kind:?}");
    if std::env::args().any(|argument| argument == "--words") {
        for line in texts.iter().flat_map(|text| text.lines()) {
            let found = redact(line).found;
            if !found.is_empty() {
                println!("  {found:?} in a line of {} bytes, {:016x}", line.len(), hash(line));
            }
        }
    }
}

fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn speed(texts: &[String]) {
    let n_bytes: usize = texts.iter().map(String::len).sum();
    let rounds = ENOUGH.div_ceil(n_bytes);
    let mut removed = Removed::default();
    let start = busy();
    for _ in 0..rounds {
        texts.iter().for_each(|text| {
            for_storage(text, &mut removed);
        });
    }
    let seconds = busy() - start;
    let megabytes = (n_bytes * rounds) as f64 / 1e6;
    println!("speed: {:.0} MB/s of one core over {megabytes:.0} MB of them (bar 300)", megabytes / seconds);
}

/// For how many seconds this process has kept a core busy, or lasted where the system does not say.
fn busy() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let times = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let busy = times.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok());
    busy.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
