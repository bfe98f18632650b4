//! The faces that agents see: MCP, and what their hooks hand in and get back. Floor 5.

pub mod hooks;
pub mod mcp;
pub mod setup;
