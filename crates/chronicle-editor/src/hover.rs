//! What a person reads while the pointer rests on a line: its lessons, then who wrote it and why.

use chronicle::{RegionItem, WisdomItem};
use chronicle_render::{View, lesson_head, unit_head};
use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind};

use crate::{known::Known, markup::Markup, whys::Written};

/// More lessons and code units than this are read in full elsewhere.
const MOST_LESSONS: usize = 8;
const MOST_UNITS: usize = 3;

/// Shown until it is known who wrote a line.
const NOT_YET: &str = "Looking up the author of this line. Look again in a moment.";

/// What is known of a line.
#[derive(Default)]
pub(crate) struct OfLine<'k> {
    lessons: Vec<&'k WisdomItem>,
    units: Vec<&'k RegionItem>,
}

impl<'k> OfLine<'k> {
    pub(crate) fn new(known: &'k Known, line: u32) -> Self {
        Self { lessons: known.lessons_at(line), units: known.units_at(line) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lessons.is_empty() && self.units.is_empty()
    }

    /// As it is shown; nothing where nothing is known. `written` is missing until it was looked up.
    pub(crate) fn hover(&self, written: Option<&Written>, view: &View, is_markdown: bool) -> Option<Hover> {
        let mut markup = Markup::new(is_markdown);
        for lesson in self.lessons.iter().take(MOST_LESSONS) {
            markup.head(&lesson_head(lesson, view));
            markup.words_of(lesson.standing.tier, &lesson.content);
        }
        for unit in self.units.iter().take(MOST_UNITS) {
            markup.head(&unit_head(unit, view));
            let tier = unit.standing.tier;
            markup.words_of(tier, &unit.intent);
            unit.reasoning.iter().for_each(|text| markup.words_of(tier, text));
            unit.constraints.iter().for_each(|constraint| markup.words_of(tier, &constraint.text));
            unit.risk_notes.iter().for_each(|text| markup.words_of(tier, text));
        }
        let n_more =
            self.lessons.len().saturating_sub(MOST_LESSONS) + self.units.len().saturating_sub(MOST_UNITS);
        if 0 < n_more {
            markup.words(&format!("{n_more} more: see the lessons of this file"));
        }
        match written {
            Some(written) if written.words.is_empty() => {}
            Some(written) => {
                markup.rule();
                written.words.iter().for_each(|line| markup.words(line));
            }
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
}
