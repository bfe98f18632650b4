//! What was made of immutable inputs.

use rusqlite::OptionalExtension;

use crate::{Facts, error::Result};

/// What was made so many days ago is made again, so that what nobody asks for any more goes.
const KEPT_DAYS: i64 = 30;

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
            }
            for (key, value) in made {
                insert.execute((key.to_be_bytes().as_slice(), day, value))?;
            }
        }
        change.commit()
    }
}
