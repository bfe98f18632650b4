//! Which files a call of a tool reads, and which lines of them.
//!
//! Agents read files with a tool of their own, or with commands of a shell. What cannot be told for sure is left out:
//! a hook says nothing then.

use std::path::PathBuf;

use crate::{
    commands::shell::{self, Join},
    rows::json::{self, Raw},
    rows::outcome::script,
};

/// Files that are told of one call at most.
const MOST_FILES: usize = 8;

/// A file that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Its path, as the call has it, behind the folders that the command went to.
    pub path: PathBuf,
    /// Its lines.
    pub lines: ReadLines,
}

/// Lines of a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadLines {
    /// All, or nobody knows which.
    All,
    /// From one to another one, both included.
    Between(u32, u32),
    /// So many, the last ones.
    Last(u32),
}

/// What the tool `name` with `input` reads; `None` for a tool that reads nothing.
pub(crate) fn read_by_tool(name: &str, input: Raw<'_>) -> Option<Vec<FileRead>> {
    match name {
        "Read"
        | "read"
        | "read_file"
        | "ReadFile"
        | "read_file_v2"
        | "view"
        | "View"
        | "open_file"
        | "NotebookRead"
        | "read_many_files"
        | "Grep"
        | "grep"
        | "search_file_content" => {}
        "str_replace_editor" | "str_replace_based_edit_tool"
            if json::member_text(input, "command").as_deref() == Some("view") => {}
        _ => return None,
    }
    let mut paths = Vec::new();
    let (mut first, mut count, mut last) = (None, None, None);
    let number = |value: Raw<'_>| json::number(value).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    json::members(input, |key, value| match key {
        "file_path" | "filePath" | "path" | "absolute_path" | "target_file" | "notebook_path" | "file" => {
            paths.extend(json::text(value).map(|path| PathBuf::from(path.as_ref())));
        }
        "paths" => json::items(value, |item| {
            paths.extend(json::text(item).map(|path| PathBuf::from(path.as_ref())));
        }),
        "offset" | "start_line" | "start_line_one_indexed" | "startLine" => first = number(value),
        "limit" => count = number(value),
        "end_line" | "end_line_one_indexed_inclusive" | "endLine" => last = number(value),
        "view_range" | "viewRange" => {
            let mut range = Vec::new();
            json::items(value, |item| range.extend(number(item)));
            (first, last) = (range.first().copied(), range.get(1).copied());
        }
        _ => {}
    });
    paths.truncate(MOST_FILES);
    // Some count from 0: one line more does no harm.
    let start = first.unwrap_or(1).max(1);
    let end = last.or_else(|| count.map(|count| start.saturating_add(count)));
    let lines = match (first, end) {
        (None, None) => ReadLines::All,
        (_, end) => ReadLines::Between(start, end.unwrap_or(u32::MAX).max(start)),
    };
    Some(paths.into_iter().map(|path| FileRead { path, lines }).collect())
}

/// What a command for a shell reads with `cat`, `sed -n`, `head`, `tail`, `grep` and the like.
#[must_use]
pub fn read_by_command(command: &str) -> Vec<FileRead> {
    let mut found = Vec::new();
    let mut folder = PathBuf::new();
    gather(&shell::without_texts(command), &mut folder, &mut found);
    found.truncate(MOST_FILES);
    found
}

fn gather(command: &str, folder: &mut PathBuf, found: &mut Vec<FileRead>) {
    // What a command reads that others go on with, such as `nl f | sed -n 5,9p`.
    let mut handed_on = 0..0;
    for part in shell::parts(command) {
        if let Some(inner) = part.group().or_else(|| script(part.text)) {
            // A group goes back to where it began.
            gather(inner, &mut folder.clone(), found);
            handed_on = 0..0;
            continue;
        }
        let Some(words) = words(part.text) else { continue };
        let Some((program, rest)) = words.split_first() else { continue };
        let program = program.rsplit('/').next().unwrap_or(program);
        if program == "cd" {
            folder.extend(rest.first());
            continue;
        }
        let begin = found.len();
        let named = named_by(program, rest);
        if let (Some(Named { files, lines }), Join::Pipe) = (&named, part.join)
            && files.is_empty()
        {
            // It reads what was handed to it.
            for read in &mut found[handed_on.clone()] {
                if *lines != ReadLines::All && read.lines == ReadLines::All {
                    read.lines = *lines;
                }
            }
            continue;
        }
        let Named { files, lines } = named.unwrap_or_default();
        found.extend(files.into_iter().map(|file| FileRead { path: folder.join(file), lines }));
        handed_on = begin..found.len();
    }
}

/// The words of one command, without settings before it, and without redirections and what they lead to.
fn words(command: &str) -> Option<Vec<String>> {
    let all = shlex::split(command)?;
    let mut words = Vec::new();
    let mut all = all.into_iter().skip_while(|word| shell::is_setting(word) || word == "sudo");
    while let Some(word) = all.next() {
        let redirection = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        match redirection.strip_prefix(['>', '<']) {
            Some(rest) if rest.trim_start_matches(['>', '<', '&', '|']).is_empty() => drop(all.next()),
            Some(_) => {}
            None => words.push(word),
        }
    }
    Some(words)
}

/// What a command names.
struct Named<'w> {
    files: Vec<&'w str>,
    lines: ReadLines,
}

impl Default for Named<'_> {
    fn default() -> Self {
        Self { files: Vec::new(), lines: ReadLines::All }
    }
}

fn named_by<'w>(program: &str, words: &'w [String]) -> Option<Named<'w>> {
    let plain =
        || -> Vec<&str> { words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect() };
    match program {
        "cat" | "bat" | "batcat" | "less" | "more" | "nl" => {
            Some(Named { files: plain(), lines: ReadLines::All })
        }
        "head" | "tail" => {
            let (files, said) = with_count(words);
            let count = said.as_deref().unwrap_or("10");
            let number = |text: &str| text.parse::<u32>().ok();
            let lines = match (program, count.strip_prefix('+')) {
                ("tail", Some(first)) => ReadLines::Between(number(first)?.max(1), u32::MAX),
                ("tail", None) => ReadLines::Last(number(count)?),
                _ => ReadLines::Between(1, number(count)?.max(1)),
            };
            Some(Named { files, lines })
        }
        "sed" => {
            let is_quiet =
                words.iter().any(|word| ["-n", "--quiet", "--silent", "-En", "-nE"].contains(&word.as_str()));
            let mut rest = plain().into_iter();
            let lines = printed(rest.next()?).filter(|_| is_quiet)?;
            Some(Named { files: rest.collect(), lines })
        }
        "rg" | "grep" | "egrep" | "fgrep" | "ag" => {
            // Options whose value is a word of its own.
            const TAKING: [&str; 14] = [
                "-A",
                "-B",
                "-C",
                "-m",
                "-g",
                "-t",
                "-T",
                "-d",
                "-D",
                "--glob",
                "--type",
                "--max-count",
                "-M",
                "-j",
            ];
            let (mut rest, mut has_pattern) = (Vec::new(), false);
            let mut all = words.iter().map(String::as_str);
            while let Some(word) = all.next() {
                match word {
                    "-e" | "-f" | "--regexp" | "--file" => {
                        has_pattern = true;
                        all.next();
                    }
                    taking if TAKING.contains(&taking) => drop(all.next()),
                    option if option.starts_with('-') && 1 < option.len() => {}
                    word => rest.push(word),
                }
            }
            let n_patterns = usize::from(!has_pattern && !rest.is_empty());
            Some(Named { files: rest.split_off(n_patterns), lines: ReadLines::All })
        }
        _ => None,
    }
}

/// The files of `head` and `tail`, and how many lines of them are said: `-n 20`, `-n20`, `-20`, `--lines=20`.
fn with_count(words: &[String]) -> (Vec<&str>, Option<String>) {
    let (mut files, mut count) = (Vec::new(), None);
    let mut all = words.iter().map(String::as_str);
    while let Some(word) = all.next() {
        if word == "-c" {
            all.next();
            continue;
        }
        match word
            .strip_prefix("--lines=")
            .or_else(|| word.strip_prefix("-n"))
            .or_else(|| word.strip_prefix('-'))
        {
            Some("") if word == "-n" => count = all.next().map(str::to_owned),
            Some("") => {}
            Some(said) if said.trim_start_matches('+').bytes().all(|byte| byte.is_ascii_digit()) => {
                count = Some(said.to_owned());
            }
            Some(_) => {}
            None => files.push(word),
        }
    }
    (files, count)
}

/// The lines that a script of `sed -n` prints, from the first to the last: `10,20p`, `7p`, `5,$p;9p`.
fn printed(script: &str) -> Option<ReadLines> {
    let (mut first, mut last) = (u32::MAX, 0);
    for command in script.split([';', '\n']).map(str::trim).filter(|command| !command.is_empty()) {
        let range = command.strip_suffix('p')?.trim();
        let (start, end) = range.split_once(',').unwrap_or((range, range));
        let start: u32 = start.trim().parse().ok()?;
        let end = match end.trim() {
            "$" => u32::MAX,
            end => match end.strip_prefix('+') {
                Some(more) => start.saturating_add(more.parse().ok()?),
                None => end.parse().ok()?,
            },
        };
        (first, last) = (first.min(start.max(1)), last.max(end));
    }
    (first <= last).then_some(ReadLines::Between(first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn command(command: &str, expected: &[(&str, ReadLines)]) {
        let found = read_by_command(command);
        let found: Vec<_> = found.iter().map(|read| (read.path.to_str().unwrap(), read.lines)).collect();
        assert_eq!(found, expected, "{command}");
    }

    use ReadLines::{All, Between, Last};

    #[test]
    fn commands_name_the_files_that_they_read() {
        command("cat src/a.rs", &[("src/a.rs", All)]);
        command("cat 'a b.rs' \"c.rs\" 2>/dev/null | wc -l", &[("a b.rs", All), ("c.rs", All)]);
        command("cd crates && cat a.rs && cd x; cat b.rs", &[("crates/a.rs", All), ("crates/x/b.rs", All)]);
        command("(cd x && cat a.rs); cat b.rs", &[("x/a.rs", All), ("b.rs", All)]);
        command("sed -n '10,20p' a.rs", &[("a.rs", Between(10, 20))]);
        command("sed -n -e 7p a.rs", &[("a.rs", Between(7, 7))]);
        command("sed -n '5,+3p;40,$p' a.rs", &[("a.rs", Between(5, u32::MAX))]);
        command("head -20 a.rs; head b.rs", &[("a.rs", Between(1, 20)), ("b.rs", Between(1, 10))]);
        command("tail -n 5 a.rs; tail -n +30 b.rs", &[("a.rs", Last(5)), ("b.rs", Between(30, u32::MAX))]);
        command("nl -ba a.rs | sed -n '5,9p'", &[("a.rs", Between(5, 9))]);
        command("cat a.rs | head -n 30", &[("a.rs", Between(1, 30))]);
        command("rg -n 'fn take' src/pool.rs src/", &[("src/pool.rs", All), ("src/", All)]);
        command("grep -A 3 -e x a.rs", &[("a.rs", All)]);
        command("bash -lc 'cat a.rs'", &[("a.rs", All)]);
        command("/bin/cat a.rs", &[("a.rs", All)]);
    }

    #[test]
    fn what_writes_or_says_nothing_reads_nothing() {
        for other in [
            "cat > a.rs <<'EOF'\ncat b.rs\nEOF",
            "cat >a.rs",
            "sed -i 's/a/b/' a.rs",
            "sed 's/a/b/' a.rs",
            "echo cat a.rs",
            "ls -l src",
            "cat 'unended",
            "rg pattern",
            "head -c 20",
            "",
        ] {
            command(other, &[]);
        }
    }

    #[test]
    fn tools_name_the_files_that_they_read() {
        let check = |name: &str, input: &str, expected: Option<&[(&str, ReadLines)]>| {
            let found = json::whole(input).and_then(|input| read_by_tool(name, input));
            let found = found.map(|found| {
                found
                    .into_iter()
                    .map(|read| (read.path.to_str().unwrap().to_owned(), read.lines))
                    .collect::<Vec<_>>()
            });
            let expected = expected.map(|reads| {
                reads.iter().map(|(path, lines)| ((*path).to_owned(), *lines)).collect::<Vec<_>>()
            });
            assert_eq!(found, expected, "{name} {input}");
        };
        check("Read", r#"{"file_path":"/w/a.rs"}"#, Some(&[("/w/a.rs", All)]));
        check(
            "Read",
            r#"{"file_path":"/w/a.rs","offset":10,"limit":5}"#,
            Some(&[("/w/a.rs", Between(10, 15))]),
        );
        check(
            "read_file",
            r#"{"absolute_path":"a","start_line":3,"end_line":9}"#,
            Some(&[("a", Between(3, 9))]),
        );
        check("view", r#"{"path":"a","view_range":[4,8]}"#, Some(&[("a", Between(4, 8))]));
        check("view", r#"{"path":"a","view_range":[4,-1]}"#, Some(&[("a", Between(4, u32::MAX))]));
        check("read_many_files", r#"{"paths":["a","b"]}"#, Some(&[("a", All), ("b", All)]));
        check("str_replace_editor", r#"{"command":"view","path":"a"}"#, Some(&[("a", All)]));
        check("str_replace_editor", r#"{"command":"insert","path":"a"}"#, None);
        check("Edit", r#"{"file_path":"a"}"#, None);
        check("Read", r#"{"file_path":7}"#, Some(&[]));
    }
}
