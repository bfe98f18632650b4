//! How much a memory still matters.
//!
//! `importance = max(initial · 0.5^(days / half-life) + boosts, floor)`: it halves with every half-life, each use
//! gives it back some of its weight, and it never falls below its floor. Nothing is deleted because it matters
//! little; it only makes room for what matters more.

/// What one use is worth when it happens.
const BOOST: f64 = 1.0;
/// What all uses together are worth at most.
const MOST_BOOSTS: f64 = 3.0;

/// How a kind of memory fades. Importance is measured as that of sessions: from 1 (trivial) to 5 (a major piece of work).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// The days after which half is left.
    pub half_life: f64,
    /// What is left for good.
    pub floor: f64,
}

impl Decay {
    /// A session: its importance at first.
    pub const SESSION: Self = Self { half_life: 14.0, floor: 0.2 };
    /// Open work: 5, 3 or 2, by its priority.
    pub const THREAD: Self = Self { half_life: 30.0, floor: 0.5 };
    /// What somebody knows or uses: the importance of the sessions that show it, added up.
    pub const FACT: Self = Self { half_life: 90.0, floor: 0.0 };

    /// The importance of what began with `initial` so many days ago, and was used so many days ago each time.
    ///
    /// What lies in the future, by a clock that was wrong, counts as of now.
    #[must_use]
    pub fn importance(self, initial: f64, days: f64, uses: impl IntoIterator<Item = f64>) -> f64 {
        let boosts: f64 = uses.into_iter().map(|days| BOOST * self.left(days)).sum();
        (initial * self.left(days) + boosts.min(MOST_BOOSTS)).max(self.floor)
    }

    /// The part that is left after so many days.
    #[must_use]
    pub fn left(self, days: f64) -> f64 {
        f64::exp2(-days.max(0.0) / self.half_life)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(days: f64, uses: &[f64], expected: f64) {
        let found = Decay::SESSION.importance(4.0, days, uses.iter().copied());
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn importance_halves_and_uses_give_some_of_it_back() {
        check(0.0, &[], 4.0);
        check(14.0, &[], 2.0);
        check(28.0, &[], 1.0);
        check(28.0, &[14.0], 1.5);
        check(28.0, &[0.0; 9], 4.0);
        check(10_000.0, &[], 0.2);
        // A clock that was wrong.
        check(-100.0, &[-3.0], 5.0);
        check(f64::NAN, &[], 4.0);
    }
}
