//! What can go wrong with a repository.

use std::path::PathBuf;

use gix::ObjectId;
use snafu::Snafu;

/// What can go wrong with a repository.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum GitError {
    /// No repository here or above.
    #[snafu(display("not in a git repository: `{}`", path.display()))]
    NotARepository {
        /// Where it was looked for.
        path: PathBuf,
        /// What gix says.
        #[snafu(source(from(gix::Error, Box::new)))]
        source: Box<gix::Error>,
    },
    /// A repository that belongs to someone else, and that `safe.directory` does not name.
    #[snafu(display("detected dubious ownership in repository at `{}`", path.display()))]
    DubiousOwnership {
        /// The repository, as `safe.directory` would name it.
        path: PathBuf,
    },
    /// A bare repository that was only found, where `safe.bareRepository` forbids that.
    #[snafu(display("cannot use bare repository `{}` (safe.bareRepository is `explicit`)", path.display()))]
    ForbiddenBare {
        /// The repository.
        path: PathBuf,
    },
    /// A repository that git does not agree to work in for another reason.
    #[snafu(display("the repository at `{}` is not trusted: {reason}", path.display()))]
    Distrusted {
        /// The repository.
        path: PathBuf,
        /// What git says.
        reason: String,
    },
    /// A repository that puts its working tree at another place than where it was found.
    #[snafu(display("the repository at `{}` names a working tree elsewhere: `{}`", git_dir.display(), work_tree.display()))]
    WorkTreeElsewhere {
        /// The git directory.
        git_dir: PathBuf,
        /// What `core.worktree` says.
        work_tree: PathBuf,
    },
    /// A small file of the git directory that cannot be what git wrote.
    #[snafu(display("`{}` is broken: {reason}", path.display()))]
    BrokenFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A symbolic link in the git directory, where only a file or folder of ours or git's is expected.
    #[snafu(display("`{}` is a symbolic link, which may lead out of the repository", path.display()))]
    Linked {
        /// The link.
        path: PathBuf,
    },
    /// HEAD points at a branch without commits.
    #[snafu(display("the repository has no commits yet"))]
    NoCommits,
    /// A revision that names no commit.
    #[snafu(display("unknown revision `{}`: it names no commit", revision.escape_debug()))]
    UnknownRevision {
        /// What was given.
        revision: String,
    },
    /// A file that this partial clone lacks and its remote has.
    #[snafu(display("the content of `{path}` is not in this partial clone"))]
    Promised {
        /// The file.
        path: bstr::BString,
        /// Its blob.
        id: ObjectId,
    },
    /// An object that is missing or broken.
    #[snafu(display("cannot read object {id}"))]
    Object {
        /// The object.
        id: ObjectId,
        /// What gix says.
        #[snafu(source(from(gix::Error, Box::new)))]
        source: Box<gix::Error>,
    },
    /// An object that cannot be written.
    #[snafu(display("cannot write to the repository's objects"))]
    WriteObject {
        /// What gix says.
        #[snafu(source(from(gix::Error, Box::new)))]
        source: Box<gix::Error>,
    },
    /// A ref that cannot be read.
    #[snafu(display("cannot read `{name}`"))]
    ReadRef {
        /// The ref.
        name: String,
        /// What gix says.
        #[snafu(source(from(gix::Error, Box::new)))]
        source: Box<gix::Error>,
    },
    /// A notes ref that does not point at a commit.
    #[snafu(display("`{name}` does not point at a commit, so no note can be added to it"))]
    NotANotesRef {
        /// The ref.
        name: String,
    },
    /// A notes ref that stands for a branch, which notes would be written to.
    #[snafu(display("`{name}` points to `{target}`, which isn't a ref of notes, so nothing was written"))]
    StandsForBranch {
        /// The ref.
        name: String,
        /// What it stands for.
        target: String,
    },
    /// A notes ref whose tree is larger than any tree of notes.
    #[snafu(display("the tree of `{name}` is too large to be one of notes"))]
    EndlessNotes {
        /// The ref.
        name: String,
    },
    /// A remote that is not configured.
    #[snafu(display("there is no remote `{}`", name.escape_debug()))]
    UnknownRemote {
        /// As it was given.
        name: String,
    },
    /// A remote that does not give what it is asked for.
    #[snafu(display("cannot fetch from `{}`: {reason}", remote.escape_debug()))]
    Fetch {
        /// The remote.
        remote: String,
        /// What git says.
        reason: String,
    },
    /// A remote for which git would use another address than its configuration says.
    #[snafu(display("git would contact {} for `{}`, whose address is {}", other.escape_debug(), remote.escape_debug(), meant.escape_debug()))]
    OtherAddress {
        /// The remote.
        remote: String,
        /// Where it is.
        meant: String,
        /// Where git would go.
        other: String,
    },
    /// A remote that does not take what it is given.
    #[snafu(display("`{}` does not take `{name}`: {reason}", remote.escape_debug()))]
    Rejected {
        /// The remote.
        remote: String,
        /// The ref.
        name: String,
        /// What it says.
        reason: String,
    },
    /// A ref that git did not update.
    #[snafu(display("cannot update `{name}`"))]
    UpdateRef {
        /// The ref.
        name: String,
        /// What git says.
        #[snafu(source(from(GitError, Box::new)))]
        source: Box<GitError>,
    },
    /// A ref that kept changing under us.
    #[snafu(display("cannot update `{name}`: others changed it each time"))]
    RefMoved {
        /// The ref.
        name: String,
    },
    /// A ref whose lock someone else holds.
    #[snafu(display("cannot update `{name}`: another process holds `{}`{}", path.display(), since(path)))]
    RefLocked {
        /// The ref.
        name: String,
        /// The lock.
        path: PathBuf,
    },
    /// A remote to which others kept pushing.
    #[snafu(display("cannot push to `{}`: {reason}", remote.escape_debug()))]
    Outrun {
        /// The remote.
        remote: String,
        /// What the remote said at the last attempt.
        reason: String,
    },
    /// A ref that the system does not let us write.
    #[snafu(display("cannot write `{name}`"))]
    WriteRef {
        /// The ref.
        name: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A lock of ours that another process of ours holds for too long.
    #[snafu(display("another process{} holds `{}`", holder.map_or_else(String::new, |id| format!(" ({id})")), path.display()))]
    Locked {
        /// The lock.
        path: PathBuf,
        /// The id of the process, as far as the system tells.
        holder: Option<u32>,
    },
    /// A file system that has no locks.
    #[snafu(display(
        "cannot lock `{}`: its file system has no locks (one over a network may be mounted without them); keep the \
         repository where locks work", path.display()
    ))]
    NoLocks {
        /// The lock.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A lock of git's that someone holds for too long.
    #[snafu(display("another process holds `{}`{}", path.display(), since(path)))]
    FileLocked {
        /// The lock.
        path: PathBuf,
    },
    /// A file that cannot be read or written.
    #[snafu(display("cannot access `{}`", path.display()))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A bare repository, where files of a working tree are needed.
    #[snafu(display("the repository has no working tree"))]
    NoWorkTree,
    /// An index that cannot be read.
    #[snafu(display("cannot read the index"))]
    ReadIndex {
        /// What gix says.
        #[snafu(source(from(gix::Error, Box::new)))]
        source: Box<gix::Error>,
    },
    /// Two commits without a common ancestor.
    #[snafu(display("{left} and {right} have no common ancestor"))]
    NoMergeBase {
        /// The one.
        left: ObjectId,
        /// The other.
        right: ObjectId,
    },
    /// An object of notes that is another one than its id says: somebody put it there, or a replacement for it.
    #[snafu(display("object {id} of the notes is not what its id says; this repository was tampered with"))]
    Forged {
        /// The object.
        id: ObjectId,
    },
    /// A `git` process that failed.
    #[snafu(display("`git {command}` failed: {stderr}"))]
    Process {
        /// Its first arguments.
        command: String,
        /// What it said.
        stderr: String,
    },
}

pub(crate) type Result<T, E = GitError> = std::result::Result<T, E>;

/// How long a lock has been there, as far as its file tells.
fn since(lock: &std::path::Path) -> String {
    crate::disk::temporary::age(lock).map_or_else(String::new, |age| format!(", for {} s", age.as_secs()))
}

impl GitError {
    /// Whether it says that a ref holds no notes: it is passed over then, where there are others.
    #[must_use]
    pub fn is_no_notes(&self) -> bool {
        matches!(self, Self::NotANotesRef { .. } | Self::EndlessNotes { .. })
    }
}
