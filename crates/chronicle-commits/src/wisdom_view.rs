//! Code units seen as lessons, for questions that ask for a category.

use chronicle_core::{Category, Entry, EntryId, Origin, Region};

use crate::{answer::Item, record::Body};

/// The lessons that a region holds: intent and reasoning are insights, constraints and risks
/// gotchas, dependencies insights that name what they depend on.
pub(crate) fn lessons(item: &Item) -> Vec<Item> {
    let Body::Region(region) = &item.body else { return Vec::new() };
    let mut lessons = Vec::new();
    let mut add = |category: Category, content: &str, origin: Option<Origin>, change: &dyn Fn(&mut Entry)| {
        let id = EntryId(format!("{}.{}", item.standing.id, lessons.len() + 1));
        let mut entry = entry(region, id.clone(), category, content);
        entry.origin = origin;
        change(&mut entry);
        let mut lesson = item.clone();
        lesson.standing.id = id;
        lesson.body = Body::Wisdom(Box::new(entry));
        lessons.push(lesson);
    };
    for text in [&region.intent, &region.reasoning].into_iter().flatten() {
        add(Category::Insight, text, None, &|_| {});
    }
    for constraint in &region.constraints {
        add(Category::Gotcha, &constraint.text, constraint.origin, &|_| {});
    }
    if let Some(risk) = &region.risk_notes {
        add(Category::Gotcha, risk, None, &|_| {});
    }
    for dependency in &region.semantic_dependencies {
        let target = dependency
            .anchor
            .as_ref()
            .map_or_else(|| dependency.file.clone(), |anchor| format!("{}:{anchor}", dependency.file));
        let content = format!("Depends on {target} — {}", dependency.nature);
        add(Category::Insight, &content, None, &|entry| entry.depends_on = vec![dependency.clone()]);
    }
    lessons
}

fn entry(region: &Region, id: EntryId, category: Category, content: &str) -> Entry {
    Entry {
        file: Some(region.file.clone()),
        lines: region.lines,
        anchor: region.ast_anchor.clone(),
        ..Entry::new(id, category, content)
    }
}
