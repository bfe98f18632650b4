//! Values of session memory.

pub mod block;
pub mod decay;
pub mod learning;
pub mod period;
pub mod thread;
