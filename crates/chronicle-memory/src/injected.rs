//! What agents were told, when, why, and whether they made use of it.

pub mod log;
mod telling;

use std::collections::{BTreeMap, HashSet};

use chronicle_core::correction::Tier;
use chronicle_search::{NamedSession, StoredTurn, TurnKind};
use chronicle_workplace::{Error, error::UnknownSessionSnafu};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use self::log::Record;
pub use self::telling::{Telling, tokens};
pub use self::{
    log::{SessionLog, ShownItem},
    telling::{AgentSession, LONGEST_TEXT, fenced, without_fences},
};
use crate::{Memory, memory::OpenMemory};

/// Words in a row that an agent does not come up with by chance.
const WORDS_IN_A_ROW: usize = 4;

/// Occasions that are listed at most, unless a session is named.
const MOST_LISTED: usize = 50;

/// What agents were told.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Injected {
    /// Always `chronicle-injected/v1`.
    pub schema: &'static str,
    /// The occasions, the last first.
    pub told: Vec<InjectedText>,
    /// How many more there are.
    pub n_more: usize,
}

/// What agents were told, in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InjectedSummary {
    /// Always `chronicle-injected-summary/v1`.
    pub schema: &'static str,
    /// The weeks, the last first.
    pub weeks: Vec<InjectedWeek>,
    /// All weeks together.
    pub total: InjectedWeek,
}

/// What agents were told in a week.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InjectedWeek {
    /// The week, as ISO 8601 counts it, such as `2026-W11`; empty for all.
    pub week: String,
    /// In how many sessions something was told.
    pub sessions: usize,
    /// How many things were told: lessons, threads, commits.
    pub shown: usize,
    /// How many of these session memory knows enough of to say whether they were used.
    pub known: usize,
    /// How many of these the session spoke of afterwards.
    pub used: usize,
    /// What all texts cost, in tokens of about four characters.
    pub tokens: usize,
}

/// What was told on one occasion.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InjectedText {
    /// When.
    pub at: String,
    /// The agent.
    pub host: String,
    /// The session.
    pub session: String,
    /// The event, such as `pre-tool-use`.
    pub event: String,
    /// Why it was told.
    pub why: String,
    /// The folder that the agent worked in.
    pub folder: String,
    /// What was told.
    pub items: Vec<InjectedItem>,
    /// The very words.
    pub text: String,
}

/// One thing that was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InjectedItem {
    /// What names it.
    pub id: String,
    /// The commit that it is from.
    pub commit: Option<String>,
    /// The file that it is about.
    pub file: Option<String>,
    /// The beginning of its words.
    pub words: String,
    /// How far whoever says it was trusted.
    pub tier: Tier,
    /// Whether the session spoke of it afterwards: its id, its commit, or four of its words in a row; null while
    /// session memory does not know the session so far.
    pub used: Option<bool>,
}

impl Memory<'_> {
    /// What agents were told, the last first; of one session, or of all that worked in this repository.
    ///
    /// # Errors
    /// When the session was told nothing, or session memory cannot be read.
    pub fn injected(&self, session: Option<&str>) -> Result<Injected, Error> {
        let mut told = self.all_injected(session)?;
        let n_more = if session.is_some() { 0 } else { told.len().saturating_sub(MOST_LISTED) };
        told.truncate(told.len() - n_more);
        Ok(Injected { schema: "chronicle-injected/v1", told, n_more })
    }

    /// The same in numbers, by week.
    ///
    /// # Errors
    /// As [`Memory::injected`].
    pub fn injected_summary(&self, session: Option<&str>) -> Result<InjectedSummary, Error> {
        let told = self.all_injected(session)?;
        let mut by_week: BTreeMap<String, Vec<&InjectedText>> = BTreeMap::new();
        for text in &told {
            by_week.entry(week_of(&text.at)).or_default().push(text);
        }
        let weeks = by_week.into_iter().rev().map(|(week, told)| InjectedWeek::of(week, &told)).collect();
        let all: Vec<&InjectedText> = told.iter().collect();
        let total = InjectedWeek::of(String::new(), &all);
        Ok(InjectedSummary { schema: "chronicle-injected-summary/v1", weeks, total })
    }

    /// All that agents were told, the last first.
    pub(crate) fn all_injected(&self, session: Option<&str>) -> Result<Vec<InjectedText>, Error> {
        let folder = self.injected_folder()?;
        let top = chronicle_git::Checkout::of(self.workplace.directory()).map(|checkout| checkout.root);
        let is_here = |record: &Record| {
            top.as_ref().is_none_or(|top| std::path::Path::new(&record.folder).starts_with(top))
        };
        let mut told = Vec::new();
        for (name, records) in log::all(&folder) {
            let Some((host, id)) = name.split_once('-') else { continue };
            if session.is_some_and(|start| !id.starts_with(start)) {
                continue;
            }
            let records: Vec<Record> = records
                .into_iter()
                .filter(|record| !record.text.is_empty() && (session.is_some() || is_here(record)))
                .collect();
            let turns = if records.is_empty() { None } else { self.turns_of(id)? };
            told.extend(records.into_iter().map(|record| text(host, id, record, turns.as_deref())));
        }
        if let (Some(start), true) = (session, told.is_empty()) {
            let reason =
                format!("nothing was shown to a session whose id begins with `{}`", start.escape_debug());
            return UnknownSessionSnafu { reason }.fail();
        }
        told.sort_by(|left, right| right.at.cmp(&left.at));
        Ok(told)
    }

    /// What agents were told of late, as far as sessions that session memory knows made use of it.
    pub(crate) fn told_and_used(&self, memory: &OpenMemory) -> Result<Vec<InjectedText>, Error> {
        let mut told = Vec::new();
        for (name, mut records) in log::all(&self.injected_folder()?) {
            let Some((host, id)) = name.split_once('-') else { continue };
            records.retain(|record| !record.items.is_empty());
            if records.is_empty() {
                continue;
            }
            let turns = memory.store.read(|connection| {
                let found = NamedSession::by_start(connection, id, 1)?;
                found.first().map(|session| StoredTurn::of_session(connection, session.id)).transpose()
            })?;
            if let Some(turns) = turns {
                told.extend(records.into_iter().map(|record| text(host, id, record, Some(&turns))));
            }
        }
        Ok(told)
    }

    fn turns_of(&self, id: &str) -> Result<Option<Vec<StoredTurn>>, Error> {
        let Some(memory) = self.open()? else { return Ok(None) };
        Ok(memory.store.read(|connection| {
            let found = NamedSession::by_start(connection, id, 1)?;
            found.first().map(|session| StoredTurn::of_session(connection, session.id)).transpose()
        })?)
    }
}

impl InjectedWeek {
    fn of(week: String, told: &[&InjectedText]) -> Self {
        let items = || told.iter().flat_map(|text| &text.items);
        let sessions: HashSet<(&str, &str)> =
            told.iter().map(|text| (text.host.as_str(), text.session.as_str())).collect();
        Self {
            week,
            sessions: sessions.len(),
            shown: items().count(),
            known: items().filter(|item| item.used.is_some()).count(),
            used: items().filter(|item| item.used == Some(true)).count(),
            tokens: told.iter().map(|text| tokens(&text.text)).sum(),
        }
    }
}

/// The week of a time, such as `2026-W11`.
fn week_of(at: &str) -> String {
    let week = |at: Timestamp| {
        let date = at.to_zoned(jiff::tz::TimeZone::UTC).date().iso_week_date();
        format!("{}-W{:02}", date.year(), date.week())
    };
    at.parse().map(week).unwrap_or_default()
}

fn text(host: &str, session: &str, record: Record, turns: Option<&[StoredTurn]>) -> InjectedText {
    let said = turns.map(|turns| said_after(turns, record.at)).filter(|said| !said.is_empty());
    InjectedText {
        at: record.at.to_string(),
        host: host.to_owned(),
        session: session.to_owned(),
        event: record.event,
        why: record.why,
        folder: record.folder,
        items: record.items.into_iter().map(|item| judged(item, said.as_deref())).collect(),
        text: record.text,
    }
}

/// What the agent said and ran after `at`.
fn said_after(turns: &[StoredTurn], at: Timestamp) -> String {
    let speaks = |turn: &&StoredTurn| {
        matches!(turn.kind, TurnKind::Said | TurnKind::Command | TurnKind::Commit | TurnKind::Tool)
            && turn.at.is_none_or(|then| at <= then)
    };
    let mut said = String::new();
    for turn in turns.iter().filter(speaks) {
        said.push_str(&turn.text.to_lowercase());
        said.push('\n');
    }
    said
}

fn judged(item: ShownItem, said: Option<&str>) -> InjectedItem {
    let used = said.map(|said| {
        let names = |id: &str| 7 <= id.len() && said.contains(&id.to_lowercase());
        names(&item.id)
            || item.commit.as_deref().is_some_and(|id| names(&id[..id.len().min(7)]))
            || repeats(&item.words, said)
    });
    InjectedItem {
        id: item.id,
        commit: item.commit,
        file: item.file,
        words: item.words,
        tier: item.tier,
        used,
    }
}

/// Whether `said` has several words of `words` in a row.
fn repeats(words: &str, said: &str) -> bool {
    let split = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let (words, said) = (split(words), split(said));
    let known: HashSet<&[String]> = words.windows(WORDS_IN_A_ROW).collect();
    !known.is_empty() && said.windows(WORDS_IN_A_ROW).any(|window| known.contains(window))
}
