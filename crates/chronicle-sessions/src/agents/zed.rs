//! Threads of Zed's agent: what is made of its database.
//!
//! After `github.com/zed-industries/zed` at `0642ec7`: `crates/agent/src/db.rs` (`DbThread`, version 0.3.0), `thread.rs` next to
//! it (`Message`, `UserMessageContent`, `AgentMessageContent`), `legacy_thread.rs` (`SerializedThread`, versions up to 0.2.0)
//! and `crates/acp_thread/src/mention.rs` (`MentionUri`). Later versions add `Message::Compaction`. A message has no time.

pub(crate) mod document;
mod results;

use std::borrow::Cow;
use std::collections::HashMap;

use self::document::HEAD;
use self::results::{answer, replaced_in};
use crate::agents::claude::read_usage;
use crate::rows::json::{self, Broken, Raw};
use crate::rows::messages::{prompt, time};
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools::{self, Called};
use crate::rows::transcript::Transcript;
use crate::rows::wrapped::is_wrapped;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// What is remembered between messages.
#[derive(Default)]
pub(crate) struct Zed {
    /// The folders of the project: paths of files begin with the name of one.
    folders: Vec<String>,
    /// Whether somebody else led the thread and shared it.
    is_shared: bool,
    /// How many messages there were: those of the agent have no ids.
    n_messages: usize,
}

/// A message of the versions before the present one.
#[derive(Default)]
struct Legacy<'a> {
    role: Cow<'a, str>,
    segments: Option<Raw<'a>>,
    text: Option<Raw<'a>>,
    tool_uses: Option<Raw<'a>>,
    tool_results: Option<Raw<'a>>,
    is_hidden: bool,
}

impl Transcript for Zed {
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        self.n_messages += 1;
        if row.bytes.first() == Some(&b'"') {
            // One without content: the user let the agent go on.
            let name: String = serde_json::from_slice(row.bytes).map_err(|_| Broken::NotJson)?;
            let verdict = match &*name {
                "Resume" => Verdict::skipped("resume"),
                name => Verdict::unknown(name),
            };
            return Ok((verdict, row.bytes.len()));
        }
        let (mut message, mut legacy, mut other) = (None, Legacy::default(), String::new());
        let length = json::first_object(row, |key, value| match key {
            "User" => message = Some((Sender::User, value)),
            "Agent" => message = Some((Sender::Agent, value)),
            "Compaction" => message = Some((Sender::Summary, value)),
            "role" => legacy.role = json::text_or_empty(value),
            "segments" => legacy.segments = Some(value),
            "text" => legacy.text = Some(value),
            "tool_uses" => legacy.tool_uses = Some(value),
            "tool_results" => legacy.tool_results = Some(value),
            "is_hidden" => legacy.is_hidden = json::is_true(value),
            key => key.clone_into(&mut other),
        })?;
        let verdict = match message {
            Some((Sender::User, message)) => self.tell_user(row, message, stream),
            Some((Sender::Agent, message)) => self.tell_agent(row, message, stream),
            Some((Sender::Summary, info)) => self.tell_summary(row, info, stream),
            None if !legacy.role.is_empty() => self.tell_legacy(row, &legacy, stream),
            None => Verdict::unknown(&other),
        };
        Ok((verdict, length))
    }

    fn member(&mut self, name: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
        if name != HEAD {
            return;
        }
        let session = &mut stream.session;
        let (mut snapshot, mut usage) = (None, None);
        json::members(value, |key, value| match key {
            "id" => session.id = json::text(value).map(Cow::into_owned),
            "parent_id" => {
                session.parent_id = json::text(value).map(Cow::into_owned).or(session.parent_id.take());
            }
            "subagent_context" => {
                session.is_sub_agent |= value.get() != "null";
                let parent = json::member_text(value, "parent_thread_id").map(Cow::into_owned);
                session.parent_id = session.parent_id.take().or(parent);
            }
            // It is called so until the model gives it a title.
            "title" => {
                let is_given = |title: &Cow<'_, str>| !title.trim().is_empty() && title != "New Thread";
                session.title = json::text(value).filter(is_given).map(Cow::into_owned);
            }
            "created_at" | "updated_at" => session.saw(time(value)),
            "folders" => {
                json::items(value, |folder| self.folders.extend(json::text(folder).map(Cow::into_owned)));
            }
            "model" => session.model = json::member_text(value, "model").map(Cow::into_owned),
            "imported" => self.is_shared = json::is_true(value),
            "cumulative_token_usage" => usage = Some(read_usage(value)),
            "initial_project_snapshot" => snapshot = Some(value),
            _ => {}
        });
        session.is_sub_agent |= session.parent_id.is_some();
        if let Some(snapshot) = snapshot {
            self.take_snapshot(snapshot, stream);
        }
        for folder in self.folders.iter().chain(self.folders.first()) {
            stream.session.is_in(folder);
        }
        if let Some(usage) = usage.filter(|usage| *usage != Usage::default()) {
            stream.reply("thread", usage);
        }
    }
}

/// Who a message is from.
enum Sender {
    User,
    Agent,
    /// Zed itself, in the place of what came before.
    Summary,
}

impl Zed {
    /// Takes what the project was like when the thread began.
    fn take_snapshot(&mut self, snapshot: Raw<'_>, stream: &mut Stream<'_>) {
        let session = &mut stream.session;
        session.saw(json::member(snapshot, "timestamp").and_then(time));
        let is_unplaced = self.folders.is_empty();
        let Some(trees) = json::member(snapshot, "worktree_snapshots") else { return };
        json::items(trees, |tree| {
            let folder = json::member_text(tree, "worktree_path").filter(|folder| !folder.is_empty());
            self.folders.extend(folder.filter(|_| is_unplaced).map(Cow::into_owned));
            let Some(git) = json::member(tree, "git_state") else { return };
            if session.head.is_none() {
                session.head = json::member_text(git, "head_sha").map(Cow::into_owned);
            }
            session.is_on(&json::member_text(git, "current_branch").unwrap_or_default());
        });
    }

    fn tell_user(&self, row: &Row<'_>, message: Raw<'_>, stream: &mut Stream<'_>) -> Verdict {
        let (mut id, mut words, mut elements) = (Cow::default(), String::new(), String::new());
        json::members(message, |key, value| match key {
            "id" => id = json::text_or_empty(value),
            "content" => json::items(value, |part| {
                json::members(part, |kind, value| match kind {
                    "Text" => match json::text_or_empty(value) {
                        text if is_wrapped(&text) => elements.push_str(&text),
                        text => words.push_str(typed(&text)),
                    },
                    "Mention" => words.push_str(&mentioned(value)),
                    _ => {}
                });
            }),
            _ => {}
        });
        let id = if id.is_empty() { self.id(0).into() } else { id };
        let words = if words.trim().is_empty() { elements } else { words };
        self.ask(row, message, id, words.into(), stream)
    }

    /// Somebody asks for something.
    fn ask(
        &self,
        row: &Row<'_>,
        place: Raw<'_>,
        id: Cow<'_, str>,
        words: Cow<'_, str>,
        stream: &mut Stream<'_>,
    ) -> Verdict {
        if words.trim().is_empty() {
            return Verdict::skipped("no words");
        }
        let event = if self.is_shared { Event::Synthetic(Synthetic::Injected, words) } else { prompt(words) };
        stream.turn(&Turn { id, ..Turn::new(row.place_of(place), None, event) });
        Verdict::Kept
    }

    fn tell_agent(&self, row: &Row<'_>, message: Raw<'_>, stream: &mut Stream<'_>) -> Verdict {
        let (mut content, mut results) = (None, HashMap::new());
        json::members(message, |key, value| match key {
            "content" => content = Some(value),
            "tool_results" => json::members(value, |id, result| {
                results.insert(id.to_owned(), result);
            }),
            _ => {}
        });
        let mut index = 0;
        if let Some(content) = content {
            json::items(content, |part| {
                json::members(part, |kind, value| match kind {
                    "Text" => self.say(row, value, index, stream),
                    "ToolUse" => self.tell_call(row, value, index, &results, stream),
                    _ => {}
                });
                index += 1;
            });
        }
        Verdict::Kept
    }

    fn say(&self, row: &Row<'_>, text: Raw<'_>, index: usize, stream: &mut Stream<'_>) {
        let words = json::text_or_empty(text);
        if !words.trim().is_empty() {
            let id = self.id(index).into();
            stream.turn(&Turn { id, ..Turn::new(row.place_of(text), None, Event::Said(words)) });
        }
    }

    fn tell_call(
        &self,
        row: &Row<'_>,
        call: Raw<'_>,
        index: usize,
        results: &HashMap<String, Raw<'_>>,
        stream: &mut Stream<'_>,
    ) {
        let (mut id, mut name, mut input) = (Cow::default(), Cow::default(), None);
        json::members(call, |key, value| match key {
            "id" => id = json::text_or_empty(value),
            "name" => name = json::text_or_empty(value),
            "input" => input = Some(value),
            _ => {}
        });
        let result = results.get(&*id).copied();
        let called = self.called(&name, input, result);
        let is_command = matches!(called, Called::Command(_));
        let id = if id.is_empty() { self.id(index).into() } else { id };
        stream.call(&id, row.place_of(call), None, None, called);
        if let Some(result) = result {
            answer(&id, result, is_command, stream);
        }
    }

    /// What a call did. An edit that a second model wrote is known by the difference that came back.
    fn called(&self, name: &str, input: Option<Raw<'_>>, result: Option<Raw<'_>>) -> Called {
        let mode = input.and_then(|input| json::member_text(input, "mode"));
        let is_whole = matches!(mode.as_deref(), Some("create" | "overwrite" | "write"));
        let name = if is_whole && name == "edit_file" { "write_file" } else { name };
        let mut called = tools::called(name, input);
        let Called::Edits(edits) = &mut called else { return called };
        for edit in edits {
            edit.path = self.path_of(&edit.path);
            if edit.replaced.is_empty()
                && let Some(diff) = result.and_then(|result| json::member(result, "output"))
                && let Some(diff) = json::member_text(diff, "diff")
            {
                edit.replaced = replaced_in(&diff);
            }
        }
        called
    }

    /// The path of a file, which the model writes with the name of its project's folder in front.
    fn path_of(&self, path: &str) -> String {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let is_called = |folder: &str, name| {
            folder.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next() == Some(name)
        };
        match self.folders.iter().find(|folder| !first.is_empty() && is_called(folder, first)) {
            Some(folder) => format!("{}/{rest}", folder.trim_end_matches(['/', '\\'])),
            None => path.to_owned(),
        }
    }

    fn tell_summary(&self, row: &Row<'_>, info: Raw<'_>, stream: &mut Stream<'_>) -> Verdict {
        stream.session.n_compactions += 1;
        if let Some(words) = json::member_text(info, "Summary") {
            let (id, event) = (self.id(0).into(), Event::Synthetic(Synthetic::Summary, words));
            stream.turn(&Turn { id, ..Turn::new(row.place_of(info), None, event) });
        }
        Verdict::Kept
    }

    fn tell_legacy(&self, row: &Row<'_>, message: &Legacy<'_>, stream: &mut Stream<'_>) -> Verdict {
        let mut results = HashMap::new();
        if let Some(list) = message.tool_results {
            json::items(list, |result| {
                let id = json::member_text(result, "tool_use_id").unwrap_or_default();
                results.insert(id.into_owned(), result);
            });
        }
        match &*message.role {
            "user" | "assistant" if message.is_hidden => Verdict::skipped("hidden"),
            // The first version answered calls in a message of the user, with words that nobody typed.
            "user" if !results.is_empty() => {
                results.iter().for_each(|(id, result)| answer(id, *result, false, stream));
                Verdict::Kept
            }
            "user" => {
                let mut words = String::new();
                each_text(message, &mut |text| words.push_str(&json::text_or_empty(text)));
                let Some(place) = message.segments.or(message.text) else {
                    return Verdict::skipped("no words");
                };
                self.ask(row, place, self.id(0).into(), words.into(), stream)
            }
            "assistant" => {
                let mut index = 0;
                each_text(message, &mut |text| {
                    self.say(row, text, index, stream);
                    index += 1;
                });
                if let Some(calls) = message.tool_uses {
                    json::items(calls, |call| {
                        self.tell_call(row, call, index, &results, stream);
                        index += 1;
                    });
                }
                Verdict::Kept
            }
            "system" => Verdict::skipped("system"),
            role => Verdict::unknown(role),
        }
    }

    /// What a part of the message is called, of which Zed does not say it.
    fn id(&self, index: usize) -> String {
        format!("{}-{index}", self.n_messages)
    }
}

/// The texts of a message of the older versions, without what the model thought.
fn each_text<'a>(message: &Legacy<'a>, each: &mut dyn FnMut(Raw<'a>)) {
    if let Some(text) = message.text {
        each(text);
    }
    if let Some(segments) = message.segments {
        json::items(segments, |segment| {
            let is_text = json::member_text(segment, "type").as_deref() == Some("text");
            json::member(segment, "text").filter(|_| is_text).into_iter().for_each(&mut *each);
        });
    }
}

/// The words of a part, unless it is a resource that Zed could not name and put there as it is: a block of code that has the
/// address as its language.
fn typed(words: &str) -> &str {
    let block = words.trim().strip_prefix("```").filter(|block| block.ends_with("```"));
    let is_resource = block.and_then(|block| block.lines().next()).is_some_and(|line| line.contains("://"));
    if is_resource { "" } else { words }
}

/// How a mention is shown among the words: what it brings along is not the user's.
fn mentioned(mention: Raw<'_>) -> String {
    let mut shown = String::new();
    let Some(uri) = json::member(mention, "uri") else { return shown };
    json::members(uri, |kind, value| {
        let path = ["abs_path", "url"].iter().find_map(|name| json::member_text(value, name));
        let name = path.as_deref().map(|path| path.rsplit(['/', '\\']).find(|part| !part.is_empty()));
        // Files are called by others.
        let name = name.flatten().filter(|name| !name.contains(char::is_whitespace));
        shown = format!("@{}", name.unwrap_or(&kind.to_ascii_lowercase()));
    });
    shown
}
