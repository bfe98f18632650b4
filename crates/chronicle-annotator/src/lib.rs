//! A model writes: annotations of commits, read from the diff and from the session that made it. Floor 4, on top.
//!
//! What it writes goes through the same use cases as what people write.

mod candidates;
mod committed;
mod writer;

pub use candidates::{Candidate, Candidates};
pub use writer::{
    Annotator, Backfill, Estimate, PlannedRequest, ShownChange, Which, WriteCommand, WrittenCommit,
    WrittenReply,
};
