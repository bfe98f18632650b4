//! Which words mean nearly the same: floor 1.
//!
//! What is compiled in was made from the vectors of a language model by
//! `words/make.py`, which says how. The vectors themselves stay behind: they
//! are compared there, once and for all, and of each word its nearest are kept.
//! `words/NOTICE` says whose the model is.

mod table;

use table::Table;

/// The words, and what is near to each.
static NEAR: &[u8] = include_bytes!("../words/near.bin");

/// A word that means nearly the same as another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// Its stem, by Porter's rules for English in their later form.
    pub stem: &'static str,
    /// The cosine between the vectors of the two, 0.3 to 1.
    pub cosine: f32,
}

/// The words that mean nearly the same as the one with this stem, the nearest first; at most four.
pub fn near(stem: &str) -> impl Iterator<Item = Near> + use<> {
    let table = Table::of(NEAR);
    let number = table.and_then(|table| table.number(stem));
    table.zip(number).into_iter().flat_map(|(table, number)| table.near(number))
}

#[cfg(test)]
mod tests {
    use rust_stemmers::{Algorithm, Stemmer};
    use sha2::{Digest, Sha256};

    use super::*;

    fn stems(stem: &str) -> Vec<&'static str> {
        near(stem).map(|near| near.stem).collect()
    }

    #[test]
    fn the_words_are_those_that_the_script_made() {
        let digest = Sha256::digest(NEAR).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(digest, "f7c009e6e1711ef9eb2090935cac9aa58166c9526ee0879bac8059c1e203cce4");
    }

    #[test]
    fn words_that_mean_nearly_the_same_are_near() {
        assert!(stems("dog").contains(&"puppi"));
        assert!(stems("error").contains(&"mistak"));
        assert_eq!(stems("xyzzy"), Vec::<&str>::new());
        assert_eq!(stems(""), Vec::<&str>::new());
    }

    #[test]
    fn what_is_near_is_told_by_falling_cosine() {
        let table = Table::of(NEAR).expect("it is whole");
        let mut n_near = 0;
        for number in 0..table.n_stems() {
            let near: Vec<Near> = table.near(number).collect();
            n_near += near.len();
            assert!(near.iter().all(|near| (0.29..=1.0).contains(&near.cosine)), "{near:?}");
            assert!(near.is_sorted_by(|left, right| right.cosine <= left.cosine), "{near:?}");
            assert!(near.iter().all(|near| table.number(near.stem).is_some_and(|other| other != number)));
        }
        assert!(table.n_stems() < n_near);
    }

    #[test]
    fn no_month_day_or_number_stands_for_another() {
        for stem in ["june", "monday", "seven", "hundr"] {
            assert_eq!(stems(stem), Vec::<&str>::new(), "{stem}");
        }
    }

    /// Stems that the script made and the index would not make are not found; these are words of all kinds.
    #[test]
    fn the_index_makes_the_same_stems() {
        let stemmer = Stemmer::create(Algorithm::English);
        for word in [
            "puppies",
            "mistakes",
            "generously",
            "skies",
            "dying",
            "news",
            "relational",
            "connection",
            "happily",
            "controllers",
            "yielding",
            "universities",
            "organization",
            "databases",
            "servers",
            "communities",
        ] {
            let stem = stemmer.stem(word);
            let table = Table::of(NEAR).expect("it is whole");
            assert!(table.number(&stem).is_some(), "{word}: {stem}");
        }
    }
}
