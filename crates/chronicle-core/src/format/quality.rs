//! Advice on an annotation before it is stored: hints for its author, never a refusal.

/// Shorter summaries rarely say why.
const SHORT_SUMMARY: usize = 20;
/// Shorter lessons rarely help anyone.
const SHORT_CONTENT: usize = 15;
/// A change to more files than this has usually taught something.
const MANY_FILES: usize = 3;

/// Advice on a summary, given the commit's subject.
#[must_use]
pub fn summary_advice(summary: &str, subject: &str) -> Option<String> {
    let plain = |text: &str| text.trim().trim_end_matches('.').to_lowercase();
    if plain(summary) == plain(subject) {
        return Some(
            "the summary repeats the commit's subject; say why this approach, not what changed".to_owned(),
        );
    }
    (summary.trim().chars().count() < SHORT_SUMMARY).then(|| {
        format!("the summary is shorter than {SHORT_SUMMARY} characters; say why this approach was taken")
    })
}

/// Advice on one lesson.
#[must_use]
pub fn content_advice(content: &str) -> Option<String> {
    (content.trim().chars().count() < SHORT_CONTENT)
        .then(|| format!("`{}` is too short to help the next reader", content.trim()))
}

/// Advice on an annotation as a whole.
#[must_use]
pub fn wisdom_advice(n_files: usize, n_entries: usize) -> Option<String> {
    (MANY_FILES < n_files && n_entries == 0)
        .then(|| format!("the commit changes {n_files} files and no lesson is given; what failed, what will bite, what is left?"))
}
