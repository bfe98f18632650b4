//! Claims whose lines are gone, while the item that they name still has their words.
//!
//! This is judged when a question is answered and not when a claim is placed. It takes an outline of the present file
//! and a look at the old version, which only claims that are otherwise gone are worth; and an answer from the index
//! is the same as one without it, whatever was edited since.

use chronicle_core::{
    Anchor, CodeWords, LEAST_ALIKE, LineFinder, LineRange, Place, outline::resolve, reading::State,
    score::Tie,
};

use crate::{
    answer::{Scoped, Setting},
    error::Result,
    gather::located,
    placing::Placement,
    record::Claim,
};

/// Where the code of `claim` is after all; `None` where it is not gone, or where nothing shows that it is there.
pub(crate) fn place_again(
    setting: &Setting<'_>,
    file: &Scoped<'_>,
    claim: &Claim,
) -> Result<Option<Placement>> {
    let (State::Gone, Some((blob, range)), Some(anchor), Some(content)) =
        (claim.placement.state, claim.placement.recorded_in, claim.body.anchor(), file.content)
    else {
        return Ok(None);
    };
    let Some(lines) = lines_of(setting, file, anchor) else { return Ok(None) };
    let item = LineFinder::new(content).of(lines);
    let look = |old: &[u8]| locate(&LineFinder::new(old).of(range), &item, lines);
    // What is here but broken is as good as absent.
    let place = setting.repository.get()?.with_blob(blob, look).unwrap_or_default();
    let Some(place) = place.flatten() else { return Ok(None) };
    let mut placement = Placement::lines(place, Some((blob, range)));
    if located(claim, &file.record.headings[claim.heading]).is_doubtful() {
        placement.tie = Tie::Doubtful;
    }
    Ok(Some(placement))
}

/// The lines of the one item that `anchor` names for sure.
fn lines_of(setting: &Setting<'_>, file: &Scoped<'_>, anchor: &Anchor) -> Option<LineRange> {
    let items = setting.items(file)?;
    match resolve(items.as_ref().as_ref().ok()?, &anchor.name).exact() {
        [only] => Some(only.lines),
        _ => None,
    }
}

/// Where the code `old` is in the lines `new` of an item, which begin at `lines`: most of it, or a part.
fn locate(old: &[&[u8]], new: &[&[u8]], lines: LineRange) -> Option<Place> {
    let (old, new) = (CodeWords::of(old), CodeWords::of(new));
    let share = old.likeness(&new);
    let (lines, share) = if LEAST_ALIKE <= share {
        (lines, share)
    } else {
        let run = new.run(&old)?;
        let before = lines.start - 1;
        (LineRange { start: run.start + before, end: run.end + before }, 1.0)
    };
    Some(Place { lines: Some(lines), state: State::Changed, share })
}
