//! What a session may be called: what a colleague would know it by.
//!
//! The best is the name that the agent, a pull request or a plan gave to the work. A request is one where it asks for
//! something in particular; complaints, pasted logs and `look at this` are not. Then the commit and the agent's own
//! account say better what it came to be about.

use std::borrow::Cow;

use chronicle_core::thread::{Gist, key};

use crate::account::{self, n_particular};
use crate::digest::{LONGEST_TITLE, is_question};
use crate::journal::{Journal, Noted};
use crate::reading::Session;
use crate::typed::typed;
use crate::words::{first_sentence, imperative, n_words, sentences, shortened, wish};

/// Wishes that may give a title.
const EARLY_WISHES: usize = 3;

/// How many titles are kept.
const MOST_TITLES: usize = 12;

/// What a title is worth for where it is from, next to how often its words come up.
const TASK: usize = 6;
const COMMIT: usize = 6;
const ACCOUNT: usize = 5;
const PART: usize = 2;
const TELLING: usize = 2;

/// How often a word counts.
const MOST_SPREAD: usize = 4;

/// How long a clause has to be to stand alone when a title is cut behind it.
const LEAST_CLAUSE: usize = 28;

/// What the session may be called, the best first; each once.
pub(crate) fn candidates(journal: &Journal, session: &Session) -> Vec<String> {
    let given = session.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let named = (given.into_iter().map(str::to_owned))
        .chain(journal.pull_request_title.clone())
        .chain(journal.plan_title.as_deref().map(of_plan))
        .map(|title| titled(&title));
    let prompts = journal.prompts.iter().chain(&journal.first_wish).map(|prompt| prompt.words.as_str());
    let asked =
        prompts.map(|words| imperative(first_sentence(words), usize::MAX)).map(|title| titled(&title));
    let mut titles: Vec<String> = Vec::new();
    for title in
        named.chain(ranked(journal)).chain(asked.take(EARLY_WISHES)).filter(|title| !title.is_empty())
    {
        if !titles.contains(&title) && titles.len() < MOST_TITLES {
            titles.push(title);
        }
    }
    titles
}

/// Requests, commits and accounts as titles, those first whose words come up all over the session.
fn ranked(journal: &Journal) -> Vec<String> {
    let asked = |noted: &Noted| imperative(first_sentence(&noted.words), usize::MAX);
    let mut commits =
        journal.commits.iter().map(|(commit, _)| commit).filter(|commit| commit.says_something());
    let commit = commits.next();
    // Of several, each is a part of the work.
    let of_commit = if commits.next().is_some() { PART } else { COMMIT };
    let ticket = ticket(journal);
    let early = || journal.wishes.iter().take(EARLY_WISHES);
    let mut found: Vec<(usize, String)> = Vec::new();
    found.extend(
        early().enumerate().filter_map(|(index, wish)| Some((TASK.saturating_sub(index), task(wish)?))),
    );
    found.extend(commit.map(|commit| (of_commit, commit.subject.clone())));
    found.extend(account::name(journal).map(|name| (ACCOUNT, name)));
    found.extend(
        early()
            .enumerate()
            .filter(|(_, wish)| is_telling(wish))
            .map(|(index, wish)| (TELLING.saturating_sub(index), asked(wish))),
    );
    let about = account::about(journal);
    let mut ranked: Vec<(usize, String)> = found
        .into_iter()
        .map(|(bonus, title)| {
            let title = titled(&with_ticket(ticket.as_deref(), &title));
            (bonus + spread(&title, &about), title)
        })
        .collect();
    ranked.sort_by_key(|(worth, _)| std::cmp::Reverse(*worth));
    ranked.into_iter().map(|(_, title)| title).collect()
}

/// How often the particular words of a title come up in what a session is about, each counted a few times at most.
fn spread(title: &str, about: &[Gist]) -> usize {
    account::particular(title)
        .map(|word| about.iter().filter(|gist| gist.has_word_of(&word)).count().min(MOST_SPREAD))
        .sum()
}

/// The heading of a plan without the word that every plan has.
fn of_plan(heading: &str) -> String {
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

/// The first sentence of a request that asks for something in particular, in the imperative.
fn task(noted: &Noted) -> Option<String> {
    let typed = typed(&noted.words);
    // A long request is a text of its own: its first sentence says what it is for.
    let long = || sentences(noted.words.lines().find(|line| !line.trim().is_empty())?).next();
    let all = if typed.is_empty() { long().into_iter().collect() } else { typed };
    all.into_iter().take(4).find_map(|sentence| {
        let asked = asked_in(sentence)?;
        (2 <= n_particular(asked)).then(|| imperative(asked, usize::MAX))
    })
}

/// What a sentence asks for, from the verb of the work on.
fn asked_in(sentence: &str) -> Option<&str> {
    const INNER: [&str; 9] = [
        " we need to ",
        " we should ",
        " can you ",
        " could you ",
        " can we ",
        " let's ",
        " please ",
        " i want to ",
        " i want you to ",
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

/// Whether words begin with a verb for work on code.
fn begins_with_work(words: &str) -> bool {
    const VERBS: [&str; 86] = [
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
    !is_question(asked) && !tells_how_things_are && 3 <= n_words(&key(sentence))
}

/// The ticket that the session is about, as its first requests name it.
fn ticket(journal: &Journal) -> Option<String> {
    journal.prompts.iter().take(EARLY_WISHES).find_map(|prompt| ticket_in(&prompt.words))
}

/// `ABC-123` in words, in letters of either case.
fn ticket_in(words: &str) -> Option<String> {
    const NONE: [&str; 9] = ["utf", "sha", "iso", "rfc", "gpt", "http", "mp", "ipv", "es"];
    let head: String = words.chars().take(400).collect();
    let mut all = head.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    all.find_map(|word| {
        let mut parts = word.split('-');
        let (project, number) = (parts.next()?, parts.next()?);
        let is_project = (2..=6).contains(&project.len())
            && project.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !NONE.contains(&project.to_ascii_lowercase().as_str());
        let is_number = (1..=6).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_project && is_number).then(|| format!("{}-{number}", project.to_ascii_uppercase()))
    })
}

fn with_ticket(ticket: Option<&str>, title: &str) -> String {
    match ticket {
        Some(ticket) if !title.to_ascii_uppercase().contains(ticket) => format!("{ticket}: {title}"),
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
    const CLAUSES: [&str; 11] = [
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
    let end = line.char_indices().nth(LONGEST_TITLE).map_or(line.len(), |(index, _)| index);
    let at =
        |mark: &&str| line[..end].rfind(*mark).filter(|at| LEAST_CLAUSE <= *at && is_closed(&line[..*at]));
    match CLAUSES.iter().find_map(|mark| at(&mark)) {
        Some(at) => line[..at].trim_end_matches([',', ':', ' ']).to_owned(),
        None => shortened(&line, LONGEST_TITLE),
    }
}

/// Whether no code or quotation is open at the end.
fn is_closed(words: &str) -> bool {
    ['`', '"'].iter().all(|mark| words.matches(*mark).count() % 2 == 0)
        && words.matches('(').count() == words.matches(')').count()
}

fn without_brackets(line: &str) -> String {
    let mut kept = String::new();
    let mut depth = 0_usize;
    for letter in line.chars() {
        match letter {
            '(' if kept.is_empty() || kept.ends_with(' ') => depth += 1,
            ')' if 0 < depth => depth -= 1,
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ").replace(" :", ":").replace(" ,", ",")
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
