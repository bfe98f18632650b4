//! Who relies on some code: declared assumptions, groups that must change together, and prose.
//!
//! Every annotation is looked at, however many there are: a limit would hide exactly the
//! old promise that nobody remembers. A cheap look at the bytes decides which notes are
//! parsed; an index by the keys of [`chronicle_core::mentions`] can take its place.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashSet},
};

use chronicle_core::{
    Age, Annotation, CrossCuttingMember, DependsOn, EntryId, LineMap, LineRange, Lines, Locator,
    dependent::{Dependent, Strength},
    mentions::{Mention, agree, mentions, segments},
    outline::{Item, resolve},
    reading::State,
    score::{self, Tie},
};
use chronicle_git::{BString, ByteSlice, Followed, History, ObjectId, Repository};
use jiff::Timestamp;
use memchr::memmem::Finder;

use crate::{
    ScopeFile,
    error::Result,
    matching::{Elsewhere, NO_BRANCH, malformed},
    notebook::{Notebook, Stored, parse},
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
    /// Whether commits of other branches count too.
    pub all: bool,
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
    pub content: Option<Vec<u8>>,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Dependents {
    /// Who relies on the code, plainest and most trusted first.
    pub dependents: Vec<Dependent>,
    /// For each of them, the number of the target that it relies on.
    pub targets: Vec<usize>,
    /// How many annotations there are, all of which were looked at.
    pub n_annotations: usize,
    /// Remarks, such as notes that could not be read.
    pub warnings: Vec<String>,
}

/// Finds who relies on some code.
///
/// # Errors
/// When the repository cannot be read. Notes that cannot be read only cause warnings.
pub fn dependents(repository: &Repository, request: &DepsRequest) -> Result<Dependents> {
    let mut found = Dependents::default();
    let notebook = Notebook::open(repository, &mut found.warnings)?;
    found.n_annotations = notebook.keys().filter(|key| !chronicle_git::is_empty_tree(*key)).count();
    if found.n_annotations == 0 || request.targets.is_empty() {
        return Ok(found);
    }
    let history = repository.history(&[request.at])?;
    let files: Vec<BString> = request.targets.iter().map(|target| target.file.at_head.clone()).collect();
    let followed = repository.follow(&history, &files)?;
    let search = Search::new(repository, request, &history, &followed);
    let needles = search.needles();
    let mut elsewhere: Option<Elsewhere> = None;
    let mut all_said: Vec<Finding> = Vec::new();
    for (key, raw) in notebook.scan(&mut found.warnings, |key, raw| {
        !chronicle_git::is_empty_tree(key) && needles.as_ref().is_none_or(|needles| is_in(needles, raw))
    }) {
        let mut said = search.said_by(key, &parse(&raw), &mut found.warnings)?;
        if said.is_empty() {
            continue;
        }
        if history.place(key).is_none() {
            if elsewhere.is_none() {
                elsewhere = Some(Elsewhere::find(repository, &history)?);
            }
            let branch = elsewhere.as_ref().and_then(|others| others.label(key));
            if branch.is_some() && !request.all {
                continue;
            }
            let label = branch.unwrap_or_else(|| NO_BRANCH.to_owned());
            said.iter_mut().for_each(|(_, dependent)| dependent.elsewhere = Some(label.clone()));
        }
        all_said.append(&mut said);
    }
    rank(&mut all_said);
    (found.targets, found.dependents) = all_said.into_iter().unzip();
    Ok(found)
}

/// A dependent, behind the number of the target that it relies on.
type Finding = (usize, Dependent);

/// Plainest first, then most trusted, then newest; what is said twice shows once.
fn rank(dependents: &mut Vec<Finding>) {
    dependents.sort_by(|(_, left), (_, right)| {
        left.strength
            .cmp(&right.strength)
            .then(left.elsewhere.is_some().cmp(&right.elsewhere.is_some()))
            .then(right.confidence.total_cmp(&left.confidence))
            .then(right.at.cmp(&left.at))
            .then_with(|| left.from_file.cmp(&right.from_file))
            .then_with(|| left.from_anchor.cmp(&right.from_anchor))
            .then_with(|| left.nature.cmp(&right.nature))
    });
    let mut seen = HashSet::new();
    dependents.retain(|(_, dependent)| {
        seen.insert((
            (dependent.from_file.clone(), dependent.from_anchor.clone()),
            (dependent.on_file.clone(), dependent.on_anchor.clone()),
            dependent.nature.clone(),
        ))
    });
}

/// Bytes of which one stands in every note that could matter; `None` when every note must be parsed.
type Needles = Option<Vec<Finder<'static>>>;

/// With more names than this, looking for each costs more than parsing.
const MAX_NEEDLES: usize = 64;

fn is_in(needles: &[Finder<'static>], raw: &[u8]) -> bool {
    needles.iter().any(|needle| needle.find(raw).is_some())
}

/// One question, and what it takes to judge an annotation by it.
struct Search<'a> {
    repository: &'a Repository,
    request: &'a DepsRequest,
    history: &'a History,
    followed: &'a Followed,
    /// Every name that each target ever had.
    ever: Vec<BTreeSet<String>>,
    head_time: Timestamp,
    /// All files of the newest commit, when they are needed.
    files: OnceCell<Vec<BString>>,
    /// The items of each target as it is now, when they are needed.
    items: Vec<OnceCell<Vec<Item>>>,
}

/// One annotated commit.
struct Said<'s> {
    key: ObjectId,
    place: Option<u32>,
    tree: Option<ObjectId>,
    time: Timestamp,
    stored: &'s Stored,
}

/// The claim that says something, and where it stands.
struct Claim<'s> {
    document: &'s Annotation,
    id: Option<&'s EntryId>,
    file: Option<&'s str>,
    anchor: Option<&'s str>,
}

impl<'a> Search<'a> {
    fn new(
        repository: &'a Repository,
        request: &'a DepsRequest,
        history: &'a History,
        followed: &'a Followed,
    ) -> Self {
        let names = |(target, file): (&Target, &chronicle_git::FileHistory)| {
            let then = file.touches.iter().flat_map(|touch| [Some(&touch.name), touch.renamed_from.as_ref()]);
            let names = then.flatten().chain([&target.file.path, &target.file.at_head]);
            names.map(|name| name.to_str_lossy().into_owned()).collect()
        };
        Self {
            repository,
            request,
            history,
            followed,
            ever: request.targets.iter().zip(&followed.files).map(names).collect(),
            head_time: Timestamp::from_second(history.nodes()[0].time).unwrap_or(Timestamp::UNIX_EPOCH),
            files: OnceCell::new(),
            items: request.targets.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    fn needles(&self) -> Needles {
        let last = |name: &'_ String| name.rsplit('/').next().unwrap_or_default().to_owned();
        let mut words: BTreeSet<String> = self.ever.iter().flatten().map(last).collect();
        let anchors = self.request.targets.iter().flat_map(|target| &target.anchors);
        words.extend(anchors.filter_map(|anchor| segments(anchor).last().map(|last| (*last).to_owned())));
        // A name that JSON may spell in several ways cannot be looked for, and an escape may spell any.
        let is_plain =
            |word: &String| word.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte));
        let can_look = words.len() <= MAX_NEEDLES && words.iter().all(is_plain);
        let finder = |word: &str| Finder::new(word).into_owned();
        can_look.then(|| words.iter().map(|word| finder(word)).chain([finder("\\u00")]).collect())
    }

    /// Everything that the annotation on `key` says about the targets.
    fn said_by(&self, key: ObjectId, stored: &Stored, warnings: &mut Vec<String>) -> Result<Vec<Finding>> {
        if !stored.remarks.is_empty() {
            warnings.extend(malformed(key, stored));
        }
        let place = self.history.place(key);
        let (tree, time) = match place.map(|place| self.history.node(place)) {
            Some(node) => (Some(node.tree), Timestamp::from_second(node.time).ok()),
            None => self
                .repository
                .commit(key)
                .map_or((None, None), |commit| (Some(commit.tree), Some(commit.time))),
        };
        let time = time.unwrap_or(Timestamp::UNIX_EPOCH);
        let said = Said { key, place, tree, time, stored };
        let mut found = Vec::new();
        for document in stored.note.documents() {
            for region in &document.regions {
                let anchor = region.ast_anchor.as_ref().map(|anchor| anchor.name.as_str());
                let claim = Claim { document, id: Some(&region.id), file: Some(&region.file), anchor };
                self.declared(&said, &claim, &region.semantic_dependencies, &mut found)?;
                let constraints = region.constraints.iter().map(|constraint| &constraint.text);
                let texts = [&region.intent, &region.reasoning, &region.risk_notes];
                for text in texts.into_iter().flatten().chain(constraints) {
                    self.mentioned(&said, &claim, text, &mut found)?;
                }
            }
            for concern in &document.cross_cutting {
                self.grouped(&said, document, concern, &mut found)?;
            }
            let claim = Claim { document, id: None, file: None, anchor: None };
            if !said.stored.note.summary_is_replaced(document) {
                self.mentioned(&said, &claim, &document.summary, &mut found)?;
            }
        }
        for (document, entry) in stored.note.entries() {
            let anchor = entry.anchor.as_ref().map(|anchor| anchor.name.as_str());
            let claim = Claim { document, id: Some(&entry.id), file: entry.file.as_deref(), anchor };
            let n_before = found.len();
            self.declared(&said, &claim, &entry.depends_on, &mut found)?;
            // Older forms spell the declaration out in the words as well.
            if found.len() == n_before {
                self.mentioned(&said, &claim, &entry.content, &mut found)?;
            }
        }
        Ok(found)
    }

    fn declared(
        &self,
        said: &Said<'_>,
        claim: &Claim<'_>,
        declared: &[DependsOn],
        found: &mut Vec<Finding>,
    ) -> Result<()> {
        for dependency in declared {
            for number in self.targets_named(said, &dependency.file) {
                let anchor = dependency.anchor.as_deref().filter(|anchor| !anchor.trim().is_empty());
                if self.is_target(said, number, &dependency.file, anchor)? {
                    let nature = dependency.nature.clone();
                    let dependent = self.dependent(said, claim, Strength::Declared, number, anchor, nature);
                    found.push((number, dependent));
                }
            }
        }
        Ok(())
    }

    fn grouped(
        &self,
        said: &Said<'_>,
        document: &Annotation,
        concern: &chronicle_core::CrossCutting,
        found: &mut Vec<Finding>,
    ) -> Result<()> {
        let group: Vec<String> = concern.regions.iter().map(ToString::to_string).collect();
        for (at, member) in concern.regions.iter().enumerate() {
            for number in self.targets_named(said, &member.file) {
                if !self.is_target(said, number, &member.file, member.anchor.as_deref())? {
                    continue;
                }
                let is_other = |(other, _): &(usize, &CrossCuttingMember)| *other != at;
                for (_, other) in concern.regions.iter().enumerate().filter(is_other) {
                    let claim = Claim {
                        document,
                        id: None,
                        file: Some(&other.file),
                        anchor: other.anchor.as_deref(),
                    };
                    let (anchor, nature) = (member.anchor.as_deref(), concern.description.clone());
                    let dependent = self.dependent(said, &claim, Strength::Group, number, anchor, nature);
                    found.push((number, Dependent { group: group.clone(), ..dependent }));
                }
            }
        }
        Ok(())
    }

    /// Words elsewhere that name a target; what is said at the target itself is no news.
    fn mentioned(
        &self,
        said: &Said<'_>,
        claim: &Claim<'_>,
        text: &str,
        found: &mut Vec<Finding>,
    ) -> Result<()> {
        if !self.request.with_mentions {
            return Ok(());
        }
        let named = mentions(text);
        for (number, target) in self.request.targets.iter().enumerate() {
            let is_at_home = match claim.file {
                Some(file) => self.targets_named(said, file).contains(&number),
                None => said.place.is_some_and(|place| {
                    self.followed.files[number].touches.iter().any(|touch| touch.place == place)
                }),
            };
            if is_at_home {
                continue;
            }
            let anchor = target
                .anchors
                .iter()
                .find(|anchor| named.iter().any(|mention| mention.names(&segments(anchor))));
            if anchor.is_some() || self.names_file(number, &named)? {
                let anchor = anchor.map(String::as_str);
                let nature = text.trim().to_owned();
                found.push((number, self.dependent(said, claim, Strength::Mention, number, anchor, nature)));
            }
        }
        Ok(())
    }

    /// Whether a path among `named` means the target and no other file.
    fn names_file(&self, number: usize, named: &BTreeSet<Mention<'_>>) -> Result<bool> {
        let names = &self.ever[number];
        for mention in named {
            let Some(name) = names.iter().find(|name| mention.may_mean_file(name)) else { continue };
            if matches!(mention, Mention::Path(said) if said == name) || !self.is_shared(number, mention)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the end of a path that a mention gives is that of other files, too.
    fn is_shared(&self, number: usize, mention: &Mention<'_>) -> Result<bool> {
        let files = match self.files.get() {
            Some(files) => files,
            None => {
                let files = self.repository.files_under(self.history.nodes()[0].tree, b"".as_bstr())?;
                self.files.get_or_init(|| files)
            }
        };
        let is_other = |file: &&BString| **file != self.request.targets[number].file.at_head;
        Ok(files.iter().filter(is_other).any(|file| mention.may_mean_file(&file.to_str_lossy())))
    }

    /// The targets that `file`, written in an annotation, means.
    fn targets_named(&self, said: &Said<'_>, file: &str) -> Vec<usize> {
        let file = file.trim_start_matches("./");
        let known = |number: &usize| self.ever[*number].contains(file);
        let candidates: Vec<usize> = (0..self.ever.len()).filter(known).collect();
        if candidates.is_empty() {
            return candidates;
        }
        let then = said.place.map(|place| self.followed.files_called(place, file)).unwrap_or_default();
        if !then.is_empty() {
            return candidates.into_iter().filter(|number| then.contains(number)).collect();
        }
        // The commit did not have the file under this name. If it had another one of that name,
        // that one is meant; otherwise the annotation names what came later, or was before.
        let had_another = said.place.is_some()
            && said.tree.is_some_and(|tree| {
                matches!(self.repository.blob_at(tree, file.as_bytes().as_bstr()), Ok(Some(_)))
            });
        if had_another { Vec::new() } else { candidates }
    }

    /// Whether `anchor` of a file that is the target's means the target.
    fn is_target(&self, said: &Said<'_>, number: usize, file: &str, anchor: Option<&str>) -> Result<bool> {
        let target = &self.request.targets[number];
        let Some(anchor) = anchor.filter(|_| !target.anchors.is_empty()) else { return Ok(true) };
        let parts = segments(anchor);
        if target.anchors.iter().any(|name| name == anchor || agree(&segments(name), &parts)) {
            return Ok(true);
        }
        self.was_target(said, number, file, anchor)
    }

    /// Whether what was called `anchor` then is the target now, under another name.
    fn was_target(&self, said: &Said<'_>, number: usize, file: &str, anchor: &str) -> Result<bool> {
        let target = &self.request.targets[number];
        let (Some(content), Some(tree), false) = (&target.content, said.tree, target.lines.is_empty()) else {
            return Ok(false);
        };
        let path = target.file.path.to_str_lossy();
        let now = self.items[number].get_or_init(|| items(&path, content));
        if !resolve_exactly(now, anchor).is_empty() {
            return Ok(false);
        }
        let Some(blob) = self.repository.blob_at(tree, file.trim_start_matches("./").as_bytes().as_bstr())?
        else {
            return Ok(false);
        };
        let Some(old) = self.repository.blob_if_here(blob)? else { return Ok(false) };
        let then = items(file, &old);
        let (old, new) = (Lines::new(&old), Lines::new(content));
        let map = LineMap::between(&old, &new);
        let locator = Locator::new(new);
        let places = resolve_exactly(&then, anchor);
        let places = places.iter().filter_map(|item| locator.locate(&old, item.lines, &map).lines);
        Ok(places.into_iter().any(|place| target.lines.iter().any(|lines| lies_in(place, *lines))))
    }

    fn dependent(
        &self,
        said: &Said<'_>,
        claim: &Claim<'_>,
        strength: Strength,
        number: usize,
        anchor: Option<&str>,
        nature: String,
    ) -> Dependent {
        let at = chronicle_core::parse_time(&claim.document.timestamp).unwrap_or(said.time);
        // Whether the dependent code is still as it was is not looked up: it lies in another file.
        let tie = Tie::Lines(State::Changed, 0.0);
        let age = Age::between(at.min(self.head_time), self.head_time);
        let factors = score::factors(
            claim.document.provenance.source,
            score::context_level(claim.document),
            None,
            age,
            self.request.half_life_days,
            tie,
        );
        Dependent {
            strength,
            from_file: claim.file.map(str::to_owned),
            from_anchor: claim.anchor.map(str::to_owned),
            on_file: self.request.targets[number].file.path.to_string(),
            on_anchor: anchor.map(str::to_owned),
            nature,
            group: Vec::new(),
            id: claim.id.cloned(),
            commit: said.key.to_string(),
            timestamp: claim.document.timestamp.clone(),
            at,
            confidence: score::confidence(&factors),
            elsewhere: None,
        }
    }
}

/// Whether most of `place` lies in `lines`: two items that touch are not one.
fn lies_in(place: LineRange, lines: LineRange) -> bool {
    let shared = (place.end.min(lines.end) + 1).saturating_sub(place.start.max(lines.start));
    place.len() <= 2 * shared
}

fn items(path: &str, content: &[u8]) -> Vec<Item> {
    chronicle_outline::outline(path, content).map(|outline| outline.items).unwrap_or_default()
}

/// The items that `anchor` names for sure: a guess must not hide what was declared.
fn resolve_exactly<'i>(items: &'i [Item], anchor: &str) -> Vec<&'i Item> {
    match resolve(items, anchor) {
        chronicle_core::outline::Resolution::Fuzzy(_) => Vec::new(),
        other => other.items().to_vec(),
    }
}
