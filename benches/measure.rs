//! What the benches share: a repository to measure in, a made history, and times.

#![allow(dead_code, reason = "each bench uses its own part")]

pub(crate) mod history;
pub(crate) mod random;
pub(crate) mod repository;
pub(crate) mod times;
