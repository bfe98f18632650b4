//! Machines of one user that keep each other's digests, threads, lines of blocks and judgements, without a server.
//!
//! Each machine writes one file with what is its own, and reads those of the others. What was taken out on a machine is
//! named in its file by a hash, so that it goes elsewhere, too. Files of a machine are numbered, so that nobody can put
//! an older one back. Times of different machines are never compared, so clocks may differ.

mod items;
mod pairing;
mod places;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use chronicle_git::{FileLock, files, sweep, sync_directory};
use chronicle_search::{Connection, NamedSession, SqlResult, Synced, Transaction, has_own_turns};
use chronicle_workplace::{
    Error, Workplace,
    error::{NotPairedSnafu, ReadInputSnafu, RefusedPairSnafu, WriteOutputSnafu},
    owned::remove,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use snafu::{OptionExt, ResultExt, ensure};

use self::{
    items::{Item, Items, Line, Lines, session_id, version_of},
    pairing::Pairing,
    places::Places,
};
use crate::{Memory, memory::OpenMemory, sessions::ForgetCommand};

/// The form of a machine's file.
const SCHEMA: &str = "chronicle-machine/v1";

/// How the names of machines' files end.
const ENDING: &str = ".chronicle-sync";

/// Larger files are nobody's.
const LARGEST_FILE: u64 = 512 << 20;

/// Files of a folder that are looked at.
const MOST_FILES: usize = 1_000;

/// The lock of those who sync.
const LOCK_FILE: &str = "sync.lock";

/// Names of folders that services copy to machines of others.
const SERVICES: [&str; 9] = [
    "dropbox",
    "onedrive",
    "google drive",
    "googledrive",
    "icloud",
    "mobile documents",
    "nextcloud",
    "owncloud",
    "pcloud",
];

/// How this machine is paired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PairReply {
    /// Always `chronicle-pair/v1`.
    pub schema: &'static str,
    /// How this machine is called.
    pub machine: String,
    /// What to type on the other machines; null where a code was typed here.
    pub code: Option<String>,
}

/// What was exchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SyncReply {
    /// Always `chronicle-memory-sync/v1`.
    pub schema: &'static str,
    /// How this machine is called.
    pub machine: String,
    /// How many items this machine has of its own.
    pub own: usize,
    /// What came from other machines.
    pub machines: Vec<SyncedMachine>,
    /// How many items were removed here, as they were taken out or forgotten on another machine.
    pub removed: usize,
    /// Files that were not read, and why.
    pub ignored: Vec<IgnoredFile>,
    /// What to know about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What came from one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SyncedMachine {
    /// How it is called.
    pub machine: String,
    /// What distinguishes it from others of the same name.
    pub id: String,
    /// How many items it has.
    pub items: usize,
    /// How many of them are new or changed here.
    pub new: usize,
}

/// A file that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IgnoredFile {
    /// Its name.
    pub file: String,
    /// Why not.
    pub reason: String,
}

/// The first line of a machine's file.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    schema: String,
    machine: String,
    name: String,
    /// Higher than that of any file which the machine made before.
    #[serde(default)]
    number: u64,
    /// Of the rest of the file, with the members above.
    mac: String,
}

/// Another line, where it is no item.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Mark {
    /// It was taken out on this machine.
    Gone { item: String },
    /// It was taken out elsewhere, and written again here since.
    Back { item: String },
}

/// The file of another machine.
#[derive(Debug, Default)]
struct Other {
    id: String,
    name: String,
    number: u64,
    items: Lines,
    gone: BTreeSet<String>,
    back: BTreeSet<String>,
}

/// What machines of one user exchange.
#[derive(Clone, Copy)]
pub struct Machines<'w> {
    pub(crate) workplace: &'w Workplace,
}

/// The name of a machine under which what was written again is kept.
const BACK: &str = "back";

impl<'w> Machines<'w> {
    fn memory(self) -> Memory<'w> {
        Memory::new(self.workplace)
    }
}

impl Machines<'_> {
    /// Pairs this machine: shows the code for the others, or takes the code of another one.
    ///
    /// # Errors
    /// When it is no code, or the record cannot be written.
    pub fn pair(&self, code: Option<&str>) -> Result<PairReply, Error> {
        let home = self.workplace.memory_home()?;
        let known = Pairing::load(&home)?;
        let pairing = match (known, code) {
            (Some(known), None) => known,
            (known, code) => {
                let new = known.map_or_else(|| Pairing::new(crate::share::machine_name()), Ok)?;
                let pairing = match code {
                    Some(code) => new.joined(code)?,
                    None => new,
                };
                pairing.store(&home)?;
                pairing
            }
        };
        let told = code.is_none().then(|| pairing.code());
        Ok(PairReply { schema: "chronicle-pair/v1", machine: pairing.machine, code: told })
    }

    /// Exchanges with the other machines by way of a folder that all of them see.
    ///
    /// # Errors
    /// When this machine is not paired, or the folder or session memory cannot be read or written.
    pub fn sync_folder(&self, folder: &Path) -> Result<SyncReply, Error> {
        let told = folder.to_string_lossy();
        ensure!(
            !told.starts_with('-') && !told.is_empty(),
            RefusedPairSnafu { reason: "a folder's name can't begin with `-`" }
        );
        let folder = self.workplace.directory().join(folder);
        let (home, mut pairing) = self.paired()?;
        let _lock = FileLock::acquire(&home.join(LOCK_FILE))?;
        let mut reply = SyncReply::default();
        let own_name = format!("{}{ENDING}", pairing.machine_id);
        let mut others: Vec<Other> = Vec::new();
        for path in files_in(&folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = match files::read(&path, LARGEST_FILE) {
                Ok(bytes) => bytes,
                Err(error) => {
                    reply.ignored.push(IgnoredFile { file: name, reason: error.to_string() });
                    continue;
                }
            };
            if name == own_name {
                if !pairing.written.is_empty() && pairing.written != digest_of(&bytes) {
                    reply.warnings.push(
                        "the file of this machine is not as it left it: another one has the same identity, or an \
                         older copy was put back; it is written again"
                            .to_owned(),
                    );
                }
                continue;
            }
            match Other::read(&bytes, &pairing) {
                Ok(other) => others.push(other),
                Err(reason) => reply.ignored.push(IgnoredFile { file: name, reason: reason.to_owned() }),
            }
        }
        // Under another name, an older file of a machine may be beside its newest one.
        others.sort_by(|left, right| (&left.id, right.number).cmp(&(&right.id, left.number)));
        others.dedup_by(|older, newer| older.id == newer.id);
        let is_of_service = |service: &str| told.to_lowercase().contains(service);
        if let Some(service) = SERVICES.iter().find(|service| is_of_service(service)) {
            reply.warnings.push(format!(
                "the folder looks like one of a cloud service ({service}): what is written there is readable for it"
            ));
        }
        let own = self.exchanged(&home, &mut pairing, &others, &mut reply)?;
        // A process that was killed may have left words there that are forgotten since.
        let _swept = sweep(&folder);
        let begun = folder.join(format!(".{}.chronicle-part", pairing.machine_id));
        remove(&begun)?;
        let path = folder.join(own_name);
        let is_same = files::read(&path, LARGEST_FILE).is_ok_and(|known| known == own);
        if !is_same {
            write(&begun, &path, &own).context(WriteOutputSnafu { path: &path })?;
        }
        let written = digest_of(&own);
        if pairing.written != written {
            pairing.written = written;
            pairing.store(&home)?;
        }
        Ok(reply)
    }

    /// Takes in the file of one other machine, and gives that of this one, as it is afterwards.
    ///
    /// # Errors
    /// When this machine is not paired, the other one's file is not to be trusted, or session memory cannot be written.
    pub fn exchange(&self, theirs: &[u8]) -> Result<(Vec<u8>, SyncReply), Error> {
        let (home, mut pairing) = self.paired()?;
        let _lock = FileLock::acquire(&home.join(LOCK_FILE))?;
        let mut reply = SyncReply::default();
        let other = Other::read(theirs, &pairing).map_err(|reason| Error::RefusedPair { reason })?;
        ensure!(
            other.id != pairing.machine_id,
            RefusedPairSnafu { reason: "the other machine has the identity of this one" }
        );
        let own = self.exchanged(&home, &mut pairing, &[other], &mut reply)?;
        Ok((own, reply))
    }

    /// The file of this machine, before anything came in.
    ///
    /// # Errors
    /// When this machine is not paired, or session memory cannot be read.
    pub fn outgoing(&self) -> Result<Vec<u8>, Error> {
        let (home, mut pairing) = self.paired()?;
        let _lock = FileLock::acquire(&home.join(LOCK_FILE))?;
        self.exchanged(&home, &mut pairing, &[], &mut SyncReply::default())
    }

    fn paired(&self) -> Result<(PathBuf, Pairing), Error> {
        let home = self.workplace.memory_home()?;
        let pairing = Pairing::load(&home)?.context(NotPairedSnafu)?;
        Ok((home, pairing))
    }

    /// Brings what came from `others` up to date, and gives the file of this machine.
    fn exchanged(
        &self,
        home: &Path,
        pairing: &mut Pairing,
        others: &[Other],
        reply: &mut SyncReply,
    ) -> Result<Vec<u8>, Error> {
        reply.schema = "chronicle-memory-sync/v1";
        reply.machine.clone_from(&pairing.machine);
        let mut memory = self.memory().open_to_write()?;
        let places = Places::of(&self.memory(), &memory)?;
        let state = memory.store.read(|connection| State::of(connection, &places, pairing, others))?;
        // Forgetting a session reaches more than its rows, and has its own locks.
        let sessions = state.sessions_to_forget();
        if !sessions.is_empty() {
            reply.removed += sessions.len();
            self.memory().forget_sessions(&ForgetCommand::Sessions(sessions), false)?;
        }
        let now = self.workplace.now();
        let mut n_new: BTreeMap<String, usize> = BTreeMap::new();
        let n_removed = memory.store.write(|tx| {
            let mut n_removed = 0;
            for (id, item) in &state.to_remove {
                item.take_away(tx, now)?;
                Synced::remove(tx, id)?;
                n_removed += usize::from(!matches!(item, Item::Digest(_)));
            }
            for id in &state.own_now {
                Synced::remove(tx, id)?;
            }
            for (other, id, line) in &state.to_put {
                if line.item.put(tx, now, (&places, &other.name))? {
                    Synced::put(tx, &other.id, id, &line.version)?;
                    *n_new.entry(other.id.clone()).or_default() += 1;
                } else {
                    reply.warnings.push(format!("no room here for an item of {}", other.name));
                }
            }
            Ok(n_removed)
        })?;
        reply.removed += n_removed;
        self.learning_after(&mut memory, !state.to_put.is_empty())?;
        let own = memory.store.write(|tx| state.end(tx, &places, pairing, others))?;
        reply.own = own.items.len();
        for other in others {
            let new = n_new.get(&other.id).copied().unwrap_or_default();
            reply.machines.push(SyncedMachine {
                machine: other.name.clone(),
                id: other.id.clone(),
                items: other.items.len(),
                new,
            });
        }
        others.iter().for_each(|other| pairing.see(&other.id, other.number));
        let file = own.file(pairing, now);
        // Nobody may see a number that this machine could give again.
        pairing.store(home)?;
        Ok(file)
    }

    fn learning_after(&self, memory: &mut OpenMemory, is_new: bool) -> Result<(), Error> {
        if is_new { self.memory().learning().apply_feedback(memory) } else { Ok(()) }
    }
}

/// What is to be done so that this machine is up to date.
#[derive(Debug, Default)]
struct State<'o> {
    /// Items that are to be removed here.
    to_remove: Vec<(String, Item)>,
    /// Items that are to be stored here, digests first.
    to_put: Vec<(&'o Other, &'o String, &'o Line)>,
    /// Items that came from another machine once, and that this one has of its own now.
    own_now: Vec<String>,
    /// What was taken out here.
    gone: BTreeSet<String>,
    /// What was taken out elsewhere and written again here.
    back: BTreeSet<String>,
}

impl<'o> State<'o> {
    fn of(
        connection: &Connection,
        places: &Places,
        pairing: &Pairing,
        others: &'o [Other],
    ) -> SqlResult<Self> {
        let here = items::all(connection, places, pairing)?;
        let Synced { by_item: mut from } = Synced::all(connection)?;
        let mut back: BTreeSet<String> =
            from.iter().filter(|(_, (machine, _))| machine == BACK).map(|(id, _)| id.clone()).collect();
        from.retain(|_, (machine, _)| machine != BACK);
        let mut state = Self::default();
        for id in from.keys() {
            let Some(Item::Digest(digest)) = here.get(id) else { continue };
            // Its transcript came here, too.
            let session = NamedSession::by_name(connection, &digest.agent, &digest.session)?;
            if let Some(session) = session
                && has_own_turns(connection, session.id, digest.turn_key())?
            {
                state.own_now.push(id.clone());
            }
        }
        state.own_now.iter().for_each(|id| drop(from.remove(id)));
        // What was here at the last time and is no longer was taken out here.
        let known = Synced::known(connection)?;
        state.gone = Synced::gone(connection)?;
        state.gone.extend(known.iter().filter(|id| !here.contains_key(*id)).cloned());
        for (agent, name) in NamedSession::all_forgotten(connection)? {
            state.gone.insert(session_id(pairing, &agent, &name));
        }
        state.gone.retain(|id| !here.contains_key(id));
        let gone_elsewhere: BTreeSet<&String> = others.iter().flat_map(|other| &other.gone).collect();
        for other in others {
            state.gone.retain(|id| !other.back.contains(id));
        }
        // New here since the last time, though it was taken out elsewhere: somebody wrote it again.
        back.extend(here.keys().filter(|id| gone_elsewhere.contains(id) && !known.contains(*id)).cloned());
        back.retain(|id| here.contains_key(id));
        // What is only missing in a file may be in a newer one.
        for (id, item) in &here {
            if gone_elsewhere.contains(id) && !back.contains(id) {
                state.to_remove.push((id.clone(), item.clone()));
            }
        }
        let mut seen = BTreeSet::new();
        for other in others {
            for (id, line) in &other.items {
                let is_out =
                    state.gone.contains(id) || gone_elsewhere.contains(id) && !other.back.contains(id);
                let is_known = match (here.get(id), from.get(id)) {
                    (None, _) => false,
                    (Some(_), Some((machine, version))) => *machine != other.id || *version == line.version,
                    (Some(_), None) => true,
                };
                if !is_out && !is_known && seen.insert(id) {
                    state.to_put.push((other, id, line));
                }
            }
        }
        state.to_put.sort_by_key(|(_, _, line)| !matches!(line.item, Item::Digest(_)));
        state.back = back;
        Ok(state)
    }

    fn sessions_to_forget(&self) -> Vec<String> {
        let sessions = self.to_remove.iter().filter_map(|(_, item)| match item {
            Item::Digest(digest) => Some(digest.session.clone()),
            _ => None,
        });
        sessions.collect()
    }

    /// Notes what is here now, and gives what this machine has of its own.
    fn end(
        self,
        tx: &Transaction<'_>,
        places: &Places,
        pairing: &Pairing,
        others: &[Other],
    ) -> SqlResult<Own> {
        let here = items::all(tx, places, pairing)?;
        let Synced { by_item: from } = Synced::all(tx)?;
        for (id, (machine, _)) in &from {
            if machine == BACK || !here.contains_key(id) {
                Synced::remove(tx, id)?;
            }
        }
        let mut gone = self.gone;
        for (agent, name) in NamedSession::all_forgotten(tx)? {
            gone.insert(session_id(pairing, &agent, &name));
        }
        gone.retain(|id| !here.contains_key(id));
        // While another machine has it taken out, it has to be told that it is there again.
        let is_out = |id: &String| others.iter().any(|other| other.gone.contains(id));
        let back: BTreeSet<String> = self
            .back
            .into_iter()
            .filter(|id| here.contains_key(id) && (others.is_empty() || is_out(id)))
            .collect();
        back.iter().try_for_each(|id| Synced::put(tx, BACK, id, ""))?;
        let known = here.keys().cloned().collect();
        Synced::note(tx, &known, &gone)?;
        let is_own = |id: &String| from.get(id).is_none_or(|(machine, _)| machine == BACK);
        let items = here.into_iter().filter(|(id, _)| is_own(id)).collect();
        Ok(Own { items, gone, back })
    }
}

/// What a machine has of its own.
struct Own {
    items: Items,
    gone: BTreeSet<String>,
    back: BTreeSet<String>,
}

impl Own {
    fn file(&self, pairing: &mut Pairing, now: Timestamp) -> Vec<u8> {
        let mut body = String::new();
        let marks = self.gone.iter().map(|item| Mark::Gone { item: item.clone() });
        let marks = marks.chain(self.back.iter().map(|item| Mark::Back { item: item.clone() }));
        let marks = marks.map(|mark| serde_json::to_string(&mark).expect("it has names for keys"));
        let lines = self.items.values().map(|item| item.clone().written().line);
        for line in lines.chain(marks) {
            body.push_str(&line);
            body.push('\n');
        }
        let mut head = Head {
            schema: SCHEMA.to_owned(),
            machine: pairing.machine_id.clone(),
            name: pairing.machine.clone(),
            number: pairing.number_of(&version_of(&body), now),
            mac: String::new(),
        };
        head.mac = pairing.mac(&head.parts(&head.number.to_be_bytes(), body.as_bytes()));
        let head = serde_json::to_string(&head).expect("it has names for keys");
        format!("{head}\n{body}").into_bytes()
    }
}

impl Head {
    fn parts<'p>(&'p self, number: &'p [u8], body: &'p [u8]) -> [&'p [u8]; 5] {
        [self.schema.as_bytes(), self.machine.as_bytes(), self.name.as_bytes(), number, body]
    }
}

impl Other {
    /// The file of another machine, if one with our key wrote it.
    fn read(bytes: &[u8], pairing: &Pairing) -> Result<Self, &'static str> {
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("it is cut off")?;
        let (head, body) = (&bytes[..end], &bytes[end + 1..]);
        let head: Head = serde_json::from_slice(head).map_err(|_| "it isn't the file of a machine")?;
        if head.schema != SCHEMA {
            return Err("another version of Chronicle wrote it");
        }
        if !pairing.is_mac(&head.parts(&head.number.to_be_bytes(), body), &head.mac) {
            return Err("the machine isn't paired with this one, or the file was changed");
        }
        if pairing.is_older(&head.machine, head.number) {
            return Err("it is older than the file that was read of that machine before");
        }
        let mut other = Self { id: head.machine, name: head.name, number: head.number, ..Self::default() };
        for line in body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(Mark::Gone { item }) => drop(other.gone.insert(item)),
                Ok(Mark::Back { item }) => drop(other.back.insert(item)),
                Err(_) => {
                    let item: Item =
                        serde_json::from_slice(line).map_err(|_| "a newer version of Chronicle wrote it")?;
                    let line = String::from_utf8_lossy(line).into_owned();
                    let version = version_of(&line);
                    other.items.insert(item.id(pairing), Line { item, line, version });
                }
            }
        }
        Ok(other)
    }
}

/// The files of machines in a folder. Links could lead anywhere.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).context(ReadInputSnafu { path: folder })?;
    for entry in entries.flatten().take(MOST_FILES) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && entry.file_name().to_string_lossy().ends_with(ENDING) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Puts the file of this machine in its place at once, for its owner alone.
/// Puts the file of this machine in its place. Only one process of a machine writes there, so the file that it begins
/// with has one name: the next process finds what a killed one left.
fn write(begun: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().expect("it is in a folder");
    let name = begun.file_name().expect("it has a name");
    let mut file = tempfile::Builder::new().prefix(name).rand_bytes(0).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_directory(folder)
}

fn digest_of(bytes: &[u8]) -> String {
    version_of(&String::from_utf8_lossy(bytes))
}
