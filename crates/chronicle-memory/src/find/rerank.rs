//! A small model on this machine that ranks again what words found, where somebody chose one.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use chronicle_rerank::{Part, RerankError, Reranker};
use chronicle_search::{Found, Question, StoredTurn};

use super::{snippet, told_text};

/// How many turns the model reads; `docs/search.md` has the figures.
pub(super) const MOST_READ: usize = 30;

/// How long a question waits for the model, which is loaded for it. What was not read by then keeps its place.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ranks what was found again, with the model in `folder`; tells what it had no time for.
///
/// # Errors
/// When there is no such model, or it cannot read a turn; then everything stays where it was.
pub(super) fn rank_again(
    folder: &Path,
    question: (&str, &mut Question),
    found: &mut Found,
) -> Result<Option<String>, RerankError> {
    let deadline = Instant::now() + PATIENCE;
    let (query, words) = question;
    let reranker = Reranker::open(folder)?;
    let texts: Vec<String> = found.hits.iter().take(MOST_READ).map(|hit| as_read(words, &hit.turn)).collect();
    let nearness =
        reranker.nearness(&parts(query, words, &found.rarities), &texts, &|| deadline <= Instant::now())?;
    found.rank_again(&nearness);
    let n_read = nearness.iter().flatten().count();
    Ok((n_read < texts.len()).then(|| {
        format!("the model had time for {n_read} of {} turns; words decide about the others", texts.len())
    }))
}

/// What the model reads of a turn: what is shown of it, who said it, and on which day.
fn as_read(words: &mut Question, turn: &StoredTurn) -> String {
    let day = turn.at.map(|at| at.strftime("(%-d %B %Y) ").to_string()).unwrap_or_default();
    let speaker = turn.speaker.as_ref().map(|speaker| format!("{speaker}: ")).unwrap_or_default();
    format!("{day}{speaker}{}", snippet(words, &told_text(turn)).text)
}

/// The question, cut where its words begin and end; a word has the space before it.
fn parts<'q>(query: &'q str, words: &mut Question, rarities: &[f32]) -> Vec<Part<'q>> {
    let mut parts = Vec::new();
    let mut end = 0;
    for (number, place) in words.places(query) {
        let start = end + query[end..place.start].trim_end().len();
        parts.push(Part { text: &query[end..start], rarity: 0.0 });
        let rarity = rarities.get(number).copied().unwrap_or_default();
        parts.push(Part { text: &query[start..place.end], rarity });
        end = place.end;
    }
    parts.push(Part { text: &query[end..], rarity: 0.0 });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_cut_where_its_words_begin_and_end() {
        let check = |query: &str, expected: &[(&str, f32)]| {
            let mut words = Question::new(query);
            let found = parts(query, &mut words, &[1.0, 2.0, 3.0]);
            let found: Vec<_> = found.into_iter().map(|part| (part.text, part.rarity)).collect();
            assert_eq!(found, expected);
        };
        check(
            "Why does the pool wait, pool?",
            &[
                ("Why does the", 0.0),
                (" pool", 1.0),
                ("", 0.0),
                (" wait", 2.0),
                (",", 0.0),
                (" pool", 1.0),
                ("?", 0.0),
            ],
        );
        check(
            "池连 été",
            &[("", 0.0), ("池", 1.0), ("", 0.0), ("连", 2.0), ("", 0.0), (" été", 0.0), ("", 0.0)],
        );
    }
}
