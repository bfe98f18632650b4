//! Which refs keep a commit: what they and the HEADs reach is somebody's work, and everything else was
//! rewritten or given up.
//!
//! Branches, tags, and the branches of remotes as fetch refspecs bring them. Other refs are records of tools:
//! what a filter run replaced, stashes, patches of StGit, commits of git-branchless and Jujutsu, changes of
//! Gerrit, pull requests that were fetched. They outlive an amended or squashed commit by design.

use std::path::Path;

use gix::{ObjectId, bstr::ByteSlice};

use crate::{Repository, disk::files, error::Result, open::sound, store::ref_backend::RefBackend};

const BRANCHES: &str = "refs/heads/";
const FETCHED: &str = "refs/remotes/";
const TAGS: &str = "refs/tags/";

/// Directories under `refs` whose refs may keep a commit.
pub(crate) const KEEPING: [&str; 3] = ["heads", "remotes", "tags"];

impl Repository {
    /// What branches, here and fetched, and tags point at, and HEAD of every worktree that can be read, by name.
    ///
    /// A commit that none of them reaches counts as rewritten or given up.
    ///
    /// # Errors
    /// When refs cannot be read.
    pub fn tips(&self) -> Result<Vec<(String, ObjectId)>> {
        let mut tips = self.branch_tips()?;
        let fetched = self.refs_under(FETCHED)?;
        if !fetched.is_empty() {
            let fetches = self.fetches();
            tips.extend(fetched.into_iter().filter(|(name, _)| is_branch_of_remote(name, &fetches)));
        }
        tips.extend(self.refs_under(TAGS)?);
        Ok(tips)
    }

    /// Those of [`Self::tips`] that are this clone's own branches or HEADs: mostly far fewer.
    ///
    /// # Errors
    /// When refs cannot be read.
    pub fn branch_tips(&self) -> Result<Vec<(String, ObjectId)>> {
        let mut tips = self.refs_under(BRANCHES)?;
        // Where StGit before its version 1 kept every version of its patches.
        tips.retain(|(name, _)| !name.ends_with(".stgit"));
        tips.extend(self.worktree_heads());
        if self.git_dir() != self.common_dir() {
            let main = self.inner.main_repo().ok().and_then(|main| Some(main.head_id().ok()?.detach()));
            tips.extend(main.map(|head| ("main worktree".to_owned(), head)));
        }
        tips.extend(self.head()?.map(|head| ("HEAD".to_owned(), head)));
        Ok(tips)
    }

    /// Whether one of [`Self::tips`] reaches `id`.
    ///
    /// # Errors
    /// When refs or commits cannot be read.
    pub fn is_reached(&self, id: ObjectId) -> Result<bool> {
        let mut tips: Vec<ObjectId> = self.tips()?.into_iter().map(|(_, tip)| tip).collect();
        tips.retain(|tip| self.commit_tree(*tip).is_ok());
        Ok(self.history(&tips)?.place(id).is_some())
    }

    /// The fetch refspecs of all remotes that write below `refs/remotes`.
    fn fetches(&self) -> Vec<Fetch> {
        let names =
            self.inner.remote_names().into_iter().filter_map(|name| Some(name.to_str().ok()?.to_owned()));
        let refspecs = names.flat_map(|name| self.settings(&format!("remote.{name}.fetch")));
        refspecs.filter_map(|refspec| Fetch::parse(&refspec)).collect()
    }

    /// HEAD of every linked worktree that can be read, by the worktree's name.
    fn worktree_heads(&self) -> Vec<(String, ObjectId)> {
        let worktrees = self.inner.worktrees().unwrap_or_default();
        let head = |proxy: gix::worktree::Proxy<'_>| {
            let name = format!("worktree {}", proxy.id().ok()?);
            if let Some(head) = self.head_in(proxy.git_dir()) {
                return Some((name, head));
            }
            // The library reads these to their end.
            let names = ["HEAD", "commondir", "gitdir", "config.worktree"];
            sound::ensure_short(&names.map(|name| proxy.git_dir().join(name))).ok()?;
            let repository = proxy.into_repo_with_possibly_inaccessible_worktree().ok()?;
            let id = repository.head_id().ok()?.detach();
            Some((name, id))
        };
        worktrees.into_iter().filter_map(head).collect()
    }

    /// What the file `HEAD` in `git_dir` says, where it is a commit or a branch that all worktrees share: to open a
    /// worktree takes a hundred times as long.
    fn head_in(&self, git_dir: &Path) -> Option<ObjectId> {
        if !matches!(self.ref_backend, RefBackend::Gix) {
            return None;
        }
        let head = files::read(&git_dir.join("HEAD"), files::MAX_BYTES).ok()?;
        match head.strip_prefix(b"ref: ") {
            Some(name) if name.starts_with(BRANCHES.as_bytes()) => {
                self.ref_target(name.trim_ascii().to_str().ok()?).ok()?
            }
            Some(_) => None,
            None => ObjectId::from_hex(head.trim_ascii()).ok(),
        }
    }
}

/// A fetch refspec: which refs of a remote become which refs here. Each side has one `*` or none.
struct Fetch {
    from: String,
    to: String,
}

impl Fetch {
    fn parse(refspec: &str) -> Option<Self> {
        let (from, to) = refspec.strip_prefix('+').unwrap_or(refspec).split_once(':')?;
        to.starts_with(FETCHED).then(|| Self { from: from.to_owned(), to: to.to_owned() })
    }

    /// The ref of the remote that becomes `name` here.
    fn source_of(&self, name: &str) -> Option<String> {
        let Some((before, after)) = self.to.split_once('*') else {
            return (self.to == name).then(|| self.from.clone());
        };
        let matched = name.strip_prefix(before)?.strip_suffix(after)?;
        Some(self.from.replacen('*', matched, 1))
    }
}

/// Whether `name`, a ref below `refs/remotes`, is a branch of a remote.
///
/// Of several refspecs that may have brought it, the one that says most decides: next to all branches, people
/// have pull requests fetched to a place below them.
fn is_branch_of_remote(name: &str, fetches: &[Fetch]) -> bool {
    let sources = fetches.iter().filter_map(|fetch| Some((fetch.to.len(), fetch.source_of(name)?)));
    let is_branch = |source: &str| match source.strip_prefix(BRANCHES) {
        Some(branch) => !is_named_as_request(branch),
        None => !source.starts_with("refs/"),
    };
    let best = sources.map(|(n_told, source)| (n_told, is_branch(&source))).max();
    best.is_some_and(|(_, is_branch)| is_branch)
}

/// What directories of fetched requests are called.
const REQUESTS: [&str; 8] = ["pr", "prs", "pull", "pulls", "mr", "mrs", "merge-requests", "changes"];

/// Whether a ref is named as people name requests that they fetch once, which no refspec knows: `pr/123/head`.
fn is_named_as_request(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_commit = |part: &str| 40 <= part.len() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.windows(2).any(|pair| REQUESTS.contains(&pair[0]) && (is_number(pair[1]) || is_commit(pair[1])))
}

#[cfg(test)]
mod tests {
    use testkit::TestRepo;

    use super::*;

    #[test]
    fn only_branches_of_a_remote_are_branches() {
        let fetches: Vec<Fetch> = [
            "+refs/heads/*:refs/remotes/origin/*",
            "+refs/pull/*/head:refs/remotes/origin/pull-requests/*",
            "+refs/merge-requests/*:refs/remotes/origin/merges/*",
            "refs/heads/main:refs/remotes/fork/main",
            "release:refs/remotes/fork/release",
            "+refs/*:refs/remotes/mirror/*",
            "^refs/heads/secret",
            "+refs/notes/*:refs/notes/remotes/origin/*",
        ]
        .iter()
        .filter_map(|refspec| Fetch::parse(refspec))
        .collect();
        let is_branch = |name: &str| is_branch_of_remote(&format!("refs/remotes/{name}"), &fetches);
        for branch in [
            "origin/HEAD",
            "origin/main",
            "origin/ada/pr/parser",
            "origin/pr/first",
            "fork/main",
            "fork/release",
            "mirror/heads/main",
        ] {
            assert!(is_branch(branch), "{branch}");
        }
        for other in [
            "origin/pull-requests/12",
            "origin/merges/12/head",
            "origin/pr/12",
            "origin/pr/12/head",
            "origin/ada/merge-requests/7/merge",
            "fork/topic",
            "mirror/pull/12/head",
            "mirror/changes/34/1234/1",
            "gone/main",
        ] {
            assert!(!is_branch(other), "{other}");
        }
    }

    #[test]
    fn records_of_tools_keep_no_commit() {
        let repo = TestRepo::new();
        repo.write("a.rs", "fn a() {}\n");
        repo.commit("base");
        repo.git(&["remote", "add", "origin", "https://example.org/a.git"]);
        let old = repo.git(&["commit-tree", "-p", "HEAD", "-m", "old", "HEAD^{tree}"]).trim().to_owned();
        let open = || Repository::discover(repo.path(), jiff::Timestamp::UNIX_EPOCH).unwrap();
        let id = ObjectId::from_hex(old.as_bytes()).unwrap();
        for name in [
            "refs/original/refs/heads/main",
            "refs/stash",
            "refs/patches/topic/fix",
            "refs/stacks/topic",
            "refs/branchless/1",
            "refs/changes/34/1234/1",
            "refs/jj/keep/1",
            "refs/pull/12/head",
            "refs/remotes/origin/pr/12/head",
            "refs/remotes/elsewhere/topic",
            "refs/notes/other",
        ] {
            repo.git(&["update-ref", name, &old]);
            assert!(!open().is_reached(id).unwrap(), "{name}");
            repo.git(&["update-ref", "-d", name]);
        }
        for name in ["refs/heads/topic", "refs/tags/v1", "refs/remotes/origin/topic"] {
            repo.git(&["update-ref", name, &old]);
            assert!(open().is_reached(id).unwrap(), "{name}");
            repo.git(&["update-ref", "-d", name]);
        }
        assert!(!open().is_reached(id).unwrap());
        repo.git(&["worktree", "add", "--quiet", "--detach", "../linked", &old]);
        assert!(open().is_reached(id).unwrap(), "HEAD of a worktree");
    }
}
