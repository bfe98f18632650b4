//! The read pipeline: from files and lines to what is known about them (DESIGN section 4).

use std::collections::{HashMap, HashSet};

use chronicle_core::{
    Category, ContextLevel, EntryId, Knowledge, LineRange,
    correction::Tier,
    mentions::{agree, segments},
    reading::{Dependency, Query, Reading, WisdomItem},
    room,
};
use chronicle_git::{BString, ByteSlice, GitError, LazyRepository, ObjectId, Repository};
use jiff::Timestamp;

use crate::{
    Content,
    answer::{Scoped, Setting, answer},
    corrections::{Afterwords, Pair},
    error::Result,
    gather::Gathered,
    kept::Caches,
    matching::{Candidate, Ground},
    name_now::{NameNow, NamesNow},
    notebook::Notebook,
    past::{
        Whereabouts,
        known::{Known, Line},
    },
    present::Present,
};

/// What to read about.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// The question, as it is echoed.
    pub query: Query,
    /// The files.
    pub files: Vec<ScopeFile>,
    /// The part of each file that is meant; files beyond these are meant as a whole.
    pub scopes: Vec<Scope>,
    /// Which of the answers are wanted.
    pub limits: Limits,
    /// Whether commits of other branches count too.
    pub all: bool,
    /// Days after which recency has fallen to one half.
    pub half_life_days: f64,
    /// The commit whose files and history count, instead of HEAD's history and the files as they are now.
    pub at: Option<ObjectId>,
    /// The time.
    pub now: Timestamp,
}

impl ReadRequest {
    /// The part of the file number `number` that is meant.
    pub(crate) fn scope(&self, number: usize) -> &Scope {
        static WHOLE: Scope = Scope { lines: None, names: Vec::new() };
        self.scopes.get(number).unwrap_or(&WHOLE)
    }
}

/// The part of a file that is asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Its lines; `None` for the whole file.
    pub lines: Option<Vec<LineRange>>,
    /// The names of the code that stands there, if it was asked for by name.
    pub names: Vec<String>,
}

impl Scope {
    /// What belongs to either.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.lines = self.lines.zip(other.lines).map(|(ours, theirs)| [ours, theirs].concat());
        self.names.extend(other.names);
        self
    }

    /// Whether `anchor` is one of the names that were asked for.
    pub(crate) fn names(&self, anchor: Option<&str>) -> bool {
        let Some(anchor) = anchor.filter(|_| !self.names.is_empty()) else { return false };
        let anchor = segments(anchor);
        self.names.iter().any(|name| agree(&segments(name), &anchor))
    }
}

/// A file to read about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeFile {
    /// Its path now, or the one it had when it was deleted.
    pub path: BString,
    /// Its path at HEAD, which differs when a rename is not committed yet.
    pub at_head: BString,
}

impl From<BString> for ScopeFile {
    fn from(path: BString) -> Self {
        Self { at_head: path.clone(), path }
    }
}

/// Which of the answers are wanted.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Written after this moment.
    pub since: Option<Timestamp>,
    /// With one of these labels; empty for any.
    pub tags: Vec<String>,
    /// Code units are answered as the lessons they hold, and summaries not at all.
    pub lessons_only: bool,
    /// What is claimed about a commit as a whole is answered for each file, also where it concerns several.
    pub per_file: bool,
    /// Of lessons, those of this category only.
    pub category: Option<Category>,
    /// Testimony or inference only.
    pub context_level: Option<ContextLevel>,
    /// Trusted at least so far.
    pub min_confidence: f64,
    /// At most so many items.
    pub max_regions: usize,
    /// Hops of related annotations to follow.
    pub depth: u32,
    /// Whether claims show as they were written, whatever was corrected since.
    pub as_written: bool,
    /// Whether claims about code that is gone count only where that code is asked for by name.
    pub without_gone: bool,
    /// Whether nobody asks which commit took code away.
    pub is_brief: bool,
    /// Whether nobody asks how many commits and annotations were looked at: none are counted then.
    pub without_stats: bool,
}

impl Limits {
    /// Whether what was written `at` a moment, with these labels, is wanted.
    pub(crate) fn admit(&self, at: Timestamp, tags: &[String]) -> bool {
        let is_labelled = self.tags.is_empty() || tags.iter().any(|tag| self.tags.contains(tag));
        is_labelled && self.since.is_none_or(|since| since < at)
    }
}

/// Versions read ahead stay in memory; a whole tree's history of them would not fit there.
pub(crate) const MAX_READ_AHEAD: usize = 512;

/// More remarks than this are counted, not shown.
const MAX_WARNINGS: usize = 10;

/// Reads what is known about some files.
///
/// # Errors
/// When the repository cannot be read. Notes that cannot be read only cause warnings.
pub fn read(lazy: &LazyRepository, caches: &Caches, request: &ReadRequest) -> Result<Reading> {
    caches.facts.asked(|| read_once(lazy, caches, request))
}

fn read_once(lazy: &LazyRepository, caches: &Caches, request: &ReadRequest) -> Result<Reading> {
    let repository = lazy.get()?;
    let mut warnings = Vec::new();
    let head = match request.at {
        Some(commit) => commit,
        None => repository.born_head()?,
    };
    let line = Line::open(repository, &caches.facts, head, &mut warnings)?;
    if !line.has_notes()? {
        return Ok(nothing_annotated(repository, request, warnings));
    }
    let contents = contents_of(repository, head, request)?;
    let bytes: Vec<&[u8]> = contents.iter().filter_map(|content| content.bytes(lazy)).collect();
    let (known, notebook) = line.about(&request.files, None, &bytes)?;
    let reading = read_from(lazy, caches, request, &known, &notebook, &contents, warnings);
    line.placements.store(request.now.as_second() / (24 * 60 * 60));
    let mut reading = reading?;
    name_dependents(&mut reading.dependencies_on_this, &NamesNow::new(repository, &line, known.head().tree));
    Ok(reading)
}

/// The answer where there are no annotations.
fn nothing_annotated(repository: &Repository, request: &ReadRequest, mut warnings: Vec<String>) -> Reading {
    let mut reading = Reading::empty(request.query.clone());
    // A clone comes without notes: they are no branches.
    let way = match repository.remotes().is_empty() {
        true => "Run 'git chronicle init' to set up.",
        false => "Run 'git chronicle sync pull' to fetch those of a remote, 'git chronicle init' to set up.",
    };
    warnings.push(format!("No Chronicle annotations found. {way}"));
    reading.warnings = warnings;
    reading
}

/// The bytes of the files that are asked about.
fn contents_of(repository: &Repository, head: ObjectId, request: &ReadRequest) -> Result<Vec<Content>> {
    match request.at {
        Some(commit) => contents_at(repository, commit, &request.files),
        None => contents(repository, head, &request.files),
    }
}

/// Reads what the history `past` and the notes say about some files with these contents.
fn read_from(
    lazy: &LazyRepository,
    caches: &Caches,
    request: &ReadRequest,
    past: &Known<'_>,
    notebook: &Notebook<'_>,
    known: &[Content],
    mut warnings: Vec<String>,
) -> Result<Reading> {
    let repository = lazy.get()?;
    let paths: Vec<BString> = request.files.iter().map(|file| file.path.clone()).collect();
    let ground = Ground::new(repository, notebook, past, &paths, request.all);
    let ground = match request.at {
        Some(_) => ground,
        None => ground.with_contents(known.iter().map(|content| content.bytes(lazy)).collect()),
    };
    let candidates = ground.candidates(&mut warnings)?;
    let mut gathered = Gathered::from(&ground, &candidates).knowing(&past.line().placements);
    let mut contents = known.to_vec();
    // Only files of which something is said are worth a fetch.
    let promised = (0..contents.len()).filter(|number| contents[*number].is_promised());
    let wanted: Vec<usize> = promised.filter(|number| gathered.has_claims(*number)).collect();
    if !wanted.is_empty() {
        let files: Vec<ScopeFile> = wanted.iter().map(|number| request.files[*number].clone()).collect();
        let fetched = fetched(repository, past.head().id, request.at.is_none(), &files)?;
        let n_absent = fetched.iter().filter(|content| content.is_promised()).count();
        warnings.extend((0 < n_absent).then(|| promised_warning(n_absent)));
        for (number, content) in wanted.into_iter().zip(fetched) {
            contents[number] = content;
        }
    }
    let presents = presents(lazy, &request.files, &contents, &mut warnings)?;
    for (number, (present, content)) in presents.iter().zip(&contents).enumerate() {
        gathered.look_up(number, present, content.bytes(lazy));
    }
    let versions = (0..paths.len()).flat_map(|number| gathered.versions(number));
    let versions: Vec<ObjectId> = versions.take(MAX_READ_AHEAD).collect();
    repository.fetch_promised(versions.iter().copied())?;
    repository.read_ahead(versions);
    let mut files = Vec::with_capacity(paths.len());
    for (number, present) in presents.iter().enumerate() {
        let record = gathered.place(number, present)?;
        files.push(Scoped { path: paths[number].clone(), content: contents[number].clone(), record });
    }
    let afterwords = Afterwords::load(repository, supersessions(&candidates))?;
    let setting = Setting {
        repository: lazy,
        caches,
        head_time: Timestamp::from_second(past.head().time).unwrap_or(request.now),
        head_tree: past.head().tree,
        said: &afterwords,
    };
    let mut reading = answer(request, &files, &setting)?;
    if !request.limits.lessons_only {
        reading.knowledge = knowledge(notebook, &paths, &mut warnings)?.into();
    }
    warnings.extend(afterwords.warnings);
    reading.warnings.splice(0..0, warnings);
    reading.warnings = shortened(reading.warnings);
    Ok(reading)
}

/// Gives those who rely on the code the names that their files have now; those whose file is no more come last.
fn name_dependents(dependents: &mut [Dependency], names: &NamesNow<'_>) {
    for dependent in dependents.iter_mut() {
        let Some(file) = dependent.from_file.take() else { continue };
        let NameNow { renamed_to, is_deleted } = names.of(&file);
        dependent.from_is_deleted = is_deleted;
        (dependent.from_file, dependent.from_file_recorded) = match renamed_to {
            Some(now) => (Some(now), Some(file)),
            None => (Some(file), None),
        };
    }
    dependents.sort_by_key(|dependent| dependent.from_is_deleted);
}

fn opaque_warning(path: &BString) -> String {
    format!("`{path}` is binary or filtered; lessons are matched to the file, not to lines")
}

/// The files' bytes as they are now; `None` for deleted ones.
fn contents(repository: &Repository, head: ObjectId, files: &[ScopeFile]) -> Result<Vec<Content>> {
    let contents = files.iter().map(|file| match repository.present_file(Some(head), file.path.as_bstr()) {
        Err(GitError::Promised { .. }) => Ok(Content::promised()),
        found => Ok(found?.map(|file| file.content).into()),
    });
    contents.collect()
}

/// The same once what this partial clone lacks was fetched, or of `commit`.
fn fetched(
    repository: &Repository,
    commit: ObjectId,
    is_now: bool,
    files: &[ScopeFile],
) -> Result<Vec<Content>> {
    if is_now {
        repository.fetch_present(Some(commit), files.iter().map(|file| file.path.as_bstr()))?;
        return contents(repository, commit, files);
    }
    let tree = repository.commit_tree(commit)?;
    let blobs = files.iter().map(|file| repository.blob_at(tree, file.at_head.as_bstr()));
    let blobs = blobs.collect::<std::result::Result<Vec<_>, _>>()?;
    repository.fetch_promised(blobs.into_iter().flatten())?;
    contents_at(repository, commit, files)
}

fn promised_warning(n_files: usize) -> String {
    let (files, lessons) = if n_files == 1 { ("the file is", "its") } else { ("files are", "their") };
    let count = if n_files == 1 { String::new() } else { format!("{n_files} ") };
    format!(
        "{count}{files} not in this partial clone and could not be fetched (from a remote that `sync enable` named); {lessons} lessons are matched to the file, \
         not to lines"
    )
}

/// The files' bytes in `commit`; `None` for those it does not have.
fn contents_at(repository: &Repository, commit: ObjectId, files: &[ScopeFile]) -> Result<Vec<Content>> {
    let tree = repository.commit_tree(commit)?;
    let contents = files.iter().map(|file| {
        let Some(blob) = repository.blob_at(tree, file.at_head.as_bstr())? else { return Ok(None.into()) };
        match repository.blob_if_here(blob)? {
            None if repository.is_partial() => Ok(Content::promised()),
            Some(content) => Ok(Some(content).into()),
            // One that is missing, or larger than what is read, keeps none of the others from being asked about.
            None => Ok(None.into()),
        }
    });
    contents.collect()
}

fn presents<'p>(
    lazy: &'p LazyRepository,
    files: &[ScopeFile],
    contents: &'p [Content],
    warnings: &mut Vec<String>,
) -> Result<Vec<Present<'p>>> {
    let repository = lazy.get()?;
    let mut presents = Vec::with_capacity(files.len());
    for (ScopeFile { path, .. }, content) in files.iter().zip(contents) {
        // A file that is not here is there all the same.
        let bytes = if content.is_promised() { Some(&b""[..]) } else { content.bytes(lazy) };
        let mut present = Present::new(path.clone(), bytes);
        present.is_opaque =
            content.is_promised() || present.is_opaque || repository.has_filter(path.as_bstr());
        if present.is_opaque && files.len() == 1 && !content.is_promised() {
            warnings.push(opaque_warning(path));
        }
        presents.push(present);
    }
    Ok(presents)
}

/// Claims that a claim visible from HEAD supersedes, with that claim.
pub(crate) fn supersessions(candidates: &[Candidate]) -> Vec<Pair> {
    let visible = candidates.iter().filter(|candidate| candidate.place.is_some());
    let mut pairs = Vec::new();
    for (_, entry) in visible.flat_map(|candidate| candidate.stored.note.entries()) {
        pairs.extend(entry.supersedes.iter().map(|old| (old.clone(), entry.id.clone())));
    }
    pairs
}

/// From pairs of an old claim and the one that replaces it; two that supersede each other both stand.
pub(crate) fn superseded_by(
    pairs: impl IntoIterator<Item = (EntryId, EntryId)>,
) -> HashMap<EntryId, EntryId> {
    let mut pairs: Vec<_> = pairs.into_iter().filter(|(old, new)| old != new).collect();
    // Where several replace one, all must agree which of them is named.
    pairs.sort_unstable();
    let mut by: HashMap<EntryId, EntryId> = pairs.into_iter().collect();
    let circles = circles(&by);
    by.retain(|id, _| !circles.contains(id));
    by
}

/// The claims that, step by step, supersede themselves.
fn circles(by: &HashMap<EntryId, EntryId>) -> HashSet<EntryId> {
    let mut circles = HashSet::new();
    // The walk on which a claim was first met: meeting it again on the same walk closes a circle.
    let mut met: HashMap<&EntryId, usize> = HashMap::new();
    for (walk, start) in by.keys().enumerate() {
        let mut at = start;
        while let (None, Some(next)) = (met.get(at), by.get(at)) {
            met.insert(at, walk);
            at = next;
        }
        if met.get(at) == Some(&walk) {
            let mut around = at;
            while circles.insert(around.clone()) {
                around = &by[around];
            }
        }
    }
    circles
}

fn knowledge(notebook: &Notebook<'_>, paths: &[BString], warnings: &mut Vec<String>) -> Result<Knowledge> {
    let stored = notebook.knowledge()?;
    warnings.extend(stored.remarks.iter().map(|remark| format!("the repository's knowledge: {remark}")));
    let Some(all) = stored.knowledge else { return Ok(Knowledge::default()) };
    let concerning = paths.iter().map(|path| all.concerning(&path.to_string()));
    Ok(concerning.fold(Knowledge::default(), Knowledge::fold))
}

fn shortened(mut warnings: Vec<String>) -> Vec<String> {
    let n_more = warnings.len().saturating_sub(MAX_WARNINGS);
    warnings.truncate(MAX_WARNINGS);
    if 0 < n_more {
        warnings.push(format!("and {n_more} more warnings"));
    }
    warnings
}

/// What is read across all files, newest first.
#[derive(Debug, Clone)]
pub struct Recent {
    /// Which of the answers are wanted; `max_regions` counts items.
    pub limits: Limits,
    /// Days after which recency has fallen to one half.
    pub half_life_days: f64,
    /// The time.
    pub now: Timestamp,
}

/// Reads the newest lessons of the whole repository.
///
/// # Errors
/// When the repository cannot be read.
pub fn read_recent(lazy: &LazyRepository, caches: &Caches, recent: &Recent) -> Result<Reading> {
    let repository = lazy.get()?;
    let mut warnings = Vec::new();
    let notebook = Notebook::open(repository, &mut warnings)?;
    let head = repository.born_head()?;
    let line = Line::open(repository, &caches.facts, head, &mut warnings)?;
    let known = Known::of_commits(&line, notebook.keys())?;
    let ground = Ground::new(repository, &notebook, &known, &[], false);
    let mut files = Vec::new();
    let newest = ground.newest_files(recent.limits.max_regions)?;
    for path in current_names(repository, head, &line, newest)? {
        let file = ScopeFile::from(path);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let limits = Limits { max_regions: usize::MAX, lessons_only: true, ..recent.limits.clone() };
    let query = Query { depth: recent.limits.depth, ..Query::default() };
    let request = ReadRequest {
        query,
        files,
        scopes: Vec::new(),
        limits,
        all: false,
        at: None,
        half_life_days: recent.half_life_days,
        now: recent.now,
    };
    let mut reading = read(lazy, caches, &request)?;
    // Strangers date their notes as they like.
    reading
        .wisdom
        .sort_by_key(|item| (item.standing.tier == Tier::Unknown, std::cmp::Reverse(item.standing.at)));
    room::cut(&mut reading.wisdom, recent.limits.max_regions, |item| item.standing.tier);
    reading.stats.regions_returned = u32::try_from(reading.n_items()).unwrap_or(u32::MAX);
    reading.warnings.extend(warnings);
    Ok(reading)
}

/// What each of `paths`, named in some note, is called now; its old name when it is no more.
fn current_names(
    repository: &Repository,
    head: ObjectId,
    line: &Line<'_>,
    mut paths: Vec<BString>,
) -> Result<Vec<BString>> {
    let mut gone = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        if !repository.has_present_file(Some(head), path.as_bstr())? {
            gone.push(number);
        }
    }
    let names: Vec<BString> = gone.iter().map(|number| paths[*number].clone()).collect();
    for (number, name) in gone.into_iter().zip(&names) {
        if let Whereabouts::Renamed { to, .. } = line.whereabouts(name)? {
            paths[number] = to;
        }
    }
    Ok(paths)
}
