//! What an agent is told at the beginning of a session.

use std::{path::Path, time::Duration};

use chronicle_core::correction::Tier;
use chronicle_memory::{
    brief::{Brief, BriefCommand, Compacted, DEFAULT_BUDGET},
    handoff::{Handoff, Successor},
    injected::{Telling, log, tokens},
    sessions::{IngestCommand, What},
};
use chronicle_workplace::Error;

use super::{AgentSession, AgentTexts, ShownItem, edits::beginning};
use crate::{Agents, counted};

/// The event, as it is written down.
pub(super) const EVENT: &str = "session-start";

/// A prompt that names work that was handed over, as it is written down.
const HANDOFF_EVENT: &str = "handoff";

/// What was missed by hooks is looked for so far back, in days.
const SWEPT_DAYS: u32 = 3;

/// What was told is kept so long.
const KEPT: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// The part of a budget that work handed over may take; the briefing has the rest.
const HANDOFF_BUDGET: usize = DEFAULT_BUDGET * 3 / 4;

/// The words of a session's beginning after which an agent knows what it is about.
const GOES_ON: [&str; 2] = ["resume", "compact"];

/// How an agent goes on asking.
const USAGE: &str = "Before changing code, `git chronicle read FILE [ANCHOR]` shows its lessons. After a commit, the tool \
`chronicle_annotate` or `git chronicle annotate --summary 'WHY' --gotcha 'FILE:LINE WHAT'` keeps why it is so, traps, and what failed (`--dead-end`). \
`git chronicle find WORDS` searches earlier sessions.";

/// What is said when a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// What the agent is told.
    pub text: String,
    /// One line for its human: what there is, and what the text costs; none where there is nothing but how to ask.
    pub line: Option<String>,
}

/// How a session begins.
#[derive(Debug, Clone, Copy)]
pub struct Begun<'b> {
    /// `startup`, `resume`, `clear`, `compact`, or another word of the agent; empty where it has none.
    pub source: &'b str,
    /// The file that the agent writes the session to, where it is known.
    pub transcript: Option<&'b Path>,
}

impl Agents<'_> {
    /// What to tell an agent whose session begins: a briefing, and how to ask for more. After a compaction the briefing
    /// begins with what that left out.
    ///
    /// Where it cannot be written down, on a read-only disk, it is told all the same.
    ///
    /// # Errors
    /// When session memory cannot be read.
    pub fn open_session(
        &self,
        session: &AgentSession,
        begun: &Begun<'_>,
        texts: &AgentTexts,
    ) -> Result<Option<Opening>, Error> {
        let mut log = self.chronicle.memory().session_log(session).ok();
        let key = if begun.source.is_empty() { "startup" } else { begun.source };
        if log.as_ref().is_some_and(|log| log.has_just_begun(EVENT, Some(key), self.workplace().now())) {
            return Ok(None);
        }
        let mut line = None;
        let measure = |brief: &Brief| (texts.brief)(brief, self.workplace().now()).chars().count();
        let compacted = (key == "compact").then(|| Compacted {
            session: session.id.clone(),
            transcript: begun.transcript.map(Path::to_owned),
        });
        let (mut text, mut items) = (String::new(), Vec::new());
        let handed_over = if GOES_ON.contains(&key) { None } else { self.take_over(session, texts)? };
        if let Some(handoff) = &handed_over {
            text = (texts.handoff)(handoff, self.workplace().now()) + "\n";
            items.push(shown_handoff(handoff));
        }
        let budget = DEFAULT_BUDGET - text.chars().count().min(DEFAULT_BUDGET);
        let command = BriefCommand { project: None, all: false, budget, compacted, measure: &measure };
        // Without a briefing, too, it is written down that a context begins: what was shown before is out of sight.
        let is_briefed = self.briefs();
        match is_briefed.then(|| self.chronicle.memory().brief(&command)) {
            Some(Ok(mut brief)) => {
                // What nobody answers for is for who asks.
                brief.left_by_others.retain(|item| item.tier != Some(Tier::Unknown));
                text.push_str(&(texts.brief)(&brief, self.workplace().now()));
                items.extend(shown_items(&brief));
                line = summary(&brief);
            }
            None | Some(Err(Error::BriefTooLong { .. })) => {}
            Some(Err(error)) => return Err(error),
        }
        if let Some(handoff) = &handed_over {
            let taken = format!("takes over {}", handoff.listed.id);
            line = Some(line.map_or_else(|| taken.clone(), |line| format!("{taken}, {line}")));
        }
        if is_briefed && chronicle_git::Checkout::of(self.workplace().directory()).is_some() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(USAGE);
        }
        if text.is_empty() {
            if let Some(log) = &mut log {
                let begun = log::Record::event(self.workplace().now(), EVENT, self.workplace().directory());
                let _written = log.append(&begun.with_key(key));
            }
            return Ok(None);
        }
        let why = format!("the session begins ({key})");
        let record =
            self.chronicle.memory().record(Telling { event: EVENT, key: Some(key), why, items, text });
        if let Some(log) = &mut log {
            let _written = log.append(&record);
        }
        let tokens = tokens(&record.text);
        let line = line.map(|line| format!("chronicle: {line}, {}", counted(tokens, "token")));
        Ok(Some(Opening { text: record.text, line }))
    }

    /// Does what the beginning of a session is an occasion for, when nobody waits: takes in what hooks missed, makes
    /// the facts and what a briefing shows of commits, removes old logs, lets the models that somebody chose look at
    /// sessions and at what was said, and consolidates what is due.
    ///
    /// # Errors
    /// When session memory cannot be written.
    pub fn behind_session_start(&self) -> Result<(), Error> {
        let _filled = self.workplace().fill();
        let _kept = self.chronicle.memory().threads().recap();
        let _kept = self.known_anchors();
        log::tidy(&self.chronicle.memory().injected_folder()?, self.workplace().now().into(), KEPT);
        self.chronicle.memory().ingest(&IngestCommand { what: What::Days(SWEPT_DAYS) }, &mut |_, _| {})?;
        let worded = self.chronicle.memory().word_behind(None);
        let embedded = self.chronicle.memory().embed_behind();
        self.chronicle.memory().consolidate_behind()?;
        worded.and(embedded)
    }
}

impl Agents<'_> {
    /// The work that waits for the agent of a session that begins.
    fn take_over(&self, session: &AgentSession, texts: &AgentTexts) -> Result<Option<Handoff>, Error> {
        let by = Successor { agent: session.host, session: &session.id };
        self.chronicle.memory().accept_waiting(by, HANDOFF_BUDGET, &self.length_of_handoff(texts))
    }

    /// How many characters a handoff has as it is shown.
    fn length_of_handoff(&self, texts: &AgentTexts) -> impl Fn(&Handoff) -> usize {
        let (render, now) = (texts.handoff, self.workplace().now());
        move |handoff| render(handoff, now).chars().count()
    }

    /// What to tell an agent whose prompt names work that another session handed over; none where the prompt quotes it,
    /// or the agent was told.
    ///
    /// # Errors
    /// When session memory, or the log of the session, cannot be read.
    pub fn take_over_named(
        &self,
        session: &AgentSession,
        prompt: &str,
        key: Option<&str>,
        texts: &AgentTexts,
    ) -> Result<Option<String>, Error> {
        let by = Successor { agent: session.host, session: &session.id };
        let memory = self.chronicle.memory();
        let mut named = memory.accept_named(by, prompt, DEFAULT_BUDGET, &self.length_of_handoff(texts))?;
        named.retain(|handoff| !prompt.contains(&format!("<chronicle handoff=\"{}\"", handoff.listed.id)));
        if named.is_empty() {
            return Ok(None);
        }
        let mut log = memory.session_log(session)?;
        named.retain(|handoff| !log.shown().has(&handoff.listed.id, Tier::Own));
        if named.is_empty() || log.has(HANDOFF_EVENT, key) {
            return Ok(None);
        }
        let text: Vec<String> =
            named.iter().map(|handoff| (texts.handoff)(handoff, self.workplace().now())).collect();
        let why = "the prompt names work that was handed over".to_owned();
        let items = named.iter().map(shown_handoff).collect();
        let telling = Telling { event: HANDOFF_EVENT, key, why, items, text: text.join("\n") };
        memory.tell(&mut log, telling).map(Some)
    }

    /// Whether an agent gets a briefing; outside of a repository nobody turns it off.
    fn briefs(&self) -> bool {
        self.workplace().read_settings().map_or(true, |settings| settings.briefs)
    }
}

/// `2 open threads, 3 lessons on this branch`; none where there is neither.
fn summary(brief: &Brief) -> Option<String> {
    let n_open = brief.open.len() + brief.n_more_open;
    let open = (0 < n_open).then(|| counted(n_open, "open thread"));
    let lessons =
        (0 < brief.n_lessons).then(|| format!("{} on this branch", counted(brief.n_lessons, "lesson")));
    let parts: Vec<String> = open.into_iter().chain(lessons).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Work that was handed over, as the log has it.
fn shown_handoff(handoff: &Handoff) -> ShownItem {
    ShownItem {
        id: handoff.listed.id.clone(),
        commit: None,
        file: None,
        words: beginning(&handoff.listed.title),
        tier: Tier::Own,
    }
}

/// What a briefing tells of.
fn shown_items(brief: &Brief) -> Vec<ShownItem> {
    let open = brief.open.iter().chain(&brief.left_by_others);
    open.map(|item| ShownItem {
        id: item.id.clone(),
        commit: item.commit.clone(),
        file: item.file.clone(),
        words: beginning(&item.summary),
        tier: item.tier.unwrap_or(Tier::Own),
    })
    .collect()
}
