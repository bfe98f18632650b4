//! The newest word on each code unit: orientation, short.

use std::{collections::BTreeMap, path::PathBuf};

use chronicle_core::{
    Anchor, Category, LineRange,
    correction::CorrectionKind,
    outline::Item,
    reading::{Match, Standing, State},
};
use chronicle_git::ByteSlice;
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
    /// What the newest change was for.
    pub intent: Option<String>,
    /// What must stay true, and the traps, newest first.
    pub constraints: Vec<String>,
    /// What could go wrong, and what was tried and failed, newest first.
    pub risks: Vec<String>,
    /// How many more constraints, risks and lessons there are.
    pub n_more: usize,
}

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
    /// What is said, with the doubt that stands against it.
    fn doubted(&self, text: &str) -> String {
        match self.standing.corrections.last() {
            Some(last) if last.reason.is_empty() => format!("{text} (corrected)"),
            Some(last) if last.kind == CorrectionKind::Flag => format!("{text} (flagged: {})", last.reason),
            Some(last) => format!("{text} (corrected: {})", last.reason),
            None => text.to_owned(),
        }
    }
}

impl Chronicle {
    /// The newest word on each code unit of the file or directory at `path`, or on one item of the file.
    ///
    /// # Errors
    /// When the path was never there, or nothing of that name is in it.
    pub fn summary(&self, path: PathBuf, anchor: Option<&str>) -> Result<Summary, Error> {
        let repository = self.repository()?;
        let mut warnings = Vec::new();
        let wanted = match anchor {
            Some(anchor) => {
                let one = self.one_file(&path)?;
                let content = one.content.unwrap_or_default();
                Some(self.anchored(&one.file.path.to_string(), &content, anchor)?)
            }
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
        warnings.extend(wanted.iter().flat_map(|wanted| wanted.remarks.clone()));
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
                true => repository.present_file(head, file.as_bytes().as_bstr())?,
                false => None,
            };
            let items = content.map(|file_now| self.items(file, &file_now.content, &mut Vec::new()));
            let mut units = units(words, &items.unwrap_or_default());
            if let Some(wanted) = &wanted {
                units.retain(|unit| {
                    let is_named = unit.anchor.as_ref().is_some_and(|name| wanted.names.contains(name));
                    let inside = |lines: LineRange| wanted.lines.iter().any(|item| item.overlaps(lines));
                    is_named || (unit.anchor.is_some() && unit.lines.is_some_and(inside))
                });
            }
            if !units.is_empty() {
                files.push(FileSummary { file: file.to_owned(), units });
            }
        }
        let path = reading.query.file.clone().unwrap_or_default();
        Ok(Summary {
            schema: "chronicle-summary/v1",
            path,
            anchor: anchor.map(str::to_owned),
            files,
            warnings,
        })
    }
}

/// Gathers what is said by unit. What is over or gone says nothing about the code as it is, but for what was tried.
fn units(words: Vec<Word<'_>>, items: &[Item]) -> Vec<UnitSummary> {
    let mut by_unit: BTreeMap<(Option<LineRange>, Option<String>), Vec<Word<'_>>> = BTreeMap::new();
    for word in words.into_iter().filter(|word| !word.standing.is_over()) {
        by_unit.entry(unit_of(&word, items)).or_default().push(word);
    }
    by_unit.into_iter().map(|((lines, anchor), words)| unit(lines, anchor, words)).collect()
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
    words.sort_by_key(|word| std::cmp::Reverse(word.standing.at));
    let newest = words[0].standing;
    let is_there = |word: &&Word<'_>| word.standing.state != State::Gone;
    let mut constraints: Vec<String> = Vec::new();
    let mut risks: Vec<String> = Vec::new();
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
    }
    let mut intents = words.iter().filter(is_there);
    let intent = intents.find_map(|word| word.intent.map(|intent| word.doubted(intent)));
    let n_more = constraints.len().saturating_sub(MAX_EACH)
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
        intent,
        constraints,
        risks,
        n_more,
    }
}
