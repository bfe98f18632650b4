//! The use cases of session memory: what agents' transcripts say, and what was made of it. Floor 4.
//!
//! It knows nothing of notes: what commit memory says of a question is handed in as a value.

pub mod blocks;
pub mod brief;
pub mod catch_up;
pub mod digest;
pub mod excerpt;
pub mod find;
pub mod injected;
pub mod learning;
mod memory;
pub mod sessions;
pub mod share;
pub mod sleep;
pub mod threads;
pub mod tiers;

pub use blocks::Blocks;
pub use learning::Learning;
pub use memory::{Memory, OpenMemory, Scope};
pub use share::Shared;
pub use threads::Threads;
