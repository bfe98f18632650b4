//! What is open in the editor, what waits for answers, and what is to be done when.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use gen_lsp_types::{DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams};
use lsp_server::{Notification, RequestId};
use serde_json::Value;

use crate::{
    client::{Client, Folders, Wishes},
    documents::{Document, Documents},
    host::Host,
    questions::parsed,
    uri::{path_of, real},
    work::{Job, Workers},
};

/// With nothing to do, the server looks up this often.
pub(crate) const IDLE: Duration = Duration::from_hours(1);

/// A conversation that has begun.
pub(crate) struct Conversation {
    pub(crate) client: Client,
    pub(crate) wishes: Wishes,
    pub(crate) folders: Folders,
    pub(crate) documents: Documents,
    pub(crate) workers: Workers,
    pub(crate) waiting: HashMap<RequestId, Arc<AtomicBool>>,
    /// When texts are to be checked.
    pub(crate) due: HashMap<String, Instant>,
    /// Texts that are being checked.
    pub(crate) checking: HashSet<String>,
    /// What is shown of texts.
    pub(crate) warned: HashMap<String, Vec<Value>>,
    pub(crate) look_at: Instant,
    pub(crate) is_looking: bool,
}

/// What a notification takes away.
#[derive(Default)]
pub(crate) struct Gone {
    /// Texts whose warnings are to be removed.
    pub(crate) cleared: Vec<String>,
    /// Requests that nobody waits for any more.
    pub(crate) cancelled: Vec<RequestId>,
}

impl Conversation {
    /// One that begins with these parameters.
    pub(crate) fn new(initialize: &Value, client: Client, workers: Workers) -> Self {
        let mut wishes = Wishes::default();
        wishes.set(initialize.get("initializationOptions").unwrap_or(&Value::Null));
        Self {
            client,
            wishes,
            folders: Folders::of(initialize),
            documents: Documents::default(),
            workers,
            waiting: HashMap::new(),
            due: HashMap::new(),
            checking: HashSet::new(),
            warned: HashMap::new(),
            look_at: Instant::now(),
            is_looking: false,
        }
    }

    /// When something is to be done at the latest.
    pub(crate) fn next(&self) -> Instant {
        let due = self.due.values().min().copied();
        let look = (!self.is_looking && self.documents.all().next().is_some()).then_some(self.look_at);
        due.into_iter().chain(look).min().unwrap_or_else(|| Instant::now() + IDLE)
    }

    pub(crate) fn do_what_is_due(&mut self, host: &Host) {
        let now = Instant::now();
        let due: Vec<String> =
            self.due.iter().filter(|(_, at)| **at <= now).map(|(uri, _)| uri.clone()).collect();
        for uri in due {
            // One check of a text at a time: a faster writer is not answered more often.
            if self.checking.contains(&uri) {
                self.due.insert(uri, now + host.pace.rest);
                continue;
            }
            self.due.remove(&uri);
            if let Some(document) = self.documents.get(&uri) {
                self.workers.give(Job::Check(document.clone()));
                self.checking.insert(uri);
            }
        }
        if self.look_at <= now && !self.is_looking {
            self.look_at = now + host.pace.look;
            let open: Vec<Document> = self.documents.all().cloned().collect();
            if !open.is_empty() {
                self.is_looking = true;
                self.workers.give(Job::Look(open));
            }
        }
    }

    /// Lets a text be checked once it has rested.
    pub(crate) fn rest(&mut self, uri: &str, rest: Duration) {
        if self.wishes.diagnostics && self.documents.get(uri).is_some() {
            self.due.insert(uri.to_owned(), Instant::now() + rest);
        }
    }

    /// Takes in a notification. One that is not as it should be says nothing.
    pub(crate) fn take_in(&mut self, notification: Notification, host: &Host) -> Gone {
        let mut gone = Gone::default();
        let params = notification.params;
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document: opened }) = parsed(params) else {
                    return gone;
                };
                let uri = opened.uri.0;
                if path_of(&uri).is_some_and(|path| self.folders.hold(&real(path))) {
                    self.documents.open(uri.clone(), opened.version, opened.text);
                    self.rest(&uri, Duration::ZERO);
                }
            }
            "textDocument/didChange" => {
                let Ok(changed) = parsed::<DidChangeTextDocumentParams>(params) else { return gone };
                let named = changed.text_document;
                let (uri, version) = (named.text_document_identifier.uri.0, named.version);
                if self.documents.change(&uri, version, changed.content_changes, self.client.encoding) {
                    self.rest(&uri, host.pace.rest);
                }
            }
            "textDocument/didSave" => {
                let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default();
                self.rest(uri, Duration::ZERO);
                self.look_at = Instant::now();
            }
            "textDocument/didClose" => {
                let Ok(DidCloseTextDocumentParams { text_document: closed }) = parsed(params) else {
                    return gone;
                };
                self.forget(closed.uri.0, &mut gone);
            }
            "workspace/didChangeWorkspaceFolders" => {
                self.folders.change(&params);
                let is_out = |document: &&Document| !self.folders.hold(&document.path);
                let out: Vec<String> =
                    self.documents.all().filter(is_out).map(|document| document.uri.clone()).collect();
                out.into_iter().for_each(|uri| self.forget(uri, &mut gone));
            }
            "workspace/didChangeConfiguration" => {
                let before = self.wishes;
                self.wishes.set(params.get("settings").unwrap_or(&Value::Null));
                self.follow_wishes(before, &mut gone);
            }
            "workspace/didChangeWatchedFiles" => self.look_at = Instant::now(),
            "$/cancelRequest" => {
                let id = params.get("id").cloned().unwrap_or_default();
                let Ok(id) = serde_json::from_value::<RequestId>(id) else { return gone };
                if let Some(is_cancelled) = self.waiting.remove(&id) {
                    is_cancelled.store(true, Ordering::Relaxed);
                    gone.cancelled.push(id);
                }
            }
            _ => {}
        }
        gone
    }

    fn forget(&mut self, uri: String, gone: &mut Gone) {
        self.documents.close(&uri);
        self.due.remove(&uri);
        if self.warned.remove(&uri).is_some() {
            gone.cleared.push(uri.clone());
        }
        self.workers.give(Job::Forget(uri));
    }

    fn follow_wishes(&mut self, before: Wishes, gone: &mut Gone) {
        match (before.diagnostics, self.wishes.diagnostics) {
            (true, false) => {
                self.due.clear();
                gone.cleared.extend(self.warned.drain().map(|(uri, _)| uri));
            }
            (false, true) => {
                let open: Vec<String> = self.documents.all().map(|document| document.uri.clone()).collect();
                open.iter().for_each(|uri| self.rest(uri, Duration::ZERO));
            }
            _ => {}
        }
    }
}
