//! Why a question has no answer.

use std::{io::ErrorKind, path::PathBuf};

use chronicle_commits::{CommitsError, input::InputError};
use chronicle_core::{LineRange, counted, trim::BudgetTooSmall};
use chronicle_git::GitError;
use chronicle_llm::ModelError;
use chronicle_search::StoreError;
use chronicle_share::ShareError;
use snafu::Snafu;

use crate::code::Code;

/// Why a question has no answer.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub))]
#[non_exhaustive]
pub enum Error {
    /// Something with the repository.
    #[snafu(transparent)]
    Git {
        /// What it is.
        source: GitError,
    },
    /// Something with the annotations.
    #[snafu(transparent)]
    Commits {
        /// What it is.
        source: CommitsError,
    },
    /// Input that cannot be stored.
    #[snafu(transparent)]
    Input {
        /// What it is.
        source: InputError,
    },
    /// Something with the store of session memory.
    #[snafu(transparent)]
    Store {
        /// What it is.
        source: StoreError,
    },
    /// Something with a store that machines share.
    #[snafu(transparent)]
    Share {
        /// What it is.
        source: ShareError,
    },
    /// A machine that belongs to no others.
    #[snafu(display("this machine isn't paired with another one"))]
    NotPaired,
    /// Machines that cannot exchange.
    #[snafu(display("{reason}"))]
    RefusedPair {
        /// Why not.
        reason: &'static str,
    },
    /// Another machine that does not answer.
    #[snafu(display("`{}` didn't answer", host.escape_debug()))]
    MachineUnreachable {
        /// As it was given.
        host: String,
    },
    /// A record of the pairing that cannot be read.
    #[snafu(display("`{}` cannot be read: {reason}", path.display()))]
    DamagedSyncRecord {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Nothing is shared from here.
    #[snafu(display("nothing is shared from this machine"))]
    NotSharing,
    /// Nothing that others share ever came here.
    #[snafu(display("there is no copy of what is shared on this machine yet"))]
    NothingPulled,
    /// A place where nothing can be shared.
    #[snafu(display("nothing can be shared at `{}`: {reason}", url.escape_debug()))]
    RefusedShare {
        /// As it was given.
        url: String,
        /// Why not.
        reason: &'static str,
    },
    /// Another store than the one that was meant.
    #[snafu(display("{url} holds a different store from the one this machine uses"))]
    OtherShare {
        /// Where it is.
        url: String,
    },
    /// A store that went back.
    #[snafu(display("the shared store at {url} is at version {version}, and {seen} was seen before"))]
    ShareOlder {
        /// Where it is.
        url: String,
        /// The version that it has now.
        version: u64,
        /// The newest that was seen.
        seen: u64,
    },
    /// A copy of what is shared that cannot be read.
    #[snafu(display("the copy of what is shared on this machine is damaged: {reason}"))]
    DamagedShareCopy {
        /// What is wrong.
        reason: String,
    },
    /// A record of what may go out that cannot be read.
    #[snafu(display("`{}` cannot be read: {reason}", path.display()))]
    DamagedShareRecord {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No model to ask.
    #[snafu(display("{reason}"))]
    NoModel {
        /// Why not, and what to set.
        reason: String,
    },
    /// A model that does not answer.
    #[snafu(transparent)]
    Model {
        /// What it is.
        source: ModelError,
    },
    /// A model that takes too little at once.
    #[snafu(display("a context of {tokens} tokens leaves no room for a diff"))]
    ContextTooSmall {
        /// The context.
        tokens: u64,
    },
    /// Nowhere to keep session memory.
    #[snafu(display("there is no home directory to keep session memory in"))]
    NoHome,
    /// A home of session memory that a repository may have had set.
    #[snafu(display("{variable} names `{}`, which is in a repository or depends on where this runs; session memory is not kept there", home.display()))]
    HomeInRepository {
        /// The folder.
        home: PathBuf,
        /// The variable.
        variable: &'static str,
    },
    /// A home of session memory that another account of the machine may write in and read.
    #[snafu(display("`{}` belongs to another account; session memory is not kept there", home.display()))]
    HomeOfAnother {
        /// The folder.
        home: PathBuf,
    },
    /// A record of what the user allowed that cannot be read.
    #[snafu(display("`{}` cannot be read: {reason}", path.display()))]
    DamagedRecord {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A project that session memory does not know.
    #[snafu(display("session memory has no project `{}`{}", name.escape_debug(), offered(closest)))]
    UnknownProject {
        /// As it was given.
        name: String,
        /// The names that come closest.
        closest: Vec<String>,
    },
    /// A session that session memory does not know, or more than one.
    #[snafu(display("{reason}"))]
    UnknownSession {
        /// Why not.
        reason: String,
    },
    /// A session that nothing goes on with.
    #[snafu(display("this session cannot be continued: {reason}"))]
    NotResumable {
        /// Why not.
        reason: String,
    },
    /// A thread that session memory does not know, or more than one.
    #[snafu(display("{reason}"))]
    UnknownThread {
        /// Why not.
        reason: String,
    },
    /// Something learned that nobody knows, or more than one.
    #[snafu(display("{reason}"))]
    UnknownSubject {
        /// Why not.
        reason: String,
    },
    /// A thread that is as it was to be already.
    #[snafu(display("{reason}"))]
    NothingToDo {
        /// Why.
        reason: String,
    },
    /// A thread without words.
    #[snafu(display("the thread is empty; say what is to be done"))]
    EmptySummary,
    /// A block that there is none of.
    #[snafu(display("there is no block `{}`{}", label.escape_debug(), closest.as_ref().map(|closest| format!("; did you mean `{closest}`?")).unwrap_or_default()))]
    NoBlock {
        /// As it was given.
        label: String,
        /// The nearest that there is.
        closest: Option<String>,
    },
    /// Something that a block does not allow.
    #[snafu(display("{reason}"))]
    RefusedBlock {
        /// Why not.
        reason: String,
    },
    /// A text that a block has no room for.
    #[snafu(display("the text has {n_characters} characters, and `{label}` may have {limit}"))]
    BlockTooLong {
        /// The block.
        label: String,
        /// How many it may have.
        limit: usize,
        /// How many it would have.
        n_characters: usize,
    },
    /// A block that the user changed elsewhere meanwhile.
    #[snafu(display("`{label}` was changed by hand since it was opened"))]
    BlockChanged {
        /// The block.
        label: String,
    },
    /// A briefing that nothing fits into.
    #[snafu(display("--budget {budget} is too small for any briefing; the least is {least}"))]
    BriefTooLong {
        /// What was asked for.
        budget: usize,
        /// What would fit.
        least: usize,
    },
    /// Neither a date nor a span of time.
    #[snafu(display("`{}` is neither a date nor a span of time", text.escape_debug()))]
    NotAMoment {
        /// As it was given.
        text: String,
    },
    /// Not a period of days.
    #[snafu(display("`{}` isn't a period; use day, yesterday, week, month, 2026-03-09, 2026-W11, 2026-03 or 2026-03-01..2026-03-09", text.escape_debug()))]
    NotAPeriod {
        /// As it was given.
        text: String,
    },
    /// A question without words to look for.
    #[snafu(display("{reason}"))]
    EmptyQuestion {
        /// Why not.
        reason: &'static str,
    },
    /// A path that was never in the repository.
    #[snafu(display("File not found: {path}. Does it exist at HEAD?"))]
    FileNotFound {
        /// As it was given.
        path: String,
    },
    /// A path in another repository inside the working tree.
    #[snafu(display("`{path}` is in `{submodule}`, a repository of its own"))]
    InSubmodule {
        /// The path, from the root.
        path: String,
        /// The part of it that is the other repository.
        submodule: String,
    },
    /// A path that leads out of the repository.
    #[snafu(display("`{path}` is outside the repository"))]
    OutsideRepository {
        /// As it was given.
        path: String,
    },
    /// A name of code without the one file that it is in.
    #[snafu(display("`{anchor}` isn't a file; to name an item of code, put its file before it"))]
    AnchorNeedsOneFile {
        /// As it was given.
        anchor: String,
    },
    /// Lines and a name of code at once.
    #[snafu(display("--lines and an anchor exclude each other"))]
    LinesWithAnchor,
    /// A name that no item of the file has.
    #[snafu(display("`{anchor}` names nothing in `{path}`{}", offered(closest)))]
    UnknownAnchor {
        /// As it was given.
        anchor: String,
        /// The file.
        path: String,
        /// The names that come closest.
        closest: Vec<String>,
    },
    /// A directory where one file is needed.
    #[snafu(display("`{path}` is a directory; name one file"))]
    NotOneFile {
        /// As it was given.
        path: String,
    },
    /// A file without the line that was asked for.
    #[snafu(display("name a line, as in `{path}:12`"))]
    LineMissing {
        /// As it was given.
        path: String,
    },
    /// A file that is in no commit.
    #[snafu(display(
        "`{path}` is {}, so no commit wrote it",
        if *is_staged { "staged and was never committed" } else { "not tracked" }
    ))]
    NotTracked {
        /// As it was given.
        path: String,
        /// Whether it is staged.
        is_staged: bool,
    },
    /// A file that is gone, where its lines are needed.
    #[snafu(display("`{path}` is gone; it has no lines now"))]
    FileGone {
        /// As it was called last.
        path: String,
    },
    /// Input that is no diff.
    #[snafu(display("the input isn't a unified diff: {reason}"))]
    NotADiff {
        /// What the parser says.
        reason: String,
    },
    /// Lines past the end of the file.
    #[snafu(display("Line range {lines} exceeds file length ({n_lines} lines)"))]
    LinesPastEnd {
        /// What was asked for.
        lines: LineRange,
        /// How many there are.
        n_lines: u32,
    },
    /// Lines of several files, or of a directory.
    #[snafu(display("--lines needs exactly one file"))]
    LinesNeedOneFile,
    /// Neither a date nor a revision.
    #[snafu(display("--since `{text}` is neither an ISO 8601 date nor a revision"))]
    InvalidSince {
        /// As it was given.
        text: String,
    },
    /// A budget that nothing fits into.
    #[snafu(transparent)]
    Budget {
        /// What would fit.
        source: BudgetTooSmall,
    },
    /// An annotation without a summary.
    #[snafu(display("the annotation has no summary; say why this approach was taken"))]
    NoSummary,
    /// A message that is to speak for the user, of a commit that somebody else wrote.
    #[snafu(display("{} wrote the message of {commit}, by the name and the address in it, so it does not say what you say", author.escape_debug()))]
    NotYourCommit {
        /// The commit.
        commit: String,
        /// Its author.
        author: String,
    },
    /// A message that git made of those of other commits.
    #[snafu(display("git composed the message of commit {commit} from the messages of other commits"))]
    NotYourWords {
        /// The commit.
        commit: String,
    },
    /// A remark without words.
    #[snafu(display("the remark is empty"))]
    EmptyRemark,
    /// A context that says nothing.
    #[snafu(display("there is no context for the next commit"))]
    EmptyContext,
    /// A flag without a reason.
    #[snafu(display("the reason is empty; say what is wrong"))]
    EmptyReason,
    /// A correction of nothing, or by nothing.
    #[snafu(display("the value is empty"))]
    EmptyValue,
    /// Notes that another program dropped are not back: an id may mean one of them.
    #[snafu(display("another program dropped {}, so it is not certain what is meant", counted(*n_notes, "note")))]
    NotesDropped {
        /// How many.
        n_notes: usize,
    },
    /// Nothing that could be corrected.
    #[snafu(display("{reason}"))]
    NoClaim {
        /// Why not.
        reason: String,
    },
    /// An id that names nothing of the repository's knowledge.
    #[snafu(display("no item of the repository's knowledge has the id `{}`", id.escape_debug()))]
    NoKnowledge {
        /// As it was given.
        id: String,
    },
    /// Not a time.
    #[snafu(display("`{}` is neither an RFC 3339 time nor a date", text.escape_debug()))]
    NotATime {
        /// As it was given.
        text: String,
    },
    /// A schema that there is none of.
    #[snafu(display("there is no schema `{name}`; did you mean `{nearest}`?"))]
    UnknownSchema {
        /// As it was given.
        name: String,
        /// The nearest that there is.
        nearest: &'static str,
    },
    /// A setting that there is none of.
    #[snafu(display("there is no setting `{name}`; did you mean `{nearest}`?"))]
    UnknownSetting {
        /// As it was given.
        name: String,
        /// The nearest that there is.
        nearest: &'static str,
    },
    /// A value that makes no sense.
    #[snafu(display("`{value}` cannot be the value of `{name}`: expected {expected}"))]
    InvalidSetting {
        /// The setting.
        name: &'static str,
        /// As it was given.
        value: String,
        /// What would make sense.
        expected: &'static str,
    },
    /// A remote to which git pushes at another address than it fetches from, which the user did not name.
    #[snafu(display("notes for `{remote}` would go to {url}, which is not the address that you enabled"))]
    PushedElsewhere {
        /// The remote.
        remote: String,
        /// Where git would push to.
        url: String,
    },
    /// No remote to exchange notes with.
    #[snafu(display("the repository has no remote"))]
    NoRemote,
    /// Several remotes, none of which is the one to take.
    #[snafu(display("there are several remotes: {}; name one", names.join(", ")))]
    SeveralRemotes {
        /// Their names.
        names: Vec<String>,
    },
    /// An input file that cannot be read.
    #[snafu(display("cannot read `{}`", path.display()))]
    ReadInput {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// An output file that cannot be written.
    #[snafu(display("cannot write `{}`", path.display()))]
    WriteOutput {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A hook or a configuration that cannot be read or written.
    #[snafu(display("cannot change `{}`", path.display()))]
    WriteHook {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A temporary directory that cannot be made.
    #[snafu(display("cannot make a temporary directory"))]
    TemporaryDirectory {
        /// What the system says.
        source: std::io::Error,
    },
}

impl Error {
    /// The error's code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Git { source } | Self::Commits { source: CommitsError::Git { source } } => git_code(source),
            Self::Commits { source } => commits_code(source),
            Self::Input { source } => match source {
                InputError::TooLarge => Code::InputTooLarge,
                InputError::Empty => Code::InputEmpty,
                InputError::NotText { .. } | InputError::Syntax { .. } => Code::InvalidJson,
                InputError::Shape { .. } => Code::InvalidInput,
                InputError::NoWords { .. } => Code::EmptyValue,
            },
            Self::Store { source } => store_code(source),
            Self::Share { source } => share_code(source),
            Self::NotPaired => Code::NotPaired,
            Self::RefusedPair { .. } => Code::PairRefused,
            Self::MachineUnreachable { .. } => Code::MachineUnreachable,
            Self::DamagedSyncRecord { .. } => Code::SyncRecordDamaged,
            Self::NotSharing => Code::NotSharing,
            Self::NothingPulled => Code::NothingPulled,
            Self::RefusedShare { .. } => Code::InvalidShare,
            Self::OtherShare { .. } => Code::OtherSharedStore,
            Self::ShareOlder { .. } => Code::SharedStoreOlder,
            Self::DamagedShareCopy { .. } => Code::ShareCopyDamaged,
            Self::DamagedShareRecord { .. } => Code::ShareRecordDamaged,
            Self::NoModel { .. } => Code::NoModel,
            Self::Model { source } => model_code(source),
            Self::ContextTooSmall { .. } => Code::ContextTooSmall,
            Self::HomeInRepository { .. } => Code::HomeInRepository,
            Self::HomeOfAnother { .. } => Code::HomeOfAnother,
            Self::DamagedRecord { .. } => Code::DamagedRecord,
            Self::NoHome => Code::NoHome,
            Self::UnknownProject { .. } => Code::UnknownProject,
            Self::UnknownSession { .. } => Code::UnknownSession,
            Self::NotResumable { .. } => Code::NotResumable,
            Self::UnknownThread { .. } => Code::UnknownThread,
            Self::UnknownSubject { .. } => Code::UnknownSubject,
            Self::NothingToDo { .. } => Code::NothingToDo,
            Self::NoBlock { .. } => Code::NoBlock,
            Self::RefusedBlock { .. } => Code::BlockRefused,
            Self::BlockTooLong { .. } => Code::BlockTooLong,
            Self::BlockChanged { .. } => Code::BlockChanged,
            Self::BriefTooLong { .. } => Code::BudgetTooSmall,
            Self::NotAMoment { .. } => Code::InvalidSince,
            Self::NotAPeriod { .. } => Code::InvalidPeriod,
            Self::EmptyQuestion { .. } => Code::EmptyQuestion,
            Self::FileNotFound { .. } => Code::FileNotFound,
            Self::InSubmodule { .. } => Code::InSubmodule,
            Self::OutsideRepository { .. } => Code::OutsideRepository,
            Self::AnchorNeedsOneFile { .. } => Code::AnchorNeedsOneFile,
            Self::LinesWithAnchor => Code::Usage,
            Self::UnknownAnchor { .. } => Code::UnknownAnchor,
            Self::NotOneFile { .. } => Code::NotOneFile,
            Self::LineMissing { .. } => Code::LineMissing,
            Self::NotTracked { .. } => Code::NotTracked,
            Self::FileGone { .. } => Code::FileGone,
            Self::NotADiff { .. } => Code::NotADiff,
            Self::LinesPastEnd { .. } => Code::LinesOutOfBounds,
            Self::LinesNeedOneFile => Code::LinesNeedOneFile,
            Self::InvalidSince { .. } => Code::InvalidSince,
            Self::Budget { .. } => Code::BudgetTooSmall,
            Self::NoSummary => Code::NoSummary,
            Self::NotYourCommit { .. } => Code::NotYourCommit,
            Self::NotYourWords { .. } => Code::NotYourWords,
            Self::EmptyRemark => Code::EmptyRemark,
            Self::EmptyContext => Code::EmptyContext,
            Self::EmptyReason | Self::EmptyValue | Self::EmptySummary => Code::EmptyValue,
            Self::NoClaim { .. } => Code::NoClaim,
            Self::NotesDropped { .. } => Code::NotesDropped,
            Self::NoKnowledge { .. } => Code::NoKnowledge,
            Self::NotATime { .. } => Code::InvalidTime,
            Self::UnknownSchema { .. } => Code::UnknownSchema,
            Self::UnknownSetting { .. } => Code::UnknownSetting,
            Self::InvalidSetting { .. } => Code::InvalidSetting,
            Self::NoRemote => Code::NoRemote,
            Self::PushedElsewhere { .. } => Code::PushedElsewhere,
            Self::SeveralRemotes { .. } => Code::Usage,
            Self::ReadInput { .. } => Code::InputUnreadable,
            Self::WriteHook { .. } => Code::HookNotWritten,
            Self::WriteOutput { .. } | Self::TemporaryDirectory { .. } => Code::Io,
        }
    }
}

impl Error {
    /// Whether another process held a lock, or was faster each time: the same can succeed later.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        [Code::Locked, Code::LockedByGit, Code::Contended].contains(&self.code())
    }

    /// What git advises against this very error, if it does.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let (Self::Git { source } | Self::Commits { source: CommitsError::Git { source } }) = self else {
            return None;
        };
        match source {
            GitError::DubiousOwnership { path } => {
                let path = quoted(&path.to_string_lossy());
                Some(format!("if you trust it: `git config --global --add safe.directory {path}`"))
            }
            GitError::WorkTreeElsewhere { git_dir, .. } => {
                let git_dir = quoted(&git_dir.to_string_lossy());
                Some(format!("if you trust it: `GIT_DIR={git_dir} git chronicle …`"))
            }
            _ => None,
        }
    }
}

/// A word for a shell, in quotes where it needs them.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,:=@".contains(letter);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// `; did you mean …?`, when there is anything to offer.
fn offered(closest: &[String]) -> String {
    let names: Vec<String> = closest.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!("; closest are {}", names.join(", ")) }
}

fn git_code(error: &GitError) -> Code {
    match error {
        GitError::NotARepository { .. } => Code::NotARepository,
        GitError::DubiousOwnership { .. } => Code::DubiousOwnership,
        GitError::ForbiddenBare { .. } | GitError::Distrusted { .. } | GitError::WorkTreeElsewhere { .. } => {
            Code::UntrustedRepository
        }
        GitError::BrokenFile { .. } => Code::BrokenRepository,
        GitError::Linked { .. } => Code::Linked,
        GitError::NoCommits => Code::NoCommits,
        GitError::NoWorkTree => Code::NoWorkTree,
        GitError::Promised { .. } => Code::NotFetched,
        GitError::NoMergeBase { .. } => Code::NoMergeBase,
        GitError::UnknownRevision { .. } => Code::UnknownRevision,
        GitError::NotANotesRef { .. } | GitError::EndlessNotes { .. } | GitError::StandsForBranch { .. } => {
            Code::NotANotesRef
        }
        GitError::UnknownRemote { .. } => Code::UnknownRemote,
        GitError::OtherAddress { .. } => Code::OtherAddress,
        GitError::Forged { .. } => Code::ForgedObject,
        GitError::Fetch { .. } => Code::FetchFailed,
        GitError::Rejected { .. } => Code::PushRejected,
        GitError::UpdateRef { .. } | GitError::RefMoved { .. } | GitError::Outrun { .. } => Code::Contended,
        GitError::RefLocked { .. } | GitError::FileLocked { .. } => Code::LockedByGit,
        GitError::Locked { .. } => Code::Locked,
        GitError::WriteObject { .. } | GitError::WriteRef { .. } => Code::WriteFailed,
        GitError::Io { source, .. }
            if matches!(source.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::StorageFull) =>
        {
            Code::WriteFailed
        }
        GitError::Io { .. } | GitError::NoLocks { .. } => Code::Io,
        _ => Code::Git,
    }
}

fn model_code(error: &ModelError) -> Code {
    match error {
        ModelError::Unusable { .. } => Code::ModelUnusable,
        ModelError::Unreachable { .. } => Code::ModelUnreachable,
        ModelError::Refused { .. } => Code::ModelRefused,
        ModelError::TooDear { .. } => Code::TooDear,
        ModelError::Exhausted { .. } => Code::LimitOfCommit,
        ModelError::NoAccount { .. } => Code::NoAccount,
        ModelError::Cancelled => Code::Cancelled,
        ModelError::BrokenOff { .. } | ModelError::TooSlow { .. } | ModelError::Unreadable { .. } => {
            Code::NoReply
        }
    }
}

fn commits_code(error: &CommitsError) -> Code {
    match error {
        CommitsError::UnknownEntry { .. } => Code::UnknownEntry,
        CommitsError::NothingToReplaceWith { .. } => Code::NothingToReplaceWith,
        CommitsError::NotYourSummary { .. } => Code::NotYourSummary,
        CommitsError::NoSummary => Code::NoSummaryToReplace,
        CommitsError::RemoteHoldsPurged { .. } => Code::RemoteHoldsPurged,
        CommitsError::WantedGone { .. } => Code::WantedGone,
        CommitsError::Unvouched { .. } => Code::Unvouched,
        CommitsError::NoteTooLarge { .. } => Code::NoteTooLarge,
        CommitsError::AmbiguousId { .. } => Code::SeveralClaims,
        CommitsError::NothingToPurge { .. } => Code::NoClaim,
        CommitsError::UnreadableKnowledge { .. } => Code::UnreadableKnowledge,
        CommitsError::BadLine { .. } => Code::InvalidLine,
        CommitsError::ReadLines { .. } => Code::InputUnreadable,
        CommitsError::WriteLines { .. } => Code::Io,
        CommitsError::UnreadableStaging { .. } => Code::UnreadableStaging,
        CommitsError::WriteStaging { .. } => Code::WriteFailed,
        CommitsError::Git { source } => git_code(source),
        CommitsError::Facts { .. } => Code::Io,
    }
}

fn store_code(error: &StoreError) -> Code {
    match error {
        StoreError::Folder { .. } => Code::StoreFolder,
        StoreError::TooNew { .. } => Code::StoreTooNew,
        StoreError::Damaged { .. } => Code::StoreDamaged,
        StoreError::Full { .. } => Code::StoreFull,
        StoreError::ReadOnly { .. } => Code::StoreReadOnly,
        StoreError::Busy { .. } => Code::StoreBusy,
        StoreError::Failed { .. } => Code::StoreFailed,
    }
}

fn share_code(error: &ShareError) -> Code {
    match error {
        ShareError::NotBuilt => Code::ShareNotBuilt,
        ShareError::NoStore { .. } => Code::NoSharedStore,
        ShareError::Unreachable { .. } => Code::ShareUnreachable,
        ShareError::Refused { .. } => Code::ShareRefused,
        ShareError::Busy { .. } => Code::ShareBusy,
        ShareError::Damaged { .. } => Code::ShareDamaged,
        ShareError::TooNew { .. } => Code::ShareTooNew,
    }
}
