//! Makes the table of the repository's present state.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs, io,
    path::{Path, PathBuf},
    rc::Rc,
    time::{Duration, SystemTime},
};

use chronicle_core::{EntryId, line_words};
use chronicle_git::{
    BStr, BString, ByteSlice, FileHistory, FileLock, Glance, History, LazyRepository, ObjectId, Repository,
};
use twox_hash::XxHash3_64;

use crate::{
    corrections::Afterwords,
    error::Result,
    gather::Gathered,
    index::{
        ANCESTRY, BESIDE, CHANGES, EVER, Index, KEYS, Listing, MAX_STATES, META, Meta, NAMED, PART,
        PART_FILE, State, Supersession,
        adapt::{Outdated, Placed},
        ancestry::Ancestry,
        beside::Beside,
        blame::Blaming,
        blame_key,
        changes::{self, StoredChanges},
        content_hash, correction_key, last_component, lines, listing_key, memo_of, name_key,
        part::{self, Base, Known, Made, Part, Span, id_prefix},
        record_key, sketched, spoken, stored,
        table::{Table, TableWriter},
        words_key,
    },
    matching::{Candidate, Ground},
    moved::FileLines,
    notebook::Notebook,
    past::Walked,
    present::{Present, is_opaque},
    prose::passages,
    record::FileRecord,
};

/// What came of [`refresh`].
pub struct Refreshed {
    /// The index of the state, if it has one now.
    pub index: Option<Index>,
    /// Whether a whole table of the present state is left to be made by [`make_table`]: the ones that are there lie far
    /// from it, or there is none and the history is long.
    pub wants_table: bool,
}

/// Makes the index of the state that `glance` saw if it has none: from an older one where they lie close together, else
/// anew. A whole table where there is another one already is left to [`make_table`].
///
/// Nobody waits for another process that is at it already, and a repository that cannot be written
/// to goes without.
///
/// # Errors
/// When the repository cannot be read.
pub fn refresh(repository: &Repository, glance: &Glance) -> Result<Refreshed> {
    let enough = |index| Ok(Refreshed { index, wants_table: false });
    let Some(state) = State::seen(glance) else { return enough(None) };
    let known = Index::of(state.clone(), None);
    if known.is_some() || fs::create_dir_all(state.directory()).is_err() {
        return enough(known);
    }
    let Ok(Some(_lock)) = FileLock::try_acquire(&lock_of_parts(&state)) else { return enough(None) };
    let kept = Kept::at(&state.directory());
    match write_part(repository, &state, &kept)? {
        Ok(refreshed) => {
            kept.forget_old(&state);
            Ok(refreshed)
        }
        Err(Without::Far) => Ok(Refreshed { index: None, wants_table: true }),
        Err(Without::Alone) if is_being_made(&state) => enough(None),
        Err(Without::Alone) => {
            let history = repository.history(&[state.head])?;
            if LONG_HISTORY < history.nodes().len() {
                return Ok(Refreshed { index: None, wants_table: true });
            }
            if let Some(lock) = begin_table(&state) {
                write_table((repository, &history), &state, &lock)?;
            }
            enough(Index::of(state, None))
        }
    }
}

/// Makes a whole table of the repository's present state where none lies near it, and nobody else is at it.
///
/// It takes long, and is for those whom nobody waits for. Meanwhile others read and make parts as before.
/// Where the last try came to nothing, ten minutes pass before the next one: each new state asks for it.
///
/// # Errors
/// When the repository cannot be read.
pub fn make_table(repository: &Repository) -> Result<()> {
    let Some(state) = State::of(repository)? else { return Ok(()) };
    if Table::open(&state.table()).is_some() || fs::create_dir_all(state.directory()).is_err() {
        return Ok(());
    }
    let kept = Kept::at(&state.directory());
    let is_near = part_of(repository, &state, &kept)?.is_ok_and(|new| !new.made.part.is_far());
    if !is_near
        && !failed_lately(&state)
        && let Some(lock) = begin_table(&state)
    {
        write_table((repository, &repository.history(&[state.head])?), &state, &lock)?;
    }
    Ok(())
}

/// Makes the index of `state` if that takes no whole table.
pub(super) fn make_part(repository: &Repository, state: &State) -> Result<Option<Index>> {
    let Ok(Some(_lock)) = FileLock::try_acquire(&lock_of_parts(state)) else { return Ok(None) };
    let kept = Kept::at(&state.directory());
    let Ok(refreshed) = write_part(repository, state, &kept)? else { return Ok(None) };
    kept.forget_old(state);
    Ok(refreshed.index)
}

/// Whoever makes a part holds it.
fn lock_of_parts(state: &State) -> PathBuf {
    state.directory().join("lock")
}

/// Whoever makes a whole table holds it, longer than anybody should have to wait for a part.
fn lock_of_tables(state: &State) -> PathBuf {
    state.directory().join("table.lock")
}

/// How long nobody tries again what failed: a full disk stays full for a while, a long history stays long.
const PAUSE: Duration = Duration::from_mins(10);

/// Whether a table was begun a short while ago, and none came of it.
fn failed_lately(state: &State) -> bool {
    let changed = |path: &Path| fs::metadata(path).ok()?.modified().ok();
    let Some(begun) = changed(&lock_of_tables(state)) else { return false };
    let is_made = Kept::at(&state.directory()).tables.iter().any(|(made, _)| begun <= *made);
    // A time to come is no time that passed: the clock was set back.
    !is_made && begun.elapsed().is_ok_and(|passed| passed < PAUSE)
}

/// A table of more commits takes too long to make while someone waits for an answer.
const LONG_HISTORY: usize = 100_000;

/// Whether somebody else is making a table.
fn is_being_made(state: &State) -> bool {
    // Who only looks leaves no lock behind, as if a table had been begun.
    let lock = lock_of_tables(state);
    lock.exists() && matches!(FileLock::try_acquire(&lock), Ok(None))
}

/// Takes the lock that whoever makes a table holds; `None` when somebody else has it.
fn begin_table(state: &State) -> Option<FileLock> {
    let lock = FileLock::try_acquire(&lock_of_tables(state)).ok()??;
    lock.touch();
    forget_unfinished(&state.directory());
    forget_strays(&state.shared_directory());
    Some(lock)
}

/// Writes the whole table of `state`, whose commits are `history`, while the lock is held.
fn write_table(
    (repository, history): (&Repository, &History),
    state: &State,
    _lock: &FileLock,
) -> Result<()> {
    if let Ok(file) = temporary(&state.directory())
        && let Ok(writer) = TableWriter::new(file)
        // A disk that is full costs the index, not the answer.
        && let Some(writer) = write((repository, history), state, writer)?
        && let Ok(file) = writer.finish()
    {
        // A purge may have gone by meanwhile, which takes words out of the notes and removes tables of before.
        if repository.memory_tips()? == state.notes {
            let _persisted = file.persist(state.table());
        }
        Kept::at(&state.directory()).forget_old(state);
    }
    Ok(())
}

/// Why there is no part.
enum Without {
    /// The state lies further from every table than a part can reach.
    Far,
    /// There is no table to build on.
    Alone,
}

/// Writes what lies between a table and `state`, if that is not too much.
fn write_part(
    repository: &Repository,
    state: &State,
    kept: &Kept,
) -> Result<std::result::Result<Refreshed, Without>> {
    let NewPart { made: Made { mut part, beside, words, span }, older, table, ancestry, twin } =
        match part_of(repository, state, kept)? {
            Ok(new) => new,
            Err(without) => return Ok(Err(without)),
        };
    let afterwords = part.meta.see_corrections(repository)?;
    let wants_table = part.is_far();
    let (Ok(packed), Ok(beside)) = (postcard::to_allocvec(&part), postcard::to_allocvec(&beside)) else {
        return Ok(Ok(Refreshed { index: None, wants_table }));
    };
    let place = state.part().join(PART_FILE);
    // A disk that is full costs the index, not the answer.
    let news = fs::create_dir_all(state.part()).and_then(|()| {
        written(&state.part(), &place, |writer| {
            spoken::write(writer, older, words)?;
            write_corrections(writer, &afterwords)?;
            writer.value(BESIDE, &beside)?;
            writer.value(PART, &packed)
        })
    });
    let news = news.ok().and_then(|()| Table::open(&place));
    if let (Some(twin), true) = (twin, news.is_some()) {
        take_over_records(&twin, &packed, state);
    }
    let way = span.map(|span| (span, ancestry));
    let index =
        news.map(|news| Index::new(state.clone(), table.into(), part.meta.clone(), Some((part, news))));
    let index = index.map(|index| match way {
        Some(way) => index.by_way_of(way),
        None => index,
    });
    Ok(Ok(Refreshed { index, wants_table }))
}

/// Parts that are looked at, to add to one of them.
const MAX_OLDER: usize = 2;

/// A part that is to be written.
struct NewPart {
    made: Made,
    /// The words of notes that are not new.
    older: Option<spoken::Older>,
    /// The table that it builds on, and that table's history.
    table: Table,
    ancestry: Ancestry,
    /// A part of the same HEAD and notes: only branches, or what is trusted, may have changed since.
    twin: Option<PathBuf>,
}

/// What lies between a table and `state`: the newest one near it, else the newest that a part can reach from;
/// what stands in the way when there is none.
fn part_of(
    repository: &Repository,
    state: &State,
    kept: &Kept,
) -> Result<std::result::Result<NewPart, Without>> {
    let mut best = Err(Without::Alone);
    let bases = kept.tables.iter().filter_map(|(_, path)| Base::open(path));
    for base in bases.filter(|base| base.meta.frame == state.frame) {
        match part_on(repository, base, state, kept)? {
            Some(new) if !new.made.part.is_far() => return Ok(Ok(new)),
            Some(new) if best.is_err() => best = Ok(new),
            None if best.is_err() => best = Err(Without::Far),
            _ => {}
        }
    }
    Ok(best)
}

/// What lies between the table `base` and `state`; `None` when a part cannot say it.
fn part_on(repository: &Repository, base: Base, state: &State, kept: &Kept) -> Result<Option<NewPart>> {
    let (mut known, mut twin) = (None, None);
    for (_, path) in kept.parts.iter().take(MAX_OLDER) {
        let Some((news, part, beside)) = read_part(path, base.name()) else { continue };
        if twin.is_none() && part.is_of(state) {
            twin = Some(path.clone());
        }
        // Nothing is gone on with that is damaged: the next part would never come to be.
        let read_older = || spoken::Older::read(&news);
        match part.grown(&beside, repository, &base, state)? {
            Some(made) => {
                if let Some(older) = read_older() {
                    let Base { table, ancestry, .. } = base;
                    return Ok(Some(NewPart { made, older: Some(older), table, ancestry, twin }));
                }
            }
            None if known.is_none() => {
                let changed_since = part.changed_since(repository, state)?;
                known = changed_since.zip(read_older()).map(|found| (part, beside, found));
            }
            None => {}
        }
    }
    let of_known =
        known.as_ref().map(|(part, beside, (changed_since, _))| Known { part, beside, changed_since });
    let Some(made) = Part::between(repository, &base, state, of_known)? else { return Ok(None) };
    let older = known.map(|(part, beside, (changed_since, older))| {
        let lender = Known { part: &part, beside: &beside, changed_since: &changed_since };
        older.of(|commit| made.part.is_fresh_here(commit) && lender.lends(commit))
    });
    let Base { table, ancestry, .. } = base;
    Ok(Some(NewPart { made, older, table, ancestry, twin }))
}

/// Takes over the records beside the part `twin` if that says what the one of `state` does, which is `packed`: files that
/// take the whole history need not be made again where branches came and went that are nothing to them.
fn take_over_records(twin: &Path, packed: &[u8], state: &State) {
    let said = Table::open(&twin.join(PART_FILE)).and_then(|news| news.get(PART));
    if said.is_none_or(|said| *said != *packed) {
        return;
    }
    for record in entries(twin).filter(|path| !path.ends_with(PART_FILE) && !is_unfinished(path)) {
        if let Some(name) = record.file_name() {
            // It can be made again where it cannot be linked.
            let _linked = fs::hard_link(&record, state.part().join(name));
        }
    }
}

/// The part in `directory` and what belongs to it, if it is whole and builds on the table of the state `base`.
fn read_part(directory: &Path, base: &str) -> Option<(Table, Part, Beside)> {
    let news = Table::open(&directory.join(PART_FILE))?;
    let part: Part = postcard::from_bytes(&news.get(PART)?).ok()?;
    let beside = postcard::from_bytes(&news.get(BESIDE)?).ok()?;
    (part.base == base).then_some((news, part, beside))
}

/// Brings the records of `paths` up to date and keeps each; those that HEAD has no file for are left out.
pub(super) fn memorize(
    lazy: &LazyRepository,
    index: &Index,
    part: &Part,
    paths: BTreeSet<&BString>,
) -> Result<Vec<(BString, Table)>> {
    let repository = lazy.get()?;
    let state = &index.state;
    let Some((span, ancestry)) = index.way(repository)? else { return Ok(Vec::new()) };
    let mut memos = Vec::new();
    let mut keep = |path: &BString, Placed { record, content, lines }: Placed| {
        let memo = memo_of(&state.part(), path.as_bstr());
        let is_written = written(&state.part(), &memo, |writer| {
            write_record(writer, path.as_bstr(), &record, Some(&content), None)?;
            lines::write(path.as_bstr(), &lines, writer)
        });
        memos.extend(is_written.ok().and_then(|()| Some((path.clone(), Table::open(&memo)?))));
    };
    let mut left = Vec::new();
    for path in paths {
        match adapted(lazy, index, part, path.as_bstr(), (span, ancestry))? {
            Some(placed) => keep(path, placed),
            None => left.push(path.clone()),
        }
        repository.forget_read_ahead();
    }
    // Commits are numbered as in the records of the other files.
    let number = |id| {
        let gained = || span.gained.history.place(id).map(|place| u32::MAX - place);
        ancestry.place(id).or_else(gained)
    };
    let history = || {
        let history = repository.history(&[state.head])?;
        let changes = index.table.get(CHANGES).and_then(StoredChanges::parse);
        Ok(match changes.and_then(|changes| changes.whole()) {
            Some(changes) => history.knowing(changes, |history, at| ancestry.place_of(history, at)),
            None => history,
        })
    };
    from_whole_history((repository, history), state.head, left, |path, mut placed| {
        placed.record.places = placed.record.steps.iter().filter_map(|step| number(step.commit)).collect();
        keep(path, placed);
    })?;
    Ok(memos)
}

/// The record made of the one in the older table; `None` when it takes the whole history.
fn adapted(
    lazy: &LazyRepository,
    index: &Index,
    part: &Part,
    path: &BStr,
    (span, ancestry): (&Span, &Ancestry),
) -> Result<Option<Placed>> {
    let table = &index.table;
    let bytes = table.get(&record_key(path));
    let stored = bytes.as_ref().and_then(|bytes| stored::parse(bytes));
    // A path that some commit had before is the same file to a walk through history; what names one that comes later
    // means that.
    let may_be_known = |hashes| table.get(hashes).is_none_or(|hashes| has_hash(&hashes, path));
    if stored.is_none() && (may_be_known(EVER) || may_be_known(NAMED)) {
        return Ok(None);
    }
    let words = table.get(&words_key(path)).unwrap_or_default();
    let outdated = Outdated { lazy, part, table, ancestry, stored, words, path };
    outdated.adapt(span, index.state.head)
}

/// Makes the records of those of `paths` that the commit `head` has, from the whole history.
fn from_whole_history(
    (repository, history): (&Repository, impl FnOnce() -> Result<History>),
    head: ObjectId,
    mut paths: Vec<BString>,
    mut keep: impl FnMut(&BString, Placed),
) -> Result<()> {
    let tree = repository.commit_tree(head)?;
    let mut blobs = Vec::new();
    for path in std::mem::take(&mut paths) {
        if let Some(blob) = repository.blob_at(tree, path.as_bstr())? {
            blobs.push(blob);
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Ok(());
    }
    let notebook = Notebook::open(repository, &mut Vec::new())?;
    let history = history()?;
    let followed = repository.follow(&history, &paths)?;
    let walked = Walked::new(repository, &history, &followed);
    let ground = Ground::new(repository, &notebook, &walked, &paths, false);
    let candidates = ground.candidates(&mut Vec::new())?;
    let mut gathered = Gathered::from(&ground, &candidates);
    for (number, (path, blob)) in paths.iter().zip(blobs).enumerate() {
        let Some(content) = repository.blob_if_here(blob)? else { continue };
        repository.read_ahead(gathered.versions(number));
        let record = gathered.place(number, &Present::new(path.clone(), Some(&content)))?;
        repository.forget_read_ahead();
        let lines = Rc::new(FileLines::of(&content));
        keep(path, Placed { record, content, lines });
    }
    Ok(())
}

/// How files are called that are not finished.
const UNFINISHED: &str = "new-";

fn temporary(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(directory)
}

/// Removes tables that nobody finished: whoever began them was killed, or the lock would not be ours.
fn forget_unfinished(directory: &Path) {
    for path in entries(directory).filter(|path| is_unfinished(path)) {
        let _removed = fs::remove_file(path);
    }
}

/// Tables that no user was looking for this long are of someone who is gone.
const STRAY_FOR: Duration = Duration::from_hours(60 * 24);

/// Removes tables of users who are gone, and those of older versions, which are no directory's.
fn forget_strays(shared: &Path) {
    let changed = |path: &Path| fs::metadata(path).ok()?.modified().ok()?.elapsed().ok();
    for path in entries(shared) {
        let is_old_form = path.is_file() || path.join(PART_FILE).exists();
        if is_old_form || changed(&path).is_some_and(|since| STRAY_FOR < since) {
            let _removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

fn is_unfinished(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(UNFINISHED))
}

/// Writes a table aside, then puts it in its place.
fn written(
    directory: &Path,
    place: &Path,
    write: impl FnOnce(&mut Writer) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = TableWriter::new(temporary(directory)?)?;
    write(&mut writer)?;
    writer.finish()?.persist(place)?;
    Ok(())
}

type Writer = TableWriter<tempfile::NamedTempFile>;

/// Writes everything that is known about the files at the newest commit of `history`; `None` when writing fails.
fn write(
    (repository, history): (&Repository, &History),
    state: &State,
    mut writer: Writer,
) -> Result<Option<Writer>> {
    let mut warnings = Vec::new();
    let notebook = Notebook::open(repository, &mut warnings)?;
    let tree = history.nodes()[0].tree;
    let paths = repository.files_under(tree, BStr::new(""))?;
    let (followed, changes) = repository.follow_all(history, &paths)?;
    let walked = Walked::new(repository, history, &followed);
    let ground = Ground::new(repository, &notebook, &walked, &paths, false).of_all_files();
    // Of all files, also those that none of today's notes asks for.
    let of_files = ground.holders(u32::MAX).by_file();
    let (candidates, off) = ground.all_candidates(history, &mut warnings)?;
    let beside = Beside::new(off.tips, off.commits);
    let mut gathered = Gathered::from(&ground, &candidates);
    let mut blaming = Blaming::new(repository, history);
    for (number, path) in paths.iter().enumerate() {
        let file = (path, &followed.files[number]);
        let is_written = write_file((&mut blaming, tree), file, (&mut gathered, number), &mut writer)?
            .and_then(|()| lines::write(path.as_bstr(), &of_files[number], &mut writer));
        if is_written.is_err() {
            return Ok(None);
        }
        repository.forget_read_ahead();
    }
    let stored = notebook.knowledge()?;
    let knowledge_warnings = stored.remarks.iter();
    let knowledge_warnings =
        knowledge_warnings.map(|remark| format!("the repository's knowledge: {remark}")).collect();
    let mut keys: Vec<[u8; 8]> =
        notebook.keys().filter(|key| !chronicle_git::is_knowledge_key(*key)).map(id_prefix).collect();
    keys.sort_unstable();
    let mut meta = Meta {
        head: state.head.into(),
        notes: part::stored_notes(state),
        frame: state.frame,
        head_time: history.nodes()[0].time,
        has_any: notebook.has_any(),
        superseded: supersessions(&candidates),
        knowledge: stored.knowledge.and_then(|knowledge| serde_json::to_string(&knowledge).ok()),
        warnings,
        knowledge_warnings,
        has_corrections: false,
        correction_warnings: Vec::new(),
        n_annotated: keys.len(),
    };
    let afterwords = meta.see_corrections(repository)?;
    let ever = hashes(with_directories(&changes.paths));
    let named = hashes(named(repository, &candidates));
    let is_written = write_rest(&meta, &paths, &mut writer)
        .and_then(|()| writer.value(ANCESTRY, &Ancestry::store(history)))
        .and_then(|()| writer.value(BESIDE, &postcard::to_allocvec(&beside).map_err(io::Error::other)?))
        .and_then(|()| sketched::write(&gathered.sketched(), &mut writer))
        .and_then(|()| writer.value(EVER, &ever))
        .and_then(|()| writer.value(CHANGES, &changes::store(&changes).map_err(io::Error::other)?))
        .and_then(|()| writer.value(NAMED, &named))
        .and_then(|()| writer.value(KEYS, keys.as_flattened()))
        .and_then(|()| write_corrections(&mut writer, &afterwords))
        .and_then(|()| spoken::write(&mut writer, None, candidates.iter().flat_map(passages)));
    Ok(is_written.is_ok().then_some(writer))
}

/// The paths and the directories on the way to them.
fn with_directories(paths: &[BString]) -> BTreeSet<&[u8]> {
    let ends = |path: &'_ BString| -> Vec<usize> { path.find_iter(b"/").chain([path.len()]).collect() };
    paths.iter().flat_map(|path| ends(path).into_iter().map(move |end| &path[..end])).collect()
}

/// The paths that notes name, and those that commits off the history changed.
fn named(repository: &Repository, candidates: &[Candidate]) -> BTreeSet<Vec<u8>> {
    let mut named = BTreeSet::new();
    for candidate in candidates {
        named.extend(part::Names::of(&candidate.stored).files.into_iter().map(String::into_bytes));
        if candidate.place.is_none() {
            named.extend(candidate.changed_paths(repository));
        }
    }
    named
}

/// The hashes of paths, eight big-endian bytes each in order.
fn hashes(paths: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<u8> {
    let mut hashes: Vec<u64> = paths.into_iter().map(|path| XxHash3_64::oneshot(path.as_ref())).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into_iter().flat_map(u64::to_be_bytes).collect()
}

/// Whether the hash of `path` is among `hashes`, eight big-endian bytes each in order.
pub(super) fn has_hash(hashes: &[u8], path: &BStr) -> bool {
    let (hashes, _) = hashes.as_chunks::<8>();
    hashes.binary_search(&XxHash3_64::oneshot(path).to_be_bytes()).is_ok()
}

fn supersessions(candidates: &[Candidate]) -> Vec<Supersession> {
    let mut pairs = Vec::new();
    for candidate in candidates.iter().filter(|candidate| candidate.place.is_some()) {
        for (_, entry) in candidate.stored.note.entries() {
            pairs.extend(entry.supersedes.iter().map(|old| Supersession {
                old: old.0.clone(),
                new: entry.id.0.clone(),
                by: candidate.key.into(),
                counts: true,
            }));
        }
    }
    pairs
}

impl Meta {
    /// Judges what was said of claims after they were made.
    fn see_corrections(&mut self, repository: &Repository) -> Result<Afterwords> {
        let pair = |pair: &Supersession| (EntryId(pair.old.clone()), EntryId(pair.new.clone()));
        let afterwords = Afterwords::load(repository, self.superseded.iter().map(pair).collect())?;
        for superseded in &mut self.superseded {
            superseded.counts = !afterwords.doubted.contains(&pair(superseded));
        }
        self.has_corrections = !afterwords.corrections.is_empty();
        self.correction_warnings.clone_from(&afterwords.warnings);
        Ok(afterwords)
    }
}

fn write_corrections(writer: &mut Writer, afterwords: &Afterwords) -> io::Result<()> {
    for (id, corrections) in &afterwords.corrections {
        writer.value(&correction_key(&id.0), &serde_json::to_vec(corrections)?)?;
    }
    Ok(())
}

/// Writes the record of one file; where claims have to be carried from its lines, these and who wrote them.
fn write_file(
    (blaming, tree): (&mut Blaming<'_>, ObjectId),
    (path, file): (&BString, &FileHistory),
    (gathered, number): (&mut Gathered<'_>, usize),
    writer: &mut Writer,
) -> Result<io::Result<()>> {
    let repository = blaming.repository;
    if !gathered.has_claims(number) {
        let mut record = gathered.place(number, &Present::new(path.clone(), None))?;
        record.steps.clear();
        let of = (gathered.content_hash(number), false);
        return Ok(stored::store(
            writer,
            &record_key(path.as_ref()),
            &path.to_string(),
            &record,
            of,
            file.renamed_at,
        )
        .and_then(|()| writer.value(&words_key(path.as_ref()), b"")));
    }
    let blob = repository.blob_at(tree, path.as_bstr())?;
    let n_bytes = blob.and_then(|blob| repository.size_if_here(blob).ok()?);
    let is_held = n_bytes.is_some_and(|n_bytes| Blaming::holds(file, n_bytes));
    let all = file.touches.iter().filter(|_| is_held).filter_map(|touch| touch.new);
    repository.read_ahead_in_turn(gathered.versions(number).into_iter().chain(all).chain(blob).collect());
    let content = blob.and_then(|blob| repository.blob_if_here(blob).ok()?);
    let present = Present::new(path.clone(), content.as_deref());
    let is_blamed = is_held && content.as_deref().is_some_and(|content| !is_opaque(content));
    if is_blamed {
        blaming.read_versions(file, &present)?;
    }
    let record = gathered.place(number, &present)?;
    let blame = match blob.filter(|_| is_blamed) {
        Some(blob) => blaming.blame(file, &present, blob)?,
        None => None,
    };
    let written = write_record(writer, path.as_ref(), &record, content.as_deref(), file.renamed_at);
    Ok(written.and_then(|()| match blame {
        Some(blame) => {
            writer.value(&blame_key(path.as_ref()), &postcard::to_allocvec(&blame).map_err(io::Error::other)?)
        }
        None => Ok(()),
    }))
}

/// Writes a record, and the words of the lines that its claims are placed in.
fn write_record(
    writer: &mut Writer,
    path: &BStr,
    record: &FileRecord,
    content: Option<&[u8]>,
    renamed_at: Option<u32>,
) -> io::Result<()> {
    let is_opaque = content.is_some_and(is_opaque);
    let of = (content.map(content_hash), is_opaque);
    stored::store(writer, &record_key(path), &path.to_string(), record, of, renamed_at)?;
    match content {
        Some(content) if !record.claims.is_empty() && !is_opaque => {
            let words: Vec<u8> = line_words(content).into_iter().flat_map(u32::to_le_bytes).collect();
            writer.value(&words_key(path), &words)
        }
        _ => writer.value(&words_key(path), b""),
    }
}

fn write_rest(meta: &Meta, paths: &[BString], writer: &mut Writer) -> io::Result<()> {
    let bytes = |value: postcard::Result<Vec<u8>>| value.map_err(io::Error::other);
    for (directory, listing) in listings(paths) {
        writer.value(&listing_key(directory.as_ref()), &bytes(postcard::to_allocvec(&listing))?)?;
    }
    let mut by_name: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
    for path in paths {
        by_name.entry(last_component(path)).or_default().push(path);
    }
    for (name, paths) in by_name {
        writer.value(&name_key(name.as_bstr()), &bytes(postcard::to_allocvec(&paths))?)?;
    }
    writer.value(META, &bytes(postcard::to_allocvec(meta))?)
}

/// The entries of each directory.
fn listings(paths: &[BString]) -> HashMap<BString, Listing> {
    let mut entries: BTreeMap<BString, BTreeMap<Vec<u8>, bool>> = BTreeMap::new();
    entries.entry(BString::default()).or_default();
    for path in paths {
        let mut directory = BString::default();
        let mut parts = path.split_str(b"/").peekable();
        while let Some(part) = parts.next() {
            let is_directory = parts.peek().is_some();
            entries.entry(directory.clone()).or_default().insert(part.to_vec(), is_directory);
            if !directory.is_empty() {
                directory.push(b'/');
            }
            directory.extend_from_slice(part);
        }
    }
    entries.into_iter().map(|(directory, entries)| (directory, entries.into_iter().collect())).collect()
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().filter_map(io::Result::ok).map(|entry| entry.path())
}

/// Tables that are kept; parts build on the newest one.
const MAX_TABLES: usize = 3;

/// What the index holds.
struct Kept {
    /// Newest first.
    tables: Vec<(SystemTime, PathBuf)>,
    /// Newest first.
    parts: Vec<(SystemTime, PathBuf)>,
}

impl Kept {
    /// What lies in `directory`.
    fn at(directory: &Path) -> Self {
        let mut kept = Self { tables: Vec::new(), parts: Vec::new() };
        for path in entries(directory) {
            if path.as_os_str().as_encoded_bytes().ends_with(b"lock") || is_unfinished(&path) {
                continue;
            }
            let Ok(metadata) = fs::metadata(&path) else { continue };
            let Ok(changed) = metadata.modified() else { continue };
            let kind = if metadata.is_dir() { &mut kept.parts } else { &mut kept.tables };
            kind.push((changed, path));
        }
        for kind in [&mut kept.tables, &mut kept.parts] {
            kind.sort_unstable_by(|left, right| right.cmp(left));
        }
        kept
    }

    /// Removes what is older than all that is to be kept. Many parts go at once: each switch to another commit would
    /// otherwise wait for one to go.
    fn forget_old(self, state: &State) {
        let n_parts = if 2 * MAX_STATES < self.parts.len() { MAX_STATES } else { 2 * MAX_STATES };
        let old = self.parts.into_iter().skip(n_parts).chain(self.tables.into_iter().skip(MAX_TABLES));
        let is_this = |path: &PathBuf| *path == state.table() || *path == state.part();
        for (_, path) in old.filter(|(_, path)| !is_this(path)) {
            // Someone else may have removed it, or may be reading it: either is fine.
            let _removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}
