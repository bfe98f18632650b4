//! Errors and failures that come up in several sessions, and how each was solved.

use std::collections::BTreeMap;

use chronicle_core::learning::learned_id;
use chronicle_sessions::Signs;
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use super::experience::{LearnedIn, Learning, Place};

/// How many of anything are told of one problem.
const MOST_EACH: usize = 5;

/// Problems, those of the most projects and sessions first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Problems {
    /// Always `chronicle-problems/v1`.
    pub schema: &'static str,
    /// The project they are of; null for all.
    pub project: Option<String>,
    /// The problems.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub left_out: usize,
}

/// A failure that came up in several sessions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Problem {
    /// Its id.
    pub id: String,
    /// What was said, the last time.
    pub problem: String,
    /// What was called, the last time.
    pub call: String,
    /// In how many sessions.
    pub sessions: usize,
    /// In which projects.
    pub projects: Vec<String>,
    /// When it came up first.
    pub first_seen: Option<String>,
    /// When it came up last.
    pub last_seen: Option<String>,
    /// How it was solved, the newest first.
    pub solutions: Vec<Solution>,
    /// How often nothing shows that it was solved.
    pub unsolved: usize,
    /// Where it came up, the newest first.
    pub evidence: Vec<Place>,
}

/// What was done until the same call worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Solution {
    /// In words.
    pub done: String,
    /// Where it worked.
    #[serde(flatten)]
    pub place: Place,
}

/// Of the signs of a session, those that problems are found by.
fn needed(signs: Signs) -> Signs {
    Signs { failures: signs.failures, ..Signs::default() }
}

impl Learning<'_> {
    /// The failures that came up in more than one session.
    ///
    /// # Errors
    /// When the project is not known, or the store cannot be read.
    pub fn problems(&self, project: Option<&str>, limit: usize) -> Result<Problems, Error> {
        let mut answer =
            Problems { schema: "chronicle-problems/v1", project: None, problems: Vec::new(), left_out: 0 };
        let Some(learned) = self.learned_in(project, needed)? else { return Ok(answer) };
        let LearnedIn { memory, project, experience } = learned;
        answer.project = project;
        let names = Self::project_names(&memory)?;
        let mut found: BTreeMap<&str, Problem> = BTreeMap::new();
        for session in &experience {
            for failure in &session.signs.failures {
                let problem = found.entry(&failure.signature).or_insert_with(|| Problem {
                    id: learned_id("e", &[&failure.signature]),
                    problem: String::new(),
                    call: String::new(),
                    sessions: 0,
                    projects: Vec::new(),
                    first_seen: session.last.map(|at| at.to_string()),
                    last_seen: None,
                    solutions: Vec::new(),
                    unsolved: 0,
                    evidence: Vec::new(),
                });
                // Sessions come in their order, so the last one stays.
                problem.problem.clone_from(&failure.message);
                problem.call.clone_from(&failure.call);
                problem.last_seen = session.last.map(|at| at.to_string());
                problem.sessions += 1;
                if let Some(name) =
                    names.get(&session.project).filter(|name| !problem.projects.contains(name))
                {
                    problem.projects.push(name.clone());
                }
                match &failure.remedy {
                    Some(remedy) => {
                        let place = session.place(remedy.line);
                        problem.solutions.insert(0, Solution { done: remedy.done.clone(), place });
                        problem.solutions.truncate(MOST_EACH);
                    }
                    None => problem.unsolved += 1,
                }
                problem.evidence.insert(0, session.place(failure.line));
                problem.evidence.truncate(MOST_EACH);
            }
        }
        let mut problems: Vec<Problem> = found.into_values().filter(|problem| 1 < problem.sessions).collect();
        problems.sort_by(|left, right| {
            let rank = |problem: &Problem| (problem.projects.len(), problem.sessions);
            rank(right)
                .cmp(&rank(left))
                .then_with(|| right.last_seen.cmp(&left.last_seen))
                .then_with(|| left.id.cmp(&right.id))
        });
        answer.left_out = problems.len().saturating_sub(limit);
        problems.truncate(limit);
        answer.problems = problems;
        Ok(answer)
    }
}
