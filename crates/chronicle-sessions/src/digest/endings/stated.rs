//! Work that somebody says in so many words is open: noted, put off, blocked, doubted or not there yet.
//!
//! A mark has to stand where such a statement has it, at the beginning of a clause or behind its
//! subject: agents write about locks that wait and lists of TODOs all day. Words that only wish
//! for something some day are no statement.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use chronicle_core::thread::ThreadKind;

use crate::words::{any_case, imperative, plain, sentences};

/// The longest summary of a thread.
const LONGEST_SUMMARY: usize = super::LONGEST_SUMMARY;

/// One of these is in whatever says that something is open.
static MARKED: LazyLock<AhoCorasick> = LazyLock::new(|| {
    const MARKS: [&str; 30] = [
        "todo",
        "not sure",
        "unsure",
        "unclear",
        "not certain",
        "waiting on",
        "blocked ",
        " yet",
        "as a stub",
        "later",
        "tomorrow",
        "next time",
        "but no ",
        "without tests",
        "still need",
        "still missing",
        "are missing",
        "is missing",
        "needs review",
        "need review",
        "needs a review",
        "what is left",
        "what's left",
        "still to do",
        "left to do",
        "next: ",
        "next step",
        "next up: ",
        "separate pr",
        "follow-up",
    ];
    any_case(MARKS)
});

/// Something that a sentence says is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stated<'t> {
    pub(super) kind: ThreadKind,
    pub(super) summary: String,
    /// The sentence that says so.
    pub(super) words: &'t str,
}

/// What the sentences of `text` say is open, code and quotes left out.
pub(super) fn stated(text: &str) -> Vec<Stated<'_>> {
    let mut found = Vec::new();
    // Hardly any text does.
    if !MARKED.is_match(text) {
        return found;
    }
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !MARKED.is_match(line)
            || is_code
            || is_fence
            || line.starts_with("    ")
            || line.trim_start().starts_with(['>', '|', '<'])
        {
            continue;
        }
        found.extend(sentences(plain(line)).filter_map(|words| {
            let (kind, summary) = of_sentence(words)?;
            Some(Stated { kind, summary: imperative(&summary, LONGEST_SUMMARY), words })
        }));
    }
    found
}

/// Whether words only wish for something, or tell what somebody might do.
pub(super) fn is_vague(words: &str) -> bool {
    const WISHES: [&str; 20] = [
        "someday",
        "some day",
        "one day",
        "eventually",
        "maybe",
        "perhaps",
        "might",
        "nice to have",
        "would be nice",
        "would be good",
        "at some point",
        "could",
        "if you want",
        "if you like",
        "if needed",
        "optional",
        "consider",
        "ideally",
        "in the future",
        "feel free",
    ];
    let words = format!(" {} ", words.to_lowercase());
    WISHES.iter().any(|wish| {
        let mut places = words.match_indices(wish);
        places.any(|(at, _)| !words[..at].ends_with(char::is_alphanumeric))
    })
}

fn of_sentence(sentence: &str) -> Option<(ThreadKind, String)> {
    let sentence = sentence.trim_end_matches(['*', ' ']);
    let lower = sentence.to_ascii_lowercase();
    if sentence.ends_with('?') || lower.starts_with("if ") {
        return None;
    }
    let mut sentence = sentence.trim_end_matches(['.', '!']);
    for besides in [" too", " as well", " though"] {
        let is_besides = lower[..sentence.len()].ends_with(besides);
        sentence = if is_besides { &sentence[..sentence.len() - besides.len()] } else { sentence };
    }
    let sentence = sentence.trim_end_matches(',');
    let lower = &lower[..sentence.len()];
    let told = Told { sentence, lower };
    // Few sentences say anything, and of these few are only wishes.
    let said = told
        .noted()
        .or_else(|| told.doubted())
        .or_else(|| told.blocked())
        .or_else(|| told.missing())
        .or_else(|| told.lacking())
        .or_else(|| told.put_off())
        .or_else(|| told.left_over())
        .or_else(|| told.promised());
    said.filter(|_| !is_vague(lower))
}

/// A sentence, and the same with its ASCII letters in lower case, so that places are the same in both.
struct Told<'t> {
    sentence: &'t str,
    lower: &'t str,
}

impl<'t> Told<'t> {
    /// `TODO: write the docs`, `Please remember: TODO write the docs`.
    fn noted(&self) -> Option<(ThreadKind, String)> {
        const TOPICS: [&str; 10] =
            ["list", "lists", "comment", "comments", "item", "items", "app", "file", "tool", "in"];
        let at = self.sentence.find("TODO")?;
        let rest = &self.sentence[at + 4..];
        let is_begun = self.begins_clause(at);
        let what = match rest.strip_prefix(':') {
            Some(rest) => rest,
            None => rest.strip_prefix(' ').filter(|_| is_begun)?,
        };
        let first = what.split_whitespace().next()?;
        let is_told = is_begun && !TOPICS.contains(&first) && 2 <= what.split_whitespace().count();
        is_told.then(|| (ThreadKind::Todo, what.trim().to_owned()))
    }

    /// `I'm not sure if the cache needs flushing`.
    fn doubted(&self) -> Option<(ThreadKind, String)> {
        let marks = ["not sure", "unsure", "unclear", "not certain"];
        let rest = marks.iter().find_map(|mark| {
            let rest = self.after_opening(mark)?;
            rest.strip_prefix(" if ").or_else(|| rest.strip_prefix(" whether "))
        })?;
        let is_about_talk = ["you ", "that's what", "this is what", "i understand", "that helps"]
            .iter()
            .any(|start| rest.to_ascii_lowercase().starts_with(start));
        let is_told = !is_about_talk && 3 <= rest.split_whitespace().count();
        is_told.then(|| (ThreadKind::Question, format!("Find out whether {rest}")))
    }

    /// `This is blocked: waiting on the vendor for keys`.
    fn blocked(&self) -> Option<(ThreadKind, String)> {
        /// What programs wait for, and what a session waits for itself.
        const TECHNICAL: [&str; 22] = [
            "lock", "locks", "mutex", "i/o", "io", "thread", "threads", "socket", "channel", "event",
            "events", "condvar", "future", "promise", "process", "build", "tests", "command", "it", "you",
            "your", "stdin",
        ];
        let rest = ["waiting on ", "blocked on ", "blocked by ", "blocked until "]
            .iter()
            .find_map(|mark| self.after_opening(mark.trim_end()).filter(|rest| rest.starts_with(' ')))?;
        let mut first =
            rest.split(|c: char| !c.is_alphanumeric() && c != '/').filter(|word| !word.is_empty()).take(3);
        let is_technical = first.any(|word| TECHNICAL.contains(&word.to_ascii_lowercase().as_str()));
        let is_told = !is_technical && 2 <= rest.split_whitespace().count();
        is_told.then(|| (ThreadKind::Blocked, format!("Go on when this is there: {}", rest.trim())))
    }

    /// `The logout is not implemented yet`, `The tests still need to be written`, `I left the parser as a stub`.
    fn missing(&self) -> Option<(ThreadKind, String)> {
        const BEFORE: [&str; 12] = [
            " is not yet ",
            " are not yet ",
            " is not ",
            " are not ",
            " isn't ",
            " aren't ",
            " isn't yet ",
            " aren't yet ",
            " still needs to be ",
            " still need to be ",
            " still has to be ",
            " still have to be ",
        ];
        const DONE: [(&str, &str); 13] = [
            ("implemented", "Implement"),
            ("written", "Write"),
            ("tested", "Test"),
            ("covered by tests", "Test"),
            ("documented", "Document"),
            ("handled", "Handle"),
            ("supported", "Support"),
            ("wired up", "Wire up"),
            ("migrated", "Migrate"),
            ("finished", "Finish"),
            ("added", "Add"),
            ("updated", "Update"),
            ("fixed", "Fix"),
        ];
        let found = BEFORE.iter().find_map(|before| {
            let at = self.lower.find(before)?;
            let rest = &self.lower[at + before.len()..];
            let is_due = before.contains("still") || before.contains("yet");
            let rest = if is_due { rest } else { rest.strip_suffix(" yet")? };
            let (_, verb) = DONE.iter().find(|(done, _)| rest == *done)?;
            (!self.is_quoted(at)).then(|| (*verb, &self.sentence[..at]))
        });
        let stub = || {
            let rest = ["i left ", "i've left ", "i have left "]
                .iter()
                .find_map(|start| self.lower.starts_with(start).then(|| &self.sentence[start.len()..]))?;
            Some(("Implement", &rest[..rest.to_ascii_lowercase().find(" as a stub")?]))
        };
        let (verb, subject) = found.or_else(stub)?;
        Some((ThreadKind::Incomplete, format!("{verb} {}", subject_of(subject)?)))
    }

    /// `I added the function but no tests`, `The docs are still missing`, `I have not written the tests yet`.
    fn lacking(&self) -> Option<(ThreadKind, String)> {
        /// What work lacks, rather than what a program misses.
        const LACKED: [&str; 10] = [
            "test",
            "tests",
            "docs",
            "documentation",
            "coverage",
            "changelog",
            "migration",
            "validation",
            "handling",
            "benchmarks",
        ];
        let is_lacked = |words: &str| {
            let last = words.split_whitespace().last().unwrap_or_default().trim_end_matches(',');
            LACKED.contains(&last.to_lowercase().as_str())
        };
        let incomplete = |summary: String| Some((ThreadKind::Incomplete, summary));
        for mark in [" but no ", " but without "] {
            let Some(at) = self.lower.find(mark) else { continue };
            let lacked = self.sentence[at + mark.len()..].trim_end_matches(" yet");
            let added = ["i added ", "added ", "i implemented ", "implemented ", "i wrote ", "wrote "]
                .iter()
                .find_map(|start| self.lower.starts_with(start).then(|| &self.sentence[start.len()..at]));
            if let Some(added) = added.filter(|_| is_lacked(lacked)) {
                return incomplete(format!("Add {lacked} for {}", subject_of(added)?));
            }
        }
        for mark in [" are still missing", " is still missing", " are missing", " is missing"] {
            let Some(subject) = self.lower.strip_suffix(mark).map(|head| &self.sentence[..head.len()]) else {
                continue;
            };
            return incomplete(format!("Add {}", subject_of(subject).filter(|_| is_lacked(subject))?));
        }
        for mark in [" needs review", " need review", " needs a review", " still needs review"] {
            let Some(subject) = self.lower.strip_suffix(mark).map(|head| &self.sentence[..head.len()]) else {
                continue;
            };
            return incomplete(format!("Review {}", subject_of(subject)?));
        }
        let rest = ["i have not ", "i haven't ", "we have not ", "we haven't "]
            .iter()
            .find_map(|start| self.lower.strip_prefix(start)?.strip_suffix(" yet"))?;
        let (verb, what) = rest.split_once(' ')?;
        let verb = match verb {
            "written" => "Write",
            "added" => "Add",
            "tested" => "Test",
            "implemented" => "Implement",
            "updated" => "Update",
            "run" => "Run",
            "fixed" => "Fix",
            _ => return None,
        };
        let at = self.lower.rfind(what)?;
        incomplete(format!("{verb} {}", subject_of(&self.sentence[at..at + what.len()])?))
    }

    /// `What is left: write the tests`, `We still need tests for the parser`.
    fn left_over(&self) -> Option<(ThreadKind, String)> {
        let labels = [
            "what is left: ",
            "what's left: ",
            "still to do: ",
            "left to do: ",
            "next: ",
            "next step: ",
            "next steps: ",
            "next up: ",
        ];
        let labelled = labels.iter().find_map(|label| {
            let at = self.lower.find(label).filter(|at| self.begins_clause(*at))?;
            Some(self.sentence[at + label.len()..].to_owned())
        });
        let needed = || {
            let start = ["we still need ", "i still need ", "still need "]
                .iter()
                .find(|start| self.lower.starts_with(**start))?;
            let what = &self.sentence[start.len()..];
            let lower = &self.lower[start.len()..];
            let is_thing =
                ["test", "docs", "documentation", "a test", "unit test", "integration test", "changelog"]
                    .iter()
                    .any(|thing| lower.starts_with(thing));
            if is_thing {
                Some(format!("Add {what}"))
            } else {
                lower.starts_with("to ").then(|| what[3..].to_owned())
            }
        };
        let what = labelled.or_else(needed).filter(|what| 2 <= what.split_whitespace().count())?;
        let is_technical = ["to be able", "to wait", "to know", "to see"]
            .iter()
            .any(|start| what.to_lowercase().starts_with(&start[3..]));
        (!is_technical).then_some((ThreadKind::Todo, what))
    }

    /// `I will handle the error case later`, `Let's do the docs tomorrow`, `We'll cover that in a separate PR`.
    fn promised(&self) -> Option<(ThreadKind, String)> {
        const STARTS: [&str; 12] = [
            "i will ",
            "i'll ",
            "we will ",
            "we'll ",
            "let's ",
            "lets ",
            "we can ",
            "i can ",
            "we should ",
            "let us ",
            "i want to ",
            "we need to ",
        ];
        const ENDS: [&str; 12] = [
            " later",
            " tomorrow",
            " next time",
            " in a separate pr",
            " in a follow-up",
            " in a followup",
            " in a follow-up pr",
            " in a followup pr",
            " in another pr",
            " in a separate issue",
            " in a separate commit",
            " in the next pr",
        ];
        let start = STARTS.iter().find(|start| self.lower.starts_with(**start))?;
        let end = ENDS.iter().find(|end| self.lower.ends_with(**end))?;
        let what = self.sentence.get(start.len()..self.sentence.len() - end.len())?;
        let first = what.split_whitespace().next()?.to_lowercase();
        let is_idle = ["see", "talk", "know", "call", "be", "get", "need", "find"].contains(&first.as_str());
        let object = what.split_whitespace().nth(1)?.to_lowercase();
        let points = ["it", "this", "that", "them", "those", "these"].contains(&object.as_str());
        (!is_idle && !points && what.split_whitespace().count() <= 14)
            .then(|| (ThreadKind::Deferred, what.to_owned()))
    }

    /// `Let us leave the retries for later`, `The retries will be handled later`, `We still need to retry later`.
    fn put_off(&self) -> Option<(ThreadKind, String)> {
        const LEAVING: [&str; 4] = ["leave ", "leaving ", "save ", "keep "];
        const DONE: [&str; 7] = ["handled", "done", "added", "fixed", "implemented", "addressed", "written"];
        let left = |start: &&str| {
            let at = self.lower.find(start).filter(|&at| self.begins_request(at))?;
            let end = self.lower.find(" for later").filter(|end| at + start.len() < *end)?;
            Some(&self.sentence[at + start.len()..end])
        };
        if let Some(what) = LEAVING.iter().find_map(left) {
            return Some((ThreadKind::Deferred, format!("Come back to {}", subject_of(what)?)));
        }
        let later = self.lower.strip_suffix(" later")?;
        if let Some(at) = later.find(" will be ").filter(|at| DONE.contains(&&later[at + 9..])) {
            return Some((
                ThreadKind::Deferred,
                format!("Come back to {}", subject_of(&self.sentence[..at])?),
            ));
        }
        let start = ["we still need to ", "we still have to ", "i still need to ", "still need to "]
            .iter()
            .find(|start| later.starts_with(**start))?;
        let what = &self.sentence[start.len()..later.len()];
        (2 <= what.split_whitespace().count()).then(|| (ThreadKind::Deferred, what.to_owned()))
    }

    /// What follows `mark`, if nothing but the opening of a statement stands before it in its clause.
    fn after_opening(&self, mark: &str) -> Option<&'t str> {
        const OPENINGS: [&str; 16] = [
            "",
            "i'm",
            "i am",
            "we're",
            "we are",
            "it's",
            "it is",
            "this is",
            "that is",
            "that's",
            "still",
            "currently",
            "i'm still",
            "we're still",
            "still blocked",
            "this is still",
        ];
        let at = self.lower.find(mark)?;
        let before = self.lower[..at].trim_end();
        let clause = before.rsplit([':', ';', ',', '—']).next().unwrap_or_default().trim();
        let is_quoted = self.is_quoted(at);
        (!is_quoted && OPENINGS.contains(&clause)).then(|| &self.sentence[at + mark.len()..])
    }

    fn begins_clause(&self, at: usize) -> bool {
        let before = self.sentence[..at].trim_end_matches(['*', ' ']);
        !self.is_quoted(at) && (before.is_empty() || before.ends_with([':', ';', '—', '-']))
    }

    /// Whether only what people say before a request stands before `at`.
    fn begins_request(&self, at: usize) -> bool {
        const BEGINNINGS: [&str; 12] = [
            "",
            "let's",
            "let us",
            "lets",
            "we can",
            "we'll",
            "i'll",
            "please",
            "i'd",
            "ok let's",
            "ok, let's",
            "i'm",
        ];
        !self.is_quoted(at) && BEGINNINGS.contains(&self.lower[..at].trim())
    }

    fn is_quoted(&self, at: usize) -> bool {
        ['`', '"'].iter().any(|mark| self.sentence[..at].matches(*mark).count() % 2 == 1)
    }
}

/// What a clause is about, where it names it itself.
fn subject_of(words: &str) -> Option<String> {
    const POINTERS: [&str; 8] = ["it", "this", "that", "they", "these", "those", "which", "everything"];
    let words = words.rsplit([';', ':']).next()?.trim();
    let first = words.split_whitespace().next()?.to_ascii_lowercase();
    if POINTERS.contains(&first.as_str()) || 12 < words.split_whitespace().count() {
        return None;
    }
    let is_article = matches!(first.as_str(), "the" | "a" | "an" | "some" | "all");
    Some(if is_article {
        words.replacen(words.split_whitespace().next()?, &first, 1)
    } else {
        words.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, kind: ThreadKind, summary: &str) {
        let found: Vec<_> = stated(text).into_iter().map(|stated| (stated.kind, stated.summary)).collect();
        assert_eq!(found, [(kind, summary.to_owned())], "{text}");
    }

    #[test]
    fn what_is_said_to_be_open_has_a_kind_and_an_imperative() {
        use ThreadKind::*;
        check("TODO: write docs for pagination", Todo, "Write docs for pagination");
        check(
            "Please remember: TODO add rate limiting to the upload",
            Todo,
            "Add rate limiting to the upload",
        );
        check("The parser works. TODO: handle nested quotes.", Todo, "Handle nested quotes");
        check("Let us leave the retry logic for later", Deferred, "Come back to the retry logic");
        check("We still need to migrate the users table later", Deferred, "Migrate the users table");
        check("The error handling will be handled later.", Deferred, "Come back to the error handling");
        check(
            "Done. I'm not sure if the cache needs flushing.",
            Question,
            "Find out whether the cache needs flushing",
        );
        check("not sure whether we need a lock here", Question, "Find out whether we need a lock here");
        check("The logout is not implemented yet.", Incomplete, "Implement the logout");
        check(
            "I've left the parser as a stub; it will be handled later.",
            Incomplete,
            "Implement the parser",
        );
        check(
            "This is blocked: waiting on the vendor for keys",
            Blocked,
            "Go on when this is there: the vendor for keys",
        );
        check("I will handle the error case later.", Deferred, "Handle the error case");
        check("Let's do the docs of the pool tomorrow", Deferred, "Do the docs of the pool");
        check("We'll cover the retries in a separate PR.", Deferred, "Cover the retries");
        check("I added the limiter but no tests.", Incomplete, "Add tests for the limiter");
        check("The tests of the limiter are not written yet.", Incomplete, "Write the tests of the limiter");
        check("The docs still need to be written.", Incomplete, "Write the docs");
        check("The unit tests are still missing.", Incomplete, "Add the unit tests");
        check("The error handling needs review.", Incomplete, "Review the error handling");
        check("I have not written the tests yet.", Incomplete, "Write the tests");
        check("What is left: write the release notes.", Todo, "Write the release notes");
        check("We still need tests for the limiter", Todo, "Add tests for the limiter");
        check("Waiting on Bob to approve.", Blocked, "Go on when this is there: Bob to approve");
    }

    #[test]
    fn what_is_vague_technical_quoted_or_done_is_not_open() {
        for text in [
            "TODO: maybe rewrite it some day",
            "Someday we could leave the parser for later",
            "It would be nice to have retries; not sure if worth it",
            "I added a TODO list to the app and removed the TODO comments",
            "TODO list of the app",
            "TODO items are shown",
            "`TODO: handle nested quotes` is printed",
            "```\nTODO: handle nested quotes\n```",
            "> TODO: handle nested quotes",
            "The worker is waiting on the lock",
            "Waiting on the build to finish",
            "We are no longer waiting on the vendor",
            "It will be done later",
            "Is the logout not implemented yet?",
            "If the logout is not implemented yet, say so",
            "I'm not sure if you want that",
            "The value is saved for later",
            "see you later",
            "We'll see later",
            "The file is missing",
            "The key is missing in the map, so it panics",
            "It is not supported",
            "I fixed the lock but no luck",
            "We still need to be able to read it",
            "The value is not yet known",
        ] {
            assert_eq!(stated(text), [], "{text}");
        }
    }
}
