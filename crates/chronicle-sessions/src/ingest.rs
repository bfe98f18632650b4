//! Takes a transcript into the store.
//!
//! A file that has grown is read from its beginning, or on from a checkpoint of its rows: the store is the same then.
//! Turns that are there already stay untouched, so that reading it again changes nothing but the new part.

pub(crate) mod checkpoint;
pub(crate) mod cleaned;
pub(crate) mod cold;
pub(crate) mod copies;
pub(crate) mod edited;
pub(crate) mod forks;
pub(crate) mod kept;
pub(crate) mod stored;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};

use chronicle_core::is_session_id;
use chronicle_core::redaction::{Removed, for_storage, named_for_storage};
use chronicle_search::{
    KnownThreads, NamedSession, Project, SessionId, SessionRecord, Source, SqlError, SqlResult, StoredEdit,
    StoredTurn, Transaction, TurnRecord, Written, add_events,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::checkpoint::{Checkpoint, Resumed};
use self::cleaned::cleaned;
use self::copies::Copies;
use self::edited::Edited;
use self::forks::Shared;
use self::kept::{Tops, kept};
use crate::agents::Format;
use crate::agents::handed::Begun;
use crate::commands::checks::Called;
use crate::digest::threads::events_among;
use crate::digest::titles::TitleVerdict;
use crate::digest::wording::Wording;
use crate::digest::{DigestOfSession, digest};
use crate::journal::Journal;
use crate::reading::{AtEnd, Reading, Session, read, read_on, read_to_end};
use crate::rows::tally::Tally;
use crate::signs::hard_failures;
use crate::turn::{Agent, Commit, Edit, EditKind, Event, Place, Turn, Usage};

/// How many sessions of one file are kept in mind at once; the one that was told of longest ago is closed first.
const MOST_ONGOING: usize = 64;

/// Ids shorter than this may come up in two sessions by chance.
const LEAST_UNIQUE_ID: usize = 16;

/// A file to take in.
#[derive(Debug, Clone)]
pub struct Transcript<'t> {
    /// Where it lies.
    pub path: &'t str,
    /// What its session is called when it does not say.
    pub stem: &'t str,
    /// How many bytes it has.
    pub size: u64,
    /// When it was written last, in nanoseconds since 1970.
    pub modified: i64,
    /// Who began its session.
    pub begun: Begun,
    /// The form it has, if that is known.
    pub format: Option<Format>,
    /// How many bytes have to be read before a checkpoint is worth its place; none for no checkpoint.
    pub checkpoint_from: Option<u64>,
}

/// Where the session of a folder belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Belongs {
    /// To this project, in the working tree that has this top, if that is known.
    To(Project, Option<String>),
    /// Nowhere: nothing of it is to be remembered.
    Nowhere,
}

/// Says where the session that worked in a folder belongs.
pub type Placing<'p> = dyn FnMut(&Transaction<'_>, &str) -> SqlResult<Belongs> + 'p;

/// What became of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Ingested {
    /// No agent wrote it.
    NoTranscript,
    /// It was read.
    Read {
        /// The agent that wrote it.
        agent: Agent,
        /// The sessions that it tells of, and what of each is new.
        sessions: Vec<IngestedSession>,
        /// How many of its sessions are not to be remembered.
        n_left_out: usize,
        /// What became of its lines.
        tally: Tally,
        /// What was taken out before anything was kept.
        removed: Removed,
        /// Where a later reading can go on.
        checkpoint: Option<Checkpoint>,
    },
}

/// What became of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestedSession {
    /// The session.
    pub id: SessionId,
    /// The name that the agent gave it.
    pub name: String,
    /// What changed in the store.
    pub written: Written,
    /// How many events of threads are new.
    pub n_events: usize,
    /// Sessions that were taken in before and hold turns which happened in this one first: they are forks of it.
    pub forks: Vec<SessionId>,
}

impl Ingested {
    /// The sessions that it tells of.
    pub fn sessions(&self) -> impl Iterator<Item = &IngestedSession> {
        match self {
            Self::NoTranscript => [].iter(),
            Self::Read { sessions, .. } => sessions.iter(),
        }
    }
}

/// Takes the transcript that `file` reads into the store, as a part of a transaction. Who takes in many keeps what is
/// `known` of threads from one to the next. `resumed` is a reading that the rest of the file goes on from: see
/// [`Resumed::is_of`].
///
/// Where the file cannot be read, its error comes back, and nothing of it is to be committed.
///
/// # Errors
/// When it cannot be stored.
pub fn ingest(
    tx: &Transaction<'_>,
    file: impl Read,
    transcript: &Transcript<'_>,
    resumed: Option<Resumed>,
    now: Timestamp,
    placing: &mut Placing<'_>,
    known: &mut KnownThreads,
) -> SqlResult<Result<Ingested, io::Error>> {
    let mut taker = Taker::new(tx, transcript, placing, known);
    if let Some(known) = resumed.as_ref().and_then(Resumed::taken) {
        (taker.ongoing, taker.position) = (known.ongoing, known.position);
        for ongoing in &mut taker.ongoing {
            ongoing.copies = ongoing.possible_copies(tx, ongoing.session.first)?;
        }
    }
    let taker = RefCell::new(taker);
    let on_turn = &mut |turn: &Turn<'_>, session: &Session| taker.borrow_mut().take(turn, session);
    let mut checkpoint = None;
    let at_end = &mut |reading: &AtEnd<'_, '_>| checkpoint = taker.borrow().checkpoint(reading);
    let read = match resumed {
        Some(Resumed { pause, waiting, .. }) => read_on(file, pause, waiting, on_turn, at_end).map(Some),
        None => {
            let source = crate::rows::source::Source::new(file, &Place { line: 1, bytes: 0..0 });
            read_to_end(source, transcript.format, transcript.begun, on_turn, at_end)
        }
    };
    match read {
        Ok(reading) => taker.into_inner().end(reading, checkpoint, now).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

/// What is known of the sessions of a file at a checkpoint.
#[derive(Deserialize)]
struct Taken {
    ongoing: Vec<Ongoing>,
    position: (u64, i64),
}

impl Resumed {
    fn taken(&self) -> Option<Taken> {
        Taken::deserialize(&self.sessions).ok()
    }

    /// Whether the store still has the sessions that it is about, in the projects where `placing` puts them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_of(&self, tx: &Transaction<'_>, placing: &mut Placing<'_>) -> SqlResult<bool> {
        let Some(taken) = self.taken() else { return Ok(false) };
        for one in taken.ongoing {
            let known = NamedSession::by_name(tx, one.agent.name(), &one.name)?;
            let folder = one.session.folders.first().map(String::as_str).unwrap_or_default();
            let project = match placing(tx, folder)? {
                Belongs::To(project, _) => Some(project),
                Belongs::Nowhere => None,
            };
            if known.is_none_or(|known| known.id != one.id) || project.as_ref() != Some(&one.project) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Takes in the turns of one file.
struct Taker<'a> {
    tx: &'a Transaction<'a>,
    transcript: &'a Transcript<'a>,
    placing: &'a mut Placing<'a>,
    known: &'a mut KnownThreads,
    ongoing: Vec<Ongoing>,
    finished: Vec<IngestedSession>,
    /// Sessions of which nothing is to be remembered.
    left_out: Vec<String>,
    removed: Removed,
    /// The byte at which the last turn began, and how many began there before it.
    position: (u64, i64),
    failed: Option<SqlError>,
}

/// A session that is being told of.
#[derive(Serialize, Deserialize)]
struct Ongoing {
    #[serde(with = "crate::ingest::stored::session")]
    id: SessionId,
    agent: Agent,
    name: String,
    parent: Option<String>,
    is_sub_agent: bool,
    /// Whether the store has turns of its name from other files alone, and whether none of this one's was found among
    /// them yet.
    #[serde(skip)]
    is_of_others: bool,
    #[serde(skip)]
    is_unproven: bool,
    #[serde(with = "crate::ingest::stored::project")]
    project: Project,
    journal: Journal,
    /// What its turns say of it, where a file holds more than one session.
    session: Session,
    /// Whether the last turn was repeated from the session that this one was forked from.
    is_repeating: bool,
    shared: Shared,
    /// What it may have from others; looked up again when a reading goes on.
    #[serde(skip)]
    copies: Copies,
    usage: Repeated,
    #[serde(skip)]
    written: Written,
    /// Files that sub-agents changed, and how often.
    sub_agents_files: BTreeMap<String, usize>,
    /// The tops of the working trees that it worked in.
    tops: Tops,
}

impl<'a> Taker<'a> {
    fn new(
        tx: &'a Transaction<'a>,
        transcript: &'a Transcript<'a>,
        placing: &'a mut Placing<'a>,
        known: &'a mut KnownThreads,
    ) -> Self {
        Self {
            tx,
            transcript,
            placing,
            known,
            ongoing: Vec::new(),
            finished: Vec::new(),
            left_out: Vec::new(),
            removed: Removed::default(),
            position: (0, 0),
            failed: None,
        }
    }

    fn take(&mut self, turn: &Turn<'_>, session: &Session) {
        if self.failed.is_none() {
            self.failed = self.try_take(turn, session).err();
        }
    }

    fn try_take(&mut self, turn: &Turn<'_>, session: &Session) -> SqlResult<()> {
        let Some(index) = self.ongoing(turn, session)? else { return Ok(()) };
        self.arrive(index, session)?;
        let ongoing = &mut self.ongoing[index];
        ongoing.saw(turn, session);
        if ongoing.is_told_usage_late() {
            ongoing.usage.went_on(session.usage, ongoing.is_repeating);
        }
        self.position = match self.position {
            (start, n) if start == turn.place.bytes.start => (start, n + 1),
            _ => (turn.place.bytes.start, 0),
        };
        let edited = match &turn.event {
            Event::Edit(edit, outcome) if outcome.is_ok != Some(false) => Edited::of(edit),
            _ => None,
        };
        let resolved = resolved(turn, session);
        let turn = resolved.as_ref().unwrap_or(turn);
        let cleaned = cleaned(turn, &mut self.removed);
        let turn = cleaned.as_ref().unwrap_or(turn);
        let called = Called::in_turn(turn);
        if let Some(kept) = kept(turn, &called, &ongoing.tops, &mut self.removed) {
            let (id, speaker) = (named(&turn.id), named(&turn.speaker));
            let sub_agent = turn.sub_agent.as_deref().map(named);
            let mut record = TurnRecord {
                key: key(ongoing, turn),
                position: position(self.position),
                line: turn.place.line,
                name: &id,
                kind: kept.kind,
                at: turn.at,
                sub_agent: sub_agent.as_deref(),
                speaker: Some(&*speaker).filter(|speaker| !speaker.is_empty()),
                is_ok: kept.is_ok,
                text: &kept.text,
                answer: kept.answer.as_deref(),
            };
            if record.is_forgotten(self.tx)? {
                ongoing.is_repeating = true;
                if !ongoing.is_told_usage_late() {
                    ongoing.usage.went_on(session.usage, true);
                }
                return Ok(());
            }
            if ongoing.is_of_others {
                let is_known = record.is_stored(self.tx)?;
                if ongoing.is_unproven && is_known != Some(true) {
                    let another = self.ongoing.remove(index);
                    self.left_out.push(another.name);
                    return Ok(());
                }
                ongoing.is_unproven = false;
                // A copy adds, and changes nothing.
                if is_known == Some(false) {
                    return Ok(());
                }
            }
            let repeated = ongoing.copies.take(&record, ongoing.is_repeating);
            record.key = repeated.unwrap_or(record.key);
            let elsewhere = record.put(self.tx, ongoing.id, &mut ongoing.written)?;
            ongoing.shared.note(record.key, record.line, record.at, elsewhere);
            ongoing.is_repeating = elsewhere.is_some();
            if let Some(edited) = edited.filter(|_| !ongoing.is_repeating) {
                StoredEdit::put(self.tx, (ongoing.id, record.key), record.text, &edited.to_bytes())?;
            }
        }
        if !ongoing.is_told_usage_late() {
            ongoing.usage.went_on(session.usage, ongoing.is_repeating);
        }
        if !ongoing.is_repeating {
            ongoing.note(turn, called);
        }
        Ok(())
    }

    /// Notes the working tree of the folder that a session went to: its files are told from the top of that.
    fn arrive(&mut self, index: usize, session: &Session) -> SqlResult<()> {
        let ongoing = &self.ongoing[index];
        let folder = session.folder.as_deref().unwrap_or_default();
        let has = |folders: &[String]| folders.iter().any(|known| known == folder);
        if has(&ongoing.session.folders) || !has(&session.folders) {
            return Ok(());
        }
        // Elsewhere may be anything: it is no project because a session passed by.
        let is_within = ongoing.session.folders.is_empty() || ongoing.tops.within(folder) != folder;
        let top = match if is_within { Some((self.placing)(self.tx, folder)?) } else { None } {
            Some(Belongs::To(_, top)) => {
                top.or_else(|| (!ongoing.tops.has(folder)).then(|| folder.to_owned()))
            }
            Some(Belongs::Nowhere) => None,
            None => Some(folder.to_owned()),
        };
        self.ongoing[index].tops.extend(top);
        Ok(())
    }

    /// Which of the sessions that are being told of this turn belongs to; none when it is not to be remembered.
    fn ongoing(&mut self, turn: &Turn<'_>, session: &Session) -> SqlResult<Option<usize>> {
        let name = name(turn, session, self.transcript);
        if let Some(known) = self.ongoing.iter().rposition(|ongoing| ongoing.name == name) {
            return Ok(Some(known));
        }
        if self.left_out.contains(&name) {
            return Ok(None);
        }
        let agent = session.agent.unwrap_or(Agent::Generic);
        let is_sub_agent = is_side(session, self.transcript) || session.is_sub_agent;
        let folder = session.folder.as_deref().unwrap_or_default();
        let is_forgotten = NamedSession::is_forgotten(self.tx, agent.name(), &name)?
            || match &session.parent_id {
                Some(parent) if is_sub_agent => NamedSession::is_forgotten(self.tx, agent.name(), parent)?,
                _ => false,
            };
        let belongs = if is_forgotten { Belongs::Nowhere } else { (self.placing)(self.tx, folder)? };
        let Belongs::To(project, _) = belongs else {
            self.left_out.push(name);
            return Ok(None);
        };
        let known = NamedSession::by_name(self.tx, agent.name(), &name)?;
        let is_of_others = known.as_ref().map_or(Ok(false), |known| self.is_of_others(known))?;
        let mut ongoing = Ongoing {
            id: SessionId(0),
            agent,
            journal: Journal::new(Some(&name)),
            parent: session.parent_id.as_deref().map(named).filter(|parent| *parent != name),
            is_sub_agent,
            is_of_others,
            is_unproven: is_of_others,
            name,
            project,
            session: Session { agent: Some(agent), ..Session::default() },
            is_repeating: false,
            shared: Shared::default(),
            copies: Copies::default(),
            usage: Repeated::default(),
            written: Written::default(),
            sub_agents_files: BTreeMap::new(),
            tops: Tops::default(),
        };
        ongoing.journal.begin_in(folder);
        ongoing.copies = ongoing.possible_copies(self.tx, turn.at)?;
        ongoing.id = match known {
            Some(known) => known.id,
            None => ongoing.record(session, String::new(), "", 1).put(self.tx)?,
        };
        if MOST_ONGOING <= self.ongoing.len() {
            let oldest = self.ongoing.remove(0);
            self.close(oldest, None)?;
        }
        self.ongoing.push(ongoing);
        Ok(Some(self.ongoing.len() - 1))
    }

    /// Whether all that is known of a session is from other files. Then this one has to begin as they do: an id can be read
    /// in notes, and a file that only bears it must not take the place of the session.
    fn is_of_others(&self, known: &NamedSession) -> SqlResult<bool> {
        let sources = Source::of_session(self.tx, known.id)?;
        let is_here = sources.iter().any(|source| source.path == self.transcript.path);
        Ok(!sources.is_empty() && !is_here && StoredTurn::has_any(self.tx, known.id)?)
    }

    /// What is known now, where the reading can go on from here and that is worth it.
    fn checkpoint(&self, reading: &AtEnd<'_, '_>) -> Option<Checkpoint> {
        let is_worth_it = self.transcript.checkpoint_from.is_some_and(|from| from <= reading.n_bytes());
        // Whatever was closed or left out can't be gone on with.
        let is_whole = self.finished.is_empty() && self.left_out.is_empty() && self.failed.is_none();
        if !is_worth_it || !is_whole || self.ongoing.is_empty() {
            return None;
        }
        let mut ongoing = serde_json::to_value(&self.ongoing).ok()?;
        for one in ongoing.as_array_mut()? {
            clean(&mut one["journal"], &mut Removed::default());
        }
        let sessions = json!({ "ongoing": ongoing, "position": self.position });
        Checkpoint::new(reading.pause()?, sessions, |state| {
            let mut cleaned = state.clone();
            clean(&mut cleaned, &mut Removed::default());
            cleaned == *state
        })
    }

    fn end(
        mut self,
        reading: Option<Reading>,
        checkpoint: Option<Checkpoint>,
        now: Timestamp,
    ) -> SqlResult<Ingested> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let is_only_one = self.finished.is_empty() && self.ongoing.len() == 1;
        let whole = reading.as_ref().map(|reading| &reading.session);
        for ongoing in std::mem::take(&mut self.ongoing) {
            self.close(ongoing, whole.filter(|_| is_only_one))?;
        }
        let tally = reading.as_ref().map(|reading| tally_json(&reading.tally).to_string());
        Source {
            path: self.transcript.path.to_owned(),
            session: self.finished.first().map(|session| session.id),
            size: self.transcript.size,
            modified: self.transcript.modified,
            read_at: now,
            // Of an empty file, its agent has written nothing yet.
            tally: tally.unwrap_or_else(|| match self.transcript.size {
                0 => String::new(),
                _ => Source::UNKNOWN.to_owned(),
            }),
        }
        .put(self.tx)?;
        let Some(reading) = reading else { return Ok(Ingested::NoTranscript) };
        Ok(Ingested::Read {
            agent: reading.agent,
            sessions: self.finished,
            n_left_out: self.left_out.len(),
            tally: reading.tally,
            removed: self.removed,
            checkpoint,
        })
    }

    /// Stores what is known of a session now that it was told of; `whole` is what the file says of it.
    fn close(&mut self, mut ongoing: Ongoing, whole: Option<&Session>) -> SqlResult<()> {
        let mut session = whole.unwrap_or(&ongoing.session).for_storage();
        // Some documents say it after their messages.
        ongoing.is_sub_agent |= session.is_sub_agent;
        if ongoing.is_told_usage_late() {
            ongoing.usage.went_on(session.usage, ongoing.is_repeating);
        }
        session.usage.take_away(&ongoing.usage.repeated);
        let session = &session;
        let mut n_events = 0;
        if !self.is_outdated(&ongoing, session)? {
            let tops = &ongoing.tops;
            ongoing.journal.place_files(|path| tops.place(path).map(str::to_owned));
            let mut digest = digest(&ongoing.journal, session);
            if ongoing.journal.has_failures {
                digest.failures = hard_failures(&StoredTurn::of_session(self.tx, ongoing.id)?);
            }
            let own_commits = digest.commits.clone();
            for sub_agent in NamedSession::sub_agents(self.tx, ongoing.agent.name(), &ongoing.name)? {
                digest
                    .add_commits(&stored_digest(&sub_agent).map(|digest| digest.commits).unwrap_or_default());
            }
            let mut json = serde_json::to_value(&digest).unwrap_or_default();
            clean(&mut json, &mut self.removed);
            let title = json["title"].as_str().unwrap_or_default().to_owned();
            let record = ongoing.record(session, json.to_string(), &title, digest.importance);
            let record = Wording::kept(self.tx, NamedSession { id: ongoing.id, record })?;
            TitleVerdict::put(self.tx, record)?;
            let files = digest.files.into_iter().map(|file| (file.path, file.n_changes));
            NamedSession::put_files(
                self.tx,
                ongoing.id,
                files.chain(std::mem::take(&mut ongoing.sub_agents_files)),
            )?;
            let commits = own_commits.iter().cloned();
            let commits = commits.map(|commit| [commit.id, commit.branch, commit.subject]);
            NamedSession::put_commits(self.tx, ongoing.id, commits)?;
            if ongoing.is_sub_agent {
                self.tell_parent(&ongoing, &json)?;
            } else {
                let known = self.known.at(self.tx, ongoing.project.id, session.first)?;
                let known: Vec<_> = known.into_iter().map(|known| (&known.thread, &known.gist)).collect();
                let events = events_among(&ongoing.journal, session, &ongoing.project.key, &known);
                n_events = add_events(self.tx, &ongoing.project, Some(ongoing.id), &events)?;
            }
        }
        let Ongoing { id, name, parent, shared, written, .. } = ongoing;
        let forks = shared.forks(self.tx, &name, parent.as_deref())?;
        self.finished.push(IngestedSession { id, name, written, n_events, forks });
        Ok(())
    }

    /// Adds the commits of a sub-agent, whose `digest` that is, to the session that sent it, if that one was read before.
    fn tell_parent(&self, ongoing: &Ongoing, digest: &Value) -> SqlResult<()> {
        let Some(parent) = &ongoing.parent else { return Ok(()) };
        let Some(parent) = NamedSession::by_name(self.tx, ongoing.agent.name(), parent)? else {
            return Ok(());
        };
        let commits = Vec::<Commit>::deserialize(&digest["commits"]).unwrap_or_default();
        let Some(mut known) = stored_digest(&parent).filter(|_| !commits.is_empty()) else { return Ok(()) };
        known.add_commits(&commits);
        let digest = serde_json::to_string(&known).unwrap_or_default();
        SessionRecord { digest, ..parent.record }.put(self.tx)?;
        Ok(())
    }

    /// Whether more is known of the session already than this file tells: it is an earlier copy.
    fn is_outdated(&self, ongoing: &Ongoing, session: &Session) -> SqlResult<bool> {
        let known = NamedSession::by_id(self.tx, ongoing.id)?;
        Ok(known.is_some_and(|known| !known.record.digest.is_empty() && session.last < known.record.last))
    }
}

/// An edit of a file that is named from the folder where the session was just then, with the whole path; none for others.
fn resolved<'t>(turn: &Turn<'t>, session: &Session) -> Option<Turn<'t>> {
    let Event::Edit(edit, outcome) = &turn.event else { return None };
    let folder = session.folder.as_deref().filter(|folder| folder.starts_with('/'))?;
    if edit.path.starts_with(['/', '~']) || edit.path.contains(':') {
        return None;
    }
    let mut path: Vec<&str> = folder.split('/').collect();
    for name in edit.path.split('/') {
        match name {
            "." | "" => {}
            ".." => drop(path.pop()),
            name => path.push(name),
        }
    }
    let edit = Edit { path: path.join("/"), ..edit.clone() };
    Some(Turn { event: Event::Edit(edit, outcome.clone()), ..turn.clone() })
}

/// What is stored of what a session was about; none until it was read to its end.
fn stored_digest(session: &NamedSession) -> Option<DigestOfSession> {
    serde_json::from_str(&session.record.digest).ok()
}

/// What replies cost that the session repeats from the one that it was forked from.
#[derive(Default, Serialize, Deserialize)]
struct Repeated {
    repeated: Usage,
    before: Usage,
}

impl Repeated {
    /// Notes what all replies up to a turn cost: what came with a repeated turn was repeated.
    fn went_on(&mut self, now: Usage, is_repeating: bool) {
        if is_repeating {
            self.repeated.grow(&self.before, &now);
        }
        self.before = now;
    }
}

impl Ongoing {
    /// Whether its agent writes what a reply cost after its turns, and not with them.
    fn is_told_usage_late(&self) -> bool {
        self.agent == Agent::Codex
    }

    /// What it may have from sessions that began at `first`, as it did.
    fn possible_copies(&self, tx: &Transaction<'_>, first: Option<Timestamp>) -> SqlResult<Copies> {
        let copies = Copies::of(tx, (self.agent.name(), &self.name), self.project.id, first)?;
        Ok(copies.without(|key| self.shared.has(key)))
    }

    /// Notes where and when a turn happened.
    fn saw(&mut self, turn: &Turn<'_>, session: &Session) {
        self.session.saw(turn.at);
        self.session.n_turns += 1;
        self.session.is_in(session.folder.as_deref().unwrap_or_default());
        self.session.is_on(session.branch.as_deref().unwrap_or_default());
    }

    fn note(&mut self, turn: &Turn<'_>, called: Called) {
        if self.is_sub_agent {
            // Here it is the one that the session is about.
            return self.journal.take_called(&Turn { sub_agent: None, ..turn.clone() }, called);
        }
        if turn.sub_agent.is_some()
            && let Event::Edit(edit, outcome) = &turn.event
            && outcome.is_ok != Some(false)
            && edit.kind != EditKind::Deleted
        {
            let path = self.tops.within(&edit.path).to_owned();
            *self.sub_agents_files.entry(path).or_default() += 1;
        }
        self.journal.take_called(turn, called);
    }

    fn record(&self, session: &Session, digest: String, title: &str, importance: u8) -> SessionRecord {
        SessionRecord {
            agent: self.agent.name().to_owned(),
            name: self.name.clone(),
            parent: self.parent.clone(),
            is_sub_agent: self.is_sub_agent,
            project: self.project.id,
            folder: session.folders.first().or(session.folder.as_ref()).cloned().unwrap_or_default(),
            branch: session.branch.clone(),
            model: model(session),
            first: session.first,
            last: session.last,
            title: title.to_owned(),
            importance,
            n_prompts: self.journal.n_prompts as u64,
            digest,
        }
    }
}

/// Whether the file is that of a sub-agent: it names the session that started it as its own, and isn't that one's.
fn is_side(session: &Session, transcript: &Transcript<'_>) -> bool {
    let id = session.id.as_deref();
    id.is_some() && session.parent_id.as_deref() == id && id != Some(transcript.stem)
}

/// The name of the session that a turn belongs to.
fn name(turn: &Turn<'_>, session: &Session, transcript: &Transcript<'_>) -> String {
    if !turn.session.is_empty() {
        return named(&turn.session);
    }
    // An id of another shape could be a path or a text: the file has a name that no transcript chose.
    let id = session.id.as_deref().filter(|id| is_session_id(id));
    let name = &named(id.unwrap_or(transcript.stem));
    match &turn.sub_agent {
        Some(sub_agent) if is_side(session, transcript) => format!("{name}/{sub_agent}"),
        _ if is_side(session, transcript) => format!("{name}/{}", transcript.stem),
        _ => name.to_owned(),
    }
}

/// The model of a session, which is a text that its transcript chose.
fn model(session: &Session) -> Option<String> {
    session.model.as_deref().map(|model| for_storage(model, &mut Removed::default()).into_owned())
}

/// A name that humans may have chosen, without what must not be kept.
fn named(name: &str) -> String {
    match is_session_id(name) {
        true => name.to_owned(),
        false => for_storage(name, &mut Removed::default()).into_owned(),
    }
}

/// Who a turn is, in whichever session. Ids that may come up again by chance count within their session only.
fn key(ongoing: &Ongoing, turn: &Turn<'_>) -> i64 {
    let (scope, id) = match (is_unique(turn, ongoing.agent), turn.id.is_empty()) {
        (true, _) => ("", turn.id.to_string()),
        (false, false) => (ongoing.name.as_str(), turn.id.to_string()),
        (false, true) => (ongoing.name.as_str(), format!("@{}", turn.place.bytes.start)),
    };
    let words = format!("{}\0{scope}\0{id}", ongoing.agent.name());
    chronicle_search::key(&words)
}

/// Whether no other turn has the id of this one, in any session.
fn is_unique(turn: &Turn<'_>, agent: Agent) -> bool {
    LEAST_UNIQUE_ID <= turn.id.len()
        && turn.id.bytes().any(|byte| byte.is_ascii_digit())
        && agent != Agent::Generic
        && !turn.id.starts_with("queue-")
}

/// Whether a transcript has one of some turns, given by their keys in the store: it repeats those of the session that it
/// was forked from.
///
/// # Errors
/// When the transcript cannot be read.
pub fn repeats(transcript: impl Read, is_one: &dyn Fn(i64) -> bool) -> io::Result<bool> {
    let mut has_one = false;
    let read = read(transcript, None, &mut |turn, session| {
        let agent = session.agent.unwrap_or(Agent::Generic);
        let words = || format!("{}\0\0{}", agent.name(), turn.id);
        has_one = has_one || is_unique(turn, agent) && is_one(chronicle_search::key(&words()));
    });
    // A fork begins with the turns of the other, so what is damaged behind them changes nothing.
    if has_one { Ok(true) } else { read.map(|_| false) }
}

/// Where a turn stands in its session.
fn position((start, n): (u64, i64)) -> i64 {
    i64::try_from(start).unwrap_or(i64::MAX >> 6).saturating_mul(64) + n.min(63)
}

/// Takes what must not be kept out of every text of a JSON value, and out of the names of its members: a map from paths
/// or words to others has some of them there.
pub fn clean(value: &mut Value, removed: &mut Removed) {
    clean_named("", value, removed);
}

fn clean_named(name: &str, value: &mut Value, removed: &mut Removed) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(kept) = named_for_storage(name, text, removed) {
                *text = kept;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| clean_named(name, value, removed)),
        Value::Object(members) => {
            members.iter_mut().for_each(|(name, value)| clean_named(name, value, removed));
            let is_clean =
                |name: &String| matches!(for_storage(name, &mut Removed::default()), Cow::Borrowed(_));
            if !members.keys().all(is_clean) {
                let named = std::mem::take(members).into_iter();
                members.extend(named.map(|(name, value)| (for_storage(&name, removed).into_owned(), value)));
            }
        }
        _ => {}
    }
}

fn tally_json(tally: &Tally) -> Value {
    json!({
        "lines": tally.n_lines,
        "rows": tally.n_rows,
        "kept": tally.n_kept,
        "skipped": tally.skipped,
        "unreadable": tally.n_unreadable,
        "repaired": tally.n_repaired,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> String {
        ["gh", "p_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi"].concat()
    }

    #[test]
    fn names_of_members_are_texts_too() {
        let mut value = json!({ "a": [{ (token()): 1, "b": "password=hunter22" }], "password": "hunter22" });
        let mut removed = Removed::default();
        clean(&mut value, &mut removed);
        let expected = json!({
            "a": [{ "[redacted:github-token]": 1, "b": "password=[redacted:password]" }],
            "password": "[redacted:password]",
        });
        assert_eq!((value, removed.n_secrets()), (expected, 3));
    }

    #[test]
    fn a_model_may_not_be_called_by_a_secret() {
        let of = |name: &str| model(&Session { model: Some(name.to_owned()), ..Session::default() });
        assert_eq!(of("claude-sonnet-4-5-20250929").as_deref(), Some("claude-sonnet-4-5-20250929"));
        assert_eq!(of(&token()).as_deref(), Some("[redacted:github-token]"));
    }
}
