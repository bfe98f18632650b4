//! Carries places from the indexed version of a file to its present bytes.
//!
//! What the edit left in one piece is carried by one comparison of line words. Only a range that the
//! edit damaged is looked for in the repository again.

use std::cell::OnceCell;

use chronicle_core::{
    GoneBecause, LineFinder, LineMap, LineRange, Lines, Place, is_substantive, line_hash, line_words,
    reading::{Match, State},
    score::Tie,
};
use chronicle_git::{BStr, LazyRepository};

use crate::{
    lost::{Lost, LostLines},
    moved::FileLines,
    placing::{Placement, placed_in},
    present::Present,
    read::Scope,
};

/// The way from the indexed version to the present one.
pub(super) struct Drift<'a> {
    repository: &'a LazyRepository,
    path: &'a BStr,
    content: &'a [u8],
    is_opaque: bool,
    /// `None` when the lines are the same.
    map: Option<LineMap>,
    present: OnceCell<Present<'a>>,
}

impl<'a> Drift<'a> {
    /// `words` are the line words of the indexed version, four little-endian bytes each.
    pub(super) fn new(
        repository: &'a LazyRepository,
        path: &'a BStr,
        words: &[u8],
        content: &'a [u8],
        is_opaque: bool,
    ) -> Option<Self> {
        let words = words.chunks(4).map(|word| Some(u32::from_le_bytes(word.try_into().ok()?)));
        let old: Vec<u32> = words.collect::<Option<_>>()?;
        let new = line_words(content);
        let map = (old != new).then(|| LineMap::between_words(&old, &new));
        Some(Self { repository, path, content, is_opaque, map, present: OnceCell::new() })
    }

    /// Puts `placement` where it is now, if the edit left its place whole and brought back none of its lines;
    /// `came_back` are lines that may be such.
    pub(super) fn carry_untouched(&self, placement: &mut Placement, came_back: Lost) -> Option<()> {
        let Some(map) = self.map.as_ref().filter(|_| !self.is_opaque) else { return Some(()) };
        if placement.matched == Match::File {
            return None;
        }
        // What proves where lines are is found between the recorded version and the present one, and lines that say nothing,
        // as a blank one, may have come back, too.
        if placement.matched == Match::Lines || placement.state == State::Changed {
            return None;
        }
        if placement.state != State::Intact && placement.lost.is_none_or(|lost| lost.meets(came_back)) {
            return None;
        }
        let whole = |range: LineRange| Place::intact(range, map)?.lines;
        let all = |lines: Option<LineRange>, carried: &dyn Fn(LineRange) -> Option<LineRange>| {
            lines.map(|lines| carried(lines).ok_or(())).transpose().ok()
        };
        let near = placement.near.iter().copied().map(whole).collect::<Option<_>>()?;
        let gap = all(placement.gap, &|gap| untouched_gap(map, gap))?;
        (placement.lines, placement.near, placement.gap) = (all(placement.lines, &whole)?, near, gap);
        Some(())
    }

    /// The lines that the edit added and that may be among `lost`.
    pub(super) fn came_back(&self, lost: &LostLines) -> Lost {
        let mut came_back = Lost::default();
        let present = Lines::new(self.content);
        for line in self.map.iter().flat_map(LineMap::added) {
            let hash = present.all().get(line).map(|line| line_hash(line));
            if let Some(hash) = hash.filter(|hash| lost.may_hold(*hash)) {
                came_back.add(hash);
            }
        }
        came_back
    }

    /// Whether the edit damaged the lines of `placement`, away from those that `scope` asks about, which it left alone: to
    /// look for it in the repository could only find it where the same code stands twice.
    pub(super) fn lies_aside(&self, placement: &Placement, scope: &Scope) -> bool {
        let (Some(map), Some(asked), false) = (&self.map, &scope.lines, self.is_opaque) else { return false };
        let (Some(lines), Match::Lines) = (placement.lines, placement.matched) else { return false };
        let mapped = map.map(lines);
        if mapped.intact || asked.is_empty() {
            return false;
        }
        let around = mapped.lines.map_or(map.gap(lines), |left| left.hull(map.gap(lines)));
        let is_asked = |line: usize| {
            let line = LineRange::from_zero_based(line, 1);
            asked.iter().any(|asked| asked.overlaps(line))
        };
        !asked.iter().any(|asked| asked.overlaps(around)) && !map.added().into_iter().any(is_asked)
    }

    /// The hashes of the lines that the edit added and that say something.
    pub(super) fn gained(&self) -> FileLines {
        let mut lines = LineFinder::new(self.content);
        let added = self.map.iter().flat_map(LineMap::added);
        let added = added.flat_map(|line| lines.of(LineRange::from_zero_based(line, 1)));
        added.filter(|line| is_substantive(line)).map(line_hash).collect()
    }

    /// The present file, to look in.
    pub(super) fn present(&self) -> &Present<'a> {
        self.present.get_or_init(|| Present::new(self.path.to_owned(), Some(self.content)))
    }

    /// Puts `placement` where it is now; `None` when that cannot be told.
    pub(super) fn carry(&self, placement: &mut Placement) -> Option<()> {
        let Some(map) = &self.map else { return Some(()) };
        if self.is_opaque {
            return Some(());
        }
        let whole = |range: LineRange| Place::intact(range, map)?.lines;
        if placement.matched == Match::Lines && placement.state != State::Intact {
            return self.look_again(placement);
        }
        let lines = placement.lines.map(whole);
        let near: Option<Vec<LineRange>> = placement.near.iter().copied().map(whole).collect();
        match (placement.matched, lines, near) {
            (Match::File, ..) => {
                if placement.state == State::Intact {
                    placement.state = State::Changed;
                }
            }
            (_, Some(Some(lines)), _) => placement.lines = Some(lines),
            (_, None, Some(near)) => placement.near = near,
            _ => return self.look_again(placement),
        }
        placement.gap = placement.gap.map(|gap| carried_gap(map, gap));
        Some(())
    }

    /// Looks for the recorded lines in the present file, as is done without an index; `None` when that takes more than the
    /// version they were recorded in.
    fn look_again(&self, placement: &mut Placement) -> Option<()> {
        if placement.matched != Match::Lines {
            self.keep_what_is_left(placement);
            return Some(());
        }
        let repository = self.repository.get().ok()?;
        let mut found = placed_in(repository, self.present(), placement.recorded_in?).ok()??;
        if placement.tie == Tie::Doubtful && found.state != State::Gone {
            found.tie = Tie::Doubtful;
        }
        *placement = Placement { is_unsketched: placement.is_unsketched, ..found };
        Some(())
    }

    /// The lines of the indexed places of a commit that the edit left.
    fn keep_what_is_left(&self, placement: &mut Placement) {
        let Some(map) = &self.map else { return };
        let left = |range: LineRange| map.map(range).lines;
        placement.lines = placement.lines.and_then(left);
        placement.near = placement.near.iter().copied().filter_map(left).collect();
        (placement.state, placement.because) = (State::Changed, None);
        if placement.lines.is_none() && placement.near.is_empty() {
            placement.state = State::Gone;
            placement.because = Some(GoneBecause::Rewritten);
            // Of what is known without its version, nobody knows where it would be.
            (placement.gap, placement.tie) = (None, Tie::Gone);
        }
    }
}

/// Where a gap is whose neighbours still stand.
fn untouched_gap(map: &LineMap, gap: LineRange) -> Option<LineRange> {
    let carried = |line: u32| Some(map.map(LineRange { start: line, end: line }).lines?.start);
    // The first line may be no neighbour: vanished lines that began the file have none before them.
    let start = carried(gap.start).filter(|start| gap.start != 1 || *start == 1)?;
    let end = if gap.end == u32::MAX { gap.end } else { carried(gap.end)? };
    (start <= end).then_some(LineRange { start, end })
}

/// A gap holds the neighbours of what vanished: it goes where they went.
fn carried_gap(map: &LineMap, gap: LineRange) -> LineRange {
    let end = gap.end.min(gap.start.saturating_add(1));
    let ends = [
        LineRange { start: gap.start, end: gap.start },
        LineRange { start: gap.end.max(end), end: gap.end.max(end) },
    ];
    let [start, end] = ends.map(|line| map.map(line).lines);
    match (start, end) {
        (Some(start), Some(end)) => start.hull(end),
        _ => map.gap(gap),
    }
}
