//! Lines of code as they are known in other files: by hashes of those that say something.

use std::sync::LazyLock;

use chronicle_core::{Lines, Sketch, is_substantive, line_hash};
use chronicle_git::ByteSlice;
use memchr::memmem::Finder;

use crate::place::present::is_opaque;

/// Code of fewer lines is written twice by chance.
pub(crate) const SHORTEST: usize = 3;
/// A file that has fewer lines of some code does not have the code.
pub(crate) const FEWEST: usize = 2;
/// The same as a share.
const LEAST_HELD: f64 = 0.3;
/// No code that a person wrote is in a larger file.
pub(crate) const MAX_BYTES: usize = 1 << 23;

/// The keys under which notes have sketches.
static KEYS: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new(b"\"sketch\""), Finder::new(b"\"around\"")]);

/// Whether a note as it was written may sketch something.
pub(crate) fn may_be_sketched(raw: &[u8]) -> bool {
    KEYS[0].find(raw).is_some()
}

/// The telling lines of each sketch in a note, as it was written.
pub(crate) fn sketches_in(raw: &[u8]) -> impl Iterator<Item = Vec<u32>> {
    let after = KEYS.iter().flat_map(move |key| key.find_iter(raw).map(|at| at + key.needle().len()));
    after.map(move |after| {
        let value = raw[after..].trim_start().strip_prefix(b":").map(<[u8]>::trim_start);
        let text = value.and_then(|value| value.strip_prefix(b"\"")).unwrap_or_default();
        let text = &text[..memchr::memchr(b'"', text).unwrap_or_default()];
        text.to_str().map(|text| Sketch(text.to_owned()).telling()).unwrap_or_default()
    })
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
    pub(crate) fn may_locate(&self, sketch: &Sketch) -> bool {
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

/// The hashes of the lines of `content` that say something, as they come; none of what no person wrote as code.
pub(crate) fn hashes_of(content: &[u8]) -> Vec<u32> {
    if is_opaque(content) || MAX_BYTES < content.len() {
        return Vec::new();
    }
    let lines = Lines::new(content);
    lines.all().iter().filter(|line| is_substantive(line)).map(|line| line_hash(line)).collect()
}
