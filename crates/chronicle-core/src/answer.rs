//! Answers: how sure they are, and how they fit.

pub mod dependent;
pub mod reading;
pub mod room;
pub mod score;
pub mod trim;
