//! The read pipeline: from files and lines to what is known about them (DESIGN section 4).

use std::collections::{HashMap, HashSet};

use chronicle_core::{
    Category, ContextLevel, EntryId, Knowledge, LineRange, Origin,
    reading::{Dependency, Query, Reading, Stats},
};
use chronicle_git::{BString, ByteSlice, Followed, GitError, History, ObjectId, Repository, Whereabouts};
use jiff::Timestamp;

use crate::{
    error::Result,
    items::{Bench, Body, Finished, Item, clarity},
    matching::{Candidate, Ground},
    notebook::Notebook,
    present::Present,
    related::Follower,
    retire, wisdom_view,
};

/// What to read about.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// The question, as it is echoed.
    pub query: Query,
    /// The files.
    pub files: Vec<ScopeFile>,
    /// Lines of the one file.
    pub lines: Option<LineRange>,
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
}

/// Versions read ahead stay in memory; a whole tree's history of them would not fit there.
const MAX_READ_AHEAD: usize = 512;

/// More remarks than this are counted, not shown.
const MAX_WARNINGS: usize = 10;

/// Reads what is known about some files.
///
/// # Errors
/// When the repository cannot be read. Notes that cannot be read only cause warnings.
pub fn read(repository: &Repository, request: &ReadRequest) -> Result<Reading> {
    let mut warnings = Vec::new();
    let notebook = Notebook::open(repository, &mut warnings)?;
    let mut reading = Reading::empty(request.query.clone());
    if !notebook.has_any() {
        warnings.push("No Chronicle annotations found. Run 'git chronicle init' to set up.".to_owned());
        reading.warnings = warnings;
        return Ok(reading);
    }
    let head = match request.at {
        Some(commit) => commit,
        None => repository.head()?.ok_or(GitError::NoCommits)?,
    };
    let history = repository.history(&[head])?;
    let at_head: Vec<BString> = request.files.iter().map(|file| file.at_head.clone()).collect();
    let followed = repository.follow(&history, &at_head)?;
    let contents = match request.at {
        Some(commit) => contents_at(repository, commit, &request.files)?,
        None => contents(repository, head, &request.files)?,
    };
    let presents = presents(repository, &request.files, &contents, &mut warnings);
    let ground = Ground {
        repository,
        notebook: &notebook,
        history: &history,
        followed: &followed,
        presents: &presents,
        all: request.all,
    };
    let candidates = ground.candidates(&mut warnings)?;
    let bench = Bench {
        repository,
        presents: &presents,
        lines: request.lines,
        head_time: Timestamp::from_second(history.nodes()[0].time).unwrap_or(request.now),
        now: request.now,
        half_life_days: request.half_life_days,
        superseded: superseded(&candidates),
    };
    let touches = candidates.iter().flat_map(|candidate| &candidate.touches);
    repository.read_ahead(
        touches.flat_map(|(_, touch)| [touch.old, touch.new]).flatten().take(MAX_READ_AHEAD).collect(),
    );
    let mut items = Vec::new();
    for candidate in &candidates {
        items.extend(bench.items(candidate)?);
    }
    let items = keep_best_copies(items);
    let n_matched = items.len();
    let mut items = filtered(items, &request.limits);
    rank(&mut items);
    let n_wanted = items.len();
    items.truncate(request.limits.max_regions);
    if items.len() < n_wanted {
        warnings
            .push(format!("{} more items match; raise --max-regions to see them", n_wanted - items.len()));
    }
    let mut finish = Finish {
        repository,
        history: &history,
        followed,
        follower: Follower {
            notebook: &notebook,
            head_time: bench.head_time,
            half_life_days: request.half_life_days,
            depth: request.limits.depth,
            farthest: 0,
        },
    };
    for item in items {
        match finish.finish(item)? {
            Finished::Region(region) => reading.regions.push(region),
            Finished::Wisdom(entry) => reading.wisdom.push(entry),
        }
    }
    if !request.limits.lessons_only {
        reading.dependencies_on_this =
            candidates.iter().flat_map(|candidate| bench.dependencies(candidate)).collect();
        rank_dependencies(&mut reading.dependencies_on_this);
        reading.cross_cutting =
            candidates.iter().flat_map(|candidate| bench.cross_cutting(candidate)).collect();
        reading.cross_cutting.sort_by_key(|concern| std::cmp::Reverse(concern.at));
        reading.knowledge = knowledge(&notebook, &presents, &mut warnings)?.into();
    }
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    reading.stats = Stats {
        commits_examined: count(n_commits(&finish.followed)),
        annotations_found: count(candidates.len()),
        regions_returned: count(reading.n_items()),
        regions_matched: count(n_matched),
        related_hops: finish.follower.farthest,
    };
    reading.warnings = shortened(warnings);
    Ok(reading)
}

/// The files' bytes as they are now; `None` for deleted ones.
fn contents(repository: &Repository, head: ObjectId, files: &[ScopeFile]) -> Result<Vec<Option<Vec<u8>>>> {
    let content = |file: &ScopeFile| {
        Ok(repository.present_file(Some(head), file.path.as_bstr())?.map(|file| file.content))
    };
    files.iter().map(content).collect()
}

/// The files' bytes in `commit`; `None` for those it does not have.
fn contents_at(
    repository: &Repository,
    commit: ObjectId,
    files: &[ScopeFile],
) -> Result<Vec<Option<Vec<u8>>>> {
    let tree = repository.commit_tree(commit)?;
    let content = |file: &ScopeFile| -> Result<Option<Vec<u8>>> {
        let blob = repository.blob_at(tree, file.at_head.as_bstr())?;
        Ok(blob.map(|blob| repository.blob(blob)).transpose()?)
    };
    files.iter().map(content).collect()
}

fn presents<'p>(
    repository: &Repository,
    files: &[ScopeFile],
    contents: &'p [Option<Vec<u8>>],
    warnings: &mut Vec<String>,
) -> Vec<Present<'p>> {
    let mut presents = Vec::with_capacity(files.len());
    for (ScopeFile { path, .. }, content) in files.iter().zip(contents) {
        let mut present = Present::new(path.clone(), content.as_deref());
        if !present.is_opaque && repository.has_filter(path.as_bstr()) {
            present.is_opaque = true;
        }
        if present.is_opaque && files.len() == 1 {
            warnings.push(format!(
                "`{}` is binary or filtered; lessons are matched to the file, not to lines",
                present.name()
            ));
        }
        presents.push(present);
    }
    presents
}

/// Claims that a claim visible from HEAD supersedes; two that supersede each other both stand.
fn superseded(candidates: &[Candidate]) -> HashMap<EntryId, EntryId> {
    let mut by: HashMap<EntryId, EntryId> = HashMap::new();
    for candidate in candidates.iter().filter(|candidate| candidate.place.is_some()) {
        for (_, entry) in candidate.stored.note.entries() {
            for old in entry.supersedes.iter().filter(|old| **old != entry.id) {
                by.insert(old.clone(), entry.id.clone());
            }
        }
    }
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

/// Copies of one claim on several commits show once, where they are best placed.
fn keep_best_copies(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by(clarity);
    let mut seen = HashSet::new();
    items.retain(|item| seen.insert((item.standing.id.clone(), item.file)));
    items
}

fn filtered(items: Vec<Item>, limits: &Limits) -> Vec<Item> {
    let as_asked: Vec<Item> = if limits.lessons_only {
        let lessons = items.into_iter().flat_map(|item| match item.body {
            Body::Region(_) => wisdom_view::lessons(&item),
            Body::Summary(_) => Vec::new(),
            Body::Wisdom(_) => vec![item],
        });
        lessons
            .filter(|item| limits.category.is_none_or(|category| item.category() == Some(category)))
            .collect()
    } else {
        items
    };
    let level = |item: &Item| match item.origin() {
        Some(Origin::Author) => ContextLevel::Enhanced,
        Some(Origin::Inferred) => ContextLevel::Inferred,
        None => item.standing.context_level,
    };
    as_asked
        .into_iter()
        .filter(|item| limits.since.is_none_or(|since| since < item.standing.at))
        .filter(|item| {
            limits.tags.is_empty() || item.standing.tags.iter().any(|tag| limits.tags.contains(tag))
        })
        .filter(|item| limits.context_level.is_none_or(|wanted| level(item) == wanted))
        .filter(|item| limits.min_confidence <= item.standing.confidence)
        .collect()
}

/// Most trusted first; what is over last; then newest first.
fn rank(items: &mut [Item]) {
    items.sort_by(|left, right| {
        let (left, right) = (&left.standing, &right.standing);
        left.is_over()
            .cmp(&right.is_over())
            .then(right.confidence.total_cmp(&left.confidence))
            .then(right.at.cmp(&left.at))
            .then(left.matched.cmp(&right.matched))
            .then(left.lines.cmp(&right.lines))
            .then(left.id.cmp(&right.id))
    });
}

fn rank_dependencies(dependencies: &mut Vec<Dependency>) {
    dependencies
        .sort_by(|left, right| right.confidence.total_cmp(&left.confidence).then(right.at.cmp(&left.at)));
    let mut seen = HashSet::new();
    dependencies.retain(|dependency| {
        seen.insert((
            dependency.from_file.clone(),
            dependency.from_anchor.clone(),
            dependency.on_anchor.clone(),
            dependency.nature.clone(),
        ))
    });
}

fn knowledge(
    notebook: &Notebook<'_>,
    presents: &[Present<'_>],
    warnings: &mut Vec<String>,
) -> Result<Knowledge> {
    let stored = notebook.knowledge()?;
    warnings.extend(stored.remarks.iter().map(|remark| format!("the repository's knowledge: {remark}")));
    let Some(all) = stored.knowledge else { return Ok(Knowledge::default()) };
    let concerning = presents.iter().map(|present| all.concerning(&present.name()));
    Ok(concerning.fold(Knowledge::default(), Knowledge::fold))
}

fn n_commits(followed: &Followed) -> usize {
    let places = followed.files.iter().flat_map(|file| file.touches.iter().map(|touch| touch.place));
    places.collect::<HashSet<_>>().len()
}

fn shortened(mut warnings: Vec<String>) -> Vec<String> {
    let n_more = warnings.len().saturating_sub(MAX_WARNINGS);
    warnings.truncate(MAX_WARNINGS);
    if 0 < n_more {
        warnings.push(format!("and {n_more} more warnings"));
    }
    warnings
}

/// Fills in what only shown items need.
struct Finish<'a> {
    repository: &'a Repository,
    history: &'a History,
    followed: Followed,
    follower: Follower<'a>,
}

impl Finish<'_> {
    fn finish(&mut self, mut item: Item) -> Result<Finished> {
        if let (Some(number), Some(place)) = (item.file, item.place) {
            let file = &mut self.followed.files[number];
            item.standing.commits_since = Some(file.touches_since(self.history, place));
            if let (None, chronicle_core::reading::State::Gone, Some((blob, range))) =
                (item.standing.lines, item.standing.state, item.recorded_in)
            {
                let since = retire::gone_since(self.repository, self.history, file, place, blob, range)?;
                item.standing.gone_since = since.map(|id| id.to_string());
            }
        }
        item.standing.related = self.follower.follow(&item.standing.commit, &item.related)?;
        Ok(item.finish())
    }
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
pub fn read_recent(repository: &Repository, recent: &Recent) -> Result<Reading> {
    let mut warnings = Vec::new();
    let notebook = Notebook::open(repository, &mut warnings)?;
    let head = repository.born_head()?;
    let history = repository.history(&[head])?;
    let followed = repository.follow(&history, &[])?;
    let ground = Ground {
        repository,
        notebook: &notebook,
        history: &history,
        followed: &followed,
        presents: &[],
        all: false,
    };
    let mut files = Vec::new();
    for path in ground.newest_files(recent.limits.max_regions)? {
        let path = current_name(repository, head, &history, path)?;
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
        lines: None,
        limits,
        all: false,
        at: None,
        half_life_days: recent.half_life_days,
        now: recent.now,
    };
    let mut reading = read(repository, &request)?;
    reading.wisdom.sort_by_key(|item| std::cmp::Reverse(item.standing.at));
    reading.wisdom.truncate(recent.limits.max_regions);
    reading.stats.regions_returned = u32::try_from(reading.n_items()).unwrap_or(u32::MAX);
    reading.warnings.extend(warnings);
    Ok(reading)
}

/// What `path`, named in some note, is called now; its old name when it is no more.
fn current_name(
    repository: &Repository,
    head: ObjectId,
    history: &History,
    path: BString,
) -> Result<BString> {
    if repository.present_file(Some(head), path.as_bstr())?.is_some() {
        return Ok(path);
    }
    Ok(match repository.whereabouts(history, path.as_bstr())? {
        Whereabouts::Renamed { to, .. } => to,
        Whereabouts::Deleted { .. } | Whereabouts::Never => path,
    })
}
