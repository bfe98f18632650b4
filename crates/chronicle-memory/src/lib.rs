//! The use cases of session memory: what agents' transcripts say, and what was made of it. Floor 4.
//!
//! It knows nothing of notes: what commit memory says of a question is handed in as a value.

pub mod blocks;
pub mod brief;
pub mod catch_up;
pub mod digest;
pub mod excerpt;
pub mod find;
pub mod handoff;
pub mod imports;
pub mod injected;
pub mod learning;
pub mod listing;
mod memory;
mod named_commit;
pub mod sessions;
pub mod share;
pub mod sleep;
pub mod sync;
pub mod threads;
pub mod tiers;
mod wordings;

pub use blocks::Blocks;
pub use learning::Learning;
pub use memory::{Memory, OpenMemory, Scope};
pub use share::Shared;
pub use sync::Machines;
pub use threads::Threads;

impl<'w> Memory<'w> {
    /// Work that is carried on from session to session.
    #[must_use]
    pub fn threads(self) -> Threads<'w> {
        Threads { workplace: self.workplace }
    }

    /// Labelled texts about the user and their work.
    #[must_use]
    pub fn blocks(self) -> Blocks<'w> {
        Blocks { workplace: self.workplace }
    }

    /// What the sessions show of the user: preferences, patterns, skills.
    #[must_use]
    pub fn learning(self) -> Learning<'w> {
        Learning { workplace: self.workplace }
    }

    /// What machines of one user exchange.
    #[must_use]
    pub fn machines(self) -> Machines<'w> {
        Machines { workplace: self.workplace }
    }

    /// What machines share.
    #[must_use]
    pub fn shared(self) -> Shared<'w> {
        Shared { workplace: self.workplace }
    }
}
