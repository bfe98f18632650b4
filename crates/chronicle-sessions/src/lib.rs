//! Session memory: floor 3.
//!
//! What the transcripts of coding agents say. Nothing here prints, looks up the
//! clock, the environment or the home directory; files come as bytes to read.
