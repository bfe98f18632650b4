//! What the user's own data folder records about whose notes are trusted.
//!
//! Nothing inside a repository counts: a folder that was copied, shared or unpacked brings whatever its
//! maker put there. So the claims that the user wrote, and the remotes that the user exchanges notes
//! with, are recorded outside of it: remotes by address, for the repository at one path.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice};
use snafu::ResultExt;

use crate::{
    FETCHED_NOTES,
    disk::{lock::FileLock, sharing::replace_file, temporary::temporary_in},
    error::{IoSnafu, Result},
};

/// The lines of a configuration file, in lower case, that say where the notes of remotes come from.
///
/// Too many are no harm: they only tell one state of the repository from another.
pub(crate) fn settings(config: &[u8]) -> Vec<u8> {
    let mut counts = false;
    let mut lines = Vec::new();
    for line in config.lines() {
        let line = line.trim();
        if line.starts_with(b"[") {
            counts = line.starts_with(b"[remote") || line.starts_with(b"[url");
        }
        if counts {
            lines.extend_from_slice(line);
            lines.push(b'\n');
        }
    }
    lines
}

/// What decides whose notes are trusted in one repository, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStamp {
    /// Names this user and this repository. Only the user's data folder tells it, so nobody else can
    /// prepare a file that is looked for under it.
    pub place: Vec<u8>,
    /// Changes whenever other remotes may be trusted.
    pub state: Vec<u8>,
}

/// The user's records of whose notes are trusted: a directory in the user's data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRecords {
    directory: PathBuf,
}

/// Whom something is from that a mark is recorded of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Whom {
    /// The user: what the user said, and the commits of notes that the user's Chronicle made, by their ids.
    User,
    /// A remote that the user exchanges notes with: it was carried to another commit here, which gave it another form.
    Team,
}

impl Whom {
    fn folder(self) -> &'static str {
        match self {
            Self::User => "own",
            Self::Team => "team",
        }
    }
}

/// How many characters of a mark name the file that it is in.
const SHARD: usize = 2;

impl TrustRecords {
    /// The records in the data folder of a user.
    #[must_use]
    pub fn new(user_data: &Path) -> Self {
        Self { directory: user_data.join("trust") }
    }

    /// What decides whose notes are trusted in the repository with this common directory and configuration;
    /// `None` where nothing can be recorded.
    #[must_use]
    pub fn stamp(&self, common_dir: &Path, config: &[u8]) -> Option<TrustStamp> {
        self.stamp_of(&common_dir.canonicalize().ok()?, config)
    }

    /// The same, where `common_dir` has no symbolic links.
    pub(crate) fn stamp_of(&self, common_dir: &Path, config: &[u8]) -> Option<TrustStamp> {
        let mut place = self.key()?;
        place.extend_from_slice(common_dir.as_os_str().as_encoded_bytes());
        let mut state = fs::read(self.of_repository(common_dir)).unwrap_or_default();
        state.push(0);
        state.extend(fs::read(self.seen_by(common_dir)).unwrap_or_default());
        state.push(0);
        state.extend_from_slice(&settings(config));
        Some(TrustStamp { place, state })
    }

    /// Random bytes that only this user knows.
    fn key(&self) -> Option<Vec<u8>> {
        let path = self.directory.join("key");
        if let Some(key) = fs::read(&path).ok().filter(|key| 32 <= key.len()) {
            return Some(key);
        }
        make_directory(&self.directory).ok()?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).ok()?;
        let key: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut file = temporary_in(&self.directory).ok()?;
        file.write_all(key.as_bytes()).and_then(|()| file.as_file().sync_all()).ok()?;
        // Another process may have been faster: then its key counts.
        let _persisted = file.persist_noclobber(&path);
        fs::read(&path).ok().filter(|key| 32 <= key.len())
    }

    /// Where the remotes are recorded that notes are exchanged with in the repository at `common_dir`.
    fn of_repository(&self, common_dir: &Path) -> PathBuf {
        let path = common_dir.as_os_str().as_encoded_bytes();
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::object::Kind::Blob, path);
        let name = id.map_or_else(|_| "unknown".to_owned(), |id| id.to_string());
        self.directory.join("repositories").join(name)
    }

    /// Where it is recorded which notes those remotes had when we looked.
    fn seen_by(&self, common_dir: &Path) -> PathBuf {
        self.of_repository(common_dir).with_extension("seen")
    }

    /// What the refs of the remote at `url` pointed at when we looked last, in the repository at `common_dir`.
    #[must_use]
    pub fn seen(&self, common_dir: &Path, url: &str) -> BTreeMap<String, ObjectId> {
        let Ok(common_dir) = common_dir.canonicalize() else { return BTreeMap::new() };
        let content = fs::read_to_string(self.seen_by(&common_dir)).unwrap_or_default();
        seen_lines(&content)
            .filter(|(.., of)| *of == url)
            .map(|(id, name, _)| (name.to_owned(), id))
            .collect()
    }

    /// Records what the refs of the remote at `url` point at, in the repository at `common_dir`.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn see(&self, common_dir: &Path, url: &str, refs: &BTreeMap<String, ObjectId>) -> Result<()> {
        if self.seen(common_dir, url) == *refs {
            return Ok(());
        }
        let common_dir = common_dir.canonicalize().context(IoSnafu { path: common_dir })?;
        let path = self.seen_by(&common_dir);
        let directory = self.directory.join("repositories");
        make_directory(&directory).context(IoSnafu { path: &directory })?;
        let _lock = FileLock::acquire(&self.directory.join("lock"))?;
        let known = fs::read_to_string(&path).unwrap_or_default();
        let others = seen_lines(&known).filter(|(.., of)| *of != url);
        let ours = refs.iter().map(|(name, id)| (*id, name.as_str(), url));
        let content: String =
            others.chain(ours).map(|(id, name, of)| format!("{id} {name} {of}\n")).collect();
        replace_file(&path, content.as_bytes()).context(IoSnafu { path: &path })
    }

    /// The addresses of the remotes that the user exchanges notes with in the repository at `common_dir`.
    #[must_use]
    pub fn enabled(&self, common_dir: &Path) -> Vec<String> {
        let Ok(common_dir) = common_dir.canonicalize() else { return Vec::new() };
        let content = fs::read_to_string(self.of_repository(&common_dir)).unwrap_or_default();
        let mut lines = content.lines();
        // The path is there so that people see what the file is about, and as a check.
        match lines.next() {
            Some(path) if path == common_dir.to_string_lossy() => {
                lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Records whether notes are exchanged with the remote at `url` in the repository at `common_dir`;
    /// returns whether that is news.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub fn enable(&self, common_dir: &Path, url: &str, is_enabled: bool) -> Result<bool> {
        let common_dir = common_dir.canonicalize().context(IoSnafu { path: common_dir })?;
        let path = self.of_repository(&common_dir);
        let directory = self.directory.join("repositories");
        make_directory(&directory).context(IoSnafu { path: &directory })?;
        let _lock = FileLock::acquire(&self.directory.join("lock"))?;
        let mut urls = self.enabled(&common_dir);
        let n_before = urls.len();
        urls.retain(|known| known != url);
        let was_enabled = urls.len() < n_before;
        if is_enabled {
            urls.push(url.to_owned());
        }
        if was_enabled == is_enabled {
            return Ok(false);
        }
        let content = format!("{}\n{}\n", common_dir.to_string_lossy(), urls.join("\n"));
        replace_file(&path, content.as_bytes()).context(IoSnafu { path: &path })?;
        Ok(true)
    }

    /// Drops the addresses recorded for the repository at `common_dir` that none of `urls` has any more.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub fn keep_only(&self, common_dir: &Path, urls: &[String]) -> Result<()> {
        for gone in self.enabled(common_dir).iter().filter(|known| !urls.contains(known)) {
            self.enable(common_dir, gone, false)?;
        }
        Ok(())
    }

    /// Records marks of what is from `whom`: hexadecimal, all of one length.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn record(&self, whom: Whom, marks: &[String]) -> Result<()> {
        let directory = self.directory.join(whom.folder());
        make_directory(&directory).context(IoSnafu { path: &directory })?;
        let is_known = |mark: &String| self.recorded(whom, mark).iter().any(|known| known == mark);
        for mark in marks.iter().filter(|mark| !is_known(mark)) {
            let path = self.shard(whom, mark);
            let append = || {
                let mut options = OpenOptions::new();
                options.append(true).create(true);
                private(&mut options);
                // One write at the end of the file: what others add at the same time stays whole. What a
                // full disk cut off is ended by the line break in front.
                options.open(&path)?.write_all(format!("\n{mark}\n").as_bytes())
            };
            append().context(IoSnafu { path: &path })?;
        }
        Ok(())
    }

    fn shard(&self, whom: Whom, mark: &str) -> PathBuf {
        self.directory.join(whom.folder()).join(Self::shard_of(mark))
    }

    /// What marks have in common that are recorded in one file.
    #[must_use]
    pub fn shard_of(mark: &str) -> &str {
        mark.get(..SHARD).unwrap_or("none")
    }

    /// The recorded marks of what is from `whom` that begin as `mark` does.
    #[must_use]
    pub fn recorded(&self, whom: Whom, mark: &str) -> Vec<String> {
        let content = fs::read_to_string(self.shard(whom, mark)).unwrap_or_default();
        content.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}

/// The lines of a record of what remotes had: an object, the ref that pointed at it, and the address.
fn seen_lines(content: &str) -> impl Iterator<Item = (ObjectId, &str, &str)> {
    content.lines().filter_map(|line| {
        let mut words = line.splitn(3, ' ');
        let id = ObjectId::from_hex(words.next()?.as_bytes()).ok()?;
        Some((id, words.next()?, words.next()?))
    })
}

/// Makes a directory that only the user may look into.
fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
fn private(_options: &mut OpenOptions) {}

/// Where a notes ref came from: the remote that it was fetched from, or the ref itself; a remote that is named as a ref
/// is known by the ref.
#[must_use]
pub fn origin_of(ref_name: &str) -> &str {
    let fetched = ref_name.strip_prefix(FETCHED_NOTES).and_then(|rest| rest.rsplit_once('/'));
    let fetched = fetched.filter(|(remote, _)| !remote.starts_with("refs/"));
    fetched.map_or(ref_name, |(remote, _)| remote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> (tempfile::TempDir, TrustRecords, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let repository = home.path().join("repo.git");
        fs::create_dir(&repository).unwrap();
        let records = TrustRecords::new(&home.path().join("data"));
        (home, records, repository)
    }

    #[test]
    fn a_remote_is_enabled_by_its_address_for_one_path() {
        let (home, records, repository) = records();
        assert!(records.enable(&repository, "https://a.example/r", true).unwrap());
        assert!(!records.enable(&repository, "https://a.example/r", true).unwrap());
        assert_eq!(records.enabled(&repository), ["https://a.example/r"]);
        let copy = home.path().join("copy.git");
        fs::create_dir(&copy).unwrap();
        assert_eq!(records.enabled(&copy), [] as [String; 0], "a copy is not enabled");
        assert!(records.enable(&repository, "https://a.example/r", false).unwrap());
        assert_eq!(records.enabled(&repository), [] as [String; 0]);
    }

    #[test]
    fn marks_are_kept_once_and_survive_a_torn_line() {
        let (_home, records, _repository) = records();
        let [one, other] = ["ab01".repeat(8), "ab02".repeat(8)];
        records.record(Whom::User, &[one.clone(), one.clone()]).unwrap();
        fs::write(records.shard(Whom::User, &one), format!("\n{one}\nab0")).unwrap();
        records.record(Whom::User, std::slice::from_ref(&other)).unwrap();
        assert_eq!(records.recorded(Whom::User, &other), [one, "ab0".to_owned(), other]);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_looks_into_the_records() {
        use std::os::unix::fs::PermissionsExt;
        let (_home, records, repository) = records();
        records.record(Whom::User, &["ab01".repeat(8)]).unwrap();
        records.enable(&repository, "https://a.example/r", true).unwrap();
        assert!(records.stamp(&repository, b"").is_some());
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let repository = repository.canonicalize().unwrap();
        assert_eq!(mode(records.directory.clone()), 0o700);
        for file in [
            records.shard(Whom::User, "ab01"),
            records.directory.join("key"),
            records.of_repository(&repository),
        ] {
            assert_eq!(mode(file.clone()), 0o600, "{}", file.display());
        }
    }

    #[test]
    fn another_user_or_another_path_has_another_place() {
        let (home, records, repository) = records();
        let stamp = records.stamp(&repository, b"[remote \"o\"]\nurl = a\n").unwrap();
        assert_eq!(
            records.stamp(&repository, b"[core]\nx = y\n[remote \"o\"]\nurl = a\n"),
            Some(stamp.clone())
        );
        let other = TrustRecords::new(&home.path().join("other"));
        assert_ne!(other.stamp(&repository, b"").unwrap().place, stamp.place);
        assert_ne!(records.stamp(&repository, b"[remote \"o\"]\nurl = b\n").unwrap().state, stamp.state);
        records.enable(&repository, "a", true).unwrap();
        let enabled = records.stamp(&repository, b"[remote \"o\"]\nurl = a\n").unwrap();
        assert_eq!(enabled.place, stamp.place);
        assert_ne!(enabled.state, stamp.state);
    }

    #[test]
    fn what_a_remote_had_is_recorded_by_its_address() {
        let (_home, records, repository) = records();
        let id = |hex: &str| ObjectId::from_hex(hex.repeat(20).as_bytes()).unwrap();
        let refs = |hex: &str| BTreeMap::from([("refs/notes/remotes/o/chronicle".to_owned(), id(hex))]);
        records.see(&repository, "https://a.example/r", &refs("ab")).unwrap();
        records.see(&repository, "https://b.example/r s", &refs("cd")).unwrap();
        records.see(&repository, "https://a.example/r", &refs("ef")).unwrap();
        assert_eq!(records.seen(&repository, "https://a.example/r"), refs("ef"));
        assert_eq!(records.seen(&repository, "https://b.example/r s"), refs("cd"));
        assert_eq!(records.seen(&repository, "https://c.example/r"), BTreeMap::new());
    }

    #[test]
    fn a_fetched_ref_comes_from_its_remote() {
        assert_eq!(origin_of("refs/notes/remotes/a/b/chronicle"), "a/b");
        assert_eq!(origin_of("refs/notes/chronicle"), "refs/notes/chronicle");
    }
}
