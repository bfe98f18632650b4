//! What agents are told without asking: at the beginning of a session, before an edit, after a commit.
//!
//! All of it is bounded, quoted as data, told once for each session, and written down
//! ([`Memory::injected`](chronicle_memory::Memory::injected) shows it).

mod edits;
mod reads;
mod recall;
mod related;
mod start;

use chronicle_core::reading::{Reading, WisdomItem};
pub use chronicle_memory::injected::{
    AgentSession, Injected, InjectedItem, InjectedSummary, InjectedText, InjectedWeek, LONGEST_TEXT,
    ShownItem, fenced, without_fences,
};
use chronicle_memory::{brief::Brief, handoff::Handoff};
pub use chronicle_sessions::{
    Edit, EditKind, FileRead, ReadLines, Replaced, ToolCall, read_by_command, tool_call,
};
use chronicle_workplace::Workplace;
use jiff::Timestamp;

pub use self::{
    edits::Moment,
    start::{Begun, Opening},
};
use crate::Chronicle;

/// How answers are written for agents at a moment, which is up to the face.
#[derive(Debug, Clone, Copy)]
pub struct AgentTexts {
    /// A briefing.
    pub brief: fn(&Brief, Timestamp) -> String,
    /// Work that another session hands over.
    pub handoff: fn(&Handoff, Timestamp) -> String,
    /// What is known of some code.
    pub reading: fn(&Reading, Timestamp) -> String,
    /// A trap for a human's eyes, on one line.
    pub trap: fn(&WisdomItem, Timestamp) -> String,
    /// The lessons on a file that was read, each on one line, and how many more there are.
    pub lessons_of_read: fn(&str, &[WisdomItem], usize, Timestamp) -> String,
}

/// What agents are told in one repository.
#[derive(Clone, Copy)]
pub struct Agents<'c> {
    pub(crate) chronicle: &'c Chronicle,
}

impl<'c> Agents<'c> {
    fn workplace(&self) -> &'c Workplace {
        self.chronicle.workplace()
    }
}
