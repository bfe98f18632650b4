//! Code that came from another file.
//!
//! A note keeps a sketch of the code that it speaks of. Where another file than the noted one holds code like that, had
//! none when the note's commit was made, and the noted one has it no more, the code moved: what was said of it there is
//! told of it here. Names are not asked, since code is renamed on its way, too.

use std::collections::HashMap;

use chronicle_core::{
    CodeWords, LineFinder, LineRange, Lines, Locator, Place, Sketch, is_telling, line_hash, reading::State,
    score::Tie,
};
use chronicle_git::{BString, ByteSlice, ObjectId, Repository};

use crate::{
    error::Result,
    past::{Touch, placements::RULES},
    place::{
        code_lines::{FEWEST, FileLines, hashes_of, may_hold},
        placing::{self, Located, Placement, place},
        present::Present,
    },
    read::matching::{Candidate, ReadContext, Side},
};

/// What to tell of an answer that holds what was said of code in `file`.
pub(crate) fn remark(file: &str) -> String {
    format!("this code moved here from `{file}`; its lessons are included")
}

/// With less than this share of the lines, words have to tell.
const LEAST_SHARE: f64 = 0.5;
/// Code that was renamed and formatted on its way still has this share of its words.
const LEAST_WORDS: f64 = 0.8;
/// In a larger scope it takes longer to name its files than to look again.
const MAX_NAMED: usize = 64;

/// Code that a note speaks of in another file, and a file in scope that it may have come to.
pub(crate) struct Arrival<'a> {
    pub(crate) context: &'a ReadContext<'a>,
    /// The number of the file.
    pub(crate) number: usize,
    pub(crate) present: &'a Present<'a>,
    pub(crate) located: &'a Located<'a>,
    /// The commit that carries the note.
    pub(crate) by: &'a Candidate,
    pub(crate) side: Side,
}

impl Arrival<'_> {
    /// Where the code is in the file; `None` where it did not come there. That it did not is kept, for it is mostly so.
    pub(crate) fn placement(&self) -> Result<Option<Placement>> {
        let Self { context, .. } = self;
        // What is not here may come.
        if self.side == Side::Worktree
            || self.is_edited()
            || MAX_NAMED < context.paths.len()
            || context.repository.is_partial()
        {
            return self.judged();
        }
        let Located { file, lines, places, sketch, around, foreign_commit } = *self.located;
        let paths: Vec<&[u8]> = context.paths.iter().map(|path| path.as_slice()).collect();
        let ids = (context.past.head().id.as_slice(), self.by.key.as_slice());
        let located = (file, lines, places, sketch, around, foreign_commit);
        let inputs = ("arrived", RULES, ids, paths, self.number, located);
        let mut found = None;
        let has_arrived = context.past.kept(&inputs, || {
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
        let Self { context, located, by, .. } = self;
        let Some(sketch) = located.around.or(located.sketch) else { return Ok(None) };
        let here = match self.is_edited() && self.side == Side::Head {
            true => context.with_content(self.number, |content| share_of(content, sketch)).flatten(),
            false => share(self.present.locate_sketch(sketch)),
        };
        for name in self.names_then() {
            let then = by.tree.map(|tree| share_in(context.repository, tree, &name, sketch)).transpose()?;
            if is_as_good(then.flatten(), here) {
                return Ok(None);
            }
        }
        let named = context.files_named(by, located.file);
        let mut names = named.iter().map(|number| &context.paths[*number]);
        if names.any(|name| self.is_there(name, sketch, here))
            || self.is_there(&located.file.trim_start_matches("./").into(), sketch, here)
        {
            return Ok(None);
        }
        let Some(placement) = placed(context.repository, self.present, located, by.tree)? else {
            return Ok(None);
        };
        // It takes a walk through history to tell, so it is asked last.
        let renamed = if named.is_empty() { context.renamed(located.file) } else { None };
        if renamed.is_some_and(|name| self.is_there(&name, sketch, here))
            || self.side == Side::Head && !self.has_come(&sketch.telling(), &placement)?
        {
            return Ok(None);
        }
        Ok(Some(placement))
    }

    /// Whether a line that identifies code is where the code is placed.
    fn is_distinctive(&self, placement: &Placement) -> bool {
        let lines = self.present.locator.as_ref().map(Locator::lines).zip(placement.lines);
        lines.is_some_and(|(lines, place)| lines.of(place).iter().any(|line| is_telling(line)))
    }

    fn is_edited(&self) -> bool {
        self.context.known_line_index().is_some_and(|line_index| line_index.is_edited(self.number))
    }

    /// Whether the file `name` has what was sketched: half of it, or no less of it than is `here`. What was edited since is
    /// not gone because somebody copied it before.
    fn is_there(&self, name: &BString, sketch: &Sketch, here: Option<f64>) -> bool {
        let Self { context, side, .. } = self;
        context.lines_in(name, *side).may_locate(sketch)
            && context
                .with_other(name, *side, |content| share_of(content, sketch))
                .flatten()
                .is_some_and(|share| LEAST_SHARE <= share || here <= Some(share))
    }

    /// The names that the file may have had when the commit was made.
    fn names_then(&self) -> Vec<BString> {
        let Self { context, number, .. } = self;
        let path = &context.paths[*number];
        let Some(place) = self.by.place else { return vec![path.clone()] };
        let mut names: Vec<&BString> = context.past.files()[*number].names().chain([path]).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| {
            // What cannot be looked up names nothing.
            context.past.files_called(place, &name.to_string()).unwrap_or_default().contains(number)
        });
        names.into_iter().cloned().collect()
    }

    /// Whether a commit after the note's brought the file the code: in that commit the other file lost it, or it came
    /// whole, cut before and pasted now. Code that is there in part may be there by chance, and so may lines that identify
    /// nothing, whatever is around them.
    fn has_come(&self, telling: &[u32], placement: &Placement) -> Result<bool> {
        let ReadContext { past, repository, .. } = self.context;
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
        if placement.state == State::Intact && FEWEST <= n_came && self.is_distinctive(placement) {
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
