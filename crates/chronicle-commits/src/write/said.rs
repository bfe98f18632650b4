//! What an author says in options of the command line, as input like any other.
//!
//! `FILE:12 It blocks` names a place and what is to be known of it. What is made of it goes the way that JSON goes.

use chronicle_core::{Category, DependsOn, LineRange, outline::called, plain};
use chronicle_git::{ByteSlice, ObjectId, Repository};
use serde_json::{Map, Value, json};

use crate::{
    error::Result,
    write::{
        anchoring::innermost,
        context::{resolve, split_words},
        derive::Facts,
        input::{
            InputError, LESSON_PLACEHOLDER, MAX_BYTES, NoWordsSnafu, ReadInput, SUMMARY_PLACEHOLDER,
            TooLargeSnafu, filled_in, wash,
        },
    },
};

/// The options that give lessons, and their categories.
pub const LESSON_OPTIONS: [(&str, Category); 4] = [
    ("gotcha", Category::Gotcha),
    ("dead-end", Category::DeadEnd),
    ("insight", Category::Insight),
    ("unfinished", Category::UnfinishedThread),
];

/// What is said of a commit in options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Why this way.
    pub summary: Option<String>,
    /// The lessons in their order, each as `[PLACE ]WHAT`.
    pub lessons: Vec<(Category, String)>,
    /// What the change relies on, each as `PLACE NATURE`.
    pub depends_on: Vec<String>,
    /// The task that the change was made for.
    pub task: Option<String>,
    /// Labels of the lessons, separated by commas.
    pub tags: Vec<String>,
}

/// A place that was found, and the words after it.
struct Placed<'t> {
    file: String,
    /// What stands after the colon; empty for the file as a whole.
    at: &'t str,
    words: &'t str,
}

impl Said {
    /// Whether nothing is said but labels and a task, which are said of something.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.summary.is_none() && self.lessons.is_empty() && self.depends_on.is_empty()
    }

    /// Refuses what is refused whatever the commit is: too much, nothing, and a form that nobody filled in.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn check(&self) -> Result<(), InputError> {
        let texts = self.lessons.iter().map(|(_, text)| text).chain(&self.depends_on).chain(&self.summary);
        snafu::ensure!(texts.map(String::len).sum::<usize>() <= MAX_BYTES, TooLargeSnafu);
        if let Some(summary) = &self.summary {
            filled_in("summary", summary, SUMMARY_PLACEHOLDER)?;
        }
        for (name, text) in self.texts() {
            snafu::ensure!(!text.trim().is_empty(), NoWordsSnafu { place: format!("`--{name}`") });
        }
        for (category, text) in &self.lessons {
            let words = text.trim().split_once(char::is_whitespace).map_or(text.as_str(), |(_, words)| words);
            filled_in(category.name(), words, LESSON_PLACEHOLDER)?;
        }
        Ok(())
    }

    /// What becomes a lesson each, with the names of their options.
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let name = |category: Category| {
            let option = LESSON_OPTIONS.iter().find(|(_, known)| *known == category);
            option.map_or(category.name(), |(name, _)| name)
        };
        let lessons = self.lessons.iter().map(move |(category, text)| (name(*category), text.as_str()));
        lessons.chain(self.depends_on.iter().map(|text| ("depends-on", text.as_str())))
    }

    /// The same as JSON of an annotation of `commit`, and what its author should be told. `spelled` gives the paths
    /// from the root that a path may mean, the likeliest first.
    ///
    /// # Errors
    /// When the commit cannot be read.
    pub fn as_input(
        &self,
        repository: &Repository,
        commit: ObjectId,
        spelled: &dyn Fn(&str) -> Vec<String>,
    ) -> Result<(Value, Vec<String>)> {
        let mut facts = Facts::of(repository, commit)?;
        let mut warnings = Vec::new();
        let mut wisdom = Vec::new();
        for (category, text) in &self.lessons {
            wisdom.push(match place(&facts, repository, text, spelled, &mut warnings)? {
                Some(placed) => lesson_at(*category, &placed, &mut warnings),
                None => json!({"category": category.name(), "content": text}),
            });
        }
        for text in &self.depends_on {
            let on = match place(&facts, repository, text, spelled, &mut warnings)? {
                Some(placed) => vec![dependency(&mut facts, &placed, &mut warnings)?],
                None => resolve(text, &mut facts, repository)?,
            };
            if on.is_empty() {
                warnings.push(format!(
                    "no code was found that `{}` names; the text was kept as an insight",
                    short(text)
                ));
            }
            wisdom.push(json!({"category": Category::Insight.name(), "content": text, "depends_on": on}));
        }
        if wisdom.is_empty() && !self.tags.is_empty() {
            warnings.push("tags belong to lessons; without a lesson they were left out".to_owned());
        }
        let tags: Vec<String> = self.tags.iter().flat_map(|tags| split_words(tags)).collect();
        for lesson in &mut wisdom {
            lesson["tags"] = tags.clone().into();
        }
        let mut input = json!({"wisdom": wisdom});
        for (key, text) in [("summary", &self.summary), ("task", &self.task)] {
            if let Some(text) = text {
                input[key] = text.as_str().into();
            }
        }
        Ok((input, warnings))
    }
}

/// The place at the beginning of a text, if there is one and its file was there at the commit or before it.
fn place<'t>(
    facts: &Facts<'_>,
    repository: &Repository,
    text: &'t str,
    spelled: &dyn Fn(&str) -> Vec<String>,
    warnings: &mut Vec<String>,
) -> Result<Option<Placed<'t>>> {
    let Some((word, words)) = text.trim().split_once(char::is_whitespace) else { return Ok(None) };
    for (colon, _) in word.match_indices(':') {
        let (file, at) = (&word[..colon], &word[colon + 1..]);
        if let Some(file) = file_meant(facts, repository, &spelled(file))? {
            // Compilers write `FILE:12: WHAT`.
            let at = at.strip_suffix(':').unwrap_or(at);
            return Ok(Some(Placed { file, at, words: words.trim_start() }));
        }
    }
    if word.split_once(':').is_some_and(|(file, at)| looks_like_place(file, at)) {
        warnings.push(format!(
            "`{}` isn't a file in commit {} or its parent, so it was kept as part of the lesson",
            short(word),
            facts.commit.id.to_hex_with_len(8)
        ));
    }
    Ok(None)
}

fn looks_like_place(file: &str, at: &str) -> bool {
    match (file.contains('/'), file.contains('.')) {
        (true, true) => !at.starts_with("//"),
        (true, _) | (_, true) => at.parse::<LineRange>().is_ok(),
        (false, false) => false,
    }
}

/// The first of these files that the commit changed, or else that was there.
fn file_meant(facts: &Facts<'_>, repository: &Repository, names: &[String]) -> Result<Option<String>> {
    let mut names_of_changes =
        names.iter().filter(|name| facts.changes.iter().any(|change| change.path == name.as_str()));
    if let Some(name) = names_of_changes.next() {
        return Ok(Some(name.clone()));
    }
    for name in names.iter().filter(|name| !name.is_empty()) {
        let before = facts.first_parent().map(|tree| repository.blob_at(tree, name.as_bytes().as_bstr()));
        if facts.has(name)? || before.transpose()?.flatten().is_some() {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

/// Whether what stands after the colon is meant for lines.
fn is_for_lines(at: &str) -> bool {
    at.starts_with(|c: char| c.is_ascii_digit())
        && at.chars().all(|c| c.is_ascii_digit() || ":-,".contains(c))
}

fn lines_of(placed: &Placed<'_>, warnings: &mut Vec<String>) -> Option<LineRange> {
    let lines = placed.at.parse().map_err(|error| {
        warnings.push(format!("lines of `{}` were left out: {error}", plain(&placed.file)));
    });
    lines.ok()
}

fn lesson_at(category: Category, placed: &Placed<'_>, warnings: &mut Vec<String>) -> Value {
    let mut lesson = json!({"category": category.name(), "content": placed.words, "file": placed.file});
    if is_for_lines(placed.at) {
        if let Some(lines) = lines_of(placed, warnings) {
            lesson["lines"] = json!({"start": lines.start, "end": lines.end});
        }
    } else if !placed.at.is_empty() {
        lesson["anchor"] = placed.at.into();
    }
    lesson
}

/// What is relied on: an item, also where its lines are named.
fn dependency(facts: &mut Facts<'_>, placed: &Placed<'_>, warnings: &mut Vec<String>) -> Result<DependsOn> {
    let outline = facts.items(&placed.file)?;
    let items = outline.as_deref().and_then(|items| items.as_ref().ok());
    let mut anchor = Some(placed.at.to_owned()).filter(|name| !name.is_empty());
    if is_for_lines(placed.at) {
        let lines = lines_of(placed, warnings);
        let held = lines.zip(items).and_then(|(lines, items)| innermost(items, lines));
        anchor = held.map(|item| item.qualified.clone());
        if lines.is_some() && anchor.is_none() {
            warnings.push(format!(
                "no item of `{}` contains its lines {}; the dependency is on the whole file",
                plain(&placed.file),
                plain(placed.at)
            ));
        }
    } else if let (Some(name), Some(items)) = (&anchor, items)
        && called(items, name).is_empty()
    {
        warnings.push(format!("`{}` names nothing in `{}`", plain(name), plain(&placed.file)));
    }
    Ok(DependsOn {
        file: placed.file.clone(),
        anchor,
        nature: placed.words.to_owned(),
        sketch: None,
        extra: Map::new(),
    })
}

/// The beginning of a text, for a remark about it.
fn short(text: &str) -> String {
    let (text, _secrets) = wash(text);
    let text = plain(&text);
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

impl ReadInput {
    /// Reads what is said of `commit`, as [`crate::write::input::read_input`] reads JSON.
    ///
    /// # Errors
    /// When it is too large or not of the right form.
    pub fn of_said(input: Value, mut remarks: Vec<String>) -> Result<Self, InputError> {
        let mut read = crate::write::input::read_value(input)?;
        remarks.append(&mut read.warnings);
        Ok(Self { warnings: remarks, ..read })
    }
}
