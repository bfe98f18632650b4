//! The newest word on each code unit: orientation, short.

use std::{cmp::Reverse, collections::BTreeMap, path::PathBuf};

use chronicle_core::{
    Anchor, Category, LineRange,
    correction::{CorrectionItem, CorrectionKind, Tier},
    outline::Item,
    reading::{Match, RegionItem, Standing, State, WisdomItem, said_by},
};
use chronicle_git::{ByteSlice, GitError};
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, ReadCommand, anchors};

/// The newest word on each code unit of some files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Summary {
    /// Always `chronicle-summary/v1`.
    pub schema: &'static str,
    /// What was asked about, as it is called now.
    pub path: String,
    /// The item, when one was asked for.
    pub anchor: Option<String>,
    /// The files of which something is known.
    pub files: Vec<FileSummary>,
    /// Remarks about the answer.
    pub warnings: Vec<String>,
}

/// What is known of one file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileSummary {
    /// The file, as it is called now.
    pub file: String,
    /// Its code units in the order of the file; what concerns the whole file comes first. Of no single file, one for each
    /// annotated commit, the newest first.
    pub units: Vec<UnitSummary>,
    /// How many more there are of which the code is gone; `read` tells what is known of them.
    pub n_gone: usize,
}

/// The newest word on one code unit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnitSummary {
    /// The item; null for the file as a whole, or where there is no name for the lines.
    pub anchor: Option<String>,
    /// Where it is now.
    pub lines: Option<LineRange>,
    /// The commit of the newest annotation.
    pub commit: String,
    /// When that was written.
    pub timestamp: String,
    /// The same as a moment, for ages.
    #[serde(skip)]
    pub at: Timestamp,
    /// How far it can be trusted, 0 to 1.
    pub confidence: f64,
    /// How far those are trusted, at the most, who say any of it.
    #[serde(skip)]
    pub tier: Tier,
    /// How many texts of each kind the user or the team says, in the order of [`UnitSummary::kinds`]: they come first.
    #[serde(skip)]
    pub n_trusted: [usize; 5],
    /// Who says the newest word, unless it is the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said_by: Option<String>,
    /// What the newest change was for.
    pub intent: Option<String>,
    /// What must stay true, newest first.
    pub constraints: Vec<String>,
    /// The traps, newest first.
    pub gotchas: Vec<String>,
    /// What could go wrong, newest first.
    pub risks: Vec<String>,
    /// What was tried and failed, newest first.
    pub dead_ends: Vec<String>,
    /// What is left to do, newest first.
    pub unfinished_threads: Vec<String>,
    /// How many more statements of these kinds, and insights, there are.
    pub n_more: usize,
}

/// The texts of one kind about a unit.
#[derive(Debug, Clone, Copy)]
pub struct Kind<'u> {
    /// What each of them is, in words.
    pub label: &'static str,
    /// The texts.
    pub texts: &'u [String],
    /// How many of them the user or the team says: the first ones.
    pub n_trusted: usize,
}

impl UnitSummary {
    /// What is said of the unit beside its intent, by kind, in the order in which it is shown.
    #[must_use]
    pub fn kinds(&self) -> [Kind<'_>; 5] {
        let texts =
            [&self.constraints, &self.gotchas, &self.risks, &self.dead_ends, &self.unfinished_threads];
        std::array::from_fn(|at| Kind {
            label: Said::ALL[at].label(),
            texts: texts[at],
            n_trusted: self.n_trusted[at],
        })
    }
}

const SCHEMA: &str = "chronicle-summary/v1";

/// Texts of each kind that are shown for one unit.
const MAX_EACH: usize = 5;

/// Files of a directory of which no outline is made: names come from annotations alone then.
const MAX_OUTLINES: usize = 500;

/// What a text about a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Constraint,
    Gotcha,
    Risk,
    DeadEnd,
    UnfinishedThread,
}

impl Said {
    /// All of them, in the order in which they are shown.
    const ALL: [Self; 5] =
        [Self::Constraint, Self::Gotcha, Self::Risk, Self::DeadEnd, Self::UnfinishedThread];

    fn of(category: Category) -> Option<Self> {
        match category {
            Category::Gotcha => Some(Self::Gotcha),
            Category::DeadEnd => Some(Self::DeadEnd),
            Category::UnfinishedThread => Some(Self::UnfinishedThread),
            Category::Insight => None,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Constraint => "must hold",
            Self::Gotcha => "gotcha",
            Self::Risk => "risk",
            Self::DeadEnd => "dead end",
            Self::UnfinishedThread => "unfinished",
        }
    }

    /// Whether it says something where its code is gone: what went wrong, or is left to do, may be worth knowing.
    fn outlives_its_code(self) -> bool {
        !matches!(self, Self::Constraint | Self::Gotcha)
    }
}

/// One text, and what it is.
struct Text<'r> {
    is: Said,
    text: &'r str,
}

/// One statement about a unit.
struct Word<'r> {
    standing: &'r Standing,
    anchor: Option<&'r Anchor>,
    intent: Option<&'r str>,
    texts: Vec<Text<'r>>,
    n_other: usize,
}

impl<'r> Word<'r> {
    fn of_region(item: &'r RegionItem) -> Self {
        let constraints =
            item.constraints.iter().map(|constraint| Text { is: Said::Constraint, text: &constraint.text });
        let risk = item.risk_notes.as_deref().map(|text| Text { is: Said::Risk, text });
        Self {
            standing: &item.standing,
            anchor: item.ast_anchor.as_ref(),
            intent: Some(item.intent.as_str()).filter(|intent| !intent.is_empty()),
            texts: constraints.chain(risk).collect(),
            n_other: 0,
        }
    }

    fn of_lesson(item: &'r WisdomItem) -> Self {
        let text = Said::of(item.category).map(|is| Text { is, text: &item.content });
        Self {
            standing: &item.standing,
            anchor: item.anchor.as_ref(),
            intent: None,
            n_other: usize::from(text.is_none()),
            texts: text.into_iter().collect(),
        }
    }

    fn is_gone(&self) -> bool {
        self.standing.state == State::Gone
    }

    /// Whether it says anything about the code as it is, or what was tried.
    fn is_told(&self) -> bool {
        !self.is_gone() || self.texts.iter().any(|text| text.is.outlives_its_code())
    }

    /// What is said, with the doubt that stands against it.
    fn doubted(&self, text: &str) -> String {
        // On one line, so that none of it passes for what another one says.
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said_by = self.standing.said_by().map(|said_by| format!("({said_by}) {}", one_line(text)));
        let text = said_by.as_deref().unwrap_or(text);
        let Some(last) = self.standing.corrections.last() else { return text.to_owned() };
        let what = if last.kind == CorrectionKind::Flag { "flagged" } else { "corrected" };
        // A stranger's name and reason have no line of their own here; `read` shows them.
        let is_strange = last.trust == Tier::Unknown && self.standing.tier != Tier::Unknown;
        let by = match is_strange {
            true => Some("by someone else".to_owned()),
            false => said_by_of(last),
        };
        let by = by.map(|by| format!(" ({by})")).unwrap_or_default();
        match last.reason.is_empty() || is_strange {
            true => format!("{text} ({what}{by})"),
            false => format!("{text} ({what}{by}: {})", one_line(&last.reason)),
        }
    }
}

/// Who made a correction, unless it is the user.
fn said_by_of(correction: &CorrectionItem) -> Option<String> {
    said_by(correction.author.as_deref(), correction.trust, correction.origin.as_deref())
}

impl Chronicle {
    /// The newest word on each code unit of the file or directory at `path`, or on one item of the file.
    ///
    /// # Errors
    /// When the path was never there, or neither the file nor any note has the name.
    pub fn summary(&self, path: PathBuf, anchor: Option<&str>) -> Result<Summary, Error> {
        let repository = self.workplace.repository()?;
        let mut warnings = Vec::new();
        let wanted = match anchor {
            Some(anchor) => Some(self.anchored_at(&path, anchor)?.0),
            None => None,
        };
        let command = ReadCommand {
            paths: vec![path],
            max_regions: Some(usize::MAX),
            depth: 0,
            is_brief: true,
            ..ReadCommand::default()
        };
        let reading = self.read(&command)?;
        warnings.extend(reading.warnings.iter().cloned());
        let mut by_file: BTreeMap<&str, Vec<Word<'_>>> = BTreeMap::new();
        for item in &reading.regions {
            by_file
                .entry(item.standing.file.as_deref().unwrap_or_default())
                .or_default()
                .push(Word::of_region(item));
        }
        for item in &reading.wisdom {
            by_file
                .entry(item.standing.file.as_deref().unwrap_or_default())
                .or_default()
                .push(Word::of_lesson(item));
        }
        let head = repository.head()?;
        let mut files = Vec::new();
        for (number, (file, words)) in by_file.into_iter().enumerate() {
            let needs_names = words.iter().any(|word| word.standing.lines.is_some());
            let content = match needs_names && number < MAX_OUTLINES {
                true => match repository.present_file(head, file.as_bytes().as_bstr()) {
                    Err(GitError::Promised { .. }) => None,
                    found => found?,
                },
                false => None,
            };
            let items = content.map(|file_now| self.items(file, &file_now.content, &mut Vec::new()));
            let is_wanted = |lines: Option<LineRange>, anchor: Option<&String>| {
                let Some(wanted) = &wanted else { return true };
                // A name that no item has may be told in part only.
                let has_name = |name: &String| match wanted.lines[..] {
                    [] => wanted.may_mean(name),
                    _ => wanted.names.contains(name),
                };
                let inside = |lines: LineRange| wanted.lines.iter().any(|item| item.overlaps(lines));
                anchor.is_some_and(has_name) || (anchor.is_some() && lines.is_some_and(inside))
            };
            let (mut units, n_gone) = units(words, &items.unwrap_or_default(), is_wanted);
            if file.is_empty() {
                units.sort_by_key(|unit| (unit.tier == Tier::Unknown, Reverse(unit.at)));
            }
            if !units.is_empty() || 0 < n_gone {
                files.push(FileSummary { file: file.to_owned(), units, n_gone });
            }
        }
        if let Some(wanted) = wanted {
            warnings.extend(wanted.into_remarks(!files.is_empty())?);
        }
        let path = reading.query.file.clone().unwrap_or_default();
        let anchor = anchor.map(str::to_owned);
        Ok(Summary { schema: SCHEMA, path, anchor, files, warnings })
    }
}

/// Gathers what is said by unit, of those that are wanted. What is over or gone says nothing about the code as it is,
/// but for what was tried; units of which nothing else is known are only counted.
fn units(
    words: Vec<Word<'_>>,
    items: &[Item],
    is_wanted: impl Fn(Option<LineRange>, Option<&String>) -> bool,
) -> (Vec<UnitSummary>, usize) {
    let mut by_unit: BTreeMap<_, Vec<Word<'_>>> = BTreeMap::new();
    for word in words.into_iter().filter(|word| !word.standing.is_over()) {
        // What concerns several files is about the commit: each says only what was said of it.
        let commit = word.standing.file.is_none().then(|| word.standing.commit.clone());
        by_unit.entry((unit_of(&word, items), commit)).or_default().push(word);
    }
    by_unit.retain(|((lines, anchor), _), _| is_wanted(*lines, anchor.as_ref()));
    let n_all = by_unit.len();
    by_unit.retain(|_, words| words.iter().any(Word::is_told));
    let n_gone = n_all - by_unit.len();
    let units = by_unit.into_iter().map(|(((lines, anchor), _), words)| unit(lines, anchor, words));
    (units.collect(), n_gone)
}

/// The item that a statement is about: the one that has its lines now, or the one that it names.
fn unit_of(word: &Word<'_>, items: &[Item]) -> (Option<LineRange>, Option<String>) {
    let standing = word.standing;
    let of = |item: &Item| (Some(item.lines), Some(item.qualified.clone()));
    if let Some(item) = standing.lines.and_then(|lines| anchors::innermost(items, lines)) {
        return of(item);
    }
    let named = word.anchor.map(|anchor| anchor.name.as_str());
    let is_named = |item: &&Item| named.is_some_and(|name| name == item.qualified);
    if let Some(item) = items.iter().find(is_named) {
        return of(item);
    }
    match (named, standing.matched) {
        (Some(name), _) => (standing.lines, Some(name.to_owned())),
        // A commit that wrote lines all over the file speaks of the file.
        (None, Match::Commit | Match::File | Match::Near) => (None, None),
        (None, _) if items.is_empty() => (standing.lines, None),
        (None, _) => (None, None),
    }
}

fn unit(lines: Option<LineRange>, anchor: Option<String>, mut words: Vec<Word<'_>>) -> UnitSummary {
    let is_unknown = |word: &Word<'_>| word.standing.tier == Tier::Unknown;
    words.sort_by_key(|word| (is_unknown(word), Reverse(word.standing.at)));
    let newest = words[0].standing;
    let mut texts: [Vec<String>; 5] = Said::ALL.map(|is| texts_of(&words, is));
    let own = words.iter().position(is_unknown).unwrap_or(words.len());
    let n_trusted = Said::ALL.map(|is| texts_of(&words[..own], is).len().min(MAX_EACH));
    // A stranger doesn't say what the user's code is for: `read` shows it.
    let tier = words.iter().map(|word| word.standing.tier).max().unwrap_or(Tier::Unknown);
    let may_say = |word: &&Word<'_>| !word.is_gone() && (tier == Tier::Unknown || !is_unknown(word));
    let n_strange =
        words.iter().filter(|word| word.intent.is_some() && !word.is_gone() && !may_say(word)).count();
    let intent = words.iter().filter(may_say).find_map(|word| word.intent.map(|intent| word.doubted(intent)));
    let n_more = n_strange
        + texts.iter().map(|texts| texts.len().saturating_sub(MAX_EACH)).sum::<usize>()
        + words.iter().map(|word| word.n_other).sum::<usize>();
    texts.iter_mut().for_each(|texts| texts.truncate(MAX_EACH));
    let [constraints, gotchas, risks, dead_ends, unfinished_threads] = texts;
    UnitSummary {
        anchor,
        lines,
        commit: newest.commit.clone(),
        timestamp: newest.timestamp.clone(),
        at: newest.at,
        confidence: newest.confidence,
        n_trusted,
        tier,
        said_by: newest.said_by(),
        intent,
        constraints,
        gotchas,
        risks,
        dead_ends,
        unfinished_threads,
        n_more,
    }
}

/// What the statements say of one kind, each text once.
fn texts_of(words: &[Word<'_>], is: Said) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for word in words.iter().filter(|word| !word.is_gone() || is.outlives_its_code()) {
        for text in word.texts.iter().filter(|text| text.is == is) {
            let text = word.doubted(text.text);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    texts
}
