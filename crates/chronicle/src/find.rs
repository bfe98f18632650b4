//! Finds lessons of the repository at hand, and what was said and done in sessions: the join of both memories.

use chronicle_commits::{LessonWords, Limits, Recent, find_lessons};
use chronicle_core::reading::WisdomItem;
use chronicle_memory::find::{FindCommand, Finding};
use chronicle_search::Question;
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, ReadCommand};

/// How many lessons are shown with what sessions say.
pub(crate) const MOST_LESSONS: usize = 5;

/// How many lessons have their files read: the code of some may be of another branch.
const MOST_READ: usize = 4 * MOST_LESSONS;

/// The same where only lessons about some files are wanted, which are known by their names now.
const MOST_READ_OF_FILES: usize = 40 * MOST_LESSONS;

/// What was found in both memories.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Found {
    /// What sessions say.
    #[serde(flatten)]
    pub finding: Finding,
    /// The lessons of this repository that have the words of the question, the best first: the user's own, then the
    /// team's, then those of strangers.
    pub lessons: Vec<WisdomItem>,
}

impl Found {
    /// Whether nothing was found, also not elsewhere.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty() && self.finding.hits.is_empty() && self.finding.elsewhere.hits == 0
    }
}

/// Which lessons are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct AboutLessons<'q> {
    /// The question.
    pub(crate) query: &'q str,
    /// Written then or later.
    pub(crate) since: Option<Timestamp>,
    /// About this file, or a file in this folder.
    pub(crate) file: Option<&'q str>,
}

impl Chronicle {
    /// Finds the lessons of this repository and the turns of sessions that answer a question best. Lessons have no branch
    /// and no kind of turn, and are those of no other project: where these are asked for, there are none.
    ///
    /// # Errors
    /// When the question has no words to look for, the project is not known, or the store cannot be read.
    pub fn find(&self, command: &FindCommand) -> Result<Found, Error> {
        let mut finding = self.memory().find(command)?;
        let is_elsewhere = match &command.project {
            Some(name) => !self.memory().is_here(name)?,
            None => false,
        };
        let is_of_turns = command.branch.is_some() || !command.kinds.is_empty() || command.limit == 0;
        if is_elsewhere || is_of_turns {
            return Ok(Found { finding, lessons: Vec::new() });
        }
        let wanted = AboutLessons {
            query: &command.query,
            since: command.since.as_deref().map(|text| self.memory().moment_before(text)).transpose()?,
            file: command.file.as_deref(),
        };
        let mut lessons = self.lessons_about(&wanted, &mut finding.warnings);
        lessons.truncate(command.limit);
        Ok(Found { finding, lessons })
    }

    /// The lessons of this repository that have the words of a question; none outside of a repository. An answer without
    /// them is better than none, so what goes wrong is a warning.
    pub(crate) fn lessons_about(
        &self,
        wanted: &AboutLessons<'_>,
        warnings: &mut Vec<String>,
    ) -> Vec<WisdomItem> {
        if self.workplace.repository().is_err() {
            return Vec::new();
        }
        self.lessons_with(wanted).unwrap_or_else(|error| {
            warnings.push(format!("lessons of this repository were not searched: {error}"));
            Vec::new()
        })
    }

    fn lessons_with(&self, wanted: &AboutLessons<'_>) -> Result<Vec<WisdomItem>, Error> {
        let command = ReadCommand { depth: 0, is_brief: true, ..ReadCommand::default() };
        let most = if wanted.file.is_some() { MOST_READ_OF_FILES } else { MOST_READ };
        let limits = Limits {
            lessons_only: true,
            without_stats: true,
            since: wanted.since,
            max_regions: most,
            ..self.limits(&command)?
        };
        let recent = Recent {
            limits,
            half_life_days: self.workplace.read_settings()?.half_life_days,
            now: self.workplace.now(),
        };
        let mut question = Question::new(wanted.query);
        let beginnings = question.beginnings();
        let may_fit = |note: &[u8]| beginnings.are_in(note);
        let choose = |lessons: &[LessonWords], n_others: usize| best(&mut question, lessons, n_others, most);
        let reading = find_lessons(self.workplace.lazy(), self.workplace.caches(), &recent, may_fit, choose)?;
        let mut lessons = reading.wisdom;
        if let Some(file) = wanted.file {
            lessons.retain(|lesson| lesson.standing.file.as_deref().is_some_and(|path| is_in(path, file)));
        }
        lessons.truncate(MOST_LESSONS);
        Ok(lessons)
    }
}

/// The numbers of the lessons that have the words of a question, at most so many: whose they are comes first, then how well
/// they answer, then the newest.
fn best(question: &mut Question, lessons: &[LessonWords], n_others: usize, most: usize) -> Vec<usize> {
    let texts: Vec<&str> = lessons.iter().map(|lesson| lesson.text.as_str()).collect();
    let fits = question.fits(&texts, n_others);
    let mut best: Vec<usize> = (0..lessons.len()).filter(|number| 0.0 < fits[*number]).collect();
    best.sort_by(|left, right| {
        let key = |number: &usize| (lessons[*number].tier, fits[*number], lessons[*number].at);
        key(right).partial_cmp(&key(left)).unwrap_or(std::cmp::Ordering::Equal)
    });
    best.truncate(most);
    best
}

/// Whether `path` is, or ends with, or lies in `named`, as for files of sessions.
fn is_in(path: &str, named: &str) -> bool {
    let named = named.trim_start_matches("./").trim_end_matches('/');
    let (path, named) = (format!("/{path}/"), format!("/{named}/"));
    path.contains(&named)
}

#[cfg(test)]
mod tests {
    use chronicle_core::correction::Tier;

    use super::*;

    #[test]
    fn whose_lesson_it_is_comes_before_how_well_it_answers() {
        let lesson = |text: &str, tier, second| LessonWords {
            text: text.to_owned(),
            tier,
            at: Timestamp::from_second(second).unwrap(),
        };
        let lessons = [
            lesson("set_var is unsafe", Tier::Unknown, 9),
            lesson("never set a timeout", Tier::Own, 1),
            lesson("set_var is unsafe", Tier::Own, 1),
            lesson("set_var is unsafe", Tier::Own, 2),
            lesson("the var that was set is unsafe", Tier::Team, 3),
        ];
        assert_eq!(best(&mut Question::new("why is set_var unsafe"), &lessons, 0, 9), [3, 2, 4, 0]);
        assert_eq!(best(&mut Question::new("why is set_var unsafe"), &lessons, 0, 2), [3, 2]);
        assert_eq!(best(&mut Question::new("quorum"), &lessons, 0, 9), [0; 0]);
    }

    #[test]
    fn a_file_is_named_by_its_end_or_its_folder() {
        for (path, named, expected) in [
            ("src/pool.rs", "src/pool.rs", true),
            ("src/pool.rs", "./src/pool.rs", true),
            ("src/pool.rs", "pool.rs", true),
            ("src/pool.rs", "src/", true),
            ("src/pool.rs", "ool.rs", false),
            ("src/pool.rs", "sr", false),
        ] {
            assert_eq!(is_in(path, named), expected, "{path} {named}");
        }
    }
}
