//! Fits an answer into a budget, for the commands that have none of their own on the command line.
//!
//! Whole pieces are left out, those of strangers first and the last ones first, and the answer says how many. It is measured as JSON: the
//! markdown beside it is shorter.

use chronicle::{
    Check, CheckedFile, Deps, KnowledgeItem, KnowledgeReply, RegionItem, Summary, Tier, Timeline, Why,
    WisdomItem, room,
};
use chronicle_render::{Answer, View};

/// The longest answer, in tokens of about four bytes, unless a call says otherwise.
pub(super) const DEFAULT_TOKENS: usize = 5_000;

/// As coarse as the budget of `git chronicle read`.
const BYTES_PER_TOKEN: usize = 4;

/// An answer made of pieces that can be left out.
pub(super) trait Pieces: Clone {
    /// How many there are.
    fn count(&self) -> usize;
    /// Leaves out all but `n_kept`.
    fn keep(&mut self, n_kept: usize);
    /// Where remarks about the answer go.
    fn warnings(&mut self) -> &mut Vec<String>;
}

/// As many pieces of `answer` as fit into `max_tokens`.
pub(super) fn fit<T: Pieces + Answer>(answer: T, max_tokens: usize, view: &View) -> T {
    most(answer, max_tokens, |answer| answer.json_line(view.verbose).len())
}

/// As many pieces of `answer` as fit into `max_tokens`, where `bytes` says how long an answer is.
fn most<T: Pieces>(answer: T, max_tokens: usize, bytes: impl Fn(&T) -> usize) -> T {
    let fits = |answer: &T| bytes(answer) <= max_tokens.saturating_mul(BYTES_PER_TOKEN);
    if fits(&answer) {
        return answer;
    }
    let kept = |n_kept: usize| {
        let mut part = answer.clone();
        part.keep(n_kept);
        let n_left_out = answer.count() - n_kept;
        part.warnings().push(format!("{n_left_out} more left out; raise max_tokens, or ask about less"));
        part
    };
    // Too many are known not to fit; none is taken where nothing fits.
    let (mut fitting, mut too_many) = (0, answer.count());
    while fitting + 1 < too_many {
        let middle = usize::midpoint(fitting, too_many);
        if fits(&kept(middle)) { fitting = middle } else { too_many = middle }
    }
    kept(fitting)
}

/// Implements [`Pieces`] for an answer whose pieces are lists: those of strangers go first, then the team's, of each the
/// last ones.
macro_rules! pieces {
    ($answer:ty, $tiers:expr, $retain:expr) => {
        impl Pieces for $answer {
            fn count(&self) -> usize {
                $tiers(self).len()
            }
            fn keep(&mut self, n_kept: usize) {
                let mut stays = room::kept(&$tiers(self), n_kept).into_iter();
                $retain(self, &mut || stays.next().unwrap_or_default());
            }
            fn warnings(&mut self) -> &mut Vec<String> {
                &mut self.warnings
            }
        }
    };
}

/// Whether the next piece stays, asked in the order of their tiers.
type Stays<'a> = &'a mut dyn FnMut() -> bool;

pieces!(
    Check,
    |check: &Check| -> Vec<Tier> {
        let of_file = |file: &CheckedFile| -> Vec<Tier> {
            let lessons = file.lessons.iter().map(|touched| touched.lesson.standing.tier);
            lessons.chain(file.dependents.iter().map(|touched| touched.dependent.tier)).collect()
        };
        check.files.iter().flat_map(of_file).collect()
    },
    |check: &mut Check, stays: Stays<'_>| {
        for file in &mut check.files {
            file.lessons.retain(|_| stays());
            file.dependents.retain(|_| stays());
        }
        check.files.retain(|file| !file.lessons.is_empty() || !file.dependents.is_empty());
    }
);

pieces!(
    Deps,
    |deps: &Deps| -> Vec<Tier> { deps.dependents.iter().map(|dependent| dependent.tier).collect() },
    |deps: &mut Deps, stays: Stays<'_>| deps.dependents.retain(|_| stays())
);

pieces!(
    KnowledgeReply,
    |reply: &KnowledgeReply| -> Vec<Tier> { reply.items.iter().map(KnowledgeItem::tier).collect() },
    |reply: &mut KnowledgeReply, stays: Stays<'_>| reply.items.retain(|_| stays())
);

pieces!(
    Summary,
    |summary: &Summary| -> Vec<Tier> {
        let units = summary.files.iter().flat_map(|file| &file.units);
        units.map(|unit| unit.tier).collect()
    },
    |summary: &mut Summary, stays: Stays<'_>| {
        summary.files.iter_mut().for_each(|file| file.units.retain(|_| stays()));
        summary.files.retain(|file| !file.units.is_empty());
    }
);

/// The tiers of items, and what tells which of them stay.
fn tiers<'a>(regions: &'a [RegionItem], wisdom: &'a [WisdomItem]) -> impl Iterator<Item = Tier> + use<'a> {
    let regions = regions.iter().map(|item| item.standing.tier);
    regions.chain(wisdom.iter().map(|item| item.standing.tier))
}

impl Pieces for Timeline {
    fn count(&self) -> usize {
        self.moments.iter().map(|moment| moment.regions.len() + moment.wisdom.len()).sum()
    }

    /// The newest stay, as with `--limit`.
    fn keep(&mut self, n_kept: usize) {
        self.moments.reverse();
        let all: Vec<Tier> =
            self.moments.iter().flat_map(|moment| tiers(&moment.regions, &moment.wisdom)).collect();
        let mut stays = room::kept(&all, n_kept).into_iter();
        let mut stays = || stays.next().unwrap_or_default();
        for moment in &mut self.moments {
            moment.regions.retain(|_| stays());
            moment.wisdom.retain(|_| stays());
        }
        let n_before = self.moments.len();
        self.moments.retain(|moment| !moment.regions.is_empty() || !moment.wisdom.is_empty());
        self.n_left_out += n_before - self.moments.len();
        self.moments.reverse();
    }

    fn warnings(&mut self) -> &mut Vec<String> {
        &mut self.warnings
    }
}

impl Pieces for Why {
    fn count(&self) -> usize {
        self.commits.len() + self.regions.len() + self.wisdom.len()
    }

    /// The commits that wrote the lines go last.
    fn keep(&mut self, n_kept: usize) {
        self.commits.truncate(n_kept);
        let n_kept = n_kept - self.commits.len();
        let all: Vec<Tier> = tiers(&[], &self.wisdom).chain(tiers(&self.regions, &[])).collect();
        let mut stays = room::kept(&all, n_kept).into_iter();
        self.wisdom.retain(|_| stays.next().unwrap_or_default());
        self.regions.retain(|_| stays.next().unwrap_or_default());
    }

    fn warnings(&mut self) -> &mut Vec<String> {
        &mut self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
    struct Words(Vec<&'static str>, Vec<String>);

    impl Pieces for Words {
        fn count(&self) -> usize {
            self.0.len()
        }
        fn keep(&mut self, n_kept: usize) {
            self.0.truncate(n_kept);
        }
        fn warnings(&mut self) -> &mut Vec<String> {
            &mut self.1
        }
    }

    fn check(max_tokens: usize, expected: Option<&str>) {
        let words = Words(vec!["four"; 10], Vec::new());
        let fitted = most(words, max_tokens, |words| words.0.concat().len());
        assert_eq!(fitted.0.len(), max_tokens.min(10));
        assert_eq!(fitted.1.first().map(String::as_str), expected);
    }

    #[test]
    fn whole_pieces_are_left_out_and_counted() {
        check(10, None);
        check(9, Some("1 more left out; raise max_tokens, or ask about less"));
        check(1, Some("9 more left out; raise max_tokens, or ask about less"));
        check(0, Some("10 more left out; raise max_tokens, or ask about less"));
    }
}
