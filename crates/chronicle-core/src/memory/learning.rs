//! How sure it is what was learned by counting.

use data_encoding::BASE32_NOPAD;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// Days after which what was said counts half.
pub const EXPLICIT_HALF_LIFE: f64 = 730.0;

/// Days after which what was only done counts half.
pub const IMPLICIT_HALF_LIFE: f64 = 120.0;

/// The id of something learned: the same for the same `parts`, with `prefix` and a dash before it.
#[must_use]
pub fn learned_id(prefix: &str, parts: &[&str]) -> String {
    let claim = serde_json::json!(parts).to_string();
    let encoded = BASE32_NOPAD.encode(&Sha256::digest(claim.as_bytes())).to_lowercase();
    format!("{prefix}-{}", &encoded[..12])
}

/// The least share that `n_seen` of `n_all` speaks for: Wilson's lower bound at one standard deviation.
///
/// It grows with the share and with the number: 1 of 1 is 0.5, 3 of 3 is 0.75, 9 of 10 is 0.78.
#[must_use]
pub fn least_share(n_seen: usize, n_all: usize) -> f64 {
    if n_all == 0 {
        return 0.0;
    }
    let (seen, all) = (n_seen.min(n_all) as f64, n_all as f64);
    let share = seen / all;
    let middle = share + 0.5 / all;
    let spread = (share * (1.0 - share) / all + 0.25 / (all * all)).sqrt();
    ((middle - spread) / (1.0 + 1.0 / all)).clamp(0.0, 1.0)
}

/// What is left of `confidence` at `now`; what is dated later was just said.
#[must_use]
pub fn decayed(confidence: f64, confirmed: Option<Timestamp>, now: Timestamp, half_life: f64) -> f64 {
    let days = confirmed.map_or(0.0, |at| now.duration_since(at).as_secs_f64() / 86_400.0);
    confidence * f64::exp2(-days.max(0.0) / half_life)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_of_the_same_is_surer() {
        assert_eq!(least_share(0, 0), 0.0);
        assert!((least_share(1, 1) - 0.5).abs() < 1e-9);
        assert!((least_share(3, 3) - 0.75).abs() < 1e-9);
        assert!(least_share(3, 3) < least_share(9, 9));
        assert!(least_share(6, 10) < 0.6);
    }

    #[test]
    fn what_was_said_long_ago_counts_less_and_the_future_counts_as_now() {
        let at = |text: &str| -> Timestamp { text.parse().expect("a time") };
        let (then, now) = (at("2024-01-01T00:00:00Z"), at("2025-12-31T00:00:00Z"));
        assert!((decayed(0.8, Some(then), now, EXPLICIT_HALF_LIFE) - 0.4).abs() < 0.001);
        assert!(decayed(0.8, Some(then), now, IMPLICIT_HALF_LIFE) < 0.02);
        assert_eq!(decayed(0.8, Some(now), then, IMPLICIT_HALF_LIFE), 0.8);
        assert_eq!(decayed(0.8, None, now, IMPLICIT_HALF_LIFE), 0.8);
    }
}
