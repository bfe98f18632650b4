//! What lies between a table and the repository's present state.
//!
//! After a commit or a new note nearly all records of the last table still hold. A part names the table
//! it builds on, and which commits and notes came and went since; only files that these touch are looked
//! at again, one by one, when they are asked for.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::Path,
};

use chronicle_core::Sketch;
use chronicle_git::{BString, ByteSlice, ChangedPath, History, Node, ObjectId, Partial, Repository};
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    index::{
        ANCESTRY, BESIDE, CHANGES, KEYS, META, Meta, State, Supersession,
        ancestry::Ancestry,
        beside::{Beside, Grounds},
        changes::StoredChanges,
        stored::{Id, StoredRecord},
        table::{Table, Value},
    },
    matching::{Candidate, NO_BRANCH},
    notebook::{SingleNotes, Stored},
    prose::{Passage, passages},
    record::Heading,
};

/// What lies between a table and a state of the repository.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Part {
    /// The name of the state that the table was made of.
    pub(super) base: String,
    pub(super) meta: Meta,
    /// The first bytes of the ids of commits that HEAD reached then and does not now.
    pub(super) lost: BTreeSet<[u8; 8]>,
    /// Lost commits with notes that no branch reaches either.
    orphaned: BTreeSet<Id>,
    /// Objects whose notes are not what they were.
    pub(super) changed: BTreeSet<Id>,
    /// Commits with notes that no branch reached then, and that HEAD or another branch reaches now.
    found: BTreeSet<Id>,
    /// Commits that HEAD reaches now and did not then.
    gained: Vec<Id>,
    /// Commits whose notes say something that the table does not know yet.
    pub(super) fresh: Vec<Fresh>,
    /// Places, in the table's history, of commits that HEAD does not reach now, in order.
    lost_places: Vec<u32>,
    /// Paths that commits changed which came, or that differ between the two, in order.
    pub(super) touched: BTreeSet<BString>,
    /// Whether commits came that do not build on all that is left of the table's history.
    is_aside: bool,
    /// Files that HEAD has and the table's commit has not.
    pub(super) added: BTreeSet<BString>,
    /// Files that the table's commit has and HEAD has not.
    pub(super) removed: BTreeSet<BString>,
}

/// A commit whose note the table does not know yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fresh {
    pub(super) commit: Id,
    /// Whether no branch reaches it.
    pub(super) is_orphan: bool,
    /// Where it is in the table's history, [`ASIDE`] where it is not known to build on all of that; `None` where it does, so
    /// that every file changed before it that did not change since.
    place: Option<u32>,
    /// The files that its note names, and those that it changed where the table knows it, in order.
    files: Vec<BString>,
    /// The code that its note sketched: the file, and the telling lines.
    pub(super) sketched: Vec<(BString, Vec<u32>)>,
}

/// Another part of the same table, and the objects whose notes changed since it was made.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) part: &'k Part,
    pub(super) beside: &'k Beside,
    pub(super) changed_since: &'k BTreeSet<ObjectId>,
}

impl<'k> Known<'k> {
    /// What it says of commits that HEAD reached, as far as it still holds.
    fn fresh(&self) -> impl Iterator<Item = &'k Fresh> {
        self.part.fresh.iter().filter(|fresh| fresh.commit.get().is_some_and(|commit| self.lends(commit)))
    }

    /// Whether what it says of the note of `commit` still holds if HEAD reaches that.
    pub(super) fn lends(&self, commit: ObjectId) -> bool {
        self.part.is_fresh_here(commit) && !self.changed_since.contains(&commit)
    }

    /// Objects whose notes the table does not know as they are: not all of them need differ.
    fn changed(&self) -> Option<BTreeSet<ObjectId>> {
        let then: Option<BTreeSet<ObjectId>> = self.part.changed.iter().map(Id::get).collect();
        Some(&then? | self.changed_since)
    }
}

impl Fresh {
    /// The code that its note sketched: the file, and the telling lines.
    fn sketched(&self) -> impl Iterator<Item = (&BString, &[u32])> {
        self.sketched.iter().map(|(file, telling)| (file, &telling[..]))
    }

    /// Whether its note may say something about the file at `path`.
    pub(super) fn concerns(&self, path: &[u8]) -> bool {
        self.files.binary_search_by(|file| file.as_slice().cmp(path)).is_ok()
    }
}

/// The place of commits that any file may have changed before or after.
const ASIDE: u32 = u32::MAX;

/// More commits or notes than this between the two, and a whole table is to be made.
const FAR_COMMITS: usize = 1000;
const FAR_NOTES: usize = 300;
/// More than this is no part: it would cost as much as asking the repository. Until the table is made, one goes a
/// while beyond what is far.
const MAX_COMMITS: usize = 2 * FAR_COMMITS;
const MAX_NOTES: usize = 2 * FAR_NOTES;
/// What an earlier part does not know may be so many commits, or it is not added to.
const MAX_ADDED: usize = 50;

pub(super) fn id_prefix(id: ObjectId) -> [u8; 8] {
    *id.as_slice().first_chunk().expect("an id has at least 20 bytes")
}

/// The two ends of what HEAD reaches now and reached then.
pub(super) struct Span {
    /// From HEAD to commits of the table.
    pub(super) gained: Partial,
    /// For each place of the table's history, whether HEAD still reaches it.
    kept: Vec<bool>,
    /// From the table's commit to commits that HEAD still reaches.
    pub(super) lost: Partial,
}

impl Span {
    /// `None` when the two lie too far apart.
    pub(super) fn between(
        repository: &Repository,
        ancestry: &Ancestry,
        base_head: ObjectId,
        head: ObjectId,
    ) -> Result<Option<Self>> {
        let is_known = |id| ancestry.place(id).is_some();
        let Some(gained) = repository.history_until(&[head], is_known, MAX_COMMITS)? else { return Ok(None) };
        let edge = gained.edge().filter_map(|(_, node)| ancestry.place(node.id));
        let Some(kept) = ancestry.reach(edge) else { return Ok(None) };
        let is_kept = |place: u32| kept.get(place as usize).copied().unwrap_or_default();
        let is_kept = |id| ancestry.place(id).is_none_or(is_kept);
        let lost = repository.history_until(&[base_head], is_kept, MAX_COMMITS)?;
        Ok(lost.map(|lost| Self { gained, kept, lost }))
    }

    /// Whether HEAD still reaches the commit at a place of the table's history; a place that there is not, it does not.
    pub(super) fn keeps(&self, place: u32) -> bool {
        self.kept.get(place as usize).copied().unwrap_or_default()
    }
}

/// What a part needs of the table that it builds on.
pub(super) struct Base {
    /// The name of the state that the table was made of.
    name: String,
    pub(super) table: Table,
    pub(super) meta: Meta,
    pub(super) ancestry: Ancestry,
    beside: Beside,
    keys: Value,
}

impl Base {
    /// `None` when the table is damaged.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(".idx")?.to_owned();
        let table = Table::open(path)?;
        let meta = postcard::from_bytes(&table.get(META)?).ok()?;
        let beside = postcard::from_bytes(&table.get(BESIDE)?).ok()?;
        let ancestry = Ancestry::parse(table.get(ANCESTRY)?)?;
        let keys = table.get(KEYS)?;
        Some(Self { name, table, meta, ancestry, beside, keys })
    }

    /// The name of the table's state.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether there was a note on an object.
    fn was_annotated(&self, key: ObjectId) -> bool {
        let (keys, _) = self.keys.as_chunks::<8>();
        keys.binary_search(&id_prefix(key)).is_ok()
    }

    /// How many objects are annotated when it was `before` so many, and the notes on `changed` came, went or changed.
    fn n_annotated(
        &self,
        before: usize,
        changed: &BTreeSet<ObjectId>,
        notes: &mut SingleNotes<'_>,
    ) -> Result<usize> {
        let mut n_annotated = before;
        for key in changed.iter().filter(|key| !chronicle_git::is_knowledge_key(**key)) {
            n_annotated = n_annotated.saturating_sub(usize::from(self.was_annotated(*key)));
            n_annotated += usize::from(notes.has(*key)?);
        }
        Ok(n_annotated)
    }
}

/// A part, and what belongs to it.
pub(super) struct Made {
    pub(super) part: Part,
    pub(super) beside: Beside,
    /// The words of notes that are new.
    pub(super) words: Vec<Passage>,
    /// The way from the table's HEAD, if it had to be found.
    pub(super) span: Option<Span>,
}

/// Where the commits of notes are looked for.
struct Seen<'s> {
    repository: &'s Repository,
    /// The table's history.
    ancestry: &'s Ancestry,
    /// What HEAD reaches now and did not then.
    gained: &'s Partial,
    is_here: &'s dyn Fn(ObjectId) -> bool,
    /// Whether no branch reaches a commit that HEAD does not reach.
    is_orphan: &'s dyn Fn(&ObjectId) -> bool,
}

/// What of a note says where it belongs.
pub(super) struct Names {
    pub(super) files: BTreeSet<String>,
    supersedes: Vec<(String, String)>,
    /// What it sketched of code in which files.
    sketches: Vec<(String, Sketch)>,
}

impl Names {
    pub(super) fn of(stored: &Stored) -> Self {
        let mut names = Self { files: BTreeSet::new(), supersedes: Vec::new(), sketches: Vec::new() };
        let sketch = |file: &String, sketch: &Option<Sketch>| {
            Some((file.trim_start_matches("./").to_owned(), sketch.clone()?))
        };
        for document in stored.note.documents() {
            for region in &document.regions {
                names.sketches.extend(sketch(&region.file, &region.sketch));
                let relied_on = region.semantic_dependencies.iter();
                names.sketches.extend(relied_on.filter_map(|on| sketch(&on.file, &on.sketch)));
                names.files.insert(region.file.clone());
                names.files.extend(region.semantic_dependencies.iter().map(|on| on.file.clone()));
            }
            let members = document.cross_cutting.iter().flat_map(|concern| &concern.regions);
            names.files.extend(members.map(|member| member.file.clone()));
        }
        for (_, entry) in stored.note.entries() {
            let of_lines = if entry.around.is_some() { &entry.around } else { &entry.sketch };
            names.sketches.extend(entry.file.iter().filter_map(|file| sketch(file, of_lines)));
            names.sketches.extend(entry.depends_on.iter().filter_map(|on| sketch(&on.file, &on.sketch)));
            names.files.extend(entry.file.clone());
            names.files.extend(entry.depends_on.iter().map(|on| on.file.clone()));
            let pairs = entry.supersedes.iter().map(|old| (old.0.clone(), entry.id.0.clone()));
            names.supersedes.extend(pairs);
        }
        names.files = names.files.into_iter().map(|file| file.trim_start_matches("./").to_owned()).collect();
        names
    }
}

impl Part {
    /// Whether it was made of the HEAD and the notes of `state`.
    pub(super) fn is_of(&self, state: &State) -> bool {
        self.meta.head == state.head.into() && self.meta.notes == stored_notes(state)
    }

    /// Whether the file at `path` may not be what the table says of it, going by the file itself.
    pub(super) fn is_touched(&self, path: &[u8]) -> bool {
        self.has_changed(path) || self.is_named(path)
    }

    /// Whether so much lies between the two that a table of the present state is worth making.
    pub(super) fn is_far(&self) -> bool {
        let is_far = FAR_COMMITS < self.gained.len().max(self.lost.len()) || FAR_NOTES < self.changed.len();
        // Files that such a note concerns take the whole history each.
        is_far || self.fresh.iter().any(|fresh| fresh.is_orphan)
    }

    /// Whether the file at `path` has, or may have, other bytes than when the table was made.
    pub(super) fn has_changed(&self, path: &[u8]) -> bool {
        self.touched.contains(path)
    }

    /// Whether notes that the table does not know may say something about the file at `path`.
    pub(super) fn is_named(&self, path: &[u8]) -> bool {
        self.fresh.iter().any(|fresh| fresh.concerns(path))
    }

    /// Whether something may be said about the file at `path` by a note that came later than commits of the table.
    pub(super) fn is_told_late(&self, path: &[u8]) -> bool {
        let is_late = |fresh: &Fresh| fresh.place.is_some_and(|place| place != ASIDE);
        self.fresh.iter().any(|fresh| is_late(fresh) && fresh.concerns(path))
    }

    /// The code that notes sketched which the table does not know: the file, and the telling lines.
    pub(super) fn sketched(&self) -> impl Iterator<Item = (&BString, &[u32])> {
        self.fresh.iter().flat_map(Fresh::sketched)
    }

    /// The same that a file may have had when the table was made which last changed at the place `newest` of its history:
    /// notes came late that older commits made.
    pub(super) fn sketched_before(&self, newest: u32) -> impl Iterator<Item = (&BString, &[u32])> {
        let is_late = move |fresh: &&Fresh| fresh.place.is_some_and(|place| newest < place);
        let late = self.fresh.iter().filter(is_late);
        late.flat_map(Fresh::sketched)
    }

    /// Whether what the note of `commit` said then is not said any more, or said anew.
    pub(super) fn is_dropped(&self, commit: ObjectId) -> bool {
        let id = Id::from(commit);
        let is_hidden = self.lost.contains(&id_prefix(commit)) && !self.orphaned.contains(&id);
        self.changed.contains(&id) || self.found.contains(&id) || is_hidden
    }

    /// The table's `heading` as it is now; `None` when it is dropped.
    pub(super) fn still_said(&self, mut heading: Heading) -> Option<Heading> {
        if self.is_dropped(heading.commit) {
            return None;
        }
        if self.orphaned.contains(&heading.commit.into()) {
            heading.elsewhere = Some(NO_BRANCH.to_owned());
        }
        Some(heading)
    }

    /// Objects whose notes changed between this and `state`; `None` when that is not told.
    pub(super) fn changed_since(
        &self,
        repository: &Repository,
        state: &State,
    ) -> Result<Option<BTreeSet<ObjectId>>> {
        changed_notes(repository, &self.meta, state)
    }

    /// Whether the note of `commit`, which HEAD reaches, is one that the table does not know.
    pub(super) fn is_fresh_here(&self, commit: ObjectId) -> bool {
        self.fresh.iter().any(|fresh| fresh.commit == commit.into() && !fresh.is_orphan)
    }

    /// What lies between the table `base` and `state`; `None` when a new table is the better way.
    ///
    /// What `known` says of fresh notes is taken from there; their words are not told again.
    pub(super) fn between(
        repository: &Repository,
        base: &Base,
        state: &State,
        known: Option<Known<'_>>,
    ) -> Result<Option<Made>> {
        let (meta, ancestry) = (&base.meta, &base.ancestry);
        let Some(base_head) = meta.head.get() else { return Ok(None) };
        let Some(span) = Span::between(repository, ancestry, base_head, state.head)? else { return Ok(None) };
        let changed = match known {
            Some(known) => known.changed(),
            None => changed_notes(repository, meta, state)?,
        };
        let Some(changed) = changed.filter(|changed| changed.len() <= MAX_NOTES) else { return Ok(None) };
        let gained: BTreeSet<ObjectId> = span.gained.fresh().map(|(_, node)| node.id).collect();
        let asks_notes = !changed.is_empty() || !gained.is_empty() || base.beside.commits().next().is_some();
        let notes = match asks_notes {
            true => single_notes(repository, &meta.warnings)?,
            false => Some(SingleNotes::none(repository)),
        };
        let Some(mut notes) = notes else { return Ok(None) };
        let lost: BTreeSet<ObjectId> = span.lost.fresh().map(|(_, node)| node.id).collect();
        let is_here =
            |key| gained.contains(&key) || ancestry.place(key).is_some_and(|place| span.keeps(place));
        let left = lost.iter().copied().filter(|key| base.was_annotated(*key));
        let off = off_history(base.beside.commits().chain(left), &changed, &mut notes, &is_here)?;
        let beside = match known {
            Some(Known { part, beside, .. }) => {
                let reached: HashSet<Id> = part.gained.iter().copied().collect();
                let is_left = |key| part.lost.contains(&id_prefix(key));
                let was_here = |key: ObjectId| {
                    reached.contains(&key.into()) || ancestry.place(key).is_some() && !is_left(key)
                };
                let Some(head_then) = part.meta.head.get() else { return Ok(None) };
                let grounds =
                    Grounds { repository, ancestry, is_here: &is_here, head_then, was_here: &was_here };
                beside.at_present(grounds, &off)?
            }
            None => {
                let was_here = |key| ancestry.place(key).is_some();
                let head_then = base_head;
                let grounds =
                    Grounds { repository, ancestry, is_here: &is_here, head_then, was_here: &was_here };
                base.beside.at_present(grounds, &off)?
            }
        };
        let n_annotated = match known {
            // The same notes have been counted.
            Some(known) if known.changed_since.is_empty() => known.part.meta.n_annotated,
            _ => base.n_annotated(meta.n_annotated, &changed, &mut notes)?,
        };
        let is_orphan = |key: &ObjectId| beside.is_reached(*key) == Some(false);
        let was_orphan = |key: &ObjectId| base.beside.is_reached(*key) == Some(false);
        let was_hidden = |key: &ObjectId| base.beside.is_reached(*key) == Some(true);
        let found = base.beside.commits().filter(|key| was_orphan(key) && !is_orphan(key));
        // What the table says of commits that HEAD reached then still holds, but for where they are.
        let orphaned = lost.difference(&changed).filter(|key| is_orphan(key));
        let mut part = Self {
            base: base.name.clone(),
            meta: Meta {
                head: state.head.into(),
                notes: stored_notes(state),
                head_time: span.gained.history.nodes()[0].time,
                n_annotated,
                superseded: Vec::new(),
                has_corrections: false,
                correction_warnings: Vec::new(),
                ..meta.clone()
            },
            lost: lost.iter().copied().map(id_prefix).collect(),
            lost_places: lost.iter().filter_map(|id| ancestry.place(*id)).collect(),
            orphaned: orphaned.copied().map(Id::from).collect(),
            changed: changed.iter().copied().map(Id::from).collect(),
            found: found.map(Id::from).collect(),
            gained: gained.iter().copied().map(Id::from).collect(),
            fresh: Vec::new(),
            touched: BTreeSet::new(),
            is_aside: span.gained.edge().count() != 1,
            added: BTreeSet::new(),
            removed: BTreeSet::new(),
        };
        part.lost_places.sort_unstable();
        let said_still = |pair: &&Supersession| {
            pair.by.get().is_none_or(|by| !changed.contains(&by) && !lost.contains(&by))
        };
        part.meta.superseded = meta.superseded.iter().filter(said_still).cloned().collect();
        let unhidden = beside.commits().filter(|key| was_hidden(key) && is_orphan(key));
        let keys: BTreeSet<ObjectId> = gained.union(&changed).copied().chain(unhidden).collect();
        let seen =
            Seen { repository, ancestry, gained: &span.gained, is_here: &is_here, is_orphan: &is_orphan };
        let Some(words) = part.see_notes(&seen, &mut notes, &keys, known)? else { return Ok(None) };
        let reached = part.see_lost(base, &span.lost);
        part.see_paths(repository, &span.gained, reached)?;
        Ok(Some(Made { part, beside, words, span: Some(span) }))
    }

    /// The same with what came since; `None` when more is to be done than to add to it. `beside` belongs to it.
    ///
    /// Commits and notes mostly come one by one: what is known of those before them need not be read again.
    pub(super) fn grown(
        &self,
        beside: &Beside,
        repository: &Repository,
        base: &Base,
        state: &State,
    ) -> Result<Option<Made>> {
        let ancestry = &base.ancestry;
        let Some(head) = self.meta.head.get().filter(|_| self.lost.is_empty()) else { return Ok(None) };
        // HEAD went back, or never left the table's history.
        if head != state.head && ancestry.place(state.head).is_some() {
            return Ok(None);
        }
        let Some(gained) = repository.history_until(&[state.head], |id| id == head, MAX_ADDED)? else {
            return Ok(None);
        };
        let Some(changed) = changed_notes(repository, &self.meta, state)? else { return Ok(None) };
        let new: BTreeSet<ObjectId> = gained.fresh().map(|(_, node)| node.id).collect();
        let known: HashSet<Id> = self.gained.iter().copied().collect();
        let is_known = |id: ObjectId| known.contains(&id.into()) || ancestry.place(id).is_some();
        // HEAD may have left what it was at, and a merge may reach what is known by another way.
        let Some(place_of_head) = gained.history.place(head) else { return Ok(None) };
        let goes_on = gained.edge().all(|(_, node)| node.id == head);
        let is_aside = !goes_on || new.iter().any(|id| is_known(*id));
        let seen: HashSet<Id> =
            self.changed.iter().copied().chain(self.fresh.iter().map(|fresh| fresh.commit)).collect();
        let is_said_again = changed.iter().any(|key| seen.contains(&Id::from(*key)));
        let is_too_much =
            MAX_COMMITS < known.len() + new.len() || MAX_NOTES < self.changed.len() + changed.len();
        if is_aside || is_said_again || is_too_much {
            return Ok(None);
        }
        let Some(mut notes) = single_notes(repository, &self.meta.warnings)? else { return Ok(None) };
        let is_here = |key| new.contains(&key) || is_known(key);
        let off = off_history(beside.commits(), &changed, &mut notes, &is_here)?;
        let grounds =
            Grounds { repository, ancestry, is_here: &is_here, head_then: head, was_here: &is_known };
        let now = beside.at_present(grounds, &off)?;
        // An orphan that is told or ceases to be, a lesson of another branch that is to be told: all that is looked at
        // from the table.
        let was_orphan = |key: &ObjectId| beside.is_reached(*key) == Some(false);
        let is_orphan = |key: &ObjectId| now.is_reached(*key) == Some(false);
        if beside.commits().chain(now.commits()).any(|key| was_orphan(&key) != is_orphan(&key)) {
            return Ok(None);
        }
        let mut part = self.clone();
        part.meta.n_annotated = base.n_annotated(part.meta.n_annotated, &changed, &mut notes)?;
        part.meta.head = state.head.into();
        part.meta.notes = stored_notes(state);
        part.meta.head_time = gained.history.nodes()[0].time;
        part.changed.extend(changed.iter().copied().map(Id::from));
        part.gained.extend(new.iter().copied().map(Id::from));
        part.meta.superseded.retain(|pair| pair.by.get().is_none_or(|by| !changed.contains(&by)));
        let keys: BTreeSet<ObjectId> = new.union(&changed).copied().collect();
        let seen = Seen { repository, ancestry, gained: &gained, is_here: &is_here, is_orphan: &is_orphan };
        let Some(words) = part.see_notes(&seen, &mut notes, &keys, None)? else { return Ok(None) };
        part.see_paths(repository, &gained, gained.history.node(place_of_head).tree)?;
        Ok(Some(Made { part, beside: now, words, span: None }))
    }

    /// Sees what the notes on `keys` say; `None` when one of them cannot be placed file by file.
    fn see_notes(
        &mut self,
        seen: &Seen<'_>,
        notes: &mut SingleNotes<'_>,
        keys: &BTreeSet<ObjectId>,
        known: Option<Known<'_>>,
    ) -> Result<Option<Vec<Passage>>> {
        let repository = seen.repository;
        let known_fresh = known.iter().flat_map(Known::fresh);
        let known_fresh: HashMap<Id, &Fresh> = known_fresh.map(|fresh| (fresh.commit, fresh)).collect();
        let mut words = Vec::new();
        for key in keys.iter().copied() {
            let is_here = (seen.is_here)(key);
            let is_aside = self.is_aside || !is_here;
            let place = seen.ancestry.place(key).filter(|_| is_here).or(is_aside.then_some(ASIDE));
            if let (Some(fresh), true) = (known_fresh.get(&key.into()), is_here) {
                let said = known.iter().flat_map(|known| &known.part.meta.superseded);
                self.meta.superseded.extend(said.filter(|pair| pair.by == fresh.commit).cloned());
                // Whether what came builds on the table's history is told by the way that it came.
                self.fresh.push(Fresh { place, ..(*fresh).clone() });
                continue;
            }
            let stored = notes.stored_on(key)?;
            if chronicle_git::is_knowledge_key(key) {
                self.meta.knowledge = stored.knowledge.and_then(|all| serde_json::to_string(&all).ok());
                continue;
            }
            // What another branch reaches does not show at all.
            let is_orphan = !is_here && (seen.is_orphan)(&key);
            let is_nothing = stored.note.is_empty() && stored.remarks.is_empty();
            if is_nothing || !is_here && !is_orphan {
                continue;
            }
            // What cannot be read wholly is seen when a whole table is made.
            if !stored.remarks.is_empty() {
                return Ok(None);
            }
            let names = Names::of(&stored);
            let mut files: BTreeSet<BString> = names.files.into_iter().map(BString::from).collect();
            let sketches = names.sketches.into_iter();
            let sketched = sketches.map(|(file, sketch)| (BString::from(file), sketch.telling())).collect();
            if is_orphan {
                let candidate = Candidate::off_history(repository, key, stored);
                files.extend(candidate.changed_paths(repository).into_iter().map(BString::from));
                let files = files.into_iter().collect();
                let candidate = Candidate { elsewhere: Some(NO_BRANCH.to_owned()), ..candidate };
                words.extend(passages(&candidate));
                self.fresh.push(Fresh { commit: key.into(), is_orphan, place, files, sketched });
                continue;
            }
            self.meta.superseded.extend(names.supersedes.into_iter().map(|(old, new)| Supersession {
                old,
                new,
                by: key.into(),
                counts: true,
            }));
            let say = |node: &Node| {
                words.extend(passages(&Candidate::new(key, stored, None, node, Vec::new(), None)));
            };
            match seen.gained.history.place(key).filter(|place| !seen.gained.is_edge[*place as usize]) {
                Some(place) => say(seen.gained.history.node(place)),
                None => {
                    let history = only(repository, &key)?;
                    let touched = repository.touched_paths(&history, &history.nodes()[0])?;
                    files.extend(touched);
                    say(&history.nodes()[0]);
                }
            }
            let files = files.into_iter().collect();
            self.fresh.push(Fresh { commit: key.into(), is_orphan, place, files, sketched });
        }
        self.meta.has_any = 0 < self.meta.n_annotated || self.meta.knowledge.is_some();
        Ok(Some(words))
    }

    /// Sees what the commits changed that went, each compared with its first parent, down to one that HEAD still
    /// reaches; returns its tree.
    ///
    /// The table knows that, so that only what lies beyond has to be looked for in trees. Where the table does not, that
    /// is everything.
    fn see_lost(&mut self, base: &Base, lost: &Partial) -> ObjectId {
        let nodes = lost.history.nodes();
        let known = base.table.get(CHANGES).and_then(StoredChanges::parse).and_then(|changes| {
            let mut seen: BTreeMap<u32, ChangedPath> = BTreeMap::new();
            let mut at = 0;
            while !lost.is_edge[at] {
                // The oldest one that changed a file tells whether it was there before, the newest whether it was since.
                for changed in changes.of(base.ancestry.place(nodes[at].id)?)? {
                    seen.entry(changed.path).or_insert(changed).was_there = changed.was_there;
                }
                at = *nodes[at].parents.first()? as usize;
            }
            Some((nodes[at].tree, changes.paths(seen.keys().copied())?, seen))
        });
        let Some((tree, paths, seen)) = known else { return nodes[0].tree };
        for (path, changed) in paths.into_iter().zip(seen.into_values()) {
            match (changed.is_there, changed.was_there) {
                (false, true) => drop(self.added.insert(path.clone())),
                (true, false) => drop(self.removed.insert(path.clone())),
                _ => {}
            }
            self.touched.insert(path);
        }
        tree
    }

    /// Sees which paths are not what they were in the tree `old`. What commits that went had changed, the table knows
    /// by file.
    fn see_paths(&mut self, repository: &Repository, gained: &Partial, old: ObjectId) -> Result<()> {
        for (_, node) in gained.fresh() {
            let touched = repository.touched_paths(&gained.history, node)?;
            self.touched.extend(touched);
        }
        for change in repository.plain_changes(Some(old), gained.history.nodes()[0].tree)? {
            let path = change.path;
            // What came after the table and went again was never there, and the other way round.
            match (change.old, change.new) {
                (None, Some(_)) if !self.removed.remove(&path) => drop(self.added.insert(path.clone())),
                (Some(_), None) if !self.added.remove(&path) => drop(self.removed.insert(path.clone())),
                _ => {}
            }
            self.touched.insert(path);
        }
        Ok(())
    }

    /// Whether what the table says of a file that is not touched still holds; `None` where that is damaged.
    pub(super) fn leaves(&self, stored: &StoredRecord<'_>) -> Option<bool> {
        let is_touched = stored.names.iter().any(|name| self.is_touched(name.as_bytes()))
            || stored.sources.iter().any(|source| self.has_changed(source.as_bytes()));
        Some(!is_touched && !self.has_lost(stored)? && !self.says_otherwise(stored)?)
    }

    /// Whether one of the commits that changed a file is not reached now.
    fn has_lost(&self, stored: &StoredRecord<'_>) -> Option<bool> {
        if self.lost_places.is_empty() {
            return Some(false);
        }
        Some(stored.places()?.iter().any(|place| self.lost_places.binary_search(place).is_ok()))
    }

    /// Whether one of the commits that say something about a file is not reached now, or says something else.
    fn says_otherwise(&self, stored: &StoredRecord<'_>) -> Option<bool> {
        if self.lost.is_empty() && self.changed.is_empty() && self.found.is_empty() {
            return Some(false);
        }
        let is_other = |key: ObjectId| {
            let id = Id::from(key);
            self.lost.contains(&id_prefix(key)) || self.changed.contains(&id) || self.found.contains(&id)
        };
        Some(stored.commits()?.any(is_other))
    }
}

/// The history of a commit and its parents alone.
pub(super) fn only(repository: &Repository, id: &ObjectId) -> Result<History> {
    let parents = repository.commit(*id)?.parents;
    let is_parent = |other| parents.contains(&other);
    Ok(repository.history_until(&[*id], is_parent, 1)?.map(|partial| partial.history).unwrap_or_default())
}

/// The notes, to look some of them up; `None` where a ref is no notes ref and the table, whose warnings are `known`,
/// has not said so.
fn single_notes<'r>(repository: &'r Repository, known: &[String]) -> Result<Option<SingleNotes<'r>>> {
    let mut warnings = Vec::new();
    let notes = SingleNotes::open(repository, &mut warnings)?;
    Ok(warnings.iter().all(|warning| known.contains(warning)).then_some(notes))
}

/// What the notes refs of `state` point at.
pub(super) fn stored_notes(state: &State) -> Vec<(Vec<u8>, Id)> {
    state.notes.iter().map(|(name, tip)| (name.to_vec(), (*tip).into())).collect()
}

/// Of `known` commits with notes, and those whose notes `changed`, the ones that have any and HEAD does not reach.
fn off_history(
    known: impl Iterator<Item = ObjectId>,
    changed: &BTreeSet<ObjectId>,
    notes: &mut SingleNotes<'_>,
    is_here: &dyn Fn(ObjectId) -> bool,
) -> Result<BTreeSet<ObjectId>> {
    let mut off: BTreeSet<ObjectId> = known.filter(|key| !changed.contains(key) && !is_here(*key)).collect();
    for key in changed.iter().copied().filter(|key| !chronicle_git::is_knowledge_key(*key)) {
        if !is_here(key) && notes.has(key)? {
            off.insert(key);
        }
    }
    Ok(off)
}

fn changed_notes(repository: &Repository, base: &Meta, state: &State) -> Result<Option<BTreeSet<ObjectId>>> {
    let mut tips: BTreeMap<BString, (Option<ObjectId>, Option<ObjectId>)> = BTreeMap::new();
    for (name, tip) in &base.notes {
        tips.entry(name.as_bstr().to_owned()).or_default().0 = tip.get();
    }
    for (name, tip) in &state.notes {
        tips.entry(name.clone()).or_default().1 = Some(*tip);
    }
    let is_of_tombstones = |name: &BString| name.ends_with_str("/chronicle-purged");
    if tips.iter().any(|(name, (old, new))| is_of_tombstones(name) && old != new) {
        return Ok(None);
    }
    // Corrections are read anew, whichever came.
    tips.retain(|name, _| !name.ends_with_str("/chronicle-corrections"));
    let mut changed = BTreeSet::new();
    for (old, new) in tips.into_values().filter(|(old, new)| old != new) {
        let Some(keys) = repository.changed_notes(old, new)? else { return Ok(None) };
        changed.extend(keys);
    }
    Ok(Some(changed))
}
