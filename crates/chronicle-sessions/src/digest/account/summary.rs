//! What came of a session, in a sentence or two.

use chronicle_core::thread::{Gist, likeness};

use super::deeds::take_back;
use super::{Opening, Point, Shown, Sort, begins_with_deed, n_particular, opening, points, without_place};
use crate::digest::endings::question;
use crate::journal::{Check, Closing, Journal};
use crate::turn::{Commit, TodoState};
use crate::words::{LONGEST_TITLE, clause, of_plan, shortened};

/// How long a summary is at most.
const LONGEST: usize = 400;

/// How much of it is kept for what was counted: commits, checks, what is left.
const LONGEST_FACTS: usize = 190;

/// How long one quoted point is at most.
const LONGEST_POINT: usize = 170;

/// How long the heads of a list are together at most.
const LONGEST_HEADS: usize = 210;

/// How long the title of a plan is at most.
const LONGEST_PLAN: usize = 90;

/// How many points of one account are quoted.
const MOST_QUOTED: usize = 4;

/// How many requests and files are looked at to tell what a session is about.
const MOST_ABOUT: usize = 40;

/// How many names an account gives.
const MOST_NAMES: usize = 6;

/// How many closing accounts are read, the last ones.
pub(super) const MOST_ACCOUNTS: usize = 24;

/// One closing account, and how much it weighs.
pub(super) struct Account {
    pub(super) points: Vec<Point>,
    opening: Opening,
    /// What was asked for.
    pub(super) request: String,
    /// The turn in which it was said.
    pub(super) number: usize,
    pub(super) weight: usize,
    pub(super) has_work: bool,
    n_edits: usize,
    /// What the request was about that it answers.
    about: Gist,
    /// Whether it says that it is of the whole session.
    is_of_all: bool,
}

/// The accounts of a session, and which of them says most of what came of it.
pub(super) fn accounts(journal: &Journal) -> (Vec<Account>, Option<usize>) {
    let shown = Shown::by(journal);
    let closings = journal.closings();
    let from = closings.len().saturating_sub(MOST_ACCOUNTS);
    let mut accounts: Vec<Account> =
        closings[from..].iter().map(|closing| Account::of(closing, &shown)).collect();
    take_back(&mut accounts, journal);
    let is_any_work = accounts.iter().any(|account| account.has_work);
    let counts = |account: &&(usize, &Account)| account.1.weight != 0 && (account.1.has_work || !is_any_work);
    let main = accounts.iter().enumerate().collect::<Vec<_>>();
    let main =
        main.iter().filter(counts).max_by_key(|(index, account)| (account.is_of_all, account.weight, *index));
    let main = main.map(|(index, _)| *index);
    (accounts, main)
}

impl Account {
    fn of(closing: &Closing, shown: &Shown) -> Self {
        const OF_ALL: [&str; 5] =
            ["in this session", "final summary", "of all changes", "all the changes", "everything that was"];
        let points: Vec<Point> = points(&closing.said.words)
            .into_iter()
            .filter_map(|point| Some(Point { words: shown.borne_out(&point.words)?, ..point }))
            .collect();
        let opened = opening(&closing.said.words);
        let n_telling = points.iter().filter(|point| is_telling(point)).count();
        let n_other = points.len() - n_telling;
        let weight = 2 * n_telling.min(6) + n_other.min(4) + closing.n_edits.min(16);
        let lower = closing.said.words.to_lowercase();
        Self {
            weight: if points.is_empty() { 0 } else { weight },
            points,
            opening: Opening {
                first: opened
                    .first
                    .and_then(|first| Some(Point { words: shown.borne_out(&first.words)?, ..first })),
                heads: opened.heads,
            },
            request: closing.request.clone(),
            number: closing.said.number,
            n_edits: closing.n_edits,
            has_work: 0 < closing.n_edits || closing.has_commit,
            about: Gist::of(&closing.request),
            is_of_all: OF_ALL.iter().any(|mark| lower.contains(mark)),
        }
    }

    /// The points that say most, at most `most`, in their order.
    fn best(&self, most: usize) -> Vec<&Point> {
        let mut ranked: Vec<(usize, &Point)> = self.points.iter().enumerate().collect();
        ranked.sort_by_key(|(index, point)| (std::cmp::Reverse(self.worth(*index, point)), *index));
        ranked.truncate(most);
        ranked.sort_by_key(|(index, _)| *index);
        ranked.into_iter().map(|(_, point)| point).collect()
    }

    /// How much a point says: what was done and why first, with the names of code, and on what was asked.
    fn worth(&self, index: usize, point: &Point) -> usize {
        let of_sort = match point.sort {
            Sort::Deed | Sort::Finding => 6,
            Sort::Other if !point.is_item => 4,
            Sort::Other | Sort::Heading => 2,
            Sort::State => 0,
        };
        let is_first = self.points.iter().position(|point| point.sort != Sort::Heading) == Some(index);
        let n_asked = self.about.n_words_of(&Gist::of(&point.words)).min(3);
        let has_names = point.words.contains('`');
        let n_particular = n_particular(&point.words).min(3);
        of_sort + usize::from(is_first) + n_particular + n_asked + usize::from(has_names)
    }
}

fn is_telling(point: &Point) -> bool {
    matches!(point.sort, Sort::Deed | Sort::Finding)
}

/// What came of the session, as its closing accounts say and its transcript bears out; none where they say nothing.
pub(crate) fn summary(journal: &Journal) -> Option<String> {
    let (accounts, main) = accounts(journal);
    let main = main?;
    let facts = shortened(&facts(journal), LONGEST_FACTS);
    let room = LONGEST.saturating_sub(facts.chars().count() + 1);
    let mut quoted = Quoted { sentences: Vec::new(), room };
    let own = &accounts[main];
    let others =
        || accounts.iter().enumerate().rev().filter(|(index, account)| *index != main && account.has_work);
    quoted.open(&own.opening, &own.points, journal);
    let n_first = if own.is_of_all || others().next().is_none() { MOST_QUOTED } else { 2 };
    let is_named =
        |point: &&Point| own.opening.heads.iter().any(|head| point.words.starts_with(head.as_str()));
    own.best(n_first).into_iter().filter(|point| !is_named(point)).for_each(|point| quoted.add(point));
    others()
        .flat_map(|(_, account)| account.best(1))
        .filter(|point| is_telling(point))
        .for_each(|point| quoted.add(point));
    own.best(MOST_QUOTED).into_iter().filter(|point| !is_named(point)).for_each(|point| quoted.add(point));
    // `It is done` says nothing without what was asked.
    if n_particular(&quoted.sentences.join(" ")) < 2 {
        return None;
    }
    let told = quoted.sentences.iter().map(String::as_str).chain(Some(facts.as_str()));
    Some(told.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" "))
}

/// What the account of most work calls it: its only heading, its first words, and what it says was done or was so, each
/// with its sort.
pub(crate) fn names(journal: &Journal) -> Vec<(Sort, String)> {
    let (accounts, main) = accounts(journal);
    let most = accounts.iter().filter(|account| account.has_work && 0 < account.weight);
    let most = most.rev().max_by_key(|account| (account.is_of_all, account.n_edits));
    let Some(account) = most.or_else(|| accounts.get(main?)) else { return Vec::new() };
    let mut headings = account.points.iter().filter(|point| point.sort == Sort::Heading);
    let heading = headings.next().filter(|_| headings.next().is_none());
    let parts = joined(&account.opening);
    let mut points: Vec<(usize, &Point)> =
        account.points.iter().enumerate().filter(|(_, point)| point.sort != Sort::Heading).collect();
    points.sort_by_key(|(index, point)| {
        let of_sort = match point.sort {
            Sort::Deed => 0,
            Sort::Finding => 1,
            _ => 2,
        };
        (of_sort, point.is_item, *index)
    });
    let named = points.into_iter().map(|(_, point)| point).filter(|point| point.sort != Sort::State);
    let told = heading
        .into_iter()
        .chain(named)
        .map(|point| {
            let rest = without_place(&point.words);
            (point.sort, if begins_with_deed(rest) { rest } else { &point.words })
        })
        .filter(|(_, words)| 2 <= n_particular(words))
        .map(|(sort, words)| (sort, words.to_owned()));
    parts.map(|parts| (Sort::Heading, parts)).into_iter().chain(told).take(MOST_NAMES).collect()
}

/// The parts of the work in one line, where no sentence names the whole: `Close the pool; bound the queue`.
fn joined(opening: &Opening) -> Option<String> {
    let (first, rest) = opening.heads.split_first().filter(|_| opening.first.is_none())?;
    let together = rest.iter().fold(first.clone(), |told, head| format!("{told}; {}", lowered(head)));
    if together.chars().count() <= LONGEST_TITLE {
        return Some(together);
    }
    Some(format!("{first} and {} more", rest.len())).filter(|told| told.chars().count() <= LONGEST_TITLE)
}

/// What a text says of where a problem comes from, and what would solve it.
pub(crate) fn diagnosis(text: &str) -> Vec<String> {
    const CAUSES: [&str; 9] = [
        "causing",
        "because",
        "root cause",
        "the cause ",
        "the issue is that",
        "the problem is that",
        "the fix is",
        "caused by",
        "due to",
    ];
    let is_cause = |point: &Point| {
        let lower = point.words.to_lowercase();
        CAUSES.iter().any(|cause| lower.contains(cause)) && 3 <= n_particular(&point.words)
    };
    points(text)
        .into_iter()
        .filter(is_cause)
        .take(2)
        .map(|point| clause(&point.words, LONGEST_POINT))
        .collect()
}

/// What a session is about: its requests, the points of its accounts, its files and commits.
pub(crate) fn about(journal: &Journal) -> Vec<Gist> {
    let (accounts, _) = accounts(journal);
    let points = accounts.iter().filter(|account| account.has_work).flat_map(|account| &account.points);
    let prompts = journal.prompts.iter().take(MOST_ABOUT).map(|prompt| shortened(&prompt.words, 400));
    let files = journal.files.iter().take(MOST_ABOUT).map(|file| file.path.clone());
    let commits = journal.commits.iter().map(|(commit, _)| commit.subject.clone());
    let all = points
        .take(2 * MOST_ABOUT)
        .map(|point| point.words.clone())
        .chain(prompts)
        .chain(files)
        .chain(commits);
    all.map(|words| Gist::of(&words)).collect()
}

/// Sentences, as many as there is room for.
struct Quoted {
    sentences: Vec<String>,
    room: usize,
}

impl Quoted {
    /// Begins with the first sentence, and the parts of the work as a numbered list names them; without either with the
    /// plan that was carried out.
    fn open(&mut self, opening: &Opening, points: &[Point], journal: &Journal) {
        if let Some(first) = opening.first.as_ref().filter(|first| points.contains(first)) {
            self.add(first);
        }
        let (mut told, mut n_told) = (String::new(), 0);
        for head in &opening.heads {
            let head = if told.is_empty() { head.clone() } else { format!("; {}", lowered(head)) };
            if LONGEST_HEADS < told.chars().count() + head.chars().count() {
                break;
            }
            told.push_str(&head);
            n_told += 1;
        }
        let n_more = opening.heads.len() - n_told;
        if 2 <= n_told {
            let more = if n_more == 0 { String::new() } else { format!(" and {n_more} more") };
            self.push(format!("{told}{more}."));
        }
        let plan = journal.agreed_plan.as_ref().or(journal.plan_title.as_ref());
        if let Some(plan) = plan.filter(|_| self.sentences.is_empty() && journal.has_work()) {
            self.push(format!("Worked on the plan “{}”.", clause(&of_plan(plan), LONGEST_PLAN)));
        }
    }

    fn add(&mut self, point: &Point) {
        let words = clause(&point.words, LONGEST_POINT);
        let words = words.trim_end_matches(['.', ':']);
        let is_cjk = words.chars().next_back().is_some_and(|last| ('\u{3040}'..='\u{9fff}').contains(&last));
        let sentence = format!("{words}{}", if is_cjk { "。" } else { "." });
        self.push(sentence.replace("….", "…"));
    }

    fn push(&mut self, sentence: String) {
        let length = sentence.chars().count() + 1;
        let is_told = self.sentences.iter().any(|told| told == &sentence || 0.6 <= likeness(told, &sentence));
        if length <= self.room && !is_told {
            self.room -= length;
            self.sentences.push(sentence);
        }
    }
}

/// A deed in the middle of a sentence: its verb is no name.
fn lowered(head: &str) -> String {
    let first = head.split(' ').next().unwrap_or_default();
    let is_verb = begins_with_deed(head) && first.chars().skip(1).all(char::is_lowercase);
    if is_verb { head.replacen(first, &first.to_lowercase(), 1) } else { head.to_owned() }
}

/// What was counted: what was committed and checked, and what was left.
fn facts(journal: &Journal) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(left(journal));
    // What was at hand may be the very task that is left.
    let broken_off = journal.broken_off_at().filter(|action| {
        let task = action.trim_matches(['“', '”', '…']);
        task.is_empty() || !facts.iter().any(|fact| fact.contains(task))
    });
    facts.extend(broken_off.map(|action| format!("broken off at {action}")));
    let asked = journal
        .closings()
        .last()
        .filter(|_| journal.broken_off().is_none())
        .and_then(|last| question(&last.said));
    facts.extend(asked.map(|asked| format!("asked: “{}”", shortened(&asked.noted.words, 70))));
    let commits = journal.told_commits();
    match commits.as_slice() {
        [] if journal.refused_edit.is_some() && !journal.has_work() => {
            facts.push("nothing was changed".to_owned());
        }
        [] if journal.last_commit.is_some() || journal.files.is_empty() => {}
        [] => facts.push("not committed".to_owned()),
        [commit] => facts.push(format!("committed {}", quoted_commit(commit))),
        [.., last] => facts.push(format!("{} commits, last {}", commits.len(), quoted_commit(last))),
    }
    if !commits.is_empty() {
        facts.extend(uncommitted(journal));
    }
    match journal.pull_requests.last().and_then(|url| url.rsplit_once('/')) {
        Some((_, number)) => facts.push(format!("PR #{}", shortened(number, 12))),
        None if journal.was_pushed => facts.push("pushed".to_owned()),
        None => {}
    }
    facts.extend(journal.last_check().map(|check| went(journal, check, 40)));
    let sentence = facts.join(", ");
    if sentence.is_empty() { sentence } else { format!("{}.", super::capitalized(&sentence)) }
}

/// `2 files uncommitted (pool.rs, queue.rs)`.
fn uncommitted(journal: &Journal) -> Option<String> {
    let names: Vec<&str> =
        journal.uncommitted.paths().map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path)).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("{one} uncommitted")),
        [one, two] => Some(format!("{one} and {two} uncommitted")),
        _ => Some(format!("{} files uncommitted", names.len())),
    }
}

/// How a check went, and whether code was changed since.
pub(crate) fn went(journal: &Journal, check: &Check, longest: usize) -> String {
    let how = match check.is_passed {
        Some(true) => "passed last",
        _ if journal.is_outdated(check) => "failed before the last edit",
        _ => "failed last",
    };
    format!("`{}` {how}", shortened(&check.command, longest))
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
