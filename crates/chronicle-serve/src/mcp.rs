//! Chronicle as an MCP server: what the command line answers, for an agent that calls tools.
//!
//! A tool is a command: it takes the command's options and answers with the very JSON of `--format json`,
//! beside the markdown that a model reads. Every call asks the repository anew, for HEAD moves between calls.

mod budget;
#[cfg(feature = "http")]
mod http;
mod prompts;
mod refusal;
mod resources;
mod schema;
mod server;
mod tools;
mod transport;

use std::{
    borrow::Cow,
    ffi::OsString,
    path::{Path, PathBuf},
};

use chronicle::Chronicle;
use chronicle_render::View;
use chronicle_workplace::Workplace;
use jiff::Timestamp;
use rmcp::{ServiceExt, service::ServerInitializeError, transport::io};
use snafu::{ResultExt, Snafu};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::{Builder, LocalOptions, LocalRuntime},
};

#[cfg(feature = "http")]
pub use http::{new_token, serve_http};

pub use tools::Choice;

use crate::mcp::{server::Server, transport::Line};

/// What a server needs of whoever runs it: this crate looks nothing up.
#[derive(Debug, Clone)]
pub struct Host {
    /// Where an agent works, unless a call names another place.
    pub directory: PathBuf,
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Whether facts are kept for the next question.
    pub keeps_facts: bool,
    /// The tools that the client is given.
    pub tools: Choice,
    /// Looks up variables of the environment.
    pub environment: fn(&str) -> Option<OsString>,
    /// Starts work that takes long and that no call waits for.
    pub behind: chronicle_workplace::StartBehind,
    /// Says in words what went wrong, as the command line does.
    pub explain: fn(chronicle_workplace::Error) -> Explained,
}

/// What went wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Its short, lasting name.
    pub code: &'static str,
    /// What went wrong, with its causes.
    pub message: String,
    /// What to do about it.
    pub hint: Option<Cow<'static, str>>,
}

/// Why a server stopped before its client wanted it to.
#[derive(Debug, Snafu)]
pub enum ServeError {
    /// No runtime to serve with.
    #[snafu(display("cannot serve"))]
    Runtime {
        /// The cause.
        source: std::io::Error,
    },
    /// A client that does not begin as the protocol says.
    #[snafu(display("the client did not begin a conversation"))]
    Begin {
        /// The cause.
        #[snafu(source(from(ServerInitializeError, Box::new)))]
        source: Box<ServerInitializeError>,
    },
    /// An address that others can reach.
    #[cfg(feature = "http")]
    #[snafu(display("`{address}` is not of the loopback interface"))]
    NotLoopback {
        /// The address.
        address: std::net::SocketAddr,
    },
}

impl ServeError {
    /// Its short, lasting name.
    #[must_use]
    pub fn code(&self) -> chronicle_workplace::Code {
        match self {
            Self::Runtime { .. } | Self::Begin { .. } => "io",
            #[cfg(feature = "http")]
            Self::NotLoopback { .. } => "usage",
        }
    }
}

impl Host {
    /// The application for `directory`, as of now.
    fn chronicle(&self, directory: &Path) -> Chronicle {
        let workplace = Workplace::new(directory, (self.now)(), self.keeps_facts)
            .with_environment(self.environment)
            .with_behind(self.behind);
        Chronicle::new(workplace)
    }

    /// How a model sees an answer.
    fn view(&self, verbose: bool) -> View {
        View { now: (self.now)(), colour: false, width: chronicle_render::DEFAULT_WIDTH, verbose }
    }
}

/// One thread answers: a host asks one question after another.
fn runtime() -> Result<LocalRuntime, ServeError> {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).context(RuntimeSnafu)
}

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
