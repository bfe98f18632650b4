//! Follows pointers from one annotation to others.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    rc::Rc,
};

use chronicle_core::{
    Age, Anchor, Annotation, Related,
    correction::Tier,
    plain,
    reading::RelatedItem,
    score::{self, Tie},
};
use chronicle_git::{LazyRepository, ObjectId, Repository};
use jiff::Timestamp;

use crate::{
    error::Result,
    note::{notebook::Notebook, stored::Stored},
};

/// Follows related annotations, each commit and anchor once for each item.
pub(crate) struct Follower<'a> {
    pub(crate) repository: &'a LazyRepository,
    pub(crate) head_time: Timestamp,
    pub(crate) half_life_days: f64,
    pub(crate) depth: u32,
    /// The farthest hop taken.
    pub(crate) farthest: u32,
    /// All notes, listed when the first pointer is met.
    pub(crate) notebook: Option<Rc<Notebook<'a>>>,
    /// What was read of them.
    pub(crate) read: HashMap<ObjectId, Rc<Stored>>,
}

/// An author who points to more than so many others at once points to nothing.
const MOST_POINTERS: usize = 32;

/// Gives each pointer the full id of the commit that it names, since `HEAD~1` is another one tomorrow.
///
/// A commit that is gone is known by its note. What names nothing stays as it was given, and is told to `warnings`.
pub fn resolve_pointers<'p>(
    repository: &Repository,
    pointers: impl IntoIterator<Item = &'p mut Related>,
    warnings: &mut Vec<String>,
) {
    for pointer in pointers {
        let id = repository.resolve(&pointer.commit).ok();
        match id.or_else(|| Notebook::open(repository, &mut Vec::new()).ok()?.find_key(&pointer.commit)) {
            Some(id) => pointer.commit = id.to_string(),
            None => warnings.push(format!(
                "`{}`, which a related annotation points to, names no commit here; it was stored as it is",
                plain(&pointer.commit)
            )),
        }
    }
}

/// Whether something that is asked about by the name `anchor` is the item `own`.
fn is_named(own: Option<&Anchor>, anchor: Option<&str>) -> bool {
    anchor.is_some() && own.map(|own| own.name.as_str()) == anchor
}

/// What an annotation says, how far to trust it, and where it points on to.
type Target = (Option<String>, Option<f64>, Vec<Related>);

impl Follower<'_> {
    /// What `related` of the item `own` of the annotation on `from` leads to, nearest first; never to itself.
    pub(crate) fn follow(
        &mut self,
        from: &str,
        own: Option<&str>,
        related: &[Related],
    ) -> Result<Vec<RelatedItem>> {
        if related.is_empty() || self.depth == 0 {
            return Ok(Vec::new());
        }
        let notebook = match &self.notebook {
            Some(notebook) => Rc::clone(notebook),
            None => Rc::clone(
                self.notebook.insert(Rc::new(Notebook::open(self.repository.get()?, &mut Vec::new())?)),
            ),
        };
        let mut visited: HashSet<(String, Option<String>)> =
            HashSet::from([(from.to_owned(), None), (from.to_owned(), own.map(str::to_owned))]);
        let mut found = Vec::new();
        let mut hop = related.to_vec();
        for distance in 1..=self.depth {
            let mut next = Vec::new();
            for pointer in hop.into_iter().take(MOST_POINTERS) {
                let key = notebook.find_key(&pointer.commit);
                let commit = key.map_or_else(|| pointer.commit.clone(), |key| key.to_string());
                if !visited.insert((commit.clone(), pointer.anchor.clone())) {
                    continue;
                }
                self.farthest = self.farthest.max(distance);
                let target = key
                    .map(|key| self.target(&notebook, key, pointer.anchor.as_deref()))
                    .transpose()?
                    .flatten();
                let (intent, confidence, onward) = target.unwrap_or_default();
                next.extend(onward);
                found.push(RelatedItem {
                    commit,
                    anchor: pointer.anchor,
                    relationship: pointer.relationship,
                    confidence,
                    intent,
                });
            }
            hop = next;
        }
        Ok(found)
    }

    /// What the annotation on `key` says of `anchor` (or as a whole), how far to trust it, and where it points on to.
    fn target(
        &mut self,
        notebook: &Notebook<'_>,
        key: ObjectId,
        anchor: Option<&str>,
    ) -> Result<Option<Target>> {
        // What nobody answers for is told only where it is shown with its author.
        let stored = match self.read.entry(key) {
            Entry::Occupied(known) => Rc::clone(known.get()),
            Entry::Vacant(new) => Rc::clone(new.insert(Rc::new(notebook.read(key)?.trusted()))),
        };
        let documents = stored.note.documents();
        for document in &documents {
            let region = document.regions.iter().find(|region| is_named(region.ast_anchor.as_ref(), anchor));
            if let Some(region) = region {
                return Ok(Some((
                    region.intent.clone(),
                    Some(self.confidence(document)),
                    region.related_annotations.clone(),
                )));
            }
        }
        let entries = stored.note.entries();
        let entry = entries.iter().find(|(_, entry)| is_named(entry.anchor.as_ref(), anchor));
        if let Some((document, entry)) = entry {
            return Ok(Some((
                Some(entry.content.clone()),
                Some(self.confidence(document)),
                entry.related.clone(),
            )));
        }
        Ok(documents.first().map(|document| {
            let onward = document.regions.iter().flat_map(|region| region.related_annotations.clone());
            let onward = onward.chain(entries.iter().flat_map(|(_, entry)| entry.related.clone())).collect();
            (Some(document.summary.clone()), Some(self.confidence(document)), onward)
        }))
    }

    fn confidence(&self, document: &Annotation) -> f64 {
        let age = Age::between(document.written().min(self.head_time), self.head_time);
        let level = score::context_level(document);
        let tie = (Tie::File, Tier::Own);
        score::of(document.provenance.source, level, None, age, self.half_life_days, tie)
    }
}
