//! What a human prefers: what they said, and what was done again and again.
//!
//! What was said outweighs what was only done, and fades slower. Of two ways that
//! contradict each other, the one said last holds; the other is kept and says
//! what replaced it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chronicle_core::learning::{EXPLICIT_HALF_LIFE, IMPLICIT_HALF_LIFE, decayed, learned_id, least_share};
use chronicle_search::ProjectId;
use chronicle_sessions::{Signs, topic_label};
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    experience::{Experience, LearnedIn, Learning, Place},
    feedback::{Verdict, only, verdicts},
};

/// The least confidence of what is shown without being asked for.
pub(crate) const LEAST_SHOWN: f64 = 0.5;

/// The most that counting alone can tell.
const MOST_IMPLICIT: f64 = 0.9;

/// What is never surer than this.
const MOST: f64 = 0.97;

/// What a human confirmed.
const CONFIRMED: f64 = 0.95;

/// What a human rejected.
const REJECTED: f64 = 0.05;

/// In so many sessions at least something has to be done to be a way of doing it.
const FEWEST_SESSIONS: usize = 2;

/// How much evidence is shown of one preference.
const MOST_EVIDENCE: usize = 50;

/// Ways of doing without something: they count against it, and are no preference of anybody.
const WITHOUT: [&str; 4] = [
    "commits come without a test run",
    "commits come without a lint",
    "changes begin without a plan",
    "work is pushed without a pull request",
];

/// Which preferences.
#[derive(Debug, Clone, Default)]
pub struct PreferencesCommand {
    /// Only what this project shows; of all projects without it.
    pub project: Option<String>,
    /// Only the one whose id begins so.
    pub id: Option<String>,
    /// Also what is unsure, took another's place or was rejected.
    pub is_whole: bool,
}

/// Preferences, the surest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Preferences {
    /// Always `chronicle-preferences/v1`.
    pub schema: &'static str,
    /// The project they are of; null for all.
    pub project: Option<String>,
    /// How many sessions they were learned from.
    pub sessions: usize,
    /// The preferences.
    pub preferences: Vec<Preference>,
    /// How many are left out: unsure, replaced or rejected ones.
    pub left_out: usize,
}

/// One preference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Preference {
    /// Its id.
    pub id: String,
    /// In words.
    pub preference: String,
    /// What it is about.
    pub topic: String,
    /// `explicit`: it was said. `implicit`: it was done.
    pub kind: &'static str,
    /// From 0 to 1, as of now.
    pub confidence: f64,
    /// `held`, `superseded`, `contradicted`, `confirmed` or `rejected`.
    pub status: &'static str,
    /// What replaced it, or is done instead.
    pub superseded_by: Option<String>,
    /// When it was first observed.
    pub first_observed: Option<String>,
    /// When it was last confirmed.
    pub last_confirmed: Option<String>,
    /// Whether it holds in every project, as far as is known.
    pub everywhere: bool,
    /// The projects whose sessions show it; where it does not hold everywhere, it holds in these.
    pub projects: Vec<String>,
    /// In how many sessions.
    pub sessions: usize,
    /// Of how many that could have shown it; null for what was said.
    pub of_sessions: Option<usize>,
    /// What shows it, the newest first.
    pub evidence: Vec<PreferenceEvidence>,
}

/// Something that shows a preference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PreferenceEvidence {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The id of the turn; empty for none.
    pub turn: String,
    /// What the human said; null for what was done.
    pub said: Option<String>,
    /// Whether it corrected the agent.
    pub corrects: bool,
    /// How often it was done there.
    pub times: usize,
}

impl Learning<'_> {
    /// What this human prefers, as far as sessions tell.
    ///
    /// # Errors
    /// When the project or the id is not known, or the store cannot be read.
    pub fn preferences(&self, command: &PreferencesCommand) -> Result<Preferences, Error> {
        let schema = "chronicle-preferences/v1";
        let mut answer =
            Preferences { schema, project: None, sessions: 0, preferences: Vec::new(), left_out: 0 };
        let Some(learned) = self.learned_in(command.project.as_deref(), needed)? else {
            if let Some(id) = &command.id {
                only(id, std::iter::empty())?;
            }
            return Ok(answer);
        };
        let LearnedIn { memory, project, experience } = learned;
        answer.project = project;
        let verdicts = memory.store.read(|connection| verdicts(connection, "preference"))?;
        answer.sessions = experience.len();
        let names = Self::project_names(&memory)?;
        let known = Known { verdicts: &verdicts, names: &names, now: self.workplace.now() };
        let mut all = preferences(&experience, &known);
        if let Some(start) = &command.id {
            let id = only(start, all.iter().map(|preference| preference.id.clone()))?;
            all.retain(|preference| preference.id == id);
        } else if !command.is_whole {
            let n_all = all.len();
            all.retain(Preference::is_shown);
            answer.left_out = n_all - all.len();
        }
        answer.preferences = all;
        Ok(answer)
    }
}

impl Preference {
    /// Whether it is told without being asked for.
    fn is_shown(&self) -> bool {
        LEAST_SHOWN <= self.confidence && matches!(self.status, "held" | "confirmed")
    }
}

/// What is known beside what sessions show.
struct Known<'k> {
    verdicts: &'k BTreeMap<String, Verdict>,
    /// The names of projects.
    names: &'k BTreeMap<ProjectId, String>,
    now: Timestamp,
}

/// What shows one way of a topic.
#[derive(Default)]
struct Way {
    /// The projects of these sessions.
    projects: BTreeSet<ProjectId>,
    said: Vec<Said>,
    /// The sessions in which it was done, and when.
    done: Vec<(usize, Option<Timestamp>)>,
    /// What shows that it was done, the latest sessions alone.
    doing: VecDeque<PreferenceEvidence>,
}

struct Said {
    session: usize,
    weight: f64,
    at: Option<Timestamp>,
    evidence: PreferenceEvidence,
}

/// What was seen of a topic: its ways, and how many sessions could have shown any.
#[derive(Default)]
struct Seen {
    ways: BTreeMap<String, Way>,
    n_sessions: usize,
}

/// Of the signs of a session, those that preferences are made of.
fn needed(signs: Signs) -> Signs {
    let Signs { statements, habits, .. } = signs;
    Signs { statements, habits, ..Signs::default() }
}

/// All preferences that the sessions show, the surest first.
fn preferences(experience: &[Experience], known: &Known<'_>) -> Vec<Preference> {
    let mut all: Vec<Preference> = topics(experience, known.now)
        .into_iter()
        .flat_map(|(topic, seen)| of_topic(&topic, seen, known))
        .collect();
    all.sort_by(|left, right| {
        right.confidence.total_cmp(&left.confidence).then_with(|| left.preference.cmp(&right.preference))
    });
    all
}

fn topics(experience: &[Experience], now: Timestamp) -> BTreeMap<String, Seen> {
    let mut topics: BTreeMap<String, Seen> = BTreeMap::new();
    for (number, session) in experience.iter().enumerate() {
        for statement in &session.signs.statements {
            let at = statement.at.map(|at| at.min(now)).or(session.last);
            let evidence = PreferenceEvidence {
                place: Place { at: at.map(|at| at.to_string()), ..session.place(statement.line) },
                turn: statement.turn.clone(),
                said: Some(statement.text.clone()),
                corrects: statement.corrects,
                times: 1,
            };
            let said = Said { session: number, weight: statement.weight, at, evidence };
            let seen = topics.entry(statement.topic.clone()).or_default();
            let way = seen.ways.entry(statement.way.clone()).or_default();
            way.projects.insert(session.project);
            way.said.push(said);
        }
        for (topic, ways) in &session.signs.habits {
            let seen = topics.entry(topic.clone()).or_default();
            seen.n_sessions += 1;
            // What was done most there; of two that were done as often, none.
            let most = ways.values().map(|way| way.times).max().unwrap_or_default();
            let mut leading = ways.iter().filter(|(_, way)| way.times == most);
            if let (Some((way, counted)), None) = (leading.next(), leading.next()) {
                let evidence = PreferenceEvidence {
                    place: session.place(counted.line),
                    turn: counted.turn.clone(),
                    said: None,
                    corrects: false,
                    times: counted.times,
                };
                let way = seen.ways.entry(way.clone()).or_default();
                way.projects.insert(session.project);
                way.done.push((number, session.last));
                way.doing.push_back(evidence);
                if MOST_EVIDENCE < way.doing.len() {
                    way.doing.pop_front();
                }
            }
        }
    }
    topics
}

fn of_topic(topic: &str, seen: Seen, known: &Known<'_>) -> Vec<Preference> {
    let Known { verdicts, now, .. } = *known;
    let n_sessions = seen.n_sessions;
    // The way that was said last, and is not taken back.
    let id = |way: &str| learned_id("p", &[topic, way]);
    // Who says it again does not take the judgement back: it may have been read anew, or from a copy.
    let is_rejected = |way: &str| verdicts.get(&id(way)).is_some_and(|verdict| !verdict.is_right);
    let last_said =
        |way: &Way| way.said.iter().map(|said| (said.at, said.session, said.evidence.place.line)).max();
    let holder = seen
        .ways
        .iter()
        .filter_map(|(name, way)| Some((last_said(way)?, name.clone())))
        .filter(|(_, name)| !is_rejected(name))
        .max();
    let holder = holder.map(|(_, name)| name);
    let mut found = Vec::new();
    for (name, way) in seen.ways {
        if WITHOUT.contains(&name.as_str()) || way.said.is_empty() && way.done.len() < FEWEST_SESSIONS {
            continue;
        }
        let rejected = is_rejected(&name);
        let mut preference = made(topic, &name, way, (n_sessions, known));
        if let Some(holder) = holder.as_ref().filter(|holder| **holder != name) {
            preference.superseded_by = Some(id(holder));
            preference.status = if preference.kind == "explicit" { "superseded" } else { "contradicted" };
            preference.confidence /= 2.0;
        }
        match verdicts.get(&preference.id) {
            Some(verdict) if verdict.is_right => {
                let confirmed = decayed(CONFIRMED, Some(verdict.at), now, EXPLICIT_HALF_LIFE);
                preference.confidence = preference.confidence.max(confirmed);
                preference.last_confirmed = preference.last_confirmed.max(Some(verdict.at.to_string()));
                preference.status = "confirmed";
            }
            Some(_) if rejected => {
                preference.confidence = preference.confidence.min(REJECTED);
                preference.status = "rejected";
            }
            _ => {}
        }
        preference.confidence = (preference.confidence * 100.0).round() / 100.0;
        found.push(preference);
    }
    found
}

/// The preference that one way of a topic is, as if there were no other.
fn made(topic: &str, name: &str, way: Way, (n_sessions, known): (usize, &Known<'_>)) -> Preference {
    let now = known.now;
    let times = way.said.iter().map(|said| said.at).chain(way.done.iter().map(|(.., at)| *at));
    let (first, last) = (times.clone().flatten().min(), times.flatten().max());
    let said_last = way.said.iter().filter_map(|said| said.at).max();
    let mut sessions: Vec<usize> = way
        .said
        .iter()
        .map(|said| said.session)
        .chain(way.done.iter().map(|(session, ..)| *session))
        .collect();
    sessions.sort_unstable();
    sessions.dedup();
    let is_explicit = !way.said.is_empty();
    let done_last = way.done.iter().filter_map(|(.., at)| *at).max();
    let done = decayed(
        least_share(way.done.len(), n_sessions).min(MOST_IMPLICIT),
        done_last,
        now,
        IMPLICIT_HALF_LIFE,
    );
    let confidence = if is_explicit {
        let stated = decayed(stated(&way.said), said_last, now, EXPLICIT_HALF_LIFE);
        // What is done as it was said is a little surer.
        if way.done.is_empty() { stated } else { (1.0 - (1.0 - stated) * (1.0 - done / 4.0)).min(MOST) }
    } else {
        done
    };
    let latest = way.said.iter().max_by_key(|said| (said.at, said.session));
    let words = words(topic, name, latest.and_then(|said| said.evidence.said.as_deref()));
    let said_of_themselves =
        way.said.iter().any(|said| said.evidence.said.as_deref().is_some_and(is_of_the_human));
    let mut evidence: Vec<PreferenceEvidence> =
        way.said.into_iter().map(|said| said.evidence).chain(way.doing).collect();
    evidence.sort_by(|left, right| {
        (right.said.is_some(), &right.place.at).cmp(&(left.said.is_some(), &left.place.at))
    });
    evidence.truncate(MOST_EVIDENCE);
    Preference {
        id: learned_id("p", &[topic, name]),
        preference: words,
        topic: topic_label(topic).unwrap_or("in their own words").to_owned(),
        kind: if is_explicit { "explicit" } else { "implicit" },
        confidence,
        status: "held",
        superseded_by: None,
        first_observed: first.map(|at| at.to_string()),
        last_confirmed: last.map(|at| at.to_string()),
        everywhere: 1 < way.projects.len() || said_of_themselves,
        projects: way.projects.iter().filter_map(|project| known.names.get(project).cloned()).collect(),
        sessions: sessions.len(),
        of_sessions: (!is_explicit).then_some(n_sessions),
        evidence,
    }
}

/// Whether words say how the human is, wherever they work, and not how one project is.
fn is_of_the_human(said: &str) -> bool {
    const OF_ONE: [&str; 8] =
        ["this repo", "this project", "this codebase", "this package", " here", "we use", "we don't", "our "];
    const OF_ALL: [&str; 5] = ["everywhere", "wherever", "all projects", "all my projects", "any project"];
    const OF_ME: [&str; 10] = [
        "i prefer",
        "i always",
        "i never",
        "i like",
        "i hate",
        "i want",
        "i don't",
        "i'd prefer",
        "i'd rather",
        "for me",
    ];
    let said = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|words| said.contains(words));
    has(&OF_ALL) || has(&OF_ME) && !has(&OF_ONE)
}

/// How sure it is what was said: the clearest words, and more for each session in which it was said again.
fn stated(said: &[Said]) -> f64 {
    let clearest = said.iter().map(|said| said.weight).fold(0.0, f64::max);
    let mut sessions: Vec<usize> = said.iter().map(|said| said.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let again = i32::try_from(sessions.len().saturating_sub(1)).unwrap_or(i32::MAX);
    (1.0 - (1.0 - clearest) * 0.7_f64.powi(again)).min(MOST)
}

/// A preference in words: the human's own, where they are of no known topic.
fn words(topic: &str, way: &str, said: Option<&str>) -> String {
    match (topic_label(topic), said) {
        (Some(label), _) if said.is_some() => format!("Prefers {way} ({label})"),
        (Some(label), _) => {
            let mut letters = label.chars();
            let first: String =
                letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
            format!("{first}{}: {way}", letters.as_str())
        }
        (None, Some(said)) => {
            let mut letters = said.chars();
            let first: String =
                letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
            format!("{first}{}", letters.as_str())
        }
        (None, None) => way.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_humans_say_of_themselves_holds_everywhere() {
        let check = |said: &str, expected| assert_eq!(is_of_the_human(said), expected, "{said}");
        check("I prefer pnpm over npm", true);
        check("use uv instead of pip wherever we can", true);
        check("never push without asking", false);
        check("In this repo I prefer pnpm", false);
        check("we use pnpm here", false);
    }
}
