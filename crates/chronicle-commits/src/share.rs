//! Notes that come and go: remotes, other programs, files, and what is taken out for good.

pub mod agent_trace;
pub mod dropped;
pub mod gc;
pub mod merging;
pub mod purge;
pub mod sync;
pub mod transfer;
