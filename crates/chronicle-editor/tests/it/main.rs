//! The server as a client sees it, over pipes in memory.

mod editor;

mod bad_messages;
mod changing;
mod choosing;
mod seeing;
