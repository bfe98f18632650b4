//! One JSON-RPC message a line.
//!
//! rmcp's own transport drops lines that are no JSON or too long. Two things are added: what comes before the
//! first request is passed over instead of ending the server, and when the client closes its end, the requests
//! that it made are still answered.

use std::{collections::HashSet, sync::Arc, sync::Mutex};

use rmcp::{
    RoleServer,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Notify,
};

/// A client at the other end of a line.
pub(super) struct Line<T> {
    inner: T,
    has_begun: bool,
    open: Arc<Open>,
}

/// The requests that wait for their answers.
#[derive(Default)]
struct Open {
    ids: Mutex<HashSet<RequestId>>,
    answered: Notify,
}

impl Open {
    fn ids(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().expect("nothing panics while it holds the ids")
    }

    fn close(&self, id: &RequestId) {
        self.ids().remove(id);
        self.answered.notify_one();
    }
}

impl<R, W> Line<AsyncRwTransport<RoleServer, R, W>>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// The client that writes what is read from `reader`, and reads what is written to `writer`.
    pub(super) fn over((reader, writer): (R, W)) -> Self {
        let inner = AsyncRwTransport::new_server(reader, writer);
        Self { inner, has_begun: false, open: Arc::default() }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Line<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let (sending, open) = (self.inner.send(item), self.open.clone());
        async move {
            let sent = sending.await;
            if let Some(id) = answered {
                open.close(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while let Some(message) = self.inner.receive().await {
            match &message {
                JsonRpcMessage::Request(request) => {
                    self.has_begun = true;
                    self.open.ids().insert(request.id.clone());
                }
                JsonRpcMessage::Notification(notification) => {
                    // What is cancelled is not answered.
                    if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.open.close(id);
                    }
                }
                _ => {}
            }
            if self.has_begun {
                return Some(message);
            }
        }
        while !self.open.ids().is_empty() {
            self.open.answered.notified().await;
        }
        None
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
