//! The same server over HTTP, for clients that start no process: on the loopback interface only, for those who know
//! the token, and never for a web page.
//!
//! Whatever runs on this machine can connect, a browser included: so `Host` must name this machine (another name that
//! resolves to it is an attack), an `Origin` that is not this machine's is refused, and everything needs the token.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use http_body_util::{BodyExt, Full, Limited, combinators::BoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, WWW_AUTHENTICATE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use snafu::{ResultExt, ensure};
use tokio::net::TcpListener;

use crate::mcp::{
    host::{Host, NotLoopbackSnafu, RuntimeSnafu, ServeError, runtime},
    server::Server,
};

/// Where clients find the server.
const PATH: &str = "/mcp";
/// As long as a line over standard input may be.
const MAX_BODY_BYTES: usize = 16 << 20;
/// Web pages that may ask: none but those of this machine, which need the token as well.
const ORIGINS: [&str; 3] = ["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"];

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// A token that nobody guesses.
///
/// # Errors
/// When the system has no randomness to give.
pub fn new_token() -> Result<String, ServeError> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other).context(RuntimeSnafu)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Serves at `address` those who know `token`, until the process ends. `tell` is called with the URL once it can be
/// reached.
///
/// # Errors
/// When the address is not of the loopback interface, or cannot be listened at.
pub fn serve_http(
    host: Host,
    address: SocketAddr,
    token: &str,
    tell: impl FnOnce(&str),
) -> Result<(), ServeError> {
    ensure!(address.ip().is_loopback(), NotLoopbackSnafu { address });
    let runtime = runtime()?;
    let expected: Arc<str> = format!("Bearer {token}").into();
    runtime.block_on(async {
        let listener = TcpListener::bind(address).await.context(RuntimeSnafu)?;
        let address = listener.local_addr().context(RuntimeSnafu)?;
        let server = Server::new(host);
        let config = StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS);
        let service: Service = StreamableHttpService::new(
            move || Ok(server.clone()),
            LocalSessionManager::default().into(),
            config,
        );
        tell(&format!("http://{address}{PATH}"));
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let (service, expected) = (service.clone(), expected.clone());
            tokio::spawn(async move {
                let answering = service_fn(|request| answer(&service, &expected, request));
                // A client that breaks off has nothing to be told.
                let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), answering).await;
            });
        }
    })
}

async fn answer(
    service: &Service,
    expected: &str,
    request: Request<Incoming>,
) -> Result<Response<BoxBody<Bytes, Infallible>>, Infallible> {
    let given = request.headers().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    if !is_same(given, expected.as_bytes()) {
        let mut refusal = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
        refusal.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
        return Ok(refusal);
    }
    if request.uri().path() != PATH {
        return Ok(plain(StatusCode::NOT_FOUND, "the server is at /mcp\n"));
    }
    Ok(service.handle(request.map(|body| Limited::new(body, MAX_BODY_BYTES))).await)
}

fn plain(status: StatusCode, text: &'static str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

/// Compares in a time that tells nothing of how much is right.
fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let differences = given.iter().zip(expected).fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == expected.len() && differences == 0
}
