//! A row of Claude Code, taken apart in one pass.

use std::borrow::Cow;
use std::sync::LazyLock;

use jiff::Timestamp;
use memchr::memmem;

use super::words_of;
use super::writer::Writer;
use crate::rows::human::names_human;
use crate::rows::json::{self, Broken, Raw};
use crate::rows::outcome::may_be_refusal;
use crate::rows::row::Row;

/// A row and what is in it.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) fields: Fields<'a>,
    pub(super) message: Message<'a>,
    /// The kind of the progress that the row tells of.
    pub(super) progress: Cow<'a, str>,
    /// The row of a sub-agent within the row.
    pub(super) inner: Fields<'a>,
}

/// The message of a row: words, or blocks.
#[derive(Default)]
pub(super) struct Message<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) model: Cow<'a, str>,
    pub(super) usage: Option<Raw<'a>>,
    pub(super) words: Option<Cow<'a, str>>,
    pub(super) blocks: Vec<Block<'a>>,
}

/// One block of a message.
#[derive(Default)]
pub(super) struct Block<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) text: Option<Raw<'a>>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) input: Option<Raw<'a>>,
    pub(super) call_id: Cow<'a, str>,
    pub(super) content: Option<Raw<'a>>,
    pub(super) is_error: bool,
}

impl<'a> Parts<'a> {
    /// Takes the row apart, and says how many bytes it took.
    pub(super) fn of(row: &Row<'a>) -> Result<(Self, usize), Broken> {
        if let Some(parts) = Self::before_result(row) {
            return Ok((parts, row.bytes.len()));
        }
        let mut parts = Self::default();
        let length = json::first_object(row, |key, value| parts.set(key, value))?;
        Ok((parts, length))
    }

    /// What stands before the result of a tool, which is told once more there, longer, and makes half of most files.
    ///
    /// Only for a row that is the whole of an ended line: what is cut off is not looked at.
    fn before_result(row: &Row<'a>) -> Option<Self> {
        let line = row.bytes.trim_ascii_end();
        if !row.is_whole_line || !line.ends_with(b"}") {
            return None;
        }
        // No text can hold it: there, quotes are escaped.
        let cut = RESULT.find(line)?;
        // A value that ends before is seen when it is read.
        if is_run_together(&line[cut..]) {
            return None;
        }
        let mut parts = Self::default();
        let error = json::first_object(&row.first(cut), |key, value| parts.set(key, value)).err()?;
        let is_whole =
            parts.fields.kind == "user" && !parts.fields.uuid.is_empty() && parts.fields.at.is_some();
        // Who wrote words comes after the result.
        let has_words = || {
            let is_of_words = |block: &Block<'_>| block.kind != "tool_result" || block.is_refusal();
            parts.message.words.is_some() || parts.message.blocks.iter().any(is_of_words)
        };
        (error.is_unfinished() && is_whole && !has_words()).then_some(parts)
    }
}

impl<'a> Parts<'a> {
    fn set(&mut self, key: &str, value: Raw<'a>) {
        match key {
            "message" => self.message.set(value),
            "data" => json::members(value, |key, value| match key {
                "type" => self.progress = json::text_or_empty(value),
                "agentId" => self.inner.agent_id = json::text_or_empty(value),
                "message" => json::members(value, |key, value| match key {
                    "type" | "uuid" | "timestamp" | "isApiErrorMessage" => self.inner.set(key, value),
                    "message" => self.message.set(value),
                    _ => {}
                }),
                _ => {}
            }),
            _ => self.fields.set(key, value),
        }
    }
}

impl<'a> Message<'a> {
    fn set(&mut self, message: Raw<'a>) {
        json::members(message, |key, value| match key {
            "id" => self.id = json::text_or_empty(value),
            "model" => self.model = json::text_or_empty(value),
            "usage" => self.usage = Some(value),
            "content" => {
                self.words = json::text(value);
                json::items(value, |block| self.blocks.push(Block::of(block)));
            }
            _ => {}
        });
    }
}

/// Where the result of a tool is told once more. To look for the same in every row is made ready once.
static RESULT: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(br#","toolUseResult":"#));

static RUN_TOGETHER: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(b"}{"));

/// Whether another value may begin where one ends.
pub(super) fn is_run_together(line: &[u8]) -> bool {
    RUN_TOGETHER.find(line).is_some()
}

impl<'a> Block<'a> {
    fn of(block: Raw<'a>) -> Self {
        let mut found = Self::default();
        json::members(block, |key, value| match key {
            "type" => found.kind = json::text_or_empty(value),
            "text" => found.text = Some(value),
            "id" => found.id = json::text_or_empty(value),
            "name" => found.name = json::text_or_empty(value),
            "input" => found.input = Some(value),
            "tool_use_id" => found.call_id = json::text_or_empty(value),
            "content" => found.content = Some(value),
            "is_error" => found.is_error = json::is_true(value),
            _ => {}
        });
        found
    }

    /// Whether it answers a call with what may be words of a human.
    fn is_refusal(&self) -> bool {
        self.is_error && self.content.is_some_and(|content| may_be_refusal(&words_of(content)))
    }

    pub(super) fn words(&self) -> Cow<'a, str> {
        self.text.map(json::text_or_empty).unwrap_or_default()
    }
}

/// What a row says about itself.
#[derive(Default, Clone)]
pub(super) struct Fields<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) subtype: Cow<'a, str>,
    pub(super) uuid: Cow<'a, str>,
    pub(super) at: Option<Timestamp>,
    pub(super) session_id: Cow<'a, str>,
    pub(super) folder: Cow<'a, str>,
    pub(super) branch: Cow<'a, str>,
    pub(super) version: Cow<'a, str>,
    pub(super) agent_id: Cow<'a, str>,
    pub(super) operation: Cow<'a, str>,
    pub(super) leaf_id: Cow<'a, str>,
    pub(super) title: Option<Cow<'a, str>>,
    pub(super) url: Cow<'a, str>,
    pub(super) is_meta: bool,
    pub(super) is_side: bool,
    pub(super) is_summary: bool,
    pub(super) is_plan: bool,
    pub(super) is_failure: bool,
    pub(super) writer: Writer,
    /// Whether the row says of a refused call that something that is no human refused it.
    is_refused_by_machine: bool,
    /// What the agent was given beside the words of a row.
    pub(super) attachment: Option<Raw<'a>>,
    /// What started the agent: `cli`, an editor, `sdk-cli`.
    pub(super) entry_point: Cow<'a, str>,
    pub(super) content: Option<Raw<'a>>,
    pub(super) error: Option<Raw<'a>>,
}

impl<'a> Fields<'a> {
    fn set(&mut self, key: &str, value: Raw<'a>) {
        let text = || json::text_or_empty(value);
        match key {
            "type" => self.kind = text(),
            "subtype" => self.subtype = text(),
            "uuid" => self.uuid = text(),
            "timestamp" => self.at = text().parse().ok(),
            "sessionId" => self.session_id = text(),
            "cwd" => self.folder = text(),
            "gitBranch" => self.branch = text(),
            "version" => self.version = text(),
            "agentId" => self.agent_id = text(),
            "operation" => self.operation = text(),
            "leafUuid" => self.leaf_id = text(),
            "summary" | "aiTitle" | "customTitle" | "title" => self.title = json::text(value),
            "prUrl" => self.url = text(),
            "isMeta" => self.is_meta = json::is_true(value),
            "isSidechain" => self.is_side = json::is_true(value),
            "isCompactSummary" => self.is_summary = json::is_true(value),
            "planContent" => self.is_plan = true,
            "isApiErrorMessage" => self.is_failure = json::is_true(value),
            "attachment" => self.attachment = Some(value),
            "entrypoint" => self.entry_point = text(),
            "content" => self.content = Some(value),
            "error" => self.error = Some(value),
            "toolDenialKind" => {
                self.is_refused_by_machine |= names_human(value, &["user-rejected"]) == Some(false);
            }
            "permissionDecision" => {
                const USER: [&str; 3] = ["user", "user_abort", "user_reject"];
                self.is_refused_by_machine |= names_human(value, &USER) == Some(false);
            }
            "toolDenialFromHost" => self.is_refused_by_machine |= json::is_true(value),
            "holdsPersonsWords" => self.is_refused_by_machine |= !json::is_true(value),
            _ => self.writer.set(key, value),
        }
    }

    pub(super) fn sub_agent(&self) -> Option<&str> {
        (self.is_side || !self.agent_id.is_empty()).then_some(&*self.agent_id)
    }

    /// Whether a program runs the agent rather than a human at a terminal or an editor, if the row says.
    pub(super) fn is_headless(&self) -> Option<bool> {
        match &*self.entry_point {
            "" => None,
            entry => Some(entry.starts_with("sdk")),
        }
    }

    /// Whether something that is no human put the words there.
    pub(super) fn is_from_machine(&self) -> bool {
        self.writer.is_machine()
    }

    /// Whether the answer to a refused call may have words of a human: versions that don't ask for any give there what a
    /// command printed.
    pub(super) fn may_refuse_in_words(&self) -> bool {
        !self.is_refused_by_machine
            && (self.version.is_empty() || is_later(&self.version, LAST_WITHOUT_WORDS))
    }
}

/// The last version of which it is known that its refusals have no words of a human. In later ones, what a failed command
/// printed comes after its exit code.
const LAST_WITHOUT_WORDS: [u64; 3] = [2, 0, 30];

/// Whether `version` comes after `other`; one that can't be read comes before all.
fn is_later(version: &str, other: [u64; 3]) -> bool {
    let mut numbers = version.split(['.', '-']).map(|number| number.parse().unwrap_or_default());
    [(); 3].map(|()| numbers.next().unwrap_or_default()) > other
}
