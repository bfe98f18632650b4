//! What a person reads while the pointer rests on a line: its lessons, then who wrote it and why.

use chronicle::{RegionItem, Tier, WisdomItem};
use chronicle_render::{View, lesson_head, unit_head};
use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind};

use crate::{known::Known, markup::Markup, whys::Written};

/// More lessons and code units than this are read in full elsewhere.
const MOST_LESSONS: usize = 8;
const MOST_UNITS: usize = 3;

/// Shown until it is known who wrote a line.
const NOT_YET: &str = "The commit that wrote this line is being looked up. Look again in a moment.";

/// What is known of a line.
#[derive(Default)]
pub(crate) struct OfLine<'k> {
    lessons: Vec<&'k WisdomItem>,
    units: Vec<&'k RegionItem>,
    summaries: Vec<Summary>,
}

/// What a commit says of itself, for those lines only that it wrote.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    commit: String,
    tier: Tier,
    head: String,
    words: String,
}

impl<'k> OfLine<'k> {
    pub(crate) fn new(known: &'k Known, line: u32, view: &View) -> Self {
        let summary = |item: &RegionItem| Summary {
            commit: item.standing.commit.clone(),
            tier: item.standing.tier,
            head: unit_head(item, view),
            words: item.intent.clone(),
        };
        Self {
            lessons: known.lessons_at(line),
            units: known.units_at(line),
            summaries: known.summaries_at(line).into_iter().map(summary).collect(),
        }
    }

    /// A line of which only commits say something.
    pub(crate) fn of_commits(summaries: Vec<Summary>) -> Self {
        Self { summaries, ..Self::default() }
    }

    /// Whether nothing is known but what commits say of themselves; that.
    pub(crate) fn only_commits(&self) -> Option<Vec<Summary>> {
        (self.lessons.is_empty() && self.units.is_empty()).then(|| self.summaries.clone())
    }

    /// As it is shown; nothing where nothing is known. `written` is missing until it was looked up.
    pub(crate) fn hover(&self, written: Option<&Written>, view: &View, is_markdown: bool) -> Option<Hover> {
        let mut markup = Markup::new(is_markdown);
        for lesson in self.lessons.iter().take(MOST_LESSONS) {
            markup.head(&lesson_head(lesson, view));
            markup.words_of(lesson.standing.tier, &lesson.content);
        }
        for unit in self.units.iter().take(MOST_UNITS) {
            add_unit(&mut markup, unit, view);
        }
        let n_more =
            self.lessons.len().saturating_sub(MOST_LESSONS) + self.units.len().saturating_sub(MOST_UNITS);
        if 0 < n_more {
            markup.words(&format!("{n_more} more: see the lessons of this file"));
        }
        match written {
            Some(written) => self.add_written(&mut markup, written),
            None => {
                markup.rule();
                markup.words(NOT_YET);
            }
        }
        if markup.is_empty() {
            return None;
        }
        let kind = if is_markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
        let content = MarkupContent { kind, value: markup.into_text() };
        Some(Hover { contents: Contents::MarkupContent(content), range: None })
    }

    fn add_written(&self, markup: &mut Markup, written: &Written) {
        if written.words.is_empty() {
            return;
        }
        markup.rule();
        written.words.iter().for_each(|line| markup.words(line));
        for summary in self.summaries.iter().filter(|summary| written.commits.contains(&summary.commit)) {
            markup.head(&summary.head);
            markup.words_of(summary.tier, &summary.words);
        }
    }
}

fn add_unit(markup: &mut Markup, unit: &RegionItem, view: &View) {
    markup.head(&unit_head(unit, view));
    let tier = unit.standing.tier;
    markup.words_of(tier, &unit.intent);
    unit.reasoning.iter().for_each(|text| markup.words_of(tier, text));
    unit.constraints.iter().for_each(|constraint| markup.words_of(tier, &constraint.text));
    unit.risk_notes.iter().for_each(|text| markup.words_of(tier, text));
}
