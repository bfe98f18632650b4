//! What commit memory answers, asked of the library: no process of ours is started, and answers are values.

mod anchors;
mod asking;
mod moved;
mod placing;
mod purge;
mod sleep;
mod unsaved;
