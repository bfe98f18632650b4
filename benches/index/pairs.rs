//! The (file, lines) pairs that are asked about.

use std::fs;

use serde_json::Value;

use crate::measure::random::Random;
use crate::measure::repository::Repository;

const RANGE: usize = 30;
const SHORTEST_FILE: usize = 2 * RANGE;
const LARGEST_FILE: usize = 512 * 1024;

/// Some lines of a file at HEAD that somebody asks about.
pub(crate) struct Pair {
    pub(crate) path: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Pair {
    pub(crate) fn lines(&self) -> String {
        format!("{}:{}", self.start, self.end)
    }
}

/// Random ranges of random files; every second one holds lines that an entry speaks of, if the file has any.
pub(crate) fn draw(repo: &Repository, n_pairs: usize, random: &mut Random) -> Vec<Pair> {
    let files = files(repo);
    assert!(!files.is_empty(), "no file at HEAD has {SHORTEST_FILE} lines");
    (0..n_pairs)
        .map(|turn| {
            let (path, n_lines) = &files[random.below(files.len())];
            let last_start = n_lines - RANGE + 1;
            let spoken_of = if turn % 2 == 0 { recorded_line(repo, path, random) } else { None };
            let start = match spoken_of {
                Some(line) => line.saturating_sub(random.below(RANGE)).clamp(1, last_start),
                None => 1 + random.below(last_start),
            };
            Pair { path: path.clone(), start, end: start + RANGE - 1 }
        })
        .collect()
}

/// Text files at HEAD that are long enough, with their numbers of lines.
pub(crate) fn files(repo: &Repository) -> Vec<(String, usize)> {
    repo.git(&["ls-files", "-z"])
        .split('\0')
        .filter_map(|path| {
            let full = repo.work_tree.join(path);
            let is_plain = full.symlink_metadata().ok()?.is_file();
            let content = if is_plain { fs::read_to_string(full).ok()? } else { return None };
            let n_lines = content.lines().count();
            let fits = SHORTEST_FILE <= n_lines && content.len() <= LARGEST_FILE && !content.contains('\0');
            fits.then(|| (path.to_owned(), n_lines))
        })
        .collect()
}

fn recorded_line(repo: &Repository, path: &str, random: &mut Random) -> Option<usize> {
    let text = repo.output(&repo.chronicle, &["read", path, "--format", "json"]);
    let reading: Value = serde_json::from_str(&text).expect("read --format json prints JSON");
    let starts: Vec<u64> =
        reading["wisdom"].as_array()?.iter().filter_map(|item| item["lines"]["start"].as_u64()).collect();
    let start = *starts.get(random.below(starts.len().max(1)))?;
    usize::try_from(start).ok()
}

/// A file with an edit that is not committed, which goes when this does.
pub(crate) struct Edited<'a> {
    repo: &'a Repository,
    path: &'a str,
    content: Vec<u8>,
    modified: std::time::SystemTime,
}

impl<'a> Edited<'a> {
    /// Changes a line, adds three and takes one out, each somewhere in the file.
    pub(crate) fn new(repo: &'a Repository, path: &'a str, random: &mut Random) -> Self {
        let full = repo.work_tree.join(path);
        let content = fs::read(&full).expect("the file is in the work tree");
        let metadata = fs::metadata(&full).and_then(|metadata| metadata.modified());
        let text = String::from_utf8(content.clone()).expect("only UTF-8 files are asked about");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = random.below(lines.len());
        lines[at] = random.statement();
        let at = random.below(lines.len());
        lines.splice(at..at, (0..3).map(|_| random.statement()));
        let at = random.below(lines.len());
        lines.remove(at);
        fs::write(full, lines.join("\n") + "\n").expect("the work tree is writable");
        Self { repo, path, content, modified: metadata.expect("files have a time of change") }
    }
}

impl Drop for Edited<'_> {
    fn drop(&mut self) {
        let full = self.repo.work_tree.join(self.path);
        let restored = fs::write(&full, &self.content)
            .and_then(|()| fs::File::options().write(true).open(&full))
            .and_then(|file| file.set_modified(self.modified));
        restored.expect("the work tree is writable");
    }
}
