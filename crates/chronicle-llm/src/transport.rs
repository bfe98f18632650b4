//! The way to a service: TLS, proxies, and waiting for what takes long or never ends.

use std::{
    pin::pin,
    sync::{Mutex, OnceLock, PoisonError, mpsc},
    task::Poll,
    thread,
    time::{Duration, Instant},
};

use reqwest::{Client, ClientBuilder, NoProxy, Proxy, redirect};
use rustls::crypto::ring;
use tokio::{
    runtime::{Builder, Handle, LocalOptions},
    sync::oneshot,
};

use crate::{Cancel, access::Proxies};

/// How often is looked whether a call was called off, is too slow, or takes too much memory.
const LOOK: Duration = Duration::from_millis(25);
/// How long a call may go on that was told to end, before its connection is taken from it.
const GRACE: Duration = Duration::from_millis(250);
/// How much memory this process may gain during a call, in bytes. A reply of the largest size takes a small part of it.
const MAX_GROWTH: u64 = 512 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// This machine is never asked through a proxy.
const HERE: &str = "localhost,127.0.0.0/8,::1";

/// A client and the thread that moves its bytes; nothing of it exists before the first call.
#[derive(Debug)]
pub(crate) struct Transport {
    handle: Handle,
    /// No bytes are moved any more when this is gone.
    drive: Mutex<Option<oneshot::Sender<()>>>,
    /// The thread ends when this is dropped.
    _end: mpsc::Sender<()>,
    pub(crate) client: Client,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum Ended<T> {
    /// By itself.
    Done(T),
    /// It was called off.
    CalledOff,
    /// It took more time than it had.
    TooSlow,
    /// What the service sends takes more than [`MAX_GROWTH`].
    TooLarge,
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
        let (driving, halted) = oneshot::channel();
        let (end, ended) = mpsc::channel::<()>();
        let (begun, beginning) = mpsc::channel();
        // It stays on one thread: calls mostly wait for the network.
        let drive =
            move || match Builder::new_current_thread().enable_all().build_local(LocalOptions::default()) {
                Ok(runtime) => {
                    let _waited_for = begun.send(Ok(runtime.handle().clone()));
                    drop(runtime.block_on(halted));
                    // A call may still use its timers, which must not be gone before it is.
                    let _is_over = ended.recv();
                }
                Err(error) => drop(begun.send(Err(error.to_string()))),
            };
        thread::Builder::new().name("model".to_owned()).spawn(drive).map_err(|error| error.to_string())?;
        let handle = beginning.recv().map_err(|error| error.to_string())??;
        let builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // A key in a header of its own would go wherever a redirect points.
            .redirect(redirect::Policy::none())
            // A small reply could become one that fills the memory.
            .no_gzip()
            .tcp_nodelay(true)
            .user_agent(concat!("git-chronicle/", env!("CARGO_PKG_VERSION")));
        let client = through(builder, proxies)?.build().map_err(|error| error.to_string())?;
        Ok(Self { handle, drive: Mutex::new(Some(driving)), _end: end, client })
    }

    /// Whether a call was ended by force: no further one can be made.
    pub(crate) fn is_halted(&self) -> bool {
        self.drive().is_none()
    }

    fn drive(&self) -> std::sync::MutexGuard<'_, Option<oneshot::Sender<()>>> {
        self.drive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `work` until it is done or called off, for `most` at most.
    ///
    /// It runs on a thread of its own: the caller's may belong to another runtime, which does not let it wait. And where a
    /// service sends faster than its words can be read, reading never pauses: only from another thread can it be ended,
    /// by moving no more bytes.
    pub(crate) fn wait<T: Send>(
        &self,
        work: impl Future<Output = T> + Send,
        cancel: &Cancel,
        most: Duration,
    ) -> Ended<T> {
        let (call_off, called_off) = oneshot::channel::<()>();
        let waiting = async {
            let (mut work, mut called_off) = (pin!(work), pin!(called_off));
            std::future::poll_fn(|context| match work.as_mut().poll(context) {
                Poll::Ready(done) => Poll::Ready(Some(done)),
                Poll::Pending => called_off.as_mut().poll(context).map(|_| None),
            })
            .await
        };
        let (began, resident_before) = (Instant::now(), resident());
        let why = |done: Option<T>| match done {
            Some(done) => Some(Ended::Done(done)),
            None if cancel.is_cancelled() => Some(Ended::CalledOff),
            None if most <= began.elapsed() => Some(Ended::TooSlow),
            None if MAX_GROWTH < resident().saturating_sub(resident_before) => Some(Ended::TooLarge),
            None => None,
        };
        thread::scope(|scope| {
            let (working, is_working) = mpsc::channel::<()>();
            let waiter = scope.spawn(move || {
                let _working = working;
                self.handle.block_on(waiting)
            });
            let is_over = |limit| is_working.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Disconnected);
            let mut ended = None;
            while ended.is_none() && !is_over(LOOK) {
                ended = why(None);
            }
            if ended.is_some() {
                drop(call_off);
                if !is_over(GRACE) {
                    drop(self.drive().take());
                }
            }
            let done = waiter.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ended.or_else(|| why(done)).unwrap_or(Ended::CalledOff)
        })
    }
}

/// How much memory this process has, in bytes, where the system says so; else always the same.
fn resident() -> u64 {
    let status =
        if cfg!(target_os = "linux") { std::fs::read_to_string("/proc/self/status") } else { return 0 };
    let status = status.unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next());
    kilobytes.and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// The proxies are those that were handed in, and no others: the library would look them up by itself.
fn through(builder: ClientBuilder, proxies: &Proxies) -> Result<ClientBuilder, String> {
    let except = proxies.except.as_deref().filter(|hosts| !hosts.trim().is_empty());
    let except = except.map_or_else(|| HERE.to_owned(), |hosts| format!("{hosts},{HERE}"));
    let mut builder = builder.no_proxy();
    for (kind, address) in [("https", &proxies.https), ("http", &proxies.http)] {
        let Some(address) = address.as_deref().filter(|address| !address.trim().is_empty()) else { continue };
        let proxy = if kind == "https" { Proxy::https(address) } else { Proxy::http(address) };
        let proxy = proxy.map_err(|_| format!("the address of its {kind} proxy isn't valid"))?;
        builder = builder.proxy(proxy.no_proxy(NoProxy::from_string(&except)));
    }
    Ok(builder)
}
