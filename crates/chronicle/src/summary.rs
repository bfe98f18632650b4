//! The newest word on each code unit: orientation, short.

use std::{collections::BTreeMap, path::PathBuf};

use chronicle_core::{
    Anchor, Category, LineRange,
    correction::{CorrectionItem, CorrectionKind, Tier},
    outline::Item,
    reading::{Match, Standing, State, said_by},
};
use chronicle_git::{ByteSlice, GitError};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, Error, ReadCommand, anchors};

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
    /// Its code units in the order of the file; what concerns the whole file comes first.
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
    /// How many of its constraints, and of its risks, the user or the team says: they come first.
    #[serde(skip)]
    pub n_trusted: [usize; 2],
    /// Who says the newest word, unless it is the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said_by: Option<String>,
    /// What the newest change was for.
    pub intent: Option<String>,
    /// What must stay true, and the traps, newest first.
    pub constraints: Vec<String>,
    /// What could go wrong, and what was tried and failed, newest first.
    pub risks: Vec<String>,
    /// How many more constraints, risks and lessons there are.
    pub n_more: usize,
}

const SCHEMA: &str = "chronicle-summary/v1";

/// Constraints, and risks, that are shown for one unit.
const MAX_EACH: usize = 5;

/// Files of a directory of which no outline is made: names come from annotations alone then.
const MAX_OUTLINES: usize = 500;

/// One statement about a unit.
struct Word<'r> {
    standing: &'r Standing,
    anchor: Option<&'r Anchor>,
    intent: Option<&'r str>,
    constraints: Vec<&'r str>,
    risks: Vec<&'r str>,
    n_other: usize,
}

impl Word<'_> {
    /// Whether it says anything about the code as it is, or what was tried.
    fn is_told(&self) -> bool {
        self.standing.state != State::Gone || !self.risks.is_empty()
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
        let repository = self.repository()?;
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
            let word = Word {
                standing: &item.standing,
                anchor: item.ast_anchor.as_ref(),
                intent: Some(item.intent.as_str()).filter(|intent| !intent.is_empty()),
                constraints: item.constraints.iter().map(|constraint| constraint.text.as_str()).collect(),
                risks: item.risk_notes.as_deref().into_iter().collect(),
                n_other: 0,
            };
            by_file.entry(item.standing.file.as_deref().unwrap_or_default()).or_default().push(word);
        }
        for item in &reading.wisdom {
            let said = |categories: &[Category]| -> Vec<&str> {
                categories.contains(&item.category).then_some(item.content.as_str()).into_iter().collect()
            };
            let (constraints, risks) =
                (said(&[Category::Gotcha]), said(&[Category::DeadEnd, Category::UnfinishedThread]));
            let n_other = usize::from(constraints.is_empty() && risks.is_empty());
            let (standing, anchor) = (&item.standing, item.anchor.as_ref());
            let word = Word { standing, anchor, intent: None, constraints, risks, n_other };
            by_file.entry(item.standing.file.as_deref().unwrap_or_default()).or_default().push(word);
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
            let (units, n_gone) = units(words, &items.unwrap_or_default(), is_wanted);
            if !units.is_empty() || 0 < n_gone {
                files.push(FileSummary { file: file.to_owned(), units, n_gone });
            }
        }
        if let Some(wanted) = wanted {
            warnings.extend(wanted.told(!files.is_empty())?);
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
    let mut by_unit: BTreeMap<(Option<LineRange>, Option<String>), Vec<Word<'_>>> = BTreeMap::new();
    for word in words.into_iter().filter(|word| !word.standing.is_over()) {
        by_unit.entry(unit_of(&word, items)).or_default().push(word);
    }
    by_unit.retain(|(lines, anchor), _| is_wanted(*lines, anchor.as_ref()));
    let n_all = by_unit.len();
    by_unit.retain(|_, words| words.iter().any(Word::is_told));
    let n_gone = n_all - by_unit.len();
    (by_unit.into_iter().map(|((lines, anchor), words)| unit(lines, anchor, words)).collect(), n_gone)
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
    words.sort_by_key(|word| (is_unknown(word), std::cmp::Reverse(word.standing.at)));
    let newest = words[0].standing;
    let is_there = |word: &&Word<'_>| word.standing.state != State::Gone;
    let mut constraints: Vec<String> = Vec::new();
    let mut risks: Vec<String> = Vec::new();
    let mut n_trusted = [0; 2];
    for word in &words {
        let add = |all: &mut Vec<String>, said: &[&str]| {
            for text in said {
                let text = word.doubted(text);
                if !all.contains(&text) {
                    all.push(text);
                }
            }
        };
        add(&mut risks, &word.risks);
        if word.standing.state != State::Gone {
            add(&mut constraints, &word.constraints);
        }
        if !is_unknown(word) {
            n_trusted = [constraints.len(), risks.len()];
        }
    }
    // A stranger doesn't say what the user's code is for: `read` shows it.
    let tier = words.iter().map(|word| word.standing.tier).max().unwrap_or(Tier::Unknown);
    let may_say = |word: &&Word<'_>| is_there(word) && (tier == Tier::Unknown || !is_unknown(word));
    let n_strange =
        words.iter().filter(|word| word.intent.is_some() && is_there(word) && !may_say(word)).count();
    let intent = words.iter().filter(may_say).find_map(|word| word.intent.map(|intent| word.doubted(intent)));
    let n_more = n_strange
        + constraints.len().saturating_sub(MAX_EACH)
        + risks.len().saturating_sub(MAX_EACH)
        + words.iter().map(|word| word.n_other).sum::<usize>();
    constraints.truncate(MAX_EACH);
    risks.truncate(MAX_EACH);
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
        risks,
        n_more,
    }
}
