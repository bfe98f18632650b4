//! Fits an answer into a budget, for the commands that have none of their own on the command line.
//!
//! Whole pieces are left out, the last ones first, and the answer says how many. It is measured as JSON: the
//! markdown beside it is shorter.

use chronicle::{
    Check, Deps, KnowledgeReply, Summary, Timeline, Why,
    render::{Answer, View},
};

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

/// Implements [`Pieces`] for an answer whose pieces are the elements of one list.
macro_rules! pieces {
    ($answer:ty, $list:ident) => {
        impl Pieces for $answer {
            fn count(&self) -> usize {
                self.$list.len()
            }
            fn keep(&mut self, n_kept: usize) {
                self.$list.truncate(n_kept);
            }
            fn warnings(&mut self) -> &mut Vec<String> {
                &mut self.warnings
            }
        }
    };
}

pieces!(Check, files);
pieces!(Deps, dependents);
pieces!(KnowledgeReply, items);
pieces!(Summary, files);

impl Pieces for Timeline {
    fn count(&self) -> usize {
        self.moments.len()
    }

    /// The newest stay, as with `--limit`.
    fn keep(&mut self, n_kept: usize) {
        let n_older = self.moments.len().saturating_sub(n_kept);
        self.moments.drain(..n_older);
        self.n_left_out += n_older;
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
        self.wisdom.truncate(n_kept);
        self.regions.truncate(n_kept - self.wisdom.len());
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
