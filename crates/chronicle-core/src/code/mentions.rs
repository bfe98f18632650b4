//! The paths and qualified names that prose mentions.
//!
//! A text is cut into words, and each word that may be a path or a name of code is a
//! mention. Whether `Pool.acquire` is a file or a method cannot be told from the word,
//! so it is both: whoever asks knows which files and items there are. A mention has a
//! key, by which texts can be looked up without reading them all.

use std::collections::BTreeSet;

/// Something in a text that may stand for code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mention<'t> {
    /// Perhaps a path, such as `src/pool.rs` or only `pool.rs`.
    Path(&'t str),
    /// Perhaps a name of code, such as `Pool::acquire`, in its segments; a name of one segment
    /// comes only where backticks or a following parenthesis say that it is code.
    Name(Vec<&'t str>),
}

/// Longer words are no names; somebody's binary data is.
const LONGEST_WORD: usize = 1_024;

impl Mention<'_> {
    /// What the mention can be looked up by: the last component of a path, the last segment of a name.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Path(path) => path.rsplit('/').next().unwrap_or(path),
            Self::Name(segments) => segments.last().copied().unwrap_or_default(),
        }
    }

    /// Whether this may mean the file at `path`: the mention is the whole path or its end.
    #[must_use]
    pub fn may_mean_file(&self, path: &str) -> bool {
        let Self::Path(said) = self else { return false };
        match path.strip_suffix(said) {
            Some("") => true,
            Some(before) => before.ends_with('/'),
            None => false,
        }
    }

    /// Whether this names the item `anchor`, given in its segments: with its owner, if it has one.
    #[must_use]
    pub fn names(&self, anchor: &[&str]) -> bool {
        let Self::Name(said) = self else { return false };
        agree(said, anchor) && anchor.len().min(2) <= said.len()
    }
}

/// What `text` mentions, each once, sorted.
#[must_use]
pub fn mentions(text: &str) -> BTreeSet<Mention<'_>> {
    let mut found = BTreeSet::new();
    let mut start = 0;
    let mut in_backticks = false;
    let ends = text.char_indices().filter(|(_, character)| ends_word(*character));
    for (end, character) in ends.chain([(text.len(), ' ')]) {
        let is_marked = character == '(' || (in_backticks && character == '`');
        let between = &text[start..end];
        // Most words of prose are nothing else.
        if is_marked || between.bytes().any(|byte| JOINS[usize::from(byte)]) {
            word(between, is_marked, &mut found);
        }
        in_backticks ^= character == '`';
        start = (end + character.len_utf8()).min(text.len());
    }
    found
}

/// The segments of a name of code: `Pool::acquire`, `Pool.acquire`, `(*Pool).Acquire` and
/// `Pool<T>::acquire` have the same two.
#[must_use]
pub fn segments(name: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    let (mut depth, mut start) = (0_usize, None);
    for (at, character) in name.char_indices().chain([(name.len(), '.')]) {
        let is_part = depth == 0 && is_part_of_name(character);
        match (start, is_part) {
            (None, true) => start = Some(at),
            (Some(first), false) => {
                segments.push(&name[first..at]);
                start = None;
            }
            _ => {}
        }
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    segments
}

/// Whether two names may be one: the shorter is the end of the longer.
#[must_use]
pub fn agree(left: &[&str], right: &[&str]) -> bool {
    !left.is_empty() && !right.is_empty() && (left.ends_with(right) || right.ends_with(left))
}

/// Whether a word that is not marked as code has to hold this byte to be a path or a name of code.
const JOINS: [bool; 256] = bytes(b"./:#");

const ENDS_WORD: [bool; 256] = bytes(b" \t\n\x0b\x0c\r`'\",;()[]{}<>|*=!?&");

/// Which bytes are among `these`.
const fn bytes(these: &[u8]) -> [bool; 256] {
    let mut are = [false; 256];
    let mut at = 0;
    while at < these.len() {
        are[these[at] as usize] = true;
        at += 1;
    }
    are
}

fn ends_word(character: char) -> bool {
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() => ENDS_WORD[usize::from(byte)],
        _ => {
            character.is_whitespace()
                || matches!(character, '\u{2018}'..='\u{201f}' | '\u{2026}' | '\u{2014}')
        }
    }
}

fn is_part_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '~')
}

/// Adds what one word may mention.
fn word<'t>(word: &'t str, is_marked: bool, found: &mut BTreeSet<Mention<'t>>) {
    let word = word.trim_end_matches(['.', ':']).trim_start_matches("./").trim_start_matches(':');
    if word.is_empty() || LONGEST_WORD < word.len() {
        return;
    }
    // `src/pool.rs:12`, `src/pool.rs#L12` and `src/pool.rs:Pool::acquire` begin with a path.
    let (head, tail) = match word.find([':', '#']) {
        Some(at) => (&word[..at], word[at..].trim_start_matches([':', '#'])),
        None => (word, ""),
    };
    if is_path(head) {
        found.insert(Mention::Path(head));
        name(tail, true, found);
    } else if is_path(word) {
        found.insert(Mention::Path(word));
    }
    if !word.contains('/') {
        name(word, is_marked, found);
    }
}

/// Adds `word` if it reads like a name of code.
fn name<'t>(word: &'t str, is_marked: bool, found: &mut BTreeSet<Mention<'t>>) {
    let is_line = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit());
    let between = |character: char| matches!(character, ':' | '.' | '#');
    let segments: Vec<&str> = word.split(between).filter(|segment| !segment.is_empty()).collect();
    let is_name = segments.iter().all(|segment| segment.chars().all(is_part_of_name))
        && segments.last().is_some_and(|last| !is_line(last));
    if is_name && (1 < segments.len() || (is_marked && segments.len() == 1)) {
        found.insert(Mention::Name(segments));
    }
}

/// Whether `word` reads like a path: it has a directory, or a name with an ending.
fn is_path(word: &str) -> bool {
    let Some(last) = word.rsplit('/').next().filter(|last| !last.is_empty()) else { return false };
    let has_ending = last
        .rsplit_once('.')
        .is_some_and(|(_, ending)| !ending.is_empty() && ending.chars().all(char::is_alphanumeric));
    !word.contains("//") && !word.contains(':') && (word.contains('/') || has_ending)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths(text: &str) -> Vec<&str> {
        let found = mentions(text).into_iter();
        found
            .filter_map(|mention| if let Mention::Path(path) = mention { Some(path) } else { None })
            .collect()
    }

    fn names(text: &str) -> Vec<String> {
        let found = mentions(text).into_iter();
        found
            .filter_map(
                |mention| if let Mention::Name(name) = mention { Some(name.join("::")) } else { None },
            )
            .collect()
    }

    #[test]
    fn paths_are_found_in_prose() {
        assert_eq!(paths("see src/a/b.rs, and b.rs:12."), ["b.rs", "src/a/b.rs"]);
        assert_eq!(paths("(`./src/pool.rs#L3`)"), ["src/pool.rs"]);
        assert_eq!(paths("Makefile is no path by itself; ci/Makefile is"), ["ci/Makefile"]);
        assert_eq!(paths("see https://example.com/x/y.html"), Vec::<&str>::new());
        assert_eq!(paths("the end."), Vec::<&str>::new());
    }

    #[test]
    fn names_are_found_in_prose() {
        assert_eq!(names("Pool::acquire and Pool.release() block"), ["Pool::acquire", "Pool::release"]);
        assert_eq!(names("`acquire` blocks, release() too, others not"), ["acquire", "release"]);
        assert_eq!(names("src/pool.rs:Pool::acquire"), ["Pool::acquire"]);
        assert_eq!(names("Pool#acquire, pool.Acquire."), ["Pool::acquire", "pool::Acquire"]);
        assert_eq!(names("note: this is prose: 12:30"), Vec::<String>::new());
    }

    #[test]
    fn a_name_is_itself_in_every_habit() {
        for name in
            ["Pool::acquire", "Pool.acquire", "(*Pool).acquire", "Pool<T, U<V>>::acquire", "Pool#acquire()"]
        {
            assert_eq!(segments(name), ["Pool", "acquire"], "{name}");
        }
        assert!(agree(&["Pool", "acquire"], &["acquire"]));
        assert!(!agree(&["Pool", "acquire"], &["Other", "acquire"]));
        assert!(!agree(&[], &["acquire"]));
    }

    #[test]
    fn a_mention_means_what_it_ends_with() {
        assert!(Mention::Path("b.rs").may_mean_file("src/b.rs"));
        assert!(Mention::Path("src/b.rs").may_mean_file("src/b.rs"));
        assert!(!Mention::Path("b.rs").may_mean_file("src/ab.rs"));
        assert!(Mention::Name(vec!["Pool", "acquire"]).names(&["db", "Pool", "acquire"]));
        assert!(!Mention::Name(vec!["acquire"]).names(&["Pool", "acquire"]));
        assert!(Mention::Name(vec!["acquire"]).names(&["acquire"]));
    }

    proptest! {
        #[test]
        fn a_path_is_found_whatever_stands_around_it(
            before in ".{0,40}", after in ".{0,40}",
            path in "[a-z]{1,8}(/[a-z_]{1,8}){0,3}/[a-z]{1,8}\\.[a-z]{1,4}",
        ) {
            let text = format!("{before} {path} {after}");
            prop_assert!(mentions(&text).contains(&Mention::Path(&path)));
        }

        #[test]
        fn a_name_is_found_whatever_stands_around_it(
            before in ".{0,40}", after in ".{0,40}", owner in "[A-Z][a-z]{0,8}", item in "[a-z_]{1,8}",
        ) {
            let text = format!("{before} {owner}::{item} {after}");
            let name = vec![owner.as_str(), item.as_str()];
            prop_assert!(mentions(&text).contains(&Mention::Name(name)));
        }

        #[test]
        fn whatever_is_found_has_a_key_that_stands_in_the_text(text in "[a-z`:./#() -]{0,200}") {
            for mention in mentions(&text) {
                prop_assert!(!mention.key().is_empty());
                prop_assert!(text.contains(mention.key()));
            }
        }
    }
}
