//! Segments: what was indexed together, or merged.
//!
//! A segment is a run of rows, by rising terms: each row is a block of about two
//! kilobytes, so that one look finds the list of a term. What is new becomes a
//! segment of its own, written in one go; a dozen segments of like size become one.
//! So every list is written a few times in its life, and few lists are read
//! for a question, however much there is.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
};

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::postings::{self, Extent, Groups, ListWriter, Place, number, put};
use super::words::{TERM_BITS, Term};

/// Where a block is full.
const BLOCK: usize = 2000;

/// How many segments of like size become one.
const FAN: usize = 12;

/// The size below which all segments are alike.
const SMALLEST: u64 = 4096;

/// What is known of a segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub id: i64,
    pub size: u64,
    /// Its sessions lie between these.
    pub first: i64,
    pub last: i64,
}

impl Segment {
    pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached("SELECT id, size, first, last FROM segment ORDER BY id")?
            .query_map([], |row| {
                let size: i64 = row.get(1)?;
                Ok(Self { id: row.get(0)?, size: size.unsigned_abs(), first: row.get(2)?, last: row.get(3)? })
            })?
            .collect()
    }

    /// In which order of size it is.
    fn tier(&self) -> u32 {
        (self.size / SMALLEST).checked_ilog(FAN as u64).map_or(0, |log| log + 1)
    }

    fn row(&self, term: Term) -> i64 {
        self.id << TERM_BITS | term.cast_signed()
    }

    /// The list of a term, added to `found`; empty where it has none.
    pub(crate) fn list(
        &self,
        connection: &Connection,
        term: Term,
        found: &mut Vec<u8>,
    ) -> rusqlite::Result<()> {
        let mut select = connection.prepare_cached(
            "SELECT id, terms FROM posting WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        )?;
        let mut rows = select.query([self.row(0), self.row(term)])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let base = term_of(row.get(0)?);
        let block = row.get_ref(1)?.as_blob()?;
        let list = Entries::of(base, block).take_while(|(at, _)| *at <= term).last();
        if let Some((_, list)) = list.filter(|(at, _)| *at == term) {
            found.extend_from_slice(list);
        }
        Ok(())
    }

    /// The sessions it tells of.
    pub(crate) fn extents(&self, connection: &Connection) -> rusqlite::Result<Vec<Extent>> {
        let mut list = Vec::new();
        self.list(connection, 0, &mut list)?;
        Ok(postings::extents(&list).collect())
    }

    /// Takes a session out that has no other terms than `terms`, which rise.
    pub(crate) fn remove(
        mut self,
        tx: &Transaction<'_>,
        session: u64,
        terms: &[Term],
    ) -> rusqlite::Result<()> {
        let mut extents = self.extents(tx)?;
        let n_before = extents.len();
        extents.retain(|extent| extent.session != session);
        if extents.len() == n_before {
            return Ok(());
        }
        if extents.is_empty() {
            return self.delete(tx);
        }
        let mut size = self.size;
        self.edit(tx, &[0], &mut size, |_, _| postings::put_extents(&extents))?;
        self.edit(tx, terms, &mut size, |_, list| without(list, |other| other == session))?;
        self.size = size;
        self.put_size(tx)
    }

    /// Takes sessions out, whatever their terms are: every list is looked at.
    pub(crate) fn purge(mut self, tx: &Transaction<'_>, sessions: &BTreeSet<u64>) -> rusqlite::Result<()> {
        let mut extents = self.extents(tx)?;
        let n_before = extents.len();
        extents.retain(|extent| !sessions.contains(&extent.session));
        // Where the head itself is lost, the lists may hold them all the same.
        if extents.is_empty() {
            return self.delete(tx);
        }
        let is_within = |session: &u64| (self.first..=self.last).contains(&session.cast_signed());
        if extents.len() == n_before && !sessions.iter().any(is_within) {
            return Ok(());
        }
        let rows: Vec<i64> = tx
            .prepare_cached("SELECT id FROM posting WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?
            .query_map([self.row(0), self.row((1 << TERM_BITS) - 1)], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        self.size = 0;
        for row in rows {
            let old: Vec<u8> = tx
                .prepare_cached("SELECT terms FROM posting WHERE id = ?1")?
                .query_row([row], |row| row.get(0))?;
            let base = term_of(row);
            let mut block = Block::at(base);
            for (term, list) in Entries::of(base, &old) {
                let kept = match term {
                    0 => postings::put_extents(&extents),
                    _ => without(list, |session| sessions.contains(&session)),
                };
                if !kept.is_empty() {
                    block.add(term, &kept);
                }
            }
            self.size += block.bytes.len() as u64;
            put_block(tx, row, &old, &block)?;
        }
        self.put_size(tx)
    }

    fn put_size(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.prepare_cached("UPDATE segment SET size = ?2 WHERE id = ?1")?
            .execute([self.id, self.size.cast_signed()])
            .map(drop)
    }

    /// Puts other lists in the place of those of `terms`; an empty one goes away.
    fn edit(
        &self,
        tx: &Transaction<'_>,
        terms: &[Term],
        size: &mut u64,
        change: impl Fn(Term, &[u8]) -> Vec<u8>,
    ) -> rusqlite::Result<()> {
        let mut at = 0;
        while let Some(term) = terms.get(at) {
            let block: Option<(i64, Vec<u8>)> = tx
                .prepare_cached(
                    "SELECT id, terms FROM posting WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
                )?
                .query_row([self.row(0), self.row(*term)], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((row, old)) = block else {
                at += 1;
                continue;
            };
            let base = term_of(row);
            let mut block = Block::at(base);
            let mut last = *term;
            for (entry, list) in Entries::of(base, &old) {
                last = last.max(entry);
                match terms.binary_search(&entry) {
                    Ok(_) => {
                        let changed = change(entry, list);
                        if !changed.is_empty() {
                            block.add(entry, &changed);
                        }
                    }
                    Err(_) => block.add(entry, list),
                }
            }
            *size = size.saturating_sub(old.len() as u64) + block.bytes.len() as u64;
            put_block(tx, row, &old, &block)?;
            at += terms[at..].partition_point(|term| *term <= last);
        }
        Ok(())
    }

    fn delete(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.prepare_cached("DELETE FROM posting WHERE id BETWEEN ?1 AND ?2")?
            .execute([self.row(0), self.row((1 << TERM_BITS) - 1)])?;
        tx.prepare_cached("DELETE FROM segment WHERE id = ?1")?.execute([self.id]).map(drop)
    }
}

/// Makes one segment of those of like size, as long as there are enough.
pub(crate) fn merge(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    loop {
        let mut segments = Segment::all(tx)?;
        segments.sort_by_key(Segment::tier);
        let Some(alike) = segments.chunk_by(|left, right| left.tier() == right.tier()).find(is_enough) else {
            return Ok(());
        };
        unite(tx, alike)?;
    }
}

fn is_enough(segments: &&[Segment]) -> bool {
    FAN <= segments.len()
}

fn unite(tx: &Transaction<'_>, segments: &[Segment]) -> rusqlite::Result<()> {
    let mut writer = SegmentWriter::new(tx)?;
    let mut sources: Vec<_> = segments.iter().map(Cursor::of).collect();
    let mut heap = BinaryHeap::new();
    for (number, source) in sources.iter_mut().enumerate() {
        if let Some(term) = source.step(tx)? {
            heap.push(Reverse((term, number)));
        }
    }
    let mut extents: Vec<Extent> = Vec::new();
    let mut at_term: Vec<usize> = Vec::new();
    let mut list = ListWriter::default();
    let mut places = Vec::new();
    while let Some(Reverse((term, number))) = heap.pop() {
        at_term.clear();
        at_term.push(number);
        while let Some(Reverse((_, other))) = heap.peek().filter(|Reverse((next, _))| *next == term) {
            at_term.push(*other);
            heap.pop();
        }
        if term == 0 {
            extents.extend(at_term.iter().flat_map(|source| postings::extents(sources[*source].list())));
            extents = united(extents);
            writer.add(0, &postings::put_extents(&extents))?;
        } else if let [only] = at_term.as_slice() {
            writer.add(term, sources[*only].list())?;
        } else {
            let mut groups: Vec<_> =
                at_term.iter().flat_map(|source| Groups::of(sources[*source].list())).collect();
            groups.sort_by_key(|group| group.session);
            list.clear();
            for of_session in groups.chunk_by(|left, right| left.session == right.session) {
                if let [only] = of_session {
                    list.copy(only);
                } else {
                    places.clear();
                    places.extend(of_session.iter().flat_map(postings::Group::places));
                    places.sort_by_key(|place: &Place| place.turn);
                    list.add(of_session[0].session, &places);
                }
            }
            writer.add(term, &list.bytes)?;
        }
        for source in &at_term {
            if let Some(term) = sources[*source].step(tx)? {
                heap.push(Reverse((term, *source)));
            }
        }
    }
    for segment in segments {
        segment.delete(tx)?;
    }
    let first = extents.first().map_or(0, |extent| extent.session);
    let last = extents.last().map_or(0, |extent| extent.session);
    writer.finish(first, last)
}

/// One extent for each session, by rising sessions.
pub(crate) fn united(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_by_key(|extent| extent.session);
    extents.dedup_by(|next, kept| {
        let is_same = next.session == kept.session;
        if is_same {
            kept.n_turns += next.n_turns;
            kept.n_terms += next.n_terms;
        }
        is_same
    });
    extents
}

/// Puts a block in the place of what a row held; an empty one goes away.
fn put_block(tx: &Transaction<'_>, row: i64, old: &[u8], block: &Block) -> rusqlite::Result<()> {
    if block.bytes.is_empty() {
        tx.prepare_cached("DELETE FROM posting WHERE id = ?1")?.execute([row])?;
    } else if block.bytes != old {
        tx.prepare_cached("UPDATE posting SET terms = ?2 WHERE id = ?1")?
            .execute(params![row, block.bytes])?;
    }
    Ok(())
}

/// A list without some sessions.
fn without(list: &[u8], is_out: impl Fn(u64) -> bool) -> Vec<u8> {
    let mut writer = ListWriter::default();
    for group in Groups::of(list).filter(|group| !is_out(group.session)) {
        writer.copy(&group);
    }
    writer.bytes
}

fn term_of(row: i64) -> Term {
    row.cast_unsigned() & ((1 << TERM_BITS) - 1)
}

/// The terms of a block with their lists.
struct Entries<'a> {
    term: Term,
    bytes: &'a [u8],
}

impl<'a> Entries<'a> {
    fn of(base: Term, bytes: &'a [u8]) -> Self {
        Self { term: base, bytes }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Term, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.term = number(&mut self.bytes)?.checked_add(self.term)?;
        let length = usize::try_from(number(&mut self.bytes)?).ok()?;
        let (list, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some((self.term, list))
    }
}

/// A block that is being written.
struct Block {
    base: Term,
    last: Term,
    bytes: Vec<u8>,
}

impl Block {
    fn at(base: Term) -> Self {
        Self { base, last: base, bytes: Vec::new() }
    }

    fn add(&mut self, term: Term, list: &[u8]) {
        put(&mut self.bytes, term - self.last);
        put(&mut self.bytes, list.len() as u64);
        self.bytes.extend_from_slice(list);
        self.last = term;
    }
}

/// Goes through a segment, one block at a time.
struct Cursor {
    segment: Segment,
    /// The row of the block.
    row: i64,
    block: Vec<u8>,
    /// Where the next entry begins, and the term before it.
    at: usize,
    term: Term,
    list: std::ops::Range<usize>,
}

impl Cursor {
    fn of(segment: &Segment) -> Self {
        let row = segment.row(0) - 1;
        Self { segment: *segment, row, block: Vec::new(), at: 0, term: 0, list: 0..0 }
    }

    /// Goes to the next term.
    fn step(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<Option<Term>> {
        if self.at == self.block.len() && !self.load(tx)? {
            return Ok(None);
        }
        let left = &self.block[self.at..];
        let mut entries = Entries::of(self.term, left);
        let Some((term, list)) = entries.next() else {
            // Damaged: what is left of the block cannot be told.
            self.at = self.block.len();
            return self.step(tx);
        };
        let end = self.block.len() - entries.bytes.len();
        self.list = end - list.len()..end;
        (self.at, self.term) = (end, term);
        Ok(Some(term))
    }

    fn load(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<bool> {
        let mut select = tx
            .prepare_cached("SELECT id, terms FROM posting WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT 1")?;
        let mut rows = select.query([self.row, self.segment.row((1 << TERM_BITS) - 1)])?;
        let Some(row) = rows.next()? else { return Ok(false) };
        self.row = row.get(0)?;
        self.block.clear();
        self.block.extend_from_slice(row.get_ref(1)?.as_blob()?);
        (self.at, self.term) = (0, term_of(self.row));
        Ok(true)
    }

    fn list(&self) -> &[u8] {
        &self.block[self.list.clone()]
    }
}

/// Writes a segment, by rising terms.
pub(crate) struct SegmentWriter<'tx> {
    tx: &'tx Transaction<'tx>,
    segment: Segment,
    block: Block,
}

impl<'tx> SegmentWriter<'tx> {
    pub(crate) fn new(tx: &'tx Transaction<'tx>) -> rusqlite::Result<Self> {
        let taken = Segment::all(tx)?;
        let id = (1..).zip(&taken).find(|(id, segment)| *id != segment.id);
        let id = id.map_or_else(|| taken.len() as i64 + 1, |(id, _)| id);
        let segment = Segment { id, size: 0, first: 0, last: 0 };
        Ok(Self { tx, segment, block: Block::at(0) })
    }

    pub(crate) fn add(&mut self, term: Term, list: &[u8]) -> rusqlite::Result<()> {
        if BLOCK < self.block.bytes.len() + list.len() && !self.block.bytes.is_empty() {
            self.flush()?;
        }
        if self.block.bytes.is_empty() {
            self.block = Block { base: term, last: term, bytes: std::mem::take(&mut self.block.bytes) };
        }
        self.block.add(term, list);
        Ok(())
    }

    fn flush(&mut self) -> rusqlite::Result<()> {
        self.tx
            .prepare_cached("INSERT INTO posting (id, terms) VALUES (?1, ?2)")?
            .execute(params![self.segment.row(self.block.base), self.block.bytes])?;
        self.segment.size += self.block.bytes.len() as u64;
        self.block.bytes.clear();
        Ok(())
    }

    /// Ends a segment with the sessions from `first` to `last`.
    pub(crate) fn finish(mut self, first: u64, last: u64) -> rusqlite::Result<()> {
        if !self.block.bytes.is_empty() {
            self.flush()?;
        }
        let Segment { id, size, .. } = self.segment;
        self.tx
            .prepare_cached("INSERT INTO segment (id, size, first, last) VALUES (?1, ?2, ?3, ?4)")?
            .execute([id, size.cast_signed(), first.cast_signed(), last.cast_signed()])
            .map(drop)
    }
}
