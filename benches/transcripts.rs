//! Reading transcripts beside `jq -c .type`, which looks at every row and keeps one word of it.
//!
//! Both read the same unpacked files, in turns, on one thread, once without
//! keeping anything and once with everything that taking sessions in does:
//! redaction, store, threads, search index. The files are the real transcripts that
//! lie beside the clone; without them, or without jq, nothing is measured. Then
//! files of a gigabyte are made up while they are taken in, and the most memory
//! that was ever used is printed.
//!
//! `--pairs N` sets how often both are run; `--speed` leaves out the gigabytes.

#![expect(clippy::print_stdout, reason = "the figures are what a bench is for")]

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use chronicle_search::{KnownThreads, Project, SqlResult, Store, Transaction};
use chronicle_sessions::{Belongs, Format, Ingested, Transcript, ingest, read};
use jiff::Timestamp;

fn main() {
    let pairs = argument("--pairs").unwrap_or(20);
    match unpacked() {
        Some((folder, paths)) => {
            beside_jq(folder.path(), &paths, pairs);
        }
        None => println!("no transcripts beside the clone: speed is not measured"),
    }
    if std::env::args().any(|argument| argument == "--speed") {
        return;
    }
    println!("most memory so far: {} MB", peak_megabytes());
    gigabyte("one line", b"{\"type\":\"user\",\"uuid\":\"", b"x");
    let row = br#"{"type":"user","uuid":"","message":{"role":"user","content":"the pool has to wait for its connections"},"toolUseResult":{"stdout":"PAD"}}"#;
    let row = String::from_utf8_lossy(row).replace("PAD", &"words and words ".repeat(60));
    gigabyte("rows", b"", format!("{row}\n").as_bytes());
    gigabyte(
        "a document",
        br#"{"sessionId":"g","projectHash":"h","messages":["#,
        format!("{row},").as_bytes(),
    );
}

fn argument(name: &str) -> Option<usize> {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1)?.parse().ok()
}

/// The real transcripts, unpacked into a directory that goes away.
fn unpacked() -> Option<(tempfile::TempDir, Vec<PathBuf>)> {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/transcripts");
    let folder = tempfile::tempdir().ok()?;
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(packed).ok()? {
        let path = entry.ok()?.path();
        if path.extension().is_none_or(|extension| extension != "gz") {
            continue;
        }
        let target = folder.path().join(path.file_stem()?);
        let mut source = flate2::read::GzDecoder::new(std::fs::File::open(&path).ok()?);
        io::copy(&mut source, &mut std::fs::File::create(&target).ok()?).ok()?;
        paths.push(target);
    }
    paths.sort();
    Some((folder, paths))
}

fn beside_jq(folder: &Path, paths: &[PathBuf], pairs: usize) {
    let n_bytes: u64 = paths.iter().filter_map(|path| path.metadata().ok()).map(|meta| meta.len()).sum();
    let (mut ours, mut stored, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut n_turns, mut size) = (0, (0, 0));
    for _ in 0..pairs {
        let start = Instant::now();
        n_turns = paths.iter().map(|path| turns(path)).sum();
        ours.push(start.elapsed().as_secs_f64() * 1e3);
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let start = Instant::now();
        let mut store = Store::create(&home.path().join("chronicle.db")).expect("it can be made");
        let taken = store.write(|tx| {
            let mut known = KnownThreads::default();
            for path in paths {
                let file = std::fs::File::open(path).expect("it was just written");
                take_in(tx, file, path, None, &mut known)?;
            }
            Ok(())
        });
        taken.expect("there is room");
        stored.push(start.elapsed().as_secs_f64() * 1e3);
        let totals = store.totals().expect("it can be read");
        size = (totals.file_bytes, totals.text_bytes);
        let start = Instant::now();
        if !jq(folder, paths) {
            println!("no jq: speed is not measured");
            return;
        }
        theirs.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let (ours, stored, theirs) = (median(ours), median(stored), median(theirs));
    let megabytes = n_bytes as f64 / 1e6;
    println!("{} files, {megabytes:.1} MB, {n_turns} turns, median of {pairs}", paths.len());
    println!("read   {ours:7.1} ms  {:6.0} MB/s", megabytes / ours * 1e3);
    println!("store  {stored:7.1} ms  {:6.0} MB/s", megabytes / stored * 1e3);
    println!("jq     {theirs:7.1} ms  {:6.0} MB/s", megabytes / theirs * 1e3);
    println!("jq / read = {:.1}, jq / store = {:.1} (bar 2)", theirs / ours, theirs / stored);
    println!(
        "store {} kB, text {} kB: {:.2} (bar 3)",
        size.0 / 1000,
        size.1 / 1000,
        size.0 as f64 / size.1 as f64
    );
}

/// Takes a transcript into the store, and counts its rows.
fn take_in(
    tx: &Transaction<'_>,
    file: impl Read,
    path: &Path,
    format: Option<Format>,
    known: &mut KnownThreads,
) -> SqlResult<u64> {
    let name = path.to_string_lossy();
    let transcript = Transcript {
        path: &name,
        stem: &name,
        size: 0,
        modified: 0,
        begun: chronicle_sessions::Begun::ByHuman,
        format,
        checkpoint_from: None,
    };
    let mut placing = |tx: &Transaction<'_>, _: &str| -> SqlResult<Belongs> {
        Project::obtain(tx, "id:bench", "bench", "").map(|project| Belongs::To(project, None))
    };
    let taken = ingest(tx, file, &transcript, None, Timestamp::UNIX_EPOCH, &mut placing, known)?;
    match taken.expect("it can be read") {
        Ingested::Read { tally, .. } => Ok(tally.n_rows),
        Ingested::NoTranscript => panic!("{name} was written by an agent"),
    }
}

fn turns(path: &Path) -> usize {
    let file = std::fs::File::open(path).expect("it was just written");
    let mut n_turns = 0;
    let reading = read(file, None, &mut |_, _| n_turns += 1).expect("it can be read");
    assert!(reading.is_some(), "{} was written by an agent", path.display());
    n_turns
}

#[expect(clippy::disallowed_methods, reason = "a bench runs what it compares with")]
fn jq(folder: &Path, paths: &[PathBuf]) -> bool {
    let mut command = Command::new("jq");
    command.args(["-c", ".type"]).args(paths).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Reads a gigabyte that begins with `head` and goes on with `piece` again and again.
fn gigabyte(what: &str, head: &[u8], piece: &[u8]) {
    let mut file = Repeated {
        head: head.to_vec(),
        piece: piece.repeat(65_536_usize.div_ceil(piece.len())),
        at: 0,
        left: 1 << 30,
    };
    let format = if what == "a document" { Format::GeminiDocument } else { Format::Claude };
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let mut store = Store::create(&home.path().join("chronicle.db")).expect("it can be made");
    let start = Instant::now();
    let mut known = KnownThreads::default();
    let taken = store.write(|tx| take_in(tx, &mut file, Path::new("gigabyte"), Some(format), &mut known));
    let n_rows = taken.expect("there is room");
    println!(
        "1 GB, {what}: {:.1} s, {n_rows} rows, most memory so far {} MB",
        start.elapsed().as_secs_f64(),
        peak_megabytes()
    );
}

struct Repeated {
    head: Vec<u8>,
    piece: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            let n_read = self.head.as_slice().read(buffer)?;
            self.head.drain(..n_read);
            return Ok(n_read);
        }
        let n_read = buffer.len().min(self.piece.len() - self.at).min(self.left);
        buffer[..n_read].copy_from_slice(&self.piece[self.at..self.at + n_read]);
        self.at = (self.at + n_read) % self.piece.len();
        self.left -= n_read;
        Ok(n_read)
    }
}

/// The most memory that this process ever used; 0 where the system does not say.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}
