//! Session memory: floor 3.
//!
//! What the transcripts of coding agents say, as one stream of turns. Nothing
//! here prints, looks up the clock, the environment or the home directory; files
//! come as bytes to read.

mod account;
mod amp;
mod blocks;
mod checkpoint;
mod checks;
mod claude;
mod cleaned;
mod cline;
mod codex;
mod cold;
mod compaction;
mod copies;
mod copilot;
mod cursor;
mod decisions;
mod deeds;
mod digest;
mod droid;
mod edited;
mod elements;
mod endings;
mod finished;
mod forks;
mod format;
mod gemini;
mod generic;
mod goose;
mod hard_failure;
mod human;
mod implied;
mod ingest;
mod journal;
mod json;
mod kept;
mod kimi;
mod known_tools;
mod libraries;
mod lookalike;
#[cfg(test)]
mod made;
mod messages;
mod noted;
mod opencode;
mod outcome;
mod particular;
mod patch;
mod qwen;
mod reading;
mod reads;
mod row;
mod seen;
mod session;
mod shell;
mod signs;
mod source;
mod stored;
mod stream;
mod tally;
mod threads;
mod titles;
mod todos;
mod tools;
mod transcript;
mod turn;
mod typed;
mod uncommitted;
mod wording;
mod words;

pub use checkpoint::{Checkpoint, Resumed, print};
pub use checks::CheckKind;
pub use cold::{keep, unpack, unpacking};
pub use compaction::{CompactionSummary, WorkingCommand, line_of, working_commands};
pub use digest::{DigestOfSession, digest};
pub use edited::{Edited, FileLines, Likeness};
pub use format::Format;
pub use hard_failure::HardFailure;
pub use implied::{Implied, implied};
pub use ingest::{Belongs, Ingested, IngestedSession, Placing, Transcript, clean, ingest, repeats};
pub use journal::{ChangedFile, Check, Journal};
pub use libraries::{MANIFESTS, libraries};
pub use outcome::{may_commit, names_words_of};
pub use reading::{Reading, Session, read, read_from};
pub use reads::{FileRead, ReadLines, read_by_command};
pub use signs::{
    Act, CalledTool, ErrorText, Failure, Invoked, Mended, Nearness, Remedy, SIGNS_VERSION, Seen, Signs,
    Statement, Step, canonical_technology, holding_commit, mended, names_fault, topic_label,
};
pub use source::LONGEST_ROW;
pub use tally::{Fault, FaultKind, Tally};
pub use threads::{Found, events as thread_events, threads};
pub use titles::{LONGEST_TITLE, TitleVerdict};
pub use todos::{Item, Todos};
pub use tools::{ToolCall, tool_call};
pub use turn::{
    Agent, Commit, Edit, EditKind, Event, Outcome, Place, Replaced, Synthetic, Todo, TodoItem, TodoState,
    Tool, Turn, Usage,
};
pub use wording::Wording;
pub use words::{first_sentence, shortened};
