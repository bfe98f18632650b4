//! Where the readers of all agents put what they find.

use std::borrow::Cow;
use std::collections::VecDeque;

use chronicle_core::without_escapes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rows::outcome;
use crate::rows::seen::Seen;
use crate::rows::session::Session;
use crate::rows::source::LONGEST_ROW;
use crate::rows::tools::Called;
use crate::rows::tools::{is_asking, is_task_list, listed_tasks};
use crate::rows::unix_path::unix_path;
use crate::turn::{Event, Place, Synthetic, Todo, Turn, Usage};

/// How many calls may wait for their outcome.
const MOST_WAITING: usize = 4_096;

/// How many bytes waiting calls may hold.
const MOST_WAITING_BYTES: usize = 8 << 20;

/// How many replies are remembered whose usage may still be corrected.
const MOST_REPLIES: usize = 512;

/// A call whose outcome is not known yet.
pub(crate) struct Waiting {
    id: String,
    /// The row that has it.
    row: Place,
    place: Place,
    at: Option<Timestamp>,
    sub_agent: Option<String>,
    called: Called,
}

/// What a stream knows where a reading stops. Of waiting calls it names the rows: what they hold must not be stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct StreamPause {
    session: Session,
    waiting: Vec<(String, Place)>,
    replies: VecDeque<(String, Usage)>,
    known_replies: Seen,
    known_rows: Seen,
}

impl StreamPause {
    /// The rows that have waiting calls, each once.
    pub(crate) fn waiting_rows(&self) -> Vec<Place> {
        let mut rows: Vec<Place> = self.waiting.iter().map(|(_, row)| row.clone()).collect();
        rows.sort_by_key(|row| row.bytes.start);
        rows.dedup();
        rows
    }

    /// The waiting calls, which `again` has read once more; none where it lacks one.
    pub(crate) fn waiting(&self, mut again: Stream<'_>) -> Option<VecDeque<Waiting>> {
        let calls = self.waiting.iter().map(|(id, row)| {
            let is_it = |waiting: &Waiting| waiting.id == *id && waiting.row == *row;
            let found = again.waiting.iter().position(is_it)?;
            again.take(found)
        });
        calls.collect()
    }
}

/// Collects turns in order, joins calls to their outcomes, and counts.
pub(crate) struct Stream<'s> {
    on_turn: &'s mut dyn FnMut(&Turn<'_>, &Session),
    /// What is known of the session.
    pub(crate) session: Session,
    /// The row that is being read.
    pub(crate) row: Place,
    /// Whether a model wrote the first words in a human's place, in another session.
    pub(crate) is_handed_over: bool,
    waiting: VecDeque<Waiting>,
    n_waiting_bytes: usize,
    replies: VecDeque<(String, Usage)>,
    known_replies: Seen,
    known_rows: Seen,
}

impl<'s> Stream<'s> {
    pub(crate) fn new(session: Session, on_turn: &'s mut dyn FnMut(&Turn<'_>, &Session)) -> Self {
        Self {
            on_turn,
            session,
            row: Place::default(),
            is_handed_over: false,
            waiting: VecDeque::new(),
            n_waiting_bytes: 0,
            replies: VecDeque::new(),
            known_replies: Seen::default(),
            known_rows: Seen::default(),
        }
    }

    /// What is known here; none where a row with a waiting call can't be read again.
    pub(crate) fn pause(&self) -> Option<StreamPause> {
        let is_cut = |row: &Place| (LONGEST_ROW as u64) < row.bytes.end - row.bytes.start;
        if self.waiting.iter().any(|waiting| is_cut(&waiting.row)) {
            return None;
        }
        Some(StreamPause {
            session: self.session.for_storage(),
            waiting: self.waiting.iter().map(|waiting| (waiting.id.clone(), waiting.row.clone())).collect(),
            replies: self.replies.clone(),
            known_replies: self.known_replies.clone(),
            known_rows: self.known_rows.clone(),
        })
    }

    /// Goes on where another stream stopped, with its waiting calls.
    pub(crate) fn go_on(&mut self, pause: StreamPause, waiting: VecDeque<Waiting>) {
        let StreamPause { session, replies, known_replies, known_rows, .. } = pause;
        (self.session, self.replies) = (session, replies);
        (self.known_replies, self.known_rows) = (known_replies, known_rows);
        self.n_waiting_bytes = waiting.iter().map(|waiting| waiting.called.size()).sum();
        self.waiting = waiting;
    }

    /// Whether the row of this id is here for the first time.
    pub(crate) fn is_new(&mut self, id: &str) -> bool {
        id.is_empty() || self.known_rows.insert(id)
    }

    /// Whether the row of this id was here.
    pub(crate) fn had(&self, id: &str) -> bool {
        !id.is_empty() && self.known_rows.has(id)
    }

    pub(crate) fn turn(&mut self, turn: &Turn<'_>) {
        self.session.n_turns += 1;
        self.session.saw(turn.at);
        let is_first = self.is_handed_over && matches!(turn.event, Event::Prompt(_) | Event::Synthetic(..));
        let is_handed_over = is_first && std::mem::take(&mut self.is_handed_over);
        let event = match &turn.event {
            Event::Prompt(words) if self.session.is_sub_agent => {
                Event::Synthetic(Synthetic::SubAgent, Cow::Borrowed(&**words))
            }
            Event::Prompt(words) if is_handed_over => {
                Event::Synthetic(Synthetic::Summary, Cow::Borrowed(&**words))
            }
            _ => return (self.on_turn)(turn, &self.session),
        };
        (self.on_turn)(&Turn { event, ..turn.clone() }, &self.session);
    }

    /// A tool was called; the turn comes with its outcome.
    pub(crate) fn call(
        &mut self,
        id: &str,
        place: Place,
        at: Option<Timestamp>,
        sub_agent: Option<&str>,
        called: Called,
    ) {
        self.n_waiting_bytes += called.size();
        self.waiting.push_back(Waiting {
            id: id.to_owned(),
            row: self.row.clone(),
            place,
            at,
            sub_agent: sub_agent.map(str::to_owned),
            called,
        });
        while MOST_WAITING < self.waiting.len() || MOST_WAITING_BYTES < self.n_waiting_bytes {
            let Some(oldest) = self.take(0) else { break };
            self.tell(oldest, &outcome::Answer::default(), false);
        }
    }

    /// Whether anybody will look at the answer to a call that goes well.
    pub(crate) fn wants_answer(&self, id: &str) -> bool {
        let found = self.waiting.iter().find(|waiting| waiting.id == id);
        found.is_some_and(|waiting| match &waiting.called {
            Called::Command(_) | Called::Todo(_) | Called::Plan(_) => true,
            Called::Tool(tool) => is_asking(&tool.name) || is_task_list(&tool.name),
            Called::Edits(_) => false,
        })
    }

    /// The outcome of a call; one that nobody made is passed over. Whatever reads like words of the user is not theirs.
    pub(crate) fn answer(&mut self, id: &str, answer: &outcome::Answer<'_>) {
        if let Some(waiting) = self.take_call(id) {
            self.tell(waiting, answer, false);
        }
    }

    /// The outcome of a call, where an agent says that its user answers, and may do so in words.
    pub(crate) fn answer_of_user(&mut self, id: &str, answer: &outcome::Answer<'_>) {
        if let Some(waiting) = self.take_call(id) {
            self.tell(waiting, answer, true);
        }
    }

    /// The waiting call of that id: answers mostly come in the order of the calls.
    fn take_call(&mut self, id: &str) -> Option<Waiting> {
        let index = self.waiting.iter().position(|waiting| waiting.id == id)?;
        self.take(index)
    }

    /// Tells of the calls that were never answered; they come in their order.
    pub(crate) fn finish(&mut self) {
        while let Some(waiting) = self.take(0) {
            self.tell(waiting, &outcome::Answer::default(), false);
        }
    }

    /// One reply of the model; a later word on the same reply corrects an earlier one.
    pub(crate) fn reply(&mut self, id: &str, usage: Usage) {
        if id.is_empty() {
            self.session.usage.add(&usage);
        } else if self.known_replies.insert(id) {
            self.session.usage.add(&usage);
            if MOST_REPLIES <= self.replies.len() {
                self.replies.pop_front();
            }
            self.replies.push_back((id.to_owned(), usage));
        } else if let Some((_, known)) = self.replies.iter_mut().rev().find(|(known, _)| known == id) {
            self.session.usage.take_back(known);
            *known = usage;
            self.session.usage.add(&usage);
        }
    }

    fn take(&mut self, index: usize) -> Option<Waiting> {
        let waiting = self.waiting.remove(index)?;
        self.n_waiting_bytes -= waiting.called.size();
        Some(waiting)
    }

    fn tell(&mut self, waiting: Waiting, answer: &outcome::Answer<'_>, is_of_user: bool) {
        let Waiting { id, place, at, sub_agent, called, .. } = waiting;
        // What tells how it went may be coloured.
        let text = without_escapes(answer.text);
        let answer = &outcome::Answer { text: &text, ..*answer };
        let outcome = answer.outcome(matches!(called, Called::Command(_)));
        let mut events = Vec::new();
        // What servers and pages say is not said by the agent's own program.
        let is_of_user = is_of_user && !matches!(&called, Called::Tool(tool) if is_of_others(&tool.name));
        match called {
            Called::Command(command) => {
                let commits = outcome::commits(&command, answer.text);
                events.push(Event::Command(command, outcome));
                events.extend(commits.into_iter().map(Event::Commit));
            }
            Called::Edits(edits) => {
                events.extend(edits.into_iter().map(|mut edit| {
                    if let Cow::Owned(path) = unix_path(&edit.path) {
                        edit.path = path;
                    } else if self.session.is_of_windows() {
                        edit.path = edit.path.replace('\\', "/");
                    }
                    Event::Edit(edit, outcome.clone())
                }));
            }
            Called::Todo(mut todo) => {
                if let Todo::Added(item) = &mut todo
                    && item.id.is_none()
                {
                    item.id = outcome::created_id(answer.text);
                }
                events.push(Event::Todo(todo, outcome));
            }
            Called::Plan(plan) => events.push(Event::Plan(plan, outcome)),
            Called::Tool(tool) => {
                let states = match is_task_list(&tool.name) && outcome.is_ok == Some(true) {
                    true => listed_tasks(answer.text),
                    false => Vec::new(),
                };
                events.push(Event::Tool(tool, outcome.clone()));
                events.extend(states.into_iter().map(|todo| Event::Todo(todo, outcome.clone())));
            }
        }
        if let (Some(words), true) = (outcome::refusal(answer.is_ok, answer.text), is_of_user) {
            events.push(Event::Interruption(words.into()));
        }
        for (index, event) in events.into_iter().enumerate() {
            let id =
                if index == 0 { Cow::Borrowed(id.as_str()) } else { Cow::Owned(format!("{id}#{index}")) };
            // The outcome's time is not needed: what was done was wanted when it was called.
            let sub_agent = sub_agent.as_deref().map(Cow::Borrowed);
            self.turn(&Turn { id, sub_agent, ..Turn::new(place.clone(), at, event) });
        }
    }
}

/// Whether a tool of that name, as Claude Code calls it, answers in the words of others.
fn is_of_others(tool: &str) -> bool {
    tool.starts_with("mcp__") || ["WebFetch", "WebSearch", "Task", "Agent"].contains(&tool)
}

impl Usage {
    fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.replies += 1;
    }

    fn take_back(&mut self, other: &Self) {
        self.take_away(&Self { replies: 1, ..*other });
    }

    /// Counts what was added between two moments; a correction in between may have made it less.
    pub(crate) fn grow(&mut self, before: &Self, now: &Self) {
        let grow = |count: &mut u64, before: u64, now: u64| {
            *count = count.saturating_add(now).saturating_sub(before);
        };
        grow(&mut self.input, before.input, now.input);
        grow(&mut self.output, before.output, now.output);
        grow(&mut self.cache_write, before.cache_write, now.cache_write);
        grow(&mut self.cache_read, before.cache_read, now.cache_read);
        grow(&mut self.replies, before.replies, now.replies);
    }

    pub(crate) fn take_away(&mut self, other: &Self) {
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.cache_write = self.cache_write.saturating_sub(other.cache_write);
        self.cache_read = self.cache_read.saturating_sub(other.cache_read);
        self.replies = self.replies.saturating_sub(other.replies);
    }
}
