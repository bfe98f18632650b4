//! What a session came to, in the words of the agent's closing accounts.
//!
//! Agents end a task with an account of it: a sentence, or a heading and a list. Its points are
//! quoted, without layout, praise and offers. What an account claims is held against what the
//! transcript shows (`claims`): a claim that a check contradicts is left out.

use std::sync::LazyLock;

use chronicle_core::thread::Gist;

use crate::words::{n_words, sentences};

mod claims;
mod deeds;
mod layout;
mod summary;

pub(crate) use claims::Shown;
pub(crate) use deeds::deeds;
pub(crate) use summary::{about, names, summary, went};

use layout::{Line, lines};

/// How many items are named with the line above them.
const MOST_BELOW: usize = 4;

/// How many points of one account are looked at.
const MOST_POINTS: usize = 40;

/// What a point of an account is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A heading that says something of the work.
    Heading,
    /// Something that was done: `Added a limit to the pool`.
    Deed,
    /// Why something was so, or how it is now.
    Finding,
    /// How tests, lints and builds went.
    State,
    /// Any other statement.
    Other,
}

/// One thing that an account says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) sort: Sort,
    pub(crate) words: String,
    /// Whether it is an item of a list.
    pub(crate) is_item: bool,
}

/// The points of an account, in their order.
pub(crate) fn points(text: &str) -> Vec<Point> {
    let mut found: Vec<Point> = Vec::new();
    let mut above = Above::Nothing;
    for line in lines(text) {
        if MOST_POINTS <= found.len() {
            break;
        }
        match line {
            Line::Heading(words) => {
                above = if is_for_later(&words) { Above::Later } else { Above::Nothing };
                if let Some(words) = telling_heading(&words).filter(|_| above != Above::Later) {
                    found.push(Point { sort: Sort::Heading, words, is_item: false });
                }
            }
            Line::Item { .. } if above == Above::Later => {}
            Line::Item { words, is_nested } => item(&words, is_nested, &mut above, &mut found),
            Line::Text(words) => {
                above = if is_for_later(&words) { Above::Later } else { Above::Nothing };
                if above == Above::Later && (words.ends_with(':') || begins_with_option(&words)) {
                    continue;
                }
                found.extend(own_sentences(&words).filter_map(|sentence| point(sentence, false)));
                if words.ends_with(':') && above == Above::Nothing {
                    above = Above::label(&words, false, &mut found);
                }
            }
        }
    }
    found
}

/// What the items of a list belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    Nothing,
    /// `Next steps:`, `You can:`: what is below was not done.
    Later,
    /// `Removed:`: the point that its items are added to.
    Label {
        index: usize,
        n_items: usize,
        is_item: bool,
    },
    /// A label that says nothing itself: the items below it do.
    Mute,
}

impl Above {
    /// What a line that ends in a colon is to the items below it: its point is the last one, if it has one.
    fn label(words: &str, is_item: bool, found: &mut Vec<Point>) -> Self {
        let last = sentences(words).last().unwrap_or_default();
        let own = without_joint(without_opening(last));
        if !begins_with_deed(own) {
            return Self::Mute;
        }
        let own = capitalized(own);
        if found.last().is_none_or(|last| last.words != own) {
            found.push(Point { sort: Sort::Deed, words: own, is_item });
        }
        Self::Label { index: found.len() - 1, n_items: 0, is_item }
    }
}

fn item(words: &str, is_nested: bool, above: &mut Above, found: &mut Vec<Point>) {
    if let Above::Label { is_item: true, .. } = above
        && !is_nested
    {
        *above = Above::Nothing;
    }
    match *above {
        Above::Label { index, n_items, is_item } if !begins_with_deed(without_place(words)) => {
            if n_items < MOST_BELOW {
                let joint = if n_items == 0 { ": " } else { ", " };
                let name = name_of_item(words);
                found[index].words.push_str(&format!("{joint}{name}"));
            }
            *above = Above::Label { index, n_items: n_items + 1, is_item };
        }
        // Below an item, without a label, stand its details.
        Above::Nothing if is_nested => {}
        _ => {
            found.extend(point(first_of(words), true));
            if words.ends_with(':') {
                *above = Above::label(words, true, found);
            }
        }
    }
}

/// What an item is about, without what it says of it.
fn name_of_item(words: &str) -> &str {
    let end = [": ", " — ", " – ", " - ", " ("].iter().filter_map(|mark| words.find(mark)).min();
    let name = &words[..end.unwrap_or(words.len())];
    first_of(name).trim_end_matches(['.', ':'])
}

/// `Option 2 is simpler`.
fn begins_with_option(words: &str) -> bool {
    let mut all = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    all.next()
        .is_some_and(|word| ["option", "approach", "alternative"].contains(&word.to_lowercase().as_str()))
        && all.next().is_some_and(|word| word.len() == 1)
}

/// Whether what stands below such a line was not done, or is no statement of the work.
fn is_for_later(words: &str) -> bool {
    const OPEN: [&str; 45] = [
        "next",
        "remaining",
        "todo",
        "to do",
        "not done",
        "not yet",
        "follow",
        "option",
        "recommend",
        "suggest",
        "you ",
        "your ",
        "manual step",
        "if you",
        "to test",
        "to verify",
        "usage",
        "for example",
        "example",
        "alternativ",
        "proposed",
        "would you",
        "should ",
        "do you",
        "questions",
        "known gaps",
        "skipped",
        "before",
        "offen",
        "noch offen",
        "noch zu tun",
        "nächste schritte",
        "ausstehend",
        "reste à",
        "il reste",
        "à faire",
        "prochaines étapes",
        "pendiente",
        "待办",
        "剩余",
        "下一步",
        "未完成",
        "残り",
        "今後",
        "未対応",
    ];
    let lower = words.to_lowercase();
    let last = sentences(&lower).last().unwrap_or_default().to_owned();
    OPEN.iter().any(|open| lower.starts_with(open) || last.starts_with(open) && last.ends_with(':'))
}

/// The sentences of a line that are the agent's own: not those in a quotation, and not what something else says.
fn own_sentences(line: &str) -> impl Iterator<Item = &str> {
    const REPORTS: [&str; 10] = [
        " says ",
        " says: ",
        " says, ",
        " said ",
        " said: ",
        " states ",
        " states: ",
        " reads: ",
        " tells me ",
        " told me ",
    ];
    let mut n_marks = 0;
    sentences(line).filter(move |sentence| {
        let before = n_marks;
        n_marks += sentence.chars().filter(|c| matches!(c, '"' | '“' | '”' | '„')).count();
        let is_quoted = before % 2 == 1 || n_marks % 2 == 1;
        let lower = sentence.to_lowercase();
        !is_quoted && !REPORTS.iter().any(|report| lower.contains(report))
    })
}

fn point(sentence: &str, is_item: bool) -> Option<Point> {
    let words = without_opening(sentence);
    let sort = sort(words)?;
    Some(Point { sort, words: capitalized(without_joint(words)), is_item })
}

/// Words that announce a list, without what only joins it to them: `Changed the pool to:` says `Changed the pool`.
fn without_joint(words: &str) -> &str {
    const JOINTS: [&str; 14] = [
        "to",
        "with",
        "for",
        "in",
        "of",
        "as",
        "that",
        "including",
        "by",
        "the",
        "are",
        "is",
        "that documents",
        "that includes",
    ];
    let Some(mut words) = words.strip_suffix([':', '：']) else { return words };
    while let Some(rest) = JOINTS.iter().find_map(|joint| words.strip_suffix(joint)?.strip_suffix(' ')) {
        words = rest;
    }
    words
}

/// What a sentence is; none for chatter, offers, questions and announcements.
fn sort(words: &str) -> Option<Sort> {
    if n_words(words) < 2 || words.ends_with(['?', '？']) || is_chatter(words) || is_trifle(words) {
        return None;
    }
    let lower = words.to_lowercase();
    if claims::is_state(&lower) {
        return Some(Sort::State);
    }
    if begins_with_deed(without_place(words)) {
        return Some(Sort::Deed);
    }
    // `The following files are new:` says nothing without them.
    if words.ends_with([':', '：']) && n_words(words) < 6 {
        return None;
    }
    const FINDINGS: [&str; 22] = [
        "root cause",
        "the cause ",
        "the issue ",
        "the problem",
        "the bug ",
        "the fix ",
        "the change ",
        "problem:",
        "cause:",
        "solution:",
        "because ",
        "caused by",
        "turned out",
        "turns out",
        " now ",
        " no longer ",
        "was missing",
        "was never",
        "were never",
        "wasn't ",
        "weren't ",
        "instead of",
    ];
    Some(if FINDINGS.iter().any(|mark| lower.contains(mark)) { Sort::Finding } else { Sort::Other })
}

/// What is said of the file or the matter that stands before it: `pool.rs: Added a limit`, `Bug fix: Closed the pool`.
fn without_place(words: &str) -> &str {
    match [": ", " — ", " - "].iter().find_map(|mark| words.split_once(mark)) {
        Some((place, rest)) if place.split_whitespace().count() <= 3 => rest,
        _ => words,
    }
}

/// Whether words say only that something is over, or name what every change has.
fn is_trifle(words: &str) -> bool {
    const ENDS: [&str; 12] = [
        "complete",
        "completed",
        "done",
        "straightforward",
        "ready",
        "finished",
        "resolved",
        "fixed",
        "correct",
        "addressed",
        "applied",
        "implemented",
    ];
    let lower = words.to_lowercase();
    let lower = lower.trim_end_matches(['.', '!', ':']);
    let n_words = n_words(lower);
    let is_about_imports = n_words <= 6 && lower.contains("import");
    let is_of_git =
        ["committed", "pushed", "commit ", "committing"].iter().any(|start| lower.starts_with(start));
    let only_ends = n_words <= 7 && !lower.contains('`') && ENDS.iter().any(|end| lower.ends_with(end));
    is_about_imports || is_of_git && n_words <= 5 || only_ends || n_particular(lower) == 0
}

/// Whether words only talk: they greet, praise, announce or offer.
fn is_chatter(words: &str) -> bool {
    const BEGINNINGS: [&str; 62] = [
        "perfect",
        "great",
        "excellent",
        "good ",
        "nice",
        "awesome",
        "done",
        "all done",
        "sure",
        "okay",
        "ok,",
        "ok.",
        "yes",
        "no,",
        "no.",
        "clean",
        "fixed.",
        "pushed.",
        "let me",
        "let's",
        "now let",
        "now i",
        "i'll ",
        "i will ",
        "i can ",
        "i could",
        "i would",
        "i'd ",
        "i need",
        "i'm going",
        "i should",
        "here's",
        "here is",
        "here are",
        "would you",
        "want me",
        "do you",
        "should i",
        "shall i",
        "if you",
        "feel free",
        "you can ",
        "you could",
        "you may",
        "you might",
        "you'll ",
        "you're ",
        "thanks",
        "thank you",
        "sorry",
        "note:",
        "note that",
        "next step",
        "ready ",
        "this means",
        "this way",
        "that way",
        "for example",
        "e.g.",
        "see ",
        "is there",
        "it looks like",
    ];
    let lower = words.to_lowercase();
    let is_short = n_words(words) <= 4;
    BEGINNINGS.iter().any(|start| {
        lower.starts_with(start)
            // `Perfect` and `Done` are chatter alone; a sentence that goes on has something to say.
            && (is_short || !matches!(*start, "done" | "all done" | "clean" | "good " | "yes" | "ready "))
    }) || lower.contains("summary of what")
        || lower.contains("what was done")
        || lower.contains("what i did")
        || lower.contains("what changed")
        || lower.starts_with("summary of")
        || lower.contains("summary of the changes")
        || lower.contains("let me know")
        || lower.starts_with("all ") && lower.contains(" addressed") && n_words(words) <= 4
}

/// A sentence without `Done.`-like openings: `I've successfully removed x` says `Removed x`.
fn without_opening(sentence: &str) -> &str {
    const OPENINGS: [&str; 30] = [
        "i've successfully ",
        "i have successfully ",
        "i've also ",
        "i have also ",
        "i've now ",
        "i've ",
        "i have ",
        "i also ",
        "i just ",
        "i ",
        "we've ",
        "we have ",
        "we also ",
        "we ",
        "successfully ",
        "also ",
        "done - ",
        "done — ",
        "done: ",
        "summary: ",
        "in summary, ",
        "in short, ",
        "finally, ",
        "so ",
        "the fix was ",
        "changes: ",
        "result: ",
        "overview: ",
        "tl;dr: ",
        "yes, ",
    ];
    let mut words = without_agent(sentence.trim());
    'again: loop {
        for opening in OPENINGS {
            let Some(head) = words.get(..opening.len()) else { continue };
            if !head.eq_ignore_ascii_case(opening) {
                continue;
            }
            let rest = without_adverb(&words[opening.len()..]);
            // `I ` is an opening before a deed only: `I think so` stays what it is.
            if opening.starts_with(['i', 'w']) && opening.ends_with(' ') && !begins_with_deed(rest) {
                continue;
            }
            words = rest;
            continue 'again;
        }
        return words;
    }
}

/// `The review agent successfully removed x` says `removed x`.
fn without_agent(words: &str) -> &str {
    let Some(rest) = words.strip_prefix("The ") else { return words };
    let after = ["agent ", "subagent ", "sub-agent "].iter().find_map(|agent| {
        let at = rest.find(agent).filter(|at| *at == 0 || rest[..*at].ends_with(' '))?;
        (rest[..at].split_whitespace().count() <= 2).then(|| &rest[at + agent.len()..])
    });
    let after = after.map(|after| without_adverb(after.strip_prefix("has ").unwrap_or(after)));
    after.filter(|after| begins_with_deed(after)).unwrap_or(words)
}

fn without_adverb(words: &str) -> &str {
    const ADVERBS: [&str; 6] = ["successfully ", "completely ", "fully ", "also ", "now ", "just "];
    ADVERBS.iter().find_map(|adverb| words.strip_prefix(adverb)).unwrap_or(words)
}

/// Whether words begin with what was done, in the past tense.
pub(crate) fn begins_with_deed(words: &str) -> bool {
    const IRREGULAR: [&str; 22] = [
        "made", "wrote", "ran", "found", "set", "split", "built", "rebuilt", "sent", "kept", "put", "cut",
        "got", "rewrote", "took", "undid", "brought", "reran", "re-ran", "overrode", "drew", "chose",
    ];
    const NONE: [&str; 25] = [
        "based",
        "needed",
        "expected",
        "unused",
        "related",
        "red",
        "embedded",
        "nested",
        "shared",
        "required",
        "indeed",
        "speed",
        "feed",
        "seed",
        "need",
        "unchanged",
        "unrelated",
        "supposed",
        "given",
        "limited",
        "detailed",
        "proposed",
        "completed",
        "stored",
        "located",
    ];
    let first = words.split_whitespace().next().unwrap_or_default().trim_end_matches([':', ',']);
    let lower = first.to_ascii_lowercase();
    // `date-prefixed` says how something is.
    let bare = lower.strip_prefix("re-").unwrap_or(&lower);
    let is_word = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word
        && (IRREGULAR.contains(&lower.as_str())
            || 4 < lower.len() && lower.ends_with("ed") && !NONE.contains(&lower.as_str()))
}

/// A heading that names the work, without the word that every account has.
fn telling_heading(words: &str) -> Option<String> {
    const WORDS: [&str; 40] = [
        "summary",
        "changes",
        "change",
        "made",
        "overview",
        "verification",
        "implementation",
        "testing",
        "tests",
        "test",
        "results",
        "result",
        "files",
        "file",
        "changed",
        "modified",
        "notes",
        "note",
        "next",
        "steps",
        "details",
        "key",
        "features",
        "final",
        "done",
        "complete",
        "completed",
        "status",
        "of",
        "the",
        "what",
        "was",
        "issue",
        "issues",
        "problem",
        "fix",
        "solution",
        "before",
        "after",
        "why",
    ];
    let words = words
        .split_once(": ")
        .filter(|(head, _)| head.split_whitespace().all(|word| WORDS.contains(&word.to_lowercase().as_str())))
        .map_or(words, |(_, rest)| rest);
    // `Why it fails`, `What we change` announce an explanation.
    let first = words.split_whitespace().next().unwrap_or_default().to_lowercase();
    let explains = ["what", "why", "how", "when", "where", "the"].contains(&first.as_str());
    let n_telling = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !word.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|word| !WORDS.contains(&word.to_lowercase().as_str()))
        .count();
    (2 <= n_telling && !words.ends_with('?') && !explains).then(|| capitalized(words))
}

/// How many words name something in particular.
pub(crate) fn n_particular(words: &str) -> usize {
    particular(words).count()
}

/// The words that name something in particular, rather than what any work is about.
pub(crate) fn particular(words: &str) -> impl Iterator<Item = Gist> {
    const GENERAL: &str = "change changes branch code feedback issue test tests problem error plan comment thing file \
        directory folder content contents commit review check look add added fix fixed update updated remove removed \
        make made use used create created write wrote implement implemented follow work need want not but everything \
        above on both again them here failure these its his her their function method class helper helpers existing \
        task tasks done complete completed all two three four five following several some other others things cleaned \
        up that referenced";
    static GENERAL_KEYS: LazyLock<Gist> = LazyLock::new(|| Gist::of(GENERAL));
    Gist::of(words)
        .words()
        .map(Gist::of)
        .filter(|word| !word.has_word_of(&GENERAL_KEYS))
        .collect::<Vec<_>>()
        .into_iter()
}

fn first_of(words: &str) -> &str {
    sentences(words).next().unwrap_or_default()
}

pub(crate) fn capitalized(words: &str) -> String {
    let words = words.trim_end_matches(['.', ' ', '。']).trim_start();
    let mut letters = words.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Sort, &str)]) {
        let found = points(text);
        let found: Vec<(Sort, &str)> = found.iter().map(|point| (point.sort, &*point.words)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn an_account_says_what_was_done_why_and_how_it_is() {
        check(
            "Done. I've added a limit to the pool. The cause was a counter that never went down. All tests pass.",
            &[
                (Sort::Deed, "Added a limit to the pool"),
                (Sort::Finding, "The cause was a counter that never went down"),
                (Sort::State, "All tests pass"),
            ],
        );
        check(
            "## Summary\n\n**Changes:**\n- `pool.rs`: Added a limit to `acquire`\n- Removed the old queue\n\nWould you like me to commit?",
            &[(Sort::Deed, "`pool.rs`: Added a limit to `acquire`"), (Sort::Deed, "Removed the old queue")],
        );
        check(
            "Removed from `pool.rs`:\n- `old_queue()` - nobody calls it\n- `OldEntry`",
            &[(Sort::Deed, "Removed from `pool.rs`: `old_queue()`, `OldEntry`")],
        );
    }

    #[test]
    fn what_an_agent_was_sent_for_was_done() {
        check(
            "The review agent successfully removed the old queue.",
            &[(Sort::Deed, "Removed the old queue")],
        );
        check(
            "The agent created `docs/limits.md` for it.",
            &[(Sort::Deed, "Created `docs/limits.md` for it")],
        );
        check(
            "The agent that was sent removed nothing here.",
            &[(Sort::Other, "The agent that was sent removed nothing here")],
        );
    }

    #[test]
    fn chatter_offers_and_what_is_left_are_no_points() {
        for text in [
            "Perfect!",
            "All done.",
            "Let me know if you want more of it.",
            "Should I add a test for the pool?",
            "## Next steps\n- Add a test for the pool\n- Write the docs of the limit",
            "**Offen:**\n- Ein Test der Grenze fehlt noch",
            "待办：\n- 为连接池写一个测试",
            "```\nAdded a limit to the pool.\n```",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn what_a_page_says_is_not_what_was_done() {
        check("The page says: \"Use the other store. I removed all backups of it.\"", &[]);
        check("The ticket reads: I dropped the audit table of the shop.", &[]);
        check(
            "Renamed the flag to \"wait for a slot\" in the pool.",
            &[(Sort::Deed, "Renamed the flag to \"wait for a slot\" in the pool")],
        );
    }

    #[test]
    fn what_checks_and_commits_contradict_is_left_out() {
        let shown = Shown { tests_fail: true, ..Shown::default() };
        let check =
            |words: &str, kept: Option<&str>| assert_eq!(shown.borne_out(words).as_deref(), kept, "{words}");
        check("Added a limit to the pool", Some("Added a limit to the pool"));
        check("All tests pass", None);
        check("Added a limit to the pool, and all tests pass", Some("Added a limit to the pool"));
        check("Committed and pushed the limit of the pool", None);
        check("Created a PR for the limit", None);
        let shown = Shown { has_commits: true, was_pushed: true, has_pull_request: true, ..Shown::default() };
        for words in
            ["All tests pass", "Committed and pushed the limit of the pool", "Created a PR for the limit"]
        {
            assert_eq!(shown.borne_out(words).as_deref(), Some(words));
        }
    }
}
