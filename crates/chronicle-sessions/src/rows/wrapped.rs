//! Elements and headings in which programs wrap what they say in the place of a human.

use std::borrow::Cow;
use std::collections::HashMap;

/// Whether words are nothing but elements, as programs wrap what they say in the place of a human. Who pastes an element
/// says nothing in words of their own.
pub(crate) fn is_wrapped(words: &str) -> bool {
    /// Nobody types more elements and nothing else: to look for the end of each takes its time.
    const MOST: usize = 64;
    let mut rest = words.trim();
    for _ in 0..MOST {
        if rest.is_empty() {
            break;
        }
        let name = name_of_element(rest);
        let end = format!("</{name}>");
        rest = match rest.rfind(&end) {
            _ if name.is_empty() => return false,
            Some(at) => rest[at + end.len()..].trim_start(),
            None => match rest.find("/>") {
                Some(at) if !rest[1..at].contains(['<', '>', '\n']) => rest[at + 2..].trim_start(),
                _ => return false,
            },
        };
    }
    !words.trim().is_empty()
}

/// Whether words are a link to a file, and an element with what is in it, as editors send one that a prompt mentions. Files
/// are called by others.
pub(crate) fn is_mention(words: &str) -> bool {
    /// More lines that begin an element are no name of a file.
    const MOST_BEGUN: usize = 16;
    let words = words.trim();
    let Some((_, rest)) = words.strip_prefix("[@").and_then(|rest| rest.split_once("](")) else {
        return false;
    };
    let is_link = || rest.strip_suffix(')').is_some_and(|uri| !uri.contains([')', ' ', '\n']));
    let mut begun = rest.match_indices(")\n<").take(MOST_BEGUN);
    is_link() || begun.any(|(at, _)| is_wrapped(&rest[at + 1..]))
}

/// Whether words begin with a line between dashes (`--- Content of x ---`), or with the name of a file over a block of code
/// behind blank lines, as programs put before the texts of files.
pub(crate) fn is_content(words: &str) -> bool {
    let first = words.trim_start().lines().next().unwrap_or_default().trim_end();
    let is_heading = 8 < first.len() && first.starts_with("--- ") && first.ends_with(" ---");
    let is_file = || {
        let block = words.strip_prefix("\n\n# ").and_then(|rest| rest.split_once('\n'));
        block.is_some_and(|(_, block)| block.starts_with("```") && block.trim_end().ends_with("```"))
    };
    is_heading || is_file()
}

/// Whether words begin with an element on a line of its own whose name no page has: one that has no end was cut off.
pub(crate) fn is_begun(words: &str) -> bool {
    let words = words.trim_start();
    let line = words.lines().next().unwrap_or_default().trim_end();
    name_of_element(words).contains(['_', '-']) && line.find('>') == line.len().checked_sub(1)
}

/// Which texts are of an element that begins in one text of a message and ends in another: what is between them may be an
/// end of it, too. One that is only begun goes on to the last text.
pub(crate) fn within_elements(texts: &[Cow<'_, str>]) -> Vec<bool> {
    /// An element that programs wrap words in has no more texts.
    const MOST: usize = 64;
    let mut within = vec![false; texts.len()];
    let mut index = 0;
    while let Some(text) = texts.get(index) {
        let text = text.trim();
        let end = format!("</{}>", name_of_element(text));
        let last = match end.len() {
            3 => None,
            _ if text.contains(&end) => None,
            _ => {
                let near = &texts[..texts.len().min(index + MOST)];
                near.iter().rposition(|text| text.trim() == end).filter(|last| index < *last).or_else(|| {
                    let is_tag = text.ends_with('>') && !text.ends_with("/>") && !text.contains('\n');
                    (is_tag && index + 1 < texts.len()).then_some(texts.len() - 1)
                })
            }
        };
        if let Some(last) = last {
            within[index..=last].fill(true);
            index = last;
        }
        index += 1;
    }
    within
}

/// Words without elements whose name no page has, or that say where their content is from: programs put them there. What
/// was pasted is somebody else's, most of the time. `None` where there is none.
pub(crate) fn without_elements(words: &str) -> Option<String> {
    let mut ends: HashMap<&str, usize> = HashMap::new();
    for (at, _) in words.match_indices("</") {
        let name = name(&words[at + 2..]);
        let end = at + 2 + name.len();
        if words[end..].starts_with('>') {
            ends.insert(name, end + 1);
        }
    }
    let (mut kept, mut from) = (String::new(), 0);
    for (at, _) in words.match_indices('<') {
        let name = name_of_element(&words[at..]);
        let is_of_program = || name.contains(['_', '-']) || has_source(&words[at + 1 + name.len()..]);
        let end = ends.get(name).copied().filter(|end| from <= at && at < *end && is_of_program());
        if let Some(end) = end {
            kept.push_str(&words[from..at]);
            from = end + words[end..].len() - words[end..].trim_start().len();
        }
    }
    (0 < from).then(|| kept + &words[from..])
}

/// Whether a tag, which goes on so after its name, says where the content of its element is from.
fn has_source(rest: &str) -> bool {
    /// No tag is longer.
    const LONGEST: usize = 256;
    let rest = &rest[..rest.floor_char_boundary(LONGEST)];
    let attributes = rest.split(['>', '\n']).next().unwrap_or_default();
    [" ref=", " uri=", " path="].iter().any(|name| attributes.contains(name))
}

/// The name of the element with which words begin, an empty one where they begin with none.
fn name_of_element(words: &str) -> &str {
    let rest = words.strip_prefix('<').unwrap_or_default();
    let name = name(rest);
    if rest[name.len()..].starts_with(['>', '/', ' ', '\t', '\r', '\n']) { name } else { "" }
}

/// The name with which words begin.
fn name(words: &str) -> &str {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "_-:.".contains(letter);
    let name = &words[..words.find(|letter| !is_of_name(letter)).unwrap_or(words.len())];
    if name.starts_with(|letter: char| letter.is_ascii_alphabetic()) { name } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_nothing_else_are_no_words_of_a_human() {
        for (words, expected) in [
            ("<note>Use just.</note>", true),
            ("<a>x</a>\n<b ref=\"y\"/>", true),
            ("<a>x</a> Use just.", false),
            ("Use <b>just</b>", false),
            ("a < b", false),
            ("", false),
        ] {
            assert_eq!(is_wrapped(words), expected, "{words}");
        }
        assert!(is_wrapped(&"<a/>".repeat(65)));
    }

    /// None of these takes the square of its length.
    #[test]
    fn long_texts_are_judged_all_the_same() {
        let tags: String = (0..100_000).map(|n| format!("<a{n}/>")).collect();
        assert!(is_wrapped(&tags));
        let begun = format!("{}</aa>", "<aa ".repeat(50_000));
        assert_eq!(without_elements(&begun), None);
        let texts: Vec<Cow<'_, str>> = (0..20_000).map(|n| Cow::Owned(format!("<a{n}> x"))).collect();
        assert_eq!(within_elements(&texts).iter().filter(|is_within| **is_within).count(), 0);
    }
}
