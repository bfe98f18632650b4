//! Who relies on some code: declared assumptions, groups that must change together, and prose.
//!
//! What is declared about a file lies in its record. Prose may mean any code, so it is looked up by
//! the keys of [`chronicle_core::mentions`]. Every annotation counts, however many there are: a limit
//! would hide exactly the old promise that nobody remembers.

mod judge;

use std::collections::{BTreeSet, HashMap, HashSet};

use chronicle_core::{LineRange, dependent::Dependent, mentions::segments};
use chronicle_git::{BString, LazyRepository, ObjectId};
use jiff::Timestamp;

use crate::{
    Content, ScopeFile,
    caches::Caches,
    error::Result,
    note::{corrections::Afterwords, notebook::Notebook},
    past::{known::Known, line::Line},
    place::moved,
    read::{
        deps::judge::{Judge, Judged, Ranked, Setting},
        gather::Gathered,
        matching::ReadContext,
        name_now::NamesNow,
        pipeline::supersessions,
        prose::Prose,
        record::FileRecord,
    },
};

/// What to look for.
#[derive(Debug, Clone)]
pub struct DepsRequest {
    /// The code.
    pub targets: Vec<Target>,
    /// The commit whose history counts.
    pub at: ObjectId,
    /// Whether words that only name the code count too.
    pub with_mentions: bool,
    /// How many dependents of one file are told at the most.
    pub most_of_file: usize,
    /// Whether commits of other branches count too.
    pub all: bool,
    /// What has expired by then counts no longer.
    pub now: Timestamp,
    /// Days after which recency has fallen to one half.
    pub half_life_days: f64,
}

/// Code that something may rely on.
#[derive(Debug, Clone)]
pub struct Target {
    /// The file.
    pub file: ScopeFile,
    /// Names of the item in it, all of one thing; none for the whole file.
    pub anchors: Vec<String>,
    /// Where the item is in `content`, as far as that is known.
    pub lines: Vec<LineRange>,
    /// The file's bytes, if it is there.
    pub content: Content,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Dependents {
    /// Who relies on the code, plainest and most trusted first.
    pub dependents: Vec<Dependent>,
    /// For each of them, the number of the target that it relies on: of several in one file, the first.
    pub targets: Vec<usize>,
    /// The targets of those that are not told, since their file has so many.
    pub left_out: Vec<usize>,
    /// How many annotations there are, all of which were looked at.
    pub n_annotations: usize,
    /// Remarks, such as notes that could not be read.
    pub warnings: Vec<String>,
}

/// Finds who relies on some code.
///
/// # Errors
/// When the repository cannot be read. Notes that cannot be read only cause warnings.
pub fn dependents(lazy: &LazyRepository, caches: &Caches, request: &DepsRequest) -> Result<Dependents> {
    caches.facts.asked(|| dependents_once(lazy, caches, request))
}

fn dependents_once(lazy: &LazyRepository, caches: &Caches, request: &DepsRequest) -> Result<Dependents> {
    let repository = lazy.get()?;
    let mut warnings = Vec::new();
    let files: Vec<ScopeFile> = request.by_file().into_iter().map(|(file, _)| file.clone()).collect();
    let line = Line::open(repository, &caches.facts, request.at, &mut warnings)?;
    let n_annotations = line.n_annotated()?;
    if n_annotations == 0 || request.targets.is_empty() {
        return Ok(Dependents { n_annotations, warnings, ..Dependents::default() });
    }
    let contents = request.targets.iter().map(|target| &target.content);
    let bytes: Vec<&[u8]> = contents.filter_map(|content| content.bytes(lazy)).collect();
    let words = request.with_mentions.then(|| request.words());
    let (past, notebook) = line.about(&files, words.as_deref(), &bytes)?;
    let found = found(lazy, caches, request, &past, &notebook, &mut warnings);
    line.placements.store(request.now.as_second() / (24 * 60 * 60));
    Ok(found?.into_dependents(n_annotations, warnings))
}

fn found(
    lazy: &LazyRepository,
    caches: &Caches,
    request: &DepsRequest,
    past: &Known<'_>,
    notebook: &Notebook<'_>,
    warnings: &mut Vec<String>,
) -> Result<Found> {
    let repository = lazy.get()?;
    let files = request.by_file();
    let paths: Vec<BString> = files.iter().map(|(file, _)| file.path.clone()).collect();
    let context = ReadContext::new(repository, notebook, past, &paths, request.all);
    let contents: Vec<&Content> =
        files.iter().map(|(_, targets)| &request.targets[targets[0]].content).collect();
    let is_committed = contents.iter().any(|content| content.blob().is_some());
    let context = match is_committed {
        true => context,
        false => context.with_contents(contents.iter().map(|content| content.bytes(lazy)).collect()),
    };
    let context = context.looking_for(request.words());
    let candidates = context.candidates(warnings)?;
    let prose = if request.with_mentions { Prose::of(&candidates) } else { Prose::default() };
    let records: Vec<FileRecord> = Gathered::from(&context, &candidates).unplaced().collect();
    let head_time = Timestamp::from_second(past.head().time).unwrap_or(Timestamp::UNIX_EPOCH);
    let afterwords = Afterwords::load(repository, supersessions(&candidates))?;
    warnings.extend(afterwords.warnings.iter().cloned());
    let line = past.line();
    let setting = Setting {
        lazy,
        request,
        head_time,
        said: &afterwords,
        prose: &prose,
        line,
        outlines: &caches.outlines,
        names: &NamesNow::new(repository, line, past.head().tree),
    };
    let mut found = Found::default();
    for ((_, targets), record) in files.iter().zip(&records) {
        found.add(Judge::new(setting, targets, record).judged()?);
    }
    Ok(found)
}

/// What is found in one file after the other.
#[derive(Default)]
struct Found {
    ranked: Vec<Ranked>,
    left_out: Vec<usize>,
    sources: BTreeSet<String>,
    warnings: Vec<String>,
}

impl Found {
    fn add(&mut self, judged: Judged) {
        self.ranked.extend(judged.told);
        self.left_out.extend(judged.left_out);
        self.sources.extend(judged.sources);
        self.warnings.extend(judged.warnings);
    }

    /// The answer, after some `warnings`.
    fn into_dependents(mut self, n_annotations: usize, mut warnings: Vec<String>) -> Dependents {
        self.ranked.sort_by(Ranked::order);
        warnings.extend(self.sources.iter().map(|source| moved::remark(source)));
        warnings.extend(self.warnings);
        let mut seen = HashSet::new();
        warnings.retain(|warning| seen.insert(warning.clone()));
        let targets = self.ranked.iter().map(|ranked| ranked.target).collect();
        let dependents = self.ranked.into_iter().map(|ranked| *ranked.dependent).collect();
        Dependents { dependents, targets, left_out: self.left_out, n_annotations, warnings }
    }
}

impl DepsRequest {
    /// The files of the targets, each with the numbers of those in it.
    fn by_file(&self) -> Vec<(&ScopeFile, Vec<usize>)> {
        let mut files: Vec<(&ScopeFile, Vec<usize>)> = Vec::new();
        let mut numbers: HashMap<&BString, usize> = HashMap::new();
        for (target, Target { file, .. }) in self.targets.iter().enumerate() {
            let number = *numbers.entry(&file.path).or_insert(files.len());
            if number == files.len() {
                files.push((file, Vec::new()));
            }
            files[number].1.push(target);
        }
        files
    }

    /// What words may call the targets, beside the names of their files.
    fn words(&self) -> Vec<String> {
        if !self.with_mentions {
            return Vec::new();
        }
        let anchors = self.targets.iter().flat_map(|target| &target.anchors);
        anchors.filter_map(|anchor| segments(anchor).last().map(|last| (*last).to_owned())).collect()
    }
}
