//! What the item that a claim names decides about its place.
//!
//! The lines of a claim may have gone while its item is there, or be such as could be anywhere; and the lines that a
//! foreign note counted may be outside of the item that it names. This is judged when a question is answered, not when a
//! claim is placed: it takes an outline of the present file.

use chronicle_core::{
    CodeWords, GoneBecause, LEAST_ALIKE, LineFinder, LineRange, Lines, Place, is_substantive,
    outline::{Item, called},
    reading::{Match, State},
    score::Tie,
};

use crate::{
    Content,
    error::Result,
    outlines::Items,
    place::placing::{LEAST_OUTSIDE, Located, Placement},
    read::{
        answer::{Scoped, Setting},
        gather::located,
        record::Claim,
    },
};

/// With less than this share of its lines, code in an item with another name is other code.
const LEAST_RENAMED: f64 = 1.0 / 3.0;

/// Where the code of `claim` is after all; `None` where it stays where it was placed.
pub(crate) fn placed_again(setting: &Setting<'_>, file: &Scoped, claim: &Claim) -> Result<Option<Placement>> {
    let placement = &claim.placement;
    let has_lines = match placement.matched {
        Match::Lines => true,
        Match::File => placement.is_unsketched && claim.body.lines().is_some(),
        _ => false,
    };
    // Without a name the item is that which held the lines: it takes a look at the old version to know which it was.
    let is_open = claim.body.anchor().is_some() || placement.hint.is_some();
    if !has_lines || !is_open {
        return Ok(None);
    }
    let Some(items) = setting.items(file) else { return Ok(None) };
    let Ok(items) = items.as_ref() else { return Ok(None) };
    let then = Then { setting, claim };
    let anchor = match claim.body.anchor() {
        Some(anchor) => anchor.name.clone(),
        None => match then.name() {
            Some(name) => name,
            None => return Ok(None),
        },
    };
    let named = called(items, &anchor);
    let by_item = ByItem { setting, file, claim, then, anchor: &anchor, items, named: &named };
    let placed = by_item.placed()?;
    // Without an anchor, nobody said that the claim is about the item.
    Ok(placed.filter(|placement| claim.body.anchor().is_some() || placement.tie != Tie::Item))
}

/// The version that a claim was made about.
#[derive(Clone, Copy)]
struct Then<'a> {
    setting: &'a Setting<'a>,
    claim: &'a Claim,
}

impl Then<'_> {
    /// That version, its items, and the lines in it.
    fn look(self) -> Option<(Content, Items, LineRange)> {
        let (blob, lines) = self.claim.placement.recorded_in?;
        let content = Content::committed(blob);
        let outlines = &self.setting.caches.outlines;
        let items = outlines.items_of(self.setting.repository, &self.claim.name, &content)?;
        Some((content, items, lines))
    }

    /// The name of the innermost item that held the lines.
    fn name(self) -> Option<String> {
        let (_, items, lines) = self.look()?;
        let held = items.as_ref().as_ref().ok()?.iter().filter(|item| item.lines.holds(lines));
        held.min_by_key(|item| item.lines.len()).map(|item| item.qualified.clone())
    }
}

/// With less than this share of its lines, the words of code show better where it is.
const LEAST_LINES: f64 = 0.8;

/// So few lines may be in two items by chance.
const FEW_LINES: u32 = 3;

/// Whether less than half of its lines are where `placement` is.
fn is_mostly_gone(placement: &Placement) -> bool {
    matches!(placement.tie, Tie::Lines(State::Changed, share) if share < LEAST_OUTSIDE)
}

/// A claim, and the items of the present file.
struct ByItem<'a> {
    setting: &'a Setting<'a>,
    file: &'a Scoped,
    claim: &'a Claim,
    then: Then<'a>,
    /// The name of its item.
    anchor: &'a str,
    /// All items of the present file.
    items: &'a [Item],
    /// Those of that name.
    named: &'a [&'a Item],
}

impl ByItem<'_> {
    fn placed(&self) -> Result<Option<Placement>> {
        let placement = &self.claim.placement;
        let Some(lines) = placement.lines else {
            return match placement.state {
                State::Gone => self.of_gone(),
                _ => Ok(self.by_name()),
            };
        };
        if self.named.iter().any(|item| item.lines.overlaps(lines)) {
            return self.of_changed();
        }
        let least = if self.named.is_empty() { LEAST_RENAMED } else { LEAST_OUTSIDE };
        if matches!(placement.tie, Tie::Lines(State::Changed, share) if share < least) {
            let gone = Placement::lines(Place::gone(GoneBecause::Rewritten), placement.recorded_in);
            return Ok(Some(self.about_item(gone.clone()).unwrap_or(gone)));
        }
        if self.named.is_empty() {
            let is_other = lines.len() <= FEW_LINES && self.is_in_other_item(lines);
            let gone = Place::gone(GoneBecause::Deleted);
            return Ok(is_other.then(|| Placement::lines(gone, placement.recorded_in)));
        }
        if placement.is_unsketched && !self.was_inside() {
            return Ok(self.by_name());
        }
        Ok(None)
    }

    /// Where the code is of which some lines are in the item.
    fn of_changed(&self) -> Result<Option<Placement>> {
        let placement = &self.claim.placement;
        let Tie::Lines(State::Changed, share) = placement.tie else { return Ok(None) };
        // A formatter made other lines of it where its words are there, all the same.
        let words = if share < LEAST_LINES { self.reformatted()? } else { None };
        if let Some(place) = words.filter(|place| share < place.share) {
            return Ok(Some(Placement::lines(place, placement.recorded_in)));
        }
        Ok(if is_mostly_gone(placement) { self.about_item(placement.clone()) } else { None })
    }

    /// Where the code is that was found to be gone: lines like it, or its words, in the item that it names; else that item.
    fn of_gone(&self) -> Result<Option<Placement>> {
        let placement = &self.claim.placement;
        let hint = placement.hint.filter(|hint| self.tells(hint.lines()));
        let place = match hint {
            Some(hint) => Some(hint.place()),
            None => self.reformatted()?,
        };
        let Some(place) = place else { return Ok(self.about_item(placement.clone())) };
        let mut found = Placement::lines(place, placement.recorded_in);
        if is_mostly_gone(&found) {
            return Ok(self.about_item(found));
        }
        if self.located().is_doubtful() {
            found.tie = Tie::Doubtful;
        }
        Ok(Some(found))
    }

    /// Whether any of these lines says something and stands once in the item: which of several is meant, nobody knows.
    fn tells(&self, lines: LineRange) -> bool {
        let Some(content) = self.file.content.bytes(self.setting.repository) else { return false };
        let all = Lines::new(content);
        let inside = self.named.iter().filter(|item| item.lines.holds(lines));
        let Some(item) = inside.min_by_key(|item| item.lines.len()) else { return false };
        let inside: Vec<&[u8]> = all.of(item.lines).iter().map(|line| line.trim_ascii()).collect();
        all.of(lines)
            .iter()
            .map(|line| line.trim_ascii())
            .any(|line| is_substantive(line) && inside.iter().filter(|other| **other == line).count() == 1)
    }

    fn located(&self) -> Located<'_> {
        located(self.claim, &self.file.record.headings[self.claim.heading])
    }

    /// Where the words of the lines are in the item.
    fn reformatted(&self) -> Result<Option<Place>> {
        let ([only], Some((blob, range))) = (self.named, self.claim.placement.recorded_in) else {
            return Ok(None);
        };
        let known = &self.setting.caches.reformatted;
        known.locate(self.setting.repository, &self.file.content, only.lines, blob, range)
    }

    /// A claim whose lines are gone, or most of them, said of the item, if that is there.
    fn about_item(&self, placement: Placement) -> Option<Placement> {
        let [only] = self.named else { return None };
        Some(Placement { item: Some(only.lines), tie: Tie::Item, ..placement })
    }

    /// The claim on the item that it names, whatever lines were recorded.
    fn by_name(&self) -> Option<Placement> {
        let [only] = self.named else { return None };
        let place = Placement::lines(Place::changed(only.lines, 1.0), None);
        Some(Placement { tie: Tie::ByName, ..place })
    }

    /// Whether the recorded lines were in the item that the claim names, or nothing shows that they were not.
    fn was_inside(&self) -> bool {
        let Some((_, then, range)) = self.then.look() else { return true };
        let Ok(then) = then.as_ref() else { return true };
        let named = called(then, self.anchor);
        named.is_empty() || named.iter().any(|item| item.lines.overlaps(range))
    }

    /// Whether `lines` are in an item that has little of the words of the one that the claim names, which is no more: a
    /// few lines may be in both by chance. One that grew under another name has most of them.
    fn is_in_other_item(&self, lines: LineRange) -> bool {
        self.share_in_other_item(lines).is_some_and(|share| share < LEAST_ALIKE)
    }

    /// How many of the words of the claim's item, as it was, are in the innermost item around `lines`.
    fn share_in_other_item(&self, lines: LineRange) -> Option<f64> {
        let (content, then, _) = self.then.look()?;
        let named = called(then.as_ref().as_ref().ok()?, self.anchor);
        let [was] = named[..] else { return None };
        let around = self.items.iter().filter(|item| item.lines.holds(lines));
        let is = around.min_by_key(|item| item.lines.len())?;
        let old = LineFinder::new(content.bytes(self.setting.repository)?).of(was.lines);
        let new = LineFinder::new(self.file.content.bytes(self.setting.repository)?).of(is.lines);
        Some(CodeWords::of(&old).share_in(&CodeWords::of(&new)))
    }
}
