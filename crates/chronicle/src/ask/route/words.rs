//! The words of a question, as rules compare them.

use std::ops::Range;

use super::{
    phrasebook::in_english,
    rules::{CLASSES, RULES},
};

/// A word, and where it stands in the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) at: Range<usize>,
    /// Whether a phrase of another language, or another way to say it, stands there.
    pub(super) is_translated: bool,
}

impl Word {
    /// The word that rules know, for the phrase that stands there.
    pub(super) fn translated(text: &str, at: Range<usize>) -> Self {
        Self { text: text.to_owned(), at, is_translated: true }
    }
}

/// What people write for other words.
const WRITTEN_OUT: [(&str, &str); 45] = [
    ("u", "you"),
    ("r", "are"),
    ("w", "with"),
    ("b4", "before"),
    ("wat", "what"),
    ("wut", "what"),
    ("wats", "what is"),
    ("whats", "what is"),
    ("wheres", "where is"),
    ("whos", "who is"),
    ("whys", "why is"),
    ("hows", "how is"),
    ("thats", "that is"),
    ("theres", "there is"),
    ("gimme", "give me"),
    ("lemme", "let me"),
    ("dont", "do not"),
    ("didnt", "did not"),
    ("doesnt", "does not"),
    ("havent", "have not"),
    ("hasnt", "has not"),
    ("isnt", "is not"),
    ("arent", "are not"),
    ("wasnt", "was not"),
    ("cant", "can not"),
    ("ive", "i have"),
    ("prefs", "preferences"),
    ("repo", "project"),
    ("repos", "projects"),
    ("repository", "project"),
    ("repositories", "projects"),
    ("codebase", "project"),
    ("codebases", "projects"),
    ("projet", "project"),
    ("projets", "projects"),
    ("depots", "projects"),
    ("normally", "usually"),
    ("generally", "usually"),
    ("typically", "usually"),
    ("ordinarily", "usually"),
    ("favor", "favour"),
    ("learnt", "learned"),
    ("summarise", "summarize"),
    ("shud", "should"),
    ("cuz", "because"),
];

/// Words that change no question.
const FILLING: [&str; 39] = [
    "please",
    "pls",
    "plz",
    "hey",
    "hi",
    "hello",
    "um",
    "umm",
    "uh",
    "er",
    "ok",
    "okay",
    "so",
    "well",
    "now",
    "just",
    "exactly",
    "actually",
    "really",
    "currently",
    "kindly",
    "quickly",
    "maybe",
    "perhaps",
    "ever",
    "also",
    "already",
    "then",
    "chronicle",
    "else",
    "stp",
    "svp",
    "donc",
    "alors",
    "deja",
    "bonjour",
    "salut",
    "thanks",
    "merci",
];

/// How a polite question begins.
const POLITE: [&str; 31] = [
    "and",
    "can you",
    "could you",
    "would you",
    "will you",
    "would you mind",
    "mind",
    "telling me",
    "tell me what",
    "remind me",
    "remind me of",
    "show me",
    "give me",
    "let me know",
    "let me see",
    "list",
    "do you know",
    "do you remember",
    "i would like to know",
    "i would like to see",
    "i want to know",
    "i wonder",
    "show",
    "display",
    "give us",
    "be kind and",
    "good morning",
    "morning",
    "quick question",
    "peux tu",
    "est ce que tu peux",
];

/// The words of `question`, so many of them at most.
pub(super) fn words(question: &str, most: usize) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    for at in spans(question).into_iter().take(most) {
        for text in written_out(&folded(&question[at.clone()])) {
            if !FILLING.contains(&text.as_str()) {
                found.push(Word { text, at: at.clone(), is_translated: false });
            }
        }
    }
    let mut found = in_english(found);
    for word in &mut found {
        word.text = meant(std::mem::take(&mut word.text));
    }
    let begins = |words: &[Word], start: &str| {
        let n_start = start.split(' ').count();
        (n_start < words.len()
            && words.iter().zip(start.split(' ')).all(|(word, polite)| word.text == polite))
        .then_some(n_start)
    };
    while let Some(n_polite) = POLITE.iter().filter_map(|start| begins(&found, start)).max() {
        found.drain(..n_polite);
    }
    found
}

/// Where words stand: at hyphens and apostrophes, too, one ends.
fn spans(question: &str) -> Vec<Range<usize>> {
    let is_inner = |c: char| matches!(c, '.' | '_' | '/' | ':' | '@' | '#' | '+');
    let mut found = Vec::new();
    let mut start = None;
    // An apostrophe stays in an English contraction (`what's`), and parts French words (`l'attente`).
    for (at, c) in question.char_indices().chain([(question.len(), ' ')]) {
        let is_apostrophe = matches!(c, '\'' | '’' | '‘');
        let is_french = || is_apostrophe && start.is_some_and(|start| is_elided(&question[start..at]));
        // The hyphens of a date join it.
        let is_date =
            || c == '-' && start.is_some() && question[..at].ends_with(|c: char| c.is_ascii_digit());
        let goes_on = c.is_alphanumeric()
            || is_date()
            || is_inner(c)
            || is_apostrophe && start.is_some() && !is_french();
        match (goes_on, start) {
            (true, None) if c.is_alphanumeric() => start = Some(at),
            (false, Some(from)) => {
                let ends_with = |c: char| is_inner(c) || matches!(c, '\'' | '’' | '‘' | '-');
                found.push(from..from + question[from..at].trim_end_matches(ends_with).len());
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// French words that lose their last letter.
fn is_elided(word: &str) -> bool {
    let word = word.to_lowercase();
    ["l", "d", "j", "c", "n", "m", "t", "s", "qu", "jusqu", "lorsqu", "aujourd"].contains(&word.as_str())
}

/// Small letters without accents, plain apostrophes.
fn folded(word: &str) -> String {
    let plain = |c: char| match c {
        'à' | 'á' | 'â' | 'ä' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'î' | 'ï' | 'í' => 'i',
        'ô' | 'ö' | 'ó' => 'o',
        'ù' | 'û' | 'ü' | 'ú' => 'u',
        'ç' => 'c',
        '’' | '‘' => '\'',
        c => c,
    };
    word.to_lowercase().chars().map(plain).collect()
}

/// The words that a contraction stands for.
fn written_out(word: &str) -> Vec<String> {
    let split = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    if let Some((_, out)) = WRITTEN_OUT.iter().find(|(short, _)| *short == word) {
        return split(out);
    }
    let Some((stem, end)) = word.split_once('\'') else { return vec![word.to_owned()] };
    const ASKING: [&str; 10] = ["what", "where", "how", "who", "when", "why", "that", "it", "there", "here"];
    match end {
        "s" if ASKING.contains(&stem) => split(&format!("{stem} is")),
        "d" if ASKING.contains(&stem) => split(&format!("{stem} did")),
        "d" => split(&format!("{stem} would")),
        "re" => split(&format!("{stem} are")),
        "ve" => split(&format!("{stem} have")),
        "m" => split(&format!("{stem} am")),
        "ll" => split(&format!("{stem} will")),
        "t" if stem.ends_with('n') => split(&format!("{} not", stem.trim_end_matches('n'))),
        _ => vec![stem.to_owned()],
    }
}

/// The word of the rules that was meant by one with a slip of the finger: one letter too many, too few, wrong, or in the
/// place of its neighbour, but not the first.
fn meant(word: String) -> String {
    const SHORTEST: usize = 6;
    const SHORT: [&str; 3] = ["where", "which", "what"];
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let known = || {
        let rules = RULES.iter().flat_map(|(_, patterns)| patterns.iter());
        let texts = rules.copied().chain(CLASSES.iter().map(|(_, words)| *words));
        texts.flat_map(|text| text.split([' ', '|', '?', '&'])).filter(|known| !known.starts_with(['@', '~']))
    };
    let is_known = known().any(|known| match known.strip_suffix('~') {
        Some(stem) => word.starts_with(stem),
        None => known == word,
    });
    if is_known || COMMON.contains(&word.as_str()) {
        return word;
    }
    let is_telling = |known: &&str| SHORTEST <= known.len() || SHORT.contains(known);
    // That something is one or several is no slip.
    let singular = |text: &str| text.trim_end_matches('s').len();
    let near = known()
        .filter(|known| word[..singular(&word)] != known[..singular(known)])
        .filter(|known| is_telling(known) && !known.ends_with('~'))
        .find(|known| known.as_bytes()[0] == word.as_bytes()[0] && is_slip(&word, known));
    near.map_or(word, str::to_owned)
}

/// Words that are near to one of the rules, and are meant as they stand.
const COMMON: [&str; 13] = [
    "march", "there", "were", "here", "when", "that", "wheat", "whom", "whale", "stages", "seasons",
    "fished", "reviews",
];

/// Whether one slip makes `typed` of `meant`; both are ASCII.
fn is_slip(typed: &str, meant: &str) -> bool {
    let (typed, meant) = (typed.as_bytes(), meant.as_bytes());
    let n_same = typed.iter().zip(meant).take_while(|(one, other)| one == other).count();
    let (typed, meant) = (&typed[n_same..], &meant[n_same..]);
    match (typed, meant) {
        ([], [_]) | ([_], []) => true,
        ([a, b, rest @ ..], [c, d, other @ ..]) if a == d && b == c && rest == other => true,
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        _ => !typed.is_empty() && &typed[1..] == meant || !meant.is_empty() && typed == &meant[1..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_becomes_words() {
        let check = |question: &str, expected: &str| {
            let found: Vec<String> = words(question, 99).into_iter().map(|word| word.text).collect();
            assert_eq!(found.join(" "), expected, "{question}");
        };
        check("Hey, where'd I leave this?!", "where did i leave this");
        check("whats left b4 lunch", "what is left before lunch");
        check("Où en étais-je ?", "ou en etais je");
        check("qu'est-ce que j'ai fait aujourd'hui", "qu est ce que j ai fait aujourd hui");
        check("Could you please show me how I deploy?", "how i deploy");
        check("whre was i", "where was i");
        check("anything unfinshed in src/pool.rs:42?", "anything unfinished in src/pool.rs:42");
        check("it isn't done, don't you think", "it is not done do not you think");
        check("there were these tests", "there were these tests");
        check("连接池为什么会等待", "连接池 why did 会等待");
    }
}
