//! What rules would say in a block: counted over sessions, and shown by them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use chronicle_core::{Age, block::Draft, counted, decay::Decay};
use chronicle_search::{NamedSession, Project, ProjectId};
use chronicle_sessions::{Agent, CheckKind, DigestOfSession};
use chronicle_workplace::Error;
use jiff::{civil::Date, tz::TimeZone};

use super::on_one_line;
use crate::{Blocks, memory::OpenMemory, sessions::look::Digested};

/// The sessions that count: older ones weigh next to nothing.
const MOST_SESSIONS: usize = 2_000;
/// Sessions that are named as what shows something.
const MOST_EVIDENCE: usize = 5;
/// How long a project is active after its last session, in days.
const ACTIVE_DAYS: f64 = 90.0;
/// How many sessions make a habit.
const HABIT: usize = 5;

/// Sessions as far as rules look at them, the latest first.
pub(crate) struct Past {
    pub(crate) talks: Vec<Talk>,
    /// Whether there are older ones, which nobody looked at.
    is_cut: bool,
    zone: TimeZone,
}

/// One session.
pub(crate) struct Talk {
    pub(crate) session: NamedSession,
    pub(crate) digest: DigestOfSession,
    project: String,
    /// The day on which it ended, where the user is.
    day: Option<Date>,
    days: f64,
}

impl Blocks<'_> {
    /// The sessions that humans led, of all projects.
    pub(crate) fn past(&self, memory: &OpenMemory) -> Result<Past, Error> {
        let found = memory.store.read(|connection| {
            NamedSession::latest_talks(connection, (None, None), self.memory().until(), MOST_SESSIONS)
        })?;
        let names: BTreeMap<ProjectId, String> =
            memory.store.read(Project::all)?.into_iter().map(|project| (project.id, project.name)).collect();
        let zone = self.zone();
        let until = self.memory().until();
        let is_cut = found.len() == MOST_SESSIONS;
        let talks = found.into_iter().filter(|session| session.record.last.is_none_or(|last| last <= until));
        let talks = talks.filter_map(|session| {
            let last = session.record.last;
            Some(Talk {
                digest: session.digest()?,
                project: names.get(&session.record.project).cloned().unwrap_or_default(),
                day: last.map(|last| last.to_zoned(zone.clone()).date()),
                days: last.map_or(0.0, |last| Age::between(last, self.workplace.now()).days()),
                session,
            })
        });
        Ok(Past { talks: talks.collect(), is_cut, zone: zone.clone() })
    }

    /// The zone of the user: days begin and end by it.
    #[expect(clippy::unused_self, reason = "where it is from is the application's business")]
    pub(crate) fn zone(&self) -> TimeZone {
        TimeZone::system()
    }
}

/// Something that sessions show.
#[derive(Default)]
struct Count<'p> {
    sessions: Vec<&'p Talk>,
    projects: BTreeSet<ProjectId>,
    weight: f64,
    /// Of so many sessions, the latest, where there are older ones.
    of_latest: Option<usize>,
}

impl<'p> Count<'p> {
    fn add(&mut self, talk: &'p Talk) {
        self.sessions.push(talk);
        self.projects.insert(talk.session.record.project);
        self.weight += talk.weight();
    }

    fn evidence(&self) -> Vec<String> {
        self.sessions.iter().take(MOST_EVIDENCE).map(|talk| talk.session.record.name.clone()).collect()
    }

    /// `12 sessions in 3 projects, last on 2026-03-09`, or `12 of the latest 2000 sessions …`.
    fn told(&self) -> String {
        let mut told = match self.of_latest {
            Some(n_latest) => format!("{} of the latest {n_latest} sessions", self.sessions.len()),
            None => counted(self.sessions.len(), "session"),
        };
        if 1 < self.projects.len() {
            let _ = write!(told, " in {}", counted(self.projects.len(), "project"));
        }
        if let Some(day) = self.sessions.iter().filter_map(|talk| talk.day).max() {
            let _ = write!(told, ", last on {day}");
        }
        told
    }

    fn draft(&self, key: String, text: &str, united: Option<(&str, &str)>) -> Draft {
        let united = united.map(|(beginning, name)| (beginning.to_owned(), on_one_line(name)));
        let (text, evidence) = (on_one_line(text), self.evidence());
        Draft { key, text, weight: self.weight, united, evidence, projects: Vec::new() }
    }
}

impl Talk {
    fn weight(&self) -> f64 {
        f64::from(self.session.record.importance) * Decay::FACT.left(self.days)
    }
}

impl Past {
    fn by<'p, K: Ord>(&'p self, keys: impl Fn(&'p Talk) -> Vec<K>) -> BTreeMap<K, Count<'p>> {
        let mut counts: BTreeMap<K, Count<'p>> = BTreeMap::new();
        for talk in &self.talks {
            let keys: BTreeSet<K> = keys(talk).into_iter().collect();
            for key in keys {
                let count = counts.entry(key).or_default();
                count.of_latest = self.is_cut.then_some(self.talks.len());
                count.add(talk);
            }
        }
        counts
    }

    /// Of `developer_profile`: languages and tools, the commands that check the code, the agents.
    pub(super) fn profile(&self) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for (technology, count) in
            self.by(|talk| talk.digest.technologies.iter().map(String::as_str).collect())
        {
            let text = format!("{technology}: {}.", count.told());
            drafts.push(count.draft(format!("uses:{technology}"), &text, Some(("Also uses ", technology))));
        }
        let checks = self.by(|talk| {
            let checks = talk.digest.checks.iter();
            checks.map(|check| (check.kind, essence(&check.command))).collect()
        });
        for ((kind, command), count) in checks {
            if command.is_empty() || count.sessions.len() < 2 {
                continue;
            }
            let verb = match kind {
                CheckKind::Test => "Tests",
                CheckKind::Build => "Builds",
                CheckKind::Lint => "Lints",
            };
            let text = format!("{verb} with `{command}`: {}.", count.told());
            drafts.push(count.draft(format!("check:{command}"), &text, None));
        }
        let is_agent = |name: &str| Agent::ALL.into_iter().any(|agent| agent.name() == name);
        for (agent, count) in self.by(|talk| vec![talk.session.record.agent.as_str()]) {
            if !is_agent(agent) {
                // Texts of other programs are no work with one.
                continue;
            }
            let text = format!("Works with the agent {agent}: {}.", count.told());
            drafts.push(count.draft(format!("agent:{agent}"), &text, None));
        }
        drafts
    }

    /// Of `active_projects`: each with its last session.
    pub(super) fn projects(&self, n_open: impl Fn(ProjectId) -> usize) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for (project, count) in self.by(|talk| vec![talk.session.record.project]) {
            let Some(last) = count.sessions.first() else { continue };
            if ACTIVE_DAYS < last.days {
                continue;
            }
            let branch = last.session.record.branch.as_deref();
            let branch = branch.map(|branch| format!(" on {branch}")).unwrap_or_default();
            let title = last.session.record.title.trim();
            let title = if title.is_empty() { String::new() } else { format!(": “{title}”") };
            let open = match n_open(project) {
                0 => String::new(),
                n => format!("; {} open", counted(n, "thread")),
            };
            let text = format!("{}: {}{branch}{title}{open}.", last.project, count.told());
            let name = (!last.project.is_empty()).then_some(("Also active: ", &*last.project));
            drafts.push(count.draft(format!("project:{}", project.0), &text, name));
        }
        drafts
    }

    /// Of `work_patterns`: when work happens, how long it takes, and how it ends.
    pub(super) fn habits(&self) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let n_all = self.talks.len();
        if n_all < HABIT {
            return drafts;
        }
        let started = |talk: &Talk| Some(talk.session.record.first?.to_zoned(self.zone.clone()));
        let often = |counts: BTreeMap<usize, Count<'_>>, share: usize, told: &dyn Fn(usize) -> String| {
            let most = counts.into_iter().max_by_key(|(at, count)| (count.sessions.len(), usize::MAX - at));
            most.filter(|(_, count)| HABIT <= count.sessions.len() && n_all <= share * count.sessions.len())
                .map(|(at, count)| {
                    let text = format!("{}: {} of {n_all} sessions.", told(at), count.sessions.len());
                    let key = told(at);
                    count.draft(format!("time:{key}"), &text, None)
                })
        };
        let hours = self.by(|talk| {
            started(talk).map(|at| usize::try_from(at.hour()).unwrap_or_default() / 6).into_iter().collect()
        });
        drafts.extend(often(hours, 2, &|part| {
            let part = [
                "at night (0–6 h)",
                "in the morning (6–12 h)",
                "in the afternoon (12–18 h)",
                "in the evening (18–24 h)",
            ][part.min(3)];
            format!("Mostly begins {part}")
        }));
        let days = self.by(|talk| {
            let day = started(talk).map(|at| at.weekday().to_monday_zero_offset());
            day.and_then(|day| usize::try_from(day).ok()).into_iter().collect()
        });
        drafts.extend(often(days, 3, &|day| {
            let day = ["Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"]
                [day.min(6)];
            format!("Works most on {day}")
        }));
        let minutes = |talk: &&Talk| {
            let (first, last) = (talk.session.record.first?, talk.session.record.last?);
            Some(last.duration_since(first).as_mins()).filter(|minutes| 0 <= *minutes)
        };
        let mut lengths: Vec<i64> = self.talks.iter().filter_map(|talk| minutes(&talk)).collect();
        lengths.sort_unstable();
        let whole = self.by(|_| vec![()]).remove(&()).unwrap_or_default();
        if let Some(median) = lengths.get(lengths.len() / 2).filter(|_| HABIT <= lengths.len()) {
            let text = format!(
                "A session takes {} in the median of {}.",
                counted(usize::try_from(*median).unwrap_or_default(), "minute"),
                lengths.len()
            );
            drafts.push(whole.draft("length".to_owned(), &text, None));
        }
        let committing: Vec<&Talk> =
            self.talks.iter().filter(|talk| !talk.digest.commits.is_empty()).collect();
        if HABIT <= committing.len() {
            let mut count = Count::default();
            committing.iter().for_each(|talk| count.add(talk));
            let text = format!("Commits in {} of {n_all} sessions.", committing.len());
            drafts.push(count.draft("commits".to_owned(), &text, None));
        }
        drafts
    }
}

/// What a command is known by: its program and, where that does several things, which one.
fn essence(command: &str) -> String {
    let last = command.rsplit("&&").next().unwrap_or_default();
    let own = last.split(['|', ';']).next().unwrap_or_default();
    let is_setting = |word: &&str| word.contains('=') || matches!(*word, "sudo" | "time" | "env");
    let is_plain =
        |word: &&str| !word.starts_with(['-', '>', '2']) && !word.contains(['/', '"', '\'', '$', '`']);
    let words = own.split_whitespace().skip_while(is_setting).take_while(is_plain);
    let words: Vec<&str> = words.take(3).collect();
    // `npm run` says nothing without what is run.
    let n_telling = if words.get(1) == Some(&"run") { 3 } else { 2 };
    words[..n_telling.min(words.len())].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_only_the_latest_sessions_were_counted_that_is_said() {
        let told = |of_latest| Count { of_latest, ..Count::default() }.told();
        assert_eq!(told(None), "0 sessions");
        assert_eq!(told(Some(2_000)), "0 of the latest 2000 sessions");
    }

    #[test]
    fn commands_are_known_by_what_they_do() {
        let check = |command: &str, expected: &str| assert_eq!(essence(command), expected);
        check("cargo test -p x 2>&1 | tail -5", "cargo test");
        check("cd /a && RUST_BACKTRACE=1 cargo test", "cargo test");
        check("npm run test -- --watch", "npm run test");
        check("pytest tests/unit -x", "pytest");
        check("./scripts/check.sh", "");
        check("", "");
    }
}
