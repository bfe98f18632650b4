//! Code units seen as lessons, for questions that ask for a category.

use chronicle_core::{Category, Entry, EntryId, Region};

use crate::read::{answer::Item, record::Body};

/// The lessons that a region holds: intent and reasoning are insights, constraints and risks
/// gotchas, dependencies insights that name what they depend on.
pub(crate) fn lessons(item: &Item) -> Vec<Item> {
    let Body::Region(region) = &item.body else { return Vec::new() };
    let mut entries = Vec::new();
    for text in [&region.intent, &region.reasoning].into_iter().flatten() {
        entries.push(entry(region, Category::Insight, text));
    }
    for constraint in &region.constraints {
        let entry = entry(region, Category::Gotcha, &constraint.text);
        entries.push(Entry { origin: constraint.origin, ..entry });
    }
    entries.extend(region.risk_notes.iter().map(|risk| entry(region, Category::Gotcha, risk)));
    for dependency in &region.semantic_dependencies {
        let target = dependency
            .anchor
            .as_ref()
            .map_or_else(|| dependency.file.clone(), |anchor| format!("{}:{anchor}", dependency.file));
        let content = format!("Depends on {target} — {}", dependency.nature);
        let entry = entry(region, Category::Insight, &content);
        entries.push(Entry { depends_on: vec![dependency.clone()], ..entry });
    }
    let lessons = entries.into_iter().zip(1..).map(|(mut entry, number)| {
        let mut lesson = item.clone();
        entry.id = EntryId(format!("{}.{number}", item.standing.id));
        lesson.standing.id = entry.id.clone();
        lesson.body = Body::Wisdom(Box::new(entry));
        lesson
    });
    lessons.collect()
}

fn entry(region: &Region, category: Category, content: &str) -> Entry {
    Entry {
        file: Some(region.file.clone()),
        lines: region.lines,
        anchor: region.ast_anchor.clone(),
        ..Entry::new(region.id.clone(), category, content)
    }
}
