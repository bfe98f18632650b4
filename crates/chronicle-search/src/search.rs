//! Search: which turns answer a question best.
//!
//! A turn scores by its own words (BM25), by those of the two turns on either
//! side, and by those of its whole session: what was said is often named in the
//! question that it answers. `docs/search.md` says how the weights were found.
//!
//! What stands at the heads of the groups of a list is enough to score sessions,
//! and for a bound on the score of each of their turns. Sessions are looked
//! into by falling bounds, until no other can hold a better turn.

use std::{cmp::Ordering, collections::BinaryHeap, ops::Range};

use jiff::Timestamp;
use rusqlite::{Connection, params_from_iter, types::Value};

use crate::index::{
    Indexed, Segment, is_wanted, postings,
    words::{Term, Words},
};
use crate::{ProjectId, SessionId, StoredTurn, TurnKind};

mod weights;

use weights::{AFTER, BEFORE, SESSION, Statistics, blended};

/// How many different words of a question count.
const MOST_TERMS: usize = 32;

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
    words: Words,
}

impl Question {
    /// The words of `text` that can be looked for.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut words = Words::default();
        let mut terms = Vec::new();
        words.each(text, &mut |term| {
            if terms.len() < MOST_TERMS && !terms.contains(&term) {
                terms.push(term);
            }
        });
        Self { terms, words }
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
    let sheet = Sheet::read(&tx, &question.terms, allowed.as_deref())?;
    let best = sheet.best(&tx, scope, limit)?;
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

/// The lists of a question, and what their heads tell of sessions.
struct Sheet {
    /// The bytes of all lists.
    lists: Vec<u8>,
    /// The groups of the sessions to look in.
    groups: Vec<GroupAt>,
    /// How much each term tells, in a turn.
    weights: Vec<f32>,
    statistics: Statistics,
    /// What is known of each session, by its number.
    sessions: Vec<OfSession>,
}

/// A group, and where it is.
#[derive(Clone, Copy)]
struct GroupAt {
    session: u32,
    term: u16,
    /// Where its places are in the lists.
    start: u32,
    /// The next group of the same session, plus one; 0 for none.
    next: u32,
}

/// What is known of a session before it is looked into.
#[derive(Clone, Copy, Default)]
struct OfSession {
    is_allowed: bool,
    n_terms: f32,
    /// Its score as a whole.
    score: f32,
    /// More than that its best turn cannot have by itself and its neighbours.
    bound: f32,
    /// The latest of its groups, plus one; 0 for none.
    head: u32,
    /// How many of its turns have the term that is being looked at, and how often.
    n_turns: u32,
    n_times: u32,
    is_counted: bool,
}

/// A turn that may be among the best.
#[derive(Clone, Copy, PartialEq)]
struct Candidate {
    score: f32,
    session: u32,
    turn: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "questions have few terms, and sessions and turns are counted with 32 bits in the store"
)]
impl Sheet {
    fn read(connection: &Connection, terms: &[u64], allowed: Option<&[i64]>) -> rusqlite::Result<Self> {
        let segments = Segment::all(connection)?;
        let mut sheet = Self::of_sessions(connection, &segments, allowed)?;
        for (number, term) in terms.iter().enumerate() {
            let first = sheet.groups.len();
            for segment in &segments {
                sheet.read_list(connection, segment, *term, number as u16)?;
            }
            sheet.weigh(first);
        }
        Ok(sheet)
    }

    fn of_sessions(
        connection: &Connection,
        segments: &[Segment],
        allowed: Option<&[i64]>,
    ) -> rusqlite::Result<Self> {
        let last: Option<u32> =
            connection.prepare_cached("SELECT max(id) FROM session")?.query_row([], |row| row.get(0))?;
        let nothing = OfSession { is_allowed: allowed.is_none(), ..OfSession::default() };
        let mut sessions = vec![nothing; last.map_or(0, |last| last as usize + 1)];
        for id in allowed.unwrap_or_default() {
            if let Some(session) = usize::try_from(*id).ok().and_then(|id| sessions.get_mut(id)) {
                session.is_allowed = true;
            }
        }
        let mut statistics = Statistics::default();
        for segment in segments {
            for extent in segment.extents(connection)? {
                let session = usize::try_from(extent.session).ok().and_then(|id| sessions.get_mut(id));
                let Some(session) = session.filter(|session| session.is_allowed) else { continue };
                if session.n_terms == 0.0 {
                    statistics.n_sessions += 1.0;
                }
                session.n_terms += extent.n_terms as f32;
                statistics.n_terms += extent.n_terms as f32;
                statistics.n_turns += extent.n_turns as f32;
            }
        }
        Ok(Self { lists: Vec::new(), groups: Vec::new(), weights: Vec::new(), statistics, sessions })
    }

    /// Reads the groups of a term in one segment.
    fn read_list(
        &mut self,
        connection: &Connection,
        segment: &Segment,
        term: u64,
        number: u16,
    ) -> rusqlite::Result<()> {
        let start = self.lists.len();
        segment.list(connection, term, &mut self.lists)?;
        let end = self.lists.len();
        let mut groups = postings::Groups::of(&self.lists[start..]);
        while let Some(group) = groups.next() {
            let Some(session) = usize::try_from(group.session).ok().and_then(|id| self.sessions.get_mut(id))
            else {
                continue;
            };
            if session.is_allowed {
                session.n_turns += group.n_turns;
                session.n_times += group.n_times;
                self.groups.push(GroupAt {
                    session: group.session as u32,
                    term: number,
                    start: (end - groups.left() - group.length()) as u32,
                    next: session.head,
                });
                session.head = self.groups.len() as u32;
            }
        }
        Ok(())
    }

    /// Gives sessions their share of the term whose groups are those from `first` on.
    fn weigh(&mut self, first: usize) {
        let (mut n_turns, mut n_sessions) = (0.0, 0.0);
        for group in &self.groups[first..] {
            let session = &mut self.sessions[group.session as usize];
            // A session with several groups, in as many segments, counts once.
            n_turns += session.n_turns as f32 * f32::from(u8::from(!session.is_counted));
            n_sessions += f32::from(u8::from(!session.is_counted));
            session.is_counted = true;
        }
        let weight = self.statistics.weight_in_turns(n_turns);
        let in_sessions = self.statistics.weight_in_sessions(n_sessions);
        for group in &self.groups[first..] {
            let session = &mut self.sessions[group.session as usize];
            if !std::mem::take(&mut session.is_counted) {
                continue;
            }
            session.score +=
                in_sessions * self.statistics.in_session(session.n_times as f32, session.n_terms);
            session.bound += weight * self.statistics.bound(session.n_times, session.n_turns);
            (session.n_turns, session.n_times) = (0, 0);
        }
        self.weights.push(weight);
    }

    /// The best turns, the best first.
    fn best(&self, connection: &Connection, scope: &Scope, limit: usize) -> rusqlite::Result<Vec<Candidate>> {
        let bounds = self.sessions.iter().zip(0..).filter(|(session, _)| session.head != 0);
        let bounds = bounds.map(|(session, number)| Candidate {
            score: session.bound + SESSION * session.score,
            session: number,
            turn: 0,
        });
        let mut open: BinaryHeap<Candidate> = bounds.collect();
        let mut best: BinaryHeap<std::cmp::Reverse<Candidate>> = BinaryHeap::new();
        while let Some(next) = open.pop() {
            let is_full = limit <= best.len();
            if is_full && best.peek().is_none_or(|worst| next.score < worst.0.score) {
                break;
            }
            for candidate in self.look_into(connection, next.session, scope)? {
                best.push(std::cmp::Reverse(candidate));
                if limit < best.len() {
                    best.pop();
                }
            }
        }
        Ok(best.into_sorted_vec().into_iter().map(|candidate| candidate.0).collect())
    }

    /// The turns of a session that answer the question at all.
    fn look_into(
        &self,
        connection: &Connection,
        session: u32,
        scope: &Scope,
    ) -> rusqlite::Result<Vec<Candidate>> {
        let Some(indexed) = Indexed::of(connection, i64::from(session))? else { return Ok(Vec::new()) };
        let turns: Vec<_> = indexed.turns().collect();
        let known = self.sessions[session as usize];
        let mut near = vec![0.0; turns.len()];
        let mut own = vec![0.0; turns.len()];
        let mut next = known.head;
        // Groups of one term follow each other.
        while let Some(group) = next.checked_sub(1).map(|at| self.groups[at as usize]) {
            next = group.next;
            if let Some(read) = postings::Group::read(0, &mut &self.lists[group.start as usize..]) {
                for place in read.places() {
                    let at = place.turn as usize;
                    let Some(turn) = turns.get(at) else { continue };
                    own[at] = self.statistics.in_turn(place.n_times as f32, turn.n_terms as f32);
                }
            }
            let is_last = next.checked_sub(1).is_none_or(|at| self.groups[at as usize].term != group.term);
            if is_last {
                add_around(&mut near, &mut own, self.weights[usize::from(group.term)]);
            }
        }
        let times = match scope.since {
            Some(since) => Some((since.as_millisecond(), times(connection, session)?)),
            None => None,
        };
        let is_late = |turn: usize| {
            times.as_ref().is_none_or(|(since, times)| times.get(turn).is_some_and(|at| since <= at))
        };
        let of_session = SESSION * known.score;
        let scores = near.into_iter().enumerate().filter(|(turn, score)| {
            0.0 < *score && is_wanted(turns[*turn].kind, &scope.kinds) && is_late(*turn)
        });
        Ok(scores
            .map(|(turn, score)| Candidate { score: score + of_session, session, turn: turn as u32 })
            .collect())
    }
}

/// Adds to each turn what a term gives to it and the turns around it, and clears `own`.
fn add_around(near: &mut [f32], own: &mut [f32], weight: f32) {
    for (turn, near) in near.iter_mut().enumerate() {
        let at = |turn: Option<usize>| turn.and_then(|turn| own.get(turn)).copied().unwrap_or_default();
        *near += weight
            * blended([
                own[turn],
                BEFORE[0] * at(turn.checked_sub(1)),
                BEFORE[1] * at(turn.checked_sub(2)),
                AFTER[0] * at(turn.checked_add(1)),
                AFTER[1] * at(turn.checked_add(2)),
            ]);
    }
    own.fill(0.0);
}

/// When the turns of a session happened, in their order; one without a time when the one before it did.
fn times(connection: &Connection, session: u32) -> rusqlite::Result<Vec<i64>> {
    let mut before = i64::MIN;
    connection
        .prepare_cached("SELECT at FROM turn WHERE session = ?1 ORDER BY position, id")?
        .query_map([session], |row| {
            before = row.get::<_, Option<i64>>(0)?.unwrap_or(before);
            Ok(before)
        })?
        .collect()
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

impl Eq for Candidate {}

impl Ord for Candidate {
    /// By score; of equal ones the newer session and the earlier turn are the better.
    fn cmp(&self, other: &Self) -> Ordering {
        (self.score.total_cmp(&other.score))
            .then_with(|| self.session.cmp(&other.session))
            .then_with(|| other.turn.cmp(&self.turn))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
