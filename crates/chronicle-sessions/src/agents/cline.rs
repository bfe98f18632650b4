//! Messages of Cline's tasks, and of its forks (Roo Code, Kilo Code): one list in a document, `ui_messages.json`.
//!
//! After `ClineMessage`, `ClineSayTool` and `ClineApiReqInfo` in `apps/vscode/src/shared/ExtensionMessage.ts` of
//! `github.com/cline/cline`. What a tool did is a text that holds JSON.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::rows::json::{self, Broken};
use crate::rows::messages::{prompt, time};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools::{Called, cut};
use crate::rows::transcript::Transcript;
use crate::turn::{Edit, EditKind, Event, Place, Replaced, Tool, Turn, Usage};

/// The longest text of an edit that is kept.
const LONGEST_TEXT: usize = 256 << 10;

/// What is remembered between messages: the command that runs, and what it printed.
#[derive(Default)]
pub(crate) struct Cline {
    has_task: bool,
    /// The task, until the first request shows its folder: a session belongs where it begins.
    task: Option<Task>,
    command: Option<(String, String)>,
}

struct Task {
    id: String,
    at: Option<Timestamp>,
    place: Place,
    words: String,
}

impl Transcript for Cline {
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (mut at, mut name, mut text, mut is_partial) = (None, Cow::default(), None, false);
        let mut id = Cow::default();
        let length = json::first_object(row, |key, value| match key {
            "ts" => {
                at = time(value);
                id = Cow::Borrowed(value.get());
            }
            "say" | "ask" => name = json::text_or_empty(value),
            "text" => text = Some(value),
            "partial" => is_partial = json::is_true(value),
            "modelInfo" => stream.session.model = json::member_text(value, "modelId").map(Cow::into_owned),
            _ => {}
        })?;
        let words = text.map(json::text_or_empty).unwrap_or_default();
        let place = text.map_or_else(|| row.place.clone(), |text| row.place_of(text));
        if is_partial {
            return Ok((Verdict::skipped("partial"), length));
        }
        let said = Said { id: &format!("{id}-{name}"), at, place };
        Ok((self.take(&name, words, &said, stream), length))
    }

    fn finish(&mut self, stream: &mut Stream<'_>) {
        self.tell_task(stream);
        self.end_command(stream);
    }
}

/// Where and when something was said.
struct Said<'s> {
    id: &'s str,
    at: Option<Timestamp>,
    place: Place,
}

impl Said<'_> {
    fn tell(&self, event: Event<'_>, stream: &mut Stream<'_>) {
        let id = Cow::Borrowed(self.id);
        stream.turn(&Turn { id, ..Turn::new(self.place.clone(), self.at, event) });
    }
}

impl Cline {
    fn take(&mut self, name: &str, words: Cow<'_, str>, said: &Said<'_>, stream: &mut Stream<'_>) -> Verdict {
        if !matches!(name, "command_output" | "api_req_started" | "shell_integration_warning") {
            self.end_command(stream);
        }
        if name != "api_req_started" {
            self.tell_task(stream);
        }
        match name {
            // Older versions have the task as the first text.
            "text" | "task" if !self.has_task => {
                self.has_task = true;
                let (id, words) = (said.id.to_owned(), words.into_owned());
                self.task = Some(Task { id, at: said.at, place: said.place.clone(), words });
            }
            "task" | "user_feedback" => said.tell(prompt(words), stream),
            "text" | "completion_result" | "plan_completion_result" | "plan_mode_respond" | "followup" => {
                if !words.trim().is_empty() {
                    said.tell(Event::Said(spoken(&words).into()), stream);
                }
            }
            "error" | "diff_error" | "api_req_failed" => said.tell(Event::Error(words), stream),
            "tool" => tell_tool(&words, said, stream),
            "command" => {
                let called = Called::Command(cut(&words, LONGEST_TEXT));
                stream.call(said.id, said.place.clone(), said.at, None, called);
                self.command = Some((said.id.to_owned(), String::new()));
            }
            "command_output" => match &mut self.command {
                Some((_, output)) if output.len() < LONGEST_TEXT => {
                    output.push_str(&words);
                    output.push('\n');
                }
                _ => {}
            },
            "api_req_started" => {
                if let Some(info) = json::whole(&words) {
                    take_request(info, said, stream);
                }
                self.tell_task(stream);
            }
            "" => return Verdict::unknown("message"),
            name => return Verdict::skipped(&cut(name, 40)),
        }
        Verdict::Kept
    }

    fn tell_task(&mut self, stream: &mut Stream<'_>) {
        let Some(Task { id, at, place, words }) = self.task.take() else { return };
        Said { id: &id, at, place }.tell(prompt(words.into()), stream);
    }

    /// The command has ended once anything else is said. How it ended is not told, but its words may say it.
    fn end_command(&mut self, stream: &mut Stream<'_>) {
        if let Some((id, text)) = self.command.take() {
            stream.answer(&id, &Answer { is_ok: None, exit_code: None, text: &text });
        }
    }
}

/// The words of a question or plan, which are in an object with the answers to choose from.
fn spoken(words: &str) -> String {
    let inner = words.starts_with('{').then(|| json::whole(words)).flatten();
    let found = inner.and_then(|inner| {
        json::member_text(inner, "response").or_else(|| json::member_text(inner, "question"))
    });
    found.map_or_else(|| words.trim_end_matches("HAS_CHANGES").to_owned(), Cow::into_owned)
}

fn tell_tool(words: &str, said: &Said<'_>, stream: &mut Stream<'_>) {
    let Some(input) = json::whole(words) else { return };
    let (mut tool, mut path, mut diff, mut content) =
        (Cow::default(), Cow::default(), Cow::default(), Cow::default());
    json::members(input, |key, value| match key {
        "tool" => tool = json::text_or_empty(value),
        "path" => path = json::text_or_empty(value),
        "diff" => diff = json::text_or_empty(value),
        "content" => content = json::text_or_empty(value),
        _ => {}
    });
    let whole = |new: &str| vec![Replaced { old: String::new(), new: cut(new, LONGEST_TEXT) }];
    let edit = |kind, replaced| Called::Edits(vec![Edit { path: path.clone().into_owned(), kind, replaced }]);
    let called = match &*tool {
        "editedExistingFile" | "appliedDiff" => {
            let text = if diff.is_empty() { &content } else { &diff };
            edit(EditKind::Edited, replaced_in(text))
        }
        "newFileCreated" => edit(EditKind::Written, whole(&content)),
        "fileDeleted" => edit(EditKind::Deleted, Vec::new()),
        tool => Called::Tool(Tool { name: cut(tool, 200), about: cut(&path, 2_000) }),
    };
    stream.call(said.id, said.place.clone(), said.at, None, called);
    stream.answer(said.id, &Answer::default());
}

/// The texts in blocks of `SEARCH` and `REPLACE`, each between marks of at least five dashes, pluses or angles.
fn replaced_in(diff: &str) -> Vec<Replaced> {
    let (mut found, mut one, mut side) = (Vec::new(), Replaced::default(), 0);
    for line in diff.lines() {
        let mark = line.trim();
        if mark.ends_with(" SEARCH") && (mark.starts_with("-----") || mark.starts_with("<<<<<")) {
            side = 1;
        } else if side == 1 && mark.starts_with("=====") {
            side = 2;
        } else if side == 2 && (mark.starts_with("+++++") || mark.starts_with(">>>>>")) {
            found.push(std::mem::take(&mut one));
            side = 0;
        } else {
            let text = match side {
                1 => &mut one.old,
                2 => &mut one.new,
                _ => continue,
            };
            text.push_str(line);
            text.push('\n');
        }
    }
    found
}

/// What a request cost, and the folder that it shows.
fn take_request(info: json::Raw<'_>, said: &Said<'_>, stream: &mut Stream<'_>) {
    let mut usage = Usage::default();
    json::members(info, |key, value| {
        let number = || json::number(value).unwrap_or_default();
        match key {
            "tokensIn" => usage.input = number(),
            "tokensOut" => usage.output = number(),
            "cacheWrites" => usage.cache_write = number(),
            "cacheReads" => usage.cache_read = number(),
            "request" => stream.session.is_in(folder_in(&json::text_or_empty(value))),
            _ => {}
        }
    });
    stream.reply(said.id, usage);
}

/// The folder in `# Current Working Directory (/w) Files`, which requests show.
fn folder_in(request: &str) -> &str {
    const MARK: &str = "Current Working Directory (";
    let rest = request.find(MARK).map(|at| &request[at + MARK.len()..]);
    rest.and_then(|rest| rest.split_once(')')).map_or("", |(folder, _)| folder)
}
