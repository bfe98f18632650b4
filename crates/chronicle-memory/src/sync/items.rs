//! What machines exchange: one line of a file for each item.

use std::collections::BTreeMap;

use chronicle_core::{
    block::{Author, BlockLine, BlockText},
    redaction::Removed,
    thread::ThreadEvent,
};
use chronicle_search::{
    BlockVersion, Connection, Feedback, NamedSession, Project, SessionRecord, SqlResult, Transaction,
    TurnKind, TurnRecord, Written, add_events, all_events, remove_event,
};
use chronicle_sessions::{DigestOfSession, clean};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    pairing::Pairing,
    places::{PlaceName, Places},
};
use crate::{blocks::block_limit, learning::GivenFeedback, sessions::look::Digested};

/// What machines exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Item {
    /// What a session was about.
    Digest(Box<SyncedDigest>),
    /// Something that happened to a thread.
    Event {
        agent: Option<String>,
        #[serde(flatten)]
        place: PlaceName,
        event: Box<ThreadEvent>,
    },
    /// A line that the user wrote into a block.
    BlockLine {
        label: String,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        projects: Vec<String>,
    },
    /// What the user said of something that was learned.
    Feedback { feedback: GivenFeedback },
}

/// A session without its turns and the folder that it worked in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SyncedDigest {
    pub(super) agent: String,
    pub(super) session: String,
    #[serde(flatten)]
    place: PlaceName,
    branch: Option<String>,
    model: Option<String>,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    title: String,
    importance: u8,
    prompts: u64,
    digest: Value,
    files: Vec<(String, u64)>,
}

/// An item as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) item: Item,
    /// The line.
    pub(super) line: String,
    /// A hash of the line.
    pub(super) version: String,
}

/// Items of another machine, by the hashes that name them.
pub(super) type Lines = BTreeMap<String, Line>;

/// Items here, likewise. Lines are made only of those that are written: looking for secrets takes time.
pub(super) type Items = BTreeMap<String, Item>;

impl Item {
    /// What names it, as only a machine with the key can compute it: what was taken out is known by that alone.
    pub(super) fn id(&self, pairing: &Pairing) -> String {
        let parts: Vec<String> = match self {
            Self::Digest(digest) => return session_id(pairing, &digest.agent, &digest.session),
            Self::Event { event, .. } => {
                vec!["event".to_owned(), serde_json::to_string(event).unwrap_or_default()]
            }
            Self::BlockLine { label, text, .. } => vec!["line".to_owned(), label.clone(), text.clone()],
            Self::Feedback { feedback } => {
                let GivenFeedback { what, id, at, .. } = feedback;
                vec!["feedback".to_owned(), what.clone(), id.clone(), at.clone()]
            }
        };
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        pairing.mac(&parts)[..32].to_owned()
    }

    /// The item as it is written: without secrets, however it was stored.
    pub(super) fn written(self) -> Line {
        let mut value = serde_json::to_value(&self).unwrap_or_default();
        clean(&mut value, &mut Removed::default());
        let item = serde_json::from_value(value.clone()).unwrap_or(self);
        let line = value.to_string();
        let version = version_of(&line);
        Line { item, line, version }
    }
}

/// A hash of a line.
pub(super) fn version_of(line: &str) -> String {
    Sha256::digest(line.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// What names a session.
pub(super) fn session_id(pairing: &Pairing, agent: &str, name: &str) -> String {
    pairing.mac(&[b"session", agent.as_bytes(), name.as_bytes()])[..32].to_owned()
}

/// Everything here that machines exchange.
pub(super) fn all(connection: &Connection, places: &Places, pairing: &Pairing) -> SqlResult<Items> {
    let mut items = Vec::new();
    for session in NamedSession::latest(connection, None, None, usize::MAX)? {
        // Until it was read to its end there is nothing to tell.
        if session.digest().is_none() {
            continue;
        }
        let files = session.own_files(connection)?;
        let SessionRecord { agent, name: id, project, branch, model, .. } = session.record;
        items.push(Item::Digest(Box::new(SyncedDigest {
            agent,
            session: id,
            place: places.name(project),
            branch,
            model,
            began: session.record.first,
            ended: session.record.last,
            title: session.record.title,
            importance: session.record.importance,
            prompts: session.record.n_prompts,
            digest: serde_json::from_str(&session.record.digest).unwrap_or_default(),
            files,
        })));
    }
    for (agent, event, project) in all_events(connection)? {
        items.push(Item::Event { agent, place: places.name(project), event: Box::new(event) });
    }
    for label in BlockVersion::labels(connection)? {
        let Some(latest) = BlockVersion::latest(connection, &label)? else { continue };
        for line in latest.text.of_user().filter(|line| !line.text.trim().is_empty()) {
            let (text, projects) = (line.text.clone(), line.projects.clone());
            items.push(Item::BlockLine { label: label.clone(), text, projects });
        }
    }
    let feedback = Feedback::all(connection, None)?.into_iter();
    items.extend(feedback.map(|said| Item::Feedback { feedback: GivenFeedback::of(said) }));
    Ok(items.into_iter().map(|item| (item.id(pairing), item)).collect())
}

impl Item {
    /// Stores an item of `machine`; false where there is no room, or no place for it.
    pub(super) fn put(
        &self,
        tx: &Transaction<'_>,
        now: Timestamp,
        (places, machine): (&Places, &str),
    ) -> SqlResult<bool> {
        match self {
            Self::Digest(digest) => digest.put(tx, &places.here(tx, &digest.place, machine)?).map(|()| true),
            Self::Event { agent, place, event } => {
                let session = match (agent, &event.session) {
                    (Some(agent), Some(name)) => NamedSession::by_name(tx, agent, name)?,
                    _ => None,
                };
                let project = places.here(tx, place, machine)?;
                let id = session.map(|session| session.id);
                add_events(tx, &project, id, std::slice::from_ref(&**event)).map(|_| true)
            }
            Self::BlockLine { label, text, projects } => put_line(tx, now, (label, text, projects)),
            Self::Feedback { feedback } => match feedback.clone().stored() {
                Some(feedback) => feedback.put(tx).map(|_| true),
                None => Ok(false),
            },
        }
    }

    /// Removes what another machine had in its file, and has there no longer. Sessions are forgotten in their own way.
    pub(super) fn take_away(&self, tx: &Transaction<'_>, now: Timestamp) -> SqlResult<()> {
        match self {
            Self::Digest(_) => Ok(()),
            Self::Event { event, .. } => remove_event(tx, event),
            Self::BlockLine { label, text, .. } => {
                let Some(latest) = BlockVersion::latest(tx, label)? else { return Ok(()) };
                let mut without = latest.text.clone();
                without.lines.retain(|line| line.by != Author::User || line.text != *text);
                BlockVersion::add(tx, label, now, ("user", "taken out on another machine"), &without)
                    .map(drop)
            }
            Self::Feedback { feedback } => match feedback.clone().stored() {
                Some(feedback) => feedback.remove(tx),
                None => Ok(()),
            },
        }
    }
}

fn put_line(
    tx: &Transaction<'_>,
    now: Timestamp,
    (label, text, projects): (&str, &str, &[String]),
) -> SqlResult<bool> {
    let Some(limit) = block_limit(tx, label)? else { return Ok(false) };
    let mut block = BlockVersion::latest(tx, label)?.map(|latest| latest.text).unwrap_or_default();
    if block.of_user().any(|line| line.text == text) {
        return Ok(true);
    }
    let n_user = block.of_user().count();
    let line = BlockLine { projects: projects.to_vec(), ..BlockLine::of_user(text) };
    block.lines.insert(n_user, line);
    // What rules wrote makes room; they write it again where there is some.
    while limit < block.n_characters() {
        match block.lines.iter().rposition(|line| line.by != Author::User) {
            Some(at) => drop(block.lines.remove(at)),
            None => return Ok(false),
        }
    }
    let text = BlockText { ..block };
    BlockVersion::add(tx, label, now, ("user", "written on another machine"), &text).map(|_| true)
}

impl SyncedDigest {
    /// The key of the turn that stands for the digest.
    pub(super) fn turn_key(&self) -> i64 {
        chronicle_search::key(&format!("digest\n{}\n{}", self.agent, self.session))
    }

    fn put(&self, tx: &Transaction<'_>, project: &Project) -> SqlResult<()> {
        let Ok(digest) = serde_json::from_value::<DigestOfSession>(self.digest.clone()) else {
            return Ok(());
        };
        let record = SessionRecord {
            agent: self.agent.clone(),
            name: self.session.clone(),
            parent: None,
            is_sub_agent: false,
            project: project.id,
            folder: String::new(),
            branch: self.branch.clone(),
            model: self.model.clone(),
            first: self.began,
            last: self.ended,
            title: self.title.clone(),
            importance: self.importance.clamp(1, 5),
            n_prompts: self.prompts,
            digest: self.digest.to_string(),
        };
        let id = record.put(tx)?;
        let files =
            self.files.iter().map(|(path, count)| (path.clone(), usize::try_from(*count).unwrap_or(1)));
        NamedSession::put_files(tx, id, files)?;
        let commits = digest.commits.iter().cloned();
        NamedSession::put_commits(tx, id, commits.map(|commit| [commit.id, commit.branch, commit.subject]))?;
        let text = [
            vec![self.title.clone(), digest.summary],
            digest.key_actions,
            digest.decisions,
            digest.open_questions,
        ];
        let turn = TurnRecord {
            key: self.turn_key(),
            position: 0,
            line: 1,
            name: "digest",
            kind: TurnKind::Summary,
            at: self.ended,
            sub_agent: None,
            speaker: None,
            is_ok: None,
            text: &text.concat().join("\n"),
            answer: None,
        };
        turn.put(tx, id, &mut Written::default()).map(drop)
    }
}
