//! Code whose lines are gone, while the item that it is in still has its words.
//!
//! It takes a look at the old version, which only claims that are otherwise gone are worth.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
};

use chronicle_core::{CodeWords, LEAST_ALIKE, LineFinder, LineRange, Place};
use chronicle_git::{LazyRepository, ObjectId};

use crate::{
    Content,
    disk_cache::{CachePlace, Kept},
    error::Result,
};

/// Where code is that was reformatted, kept because a version has to be read to tell.
#[derive(Debug)]
pub struct Reformatted {
    kept: Kept,
    known: RefCell<HashMap<u128, Known>>,
}

/// What was found in the bytes of one file, by item, blob and range: first and last line, and the share of the words.
type Known = BTreeMap<((u32, u32), Vec<u8>, (u32, u32)), Option<(u32, u32, f64)>>;

impl Reformatted {
    /// Kept in the shared state directory of a repository, or in memory only.
    #[must_use]
    pub fn new(place: Option<&CachePlace>) -> Self {
        Self { kept: Kept::new(place, "reformatted"), known: RefCell::default() }
    }

    /// Where `range` of `blob` is in the lines `item` of `content`, looked up once.
    pub(crate) fn locate(
        &self,
        lazy: &LazyRepository,
        content: &Content,
        item: LineRange,
        blob: ObjectId,
        range: LineRange,
    ) -> Result<Option<Place>> {
        let Some(file) = content.hash() else { return Ok(None) };
        let mut known = self.known.borrow_mut();
        let of_file = known.entry(file).or_insert_with(|| {
            let kept = self.kept.get(file);
            kept.and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default()
        });
        let key = ((item.start, item.end), blob.as_slice().to_vec(), (range.start, range.end));
        if let Some(found) = of_file.get(&key) {
            return Ok(found.and_then(|(start, end, share)| {
                Some(Place::changed(LineRange::new(start, end).ok()?, share))
            }));
        }
        let Some(bytes) = content.bytes(lazy) else { return Ok(None) };
        let new = LineFinder::new(bytes).of(item);
        // What is here but broken is as good as absent.
        let looked = lazy.get()?.with_blob(blob, |old| locate(&LineFinder::new(old).of(range), &new, item));
        let Ok(Some(found)) = looked else { return Ok(None) };
        of_file
            .insert(key, found.and_then(|place| Some((place.lines?.start, place.lines?.end, place.share))));
        if let Ok(bytes) = postcard::to_allocvec(&*of_file) {
            self.kept.put(file, &bytes);
        }
        Ok(found)
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
    Some(Place::changed(lines, share))
}
