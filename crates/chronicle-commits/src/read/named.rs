//! Which code a sentence without paths speaks of: `Assumes max_sessions in TlsSessionCache is 4`.
//!
//! Words that nobody writes but for code, or that stand before or after an owner, are looked for in all files of a
//! commit. Only what one item alone bears counts: a guess would make somebody rely on the wrong code.

use std::collections::HashSet;

use chronicle_core::outline::{Item, ItemKind, members};
use chronicle_git::{BStr, ByteSlice, ObjectId, Repository};
use chronicle_outline::language_of;

use crate::{error::Result, write::derive::Facts};

/// In larger repositories sentences have to name a file.
const MOST_FILES: usize = 5_000;
/// More words are no sentence about one thing.
const MOST_WORDS: usize = 200;
/// Larger files are made by programs.
const MOST_BYTES: u64 = 1 << 20;

/// Words of a sentence that may name code.
#[derive(Debug, Default, PartialEq, Eq)]
struct Named<'t> {
    /// Words that are code by their looks, in their order.
    code: Vec<&'t str>,
    /// A member and its owner: `max_sessions in TlsSessionCache`, `Pool's capacity`.
    pairs: Vec<(&'t str, &'t str)>,
}

impl<'t> Named<'t> {
    fn of(sentence: &'t str) -> Self {
        let words = sentence.split(|end: char| end.is_whitespace() || ",;()[]{}\"`".contains(end));
        let raw: Vec<&str> = words.filter(|word| !word.is_empty()).take(MOST_WORDS).collect();
        let mut named = Self::default();
        for (at, word) in raw.iter().enumerate() {
            if let Some(owner) = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s"))
                && let (true, Some(member)) = (may_own(owner), name_at(&raw, at + 1))
            {
                named.pairs.push((member, owner));
            }
            let word = trimmed(word);
            // `of the Pool`, too.
            let article = raw.get(at + 2).filter(|word| ["the", "a", "our"].contains(*word)).is_some();
            if is_name(word)
                && raw.get(at + 1).is_some_and(|link| ["in", "of"].contains(link))
                && let Some(owner) = name_at(&raw, at + 2 + usize::from(article))
                && may_own(owner)
            {
                named.pairs.push((word, owner));
            }
            if is_code(word) && !named.code.contains(&word) {
                named.code.push(word);
            }
        }
        named
    }

    /// The words that have to be found.
    fn wanted(&self) -> HashSet<&'t str> {
        self.code.iter().copied().chain(self.pairs.iter().map(|(_, owner)| *owner)).collect()
    }
}

/// The word number `at`, if it is a name.
fn name_at<'t>(words: &[&'t str], at: usize) -> Option<&'t str> {
    words.get(at).map(|word| trimmed(word)).filter(|word| is_name(word))
}

/// `word` without what is before and after it.
fn trimmed(word: &str) -> &str {
    word.trim_matches(|end: char| !end.is_alphanumeric() && end != '_')
}

fn is_name(word: &str) -> bool {
    word.chars().all(|character| character.is_alphanumeric() || character == '_')
        && word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Whether a word can be a type: it begins with a capital, or is code by its looks.
fn may_own(word: &str) -> bool {
    is_name(word) && (word.starts_with(char::is_uppercase) || is_code(word))
}

/// Whether nobody would write this word for anything but code: `max_sessions`, `maxSessions`, `TlsSessionCache`.
fn is_code(word: &str) -> bool {
    let inner_capital = word.char_indices().any(|(at, character)| {
        0 < at && character.is_uppercase() && word[..at].ends_with(char::is_lowercase)
    });
    is_name(word) && 2 < word.len() && (word.trim_matches('_').contains('_') || inner_capital)
}

/// The file and the name of the code that `sentence` speaks of; none where that is not clear.
pub(crate) fn named(
    sentence: &str,
    facts: &mut Facts<'_>,
    repository: &Repository,
) -> Result<Vec<(String, String)>> {
    let named = Named::of(sentence);
    let wanted = named.wanted();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let bearers = bearers(&wanted, facts, repository)?;
    let mut found: Vec<(String, String)> = Vec::new();
    let mut explained: HashSet<&str> = HashSet::new();
    for (member, owner) in &named.pairs {
        let Some((file, item)) = only(owner, &bearers) else { continue };
        let Some(name) = member_of(member, file, item, facts)? else { continue };
        found.push((file.clone(), name));
        explained.extend([*member, *owner]);
    }
    let others = named.code.iter().filter(|word| !explained.contains(*word));
    let others = others.filter_map(|word| only(word, &bearers));
    found.extend(others.map(|(file, item)| (file.clone(), item.qualified.clone())));
    let mut seen = HashSet::new();
    found.retain(|one| seen.insert(one.clone()));
    Ok(found)
}

/// The one item that bears `name`, with its file.
fn only<'b>(name: &str, bearers: &'b [(String, Item)]) -> Option<&'b (String, Item)> {
    let mut all = bearers.iter().filter(|(_, item)| item.name == name && !item.kind.is_secondary());
    all.next().filter(|_| all.next().is_none())
}

/// The qualified name of `member` of a type, be it an item of its own or only a word in the type's lines, as a field is.
fn member_of(member: &str, file: &str, owner: &Item, facts: &mut Facts<'_>) -> Result<Option<String>> {
    let Some(items) = facts.items(file)? else { return Ok(None) };
    let Ok(items) = &*items else { return Ok(None) };
    let all = members(items, &[owner]);
    if let Some(item) = all.iter().find(|item| item.name == member) {
        return Ok(Some(item.qualified.clone()));
    }
    let Some(content) = facts.content(file)? else { return Ok(None) };
    let (first, n_lines) = (owner.lines.start as usize - 1, owner.lines.len() as usize);
    let is_there = content.lines().skip(first).take(n_lines).any(|line| has_word(line, member));
    let separator = items.iter().find_map(|item| {
        item.qualified.strip_suffix(item.name.as_str()).filter(|before| !before.is_empty()).map(|before| {
            before.trim_start_matches(|part: char| part.is_alphanumeric() || "_<>".contains(part))
        })
    });
    let separator = separator.filter(|between| ["::", ".", "#"].contains(between)).unwrap_or("::");
    Ok(is_there.then(|| format!("{}{separator}{member}", owner.qualified)))
}

/// The items of the commit's files that are called by one of the words `wanted`.
fn bearers(
    wanted: &HashSet<&str>,
    facts: &mut Facts<'_>,
    repository: &Repository,
) -> Result<Vec<(String, Item)>> {
    let tree: ObjectId = facts.commit.tree;
    let files = repository.files_under(tree, BStr::new(""))?;
    let mut found = Vec::new();
    if MOST_FILES < files.len() {
        return Ok(found);
    }
    for file in files.iter().map(ToString::to_string).filter(|file| language_of(file, b"").is_some()) {
        let Some(blob) = repository.blob_at(tree, file.as_bytes().as_bstr())? else { continue };
        if repository.size_if_here(blob)?.is_none_or(|size| MOST_BYTES < size) {
            continue;
        }
        let has_any =
            repository.with_blob(blob, |content| wanted.iter().any(|word| content.contains_str(word)))?;
        if has_any != Some(true) {
            continue;
        }
        let Some(items) = facts.items(&file)? else { continue };
        let Ok(items) = &*items else { continue };
        let items = items.iter().filter(|item| item.kind != ItemKind::Heading);
        let called = items.filter(|item| wanted.contains(item.name.as_str()));
        found.extend(called.map(|item| (file.clone(), item.clone())));
    }
    Ok(found)
}

/// Whether `word` is in `line`, and not only as a part of another one.
fn has_word(line: &[u8], word: &str) -> bool {
    line.find_iter(word).any(|at| {
        let before = at.checked_sub(1).and_then(|at| line.get(at));
        let mut around = before.into_iter().chain(line.get(at + word.len()));
        !around.any(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, code: &[&str], pairs: &[(&str, &str)]) {
        let expected = Named { code: code.to_vec(), pairs: pairs.to_vec() };
        assert_eq!(Named::of(sentence), expected, "{sentence}");
    }

    #[test]
    fn words_that_name_code_are_told_from_prose() {
        check(
            "Assumes max_sessions in TlsSessionCache is 4",
            &["max_sessions", "TlsSessionCache"],
            &[("max_sessions", "TlsSessionCache")],
        );
        check("The Pool's capacity never grows.", &[], &[("capacity", "Pool")]);
        check("the capacity of the Pool is fixed", &[], &[("capacity", "Pool")]);
        check("relies on retryLimit, which stays", &["retryLimit"], &[]);
        check("Nothing in particular; the end of it", &[], &[]);
        check("HTTP and JSON are words in English", &[], &[("words", "English")]);
    }
}
