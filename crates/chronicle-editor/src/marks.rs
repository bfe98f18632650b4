//! What is seen without a pointer: hints at the ends of lines, and counts over items.

use chronicle::{LineRange, WisdomItem, counted};
use chronicle_render::{View, lesson_in_place};
use gen_lsp_types::{CodeLens, Command, InlayHint, Label, MarkupContent, MarkupKind, Range, Tooltip};
use serde_json::json;

use crate::{
    documents::Document,
    known::{Counts, Known},
    text::TextLines,
};

/// As many lessons are in the tooltip of a hint.
const MOST_IN_TOOLTIP: usize = 4;

/// Hints at the ends of the lines of `range` on which lessons begin: `2 lessons`.
pub(crate) fn hints(known: &Known, lines: &TextLines<'_>, range: Range, view: &View) -> Vec<InlayHint> {
    let asked = LineRange { start: lines.line_of(range.start), end: lines.line_of(range.end) };
    let marks = known.marks();
    let asked = marks.range(asked.start..=asked.end.max(asked.start));
    asked.map(|(line, lessons)| hint(lessons, lines, *line, view)).collect()
}

fn hint(lessons: &[&WisdomItem], lines: &TextLines<'_>, line: u32, view: &View) -> InlayHint {
    let told = lessons.iter().take(MOST_IN_TOOLTIP);
    let told = told.map(|item| lesson_in_place(item, view));
    let value = told.collect::<Vec<_>>().join("\n");
    let tooltip = Tooltip::MarkupContent(MarkupContent { kind: MarkupKind::PlainText, value });
    InlayHint {
        position: lines.end_of(line),
        label: Label::String(counted(lessons.len(), "lesson")),
        kind: None,
        text_edits: None,
        tooltip: Some(tooltip),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

/// Counts over items: `1 gotcha, 1 dead end, 2 rely on this`.
pub(crate) fn lenses(known: &Known, lines: &TextLines<'_>, document: &Document) -> Vec<CodeLens> {
    let lens = |(line, counts): (u32, Counts)| CodeLens {
        range: lines.range_of(line),
        command: Some(Command {
            title: title(&counts),
            tooltip: None,
            command: "chronicle.show".to_owned(),
            arguments: Some(vec![json!({ "uri": document.uri, "line": line })]),
        }),
        data: None,
    };
    known.counts().into_iter().map(lens).collect()
}

fn title(counts: &Counts) -> String {
    let Counts { gotchas, dead_ends, insights, unfinished, dependents } = *counts;
    let named = [(gotchas, "gotcha"), (dead_ends, "dead end"), (insights, "insight")];
    let mut parts: Vec<String> =
        named.into_iter().filter(|(n, _)| 0 < *n).map(|(n, name)| counted(n, name)).collect();
    parts.extend((0 < unfinished).then(|| format!("{unfinished} unfinished")));
    parts.extend(match dependents {
        0 => None,
        1 => Some("1 relies on this".to_owned()),
        several => Some(format!("{several} rely on this")),
    });
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_in_words() {
        let check = |[gotchas, dead_ends, insights, unfinished, dependents]: [usize; 5], expected: &str| {
            let counts = Counts { gotchas, dead_ends, insights, unfinished, dependents };
            assert_eq!(title(&counts), expected);
        };
        check([1, 1, 0, 0, 2], "1 gotcha, 1 dead end, 2 rely on this");
        check([0, 0, 2, 1, 1], "2 insights, 1 unfinished, 1 relies on this");
        check([2, 0, 0, 0, 0], "2 gotchas");
    }
}
