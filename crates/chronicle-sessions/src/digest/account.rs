//! What a session came to, in the words of the agent's closing accounts.
//!
//! Agents end a task with an account of it: a sentence, or a heading and a list. Its points are
//! quoted, without layout, praise and offers. What an account claims is held against what the
//! transcript shows (`claims`): a claim that a check contradicts is left out.

pub(crate) use crate::words::particular::n_particular;
use crate::words::{n_words, sentences};

mod claims;
mod deeds;
mod layout;
mod summary;

pub(crate) use claims::Shown;
pub(crate) use deeds::{deeds, names as code_names};
pub(crate) use summary::{about, diagnosis, names, summary, went};

use layout::{Line, lines};

/// How many items are named with the line above them.
const MOST_BELOW: usize = 4;

/// How many items are named with a sentence that leads in to them.
const MOST_LED_TO: usize = 3;

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
    points_of(&lines(text))
}

fn points_of(lines: &[Line]) -> Vec<Point> {
    let mut found: Vec<Point> = Vec::new();
    let mut above = Above::Nothing;
    // Points that only lead in to a list, until one of its items is named with them.
    let mut bare: Vec<usize> = Vec::new();
    // Whether the first item of the list at hand was indented: then those that are as far in are no details of others.
    let mut is_indented: Option<bool> = None;
    for line in lines {
        if !matches!(line, Line::Item { .. }) {
            is_indented = None;
        }
        if MOST_POINTS <= found.len() {
            break;
        }
        match line {
            Line::Heading { words, .. } => {
                above = Above::below(words);
                if let Some(words) = telling_heading(words).filter(|_| above == Above::Nothing) {
                    found.push(Point { sort: Sort::Heading, words, is_item: false });
                }
            }
            Line::Item { .. } if matches!(above, Above::Later | Above::Cases) => {}
            Line::Item { words, is_nested, .. } => {
                let is_as_far_in = *is_indented.get_or_insert(*is_nested);
                let is_nested = *is_nested && !is_as_far_in;
                if let Above::LeadIn { index, n_items } = above
                    && !is_nested
                {
                    bare.retain(|lead_in| *lead_in != index);
                    if n_items < MOST_LED_TO {
                        let joint = if n_items == 0 { ": " } else { ", " };
                        found[index].words.push_str(&format!("{joint}{}", name_of_item(words)));
                    }
                    above = Above::LeadIn { index, n_items: n_items + 1 };
                }
                let n_before = found.len();
                item(words, is_nested, &mut above, &mut found);
                if let Above::Label { index, n_items, .. } = above {
                    match n_items {
                        0 if n_before <= index && is_bare(&found[index].words) => bare.push(index),
                        0 => {}
                        _ => bare.retain(|label| *label != index),
                    }
                }
            }
            Line::Text(words) => {
                above = Above::below(words);
                let is_other = matches!(above, Above::Later | Above::Cases);
                if is_other && (words.ends_with(':') || begins_with_option(words)) {
                    continue;
                }
                found.extend(own_sentences(words).filter_map(|sentence| point(sentence, false)));
                if words.ends_with(':') && above == Above::Nothing {
                    above = Above::label(words, false, &mut found);
                    match above {
                        Above::LeadIn { index, .. } => bare.push(index),
                        Above::Label { index, .. } if is_bare(&found[index].words) => bare.push(index),
                        _ => {}
                    }
                }
            }
        }
    }
    let mut index = 0;
    found.retain(|_| {
        index += 1;
        !bare.contains(&(index - 1))
    });
    found
}

/// What an account says first, and the heads of its numbered list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Opening {
    pub(crate) first: Option<Point>,
    pub(crate) heads: Vec<String>,
}

/// How an account begins: with a sentence on all of it, or with a numbered list whose heads name its parts.
pub(crate) fn opening(text: &str) -> Opening {
    let lines = lines(text);
    let mut opening = Opening::default();
    let mut is_other = false;
    let mut is_below = false;
    for line in &lines {
        match line {
            Line::Heading { words, is_numbered } => {
                is_other = Above::below(words) != Above::Nothing;
                if *is_numbered && !is_other && names_work(words) {
                    opening.heads.push(capitalized(words));
                }
            }
            Line::Item { head, .. } => {
                is_below = true;
                if let Some(head) = head.as_deref().filter(|head| !is_other && names_work(head)) {
                    opening.heads.push(capitalized(head));
                }
            }
            Line::Text(words) => {
                is_other = Above::below(words) != Above::Nothing;
                if opening.first.is_none() && !is_below && !is_other && !words.ends_with(':') {
                    let says = |point: &Point| point.sort != Sort::State && 2 <= n_particular(&point.words);
                    opening.first = own_sentences(words).filter_map(|one| point(one, false)).find(says);
                }
            }
        }
    }
    if opening.heads.len() < 2 {
        opening.heads.clear();
    }
    opening
}

/// Whether the head of an item says what was done: names of files and of matters make no sentence together.
fn names_work(head: &str) -> bool {
    !begins_with_option(head) && is_deed(head) && has_object(head)
}

/// What the items of a list belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    Nothing,
    /// `Next steps:`, `You can:`: what is below was not done.
    Later,
    /// `Test cases:`: what is below is what the tests try.
    Cases,
    /// `The merge brought two changes:`: the point that names its items, which say something themselves as well.
    LeadIn {
        index: usize,
        n_items: usize,
    },
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
    /// What a heading or a label makes of what is below it.
    fn below(words: &str) -> Self {
        match words {
            words if is_for_later(words) => Self::Later,
            words if is_of_cases(words) => Self::Cases,
            _ => Self::Nothing,
        }
    }

    /// What a line that ends in a colon is to the items below it: its point is the last one, if it has one.
    fn label(words: &str, is_item: bool, found: &mut Vec<Point>) -> Self {
        let last = sentences(words).last().unwrap_or_default();
        let own = match new_things(last) {
            Some(new) => new,
            None => without_joint(without_opening(last)).to_owned(),
        };
        if !begins_with_deed(&own) {
            let own = capitalized(&own);
            let is_lead_in = |last: &Point| !is_item && last.words == own && 4 <= n_words(&own);
            return match found.last().is_some_and(is_lead_in) {
                true => Self::LeadIn { index: found.len() - 1, n_items: 0 },
                false => Self::Mute,
            };
        }
        let own = capitalized(&own);
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
        // What stands below an item of a list is no item of the label above the list.
        Above::Label { is_item: false, .. } if is_nested => {}
        Above::Label { index, n_items, is_item } if !is_deed(without_place(words)) => {
            if n_items < MOST_BELOW {
                let joint = if n_items == 0 { ": " } else { ", " };
                let name = name_of_item(words);
                found[index].words.push_str(&format!("{joint}{name}"));
            }
            *above = Above::Label { index, n_items: n_items + 1, is_item };
        }
        // Below an item, without a label, stand its details.
        Above::Nothing | Above::LeadIn { .. } if is_nested => {}
        _ => {
            found.extend(point(first_of(words), true));
            if words.ends_with(':') {
                *above = Above::label(words, true, found);
            }
        }
    }
}

/// Whether a label says nothing without its list.
fn is_bare(words: &str) -> bool {
    !words.contains('`') && n_particular(words) < 3
}

/// `New files:` says that files were added.
fn new_things(label: &str) -> Option<String> {
    const NEW: [&str; 7] =
        ["new file", "new files", "new package", "new packages", "new test", "new tests", "files created"];
    let lower = label.trim_end_matches([':', ' ']).to_lowercase();
    NEW.contains(&lower.as_str()).then(|| match lower.as_str() {
        "files created" => "Added new files".to_owned(),
        lower => format!("Added {lower}"),
    })
}

/// Whether what stands below such a line is what tests try, or how something was checked.
fn is_of_cases(words: &str) -> bool {
    const MARKS: [&str; 8] = [
        "test coverage",
        "test cases",
        "coverage:",
        "edge cases",
        "verified:",
        "verification",
        "tests cover",
        "scenarios",
    ];
    let lower = words.to_lowercase();
    let is_label = n_words(&lower) <= 5 || lower.ends_with(':');
    is_label && MARKS.iter().any(|mark| lower.contains(mark))
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
    let offers =
        last.ends_with(':') && ["options", "ways to", "approaches"].iter().any(|offer| last.contains(offer));
    offers || OPEN.iter().any(|open| lower.starts_with(open) || last.starts_with(open) && last.ends_with(':'))
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
    let new = new_file(sentence);
    let words = new.as_deref().unwrap_or_else(|| without_opening(sentence));
    let sort = sort(words)?;
    Some(Point { sort, words: capitalized(without_joint(words)), is_item })
}

/// ``New file: `pool.rs` — waits`` says that it was added.
fn new_file(sentence: &str) -> Option<String> {
    const NEW: [&str; 5] = ["new file", "new package", "new test", "new command", "new helper"];
    let (head, rest) = sentence.split_once(": ")?;
    let lower = head.to_lowercase();
    let kind = NEW.iter().find(|kind| lower == **kind)?;
    let article = if *kind == "new file" { String::new() } else { format!("the {kind} ") };
    Some(format!("Added {article}{rest}"))
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
    let deed = if is_deed(words) { words } else { without_place(words) };
    if is_deed(deed) {
        return has_object(deed).then_some(Sort::Deed);
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

/// Whether words say what was done and changed something.
fn is_deed(words: &str) -> bool {
    begins_with_deed(words) && !is_idle_verb(words)
}

/// Whether what was done has an object that says something: `Fixed these` has none.
fn has_object(deed: &str) -> bool {
    let rest = deed.split_once(' ').map_or("", |(_, rest)| rest);
    const POINTERS: [&str; 9] = ["it", "this", "that", "these", "those", "them", "both", "in", "for"];
    let bare = |word: &&str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let told: Vec<&str> =
        rest.split_whitespace().filter(|word| !POINTERS.contains(&bare(word).as_str())).collect();
    rest.contains(['`', '_', '/']) || n_particular(&told.join(" ")) != 0
}

/// Whether a verb says that something was looked at or left, rather than that it was changed.
fn is_idle_verb(deed: &str) -> bool {
    const IDLE: [&str; 20] = [
        "kept",
        "checked",
        "verified",
        "confirmed",
        "tested",
        "ran",
        "reran",
        "re-ran",
        "looked",
        "reviewed",
        "read",
        "found",
        "noticed",
        "noted",
        "identified",
        "discovered",
        "analyzed",
        "investigated",
        "explored",
        "expected",
    ];
    let first = deed.split_whitespace().next().unwrap_or_default().trim_end_matches([':', ',']);
    IDLE.contains(&first.to_lowercase().as_str())
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
    const NONE: [&str; 26] = [
        "malformed",
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
    fn a_line_that_leads_in_to_a_list_is_told_with_it_or_not_at_all() {
        check(
            "The merge stopped because `main` brought in several changes:\n\n1. **`Limit` moved** from `pool` to `core`\n2. **A type** for ids",
            &[
                (
                    Sort::Finding,
                    "The merge stopped because `main` brought in several changes: `Limit` moved from `pool` to `core`, A type for ids",
                ),
                (Sort::Other, "`Limit` moved from `pool` to `core`"),
                (Sort::Other, "A type for ids"),
            ],
        );
        check(
            "The pool waits for a slot now.\nThe commands of the merge are listed below:\n```\ngit commit\n```",
            &[(Sort::Other, "The pool waits for a slot now")],
        );
        check("Fixed:\n- the counter of the pool", &[(Sort::Deed, "Fixed: the counter of the pool")]);
        check(
            "New files:\n- `wait.rs` - the waiting\n- `slot.rs`",
            &[(Sort::Deed, "Added new files: `wait.rs`, `slot.rs`")],
        );
        check(
            "- New file: `wait.rs` — waits for a slot",
            &[(Sort::Deed, "Added `wait.rs` — waits for a slot")],
        );
    }

    #[test]
    fn what_has_no_object_or_changed_nothing_is_no_deed() {
        for text in ["Fixed these.", "Updated it.", "I fixed these in:\n```\npool.rs\n```"] {
            check(text, &[]);
        }
        check("- Kept the retry of the upload", &[(Sort::Other, "Kept the retry of the upload")]);
        check(
            "- `pool.rs`: checked right after the start",
            &[(Sort::Other, "`pool.rs`: checked right after the start")],
        );
        check(
            "Added tests of the limit.\n\n**Test cases:**\n- Rejected: an empty name\n- Removed the slot twice",
            &[(Sort::Deed, "Added tests of the limit")],
        );
        check(
            "1. **Removed the queue** from `pool.rs`:\n   - Deleted the `Queue` type\n2. **Closed** the pool early",
            &[
                (Sort::Deed, "Removed the queue from `pool.rs`"),
                (Sort::Deed, "Deleted the `Queue` type"),
                (Sort::Deed, "Closed the pool early"),
            ],
        );
        check(
            "Removed from `pool.rs`:\n- `Queue`:\n  - its tests\n  - its docs\n- `Entry`",
            &[(Sort::Deed, "Removed from `pool.rs`: `Queue`, `Entry`")],
        );
        check(
            "Removed from `pool.rs`:\n  - `Queue`\n  - `Entry`",
            &[(Sort::Deed, "Removed from `pool.rs`: `Queue`, `Entry`")],
        );
    }

    #[test]
    fn an_account_opens_with_a_sentence_or_with_the_heads_of_its_list() {
        let check = |text: &str, first: Option<&str>, heads: &[&str]| {
            let opening = opening(text);
            assert_eq!(opening.first.map(|first| first.words).as_deref(), first, "{text}");
            assert_eq!(opening.heads, heads, "{text}");
        };
        check(
            "Done. All tests pass.\n\n**Summary:**\n1. **Closed the pool** (`pool.rs`): it leaked\n2. **Bounded the queue**: it grew",
            None,
            &["Closed the pool", "Bounded the queue"],
        );
        check(
            "I've changed the pool to wait for a slot.\n\n## 1. Removed the old queue\n\n## 2. Added tests for the wait",
            Some("Changed the pool to wait for a slot"),
            &["Removed the old queue", "Added tests for the wait"],
        );
        check("1. **`pool.rs`**: waits\n2. **`queue.rs`**: is bounded", None, &[]);
        check(
            "**1. Closed the pool** - it leaked\n\n**2. Bounded the queue** - it grew",
            None,
            &["Closed the pool", "Bounded the queue"],
        );
        check(
            "The plan is written. Two ways to go on:\n\n**1. Added load** - fast\n**2. Removed slots**",
            None,
            &[],
        );
        check("Two ways:\n1. **Closed pool** - simple\n2. **Open pool**", None, &[]);
        check("**Next steps:**\n1. **Added load** on it\n2. **Removed slots** of it", None, &[]);
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
            "Two options:\n\n**1. Wait for a slot (now)** - I send an agent for each task\n\n**2. Later** - you do it",
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
