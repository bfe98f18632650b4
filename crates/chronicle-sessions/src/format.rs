//! Which agent wrote a transcript, and in which form.

use crate::blocks::without_private;
use crate::json::{self, Broken, Raw};
use crate::row::Row;
use crate::stream::Stream;
use crate::tally::Verdict;
use crate::turn::Agent;
use crate::{claude, codex, copilot, gemini, generic, opencode};

/// How much of a file tells its form.
pub(crate) const ENOUGH: usize = 64 << 10;

/// How many lines are looked at.
const MOST_LINES: usize = 50;

/// The form of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// The form for everyone else.
    Generic,
}

impl Format {
    /// The form of the file that begins with `head`, or none that is known.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        let keys = keys(head);
        let is_array = |name: &str| keys.iter().any(|(key, first)| key == name && *first == b'[');
        let has = |name: &str| keys.iter().any(|(key, _)| key == name);
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
            Self::Generic => Agent::Generic,
        }
    }

    /// Whether the file is one value rather than one for each line.
    #[must_use]
    pub fn is_document(self) -> bool {
        matches!(self, Self::GeminiDocument | Self::OpenCode)
    }
}

/// What one line says of the form.
fn line_format(line: &[u8]) -> Option<Format> {
    let keys = keys(line);
    let has = |name: &str| keys.iter().any(|(key, _)| key == name);
    let is_object = |name: &str| keys.iter().any(|(key, first)| key == name && *first == b'{');
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

/// What the reader of each form does with a row.
pub(crate) trait Transcript {
    /// Why `line` is skipped unread, told from its first bytes.
    fn skips(&self, _line: &[u8]) -> Option<&'static str> {
        None
    }

    /// Reads the first value in the row, and says how many bytes it took.
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken>;

    /// Takes a member of a document that is no message.
    fn member(&mut self, _name: &str, _value: Raw<'_>, _stream: &mut Stream<'_>) {}

    /// Tells what was held back.
    fn finish(&mut self, _stream: &mut Stream<'_>) {}
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
            Format::OpenCode => Box::new(opencode::OpenCode),
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
        check("{\"session\":\"1\",\"role\":\"user\",\"text\":\"hi\"}", Some(Format::Generic));
        check("{\"hello\":1}", None);
        check("", None);
        check("plain words", None);
    }
}
