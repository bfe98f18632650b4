//! Language models: floor 2, the only crate that talks to one.
//!
//! A [`Model`] answers a [`Request`] with a [`Reply`], whoever serves it. Nothing here prints or looks up
//! the clock, the environment or the home directory: keys, addresses and times are handed in.

mod access;
mod claude;
mod embedder;
mod error;
mod exchange;
mod failure;
mod ledger;
mod limited;
mod metered;
mod model;
mod pace;
mod prices;
mod service;
mod transport;
mod wire;

pub use access::{Access, Key, Proxies, Reach, Wire};
pub use claude::ClaudeCommand;
pub use embedder::{EMBEDDING_MODEL, Embedder, Embedding};
pub use error::ModelError;
pub use exchange::{Block, Call, Form, Reply, Request, Stop, Tool, ToolChoice, ToolResult, Turn, Usage};
pub use ledger::{Account, Caps, Entry, Ledger, Purpose, Reservation, Spending};
pub use limited::Limited;
pub use metered::{Meter, Metered};
pub use model::{Cancel, Model, Progress};
pub use pace::Pace;
pub use prices::{Money, Prices};
pub use service::Service;
