//! From names of code as people give them to items of a file.
//!
//! A name that no item has may still be one that notes speak of: the item was removed, or went to another file. Only
//! the answer shows that, so it is asked for by the name as it was given, and then judged ([`Anchored::told`]).

use std::path::Path;

use chronicle_core::{
    Hunk, LineRange,
    mentions::{agree, segments},
    outline::{Item, Resolution, members, resolve},
    plain,
};
use chronicle_workplace::{Error, error::UnknownAnchorSnafu};

use crate::Chronicle;

/// What an anchor names in one version of a file.
#[derive(Debug, Default)]
pub(crate) struct Anchored {
    /// Qualified names; the anchor as it was given where no item has it for sure.
    pub(crate) names: Vec<String>,
    /// All lines of the items; none where there are no items.
    pub(crate) lines: Vec<LineRange>,
    /// Whether items of several names are meant.
    pub(crate) is_ambiguous: bool,
    /// What to tell: that several items are meant, that a guess was made, that there is no outline.
    remarks: Vec<String>,
    /// That the file has items and none of them is meant.
    missing: Option<Error>,
}

impl Anchored {
    fn as_given(anchor: &str) -> Self {
        Self { names: vec![anchor.to_owned()], ..Self::default() }
    }

    /// Whether what a note calls `name` may be meant.
    pub(crate) fn may_mean(&self, name: &str) -> bool {
        let name = segments(name);
        self.names.iter().any(|own| agree(&segments(own), &name))
    }

    /// What to tell about the name beside the answer, which shows whether any note knows it.
    ///
    /// # Errors
    /// When the file has items, none of them is meant, and no note knows the name either.
    pub(crate) fn into_remarks(self, is_known: bool) -> Result<Vec<String>, Error> {
        let Self { mut remarks, missing, .. } = self;
        if let Some(error) = missing {
            if !is_known {
                return Err(error);
            }
            remarks.push(error.to_string());
        }
        Ok(remarks)
    }
}

impl Chronicle {
    /// The items of a file; what keeps them from being known is a remark.
    pub(crate) fn items(&self, path: &str, content: &[u8], remarks: &mut Vec<String>) -> Vec<Item> {
        match &*self.workplace.caches().outlines.items(path, content) {
            Ok(items) => items.clone(),
            Err(reason) => {
                remarks.push(reason.to_string());
                Vec::new()
            }
        }
    }

    /// What `anchor` names in the file at `path`, whose bytes are `content`; `None` when it is gone.
    pub(crate) fn anchored(&self, path: &str, content: Option<&[u8]>, anchor: &str) -> Anchored {
        let Some(content) = content else { return Anchored::as_given(anchor) };
        match &*self.workplace.caches().outlines.items(path, content) {
            Ok(items) => anchored(items, path, anchor),
            Err(reason) => Anchored { remarks: vec![reason.to_string()], ..Anchored::as_given(anchor) },
        }
    }

    /// What `anchor` names in the one file at `path` as it is now, and all items that the file has.
    ///
    /// # Errors
    /// When the path is no file, and never was one.
    pub(crate) fn anchored_at(&self, path: &Path, anchor: &str) -> Result<(Anchored, Vec<Item>), Error> {
        let one = self.one_file(path)?;
        let file = one.file.path.to_string();
        let content = one.content.as_deref();
        let items = content.map(|content| self.items(&file, content, &mut Vec::new()));
        Ok((self.anchored(&file, content, anchor), items.unwrap_or_default()))
    }
}

fn anchored(items: &[Item], path: &str, anchor: &str) -> Anchored {
    let mut remarks = Vec::new();
    let mut is_ambiguous = false;
    let resolution = resolve(items, anchor);
    let mut names: Vec<String> = resolution.names().into_iter().map(str::to_owned).collect();
    match &resolution {
        Resolution::Unknown(closest) => {
            let closest = closest.iter().map(|name| plain(name).into_owned()).collect::<Vec<_>>();
            let missing = UnknownAnchorSnafu { anchor, path, closest }.build();
            return Anchored { missing: Some(missing), ..Anchored::as_given(anchor) };
        }
        Resolution::Fuzzy(_) => {
            remarks.push(format!("`{anchor}` is not in `{path}`; taken as {}", quoted(&names)));
            // Notes may know the very name.
            names.push(anchor.to_owned());
        }
        _ if resolution.is_ambiguous() && 1 < names.len() => {
            is_ambiguous = true;
            remarks.push(format!("`{anchor}` is ambiguous in `{path}`: {}", quoted(&names)));
        }
        _ => {}
    }
    let mut lines: Vec<LineRange> = resolution.items().iter().map(|item| item.lines).collect();
    for member in members(items, resolution.items()) {
        if !lines.iter().any(|known| known.start <= member.lines.start && member.lines.end <= known.end) {
            lines.push(member.lines);
        }
        if !names.contains(&member.qualified) {
            names.push(member.qualified.clone());
        }
    }
    Anchored { names, lines, is_ambiguous, remarks, missing: None }
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
