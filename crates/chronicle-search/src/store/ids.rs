//! What names things in the store, and what was written into it.

use rusqlite::types::FromSql;

/// Names a project within the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectId(pub i64);

/// Names a session within the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub i64);

/// What kind of turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TurnKind {
    /// A human typed it.
    Prompt = 1,
    /// The agent said it.
    Said = 2,
    /// The agent ran a command.
    Command = 3,
    /// The agent changed a file.
    Edit = 4,
    /// The agent used another tool.
    Tool = 5,
    /// A commit was made.
    Commit = 6,
    /// The list of what is to do changed.
    Todo = 7,
    /// A plan was proposed.
    Plan = 8,
    /// The agent or its model failed.
    Error = 9,
    /// A human stopped the agent.
    Interruption = 10,
    /// A pull request belongs to the session.
    PullRequest = 11,
    /// A summary stands in the place of what came before.
    Summary = 12,
    /// Words that no human typed, in the place of a human.
    Synthetic = 13,
}

impl TurnKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Prompt,
        Self::Said,
        Self::Command,
        Self::Edit,
        Self::Tool,
        Self::Commit,
        Self::Todo,
        Self::Plan,
        Self::Error,
        Self::Interruption,
        Self::PullRequest,
        Self::Summary,
        Self::Synthetic,
    ];

    /// The name it has in arguments and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Said => "said",
            Self::Command => "command",
            Self::Edit => "edit",
            Self::Tool => "tool",
            Self::Commit => "commit",
            Self::Todo => "todo",
            Self::Plan => "plan",
            Self::Error => "error",
            Self::Interruption => "interruption",
            Self::PullRequest => "pull-request",
            Self::Summary => "summary",
            Self::Synthetic => "synthetic",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind that is stored as this number.
    #[must_use]
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}

impl FromSql for TurnKind {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        let number = u8::column_result(value)?;
        Self::of_number(number).ok_or(rusqlite::types::FromSqlError::OutOfRange(i64::from(number)))
    }
}

/// What was written into the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Turns that were not there.
    pub n_new: usize,
    /// Turns that are different from now on.
    pub n_changed: usize,
    /// The session that was marked as not indexed last.
    pub(super) marked: Option<SessionId>,
}
