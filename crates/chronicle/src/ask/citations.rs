//! What an answer rests on: sessions with their turns, commits.

use std::collections::BTreeSet;

use chronicle_core::reading::{Reading, WisdomItem};
use chronicle_memory::{
    brief::Brief,
    catch_up::CatchUp,
    digest::Digest,
    find::{About, Finding, Fix, FoundTurn, How},
    learning::{Patterns, Place, Preferences, Problems, Projects, Skills},
    listing::Listing,
    threads::Pending,
};
use chronicle_sessions::shortened;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Why;

/// How many are told at most.
const MOST: usize = 24;

/// How much is quoted of each.
const LONGEST: usize = 400;

/// Something that an answer rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Citation {
    /// Its number in the answer, from 1.
    pub number: usize,
    /// The id of a session.
    pub session: Option<String>,
    /// The line of its transcript on which the turn begins.
    pub line: Option<u64>,
    /// A commit.
    pub commit: Option<String>,
    /// What stands there, or what was made of it.
    pub text: String,
}

impl Citation {
    fn session(session: &str, line: Option<u64>, text: &str) -> Self {
        let (session, text) = (Some(session.to_owned()), text.to_owned());
        Self { session, line, text, ..Self::default() }
    }

    fn commit(commit: &str, text: &str) -> Self {
        Self { commit: Some(commit.to_owned()), text: text.to_owned(), ..Self::default() }
    }

    fn place(place: &Place, text: &str) -> Self {
        Self::session(&place.session, Some(place.line), text)
    }

    fn turn(turn: &FoundTurn) -> Self {
        let text = format!("{}: {}", turn.kind, turn.snippet.text);
        Self { commit: None, ..Self::session(&turn.session, Some(turn.line), &text) }
    }
}

/// An answer that says what it rests on.
pub(super) trait Cites {
    /// What it rests on, in no particular order, as often as it is said.
    fn all(&self) -> Vec<Citation>;

    /// The same, each once, numbered and bounded.
    fn cites(&self) -> Vec<Citation> {
        numbered(self.all())
    }
}

/// The citations with those of lessons before them.
pub(super) fn with_lessons(lessons: &[WisdomItem], others: Vec<Citation>) -> Vec<Citation> {
    let lessons = lessons.iter().map(of_lesson);
    numbered(lessons.chain(others).collect())
}

/// What a lesson says, and who says it unless it is the user.
fn of_lesson(lesson: &WisdomItem) -> Citation {
    let text = match lesson.standing.said_by() {
        Some(said_by) => format!("({said_by}) {}", lesson.content),
        None => lesson.content.clone(),
    };
    Citation::commit(&lesson.standing.commit, &text)
}

fn numbered(all: Vec<Citation>) -> Vec<Citation> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for mut citation in all {
        let is_new = seen.insert((citation.session.clone(), citation.line, citation.commit.clone()));
        let is_something = citation.session.is_some() || citation.commit.is_some();
        if is_new && is_something && kept.len() < MOST {
            citation.number = kept.len() + 1;
            citation.text = shortened(&chronicle_core::plain(&citation.text), LONGEST);
            kept.push(citation);
        }
    }
    kept
}

impl Cites for Brief {
    fn all(&self) -> Vec<Citation> {
        let mut all = Vec::new();
        for stop in &self.stopped {
            let text = stop.summary.as_deref().unwrap_or(&stop.session.title);
            all.push(Citation::session(&stop.session.session, None, text));
        }
        let open = self.open.iter().chain(&self.left_by_others);
        all.extend(open.filter_map(|item| {
            item.session.as_deref().map(|session| Citation::session(session, None, &item.summary))
        }));
        all
    }
}

impl Cites for CatchUp {
    fn all(&self) -> Vec<Citation> {
        let sessions = self.sessions.iter().map(|past| {
            Citation::session(
                &past.session.session,
                None,
                &format!("{}. {}", past.session.title, past.summary),
            )
        });
        let commits = self.sessions.iter().flat_map(|past| {
            past.commits.iter().map(|commit| Citation {
                commit: Some(commit.commit.clone()),
                ..Citation::session(&past.session.session, None, &commit.subject)
            })
        });
        sessions.chain(commits).collect()
    }
}

impl Cites for Digest {
    fn all(&self) -> Vec<Citation> {
        let sessions = self.projects.iter().flat_map(|project| &project.sessions);
        let told = sessions
            .clone()
            .map(|told| Citation::session(&told.session, None, &format!("{}. {}", told.title, told.summary)));
        let commits = sessions.flat_map(|told| {
            told.commits.iter().map(|commit| Citation {
                commit: Some(commit.commit.clone()),
                ..Citation::session(&told.session, None, &commit.subject)
            })
        });
        told.chain(commits).collect()
    }
}

impl Cites for Pending {
    fn all(&self) -> Vec<Citation> {
        let of = |item: &chronicle_memory::threads::OpenItem| Citation {
            session: item.session.clone(),
            commit: item.commit.clone(),
            text: item.summary.clone(),
            ..Citation::default()
        };
        self.items.iter().map(of).collect()
    }
}

/// What `about` cites, decisions first.
pub(super) fn decisions_first(about: &About) -> Vec<Citation> {
    let decided = about.decided.iter();
    let decided = decided.map(|decided| Citation::session(&decided.session, None, &decided.decision));
    let decisions = about.decisions.iter().map(Citation::turn);
    numbered(decided.chain(decisions).chain(about.all()).collect())
}

impl Cites for About {
    fn all(&self) -> Vec<Citation> {
        let sessions = self.sessions.iter().map(|session| {
            Citation::session(&session.session, None, &format!("{}. {}", session.title, session.summary))
        });
        let commits = self.commits.iter().map(|commit| Citation {
            commit: Some(commit.commit.clone()),
            ..Citation::session(&commit.session, None, &commit.subject)
        });
        sessions.chain(self.decisions.iter().map(Citation::turn)).chain(commits).collect()
    }
}

impl Cites for How {
    fn all(&self) -> Vec<Citation> {
        let mut all = Vec::new();
        for procedure in &self.procedures {
            all.push(Citation::session(
                &procedure.session,
                None,
                &format!("{}. {}", procedure.title, procedure.outcome),
            ));
            let steps = procedure.steps.iter();
            all.extend(steps.map(|step| {
                Citation::session(
                    &procedure.session,
                    Some(step.line),
                    &format!("{}: {}", step.kind, step.text),
                )
            }));
        }
        all
    }
}

impl Cites for Finding {
    fn all(&self) -> Vec<Citation> {
        self.hits.iter().map(Citation::turn).collect()
    }
}

impl Cites for Listing {
    fn all(&self) -> Vec<Citation> {
        let count = self.sentence();
        let of = |row: &chronicle_memory::listing::ListedRow| {
            Citation::session(&row.session, None, &format!("{}: {}", count, row.text))
        };
        self.rows.iter().map(of).collect()
    }
}

impl Cites for Fix {
    fn all(&self) -> Vec<Citation> {
        let of = |fixed: &chronicle_memory::find::Fixed| {
            let done: Vec<&str> = fixed.done.iter().map(|step| step.text.as_str()).collect();
            let text = format!("{}. Then: {}", fixed.message, done.join("; "));
            Citation::session(&fixed.session, Some(fixed.line), &text)
        };
        self.fixes.iter().map(of).collect()
    }
}

impl Cites for Why {
    fn all(&self) -> Vec<Citation> {
        let commits = self
            .commits
            .iter()
            .map(|wrote| Citation::commit(&wrote.commit, &format!("{} {}", wrote.subject, wrote.body)));
        let sessions = self.sessions.iter().map(|origin| {
            let words = origin.request.iter().chain(&origin.reasoning).cloned().collect::<Vec<_>>().join(" ");
            Citation::session(&origin.session, origin.transcript_line, &words)
        });
        let lessons = self.wisdom.iter().map(|item| Citation::commit(&item.standing.commit, &item.content));
        commits.chain(sessions).chain(lessons).collect()
    }
}

impl Cites for Reading {
    fn all(&self) -> Vec<Citation> {
        self.wisdom.iter().map(|item| Citation::commit(&item.standing.commit, &item.content)).collect()
    }
}

impl Cites for Preferences {
    fn all(&self) -> Vec<Citation> {
        let of = |preference: &chronicle_memory::learning::Preference| {
            let first = preference.evidence.first()?;
            Some(Citation::place(&first.place, first.said.as_deref().unwrap_or(&preference.preference)))
        };
        self.preferences.iter().filter_map(of).collect()
    }
}

impl Cites for Patterns {
    fn all(&self) -> Vec<Citation> {
        self.patterns
            .iter()
            .filter_map(|pattern| Some(Citation::place(pattern.evidence.first()?, &pattern.pattern)))
            .collect()
    }
}

impl Cites for Skills {
    fn all(&self) -> Vec<Citation> {
        self.skills
            .iter()
            .filter_map(|skill| Some(Citation::place(skill.evidence.first()?, &skill.technology)))
            .collect()
    }
}

impl Cites for Problems {
    fn all(&self) -> Vec<Citation> {
        let mut all = Vec::new();
        for problem in &self.problems {
            all.extend(problem.evidence.first().map(|place| Citation::place(place, &problem.problem)));
            all.extend(
                problem.solutions.first().map(|solution| Citation::place(&solution.place, &solution.done)),
            );
        }
        all
    }
}

impl Cites for Projects {
    fn all(&self) -> Vec<Citation> {
        let of = |project: &chronicle_memory::learning::KnownProject| {
            let used = project.technologies.iter().find(|used| !used.evidence.is_empty())?;
            let text = format!("{} uses {} ({})", project.project, used.technology, used.by.join(", "));
            Some(Citation::place(&used.evidence[0], &text))
        };
        self.projects.iter().filter_map(of).collect()
    }
}
