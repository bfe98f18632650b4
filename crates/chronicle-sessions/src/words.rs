//! Sentences of people and agents, made into lines of a list.

pub(crate) mod particular;
pub(crate) mod typed;

use aho_corasick::AhoCorasick;

/// The longest request that counts as words rather than as something pasted.
const LONGEST_SENTENCE: usize = 400;

/// The longest title of a session.
pub const LONGEST_TITLE: usize = 60;

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
        // Only these bytes begin a mark, so most of a line is passed over quickly.
        let may_end = |(index, byte): (usize, u8)| match byte {
            b'.' | b'?' | b'!' => {
                let end = index + 1;
                rest[end..].chars().next().is_none_or(char::is_whitespace).then_some(end)
            }
            // After those of Chinese and Japanese no space follows.
            0xe3 | 0xef => {
                let mark = rest[index..].chars().next().filter(|mark| matches!(mark, '。' | '？' | '！'))?;
                Some(index + mark.len_utf8())
            }
            _ => None,
        };
        let end = rest.bytes().enumerate().find_map(may_end).unwrap_or(rest.len());
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
    let words = wish(words).trim_end_matches(['.', '?', '!', ':', ',', ' ', '。', '？', '！', '：', '，']);
    let mut letters = words.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    shortened(&format!("{first}{}", letters.as_str()), longest)
}

/// `words` without what people say before they say what they want.
pub(crate) fn wish(words: &str) -> &str {
    let mut words = words.trim();
    while let Some(rest) = without_beginning(words) {
        words = rest;
    }
    words
}

/// Whether a question asks somebody to do something.
pub(crate) fn is_polite(question: &str) -> bool {
    const ASKING: [&str; 5] = ["can you", "could you", "would you", "will you", "please"];
    let mut words = question.trim();
    loop {
        if ASKING.iter().any(|asking| begins(words, asking)) {
            return true;
        }
        match without_beginning(words) {
            Some(rest) => words = rest,
            None => return false,
        }
    }
}

/// Whether `words` begin with the words `beginning`, in letters of either case.
fn begins(words: &str, beginning: &str) -> bool {
    let head = words.get(..beginning.len()).unwrap_or_default();
    head.eq_ignore_ascii_case(beginning)
        && words[beginning.len()..].starts_with([' ', ',', ':', '-', '.', '!'])
}

/// Looks for one of `marks`, in letters of either case.
pub(crate) fn any_case<const N: usize>(marks: [&str; N]) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(marks)
        .expect("so few marks fit into any automaton")
}

fn without_beginning(words: &str) -> Option<&str> {
    let rest = BEGINNINGS
        .iter()
        .filter(|beginning| begins(words, beginning))
        .map(|beginning| &words[beginning.len()..])
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

/// `text` on one line, in at most `longest` characters: without remarks in brackets where it is too long, and then cut
/// behind a clause where one ends late enough.
pub(crate) fn clause(text: &str, longest: usize) -> String {
    const ENDS: [&str; 8] = [". ", "; ", " — ", " – ", " - ", ", ", " because ", " so that "];
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= longest {
        return line;
    }
    let line = without_brackets(&line);
    if line.chars().count() <= longest {
        return line;
    }
    let end = line.char_indices().nth(longest).map_or(line.len(), |(index, _)| index);
    // A comma within a list of names is no end of a clause: the rest of the list would be lost without a sign.
    let is_end = |at: usize, mark: &str| {
        line[..at].len() * 3 > end
            && is_closed(&line[..at])
            && (mark != ", " || !is_in_list(&line[..at], &line[at + 2..]))
    };
    let at = |mark: &&str| line[..end].rmatch_indices(*mark).map(|(at, _)| at).find(|at| is_end(*at, mark));
    match ENDS.iter().filter_map(at).max() {
        Some(at) => without_condition(&line[..at]).trim_end_matches([',', ';', ':', ' ']).to_owned(),
        None => {
            let cut = without_loose_end(&shortened(&line, longest));
            without_condition(&cut).to_owned()
        }
    }
}

/// Words without a condition at their end whose consequence was cut off: `Closed it: When nobody waits`.
fn without_condition(words: &str) -> &str {
    const CONDITIONS: [&str; 5] = ["when ", "if ", "while ", "once ", "after "];
    match words.rsplit_once([':', ';']) {
        Some((before, last))
            if CONDITIONS.iter().any(|start| last.trim().to_lowercase().starts_with(start)) =>
        {
            before
        }
        _ => words,
    }
}

/// A line without what stands in brackets behind words.
pub(crate) fn without_brackets(line: &str) -> String {
    let mut kept = String::new();
    let mut depth = 0_usize;
    let mut quote: Option<char> = None;
    for letter in line.chars() {
        if matches!(letter, '`' | '"') && depth == 0 {
            quote = if quote == Some(letter) { None } else { quote.or(Some(letter)) };
        }
        match letter {
            _ if quote.is_some() => kept.push(letter),
            '(' if 0 < depth || kept.is_empty() || kept.ends_with(' ') => depth += 1,
            ')' if 0 < depth => depth -= 1,
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ").replace(" :", ":").replace(" ,", ",")
}

/// A line that was cut, without words that only lead on: `Added a limit to the…` is `Added a limit…`.
pub(crate) fn without_loose_end(cut: &str) -> String {
    const LEADING: [&str; 32] = [
        "a", "an", "the", "to", "for", "of", "in", "on", "at", "by", "with", "and", "or", "but", "from",
        "into", "that", "which", "as", "is", "are", "was", "were", "be", "been", "when", "where", "if", "so",
        "than", "not", "its",
    ];
    /// A line is not made shorter than this for it.
    const LEAST: usize = 14;
    let Some(mut words) = cut.strip_suffix('…') else { return cut.to_owned() };
    while let Some((rest, last)) = words.rsplit_once(' ')
        && LEADING.contains(&last.to_ascii_lowercase().as_str())
        && LEAST < rest.len()
    {
        words = rest;
    }
    format!("{words}…")
}

/// Whether a comma stands between two of the things that are listed.
fn is_in_list(before: &str, after: &str) -> bool {
    let last = before.rsplit([',', ':']).next().unwrap_or_default();
    let next = after.split([',', '.', ';']).next().unwrap_or_default();
    n_words(next) <= 3 || before.contains(", ") && n_words(last) <= 3
}

/// Whether no code, quotation or bracket is open at the end.
pub(crate) fn is_closed(words: &str) -> bool {
    ['`', '"'].iter().all(|mark| words.matches(*mark).count() % 2 == 0)
        && words.matches('(').count() == words.matches(')').count()
}

/// The name of a file or an item without its folders and marks.
pub(crate) fn bare_name(name: &str) -> &str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    last.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
}

/// The heading of a plan without the word that every plan has.
pub(crate) fn of_plan(heading: &str) -> String {
    const PREFIXES: [&str; 6] =
        ["implementation plan", "plan", "design plan", "design", "proposal", "implementation"];
    let trimmed = heading.trim();
    let after = PREFIXES.iter().find_map(|prefix| {
        let head = trimmed.get(..prefix.len())?;
        let rest = trimmed[prefix.len()..].trim_start();
        (head.eq_ignore_ascii_case(prefix)).then(|| rest.strip_prefix([':', '-', '—', '–'])).flatten()
    });
    imperative(after.unwrap_or(trimmed), usize::MAX)
}

/// Whether a prompt says what is wanted, rather than only `yes` or `go on`.
pub(crate) fn is_substantive(prompt: &str) -> bool {
    let sentence = first_sentence(prompt);
    let wish = imperative(sentence, LONGEST_SENTENCE);
    let n_words = n_words(&wish);
    3 <= n_words || 2 == n_words && 12 <= wish.chars().count()
}

/// Whether somebody only says thanks or goodbye: nothing more is asked.
pub(crate) fn is_farewell(prompt: &str) -> bool {
    const LONGEST: usize = 30;
    const POLITE: [&str; 64] = [
        "thanks",
        "thank",
        "you",
        "thx",
        "ty",
        "a",
        "lot",
        "so",
        "very",
        "much",
        "many",
        "great",
        "perfect",
        "nice",
        "cool",
        "ok",
        "okay",
        "good",
        "awesome",
        "excellent",
        "wonderful",
        "fine",
        "understood",
        "alright",
        "all",
        "right",
        "yes",
        "yep",
        "sure",
        "bye",
        "goodbye",
        "see",
        "ya",
        "soon",
        "later",
        "that's",
        "that",
        "is",
        "it",
        "got",
        "work",
        "works",
        "worked",
        "job",
        "well",
        "done",
        "for",
        "now",
        "today",
        "the",
        "your",
        "help",
        "looks",
        "lgtm",
        "again",
        "and",
        "danke",
        "merci",
        "gracias",
        "obrigado",
        "grazie",
        "谢谢",
        "ありがとう",
        "спасибо",
    ];
    const PARTS: [&str; 18] = [
        "stop here",
        "stop for today",
        "stop for now",
        "done for today",
        "that's all for today",
        "enough for today",
        "continue tomorrow",
        "go on tomorrow",
        "carry on tomorrow",
        "more tomorrow",
        "until tomorrow",
        "call it a day",
        "have to go",
        "have to leave",
        "need to go",
        "got to go",
        "good night",
        "have a nice",
    ];
    let leaves = |sentence: &str| {
        let lower = sentence.to_lowercase();
        PARTS.iter().any(|part| lower.contains(part))
    };
    let thanks = |sentence: &str| {
        let lower = sentence.to_lowercase();
        let mut words =
            lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
        words.all(|word| POLITE.contains(&word))
    };
    if prompt.contains('?') || prompt.trim().is_empty() || LONGEST < n_words(prompt) {
        return false;
    }
    let all: Vec<&str> = prompt.lines().flat_map(sentences).collect();
    // Who leaves may say what is left to do.
    all.iter().all(|one| leaves(one) || thanks(one))
        || all.iter().any(|one| leaves(one)) && !all.iter().any(|one| begins_with_work(&imperative(one, 200)))
}

/// How many words `text` has. Where none are told apart by spaces, two signs of Chinese and Japanese are about a word,
/// and four letters of Thai and its neighbours.
pub(crate) fn n_words(text: &str) -> usize {
    let of = |spaced: &str| {
        let (mut n_signs, mut n_letters, mut has_others) = (0, 0, 0);
        for letter in spaced.chars().filter(|letter| letter.is_alphanumeric()) {
            match letter {
                '\u{3040}'..='\u{30ff}'
                | '\u{3400}'..='\u{9fff}'
                | '\u{f900}'..='\u{faff}'
                | '\u{20000}'..='\u{3ffff}' => n_signs += 1,
                '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => n_letters += 1,
                _ => has_others = 1,
            }
        }
        usize::div_ceil(n_signs, 2) + usize::div_ceil(n_letters, 4) + has_others
    };
    text.split_whitespace().map(of).sum()
}

/// Whether words begin with a verb for work on code.
pub(crate) fn begins_with_work(words: &str) -> bool {
    const VERBS: [&str; 109] = [
        "explore",
        "break",
        "declare",
        "capture",
        "register",
        "modify",
        "apply",
        "verify",
        "resolve",
        "define",
        "rework",
        "restructure",
        "delegate",
        "reorganize",
        "track",
        "skip",
        "ignore",
        "detect",
        "redact",
        "scope",
        "walk",
        "bring",
        "pin",
        "add",
        "fix",
        "implement",
        "create",
        "update",
        "change",
        "remove",
        "delete",
        "rename",
        "refactor",
        "make",
        "move",
        "support",
        "write",
        "rewrite",
        "replace",
        "simplify",
        "bump",
        "upgrade",
        "migrate",
        "extract",
        "convert",
        "set",
        "allow",
        "improve",
        "handle",
        "build",
        "document",
        "split",
        "merge",
        "rebase",
        "port",
        "wire",
        "expose",
        "introduce",
        "disable",
        "enable",
        "configure",
        "install",
        "integrate",
        "generate",
        "let",
        "append",
        "adjust",
        "adapt",
        "restore",
        "revert",
        "clean",
        "reduce",
        "optimize",
        "optimise",
        "speed",
        "cache",
        "validate",
        "test",
        "cover",
        "show",
        "hide",
        "print",
        "display",
        "log",
        "return",
        "ensure",
        "prevent",
        "avoid",
        "drop",
        "deprecate",
        "unify",
        "consolidate",
        "deduplicate",
        "design",
        "draft",
        "automate",
        "automatically",
        "switch",
        "use",
        "store",
        "save",
        "send",
        "render",
        "parse",
        "sort",
        "limit",
        "bound",
        "publish",
        "deploy",
    ];
    let first = words.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default();
    VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(first))
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
    fn who_only_says_thanks_or_goodbye_asks_for_nothing() {
        for words in [
            "Thanks.",
            "Thank you, great work!",
            "ok",
            "Understood.",
            "I have to stop here, we go on tomorrow.",
            "Perfect. That's all for today.",
            "Danke!",
            "I have to go now. The changelog is still missing, too.",
        ] {
            assert!(is_farewell(words), "{words}");
        }
        for words in [
            "",
            "Thanks, now fix the other test",
            "ok, do it",
            "Great, but the header is still too large for a phone",
            "Thanks. The tests fail though.",
            "Good morning, the build is red",
            "Have to go, please commit it. Fix the header first.",
            "Okay?",
        ] {
            assert!(!is_farewell(words), "{words}");
        }
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
    fn a_long_sentence_ends_where_a_clause_does() {
        let check = |text: &str, expected: &str| assert_eq!(clause(text, 40), expected, "{text}");
        check("The pool waits for a free slot", "The pool waits for a free slot");
        check("The pool waits for a slot now — it used to fail at once", "The pool waits for a slot now");
        check("The pool waits for a slot, so that no client fails", "The pool waits for a slot");
        check(
            "Changed the pool, the queue, the timer and the log",
            "Changed the pool, the queue, the timer…",
        );
        check("The pool waits (as `a, b` and `c, d` did before)", "The pool waits");
        check("A pool that waits (for `a`) holds its clients up", "A pool that waits holds its clients up");
        check("Added the case \"full (late)\" to tests (of it)", "Added the case \"full (late)\" to tests");
        check("Closed the pool early: When no client waits for it, it is closed", "Closed the pool early");
        check(
            "The pool hands every client over to the next of the queue",
            "The pool hands every client over…",
        );
    }

    #[test]
    fn a_yes_is_no_wish() {
        assert!(!is_substantive("yes"));
        assert!(!is_substantive("yes, please"));
        assert!(is_substantive("commit everything now please"));
    }

    #[test]
    fn a_wish_needs_no_spaces() {
        let check = |prompt: &str, is_wish| assert_eq!(is_substantive(prompt), is_wish, "{prompt}");
        check("把连接池的上限改成八个连接。", true);
        check("接続プールの上限を八にしてください", true);
        check("只修 pool.rs 的超时", true);
        check("แก้ไขข้อผิดพลาดในการเข้าสู่ระบบ", true);
        check("好的", false);
        check("继续吧", false);
        check("はい", false);
        check("ตกลง", false);
        assert_eq!(imperative("把上限改成八。", 60), "把上限改成八");
    }

    #[test]
    fn marks_alone_are_no_words() {
        assert_eq!((n_words("a – b"), n_words("…"), n_words("")), (2, 0, 0));
    }
}
