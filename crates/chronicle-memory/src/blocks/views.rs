//! Blocks that are renderings: of threads and of sessions.

use chronicle_core::{
    Age,
    block::{Author, BlockLine, BlockText, weightiest},
    decay::Decay,
};
use chronicle_search::NamedSession;
use chronicle_sessions::shortened;
use chronicle_workplace::Error;

use super::on_one_line;
use crate::{
    Blocks,
    memory::{OpenMemory, Scope},
    sessions::{look::Digested, named::short_session},
};

/// Sessions that are told of at most.
const MOST_SESSIONS: usize = 10;
/// Threads that are told of at most.
const MOST_THREADS: usize = 30;
/// The longest that is quoted in one line.
const LONGEST_QUOTE: usize = 240;
/// What a summary weighs beside the line of its session: it is left out long before.
const SUMMARY: f64 = 0.1;

impl Blocks<'_> {
    /// What a rendering says now.
    pub(super) fn rendering(
        &self,
        memory: &OpenMemory,
        label: &str,
        limit: usize,
        scope: &Scope,
    ) -> Result<BlockText, Error> {
        if *scope == Scope::Unknown {
            return Ok(BlockText::default());
        }
        let lines = match label {
            "pending_threads" => self.pending_lines(memory, scope)?,
            _ => self.recent_lines(memory, scope)?,
        };
        let line = |text: &str| BlockLine { by: Author::Rule, ..BlockLine::of_user(text) };
        let lines = weightiest(lines, limit).iter().map(|text| line(&on_one_line(text))).collect();
        Ok(BlockText { lines, dismissed: Vec::new() })
    }

    fn pending_lines(&self, memory: &OpenMemory, scope: &Scope) -> Result<Vec<(String, f64)>, Error> {
        let listed =
            memory.store.listed_threads(scope.project(), self.workplace.now(), false, MOST_THREADS)?;
        let mut lines = Vec::new();
        for (at, listed) in (0_u32..).zip(&listed) {
            let thread = &listed.thread;
            let short = memory.store.short_thread_id(&thread.id)?;
            let mut place: Vec<&str> = Vec::new();
            if *scope == Scope::All {
                place.push(&listed.project_name);
            }
            place.extend(thread.branch.as_deref());
            let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
            let summary = shortened(thread.told(), LONGEST_QUOTE);
            // They come in the order in which they matter.
            lines.push((format!("{short} [{}] {summary}{place}", thread.priority.name()), -f64::from(at)));
        }
        Ok(lines)
    }

    fn recent_lines(&self, memory: &OpenMemory, scope: &Scope) -> Result<Vec<(String, f64)>, Error> {
        let which = (scope.project(), None);
        let sessions = memory.store.read(|connection| {
            NamedSession::latest_talks(connection, which, self.memory().until(), MOST_SESSIONS)
        })?;
        let mut lines = Vec::new();
        for session in &sessions {
            let record = &session.record;
            let days = record.last.map_or(0.0, |last| Age::between(last, self.workplace.now()).days());
            let weight = Decay::SESSION.importance(f64::from(record.importance), days, []);
            let mut about = Vec::new();
            about.extend(record.last.map(|last| last.to_zoned(self.zone()).date().to_string()));
            if *scope == Scope::All {
                about.push(memory.project_name(session)?);
            }
            about.extend(record.branch.clone());
            about.push(short_session(&record.name).to_owned());
            lines.push((format!("{} ({})", record.title, about.join(", ")), weight));
            let summary = session.digest().map(|digest| digest.summary).unwrap_or_default();
            if !summary.is_empty() {
                lines.push((format!("  {}", shortened(&summary, 2 * LONGEST_QUOTE)), weight * SUMMARY));
            }
        }
        Ok(lines)
    }
}
