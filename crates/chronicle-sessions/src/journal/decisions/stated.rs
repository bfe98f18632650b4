//! Sentences in which a human decides something about the work.

use super::LONGEST;
use crate::words::typed::typed;
use crate::words::{begins_with_work, n_words, plain, sentences, shortened};

/// The fewest and the most words of such a sentence.
const WORDS: std::ops::RangeInclusive<usize> = 3..=40;

/// A prompt with more sentences than this describes something: only what is decided in so many words counts.
const MOST_SENTENCES: usize = 6;

/// The sentences of a prompt, as far as its human typed them, in which something is decided.
pub(super) fn decided(prompt: &str) -> Vec<String> {
    let sentences = typed(prompt);
    let is_short = sentences.len() <= MOST_SENTENCES;
    let is_one = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        is_told(&lower) && (is_clear(&lower) || is_short && is_rule(&lower))
    };
    sentences.into_iter().filter(is_one).map(|sentence| shortened(sentence, LONGEST)).collect()
}

/// What a human said who turned a call down: what to do instead, also as a polite question.
pub(super) fn instead(words: &str) -> Vec<String> {
    const ASKING: [&str; 16] = [
        "can you ",
        "can we ",
        "could you ",
        "could we ",
        "can't we ",
        "couldn't we ",
        "shouldn't we ",
        "why not ",
        "why don't we ",
        "how about ",
        "what about ",
        "any chance ",
        "would you ",
        "please ",
        "shall we ",
        "should we ",
    ];
    const IDLE: [&str; 24] = [
        "i think ",
        "it ",
        "it's ",
        "this ",
        "that ",
        "there ",
        "these ",
        "they ",
        "i'll ",
        "i will ",
        "let me ",
        "wait",
        "hold on",
        "stop",
        "sorry",
        "never mind",
        "nevermind",
        "thanks",
        "i want to ",
        "i need to ",
        "i'm ",
        "what ",
        "why ",
        "how ",
    ];
    let told = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        let lower = without_beginning(&lower);
        if lower.ends_with('?') {
            return ASKING.iter().any(|start| lower.starts_with(start)) && 4 <= n_words(lower);
        }
        let is_idle = IDLE.iter().any(|start| lower.starts_with(start)) || has_hash(lower);
        2 <= n_words(lower) && WORDS.end() >= &n_words(lower) && (!is_idle || is_clear(lower))
    };
    typed(words).into_iter().filter(told).map(|sentence| shortened(sentence, LONGEST)).collect()
}

/// The sentences of a plan in which one way is set against another.
pub(super) fn planned(plan: &str) -> Vec<String> {
    const MARKS: [&str; 5] = ["intentionally", "deliberately", "on purpose", " out of scope", " no need to "];
    let mut is_code = false;
    let mut found = Vec::new();
    for line in plan.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if is_code || line.trim_start().starts_with(['|', '>']) {
            continue;
        }
        for sentence in sentences(plain(line)) {
            let lower = sentence.to_lowercase();
            if (6..=40).contains(&n_words(&lower)) && MARKS.iter().any(|mark| lower.contains(mark)) {
                found.push(shortened(&sentence.replace("**", ""), LONGEST));
            }
        }
    }
    found
}

/// Whether a sentence says something rather than asks, supposes or tells.
fn is_told(lower: &str) -> bool {
    !lower.ends_with(['?', '？']) && !lower.starts_with("if ") && WORDS.contains(&n_words(lower))
}

/// Whether somebody chooses in so many words.
fn is_clear(lower: &str) -> bool {
    const MARKS: [&str; 18] = [
        "let's go with ",
        "lets go with ",
        "we'll go with ",
        "i'll go with ",
        "go with option ",
        "let's use ",
        "lets use ",
        "we'll use ",
        "i decided ",
        "we decided ",
        "i've decided ",
        "we've decided ",
        "single source of truth",
        "no need to ",
        "we don't need ",
        "we do not need ",
        "for now, only ",
        "let's not ",
    ];
    MARKS.iter().any(|mark| lower.contains(mark)) || is_joint(lower) || turns_down(lower)
}

/// `That is too much for the log`: what speaks against a way, as the human sees it.
fn turns_down(lower: &str) -> bool {
    const REASONS: [&str; 16] = [
        " is too much",
        " is to much",
        " is overkill",
        " too complicated",
        " too complex",
        " not worth ",
        " not feasible",
        " not really feasible",
        " is too big",
        " is to big",
        " is too risky",
        " too fragile",
        " too expensive",
        " makes no sense",
        " doesn't make sense",
        " not needed",
    ];
    REASONS.iter().any(|reason| lower.contains(reason))
}

/// Whether a word is the name of a commit, as in what a tool writes.
fn has_hash(lower: &str) -> bool {
    lower.split_whitespace().any(|word| {
        12 <= word.len()
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|b| b.is_ascii_digit())
    })
}

/// `Let's keep it simple`: more than to begin with something or to look at it.
fn is_joint(lower: &str) -> bool {
    const WORK: [&str; 52] = [
        "add",
        "remove",
        "rename",
        "set",
        "open",
        "have",
        "see",
        "look",
        "try",
        "start",
        "begin",
        "check",
        "review",
        "debug",
        "talk",
        "discuss",
        "explore",
        "brainstorm",
        "commit",
        "push",
        "run",
        "test",
        "go",
        "continue",
        "proceed",
        "do",
        "implement",
        "fix",
        "find",
        "figure",
        "think",
        "investigate",
        "get",
        "work",
        "move on",
        "plan",
        "write",
        "create",
        "make",
        "say",
        "clean",
        "deal",
        "take",
        "know",
        "update",
        "finish",
        "focus",
        "adjust",
        "build",
        "analyze",
        "analyse",
        "understand",
    ];
    let Some(at) = ["let's ", "lets ", "let us "].iter().find_map(|mark| {
        let at = lower.find(mark)?;
        let is_start = at == 0 || lower[..at].ends_with(' ');
        is_start.then_some(at + mark.len())
    }) else {
        return false;
    };
    let rest = lower[at..].trim_start_matches("just ").trim_start_matches("please ");
    let first = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    2 <= n_words(rest) && (!WORK.contains(&first) || chooses(rest))
}

/// Whether words say how something is to be, rather than that something is to be done.
fn is_rule(lower: &str) -> bool {
    let bare = without_beginning(lower);
    let bare = bare.strip_prefix("i think ").unwrap_or(bare);
    if ["keep in mind", "never mind", "keep going", "leave me"].iter().any(|start| bare.starts_with(start))
        || bare.contains("would be great")
        || has_hash(bare)
    {
        return false;
    }
    let is_use = ["use ", "just use ", "only ", "keep ", "leave ", "stick to ", "stick with ", "prefer "]
        .iter()
        .any(|start| bare.starts_with(start));
    let is_refusal = ["don't ", "do not ", "dont ", "never ", "no more "]
        .iter()
        .any(|start| bare.starts_with(start))
        && !["worry", "know", "think", "understand", "see", "forget", "get", "have", "care", "mind"]
            .iter()
            .any(|verb| bare.split(' ').nth(if bare.starts_with("do not") { 2 } else { 1 }) == Some(verb));
    let is_order = ["should ", "must ", "has to ", "have to ", "needs to ", "need to "]
        .iter()
        .any(|verb| bare.contains(verb));
    // `Make it wait instead of failing` is what the work is for.
    let is_task = bare.contains(" instead of ") && begins_with_work(bare) && !bare.starts_with("use ");
    let is_contrast = chooses_between(bare) && !begins_with_subject(bare) && !is_task;
    is_use || is_refusal || is_contrast || is_order && chooses(bare) || is_requirement(bare)
}

/// Whether a sentence sets one way against another, or bounds what is done.
fn chooses(lower: &str) -> bool {
    [
        " instead of ",
        " instead",
        " rather than ",
        ", not ",
        " and not ",
        " only ",
        " for now",
        " always ",
        " never ",
        " not be ",
        " separate",
        " completely",
        " entirely",
        " by default",
        " as well as ",
        " the same ",
        " without ",
    ]
    .iter()
    .any(|mark| format!(" {lower} ").contains(mark))
        || lower.trim_end_matches(['.', '!']).ends_with(" first")
}

/// Whether one way is set against another.
fn chooses_between(lower: &str) -> bool {
    [" instead of ", " rather than ", ", not ", " and not "].iter().any(|mark| lower.contains(mark))
}

/// Whether a sentence tells of somebody or something, rather than that something is to be done.
fn begins_with_subject(lower: &str) -> bool {
    const SUBJECTS: [&str; 28] = [
        "i", "you", "we", "he", "she", "it", "they", "this", "that", "these", "those", "there", "the", "a",
        "an", "my", "our", "your", "what", "why", "how", "when", "where", "which", "who", "is", "are",
        "consider",
    ];
    lower.split(|c: char| !c.is_alphanumeric()).next().is_some_and(|first| SUBJECTS.contains(&first))
}

/// `The cache should live in the pool`: how the thing that is built has to be, in the human's words.
fn is_requirement(bare: &str) -> bool {
    let Some(at) = [" should ", " must "].iter().filter_map(|verb| bare.find(verb)).min() else {
        return false;
    };
    let subject = &bare[..at];
    let is_thing = !["i", "you", "we", "it", "this", "that", "which", "what", "there"]
        .contains(&subject.split_whitespace().last().unwrap_or_default());
    // What should be removed is work, and how it is to work is decided.
    const WORK: [&str; 14] = [
        "removed",
        "added",
        "fixed",
        "updated",
        "renamed",
        "changed",
        "tested",
        "moved",
        "documented",
        "deleted",
        "replaced",
        "refactored",
        "corrected",
        "deduplicated",
    ];
    let verb = bare[at..].split_whitespace().skip(1);
    let is_work = verb.take(3).any(|word| WORK.contains(&word.trim_matches(|c: char| !c.is_alphanumeric())));
    is_thing && !is_work && (1..=10).contains(&subject.split_whitespace().count())
}

/// `lower` without what people say before they say what they want.
fn without_beginning(lower: &str) -> &str {
    const FILLERS: [&str; 21] = [
        "ok",
        "okay",
        "yes",
        "yeah",
        "no",
        "nope",
        "sure",
        "but",
        "and",
        "so",
        "also",
        "then",
        "please",
        "hmm",
        "well",
        "oh wait",
        "oh",
        "actually",
        "ah",
        "wondering now",
        "great",
    ];
    let mut rest = lower.trim();
    'again: loop {
        for filler in FILLERS {
            let Some(after) = rest.strip_prefix(filler) else { continue };
            if after.starts_with([' ', ',', ':', '.', '!', ';']) {
                rest = after.trim_start_matches([' ', ',', ':', '.', '!', ';']);
                continue 'again;
            }
        }
        return rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_told_and_a_request_is_none() {
        for told in [
            "Let's keep the old endpoint.",
            "use ISO dates instead of timestamps",
            "keep the cache in the pool, not in the client",
            "we don't need a retry here",
            "no need to support Windows 7",
            "I think two caches is overkill",
            "The limiter should count bytes.",
            "the worker must never hold the lock",
            "the schema is the single source of truth now",
            "only log in debug builds",
            "don't touch the migrations",
        ] {
            assert_eq!(decided(told), [told], "{told}");
        }
        for none in [
            "let's look at the pool",
            "Let's add a test",
            "let's debug the crash",
            "The helper should be removed.",
            "don't worry about it",
            "should we keep it?",
            "if it fails, use the other one instead of this",
            "never mind, go on",
            "make a full pool wait instead of failing",
            "keep in mind that it only runs at night",
            "It only fails at night",
            "the build fails, not the tests",
            "add a test for the pool",
            "c'est trop lent, on ne garde que le cache",
            "benutze nur den alten Weg",
            "不要用缓存",
            "キャッシュは使わないでください",
        ] {
            assert_eq!(decided(none), [] as [&str; 0], "{none}");
        }
    }

    #[test]
    fn words_on_a_call_that_was_turned_down_say_what_to_do_instead() {
        let check = |words: &str, told: &[&str]| assert_eq!(instead(words), told, "{words}");
        check("rebase first", &["rebase first"]);
        check("can we use the shared helper?", &["can we use the shared helper?"]);
        check("we don't need that test", &["we don't need that test"]);
        check("does this run on CI?", &[]);
        check("I think the error is elsewhere", &[]);
        check("wait", &[]);
        check("commit 5f0c2d9ab1f3e4d5", &[]);
        check("```\nuse the shared helper\n```", &[]);
    }

    #[test]
    fn a_plan_decides_what_it_leaves_out_on_purpose() {
        let plan = "# Wait for a slot\n\n- The pool intentionally has no queue of its own.\n```\n// intentionally left out of this\n```\nAdd a test.";
        assert_eq!(planned(plan), ["The pool intentionally has no queue of its own."]);
    }
}
