//! The store in `LanceDB`.

mod claim;
mod columns;
mod failure;

use std::{
    future::Future,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use arrow_array::RecordBatchIterator;
use futures_util::TryStreamExt;
use lancedb::{
    Connection, Error as LanceDbError,
    index::{
        Index,
        scalar::{FtsIndexBuilder, FullTextSearchQuery},
    },
    query::{ExecutableQuery, Query, QueryBase, Select},
    table::{CompactionOptions, OptimizeAction},
};
use tokio::runtime::{Builder, Runtime};

use self::{
    claim::claim,
    columns::{HASH, ID, MACHINE_ID, PROJECT, TERMS, names, schema},
    failure::{Failure, Place},
};
use crate::{FORM, Mark, Role, ShareError, SharedRow, TakeRows};

/// The table within the store.
const TABLE: &str = "chronicle";

/// Where a table says which form its rows have, and what tells it from all others.
const FORM_KEY: &str = "chronicle.form";
const IDENTITY_KEY: &str = "chronicle.identity";

/// Rows that are written to a store, read or removed at once.
const AT_ONCE: usize = 500;
/// Rows that are written to a copy at once: nobody else writes there.
const AT_ONCE_TO_COPY: usize = 10_000;

/// How long others may get in the way of one write.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long a storage may take for one step; far more than any needs that works.
const LONGEST_STEP: Duration = Duration::from_secs(120);

/// How often, and how long apart, it is looked whether whoever said so made the store.
const CLAIM_LOOKS: u32 = 50;
const CLAIM_PAUSE: Duration = Duration::from_millis(200);

/// What the storage is told of how long to wait, unless the environment says otherwise.
const STORAGE: [(&str, &str); 2] = [("client_max_retries", "2"), ("client_retry_timeout", "30")];

/// More pieces than this are made into one.
const MOST_PIECES: usize = 64;

/// How many minutes a version is kept that is not the newest: somebody may be reading it.
const SHARED_KEPT_FOR: i64 = 24 * 60;
const COPY_KEPT_FOR: i64 = 10;

/// A table: what machines share, or a copy of it.
pub struct Table {
    runtime: Runtime,
    table: lancedb::Table,
    role: Role,
    place: Place,
    identity: String,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Table").field("role", &self.role).finish_non_exhaustive()
    }
}

impl Table {
    /// Makes the table at `url`, with what tells it from all others; one that is there already is opened as it is.
    ///
    /// # Errors
    /// When it can neither be made nor opened.
    pub fn create(url: &str, role: Role, identity: &str) -> Result<Self, ShareError> {
        match Self::open(url, role) {
            Err(ShareError::NoStore { .. }) => {}
            opened => return opened,
        }
        let place = Place::new(url);
        let runtime = runtime(&place)?;
        let mut identity = identity.to_owned();
        if role == Role::Shared {
            let claimed = within(&runtime, &place, claim(url, &identity));
            if let Some(claimed) = claimed.map_err(|failure| failure.into_error(&place))? {
                for _ in 0..CLAIM_LOOKS {
                    match Self::open(url, role) {
                        Err(ShareError::NoStore { .. }) => std::thread::sleep(CLAIM_PAUSE),
                        opened => return opened,
                    }
                }
                // Whoever was to make it is gone.
                identity = claimed;
            }
        }
        let empty =
            schema(role, [(FORM_KEY.to_owned(), FORM.to_string()), (IDENTITY_KEY.to_owned(), identity)]);
        let made = within(&runtime, &place, async {
            connect(url).await?.create_empty_table(TABLE, Arc::new(empty)).execute().await
        });
        drop(runtime);
        match made {
            Ok(_) | Err(Failure::LanceDb(LanceDbError::TableAlreadyExists { .. })) => Self::open(url, role),
            Err(failure) => Err(failure.into_error(&place)),
        }
    }

    /// Opens the table at `url`.
    ///
    /// # Errors
    /// When there is none, or it cannot be opened.
    pub fn open(url: &str, role: Role) -> Result<Self, ShareError> {
        let place = Place::new(url);
        // To look for a table, the library would make the folder.
        if place.is_folder && !Path::new(url).is_dir() {
            return Err(ShareError::NoStore { url: place.shown });
        }
        let runtime = runtime(&place)?;
        let opened = within(&runtime, &place, async {
            let table = connect(url).await?.open_table(TABLE).execute().await?;
            let schema = table.schema().await?;
            Ok((table, schema))
        });
        let (table, found) = opened.map_err(|failure| failure.into_error(&place))?;
        let said = |key: &str| found.metadata().get(key).cloned();
        let (Some(form), Some(identity)) = (said(FORM_KEY), said(IDENTITY_KEY)) else {
            return Err(place.damaged("it is a table of something else"));
        };
        match form.parse::<u32>() {
            Ok(form) if form <= FORM => {}
            Ok(_) => return Err(ShareError::TooNew { url: place.shown, form }),
            Err(_) => return Err(place.damaged("it does not say which form it has")),
        }
        let has = |name: &&str| found.field_with_name(name).is_ok();
        if !names(role).iter().all(has) {
            return Err(place.damaged("it lacks columns"));
        }
        Ok(Self { runtime, table, role, place, identity })
    }

    /// What tells the table from all others.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The number of its present version; it grows with every change.
    ///
    /// # Errors
    /// When the storage does not answer.
    pub fn version(&self) -> Result<u64, ShareError> {
        self.step(self.table.version())
    }

    /// What is stored, of one machine or of all.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn marks(&self, machine_id: Option<&str>) -> Result<Vec<Mark>, ShareError> {
        let mut query = self.table.query().select(Select::columns(&[ID, HASH]));
        if let Some(machine_id) = machine_id {
            query = query.only_if(format!("{MACHINE_ID} = {}", quoted(machine_id)));
        }
        Ok(self.read(query)?.into_iter().map(|row| Mark { id: row.id, hash: row.hash }).collect())
    }

    /// Stores rows, each in the place of what its id named before.
    ///
    /// A part of them is stored whole or not at all, so to repeat it after an error doubles nothing.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn put(&self, rows: &[SharedRow]) -> Result<(), ShareError> {
        let at_once = if self.role == Role::Copy { AT_ONCE_TO_COPY } else { AT_ONCE };
        for part in rows.chunks(at_once) {
            let batch = columns::batch(self.role, part).map_err(|error| self.place.damaged(&error))?;
            self.insistently(async || {
                let mut merge = self.table.merge_insert(&[ID]);
                merge.when_matched_update_all(None).when_not_matched_insert_all();
                let schema = batch.schema();
                let rows = RecordBatchIterator::new([Ok(batch.clone())], schema);
                merge.execute(Box::new(rows)).await.map(|_| ())
            })?;
        }
        Ok(())
    }

    /// Removes what has these ids.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn remove(&self, ids: &[String]) -> Result<(), ShareError> {
        for part in ids.chunks(AT_ONCE) {
            let named = among(ID, part);
            self.insistently(async || self.table.delete(named.as_str()).await.map(|_| ()))?;
        }
        Ok(())
    }

    /// Tells `take` the rows with these ids, in parts.
    ///
    /// # Errors
    /// When they cannot be read, or `take` fails.
    pub fn rows(&self, ids: &[String], take: &mut TakeRows<'_>) -> Result<(), ShareError> {
        for part in ids.chunks(AT_ONCE) {
            take(self.read(self.table.query().only_if(among(ID, part)))?)?;
        }
        Ok(())
    }

    /// Tells `take` all rows, in parts.
    ///
    /// # Errors
    /// When they cannot be read, or `take` fails.
    pub fn all_rows(&self, take: &mut TakeRows<'_>) -> Result<(), ShareError> {
        let mut batches = self.step(async {
            self.table.checkout_latest().await?;
            self.table.query().execute().await
        })?;
        while let Some(batch) = self.step(batches.try_next())? {
            take(columns::rows(&batch))?;
        }
        Ok(())
    }

    /// Makes few pieces of many, lets go of versions that nobody reads any more, and brings the index of a copy up to
    /// date.
    ///
    /// # Errors
    /// When the storage does not answer. Others who write at the same time are no error: there is a next time.
    pub fn tidy(&self) -> Result<(), ShareError> {
        self.tidied(match self.role {
            Role::Shared => SHARED_KEPT_FOR,
            Role::Copy => COPY_KEPT_FOR,
        })
    }

    fn tidied(&self, kept_for_minutes: i64) -> Result<(), ShareError> {
        let tidied = within(&self.runtime, &self.place, async {
            self.table.checkout_latest().await?;
            // What is removed goes out of the files, too, and not only where it is a tenth of one.
            let options = CompactionOptions { materialize_deletions_threshold: 0.0, ..Default::default() };
            self.table.optimize(OptimizeAction::Compact { options, remap_options: None }).await?;
            if self.role == Role::Copy {
                self.index().await?;
            }
            let prune = OptimizeAction::Prune {
                older_than: lancedb::table::Duration::try_minutes(kept_for_minutes),
                delete_unverified: None,
                error_if_tagged_old_versions: None,
            };
            self.table.optimize(prune).await.map(|_| ())
        });
        match tidied {
            Err(failure) if failure.is_conflict() => Ok(()),
            tidied => tidied.map_err(|failure| failure.into_error(&self.place)),
        }
    }

    /// How many pieces it lies in, and whether that is many.
    ///
    /// # Errors
    /// When the storage does not answer.
    pub fn is_scattered(&self) -> Result<bool, ShareError> {
        let stats = self.step(self.table.stats())?;
        Ok(MOST_PIECES < stats.fragment_stats.num_fragments)
    }

    /// The rows of a copy that have any of the terms, separated by spaces, the best first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn search(
        &self,
        terms: &str,
        project: Option<&str>,
        since: Option<i64>,
        limit: usize,
    ) -> Result<Vec<(SharedRow, f64)>, ShareError> {
        let question = FullTextSearchQuery::new(terms.to_owned())
            .with_column(TERMS.to_owned())
            .map_err(|error| self.place.damaged(&error.to_string()))?;
        let mut query = self.table.query().full_text_search(question).limit(limit);
        let conditions = [
            project.map(|name| format!("{PROJECT} = {}", quoted(name))),
            since.map(|since| format!("at >= {since}")),
        ];
        let conditions: Vec<String> = conditions.into_iter().flatten().collect();
        if !conditions.is_empty() {
            query = query.only_if(conditions.join(" AND "));
        }
        let batches = self.step(async { query.execute().await?.try_collect::<Vec<_>>().await })?;
        let mut found = Vec::new();
        for batch in &batches {
            found.extend(columns::rows(batch).into_iter().zip(columns::scores(batch)));
        }
        found.sort_by(|(left, left_score), (right, right_score)| {
            right_score.total_cmp(left_score).then_with(|| left.id.cmp(&right.id))
        });
        Ok(found)
    }

    /// Makes the index of a copy, or takes in what is new.
    async fn index(&self) -> Result<(), LanceDbError> {
        let known = self.table.list_indices().await?;
        if !known.is_empty() {
            return self.table.optimize(OptimizeAction::Index(Default::default())).await.map(|_| ());
        }
        // The terms are ours: nothing is left to do to them.
        let index = FtsIndexBuilder::default()
            .base_tokenizer("whitespace".to_owned())
            .lower_case(false)
            .stem(false)
            .remove_stop_words(false)
            .ascii_folding(false)
            .max_token_length(None);
        self.table.create_index(&[TERMS], Index::FTS(index)).execute().await
    }

    fn read(&self, query: Query) -> Result<Vec<SharedRow>, ShareError> {
        let batches = self.step(async {
            self.table.checkout_latest().await?;
            query.execute().await?.try_collect::<Vec<_>>().await
        })?;
        Ok(batches.iter().flat_map(columns::rows).collect())
    }

    fn step<T>(&self, step: impl Future<Output = Result<T, LanceDbError>>) -> Result<T, ShareError> {
        within(&self.runtime, &self.place, step).map_err(|failure| failure.into_error(&self.place))
    }

    /// Does a step again while others get in its way.
    fn insistently(&self, mut step: impl AsyncFnMut() -> Result<(), LanceDbError>) -> Result<(), ShareError> {
        let end = Instant::now() + PATIENCE;
        loop {
            match within(&self.runtime, &self.place, step()) {
                Err(failure) if failure.is_conflict() && Instant::now() < end => {
                    self.step(self.table.checkout_latest())?;
                }
                done => return done.map_err(|failure| failure.into_error(&self.place)),
            }
        }
    }
}

fn runtime(place: &Place) -> Result<Runtime, ShareError> {
    let made = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    made.map_err(|error| place.unreachable(&error.to_string()))
}

async fn connect(url: &str) -> Result<Connection, LanceDbError> {
    lancedb::connect(url).storage_options(STORAGE).execute().await
}

/// Waits for a step, but not for ever.
fn within<T>(
    runtime: &Runtime,
    place: &Place,
    step: impl Future<Output = Result<T, LanceDbError>>,
) -> Result<T, Failure> {
    let longest = if place.is_folder { Duration::MAX } else { LONGEST_STEP };
    runtime.block_on(async {
        match tokio::time::timeout(longest, step).await {
            Ok(done) => done.map_err(Failure::LanceDb),
            Err(_) => Err(Failure::TooSlow(longest)),
        }
    })
}

/// A text as SQL writes it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn among(column: &str, values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
    format!("{column} IN ({})", values.join(", "))
}

#[cfg(test)]
mod tests;
