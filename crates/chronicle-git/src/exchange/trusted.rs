//! Whose notes are trusted in a repository, by what the user's data folder records.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    os::unix::ffi::OsStringExt,
    path::{Component, Path},
};

use gix::{ObjectId, bstr::ByteSlice};

use crate::{
    Repository,
    disk::files,
    error::Result,
    exchange::{
        fetch_head::{MAX_FETCH_HEAD, fetched_line, fetched_place, has_twin, is_home_of_user},
        tracking::tracking_prefix,
        trust::{TrustRecords, TrustStamp},
    },
};

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

/// An address without what logs in there; `None` for one that is not one line.
fn plain_address(mut url: gix::Url) -> Option<String> {
    url.set_password(None);
    // Over HTTP the user's name may be a token; over SSH it is a part of the place.
    if matches!(url.scheme, gix::url::Scheme::Http | gix::url::Scheme::Https) {
        url.set_user(None);
    }
    let url = url.to_bstring().to_str_lossy().into_owned();
    (!url.contains(char::is_control)).then_some(url)
}
