//! From names of code as people give them to items of a file.

use chronicle_core::{
    Hunk, LineRange,
    outline::{Item, Resolution, resolve},
    plain,
};

use crate::{Chronicle, Error, error::UnknownAnchorSnafu};

/// What an anchor names in one version of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Anchored {
    /// Qualified names, or the anchor as it was given where there is no outline.
    pub(crate) names: Vec<String>,
    /// All lines of the items; none where there is no outline.
    pub(crate) lines: Vec<LineRange>,
    /// What to tell: that several items are meant, that a guess was made, that there is no outline.
    pub(crate) remarks: Vec<String>,
    /// Whether items of several names are meant.
    pub(crate) is_ambiguous: bool,
}

impl Chronicle {
    /// The items of a file; what keeps them from being known is a remark.
    pub(crate) fn items(&self, path: &str, content: &[u8], remarks: &mut Vec<String>) -> Vec<Item> {
        match &*self.caches().outlines.items(path, content) {
            Ok(items) => items.clone(),
            Err(reason) => {
                remarks.push(reason.to_string());
                Vec::new()
            }
        }
    }

    /// What `anchor` names in the file at `path`.
    ///
    /// # Errors
    /// When the file has items and none of them is meant.
    pub(crate) fn anchored(&self, path: &str, content: &[u8], anchor: &str) -> Result<Anchored, Error> {
        match &*self.caches().outlines.items(path, content) {
            Ok(items) => anchored(items, path, anchor),
            Err(reason) => {
                let remarks = vec![reason.to_string()];
                Ok(Anchored { names: vec![anchor.to_owned()], remarks, ..Anchored::default() })
            }
        }
    }
}

fn anchored(items: &[Item], path: &str, anchor: &str) -> Result<Anchored, Error> {
    let mut remarks = Vec::new();
    let mut is_ambiguous = false;
    let resolution = resolve(items, anchor);
    let names: Vec<String> = resolution.names().into_iter().map(str::to_owned).collect();
    match &resolution {
        Resolution::Unknown(closest) => {
            let closest = closest.iter().map(|name| plain(name).into_owned()).collect::<Vec<_>>();
            return UnknownAnchorSnafu { anchor, path, closest }.fail();
        }
        Resolution::Fuzzy(_) => {
            remarks.push(format!("`{anchor}` is not in `{path}`; taken as {}", quoted(&names)));
        }
        _ if resolution.is_ambiguous() && 1 < names.len() => {
            is_ambiguous = true;
            remarks.push(format!("`{anchor}` is ambiguous in `{path}`: {}", quoted(&names)));
        }
        _ => {}
    }
    let lines = resolution.items().iter().map(|item| item.lines).collect();
    Ok(Anchored { names, lines, remarks, is_ambiguous })
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The innermost item that holds all of `range`.
pub(crate) fn innermost(items: &[Item], range: LineRange) -> Option<&Item> {
    let holds = |item: &&Item| item.lines.start <= range.start && range.end <= item.lines.end;
    items.iter().filter(holds).min_by_key(|item| item.lines.len())
}

/// The innermost items that `hunk` changes; an owner too, where the change reaches beyond what is in it.
pub(crate) fn touched(items: &[Item], hunk: Hunk) -> Vec<&Item> {
    let sharing: Vec<&Item> = items.iter().filter(|item| hunk.touches(item.lines)).collect();
    let holds_it = |lines: LineRange| {
        hunk.old.range().is_none_or(|changed| lines.start <= changed.start && changed.end <= lines.end)
    };
    let is_inside = |inner: LineRange, outer: LineRange| {
        inner != outer && outer.start <= inner.start && inner.end <= outer.end
    };
    let has_better =
        |item: &Item| sharing.iter().any(|other| is_inside(other.lines, item.lines) && holds_it(other.lines));
    sharing.iter().copied().filter(|item| !has_better(item)).collect()
}
