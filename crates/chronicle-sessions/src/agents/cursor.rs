//! Cursor: the rows of its command line and agent, and what is made of the database of its editor.
//!
//! A row is `{"role", "message": {"content": […]}}`, without ids, times and answers to calls. Cursor is closed; its
//! documentation of hooks names these files (`transcript_path`, cursor.com/docs/agent/hooks). In the editor's
//! `state.vscdb`, the table `cursorDiskKV` has `composerData:ID` for a conversation and `bubbleId:ID:BUBBLE` for each
//! message, as `github.com/michaeldhood/chatrxiv` documents (`docs/cursor/storage-reference.md`).

use std::borrow::Cow;

use serde_json::Value;

use crate::rows::json::{self, Broken, Raw};
use crate::rows::messages::{Head, prompt, tell, time};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// Nothing is remembered between rows.
pub(crate) struct CursorRows;

impl Transcript for CursorRows {
    fn pause(&self) -> Option<Value> {
        Some(Value::Null)
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let mut head = Head { is_without_answers: true, has_marks: true, ..Head::default() };
        let (mut message, mut kind) = (None, Cow::default());
        let length = json::first_object(row, |key, value| match key {
            "role" => head.role = json::text_or_empty(value),
            "message" => message = Some(value),
            "type" => kind = json::text_or_empty(value),
            "timestamp" => head.at = time(value),
            _ => {}
        })?;
        let content = message.and_then(|message| json::member(message, "content"));
        let verdict = match content {
            Some(content) if matches!(&*head.role, "user" | "assistant") => {
                tell(row, &head, content, stream);
                Verdict::Kept
            }
            // The end of a turn, with how it ended.
            None if kind == "turn_ended" => Verdict::skipped("turn_ended"),
            _ => Verdict::unknown(if kind.is_empty() { &head.role } else { &kind }),
        };
        Ok((verdict, length))
    }
}

/// Nothing is remembered between messages.
pub(crate) struct CursorDatabase;

/// Kinds of messages.
const OF_HUMAN: u64 = 1;
const OF_AGENT: u64 = 2;

impl Transcript for CursorDatabase {
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (mut kind, mut id, mut at) = (None, Cow::default(), None);
        let (mut text, mut call, mut usage, mut is_simulated) = (None, None, None, false);
        let length = json::first_object(row, |key, value| match key {
            "type" => kind = json::number(value),
            "bubbleId" => id = json::text_or_empty(value),
            "createdAt" => at = time(value),
            "text" => text = Some(value),
            "toolFormerData" => call = Some(value),
            "tokenCount" => usage = Some(read_usage(value)),
            "isSimulatedMsg" => is_simulated |= json::is_true(value),
            "subagentSpawnTaskToolCallId" => {
                is_simulated |= json::text(value).is_some_and(|id| !id.is_empty());
            }
            "modelInfo" => {
                stream.session.model = json::member_text(value, "modelName").map(Cow::into_owned);
            }
            "workspaceUris" => {
                json::items(value, |uri| stream.session.is_in(&path_of(&json::text_or_empty(uri))));
            }
            _ => {}
        })?;
        if !stream.is_new(&id) {
            return Ok((Verdict::skipped("repeated"), length));
        }
        if let Some(text) =
            text.filter(|text| json::text(*text).is_some_and(|words| !words.trim().is_empty()))
        {
            let words = json::text_or_empty(text);
            let event = match kind {
                Some(OF_HUMAN) if is_simulated => Event::Synthetic(Synthetic::Injected, words),
                Some(OF_HUMAN) => prompt(words),
                _ => Event::Said(words),
            };
            stream.turn(&Turn { id: Cow::Borrowed(&*id), ..Turn::new(row.place_of(text), at, event) });
        }
        if let Some(call) = call {
            tell_call(row, &id, call, at, stream);
        }
        if let Some(usage) = usage.filter(|usage| 0 < usage.input + usage.output) {
            stream.reply(&id, usage);
        }
        let verdict = match kind {
            Some(OF_HUMAN | OF_AGENT) => Verdict::Kept,
            _ => Verdict::unknown("bubble"),
        };
        Ok((verdict, length))
    }

    fn member(&mut self, name: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
        if name != "cursor" {
            return;
        }
        let session = &mut stream.session;
        json::members(value, |key, value| match key {
            "composerId" => {
                let id = json::text_or_empty(value);
                // Named for the call of a tool that sent it.
                session.is_sub_agent |= id.starts_with("task-");
                session.id = Some(id.into_owned());
            }
            "name" => session.title = json::text(value).filter(|name| !name.is_empty()).map(Cow::into_owned),
            "createdAt" | "lastUpdatedAt" => session.saw(time(value)),
            "createdOnBranch" => session.is_on(&json::text_or_empty(value)),
            "folder" => session.is_in(&path_of(&json::text_or_empty(value))),
            "subagentInfo" => session.is_sub_agent |= value.get() != "null",
            "modelConfig" => session.model = json::member_text(value, "modelName").map(Cow::into_owned),
            _ => {}
        });
    }
}

/// A call of a tool, with what came back.
fn tell_call(row: &Row<'_>, id: &str, call: Raw<'_>, at: Option<jiff::Timestamp>, stream: &mut Stream<'_>) {
    let (mut name, mut arguments, mut status, mut result) =
        (Cow::default(), Cow::default(), Cow::default(), Cow::default());
    json::members(call, |key, value| match key {
        "name" => name = json::text_or_empty(value),
        // Both are texts that hold JSON; what the model wrote says more than what became of it.
        "rawArgs" => arguments = json::text_or_empty(value),
        "params" if arguments.is_empty() => arguments = json::text_or_empty(value),
        "status" => status = json::text_or_empty(value),
        "result" => result = json::text_or_empty(value),
        _ => {}
    });
    if name.is_empty() {
        return;
    }
    let called = tools::called(&name, json::whole(&arguments));
    // It is another turn than the words of the same message.
    let id = format!("{id}#call");
    stream.call(&id, row.place_of(call), at, None, called);
    let found = json::whole(&result).map(crate::rows::messages::Result::of).unwrap_or_default();
    let text = if found.text.is_empty() { &*result } else { &*found.text };
    let is_ok = match &*status {
        "completed" | "success" => Some(found.is_error != Some(true)),
        "error" | "failed" => Some(false),
        _ => None,
    };
    stream.answer(&id, &Answer { is_ok, exit_code: found.exit_code, text });
}

fn read_usage(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    json::members(raw, |key, value| match key {
        "inputTokens" => usage.input = json::number(value).unwrap_or_default(),
        "outputTokens" => usage.output = json::number(value).unwrap_or_default(),
        _ => {}
    });
    usage
}

/// The path in `file:///w%20x`, or in the address of a folder that an editor of Windows opens in WSL; anything else is one
/// already.
pub(crate) fn path_of(uri: &str) -> String {
    const IN_WSL: &str = "vscode-remote://wsl%2B";
    let (begin, path) = match uri.strip_prefix("file://") {
        // A server before the path.
        Some(path) if !path.starts_with('/') => ("//", path),
        Some(path) => ("", path),
        None => match uri.strip_prefix(IN_WSL).and_then(|rest| Some(&rest[rest.find('/')?..])) {
            Some(path) => ("", path),
            None => return uri.to_owned(),
        },
    };
    let mut bytes = begin.as_bytes().to_owned();
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_folders_are_paths() {
        for (uri, expected) in [
            ("file:///w%20x/shop", "/w x/shop"),
            ("file:///c%3A/Users/Ann/shop", "/c:/Users/Ann/shop"),
            ("file://wsl.localhost/Ubuntu/home/ann", "//wsl.localhost/Ubuntu/home/ann"),
            ("file://wsl%24/Ubuntu/home/ann", "//wsl$/Ubuntu/home/ann"),
            ("vscode-remote://wsl%2Bubuntu/home/ann/shop", "/home/ann/shop"),
            ("vscode-remote://ssh-remote%2Bhost/home/ann", "vscode-remote://ssh-remote%2Bhost/home/ann"),
            ("/home/ann/a%20b", "/home/ann/a%20b"),
        ] {
            assert_eq!(path_of(uri), expected);
        }
    }
}
