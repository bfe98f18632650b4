//! The read pipeline: from files and lines to what is known about them (DESIGN section 4).

use std::collections::HashSet;

use chronicle_core::{
    Knowledge,
    correction::Tier,
    counted,
    reading::{Dependency, Query, Reading},
    room,
};
use chronicle_git::{BString, ByteSlice, GitError, LazyRepository, ObjectId, Repository};
use jiff::Timestamp;

use crate::{
    Content,
    caches::Caches,
    disk_cache::{Progress, Work},
    error::Result,
    note::{
        corrections::{Afterwords, Pair},
        notebook::Notebook,
    },
    past::{Whereabouts, known::Known, line::Line},
    place::present::Present,
    read::{
        answer::{Scoped, Setting, answer},
        gather::Gathered,
        matching::{Candidate, ReadContext},
        name_now::{NameNow, NamesNow},
        question::{Limits, ReadRequest, ScopeFile},
    },
};

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
    let watch = Watch { progress: caches.facts.progress, n_files: request.files.len() };
    let contents = contents_of(repository, head, request, watch)?;
    watch.begins(Stage::About);
    let bytes: Vec<&[u8]> = contents.iter().filter_map(|content| content.bytes(lazy)).collect();
    let (known, notebook) = line.about(&request.files, None, &bytes)?;
    watch.begins(Stage::Candidates);
    let reading = read_from(lazy, caches, request, &known, &notebook, &contents, warnings);
    watch.ends();
    // Each keystroke makes another text.
    if request.at.is_some() || !repository.has_unsaved() {
        line.placements.store(request.now.as_second() / (24 * 60 * 60));
    }
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
fn contents_of(
    repository: &Repository,
    head: ObjectId,
    request: &ReadRequest,
    watch: Watch,
) -> Result<Vec<Content>> {
    match request.at {
        Some(commit) => contents_at(repository, commit, &request.files),
        None => {
            let files = request.files.iter().enumerate();
            let files = files.inspect(|(number, _)| watch.is_at(Stage::Contents, *number));
            contents(repository, head, files.map(|(_, file)| file))
        }
    }
}

/// What a read of many files does, in this order. Each takes about as long as the others.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Contents,
    About,
    Candidates,
    Places,
}

impl Stage {
    /// How many there are.
    const COUNT: usize = Self::Places as usize + 1;
}

/// Shows how far a read of many files is.
#[derive(Debug, Clone, Copy)]
struct Watch {
    progress: Option<Progress>,
    n_files: usize,
}

impl Watch {
    /// It is shown after so many files.
    const STEP: usize = 500;

    /// A stage has reached the file number `number`.
    fn is_at(self, stage: Stage, number: usize) {
        if let Some(progress) = self.progress.filter(|_| number.is_multiple_of(Self::STEP) && self.is_long())
        {
            progress(Work::Files, (stage as usize * self.n_files + number) / Stage::COUNT, self.n_files);
        }
    }

    /// A stage begins.
    fn begins(self, stage: Stage) {
        self.is_at(stage, 0);
    }

    /// All is done, and what was shown goes away.
    fn ends(self) {
        if let Some(progress) = self.progress.filter(|_| self.is_long()) {
            progress(Work::Files, self.n_files, self.n_files);
        }
    }

    fn is_long(self) -> bool {
        Self::STEP < self.n_files
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
    let context = ReadContext::new(repository, notebook, past, &paths, request.all);
    let context = match request.at {
        Some(_) => context,
        None => context.with_contents(known.iter().map(|content| content.bytes(lazy)).collect()),
    };
    let candidates = context.candidates(&mut warnings)?;
    let mut gathered = Gathered::from(&context, &candidates).knowing(&past.line().placements);
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
    let watch = Watch { progress: caches.facts.progress, n_files: presents.len() };
    for (number, present) in presents.iter().enumerate() {
        watch.is_at(Stage::Places, number);
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
fn contents<'f>(
    repository: &Repository,
    head: ObjectId,
    files: impl Iterator<Item = &'f ScopeFile>,
) -> Result<Vec<Content>> {
    let contents = files.map(|file| match repository.present_file(Some(head), file.path.as_bstr()) {
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
        return contents(repository, commit, files.iter());
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

fn knowledge(notebook: &Notebook<'_>, paths: &[BString], warnings: &mut Vec<String>) -> Result<Knowledge> {
    let stored = notebook.knowledge()?;
    warnings.extend(stored.remarks.iter().map(|remark| format!("the repository's knowledge: {remark}")));
    let Some(all) = stored.knowledge else { return Ok(Knowledge::default()) };
    let concerning = paths.iter().map(|path| all.concerning(&path.to_string()));
    let mut told = concerning.fold(Knowledge::default(), Knowledge::fold);
    let n_left_out = told.cap_strangers(room::MOST_OF_STRANGERS);
    if 0 < n_left_out {
        warnings.push(format!("{} of strangers left out", counted(n_left_out, "rule")));
    }
    Ok(told)
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
    /// Which of the answers are wanted; `max_regions` counts lessons.
    pub limits: Limits,
    /// Days after which recency has fallen to one half.
    pub half_life_days: f64,
    /// The time.
    pub now: Timestamp,
}

/// Reads the newest lessons of the whole repository, and why their commits are as they are unless only lessons are
/// wanted.
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
    let context = ReadContext::new(repository, &notebook, &known, &[], false);
    let newest = context.newest_files(recent.limits.max_regions, !recent.limits.lessons_only)?;
    let mut reading = read_paths(lazy, caches, &line, newest, recent)?;
    // Strangers date their notes as they like.
    reading
        .wisdom
        .sort_by_key(|item| (item.standing.tier == Tier::Unknown, std::cmp::Reverse(item.standing.at)));
    room::cut(&mut reading.wisdom, recent.limits.max_regions, |item| item.standing.tier);
    reading.stats.regions_returned = u32::try_from(reading.n_items()).unwrap_or(u32::MAX);
    reading.warnings.extend(warnings);
    Ok(reading)
}

/// Reads what is known of the files that notes call `paths`, however many items that are.
pub(crate) fn read_paths(
    lazy: &LazyRepository,
    caches: &Caches,
    line: &Line<'_>,
    paths: Vec<BString>,
    recent: &Recent,
) -> Result<Reading> {
    let repository = lazy.get()?;
    let mut seen = HashSet::new();
    let names = current_names(repository, repository.born_head()?, line, paths)?.into_iter();
    let files = names.filter(|name| seen.insert(name.clone())).map(ScopeFile::from).collect();
    let limits = Limits { max_regions: usize::MAX, ..recent.limits.clone() };
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
    read(lazy, caches, &request)
}

/// The files that notes name as far as facts are at hand, in order: at most so many that begin with `start`.
///
/// # Errors
/// When facts cannot be read.
pub fn files_with_lessons(caches: &Caches, start: &[u8], most: usize) -> Result<Vec<BString>> {
    let files = caches.facts.asked(|| Ok(caches.facts.get()?.named_files(start, most)?))?;
    Ok(files.into_iter().map(BString::from).collect())
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
