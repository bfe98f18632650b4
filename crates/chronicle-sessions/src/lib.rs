//! Session memory: floor 3.
//!
//! What the transcripts of coding agents say, as one stream of turns. Nothing
//! here prints, looks up the clock, the environment or the home directory; files
//! come as bytes to read.
//!
//! Its rooms, each of which knows only those above it:
//!
//! | room | what it is for |
//! |---|---|
//! | `turn`, `words` | what happened in a session; sentences and who typed them |
//! | `commands` | which commands check something, and how they ended |
//! | `rows` | what rows of transcripts can hold |
//! | `agents` | a reader for the form of each agent |
//! | `reading` | a whole transcript as turns of a session |
//! | `journal` | collects what happened, turn by turn |
//! | `digest` | says what a session was about: title, result, open items, decisions |
//! | `signs` | what a session tells of how its user works |
//! | `ingest` | takes it into the store, and what became of copies and forks |

mod agents;
mod commands;
mod digest;
mod ingest;
mod journal;
mod reading;
mod rows;
mod signs;
mod turn;
mod words;

pub use agents::Format;
pub use agents::handed::{Begun, ClineTask};
pub use agents::zed::document::thread_document;
pub use commands::checks::CheckKind;
pub use commands::hard_failure::HardFailure;
pub use digest::implied::{Implied, implied};
pub use digest::threads::{Found, events as thread_events, threads};
pub use digest::titles::{LONGEST_TITLE, TitleVerdict};
pub use digest::wording::Wording;
pub use digest::{DigestOfSession, digest};
pub use ingest::checkpoint::{Checkpoint, Resumed, print};
pub use ingest::cold::{keep, unpack, unpacked_document, unpacking};
pub use ingest::edited::{Edited, FileLines, Likeness};
pub use ingest::{Belongs, Ingested, IngestedSession, Placing, Transcript, clean, ingest, repeats};
pub use journal::libraries::{MANIFESTS, libraries};
pub use journal::todos::{Item, Todos};
pub use journal::{ChangedFile, Check, Journal};
pub use reading::{Reading, Session, read, read_from};
pub use rows::outcome::{may_commit, names_words_of};
pub use rows::reads::{FileRead, ReadLines, read_by_command};
pub use rows::source::LONGEST_ROW;
pub use rows::tally::{Fault, FaultKind, Tally};
pub use rows::tools::{ToolCall, tool_call};
pub use rows::unix_path::unix_path;
pub use signs::compaction::{CompactionSummary, WorkingCommand, line_of, working_commands};
pub use signs::{
    Act, CalledTool, ErrorText, Failure, Invoked, Mended, Nearness, Remedy, SIGNS_VERSION, Seen, Signs,
    Statement, Step, canonical_technology, checks_called, holding_commit, mended, names_fault, topic_label,
};
pub use turn::{
    Agent, Commit, Edit, EditKind, Event, Outcome, Place, Replaced, Synthetic, Todo, TodoItem, TodoState,
    Tool, Turn, Usage,
};
pub use words::{first_sentence, shortened};
