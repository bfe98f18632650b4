//! What was done in a session, in lines of a list.

use chronicle_core::thread::likeness;

use super::{Point, Sort, summary::accounts};
use crate::journal::Journal;
use crate::words::shortened;

/// How long a deed is at most.
const LONGEST: usize = 120;

/// From this likeness on, two deeds are one.
const SAME: f64 = 0.6;

/// What closing accounts say was done, at most `most`, those of the weightiest account first.
pub(crate) fn deeds(journal: &Journal, most: usize) -> Vec<String> {
    let (accounts, main) = accounts(journal);
    let Some(main) = main else { return Vec::new() };
    let is_deed = |point: &&Point| point.sort == Sort::Deed;
    let mut found = Found { deeds: Vec::new(), most };
    let of_main = &accounts[main].points;
    of_main.iter().filter(is_deed).for_each(|point| found.add(point));
    if found.deeds.len() < 2 {
        let is_finding =
            |point: &&Point| point.sort == Sort::Finding || point.is_item && point.sort == Sort::Other;
        of_main.iter().filter(is_finding).take(3).for_each(|point| found.add(point));
    }
    let others = accounts.iter().enumerate().filter(|(index, account)| *index != main && account.has_work);
    for (_, account) in others {
        let mut deeds = account.points.iter().filter(is_deed).peekable();
        if deeds.peek().is_none() {
            let first = account.points.iter().find(|point| point.sort == Sort::Finding);
            first.into_iter().for_each(|point| found.add(point));
        }
        deeds.take(3).for_each(|point| found.add(point));
    }
    found.deeds
}

struct Found {
    deeds: Vec<String>,
    most: usize,
}

impl Found {
    fn add(&mut self, point: &Point) {
        let words = shortened(&point.words, LONGEST);
        let is_known = self.deeds.iter().any(|known| SAME <= likeness(known, &words));
        if !is_known && self.deeds.len() < self.most {
            self.deeds.push(words);
        }
    }
}
