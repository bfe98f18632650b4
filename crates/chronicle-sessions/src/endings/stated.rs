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
    const MARKS: [&str; 11] = [
        "todo",
        "not sure",
        "unsure",
        "unclear",
        "not certain",
        "waiting on",
        "blocked ",
        "implemented yet",
        "yet implemented",
        "as a stub",
        "later",
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
    let sentence = sentence.trim_end_matches(['.', '!']);
    let lower = &lower[..sentence.len()];
    let told = Told { sentence, lower };
    // Few sentences say anything, and of these few are only wishes.
    let said = told
        .noted()
        .or_else(|| told.doubted())
        .or_else(|| told.blocked())
        .or_else(|| told.missing())
        .or_else(|| told.put_off());
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

    /// `The logout is not implemented yet`, `I left the parser as a stub`.
    fn missing(&self) -> Option<(ThreadKind, String)> {
        const VERBS: [&str; 6] = [
            " is not implemented yet",
            " are not implemented yet",
            " isn't implemented yet",
            " aren't implemented yet",
            " is not yet implemented",
            " are not yet implemented",
        ];
        let subject =
            VERBS.iter().find_map(|verb| Some(&self.sentence[..self.lower.find(verb)?])).or_else(|| {
                let rest = ["i left ", "i've left ", "i have left "]
                    .iter()
                    .find_map(|start| self.lower.starts_with(start).then(|| &self.sentence[start.len()..]))?;
                Some(&rest[..rest.to_ascii_lowercase().find(" as a stub")?])
            });
        Some((ThreadKind::Incomplete, format!("Implement {}", subject_of(subject?)?)))
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
        ] {
            assert_eq!(stated(text), [], "{text}");
        }
    }
}
