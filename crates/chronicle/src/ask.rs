//! Answers a question in plain words, by the command that it is for.
//!
//! Rules choose the command, and its answer is the answer, with what it cites.
//! A model that somebody set up may word it, in one call and of these citations
//! only; what it says without one of them is not shown.

use std::{collections::HashSet, path::PathBuf};

use chronicle_core::thread::ThreadKind;
use chronicle_llm::Purpose;
use chronicle_memory::{
    brief::{Brief, BriefCommand},
    catch_up::{CatchUp, CatchUpCommand},
    digest::{Digest, DigestCommand},
    find::{About, AboutCommand, FindCommand, Finding, Fix, FixCommand, FoundTurn, How, HowCommand},
    learning::{
        Patterns, PatternsCommand, Preferences, PreferencesCommand, Problems, Projects, ProjectsCommand,
        Skills,
    },
    listing::{ListCommand, Listed, Listing, Order},
    sessions::ShownSession,
    threads::{OpenItem, Pending, PendingCommand},
};
use chronicle_search::Question;
use chronicle_sessions::shortened;
use chronicle_workplace::{Error, error::EmptyQuestionSnafu};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{Chronicle, ReadCommand, Reading, Why, WhyScope, WisdomItem, find::AboutLessons};

mod citations;
mod compose;
mod route;

pub use citations::Citation;
use citations::{Cites, decisions_first, with_lessons};
pub use compose::Composed;
use route::{End, Route, RouteName, route};

/// A longer question is cut: nobody types more by hand.
const LONGEST_QUESTION: usize = 4_000;

/// The longest briefing in an answer, in characters.
const BRIEF_BUDGET: usize = 4_000;

/// How many open threads are looked through for a topic.
const MOST_OPEN: usize = 1_000;

/// How many of anything a list in an answer holds.
const MOST_LISTED: usize = 10;

/// Among how many hits the earliest and the latest are sought.
const MOST_ORDERED: usize = 100;

/// A question.
#[derive(Debug, Clone, Default)]
pub struct AskCommand {
    /// In the user's words.
    pub question: String,
    /// About this project instead of the current one.
    pub project: Option<String>,
    /// About every project.
    pub is_all: bool,
    /// Whether no model is to word it.
    pub is_plain: bool,
}

impl AskCommand {
    /// The options that say where a command is to look.
    fn place(&self, name: RouteName) -> String {
        let is_anywhere = matches!(
            name,
            RouteName::Preferences | RouteName::Patterns | RouteName::Skills | RouteName::Problems
        );
        match &self.project {
            _ if matches!(name, RouteName::Why | RouteName::Read | RouteName::Projects) => String::new(),
            Some(project) => format!(" --project {}", quoted(project)),
            None if self.is_all && !is_anywhere => " --all".to_owned(),
            None => String::new(),
        }
    }
}

/// An answer, and where it comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Asked {
    /// Always `chronicle-ask/v1`.
    pub schema: &'static str,
    /// The question.
    pub question: String,
    /// The route it took: the command that answered.
    pub route: &'static str,
    /// The same as a command line.
    pub command: String,
    /// Lessons of this repository that have the words of the question, the best first, where sessions were searched for a
    /// topic.
    pub lessons: Vec<WisdomItem>,
    /// The session that the answer, or the question by its id, is closest to.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub closest: Option<Box<ShownSession>>,
    /// What that command answered of sessions, in its own form.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub answer: RoutedAnswer,
    /// What the answer rests on.
    pub citations: Vec<Citation>,
    /// What a model made of the citations, where one was asked.
    pub composed: Option<Composed>,
    /// Remarks.
    pub warnings: Vec<String>,
}

/// What the command answered that a question is for.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "each is the answer of the command of its name")]
pub enum RoutedAnswer {
    Brief(Box<Brief>),
    Digest(Box<Digest>),
    CatchUp(Box<CatchUp>),
    Pending(Box<Pending>),
    About(Box<About>),
    How(Box<How>),
    Projects(Box<Projects>),
    Why(Box<Why>),
    Read(Box<Reading>),
    Preferences(Box<Preferences>),
    Patterns(Box<Patterns>),
    Skills(Box<Skills>),
    Problems(Box<Problems>),
    Find(Box<Finding>),
    List(Box<Listing>),
    Fix(Box<Fix>),
}

/// What a command answered.
struct Answered {
    command: Vec<String>,
    answer: RoutedAnswer,
    citations: Vec<Citation>,
}

impl Answered {
    /// `answer` to the words of `command`, kept as `kind`.
    fn of<T>(
        command: &[&str],
        answer: T,
        citations: Vec<Citation>,
        kind: fn(Box<T>) -> RoutedAnswer,
    ) -> Self {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Self { command, answer: kind(Box::new(answer)), citations }
    }
}

impl Chronicle {
    /// Answers a question in plain words. `measure` says how many characters a briefing has as it will be written.
    ///
    /// # Errors
    /// When it is empty, the project is not known, or what it needs cannot be read.
    pub fn answer(&self, command: &AskCommand, measure: &dyn Fn(&Brief) -> usize) -> Result<Asked, Error> {
        let mut warnings = Vec::new();
        let question = command.question.trim();
        let cut = &question[..question.floor_char_boundary(LONGEST_QUESTION)];
        if cut.len() < question.len() {
            warnings.push(format!("only the first {} bytes of the question were read", cut.len()));
        }
        let is_word = |c: char| c.is_alphanumeric();
        snafu::ensure!(cut.contains(is_word), EmptyQuestionSnafu { reason: "the question is empty" });
        let mut way = route(cut);
        let named = match command.project {
            None if !command.is_all => self.memory().project_named_in(cut)?,
            _ => None,
        };
        let command = &AskCommand { project: command.project.clone().or(named), ..command.clone() };
        // Where the subject is the whole question, it has no topic.
        if let Some(project) = command.project.as_deref().filter(|_| way.subject != cut) {
            way.subject = without_project(&way.subject, project);
        }
        if way.is_guess {
            warnings.push("no rule knows this question, so sessions were searched for its words".to_owned());
        }
        let mut answered = match self.answered(&way, command, measure) {
            // An error that never came up may have been talked about, and a topic without open threads.
            Ok(Answered { answer: RoutedAnswer::Fix(fix), .. }) if fix.fixes.is_empty() => {
                way = Route { name: RouteName::Find, ..way };
                self.answered(&way, command, measure)?
            }
            Ok(Answered { answer: RoutedAnswer::Pending(pending), .. })
                if pending.items.is_empty() && way.subject != cut =>
            {
                warnings.push("nothing open has these words".to_owned());
                way = Route { name: RouteName::About, ..way };
                self.answered(&way, command, measure)?
            }
            Ok(Answered { answer: RoutedAnswer::Find(found), .. })
                if found.hits.is_empty() && found.elsewhere.hits == 0 && way.period.is_some() =>
            {
                warnings.push("no session of that time has these words, so all were searched".to_owned());
                way = Route { period: None, ..way };
                self.answered(&way, command, measure)?
            }
            // What no session is about as a whole may have been mentioned.
            Ok(Answered { answer: RoutedAnswer::List(listing), .. })
                if listing.total == 0 && !listing.topic.is_empty() =>
            {
                way = match (way.state, way.order) {
                    (None, Order::Latest) => Route { name: RouteName::Find, ..way },
                    // How they ended, or how long they took, says enough.
                    _ => Route { subject: String::new(), ..way },
                };
                self.answered(&way, command, measure)?
            }
            Ok(Answered { answer: RoutedAnswer::How(how), .. })
                if how.procedures.is_empty() && how.invocations.is_empty() =>
            {
                way = Route { name: RouteName::Find, ..way };
                self.answered(&way, command, measure)?
            }
            // What is no file or project here is looked for in sessions.
            Err(error) if matches!(way.name, RouteName::Why | RouteName::Read | RouteName::Projects) => {
                warnings.push(format!("{error}; sessions were searched instead"));
                way = Route { name: RouteName::Find, subject: cut.to_owned(), file: None, ..way };
                self.answered(&way, command, measure)?
            }
            Err(Error::EmptyQuestion { .. }) if way.subject != cut => {
                way.subject = cut.to_owned();
                self.answered(&way, command, measure)?
            }
            answered => answered?,
        };
        let lessons = self.lessons_for(&way, command, &mut warnings);
        let closest = self.closest(cut, &way.subject, &answered.answer);
        if let (Some(closest), RoutedAnswer::Find(found)) = (&closest, &mut answered.answer)
            && found.hits.iter().any(|hit| hit.session == closest.listed.session)
            && cut.contains(closest.listed.short())
        {
            found.hits.retain(|hit| hit.session == closest.listed.session);
        }
        let mut asked = Asked {
            schema: "chronicle-ask/v1",
            question: cut.to_owned(),
            route: way.name.name(),
            command: format!("git chronicle {}{}", answered.command.join(" "), command.place(way.name)),
            citations: with_lessons(&lessons, answered.citations),
            lessons,
            closest,
            answer: answered.answer,
            composed: None,
            warnings,
        };
        if !command.is_plain && self.workplace.has_chosen_model(Purpose::Ask) {
            match self.compose(cut, &asked.citations) {
                Ok(composed) => asked.composed = Some(composed),
                Err(error) => asked.warnings.push(format!("no model worded this: {error}")),
            }
        }
        Ok(asked)
    }

    fn answered(
        &self,
        way: &Route,
        command: &AskCommand,
        measure: &dyn Fn(&Brief) -> usize,
    ) -> Result<Answered, Error> {
        let (project, all) = (command.project.clone(), command.is_all);
        let subject = quoted(&way.subject);
        Ok(match way.name {
            RouteName::Brief => {
                let brief = self.memory().brief(&BriefCommand {
                    project,
                    all,
                    budget: BRIEF_BUDGET,
                    compacted: None,
                    measure,
                })?;
                let cites = brief.cites();
                Answered::of(&["brief"], brief, cites, RoutedAnswer::Brief)
            }
            RouteName::Digest => {
                let period = way.period.clone().unwrap_or_else(|| "today".to_owned());
                let told = self.memory().digest(&DigestCommand { period: period.clone(), project, all })?;
                let period = quoted(&period.replace(' ', "-"));
                let cites = told.cites();
                Answered::of(&["digest", &period], told, cites, RoutedAnswer::Digest)
            }
            RouteName::CatchUp => {
                let since = way.since();
                let told = self.memory().catch_up(&CatchUpCommand {
                    sessions: way.sessions,
                    since: since.clone(),
                    project,
                    all,
                })?;
                let since = since.map(|since| format!("--since {}", quoted(&since)));
                let sessions = way.sessions.map(|sessions| sessions.to_string());
                let words: Vec<&str> =
                    ["catch-up"].into_iter().chain(sessions.as_deref()).chain(since.as_deref()).collect();
                let cites = told.cites();
                Answered::of(&words, told, cites, RoutedAnswer::CatchUp)
            }
            RouteName::Pending => {
                let has_topic = way.subject != command.question.trim();
                let is_narrowed = has_topic || way.is_waiting || way.is_of_questions;
                let mut pending = self.memory().threads().pending(&PendingCommand {
                    project: project.clone(),
                    all,
                    archived: has_topic,
                    limit: if is_narrowed { MOST_OPEN } else { MOST_LISTED },
                })?;
                if has_topic {
                    let all = std::mem::take(&mut pending.items);
                    pending.items = self.open_about(way, command, all)?;
                }
                if way.is_waiting {
                    pending.items.retain(OpenItem::waits);
                    if pending.items.is_empty() {
                        pending.warnings.push("nothing is known to wait for something else".to_owned());
                    }
                }
                if way.is_of_questions {
                    pending.items.retain(|item| item.kind == ThreadKind::Question);
                }
                if is_narrowed {
                    pending.items.truncate(MOST_LISTED);
                    (pending.n_more, pending.n_archived) = (0, 0);
                }
                let cites = pending.cites();
                Answered::of(&["pending"], pending, cites, RoutedAnswer::Pending)
            }
            RouteName::About | RouteName::Decided => {
                let topic = way.subject.clone();
                let about = self.memory().about(&AboutCommand { topic, project, is_all: all, limit: 5 })?;
                let cites =
                    if way.name == RouteName::Decided { decisions_first(&about) } else { about.cites() };
                Answered::of(&["about", &subject], about, cites, RoutedAnswer::About)
            }
            RouteName::How => {
                let task = way.subject.clone();
                let how = self.memory().how(&HowCommand { task, project, is_all: all, limit: 3 })?;
                let cites = how.cites();
                Answered::of(&["how", &subject], how, cites, RoutedAnswer::How)
            }
            RouteName::Projects => {
                let named = Some(way.subject.clone()).filter(|subject| !subject.is_empty());
                let (using, similar_to) = if way.is_similar { (None, named) } else { (named, None) };
                let option = match (&using, &similar_to) {
                    (Some(using), _) => format!("--using {}", quoted(using)),
                    (_, Some(similar)) => format!("--similar-to {}", quoted(similar)),
                    _ => String::new(),
                };
                let projects = self.memory().learning().projects(&ProjectsCommand { using, similar_to })?;
                let words: Vec<&str> =
                    ["projects", &option].into_iter().filter(|word| !word.is_empty()).collect();
                let cites = projects.cites();
                Answered::of(&words, projects, cites, RoutedAnswer::Projects)
            }
            RouteName::Why => {
                let (file, place) = way.file.clone().unwrap_or_default();
                let words = format!("{} {}", quoted(&file), place.as_deref().map(quoted).unwrap_or_default());
                let scope = match place.as_deref().map(|place| (place, place.parse())) {
                    Some((_, Ok(lines))) => WhyScope::Lines(lines),
                    Some((anchor, Err(_))) => WhyScope::Anchor(anchor.to_owned()),
                    None => return self.lessons(&file),
                };
                let why = self.why(PathBuf::from(file), scope)?;
                let cites = why.cites();
                Answered::of(&["why", words.trim()], why, cites, RoutedAnswer::Why)
            }
            RouteName::Read => {
                let (file, _) = way.file.clone().unwrap_or_default();
                return self.lessons(&file);
            }
            RouteName::Preferences => {
                let found = self
                    .memory()
                    .learning()
                    .preferences(&PreferencesCommand { project, ..PreferencesCommand::default() })?;
                let cites = found.cites();
                Answered::of(&["preferences"], found, cites, RoutedAnswer::Preferences)
            }
            RouteName::Patterns => {
                let found = self
                    .memory()
                    .learning()
                    .patterns(&PatternsCommand { project, ..PatternsCommand::default() })?;
                let cites = found.cites();
                Answered::of(&["patterns"], found, cites, RoutedAnswer::Patterns)
            }
            RouteName::Skills => {
                let found = self.memory().learning().skills(project.as_deref(), 2 * MOST_LISTED)?;
                let cites = found.cites();
                Answered::of(&["skills"], found, cites, RoutedAnswer::Skills)
            }
            RouteName::Problems => {
                let found = self.memory().learning().problems(project.as_deref(), MOST_LISTED)?;
                let cites = found.cites();
                Answered::of(&["problems"], found, cites, RoutedAnswer::Problems)
            }
            RouteName::List => {
                let listed = way.listed.unwrap_or(Listed::Sessions);
                let period = way.period.clone();
                let command = ListCommand {
                    listed,
                    topic: way.subject.clone(),
                    state: way.state,
                    order: way.order,
                    counts_tokens: way.counts_tokens,
                    period: period.clone(),
                    // Which projects there are is no question for one of them.
                    is_all: all || listed == Listed::Projects && project.is_none(),
                    project,
                    limit: 2 * MOST_LISTED,
                };
                let listing = self.memory().listing(&command)?;
                let cites = listing.cites();
                // The command that shows more of the same sessions.
                let words = match period {
                    _ if listed == Listed::Projects => "projects".to_owned(),
                    _ if !listing.topic.is_empty() => format!("about {subject}"),
                    Some(period) => format!("digest {}", quoted(&period.replace(' ', "-"))),
                    None => "session list".to_owned(),
                };
                Answered::of(&[&words], listing, cites, RoutedAnswer::List)
            }
            RouteName::Fix => {
                let error = way.subject.clone();
                let fix = self.memory().fix(&FixCommand { error, project, is_all: all, limit: 3 })?;
                let cites = fix.cites();
                Answered::of(&["fix", &subject], fix, cites, RoutedAnswer::Fix)
            }
            RouteName::Find => {
                let query = way.subject.clone();
                let command = FindCommand {
                    query,
                    project,
                    is_all: all,
                    since: way.since(),
                    limit: if way.end.is_some() { MOST_ORDERED } else { MOST_LISTED },
                    ..FindCommand::default()
                };
                let mut found = self.memory().find(&command)?;
                if let Some(end) = way.end {
                    found.hits = in_order(&way.subject, found.hits, end);
                }
                let since =
                    way.since().map(|since| format!(" --since {}", quoted(&since))).unwrap_or_default();
                let words = format!("{subject}{since}");
                let cites = found.cites();
                Answered::of(&["find", &words], found, cites, RoutedAnswer::Find)
            }
        })
    }

    /// The open work that has the words of a topic, the best first, and then that of the sessions about it.
    fn open_about(
        &self,
        way: &Route,
        command: &AskCommand,
        items: Vec<OpenItem>,
    ) -> Result<Vec<OpenItem>, Error> {
        let text = |item: &OpenItem| {
            let branch = item.branch.as_deref().unwrap_or_default();
            format!("{}\n{}\n{branch}", item.summary, item.context)
        };
        let has_words = fits(&way.subject, &items, text);
        let sessions = self.memory().listing(&ListCommand {
            listed: Listed::Sessions,
            topic: way.subject.clone(),
            state: None,
            order: Order::Latest,
            counts_tokens: false,
            period: None,
            project: command.project.clone(),
            is_all: command.is_all,
            limit: MOST_LISTED,
        })?;
        let is_of_one = |item: &OpenItem| {
            let session = item.session.as_deref();
            sessions.rows.iter().any(|row| Some(row.session.as_str()) == session)
        };
        // Any fit comes before none.
        let least = has_words.iter().copied().filter(|fit| 0.0 < *fit).fold(1.0, f64::min) / 2.0;
        let fits = items.iter().zip(has_words).map(|(item, fit)| match is_of_one(item) {
            true => fit.max(least),
            false => fit,
        });
        let fits = fits.collect();
        Ok(chosen(items, fits))
    }

    /// The session that a question names, or that its answer is about most.
    fn closest(&self, question: &str, subject: &str, answer: &RoutedAnswer) -> Option<Box<ShownSession>> {
        const MOST_FILES: usize = 10;
        const MOST_SESSIONS: usize = 5;
        let named = question.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| {
            let is_id = |c: char| c.is_ascii_hexdigit() || c == '-';
            6 <= word.len() && word.chars().all(is_id) && word.contains(|c: char| c.is_ascii_digit())
        });
        let shown = |id: &str| self.memory().session(id, false).ok();
        let mut found: Vec<&str> = match answer {
            RoutedAnswer::Find(found) => found.hits.iter().map(|hit| hit.session.as_str()).collect(),
            RoutedAnswer::About(about) => {
                about.sessions.iter().map(|session| session.session.as_str()).collect()
            }
            RoutedAnswer::List(list) if list.listed == "session" && list.total == 1 => {
                list.rows.iter().map(|row| row.session.as_str()).collect()
            }
            _ => Vec::new(),
        };
        let mut met = HashSet::new();
        found.retain(|session| met.insert(*session));
        found.truncate(MOST_SESSIONS);
        let is_list = matches!(answer, RoutedAnswer::List(_));
        let found = || {
            let mut shown: Vec<ShownSession> = found.into_iter().filter_map(shown).collect();
            // One that only mentions the words is not what the question is about.
            let fits = fits(subject, &shown, account);
            let best = (0..shown.len()).filter(|at| is_list || 0.0 < fits[*at]);
            let best = best.reduce(|best, at| if fits[best] < fits[at] { at } else { best })?;
            Some(shown.swap_remove(best))
        };
        let mut closest = named.into_iter().find_map(shown).or_else(found)?;
        closest.files.truncate(MOST_FILES);
        closest.transcripts.clear();
        Some(Box::new(closest))
    }

    /// The lessons that a question about a topic of this project is shown with.
    fn lessons_for(&self, way: &Route, command: &AskCommand, warnings: &mut Vec<String>) -> Vec<WisdomItem> {
        let has_topic = matches!(
            way.name,
            RouteName::Find | RouteName::About | RouteName::Decided | RouteName::How | RouteName::Fix
        );
        if !has_topic || command.project.is_some() {
            return Vec::new();
        }
        let since = way.since().and_then(|since| self.memory().moment_before(&since).ok());
        self.lessons_about(&AboutLessons { query: &way.subject, since, file: None }, warnings)
    }

    fn lessons(&self, file: &str) -> Result<Answered, Error> {
        let read = self.read(&ReadCommand { paths: vec![PathBuf::from(file)], ..ReadCommand::default() })?;
        let cites = read.cites();
        Ok(Answered::of(&["read", &quoted(file)], read, cites, RoutedAnswer::Read))
    }
}

/// The hits that have the words of a question, the earliest or the latest first.
fn in_order(subject: &str, hits: Vec<FoundTurn>, end: End) -> Vec<FoundTurn> {
    let fits = fits(subject, &hits, |hit| format!("{}\n{}", hit.title, hit.snippet.text));
    let mut kept = chosen(hits, fits);
    kept.sort_by(|one, other| match end {
        End::First => one.at.cmp(&other.at),
        End::Last => other.at.cmp(&one.at),
    });
    kept.truncate(MOST_LISTED);
    kept
}

/// What is told of a session as a whole.
fn account(session: &ShownSession) -> String {
    let branch = session.listed.branch.as_deref().unwrap_or_default();
    let digest = session.digest.as_ref();
    let summary = digest.map(|digest| digest.summary.as_str()).unwrap_or_default();
    let commits = digest.into_iter().flat_map(|digest| &digest.commits);
    let commits: Vec<&str> = commits.map(|commit| commit.subject.as_str()).collect();
    format!("{}\n{summary}\n{branch}\n{}", session.listed.title, commits.join("\n"))
}

/// How well the text of each answers a question.
fn fits<T>(question: &str, all: &[T], text: impl Fn(&T) -> String) -> Vec<f64> {
    let texts: Vec<String> = all.iter().map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Question::new(question).fits(&texts, 0)
}

/// Those that fit, the best first.
fn chosen<T>(all: Vec<T>, fits: Vec<f64>) -> Vec<T> {
    let mut chosen: Vec<(T, f64)> = all.into_iter().zip(fits).filter(|(_, fit)| 0.0 < *fit).collect();
    chosen.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    chosen.into_iter().map(|(one, _)| one).collect()
}

/// A topic without the project in which it is sought: `parser in shop`, or nothing of it where it is that project.
fn without_project(subject: &str, project: &str) -> String {
    let small = subject.to_lowercase();
    let project = project.to_lowercase();
    let without = |end: &str| small.strip_suffix(end).map(str::trim_end);
    let end = without(" project").or_else(|| without(" repo")).unwrap_or(&small);
    let Some(before) = end.strip_suffix(&project) else { return subject.to_owned() };
    let before = before.trim_end();
    let before = before.strip_suffix("the").map_or(before, str::trim_end);
    let mut words: Vec<&str> = before.split_whitespace().collect();
    match words.pop() {
        None => String::new(),
        Some("in" | "of" | "for" | "on") => {
            subject[..subject.floor_char_boundary(words.join(" ").len())].to_owned()
        }
        Some(_) => subject.to_owned(),
    }
}

/// Words as one argument for a shell, short enough to be read.
fn quoted(words: &str) -> String {
    let words = shortened(words, 80);
    let is_plain = !words.is_empty()
        && words.chars().all(|c| c.is_alphanumeric() || "-_./:@+".contains(c))
        && !words.starts_with('-');
    if is_plain { words } else { format!("'{}'", words.replace('\'', "'\\''")) }
}
