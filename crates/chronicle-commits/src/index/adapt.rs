//! One file's record at the present state, made of its record in an older table.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use chronicle_core::{Sketch, reading::Match};
use chronicle_git::{BStr, BString, ByteSlice, Followed, LazyRepository, ObjectId, Repository, Touch};

use crate::{
    error::Result,
    gather::{Gathered, located, written_between, written_by},
    index::{
        Told,
        ancestry::Ancestry,
        drift::Drift,
        lines::ThenAndNow,
        part::{Part, Span, id_prefix, only},
        record_key, sketched,
        stored::{self, StoredRecord},
        table::{Table, Value},
    },
    matching::{Candidate, Ground},
    moved::{self, FileLines, Piece},
    notebook::{Notebook, SingleNotes, Stored},
    past::Walked,
    placing::{Placement, Version, place},
    present::Present,
    read::MAX_READ_AHEAD,
    record::{Claim, FileRecord, Heading, Step},
};

/// A record, and what its claims are placed in.
pub(super) struct Placed {
    pub(super) record: FileRecord,
    /// The bytes of the file.
    pub(super) content: Vec<u8>,
    pub(super) lines: Rc<FileLines>,
}

/// What a table says about one file, and what it takes to bring that up to date.
pub(super) struct Outdated<'a> {
    pub(super) lazy: &'a LazyRepository,
    pub(super) part: &'a Part,
    pub(super) table: &'a Table,
    pub(super) ancestry: &'a Ancestry,
    /// What the table says; `None` when its commit had no such file and never had one.
    pub(super) stored: Option<StoredRecord<'a>>,
    /// The line words of the table's version.
    pub(super) words: Value,
    pub(super) path: &'a BStr,
}

impl Outdated<'_> {
    /// The record at the commit `head`; `None` when only the whole history tells.
    pub(super) fn adapt(self, span: &Span, head: ObjectId) -> Result<Option<Placed>> {
        if self.stored.as_ref().is_some_and(|stored| stored.has_lost) {
            return Ok(None);
        }
        let repository = self.lazy.get()?;
        let path = self.path.to_owned();
        let file = std::slice::from_ref(&path);
        let followed = repository.follow_until(&span.gained, file)?;
        if !goes_by(&path, &followed, span.gained.edge().map(|(place, _)| place)) {
            return Ok(None);
        }
        if self.may_be_renamed(span) {
            let lost = repository.follow_until(&span.lost, file)?;
            if !goes_by(&path, &lost, span.lost.edge().map(|(place, _)| place)) {
                return Ok(None);
            }
        }
        let tree = repository.commit_tree(head)?;
        let blob = repository.blob_at(tree, self.path)?;
        let content = blob.map(|blob| repository.blob_if_here(blob)).transpose()?.flatten();
        let Some(content) = content else { return Ok(None) };
        let other_names = self.stored.iter().flat_map(|stored| &stored.names);
        let other_names: Vec<BString> = other_names.map(|name| name.as_str().into()).collect();
        let present = Present::new(path.clone(), Some(&content));
        let lines = Rc::new(FileLines::of(&content));
        if self.may_have_gained_code(head, &lines, &present)? {
            return Ok(None);
        }
        let Some(mut base) = self.base_record(repository, &content, &present)? else { return Ok(None) };
        let is_told_late = self.part.is_told_late(self.path);
        if is_told_late && base.steps.len() < base.places.len() {
            let Some(steps) = self.steps(repository, &base.places)? else { return Ok(None) };
            base.steps = steps;
        }
        let Some(candidates) = self.candidates(repository, (span, &followed), &base, &other_names)? else {
            return Ok(None);
        };
        let notebook = Notebook::empty(repository);
        let history = &span.gained.history;
        let walked = Walked::new(repository, history, &followed);
        let ground = Ground::new(repository, &notebook, &walked, file, false);
        let ground = ground.once_called(other_names);
        let mut gathered = Gathered::from(&ground, &candidates);
        let news = gathered.place(0, &present)?;
        drop(gathered);
        let record = self.joined(base, news, span, &followed);
        Ok(record.map(|record| Placed { record, content, lines }))
    }

    /// Whether the file may have another name where the commits that went begin.
    fn may_be_renamed(&self, span: &Span) -> bool {
        let Some(stored) = &self.stored else { return true };
        // Commits that know it by another name are older than the newest that renamed it.
        let is_older = |at: u32| {
            let mut known = span.lost.edge().map(|(_, node)| self.ancestry.place(node.id));
            known.any(|place| place.is_none_or(|place| at < place))
        };
        stored.renamed_at.is_some_and(is_older)
    }

    /// Whether code in it may have come from another file since, or gone back there.
    fn may_have_gained_code(
        &self,
        head: ObjectId,
        here_now: &Rc<FileLines>,
        present: &Present<'_>,
    ) -> Result<bool> {
        let lines = ThenAndNow::new((self.table, self.part), self.lazy, head);
        let here = [lines.then(self.path), Rc::clone(here_now)];
        let came = |(file, telling): (&BString, &[u32])| {
            let is_gone = || lines.now(file.as_bstr()).n_of(telling) < here[1].n_of(telling);
            file != self.path && here[1].may_hold(telling) && is_gone()
        };
        if self.part.sketched().any(came) {
            return Ok(true);
        }
        let may_be_here = |telling: &[u32]| here[0].may_hold(telling) || here[1].may_hold(telling);
        let mut sketched: BTreeMap<BString, Vec<Piece>> = BTreeMap::new();
        for source in self.stored.iter().flat_map(|stored| &stored.sources) {
            let source = source.as_bytes().as_bstr();
            if self.part.has_changed(source) {
                let Some(pieces) = sketched::of_file(self.table, source, &may_be_here) else {
                    return Ok(true);
                };
                if !pieces.is_empty() {
                    sketched.insert(source.to_owned(), pieces);
                }
            }
        }
        let gained = here[1].without(&here[0]);
        let is_gained = |telling: &[u32]| 0 < gained.n_of(telling) && may_be_here(telling);
        for (file, pieces) in sketched::files_with(self.table, (&gained, 1), &is_gained) {
            sketched.entry(file).or_insert(pieces);
        }
        sketched.remove(self.path.as_bytes().as_bstr());
        let mut told = None;
        for (file, mut pieces) in sketched {
            let there = [lines.then(file.as_bstr()), lines.now(file.as_bstr())];
            pieces.retain(|piece| self.has_changed_hands(piece, &here, &there));
            if pieces.is_empty() {
                continue;
            }
            let told = told.get_or_insert_with(|| self.told_from());
            let is_told = told.as_ref().is_none_or(|told| told.contains(&file));
            if is_told || self.may_have_arrived(&file, &pieces, present)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The files of which the table tells something here, the code having come from there; `None` where that is damaged.
    fn told_from(&self) -> Option<BTreeSet<BString>> {
        let mut told = BTreeSet::new();
        if let Some(stored) = self.stored.clone() {
            let nothing = Told { summaries: false, relations: false, commits: false };
            stored.load(self.table, &self.path.to_string(), None, nothing, |_, name, _| {
                told.insert(name.trim_start_matches("./").into());
                false
            })?;
        }
        Some(told)
    }

    /// Whether one of these pieces of code, of which nothing is told here, may be in `present` as it has to be to be told:
    /// what is claimed about it is looked for there as the whole history would do it.
    fn may_have_arrived(&self, file: &BString, pieces: &[Piece], present: &Present<'_>) -> Result<bool> {
        let nothing = Told { summaries: false, relations: false, commits: false };
        let load = |bytes: &[u8]| {
            stored::parse(bytes)?.load(self.table, &file.to_string(), None, nothing, |_, _, _| true)
        };
        let record = self.table.get(&record_key(file.as_bstr())).and_then(|bytes| load(&bytes));
        // Of a file that is gone there is no record, nor does it say who relies on what.
        let Some(record) = record.filter(|_| !pieces.iter().any(|piece| piece.is_relied_on)) else {
            return Ok(true);
        };
        let repository = self.lazy.get()?;
        let mut is_found = vec![false; pieces.len()];
        for claim in &record.claims {
            let heading = &record.headings[claim.heading];
            let located = located(claim, heading);
            let telling = located.around.or(located.sketch).map(Sketch::telling);
            let is_meant = |piece: &Piece| Some(&piece.telling) == telling.as_ref();
            if !pieces.iter().any(is_meant) {
                continue;
            }
            is_found.iter_mut().zip(pieces).for_each(|(is_found, piece)| *is_found |= is_meant(piece));
            let tree = repository.commit(heading.commit).ok().map(|commit| commit.tree);
            if moved::placed(repository, present, &located, tree)?.is_some() {
                return Ok(true);
            }
        }
        // What is claimed of each of them is there, or the table is damaged.
        Ok(is_found.contains(&false))
    }

    /// Whether a piece of code that another file had, or has, may be where it was not. Lines are those of the table's
    /// commit and those of HEAD, of this file and of the other.
    fn has_changed_hands(
        &self,
        piece: &Piece,
        here: &[Rc<FileLines>; 2],
        there: &[Rc<FileLines>; 2],
    ) -> bool {
        let telling = &piece.telling;
        let n_of = |lines: &[Rc<FileLines>; 2]| [lines[0].n_of(telling), lines[1].n_of(telling)];
        let (n_here, n_there) = (n_of(here), n_of(there));
        // Where neither file has more or less of it than it had, it is where it was.
        if n_here[0] == n_here[1] && n_there[0] == n_there[1] {
            return false;
        }
        // With fewer of its lines in the other file no fewer files hold it, but for those that changed.
        if n_there[1] <= n_there[0] && piece.is_in_many(self.part.touched.len()) {
            return false;
        }
        let has_come = |at: usize| here[at].may_hold(telling) && n_there[at] < n_here[at];
        has_come(0) || has_come(1)
    }

    /// What the table says, placed in `present`; `None` when it cannot be read.
    fn base_record(
        &self,
        repository: &Repository,
        content: &[u8],
        present: &Present<'_>,
    ) -> Result<Option<FileRecord>> {
        let Some(stored) = &self.stored else { return Ok(Some(FileRecord::default())) };
        let all = Told { summaries: true, relations: true, commits: true };
        let Some(mut record) =
            stored.clone().load(self.table, &self.path.to_string(), None, all, |_, _, _| true)
        else {
            return Ok(None);
        };
        if stored.content.is_none_or(|hash| hash == super::content_hash(content)) {
            return Ok(Some(record));
        }
        let Some(drift) = Drift::new(self.lazy, self.path, &self.words, content, stored.is_opaque) else {
            return Ok(None);
        };
        let came_back = drift.came_back(&record.lost);
        let claims = std::mem::take(&mut record.claims).into_iter();
        let claims: Vec<(bool, Claim)> = claims
            .map(|mut claim| (drift.carry_untouched(&mut claim.placement, came_back).is_none(), claim))
            .collect();
        let damaged = claims.iter().filter(|(is_damaged, _)| *is_damaged);
        let versions: BTreeSet<ObjectId> =
            damaged.flat_map(|(_, claim)| versions(claim, &record.steps)).collect();
        repository.read_ahead(versions.into_iter().take(MAX_READ_AHEAD).collect());
        for (is_damaged, mut claim) in claims {
            if !is_damaged {
                record.claims.push(claim);
                continue;
            }
            let heading = &record.headings[claim.heading];
            if record.is_elsewhere(&claim.name) {
                let tree = repository.commit(heading.commit).ok().map(|commit| commit.tree);
                let located = located(&claim, heading);
                if let Some(placement) = moved::placed(repository, present, &located, tree)? {
                    record.claims.push(Claim { placement, ..claim });
                }
                continue;
            }
            let step = self.certain_step(&record.steps, &claim, heading);
            let Some(placement) = self.placed(repository, (&claim, heading, step), present)? else {
                return Ok(None);
            };
            claim.placement = placement;
            record.claims.push(claim);
        }
        Ok(Some(record))
    }

    /// What the commits at `places` of the table's history did to the file, about which nothing was claimed then; `None` when
    /// only the whole history tells.
    fn steps(&self, repository: &Repository, places: &[u32]) -> Result<Option<Vec<Step>>> {
        if self.has_other_names() {
            return Ok(None);
        }
        let mut steps = Vec::with_capacity(places.len());
        for first in self.ancestry.prefixes(places) {
            let Some(commit) = repository.only_object(first) else { return Ok(None) };
            let own = only(repository, &commit)?;
            let blob = |tree: ObjectId| repository.blob_at(tree, self.path);
            let node = &own.nodes()[0];
            let old = match node.parents[..] {
                [parent] => Some(blob(own.node(parent).tree)?),
                _ => None,
            };
            steps.push(Step { commit, blob: blob(node.tree)?, old });
        }
        Ok(Some(steps))
    }

    /// What the commit of `claim` did to the file, if that is certain without a look into its tree.
    fn certain_step(&self, steps: &[Step], claim: &Claim, heading: &Heading) -> Option<Step> {
        if self.has_other_names() || self.path != claim.name.as_str() {
            return None;
        }
        let mut made = steps.iter().filter(|step| step.commit == heading.commit);
        made.next().copied().filter(|_| made.next().is_none())
    }

    /// Where `claim` is in `present`, found without the table; `None` when that takes the whole history.
    fn placed(
        &self,
        repository: &Repository,
        (claim, heading, step): (&Claim, &Heading, Option<Step>),
        present: &Present<'_>,
    ) -> Result<Option<Placement>> {
        if claim.placement.matched != Match::Commit {
            let tree = || repository.commit(heading.commit).ok().map(|commit| commit.tree);
            let version = step.map_or_else(|| Version::In(tree()), |step| Version::Blob(step.blob));
            return Ok(Some(place(repository, present, &located(claim, heading), version)?));
        }
        if let Some(Step { old: Some(old), blob, .. }) = step {
            return Ok(Some(written_between(repository, (old, blob), present)?));
        }
        let own = only(repository, &heading.commit)?;
        // The claim goes by the name that the file had in its commit.
        let name = if self.path == claim.name.as_str() { self.path } else { claim.name.as_str().into() };
        let is_name = name == self.path || !claim.name.contains(char::REPLACEMENT_CHARACTER);
        let (Some(node), true) = (own.nodes().first(), is_name) else { return Ok(None) };
        let parents: Vec<ObjectId> = node.parents.iter().map(|parent| own.node(*parent).tree).collect();
        let olds = parents.iter().map(|tree| Ok(repository.blob_at(*tree, name)?));
        let olds: Vec<Option<ObjectId>> = olds.collect::<Result<_>>()?;
        // A file that ever went by other names may have had another one in any parent that lacks it.
        let n_looked_at = if self.has_other_names() { olds.len() } else { olds.len().min(1) };
        let may_be_renamed = olds[..n_looked_at].contains(&None);
        if may_be_renamed && !self.stored.as_ref().is_some_and(|stored| stored.begins_with(heading.commit)) {
            return Ok(None);
        }
        let (old, new) = (olds.first().copied().flatten(), repository.blob_at(node.tree, name)?);
        let name = name.to_owned();
        let touch = Touch { place: 0, name, old, new, renamed_from: None };
        let candidate = Candidate::new(heading.commit, Stored::default(), None, node, parents, None);
        Ok(Some(written_by(repository, &candidate, &touch, present)?))
    }

    fn has_other_names(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| !stored.names.is_empty())
    }

    /// The annotated commits whose notes the table does not know, as far as they may concern the file.
    fn candidates(
        &self,
        repository: &Repository,
        (span, followed): (&Span, &Followed),
        base: &FileRecord,
        other_names: &[BString],
    ) -> Result<Option<Vec<Candidate>>> {
        let history = &span.gained.history;
        let mut touches: BTreeMap<u32, &Touch> = BTreeMap::new();
        touches.extend(followed.files[0].touches.iter().map(|touch| (touch.place, touch)));
        let mut candidates = Vec::new();
        let mut opened = None;
        for fresh in &self.part.fresh {
            let Some(key) = fresh.commit.get() else { continue };
            let place = history.place(key).filter(|place| !span.gained.is_edge[*place as usize]);
            let touch = place.and_then(|place| touches.get(&place));
            let concerns_earlier = other_names.iter().any(|name| fresh.concerns(name));
            if touch.is_none() && !fresh.concerns(self.path) && !concerns_earlier {
                continue;
            }
            if fresh.is_orphan {
                return Ok(None);
            }
            // What a new commit says of an earlier name may be about another file that has it now.
            if place.is_some() && concerns_earlier {
                return Ok(None);
            }
            let notes = match &mut opened {
                Some(notes) => notes,
                None => opened.insert(SingleNotes::open(repository, &mut Vec::new())?),
            };
            let stored = notes.stored_on(key)?;
            if let Some(place) = place {
                let touch = touch.map(|touch| (0, (*touch).clone()));
                let node = history.node(place);
                let parents = node.parents.iter().map(|parent| history.node(*parent).tree).collect();
                candidates.push(Candidate::new(key, stored, Some(place), node, parents, touch));
                continue;
            }
            // An older commit was annotated: which of the file's versions it made is known.
            let own = only(repository, &key)?;
            let node = &own.nodes()[0];
            let parents: Vec<ObjectId> = node.parents.iter().map(|parent| own.node(*parent).tree).collect();
            let is_touched = self.ancestry.place(key).is_some_and(|place| base.places.contains(&place));
            let touch = if is_touched {
                let Some(touch) =
                    self.older_touch(repository, (key, node.tree, &parents), base, other_names)?
                else {
                    return Ok(None);
                };
                Some((0, touch))
            } else if other_names.is_empty() {
                None
            } else {
                return Ok(None);
            };
            candidates.push(Candidate::new(key, stored, None, node, parents, touch));
        }
        Ok(Some(candidates))
    }

    /// What the older commit `key` did to the file; `None` when its name there is not certain, or not the one that it
    /// had before.
    fn older_touch(
        &self,
        repository: &Repository,
        (key, tree, parents): (ObjectId, ObjectId, &[ObjectId]),
        base: &FileRecord,
        other_names: &[BString],
    ) -> Result<Option<Touch>> {
        let blob = |tree: ObjectId, name: &BString| repository.blob_at(tree, name.as_bstr());
        let path = self.path.to_owned();
        let touch = |name: &BString| -> Result<Touch> {
            let old = parents.first().map(|tree| blob(*tree, name)).transpose()?.flatten();
            Ok(Touch { place: 0, name: name.clone(), old, new: blob(tree, name)?, renamed_from: None })
        };
        let is_first = || parents.is_empty() || base.steps.last().is_some_and(|last| last.commit == key);
        if other_names.is_empty() {
            let touch = touch(&path)?;
            return Ok(Some(touch).filter(|touch| touch.old.is_some() || is_first()));
        }
        // Of all names that the file ever had, the commit has one, with the blob that the file had then.
        let mut made = base.steps.iter().filter(|step| step.commit == key);
        let (Some(step), None) = (made.next(), made.next()) else { return Ok(None) };
        let mut here = Vec::new();
        for name in other_names.iter().chain([&path]) {
            here.extend(blob(tree, name)?.map(|blob| (name, blob)));
        }
        let [(name, blob_here)] = here[..] else { return Ok(None) };
        if step.blob != Some(blob_here) {
            return Ok(None);
        }
        // Where a parent lacks it, the commit may have renamed it.
        for parent in parents {
            if blob(*parent, name)?.is_none() && !is_first() {
                return Ok(None);
            }
        }
        touch(name).map(Some)
    }

    /// The old record without what went, and the new one.
    fn joined(
        &self,
        mut base: FileRecord,
        news: FileRecord,
        span: &Span,
        followed: &Followed,
    ) -> Option<FileRecord> {
        let changed: BTreeSet<ObjectId> = self.part.changed.iter().filter_map(stored::Id::get).collect();
        let is_lost = |id: ObjectId| self.part.lost.contains(&id_prefix(id));
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);

        let kept_places: Vec<u32> = base.places.iter().copied().filter(|place| span.keeps(*place)).collect();
        let n_lost = count(base.places.len() - kept_places.len());
        let gained: Vec<&Touch> = followed.files[0].touches.iter().collect();
        let n_gained = count(gained.len());
        let not_reached_from = |tips: Vec<u32>| -> Option<u32> {
            let reached = self.ancestry.reach(tips)?;
            Some(count(kept_places.iter().filter(|place| !reached[**place as usize]).count()))
        };

        let mut record = FileRecord {
            names: std::mem::take(&mut base.names),
            sources: std::mem::take(&mut base.sources),
            places: gained
                .iter()
                .map(|touch| u32::MAX - touch.place)
                .chain(kept_places.iter().copied())
                .collect(),
            ..FileRecord::default()
        };
        let node = |touch: &Touch| span.gained.history.node(touch.place);
        record.steps =
            gained.iter().map(|touch| Step::of(touch, node(touch).id, node(touch).parents.len())).collect();
        // How many of the steps before each of them are lost, and before the end.
        let mut lost_before = vec![0];
        for step in &base.steps {
            let is_lost = is_lost(step.commit);
            lost_before.push(lost_before[lost_before.len() - 1] + u32::from(is_lost));
            record.steps.extend((!is_lost).then_some(step));
        }

        let mut heading_of = BTreeMap::new();
        for (number, heading) in base.headings.into_iter().enumerate() {
            let Some(heading) = self.part.still_said(heading) else { continue };
            record.headings.push(heading);
            heading_of.insert(number, record.headings.len() - 1);
        }
        for mut claim in base.claims {
            let Some(heading) = heading_of.get(&claim.heading) else { continue };
            claim.heading = *heading;
            if record.headings[*heading].elsewhere.is_some() {
                (claim.commits_since, claim.n_newer) = (None, None);
            }
            claim.commits_since = claim.commits_since.map(|n| (n + n_gained).saturating_sub(n_lost));
            claim.n_newer =
                claim.n_newer.map(|n| n_gained + n - lost_before.get(n as usize).copied().unwrap_or(0));
            record.claims.push(claim);
        }
        for mut reliance in base.reliances {
            let Some(heading) = heading_of.get(&reliance.heading) else { continue };
            reliance.heading = *heading;
            record.reliances.push(reliance);
        }
        for mut concern in base.concerns {
            let Some(heading) = heading_of.get(&concern.heading) else { continue };
            concern.heading = *heading;
            record.concerns.push(concern);
        }
        record.annotated = base.annotated.into_iter().filter(|key| !self.part.is_dropped(*key)).collect();
        let speaks_of_changed =
            |warning: &String| changed.iter().any(|key| warning.contains(&key.to_string()));
        record.warnings = base.warnings.into_iter().filter(|warning| !speaks_of_changed(warning)).collect();

        let is_new = |source: &String| !record.sources.contains(source);
        let new_sources: Vec<String> = news.sources.into_iter().filter(is_new).collect();
        record.sources.extend(new_sources);
        let offset = record.headings.len();
        record.headings.extend(news.headings);
        for mut claim in news.claims {
            claim.heading += offset;
            let commit = record.headings[claim.heading].commit;
            match span.gained.history.place(commit).filter(|place| !span.gained.is_edge[*place as usize]) {
                Some(place) => {
                    let edges = reachable_edges(span, place).into_iter();
                    let tips = edges.filter_map(|id| self.ancestry.place(id)).collect();
                    let older = not_reached_from(tips)?;
                    claim.commits_since = claim.commits_since.map(|since| since + older);
                }
                None => {
                    let place = self.ancestry.place(commit)?;
                    claim.commits_since = Some(n_gained + not_reached_from(vec![place])?);
                    let newer = kept_places.partition_point(|kept| *kept < place);
                    claim.n_newer = Some(n_gained + count(newer));
                }
            }
            record.claims.push(claim);
        }
        for mut reliance in news.reliances {
            reliance.heading += offset;
            record.reliances.push(reliance);
        }
        for mut concern in news.concerns {
            concern.heading += offset;
            record.concerns.push(concern);
        }
        record.annotated.extend(news.annotated);
        record.warnings.extend(news.warnings);
        Some(record)
    }
}

/// The versions of the file that it most probably takes to place `claim`: what it was recorded in, what its
/// commit made and what that made it of.
fn versions(claim: &Claim, steps: &[Step]) -> Vec<ObjectId> {
    let recorded_in = claim.placement.recorded_in.map(|(blob, _)| blob);
    let newer = claim.n_newer.filter(|_| claim.placement.matched == Match::Commit);
    let made = newer.and_then(|newer| steps.get(newer as usize..)).into_iter().flatten().take(2);
    recorded_in.into_iter().chain(made.filter_map(|step| step.blob)).collect()
}

/// Whether the file goes by `path` and no other name wherever the walk ended.
fn goes_by(path: &BString, followed: &Followed, mut edges: impl Iterator<Item = u32>) -> bool {
    let has_moved = followed.files[0].touches.iter().any(|touch| touch.renamed_from.is_some());
    !has_moved
        && edges.all(|place| {
            let names = followed.names_at(place, 0);
            names.is_empty() || names == [path.as_bstr().to_owned()]
        })
}

/// The known commits that the gained commit at `place` builds on.
fn reachable_edges(span: &Span, place: u32) -> Vec<ObjectId> {
    let history = &span.gained.history;
    let mut reached = BTreeSet::from([place]);
    let mut edges = Vec::new();
    while let Some(place) = reached.pop_first() {
        if span.gained.is_edge[place as usize] {
            edges.push(history.node(place).id);
        }
        // Parents have higher places: none is met twice.
        reached.extend(&history.node(place).parents);
    }
    edges
}
