//! The codes of errors, from which hints, exit codes and `docs/reference/errors.md` are derived.

use std::fmt;

use serde::{Serialize, Serializer};

/// What an exit code says: the command cannot do what was asked, or was asked in a wrong way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Cannot,
    Wrong,
}

/// Makes the codes of rows: a name here, the lasting name in JSON, how the command ends, when it comes, and a hint.
macro_rules! codes {
    ($($variant:ident, $name:literal, $ends:ident, $when:literal, $hint:expr;)*) => {
        /// A short, lasting name for a kind of error: the `code` of errors in JSON.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $when] $variant,)*
        }

        impl Code {
            /// All codes, those with a common cause next to each other.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name, as it is in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// When the error comes.
            #[must_use]
            pub const fn when(self) -> &'static str {
                match self {
                    $(Self::$variant => $when,)*
                }
            }

            /// What the user can do, where that is the same each time.
            #[must_use]
            pub const fn hint(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => $hint,)*
                }
            }

            const fn ends(self) -> Ends {
                match self {
                    $(Self::$variant => Ends::$ends,)*
                }
            }
        }
    };
}

codes! {
    Usage, "usage", Wrong, "the arguments are wrong or do not go together", None;
    NotARepository, "not_a_repository", Cannot, "no repository here or above", Some("run this inside a repository, or name one with -C");
    BrokenRepository, "broken_repository", Cannot, "a small file of the git directory, such as `shallow`, cannot be what git wrote", Some("`git fsck` says what else is; a file of git's is restored or removed by hand");
    DubiousOwnership, "dubious_ownership", Cannot, "the repository belongs to another user, and `safe.directory` doesn't list it", None;
    UntrustedRepository, "untrusted_repository", Cannot, "the repository is a bare one that `safe.bareRepository` forbids, or its `core.worktree` names another folder than the one it was found in", Some("name it with GIT_DIR or `git --git-dir`, if you trust it");
    Linked, "linked", Cannot, "a file of the git directory leads elsewhere by a link", Some("look where it leads with `ls -l`; git and Chronicle make none there, so remove it");
    ForgedObject, "forged_object", Cannot, "an object is not what its id says", Some("clone it again; `git replace --list` shows whether another object replaces it");
    NoCommits, "no_commits", Cannot, "HEAD has no commits yet", Some("commit something first; Chronicle reads committed code");
    UnknownRevision, "unknown_revision", Cannot, "a revision names no commit", Some("name a commit, branch or tag; `git log` lists commits");
    FileNotFound, "file_not_found", Cannot, "a path was never in the repository", Some("paths are taken from the current directory, then from the root");
    OutsideRepository, "outside_repository", Cannot, "a path leads out of the repository", None;
    InSubmodule, "in_submodule", Cannot, "a path leads into a repository of its own inside this one", Some("ask there: `git -C DIRECTORY chronicle …`, with the path from its root");
    AnchorNeedsOneFile, "anchor_needs_one_file", Wrong, "a name of code was given without the one file that it is in", Some("paths are taken from the current directory, then from the root");
    UnknownAnchor, "unknown_anchor", Cannot, "an item is not in the file, and no note on the file mentions it; the message names the closest", Some("`git chronicle outline FILE` lists what the file has");
    NotOneFile, "not_one_file", Wrong, "a directory where one file is needed", None;
    FileGone, "file_gone", Cannot, "a file that is gone, where its lines are needed", Some("`git chronicle history FILE` shows its earlier lessons");
    NotTracked, "not_tracked", Cannot, "a file that is in no commit, where its lines are needed", Some("commit it first");
    LineMissing, "line_missing", Wrong, "`why` without a line", Some("lines are given as FILE:5-7 or FILE 5:7, an item as FILE Pool::acquire");
    NotADiff, "not_a_diff", Cannot, "the input of `check -` isn't a unified diff", None;
    NoWorkTree, "no_work_tree", Cannot, "a bare repository has no working tree to check", Some("name two commits with --diff A..B");
    NoMergeBase, "no_merge_base", Cannot, "two commits have no common ancestor", None;
    LinesOutOfBounds, "lines_out_of_bounds", Cannot, "lines past the end of the file", None;
    LinesNeedOneFile, "lines_need_one_file", Wrong, "lines without a file, of several files or of a directory", Some("name one file together with --lines");
    InvalidSince, "invalid_since", Wrong, "`--since` is neither a date nor a revision", None;
    InvalidPeriod, "invalid_period", Wrong, "a text isn't a period of days", None;
    BudgetTooSmall, "budget_too_small", Wrong, "nothing fits into the budget; the message names the least. `read` answers with the intent of one item instead", None;
    UnknownSchema, "unknown_schema", Wrong, "there is no schema of that name", None;
    InputEmpty, "input_empty", Cannot, "no input", Some("`git chronicle schema annotate-input` shows the form");
    InputTooLarge, "input_too_large", Cannot, "too much input", None;
    InputUnreadable, "input_unreadable", Cannot, "an input file that cannot be read", None;
    InvalidJson, "invalid_json", Cannot, "the input is not JSON; the message says where", Some("`git chronicle schema annotate-input` shows the form");
    InvalidInput, "invalid_input", Cannot, "it is JSON of another form; the message says where", Some("`git chronicle schema annotate-input` shows the form; nothing was stored");
    NoSummary, "no_summary", Cannot, "an annotation without a summary", Some("add \"summary\" to the JSON, or use --summary or --auto");
    EmptyRemark, "empty_remark", Cannot, "a remark without words", None;
    EmptyContext, "empty_context", Wrong, "a context without any text", Some("use --task, --reasoning, --dependencies or --tags");
    ContextTooSmall, "context_too_small", Cannot, "the model takes too little at once", Some("use a model that takes at least 8,000 tokens at once, or set chronicle.llm.tools to false for a small one");
    NotFetched, "not_fetched", Cannot, "content that a partial clone lacks and that no remote named by `sync enable` gave", Some("only remotes that `git chronicle sync enable` named are asked; if that one is, see whether it answers: `git fetch`");
    NotYourCommit, "not_your_commit", Cannot, "`annotate --auto` of a commit that, by the name and address in it, someone else wrote", Some("say in your own words why it is so, with --summary or --json");
    NotYourWords, "not_your_words", Cannot, "`annotate --auto` of a commit whose message git made of those of others: a revert, a merge, a squash, `fixup!`", Some("say in your own words why it is so, with --summary or --json");
    UnknownSetting, "unknown_setting", Wrong, "there is no setting of that name", Some("`git chronicle config list` lists the settings");
    InvalidSetting, "invalid_setting", Wrong, "a setting cannot have that value", None;
    NoPerson, "no_person", Cannot, "`allow` takes a person at a terminal", Some("run it yourself, in a terminal of your own; `git chronicle config list` shows what is ignored");
    HomeInRepository, "home_in_repository", Cannot, "`CHRONICLE_HOME` names a folder inside the repository", Some("unset it, or set it to the whole path of a folder outside of repositories");
    HomeOfAnother, "home_of_another", Cannot, "the folder of session memory belongs to another account", Some("take it over with chown, or name a folder of yours in CHRONICLE_HOME");
    DamagedRecord, "damaged_record", Cannot, "the record of what repositories may set cannot be read", Some("repair or remove the file; what it allowed is asked again");
    LimitOfCommit, "limit_of_commit", Cannot, "a commit has used the requests or tokens that one may", Some("chronicle.llm.maxRequestsPerCommit and chronicle.llm.maxTokensPerCommit are the limits");
    UnknownEntry, "unknown_entry", Cannot, "an id names no lesson", Some("`git chronicle show` lists the ids of a commit's entries");
    NoClaim, "no_claim", Cannot, "nothing that could be corrected or purged matches", Some("`git chronicle show` lists what a commit's annotation says");
    SeveralClaims, "several_claims", Cannot, "several lessons match where one is meant", Some("name one by its id");
    NoKnowledge, "no_knowledge", Cannot, "an id names no item of the repository's knowledge", Some("`git chronicle knowledge list` lists what there is");
    FilesLeftAlone, "files_left_alone", Cannot, "`setup` or `uninstall` could not change some files; the others are done", Some("each says why; fix it, then run this again: what is done stays as it is");
    NotesDropped, "notes_dropped", Cannot, "a correction or purge while notes that another program dropped are not back: what the ids meant may be among them", Some("`git chronicle reconcile` brings them back; then look again at what is shown, and repeat the command");
    NotPurged, "not_purged", Cannot, "`purge` that left words: it names the refs", Some("run the same purge again, when no other process writes notes");
    RemoteHoldsPurged, "remote_holds_purged", Cannot, "`sync push` to a remote that was not cleaned after a purge", Some("`git fetch` it, then `git chronicle purge ID` again: it prints the push that cleans the remote");
    Unvouched, "unvouched", Cannot, "`sync push` of lessons that neither you nor a remote you enabled wrote", Some("read them first (`git chronicle show COMMIT`); `git chronicle sync push --vouch` publishes them as yours");
    PushedElsewhere, "pushed_elsewhere", Cannot, "git would push notes to another address than `sync enable` showed", Some("`git remote get-url --push NAME` shows it; `git chronicle sync enable NAME` says that it is right");
    OtherAddress, "other_address", Cannot, "git would contact another address than the remote has", Some("variables such as GIT_CONFIG_PARAMETERS say so; unset them, or give the remote that address");
    WantedGone, "wanted_gone", Cannot, "`sync push` while a purge mark of others names what you wrote", Some("`git chronicle sync pull --accept-purge` removes it here as well");
    EmptyValue, "empty_value", Wrong, "an empty reason, value, text or lesson", None;
    InvalidTime, "invalid_time", Wrong, "an invalid time", Some("such as 2026-12-31 or 2026-12-31T12:00:00Z");
    NothingToReplaceWith, "nothing_to_replace_with", Cannot, "`--replace` without exactly one lesson", None;
    NoSummaryToReplace, "no_summary_to_replace", Cannot, "`--replace-summary` where there is no summary", None;
    NotYourSummary, "not_your_summary", Cannot, "`--replace-summary` of another author's summary", Some("leave out --replace-summary: yours is stored next to it");
    NotANotesRef, "not_a_notes_ref", Cannot, "the notes ref points at something else", Some("`git log refs/notes/chronicle` shows what the ref holds");
    NoteTooLarge, "note_too_large", Cannot, "the note would have more than 8 MB, too large to be read again: annotate another commit, or purge lessons", Some("nothing was stored; say it on another commit, or take lessons out with `git chronicle purge`");
    UnreadableKnowledge, "unreadable_knowledge", Cannot, "the repository's knowledge has more than 8 MB, so it is not overwritten", None;
    UnreadableStaging, "unreadable_staging", Cannot, "staged remarks cannot be read, so they are not overwritten", Some("repair or remove the file; it is never overwritten while it cannot be read");
    NoRemote, "no_remote", Cannot, "the repository has no remote", Some("`git remote -v` lists the remotes");
    UnknownRemote, "unknown_remote", Cannot, "there is no remote of that name", Some("`git remote -v` lists the remotes");
    FetchFailed, "fetch_failed", Cannot, "a remote that cannot be reached", Some("`git ls-remote REMOTE` shows whether it can be reached");
    PushRejected, "push_rejected", Cannot, "a remote that does not take our refs", Some("what was merged stays here; ask who runs the remote to allow refs/notes/chronicle*");
    InvalidLine, "invalid_line", Cannot, "a line to import isn't an exported note; nothing was stored", Some("nothing was stored; each line is a note as `git chronicle export` writes it");
    HookNotWritten, "hook_not_written", Cannot, "a hook or the configuration cannot be changed", Some("is the disk full or the repository read-only? `--dry-run` shows what would be changed");
    ProblemsFound, "problems_found", Cannot, "`doctor` found something wrong", Some("each says how to fix it; --fix does what can be done without a loss");
    LessonsTouched, "lessons_touched", Cannot, "`check` touches what `--fail-on` names", Some("read them above; `git chronicle read` says more");
    Contended, "contended", Cannot, "other writers kept the ref busy; try again", Some("try again; another process was writing at the same time");
    Locked, "locked", Cannot, "another process of Chronicle holds a lock for too long", Some("try again; if that process hangs, stop it: the lock goes with it");
    LockedByGit, "locked_by_git", Cannot, "git, or one that died, holds a lock", Some("try again; if no git runs here any more, a dead one left that file: remove it");
    WriteFailed, "write_failed", Cannot, "nothing was stored: a full disk, a read-only repository", Some("the last change was not stored; is the disk full or the repository read-only?");
    NoHome, "no_home", Cannot, "there is nowhere to keep session memory", Some("set HOME, or CHRONICLE_HOME to the folder that is to hold it");
    NoModel, "no_model", Cannot, "no model is set", None;
    ModelUnusable, "model_unusable", Cannot, "the model that is set cannot be used", Some("`git chronicle llm check` shows what is set");
    ModelUnreachable, "model_unreachable", Cannot, "the model cannot be reached", Some("`git chronicle llm check` shows the address; proxies are those of https_proxy and http_proxy");
    ModelRefused, "model_refused", Cannot, "the model's service refuses the request", Some("is the key right, and does the service have that model? `git chronicle llm check` shows what is asked");
    NoReply, "no_reply", Cannot, "the model gives no complete reply in time", Some("try again; chronicle.llm.timeout gives slow models more time");
    TooDear, "too_dear", Cannot, "a call would go beyond a limit; nothing was asked", Some("`git chronicle cost` shows what was spent; chronicle.llm.maxCostPerDay, maxTokensPerDay and maxRequestsPerDay limit a day");
    NoAccount, "no_account", Cannot, "a call cannot be kept account of; nothing was asked", Some("nothing was asked; is the folder read-only? CHRONICLE_HOME names another one");
    Cancelled, "cancelled", Cannot, "someone stopped it", None;
    CommitsFailed, "commits_failed", Cannot, "some commits could not be annotated", Some("`git chronicle annotate --agent COMMIT..` tries those again that are not annotated");
    SessionsFailed, "sessions_failed", Cannot, "some sessions could not be put into words", None;
    UnknownProject, "unknown_project", Cannot, "session memory has no project of that name", Some("`git chronicle projects` names them and their folders");
    EmptyQuestion, "empty_question", Wrong, "a question has no words to look for", Some("such as `git chronicle find why the pool waits`");
    UnknownSession, "unknown_session", Cannot, "an id names no session, or more than one", Some("`git chronicle session list` lists sessions");
    NotResumable, "not_resumable", Cannot, "a session cannot be continued by its agent", Some("`git chronicle session show ID` shows the session");
    UnknownThread, "unknown_thread", Cannot, "an id names no thread, or more than one", Some("`git chronicle pending --all` lists open threads");
    UnknownSubject, "unknown_subject", Cannot, "an id names nothing that was learned, or more than one thing", Some("`git chronicle preferences --all` and `patterns --all` list what was learned");
    NoBlock, "no_block", Cannot, "there is no block of that name", Some("`git chronicle blocks list` lists the blocks");
    BlockRefused, "block_refused", Cannot, "a block does not allow it", None;
    BlockTooLong, "block_too_long", Cannot, "a block has no room for the text", Some("`git chronicle blocks edit` opens it again, to be shortened; the block is as it was");
    BlockChanged, "block_changed", Cannot, "the block was changed elsewhere since it was opened", Some("`git chronicle blocks show` shows it as it is now; nothing was stored");
    EditorFailed, "editor_failed", Cannot, "the editor failed", Some("GIT_EDITOR, core.editor, VISUAL or EDITOR names the editor");
    NothingWritten, "nothing_written", Cannot, "the editor left nothing to store", None;
    NothingToShow, "nothing_to_show", Cannot, "`view` has nothing to show", Some("`git chronicle annotate` writes the first lesson, `git chronicle session ingest` reads your agents' sessions");
    FileInTheWay, "file_in_the_way", Cannot, "`view` or `share` would replace a file that Chronicle did not write", Some("name another file with --out");
    CannotListen, "cannot_listen", Cannot, "`view --serve` cannot listen at its port", Some("another program is at that port; without --port a free one is taken");
    NothingToDo, "nothing_to_do", Cannot, "a thread is already in the requested state", None;
    StoreTooNew, "store_too_new", Cannot, "session memory was written by a newer version; it is left alone", Some("update Chronicle; nothing was changed");
    StoreDamaged, "store_damaged", Cannot, "the file of session memory is damaged; it is left alone", Some("move it away and run `git chronicle session ingest`: it is made again from the transcripts");
    StoreFull, "store_full", Cannot, "session memory cannot be written: the disk is full", Some("make room and try again; nothing was lost");
    StoreReadOnly, "store_read_only", Cannot, "session memory cannot be written: it is read-only", Some("is the folder read-only? CHRONICLE_HOME names another one");
    StoreFolder, "store_folder", Cannot, "the folder of session memory cannot be made", Some("is the folder read-only? CHRONICLE_HOME names another one");
    StoreBusy, "store_busy", Cannot, "session memory cannot be written: another process writes", Some("try again; another process was writing at the same time");
    StoreFailed, "store_failed", Cannot, "session memory cannot be read or written", None;
    NotPaired, "not_paired", Cannot, "this machine isn't paired with another one", Some("`git chronicle memory pair` shows a code; `git chronicle memory pair --join` takes it on the other machine");
    PairRefused, "pair_refused", Cannot, "machines can't exchange this way", Some("`git chronicle memory pair` shows the code of this machine");
    MachineUnreachable, "machine_unreachable", Cannot, "another machine doesn't answer through ssh", Some("does `ssh HOST git-chronicle --version` work? Is the other machine paired? Nothing was changed here");
    SyncRecordDamaged, "sync_record_damaged", Cannot, "the record of how machines are paired cannot be read", Some("repair the file, or remove it and pair this machine again; nothing was exchanged");
    NotSharing, "not_sharing", Cannot, "nothing is shared from this machine", Some("`git chronicle memory share init FOLDER|s3://BUCKET/PREFIX` begins");
    NothingPulled, "nothing_pulled", Cannot, "there is no copy of what is shared on this machine yet", Some("`git chronicle memory share pull` makes it");
    InvalidShare, "invalid_share", Wrong, "a place where nothing can be shared", None;
    NoSharedStore, "no_shared_store", Cannot, "there is no shared store at that place", Some("is the place right? `git chronicle memory share init` makes a store there, or goes over to it");
    OtherSharedStore, "other_shared_store", Cannot, "the store at that place is not the one that was there", Some("is the place right? `git chronicle memory share init` makes a store there, or goes over to it");
    SharedStoreOlder, "shared_store_older", Cannot, "the shared store is older than what was seen of it", Some("ask who keeps it whether an older one was put back; `pull --accept-older` takes it as it is");
    ShareCopyDamaged, "share_copy_damaged", Cannot, "the copy of what is shared is damaged", Some("`git chronicle memory share pull --anew` makes it again");
    ShareRecordDamaged, "share_record_damaged", Cannot, "the record of what may go out cannot be read", Some("repair or remove the file, and say again what may go out; nothing went out");
    ShareNotBuilt, "share_not_built", Cannot, "this build shares nothing", Some("build it with `--features lance` (it takes `protoc`); docs/sharing.md says how");
    ShareUnreachable, "share_unreachable", Cannot, "the shared store cannot be reached", Some("try again; what is on this machine stays. Keys and addresses are AWS_ACCESS_KEY_ID, AWS_ENDPOINT and the like");
    ShareRefused, "share_refused", Cannot, "the shared store cannot be read or written", Some("may you write there, and is there room? Nothing was lost: the next push goes on");
    ShareBusy, "share_busy", Cannot, "other machines kept the shared store busy", Some("try again; what went out stays, and nothing is doubled");
    ShareDamaged, "share_damaged", Cannot, "the shared store is damaged", Some("ask who keeps it; nothing was changed");
    ShareTooNew, "share_too_new", Cannot, "the shared store was written by a newer version", Some("update Chronicle; nothing was changed");
    Git, "git", Cannot, "anything else that git refused", None;
    Io, "io", Cannot, "anything else that the system refused", None;
}

/// The exit code of a command that cannot do what was asked.
pub const CANNOT: u8 = 1;
/// The exit code of wrong arguments.
pub const WRONG_ARGUMENTS: u8 = 2;

impl Code {
    /// The exit code of a command that ends with it.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self.ends() {
            Ends::Cannot => CANNOT,
            Ends::Wrong => WRONG_ARGUMENTS,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
