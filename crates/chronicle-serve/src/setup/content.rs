//! What one file is to hold: how it gets in, how it is known there, and how it gets out.

use super::{
    edits::{self, Edited},
    json::{self, EntryKind},
    ours::{PROGRAM, SERVER_NAME},
    record::State,
    skills::{BLOCK_BEGIN, BLOCK_END},
    toml,
    wanted::Content,
};

/// What our whole files say of themselves.
const SIGNATURE: &str = "git chronicle setup";

impl Content {
    /// `text` with it.
    pub(super) fn put_into(&self, text: &str) -> Result<Edited, String> {
        match self {
            Self::Json(entries) => json::with(text, entries),
            Self::Toml(server) => toml::with(text, server),
            Self::Whole(whole) if text.is_empty() => {
                let mut edited = Edited::new("");
                edited.insert(0, whole);
                Ok(edited)
            }
            Self::Whole(_) => Err("it is not ours; move it away to get ours".to_owned()),
            Self::Block(lines) => {
                let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
                let before = match text {
                    "" => "",
                    text if text.ends_with('\n') => "\n",
                    _ => "\n\n",
                };
                let block = format!("{before}{BLOCK_BEGIN}\n{lines}{BLOCK_END}\n").replace('\n', newline);
                let mut edited = Edited::new(text);
                edited.insert(text.len(), block);
                Ok(edited)
            }
        }
    }

    /// `text` as it would be if we had never been there.
    pub(super) fn taken_out_of(&self, text: &str, states: &[State]) -> Result<String, String> {
        let without = self.entries_taken_out_of(text, states)?;
        match self {
            Self::Toml(server) => toml::without_trust(&without, &server.trusted),
            _ => Ok(without),
        }
    }

    fn entries_taken_out_of(&self, text: &str, states: &[State]) -> Result<String, String> {
        let exactly = states.iter().rev().find_map(|state| edits::undone(text, &state.edits));
        if let Some(before) = exactly.filter(|before| self.is_clean(before)) {
            return Ok(before);
        }
        let anywhere = || states.iter().rev().find_map(|state| edits::undone_anywhere(text, &state.edits));
        match self {
            Self::Json(_) | Self::Toml(_) => {
                if let Some(before) = anywhere().filter(|before| self.is_clean(before)) {
                    return Ok(before);
                }
                let without = if let Self::Json(_) = self { json::without } else { toml::without };
                Ok(without(text)?.unwrap_or_else(|| text.to_owned()))
            }
            Self::Whole(whole) if text == whole => Ok(String::new()),
            Self::Whole(_) if states.is_empty() && self.is_in(text) => Ok(String::new()),
            Self::Whole(_) if self.is_in(text) => Err("it was edited; remove it by hand".to_owned()),
            Self::Whole(_) => Ok(text.to_owned()),
            Self::Block(_) => Ok(without_block(text).unwrap_or_else(|| text.to_owned())),
        }
    }

    /// Whether `text` holds together, and nothing of ours is in it.
    fn is_clean(&self, text: &str) -> bool {
        match self {
            Self::Json(_) => json::without(text) == Ok(None),
            Self::Toml(_) => toml::without(text) == Ok(None),
            Self::Whole(_) | Self::Block(_) => !self.is_in(text),
        }
    }

    /// Whether the file is ours alone.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// Whether something of ours is in `text`.
    pub(super) fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Json(_) => json::has_ours(text),
            Self::Toml(_) => toml::has_ours(text),
            Self::Whole(_) => text.contains(SIGNATURE) || text.contains(PROGRAM),
            Self::Block(_) => without_block(text).is_some(),
        }
    }

    /// Whether a file that we made holds nothing but what a file of that kind needs.
    pub(super) fn is_nothing(&self, text: &str) -> bool {
        match self {
            Self::Json(_) => match json::value(text) {
                Ok(None) => true,
                Ok(Some(value)) => {
                    value.as_object().is_some_and(|members| members.keys().all(|name| name == "version"))
                }
                Err(_) => false,
            },
            _ => text.trim().is_empty(),
        }
    }

    /// Whether both texts say the same of us and of all else.
    pub(super) fn is_same(&self, one: &str, other: &str) -> bool {
        match self {
            Self::Json(_) => {
                let said = |text| json::value(text).ok().flatten();
                said(one).is_some_and(|one| Some(one) == said(other))
            }
            Self::Toml(_) => toml::is_same(one, other),
            Self::Whole(_) | Self::Block(_) => one == other,
        }
    }

    /// The same without hooks.
    pub(super) fn without_hooks(&self) -> Self {
        match self {
            Self::Json(entries) => {
                let others = entries.iter().filter(|entry| entry.kind != EntryKind::Element);
                Self::Json(others.filter(|entry| entry.at.contains(&SERVER_NAME)).cloned().collect())
            }
            other => other.clone(),
        }
    }
}

/// `text` without our lines and the empty one before them.
fn without_block(text: &str) -> Option<String> {
    let begin = text.find(BLOCK_BEGIN)?;
    let end = begin + text[begin..].find(BLOCK_END)? + BLOCK_END.len();
    let rest = &text[end..];
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
    let before = &text[..begin];
    let shorter = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
    let before = shorter.filter(|shorter| shorter.ends_with('\n')).unwrap_or(before);
    Some(format!("{before}{rest}"))
}
