//! Lessons by file and on their code, and the reasons of commits.

use std::collections::BTreeMap;

use chronicle_core::{
    counted,
    reading::{KnowledgeItem, RegionItem, Standing},
};
use maud::{Markup, html};

use super::MANY;
use crate::{Material, material::Placed, words};

/// Up to so many lessons are shown with their files unfolded.
const FEW: usize = 200;
/// The longest lesson, in bytes, on a page with few or with many.
const LONGEST: usize = 4_000;
const LONGEST_OF_MANY: usize = 600;
/// The longest line of code.
const LONGEST_CODE: usize = 160;

/// How much a page holds, in words.
pub(super) fn in_numbers(material: &Material) -> String {
    let mut numbers = vec![counted(material.lessons.len(), "lesson")];
    if !material.reasons.is_empty() {
        numbers.push(counted(material.reasons.len(), "reason"));
    }
    if let Some(memory) = &material.memory {
        numbers.push(counted(memory.all.len(), "session"));
        numbers.push(format!("{} open", memory.open.len() + memory.n_more_open));
    }
    numbers.join(" · ")
}

/// All lessons, by the file that they are about.
pub(super) fn lessons(material: &Material) -> Markup {
    let mut by_file: BTreeMap<&str, Vec<&Placed>> = BTreeMap::new();
    for placed in &material.lessons {
        by_file.entry(placed.lesson.standing.file.as_deref().unwrap_or_default()).or_default().push(placed);
    }
    for lessons in by_file.values_mut() {
        // In the order of the code; those without a place come last.
        lessons.sort_by_key(|placed| placed.lesson.standing.lines.map_or(u32::MAX, |lines| lines.start));
    }
    let is_open = material.lessons.len() <= FEW;
    let longest = if material.lessons.len() <= MANY { LONGEST } else { LONGEST_OF_MANY };
    html! {
        section id="lessons" aria-labelledby="lessons-title" {
            h2 id="lessons-title" { "Lessons" }
            @if !material.knowledge.is_empty() { (knowledge(&material.knowledge)) }
            @if by_file.is_empty() { p class="dim" { "None yet." } }
            @for (file, lessons) in &by_file {
                details class="group" open[is_open] {
                    summary {
                        h3 { @if file.is_empty() { "About whole commits" } @else { code { (words::path(file)) } } }
                        " " span class="dim" { (counted(lessons.len(), "lesson")) }
                    }
                    @for placed in lessons { (lesson(placed, material, longest)) }
                }
            }
        }
    }
}

fn lesson(placed: &Placed, material: &Material, longest: usize) -> Markup {
    let lesson = &placed.lesson;
    let standing = &lesson.standing;
    let kind = words::kind(lesson.category);
    html! {
        article class=(if standing.is_over() { "item over" } else { "item" }) data-kind=(kind) {
            p {
                span class=(format!("kind {}", lesson.category.name())) { (words::mark(lesson.category)) " " (kind) }
                " " span class="words" { (words::shown(&lesson.content, longest)) }
            }
            @if let Some((number, line)) = &placed.code {
                pre { code { span class="dim" { (number) " " } (words::shown(line, LONGEST_CODE)) } }
            }
            @for correction in standing.corrections.iter().take(5) {
                p class="doubt" { (words::correction(correction, material.now)) }
            }
            (about(standing, lesson.anchor.as_ref().map(|anchor| anchor.name.as_str()), material))
        }
    }
}

/// Where it is, how old, how sure, and whose: last, and dim.
fn about(standing: &Standing, anchor: Option<&str>, material: &Material) -> Markup {
    let mut about = vec![words::place(standing)];
    about.extend(anchor.map(|anchor| words::line(anchor, 80)));
    about.push(words::ago(standing.at, material.now));
    about.push(words::commit(&standing.commit));
    about.push(format!("confidence {:.2}", standing.confidence));
    about.extend(standing.said_by().map(|said| words::line(&said, 120)));
    if standing.superseded_by.is_some() {
        about.push("superseded".to_owned());
    }
    if standing.expired {
        about.push("expired".to_owned());
    }
    about.extend(standing.tags.iter().take(5).map(|tag| format!("#{}", words::line(tag, 40))));
    html! { p class="dim about" { (about.join(" · ")) } }
}

fn knowledge(items: &[KnowledgeItem]) -> Markup {
    const LONGEST: usize = 1_000;
    let shown = |text: &str| words::shown(text, LONGEST);
    html! {
        details class="group" open {
            summary { h3 { "The whole repository" } " " span class="dim" { (counted(items.len(), "rule")) } }
            @for item in items {
                article class="item" data-kind="reason" {
                    p {
                        @match item {
                            KnowledgeItem::Convention(item) => { strong { "Rule" } " for " code { (words::path(&item.scope)) } ": " (shown(&item.rule)) }
                            KnowledgeItem::Boundary(item) => { strong { "Boundary" } " of " code { (words::path(&item.module)) } ": owns " (shown(&item.owns)) "; " (shown(&item.boundary)) }
                            KnowledgeItem::AntiPattern(item) => { strong { "Don't" } ": " (shown(&item.pattern)) ". " strong { "Instead" } ": " (shown(&item.instead)) }
                        }
                    }
                    @if let Some(said) = item.said_by() { p class="dim about" { (words::line(&said, 120)) } }
                }
            }
        }
    }
}

/// Why commits are as they are.
pub(super) fn reasons(material: &Material) -> Markup {
    if material.reasons.is_empty() {
        return html! {};
    }
    let longest = if material.reasons.len() <= MANY { LONGEST } else { LONGEST_OF_MANY };
    html! {
        section id="reasons" aria-labelledby="reasons-title" {
            h2 id="reasons-title" { "Reasons" }
            p class="dim" { "Why commits are the way they are, the newest first." }
            details class="group" open[material.reasons.len() <= FEW] {
                summary { h3 { "All commits" } " " span class="dim" { (counted(material.reasons.len(), "reason")) } }
                @for reason in &material.reasons { (reason_of(reason, material, longest)) }
            }
        }
    }
}

fn reason_of(reason: &RegionItem, material: &Material, longest: usize) -> Markup {
    let more = [("Reasoning", reason.reasoning.as_deref()), ("Risk", reason.risk_notes.as_deref())];
    html! {
        article class="item" data-kind="reason" {
            p { span class="words" { (words::shown(&reason.intent, longest)) } }
            @for (label, text) in more {
                @if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                    p { strong { (label) } ": " (words::shown(text, longest)) }
                }
            }
            @if !reason.constraints.is_empty() {
                ul { @for constraint in reason.constraints.iter().take(20) { li { (words::shown(&constraint.text, longest)) } } }
            }
            @let file = reason.standing.file.as_deref();
            @let anchor = reason.ast_anchor.as_ref().map(|anchor| anchor.name.as_str());
            @let place = anchor.or(file).map(|place| words::path(place).into_owned());
            (about(&reason.standing, place.as_deref(), material))
        }
    }
}
