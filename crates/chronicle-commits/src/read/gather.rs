//! Gathers everything that notes say about some files, each claim placed in the files as they are now.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chronicle_core::{
    Anchor, Annotation, ContextLevel, DependsOn, Entry, EntryId, GoneBecause, Region, Sketch, Source,
    Statement,
    correction::Tier,
    reading::{CrossCuttingItem, State},
    score,
};
use chronicle_git::{BString, ByteSlice, ObjectId, Repository};
use jiff::Timestamp;
use twox_hash::XxHash3_128;

use crate::{
    error::Result,
    note::claim_id::summary_id_of,
    past::{
        FileHistory, Touch,
        placements::{Placements, key_of_named, key_of_written},
    },
    place::{
        code_lines::is_telling,
        introduced,
        line_index::{Holding, LineIndex, MAX_HOLDERS, Own},
        moved::Arrival,
        placing::{Located, Placement, Version, place},
        present::{Compared, Kind, Left, Present},
        was_here::Versions,
    },
    read::{
        matching::{Candidate, ReadContext, Side, malformed},
        record::{Body, Claim, Concern, FileRecord, Heading, Reliance, Step, expiry},
    },
};

/// What notes say about the files in scope, not yet placed: one list for each file.
pub(crate) struct Gathered<'a> {
    context: &'a ReadContext<'a>,
    candidates: &'a [Candidate],
    files: Vec<(FileRecord, Vec<Tied>)>,
    placements: Option<&'a Placements<'a>>,
    /// For each file that was looked up, the placements that are known, by claim, and the keys of the others.
    known: HashMap<usize, Vec<KnownPlacement>>,
}

/// A placement that was found before, or the key to keep it by when it is found.
type KnownPlacement = (Option<Placement>, Option<u128>);

/// How a claim of a record is tied to the file; claim and tie have the same number.
#[derive(Debug, Clone)]
enum Tied {
    /// Its note names the file.
    Named { candidate: usize },
    /// Its commit, which touched the file, is what it is about.
    Written { candidate: usize, touch: usize },
    /// Its note names another file, and the code may have come from there.
    Moved { candidate: usize, side: Side },
}

impl<'a> Gathered<'a> {
    /// Takes apart what the notes of `candidates` say.
    pub(crate) fn from(context: &'a ReadContext<'a>, candidates: &'a [Candidate]) -> Self {
        let mut files = Vec::with_capacity(context.paths.len());
        for (file, path) in context.past.files().iter().zip(context.paths) {
            let steps = file.touches.iter().map(|touch| {
                let (commit, n_parents) = context.past.id(touch.place);
                Step::of(touch, commit, n_parents)
            });
            let record = FileRecord {
                names: other_names(file, path),
                places: file.touches.iter().map(|touch| touch.place).collect(),
                steps: steps.collect(),
                ..FileRecord::default()
            };
            files.push((record, Vec::new()));
        }
        let mut gathered = Self { context, candidates, files, placements: None, known: HashMap::new() };
        let line_index = context.line_index_for(candidates);
        if let Some(line_index) = line_index {
            let sketched = candidates.iter().filter(|candidate| candidate.stored.is_sketched);
            context
                .see_renamed(sketched.flat_map(|candidate| out_of(context, line_index, candidate)).collect());
        }
        for (number, candidate) in candidates.iter().enumerate() {
            let Self { files, .. } = &mut gathered;
            let meant = BTreeSet::new();
            Gatherer { context, line_index, number, candidate, files, meant }.gather();
        }
        gathered
    }

    /// The same, where `placements` are known.
    pub(crate) fn knowing(self, placements: &'a Placements<'a>) -> Self {
        Self { placements: Some(placements), ..self }
    }

    /// Looks up what is known of where claims are in `present`, which is the file number `number` with these bytes.
    pub(crate) fn look_up(&mut self, number: usize, present: &Present<'_>, bytes: Option<&[u8]>) {
        let (Some(placements), Some(bytes)) = (self.placements, bytes) else { return };
        let target = XxHash3_128::oneshot(bytes);
        let (record, ties) = &self.files[number];
        let mut written: Option<((usize, usize), KnownPlacement)> = None;
        let known = record.claims.iter().zip(ties).map(|(claim, tied)| {
            let heading = &record.headings[claim.heading];
            match tied {
                Tied::Moved { .. } => (None, None),
                Tied::Named { .. } => {
                    let key = key_of_named(target, present, heading.commit, &located(claim, heading));
                    (key.and_then(|key| placements.get(key)), key)
                }
                Tied::Written { candidate, touch } => match &written {
                    Some((of, known)) if *of == (*candidate, *touch) => known.clone(),
                    _ => {
                        let (_, what) = &self.candidates[*candidate].touches[*touch];
                        let key = key_of_written(target, present, heading.commit, &what.name);
                        let known = (key.and_then(|key| placements.get(key)), key);
                        written.insert(((*candidate, *touch), known)).1.clone()
                    }
                },
            }
        });
        let known = known.collect();
        self.known.insert(number, known);
    }

    /// Whether anything is said about the file number `number` that has a place in it.
    pub(crate) fn has_claims(&self, number: usize) -> bool {
        !self.files[number].1.is_empty()
    }

    /// The versions of the file that are looked at when its claims are placed.
    pub(crate) fn versions(&self, number: usize) -> Vec<ObjectId> {
        let known = self.known.get(&number);
        let ties = self.files[number].1.iter().enumerate();
        let unknown = ties.filter(|(claim, _)| known.is_none_or(|known| known[*claim].0.is_none()));
        let versions = unknown.flat_map(|(_, tied)| match tied {
            Tied::Named { .. } | Tied::Moved { .. } => [None, None],
            Tied::Written { candidate, touch } => {
                let (_, touch) = &self.candidates[*candidate].touches[*touch];
                [touch.old, touch.new]
            }
        });
        versions.flatten().collect()
    }

    /// What is known about the files, no claim placed.
    pub(crate) fn unplaced(self) -> impl Iterator<Item = FileRecord> {
        self.files.into_iter().map(|(record, _)| record)
    }

    /// What is known about the file number `number`, each claim placed in `present`.
    pub(crate) fn place(&mut self, number: usize, present: &Present<'_>) -> Result<FileRecord> {
        self.read_versions(number, present)?;
        let (mut record, ties) = std::mem::take(&mut self.files[number]);
        let file = &self.context.past.files()[number];
        let mut written: Option<((usize, usize), Placement)> = None;
        let versions = Versions::new(self.context.repository, self.context.past, file);
        let known = self.known.remove(&number).unwrap_or_else(|| vec![(None, None); ties.len()]);
        let claims = std::mem::take(&mut record.claims).into_iter().zip(ties).zip(known);
        for ((mut claim, tied), (known, key)) in claims {
            let is_known = known.is_some();
            claim.placement = match (&tied, known) {
                (_, Some(known)) => known,
                (tied, None) => match *tied {
                    Tied::Moved { candidate, side } => {
                        let located = located(&claim, &record.headings[claim.heading]);
                        let (context, by, located) = (self.context, &self.candidates[candidate], &located);
                        match (Arrival { context, number, present, located, by, side }).placement()? {
                            Some(placement) => placement,
                            None => continue,
                        }
                    }
                    Tied::Named { candidate } => {
                        let located = located(&claim, &record.headings[claim.heading]);
                        let by = &self.candidates[candidate];
                        // What the commit touched needs no look into its tree.
                        let touched = by.touches.iter().find(|(touched, touch)| {
                            *touched == number && touch.name == claim.name.as_bytes()
                        });
                        let version = match touched {
                            Some((_, touch)) => Version::Blob(touch.new),
                            None => Version::In(by.tree),
                        };
                        place(self.context.repository, present, &located, version)?
                    }
                    Tied::Written { candidate, touch } => match &written {
                        // The claims about one commit come one after the other.
                        Some((of, placement)) if *of == (candidate, touch) => placement.clone(),
                        _ => {
                            let by = &self.candidates[candidate];
                            let placement =
                                written_by(self.context.repository, by, &by.touches[touch].1, present)?;
                            written.insert(((candidate, touch), placement)).1.clone()
                        }
                    },
                },
            };
            if let (Some(placements), Some(key), false, true) =
                (self.placements, key, is_known, claim.placement.by_version)
            {
                placements.put(key, &claim.placement);
            }
            if let Tied::Named { candidate } | Tied::Written { candidate, .. } = tied
                && let by = &self.candidates[candidate]
                && by.place.is_none()
            {
                let located = located(&claim, &record.headings[claim.heading]);
                let found = match claim.placement.state {
                    State::Gone => versions.same_change(by, &located)?,
                    State::Intact | State::Changed => None,
                };
                let found = found.map(|(blob, run)| {
                    let located = Located { lines: Some(run), foreign_commit: None, ..located };
                    place(self.context.repository, present, &located, Version::Blob(Some(blob)))
                });
                let found = found.transpose()?;
                let is_of_here =
                    versions.concern(number, by, &located, found.as_ref().unwrap_or(&claim.placement));
                claim.placement = found.unwrap_or(claim.placement);
                if !is_of_here {
                    if !self.context.shows_all() {
                        continue;
                    }
                    claim.placement.because = Some(GoneBecause::NotOnThisBranch);
                }
            }
            let commit = record.headings[claim.heading].commit;
            if let Some(place) = self.context.past.place(commit) {
                claim.commits_since = Some(self.context.past.touches_since(number, place)?);
                let newer = file.touches.partition_point(|touch| touch.place < place);
                claim.n_newer = u32::try_from(newer).ok();
            }
            record.claims.push(claim);
        }
        Ok(record)
    }

    /// Reads the versions that are looked at in the order in which they were made: it costs least, since each has most
    /// of its lines from the one before.
    fn read_versions(&self, number: usize, present: &Present<'_>) -> Result<()> {
        if present.locator.is_none() || present.is_opaque {
            return Ok(());
        }
        let versions: HashSet<ObjectId> = self.versions(number).into_iter().collect();
        let touches = self.context.past.files()[number].touches.iter();
        for version in touches.flat_map(|touch| [touch.new, touch.old]).flatten() {
            if versions.contains(&version) {
                present.words(self.context.repository, version)?;
            }
        }
        Ok(())
    }
}

/// Where the lines are that `touch` wrote.
fn written_by(
    repository: &Repository,
    candidate: &Candidate,
    touch: &Touch,
    present: &Present<'_>,
) -> Result<Placement> {
    let Some(new) = touch.new.filter(|_| present.locator.is_some()) else {
        let because = Some(GoneBecause::Deleted);
        return Ok(Placement { because, ..Placement::commit_wide(Vec::new(), State::Gone) });
    };
    if present.is_opaque {
        return Ok(Placement::commit_wide(Vec::new(), State::Changed));
    }
    let versions = Compared { repository, present };
    let written = match (&candidate.parents[..], &touch.renamed_from) {
        // The walk has seen the one version before already.
        ([_], None) => introduced::between(&[touch.old], new, &versions)?,
        (parents, previous) => {
            let (name, previous) = (touch.name.as_bstr(), previous.as_ref().map(|name| name.as_bstr()));
            introduced::by(repository, parents, name, previous, new, &versions)?
        }
    };
    let Some(written) = written else {
        return Ok(Placement::commit_wide(Vec::new(), State::Changed));
    };
    let Left { ranges, state, because } =
        present.locate_all(repository, new, &written.hunks, Kind::Written)?;
    Ok(Placement { by_version: true, because, ..Placement::commit_wide(ranges, state) })
}

fn other_names(file: &FileHistory, path: &BString) -> Vec<String> {
    let others = file.names().filter(|name| *name != path);
    let others: BTreeSet<String> = others.map(ToString::to_string).collect();
    others.into_iter().collect()
}

/// The part of a claim that says where it belongs.
pub(crate) fn located<'a>(claim: &'a Claim, heading: &'a Heading) -> Located<'a> {
    let (lines, places, sketch, around) = match &claim.body {
        Body::Region(region) => (region.lines, None, region.sketch.as_ref(), None),
        Body::Summary(_) => (None, None, None, None),
        Body::Wisdom(entry) => {
            (entry.lines, entry.places.as_deref(), entry.sketch.as_ref(), entry.around.as_ref())
        }
    };
    let foreign_commit = heading.foreign_commit.as_deref();
    Located { file: &claim.name, lines, places, sketch, around, foreign_commit }
}

/// The files out of scope that the note of `candidate` sketched code in which files in scope may hold now.
fn out_of(context: &ReadContext<'_>, line_index: &LineIndex, candidate: &Candidate) -> Vec<BString> {
    let note = &candidate.stored.note;
    let mut sketched = Vec::new();
    let mut relied = Vec::new();
    for document in note.documents() {
        for region in &document.regions {
            sketched.push((&region.file, region.sketch.as_ref()));
            relied.extend(&region.semantic_dependencies);
        }
    }
    for (_, entry) in note.entries() {
        sketched
            .extend(entry.file.as_ref().map(|file| (file, entry.around.as_ref().or(entry.sketch.as_ref()))));
        relied.extend(&entry.depends_on);
    }
    sketched.extend(relied.into_iter().map(|relied| (&relied.file, relied.sketch.as_ref())));
    sketched.retain(|(file, sketch)| {
        sketch.is_some_and(|sketch| line_index.may_hold(&sketch.telling()))
            && context.files_named(candidate, file).is_empty()
    });
    sketched.into_iter().map(|(file, _)| file.trim_start_matches("./").into()).collect()
}

/// A claim that declares what it relies on.
struct Declarer<'n> {
    id: &'n EntryId,
    expires: Option<Timestamp>,
    file: Option<&'n String>,
    anchor: Option<&'n Anchor>,
}

/// Takes what one annotated commit says apart, file by file.
struct Gatherer<'a> {
    context: &'a ReadContext<'a>,
    /// Which files hold which lines; `None` where no note has a sketch.
    line_index: Option<&'a LineIndex>,
    number: usize,
    candidate: &'a Candidate,
    files: &'a mut [(FileRecord, Vec<Tied>)],
    /// The files that it has anything to do with.
    meant: BTreeSet<usize>,
}

impl Gatherer<'_> {
    fn gather(mut self) {
        let candidate = self.candidate;
        let note = &candidate.stored.note;
        let statements = note.statements();
        // A summary that several say is told once, as that of who is trusted most: a copy may bear any date.
        let mut summaries: BTreeMap<&str, (Tier, &str)> = BTreeMap::new();
        for Statement { document, fingerprint, .. } in statements.iter().filter(|said| !said.is_replaced) {
            let tier = candidate.stored.voices.of_claim(&summary_id_of(fingerprint)).tier;
            let known = summaries.entry(&document.summary).or_insert((tier, fingerprint));
            if known.0 < tier {
                *known = (tier, fingerprint);
            }
        }
        for Statement { document, fingerprint, is_replaced } in statements {
            let summary = summary_id_of(fingerprint);
            for region in &document.regions {
                let Region { id, file, ast_anchor, sketch, .. } = region;
                let heading = heading(candidate, document, id);
                self.named(id, file, sketch.as_ref(), || Body::Region(Box::new(region.clone())), &heading);
                let by = Declarer { id, expires: None, file: Some(file), anchor: ast_anchor.as_ref() };
                self.reliances(&region.semantic_dependencies, &by, &heading);
            }
            let heading = heading(candidate, document, &summary);
            let is_told = summaries.get(document.summary.as_str()).is_some_and(|(_, by)| *by == fingerprint);
            if is_told && !is_replaced && !candidate.touches.is_empty() {
                self.everywhere(&summary, &Body::Summary(document.summary.clone()), &heading);
            }
            self.concerns(document, &heading);
        }
        for (document, entry) in note.entries() {
            let Entry { id, file, anchor, .. } = entry;
            let heading = heading(candidate, document, id);
            match file {
                Some(file) => {
                    let sketch = entry.around.as_ref().or(entry.sketch.as_ref());
                    self.named(id, file, sketch, || Body::Wisdom(Box::new(entry.clone())), &heading);
                }
                None => self.everywhere(id, &Body::Wisdom(Box::new(entry.clone())), &heading),
            }
            let (file, anchor) = (file.as_ref(), anchor.as_ref());
            let by = Declarer { id, expires: expiry(entry), file, anchor };
            self.reliances(&entry.depends_on, &by, &heading);
        }
        self.annotated();
    }

    /// Notes which files the commit has anything to do with.
    fn annotated(mut self) {
        let candidate = self.candidate;
        let remarks = malformed(candidate.key, &candidate.stored);
        let touched: BTreeSet<usize> = candidate.touches.iter().map(|(number, _)| *number).collect();
        self.meant.extend(&touched);
        if !remarks.is_empty() {
            let mentioned =
                (0..self.files.len()).filter(|number| self.context.is_mentioned(*number, candidate));
            self.meant.extend(mentioned);
        }
        for number in self.meant {
            let record = &mut self.files[number].0;
            record.annotated.extend(touched.contains(&number).then_some(candidate.key));
            record.warnings.extend(remarks.iter().cloned());
        }
    }

    /// One claim for each file that `name` means, and for those that may have the code that was sketched there.
    fn named(
        &mut self,
        id: &EntryId,
        name: &str,
        sketch: Option<&Sketch>,
        body: impl Fn() -> Body,
        heading: &Heading,
    ) {
        let named = self.context.files_named(self.candidate, name);
        for (file, side) in self.sketched(sketch, &named, name) {
            let tied = Tied::Moved { candidate: self.number, side };
            self.claim(file, id, body(), name.to_owned(), tied, heading);
        }
        for file in named {
            self.meant.insert(file);
            let tied = Tied::Named { candidate: self.number };
            self.claim(file, id, body(), name.to_owned(), tied, heading);
        }
    }

    /// The other files that the code may have gone to which was sketched in `files`, which the note calls `name`.
    fn sketched(&mut self, sketch: Option<&Sketch>, files: &[usize], name: &str) -> Vec<(usize, Side)> {
        let sketch = sketch.filter(|sketch| is_telling(sketch));
        let (Some(line_index), Some(sketch)) = (self.line_index, sketch) else { return Vec::new() };
        let telling = sketch.telling();
        let mut holding = line_index.holding(self.context, &telling, &Own { files, name });
        let source = name.trim_start_matches("./");
        let mut called: Vec<BString> = files.iter().map(|file| self.context.paths[*file].clone()).collect();
        if called.is_empty() {
            called.push(source.into());
        }
        // Whatever becomes of the other one, what no more than these do is in many by habit.
        let at_head = holding.iter().filter(|holding| holding.side == Side::Head);
        let mut n_held: Vec<usize> = at_head.map(|holding| holding.n_held).collect();
        n_held.sort_unstable_by(|left, right| right.cmp(left));
        let n_in_many = n_held.get(MAX_HOLDERS).copied().unwrap_or_default();
        if let Some(place) = self.candidate.place {
            holding.retain(|Holding { side, file, .. }| {
                // What cannot be looked up is as good as unchanged.
                *side == Side::Worktree
                    || self.context.past.touches_since(*file, place).is_ok_and(|since| 0 < since)
            });
        }
        for Holding { file, .. } in holding.iter().filter(|holding| n_in_many < holding.n_held) {
            // Where the other one loses the code, whatever it is called now, this is the one that has it.
            let sources = &mut self.files[*file].0.sources;
            for source in called.iter().map(ToString::to_string).chain([source.to_owned()]) {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        holding.retain(|Holding { is_more, side, .. }| {
            *is_more && self.context.is_in_few(&telling, name, *side)
        });
        holding.into_iter().map(|holding| (holding.file, holding.side)).collect()
    }

    /// A claim about the commit as a whole, for each file that it changed.
    fn everywhere(&mut self, id: &EntryId, body: &Body, heading: &Heading) {
        for (touch, (file, what)) in self.candidate.touches.iter().enumerate() {
            self.meant.insert(*file);
            let tied = Tied::Written { candidate: self.number, touch };
            self.claim(*file, id, body.clone(), what.name.to_string(), tied, heading);
        }
    }

    fn claim(&mut self, file: usize, id: &EntryId, body: Body, name: String, tied: Tied, heading: &Heading) {
        let (record, ties) = &mut self.files[file];
        let heading = record.heading(heading);
        ties.push(tied);
        record.claims.push(Claim {
            heading,
            id: id.clone(),
            body,
            name,
            placement: Placement::file_wide(State::Gone),
            commits_since: None,
            n_newer: None,
        });
    }

    /// The assumptions that are declared about files in scope.
    fn reliances(&mut self, declared: &[DependsOn], by: &Declarer<'_>, heading: &Heading) {
        for dependency in declared {
            let (files, had_name) = self.context.files_meant(self.candidate, &dependency.file);
            let mut may_be_in: Vec<(usize, bool)> = files.iter().map(|file| (*file, had_name)).collect();
            let gained = self.sketched(dependency.sketch.as_ref(), &files, &dependency.file);
            may_be_in.extend(gained.into_iter().map(|(file, _)| (file, false)));
            for (number, had_name) in may_be_in {
                if had_name {
                    self.meant.insert(number);
                }
                let record = &mut self.files[number].0;
                let heading = record.heading(heading);
                record.reliances.push(Reliance {
                    heading,
                    id: by.id.clone(),
                    from_file: by.file.cloned(),
                    from_anchor: by.anchor.map(|anchor| anchor.name.clone()),
                    on_file: dependency.file.clone(),
                    on_anchor: dependency.anchor.clone(),
                    nature: dependency.nature.clone(),
                    expires: by.expires,
                    had_name,
                });
            }
        }
    }

    /// The concerns that span a file in scope.
    fn concerns(&mut self, document: &Annotation, heading: &Heading) {
        for concern in &document.cross_cutting {
            let mut spanned: BTreeMap<usize, (Vec<usize>, bool)> = BTreeMap::new();
            for (member, region) in concern.regions.iter().enumerate() {
                let (files, had_this_name) = self.context.files_meant(self.candidate, &region.file);
                for number in files {
                    let (here, had_name) = spanned.entry(number).or_default();
                    here.push(member);
                    *had_name |= had_this_name;
                }
            }
            let item = CrossCuttingItem {
                description: concern.description.clone(),
                regions: concern.regions.iter().map(ToString::to_string).collect(),
                tags: concern.tags.clone(),
                commit: self.candidate.key.to_string(),
                // Its heading knows who says so.
                author: None,
                tier: Tier::Unknown,
                origin: None,
                at: self.candidate.written(document),
                extra: concern.extra.clone(),
            };
            for (number, (here, had_name)) in spanned {
                if had_name {
                    self.meant.insert(number);
                }
                let record = &mut self.files[number].0;
                let heading = record.heading(heading);
                let (item, members) = (item.clone(), concern.regions.clone());
                record.concerns.push(Concern { heading, item, members, here, had_name });
            }
        }
    }
}

/// What `document`, which the note of `candidate` holds, says of itself.
///
/// `claim` is the one of its claims that the heading is for.
pub(crate) fn heading(candidate: &Candidate, document: &Annotation, claim: &EntryId) -> Heading {
    let voice = candidate.stored.voices.of_claim(claim).clone();
    let is_its_own = candidate.stored.is_said_in(document, claim);
    Heading {
        commit: candidate.key,
        elsewhere: candidate.elsewhere.clone(),
        foreign_commit: foreign(document, candidate).map(str::to_owned),
        timestamp: if is_its_own { document.timestamp.clone() } else { candidate.time.to_string() },
        at: if is_its_own { candidate.written(document) } else { candidate.time },
        author: document.provenance.author.clone().filter(|_| is_its_own),
        voice,
        source: if is_its_own { document.provenance.source } else { Source::Live },
        level: if is_its_own { score::context_level(document) } else { ContextLevel::Enhanced },
        task: document.task.clone().filter(|_| is_its_own),
    }
}

/// The commit that `document` names, when that is another one than the one that carries it.
fn foreign<'a>(document: &'a Annotation, candidate: &Candidate) -> Option<&'a str> {
    let named = document.commit.as_str();
    let key = candidate.key.to_string();
    let is_full = named.len() == key.len() && named.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_full && !named.eq_ignore_ascii_case(&key)).then_some(named)
}
