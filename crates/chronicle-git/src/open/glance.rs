//! A look at a repository without opening it: where it is, what HEAD and the notes refs point at.
//!
//! Opening a repository costs more than answering from an index does (its configuration alone is
//! several files). Ordinary repositories keep what an index is keyed by in a few small files whose
//! form git promises (gitrepository-layout). Whatever is out of the ordinary is not looked at here:
//! the caller opens the repository then.

use std::{
    cell::OnceCell,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice, ByteVec},
};

use crate::{
    FETCHED_NOTES,
    disk::files::{self, MAX_BYTES},
    exchange::trust::{TrustRecords, TrustStamp},
    open::{config::UserConfig, git_dir::common_dir_of, ownership::Site, sound},
    store::notes::is_memory_ref,
    tree::worktree::{from_root, may_have_filters},
    walk::tips::KEEPING,
};

/// Where a repository is and what its refs point at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// The root of the working tree, without symbolic links.
    pub work_dir: PathBuf,
    /// The directory that was looked at, without symbolic links.
    directory: PathBuf,
    /// The git directory that all worktrees share, without symbolic links.
    pub common_dir: PathBuf,
    /// HEAD's commit.
    pub head: ObjectId,
    /// The refs that answers depend on beside HEAD, with what they point at, in order of name.
    pub notes: Vec<(BString, ObjectId)>,
    /// The repository's own configuration, in small letters.
    config: Vec<u8>,
    /// [`frame_stamp`].
    frame_stamp: Vec<u8>,
    /// What decides whose notes are trusted ([`Glance::trusting`]).
    trust: OnceCell<Option<TrustStamp>>,
    /// [`tips_stamp`], once it was asked for.
    tips_stamp: OnceCell<Vec<u8>>,
}

/// Variables of the environment that change where git looks.
pub const ENVIRONMENT: [&str; 11] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
];

/// Settings under which a repository is not laid out as usual, as they stand in a configuration file.
const UNUSUAL: [&[u8]; 5] = [b"worktree", b"include", b"refstorage", b"bare = true", b"sparse"];

const NOTES: &str = "refs/notes/";

/// Bytes that change whenever one of `Repository::tips` may have: a ref is changed by writing another file beside it,
/// which shows in when its directory was changed.
#[must_use]
pub fn tips_stamp(common_dir: &Path) -> Vec<u8> {
    let root = common_dir.join("refs");
    let mut stamps: Vec<Vec<u8>> = Vec::new();
    // Network file systems give any directory two links: how many `refs` has, which always holds some, tells.
    let counts_links = fs::metadata(&root).is_ok_and(|refs| 2 < n_links(&refs));
    let mut pending = vec![root.clone()];
    while let Some(directory) = pending.pop() {
        let Ok(metadata) = fs::metadata(&directory) else { continue };
        stamps.push(changed(&metadata));
        // Where links are counted, each directory in this one has one to it.
        if counts_links && n_links(&metadata) == 2 {
            continue;
        }
        for entry in fs::read_dir(&directory).into_iter().flatten().filter_map(Result::ok) {
            let is_keeping =
                || directory != root || KEEPING.iter().any(|keeping| entry.file_name() == *keeping);
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_keeping() {
                pending.push(entry.path());
            }
        }
    }
    stamps.extend(fs::metadata(common_dir.join("packed-refs")).map(|metadata| changed(&metadata)));
    let linked = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().filter_map(Result::ok);
    let git_dirs = linked.map(|worktree| worktree.path()).chain([common_dir.to_owned()]);
    // Where HEAD is a branch, that is among the refs.
    let heads = git_dirs.filter_map(|git_dir| files::read(&git_dir.join("HEAD"), MAX_BYTES).ok());
    stamps.extend(heads.filter(|head| !head.starts_with(b"ref: ")));
    stamps.sort_unstable();
    stamps.concat()
}

/// Bytes that change whenever history becomes another one though no commit changes: where a shallow clone ends, and
/// what stands in for other objects.
#[must_use]
pub fn frame_stamp(common_dir: &Path) -> Vec<u8> {
    sound_frame_stamp(common_dir).unwrap_or_default()
}

/// The same; `None` where one of these files is broken, and nothing can be read of the repository.
fn sound_frame_stamp(common_dir: &Path) -> Option<Vec<u8>> {
    let shallow = sound::read(&common_dir.join("shallow"))?;
    let grafts = sound::read(&common_dir.join("info/grafts"))?;
    let replaced = fs::metadata(common_dir.join("refs/replace")).map(|metadata| changed(&metadata));
    Some([shallow, grafts, replaced.unwrap_or_default()].join(&[0][..]))
}

/// When a file was changed, in nanoseconds since the epoch, and how long it is.
fn changed(metadata: &fs::Metadata) -> Vec<u8> {
    let at = metadata.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let at = at.unwrap_or_default().as_nanos();
    [&at.to_le_bytes()[..], &metadata.len().to_le_bytes()].concat()
}

/// How many links a file has; none where that is not told.
#[cfg(unix)]
fn n_links(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn n_links(_metadata: &fs::Metadata) -> u64 {
    0
}

impl Glance {
    /// Looks at the repository that `directory` is in; `None` when there is none, when it is not as usual, or when git
    /// would not work in it.
    ///
    /// The environment must hold none of [`ENVIRONMENT`].
    #[must_use]
    pub fn at(directory: &Path) -> Option<Self> {
        let directory = directory.canonicalize().ok()?;
        let trusted = Site::around(&directory)?.trusted(&directory).ok()?;
        let (work_dir, git_dir) = (trusted.root()?, trusted.git_dir());
        let common_dir = common_dir_of(git_dir).canonicalize().ok()?;
        let config = files::read(&common_dir.join("config"), MAX_BYTES).ok()?.to_ascii_lowercase();
        if UNUSUAL.iter().any(|word| config.contains_str(word)) || git_dir.join("config.worktree").exists() {
            return None;
        }
        // What is broken is an error of the caller who opens the repository.
        let frame_stamp = sound_frame_stamp(&common_dir)?;
        let packed = sound::read(&common_dir.join("packed-refs"))?;
        let refs = Refs { common_dir: &common_dir, packed };
        let head = files::read(&git_dir.join("HEAD"), MAX_BYTES).ok()?;
        let head = match head.strip_prefix(b"ref: ") {
            // A branch belongs to all worktrees; what is kept apart for each of them is no branch.
            Some(name) if name.starts_with(b"refs/heads/") => refs.find(name.trim_ascii().as_bstr())??,
            Some(_) => return None,
            None => ObjectId::from_hex(head.trim_ascii()).ok()?,
        };
        let notes = refs.notes()?;
        let work_dir = work_dir.to_owned();
        Some(Self {
            work_dir,
            directory,
            common_dir,
            head,
            notes,
            config,
            frame_stamp,
            trust: OnceCell::new(),
            tips_stamp: OnceCell::new(),
        })
    }

    /// The same, where `records` are the user's records of whose notes are trusted, unless they are known.
    pub fn trusting(&self, records: impl FnOnce() -> Option<TrustRecords>) -> &Self {
        self.trust.get_or_init(|| records()?.stamp_of(&self.common_dir, &self.config));
        self
    }

    /// What decides whose notes are trusted; `None` where nobody's are known.
    #[must_use]
    pub fn trust(&self) -> Option<&TrustStamp> {
        self.trust.get()?.as_ref()
    }

    /// [`frame_stamp`], as it was when the repository was looked at.
    #[must_use]
    pub fn frame_stamp(&self) -> &[u8] {
        &self.frame_stamp
    }

    /// Bytes that change whenever branches may have, as they were when this was first asked for.
    pub fn tips_stamp(&self) -> &[u8] {
        self.tips_stamp.get_or_init(|| tips_stamp(&self.common_dir))
    }

    /// Whether git's settings may hold one of `keys`, given in small letters.
    ///
    /// A key stands in its file as it is, so a file without its letters does not set it. True is only a
    /// guess: whoever opens the repository knows.
    #[must_use]
    pub fn may_set(&self, keys: &[&str], user: &UserConfig) -> bool {
        let stands_in_own = keys.iter().any(|key| self.config.contains_str(key));
        stands_in_own || user.files.iter().any(|file| may_set_in(file, keys, user, MAX_INCLUDES))
    }

    /// The ways in which `path`, given by someone in the directory that was looked at, may name a path from the root.
    #[must_use]
    pub fn root_relative(&self, path: &Path) -> Vec<BString> {
        from_root(&self.work_dir, &self.directory, path)
    }

    /// Whether `path` lies in a repository of its own inside the working tree.
    #[must_use]
    pub fn is_elsewhere(&self, path: &BStr) -> bool {
        let is_repository = |at: usize| {
            let directory = path[..at].to_path().ok();
            directory.is_some_and(|directory| self.work_dir.join(directory).join(".git").exists())
        };
        path.find_iter(b"/").any(is_repository)
    }

    /// What `path` is in the working tree; `None` when nothing is there.
    #[must_use]
    pub fn entry(&self, path: &BStr) -> Option<WorktreeEntry> {
        let full = self.work_dir.join(path.to_path().ok()?);
        let metadata = match fs::symlink_metadata(&full) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Some(WorktreeEntry::Other),
            Err(_) => return None,
        };
        if path.is_empty() {
            return Some(WorktreeEntry::Directory);
        }
        // A path that leads through a symbolic link may leave the working tree.
        let is_straight = full.parent()?.canonicalize().is_ok_and(|parent| Some(&*parent) == full.parent());
        let is_plain = is_straight && !may_have_filters(&self.work_dir, &self.common_dir, path);
        Some(match metadata {
            metadata if is_straight && metadata.is_dir() => WorktreeEntry::Directory,
            metadata if is_plain && metadata.is_file() => {
                files::read(&full, MAX_BYTES).map_or(WorktreeEntry::Other, WorktreeEntry::File)
            }
            metadata if is_plain && metadata.is_symlink() => {
                let target = fs::read_link(full).ok().and_then(|target| Vec::from_path_buf(target).ok());
                target.map_or(WorktreeEntry::Other, WorktreeEntry::Link)
            }
            metadata if is_straight && !metadata.is_file() && !metadata.is_symlink() => {
                WorktreeEntry::Special
            }
            _ => WorktreeEntry::Other,
        })
    }

    /// The bytes that the working tree has for the file `path` of HEAD, as `Repository::present_file` gives them:
    /// `Some(None)` where it has no such file, `None` where it takes a closer look to tell.
    #[must_use]
    pub fn content(&self, path: &BStr) -> Option<Option<Vec<u8>>> {
        match self.entry(path) {
            Some(WorktreeEntry::File(content) | WorktreeEntry::Link(content)) => Some(Some(content)),
            Some(WorktreeEntry::Directory | WorktreeEntry::Special) | None => Some(None),
            Some(WorktreeEntry::Other) => None,
        }
    }
}

/// Files that include files that include files: git stops at ten, too.
const MAX_INCLUDES: u32 = 10;

/// Whether the file, or one that it includes, under whatever condition, may hold one of `keys`.
fn may_set_in(file: &Path, keys: &[&str], user: &UserConfig, n_includes_left: u32) -> bool {
    let Ok(content) = files::read(file, MAX_BYTES) else { return false };
    let small = content.to_ascii_lowercase();
    if keys.iter().any(|key| small.contains_str(key)) {
        return true;
    }
    if !small.contains_str("[include") {
        return false;
    }
    let mut paths = content.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once_str(b"=")?;
        name.trim().eq_ignore_ascii_case(b"path").then(|| value.trim())
    });
    n_includes_left == 0
        || paths.any(|path| {
            let (base, path) = match (path.strip_prefix(b"~/"), &user.home) {
                (Some(path), Some(home)) => (home.join("file"), path),
                _ => (file.to_owned(), path),
            };
            match (path.to_path(), path.find_byteset(b"\"\\~%#;")) {
                (Ok(path), None) => may_set_in(&base.with_file_name(path), keys, user, n_includes_left - 1),
                // Quotes, another's home and the like are for those who know.
                _ => true,
            }
        })
}

/// What a path is in the working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeEntry {
    /// A directory.
    Directory,
    /// A file, with its bytes.
    File(Vec<u8>),
    /// A symbolic link, with where it points, which is what git keeps of it.
    Link(Vec<u8>),
    /// What git keeps nothing of: a pipe, a socket, a device.
    Special,
    /// Something that takes a closer look: a file behind a link or a filter, or one that may not be read.
    Other,
}

struct Refs<'a> {
    common_dir: &'a Path,
    packed: Vec<u8>,
}

/// A line of the packed refs.
struct PackedRef<'a> {
    name: &'a BStr,
    id: ObjectId,
    /// Whether the object is a tag: what it stands for is on the next line.
    is_tag: bool,
}

impl Refs<'_> {
    /// What the ref `name` points at; `Some(None)` when there is no such ref, `None` when it is not a plain one.
    fn find(&self, name: &BStr) -> Option<Option<ObjectId>> {
        match files::read(&self.common_dir.join(name.to_path().ok()?), MAX_BYTES) {
            Ok(content) => ObjectId::from_hex(content.trim_ascii()).ok().map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let found = self.packed_refs(b"refs/").find(|packed| packed.name == name);
                match found {
                    // What a tag stands for is what opening the repository finds.
                    Some(packed) if packed.is_tag => None,
                    found => Some(found.map(|packed| packed.id)),
                }
            }
            // A directory where a ref is looked for, or one that may not be read.
            Err(_) => None,
        }
    }

    /// The packed refs whose names start with `prefix`.
    fn packed_refs<'p>(&'p self, prefix: &'p [u8]) -> impl Iterator<Item = PackedRef<'p>> {
        let mut lines = self.packed.lines().peekable();
        std::iter::from_fn(move || {
            let line = lines.next()?;
            let is_tag = lines.peek().is_some_and(|next| next.starts_with(b"^"));
            Some((line, is_tag))
        })
        .filter_map(move |(line, is_tag)| {
            let (id, name) = line.split_once_str(b" ")?;
            (name.starts_with(prefix)).then_some(())?;
            Some(PackedRef { name: name.as_bstr(), id: ObjectId::from_hex(id).ok()?, is_tag })
        })
    }

    /// The refs that answers depend on: the same ones as `Repository::memory_refs` reads.
    fn notes(&self) -> Option<Vec<(BString, ObjectId)>> {
        let mut names = Vec::new();
        let mut pending = vec![BString::from(NOTES)];
        while let Some(prefix) = pending.pop() {
            let directory = self.common_dir.join(prefix.to_path().ok()?);
            for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
                let mut name = prefix.clone();
                name.extend_from_slice(&Vec::from_os_string(entry.file_name()).ok()?);
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    name.push(b'/');
                    if name.starts_with_str(FETCHED_NOTES) {
                        pending.push(name);
                    }
                } else if is_memory_ref(name.as_bstr()) {
                    names.push(name);
                }
            }
        }
        if self.packed.contains_str(NOTES) {
            let packed = self.packed_refs(NOTES.as_bytes()).map(|packed| packed.name);
            names.extend(packed.filter(|name| is_memory_ref(name)).map(ToOwned::to_owned));
        }
        names.sort_unstable();
        names.dedup();
        let mut notes = Vec::new();
        for name in names {
            if let Some(id) = self.find(name.as_bstr())? {
                notes.push((name, id));
            }
        }
        Some(notes)
    }
}

#[cfg(test)]
mod tests {
    use testkit::TestRepo;

    use super::*;

    /// What is seen of HEAD when main is packed with these lines.
    fn head_packed_as(lines: impl Fn(&str) -> String) -> Option<ObjectId> {
        let repo = TestRepo::new();
        repo.write("a", "a\n");
        let id = repo.commit("a");
        fs::remove_file(repo.path().join(".git/refs/heads/main")).unwrap();
        let packed = format!("# pack-refs with: peeled fully-peeled sorted \n{}", lines(&id));
        fs::write(repo.path().join(".git/packed-refs"), packed).unwrap();
        Glance::at(repo.path()).map(|glance| glance.head)
    }

    #[test]
    fn a_packed_branch_that_stands_for_a_tag_takes_a_closer_look() {
        let other = "1".repeat(40);
        assert!(head_packed_as(|id| format!("{id} refs/heads/main\n")).is_some());
        assert!(
            head_packed_as(|id| format!("{id} refs/heads/main\n{id} refs/tags/v1\n^{other}\n")).is_some()
        );
        assert_eq!(head_packed_as(|id| format!("{id} refs/heads/main\n^{other}\n")), None);
    }
}
