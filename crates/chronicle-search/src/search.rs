//! Search: which turns answer a question best.
//!
//! A turn scores by its own words (BM25), by those of the two turns on either
//! side, and by those of its whole session: what was said is often named in the
//! question that it answers. A word also counts, for less, where one stands that
//! means nearly the same. `docs/search.md` says how the weights were found.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    ops::Range,
};

use jiff::Timestamp;
use rusqlite::{Connection, params_from_iter, types::Value};

use crate::index::{
    Indexed, is_wanted,
    words::{Term, Words},
};
use crate::{ProjectId, SessionId, StoredTurn, TurnKind, Vector};

mod fits;
mod sheet;
mod weights;

pub use fits::Beginnings;
use sheet::{Candidate, Sheet};
use weights::{ASKING_WORD, LEAST_SOUGHT, LEAST_USUAL, STANDS_OUT, VECTOR};

/// How many different words of a question count.
const MOST_TERMS: usize = 64;

/// How many words of a question are read for whom it is about.
const MOST_WORDS_READ: usize = 1_000;

/// How many turns that words found are compared with the vector of a question.
const MOST_COMPARED: usize = 100;

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// In this project; in all without one.
    pub project: Option<ProjectId>,
    /// In sessions on this branch.
    pub branch: Option<String>,
    /// In sessions that changed a file whose path is, or ends with, or lies in this.
    pub file: Option<String>,
    /// For what happened then or later.
    pub since: Option<Timestamp>,
    /// For turns of these kinds; of all without any.
    pub kinds: Vec<TurnKind>,
}

/// A turn that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The turn.
    pub turn: StoredTurn,
    /// How well it answers: a number to compare with others of the same answer.
    pub score: f64,
}

/// The words of a question.
#[derive(Debug, Default)]
pub struct Question {
    terms: Vec<Term>,
    /// Each of them as it was written.
    written: Vec<String>,
    /// How much each of them counts: one that only asks counts less.
    shares: Vec<f32>,
    /// Whether it is about who asks it.
    is_first_person: bool,
    /// The terms that mean nearly the same as each of them, with the cosine.
    near: Vec<Vec<(Term, f32)>>,
    /// What the question means as a whole, as some model sees it.
    vector: Option<(String, Vector)>,
    words: Words,
}

impl Question {
    /// The words of `text` that can be looked for.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut words = Words::default();
        let (mut terms, mut places) = (Vec::new(), Vec::new());
        words.asked_at(text, &mut |term, place| {
            if terms.len() < MOST_TERMS && !terms.contains(&term) {
                terms.push(term);
                places.push(place);
            }
        });
        let mut sought = |place: Range<usize>| {
            let mut near = words.near(&text[place]);
            near.retain(|(_, cosine)| LEAST_SOUGHT <= *cosine);
            near
        };
        let written = places.iter().map(|place| text[place.clone()].to_owned()).collect();
        let near = places.into_iter().map(&mut sought).collect();
        let asking = asking_terms(&mut words);
        let share = |term: &Term| if asking.contains(term) { ASKING_WORD } else { 1.0 };
        let shares = terms.iter().map(share).collect();
        Self { terms, written, shares, is_first_person: is_first_person(text), near, vector: None, words }
    }

    /// Lets turns be compared with the vector that the model `embedder` gave the question, where they have one of it.
    pub fn compare_with(&mut self, embedder: &str, vector: Vector) {
        self.vector = Some((embedder.to_owned(), vector));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.terms.len()
    }

    /// Where they stand in `text`: the number of each and its bytes, none within another.
    pub fn places(&mut self, text: &str) -> Vec<(usize, Range<usize>)> {
        let mut places: Vec<(usize, Range<usize>)> = Vec::new();
        let terms = &self.terms;
        self.words.each_at(text, &mut |term, place| {
            let Some(number) = terms.iter().position(|known| *known == term) else { return };
            // The whole of a name comes before its parts, a pair of letters after its first.
            if places.last().is_none_or(|(_, last)| last.end <= place.start) {
                places.push((number, place));
            }
        });
        places
    }
}

/// Words with which people ask their memory: they say little of what is sought.
const ASKING_WORDS: &str = "mention order item list conversation session chat discuss bring brought say said talk \
    recommend suggest ask question remember recall throughout different aspect explain describe show summary summarize \
    help provide give know think want previous earlier approach";

fn asking_terms(words: &mut Words) -> Vec<Term> {
    let mut terms = Vec::new();
    words.each(ASKING_WORDS, &mut |term| terms.push(term));
    terms
}

/// Whether a question is about who asks it: then what humans said is meant.
fn is_first_person(question: &str) -> bool {
    let words = question.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    words.take(MOST_WORDS_READ).any(|word| {
        let word = word.split(['\'', '’']).next().unwrap_or_default();
        ["i", "my", "me", "mine", "myself"].iter().any(|first| word.eq_ignore_ascii_case(first))
    })
}

/// Finds the turns that answer `question` best, at most `limit`.
///
/// # Errors
/// When the store cannot be read.
pub fn search(
    connection: &Connection,
    question: &Question,
    scope: &Scope,
    limit: usize,
) -> rusqlite::Result<Vec<Hit>> {
    if question.is_empty() {
        return Ok(Vec::new());
    }
    // Segments may be merged by another process meanwhile; within a transaction they stay as they are.
    let tx = connection.unchecked_transaction()?;
    let allowed = scope.sessions(&tx)?;
    let sheet = Sheet::read(&tx, question, allowed.as_deref())?;
    let best = match &question.vector {
        None => sheet.best(&tx, scope, limit)?,
        Some(vector) => {
            let mut best = sheet.best(&tx, scope, limit.max(MOST_COMPARED))?;
            let n_by_words = best.len();
            best.extend(by_meaning(&tx, &best, allowed.as_deref(), scope, vector)?);
            compare(&tx, &mut best, n_by_words, vector, sheet.weight())?;
            best.truncate(limit);
            best
        }
    };
    load(&tx, best)
}

impl Scope {
    /// The sessions to look in, by rising numbers; `None` for all.
    fn sessions(&self, connection: &Connection) -> rusqlite::Result<Option<Vec<i64>>> {
        let mut conditions = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        if let Some(project) = self.project {
            conditions.push("project = ?");
            values.push(project.0.into());
        }
        if let Some(branch) = &self.branch {
            conditions.push("branch = ?");
            values.push(branch.clone().into());
        }
        if let Some(since) = self.since {
            conditions.push("last >= ?");
            values.push(since.as_millisecond().into());
        }
        if let Some(file) = &self.file {
            let file = file.trim_end_matches('/');
            conditions.push(
                "id IN (SELECT session FROM changed_file WHERE path = ? OR path LIKE ? ESCAPE '\\' \
                 OR path LIKE ? ESCAPE '\\')",
            );
            let literal = file.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            values.extend([file.to_owned().into(), format!("%/{literal}").into()]);
            values.push(format!("{literal}/%").into());
        }
        if conditions.is_empty() {
            return Ok(None);
        }
        let sql = format!("SELECT id FROM session WHERE {}", conditions.join(" AND "));
        let mut ids: Vec<i64> = connection
            .prepare_cached(&sql)?
            .query_map(params_from_iter(values), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        ids.sort_unstable();
        Ok(Some(ids))
    }
}

/// The turns whose vectors stand out as near to the question, though they have none of its words: every vector in the
/// sessions to look in is compared.
fn by_meaning(
    connection: &Connection,
    known: &[Candidate],
    allowed: Option<&[i64]>,
    scope: &Scope,
    (embedder, vector): &(String, Vector),
) -> rusqlite::Result<Vec<Candidate>> {
    let mut nearest: Vec<(f32, Candidate)> = Vec::new();
    let mut cosines = Vec::new();
    for session in Vector::sessions(connection, embedder)? {
        if allowed.is_some_and(|allowed| allowed.binary_search(&i64::from(session)).is_err()) {
            continue;
        }
        let Some(indexed) = Indexed::of(connection, i64::from(session))? else { continue };
        let turns = indexed.turns().zip(vector.cosines(connection, embedder, session)?);
        for ((turn, cosine), number) in turns.zip(0..) {
            let Some(cosine) = cosine else { continue };
            cosines.push(Some(cosine));
            let candidate = Candidate { score: 0.0, session, turn: number };
            let is_new = known.iter().all(|known| (known.session, known.turn) != (session, number));
            if is_new && is_wanted(turn.kind, &scope.kinds) {
                nearest.push((cosine, candidate));
            }
        }
    }
    let (mean, usual) = usual_of(&cosines);
    nearest.retain(|(cosine, _)| mean + STANDS_OUT * usual <= *cosine);
    nearest.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    nearest.truncate(MOST_COMPARED);
    let nearest = nearest.into_iter().map(|(_, candidate)| candidate);
    match scope.since {
        None => Ok(nearest.collect()),
        Some(since) => {
            let mut late = Vec::new();
            for candidate in nearest {
                let session = SessionId(i64::from(candidate.session));
                let turn = StoredTurn::nth(connection, session, candidate.turn)?;
                if turn.is_some_and(|turn| turn.at.is_some_and(|at| since <= at)) {
                    late.push(candidate);
                }
            }
            Ok(late)
        }
    }
}

/// Compares candidates with the vector of the question, and brings them into the order that follows. A turn without a
/// vector stays where words put it, as one that is as near as most of those that words found, the first `n_by_words`.
fn compare(
    connection: &Connection,
    best: &mut [Candidate],
    n_by_words: usize,
    (embedder, vector): &(String, Vector),
    weight: f32,
) -> rusqlite::Result<()> {
    let mut of_sessions = BTreeMap::new();
    let mut cosines = Vec::new();
    for candidate in best.iter() {
        let of_session = match of_sessions.entry(candidate.session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                vacant.insert(vector.cosines(connection, embedder, candidate.session)?)
            }
        };
        cosines.push(of_session.get(candidate.turn as usize).copied().flatten());
    }
    let by_words = &cosines[..n_by_words];
    let is_measure = 2 <= by_words.iter().flatten().count();
    let (mean, usual) = usual_of(if is_measure { by_words } else { &cosines });
    for (candidate, cosine) in best.iter_mut().zip(&cosines) {
        candidate.score += VECTOR * weight * cosine.map_or(0.0, |cosine| (cosine - mean) / usual);
    }
    best.sort_by(|left, right| right.cmp(left));
    Ok(())
}

/// The mean of these numbers, and how far they usually differ from it.
fn usual_of(numbers: &[Option<f32>]) -> (f32, f32) {
    let known: Vec<f32> = numbers.iter().copied().flatten().collect();
    let n_known = known.len().max(1) as f32;
    let mean = known.iter().sum::<f32>() / n_known;
    let usual =
        f32::sqrt(known.iter().map(|number| (number - mean) * (number - mean)).sum::<f32>() / n_known);
    (mean, usual.max(LEAST_USUAL))
}

/// The turns of candidates.
fn load(connection: &Connection, best: Vec<Candidate>) -> rusqlite::Result<Vec<Hit>> {
    let mut hits = Vec::new();
    for candidate in best {
        let session = SessionId(i64::from(candidate.session));
        // Found by its number: the index knows no more of it.
        if let Some(turn) = StoredTurn::nth(connection, session, candidate.turn)? {
            hits.push(Hit { turn, score: f64::from(candidate.score) });
        }
    }
    Ok(hits)
}
