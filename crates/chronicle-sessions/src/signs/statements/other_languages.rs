//! French and Chinese, as far as few words can be trusted: a choice of a known way, and nothing else.

use super::{CLEAR, Said};
use crate::signs::topics;

/// What a French or Chinese sentence chooses, if it does.
pub(super) fn said(sentence: &str) -> Option<Said> {
    let lower = sentence.trim().trim_end_matches(['.', '!', '。', '！', ' ']).to_lowercase();
    if lower.ends_with(['?', '？']) {
        return None;
    }
    french(&lower).or_else(|| chinese(&lower))
}

fn french(lower: &str) -> Option<Said> {
    const CUES: [&str; 8] = [
        "je préfère ",
        "on préfère ",
        "nous préférons ",
        "utilise toujours ",
        "utilisez toujours ",
        "toujours utiliser ",
        "désormais, utilise ",
        "désormais utilise ",
    ];
    let rest = CUES.iter().find_map(|cue| lower.strip_prefix(cue))?;
    let (wanted, other) = super::halves(rest, &[" plutôt que ", " à ", " au lieu de "]);
    choice(wanted, other)
}

fn chinese(lower: &str) -> Option<Said> {
    const CUES: [&str; 12] = [
        "我更喜欢用",
        "我更喜欢",
        "我喜欢用",
        "我们更喜欢用",
        "以后都用",
        "以后请用",
        "以后用",
        "以后都请用",
        "请始终使用",
        "始终使用",
        "请总是用",
        "总是用",
    ];
    let rest = CUES.iter().filter_map(|cue| lower.strip_prefix(cue)).min_by_key(|rest| rest.len())?;
    let (wanted, other) = super::halves(rest, &["而不是", "，不要用", "，不用", ",不要用"]);
    choice(wanted, other)
}

/// Only known ways: what else the words may mean is not for these rules to say.
fn choice(wanted: &str, other: Option<&str>) -> Option<Said> {
    let is_end = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '+');
    let name = wanted.trim().split(is_end).next().unwrap_or_default();
    let other = other.map(|other| other.trim().split(is_end).next().unwrap_or_default());
    let (topic, way) = topics::way(name, other)?;
    Some(Said { topic: topic.to_owned(), way: way.to_owned(), weight: CLEAR })
}
