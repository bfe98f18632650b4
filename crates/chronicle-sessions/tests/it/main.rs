//! Transcripts of every agent: real ones by path, made ones, and broken ones.

mod agents;
mod broken;
mod corpus;
mod support;
mod threads;
