//! Words that name something in particular, rather than what any work is about.

use std::sync::LazyLock;

use chronicle_core::thread::Gist;

/// How many words name something in particular.
pub(crate) fn n_particular(words: &str) -> usize {
    particular(words).count()
}

/// The words that name something in particular, rather than what any work is about.
pub(crate) fn particular(words: &str) -> impl Iterator<Item = Gist> {
    const GENERAL: &str = "change changes branch code feedback issue test tests problem error plan comment thing file \
        directory folder content contents commit review check look add added fix fixed update updated remove removed \
        make made use used create created write wrote implement implemented follow work need want not but everything \
        above on both again them here failure these its his her their function method class helper helpers existing \
        task tasks done complete completed all two three four five following several some other others things cleaned \
        up that referenced";
    static GENERAL_KEYS: LazyLock<Gist> = LazyLock::new(|| Gist::of(GENERAL));
    Gist::of(words)
        .words()
        .map(Gist::of)
        .filter(|word| !word.has_word_of(&GENERAL_KEYS))
        .collect::<Vec<_>>()
        .into_iter()
}
