//! Notes: their bytes, the keys they are looked up by, and which objects carry them.

use rusqlite::{OptionalExtension, Row};

use crate::{Facts, error::Result};

/// The row of the bytes of a note.
pub type TextRow = i64;

/// What a note is looked up by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'k> {
    /// A file that it names.
    File(&'k [u8]),
    /// A word in it that may name code.
    Word(&'k [u8]),
    /// A lesson that one in it replaces.
    Replaced(&'k [u8]),
    /// A line that it sketches, by its hash.
    Line(u32),
    /// Nothing: not all of it could be read, so it may say anything.
    Odd,
}

impl Key<'_> {
    fn bytes(&self) -> Vec<u8> {
        let of = |kind: u8, key: &[u8]| [&[kind], key].concat();
        match self {
            Self::File(name) => of(b'f', name),
            Self::Word(word) => of(b'w', word),
            Self::Replaced(id) => of(b'r', id),
            Self::Line(hash) => of(b'l', &hash.to_be_bytes()),
            Self::Odd => of(b'o', b""),
        }
    }
}

/// The bytes of a note that are to be stored, with their keys.
#[derive(Debug, Clone)]
pub struct NewText<'k> {
    /// The id of the blob.
    pub blob: Vec<u8>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What it is looked up by.
    pub keys: Vec<Key<'k>>,
}

/// A note on an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRow {
    /// The object.
    pub object: Vec<u8>,
    /// The ref that holds the note.
    pub ref_name: String,
    /// The note.
    pub text: TextRow,
}

impl Facts {
    /// What the notes ref `name` pointed at when its notes were read last.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn tip(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached("SELECT tip FROM refs WHERE name = ?1")?;
        Ok(statement.query_row([name], |row| row.get(0)).optional()?.flatten())
    }

    /// The names of all refs whose notes are here.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn known_refs(&self) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached("SELECT name FROM refs")?;
        let names = statement.query_map([], |row| row.get(0))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    /// The files that notes name, in order; at most so many that begin with `start`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn named_files(&self, start: &[u8], most: usize) -> Result<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT key FROM keys JOIN notes USING (text) WHERE ?1 <= key AND key < ?2 LIMIT ?3",
        )?;
        let first = Key::File(start).bytes();
        let end = [first.as_slice(), &[0xff]].concat();
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let keys = statement.query_map((first, end, most), |row| row.get::<_, Vec<u8>>(0))?;
        Ok(keys.map(|key| key.map(|key| key[1..].to_vec())).collect::<rusqlite::Result<_>>()?)
    }

    /// Whether the bytes of the note `blob` are here.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn text_row(&self, blob: &[u8]) -> Result<Option<TextRow>> {
        let mut statement = self.connection.prepare_cached("SELECT row FROM texts WHERE blob = ?1")?;
        Ok(statement.query_row([blob], |row| row.get(0)).optional()?)
    }

    /// Stores the bytes of notes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_texts(&self, texts: &[NewText<'_>]) -> Result<()> {
        let change = self.change()?;
        {
            let mut insert =
                change.prepare_cached("INSERT OR IGNORE INTO texts (blob, bytes) VALUES (?1, ?2)")?;
            let mut key = change.prepare_cached("INSERT OR IGNORE INTO keys (key, text) VALUES (?1, ?2)")?;
            for text in texts {
                if insert.execute((&text.blob, &text.bytes))? == 1 {
                    let row = change.last_insert_rowid();
                    for of_text in &text.keys {
                        key.execute((of_text.bytes(), row))?;
                    }
                }
            }
        }
        change.commit()
    }

    /// Says which notes the ref `name`, which was at `before`, holds now that it is at `tip`: of the objects whose
    /// notes changed, the id and the blobs of the new notes (mostly one). `before` of `None` drops all that was known.
    ///
    /// Returns whether it was done: not where another process moved the ref first.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn move_ref(
        &self,
        name: &str,
        (before, tip): (Option<&[u8]>, Option<&[u8]>),
        changed: &[(Vec<u8>, Vec<Vec<u8>>)],
    ) -> Result<bool> {
        let change = self.change()?;
        {
            change.prepare_cached("INSERT OR IGNORE INTO refs (name) VALUES (?1)")?.execute([name])?;
            let (ref_row, known): (i64, Option<Vec<u8>>) = change
                .prepare_cached("SELECT row, tip FROM refs WHERE name = ?1")?
                .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            match before {
                Some(before) if known.as_deref() != Some(before) => return Ok(false),
                Some(_) => {}
                None => {
                    change.prepare_cached("DELETE FROM notes WHERE ref = ?1")?.execute([ref_row])?;
                    change.prepare_cached("DELETE FROM unread WHERE ref = ?1")?.execute([ref_row])?;
                }
            }
            let mut remove = change.prepare_cached("DELETE FROM notes WHERE object = ?1 AND ref = ?2")?;
            let mut insert = change.prepare_cached(
                "INSERT OR REPLACE INTO notes (object, ref, text) SELECT ?1, ?2, row FROM texts WHERE blob = ?3",
            )?;
            let mut forget = change.prepare_cached("DELETE FROM unread WHERE object = ?1 AND ref = ?2")?;
            let mut miss = change
                .prepare_cached("INSERT OR REPLACE INTO unread (object, ref, blob) VALUES (?1, ?2, ?3)")?;
            for (object, blobs) in changed {
                remove.execute((object, ref_row))?;
                forget.execute((object, ref_row))?;
                for blob in blobs {
                    if insert.execute((object, ref_row, blob))? == 0 {
                        miss.execute((object, ref_row, blob))?;
                    }
                }
            }
            change.prepare_cached("UPDATE refs SET tip = ?2 WHERE row = ?1")?.execute((ref_row, tip))?;
        }
        change.commit()?;
        Ok(true)
    }

    /// Notes whose bytes are not stored: the annotated object, and the blob.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn unread(&self) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut statement = self.connection.prepare_cached("SELECT DISTINCT object, blob FROM unread")?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// Says that the bytes of some notes that were not here are stored by now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_read(&self) -> Result<()> {
        let change = self.change()?;
        change.execute(
            "INSERT OR REPLACE INTO notes (object, ref, text) \
             SELECT u.object, u.ref, t.row FROM unread u JOIN texts t ON t.blob = u.blob",
            [],
        )?;
        change.execute("DELETE FROM unread WHERE blob IN (SELECT blob FROM texts)", [])?;
        change.commit()
    }

    /// Annotated objects that were no commits here when they were last looked for.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn away(&self) -> Result<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached("SELECT object FROM away")?;
        let found = statement.query_map([], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// Says which annotated objects are no commits here, and which of them are by now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_away(&self, gone: &[Vec<u8>], come: &[Vec<u8>]) -> Result<()> {
        if gone.is_empty() && come.is_empty() {
            return Ok(());
        }
        let change = self.change()?;
        for object in gone {
            change.prepare_cached("INSERT OR IGNORE INTO away (object) VALUES (?1)")?.execute([object])?;
        }
        for object in come {
            change.prepare_cached("DELETE FROM away WHERE object = ?1")?.execute([object])?;
        }
        change.commit()
    }

    /// How many objects have notes.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn n_annotated(&self) -> Result<usize> {
        let mut statement = self.connection.prepare_cached("SELECT count(DISTINCT object) FROM notes")?;
        let count: i64 = statement.query_row([], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// The notes on an object.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn notes_on(&self, object: &[u8]) -> Result<Vec<NoteRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT n.object, r.name, n.text FROM notes n JOIN refs r ON r.row = n.ref WHERE n.object = ?1",
        )?;
        let found = statement.query_map([object], note)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The objects whose notes have this key.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn objects_with(&self, key: &Key<'_>) -> Result<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT n.object FROM keys k JOIN notes n ON n.text = k.text WHERE k.key = ?1",
        )?;
        let found = statement.query_map([key.bytes()], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The objects whose notes replace any lesson.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn objects_that_replace(&self) -> Result<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT n.object FROM keys k JOIN notes n ON n.text = k.text \
             WHERE k.key >= x'72' AND k.key < x'73'",
        )?;
        let found = statement.query_map([], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// Whether any object has a note.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_notes(&self) -> Result<bool> {
        let mut statement = self.connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM notes)")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// The notes' bytes that have this key.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn texts_with(&self, key: &Key<'_>) -> Result<Vec<TextRow>> {
        let mut statement = self.connection.prepare_cached("SELECT text FROM keys WHERE key = ?1")?;
        let found = statement.query_map([key.bytes()], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The objects that carry the note with these bytes.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn objects_with_text(&self, text: TextRow) -> Result<Vec<Vec<u8>>> {
        let mut statement =
            self.connection.prepare_cached("SELECT DISTINCT object FROM notes WHERE text = ?1")?;
        let found = statement.query_map([text], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The blob of a note, and its bytes.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn text(&self, row: TextRow) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut statement = self.connection.prepare_cached("SELECT blob, bytes FROM texts WHERE row = ?1")?;
        Ok(statement.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// The highest row of notes' bytes; 0 where there are none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn last_text(&self) -> Result<TextRow> {
        let mut statement = self.connection.prepare_cached("SELECT coalesce(max(row), 0) FROM texts")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }
}

fn note(row: &Row<'_>) -> rusqlite::Result<NoteRow> {
    Ok(NoteRow { object: row.get(0)?, ref_name: row.get(1)?, text: row.get(2)? })
}
