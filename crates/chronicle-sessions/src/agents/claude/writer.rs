//! Who wrote the words of a row of Claude Code, as far as the rows say it.

use std::borrow::Cow;

use crate::rows::human::names_human;
use crate::rows::json::{self, Raw};

/// Who wrote the words of a row, as far as it says. Only what is known for a human counts as one: later versions name more
/// machines.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Writer {
    /// Whether it names a human.
    is_human: bool,
    /// Whether it names something else.
    is_machine: bool,
    /// Whether it has an unknown mark that is true. Unless a human is named, too, a machine wrote the words.
    has_mark: bool,
}

impl Writer {
    pub(super) fn set(&mut self, key: &str, value: Raw<'_>) {
        // `sdk` is what was given to `claude -p`.
        const TYPED: [&str; 5] = ["typed", "queued", "suggestion_accepted", "user", "sdk"];
        const OF_HUMAN: [&str; 3] = ["human", "user", "sdk"];
        match key {
            "promptSource" => self.name(value, &TYPED),
            "origin" | "turnOrigin" => self.name(value, &OF_HUMAN),
            "commandMode" => self.name(value, &["prompt"]),
            "textNotTyped"
            | "handedOff"
            | "isVirtual"
            | "isVisibleInTranscriptOnly"
            | "queueTranscriptOnly"
            | "queueSkipAttachments"
            | "carriesOnTurnOf" => self.name(value, &[]),
            _ if key.ends_with("Source") || key.starts_with("scheduled") => self.name(value, &[]),
            _ => self.has_mark |= json::is_true(value),
        }
    }

    /// Takes who is named; `humans` are known.
    fn name(&mut self, value: Raw<'_>, humans: &[&str]) {
        match names_human(value, humans) {
            Some(true) => self.is_human = true,
            Some(false) => self.is_machine = true,
            None => {}
        }
    }

    pub(super) fn is_machine(self) -> bool {
        self.is_machine || (self.has_mark && !self.is_human)
    }
}

/// Words of the queue that were handed to the agent, as a row tells of them.
pub(super) struct Handed<'a> {
    pub(super) words: Cow<'a, str>,
    /// Whether something that is no human put them there, such as a task at its time.
    pub(super) is_from_machine: bool,
}

impl<'a> Handed<'a> {
    /// What an attachment tells of such words.
    pub(super) fn of(attachment: Raw<'a>) -> Option<Self> {
        if json::member_text(attachment, "type")? != "queued_command" {
            return None;
        }
        let (mut words, mut writer) = (None, Writer::default());
        json::members(attachment, |key, value| match key {
            "prompt" => words = json::text(value),
            "isMeta" => writer.is_machine |= json::is_true(value),
            _ => writer.set(key, value),
        });
        Some(Self { words: words?, is_from_machine: writer.is_machine() })
    }
}

/// The call that a hook refused, or may have, as an attachment tells: what it gave as its reason is the answer.
pub(super) fn refused_by_hook(attachment: Raw<'_>) -> Option<Cow<'_, str>> {
    let (mut kind, mut call_id, mut moment) = (Cow::default(), Cow::default(), Cow::default());
    let (mut decision, mut printed) = (Cow::default(), Cow::default());
    json::members(attachment, |key, value| match key {
        "type" => kind = json::text_or_empty(value),
        "toolUseID" => call_id = json::text_or_empty(value),
        "hookEvent" => moment = json::text_or_empty(value),
        "decision" => decision = json::text_or_empty(value),
        "stdout" => printed = json::text_or_empty(value),
        _ => {}
    });
    let lets_pass = match kind.strip_prefix("hook_")? {
        _ if moment.starts_with("Post") => true,
        "success" => lets_pass(&printed),
        "permission_decision" => PASSING.contains(&&*decision),
        "additional_context"
        | "system_message"
        | "non_blocking_error"
        | "cancelled"
        | "deferred_tool"
        | "error_during_execution" => true,
        _ => false,
    };
    (!lets_pass && !call_id.is_empty()).then_some(call_id)
}

/// Decisions of hooks that leave the last word to a human, or need none.
const PASSING: [&str; 4] = ["allow", "approve", "ask", "defer"];

/// Whether a hook that printed this refused nothing.
fn lets_pass(printed: &str) -> bool {
    let printed = printed.trim();
    if !printed.starts_with('{') {
        return true;
    }
    let Some(answer) = json::whole(printed) else { return false };
    let passes = |value: Raw<'_>| {
        let decision = json::text(value).or_else(|| json::member_text(value, "behavior"));
        decision.is_some_and(|decision| PASSING.contains(&&*decision)) || value.get() == "null"
    };
    let mut lets_pass = true;
    json::members(answer, |key, value| match key {
        "continue" => lets_pass &= value.get() != "false",
        "decision" | "permissionDecision" => lets_pass &= passes(value),
        "hookSpecificOutput" => json::members(value, |key, value| {
            lets_pass &= !["decision", "permissionDecision"].contains(&key) || passes(value);
        }),
        _ => {}
    });
    lets_pass
}
