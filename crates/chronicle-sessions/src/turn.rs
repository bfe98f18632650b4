//! One stream of turns, whichever agent wrote the transcript.

use std::borrow::Cow;
use std::ops::Range;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Where something stands in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u64,
    /// The bytes of the JSON value that says it, from the start of the file.
    pub bytes: Range<u64>,
}

/// One thing that happened in a session.
///
/// Turns come in the order of the file. A call comes when its outcome is known,
/// and at the end of the file if it never is; its place is that of the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn<'a> {
    /// Where it stands.
    pub place: Place,
    /// When it happened, as the agent's clock said; not always in order.
    pub at: Option<Timestamp>,
    /// What names it for good: the id of the row or call, and the part of the row after `#`.
    ///
    /// A forked session repeats the rows of its parent with their ids. Empty when the agent gives none.
    pub id: Cow<'a, str>,
    /// The sub-agent that did it; none for the agent that the human talks to.
    pub sub_agent: Option<Cow<'a, str>>,
    /// The session it belongs to, where a file holds more than one; else empty.
    pub session: Cow<'a, str>,
    /// The name of who spoke, where the transcript says it; else empty.
    pub speaker: Cow<'a, str>,
    /// What happened.
    pub event: Event<'a>,
}

impl<'a> Turn<'a> {
    /// A turn of which no more is known than this.
    #[must_use]
    pub fn new(place: Place, at: Option<Timestamp>, event: Event<'a>) -> Self {
        let nothing = || Cow::Borrowed("");
        Self { place, at, id: nothing(), sub_agent: None, session: nothing(), speaker: nothing(), event }
    }
}

/// What can happen in a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A human typed this.
    Prompt(Cow<'a, str>),
    /// Words in the place of a human that no human typed.
    Synthetic(Synthetic, Cow<'a, str>),
    /// The agent said this.
    Said(Cow<'a, str>),
    /// The agent used a tool that has no event of its own.
    Tool(Tool, Outcome),
    /// The agent changed a file.
    Edit(Edit, Outcome),
    /// The agent ran a command.
    Command(String, Outcome),
    /// A command made a commit.
    Commit(Commit),
    /// The list of what is to do changed.
    Todo(Todo, Outcome),
    /// The agent proposed a plan; the outcome says whether the human agreed.
    Plan(String, Outcome),
    /// The agent or its model failed.
    Error(Cow<'a, str>),
    /// A human stopped the agent, perhaps with words that say why.
    Interruption(Cow<'a, str>),
    /// A pull request belongs to the session.
    PullRequest(Cow<'a, str>),
}

/// Why words in the place of a human are not a human's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Synthetic {
    /// A slash command, and what it expands to.
    Command,
    /// What a local command printed.
    Output,
    /// A shell command that the human ran beside the conversation.
    Shell,
    /// The body of a skill, and other text that the agent puts in.
    Injected,
    /// The summary that replaces what a compaction took away.
    Summary,
    /// A plan handed to a fresh conversation.
    Plan,
    /// What a hook said.
    Hook,
    /// News of a background task.
    Notification,
    /// The task that a sub-agent was given.
    SubAgent,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name as the agent says it.
    pub name: String,
    /// What it was asked: the most telling argument.
    pub about: String,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edit {
    /// The file as the agent named it, mostly absolute.
    pub path: String,
    /// The texts that were replaced, in order; a whole new file has one with an empty `old`.
    pub replaced: Vec<Replaced>,
    /// Whether the file was written whole or deleted rather than edited.
    pub kind: EditKind,
}

/// How a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// Pieces were replaced.
    #[default]
    Edited,
    /// The whole text was written.
    Written,
    /// The file was deleted.
    Deleted,
}

/// One piece of text put in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replaced {
    /// What was there.
    pub old: String,
    /// What is there now.
    pub new: String,
}

/// A commit that a command made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its id, as short as git printed it.
    pub id: String,
    /// The branch it went to, where git said so.
    pub branch: String,
    /// The first line of its message; empty where the session did not write it.
    pub subject: String,
}

impl Commit {
    /// Whether it has the message that git gives a merge: it tells nothing of what was done.
    #[must_use]
    pub fn is_merge(&self) -> bool {
        self.subject.starts_with("Merge ")
    }

    /// `1a2b3c4 pool: wait`.
    #[must_use]
    pub fn told(&self) -> String {
        format!("{} {}", self.id, self.subject).trim_end().to_owned()
    }

    /// Whether its message tells what the session did.
    #[must_use]
    pub fn says_something(&self) -> bool {
        !self.subject.is_empty() && !self.is_merge()
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Whether it worked; unknown while no answer was seen.
    pub is_ok: Option<bool>,
    /// Whether a human turned the call down or stopped it, or a rule forbade it: it did nothing, and did not fail either.
    pub is_refused: bool,
    /// The exit code of a command, where one was told.
    pub exit_code: Option<i32>,
    /// What came back, cut in the middle when it is long.
    pub text: String,
}

/// A change of the agent's list of what is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Todo {
    /// The whole list, as it is now.
    List(Vec<TodoItem>),
    /// One item more. The id may be known from the outcome only.
    Added(TodoItem),
    /// One item, named by its id, changed.
    Changed {
        /// The id that the agent gave it.
        id: String,
        /// Its state from now on, if that changed.
        state: Option<TodoState>,
        /// Its words from now on, if they changed.
        text: Option<String>,
    },
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoItem {
    /// The id that the agent gave it, if any.
    pub id: Option<String>,
    /// What is to do.
    pub text: String,
    /// More words about it.
    pub detail: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far something to do is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TodoState {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Taken off the list.
    Deleted,
}

impl TodoState {
    /// The state that `word` means, in any agent's words; what is unknown is pending.
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word {
            "in_progress" | "in-progress" | "active" | "doing" => Self::InProgress,
            "completed" | "complete" | "done" | "resolved" => Self::Completed,
            "deleted" | "cancelled" | "canceled" | "removed" => Self::Deleted,
            _ => Self::Pending,
        }
    }
}

/// Tokens that the model read and wrote, each reply counted once.
///
/// What is written is a lower bound with some agents: they note it while the reply is still coming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Read, and not taken from a cache.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read, and put into a cache.
    pub cache_write: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// How many replies there were.
    pub replies: u64,
}

/// The agents whose transcripts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Gemini CLI.
    Gemini,
    /// Codex.
    Codex,
    /// Copilot CLI.
    Copilot,
    /// `OpenCode`.
    OpenCode,
    /// Cursor, its editor and its command line.
    Cursor,
    /// Qwen Code.
    Qwen,
    /// Kimi CLI and Kimi Code.
    Kimi,
    /// Factory's Droid.
    Droid,
    /// Goose.
    Goose,
    /// Cline, and its forks.
    Cline,
    /// Amp.
    Amp,
    /// The agent of the editor Zed.
    Zed,
    /// Any other, in the form that `docs/transcripts.md` describes.
    Generic,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Claude,
        Self::Gemini,
        Self::Codex,
        Self::Copilot,
        Self::OpenCode,
        Self::Cursor,
        Self::Qwen,
        Self::Kimi,
        Self::Droid,
        Self::Goose,
        Self::Cline,
        Self::Amp,
        Self::Zed,
        Self::Generic,
    ];

    /// The name it is kept under.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Cursor => "cursor",
            Self::Qwen => "qwen",
            Self::Kimi => "kimi",
            Self::Droid => "droid",
            Self::Goose => "goose",
            Self::Cline => "cline",
            Self::Amp => "amp",
            Self::Zed => "zed",
            Self::Generic => "generic",
        }
    }
}
