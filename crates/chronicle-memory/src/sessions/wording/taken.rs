//! What is taken in of a model's words about a session: only what a turn that was shown says, and names nothing that the
//! record does not name.

use chronicle_core::{
    plain,
    redaction::{Removed, for_storage},
    thread::{
        Change, Evidence, Gist, How, Opening, Origin, Priority, Resolution, Thread, ThreadEvent, ThreadId,
        ThreadKind, Worded, priority,
    },
};
use chronicle_search::{NamedSession, StoredTurn, TurnKind};
use chronicle_sessions::{LONGEST_TITLE, Wording, shortened};
use serde::Deserialize;
use serde_json::Value;

use super::told::{MOST_ACTIONS, MOST_THREADS, Told};
use crate::excerpt::{invented, says};

/// The longest of each, in characters.
const LONGEST_SUMMARY: usize = 360;
const LONGEST_ACTION: usize = 140;
const LONGEST_THREAD: usize = 140;
const LONGEST_CONTEXT: usize = 300;
/// A quote that is shorter shows nothing.
const SHORTEST_QUOTE: usize = 8;
/// The longest that is kept as evidence.
const LONGEST_QUOTE: usize = 300;

/// What was taken in.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) events: Vec<ThreadEvent>,
    /// Threads that come up.
    pub(super) n_threads: usize,
    /// Threads that are said in other words.
    pub(super) n_reworded: usize,
    /// Threads that look closed.
    pub(super) n_proposed: usize,
    /// What was not taken in, and why.
    pub(super) dropped: Vec<String>,
}

#[derive(Deserialize)]
struct ActionArgument {
    text: String,
    turn: usize,
}

#[derive(Deserialize)]
struct ThreadArgument {
    summary: String,
    #[serde(default)]
    context: String,
    kind: String,
    #[serde(default)]
    priority: String,
    turn: usize,
    quote: String,
}

#[derive(Deserialize)]
struct RewordedArgument {
    thread: String,
    summary: String,
}

#[derive(Deserialize)]
struct ResolvedArgument {
    thread: String,
    how: String,
    turn: usize,
    quote: String,
}

/// Takes in the words of `model` about a session.
pub(super) struct Taker<'t> {
    pub(super) model: &'t str,
    pub(super) session: &'t NamedSession,
    /// What the project is known by.
    pub(super) project: &'t str,
    pub(super) told: &'t Told,
    /// All threads of the project, with what they are about.
    pub(super) known: &'t [(Thread, Gist)],
}

impl Taker<'_> {
    /// What holds of `answer`.
    ///
    /// # Errors
    /// In words, when it has no summary that holds: then nothing of it counts.
    pub(super) fn take(&self, answer: &Value) -> Result<(Wording, Taken), String> {
        let mut taken = Taken::default();
        let summary = self.words(answer["summary"].as_str().unwrap_or_default(), LONGEST_SUMMARY)?;
        let title = match self.words(answer["title"].as_str().unwrap_or_default(), LONGEST_TITLE) {
            Ok(title) => Some(title),
            Err(reason) => {
                taken.dropped.push(format!("title: {reason}"));
                None
            }
        };
        let mut key_actions = Vec::new();
        for action in listed(answer, "key_actions", MOST_ACTIONS) {
            match self.action(action) {
                Ok(text) => key_actions.push(text),
                Err(reason) => taken.dropped.push(format!("key action: {reason}")),
            }
        }
        let mut opened: Vec<Gist> = Vec::new();
        for thread in listed(answer, "threads", MOST_THREADS) {
            match self.thread(thread, &mut opened) {
                Ok(event) => {
                    taken.n_threads += 1;
                    taken.events.push(event);
                }
                Err(reason) => taken.dropped.push(format!("thread: {reason}")),
            }
        }
        for reworded in listed(answer, "reworded", self.told.n_wordable) {
            match self.reworded(reworded, &mut opened) {
                Ok(event) => {
                    taken.n_reworded += 1;
                    taken.events.push(event);
                }
                Err(reason) => taken.dropped.push(format!("words of a thread: {reason}")),
            }
        }
        for resolved in listed(answer, "resolved", self.told.open.len()) {
            match self.resolved(resolved) {
                Ok(event) => {
                    taken.n_proposed += 1;
                    taken.events.push(event);
                }
                Err(reason) => taken.dropped.push(format!("end of a thread: {reason}")),
            }
        }
        Ok((Wording { model: self.model.to_owned(), title, summary, key_actions }, taken))
    }

    fn action(&self, action: &Value) -> Result<String, String> {
        let given: ActionArgument = read(action)?;
        self.shown(given.turn)?;
        self.words(&given.text, LONGEST_ACTION)
    }

    /// A thread that comes up, or that came up in an earlier session and is mentioned again.
    fn thread(&self, thread: &Value, opened: &mut Vec<Gist>) -> Result<ThreadEvent, String> {
        let given: ThreadArgument = read(thread)?;
        let kind = ThreadKind::named(&given.kind).ok_or("its kind is unknown")?;
        let summary = self.words(&given.summary, LONGEST_THREAD)?;
        let context = if given.context.trim().is_empty() {
            String::new()
        } else {
            self.words(&given.context, LONGEST_CONTEXT)?
        };
        let (turn, evidence) = self.evidence(given.turn, &given.quote)?;
        let gist = Gist::of(&summary);
        if opened.iter().any(|other| other.is_alike(&gist)) {
            return Err("it was named before".to_owned());
        }
        let derived = ThreadId::derived(self.project, &summary);
        let same = self.known.iter().find(|(known, about)| known.id == derived || about.is_alike(&gist));
        if let Some((known, _)) = same {
            let is_of_session =
                |shown: &Evidence| shown.session.as_deref() == Some(self.session.record.name.as_str());
            if !known.is_open() || known.evidence.iter().any(is_of_session) {
                return Err("it is known already".to_owned());
            }
        }
        opened.push(gist);
        // What sounds urgent to a model is urgent if those sounded so who spoke.
        let told = Priority::named(&given.priority).unwrap_or(Priority::Low).max(Priority::Medium);
        let by_rules = priority(kind, &evidence.words, false, false);
        let opening = Opening {
            project: self.project.to_owned(),
            branch: self.session.record.branch.clone(),
            kind,
            origin: Origin::Model,
            summary,
            context,
            priority: told.min(by_rules),
            evidence: vec![evidence],
        };
        let id = same.map_or(derived, |(known, _)| known.id.clone());
        Ok(self.event(id, turn, Change::Opened(opening)))
    }

    /// A thread of this session that rules worded, in other words: its name, its kind and what shows it stay.
    fn reworded(&self, reworded: &Value, opened: &mut Vec<Gist>) -> Result<ThreadEvent, String> {
        let given: RewordedArgument = read(reworded)?;
        let thread = self.listed(&given.thread, self.told.n_wordable)?;
        let summary = self.words(&given.summary, LONGEST_THREAD)?;
        if summary == thread.told() {
            return Err("the thread has these words already".to_owned());
        }
        let gist = Gist::of(&summary);
        let said = [&thread.summary].into_iter().chain(thread.evidence.iter().map(|shown| &shown.words));
        if !said.into_iter().any(|said| gist.has_word_of(&Gist::of(said))) {
            return Err("it is about something else".to_owned());
        }
        let others = self.known.iter().filter(|(known, _)| known.id != thread.id).map(|(_, about)| about);
        if others.chain(&*opened).any(|other| other.is_alike(&gist)) {
            return Err("another thread has these words".to_owned());
        }
        opened.push(gist);
        let change = Change::Worded(Worded { summary, by: self.model.to_owned() });
        let (session, at) = (Some(self.session.record.name.clone()), self.session.record.last);
        Ok(ThreadEvent { thread: thread.id.clone(), session, at, change })
    }

    /// The thread of the first `n` of the list that has this label.
    fn listed(&self, label: &str, n: usize) -> Result<&Thread, String> {
        let number = label.strip_prefix('T').and_then(|number| number.parse::<usize>().ok());
        let place = number.and_then(|number| number.checked_sub(1)).filter(|place| *place < n);
        let thread = place.and_then(|place| self.told.open.get(place));
        thread.ok_or_else(|| "no such thread was listed".to_owned())
    }

    /// A thread that looks closed: somebody is to confirm it.
    fn resolved(&self, resolved: &Value) -> Result<ThreadEvent, String> {
        let given: ResolvedArgument = read(resolved)?;
        let thread = self.listed(&given.thread, self.told.open.len())?;
        let how = How::named(&given.how).ok_or("a thread cannot end that way")?;
        let (turn, evidence) = self.evidence(given.turn, &given.quote)?;
        if thread.proposal.is_some() {
            return Err("its end is proposed already".to_owned());
        }
        if turn.at.is_some() && turn.at < thread.created {
            return Err("the thread came up later".to_owned());
        }
        let note = Some(format!("proposed by {}", self.model));
        let resolution = Resolution { how, note, at: self.at(turn), evidence: vec![evidence] };
        Ok(self.event(thread.id.clone(), turn, Change::Proposed(resolution)))
    }

    fn event(&self, thread: ThreadId, turn: &StoredTurn, change: Change) -> ThreadEvent {
        ThreadEvent { thread, session: Some(self.session.record.name.clone()), at: self.at(turn), change }
    }

    fn at(&self, turn: &StoredTurn) -> Option<jiff::Timestamp> {
        turn.at.or(self.session.record.last)
    }

    fn shown(&self, number: usize) -> Result<&StoredTurn, String> {
        self.told.turn(number).ok_or_else(|| format!("turn {number} was not shown"))
    }

    /// The turn that shows something, and its words. What a tool gave back shows nothing.
    fn evidence(&self, number: usize, quote: &str) -> Result<(&StoredTurn, Evidence), String> {
        let turn = self.shown(number)?;
        let is_said = matches!(
            turn.kind,
            TurnKind::Prompt
                | TurnKind::Said
                | TurnKind::Plan
                | TurnKind::Todo
                | TurnKind::Command
                | TurnKind::Interruption
        );
        if !is_said {
            return Err(format!("turn {number} says nothing"));
        }
        if quote.trim().chars().count() < SHORTEST_QUOTE || !says(&turn.text, quote) {
            return Err(format!("turn {number} does not say that"));
        }
        let source = if turn.name.is_empty() { format!("line {}", turn.line) } else { turn.name.clone() };
        let session = Some(self.session.record.name.clone());
        Ok((turn, Evidence { session, source, words: shortened(&stored(quote), LONGEST_QUOTE) }))
    }

    /// A text of the model as it may be stored.
    fn words(&self, text: &str, longest: usize) -> Result<String, String> {
        let text = stored(text);
        if text.chars().filter(|letter| letter.is_alphanumeric()).count() < 3 {
            return Err("it says nothing".to_owned());
        }
        match invented(&text, &self.told.text) {
            Some(name) => Err(format!("`{}` was never named", shortened(&name, 60))),
            None => Ok(shortened(&text, longest)),
        }
    }
}

/// What of a text of a model may be stored: no secrets, nothing private, nothing that acts on a terminal, one line.
fn stored(text: &str) -> String {
    for_storage(text, &mut Removed::default()).into_owned()
}

fn listed<'a>(answer: &'a Value, name: &str, most: usize) -> impl Iterator<Item = &'a Value> {
    answer[name].as_array().into_iter().flatten().take(most)
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|error| shortened(&plain(&error.to_string()), 120))
}
