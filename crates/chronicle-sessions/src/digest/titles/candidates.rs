//! What a session may be called: what a colleague would know it by.
//!
//! The best is the name that the agent, a pull request or a plan gave to the work. A request is one where it asks for
//! something in particular; complaints, pasted logs and `look at this` are not. Then the commit and the agent's own
//! account say better what it came to be about.

use std::borrow::Cow;

use chronicle_core::thread::{Gist, key};

use crate::digest::account;
use crate::journal::Journal;
use crate::journal::noted::Noted;
use crate::rows::session::Session;
use crate::words::particular::{n_particular, particular};
use crate::words::typed::typed;
use crate::words::{
    LONGEST_TITLE, begins_with_work, first_sentence, imperative, is_closed, is_polite, n_words, of_plan,
    sentences, shortened, wish, without_brackets, without_loose_end,
};

/// Wishes that may give a title.
const EARLY_WISHES: usize = 3;

/// How many titles are kept.
const MOST_TITLES: usize = 12;

/// What a title is worth for where it is from, next to how often its words come up.
const TASK: usize = 6;
const COMMIT: usize = 9;
const ACCOUNT: usize = 5;
const HEADING: usize = 6;
const PLAN: usize = 8;
const COMPLAINT: usize = 9;
const FOREIGN: usize = 30;
const BRANCH: usize = 6;
const PART: usize = 2;
const TELLING: usize = 2;

/// How often a word counts.
const MOST_SPREAD: usize = 4;

/// How many words of a title count: a long one is no better for its length.
const MOST_COUNTED: usize = 4;

/// How long a clause has to be to stand alone when a title is cut behind it.
const LEAST_CLAUSE: usize = 28;

/// What the session may be called, the best first; each once.
pub(crate) fn candidates(journal: &Journal, session: &Session) -> Vec<String> {
    let given = session.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let named = (given.into_iter().map(str::to_owned))
        .chain(journal.pull_request_title.clone())
        .chain(journal.prompts.first().and_then(|prompt| issue_in(&prompt.words)))
        .chain(journal.plan_title.as_deref().map(of_plan))
        .map(|title| titled(&title));
    let first = early(journal).into_iter().next();
    let prompts = first
        .into_iter()
        .chain(&journal.prompts)
        .chain(&journal.first_wish)
        .map(|prompt| prompt.words.as_str());
    let asked = prompts
        .map(|words| imperative(without_fragment(first_sentence(words)), usize::MAX))
        .map(|title| titled(&title));
    let mut titles: Vec<String> = Vec::new();
    for title in named
        .chain(ranked(journal, session))
        .chain(asked.take(EARLY_WISHES + 1))
        .filter(|title| !title.is_empty())
    {
        if !titles.contains(&title) && titles.len() < MOST_TITLES {
            titles.push(title);
        }
    }
    titles
}

/// Requests, commits and accounts as titles, those first whose words come up all over the session.
fn ranked(journal: &Journal, session: &Session) -> Vec<String> {
    let asked = |noted: &Noted| imperative(without_fragment(first_sentence(&noted.words)), usize::MAX);
    let mut commits = journal.told_commits().into_iter().filter(|commit| commit.says_something());
    let commit = commits.next();
    // Of several, each is a part of the work.
    let is_part = |subject: &str| {
        ["test", "tests", "docs", "chore", "style", "ci", "wip"].iter().any(|kind| {
            subject.to_lowercase().strip_prefix(kind).is_some_and(|rest| rest.starts_with([':', '(']))
        })
    };
    // `pool: wait` says less than what was asked.
    let names_it = |subject: &str| {
        let own = subject.split_once(": ").map_or(subject, |(_, own)| own);
        !is_part(subject) && 4 <= n_words(own) && 3 <= n_particular(own)
    };
    let is_whole = commits.next().is_none() && commit.is_some_and(|commit| names_it(&commit.subject));
    let of_commit = if is_whole { COMMIT } else { PART + 1 };
    let ticket = ticket(journal);
    let error = journal.prompts.first().and_then(|prompt| error_in(&prompt.words));
    let early = || early(journal).into_iter();
    let mut found: Vec<(usize, String)> = Vec::new();
    found.extend(
        early().enumerate().filter_map(|(index, wish)| Some((TASK.saturating_sub(index), task(wish)?))),
    );
    // Who asks in another language knows the session by what was asked.
    let foreign = early().take(1).filter(|wish| !is_english(first_sentence(&wish.words)));
    found.extend(foreign.map(|wish| (FOREIGN, asked(wish))));
    found
        .extend(error.filter(|_| !journal.files.is_empty()).map(|error| (COMPLAINT, format!("Fix {error}"))));
    found.extend(commit.map(|commit| (of_commit, commit.subject.clone())));
    found.extend(journal.agreed_plan.as_deref().map(|title| (PLAN, of_plan(title))));
    let has_code = journal.files.iter().any(|file| !is_of_tests(&file.path));
    let mut n_deeds = 0;
    for (sort, name) in account::names(journal) {
        let worth = match sort {
            account::Sort::Heading => HEADING,
            // Tests come with the work; they are seldom it.
            account::Sort::Deed if has_code && is_of_tests(&name) => PART,
            account::Sort::Deed if name.starts_with("Decided") => 0,
            account::Sort::Deed => {
                n_deeds += 1;
                // What is said first of it says most.
                ACCOUNT + 2 * usize::from(n_deeds == 1)
            }
            account::Sort::Finding => PART,
            _ => 0,
        };
        match problem(&name) {
            Some(problem) if !journal.files.is_empty() => found.push((ACCOUNT, format!("Fix: {problem}"))),
            _ => found.push((worth, as_order(without_label(&name)))),
        }
    }
    found.extend(
        early()
            .enumerate()
            .filter(|(index, wish)| {
                is_telling(wish)
                    // What was asked first, where it names its matter.
                    || *index == 0 && is_question(wish) && 3 <= n_particular(first_sentence(&wish.words))
            })
            .map(|(index, wish)| (TELLING.saturating_sub(index), asked(wish))),
    );
    // A branch that is for another ticket than the session is where it went later, or came from.
    let of_ticket = |branch: &&str| ticket_in(branch.rsplit('/').next().unwrap_or(branch));
    let branches = || session.branches.iter().map(String::as_str).chain(session.branch.as_deref());
    let branch = match &ticket {
        Some(ticket) => branches().find(|branch| of_ticket(branch).as_ref() == Some(ticket)),
        None => session.branch.as_deref(),
    };
    found.extend(branch.and_then(of_branch).map(|title| (BRANCH, title)));
    let about = account::about(journal);
    let mut ranked: Vec<(usize, String)> = found
        .into_iter()
        .map(|(bonus, title)| {
            (bonus + spread(&title, &about), titled(&with_ticket(ticket.as_deref(), &title)))
        })
        .collect();
    ranked.sort_by_key(|(worth, _)| std::cmp::Reverse(*worth));
    ranked.into_iter().map(|(_, title)| title).collect()
}

/// A request without the bare question at its end: `the build is red - why?`.
fn without_fragment(sentence: &str) -> &str {
    const FRAGMENTS: [&str; 6] = ["why", "how", "how come", "what's wrong", "any idea", "any ideas"];
    let bare = sentence.trim_end_matches(['?', '.', '!', ' ']);
    let cut = FRAGMENTS.iter().find_map(|fragment| {
        let rest = bare.strip_suffix(fragment)?;
        rest.ends_with([' ', ',']).then(|| rest.trim_end_matches([' ', ',', '-', '–', '—', ':']))
    });
    cut.filter(|cut| 3 <= n_words(cut)).unwrap_or(sentence)
}

/// What a branch says of the work that it is for: `ann/shop-12-let-the-pool-wait`.
fn of_branch(branch: &str) -> Option<String> {
    let name = branch.rsplit('/').next().unwrap_or(branch);
    let ticket = ticket_in(name);
    let number = ticket.as_deref().and_then(|ticket| ticket.rsplit('-').next()).unwrap_or_default();
    let words: Vec<&str> = name
        .split(['-', '_'])
        .filter(|word| !word.is_empty() && !word.bytes().all(|byte| byte.is_ascii_digit()))
        // What makes the name of a branch unique is no word.
        .filter(|word| {
            !(word.bytes().any(|byte| byte.is_ascii_digit())
                && word.bytes().any(|byte| byte.is_ascii_uppercase()))
        })
        .skip(usize::from(!number.is_empty()))
        .collect();
    let words = words.join(" ");
    let is_telling = 3 <= n_words(&words) && 2 <= n_particular(&words);
    (is_telling || ticket.is_some() && n_words(&words) == 2 && begins_with_work(&words))
        .then(|| with_ticket(ticket.as_deref(), &account::capitalized(&words)))
}

/// What is said to have been wrong: `Problem: the pool waits for ever`.
fn problem(words: &str) -> Option<&str> {
    const LABELS: [&str; 6] =
        ["Problem: ", "Issue: ", "Bug: ", "Root cause: ", "The problem: ", "The issue: "];
    LABELS.iter().find_map(|label| words.strip_prefix(label))
}

fn without_label(words: &str) -> &str {
    const LABELS: [&str; 6] = ["Solution: ", "Fix: ", "The fix: ", "Change: ", "Result: ", "Approach: "];
    LABELS.iter().find_map(|label| words.strip_prefix(label)).unwrap_or(words)
}

/// What was asked first, also behind slash commands.
fn early(journal: &Journal) -> Vec<&Noted> {
    let mut asked: Vec<&Noted> =
        journal.wishes.iter().take(EARLY_WISHES).chain(journal.commanded.iter().take(EARLY_WISHES)).collect();
    asked.sort_by_key(|asked| asked.number);
    asked.truncate(EARLY_WISHES);
    asked
}

/// The title of an issue that stands in a request, by its label: `title: The pool waits for ever`.
fn issue_in(words: &str) -> Option<String> {
    const LABELS: [&str; 7] =
        ["title", "issue title", "issue", "problem_statement", "problem statement", "bug", "feature request"];
    words.lines().take(24).find_map(|line| {
        let (label, title) = line.split_once(':')?;
        let label = label.trim().trim_matches(['*', '#', '-', '"', ' ']).to_lowercase();
        let title = title.trim().trim_matches(['"', '\'', '*', ' ']);
        let is_title =
            LABELS.contains(&label.as_str()) && (3..=24).contains(&n_words(title)) && !title.contains("://");
        is_title.then(|| account::capitalized(title))
    })
}

/// The error that somebody came with: `RangeError: index is out of range`.
fn error_in(words: &str) -> Option<String> {
    words.lines().take(40).find_map(|line| {
        let at = ["Error: ", "Exception: "].iter().find_map(|mark| Some(line.find(mark)? + mark.len()))?;
        let start = line[..at - 2].rfind(|c: char| !c.is_alphanumeric()).map_or(0, |before| before + 1);
        let name = &line[start..at - 2];
        let is_name = name.chars().count() > 5
            && name.starts_with(char::is_uppercase)
            && name.chars().skip(1).any(char::is_uppercase);
        let rest = sentences(line[at..].trim()).next().filter(|rest| 2 <= n_words(rest))?;
        is_name.then(|| format!("{name}: {rest}"))
    })
}

/// Whether words or a path are of tests.
fn is_of_tests(words: &str) -> bool {
    words.split(|c: char| !c.is_alphanumeric()).any(|word| {
        // `TestPool` as well as `pool_test.go`.
        let is_named = word.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase));
        is_named || ["test", "tests", "spec", "specs"].contains(&word.to_lowercase().as_str())
    })
}

/// What was done as an order, where its verb is a usual one: `Added a limit` is to add a limit.
fn as_order(words: &str) -> String {
    const IRREGULAR: [(&str, &str); 12] = [
        ("made", "Make"),
        ("wrote", "Write"),
        ("built", "Build"),
        ("rebuilt", "Rebuild"),
        ("rewrote", "Rewrite"),
        ("sent", "Send"),
        ("kept", "Keep"),
        ("found", "Find"),
        ("ran", "Run"),
        ("took", "Take"),
        ("undid", "Undo"),
        ("brought", "Bring"),
    ];
    let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
    let lower = first.to_ascii_lowercase();
    let irregular = IRREGULAR.iter().find(|(past, _)| *past == lower).map(|(_, verb)| (*verb).to_owned());
    let regular = || {
        let stem = lower.strip_suffix("ed").or_else(|| lower.strip_suffix("ing"))?;
        let with_y = stem.strip_suffix('i').map(|stem| format!("{stem}y"));
        let mut letters = stem.chars().rev();
        let is_doubled = letters.next().is_some_and(|last| letters.next() == Some(last));
        let single = is_doubled.then(|| stem[..stem.len() - 1].to_owned());
        let verb = [Some(format!("{stem}e")), Some(stem.to_owned()), single, with_y];
        verb.into_iter().flatten().find(|verb| begins_with_work(verb)).map(|verb| account::capitalized(&verb))
    };
    match irregular.or_else(regular) {
        Some(verb) => format!("{verb} {rest}").trim_end().to_owned(),
        None => words.to_owned(),
    }
}

/// How often the particular words of a title come up in what a session is about, each counted a few times at most.
fn spread(title: &str, about: &[Gist]) -> usize {
    let mut counts: Vec<usize> = particular(title)
        .map(|word| about.iter().filter(|gist| gist.has_word_of(&word)).count().min(MOST_SPREAD))
        .collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    counts.into_iter().take(MOST_COUNTED).sum()
}

/// The first sentence of a request that asks for something in particular, in the imperative.
fn task(noted: &Noted) -> Option<String> {
    let typed = typed(&noted.words);
    // A long request is a text of its own: its first sentence says what it is for.
    let long = || sentences(noted.words.lines().find(|line| !line.trim().is_empty())?).next();
    let all = if typed.is_empty() { long().into_iter().collect() } else { typed };
    all.into_iter().take(4).find_map(|sentence| {
        let asked = asked_in(sentence)?;
        (!points(asked) && 2 <= n_particular(asked)).then(|| imperative(asked, usize::MAX))
    })
}

/// Whether a sentence may be English: it has one of its small words, or so few words that none says so.
fn is_english(sentence: &str) -> bool {
    const SMALL: [&str; 44] = [
        "the", "a", "an", "to", "of", "and", "for", "with", "is", "are", "it", "this", "that", "we", "you",
        "i", "can", "please", "not", "from", "by", "be", "should", "all", "when", "if", "my", "our", "your",
        "how", "why", "what", "let's", "add", "fix", "make", "use", "update", "remove", "create", "write",
        "run", "test", "at",
    ];
    let is_latin = sentence.chars().filter(|c| c.is_alphabetic()).all(|c| c < '\u{250}');
    let lower = sentence.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    is_latin && (n_words(sentence) < 4 || words.any(|word| SMALL.contains(&word)))
}

/// Whether words only point at what they are about: `move it somewhere else`.
fn points(asked: &str) -> bool {
    let object = asked.split_whitespace().nth(1).unwrap_or_default().to_lowercase();
    ["it", "this", "that", "these", "those", "them"].contains(&object.as_str())
}

/// What a sentence asks for, from the verb of the work on.
fn asked_in(sentence: &str) -> Option<&str> {
    const INNER: [&str; 11] = [
        " we need to ",
        " we should ",
        " can you ",
        " could you ",
        " can we ",
        " let's ",
        " please ",
        " i want to ",
        " i want you to ",
        " i'd like to ",
        " i would like to ",
    ];
    let whole = wish(sentence);
    if begins_with_work(whole) {
        return Some(whole);
    }
    let lower = sentence.to_ascii_lowercase();
    INNER
        .iter()
        .filter_map(|mark| Some(wish(&sentence[lower.find(mark)? + mark.len()..])))
        .find(|rest| begins_with_work(rest))
}

/// Whether a wish tells what is to be done, rather than to go on, to answer something, or how things are.
fn is_telling(asked: &Noted) -> bool {
    const NARRATIVES: [&str; 32] = [
        "i", "i'm", "i've", "i'd", "i'll", "we", "we're", "we've", "it", "it's", "this", "that", "these",
        "there", "but", "oh", "ah", "hmm", "weird", "gah", "when", "why", "what", "how", "is", "are", "do",
        "does", "seeing", "got", "getting", "context:",
    ];
    let sentence = first_sentence(&asked.words);
    let first = wish(sentence).split_whitespace().next().unwrap_or_default().to_lowercase().replace('’', "'");
    let tells_how_things_are = NARRATIVES.contains(&first.trim_end_matches([',', '.', '!']));
    !is_question(asked) && !tells_how_things_are && !points(wish(sentence)) && 3 <= n_words(&key(sentence))
}

/// The ticket that the session is about, as its first requests name it.
fn ticket(journal: &Journal) -> Option<String> {
    let asked = journal.prompts.iter().take(EARLY_WISHES).chain(journal.commanded.iter().take(EARLY_WISHES));
    asked.map(|asked| ticket_in(&asked.words)).find(Option::is_some).flatten()
}

/// `ABC-123` in words, in letters of either case.
fn ticket_in(words: &str) -> Option<String> {
    const NONE: [&str; 9] = ["utf", "sha", "iso", "rfc", "gpt", "http", "mp", "ipv", "es"];
    let head: String = words.chars().take(400).collect();
    let mut all = head.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    all.find_map(|word| {
        let mut parts = word.split('-');
        let (project, number) = (parts.next()?, parts.next()?);
        // In small letters only short ones are tickets rather than names.
        let longest = if project.bytes().any(|byte| byte.is_ascii_lowercase()) { 4 } else { 8 };
        let is_project = (2..=longest).contains(&project.len())
            && project.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !NONE.contains(&project.to_ascii_lowercase().as_str());
        let is_number = (1..=6).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_project && is_number).then(|| format!("{}-{number}", project.to_ascii_uppercase()))
    })
}

fn with_ticket(ticket: Option<&str>, title: &str) -> String {
    match ticket {
        Some(ticket) if ticket_in(title).is_none() => format!("{ticket}: {title}"),
        _ => title.to_owned(),
    }
}

/// A title that fits: without remarks in brackets and long paths, and cut behind a clause rather than in it.
fn titled(words: &str) -> String {
    let line = words.split_whitespace().map(short_path).collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches(['.', ':', ',', ' ']);
    if line.chars().count() <= LONGEST_TITLE {
        return line.to_owned();
    }
    let line = without_brackets(line);
    if line.chars().count() <= LONGEST_TITLE {
        return line;
    }
    const CLAUSES: [&str; 20] = [
        " to ensure ",
        " to make sure ",
        " to match ",
        " to avoid ",
        " to prevent ",
        " to support ",
        " to allow ",
        " to include ",
        " to handle ",
        "; ",
        " — ",
        " – ",
        " - ",
        ", ",
        " so that ",
        " because ",
        " which ",
        " instead of ",
        " rather than ",
        " when ",
    ];
    const PHRASES: [&str; 13] = [
        ": ", " and ", " in ", " for ", " to ", " by ", " as ", " with ", " using ", " from ", " on ",
        " at ", " of ",
    ];
    let end = line.char_indices().nth(LONGEST_TITLE).map_or(line.len(), |(index, _)| index);
    let at = |mark: &&str| {
        let mut found = line.match_indices(*mark).map(|(at, _)| at).take_while(|at| *at <= end);
        let found = found.by_ref().filter(|at| LEAST_CLAUSE <= *at && is_closed(&line[..*at]));
        found.last()
    };
    // Else behind the last phrase that is whole.
    let phrase = || PHRASES.iter().filter_map(&at).max();
    match CLAUSES.iter().find_map(&at).or_else(phrase) {
        Some(at) => line[..at].trim_end_matches([',', ':', ' ']).to_owned(),
        None => without_loose_end(&shortened(&line, LONGEST_TITLE)),
    }
}

/// The name of a file in the place of its whole path.
fn short_path(word: &str) -> Cow<'_, str> {
    let is_mark = |c: char| !c.is_alphanumeric() && !"/.~_-".contains(c);
    let path = word.trim_matches(is_mark).trim_end_matches('/');
    let is_path = 24 < path.len() && 2 <= path.matches('/').count() && !path.contains("://");
    match path.rsplit('/').next().filter(|tail| is_path && !tail.is_empty()) {
        Some(tail) => Cow::Owned(word.replacen(path, tail, 1)),
        None => Cow::Borrowed(word),
    }
}

/// Whether a wish asks to be told something; `can you …?` asks for work.
pub(crate) fn is_question(wish: &Noted) -> bool {
    let sentence = first_sentence(&wish.words);
    sentence.ends_with(['?', '？']) && !is_polite(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_told_as_an_order() {
        let check = |words: &str, expected: &str| assert_eq!(as_order(words), expected);
        check("Added a limit to the pool", "Add a limit to the pool");
        check("Removed the old queue", "Remove the old queue");
        check("Dropped two columns", "Drop two columns");
        check("Applied the schema", "Apply the schema");
        check("Updating the lock file", "Update the lock file");
        check("Rewrote the parser", "Rewrite the parser");
        check("Yodelled the parser", "Yodelled the parser");
        check("The pool waits", "The pool waits");
    }

    #[test]
    fn a_long_title_ends_where_a_phrase_does() {
        let check = |words: &str, expected: &str| assert_eq!(titled(words), expected);
        check("Let the pool wait for a slot", "Let the pool wait for a slot");
        check(
            "Add a limit to the connection pool so that no client waits for more than a minute",
            "Add a limit to the connection pool",
        );
        check(
            "Replace the hand-written parser of the settings with the one of the library that reads them",
            "Replace the hand-written parser of the settings with the one",
        );
        check(
            "Rename `a_function_with_a_very_long_name_indeed` and `another_long_name` everywhere",
            "Rename `a_function_with_a_very_long_name_indeed`",
        );
        check("Remove src/of/the/long/and/winding/path/to/pool.rs (unused)", "Remove pool.rs (unused)");
        check(
            "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft",
            "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauun…",
        );
    }

    #[test]
    fn an_issue_in_a_request_names_the_session() {
        let check =
            |words: &str, title: Option<&str>| assert_eq!(issue_in(words).as_deref(), title, "{words}");
        check(
            "Solve this:\n  repo: shop\n  title: the pool waits for ever\nDescription",
            Some("The pool waits for ever"),
        );
        check("**Issue:** \"Uploads are sent twice\"\n\nSteps: click", Some("Uploads are sent twice"));
        check("issue: https://example.com/1 is back again", None);
        check("title: x", None);
        check("mend the pool: it waits for ever", None);
        assert_eq!(ticket_in("see shop-12 and django-900").as_deref(), Some("SHOP-12"));
        assert_eq!(ticket_in("see django-900"), None);
    }

    #[test]
    fn a_branch_names_the_work_that_it_is_for() {
        let check =
            |branch: &str, title: Option<&str>| assert_eq!(of_branch(branch).as_deref(), title, "{branch}");
        check("ann/let-the-pool-wait", Some("Let the pool wait"));
        check("ann/shop-12-let-the-pool-wait", Some("SHOP-12: Let the pool wait"));
        check("ann/shop-12-pool-queue-2", None);
        check("ann/shop-12-fix-queue-2", Some("SHOP-12: Fix queue"));
        check("20260209-bound-the-queue", Some("Bound the queue"));
        check("agent/let-pool-wait-xqM7a", Some("Let pool wait"));
        check("main", None);
        check("ann/pool", None);
        check("shop-12", None);
    }

    #[test]
    fn a_bare_question_is_no_part_of_a_title() {
        let check = |words: &str, title: &str| assert_eq!(without_fragment(words), title);
        check("the build of main is red - why?", "the build of main is red");
        check("the pool hangs at night, any idea?", "the pool hangs at night");
        check("show me how", "show me how");
        check("why is the build red?", "why is the build red?");
    }

    #[test]
    fn an_error_is_named_as_its_program_does() {
        let check =
            |words: &str, error: Option<&str>| assert_eq!(error_in(words).as_deref(), error, "{words}");
        check(
            "it dies at start\n  at main\nRangeError: index is out of range\n  at x",
            Some("RangeError: index is out of range"),
        );
        check(
            "java.lang.IllegalStateException: pool is closed",
            Some("IllegalStateException: pool is closed"),
        );
        check("Error: something failed here", None);
        check("an API Error: see below", None);
        check("ValueError: x", None);
    }

    #[test]
    fn another_language_is_told_from_english() {
        for english in
            ["make the pool wait", "Bump serde", "retry uploads for slow clients", "fix flaky upload spec"]
        {
            assert!(is_english(english), "{english}");
        }
        for foreign in [
            "把连接池的上限改成八个连接",
            "接続プールの上限を八にしてください",
            "Der Pool soll auf eine freie Verbindung warten",
            "ajoute une limite au nombre de connexions",
        ] {
            assert!(!is_english(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_request_that_only_points_names_nothing() {
        let asked = |words: &str| task(&Noted { words: words.to_owned(), ..Noted::default() });
        assert_eq!(asked("move it somewhere better").as_deref(), None);
        assert_eq!(asked("can you fix this?").as_deref(), None);
        assert_eq!(
            asked("ok, add a retry to the upload of reports").as_deref(),
            Some("Add a retry to the upload of reports")
        );
        assert_eq!(
            asked("the upload fails at night. we should add a retry to the upload job").as_deref(),
            Some("Add a retry to the upload job")
        );
    }
}
