//! What comes back in how somebody works, found by counting.
//!
//! A pattern is a run of steps that comes up in several sessions and more often
//! than its steps would meet by chance, a program or an hour that recurs, or a
//! technology that is new. Mining the same sessions again finds the same patterns;
//! a model that somebody chose words runs of steps, and changes nothing else.

use std::collections::BTreeMap;

use chronicle_core::learning::{learned_id, least_share};
use chronicle_sessions::{Signs, Step};
use chronicle_workplace::Error;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    experience::{Experience, LearnedIn, Learning, Place},
    feedback::{only, verdicts},
};
use crate::wordings::{Wordings, Words};

mod runs;

pub(crate) use runs::THEN;
use runs::runs;

/// The kinds of patterns, as they are called in questions and answers.
pub const PATTERN_KINDS: [&str; 5] = ["debugging", "workflow", "tool", "time", "skill"];

/// In so many sessions at least it has to come up.
const FEWEST_SESSIONS: usize = 3;

/// How many patterns of one kind are told.
const MOST_OF_KIND: usize = 6;

/// How many sessions are named as evidence.
const MOST_EVIDENCE: usize = 50;

/// What is first used within these days is new.
const NEW: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The least confidence of what is shown without being asked for.
const LEAST_SHOWN: f64 = 0.5;

/// Which patterns.
#[derive(Debug, Clone, Default)]
pub struct PatternsCommand {
    /// Of this project; of all without it.
    pub project: Option<String>,
    /// Of this kind; of all without it.
    pub kind: Option<String>,
    /// Only the one whose id begins so.
    pub id: Option<String>,
    /// Also what is unsure or was rejected.
    pub is_whole: bool,
}

/// Patterns, kind by kind, the surest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Patterns {
    /// Always `chronicle-patterns/v1`.
    pub schema: &'static str,
    /// The project they are of; null for all.
    pub project: Option<String>,
    /// How many sessions they were counted in.
    pub sessions: usize,
    /// The patterns.
    pub patterns: Vec<Pattern>,
    /// How many are left out: unsure or rejected ones.
    pub left_out: usize,
}

/// One pattern.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Pattern {
    /// Its id.
    pub id: String,
    /// `debugging`, `workflow`, `tool`, `time` or `skill`.
    pub kind: &'static str,
    /// In words.
    pub pattern: String,
    /// The same in the words of a model, where somebody chose one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worded: Option<Words>,
    /// From 0 to 1.
    pub confidence: f64,
    /// `held`, `confirmed` or `rejected`.
    pub status: &'static str,
    /// In how many sessions.
    pub sessions: usize,
    /// Of how many.
    pub of_sessions: usize,
    /// How often.
    pub times: usize,
    /// How many times as often as its steps would meet by chance.
    pub lift: Option<f64>,
    /// What came of it.
    pub outcome: Option<String>,
    /// When it was seen first.
    pub first_observed: Option<String>,
    /// When it was seen last.
    pub last_confirmed: Option<String>,
    /// Where, the newest first.
    pub evidence: Vec<Place>,
}

impl Pattern {
    /// Whether it is a run of steps; all others are told in plain words.
    pub(crate) fn is_run(&self) -> bool {
        self.pattern.contains(THEN)
    }
}

impl Learning<'_> {
    /// What comes back in how somebody works, mined anew of what sessions tell.
    ///
    /// # Errors
    /// When the project or the id is not known, or the store cannot be read.
    pub fn patterns(&self, command: &PatternsCommand) -> Result<Patterns, Error> {
        let schema = "chronicle-patterns/v1";
        let mut answer = Patterns { schema, project: None, sessions: 0, patterns: Vec::new(), left_out: 0 };
        let Some(learned) = self.learned_in(command.project.as_deref(), needed)? else {
            if let Some(id) = &command.id {
                only(id, std::iter::empty())?;
            }
            return Ok(answer);
        };
        let LearnedIn { memory, project, experience } = learned;
        answer.project = project;
        let verdicts = memory.store.read(|connection| verdicts(connection, "pattern"))?;
        answer.sessions = experience.len();
        let mut all = mine(&experience, self.workplace.now(), &TimeZone::system());
        for pattern in &mut all {
            match verdicts.get(&pattern.id) {
                Some(verdict) if verdict.is_right => {
                    (pattern.status, pattern.confidence) = ("confirmed", pattern.confidence.max(0.95));
                }
                Some(_) => (pattern.status, pattern.confidence) = ("rejected", 0.05),
                None => {}
            }
        }
        let wordings = Wordings::kept(&self.workplace.memory_home()?);
        for pattern in all.iter_mut().filter(|pattern| pattern.is_run()) {
            pattern.worded = wordings.of(&pattern.pattern).cloned();
        }
        if let Some(kind) = &command.kind {
            all.retain(|pattern| pattern.kind == kind);
        }
        if let Some(start) = &command.id {
            let id = only(start, all.iter().map(|pattern| pattern.id.clone()))?;
            all.retain(|pattern| pattern.id == id);
        } else if !command.is_whole {
            let n_all = all.len();
            all.retain(|pattern| LEAST_SHOWN <= pattern.confidence && pattern.status != "rejected");
            answer.left_out = n_all - all.len();
        }
        answer.patterns = all;
        Ok(answer)
    }
}

/// Of the signs of a session, those that patterns are counted of.
fn needed(signs: Signs) -> Signs {
    let Signs { steps, technologies, programs, .. } = signs;
    Signs { steps, technologies, programs, ..Signs::default() }
}

/// All patterns of the sessions, kind by kind.
fn mine(experience: &[Experience], now: Timestamp, zone: &TimeZone) -> Vec<Pattern> {
    let mut all = runs(experience);
    all.extend(tools(experience));
    all.extend(times(experience, zone));
    all.extend(skills(experience, now));
    let rank = |pattern: &Pattern| PATTERN_KINDS.iter().position(|kind| *kind == pattern.kind);
    all.sort_by(|left, right| {
        rank(left)
            .cmp(&rank(right))
            .then_with(|| right.confidence.total_cmp(&left.confidence))
            .then_with(|| right.sessions.cmp(&left.sessions))
            .then_with(|| left.pattern.cmp(&right.pattern))
    });
    all
}

/// How sure it is that something comes back: more with each session, less where chance does as well.
fn surety(n_sessions: usize, lift: f64) -> f64 {
    let beyond_chance = (1.0 - 1.0 / lift).max(0.0);
    1.0 - 1.0 / (1.0 + n_sessions as f64 * beyond_chance)
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The pattern that was seen at these places of sessions, which come in their order.
fn pattern(
    kind: &'static str,
    words: String,
    seen: &[(usize, u64)],
    experience: &[Experience],
    confidence: f64,
) -> Pattern {
    let at = |(session, _): &(usize, u64)| experience[*session].last.map(|at| at.to_string());
    let latest = seen.iter().rev().take(MOST_EVIDENCE);
    let evidence = latest.map(|(session, line)| experience[*session].place(*line)).collect();
    Pattern {
        id: learned_id("w", &[kind, &words]),
        kind,
        pattern: words,
        worded: None,
        confidence: rounded(confidence),
        status: "held",
        sessions: seen.len(),
        of_sessions: experience.len(),
        times: seen.len(),
        lift: None,
        outcome: None,
        first_observed: seen.first().and_then(at),
        last_confirmed: seen.last().and_then(at),
        evidence,
    }
}

/// How often a program ran, and where first in each session.
type Ran = (usize, Vec<(usize, u64)>);

/// Programs that come back.
fn tools(experience: &[Experience]) -> Vec<Pattern> {
    let mut seen: BTreeMap<&str, Ran> = BTreeMap::new();
    let mut n_running = 0;
    for (number, session) in experience.iter().enumerate() {
        n_running += usize::from(!session.signs.programs.is_empty());
        for (program, counted) in &session.signs.programs {
            let (times, places) = seen.entry(program).or_default();
            *times += counted.times;
            places.push((number, counted.line));
        }
    }
    let mut found: Vec<_> = seen
        .into_iter()
        .filter(|(_, (_, places))| {
            FEWEST_SESSIONS <= places.len() && 0.2 <= places.len() as f64 / n_running as f64
        })
        .collect();
    found.sort_by_key(|(program, (times, places))| (std::cmp::Reverse((places.len(), *times)), *program));
    found
        .into_iter()
        .take(MOST_OF_KIND)
        .map(|(program, (times, places))| {
            let confidence = surety(places.len(), f64::INFINITY);
            let mut told = pattern("tool", format!("runs `{program}`"), &places, experience, confidence);
            (told.times, told.of_sessions) = (times, n_running);
            told
        })
        .collect()
}

/// Parts of the day: the hour after which each ends.
const PARTS: [(i8, &str); 5] = [
    (5, "at night (0–5 h)"),
    (12, "in the morning (5–12 h)"),
    (17, "in the afternoon (12–17 h)"),
    (22, "in the evening (17–22 h)"),
    (24, "late in the evening (22–24 h)"),
];

/// When work happens, and for how long.
fn times(experience: &[Experience], zone: &TimeZone) -> Vec<Pattern> {
    const FEWEST: usize = 5;
    let mut parts: BTreeMap<&str, Vec<(usize, u64)>> = BTreeMap::new();
    let mut days: BTreeMap<bool, Vec<(usize, u64)>> = BTreeMap::new();
    let mut lengths: Vec<(i64, usize)> = Vec::new();
    for (number, session) in experience.iter().enumerate() {
        let Some(Step { line, .. }) = session.signs.steps.first().copied() else { continue };
        let Some(first) = session.first else { continue };
        let local = first.to_zoned(zone.clone());
        if let Some((_, part)) = PARTS.iter().find(|(end, _)| local.hour() < *end) {
            parts.entry(part).or_default().push((number, line));
        }
        let is_weekend = 6 <= local.weekday().to_monday_one_offset();
        days.entry(is_weekend).or_default().push((number, line));
        if let Some(last) = session.last.filter(|last| first <= *last) {
            lengths.push((last.duration_since(first).as_mins(), number));
        }
    }
    let n_timed: usize = parts.values().map(Vec::len).sum();
    if n_timed < FEWEST {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut tell = |words: String, seen: &[(usize, u64)], least: f64| {
        let share = least_share(seen.len(), n_timed);
        if least <= seen.len() as f64 / n_timed as f64 {
            let mut told = pattern("time", words, seen, experience, share);
            told.of_sessions = n_timed;
            found.push(told);
        }
    };
    if let Some((part, seen)) = parts.iter().max_by_key(|(_, seen)| seen.len()) {
        tell(format!("begins sessions {part}"), seen, 0.4);
    }
    for (is_weekend, seen) in &days {
        tell(format!("works {}", if *is_weekend { "at weekends" } else { "on weekdays" }), seen, 0.8);
    }
    lengths.sort_unstable();
    if FEWEST <= lengths.len() {
        let quarter = lengths.len() / 4;
        let middle: Vec<(i64, usize)> = lengths[quarter..lengths.len() - quarter].to_vec();
        let (from, to) = (middle[0].0, middle[middle.len() - 1].0);
        let first_line = |session: usize| experience[session].signs.steps[0].line;
        let mut seen: Vec<(usize, u64)> =
            middle.iter().map(|(_, session)| (*session, first_line(*session))).collect();
        seen.sort_unstable();
        let mut told = pattern(
            "time",
            format!("sessions last {from} to {to} minutes, the middle half of them"),
            &seen,
            experience,
            least_share(seen.len(), lengths.len()),
        );
        told.of_sessions = lengths.len();
        found.push(told);
    }
    found
}

/// Technologies that are new, and come back.
fn skills(experience: &[Experience], now: Timestamp) -> Vec<Pattern> {
    let mut seen: BTreeMap<&str, Vec<(usize, u64)>> = BTreeMap::new();
    for (number, session) in experience.iter().enumerate() {
        for (name, ways) in &session.signs.technologies {
            // What is imported was mostly there before anybody edited that line.
            if ways.keys().all(|how| how == "imports") {
                continue;
            }
            let line = ways.values().map(|seen| seen.line).min().unwrap_or(1);
            seen.entry(name).or_default().push((number, line));
        }
    }
    let since = now.checked_sub(NEW).unwrap_or(Timestamp::MIN);
    let is_old = |number: usize| experience[number].last.is_some_and(|at| at < since);
    // Without a past, everything is new.
    let n_old = (0..experience.len()).filter(|number| is_old(*number)).count();
    if n_old < FEWEST_SESSIONS {
        return Vec::new();
    }
    let mut found: Vec<_> = seen
        .into_iter()
        .filter(|(_, places)| {
            2 <= places.len()
                && places.iter().all(|(number, _)| experience[*number].last.is_some() && !is_old(*number))
        })
        .collect();
    found.sort_by_key(|(name, places)| (std::cmp::Reverse(places.len()), *name));
    found
        .into_iter()
        .take(MOST_OF_KIND)
        .map(|(name, places)| {
            pattern(
                "skill",
                format!("begins to use {name}"),
                &places,
                experience,
                surety(places.len(), f64::INFINITY),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use chronicle_search::ProjectId;
    use chronicle_sessions::Act;

    use super::*;

    fn sessions(all: &[&[Act]]) -> Vec<Experience> {
        let of = |(number, acts): (usize, &&[Act])| Experience {
            session: format!("s{number}"),
            title: String::new(),
            project: ProjectId(1),
            first: Some(Timestamp::from_second(1_770_000_000 + number as i64 * 86_400).unwrap()),
            last: Some(Timestamp::from_second(1_770_003_600 + number as i64 * 86_400).unwrap()),
            signs: Signs {
                steps: acts
                    .iter()
                    .enumerate()
                    .map(|(line, act)| Step { act: *act, line: line as u64 + 1 })
                    .collect(),
                ..Signs::default()
            },
        };
        all.iter().enumerate().map(of).collect()
    }

    fn told(experience: &[Experience], kind: &str) -> Vec<String> {
        let all = mine(experience, Timestamp::from_second(1_780_000_000).unwrap(), &TimeZone::UTC);
        all.into_iter().filter(|pattern| pattern.kind == kind).map(|pattern| pattern.pattern).collect()
    }

    #[test]
    fn a_run_that_comes_back_is_a_pattern_and_one_that_does_not_is_none() {
        use Act::{Ask, Commit, Edit, EditDocs, Format, Look, LookUp, TestFails, TestPasses};
        let mending: &[Act] = &[Ask, Edit, TestFails, Look, Edit, TestPasses, Commit];
        let other: &[Act] = &[Ask, LookUp, EditDocs, Format, Ask, Look, EditDocs];
        let experience = sessions(&[mending, other, mending, other, mending, mending]);
        assert_eq!(
            told(&experience, "debugging"),
            ["tests fail → look at the code → change code → tests pass → commit"]
        );
        assert_eq!(told(&sessions(&[mending, other]), "debugging"), Vec::<String>::new());
        assert_eq!(told(&sessions(&[]), "workflow"), Vec::<String>::new());
    }

    #[test]
    fn a_pattern_says_how_often_where_and_what_came_of_it() {
        use Act::{Ask, Edit, Look, TestFails, TestPasses};
        let solved: &[Act] = &[Ask, TestFails, Look, Edit, Ask, TestPasses];
        let unsolved: &[Act] = &[Ask, TestFails, Look, Edit, Ask, Look];
        let experience = sessions(&[solved, solved, solved, unsolved]);
        let all = mine(&experience, Timestamp::from_second(1_780_000_000).unwrap(), &TimeZone::UTC);
        let found = all.iter().find(|pattern| pattern.kind == "debugging").expect("one");
        assert_eq!((found.sessions, found.times), (4, 4));
        assert_eq!(found.outcome.as_deref(), Some("tests passed in 3 of 4 sessions"));
        assert_eq!((found.evidence[0].session.as_str(), found.evidence[0].line), ("s3", 2));
        assert_eq!(all, mine(&experience, Timestamp::from_second(1_780_000_000).unwrap(), &TimeZone::UTC));
    }

    #[test]
    fn the_part_of_the_day_is_that_of_the_zone() {
        let experience = sessions(&[&[Act::Ask], &[Act::Ask], &[Act::Ask], &[Act::Ask], &[Act::Ask]]);
        assert!(
            told(&experience, "time").contains(&"begins sessions at night (0–5 h)".to_owned()),
            "{:?}",
            told(&experience, "time")
        );
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        let all = mine(&experience, Timestamp::from_second(1_780_000_000).unwrap(), &zone);
        assert!(all.iter().any(|pattern| pattern.pattern.contains("in the morning")), "{all:#?}");
    }
}
