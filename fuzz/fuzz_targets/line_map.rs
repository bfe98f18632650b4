//! Any range of any two files is mapped into the newer one, or nowhere.

#![no_main]

use chronicle_core::{LineMap, LineRange, Lines, Locator, Sketch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u32, u32, &[u8], &[u8])| {
    let (start, more, old, new) = input;
    let Ok(range) = LineRange::new(start, start.saturating_add(more % 200)) else { return };
    let (old, new) = (Lines::new(old), Lines::new(new));
    let is_inside =
        |lines: Option<LineRange>| lines.is_none_or(|lines| lines.start <= lines.end && new.has(lines));
    let map = LineMap::between(&old, &new);
    let locator = Locator::new(new.clone());
    for range in [range, LineRange { start: start % (old.count() + 2) + 1, end: u32::MAX }] {
        let place = locator.locate(&old, range, &map);
        assert!(is_inside(place.lines) && (0.0..=1.0).contains(&place.share));
        let gap = map.gap(range);
        assert!(gap.start <= gap.end);
    }
    if let Some(place) = Sketch::of(&old, range).locate(&new) {
        assert!(place.lines.is_some() && is_inside(place.lines));
    }
});
