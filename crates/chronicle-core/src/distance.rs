//! The nearest of some names to a word that was probably meant to be one of them.

/// The candidate whose name is closest to `word` by Damerau-Levenshtein distance, if there is one.
pub fn nearest<T>(
    word: &str,
    candidates: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> &str,
) -> Option<T> {
    candidates.into_iter().min_by_key(|candidate| strsim::damerau_levenshtein(word, name(candidate)))
}

/// The names that differ from `word` in at most `limit` places, nearest first.
pub fn within<'a>(word: &str, names: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let mut near: Vec<_> = names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(word, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| name).collect()
}
