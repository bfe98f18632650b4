//! The binary, end to end, on real repositories.

mod bad_input;
mod durability;
mod floors;
mod outcome;
mod reading;
mod real_notes;
mod repositories;
mod writing;
