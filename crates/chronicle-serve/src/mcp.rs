//! Chronicle as an MCP server: what the command line answers, for an agent that calls tools.
//!
//! A tool is a command: it takes the command's options and answers with the very JSON of `--format json`,
//! beside the markdown that a model reads. Every call asks the repository anew, for HEAD moves between calls.

mod budget;
mod choice;
mod host;
#[cfg(feature = "http")]
mod http;
mod prompts;
mod refusal;
mod reply;
mod resources;
mod schema;
mod server;
mod tools;
mod transport;

use rmcp::{ServiceExt, service::ServerInitializeError, transport::io};
use snafu::ResultExt;
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "http")]
pub use http::{new_token, serve_http};

pub use choice::Choice;
pub use host::{Explained, Host, ServeError};

use self::{
    host::{BeginSnafu, runtime},
    server::Server,
    transport::Line,
};

/// Serves over standard input and output until the client closes them.
///
/// # Errors
/// When there is no runtime, or the client does not begin as the protocol says.
pub fn serve(host: Host) -> Result<(), ServeError> {
    serve_over(host, io::stdio_pipes)
}

/// [`serve`], over what `pipes` opens: what the client writes, and where it reads.
///
/// # Errors
/// As there.
pub fn serve_over<R, W>(host: Host, pipes: impl FnOnce() -> (R, W)) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    // One thread for the protocol; calls run beside it, so that a slow one keeps nobody waiting.
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let service = match Server::new(host).serve(Line::over(pipes())).await {
            Ok(service) => service,
            // A client that leaves before it says anything has nothing to be told.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(source) => return Err(source).context(BeginSnafu),
        };
        let _reason = service.waiting().await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}
