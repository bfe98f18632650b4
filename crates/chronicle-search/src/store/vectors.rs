//! Vectors of turns, for those who chose a model that makes them.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::ids::{ProjectId, TurnKind};

/// How many numbers of a vector are kept, the first ones: of models that say most there, as newer ones do, hardly
/// anything is lost.
const MOST_DIMENSIONS: usize = 128;

/// The kinds of turns that have words worth a vector: what was said, not what was run.
const KINDS: [TurnKind; 4] = [TurnKind::Prompt, TurnKind::Said, TurnKind::Plan, TurnKind::Summary];

/// A direction that stands for what a text means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    numbers: Vec<i8>,
}

/// A turn that has no vector of a model yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// Names the turn in the store.
    pub turn: i64,
    /// What was said.
    pub text: String,
}

impl Vector {
    /// The vector that a model gave; nothing where it has no direction.
    #[must_use]
    pub fn of(numbers: &[f32]) -> Option<Self> {
        let numbers = &numbers[..numbers.len().min(MOST_DIMENSIONS)];
        let greatest = numbers.iter().fold(0.0, |greatest: f32, number| greatest.max(number.abs()));
        let is_sound = numbers.iter().all(|number| number.is_finite()) && f32::MIN_POSITIVE < greatest;
        #[expect(clippy::cast_possible_truncation, reason = "between -127 and 127")]
        let small = |number: &f32| (number / greatest * 127.0).round() as i8;
        is_sound.then(|| Self { numbers: numbers.iter().map(small).collect() })
    }

    /// The cosine with one that is stored; nothing where they do not compare.
    pub(crate) fn cosine(&self, stored: &[u8]) -> Option<f32> {
        if stored.len() != self.numbers.len() {
            return None;
        }
        let (mut product, mut own, mut other) = (0_i32, 0_i32, 0_i32);
        for (left, right) in self.numbers.iter().zip(stored) {
            let (left, right) = (i32::from(*left), i32::from(right.cast_signed()));
            product += left * right;
            own += left * left;
            other += right * right;
        }
        #[expect(clippy::cast_precision_loss, reason = "the sum of 128 products of bytes")]
        let cosine = product as f32 / f32::sqrt(own as f32 * other as f32);
        cosine.is_finite().then_some(cosine)
    }

    /// Stores it as that of a turn which still says `text`. One that was forgotten, or says something else, gets none.
    pub fn put(
        &self,
        tx: &Transaction<'_>,
        embedder: &str,
        Unembedded { turn, text }: &Unembedded,
    ) -> rusqlite::Result<()> {
        let n_dimensions = i64::try_from(self.numbers.len()).unwrap_or(i64::MAX);
        tx.prepare_cached("INSERT OR IGNORE INTO embedder (name, n_dimensions) VALUES (?1, ?2)")?
            .execute(params![embedder, n_dimensions])?;
        let numbers: Vec<u8> = self.numbers.iter().map(|number| number.cast_unsigned()).collect();
        tx.prepare_cached(
            "INSERT OR REPLACE INTO vector (turn, embedder, numbers) SELECT turn.id, embedder.id, ?3 \
             FROM turn, embedder WHERE turn.id = ?4 AND text = ?5 AND embedder.name = ?1 AND n_dimensions = ?2",
        )?
        .execute(params![embedder, n_dimensions, numbers, turn, text])
        .map(drop)
    }

    /// Whether any turn has a vector, of this model or of whichever.
    pub fn are_there(connection: &Connection, embedder: Option<&str>) -> rusqlite::Result<bool> {
        connection
            .prepare_cached(
                "SELECT 1 FROM vector JOIN embedder ON embedder.id = embedder \
                 WHERE ?1 IS NULL OR name = ?1 LIMIT 1",
            )?
            .query_row([embedder], |_| Ok(()))
            .optional()
            .map(|found| found.is_some())
    }

    /// The sessions that have turns with a vector of this model.
    pub(crate) fn sessions(connection: &Connection, embedder: &str) -> rusqlite::Result<Vec<u32>> {
        connection
            .prepare_cached(
                "SELECT DISTINCT session FROM vector JOIN turn ON turn.id = vector.turn \
                 WHERE embedder IN (SELECT id FROM embedder WHERE name = ?1)",
            )?
            .query_map([embedder], |row| row.get(0))?
            .collect()
    }

    /// The cosines with the turns of a session, in their order; nothing of turns without a vector of this model.
    pub(crate) fn cosines(
        &self,
        connection: &Connection,
        embedder: &str,
        session: u32,
    ) -> rusqlite::Result<Vec<Option<f32>>> {
        connection
            .prepare_cached(
                "SELECT numbers FROM turn LEFT JOIN vector ON vector.turn = turn.id AND \
                 embedder IN (SELECT id FROM embedder WHERE name = ?2) \
                 WHERE session = ?1 ORDER BY position, turn.id",
            )?
            .query_map(params![session, embedder], |row| {
                let stored = row.get_ref(0)?.as_blob_or_null()?;
                Ok(stored.and_then(|stored| self.cosine(stored)))
            })?
            .collect()
    }
}

impl Unembedded {
    /// The latest turns of a project that have no vector of this model, before the turn `before`, the latest first.
    pub fn latest(
        connection: &Connection,
        (project, embedder): (ProjectId, &str),
        before: Option<i64>,
        limit: usize,
    ) -> rusqlite::Result<Vec<Self>> {
        let kinds = KINDS.map(|kind| (kind as u8).to_string()).join(",");
        connection
            .prepare_cached(&format!(
                "SELECT id, text FROM turn WHERE id < ?3 AND kind IN ({kinds}) AND text <> '' \
                 AND session IN (SELECT id FROM session WHERE project = ?1) \
                 AND NOT EXISTS (SELECT 1 FROM vector \
                 JOIN embedder ON embedder.id = embedder WHERE vector.turn = turn.id AND embedder.name = ?2) \
                 ORDER BY id DESC LIMIT ?4"
            ))?
            .query_map(
                params![
                    project.0,
                    embedder,
                    before.unwrap_or(i64::MAX),
                    i64::try_from(limit).unwrap_or(i64::MAX)
                ],
                |row| Ok(Self { turn: row.get(0)?, text: row.get(1)? }),
            )?
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(vector: &Vector) -> Vec<u8> {
        vector.numbers.iter().map(|number| number.cast_unsigned()).collect()
    }

    #[test]
    fn a_cosine_survives_being_stored() {
        let (one, other) = (Vector::of(&[0.3, -0.1, 0.02]).unwrap(), Vector::of(&[0.1, 0.4, -0.3]).unwrap());
        let cosine = one.cosine(&stored(&other)).unwrap();
        assert!((cosine - -0.0992).abs() < 0.01, "{cosine}");
        assert!((one.cosine(&stored(&one)).unwrap() - 1.0).abs() < 1e-6);
        let extreme = Vector::of(&[-1.0; 4000]).unwrap();
        assert_eq!(extreme.numbers, [-127; MOST_DIMENSIONS]);
        assert!((extreme.cosine(&stored(&extreme)).unwrap() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for numbers in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[1.0, f32::INFINITY]] {
            assert_eq!(Vector::of(numbers), None, "{numbers:?}");
        }
        let vector = Vector::of(&[1.0, 2.0]).unwrap();
        assert_eq!((vector.cosine(&[1]), vector.cosine(&[0, 0]), vector.cosine(&[])), (None, None, None));
    }
}
