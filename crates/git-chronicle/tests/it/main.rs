//! The binary, end to end, on real repositories.

mod anchors;
mod asking;
mod bad_input;
mod check;
mod config;
mod context;
mod corrections;
mod deps;
mod durability;
mod floors;
mod hook_managers;
mod hooks;
mod index;
mod knowledge;
mod outcome;
mod purge;
mod reading;
mod real_notes;
mod repositories;
mod rewrites;
mod same_dependents;
mod summary;
mod sync;
mod transfer;
mod why;
mod writing;
