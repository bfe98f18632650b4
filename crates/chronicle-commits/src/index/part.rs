//! What lies between a table and the repository's present state.
//!
//! After a commit or a new note nearly all records of the last table still hold. A part names the table
//! it builds on, and which commits and notes came and went since; only files that these touch are looked
//! at again, one by one, when they are asked for.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
};

use chronicle_git::{BString, ByteSlice, History, Node, ObjectId, Partial, Repository};
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    index::{
        Meta, State, Supersession,
        ancestry::Ancestry,
        stored::{Id, StoredRecord},
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
    pub(super) orphaned: Vec<Id>,
    /// Objects whose notes are not what they were.
    pub(super) changed: Vec<Id>,
    /// Commits whose notes changed, and that only another branch reaches.
    elsewhere: Vec<Id>,
    /// Commits that HEAD reaches now and did not then.
    gained: Vec<Id>,
    /// Commits whose notes say something that the table does not know yet.
    pub(super) fresh: Vec<Fresh>,
    /// Places, in the table's history, of commits that HEAD does not reach now, in order.
    lost_places: Vec<u32>,
    /// Paths that commits changed which came, or that differ between the two, in order.
    pub(super) touched: BTreeSet<Vec<u8>>,
    /// Files that HEAD has and the table's commit has not.
    pub(super) added: BTreeSet<Vec<u8>>,
    /// Files that the table's commit has and HEAD has not.
    pub(super) removed: BTreeSet<Vec<u8>>,
}

/// A commit whose note the table does not know yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fresh {
    pub(super) commit: Id,
    /// The files that its note names, and those that it changed where the table knows it.
    files: BTreeSet<Vec<u8>>,
}

/// Another part of the same table, and the objects whose notes changed since it was made.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) part: &'k Part,
    pub(super) changed_since: &'k BTreeSet<ObjectId>,
}

impl<'k> Known<'k> {
    /// What it says that still holds.
    fn fresh(&self) -> impl Iterator<Item = &'k Fresh> {
        let changed = self.changed_since;
        let holds = |fresh: &&Fresh| fresh.commit.get().is_some_and(|commit| !changed.contains(&commit));
        self.part.fresh.iter().filter(holds)
    }

    /// Objects whose notes the table does not know as they are: not all of them need differ.
    fn changed(&self) -> Option<BTreeSet<ObjectId>> {
        let then: Option<BTreeSet<ObjectId>> = self.part.changed.iter().map(Id::get).collect();
        Some(&then? | self.changed_since)
    }
}

impl Fresh {
    /// Whether its note may say something about the file at `path`.
    pub(super) fn concerns(&self, path: &[u8]) -> bool {
        self.files.contains(path)
    }
}

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
    pub(super) kept: Vec<bool>,
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
        let Some(gained) = repository.history_until(head, is_known, MAX_COMMITS)? else { return Ok(None) };
        let edge = gained.edge().filter_map(|(_, node)| ancestry.place(node.id));
        let Some(kept) = ancestry.reach(edge) else { return Ok(None) };
        let is_kept = |id| ancestry.place(id).is_none_or(|place| kept[place as usize]);
        let lost = repository.history_until(base_head, is_kept, MAX_COMMITS)?;
        Ok(lost.map(|lost| Self { gained, kept, lost }))
    }
}

/// What of a note says where it belongs.
pub(super) struct Names {
    pub(super) files: BTreeSet<String>,
    supersedes: Vec<(String, String)>,
}

impl Names {
    pub(super) fn of(stored: &Stored) -> Self {
        let mut names = Self { files: BTreeSet::new(), supersedes: Vec::new() };
        for document in stored.note.documents() {
            for region in &document.regions {
                names.files.insert(region.file.clone());
                names.files.extend(region.semantic_dependencies.iter().map(|on| on.file.clone()));
            }
            let members = document.cross_cutting.iter().flat_map(|concern| &concern.regions);
            names.files.extend(members.map(|member| member.file.clone()));
        }
        for (_, entry) in stored.note.entries() {
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
    /// Whether the file at `path` may not be what the table says of it, going by the file itself.
    pub(super) fn is_touched(&self, path: &[u8]) -> bool {
        self.touched.contains(path) || self.is_named(path)
    }

    /// Whether so much lies between the two that a table of the present state is worth making.
    pub(super) fn is_far(&self) -> bool {
        FAR_COMMITS < self.gained.len().max(self.lost.len()) || FAR_NOTES < self.changed.len()
    }

    /// Whether notes that the table does not know may say something about the file at `path`.
    pub(super) fn is_named(&self, path: &[u8]) -> bool {
        self.fresh.iter().any(|fresh| fresh.concerns(path))
    }

    /// Whether what the note of `commit` said then is not said any more, or said anew.
    pub(super) fn is_dropped(&self, commit: ObjectId) -> bool {
        let id = Id::from(commit);
        self.changed.contains(&id) || (self.lost.contains(&id_prefix(commit)) && !self.orphaned.contains(&id))
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

    /// Whether the note of `commit` is one that the table does not know.
    pub(super) fn is_fresh(&self, commit: ObjectId) -> bool {
        self.fresh.iter().any(|fresh| fresh.commit == commit.into())
    }

    /// What lies between the table that `base` heads and `state`, with the words of fresh notes; `None` when
    /// a new table is the better way.
    ///
    /// `was_annotated` tells whether the table knew a note on an object. What `known` says of fresh notes is taken from
    /// there; their words are not told again.
    pub(super) fn between(
        repository: &Repository,
        (base_name, base, ancestry): (&str, &Meta, &Ancestry),
        was_annotated: impl Fn(ObjectId) -> bool,
        state: &State,
        known: Option<Known<'_>>,
    ) -> Result<Option<(Self, Vec<Passage>)>> {
        let Some(base_head) = base.head.get() else { return Ok(None) };
        let Some(span) = Span::between(repository, ancestry, base_head, state.head)? else { return Ok(None) };
        let changed = match known {
            Some(known) => known.changed(),
            None => changed_notes(repository, base, state)?,
        };
        let Some(changed) = changed.filter(|changed| changed.len() <= MAX_NOTES) else { return Ok(None) };
        let Some(mut notes) = single_notes(repository, &base.warnings)? else { return Ok(None) };
        let n_annotated = n_annotated(base.n_annotated, &changed, &was_annotated, &mut notes)?;
        let gained: BTreeSet<ObjectId> = span.gained.fresh().map(|(_, node)| node.id).collect();
        let lost: BTreeSet<ObjectId> = span.lost.fresh().map(|(_, node)| node.id).collect();
        let mut part = Self {
            base: base_name.to_owned(),
            meta: Meta {
                head: state.head.into(),
                notes: stored_notes(state),
                head_time: span.gained.history.nodes()[0].time,
                has_any: base.has_any || !changed.is_empty(),
                superseded: Vec::new(),
                knowledge: base.knowledge.clone(),
                warnings: base.warnings.clone(),
                knowledge_warnings: base.knowledge_warnings.clone(),
                has_corrections: false,
                correction_warnings: Vec::new(),
                n_annotated,
            },
            lost: lost.iter().copied().map(id_prefix).collect(),
            lost_places: lost.iter().filter_map(|id| ancestry.place(*id)).collect(),
            orphaned: Vec::new(),
            changed: changed.iter().copied().map(Id::from).collect(),
            elsewhere: Vec::new(),
            gained: gained.iter().copied().map(Id::from).collect(),
            fresh: Vec::new(),
            touched: BTreeSet::new(),
            added: BTreeSet::new(),
            removed: BTreeSet::new(),
        };
        part.lost_places.sort_unstable();
        let is_here =
            |key| gained.contains(&key) || ancestry.place(key).is_some_and(|place| span.kept[place as usize]);
        let sets = (&gained, &lost, &changed);
        let notes = part.see_notes(
            (repository, &mut notes),
            ancestry,
            (&span.gained, &is_here),
            sets,
            (&base.superseded, known),
        )?;
        let Some(words) = notes else { return Ok(None) };
        part.see_paths(repository, &span.gained, span.lost.history.nodes()[0].tree)?;
        Ok(Some((part, words)))
    }

    /// The same with what came since, and the words of notes that are new; `None` when more is to be done than to add
    /// to it.
    ///
    /// Commits and notes mostly come one by one: what is known of those before them need not be read again.
    pub(super) fn grown(
        mut self,
        repository: &Repository,
        ancestry: &Ancestry,
        was_annotated: impl Fn(ObjectId) -> bool,
        state: &State,
    ) -> Result<Option<(Self, Vec<Passage>)>> {
        let Some(head) = self.meta.head.get().filter(|_| self.lost.is_empty()) else { return Ok(None) };
        // HEAD went back, or never left the table's history.
        if head != state.head && ancestry.place(state.head).is_some() {
            return Ok(None);
        }
        let Some(gained) = repository.history_until(state.head, |id| id == head, MAX_ADDED)? else {
            return Ok(None);
        };
        let Some(changed) = changed_notes(repository, &self.meta, state)? else { return Ok(None) };
        let new: BTreeSet<ObjectId> = gained.fresh().map(|(_, node)| node.id).collect();
        let known: HashSet<Id> = self.gained.iter().copied().collect();
        let is_known = |id: ObjectId| known.contains(&id.into()) || ancestry.place(id).is_some();
        // HEAD may have left what it was at, and a merge may reach what is known by another way.
        let goes_on = gained.history.place(head).is_some() && gained.edge().all(|(_, node)| node.id == head);
        let is_beside = !goes_on || new.iter().any(|id| is_known(*id));
        let seen: HashSet<Id> =
            self.changed.iter().copied().chain(self.fresh.iter().map(|fresh| fresh.commit)).collect();
        let is_said_again = changed.iter().any(|key| seen.contains(&Id::from(*key)));
        let is_too_much =
            MAX_COMMITS < known.len() + new.len() || MAX_NOTES < self.changed.len() + changed.len();
        if is_beside || is_said_again || is_too_much {
            return Ok(None);
        }
        let Some(mut notes) = single_notes(repository, &self.meta.warnings)? else { return Ok(None) };
        self.meta.n_annotated = n_annotated(self.meta.n_annotated, &changed, &was_annotated, &mut notes)?;
        self.meta.head = state.head.into();
        self.meta.notes = stored_notes(state);
        self.meta.head_time = gained.history.nodes()[0].time;
        self.meta.has_any |= !changed.is_empty();
        self.changed.extend(changed.iter().copied().map(Id::from));
        self.gained.extend(new.iter().copied().map(Id::from));
        let is_here = |key| new.contains(&key) || is_known(key);
        let superseded = std::mem::take(&mut self.meta.superseded);
        let sets = (&new, &BTreeSet::new(), &changed);
        let notes = self.see_notes(
            (repository, &mut notes),
            ancestry,
            (&gained, &is_here),
            sets,
            (&superseded, None),
        )?;
        let Some(words) = notes else { return Ok(None) };
        self.see_paths(repository, &gained, repository.commit_tree(head)?)?;
        Ok(Some((self, words)))
    }

    /// Sees which notes are new to the table, and what they say; `None` when one of them cannot be placed
    /// file by file.
    fn see_notes(
        &mut self,
        (repository, notes): (&Repository, &mut SingleNotes<'_>),
        ancestry: &Ancestry,
        (span, is_here): (&Partial, &dyn Fn(ObjectId) -> bool),
        (gained, lost, changed): (&BTreeSet<ObjectId>, &BTreeSet<ObjectId>, &BTreeSet<ObjectId>),
        (superseded, known): (&[Supersession], Option<Known<'_>>),
    ) -> Result<Option<Vec<Passage>>> {
        let known_fresh = known.iter().flat_map(Known::fresh);
        let known_fresh: HashMap<Id, &Fresh> = known_fresh.map(|fresh| (fresh.commit, fresh)).collect();
        let mut words = Vec::new();
        let mut pairs: Vec<Supersession> = Vec::new();
        let dropped = |id: ObjectId| changed.contains(&id) || lost.contains(&id);
        let others = OnceCell::new();
        let is_elsewhere = |key: ObjectId| -> Result<bool> {
            let known = match others.get() {
                Some(known) => known,
                None => {
                    let found = Others::find(repository, ancestry)?;
                    others.get_or_init(|| found)
                }
            };
            known.reach(repository, ancestry, key)
        };
        // A branch that reached one of them may have gone on without it.
        self.elsewhere.retain(|id| id.get().is_none_or(|key| !is_here(key)));
        for key in self.elsewhere.iter().filter_map(Id::get) {
            if !is_elsewhere(key)? {
                return Ok(None);
            }
        }
        for pair in superseded {
            if !pair.by.get().is_some_and(dropped) {
                pairs.push(pair.clone());
            }
        }
        for key in gained.union(changed).copied() {
            if let (Some(fresh), true) = (known_fresh.get(&key.into()), is_here(key)) {
                let said = known.iter().flat_map(|known| &known.part.meta.superseded);
                pairs.extend(said.filter(|pair| pair.by == fresh.commit).cloned());
                self.fresh.push((*fresh).clone());
                continue;
            }
            let stored = notes.stored_on(key)?;
            if chronicle_git::is_knowledge_key(key) {
                self.meta.knowledge = stored.knowledge.and_then(|all| serde_json::to_string(&all).ok());
                continue;
            }
            if stored.note.is_empty() && stored.remarks.is_empty() {
                continue;
            }
            // What is off the history, or cannot be read wholly, is seen when a whole table is made;
            // what another branch reaches does not show at all.
            if !stored.remarks.is_empty() {
                return Ok(None);
            }
            if !is_here(key) {
                if !is_elsewhere(key)? {
                    return Ok(None);
                }
                self.elsewhere.push(key.into());
                continue;
            }
            let names = Names::of(&stored);
            let mut files: BTreeSet<Vec<u8>> = names.files.into_iter().map(String::into_bytes).collect();
            pairs.extend(names.supersedes.into_iter().map(|(old, new)| Supersession {
                old,
                new,
                by: key.into(),
                counts: true,
            }));
            let say = |node: &Node| {
                words.extend(passages(&Candidate::new(key, stored, None, node, Vec::new(), None)));
            };
            match span.history.place(key).filter(|_| gained.contains(&key)) {
                Some(place) => say(span.history.node(place)),
                None => {
                    let history = only(repository, &key)?;
                    let touched = repository.touched_paths(&history, &history.nodes()[0])?;
                    files.extend(touched.into_iter().map(Vec::from));
                    say(&history.nodes()[0]);
                }
            }
            self.fresh.push(Fresh { commit: key.into(), files });
        }
        for key in lost.difference(changed).copied() {
            // Mostly a branch still reaches what HEAD has left; then nobody asks for its note.
            if !is_elsewhere(key)? && !notes.stored_on(key)?.note.is_empty() {
                self.orphaned.push(key.into());
            }
        }
        self.meta.superseded = pairs;
        Ok(Some(words))
    }

    /// Sees which paths are not what they were in the tree `old`. What commits that went had changed, the table knows
    /// by file.
    fn see_paths(&mut self, repository: &Repository, gained: &Partial, old: ObjectId) -> Result<()> {
        for (_, node) in gained.fresh() {
            let touched = repository.touched_paths(&gained.history, node)?;
            self.touched.extend(touched.into_iter().map(Vec::from));
        }
        for change in repository.plain_changes(Some(old), gained.history.nodes()[0].tree)? {
            let path = Vec::from(change.path);
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

    /// Whether what the table says of a file that is not touched still holds.
    pub(super) fn leaves(&self, stored: &StoredRecord<'_>) -> bool {
        let is_dropped =
            |key: ObjectId| self.lost.contains(&id_prefix(key)) || self.changed.contains(&key.into());
        let may_drop = !self.lost.is_empty() || !self.changed.is_empty();
        let is_touched = self.has_lost(&stored.places)
            || stored.names.iter().any(|name| self.is_touched(name.as_bytes()))
            || may_drop && stored.commits().any(is_dropped);
        !is_touched
    }

    /// Whether one of the commits at `places` of the table's history is not reached now.
    fn has_lost(&self, places: &[u32]) -> bool {
        !self.lost_places.is_empty()
            && places.iter().any(|place| self.lost_places.binary_search(place).is_ok())
    }
}

/// The history of a commit and its parents alone.
pub(super) fn only(repository: &Repository, id: &ObjectId) -> Result<History> {
    let parents = repository.commit(*id)?.parents;
    let is_parent = |other| parents.contains(&other);
    Ok(repository.history_until(*id, is_parent, 1)?.map(|partial| partial.history).unwrap_or_default())
}

/// The notes, to look some of them up; `None` where a ref is no notes ref and the table, whose warnings are `known`,
/// has not said so.
fn single_notes<'r>(repository: &'r Repository, known: &[String]) -> Result<Option<SingleNotes<'r>>> {
    let mut warnings = Vec::new();
    let notes = SingleNotes::open(repository, &mut warnings)?;
    Ok(warnings.iter().all(|warning| known.contains(warning)).then_some(notes))
}

/// What the notes refs of `state` point at.
fn stored_notes(state: &State) -> Vec<(Vec<u8>, Id)> {
    state.notes.iter().map(|(name, tip)| (name.to_vec(), (*tip).into())).collect()
}

/// How many objects are annotated when it was `before` so many, and the notes on `changed` came, went or changed.
fn n_annotated(
    before: usize,
    changed: &BTreeSet<ObjectId>,
    was_annotated: &impl Fn(ObjectId) -> bool,
    notes: &mut SingleNotes<'_>,
) -> Result<usize> {
    let mut n_annotated = before;
    for key in changed.iter().filter(|key| !chronicle_git::is_knowledge_key(**key)) {
        n_annotated -= usize::from(was_annotated(*key));
        n_annotated += usize::from(notes.has(*key)?);
    }
    Ok(n_annotated)
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

/// What HEAD, branches and worktrees reach, to tell whether a commit that the state does not reach is lost.
struct Others {
    /// For each place of the table's history, whether one of them that the table knows reaches it.
    reached: Vec<bool>,
    /// Those that the table does not know.
    unknown: Vec<ObjectId>,
    /// What these and all other refs reach: commits that the table does not know, and places of its history.
    beyond: OnceCell<(HashSet<ObjectId>, Vec<bool>)>,
}

impl Others {
    fn find(repository: &Repository, ancestry: &Ancestry) -> Result<Self> {
        let branches = repository.refs_under("refs/heads/")?.into_iter().map(|(_, tip)| tip);
        let worktrees = repository.worktree_heads().into_iter().map(|(_, tip)| tip);
        let tips: HashSet<ObjectId> = branches.chain(worktrees).chain(repository.head()?).collect();
        let (known, unknown): (Vec<_>, Vec<_>) =
            tips.into_iter().partition(|tip| ancestry.place(*tip).is_some());
        let known = known.into_iter().filter_map(|tip| ancestry.place(tip));
        let reached = ancestry.reach(known).unwrap_or_default();
        Ok(Self { reached, unknown, beyond: OnceCell::new() })
    }

    fn reach(&self, repository: &Repository, ancestry: &Ancestry, key: ObjectId) -> Result<bool> {
        let place = ancestry.place(key);
        let is_in = |reached: &Vec<bool>| {
            place.is_some_and(|place| reached.get(place as usize).copied().unwrap_or_default())
        };
        // Mostly the branch that HEAD has left is known, and the others need not be walked, nor tags be read.
        if is_in(&self.reached) {
            return Ok(true);
        }
        let (fresh, reached) = match self.beyond.get() {
            Some(beyond) => beyond,
            None => {
                let walked = self.walk(repository, ancestry)?;
                self.beyond.get_or_init(|| walked)
            }
        };
        Ok(fresh.contains(&key) || is_in(reached))
    }

    fn walk(&self, repository: &Repository, ancestry: &Ancestry) -> Result<(HashSet<ObjectId>, Vec<bool>)> {
        let refs = repository.refs_under("refs/")?.into_iter();
        let refs = refs.filter(|(name, _)| !name.starts_with("refs/notes/")).map(|(_, tip)| tip);
        let tips: HashSet<ObjectId> = refs.chain(self.unknown.iter().copied()).collect();
        let is_known = |id| ancestry.place(id).is_some();
        let (mut known, mut fresh) = (Vec::new(), HashSet::new());
        for tip in tips {
            if let Some(place) = ancestry.place(tip) {
                known.push(place);
                continue;
            }
            fresh.insert(tip);
            if let Ok(Some(partial)) = repository.history_until(tip, is_known, MAX_COMMITS) {
                fresh.extend(partial.fresh().map(|(_, node)| node.id));
                known.extend(partial.edge().filter_map(|(_, node)| ancestry.place(node.id)));
            }
        }
        Ok((fresh, ancestry.reach(known).unwrap_or_default()))
    }
}
