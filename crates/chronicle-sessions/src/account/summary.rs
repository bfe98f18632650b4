//! What came of a session, in a sentence or two.

use super::{Point, Shown, Sort, points};
use crate::journal::{Closing, Journal};
use crate::turn::{Commit, TodoState};
use crate::words::shortened;

/// How long a summary is at most.
const LONGEST: usize = 400;

/// How much of it is kept for what was counted: commits, checks, what is left.
const LONGEST_FACTS: usize = 190;

/// How long one quoted point is at most.
const LONGEST_POINT: usize = 170;

/// How many closing accounts are read, the last ones.
pub(super) const MOST_ACCOUNTS: usize = 24;

/// One closing account, and how much it weighs.
pub(super) struct Account {
    pub(super) points: Vec<Point>,
    pub(super) weight: usize,
    pub(super) has_work: bool,
}

/// The accounts of a session, and which of them says most of what came of it.
pub(super) fn accounts(journal: &Journal) -> (Vec<Account>, Option<usize>) {
    let shown = Shown::by(journal);
    let closings = journal.closings();
    let from = closings.len().saturating_sub(MOST_ACCOUNTS);
    let accounts: Vec<Account> = closings[from..].iter().map(|closing| account(closing, &shown)).collect();
    let is_any_work = accounts.iter().any(|account| account.has_work);
    let counts = |account: &&(usize, &Account)| account.1.weight != 0 && (account.1.has_work || !is_any_work);
    let main = accounts.iter().enumerate().collect::<Vec<_>>();
    let main = main.iter().filter(counts).max_by_key(|(index, account)| (account.weight, *index));
    let main = main.map(|(index, _)| *index);
    (accounts, main)
}

fn account(closing: &Closing, shown: &Shown) -> Account {
    let points: Vec<Point> = points(&closing.said.words)
        .into_iter()
        .filter_map(|point| Some(Point { words: shown.borne_out(&point.words)?, ..point }))
        .collect();
    let n_telling = points.iter().filter(|point| matches!(point.sort, Sort::Deed | Sort::Finding)).count();
    let n_other = points.len() - n_telling;
    let weight = 2 * n_telling.min(6) + n_other.min(4) + 2 * closing.n_edits.min(6);
    let weight = if points.is_empty() { 0 } else { weight };
    Account { points, weight, has_work: 0 < closing.n_edits || closing.has_commit }
}

/// What came of the session, as its closing accounts say and its transcript bears out; none where they say nothing.
pub(crate) fn summary(journal: &Journal) -> Option<String> {
    let (accounts, main) = accounts(journal);
    let main = main?;
    let facts = shortened(&facts(journal), LONGEST_FACTS);
    let room = LONGEST.saturating_sub(facts.chars().count() + 1);
    let mut quoted = Quoted { sentences: Vec::new(), room };
    for point in leading(&accounts[main].points) {
        quoted.add(&point.words);
    }
    let others =
        accounts.iter().enumerate().rev().filter(|(index, account)| *index != main && account.has_work);
    for (_, account) in others {
        if let Some(point) = leading(&account.points).into_iter().next() {
            quoted.add(&point.words);
        }
    }
    if quoted.sentences.is_empty() {
        return None;
    }
    let told = quoted.sentences.iter().map(String::as_str).chain(Some(facts.as_str()));
    Some(told.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" "))
}

/// The points of an account that say most of it, in their order.
pub(super) fn leading(points: &[Point]) -> Vec<&Point> {
    let says = |point: &&Point| matches!(point.sort, Sort::Deed | Sort::Finding);
    let opening = points.iter().find(|point| !matches!(point.sort, Sort::Heading | Sort::State));
    let mut found: Vec<&Point> = opening.into_iter().collect();
    found.extend(points.iter().filter(says).filter(|point| opening != Some(*point)));
    if found.len() < 2 {
        found.extend(points.iter().filter(|point| point.sort == Sort::Other && opening != Some(*point)));
    }
    if found.is_empty() {
        found.extend(points.iter().find(|point| point.sort == Sort::Heading));
    }
    found
}

/// Sentences, as many as there is room for.
struct Quoted {
    sentences: Vec<String>,
    room: usize,
}

impl Quoted {
    fn add(&mut self, words: &str) {
        let sentence = format!("{}.", shortened(words, LONGEST_POINT).trim_end_matches(['.', ':']));
        let sentence = sentence.replace("….", "…");
        let length = sentence.chars().count() + 1;
        let key = chronicle_core::thread::key(&sentence);
        let is_told = self.sentences.iter().any(|told| {
            chronicle_core::thread::key(told) == key
                || 0.6 <= chronicle_core::thread::likeness(told, &sentence)
        });
        if length <= self.room && !is_told {
            self.room -= length;
            self.sentences.push(sentence);
        }
    }
}

/// What was counted: what was committed and checked, and what was left.
fn facts(journal: &Journal) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(left(journal));
    let commits: Vec<&Commit> = journal.commits.iter().map(|(commit, _)| commit).collect();
    match commits.as_slice() {
        [] if journal.last_commit.is_some() || journal.files.is_empty() => {}
        [] => facts.push("not committed".to_owned()),
        [commit] => facts.push(format!("committed {}", quoted_commit(commit))),
        [.., last] => facts.push(format!("{} commits, last {}", commits.len(), quoted_commit(last))),
    }
    match journal.pull_requests.last().and_then(|url| url.rsplit_once('/')) {
        Some((_, number)) => facts.push(format!("PR #{}", shortened(number, 12))),
        None if journal.was_pushed => facts.push("pushed".to_owned()),
        None => {}
    }
    if let Some(check) = journal.checks.iter().rev().find(|check| check.is_passed.is_some()) {
        let word = if check.is_passed == Some(true) { "passed" } else { "failed" };
        facts.push(format!("`{}` {word} last", shortened(&check.command, 40)));
    }
    let sentence = facts.join(", ");
    if sentence.is_empty() { sentence } else { format!("{}.", super::capitalized(&sentence)) }
}

fn quoted_commit(commit: &Commit) -> String {
    match commit.subject.is_empty() {
        true => commit.id.clone(),
        false => format!("{} “{}”", commit.id, shortened(&commit.subject, 50)),
    }
}

/// What the agent's list and the last plan say is left.
fn left(journal: &Journal) -> Option<String> {
    if journal.has_rejected_plan() {
        return Some("the last plan was not approved".to_owned());
    }
    let items = journal.todos().items();
    let n_done = items.iter().filter(|item| item.state == TodoState::Completed).count();
    let left: Vec<&str> = items
        .iter()
        .filter(|item| matches!(item.state, TodoState::Pending | TodoState::InProgress))
        .map(|item| item.text.as_str())
        .collect();
    let (first, rest) = left.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let of =
        if n_done == 0 { String::new() } else { format!("{n_done} of {} tasks done, ", n_done + left.len()) };
    Some(format!("{of}still to do: {}{more}", shortened(first, 70)))
}
