//! A language server: lessons where the code is in the editor, also before it is saved. Floor 5.
//!
//! It answers from the same use cases as the command line. An open text takes the place of its file
//! ([`chronicle::UnsavedText`]), so lines are those that the person sees. Words of a repository are shown as text and are
//! never markup that acts. Nothing is written but what a person chose in the editor.

mod abilities;
mod actions;
mod client;
mod conversation;
mod documents;
mod host;
mod hover;
mod known;
mod links;
mod marks;
mod markup;
mod orders;
mod pages;
mod questions;
mod refusal;
mod server;
mod symbols;
mod text;
mod transport;
mod uri;
mod warnings;
mod whys;
mod work;

pub use host::{Host, Pace};
pub use server::{Ended, serve};
