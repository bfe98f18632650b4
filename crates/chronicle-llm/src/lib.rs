//! Language models: floor 2, the only crate that talks to one.
//!
//! A [`Model`] answers a [`Request`] with a [`Reply`], whoever serves it. Nothing here prints or looks up
//! the clock, the environment or the home directory: keys, addresses and times are handed in.

mod error;
mod exchange;
mod model;

pub use error::ModelError;
pub use exchange::{Block, Call, Form, Reply, Request, Stop, Tool, ToolChoice, ToolResult, Turn, Usage};
pub use model::{Cancel, Model};
