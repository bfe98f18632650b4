//! Which files that came are files that went, under another name.
//!
//! As git tells it (`diffcore-rename`): first by identity; then files that alone keep their last name,
//! if they are much alike; then whatever is alike, the likest first. How like two files are is estimated
//! from the lines that they share, wherever they stand, so that hundreds of files are compared with
//! hundreds in no time.

use std::{cmp::Reverse, collections::HashMap};

use gix::{
    ObjectId,
    bstr::{BStr, ByteSlice},
    objs::tree::EntryKind,
};

use crate::open::repository::is_too_large;

/// Files of which less is shared than this part are not alike.
const LEAST_ALIKE: f64 = 0.5;
/// Files that are called the same are one already with this part shared, though others might be more alike.
const ALIKE_FOR_NAMESAKES: f64 = 0.75;
/// With more pairs than the square of this, files of other names are not compared: git's own limit.
const MOST_COMPARED: usize = 1000;
/// Of more files with the same content those that come first are looked at: git's own limit.
const MOST_TWINS: usize = 100;
/// A line is compared in pieces of at most this many bytes, so that files without line ends are, too.
const LONGEST_PIECE: usize = 64;

/// A file that came or went.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moving<'f> {
    pub path: &'f BStr,
    pub is_link: bool,
    pub id: ObjectId,
}

impl<'f> Moving<'f> {
    /// A file or link of a tree; `None` for what has no content of its own.
    pub(crate) fn of(path: &'f BStr, (mode, id): (gix::objs::tree::EntryMode, ObjectId)) -> Option<Self> {
        (mode.is_blob_or_symlink()).then(|| Self { path, is_link: mode.kind() == EntryKind::Link, id })
    }

    fn last_name(&self) -> &'f BStr {
        let start = self.path.rfind_byte(b'/').map_or(0, |slash| slash + 1);
        self.path[start..].as_bstr()
    }

    /// How many of the last parts of two paths are the same.
    fn n_parts_shared(&self, other: &Self) -> usize {
        let pairs = self.path.rsplit_str(b"/").zip(other.path.rsplit_str(b"/"));
        pairs.take_while(|(left, right)| left == right).count()
    }
}

/// For each of `come`, which of `gone` it was; no file became two.
pub(crate) fn origins(
    inner: &gix::Repository,
    gone: &[Moving<'_>],
    come: &[Moving<'_>],
) -> Vec<Option<usize>> {
    let mut pairing = Pairing {
        gone,
        come,
        is_taken: vec![false; gone.len()],
        origins: vec![None; come.len()],
        sketches: Sketches { inner, known: HashMap::new() },
    };
    pairing.by_identity();
    pairing.by_name();
    pairing.by_likeness();
    pairing.origins
}

struct Pairing<'f, 'r> {
    gone: &'f [Moving<'f>],
    come: &'f [Moving<'f>],
    is_taken: Vec<bool>,
    origins: Vec<Option<usize>>,
    sketches: Sketches<'r>,
}

impl Pairing<'_, '_> {
    fn pair(&mut self, new: usize, old: usize) {
        self.origins[new] = Some(old);
        self.is_taken[old] = true;
    }

    /// The files that are not paired yet and have bytes that can be compared: those that came, those that went.
    fn left(&self) -> (Vec<usize>, Vec<usize>) {
        let can_be_like = |file: &Moving<'_>| !file.is_link && !file.id.is_empty_blob();
        let come = (0..self.come.len()).filter(|n| self.origins[*n].is_none() && can_be_like(&self.come[*n]));
        let gone = (0..self.gone.len()).filter(|n| !self.is_taken[*n] && can_be_like(&self.gone[*n]));
        (come.collect(), gone.collect())
    }

    /// Of several files with the same content, that is taken whose path ends most alike.
    fn by_identity(&mut self) {
        let mut same: HashMap<(ObjectId, bool), Vec<usize>> = HashMap::new();
        for (old, file) in self.gone.iter().enumerate().filter(|(_, file)| !file.id.is_empty_blob()) {
            same.entry((file.id, file.is_link)).or_default().push(old);
        }
        for (new, file) in self.come.iter().enumerate() {
            let Some(free) = same.get_mut(&(file.id, file.is_link)) else { continue };
            let twins = free.iter().take(MOST_TWINS).enumerate();
            let best = twins.max_by_key(|(at, old)| (self.gone[**old].n_parts_shared(file), Reverse(*at)));
            if let Some((at, _)) = best {
                let old = free.remove(at);
                self.pair(new, old);
            }
        }
    }

    /// Files that alone are called so, on either side, and are much alike.
    fn by_name(&mut self) {
        let (come, gone) = self.left();
        let come = by_last_name(self.come, &come);
        let gone = by_last_name(self.gone, &gone);
        for (name, new) in come {
            if let (Some(new), Some(Some(old))) = (new, gone.get(name))
                && self.sketches.are_alike(self.gone[*old].id, self.come[new].id, ALIKE_FOR_NAMESAKES)
            {
                self.pair(new, *old);
            }
        }
    }

    /// The likest files first; of files that are as like, those whose paths end most alike.
    fn by_likeness(&mut self) {
        let (come, gone) = self.left();
        if MOST_COMPARED.pow(2) < come.len().saturating_mul(gone.len()) {
            return;
        }
        let mut alike = Vec::new();
        for new in come {
            for old in &gone {
                let likeness = self.sketches.likeness(self.gone[*old].id, self.come[new].id, LEAST_ALIKE);
                if let Some(likeness) = likeness {
                    let n_shared = self.gone[*old].n_parts_shared(&self.come[new]);
                    alike.push((likeness, n_shared, new, *old));
                }
            }
        }
        alike.sort_by(|left, right| {
            let order = right.0.total_cmp(&left.0).then(right.1.cmp(&left.1));
            order.then((left.2, left.3).cmp(&(right.2, right.3)))
        });
        for (_, _, new, old) in alike {
            if self.origins[new].is_none() && !self.is_taken[old] {
                self.pair(new, old);
            }
        }
    }
}

/// Which file has which last name; `None` where several have it.
fn by_last_name<'f>(files: &[Moving<'f>], among: &[usize]) -> HashMap<&'f BStr, Option<usize>> {
    let mut named = HashMap::new();
    for n in among {
        named.entry(files[*n].last_name()).and_modify(|only| *only = None).or_insert(Some(*n));
    }
    named
}

/// What files hold, as far as it was asked for.
struct Sketches<'r> {
    inner: &'r gix::Repository,
    /// `None` for what is not here, as in partial clones, or cannot be read.
    known: HashMap<ObjectId, Option<Sketch>>,
}

impl Sketches<'_> {
    fn are_alike(&mut self, old: ObjectId, new: ObjectId, least: f64) -> bool {
        self.likeness(old, new, least).is_some()
    }

    /// The part of the larger file that both share; `None` if it is less than `least`.
    fn likeness(&mut self, old: ObjectId, new: ObjectId, least: f64) -> Option<f64> {
        for id in [old, new] {
            let inner = self.inner;
            let sketch = || {
                let object = (!is_too_large(inner, id)).then(|| inner.find_object(id));
                Some(Sketch::of(&object?.ok()?.data))
            };
            self.known.entry(id).or_insert_with(sketch);
        }
        let (old, new) = (self.known[&old].as_ref()?, self.known[&new].as_ref()?);
        let larger = old.n_bytes.max(new.n_bytes) as f64;
        // More than all of the smaller one they cannot share.
        if (old.n_bytes.min(new.n_bytes) as f64) < least * larger {
            return None;
        }
        let likeness = old.n_bytes_shared(new) as f64 / larger;
        (least <= likeness).then_some(likeness)
    }
}

/// The pieces of a file: each one's hash and how many bytes all of that hash have, in order of hash.
struct Sketch {
    n_bytes: u64,
    pieces: Vec<(u32, u32)>,
}

impl Sketch {
    fn of(content: &[u8]) -> Self {
        let mut pieces: Vec<(u32, u32)> = Vec::new();
        for piece in
            content.split_inclusive(|byte| *byte == b'\n').flat_map(|line| line.chunks(LONGEST_PIECE))
        {
            pieces.push((hash(piece), u32::try_from(piece.len()).unwrap_or(u32::MAX)));
        }
        pieces.sort_unstable();
        pieces.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            if is_same {
                first.1 = first.1.saturating_add(next.1);
            }
            is_same
        });
        Self { n_bytes: content.len() as u64, pieces }
    }

    fn n_bytes_shared(&self, other: &Self) -> u64 {
        let mut theirs = other.pieces.iter().peekable();
        let mut shared = 0;
        for (hash, n_bytes) in &self.pieces {
            while theirs.next_if(|(other, _)| other < hash).is_some() {}
            if let Some((_, of_theirs)) = theirs.next_if(|(other, _)| other == hash) {
                shared += u64::from(*n_bytes.min(of_theirs));
            }
        }
        shared
    }
}

/// A line end may be told with or without a carriage return.
fn hash(piece: &[u8]) -> u32 {
    let text = piece.strip_suffix(b"\r\n").or_else(|| piece.strip_suffix(b"\n")).unwrap_or(piece);
    let mixed = text.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |hash, byte| {
        (hash.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
    });
    u32::try_from(mixed >> 32).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use testkit::TestRepo;

    use super::*;
    use crate::Repository;

    type Renames = BTreeSet<(String, String)>;

    fn renames_by_git(repo: &TestRepo) -> Renames {
        let told = repo.git(&["diff", "-M", "--name-status", "--diff-filter=R", "HEAD~", "HEAD"]);
        let lines = told.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
        lines.map(|fields| (fields[1].clone(), fields[2].clone())).collect()
    }

    fn renames(repo: &TestRepo) -> Renames {
        let [old, new] = ["HEAD~^{tree}", "HEAD^{tree}"].map(|tree| repo.git(&["rev-parse", tree]));
        let id = |hex: String| ObjectId::from_hex(hex.as_bytes()).expect("git told it");
        let now = testkit::DATE.parse().expect("it is a time");
        let repository = Repository::discover(repo.path(), now).expect("it is a repository");
        let changes = repository.changes(Some(id(old)), id(new)).expect("its trees are there");
        let renamed =
            changes.into_iter().filter_map(|change| Some((change.renamed_from?.to_string(), change.path)));
        renamed.map(|(from, to)| (from, to.to_string())).collect()
    }

    fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Renames {
        expected.into_iter().map(|(from, to)| (from.to_owned(), to.to_owned())).collect()
    }

    fn lines(of: &str, n: std::ops::Range<usize>) -> String {
        n.map(|n| format!("{of} says {n:02}\n")).collect()
    }

    #[test]
    fn renames_are_told_as_git_tells_them() {
        let repo = TestRepo::new();
        repo.write("old/license", "the same everywhere\n");
        repo.write("older/license", "the same everywhere\n");
        repo.write("old/kept.rs", lines("kept", 0..40));
        repo.write("old/rival.rs", lines("rival", 0..40));
        repo.write("windows.txt", lines("windows", 0..20).replace('\n', "\r\n"));
        repo.write("one-line.json", lines("json", 0..60).replace('\n', ","));
        repo.write("half.rs", lines("half", 0..40));
        repo.write("less.rs", lines("less", 0..40));
        repo.write("stays.rs", lines("stays", 0..40));
        std::os::unix::fs::symlink("stays.rs", repo.path().join("link")).unwrap();
        repo.commit("before");
        repo.git(&[
            "rm",
            "-rqf",
            "old",
            "older",
            "windows.txt",
            "one-line.json",
            "half.rs",
            "less.rs",
            "link",
        ]);
        repo.write("new/license", "the same everywhere\n");
        repo.write("newer/license", "the same everywhere\n");
        // A file of another name may be more alike: git does not look.
        repo.write("new/kept.rs", lines("kept", 0..33) + &lines("more", 0..7));
        repo.write("new/other.rs", lines("kept", 0..36) + &lines("else", 0..4));
        repo.write("new/stranger.rs", lines("rival", 0..24) + &lines("strange", 0..14));
        repo.write("unix.txt", lines("windows", 0..20));
        repo.write("short.json", lines("json", 0..50).replace('\n', ","));
        repo.write("half-left.rs", lines("half", 0..20) + &lines("HALF", 0..18));
        repo.write("less-left.rs", lines("less", 0..18) + &lines("LESS", 0..22));
        std::os::unix::fs::symlink("stays.rs", repo.path().join("bond")).unwrap();
        repo.commit("after");

        let expected = pairs([
            ("half.rs", "half-left.rs"),
            ("link", "bond"),
            ("old/kept.rs", "new/kept.rs"),
            ("old/license", "new/license"),
            ("old/rival.rs", "new/stranger.rs"),
            ("older/license", "newer/license"),
            ("one-line.json", "short.json"),
            ("windows.txt", "unix.txt"),
        ]);
        assert_eq!(renames(&repo), expected);
        assert_eq!(renames_by_git(&repo), expected);
    }

    #[test]
    fn many_files_at_once_are_told_as_git_tells_them() {
        let repo = TestRepo::new();
        let shared = |n: usize| (n * 7) % 31;
        for n in 0..120 {
            repo.write(format!("from/{}/file{n}", n % 5), lines(&format!("file {n}"), 0..40));
        }
        repo.commit("before");
        repo.git(&["rm", "-rqf", "from"]);
        for n in 0..120 {
            let kept = lines(&format!("file {n}"), 0..9 + shared(n));
            let new = lines(&format!("file {n} later"), 0..31 - shared(n));
            let name = if n % 3 == 0 { format!("file{n}") } else { format!("part{}", n % 40) };
            repo.write(format!("to/{}/{n}/{name}", n % 7), kept + &new);
        }
        repo.commit("after");
        let told = renames(&repo);
        assert!(40 < told.len() && told.len() < 110, "{} renames", told.len());
        assert_eq!(told, renames_by_git(&repo));
    }

    #[test]
    fn a_file_without_content_is_no_other_one() {
        let repo = TestRepo::new();
        repo.write("empty", "");
        repo.write("kept", "kept\n");
        repo.commit("before");
        repo.git(&["rm", "-q", "empty"]);
        repo.write("also-empty", "");
        repo.commit("after");
        assert_eq!(renames(&repo), Renames::new());
    }

    #[test]
    fn what_is_not_here_is_found_by_identity_only() {
        let repo = TestRepo::new();
        repo.write("edited", lines("edited", 0..20));
        repo.write("moved", lines("moved", 0..20));
        repo.commit("before");
        repo.git(&["rm", "-qf", "edited", "moved"]);
        repo.write("edited-too", lines("edited", 0..19));
        repo.write("moved-too", lines("moved", 0..20));
        repo.commit("after");
        assert_eq!(renames(&repo).len(), 2);
        let blob = repo.git(&["rev-parse", "HEAD~:edited"]);
        let (directory, file) = blob.split_at(2);
        std::fs::remove_file(repo.path().join(".git/objects").join(directory).join(file)).unwrap();
        assert_eq!(renames(&repo), pairs([("moved", "moved-too")]));
    }
}
