//! The cold tier: transcripts of what is cited, kept when the agent deletes its own.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    io::{BufReader, Write},
    path::Path,
    time::Instant,
};

use chronicle_core::{Age, decay::Decay};
use chronicle_search::{BlockVersion, KeptTranscript, NamedSession, SessionId, Source, Used};
use chronicle_workplace::{
    Error,
    owned::{begun, remove},
};

use super::JobDone;
use crate::{Memory, memory::OpenMemory, sessions::kept};

/// The folder of kept transcripts, below the home of session memory.
const COLD_FOLDER: &str = "cold";

/// A transcript becomes this much smaller at most: where not even that fits, it is not tried.
const BEST_RATIO: u64 = 20;

/// A session that something refers to.
struct Cited {
    session: NamedSession,
    importance: f64,
}

impl Memory<'_> {
    /// Keeps the transcripts of sessions that are cited, the most important first, as far as the budget goes; those that
    /// do not fit any more are let go.
    pub(super) fn keep_transcripts(
        &self,
        memory: &mut OpenMemory,
        job: &mut JobDone,
        (is_dry_run, deadline): (bool, Option<Instant>),
    ) -> Result<(), Error> {
        let home = self.workplace.memory_home()?;
        let folder = home.join(COLD_FOLDER);
        let kept = memory.store.read(KeptTranscript::all)?;
        let mut kept: BTreeMap<SessionId, KeptTranscript> =
            kept.into_iter().map(|kept| (kept.session, kept)).collect();
        kept.retain(|_, kept| home.join(&kept.file).is_file());
        let mut room = self.cold_budget();
        let mut wanted = BTreeSet::new();
        let forgotten = memory.store.read(NamedSession::forgotten_turns)?;
        for cited in self.cited(memory)? {
            let id = cited.session.id;
            let known = kept.get(&id);
            let source = source_of(memory, id)?;
            let is_current = |known: &KeptTranscript| {
                source.as_ref().is_none_or(|(path, size, modified)| {
                    known.source == *path && known.source_size == *size && known.source_modified == *modified
                })
            };
            if let Some(known) = known.filter(|known| is_current(known)) {
                if known.n_bytes <= room {
                    room -= known.n_bytes;
                    wanted.insert(id);
                }
                continue;
            }
            let Some((path, size, modified)) = source else { continue };
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                job.is_unfinished = true;
                // What nobody looked at stays.
                wanted.extend(kept.keys());
                break;
            }
            if room < size / BEST_RATIO || is_dry_run {
                job.kept += usize::from(is_dry_run && size / BEST_RATIO <= room);
                continue;
            }
            if has_forgotten_words(memory, &cited.session, &path, &forgotten)? {
                continue;
            }
            let file = format!("{COLD_FOLDER}/{}", file_name(&cited.session));
            match pack(Path::new(&path), &home.join(&file), room) {
                Ok(Some((n_bytes, n_whole))) => {
                    room -= n_bytes;
                    wanted.insert(id);
                    let done = KeptTranscript {
                        session: id,
                        file,
                        n_bytes,
                        n_whole,
                        source: path,
                        source_size: size,
                        source_modified: modified,
                    };
                    memory.store.write(|tx| done.put(tx))?;
                    job.kept += 1;
                }
                Ok(None) => {}
                Err(error) => job.not_kept.push(format!("{path}: {error}")),
            }
        }
        if is_dry_run {
            return Ok(());
        }
        for known in kept.values().filter(|known| !wanted.contains(&known.session)) {
            memory.store.write(|tx| known.remove(tx))?;
            job.let_go += 1;
        }
        let stored = memory.store.read(KeptTranscript::all)?;
        remove_strays(&folder, &stored.iter().map(|kept| kept.file.as_str()).collect());
        Ok(())
    }

    /// How many bytes kept transcripts may take.
    pub(crate) fn cold_budget(&self) -> u64 {
        let settings = self.workplace.settings().unwrap_or_else(|_| self.workplace.settings_of_user());
        settings.value("memory.coldMegabytes").parse::<u64>().unwrap_or(500).saturating_mul(1_000_000)
    }

    /// The sessions that something refers to, the most important first: they made a commit, told of a thread, or show
    /// what a block says.
    fn cited(&self, memory: &OpenMemory) -> Result<Vec<Cited>, Error> {
        let mut shown: BTreeSet<String> = BTreeSet::new();
        for label in memory.store.read(BlockVersion::labels)? {
            let latest = memory.store.read(|connection| BlockVersion::latest(connection, &label))?;
            let lines = latest.into_iter().flat_map(|latest| latest.text.lines);
            shown.extend(lines.flat_map(|line| line.evidence));
        }
        let uses = memory.uses()?;
        let mut cited: Vec<Cited> = memory
            .store
            .read(|connection| NamedSession::cited(connection, &shown))?
            .into_iter()
            .map(|session| Cited { importance: self.importance_of(&session, &uses), session })
            .collect();
        cited.sort_by(|left, right| {
            right.importance.total_cmp(&left.importance).then(left.session.id.cmp(&right.session.id))
        });
        Ok(cited)
    }

    /// How much a session matters now.
    pub(crate) fn importance_of(&self, session: &NamedSession, uses: &BTreeMap<String, Vec<Used>>) -> f64 {
        let days = |at| Age::between(at, self.workplace.now()).days();
        let record = &session.record;
        let used = uses.get(&record.name).into_iter().flatten().map(|used| days(used.at));
        Decay::SESSION.importance(f64::from(record.importance), record.last.map_or(0.0, days), used)
    }
}

impl OpenMemory {
    /// What was used, by what it is.
    pub(crate) fn uses(&self) -> Result<BTreeMap<String, Vec<Used>>, Error> {
        let mut uses: BTreeMap<String, Vec<Used>> = BTreeMap::new();
        for used in self.store.read(Used::all)? {
            uses.entry(used.what.clone()).or_default().push(used);
        }
        Ok(uses)
    }
}

/// The longest of the transcripts of a session that are still there: path, size, time.
fn source_of(memory: &OpenMemory, session: SessionId) -> Result<Option<(String, u64, i64)>, Error> {
    let sources = memory.store.read(|connection| Source::of_session(connection, session))?;
    let there = sources.into_iter().filter_map(|source| {
        let (size, modified) = kept::look(Path::new(&source.path)).ok()?;
        Some((source.path, size, modified))
    });
    Ok(there.max_by_key(|(path, size, _)| (*size, path.clone())))
}

/// Whether the transcript of a session has words of one that was forgotten, which it goes on from.
fn has_forgotten_words(
    memory: &OpenMemory,
    session: &NamedSession,
    path: &str,
    forgotten: &HashSet<i64>,
) -> Result<bool, Error> {
    let goes_on = memory.store.read(|connection| {
        let names = session.forked_from(connection)?;
        names.iter().try_fold(false, |is_forgotten, name| {
            Ok(is_forgotten || NamedSession::is_forgotten(connection, &session.record.agent, name)?)
        })
    })?;
    let repeats = || {
        let transcript = kept::read(Path::new(path))?;
        chronicle_sessions::repeats(transcript, &|key| forgotten.contains(&key))
    };
    // Who keeps it says that it cannot be read.
    Ok(goes_on || !forgotten.is_empty() && repeats().unwrap_or(false))
}

/// Removes the kept transcripts of sessions that are to be forgotten, and of those that go on from them.
pub(crate) fn remove_kept(
    memory: &mut OpenMemory,
    home: &Path,
    sessions: &[NamedSession],
) -> Result<(), Error> {
    let mut keys = HashSet::new();
    for session in sessions {
        keys.extend(memory.store.read(|connection| session.turn_keys(connection))?);
    }
    for kept in memory.store.read(KeptTranscript::all)? {
        let names = memory.store.read(|connection| match NamedSession::by_id(connection, kept.session)? {
            Some(session) => Ok((session.record.agent.clone(), session.forked_from(connection)?)),
            None => Ok(Default::default()),
        });
        let (agent, names) = names?;
        let is_of_agent = |session: &&NamedSession| session.record.agent == agent;
        let is_meant = |session: &NamedSession| {
            session.id == kept.session || is_of_agent(&session) && names.contains(&session.record.name)
        };
        // The only copy of another session does not go because it is damaged.
        let repeats = || {
            let packed = fs::File::open(home.join(&kept.file));
            let transcript = packed.and_then(chronicle_sessions::unpacking);
            let has_one = |transcript| chronicle_sessions::repeats(transcript, &|key| keys.contains(&key));
            transcript.and_then(has_one).unwrap_or(false)
        };
        if sessions.iter().any(is_meant) || sessions.iter().any(|one| is_of_agent(&one)) && repeats() {
            remove(&home.join(&kept.file))?;
            memory.store.write(|tx| kept.remove(tx))?;
        }
    }
    Ok(())
}

/// Compresses a transcript into a file, unless that takes more than `room`: how long it is, and was.
fn pack(source: &Path, target: &Path, room: u64) -> std::io::Result<Option<(u64, u64)>> {
    let mut file = begun(target.parent().expect("it is in our own folder"))?;
    let mut reader = BufReader::with_capacity(1 << 16, kept::read(source)?);
    let n_whole = chronicle_sessions::keep(&mut reader, &mut file)?;
    file.flush()?;
    let n_bytes = file.as_file().metadata()?.len();
    if room < n_bytes {
        return Ok(None);
    }
    file.persist(target)?;
    Ok(Some((n_bytes, n_whole)))
}

/// Removes what no session keeps: what was let go, and what somebody was at who died.
fn remove_strays(folder: &Path, files: &BTreeSet<&str>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = format!("{COLD_FOLDER}/{}", entry.file_name().to_string_lossy());
        if !files.contains(name.as_str()) {
            let _removed = fs::remove_file(entry.path());
        }
    }
}

/// What the file of a session is called, whatever its id holds.
fn file_name(session: &NamedSession) -> String {
    let record = &session.record;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_safe = record.name.chars().all(is_plain) && (1..=100).contains(&record.name.len());
    let id = match is_safe {
        true => record.name.clone(),
        false => chronicle_search::fingerprint(record.name.as_bytes()),
    };
    format!("{}-{id}.jsonl.zst", record.agent.replace(|c| !is_plain(c), "_"))
}
