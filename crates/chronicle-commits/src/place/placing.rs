//! Where what was recorded is now.

use chronicle_core::{
    GoneBecause, Hint, LineRange, Lines, Place, Places, Sketch,
    reading::{Match, State},
    score::Tie,
};
use chronicle_git::{BStr, ByteSlice, ObjectId, Repository};

use crate::{
    error::Result,
    place::present::{Kind, Left, Present},
    read::question::Scope,
};

/// Where a claim is now, and how it is tied to that place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placement {
    pub(crate) lines: Option<LineRange>,
    pub(crate) near: Vec<LineRange>,
    pub(crate) state: State,
    pub(crate) tie: Tie,
    pub(crate) matched: Match,
    /// Where vanished lines would be.
    pub(crate) gap: Option<LineRange>,
    /// The blob and range the lines were recorded in, if that version is at hand.
    pub(crate) recorded_in: Option<(ObjectId, LineRange)>,
    /// Whether it was found from the version it was recorded in: what is not at hand now may come.
    pub(crate) by_version: bool,
    /// Why it is gone.
    pub(crate) because: Option<GoneBecause>,
    /// Where lines like those that are gone are, which are the same ones if the claim's item holds them.
    pub(crate) hint: Option<Hint>,
    /// Whether lines were recorded without what they looked like: whoever wrote them may have counted wrong.
    pub(crate) is_unsketched: bool,
    /// The lines of the item that the claim is about, where most of its own are gone: known only once a question is
    /// answered.
    pub(crate) item: Option<LineRange>,
}

/// With less than this share of its lines, code outside of the item that a claim names is other code, and a claim on such
/// code inside is about that item.
pub(crate) const LEAST_OUTSIDE: f64 = 0.5;

/// The part of a claim that says where it belongs.
pub(crate) struct Located<'a> {
    pub(crate) file: &'a str,
    pub(crate) lines: Option<LineRange>,
    pub(crate) places: Option<&'a [Places]>,
    pub(crate) sketch: Option<&'a Sketch>,
    /// The lines together with some around them, where they are too few.
    pub(crate) around: Option<&'a Sketch>,
    /// The commit that the document names, when it is not the one that carries the note.
    pub(crate) foreign_commit: Option<&'a str>,
}

impl Located<'_> {
    /// Whether the lines may be those of another commit, and nothing tells which.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.foreign_commit.is_some() && self.sketch.is_none()
    }
}

/// Places that are shown for one claim.
const MAX_NEAR: usize = 16;

impl Placement {
    /// A claim about a file as a whole, which is gone when the file is.
    pub(crate) fn file_wide(state: State) -> Self {
        let tie = if state == State::Gone { Tie::Gone } else { Tie::File };
        let because = (state == State::Gone).then_some(GoneBecause::Deleted);
        Self { because, ..Self::ranges(Vec::new(), state, tie, Match::File) }
    }

    /// A claim about a commit that wrote the lines which are now `left`.
    pub(crate) fn commit_wide(left: Vec<LineRange>, state: State) -> Self {
        let tie = if state == State::Gone { Tie::Gone } else { Tie::Commit };
        Self::ranges(left, state, tie, Match::Commit)
    }

    fn near(left: Vec<LineRange>, state: State) -> Self {
        let tie = if state == State::Gone { Tie::Gone } else { Tie::Near };
        Self::ranges(left, state, tie, Match::Near)
    }

    fn ranges(mut left: Vec<LineRange>, state: State, tie: Tie, matched: Match) -> Self {
        // What a commit wrote is known; which of several places a lesson means is not.
        let lines = if let ([only], Match::Commit) = (&left[..], matched) { Some(*only) } else { None };
        if lines.is_some() {
            left.clear();
        }
        left.truncate(MAX_NEAR);
        let because = (state == State::Gone).then_some(GoneBecause::Unknown);
        Self { near: left, state, tie, matched, because, ..Self::of(lines) }
    }

    fn of(lines: Option<LineRange>) -> Self {
        Self {
            lines,
            near: Vec::new(),
            state: State::Intact,
            tie: Tie::Near,
            matched: Match::Lines,
            gap: None,
            recorded_in: None,
            by_version: false,
            because: None,
            hint: None,
            is_unsketched: false,
            item: None,
        }
    }

    pub(crate) fn lines(place: Place, recorded_in: Option<(ObjectId, LineRange)>) -> Self {
        let Place { lines, state, share, because, hint } = place;
        Self { state, tie: Tie::Lines(state, share), recorded_in, because, hint, ..Self::of(lines) }
    }

    /// Whether its item may decide that it is in another place than its lines are, be the item named or not.
    fn may_go_by_item(&self, is_named: bool) -> bool {
        match (self.matched, self.tie) {
            (Match::Lines, _) if self.hint.is_some() => true,
            (Match::Lines, Tie::Lines(State::Changed, share)) if share < LEAST_OUTSIDE => is_named,
            (Match::Lines, _) => is_named && (self.state == State::Gone || self.is_unsketched),
            (Match::File, _) => is_named && self.state != State::Gone && self.is_unsketched,
            _ => false,
        }
    }

    /// Whether a claim about the code `anchor` concerns `scope`, or the whole file.
    pub(crate) fn concerns(&self, scope: &Scope, anchor: Option<&str>) -> bool {
        let Some(ranges) = &scope.lines else { return true };
        if scope.names(anchor) {
            return true;
        }
        let places = match (self.matched, &self.lines) {
            _ if self.item.is_some() => self.item.as_slice(),
            (Match::File, _) => return self.state != State::Gone,
            (_, Some(_)) => self.lines.as_slice(),
            (_, None) if self.near.is_empty() => self.gap.as_slice(),
            (_, None) => &self.near,
        };
        places.iter().any(|place| ranges.iter().any(|range| place.overlaps(*range)))
    }

    /// Whether a claim about the code `anchor` may concern `scope`, once its item has been looked at.
    pub(crate) fn may_concern(&self, scope: &Scope, anchor: Option<&str>) -> bool {
        self.concerns(scope, anchor) || self.may_go_by_item(anchor.is_some())
    }
}

/// The version of the file that a claim was made about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Version {
    /// The one in this tree, that of the commit that carries the note, if it is at hand.
    In(Option<ObjectId>),
    /// This one; `None` where the commit has no such file.
    Blob(Option<ObjectId>),
}

/// Finds what `located` speaks of in `present`.
pub(crate) fn place(
    repository: &Repository,
    present: &Present<'_>,
    located: &Located<'_>,
    version: Version,
) -> Result<Placement> {
    if present.locator.is_none() {
        return Ok(Placement::file_wide(State::Gone));
    }
    let blob = match version {
        Version::In(tree) => blob_in(repository, tree, located.file, present)?,
        Version::Blob(blob) => blob,
    };
    if present.is_opaque {
        return Ok(Placement::file_wide(State::Changed));
    }
    if let Some(range) = located.lines {
        return place_lines(repository, present, located, range, blob);
    }
    if let Some(places) = located.places {
        return place_near(repository, present, places, blob);
    }
    let is_same = match (blob, &present.locator) {
        (Some(blob), Some(locator)) => repository
            .with_blob(blob, |old| Lines::new(old).all() == locator.lines().all())
            .is_ok_and(|is_same| is_same == Some(true)),
        _ => false,
    };
    Ok(Placement::file_wide(if is_same { State::Intact } else { State::Changed }))
}

/// The blob of `file`, which is `present` now, in `tree`.
fn blob_in(
    repository: &Repository,
    tree: Option<ObjectId>,
    file: &str,
    present: &Present<'_>,
) -> Result<Option<ObjectId>> {
    let Some(tree) = tree else { return Ok(None) };
    match repository.blob_at(tree, BStr::new(file))? {
        None if file.contains('\u{fffd}') => Ok(repository.blob_at(tree, present.path.as_bstr())?),
        exact => Ok(exact),
    }
}

fn place_lines(
    repository: &Repository,
    present: &Present<'_>,
    located: &Located<'_>,
    range: LineRange,
    own_blob: Option<ObjectId>,
) -> Result<Placement> {
    let mut blob = own_blob;
    if let Some(foreign) = located.foreign_commit {
        let tree = repository.resolve(foreign).and_then(|id| repository.commit_tree(id)).ok();
        let foreign_blob = blob_in(repository, tree, located.file, present)?;
        let prefers_foreign = match located.sketch {
            Some(sketch) => {
                sketch_likeness(repository, own_blob, range, sketch)
                    < sketch_likeness(repository, foreign_blob, range, sketch)
            }
            None => foreign_blob.is_some_and(|blob| has_range(repository, blob, range)),
        };
        if prefers_foreign {
            blob = foreign_blob;
        }
    }
    let by_version = blob.map(|blob| placed_in(repository, present, blob, range)).transpose()?.flatten();
    // With a sketch we have looked; without one, lines that never existed leave only the file.
    let mut placement = match (by_version, located.sketch) {
        (Some(placement), _) => placement,
        (None, Some(sketch)) => Placement::lines(present.locate_own_sketch(sketch), None),
        (None, None) => Placement::file_wide(State::Changed),
    };
    if located.is_doubtful() && placement.state != State::Gone {
        placement.tie = Tie::Doubtful;
    }
    placement.is_unsketched = located.sketch.is_none();
    Ok(placement)
}

/// Where `range` of the version `blob` is in `present`; `None` where that version is not at hand or has no such lines.
fn placed_in(
    repository: &Repository,
    present: &Present<'_>,
    blob: ObjectId,
    range: LineRange,
) -> Result<Option<Placement>> {
    let Some(place) = present.locate(repository, blob, range)? else { return Ok(None) };
    let mut placement = Placement { by_version: true, ..Placement::lines(place, Some((blob, range))) };
    if placement.state == State::Gone {
        placement.gap = present.gap(repository, blob, range)?;
    }
    Ok(Some(placement))
}

fn place_near(
    repository: &Repository,
    present: &Present<'_>,
    places: &[Places],
    blob: Option<ObjectId>,
) -> Result<Placement> {
    let ranges: Vec<LineRange> =
        places.iter().filter_map(|place| LineRange::new(place.start, place.end).ok()).collect();
    if let Some(blob) = blob {
        let Left { ranges, state, because } =
            present.locate_all(repository, blob, &ranges, Kind::Recorded)?;
        return Ok(Placement { by_version: true, because, ..Placement::near(ranges, state) });
    }
    let found = places.iter().filter_map(|place| present.locate_own_sketch(place.sketch.as_ref()?).lines);
    let left: Vec<LineRange> = found.collect();
    let state = if left.is_empty() { State::Gone } else { State::Changed };
    Ok(Placement::near(left, state))
}

fn has_range(repository: &Repository, blob: ObjectId, range: LineRange) -> bool {
    repository.with_blob(blob, |content| Lines::new(content).has(range)).is_ok_and(|has| has == Some(true))
}

/// How many lines of a range hash as `sketch` says.
fn sketch_likeness(
    repository: &Repository,
    blob: Option<ObjectId>,
    range: LineRange,
    sketch: &Sketch,
) -> usize {
    let (Some(blob), Some(sketch)) = (blob, sketch.hashes()) else { return 0 };
    let Ok(Some(content)) = repository.blob_if_here(blob) else { return 0 };
    let here = Sketch::of(&Lines::new(&content), range).hashes().unwrap_or_default();
    here.iter().zip(&sketch).filter(|(left, right)| left == right).count()
}
