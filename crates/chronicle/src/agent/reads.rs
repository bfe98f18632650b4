//! What is known of the lines that an agent has just read: before it decides how to change them.

use std::{cmp::Reverse, collections::HashSet, path::Path};

use chronicle_core::{Category, LineRange, correction::Tier, reading::WisdomItem};
use chronicle_git::files;
use chronicle_memory::injected::Telling;
use chronicle_sessions::{FileRead, ReadLines};
use chronicle_workplace::Error;
use jiff::Timestamp;

use super::{
    AgentSession, AgentTexts,
    edits::{is_reason, items},
};
use crate::Agents;

/// The event, as it is written down.
const EVENT: &str = "read";

/// Files that are told of at one read at most, and lines about one of them.
const MOST_FILES: usize = 8;
const MOST_LINES: usize = 10;

/// Lines that are told in one context at most. An agent that reads on and on has less room for its work.
const MOST_LINES_OF_CONTEXT: usize = 40;

impl Agents<'_> {
    /// What an agent should know of the lines that it has just read, and was not told in this context: traps and dead
    /// ends first; none where there is nothing, and where `chronicle.showOnRead` is off. `key` names the call.
    ///
    /// Session memory stays closed.
    ///
    /// # Errors
    /// When the repository or the log of the session cannot be read.
    pub fn tell_of_reads(
        &self,
        session: &AgentSession,
        reads: &[FileRead],
        key: Option<&str>,
        texts: &AgentTexts,
    ) -> Result<Option<String>, Error> {
        if !self.workplace().read_settings()?.shows_on_read {
            return Ok(None);
        }
        let (mut found, mut met) = (Vec::new(), HashSet::new());
        for read in reads.iter().take(MOST_FILES) {
            let path = self.workplace().directory().join(&read.path);
            let Some(lines) = lines_of(&path, read.lines) else { continue };
            let mut reading = match self.known_of(&path, lines, usize::MAX)? {
                Some(reading) if !reading.wisdom.is_empty() => reading,
                _ => continue,
            };
            self.leave_out_rejected(&mut reading);
            // One command may read a file twice.
            reading.wisdom.retain(|item| met.insert((item.standing.id.clone(), item.standing.tier)));
            found.push(reading);
        }
        if found.is_empty() {
            return Ok(None);
        }
        let mut log = self.chronicle.memory().session_log(session)?;
        if log.has(EVENT, key) {
            return Ok(None);
        }
        let shown = log.shown();
        let mut left = MOST_LINES_OF_CONTEXT.saturating_sub(log.n_lines(EVENT));
        let (mut text, mut told, mut places) = (String::new(), Vec::new(), Vec::new());
        for mut reading in found {
            reading.wisdom.retain(|item| !shown.has(&item.standing.id.0, item.standing.tier));
            // Only lessons are told: the code itself, and what depends on it, is told where it is changed.
            reading.regions.clear();
            reading.dependencies_on_this.clear();
            reading.knowledge.clear();
            // The marks around what is told are two lines.
            let room = MOST_LINES.min(left.saturating_sub(2));
            if reading.wisdom.is_empty() || !is_reason(&reading) || room < 2 {
                continue;
            }
            reading.wisdom.sort_by_key(rank);
            let n_shown = match reading.wisdom.len() {
                few if few < room => few,
                _ => room - 2,
            };
            if n_shown == 0 {
                continue;
            }
            let n_more = reading.wisdom.len() - n_shown;
            reading.wisdom.truncate(n_shown);
            let file = reading.query.file.clone().unwrap_or_default();
            let lines = (texts.lessons_of_read)(&file, &reading.wisdom, n_more, self.workplace().now());
            left = left.saturating_sub(lines.lines().count());
            text.push_str(&lines);
            told.extend(items(&reading));
            places.push(file);
        }
        if told.is_empty() {
            return Ok(None);
        }
        let why = format!("a read of {}", places.join(", "));
        self.chronicle
            .memory()
            .tell(&mut log, Telling { event: EVENT, key, why, items: told, text })
            .map(Some)
    }
}

/// Traps and dead ends come first, then whom the user trusts most, then the newest.
fn rank(item: &WisdomItem) -> (u8, Reverse<Tier>, Reverse<Timestamp>) {
    let category = match item.category {
        Category::Gotcha | Category::DeadEnd => 0,
        Category::Insight => 1,
        Category::UnfinishedThread => 2,
    };
    (category, Reverse(item.standing.tier), Reverse(item.standing.at))
}

/// The lines that were read, `Some(None)` for all; none where there is no such file.
fn lines_of(path: &Path, lines: ReadLines) -> Option<Option<LineRange>> {
    files::open(path).ok()?;
    Some(match lines {
        ReadLines::All => None,
        ReadLines::Between(start, end) => {
            let last = n_lines(path)?;
            // Whoever reads beyond the end reads nothing.
            Some(LineRange { start, end: end.min(last) }).filter(|lines| lines.start <= lines.end)?.into()
        }
        ReadLines::Last(count) => {
            let end = n_lines(path)?;
            Some(LineRange { start: end.saturating_sub(count.saturating_sub(1)).max(1), end })
        }
    })
}

fn n_lines(path: &Path) -> Option<u32> {
    let content = files::read(path, files::MAX_BYTES).ok()?;
    u32::try_from(chronicle_core::Lines::new(&content).all().len().max(1)).ok()
}
