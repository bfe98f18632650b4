//! The nearest of some names to a word that was probably meant to be one of them.

/// The candidate whose name is closest to `word` by Damerau-Levenshtein distance, if there is one.
///
/// The distance is taken as a share of the longer word: else any word is near to a short name,
/// however much of a long one it holds (`todo_thread` means `unfinished_thread`, not `dead_end`).
pub fn nearest<T>(
    word: &str,
    candidates: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> &str,
) -> Option<T> {
    let distance = |candidate: &T| 1.0 - strsim::normalized_damerau_levenshtein(word, name(candidate));
    candidates.into_iter().min_by(|left, right| distance(left).total_cmp(&distance(right)))
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

/// How many characters must be put in, taken out or replaced to make one word of the other.
pub fn typos(one: &str, other: &str) -> usize {
    strsim::levenshtein(one, other)
}
