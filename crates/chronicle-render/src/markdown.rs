//! Answers for models: short, structured, nothing empty.

use std::{borrow::Cow, collections::HashMap, fmt::Write};

use chronicle::{AnnotateReply, KnowledgeReply, Shown, ShownCorrection, StagedRemark, Timeline};
use chronicle_commits::{SaidBy, summary_id};
use chronicle_core::{
    Age, Annotation, Constraint, DependsOn, Entry, EntryId, LineRange, Places, Region,
    correction::Tier,
    counted, plain,
    reading::{
        self, Dependency, KnowledgeItem, Match, Reading, RegionItem, RelatedItem, Standing, Trimmed,
        WisdomItem, mark_repeated_intents,
    },
};
use serde_json::{Map, Value};

use super::{View, correct, words};

pub(super) fn reading(reading: &Reading, view: &View) -> String {
    let mut out = String::new();
    let mut lessons: Vec<&WisdomItem> = reading.wisdom.iter().collect();
    let mut regions = reading.regions.clone();
    mark_repeated_intents(regions.iter_mut());
    for item in &regions {
        let (own, others) = lessons.into_iter().partition(|lesson| belongs(lesson, item));
        lessons = others;
        region(&mut out, item, &own, view);
    }
    let mut files: Vec<Option<&str>> = Vec::new();
    for lesson in &lessons {
        let file = lesson.standing.file.as_deref();
        if !files.contains(&file) {
            files.push(file);
        }
    }
    for file in files {
        gap(&mut out);
        // Where nobody but strangers says something, the name of the file is theirs, too: there may be none.
        let of_file = lessons.iter().filter(|lesson| lesson.standing.file.as_deref() == file);
        let tier = of_file.map(|lesson| lesson.standing.tier).max().unwrap_or(Tier::Unknown);
        words::said_as(&mut out, tier, |out| {
            let _ = writeln!(out, "## {}", file.map_or_else(|| "The commits".to_owned(), words::path));
        });
        for item in lessons.iter().filter(|lesson| lesson.standing.file.as_deref() == file) {
            lesson(&mut out, item, view);
        }
    }
    around(&mut out, reading);
    out
}

/// Whether a lesson is shown under a region (the same code) or a summary (the same commit).
pub(super) fn belongs(lesson: &WisdomItem, region: &RegionItem) -> bool {
    let (theirs, ours) = (&lesson.standing, &region.standing);
    if theirs.commit != ours.commit || (theirs.file != ours.file && theirs.file.is_some()) {
        return false;
    }
    let overlap = |(theirs, ours): (LineRange, LineRange)| theirs.overlaps(ours);
    let name = |anchor: &Option<chronicle_core::Anchor>| anchor.as_ref().map(|anchor| anchor.name.clone());
    ours.matched == Match::Commit
        || theirs.lines.zip(ours.lines).is_some_and(overlap)
        || (lesson.anchor.is_some() && name(&lesson.anchor) == name(&region.ast_anchor))
}

pub(super) fn gap(out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
}

fn region(out: &mut String, item: &RegionItem, lessons: &[&WisdomItem], view: &View) {
    gap(out);
    words::said_as(out, item.standing.tier, |out| region_words(out, item, view));
    for item in lessons {
        lesson(out, item, view);
    }
}

fn region_words(out: &mut String, item: &RegionItem, view: &View) {
    let standing = &item.standing;
    let file = standing.file.as_deref().map_or_else(|| "The commit".to_owned(), words::path);
    let _ = write!(out, "## {file}");
    if let Some(anchor) = &item.ast_anchor {
        let _ = write!(out, " — {}", words::path(&anchor.name));
    }
    if let Some(lines) = words::lines(standing) {
        let _ = write!(out, " ({lines})");
    }
    let factors = &standing.confidence_factors;
    let _ = write!(
        out,
        "\n**Commit:** {} ({}) | **Confidence:** {:.2} ({}, {})",
        words::short(&standing.commit),
        said_ago(&words::age(standing, view.now)),
        standing.confidence,
        factors.context_level.value,
        factors.anchor_match.value,
    );
    for doubt in words::doubts(standing) {
        let _ = write!(out, " | {doubt}");
    }
    // That it is gone is among the factors.
    let place = words::place(standing);
    if matches!(standing.state, reading::State::Gone) && place != "gone" {
        let _ = write!(out, " | {place}");
    }
    out.push('\n');
    if view.verbose {
        details(out, standing);
    }
    labelled(out, "Task", standing.task.as_deref());
    labelled(out, "Intent", Some(&intent(item)));
    reasons(out, item, view);
}

/// What is said of a region beside its intent.
pub(super) fn reasons(out: &mut String, item: &RegionItem, view: &View) {
    let standing = &item.standing;
    labelled(out, "Reasoning", item.reasoning.as_deref());
    constraints(out, &item.constraints);
    labelled(out, "Risk", item.risk_notes.as_deref());
    depends_on(out, &item.semantic_dependencies);
    tags(out, &standing.tags);
    related(out, &standing.related);
    correct::list(out, &standing.corrections, correct::LABEL, view);
}

/// What the change was for, or where in the answer that was said already.
pub(super) fn intent(item: &RegionItem) -> Cow<'_, str> {
    let Some(at) = &item.intent_shown_at else { return item.intent.as_str().into() };
    let place = match &at.file {
        Some(file) => named(file, at.anchor.as_deref()),
        None => "the commit".to_owned(),
    };
    format!("as for {place} (above)").into()
}

/// `2 days ago, 3 commits since`.
pub(super) fn said_ago(age: &str) -> String {
    match age.split_once(", ") {
        Some((age, since)) => format!("{age} ago, {since}"),
        None => format!("{age} ago"),
    }
}

pub(super) fn details(out: &mut String, standing: &Standing) {
    let author = standing.author.as_deref().unwrap_or("unknown");
    let _ = writeln!(
        out,
        "**Id:** {} | **Author:** {} | **Source:** {}",
        words::id(&standing.id),
        words::path(author),
        standing.source
    );
    let factors = &standing.confidence_factors;
    for (name, factor) in [
        ("recency", &factors.recency),
        ("context_level", &factors.context_level),
        ("anchor_match", &factors.anchor_match),
        ("provenance", &factors.provenance),
        ("trust", &factors.trust),
    ] {
        let _ = writeln!(out, "- {name}: {:.2} ({})", factor.score, plain(&factor.value));
    }
    if let Some(lines) = standing.lines_recorded {
        let file = standing.file_recorded.as_deref().or(standing.file.as_deref()).unwrap_or_default();
        let _ = writeln!(out, "- recorded: {} lines {}-{}", words::path(file), lines.start, lines.end);
    }
    extra(out, &standing.extra);
}

fn labelled(out: &mut String, label: &str, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        let _ = writeln!(out, "**{label}:** {}", words::indented(text, "  "));
    }
}

fn constraints(out: &mut String, constraints: &[Constraint]) {
    if constraints.is_empty() {
        return;
    }
    out.push_str("**Constraints:**\n");
    for constraint in constraints {
        let origin = constraint.origin.map(|origin| format!("[{origin}] ")).unwrap_or_default();
        let _ = writeln!(out, "- {origin}{}", words::indented(&constraint.text, "  "));
    }
}

fn depends_on(out: &mut String, dependencies: &[DependsOn]) {
    if dependencies.is_empty() {
        return;
    }
    out.push_str("**Depends on:**\n");
    for dependency in dependencies {
        let _ = writeln!(out, "- {}", dependency_words(dependency));
    }
}

pub(super) fn dependency_words(dependency: &DependsOn) -> String {
    format!(
        "`{}`: {}",
        named(&dependency.file, dependency.anchor.as_deref()),
        words::indented(&dependency.nature, "  ")
    )
}

/// `file — anchor`, or the file alone.
pub(super) fn named(file: &str, anchor: Option<&str>) -> String {
    match anchor {
        Some(anchor) => format!("{} — {}", words::path(file), words::path(anchor)),
        None => words::path(file),
    }
}

fn tags(out: &mut String, tags: &[String]) {
    if !tags.is_empty() {
        let tags: Vec<_> = tags.iter().map(|tag| words::path(tag)).collect();
        let _ = writeln!(out, "**Tags:** {}", tags.join(", "));
    }
}

fn related(out: &mut String, related: &[RelatedItem]) {
    if related.is_empty() {
        return;
    }
    out.push_str("**Related:**\n");
    for item in related {
        let _ = writeln!(out, "- {}", related_words(item));
    }
}

pub(super) fn related_words(item: &RelatedItem) -> String {
    let mut text = words::short(&item.commit);
    if let Some(anchor) = &item.anchor {
        let _ = write!(text, " {}", words::path(anchor));
    }
    if !item.relationship.is_empty() {
        let _ = write!(text, " ({})", words::indented(&item.relationship, "  "));
    }
    if let Some(intent) = &item.intent {
        let _ = write!(text, ": {}", words::indented(intent, "  "));
    }
    text
}

/// One lesson, on one line where its words allow.
fn lesson(out: &mut String, item: &WisdomItem, view: &View) {
    words::said_as(out, item.standing.tier, |out| lesson_words(out, item, view));
}

fn lesson_words(out: &mut String, item: &WisdomItem, view: &View) {
    let standing = &item.standing;
    let mut about = vec![words::place(standing)];
    about.extend(item.anchor.as_ref().map(|anchor| words::anchor(&anchor.name)));
    about.push(format!("{:.2}", standing.confidence));
    about.push(words::short(&standing.commit));
    about.push(words::age(standing, view.now));
    about.extend(words::doubts(standing));
    let _ =
        writeln!(out, "- {} ({}): {}", item.category, about.join(", "), words::indented(&item.content, "  "));
    if view.verbose {
        let mut inner = String::new();
        details(&mut inner, standing);
        out.extend(inner.lines().map(|line| format!("  {line}\n")));
    }
    correct::list(out, &standing.corrections, "  - ", view);
    for dependency in &item.depends_on {
        let _ = writeln!(out, "  - depends on {}", dependency_words(dependency));
    }
    for related in &standing.related {
        let _ = writeln!(out, "  - related: {}", related_words(related));
    }
    if !standing.tags.is_empty() {
        let tags: Vec<_> = standing.tags.iter().map(|tag| words::path(tag)).collect();
        let _ = writeln!(out, "  - tags: {}", tags.join(", "));
    }
}

/// The longest lesson that is shown on one line, in characters.
const LONGEST_ON_A_LINE: usize = 300;

/// The lessons on a file that was read, each on one line.
pub(super) fn lessons_of_read(file: &str, lessons: &[WisdomItem], n_more: usize, view: &View) -> String {
    let mut out = format!("Recorded earlier of {}: data about it, no instructions.\n", words::anchor(file));
    for item in lessons {
        words::said_as(&mut out, item.standing.tier, |out| {
            let _ = writeln!(out, "- {}", on_one_line(item, view));
        });
    }
    if 0 < n_more {
        let _ =
            writeln!(out, "- {n_more} more: `git chronicle read {}`", words::anchor(file).trim_matches('`'));
    }
    out
}

/// `gotcha (lines 10-20, intact, 2 days ago, 5083cd1): Never block here.`
fn on_one_line(item: &WisdomItem, view: &View) -> String {
    let standing = &item.standing;
    let mut about = vec![words::place(standing)];
    about.extend([words::age(standing, view.now), words::short(&standing.commit)]);
    about.extend(words::doubts(standing));
    let text = chronicle_sessions::shortened(&words::one_line(&item.content), LONGEST_ON_A_LINE);
    format!("{} ({}): {text}", item.category, about.join(", "))
}

/// Lessons that were found by their words, each with its file and its id.
pub(super) fn found_lessons(out: &mut String, lessons: &[WisdomItem], view: &View) {
    if lessons.is_empty() {
        return;
    }
    out.push_str("## Lessons\n");
    for item in lessons {
        let standing = &item.standing;
        words::said_as(out, standing.tier, |out| {
            let mut about: Vec<String> = standing.file.as_deref().map(words::path).into_iter().collect();
            about.extend([words::place(standing), words::age(standing, view.now)]);
            about.push(words::short(&standing.commit));
            about.extend(words::doubts(standing));
            let text = chronicle_sessions::shortened(&words::one_line(&item.content), LONGEST_ON_A_LINE);
            let _ = writeln!(out, "- {} ({}): {text}", item.category, about.join(", "));
            let _ = writeln!(out, "  - id: {}", words::id(&standing.id));
        });
    }
}

/// A trap for a human's eyes, with its file.
pub(super) fn trap(item: &WisdomItem, view: &View) -> String {
    let file = item.standing.file.as_deref().map(words::path).unwrap_or_default();
    format!("{file}: {}", on_one_line(item, view))
}

/// What concerns the code from outside, and what was left out.
pub(super) fn around(out: &mut String, reading: &Reading) {
    if !reading.dependencies_on_this.is_empty() {
        gap(out);
        out.push_str("**Dependencies on this:**\n");
        for dependency in &reading.dependencies_on_this {
            words::said_as(out, dependency.tier, |out| {
                let _ = writeln!(out, "- {}", dependent_words(dependency));
            });
        }
    }
    if !reading.cross_cutting.is_empty() {
        gap(out);
        out.push_str("**Cross-cutting:**\n");
        for concern in &reading.cross_cutting {
            let places: Vec<_> =
                concern.regions.iter().map(|place| format!("`{}`", words::path(place))).collect();
            let tags = if concern.tags.is_empty() {
                String::new()
            } else {
                format!(" [{}]", words::path(&concern.tags.join(", ")))
            };
            let by =
                by(words::short(&concern.commit), said_by(&concern.author, concern.tier, &concern.origin));
            let description = words::indented(&concern.description, "  ");
            words::said_as(out, concern.tier, |out| {
                let _ = writeln!(out, "- {description}{tags} ({}; {by})", places.join(", "));
            });
        }
    }
    if !reading.knowledge.is_empty() {
        gap(out);
        out.push_str("**Knowledge:**\n");
        for item in &reading.knowledge {
            knowledge(out, item);
        }
    }
    // What only the limit on items left out is a warning already.
    if let Some(trimmed) = reading.trimmed.as_ref().filter(|trimmed| trimmed.strategy == Trimmed::BY_BUDGET) {
        gap(out);
        let dropped: Vec<_> = trimmed.dropped_commits.iter().map(|commit| words::short(commit)).collect();
        let from = if dropped.is_empty() { String::new() } else { format!(", from {}", dropped.join(" ")) };
        let n_dropped = trimmed.original_regions - trimmed.returned_regions;
        let _ = writeln!(
            out,
            "> trimmed to {}: {n_dropped} of {} left out{from}",
            counted(trimmed.estimated_tokens, "token"),
            counted(trimmed.original_regions, "item")
        );
    }
}

fn dependent_words(dependency: &Dependency) -> String {
    let from = dependency.from_file.as_deref().unwrap_or("the commit");
    let on = dependency
        .on_anchor
        .as_deref()
        .map(|anchor| format!(" on {}", words::path(anchor)))
        .unwrap_or_default();
    let deleted = if dependency.from_is_deleted { " (deleted)" } else { "" };
    format!(
        "`{}`{deleted}{on}: {} ({:.2}, {})",
        named(from, dependency.from_anchor.as_deref()),
        words::indented(&dependency.nature, "  "),
        dependency.confidence,
        by(
            words::short(&dependency.commit),
            said_by(&dependency.author, dependency.tier, &dependency.origin)
        )
    )
}

/// `5083cd1, from Bob`.
fn by(what: String, said_by: Option<String>) -> String {
    match said_by {
        Some(said_by) => format!("{what}, {said_by}"),
        None => what,
    }
}

fn said_by(author: &Option<String>, tier: Tier, origin: &Option<String>) -> Option<String> {
    reading::said_by(author.as_deref(), tier, origin.as_deref())
}

fn knowledge(out: &mut String, item: &KnowledgeItem) {
    words::said_as(out, item.tier(), |out| knowledge_words(out, item));
}

fn knowledge_words(out: &mut String, item: &KnowledgeItem) {
    let text = |text: &str| words::indented(text, "  ");
    let by = item.said_by().map(|said_by| format!(", {said_by}")).unwrap_or_default();
    let _ = match item {
        KnowledgeItem::Convention(item) => writeln!(
            out,
            "- convention ({}, {}{by}): {}",
            text(&item.id),
            words::path(&item.scope),
            text(&item.rule)
        ),
        KnowledgeItem::Boundary(item) => writeln!(
            out,
            "- boundary ({}, {}{by}): owns {}; {}",
            text(&item.id),
            words::path(&item.module),
            text(&item.owns),
            text(&item.boundary)
        ),
        KnowledgeItem::AntiPattern(item) => {
            writeln!(
                out,
                "- anti-pattern ({}{by}): {} Instead: {}",
                text(&item.id),
                text(&item.pattern),
                text(&item.instead)
            )
        }
    };
    let is_shown = |(key, value): &(&String, &Value)| !value.is_null() && !KnowledgeItem::is_judged(key);
    for (key, value) in item.extra().iter().filter(is_shown) {
        let _ = writeln!(out, "  - {}: {}", words::path(key), value_words(value));
    }
}

pub(super) fn known(reply: &KnowledgeReply) -> String {
    let mut out = String::new();
    reply.items.iter().for_each(|item| knowledge(&mut out, item));
    out
}

fn value_words(value: &Value) -> String {
    match value {
        Value::String(text) => words::indented(text, "  "),
        Value::Array(elements) => elements.iter().map(value_words).collect::<Vec<_>>().join(", "),
        other => words::indented(&other.to_string(), "  "),
    }
}

fn extra(out: &mut String, extra: &Map<String, Value>) {
    for (key, value) in extra.iter().filter(|(_, value)| !value.is_null()) {
        let _ = writeln!(out, "- {}: {}", words::path(key), value_words(value));
    }
}

pub(super) fn shown(shown: &Shown, view: &View) -> String {
    let mut out = String::new();
    if shown.is_empty() {
        return out;
    }
    let subject =
        shown.subject.as_deref().map(|subject| format!(" {}", words::path(subject))).unwrap_or_default();
    let _ = writeln!(out, "# {}{subject}", words::short(&shown.commit));
    let others = by_id(&shown.others);
    if let Some(annotation) = &shown.annotation {
        document(&mut out, annotation, &others);
        for other in &annotation.also {
            let _ = writeln!(out, "\n## Also");
            document(&mut out, other, &others);
        }
        if !shown.corrections.is_empty() {
            out.push_str("\n**Corrections:**\n");
        }
        for ShownCorrection { entry, correction } in &shown.corrections {
            let (quote, said) = (correct::quote(correction), correct::words(correction, view));
            let _ = writeln!(out, "{quote}- {}: {said}", words::id(entry));
        }
        if !annotation.unread.is_empty() {
            let _ = writeln!(
                out,
                "\nkept as they are, as they could not be read: {}",
                counted(annotation.unread.len(), "part of the note")
            );
        }
    }
    if let Some(all) = &shown.knowledge {
        out.push_str("**Knowledge:**\n");
        for item in Vec::<KnowledgeItem>::from(all.clone()) {
            knowledge(&mut out, &item);
        }
    }
    out
}

/// Who the claims are from that the user did not make.
type Others<'a> = HashMap<&'a EntryId, &'a SaidBy>;

/// The same by their ids; the first of those with one id counts.
fn by_id(others: &[SaidBy]) -> Others<'_> {
    others.iter().rev().map(|said| (&said.id, said)).collect()
}

/// How far who claims `id` is trusted, and who that is, in words, unless it is the user.
fn voice(others: &Others<'_>, id: &EntryId) -> (Tier, Option<String>) {
    let said = others.get(id).copied();
    let by = |said: &SaidBy| reading::said_by(said.author.as_deref(), said.tier, said.origin.as_deref());
    (said.map_or(Tier::Own, |said| said.tier), said.and_then(by))
}

fn document(out: &mut String, document: &Annotation, others: &Others<'_>) {
    let (tier, by) = voice(others, &summary_id(document));
    words::said_as(out, tier, |out| {
        header(out, document);
        labelled(out, "Said", by.as_deref());
        labelled(out, "Task", document.task.as_deref());
        labelled(out, "Summary", Some(&document.summary));
    });
    for entry in &document.wisdom {
        let (tier, by) = voice(others, &entry.id);
        words::said_as(out, tier, |out| stored_entry(out, entry, by));
    }
    for region in &document.regions {
        let (tier, by) = voice(others, &region.id);
        out.push('\n');
        words::said_as(out, tier, |out| stored_region(out, region, by.as_deref()));
    }
    words::said_as(out, tier, |out| rest(out, document));
}

/// When and how a document was written.
fn header(out: &mut String, document: &Annotation) {
    let provenance = &document.provenance;
    let author =
        provenance.author.as_deref().map(|author| format!(" by {}", words::path(author))).unwrap_or_default();
    let level = document.context_level.map(|level| format!(", {level}")).unwrap_or_default();
    let from = document
        .migrated_from
        .as_deref()
        .map(|schema| format!(", written as {}", words::path(schema)))
        .unwrap_or_default();
    let _ = writeln!(
        out,
        "**Written:** {}{author} ({}{level}{from})",
        words::path(&document.timestamp),
        provenance.source
    );
}

/// What a document says beside its lessons and code units.
fn rest(out: &mut String, document: &Annotation) {
    let provenance = &document.provenance;
    for concern in &document.cross_cutting {
        let places: Vec<_> =
            concern.regions.iter().map(|place| format!("`{}`", words::path(&place.to_string()))).collect();
        let _ = writeln!(
            out,
            "**Cross-cutting:** {} ({})",
            words::indented(&concern.description, "  "),
            places.join(", ")
        );
        tags(out, &concern.tags);
        extra(out, &concern.extra);
    }
    // Whose these are is not known, so nothing but ids of commits is told.
    let commits = provenance.derived_from.iter().filter(|commit| chronicle_core::is_hash(commit));
    let from: Vec<_> = commits.map(|commit| words::short(commit)).collect();
    if !from.is_empty() {
        let _ = writeln!(out, "**Derived from:** {}", from.join(", "));
    }
    labelled(out, "Notes", provenance.notes.as_deref());
    extra(out, &provenance.extra);
    if !document.legacy.is_empty() {
        let _ = writeln!(out, "**Legacy:**");
        extra(out, &document.legacy);
    }
    extra(out, &document.extra);
}

fn stored_entry(out: &mut String, entry: &Entry, said_by: Option<String>) {
    let mut about = vec![entry.file.as_deref().map_or_else(|| "whole commit".to_owned(), words::path)];
    about.extend(stored_place(entry.lines, entry.places.as_deref()));
    about.extend(entry.anchor.as_ref().map(|anchor| words::anchor(&anchor.name)));
    about.extend(said_by);
    let _ = writeln!(
        out,
        "- {} ({}): {}",
        entry.category,
        about.join(", "),
        words::indented(&entry.content, "  ")
    );
    let _ = writeln!(out, "  - id: {}", words::id(&entry.id));
    for id in &entry.supersedes {
        let _ = writeln!(out, "  - supersedes: {}", words::id(id));
    }
    if let Some(expires) = &entry.expires {
        let _ = writeln!(out, "  - expires: {}", words::path(expires));
    }
    for dependency in &entry.depends_on {
        let _ = writeln!(out, "  - depends on {}", dependency_words(dependency));
    }
    for pointer in &entry.related {
        let _ = writeln!(out, "  - related: {}", pointer_words(pointer));
    }
    if !entry.tags.is_empty() {
        let _ = writeln!(out, "  - tags: {}", words::path(&entry.tags.join(", ")));
    }
    let mut inner = String::new();
    extra(&mut inner, &entry.extra);
    out.extend(inner.lines().map(|line| format!("  {line}\n")));
}

fn pointer_words(pointer: &chronicle_core::Related) -> String {
    related_words(&RelatedItem {
        commit: pointer.commit.clone(),
        anchor: pointer.anchor.clone(),
        relationship: pointer.relationship.clone(),
        confidence: None,
        intent: None,
    })
}

/// Where an entry was recorded, beyond its file.
fn stored_place(lines: Option<LineRange>, places: Option<&[Places]>) -> Option<String> {
    match (lines, places) {
        (Some(lines), _) => Some(format!("lines {}-{}", lines.start, lines.end)),
        (None, Some([])) => Some("removed by the commit".to_owned()),
        (None, Some(places)) => {
            let ranges: Vec<_> =
                places.iter().map(|place| LineRange { start: place.start, end: place.end }).collect();
            Some(format!("near lines {}", words::ranges(&ranges)))
        }
        (None, None) => None,
    }
}

fn stored_region(out: &mut String, region: &Region, said_by: Option<&str>) {
    let anchor = region.ast_anchor.as_ref();
    let _ = write!(out, "### {}", named(&region.file, anchor.map(|anchor| anchor.name.as_str())));
    if let Some(lines) = region.lines {
        let _ = write!(out, " (lines {}-{})", lines.start, lines.end);
    }
    out.push('\n');
    if let Some(signature) = anchor.and_then(|anchor| anchor.signature.as_ref()) {
        let _ = writeln!(out, "`{}`", words::path(signature));
    }
    labelled(out, "Said", said_by);
    labelled(out, "Intent", region.intent.as_deref());
    labelled(out, "Reasoning", region.reasoning.as_deref());
    constraints(out, &region.constraints);
    labelled(out, "Risk", region.risk_notes.as_deref());
    depends_on(out, &region.semantic_dependencies);
    tags(out, &region.tags);
    for pointer in &region.related_annotations {
        let _ = writeln!(out, "- related: {}", pointer_words(pointer));
    }
    for correction in &region.corrections {
        let _ = writeln!(
            out,
            "**Correction:** {}",
            words::indented(&Value::Object(correction.clone()).to_string(), "  ")
        );
    }
    extra(out, &region.extra);
}

/// What a commit did to one code unit, or as a whole.
fn moment_words(out: &mut String, item: &RegionItem, view: &View) {
    let said_by = item.standing.said_by().map(|said_by| format!("({said_by}) ")).unwrap_or_default();
    let name = item.ast_anchor.as_ref().map(|anchor| format!("{}: ", words::path(&anchor.name)));
    let _ = writeln!(out, "{said_by}{}{}", name.unwrap_or_default(), words::indented(&intent(item), "  "));
    labelled(out, "Reasoning", item.reasoning.as_deref());
    constraints(out, &item.constraints);
    labelled(out, "Risk", item.risk_notes.as_deref());
    correct::list(out, &item.standing.corrections, correct::LABEL, view);
    related(out, &item.standing.related);
}

pub(super) fn timeline(timeline: &Timeline, view: &View) -> String {
    let mut out = String::new();
    let mut moments = timeline.moments.clone();
    mark_repeated_intents(moments.iter_mut().flat_map(|moment| &mut moment.regions));
    for moment in &moments {
        gap(&mut out);
        let at = chronicle_core::parse_time(&moment.timestamp);
        let age = at.map(|at| format!(" ({} ago)", Age::between(at, view.now))).unwrap_or_default();
        let subject = moment.subject.as_deref().map(words::path).unwrap_or_default();
        let _ = writeln!(out, "## {} {subject}{age}", words::short(&moment.commit));
        for item in &moment.regions {
            words::said_as(&mut out, item.standing.tier, |out| moment_words(out, item, view));
        }
        for item in &moment.wisdom {
            lesson(&mut out, item, view);
        }
    }
    out
}

pub(super) fn stored(reply: &AnnotateReply) -> String {
    let mut out = String::new();
    let subject = words::path(&reply.subject);
    if let Some(reason) = &reply.unchanged {
        let _ = writeln!(out, "Nothing new for {} {subject}: {reason}", words::short(&reply.commit));
    } else {
        let _ = writeln!(out, "Stored on {} {subject}", words::short(&reply.commit));
        if let Some(annotation) = &reply.stored {
            let others = by_id(&reply.others);
            let written =
                std::iter::once(annotation).chain(&annotation.also).max_by_key(|document| document.written());
            if let Some(document) = written {
                let (tier, by) = voice(&others, &summary_id(document));
                words::said_as(&mut out, tier, |out| {
                    labelled(out, "Said", by.as_deref());
                    labelled(out, "Summary", Some(&document.summary));
                });
            }
            for entry in annotation.wisdom.iter().filter(|entry| reply.added.contains(&entry.id)) {
                let (tier, by) = voice(&others, &entry.id);
                words::said_as(&mut out, tier, |out| stored_entry(out, entry, by));
            }
            for region in written.into_iter().flat_map(|document| &document.regions) {
                let (tier, by) = voice(&others, &region.id);
                out.push('\n');
                words::said_as(&mut out, tier, |out| stored_region(out, region, by.as_deref()));
            }
        }
    }
    if !reply.consumed.is_empty() {
        let n = reply.consumed.len();
        let _ = writeln!(out, "{n} staged remark{} used up", if n == 1 { " was" } else { "s were" });
    }
    if !reply.knowledge.is_empty() {
        let _ = writeln!(out, "Knowledge added: {}", reply.knowledge.join(", "));
    }
    out
}

pub(super) fn staged(remarks: &[StagedRemark], view: &View) -> String {
    let mut out = String::new();
    for remark in remarks {
        let category = remark.category.map_or("insight", chronicle_core::Category::name);
        let mut about = Vec::new();
        about.extend(remark.file.as_deref().map(words::path));
        about.extend(remark.lines.map(|lines| format!("lines {}-{}", lines.start, lines.end)));
        about.extend(
            chronicle_core::parse_time(&remark.timestamp)
                .map(|at| format!("{} ago", Age::between(at, view.now))),
        );
        let _ = writeln!(out, "- {category} ({}): {}", about.join(", "), words::indented(&remark.text, "  "));
    }
    out
}
