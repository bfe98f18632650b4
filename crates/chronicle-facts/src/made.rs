//! What was made of immutable inputs.

use rusqlite::OptionalExtension;

use crate::{Facts, error::Result, file::Change};

/// What was made so many days ago is made again, so that what nobody asks for any more goes.
const KEPT_DAYS: i64 = 30;

/// A larger file gives away what was made: it is made again where somebody asks for it.
const MAX_BYTES: i64 = 256 << 20;

impl Facts {
    /// What was made of the inputs with this hash, if it was.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn made(&self, key: u128) -> Result<Option<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached("SELECT value FROM made WHERE key = ?1")?;
        Ok(statement.query_row([key.to_be_bytes().as_slice()], |row| row.get(0)).optional()?)
    }

    /// Keeps what was made, all in one transaction; `day` is today, in days since 1970.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_made(&self, made: &[(u128, Vec<u8>)], day: i64) -> Result<()> {
        self.keep_made_within(MAX_BYTES, made, day)
    }

    fn keep_made_within(&self, most: i64, made: &[(u128, Vec<u8>)], day: i64) -> Result<()> {
        if made.is_empty() {
            return Ok(());
        }
        let change = self.change()?;
        {
            let mut insert =
                change.prepare_cached("INSERT OR REPLACE INTO made (key, day, value) VALUES (?1, ?2, ?3)")?;
            // Now and then, since it takes a look at all of them.
            if made[0].0.is_multiple_of(64) {
                change.execute("DELETE FROM made WHERE day < ?1", [day - KEPT_DAYS])?;
                if most < used_bytes(&change)? {
                    change.execute("DELETE FROM made", [])?;
                }
            }
            for (key, value) in made {
                insert.execute((key.to_be_bytes().as_slice(), day, value))?;
            }
        }
        change.commit()
    }
}

/// How much of the file holds rows.
fn used_bytes(change: &Change<'_>) -> Result<i64> {
    let number = |name: &str| change.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    Ok((number("page_count")? - number("freelist_count")?) * number("page_size")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_goes_when_it_is_old_or_too_much() {
        let facts = Facts::in_memory().unwrap();
        let keep = |most: i64, key: u128, day: i64| {
            facts.keep_made_within(most, &[(key, vec![7; 4000])], day).unwrap();
        };
        let is_there = |key: u128| facts.made(key).unwrap().is_some();
        keep(MAX_BYTES, 1, 100);
        keep(MAX_BYTES, 2, 110);
        keep(MAX_BYTES, 64, 131);
        assert_eq!([1, 2, 64].map(is_there), [false, true, true]);
        keep(1000, 3, 131);
        assert!(is_there(2), "it is looked at now and then");
        keep(1000, 128, 131);
        assert_eq!([2, 3, 64, 128].map(is_there), [false, false, false, true]);
    }
}
