//! What was consolidated, and the tiers of memory, as text.

use std::fmt::Write;

use chronicle_core::counted;
use chronicle_memory::{
    sessions::short_session,
    sleep::{Consolidated, WordedMemory},
    tiers::{MemoryItem, MemoryStatus},
};

use super::{View, words};

pub(super) fn consolidated(done: &Consolidated) -> String {
    let mut out = String::new();
    if done.is_busy {
        out.push_str("another process consolidates already\n");
    } else if done.jobs.is_empty() {
        out.push_str("nothing is due\n");
    }
    let would = if done.dry_run { "would be " } else { "" };
    for job in &done.jobs {
        let due = if job.was_due { "" } else { " (was not due)" };
        let _ = writeln!(out, "# {}{due}\n", job.job);
        let before = out.len();
        files(&mut out, &format!("{would}written"), &job.digests);
        files(&mut out, &format!("{would}removed"), &job.gone);
        for label in &job.blocks {
            let _ = writeln!(out, "- {would}changed: block {label}");
        }
        for (n, noun, what) in [
            (job.used, "use of what agents were shown", ""),
            (job.kept, "transcript", " kept"),
            (job.let_go, "transcript", " let go"),
        ] {
            if 0 < n {
                let _ = writeln!(out, "- {}{what}", counted(n, noun));
            }
        }
        for failed in &job.not_kept {
            let _ = writeln!(out, "- not kept: {}", words::one_line(failed));
        }
        if job.is_unfinished {
            out.push_str("- not all of it was done in time; the rest is done next time\n");
        }
        if out.len() == before {
            out.push_str("nothing changed\n");
        }
        out.push('\n');
    }
    if let Some(worded) = &done.worded {
        self::worded(&mut out, worded);
    }
    let length = out.trim_end().len();
    out.truncate(length);
    out.push('\n');
    out
}

/// Files of digests, of which the first time may bring years.
fn files(out: &mut String, what: &str, files: &[String]) {
    const MOST: usize = 12;
    if let [newest, .., oldest] = files
        && MOST < files.len()
    {
        let names = [newest.min(oldest), newest.max(oldest)].map(|name| words::one_line(name));
        let _ =
            writeln!(out, "- {what}: {}, from {} to {}", counted(files.len(), "digest"), names[0], names[1]);
        return;
    }
    for file in files {
        let _ = writeln!(out, "- {what}: {file}");
    }
}

/// What a model worded, or why it said nothing: without its name nobody was asked.
fn worded(out: &mut String, worded: &WordedMemory) {
    let model = if worded.model.is_empty() { "a model".into() } else { words::one_line(&worded.model) };
    let _ = writeln!(out, "# in the words of {model}\n");
    match &worded.failed {
        Some(reason) => {
            let _ = writeln!(out, "- not done: {}", words::one_line(reason));
        }
        None => {
            let lines = counted(worded.lines, "line of blocks");
            let patterns = counted(worded.patterns, "pattern");
            let _ = writeln!(out, "- {lines}, {patterns}, {}", counted(worded.digests, "digest"));
        }
    }
    for dropped in &worded.dropped {
        let _ = writeln!(out, "- not taken: {}", words::one_line(dropped));
    }
}

pub(super) fn status(status: &MemoryStatus, view: &View) -> String {
    let MemoryStatus { hot, warm, cold, .. } = status;
    let mut out = format!("# Memory in {}\n\n", words::path(&status.home.to_string_lossy()));
    let _ = writeln!(
        out,
        "- hot: a briefing has {} of {} characters; blocks hold {}",
        hot.characters, hot.limit, hot.block_characters
    );
    let _ = writeln!(
        out,
        "- warm: {}, {}, {}, {}, {}; {} of text in {}",
        counted(warm.projects, "project"),
        counted(warm.sessions, "session"),
        counted(warm.turns, "turn"),
        counted(warm.open_threads, "open thread"),
        counted(warm.block_versions, "version of blocks"),
        bytes(warm.text_bytes),
        bytes(warm.file_bytes)
    );
    let _ = writeln!(
        out,
        "- cold: {}, {} only here; {} made {}, of at most {}",
        counted(cold.transcripts, "transcript"),
        cold.only_here,
        bytes(cold.whole_bytes),
        bytes(cold.bytes),
        bytes(cold.budget_bytes)
    );
    for fading in &status.fading {
        let _ = writeln!(
            out,
            "- {}: {}; faded by half (half-life {} days): {}; to the floor of {}: {}; used: {}",
            fading.kind,
            fading.n,
            fading.half_life_days,
            fading.n_faded,
            fading.floor,
            fading.n_at_floor,
            fading.n_used
        );
    }
    for job in &status.jobs {
        let last = words::ago(job.last.as_deref(), view.now).unwrap_or_else(|| "never".to_owned());
        let due = if job.is_due { ", due" } else { "" };
        let _ = writeln!(out, "- {} job: {last}{due}", job.job);
    }
    out
}

pub(super) fn item(item: &MemoryItem, view: &View) -> String {
    let mut out = format!("# {} {}\n\n", item.kind, words::one_line(&item.id));
    let _ = writeln!(out, "{}\n", words::one_line(&item.title));
    let source = &item.source;
    let mut from = vec![format!("project {}", words::one_line(&source.project))];
    if item.kind == "thread" {
        from.push(match &source.session {
            Some(session) => format!("session {}", words::one_line(short_session(session))),
            None => "added by hand".to_owned(),
        });
    }
    from.extend(words::ago(source.at.as_deref(), view.now));
    let _ = writeln!(out, "- from: {}", from.join(", "));
    for (path, is_there) in &source.transcripts {
        let gone = if *is_there { "" } else { " (deleted)" };
        let _ = writeln!(out, "- transcript: {}{gone}", words::path(path));
    }
    let _ = writeln!(out, "- state: {}", words::one_line(&item.state));
    let why = &item.importance;
    let uses = match why.uses {
        0 => "not used since".to_owned(),
        n => format!("used {} since", counted(n, "time")),
    };
    let _ = writeln!(
        out,
        "- importance: {:.1}; {} at first, half of it is left after {} days, never below {}; {uses}",
        why.now, why.initial, why.half_life_days, why.floor
    );
    let _ = writeln!(out, "- rank: {} of {}", why.more_important + 1, counted(why.of, item.kind));
    if item.shown.is_empty() {
        let _ = writeln!(out, "- shown to: no session");
    }
    for shown in &item.shown {
        let used = match shown.used {
            Some(true) => ", used",
            Some(false) => ", not used",
            None => "",
        };
        let session = words::one_line(short_session(&shown.session));
        let at = words::ago(Some(&shown.at), view.now).map(|at| format!(", {at}")).unwrap_or_default();
        let _ = writeln!(out, "- shown to: session {session} ({}{at}{used})", words::one_line(&shown.event));
    }
    let what = if item.kind == "thread" { "drop" } else { "forget" };
    let _ = writeln!(out, "- to {what} it: `{}`", words::one_line(&item.forget));
    out
}

/// `12.3 MB`.
fn bytes(n: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = UNITS.into_iter().find(|(size, _)| *size <= n);
    unit.map_or_else(
        || format!("{n} B"),
        |(size, name)| format!("{}.{} {name}", n / size, n % size * 10 / size),
    )
}
