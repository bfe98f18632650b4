//! The derived index: records of all files at one HEAD, kept so that a read touches no object.
//!
//! One table for each state of the repository (HEAD and the notes refs) under
//! `chronicle/index` of the common git directory. A table is written aside and renamed into place,
//! then never changed, so readers need no lock and a crash leaves nothing half. Whatever is missing,
//! damaged, of another version or of another user is as if it were not there: the answer is then
//! made without the index, and the table is made anew. DESIGN section 4.

mod adapt;
mod ancestry;
mod beside;
mod blame;
mod body;
mod build;
mod changes;
mod drift;
mod lines;
mod part;
mod sketched;
mod spoken;
mod stored;
pub(crate) mod table;

use std::{
    cell::{LazyCell, OnceCell, RefCell},
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    rc::Rc,
};

use chronicle_core::{EntryId, correction::CorrectionItem};
use chronicle_git::{BStr, BString, ByteSlice, Glance, LazyRepository, ObjectId, Repository, TrustStamp};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use twox_hash::{XxHash3_64, XxHash3_128};

pub(crate) use blame::Blame;
pub use build::{Refreshed, make_table, refresh};

use crate::{
    Content, corrections,
    error::Result,
    gather::located,
    index::{
        ancestry::Ancestry,
        drift::Drift,
        lines::ThenAndNow,
        part::{Part, Span},
        stored::{Asked, Id, StoredRecord},
        table::{Table, Value},
    },
    moved::{self, FileLines},
    present::is_opaque,
    prose::{Passage, Said},
    read::{Scope, superseded_by},
    record::{FileRecord, Relied, is_elsewhere},
};

/// States that are kept at the least, and up to twice as many: worktrees and branches that take turns each have their own.
const MAX_STATES: usize = 16;

/// More files than this are not edited at once that all lose the same code.
const MAX_EDITED: usize = 8;

/// What an index is made from: another HEAD, other notes or other branches make another state.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    common_dir: PathBuf,
    /// The directory of this user's tables. Its name is a secret of the user's, so a repository that was
    /// copied or unpacked brings no table that is believed.
    place: String,
    head: ObjectId,
    notes: Vec<(BString, ObjectId)>,
    /// A hash of what makes history another one though no commit changes, and of whose notes are trusted.
    frame: u64,
    /// All of it but HEAD.
    beside_head: Vec<u8>,
    name: String,
}

impl State {
    fn new(
        common_dir: &Path,
        head: ObjectId,
        notes: Vec<(BString, ObjectId)>,
        (frame_stamp, tips_stamp, trust): (&[u8], &[u8], &TrustStamp),
    ) -> Self {
        let framed = [frame_stamp, &trust.state].join(&0);
        let frame = XxHash3_64::oneshot(&framed);
        let place = format!("{:032x}", XxHash3_128::oneshot(&trust.place));
        let mut beside_head = frame.to_le_bytes().to_vec();
        beside_head.extend_from_slice(tips_stamp);
        for (name, id) in &notes {
            beside_head.extend_from_slice(name);
            beside_head.push(0);
            beside_head.extend_from_slice(id.as_slice());
        }
        beside_head.extend_from_slice(&trust.place);
        let name = name_of(head, &beside_head);
        Self { common_dir: common_dir.to_owned(), place, head, notes, frame, beside_head, name }
    }

    /// The same, if HEAD were at `head`.
    fn with_head(&self, head: ObjectId) -> Self {
        Self { head, name: name_of(head, &self.beside_head), ..self.clone() }
    }

    /// The state that `glance` saw; `None` where it is not known whose notes are trusted.
    fn seen(glance: &Glance) -> Option<Self> {
        let beside = (glance.frame_stamp(), glance.tips_stamp(), glance.trust()?);
        Self::new(&glance.common_dir, glance.head, glance.notes.clone(), beside).unlinked()
    }

    fn of(repository: &Repository) -> Result<Option<Self>> {
        let (Some(head), Some(trust)) = (repository.head()?, repository.trust_stamp()) else {
            return Ok(None);
        };
        let notes = repository.memory_tips()?;
        let common_dir = repository.common_dir();
        let frame_stamp = chronicle_git::frame_stamp(common_dir);
        let beside = (&*frame_stamp, &*chronicle_git::tips_stamp(common_dir), &trust);
        Ok(Self::new(common_dir, head, notes, beside).unlinked())
    }

    /// The same, unless a link leads its tables elsewhere.
    fn unlinked(self) -> Option<Self> {
        let place = Path::new("index").join(&self.place);
        chronicle_git::state_path(&self.common_dir, place.to_str()?).is_ok().then_some(self)
    }

    /// Where the tables of all users are.
    fn shared_directory(&self) -> PathBuf {
        self.common_dir.join("chronicle").join("index")
    }

    fn directory(&self) -> PathBuf {
        self.shared_directory().join(&self.place)
    }

    /// The table of a whole state.
    fn table(&self) -> PathBuf {
        table_of(&self.directory(), &self.name)
    }

    /// The directory of a state that builds on the table of another one.
    fn part(&self) -> PathBuf {
        self.directory().join(&self.name)
    }
}

fn name_of(head: ObjectId, beside_head: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(&[head.as_slice(), beside_head].concat()))
}

/// A hash of the state of the repository that `glance` saw.
pub(crate) fn state_hash(glance: &Glance) -> Option<u128> {
    Some(XxHash3_128::oneshot(State::seen(glance)?.name.as_bytes()))
}

fn table_of(directory: &Path, state: &str) -> PathBuf {
    directory.join(format!("{state}.idx"))
}

/// Where a part keeps what it is.
const PART_FILE: &str = "part.idx";

/// Where a part keeps the record of `path`.
fn memo_of(part: &Path, path: &BStr) -> PathBuf {
    part.join(format!("{:032x}.idx", XxHash3_128::oneshot(path)))
}

/// What an index says about all files together.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Meta {
    head: Id,
    notes: Vec<(Vec<u8>, Id)>,
    /// [`State::frame`].
    frame: u64,
    /// Seconds since the epoch at which HEAD was committed.
    head_time: i64,
    /// Whether anything is annotated.
    has_any: bool,
    superseded: Vec<Supersession>,
    /// The repository's knowledge as a document, if there is any.
    knowledge: Option<String>,
    warnings: Vec<String>,
    knowledge_warnings: Vec<String>,
    /// Whether any claim was corrected.
    has_corrections: bool,
    correction_warnings: Vec<String>,
    /// How many objects are annotated, the repository's knowledge aside.
    n_annotated: usize,
}

/// A visible claim that says it supersedes another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Supersession {
    old: String,
    new: String,
    /// The commit whose note says so.
    by: Id,
    /// Whether it is trusted as far as the claim that it replaces.
    counts: bool,
}

/// A directory's entries in a table: name, and whether it is a directory itself.
type Listing = Vec<(Vec<u8>, bool)>;

const META: &[u8] = b"M";
const PART: &[u8] = b"A";
const ANCESTRY: &[u8] = b"H";
/// Hashes of all paths that a commit of the history ever had.
const EVER: &[u8] = b"E";
/// What the commits of the history changed.
const CHANGES: &[u8] = b"C";
/// Hashes of paths that notes name, or that annotated commits off the history changed.
const NAMED: &[u8] = b"F";
/// What is annotated beside the history.
const BESIDE: &[u8] = b"B";
/// The first bytes of the ids of all annotated objects, in order.
const KEYS: &[u8] = b"K";

fn key(kind: u8, path: &BStr) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + path.len());
    key.push(kind);
    key.extend_from_slice(path);
    key
}

fn record_key(path: &BStr) -> Vec<u8> {
    key(b'P', path)
}

fn words_key(path: &BStr) -> Vec<u8> {
    key(b'L', path)
}

/// Who wrote the lines of a file.
fn blame_key(path: &BStr) -> Vec<u8> {
    key(b'W', path)
}

fn listing_key(directory: &BStr) -> Vec<u8> {
    key(b'D', directory)
}

/// The corrections of a claim.
fn correction_key(id: &str) -> Vec<u8> {
    key(b'C', id.into())
}

/// The files whose path ends with a name.
fn name_key(name: &BStr) -> Vec<u8> {
    key(b'N', name)
}

fn last_component(path: &BString) -> &[u8] {
    path.rsplit_str(b"/").next().unwrap_or(path)
}

/// The hash by which a file is known to be as it was at HEAD.
fn content_hash(content: &[u8]) -> u64 {
    XxHash3_64::oneshot(content)
}

/// The index of the repository's present state.
pub struct Index {
    state: State,
    /// The table of this state, or the one that its part builds on.
    table: Rc<Table>,
    meta: Meta,
    part: Option<Part>,
    /// What the part holds beside.
    news: Option<Table>,
    /// What is known about files that were asked about.
    known: RefCell<HashMap<BString, Rc<Known>>>,
    /// The way from the table's HEAD to the present one, once it was asked for.
    way: OnceCell<Option<(Span, Ancestry)>>,
}

impl Index {
    /// The index of the state that `glance` saw, if there is one.
    #[must_use]
    pub fn open(glance: &Glance) -> Option<Self> {
        Self::of(State::seen(glance)?, None)
    }

    /// The index as it would be if HEAD were at `commit`, made of one that is there where the two lie close
    /// together.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn at(&self, repository: &Repository, commit: ObjectId) -> Result<Option<Self>> {
        let state = self.state.with_head(commit);
        match Self::of(state.clone(), Some(self)) {
            Some(known) => Ok(Some(known)),
            None => build::make_part(repository, &state),
        }
    }

    /// The index of `state`, if there is one; it may build on the table that `other` has open.
    fn of(state: State, other: Option<&Self>) -> Option<Self> {
        if let Some(table) = Table::open(&state.table()) {
            let meta = postcard::from_bytes(&table.get(META)?).ok()?;
            return Some(Self::new(state, table.into(), meta, None));
        }
        let news = Table::open(&state.part().join(PART_FILE))?;
        let part: Part = postcard::from_bytes(&news.get(PART)?).ok()?;
        let table = match other.filter(|other| *other.base() == part.base) {
            Some(other) => Rc::clone(&other.table),
            None => Table::open(&table_of(&state.directory(), &part.base))?.into(),
        };
        let meta = part.meta.clone();
        Some(Self::new(state, table, meta, Some((part, news))))
    }

    /// The name of the state that the table is of.
    fn base(&self) -> &str {
        self.part.as_ref().map_or(&self.state.name, |part| &part.base)
    }

    fn new(state: State, table: Rc<Table>, meta: Meta, part: Option<(Part, Table)>) -> Self {
        let (part, news) = part.unzip();
        Self { state, table, meta, part, news, known: RefCell::default(), way: OnceCell::new() }
    }

    /// The same, where the way from the table's HEAD is known.
    fn by_way_of(self, way: (Span, Ancestry)) -> Self {
        Self { way: OnceCell::from(Some(way)), ..self }
    }

    pub(crate) fn has_any(&self) -> bool {
        self.meta.has_any
    }

    pub(crate) fn head_time(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.meta.head_time).ok()
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.meta.warnings
    }

    pub(crate) fn knowledge_warnings(&self) -> &[String] {
        &self.meta.knowledge_warnings
    }

    pub(crate) fn n_annotated(&self) -> usize {
        self.meta.n_annotated
    }

    /// The files at HEAD whose path ends with the component `name`.
    pub(crate) fn files_called(&self, name: &str) -> Option<Vec<BString>> {
        let found = self.table.get(&name_key(name.into()));
        let found: Vec<Vec<u8>> = match found {
            Some(paths) => postcard::from_bytes(&paths).ok()?,
            None => Vec::new(),
        };
        let mut files: Vec<BString> = found.into_iter().map(BString::from).collect();
        if let Some(part) = &self.part {
            files.retain(|file| !part.removed.contains(file.as_slice()));
            let added = part.added.iter().cloned();
            files.extend(added.filter(|file| last_component(file) == name.as_bytes()));
        }
        Some(files)
    }

    /// The words of annotations in which something with the key `key` is said that `is_meant` accepts.
    pub(crate) fn naming(&self, key: &str, is_meant: &mut dyn FnMut(&Said) -> bool) -> Option<Vec<Passage>> {
        let mut found = spoken::read(&self.table, key, is_meant)?;
        if let (Some(part), Some(news)) = (&self.part, &self.news) {
            let still_said = |passage: Passage| {
                let heading = part.still_said(passage.heading.clone())?;
                Some(Passage { heading, ..passage })
            };
            found = found.into_iter().filter_map(still_said).collect();
            found.extend(spoken::read(news, key, is_meant)?);
        }
        Some(found)
    }

    /// What `look` makes of who relies on the file at `path`; `None` when HEAD has no such file, or where that is damaged.
    /// What is claimed about it comes only `with_claims`.
    pub(crate) fn with_relied<T>(
        &self,
        repository: &LazyRepository,
        path: &BStr,
        with_claims: bool,
        look: impl Fn(Relied<'_>) -> T,
    ) -> Option<T> {
        let known = self.known_in(repository, path)?;
        let path = path.to_string();
        known
            .with_record(|record| stored::parse(record)?.with_relied(&known.table, &path, with_claims, &look))
    }

    /// The commits that changed the file at `path`, newest first, each with the blob that it left, zeros for none; and who
    /// wrote its lines, as far as the table knows, which may lack the newest of these commits.
    /// Nothing where HEAD has no such file or nothing is claimed about it.
    pub(crate) fn blame(
        &self,
        repository: &LazyRepository,
        path: &BStr,
    ) -> (Vec<(ObjectId, ObjectId)>, Option<Blame>) {
        let known = self.blame_then(path);
        let steps = match (&self.part, &known) {
            (None, Some(known)) => known.steps.clone(),
            _ => self.look_up(repository, path, |_, stored| Some(stored.steps())).unwrap_or_default(),
        };
        (steps, known)
    }

    /// Who wrote the lines of the file at `path` as the table's HEAD has it.
    fn blame_then(&self, path: &BStr) -> Option<Blame> {
        let blame = postcard::from_bytes(&self.table.get(&blame_key(path))?).ok()?;
        let record = self.table.get(&record_key(path))?;
        let record = stored::parse(&record)?;
        let words = self.table.get(&words_key(path))?.to_vec();
        Some(Blame {
            steps: record.steps(),
            content: record.content?,
            words,
            path: path.to_owned(),
            blame,
            starts: OnceCell::new(),
        })
    }

    /// Makes `words` those of the lines of the file at `path` at HEAD ([`chronicle_core::line_words`]); `None` where nothing
    /// is claimed about it, or its lines mean nothing.
    pub fn words(&self, repository: &LazyRepository, path: &BStr, words: &mut Vec<u32>) -> Option<()> {
        let known = self.known_in(repository, path)?;
        known.table.with(&words_key(path), |bytes| {
            words.clear();
            if words.capacity() < bytes.len() / 4 {
                // What is forgotten need not be copied to where there is more room.
                *words = Vec::with_capacity(bytes.len() / 4);
            }
            words.extend(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
            (!words.is_empty()).then_some(())
        })
    }

    /// What was said of claims after they were made.
    pub(crate) fn said(&self) -> IndexedSaid<'_> {
        let pairs = self.meta.superseded.iter().filter(|pair| pair.counts);
        let superseded =
            superseded_by(pairs.map(|pair| (EntryId(pair.old.clone()), EntryId(pair.new.clone()))));
        let table = self.news.as_ref().unwrap_or(&self.table);
        IndexedSaid { superseded, corrections: self.meta.has_corrections.then_some(table) }
    }

    pub(crate) fn correction_warnings(&self) -> &[String] {
        &self.meta.correction_warnings
    }

    pub(crate) fn knowledge(&self) -> Option<&str> {
        self.meta.knowledge.as_deref()
    }

    /// HEAD's commit.
    #[must_use]
    pub fn head(&self) -> ObjectId {
        self.state.head
    }

    /// Whether HEAD has the file `path`.
    #[must_use]
    pub fn has_file(&self, path: &BStr) -> bool {
        match &self.part {
            Some(part) if part.removed.contains(path.as_bytes()) => false,
            Some(part) if part.added.contains(path.as_bytes()) => true,
            _ => self.table.has(&record_key(path)),
        }
    }

    /// Whether HEAD has, or any commit of its history had, a file or directory `path`.
    #[must_use]
    pub fn had_path(&self, path: &BStr) -> bool {
        let ever = || self.table.get(EVER).is_none_or(|ever| build::has_hash(&ever, path));
        let touched = |part: &Part| {
            let is_inside =
                |file: &[u8]| file.strip_prefix(path.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"));
            part.touched.iter().any(|file| file.as_slice() == path.as_bytes() || is_inside(file))
        };
        // Mostly it is a file that is there.
        let is_there = self.table.has(&record_key(path)) || self.table.has(&listing_key(path));
        is_there || ever() || self.part.as_ref().is_some_and(touched)
    }

    /// The files under the directory `path` at HEAD; `None` when it is no directory there.
    #[must_use]
    pub fn files_under(&self, path: &BStr) -> Option<Vec<BString>> {
        let mut files = Vec::new();
        let mut pending = vec![path.to_owned()];
        while let Some(directory) = pending.pop() {
            let listing: Listing = match self.table.get(&listing_key(directory.as_ref())) {
                Some(listing) => postcard::from_bytes(&listing).ok()?,
                // A directory that is new has only files that are; any other that is missing is damage.
                None if directory == path && self.part.is_some() => Listing::new(),
                None => return None,
            };
            for (name, is_directory) in listing {
                let mut path = directory.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(&name);
                if is_directory { pending.push(path) } else { files.push(path) }
            }
        }
        if let Some(part) = &self.part {
            files.retain(|file| !part.removed.contains(file.as_slice()));
            let is_inside = |file: &&BString| {
                path.is_empty()
                    || file.strip_prefix(path.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
            };
            files.extend(part.added.iter().filter(is_inside).cloned());
        }
        files.sort_unstable();
        (!files.is_empty()).then_some(files)
    }

    /// What is known about `path`, whose bytes are now `content`, as far as it is `wanted`. Bytes that are as committed
    /// are those of HEAD, and not looked at.
    ///
    /// `None` when HEAD has no such file, or when it takes more than the index to say.
    pub(crate) fn record(
        &self,
        repository: &LazyRepository,
        path: &BStr,
        content: &Content,
        wanted: Wanted<'_>,
    ) -> Option<FileRecord> {
        let known = self.known_in(repository, path)?;
        known.with_record(|record| {
            let stored = stored::parse(record)?;
            load((self, &known.table, stored), repository, (path, content), wanted)
        })
    }

    /// Whether the file at `path`, whose bytes are now `content`, came to have code of another file that has it no more, and
    /// none of that is committed: then the files themselves have to be looked at.
    pub(crate) fn has_gained_code(
        &self,
        repository: &LazyRepository,
        path: &BStr,
        content: &Content,
    ) -> bool {
        let content = if content.blob().is_none() { content.bytes(repository) } else { None };
        let has_gained = |content: &[u8]| {
            let gained = |table: &Table, stored: StoredRecord<'_>| {
                let is_edited = stored.content.is_none_or(|hash| hash != content_hash(content));
                is_edited.then(|| lines::gained(table, path, content))
            };
            let gained = self.look_up(repository, path, gained);
            gained.is_some_and(|gained| self.come_from_elsewhere(repository, (path, content), &gained))
        };
        content.is_some_and(has_gained)
    }

    /// Whether the lines `gained` of the file at `path`, whose bytes are now `content`, may be code of another file that has
    /// it no more.
    fn come_from_elsewhere(
        &self,
        repository: &LazyRepository,
        (path, content): (&BStr, &[u8]),
        gained: &FileLines,
    ) -> bool {
        let may_be_gained = |telling: &[u32]| gained.may_hold(telling);
        let mut code: HashMap<BString, Vec<Vec<u32>>> = HashMap::new();
        for (file, pieces) in sketched::files_with(&self.table, (gained, moved::FEWEST), &may_be_gained) {
            let few = pieces.into_iter().filter(|piece| !piece.is_in_many(MAX_EDITED));
            code.entry(file).or_default().extend(few.map(|piece| piece.telling));
        }
        for (file, telling) in self.part.iter().flat_map(Part::sketched) {
            if may_be_gained(telling) {
                code.entry(file.clone()).or_default().push(telling.to_vec());
            }
        }
        code.retain(|file, code| !code.is_empty() && file != path);
        let lines = LazyCell::new(|| FileLines::of(content));
        let is_no_more = |(file, code): (BString, Vec<Vec<u32>>)| {
            let present = repository.get().ok()?.present_file(Some(self.state.head), file.as_bstr()).ok()?;
            let there = present.map(|present| FileLines::of(&present.content)).unwrap_or_default();
            let is_less = |telling: &Vec<u32>| {
                let n_there = there.n_of(telling);
                // No file has more than all of it.
                n_there < telling.len() && n_there < lines.n_of(telling)
            };
            Some(code.iter().any(is_less))
        };
        code.into_iter().any(|other| is_no_more(other).unwrap_or_default())
    }

    /// Whether the file at `path`, whose record is `stored` and which no commit changed since, may have code of another
    /// file at HEAD of which something was said later; `None` where that is damaged.
    fn was_annotated_late(
        &self,
        repository: &LazyRepository,
        (path, stored): (&BStr, &StoredRecord<'_>),
        part: &Part,
    ) -> Option<bool> {
        // Mostly there is no such note.
        if part.sketched_before(0).next().is_none() {
            return Some(false);
        }
        let newest = stored.places()?.first().copied()?;
        let here = lines::read(&self.table, path)?;
        let lines = ThenAndNow::new((&self.table, part), repository, self.state.head);
        let mut late = part.sketched_before(newest).filter(|(file, _)| *file != path);
        Some(late.any(|(file, telling)| {
            let is_gone = || lines.now(file.as_bstr()).n_of(telling) < here.n_of(telling);
            here.may_hold(telling) && is_gone()
        }))
    }

    /// Reads what is known about `path` at present, and the table that it lies in; `None` when HEAD has no such file.
    fn look_up<T>(
        &self,
        repository: &LazyRepository,
        path: &BStr,
        read: impl FnOnce(&Table, StoredRecord<'_>) -> Option<T>,
    ) -> Option<T> {
        let known = self.known_in(repository, path)?;
        read(&known.table, stored::parse(known.record()?)?)
    }

    /// Brings what is known about the files at `paths` up to date, where a table of another state knows them: what takes
    /// the whole history to say is looked for once for all of them. Else that is done for each when it is asked about.
    pub fn bring_up_to_date<'p>(
        &self,
        repository: &LazyRepository,
        paths: impl IntoIterator<Item = &'p BString>,
    ) {
        let Some(part) = &self.part else { return };
        let is_outdated = |path: &&BString| matches!(self.lies(repository, path.as_bstr()), Lies::Outdated);
        let paths: BTreeSet<&BString> = paths.into_iter().filter(is_outdated).collect();
        // Where that fails, whoever asks about one of them is told.
        if 1 < paths.len()
            && let Ok(memos) = build::memorize(repository, self, part, paths)
        {
            let known =
                |(path, memo): (BString, Table)| (path.clone(), Rc::new(Known::new(memo.into(), path)));
            let known = memos.into_iter().map(known);
            self.known.borrow_mut().extend(known);
        }
    }

    /// Where what is known about `path` at present lies; `None` when HEAD has no such file.
    fn known_in(&self, repository: &LazyRepository, path: &BStr) -> Option<Rc<Known>> {
        match self.lies(repository, path) {
            Lies::Nowhere => None,
            Lies::In(known) => Some(known),
            Lies::Outdated => {
                let path = path.to_owned();
                let memos = build::memorize(repository, self, self.part.as_ref()?, [&path].into()).ok()?;
                let known = Rc::new(Known::new(memos.into_iter().next()?.1.into(), path.clone()));
                self.known.borrow_mut().insert(path, Rc::clone(&known));
                Some(known)
            }
        }
    }

    /// Where what is known about `path` lies, as far as anything is there.
    fn lies(&self, repository: &LazyRepository, path: &BStr) -> Lies {
        if let Some(known) = self.known.borrow().get(path) {
            return Lies::In(Rc::clone(known));
        }
        let found = self.found(repository, path);
        if let Lies::In(known) = &found {
            self.known.borrow_mut().insert(path.to_owned(), Rc::clone(known));
        }
        found
    }

    /// The same, when that was not asked for before.
    fn found(&self, repository: &LazyRepository, path: &BStr) -> Lies {
        let known = Known::new(Rc::clone(&self.table), path.to_owned());
        let Some(part) = &self.part else { return Lies::In(Rc::new(known)) };
        if part.removed.contains(path.as_bytes()) {
            return Lies::Nowhere;
        }
        if let Some(memo) = Table::open(&memo_of(&self.state.part(), path)) {
            return Lies::In(Rc::new(Known::new(memo.into(), path.to_owned())));
        }
        let Some(bytes) = known.record() else {
            return if part.added.contains(path.as_bytes()) { Lies::Outdated } else { Lies::Nowhere };
        };
        if part.is_touched(path) {
            return Lies::Outdated;
        }
        let leaves = |stored: StoredRecord<'_>| {
            Some(part.leaves(&stored)? && !self.was_annotated_late(repository, (path, &stored), part)?)
        };
        match stored::parse(bytes).and_then(leaves) {
            Some(true) => Lies::In(Rc::new(known)),
            Some(false) => Lies::Outdated,
            None => Lies::Nowhere,
        }
    }

    /// What lies between the table's HEAD and the present one, and the history of the former; `None` where that is too
    /// much, or the table is damaged.
    fn way(&self, repository: &Repository) -> Result<Option<(&Span, &Ancestry)>> {
        let way = match self.way.get() {
            Some(known) => known,
            None => {
                let found = self.find_way(repository)?;
                self.way.get_or_init(|| found)
            }
        };
        Ok(way.as_ref().map(|(span, ancestry)| (span, ancestry)))
    }

    fn find_way(&self, repository: &Repository) -> Result<Option<(Span, Ancestry)>> {
        let base = self.table.get(META).and_then(|meta| postcard::from_bytes::<Meta>(&meta).ok());
        let ancestry = self.table.get(ANCESTRY).and_then(Ancestry::parse);
        let (Some(head), Some(ancestry)) = (base.and_then(|meta| meta.head.get()), ancestry) else {
            return Ok(None);
        };
        let span = Span::between(repository, &ancestry, head, self.state.head)?;
        Ok(span.map(|span| (span, ancestry)))
    }
}

/// What a record tells beside what is claimed of code.
#[derive(Clone, Copy)]
pub(crate) struct Told {
    /// What commits that changed the file say of themselves.
    pub(crate) summaries: bool,
    /// Who relies on the file.
    pub(crate) relations: bool,
    /// The commits that changed it, and those whose notes say something about it.
    pub(crate) commits: bool,
}

/// What of a file's record an answer needs.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'q> {
    /// The part of the file that is asked about.
    pub(crate) scope: &'q Scope,
    /// What is wanted beside claims.
    pub(crate) told: Told,
    /// Whether claims about code that is gone count only where that code is asked for by name.
    pub(crate) without_gone: bool,
}

/// The table that says what is known about a file at present: that of all files, or one of its own beside a part.
struct Known {
    table: Rc<Table>,
    path: BString,
    /// The record of the file, once it was asked for.
    record: OnceCell<Option<Value>>,
}

impl Known {
    fn new(table: Rc<Table>, path: BString) -> Self {
        Self { table, path, record: OnceCell::new() }
    }

    /// The record, which is kept: whoever asks may ask again.
    fn record(&self) -> Option<&[u8]> {
        self.record.get_or_init(|| self.table.get(&record_key(self.path.as_bstr()))).as_deref()
    }

    /// What `look` makes of the record, which is kept no longer than it was: that of a busy file takes so much room that to
    /// read it again costs less.
    fn with_record<T>(&self, mut look: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
        match self.record.get() {
            Some(kept) => look(kept.as_deref()?),
            None => self.table.with(&record_key(self.path.as_bstr()), look),
        }
    }
}

/// Where what is known about a file at present lies.
enum Lies {
    /// HEAD has no such file.
    Nowhere,
    In(Rc<Known>),
    /// In the table of another state alone.
    Outdated,
}

/// What was said of claims after they were made, as the index keeps it.
pub(crate) struct IndexedSaid<'i> {
    superseded: HashMap<EntryId, EntryId>,
    /// Where corrections lie, if there are any.
    corrections: Option<&'i Table>,
}

impl corrections::Said for IndexedSaid<'_> {
    fn superseded_by(&self, id: &str) -> Option<EntryId> {
        self.superseded.get(id).cloned()
    }

    fn corrections(&self, id: &str) -> Vec<CorrectionItem> {
        let found = self.corrections.and_then(|table| table.get(&correction_key(id)));
        found.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default()
    }
}

fn load(
    (index, table, stored): (&Index, &Table, StoredRecord<'_>),
    repository: &LazyRepository,
    (path, content): (&BStr, &Content),
    wanted: Wanted<'_>,
) -> Option<FileRecord> {
    let Wanted { scope, told, .. } = wanted;
    let name = path.to_string();
    if !stored.has_claims() {
        let edited = if content.blob().is_none() { content.bytes(repository) } else { None };
        let edited = edited.filter(|content| stored.content.is_none_or(|hash| hash != content_hash(content)));
        if edited.is_some_and(|content| {
            index.come_from_elsewhere(repository, (path, content), &lines::gained(table, path, content))
        }) {
            return None;
        }
        return stored.load(table, &name, None, told, |_, _, _| true);
    }
    let is_committed = content.blob().is_some();
    let content = if is_committed { None } else { content.bytes(repository) };
    if let (false, None, Some(_)) = (is_committed, content, stored.content) {
        return stored.load(table, &name, None, told, |placement, _, anchor| {
            *placement = placement.of_missing_file();
            placement.concerns(scope, anchor)
        });
    }
    let drift = match (content, stored.content) {
        _ if is_committed => None,
        (Some(content), Some(hash)) if content_hash(content) == hash => None,
        (None, None) => None,
        _ if stored.has_lost => return None,
        (Some(content), Some(_)) if is_opaque(content) == stored.is_opaque => {
            let words = table.get(&words_key(path))?;
            Some(Drift::new(repository, path, &words, content, stored.is_opaque)?)
        }
        _ => return None,
    };
    let mut is_known = true;
    // Where the file was edited, each place is to be carried before it can be asked about.
    let asked = Asked::of(wanted).filter(|_| drift.is_none());
    if let (Some(drift), Some(content)) = (&drift, content)
        && index.come_from_elsewhere(repository, (path, content), &drift.gained())
    {
        return None;
    }
    let origins = drift.as_ref().map(|_| (stored.sources.clone(), stored.names.clone())).unwrap_or_default();
    let is_elsewhere = |file: &str| file != name && is_elsewhere(file, (&origins.0, &origins.1));
    // Claims about code of another file, by the number that they get.
    let mut damaged = Vec::new();
    let mut n_claims = 0;
    let mut record = stored.load(table, &name, asked.as_ref(), told, |placement, name, anchor| {
        if let Some(drift) = &drift {
            if anchor.is_none() && drift.lies_aside(placement, scope) {
                return false;
            }
            if is_elsewhere(name) {
                damaged.push(n_claims);
                n_claims += 1;
                return true;
            }
            is_known &= drift.carry(placement).is_some();
        }
        let concerns = placement.may_concern(scope, anchor);
        n_claims += usize::from(concerns);
        concerns
    })?;
    for number in damaged.into_iter().rev() {
        let claim = &record.claims[number];
        let heading = &record.headings[claim.heading];
        let tree = repository.get().ok()?.commit(heading.commit).ok().map(|commit| commit.tree);
        let present = drift.as_ref()?.present();
        let placed = moved::placed(repository.get().ok()?, present, &located(claim, heading), tree).ok()?;
        let anchor = claim.body.anchor().map(|anchor| anchor.name.as_str());
        match placed.filter(|placement| placement.may_concern(scope, anchor)) {
            Some(placement) => record.claims[number].placement = placement,
            None => drop(record.claims.remove(number)),
        }
    }
    is_known.then_some(record)
}
