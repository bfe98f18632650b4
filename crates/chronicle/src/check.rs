//! Which lessons a diff touches.
//!
//! Lessons are placed in the *old* version, the one that the diff starts from: a lesson
//! on lines that the diff takes away would be gone from the new version, and that is the
//! one to show. The history of that version counts, so a lesson that comes with the
//! change itself is no news.

mod one_file;

use std::{collections::BTreeMap, path::PathBuf};

use chronicle_commits::{Content, DepsRequest, Limits, ReadRequest, Scope, ScopeFile, Target};
use chronicle_core::{
    Category, Differ, Extent, Hunk, LineMap, LineRange, Lines,
    correction::Tier,
    counted,
    dependent::Dependent,
    is_binary, line_words, lines_after,
    mentions::{agree, segments},
    outline::Item,
    reading::{Match, Query, Standing, State, WisdomItem},
    room::MOST_OF_STRANGERS,
    unified,
};
use chronicle_git::{BStr, BString, ByteSlice, Filtered, Newer, ObjectId};
use chronicle_workplace::{Error, error::NotADiffSnafu};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, anchors};

/// The change to check.
#[derive(Debug, Clone)]
pub enum CheckScope {
    /// The working tree against HEAD.
    WorkTree,
    /// The index against HEAD.
    Staged,
    /// `A..B`, `A...B`, or `A` against the working tree.
    Range(String),
    /// A unified diff that starts from HEAD.
    Diff(Vec<u8>),
    /// One file as it is now, or as an editor holds it, against HEAD.
    File(PathBuf),
}

/// Which lessons a diff touches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Check {
    /// Always `chronicle-check/v1`.
    pub schema: &'static str,
    /// The commit that the diff starts from; null before the first commit.
    pub base: Option<String>,
    /// What it is compared with: a commit, `index`, `working tree` or `diff`.
    pub against: String,
    /// The files of which something is touched.
    pub files: Vec<CheckedFile>,
    /// How many files the diff changes.
    pub n_files: usize,
    /// How many lessons count against it.
    pub n_failing: usize,
    /// Remarks about the answer.
    pub warnings: Vec<String>,
}

/// What a diff touches in one file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedFile {
    /// The file, as the diff leaves it; its old name when it is removed.
    pub file: String,
    /// Its name before, when the diff renames it.
    pub renamed_from: Option<String>,
    /// Whether the diff removes it.
    pub is_removed: bool,
    /// The lessons, those on changed lines first.
    pub lessons: Vec<TouchedLesson>,
    /// Code elsewhere that declares to rely on the changed items.
    pub dependents: Vec<TouchedDependent>,
    /// How many more of them are not told.
    #[serde(skip)]
    pub n_more_dependents: usize,
}

/// A lesson that a diff touches; its `lines` and `near` are those before the change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TouchedLesson {
    /// The lesson.
    #[serde(flatten)]
    pub lesson: WisdomItem,
    /// Its lines as the diff leaves the file; null where all of them are removed, or where that cannot be told.
    pub lines_now: Option<LineRange>,
    /// The same of the ranges that it may belong to.
    pub near_now: Vec<LineRange>,
    /// How the diff touches it.
    pub touch: Touch,
    /// Where to show it: a line of the file as the diff leaves it.
    pub at_line: u32,
    /// The line before the change, where what touches it removes lines and adds none.
    pub at_line_before: Option<u32>,
    /// Whether it counts against the diff.
    pub fails: bool,
}

/// Code that relies on a changed item.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TouchedDependent {
    /// Who relies on it.
    #[serde(flatten)]
    pub dependent: Dependent,
    /// Where to show it: a line of the file as the diff leaves it.
    pub at_line: u32,
    /// The line before the change, where what touches the item removes lines and adds none.
    pub at_line_before: Option<u32>,
}

/// Where a diff changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spot {
    /// A line of the file as the diff leaves it.
    line: u32,
    /// The line before, where lines are removed and none are added.
    before: Option<u32>,
}

impl Spot {
    /// Where `hunk` changes lines of `range`, a range of the base.
    fn of(hunk: &Hunk, range: LineRange) -> Self {
        let before = hunk.old.start.max(range.start).max(1);
        Self { line: hunk.line_within(range), before: (hunk.new.len == 0).then_some(before) }
    }

    /// Where the first of `hunks` is.
    fn first(hunks: &[Hunk]) -> Self {
        let first = hunks.first().map(|hunk| Self {
            line: hunk.new.start.max(1),
            before: (hunk.new.len == 0).then_some(hunk.old.start.max(1)),
        });
        first.unwrap_or(Self { line: 1, before: None })
    }
}

/// How a diff touches a lesson, most plainly first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Touch {
    /// It changes lines that the lesson is about, or the whole file.
    Lines,
    /// It changes lines that the lesson may be about.
    Near,
    /// It changes other lines of the item that the lesson is about; perhaps the lesson's own are gone.
    Item,
    /// It changes lines that the lesson's commit wrote.
    Commit,
    /// It changes a file that the lesson is about as a whole.
    File,
}

/// Who relies on what one file of the diff loses or changes.
#[derive(Default)]
struct Relying {
    told: Vec<TouchedDependent>,
    /// How many there are beside.
    n_more: usize,
}

/// One file of the diff, in coordinates of the base.
struct Changed {
    old: BString,
    new: Option<BString>,
    hunks: Vec<Hunk>,
    /// Whether its lines mean nothing, or all of them go.
    is_whole: bool,
    /// Whether it is unknown that anything changes.
    is_doubtful: bool,
    /// Its bytes in the base, if they are at hand.
    content: Content,
    /// The innermost items that change, and where; `None` without an outline.
    items: Option<Vec<(Item, Spot)>>,
    /// What leads to the lines that a diff starts from, where those are not the base's.
    uncommitted: Option<Uncommitted>,
}

/// A diff that starts from the working tree.
struct Uncommitted {
    /// From the base to the working tree.
    map: LineMap,
    /// The hunks as the diff has them.
    hunks: Vec<Hunk>,
}

/// One version of a file, as far as it takes to compare it; one makes room for the next.
#[derive(Default)]
struct Side {
    /// The words of its lines, unless those mean nothing, or are not at hand.
    words: Vec<u32>,
    is_opaque: bool,
}

impl Side {
    /// Makes it a version with some content.
    fn set(&mut self, content: Option<&[u8]>) {
        let content = content.filter(|content| !is_binary(content));
        self.is_opaque = content.is_none();
        self.words = content.map(line_words).unwrap_or_default();
    }
}

impl Changed {
    /// Where lines of the base are as the diff leaves the file.
    fn lines_now(&self, lines: LineRange) -> Option<LineRange> {
        match &self.uncommitted {
            _ if self.is_whole => None,
            Some(Uncommitted { map, hunks }) => lines_after(hunks, map.map(lines).lines?),
            None => lines_after(&self.hunks, lines),
        }
    }

    /// The part of the base that lessons must concern to be touched.
    fn scope(&self) -> Scope {
        if self.is_whole {
            return Scope::default();
        }
        let items = self.items.iter().flatten().map(|(item, _)| item);
        // What is added lies between two lines.
        let around = |hunk: &Hunk| LineRange {
            start: hunk.old.start.saturating_sub(1).max(1),
            end: hunk.old.start.saturating_add(hunk.old.len),
        };
        Scope {
            lines: Some(self.hunks.iter().map(around).collect()),
            names: items.map(|item| item.qualified.clone()).collect(),
        }
    }
}

impl Chronicle {
    /// Which lessons a diff touches; those of the categories `fail_on` count against it. Of those who rely on one file at
    /// most `most_dependents` are told.
    ///
    /// # Errors
    /// When revisions are unknown, the input is no diff, or the repository cannot be read.
    pub fn check(
        &self,
        scope: &CheckScope,
        fail_on: &[Category],
        most_dependents: usize,
    ) -> Result<Check, Error> {
        let mut check = Check {
            schema: "chronicle-check/v1",
            base: None,
            against: String::new(),
            files: Vec::new(),
            n_files: 0,
            n_failing: 0,
            warnings: Vec::new(),
        };
        let repository = self.workplace.repository()?;
        let head = if let CheckScope::Range(_) = scope { None } else { repository.head()? };
        let (base, mut changed) = match (scope, head) {
            (CheckScope::Range(range), _) => {
                let (old, newer) = self.range(range)?;
                self.changed(old, newer, &mut check)?
            }
            (CheckScope::WorkTree, Some(head)) => self.changed(head, Newer::WorkTree, &mut check)?,
            (CheckScope::Staged, Some(head)) => self.changed(head, Newer::Index, &mut check)?,
            (CheckScope::Diff(bytes), Some(head)) => self.changed_by_diff(head, bytes, &mut check)?,
            (CheckScope::File(path), Some(head)) => (head, self.changed_of_file(head, path, &mut check)?),
            (_, None) => {
                check.warnings.push("there is no commit yet, so nothing can be touched".to_owned());
                return Ok(check);
            }
        };
        check.base = Some(base.to_string());
        // Parsing takes longest, and where nothing is noted nothing is asked for by name.
        if self.git_hooks().has_notes() {
            self.find_items(&mut changed);
        }
        let mut lessons = self.lessons_at(base, &changed, &mut check.warnings)?;
        let mut dependents = self.dependents_at(base, &changed, most_dependents, &mut check.warnings)?;
        check.files.reserve_exact(changed.len());
        let (mut room, mut n_left_out) = (MOST_OF_STRANGERS, 0);
        for (number, file) in changed.iter().enumerate() {
            let mut touched: Vec<TouchedLesson> = lessons
                .remove(&file.old.to_string())
                .unwrap_or_default()
                .into_iter()
                .filter_map(|lesson| self.touch(lesson, file, fail_on))
                .collect();
            touched.sort_by_key(|lesson| (lesson.touch, lesson.at_line));
            touched.retain(|touched| {
                let is_strange = touched.lesson.standing.tier == Tier::Unknown;
                let has_room = !is_strange || 0 < room;
                room -= usize::from(is_strange && has_room);
                n_left_out += usize::from(!has_room);
                has_room
            });
            let relying = dependents.remove(&number).unwrap_or_default();
            check.n_failing += touched.iter().filter(|lesson| lesson.fails).count();
            if touched.is_empty() && relying.told.is_empty() {
                continue;
            }
            let is_renamed = file.new.as_ref().is_some_and(|new| *new != file.old);
            check.files.push(CheckedFile {
                file: file.new.as_ref().unwrap_or(&file.old).to_string(),
                renamed_from: is_renamed.then(|| file.old.to_string()),
                is_removed: file.new.is_none(),
                lessons: touched,
                dependents: relying.told,
                n_more_dependents: relying.n_more,
            });
        }
        if 0 < n_left_out {
            check.warnings.push(format!(
                "{} of strangers left out: an answer shows {MOST_OF_STRANGERS}",
                counted(n_left_out, "lesson")
            ));
        }
        Ok(check)
    }

    /// The two sides of `A..B`, `A...B` or `A`; a side that is left out is HEAD.
    fn range(&self, range: &str) -> Result<(ObjectId, Newer), Error> {
        let repository = self.workplace.repository()?;
        let resolve = |side: &str| repository.resolve(if side.is_empty() { "HEAD" } else { side });
        if let Some((left, right)) = range.split_once("...") {
            let (left, right) = (resolve(left)?, resolve(right)?);
            return Ok((repository.merge_base(left, right)?, Newer::Commit(right)));
        }
        if let Some((left, right)) = range.split_once("..") {
            return Ok((resolve(left)?, Newer::Commit(resolve(right)?)));
        }
        Ok((repository.resolve(range)?, Newer::WorkTree))
    }

    /// What differs between a commit and something newer.
    fn changed(
        &self,
        base: ObjectId,
        newer: Newer,
        check: &mut Check,
    ) -> Result<(ObjectId, Vec<Changed>), Error> {
        check.against = match newer {
            Newer::Commit(commit) => commit.to_string(),
            Newer::Index => "index".to_owned(),
            Newer::WorkTree => "working tree".to_owned(),
        };
        let pending = self.workplace.repository()?.pending(base, newer)?;
        check.n_files = pending.changes.len();
        // Nothing was known of a file that is new.
        let changes = || pending.changes.iter().filter(|change| change.old.is_some());
        let sides = changes().flat_map(|change| [change.old, change.new]).flatten();
        self.workplace.repository()?.fetch_promised(sides)?;
        let is_partial = self.workplace.repository()?.is_partial();
        let mut differ = Differ::default();
        let (mut old_side, mut new_side) = (Side::default(), Side::default());
        let mut changed = Vec::with_capacity(pending.changes.len());
        for change in changes() {
            let Some(old_id) = change.old else { continue };
            let old = change.renamed_from.clone().unwrap_or_else(|| change.path.clone());
            let content = Content::committed(old_id);
            let (found, is_whole) = match change.new {
                None => (Vec::new(), true),
                Some(_) if pending.filtered.contains_key(&change.path) => (Vec::new(), true),
                Some(new) => {
                    old_side.set(content.bytes(self.workplace.lazy()));
                    new_side.set(pending.content(new)?.as_deref());
                    if old_side.is_opaque || new_side.is_opaque {
                        (Vec::new(), true)
                    } else {
                        (differ.hunks(&old_side.words, &new_side.words), false)
                    }
                }
            };
            if found.is_empty() && !is_whole {
                continue;
            }
            let is_promised = |id: ObjectId| Ok::<_, Error>(pending.content(id)?.is_none());
            let is_unseen = is_partial
                && is_whole
                && (is_promised(old_id)? || change.new.map(is_promised).transpose()? == Some(true));
            check.warnings.extend(is_unseen.then(|| {
                let path = change.path.to_str_lossy();
                format!("`{path}` is not in this partial clone and could not be fetched (from a remote that `sync enable` named): any of its lines may change")
            }));
            let filtered = pending.filtered.get(&change.path);
            check.warnings.extend(filtered.map(|filtered| filter_warning(change.path.as_bstr(), *filtered)));
            changed.push(Changed {
                old,
                new: change.new.map(|_| change.path.clone()),
                hunks: found,
                is_whole,
                is_doubtful: change.new.is_some() && is_unseen || filtered == Some(&Filtered::PerhapsChanged),
                content,
                items: None,
                uncommitted: None,
            });
        }
        Ok((base, changed))
    }

    /// What a diff from outside changes, as far as HEAD, which is `base`, has the files.
    fn changed_by_diff(
        &self,
        base: ObjectId,
        bytes: &[u8],
        check: &mut Check,
    ) -> Result<(ObjectId, Vec<Changed>), Error> {
        let repository = self.workplace.repository()?;
        let tree = repository.commit_tree(base)?;
        let diff = unified::read(bytes);
        if let (true, Some(reason)) = (diff.files.is_empty(), diff.unread.first()) {
            return NotADiffSnafu { reason }.fail();
        }
        check.against = "diff".to_owned();
        check.n_files = diff.files.len();
        check
            .warnings
            .extend(diff.unread.iter().map(|reason| format!("part of the diff was skipped: {reason}")));
        let mut changed = Vec::new();
        let prefixes = ["diff.srcPrefix", "diff.dstPrefix"].map(|name| repository.settings(name).pop());
        for mut file in diff.files.into_iter().filter(|file| !file.old_paths.is_empty()) {
            for (paths, prefix) in [&mut file.old_paths, &mut file.new_paths].into_iter().zip(&prefixes) {
                let bare = |path: &Vec<u8>| Some(path.strip_prefix(prefix.as_ref()?.as_bytes())?.to_vec());
                let found = paths.iter().find_map(bare).filter(|bare| !bare.is_empty());
                paths.extend(found);
            }
            let mut found = None;
            for (number, path) in file.old_paths.iter().enumerate() {
                if let (None, Some(blob)) = (&found, repository.blob_at(tree, path.as_bstr())?) {
                    found = Some((number, path, blob));
                }
            }
            let Some((number, old, blob)) = found else {
                let name = file.old_paths[0].to_str_lossy().into_owned();
                check
                    .warnings
                    .push(format!("`{name}` is not at HEAD, so what the diff changes in it was not checked"));
                continue;
            };
            let new = file.new_paths.get(number).or_else(|| file.new_paths.first());
            let content = Content::committed(blob);
            let (hunks, uncommitted) = match content.bytes(self.workplace.lazy()) {
                Some(content) if !file.is_binary => self.at_base(&file, old, content, &mut check.warnings)?,
                _ => (Vec::new(), None),
            };
            changed.push(Changed {
                old: old.as_bstr().to_owned(),
                new: new.map(|path| path.as_bstr().to_owned()),
                is_whole: file.is_binary || file.new_paths.is_empty(),
                is_doubtful: false,
                hunks,
                content,
                items: None,
                uncommitted,
            });
        }
        Ok((base, changed))
    }

    /// The hunks of a diff in lines of the committed version: the diff may start from the working tree instead.
    fn at_base(
        &self,
        file: &unified::FileDiff,
        path: &[u8],
        committed: &[u8],
        warnings: &mut Vec<String>,
    ) -> Result<(Vec<Hunk>, Option<Uncommitted>), Error> {
        let committed = Lines::new(committed);
        if quotes(file, &committed) {
            return Ok((file.hunks.clone(), None));
        }
        // Git shows a diff of what it would store.
        let content = self.workplace.repository()?.present_as_stored(path.as_bstr())?.unwrap_or_default();
        let now = Lines::new(&content);
        if !quotes(file, &now) {
            warnings.push(format!(
                "the diff of `{}` starts from another version than HEAD; its lines may be off",
                path.to_str_lossy()
            ));
            return Ok((file.hunks.clone(), None));
        }
        let map = LineMap::between(&now, &committed);
        // What is not committed yet has no lessons.
        let mapped = |hunk: &Hunk| {
            let lines = hunk.old.range().unwrap_or(LineRange { start: hunk.old.start, end: hunk.old.start });
            let there = map.map(lines).lines?;
            let len = if hunk.old.len == 0 { 0 } else { there.len() };
            Some(Hunk { old: Extent { start: there.start, len }, new: hunk.new })
        };
        let hunks = file.hunks.iter().filter_map(mapped).collect();
        let uncommitted = Uncommitted { map: LineMap::between(&committed, &now), hunks: file.hunks.clone() };
        Ok((hunks, Some(uncommitted)))
    }

    /// Finds the items of the base that change.
    fn find_items(&self, changed: &mut [Changed]) {
        for file in changed {
            if file.is_whole {
                continue;
            }
            let outlines = &self.workplace.caches().outlines;
            let is_touched = |lines| file.hunks.iter().any(|hunk| hunk.touches(lines));
            let path = file.old.to_str_lossy();
            let touched = outlines.items_within(self.workplace.lazy(), &path, &file.content, is_touched);
            let Some(touched) = touched else { continue };
            let mut items: Vec<(Item, Spot)> = Vec::new();
            for hunk in &file.hunks {
                for item in anchors::touched(&touched, *hunk) {
                    if !items.iter().any(|(known, _)| known.qualified == item.qualified) {
                        items.push((item.clone(), Spot::of(hunk, item.lines)));
                    }
                }
            }
            file.items = Some(items);
        }
    }

    /// A lesson, if the diff touches it.
    fn touch(&self, lesson: WisdomItem, file: &Changed, fail_on: &[Category]) -> Option<TouchedLesson> {
        let touched = touch_of_lines(&lesson.standing, file);
        let (touch, spot) = touched.or_else(|| Some((Touch::Item, self.touched_item(&lesson, file)?)))?;
        let fails = touch == Touch::Lines && fail_on.contains(&lesson.category);
        let lines_now = lesson.standing.lines.and_then(|lines| file.lines_now(lines));
        let near_now = lesson.standing.near.iter().filter_map(|near| file.lines_now(*near)).collect();
        let (at_line, at_line_before) = (spot.line, spot.before);
        Some(TouchedLesson { lines_now, near_now, touch, at_line, at_line_before, fails, lesson })
    }

    /// Where the diff touches the item that a lesson is about: the one with its name or, where nothing in the file has
    /// that any more, the innermost one that its lines are in.
    fn touched_item(&self, lesson: &WisdomItem, file: &Changed) -> Option<Spot> {
        let (anchor, items) = (&lesson.anchor.as_ref()?.name, file.items.as_ref()?);
        let name = segments(anchor);
        let is_called_so = |item: &Item| agree(&segments(&item.qualified), &name);
        if let Some((_, spot)) = items.iter().find(|(item, _)| is_called_so(item)) {
            return Some(*spot);
        }
        let lines = lesson.standing.lines.filter(|_| lesson.standing.state != State::Gone)?;
        let holds_it = |item: &Item| item.lines.start <= lines.start && lines.end <= item.lines.end;
        if !items.iter().any(|(item, _)| holds_it(item)) {
            return None;
        }
        let outlines = &self.workplace.caches().outlines;
        let all = outlines.items_of(self.workplace.lazy(), &file.old.to_str_lossy(), &file.content)?;
        let all = all.as_ref().as_ref().ok()?;
        if all.iter().any(is_called_so) {
            return None;
        }
        let innermost = all.iter().filter(|item| holds_it(item)).min_by_key(|item| item.lines.len())?;
        Some(items.iter().find(|(item, _)| item == innermost)?.1)
    }

    /// The lessons known of the files in the version `base`, by file.
    fn lessons_at(
        &self,
        base: ObjectId,
        changed: &[Changed],
        warnings: &mut Vec<String>,
    ) -> Result<BTreeMap<String, Vec<WisdomItem>>, Error> {
        if changed.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut scopes: BTreeMap<&BString, Scope> = BTreeMap::new();
        for file in changed {
            // A file may be changed and copied at once.
            let scope =
                scopes.remove(&file.old).map_or_else(|| file.scope(), |scope| scope.and(file.scope()));
            scopes.insert(&file.old, scope);
        }
        let files = scopes.keys().map(|path| ScopeFile::from((*path).clone())).collect();
        let limits = Limits {
            lessons_only: true,
            per_file: true,
            max_regions: usize::MAX,
            without_gone: true,
            without_stats: true,
            ..Limits::default()
        };
        let request = ReadRequest {
            query: Query::default(),
            files,
            // Few of the lessons on a file are near what is edited.
            scopes: scopes.into_values().collect(),
            limits,
            all: false,
            at: Some(base),
            half_life_days: self.workplace.read_settings()?.half_life_days,
            now: self.workplace.now(),
        };
        let reading = chronicle_commits::read(self.workplace.lazy(), self.workplace.caches(), &request)?;
        warnings.extend(reading.warnings);
        let mut by_file: BTreeMap<String, Vec<WisdomItem>> = BTreeMap::new();
        for item in reading.wisdom.into_iter().filter(|item| !item.standing.is_over()) {
            if let Some(file) = item.standing.file.clone() {
                by_file.entry(file).or_default().push(item);
            }
        }
        Ok(by_file)
    }

    /// Who declares to rely on what the files lose or change, by number of the file; at most `most_of_file` of each.
    fn dependents_at(
        &self,
        base: ObjectId,
        changed: &[Changed],
        most_of_file: usize,
        warnings: &mut Vec<String>,
    ) -> Result<BTreeMap<usize, Relying>, Error> {
        let mut targets = Vec::new();
        let mut spots: Vec<(usize, Spot)> = Vec::new();
        for (number, file) in changed.iter().enumerate() {
            let target = |anchors: Vec<String>, lines: Vec<LineRange>| Target {
                file: ScopeFile::from(file.old.clone()),
                anchors,
                lines,
                content: file.content.clone(),
            };
            let Some(items) = &file.items else {
                targets.push(target(Vec::new(), Vec::new()));
                spots.push((number, Spot::first(&file.hunks)));
                continue;
            };
            for (item, spot) in items {
                targets.push(target(vec![item.qualified.clone()], vec![item.lines]));
                spots.push((number, *spot));
            }
            if items.is_empty() {
                // Outside of all items only what relies on the file as a whole is touched.
                targets.push(target(vec![String::new()], Vec::new()));
                spots.push((number, Spot::first(&file.hunks)));
            }
        }
        let mut by_file: BTreeMap<usize, Relying> = BTreeMap::new();
        if targets.is_empty() {
            return Ok(by_file);
        }
        let request = DepsRequest {
            targets,
            at: base,
            with_mentions: false,
            most_of_file,
            all: false,
            now: self.workplace.now(),
            half_life_days: self.workplace.read_settings()?.half_life_days,
        };
        let found = chronicle_commits::dependents(self.workplace.lazy(), self.workplace.caches(), &request)?;
        warnings.extend(
            found.warnings.into_iter().filter(|warning| !warnings.contains(warning)).collect::<Vec<_>>(),
        );
        for (dependent, target) in found.dependents.into_iter().zip(found.targets) {
            let (number, Spot { line: at_line, before: at_line_before }) = spots[target];
            let told = TouchedDependent { dependent, at_line, at_line_before };
            by_file.entry(number).or_default().told.push(told);
        }
        for target in found.left_out {
            by_file.entry(spots[target].0).or_default().n_more += 1;
        }
        Ok(by_file)
    }
}

/// Whether all lines that a diff quotes stand where it says.
fn quotes(file: &unified::FileDiff, version: &Lines<'_>) -> bool {
    let lines = version.all();
    file.quoted
        .iter()
        .all(|(number, text)| lines.get(*number as usize - 1).is_some_and(|line| *line == text.as_slice()))
}

fn filter_warning(path: &BStr, filtered: Filtered) -> String {
    let path = path.to_str_lossy();
    match filtered {
        Filtered::Changed => format!(
            "`{path}` changed, but it is under a filter, which Chronicle does not run: the whole file counts as changed"
        ),
        Filtered::PerhapsChanged => format!(
            "`{path}` may have changed: it is under a filter, which Chronicle does not run; `git status` looks closer, \
             then check again"
        ),
    }
}

/// How the diff touches the lines that a lesson has in the base, and where.
fn touch_of_lines(standing: &Standing, file: &Changed) -> Option<(Touch, Spot)> {
    if standing.state == State::Gone {
        return None;
    }
    let hit = |lines: LineRange| {
        let hunk = file.hunks.iter().find(|hunk| hunk.touches(lines))?;
        Some(Spot::of(hunk, lines))
    };
    if file.is_whole {
        let first = standing.lines.map_or(1, |lines| lines.start);
        let spot = Spot { line: 1, before: file.new.is_none().then_some(first) };
        return Some((if file.is_doubtful { Touch::Near } else { Touch::Lines }, spot));
    }
    let near = || standing.near.iter().find_map(|near| hit(*near));
    Some(match (standing.matched, standing.lines) {
        (Match::Commit, Some(lines)) => (Touch::Commit, hit(lines)?),
        (Match::Commit, None) => (Touch::Commit, near()?),
        (Match::File, _) => (Touch::File, Spot::first(&file.hunks)),
        // Asked for by name, a lesson on an item of which only the file was recorded.
        (Match::Anchor, None) if standing.near.is_empty() => (Touch::File, Spot::first(&file.hunks)),
        (_, Some(lines)) => (Touch::Lines, hit(lines)?),
        (_, None) => (Touch::Near, near()?),
    })
}
