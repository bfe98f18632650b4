//! Comparing texts by their tokens.

/// What the model says of each token of a text: directions of length 1, one behind the other.
#[derive(Debug)]
pub(crate) struct States {
    numbers: Vec<f32>,
    n_dimensions: usize,
}

impl States {
    /// Those of tokens with so many `numbers` each; `None` where some are no numbers.
    pub(crate) fn of(mut numbers: Vec<f32>, n_dimensions: usize) -> Option<Self> {
        for state in numbers.chunks_exact_mut(n_dimensions) {
            let length = state.iter().map(|number| number * number).sum::<f32>().sqrt();
            if !length.is_finite() {
                return None;
            }
            state.iter_mut().for_each(|number| *number /= length.max(f32::MIN_POSITIVE));
        }
        Some(Self { numbers, n_dimensions })
    }

    fn each(&self) -> impl Iterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.n_dimensions)
    }

    /// How near `text` is to this question, whose tokens count so much each: -1 to 1.
    pub(crate) fn nearness(&self, weights: &[f32], text: &Self) -> f32 {
        let nearest = |token: &[f32]| text.each().map(|other| product(token, other)).fold(-1.0, f32::max);
        self.each()
            .zip(weights)
            .filter(|(_, weight)| 0.0 < **weight)
            .map(|(token, weight)| weight * nearest(token))
            .sum()
    }
}

fn product(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// How much each token of a question counts, together 1: half of it evenly, and half by how rare the part is that the
/// token belongs to. `parts` have a number of tokens and a rarity each.
pub(crate) fn weights(parts: &[(usize, f32)]) -> Vec<f32> {
    let n_tokens: usize = parts.iter().map(|(n_tokens, _)| n_tokens).sum();
    let told: f32 = parts.iter().filter(|(n_tokens, _)| 0 < *n_tokens).map(|(_, rarity)| rarity).sum();
    let even = 1.0 / n_tokens.max(1) as f32;
    let of_part = |(n_tokens, rarity): &(usize, f32)| {
        let rare = if 0.0 < told { rarity / told / (*n_tokens).max(1) as f32 } else { even };
        std::iter::repeat_n((even + rare) / 2.0, *n_tokens)
    };
    parts.iter().flat_map(of_part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_of_a_question_counts_as_the_nearest_of_the_text() {
        let question = States::of(vec![2.0, 0.0, 0.0, 3.0], 2).expect("numbers");
        let text = States::of(vec![5.0, 0.0, 3.0, 4.0], 2).expect("numbers");
        let nearness = question.nearness(&[0.75, 0.25], &text);
        assert!((nearness - (0.75 + 0.25 * 0.8)).abs() < 1e-6, "{nearness}");
    }

    #[test]
    fn half_of_the_weight_is_even_and_half_by_rarity() {
        assert_eq!(weights(&[(1, 0.0), (2, 3.0), (1, 1.0)]), [0.125, 0.3125, 0.3125, 0.25]);
        assert_eq!(weights(&[(1, 0.0), (0, 5.0), (1, 0.0)]), [0.5, 0.5]);
        assert_eq!(weights(&[]), [0.0; 0]);
    }

    #[test]
    fn what_is_no_number_is_no_state() {
        assert!(States::of(vec![f32::NAN, 1.0], 2).is_none());
        assert!(States::of(vec![f32::INFINITY, 1.0], 2).is_none());
        assert!(States::of(vec![0.0, 0.0], 2).is_some());
    }
}
