//! The search index: which terms stand in which turns.
//!
//! It is our own and not `SQLite`'s FTS5. A score takes in the turns around a
//! turn and its whole session, of one project; FTS5 would have to visit every turn
//! of every project that has one of the words, and be asked again for the rest.
//! Here lists are grouped by session: most sessions are judged by what stands at the
//! head of their groups and never looked into. Indexing costs a fraction of it, too.
//!
//! The index is brought up to date at the end of every transaction that changed
//! turns, in that transaction: see [`Store::write`](crate::Store::write). What is
//! removed is taken out of its lists, so that nothing of it is left.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, Transaction, params};

mod families;
pub(crate) mod postings;
mod segments;
pub(crate) mod voice;
pub(crate) mod words;

use crate::store::{
    ids::{SessionId, TurnKind},
    learned::drop_learned,
};
use postings::{Extent, ListWriter, Place, number, put, put_extents};
pub(crate) use segments::Segment;
use segments::SegmentWriter;
use voice::{Marked, Voice, marked};
use words::{Term, Words};

/// How many places are held in memory before a segment is made of them.
const MOST_PLACES: usize = 1 << 18;

/// How many bytes of one turn are looked at: what comes after is more of the same.
const LONGEST_TURN: usize = 1 << 18;

/// What is indexed of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Indexed {
    /// A byte for each turn, with its kind, its voice and whether it asks, and its length in terms, in the order of their
    /// positions.
    turns: Vec<u8>,
    n_turns: u32,
    last_position: Option<i64>,
}

/// A turn as the index knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexedTurn {
    pub kind: u8,
    pub voice: Voice,
    pub asks: bool,
    pub n_terms: u32,
}

impl Indexed {
    /// What is indexed of `session`; nothing, perhaps.
    pub(crate) fn of(connection: &Connection, session: i64) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached("SELECT n_turns, last_position, turns FROM indexed WHERE session = ?1")?
            .query_row([session], |row| {
                Ok(Self { n_turns: row.get(0)?, last_position: row.get(1)?, turns: row.get(2)? })
            })
            .optional()
    }

    /// The turns, in their order.
    pub(crate) fn turns(&self) -> impl Iterator<Item = IndexedTurn> {
        let mut bytes = self.turns.as_slice();
        std::iter::from_fn(move || {
            let (byte, rest) = bytes.split_first()?;
            bytes = rest;
            let n_terms = u32::try_from(number(&mut bytes)?).ok()?;
            let Marked { kind, voice, asks } = Marked::of(*byte);
            Some(IndexedTurn { kind, voice, asks, n_terms })
        })
    }

    fn put(&self, tx: &Transaction<'_>, session: i64) -> rusqlite::Result<()> {
        tx.prepare_cached(
            "INSERT OR REPLACE INTO indexed (session, n_turns, last_position, turns) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![session, self.n_turns, self.last_position, self.turns])
        .map(drop)
    }
}

/// The sessions of which the index has more or fewer turns than there are.
pub(crate) fn differing(connection: &Connection) -> rusqlite::Result<Vec<SessionId>> {
    let mut counts: BTreeMap<i64, [u64; 3]> = BTreeMap::new();
    for (which, sql) in
        ["SELECT session, count(*) FROM turn GROUP BY session", "SELECT session, n_turns FROM indexed"]
            .into_iter()
            .enumerate()
    {
        let mut select = connection.prepare(sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            counts.entry(row.get(0)?).or_default()[which] = row.get::<_, i64>(1)?.unsigned_abs();
        }
    }
    for segment in Segment::all(connection)? {
        for extent in segment.extents(connection)? {
            counts.entry(extent.session.cast_signed()).or_default()[2] += extent.n_turns;
        }
    }
    let differ =
        counts.into_iter().filter(|(_, [n_turns, indexed, listed])| n_turns != indexed || n_turns != listed);
    Ok(differ.map(|(session, _)| SessionId(session)).collect())
}

/// Takes sessions out of the index whatever it has of them; their turns are indexed at the end of the transaction.
pub(crate) fn anew(tx: &Transaction<'_>, sessions: &[SessionId]) -> rusqlite::Result<()> {
    let names: BTreeSet<u64> = sessions.iter().map(|session| session.0.cast_unsigned()).collect();
    for segment in Segment::all(tx)? {
        segment.purge(tx, &names)?;
    }
    for session in sessions {
        tx.prepare_cached("DELETE FROM indexed WHERE session = ?1")?.execute([session.0])?;
        mark(tx, *session)?;
    }
    Ok(())
}

/// Marks who speaks in turns and which of them ask, in what was indexed before that was noted.
pub(crate) fn mark_turns(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let sessions: Vec<i64> = tx
        .prepare("SELECT session FROM indexed ORDER BY session")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for session in sessions {
        let Some(mut indexed) = Indexed::of(tx, session)? else { continue };
        let mut lengths = indexed.turns().map(|turn| turn.n_terms).collect::<Vec<_>>().into_iter();
        let mut turns = Vec::with_capacity(indexed.turns.len());
        each_turn(tx, session, None, &mut |turn| {
            if let Some(n_terms) = lengths.next() {
                turns.push(turn.marked());
                put(&mut turns, u64::from(n_terms));
            }
            Ok(())
        })?;
        indexed.turns = turns;
        indexed.put(tx, session)?;
    }
    Ok(())
}

/// Says that a session has turns that are not in the index yet, nor in what was learned from it.
pub(crate) fn mark(tx: &Transaction<'_>, session: SessionId) -> rusqlite::Result<()> {
    drop_learned(tx, session)?;
    tx.prepare_cached("INSERT OR IGNORE INTO unindexed (session) VALUES (?1)")?.execute([session.0]).map(drop)
}

/// Takes a session out of the index, as long as all its turns are there.
///
/// Turns that stay are indexed anew at the end of the transaction.
pub(crate) fn remove(tx: &Transaction<'_>, session: SessionId) -> rusqlite::Result<()> {
    drop_learned(tx, session)?;
    let n_removed = tx.prepare_cached("DELETE FROM indexed WHERE session = ?1")?.execute([session.0])?;
    if n_removed == 0 {
        return Ok(());
    }
    mark(tx, session)?;
    let mut words = Words::default();
    let mut terms: Vec<Term> = Vec::new();
    each_turn(tx, session.0, None, &mut |turn| {
        turn.each_text(&mut |text| words.each(text, &mut |term| terms.push(term)));
        if MOST_PLACES < terms.len() {
            terms.sort_unstable();
            terms.dedup();
        }
        Ok(())
    })?;
    terms.sort_unstable();
    terms.dedup();
    for segment in Segment::all(tx)? {
        if segment.first <= session.0 && session.0 <= segment.last {
            segment.remove(tx, session.0.cast_unsigned(), &terms)?;
        }
    }
    Ok(())
}

/// Indexes what is not in the index yet; the sessions that were marked come back.
pub(crate) fn settle(tx: &Transaction<'_>, words: &mut Option<Words>) -> rusqlite::Result<Vec<SessionId>> {
    let sessions: Vec<SessionId> = tx
        .prepare_cached("SELECT session FROM unindexed ORDER BY session")?
        .query_map([], |row| row.get(0).map(SessionId))?
        .collect::<rusqlite::Result<_>>()?;
    if sessions.is_empty() {
        return Ok(sessions);
    }
    let words = words.get_or_insert_default();
    let mut batch = Batch::default();
    for SessionId(session) in &sessions {
        add(tx, *session, words, &mut batch)?;
        tx.prepare_cached("DELETE FROM unindexed WHERE session = ?1")?.execute([session])?;
    }
    batch.write(tx)?;
    segments::merge(tx)?;
    Ok(sessions)
}

/// Adds the turns of a session that are not in the index yet.
fn add(tx: &Transaction<'_>, session: i64, words: &mut Words, batch: &mut Batch) -> rusqlite::Result<()> {
    let mut indexed = Indexed::of(tx, session)?.unwrap_or_default();
    if !is_appended(tx, session, &indexed)? {
        // Turns count from the beginning of the session: one in between moves all that follow.
        remove(tx, SessionId(session))?;
        indexed = Indexed::default();
    }
    let before = indexed.last_position;
    batch.extents.push(Extent { session: session.cast_unsigned(), ..Extent::default() });
    each_turn(tx, session, before, &mut |turn| {
        let n_terms = batch.turn(session, indexed.n_turns, words, turn);
        indexed.turns.push(turn.marked());
        put(&mut indexed.turns, n_terms);
        indexed.n_turns += 1;
        indexed.last_position = Some(turn.position);
        if MOST_PLACES < batch.places.len() {
            batch.write(tx)?;
            batch.extents.push(Extent { session: session.cast_unsigned(), ..Extent::default() });
        }
        Ok(())
    })?;
    if indexed.n_turns == 0 {
        return Ok(());
    }
    indexed.put(tx, session)
}

/// Whether all turns up to the last that is indexed are indexed.
fn is_appended(tx: &Transaction<'_>, session: i64, indexed: &Indexed) -> rusqlite::Result<bool> {
    let Some(last) = indexed.last_position else { return Ok(true) };
    let n_turns: u32 = tx
        .prepare_cached("SELECT count(*) FROM turn WHERE session = ?1 AND position <= ?2")?
        .query_row([session, last], |row| row.get(0))?;
    Ok(n_turns == indexed.n_turns)
}

/// What the index takes of a turn.
struct TurnText<'a> {
    position: i64,
    kind: u8,
    /// The speaker, the text and the answer.
    texts: [&'a str; 3],
}

/// Which of the texts of a turn is the speaker's name, and which is what was said.
const SPEAKER: usize = 0;
const TEXT: usize = 1;

impl TurnText<'_> {
    fn marked(&self) -> u8 {
        marked(self.kind, self.texts[SPEAKER], self.texts[TEXT])
    }

    fn each_text(&self, found: &mut impl FnMut(&str)) {
        for text in self.texts {
            let end = text.floor_char_boundary(LONGEST_TURN);
            found(&text[..end]);
        }
    }
}

/// The turns of a session behind a position, in their order.
fn each_turn(
    tx: &Transaction<'_>,
    session: i64,
    after: Option<i64>,
    found: &mut impl FnMut(&TurnText<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut select = tx.prepare_cached(
        "SELECT position, kind, speaker, text, answer FROM turn WHERE session = ?1 AND position > ?2 \
         ORDER BY position, id",
    )?;
    let mut rows = select.query([session, after.unwrap_or(i64::MIN)])?;
    while let Some(row) = rows.next()? {
        let text = |column: usize| -> rusqlite::Result<_> {
            Ok(row.get_ref(column)?.as_str_or_null()?.unwrap_or_default())
        };
        found(&TurnText { position: row.get(0)?, kind: row.get(1)?, texts: [text(2)?, text(3)?, text(4)?] })?;
    }
    Ok(())
}

/// What is to become a segment.
#[derive(Default)]
struct Batch {
    /// The numbers of terms, by their hashes: a table of our own, as a lookup is made for every word.
    table: Vec<(Term, u32)>,
    terms: Vec<Term>,
    /// The last place of each term.
    latest: Vec<u32>,
    /// The number of the term, the session, and the place.
    places: Vec<(u32, i64, Place)>,
    extents: Vec<Extent>,
}

#[expect(clippy::cast_possible_truncation, reason = "a batch holds fewer places than 32 bits can count")]
impl Batch {
    /// Adds a turn, and says how many terms it has.
    fn turn(&mut self, session: i64, number: u32, words: &mut Words, turn: &TurnText<'_>) -> u64 {
        let mut n_terms = 0;
        turn.each_text(&mut |text| {
            words.each(text, &mut |term| {
                n_terms += 1;
                self.place(term, session, number);
            });
        });
        if let Some(extent) = self.extents.last_mut() {
            extent.n_turns += 1;
            extent.n_terms += n_terms;
        }
        n_terms
    }

    fn place(&mut self, term: Term, session: i64, turn: u32) {
        let of_term = self.number(term) as usize;
        let latest = self.latest[of_term] as usize;
        if let Some((_, before, place)) = self.places.get_mut(latest)
            && place.turn == turn
            && *before == session
        {
            place.n_times += 1;
            return;
        }
        self.latest[of_term] = self.places.len() as u32;
        self.places.push((of_term as u32, session, Place { turn, n_times: 1 }));
    }

    /// The number of a term, which it gets when it is met first.
    fn number(&mut self, term: Term) -> u32 {
        if self.table.len() <= 2 * self.terms.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut at = term as usize & mask;
        loop {
            match self.table[at] {
                (0, _) => break,
                (known, number) if known == term => return number,
                _ => at = (at + 1) & mask,
            }
        }
        let number = self.terms.len() as u32;
        self.table[at] = (term, number);
        self.terms.push(term);
        self.latest.push(u32::MAX);
        number
    }

    fn grow(&mut self) {
        let size = (2 * self.table.len()).max(1 << 12);
        self.table.clear();
        self.table.resize(size, (0, 0));
        for (number, term) in self.terms.iter().enumerate() {
            let mut at = *term as usize & (size - 1);
            while self.table[at].0 != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = (*term, number as u32);
        }
    }

    /// Makes a segment of it, and is empty again.
    fn write(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        self.extents.retain(|extent| 0 < extent.n_turns);
        if self.extents.is_empty() {
            return Ok(());
        }
        let mut writer = SegmentWriter::new(tx)?;
        writer.add(0, &put_extents(&self.extents))?;
        let mut list = ListWriter::default();
        let mut of_session = Vec::new();
        let (starts, sorted) = self.by_term();
        let mut numbers: Vec<usize> = (0..self.terms.len()).collect();
        numbers.sort_unstable_by_key(|number| self.terms[*number]);
        for number in numbers {
            list.clear();
            let places = &sorted[starts[number] as usize..starts[number + 1] as usize];
            for group in places.chunk_by(|(left, _), (right, _)| left == right) {
                of_session.clear();
                of_session.extend(group.iter().map(|(_, place)| *place));
                list.add(group[0].0.cast_unsigned(), &of_session);
            }
            writer.add(self.terms[number], &list.bytes)?;
        }
        let ends = (self.extents[0].session, self.extents[self.extents.len() - 1].session);
        writer.finish(ends.0, ends.1)?;
        *self = Self::default();
        Ok(())
    }

    /// The places, by the numbers of their terms, and where those of each begin and end.
    fn by_term(&self) -> (Vec<u32>, Vec<(i64, Place)>) {
        let mut starts = vec![0; self.terms.len() + 2];
        for (number, _, _) in &self.places {
            starts[*number as usize + 2] += 1;
        }
        for number in 2..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut sorted = vec![(0, Place { turn: 0, n_times: 0 }); self.places.len()];
        for (number, session, place) in &self.places {
            let next = &mut starts[*number as usize + 1];
            sorted[*next as usize] = (*session, *place);
            *next += 1;
        }
        (starts, sorted)
    }
}

/// Whether a kind is among the wanted ones; all are where none is named.
pub(crate) fn is_wanted(kind: u8, wanted: &[TurnKind]) -> bool {
    wanted.is_empty() || wanted.iter().any(|wanted| *wanted as u8 == kind)
}
