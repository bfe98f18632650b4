//! The lists of a question.
//!
//! What stands at the heads of the groups of a list is enough to score sessions,
//! and for a bound on the score of each of their turns. Sessions are looked
//! into by falling bounds, until no other can hold a better turn.

use std::{cmp::Ordering, collections::BinaryHeap};

use rusqlite::Connection;

use super::weights::{
    AFTER, ANSWER, ASKING, BEFORE, MOST_COVERAGE, SESSION, Statistics, Voices, blended, coverage, lent,
    likeness, most_around,
};
use super::{Question, Scope};
use crate::index::{Indexed, IndexedTurn, Segment, is_wanted, postings, voice::Voice, words::Term};

/// The lists of a question, and what their heads tell of sessions.
pub(super) struct Sheet {
    /// The bytes of all lists.
    lists: Vec<u8>,
    /// The groups of the sessions to look in.
    groups: Vec<GroupAt>,
    /// The terms that are looked for.
    terms: Vec<SoughtTerm>,
    /// How much each word of the question tells, in a turn.
    weights: Vec<f32>,
    statistics: Statistics,
    /// Whether the question is about who asks it.
    is_first_person: bool,
    /// What is known of each session, by its number.
    sessions: Vec<OfSession>,
}

/// A term that is looked for: a word of the question, or one that means nearly the same.
#[derive(Clone, Copy)]
struct SoughtTerm {
    /// The number of the word of the question.
    word: u16,
    /// How far it stands for the word.
    likeness: f32,
}

/// A group, and where it is.
#[derive(Clone, Copy)]
struct GroupAt {
    session: u32,
    /// Its number among those that are looked for.
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
    /// The most that one of its turns has of the word that is being looked at, and how many have some.
    most: f32,
    n_having: u32,
}

/// A turn that may be among the best.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub score: f32,
    pub session: u32,
    /// Counted from the beginning of the session.
    pub turn: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "questions have few terms, and sessions and turns are counted with 32 bits in the store"
)]
impl Sheet {
    pub(super) fn read(
        connection: &Connection,
        question: &Question,
        allowed: Option<&[i64]>,
    ) -> rusqlite::Result<Self> {
        let segments = Segment::all(connection)?;
        let mut sheet = Self::of_sessions(connection, &segments, allowed)?;
        sheet.is_first_person = question.is_first_person;
        for (word, term) in question.terms.iter().enumerate() {
            let first = sheet.groups.len();
            sheet.read_lists(connection, &segments, *term)?;
            let rarity = sheet.weigh(first);
            let weight = question.shares[word] * rarity;
            sheet.weights.push(weight);
            sheet.counts(word, first, 1.0);
            for (near, cosine) in &question.near[word] {
                let first_near = sheet.groups.len();
                sheet.read_lists(connection, &segments, *near)?;
                let (n_turns, _) = sheet.tally(first_near);
                let own_weight = sheet.statistics.weight_in_turns(n_turns);
                sheet.counts(word, first_near, likeness(*cosine, own_weight, rarity));
            }
            sheet.bound(first, weight);
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
        Ok(Self {
            lists: Vec::new(),
            groups: Vec::new(),
            terms: Vec::new(),
            weights: Vec::new(),
            statistics,
            is_first_person: false,
            sessions,
        })
    }

    /// Reads the groups of the next term.
    fn read_lists(
        &mut self,
        connection: &Connection,
        segments: &[Segment],
        term: Term,
    ) -> rusqlite::Result<()> {
        let number = self.terms.len() as u16;
        for segment in segments {
            self.read_list(connection, segment, term, number)?;
        }
        Ok(())
    }

    /// Reads the groups of a term in one segment.
    fn read_list(
        &mut self,
        connection: &Connection,
        segment: &Segment,
        term: Term,
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

    /// How many turns and sessions have the term whose groups are those from `first` on.
    fn tally(&mut self, first: usize) -> (f32, f32) {
        let (mut n_turns, mut n_sessions) = (0.0, 0.0);
        for group in &self.groups[first..] {
            let session = &mut self.sessions[group.session as usize];
            // A session with several groups, in as many segments, counts once.
            n_turns += session.n_turns as f32 * f32::from(u8::from(!session.is_counted));
            n_sessions += f32::from(u8::from(!session.is_counted));
            session.is_counted = true;
        }
        (n_turns, n_sessions)
    }

    /// Gives sessions their share of the word whose groups are those from `first` on; says how much it tells in a turn.
    fn weigh(&mut self, first: usize) -> f32 {
        let (n_turns, n_sessions) = self.tally(first);
        let in_sessions = self.statistics.weight_in_sessions(n_sessions);
        for group in &self.groups[first..] {
            let session = &mut self.sessions[group.session as usize];
            if std::mem::take(&mut session.is_counted) {
                session.score +=
                    in_sessions * self.statistics.in_session(session.n_times as f32, session.n_terms);
            }
        }
        self.statistics.weight_in_turns(n_turns)
    }

    /// Notes that the term whose groups are those from `first` on stands so far for a word of the question.
    fn counts(&mut self, word: usize, first: usize, likeness: f32) {
        self.terms.push(SoughtTerm { word: word as u16, likeness });
        for group in &self.groups[first..] {
            let session = &mut self.sessions[group.session as usize];
            session.is_counted = false;
            let n_turns = std::mem::take(&mut session.n_turns);
            let n_times = std::mem::take(&mut session.n_times);
            if 0 < n_turns {
                let most = likeness * self.statistics.most_in_turn(n_times, n_turns);
                session.most = session.most.max(most);
                session.n_having += n_turns;
            }
        }
    }

    /// Raises the bounds of sessions by a word whose groups, of all its terms, are those from `first` on.
    fn bound(&mut self, first: usize, weight: f32) {
        for group in &self.groups[first..] {
            let session = &mut self.sessions[group.session as usize];
            let n_having = std::mem::take(&mut session.n_having);
            let covers = if 0 < n_having { MOST_COVERAGE } else { 0.0 };
            session.bound += weight * (std::mem::take(&mut session.most) * most_around(n_having) + covers);
        }
    }

    /// The best turns, the best first.
    pub(super) fn best(
        &self,
        connection: &Connection,
        scope: &Scope,
        limit: usize,
    ) -> rusqlite::Result<Vec<Candidate>> {
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

    /// How much all words of the question tell together.
    pub(super) fn weight(&self) -> f32 {
        self.weights.iter().sum()
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
        let voices = Voices::of(&turns, self.is_first_person);
        let mut told = Told { near: vec![0.0; turns.len()], covered: vec![0.0; turns.len()] };
        let mut own: Vec<f32> = vec![0.0; turns.len()];
        let mut next = known.head;
        // Groups of one word follow each other.
        while let Some(group) = next.checked_sub(1).map(|at| self.groups[at as usize]) {
            next = group.next;
            let SoughtTerm { word, likeness } = self.terms[usize::from(group.term)];
            if let Some(read) = postings::Group::read(0, &mut &self.lists[group.start as usize..]) {
                for place in read.places() {
                    let at = place.turn as usize;
                    let Some(turn) = turns.get(at) else { continue };
                    let share = self.statistics.in_turn(place.n_times as f32, turn);
                    own[at] = own[at].max(likeness * share);
                }
            }
            let word_of = |at: u32| self.terms[usize::from(self.groups[at as usize].term)].word;
            if next.checked_sub(1).is_none_or(|at| word_of(at) != word) {
                told.add(&turns, &voices, &mut own, self.weights[usize::from(word)]);
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
        let all = self.weight();
        let is_answered = |turn: usize| turns.get(turn + 1).is_some_and(|next| next.voice.answers());
        let score = |turn: usize, near: f32| {
            let asks = turns[turn].asks && (is_answered(turn) || turns[turn].voice == Voice::Agent);
            let asking = if asks { ASKING * all } else { 0.0 };
            near + of_session + coverage(told.covered[turn], all) - asking
        };
        let scores = told.near.iter().copied().enumerate().filter(|(turn, near)| {
            0.0 < *near && is_wanted(turns[*turn].kind, &scope.kinds) && is_late(*turn)
        });
        Ok(scores
            .map(|(turn, near)| Candidate { score: score(turn, near), session, turn: turn as u32 })
            .collect())
    }
}

/// What the words of a question tell of each turn of a session.
struct Told {
    /// What they tell of it, by itself and by the turns around it.
    near: Vec<f32>,
    /// What those weigh that it has itself.
    covered: Vec<f32>,
}

impl Told {
    /// Adds what a word gives to each turn and those around it, and clears `own`.
    fn add(&mut self, turns: &[IndexedTurn], voices: &Voices, own: &mut [f32], weight: f32) {
        let lent_at = |turn: Option<usize>| {
            let at = turn.filter(|turn| *turn < turns.len());
            at.map_or(0.0, |turn| lent(turns[turn].voice) * own[turn])
        };
        for (turn, known) in turns.iter().enumerate() {
            let before = turn.checked_sub(1);
            let asked = before.filter(|before| turns[*before].asks && known.voice.answers());
            let shares = [
                voices.own(known.voice) * own[turn],
                BEFORE[0] * lent_at(before),
                BEFORE[1] * lent_at(turn.checked_sub(2)),
                AFTER * lent_at(turn.checked_add(1)),
            ];
            self.near[turn] += weight * (blended(shares) + asked.map_or(0.0, |before| ANSWER * own[before]));
            if 0.0 < own[turn] {
                self.covered[turn] += weight;
            }
        }
        own.fill(0.0);
    }
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
