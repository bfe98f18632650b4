//! What the user's own data folder records about whose notes are trusted.
//!
//! Nothing inside a repository counts: a folder that was copied, shared or unpacked brings whatever its
//! maker put there. So the claims that the user wrote, and the remotes that the user exchanges notes
//! with, are recorded outside of it: remotes by address, for the repository at one path.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::ffi::OsStringExt,
    path::{Component, Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice};
use snafu::ResultExt;

use crate::{
    FETCHED_NOTES, Repository,
    error::{IoSnafu, Result},
    files,
    lock::FileLock,
    sharing::replace_file,
    temporary::temporary_in,
    tracking_prefix,
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

fn plain_address(mut url: gix::Url) -> Option<String> {
    url.set_password(None);
    // Over HTTP the user's name may be a token; over SSH it is a part of the place.
    if matches!(url.scheme, gix::url::Scheme::Http | gix::url::Scheme::Https) {
        url.set_user(None);
    }
    let url = url.to_bstring().to_str_lossy().into_owned();
    (!url.contains(char::is_control)).then_some(url)
}

/// The lines of a record of what remotes had: an object, the ref that pointed at it, and the address.
fn seen_lines(content: &str) -> impl Iterator<Item = (ObjectId, &str, &str)> {
    content.lines().filter_map(|line| {
        let mut words = line.splitn(3, ' ');
        let id = ObjectId::from_hex(words.next()?.as_bytes()).ok()?;
        Some((id, words.next()?, words.next()?))
    })
}

/// More than this is no list of what was fetched.
const MAX_FETCH_HEAD: u64 = 1 << 24;

/// The address `url` as git writes it where it says what it fetched (`store_updated_refs` and `transport_anonymize_url`
/// in its sources): without who logs in, and without slashes and `.git` at the end.
fn fetched_place(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let is_host = |login: &str| !login.contains('/');
    let rest = match rest.split_once('@') {
        Some((login, host)) if is_host(login) && (!scheme.is_empty() || host.contains(':')) => host,
        _ => rest,
    };
    let rest = rest.trim_end_matches('/');
    // So git counts: `.git` alone stays.
    let rest = rest.strip_suffix(".git").filter(|rest| 1 < rest.len()).unwrap_or(rest);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// Whether an address names a path in the home of who logs in, whom git leaves out where it says what it fetched. `git` is the
/// user of hosts where all have one.
fn is_home_of_user(url: &str) -> bool {
    let is_other = |login: &str| !login.contains('/') && login.split(':').next() != Some("git");
    match url.split_once("://") {
        Some(("http" | "https" | "file", _)) => false,
        Some((_, rest)) => {
            let path = rest.split_once('/').map_or("", |(_, path)| path);
            path.starts_with('~') && rest.split_once('@').is_none_or(|(login, _)| is_other(login))
        }
        None => {
            let Some((host, path)) = url.split_once(':').filter(|(host, _)| !host.contains('/')) else {
                return false;
            };
            !path.starts_with('/') && host.split_once('@').is_none_or(|(login, _)| is_other(login))
        }
    }
}

/// Whether there are two folders that differ in `.git` at the end, which git leaves out where it says what it fetched.
fn has_twin(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let bare = text.trim_end_matches('/');
    let bare = bare.strip_suffix(".git").unwrap_or(bare);
    Path::new(bare).is_dir() && Path::new(&format!("{bare}.git")).is_dir()
}

/// What a line of `FETCH_HEAD` says was fetched from `place`: `ID TAB not-for-merge TAB 'REF' of PLACE`.
fn fetched_line(line: &str, place: &str) -> Option<(ObjectId, String)> {
    let (id, rest) = line.split_once('\t')?;
    let (_, what) = rest.split_once('\t')?;
    let (name, from) = what.strip_prefix('\'')?.split_once("' of ")?;
    let id = ObjectId::from_hex(id.as_bytes()).ok()?;
    (from == place).then(|| (id, name.to_owned()))
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

impl Repository {
    /// The user's records of whose notes are trusted, where there is a place for them.
    #[must_use]
    pub fn trust_records(&self) -> Option<&TrustRecords> {
        self.trust_records.as_ref()
    }

    /// What decides whose notes are trusted here.
    #[must_use]
    pub fn trust_stamp(&self) -> Option<TrustStamp> {
        let config = fs::read(self.common_dir().join("config")).unwrap_or_default();
        self.trust_records.as_ref()?.stamp(self.common_dir(), &config.to_ascii_lowercase())
    }

    /// The address that git fetches from for a remote, without what logs in there; `None` for one that is not one line.
    #[must_use]
    pub fn remote_url(&self, remote: &str) -> Option<String> {
        self.url_of(remote, gix::remote::Direction::Fetch)
    }

    /// The address that git uses for a remote, as [`Self::remote_url`] has it.
    pub(crate) fn url_of(&self, remote: &str, direction: gix::remote::Direction) -> Option<String> {
        plain_address(self.fixed(self.inner.find_remote(remote).ok()?.url(direction)?.clone()))
    }

    /// An address that git told, without what logs in there; `None` for what is none.
    pub(crate) fn told_address(&self, url: &str) -> Option<String> {
        plain_address(self.fixed(gix::url::parse(url.as_bytes().as_bstr()).ok()?))
    }

    /// The address where a relative path leads from here: it is another place in each worktree.
    fn fixed(&self, mut url: gix::Url) -> gix::Url {
        let path = url.path.to_path().unwrap_or(Path::new("")).to_owned();
        if url.scheme == gix::url::Scheme::File && path.is_relative() {
            let from = self.work_dir().unwrap_or_else(|| self.git_dir());
            let mut fixed = std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
            for part in path.components() {
                match part {
                    Component::ParentDir => drop(fixed.pop()),
                    part => fixed.push(part),
                }
            }
            url.path = fixed.into_os_string().into_vec().into();
        }
        url
    }

    /// Whether the user enabled an address here.
    #[must_use]
    pub fn is_enabled_url(&self, url: &str) -> bool {
        let records = self.trust_records.as_ref();
        records.is_some_and(|records| records.enabled(self.common_dir()).iter().any(|known| known == url))
    }

    /// The remotes that the user exchanges notes with here, as the user's own records say.
    ///
    /// What the repository's configuration says does not count.
    #[must_use]
    pub fn enabled_remotes(&self) -> Vec<String> {
        let Some(records) = &self.trust_records else { return Vec::new() };
        let enabled = records.enabled(self.common_dir());
        if enabled.is_empty() {
            return Vec::new();
        }
        let is_enabled = |remote: &String| self.remote_url(remote).is_some_and(|url| enabled.contains(&url));
        let is_alone = |remote: &String| !self.is_fetched_into_by_another(remote);
        self.remotes().into_iter().filter(is_enabled).filter(is_alone).collect()
    }

    /// What the refs of `remote` are known to have held, of an enabled one: what we saw there last, or what git says that
    /// its last fetch brought from the address, which is recorded as seen then. Any other `git fetch` can write into the
    /// refs, and whoever sets variables can write into their logs.
    #[must_use]
    pub fn known_of(&self, remote: &str) -> BTreeMap<String, ObjectId> {
        let (Some(records), Some(url)) = (&self.trust_records, self.remote_url(remote)) else {
            return BTreeMap::new();
        };
        let mut known = records.seen(self.common_dir(), &url);
        let kept = tracking_prefix(remote);
        let moved = self.every_ref_under(&kept).unwrap_or_default();
        let moved: Vec<_> = moved.into_iter().filter(|(name, id)| known.get(name) != Some(id)).collect();
        if moved.is_empty() {
            return known;
        }
        let fetched = self.fetched_from(&url);
        let brought = |(name, id): &(String, ObjectId)| {
            fetched.contains(&(*id, name.replacen(&kept, "refs/notes/", 1)))
        };
        let brought: Vec<_> = moved.into_iter().filter(brought).collect();
        if !brought.is_empty() {
            known.extend(brought);
            // Where that cannot be, it is known as long as git says so.
            let _recorded = records.see(self.common_dir(), &url, &known);
        }
        known
    }

    /// What git says that it fetched last from `url`: objects, and the refs that pointed at them there; nothing where what it
    /// says may mean another address, too.
    fn fetched_from(&self, url: &str) -> HashSet<(ObjectId, String)> {
        let place = fetched_place(url);
        let mut fetched = HashSet::new();
        let is_another = |other: String| other != url && fetched_place(&other) == place;
        let others = self.remote_names().into_iter().filter_map(|name| self.remote_url(&name));
        if is_home_of_user(url) || has_twin(Path::new(url)) || others.into_iter().any(is_another) {
            return fetched;
        }
        for directory in [self.git_dir(), self.common_dir()] {
            let content = files::read(&directory.join("FETCH_HEAD"), MAX_FETCH_HEAD).unwrap_or_default();
            fetched.extend(content.to_str_lossy().lines().filter_map(|line| fetched_line(line, &place)));
        }
        fetched
    }

    /// Records what `remote` has now, by its address: it may be enabled later. `moved` are those of its refs that somebody
    /// else may have moved on.
    pub(crate) fn see_remote(&self, remote: &str, moved: BTreeMap<String, ObjectId>) -> Result<()> {
        let (Some(records), Some(url)) = (&self.trust_records, self.remote_url(remote)) else {
            return Ok(());
        };
        let mut refs: BTreeMap<String, ObjectId> =
            self.every_ref_under(&tracking_prefix(remote))?.into_iter().collect();
        refs.extend(moved);
        records.see(self.common_dir(), &url, &refs)
    }

    /// Whether git may fetch anything else than the notes of `remote` into where these are kept, by what the
    /// repository's own configuration says: another remote's notes, or a branch that strangers may push. Then nothing
    /// shows whose they are.
    #[must_use]
    pub fn is_fetched_into_by_another(&self, remote: &str) -> bool {
        let kept = tracking_prefix(remote);
        let is_into = |to: &str| match to.split_once('*') {
            Some((before, _)) => kept.starts_with(before) || before.starts_with(&kept),
            None => to.starts_with(&kept),
        };
        let is_foreign = |of: &str, refspec: &str| {
            let (from, to) = refspec.split_once(':').unwrap_or((refspec, ""));
            let from = from.trim_start_matches('+');
            let is_its_notes = of == remote && (from == to || from == to.replacen(&kept, "refs/notes/", 1));
            is_into(to) && !is_its_notes
        };
        // Git reads remotes from files there, too, as it did before it had configuration.
        let has_old_files =
            fs::read_dir(self.common_dir().join("remotes")).is_ok_and(|mut entries| entries.next().is_some());
        let is_mixed = |of: String| {
            self.settings(&format!("remote.{of}.fetch")).iter().any(|refspec| is_foreign(&of, refspec))
        };
        has_old_files || self.remote_names().into_iter().any(is_mixed)
    }

    /// The address that git pushes to for a remote, where that is another one than [`Repository::remote_url`].
    #[must_use]
    pub fn other_push_url(&self, remote: &str) -> Option<String> {
        let url = self.url_of(remote, gix::remote::Direction::Push)?;
        (self.remote_url(remote).as_ref() != Some(&url)).then_some(url)
    }
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
    fn an_address_that_means_a_home_is_not_known_by_what_git_says() {
        for url in ["team@srv:proj.git", "srv:proj", "ssh://team@srv/~/proj", "ssh://srv/~eve/proj"] {
            assert!(is_home_of_user(url), "{url}");
        }
        for url in [
            "git@host.example:team/proj.git",
            "team@srv:/srv/proj.git",
            "https://team@host.example/proj.git",
            "ssh://team@srv/srv/proj",
            "ssh://git@srv/~/proj",
            "/srv/proj.git",
            "../proj",
        ] {
            assert!(!is_home_of_user(url), "{url}");
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("proj.git")).unwrap();
        assert!(!has_twin(&at("proj.git")));
        fs::create_dir(at("proj")).unwrap();
        assert!(has_twin(&at("proj.git")) && has_twin(&at("proj")));
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
    fn addresses_are_compared_as_git_writes_them() {
        for (url, place) in [
            ("https://example.org/r.git", "https://example.org/r"),
            ("https://example.org/r/", "https://example.org/r"),
            ("https://me@example.org/r", "https://example.org/r"),
            ("ssh://git@example.org:22/r.git/", "ssh://example.org:22/r"),
            ("git@example.org:a/r.git", "example.org:a/r"),
            ("/srv/r@1/team.git", "/srv/r@1/team"),
            ("../team.git", "../team"),
            ("file:///srv/r", "file:///srv/r"),
        ] {
            assert_eq!(fetched_place(url), place, "{url}");
        }
    }

    #[test]
    fn what_was_fetched_is_told_by_ref_and_address() {
        let (id, hex) = (ObjectId::from_hex("ab".repeat(20).as_bytes()).unwrap(), "ab".repeat(20));
        let read = |line: &str| fetched_line(&line.replace("ID", &hex), "https://example.org/r");
        let notes = "refs/notes/chronicle";
        let plain = "ID\tnot-for-merge\t'refs/notes/chronicle' of https://example.org/r";
        assert_eq!(read(plain), Some((id, notes.to_owned())));
        assert_eq!(
            read("ID\t\t'refs/notes/chronicle' of https://example.org/r"),
            Some((id, notes.to_owned()))
        );
        for other in [
            "ID\tnot-for-merge\t'refs/notes/chronicle' of https://example.org/fork",
            "ID\tnot-for-merge\tbranch 'refs/notes/chronicle' of https://example.org/r",
            "ID\tnot-for-merge\t'refs/notes/chronicle' of https://x of https://example.org/r",
            "ID not-for-merge 'refs/notes/chronicle' of https://example.org/r",
            "zz\tnot-for-merge\t'refs/notes/chronicle' of https://example.org/r",
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
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
