//! The way to a service: TLS, proxies, and waiting for what takes long.

use std::{
    sync::{OnceLock, mpsc},
    thread,
    time::Duration,
};

use reqwest::{Client, ClientBuilder, NoProxy, Proxy, redirect};
use rustls::crypto::ring;
use tokio::{
    runtime::{Builder, Handle, LocalOptions},
    sync::oneshot,
    time,
};

use crate::{Cancel, access::Proxies};

/// How often a waiting call looks whether it was called off.
const LOOK: Duration = Duration::from_millis(25);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// This machine is never asked through a proxy.
const HERE: &str = "localhost,127.0.0.0/8,::1";

/// A client and the thread that moves its bytes; nothing of it exists before the first call.
#[derive(Debug)]
pub(crate) struct Transport {
    handle: Handle,
    /// The thread ends when this is dropped.
    _stop: oneshot::Sender<()>,
    pub(crate) client: Client,
}

impl Transport {
    /// # Errors
    /// In words, when a proxy's address is none or the system has no threads or certificates.
    pub(crate) fn new(proxies: &Proxies) -> Result<Self, String> {
        static PROVIDER: OnceLock<()> = OnceLock::new();
        PROVIDER.get_or_init(|| {
            // Whoever was faster installed one that does as well.
            let _is_first = ring::default_provider().install_default();
        });
        let (stop, stopped) = oneshot::channel();
        let (begun, beginning) = mpsc::channel();
        // A runtime that might have more threads would bring in the mathematical library (.cargo/config.toml). This
        // one stays on its thread.
        let drive =
            move || match Builder::new_current_thread().enable_all().build_local(LocalOptions::default()) {
                Ok(runtime) => {
                    let _waited_for = begun.send(Ok(runtime.handle().clone()));
                    drop(runtime.block_on(stopped));
                }
                Err(error) => drop(begun.send(Err(error.to_string()))),
            };
        thread::Builder::new().name("model".to_owned()).spawn(drive).map_err(|error| error.to_string())?;
        let handle = beginning.recv().map_err(|error| error.to_string())??;
        let builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // A key in a header of its own would go wherever a redirect points.
            .redirect(redirect::Policy::none())
            .tcp_nodelay(true)
            .user_agent(concat!("git-chronicle/", env!("CARGO_PKG_VERSION")));
        let client = through(builder, proxies)?.build().map_err(|error| error.to_string())?;
        Ok(Self { handle, _stop: stop, client })
    }

    /// Waits for `work` until it is done or called off; none when it was called off.
    ///
    /// It runs on a thread of its own: the caller's may belong to another runtime, which does not let it wait.
    pub(crate) fn wait<T: Send>(&self, work: impl Future<Output = T> + Send, cancel: &Cancel) -> Option<T> {
        let waiting = async {
            let mut work = std::pin::pin!(work);
            loop {
                match time::timeout(LOOK, &mut work).await {
                    Ok(done) => return Some(done),
                    Err(_) if cancel.is_cancelled() => return None,
                    Err(_) => {}
                }
            }
        };
        thread::scope(|scope| {
            let waiter = scope.spawn(|| self.handle.block_on(waiting));
            waiter.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// The proxies are those that were handed in, and no others: the library would look them up by itself.
fn through(builder: ClientBuilder, proxies: &Proxies) -> Result<ClientBuilder, String> {
    let except = proxies.except.as_deref().filter(|hosts| !hosts.trim().is_empty());
    let except = except.map_or_else(|| HERE.to_owned(), |hosts| format!("{hosts},{HERE}"));
    let mut builder = builder.no_proxy();
    for (kind, address) in [("https", &proxies.https), ("http", &proxies.http)] {
        let Some(address) = address.as_deref().filter(|address| !address.trim().is_empty()) else { continue };
        let proxy = if kind == "https" { Proxy::https(address) } else { Proxy::http(address) };
        let proxy = proxy.map_err(|_| format!("the address of its {kind} proxy is none"))?;
        builder = builder.proxy(proxy.no_proxy(NoProxy::from_string(&except)));
    }
    Ok(builder)
}
