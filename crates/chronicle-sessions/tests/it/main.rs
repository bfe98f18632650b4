//! Transcripts of every agent: real ones by path, made ones, and broken ones.

mod agents;
mod authors;
mod broken;
mod checkpoints;
mod corpus;
mod more_agents;
mod support;
mod threads;
mod zed;
