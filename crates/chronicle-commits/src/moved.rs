//! Code that came from another file.
//!
//! A note keeps a sketch of the code that it speaks of. Where another file than the noted one holds code like that, had
//! none when the note's commit was made, and the noted one has it no more, the code moved: what was said of it there is
//! told of it here. Names are not asked, since code is renamed on its way, too.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::LazyLock,
};

use chronicle_core::{
    CodeWords, LineFinder, LineRange, Lines, Place, Sketch, is_substantive, line_hash, reading::State,
    score::Tie,
};
use chronicle_git::{BStr, BString, ByteSlice, ObjectId, Repository};
use memchr::memmem::Finder;
use twox_hash::XxHash3_64;

use crate::{
    error::Result,
    matching::{AsOf, Candidate, Ground, names_of},
    past::{Touch, placements::RULES},
    placing::{self, Located, Placement, place},
    present::{Present, is_opaque},
};

/// What to tell of an answer that holds what was said of code in `file`.
pub(crate) fn remark(file: &str) -> String {
    format!("the code came from `{file}`; what was said of it there is told, too")
}

/// Code of fewer lines is written twice by chance.
const SHORTEST: usize = 3;
/// A file that has fewer lines of some code does not have the code.
pub(crate) const FEWEST: usize = 2;
/// The same as a share.
const LEAST_HELD: f64 = 0.3;
/// With less than this share of the lines, words have to tell.
const LEAST_SHARE: f64 = 0.5;
/// Code that was renamed and formatted on its way still has this share of its words.
const LEAST_WORDS: f64 = 0.8;
/// No code that a person wrote is in a larger file.
pub(crate) const MAX_BYTES: usize = 1 << 23;
/// Of more files than this nobody waits to hear how many hold some code.
const MAX_FILES: usize = 20_000;

/// Code that more files than this came to hold since is in all of them by habit.
pub(crate) const MAX_HOLDERS: usize = 8;

/// Which of some files hold which lines.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    /// A line's hash above the number of a version that holds it, in order: [`Self::version`].
    lines: Vec<u64>,
    n_files: usize,
    /// The numbers of files that have other bytes now.
    edited: BTreeSet<usize>,
    /// For each file a hash of its bytes, where these were looked at.
    contents: HashMap<usize, u64>,
}

/// What of a file holds lines.
#[derive(Clone, Copy)]
enum Version {
    /// Its bytes in the newest commit.
    Head,
    /// Those that it has now, where they are others.
    Now,
    /// The lines that it has now and had not in the newest commit.
    Brought,
}

impl Holders {
    /// The lines of each of the files in scope that was changed after the commit at place `oldest`.
    pub(crate) fn of(ground: &Ground<'_>, oldest: u32) -> Self {
        let mut holders = Self { n_files: ground.paths.len(), ..Self::default() };
        for (number, file) in ground.past.files().iter().enumerate() {
            let now = ground.now(number);
            if now.is_some() || file.touches.first().is_none_or(|touch| touch.place < oldest) {
                let added =
                    ground.with_content(number, |then| holders.add_file(number, then, now.unwrap_or(then)));
                if added.is_none() {
                    holders.add_file(number, b"", now.unwrap_or_default());
                }
            }
        }
        holders.in_order()
    }

    /// The lines of all files of the newest commit.
    pub(crate) fn everywhere(ground: &Ground<'_>) -> Self {
        let paths = ground.repository.files_under(ground.past.head().tree, BStr::new("")).ok();
        let paths = paths.filter(|paths| paths.len() <= MAX_FILES).unwrap_or_default();
        let mut holders = Self { n_files: paths.len(), ..Self::default() };
        for (number, path) in paths.iter().enumerate() {
            let _is_there =
                ground.with_other(path, AsOf::Head, |content| holders.add_file(number, content, content));
        }
        holders.in_order()
    }

    /// The file number `number`, whose bytes were `then` in the newest commit and are `now`.
    fn add_file(&mut self, number: usize, then: &[u8], now: &[u8]) {
        self.contents.insert(number, XxHash3_64::oneshot(now));
        let lines_then = hashes_of(then);
        if then != now {
            self.edited.insert(number);
            let lines_now = hashes_of(now);
            let known: HashSet<u32> = lines_then.iter().copied().collect();
            self.add(
                number,
                Version::Brought,
                lines_now.iter().copied().filter(|line| !known.contains(line)),
            );
            self.add(number, Version::Now, lines_now.iter().copied());
        }
        self.add(number, Version::Head, lines_then.into_iter());
    }

    fn add(&mut self, number: usize, version: Version, lines: impl Iterator<Item = u32>) {
        let number = self.version(number, version) as u64;
        self.lines.extend(lines.map(|line| u64::from(line) << u32::BITS | number));
    }

    fn in_order(mut self) -> Self {
        self.lines.sort_unstable();
        self.lines.dedup();
        self
    }

    /// Whether the file number `number` has other bytes now than in the newest commit.
    fn is_edited(&self, number: usize) -> bool {
        self.edited.contains(&number)
    }

    /// The number of a version of the file number `number`.
    fn version(&self, number: usize, version: Version) -> usize {
        match version {
            Version::Head => number,
            Version::Now => self.n_files + number,
            Version::Brought => 2 * self.n_files + number,
        }
    }

    /// How many of the lines `telling` each version holds that holds any.
    fn held(&self, telling: &[u32]) -> Held<'_> {
        let mut by_version = BTreeMap::new();
        for line in telling {
            let first = self.lines.partition_point(|known| *known < u64::from(*line) << u32::BITS);
            let same =
                self.lines[first..].iter().take_while(|known| **known >> u32::BITS == u64::from(*line));
            for version in same {
                let number = usize::try_from(*version & u64::from(u32::MAX)).expect("a number of versions");
                *by_version.entry(number).or_default() += 1;
            }
        }
        Held { holders: self, n_telling: telling.len(), by_version }
    }

    /// The files that may hold code with the lines `telling`, beside `own`.
    pub(crate) fn holding(&self, ground: &Ground<'_>, telling: &[u32], own: &Own<'_>) -> Vec<Holding> {
        if telling.len() < SHORTEST || self.lines.is_empty() {
            return Vec::new();
        }
        let held = self.held(telling);
        if !held.is_any_enough() {
            return Vec::new();
        }
        let files = held.by_version.keys().map(|version| version % self.n_files);
        let others: BTreeSet<usize> = files.filter(|file| !own.files.contains(file)).collect();
        let mut holding = Vec::new();
        for as_of in [AsOf::Head, AsOf::Now] {
            let all = others.iter().map(|file| (*file, held.n_of(*file, as_of)));
            let all: Vec<(usize, usize)> =
                all.filter(|(_, n_held)| may_hold(*n_held, telling.len())).collect();
            let is_now = as_of == AsOf::Now;
            if !all.iter().any(|(file, _)| held.is_brought(*file) == is_now) {
                continue;
            }
            let n_own = match own.files {
                [] => ground.n_noted(own.name, telling, as_of),
                files => files.iter().map(|file| held.n_of(*file, as_of)).max().unwrap_or_default(),
            };
            let is_in_many = MAX_HOLDERS < all.iter().filter(|(_, n_held)| n_own < *n_held).count();
            let meant = all.into_iter().filter(|(file, _)| held.is_brought(*file) == is_now);
            holding.extend(meant.map(|(file, n_held)| Holding {
                file,
                as_of,
                n_held,
                is_more: n_own < n_held && !is_in_many,
            }));
        }
        holding
    }

    /// Whether so few files came to hold the code that it is in them by no habit.
    pub(crate) fn are_few(&self, telling: &[u32], n_own: usize) -> bool {
        let held = self.held(telling).by_version.into_values();
        held.filter(|n_held| n_own < *n_held && may_hold(*n_held, telling.len())).count() <= MAX_HOLDERS
    }

    /// Whether any of the files may hold code with the lines `telling`.
    pub(crate) fn may_hold(&self, telling: &[u32]) -> bool {
        self.held(telling).is_any_enough()
    }

    /// Whether a file may hold what a note sketched, a note as it was written: a cheap look before that is parsed.
    pub(crate) fn of_any_in(&self, raw: &[u8]) -> bool {
        let mut after = KEYS.iter().flat_map(|key| key.find_iter(raw).map(|at| at + key.needle().len()));
        !self.lines.is_empty() && after.any(|after| self.may_hold(&sketched_at(&raw[after..])))
    }
}

/// The telling lines of the sketch whose key ends where `raw` begins.
fn sketched_at(raw: &[u8]) -> Vec<u32> {
    let value = raw.trim_start().strip_prefix(b":").map(<[u8]>::trim_start);
    let text = value.and_then(|value| value.strip_prefix(b"\"")).unwrap_or_default();
    let text = &text[..memchr::memchr(b'"', text).unwrap_or_default()];
    text.to_str().map(|text| Sketch(text.to_owned()).telling()).unwrap_or_default()
}

/// How many of some telling lines the versions hold.
struct Held<'h> {
    holders: &'h Holders,
    n_telling: usize,
    by_version: BTreeMap<usize, usize>,
}

impl Held<'_> {
    /// Whether any version may have the code that the lines are of.
    fn is_any_enough(&self) -> bool {
        self.by_version.values().any(|n_held| may_hold(*n_held, self.n_telling))
    }

    fn n_in(&self, file: usize, version: Version) -> usize {
        self.by_version.get(&self.holders.version(file, version)).copied().unwrap_or_default()
    }

    fn n_of(&self, file: usize, as_of: AsOf) -> usize {
        match as_of {
            AsOf::Now if self.holders.is_edited(file) => self.n_in(file, Version::Now),
            _ => self.n_in(file, Version::Head),
        }
    }

    /// Whether an edit may have brought the code.
    fn is_brought(&self, file: usize) -> bool {
        may_hold(self.n_in(file, Version::Brought), self.n_telling)
    }
}

/// A file that may hold some code beside those that it was in when a note sketched it.
pub(crate) struct Holding {
    /// The number of the file.
    pub(crate) file: usize,
    pub(crate) as_of: AsOf,
    /// How many of the telling lines it holds.
    pub(crate) n_held: usize,
    /// Whether it holds more of them than those, as no more than [`MAX_HOLDERS`] do: the code may have come from there.
    pub(crate) is_more: bool,
}

/// The files that some code was in when a note sketched it.
pub(crate) struct Own<'o> {
    /// Their numbers, where they are in scope.
    pub(crate) files: &'o [usize],
    /// What the note calls them.
    pub(crate) name: &'o str,
}

/// The keys under which notes have sketches.
static KEYS: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new(b"\"sketch\""), Finder::new(b"\"around\"")]);

/// Whether a note as it was written may sketch something.
pub(crate) fn may_be_sketched(raw: &[u8]) -> bool {
    KEYS[0].find(raw).is_some()
}

/// Whether what was sketched is long enough to be known in another file.
pub(crate) fn is_telling(sketch: &Sketch) -> bool {
    SHORTEST <= sketch.telling().len()
}

/// Whether a file that has `n_held` of so many `telling` lines may have the code they are of.
pub(crate) fn may_hold(n_held: usize, n_telling: usize) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
    let is_enough = LEAST_HELD * n_telling as f64 <= n_held as f64;
    SHORTEST <= n_telling && FEWEST <= n_held && is_enough
}

/// The lines of some content that say something, by their hashes.
#[derive(Debug, Default)]
pub(crate) struct FileLines(Vec<u32>);

impl FileLines {
    pub(crate) fn of(content: &[u8]) -> Self {
        hashes_of(content).into_iter().collect()
    }

    /// The hashes, each once and in order.
    pub(crate) fn hashes(&self) -> &[u32] {
        &self.0
    }

    pub(crate) fn has(&self, line: u32) -> bool {
        self.0.binary_search(&line).is_ok()
    }

    /// How many of the lines `telling` are among these.
    pub(crate) fn n_of(&self, telling: &[u32]) -> usize {
        telling.iter().filter(|line| self.has(**line)).count()
    }

    /// Whether [`Sketch::locate`] may find what was sketched in these: a cheap look before they are read again.
    fn may_locate(&self, sketch: &Sketch) -> bool {
        let hashes = sketch.hashes().unwrap_or_default();
        let n_held = hashes.iter().filter(|line| self.has(**line)).count();
        // One line alone proves a place only where no more than a few were sketched.
        n_held >= if hashes.len() <= SHORTEST { 1 } else { FEWEST }
    }
}

impl FromIterator<u32> for FileLines {
    fn from_iter<T: IntoIterator<Item = u32>>(hashes: T) -> Self {
        let mut hashes: Vec<u32> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }
}

/// Whether no code that a person wrote has the bytes `content`.
fn is_no_code(content: &[u8]) -> bool {
    is_opaque(content) || MAX_BYTES < content.len()
}

/// The hashes of the lines of `content` that say something, as they come.
fn hashes_of(content: &[u8]) -> Vec<u32> {
    if is_no_code(content) {
        return Vec::new();
    }
    let lines = Lines::new(content);
    lines.all().iter().filter(|line| is_substantive(line)).map(|line| line_hash(line)).collect()
}

/// In a larger scope it takes longer to name its files than to look again.
const MAX_NAMED: usize = 64;

/// Code that a note speaks of in another file, and a file in scope that it may have come to.
pub(crate) struct Arrival<'a> {
    pub(crate) ground: &'a Ground<'a>,
    /// The number of the file.
    pub(crate) number: usize,
    pub(crate) present: &'a Present<'a>,
    pub(crate) located: &'a Located<'a>,
    /// The commit that carries the note.
    pub(crate) by: &'a Candidate,
    pub(crate) as_of: AsOf,
}

impl Arrival<'_> {
    /// Where the code is in the file; `None` where it did not come there. That it did not is kept, for it is mostly so.
    pub(crate) fn placement(&self) -> Result<Option<Placement>> {
        let Self { ground, .. } = self;
        // What is not here may come.
        if self.as_of == AsOf::Now
            || self.is_edited()
            || MAX_NAMED < ground.paths.len()
            || ground.repository.is_partial()
        {
            return self.judged();
        }
        let Located { file, lines, places, sketch, around, foreign_commit } = *self.located;
        let paths: Vec<&[u8]> = ground.paths.iter().map(|path| path.as_slice()).collect();
        let ids = (ground.past.head().id.as_slice(), self.by.key.as_slice());
        let located = (file, lines, places, sketch, around, foreign_commit);
        let inputs = ("arrived", RULES, ids, paths, self.number, located);
        let mut found = None;
        let has_arrived = ground.past.kept(&inputs, || {
            let judged = self.judged();
            let has_arrived = !matches!(judged, Ok(None));
            found = Some(judged);
            usize::from(has_arrived)
        });
        match found {
            Some(judged) => judged,
            None if has_arrived == 0 => Ok(None),
            None => self.judged(),
        }
    }

    fn judged(&self) -> Result<Option<Placement>> {
        let Self { ground, located, by, .. } = self;
        let Some(sketch) = located.around.or(located.sketch) else { return Ok(None) };
        let here = match self.is_edited() && self.as_of == AsOf::Head {
            true => ground.with_content(self.number, |content| share_of(content, sketch)).flatten(),
            false => share(self.present.locate_sketch(sketch)),
        };
        for name in self.names_then() {
            let then = by.tree.map(|tree| share_in(ground.repository, tree, &name, sketch)).transpose()?;
            if is_as_good(then.flatten(), here) {
                return Ok(None);
            }
        }
        let named = ground.files_named(by, located.file);
        let mut names = named.iter().map(|number| &ground.paths[*number]);
        if names.any(|name| self.is_there(name, sketch, here))
            || self.is_there(&located.file.trim_start_matches("./").into(), sketch, here)
        {
            return Ok(None);
        }
        let Some(placement) = placed(ground.repository, self.present, located, by.tree)? else {
            return Ok(None);
        };
        // It takes a walk through history to tell, so it is asked last.
        let renamed = if named.is_empty() { ground.renamed(located.file) } else { None };
        if renamed.is_some_and(|name| self.is_there(&name, sketch, here))
            || self.as_of == AsOf::Head && !self.has_come(&sketch.telling(), placement.state)?
        {
            return Ok(None);
        }
        Ok(Some(placement))
    }

    fn is_edited(&self) -> bool {
        self.ground.known_holders().is_some_and(|holders| holders.is_edited(self.number))
    }

    /// Whether the file `name` has what was sketched, and no less of it than is `here`.
    fn is_there(&self, name: &BString, sketch: &Sketch, here: Option<f64>) -> bool {
        let Self { ground, as_of, .. } = self;
        ground.lines_in(name, *as_of).may_locate(sketch)
            && is_as_good(
                ground.with_other(name, *as_of, |content| share_of(content, sketch)).flatten(),
                here,
            )
    }

    /// The names that the file may have had when the commit was made.
    fn names_then(&self) -> Vec<BString> {
        let Self { ground, number, .. } = self;
        let path = &ground.paths[*number];
        let Some(place) = self.by.place else { return vec![path.clone()] };
        let mut names: Vec<&BString> = names_of(&ground.past.files()[*number]).chain([path]).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| {
            // What cannot be looked up names nothing.
            ground.past.files_called(place, &name.to_string()).unwrap_or_default().contains(number)
        });
        names.into_iter().cloned().collect()
    }

    /// Whether a commit after the note's brought the file the code: in that commit the other file lost it, or it came
    /// whole, cut before and pasted now. Code that is there in part may be there by chance.
    fn has_come(&self, telling: &[u32], state: State) -> Result<bool> {
        let Ground { past, repository, .. } = self.ground;
        let touches = &past.files()[self.number].touches;
        let touches: Vec<&Touch> = match self.by.place {
            Some(place) => past.beyond(place, touches)?,
            None => touches.iter().collect(),
        };
        // Code that comes seldom goes again, so half of the versions are ruled out by each look.
        let (mut has, mut lacks) = (0, touches.len());
        while has < lacks {
            let middle = has.midpoint(lacks);
            if may_hold(n_held(repository, touches[middle].new, telling)?, telling.len()) {
                has = middle + 1;
            } else {
                lacks = middle;
            }
        }
        let Some(touch) = has.checked_sub(1).map(|first| touches[first]) else { return Ok(false) };
        let n_before = n_held(repository, touch.old, telling)?;
        let n_came = n_held(repository, touch.new, telling)?.saturating_sub(n_before);
        if state == State::Intact && FEWEST <= n_came {
            return Ok(true);
        }
        let commit = past.commit(touch.place)?;
        let names = past.later_names(self.located.file.trim_start_matches("./"))?;
        for parent in &commit.parents {
            for name in &names {
                let before = n_held(repository, repository.blob_at(*parent, name.as_bstr())?, telling)?;
                let after = n_held(repository, repository.blob_at(commit.tree, name.as_bstr())?, telling)?;
                // What went there is no more here.
                if FEWEST <= before.saturating_sub(after).min(n_came) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Whether one file has code at all, and no smaller share of it than is `here`.
fn is_as_good(share: Option<f64>, here: Option<f64>) -> bool {
    share.is_some() && here <= share
}

/// How many of the lines `telling` the version `blob` of a file holds.
fn n_held(repository: &Repository, blob: Option<ObjectId>, telling: &[u32]) -> Result<usize> {
    let Some(blob) = blob else { return Ok(0) };
    let n_held = repository.with_blob(blob, |content| FileLines::of(content).n_of(telling))?;
    Ok(n_held.unwrap_or_default())
}

/// Where in `present` the code is that came from the file that `located` names, as that is in `tree`; `None` where it is
/// not.
pub(crate) fn placed(
    repository: &Repository,
    present: &Present<'_>,
    located: &Located<'_>,
    tree: Option<ObjectId>,
) -> Result<Option<Placement>> {
    let placement = place(repository, present, located, placing::Version::In(tree))?;
    if let Some(around) = located.around {
        return within(repository, present, placement, around);
    }
    let share = match placement.tie {
        Tie::Lines(_, share) if placement.state != State::Gone => share,
        _ => 0.0,
    };
    // Where words tell of more than lines do, formatting made other lines of them.
    let words = match located.sketch {
        Some(sketch) if share < LEAST_WORDS => by_words(repository, present, &placement, sketch)?,
        _ => None,
    };
    Ok(words.or((LEAST_SHARE <= share).then_some(placement)))
}

fn share(place: Option<Place>) -> Option<f64> {
    place.filter(|place| place.lines.is_some()).map(|place| place.share)
}

/// How much of what was sketched is in `content`.
fn share_of(content: &[u8], sketch: &Sketch) -> Option<f64> {
    // To look for it takes longer than to see that it cannot be there.
    let telling = sketch.telling();
    let may_be_there = hashes_of(content).iter().any(|line| telling.binary_search(line).is_ok());
    may_be_there.then(|| share(sketch.locate(&Lines::new(content)))).flatten()
}

/// How much of what was sketched is in the file at `path` of `tree`.
fn share_in(repository: &Repository, tree: ObjectId, path: &BString, sketch: &Sketch) -> Result<Option<f64>> {
    let Some(blob) = repository.blob_at(tree, path.as_bstr())? else { return Ok(None) };
    // What is here but broken is as good as absent.
    let found = repository.with_blob(blob, |content| share_of(content, sketch));
    Ok(found.ok().flatten().flatten())
}

/// The placement of a few lines, if it is where the lines `around` them are; else where their words are there.
fn within(
    repository: &Repository,
    present: &Present<'_>,
    placement: Placement,
    around: &Sketch,
) -> Result<Option<Placement>> {
    let Some(locator) = &present.locator else { return Ok(None) };
    let whole = present.locate_sketch(around).and_then(|place| place.lines);
    let Some(place) = whole.or_else(|| left_of(around, locator.lines())) else { return Ok(None) };
    if placement.state != State::Gone && placement.lines.is_some_and(|lines| lines.overlaps(place)) {
        return Ok(Some(placement));
    }
    // The lines around it prove what its own could not.
    if let Some(hint) = placement.hint.filter(|hint| hint.lines().overlaps(place)) {
        return Ok(Some(Placement::lines(hint.place(), placement.recorded_in)));
    }
    let Some((blob, range)) = placement.recorded_in else { return Ok(None) };
    let now = CodeWords::of(locator.lines().of(place));
    // What is here but broken is as good as absent.
    let run = repository
        .with_blob(blob, |old| now.run(&CodeWords::of(&LineFinder::new(old).of(range))))
        .ok()
        .flatten()
        .flatten();
    let lines =
        run.map(|run| LineRange { start: place.start + run.start - 1, end: place.start + run.end - 1 });
    Ok(lines.map(|lines| Placement::lines(Place::changed(lines, 1.0), placement.recorded_in)))
}

/// Where the words are of what was recorded, around the lines that are left of it: formatting made other lines of the
/// rest.
fn by_words(
    repository: &Repository,
    present: &Present<'_>,
    placement: &Placement,
    sketch: &Sketch,
) -> Result<Option<Placement>> {
    let (Some((blob, range)), Some(locator)) = (placement.recorded_in, &present.locator) else {
        return Ok(None);
    };
    let lines = locator.lines();
    let Some(left) = placement.lines.or_else(|| left_of(sketch, lines)) else { return Ok(None) };
    let around = LineRange {
        start: left.start.saturating_sub(range.len()).max(1),
        end: (left.end + range.len()).min(lines.count().max(1)),
    };
    let now = CodeWords::of(lines.of(around));
    let found = repository.with_blob(blob, |old| {
        let old = LineFinder::new(old).of(range);
        let words = CodeWords::of(&old);
        let share = words.share_in(&now);
        let whole = words.around(lines, left);
        (LEAST_WORDS <= share).then_some(Place::changed(whole, share))
    });
    // What is here but broken is as good as absent.
    let found = found.ok().flatten().flatten();
    Ok(found.map(|place| Placement::lines(place, placement.recorded_in)))
}

/// The lines between the first and the last of those that were sketched and stand once in `lines`.
fn left_of(sketch: &Sketch, lines: &Lines<'_>) -> Option<LineRange> {
    let telling = sketch.telling();
    let mut at: HashMap<u32, Vec<usize>> = HashMap::new();
    for (number, line) in lines.all().iter().enumerate() {
        let hash = line_hash(line);
        if telling.contains(&hash) {
            at.entry(hash).or_default().push(number);
        }
    }
    let once = at.values().filter_map(|at| if let [only] = at[..] { Some(only) } else { None });
    let once: Vec<usize> = once.collect();
    let (first, last) = (once.iter().min()?, once.iter().max()?);
    Some(LineRange::from_zero_based(*first, last - first + 1))
}
