//! A model writes: annotations of commits, read from the diff and from the session that made it. Floor 4, on top.
//!
//! What it writes goes through the same use cases as what people write.

mod annotator;
mod committed;
mod proposals;

pub use annotator::{
    Annotator, Backfill, Estimate, PlannedRequest, ShownChange, Which, WriteCommand, WrittenCommit,
    WrittenReply,
};
pub use proposals::{Candidate, Candidates};
