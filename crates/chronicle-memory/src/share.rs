//! A store that several machines share: what a user lets out goes there, and what others let out comes here.
//!
//! Nothing goes out but what is marked or what a rule allows, without secrets. Searching asks the copy on this machine,
//! so it works without a network.

mod allowed;
mod find;
mod record;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use chronicle_core::redaction::cleaned;
use chronicle_search::{fingerprint, terms};
use chronicle_share::{Mark, Role, ShareError, SharedRow, Table};
use chronicle_workplace::{
    Error, Workplace,
    error::{NotSharingSnafu, OtherShareSnafu, RefusedShareSnafu, ShareOlderSnafu},
};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;
use snafu::{OptionExt, ensure};

pub use self::find::{FindSharedCommand, FoundShared, SharedFinding};
use self::{allowed::Allowed, record::Sharing};
use crate::Memory;

/// The folder of copies, below the home of session memory.
const COPIES: &str = "shared";

/// Rows that are asked for one by one: for more of them all are read.
const MOST_BY_NAME: usize = 5_000;

/// How long the bytes of what was taken back stay in the store at least, and a little.
const BYTES_STAY: SignedDuration = SignedDuration::from_hours(25);

/// The longest text that is taken in.
const LONGEST_TEXT: usize = 64 << 10;

/// Where to share, and as whom.
#[derive(Debug, Clone)]
pub struct ShareInit {
    /// A folder, or `s3://BUCKET/PREFIX`.
    pub url: String,
    /// How this machine is called there.
    pub machine: Option<String>,
    /// Who shares.
    pub author: Option<String>,
}

/// What to let out, or no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShareWhat {
    /// Single sessions and lessons, by their ids.
    Ids(Vec<String>),
    /// What is learned in a project, the current one or the one named: digests, lessons or both.
    Project {
        /// The project; none for the current one.
        name: Option<String>,
        /// `digest` and `lesson`, or one of them.
        kinds: Vec<&'static str>,
    },
}

/// What may be shared, in the words of rules.
pub const SHARED_KINDS: [&str; 2] = ["digest", "lesson"];

/// What is shared, by whom, and how far that is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShareStatus {
    /// Always `chronicle-share/v1`.
    pub schema: &'static str,
    /// Whether this build can reach a shared store.
    pub built: bool,
    /// Where the store is; none where nothing is shared.
    pub url: Option<String>,
    /// How this machine is called there.
    pub machine: Option<String>,
    /// Who shares.
    pub author: Option<String>,
    /// Projects of which all is shared.
    pub projects: Vec<SharedProject>,
    /// Sessions and lessons that were marked by hand.
    pub marked: Vec<String>,
    /// Sessions and lessons that are held back, whatever a rule says.
    pub held_back: Vec<String>,
    /// Digests that may go out.
    pub digests: usize,
    /// Lessons that may go out.
    pub lessons: usize,
    /// When they went out last.
    pub pushed_at: Option<String>,
    /// When what others share came in last.
    pub pulled_at: Option<String>,
    /// What the copy on this machine holds.
    pub in_copy: usize,
    /// What could not be taken into account, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A project of which all is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SharedProject {
    /// Its name.
    pub project: String,
    /// `digest`, `lesson` or both.
    pub kinds: Vec<String>,
}

/// What went out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SharePushed {
    /// Always `chronicle-share-push/v1`.
    pub schema: &'static str,
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// Where it went.
    pub url: String,
    /// What is new there, or says something else now.
    pub sent: Vec<SharedItem>,
    /// How much was there already.
    pub unchanged: usize,
    /// How much was taken back.
    pub taken_back: usize,
    /// How much stays there that this machine knows nothing of any more.
    pub unknown: usize,
    /// Secrets that were replaced on the way.
    pub redacted: u64,
    /// What could not be taken into account, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Something that is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SharedItem {
    /// `digest` or `lesson`.
    pub kind: String,
    /// The session, or the id of the lesson.
    pub name: String,
    /// The project.
    pub project: String,
    /// What it says, in one line.
    pub title: String,
}

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SharePulled {
    /// Always `chronicle-share-pull/v1`.
    pub schema: &'static str,
    /// Where it came from.
    pub url: String,
    /// How much is new, or says something else now.
    pub taken: usize,
    /// How much others took back.
    pub gone: usize,
    /// What the copy on this machine holds now.
    pub in_copy: usize,
}

/// What machines share of session memory.
#[derive(Clone, Copy)]
pub struct Shared<'w> {
    pub(crate) workplace: &'w Workplace,
}

impl<'w> Shared<'w> {
    fn memory(self) -> Memory<'w> {
        Memory::new(self.workplace)
    }
}

impl Shared<'_> {
    /// Shares by way of the store at a place from now on; makes the store where there is none.
    ///
    /// # Errors
    /// When it is no place for one, cannot be reached, or the record cannot be written.
    pub fn init(&self, command: &ShareInit) -> Result<ShareStatus, Error> {
        let url = self.share_url(&command.url)?;
        self.takes_no_endpoint(&url)?;
        let home = self.workplace.memory_home()?;
        let _lock = record::lock(&home)?;
        let known = Sharing::load(&home)?;
        let new = chronicle_workplace::new_id().0;
        let table = Table::create(&url, Role::Shared, &new)?;
        let mut sharing = match known {
            Some(known) if known.identity == table.identity() => known,
            // Another store: what may go out stays decided, what was seen there says nothing of it.
            Some(known) => Sharing { seen_version: 0, pushed_at: None, pulled_at: None, ..known },
            None => Sharing { machine_id: chronicle_workplace::new_id().0, ..Sharing::default() },
        };
        sharing.url = url;
        sharing.identity = table.identity().to_owned();
        let named = |given: &Option<String>, known: &str, found: &dyn Fn() -> String| match given {
            Some(given) => cleaned(given).0.trim().to_owned(),
            None if known.is_empty() => found(),
            None => known.to_owned(),
        };
        sharing.machine = named(&command.machine, &sharing.machine, &machine_name);
        sharing.author = named(&command.author, &sharing.author, &|| self.share_author());
        sharing.store(&home)?;
        self.status()
    }

    /// Lets something out with the next push.
    ///
    /// # Errors
    /// When nothing is shared yet, or what is meant is not known.
    pub fn add(&self, what: &ShareWhat) -> Result<ShareStatus, Error> {
        self.share_changed(|sharing| self.allow(sharing, what))
    }

    /// Holds something back, and takes it back with the next push.
    ///
    /// # Errors
    /// When nothing is shared yet, or what is meant is not known.
    pub fn remove(&self, what: &ShareWhat) -> Result<ShareStatus, Error> {
        self.share_changed(|sharing| self.forbid(sharing, what))
    }

    fn share_changed(
        &self,
        change: impl FnOnce(&mut Sharing) -> Result<(), Error>,
    ) -> Result<ShareStatus, Error> {
        let home = self.workplace.memory_home()?;
        {
            let _lock = record::lock(&home)?;
            let mut sharing = Sharing::load(&home)?.context(NotSharingSnafu)?;
            change(&mut sharing)?;
            sharing.store(&home)?;
        }
        self.status()
    }

    /// What is shared, without asking the store.
    ///
    /// # Errors
    /// When the record or session memory cannot be read.
    pub fn status(&self) -> Result<ShareStatus, Error> {
        let mut status = ShareStatus {
            schema: "chronicle-share/v1",
            built: chronicle_share::IS_BUILT,
            url: None,
            machine: None,
            author: None,
            projects: Vec::new(),
            marked: Vec::new(),
            held_back: Vec::new(),
            digests: 0,
            lessons: 0,
            pushed_at: None,
            pulled_at: None,
            in_copy: 0,
            warnings: Vec::new(),
        };
        let home = self.workplace.memory_home()?;
        let Some(sharing) = Sharing::load(&home)? else { return Ok(status) };
        let allowed = self.allowed(&sharing)?;
        status.digests = allowed.rows.iter().filter(|row| row.kind == "digest").count();
        status.lessons = allowed.rows.len() - status.digests;
        status.warnings = allowed.warnings;
        status.projects = sharing
            .projects
            .iter()
            .map(|rule| SharedProject { project: rule.name.clone(), kinds: rule.kinds.clone() })
            .collect();
        status.marked = sharing.marked.iter().map(record::Marked::shown).collect();
        status.held_back = sharing.held_back.iter().map(|name| record::shown(name)).collect();
        if chronicle_share::IS_BUILT {
            status.in_copy = match self.share_copy(&sharing) {
                Ok(copy) => copy.marks(None)?.len(),
                Err(_) => 0,
            };
        }
        status.url = Some(sharing.url);
        status.machine = Some(sharing.machine);
        status.author = Some(sharing.author);
        status.pushed_at = sharing.pushed_at;
        status.pulled_at = sharing.pulled_at;
        Ok(status)
    }

    /// Brings the store to what may go out from this machine: puts what is new there, and takes back what may no longer
    /// be there.
    ///
    /// # Errors
    /// When nothing is shared yet, or the store cannot be reached or written. What went out before the error stays out;
    /// the next push goes on from there.
    pub fn push(&self, is_dry_run: bool) -> Result<SharePushed, Error> {
        let home = self.workplace.memory_home()?;
        let _lock = record::lock(&home)?;
        let mut sharing = Sharing::load(&home)?.context(NotSharingSnafu)?;
        let Allowed { rows, redacted, mut warnings, reachable } = self.allowed(&sharing)?;
        self.takes_no_endpoint(&sharing.url)?;
        let table = shared_table(&sharing)?;
        let version = table.version()?;
        if version < sharing.seen_version {
            let seen = sharing.seen_version;
            warnings.push(format!(
                "the store is at version {version}, and {seen} was seen before: an older one was put back, or the \
                 storage serves one; what may go out is put there again"
            ));
        }
        let stored = table.marks(Some(&sharing.machine_id))?;
        let allowed: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let (gone, unknown): (Vec<&Mark>, Vec<&Mark>) = stored
            .iter()
            .filter(|mark| !allowed.contains(mark.id.as_str()))
            .partition(|mark| sharing.is_to_go(&mark.id, &reachable));
        let gone: Vec<String> = gone.into_iter().map(|mark| mark.id.clone()).collect();
        let n_unknown = unknown.len();
        let known: BTreeSet<(&str, &str)> =
            stored.iter().map(|mark| (mark.id.as_str(), mark.hash.as_str())).collect();
        let n_rows = rows.len();
        let fresh: Vec<SharedRow> = rows
            .iter()
            .filter(|row| !known.contains(&(row.id.as_str(), row.hash.as_str())))
            .cloned()
            .collect();
        if !is_dry_run {
            table.remove(&gone)?;
            table.put(&fresh)?;
            // The store keeps what was removed for as long as somebody may be reading it.
            let is_to_prune = sharing.taken_back_at.is_some_and(|at| at + BYTES_STAY <= self.workplace.now());
            if !gone.is_empty() || is_to_prune || table.is_scattered()? {
                table.tidy()?;
            }
            if !gone.is_empty() {
                sharing.taken_back_at = Some(self.workplace.now());
            } else if is_to_prune {
                sharing.taken_back_at = None;
            }
            sharing.seen_version = table.version()?;
            sharing.pushed_at = Some(self.workplace.now().to_string());
            sharing.forgotten.clear();
            sharing.store(&home)?;
        }
        Ok(SharePushed {
            schema: "chronicle-share-push/v1",
            dry_run: is_dry_run,
            url: sharing.url,
            unchanged: n_rows - fresh.len(),
            sent: fresh.into_iter().map(SharedItem::of).collect(),
            taken_back: gone.len(),
            unknown: n_unknown,
            redacted,
            warnings,
        })
    }

    /// Brings the copy on this machine to what the store holds.
    ///
    /// Where the store is older than what was seen before, nothing is taken from it, unless `accepts_older`. A copy
    /// that cannot be read is made again, and one that can if it `is_anew`.
    ///
    /// # Errors
    /// When nothing is shared yet, or the store cannot be reached.
    pub fn pull(&self, accepts_older: bool, is_anew: bool) -> Result<SharePulled, Error> {
        let home = self.workplace.memory_home()?;
        let _lock = record::lock(&home)?;
        let mut sharing = Sharing::load(&home)?.context(NotSharingSnafu)?;
        self.takes_no_endpoint(&sharing.url)?;
        let table = shared_table(&sharing)?;
        let version = table.version()?;
        let seen = sharing.seen_version;
        ensure!(seen <= version || accepts_older, ShareOlderSnafu { url: &sharing.url, version, seen });
        let (copy, ours) = self.share_copy_to_write(&sharing, is_anew)?;
        let theirs = table.marks(None)?;
        let (held, offered): (BTreeSet<_>, BTreeSet<_>) = (ours.iter().collect(), theirs.iter().collect());
        let fresh: Vec<String> = offered.difference(&held).map(|mark| mark.id.clone()).collect();
        let there: BTreeSet<&str> = theirs.iter().map(|mark| mark.id.as_str()).collect();
        let gone: Vec<String> = ours
            .iter()
            .filter(|mark| !there.contains(mark.id.as_str()))
            .map(|mark| mark.id.clone())
            .collect();
        copy.remove(&gone)?;
        let wanted: BTreeSet<&str> = fresh.iter().map(String::as_str).collect();
        let mut take = |rows: Vec<SharedRow>| {
            // What somebody else put there may bear one id twice.
            let rows: BTreeMap<String, SharedRow> = rows
                .into_iter()
                .filter(|row| wanted.contains(row.id.as_str()))
                .map(|row| (row.id.clone(), taken_in(row)))
                .collect();
            copy.put(&rows.into_values().collect::<Vec<_>>())
        };
        if fresh.len() <= MOST_BY_NAME {
            table.rows(&fresh, &mut take)?;
        } else {
            table.all_rows(&mut take)?;
        }
        if !fresh.is_empty() || !gone.is_empty() {
            copy.tidy()?;
        }
        sharing.seen_version = version;
        sharing.pulled_at = Some(self.workplace.now().to_string());
        sharing.store(&home)?;
        Ok(SharePulled {
            schema: "chronicle-share-pull/v1",
            url: sharing.url,
            taken: fresh.len(),
            gone: gone.len(),
            in_copy: theirs.len(),
        })
    }

    /// Notes that sessions are to be taken back, for they are about to be forgotten.
    pub(crate) fn share_forgets<'n>(
        &self,
        sessions: impl Iterator<Item = (&'n str, &'n str)>,
    ) -> Result<(), Error> {
        let home = self.workplace.memory_home()?;
        if Sharing::load(&home)?.is_none() {
            return Ok(());
        }
        let _lock = record::lock(&home)?;
        let Some(mut sharing) = Sharing::load(&home)? else { return Ok(()) };
        for (agent, name) in sessions {
            let session = record::session_name(agent, name);
            sharing.marked.retain(|marked| marked.name() != session);
            sharing.forgotten.insert(session);
        }
        sharing.store(&home)
    }

    /// The place that a user names, as the store takes it.
    fn share_url(&self, given: &str) -> Result<String, Error> {
        let refused = |reason: &'static str| RefusedShareSnafu { url: given, reason }.fail();
        if given.trim().is_empty() || given.chars().any(char::is_control) {
            return refused("it is empty, or has control characters");
        }
        let Some((scheme, rest)) = given.split_once("://") else {
            return Ok(self.workplace.directory().join(given).to_string_lossy().into_owned());
        };
        match scheme {
            "s3" if rest.contains('@') => refused(
                "it has a key in it; keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile",
            ),
            "s3" if rest.contains(['?', '#']) => refused("options are variables, such as AWS_ENDPOINT"),
            "s3" if rest.trim_matches('/').is_empty() => refused("it names no bucket"),
            "s3" => Ok(given.trim_end_matches('/').to_owned()),
            "file" => match rest.strip_prefix('/') {
                Some(path) => Ok(format!("/{}", path.trim_end_matches('/'))),
                None => refused("a folder on another machine cannot be used"),
            },
            _ => refused("use a folder or s3://BUCKET/PREFIX"),
        }
    }

    /// Whether nothing but the address itself says which service is asked: an agent's settings may be a file of a
    /// repository, and the variables in them lead nowhere.
    fn takes_no_endpoint(&self, url: &str) -> Result<(), Error> {
        const ENDPOINTS: [&str; 4] =
            ["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ALLOW_HTTP"];
        let is_led = ENDPOINTS.iter().any(|name| self.workplace.variable(name).is_some());
        let is_safe = !(url.starts_with("s3://") && self.workplace.is_unattended() && is_led);
        let reason = "a variable of an agent's session names the service; run this in a terminal of your own";
        ensure!(is_safe, RefusedShareSnafu { url, reason });
        Ok(())
    }

    fn share_author(&self) -> String {
        let by_git = self.workplace.repository().ok().and_then(chronicle_git::Repository::author_name);
        by_git
            .or_else(|| self.workplace.variable("USER"))
            .map(|name| cleaned(&name).0.into_owned())
            .unwrap_or_default()
    }

    fn copy_folder(&self, sharing: &Sharing) -> Result<PathBuf, Error> {
        Ok(self.workplace.memory_home()?.join(COPIES).join(fingerprint(sharing.identity.as_bytes())))
    }

    /// The copy on this machine.
    fn share_copy(&self, sharing: &Sharing) -> Result<Table, Error> {
        Ok(Table::open(&self.copy_folder(sharing)?.to_string_lossy(), Role::Copy)?)
    }

    /// The same and what it holds; made where there is none, and made again where it cannot be read: all of it is in
    /// the store.
    fn share_copy_to_write(&self, sharing: &Sharing, is_anew: bool) -> Result<(Table, Vec<Mark>), Error> {
        let folder = self.copy_folder(sharing)?;
        let opened = || -> Result<_, ShareError> {
            let copy = Table::create(&folder.to_string_lossy(), Role::Copy, &sharing.identity)?;
            let marks = copy.marks(None)?;
            Ok((copy, marks))
        };
        if !is_anew {
            match opened() {
                Err(ShareError::Damaged { .. } | ShareError::Unreachable { .. }) if folder.exists() => {}
                copy => return Ok(copy?),
            }
        }
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|source| Error::WriteOutput { path: folder.clone(), source })?;
        }
        Ok(opened()?)
    }
}

impl SharedItem {
    fn of(row: SharedRow) -> Self {
        Self { kind: row.kind, name: row.name, project: row.project, title: row.title }
    }
}

/// The store, if it is still the one that was meant.
fn shared_table(sharing: &Sharing) -> Result<Table, Error> {
    let table = Table::open(&sharing.url, Role::Shared)?;
    ensure!(table.identity() == sharing.identity, OtherShareSnafu { url: &sharing.url });
    Ok(table)
}

/// What somebody shares, as this machine keeps it: others may have sent anything.
fn taken_in(row: SharedRow) -> SharedRow {
    let mut removed = chronicle_core::redaction::Removed::default();
    let mut clean = |text: &str| {
        let text = &text[..text.floor_char_boundary(LONGEST_TEXT)];
        chronicle_core::redaction::for_storage(text, &mut removed).into_owned()
    };
    let mut row = SharedRow {
        kind: clean(&row.kind),
        name: clean(&row.name),
        project: clean(&row.project),
        about: clean(&row.about),
        title: clean(&row.title),
        text: clean(&row.text),
        files: clean(&row.files),
        commit: clean(&row.commit),
        author: clean(&row.author),
        machine: clean(&row.machine),
        ..row
    };
    let said = [&row.title, &row.text, &row.files, &row.project, &row.author, &row.about];
    let said: Vec<String> =
        said.into_iter().flat_map(|text| terms(text)).map(|term| format!("{term:x}")).collect();
    row.terms = said.join(" ");
    row
}

/// How the system calls this machine.
pub(crate) fn machine_name() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    if name.is_empty() { "unnamed".to_owned() } else { cleaned(name).0.into_owned() }
}
