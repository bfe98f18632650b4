//! Which command a question in plain words is for, by rules.
//!
//! A question becomes words ([`words`]): contractions are written out, accents and what is only polite is left out,
//! and a slip of the finger becomes the word that a rule knows. Rules ([`rules`]) are patterns of words
//! ([`pattern`]), tried in their order; the first that is in the question decides, and says what it is about. A question
//! that no rule knows, in whatever language, is searched for as it is.

mod name;
mod named;
mod pattern;
mod phrasebook;
mod rules;
mod words;

use chronicle_memory::listing::{Listed, Order, SessionState};
use named::{Named, error_text, file, is_dated, n_sessions, period};
use std::ops::Range;

pub(crate) use name::{End, RouteName};
use pattern::Pattern;
use rules::{
    ABOUT_A_FILE, ASKING, CUES, EMPTY, ENDS, LISTED, LISTS, OF_STATES, RULES, SIMILAR, STATES, WAITING,
};
use words::{Word, words};

/// The way of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) name: RouteName,
    /// What it is about: a topic, a technology, a project; the question itself where no rule says.
    pub(super) subject: String,
    /// A file, and a line or an item of it.
    pub(super) file: Option<(String, Option<String>)>,
    /// Whether projects are to be similar to the subject, rather than to use it.
    pub(super) is_similar: bool,
    /// The time that it is about, as [`chronicle_core::period::Period::named`] takes it.
    pub(super) period: Option<String>,
    /// How many sessions.
    pub(super) sessions: Option<usize>,
    /// What is to be listed or counted.
    pub(super) listed: Option<Listed>,
    /// How the sessions of a list ended.
    pub(super) state: Option<SessionState>,
    /// Whether the earliest or the latest is sought.
    pub(super) end: Option<End>,
    /// Which sessions of a list come first.
    pub(super) order: Order,
    /// Whether it asks for tokens.
    pub(super) counts_tokens: bool,
    /// Whether only work that waits is meant.
    pub(super) is_waiting: bool,
    /// Whether only questions that nobody answered are meant.
    pub(super) is_of_questions: bool,
    /// Whether no rule knows the question.
    pub(super) is_guess: bool,
}

impl Route {
    /// Since when, for commands that take no end.
    pub(super) fn since(&self) -> Option<String> {
        self.period.as_deref().map(|period| period.strip_suffix("..today").unwrap_or(period).to_owned())
    }
}

/// The order that a question asks for.
fn order(words: &[Word]) -> Order {
    let has = |pattern: &str| Pattern(pattern).found(words).is_some();
    match (has("longest|biggest|largest"), has("most * tokens") || has("tokens * most")) {
        (_, true) => Order::MostTokens,
        (true, false) => Order::Longest,
        (false, false) => Order::Latest,
    }
}

/// So many words tell what a question is for: nobody types more by hand.
const MOST_WORDS: usize = 80;

/// The way of `question`, which has words.
pub(super) fn route(question: &str) -> Route {
    let words = words(question, MOST_WORDS);
    let time = period(&words);
    let mut route = Route {
        name: RouteName::Find,
        subject: question.trim().to_owned(),
        file: None,
        is_similar: false,
        period: time.as_ref().map(|time| time.name.clone()),
        sessions: n_sessions(&words),
        listed: None,
        state: None,
        end: None,
        order: Order::Latest,
        counts_tokens: false,
        is_waiting: false,
        is_of_questions: false,
        is_guess: false,
    };
    let has = |patterns: &[&str]| patterns.iter().any(|pattern| Pattern(pattern).found(&words).is_some());
    route.counts_tokens = has(&["token|tokens"]);
    route.end = ENDS.iter().find(|(_, patterns)| has(patterns)).map(|(end, _)| *end);
    if let Some(file) = file(question) {
        let is_why = file.1.is_some() || has(ABOUT_A_FILE.0);
        if is_why || has(ABOUT_A_FILE.1) {
            route.name = if is_why { RouteName::Why } else { RouteName::Read };
            route.file = Some(file);
            return route;
        }
        // Which work touched it.
        if has(&["touch~|chang~|edit~|modif~"]) {
            let listed = Some(Listed::Sessions);
            return Route { name: RouteName::List, subject: file.0, listed, ..route };
        }
    }
    if let Some(error) = error_text(question) {
        return Route { name: RouteName::Fix, subject: error, ..route };
    }
    if let Some((listed, found)) = listed(&words, time.is_some()) {
        let topic = match found {
            Some(range) => topic(question, &words, range, time.as_ref()),
            None => list_topic(question, &words, time.as_ref()),
        };
        let state = STATES.iter().find(|(_, patterns)| listed == Listed::Sessions && has(patterns));
        let state = state.map(|(state, _)| *state);
        let is_of_state = |word: &str| OF_STATES.contains(&word) || ASKING.contains(&word);
        let is_named = state.is_none() || !topic.to_lowercase().split_whitespace().all(is_of_state);
        let topic = if is_named { topic } else { String::new() };
        // A ticket or branch stands anywhere in the question.
        let topic = if topic.is_empty() { name_in(question).unwrap_or_default() } else { topic };
        let is_about_state = |word: &Word| is_of_state(&word.text) || EMPTY.contains(&&*word.text);
        let topic = match topic.is_empty() && state.is_some() {
            true => rest(question, &words, time.as_ref(), is_about_state),
            false => topic,
        };
        route.order = order(&words);
        return Route { name: RouteName::List, subject: topic, listed: Some(listed), state, ..route };
    }
    if let Some((listed, topic)) = cued(question, &words, time.as_ref()) {
        return Route {
            name: RouteName::List,
            subject: topic,
            listed: Some(listed),
            order: order(&words),
            ..route
        };
    }
    // A time and nothing else is a question for what was done in it.
    const OF_A_TIME: [&str; 8] = ["what", "how", "about", "and", "on", "in", "of", "the"];
    let is_of_time = |time: &Named| {
        let is_told = |(at, word): (usize, &Word)| time.at.contains(&at) || OF_A_TIME.contains(&&*word.text);
        words.iter().enumerate().all(is_told)
    };
    if time.as_ref().is_some_and(is_of_time) {
        return Route { name: RouteName::Digest, ..route };
    }
    for (name, pattern) in
        RULES.iter().flat_map(|(name, patterns)| patterns.iter().map(move |one| (*name, one)))
    {
        // Only what has a time can be summed up.
        let has_time = match pattern.split(' ').next() {
            Some("@when") => route.period.is_some(),
            Some("@dated") => route.period.as_deref().is_some_and(is_dated),
            _ => true,
        };
        if !has_time {
            continue;
        }
        let pattern = pattern.trim_start_matches("@when ").trim_start_matches("@dated ");
        let Some(found) = Pattern(pattern).found(&words) else { continue };
        let subject = found.map(|range| match route.end {
            Some(_) => subject(question, &without_end(&words[range]), time.as_ref(), &words),
            None => subject(question, &words[range], time.as_ref(), &words),
        });
        let subject = match name {
            RouteName::Pending | RouteName::Brief => pending_topic(question, &words, time.as_ref()),
            _ => subject,
        };
        // Where the work on something was left is known of that, not of the project.
        let name = match name {
            RouteName::Brief if subject.is_some() => RouteName::About,
            name => name,
        };
        route.is_of_questions = name == RouteName::Pending && has(&["question~"]);
        route.is_waiting = name == RouteName::Pending && !route.is_of_questions && has(WAITING);
        route.is_similar = SIMILAR.contains(&pattern);
        route.subject = match (subject.filter(|subject| !subject.is_empty()), name) {
            (Some(subject), _) if route.is_similar && is_here(&subject) => ".".to_owned(),
            (Some(subject), _) => subject,
            (None, RouteName::Projects) => String::new(),
            (None, _) => route.subject,
        };
        if name == RouteName::Digest && route.period.is_none() {
            let begins = |start: &str| words.iter().any(|word| word.text.starts_with(start));
            let name = if begins("decision") {
                "last 31 days"
            } else if begins("month") {
                "month"
            } else if begins("week") {
                "week"
            } else {
                "today"
            };
            route.period = Some(name.to_owned());
        }
        return Route { name, ..route };
    }
    route.is_guess = is_question(question, &words);
    route
}

/// What is to be listed for words that name it in whatever order, and the rest of them.
fn cued(question: &str, words: &[Word], time: Option<&Named>) -> Option<(Listed, String)> {
    let (listed, cues) =
        CUES.iter().find(|(_, cues)| cues.iter().all(|cue| Pattern(cue).found(words).is_some()))?;
    let is_cue = |word: &Word| {
        cues.iter().any(|cue| Pattern(cue).found(std::slice::from_ref(word)).is_some())
            || EMPTY.contains(&&*word.text)
            || ASKING.contains(&&*word.text)
    };
    Some((*listed, rest(question, words, time, is_cue)))
}

/// What is left of a question without the words that ask, and without a time.
fn rest(question: &str, words: &[Word], time: Option<&Named>, asks: impl Fn(&Word) -> bool) -> String {
    let of_time = |at: usize| time.is_some_and(|time| time.at.contains(&at));
    let left = words.iter().enumerate().filter(|(at, word)| !of_time(*at) && !asks(word));
    let typed = |word: &Word| match word.is_translated {
        true => word.text.clone(),
        false => question[word.at.clone()].to_owned(),
    };
    left.map(|(_, word)| typed(word)).collect::<Vec<_>>().join(" ")
}

/// Whether words ask something, rather than name what to search for.
fn is_question(question: &str, words: &[Word]) -> bool {
    const FIRST_WORDS: [&str; 25] = [
        "what", "which", "who", "whose", "when", "where", "why", "how", "is", "are", "was", "were", "did",
        "do", "does", "has", "have", "had", "should", "can", "could", "will", "would", "am", "list",
    ];
    let asks = words.first().is_some_and(|word| FIRST_WORDS.contains(&word.text.as_str()));
    // Nobody searches for five words that must all be there.
    5 <= words.len() || 3 <= words.len() && (asks || question.trim_end().ends_with(['?', '？', '؟']))
}

/// What is to be listed, and the words that narrow it.
fn listed(words: &[Word], has_time: bool) -> Option<(Listed, Option<Range<usize>>)> {
    LISTS.iter().find_map(|(listed, patterns)| {
        let found = patterns.iter().find_map(|pattern| {
            let timeless = pattern.trim_start_matches("@when ");
            let is_asked = has_time || timeless == *pattern;
            is_asked.then(|| Pattern(timeless).found(words)).flatten()
        })?;
        Some((*listed, found))
    })
}

/// The topic of a list whose pattern leaves it open: what is left after the listed things, without words of any
/// question and without the time (`in how many sessions was setup.go edited`).
fn list_topic(question: &str, words: &[Word], time: Option<&Named>) -> String {
    let Some(listed) = words.iter().position(|word| LISTED.contains(&word.text.as_str())) else {
        return String::new();
    };
    let is_told = |at: &usize| {
        let text = words[*at].text.as_str();
        !time.is_some_and(|time| time.at.contains(at)) && !EMPTY.contains(&text) && !ASKING.contains(&text)
    };
    let mut told = (listed + 1..words.len()).filter(is_told);
    match (told.next(), (listed + 1..words.len()).rev().find(is_told)) {
        (Some(first), Some(last)) => typed(question, &words[first..=last]),
        _ => String::new(),
    }
}

/// A name that only a program, a ticket or a branch has, and that stands for a topic: `ent-95`, `set_var`.
fn name_in(question: &str) -> Option<String> {
    let trimmed = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    question.split_whitespace().map(trimmed).find(|word| {
        let has = |is: fn(char) -> bool| word.contains(is);
        let is_date = word.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '.' || c == ':');
        let is_joined = word.contains('_') || word.contains('-') && has(|c| c.is_ascii_digit());
        is_joined && !is_date && has(char::is_alphabetic)
    })
}

/// Whether a project is the one at hand.
fn is_here(subject: &str) -> bool {
    let first = subject.split_whitespace().next().unwrap_or_default().to_lowercase();
    ["this", "it", "here", "celui-ci", "ce"].contains(&first.as_str())
}

/// A longer beginning of a question is no subject before a colon.
const MOST_SUBJECT: usize = 4;

/// The topic that narrows open work: `what is left on the parser`.
fn pending_topic(question: &str, words: &[Word], time: Option<&Named>) -> Option<String> {
    const STATES: [&str; 12] = [
        "still",
        "open",
        "left",
        "pending",
        "to",
        "do",
        "unfinished",
        "outstanding",
        "yet",
        "blocked",
        "next",
        "be",
    ];
    let Some(Some(mut found)) = Pattern("on|for|about|with|regarding|concerning $ .").found(words) else {
        // `opencode: what is left?`
        let (subject, _) = question.split_once(':').filter(|(_, asked)| asked.contains(' '))?;
        return (subject.split_whitespace().count() <= MOST_SUBJECT).then(|| subject.trim().to_owned());
    };
    while 1 < found.len() && STATES.contains(&words[found.end - 1].text.as_str()) {
        found.end -= 1;
    }
    while 1 < found.len() && ["me", "us", "it", "the"].contains(&words[found.start].text.as_str()) {
        found.start += 1;
    }
    let topic = topic(question, words, found, time);
    let is_general = [
        "me",
        "us",
        "it",
        "this",
        "that",
        "now",
        "today",
        "here",
        "my plate",
        "my list",
        "next",
        "right",
        "right now",
        "answer",
        "my answer",
        "an answer",
        "review",
        "my review",
        "feedback",
    ];
    let small = topic.to_lowercase();
    let is_general =
        is_general.contains(&small.as_str()) || small.contains("plate") || small.contains("agenda");
    (!is_general && !topic.is_empty()).then_some(topic)
}

/// The topic of a list; none where there is but a time.
fn topic(question: &str, words: &[Word], mut found: Range<usize>, time: Option<&Named>) -> String {
    const DOING: [&str; 14] = [
        "finish",
        "finishing",
        "do",
        "doing",
        "get",
        "make",
        "making",
        "complete",
        "implement",
        "implementing",
        "build",
        "fix",
        "fixing",
        "write",
    ];
    const GENERAL: [&str; 8] = ["work", "feature", "topic", "stuff", "thing", "things", "task", "please"];
    let is_time = |at: usize| time.is_some_and(|time| time.at.contains(&at));
    if found.clone().all(is_time) {
        return String::new();
    }
    if let Some(clause) = (1..found.len()).find(|at| begins_a_clause(question, &words[found.clone()], *at)) {
        found.end = found.start + clause;
    }
    let says_nothing = |word: &Word| EMPTY.contains(&&*word.text) || DOING.contains(&&*word.text);
    while 1 < found.len() && says_nothing(&words[found.start]) {
        found.start += 1;
    }
    while 1 < found.len() && GENERAL.contains(&words[found.end - 1].text.as_str()) {
        found.end -= 1;
    }
    subject(question, &words[found], time, words)
}

/// What was typed there, without what only joins it to the question, and without a time at its end.
fn subject(question: &str, mut found: &[Word], time: Option<&Named>, all: &[Word]) -> String {
    const JOINING: [&str; 38] = [
        "from", "i", "we", "usually", "to", "the", "a", "an", "my", "our", "is", "was", "were", "it", "that",
        "there", "where", "how", "in", "which", "j", "je", "nous", "on", "le", "la", "les", "l", "un", "une",
        "mon", "ma", "mes", "de", "d", "est", "ce", "que",
    ];
    while let [first, rest @ ..] = found
        && !rest.is_empty()
        && JOINING.contains(&first.text.as_str())
    {
        found = rest;
    }
    if let Some(time) = time
        && let Some(last) = found.last()
        && all[time.at.clone()].last().is_some_and(|end| end.at == last.at)
        && time.at.len() < found.len()
        && all[time.at.clone()].first().is_some_and(|start| found[found.len() - time.at.len()].at == start.at)
    {
        found = &found[..found.len() - time.at.len()];
    }
    let clause = (1..found.len()).find(|at| begins_a_clause(question, found, *at));
    found = &found[..clause.unwrap_or(found.len())];
    while let [rest @ .., last] = found
        && !rest.is_empty()
        && ["for", "about", "on", "of", "to", "with", "in", "right", "anymore", "yet"]
            .contains(&last.text.as_str())
    {
        found = rest;
    }
    typed(question, found)
}

/// What was typed there, and in English what the phrasebook knows of it.
fn typed(question: &str, words: &[Word]) -> String {
    let mut text = String::new();
    let mut last: Option<&Word> = None;
    for word in words {
        // `what's` became two words.
        if last.is_some_and(|last| last.at == word.at && !word.is_translated) {
            continue;
        }
        if let Some(last) = last {
            let is_phrase = word.is_translated || last.is_translated;
            let between = question.get(last.at.end..word.at.start).filter(|_| !is_phrase);
            text.push_str(between.unwrap_or(" "));
        }
        text.push_str(if word.is_translated { &word.text } else { &question[word.at.clone()] });
        last = Some(word);
    }
    text
}

/// What the earliest or latest of is sought: `opencode` of `first work with opencode`.
fn without_end(words: &[Word]) -> Vec<Word> {
    const ORDER: [&str; 4] = ["first", "last", "originally", "initially"];
    const BEGINNING: [&str; 24] = [
        "start", "started", "begin", "began", "time", "work", "worked", "working", "use", "used", "touch",
        "touched", "change", "changed", "edit", "edited", "run", "ran", "see", "saw", "on", "with", "the",
        "i",
    ];
    let mut left: Vec<Word> =
        words.iter().filter(|word| !ORDER.contains(&word.text.as_str())).cloned().collect();
    let is_empty = |word: Option<&Word>| word.is_some_and(|word| BEGINNING.contains(&word.text.as_str()));
    while 1 < left.len() && is_empty(left.last()) {
        left.pop();
    }
    while 1 < left.len() && is_empty(left.first()) {
        left.remove(0);
    }
    left
}

/// Whether another clause begins with that word, as with the last one of `about retries, what did we do`. A list of things
/// goes on.
fn begins_a_clause(question: &str, words: &[Word], at: usize) -> bool {
    const BEGINNING: [&str; 16] = [
        "i", "we", "what", "how", "why", "who", "when", "where", "which", "can", "could", "did", "do", "is",
        "and", "please",
    ];
    // `… as we said`, `… and why`
    let next = words.get(at + 1).map(|word| word.text.as_str());
    match (words[at].text.as_str(), next) {
        ("as", Some("i" | "we" | "you" | "discussed" | "agreed" | "mentioned"))
        | ("and", Some("why" | "how" | "when" | "where" | "what")) => return true,
        _ => {}
    }
    let (before, word) = (&words[at - 1], &words[at]);
    let between = question.get(before.at.end..word.at.start).unwrap_or_default();
    between.contains([';', '?', '!', '\n'])
        || between.contains(". ")
        || between.contains(',') && BEGINNING.contains(&word.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of the questions of a file that take the route written down for them, out of `expected`.
    #[track_caller]
    fn check_share(phrasings: &str, expected: usize, least: usize) {
        let all: Vec<(&str, &str)> = phrasings
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('\t'))
            .collect();
        let wrong: Vec<String> = all
            .iter()
            .filter(|(wanted, question)| route(question).name.name() != *wanted)
            .map(|(wanted, question)| {
                format!("{question}: {} instead of {wanted}", route(question).name.name())
            })
            .collect();
        assert_eq!(all.len(), expected);
        let n_right = all.len() - wrong.len();
        assert!(least <= n_right, "{n_right} of {expected} are right; {wrong:#?}");
    }

    /// Questions that were written down before the router, each with the route that it is to take.
    #[test]
    fn questions_take_the_route_that_was_written_down_for_them() {
        check_share(include_str!("phrasings.tsv"), 100, 95);
    }

    /// The same for questions that were written when there was a router, and before it was changed for any of them.
    #[test]
    fn questions_of_others_take_theirs() {
        check_share(include_str!("phrasings-unseen.tsv"), 100, 95);
    }

    /// Those of others again, asked once when the rules had been mended for all before (48 of them).
    #[test]
    fn questions_of_yet_others_take_theirs() {
        check_share(include_str!("phrasings-last.tsv"), 50, 48);
    }

    #[test]
    fn words_without_a_question_are_searched_for() {
        for words in [
            "bounded queue",
            "open files limit",
            "connection left open by the pool",
            "observer pattern in the parser",
            "stuck in a retry loop",
            "task scheduler panics",
            "state machine of the lexer",
            "back pressure",
            "why is left padding",
            "git history rewrite",
            "next() returns None",
            "timeouts not propagated when done",
            "prefix sums",
            "is this function meant to block",
            "do we still need the lock",
            "errors in all handlers",
            "which library parses toml",
            "morning glory",
            "decoder tests",
        ] {
            let way = route(words);
            // An error alone is looked up, and searched for where it never came up.
            let is_searched = matches!(way.name, RouteName::Find | RouteName::About | RouteName::Fix);
            assert!(is_searched, "{words}: {way:?}");
        }
    }

    /// What failed last stands in the briefing.
    #[test]
    fn how_the_last_checks_went_is_for_the_briefing() {
        for question in [
            "what failed last?",
            "Did the tests pass?",
            "are all the tests green",
            "is the build broken?",
            "what was the last error",
        ] {
            assert_eq!(route(question).name, RouteName::Brief, "{question}");
        }
        assert_eq!(route("what failed in the parser").name, RouteName::Find);
    }

    #[test]
    fn what_a_question_is_about_is_taken_out_of_it() {
        let check =
            |question: &str, expected: &str| assert_eq!(route(question).subject, expected, "{question}");
        check("What do we know about OAuth redirects?", "OAuth redirects");
        check("why did checkpoints stop being created", "checkpoints stop being created");
        check("why were callers refused", "callers refused");
        check("why is left padding", "left padding");
        check("oauth - what do we know", "oauth");
        check("Which projects use Hono?", "Hono");
        check("how do I usually debug auth problems?", "debug auth problems");
        check("what did we decide about the cache?", "cache");
        check("what did we decide about the cache last week?", "cache");
        check("did we pick tokio or smol in the end", "tokio or smol in the end");
        check("projects similar to jrnlfish", "jrnlfish");
        check("what's similar to this project?", ".");
        check("how come the pool waits?", "pool waits");
        check("what do we know about retries, timeouts and backoff?", "retries, timeouts and backoff");
        check("what do we know about retries, and what did we do?", "retries");
        check("que sait-on de la file d'attente ?", "file d'attente");
        check("连接池为什么会等待", "连接池为什么会等待");
    }

    #[test]
    fn what_is_asked_of_lists_is_told_from_their_topic() {
        let check = |question: &str, listed: Listed, topic: &str, state: Option<SessionState>| {
            let way = route(question);
            let found = (way.name, way.listed, way.subject.as_str(), way.state);
            assert_eq!(found, (RouteName::List, Some(listed), topic, state), "{question}");
        };
        let (left, failing) = (Some(SessionState::Uncommitted), Some(SessionState::Failing));
        check("how many sessions per project", Listed::Projects, "", None);
        check("which projects did I work on last week", Listed::Projects, "", None);
        check("which edits did I turn down", Listed::Refusals, "", None);
        check("what mistakes did the agent make", Listed::Refusals, "", None);
        check("which sessions ended without a commit", Listed::Sessions, "", left);
        check("did I forget to commit something in March", Listed::Sessions, "", left);
        check("which sessions broke the build", Listed::Sessions, "", failing);
        check(
            "sessions about caching with failing tests",
            Listed::Sessions,
            "caching with failing tests",
            failing,
        );
        check("how long did the cache migration take?", Listed::Sessions, "cache migration", None);
        check(
            "how many prompts did it take to finish the cache, roughly?",
            Listed::Sessions,
            "cache, roughly",
            None,
        );
        check("everything that touched pool.rs", Listed::Sessions, "pool.rs", None);
        check("which files changed most often?", Listed::Files, "", None);
        check("PR for the retry budget, what's its number", Listed::PullRequests, "retry budget", None);
        let not_a_list = |question: &str, name: RouteName| {
            assert_eq!(route(question).name, name, "{question}");
        };
        not_a_list("what changed since March 3", RouteName::CatchUp);
        not_a_list("what did we reject for the cache", RouteName::Decided);
        not_a_list("which projects use Hono", RouteName::Projects);
        not_a_list("how many times did the linter fail", RouteName::How);
    }

    #[test]
    fn the_first_and_the_last_of_something_are_sought_by_it() {
        let check = |question: &str, end: Option<End>, subject: &str| {
            let way = route(question);
            assert_eq!(
                (way.name, way.end, way.subject.as_str()),
                (RouteName::Find, end, subject),
                "{question}"
            );
        };
        check("when did we first use the retry budget?", Some(End::First), "retry budget");
        check("when did I last touch the cache?", Some(End::Last), "cache");
        check("when was the first time we met a deadlock", Some(End::First), "met a deadlock");
        check("what day was it that the pool broke", None, "pool broke");
    }

    #[test]
    fn work_on_a_topic_is_asked_by_it() {
        let check = |question: &str, name: RouteName, subject: &str| {
            let way = route(question);
            assert_eq!((way.name, way.subject.as_str()), (name, subject), "{question}");
        };
        check("pick up where we left off on the parser", RouteName::About, "parser");
        check("is there something to do for the parser?", RouteName::Pending, "parser");
        check("what is on the parser still open", RouteName::Pending, "parser");
        check("what did we try for the deadlock as we discussed?", RouteName::About, "deadlock");
        check(
            "why do we sum it up when the session ends",
            RouteName::About,
            "sum it up when the session ends",
        );
        check("how do I get around the lock timeout", RouteName::Fix, "lock timeout");
        check("what came of yesterday's session", RouteName::Digest, "what came of yesterday's session");
        check("and what about last Tuesday?", RouteName::Digest, "and what about last Tuesday?");
        assert!(route("what is waiting for me").is_waiting);
        assert!(!route("what is open").is_waiting);
    }

    #[test]
    fn only_a_question_that_no_rule_knows_is_a_guess() {
        for (question, expected) in [
            ("did the cat eat any of my shoes?", true),
            ("american or british spelling in here?", true),
            ("bounded queue", false),
            ("what is open", false),
        ] {
            assert_eq!(route(question).is_guess, expected, "{question}");
        }
    }

    #[test]
    fn files_and_numbers_are_read() {
        let file = |question: &str| route(question).file;
        let some = |path: &str, place: Option<&str>| Some((path.to_owned(), place.map(str::to_owned)));
        assert_eq!(file("why is src/pool.rs:42 like this?"), some("src/pool.rs", Some("42")));
        assert_eq!(file("What's the reason for line 88 of lib/cache.ts?"), some("lib/cache.ts", Some("88")));
        assert_eq!(
            file("why is acquire in src/pool.rs written that way?"),
            some("src/pool.rs", Some("acquire"))
        );
        assert_eq!(file("what should I know before editing src/pool.rs?"), some("src/pool.rs", None));
        assert_eq!(file("what do I know about e.g. pools"), None);
        assert_eq!(route("what did the last five sessions do?").sessions, Some(5));
    }

    #[test]
    fn times_are_read() {
        let check = |question: &str, expected: Option<&str>| {
            assert_eq!(route(question).period.as_deref(), expected, "{question}");
        };
        check("what did I do last week?", Some("last week"));
        check("what was done on Tuesday", Some("tuesday"));
        check("what did I do between Monday and Wednesday?", Some("monday..wednesday"));
        check("how did I spend the past 3 days", Some("last 3 days"));
        check("what did I do two weeks ago", Some("2 weeks ago"));
        check("qu'est-ce que j'ai fait la semaine dernière ?", Some("last week"));
        check("what did I get done in March", Some("march"));
        check("recap of 2026-03-01..2026-03-09", Some("2026-03-01..2026-03-09"));
        check("what did I do on November 16?", Some("16 november"));
        check("what did I do on the 16th of Nov", Some("16 november"));
        check("what did I do on 16 November 2025", Some("16 november 2025"));
        check("what happened in the last week of October", Some("last week of october"));
        check("what happened last Tuesday", Some("last tuesday"));
        check("Wednesday last week, what did I do?", Some("wednesday last week"));
        check("what happened between January 20 and January 25?", Some("20 january..25 january"));
        check("what was I up to since Monday?", Some("monday..today"));
        check("list the pull requests from February", Some("february"));
        check("summary of the past fortnight", Some("last 14 days"));
        check("what was done the day before yesterday", Some("2 days ago"));
        check("what did I do over the weekend", Some("saturday..sunday"));
        check("my work in mid January", Some("11 january..20 january"));
        check("work of 10.02.2026", Some("2026-02-10"));
        check("what did I do between the 9th and the 13th of February?", Some("9 february..13 february"));
        check("Was habe ich gestern gemacht?", Some("yesterday"));
        check("¿En qué trabajé la semana pasada?", Some("last week"));
        check("version 1.2.3 of the parser", None);
        check("may 40 connections be open", None);
        check("may I know what I did", None);
        check("what do I know about the weekly report", None);
    }

    #[test]
    fn lists_and_counts_are_told_from_topics() {
        let check = |question: &str, listed: Listed, topic: &str, period: Option<&str>| {
            let way = route(question);
            assert_eq!(
                (way.name, way.listed, way.subject.as_str(), way.period.as_deref()),
                (RouteName::List, Some(listed), topic, period),
                "{question}"
            );
        };
        check("how many sessions did I have last week", Listed::Sessions, "", Some("last week"));
        check("how many sessions touched the parser?", Listed::Sessions, "parser", None);
        check("How often did I work on the cache?", Listed::Sessions, "cache", None);
        check("list all sessions about retries", Listed::Sessions, "retries", None);
        check("what PRs did I open this month?", Listed::PullRequests, "", Some("this month"));
        check("list the pull requests from March", Listed::PullRequests, "", Some("march"));
        check("did we open a PR for the slow start?", Listed::PullRequests, "slow start", None);
        check("which files did I touch for the new lexer?", Listed::Files, "new lexer", None);
        check("which commits came out of the work on retries", Listed::Commits, "retries", None);
        check("what commits came out of the wingman work?", Listed::Commits, "wingman", None);
        check("in how many sessions was setup.go edited?", Listed::Sessions, "setup.go", None);
        check("how many sessions dealt with Gemini?", Listed::Sessions, "Gemini", None);
        check("how many sessions are there in total?", Listed::Sessions, "", None);
        check("count my sessions about the lexer", Listed::Sessions, "lexer", None);
        check("the number of commits last week", Listed::Commits, "", Some("last week"));
        check("which sessions were in February", Listed::Sessions, "", Some("february"));
        check("list the sessions that touched lexer.rs", Listed::Sessions, "lexer.rs", None);
        check("PRs", Listed::PullRequests, "", None);
        check("Wie viele Sitzungen hatte ich im Januar?", Listed::Sessions, "", Some("january"));
        check("¿Cuántas sesiones tuve en enero?", Listed::Sessions, "", Some("january"));
        check("一月有多少个会话？", Listed::Sessions, "", Some("january"));
        check("which branches did I work on in March?", Listed::Branches, "", Some("march"));
        for question in
            ["which session fixed the lexer", "which pull request brought the lexer", "file a bug"]
        {
            assert_ne!(route(question).name, RouteName::List, "{question}");
        }
    }

    #[test]
    fn a_topic_narrows_open_work() {
        let check = |question: &str, topic: &str| {
            let way = route(question);
            assert_eq!((way.name, way.subject.as_str()), (RouteName::Pending, topic), "{question}");
        };
        check("what is left to do on the parser?", "parser");
        check("anything unfinished for the release?", "release");
        check("what is on my plate?", "what is on my plate?");
        check("what is still open?", "what is still open?");
    }

    #[test]
    fn an_error_that_is_quoted_is_looked_up() {
        let check = |question: &str, expected: &str| {
            let way = route(question);
            assert_eq!((way.name, way.subject.as_str()), (RouteName::Fix, expected), "{question}");
        };
        check("how did I fix \"no such pool\" last time?", "no such pool");
        check("I'm getting `cannot borrow pool as mutable` again", "cannot borrow pool as mutable");
        check("error[E0502]: cannot borrow `pool`", "error[E0502]: cannot borrow `pool`");
        check(
            "I keep getting an error that says that the file lexer.toml is not trusted, what did we do then?",
            "file lexer.toml is not trusted",
        );
        check("how did we get rid of the borrow error", "borrow error");
        assert_eq!(route("what did we decide about \"fair use\"?").name, RouteName::Decided);
        assert_eq!(route("error handling in the parser").name, RouteName::Find);
    }

    #[test]
    fn what_was_done_at_a_named_time_is_summed_up() {
        for question in [
            "what was I doing two weeks ago",
            "what happened in the last week of October",
            "what happened last Tuesday",
            "show me everything from the first week of March",
            "what did we get done in January",
            "show me what I did in January",
            "remind me what I did last Thursday",
            "work of 2026-02-10",
            "my decisions from January",
            "Was habe ich gestern gemacht?",
            "¿Qué hice ayer?",
            "Что я делал вчера?",
            "昨天我做了什么？",
            "昨日何をしましたか？",
            "ماذا فعلت أمس؟",
        ] {
            assert_eq!(route(question).name, RouteName::Digest, "{question}");
        }
        assert_eq!(route("what was I doing?").name, RouteName::Brief);
    }

    #[test]
    fn no_question_is_too_odd() {
        for question in ["?", "a", "''''", "what's", "l'", "é", "\u{301}\u{301}", "İstanbul ı ſ", "w/ w/ b4"]
        {
            let _way = route(question);
        }
        let long = "where was ".repeat(2_000);
        assert!(!route(&long).subject.is_empty());
    }
}
