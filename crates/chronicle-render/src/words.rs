//! Pieces that several formats share.

use std::fmt::Write;

pub(super) use chronicle_core::one_line;
use chronicle_core::{
    Age, EntryId, LineRange,
    correction::{CorrectionItem, CorrectionKind, Tier},
    counted, plain,
    reading::{GoneBecause, Match, MovedTo, Standing, State},
    shown_path,
};
use chronicle_memory::sessions::ChangedSince;
use jiff::Timestamp;

/// A commit, short.
pub(super) fn short(commit: &str) -> String {
    let known: String = commit.chars().take(7).collect();
    path(&known)
}

/// The id of a claim, which a note of others may make of any text.
pub(super) fn id(id: &EntryId) -> String {
    path(&id.0)
}

/// Adds what `write` writes, of someone trusted as `tier`. Each line of a stranger's words is quoted, so that none of
/// them passes for another item.
pub(super) fn said_as(out: &mut String, tier: Tier, write: impl FnOnce(&mut String)) {
    if tier != Tier::Unknown {
        return write(out);
    }
    let mut said = String::new();
    write(&mut said);
    for line in said.lines() {
        // What is quoted in there already is a stranger's, too.
        out.push_str(if line.is_empty() {
            ">"
        } else if line.starts_with("> ") {
            ""
        } else {
            "> "
        });
        out.push_str(line);
        out.push('\n');
    }
}

/// A path on one line, whatever its name holds.
pub(super) fn path(path: &str) -> String {
    shown_path(path).into_owned()
}

/// The name of code between other facts: one that could be taken for several of them stands in backticks, and is cut.
pub(super) fn anchor(name: &str) -> String {
    const LONGEST: usize = 100;
    let name = path(name);
    let is_plain = |c: char| c.is_alphanumeric() || "_:.#<>~$@&*!?=-+/'".contains(c);
    if name.chars().all(is_plain) && name.chars().count() <= LONGEST {
        return name;
    }
    let name: String = name.chars().filter(|c| *c != '`').take(LONGEST).collect();
    format!("`{name}`")
}

/// `10-20`.
fn range(lines: LineRange) -> String {
    format!("{}-{}", lines.start, lines.end)
}

/// The first of several places, and how many more there are.
pub(super) fn ranges(ranges: &[LineRange]) -> String {
    const MOST: usize = 4;
    let shown: Vec<String> = ranges.iter().take(MOST).map(|lines| range(*lines)).collect();
    match ranges.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        1 => format!("{} and 1 more place", shown.join(", ")),
        more => format!("{} and {more} more places", shown.join(", ")),
    }
}

/// How long ago it was, as in `2 days ago`; nothing for what is no time.
pub(super) fn ago(at: Option<&str>, now: Timestamp) -> Option<String> {
    let at: Timestamp = at?.parse().ok()?;
    Some(format!("{} ago", Age::between(at, now)))
}

/// The same, with the day where it is not of today: `2026-03-01, 9 days ago`.
pub(super) fn when(at: Option<&str>, now: Timestamp) -> Option<String> {
    let ago = ago(at, now)?;
    let at: Timestamp = at?.parse().ok()?;
    let is_of_today = now.duration_since(at).as_hours() < 24;
    Some(if is_of_today { ago } else { format!("{}, {ago}", at.strftime("%Y-%m-%d")) })
}

/// `2 of its 5 files have changed since: src/a.rs, src/b.rs (compared with 1a2b3c4)`.
pub(super) fn changed_since(since: &ChangedSince) -> String {
    const NAMED: usize = 5;
    let n_changed = since.files.len();
    let have = if n_changed == 1 { "has" } else { "have" };
    let named: Vec<String> = since.files.iter().take(NAMED).map(|file| path(file)).collect();
    let more = if NAMED < n_changed { format!(" and {} more", n_changed - NAMED) } else { String::new() };
    let of = counted(since.of, "file");
    let (named, commit) = (named.join(", "), short(&since.commit));
    format!("{n_changed} of its {of} {have} changed since: {named}{more} (compared with {commit})")
}

/// `lines 10-20`, or nothing when no lines are known.
pub(super) fn lines(standing: &Standing) -> Option<String> {
    some_lines(standing.lines, &standing.near)
}

/// The same of any lines.
pub(super) fn some_lines(lines: Option<LineRange>, near: &[LineRange]) -> Option<String> {
    match lines {
        Some(lines) => Some(format!("lines {}", range(lines))),
        None if near.is_empty() => None,
        None => Some(format!("near lines {}", ranges(near))),
    }
}

/// Where an item is now, and what became of it: `lines 10-20, intact`.
pub(super) fn place(standing: &Standing) -> String {
    placed(standing, lines(standing))
}

/// The same, with its lines in other words.
pub(super) fn placed(standing: &Standing, lines: Option<String>) -> String {
    let state = match standing.state {
        State::Gone => return gone(standing),
        State::Changed => "changed",
        State::Intact => "intact",
    };
    match (lines, standing.matched) {
        (Some(lines), _) => {
            let about = standing.item_lines.map_or("", |_| ", about this item");
            format!("{lines}, {state}{about}")
        }
        (None, Match::Commit) => "whole commit".to_owned(),
        (None, _) => "whole file".to_owned(),
    }
}

/// `gone since 3fa1632, rewritten, about this item`.
fn gone(standing: &Standing) -> String {
    let mut gone = match &standing.gone_since {
        Some(commit) => format!("gone since {}", short(commit)),
        None => "gone".to_owned(),
    };
    let because = match standing.gone_because {
        Some(GoneBecause::Deleted) => Some("deleted"),
        Some(GoneBecause::Rewritten) => Some("rewritten"),
        Some(GoneBecause::Moved) => standing.moved_to.is_none().then_some("moved"),
        Some(GoneBecause::NotOnThisBranch) => Some("not on this branch"),
        Some(GoneBecause::Unknown) | None => None,
    };
    if let Some(MovedTo { file, lines }) = &standing.moved_to {
        let _ = write!(gone, ", moved to {} lines {}-{}", path(file), lines.start, lines.end);
    }
    let about = standing.item_lines.map(|_| "about this item");
    for words in because.into_iter().chain(about) {
        let _ = write!(gone, ", {words}");
    }
    gone
}

/// `2 days`, and how often the file was changed since.
pub(super) fn age(standing: &Standing, now: Timestamp) -> String {
    let mut age = Age::between(standing.at, now).to_string();
    if let Some(n) = standing.commits_since.filter(|n| 0 < *n) {
        let _ = write!(age, ", {} since", counted(n, "commit"));
    }
    age
}

/// `from Bob, not yours: fetched from up`, `superseded by …`, `on refs/heads/x`: whatever speaks against an item.
pub(super) fn doubts(standing: &Standing) -> Vec<String> {
    let mut doubts: Vec<String> = standing.said_by().into_iter().collect();
    doubts.extend(standing.superseded_by.as_ref().map(|by| format!("superseded by {}", id(by))));
    doubts.extend(standing.lines_disagree.then(|| "its recorded lines were not in this item".to_owned()));
    doubts.extend(standing.expired.then(|| "expired".to_owned()));
    if !standing.corrections.is_empty() {
        let is_flag = |item: &CorrectionItem| item.kind == CorrectionKind::Flag;
        let word = if standing.corrections.iter().all(is_flag) { "flagged" } else { "corrected" };
        doubts.push(word.to_owned());
    }
    doubts.extend(standing.elsewhere.as_ref().map(|place| format!("on {}", path(place))));
    doubts
}

/// The text with its later lines indented by `indent`, so that it stays inside its list item.
pub(super) fn indented(text: &str, indent: &str) -> String {
    let mut indented = String::new();
    write_indented(&mut indented, text, indent);
    indented
}

/// Adds what [`indented`] makes of the text to `out`.
pub(super) fn write_indented(out: &mut String, text: &str, indent: &str) {
    let text = plain(text);
    let mut lines = text.trim().lines();
    out.push_str(lines.next().unwrap_or_default().trim_end());
    for line in lines {
        out.push('\n');
        if !line.trim().is_empty() {
            out.push_str(indent);
            out.push_str(line.trim_end());
        }
    }
}
