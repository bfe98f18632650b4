//! Sentences of people and agents, made into lines of a list.

/// The longest request that counts as words rather than as something pasted.
const LONGEST_SENTENCE: usize = 400;

/// What people say before they say what they want.
const BEGINNINGS: [&str; 49] = [
    "ok",
    "okay",
    "yes",
    "yeah",
    "yep",
    "no",
    "great",
    "good",
    "hmm",
    "hm",
    "so",
    "and",
    "also",
    "now",
    "then",
    "well",
    "actually",
    "sorry",
    "thanks",
    "sure",
    "please",
    "can you please",
    "could you please",
    "can you",
    "could you",
    "would you",
    "can we",
    "could we",
    "can i",
    "i want you to",
    "i want to",
    "i'd like you to",
    "i'd like to",
    "i would like to",
    "i need you to",
    "we need to",
    "you need to",
    "we should",
    "you should",
    "i think we should",
    "i think we need to",
    "let's",
    "lets",
    "let me",
    "just",
    "let us",
    "first",
    "brainstorm:",
    "q:",
];

/// The first sentence of `text` that says something, without marks of its layout.
#[must_use]
pub fn first_sentence(text: &str) -> &str {
    let mut lines = text.lines().map(plain).filter(|line| line.chars().any(char::is_alphanumeric));
    let Some(first) = lines.next() else { return "" };
    // `Brainstorm:` only announces what follows.
    let announces = first.ends_with(':') && first.split_whitespace().count() <= 2;
    let line = if announces { lines.next().unwrap_or(first) } else { first };
    sentences(line).next().unwrap_or_default()
}

/// The sentences of a line.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let ends = |(index, mark): (usize, char)| {
            let after = rest[index + mark.len_utf8()..].chars().next();
            let is_end = matches!(mark, '.' | '?' | '!') && after.is_none_or(char::is_whitespace);
            // After those of Chinese and Japanese no space follows.
            (is_end || matches!(mark, '。' | '？' | '！')).then_some(index + mark.len_utf8())
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence.trim())
    })
}

/// A line without the marks of a heading, a list or a quote.
pub(crate) fn plain(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['#', '>', '*', '-', '•', ' ']);
    let line = line.strip_prefix("[ ]").unwrap_or(line);
    let without_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = match without_number.strip_prefix(['.', ')']) {
        Some(rest) if without_number.len() < line.len() && rest.starts_with(' ') => rest,
        _ => line,
    };
    line.trim().trim_matches('*').trim()
}

/// What `words` ask for, in the imperative, in at most `longest` characters.
pub(crate) fn imperative(words: &str, longest: usize) -> String {
    let mut words = words.trim();
    while let Some(rest) = without_beginning(words) {
        words = rest;
    }
    let words = words.trim_end_matches(['.', '?', '!', ':', ',', ' ']);
    let mut letters = words.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    shortened(&format!("{first}{}", letters.as_str()), longest)
}

fn without_beginning(words: &str) -> Option<&str> {
    let rest = BEGINNINGS
        .iter()
        .filter_map(|beginning| {
            let head = words.get(..beginning.len())?;
            head.eq_ignore_ascii_case(beginning).then(|| &words[beginning.len()..])
        })
        .filter(|rest| rest.starts_with([' ', ',', ':', '-', '.', '!']))
        .min_by_key(|rest| rest.len())?;
    let rest = rest.trim_start_matches([' ', ',', ':', '-', '.', '!']);
    (!rest.is_empty()).then_some(rest)
}

/// `text` on one line, in at most `longest` characters, cut between words.
#[must_use]
pub fn shortened(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= longest {
        return line;
    }
    let end = line.char_indices().nth(longest.saturating_sub(1)).map_or(line.len(), |(index, _)| index);
    let cut = line[..end].rfind(' ').filter(|cut| end / 2 < *cut).unwrap_or(end);
    format!("{}…", line[..cut].trim_end_matches([',', ';', ':', ' ']))
}

/// Whether a prompt says what is wanted, rather than only `yes` or `go on`.
pub(crate) fn is_substantive(prompt: &str) -> bool {
    let sentence = first_sentence(prompt);
    let wish = imperative(sentence, LONGEST_SENTENCE);
    let n_words = wish.split_whitespace().count();
    3 <= n_words || 2 == n_words && 12 <= wish.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_become_imperatives() {
        let check = |words: &str, expected: &str| assert_eq!(imperative(words, 60), expected);
        check("ok, can you please add a test for it?", "Add a test for it");
        check("let's keep it simple", "Keep it simple");
        check("Yes", "Yes");
        check("I think we should reuse the pool.", "Reuse the pool");
        check("candidates are listed", "Candidates are listed");
    }

    #[test]
    fn sentences_end_where_a_mark_stands_before_a_space() {
        let all: Vec<_> = sentences("Edit pool.rs first. Does v1.2 work? Yes").collect();
        assert_eq!(all, ["Edit pool.rs first.", "Does v1.2 work?", "Yes"]);
        assert_eq!(first_sentence("\n\n## 1. Make it wait\nmore"), "Make it wait");
        assert_eq!(first_sentence("```"), "");
        assert_eq!(first_sentence("brainstorm:\n- let the pool wait\n- test it"), "let the pool wait");
        assert_eq!(first_sentence("Note:"), "Note:");
    }

    #[test]
    fn long_lines_are_cut_between_words() {
        assert_eq!(shortened("one two three", 9), "one two…");
        assert_eq!(shortened("ä\nb", 9), "ä b");
        assert_eq!(shortened("äöüäöüäöü", 4), "äöü…");
    }

    #[test]
    fn a_yes_is_no_wish() {
        assert!(!is_substantive("yes"));
        assert!(!is_substantive("yes, please"));
        assert!(is_substantive("commit everything now please"));
    }
}
