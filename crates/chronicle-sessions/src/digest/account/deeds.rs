//! What was done in a session, in lines of a list.

use chronicle_core::thread::{Gist, likeness};

use super::{
    Point, Sort,
    summary::{Account, accounts},
};
use crate::journal::Journal;
use crate::words::{bare_name, clause};

/// How long a deed is at most.
const LONGEST: usize = 120;

/// From this likeness on, two deeds are one.
const SAME: f64 = 0.6;

/// How many words a deed and what takes it back share at least.
const LEAST_SHARED: usize = 2;

/// What closing accounts say was done, at most `most`: what the weightiest account says, then what others add to it.
pub(crate) fn deeds(journal: &Journal, most: usize) -> Vec<String> {
    let (accounts, main) = accounts(journal);
    let Some(main) = main else { return Vec::new() };
    let is_deed = |point: &&Point| point.sort == Sort::Deed;
    let mut found = Found { deeds: Vec::new(), names: Vec::new(), most };
    let of_main = &accounts[main].points;
    of_main.iter().filter(is_deed).for_each(|point| found.add(point));
    if found.deeds.len() < 2 {
        let is_finding =
            |point: &&Point| point.sort == Sort::Finding || point.is_item && point.sort == Sort::Other;
        of_main.iter().filter(is_finding).take(3).for_each(|point| found.add(point));
    }
    found.names = found.deeds.iter().flat_map(|deed| names(deed)).collect();
    let others = accounts.iter().enumerate().filter(|(index, account)| *index != main && account.has_work);
    for (_, account) in others {
        let mut deeds = account.points.iter().filter(is_deed).peekable();
        if deeds.peek().is_none() {
            let first = account.points.iter().find(|point| point.sort == Sort::Finding);
            first.into_iter().for_each(|point| found.add_other(point));
        }
        deeds.take(3).for_each(|point| found.add_other(point));
    }
    found.deeds
}

/// Takes out of `accounts` what later ones, a human's words or edits took back.
pub(super) fn take_back(accounts: &mut [Account], journal: &Journal) {
    let at_hand = journal.request_at_hand();
    let files: Vec<&str> = journal.files.iter().map(|file| bare_name(&file.path)).collect();
    for index in 0..accounts.len() {
        let (before, later) = accounts.split_at_mut(index + 1);
        let account = &mut before[index];
        let said = account.number;
        let is_undone = |words: &str| {
            let names = names(words);
            let mut changed = names.iter().filter(|name| files.contains(&name.as_str())).peekable();
            let is_one = |name: &String| journal.undone.iter().any(|(file, at)| file == name && said < *at);
            changed.peek().is_some() && changed.all(is_one)
        };
        let is_taken_back = |point: &Point| {
            later.iter().any(|account| account.takes_back(&point.words))
                || corrects(at_hand, &point.words)
                || is_undone(&point.words)
        };
        account.points.retain(|point| point.sort != Sort::Deed || !is_taken_back(point));
    }
}

/// The code and the files that words name.
pub(crate) fn names(words: &str) -> Vec<String> {
    let quoted = words.split('`').skip(1).step_by(2).map(str::to_owned);
    let is_file = |word: &&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        bare.rsplit_once('.')
            .is_some_and(|(name, ending)| !name.is_empty() && (1..=5).contains(&ending.len()))
    };
    let files = words.split_whitespace().filter(is_file).map(str::to_owned);
    let bare = |name: String| {
        let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        bare_name(name.split(['(', ' ']).next().unwrap_or_default()).to_owned()
    };
    let mut found: Vec<String> = quoted.chain(files).map(bare).filter(|name| 2 < name.len()).collect();
    found.sort();
    found.dedup();
    found
}

impl Account {
    /// Whether its request or its account undoes what an earlier one says was done.
    fn takes_back(&self, deed: &str) -> bool {
        const UNDOING: [&str; 5] = ["reverted", "undid", "rolled back", "dropped", "restored"];
        let undoes = |point: &Point| {
            let lower = point.words.to_lowercase();
            UNDOING.iter().any(|verb| lower.starts_with(verb)) && shares(&point.words, deed)
        };
        corrects(&self.request, deed) || self.points.iter().any(undoes)
    }
}

/// Whether a human says that what was done is wrong.
fn corrects(request: &str, deed: &str) -> bool {
    const MARKS: [&str; 14] = [
        "not correct",
        "incorrect",
        "is wrong",
        "that's wrong",
        "not what i",
        "not right",
        "revert",
        "undo ",
        "roll back",
        "shouldn't have",
        "should not have",
        "take that back",
        "we don't want",
        "i don't want",
    ];
    let lower = request.to_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark)) && shares(request, deed)
}

fn shares(one: &str, other: &str) -> bool {
    LEAST_SHARED <= Gist::of(one).n_words_of(&Gist::of(other))
}

struct Found {
    deeds: Vec<String>,
    /// What the deeds of the weightiest account name.
    names: Vec<String>,
    most: usize,
}

impl Found {
    fn add(&mut self, point: &Point) {
        let words = clause(&point.words, LONGEST);
        // What was committed is told by git.
        if words.starts_with("Committed ") || words.starts_with("Pushed ") {
            return;
        }
        let is_known = self.deeds.iter().any(|known| SAME <= likeness(known, &words));
        if !is_known && self.deeds.len() < self.most {
            self.deeds.push(words);
        }
    }

    /// The same for what another account says, if it is not about what the weightiest one names.
    fn add_other(&mut self, point: &Point) {
        if !names(&point.words).iter().any(|name| self.names.contains(name)) {
            self.add(point);
        }
    }
}
