//! Code that came from another file, and where that was.
//!
//! What was said of an item in another file is told of it here when that file has no such item any more, and the code
//! as the note's commit had it is like the code as it is here. Only an item that is asked for by name is looked at: names
//! find the claims, and both versions have to be read to tell.

use std::{
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet},
};

use chronicle_core::{
    CodeWords, LineFinder, is_substantive,
    mentions::{agree, segments},
    outline::{Item, resolve},
};
use chronicle_git::{BString, ByteSlice, History, LazyRepository, ObjectId, Repository};

use crate::{
    error::Result,
    matching::{Ground, names_of},
    notebook::Notebook,
    outlines::Outlines,
    prose::{Passage, Prose, about_key},
};

/// Where code was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    /// The file, as a note calls it.
    file: BString,
    /// The item there.
    anchor: String,
}

/// What to tell of an answer that holds what was said of code in `file`.
pub(crate) fn remark(file: &BString) -> String {
    format!("the code came from `{file}`; what was said of it there is told, too")
}

/// The share of words that code in two files has in common at least, if one came from the other.
const ALIKE: f64 = 0.6;
/// Code of fewer lines is written twice by chance.
const SHORTEST: usize = 3;
/// So many places are looked at, those of the newest notes: `new` or `main` are in every other file.
const MAX_LOOKED_AT: usize = 16;

/// An item that is asked for by name, in a file as it is now.
pub(crate) struct Sought<'a> {
    pub(crate) lazy: &'a LazyRepository,
    pub(crate) outlines: &'a Outlines,
    /// The file's path now.
    pub(crate) path: &'a BString,
    pub(crate) content: &'a [u8],
    /// The names of the items.
    pub(crate) names: &'a [String],
}

impl Sought<'_> {
    /// Where the items were before, by file; `None` where words cannot be looked up.
    ///
    /// `about` gives the passages that are filed under a key; `earlier_names` are those of this file.
    pub(crate) fn origins(
        &self,
        earlier_names: impl FnOnce() -> Vec<String>,
        about: impl Fn(&str) -> Option<Vec<Passage>>,
    ) -> Result<Option<BTreeMap<BString, Vec<String>>>> {
        let mut origins = BTreeSet::new();
        let earlier_names = LazyCell::new(earlier_names);
        for name in self.names {
            let own = segments(name);
            let Some(last) = own.last() else { continue };
            let Some(mut passages) = about(&about_key(last)) else { return Ok(None) };
            passages.sort_by_key(|passage| std::cmp::Reverse(passage.heading.at));
            let mut seen = BTreeSet::new();
            for Passage { heading, from_file, from_anchor, .. } in passages {
                let (Some(file), Some(anchor)) = (from_file, from_anchor) else { continue };
                let origin = Origin { file: file.trim_start_matches("./").into(), anchor };
                let is_own =
                    origin.file == *self.path || earlier_names.iter().any(|name| origin.file == *name);
                let is_other = !is_own && agree(&own, &segments(&origin.anchor));
                let key = (origin.clone(), heading.commit);
                if !is_other || origins.contains(&origin) || !seen.insert(key) {
                    continue;
                }
                if MAX_LOOKED_AT < seen.len() {
                    break;
                }
                let repository = self.lazy.get()?;
                if !self.still_has(repository, &origin)?
                    && self.is_like(repository, &origin, heading.commit, name)?
                {
                    origins.insert(origin);
                }
            }
        }
        let mut by_file: BTreeMap<BString, Vec<String>> = BTreeMap::new();
        for Origin { file, anchor } in origins {
            by_file.entry(file).or_default().push(anchor);
        }
        Ok(Some(by_file))
    }

    /// The same from the notes themselves.
    pub(crate) fn origins_in(
        &self,
        (notebook, history): (&Notebook<'_>, &History),
        all: bool,
    ) -> Result<BTreeMap<BString, Vec<String>>> {
        let repository = self.lazy.get()?;
        let path = std::slice::from_ref(self.path);
        let followed = repository.follow(history, path)?;
        let last = |name: &String| Some((*segments(name).last()?).to_owned());
        let ground = Ground::new(repository, notebook, history, &followed, path, all);
        let ground = ground.looking_for(self.names.iter().filter_map(last).collect());
        let prose = Prose::of(&ground.candidates(&mut Vec::new())?);
        let earlier: Vec<String> = names_of(&followed.files[0]).map(ToString::to_string).collect();
        Ok(self.origins(|| earlier, |key| Some(prose.naming(key, &mut |_| true)))?.unwrap_or_default())
    }

    /// Whether the other file has such an item now.
    fn still_has(&self, repository: &Repository, origin: &Origin) -> Result<bool> {
        let head = repository.head()?;
        let Some(present) = repository.present_file(head, origin.file.as_bstr())? else { return Ok(false) };
        let items = self.outlines.items(&origin.file.to_string(), &present.content);
        Ok(items.as_ref().as_ref().is_ok_and(|items| !resolve(items, &origin.anchor).exact().is_empty()))
    }

    /// Whether the item `name` is like what `origin` was in `commit`.
    fn is_like(
        &self,
        repository: &Repository,
        origin: &Origin,
        commit: ObjectId,
        name: &str,
    ) -> Result<bool> {
        let Ok(tree) = repository.commit_tree(commit) else { return Ok(false) };
        let Some(blob) = repository.blob_at(tree, origin.file.as_bstr())? else { return Ok(false) };
        let Some(old) = repository.blob_if_here(blob)? else { return Ok(false) };
        let then = self.outlines.items(&origin.file.to_string(), &old);
        let now = self.outlines.items(&self.path.to_string(), self.content);
        let (Ok(then), Ok(now)) = (&*then, &*now) else { return Ok(false) };
        let (then, now) = (resolve(then, &origin.anchor), resolve(now, name));
        let is_pair = |(then, now): (&&Item, &&Item)| {
            let old = LineFinder::new(&old).of(then.lines);
            let new = LineFinder::new(self.content).of(now.lines);
            let n_lines = old.iter().filter(|line| is_substantive(line)).count();
            SHORTEST <= n_lines && ALIKE <= CodeWords::of(&old).likeness(&CodeWords::of(&new))
        };
        Ok(then.exact().iter().any(|then| now.exact().iter().any(|now| is_pair((then, now)))))
    }
}
