//! Made annotations on the commits of any repository.
//!
//! What they say is made; the files and lines are real hunks of the commit, so
//! that finding them again costs what it costs with real annotations.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use chronicle_core::{LineRange, Lines, Sketch};
use serde_json::{Value, json};

use crate::measure::random::Random;
use crate::measure::repository::{EMAIL, Repository};

const MAX_ENTRIES: usize = 3;
/// A remark is about few lines, however many the hunk has.
const MOST_LINES: usize = 30;
/// Makes notes of 1.5 KB on average.
const WORDS_OF_A_NOTE: usize = 103;

/// Lines that a commit wrote.
pub(crate) struct Hunk {
    pub(crate) path: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The text of those lines.
    text: String,
}

impl Hunk {
    /// The sketch that a writer keeps of the lines.
    fn sketch(&self) -> Option<Sketch> {
        let lines = Lines::new(self.text.as_bytes());
        (0 < lines.count()).then(|| Sketch::of(&lines, LineRange { start: 1, end: lines.count() }))
    }
}

/// A commit that can be annotated, with a few of its hunks.
pub(crate) struct Candidate {
    pub(crate) commit_id: String,
    pub(crate) hunks: Vec<Hunk>,
    pub(crate) paths: Vec<String>,
}

/// All commits of HEAD that wrote lines, newest first; merges are left out.
pub(crate) fn candidates(repo: &Repository, scratch: &Path, random: &mut Random) -> Vec<Candidate> {
    let ids = repo.git(&["rev-list", "--no-merges", "HEAD"]);
    let ids: Vec<&str> = ids.lines().collect();
    let mut found = Vec::new();
    let mut next = 0;
    // Git gives up where a partial clone lacks a blob: that commit is skipped.
    while next < ids.len() {
        let list = scratch.join("commits");
        fs::write(&list, ids[next..].join("\n") + "\n").expect("the scratch directory is writable");
        next += read_patches(repo, &list, random, &mut found);
    }
    found
}

/// Reads patches until they end; returns how many commits are done with.
fn read_patches(repo: &Repository, list: &Path, random: &mut Random, found: &mut Vec<Candidate>) -> usize {
    let args =
        ["diff-tree", "--stdin", "--root", "-r", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-color"];
    let mut child = repo
        .command(&repo.git, &args)
        .stdin(File::open(list).expect("it was just written"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git diff-tree starts");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let (mut n_commits, mut path, mut n_hunks) = (0, None, 0);
    // The hunk that is kept of those that are being read, and the line that comes next.
    let mut kept: Option<(usize, usize)> = None;
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).expect("git diff-tree can be read") != 0 {
        let text = String::from_utf8_lossy(&line);
        if let (Some(added), Some((at, number))) = (text.strip_prefix('+'), &mut kept)
            && !text.starts_with("+++ b/")
        {
            let hunks = &mut found.last_mut().expect("a hunk is kept of it").hunks;
            if (hunks[*at].start..=hunks[*at].end).contains(number) {
                hunks[*at].text.push_str(added);
            }
            *number += 1;
        } else if let Some(name) = text.strip_prefix("+++ ") {
            path = name.trim_end().strip_prefix("b/").map(str::to_owned);
            if let (Some(path), Some(candidate)) = (&path, found.last_mut()) {
                candidate.paths.push(path.clone());
            }
        } else if let (Some((first, hunk)), Some(candidate)) =
            (path.as_ref().and_then(|path| hunk(&text, path, random)), found.last_mut())
        {
            n_hunks += 1;
            kept = keep(candidate, hunk, n_hunks, random).map(|at| (at, first));
        } else if is_commit(text.trim_end()) {
            found.push(Candidate {
                commit_id: text.trim_end().to_owned(),
                hunks: Vec::new(),
                paths: Vec::new(),
            });
            (n_commits, path, n_hunks, kept) = (n_commits + 1, None, 0, None);
        }
        line.clear();
    }
    let whole = child.wait().expect("git diff-tree ends").success();
    found.retain(|candidate| !candidate.hunks.is_empty());
    if whole { usize::MAX / 2 } else { n_commits.max(1) }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The added side of a hunk header, or a part of it where it is long; behind its first line.
fn hunk(text: &str, path: &str, random: &mut Random) -> Option<(usize, Hunk)> {
    let (_, added) = text.strip_prefix("@@ -")?.split_once(" +")?;
    let (added, _) = added.split_once(" @@")?;
    let (start, n_lines) = added.split_once(',').unwrap_or((added, "1"));
    let (first, n_lines): (usize, usize) = (start.parse().ok()?, n_lines.parse().ok()?);
    if n_lines == 0 {
        return None;
    }
    let start = first + random.below(n_lines.saturating_sub(MOST_LINES) + 1);
    let end = start + n_lines.min(MOST_LINES) - 1;
    Some((first, Hunk { path: path.to_owned(), start, end, text: String::new() }))
}

/// Keeps `MAX_ENTRIES` of any number of hunks, each with the same chance; says in which place this one is kept.
fn keep(candidate: &mut Candidate, hunk: Hunk, n_seen: usize, random: &mut Random) -> Option<usize> {
    if candidate.hunks.len() < MAX_ENTRIES {
        candidate.hunks.push(hunk);
        return Some(candidate.hunks.len() - 1);
    }
    let at = random.below(n_seen);
    if at < MAX_ENTRIES {
        candidate.hunks[at] = hunk;
    }
    (at < MAX_ENTRIES).then_some(at)
}

/// `n` of the candidates, evenly spread over history; all if there are fewer.
pub(crate) fn evenly_spread(candidates: &[Candidate], n: usize) -> Vec<&Candidate> {
    let n = n.min(candidates.len());
    (0..n).map(|at| &candidates[at * candidates.len() / n]).collect()
}

/// How many notes were written, and how large they are.
pub(crate) struct Written {
    pub(crate) n_notes: usize,
    pub(crate) n_bytes: usize,
    /// How many located entries speak of a path, as it was named then.
    pub(crate) n_entries_by_path: HashMap<String, usize>,
}

/// Puts notes on the `annotated` commits, in one commit of the notes ref.
pub(crate) fn write(repo: &Repository, annotated: &[&Candidate], random: &mut Random) -> Written {
    let mut written = Written { n_notes: annotated.len(), n_bytes: 0, n_entries_by_path: HashMap::new() };
    repo.fast_import(&["--force"], |stream| {
        writeln!(stream, "commit refs/notes/chronicle")?;
        writeln!(stream, "committer Bench <{EMAIL}> 1767225600 +0000\ndata 0")?;
        for candidate in annotated {
            let note = note(candidate, annotated, random).to_string();
            written.n_bytes += note.len();
            for hunk in &candidate.hunks {
                *written.n_entries_by_path.entry(hunk.path.clone()).or_default() += 1;
            }
            writeln!(stream, "N inline {}\ndata {}\n{note}", candidate.commit_id, note.len())?;
        }
        Ok(())
    });
    written
}

pub(crate) fn note(candidate: &Candidate, annotated: &[&Candidate], random: &mut Random) -> Value {
    json!({
        "schema": "chronicle/v3",
        "commit": candidate.commit_id,
        "timestamp": "2026-01-01T00:00:00Z",
        "summary": random.sentence(18),
        "wisdom": wisdom(candidate, annotated, random),
        "provenance": { "source": "live", "author": format!("Bench <{EMAIL}>") },
    })
}

/// One entry for each hunk; in every fifth note the last one speaks of the whole commit instead.
fn wisdom(candidate: &Candidate, annotated: &[&Candidate], random: &mut Random) -> Vec<Value> {
    let n_entries = candidate.hunks.len();
    let lets_one_float = 1 < n_entries && random.below(5) == 0;
    (0..n_entries)
        .map(|at| {
            let hunk = &candidate.hunks[at];
            let mut entry = json!({
                "id": random.ulid(),
                "category": random.pick(&["gotcha", "dead_end", "insight", "unfinished_thread"]),
                "content": random.sentence(WORDS_OF_A_NOTE / n_entries),
            });
            if !lets_one_float || at + 1 < n_entries {
                entry["file"] = json!(hunk.path);
                entry["lines"] = json!({ "start": hunk.start, "end": hunk.end });
                entry["sketch"] = json!(hunk.sketch());
            }
            if random.below(4) == 0 {
                let other = annotated[random.below(annotated.len())];
                let file = &other.hunks[random.below(other.hunks.len())].path;
                entry["depends_on"] = json!([{ "file": file, "nature": random.sentence(8) }]);
            }
            entry
        })
        .collect()
}

/// What an agent would hand in about a commit that has no note yet.
pub(crate) fn annotation(candidate: &Candidate, random: &mut Random) -> String {
    let hunk = &candidate.hunks[0];
    json!({
        "summary": random.sentence(18),
        "wisdom": [{
            "category": "gotcha",
            "content": random.sentence(40),
            "file": hunk.path,
            "lines": { "start": hunk.start, "end": hunk.end },
        }],
    })
    .to_string()
}
