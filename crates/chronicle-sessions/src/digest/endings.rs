//! What a session leaves open without writing it into a list.
//!
//! Rules for words, each narrow: a thread that is none costs more trust than one
//! that was missed. They look at how the session ended, at what a human put off,
//! and at what the agent said last.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use chronicle_core::thread::{Evidence, Origin, ThreadKind};

use crate::journal::Journal;
use crate::journal::noted::Noted;
use crate::turn::TodoState;
use crate::words::{any_case, first_sentence, imperative, is_substantive, sentences, shortened};

mod asked;
mod halted;
mod handed;
mod stated;

pub(crate) use asked::question;
use asked::question_of;
use halted::{dropped_stashes, left_out, refused_edit, rejected_call, step_at_hand, vanished};
use handed::{for_the_human, listed};
use stated::{Stated, is_vague, stated};

/// The longest summary of a thread.
const LONGEST_SUMMARY: usize = 140;

/// The longest words that are shown as evidence.
const LONGEST_EVIDENCE: usize = 300;

/// A prompt beyond this is something pasted.
const LONGEST_TYPED: usize = 1_200;

/// How many items of a list are taken from one message.
const MOST_ITEMS: usize = 6;

/// Something left open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) kind: ThreadKind,
    pub(crate) origin: Origin,
    pub(crate) summary: String,
    pub(crate) context: String,
    pub(crate) is_broken: bool,
    pub(crate) noted: Noted,
}

impl Ending {
    fn new(kind: ThreadKind, origin: Origin, summary: String, noted: &Noted) -> Self {
        Self { kind, origin, summary, context: String::new(), is_broken: false, noted: noted.clone() }
    }

    pub(crate) fn evidence(&self, session: Option<&str>) -> Evidence {
        Evidence {
            session: session.map(str::to_owned),
            source: self.noted.source.clone(),
            words: shortened(&self.noted.words, LONGEST_EVIDENCE),
        }
    }
}

/// Everything that the session leaves open, besides its lists.
pub(crate) fn endings(journal: &Journal) -> Vec<Ending> {
    let mut found = Vec::new();
    found.extend(journal.issues.iter().map(|issue| {
        Ending::new(ThreadKind::Todo, Origin::Issue, imperative(&issue.title, LONGEST_SUMMARY), &issue.noted)
    }));
    found.extend(broken_checks(journal));
    found.extend(put_off(journal));
    found.extend(noted_by_the_human(journal));
    found.extend(open_plan(journal));
    found.extend(dropped_stashes(journal));
    found.extend(vanished(journal));
    found.extend(rejected_call(journal));
    found.extend(refused_edit(journal));
    found.extend(left_out(journal));
    match journal.last_word() {
        Some(said) => {
            // Who leaves without an answer has given one.
            found.extend(question_of(journal, said).filter(|_| journal.left.is_none()));
            found.extend(undone_request(journal));
            found.extend(listed(said));
            found.extend(for_the_human(said));
            found.extend(
                stated(&said.words).into_iter().take(MOST_ITEMS).map(|stated| of_statement(stated, said)),
            );
        }
        // What is known better says what was left: a list, a plan, a check.
        None if found.iter().any(|ending| ending.origin == Origin::Plan) => {}
        None if has_open_items(journal) => found.extend(step_at_hand(journal)),
        None => {
            if !found.iter().any(|ending| ending.is_broken) {
                let request = unfinished_request(journal);
                let number = request.as_ref().map(|request| request.noted.number);
                found.extend(undone_request(journal).filter(|undone| Some(undone.noted.number) != number));
                found.extend(request);
            }
        }
    }
    let context = journal.wishes.last().or(journal.first_wish.as_ref());
    let context = context.map(|wish| shortened(first_sentence(&wish.words), 200)).unwrap_or_default();
    for ending in &mut found {
        ending.context.clone_from(&context);
    }
    found
}

/// A check of each kind that failed and did not pass again.
pub(crate) fn broken_checks(journal: &Journal) -> Vec<Ending> {
    let mut found = Vec::new();
    let asked_last = journal.asked_last();
    for check in journal.checks.iter().filter(|check| check.is_passed == Some(false)) {
        let later_pass = |other: &&crate::journal::Check| {
            other.kind == check.kind
                && other.is_passed == Some(true)
                && check.noted.number < other.noted.number
        };
        let was_in_the_last_stretch = asked_last <= check.noted.number;
        if journal.checks.iter().any(|other| later_pass(&other)) || !was_in_the_last_stretch {
            continue;
        }
        let summary = get_to_pass(&check.command);
        let mut ending = Ending::new(ThreadKind::Incomplete, Origin::Check, summary, &check.noted);
        ending.is_broken = true;
        found = vec![ending];
    }
    found
}

/// What is to be done about a check that failed.
pub(crate) fn get_to_pass(command: &str) -> String {
    format!("Get `{}` to pass", shortened(command, 100))
}

/// The command that [`get_to_pass`] was told of.
pub(crate) fn checked(summary: &str) -> Option<&str> {
    summary.strip_prefix("Get `")?.strip_suffix("` to pass")
}

/// What a human said is for later.
fn put_off(journal: &Journal) -> Vec<Ending> {
    let mut found = Vec::new();
    for (index, prompt) in journal.prompts.iter().enumerate() {
        // Hardly any does: its sentences need not be looked at one by one.
        if LONGEST_TYPED < prompt.words.len() || !puts_off(&prompt.words) {
            continue;
        }
        for sentence in prompt.words.lines().flat_map(sentences) {
            if sentence.ends_with('?') || !puts_off(sentence) {
                continue;
            }
            let refers_back = sentence.split_whitespace().count() <= 9
                && [" it ", " it.", " that ", " this "]
                    .iter()
                    .any(|word| format!(" {sentence} ").contains(word));
            let before = journal.prompts[..index].iter().rev().find(|prompt| is_substantive(&prompt.words));
            let summary = match before.filter(|_| refers_back) {
                Some(before) => format!("Come back to this: {}", first_sentence(&before.words)),
                None => imperative(sentence, LONGEST_SUMMARY),
            };
            let summary = shortened(&summary, LONGEST_SUMMARY);
            found.push(Ending::new(ThreadKind::Deferred, Origin::Statement, summary, prompt));
        }
    }
    found
}

/// What a human said is open, and what nothing was done about.
///
/// A human's notes are requests as well: work behind one is about it, unless it was put off.
fn noted_by_the_human(journal: &Journal) -> Vec<Ending> {
    let last_work = Journal::number(journal.last_work.as_ref());
    let typed = journal.prompts.iter().filter(|prompt| prompt.words.len() <= LONGEST_TYPED);
    let open = typed.flat_map(|prompt| {
        let is_open = move |stated: &Stated<'_>| {
            !puts_off(stated.words) && (stated.kind == ThreadKind::Deferred || last_work < prompt.number)
        };
        stated(&prompt.words).into_iter().filter(is_open).map(|stated| of_statement(stated, prompt))
    });
    open.collect()
}

fn of_statement(stated: Stated<'_>, noted: &Noted) -> Ending {
    let noted = Noted { words: stated.words.to_owned(), ..noted.clone() };
    Ending::new(stated.kind, Origin::Statement, stated.summary, &noted)
}

/// Words that put something off for good reasons, rather than tell what came later.
static PUTTING_OFF: LazyLock<AhoCorasick> = LazyLock::new(|| {
    any_case([
        "look at it later",
        "look into it later",
        "look at that later",
        "look at this later",
        "do it later",
        "do that later",
        "do this later",
        "do those later",
        "do them later",
        "fix it later",
        "fix that later",
        "handle it later",
        "handle that later",
        "deal with it later",
        "deal with that later",
        "come back to it",
        "come back to this",
        "come back to that",
        "leave this for",
        "leave that for",
        "leave it for",
        "leave those for",
        "leave the others",
        "leave the rest",
        "for another day",
        "some other time",
        "in a follow-up",
        "in a followup",
        "in a follow up",
        "i'll follow up",
        "i will follow up",
        "future enhancement",
        "future exercise",
        "in a separate pr",
        "in another pr",
        "as a separate pr",
        "as a separate feature",
        "as a separate issue",
        "as a separate ticket",
        "in a separate issue",
        "in a separate ticket",
        "in a separate commit",
        "remind me to ",
        "next time: ",
    ])
});

/// Whether words put something off.
fn puts_off(words: &str) -> bool {
    PUTTING_OFF.is_match(words)
}

/// Whether the agent's own list says what is left.
fn has_open_items(journal: &Journal) -> bool {
    let mut items = journal.todos().items().iter();
    items.any(|item| matches!(item.state, TodoState::Pending | TodoState::InProgress))
}

/// The request on which the agent was at work when the session ended.
///
/// A commit after the last edit finishes a request even when the agent says no more.
fn unfinished_request(journal: &Journal) -> Option<Ending> {
    let last_prompt = journal.last_prompt.as_ref()?;
    let stop = Journal::number(journal.last_interruption.as_ref());
    let commit = Journal::number(journal.last_commit.as_ref());
    if Journal::number(journal.last_edit.as_ref()).max(last_prompt.number).max(stop) < commit {
        return None;
    }
    // What was changed and then passed its checks only lacks its last word.
    let edit = Journal::number(journal.last_edit.as_ref());
    if last_prompt.number < edit && stop < edit && journal.passed_after(edit) && ends_with_check(journal) {
        return None;
    }
    let worked = last_prompt.number < Journal::number(journal.last_work.as_ref())
        || last_prompt.number < Journal::number(journal.last_said.as_ref());
    if !worked && stop < last_prompt.number {
        return None;
    }
    let words = match &journal.plan_title {
        Some(title) if last_prompt.words.starts_with("Implement the following plan") => title.clone(),
        _ if is_substantive(&last_prompt.words) => {
            imperative(first_sentence(&last_prompt.words), LONGEST_SUMMARY)
        }
        // `1` and `yes` answer something that nobody but the agent can name.
        _ => return None,
    };
    let summary = shortened(&format!("Finish: {words}"), LONGEST_SUMMARY);
    Some(Ending::new(ThreadKind::Incomplete, Origin::Request, summary, last_prompt))
}

/// Whether a check is the last thing that was done.
fn ends_with_check(journal: &Journal) -> bool {
    let last = Journal::number(journal.last_work.as_ref());
    journal.checks.iter().any(|check| check.noted.number == last)
}

/// A push, a release or the like that was asked for and cut short, and that no commit finishes.
fn undone_request(journal: &Journal) -> Option<Ending> {
    let asked = journal.requests.unfinished()?;
    let summary = format!("Finish: {}", imperative(&asked.words, LONGEST_SUMMARY));
    Some(Ending::new(ThreadKind::Incomplete, Origin::Request, shortened(&summary, LONGEST_SUMMARY), asked))
}

/// A plan that nobody agreed to before the session ended.
fn open_plan(journal: &Journal) -> Option<Ending> {
    let (plan, is_agreed) = journal.last_plan.as_ref()?;
    let is_later = |noted: &Option<Noted>| plan.number < Journal::number(noted.as_ref());
    if *is_agreed == Some(true) || is_later(&journal.last_edit) {
        return None;
    }
    let title =
        plan.words.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(first_sentence(&plan.words));
    let summary = shortened(&format!("Decide on the plan: {title}"), LONGEST_SUMMARY);
    Some(Ending::new(ThreadKind::Question, Origin::Plan, summary, plan))
}
