//! Session memory: floor 3.
//!
//! What the transcripts of coding agents say, as one stream of turns. Nothing
//! here prints, looks up the clock, the environment or the home directory; files
//! come as bytes to read.

mod claude;
mod codex;
mod copilot;
mod elements;
mod format;
mod gemini;
mod generic;
mod human;
mod json;
mod opencode;
mod outcome;
mod patch;
mod reading;
mod row;
mod seen;
mod source;
mod stream;
mod tally;
mod tools;
mod turn;

pub use format::Format;
pub use reading::{Reading, Session, read, read_from};
pub use source::LONGEST_ROW;
pub use tally::{Fault, FaultKind, Tally};
pub use turn::{
    Agent, Commit, Edit, EditKind, Event, Outcome, Place, Replaced, Synthetic, Todo, TodoItem, TodoState,
    Tool, Turn, Usage,
};
