//! Sessions: taking them in, looking at them, forgetting them.

mod agents;
mod changed;
pub(crate) mod companions;
pub(crate) mod files_since;
mod forget;
mod goes_on;
mod health;
mod ingest;
pub(crate) mod kept;
pub(crate) mod look;
mod made;
pub(crate) mod named;
pub(crate) mod place;
mod queue;
mod resume;
mod text_places;
mod transfer;
mod vectors;
mod wording;

pub use files_since::ChangedSince;
pub use forget::{ForgetCommand, ForgetReply, ForgottenSession};
pub use ingest::{IngestCommand, IngestReply, Progress, UnreadFile, What};
pub use kept::opencode_session;
pub use look::{ListedSession, SessionList, SessionThread, ShownSession, ShownTurn};
pub use named::short_session;
pub use place::ExcludeReply;
pub use resume::Resumption;
pub use text_places::{Forgets, TEXT_PLACES, TextPlace};
pub use transfer::{Episode, MemoryTransfer};
pub use wording::{WordCommand, WordedOutcome, WordedReply, WordedSession};
