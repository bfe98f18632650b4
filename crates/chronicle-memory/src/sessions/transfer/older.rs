//! Session memory in an older layout, with keys in camel case.

use std::path::Path;

use chronicle_core::thread::{
    Change, Evidence, How, Opening, Origin, Priority, Resolution, ThreadEvent, ThreadId, ThreadKind,
};
use chronicle_search::{
    NamedSession, Project, SessionRecord, SqlResult, Transaction, TurnKind, TurnRecord, Written, add_events,
};
use chronicle_sessions::{LONGEST_TITLE, first_sentence, shortened};
use jiff::Timestamp;
use serde::Deserialize;

use super::{super::place::Placer, day, moment};

/// A session as an older kind of memory kept it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OlderDigest {
    session_id: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    key_actions: Vec<String>,
    #[serde(default)]
    files_modified: Vec<String>,
    #[serde(default)]
    technologies_used: Vec<String>,
    #[serde(default)]
    open_questions: Vec<String>,
    #[serde(default)]
    importance: Option<f64>,
    #[serde(default, alias = "createdAt", alias = "date", alias = "endedAt")]
    timestamp: Option<String>,
}

impl OlderDigest {
    pub(super) fn put(&self, tx: &Transaction<'_>, file: &Path) -> SqlResult<()> {
        // What was read from its transcript says more.
        let is_known = NamedSession::by_name(tx, "claude", &self.session_id)?.is_some();
        if is_known || NamedSession::is_forgotten(tx, "claude", &self.session_id)? {
            return Ok(());
        }
        let Some(project) = older_project(tx, &self.project, file)? else { return Ok(()) };
        let at = self.timestamp.as_deref().and_then(moment).or_else(|| date_in_name(file));
        let importance = (1..=5).find(|step| self.importance.unwrap_or(3.0) <= f64::from(*step)).unwrap_or(5);
        let digest = chronicle_sessions::DigestOfSession {
            title: shortened(first_sentence(&self.summary).trim_end_matches('.'), LONGEST_TITLE),
            titles: Vec::new(),
            summary: self.summary.clone(),
            key_actions: self.key_actions.clone(),
            files: Vec::new(),
            checks: Vec::new(),
            commits: Vec::new(),
            uncommitted: Vec::new(),
            failures: Vec::new(),
            pull_requests: Vec::new(),
            technologies: self.technologies_used.clone(),
            libraries: Vec::new(),
            open_questions: self.open_questions.clone(),
            decisions: Vec::new(),
            importance,
            usage: chronicle_sessions::Usage::default(),
            n_prompts: 0,
            is_headless: false,
            is_partly_headless: false,
            worded_by: None,
        };
        let record = SessionRecord {
            agent: "claude".to_owned(),
            name: self.session_id.clone(),
            parent: None,
            is_sub_agent: false,
            project: project.id,
            folder: String::new(),
            branch: self.branch.clone(),
            model: None,
            first: at,
            last: at,
            title: digest.title.clone(),
            importance,
            n_prompts: 0,
            digest: serde_json::to_string(&digest).unwrap_or_default(),
        };
        let id = record.put(tx)?;
        NamedSession::put_files(tx, id, self.files_modified.iter().map(|path| (path.clone(), 1)))?;
        // Its words are all that there is to find.
        let text =
            [vec![self.summary.clone()], self.key_actions.clone(), self.open_questions.clone()].concat();
        let name = format!("digest-{}", self.session_id);
        let turn = TurnRecord {
            key: chronicle_search::key(&name),
            position: 0,
            line: 1,
            name: &name,
            kind: TurnKind::Summary,
            at,
            sub_agent: None,
            speaker: None,
            is_ok: None,
            text: &text.join("\n"),
            answer: None,
        };
        turn.put(tx, id, &mut Written::default()).map(drop)
    }
}

/// A thread as an older kind of memory kept it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OlderThread {
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    project: String,
    #[serde(default)]
    branch: Option<String>,
    summary: String,
    #[serde(default)]
    context: String,
    #[serde(default)]
    priority: Option<String>,
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    last_mentioned: Option<String>,
    #[serde(default)]
    status: String,
    #[serde(default)]
    resolution: Option<OlderResolution>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OlderResolution {
    #[serde(default)]
    how: Option<String>,
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    resolved_at: Option<String>,
}

impl OlderThread {
    pub(super) fn put(&self, tx: &Transaction<'_>, file: &Path) -> SqlResult<usize> {
        let Some(project) = older_project(tx, &self.project, file)? else { return Ok(0) };
        let thread = ThreadId::derived(&project.key, &self.summary);
        let evidence = vec![Evidence {
            session: self.session_id.clone(),
            source: "import".to_owned(),
            words: self.summary.clone(),
        }];
        let event =
            |at, change| ThreadEvent { thread: thread.clone(), session: self.session_id.clone(), at, change };
        let created = self.created_at.as_deref().or(self.last_mentioned.as_deref()).and_then(moment);
        let opening = Opening {
            project: project.key.clone(),
            branch: self.branch.clone(),
            kind: ThreadKind::Todo,
            origin: Origin::Statement,
            summary: self.summary.clone(),
            context: self.context.clone(),
            priority: match self.priority.as_deref() {
                Some("high") => Priority::High,
                Some("low") => Priority::Low,
                _ => Priority::Medium,
            },
            evidence: evidence.clone(),
        };
        let mut events = vec![event(created, Change::Opened(opening))];
        let at = self.resolution.as_ref().and_then(|resolution| resolution.resolved_at.as_deref());
        let at = at.or(self.last_mentioned.as_deref()).and_then(moment);
        let resolution = || Resolution {
            how: match self.resolution.as_ref().and_then(|resolution| resolution.how.as_deref()) {
                Some("deferred") => How::Deferred,
                Some("wont_do") => How::WontDo,
                _ => How::Completed,
            },
            note: self.resolution.as_ref().and_then(|resolution| resolution.note.clone()),
            at,
            evidence: evidence.clone(),
        };
        match self.status.as_str() {
            "in_progress" => events.push(event(at, Change::Begun)),
            "resolved" => events.push(event(at, Change::Resolved(resolution()))),
            "abandoned" => events.push(event(at, Change::Dropped(resolution()))),
            _ => {}
        }
        let session = match &self.session_id {
            Some(name) => NamedSession::by_name(tx, "claude", name)?.map(|session| session.id),
            None => None,
        };
        add_events(tx, &project, session, &events)
    }
}

/// The project that an older memory names: by its folder, or by its name; none that is left out.
fn older_project(tx: &Transaction<'_>, named: &str, file: &Path) -> SqlResult<Option<Project>> {
    if named.contains('/') {
        return Ok(match Placer::default().place(tx, named, file)? {
            chronicle_sessions::Belongs::To(project, _) => Some(project),
            chronicle_sessions::Belongs::Nowhere => None,
        });
    }
    match Project::by_name(tx, named)? {
        Some(project) => Ok(Some(project)),
        None => Project::obtain(tx, &format!("name:{named}"), named, "").map(Some),
    }
}

fn date_in_name(file: &Path) -> Option<Timestamp> {
    day(file.file_name()?.to_str()?.get(..10)?)
}
