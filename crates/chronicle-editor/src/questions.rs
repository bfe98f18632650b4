//! From requests to questions about texts and folders.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use gen_lsp_types::{
    CodeActionParams, CodeLensParams, DocumentLink, DocumentLinkParams, ExecuteCommandParams, HoverParams,
    InlayHintParams, Uri, WorkspaceSymbolParams,
};
use lsp_server::{ErrorCode, Request};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    actions::are_wanted,
    conversation::Conversation,
    documents::Document,
    orders::Order,
    refusal::Refusal,
    uri::{path_of, real},
    work::{IsQuiet, Job, Question, Waiting},
};

/// So many requests wait for answers; more are refused.
const MAX_WAITING: usize = 1000;

impl Conversation {
    /// Lets a request be answered; the answer, where it is at hand.
    pub(crate) fn ask(&mut self, request: Request) -> Result<Option<Value>, Refusal> {
        let Request { id, method, params } = request;
        let question = match method.as_str() {
            "textDocument/hover" => {
                let HoverParams { text_document_position_params: at, .. } = parsed(params)?;
                self.document(&at.text_document.uri).map(|document| Question::Hover(document, at.position))
            }
            "textDocument/inlayHint" => {
                let InlayHintParams { text_document, range, .. } = parsed(params)?;
                let document = self.document(&text_document.uri).filter(|_| self.wishes.inlay_hints);
                document.map(|document| Question::Hints(document, range))
            }
            "textDocument/codeLens" => {
                let CodeLensParams { text_document, .. } = parsed(params)?;
                self.document(&text_document.uri).filter(|_| self.wishes.code_lenses).map(Question::Lenses)
            }
            "textDocument/codeAction" => {
                let is_wanted = are_wanted(params.get("context").unwrap_or(&Value::Null));
                let CodeActionParams { text_document, range, .. } = parsed(params)?;
                let document = self.document(&text_document.uri).filter(|_| is_wanted);
                document.map(|document| Question::Actions(document, range))
            }
            "textDocument/documentLink" => {
                let DocumentLinkParams { text_document, .. } = parsed(params)?;
                self.document(&text_document.uri).map(Question::Links)
            }
            "documentLink/resolve" => {
                let link: DocumentLink = parsed(params)?;
                let uri = link.data.as_ref().and_then(|data| data.get("uri")?.as_str()).map(str::to_owned);
                self.path(uri.as_deref())?;
                Some(Question::Follow(Box::new(link)))
            }
            "workspace/symbol" => {
                let WorkspaceSymbolParams { query, .. } = parsed(params)?;
                Some(Question::Symbols(self.places(), query))
            }
            "workspace/executeCommand" => {
                let ExecuteCommandParams { command, arguments, .. } = parsed(params)?;
                Some(self.order(command, arguments.unwrap_or_default())?)
            }
            _ if method.starts_with("$/") => {
                return Err(Refusal::new(ErrorCode::MethodNotFound, "this is optional and not known here"));
            }
            _ => return Err(Refusal::new(ErrorCode::MethodNotFound, "this method is not known here")),
        };
        // A hover is an object or nothing; all others are lists.
        let nothing = if method == "textDocument/hover" { Value::Null } else { json!([]) };
        let Some(question) = question else { return Ok(Some(nothing)) };
        if MAX_WAITING <= self.waiting.len() || self.waiting.contains_key(&id) {
            return Err(Refusal::new(ErrorCode::ServerCancelled, "too many requests wait for their answers"));
        }
        let is_cancelled = Arc::new(AtomicBool::new(false));
        self.waiting.insert(id.clone(), is_cancelled.clone());
        self.workers.give(Job::Ask(Waiting { id, is_cancelled }, question));
        Ok(None)
    }

    /// An open text, as it is now.
    fn document(&self, uri: &Uri) -> Option<Document> {
        self.documents.get(&uri.0).cloned()
    }

    /// The file that arguments name, if it is in an open folder.
    fn path(&self, uri: Option<&str>) -> Result<PathBuf, Refusal> {
        let path = uri.and_then(path_of).map(real);
        let path = path.ok_or_else(|| Refusal::arguments("`uri` names no file".to_owned()))?;
        match self.folders.hold(&path) {
            true => Ok(path),
            false => Err(Refusal::failed("the file is in none of the open folders".to_owned())),
        }
    }

    fn order(&self, command: String, arguments: Vec<Value>) -> Result<Question, Refusal> {
        let arguments = arguments.into_iter().next().unwrap_or_default();
        let uri = arguments.get("uri").and_then(Value::as_str);
        let path = self.path(uri)?;
        let document = uri.and_then(|uri| self.documents.get(uri)).cloned();
        let is_quiet = IsQuiet(arguments.get("quiet").and_then(Value::as_bool).unwrap_or(false));
        Ok(Question::Order(Box::new(Order { command, arguments, path, document }), is_quiet))
    }

    /// Where unfinished work is looked for: the open folders, or those of the open texts.
    fn places(&self) -> Vec<PathBuf> {
        if !self.folders.all().is_empty() {
            return self.folders.all().to_vec();
        }
        let mut places: Vec<_> =
            self.documents.all().filter_map(|document| Some(document.path.parent()?.to_owned())).collect();
        places.sort();
        places.dedup();
        places
    }
}

pub(crate) fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal::arguments(error.to_string()))
}
