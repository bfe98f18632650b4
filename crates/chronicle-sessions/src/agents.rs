//! Which agent wrote a transcript, and in which form.

mod amp;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod generic;
mod goose;
pub(crate) mod handed;
mod kimi;
mod opencode;
mod qwen;
pub(crate) mod zed;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rows::blocks::without_private;
use crate::rows::json::{self, Broken};
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::transcript::Transcript;
use crate::turn::Agent;

/// How much of a file tells its form.
pub(crate) const ENOUGH: usize = 64 << 10;

/// How many lines are looked at.
const MOST_LINES: usize = 50;

/// The form of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Format {
    /// Claude Code's rows.
    Claude,
    /// Gemini CLI's document, as older versions wrote it.
    GeminiDocument,
    /// Gemini CLI's rows.
    GeminiRows,
    /// A rollout of Codex.
    Codex,
    /// Copilot CLI's events.
    Copilot,
    /// What `opencode export` prints.
    OpenCode,
    /// Cursor's rows.
    CursorRows,
    /// A conversation of Cursor's database.
    CursorDatabase,
    /// Qwen Code's rows.
    Qwen,
    /// A wire file of Kimi.
    Kimi,
    /// Droid's rows.
    Droid,
    /// Goose's rows, as older versions wrote them.
    GooseRows,
    /// A session of Goose's database.
    GooseDatabase,
    /// The messages of a task of Cline.
    Cline,
    /// A thread of Amp.
    Amp,
    /// A thread of Zed's database.
    Zed,
    /// The form for everyone else.
    Generic,
}

impl Format {
    /// The form of the file that begins with `head`, or none that is known.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        if let Some(first) = head.trim_ascii_start().strip_prefix(b"[") {
            return is_cline(first).then_some(Self::Cline);
        }
        let keys = keys(head);
        let is_array = |name: &str| keys.iter().any(|(key, first)| key == name && *first == b'[');
        let has = |name: &str| keys.iter().any(|(key, _)| key == name);
        if is_array("messages") && has("cursor") {
            return Some(Self::CursorDatabase);
        }
        if is_array("messages") && has("goose") {
            return Some(Self::GooseDatabase);
        }
        if keys.iter().any(|(key, first)| key == zed::document::HEAD && *first == b'{') {
            // What is known of the thread comes first, and may be long.
            return Some(Self::Zed);
        }
        if is_array("messages") && has("v") && (has("created") || has("env")) {
            return Some(Self::Amp);
        }
        if is_array("messages") && has("info") {
            return Some(Self::OpenCode);
        }
        if is_array("messages") && (has("projectHash") || has("sessionId")) {
            return Some(Self::GeminiDocument);
        }
        if has("info") && head.iter().take(200).any(|byte| *byte == b'\n') && line_format(head).is_none() {
            // The messages of an export may come after a long description.
            return Some(Self::OpenCode);
        }
        head.split(|byte| *byte == b'\n').take(MOST_LINES).find_map(line_format)
    }

    /// The agent that writes it.
    #[must_use]
    pub fn agent(self) -> Agent {
        match self {
            Self::Claude => Agent::Claude,
            Self::GeminiDocument | Self::GeminiRows => Agent::Gemini,
            Self::Codex => Agent::Codex,
            Self::Copilot => Agent::Copilot,
            Self::OpenCode => Agent::OpenCode,
            Self::CursorRows | Self::CursorDatabase => Agent::Cursor,
            Self::Qwen => Agent::Qwen,
            Self::Kimi => Agent::Kimi,
            Self::Droid => Agent::Droid,
            Self::GooseRows | Self::GooseDatabase => Agent::Goose,
            Self::Cline => Agent::Cline,
            Self::Amp => Agent::Amp,
            Self::Zed => Agent::Zed,
            Self::Generic => Agent::Generic,
        }
    }

    /// Whether the file is one value rather than one for each line.
    #[must_use]
    pub fn is_document(self) -> bool {
        matches!(
            self,
            Self::GeminiDocument
                | Self::OpenCode
                | Self::CursorDatabase
                | Self::GooseDatabase
                | Self::Cline
                | Self::Amp
                | Self::Zed
        )
    }
}

/// What one line says of the form.
fn line_format(line: &[u8]) -> Option<Format> {
    let keys = keys(line);
    let has = |name: &str| keys.iter().any(|(key, _)| key == name);
    let is_object = |name: &str| keys.iter().any(|(key, first)| key == name && *first == b'{');
    if has("protocol_version") && says(line, "type", "metadata") {
        return Some(Format::Kimi);
    }
    if has("id") && says(line, "type", "session_start") {
        return Some(Format::Droid);
    }
    if has("role") && is_object("message") && !has("type") {
        return Some(Format::CursorRows);
    }
    if has("working_dir") && (has("description") || has("message_count")) {
        return Some(Format::GooseRows);
    }
    if has("sessionId") && has("uuid") && (has("systemPayload") || has_parts(line)) {
        return Some(Format::Qwen);
    }
    if has("payload") && has("type") || is_object("git") && has("instructions") {
        return Some(Format::Codex);
    }
    if has("projectHash") || is_object("$set") {
        return Some(Format::GeminiRows);
    }
    if is_object("data") && has("type") && has("id") {
        return Some(Format::Copilot);
    }
    if has("type") && ["sessionId", "parentUuid", "uuid", "leafUuid", "snapshot"].iter().any(|key| has(key)) {
        return Some(Format::Claude);
    }
    (has("text") && (has("role") || has("speaker"))).then_some(Format::Generic)
}

/// Whether the member `name` of `line` is this text, as far as its beginning shows.
fn says(line: &[u8], name: &str, text: &str) -> bool {
    let head = String::from_utf8_lossy(&line[..line.len().min(400)]);
    let forms = [format!("\"{name}\":\"{text}\""), format!("\"{name}\": \"{text}\"")];
    forms.iter().any(|form| head.contains(form))
}

/// Whether the message of a row has parts, as Gemini's API calls them, instead of content.
fn has_parts(line: &[u8]) -> bool {
    const NAME: &[u8] = b"\"message\":";
    let at = memchr::memmem::find(line, NAME);
    at.is_some_and(|at| {
        let keys = keys(&line[at + NAME.len()..]);
        keys.iter().any(|(key, first)| key == "parts" && *first == b'[')
    })
}

/// Whether the first item of a list is a message of Cline.
fn is_cline(first: &[u8]) -> bool {
    let keys = keys(first);
    let has = |name: &str| keys.iter().any(|(key, _)| key == name);
    has("ts") && has("type") && (has("say") || has("ask"))
}

/// The members of the first object in `bytes`, each with the first byte of its value; `bytes` may be cut anywhere.
fn keys(bytes: &[u8]) -> Vec<(String, u8)> {
    let mut keys = Vec::new();
    let mut depth = 0_usize;
    let mut name: Option<String> = None;
    let mut index = 0;
    while let Some(byte) = bytes.get(index) {
        match byte {
            b'"' => {
                let Some(length) = string_length(&bytes[index..]) else { break };
                let is_key = depth == 1 && name.is_none();
                if is_key {
                    name = serde_json::from_slice(&bytes[index..index + length]).ok();
                } else if depth == 1 {
                    keys.extend(name.take().map(|name| (name, b'"')));
                }
                index += length;
                continue;
            }
            b'{' | b'[' => {
                if depth == 1 {
                    keys.extend(name.take().map(|name| (name, *byte)));
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            b':' | b',' => {}
            byte if depth == 1 && !byte.is_ascii_whitespace() => {
                keys.extend(name.take().map(|name| (name, *byte)));
            }
            byte if depth == 0 && !byte.is_ascii_whitespace() && *byte != 0 => break,
            _ => {}
        }
        index += 1;
    }
    keys
}

/// The length of the string at the beginning of `bytes`, with its quotes.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    let end = bytes.iter().skip(1).position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some(end + 2)
}

/// The reader of one form.
pub(crate) struct Reader(Box<dyn Transcript>);

impl Reader {
    pub(crate) fn new(format: Format) -> Self {
        Self(match format {
            Format::Claude => Box::<claude::Claude>::default(),
            Format::GeminiDocument | Format::GeminiRows => Box::<gemini::Gemini>::default(),
            Format::Codex => Box::<codex::Codex>::default(),
            Format::Copilot => Box::<copilot::Copilot>::default(),
            Format::OpenCode => Box::new(opencode::OpenCode::default()),
            Format::CursorRows => Box::new(cursor::CursorRows),
            Format::CursorDatabase => Box::new(cursor::CursorDatabase),
            Format::Qwen => Box::new(qwen::Qwen::default()),
            Format::Kimi => Box::new(kimi::Kimi::default()),
            Format::Droid => Box::new(droid::Droid),
            Format::GooseRows | Format::GooseDatabase => Box::new(goose::Goose::default()),
            Format::Cline => Box::<cline::Cline>::default(),
            Format::Amp => Box::<amp::Amp>::default(),
            Format::Zed => Box::<zed::Zed>::default(),
            Format::Generic => Box::<generic::Generic>::default(),
        })
    }

    pub(crate) fn skips(&self, line: &[u8]) -> Option<&'static str> {
        self.0.skips(line)
    }

    pub(crate) fn read(
        &mut self,
        row: &Row<'_>,
        stream: &mut Stream<'_>,
    ) -> Result<(Verdict, usize), Broken> {
        match without_private(row) {
            None => self.0.read(row, stream),
            Some(bytes) => self.0.read(&row.with_bytes(&bytes), stream),
        }
    }

    pub(crate) fn member(&mut self, name: &str, bytes: &[u8], stream: &mut Stream<'_>) {
        let text = String::from_utf8_lossy(bytes);
        if let Some(value) = json::whole(&text) {
            self.0.member(name, value, stream);
        }
    }

    pub(crate) fn finish(&mut self, stream: &mut Stream<'_>) {
        self.0.finish(stream);
    }

    pub(crate) fn pause(&self) -> Option<Value> {
        self.0.pause()
    }

    pub(crate) fn go_on(&mut self, state: Value) {
        self.0.go_on(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_told_by_the_first_rows() {
        let check = |head: &str, expected| assert_eq!(Format::of(head.as_bytes()), expected, "{head}");
        check("{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"1\"}\n", Some(Format::Claude));
        check(
            "\n\u{0}garbage\n{\"parentUuid\":null,\"type\":\"user\",\"message\":{\"a\":[1",
            Some(Format::Claude),
        );
        check("{\"sessionId\":\"1\",\"projectHash\":\"2\",\"messages\":[", Some(Format::GeminiDocument));
        check("{\n  \"sessionId\": \"1\",\n  \"messages\": [\n    {", Some(Format::GeminiDocument));
        check("{\"sessionId\":\"1\",\"projectHash\":\"2\"}\n{\"$set\":{}}\n", Some(Format::GeminiRows));
        check("{\"timestamp\":\"2026\",\"type\":\"session_meta\",\"payload\":{}}", Some(Format::Codex));
        check("{\"type\":\"session.start\",\"data\":{},\"id\":\"1\"}", Some(Format::Copilot));
        check("{\"info\":{\"id\":\"ses\"},\"messages\":[]}", Some(Format::OpenCode));
        check("{\"role\":\"user\",\"message\":{\"content\":[", Some(Format::CursorRows));
        check("{\"cursor\":{\"composerId\":\"1\"},\"messages\":[", Some(Format::CursorDatabase));
        check(
            "{\"uuid\":\"1\",\"sessionId\":\"2\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"parts\":[{",
            Some(Format::Qwen),
        );
        check(
            "{\"uuid\":\"1\",\"sessionId\":\"2\",\"type\":\"user\",\"message\":{\"content\":\"\\\"parts\\\":[\"}}",
            Some(Format::Claude),
        );
        check("{\"type\":\"metadata\",\"protocol_version\":\"1.5\"}", Some(Format::Kimi));
        check("{\"type\": \"session_start\",\"id\":\"1\",\"cwd\":\"/w\"}", Some(Format::Droid));
        check("{\"working_dir\":\"/w\",\"description\":\"\",\"message_count\":2}", Some(Format::GooseRows));
        check("{\"goose\":{\"session_id\":\"1\"},\"messages\":[", Some(Format::GooseDatabase));
        check("[\n {\"ts\":1,\"type\":\"say\",\"say\":\"text\"}", Some(Format::Cline));
        check("{\"v\":2,\"id\":\"T-1\",\"created\":1,\"messages\":[", Some(Format::Amp));
        check("{\"zed\":{\"id\":\"1\",\"folders\":[", Some(Format::Zed));
        check("{\"zed\":true,\"messages\":[]}", None);
        check("[1,2]", None);
        check("{\"session\":\"1\",\"role\":\"user\",\"text\":\"hi\"}", Some(Format::Generic));
        check("{\"hello\":1}", None);
        check("", None);
        check("plain words", None);
    }
}
