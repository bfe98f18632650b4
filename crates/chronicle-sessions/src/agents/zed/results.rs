//! What came back from calls of Zed's tools.
//!
//! After `process_content` in `crates/agent/src/tools/terminal_tool.rs`, `tools/edit_file_tool.rs` (`EditFileToolOutput`) and
//! `crates/language_model_core/src/request.rs` (`LanguageModelToolResult`) of `github.com/zed-industries/zed`.

use std::borrow::Cow;

use crate::rows::json::{self, Raw};
use crate::rows::outcome::Answer;
use crate::rows::patch;
use crate::rows::stream::Stream;
use crate::rows::tools::cut;
use crate::turn::{Edit, Replaced};

/// The outcome of a call.
pub(super) fn answer(id: &str, result: Raw<'_>, is_command: bool, stream: &mut Stream<'_>) {
    let (mut is_error, mut text) = (false, Cow::default());
    json::members(result, |key, value| match key {
        "is_error" => is_error = json::is_true(value),
        "content" => text = text_of(value),
        _ => {}
    });
    let failed = failed_code(&text);
    let is_ok = !is_error && failed.is_none();
    let exit_code = failed.flatten().or((is_ok && is_command).then_some(0));
    stream.answer(id, &Answer { is_ok: Some(is_ok), exit_code, text: &text });
}

/// How a command failed, which only the words around its output tell; the code where it had one.
fn failed_code(text: &str) -> Option<Option<i32>> {
    const MARKS: [&str; 4] = [
        "The user stopped this command.",
        "Command terminated unexpectedly",
        "Command failed or was interrupted",
        "Command cancelled: ",
    ];
    if MARKS.iter().any(|mark| text.starts_with(mark)) {
        return Some(None);
    }
    let said = text.strip_prefix("Command \"")?;
    if let Some((_, rest)) = said.split_once("\" failed with exit code ") {
        return Some(rest.split_once('.').and_then(|(code, _)| code.parse().ok()));
    }
    said.contains("\" timed out").then_some(None)
}

/// The text of a result: a text, or a list of texts and images, each in one of several forms.
fn text_of(content: Raw<'_>) -> Cow<'_, str> {
    let of_one = |raw| {
        let member = || json::member_text(raw, "Text").or_else(|| json::member_text(raw, "text"));
        json::text(raw).or_else(member)
    };
    if let Some(text) = of_one(content) {
        return text;
    }
    let mut texts = Vec::new();
    json::items(content, |part| texts.extend(of_one(part)));
    texts.join("\n").into()
}

/// The texts that a difference replaces, one for each of its sections.
pub(super) fn replaced_in(diff: &str) -> Vec<Replaced> {
    let Some(from) = diff.starts_with("@@").then_some(0).or_else(|| Some(diff.find("\n@@")? + 1)) else {
        return Vec::new();
    };
    let patch = format!(
        "*** Begin Patch\n*** Update File: x\n{}\n*** End Patch\n",
        diff[from..].trim_end_matches('\n')
    );
    patch::edits(&cut(&patch, 256 << 10))
        .into_iter()
        .next()
        .map_or_else(Vec::new, |Edit { replaced, .. }| replaced)
}
