//! The named item that a lesson is about, found in the outline of the file at its commit.

use chronicle_core::{
    Anchor, DependsOn, LineRange, Lines, Places, Sketch, count_lines,
    outline::{Item, Resolution, called, resolve},
    plain,
};

use crate::{
    error::Result,
    place::code_lines::is_telling,
    write::derive::{Derived, Facts, LONGEST_RANGE, MAX_PLACES},
};

/// The place of a lesson: its lines or ranges, and the item that holds them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Located {
    pub(crate) lines: Option<LineRange>,
    pub(crate) places: Option<Vec<Places>>,
    pub(crate) anchor: Option<Anchor>,
}

/// Where a lesson about `file` belongs, by what its author said of the place.
///
/// Lines give the innermost item that holds them; an item that is named gives its lines;
/// with neither, the commit's own changes tell. An author's own name for the item stays.
pub(crate) fn locate(
    facts: &mut Facts<'_>,
    file: &str,
    lines: Option<LineRange>,
    anchor: Option<&Anchor>,
    warnings: &mut Vec<String>,
) -> Result<Located> {
    match (lines, anchor) {
        (Some(lines), named) => {
            let items = items(facts, file)?;
            let named = named.map(|named| completed(&items, named));
            let anchor = named.or_else(|| innermost(&items, lines).map(anchor_of));
            Ok(Located { lines: Some(lines), places: None, anchor })
        }
        (None, Some(named)) => by_name(facts, file, named, warnings),
        (None, None) => by_changes(facts, file),
    }
}

/// The lines of the item that `named` names.
fn by_name(facts: &mut Facts<'_>, file: &str, named: &Anchor, warnings: &mut Vec<String>) -> Result<Located> {
    let Some(outline) = facts.items(file)? else { return Ok(without_lines(named)) };
    let outline = match &*outline {
        Ok(items) => items,
        Err(reason) => {
            warnings.push(reason.to_string());
            let derived = facts.derive(file)?;
            return Ok(Located { lines: derived.lines, places: derived.places, anchor: Some(named.clone()) });
        }
    };
    let name = plain(&named.name);
    let resolution = resolve(outline, &named.name);
    let found = match &resolution {
        Resolution::Qualified(found) | Resolution::Unqualified(found) => found,
        Resolution::Fuzzy(near) => {
            warnings.push(nothing_named(&name, file, near.iter().map(|item| item.qualified.as_str())));
            return Ok(without_lines(named));
        }
        Resolution::Unknown(closest) => {
            warnings.push(nothing_named(&name, file, closest.iter().copied()));
            return Ok(without_lines(named));
        }
    };
    let hunks = facts.hunks(file)?;
    let changed = found.iter().copied().filter(|item| hunks.iter().any(|hunk| hunk.overlaps(item.lines)));
    let meant: Vec<&Item> = match (&found[..], changed.collect::<Vec<_>>()) {
        ([only], _) => vec![only],
        // Of several, the commit's author means the one that the commit changed.
        (_, changed) if changed.len() == 1 => changed,
        (several, _) => several.to_vec(),
    };
    if let [only] = meant[..] {
        let anchor = Some(completed_with(only, named));
        return Ok(Located { lines: Some(only.lines), places: None, anchor });
    }
    let names: Vec<&str> = meant.iter().map(|item| item.qualified.as_str()).collect();
    warnings.push(format!(
        "`{name}` is ambiguous in `{file}` ({}), so the lesson was stored without lines",
        quoted(names)
    ));
    Ok(without_lines(named))
}

fn without_lines(named: &Anchor) -> Located {
    Located { anchor: Some(named.clone()), ..Located::default() }
}

fn nothing_named<'n>(name: &str, file: &str, closest: impl Iterator<Item = &'n str>) -> String {
    let closest: Vec<&str> = closest.collect();
    let offer = if closest.is_empty() { String::new() } else { format!("; closest are {}", quoted(closest)) };
    format!("`{name}` names nothing in `{file}`, so the lesson was stored without lines{offer}")
}

fn quoted(names: Vec<&str>) -> String {
    names.into_iter().map(|name| format!("`{}`", plain(name))).collect::<Vec<_>>().join(", ")
}

/// Where the commit's own changes to `file` put a lesson (DESIGN section 5).
fn by_changes(facts: &mut Facts<'_>, file: &str) -> Result<Located> {
    let Derived { lines, places } = facts.derive(file)?;
    if let Some(lines) = lines {
        let anchor = innermost(&items(facts, file)?, lines).map(anchor_of);
        return Ok(Located { lines: Some(lines), places: None, anchor });
    }
    let Some(found) = places.as_ref().filter(|places| !places.is_empty()) else {
        return Ok(Located { lines: None, places, anchor: None });
    };
    if found.len() == MAX_PLACES {
        // There may have been more changes than were kept.
        return Ok(Located { lines: None, places, anchor: None });
    }
    let items = items(facts, file)?;
    let hull = facts.trimmed_hull(file, found)?;
    let Some((hull, item)) = hull.and_then(|hull| Some((hull, innermost(&items, hull)?))) else {
        return Ok(Located { lines: None, places, anchor: None });
    };
    // All of a function is one thing; half of a long type or chapter is as vague as the file.
    if hull.len() <= LONGEST_RANGE || item.kind.is_callable() {
        return Ok(Located { lines: Some(hull), places: None, anchor: Some(anchor_of(item)) });
    }
    Ok(Located { lines: None, places, anchor: Some(anchor_of(item)) })
}

/// The named items of `file` at the commit; none where there is no outline.
fn items(facts: &mut Facts<'_>, file: &str) -> Result<Vec<Item>> {
    let items = facts.items(file)?;
    Ok(items.and_then(|items| items.as_ref().as_ref().ok().cloned()).unwrap_or_default())
}

/// The innermost item that holds all of `range`.
pub(crate) fn innermost(items: &[Item], range: LineRange) -> Option<&Item> {
    items.iter().filter(|item| item.lines.holds(range)).min_by_key(|item| item.lines.len())
}

fn anchor_of(item: &Item) -> Anchor {
    Anchor {
        kind: Some(item.kind.as_str().to_owned()),
        name: item.qualified.clone(),
        signature: Some(item.signature.clone()).filter(|signature| !signature.is_empty()),
        extra: serde_json::Map::new(),
    }
}

/// What an author named, with what the outline adds to it if it knows the item for sure.
fn completed(items: &[Item], named: &Anchor) -> Anchor {
    match called(items, &named.name)[..] {
        [only] => completed_with(only, named),
        _ => named.clone(),
    }
}

fn completed_with(item: &Item, named: &Anchor) -> Anchor {
    let own = anchor_of(item);
    Anchor {
        kind: named.kind.clone().or(own.kind),
        name: own.name,
        signature: own.signature.or_else(|| named.signature.clone()),
        extra: named.extra.clone(),
    }
}

impl Facts<'_> {
    /// The range from the first to the last changed line that is not blank.
    fn trimmed_hull(&mut self, file: &str, places: &[Places]) -> Result<Option<LineRange>> {
        let Some(content) = self.content(file)? else { return Ok(None) };
        let lines = Lines::new(content);
        let all = lines.all();
        let changed = places.iter().flat_map(|place| place.start..=place.end);
        let mut telling = changed
            .filter(|line| all.get(*line as usize - 1).is_some_and(|line| !line.trim_ascii().is_empty()));
        let Some(first) = telling.next() else { return Ok(None) };
        Ok(LineRange::new(first, telling.next_back().unwrap_or(first)).ok())
    }
}

/// The sketch of a located lesson.
pub(crate) fn sketch(facts: &mut Facts<'_>, file: &str, lines: Option<LineRange>) -> Result<Option<Sketch>> {
    lines.map(|lines| facts.sketch(file, lines)).transpose().map(Option::flatten)
}

/// Lines before and after a short lesson's that tell where it is.
const AROUND: u32 = 4;

/// The sketch of a located lesson's lines and some around them in the same item, where the lines are too few to be known in
/// another file.
pub(crate) fn around(
    facts: &mut Facts<'_>,
    file: &str,
    lines: Option<LineRange>,
    sketch: Option<&Sketch>,
) -> Result<Option<Sketch>> {
    let (Some(lines), Some(sketch)) = (lines, sketch) else { return Ok(None) };
    if is_telling(sketch) {
        return Ok(None);
    }
    let items = items(facts, file)?;
    let Some(n_lines) = facts.content(file)?.map(count_lines) else { return Ok(None) };
    let item = innermost(&items, lines).map_or(LineRange { start: 1, end: n_lines }, |item| item.lines);
    let around = LineRange {
        start: lines.start.saturating_sub(AROUND).max(item.start),
        end: lines.end.saturating_add(AROUND).min(item.end),
    };
    Ok(facts.sketch(file, around)?.filter(is_telling))
}

/// Sketches the items that are relied upon, so that they are found in whatever file they go to.
pub(crate) fn sketch_each(facts: &mut Facts<'_>, dependencies: &mut [DependsOn]) -> Result<()> {
    for dependency in dependencies {
        dependency.sketch = None;
        let file = dependency.file.trim_start_matches("./");
        let Some(anchor) = &dependency.anchor else { continue };
        let Some(items) = facts.items(file)? else { continue };
        let Ok(items) = &*items else { continue };
        if let [only] = called(items, anchor)[..] {
            dependency.sketch = facts.sketch(file, only.lines)?;
        }
    }
    Ok(())
}
