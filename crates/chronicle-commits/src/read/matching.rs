//! Which annotated commits have anything to say about the files in scope.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet, HashMap},
    rc::Rc,
};

use chronicle_core::{Annotation, Change, correction::Tier, room};
use chronicle_git::{BString, ByteSlice, FileChange, MAX_PATH, ObjectId, Repository};
use memchr::memmem::Finder;

use crate::{
    error::Result,
    note::{
        change::{changes_of, named_parent, named_tree},
        notebook::{Notebook, Raw},
        stored::Stored,
    },
    past::{PastCommit, Touch, Whereabouts, known::Known},
    place::{
        code_lines::{FileLines, MAX_BYTES},
        line_index::LineIndex,
    },
};

/// Of so many files in scope, the blobs are listed and not looked up one by one.
const MANY_FILES: usize = 256;

/// One annotated commit that may concern the files in scope.
pub(crate) struct Candidate {
    pub(crate) key: ObjectId,
    pub(crate) stored: Stored,
    /// Where it is in the history of HEAD; `None` for orphans and other branches.
    pub(crate) place: Option<u32>,
    /// Where it is when it is not in the history of HEAD.
    pub(crate) elsewhere: Option<String>,
    /// Its tree, if it is at hand.
    pub(crate) tree: Option<ObjectId>,
    /// The trees of its parents, as far as they are at hand.
    pub(crate) parents: Vec<ObjectId>,
    /// When it was committed.
    pub(crate) time: jiff::Timestamp,
    /// What it did to the files in scope: file number and touch.
    pub(crate) touches: Vec<(usize, Touch)>,
}

impl Candidate {
    /// The annotated object `key`, which the history that counts does not have; it may be no commit that is there.
    pub(crate) fn off_history(repository: &Repository, key: ObjectId, stored: Stored) -> Self {
        let is_here = |id: &ObjectId| repository.seems_here(*id);
        let commit = Some(key).filter(is_here).and_then(|key| repository.commit(key).ok());
        let parents = match &commit {
            Some(commit) => commit.parents.clone(),
            None => named_parent(&stored.note, key).into_iter().collect(),
        };
        let parents = parents.into_iter().filter(is_here);
        let parents = parents.filter_map(|parent| repository.commit_tree(parent).ok()).collect();
        // Where the commit is not here, a rewritten one may have the same files.
        let tree = match &commit {
            Some(commit) => Some(commit.tree),
            None => named_tree(&stored.note, key).filter(is_here),
        };
        let time = commit.map_or(jiff::Timestamp::UNIX_EPOCH, |commit| commit.time);
        Self { key, stored, place: None, elsewhere: None, tree, parents, time, touches: Vec::new() }
    }

    /// The changes from the first parent to its tree; renamed files as gone and come.
    fn changes(&self, repository: &Repository) -> Vec<FileChange> {
        let Some(tree) = self.tree else { return Vec::new() };
        // Of a commit that is gone with the one that it was made on, only the files are known.
        if self.parents.is_empty() && !repository.seems_here(self.key) {
            return Vec::new();
        }
        let (first, others) = match self.parents.split_first() {
            Some((first, others)) => (Some(*first), others),
            None => (None, &[][..]),
        };
        let mut changes = repository.plain_changes(first, tree).unwrap_or_default();
        // A merge wrote what differs from all of its parents.
        for other in others {
            let theirs = repository.plain_changes(Some(*other), tree).unwrap_or_default();
            let theirs: BTreeSet<BString> = theirs.into_iter().map(|change| change.path).collect();
            changes.retain(|change| theirs.contains(&change.path));
        }
        changes
    }

    /// The changes that its note names as its own.
    fn named_changes(&self) -> impl Iterator<Item = &Change> {
        changes_of(&self.stored.note, self.key)
    }

    /// The fingerprints of its change that its note names.
    pub(crate) fn patches(&self) -> impl Iterator<Item = &String> {
        self.named_changes().filter_map(|change| change.patch.as_ref())
    }

    /// Words of some lines that its note says it wrote.
    pub(crate) fn wrote(&self) -> Vec<u32> {
        self.named_changes().filter_map(|change| change.wrote.as_ref()?.hashes()).flatten().collect()
    }

    /// The commit that it was made on, if its note or the commit itself says so.
    pub(crate) fn parent_id(&self, repository: &Repository) -> Option<ObjectId> {
        let named = named_parent(&self.stored.note, self.key);
        named.or_else(|| repository.commit(self.key).ok()?.parents.first().copied())
    }

    /// When `document` was written; a time that cannot be read is that of the commit.
    pub(crate) fn written(&self, document: &Annotation) -> jiff::Timestamp {
        chronicle_core::parse_time(&document.timestamp).unwrap_or(self.time)
    }
}

/// Which version of the files beside it decides whether code came into a file.
///
/// What is told of a file that nobody edited never depends on edits elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// That of the newest commit.
    Head,
    /// That which is there now: an edit brought the code. How many files hold it is told by the newest commit all the same.
    Worktree,
}

/// The histories that candidates are looked up in.
pub(crate) struct ReadContext<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) notebook: &'a Notebook<'a>,
    pub(crate) past: &'a Known<'a>,
    /// The files in scope, by their present paths.
    pub(crate) paths: &'a [BString],
    /// Whether commits of other branches count too.
    all: bool,
    /// Words that a note may say instead of a file's name.
    words: Vec<String>,
    /// The files in scope by their present paths.
    by_path: HashMap<String, Vec<usize>>,
    /// The files in scope by every name they ever had.
    ever: OnceCell<BTreeMap<String, BTreeSet<(BString, usize)>>>,
    line_index: OnceCell<LineIndex>,
    /// The lines of all files, where not all are in scope.
    everywhere: OnceCell<LineIndex>,
    /// The lines of files that are not in scope.
    others: RefCell<HashMap<(BString, Side), Rc<FileLines>>>,
    /// The blobs of all files in the newest commit, where many files are in scope; none where they cannot be listed.
    blobs: OnceCell<Option<HashMap<BString, ObjectId>>>,
    /// What became of files that are not in scope.
    renamed: RefCell<HashMap<BString, Option<BString>>>,
    /// The bytes of the files in scope as they are asked about; `None` where those of the newest commit are.
    contents: Option<Vec<Option<&'a [u8]>>>,
}

impl<'a> ReadContext<'a> {
    pub(crate) fn new(
        repository: &'a Repository,
        notebook: &'a Notebook<'a>,
        past: &'a Known<'a>,
        paths: &'a [BString],
        all: bool,
    ) -> Self {
        let mut by_path: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, path) in paths.iter().enumerate() {
            by_path.entry(path.to_string()).or_default().push(number);
        }
        Self {
            repository,
            notebook,
            past,
            paths,
            all,
            words: Vec::new(),
            by_path,
            ever: OnceCell::new(),
            line_index: OnceCell::new(),
            everywhere: OnceCell::new(),
            others: RefCell::default(),
            blobs: OnceCell::new(),
            renamed: RefCell::default(),
            contents: None,
        }
    }

    /// The lines of the file at `path`, which need not be in scope.
    pub(crate) fn lines_in(&self, path: &BString, side: Side) -> Rc<FileLines> {
        let key = (path.clone(), side);
        if let Some(known) = self.others.borrow().get(&key) {
            return Rc::clone(known);
        }
        let lines = Rc::new(self.with_other(path, side, FileLines::of).unwrap_or_default());
        self.others.borrow_mut().insert(key, Rc::clone(&lines));
        lines
    }

    /// How many of the lines `telling` are in the file that a note calls `name`, or in what became of it.
    pub(crate) fn n_noted(&self, name: &str, telling: &[u32], side: Side) -> usize {
        let path = self.renamed(name).unwrap_or_else(|| name.trim_start_matches("./").into());
        if side == Side::Worktree {
            return self.lines_in(&path, side).n_of(telling);
        }
        let Some(blob) = self.blob_at_hand(&path) else { return 0 };
        let inputs = ("noted", blob.as_slice(), telling);
        self.past.kept(&inputs, || self.lines_in(&path, side).n_of(telling))
    }

    /// What the file is called now that was called `name` and was renamed since; `None` where that is known to be none.
    pub(crate) fn renamed(&self, name: &str) -> Option<BString> {
        let path = BString::from(name.trim_start_matches("./"));
        self.see_renamed([path.clone()].into());
        self.renamed.borrow().get(&path).cloned().flatten()
    }

    /// Finds what the files are called now that were called `paths`: it takes a walk through history, and one does for all.
    pub(crate) fn see_renamed(&self, mut paths: BTreeSet<BString>) {
        let mut renamed = self.renamed.borrow_mut();
        paths.retain(|path| !renamed.contains_key(path));
        let (there, gone): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| self.blob_at_hand(path).is_some());
        let whereabouts = self.past.whereabouts(&gone).unwrap_or_default().into_iter();
        let now = whereabouts.map(|whereabouts| match whereabouts {
            Whereabouts::Renamed { to, .. } => Some(to),
            Whereabouts::Deleted { .. } | Whereabouts::Never => None,
        });
        renamed.extend(gone.into_iter().zip(now.chain(std::iter::repeat(None))));
        renamed.extend(there.into_iter().map(|path| (path, None)));
    }

    /// Whether so few files hold code with the lines `telling`, which the file `name` had, that it moved to them.
    pub(crate) fn is_in_few(&self, telling: &[u32], name: &str, side: Side) -> bool {
        // It takes a look at every file, so what it shows of a tree is kept.
        let n_own = self.n_noted(name, telling, side);
        let inputs = ("few", self.past.head().tree.as_slice(), telling, n_own);
        let are_few = self.past.kept(&inputs, || {
            let everywhere = self.everywhere.get_or_init(|| LineIndex::everywhere(self));
            usize::from(everywhere.are_few(telling, n_own))
        });
        are_few == 1
    }

    /// The same context, where the files are asked about as they are now, with these bytes.
    pub(crate) fn with_contents(self, contents: Vec<Option<&'a [u8]>>) -> Self {
        Self { contents: Some(contents), ..self }
    }

    /// The bytes that the file number `number` in scope has now, none where there is no such file; `None` where it is asked
    /// about as it is in the newest commit.
    pub(crate) fn now(&self, number: usize) -> Option<&'a [u8]> {
        Some(self.contents.as_ref()?[number].unwrap_or_default())
    }

    /// What `look` makes of the bytes that a file in scope has in the newest commit; `None` where they are not at hand.
    pub(crate) fn with_content<T>(&self, number: usize, look: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let newest = self.past.files()[number].touches.first();
        let name = newest.map_or(&self.paths[number], |touch| &touch.name);
        self.with_other(name, Side::Head, look)
    }

    /// The same for any file, by its path.
    pub(crate) fn with_other<T>(
        &self,
        path: &BString,
        side: Side,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Option<T> {
        let head = self.past.head();
        if side == Side::Worktree {
            let present = self.repository.present_file(Some(head.id), path.as_bstr()).ok()??;
            return Some(look(&present.content));
        }
        // What is here but broken is as good as absent.
        self.repository.with_blob(self.blob_at_hand(path)?, look).ok()?
    }

    /// The blob of a file in the newest commit, if it is here and no larger than code is.
    fn blob_at_hand(&self, path: &BString) -> Option<ObjectId> {
        let blob = self.blob_in_head(path)?;
        let n_bytes = self.repository.size_if_here(blob).ok()??;
        usize::try_from(n_bytes).is_ok_and(|n_bytes| n_bytes <= MAX_BYTES).then_some(blob)
    }

    /// The blob of a file in the newest commit. Of many files, all are listed once: to find one takes a look at each entry of
    /// the directories on its way.
    fn blob_in_head(&self, path: &BString) -> Option<ObjectId> {
        let tree = self.past.head().tree;
        let list = || {
            let is_worth_it = MANY_FILES <= self.paths.len();
            let blobs = is_worth_it.then(|| self.repository.blobs_under(tree, b"".as_bstr()).ok());
            blobs.flatten().map(|blobs| blobs.into_iter().collect())
        };
        match self.blobs.get_or_init(list) {
            Some(blobs) => blobs.get(path).copied(),
            None => self.repository.blob_at(tree, path.as_bstr()).ok()?,
        }
    }

    /// The same context, where notes that hold one of `words` count too.
    pub(crate) fn looking_for(self, words: Vec<String>) -> Self {
        Self { words, ..self }
    }

    /// Whether what was noted off the history of HEAD is shown even where its code never was in that history.
    pub(crate) fn shows_all(&self) -> bool {
        self.all
    }

    /// The files in scope by every name they ever had.
    fn ever(&self) -> &BTreeMap<String, BTreeSet<(BString, usize)>> {
        self.ever.get_or_init(|| {
            let mut ever: BTreeMap<String, BTreeSet<(BString, usize)>> = BTreeMap::new();
            for (number, file) in self.past.files().iter().enumerate() {
                for name in file.names().chain([&self.paths[number]]) {
                    ever.entry(name.to_string()).or_default().insert((name.clone(), number));
                }
            }
            ever
        })
    }

    /// The files in scope that have gone by `name`, and do in `tree` if it is at hand.
    fn files_ever_called(&self, tree: Option<ObjectId>, name: &str) -> Vec<usize> {
        let files = self.ever().get(name).into_iter().flatten();
        let had = files.filter(|(path, _)| {
            tree.is_none_or(|tree| self.repository.blob_at(tree, path.as_bstr()).ok().flatten().is_some())
        });
        had.map(|(_, number)| *number).collect()
    }

    /// Which files in scope hold which lines, as far as they changed after the commit at place `oldest`.
    pub(crate) fn line_index(&self, oldest: u32) -> &LineIndex {
        self.line_index.get_or_init(|| LineIndex::of(self, oldest))
    }

    /// The same, if it was asked for before.
    pub(crate) fn known_line_index(&self) -> Option<&LineIndex> {
        self.line_index.get()
    }

    /// The files in scope that may hold what the note of one of `candidates` sketched.
    pub(crate) fn line_index_for(&self, candidates: &[Candidate]) -> Option<&LineIndex> {
        let sketched = candidates.iter().filter(|candidate| candidate.stored.is_sketched);
        let oldest = sketched.map(|candidate| candidate.place.unwrap_or(u32::MAX)).max()?;
        Some(self.line_index(oldest))
    }

    /// The files in scope that the name `file`, written in the note of `candidate`, means.
    pub(crate) fn files_named(&self, candidate: &Candidate, file: &str) -> Vec<usize> {
        let file = file.trim_start_matches("./");
        let mut files: Vec<usize> = match candidate.place {
            // What cannot be looked up names nothing.
            Some(place) => self.past.files_called(place, file).unwrap_or_default(),
            // Off the history, any name a file ever had may be the one it goes by.
            None => self.files_ever_called(candidate.tree, file),
        };
        if let (true, Some(by_path)) = (files.is_empty(), self.by_path.get(file)) {
            // A note may name a file that its commit did not have yet. If the commit had
            // another file of that name, the note means that one.
            if candidate.place.is_none() || !self.has_file(candidate, file) {
                files.extend(by_path);
            }
        }
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The files in scope that something written in the note of `candidate` relies on when it says `file`,
    /// and whether they had that name then.
    ///
    /// A promise outlives a rename: where no file had the name, the one that had it before or later is meant.
    pub(crate) fn files_meant(&self, candidate: &Candidate, file: &str) -> (Vec<usize>, bool) {
        let named = self.files_named(candidate, file);
        if !named.is_empty() {
            return (named, true);
        }
        let file = file.trim_start_matches("./");
        let ever = self.ever().get(file).into_iter().flatten();
        let mut files: Vec<usize> = ever.map(|(_, number)| *number).collect();
        // It means the file of that name: the one that its commit has, or else the one that there is now.
        if !files.is_empty()
            && (candidate.place.is_some() && self.has_file(candidate, file)
                || self.has_in(self.past.head().tree, file))
        {
            files.clear();
        }
        files.sort_unstable();
        files.dedup();
        (files, false)
    }

    /// Whether the commit of `candidate` has a file of that name.
    fn has_file(&self, candidate: &Candidate, name: &str) -> bool {
        candidate.tree.is_some_and(|tree| self.has_in(tree, name))
    }

    fn has_in(&self, tree: ObjectId, name: &str) -> bool {
        matches!(self.repository.blob_at(tree, name.as_bytes().as_bstr()), Ok(Some(_)))
    }

    /// Whether the note of `candidate`, which could not be read wholly, holds the name of the file number `number`.
    pub(crate) fn is_mentioned(&self, number: usize, candidate: &Candidate) -> bool {
        if candidate.stored.remarks.is_empty() && candidate.stored.hidden.is_empty() {
            return false;
        }
        let Ok(raw) = self.notebook.raw(candidate.key) else { return false };
        let touches = self.past.files()[number].touches.iter().map(|touch| &touch.name);
        let mut names = touches.chain([&self.paths[number]]);
        names.any(|name| {
            let base = name.rsplit_str(b"/").next().unwrap_or(name);
            raw.iter().any(|raw| raw.contains_str(base))
        })
    }

    /// The annotated commits that touched a file in scope, or whose notes may name one.
    pub(crate) fn candidates(&self, warnings: &mut Vec<String>) -> Result<Vec<Candidate>> {
        let mut touches: HashMap<u32, Vec<(usize, Touch)>> = HashMap::new();
        for (number, file) in self.past.files().iter().enumerate() {
            for touch in &file.touches {
                touches.entry(touch.place).or_default().push((number, touch.clone()));
            }
        }
        let mention = Mention::of(self);
        let mut candidates = Vec::new();
        // Off the history it takes a closer look to tell whether a commit touched a file in scope.
        let in_question: BTreeSet<ObjectId> = self
            .notebook
            .keys()
            .filter(|key| self.past.place(*key).is_none_or(|place| touches.contains_key(&place)))
            .collect();
        let notes = self.notebook.scan(warnings, |key, raw| {
            !chronicle_git::is_knowledge_key(key) && (in_question.contains(&key) || mention.is_in(raw))
        });
        for (key, raw) in notes {
            let place = self.past.place(key);
            // Of many notes on commits that are not here nothing is to be known, which takes no parsing to tell.
            let is_unknown = place.is_none() && !self.repository.seems_here(key);
            if is_unknown && !raw.iter().any(|raw| mention.is_in(raw) || self.names_what_is_here(raw)) {
                continue;
            }
            let touches = place.and_then(|place| touches.remove(&place)).unwrap_or_default();
            let mut candidate = self.candidate(key, &raw, place, touches)?;
            if place.is_none() {
                if candidate.touches.is_empty() && !raw.iter().any(|raw| mention.is_in(raw)) {
                    continue;
                }
                let branch = self.past.branch_of(key)?;
                if branch.is_some() && !self.all {
                    continue;
                }
                candidate.elsewhere = Some(branch.unwrap_or_else(|| NO_BRANCH.to_owned()));
            }
            candidates.push(candidate);
        }
        Ok(candidates)
    }

    /// Whether a note has the id of an object that is here, such as that of the tree of its commit.
    fn names_what_is_here(&self, raw: &[u8]) -> bool {
        let n_digits = self.repository.empty_tree().kind().len_in_hex();
        let mut words = raw.split(|byte| *byte == b'"').filter(|word| word.len() == n_digits);
        words.any(|word| ObjectId::from_hex(word).is_ok_and(|id| self.repository.seems_here(id)))
    }

    /// The files that the newest `n_lessons` lessons of the history are about, newest first; with the first file
    /// that each annotated commit changed, where summaries count too.
    pub(crate) fn newest_files(&self, n_lessons: usize, with_summaries: bool) -> Result<Vec<BString>> {
        let mut lessons: Vec<(Tier, jiff::Timestamp, BString)> = Vec::new();
        for key in self.notebook.keys() {
            let Some(place) = self.past.place(key) else { continue };
            let candidate = self.candidate(key, &self.notebook.raw(key)?, Some(place), Vec::new())?;
            let note = &candidate.stored.note;
            let mut without_file = Vec::new();
            for document in note.documents() {
                let at = candidate.written(document);
                if with_summaries {
                    without_file.push((Tier::Own, at));
                }
                lessons.extend(document.regions.iter().map(|region| {
                    let tier = candidate.stored.voices.of_claim(&region.id).tier;
                    (tier, at, region.file.as_str().into())
                }));
            }
            for (document, entry) in note.entries() {
                let at = candidate.written(document);
                let tier = candidate.stored.voices.of_claim(&entry.id).tier;
                match &entry.file {
                    Some(file) => lessons.push((tier, at, file.as_str().into())),
                    None => without_file.push((tier, at)),
                }
            }
            if !without_file.is_empty()
                && let Some(path) = self.first_file(&candidate)?
            {
                lessons.extend(without_file.into_iter().map(|(tier, at)| (tier, at, path.clone())));
            }
        }
        lessons.retain(|(.., path)| path.len() <= MAX_PATH);
        lessons.sort_by_key(|(_, at, _)| std::cmp::Reverse(*at));
        room::cut(&mut lessons, n_lessons, |(tier, ..)| *tier);
        let mut seen = BTreeSet::new();
        Ok(lessons.into_iter().map(|(.., path)| path).filter(|path| seen.insert(path.clone())).collect())
    }

    /// The first file that an annotated commit changed.
    pub(crate) fn first_file(&self, candidate: &Candidate) -> Result<Option<BString>> {
        let Some(tree) = candidate.tree else { return Ok(None) };
        let changes = self.repository.plain_changes(candidate.parents.first().copied(), tree)?;
        Ok(changes.into_iter().next().map(|change| change.path))
    }

    /// The annotated commits of the history whose stored note is wanted, whatever files they are about.
    pub(crate) fn annotated(
        &self,
        wanted: impl Fn(ObjectId, &[u8]) -> bool + Sync,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Candidate>> {
        let keys: BTreeSet<ObjectId> =
            self.notebook.keys().filter(|key| self.past.place(*key).is_some()).collect();
        let is_wanted = |key, raw: &[u8]| keys.contains(&key) && wanted(key, raw);
        let notes = self.notebook.scan(warnings, is_wanted).into_iter();
        notes.map(|(key, raw)| self.candidate(key, &raw, self.past.place(key), Vec::new())).collect()
    }

    fn candidate(
        &self,
        key: ObjectId,
        raw: &[Raw],
        place: Option<u32>,
        touches: Vec<(usize, Touch)>,
    ) -> Result<Candidate> {
        let stored = self.notebook.parse(raw);
        if let Some(place) = place {
            let PastCommit { tree, time, parents, .. } = self.past.commit(place)?;
            let time = jiff::Timestamp::from_second(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
            let (place, tree) = (Some(place), Some(tree));
            return Ok(Candidate { key, stored, place, elsewhere: None, tree, parents, time, touches });
        }
        let candidate = Candidate::off_history(self.repository, key, stored);
        let mut touches = Vec::new();
        for change in candidate.changes(self.repository) {
            let called = self.ever().get(&change.path.to_string()).into_iter().flatten();
            for (_, number) in called.filter(|(path, _)| *path == change.path) {
                let FileChange { path: name, old, new, .. } = change.clone();
                touches.push((*number, Touch { place: 0, name, old, new, renamed_from: None }));
            }
        }
        Ok(Candidate { touches, ..candidate })
    }
}

/// Where a commit is said to be that no branch reaches.
pub(crate) const NO_BRANCH: &str = "no branch";

/// What to tell a reader about a note whose bytes could not all be read.
pub(crate) fn malformed(key: ObjectId, stored: &Stored) -> Vec<String> {
    let is_lost = stored.note.documents().is_empty();
    let said = match is_lost {
        true => "Skipping malformed annotation on commit",
        false => "Not everything was read of the annotation on commit",
    };
    let mut remarks: Vec<String> =
        stored.remarks.iter().map(|remark| format!("{said} {key}: {remark}")).collect();
    remarks.dedup();
    remarks.extend(stored.hidden.iter().cloned());
    remarks
}

/// Whether a note's bytes may name a file in scope, or sketch code that one holds: a cheap look before the note is parsed.
struct Mention<'a> {
    /// File names without their directories; `None` when every note must be parsed.
    needles: Option<Vec<Finder<'static>>>,
    /// What supersedes counts wherever it stands.
    supersedes: Finder<'static>,
    /// An escaped letter may spell any name.
    escape: Finder<'static>,
    line_index: &'a LineIndex,
}

/// With more files than this, looking for each name costs more than parsing.
const MAX_NEEDLES: usize = 8;

impl<'a> Mention<'a> {
    fn of(context: &'a ReadContext<'_>) -> Self {
        let mut needles: BTreeSet<&[u8]> = BTreeSet::new();
        for (number, file) in context.past.files().iter().enumerate() {
            let names = file.names().chain([&context.paths[number]]);
            needles.extend(names.map(|name| name.rsplit_str(b"/").next().unwrap_or(name)));
        }
        needles.extend(context.words.iter().map(String::as_bytes));
        // A name that JSON may spell in several ways cannot be looked for.
        let mut bytes = needles.iter().copied().flatten();
        let can_look = needles.len() <= MAX_NEEDLES
            && bytes.all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(byte));
        Self {
            needles: can_look
                .then(|| needles.into_iter().map(|needle| Finder::new(needle).into_owned()).collect()),
            supersedes: Finder::new(b"\"supersedes\""),
            escape: Finder::new(b"\\u00"),
            line_index: context.line_index(u32::MAX),
        }
    }

    fn is_in(&self, raw: &[u8]) -> bool {
        let Some(needles) = &self.needles else { return true };
        let mut needles = needles.iter().chain([&self.supersedes, &self.escape]);
        needles.any(|needle| needle.find(raw).is_some()) || self.line_index.of_any_in(raw)
    }
}
